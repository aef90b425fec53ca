/* SPDX-License-Identifier: Apache-2.0 */
/* For programs with coverage counters. A child of fork counts from zero: its parent may be in
 * the middle of a function, whose counts would not be consistent. A child's counts are also kept
 * if it ends by _exit. Nothing else writes the counters: written twice, they would be added to
 * the file's counts again. */
#include <pthread.h>
#include <unistd.h>

/* from clang's runtime */
int __llvm_profile_write_file(void);
void __llvm_profile_reset_counters(void);

__attribute__((constructor)) static void at_load(void)
{
  (void)pthread_atfork(NULL, NULL, __llvm_profile_reset_counters);
}

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__exit(int status)
{
  (void)__llvm_profile_write_file();
  __real__exit(status);
}

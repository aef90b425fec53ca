/* SPDX-License-Identifier: Apache-2.0 */
/* Of the programs with counters: a child of fork counts from zero, as its parent may be in the middle of a
 * function, whose counts would not agree; and what it counted is kept if it ends by _exit, too.  Nobody else
 * writes the counters: a second time they would be added to what the first had written, and to themselves. */
#include <pthread.h>
#include <unistd.h>

/* of clang's runtime */
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

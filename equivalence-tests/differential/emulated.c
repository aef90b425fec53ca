/* SPDX-License-Identifier: Apache-2.0 */
/* For programs that qemu's user mode runs (arch.sh): it answers madvise with yes whatever the advice is,
 * and follows MADV_DONTNEED alone.  What the library then reads has to be zero, as a kernel leaves it. */
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

int madvise(void *at, size_t bytes, int advice)
{
  if (advice == MADV_REMOVE || advice == MADV_DONTNEED_LOCKED) {
    memset(at, 0, bytes);
    return 0;
  }
  return (int)syscall(SYS_madvise, at, bytes, advice);
}

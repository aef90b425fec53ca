/* SPDX-License-Identifier: Apache-2.0 */
/* For programs run by qemu's user mode (arch.sh). There madvise accepts every advice, but only
 * MADV_DONTNEED has an effect. This file zeroes the memory that a kernel would. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/** @file arena.h
 * Memory for the seeds of small keys: blocks of 64 to 4096 bytes from a few mappings shared by all
 * keys of the process, so that a small key has no mapping and no page of its own.  Each mapping is
 * set once to be kept out of swap, of core dumps and of fork's children.  Mappings without a block
 * in use are unmapped, except one.
 *
 * Threads may take and give blocks concurrently.  In fork's child the arena is empty and no lock is
 * held, whatever the parent's threads were doing. */
#ifndef PPRF_OPT_ARENA_H
#define PPRF_OPT_ARENA_H

#include <stddef.h>

/** Greatest size of a block. */
#define OPT_ARENA_MAX 4096u

/** Size of the smallest block that holds this many bytes; bytes <= OPT_ARENA_MAX. */
/*@ requires bytes: bytes <= OPT_ARENA_MAX;
    assigns \nothing;
    ensures fits: bytes <= \result; */
static inline size_t opt_arena_fit(size_t bytes)
{ /* steps of 64 bytes up to 1024, of 128 up to 2048, of 256 up to 4096 */
  size_t step = bytes <= 1024 ? 64 : bytes <= 2048 ? 128 : 256;
  return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

/** Take a block.  The process must have its number (fork.h): a key was made, or is being made.
 * @param[in] bytes a result of opt_arena_fit.
 * @return zeroed, aligned to 16; NULL: no memory. */
void *opt_arena_take(size_t bytes);

/** Wipe a block (may be NULL) and give it back. */
void opt_arena_give(void *block, size_t bytes);

/** Whether the kernel keeps a block out of swap. */
int opt_arena_locked(const void *block);

/** In fork's child: unmap the copies of the parent's blocks. */
void opt_arena_forget_copies(void);

/** Bytes that this process's arena has mapped now. */
size_t opt_arena_mapped_bytes(void);

#endif

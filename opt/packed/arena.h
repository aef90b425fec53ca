/* SPDX-License-Identifier: Apache-2.0 */
/** @file arena.h
 * Memory for the seeds of small keys: blocks of 64 to 4096 bytes out of a few mappings that all keys of
 * the process share, so that a small key has no mapping and no page of its own.  A mapping is told once to
 * be kept out of swap, of core dumps and of children that fork makes; those of which no block is in use
 * go back to the system, all but one.
 *
 * Threads may take and give at once.  In a child that fork made the arena is empty and no lock is held:
 * what the parent's threads were doing does not matter. */
#ifndef PPRF_OPT_ARENA_H
#define PPRF_OPT_ARENA_H

#include <stddef.h>

/** The greatest block. */
#define OPT_ARENA_MAX 4096u

/** Bytes of the least block that holds so many; bytes <= OPT_ARENA_MAX. */
/*@ requires bytes: bytes <= OPT_ARENA_MAX;
    assigns \nothing;
    ensures fits: bytes <= \result; */
static inline size_t opt_arena_fit(size_t bytes)
{ /* steps of 64 bytes up to 1024, of 128 up to 2048, of 256 up to 4096 */
  size_t step = bytes <= 1024 ? 64 : bytes <= 2048 ? 128 : 256;
  return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

/** Take a block.  The process must have its number (fork.h): a key was made, or is being made.
 * @param[in] bytes what opt_arena_fit gives.
 * @return zero bytes, aligned to 16; NULL: no memory. */
void *opt_arena_take(size_t bytes);

/** Wipe a block, NULL allowed, and give it back. */
void opt_arena_give(void *block, size_t bytes);

/** Whether the system keeps a block out of swap. */
int opt_arena_locked(const void *block);

/** In a child that fork made: let go of the copies of the parent's blocks. */
void opt_arena_forget_copies(void);

/** Bytes that this process's arena has mapped now. */
size_t opt_arena_mapped_bytes(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file fork.h
 * Tells whether a key belongs to the current process.  A process that makes keys has a number, in a
 * page that fork clears in the child, and each key stores its maker's number.  A child's number
 * differs from those of its ancestors, whose keys it has copies of. */
#ifndef PPRF_FORK_H
#define PPRF_FORK_H

#include <stdint.h>

/* Where pprf_process reads its result. */
//@ ghost uint64_t process_number;

/** Number of this process; 0 if neither it nor a process that shares its memory has loaded the
 * library or made a key since the fork that created it.  Takes no lock. */
/*@ assigns \nothing;
    ensures \result == process_number; */
uint64_t pprf_process(void);

/** Number of this process, assigned if it has none: never 0.  Takes no lock of this library.
 * @retval PPRF_OK, PPRF_ERR_NOMEM. */
int pprf_process_claim(uint64_t *number);

/** Whether a key is a copy made by fork.  maker: its maker's number; 0: the key is shared on
 * purpose. */
/*@ assigns \nothing;
    ensures copy: \result != 0 <==> maker != 0 && maker != process_number; */
static inline int pprf_is_copy(uint64_t maker)
{
  return maker != 0 && maker != pprf_process();
}

#endif

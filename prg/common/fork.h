/* SPDX-License-Identifier: Apache-2.0 */
/** @file fork.h
 * Whether a key is in the process that made it.  A process that makes keys has a number, in a page
 * that fork clears in the child; a key keeps the number.  The children's numbers differ from those of
 * the processes above them, whose keys they have copies of. */
#ifndef PPRF_FORK_H
#define PPRF_FORK_H

#include <stdint.h>

/* The number that pprf_process returns. */
//@ ghost uint64_t process_number;

/** This process's number; 0 while neither it nor what shares its memory has loaded the library or made a key since the
 * fork that made it.  Takes no lock. */
/*@ assigns \nothing;
    ensures \result == process_number; */
uint64_t pprf_process(void);

/** This process's number, which it gets if it has none: never 0.  Takes no lock of this library.
 * @retval PPRF_OK, PPRF_ERR_NOMEM. */
int pprf_process_claim(uint64_t *number);

/** Whether a key is a copy that fork made.  maker: its maker's number; 0: it is shared on purpose. */
/*@ assigns \nothing;
    ensures copy: \result != 0 <==> maker != 0 && maker != process_number; */
static inline int pprf_is_copy(uint64_t maker)
{
  return maker != 0 && maker != pprf_process();
}

#endif

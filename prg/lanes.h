/* SPDX-License-Identifier: Apache-2.0 */
/** @file lanes.h
 * Many independent PRG calls at once. */
#ifndef PPRF_OPT_LANES_H
#define PPRF_OPT_LANES_H

#include "prg.h"

/** The PRG call for the parent node (start, height). */
struct opt_step {
  const struct pprf_seed *seed;   /* the parent's */
  struct pprf_seed *left, *right; /* where the children's go; one of them may be the parent's */
  uint64_t start;
  unsigned height;
};

/** Make n PRG calls, in any order and some at the same time: no call's output is another's input.
 * The library's PRG (keccak_prg.c) makes them in the lanes of vector registers; lanes.c has a weak
 * definition that calls prg_expand, for programs that bring a PRG of their own.
 * @retval 0, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM (what the outputs hold is undefined then). */
int opt_expand_many(const struct opt_step *step, unsigned n);

/** As prg_wipe_plan, for an operation that calls opt_expand_many, too. */
uint64_t opt_wipe_plan(unsigned own);

/** Steps that one call should have where there are as many: more would not make it faster. */
#define OPT_LANES 8

#endif

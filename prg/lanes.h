/* SPDX-License-Identifier: Apache-2.0 */
/** @file lanes.h
 * Many independent PRG calls at once, and the walk down to a leaf in one call. */
#ifndef PPRF_OPT_LANES_H
#define PPRF_OPT_LANES_H

#include "prg.h"

#ifdef __FRAMAC__
#include "store.h" /* vocabulary of opt_descend's contract */
#endif

/** The PRG call for the parent node (start, height). */
struct opt_step {
  const struct pprf_seed *seed;   /* the parent's seed */
  struct pprf_seed *left, *right; /* outputs; one of them may be *seed */
  uint64_t start;
  unsigned height;
};

/** The in-order id of the parent. */
static inline uint64_t opt_step_id(const struct opt_step *s)
{
  return 2 * s->start + (UINT64_C(1) << s->height);
}

/** One version of a salted suite: the children of the node with an in-order id; then the same
 * for four or eight nodes at once, where all inputs are read before an output is written. */
typedef struct pprf_children opt_node_expand(struct pprf_seed seed, uint64_t salt_lo,
                                             uint64_t salt_hi, uint64_t id);
typedef void opt_node_lanes(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step);

/** The walk from the node at this height above the leaf down to it: returns the leaf's seed, and
 * writes the seeds of the path's siblings, indexed by height, to copath unless that is NULL. */
typedef struct pprf_seed opt_node_descend(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi,
                                          uint64_t leaf, unsigned height, struct pprf_seed *copath);

/** Make n PRG calls of one family, in any order and some at the same time: no call's output is
 * another's input.  The library's PRG (choice.c) makes them in the lanes of vector registers;
 * lanes.c has a weak definition that calls prg_expand, for programs with a PRG of their own.
 * @retval 0, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM (the outputs are undefined then). */
int opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n);

/** The walk from the node at this height above the leaf down to it, if the current version has it
 * as one function.  Calling prg_expand for each node costs more data movement than AES costs
 * computation, and forces AVX-512's Keccak out of its registers.
 * @param[out] copath NULL, or the seeds of the path's siblings by height.
 * @param[out] value  the leaf's seed.
 * @retval 1 done.
 * @retval 0 not available, nothing written: call prg_expand node by node.  The weak definition of
 * lanes.c always returns 0. */
/*@ requires family: tree_family(family);
    requires depth: 1 <= d <= 63 && height <= d && leaf < pow2(d);
    requires node: tree_node(d, covering_start(leaf, height), height);
    requires seed: seed_value(seed) ==
      node_seed(root, d, covering_start(leaf, height), height);
    requires \valid(value) && (copath == \null || \valid(copath + (0 .. height - 1)));
    requires \separated(value, copath + (0 .. height - 1));
    assigns *value, copath[0 .. WANTED(copath, height) - 1], expansions;
    ensures results: \result == 0 || \result == 1;
    ensures cost: expansions <= \old(expansions) + (\result == 1 ? height : 0);
    ensures value: \result == 1 ==> seed_value(*value) == leaf_value(root, d, leaf);
    ensures copath: \result == 1 ==> copath != \null ==>
      copath_seeds(root, d, leaf, copath, 0, height);
    ensures same: \result == 0 ==> copath != \null ==> same_seeds{Pre,Post}(copath, height); */
int opt_descend(struct pprf_family family, struct pprf_seed seed, uint64_t leaf, unsigned height,
                struct pprf_seed *copath, struct pprf_seed *value)
  /*@ ghost (unsigned d) */;

/** prg_wipe_plan for an operation that also calls opt_expand_many. */
uint64_t opt_wipe_plan(unsigned own);

/** Steps to pass in one call if there are that many; more would not be faster. */
#define OPT_LANES 8

#endif

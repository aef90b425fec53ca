/* SPDX-License-Identifier: Apache-2.0 */
/** @file lanes.h
 * Many independent PRG calls at once. */
#ifndef PPRF_OPT_LANES_H
#define PPRF_OPT_LANES_H

#include "prg.h"

#ifdef __FRAMAC__
#include "store.h" /* the words of opt_descend's contract */
#endif

/** The PRG call for the parent node (start, height). */
struct opt_step {
  const struct pprf_seed *seed;   /* the parent's */
  struct pprf_seed *left, *right; /* where the children's go; one of them may be the parent's */
  uint64_t start;
  unsigned height;
};

/** The in-order id of a step's parent. */
static inline uint64_t opt_step_id(const struct opt_step *s)
{
  return 2 * s->start + (UINT64_C(1) << s->height);
}

/** A version of a salted suite: the children of the node of an in-order id; those of four or eight nodes
 * at once, where all inputs are read before an output is written. */
typedef struct pprf_children opt_node_expand(struct pprf_seed seed, uint64_t salt_lo,
                                             uint64_t salt_hi, uint64_t id);
typedef void opt_node_lanes(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step);

/** The walk from the node of a height above a leaf down to it: the leaf's seed, and into copath, if not
 * NULL, the seeds of the path's siblings by height. */
typedef struct pprf_seed opt_node_descend(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi,
                                          uint64_t leaf, unsigned height, struct pprf_seed *copath);

/** Make n PRG calls of one family, in any order and some at the same time: no call's output is another's
 * input.  The library's PRG (choice.c) makes them in the lanes of vector registers; lanes.c has a weak
 * definition that calls prg_expand, for programs that bring a PRG of their own.
 * @retval 0, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM (what the outputs hold is undefined then). */
int opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n);

/** The walk from the node of a height above a leaf down to it, where the version of the family's PRG has it in
 * one function: a call of prg_expand for each node moves more than AES computes, and takes AVX-512's Keccak
 * out of its registers.
 * @param[out] copath NULL, or the seeds of the path's siblings by height.
 * @param[out] value  the leaf's seed.
 * @retval 1 it is done.
 * @retval 0 it is not, and nothing is written: prg_expand does it node by node.  So says the weak
 * definition of lanes.c. */
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

/** As prg_wipe_plan, for an operation that also calls opt_expand_many. */
uint64_t opt_wipe_plan(unsigned own);

/** The number of steps to give to one call, if there are so many: more would not make it faster. */
#define OPT_LANES 8

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Branches and addresses depend on the leaf only. */
#include "walk.h"

/* Add the seed of height i to those of the heights above, if the co-path is wanted. */
/*@ requires copath == \null || \valid(copath + (0 .. n - 1));
    requires index: i < n;
    requires above: copath != \null ==> copath_seeds(seed_value(R), d, leaf, copath, i + 1, n);
    requires seed: seed_value(seed) == node_seed(seed_value(R), d, beside(leaf, i), i);
    assigns copath[0 .. WANTED(copath, n) - 1];
    ensures copath: copath != \null ==> copath_seeds(seed_value(R), d, leaf, copath, i, n);
    ensures rest: copath != \null ==> same_seeds{Pre,Post}(copath, i); */
static inline void put_sibling(struct pprf_seed *copath, unsigned i, struct pprf_seed seed)
  /*@ ghost (struct pprf_seed R, unsigned d, uint64_t leaf, unsigned n) */
{
  if (copath != NULL)
    copath[i] = seed;
}

/* Wipe what there is of a co-path. */
/*@ requires copath == \null || \valid(copath + (0 .. n - 1));
    requires index: from <= n;
    assigns copath[0 .. WANTED(copath, n) - 1];
    ensures wiped: copath != \null ==> \forall integer i; from <= i < n ==> zero_seed(copath[i]);
    ensures rest: copath != \null ==> same_seeds{Pre,Post}(copath, from); */
static inline void wipe_siblings(struct pprf_seed *copath, unsigned from, unsigned n)
{
  if (copath != NULL)
    wipe_from(copath, from, n);
}

NOINLINE int opt_walk(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                      unsigned height, uint64_t leaf, struct pprf_seed *copath,
                      struct pprf_seed *value) /*@ ghost (struct pprf_seed R, unsigned d) */
{
  //@ ghost deep_tree_lemma(d);
  //@ ghost covering_start_lemma(d, leaf, height);
  struct pprf_children c = {.err = PPRF_OK};
  if (opt_descend(family, seed, leaf, height, copath, value) /*@ ghost (R, d) */) {
    WIPE_LOCALS(seed, c);
    return PPRF_OK;
  }
  /*@ loop invariant height: h <= height <= d && c.err == PPRF_OK;
      loop invariant node: tree_node(d, start, h) && covers(start, h, leaf);
      loop invariant seed: seed_value(seed) == node_seed(seed_value(R), d, start, h);
      loop invariant copath: copath != \null ==>
        copath_seeds(seed_value(R), d, leaf, copath, h, height);
      loop invariant rest: copath != \null ==> same_seeds{Pre,Here}(copath, h);
      loop invariant cost: expansions + h <= \at(expansions,Pre) + height;
      loop assigns h, start, seed, c, copath[0 .. WANTED(copath, height) - 1], expansions;
      loop variant h; */
  for (unsigned h = height; h > 0; h--) {
    //@ ghost half_lemma(d, start, h, leaf);
    //@ ghost children_lemma(d, start, h);
    //@ ghost leaves_of_lemma(h - 1);
    c = prg_expand(family, seed, start, h);
    if (c.err != PPRF_OK) {
      wipe_siblings(copath, h, height);
      //@ assert wiped: copath != \null ==> wiped_or_same{Pre,Here}(copath, height);
      seed = (struct pprf_seed){0, 0};
      break;
    }
    unsigned right = (unsigned)(leaf >> (h - 1) & 1);
    uint64_t middle = start + (UINT64_C(1) << (h - 1));
    //@ assert left: seed_value(c.left) == node_seed(seed_value(R), d, start, h - 1);
    //@ assert right: seed_value(c.right) == node_seed(seed_value(R), d, middle, h - 1);
    seed = opt_child(c, right != 0);
    struct pprf_seed other = opt_child(c, right == 0);
    //@ assert other: seed_value(other) == node_seed(seed_value(R), d, beside(leaf, h - 1), h - 1);
    put_sibling(copath, h - 1, other) /*@ ghost (R, d, leaf, height) */;
    /*@ assert half: middle == start + pow2(h - 1) &&
          (right == 0 ? covers(start, h - 1, leaf) : covers(middle, h - 1, leaf)); */
    start = right ? middle : start;
  }
  *value = seed;
  /*@ assert wiped: c.err != PPRF_OK ==> copath != \null ==>
        wiped_or_same{Pre,Here}(copath, height); */
  int err = c.err;
  WIPE_LOCALS(seed, c);
  return err;
}

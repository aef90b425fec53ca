/* SPDX-License-Identifier: Apache-2.0 */
/* The walks of walk.h.  Branches and addresses depend on the leaf only. */
#include "walk.h"

#include "wp/walk_steps.h"

/* Store the seed of height i in the co-path if it is wanted; those above are already there. */
/*@ requires copath == \null || \valid(copath + (0 .. n - 1));
    requires index: i < n;
    requires above: copath != \null ==> copath_seeds(root, d, leaf, copath, i + 1, n);
    requires seed: seed_value(seed) == node_seed(root, d, beside(leaf, i), i);
    assigns copath[0 .. WANTED(copath, n) - 1];
    ensures copath: copath != \null ==> copath_seeds(root, d, leaf, copath, i, n);
    ensures rest: copath != \null ==> same_seeds{Pre,Post}(copath, i); */
static inline void put_sibling(struct pprf_seed *copath, unsigned i, struct pprf_seed seed)
  /*@ ghost (unsigned d, uint64_t leaf, unsigned n) */
{
  if (copath != NULL)
    copath[i] = seed;
}

/* Wipe what has been written of a co-path. */
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
                      struct pprf_seed *value) /*@ ghost (unsigned d) */
{
  //@ ghost deep_tree_lemma(d);
  //@ ghost covering_start_lemma(d, leaf, height);
  struct pprf_children c = {.err = PPRF_OK};
  if (opt_descend(family, seed, leaf, height, copath, value) /*@ ghost (d) */) {
    WIPE_LOCALS(seed, c);
    return PPRF_OK;
  }
  /*@ loop invariant height: h <= height <= d && c.err == PPRF_OK;
      loop invariant node: tree_node(d, start, h) && covers(start, h, leaf);
      loop invariant seed: seed_value(seed) == node_seed(root, d, start, h);
      loop invariant copath: copath != \null ==>
        copath_seeds(root, d, leaf, copath, h, height);
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
    //@ assert left: seed_value(c.left) == node_seed(root, d, start, h - 1);
    //@ assert right: seed_value(c.right) == node_seed(root, d, middle, h - 1);
    seed = opt_child(c, right != 0);
    struct pprf_seed other = opt_child(c, right == 0);
    //@ assert other: seed_value(other) == node_seed(root, d, beside(leaf, h - 1), h - 1);
    put_sibling(copath, h - 1, other) /*@ ghost (d, leaf, height) */;
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

/* ---- what remains of a node when a range ends in it ---- */

/* Write a node after the n nodes before it. */
/*@ requires \valid(e + n);
    assigns e[n];
    ensures entry: e[n].node.start == start && e[n].node.height == height &&
      e[n].seed.lo == seed.lo && e[n].seed.hi == seed.hi;
    ensures same: same_entries{Pre,Post}(e, n);
    ensures behind: same_behind{Pre,Post}(e, n); */
static inline void put_entry(struct opt_entry *e, unsigned n, uint64_t start, unsigned height,
                             struct pprf_seed seed)
{
  e[n].node.start = start;
  e[n].node.height = height;
  e[n].seed = seed;
}

/* Write, after the n nodes before it, the child that is not on the path to a leaf: a left child
 * ends where the path continues, a right one begins after it. */
/*@ requires node: 1 <= h <= d <= 63 && tree_node(d, start, h) && covers(start, h, leaf) &&
      \valid(out + n);
    requires right: right == 0 || right == 1;
    requires side: right != 0 ? leaf < start + pow2(h - 1) : start + pow2(h - 1) <= leaf;
    requires child: child == (right != 0 ? start + pow2(h - 1) : start);
    requires seed: seed_value(seed) == node_seed(root, d, child, h - 1);
    requires entries: entries(root, d, out, n);
    requires inside: begin <= start && start + pow2(h) <= end;
    assigns out[n];
    ensures entries: entries(root, d, out, n + 1);
    ensures behind: same_behind{Pre,Post}(out, n);
    ensures left: right == 0 ==> lefts_to{Pre}(out, n, begin, start, leaf) ==>
      lefts_to(out, n + 1, begin, start + pow2(h - 1), leaf);
    ensures right: right != 0 ==> rights_to{Pre}(out, n, end, start + pow2(h), leaf) ==>
      rights_to(out, n + 1, end, start + pow2(h - 1), leaf); */
static inline void keep_child(struct opt_entry *out, unsigned n, uint64_t child, unsigned h,
                              struct pprf_seed seed)
  /*@ ghost (unsigned d, uint64_t leaf, uint64_t start, int right, uint64_t begin, uint64_t end) */
{
  CHILD_IN_TREE
  put_entry(out, n, child, h - 1, seed);
  CHILD_IS_ENTERED
}

NOINLINE struct opt_kept opt_siblings(struct pprf_family family, struct pprf_seed seed,
                                      uint64_t start, unsigned height, uint64_t leaf,
                                      int right_side, struct opt_entry *out)
  /*@ ghost (unsigned d) */
{
  NODE_OF_RANGE
  const uint64_t edge = leaf + (uint64_t)right_side; /* of the range */
  uint64_t from = start, to = start + (UINT64_C(1) << height); /* the current subtree on the path */
  struct pprf_children c = {.err = PPRF_OK};
  unsigned n = 0;
  /*@ loop invariant height: h <= height <= d && c.err == PPRF_OK;
      loop invariant node: tree_node(d, from, h) && covers(from, h, leaf) && to == from + pow2(h);
      loop invariant inside: start <= from && to <= far;
      loop invariant seed: seed_value(seed) == node_seed(root, d, from, h);
      loop invariant count: n <= height - h;
      loop invariant entries: entries(root, d, out, n);
      loop invariant left: right_side == 0 ==> lefts_to(out, n, start, from, leaf);
      loop invariant right: right_side != 0 ==> rights_to(out, n, far, to, leaf);
      loop invariant behind: wiped_or_kept{Pre,Here}(out, n, height);
      loop invariant cost: expansions + h <= \at(expansions,Pre) + height;
      loop assigns h, from, to, seed, c, n, out[0 .. height - 1], expansions;
      loop variant h; */
  for (unsigned h = height; h > 0 && (right_side ? to : from) != edge; h--) {
    CHILDREN_OF_NODE
    c = prg_expand(family, seed, from, h);
    if (c.err != PPRF_OK) {
      opt_wipe_entries(out, height);
      n = 0;
      break;
    }
    const uint64_t middle = from + (UINT64_C(1) << (h - 1));
    const int right = leaf >= middle;
    //@ assert left: seed_value(c.left) == node_seed(root, d, from, h - 1);
    //@ assert right: seed_value(c.right) == node_seed(root, d, middle, h - 1);
    seed = opt_child(c, right);
    if (right != right_side) {
      struct pprf_seed other = opt_child(c, !right);
      //@ ghost Before: ;
      keep_child(out, n, right ? from : middle, h, other)
        /*@ ghost (d, leaf, from, right_side, start, far) */;
      CHILD_IS_KEPT
      n++;
    }
    if (right)
      from = middle;
    else
      to = middle;
  }
  SIBLINGS_OF_RANGE
  struct opt_kept kept = {n, c.err};
  WIPE_LOCALS(seed, c);
  return kept;
}

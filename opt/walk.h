/* SPDX-License-Identifier: Apache-2.0 */
/** @file walk.h
 * Walks from a node's seed down to a leaf's, and to the nodes that remain when a range is
 * punctured, in trees of any depth. */
#ifndef PPRF_OPT_WALK_H
#define PPRF_OPT_WALK_H

#include "key.h"
#include "lanes.h"
#include "packed/tiles.h"

/** The seed of the left or right child. */
/*@ assigns \nothing;
    ensures right: right != 0 ==> seed_value(\result) == seed_value(c.right);
    ensures left: right == 0 ==> seed_value(\result) == seed_value(c.left); */
static inline struct pprf_seed opt_child(struct pprf_children c, int right)
{
  return right ? c.right : c.left;
}

/** Walk from a node to a leaf below it.
 * @param[in] seed    the node's seed; the node begins at leaf start.
 * @param[out] copath NULL, or height seeds: copath[i] is that of the path's sibling of height i.
 * @param[out] value  the leaf's seed.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: on an error no output holds a seed. */
/*@ requires family: tree_family(family);
    requires node: 1 <= d <= 63 && height <= d && tree_node(d, start, height) &&
      covers(start, height, leaf);
    requires seed: seed_value(seed) == node_seed(root, d, start, height);
    requires \valid(value) && (copath == \null || \valid(copath + (0 .. height - 1)));
    requires \separated(value, copath + (0 .. height - 1));
    assigns *value, copath[0 .. WANTED(copath, height) - 1], expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + height;
    ensures value: \result == PPRF_OK ==> seed_value(*value) == leaf_value(root, d, leaf);
    ensures copath: \result == PPRF_OK ==> copath != \null ==>
      copath_seeds(root, d, leaf, copath, 0, height);
    ensures error: \result != PPRF_OK ==> zero_seed(*value);
    ensures error_copath: \result != PPRF_OK ==> copath != \null ==>
      wiped_or_same{Pre,Post}(copath, height); */
int opt_walk(struct pprf_family family, struct pprf_seed seed, uint64_t start, unsigned height,
             uint64_t leaf, struct pprf_seed *copath, struct pprf_seed *value)
  /*@ ghost (unsigned d) */;

/** Number of remaining nodes; 0 on error. */
struct opt_kept {
  unsigned count;
  int err;
};

/** Derive what remains of a node when a range of leaves ends in it: the left siblings of the path
 * to the range's first leaf, or the right siblings of the path to its last.  The walk stops at the
 * subtree that lies entirely in the range.
 * @param[in] seed       the node's seed; the node begins at leaf start.
 * @param[in] leaf       the range's first leaf, or its last.
 * @param[in] right_side whether leaf is the last.
 * @param[out] out       memory for height nodes: left ones ascend from the node's start, right ones
 *                       descend from its end.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: on an error out holds no seed. */
/*@ requires family: tree_family(family);
    requires node: 1 <= d <= 63 && height <= d && tree_node(d, start, height) &&
      covers(start, height, leaf);
    requires seed: seed_value(seed) == node_seed(root, d, start, height);
    requires side: right_side == 0 || right_side == 1;
    requires \valid(out + (0 .. height - 1));
    assigns out[0 .. height - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + height;
    ensures count: \result.count <= height && (\result.err != PPRF_OK ==> \result.count == 0);
    ensures entries: entries(root, d, out, \result.count);
    ensures left: \result.err == PPRF_OK ==> right_side == 0 ==>
      lefts(out, \result.count, start, leaf);
    ensures right: \result.err == PPRF_OK ==> right_side != 0 ==>
      rights(out, \result.count, start + pow2(height), leaf);
    ensures error: \result.err != PPRF_OK ==> \forall integer i; 0 <= i < height ==>
      zero_seed(out[i].seed);
    ensures behind: wiped_or_kept{Pre,Post}(out, \result.count, height); */
struct opt_kept opt_siblings(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                             unsigned height, uint64_t leaf, int right_side, struct opt_entry *out)
  /*@ ghost (unsigned d) */;

/** Wipe the seeds of n nodes. */
/*@ requires \valid(e + (0 .. n - 1));
    assigns e[0 .. n - 1];
    ensures wiped: \forall integer i; 0 <= i < n ==> zero_seed(e[i].seed); */
static inline void opt_wipe_entries(struct opt_entry *e, unsigned n)
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer k; 0 <= k < i ==> zero_seed(e[k].seed);
      loop assigns i, e[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    e[i].seed = (struct pprf_seed){0, 0};
  KEEP_STORES(e);
}

#endif

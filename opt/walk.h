/* SPDX-License-Identifier: Apache-2.0 */
/** @file walk.h
 * From a node's seed down to a leaf's, in a tree of any depth. */
#ifndef PPRF_OPT_WALK_H
#define PPRF_OPT_WALK_H

#include "key.h"
#include "lanes.h"
#include "tiles.h"

/** The seed of one of the two children. */
/*@ assigns \nothing;
    ensures right: right != 0 ==> seed_value(\result) == seed_value(c.right);
    ensures left: right == 0 ==> seed_value(\result) == seed_value(c.left); */
static inline struct pprf_seed opt_child(struct pprf_children c, int right)
{
  return right ? c.right : c.left;
}

/** Walk from a node to a leaf below it.
 * @param[in] seed    the node's; it starts at the leaf start.
 * @param[out] copath NULL, or height seeds: copath[i] is that of the path's sibling of height i.
 * @param[out] value  the leaf's seed.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: then neither holds a seed. */
/*@ requires family: tree_family(family);
    requires node: 1 <= d <= 63 && height <= d && tree_node(d, start, height) &&
      covers(start, height, leaf);
    requires seed: seed_value(seed) == node_seed(seed_value(R), d, start, height);
    requires \valid(value) && (copath == \null || \valid(copath + (0 .. height - 1)));
    requires \separated(value, copath + (0 .. height - 1));
    assigns *value, copath[0 .. WANTED(copath, height) - 1], expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + height;
    ensures value: \result == PPRF_OK ==> seed_value(*value) == leaf_value(seed_value(R), d, leaf);
    ensures copath: \result == PPRF_OK ==> copath != \null ==>
      copath_seeds(seed_value(R), d, leaf, copath, 0, height);
    ensures error: \result != PPRF_OK ==> zero_seed(*value);
    ensures error_copath: \result != PPRF_OK ==> copath != \null ==>
      wiped_or_same{Pre,Post}(copath, height); */
int opt_walk(struct pprf_family family, struct pprf_seed seed, uint64_t start, unsigned height,
             uint64_t leaf, struct pprf_seed *copath, struct pprf_seed *value)
  /*@ ghost (struct pprf_seed R, unsigned d) */;

#endif

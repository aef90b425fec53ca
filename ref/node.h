/* SPDX-License-Identifier: Apache-2.0 */
/** @file node.h
 * Nodes of the key and the operations on them that need no PRG: place, move, wipe. */
#ifndef REF_NODE_H
#define REF_NODE_H

#include "prg.h"

/** Greatest depth of a tree, and so the greatest height of a node. */
#define REF_DEPTH_MAX 32

/** A subtree of the GGM tree whose seed the key stores: leaves start .. start + 2^height - 1. */
struct ref_node {
  uint64_t start;
  unsigned height;
  struct pprf_seed seed;
};

/** Leaves below a node of height h <= 63: 2^h. */
uint64_t ref_width(unsigned h);

/** Make *p the node (start, height) with this seed. */
void ref_put(struct ref_node *p, uint64_t start, unsigned height, struct pprf_seed seed);

/** Zero a[0 .. n-1], in a way that the compiler keeps. */
void ref_wipe(struct ref_node *a, size_t n);

/** Zero a seed, in a way that the compiler keeps. */
void ref_wipe_seed(struct pprf_seed *seed);

/** Copy b[0 .. n-1] to a[0 .. n-1]; the two do not overlap. */
void ref_copy(struct ref_node *a, const struct ref_node *b, size_t n);

/** Replace the nodes a[i .. j-1] by b[0 .. m-1]: the nodes from a[j] on move, and what is left
 * over behind the new last node is wiped.
 * @return the new length, n - (j - i) + m; the array must have room for it. */
size_t ref_splice(struct ref_node *a, size_t n, size_t i, size_t j, const struct ref_node *b,
                  size_t m);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file path.h
 * The nodes on the path from the root to a leaf, and their siblings, computed by shifts. */
#ifndef PPRF_OPT_PATH_H
#define PPRF_OPT_PATH_H

#include "slots/bitmap.h"

#ifdef __FRAMAC__
#include "path.acsl"
#endif

/** Whether a tree of a depth has the leaf. */
/*@ requires depth <= 63;
    assigns \nothing;
    ensures results: \result == 0 || \result == 1;
    ensures in: \result == 1 <==> leaf < pow2(depth); */
static inline int opt_in_tree(uint64_t leaf, unsigned depth)
{
  //@ ghost shift_lemma(leaf, depth);
  return leaf >> depth == 0;
}

/** Start of the node of height h that covers a leaf; 2^32 may be the end of a tree. */
/*@ requires h <= 32 && leaf <= 0x100000000;
    assigns \nothing;
    ensures \result == covering_start(leaf, h); */
static inline uint64_t opt_start(uint64_t leaf, unsigned h)
{
  //@ ghost shift_lemma(leaf, h);
  return leaf >> h << h;
}

/** Start of that node's sibling. */
/*@ requires h < 32 && leaf <= 0xffffffff;
    assigns \nothing;
    ensures \result == beside(leaf, h); */
static inline uint64_t opt_sibling_start(uint64_t leaf, unsigned h)
{
  //@ ghost sibling_lemma(leaf, h);
  return (leaf >> h ^ 1) << h;
}

#endif

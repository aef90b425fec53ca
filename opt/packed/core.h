/* SPDX-License-Identifier: Apache-2.0 */
/** @file core.h
 * Evaluation and punctures of packed keys, at any depth.  The API functions in opt/core.c call
 * these for packed keys. */
#ifndef PPRF_OPT_PACKED_CORE_H
#define PPRF_OPT_PACKED_CORE_H

#include "index.h"
#include "../key.h"

#ifdef __FRAMAC__
#include "core.acsl"
#endif

/** Result of a search for a leaf's node. */
struct opt_found {
  struct opt_node node;
  int live; /* whether the leaf has a node */
};

/** Find the live node that covers a leaf of the tree, if there is one. */
/*@ requires store: packed_holds(root, p) && leaf < pow2(p->depth);
    assigns \nothing;
    ensures results: \result.live == 0 || \result.live == 1;
    ensures live: \result.live == 1 <==> !packed_punctured(p, leaf);
    ensures node: \result.live == 1 ==> packed_node(p, \result.node) &&
      covers(\result.node.start, \result.node.height, leaf);
    ensures height: \result.live == 1 ==> \result.node.height <= p->depth &&
      tree_node(p->depth, \result.node.start, \result.node.height); */
struct opt_found opt_packed_live(const struct opt_packed *p, uint64_t leaf);

/** Evaluate at a leaf.  The caller has no seed in its frame, and wipes the stack below it.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: on an error
 * out is zero. */
/*@ requires store: packed_key(root, p);
    requires family: tree_family(family);
    requires out: \valid(out + (0 .. 15)) && value_apart(p, out);
    assigns out[0 .. 15], expansions;
    OPT_PACKED_EVAL */
int opt_packed_eval(const struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                    uint8_t *out);

/** Puncture a leaf of a tree of depth at most PPRF_SLOTS_DEPTH_MAX, and write its value to out
 * unless that is NULL.  The caller must have no seed in its frame, and must wipe the stack below
 * it; after PPRF_ERR_PUNCTURED that is not necessary, because no seed was read.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: on an error
 *         the punctured leaves are unchanged and out is zero. */
/*@ requires depth: p->depth <= PPRF_SLOTS_DEPTH_MAX;
    OPT_PACKED_PUNCT
    ensures error_out: \result != PPRF_OK ==> out != \null ==> seed_bytes(out, 0, 0); */
int opt_packed_punct(struct opt_packed *p, struct pprf_family family, uint64_t leaf, uint8_t *out);

/** The same in a tree of any depth, with a longer co-path in its frame. */
/*@ OPT_PACKED_PUNCT
    ensures error_out: \result != PPRF_OK ==> out != \null ==> seed_bytes(out, 0, 0); */
int opt_packed_punct_deep(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                          uint8_t *out);

/** Puncture the leaves first .. last of a tree of depth at most PPRF_SLOTS_DEPTH_MAX.  Some of them
 * may be punctured.  The caller must have no seed in its frame, and must wipe the stack below it.
 * @retval PPRF_OK, PPRF_ERR_PUNCTURED if all are, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: on an error the
 *         punctured leaves are unchanged. */
/*@ requires depth: p->depth <= PPRF_SLOTS_DEPTH_MAX;
    OPT_PACKED_PUNCT_RANGE */
int opt_packed_punct_range(struct opt_packed *p, struct pprf_family family, uint64_t first,
                           uint64_t last);

/** The same for a tree of any depth, with more nodes in its frame. */
/*@ OPT_PACKED_PUNCT_RANGE */
int opt_packed_punct_range_deep(struct opt_packed *p, struct pprf_family family, uint64_t first,
                                uint64_t last);

#endif

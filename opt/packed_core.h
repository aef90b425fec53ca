/* SPDX-License-Identifier: Apache-2.0 */
/** @file packed_core.h
 * Evaluation and punctures of packed keys, at any depth: the functions of the API in core.c hand them over. */
#ifndef PPRF_OPT_PACKED_CORE_H
#define PPRF_OPT_PACKED_CORE_H

#include "index.h"
#include "key.h"

#ifdef __FRAMAC__
#include "packed_core.acsl"
#endif

/** Evaluate at a leaf of the tree.  The caller, who has no seed in its frame, wipes the stack below it.
 * @retval PPRF_OK, PPRF_ERR_PUNCTURED, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: then out is zero. */
/*@ requires store: packed_holds(seed_value(R), p) && leaf < pow2(p->depth);
    requires family: tree_family(family);
    requires out: \valid(out + (0 .. 15));
    assigns out[0 .. 15], expansions;
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==> packed_punctured{Pre}(p, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + \old(p->depth);
    ensures free: \result == PPRF_ERR_PUNCTURED ==> expansions <= \old(expansions);
    ensures value: \result == PPRF_OK ==> \exists integer lo, hi; seed_bytes(out, lo, hi) &&
      seed_from_words(lo, hi) == leaf_value(seed_value(R), \old(p->depth), leaf);
    ensures error: \result != PPRF_OK ==> seed_bytes(out, 0, 0); */
int opt_packed_eval(const struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                    uint8_t *out) /*@ ghost (struct pprf_seed R) */;

/** Puncture a leaf of the tree, of depth PPRF_SLOTS_DEPTH_MAX at most, and write its value to out if that is not
 * NULL.  The caller, who has no seed in its frame, wipes the stack below it; of PPRF_ERR_PUNCTURED no seed
 * was read.
 * @retval PPRF_OK, PPRF_ERR_PUNCTURED, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: on an error the same leaves are
 *         punctured as before, and out is as it was. */
/*@ requires depth: p->depth <= PPRF_SLOTS_DEPTH_MAX;
    OPT_PACKED_PUNCT */
int opt_packed_punct(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                     uint8_t *out) /*@ ghost (struct pprf_seed R) */;

/** The same in a tree of any depth, with a longer co-path in its frame. */
/*@ OPT_PACKED_PUNCT */
int opt_packed_punct_deep(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                          uint8_t *out) /*@ ghost (struct pprf_seed R) */;

#endif

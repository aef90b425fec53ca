/* SPDX-License-Identifier: Apache-2.0 */
/** @file change.h
 * Keys whose store becomes the other: pair slots for pprf_prefault, and what PPRF_STORE_DEFAULT stands for.
 *
 * A key of that store begins packed.  At depths 10 to 20 it has pair slots from more than 2^depth / 8 nodes on, where
 * they are faster and take 65 bytes a node, until it has fewer than 2^depth / 64 again.  Shallower trees are a
 * few pages; in deeper ones so many nodes would take more than some 20 ms to move, in one puncture.
 * A node comes in with a PRG call, so between two changes to pair slots there are 7/64 2^depth calls at least,
 * to each of which the changes add 0.1 to 0.3 us at most, the more the smaller the tree (docs/sparse-store.md).
 *
 * A change is made when an operation has been done, and is no part of its result: without memory, or where
 * seeds would no longer be kept out of swap, the store stays what it is, and the next change is tried at twice
 * as many nodes, or half as many. */
#ifndef PPRF_OPT_CHANGE_H
#define PPRF_OPT_CHANGE_H

/* Depths of the trees whose keys change. */
#define OPT_CHANGE_DEPTH_MIN 10
#define OPT_CHANGE_DEPTH_MAX 20

#ifdef __FRAMAC__ /* what is proven is proven of either store, between two changes */
#define OPT_CHANGE_IF_DUE(key)
#else
#include "store.h"

struct pprf_key;

/** Let a store change from now on, if trees of its depth do.  Called for a packed store too, when slots were due but
 * could not be allocated. */
void opt_store_may_change(struct opt_store *s);

/** With more nodes than this a key that may change has pair slots; UINT64_MAX: trees of the depth do not change. */
static inline uint64_t opt_most_packed(unsigned depth)
{
  return depth < OPT_CHANGE_DEPTH_MIN || depth > OPT_CHANGE_DEPTH_MAX ? UINT64_MAX
                                                                      : UINT64_C(1) << depth >> 3;
}

/** Make empty pair slots of which nothing lies behind the key, so that a packed store may be there later.
 * @retval PPRF_OK, or PPRF_ERR_NOMEM. */
int opt_store_open_apart(struct opt_store *s, unsigned depth);

/** As pprf_prefault: a packed store becomes pair slots, and these never change again.
 * @retval PPRF_OK, or PPRF_ERR_NOMEM: also where seeds that are kept out of swap would no longer be. */
int opt_store_prefault(struct opt_store *s);

/** Give a key its other store, and wipe what moved from the stack. */
void opt_key_change(struct pprf_key *key);

/* After an operation that may have changed the number of nodes. */
#define OPT_CHANGE_IF_DUE(key)                                              \
  if (__builtin_expect((key)->store.packed != NULL ? (key)->store.nodes > (key)->store.most   \
                                                   : (key)->store.nodes < (key)->store.least, \
                       0))                                                  \
    opt_key_change(key);
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file change.h
 * The change of a key's store: to pair slots for pprf_prefault, and either way for
 * PPRF_STORE_DEFAULT.
 *
 * A key of PPRF_STORE_DEFAULT begins packed.  At depths 10 to 20 it changes to pair slots at more
 * than 2^depth / 8 nodes, where slots are faster and take 65 bytes a node, and back at fewer than
 * 2^depth / 64. Shallower trees take only a few pages; in deeper ones a single puncture would take
 * more than some 20 ms to move so many nodes. Each new node costs a PRG call, so between two
 * changes to pair slots there are at least 7/64 2^depth calls.  The changes add at most 0.1 to 0.3
 * us to each of them, more in smaller trees (docs/sparse-store.md).
 *
 * A change follows a complete operation and does not affect its result.  Without memory, or if
 * seeds would no longer be kept out of swap, the store stays as it is, and the next change is tried
 * at twice as many nodes, or half as many. */
#ifndef PPRF_OPT_CHANGE_H
#define PPRF_OPT_CHANGE_H

/* Range of depths at which stores change. */
#define OPT_CHANGE_DEPTH_MIN 10
#define OPT_CHANGE_DEPTH_MAX 20

#ifdef __FRAMAC__ /* the proofs are about a store between two changes */
#define OPT_CHANGE_IF_DUE(key)
#else
#include "store.h"

struct pprf_key;

/** Let the store change from now on, if trees of its depth do.  Also called for a packed store
 * when slots were due but could not be allocated. */
void opt_store_may_change(struct opt_store *s);

/** A key whose store may change has pair slots with more nodes than this; UINT64_MAX: no change
 * at this depth. */
static inline uint64_t opt_most_packed(unsigned depth)
{
  return depth < OPT_CHANGE_DEPTH_MIN || depth > OPT_CHANGE_DEPTH_MAX ? UINT64_MAX
                                                                      : UINT64_C(1) << depth >> 3;
}

/** Make empty pair slots in a block of their own, so that they can replace a packed store later.
 * @retval PPRF_OK, or PPRF_ERR_NOMEM. */
int opt_slots_open_apart(struct opt_slots *s, unsigned depth);

/** pprf_prefault for a store: change a packed store to pair slots, which never change again.
 * @retval PPRF_OK, or PPRF_ERR_NOMEM, also if seeds would no longer be kept out of swap. */
int opt_store_prefault(struct opt_store *s);

/** Change a key to its other store, and wipe the moved seeds from the stack. */
void opt_key_change(struct pprf_key *key);

/* To be used after an operation that may have changed the number of nodes. */
#define OPT_CHANGE_IF_DUE(key) \
  if (__builtin_expect((key)->store.packed != NULL \
                         ? (key)->store.packed->nodes > (key)->store.most \
                         : (key)->store.slots.nodes < (key)->store.least, \
                       0)) \
    opt_key_change(key);
#endif

#endif

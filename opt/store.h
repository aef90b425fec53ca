/* SPDX-License-Identifier: Apache-2.0 */
/** @file store.h
 * Where a key keeps its nodes: a packed store (packed/packed.h) or dense pair slots
 * (slots/slots.h).  The functions below do the same of either. */
#ifndef PPRF_OPT_STORE_H
#define PPRF_OPT_STORE_H

#include "slots/slots.h"

struct opt_packed;

struct opt_store {
  struct opt_slots slots;    /* if the store is packed, only the bitmap's depth is set */
  struct opt_packed *packed; /* NULL: the store is the pair slots */
};

#define OPT_IF_PACKED(store, ...) \
  if ((store)->packed != NULL)    \
  __VA_ARGS__

#ifndef __FRAMAC__
#include "packed/packed.h"
#include "packed/read.h"
#include "slots/read.h"

/** Make a packed store of the root.
 * @param[in] packed zero bytes that must live as long as the store.
 * @retval 0, or PPRF_ERR_NOMEM. */
int opt_store_open_packed(struct opt_store *s, unsigned depth, struct opt_packed *packed,
                          const struct pprf_seed *root);

/** Make a packed store with the nodes of a source, as opt_packed_load. */
int opt_store_load_packed(struct opt_store *s, unsigned depth, uint64_t nodes,
                          struct opt_packed *packed, opt_packed_source *next, void *from);

/** Wipe the seeds and free the memory. */
void opt_store_close(struct opt_store *s);

/** Free a store without wiping it: a copy made by fork, in any state, or a store without seeds. */
void opt_store_drop(struct opt_store *s);

/** Whether the seeds are kept out of swap. */
int opt_store_locked(const struct opt_store *s);

/** Bytes of memory that the nodes take now. */
size_t opt_store_resident_bytes(const struct opt_store *s);

/** Number of live nodes. */
static inline uint64_t opt_store_nodes(const struct opt_store *s)
{
  return s->packed != NULL ? s->packed->nodes : s->slots.nodes;
}

/** The live node that covers a leaf of the tree.
 * @retval 1 *node is set.
 * @retval 0 the leaf is punctured. */
static inline int opt_store_find(const struct opt_store *s, uint64_t leaf, struct opt_node *node)
{
  OPT_IF_PACKED(s, return opt_packed_find(s->packed, leaf, node);)
  return opt_slots_find(&s->slots, leaf, node);
}

/** Hint that a leaf's node will be looked up and its seed read. */
static inline void opt_store_prefetch(const struct opt_store *s, uint64_t leaf)
{
  if (s->packed != NULL)
    opt_packed_prefetch(s->packed, leaf);
  else
    opt_slots_prefetch(&s->slots, leaf);
}

/** The live node that covers a leaf, or else the next one in leaf order; leaf <= 2^depth.
 * @retval 1 *node is set.
 * @retval 0 all leaves >= leaf are punctured. */
int opt_store_next(const struct opt_store *s, uint64_t leaf, struct opt_node *node);

/** The seed of a live node. */
static inline struct pprf_seed opt_store_seed(const struct opt_store *s, struct opt_node node)
{
  OPT_IF_PACKED(s, return opt_packed_seed(s->packed, node);)
  return opt_slots_seed(&s->slots, node);
}

/** Puncture n live leaves in ascending order: replace the nodes that cover them.
 * @param[in] rest  the nodes that cover what these nodes covered besides the leaves.
 * @param[in] count number of them.
 * @retval 0, or PPRF_ERR_NOMEM: nothing has changed. */
int opt_store_puncture_set(struct opt_store *s, const uint64_t *leaf, size_t n,
                           const struct opt_entry *rest, size_t count);

/** Reads the nodes of a store one after the other, for an export. */
struct opt_reader {
  const struct opt_store *store;
  struct opt_cursor cursor; /* of a packed store */
  struct opt_slots_reader slots;
};

/** A reader before all nodes of a store, which must not change meanwhile. */
static inline struct opt_reader opt_store_reader(const struct opt_store *s)
{
  return (struct opt_reader){.store = s, .slots = {.slots = &s->slots}};
}

/** Read the next node of a store, and its seed.
 * @retval 1 *e is set.
 * @retval 0 there is none. */
int opt_store_read(struct opt_reader *r, struct opt_entry *e);
#endif

#endif

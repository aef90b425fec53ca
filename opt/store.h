/* SPDX-License-Identifier: Apache-2.0 */
/** @file store.h
 * Where opt keeps the nodes of a key: dense pair slots.
 *
 * An aligned pair of leaves {2j, 2j + 1} is the start of at most one live node, so the seed of the
 * node (start, height) lies in slot[start >> 1], and the set of punctured leaves gives the height.
 * Invariant: every slot is zero or holds the seed of the live node that starts in its pair.
 *
 * The slots and every bitmap level of a page or more lie in one private anonymous mapping, at
 * offsets that the depth alone determines; a page takes memory from its first write on.  Smaller
 * levels lie in a block of opt_store_small_bytes(depth) bytes from the caller.  Neither holds a
 * pointer.
 *
 * pprf.c sees the nodes only through these functions, so that another layout can serve sets that
 * are sparse in a large domain (store.c says what they cost here). */
#ifndef PPRF_OPT_STORE_H
#define PPRF_OPT_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "bitmap.h"
#include "prg.h"

/** The subtree over the leaves start .. start + 2^height - 1. */
struct opt_node {
  uint64_t start;
  unsigned height;
};

/** A node and its seed. */
struct opt_entry {
  struct opt_node node;
  struct pprf_seed seed;
};

struct opt_store {
  struct opt_bitmap punctured;
  uint64_t nodes;         /* live nodes */
  struct pprf_seed *slot; /* 2^(depth - 1) of them: the start of the mapping */
  size_t mapped;          /* bytes of the mapping */
  size_t page;            /* bytes of a page */
  int locked;             /* whether the slots are kept out of swap */
  int shared;             /* whether the mapping is shared with forked processes */
  int held;               /* whether pages stay backed when nothing of them is needed any more */
};

/** Bytes of the bitmap levels that are kept outside the mapping; a multiple of 8. */
size_t opt_store_small_bytes(unsigned depth);

/** Make a store without nodes in which nothing is punctured: the caller loads it.
 * @param[in] depth 1..32.
 * @param[in] small opt_store_small_bytes(depth) zero bytes, aligned for uint64_t, which must live
 *                  as long as the store.
 * @param[in] shared whether processes forked later share the mapping.
 * @retval 0, or PPRF_ERR_NOMEM. */
int opt_store_open(struct opt_store *s, unsigned depth, void *small, int shared);

/** Wipe the seeds and puncture every leaf, whatever state the store is in. */
void opt_store_clear(struct opt_store *s);

/** Give a cleared store, all of whose leaves are punctured, one node: the root. */
void opt_store_start(struct opt_store *s, struct pprf_seed root);

/** Wipe the seeds and give the mapping back. */
void opt_store_close(struct opt_store *s);

/** Load a node into a new store.  Nodes and gaps together must cover the leaves exactly. */
void opt_store_load_node(struct opt_store *s, const struct opt_entry *e);

/** Load the punctured leaves first .. last into a new store; nothing if first > last. */
void opt_store_load_gap(struct opt_store *s, uint64_t first, uint64_t last);

/** The live node that covers a leaf of the tree.
 * @retval 1 *node is set.
 * @retval 0 the leaf is punctured. */
static inline int opt_store_find(const struct opt_store *s, uint64_t leaf, struct opt_node *node)
{
  if (!opt_bitmap_height(&s->punctured, leaf, &node->height))
    return 0;
  node->start = leaf >> node->height << node->height;
  return 1;
}

/** Hint that a leaf's node will be looked up and its seed read: fetches the slot where that seed
 * lies if the node is small.  Never touches a page. */
static inline void opt_store_prefetch(const struct opt_store *s, uint64_t leaf)
{
  __builtin_prefetch(&s->slot[leaf >> 1], 1);
}

/** The live node that covers a leaf, or else the next one in leaf order; leaf <= 2^depth.
 * @retval 1 *node is set.
 * @retval 0 all leaves >= leaf are punctured. */
int opt_store_next(const struct opt_store *s, uint64_t leaf, struct opt_node *node);

/** The seed of a live node. */
static inline struct pprf_seed opt_store_seed(const struct opt_store *s, struct opt_node node)
{
  return s->slot[node.start >> 1];
}

/** Puncture a leaf: replace the live node that covers it by its co-path.
 * @param[in] node   the live node that covers leaf.
 * @param[in] copath node.height seeds; copath[i] is that of the path's sibling of height i. */
void opt_store_puncture(struct opt_store *s, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath);

/** Puncture the leaves first .. last: replace the live nodes that meet the range, one at least.
 * @param[in] rest  the nodes that cover what these nodes covered outside the range.
 * @param[in] count number of them. */
void opt_store_puncture_range(struct opt_store *s, uint64_t first, uint64_t last,
                              const struct opt_entry *rest, unsigned count);

/** Puncture n live leaves in ascending order: replace the nodes that cover them.
 * @param[in] rest  the nodes that cover what these nodes covered besides the leaves.
 * @param[in] count number of them. */
void opt_store_puncture_set(struct opt_store *s, const uint32_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count);

/** Have every page of the mapping backed by memory, from now until the store is closed.
 * @retval 0, or PPRF_ERR_NOMEM. */
int opt_store_prefault(struct opt_store *s);

/** Bytes of the mapping that are backed by memory now. */
size_t opt_store_resident_bytes(const struct opt_store *s);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file packed.h
 * The second store of opt, for keys with few nodes: the tree's tiles (tiles.h) in pages of 1 to
 * 2.3 kB at most, 4 kB in a key of very many pages, each an eighth greater than its tiles need at most
 * (while no memory was refused), out of the process's arena (arena.h), and a sorted index of the pages.
 * 17 bytes a node, one a punctured tile, whatever the depth: 1 .. 63.
 *
 * The functions do what those of store.h do for the pair slots.  Those that change the store can lack
 * memory: then nothing has changed. */
#ifndef PPRF_OPT_PACKED_H
#define PPRF_OPT_PACKED_H

#include "fit.h"

/** Depths this store takes. */
#define OPT_PACKED_DEPTH_MAX 63

/* opt_packed_open: load.h */

/** Give the next node of a key, in leaf order, and its seed; 0: there is none. */
typedef int opt_packed_source(void *from, struct opt_entry *e);

/** Make a store with the nodes that a source gives, so many at most: nodes of a tree of the depth, each behind
 * the one before.  What they leave out is punctured.
 * @retval 0, or PPRF_ERR_NOMEM: there is no store. */
int opt_packed_load(struct opt_packed *p, unsigned depth, uint64_t nodes, opt_packed_source *next,
                    void *from);

/** Wipe the seeds and give the memory back. */
void opt_packed_close(struct opt_packed *p);

/** Let go of a copy that fork made of a store, perhaps of a moment amid a change. */
void opt_packed_drop_copy(struct opt_packed *p);

/* opt_packed_find, opt_packed_next, opt_packed_seed: index.h */

/** Fetch the page of a leaf: its tiles and its seeds. */
void opt_packed_prefetch(const struct opt_packed *p, uint64_t leaf);

/** The same before a puncture of the leaf, and what they move to: the functions that look for the page afterwards find
 * it at once (near).  It writes: not for those who read a key, of whom there may be many. */
void opt_packed_near(struct opt_packed *p, uint64_t leaf);

/** Puncture a leaf, whose live node opt_packed_find gave, with the seeds beside the path to it.
 * @retval 0, or PPRF_ERR_NOMEM, never for a node of height 0: the same leaves are punctured as before. */
/*@ requires store: packed_key(root, p);
    requires node: packed_node(p, node) && covers(node.start, node.height, leaf);
    requires memory: node.height > 0 ==> \valid_read(copath + (0 .. node.height - 1)) &&
      copath_apart(p, copath, node.height);
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, node.height);
    assigns p->nodes, p->page_max, p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first, p->page,
      p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf;
    ensures count: \result == 0 ==> p->nodes == \old(p->nodes) + node.height - 1;
    ensures none: \result != 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
int opt_packed_puncture(struct opt_packed *p, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath);

/** Puncture n live leaves in ascending order, as opt_store_puncture_set; rest in leaf order.
 * @retval 0, or PPRF_ERR_NOMEM: nothing has changed. */
int opt_packed_puncture_set(struct opt_packed *p, const uint64_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count);

/** Bytes of the blocks and of the index, without the allocator's own. */
size_t opt_packed_bytes(const struct opt_packed *p);

/** Whether all seeds are kept out of swap. */
int opt_packed_locked(const struct opt_packed *p);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file packed.h
 * The packed store, for keys with few nodes: the tree's tiles (tiles.h) in pages of at most 1 to
 * 2.3 kB, 4 kB in a key of very many pages, in blocks of the process's arena (arena.h), and a
 * sorted index of the pages.  A block is at most an eighth larger than its tiles and seeds need, as
 * long as no allocation failed.  A node takes 17 bytes and a punctured tile one, at any depth: 1 ..
 * 63.
 *
 * The functions do what those of store.h do for pair slots.  Those that change the store may run
 * out of memory: then nothing has changed. */
#ifndef PPRF_OPT_PACKED_H
#define PPRF_OPT_PACKED_H

#include "fit.h"

/** Greatest depth of this store. */
#define OPT_PACKED_DEPTH_MAX 63

/* opt_packed_open: load.h */

/** Return the next node of a key in leaf order, with its seed; 0: there is none. */
typedef int opt_packed_source(void *from, struct opt_entry *e);

/** Make a store from the nodes of a source, at most `nodes`: nodes of a tree of this depth, each
 * after the previous one.  Leaves outside of them are punctured.
 * @retval 0, or PPRF_ERR_NOMEM: there is no store. */
int opt_packed_load(struct opt_packed *p, unsigned depth, uint64_t nodes, opt_packed_source *next,
                    void *from);

/** Wipe the seeds and free the memory. */
void opt_packed_close(struct opt_packed *p);

/** Free fork's copy of a store, which may have been copied during a change. */
void opt_packed_drop_copy(struct opt_packed *p);

/* opt_packed_find, opt_packed_next, opt_packed_seed: index.h */

/** Fetch the page of a leaf into the cache: its tiles and its seeds. */
void opt_packed_prefetch(const struct opt_packed *p, uint64_t leaf);

/** The same before a puncture of the leaf, which will write them. Later searches for the page
 * find it at once (near).  This writes to the store, so concurrent readers of a key must not
 * call it. */
void opt_packed_near(struct opt_packed *p, uint64_t leaf);

/** Puncture a leaf whose live node opt_packed_find returned; copath has the seeds beside the path
 * to it.
 * @retval 0, or PPRF_ERR_NOMEM, never for a node of height 0: the punctured leaves are
 * unchanged. */
/*@ requires store: packed_key(root, p);
    requires node: packed_node(p, node) && covers(node.start, node.height, leaf);
    requires memory: node.height > 0 ==> \valid_read(copath + (0 .. node.height - 1)) &&
      copath_apart(p, copath, node.height);
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, node.height);
    assigns p->nodes, p->page_max, p->pages, p->room, p->one_first,
      opt_pages[0 .. OPT_PAGES_MAX - 1], opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf;
    ensures count: \result == 0 ==> p->nodes == \old(p->nodes) + node.height - 1;
    ensures none: \result != 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
int opt_packed_puncture(struct opt_packed *p, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath);

/** Puncture n live leaves in ascending order, like opt_store_puncture_set; rest in leaf order.
 * @retval 0, or PPRF_ERR_NOMEM: nothing has changed. */
int opt_packed_puncture_set(struct opt_packed *p, const uint64_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count);

/** Bytes of the blocks and of the index, without the arena's overhead. */
size_t opt_packed_bytes(const struct opt_packed *p);

/** Whether all seeds are kept out of swap. */
int opt_packed_locked(const struct opt_packed *p);

#endif

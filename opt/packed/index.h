/* SPDX-License-Identifier: Apache-2.0 */
/** @file index.h
 * The pages of a packed store, and which of them holds a leaf.  A page is a row of tiles (tiles.h) in a
 * block of the arena; the pages cut the leaves of the tree into runs, and the index has the first leaf of
 * each. */
#ifndef PPRF_OPT_INDEX_H
#define PPRF_OPT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "entry.h"
#include "tiles.h"

/** Seeds in a page at most. */
#define OPT_PAGE_SEEDS (OPT_ARENA_MAX / sizeof(struct pprf_seed))

struct opt_page {
  uint16_t bytes;        /* of the block */
  uint16_t tiles, seeds; /* how many there are */
  uint16_t unused;
#ifndef __FRAMAC__
  uint8_t tile[]; /* then free memory, then the seeds, the first one last */
#else             /* WP has no flexible arrays; that tiles and seeds do not meet is page_fits */
  uint8_t tile[OPT_ARENA_MAX];
  struct pprf_seed seed[OPT_PAGE_SEEDS];
#endif
};

struct opt_packed {
  uint64_t nodes;
  unsigned depth;
  unsigned page_max;  /* bytes of a page at most; tests take less */
  size_t many;        /* after a split to more pages, they may be as great as the arena's blocks */
  size_t pages, room; /* of the index: used, allocated */
  size_t near;        /* a hint: the page of the leaf that was punctured last, or any number */
  uint64_t *first;    /* the first leaf of each page, ascending; first[0] is 0 */
  struct opt_page **page; /* they cut the leaves of the tree into runs */
  uint64_t one_first;     /* the index of a store with one page */
  struct opt_page *one_page;
};

#ifdef __FRAMAC__
/* all blocks of the arena, so that contracts can say which of them stay as they are */
#define OPT_PAGES_MAX 0x1000000
extern struct opt_page opt_pages[OPT_PAGES_MAX];
/* and all memory that indexes of more than one page have */
#define OPT_INDEX_MAX 0x1000000
extern uint64_t opt_firsts[OPT_INDEX_MAX];
extern struct opt_page *opt_lists[OPT_INDEX_MAX];
#include "index.acsl"
#endif

/** The place of the first seed of a row of n: those before it lie above. */
/*@ requires page: page_fits(page) && n <= OPT_PAGE_SEEDS;
    assigns \result \from page, n;
    ensures \result == page_top(page) - n; */
static inline struct pprf_seed *opt_page_row(const struct opt_page *page, unsigned n)
{
#ifndef __FRAMAC__
  return (struct pprf_seed *)((uintptr_t)page + page->bytes) - n;
#else
  return (struct pprf_seed *)page->seed + (OPT_PAGE_SEEDS - n);
#endif
}

/** Bytes of a page before its tiles. */
#define OPT_PAGE_HEAD 8u

/** Bytes that a page needs. */
/*@ requires page: page_fits(page);
    assigns \nothing;
    ensures \result == page_bytes(page); */
static inline size_t opt_page_used(const struct opt_page *page)
{
  return OPT_PAGE_HEAD + page->tiles + sizeof(struct pprf_seed) * page->seeds;
}

/** Bytes that a page needs after a puncture below a tile of height h. */
/*@ requires page: page_fits(page) && 1 <= h <= 63;
    assigns \nothing;
    ensures \result == page_bytes(page) + 17 * h - 16; */
static inline size_t opt_page_used_after(const struct opt_page *page, unsigned h)
{
  return opt_page_used(page) + h + sizeof(struct pprf_seed) * (h - 1);
}

/** The page that covers a leaf. */
/*@ requires index: index_of_pages(p) && leaf < pow2(p->depth);
    assigns \nothing;
    ensures page: \result < p->pages;
    ensures covers: p->first[\result] <= leaf < page_end(p, \result); */
size_t opt_page_of(const struct opt_packed *p, uint64_t leaf);

/** Where a leaf lies in the page that covers it. */
/*@ requires store: packed_holds(root, p);
    requires page: i < p->pages && p->first[i] <= leaf < page_end(p, i);
    assigns \nothing;
    ensures place: place_of_leaf(p, i, \result, leaf);
    ensures live: tile_byte(page_row(p->page[i]), \result.tile) >= 64 ==> \forall integer x;
      tile_covers(page_row(p->page[i]), p->first[i], \result.tile, x) ==> !packed_punctured(p, x);
    ensures punctured: tile_byte(page_row(p->page[i]), \result.tile) < 64 ==> \forall integer x;
      tile_covers(page_row(p->page[i]), p->first[i], \result.tile, x) ==> packed_punctured(p, x); */
struct opt_place opt_place_in(const struct opt_packed *p, size_t i, uint64_t leaf);

/** The seed of a live tile, where opt_place_in found it in page i. */
/*@ requires store: packed_holds(root, p);
    requires place: i < p->pages && place_of_leaf(p, i, at, at.start) &&
      tile_byte(page_row(p->page[i]), at.tile) >= OPT_TILE_LIVE;
    assigns \nothing;
    ensures seed: seed_value(\result) == node_seed(root, p->depth, at.start,
      tile_height(tile_byte(page_row(p->page[i]), at.tile))); */
struct pprf_seed opt_seed_in(const struct opt_packed *p, size_t i, struct opt_place at);

/** The live node that covers a leaf of the tree.
 * @retval 1 *node is set, and says where it lies.
 * @retval 0 the leaf is punctured; *node is no node. */
/*@ requires store: packed_holds(root, p) && leaf < pow2(p->depth);
    requires memory: \valid(node) && node_apart(p, node);
    assigns *node;
    ensures results: \result == 0 || \result == 1;
    ensures live: \result == 1 <==> !packed_punctured(p, leaf);
    ensures node: \result == 1 ==> packed_node(p, *node) &&
      packed_intact(p, node->start, node->height) && covers(node->start, node->height, leaf);
    ensures store: packed_holds(root, p) && (packed_owns{Pre}(p) ==> packed_owns(p));
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
int opt_packed_find(const struct opt_packed *p, uint64_t leaf, struct opt_node *node);

/** The live node that covers a leaf, or else the next one in leaf order; leaf <= 2^depth.
 * @retval 1 *node is set, and says where it lies.
 * @retval 0 all leaves >= leaf are punctured. */
/*@ requires store: packed_holds(root, p) && leaf <= pow2(p->depth);
    requires memory: \valid(node) && node_apart(p, node);
    assigns *node;
    ensures results: \result == 0 || \result == 1;
    ensures node: \result == 1 ==> packed_node(p, *node) &&
      packed_intact(p, node->start, node->height) && leaf < node->start + pow2(node->height);
    ensures next: \result == 1 ==> \forall integer x; leaf <= x < node->start ==>
      packed_punctured(p, x);
    ensures none: \result == 0 ==> \forall integer x; leaf <= x < pow2(p->depth) ==>
      packed_punctured(p, x);
    ensures store: packed_holds(root, p) && (packed_owns{Pre}(p) ==> packed_owns(p));
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
int opt_packed_next(const struct opt_packed *p, uint64_t leaf, struct opt_node *node);

/** Where a node lies that opt_packed_find or opt_packed_next gave; nothing has changed since. */
/*@ assigns \nothing;
    ensures \result.start == node.start && \result.tile == node.tile &&
      \result.seeds == node.seeds; */
static inline struct opt_place opt_place_of(struct opt_node node)
{
  return (struct opt_place){node.start, node.tile, node.seeds};
}

/** Its seed. */
/*@ requires store: packed_holds(root, p) && packed_node(p, node);
    assigns \nothing;
    ensures seed: seed_value(\result) == node_seed(root, p->depth, node.start, node.height); */
struct pprf_seed opt_packed_seed(const struct opt_packed *p, struct opt_node node);

/** Puncture a leaf of a live tile of height h in page i, where opt_place_in found it; if h > 0 the page
 * has room in its block for h more tiles and h - 1 more seeds.
 * @param[in] copath h seeds by height: those of the siblings beside the path to the leaf. */
/*@ requires store: packed_holds(root, p) && packed_owns(p);
    requires count: packed_counted(p);
    requires place: i < p->pages && place_of_leaf(p, i, at, leaf) && h <= 63 &&
      tile_byte(page_row(p->page[i]), at.tile) == OPT_TILE_LIVE + h;
    requires room: h > 0 ==> page_bytes(p->page[i]) + 17 * h - 16 <= p->page[i]->bytes;
    requires memory: h > 0 ==> \valid_read(copath + (0 .. h - 1)) &&
      \separated(&opt_pages[0 .. OPT_PAGES_MAX - 1], copath + (0 .. h - 1));
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, h);
    assigns p->nodes, opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures count: packed_counted(p) && p->nodes == \old(p->nodes) + h - 1;
    ensures within: pages_within{Pre}(p) ==>
      \old(page_bytes(p->page[i])) + (h > 0 ? 17 * h - 16 : 0) <= p->page_max ==> pages_within(p);
    ensures punctured: \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf; */
void opt_index_puncture(struct opt_packed *p, size_t i, struct opt_place at, uint64_t leaf,
                        unsigned h, const struct pprf_seed *copath);

/** Give page i a block of another size, that it fits.
 * @param[in] bytes of the block at least.
 * @retval 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i < p->pages;
    requires bytes: page_bytes(p->page[i]) <= bytes <= OPT_ARENA_MAX;
    assigns p->page[i] \from p->page[i], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures size: \result == 0 ==> bytes <= p->page[i]->bytes &&
      p->page[i]->tiles == \old(p->page[i]->tiles) && p->page[i]->seeds == \old(p->page[i]->seeds);
    ensures none: \result != 0 ==> p->page[i] == \old(p->page[i]) && page_kept{Pre,Post}(p->page[i]); */
int opt_packed_resize(struct opt_packed *p, size_t i, size_t bytes);

/** Make room in a leaf's page for a puncture below a tile of height h: a page that would be too large is
 * split, and one whose block is too small gets another.  The index must have room for a split.
 * @retval 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && leaf < pow2(p->depth);
    requires height: 1 <= h <= p->depth && 34 * p->depth + 64 <= p->page_max <= OPT_ARENA_MAX;
    requires bytes: leaf_within(p, leaf, p->page_max);
    requires index: leaf_fits(p, leaf, h, p->page_max) || p->pages + 2 <= p->room;
    assigns p->pages, p->first[1 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures room: \result == 0 ==> leaf_has_room(p, leaf, h) && leaf_fits(p, leaf, h, p->page_max); */
int opt_packed_give_room(struct opt_packed *p, uint64_t leaf, unsigned h);

/** Take a page out of the arena: no tiles, no seeds.
 * @return NULL: no memory. */
/*@ requires bytes: 1 <= bytes <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1], \result \from opt_pages[0 .. OPT_PAGES_MAX - 1], bytes;
    ensures page: \result != \null ==> a_page(\result) && free_page{Pre}(\result) &&
      page_clean(\result) && \result->tiles == 0 && \result->seeds == 0 &&
      bytes <= \result->bytes <= OPT_ARENA_MAX;
    ensures others: other_pages{Pre,Post}(\result); */
struct opt_page *opt_page_new(size_t bytes);

/** Wipe a page, NULL allowed, and give it back. */
/*@ requires page: page == \null || a_page(page);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures free: page != \null ==> free_page(page);
    ensures wiped: page != \null ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==>
      zero_place(page, j);
    ensures others: other_pages{Pre,Post}(page); */
void opt_page_free(struct opt_page *page);

/** The same; what held of the other pages still holds. */
/*@ requires page: page == \null || a_page(page);
    requires blocks: \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures wiped: page != \null ==> free_page(page) &&
      \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> zero_place(page, j);
    ensures others: others_kept{Pre,Post}(page); */
void opt_page_give_back(struct opt_page *page);

/** The same of a page that is not the store's. */
/*@ requires store: packed_holds(root, p) && packed_owns(p);
    requires page: page == \null || spare_page(p, page);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures wiped: page != \null ==> free_page(page);
    ensures others: others_kept{Pre,Post}(page); */
void opt_packed_drop(struct opt_page *page)
  /*@ ghost (const struct opt_packed *p) */;

/** A new page with a part of another's row: n tiles from the one at a place on, and their m seeds.
 * @param[in] bytes of the new page at least; they fit in.
 * @return NULL: no memory. */
/*@ requires from: page_holds(root, d, from, first, end) && a_page(from) &&
      \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    requires part: 1 <= n && at.tile + n <= from->tiles &&
      at.start == tile_start(page_row(from), first, at.tile) &&
      at.seeds == seeds_before(page_row(from), at.tile) &&
      at.seeds + m == seeds_before(page_row(from), at.tile + n);
    requires bytes: 8 + n + 16 * m <= bytes <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1],
      \result \from opt_pages[0 .. OPT_PAGES_MAX - 1], bytes, from;
    ensures page: \result != \null ==> a_page(\result) && free_page{Pre}(\result) &&
      page_clean(\result) && bytes <= \result->bytes;
    ensures part: \result != \null ==> page_holds(root, d, \result, at.start,
      tile_start{Pre}(page_row{Pre}(from), first, at.tile + n));
    ensures size: \result != \null ==> \result->tiles == n && \result->seeds == m;
    ensures punctured: \result != \null ==> \forall integer x;
      row_punctured(page_row(\result), n, at.start, x) <==>
      punctured_between{Pre}(page_row{Pre}(from), first, at.tile, at.tile + n, x);
    ensures tiles: \result != \null ==> \forall integer b, s;
      tile_between(page_row(\result), at.start, 0, n, b, s) <==>
      tile_between{Pre}(page_row{Pre}(from), first, at.tile, at.tile + n, b, s);
    ensures others: others_kept{Pre,Post}(\result); */
struct opt_page *opt_page_part(const struct opt_page *from, struct opt_place at, unsigned n,
                               unsigned m, size_t bytes)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */;

#endif

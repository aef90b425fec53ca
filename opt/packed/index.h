/* SPDX-License-Identifier: Apache-2.0 */
/** @file index.h
 * The pages of a packed store, and the index that finds a leaf's page.  A page is a row of tiles
 * (tiles.h) in a block of the arena.  The pages divide the leaves of the tree into runs; the index
 * has the first leaf of each. */
#ifndef PPRF_OPT_INDEX_H
#define PPRF_OPT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "entry.h"
#include "tiles.h"

/** Upper bound on the seeds in a page. */
#define OPT_PAGE_SEEDS (OPT_ARENA_MAX / sizeof(struct pprf_seed))

struct opt_page {
  uint16_t bytes;        /* size of the block */
  uint16_t tiles, seeds; /* number of tiles and of seeds */
  uint16_t unused;
#ifndef __FRAMAC__
  uint8_t tile[]; /* then free memory, then the seeds, the first one last */
#else             /* WP has no flexible arrays; page_fits: tiles and seeds do not overlap */
  uint8_t tile[OPT_ARENA_MAX];
  struct pprf_seed seed[OPT_PAGE_SEEDS];
#endif
};

struct opt_packed {
  uint64_t nodes;
  unsigned depth;
  unsigned page_max;  /* greatest size of a page; tests reduce it */
  size_t many;        /* after a split to more pages, a page may fill an arena block */
  size_t pages, room; /* of the index: used, allocated */
  size_t near;        /* a hint: the page of the last punctured leaf, or any number */
  uint64_t *first;    /* first leaf of each page, ascending; first[0] is 0 */
  struct opt_page **page; /* the pages, in leaf order */
  uint64_t one_first;     /* the index of a store with one page */
  struct opt_page *one_page;
};

#ifdef __FRAMAC__
/* all blocks of the arena, so that contracts can say which of them do not change */
#define OPT_PAGES_MAX 0x1000000
extern struct opt_page opt_pages[OPT_PAGES_MAX];
/* all memory of indexes of more than one page */
#define OPT_INDEX_MAX 0x1000000
extern uint64_t opt_firsts[OPT_INDEX_MAX];
extern struct opt_page *opt_lists[OPT_INDEX_MAX];
#include "index.acsl"
#endif

/** Address of the last of the first n seeds of a page; the others lie above it. */
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

/** Bytes that a page uses. */
/*@ requires page: page_fits(page);
    assigns \nothing;
    ensures \result == page_bytes(page); */
static inline size_t opt_page_used(const struct opt_page *page)
{
  return OPT_PAGE_HEAD + page->tiles + sizeof(struct pprf_seed) * page->seeds;
}

/** Bytes that a page will use after a puncture below a tile of height h. */
/*@ requires page: page_fits(page) && 1 <= h <= 63;
    assigns \nothing;
    ensures \result == page_bytes(page) + 17 * h - 16; */
static inline size_t opt_page_used_after(const struct opt_page *page, unsigned h)
{
  return opt_page_used(page) + h + sizeof(struct pprf_seed) * (h - 1);
}

/** Index of the page that covers a leaf. */
/*@ requires index: index_of_pages(p) && leaf < pow2(p->depth);
    assigns \nothing;
    ensures page: \result < p->pages;
    ensures covers: p->first[\result] <= leaf < page_end(p, \result); */
size_t opt_page_of(const struct opt_packed *p, uint64_t leaf);

/** Find a leaf's place in the page that covers it. */
/*@ requires store: packed_holds(root, p);
    requires page: i < p->pages && p->first[i] <= leaf < page_end(p, i);
    assigns \nothing;
    ensures place: place_of_leaf(p, i, \result, leaf);
    ensures live: tile_byte(page_row(p->page[i]), \result.tile) >= 64 ==> \forall integer x;
      tile_covers(page_row(p->page[i]), p->first[i], \result.tile, x) ==> !packed_punctured(p, x);
    ensures punctured: tile_byte(page_row(p->page[i]), \result.tile) < 64 ==> \forall integer x;
      tile_covers(page_row(p->page[i]), p->first[i], \result.tile, x) ==> packed_punctured(p, x); */
struct opt_place opt_place_in(const struct opt_packed *p, size_t i, uint64_t leaf);

/** The seed of a live tile at a place that opt_place_in found in page i. */
/*@ requires store: packed_holds(root, p);
    requires place: i < p->pages && place_of_leaf(p, i, at, at.start) &&
      tile_byte(page_row(p->page[i]), at.tile) >= OPT_TILE_LIVE;
    assigns \nothing;
    ensures seed: seed_value(\result) == node_seed(root, p->depth, at.start,
      tile_height(tile_byte(page_row(p->page[i]), at.tile))); */
struct pprf_seed opt_seed_in(const struct opt_packed *p, size_t i, struct opt_place at);

/** Find the live node that covers a leaf of the tree.
 * @retval 1 *node is set, with its place.
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

/** Find the live node that covers a leaf, or else the next one in leaf order; leaf <= 2^depth.
 * @retval 1 *node is set, with its place.
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

/** The place of a node that opt_packed_find or opt_packed_next returned; the store must be
 * unchanged since. */
/*@ assigns \nothing;
    ensures \result.start == node.start && \result.tile == node.tile &&
      \result.seeds == node.seeds; */
static inline struct opt_place opt_place_of(struct opt_node node)
{
  return (struct opt_place){node.start, node.tile, node.seeds};
}

/** The seed of such a node. */
/*@ requires store: packed_holds(root, p) && packed_node(p, node);
    assigns \nothing;
    ensures seed: seed_value(\result) == node_seed(root, p->depth, node.start, node.height); */
struct pprf_seed opt_packed_seed(const struct opt_packed *p, struct opt_node node);

/** Puncture a leaf of a live tile of height h in page i, at a place that opt_place_in found; if h >
 * 0 the page's block must have room for h more tiles and h - 1 more seeds.
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

/** Move page i to a block of another size, into which it fits.
 * @param[in] bytes least size of the block.
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
    ensures none: \result != 0 ==> p->page[i] == \old(p->page[i]) &&
      page_kept{Pre,Post}(p->page[i]); */
int opt_packed_resize(struct opt_packed *p, size_t i, size_t bytes);

/** Make room in a leaf's page for a puncture below a tile of height h: a page that would be too
 * large is split, and one whose block is too small gets a larger block.  The index must have room
 * for the splits.
 * @retval 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && leaf < pow2(p->depth);
    requires height: 1 <= h <= p->depth && 34 * p->depth + 64 <= p->page_max <= OPT_ARENA_MAX;
    requires bytes: leaf_within(p, leaf, p->page_max);
    requires index: leaf_fits(p, leaf, h, p->page_max) || p->pages + 2 <= p->room;
    assigns p->pages, p->first[1 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures room: \result == 0 ==> leaf_has_room(p, leaf, h) &&
      leaf_fits(p, leaf, h, p->page_max); */
int opt_packed_give_room(struct opt_packed *p, uint64_t leaf, unsigned h);

/** Allocate a page without tiles and seeds.
 * @return NULL: no memory. */
/*@ requires bytes: 1 <= bytes <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1], \result \from opt_pages[0 .. OPT_PAGES_MAX - 1],
      bytes;
    ensures page: \result != \null ==> a_page(\result) && free_page{Pre}(\result) &&
      page_clean(\result) && \result->tiles == 0 && \result->seeds == 0 &&
      bytes <= \result->bytes <= OPT_ARENA_MAX;
    ensures others: other_pages{Pre,Post}(\result); */
struct opt_page *opt_page_new(size_t bytes);

/** Wipe a page (may be NULL) and free it. */
/*@ requires page: page == \null || a_page(page);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures free: page != \null ==> free_page(page);
    ensures wiped: page != \null ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==>
      zero_place(page, j);
    ensures others: other_pages{Pre,Post}(page); */
void opt_page_free(struct opt_page *page);

/** The same, with the proof that the other pages are unchanged. */
/*@ requires page: page == \null || a_page(page);
    requires blocks: \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures wiped: page != \null ==> free_page(page) &&
      \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> zero_place(page, j);
    ensures others: others_kept{Pre,Post}(page); */
void opt_page_give_back(struct opt_page *page);

/** The same for a page that is not part of the store. */
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

/** Make a page with part of another's row: n tiles from the one at `at` on, and their m seeds.
 * @param[in] bytes least size of the new page's block; the part fits into it.
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

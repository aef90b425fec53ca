/* SPDX-License-Identifier: Apache-2.0 */
/* Pages, the index of pages, and punctures in them (index.h). */
#include "index.h"

#include "pprf.h"

#include "wp/index_steps.h"

/* ---- one page ---- */

/* Puncture a leaf that is a tile by itself. */
/*@ requires page: page_holds(root, d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at.tile < page->tiles && tile_byte(page_row(page), at.tile) == OPT_TILE_LIVE &&
      at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(root, d, page, first, end) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || x == at.start;
    ensures seeds: page->seeds == \old(page->seeds) - 1;
    ensures bytes: page_bytes(page) <= \old(page_bytes(page)); */
static inline void take_leaf(struct opt_page *page, struct opt_place at)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  ROW_OF_PAGE
  unsigned tiles =
    opt_row_puncture_leaf(page->tile, page->tiles, opt_page_row(page, 0), page->seeds, at)
    /*@ ghost (d, first, end) */;
  page->tiles = (uint16_t)tiles;
  page->seeds--;
  LEAF_IS_OUT
}

/* Puncture a leaf below a tile of height h. */
/*@ requires page: page_holds(root, d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at.tile < page->tiles && tile_byte(page_row(page), at.tile) == OPT_TILE_LIVE + h &&
      1 <= h <= 63 && at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile) && covers(at.start, h, leaf);
    requires room: page_bytes(page) + 17 * h - 16 <= page->bytes;
    requires memory: \valid_read(copath + (0 .. h - 1)) && \separated(page, copath + (0 .. h - 1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(root, d, page, first, end) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || x == leaf;
    ensures seeds: page->seeds == \old(page->seeds) + h - 1;
    ensures bytes: page_bytes(page) == \old(page_bytes(page)) + 17 * h - 16; */
static inline void puncture_below(struct opt_page *page, struct opt_place at, uint64_t leaf,
                                  unsigned h, const struct pprf_seed *copath)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  ROW_OF_PAGE
  opt_row_puncture_below(page->tile, page->tiles, opt_page_row(page, 0), page->seeds, at, leaf, h,
                         copath)
    /*@ ghost (d, first, end) */;
  page->tiles = (uint16_t)(page->tiles + h);
  page->seeds = (uint16_t)(page->seeds + h - 1);
  TILE_IS_REPLACED
}

/* Puncture a leaf of a tile of height h; the page has room. */
/*@ requires page: page_holds(root, d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at.tile < page->tiles && tile_byte(page_row(page), at.tile) == OPT_TILE_LIVE + h &&
      h <= 63 && at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile) && covers(at.start, h, leaf);
    requires room: h > 0 ==> page_bytes(page) + 17 * h - 16 <= page->bytes;
    requires memory: h > 0 ==> \valid_read(copath + (0 .. h - 1)) &&
      \separated(page, copath + (0 .. h - 1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(root, d, page, first, end) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || x == leaf;
    ensures seeds: page->seeds == \old(page->seeds) + h - 1;
    ensures bytes: page_bytes(page) <= \old(page_bytes(page)) + (h > 0 ? 17 * h - 16 : 0); */
static inline void puncture_page(struct opt_page *page, struct opt_place at, uint64_t leaf,
                                 unsigned h, const struct pprf_seed *copath)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  //@ assert leaf: h == 0 ==> leaf == at.start;
  if (h == 0)
    take_leaf(page, at) /*@ ghost (d, first, end) */;
  else
    puncture_below(page, at, leaf, h, copath) /*@ ghost (d, first, end) */;
}

/* Make a page with part of another's row. */
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
    ensures others: other_pages{Pre,Post}(\result); */
static inline struct opt_page *copy_part(const struct opt_page *from, struct opt_place at,
                                         unsigned n, unsigned m, size_t bytes)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  ROW_TO_COPY
  struct opt_page *page = opt_page_new(bytes);
  if (page == NULL)
    return NULL;
  PAGE_IS_APART
  page->tiles = (uint16_t)n;
  page->seeds = (uint16_t)m;
  opt_tiles_copy(page->tile, from->tile + at.tile, n);
  opt_seeds_copy(opt_page_row(page, m), opt_page_row(from, at.seeds + m), m)
    /*@ ghost (top, old_top, at.seeds) */;
  PART_IS_ROW
  return page;
}

struct opt_page *opt_page_part(const struct opt_page *from, struct opt_place at, unsigned n,
                               unsigned m, size_t bytes)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  struct opt_page *page = copy_part(from, at, n, m, bytes) /*@ ghost (d, first, end) */;
  OTHERS_KEPT
  return page;
}

void opt_page_give_back(struct opt_page *page)
{
  opt_page_free(page);
  OTHERS_KEPT
}

/* ---- the store ---- */

/* Whether page i exists and covers a leaf. */
/*@ requires index: index_of_pages(p) && leaf < pow2(p->depth);
    assigns \nothing;
    ensures \result != 0 <==> i < p->pages && p->first[i] <= leaf < page_end(p, i); */
static inline int page_covers(const struct opt_packed *p, size_t i, uint64_t leaf)
{
  return i < p->pages && p->first[i] <= leaf && (i + 1 == p->pages || leaf < p->first[i + 1]);
}

size_t opt_page_of(const struct opt_packed *p, uint64_t leaf)
{
  if (page_covers(p, p->near, leaf))
    return p->near;
  size_t at = 0, n = p->pages;
  /*@ loop invariant pages: 1 <= n && at + n <= p->pages;
      loop invariant first: p->first[at] <= leaf;
      loop invariant behind: at + n < p->pages ==> leaf < p->first[at + n];
      loop assigns at, n;
      loop variant n; */
  while (n > 1) { /* first[at] <= leaf, and the page is one of n */
    size_t half = n / 2;
    at = p->first[at + half] <= leaf ? at + half : at;
    n -= half;
  }
  return at;
}

/* The first leaf after page i. */
/*@ requires index: index_of_pages(p) && i < p->pages;
    assigns \nothing;
    ensures \result == page_end(p, i); */
static inline uint64_t end_of_page(const struct opt_packed *p, size_t i)
{
  //@ ghost leaves_of_lemma(p->depth);
  return i + 1 < p->pages ? p->first[i + 1] : UINT64_C(1) << p->depth;
}

struct opt_place opt_place_in(const struct opt_packed *p, size_t i, uint64_t leaf)
{
  PAGE_OF_LEAF
  const struct opt_page *in = p->page[i];
  struct opt_place at = opt_tiles_find(in->tile, in->tiles, in->seeds, p->first[i],
                                       end_of_page(p, i), leaf) /*@ ghost (d) */;
  PLACE_IN_STORE
  return at;
}

struct pprf_seed opt_seed_in(const struct opt_packed *p, size_t i, struct opt_place at)
{
  PAGE_OF_LEAF
  SEED_OF_TILE
  return *opt_page_row(p->page[i], at.seeds + 1);
}

/* The node of a live tile. */
/*@ requires tile: page_fits(page) && at.tile < page->tiles &&
      tile_byte(page_row(page), at.tile) < 128 && at.seeds <= at.tile;
    assigns \nothing;
    ensures node: \result.start == at.start &&
      \result.height == tile_height(tile_byte(page_row(page), at.tile));
    ensures place: \result.tile == at.tile && \result.seeds == at.seeds; */
static inline struct opt_node node_at(const struct opt_page *page, struct opt_place at)
{
  return (struct opt_node){at.start, opt_tile_height(page->tile[at.tile]), (uint16_t)at.tile,
                           (uint16_t)at.seeds};
}

/* Write the node of a tile of page i to *node. */
/*@ requires store: packed_holds(root, p);
    requires place: i < p->pages && place_of_leaf(p, i, at, at.start);
    requires memory: \valid(node) && node_apart(p, node);
    assigns *node;
    ensures node: tile_byte{Pre}(page_row{Pre}(\old(p->page[i])), at.tile) >= 64 ==>
      packed_node(p, *node) && packed_intact(p, node->start, node->height);
    ensures value: node->start == at.start &&
      node->height == tile_height(tile_byte{Pre}(page_row{Pre}(\old(p->page[i])), at.tile));
    ensures store: packed_holds(root, p) && (packed_owns{Pre}(p) ==> packed_owns(p));
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void give_node(const struct opt_packed *p, size_t i, struct opt_place at,
                             struct opt_node *node)
{
  TILE_OF_STORE
  *node = node_at(p->page[i], at);
  NODE_IS_APART
}

int opt_packed_find(const struct opt_packed *p, uint64_t leaf, struct opt_node *node)
{
  size_t i = opt_page_of(p, leaf);
  struct opt_place at = opt_place_in(p, i, leaf);
  LEAF_IN_TILE
  int live = (int)opt_tile_live(p->page[i]->tile[at.tile]);
  give_node(p, i, at, node);
  return live;
}

/* Find a page's first live tile from a tile on; the page's end if there is none. */
/*@ requires row: page_fits(page) && d <= 63 && row_tiles(page_row(page), page->tiles, first, d);
    requires at: at.tile <= page->tiles && at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile);
    assigns \nothing;
    ensures place: at.tile <= \result.tile <= page->tiles &&
      \result.start == tile_start(page_row(page), first, \result.tile) &&
      \result.seeds == seeds_before(page_row(page), \result.tile);
    ensures live: \result.tile < page->tiles ==>
      tile_byte(page_row(page), \result.tile) >= OPT_TILE_LIVE;
    ensures order: at.start <= \result.start;
    ensures behind: at.tile < \result.tile ==>
      at.start + pow2(tile_height(tile_byte(page_row(page), at.tile))) <= \result.start;
    ensures gone: \forall integer x; at.start <= x < \result.start ==>
      row_punctured(page_row(page), page->tiles, first, x); */
static inline struct opt_place live_in_page(const struct opt_page *page, struct opt_place at)
  /*@ ghost (uint64_t first, unsigned d) */
{
  //@ ghost const uint8_t *row = page->tile;
  //@ ghost unsigned from = at.tile;
  //@ ghost row_order_lemma(row, page->tiles, first, d);
  /*@ loop invariant tile: from <= at.tile <= page->tiles;
      loop invariant start: at.start == tile_start(row, first, at.tile);
      loop invariant seeds: at.seeds == seeds_before(row, at.tile);
      loop invariant gone: \forall integer x; \at(at.start,Pre) <= x < at.start ==>
        punctured_between(row, first, from, at.tile, x);
      loop assigns at;
      loop variant page->tiles - at.tile; */
  while (at.tile < page->tiles && !opt_tile_live(page->tile[at.tile])) {
    TILE_IS_GONE
    at.start += opt_tile_leaves(page->tile[at.tile]);
    at.tile++;
  }
  return at;
}

int opt_packed_next(const struct opt_packed *p, uint64_t leaf, struct opt_node *node)
{
  //@ ghost in_tree_lemma(leaf, p->depth);
  if (leaf >> p->depth != 0)
    return 0;
  size_t i = opt_page_of(p, leaf);
  struct opt_place at = opt_place_in(p, i, leaf);
  PAGE_TO_SEARCH
  at = live_in_page(p->page[i], at) /*@ ghost (p->first[i], p->depth) */;
  PAGE_IS_SEARCHED
  /*@ loop invariant page: i < p->pages;
      loop invariant place: at.tile <= p->page[i]->tiles &&
        at.start == tile_start(page_row(p->page[i]), p->first[i], at.tile) &&
        at.seeds == seeds_before(page_row(p->page[i]), at.tile);
      loop invariant live: at.tile < p->page[i]->tiles ==>
        tile_byte(page_row(p->page[i]), at.tile) >= OPT_TILE_LIVE;
      loop invariant gone: \forall integer x; leaf <= x < at.start ==> packed_punctured(p, x);
      loop invariant leaf: leaf < at.start || at.tile < p->page[i]->tiles &&
        tile_covers(page_row(p->page[i]), p->first[i], at.tile, leaf);
      loop assigns i, at;
      loop variant p->pages - i; */
  while (at.tile == p->page[i]->tiles) {
    PAGE_IS_LEFT
    if (++i == p->pages)
      return 0;
    at = (struct opt_place){at.start, 0, 0};
    PAGE_TO_SEARCH
    at = live_in_page(p->page[i], at) /*@ ghost (p->first[i], p->depth) */;
    PAGE_IS_SEARCHED
  }
  NEXT_IN_TILE
  give_node(p, i, at, node);
  return 1;
}

struct pprf_seed opt_packed_seed(const struct opt_packed *p, struct opt_node node)
{
  NODE_OF_STORE
  size_t i = opt_page_of(p, node.start);
  NODE_IN_PAGE
  return opt_seed_in(p, i, opt_place_of(node));
}

/* Puncture a leaf in page i, without counting. */
/*@ requires store: packed_holds(root, p) && packed_owns(p);
    requires place: i < p->pages && place_of_leaf(p, i, at, leaf) && h <= 63 &&
      tile_byte(page_row(p->page[i]), at.tile) == OPT_TILE_LIVE + h;
    requires room: h > 0 ==> page_bytes(p->page[i]) + 17 * h - 16 <= p->page[i]->bytes;
    requires memory: h > 0 ==> \valid_read(copath + (0 .. h - 1)) &&
      \separated(&opt_pages[0 .. OPT_PAGES_MAX - 1], copath + (0 .. h - 1));
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, h);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures seeds: seeds_of_page(p, i) == seeds_of_page{Pre}(p, i) + h - 1;
    ensures other_seeds: \forall integer k; 0 <= k < p->pages ==> k != i ==>
      seeds_of_page(p, k) == seeds_of_page{Pre}(p, k);
    ensures within: pages_within{Pre}(p) ==>
      \old(page_bytes(p->page[i])) + (h > 0 ? 17 * h - 16 : 0) <= p->page_max ==> pages_within(p);
    ensures punctured: \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf; */
static inline void puncture_in_place(struct opt_packed *p, size_t i, struct opt_place at,
                                     uint64_t leaf, unsigned h, const struct pprf_seed *copath)
{
  PAGE_OF_STORE
  //@ ghost uint64_t hole = leaf;
  //@ assert copath: h > 0 ==> \separated(page, copath + (0 .. h - 1));
  puncture_page(p->page[i], at, leaf, h, copath) /*@ ghost (p->depth, p->first[i], end) */;
  CHANGED_IN_PLACE
  SEEDS_OF_PAGES
  PAGES_KEPT
  PAGE_IN_STORE
}

/* Set p->nodes. */
/*@ requires store: packed_holds(root, p) && packed_owns(p);
    assigns p->nodes;
    ensures nodes: p->nodes == nodes;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void put_count(struct opt_packed *p, uint64_t nodes)
{
  //@ ghost places_of_pages_lemma(p);
  p->nodes = nodes;
  COUNT_IS_APART
}

void opt_index_puncture(struct opt_packed *p, size_t i, struct opt_place at, uint64_t leaf,
                        unsigned h, const struct pprf_seed *copath)
{
  PAGE_OF_LEAF
  COUNT_OF_PAGES
  puncture_in_place(p, i, at, leaf, h, copath);
  PAGE_IS_COUNTED
  put_count(p, p->nodes + h - 1);
}

/* Make a page with part of page i; it is not part of the store yet. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i < p->pages;
    requires part: 1 <= n && at.tile + n <= p->page[i]->tiles &&
      at.start == tile_start(page_row(p->page[i]), p->first[i], at.tile) &&
      at.seeds == seeds_before(page_row(p->page[i]), at.tile) &&
      at.seeds + m == seeds_before(page_row(p->page[i]), at.tile + n);
    requires bytes: 8 + n + 16 * m <= bytes <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1],
      \result \from opt_pages[0 .. OPT_PAGES_MAX - 1], bytes, p->page[i];
    ensures page: \result != \null ==> spare_page(p, \result) && free_page{Pre}(\result) &&
      bytes <= \result->bytes && \result->tiles == n && \result->seeds == m;
    ensures part: \result != \null ==> page_holds(root, p->depth, \result, at.start,
      tile_start{Pre}(page_row{Pre}(p->page[i]), p->first[i], at.tile + n));
    ensures punctured: \result != \null ==> \forall integer x;
      row_punctured(page_row(\result), n, at.start, x) <==> punctured_between{Pre}(
        page_row{Pre}(p->page[i]), p->first[i], at.tile, at.tile + n, x);
    ensures tiles: \result != \null ==> \forall integer b, s;
      tile_between(page_row(\result), at.start, 0, n, b, s) <==>
      tile_between{Pre}(page_row{Pre}(p->page[i]), p->first[i], at.tile, at.tile + n, b, s);
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures others: others_kept{Pre,Post}(\result); */
static struct opt_page *part_of_page(const struct opt_packed *p, size_t i, struct opt_place at,
                                     unsigned n, unsigned m, size_t bytes)
{
  PAGE_OF_STORE
  struct opt_page *part = opt_page_part(p->page[i], at, n, m, bytes)
    /*@ ghost (p->depth, p->first[i], end) */;
  STORE_KEPT
  COUNT_KEPT
  return part;
}

/* Replace page i by another page. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i < p->pages;
    requires page: spare_page(p, page) && page->seeds == seeds_of_page(p, i) &&
      page_holds(root, p->depth, page, p->first[i], page_end(p, i));
    requires leaves: \forall integer x;
      row_punctured(page_row(page), page->tiles, p->first[i], x) <==> page_punctured(p, i, x);
    requires tiles: \forall integer b, s;
      tile_between(page_row(page), p->first[i], 0, page->tiles, b, s) <==> page_tile(p, i, b, s);
    requires bytes: page_bytes(page) == page_bytes(p->page[i]);
    assigns p->page[i] \from page;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures page: p->page[i] == page && page_kept{Pre,Post}(page);
    ensures wiped: free_page(\old(p->page[i])); */
static inline void swap_page(struct opt_packed *p, size_t i, struct opt_page *page)
{
  struct opt_page *old = p->page[i];
  p->page[i] = page;
  opt_page_give_back(old);
  PAGE_SWAPPED
  COUNT_KEPT
}

int opt_packed_resize(struct opt_packed *p, size_t i, size_t bytes)
{
  struct opt_page *old = p->page[i];
  struct opt_page *page =
    part_of_page(p, i, (struct opt_place){p->first[i], 0, 0}, old->tiles, old->seeds, bytes);
  if (page == NULL)
    return PPRF_ERR_NOMEM;
  COPY_OF_PAGE
  swap_page(p, i, page);
  return PPRF_OK;
}

/* Find the place in the middle of a page. */
/*@ requires page: page_holds(root, d, page, first, end) && 42 <= page_bytes(page);
    assigns \nothing;
    ensures place: 1 <= \result.tile < page->tiles &&
      \result.start == tile_start(page_row(page), first, \result.tile) &&
      \result.seeds == seeds_before(page_row(page), \result.tile) && \result.seeds <= page->seeds;
    ensures middle: page_bytes(page) - 8 <= 2 * (\result.tile + 16 * \result.seeds) <
      page_bytes(page) + 26; */
static inline struct opt_place middle(const struct opt_page *page, uint64_t first)
  /*@ ghost (unsigned d, uint64_t end) */
{
  ROW_TO_HALVE
  struct opt_place at = {first, 0, 0};
  /*@ loop invariant tile: at.tile <= page->tiles;
      loop invariant start: at.start == tile_start(row, first, at.tile);
      loop invariant seeds: at.seeds == seeds_before(row, at.tile) && at.seeds <= page->seeds;
      loop invariant size: 2 * (at.tile + 16 * at.seeds) < page_bytes(page) + 26;
      loop assigns at;
      loop variant page->tiles - at.tile; */
  while (2 * (at.tile + sizeof(struct pprf_seed) * at.seeds) <
         opt_page_used(page) - OPT_PAGE_HEAD) {
    TILE_IN_HALF
    at.start += opt_tile_leaves(page->tile[at.tile]);
    at.seeds += opt_tile_live(page->tile[at.tile]);
    at.tile++;
  }
  return at;
}

/* Move n entries of `first` up by one place. */
/*@ requires memory: \valid(first + (0 .. n)) && first == all + at;
    assigns first[1 .. n];
    ensures moved: \forall integer k; at + 1 <= k <= at + n ==> all[k] == \old(all[k - 1]); */
static inline void firsts_up(uint64_t *first,
                             size_t n) /*@ ghost (const uint64_t *all, size_t at) */
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant moved: \forall integer j; at + k < j <= at + n ==>
        all[j] == \at(all[j - 1],Pre);
      loop invariant rest: \forall integer j; at <= j <= at + k ==> all[j] == \at(all[j],Pre);
      loop assigns k, first[1 .. n];
      loop variant k; */
  for (size_t k = n; k > 0; k--)
    first[k] = first[k - 1];
}

/* The same for `page`. */
/*@ requires memory: \valid(page + (0 .. n)) && page == all + at;
    assigns page[1 .. n] \from page[0 .. n];
    ensures moved: \forall integer k; at + 1 <= k <= at + n ==> all[k] == \old(all[k - 1]); */
static inline void pages_up(struct opt_page **page, size_t n)
  /*@ ghost (struct opt_page **all, size_t at) */
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant moved: \forall integer j; at + k < j <= at + n ==>
        all[j] == \at(all[j - 1],Pre);
      loop invariant rest: \forall integer j; at <= j <= at + k ==> all[j] == \at(all[j],Pre);
      loop assigns k, page[1 .. n];
      loop variant k; */
  for (size_t k = n; k > 0; k--)
    page[k] = page[k - 1];
}

/* Replace page i of the index by two pages, the second of which starts at a leaf. */
/*@ requires index: index_of_pages(p) && index_apart(p) && i < p->pages < p->room;
    requires blocks: pages_distinct(p) && left != right && (\forall integer k; 0 <= k < p->pages ==>
      p->page[k] != left && p->page[k] != right);
    requires start: p->first[i] < start < page_end(p, i);
    assigns p->pages, p->first[i + 1 .. p->pages];
    assigns p->page[i .. p->pages] \from p->page[i .. p->pages], left, right;
    ensures index: index_of_pages(p) && index_apart(p) && p->pages == \old(p->pages) + 1;
    ensures nodes: p->nodes == \old(p->nodes);
    ensures blocks: pages_distinct(p);
    ensures before: \forall integer k; 0 <= k < i ==> p->page[k] == \old(p->page[k]);
    ensures first: \forall integer k; 0 <= k <= i ==> p->first[k] == \old(p->first[k]);
    ensures new: p->page[i] == left && p->page[i + 1] == right && p->first[i + 1] == start;
    ensures behind: \forall integer k; i + 2 <= k < p->pages ==>
      p->first[k] == \old(p->first[k - 1]) && p->page[k] == \old(p->page[k - 1]);
    ensures pages: \forall struct opt_page *q; a_page(q) ==> page_kept{Pre,Post}(q); */
static inline void put_two(struct opt_packed *p, size_t i, uint64_t start, struct opt_page *left,
                           struct opt_page *right)
{
  firsts_up(p->first + i + 1, p->pages - i - 1) /*@ ghost (p->first, i + 1) */;
  pages_up(p->page + i + 1, p->pages - i - 1) /*@ ghost (p->page, i + 1) */;
  p->first[i + 1] = start;
  p->page[i] = left;
  p->page[i + 1] = right;
  p->pages++;
  INDEX_IS_APART
  OTHERS_KEPT
  INDEX_IN_ORDER
}

/* Replace page i by two pages, without counting. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i < p->pages < p->room;
    requires pages: spare_page(p, left) && spare_page(p, right) && left != right;
    requires left: page_holds(root, p->depth, left, p->first[i], start);
    requires right: page_holds(root, p->depth, right, start, page_end(p, i));
    requires start: p->first[i] < start < page_end(p, i);
    requires leaves: \forall integer x; page_punctured(p, i, x) <==>
      row_punctured(page_row(left), left->tiles, p->first[i], x) ||
      row_punctured(page_row(right), right->tiles, start, x);
    requires tiles: \forall integer b, s; page_tile(p, i, b, s) <==>
      tile_of_page(left, p->first[i], b, s) || tile_of_page(right, start, b, s);
    requires seeds: left->seeds + right->seeds == seeds_of_page(p, i);
    requires bytes: page_bytes(left) <= page_bytes(p->page[i]) &&
      page_bytes(right) <= page_bytes(p->page[i]);
    assigns p->pages, p->first[i + 1 .. p->pages], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[i .. p->pages] \from p->page[i .. p->pages], left, right;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures seeds_before: \forall integer k; 0 <= k < i ==>
      seeds_of_page(p, k) == seeds_of_page{Pre}(p, k);
    ensures seeds_here: seeds_of_page(p, i) + seeds_of_page(p, i + 1) == seeds_of_page{Pre}(p, i);
    ensures seeds_behind: \forall integer k, l; i + 2 <= k < p->pages ==> k == l + 1 ==>
      seeds_of_page(p, k) == seeds_of_page{Pre}(p, l);
    ensures nodes: p->nodes == \old(p->nodes);
    ensures pages: p->pages == \old(p->pages) + 1 && page_end(p, i + 1) == page_end{Pre}(p, i);
    ensures new: p->page[i] == left && p->page[i + 1] == right && page_kept{Pre,Post}(left) &&
      page_kept{Pre,Post}(right);
    ensures wiped: free_page(\old(p->page[i]));
    ensures first: p->first[i + 1] == start &&
      \forall integer k; 0 <= k <= i ==> p->first[k] == \old(p->first[k]); */
static inline void insert_pages(struct opt_packed *p, size_t i, uint64_t start,
                                struct opt_page *left, struct opt_page *right)
{
  struct opt_page *old = p->page[i];
  put_two(p, i, start, left, right);
  INDEX_HAS_TWO
  opt_page_give_back(old);
  PAGES_IN_STORE
  SEEDS_OF_TWO
}

void opt_packed_drop(struct opt_page *page)
  /*@ ghost (const struct opt_packed *p) */
{
  opt_page_give_back(page);
  STORE_KEPT
  COUNT_KEPT
}

/* Split page i into two, each with about half of its bytes; 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i < p->pages < p->room;
    requires bytes: 42 <= page_bytes(p->page[i]);
    assigns p->pages, p->first[i + 1 .. p->pages], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[i .. p->pages] \from p->page[i .. p->pages], opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures halves: \result == 0 ==> p->pages == \old(p->pages) + 1 &&
      2 * page_bytes(p->page[i]) < \old(page_bytes(p->page[i])) + 42 &&
      2 * page_bytes(p->page[i + 1]) < \old(page_bytes(p->page[i])) + 42;
    ensures leaves: \result == 0 ==> p->first[i] == \old(p->first[i]) &&
      page_end(p, i + 1) == page_end{Pre}(p, i);
    ensures none: \result != 0 ==> p->pages == \old(p->pages) &&
      (\forall integer k; 0 <= k < p->pages ==> p->page[k] == \old(p->page[k]) &&
         p->first[k] == \old(p->first[k])); */
static int split_page(struct opt_packed *p, size_t i)
{
  PAGE_TO_SPLIT
  struct opt_page *old = p->page[i];
  struct opt_place at = middle(old, p->first[i]) /*@ ghost (p->depth, end) */;
  MIDDLE_IS_INSIDE
  unsigned n = old->tiles - at.tile, m = old->seeds - at.seeds;
  struct opt_page *left =
    part_of_page(p, i, (struct opt_place){p->first[i], 0, 0}, at.tile, at.seeds,
                 OPT_PAGE_HEAD + at.tile + sizeof(struct pprf_seed) * at.seeds);
  LEFT_IS_THERE
  struct opt_page *right =
    part_of_page(p, i, at, n, m, OPT_PAGE_HEAD + n + sizeof(struct pprf_seed) * m);
  RIGHT_IS_THERE
  if (left == NULL || right == NULL) {
    opt_packed_drop(left) /*@ ghost (p) */;
    opt_packed_drop(right) /*@ ghost (p) */;
    PAGE_IS_WHOLE
    return PPRF_ERR_NOMEM;
  }
  HALVES_ARE_PAGE
  insert_pages(p, i, at.start, left, right);
  TWO_ARE_COUNTED
  return PPRF_OK;
}

/* Split a leaf's page if it would be too large after a puncture below a tile of height h. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && leaf < pow2(p->depth);
    requires height: 1 <= h <= p->depth && 34 * p->depth + 64 <= p->page_max <= OPT_ARENA_MAX;
    requires bytes: leaf_within(p, leaf, p->page_max);
    requires index: leaf_fits(p, leaf, h, p->page_max) || p->pages < p->room;
    assigns p->pages, p->first[1 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures fits: \result == 0 ==> leaf_fits(p, leaf, h, p->page_max); */
static int split_if_full(struct opt_packed *p, uint64_t leaf, unsigned h)
{
  size_t i = opt_page_of(p, leaf);
  PAGE_OF_THIS
  if (opt_page_used_after(p->page[i], h) <= p->page_max)
    return PPRF_OK;
  int err = split_page(p, i);
  HALF_WITH_LEAF
  return err;
}

int opt_packed_give_room(struct opt_packed *p, uint64_t leaf, unsigned h)
{
  int err = split_if_full(p, leaf, h);
  if (err == PPRF_OK) /* 32-byte seeds at depth 63: one split may not be enough */
    err = split_if_full(p, leaf, h);
  if (err != PPRF_OK)
    return err;
  SPLIT_AS_NEEDED
  size_t i = opt_page_of(p, leaf);
  PAGE_OF_THIS
  size_t bytes = opt_page_used_after(p->page[i], h);
  //@ assert most: bytes <= p->page_max;
  if (bytes > p->page[i]->bytes)
    err = opt_packed_resize(p, i, bytes);
  ROOM_IS_THERE
  return err;
}

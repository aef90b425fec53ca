/* SPDX-License-Identifier: Apache-2.0 */
#include "index.h"

#include "wp/index_steps.h"

/* ---- one page ---- */

/* Puncture a leaf that is a tile by itself. */
/*@ requires page: page_holds(seed_value(R), d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at.tile < page->tiles && tile_byte(page_row(page), at.tile) == OPT_TILE_LIVE &&
      at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(seed_value(R), d, page, first, end) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || x == at.start;
    ensures seeds: page->seeds == \old(page->seeds) - 1; */
static inline void take_leaf(struct opt_page *page, struct opt_place at)
  /*@ ghost (struct pprf_seed R, unsigned d, uint64_t first, uint64_t end) */
{
  ROW_OF_PAGE
  unsigned tiles =
    opt_row_puncture_leaf(page->tile, page->tiles, opt_page_row(page, 0), page->seeds, at)
    /*@ ghost (R, d, first, end) */;
  page->tiles = (uint16_t)tiles;
  page->seeds--;
  LEAF_IS_OUT
}

/* Puncture a leaf below a tile of height h. */
/*@ requires page: page_holds(seed_value(R), d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at.tile < page->tiles && tile_byte(page_row(page), at.tile) == OPT_TILE_LIVE + h &&
      1 <= h <= 63 && at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile) && covers(at.start, h, leaf);
    requires room: page_bytes(page) + 17 * h - 16 <= page->bytes;
    requires memory: \valid_read(copath + (0 .. h - 1)) && \separated(page, copath + (0 .. h - 1));
    requires copath: copath_seeds(seed_value(R), d, leaf, copath, 0, h);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(seed_value(R), d, page, first, end) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || x == leaf;
    ensures seeds: page->seeds == \old(page->seeds) + h - 1; */
static inline void puncture_below(struct opt_page *page, struct opt_place at, uint64_t leaf,
                                  unsigned h, const struct pprf_seed *copath)
  /*@ ghost (struct pprf_seed R, unsigned d, uint64_t first, uint64_t end) */
{
  ROW_OF_PAGE
  opt_row_puncture_below(page->tile, page->tiles, opt_page_row(page, 0), page->seeds, at, leaf, h,
                         copath)
    /*@ ghost (R, d, first, end) */;
  page->tiles = (uint16_t)(page->tiles + h);
  page->seeds = (uint16_t)(page->seeds + h - 1);
  TILE_IS_REPLACED
}

/* Puncture a leaf of a tile of height h; the page has room. */
/*@ requires page: page_holds(seed_value(R), d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at.tile < page->tiles && tile_byte(page_row(page), at.tile) == OPT_TILE_LIVE + h &&
      h <= 63 && at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile) && covers(at.start, h, leaf);
    requires room: h > 0 ==> page_bytes(page) + 17 * h - 16 <= page->bytes;
    requires memory: h > 0 ==> \valid_read(copath + (0 .. h - 1)) &&
      \separated(page, copath + (0 .. h - 1));
    requires copath: copath_seeds(seed_value(R), d, leaf, copath, 0, h);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(seed_value(R), d, page, first, end) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || x == leaf;
    ensures seeds: page->seeds == \old(page->seeds) + h - 1; */
static inline void puncture_page(struct opt_page *page, struct opt_place at, uint64_t leaf,
                                 unsigned h, const struct pprf_seed *copath)
  /*@ ghost (struct pprf_seed R, unsigned d, uint64_t first, uint64_t end) */
{
  //@ assert leaf: h == 0 ==> leaf == at.start;
  if (h == 0)
    take_leaf(page, at) /*@ ghost (R, d, first, end) */;
  else
    puncture_below(page, at, leaf, h, copath) /*@ ghost (R, d, first, end) */;
}

/* Copy n tiles. */
/*@ requires memory: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1)) &&
      \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1];
    ensures copied: \forall integer i; 0 <= i < n ==> to[i] == \old(from[i]); */
static inline void copy_tiles(uint8_t *restrict to, const uint8_t *restrict from, unsigned n)
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant copied: \forall integer j; 0 <= j < i ==> to[j] == \at(from[j],Pre);
      loop assigns i, to[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    to[i] = from[i];
}

/* Copy n seeds. */
/*@ requires place: to == to_top - n && from == from_top - (k + n);
    requires memory: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1)) &&
      \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1];
    ensures copied: \forall integer j; 0 <= j < n ==>
      place_seed(to_top, j) == place_seed{Pre}(from_top, k + j); */
static inline void copy_seeds(struct pprf_seed *restrict to, const struct pprf_seed *restrict from,
                              unsigned n)
  /*@ ghost (const struct pprf_seed *to_top, const struct pprf_seed *from_top, unsigned k) */
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant copied: \forall integer j; n - i <= j < n ==>
        place_seed(to_top, j) == place_seed{Pre}(from_top, k + j);
      loop assigns i, to[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    to[i] = from[i];
}

struct opt_page *opt_page_part(const struct opt_page *from, struct opt_place at, unsigned n,
                               unsigned m, size_t bytes)
  /*@ ghost (struct pprf_seed R, unsigned d, uint64_t first, uint64_t end) */
{
  ROW_TO_COPY
  struct opt_page *page = opt_page_new(bytes);
  if (page == NULL)
    return NULL;
  PAGE_IS_APART
  page->tiles = (uint16_t)n;
  page->seeds = (uint16_t)m;
  copy_tiles(page->tile, from->tile + at.tile, n);
  copy_seeds(opt_page_row(page, m), opt_page_row(from, at.seeds + m), m)
    /*@ ghost (top, old_top, at.seeds) */;
  PART_IS_ROW
  return page;
}

/* ---- the store ---- */

size_t opt_page_of(const struct opt_packed *p, uint64_t leaf)
{
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

struct opt_place opt_place_in(const struct opt_packed *p, size_t i, uint64_t leaf)
  /*@ ghost (struct pprf_seed R) */
{
  PAGE_OF_LEAF
  struct opt_place at = opt_tiles_find(p->page[i]->tile, p->page[i]->tiles, p->first[i], leaf)
    /*@ ghost (p->depth) */;
  PLACE_IN_STORE
  return at;
}

struct pprf_seed opt_seed_in(const struct opt_packed *p, size_t i, struct opt_place at)
  /*@ ghost (struct pprf_seed R) */
{
  PAGE_OF_LEAF
  SEED_OF_TILE
  return *opt_page_row(p->page[i], at.seeds + 1);
}

void opt_index_puncture(struct opt_packed *p, size_t i, struct opt_place at, uint64_t leaf,
                        unsigned h, const struct pprf_seed *copath)
  /*@ ghost (struct pprf_seed R) */
{
  PAGE_OF_STORE
  //@ ghost uint64_t hole = leaf;
  //@ assert copath: h > 0 ==> \separated(page, copath + (0 .. h - 1));
  puncture_page(p->page[i], at, leaf, h, copath) /*@ ghost (R, p->depth, p->first[i], end) */;
  CHANGED_IN_PLACE
  PAGES_KEPT
  PAGE_IN_STORE
}

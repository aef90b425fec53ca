/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the pages of a draft (draft.h). */
#include "draft.h"

#include "pprf.h"

#include "wp/draft_steps.h"

/* ---- one page ---- */

/* Append a node of height h to a page that has room. */
/*@ requires page: page_open(root, d, page, first, end) && page_clean(page) && a_page(page) &&
      \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    requires node: h <= d && tree_node(d, end, h);
    requires memory: \valid_read(value) && \separated(value, page);
    requires seed: seed_value(*value) == node_seed(root, d, end, h);
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(root, d, page, first, end + pow2(h)) && page_clean(page);
    ensures same: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x);
    ensures size: page_bytes(page) == \old(page_bytes(page)) + 17;
    ensures others: blocks_kept{Pre,Post}(page); */
static inline void append_node(struct opt_page *page, unsigned h, const struct pprf_seed *value)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  ROW_TO_APPEND
  page->tile[page->tiles] = (uint8_t)(OPT_TILE_LIVE + h);
  *opt_page_row(page, page->seeds + 1u) = *value;
  page->tiles = (uint16_t)(page->tiles + 1u);
  page->seeds = (uint16_t)(page->seeds + 1u);
  NODE_IS_LAST
  PAGE_ALONE_CHANGED
}

/* Append a punctured tile of height h to such a page. */
/*@ requires page: page_open(root, d, page, first, end) && page_clean(page) && a_page(page) &&
      \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    requires node: h <= d && tree_node(d, end, h);
    assigns page->tiles, page->tile[0 .. OPT_ARENA_MAX - 1];
    ensures page: page_holds(root, d, page, first, end + pow2(h)) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || covers(end, h, x);
    ensures count: page->tiles == \old(page->tiles) + 1 &&
      tile_byte(page_row(page), \old(page->tiles)) == h &&
      tile_start(page_row(page), first, \old(page->tiles)) == end; */
static inline void append_hole(struct opt_page *page, unsigned h)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  ROW_TO_APPEND
  page->tile[page->tiles] = (uint8_t)h;
  page->tiles = (uint16_t)(page->tiles + 1u);
  HOLE_IS_LAST
}

/* Append a punctured tile and merge it with its siblings. */
/*@ requires page: page_open(root, d, page, first, end) && page_clean(page) && a_page(page) &&
      \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    requires node: h <= d && tree_node(d, end, h);
    assigns page->tiles, page->tile[0 .. OPT_ARENA_MAX - 1];
    ensures page: page_holds(root, d, page, first, end + pow2(h)) && page_clean(page);
    ensures punctured: \forall integer x; row_punctured(page_row(page), page->tiles, first, x) <==>
      row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles), first, x) || covers(end, h, x);
    ensures size: page_bytes(page) <= \old(page_bytes(page)) + 1;
    ensures others: blocks_kept{Pre,Post}(page); */
static inline void merge_hole(struct opt_page *page, unsigned h, uint64_t end)
  /*@ ghost (unsigned d, uint64_t first) */
{
  append_hole(page, h) /*@ ghost (d, first, end) */;
  HOLE_IN_ROW
  unsigned tiles = opt_row_merge(page->tile, page->tiles, page->tiles - 1u, end)
    /*@ ghost (top, seeds, d, first, behind) */;
  page->tiles = (uint16_t)tiles;
  HOLE_IS_MERGED
  PAGE_ALONE_CHANGED
}

/* Allocate a page; no other block changes. */
/*@ requires blocks: \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]);
    requires bytes: 1 <= bytes <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1], \result \from opt_pages[0 .. OPT_PAGES_MAX - 1],
      bytes;
    ensures page: \result != \null ==> a_page(\result) && free_page{Pre}(\result) &&
      page_clean(\result) && \result->tiles == 0 && \result->seeds == 0 &&
      bytes <= \result->bytes <= OPT_ARENA_MAX;
    ensures others: blocks_kept{Pre,Post}(\result); */
static inline struct opt_page *empty_page(size_t bytes)
{
  struct opt_page *page = opt_page_new(bytes);
  OTHERS_KEPT
  BLOCKS_KEPT
  return page;
}

/* ---- the draft ---- */

/* Add a page at the end of the draft. */
/*@ requires draft: draft_apart(d) && d->n < d->room;
    assigns d->n, d->first[d->n];
    assigns d->pages[d->n] \from next;
    ensures page: d->n == \old(d->n) + 1 && d->pages[d->n - 1] == next &&
      d->first[d->n - 1] == d->end;
    ensures list: draft_list{Pre,Post}(d);
    ensures blocks: blocks_kept{Pre,Post}(\null); */
static inline void put_behind(struct opt_draft *d, struct opt_page *next)
{
  d->first[d->n] = d->end;
  d->pages[d->n] = next;
  d->n++;
  FIELDS_ARE_APART
}

/* Count a written tile of height h; node: 1 if it is live, 0 if it is punctured. */
/*@ requires draft: draft_apart(d) && d->n <= d->room && h <= 63 && node <= 1;
    requires end: d->end + pow2(h) <= 0x8000000000000000 && d->nodes <= d->end;
    assigns d->end, d->nodes;
    ensures end: d->end == \old(d->end) + pow2(h) && d->nodes == \old(d->nodes) + node;
    ensures apart: draft_apart(d);
    ensures list: draft_list{Pre,Post}(d) && d->n == \old(d->n) && d->at == \old(d->at);
    ensures blocks: blocks_kept{Pre,Post}(\null); */
static inline void count_tile(struct opt_draft *d, unsigned h, unsigned node)
{
  //@ ghost leaves_of_lemma(h);
  d->end += UINT64_C(1) << h;
  d->nodes += node;
  FIELDS_ARE_APART
}

/* Add a new page. */
/*@ requires draft: draft_holds(root, depth, d, from);
    assigns d->n, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures open: \result == 0 ==> draft_open(root, depth, d, from) && d->n == \old(d->n) + 1;
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
    ensures fields: d->end == \old(d->end) && d->nodes == \old(d->nodes); */
static int next_page(struct opt_draft *d)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  NOTHING_CHANGED
  if (d->n == d->room)
    return PPRF_ERR_NOMEM;
  struct opt_page *page = empty_page(d->block);
  PAGE_IS_NEW
  if (page == NULL)
    return PPRF_ERR_NOMEM;
  put_behind(d, page);
  PAGE_IS_BEHIND
  return PPRF_OK;
}

/* Make room for a tile and a seed. */
/*@ requires draft: draft_holds(root, depth, d, from);
    assigns d->n, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures open: \result == 0 ==> draft_open(root, depth, d, from);
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
    ensures fields: d->end == \old(d->end) && d->nodes == \old(d->nodes); */
static int room_for_tile(struct opt_draft *d)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  LAST_OF_DRAFT
  if (d->n == d->at || opt_page_used(d->pages[d->n - 1]) + 1 + sizeof(struct pprf_seed) > d->block)
    return next_page(d) /*@ ghost (depth, from) */;
  LAST_IS_OPEN
  return PPRF_OK;
}

/* Write a node, for which there is room. */
/*@ requires draft: draft_open(root, depth, d, from);
    requires node: h <= depth && tree_node(depth, d->end, h);
    requires memory: \valid_read(seed) && \separated(seed, d->pages[d->n - 1]);
    requires seed: seed_value(*seed) == node_seed(root, depth, d->end, h);
    assigns d->end, d->nodes, opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: draft_holds(root, depth, d, from);
    ensures end: d->end == \old(d->end) + pow2(h) && d->nodes == \old(d->nodes) + 1;
    ensures same: \forall integer x; draft_punctured(d, x) <==> draft_punctured{Pre}(d, x); */
static inline void add_node(struct opt_draft *d, unsigned h, const struct pprf_seed *seed)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  PAGE_TO_EXTEND
  append_node(d->pages[d->n - 1], h, seed) /*@ ghost (depth, first, end) */;
  PAGE_IS_EXTENDED
  count_tile(d, h, 1);
  DRAFT_IS_LONGER
  NODE_IN_DRAFT
}

/* Write a punctured tile, for which there is room. */
/*@ requires draft: draft_open(root, depth, d, from);
    requires node: h <= depth && tree_node(depth, d->end, h);
    assigns d->end, d->nodes, opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: draft_holds(root, depth, d, from);
    ensures end: d->end == \old(d->end) + pow2(h) && d->nodes == \old(d->nodes);
    ensures punctured: \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || covers(\old(d->end), h, x); */
static inline void add_hole(struct opt_draft *d, unsigned h)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  PAGE_TO_EXTEND
  merge_hole(d->pages[d->n - 1], h, d->end) /*@ ghost (depth, first) */;
  PAGE_IS_EXTENDED
  count_tile(d, h, 0);
  DRAFT_IS_LONGER
  HOLE_IN_DRAFT
}

void opt_draft_begin(struct opt_draft *d, uint64_t leaf)
  /*@ ghost (unsigned depth) */
{
  d->at = d->n;
  d->end = leaf;
  FIELDS_ARE_APART
  RUN_IS_EMPTY
}

int opt_draft_live(struct opt_draft *d, unsigned h, const struct pprf_seed *seed)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  int err = room_for_tile(d) /*@ ghost (depth, from) */;
  if (err != PPRF_OK)
    return err;
  ROOM_IS_THERE_NOW
  SEED_IS_SAME
  add_node(d, h, seed) /*@ ghost (depth, from) */;
  TILE_IN_ROOM
  return PPRF_OK;
}

int opt_draft_hole(struct opt_draft *d, unsigned h)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  int err = room_for_tile(d) /*@ ghost (depth, from) */;
  if (err != PPRF_OK)
    return err;
  ROOM_IS_THERE_NOW
  add_hole(d, h) /*@ ghost (depth, from) */;
  TILE_IN_ROOM
  return PPRF_OK;
}

/* Height of the greatest subtree that starts at `start` and ends at `end` or before; one of
 * height h does. */
/*@ requires leaves: start < end <= pow2(depth) && depth <= 63;
    requires node: h <= depth && tree_node(depth, start, h);
    assigns \nothing;
    ensures node: \result <= depth && tree_node(depth, start, \result);
    ensures end: start + pow2(\result) <= end; */
static inline unsigned greatest_from(uint64_t start, uint64_t end, unsigned h)
  /*@ ghost (unsigned depth) */
{
  //@ ghost deep_tree_lemma(depth);
  /*@ loop invariant node: h <= depth && tree_node(depth, start, h);
      loop assigns h;
      loop variant depth - h; */
  while (opt_tile_leaves((uint8_t)h) <= (end - start) / 2 && (start >> h & 1) == 0) {
    NODE_HAS_PARENT
    h++;
  }
  /*@ loop invariant node: h <= depth && tree_node(depth, start, h);
      loop assigns h;
      loop variant h; */
  while (opt_tile_leaves((uint8_t)h) > end - start) {
    NODE_HAS_CHILD
    h--;
  }
  return h;
}

int opt_draft_punctured(struct opt_draft *d, uint64_t end)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  HOLE_BEGINS
  unsigned h = 0;
  /*@ loop invariant draft: draft_holds(root, depth, d, from);
      loop invariant grown: draft_grown{Pre,Here}(d);
      loop invariant end: start <= d->end && (d->end <= end || d->end == start);
      loop invariant node: d->end < end ==> h <= depth && tree_node(depth, d->end, h);
      loop invariant punctured: \forall integer x; draft_punctured(d, x) <==>
        draft_punctured{Pre}(d, x) || start <= x < d->end;
      loop invariant count: d->nodes == \at(d->nodes,Pre);
      loop invariant list: d->first == first && d->pages == pages && d->room == room;
      loop assigns h, d->n, d->end, d->nodes, first[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant end - d->end; */
  while (d->end < end) {
    h = greatest_from(d->end, end, h) /*@ ghost (depth) */;
    HOLE_TO_PUT
    int err = opt_draft_hole(d, h) /*@ ghost (depth, from) */;
    HOLE_IS_PUT
    if (err != PPRF_OK)
      return err;
    HOLE_IS_LONGER
  }
  return PPRF_OK;
}

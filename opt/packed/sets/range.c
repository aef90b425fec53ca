/* SPDX-License-Identifier: Apache-2.0 */
/* The puncture of a range of leaves (range.h). */
#include "range.h"

#include "rewrite.h"

#include "pprf.h"

#include "../wp/index_steps.h"

#include "wp/range_steps.h"

/* opt_draft_left, with the proof that other nodes, which are written later, are unchanged. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end == first;
    requires page: page_holds(root, depth, page, first, end) && page_to_write(d, page);
    requires place: at.tile < page->tiles && at.start == tile_start(page_row(page), first, at.tile);
    requires left: tree_entries(root, depth, left, lefts) && entries_up(left, lefts, at.start) &&
      \valid_read(left + (0 .. lefts - 1)) && entries_apart(d, left, lefts);
    requires nodes: tree_entries(root, depth, e, n) && \valid_read(e + (0 .. n - 1)) &&
      entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == (lefts == 0 ? at.start : entry_end{Pre}(left,
      lefts - 1));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || punctured_between{Pre}(page_row{Pre}(page), first, 0, at.tile,
      x);
    ensures nodes: tree_entries(root, depth, e, n) && entries_kept{Pre,Post}(e, n) &&
      entries_apart(d, e, n); */
static inline int put_left_of(struct opt_draft *d, const struct opt_page *page, struct opt_place at,
                              const struct opt_entry *left, unsigned lefts)
  /*@ ghost (const struct opt_entry *e, unsigned n, unsigned depth, uint64_t from, uint64_t first,
             uint64_t end) */
{
  ENTRIES_LIE_APART
  int err = opt_draft_left(d, page, at, left, lefts) /*@ ghost (depth, from, first, end) */;
  NODES_STAY
  return err;
}

/* put_left_of, with the proof that another page, or the same one, is unchanged. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end == first;
    requires page: page_holds(root, depth, page, first, end) && page_to_write(d, page);
    requires place: at.tile < page->tiles && at.start == tile_start(page_row(page), first, at.tile);
    requires left: tree_entries(root, depth, left, lefts) && entries_up(left, lefts, at.start) &&
      \valid_read(left + (0 .. lefts - 1)) && entries_apart(d, left, lefts);
    requires other: page_holds(root, depth, other, other_first, other_end) &&
      page_to_write(d, other);
    requires nodes: tree_entries(root, depth, e, n) && \valid_read(e + (0 .. n - 1)) &&
      entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == (lefts == 0 ? at.start : entry_end{Pre}(left,
      lefts - 1));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || punctured_between{Pre}(page_row{Pre}(page), first, 0, at.tile,
      x);
    ensures other: page_holds(root, depth, other, other_first, other_end) &&
      page_to_write(d, other) && other->tiles == \old(other->tiles);
    ensures row: row_kept{Pre,Post}(page_row{Pre}(other), other_first, \old(other->tiles));
    ensures bytes: \forall integer j; 0 <= j < other->tiles ==>
      tile_byte(page_row(other), j) == tile_byte{Pre}(page_row{Pre}(other), j);
    ensures nodes: tree_entries(root, depth, e, n) && entries_kept{Pre,Post}(e, n) &&
      entries_apart(d, e, n); */
static inline int put_left(struct opt_draft *d, const struct opt_page *page, struct opt_place at,
                           const struct opt_entry *left, unsigned lefts)
  /*@ ghost (const struct opt_page *other, uint64_t other_first, uint64_t other_end,
             const struct opt_entry *e, unsigned n, unsigned depth, uint64_t from, uint64_t first,
             uint64_t end) */
{
  PAGE_BEHIND
  int err = put_left_of(d, page, at, left, lefts) /*@ ghost (e, n, depth, from, first, end) */;
  OTHER_STAYS
  return err;
}

/* Write the pages from .. to without the leaves first .. last, which begin and end in them, and
 * with what remains of the nodes that cover these two. */
/*@ OPT_RANGE_TO_WRITE
    OPT_RANGE_IS_WRITTEN */
static int put_range(struct opt_draft *d, const struct opt_packed *p, size_t from, size_t to,
                     uint64_t last, struct opt_place begin, struct opt_place end,
                     const struct opt_entry *left, unsigned lefts, const struct opt_entry *right,
                     unsigned rights)
  /*@ ghost (uint64_t first) */
{
  const struct opt_page *page = p->page[from], *page_b = p->page[to];
  RANGE_TO_PUT
  int err = put_left(d, page, begin, left, lefts)
    /*@ ghost (page_b, first_b, stop, right, rights, depth, start, start, from_end) */;
  LEFT_IS_PUT
  if (err != PPRF_OK)
    return err;
  err = opt_draft_right(d, page_b, end, last, right, rights)
    /*@ ghost (depth, start, first_b, stop) */;
  RANGE_IS_PUT
  return err;
}

/* put_range, with the proof that the index and its pages are unchanged. */
/*@ OPT_RANGE_TO_WRITE
    requires apart: store_to_write(d, p);
    OPT_RANGE_IS_WRITTEN
    ensures index: index_same{Pre,Post}(p);
    ensures pages: pages_stay{Pre,Post}(d, p); */
static inline int put_run_beside(struct opt_draft *d, const struct opt_packed *p, size_t from,
                                 size_t to, uint64_t last, struct opt_place begin,
                                 struct opt_place end, const struct opt_entry *left, unsigned lefts,
                                 const struct opt_entry *right, unsigned rights)
  /*@ ghost (uint64_t first) */
{
  INDEX_TO_KEEP
  int err = put_range(d, p, from, to, last, begin, end, left, lefts, right, rights)
    /*@ ghost (first) */;
  INDEX_IS_KEPT
  return err;
}

/* put_run_beside for the first pages of the draft, with the proof that they can replace the
 * store's pages. */
/*@ OPT_RANGE_TO_WRITE
    requires key: packed_key(root, p) && store_to_write(d, p) && d->block <= p->page_max;
    requires first_pages: d->n == 0;
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p) && index_same{Pre,Post}(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d) && run_new(p, d->pages, d->n);
    ensures run: \result == 0 ==> 1 <= d->n &&
      run_holds(root, p->depth, d->first, d->pages, d->n, p->first[from], page_end(p, to));
    ensures punctured: \result == 0 ==> \forall integer x; p->first[from] <= x < page_end(p, to) ==>
      (run_punctured(d->first, d->pages, d->n, x) <==>
       packed_punctured{Pre}(p, x) || first <= x <= last); */
static inline int put_new_run(struct opt_draft *d, const struct opt_packed *p, size_t from,
                              size_t to, uint64_t last, struct opt_place begin,
                              struct opt_place end, const struct opt_entry *left, unsigned lefts,
                              const struct opt_entry *right, unsigned rights)
  /*@ ghost (uint64_t first) */
{
  NEW_RUN
  int err = put_run_beside(d, p, from, to, last, begin, end, left, lefts, right, rights)
    /*@ ghost (first) */;
  STORE_AS_BEFORE
  NEW_RUN_IS_PUT
  return err;
}

/* ---- the store ---- */

/* Write the pages from .. to anew into an empty draft, and replace them by it.  Returns the
 * number of new pages; 0: no memory. */
/*@ OPT_RANGE_TO_WRITE
    requires key: packed_key(root, p) && store_to_write(d, p) && d->block <= p->page_max;
    requires first_pages: d->n == 0;
    requires room: p->pages + d->room <= p->room;
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], d->pages[0 .. d->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures count: \result <= \old(d->room);
    ensures store: packed_key(root, p);
    ensures punctured: \result != 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || first <= x <= last;
    ensures none: \result == 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static size_t replace_run(struct opt_draft *d, struct opt_packed *p, size_t from, size_t to,
                          uint64_t last, struct opt_place begin, struct opt_place end,
                          const struct opt_entry *left, unsigned lefts,
                          const struct opt_entry *right, unsigned rights)
  /*@ ghost (uint64_t first) */
{
  RUN_TO_REPLACE
  int err = put_new_run(d, p, from, to, last, begin, end, left, lefts, right, rights)
    /*@ ghost (first) */;
  RUN_TO_TAKE_PLACE
  if (err != PPRF_OK) {
    opt_packed_drop_draft(d) /*@ ghost (p) */;
    return 0;
  }
  opt_packed_splice(p, from, to, d->first, d->pages, d->n);
  RUN_HAS_TAKEN_PLACE
  return d->n;
}

/* Size of a draft for pages from .. to without a range of leaves and with `nodes` remaining
 * nodes.  In each page but the last, less than a tile and a seed stay unused. */
/*@ requires store: packed_holds(root, p) && packed_sized(p) && from < p->pages && to < p->pages;
    requires nodes: nodes <= 126;
    assigns \nothing;
    ensures pages: 1 <= \result.pages <= 0x4000;
    ensures block: 25 <= \result.block <= p->page_max; */
static inline struct opt_draft_size size_of_range(const struct opt_packed *p, size_t from,
                                                  size_t to, unsigned nodes)
{
  enum { SEED_BYTES = sizeof(struct pprf_seed) };
  RANGE_TO_MEASURE
  size_t room = p->page_max - OPT_PAGE_HEAD; /* for tiles and seeds */
  size_t bytes = (SEED_BYTES + 1u) * (size_t)nodes + 2u * (size_t)p->depth +
                 opt_page_used(p->page[from]) + opt_page_used(p->page[to]);
  size_t n = bytes <= room ? 1 : bytes / (room / 4 * 3) + 1; /* pages may be partly empty */
  size_t block = OPT_PAGE_HEAD + bytes / n + 1 + SEED_BYTES;
  if (block < p->page_max)
    block = opt_arena_fit(block);
  return (struct opt_draft_size){n + 1, block < p->page_max ? block : p->page_max};
}

/* Open an empty draft for the pages from .. on; the nodes on both sides of the range are
 * unchanged. */
/*@ requires store: packed_key(root, p) && from < p->pages;
    requires memory: \valid(d) && draft_outside(p, d) &&
      index_block(index.first, index.page, size.pages) &&
      \separated(index.first + (0 .. size.pages - 1), p->first + (0 .. p->room - 1)) &&
      \separated(index.page + (0 .. size.pages - 1), p->page + (0 .. p->room - 1));
    requires size: 1 <= size.pages && 25 <= size.block <= p->page_max;
    requires nodes: entries_outside(p, d, e, n) && tree_entries(root, p->depth, e, n);
    requires others: entries_outside(p, d, other, others) &&
      tree_entries(root, p->depth, other, others);
    assigns *d;
    ensures store: packed_key(root, p) && index_same{Pre,Post}(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures draft: draft_own(d) && d->end == p->first[from] && d->nodes == 0 && d->at == 0 &&
      d->n == 0;
    ensures memory: d->first == index.first && d->pages == index.page && d->room == size.pages &&
      d->block == size.block;
    ensures apart: store_to_write(d, p);
    ensures nodes: tree_entries(root, p->depth, e, n) && entries_kept{Pre,Post}(e, n) &&
      entries_apart(d, e, n);
    ensures others: tree_entries(root, p->depth, other, others) &&
      entries_kept{Pre,Post}(other, others) && entries_apart(d, other, others); */
static inline void open_beside(struct opt_draft *d, const struct opt_packed *p, size_t from,
                               struct opt_index index, struct opt_draft_size size)
  /*@ ghost (const struct opt_entry *e, unsigned n, const struct opt_entry *other,
             unsigned others) */
{
  opt_packed_open_draft(d, p, from, index, size) /*@ ghost (other, others) */;
  NODES_BESIDE_DRAFT
}

/* Puncture a range, with memory for a draft.  Returns the number of new pages; 0: no memory. */
/*@ OPT_PACKED_RANGE
    requires draft: \valid(d) && draft_outside(p, d) && entries_outside(p, d, left, lefts) &&
      entries_outside(p, d, right, rights);
    requires index: index_block(index.first, index.page, size.pages) &&
      \separated(index.first + (0 .. size.pages - 1), p->first + (0 .. p->room - 1)) &&
      \separated(index.page + (0 .. size.pages - 1), p->page + (0 .. p->room - 1));
    requires size: 1 <= size.pages && 25 <= size.block <= p->page_max;
    requires room: p->pages + size.pages <= p->room;
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1],
      index.page[0 .. size.pages - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns *d, index.first[0 .. size.pages - 1];
    assigns index.page[0 .. size.pages - 1] \from index.page[0 .. size.pages - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures count: \result <= size.pages;
    ensures store: packed_key(root, p);
    ensures punctured: \result != 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || first <= x <= last;
    ensures none: \result == 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static size_t range_with(struct opt_draft *d, struct opt_packed *p, uint64_t first, uint64_t last,
                         const struct opt_entry *left, unsigned lefts,
                         const struct opt_entry *right, unsigned rights, struct opt_index index,
                         struct opt_draft_size size)
{
  size_t from = opt_page_of(p, first), to = opt_page_of(p, last);
  PAGES_OF_RANGE
  open_beside(d, p, from, index, size) /*@ ghost (left, lefts, right, rights) */;
  PAGES_OF_RANGE_STAY
  struct opt_place begin = opt_place_in(p, from, first);
  struct opt_place end = opt_place_in(p, to, last);
  PLACES_OF_RANGE
  return replace_run(d, p, from, to, last, begin, end, left, lefts, right, rights)
    /*@ ghost (first) */;
}

/* Puncture a range; the index has room.  Returns the number of new pages; 0: no memory. */
/*@ OPT_PACKED_RANGE
    requires size: 1 <= size.pages && 25 <= size.block <= p->page_max;
    requires room: p->pages + size.pages <= p->room;
    assigns p->nodes, p->pages, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns opt_lists[0 .. OPT_INDEX_MAX - 1] \from opt_lists[0 .. OPT_INDEX_MAX - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures count: \result <= size.pages;
    ensures store: packed_key(root, p);
    ensures punctured: \result != 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || first <= x <= last;
    ensures none: \result == 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static size_t rewrite_range(struct opt_packed *p, uint64_t first, uint64_t last,
                            const struct opt_entry *left, unsigned lefts,
                            const struct opt_entry *right, unsigned rights,
                            struct opt_draft_size size)
{
  struct opt_index index = opt_index_new(p, size.pages);
  if (index.first == NULL)
    return 0;
  size_t n;
  {
    struct opt_draft d;
    KEY_IN_BLOCK
    KEY_IS_HERE
    DRAFT_IN_BLOCK
    n = range_with(&d, p, first, last, left, lefts, right, rights, index, size);
    RANGE_AT_END
    KEY_AT_END
    DRAFT_AT_END
  }
  KEY_IS_HERE
  INDEX_OF_DRAFT
  opt_packed_drop_index(index, size.pages) /*@ ghost (p) */;
  return n;
}

/* Make room in the index; the remaining nodes of one side are unchanged.  0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && entries_beside(p, e, n);
    requires pages: pages <= 0x7fffffffffffffff;
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures room: \result == 0 ==> pages <= p->room;
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures nodes: entries_kept{Pre,Post}(e, n); */
static inline int reserve_with(struct opt_packed *p, size_t pages)
  /*@ ghost (const struct opt_entry *e, unsigned n) */
{
  int err = opt_index_reserve(p, pages);
  NODES_BESIDE_STORE
  return err;
}

/* Make room in the index; the remaining nodes of both sides are unchanged.  0, or
 * PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && entries_beside(p, e, n) &&
      entries_beside(p, other, others);
    requires pages: pages <= 0x7fffffffffffffff;
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures room: \result == 0 ==> pages <= p->room;
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures nodes: entries_kept{Pre,Post}(e, n) && entries_kept{Pre,Post}(other, others); */
static inline int reserve_beside(struct opt_packed *p, size_t pages)
  /*@ ghost (const struct opt_entry *e, unsigned n, const struct opt_entry *other,
             unsigned others) */
{
  int err = reserve_with(p, pages) /*@ ghost (other, others) */;
  NODES_BESIDE_STORE
  return err;
}

/* reserve_beside, with the proof that they still are what remains of the same tiles. */
/*@ OPT_PACKED_RANGE
    requires pages: pages <= 0x7fffffffffffffff;
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures room: \result == 0 ==> pages <= p->room;
    ensures left: tree_entries(root, p->depth, left, lefts) && left_of_leaf(p, first, left, lefts);
    ensures right: tree_entries(root, p->depth, right, rights) &&
      right_of_leaf(p, last, right, rights); */
static inline int reserve(struct opt_packed *p, size_t pages)
  /*@ ghost (uint64_t first, uint64_t last, const struct opt_entry *left, unsigned lefts,
             const struct opt_entry *right, unsigned rights) */
{
  int err = reserve_beside(p, pages) /*@ ghost (left, lefts, right, rights) */;
  TILES_BESIDE_NODES
  return err;
}

int opt_packed_puncture_range(struct opt_packed *p, uint64_t first, uint64_t last,
                              const struct opt_entry *left, unsigned lefts,
                              const struct opt_entry *right, unsigned rights)
{
  size_t from = opt_page_of(p, first);
  struct opt_draft_size size = size_of_range(p, from, opt_page_of(p, last), lefts + rights);
  RANGE_TO_REWRITE
  int err = reserve(p, p->pages + size.pages)
    /*@ ghost (first, last, left, lefts, right, rights) */;
  RANGE_HAS_ROOM
  if (err != PPRF_OK)
    return err;
  size_t n = rewrite_range(p, first, last, left, lefts, right, rights, size);
  RANGE_IS_REWRITTEN
  opt_index_tidy(p);
  INDEX_IS_TIDY
  opt_packed_tidy_run(p, from, n);
  RANGE_IS_TIDY
  return n == 0 ? PPRF_ERR_NOMEM : PPRF_OK;
}

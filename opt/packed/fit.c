/* SPDX-License-Identifier: Apache-2.0 */
/* Room in the index and the pages, joining and shrinking of pages (fit.h); the puncture of a
 * leaf. */
#include "fit.h"

#include "packed.h"
#include "pprf.h"

#include "wp/index_steps.h"

#include "wp/fit_steps.h"

/* ---- the index ---- */

/* Copy the first leaves of n pages. */
/*@ requires memory: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1)) &&
      \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1];
    ensures copied: \forall integer k; 0 <= k < n ==> to[k] == \old(from[k]); */
static inline void copy_firsts(uint64_t *restrict to, const uint64_t *restrict from, size_t n)
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant copied: \forall integer j; 0 <= j < k ==> to[j] == \at(from[j],Pre);
      loop assigns k, to[0 .. n - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    to[k] = from[k];
}

/* The same for the pages. */
/*@ requires memory: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1)) &&
      \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1] \from from[0 .. n - 1];
    ensures copied: \forall integer k; 0 <= k < n ==> to[k] == \old(from[k]); */
static inline void copy_pages(struct opt_page **restrict to, struct opt_page *const *restrict from,
                              size_t n)
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant copied: \forall integer j; 0 <= j < k ==> to[j] == \at(from[j],Pre);
      loop assigns k, to[0 .. n - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    to[k] = from[k];
}

/* Use other memory, for `room` pages, as the index.  The old memory is freed last, because a
 * fork may happen at any time. */
/*@ requires store: index_of_pages(p) && index_apart(p) && pages_distinct(p) && index_memory(p);
    requires to: index_in(p, to.first, to.page, room) && p->pages <= room;
    requires apart: \separated(to.first + (0 .. room - 1), p->first + (0 .. p->room - 1)) &&
      \separated(to.page + (0 .. room - 1), p->page + (0 .. p->room - 1));
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures index: index_of_pages(p) && index_apart(p) && pages_distinct(p) && index_memory(p);
    ensures room: p->room == room;
    ensures first: \forall integer k; 0 <= k < p->pages ==> p->first[k] == \old(p->first[k]);
    ensures page: \forall integer k; 0 <= k < p->pages ==> p->page[k] == \old(p->page[k]);
    ensures pages: \forall struct opt_page *q; a_page(q) ==> page_kept{Pre,Post}(q); */
static void set_index(struct opt_packed *p, struct opt_index to, size_t room)
{
  struct opt_index old = {p->first, p->page};
  size_t had = p->room;
  INDEX_TO_COPY
  copy_firsts(to.first, p->first, p->pages);
  copy_pages(to.page, p->page, p->pages);
  p->first = to.first;
  p->page = to.page;
  p->room = room;
  INDEX_IS_COPIED
  if (old.first != &p->one_first)
    opt_index_free(old, had);
  INDEX_IS_APART
  OTHERS_KEPT
  INDEX_IS_SET
}

/* set_index for a whole store. */
/*@ requires store: packed_key(root, p);
    requires to: index_in(p, to.first, to.page, room) && p->pages <= room;
    requires apart: \separated(to.first + (0 .. room - 1), p->first + (0 .. p->room - 1)) &&
      \separated(to.page + (0 .. room - 1), p->page + (0 .. p->room - 1));
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: p->room == room; */
static inline void move_index(struct opt_packed *p, struct opt_index to, size_t room)
{
  set_index(p, to, room);
  INDEX_IS_MOVED
  STORE_IS_SAME
  COUNT_KEPT
}

/* Give the index memory for this many pages and some more; 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && p->pages <= pages <= 0x7fffffffffffffff;
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: \result == 0 ==> pages <= p->room; */
static int resize_index(struct opt_packed *p, size_t pages)
{
  size_t room = pages + pages / 8 + 3;
  struct opt_index to = opt_index_new(p, room);
  if (to.first == NULL)
    return PPRF_ERR_NOMEM;
  move_index(p, to, room);
  return PPRF_OK;
}

int opt_index_reserve(struct opt_packed *p, size_t pages)
{
  if (pages <= p->room)
    return PPRF_OK;
  return resize_index(p, pages);
}

void opt_index_tidy(struct opt_packed *p)
{
  if (p->pages == 1 && p->room > 1)
    move_index(p, (struct opt_index){&p->one_first, &p->one_page}, 1);
  else if (p->room > 16 && p->pages < p->room / 4)
    (void)resize_index(p, p->pages);
}

/* ---- two pages ---- */

/* Append another page's row to a page. */
/*@ requires page: page_holds(root, d, page, first, mid) && page_clean(page) && \valid(page);
    requires from: page_holds(root, d, from, mid, end) && \separated(page, from);
    requires room: page_bytes(page) + page_bytes(from) - 8 <= page->bytes;
    assigns page->tiles, page->seeds, page->tile[0 .. OPT_ARENA_MAX - 1],
      page->seed[0 .. OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(root, d, page, first, end) && page_clean(page);
    ensures size: page->tiles == \old(page->tiles) + from->tiles &&
      page->seeds == \old(page->seeds) + from->seeds;
    ensures seam: tile_start(page_row(page), first, \old(page->tiles)) == mid;
    ensures last: tile_byte(page_row(page), \old(page->tiles) - 1) ==
      tile_byte{Pre}(page_row(page), \old(page->tiles) - 1);
    ensures punctured: \forall integer x; leaf_of_page(page, first, x) <==>
      leaf_of_page{Pre}(page, first, x) || leaf_of_page{Pre}(from, mid, x); */
static inline void append_row(struct opt_page *page, const struct opt_page *from)
  /*@ ghost (unsigned d, uint64_t first, uint64_t mid, uint64_t end) */
{
  ROWS_TO_JOIN
  opt_tiles_copy(page->tile + page->tiles, from->tile, from->tiles);
  opt_seeds_copy(opt_page_row(page, page->seeds + from->seeds), opt_page_row(from, from->seeds),
                 from->seeds) /*@ ghost (behind, from_top, 0) */;
  page->tiles = (uint16_t)(page->tiles + from->tiles);
  page->seeds = (uint16_t)(page->seeds + from->seeds);
  ROWS_ARE_ONE
}

/* Merge a page's tile at an index with its siblings if it is punctured. */
/*@ requires page: page_holds(root, d, page, first, end) && page_clean(page) && \valid(page);
    requires at: at < page->tiles && tile_start(page_row(page), first, at + 1) == mid;
    assigns page->tiles, page->tile[0 .. OPT_ARENA_MAX - 1];
    ensures page: page_holds(root, d, page, first, end) && page_clean(page);
    ensures size: page->tiles <= \old(page->tiles) && page->seeds == \old(page->seeds);
    ensures punctured: \forall integer x;
      leaf_of_page(page, first, x) <==> leaf_of_page{Pre}(page, first, x); */
static inline void merge_in_page(struct opt_page *page, unsigned at, uint64_t mid)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  SEAM_IN_ROW
  if (opt_tile_live(page->tile[at]))
    return;
  page->tiles =
    (uint16_t)opt_row_merge(page->tile, page->tiles, at, mid - opt_tile_leaves(page->tile[at]))
    /*@ ghost (top, page->seeds, d, first, end) */;
  SEAM_IS_MERGED
}

/* Make a page with the rows of two, of which the second begins at mid. */
/*@ requires blocks: \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]) && a_page(left) && a_page(right);
    requires left: page_holds(root, d, left, first, mid);
    requires right: page_holds(root, d, right, mid, end);
    requires bytes: page_bytes(left) + page_bytes(right) - 8 <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1],
      \result \from opt_pages[0 .. OPT_PAGES_MAX - 1], left, right;
    ensures page: \result != \null ==> a_page(\result) && free_page{Pre}(\result) &&
      page_clean(\result) && page_holds(root, d, \result, first, end);
    ensures size: \result != \null ==> \result->seeds == \old(left->seeds + right->seeds) &&
      page_bytes(\result) <= \old(page_bytes(left) + page_bytes(right) - 8);
    ensures punctured: \result != \null ==> \forall integer x; leaf_of_page(\result, first, x) <==>
      leaf_of_page{Pre}(left, first, x) || leaf_of_page{Pre}(right, mid, x);
    ensures others: others_kept{Pre,Post}(\result); */
static struct opt_page *rows_of_two(const struct opt_page *left, const struct opt_page *right,
                                    uint64_t first, uint64_t mid)
  /*@ ghost (unsigned d, uint64_t end) */
{
  TWO_TO_JOIN
  struct opt_page *page =
    opt_page_part(left, (struct opt_place){first, 0, 0}, left->tiles, left->seeds,
                  opt_page_used(left) + opt_page_used(right) - OPT_PAGE_HEAD)
    /*@ ghost (d, first, mid) */;
  if (page == NULL)
    return NULL;
  FIRST_OF_TWO
  append_row(page, right) /*@ ghost (d, first, mid, end) */;
  SEAM_OF_TWO
  merge_in_page(page, left->tiles - 1u, mid) /*@ ghost (d, first, end) */;
  BOTH_IN_PAGE
  OTHERS_KEPT
  return page;
}

/* rows_of_two for pages i and i + 1 of a store; the result is not part of the store yet. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i + 1 < p->pages;
    requires bytes: page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8 <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1],
      \result \from opt_pages[0 .. OPT_PAGES_MAX - 1], p->page[i], p->page[i + 1];
    ensures page: \result != \null ==> a_page(\result) && page_clean(\result) &&
      page_holds(root, p->depth, \result, \old(p->first[i]), page_end{Pre}(p, i + 1));
    ensures new: \forall integer k; 0 <= k < p->pages ==> p->page[k] != \result;
    ensures size: \result != \null ==>
      \result->seeds == seeds_of_page{Pre}(p, i) + seeds_of_page{Pre}(p, i + 1) &&
      page_bytes(\result) <= \old(page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8);
    ensures punctured: \result != \null ==> \forall integer x;
      leaf_of_page(\result, \old(p->first[i]), x) <==>
      page_punctured{Pre}(p, i, x) || page_punctured{Pre}(p, i + 1, x);
    ensures others: others_kept{Pre,Post}(\result); */
static struct opt_page *rows_of_pages(const struct opt_packed *p, size_t i)
{
  TWO_OF_STORE
  struct opt_page *page = rows_of_two(p->page[i], p->page[i + 1], p->first[i], p->first[i + 1])
    /*@ ghost (p->depth, end) */;
  PAGE_IS_NEW
  return page;
}

/* rows_of_pages, with the proof that the store is unchanged. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i + 1 < p->pages;
    requires bytes: page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8 <= OPT_ARENA_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1],
      \result \from opt_pages[0 .. OPT_PAGES_MAX - 1], p->page[i], p->page[i + 1];
    ensures page: \result != \null ==> spare_page(p, \result) &&
      page_holds(root, p->depth, \result, p->first[i], page_end(p, i + 1));
    ensures size: \result != \null ==>
      \result->seeds == seeds_of_page(p, i) + seeds_of_page(p, i + 1) &&
      page_bytes(\result) <= \old(page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8);
    ensures punctured: \result != \null ==>
      \forall integer x; leaf_of_page(\result, p->first[i], x) <==>
      page_punctured(p, i, x) || page_punctured(p, i + 1, x);
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p); */
static struct opt_page *joined_page(const struct opt_packed *p, size_t i)
{
  TWO_ENDS
  struct opt_page *both = rows_of_pages(p, i);
  STORE_KEPT
  COUNT_KEPT
  BOTH_OF_STORE
  return both;
}

/* Move n entries of `first` down by one place. */
/*@ requires memory: \valid(first + (0 .. n)) && first == all + at;
    assigns first[0 .. n - 1];
    ensures moved: \forall integer k; at <= k < at + n ==> all[k] == \old(all[k + 1]); */
static inline void firsts_down(uint64_t *first,
                               size_t n) /*@ ghost (const uint64_t *all, size_t at) */
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant moved: \forall integer j; at <= j < at + k ==> all[j] == \at(all[j + 1],Pre);
      loop invariant rest: \forall integer j; at + k <= j <= at + n ==> all[j] == \at(all[j],Pre);
      loop assigns k, first[0 .. n - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    first[k] = first[k + 1];
}

/* The same for `page`. */
/*@ requires memory: \valid(page + (0 .. n)) && page == all + at;
    assigns page[0 .. n - 1] \from page[0 .. n];
    ensures moved: \forall integer k; at <= k < at + n ==> all[k] == \old(all[k + 1]); */
static inline void pages_down(struct opt_page **page, size_t n)
  /*@ ghost (struct opt_page **all, size_t at) */
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant moved: \forall integer j; at <= j < at + k ==> all[j] == \at(all[j + 1],Pre);
      loop invariant rest: \forall integer j; at + k <= j <= at + n ==> all[j] == \at(all[j],Pre);
      loop assigns k, page[0 .. n - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    page[k] = page[k + 1];
}

/* Replace pages i and i + 1 of the index by one page. */
/*@ requires index: index_of_pages(p) && index_apart(p) && i + 1 < p->pages;
    requires blocks: pages_distinct(p) &&
      (\forall integer k; 0 <= k < p->pages ==> p->page[k] != both);
    assigns p->pages, p->first[i + 1 .. p->pages - 1];
    assigns p->page[i .. p->pages - 1] \from p->page[i .. p->pages - 1], both;
    ensures index: index_of_pages(p) && index_apart(p) && p->pages == \old(p->pages) - 1;
    ensures nodes: p->nodes == \old(p->nodes);
    ensures blocks: pages_distinct(p);
    ensures before: \forall integer k; 0 <= k < i ==> p->page[k] == \old(p->page[k]);
    ensures first: \forall integer k; 0 <= k <= i ==> p->first[k] == \old(p->first[k]);
    ensures here: p->page[i] == both;
    ensures behind: \forall integer k; i + 1 <= k < p->pages ==>
      p->first[k] == \old(p->first[k + 1]) && p->page[k] == \old(p->page[k + 1]);
    ensures pages: \forall struct opt_page *q; a_page(q) ==> page_kept{Pre,Post}(q); */
static inline void put_one(struct opt_packed *p, size_t i, struct opt_page *both)
{
  firsts_down(p->first + i + 1, p->pages - i - 2) /*@ ghost (p->first, i + 1) */;
  pages_down(p->page + i + 1, p->pages - i - 2) /*@ ghost (p->page, i + 1) */;
  p->page[i] = both;
  p->pages--;
  INDEX_IS_APART
  OTHERS_KEPT
  ONE_IN_ORDER
}

/* put_one for a whole store; pages i and i + 1 no longer belong to it. */
/*@ requires store: packed_holds(root, p) && packed_owns(p) && i + 1 < p->pages;
    requires page: spare_page(p, both) &&
      page_holds(root, p->depth, both, p->first[i], page_end(p, i + 1));
    requires leaves: \forall integer x; leaf_of_page(both, p->first[i], x) <==>
      page_punctured(p, i, x) || page_punctured(p, i + 1, x);
    requires seeds: both->seeds == seeds_of_page(p, i) + seeds_of_page(p, i + 1);
    requires bytes: page_bytes(both) <= p->page_max;
    assigns p->pages, p->first[i + 1 .. p->pages - 1];
    assigns p->page[i .. p->pages - 1] \from p->page[i .. p->pages - 1], both;
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures seeds_before: \forall integer k; 0 <= k < i ==>
      seeds_of_page(p, k) == seeds_of_page{Pre}(p, k);
    ensures seeds_here: seeds_of_page(p, i) ==
      seeds_of_page{Pre}(p, i) + seeds_of_page{Pre}(p, i + 1);
    ensures seeds_behind: \forall integer k; i + 1 <= k < p->pages ==>
      seeds_of_page(p, k) == seeds_of_page{Pre}(p, k + 1);
    ensures nodes: p->nodes == \old(p->nodes);
    ensures pages: p->pages == \old(p->pages) - 1;
    ensures spare: spare_page(p, \old(p->page[i])) && spare_page(p, \old(p->page[i + 1])) &&
      \old(p->page[i]) != \old(p->page[i + 1]); */
static inline void replace_two(struct opt_packed *p, size_t i, struct opt_page *both)
{
  //@ ghost struct opt_page *old = p->page[i];
  //@ ghost struct opt_page *second = p->page[i + 1];
  PAGES_TO_REPLACE
  put_one(p, i, both);
  ONE_IN_STORE
  SET_OF_ONE
  SIZES_OF_ONE
}

/* Free two pages that are not part of the store. */
/*@ requires store: packed_holds(root, p) && packed_owns(p);
    requires pages: spare_page(p, first) && spare_page(p, second) && first != second;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_holds(root, p) && packed_owns(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures count: same_count{Pre,Post}(p);
    ensures within: pages_within{Pre}(p) ==> pages_within(p);
    ensures wiped: free_page(first) && free_page(second); */
static inline void drop_two(struct opt_page *first, struct opt_page *second)
  /*@ ghost (const struct opt_packed *p) */
{
  opt_packed_drop(first) /*@ ghost (p) */;
  SECOND_IS_SPARE
  opt_packed_drop(second) /*@ ghost (p) */;
}

/* Join pages i and i + 1; the index keeps its memory. */
/*@ requires store: packed_key(root, p) && i + 1 < p->pages;
    requires bytes: page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8 <= p->page_max;
    assigns p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures pages: p->pages == \old(p->pages) - (\result == 0 ? 1 : 0); */
static int join_in_index(struct opt_packed *p, size_t i)
{
  struct opt_page *both = joined_page(p, i);
  if (both == NULL)
    return PPRF_ERR_NOMEM;
  PAGE_OF_BOTH
  struct opt_page *first = p->page[i], *second = p->page[i + 1];
  replace_two(p, i, both);
  ONE_IS_COUNTED
  drop_two(first, second) /*@ ghost (p) */;
  JOINED_STORE
  return PPRF_OK;
}

int opt_packed_join(struct opt_packed *p, size_t i)
{
  int err = join_in_index(p, i);
  if (err == PPRF_OK)
    opt_index_tidy(p);
  return err;
}

/* Join page i to a neighbour if both are small.  Returns the page's index afterwards. */
/*@ requires store: packed_key(root, p) && i < p->pages;
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p) && \result < p->pages;
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static size_t join_small(struct opt_packed *p, size_t i)
{
  size_t small = p->page_max / 4;
  PAGE_TO_TIDY
  if (opt_page_used(p->page[i]) >= small)
    return i;
  if (i + 1 < p->pages && opt_page_used(p->page[i + 1]) < small) {
    (void)opt_packed_join(p, i);
    SAME_SET_JOINED
    return i;
  }
  if (i == 0 || opt_page_used(p->page[i - 1]) >= small)
    return i;
  int err = opt_packed_join(p, i - 1);
  SAME_SET_JOINED
  return err == PPRF_OK ? i - 1 : i;
}

/* Shrink the block of page i if that frees more than an eighth of it. */
/*@ requires store: packed_key(root, p) && i < p->pages;
    assigns p->page[i] \from p->page[i], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static void shrink_page(struct opt_packed *p, size_t i)
{
  PAGE_TO_TIDY
  size_t bytes = opt_page_used(p->page[i]);
  if (opt_arena_fit(bytes) < p->page[i]->bytes - p->page[i]->bytes / 8u) {
    (void)opt_packed_resize(p, i, bytes);
    PAGE_IS_LESS
  }
}

void opt_packed_tidy(struct opt_packed *p, size_t i)
{
  i = join_small(p, i);
  shrink_page(p, i);
}

/* ---- a puncture ---- */

/* Whether a page's block has room for a puncture below a tile of height h without exceeding
 * `most` bytes. */
/*@ requires page: page_fits(page) && 1 <= h <= 63;
    assigns \nothing;
    ensures \result != 0 <==> page_bytes(page) + 17 * h - 16 <= page->bytes &&
      page_bytes(page) + 17 * h - 16 <= most; */
static inline int has_room(const struct opt_page *page, unsigned h, unsigned most)
{
  size_t bytes = opt_page_used_after(page, h);
  return bytes <= page->bytes && bytes <= most;
}

/* opt_packed_give_room for a whole store. */
/*@ requires store: packed_key(root, p) && leaf < pow2(p->depth) && 1 <= h <= p->depth;
    requires index: leaf_fits(p, leaf, h, p->page_max) || p->pages + 2 <= p->room;
    assigns p->pages, p->first[1 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: \result == 0 ==> leaf_has_room(p, leaf, h) &&
      leaf_fits(p, leaf, h, p->page_max); */
static inline int give_room(struct opt_packed *p, uint64_t leaf, unsigned h)
{
  STORE_TO_GROW
  int err = opt_packed_give_room(p, leaf, h);
  STORE_HAS_ROOM
  return err;
}

/* Make room for a puncture below a tile of height h in page i, which covers the leaf; 0, or
 * PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && 1 <= h <= p->depth;
    requires page: i < p->pages && p->first[i] <= leaf < page_end(p, i);
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: \result == 0 ==> leaf_has_room(p, leaf, h) &&
      leaf_fits(p, leaf, h, p->page_max); */
static int ready_page(struct opt_packed *p, size_t i, uint64_t leaf, unsigned h)
{
  PAGE_TO_GROW
  int err = PPRF_OK;
  if (opt_page_used_after(p->page[i], h) > p->page_max)
    err = opt_index_reserve(p, p->pages + 2); /* two: 32-byte seeds may need two splits */
  INDEX_HAS_ROOM
  if (err == PPRF_OK)
    err = give_room(p, leaf, h);
  TILES_AS_BEFORE
  return err;
}

/* Puncture a leaf at a place in page i, below a tile of height h, with room for it; the index is
 * unchanged. */
/*@ requires store: packed_key(root, p);
    requires place: i < p->pages && place_of_leaf(p, i, at, leaf) && h <= 63 &&
      tile_byte(page_row(p->page[i]), at.tile) == OPT_TILE_LIVE + h;
    requires room: h > 0 ==> page_bytes(p->page[i]) + 17 * h - 16 <= p->page[i]->bytes;
    requires fits: h > 0 ==> page_bytes(p->page[i]) + 17 * h - 16 <= p->page_max;
    requires memory: h > 0 ==> \valid_read(copath + (0 .. h - 1)) && copath_apart(p, copath, h);
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, h);
    assigns p->nodes, opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_key(root, p);
    ensures punctured: \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf;
    ensures count: p->nodes == \old(p->nodes) + h - 1;
    ensures pages: p->pages == \old(p->pages); */
static inline void puncture_at(struct opt_packed *p, size_t i, struct opt_place at, uint64_t leaf,
                               unsigned h, const struct pprf_seed *copath)
{
  PLACE_TO_PUNCTURE
  opt_index_puncture(p, i, at, leaf, h, copath);
  PLACE_IS_PUNCTURED
}

/* ready_page, with the proof that the co-path's seeds are separate from what it changes. */
/*@ requires store: packed_key(root, p) && 1 <= h <= p->depth;
    requires page: i < p->pages && p->first[i] <= leaf < page_end(p, i);
    requires memory: \valid_read(copath + (0 .. h - 1)) && copath_apart(p, copath, h);
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, h);
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures nodes: p->nodes == \old(p->nodes);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: \result == 0 ==> leaf_has_room(p, leaf, h) && leaf_fits(p, leaf, h, p->page_max);
    ensures copath: copath_seeds(root, p->depth, leaf, copath, 0, h); */
static inline int ready_node(struct opt_packed *p, size_t i, uint64_t leaf, unsigned h)
  /*@ ghost (const struct pprf_seed *copath) */
{
  COPATH_IS_APART
  int err = ready_page(p, i, leaf, h);
  COPATH_AS_BEFORE
  return err;
}

/* Puncture a leaf below a tile of height h in page i, which has no room yet. */
/*@ requires store: packed_key(root, p) && 1 <= h <= p->depth;
    requires tile: packed_tile(p, OPT_TILE_LIVE + h, start) && covers(start, h, leaf);
    requires page: i < p->pages && p->first[i] <= leaf < page_end(p, i);
    requires memory: \valid_read(copath + (0 .. h - 1)) && copath_apart(p, copath, h);
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, h);
    assigns p->nodes, p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf;
    ensures count: \result == 0 ==> p->nodes == \old(p->nodes) + h - 1;
    ensures none: \result != 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static int puncture_grown(struct opt_packed *p, size_t i, uint64_t leaf, unsigned h,
                          const struct pprf_seed *copath)
  /*@ ghost (uint64_t start) */
{
  int err = ready_node(p, i, leaf, h) /*@ ghost (copath) */;
  if (err != PPRF_OK)
    return err;
  i = opt_page_of(p, leaf);
  struct opt_place at = opt_place_in(p, i, leaf);
  TILE_OF_LEAF
  puncture_at(p, i, at, leaf, h, copath);
  return PPRF_OK;
}

/* Puncture a leaf of a live node in page i. */
/*@ requires store: packed_key(root, p);
    requires node: packed_node(p, node) && covers(node.start, node.height, leaf) &&
      node.height <= p->depth;
    requires page: i < p->pages && p->first[i] <= leaf < page_end(p, i);
    requires memory: node.height > 0 ==> \valid_read(copath + (0 .. node.height - 1)) &&
      copath_apart(p, copath, node.height);
    requires copath: copath_seeds(root, p->depth, leaf, copath, 0, node.height);
    assigns p->nodes, p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || x == leaf;
    ensures count: \result == 0 ==> p->nodes == \old(p->nodes) + node.height - 1;
    ensures none: \result != 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures page: node.height == 0 ==> i < p->pages; */
static int puncture_node(struct opt_packed *p, size_t i, uint64_t leaf, struct opt_node node,
                         const struct pprf_seed *copath)
{
  unsigned h = node.height;
  struct opt_place at = opt_place_of(node);
  TILE_OF_NODE
  if (h > 0 && !has_room(p->page[i], h, p->page_max))
    return puncture_grown(p, i, leaf, h, copath) /*@ ghost (node.start) */;
  puncture_at(p, i, at, leaf, h, copath);
  return PPRF_OK;
}

/* In a store of many pages, pages may be as large as the arena's largest block. */
/*@ requires store: packed_key(root, p);
    assigns p->page_max;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void set_page_max(struct opt_packed *p)
{
  if (p->pages > p->many)
    p->page_max = OPT_ARENA_MAX;
}

int opt_packed_puncture(struct opt_packed *p, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath)
{
  NODE_IN_TREE
  size_t i = opt_page_of(p, leaf);
  int err = puncture_node(p, i, leaf, node, copath);
  set_page_max(p);
  if (err == PPRF_OK && node.height == 0)
    opt_packed_tidy(p, i);
  return err;
}

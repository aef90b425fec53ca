/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing pages of a store by a draft's (splice.h). */
#include "splice.h"

#include "../wp/index_steps.h"

#include "wp/splice_steps.h"

/* ---- the index ---- */

/* Move n entries of `first` from one place to another. */
/*@ requires memory: \valid(first + (0 .. room - 1)) && from + n <= room && to + n <= room;
    assigns first[to .. to + n - 1];
    ensures moved: \forall integer k; to <= k < to + n ==>
      first[k] == \old(first[k - to + from]); */
static inline void move_firsts(uint64_t *first, size_t from, size_t to, size_t n)
  /*@ ghost (size_t room) */
{
  if (to < from)
    /*@ loop invariant 0 <= k <= n;
        loop invariant moved: \forall integer j; to <= j < to + k ==>
          first[j] == \at(first[j - to + from],Pre);
        loop invariant rest: \forall integer j; to + k <= j < room ==>
          first[j] == \at(first[j],Pre);
        loop assigns k, first[to .. to + n - 1];
        loop variant n - k; */
    for (size_t k = 0; k < n; k++)
      first[to + k] = first[from + k];
  else if (to > from)
    /*@ loop invariant 0 <= k <= n;
        loop invariant moved: \forall integer j; to + k <= j < to + n ==>
          first[j] == \at(first[j - to + from],Pre);
        loop invariant rest: \forall integer j; 0 <= j < to + k ==> first[j] == \at(first[j],Pre);
        loop assigns k, first[to .. to + n - 1];
        loop variant k; */
    for (size_t k = n; k > 0; k--)
      first[to + k - 1] = first[from + k - 1];
}

/* The same for `page`. */
/*@ requires memory: \valid(page + (0 .. room - 1)) && from + n <= room && to + n <= room;
    assigns page[to .. to + n - 1] \from page[from .. from + n - 1];
    ensures moved: \forall integer k; to <= k < to + n ==> page[k] == \old(page[k - to + from]); */
static inline void move_pages(struct opt_page **page, size_t from, size_t to, size_t n)
  /*@ ghost (size_t room) */
{
  if (to < from)
    /*@ loop invariant 0 <= k <= n;
        loop invariant moved: \forall integer j; to <= j < to + k ==>
          page[j] == \at(page[j - to + from],Pre);
        loop invariant rest: \forall integer j; to + k <= j < room ==> page[j] == \at(page[j],Pre);
        loop assigns k, page[to .. to + n - 1];
        loop variant n - k; */
    for (size_t k = 0; k < n; k++)
      page[to + k] = page[from + k];
  else if (to > from)
    /*@ loop invariant 0 <= k <= n;
        loop invariant moved: \forall integer j; to + k <= j < to + n ==>
          page[j] == \at(page[j - to + from],Pre);
        loop invariant rest: \forall integer j; 0 <= j < to + k ==> page[j] == \at(page[j],Pre);
        loop assigns k, page[to .. to + n - 1];
        loop variant k; */
    for (size_t k = n; k > 0; k--)
      page[to + k - 1] = page[from + k - 1];
}

/* Copy the first leaves of n pages into an index, from place `at` on. */
/*@ requires memory: \valid(first + (at .. at + n - 1)) && \valid_read(starts + (0 .. n - 1)) &&
      \separated(first + (at .. at + n - 1), starts + (0 .. n - 1)) && at + n <= 0x7fffffffffffffff;
    assigns first[at .. at + n - 1];
    ensures put: \forall integer k; at <= k < at + n ==> first[k] == \old(starts[k - at]); */
static inline void put_firsts(uint64_t *first, size_t at, const uint64_t *starts, size_t n)
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant put: \forall integer j; at <= j < at + k ==>
        first[j] == \at(starts[j - at],Pre);
      loop assigns k, first[at .. at + n - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    first[at + k] = starts[k];
}

/* The same for the pages. */
/*@ requires memory: \valid(page + (at .. at + n - 1)) && \valid_read(blocks + (0 .. n - 1)) &&
      \separated(page + (at .. at + n - 1), blocks + (0 .. n - 1)) && at + n <= 0x7fffffffffffffff;
    assigns page[at .. at + n - 1] \from blocks[0 .. n - 1];
    ensures put: \forall integer k; at <= k < at + n ==> page[k] == \old(blocks[k - at]); */
static inline void put_pages(struct opt_page **page, size_t at, struct opt_page *const *blocks,
                             size_t n)
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant put: \forall integer j; at <= j < at + k ==>
        page[j] == \at(blocks[j - at],Pre);
      loop assigns k, page[at .. at + n - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    page[at + k] = blocks[k];
}

/* Number of seeds in n pages of the index. */
/*@ requires index: at + n <= p->pages <= OPT_INDEX_MAX && \valid_read(p) &&
      \valid_read(p->page + (0 .. p->pages - 1));
    requires pages: \forall integer k; at <= k < at + n ==> \valid_read(p->page[k]);
    assigns \nothing;
    ensures seeds: \result == seeds_in_pages(p, at + n) - seeds_in_pages(p, at);
    ensures bound: \result <= 0xffff * n; */
static inline uint64_t seeds_between(const struct opt_packed *p, size_t at, size_t n)
{
  uint64_t seeds = 0;
  /*@ loop invariant 0 <= k <= n;
      loop invariant seeds: seeds == seeds_in_pages(p, at + k) - seeds_in_pages(p, at);
      loop invariant bound: seeds <= 0xffff * k;
      loop assigns k, seeds;
      loop variant n - k; */
  for (size_t k = 0; k < n; k++) {
    seeds += p->page[at + k]->seeds;
  }
  return seeds;
}

/* Write n pages over pages from .. to of the index; the pages after those move. */
/*@ requires index: index_apart(p) && from <= to < p->pages;
    requires room: 1 <= n && p->pages - (to - from + 1) + n <= p->room <= OPT_INDEX_MAX;
    requires memory: run_apart(p, starts, blocks, n);
    assigns p->first[from .. p->room - 1];
    assigns p->page[from .. p->room - 1] \from p->page[from .. p->room - 1], blocks[0 .. n - 1];
    ensures new: \forall integer k; from <= k < from + n ==>
      p->first[k] == \old(starts[k - from]) && p->page[k] == \old(blocks[k - from]);
    ensures behind: \forall integer k; from + n <= k < p->pages - (to - from + 1) + n ==>
      p->first[k] == \old(p->first[k - n + (to - from + 1)]) &&
      p->page[k] == \old(p->page[k - n + (to - from + 1)]); */
static inline void write_run(struct opt_packed *p, size_t from, size_t to, const uint64_t *starts,
                             struct opt_page *const *blocks, size_t n)
{
  size_t behind = p->pages - to - 1;
  move_firsts(p->first, to + 1, from + n, behind) /*@ ghost (p->room) */;
  move_pages(p->page, to + 1, from + n, behind) /*@ ghost (p->room) */;
  REST_IS_MOVED
  put_firsts(p->first, from, starts, n);
  put_pages(p->page, from, blocks, n);
  RUN_IS_WRITTEN
}

/* write_run, counting pages and nodes; the replaced pages had `seeds` seeds. */
/*@ requires index: index_apart(p) && from <= to < p->pages;
    requires room: 1 <= n && p->pages - (to - from + 1) + n <= p->room <= OPT_INDEX_MAX;
    requires memory: run_apart(p, starts, blocks, n);
    requires own: run_own(blocks, n);
    requires seeds: seeds <= p->nodes <= 0x8000000000000000;
    assigns p->nodes, p->pages, p->first[from .. p->room - 1];
    assigns p->page[from .. p->room - 1] \from p->page[from .. p->room - 1], blocks[0 .. n - 1];
    ensures apart: index_apart(p) && p->room == \old(p->room);
    ensures pages: p->pages == \old(p->pages) - (to - from + 1) + n;
    ensures before: \forall integer k; 0 <= k < from ==>
      p->first[k] == \old(p->first[k]) && p->page[k] == \old(p->page[k]);
    ensures new: \forall integer k; from <= k < from + n ==>
      p->first[k] == \old(starts[k - from]) && p->page[k] == \old(blocks[k - from]);
    ensures behind: \forall integer k; from + n <= k < p->pages ==>
      p->first[k] == \old(p->first[k - n + (to - from + 1)]) &&
      p->page[k] == \old(p->page[k - n + (to - from + 1)]);
    ensures nodes: p->nodes == \old(p->nodes) - seeds + seeds_in_pages(p, from + n) -
      seeds_in_pages(p, from);
    ensures kept: \forall struct opt_page *q; a_page(q) ==> page_kept{Pre,Post}(q); */
static inline void count_run(struct opt_packed *p, size_t from, size_t to, const uint64_t *starts,
                             struct opt_page *const *blocks, size_t n, uint64_t seeds)
{
  write_run(p, from, to, starts, blocks, n);
  p->pages = p->pages - (to - from + 1) + n;
  RUN_IS_PUT
  p->nodes = p->nodes - seeds + seeds_between(p, from, n);
  INDEX_IS_APART
  OTHERS_KEPT
  RUN_IS_APART
}

/* count_run, with the proof that the index is in order. */
/*@ requires index: index_of_pages(p) && index_apart(p) && pages_distinct(p) &&
      from <= to < p->pages;
    requires room: 1 <= n && p->pages - (to - from + 1) + n <= p->room <= OPT_INDEX_MAX;
    requires memory: run_apart(p, starts, blocks, n);
    requires order: run_order(starts, n, p->first[from], page_end(p, to));
    requires own: run_own(blocks, n) && run_distinct(blocks, n) && run_new(p, blocks, n);
    requires seeds: seeds <= p->nodes <= 0x8000000000000000;
    assigns p->nodes, p->pages, p->first[from .. p->room - 1];
    assigns p->page[from .. p->room - 1] \from p->page[from .. p->room - 1], blocks[0 .. n - 1];
    ensures index: index_of_pages(p) && index_apart(p) && pages_distinct(p);
    ensures room: p->room == \old(p->room);
    ensures spliced: index_spliced{Pre,Post}(p, from, to, starts, blocks, n);
    ensures nodes: p->nodes == \old(p->nodes) - seeds + seeds_in_pages(p, from + n) -
      seeds_in_pages(p, from);
    ensures kept: \forall struct opt_page *q; a_page(q) ==> page_kept{Pre,Post}(q); */
static inline void put_run_in(struct opt_packed *p, size_t from, size_t to, const uint64_t *starts,
                              struct opt_page *const *blocks, size_t n, uint64_t seeds)
{
  RUN_TO_PUT
  count_run(p, from, to, starts, blocks, n, seeds);
  RUN_IN_ORDER
}

/* ---- the pages ---- */

/* Free pages from .. to, which the index still names.  Returns how many seeds they had. */
/*@ requires store: packed_owns(p) && index_of_pages(p) && from <= to < p->pages <= OPT_INDEX_MAX;
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures index: index_of_pages(p) && index_apart(p) && pages_distinct(p);
    ensures seeds: \result == seeds_in_pages{Pre}(p, to + 1) - seeds_in_pages{Pre}(p, from);
    ensures blocks: blocks_but{Pre,Post}(p, from, to + 1);
    ensures wiped: \forall integer k; from <= k <= to ==> page_wiped(p->page[k]); */
static inline uint64_t drop_run(const struct opt_packed *p, size_t from, size_t to)
{
  uint64_t seeds = 0;
  /*@ loop invariant place: from <= i <= to + 1;
      loop invariant seeds: seeds == seeds_in_pages{Pre}(p, i) - seeds_in_pages{Pre}(p, from);
      loop invariant bound: seeds <= 0xffff * (i - from);
      loop invariant blocks: blocks_but{Pre,Here}(p, from, i);
      loop invariant wiped: \forall integer k; from <= k < i ==> page_wiped(p->page[k]);
      loop assigns i, seeds, opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant to + 1 - i; */
  for (size_t i = from; i <= to; i++) {
    PAGE_TO_DROP
    seeds += p->page[i]->seeds;
    opt_page_give_back(p->page[i]);
    PAGE_IS_DROPPED
  }
  RUN_IS_DROPPED
  return seeds;
}

/* Replace pages from .. to by n pages; the contract says what has changed in the index and the
 * blocks. */
/*@ requires store: packed_owns(p) && index_of_pages(p) && from <= to < p->pages;
    requires room: 1 <= n && p->pages - (to - from + 1) + n <= p->room <= OPT_INDEX_MAX;
    requires memory: run_apart(p, first, page, n);
    requires order: run_order(first, n, p->first[from], page_end(p, to));
    requires own: run_own(page, n) && run_distinct(page, n) && run_new(p, page, n);
    requires seeds: seeds_in_pages(p, to + 1) - seeds_in_pages(p, from) <= p->nodes <=
      0x8000000000000000;
    assigns p->nodes, p->pages, p->first[from .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[from .. p->room - 1] \from p->page[from .. p->room - 1], page[0 .. n - 1];
    ensures index: index_of_pages(p) && index_apart(p) && pages_distinct(p);
    ensures room: p->room == \old(p->room);
    ensures spliced: index_spliced{Pre,Post}(p, from, to, first, page, n);
    ensures nodes: p->nodes == \old(p->nodes) -
      (seeds_in_pages{Pre}(p, to + 1) - seeds_in_pages{Pre}(p, from)) +
      seeds_in_pages(p, from + n) - seeds_in_pages(p, from);
    ensures blocks: blocks_but{Pre,Post}(p, from, to + 1);
    ensures wiped: \forall integer k; from <= k <= to ==> page_wiped(\old(p->page[k])); */
static inline void exchange(struct opt_packed *p, size_t from, size_t to, const uint64_t *first,
                            struct opt_page *const *page, size_t n)
{
  uint64_t seeds = drop_run(p, from, to);
  RUN_IS_NEW
  put_run_in(p, from, to, first, page, n, seeds);
  RUN_IS_IN
}

void opt_packed_splice(struct opt_packed *p, size_t from, size_t to, const uint64_t *first,
                       struct opt_page *const *page, size_t n)
{
  STORE_TO_SPLICE
  exchange(p, from, to, first, page, n);
  RUN_IN_STORE
}

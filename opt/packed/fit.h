/* SPDX-License-Identifier: Apache-2.0 */
/** @file fit.h
 * The memory of a packed store (index.h) as it grows and shrinks: room in the index, joining small
 * pages, shrinking blocks. */
#ifndef PPRF_OPT_FIT_H
#define PPRF_OPT_FIT_H

#include "index.h"

/** Memory for an index. */
struct opt_index {
  uint64_t *first;
  struct opt_page **page;
};

/** Allocate memory for an index of this many pages.
 * @return first is NULL without memory. */
/*@ requires room: 1 <= room;
    assigns \result \from p, room;
    ensures index: \result.first != \null ==> index_block(\result.first, \result.page, room);
    ensures apart: \result.first != \null ==>
      \separated(\result.first + (0 .. room - 1), p->first + (0 .. p->room - 1)) &&
      \separated(\result.page + (0 .. room - 1), p->page + (0 .. p->room - 1)); */
struct opt_index opt_index_new(const struct opt_packed *p, size_t room);

/** Free an index. */
/*@ requires index: index_block(index.first, index.page, room);
    assigns index.first[0 .. room - 1];
    assigns index.page[0 .. room - 1] \from index.page[0 .. room - 1]; */
void opt_index_free(struct opt_index index, size_t room);

/** Make room in the index for this many pages.
 * @retval 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && pages <= 0x7fffffffffffffff;
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: \result == 0 ==> pages <= p->room; */
int opt_index_reserve(struct opt_packed *p, size_t pages);

/** Shrink the index if it is much too large; that may fail for lack of memory without harm. */
/*@ requires store: packed_key(root, p);
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_index_tidy(struct opt_packed *p);

/** Join page i and the next one.
 * @retval 0, or PPRF_ERR_NOMEM: they are unchanged. */
/*@ requires store: packed_key(root, p) && i + 1 < p->pages;
    requires bytes: page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8 <= p->page_max;
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures pages: p->pages == \old(p->pages) - (\result == 0 ? 1 : 0); */
int opt_packed_join(struct opt_packed *p, size_t i);

/** Shrink the block of page i if that frees more than an eighth of it, and join the page to a
 * neighbour if both are small; either may fail for lack of memory without harm. */
/*@ requires store: packed_key(root, p) && i < p->pages;
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_packed_tidy(struct opt_packed *p, size_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file fit.h
 * The memory of a packed store (index.h) as it grows and shrinks: room in the index, small pages to join,
 * blocks that have become too large. */
#ifndef PPRF_OPT_FIT_H
#define PPRF_OPT_FIT_H

#include "index.h"

/** Memory for an index. */
struct opt_index {
  uint64_t *first;
  struct opt_page **page;
};

/** Take memory for an index of so many pages.
 * @return first NULL: there is none. */
/*@ requires room: 1 <= room;
    assigns \result \from p, room;
    ensures index: \result.first != \null ==> index_block(\result.first, \result.page, room);
    ensures apart: \result.first != \null ==>
      \separated(\result.first + (0 .. room - 1), p->first + (0 .. p->room - 1)) &&
      \separated(\result.page + (0 .. room - 1), p->page + (0 .. p->room - 1)); */
struct opt_index opt_index_new(const struct opt_packed *p, size_t room);

/** Give it back. */
/*@ requires index: index_block(index.first, index.page, room);
    assigns index.first[0 .. room - 1];
    assigns index.page[0 .. room - 1] \from index.page[0 .. room - 1]; */
void opt_index_free(struct opt_index index, size_t room);

/** Have room in the index for so many pages.
 * @retval 0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && pages <= 0x7fffffffffffffff;
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first, p->page,
      p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures room: \result == 0 ==> pages <= p->room; */
int opt_index_reserve(struct opt_packed *p, size_t pages);

/** Give back what the index has too much; that there is no memory for less does not matter. */
/*@ requires store: packed_key(root, p);
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first, p->page,
      p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_index_tidy(struct opt_packed *p);

/** Make page i and the next one a single page.
 * @retval 0, or PPRF_ERR_NOMEM: they are what they were. */
/*@ requires store: packed_key(root, p) && i + 1 < p->pages;
    requires bytes: page_bytes(p->page[i]) + page_bytes(p->page[i + 1]) - 8 <= p->page_max;
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first, p->page,
      p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures pages: p->pages == \old(p->pages) - (\result == 0 ? 1 : 0); */
int opt_packed_join(struct opt_packed *p, size_t i);

/** Give back what page i has too much, more than an eighth of it, and join it to one beside it if both are
 * small; that there is no memory for less does not matter. */
/*@ requires store: packed_key(root, p) && i < p->pages;
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first, p->page,
      p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_packed_tidy(struct opt_packed *p, size_t i);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file splice.h
 * Replacing a run of a store's pages by new ones (draft.h). */
#ifndef PPRF_OPT_PACKED_SPLICE_H
#define PPRF_OPT_PACKED_SPLICE_H

#include "draft.h"

#ifdef __FRAMAC__
#include "splice.acsl"
#endif

/** Replace a store's pages from .. to by n new pages; the old ones are wiped and freed.  The index
 * must have room.
 * @param[in] first  the first leaf of each new page; first[0] is that of page `from`. */
/*@ requires store: packed_key(root, p) && from <= to < p->pages;
    requires room: 1 <= n && p->pages - (to - from + 1) + n <= p->room;
    requires memory: run_apart(p, first, page, n);
    requires pages: run_holds(root, p->depth, first, page, n, p->first[from], page_end(p, to));
    requires own: run_own(page, n) && run_distinct(page, n) && run_new(p, page, n) &&
      run_within(page, n, p->page_max);
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], page[0 .. n - 1];
    ensures store: packed_key(root, p);
    ensures punctured: \forall integer x; packed_punctured(p, x) <==>
      (\old(p->first[from]) <= x < page_end{Pre}(p, to) ? run_punctured{Pre}(first, page, n, x)
                                                       : packed_punctured{Pre}(p, x));
    ensures index: index_spliced{Pre,Post}(p, from, to, first, page, n);
    ensures blocks: blocks_but{Pre,Post}(p, from, to + 1);
    ensures wiped: \forall integer k; from <= k <= to ==> page_wiped(\old(p->page[k])); */
void opt_packed_splice(struct opt_packed *p, size_t from, size_t to, const uint64_t *first,
                       struct opt_page *const *page, size_t n);

#endif

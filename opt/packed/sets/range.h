/* SPDX-License-Identifier: Apache-2.0 */
/** @file range.h
 * The puncture of a range of leaves in a packed store (index.h): the pages with such leaves are
 * written anew. */
#ifndef PPRF_OPT_PACKED_RANGE_H
#define PPRF_OPT_PACKED_RANGE_H

#include "../fit.h"
#include "../draft/rewrite.h"
#include "../draft/splice.h"

#ifdef __FRAMAC__
#include "range.acsl"
#endif

/** Puncture the leaves first .. last, at least one of which is live.
 * @param[in] left   what remains before `first` of the live node that covers it, ascending; none if
 *                   first is punctured.
 * @param[in] right  what remains after `last` of the live node that covers it, descending; none if
 *                   last is punctured.
 * @retval 0, or PPRF_ERR_NOMEM: the punctured leaves are unchanged. */
/*@ OPT_PACKED_RANGE
    assigns p->nodes, p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || first <= x <= last;
    ensures none: \result != 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
int opt_packed_puncture_range(struct opt_packed *p, uint64_t first, uint64_t last,
                              const struct opt_entry *left, unsigned lefts,
                              const struct opt_entry *right, unsigned rights);

#endif

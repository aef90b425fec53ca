/* SPDX-License-Identifier: Apache-2.0 */
/** @file splice_runs.h
 * Replacing the old pages by the runs that were written without a set of leaves (runs.h). */
#ifndef PPRF_OPT_PACKED_SPLICE_RUNS_H
#define PPRF_OPT_PACKED_SPLICE_RUNS_H

#include "runs.h"

#ifdef __FRAMAC__
#include "splice_runs.acsl"
#endif

/** Replace a store's pages by those of a draft, run by run; the index has room.  Afterwards the set
 * is punctured.
 * @param[in,out] run  the runs; afterwards only the place and the number of each one's new
 * pages. */
/*@ requires store: packed_key(root, p) && draft_beside(d, p) && draft_apart(d);
    requires runs: runs_apart(p, d, run, runs) && runs_to_come(root, p, d, run, runs, leaves);
    requires pages: d->n <= d->room && pages_to_come(p, d, d->n) && p->pages + d->n <= p->room;
    requires set: set_in_tree(p->depth, leaves) &&
      none_between(leaves, runs_end(p, run, runs), pow2(p->depth));
    assigns run[0 .. runs - 1];
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], d->pages[0 .. d->room - 1];
    ensures store: packed_key(root, p);
    ensures index: p->first == \old(p->first) && p->page == \old(p->page) &&
      p->room == \old(p->room);
    ensures punctured: \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || in_set(leaves, x); */
void opt_packed_splice_runs(struct opt_packed *p, const struct opt_draft *d, struct opt_run *run,
                            size_t runs) /*@ ghost (size_t leaves) */;

/** Free what the index and the new pages do not use.
 * @param[in] run  where the new pages are, as above. */
/*@ requires store: packed_key(root, p);
    requires memory: \valid_read(run + (0 .. runs - 1)) && \separated(run + (0 .. runs - 1), p);
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_packed_tidy_runs(struct opt_packed *p, const struct opt_run *run, size_t runs);

#endif

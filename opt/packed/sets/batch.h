/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch.h
 * The puncture of a set of leaves in a packed store (index.h). */
#ifndef PPRF_OPT_PACKED_BATCH_H
#define PPRF_OPT_PACKED_BATCH_H

#include "splice_runs.h"

#ifdef __FRAMAC__
#include "batch.acsl"
#endif

/** Puncture a set of leaves: the pages with such leaves are written anew, and replace the old ones
 * when all are complete.
 * @param[in] c     fewer than 2^48 leaves, all live, and fewer than 2^48 nodes.
 * @param[out] run  memory for as many runs as the set has leaves, or the store has pages.
 * @retval 0, or PPRF_ERR_NOMEM: the punctured leaves are unchanged. */
/*@ requires store: packed_key(root, p) && p->pages <= 0xffffffff;
    requires set: set_of_store(p, c) && set_there(root, p->depth, c) && set_beside(p, c);
    requires few: c.leaves <= 0xffffffffffff && c.nodes <= 0xffffffffffff;
    requires runs: runs_outside(p, c, run, most) && runs_fewer(p, c, most);
    assigns run[0 .. most - 1], p->nodes, p->pages, p->room, p->one_first,
      opt_pages[0 .. OPT_PAGES_MAX - 1], opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || in_set(c.leaves, x);
    ensures none: \result != 0 ==> p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
int opt_packed_puncture_runs(struct opt_packed *p, struct opt_set c, struct opt_run *run)
  /*@ ghost (size_t most) */;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file runs.h
 * The runs of pages of a packed store (index.h) that have leaves of a set: they are written anew
 * into one draft, and replace the old ones when all are complete. */
#ifndef PPRF_OPT_PACKED_RUNS_H
#define PPRF_OPT_PACKED_RUNS_H

#include "set.h"

/** Pages of a store to be replaced, and in the draft the first new page and their number. */
struct opt_run {
  unsigned from, to;
  unsigned at, n;
};

#ifdef __FRAMAC__
#include "runs.acsl"
#endif

/** Number of runs written. */
struct opt_runs_put {
  size_t runs;
  int err;
};

/** Write all pages of a store that have leaves of a set into an empty draft, without these leaves.
 * The store is unchanged.
 * @param[out] run  memory for as many runs as the set has leaves, or the store has pages.
 * @return err: 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known of
 * them. */
/*@ requires store: packed_key(root, p) && p->pages <= 0xffffffff && draft_beside(d, p);
    requires draft: draft_own(d) && d->n == 0 && d->nodes == 0 && d->room <= 0xffffffff;
    requires set: set_of_tree(p->depth, c.leaves, c.nodes) && set_in_tree(p->depth, c.leaves) &&
      set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes) &&
      rest_before(c.nodes, 0, 0);
    requires memory: runs_beside(p, d, c, run, most) && (p->pages <= most || c.leaves <= most);
    assigns run[0 .. most - 1], d->at, d->n, d->end, d->nodes, d->first[0 .. d->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d);
    ensures new: run_new(p, d->pages, d->n);
    ensures list: draft_list{Pre,Post}(d);
    ensures store: packed_key(root, p) && draft_beside(d, p);
    ensures index: index_same{Pre,Post}(p) && set_same{Pre,Post}(p);
    ensures runs: \result.err == 0 ==> \result.runs <= most &&
      runs_of(root, p, d, run, \result.runs, c.leaves) && runs_ascend(run, \result.runs) &&
      runs_gaps(p, run, \result.runs, c.leaves) &&
      none_between(c.leaves, runs_end(p, run, \result.runs), pow2(p->depth)); */
struct opt_runs_put opt_packed_put_runs(struct opt_draft *d, const struct opt_packed *p,
                                        struct opt_set c, struct opt_run *run)
  /*@ ghost (size_t most) */;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing the runs of pages that a set affects (runs.h). */
#include "runs.h"

#include "pprf.h"

#include "../wp/index_steps.h"

#include "wp/runs_steps.h"

/* opt_packed_put_run, with the proof that the runs before are unchanged. */
/*@ OPT_RUN_TO_WRITE
    assigns d->at, d->n, d->end, d->nodes, d->first[0 .. d->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    OPT_RUN_IS_WRITTEN */
static inline struct opt_run_put put_run_behind(struct opt_draft *d, const struct opt_packed *p,
                                                size_t i, struct opt_set c, struct opt_set_place at)
  /*@ ghost (const struct opt_run *run, size_t k) */
{
  RUNS_BEFORE
  const struct opt_run_put put = opt_packed_put_run(d, p, i, c, at);
  RUNS_STAY
  return put;
}

/* Set run k. */
/*@ requires memory: \valid(run + (0 .. k));
    requires counts: from <= 0xffffffff && to <= 0xffffffff && at <= 0xffffffff && n <= 0xffffffff;
    assigns run[k];
    ensures this: run_from(run, k) == from && run_to(run, k) == to && run_at(run, k) == at &&
      run_n(run, k) == n;
    ensures others: runs_same{Pre,Post}(run, k); */
static inline void set_run(struct opt_run *run, size_t k, size_t from, size_t to, size_t at,
                           size_t n)
{
  run[k].from = (unsigned)from;
  run[k].to = (unsigned)to;
  run[k].at = (unsigned)at;
  run[k].n = (unsigned)n;
}

/* Add a run after the others; all else is unchanged. */
/*@ requires memory: \valid(run + (0 .. k)) && runs_beside(p, d, c, run, k + 1) && k < 0xffffffff;
    requires store: packed_key(root, p) && draft_beside(d, p) && draft_own(d);
    requires set: set_of_tree(p->depth, c.leaves, c.nodes) &&
      set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    requires runs: runs_of(root, p, d, run, k, c.leaves) && runs_ascend(run, k) &&
      runs_gaps(p, run, k, c.leaves) && run_new(p, d->pages, d->n);
    requires this: from <= to < p->pages && p->pages <= 0xffffffff && d->n <= 0xffffffff &&
      d->at < d->n && draft_holds(root, p->depth, d, p->first[from]) && d->end == page_end(p, to);
    requires behind: 0 < k ==> run_to(run, k - 1) < from &&
      run_at(run, k - 1) + run_n(run, k - 1) <= d->at;
    requires gap: none_between(c.leaves, runs_end(p, run, k), p->first[from]);
    requires leaves: \forall integer x; p->first[from] <= x < page_end(p, to) ==>
      (draft_punctured(d, x) <==> packed_punctured(p, x) || in_set(c.leaves, x));
    assigns run[k];
    ensures store: packed_key(root, p) && draft_beside(d, p);
    ensures index: index_same{Pre,Post}(p) && set_same{Pre,Post}(p);
    ensures set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    ensures this: run_to(run, k) == to && run_at(run, k) + run_n(run, k) == d->n;
    ensures runs: runs_of(root, p, d, run, k + 1, c.leaves) && runs_ascend(run, k + 1) &&
      runs_gaps(p, run, k + 1, c.leaves) && run_new(p, d->pages, d->n); */
static inline void note_run(struct opt_run *run, size_t k, size_t from, size_t to,
                            const struct opt_draft *d)
  /*@ ghost (const struct opt_packed *p, struct opt_set c) */
{
  RUN_TO_NOTE
  set_run(run, k, from, to, d->at, d->n - d->at);
  RUN_IS_NOTED
}

struct opt_runs_put opt_packed_put_runs(struct opt_draft *d, const struct opt_packed *p,
                                        struct opt_set c, struct opt_run *run)
  /*@ ghost (size_t most) */
{
  struct opt_set_place at = {0, 0};
  size_t k = 0, next = 0; /* first page after the last run */
  RUNS_TO_PUT
  /*@ loop invariant store: packed_key(root, p) && draft_beside(d, p);
      loop invariant own: draft_own(d) && draft_list{Pre,Here}(d);
      loop invariant index: index_same{Pre,Here}(p) && set_same{Pre,Here}(p);
      loop invariant set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
      loop invariant runs: runs_of(root, p, d, run, k, c.leaves) && runs_ascend(run, k) &&
        runs_gaps(p, run, k, c.leaves) && run_new(p, d->pages, d->n);
      loop invariant place: k <= next <= p->pages && next == (k == 0 ? 0 : run_to(run, k - 1) + 1);
      loop invariant few: k <= c.leaves && (0 < k ==> set_leaf(k - 1) < runs_end(p, run, k));
      loop invariant before: set_before(c.leaves, at.leaf, runs_end(p, run, k)) &&
        rest_before(c.nodes, at.node, runs_end(p, run, k));
      loop invariant draft: d->nodes <= runs_end(p, run, k) &&
        d->n == (k == 0 ? 0 : run_at(run, k - 1) + run_n(run, k - 1));
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns k, next, at, run[0 .. most - 1], d->at, d->n, d->end, d->nodes,
        firsts[0 .. room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant p->pages - next; */
  while (next < p->pages) {
    RUNS_SO_FAR
    at.leaf = opt_set_from(c, at.leaf, p->first[next]);
    if (at.leaf == c.leaves)
      break;
    size_t from = opt_page_of(p, c.leaf[at.leaf]);
    NEXT_RUN
    const struct opt_run_put put = put_run_behind(d, p, from, c, at) /*@ ghost (run, k) */;
    NEXT_RUN_IS_PUT
    if (put.put.err != PPRF_OK)
      return (struct opt_runs_put){k, put.put.err};
    note_run(run, k, from, put.to, d) /*@ ghost (p, c) */;
    NEXT_RUN_IS_NOTED
    k++;
    next = put.to + 1;
    at = put.put.at;
    ONE_RUN_MORE
  }
  RUNS_ARE_PUT
  return (struct opt_runs_put){k, PPRF_OK};
}

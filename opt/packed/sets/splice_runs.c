/* SPDX-License-Identifier: Apache-2.0 */
/* Replacing the old pages run by run (splice_runs.h). */
#include "splice_runs.h"

#include "rewrite.h"

#include "../wp/index_steps.h"

#include "wp/splice_runs_steps.h"

/* Replace the pages of run k; the runs before it come later. */
/*@ requires store: packed_key(root, p) && draft_beside(d, p) && draft_apart(d);
    requires runs: \valid_read(run + (0 .. k)) &&
      runs_to_come(root, p, d, run, k + 1, leaves);
    requires pages: runs_pages(run, k + 1) <= d->room &&
      pages_to_come(p, d, runs_pages(run, k + 1)) && p->pages + runs_pages(run, k + 1) <= p->room;
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], d->pages[0 .. d->room - 1];
    OPT_RUN_IS_IN_PLACE */
static inline void splice_run(struct opt_packed *p, const struct opt_draft *d,
                              const struct opt_run *run, size_t k)
  /*@ ghost (size_t leaves) */
{
  RUN_TO_SPLICE
  opt_packed_splice(p, run[k].from, run[k].to, d->first + run[k].at, d->pages + run[k].at,
                    run[k].n);
  RUN_IS_SPLICED
}

/* splice_run, with the proof that the notes on where runs begin stay valid. */
/*@ requires store: packed_key(root, p) && draft_beside(d, p) && draft_apart(d);
    requires runs: k < runs && \valid_read(run + (0 .. runs - 1)) &&
      runs_to_come(root, p, d, run, k + 1, leaves);
    requires pages: runs_pages(run, k + 1) <= d->room &&
      pages_to_come(p, d, runs_pages(run, k + 1)) && p->pages + runs_pages(run, k + 1) <= p->room;
    requires starts: runs_start(d, run, runs, p->depth);
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], d->pages[0 .. d->room - 1];
    OPT_RUN_IS_IN_PLACE
    ensures starts: runs_start(d, run, runs, p->depth); */
static inline void splice_next(struct opt_packed *p, const struct opt_draft *d,
                               const struct opt_run *run, size_t k)
  /*@ ghost (size_t leaves, size_t runs) */
{
  STARTS_NOTED
  splice_run(p, d, run, k) /*@ ghost (leaves) */;
  STARTS_STAY
}

/* Replace all runs, the last one first: the pages before it do not move. */
/*@ requires store: packed_key(root, p) && draft_beside(d, p) && draft_apart(d);
    requires runs: \valid_read(run + (0 .. runs - 1)) &&
      runs_to_come(root, p, d, run, runs, leaves);
    requires pages: d->n <= d->room && pages_to_come(p, d, d->n) && p->pages + d->n <= p->room;
    requires set: set_in_tree(p->depth, leaves) &&
      none_between(leaves, runs_end(p, run, runs), pow2(p->depth));
    requires starts: runs_start(d, run, runs, p->depth);
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], d->pages[0 .. d->room - 1];
    ensures store: packed_key(root, p);
    ensures punctured: \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || in_set(leaves, x);
    ensures index: p->first == \old(p->first) && p->page == \old(p->page) &&
      p->room == \old(p->room);
    ensures draft: draft_apart(d) && d->room == \old(d->room) && d->first == \old(d->first);
    ensures starts: runs_start(d, run, runs, p->depth); */
static inline void splice_all(struct opt_packed *p, const struct opt_draft *d,
                              const struct opt_run *run, size_t runs)
  /*@ ghost (size_t leaves) */
{
  RUNS_TO_SPLICE
  /*@ loop invariant place: 0 <= k <= runs;
      loop invariant store: packed_key(root, p) && draft_beside(d, p) && draft_apart(d);
      loop invariant runs: runs_to_come(root, p, d, run, k, leaves);
      loop invariant few: runs_pages(run, k) <= d->room;
      loop invariant pages: pages_to_come(p, d, runs_pages(run, k));
      loop invariant fit: p->pages + runs_pages(run, k) <= p->room;
      loop invariant index: p->first == index && p->page == list && p->room == room;
      loop invariant punctured: \forall integer x; packed_punctured(p, x) <==>
        packed_punctured{Pre}(p, x) || in_set(leaves, x) && runs_end(p, run, k) <= x;
      loop invariant starts: runs_start(d, run, runs, p->depth);
      loop assigns k, p->nodes, p->pages, index[0 .. room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns list[0 .. room - 1] \from list[0 .. room - 1], d->pages[0 .. d->room - 1];
      loop variant k; */
  for (size_t k = runs; k > 0; k--) {
    NEXT_TO_SPLICE
    splice_next(p, d, run, k - 1) /*@ ghost (leaves, runs) */;
    NEXT_IS_SPLICED
  }
}

/* Note where the pages of run k are now. */
/*@ requires store: packed_key(root, p) && runs_apart(p, d, run, runs) && k < runs;
    requires draft: draft_apart(d) && runs_start(d, run, runs, p->depth);
    assigns run[k].from;
    ensures store: packed_key(root, p) && runs_apart(p, d, run, runs);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures draft: draft_apart(d) && runs_start(d, run, runs, p->depth); */
static inline void find_run(const struct opt_packed *p, const struct opt_draft *d,
                            struct opt_run *run, size_t k)
  /*@ ghost (size_t runs) */
{
  RUN_TO_FIND
  run[k].from = (unsigned)opt_page_of(p, d->first[run[k].at]);
  RUN_IS_FOUND
}

/* Note it for all runs. */
/*@ requires store: packed_key(root, p) && runs_apart(p, d, run, runs);
    requires draft: draft_apart(d) && runs_start(d, run, runs, p->depth);
    assigns run[0 .. runs - 1];
    ensures store: packed_key(root, p) && runs_apart(p, d, run, runs);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void find_runs(const struct opt_packed *p, const struct opt_draft *d,
                             struct opt_run *run, size_t runs)
{
  /*@ loop invariant place: 0 <= k <= runs;
      loop invariant store: packed_key(root, p) && runs_apart(p, d, run, runs);
      loop invariant same: \forall integer x; packed_punctured(p, x) <==>
        packed_punctured{Pre}(p, x);
      loop invariant draft: draft_apart(d) && runs_start(d, run, runs, p->depth);
      loop assigns k, run[0 .. runs - 1];
      loop variant runs - k; */
  for (size_t k = 0; k < runs; k++)
    find_run(p, d, run, k) /*@ ghost (runs) */;
}

void opt_packed_splice_runs(struct opt_packed *p, const struct opt_draft *d, struct opt_run *run,
                            size_t runs) /*@ ghost (size_t leaves) */
{
  NOTE_STARTS
  splice_all(p, d, run, runs) /*@ ghost (leaves) */;
  RUNS_ARE_IN
  find_runs(p, d, run, runs);
}

/* The last run first: a page that is joined to another moves only those after it. */
void opt_packed_tidy_runs(struct opt_packed *p, const struct opt_run *run, size_t runs)
{
  opt_index_tidy(p);
  /*@ loop invariant place: 0 <= k <= runs;
      loop invariant store: packed_key(root, p);
      loop invariant same: \forall integer x; packed_punctured(p, x) <==>
        packed_punctured{Pre}(p, x);
      loop assigns k, p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
        opt_firsts[0 .. OPT_INDEX_MAX - 1];
      loop assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
        p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
        opt_lists[0 .. OPT_INDEX_MAX - 1];
      loop variant k; */
  for (size_t k = runs; k > 0; k--)
    opt_packed_tidy_run(p, run[k - 1].from, run[k - 1].n);
}

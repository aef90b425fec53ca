/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/sets/runs.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_RUNS_STEPS_H
#define OPT_WP_PACKED_RUNS_STEPS_H

#include "set_steps.h"

/* The runs written before are unchanged. */
#define RUNS_ARE_KEPT \
  /*@ ghost \
    /@ loop invariant 0 <= j <= k; \
       loop invariant stay: \forall integer q; 0 <= q < j ==> \
         run_of(root, p, d, run, q, c.leaves); \
       loop invariant ends: \forall integer q; 0 <= q < j ==> \
         run_first{Pre}(p, run, q) == run_first(p, run, q) && \
         run_stop{Pre}(p, run, q) == run_stop(p, run, q); \
       loop assigns j; \
       loop variant k - j; @/ \
    for (size_t j = 0; j < k; j++) { \
      /@ assert was: run_of{Pre}(root, p, d, run, j, c.leaves); @/ \
      /@ assert up_to: runs_same{Pre,Here}(run, j + 1); @/ \
      /@ assert is: run_of(root, p, d, run, j, c.leaves); @/ \
    } */

/* put_run_behind */
#define RUNS_BEFORE \
  /*@ ghost size_t n = d->n; */ \
  /*@ assert new_before: \forall integer j, q; 0 <= j < n ==> 0 <= q < p->pages ==> \
        page_at(p, q) != d->pages[j]; */
#define RUNS_STAY \
  /*@ assert same_runs: runs_same{Pre,Here}(run, k); */ \
  /*@ assert set_out: \forall integer x; packed_punctured{Pre}(p, x) ==> \
        packed_punctured(p, x); */ \
  /*@ assert set_in: \forall integer x; packed_punctured(p, x) ==> packed_punctured{Pre}(p, x); */ \
  /*@ assert set: set_same{Pre,Here}(p); */ \
  /*@ assert same: draft_pages_same{Pre,Here}(d, n); */ \
  RUNS_ARE_KEPT \
  /*@ assert ascend: runs_ascend(run, k); */ \
  /*@ assert gaps: runs_gaps(p, run, k, c.leaves); */ \
  /*@ assert not_this: \forall integer q; 0 <= q < p->pages ==> !of_run(d, page_at(p, q)); */ \
  /*@ assert new_still: \forall integer j, q; 0 <= j < n ==> 0 <= q < p->pages ==> \
        page_at(p, q) != d->pages[j]; */ \
  /*@ assert new: run_new(p, d->pages, d->n); */

/* note_run */
#define RUN_TO_NOTE \
  /*@ ghost const struct opt_entry *e = c.rest; */ \
  /*@ ghost size_t n = c.nodes; */ \
  /*@ ghost unsigned depth = p->depth; */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= k; \
       loop invariant counts: run_counts(run, j); \
       loop assigns j; \
       loop variant k - j; @/ \
    for (size_t j = 0; j < k; j++) { \
      /@ assert this_one: run_of(root, p, d, run, j, c.leaves); @/ \
      /@ assert place: run_places(p, d, run, j); @/ \
    } */ \
  /*@ assert counts_before: run_counts(run, k); */ \
  /*@ assert ascend_old: runs_ascend(run, k); */ \
  /*@ assert depth_apart: \separated(&p->depth, run + (0 .. k)) && \
        \separated(&p->page_max, run + (0 .. k)); */
#define RUN_IS_NOTED \
  /*@ assert places: run_from(run, k) == from && run_to(run, k) == to && \
        run_at(run, k) == d->at && run_at(run, k) + run_n(run, k) == d->n; */ \
  /*@ assert same_runs: runs_same{Pre,Here}(run, k); */ \
  /*@ assert counts: run_counts(run, k); */ \
  /*@ assert ascend_before: runs_ascend(run, k); */ \
  /*@ assert last_before: 0 < k ==> run_to(run, k - 1) < from && \
        run_at(run, k - 1) + run_n(run, k - 1) <= d->at; */ \
  /*@ assert all_before: \forall integer j; 0 <= j < k ==> run_to(run, j) < from && \
        run_at(run, j) + run_n(run, j) <= d->at; */ \
  /*@ assert ascend: runs_ascend(run, k + 1); */ \
  /*@ assert same_depth: p->depth == \at(p->depth,Pre) && p->page_max == \at(p->page_max,Pre); */ \
  ALL_IS_APART \
  /*@ assert index: index_same{Pre,Here}(p); */ \
  /*@ assert same_set_now: set_same{Pre,Here}(p); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= n; \
       loop invariant heights: \forall integer q; 0 <= q < j ==> \
         entry_height{Pre}(e, q) == entry_height(e, q); \
       loop assigns j; \
       loop variant n - j; @/ \
    for (size_t j = 0; j < n; j++) { \
      /@ assert place: \separated(e + (j .. j), run + (0 .. k)); @/ \
      /@ assert height: entry_height{Pre}(e, j) == entry_height(e, j); @/ \
    } */ \
  /*@ assert kept: entries_kept{Pre,Here}(e, n); */ \
  /*@ assert rest: rest_is(e, n); */ \
  /*@ assert nodes: tree_entries(root, depth, e, n); */ \
  /*@ assert stored: set_stored(root, depth, d, c); */ \
  /*@ assert rest_still: rest_of_store(p, c.leaves, c.nodes); */ \
  /*@ assert same: draft_pages_same{Pre,Here}(d, d->n); */ \
  RUNS_ARE_KEPT \
  /*@ assert draft_rows: draft_rows(root, p->depth, d, d->n); */ \
  /*@ assert draft_ends: \forall integer i; d->at <= i < d->n ==> \
        draft_end(d, i) == run_next(d, d->n - 1, d->end, i); */ \
  /*@ assert rows: run_rows(root, p->depth, d, run_at(run, k), run_n(run, k), \
        run_stop(p, run, k)); */ \
  /*@ assert set_of: \forall integer x; run_set(d, run_at(run, k), run_n(run, k), x) <==> \
        draft_punctured(d, x); */ \
  /*@ assert this: run_of(root, p, d, run, k, c.leaves); */ \
  /*@ assert gaps: runs_gaps(p, run, k + 1, c.leaves); */

/* opt_packed_put_runs */
#define RUNS_TO_PUT \
  /*@ ghost uint64_t *firsts = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */ \
  /*@ ghost deep_tree_lemma(p->depth); */
#define RUNS_SO_FAR \
  /*@ ghost Turn: ; */ \
  /*@ assert stops: runs_end(p, run, k) == p->first[next]; */
#define NEXT_RUN \
  /*@ assert leaf: p->first[from] <= set_leaf(at.leaf) < page_end(p, from); */ \
  /*@ ghost index_order_lemma(p, next); */ \
  /*@ assert not_before: next <= from; */ \
  /*@ ghost index_order_lemma(p, from); */ \
  /*@ assert start: runs_end(p, run, k) <= p->first[from]; */ \
  /*@ assert before: set_before(c.leaves, at.leaf, p->first[from]); */ \
  /*@ ghost rest_behind_lemma(p, c, at, next, from); */ \
  /*@ assert first_leaf: \forall integer j; at.leaf <= j < c.leaves ==> \
        p->first[from] <= set_leaf(j); */ \
  /*@ assert gap: none_between(c.leaves, runs_end(p, run, k), p->first[from]); */ \
  /*@ assert k_leaves: k <= at.leaf; */ \
  /*@ assert room_for_run: k < most; */ \
  /*@ assert leaf_k: set_leaf(k) <= set_leaf(at.leaf); */ \
  /*@ ghost uint64_t begin = p->first[from]; */ \
  /*@ ghost size_t leaf0 = at.leaf; */
#define NEXT_RUN_IS_PUT \
  /*@ assert run_index: index_same{Turn,Here}(p) && index_same{Pre,Here}(p); */ \
  /*@ assert run_set: set_same{Turn,Here}(p); */ \
  /*@ assert run_set_all: set_same{Pre,Here}(p); */ \
  /*@ assert run_list: draft_list{Turn,Here}(d) && draft_list{Pre,Here}(d); */ \
  /*@ assert same_begin: p->first[from] == begin; */ \
  /*@ assert same_end: runs_end(p, run, k) == runs_end{Turn}(p, run, k); */ \
  /*@ assert own_here: draft_own(d) && draft_list{Pre,Here}(d) && run_new(p, d->pages, d->n); */ \
  /*@ assert store_here: packed_key(root, p) && draft_beside(d, p); */ \
  /*@ assert few_pages: p->pages <= 0xffffffff && d->n <= d->room <= 0xffffffff; */ \
  /*@ assert to_page: put.put.err == 0 ==> from <= put.to < p->pages; */ \
  /*@ ghost if (put.put.err == 0) index_order_lemma(p, put.to); */ \
  /*@ assert holds: packed_holds(root, p); */ \
  /*@ assert of_pages: index_of_pages(p); */ \
  /*@ assert in_order: ascending_pages(p) && pages_below(p); */ \
  /*@ assert from_end: begin < page_end(p, from); */ \
  /*@ assert to_end: put.put.err == 0 ==> p->first[put.to] < page_end(p, put.to); */ \
  /*@ assert ends_before: put.put.err == 0 ==> from < put.to ==> \
        page_end(p, from) <= p->first[put.to]; */ \
  /*@ assert longer: put.put.err == 0 ==> \
        page_end(p, from) <= page_end(p, put.to) && begin < page_end(p, put.to); */ \
  /*@ assert some: put.put.err == 0 ==> d->at < d->n; */ \
  /*@ assert leaf_now: put.put.err == 0 ==> set_leaf(leaf0) < page_end(p, from); */
#define NEXT_RUN_IS_NOTED \
  /*@ assert noted_index: index_same{Pre,Here}(p); */ \
  /*@ assert noted_set: set_same{Pre,Here}(p); */ \
  /*@ assert new_end: runs_end(p, run, k + 1) == page_end(p, put.to); */
#define ONE_RUN_MORE \
  /*@ assert end_now: runs_end(p, run, k) == page_end(p, put.to); */ \
  /*@ assert nodes: d->nodes <= d->end; */
#define RUNS_ARE_PUT \
  /*@ ghost index_order_lemma(p, p->pages - 1); */ \
  /*@ assert last: next == p->pages ==> runs_end(p, run, k) == pow2(p->depth); */ \
  /*@ assert own_there: draft_own(d) && draft_list{Pre,Here}(d) && run_new(p, d->pages, d->n); */ \
  /*@ assert store_there: packed_key(root, p) && draft_beside(d, p); */ \
  /*@ assert index_there: index_same{Pre,Here}(p) && set_same{Pre,Here}(p); */ \
  /*@ assert none_behind: none_between(c.leaves, runs_end(p, run, k), pow2(p->depth)); */

#endif

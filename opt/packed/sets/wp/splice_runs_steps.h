/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/sets/splice_runs.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_SPLICE_RUNS_STEPS_H
#define OPT_WP_PACKED_SPLICE_RUNS_STEPS_H

#include "set_steps.h"

/* splice_run */
#define RUN_TO_SPLICE \
  /*@ ghost size_t from = run[k].from; */ \
  /*@ ghost size_t to = run[k].to; */ \
  /*@ ghost size_t at = run[k].at; */ \
  /*@ ghost size_t n = run[k].n; */ \
  /*@ ghost uint64_t *firsts = d->first + run[k].at; */ \
  /*@ ghost struct opt_page **list = d->pages + run[k].at; */ \
  /*@ assert this: run_of(root, p, d, run, k, leaves); */ \
  /*@ assert places: run_places(p, d, run, k) && 0 <= from <= to < p->pages && 1 <= n && \
        d->first[at] == p->first[from] && at + n == runs_pages(run, k + 1); */ \
  /*@ ghost index_order_lemma(p, from); */ \
  /*@ ghost index_order_lemma(p, to); */ \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ assert ordered: p->first[from] <= p->first[to] < page_end(p, to); */ \
  /*@ assert before: \forall integer j; 0 <= j < k ==> run_to(run, j) < from && \
        run_at(run, j) + run_n(run, j) <= at; */ \
  /*@ assert apart: run_apart(p, firsts, list, n); */ \
  /*@ assert list: pages_at(d, at, firsts, list) && pages_to_come(p, d, at + n); */ \
  /*@ assert run_rows: run_rows(root, p->depth, d, at, n, page_end(p, to)); */ \
  /*@ assert rows: run_holds(root, p->depth, firsts, list, n, p->first[from], page_end(p, to)); */ \
  /*@ ghost size_t m = at + n; */ \
  /*@ assert all: pages_to_come(p, d, m) && run_distinct(d->pages, m); */ \
  /*@ assert own: run_own(list, n); */ \
  /*@ assert distinct: run_distinct(list, n); */ \
  /*@ assert new: run_new(p, list, n); */ \
  /*@ assert within: run_within(list, n, p->page_max); */ \
  /*@ assert set_out: \forall integer x; run_punctured(firsts, list, n, x) ==> \
        run_set(d, at, n, x); */ \
  /*@ assert set_in: \forall integer x; run_set(d, at, n, x) ==> \
        run_punctured(firsts, list, n, x); */ \
  /*@ ghost uint64_t *starts = d->first; */ \
  /*@ ghost struct opt_page **blocks = d->pages; */ \
  /*@ ghost size_t room = d->room; */ \
  /*@ assert few: at + n <= room; */ \
  /*@ assert apart_starts: \separated(starts + (0 .. room - 1), p) && \
        \separated(starts + (0 .. room - 1), p->first + (0 .. p->room - 1)) && \
        \separated(starts + (0 .. room - 1), &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert apart_blocks: \separated(blocks + (0 .. room - 1), p->page + (0 .. p->room - 1)) && \
        \separated(blocks + (0 .. room - 1), &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert come_own: \forall integer i; 0 <= i < at ==> \
        a_page(page_in(d, i)) && page_clean(page_in(d, i)); */ \
  /*@ assert come_new: \forall integer i, j; 0 <= i < at ==> 0 <= j < p->pages ==> \
        page_at(p, j) != page_in(d, i); */ \
  /*@ assert come_distinct: \forall integer i, j; 0 <= i < at ==> 0 <= j < n ==> \
        page_of(list, j) != page_in(d, i); */ \
  /*@ assert come_out: \forall integer i; 0 <= i < at ==> \
        !page_between(p, from, to + 1, page_in(d, i)); */
#define RUN_IS_SPLICED \
  /*@ assert first_stays: p->first[from] == first_of{Pre}(p, from); */ \
  /*@ assert firsts_before: \forall integer j; 0 <= j <= from ==> \
        first_of(p, j) == first_of{Pre}(p, j); */ \
  /*@ assert ends_before: \forall integer j; 0 <= j < from ==> \
        page_end(p, j) == page_end{Pre}(p, j); */ \
  /*@ assert same_runs: runs_same{Pre,Here}(run, k + 1); */ \
  /*@ assert room_left: p->pages + at <= p->room; */ \
  /*@ assert set_below: set_same_below{Pre,Here}(p, p->first[from]); */ \
  /*@ assert same_draft: d->room == \at(d->room,Pre) && d->first == \at(d->first,Pre) && \
        d->pages == \at(d->pages,Pre); */ \
  /*@ assert same_index: p->room == \at(p->room,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre); */ \
  /*@ assert pages_before: \forall integer j; 0 <= j < from ==> \
        page_at(p, j) == page_at{Pre}(p, j); */ \
  /*@ assert pages_here: \forall integer j; from <= j < from + n ==> \
        page_at(p, j) == page_of{Pre}(list, j - from); */ \
  /*@ assert pages_behind: \forall integer j; from + n <= j < p->pages ==> \
        page_at(p, j) == page_at{Pre}(p, j - n + (to - from + 1)); */ \
  /*@ ghost \
    /@ loop invariant 0 <= i <= at; \
       loop invariant firsts: \forall integer q; 0 <= q < i ==> \
         first_in(d, q) == first_in{Pre}(d, q); \
       loop invariant list: \forall integer q; 0 <= q < i ==> page_in(d, q) == page_in{Pre}(d, q); \
       loop invariant kept: \forall integer q; 0 <= q < i ==> block_kept{Pre,Here}(page_in(d, q)); \
       loop invariant own: \forall integer q; 0 <= q < i ==> \
         a_page(page_in(d, q)) && page_clean(page_in(d, q)); \
       loop invariant new: \forall integer q, j; 0 <= q < i ==> 0 <= j < p->pages ==> \
         page_at(p, j) != page_in(d, q); \
       loop invariant within: \forall integer q; 0 <= q < i ==> \
         page_bytes(page_in(d, q)) <= p->page_max; \
       loop assigns i; \
       loop variant at - i; @/ \
    for (size_t i = 0; i < at; i++) { \
      /@ assert first_store: \separated(starts + (i .. i), p) && \
           \separated(starts + (i .. i), p->first + (0 .. p->room - 1)) && \
           \separated(starts + (i .. i), &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert first: first_in(d, i) == first_in{Pre}(d, i); @/ \
      /@ assert list_store: \separated(blocks + (i .. i), p->page + (0 .. p->room - 1)) && \
           \separated(blocks + (i .. i), &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert page: page_in(d, i) == page_in{Pre}(d, i); @/ \
      struct opt_page *this = d->pages[i]; \
      /@ assert this: this == page_in(d, i) && this == page_in{Pre}(d, i) && a_page(this); @/ \
      /@ assert out: !page_between{Pre}(p, from, to + 1, this); @/ \
      /@ assert kept: block_kept{Pre,Here}(this); @/ \
      /@ assert clean: page_clean{Pre}(this) && page_clean(this); @/ \
      /@ assert bytes: page_bytes(this) == page_bytes{Pre}(this) <= p->page_max; @/ \
      /@ assert not_before: \forall integer j; 0 <= j < from ==> page_at(p, j) != this; @/ \
      /@ assert not_here: \forall integer j; from <= j < from + n ==> page_at(p, j) != this; @/ \
      /@ assert not_behind: \forall integer j; from + n <= j < p->pages ==> \
        page_at(p, j) != this; @/ \
    } */ \
  /*@ assert own_left: run_own(d->pages, at); */ \
  /*@ assert distinct_left: run_distinct(d->pages, at); */ \
  /*@ assert within_left: run_within(d->pages, at, p->page_max); */ \
  /*@ assert none_left: \forall integer i, j; 0 <= i < at ==> 0 <= j < p->pages ==> \
        page_at(p, j) != d->pages[i]; */ \
  /*@ assert new_left: run_new(p, d->pages, at); */ \
  /*@ assert same_list: \forall integer i; 0 <= i < at ==> d->pages[i] == \at(d->pages[i],Pre) && \
        d->first[i] == \at(d->first[i],Pre); */ \
  /*@ assert kept_left: \forall integer i; 0 <= i < at ==> block_kept{Pre,Here}(d->pages[i]); */ \
  /*@ assert same_left: draft_pages_same{Pre,Here}(d, at); */ \
  /*@ assert same_n: d->n == \at(d->n,Pre); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= k; \
       loop invariant stay: \forall integer q; 0 <= q < j ==> run_of(root, p, d, run, q, leaves); \
       loop invariant ends: \forall integer q; 0 <= q < j ==> \
         run_first{Pre}(p, run, q) == run_first(p, run, q) && \
         run_stop{Pre}(p, run, q) == run_stop(p, run, q); \
       loop assigns j; \
       loop variant k - j; @/ \
    for (size_t j = 0; j < k; j++) { \
      /@ assert was: run_of{Pre}(root, p, d, run, j, leaves); @/ \
      /@ assert was_places: run_places{Pre}(p, d, run, j); @/ \
      /@ assert is_before: run_to(run, j) < from && run_at(run, j) + run_n(run, j) <= at; @/ \
      /@ assert first: run_first{Pre}(p, run, j) == run_first(p, run, j); @/ \
      /@ assert stop: run_stop{Pre}(p, run, j) == run_stop(p, run, j); @/ \
      /@ assert stop_below: run_stop(p, run, j) <= p->first[from]; @/ \
      /@ assert below: set_same_below{Pre,Here}(p, run_stop{Pre}(p, run, j)); @/ \
      /@ assert same_pages: run_pages_same{Pre,Here}(d, run_at{Pre}(run, j), run_n{Pre}(run, j)); \
        @/ \
      /@ assert first_in_draft: first_in(d, run_at(run, j)) == first_in{Pre}(d, \
        run_at{Pre}(run, j)); @/ \
      /@ assert first_in_store: first_of(p, run_from(run, j)) == first_of{Pre}(p, \
        run_from{Pre}(run, j)); @/ \
      /@ assert is_places: run_places(p, d, run, j); @/ \
      /@ assert is: run_of(root, p, d, run, j, leaves); @/ \
    } */ \
  /*@ assert ascend: runs_ascend(run, k); */ \
  /*@ assert end: runs_end(p, run, k) == runs_end{Pre}(p, run, k); */ \
  /*@ assert gaps: runs_gaps(p, run, k, leaves); */

/* opt_packed_splice_runs */
#define RUNS_TO_SPLICE \
  /*@ ghost uint64_t *index = p->first; */ \
  /*@ ghost struct opt_page **list = p->page; */ \
  /*@ ghost size_t room = p->room; */ \
  /*@ assert last_run: 0 < runs ==> run_of(root, p, d, run, runs - 1, leaves); */ \
  /*@ assert last_pages: runs_pages(run, runs) <= d->n; */ \
  /*@ assert to_come: pages_to_come(p, d, runs_pages(run, runs)); */ \
  /*@ assert none_behind: \forall integer x; in_set(leaves, x) ==> x < runs_end(p, run, runs); */
#define NEXT_TO_SPLICE \
  /*@ ghost Turn: ; */ \
  /*@ ghost size_t j = k - 1; */ \
  /*@ assert end: runs_end(p, run, k) == run_stop(p, run, j); */ \
  /*@ assert gap: none_between(leaves, runs_end(p, run, j), run_first(p, run, j)); */ \
  /*@ assert this: run_of(root, p, d, run, j, leaves); */ \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ ghost size_t from = run[j].from; */ \
  /*@ ghost size_t to = run[j].to; */ \
  /*@ assert places: run_places(p, d, run, j) && 0 <= from <= to < p->pages; */ \
  /*@ ghost index_order_lemma(p, from); */ \
  /*@ ghost index_order_lemma(p, to); */ \
  /*@ assert in_order: ascending_pages(p); */ \
  /*@ assert up: from < to ==> p->first[from] < p->first[to]; */ \
  /*@ assert up_or_same: p->first[from] <= p->first[to]; */ \
  /*@ assert to_behind: to + 1 < p->pages ==> p->first[to] < p->first[to + 1]; */ \
  /*@ assert to_below: p->first[to] < pow2(p->depth); */ \
  /*@ assert longer: p->first[to] < page_end(p, to); */ \
  /*@ assert ascend: runs_ascend(run, k); */ \
  /*@ assert ahead: 0 < j ==> run_to(run, j - 1) < run_from(run, j) && \
        run_at(run, j - 1) + run_n(run, j - 1) <= run_at(run, j); */ \
  /*@ assert at_first: 0 <= run_at(run, j); */ \
  /*@ assert fewer: runs_pages(run, j) <= run_at(run, j); */ \
  /*@ assert previous: 0 < j ==> run_stop(p, run, j - 1) <= p->first[from]; */ \
  /*@ assert before: runs_end(p, run, j) <= p->first[from]; */ \
  /*@ assert behind: runs_end(p, run, j) <= run_first(p, run, j) <= run_stop(p, run, j); */
#define NEXT_IS_SPLICED \
  /*@ assert same_end: runs_end(p, run, j) == runs_end{Turn}(p, run, j); */ \
  /*@ assert same_pages: runs_pages(run, j) == runs_pages{Turn}(run, j) && \
        run_at(run, j) == run_at{Turn}(run, j); */ \
  /*@ assert room_left: p->pages + runs_pages(run, j) <= p->room; */ \
  /*@ assert few_left: d->room == \at(d->room,Turn) && runs_pages(run, j) <= d->room; */ \
  /*@ assert come_left: pages_to_come(p, d, runs_pages(run, j)); */ \
  /*@ assert old_gap: none_between(leaves, runs_end{Turn}(p, run, j), run_first{Turn}(p, run, j)); \
        */ \
  /*@ assert old_end: runs_end{Turn}(p, run, k) == run_stop{Turn}(p, run, j); */ \
  /*@ assert set_before: \forall integer x; packed_punctured{Turn}(p, x) <==> \
        packed_punctured{Pre}(p, x) || in_set(leaves, x) && run_stop{Turn}(p, run, j) <= x; */ \
  /*@ assert set_step: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Turn}(p, x) || \
        in_set(leaves, x) && run_first{Turn}(p, run, j) <= x < run_stop{Turn}(p, run, j); */ \
  /*@ assert old_behind: runs_end{Turn}(p, run, j) <= run_first{Turn}(p, run, j); */ \
  /*@ assert old_longer: run_first{Turn}(p, run, j) <= run_stop{Turn}(p, run, j); */ \
  /*@ assert set_from: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x) || in_set(leaves, x) && run_first{Turn}(p, run, j) <= x; */ \
  /*@ assert set_of_run: \forall integer x; in_set(leaves, x) && \
        run_first{Turn}(p, run, j) <= x <==> \
        in_set(leaves, x) && runs_end{Turn}(p, run, j) <= x; */ \
  /*@ assert set_now: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x) || in_set(leaves, x) && runs_end(p, run, j) <= x; */

/* splice_next */
#define STARTS_NOTED \
  /*@ ghost unsigned depth = p->depth; */ \
  /*@ ghost uint64_t *starts = d->first; */ \
  /*@ ghost size_t room = d->room; */ \
  /*@ assert apart_starts: \separated(starts + (0 .. room - 1), p) && \
        \separated(starts + (0 .. room - 1), p->first + (0 .. p->room - 1)) && \
        \separated(starts + (0 .. room - 1), &opt_pages[0 .. OPT_PAGES_MAX - 1]); */
#define STARTS_STAY \
  /*@ assert same_draft: d->first == starts && d->room == room && p->depth == depth; */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= runs; \
       loop invariant starts: \forall integer q; 0 <= q < j ==> run_start(d, run, q, depth); \
       loop assigns j; \
       loop variant runs - j; @/ \
    for (size_t j = 0; j < runs; j++) { \
      size_t i = run[j].at; \
      /@ assert was: run_start{Pre}(d, run, j, depth); @/ \
      /@ assert place: 0 <= i < room && i == run_at(run, j) && i == run_at{Pre}(run, j); @/ \
      /@ assert apart: \separated(starts + (i .. i), p) && \
           \separated(starts + (i .. i), p->first + (0 .. p->room - 1)) && \
           \separated(starts + (i .. i), &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert first: first_in(d, i) == first_in{Pre}(d, i); @/ \
      /@ assert is: run_start(d, run, j, depth); @/ \
    } */

/* find_run */
#define RUN_TO_FIND \
  /*@ ghost unsigned depth = p->depth; */ \
  /*@ assert start: run_start(d, run, k, p->depth); */ \
  /*@ assert few: p->pages <= p->room <= OPT_INDEX_MAX; */ \
  /*@ assert depth_apart: \separated(&p->depth, run + (0 .. runs - 1)) && \
        \separated(&p->page_max, run + (0 .. runs - 1)); */
#define RUN_IS_FOUND \
  /*@ assert same_depth: p->depth == depth && p->page_max == \at(p->page_max,Pre); */ \
  ALL_IS_APART \
  /*@ ghost \
    /@ loop invariant 0 <= j <= runs; \
       loop invariant starts: \forall integer q; 0 <= q < j ==> run_start(d, run, q, depth); \
       loop assigns j; \
       loop variant runs - j; @/ \
    for (size_t j = 0; j < runs; j++) { \
      /@ assert was: run_start{Pre}(d, run, j, depth); @/ \
      /@ assert at: run_at(run, j) == run_at{Pre}(run, j); @/ \
      /@ assert is: run_start(d, run, j, depth); @/ \
    } */

/* opt_packed_splice_runs */
#define NOTE_STARTS \
  /*@ ghost \
    /@ loop invariant 0 <= j <= runs; \
       loop invariant starts: runs_start(d, run, j, p->depth); \
       loop assigns j; \
       loop variant runs - j; @/ \
    for (size_t j = 0; j < runs; j++) { \
      /@ assert this: run_of(root, p, d, run, j, leaves); @/ \
      /@ assert places: run_places(p, d, run, j); @/ \
      /@ assert below: pages_below(p); @/ \
      /@ assert start: run_start(d, run, j, p->depth); @/ \
    } */
#define RUNS_ARE_IN /*@ assert memory: draft_apart(d) && runs_apart(p, d, run, runs); */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/draft/splice.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_SPLICE_STEPS_H
#define OPT_WP_PACKED_SPLICE_STEPS_H

/* write_run */
#define REST_IS_MOVED \
  /*@ assert same_run: \forall integer i; 0 <= i < n ==> \
        starts[i] == \at(starts[i],Pre) && blocks[i] == \at(blocks[i],Pre); */
#define RUN_IS_WRITTEN \
  /*@ assert put_first: \forall integer k; from <= k < from + n ==> \
        p->first[k] == \at(starts[k - from],Pre); */ \
  /*@ assert put_page: \forall integer k; from <= k < from + n ==> \
        p->page[k] == \at(blocks[k - from],Pre); */

/* count_run */
#define RUN_IS_PUT \
  /*@ assert put_same: p->room == \at(p->room,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre) && p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert put_more: p->pages == \at(p->pages,Pre) - (to - from + 1) + n; */ \
  /*@ assert put_valid: \forall integer k; from <= k < from + n ==> a_page(p->page[k]); */
#define RUN_IS_APART /*@ assert apart: index_apart(p); */

/* put_run_in: the index is still in order, and no page occurs twice */
#define RUN_TO_PUT \
  /*@ assert begins: p->first[0] == 0; */ \
  /*@ assert run_begins: starts[0] == p->first[from]; */
#define RUN_IN_ORDER \
  /*@ assert spliced: index_spliced{Pre,Here}(p, from, to, starts, blocks, n); */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert distinct: pages_distinct(p); */ \
  /*@ assert still_begins: p->first[0] == 0; */ \
  /*@ assert index: index_of_pages(p); */

/* drop_run */
#define PAGE_TO_DROP \
  /*@ ghost struct opt_page *this = p->page[i]; */ \
  /*@ assert block: this == \at(p->page[\at(i,Here)],Pre) && a_page(this); */ \
  /*@ assert kept_this: block_kept{Pre,Here}(this); */ \
  /*@ assert same_seeds: this->seeds == seeds_of_page{Pre}(p, i); */
#define PAGE_IS_DROPPED \
  /*@ assert whole: \forall struct opt_page *q; a_page(q) ==> \
        !page_between{Pre}(p, from, i + 1, q) ==> block_kept{Pre,Here}(q); */ \
  /*@ assert blocks: blocks_but{Pre,Here}(p, from, i + 1); */ \
  /*@ assert others: \forall integer k; from <= k < i ==> \
        p->page[k] != this && a_page(p->page[k]); */ \
  /*@ assert wiped: \forall integer k; from <= k < i ==> page_wiped(p->page[k]); */
#define RUN_IS_DROPPED \
  /*@ assert same_index: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre) && \
        p->room == \at(p->room,Pre); */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert index: index_of_pages(p); */

/* exchange */
#define RUN_IS_NEW \
  /*@ ghost Dropped: ; */ \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ assert dropped_index: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre) && \
        p->room == \at(p->room,Pre) && p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert dropped_places: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Pre) && p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert same_run: \forall integer i; 0 <= i < n ==> first[i] == \at(first[i],Pre) && \
        page[i] == \at(page[i],Pre); */ \
  /*@ assert not_old: \forall integer i; 0 <= i < n ==> \
        !page_between{Pre}(p, from, to + 1, page[i]); */ \
  /*@ assert run_kept: \forall integer i; 0 <= i < n ==> block_kept{Pre,Here}(page[i]); */ \
  /*@ assert run_own: run_own(page, n); */ \
  /*@ assert run_new: run_new(p, page, n); */ \
  /*@ assert run_order: run_order(first, n, p->first[from], page_end(p, to)); */
#define RUN_IS_IN \
  /*@ assert spliced: index_spliced{Pre,Here}(p, from, to, first, page, n); */ \
  /*@ assert old_since: \forall integer k; from <= k <= to ==> \
        block_kept{Dropped,Here}(\at(p->page[k],Pre)); */ \
  /*@ assert wiped: \forall integer k; from <= k <= to ==> page_wiped(\at(p->page[k],Pre)); */

/* opt_packed_splice */
#define STORE_TO_SPLICE \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ ghost uint64_t begin = p->first[from]; */ \
  /*@ ghost uint64_t end = to + 1 < p->pages ? p->first[to + 1] : (uint64_t)1 << p->depth; */ \
  /*@ assert end: end == page_end(p, to); */ \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert ascending: ascending_pages(p); */ \
  /*@ assert old_order: \forall integer k, l; 0 <= k < l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert old_before: \forall integer k; 0 <= k < from ==> page_end(p, k) <= begin; */ \
  /*@ assert old_behind: \forall integer k; to < k < p->pages ==> end <= p->first[k]; */ \
  /*@ assert old_from: \forall integer k; from <= k <= to ==> begin <= p->first[k]; */ \
  /*@ assert old_to: \forall integer k; from <= k <= to ==> page_end(p, k) <= end; */ \
  /*@ ghost count_lemma(p); */ \
  /*@ ghost pages_lemma(p); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant more: \forall integer i; 0 <= i <= k ==> \
         0 <= seeds_in_pages(p, i) <= seeds_in_pages(p, k); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      /@ assert some: 0 <= seeds_of_page(p, k); @/ \
    } */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= to + 1; \
       loop invariant less: k > from ==> seeds_in_pages(p, from) <= seeds_in_pages(p, k); \
       loop assigns k; \
       loop variant to + 1 - k; @/ \
    for (size_t k = 0; k <= to; k++) { \
    } */ \
  /*@ assert seeds: 0 <= seeds_in_pages(p, from) <= seeds_in_pages(p, to + 1) <= p->nodes <= \
        0x8000000000000000; */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= n; \
       loop invariant pairs: \forall integer i, j; 0 <= i < j < k ==> first[i] < first[j]; \
       loop invariant next: \forall integer i; 0 <= i < k ==> \
         first[i] < run_end(first, n, end, k - 1); \
       loop invariant first: \forall integer i; 0 <= i < k ==> begin <= first[i]; \
       loop invariant inside: \forall integer i, x; 0 <= i < k ==> \
         leaf_of_page(page[i], first[i], x) ==> begin <= x < run_end(first, n, end, k - 1); \
       loop assigns k; \
       loop variant n - k; @/ \
    for (size_t k = 0; k < n; k++) { \
      const struct opt_page *page_k = page[k]; \
      /@ assert held: page_holds(root, p->depth, page_k, first[k], run_end(first, n, end, k)); @/ \
      row_order_lemma(page_k->tile, page_k->tiles, first[k], p->depth); \
      /@ assert ends: first[k] < run_end(first, n, end, k); @/ \
      /@ assert tiles: \forall integer j, x; 0 <= j < page_k->tiles ==> \
        tile_covers(page_row(page_k), first[k], j, x) ==> \
        first[k] <= x < run_end(first, n, end, k); @/ \
      /@ assert own_leaves: \forall integer x; leaf_of_page(page_k, first[k], x) ==> \
           first[k] <= x < run_end(first, n, end, k); @/ \
    } */ \
  /*@ assert order: run_order(first, n, p->first[from], page_end(p, to)); */ \
  /*@ assert out_old: \forall integer k, x; from <= k <= to ==> page_punctured(p, k, x) ==> \
        begin <= x < end; */ \
  /*@ assert out_before: \forall integer k, x; 0 <= k < from ==> page_punctured(p, k, x) ==> \
        x < begin; */ \
  /*@ assert out_behind: \forall integer k, x; to < k < p->pages ==> page_punctured(p, k, x) ==> \
        end <= x; */ \
  /*@ assert not_other: \forall integer x; other_punctured(p, from, to, x) ==> \
        !(begin <= x < end); */ \
  /*@ assert run_inside: \forall integer x; run_punctured(first, page, n, x) ==> \
        begin <= x < end; */
#define RUN_IN_STORE \
  /*@ assert same_first: p->first == \at(p->first,Pre); */ \
  /*@ assert same_page: p->page == \at(p->page,Pre); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert spliced: run_spliced{Pre,Here}(p, from, to, first, page, n); */ \
  /*@ assert kept: pages_kept{Pre,Here}(p); */ \
  /*@ assert store_holds: packed_holds(root, p); */ \
  /*@ assert own: pages_own(p); */ \
  /*@ assert store_owns: packed_owns(p); */ \
  /*@ assert within: pages_within(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  RUN_IS_COUNTED \
  RUN_IN_SET
#define RUN_IS_COUNTED \
  /*@ assert new_end: p->pages - n + (to - from + 1) == \at(p->pages,Pre); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= from; \
       loop invariant count: seeds_in_pages(p, k) == seeds_in_pages{Pre}(p, k); \
       loop assigns k; \
       loop variant from - k; @/ \
    for (size_t k = 0; k < from; k++) { \
      /@ assert same: seeds_of_page(p, k) == seeds_of_page{Pre}(p, k); @/ \
    } */ \
  /*@ ghost \
    /@ loop invariant from + n <= k <= p->pages; \
       loop invariant count: seeds_in_pages(p, k) - seeds_in_pages(p, from + n) == \
         seeds_in_pages{Pre}(p, k - n + (to - from + 1)) - seeds_in_pages{Pre}(p, to + 1); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = from + n; k < p->pages; k++) { \
      /@ assert same: seeds_of_page(p, k) == seeds_of_page{Pre}(p, k - n + (to - from + 1)); @/ \
    } */ \
  /*@ assert was_counted: \at(p->nodes,Pre) == seeds_in_pages{Pre}(p, \at(p->pages,Pre)); */ \
  /*@ assert counted: packed_counted(p); */
#define RUN_IN_SET \
  /*@ assert leaves: leaves_kept{Pre,Here}(p); */ \
  /*@ assert in_new: \forall integer k, x; from <= k < from + n ==> page_punctured(p, k, x) ==> \
        run_punctured{Pre}(first, page, n, x); */ \
  /*@ assert in_before: \forall integer k, x; 0 <= k < from ==> page_punctured(p, k, x) ==> \
        page_punctured{Pre}(p, k, x); */ \
  /*@ assert in_behind: \forall integer k, x; from + n <= k < p->pages ==> \
        page_punctured(p, k, x) ==> page_punctured{Pre}(p, k - n + (to - from + 1), x); */ \
  /*@ assert of_before: \forall integer k, x; 0 <= k < from ==> page_punctured(p, k, x) ==> \
        x < begin && packed_punctured{Pre}(p, x); */ \
  /*@ assert of_behind: \forall integer k, x; from + n <= k < p->pages ==> \
        page_punctured(p, k, x) ==> end <= x && packed_punctured{Pre}(p, x); */ \
  /*@ assert in_either: \forall integer x; packed_punctured(p, x) ==> \
        run_punctured{Pre}(first, page, n, x) || other_punctured{Pre}(p, from, to, x); */ \
  /*@ assert in_run: \forall integer x; packed_punctured(p, x) ==> begin <= x < end ==> \
        run_punctured{Pre}(first, page, n, x); */ \
  /*@ assert in_rest: \forall integer x; packed_punctured(p, x) ==> !(begin <= x < end) ==> \
        packed_punctured{Pre}(p, x); */ \
  /*@ assert to_run: \forall integer i, x; 0 <= i < n ==> \
        leaf_of_page{Pre}(\at(page[i],Pre), \at(first[i],Pre), x) ==> packed_punctured(p, x); */ \
  /*@ assert out_run: \forall integer x; run_punctured{Pre}(first, page, n, x) ==> \
        packed_punctured(p, x); */ \
  /*@ assert to_before: \forall integer k, x; 0 <= k < from ==> page_punctured{Pre}(p, k, x) ==> \
        packed_punctured(p, x); */ \
  /*@ assert moved: \forall integer k, x; to < k < \at(p->pages,Pre) ==> \
        page_punctured{Pre}(p, k, x) ==> page_punctured(p, k + n - (to - from + 1), x); */ \
  /*@ assert to_behind: \forall integer k, x; to < k < \at(p->pages,Pre) ==> \
        page_punctured{Pre}(p, k, x) ==> packed_punctured(p, x); */ \
  /*@ assert out_rest: \forall integer x; !(begin <= x < end) ==> packed_punctured{Pre}(p, x) ==> \
        packed_punctured(p, x); */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of fit.c, each named by what it shows; empty for the compiler.
 * Steps about pages and the store are in index_steps.h. */
#ifndef OPT_WP_FIT_STEPS_H
#define OPT_WP_FIT_STEPS_H

/* set_index */
#define INDEX_TO_COPY \
  /*@ assert room: 1 <= p->pages <= p->room && p->pages <= room <= OPT_INDEX_MAX; */ \
  /*@ assert new_valid: \valid(to.first + (0 .. room - 1)) && \
        \valid(to.page + (0 .. room - 1)); */ \
  /*@ assert new_apart: to.first != &p->one_first ==> \
        \separated(p, to.first + (0 .. room - 1)) && \separated(p, to.page + (0 .. room - 1)); */ \
  /*@ assert old_block: old.first != &p->one_first ==> index_block(old.first, old.page, had); */ \
  /*@ assert old_apart: old.first != &p->one_first ==> \
        \separated(p, old.first + (0 .. had - 1)) && \separated(p, old.page + (0 .. had - 1)); */ \
  /*@ assert first_apart: \separated(old.first + (0 .. had - 1), to.first + (0 .. room - 1)); */ \
  /*@ assert page_apart: \separated(old.page + (0 .. had - 1), to.page + (0 .. room - 1)); */
#define INDEX_IS_COPIED \
  /*@ assert same_store: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre); */ \
  /*@ assert copied_first: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Pre); */ \
  /*@ assert copied_page: \forall integer k; 0 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k],Pre); */
#define INDEX_IS_SET \
  /*@ assert still: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == to.first && p->page == to.page && p->room == room; */ \
  /*@ assert first: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Pre); */ \
  /*@ assert pages: \forall integer k; 0 <= k < p->pages ==> p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert was_order: ascending_pages{Pre}(p); */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert was_below: pages_below{Pre}(p); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert index: index_of_pages(p); */ \
  /*@ assert was_distinct: pages_distinct{Pre}(p); */ \
  /*@ assert distinct: pages_distinct(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert apart: index_apart(p); */

/* move_index */
#define INDEX_IS_MOVED \
  /*@ assert same_size: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->nodes == \at(p->nodes,Pre) && p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert clean_old: \forall integer k; 0 <= k < p->pages ==> \
        a_page(\at(p->page[k],Pre)) && page_clean{Pre}(\at(p->page[k],Pre)); */ \
  /*@ assert blocks: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert clean: \forall integer k; 0 <= k < p->pages ==> page_clean(p->page[k]); */

/* append_row */
#define ROWS_TO_JOIN \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost const uint8_t *row2 = from->tile; */ \
  /*@ ghost const struct pprf_seed *top = (struct pprf_seed *)page->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost const struct pprf_seed *from_top = (struct pprf_seed *)from->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost unsigned n = page->tiles; */ \
  /*@ ghost unsigned m = page->seeds; */ \
  /*@ ghost unsigned n2 = from->tiles; */ \
  /*@ ghost unsigned m2 = from->seeds; */ \
  /*@ ghost const struct pprf_seed *behind = top - m; */ \
  /*@ ghost row_order_lemma(row, n, first, d); */ \
  /*@ ghost row_order_lemma(row2, n2, mid, d); */ \
  /*@ assert from_all: seeds_before(row2, n2) == m2; */ \
  /*@ assert from_places: \forall integer i; 0 <= i < n2 ==> tile_byte(row2, i) >= 64 ==> \
        0 <= seeds_before(row2, i) < m2; */ \
  /*@ assert few: 1 <= n && n + n2 <= OPT_ARENA_MAX - 8 && m + m2 < OPT_PAGE_SEEDS; */
#define ROWS_ARE_ONE \
  /*@ assert size: page->tiles == n + n2 && page->seeds == m + m2; */ \
  /*@ assert bytes: \forall integer i; 0 <= i < n ==> \
        tile_byte(row, i) == tile_byte{Pre}(row, i); */ \
  /*@ assert bytes_behind: \forall integer i; 0 <= i < n2 ==> \
        tile_byte(row, n + i) == tile_byte{Pre}(row2, i); */ \
  /*@ assert seeds: \forall integer j; 0 <= j < m ==> \
        place_seed(top, j) == place_seed{Pre}(top, j); */ \
  /*@ assert seeds_copied: \forall integer j; 0 <= j < m2 ==> \
        place_seed(behind, j) == place_seed{Pre}(from_top, j); */ \
  /*@ assert seeds_behind: \forall integer j; 0 <= j < m2 ==> \
        place_seed(top, m + j) == place_seed{Pre}(from_top, j); */ \
  /*@ assert rest: \forall integer j; 0 <= j < OPT_PAGE_SEEDS - (m + m2) ==> \
        zero_place(page, j); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= n; \
       loop invariant kept: row_kept{Pre,Here}(row, first, j); \
       loop assigns j; \
       loop variant n - j; @/ \
    for (unsigned j = 0; j < n; j++) { \
      /@ assert byte: tile_byte{Pre}(row, j) == tile_byte(row, j); @/ \
      /@ assert old: row_step{Pre}(row, first, j); @/ \
      /@ assert new: row_step(row, first, j); @/ \
    } */ \
  /*@ assert starts: \forall integer i; 0 <= i <= n ==> \
        tile_start{Pre}(row, first, i) == tile_start(row, first, i) && \
        seeds_before{Pre}(row, i) == seeds_before(row, i); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= n2; \
       loop invariant starts: \forall integer i; 0 <= i <= j ==> \
         tile_start(row, first, n + i) == tile_start{Pre}(row2, mid, i) && \
         seeds_before(row, n + i) == m + seeds_before{Pre}(row2, i); \
       loop assigns j; \
       loop variant n2 - j; @/ \
    for (unsigned j = 0; j < n2; j++) { \
      /@ assert byte: tile_byte{Pre}(row2, j) == tile_byte(row, n + j); @/ \
      /@ assert old: row_step{Pre}(row2, mid, j); @/ \
      /@ assert new: row_step(row, first, n + j); @/ \
    } */ \
  /*@ assert back: \forall integer i; n <= i < n + n2 ==> \
        tile_byte(row, i) == tile_byte{Pre}(row2, i - n) && \
        tile_start(row, first, i) == tile_start{Pre}(row2, mid, i - n) && \
        seeds_before(row, i) == m + seeds_before{Pre}(row2, i - n); */ \
  /*@ assert old_nodes: \forall integer i; 0 <= i < n ==> tile_is_node{Pre}(row, first, d, i); */ \
  /*@ assert old_behind: \forall integer i; 0 <= i < n2 ==> tile_is_node{Pre}(row2, mid, d, i); */ \
  /*@ assert nodes_first: \forall integer i; 0 <= i < n ==> tile_is_node(row, first, d, i); */ \
  /*@ assert nodes_behind: \forall integer i; n <= i < n + n2 ==> \
        tile_is_node(row, first, d, i); */ \
  /*@ assert nodes: row_tiles(row, n + n2, first, d); */ \
  /*@ assert held_first: \forall integer i; 0 <= i < n ==> \
        tile_has_seed{Pre}(root, d, row, first, top, i); */ \
  /*@ assert places_first: \forall integer i; 0 <= i < n ==> tile_byte(row, i) >= 64 ==> \
        0 <= seeds_before(row, i) < m; */ \
  /*@ assert own_first: \forall integer i; 0 <= i < n ==> \
        tile_has_seed(root, d, row, first, top, i); */ \
  /*@ assert held_behind: \forall integer i; 0 <= i < n2 ==> \
        tile_has_seed{Pre}(root, d, row2, mid, from_top, i); */ \
  /*@ assert places_behind: \forall integer i; 0 <= i < n2 ==> tile_byte{Pre}(row2, i) >= 64 ==> \
        0 <= seeds_before{Pre}(row2, i) < m2; */ \
  /*@ assert same_behind: \forall integer i; 0 <= i < n2 ==> tile_byte{Pre}(row2, i) >= 64 ==> \
        place_seed(top, m + seeds_before{Pre}(row2, i)) == \
        place_seed{Pre}(from_top, seeds_before{Pre}(row2, i)); */ \
  /*@ assert here_behind: \forall integer i; 0 <= i < n2 ==> seed_of_node(root, d, \
        tile_byte{Pre}(row2, i), tile_start{Pre}(row2, mid, i), \
        place_seed(top, m + seeds_before{Pre}(row2, i))); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= n2; \
       loop invariant own: \forall integer i; n <= i < n + j ==> \
         tile_has_seed(root, d, row, first, top, i); \
       loop assigns j; \
       loop variant n2 - j; @/ \
    for (unsigned j = 0; j < n2; j++) { \
      /@ assert byte: tile_byte(row, n + j) == tile_byte{Pre}(row2, j); @/ \
      /@ assert start: tile_start(row, first, n + j) == tile_start{Pre}(row2, mid, j) && \
           seeds_before(row, n + j) == m + seeds_before{Pre}(row2, j); @/ \
      /@ assert one: seed_of_node(root, d, tile_byte{Pre}(row2, j), \
           tile_start{Pre}(row2, mid, j), place_seed(top, m + seeds_before{Pre}(row2, j))); @/ \
      /@ assert here: tile_has_seed(root, d, row, first, top, n + j); @/ \
    } */ \
  /*@ assert own_behind: \forall integer i; n <= i < n + n2 ==> \
        tile_has_seed(root, d, row, first, top, i); */ \
  /*@ assert row_seeds: row_seeds(root, d, row, n + n2, first, top); */ \
  /*@ assert row: row_holds(root, d, row, n + n2, first, end, top, m + m2); */ \
  /*@ assert out_tile: \forall integer i, x; 0 <= i < n ==> tile_byte{Pre}(row, i) < 64 ==> \
        tile_covers{Pre}(row, first, i, x) ==> row_punctured(row, n + n2, first, x); */ \
  /*@ assert covers_behind: \forall integer i, x; 0 <= i < n2 ==> \
        tile_covers{Pre}(row2, mid, i, x) ==> tile_covers(row, first, n + i, x); */ \
  /*@ assert out_tile_2: \forall integer i, x; 0 <= i < n2 ==> tile_byte{Pre}(row2, i) < 64 ==> \
        tile_covers{Pre}(row2, mid, i, x) ==> row_punctured(row, n + n2, first, x); */ \
  /*@ assert in_tile: \forall integer i, x; 0 <= i < n ==> tile_byte(row, i) < 64 ==> \
        tile_covers(row, first, i, x) ==> row_punctured{Pre}(row, n, first, x); */ \
  /*@ assert in_tile_2: \forall integer i, x; n <= i < n + n2 ==> tile_byte(row, i) < 64 ==> \
        tile_covers(row, first, i, x) ==> row_punctured{Pre}(row2, n2, mid, x); */ \
  /*@ assert out: \forall integer x; row_punctured{Pre}(row, n, first, x) ==> \
        row_punctured(row, n + n2, first, x); */ \
  /*@ assert out_2: \forall integer x; row_punctured{Pre}(row2, n2, mid, x) ==> \
        row_punctured(row, n + n2, first, x); */ \
  /*@ assert in: \forall integer x; row_punctured(row, n + n2, first, x) ==> \
        row_punctured{Pre}(row, n, first, x) || row_punctured{Pre}(row2, n2, mid, x); */

/* merge_in_page */
#define SEAM_IN_ROW \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost const struct pprf_seed *top = (struct pprf_seed *)page->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost unsigned tiles = page->tiles; */ \
  /*@ ghost row_order_lemma(row, tiles, first, d); */ \
  /*@ assert node: tile_is_node(row, first, d, at); */ \
  /*@ assert step: row_step(row, first, at); */
#define SEAM_IS_MERGED \
  /*@ assert row: row_holds(root, d, row, page->tiles, first, end, top, page->seeds); */

/* rows_of_two */
#define TWO_TO_JOIN \
  /*@ ghost const uint8_t *old = left->tile; */ \
  /*@ assert start: tile_start(old, first, 0) == first && seeds_before(old, 0) == 0; */ \
  /*@ assert rows_end: tile_start(old, first, left->tiles) == mid && \
        seeds_before(old, left->tiles) == left->seeds; */
#define FIRST_OF_TWO \
  /*@ ghost Taken: ; */ \
  /*@ assert other: left != page && right != page; */ \
  /*@ assert apart: \separated(left, page) && \separated(right, page); */ \
  /*@ assert kept: page_kept{Pre,Here}(left) && page_kept{Pre,Here}(right); */ \
  /*@ assert right_holds: page_holds(root, d, right, mid, end); */ \
  /*@ assert page_is: page_holds(root, d, page, first, mid) && page_clean(page) && \
        \valid(page); */ \
  /*@ assert size: page_bytes(page) == page_bytes{Pre}(left) && \
        page_bytes(right) == page_bytes{Pre}(right); */ \
  /*@ assert left_set: \forall integer x; leaf_of_page(page, first, x) <==> \
        leaf_of_page{Pre}(left, first, x); */ \
  /*@ assert right_set: \forall integer x; leaf_of_page(right, mid, x) <==> \
        leaf_of_page{Pre}(right, mid, x); */
#define SEAM_OF_TWO \
  /*@ assert left_tiles: left->tiles == \at(left->tiles,Pre); */ \
  /*@ assert both_set: \forall integer x; leaf_of_page(page, first, x) <==> \
        leaf_of_page{Pre}(left, first, x) || leaf_of_page{Pre}(right, mid, x); */ \
  /*@ assert both_size: page_bytes(page) == page_bytes{Pre}(left) + page_bytes{Pre}(right) - 8; */
#define BOTH_IN_PAGE \
  /*@ ghost \
    /@ loop invariant 0 <= k <= OPT_PAGES_MAX; \
       loop invariant same: \forall integer l; 0 <= l < k ==> &opt_pages[l] != page ==> \
         same_page{Pre,Here}(&opt_pages[l]); \
       loop assigns k; \
       loop variant OPT_PAGES_MAX - k; @/ \
    for (size_t k = 0; k < OPT_PAGES_MAX; k++) { \
      const struct opt_page *page_k = &opt_pages[k]; \
      /@ assert block: a_page(page_k); @/ \
      /@ assert apart: page_k != page ==> \separated(page_k, page); @/ \
      /@ assert taken: page_k != page ==> page_kept{Pre,Taken}(page_k); @/ \
      /@ assert same_tiles: page_k != page ==> \forall integer j; 0 <= j < OPT_ARENA_MAX ==> \
           tile_byte{Taken}(page_row(page_k), j) == tile_byte(page_row(page_k), j); @/ \
      /@ assert same_seeds: page_k != page ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           place_seed{Taken}(page_top(page_k), j) == place_seed(page_top(page_k), j); @/ \
      /@ assert same_zero: page_k != page ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           zero_place{Taken}(page_k, j) ==> zero_place(page_k, j); @/ \
      /@ assert since: page_k != page ==> same_page{Taken,Here}(page_k); @/ \
      /@ assert both_tiles: page_k != page ==> \forall integer j; 0 <= j < OPT_ARENA_MAX ==> \
           tile_byte{Pre}(page_row(page_k), j) == tile_byte(page_row(page_k), j); @/ \
      /@ assert both_seeds: page_k != page ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           place_seed{Pre}(page_top(page_k), j) == place_seed(page_top(page_k), j); @/ \
      /@ assert both_zero: page_k != page ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           zero_place{Pre}(page_k, j) ==> zero_place(page_k, j); @/ \
      /@ assert both: page_k != page ==> same_page{Pre,Here}(page_k); @/ \
    } */ \
  /*@ assert others: other_pages{Pre,Here}(page); */

/* rows_of_pages */
#define TWO_OF_STORE \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ ghost uint64_t end = i + 2 < p->pages ? p->first[i + 2] : (uint64_t)1 << p->depth; */ \
  /*@ ghost uint64_t first = p->first[i]; */ \
  /*@ ghost uint64_t mid = p->first[i + 1]; */ \
  /*@ ghost const struct opt_page *left = p->page[i]; */ \
  /*@ ghost const struct opt_page *right = p->page[i + 1]; */ \
  /*@ assert ends: end == page_end(p, i + 1) && mid == page_end(p, i); */ \
  /*@ assert left: a_page(left) && page_holds(root, p->depth, left, first, mid); */ \
  /*@ assert right: a_page(right) && page_holds(root, p->depth, right, mid, end); */ \
  /*@ assert held_pages: \forall integer k; 0 <= k < p->pages ==> \
        page_holds(root, p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert used: \forall integer k; 0 <= k < p->pages ==> !free_page(p->page[k]); */ \
  /*@ assert blocks: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert there: \forall integer k; 0 <= k < p->pages ==> p->page[k] != \null; */
#define PAGE_IS_NEW \
  /*@ assert new_index: p->pages == \at(p->pages,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert new_page: \forall integer k; 0 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert old_used: \forall integer k; 0 <= k < p->pages ==> !free_page{Pre}(p->page[k]); */ \
  /*@ assert other_some: page != \null ==> \forall integer k; 0 <= k < p->pages ==> \
        p->page[k] != page; */ \
  /*@ assert other: \forall integer k; 0 <= k < p->pages ==> p->page[k] != page; */

/* joined_page */
#define TWO_ENDS \
  /*@ assert ends: page_end(p, i) == p->first[i + 1] && page_end(p, i + 1) <= pow2(p->depth); */
#define BOTH_OF_STORE \
  /*@ assert places: p->page[i] == \at(p->page[i],Pre) && \
        p->page[i + 1] == \at(p->page[i + 1],Pre) && p->first[i] == \at(p->first[i],Pre) && \
        page_end(p, i + 1) == page_end{Pre}(p, i + 1); */ \
  /*@ assert kept_two: page_kept{Pre,Here}(p->page[i]) && page_kept{Pre,Here}(p->page[i + 1]); */ \
  /*@ assert left_set: \forall integer x; page_punctured{Pre}(p, i, x) <==> \
        page_punctured(p, i, x); */ \
  /*@ assert right_set: \forall integer x; page_punctured{Pre}(p, i + 1, x) <==> \
        page_punctured(p, i + 1, x); */

/* put_one */
#define ONE_IN_ORDER \
  /*@ assert same_index: p->depth == \at(p->depth,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre) && p->pages == \at(p->pages,Pre) - 1; */ \
  /*@ assert here: p->page[i] == both; */ \
  /*@ assert was_order: \forall integer k, l; 0 <= k < l < \at(p->pages,Pre) ==> \
        \at(p->first[k],Pre) < \at(p->first[l],Pre); */ \
  /*@ assert was_below: \forall integer k; 0 <= k < \at(p->pages,Pre) ==> \
        \at(p->first[k],Pre) < pow2(p->depth); */ \
  /*@ assert was_distinct: \forall integer k, l; 0 <= k < l < \at(p->pages,Pre) ==> \
        \at(p->page[k],Pre) != \at(p->page[l],Pre); */ \
  /*@ assert first_before: \forall integer k; 0 <= k <= i ==> \
        p->first[k] == \at(p->first[k],Pre); */ \
  /*@ assert first_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k + 1],Pre); */ \
  /*@ assert page_before: \forall integer k; 0 <= k < i ==> p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert page_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k + 1],Pre); */ \
  /*@ assert order_first: \forall integer k, l; 0 <= k < l <= i ==> p->first[k] < p->first[l]; */ \
  /*@ assert order_last: \forall integer k, l; i + 1 <= k < l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert order_far: \forall integer k, l; 0 <= k <= i ==> i + 1 <= l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert order_pairs: \forall integer k, l; 0 <= k < l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert below_first: \forall integer k; 0 <= k <= i ==> p->first[k] < pow2(p->depth); */ \
  /*@ assert below_last: \forall integer k; i + 1 <= k < p->pages ==> \
        p->first[k] < pow2(p->depth); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert distinct_new: \forall integer k; 0 <= k < p->pages ==> p->page[k] == both ==> \
        k == i; */ \
  /*@ assert distinct_first: \forall integer k, l; 0 <= k < l < i ==> p->page[k] != p->page[l]; */ \
  /*@ assert distinct_last: \forall integer k, l; i + 1 <= k < l < p->pages ==> \
        p->page[k] != p->page[l]; */ \
  /*@ assert distinct_far: \forall integer k, l; 0 <= k < i ==> i + 1 <= l < p->pages ==> \
        p->page[k] != p->page[l]; */ \
  /*@ assert distinct: pages_distinct(p); */ \
  /*@ assert index: index_of_pages(p); */ \
  /*@ assert apart: index_apart(p); */

/* replace_two */
#define PAGES_TO_REPLACE \
  /*@ assert was_distinct: \forall integer k, l; 0 <= k < l < p->pages ==> \
        p->page[k] != p->page[l]; */ \
  /*@ assert was_block: \forall integer k; 0 <= k < p->pages ==> \
        a_page(p->page[k]) && page_clean(p->page[k]); */ \
  /*@ assert was_other: \forall integer k; 0 <= k < p->pages ==> k != i ==> k != i + 1 ==> \
        p->page[k] != old && p->page[k] != second; */ \
  /*@ assert was_held: \forall integer k; 0 <= k < p->pages ==> page_holds(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */
#define ONE_IN_STORE \
  /*@ assert less: p->pages == \at(p->pages,Pre) - 1 && p->depth == \at(p->depth,Pre) && \
        p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert here: p->page[i] == both && p->first[i] == \at(p->first[i],Pre); */ \
  /*@ assert page_before: \forall integer k; 0 <= k < i ==> p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert page_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k + 1],Pre); */ \
  /*@ assert end_before: \forall integer k; 0 <= k < i ==> \
        page_end(p, k) == page_end{Pre}(p, k); */ \
  /*@ assert end_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        page_end(p, k) == page_end{Pre}(p, k + 1); */ \
  /*@ assert end_here: page_end(p, i) == page_end{Pre}(p, i + 1); */ \
  /*@ assert block_before: \forall integer k; 0 <= k < i ==> \
        a_page(p->page[k]) && p->page[k] != old && p->page[k] != second; */ \
  /*@ assert block_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        a_page(p->page[k]) && p->page[k] != old && p->page[k] != second; */ \
  /*@ assert block_here: a_page(both) && both != old && both != second; */ \
  /*@ assert blocks: \forall integer k; 0 <= k < p->pages ==> \
        a_page(p->page[k]) && p->page[k] != old && p->page[k] != second; */ \
  /*@ assert kept: \forall integer k; 0 <= k < p->pages ==> page_kept{Pre,Here}(p->page[k]); */ \
  /*@ assert held_before: \forall integer k; 0 <= k < i ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held_behind: \forall integer k; i + 1 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held_here: page_holds{Pre}(root, p->depth, both, p->first[i], page_end(p, i)); */ \
  /*@ assert held: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert clean: \forall integer k; 0 <= k < p->pages ==> page_clean{Pre}(p->page[k]); */ \
  /*@ assert pages_hold: \forall integer k; 0 <= k < p->pages ==> page_holds(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert store_holds: packed_holds(root, p); */ \
  /*@ assert own: pages_own(p); */ \
  /*@ assert store_owns: packed_owns(p); */ \
  /*@ assert old_is_spare: page_kept{Pre,Here}(old) && spare_page(p, old); */ \
  /*@ assert second_is_spare: page_kept{Pre,Here}(second) && spare_page(p, second); */
#define SET_OF_ONE \
  /*@ assert leaves: \forall integer k, x; 0 <= k < p->pages ==> \
        (leaf_of_page{Pre}(p->page[k], p->first[k], x) <==> \
         leaf_of_page(p->page[k], p->first[k], x)); */ \
  /*@ assert set_before: \forall integer k, x; 0 <= k < i ==> \
        (page_punctured{Pre}(p, k, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert set_behind: \forall integer k, x; i + 1 <= k < p->pages ==> \
        (page_punctured{Pre}(p, k + 1, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert set_here: \forall integer x; page_punctured(p, i, x) <==> \
        page_punctured{Pre}(p, i, x) || page_punctured{Pre}(p, i + 1, x); */ \
  /*@ assert out_before: \forall integer k, x; 0 <= k < i ==> \
        page_punctured{Pre}(p, k, x) ==> packed_punctured(p, x); */ \
  /*@ assert out_here: \forall integer x; page_punctured{Pre}(p, i, x) || \
        page_punctured{Pre}(p, i + 1, x) ==> packed_punctured(p, x); */ \
  /*@ assert out_behind: \forall integer k, x; i + 2 <= k < p->pages + 1 ==> \
        page_punctured{Pre}(p, k, x) ==> page_punctured(p, k - 1, x); */ \
  /*@ assert out_last: \forall integer k, x; i + 2 <= k < p->pages + 1 ==> \
        page_punctured{Pre}(p, k, x) ==> packed_punctured(p, x); */ \
  /*@ assert out: \forall integer x; packed_punctured{Pre}(p, x) ==> packed_punctured(p, x); */ \
  /*@ assert in: \forall integer x; packed_punctured(p, x) ==> packed_punctured{Pre}(p, x); */
#define SIZES_OF_ONE \
  /*@ assert bytes_kept: \forall integer k; 0 <= k < p->pages ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(p->page[k]); */ \
  /*@ assert bytes_before: \forall integer k; 0 <= k < i ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(\at(p->page[k],Pre)); */ \
  /*@ assert bytes_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(\at(p->page[k + 1],Pre)); */ \
  /*@ assert within: pages_within{Pre}(p) ==> pages_within(p); */ \
  /*@ assert seeds_before: \forall integer k; 0 <= k < i ==> \
        seeds_of_page(p, k) == seeds_of_page{Pre}(p, k); */ \
  /*@ assert seeds_behind: \forall integer k; i + 1 <= k < p->pages ==> \
        seeds_of_page(p, k) == seeds_of_page{Pre}(p, k + 1); */ \
  /*@ assert seeds_here: seeds_of_page(p, i) == seeds_of_page{Pre}(p, i) + seeds_of_page{Pre}(p, \
        i + 1); */

/* drop_two */
#define SECOND_IS_SPARE \
  /*@ assert first_sizes: p->pages == \at(p->pages,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert first_pages: \forall integer k; 0 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert second_kept: page_kept{Pre,Here}(second); */ \
  /*@ assert still_spare: spare_page(p, second); */

/* join_in_index */
#define PAGE_OF_BOTH \
  /*@ ghost Both: ; */ \
  /*@ assert same_sizes: p->pages == \at(p->pages,Pre) && p->page_max == \at(p->page_max,Pre) && \
        p->nodes == \at(p->nodes,Pre) && p->depth == \at(p->depth,Pre) && \
        p->room == \at(p->room,Pre); */ \
  /*@ assert counted: p->nodes == seeds_in_pages(p, p->pages); */ \
  /*@ assert bytes: page_bytes(both) <= p->page_max; */ \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert within_both: pages_within(p); */
#define ONE_IS_COUNTED \
  /*@ ghost \
    /@ loop invariant 0 <= k <= i; \
       loop invariant count: seeds_in_pages(p, k) == seeds_in_pages{Both}(p, k); \
       loop assigns k; \
       loop variant i - k; @/ \
    for (size_t k = 0; k < i; k++) { \
      /@ assert old: count_step{Both}(p, k); @/ \
      /@ assert new: count_step(p, k); @/ \
    } */ \
  /*@ assert step_left: count_step{Both}(p, i); */ \
  /*@ assert step_right: count_step{Both}(p, i + 1); */ \
  /*@ assert step_one: count_step(p, i); */ \
  /*@ ghost \
    /@ loop invariant i + 1 <= k <= p->pages; \
       loop invariant count: seeds_in_pages(p, k) == seeds_in_pages{Both}(p, k + 1); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = i + 1; k < p->pages; k++) { \
      /@ assert old: count_step{Both}(p, k + 1); @/ \
      /@ assert new: count_step(p, k); @/ \
      /@ assert same: seeds_of_page(p, k) == seeds_of_page{Both}(p, k + 1); @/ \
    } */ \
  /*@ assert within_one: pages_within(p); */ \
  /*@ assert all_counted: packed_counted(p); */ \
  /*@ assert one_sizes: p->page_max == \at(p->page_max,Both) && p->depth == \at(p->depth,Both) && \
        p->room == \at(p->room,Both) && p->first == \at(p->first,Both) && \
        p->page == \at(p->page,Both); */ \
  /*@ assert still_apart: index_apart(p); */ \
  /*@ ghost Counted: ; */
#define JOINED_STORE \
  /*@ assert same_sizes_2: p->pages == \at(p->pages,Counted) && \
        p->page_max == \at(p->page_max,Counted) && p->depth == \at(p->depth,Counted) && \
        p->room == \at(p->room,Counted) && p->first == \at(p->first,Counted) && \
        p->page == \at(p->page,Counted); */ \
  /*@ assert same_count: packed_counted(p); */ \
  /*@ assert same_memory: p->room == \at(p->room,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert within_still: pages_within(p); */ \
  /*@ assert sized: packed_sized(p); */

/* join_small, shrink_page */
#define SAME_SET_JOINED \
  /*@ assert joined: \forall integer x; packed_punctured{Pre}(p, x) <==> packed_punctured(p, x); */
#define PAGE_IS_LESS \
  /*@ assert same_size: p->pages == \at(p->pages,Pre) && p->page_max == \at(p->page_max,Pre) && \
        p->depth == \at(p->depth,Pre) && p->room == \at(p->room,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert within: pages_within(p); */ \
  /*@ assert counted: packed_counted(p); */
#define PAGE_TO_TIDY \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert pages: \forall integer k; 0 <= k < p->pages ==> page_fits(p->page[k]); */

/* give_room */
#define STORE_TO_GROW \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert apart_first: \separated(&p->room, p->first + (1 .. p->room - 1)) && \
        \separated(&p->nodes, p->first + (1 .. p->room - 1)); */ \
  /*@ assert apart_page: \separated(&p->first, p->page + (0 .. p->room - 1)) && \
        \separated(&p->page, p->page + (0 .. p->room - 1)); */ \
  /*@ assert apart_pages: \separated(p, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert within_page: leaf_within(p, leaf, p->page_max); */
#define STORE_HAS_ROOM \
  /*@ assert same_max: p->page_max == \at(p->page_max,Pre) && p->depth == \at(p->depth,Pre); */ \
  /*@ assert same_nodes: p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert same_room: p->room == \at(p->room,Pre); */ \
  /*@ assert same_first: p->first == \at(p->first,Pre); */ \
  /*@ assert same_page: p->page == \at(p->page,Pre); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert counted: packed_counted(p); */

/* ready_page */
#define PAGE_TO_GROW \
  /*@ assert page: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */ \
  /*@ ghost only_page_lemma(p, i, leaf); */ \
  /*@ assert only: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] <= leaf < page_end(p, k) ==> k == i; */ \
  /*@ assert fits: page_bytes(p->page[i]) + 17 * h - 16 <= p->page_max ==> \
        leaf_fits(p, leaf, h, p->page_max); */ \
  /*@ assert in_tree: leaf < pow2(p->depth); */ \
  /*@ assert few: p->pages <= OPT_INDEX_MAX; */
#define INDEX_HAS_ROOM \
  /*@ ghost Indexed: ; */ \
  /*@ assert indexed: packed_key(root, p) && same_tiles{Pre,Here}(p); */ \
  /*@ assert same_set: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */ \
  /*@ assert still_in_tree: leaf < pow2(p->depth); */ \
  /*@ assert room: err == 0 ==> leaf_fits(p, leaf, h, p->page_max) || p->pages + 2 <= p->room; */ \
  /*@ assert memory_is: p->first == &p->one_first && p->page == &p->one_page && p->room == 1 || \
        index_block(p->first, p->page, p->room); */ \
  /*@ assert in_index: p->room > 1 ==> \exists integer a, b; 0 <= a && \
        a + p->room <= OPT_INDEX_MAX && p->first == &opt_firsts[a] && 0 <= b && \
        b + p->room <= OPT_INDEX_MAX && p->page == &opt_lists[b]; */
#define TILES_AS_BEFORE \
  /*@ assert tiles_since: same_tiles{Indexed,Here}(p); */ \
  /*@ assert tiles: same_tiles{Pre,Here}(p); */

/* puncture_at */
#define PLACE_TO_PUNCTURE \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert pages: h > 0 ==> \separated(&opt_pages[0 .. OPT_PAGES_MAX - 1], \
        copath + (0 .. h - 1)); */ \
  /*@ assert within_before: pages_within(p); */ \
  /*@ assert small: page_bytes(p->page[i]) + (h > 0 ? 17 * h - 16 : 0) <= p->page_max; */
#define PLACE_IS_PUNCTURED \
  /*@ assert same_memory: p->room == \at(p->room,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre); */ \
  /*@ assert same_max: p->page_max == \at(p->page_max,Pre) && p->depth == \at(p->depth,Pre) && \
        p->pages == \at(p->pages,Pre); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert within: pages_within(p); */ \
  /*@ assert sized: packed_sized(p); */

/* ready_node */
#define COPATH_IS_APART \
  /*@ assert counted_before: packed_counted(p); */ \
  /*@ assert apart_store: \forall integer k; 0 <= k < h ==> \separated(p, copath + k); */ \
  /*@ assert apart_index: \forall integer k; 0 <= k < h ==> \
        \separated(&opt_firsts[0 .. OPT_INDEX_MAX - 1], copath + k); */ \
  /*@ assert apart_pages: \forall integer k; 0 <= k < h ==> \
        \separated(&opt_pages[0 .. OPT_PAGES_MAX - 1], copath + k); */
#define COPATH_AS_BEFORE \
  /*@ assert same_depth: p->depth == \at(p->depth,Pre) && p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert same_lo: \forall integer k; 0 <= k < h ==> copath[k].lo == \at(copath[k].lo,Pre); */ \
  /*@ assert same_hi: \forall integer k; 0 <= k < h ==> copath[k].hi == \at(copath[k].hi,Pre); */ \
  /*@ assert copath: copath_seeds(root, p->depth, leaf, copath, 0, h); */

/* puncture_grown */
#define TILE_OF_LEAF \
  /*@ assert still: packed_tile(p, OPT_TILE_LIVE + h, start); */ \
  /*@ assert height: tile_height(OPT_TILE_LIVE + h) == h; */ \
  /*@ ghost tile_of_leaf_lemma(p, i, at, leaf, OPT_TILE_LIVE + h, start); */

/* puncture_node */
#define TILE_OF_NODE \
  /*@ ghost only_tile_lemma(p, i, leaf); */ \
  /*@ assert covers_leaf: \forall integer k; 0 <= k < p->pages ==> node_in_page(p, k, node) ==> \
        tile_covers(page_row(p->page[k]), p->first[k], node.tile, leaf); */ \
  /*@ assert here: node_in_page(p, i, node); */ \
  /*@ assert place: place_of_leaf(p, i, at, leaf); */ \
  /*@ assert tile: page_tile(p, i, OPT_TILE_LIVE + h, node.start); */ \
  /*@ assert store_tile: packed_tile(p, OPT_TILE_LIVE + h, node.start); */ \
  /*@ assert page: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */

/* opt_packed_puncture */
#define NODE_IN_TREE \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ assert nodes: \forall integer k; 0 <= k < p->pages ==> node_in_page(p, k, node) ==> \
        tile_is_node(page_row(p->page[k]), p->first[k], p->depth, node.tile); */ \
  /*@ assert node: node.height <= p->depth && tree_node(p->depth, node.start, node.height); */ \
  /*@ assert leaf: leaf < pow2(p->depth); */

#endif

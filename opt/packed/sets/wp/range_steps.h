/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/sets/range.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_RANGE_STEPS_H
#define OPT_WP_PACKED_RANGE_STEPS_H

#include "../../draft/wp/rewrite_steps.h"

/* put_left_of */
#define NODES_STAY \
  ENTRIES_ARE_APART \
  /*@ assert nodes: tree_entries(root, depth, e, n); */

/* put_left */
#define PAGE_BEHIND \
  /*@ ghost const uint8_t *row = other->tile; */ \
  /*@ ghost unsigned tiles = other->tiles; */ \
  /*@ assert used: !free_page(other); */
#define OTHER_STAYS \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert stays: block_kept{Pre,Here}(other) && !free_page(other) && !of_run(d, other); */ \
  /*@ assert held: page_holds(root, depth, other, other_first, other_end); */ \
  /*@ assert size: other->tiles == tiles && page_fits(other); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= tiles; \
       loop invariant kept: row_kept{Pre,Here}(row, other_first, j); \
       loop assigns j; \
       loop variant tiles - j; @/ \
    for (unsigned j = 0; j < tiles; j++) { \
      /@ assert byte: tile_byte{Pre}(row, j) == tile_byte(row, j); @/ \
      /@ assert old: row_step{Pre}(row, other_first, j); @/ \
      /@ assert new: row_step(row, other_first, j); @/ \
    } */ \
  /*@ assert bytes: \forall integer j; 0 <= j < tiles ==> \
        tile_byte(row, j) == tile_byte{Pre}(row, j); */

/* put_range: facts about the last page are stated of its contents at the start; it does not
 * change */
#define RANGE_TO_PUT \
  /*@ ghost unsigned depth = p->depth; */ \
  /*@ ghost uint64_t start = p->first[from]; */ \
  /*@ ghost const uint8_t *row = page_b->tile; */ \
  /*@ ghost uint64_t first_b = p->first[to]; */ \
  /*@ ghost unsigned tiles = page_b->tiles; */ \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ ghost leaves_of_lemma(depth); */ \
  /*@ ghost uint64_t from_end = from + 1 < p->pages ? p->first[from + 1] : (uint64_t)1 << depth; \
        */ \
  /*@ ghost uint64_t stop = to + 1 < p->pages ? p->first[to + 1] : (uint64_t)1 << depth; */ \
  /*@ assert stops: from_end == page_end(p, from) && stop == page_end(p, to) <= pow2(depth); */ \
  /*@ assert page: page_holds(root, depth, page, start, from_end); */ \
  /*@ assert page_b: page_holds(root, depth, page_b, first_b, stop); */ \
  /*@ assert step_b: row_step(row, first_b, end.tile); */ \
  /*@ ghost range_set_lemma(p, from, to, begin, end, first, last, lefts, rights); */
#define LEFT_IS_PUT \
  /*@ ghost Left: ; */ \
  /*@ assert left_grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert place: end.start == tile_start(row, first_b, end.tile) && \
        end.seeds == seeds_before(row, end.tile) && \
        tile_start(row, first_b, end.tile + 1) == tile_start{Pre}(row, first_b, end.tile + 1); */ \
  /*@ assert covers: tile_covers(row, first_b, end.tile, last); */ \
  /*@ assert same_ends: \forall integer i; 0 <= i < rights ==> \
        entry_end(right, i) == entry_end{Pre}(right, i) && \
        entry_start(right, i) == entry_start{Pre}(right, i); */ \
  /*@ assert beside: \forall integer i, k; 0 <= i < k < rights ==> k == i + 1 ==> \
        entry_start{Pre}(right, i) == entry_end{Pre}(right, k); */ \
  /*@ assert last_one: rights > 0 ==> entry_start(right, rights - 1) == last + 1; */ \
  /*@ assert down: entries_down(right, rights, last + 1); */ \
  /*@ assert edge: rights > 0 ==> entry_end(right, 0) == tile_start(row, first_b, end.tile + 1); \
        */ \
  /*@ assert left_end: err == 0 ==> d->end == (lefts == 0 ? begin.start : first); */ \
  /*@ assert left_set: err == 0 ==> \forall integer x; draft_punctured(d, x) <==> \
        punctured_before{Pre}(p, from, begin, x); */ \
  /*@ assert row_covers: \forall integer j, x; 0 <= j < tiles ==> \
        (tile_covers{Pre}(row, first_b, j, x) <==> tile_covers(row, first_b, j, x)); */ \
  /*@ assert behind_out: \forall integer x; \
        punctured_between(row, first_b, end.tile + 1, tiles, x) ==> \
        punctured_between{Pre}(row, first_b, end.tile + 1, tiles, x); */ \
  /*@ assert behind_in: \forall integer x; \
        punctured_between{Pre}(row, first_b, end.tile + 1, tiles, x) ==> \
        punctured_between(row, first_b, end.tile + 1, tiles, x); */
#define RANGE_IS_PUT \
  /*@ assert right_grown: draft_grown{Left,Here}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert set: err == 0 ==> \forall integer x; draft_punctured(d, x) <==> \
        punctured_before{Pre}(p, from, begin, x) || punctured_behind{Pre}(p, to, end, x) || \
        (lefts == 0 ? begin.start : first) <= x < (rights > 0 ? last + 1 : place_end{Pre}(p, to, \
        end)); */

/* put_run_beside */
#define INDEX_TO_KEEP \
  /*@ assert places: p->pages <= p->room && \valid_read(p) && \
        \separated(p->first + (0 .. p->room - 1), &opt_pages[0 .. OPT_PAGES_MAX - 1]) && \
        \separated(p->page + (0 .. p->room - 1), &opt_pages[0 .. OPT_PAGES_MAX - 1]) && \
        \separated(p, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert apart: store_to_write(d, p); */ \
  /*@ assert own: \forall integer k; 0 <= k < p->pages ==> a_page(page_at(p, k)); */ \
  /*@ assert fit: \forall integer k; 0 <= k < p->pages ==> page_fits(page_at(p, k)); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant used: \forall integer j; 0 <= j < k ==> !free_page(page_at(p, j)); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      const struct opt_page *this = p->page[k]; \
      /@ assert fits: page_fits(this); @/ \
      /@ assert used: !free_page(this); @/ \
    } */ \
  /*@ assert not_of_run: \forall integer k; 0 <= k < p->pages ==> !of_run(d, page_at(p, k)); */ \
  /*@ ghost size_t pages = p->pages, room = p->room; */ \
  /*@ ghost uint64_t *firsts = p->first; */ \
  /*@ ghost struct opt_page **list = p->page; */ \
  /*@ assert firsts_draft: \separated(firsts + (0 .. room - 1), d); */ \
  /*@ assert place_draft: \forall integer k; 0 <= k < pages ==> \separated(&firsts[k], d); */
#define INDEX_IS_KEPT \
  /*@ assert same_nodes: p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert same_room: p->room == \at(p->room,Pre); */ \
  /*@ assert same_max: p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert same_pages: p->pages == \at(p->pages,Pre); */ \
  /*@ assert same_depth: p->depth == \at(p->depth,Pre); */ \
  /*@ assert same_firsts: p->first == \at(p->first,Pre); */ \
  /*@ assert same_list: p->page == \at(p->page,Pre); */ \
  /*@ assert room_of_index: p->pages <= p->room; */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= pages; \
       loop invariant firsts: \forall integer j; 0 <= j < k ==> \
         first_of{Pre}(p, j) == first_of(p, j); \
       loop invariant list: \forall integer j; 0 <= j < k ==> page_at{Pre}(p, j) == page_at(p, j); \
       loop assigns k; \
       loop variant pages - k; @/ \
    for (size_t k = 0; k < pages; k++) { \
      /@ assert first_draft: \separated(&firsts[k], d); @/ \
      /@ assert first_firsts: \separated(firsts + (k .. k), d->first + (0 .. d->room - 1)); @/ \
      /@ assert first_blocks: \separated(firsts + (k .. k), &opt_pages[0 .. OPT_PAGES_MAX - 1]); \
        @/ \
      /@ assert first: first_of{Pre}(p, k) == first_of(p, k); @/ \
      /@ assert list_place: \separated(list + (k .. k), d) && \
           \separated(list + (k .. k), d->first + (0 .. d->room - 1)) && \
           \separated(list + (k .. k), d->pages + (0 .. d->room - 1)) && \
           \separated(list + (k .. k), &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert page: page_at{Pre}(p, k) == page_at(p, k); @/ \
    } */ \
  /*@ assert index: index_same{Pre,Here}(p); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert stays: \forall struct opt_page *q; a_page(q) ==> !free_page{Pre}(q) ==> \
        !of_run{Pre}(d, q) ==> page_stays{Pre,Here}(d, q); */ \
  /*@ assert pages: \forall integer k; 0 <= k < p->pages ==> \
        page_stays{Pre,Here}(d, page_at(p, k)); */

/* put_new_run */
#define NEW_RUN \
  /*@ assert memory_before: index_memory(p); */ \
  /*@ assert begin_of: 0 <= p->first[from] && page_end(p, to) <= pow2(p->depth); */ \
  /*@ assert own_before: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert fit_before: \forall integer k; 0 <= k < p->pages ==> page_fits(p->page[k]); */
/* The index and its pages are unchanged, hence the store is. */
#define STORE_AS_BEFORE \
  /*@ assert same_fields: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre) && \
        p->room == \at(p->room,Pre) && p->nodes == \at(p->nodes,Pre) && \
        p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->first[k],Pre) == p->first[k]; */ \
  /*@ assert same_page: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->page[k],Pre) == p->page[k]; */ \
  /*@ assert index_read: \valid_read(p->first + (0 .. p->pages - 1)) && \
        \valid_read(p->page + (0 .. p->pages - 1)); */ \
  /*@ assert list_read: \forall integer k; 0 <= k < p->pages ==> \valid_read(p->page + k); */ \
  /*@ assert index: index_same{Pre,Here}(p) && pages_stay{Pre,Here}(d, p); */ \
  /*@ assert pages_kept: pages_kept{Pre,Here}(p); */ \
  /*@ ghost size_t pages = p->pages; */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= pages; \
       loop invariant blocks: \forall integer j; 0 <= j < k ==> \
         a_page(p->page[j]) && page_clean(p->page[j]); \
       loop invariant ends: \forall integer j; 0 <= j < k ==> \
         page_end{Pre}(p, j) == page_end(p, j); \
       loop invariant held: \forall integer j; 0 <= j < k ==> page_holds(root, p->depth, \
         p->page[j], p->first[j], page_end(p, j)); \
       loop invariant seeds: \forall integer j; 0 <= j < k ==> \
         seeds_of_page(p, j) == seeds_of_page{Pre}(p, j); \
       loop assigns k; \
       loop variant pages - k; @/ \
    for (size_t k = 0; k < pages; k++) { \
      const struct opt_page *this = p->page[k]; \
      /@ assert at: this == page_at(p, k) && this == page_at{Pre}(p, k) && \
           p->first[k] == first_of(p, k) && first_of(p, k) == first_of{Pre}(p, k); @/ \
      /@ assert behind: k + 1 < p->pages ==> first_of(p, k + 1) == first_of{Pre}(p, k + 1); @/ \
      /@ assert end: page_end{Pre}(p, k) == page_end(p, k); @/ \
      /@ assert stays: page_stays{Pre,Here}(d, this); @/ \
      /@ assert kept: block_kept{Pre,Here}(this); @/ \
      /@ assert clean: page_clean(this); @/ \
      /@ assert was: page_holds{Pre}(root, p->depth, this, p->first[k], page_end(p, k)); @/ \
      /@ assert is: page_holds(root, p->depth, this, p->first[k], page_end(p, k)); @/ \
      /@ assert seeds: seeds_of_page(p, k) == seeds_of_page{Pre}(p, k); @/ \
    } */ \
  STORE_OF_PAGES \
  /*@ assert held_before: packed_holds{Pre}(root, p); */ \
  /*@ assert leaves: leaves_kept{Pre,Here}(p); */ \
  /*@ assert set_out: \forall integer x; packed_punctured{Pre}(p, x) ==> \
        packed_punctured(p, x); */ \
  /*@ assert set_in: \forall integer x; packed_punctured(p, x) ==> packed_punctured{Pre}(p, x); */ \
  COUNT_KEPT \
  /*@ assert counted: packed_counted(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert within: pages_within(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert key: packed_key(root, p); */
#define NEW_RUN_IS_PUT \
  /*@ assert run_begins: d->at == 0; */ \
  /*@ assert new: run_new(p, d->pages, d->n); */ \
  /*@ assert ends: \forall integer i; draft_end(d, i) == run_end(d->first, d->n, d->end, i); */ \
  /*@ assert some: err == 0 ==> 1 <= d->n; */ \
  /*@ assert run_first: err == 0 ==> d->first[0] == p->first[from]; */ \
  /*@ assert rows: err == 0 ==> draft_rows(root, p->depth, d, d->n); */ \
  /*@ assert run: err == 0 ==> run_holds(root, p->depth, d->first, d->pages, d->n, \
        p->first[from], page_end(p, to)); */ \
  /*@ assert run_out: \forall integer x; run_punctured(d->first, d->pages, d->n, x) ==> \
        draft_punctured(d, x); */ \
  /*@ assert leaf_in: \forall integer i, x; 0 <= i < d->n ==> draft_leaf(d, i, x) ==> \
        run_punctured(d->first, d->pages, d->n, x); */ \
  /*@ assert run_in: \forall integer x; draft_punctured(d, x) ==> \
        run_punctured(d->first, d->pages, d->n, x); */

/* drop_draft */
#define DRAFT_TO_DROP \
  /*@ assert beside: draft_beside(d, p); */ \
  /*@ assert memory_before: index_memory(p) && draft_apart(d); */ \
  /*@ assert own: \forall integer j; 0 <= j < d->n ==> \
        a_page(d->pages[j]) && page_clean(d->pages[j]); */ \
  /*@ assert spare: \forall integer j; 0 <= j < d->n ==> spare_page(p, d->pages[j]); */ \
  /*@ assert distinct: draft_distinct(d); */
#define PAGE_OF_DRAFT \
  /*@ ghost Turn: ; */ \
  /*@ ghost struct opt_page *this = d->pages[i]; */ \
  /*@ assert this_spare: spare_page(p, this); */ \
  /*@ assert rest: \forall integer j; i < j < d->n ==> \
        spare_page(p, d->pages[j]) && d->pages[j] != this; */
#define PAGE_OF_DRAFT_IS_DROPPED \
  /*@ assert rest_kept: \forall integer j; i < j < d->n ==> page_kept{Turn,Here}(d->pages[j]); */ \
  /*@ assert rest_spare: \forall integer j; i < j < d->n ==> spare_page(p, d->pages[j]); */
#define DRAFT_IS_DROPPED \
  /*@ assert counted: packed_counted(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert key: packed_key(root, p); */

/* replace_run */
#define RUN_TO_REPLACE \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ ghost uint64_t start = p->first[from]; */ \
  /*@ ghost uint64_t stop = to + 1 < p->pages ? p->first[to + 1] : (uint64_t)1 << p->depth; */ \
  /*@ assert ends: start == first_of(p, from) && stop == page_end(p, to); */ \
  /*@ assert leaves: start <= first && last < stop; */
#define RUN_TO_TAKE_PLACE \
  /*@ ghost Put: ; */ \
  /*@ ghost size_t n = d->n; */ \
  /*@ assert same_index: index_same{Pre,Put}(p); */ \
  /*@ assert same_first: p->first[from] == first_of(p, from) == start; */ \
  /*@ assert same_behind: to + 1 < p->pages ==> \
        first_of(p, to + 1) == first_of{Pre}(p, to + 1); */ \
  /*@ assert same_end: page_end(p, to) == stop; */ \
  /*@ assert list: draft_list{Pre,Here}(d) && draft_distinct(d) && draft_blocks(d); */ \
  /*@ assert draft_room: d->room == \at(d->room,Pre); */ \
  /*@ assert draft_block: d->block == \at(d->block,Pre); */ \
  /*@ assert draft_firsts: d->first == \at(d->first,Pre); */ \
  /*@ assert draft_pages: d->pages == \at(d->pages,Pre); */ \
  /*@ assert same_firsts: p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre) && \
        p->room == \at(p->room,Pre) && p->pages == \at(p->pages,Pre) && \
        p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert beside: draft_beside(d, p); */ \
  /*@ assert few: n <= d->room; */ \
  /*@ assert apart: run_apart(p, d->first, d->pages, d->n); */ \
  /*@ assert own: run_own(d->pages, d->n); */ \
  /*@ assert distinct: run_distinct(d->pages, d->n); */ \
  /*@ assert blocks: \forall integer i; 0 <= i < d->n ==> page_bytes(d->pages[i]) <= d->block; */ \
  /*@ assert within: run_within(d->pages, d->n, p->page_max); */ \
  /*@ assert some: err == 0 ==> n >= 1; */ \
  /*@ assert count_apart: \separated(&d->n, p->first + (0 .. p->room - 1)) && \
        \separated(&d->n, p->page + (0 .. p->room - 1)) && \separated(&d->n, p) && \
        \separated(&d->n, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert inside: err == 0 ==> \forall integer x; start <= x < stop ==> \
        (run_punctured(d->first, d->pages, d->n, x) <==> \
         packed_punctured{Pre}(p, x) || first <= x <= last); */
#define RUN_HAS_TAKEN_PLACE \
  /*@ assert same_count: d->n == n; */ \
  /*@ assert set_inside: \forall integer x; start <= x < stop ==> \
        (packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || first <= x <= last); */ \
  /*@ assert set_outside: \forall integer x; !(start <= x < stop) ==> \
        (packed_punctured(p, x) <==> packed_punctured{Pre}(p, x)); */

/* size_of_range */
#define RANGE_TO_MEASURE \
  /*@ assert from_page: page_fits(p->page[from]) && page_bytes(p->page[from]) <= p->page_max; */ \
  /*@ assert to_page: page_fits(p->page[to]) && page_bytes(p->page[to]) <= p->page_max; */ \
  /*@ assert depth: 1 <= p->depth <= 63; */ \
  /*@ assert most: 98 <= p->page_max <= 4096; */

/* begin_draft, opt_packed_drop_index */
#define ALL_IS_APART \
  BLOCKS_ARE_APART \
  /*@ assert all_kept: \forall struct opt_page *q; a_page(q) ==> page_kept{Pre,Here}(q); */ \
  KEY_IS_SAME
#define DRAFT_IS_EMPTY \
  /*@ assert index: index_same{Pre,Here}(p); */ \
  /*@ assert lists: \valid(d->first + (0 .. d->room - 1)) && \
        \valid(d->pages + (0 .. d->room - 1)); */ \
  /*@ assert apart: draft_apart(d); */ \
  /*@ assert own: draft_own(d); */ \
  /*@ assert beside: draft_beside(d, p); */ \
  /*@ assert not_of_run: \forall struct opt_page *q; !of_run(d, q); */ \
  /*@ assert block: \forall struct opt_page *q; a_page(q) ==> page_to_write(d, q); */ \
  /*@ assert to_write: store_to_write(d, p); */

/* open_beside */
#define NODES_BESIDE_DRAFT \
  /*@ ghost \
    /@ loop invariant 0 <= k <= n; \
       loop invariant starts: \forall integer j; 0 <= j < k ==> \
         entry_start{Pre}(e, j) == entry_start(e, j); \
       loop invariant heights: \forall integer j; 0 <= j < k ==> \
         entry_height{Pre}(e, j) == entry_height(e, j); \
       loop invariant seeds: \forall integer j; 0 <= j < k ==> \
         entry_seed{Pre}(e, j) == entry_seed(e, j); \
       loop assigns k; \
       loop variant n - k; @/ \
    for (size_t k = 0; k < n; k++) { \
      /@ assert place: \separated(e + (k .. k), d); @/ \
      /@ assert start: entry_start{Pre}(e, k) == entry_start(e, k); @/ \
      /@ assert height: entry_height{Pre}(e, k) == entry_height(e, k); @/ \
      /@ assert lo: entry_lo{Pre}(e, k) == entry_lo(e, k); @/ \
      /@ assert hi: entry_hi{Pre}(e, k) == entry_hi(e, k); @/ \
    } */ \
  /*@ assert kept: entries_kept{Pre,Here}(e, n); */ \
  /*@ assert same_depth: p->depth == \at(p->depth,Pre); */ \
  /*@ assert nodes: tree_entries(root, p->depth, e, n); */ \
  /*@ assert apart: entries_apart(d, e, n); */

/* range_with */
#define PAGES_OF_RANGE \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ assert order: to < from ==> page_end(p, to) <= p->first[from]; */ \
  /*@ assert from_to: from <= to; */ \
  /*@ assert firsts: first_of(p, from) <= first < page_end(p, from) && \
        first_of(p, to) <= last < page_end(p, to); */
#define PAGES_OF_RANGE_STAY \
  /*@ assert same_index: index_same{Pre,Here}(p); */ \
  /*@ assert same_ends: \forall integer k; 0 <= k < p->pages ==> \
        page_end(p, k) == page_end{Pre}(p, k); */ \
  /*@ assert still_from: p->first[from] <= first < page_end(p, from); */ \
  /*@ assert still_to: p->first[to] <= last < page_end(p, to); */ \
  /*@ assert rows: draft_rows(root, p->depth, d, d->n); */ \
  /*@ assert draft: draft_holds(root, p->depth, d, p->first[from]); */ \
  /*@ assert empty: \forall integer x; !draft_punctured(d, x); */
#define PLACES_OF_RANGE \
  /*@ assert from_page: page_fits(p->page[from]) && \
        begin.tile < p->page[from]->tiles <= OPT_ARENA_MAX; */ \
  /*@ assert to_page: page_fits(p->page[to]) && end.tile < p->page[to]->tiles <= OPT_ARENA_MAX; */ \
  /*@ ghost uint8_t b = p->page[from]->tile[begin.tile], b2 = p->page[to]->tile[end.tile]; */ \
  /*@ assert left_byte: tile_byte(page_row(p->page[from]), begin.tile) == b; */ \
  /*@ assert right_byte: tile_byte(page_row(p->page[to]), end.tile) == b2; */ \
  /*@ assert left_start: tile_start(page_row(p->page[from]), p->first[from], \
        begin.tile) == begin.start; */ \
  /*@ assert right_start: tile_start(page_row(p->page[to]), p->first[to], end.tile) == end.start; \
        */ \
  /*@ assert left_tile: page_tile(p, from, b, begin.start); */ \
  /*@ assert right_tile: page_tile(p, to, b2, end.start); */ \
  /*@ assert left_of_store: packed_tile(p, b, begin.start); */ \
  /*@ assert right_of_store: packed_tile(p, b2, end.start); */ \
  /*@ assert left_covers: covers(begin.start, tile_height(b), first); */ \
  /*@ assert right_covers: covers(end.start, tile_height(b2), last); */ \
  /*@ assert left_was: left_of_node{Pre}(b, begin.start, first, left, lefts); */ \
  /*@ assert right_was: right_of_node{Pre}(b2, end.start, last, right, rights); */ \
  /*@ assert left_ends: \forall integer i; 0 <= i < lefts ==> \
        entry_end(left, i) == entry_end{Pre}(left, i) && \
        entry_start(left, i) == entry_start{Pre}(left, i); */ \
  /*@ assert right_ends: \forall integer i; 0 <= i < rights ==> \
        entry_end(right, i) == entry_end{Pre}(right, i) && \
        entry_start(right, i) == entry_start{Pre}(right, i); */ \
  /*@ assert left_is: left_of_node(b, begin.start, first, left, lefts); */ \
  /*@ assert right_is: right_of_node(b2, end.start, last, right, rights); */ \
  /*@ assert step: row_step(page_row(p->page[to]), p->first[to], end.tile); */ \
  /*@ assert place_end: place_end(p, to, end) == end.start + pow2(tile_height(b2)); */ \
  /*@ assert left: left_of_tile(p, from, begin, first, left, lefts); */ \
  /*@ assert right: right_of_tile(p, to, end, last, right, rights); */

/* rewrite_range */
#define DRAFT_IN_BLOCK \
  /*@ assert room_apart: \separated(&p->room, p->first + (0 .. p->room - 1)) && \
        \separated(&p->room, index.first + (0 .. size.pages - 1)) && \separated(&p->room, &d); */ \
  /*@ assert page_apart: \separated(&p->page, p->page + (0 .. p->room - 1)) && \
        \separated(&p->page, index.page + (0 .. size.pages - 1)) && \separated(&p->page, &d); */ \
  /*@ assert first_apart: \separated(&p->first, p->page + (0 .. p->room - 1)) && \
        \separated(&p->first, index.page + (0 .. size.pages - 1)) && \separated(&p->first, &d); */
#define RANGE_AT_END \
  /*@ assert fits_in: \forall integer k; 0 <= k < p->pages ==> page_fits(p->page[k]); */
#define DRAFT_AT_END \
  /*@ assert room_there: p->room == \at(p->room,Pre); */ \
  /*@ assert page_there: p->page == \at(p->page,Pre); */ \
  /*@ assert first_there: p->first == \at(p->first,Pre); */
#define INDEX_OF_DRAFT \
  /*@ assert same_room: p->room == \at(p->room,Pre); */ \
  /*@ assert same_first: p->first == \at(p->first,Pre); */ \
  /*@ assert same_page: p->page == \at(p->page,Pre); */ \
  /*@ assert still_apart: \separated(index.first + (0 .. size.pages - 1), \
        p->first + (0 .. p->room - 1)) && \
        \separated(index.page + (0 .. size.pages - 1), p->page + (0 .. p->room - 1)); */

/* reserve */
#define NODES_BESIDE_STORE \
  /*@ ghost \
    /@ loop invariant 0 <= k <= n; \
       loop invariant starts: \forall integer j; 0 <= j < k ==> \
         entry_start{Pre}(e, j) == entry_start(e, j); \
       loop invariant heights: \forall integer j; 0 <= j < k ==> \
         entry_height{Pre}(e, j) == entry_height(e, j); \
       loop invariant seeds: \forall integer j; 0 <= j < k ==> \
         entry_seed{Pre}(e, j) == entry_seed(e, j); \
       loop assigns k; \
       loop variant n - k; @/ \
    for (size_t k = 0; k < n; k++) { \
      /@ assert place: \separated(e + (k .. k), p) && \
           \separated(e + (k .. k), &opt_firsts[0 .. OPT_INDEX_MAX - 1]); @/ \
      /@ assert start_place: \separated(&e[k].node.start, &opt_firsts[0 .. OPT_INDEX_MAX - 1]); @/ \
      /@ assert start: entry_start{Pre}(e, k) == entry_start(e, k); @/ \
      /@ assert height: entry_height{Pre}(e, k) == entry_height(e, k); @/ \
      /@ assert lo: entry_lo{Pre}(e, k) == entry_lo(e, k); @/ \
      /@ assert hi: entry_hi{Pre}(e, k) == entry_hi(e, k); @/ \
    } */ \
  /*@ assert kept: entries_kept{Pre,Here}(e, n); */
#define TILES_BESIDE_NODES \
  /*@ assert left_ends: \forall integer i; 0 <= i < lefts ==> \
        entry_end(left, i) == entry_end{Pre}(left, i) && \
        entry_start(left, i) == entry_start{Pre}(left, i); */ \
  /*@ assert right_ends: \forall integer i; 0 <= i < rights ==> \
        entry_end(right, i) == entry_end{Pre}(right, i) && \
        entry_start(right, i) == entry_start{Pre}(right, i); */ \
  /*@ assert same_depth: p->depth == \at(p->depth,Pre); */ \
  /*@ assert old_left: \forall integer b, s; packed_tile(p, b, s) ==> \
        covers(s, tile_height(b), first) ==> left_of_node{Pre}(b, s, first, left, lefts); */ \
  /*@ assert old_right: \forall integer b, s; packed_tile(p, b, s) ==> \
        covers(s, tile_height(b), last) ==> right_of_node{Pre}(b, s, last, right, rights); */ \
  /*@ assert same_left: \forall integer b, s; left_of_node{Pre}(b, s, first, left, lefts) ==> \
        left_of_node(b, s, first, left, lefts); */ \
  /*@ assert same_right: \forall integer b, s; right_of_node{Pre}(b, s, last, right, rights) ==> \
        right_of_node(b, s, last, right, rights); */

/* opt_packed_puncture_range */
#define RANGE_TO_REWRITE \
  /*@ assert room: p->pages <= p->room <= OPT_INDEX_MAX; */ \
  /*@ assert pages: 1 <= size.pages <= 0x4000 && from < p->pages; */ \
  /*@ assert count_apart: index_memory(p) && \
        \separated(&p->nodes, &opt_firsts[0 .. OPT_INDEX_MAX - 1]); */
#define RANGE_HAS_ROOM /*@ assert reserved: p->nodes == \at(p->nodes,Pre); */
#define RANGE_IS_REWRITTEN \
  /*@ ghost uint64_t nodes = p->nodes; */ \
  /*@ assert none: n == 0 ==> nodes == \at(p->nodes,Pre); */ \
  /*@ assert none_set: n == 0 ==> \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */ \
  /*@ assert nodes_apart: index_memory(p) && \
        \separated(&p->nodes, &opt_firsts[0 .. OPT_INDEX_MAX - 1]) && \
        \separated(&p->nodes, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */
#define INDEX_IS_TIDY /*@ assert nodes_of_index: p->nodes == nodes; */
#define RANGE_IS_TIDY \
  /*@ assert same_nodes: p->nodes == nodes; */ \
  /*@ assert still_none: n == 0 ==> \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */

#endif

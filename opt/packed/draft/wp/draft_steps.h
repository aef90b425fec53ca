/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of draft.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_DRAFT_STEPS_H
#define OPT_WP_DRAFT_STEPS_H

#include "../../wp/index_steps.h"
#include "../../wp/tiles_steps.h"

/* append_node, append_hole: the row before the new tile */
#define ROW_TO_APPEND \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost const struct pprf_seed *top = (struct pprf_seed *)page->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost unsigned kept = page->tiles, seeds = page->seeds; */ \
  /*@ ghost row_order_lemma(row, kept, first, d); */ \
  /*@ ghost deep_tree_lemma(d); */
/* ... is the row up to it */
#define ROW_BEFORE_LAST \
  STARTS_KEPT \
  /*@ assert kept_places: seeds_before(row, kept) == seeds && \
        tile_start(row, first, kept) == end; */ \
  /*@ assert step: row_step(row, first, kept); */ \
  /*@ assert same: \forall integer i; 0 <= i < kept ==> \
        tile_byte{Pre}(row, i) == tile_byte(row, i) && \
        tile_start{Pre}(row, first, i) == tile_start(row, first, i) && \
        seeds_before{Pre}(row, i) == seeds_before(row, i); */ \
  /*@ assert nodes: \forall integer i; 0 <= i < kept ==> tile_is_node{Pre}(row, first, d, i); */ \
  /*@ assert nodes_head: \forall integer i; 0 <= i < kept ==> tile_is_node(row, first, d, i); */ \
  /*@ assert less: \forall integer i; 0 <= i < kept ==> tile_byte{Pre}(row, i) >= 64 ==> \
        0 <= seeds_before{Pre}(row, i) < seeds; */ \
  /*@ assert above: \forall integer j; 0 <= j < seeds ==> \
        place_seed(top, j) == place_seed{Pre}(top, j); */ \
  /*@ assert places_head: \forall integer i; 0 <= i < kept ==> tile_byte(row, i) >= 64 ==> \
        place_seed(top, seeds_before(row, i)) == place_seed{Pre}(top, seeds_before{Pre}(row, i)); \
        */ \
  /*@ assert held: \forall integer i; 0 <= i < kept ==> \
        tile_has_seed{Pre}(root, d, row, first, top, i); */ \
  /*@ assert held_head: \forall integer i; 0 <= i < kept ==> seed_of_node(root, d, \
        tile_byte(row, i), tile_start(row, first, i), \
        place_seed{Pre}(top, seeds_before{Pre}(row, i))); */ \
  /*@ assert seeds_head: \forall integer i; 0 <= i < kept ==> \
        tile_has_seed(root, d, row, first, top, i); */ \
  /*@ assert out_head: \forall integer i, x; 0 <= i < kept ==> tile_byte{Pre}(row, i) < 64 ==> \
        tile_covers{Pre}(row, first, i, x) ==> row_punctured(row, kept, first, x); */ \
  /*@ assert in_head: \forall integer i, x; 0 <= i < kept ==> tile_byte(row, i) < 64 ==> \
        tile_covers(row, first, i, x) ==> row_punctured{Pre}(row, kept, first, x); */ \
  /*@ assert out: \forall integer x; row_punctured{Pre}(row, kept, first, x) ==> \
        row_punctured(row, kept, first, x); */ \
  /*@ assert in: \forall integer x; row_punctured(row, kept, first, x) ==> \
        row_punctured{Pre}(row, kept, first, x); */ \
  /*@ assert longer: \forall integer x; row_punctured(row, kept, first, x) ==> \
        row_punctured(row, kept + 1, first, x); */
#define NODE_IS_LAST \
  ROW_BEFORE_LAST \
  /*@ assert byte: tile_byte(row, kept) == 64 + h; */ \
  /*@ assert node: tile_is_node(row, first, d, kept); */ \
  /*@ assert place: place_seed(top, seeds) == seed_value(*value); */ \
  /*@ assert own: tile_has_seed(root, d, row, first, top, kept); */ \
  /*@ assert row_nodes: row_tiles(row, kept + 1, first, d); */ \
  /*@ assert row_seeds: row_seeds(root, d, row, kept + 1, first, top); */ \
  /*@ assert row: row_holds(root, d, row, kept + 1, first, end + pow2(h), top, seeds + 1); */ \
  /*@ assert shorter: \forall integer x; row_punctured(row, kept + 1, first, x) ==> \
        row_punctured(row, kept, first, x); */ \
  /*@ assert counts: page->tiles == kept + 1 && page->seeds == seeds + 1; */ \
  /*@ assert rest: \forall integer j; 0 <= j < OPT_PAGE_SEEDS - seeds - 1 ==> \
        zero_place{Pre}(page, j) ==> zero_place(page, j); */
#define HOLE_IS_LAST \
  ROW_BEFORE_LAST \
  /*@ assert byte: tile_byte(row, kept) == h; */ \
  /*@ assert node: tile_is_node(row, first, d, kept); */ \
  /*@ assert own: tile_has_seed(root, d, row, first, top, kept); */ \
  /*@ assert row_nodes: row_tiles(row, kept + 1, first, d); */ \
  /*@ assert row_seeds: row_seeds(root, d, row, kept + 1, first, top); */ \
  /*@ assert row: row_holds(root, d, row, kept + 1, first, end + pow2(h), top, seeds); */ \
  /*@ assert hole: \forall integer x; covers(end, h, x) ==> \
        row_punctured(row, kept + 1, first, x); */ \
  /*@ assert shorter: \forall integer x; row_punctured(row, kept + 1, first, x) ==> \
        row_punctured(row, kept, first, x) || covers(end, h, x); */ \
  /*@ assert counts: page->tiles == kept + 1 && page->seeds == seeds; */ \
  /*@ assert rest: \forall integer j; 0 <= j < OPT_PAGE_SEEDS - seeds ==> \
        zero_place{Pre}(page, j) ==> zero_place(page, j); */

/* merge_hole */
#define HOLE_IN_ROW \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost const struct pprf_seed *top = (struct pprf_seed *)page->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost unsigned seeds = page->seeds; */ \
  /*@ ghost deep_tree_lemma(d); */ \
  /*@ ghost uint64_t behind = end_lemma(end, h); */
#define HOLE_IS_MERGED \
  /*@ assert row: row_holds(root, d, row, page->tiles, first, behind, top, seeds); */

/* empty_page, where OTHERS_KEPT has shown the rest */
#define BLOCKS_KEPT \
  /*@ assert pages_kept: others_kept{Pre,Here}(page); */ \
  /*@ assert fit: \forall struct opt_page *q; a_page(q) ==> q != page ==> page_fits{Pre}(q) ==> \
        page_fits(q); */ \
  /*@ assert blocks: blocks_kept{Pre,Here}(page); */

/* put_behind, count_tile: the memory written is not a block */
#define FIELDS_ARE_APART \
  /*@ ghost struct opt_page *page = NULL; */ \
  /*@ assert same_seeds: \forall integer k, j; 0 <= k < OPT_PAGES_MAX ==> \
        0 <= j < OPT_PAGE_SEEDS ==> place_seed{Pre}(page_top(&opt_pages[k]), \
        j) == place_seed(page_top(&opt_pages[k]), j); */ \
  /*@ assert same_zero: \forall integer k, j; 0 <= k < OPT_PAGES_MAX ==> \
        0 <= j < OPT_PAGE_SEEDS ==> zero_place{Pre}(&opt_pages[k], j) ==> \
        zero_place(&opt_pages[k], j); */ \
  OTHERS_KEPT \
  BLOCKS_KEPT

/* next_page */
#define NOTHING_CHANGED \
  /*@ assert still: \forall struct opt_page *q; a_page(q) ==> block_kept{Pre,Here}(q); */ \
  /*@ assert still_grown: draft_grown{Pre,Here}(d); */
#define PAGE_IS_NEW \
  /*@ ghost Taken: ; */ \
  /*@ assert same_list: draft_list{Pre,Here}(d) && d->n == \at(d->n,Pre) && \
        d->at == \at(d->at,Pre) && d->end == \at(d->end,Pre) && d->nodes == \at(d->nodes,Pre); */ \
  /*@ assert used: \forall integer i; 0 <= i < d->n ==> a_page(d->pages[i]) && \
        !free_page{Pre}(d->pages[i]); */ \
  /*@ assert other: \forall integer i; 0 <= i < d->n ==> d->pages[i] != page; */ \
  /*@ assert kept: \forall integer i; 0 <= i < d->n ==> block_kept{Pre,Here}(d->pages[i]); */ \
  /*@ assert old_blocks: draft_blocks{Pre}(d); */ \
  /*@ assert clean: \forall integer i; 0 <= i < d->n ==> page_clean{Pre}(d->pages[i]); */ \
  /*@ assert blocks: draft_blocks(d); */ \
  /*@ assert old_distinct: draft_distinct{Pre}(d); */ \
  /*@ assert distinct: draft_distinct(d); */ \
  /*@ assert apart: draft_apart(d); */ \
  /*@ assert own: draft_own(d); */ \
  /*@ assert some: \forall struct opt_page *q; a_page(q) ==> q != \null; */ \
  /*@ assert none: page == \null ==> draft_others{Pre,Here}(d); */ \
  /*@ assert grown_none: page == \null ==> draft_grown{Pre,Here}(d); */
#define PAGE_IS_BEHIND \
  /*@ ghost size_t n = d->n - 1; */ \
  /*@ assert since: \forall struct opt_page *q; a_page(q) ==> q != \null ==> \
        block_kept{Taken,Here}(q); */ \
  /*@ assert whole_list: draft_list{Pre,Here}(d); */ \
  /*@ assert fields: d->n == n + 1 && n == \at(d->n,Pre) && d->at == \at(d->at,Pre) && \
        d->end == \at(d->end,Pre) && d->nodes == \at(d->nodes,Pre); */ \
  /*@ assert last: d->pages[n] == page && d->first[n] == d->end; */ \
  /*@ assert same_pages: \forall integer i; 0 <= i < n ==> d->pages[i] == \at(d->pages[i],Pre) && \
        d->first[i] == \at(d->first[i],Pre); */ \
  /*@ assert still_pages: \forall integer i; 0 <= i < n ==> a_page(d->pages[i]) && \
        d->pages[i] != page; */ \
  /*@ assert before: \forall integer i; 0 <= i < n ==> block_kept{Pre,Taken}(d->pages[i]); */ \
  /*@ assert behind: \forall integer i; 0 <= i < n ==> block_kept{Taken,Here}(d->pages[i]); */ \
  /*@ assert whole: \forall integer i; 0 <= i < n ==> block_kept{Pre,Here}(d->pages[i]); */ \
  /*@ assert empty: page->tiles == 0 && page->seeds == 0 && page_bytes(page) == 8; */ \
  /*@ assert page_clean: page_clean(page) && a_page(page) && \
        page_bytes(page) + 17 <= d->block <= page->bytes <= OPT_ARENA_MAX; */ \
  /*@ assert was_clean: \forall integer i; 0 <= i < n ==> page_clean{Pre}(d->pages[i]); */ \
  /*@ assert own_blocks: draft_blocks(d); */ \
  /*@ assert was_distinct: \forall integer i, k; 0 <= i < k < n ==> d->pages[i] != d->pages[k]; */ \
  /*@ assert own_distinct: draft_distinct(d); */ \
  /*@ assert own_apart: draft_apart(d); */ \
  /*@ assert still_own: draft_own(d); */ \
  /*@ assert others: \forall struct opt_page *q; a_page(q) ==> q != page ==> \
        block_kept{Pre,Here}(q); */ \
  /*@ assert run: of_run(d, page); */ \
  /*@ assert draft_others: draft_others{Pre,Here}(d); */ \
  /*@ assert taken: draft_taken{Pre,Here}(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert ends: \forall integer i; d->at <= i < n ==> \
        draft_end{Pre}(d, i) == draft_end(d, i); */ \
  /*@ assert sames: draft_sames{Pre,Here}(d, n); */ \
  /*@ assert old_rows: draft_rows{Pre}(root, depth, d, n); */ \
  /*@ assert rows: draft_rows(root, depth, d, n); */ \
  /*@ assert from: draft_from(depth, d, from); */ \
  /*@ assert row: row_holds(root, depth, page_row(page), 0, d->end, d->end, page_top(page), 0); */ \
  /*@ assert open: page_open(root, depth, page, d->end, d->end); */ \
  /*@ assert draft: draft_open(root, depth, d, from); */ \
  /*@ assert set: \forall integer x; draft_set{Pre}(d, n, x) <==> draft_set(d, n, x); */ \
  /*@ assert none_new: \forall integer x; !draft_leaf(d, n, x); */ \
  /*@ assert none_more: \forall integer x; draft_set(d, n + 1, x) <==> draft_set(d, n, x); */

/* room_for_tile */
#define LAST_OF_DRAFT \
  /*@ assert fit: draft_fit(d, d->n); */ \
  /*@ assert last_fits: d->at < d->n ==> page_fits(d->pages[d->n - 1]); */
#define LAST_IS_OPEN \
  NOTHING_CHANGED \
  /*@ ghost struct opt_page *page = d->pages[d->n - 1]; */ \
  /*@ assert rows: draft_rows(root, depth, d, d->n); */ \
  /*@ assert end: draft_end(d, d->n - 1) == d->end; */ \
  /*@ assert last: page_holds(root, depth, page, d->first[d->n - 1], d->end); */ \
  /*@ assert bytes: page_bytes(page) + 17 <= d->block <= page->bytes; */ \
  /*@ assert page_open: page_open(root, depth, page, d->first[d->n - 1], d->end); */ \
  /*@ assert before: draft_rows(root, depth, d, d->n - 1); */ \
  /*@ assert from: draft_from(depth, d, from); */ \
  /*@ assert open: draft_open(root, depth, d, from); */

/* append_node, merge_hole: no other block has changed */
#define PAGE_ALONE_CHANGED \
  /*@ ghost \
    /@ loop invariant 0 <= k <= OPT_PAGES_MAX; \
       loop invariant same: \forall integer l; 0 <= l < k ==> &opt_pages[l] != page ==> \
         same_page{Pre,Here}(&opt_pages[l]); \
       loop assigns k; \
       loop variant OPT_PAGES_MAX - k; @/ \
    for (size_t k = 0; k < OPT_PAGES_MAX; k++) { \
      const struct opt_page *page_k = &opt_pages[k]; \
      /@ assert apart: page_k != page ==> \separated(page_k, page); @/ \
      /@ assert same_tiles: page_k != page ==> \forall integer j; 0 <= j < OPT_ARENA_MAX ==> \
           tile_byte{Pre}(page_row(page_k), j) == tile_byte(page_row(page_k), j); @/ \
      /@ assert same_seeds: page_k != page ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           place_seed{Pre}(page_top(page_k), j) == place_seed(page_top(page_k), j); @/ \
      /@ assert same_zero: page_k != page ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           zero_place{Pre}(page_k, j) ==> zero_place(page_k, j); @/ \
      /@ assert both: page_k != page ==> same_page{Pre,Here}(page_k); @/ \
    } */ \
  /*@ assert other_pages: other_pages{Pre,Here}(page); */ \
  OTHERS_KEPT \
  BLOCKS_KEPT

/* add_node, add_hole */
#define PAGE_TO_EXTEND \
  /*@ ghost size_t n = d->n - 1; */ \
  /*@ ghost struct opt_page *page = d->pages[n]; */ \
  /*@ ghost uint64_t first = d->first[n], end = d->end; */ \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ ghost leaves_of_lemma(h); */ \
  /*@ assert block: a_page(page) && page_clean(page) && d->block <= page->bytes; */ \
  /*@ assert fits: end + pow2(h) <= pow2(depth) <= 0x8000000000000000; */
#define PAGE_IS_EXTENDED \
  /*@ ghost Extended: ; */ \
  /*@ assert same_list: draft_list{Pre,Here}(d) && d->n == \at(d->n,Pre) && \
        d->at == \at(d->at,Pre) && d->end == \at(d->end,Pre) && d->nodes == \at(d->nodes,Pre); */ \
  /*@ assert extended: page_holds(root, depth, page, first, end + pow2(h)) && page_clean(page) && \
        page_bytes(page) <= d->block <= page->bytes; */ \
  /*@ assert other: \forall integer i; 0 <= i < n ==> \
        a_page(d->pages[i]) && d->pages[i] != page; */ \
  /*@ assert kept: \forall integer i; 0 <= i < n ==> block_kept{Pre,Here}(d->pages[i]); */
#define DRAFT_IS_LONGER \
  /*@ assert since: \forall struct opt_page *q; a_page(q) ==> q != \null ==> \
        block_kept{Extended,Here}(q); */ \
  /*@ assert whole_list: draft_list{Pre,Here}(d); */ \
  /*@ assert fields: d->n == n + 1 && d->n == \at(d->n,Pre) && d->at == \at(d->at,Pre) && \
        d->end == end + pow2(h); */ \
  /*@ assert last: d->pages[n] == page && d->first[n] == first; */ \
  /*@ assert same_pages: \forall integer i; 0 <= i < n ==> d->pages[i] == \at(d->pages[i],Pre) && \
        d->first[i] == \at(d->first[i],Pre); */ \
  /*@ assert still_pages: \forall integer i; 0 <= i < n ==> a_page(d->pages[i]) && \
        d->pages[i] != page; */ \
  /*@ assert before: \forall integer i; 0 <= i < n ==> block_kept{Pre,Extended}(d->pages[i]); */ \
  /*@ assert behind: \forall integer i; 0 <= i < n ==> block_kept{Extended,Here}(d->pages[i]); */ \
  /*@ assert whole: \forall integer i; 0 <= i < n ==> block_kept{Pre,Here}(d->pages[i]); */ \
  /*@ assert page_since: block_kept{Extended,Here}(page); */ \
  /*@ assert page_clean: page_clean(page) && a_page(page) && \
        page_bytes(page) <= d->block <= page->bytes; */ \
  /*@ assert was_clean: \forall integer i; 0 <= i < n ==> page_clean{Pre}(d->pages[i]); */ \
  /*@ assert own_blocks: draft_blocks(d); */ \
  /*@ assert own_distinct: draft_distinct(d); */ \
  /*@ assert own_apart: draft_apart(d); */ \
  /*@ assert still_own: draft_own(d); */ \
  /*@ assert others: \forall struct opt_page *q; a_page(q) ==> q != page ==> \
        block_kept{Pre,Here}(q); */ \
  /*@ assert run: of_run(d, page); */ \
  /*@ assert draft_others: draft_others{Pre,Here}(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert ends: \forall integer i; d->at <= i < n ==> \
        draft_end{Pre}(d, i) == draft_end(d, i); */ \
  /*@ assert sames: draft_sames{Pre,Here}(d, n); */ \
  /*@ assert old_rows: draft_rows{Pre}(root, depth, d, n); */ \
  /*@ assert rows: draft_rows(root, depth, d, n); */ \
  /*@ assert page_holds: page_holds(root, depth, page, first, d->end); */ \
  /*@ assert all_rows: draft_rows(root, depth, d, n + 1); */ \
  /*@ assert from: draft_from(depth, d, from); */ \
  /*@ assert draft: draft_holds(root, depth, d, from); */ \
  /*@ assert set: \forall integer x; draft_set{Pre}(d, n, x) <==> draft_set(d, n, x); */ \
  /*@ assert old_step: \forall integer x; draft_punctured{Pre}(d, x) <==> \
        draft_set{Pre}(d, n, x) || leaf_of_page{Pre}(page, first, x); */ \
  /*@ assert step: \forall integer x; draft_punctured(d, x) <==> \
        draft_set(d, n, x) || leaf_of_page(page, first, x); */ \
  /*@ assert leaf: \forall integer x; leaf_of_page(page, first, x) <==> \
        leaf_of_page{Extended}(page, first, x); */
#define NODE_IN_DRAFT \
  /*@ assert same_leaf: \forall integer x; leaf_of_page{Extended}(page, first, x) <==> \
        leaf_of_page{Pre}(page, first, x); */
#define HOLE_IN_DRAFT \
  /*@ assert same_leaf: \forall integer x; leaf_of_page{Extended}(page, first, x) <==> \
        leaf_of_page{Pre}(page, first, x) || covers(end, h, x); */

/* opt_draft_begin */
#define RUN_IS_EMPTY \
  /*@ assert some: \forall struct opt_page *q; a_page(q) ==> q != \null; */ \
  /*@ assert list: draft_list{Pre,Here}(d); */ \
  /*@ assert pages: \forall integer i; 0 <= i < d->n ==> d->pages[i] == \at(d->pages[i],Pre) && \
        a_page(d->pages[i]); */ \
  /*@ assert kept: \forall integer i; 0 <= i < d->n ==> block_kept{Pre,Here}(d->pages[i]); */ \
  /*@ assert was_clean: \forall integer i; 0 <= i < d->n ==> page_clean{Pre}(d->pages[i]); */ \
  /*@ assert own_blocks: draft_blocks(d); */ \
  /*@ assert own_distinct: draft_distinct(d); */ \
  /*@ assert own: draft_own(d); */ \
  /*@ assert kept_all: draft_kept{Pre,Here}(d); */

/* opt_draft_live, opt_draft_hole */
#define ROOM_IS_THERE_NOW \
  /*@ ghost Room: ; */ \
  /*@ assert room_end: d->end == \at(d->end,Pre) && d->nodes == \at(d->nodes,Pre); */ \
  /*@ assert room_set: \forall integer x; draft_punctured(d, x) <==> draft_punctured{Pre}(d, x); */
/* the seed to be copied is unchanged */
#define SEED_STAYS \
  /*@ assert grown_since: draft_grown{Pre,Here}(d); */ \
  /*@ assert stays: \forall struct opt_page *q, integer j; seed_of_block{Pre}(d, q, j, seed) ==> \
        block_kept{Pre,Here}(q) && seed_of_block(d, q, j, seed); */ \
  /*@ assert seed_kept: \forall struct opt_page *q, integer j; \
        seed_of_block{Pre}(d, q, j, seed) ==> \
        place_seed(page_top(q), OPT_PAGE_SEEDS - 1 - j) == place_seed{Pre}(page_top(q), \
        OPT_PAGE_SEEDS - 1 - j); */ \
  /*@ assert place_here: \forall struct opt_page *q, integer j; \
        seed_of_block{Pre}(d, q, j, seed) ==> \
        place_seed(page_top(q), OPT_PAGE_SEEDS - 1 - j) == seed_value(*seed); */ \
  /*@ assert place_then: \forall struct opt_page *q, integer j; \
        seed_of_block{Pre}(d, q, j, seed) ==> \
        place_seed{Pre}(page_top(q), OPT_PAGE_SEEDS - 1 - j) == seed_value(\at(*seed,Pre)); */ \
  /*@ assert block_seed: \forall struct opt_page *q, integer j; \
        seed_of_block{Pre}(d, q, j, seed) ==> seed_value(*seed) == seed_value(\at(*seed,Pre)); */ \
  /*@ assert same_seed: seed_value(*seed) == seed_value(\at(*seed,Pre)); */
#define SEED_IS_SAME \
  SEED_STAYS \
  /*@ assert run: of_run(d, d->pages[d->n - 1]); */ \
  /*@ assert block: a_page(d->pages[d->n - 1]); */ \
  /*@ assert block_apart: \forall struct opt_page *q, integer j; \
        seed_of_block{Pre}(d, q, j, seed) ==> \separated(seed, d->pages[d->n - 1]); */ \
  /*@ assert seed_apart: \separated(seed, d->pages[d->n - 1]); */
#define TILE_IN_ROOM \
  /*@ assert room: draft_grown{Pre,Room}(d); */ \
  /*@ assert tile: draft_grown{Room,Here}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */

/* greatest_from */
#define NODE_HAS_PARENT \
  /*@ ghost leaves_of_lemma(h); */ \
  /*@ assert lower: h != depth; */ \
  /*@ ghost parent_lemma(depth, start, h); */
#define NODE_HAS_CHILD \
  /*@ ghost leaves_of_lemma(h); */ \
  /*@ assert higher: h != 0; */

/* opt_draft_punctured */
#define HOLE_BEGINS \
  NOTHING_CHANGED \
  /*@ ghost uint64_t start = d->end; */ \
  /*@ ghost uint64_t *first = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */ \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ ghost if (start < end) leaf_node_lemma(depth, start); */
#define HOLE_TO_PUT \
  /*@ ghost Turn: ; */ \
  /*@ ghost uint64_t at = d->end; */ \
  /*@ ghost leaves_of_lemma(h); */
#define HOLE_IS_PUT \
  /*@ assert put: draft_grown{Turn,Here}(d); */ \
  /*@ assert put_before: draft_grown{Pre,Turn}(d); */ \
  /*@ assert longer: draft_grown{Pre,Here}(d); */
#define HOLE_IS_LONGER \
  /*@ ghost if (d->end < end) next_node_lemma(depth, at, h); */ \
  /*@ assert covered: \forall integer x; covers(at, h, x) <==> at <= x < d->end; */

#endif

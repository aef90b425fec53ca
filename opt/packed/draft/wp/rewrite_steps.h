/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of rewrite.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_REWRITE_STEPS_H
#define OPT_WP_REWRITE_STEPS_H

#include "draft_steps.h"

/* opt_draft_row: facts about the row are stated of its contents at the start; it does not change */
#define ROW_TO_WRITE \
  NOTHING_CHANGED \
  /*@ ghost uint64_t *firsts = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost unsigned tiles = page->tiles, last = at.tile + n; */ \
  /*@ ghost row_order_lemma(row, tiles, first, depth); */ \
  /*@ ghost counts_lemma(row, tiles); */ \
  /*@ assert total: seeds_before{Pre}(row, tiles) == \at(page->seeds,Pre); */ \
  /*@ assert used: !free_page(page); */
#define TILE_IN_ROW \
  /*@ ghost Turn: ; */ \
  /*@ assert same_tiles: page->tiles == tiles && page->seeds == \at(page->seeds,Pre); */ \
  /*@ assert fits: page_fits(page) && page->seeds < OPT_PAGE_SEEDS; */ \
  /*@ assert byte: tile_byte(row, i) == tile_byte{Pre}(row, i); */ \
  /*@ assert step: row_step{Pre}(row, first, i); */ \
  /*@ assert node: tile_is_node{Pre}(row, first, depth, i); */ \
  /*@ assert byte_node: byte_of_node(depth, tile_byte(row, i), d->end); */ \
  /*@ assert seed_then: tile_has_seed{Pre}(root, depth, row, first, page_top(page), i); */ \
  /*@ assert counted: k + tile_seeds(tile_byte{Pre}(row, i)) <= seeds_before{Pre}(row, tiles); */ \
  /*@ assert few: k <= page->seeds; */ \
  /*@ assert live: tile_byte(row, i) >= 64 ==> k < page->seeds; */ \
  /*@ assert seed_same: k < page->seeds ==> \
        place_seed(page_top(page), k) == place_seed{Pre}(page_top(page), k); */ \
  /*@ assert seed_block: k < page->seeds ==> \
        seed_of_block(d, page, OPT_PAGE_SEEDS - 1 - k, \
        (struct pprf_seed *)page_top(page) - (k + 1)); */
#define TILE_OF_ROW \
  TILE_IN_ROW \
  /*@ ghost uint64_t at_leaf = d->end; */
#define TILE_IS_WRITTEN \
  /*@ assert put: draft_grown{Turn,Here}(d); */ \
  /*@ assert put_before: draft_grown{Pre,Turn}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert longer: draft_grown{Pre,Here}(d); */ \
  /*@ assert page_stays: block_kept{Pre,Here}(page) && !free_page(page) && !of_run(d, page); */ \
  /*@ assert byte_still: tile_byte(row, i) == tile_byte{Pre}(row, i); */
#define SET_WITH_TILE \
  /*@ assert covered: \forall integer x; tile_covers{Pre}(row, first, i, x) <==> \
        covers(at_leaf, tile_height(tile_byte{Pre}(row, i)), x); */ \
  /*@ assert one_more: \forall integer x; \
        punctured_between{Pre}(row, first, at.tile, i + 1, x) <==> \
        punctured_between{Pre}(row, first, at.tile, i, x) || \
        tile_byte{Pre}(row, i) < 64 && tile_covers{Pre}(row, first, i, x); */

/* The memory of the entries is separate from the draft's. */
#define ENTRIES_LIE_APART \
  /*@ assert apart_draft: \forall integer k; 0 <= k < n ==> \separated(e + k, d); */ \
  /*@ assert apart_firsts: \forall integer k; 0 <= k < n ==> \
        \separated(e + k, d->first + (0 .. d->room - 1)); */ \
  /*@ assert apart_list: \forall integer k; 0 <= k < n ==> \
        \separated(e + k, d->pages + (0 .. d->room - 1)); */ \
  /*@ assert apart_pages: \forall integer k; 0 <= k < n ==> \
        \separated(e + k, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert lo_firsts: \forall integer k; 0 <= k < n ==> \
        \separated(&e[k].seed.lo, d->first + (0 .. d->room - 1)); */ \
  /*@ assert hi_firsts: \forall integer k; 0 <= k < n ==> \
        \separated(&e[k].seed.hi, d->first + (0 .. d->room - 1)); */ \
  /*@ assert lo_pages: \forall integer k; 0 <= k < n ==> \
        \separated(&e[k].seed.lo, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert hi_pages: \forall integer k; 0 <= k < n ==> \
        \separated(&e[k].seed.hi, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert lo_draft: \forall integer k; 0 <= k < n ==> \separated(&e[k].seed.lo, d); */ \
  /*@ assert hi_draft: \forall integer k; 0 <= k < n ==> \separated(&e[k].seed.hi, d); */
#define ENTRIES_ARE_APART \
  /*@ assert still_apart: entries_apart(d, e, n); */ \
  /*@ assert same_height: \forall integer k; 0 <= k < n ==> \
        entry_height(e, k) == entry_height{Pre}(e, k); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= n; \
       loop invariant starts: \forall integer j; 0 <= j < k ==> \
         entry_start{Pre}(e, j) == entry_start(e, j); \
       loop invariant seeds: \forall integer j; 0 <= j < k ==> \
         entry_seed{Pre}(e, j) == entry_seed(e, j); \
       loop assigns k; \
       loop variant n - k; @/ \
    for (unsigned k = 0; k < n; k++) { \
      /@ assert place: \separated(e + (k .. k), d) && \
        \separated(e + (k .. k), d->first + (0 .. d->room - 1)) && \
        \separated(e + (k .. k), d->pages + (0 .. d->room - 1)) && \
        \separated(e + (k .. k), &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert start_place: \separated(&e[k].node.start, d) && \
           \separated(&e[k].node.start, d->first + (0 .. d->room - 1)) && \
           \separated(&e[k].node.start, &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert start: entry_start{Pre}(e, k) == entry_start(e, k); @/ \
      /@ assert lo: entry_lo{Pre}(e, k) == entry_lo(e, k); @/ \
      /@ assert hi: entry_hi{Pre}(e, k) == entry_hi(e, k); @/ \
    } */ \
  /*@ assert kept: entries_kept{Pre,Here}(e, n); */

/* put_entry_of */
#define ENTRY_TO_WRITE \
  /*@ assert entry: 0 <= entry_height(e, i) <= depth && \
        tree_node(depth, entry_start(e, i), entry_height(e, i)) && \
        entry_seed(e, i) == node_seed(root, depth, entry_start(e, i), entry_height(e, i)); */ \
  /*@ assert apart: seed_apart(d, &e[i].seed); */ \
  ENTRIES_LIE_APART

/* opt_draft_up, opt_draft_down */
#define NODES_TO_WRITE \
  NOTHING_CHANGED \
  /*@ ghost uint64_t start = d->end; */ \
  /*@ ghost uint64_t *firsts = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */
#define NODE_OF_ROW \
  /*@ ghost Turn: ; */ \
  /*@ assert nodes: tree_entries(root, depth, e, n); */
#define NODE_IS_WRITTEN \
  /*@ assert put: draft_grown{Turn,Here}(d); */ \
  /*@ assert put_before: draft_grown{Pre,Turn}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert longer: draft_grown{Pre,Here}(d); */ \
  /*@ assert kept_turn: entries_kept{Turn,Here}(e, n); */ \
  /*@ assert kept: entries_kept{Pre,Here}(e, n); */

/* opt_draft_left */
#define LEFT_TO_WRITE \
  ENTRIES_LIE_APART \
  /*@ assert first_tile: tile_start(page_row(page), first, 0) == first && \
        seeds_before(page_row(page), 0) == 0; */
#define ROW_IS_WRITTEN \
  ENTRIES_ARE_APART \
  /*@ ghost Row: ; */ \
  /*@ assert row_grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert nodes: tree_entries(root, depth, e, n); */ \
  /*@ assert same_ends: \forall integer i; 0 <= i < n ==> \
        entry_end(e, i) == entry_end{Pre}(e, i) && entry_start(e, i) == entry_start{Pre}(e, i); */ \
  /*@ assert beside: \forall integer i, k; 0 <= i < k < n ==> k == i + 1 ==> \
        entry_end{Pre}(e, i) == entry_start{Pre}(e, k); */ \
  /*@ assert up: entries_up(e, n, at.start); */
#define LEFT_IS_WRITTEN \
  /*@ assert rest_grown: draft_grown{Row,Here}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert ends: n > 0 ==> entry_end{Row}(e, n - 1) == entry_end{Pre}(e, n - 1) && \
        entry_end{Row}(e, 0) == entry_end{Pre}(e, 0); */

/* put_gap_and */
#define GAP_IS_WRITTEN \
  ENTRIES_ARE_APART \
  /*@ ghost Row: ; */ \
  /*@ assert row_grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert nodes: tree_entries(root, depth, e, n); */ \
  /*@ assert down: entries_down(e, n, gap); */

/* opt_draft_right: the page is unchanged */
#define RIGHT_TO_WRITE \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost unsigned tiles = page->tiles; */ \
  /*@ assert node: tile_is_node(row, first, depth, at.tile); */ \
  /*@ assert step: row_step(row, first, at.tile); */ \
  /*@ ghost row_order_lemma(row, tiles, first, depth); */ \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ assert used: !free_page(page); */
#define TILE_ENDS \
  /*@ assert behind: behind == tile_start(row, first, at.tile + 1); */ \
  /*@ assert within: last < behind && behind <= end; */
#define PAGE_STAYS \
  /*@ ghost Gap: ; */ \
  /*@ assert gap_grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert stays: block_kept{Pre,Here}(page) && !free_page(page) && !of_run(d, page); */ \
  /*@ assert held: page_holds(root, depth, page, first, end); */ \
  /*@ assert size: page->tiles == tiles; */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= tiles; \
       loop invariant kept: row_kept{Pre,Here}(row, first, j); \
       loop assigns j; \
       loop variant tiles - j; @/ \
    for (unsigned j = 0; j < tiles; j++) { \
      /@ assert byte: tile_byte{Pre}(row, j) == tile_byte(row, j); @/ \
      /@ assert old: row_step{Pre}(row, first, j); @/ \
      /@ assert new: row_step(row, first, j); @/ \
    } */ \
  /*@ assert row_bytes: \forall integer j; 0 <= j < tiles ==> \
        tile_byte{Pre}(row, j) == tile_byte(row, j); */ \
  /*@ assert row_starts: \forall integer j; 0 <= j <= tiles ==> \
        tile_start{Pre}(row, first, j) == tile_start(row, first, j) && \
        seeds_before{Pre}(row, j) == seeds_before(row, j); */ \
  /*@ assert row_covers: \forall integer j, x; 0 <= j < tiles ==> \
        (tile_covers{Pre}(row, first, j, x) <==> tile_covers(row, first, j, x)); */ \
  /*@ assert leaves_out: \forall integer x; \
        punctured_between{Pre}(row, first, at.tile + 1, tiles, x) ==> \
        punctured_between(row, first, at.tile + 1, tiles, x); */ \
  /*@ assert leaves_in: \forall integer x; \
        punctured_between(row, first, at.tile + 1, tiles, x) ==> \
        punctured_between{Pre}(row, first, at.tile + 1, tiles, x); */
#define RIGHT_IS_WRITTEN \
  /*@ assert rest_grown: draft_grown{Gap,Here}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */

#endif

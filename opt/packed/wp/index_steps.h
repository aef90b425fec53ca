/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of index.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_INDEX_STEPS_H
#define OPT_WP_INDEX_STEPS_H

/* opt_place_in */
#define PAGE_OF_LEAF \
  /*@ ghost const struct opt_page *page = p->page[i]; */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost uint64_t first = p->first[i]; */ \
  /*@ ghost unsigned tiles = page->tiles; */ \
  /*@ ghost unsigned d = p->depth; */ \
  /*@ assert page: page_holds(root, d, page, first, page_end(p, i)); */
#define PLACE_IN_STORE \
  /*@ ghost row_order_lemma(row, tiles, first, d); */ \
  /*@ ghost pages_lemma(p); */ \
  /*@ assert place: place_of_leaf(p, i, at, leaf); */ \
  /*@ assert inside: \forall integer x; tile_covers(row, first, at.tile, x) ==> \
        first <= x < page_end(p, i); */ \
  /*@ assert other_tile: \forall integer k, x; 0 <= k < tiles ==> \
        tile_covers(row, first, at.tile, x) ==> tile_covers(row, first, k, x) ==> k == at.tile; */ \
  /*@ assert other_page: \forall integer k, x; 0 <= k < p->pages ==> \
        tile_covers(row, first, at.tile, x) ==> page_punctured(p, k, x) ==> k == i; */ \
  /*@ assert here: \forall integer x; tile_covers(row, first, at.tile, x) ==> \
        page_punctured(p, i, x) ==> tile_byte(row, at.tile) < 64; */ \
  /*@ assert own: tile_byte(row, at.tile) < 64 ==> \forall integer x; \
        tile_covers(row, first, at.tile, x) ==> page_punctured(p, i, x); */

/* opt_seed_in */
#define SEED_OF_TILE \
  /*@ ghost row_order_lemma(row, tiles, first, d); */ \
  /*@ assert step: row_step(row, first, at.tile); */ \
  /*@ assert own: tile_has_seed(root, d, row, first, page_top(page), at.tile); */ \
  /*@ assert place: at.seeds < page->seeds < OPT_PAGE_SEEDS; */

/* give_node */
#define TILE_OF_STORE \
  /*@ ghost const struct opt_page *page = p->page[i]; */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ assert page: page_holds(root, p->depth, page, p->first[i], page_end(p, i)); */ \
  /*@ assert tile: tile_is_node(row, p->first[i], p->depth, at.tile); */ \
  /*@ ghost row_order_lemma(row, page->tiles, p->first[i], p->depth); */ \
  /*@ ghost places_of_pages_lemma(p); */ \
  /*@ ghost if (page->tile[at.tile] >= 64) live_tile_lemma(p, i, at.tile); */

/* What was written is separate from the store, which is therefore unchanged. */
#define STORE_IS_APART \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->first[k],Pre) == p->first[k] && \at(p->page[k],Pre) == p->page[k]; */ \
  /*@ assert same_end: \forall integer k; 0 <= k < p->pages ==> \
        page_end{Pre}(p, k) == page_end(p, k); */ \
  /*@ assert same_size: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->page[k]->bytes,Pre) == p->page[k]->bytes && \
        \at(p->page[k]->tiles,Pre) == p->page[k]->tiles && \
        \at(p->page[k]->seeds,Pre) == p->page[k]->seeds; */ \
  /*@ assert same_seeds: \forall integer k, j; 0 <= k < p->pages ==> 0 <= j < OPT_PAGE_SEEDS ==> \
        place_seed{Pre}(page_top(p->page[k]), j) == place_seed(page_top(p->page[k]), j); */ \
  /*@ assert places: \forall integer k, j; 0 <= k < p->pages ==> 0 <= j < p->page[k]->tiles ==> \
        tile_byte(page_row(p->page[k]), j) >= 64 ==> \
        0 <= seeds_before(page_row(p->page[k]), j) < OPT_PAGE_SEEDS; */ \
  /*@ assert same_place: \forall integer k, j; 0 <= k < p->pages ==> \
        0 <= j < p->page[k]->tiles ==> tile_byte(page_row(p->page[k]), j) >= 64 ==> \
        place_seed{Pre}(page_top(p->page[k]), \
        seeds_before(page_row(p->page[k]), j)) == place_seed(page_top(p->page[k]), \
        seeds_before(page_row(p->page[k]), j)); */ \
  /*@ assert held_pages: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held_rows: \forall integer k; 0 <= k < p->pages ==> row_seeds{Pre}(root, \
        p->depth, page_row(p->page[k]), p->page[k]->tiles, p->first[k], page_top(p->page[k])); */ \
  /*@ assert held: \forall integer k, j; 0 <= k < p->pages ==> 0 <= j < p->page[k]->tiles ==> \
        tile_has_seed{Pre}(root, p->depth, page_row(p->page[k]), p->first[k], \
                           page_top(p->page[k]), j); */ \
  /*@ assert seeds: \forall integer k, j; 0 <= k < p->pages ==> 0 <= j < p->page[k]->tiles ==> \
        tile_has_seed(root, p->depth, page_row(p->page[k]), p->first[k], \
                      page_top(p->page[k]), j); */ \
  /*@ assert rows: \forall integer k; 0 <= k < p->pages ==> \
        row_seeds(root, p->depth, page_row(p->page[k]), p->page[k]->tiles, p->first[k], \
                  page_top(p->page[k])); */ \
  /*@ assert pages: \forall integer k; 0 <= k < p->pages ==> \
        page_holds(root, p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert old_order: ascending_pages{Pre}(p); */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert old_below: pages_below{Pre}(p); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert same_pages: \forall integer k, x; 0 <= k < p->pages ==> \
        (page_punctured{Pre}(p, k, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert set: \forall integer x; packed_punctured{Pre}(p, x) <==> packed_punctured(p, x); */
#define PAGES_ARE_APART \
  /*@ assert same_zero: \forall integer k, j; 0 <= k < p->pages ==> 0 <= j < OPT_PAGE_SEEDS ==> \
        zero_place{Pre}(p->page[k], j) ==> zero_place(p->page[k], j); */ \
  /*@ assert own: pages_own{Pre}(p) ==> pages_own(p); */ \
  /*@ assert distinct: pages_distinct{Pre}(p) ==> pages_distinct(p); */ \
  /*@ assert index_is_apart: index_apart{Pre}(p) ==> index_apart(p); */
#define NODE_IS_APART \
  STORE_IS_APART \
  /*@ assert here: tile_byte(row, at.tile) >= 64 ==> node_in_page(p, i, *node); */ \
  PAGES_ARE_APART

/* put_count */
#define COUNT_IS_APART \
  STORE_IS_APART \
  PAGES_ARE_APART

/* opt_packed_find */
#define LEAF_IN_TILE \
  /*@ ghost const struct opt_page *page = p->page[i]; */ \
  /*@ assert page: page_holds(root, p->depth, page, p->first[i], page_end(p, i)); */ \
  /*@ assert tile: tile_is_node(page_row(page), p->first[i], p->depth, at.tile); */ \
  /*@ assert start: place_of_leaf(p, i, at, at.start); */

/* live_in_page */
#define TILE_IS_GONE \
  /*@ assert tile: tile_is_node(row, first, d, at.tile); */ \
  /*@ assert step: row_step(row, first, at.tile); */ \
  /*@ assert own: \forall integer x; tile_covers(row, first, at.tile, x) ==> \
        punctured_between(row, first, from, at.tile + 1, x); */ \
  /*@ assert before: \forall integer x; punctured_between(row, first, from, at.tile, x) ==> \
        punctured_between(row, first, from, at.tile + 1, x); */

/* opt_packed_next */
#define PAGE_TO_SEARCH \
  /*@ assert page: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */
#define PAGE_IS_SEARCHED \
  /*@ assert searched: \forall integer x; page_punctured(p, i, x) ==> packed_punctured(p, x); */
#define PAGE_IS_LEFT \
  /*@ assert page: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */ \
  /*@ assert end: at.start == page_end(p, i); */
#define NEXT_IN_TILE \
  /*@ assert page: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */ \
  /*@ assert tile: tile_is_node(page_row(p->page[i]), p->first[i], p->depth, at.tile); */ \
  /*@ ghost leaves_of_lemma(p->page[i]->tile[at.tile] % 64u); */ \
  /*@ assert start: place_of_leaf(p, i, at, at.start); */

/* opt_packed_seed */
#define NODE_OF_STORE \
  /*@ assert in: \exists integer k; 0 <= k < p->pages && node_in_page(p, k, node) && \
        node.start < pow2(p->depth); */
#define NODE_IN_PAGE \
  /*@ ghost only_page_lemma(p, i, node.start); */ \
  /*@ assert page: node_in_page(p, i, node); */ \
  /*@ assert holds: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */ \
  /*@ assert tile: tile_is_node(page_row(p->page[i]), p->first[i], p->depth, node.tile); */ \
  /*@ ghost leaves_of_lemma(node.height); */

/* take_leaf */
#define ROW_OF_PAGE \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost const struct pprf_seed *top = (struct pprf_seed *)page->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost unsigned seeds = page->seeds; */ \
  /*@ ghost row_order_lemma(row, page->tiles, first, d); */
#define LEAF_IS_OUT /*@ assert row: row_holds(root, d, row, tiles, first, end, top, seeds - 1); */

/* puncture_below */
#define TILE_IS_REPLACED \
  /*@ assert row: row_holds(root, d, row, page->tiles, first, end, top, seeds + h - 1); */

/* opt_page_part */
#define ROW_TO_COPY \
  /*@ ghost const uint8_t *old = from->tile; */ \
  /*@ ghost const struct pprf_seed *old_top = (struct pprf_seed *)from->seed + OPT_PAGE_SEEDS; */ \
  /*@ ghost row_order_lemma(old, from->tiles, first, d); */ \
  /*@ assert used: !free_page(from) && from->seeds < OPT_PAGE_SEEDS; */ \
  /*@ assert part_seeds: at.seeds + m <= from->seeds; */ \
  /*@ assert from_seeds: \forall integer i; at.tile <= i < at.tile + n ==> \
        at.seeds <= seeds_before(old, i); */ \
  /*@ assert part_places: \forall integer i; at.tile <= i < at.tile + n ==> \
        seeds_before(old, i) + tile_seeds(tile_byte(old, i)) <= at.seeds + m; */
#define PAGE_IS_APART \
  /*@ ghost Taken: ; */ \
  /*@ assert other: from != page; */ \
  /*@ assert apart: \separated(from, page); */ \
  /*@ assert same: same_page{Pre,Here}(from); */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost const struct pprf_seed *top = (struct pprf_seed *)page->seed + OPT_PAGE_SEEDS; */
#define PART_IS_ROW \
  /*@ assert bytes: \forall integer i; 0 <= i < n ==> \
        tile_byte(row, i) == tile_byte{Pre}(old, at.tile + i); */ \
  /*@ assert seeds: \forall integer i; 0 <= i < m ==> \
        place_seed(top, i) == place_seed{Pre}(old_top, at.seeds + i); */ \
  /*@ assert rest: \forall integer i; 0 <= i < OPT_PAGE_SEEDS - m ==> zero_place(page, i); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= n; \
       loop invariant starts: \forall integer i; 0 <= i <= j ==> \
         tile_start(row, at.start, i) == tile_start{Pre}(old, first, at.tile + i) && \
         seeds_before(row, i) + at.seeds == seeds_before{Pre}(old, at.tile + i); \
       loop assigns j; \
       loop variant n - j; @/ \
    for (unsigned j = 0; j < n; j++) { \
      /@ assert old: row_step{Pre}(old, first, at.tile + j); @/ \
      /@ assert new: row_step(row, at.start, j); @/ \
      /@ assert byte: tile_byte(row, j) == tile_byte{Pre}(old, at.tile + j); @/ \
    } */ \
  /*@ assert nodes_old: \forall integer i; 0 <= i < n ==> \
        tile_is_node{Pre}(old, first, d, at.tile + i); */ \
  /*@ assert nodes: \forall integer i; 0 <= i < n ==> tile_is_node(row, at.start, d, i); */ \
  /*@ assert held: \forall integer i; 0 <= i < n ==> \
        tile_has_seed{Pre}(root, d, old, first, old_top, at.tile + i); */ \
  /*@ assert places_old: \forall integer i; 0 <= i < n ==> \
        at.seeds <= seeds_before{Pre}(old, at.tile + i) && seeds_before{Pre}(old, at.tile + i) + \
        tile_seeds(tile_byte{Pre}(old, at.tile + i)) <= at.seeds + m; */ \
  /*@ assert places_new: \forall integer i; 0 <= i < n ==> 0 <= seeds_before(row, i) && \
        seeds_before(row, i) + tile_seeds(tile_byte(row, i)) <= m; */ \
  /*@ assert places: \forall integer i; 0 <= i < n ==> tile_byte(row, i) >= 64 ==> \
        0 <= seeds_before(row, i) < m; */ \
  /*@ assert held_here: \forall integer i; 0 <= i < n ==> seed_of_node(root, d, \
        tile_byte(row, i), tile_start(row, at.start, i), \
        place_seed{Pre}(old_top, seeds_before{Pre}(old, at.tile + i))); */ \
  /*@ assert row_seeds: \forall integer i; 0 <= i < n ==> \
        tile_has_seed(root, d, row, at.start, top, i); */ \
  /*@ assert row: row_holds(root, d, row, n, at.start, \
        tile_start{Pre}(old, first, at.tile + n), top, m); */ \
  /*@ assert back: \forall integer i; at.tile <= i < at.tile + n ==> \
        tile_byte{Pre}(old, i) == tile_byte(row, i - at.tile) && \
        tile_start{Pre}(old, first, i) == tile_start(row, at.start, i - at.tile); */ \
  /*@ assert out: \forall integer i, x; at.tile <= i < at.tile + n ==> \
        tile_byte{Pre}(old, i) < 64 ==> tile_covers{Pre}(old, first, i, x) ==> \
        row_punctured(row, n, at.start, x); */ \
  /*@ assert in: \forall integer i, x; 0 <= i < n ==> tile_byte(row, i) < 64 ==> \
        tile_covers(row, at.start, i, x) ==> \
        punctured_between{Pre}(old, first, at.tile, at.tile + n, x); */ \
  /*@ assert tiles_out: \forall integer b, s; \
        tile_between{Pre}(old, first, at.tile, at.tile + n, b, s) ==> \
        tile_between(row, at.start, 0, n, b, s); */ \
  /*@ assert tiles_in: \forall integer b, s; tile_between(row, at.start, 0, n, b, s) ==> \
        tile_between{Pre}(old, first, at.tile, at.tile + n, b, s); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= OPT_PAGES_MAX; \
       loop invariant same: \forall integer l; 0 <= l < k ==> &opt_pages[l] != page ==> \
         same_page{Pre,Here}(&opt_pages[l]); \
       loop assigns k; \
       loop variant OPT_PAGES_MAX - k; @/ \
    for (size_t k = 0; k < OPT_PAGES_MAX; k++) { \
      const struct opt_page *page_k = &opt_pages[k]; \
      /@ assert apart: page_k != page ==> \separated(page_k, page); @/ \
      /@ assert taken: page_k != page ==> same_page{Pre,Taken}(page_k); @/ \
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
  /*@ assert others: other_pages{Pre,Here}(page); */ \
  /*@ assert row_out: \forall integer x; \
        punctured_between{Pre}(old, first, at.tile, at.tile + n, x) ==> \
        row_punctured(row, n, at.start, x); */ \
  /*@ assert row_in: \forall integer x; row_punctured(row, n, at.start, x) ==> \
        punctured_between{Pre}(old, first, at.tile, at.tile + n, x); */ \
  /*@ assert free: free_page{Pre}(page); */ \
  /*@ assert count: page->seeds == m; */ \
  /*@ assert clean: page_clean(page); */

/* No block but this page's has changed, so all facts about the others still hold; for each of
 * them this is an induction over its tiles in two states of memory. */
#define OTHERS_KEPT \
  /*@ ghost \
    /@ loop invariant 0 <= k <= OPT_PAGES_MAX; \
       loop invariant kept: \forall integer l; 0 <= l < k ==> &opt_pages[l] != page ==> \
         page_kept{Pre,Here}(&opt_pages[l]); \
       loop assigns k; \
       loop variant OPT_PAGES_MAX - k; @/ \
    for (size_t k = 0; k < OPT_PAGES_MAX; k++) { \
      struct opt_page *page_k = &opt_pages[k]; \
      if (page_k != page) { \
        const uint8_t *row_k = page_k->tile; \
        /@ assert block: page_k == a_block(k); @/ \
        /@ assert same: same_page{Pre,Here}(page_k); @/ \
        /@ loop invariant 0 <= j <= OPT_ARENA_MAX; \
           loop invariant starts: \forall integer f, i; 0 <= i <= j ==> \
             tile_start{Pre}(row_k, f, i) == tile_start(row_k, f, i); \
           loop invariant counts: \forall integer i; 0 <= i <= j ==> \
             seeds_before{Pre}(row_k, i) == seeds_before(row_k, i); \
           loop assigns j; \
           loop variant OPT_ARENA_MAX - j; @/ \
        for (unsigned j = 0; j < OPT_ARENA_MAX; j++) { \
          /@ assert byte: tile_byte{Pre}(row_k, j) == tile_byte(row_k, j); @/ \
          /@ assert old: \forall integer f; row_step{Pre}(row_k, f, j); @/ \
          /@ assert new: \forall integer f; row_step(row_k, f, j); @/ \
        } \
        counts_lemma(row_k, OPT_ARENA_MAX); \
        /@ assert bytes: \forall integer i; 0 <= i < OPT_ARENA_MAX ==> \
             tile_byte{Pre}(row_k, i) == tile_byte(row_k, i); @/ \
        /@ assert fits: page_fits{Pre}(page_k) <==> page_fits(page_k); @/ \
        /@ assert nodes: \forall integer d, f, i; 0 <= i < OPT_ARENA_MAX ==> \
             tile_is_node{Pre}(row_k, f, d, i) ==> tile_is_node(row_k, f, d, i); @/ \
        /@ assert seeds: \forall seed R, integer d, f, i; 0 <= i < OPT_ARENA_MAX ==> \
             (tile_byte(row_k, i) >= 64 ==> seeds_before(row_k, i) < OPT_PAGE_SEEDS) ==> \
             tile_has_seed{Pre}(R, d, row_k, f, page_top(page_k), i) ==> \
             tile_has_seed(R, d, row_k, f, page_top(page_k), i); @/ \
        /@ assert places: page_fits(page_k) ==> \
             seeds_before(row_k, page_k->tiles) == page_k->seeds ==> \
             \forall integer i; 0 <= i < page_k->tiles ==> tile_byte(row_k, i) >= 64 ==> \
             seeds_before(row_k, i) < OPT_PAGE_SEEDS; @/ \
        /@ assert row_nodes: page_fits(page_k) ==> \forall integer d, f; \
             row_tiles{Pre}(row_k, page_k->tiles, f, d) ==> row_tiles(row_k, page_k->tiles, f, d); @/ \
        /@ assert row_seeds: page_fits(page_k) ==> \
             seeds_before(row_k, page_k->tiles) == page_k->seeds ==> \forall seed R, integer d, f; \
             row_seeds{Pre}(R, d, row_k, page_k->tiles, f, page_top(page_k)) ==> \
             row_seeds(R, d, row_k, page_k->tiles, f, page_top(page_k)); @/ \
        /@ assert row_ends: page_fits(page_k) ==> \
             seeds_before{Pre}(row_k, page_k->tiles) == seeds_before(row_k, page_k->tiles) && \
             \forall integer f; tile_start{Pre}(row_k, f, page_k->tiles) == \
               tile_start(row_k, f, page_k->tiles); @/ \
        /@ assert rows: page_fits(page_k) ==> \forall seed R, integer d, f, e; \
             row_holds{Pre}(R, d, row_k, page_k->tiles, f, e, page_top(page_k), page_k->seeds) ==> \
             row_holds(R, d, row_k, page_k->tiles, f, e, page_top(page_k), page_k->seeds); @/ \
        /@ assert holds: \forall seed R, integer d, f, e; \
             page_holds{Pre}(R, d, page_k, f, e) ==> page_holds(R, d, page_k, f, e); @/ \
        /@ assert clean: page_clean{Pre}(page_k) ==> page_clean(page_k); @/ \
        /@ assert out: page_fits(page_k) ==> \forall integer f, x; \
             row_punctured{Pre}(row_k, page_k->tiles, f, x) ==> \
             row_punctured(row_k, page_k->tiles, f, x); @/ \
        /@ assert in: page_fits(page_k) ==> \forall integer f, x; \
             row_punctured(row_k, page_k->tiles, f, x) ==> \
             row_punctured{Pre}(row_k, page_k->tiles, f, x); @/ \
        /@ assert tiles_out: page_fits(page_k) ==> \forall integer f, b, s; \
             tile_between{Pre}(row_k, f, 0, page_k->tiles, b, s) ==> \
             tile_between(row_k, f, 0, page_k->tiles, b, s); @/ \
        /@ assert tiles_in: page_fits(page_k) ==> \forall integer f, b, s; \
             tile_between(row_k, f, 0, page_k->tiles, b, s) ==> \
             tile_between{Pre}(row_k, f, 0, page_k->tiles, b, s); @/ \
        /@ assert one: page_kept{Pre,Here}(page_k); @/ \
      } \
    } */

/* The store's pages and its index are unchanged, hence the store is. */
#define STORE_KEPT \
  /*@ assert same_index: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre); */ \
  STORE_IS_SAME
#define STORE_IS_SAME \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->first[k],Pre) == p->first[k] && \at(p->page[k],Pre) == p->page[k]; */ \
  /*@ assert store_blocks: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert kept: \forall integer k; 0 <= k < p->pages ==> page_kept{Pre,Here}(p->page[k]); */ \
  /*@ assert same_end: \forall integer k; 0 <= k < p->pages ==> \
        page_end{Pre}(p, k) == page_end(p, k); */ \
  /*@ assert held: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  STORE_OF_PAGES \
  /*@ assert leaves: \forall integer k, x; 0 <= k < p->pages ==> \
        (leaf_of_page{Pre}(p->page[k], p->first[k], x) <==> \
         leaf_of_page(p->page[k], p->first[k], x)); */ \
  /*@ assert same_pages: \forall integer k, x; 0 <= k < p->pages ==> \
        (page_punctured{Pre}(p, k, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert same_set: \forall integer x; packed_punctured{Pre}(p, x) <==> \
        packed_punctured(p, x); */ \
  /*@ assert tiles_kept: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (tile_of_page{Pre}(p->page[k], p->first[k], b, s) <==> \
         tile_of_page(p->page[k], p->first[k], b, s)); */ \
  /*@ assert tiles: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (page_tile{Pre}(p, k, b, s) <==> page_tile(p, k, b, s)); */ \
  /*@ assert same_tiles: same_tiles{Pre,Here}(p); */ \
  /*@ assert same_bytes: \forall integer k; 0 <= k < p->pages ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(p->page[k]); */ \
  /*@ assert within: pages_within{Pre}(p) ==> pages_within(p); */

/* Each place of the index has a page with as many seeds as before. */
#define COUNT_KEPT \
  /*@ assert same_seeds: \forall integer k; 0 <= k < p->pages ==> \
        seeds_of_page(p, k) == seeds_of_page{Pre}(p, k); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant count: seeds_in_pages(p, k) == seeds_in_pages{Pre}(p, k); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      /@ assert old: count_step{Pre}(p, k); @/ \
      /@ assert new: count_step(p, k); @/ \
    } */ \
  /*@ assert same_count: same_count{Pre,Here}(p); */

/* Each page of the index holds what it held before the call: together they are the store. */
#define STORE_OF_PAGES \
  /*@ assert pages_hold: \forall integer k; 0 <= k < p->pages ==> page_holds(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert old_order: ascending_pages{Pre}(p); */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert old_below: pages_below{Pre}(p); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert store_holds: packed_holds(root, p); */ \
  /*@ assert own: pages_own(p); */ \
  /*@ assert distinct: pages_distinct(p); */ \
  /*@ assert index_is_apart: index_apart(p); */ \
  /*@ assert store_owns: packed_owns(p); */

/* swap_page */
#define PAGE_SWAPPED \
  /*@ assert same_index: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->first[k],Pre) == p->first[k]; */ \
  /*@ assert this_page: p->page[i] == page; */ \
  /*@ assert other_pages: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        \at(p->page[k],Pre) == p->page[k]; */ \
  /*@ assert store_blocks: \forall integer k; 0 <= k < p->pages ==> \
        a_page(p->page[k]) && p->page[k] != old; */ \
  /*@ assert kept: \forall integer k; 0 <= k < p->pages ==> page_kept{Pre,Here}(p->page[k]); */ \
  /*@ assert same_end: \forall integer k; 0 <= k < p->pages ==> \
        page_end{Pre}(p, k) == page_end(p, k); */ \
  /*@ assert held_this: page_holds{Pre}(root, p->depth, page, p->first[i], page_end(p, i)); */ \
  /*@ assert held_old: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        page_holds{Pre}(root, p->depth, \at(p->page[k],Pre), \at(p->first[k],Pre), \
                        page_end{Pre}(p, k)); */ \
  /*@ assert held_others: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        page_holds{Pre}(root, p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  STORE_OF_PAGES \
  /*@ assert leaves: \forall integer k, x; 0 <= k < p->pages ==> \
        (leaf_of_page{Pre}(p->page[k], p->first[k], x) <==> \
         leaf_of_page(p->page[k], p->first[k], x)); */ \
  /*@ assert leaves_this: \forall integer x; page_punctured{Pre}(p, i, x) <==> \
        page_punctured(p, i, x); */ \
  /*@ assert leaves_others: \forall integer k, x; 0 <= k < p->pages ==> k != i ==> \
        (page_punctured{Pre}(p, k, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert same_pages: \forall integer k, x; 0 <= k < p->pages ==> \
        (page_punctured{Pre}(p, k, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert same_set: \forall integer x; packed_punctured{Pre}(p, x) <==> \
        packed_punctured(p, x); */ \
  /*@ assert tiles_kept: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (tile_of_page{Pre}(p->page[k], p->first[k], b, s) <==> \
         tile_of_page(p->page[k], p->first[k], b, s)); */ \
  /*@ assert tiles_this: \forall integer b, s; page_tile{Pre}(p, i, b, s) <==> \
        page_tile(p, i, b, s); */ \
  /*@ assert tiles_others: \forall integer k, b, s; 0 <= k < p->pages ==> k != i ==> \
        (page_tile{Pre}(p, k, b, s) <==> page_tile(p, k, b, s)); */ \
  /*@ assert tiles: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (page_tile{Pre}(p, k, b, s) <==> page_tile(p, k, b, s)); */ \
  /*@ assert same_tiles: same_tiles{Pre,Here}(p); */ \
  /*@ assert bytes_kept: \forall integer k; 0 <= k < p->pages ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(p->page[k]); */ \
  /*@ assert bytes_others: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(\at(p->page[k],Pre)); */ \
  /*@ assert within: pages_within{Pre}(p) ==> pages_within(p); */

/* opt_packed_resize */
#define COPY_OF_PAGE \
  /*@ assert this_page: p->page[i] == old && a_page(old) && old != page; */ \
  /*@ assert kept: page_kept{Pre,Here}(old) && page_fits{Pre}(old); */ \
  /*@ assert same_size: page->seeds == seeds_of_page{Pre}(p, i) && \
        seeds_of_page(p, i) == seeds_of_page{Pre}(p, i); */ \
  /*@ assert old_leaves: \forall integer x; \
        leaf_of_page{Pre}(old, p->first[i], x) <==> leaf_of_page(old, p->first[i], x); */ \
  /*@ assert new_leaves: \forall integer x; \
        leaf_of_page{Pre}(old, p->first[i], x) <==> leaf_of_page(page, p->first[i], x); */ \
  /*@ assert old_tiles: \forall integer b, s; \
        tile_of_page{Pre}(old, p->first[i], b, s) <==> tile_of_page(old, p->first[i], b, s); */ \
  /*@ assert new_tiles: \forall integer b, s; \
        tile_of_page{Pre}(old, p->first[i], b, s) <==> tile_of_page(page, p->first[i], b, s); */ \
  /*@ assert held: page_holds{Pre}(root, p->depth, old, p->first[i], page_end{Pre}(p, i)); */ \
  /*@ assert same_end: page_end{Pre}(p, i) == page_end(p, i); */ \
  /*@ assert whole: tile_start{Pre}(page_row{Pre}(old), p->first[i], page->tiles) == page_end(p, \
        i); */ \
  /*@ assert copied: page_holds(root, p->depth, page, p->first[i], page_end(p, i)); */

/* middle */
#define ROW_TO_HALVE \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost row_order_lemma(row, page->tiles, first, d); */ \
  /*@ assert all: seeds_before(row, page->tiles) == page->seeds; */
#define TILE_IN_HALF \
  /*@ assert inside: at.tile < page->tiles; */ \
  /*@ assert node: tile_is_node(row, first, d, at.tile); */ \
  /*@ assert step: row_step(row, first, at.tile); */

/* put_two */
#define INDEX_IN_ORDER \
  /*@ assert same_index: p->depth == \at(p->depth,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre) && p->pages == \at(p->pages,Pre) + 1; */ \
  /*@ assert new: p->page[i] == left && p->page[i + 1] == right && p->first[i + 1] == start; */ \
  /*@ assert was_order: \forall integer k, l; 0 <= k < l < \at(p->pages,Pre) ==> \
        \at(p->first[k],Pre) < \at(p->first[l],Pre); */ \
  /*@ assert was_below: \forall integer k; 0 <= k < \at(p->pages,Pre) ==> \
        \at(p->first[k],Pre) < pow2(p->depth); */ \
  /*@ assert was_distinct: \forall integer k, l; 0 <= k < l < \at(p->pages,Pre) ==> \
        \at(p->page[k],Pre) != \at(p->page[l],Pre); */ \
  /*@ assert was_behind: \forall integer k; i < k < \at(p->pages,Pre) ==> \
        start < \at(p->first[k],Pre); */ \
  /*@ assert was_first: \forall integer k, l; 0 <= k < l <= i ==> \
        \at(p->first[k],Pre) < \at(p->first[l],Pre); */ \
  /*@ assert first_before: \forall integer k; 0 <= k <= i ==> \
        p->first[k] == \at(p->first[k],Pre); */ \
  /*@ assert first_behind: \forall integer k; i + 2 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k - 1],Pre); */ \
  /*@ assert page_before: \forall integer k; 0 <= k < i ==> p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert page_behind: \forall integer k; i + 2 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k - 1],Pre); */ \
  /*@ assert order_first: \forall integer k, l; 0 <= k < l <= i ==> p->first[k] < p->first[l]; */ \
  /*@ assert order_to: \forall integer k; 0 <= k <= i ==> p->first[k] < start; */ \
  /*@ assert order_from: \forall integer k; i + 2 <= k < p->pages ==> start < p->first[k]; */ \
  /*@ assert order_last: \forall integer k, l; i + 2 <= k < l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert order_far: \forall integer k, l; 0 <= k <= i ==> i + 2 <= l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert order_two: \forall integer k, l; 0 <= k < l < p->pages ==> k != i + 1 ==> \
        l != i + 1 ==> p->first[k] < p->first[l]; */ \
  /*@ assert order_pairs: \forall integer k, l; 0 <= k < l < p->pages ==> \
        p->first[k] < p->first[l]; */ \
  /*@ assert order: ascending_pages(p); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert distinct_new: \forall integer k; 0 <= k < p->pages ==> \
        (p->page[k] == left ==> k == i) && (p->page[k] == right ==> k == i + 1); */ \
  /*@ assert distinct_first: \forall integer k, l; 0 <= k < l < i ==> p->page[k] != p->page[l]; */ \
  /*@ assert distinct_last: \forall integer k, l; i + 2 <= k < l < p->pages ==> \
        p->page[k] != p->page[l]; */ \
  /*@ assert distinct_far: \forall integer k, l; 0 <= k < i ==> i + 2 <= l < p->pages ==> \
        p->page[k] != p->page[l]; */ \
  /*@ assert distinct: pages_distinct(p); */ \
  /*@ assert index: index_of_pages(p); */ \
  /*@ assert apart: index_apart(p); */
#define INDEX_IS_APART \
  /*@ ghost struct opt_page *page = NULL; */ \
  /*@ assert same_seeds: \forall integer k, j; 0 <= k < OPT_PAGES_MAX ==> \
        0 <= j < OPT_PAGE_SEEDS ==> place_seed{Pre}(page_top(&opt_pages[k]), \
        j) == place_seed(page_top(&opt_pages[k]), j); */ \
  /*@ assert same_zero: \forall integer k, j; 0 <= k < OPT_PAGES_MAX ==> \
        0 <= j < OPT_PAGE_SEEDS ==> zero_place{Pre}(&opt_pages[k], j) ==> \
        zero_place(&opt_pages[k], j); */

/* insert_pages */
#define INDEX_HAS_TWO \
  /*@ ghost Indexed: ; */ \
  /*@ assert indexed_nodes: p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert same_index: p->depth == \at(p->depth,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre); */
#define PAGES_IN_STORE \
  /*@ assert more: p->pages == \at(p->pages,Pre) + 1; */ \
  /*@ assert same_index: p->depth == \at(p->depth,Pre) && p->first == \at(p->first,Pre) && \
        p->page == \at(p->page,Pre); */ \
  /*@ assert new: p->page[i] == left && p->page[i + 1] == right && p->first[i + 1] == start && \
        p->first[i] == \at(p->first[i],Pre); */ \
  /*@ assert before: \forall integer k; 0 <= k < i ==> p->page[k] == \at(p->page[k],Pre) && \
        p->first[k] == \at(p->first[k],Pre); */ \
  /*@ assert behind: \forall integer k; i + 2 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k - 1],Pre) && p->first[k] == \at(p->first[k - 1],Pre); */ \
  /*@ assert end_before: \forall integer k; 0 <= k < i ==> \
        page_end(p, k) == page_end{Pre}(p, k); */ \
  /*@ assert end_behind: \forall integer k; i + 2 <= k < p->pages ==> \
        page_end(p, k) == page_end{Pre}(p, k - 1); */ \
  /*@ assert ends: page_end(p, i) == start && page_end(p, i + 1) == page_end{Pre}(p, i); */ \
  /*@ assert distinct_blocks: pages_distinct{Pre}(p); */ \
  /*@ assert was_distinct: \forall integer k, l; 0 <= k < l < \at(p->pages,Pre) ==> \
        \at(p->page[k],Pre) != \at(p->page[l],Pre); */ \
  /*@ assert was_other: \forall integer k; i + 1 <= k < \at(p->pages,Pre) ==> \
        a_page(\at(p->page[k],Pre)) && \at(p->page[k],Pre) != old; */ \
  /*@ assert block_before: \forall integer k; 0 <= k < i ==> \
        a_page(p->page[k]) && p->page[k] != old; */ \
  /*@ assert block_behind: \forall integer k; i + 2 <= k < p->pages ==> \
        a_page(p->page[k]) && p->page[k] != old; */ \
  /*@ assert block_new: a_page(left) && a_page(right) && left != old && right != old; */ \
  /*@ assert blocks: \forall integer k; 0 <= k < p->pages ==> \
        a_page(p->page[k]) && p->page[k] != old; */ \
  /*@ assert kept_index: \forall integer k; 0 <= k < p->pages ==> \
        page_kept{Pre,Indexed}(p->page[k]); */ \
  /*@ assert kept_free: \forall integer k; 0 <= k < p->pages ==> \
        page_kept{Indexed,Here}(p->page[k]); */ \
  /*@ assert held_before: \forall integer k; 0 <= k < i ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held_behind: \forall integer k; i + 2 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held_new: page_holds{Pre}(root, p->depth, left, p->first[i], page_end(p, i)) && \
        page_holds{Pre}(root, p->depth, right, p->first[i + 1], page_end(p, i + 1)); */ \
  /*@ assert held: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert held_index: \forall integer k; 0 <= k < p->pages ==> page_holds{Indexed}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert clean: \forall integer k; 0 <= k < p->pages ==> page_clean{Pre}(p->page[k]); */ \
  /*@ assert clean_index: \forall integer k; 0 <= k < p->pages ==> \
        page_clean{Indexed}(p->page[k]); */ \
  /*@ assert indexed_order: ascending_pages{Indexed}(p); */ \
  /*@ assert in_order: ascending_pages(p); */ \
  STORE_OF_PAGES \
  /*@ assert leaves_index: \forall integer k, x; 0 <= k < p->pages ==> \
        (leaf_of_page{Pre}(p->page[k], p->first[k], x) <==> \
         leaf_of_page{Indexed}(p->page[k], p->first[k], x)); */ \
  /*@ assert leaves: \forall integer k, x; 0 <= k < p->pages ==> \
        (leaf_of_page{Indexed}(p->page[k], p->first[k], x) <==> \
         leaf_of_page(p->page[k], p->first[k], x)); */ \
  /*@ assert set_before: \forall integer k, x; 0 <= k < i ==> \
        (page_punctured{Pre}(p, k, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert set_behind: \forall integer k, x; i + 2 <= k < p->pages ==> \
        (page_punctured{Pre}(p, k - 1, x) <==> page_punctured(p, k, x)); */ \
  /*@ assert set_here: \forall integer x; page_punctured{Pre}(p, i, x) <==> \
        page_punctured(p, i, x) || page_punctured(p, i + 1, x); */ \
  /*@ assert out_behind: \forall integer k, x; i + 1 <= k < p->pages - 1 ==> \
        page_punctured{Pre}(p, k, x) ==> page_punctured(p, k + 1, x); */ \
  /*@ assert out: \forall integer x; packed_punctured{Pre}(p, x) ==> packed_punctured(p, x); */ \
  /*@ assert in: \forall integer x; packed_punctured(p, x) ==> packed_punctured{Pre}(p, x); */ \
  /*@ assert tiles_index: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (tile_of_page{Pre}(p->page[k], p->first[k], b, s) <==> \
         tile_of_page{Indexed}(p->page[k], p->first[k], b, s)); */ \
  /*@ assert tiles_kept: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (tile_of_page{Indexed}(p->page[k], p->first[k], b, s) <==> \
         tile_of_page(p->page[k], p->first[k], b, s)); */ \
  /*@ assert tiles_before: \forall integer k, b, s; 0 <= k < i ==> \
        (page_tile{Pre}(p, k, b, s) <==> page_tile(p, k, b, s)); */ \
  /*@ assert tiles_behind: \forall integer k, b, s; i + 2 <= k < p->pages ==> \
        (page_tile{Pre}(p, k - 1, b, s) <==> page_tile(p, k, b, s)); */ \
  /*@ assert tiles_here: \forall integer b, s; page_tile{Pre}(p, i, b, s) <==> \
        page_tile(p, i, b, s) || page_tile(p, i + 1, b, s); */ \
  /*@ assert tiles_shifted: \forall integer k, b, s; i + 1 <= k < p->pages - 1 ==> \
        page_tile{Pre}(p, k, b, s) ==> page_tile(p, k + 1, b, s); */ \
  /*@ assert tiles_out: \forall integer b, s; packed_tile{Pre}(p, b, s) ==> \
        packed_tile(p, b, s); */ \
  /*@ assert tiles_in: \forall integer b, s; packed_tile(p, b, s) ==> \
        packed_tile{Pre}(p, b, s); */ \
  /*@ assert same_tiles: same_tiles{Pre,Here}(p); */ \
  /*@ assert left_index: page_kept{Pre,Indexed}(left); */ \
  /*@ assert left_free: page_kept{Indexed,Here}(left); */ \
  /*@ assert left_same: same_page{Pre,Here}(left); */ \
  /*@ assert left_kept: page_kept{Pre,Here}(left); */ \
  /*@ assert right_index: page_kept{Pre,Indexed}(right); */ \
  /*@ assert right_free: page_kept{Indexed,Here}(right); */ \
  /*@ assert right_same: same_page{Pre,Here}(right); */ \
  /*@ assert right_kept: page_kept{Pre,Here}(right); */ \
  /*@ assert bytes_index: \forall integer k; 0 <= k < p->pages ==> \
        page_bytes{Indexed}(p->page[k]) == page_bytes{Pre}(p->page[k]); */ \
  /*@ assert bytes_kept: \forall integer k; 0 <= k < p->pages ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(p->page[k]); */ \
  /*@ assert bytes_before: \forall integer k; 0 <= k < i ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(\at(p->page[k],Pre)); */ \
  /*@ assert bytes_behind: \forall integer k; i + 2 <= k < p->pages ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(\at(p->page[k - 1],Pre)); */ \
  /*@ assert bytes_new: page_bytes(left) <= page_bytes{Pre}(old) && \
        page_bytes(right) <= page_bytes{Pre}(old); */ \
  /*@ assert same_max: p->page_max == \at(p->page_max,Pre) && old == \at(p->page[i],Pre); */ \
  /*@ assert max_old: pages_within{Pre}(p) ==> \forall integer k; 0 <= k < \at(p->pages,Pre) ==> \
        page_bytes{Pre}(\at(p->page[k],Pre)) <= p->page_max; */ \
  /*@ assert max_new: pages_within{Pre}(p) ==> page_bytes(p->page[i]) <= p->page_max && \
        page_bytes(p->page[i + 1]) <= p->page_max; */ \
  /*@ assert max_before: pages_within{Pre}(p) ==> \forall integer k; 0 <= k < i ==> \
        page_bytes(p->page[k]) <= p->page_max; */ \
  /*@ assert max_behind: pages_within{Pre}(p) ==> \forall integer k; i + 2 <= k < p->pages ==> \
        page_bytes(p->page[k]) <= p->page_max; */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant each: pages_within{Pre}(p) ==> \forall integer l; 0 <= l < k ==> \
         page_bytes(p->page[l]) <= p->page_max; \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      /@ assert one: pages_within{Pre}(p) ==> page_bytes(p->page[k]) <= p->page_max; @/ \
    } */ \
  /*@ assert all: pages_within{Pre}(p) ==> \forall integer k; 0 <= k < p->pages ==> \
        page_bytes(p->page[k]) <= p->page_max; */ \
  /*@ assert within: pages_within{Pre}(p) ==> pages_within(p); */
#define SEEDS_OF_TWO \
  /*@ assert seeds_kept: \forall integer k; 0 <= k < p->pages ==> \
        p->page[k]->seeds == \at(\at(p->page[k],Here)->seeds,Pre); */ \
  /*@ assert seeds_before: \forall integer k; 0 <= k < i ==> \
        seeds_of_page(p, k) == seeds_of_page{Pre}(p, k); */ \
  /*@ assert seeds_behind: \forall integer k; i + 2 <= k < p->pages ==> \
        seeds_of_page(p, k) == seeds_of_page{Pre}(p, k - 1); */ \
  /*@ assert seeds_here: seeds_of_page{Pre}(p, i) == seeds_of_page(p, i) + seeds_of_page(p, \
        i + 1); */

/* split_page */
#define PAGE_TO_SPLIT \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ ghost uint64_t end = i + 1 < p->pages ? p->first[i + 1] : (uint64_t)1 << p->depth; */ \
  /*@ ghost const struct opt_page *page = p->page[i]; */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost uint64_t first = p->first[i]; */ \
  /*@ ghost unsigned tiles = page->tiles; */ \
  /*@ assert end: end == page_end(p, i); */ \
  /*@ assert page: page_holds(root, p->depth, page, first, end); */ \
  /*@ ghost row_order_lemma(row, tiles, first, p->depth); */ \
  /*@ assert all: seeds_before(row, tiles) == page->seeds && \
        tile_start(row, first, tiles) == end; */ \
  /*@ assert none: seeds_before(row, 0) == 0 && tile_start(row, first, 0) == first; */
#define MIDDLE_IS_INSIDE \
  /*@ assert from_first: first + pow2(tile_height(tile_byte(row, 0))) <= at.start; */ \
  /*@ assert to_end: at.start + pow2(tile_height(tile_byte(row, at.tile))) <= end; */ \
  /*@ assert start: first < at.start < end; */ \
  /*@ assert page_leaves: \forall integer x; page_punctured(p, i, x) <==> \
        punctured_between(row, first, 0, at.tile, x) || \
        punctured_between(row, first, at.tile, tiles, x); */ \
  /*@ assert page_tiles: \forall integer b, s; page_tile(p, i, b, s) <==> \
        tile_between(row, first, 0, at.tile, b, s) || \
        tile_between(row, first, at.tile, tiles, b, s); */
/* The row of page i is unchanged. */
#define ROW_IS_KEPT \
  /*@ assert same_page: page_kept{Pre,Here}(page); */ \
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
        punctured_between{Pre}(row, first, at.tile, tiles, x) ==> \
        punctured_between(row, first, at.tile, tiles, x); */ \
  /*@ assert leaves_in: \forall integer x; punctured_between(row, first, at.tile, tiles, x) ==> \
        punctured_between{Pre}(row, first, at.tile, tiles, x); */ \
  /*@ assert tiles_out: \forall integer b, s; \
        tile_between{Pre}(row, first, at.tile, tiles, b, s) ==> \
        tile_between(row, first, at.tile, tiles, b, s); */ \
  /*@ assert tiles_in: \forall integer b, s; tile_between(row, first, at.tile, tiles, b, s) ==> \
        tile_between{Pre}(row, first, at.tile, tiles, b, s); */
#define LEFT_IS_THERE \
  /*@ ghost Left: ; */ \
  /*@ assert same_index: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Pre) && p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert not_left: left != page; */ \
  ROW_IS_KEPT \
  /*@ assert place: at.start == tile_start(row, first, at.tile) && \
        at.seeds == seeds_before(row, at.tile) && \
        at.seeds + m == seeds_before(row, at.tile + n); */
#define RIGHT_IS_THERE \
  /*@ assert same_index_2: p->pages == \at(p->pages,Pre) && p->depth == \at(p->depth,Pre) && \
        p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert same_first_2: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Pre) && p->page[k] == \at(p->page[k],Pre); */ \
  /*@ assert not_left: left != \null ==> left != right; */ \
  /*@ assert left_kept: left != \null ==> page_kept{Left,Here}(left) && spare_page(p, left); */ \
  /*@ assert page_kept: page != right && page_kept{Left,Here}(page); */ \
  /*@ assert left_same_tiles: same_tiles{Pre,Left}(p); */ \
  /*@ assert right_same_tiles: same_tiles{Left,Here}(p); */ \
  /*@ assert both_same_tiles: same_tiles{Pre,Here}(p); */ \
  /*@ ghost Halved: ; */
#define PAGE_IS_WHOLE \
  /*@ assert same_tiles: same_tiles{Pre,Here}(p); */ \
  /*@ assert same_index_3: p->pages == \at(p->pages,Pre); */ \
  /*@ assert same_first_3: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Pre) && p->page[k] == \at(p->page[k],Pre); */
#define HALVES_ARE_PAGE \
  /*@ assert left_holds: page_holds(root, p->depth, left, first, at.start); */ \
  /*@ assert right_holds: page_holds(root, p->depth, right, at.start, end); */ \
  /*@ assert left_leaves: \forall integer x; leaf_of_page(left, first, x) <==> \
        punctured_between{Pre}(row, first, 0, at.tile, x); */ \
  /*@ assert right_size: at.tile + n == tiles && right->tiles == n && p->first[i] == first && \
        p->page[i] == page; */ \
  /*@ assert right_leaves_left: \forall integer x; leaf_of_page(right, at.start, x) <==> \
        punctured_between{Left}(row, first, at.tile, tiles, x); */ \
  /*@ assert right_leaves: \forall integer x; leaf_of_page(right, at.start, x) <==> \
        punctured_between{Pre}(row, first, at.tile, tiles, x); */ \
  /*@ assert here_leaves: \forall integer x; leaf_of_page{Pre}(page, first, x) <==> \
        page_punctured(p, i, x); */ \
  /*@ assert left_tiles: \forall integer b, s; tile_of_page(left, first, b, s) <==> \
        tile_between{Pre}(row, first, 0, at.tile, b, s); */ \
  /*@ assert right_tiles_left: \forall integer b, s; tile_of_page(right, at.start, b, s) <==> \
        tile_between{Left}(row, first, at.tile, tiles, b, s); */ \
  /*@ assert right_tiles: \forall integer b, s; tile_of_page(right, at.start, b, s) <==> \
        tile_between{Pre}(row, first, at.tile, tiles, b, s); */ \
  /*@ assert here_tiles: \forall integer b, s; tile_of_page{Pre}(page, first, b, s) <==> \
        page_tile(p, i, b, s); */ \
  /*@ assert sizes: left->seeds == at.seeds && right->seeds == m && \
        p->page[i] == page && seeds_of_page(p, i) == seeds_of_page{Pre}(p, i); */
#define TWO_ARE_COUNTED \
  /*@ assert two_same_nodes: p->nodes == \at(p->nodes,Halved); */ \
  /*@ assert two_same_tiles: same_tiles{Halved,Here}(p); */ \
  /*@ assert same_tiles: same_tiles{Pre,Here}(p); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= i; \
       loop invariant count: seeds_in_pages(p, k) == seeds_in_pages{Halved}(p, k); \
       loop assigns k; \
       loop variant i - k; @/ \
    for (size_t k = 0; k < i; k++) { \
      /@ assert old: count_step{Halved}(p, k); @/ \
      /@ assert new: count_step(p, k); @/ \
    } */ \
  /*@ assert step_old: count_step{Halved}(p, i); */ \
  /*@ assert step_left: count_step(p, i); */ \
  /*@ assert step_right: count_step(p, i + 1); */ \
  /*@ ghost \
    /@ loop invariant i + 2 <= k <= p->pages; \
       loop invariant count: seeds_in_pages(p, k) == seeds_in_pages{Halved}(p, k - 1); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = i + 2; k < p->pages; k++) { \
      /@ assert old: count_step{Halved}(p, k - 1); @/ \
      /@ assert new: count_step(p, k); @/ \
      /@ assert same: seeds_of_page(p, k) == seeds_of_page{Halved}(p, k - 1); @/ \
    } */ \
  /*@ assert all_counted: seeds_in_pages(p, p->pages) == seeds_in_pages{Halved}(p, \
        \at(p->pages,Halved)); */ \
  /*@ assert same_count: same_count{Pre,Here}(p); */

/* split_if_full, give_room */
#define PAGE_OF_THIS \
  /*@ assert this: page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */ \
  /*@ ghost only_page_lemma(p, i, leaf); */ \
  /*@ assert only: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] <= leaf < page_end(p, k) ==> k == i; */
#define HALF_WITH_LEAF \
  /*@ assert ends: err == 0 ==> p->first[i] <= leaf < page_end(p, i + 1) && \
        page_end(p, i) == p->first[i + 1]; */ \
  /*@ assert index: err == 0 ==> index_of_pages(p); */ \
  /*@ ghost if (err == 0) only_page_lemma(p, leaf < p->first[i + 1] ? i : i + 1, leaf); */ \
  /*@ assert half: err == 0 ==> \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] <= leaf < page_end(p, k) ==> k == i || k == i + 1; */ \
  /*@ assert same_max: p->page_max == \at(p->page_max,Pre) && p->depth == \at(p->depth,Pre); */ \
  /*@ assert small: err == 0 ==> page_bytes(p->page[i]) + 17 * h - 16 <= p->page_max && \
        page_bytes(p->page[i + 1]) + 17 * h - 16 <= p->page_max; */
#define SPLIT_AS_NEEDED \
  /*@ assert same_room: p->room == \at(p->room,Pre) && p->page == \at(p->page,Pre) && \
        p->first == \at(p->first,Pre) && p->pages <= p->room; */ \
  /*@ assert apart: index_apart(p); */ \
  /*@ ghost Split: ; */
#define ROOM_IS_THERE \
  /*@ assert in_room: 0 <= i < p->room; */ \
  /*@ assert same_pages: p->pages == \at(p->pages,Split); */ \
  /*@ assert same_depth: p->depth == \at(p->depth,Split); */ \
  /*@ assert same_index: p->first == \at(p->first,Split); */ \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] == \at(p->first[k],Split); */ \
  /*@ assert same_end: \forall integer k; 0 <= k < p->pages ==> \
        page_end(p, k) == page_end{Split}(p, k); */ \
  /*@ assert only_one: \forall integer k; 0 <= k < p->pages ==> \
        p->first[k] <= leaf < page_end(p, k) ==> k == i; */ \
  /*@ assert enough: err == 0 ==> bytes <= p->page[i]->bytes; */ \
  /*@ assert as_much: err == 0 ==> bytes == page_bytes(p->page[i]) + 17 * h - 16; */ \
  /*@ assert small: err == 0 ==> page_bytes(p->page[i]) + 17 * h - 16 <= p->page_max; */ \
  /*@ assert has: err == 0 ==> leaf_has_room(p, leaf, h); */ \
  /*@ assert fit: err == 0 ==> leaf_fits(p, leaf, h, p->page_max); */

/* Page i, which is to change. */
#define PAGE_OF_STORE \
  /*@ ghost const struct opt_page *page = p->page[i]; */ \
  /*@ ghost leaves_of_lemma(p->depth); */ \
  /*@ ghost uint64_t end = i + 1 < p->pages ? p->first[i + 1] : (uint64_t)1 << p->depth; */ \
  /*@ assert end: end == page_end(p, i); */ \
  /*@ assert page: a_page(page) && page_clean(page) && \valid(page); */ \
  /*@ assert holds: page_holds(root, p->depth, page, p->first[i], end); */ \
  /*@ assert distinct: \forall integer k; 0 <= k < p->pages ==> k != i ==> p->page[k] != page; */ \
  /*@ assert first_apart: \forall integer k; 0 <= k < p->pages ==> \
        \separated(p->first + k, page); */ \
  /*@ assert page_apart: \forall integer k; 0 <= k < p->pages ==> \separated(p->page + k, page); */

/* Page i has changed in place; no other page has changed. */
#define CHANGED_IN_PLACE \
  /*@ assert same_first: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->first[k],Pre) == p->first[k]; */ \
  /*@ assert same_page: \forall integer k; 0 <= k < p->pages ==> \
        \at(p->page[k],Pre) == p->page[k]; */ \
  /*@ assert pages: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert still_distinct: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        p->page[k] != page; */ \
  /*@ assert apart: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        \separated(p->page[k], page); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant same: \forall integer l; 0 <= l < k ==> l != i ==> \
         same_page{Pre,Here}(p->page[l]); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      const struct opt_page *page_k = p->page[k]; \
      /@ assert one: a_page(page_k) && \valid(page_k); @/ \
      /@ assert apart: k != i ==> \separated(page_k, page); @/ \
      /@ assert same_tiles: k != i ==> \forall integer j; 0 <= j < OPT_ARENA_MAX ==> \
           tile_byte{Pre}(page_row(page_k), j) == tile_byte(page_row(page_k), j); @/ \
      /@ assert same_seeds: k != i ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           place_seed{Pre}(page_top(page_k), j) == place_seed(page_top(page_k), j); @/ \
      /@ assert same_zero: k != i ==> \forall integer j; 0 <= j < OPT_PAGE_SEEDS ==> \
           zero_place{Pre}(page_k, j) ==> zero_place(page_k, j); @/ \
      /@ assert same: k != i ==> same_page{Pre,Here}(page_k); @/ \
    } */ \
  /*@ ghost size_t from = i, to = i + 1, by = 0; */

/* puncture_in_place */
#define SEEDS_OF_PAGES \
  /*@ assert other_bytes: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        page_bytes(p->page[k]) == page_bytes{Pre}(p->page[k]); */ \
  /*@ assert seeds: seeds_of_page(p, i) == seeds_of_page{Pre}(p, i) + h - 1; */ \
  /*@ assert other_seeds: \forall integer k; 0 <= k < p->pages ==> k != i ==> \
        seeds_of_page(p, k) == seeds_of_page{Pre}(p, k); */

/* opt_index_puncture */
#define COUNT_OF_PAGES \
  /*@ ghost row_order_lemma(row, tiles, first, d); */ \
  /*@ ghost count_lemma(p); */ \
  /*@ assert step: row_step(row, first, at.tile); */ \
  /*@ assert live: 1 <= page->seeds; */ \
  /*@ assert some: 1 <= p->nodes <= 0x8000000000000000; */
#define PAGE_IS_COUNTED \
  /*@ assert same_pages: p->pages == \at(p->pages,Pre) && p->page == \at(p->page,Pre); */ \
  /*@ assert same_index: \forall integer k; 0 <= k < p->pages ==> \
        p->page[k] == \at(p->page[k],Pre); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant count: seeds_in_pages(p, k) == \
         seeds_in_pages{Pre}(p, k) + (k > i ? h - 1 : 0); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      /@ assert old: count_step{Pre}(p, k); @/ \
      /@ assert new: count_step(p, k); @/ \
      /@ assert page: seeds_of_page(p, k) == seeds_of_page{Pre}(p, k) + (k == i ? h - 1 : 0); @/ \
    } */ \
  /*@ assert count: seeds_in_pages(p, p->pages) == p->nodes + h - 1; */

/* The pages before `from` are as in Pre; those from page `to` on are too, but `by` places higher
 * in the index. So they hold what they held: for each of them this is an induction over its row
 * in two states of memory. */
#define PAGES_KEPT \
  /*@ assert changed: \forall integer k; from <= k < to ==> page_clean(p->page[k]) && \
        page_holds(root, p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert before: \forall integer k; 0 <= k < from ==> kept_page{Pre,Here}(p, k, k); */ \
  /*@ assert behind: \forall integer k; to <= k < p->pages ==> \
        kept_page{Pre,Here}(p, k, k - by); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= p->pages; \
       loop invariant holds: \forall integer l; 0 <= l < k ==> \
         page_holds(root, p->depth, p->page[l], p->first[l], page_end(p, l)); \
       loop invariant clean: \forall integer l; 0 <= l < k ==> \
         page_clean(p->page[l]); \
       loop invariant out_before: \forall integer l, x; 0 <= l < k ==> l < from ==> \
         page_punctured{Pre}(p, l, x) ==> page_punctured(p, l, x); \
       loop invariant in_before: \forall integer l, x; 0 <= l < k ==> l < from ==> \
         page_punctured(p, l, x) ==> page_punctured{Pre}(p, l, x); \
       loop invariant out_behind: \forall integer l, x; to <= l < k ==> \
         page_punctured{Pre}(p, l - by, x) ==> page_punctured(p, l, x); \
       loop invariant in_behind: \forall integer l, x; to <= l < k ==> \
         page_punctured(p, l, x) ==> page_punctured{Pre}(p, l - by, x); \
       loop assigns k; \
       loop variant p->pages - k; @/ \
    for (size_t k = 0; k < p->pages; k++) { \
      if (k < from || k >= to) { \
        const struct opt_page *page_k = p->page[k]; \
        const uint8_t *row_k = page_k->tile; \
        uint64_t first_k = p->first[k]; \
        unsigned tiles_k = page_k->tiles; \
        size_t o = k < from ? k : k - by; \
        /@ assert kept: kept_page{Pre,Here}(p, k, o); @/ \
        /@ assert same: same_page{Pre,Here}(page_k); @/ \
        /@ assert old: page_holds{Pre}(root, p->depth, page_k, first_k, page_end(p, k)); @/ \
        /@ assert old_clean: page_clean{Pre}(page_k); @/ \
        /@ assert fits: tiles_k <= OPT_ARENA_MAX; @/ \
        /@ loop invariant 0 <= j <= tiles_k; \
           loop invariant row_kept{Pre,Here}(row_k, first_k, j); \
           loop assigns j; \
           loop variant tiles_k - j; @/ \
        for (unsigned j = 0; j < tiles_k; j++) { \
          /@ assert old: row_step{Pre}(row_k, first_k, j); @/ \
          /@ assert new: row_step(row_k, first_k, j); @/ \
          /@ assert byte: tile_byte{Pre}(row_k, j) == tile_byte(row_k, j); @/ \
        } \
        /@ assert bytes: \forall integer j; 0 <= j < tiles_k ==> \
             tile_byte{Pre}(row_k, j) == tile_byte(row_k, j) && \
             tile_start{Pre}(row_k, first_k, j) == tile_start(row_k, first_k, j) && \
             seeds_before{Pre}(row_k, j) == seeds_before(row_k, j); @/ \
        /@ assert old_nodes: \forall integer j; 0 <= j < tiles_k ==> \
             tile_is_node{Pre}(row_k, first_k, p->depth, j); @/ \
        /@ assert new_nodes: \forall integer j; 0 <= j < tiles_k ==> \
             tile_is_node(row_k, first_k, p->depth, j); @/ \
        /@ assert nodes: row_tiles(row_k, tiles_k, first_k, p->depth); @/ \
        row_order_lemma(row_k, tiles_k, first_k, p->depth); \
        /@ assert few: seeds_before(row_k, tiles_k) == page_k->seeds < OPT_PAGE_SEEDS; @/ \
        /@ assert places: \forall integer j; 0 <= j < tiles_k ==> tile_byte(row_k, j) >= 64 ==> \
             0 <= seeds_before(row_k, j) < OPT_PAGE_SEEDS; @/ \
        /@ assert held: \forall integer j; 0 <= j < tiles_k ==> \
             tile_has_seed{Pre}(root, p->depth, row_k, first_k, page_top(page_k), j); @/ \
        /@ assert held_here: \forall integer j; 0 <= j < tiles_k ==> \
             seed_of_node(root, p->depth, tile_byte(row_k, j), \
                          tile_start(row_k, first_k, j), \
                          place_seed{Pre}(page_top(page_k), seeds_before{Pre}(row_k, j))); @/ \
        /@ assert same_place: \forall integer j; 0 <= j < tiles_k ==> \
          tile_byte(row_k, j) >= 64 ==> place_seed(page_top(page_k), \
          seeds_before(row_k, j)) == place_seed{Pre}(page_top(page_k), \
          seeds_before{Pre}(row_k, j)); @/ \
        /@ assert seeds: \forall integer j; 0 <= j < tiles_k ==> \
             tile_has_seed(root, p->depth, row_k, first_k, page_top(page_k), j); @/ \
        /@ assert row_seeds: row_seeds(root, p->depth, row_k, tiles_k, first_k, \
                                       page_top(page_k)); @/ \
        /@ assert holds: page_holds(root, p->depth, page_k, first_k, page_end(p, k)); @/ \
        /@ assert clean: page_clean(page_k); @/ \
        /@ assert out_tile: \forall integer j, x; 0 <= j < tiles_k ==> \
             tile_byte{Pre}(row_k, j) < 64 ==> tile_covers{Pre}(row_k, first_k, j, x) ==> \
             row_punctured(row_k, tiles_k, first_k, x); @/ \
        /@ assert in_tile: \forall integer j, x; 0 <= j < tiles_k ==> tile_byte(row_k, j) < 64 ==> \
          tile_covers(row_k, first_k, j, x) ==> row_punctured{Pre}(row_k, tiles_k, first_k, x); @/ \
        /@ assert out_row: \forall integer x; row_punctured{Pre}(row_k, tiles_k, first_k, x) ==> \
             row_punctured(row_k, tiles_k, first_k, x); @/ \
        /@ assert in_row: \forall integer x; row_punctured(row_k, tiles_k, first_k, x) ==> \
             row_punctured{Pre}(row_k, tiles_k, first_k, x); @/ \
        /@ assert out_here: \forall integer x; page_punctured{Pre}(p, o, x) ==> \
             page_punctured(p, k, x); @/ \
        /@ assert in_here: \forall integer x; page_punctured(p, k, x) ==> \
             page_punctured{Pre}(p, o, x); @/ \
      } \
    } */

/* With that page, in which leaf `hole` is punctured, all pages together are the store. */
#define PAGE_IN_STORE \
  /*@ assert every: \forall integer k; 0 <= k < p->pages ==> \
        page_holds(root, p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert index_first: p->first[0] == 0; */ \
  /*@ assert old_order: ascending_pages{Pre}(p); */ \
  /*@ assert index_order: ascending_pages(p); */ \
  /*@ assert old_below: pages_below{Pre}(p); */ \
  /*@ assert index_below: pages_below(p); */ \
  /*@ assert index_holds: index_of_pages(p); */ \
  /*@ assert store_holds: packed_holds(root, p); */ \
  /*@ assert apart_still: index_apart(p); */ \
  /*@ assert own: pages_own(p); */ \
  /*@ assert old_blocks: pages_distinct{Pre}(p); */ \
  /*@ assert pages_distinct: pages_distinct(p); */ \
  /*@ assert store_owns: packed_owns(p); */ \
  /*@ assert this_set: \forall integer x; \
        page_punctured(p, i, x) <==> page_punctured{Pre}(p, i, x) || x == hole; */ \
  /*@ assert out_this: \forall integer x; page_punctured{Pre}(p, i, x) ==> \
        packed_punctured(p, x); */ \
  /*@ assert in_this: \forall integer x; page_punctured(p, i, x) ==> \
        packed_punctured{Pre}(p, x) || x == hole; */ \
  /*@ assert hole_this: page_punctured(p, i, hole); */ \
  /*@ assert out_others: \forall integer k, x; 0 <= k < p->pages ==> k != i ==> \
        page_punctured{Pre}(p, k, x) ==> page_punctured(p, k, x); */ \
  /*@ assert in_others: \forall integer k, x; 0 <= k < p->pages ==> k != i ==> \
        page_punctured(p, k, x) ==> page_punctured{Pre}(p, k, x); */ \
  /*@ assert out_page: \forall integer k, x; 0 <= k < p->pages ==> \
        page_punctured{Pre}(p, k, x) ==> packed_punctured(p, x); */ \
  /*@ assert in_store: \forall integer k, x; 0 <= k < p->pages ==> k != i ==> \
        page_punctured(p, k, x) ==> packed_punctured{Pre}(p, x); */ \
  /*@ assert in_page: \forall integer k, x; 0 <= k < p->pages ==> page_punctured(p, k, x) ==> \
        packed_punctured{Pre}(p, x) || x == hole; */ \
  /*@ assert out: \forall integer x; packed_punctured{Pre}(p, x) ==> packed_punctured(p, x); */ \
  /*@ assert in: \forall integer x; packed_punctured(p, x) ==> \
        packed_punctured{Pre}(p, x) || x == hole; */ \
  /*@ assert hole: packed_punctured(p, hole); */

/* packed/core.c, packed/sets/range.c: what is written is separate from the store; all pages, the
 * index and the count are unchanged */
#define KEY_IS_APART \
  BLOCKS_ARE_APART \
  KEY_IS_SAME
#define BLOCKS_ARE_APART \
  INDEX_IS_APART \
  /*@ assert same_bytes: \forall integer k, j; 0 <= k < OPT_PAGES_MAX ==> \
        0 <= j < OPT_ARENA_MAX ==> tile_byte{Pre}(page_row(&opt_pages[k]), \
        j) == tile_byte(page_row(&opt_pages[k]), j); */ \
  /*@ assert same_sizes: \forall integer k; 0 <= k < OPT_PAGES_MAX ==> \
        opt_pages[k].bytes == \at(opt_pages[k].bytes,Pre) && \
        opt_pages[k].tiles == \at(opt_pages[k].tiles,Pre) && \
        opt_pages[k].seeds == \at(opt_pages[k].seeds,Pre); */ \
  OTHERS_KEPT
#define KEY_IS_SAME \
  /*@ assert where: p->first == &p->one_first && p->page == &p->one_page && p->room == 1 || \
        index_block(p->first, p->page, p->room); */ \
  STORE_KEPT \
  COUNT_KEPT \
  /*@ assert same_fields: p->nodes == \at(p->nodes,Pre) && p->room == \at(p->room,Pre) && \
        p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert counted: packed_counted(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert key: packed_key(root, p); */
/* The store exists before, in and after the block of the local seeds */
#define KEY_IN_BLOCK \
  /*@ assert old_held: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */
#define KEY_AT_END \
  /*@ assert held_in: \forall integer k; 0 <= k < p->pages ==> page_holds(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert own_in: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert sizes_in: \forall integer k; 0 <= k < p->pages ==> \
        page_bytes(p->page[k]) <= p->page[k]->bytes <= OPT_ARENA_MAX; */ \
  /*@ assert order_in: ascending_pages(p) && pages_below(p); */
#define KEY_IS_HERE \
  /*@ assert blocks: \valid(&opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert firsts: \valid(&opt_firsts[0 .. OPT_INDEX_MAX - 1]); */ \
  /*@ assert lists: \valid(&opt_lists[0 .. OPT_INDEX_MAX - 1]); */ \
  /*@ assert store: \valid(p); */ \
  /*@ assert where: p->first == &p->one_first && p->page == &p->one_page && p->room == 1 || \
        index_block(p->first, p->page, p->room); */ \
  /*@ assert first: \valid(p->first + (0 .. p->room - 1)); */ \
  /*@ assert page: \valid(p->page + (0 .. p->room - 1)); */ \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert index: index_of_pages(p); */ \
  /*@ assert each: \forall integer k; 0 <= k < OPT_PAGES_MAX ==> \valid(&opt_pages[k]); */ \
  /*@ assert own: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert all_pages: \forall struct opt_page *q; a_page(q) ==> \valid(q); */ \
  /*@ assert pages: \forall integer k; 0 <= k < p->pages ==> \valid_read(p->page[k]); */ \
  /*@ assert fits: \forall integer k; 0 <= k < p->pages ==> page_fits(p->page[k]); */ \
  /*@ assert held: \forall integer k; 0 <= k < p->pages ==> page_holds(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert holds: packed_holds(root, p); */ \
  /*@ assert owns: packed_owns(p); */ \
  /*@ assert counted: packed_counted(p) && packed_sized(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert key: packed_key(root, p); */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/load.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_LOAD_STEPS_H
#define OPT_WP_PACKED_LOAD_STEPS_H

#include "index_steps.h"

/* put_root */
#define ROOT_OF_TREE \
  /*@ ghost struct pprf_seed r = *seed; */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost deep_tree_lemma(depth); */
#define ROOT_IS_IN_PAGE \
  /*@ assert byte: tile_byte(row, 0) == 64 + depth; */ \
  /*@ assert height: tile_height(tile_byte(row, 0)) == depth; */ \
  /*@ assert step: row_step(row, 0, 0); */ \
  /*@ assert start: tile_start(row, 0, 0) == 0 && tile_start(row, 0, 1) == pow2(depth); */ \
  /*@ assert count: seeds_before(row, 0) == 0 && seeds_before(row, 1) == 1; */ \
  /*@ assert root: tree_node(depth, 0, depth); */ \
  /*@ assert node: row_tiles(row, 1, 0, depth); */ \
  /*@ assert place: place_seed(page_top(page), 0) == seed_value(r); */ \
  /*@ assert seed: seed_value(r) == node_seed(seed_value(r), depth, 0, depth); */ \
  /*@ assert own: tile_has_seed(seed_value(r), depth, row, 0, page_top(page), 0); */ \
  /*@ assert seeds: row_seeds(seed_value(r), depth, row, 1, 0, page_top(page)); */ \
  /*@ assert row: row_holds(seed_value(r), depth, row, 1, 0, pow2(depth), page_top(page), 1); */ \
  /*@ assert zero: \forall integer j; 0 <= j < OPT_PAGE_SEEDS - 1 ==> zero_place{Pre}(page, j) ==> \
        zero_place(page, j); */ \
  /*@ assert clean: page_clean(page); */

/* set_page */
#define STORE_OF_ROOT \
  BLOCKS_ARE_APART \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ assert kept: page_kept{Pre,Here}(only); */ \
  /*@ assert same: only->seeds == 1 && page_bytes(only) == 25; */ \
  /*@ assert end: page_end(p, 0) == pow2(depth); */ \
  /*@ assert held: page_holds(root, p->depth, p->page[0], p->first[0], page_end(p, 0)); */ \
  /*@ assert index: index_of_pages(p); */ \
  /*@ assert holds: packed_holds(root, p); */ \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert own: pages_own(p); */ \
  /*@ assert owns: packed_owns(p); */ \
  /*@ assert step: count_step(p, 0); */ \
  /*@ assert counted: packed_counted(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert none: \forall integer x; !page_punctured(p, 0, x); */

/* opt_load_begin */
#define DRAFT_IS_EMPTY \
  /*@ assert apart: draft_apart(d); */ \
  /*@ assert own: draft_own(d); */ \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ assert draft: draft_holds(root, depth, d, 0); */

/* opt_load_node */
#define NODE_TO_LOAD \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ assert within: start + pow2(height) <= pow2(p->depth); */
#define GAP_IS_LOADED \
  /*@ ghost Gap: ; */ \
  /*@ assert gap_grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert same_store: p->depth == \at(p->depth,Pre) && p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert seed: seed->lo == \at(seed->lo,Pre) && seed->hi == \at(seed->hi,Pre); */ \
  /*@ assert seed_apart: seed_apart(d, seed); */
#define NODE_IS_LOADED \
  /*@ assert node_grown: draft_grown{Gap,Here}(d); */ \
  /*@ assert own: draft_own(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert still_store: p->depth == \at(p->depth,Pre) && p->page_max == \at(p->page_max,Pre); */

/* set_pages */
#define PAGES_OF_DRAFT \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost uint64_t *first = d->first; */ \
  /*@ ghost size_t n = d->n; */ \
  /*@ ghost deep_tree_lemma(p->depth); */ \
  /*@ assert some: 1 <= n; */ \
  /*@ assert old_once: \forall integer i, k; 0 <= i < k < n ==> pages[i] != pages[k]; */ \
  /*@ assert old_blocks: \forall integer i; 0 <= i < n ==> page_bytes(pages[i]) <= p->page_max; */ \
  /*@ assert rows: \forall integer i; 0 <= i < n ==> \
        page_holds(root, p->depth, pages[i], first[i], draft_end(d, i)); */ \
  /*@ assert each: \forall integer i; 0 <= i < n ==> a_page(pages[i]) && page_clean(pages[i]); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= n; \
       loop invariant longer: \forall integer i; 0 <= i < k ==> first[i] < draft_end(d, i); \
       loop assigns k; \
       loop variant n - k; @/ \
    for (size_t k = 0; k < n; k++) { \
      const struct opt_page *page = pages[k]; \
      /@ assert held: page_holds(root, p->depth, page, first[k], draft_end(d, k)); @/ \
      row_order_lemma(page->tile, page->tiles, first[k], p->depth); \
    } */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= n; \
       loop invariant order: \forall integer i, j; 0 <= i < j < k ==> first[i] < first[j]; \
       loop assigns k; \
       loop variant n - k; @/ \
    for (size_t k = 0; k < n; k++) { \
      /@ assert next: 0 < k ==> first[k - 1] < first[k]; @/ \
    } */ \
  /*@ assert old_order: \forall integer i, k; 0 <= i < k < n ==> first[i] < first[k]; */
#define PAGES_OF_STORE \
  BLOCKS_ARE_APART \
  /*@ assert index: p->first == first && p->page == pages && p->pages == n && \
        p->depth == \at(p->depth,Pre); */ \
  /*@ assert same_index: \forall integer i; 0 <= i < n ==> \
        first[i] == \at(d->first[i],Pre) && pages[i] == \at(d->pages[i],Pre); */ \
  /*@ assert still: \forall integer i; 0 <= i < n ==> \
        a_page(pages[i]) && page_kept{Pre,Here}(pages[i]); */ \
  /*@ assert ends: \forall integer i; 0 <= i < n ==> page_end(p, i) == draft_end{Pre}(d, i); */ \
  /*@ assert held: \forall integer i; 0 <= i < n ==> \
        page_holds(root, p->depth, p->page[i], p->first[i], page_end(p, i)); */ \
  /*@ assert order: \forall integer i, k; 0 <= i < k < n ==> first[i] < first[k]; */ \
  /*@ assert ascend: ascending_pages(p); */ \
  /*@ assert last: first[n - 1] < pow2(p->depth); */ \
  /*@ assert below: pages_below(p); */ \
  /*@ assert zero: p->first[0] == 0; */ \
  /*@ assert index_holds: index_of_pages(p); */ \
  /*@ assert holds: packed_holds(root, p); */ \
  /*@ assert apart: index_apart(p); */ \
  /*@ assert clean: \forall integer i; 0 <= i < n ==> page_clean(p->page[i]); */ \
  /*@ assert own: pages_own(p); */ \
  /*@ assert once: \forall integer i, k; 0 <= i < k < n ==> pages[i] != pages[k]; */ \
  /*@ assert distinct: pages_distinct(p); */ \
  /*@ assert owns: packed_owns(p); */ \
  /*@ assert counted: packed_counted(p); */ \
  /*@ assert bytes: \forall integer i; 0 <= i < n ==> \
        page_bytes(p->page[i]) == page_bytes{Pre}(pages[i]); */ \
  /*@ assert max: \at(p->page_max,Pre) <= p->page_max <= OPT_ARENA_MAX; */ \
  /*@ assert blocks: \forall integer i; 0 <= i < n ==> \
        page_bytes(p->page[i]) <= \at(p->page_max,Pre); */ \
  /*@ assert within: pages_within(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert leaves: \forall integer i, x; 0 <= i < n ==> \
        (page_punctured(p, i, x) <==> draft_leaf{Pre}(d, i, x)); */ \
  /*@ assert all: \at(d->at,Pre) == 0 && \at(d->n,Pre) == n; */ \
  /*@ assert out_page: \forall integer i, x; 0 <= i < n ==> draft_leaf{Pre}(d, i, x) ==> \
        packed_punctured(p, x); */ \
  /*@ assert out: \forall integer x; draft_punctured{Pre}(d, x) ==> packed_punctured(p, x); */ \
  /*@ assert in: \forall integer x; packed_punctured(p, x) ==> draft_punctured{Pre}(d, x); */

/* opt_load_end */
#define REST_TO_LOAD /*@ ghost leaves_of_lemma(p->depth); */
#define REST_IS_LOADED \
  /*@ assert same_store: p->depth == \at(p->depth,Pre) && p->page_max == \at(p->page_max,Pre); */

#endif

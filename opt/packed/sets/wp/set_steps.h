/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/sets/set.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_SET_STEPS_H
#define OPT_WP_PACKED_SET_STEPS_H

#include "range_steps.h"
#include "../../draft/wp/rewrite_set_steps.h"

/* put_page_beside */
#define STORE_PAGE_TO_PUT \
  /*@ ghost unsigned depth = p->depth; */ \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ ghost leaves_of_lemma(depth); */ \
  /*@ ghost uint64_t start = p->first[i]; */ \
  /*@ ghost uint64_t stop = i + 1 < p->pages ? p->first[i + 1] : (uint64_t)1 << depth; */ \
  /*@ assert ends: start == first_of(p, i) && stop == page_end(p, i) <= pow2(depth); */ \
  /*@ assert page: page_holds(root, depth, p->page[i], start, stop); */ \
  /*@ assert tiles: \forall integer j; 0 <= j < p->page[i]->tiles ==> \
        page_tile(p, i, tile_byte(page_row(p->page[i]), j), \
        tile_start(page_row(p->page[i]), start, j)); */ \
  /*@ assert of_store: \forall integer j; 0 <= j < p->page[i]->tiles ==> \
        packed_tile(p, tile_byte(page_row(p->page[i]), j), \
        tile_start(page_row(p->page[i]), start, j)); */ \
  /*@ assert rest: rest_of_row(page_row(p->page[i]), p->page[i]->tiles, start, c.leaves, c.nodes); \
        */

/* put_page */
#define STORE_TO_KEEP \
  /*@ assert memory_before: index_memory(p); */ \
  /*@ assert own_before: \forall integer k; 0 <= k < p->pages ==> a_page(p->page[k]); */ \
  /*@ assert fit_before: \forall integer k; 0 <= k < p->pages ==> page_fits(p->page[k]); */ \
  /*@ assert clean_before: \forall integer k; 0 <= k < p->pages ==> page_clean(p->page[k]); */
#define STORE_PAGE_IS_PUT \
  /*@ assert kept_leaves: \forall integer k, x; 0 <= k < p->pages ==> \
        (leaf_of_page{Pre}(page_at(p, k), first_of(p, k), x) <==> \
         leaf_of_page(page_at(p, k), first_of(p, k), x)); */ \
  /*@ assert was_leaf: \forall integer k, x; 0 <= k < p->pages ==> \
        (page_punctured{Pre}(p, k, x) <==> \
        leaf_of_page{Pre}(page_at{Pre}(p, k), first_of{Pre}(p, k), x)); */ \
  /*@ assert same_leaves: same_leaves{Pre,Here}(p); */ \
  /*@ assert kept_tiles: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (tile_of_page{Pre}(page_at(p, k), first_of(p, k), b, s) <==> \
         tile_of_page(page_at(p, k), first_of(p, k), b, s)); */ \
  /*@ assert was_tile: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (page_tile{Pre}(p, k, b, s) <==> tile_of_page{Pre}(page_at{Pre}(p, k), \
        first_of{Pre}(p, k), b, s)); */ \
  /*@ assert same_tile: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (page_tile(p, k, b, s) <==> page_tile{Pre}(p, k, b, s)); */ \
  /*@ assert tiles_in: \forall integer b, s; packed_tile(p, b, s) ==> \
        packed_tile{Pre}(p, b, s); */ \
  /*@ assert tiles_out: \forall integer b, s; packed_tile{Pre}(p, b, s) ==> \
        packed_tile(p, b, s); */ \
  /*@ assert same_end: page_end(p, i) == page_end{Pre}(p, i) && \
        p->first[i] == first_of{Pre}(p, i); */ \
  /*@ assert to_write: store_to_write(d, p); */

/* put_run */
#define RUN_OF_SET_TO_PUT \
  NOTHING_CHANGED \
  /*@ ghost size_t i0 = i; */ \
  /*@ ghost uint64_t *firsts = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */
#define FIRST_PAGE_IS_PUT \
  /*@ assert one: \forall integer x; pages_punctured(p, i0, i0 + 1, x) <==> \
        page_punctured(p, i0, x); */ \
  /*@ assert list: d->first == firsts && d->pages == pages && d->room == room; */
#define NEXT_PAGE_OF_RUN \
  /*@ ghost Turn: ; */ \
  /*@ assert next_page: page_end(p, i) == p->first[i + 1]; */
#define PAGE_OF_RUN_IS_PUT \
  /*@ assert put: draft_grown{Turn,Here}(d); */ \
  /*@ assert put_before: draft_grown{Pre,Turn}(d); */ \
  /*@ assert own_blocks: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert longer: draft_grown{Pre,Here}(d); */ \
  /*@ assert index_turn: index_same{Turn,Here}(p); */ \
  /*@ assert same_index: index_same{Pre,Here}(p); */ \
  /*@ assert leaves_turn: same_leaves{Turn,Here}(p); */ \
  /*@ assert leaves: same_leaves{Pre,Here}(p); */ \
  /*@ assert starts: page_end(p, i - 1) == p->first[i]; */ \
  /*@ assert was_set: \forall integer x; pages_punctured{Turn}(p, i0, i, x) <==> \
        pages_punctured(p, i0, i, x); */ \
  /*@ assert more: \forall integer x; pages_punctured(p, i0, i + 1, x) <==> \
        pages_punctured(p, i0, i, x) || page_punctured(p, i, x); */ \
  /*@ assert of_index: index_of_pages(p) && from == first_of(p, i0); */ \
  /*@ assert ascends: from <= p->first[i] < page_end(p, i); */
#define RUN_OF_SET_IS_PUT \
  /*@ ghost pages_lemma(p); */ \
  /*@ assert of_store: index_of_pages(p) && from == first_of(p, i0); */ \
  /*@ ghost index_order_lemma(p, i0); */ \
  /*@ assert order: \forall integer k; 0 <= k < i0 ==> page_end(p, k) <= from; */ \
  /*@ assert behind: \forall integer k; i < k < p->pages ==> page_end(p, i) <= p->first[k]; */ \
  /*@ assert of_run: \forall integer x; from <= x < page_end(p, i) ==> \
        (pages_punctured(p, i0, i + 1, x) <==> packed_punctured(p, x)); */

/* begin_run */
#define RUN_TO_BEGIN \
  /*@ ghost unsigned depth = p->depth; */ \
  SET_LIES_APART
#define RUN_HAS_BEGUN \
  /*@ assert empty_run: \forall struct opt_page *q; !of_run(d, q); */ \
  ALL_IS_APART \
  /*@ assert index: index_same{Pre,Here}(p); */ \
  /*@ assert leaves: same_leaves{Pre,Here}(p); */ \
  /*@ assert beside: draft_beside(d, p); */ \
  /*@ assert block: \forall struct opt_page *q; a_page(q) ==> page_to_write(d, q); */ \
  /*@ assert to_write: store_to_write(d, p); */ \
  SET_STAYS

/* opt_packed_put_run */
#define RUN_BEHIND_OTHERS \
  /*@ ghost uint64_t from = p->first[i]; */ \
  /*@ ghost size_t n = d->n; */ \
  /*@ assert used: \forall integer k; 0 <= k < n ==> a_page(d->pages[k]); */
#define RUN_TO_FILL \
  /*@ ghost Begun: ; */ \
  /*@ assert from_is: from == first_of(p, i); */ \
  /*@ assert list_begun: draft_list{Pre,Here}(d) && d->at == n && d->n == n; */ \
  /*@ assert kept_begun: draft_pages_same{Pre,Here}(d, n); */ \
  /*@ assert index_begun: index_same{Pre,Here}(p) && same_leaves{Pre,Here}(p); */
#define RUN_IS_BEHIND_OTHERS \
  /*@ assert grown: draft_grown{Begun,Here}(d); */ \
  /*@ assert list: draft_list{Pre,Here}(d); */ \
  /*@ assert not_of_run: \forall integer k; 0 <= k < n ==> !of_run(d, d->pages[k]); */ \
  /*@ assert kept_filled: draft_pages_same{Begun,Here}(d, n); */ \
  /*@ assert kept: draft_pages_same{Pre,Here}(d, n); */ \
  /*@ assert index: index_same{Pre,Here}(p) && same_leaves{Pre,Here}(p); */

#endif

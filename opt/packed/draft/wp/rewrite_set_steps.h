/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of rewrite_set.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_REWRITE_SET_STEPS_H
#define OPT_WP_REWRITE_SET_STEPS_H

#include "rewrite_steps.h"

/* put_gap, put_live_beside: the set's memory is separate from what is written */
#define SET_LIES_APART \
  /*@ ghost const uint64_t *leaf = c.leaf; */ \
  /*@ ghost size_t leaves = c.leaves; */ \
  /*@ ghost const struct opt_entry *e = c.rest; */ \
  /*@ ghost size_t n = c.nodes; */ \
  /*@ assert leaves_apart: set_apart(d, leaf, leaves); */ \
  /*@ assert leaf_draft: \forall integer j; 0 <= j < leaves ==> \separated(&leaf[j], d); */ \
  ENTRIES_LIE_APART
#define SET_STAYS \
  /*@ ghost \
    /@ loop invariant 0 <= k <= leaves; \
       loop invariant kept: \forall integer j; 0 <= j < k ==> leaf_at(leaf, j) == set_leaf(j); \
       loop assigns k; \
       loop variant leaves - k; @/ \
    for (size_t k = 0; k < leaves; k++) { \
      /@ assert leaf_was: leaf_at{Pre}(leaf, k) == set_leaf(k); @/ \
      /@ assert leaf_place: \separated(leaf + (k .. k), d) && \
           \separated(leaf + (k .. k), d->first + (0 .. d->room - 1)) && \
           \separated(leaf + (k .. k), d->pages + (0 .. d->room - 1)) && \
           \separated(leaf + (k .. k), &opt_pages[0 .. OPT_PAGES_MAX - 1]); @/ \
      /@ assert leaf_kept: leaf_at(leaf, k) == leaf_at{Pre}(leaf, k); @/ \
    } */ \
  /*@ assert set: set_is(leaf, leaves); */ \
  /*@ assert set_apart: set_apart(d, leaf, leaves); */ \
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
    for (size_t k = 0; k < n; k++) { \
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
  /*@ assert kept: entries_kept{Pre,Here}(e, n); */ \
  /*@ assert rest: rest_is(e, n); */ \
  /*@ assert nodes: tree_entries(root, depth, e, n); */ \
  /*@ assert stored: set_stored(root, depth, d, c); */

/* put_node */
#define NODE_TO_PUT \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ assert place: entry_start(c.rest, i) == rest_start(i) && \
        entry_height(c.rest, i) == rest_height(i); */ \
  /*@ assert of_tree: 0 <= rest_height(i) <= depth && \
        tree_node(depth, rest_start(i), rest_height(i)); */ \
  /*@ assert within: rest_start(i) <= pow2(depth); */
#define GAP_IS_PUT \
  /*@ ghost Gap: ; */ \
  /*@ assert gap_grown: draft_grown{Pre,Here}(d); */ \
  /*@ assert still: entry_start(c.rest, i) == rest_start(i) && \
        entry_height(c.rest, i) == rest_height(i); */ \
  /*@ assert seed: entry_seed(c.rest, i) == node_seed(root, depth, rest_start(i), rest_height(i)); \
        */ \
  /*@ assert apart: seed_apart(d, &c.rest[i].seed); */
#define NODE_IS_PUT \
  /*@ assert node_grown: draft_grown{Gap,Here}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert grown: draft_grown{Pre,Here}(d); */

/* put_nodes_left */
#define REST_TO_PUT \
  /*@ ghost pow2_pos_lemma(); */ \
  NOTHING_CHANGED \
  /*@ ghost uint64_t start = d->end; */ \
  /*@ ghost uint64_t *firsts = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */
#define NODE_OF_REST \
  /*@ ghost Turn: ; */ \
  /*@ ghost uint64_t turn = d->end; */ \
  /*@ assert begins: c.rest[i].node.start == rest_start(i) < end && turn <= rest_start(i); */ \
  /*@ assert ends: rest_end(i) <= end; */ \
  /*@ assert height: 0 <= rest_height(i) <= 63; */ \
  /*@ assert some: rest_start(i) < rest_end(i); */
#define NODE_OF_REST_IS_PUT \
  /*@ assert put: draft_grown{Turn,Here}(d); */ \
  /*@ assert put_before: draft_grown{Pre,Turn}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert longer: draft_grown{Pre,Here}(d); */ \
  /*@ assert step: \forall integer x; in_rest(at, i + 1, x) <==> \
        in_rest(at, i, x) || of_rest(i, x); */ \
  /*@ assert not_yet: \forall integer k, x; at <= k < i ==> turn <= x ==> !of_rest(k, x); */ \
  /*@ assert none_before: \forall integer x; turn <= x < rest_start(i) ==> \
        !in_rest(at, i + 1, x); */ \
  /*@ assert all_of: \forall integer x; of_rest(i, x) ==> in_rest(at, i + 1, x); */ \
  /*@ assert old_ones: \forall integer x; start <= x < turn ==> \
        (in_rest(at, i + 1, x) <==> in_rest(at, i, x)); */ \
  /*@ assert next: \forall integer k; i + 1 <= k < c.nodes ==> rest_end(i) <= rest_start(k); */
#define GAP_BEHIND_REST \
  /*@ ghost Rest: ; */ \
  /*@ ghost uint64_t stop = d->end; */ \
  /*@ assert behind: i < c.nodes ==> end <= rest_start(i); */ \
  /*@ assert height: i < c.nodes ==> 0 <= rest_height(i) <= 63; */ \
  /*@ assert some: i < c.nodes ==> rest_start(i) < rest_end(i); */ \
  /*@ assert all_behind: \forall integer k; i <= k < c.nodes ==> end <= rest_start(k); */ \
  /*@ assert before_stop: \forall integer k, x; at <= k < i ==> stop <= x ==> !of_rest(k, x); */ \
  /*@ assert before_start: \forall integer k, x; 0 <= k < at ==> start <= x ==> !of_rest(k, x); */ \
  /*@ assert others: \forall integer x; start <= x < end ==> \
        (in_rest(at, i, x) <==> in_rest(0, c.nodes, x)); */
#define REST_IS_PUT \
  /*@ assert put: draft_grown{Rest,Here}(d); */ \
  /*@ assert put_before: draft_grown{Pre,Rest}(d); */ \
  /*@ assert own: draft_blocks(d) && draft_distinct(d); */ \
  /*@ assert longer: draft_grown{Pre,Here}(d); */ \
  /*@ assert gap: \forall integer x; stop <= x < end ==> !in_rest(at, i, x); */

/* put_rest_of_tile */
#define TILE_TO_PUT \
  /*@ ghost deep_tree_lemma(depth); */ \
  /*@ ghost uint64_t start = d->end; */ \
  /*@ assert height: tile < 128 && tile_height(tile) <= depth <= 63; */ \
  /*@ assert within: start + pow2(tile_height(tile)) <= pow2(depth); */ \
  /*@ assert covered: \forall integer x; covers(start, tile_height(tile), x) <==> \
        start <= x < start + pow2(tile_height(tile)); */
#define TILE_MEETS_SET \
  /*@ assert first_leaf: leaf < c.leaves ==> \
        c.leaf[leaf] == set_leaf(leaf) && start <= set_leaf(leaf); */ \
  /*@ assert before: \forall integer j; 0 <= j < leaf ==> set_leaf(j) < start; */ \
  /*@ assert behind: \forall integer j; leaf < j < c.leaves ==> set_leaf(leaf) < set_leaf(j); */ \
  /*@ assert meets: set_meets(c.leaves, start, end) <==> \
        leaf < c.leaves && set_leaf(leaf) < end; */ \
  /*@ assert still: set_before(c.leaves, leaf, end) && set_before(c.leaves, leaf, start); */ \
  /*@ assert rest: tile >= 64 && set_meets(c.leaves, start, end) ? \
        rest_of_node(c.leaves, c.nodes, start, end) : rest_outside(c.nodes, start, end); */
#define REST_OF_TILE_IS_PUT \
  /*@ assert within_tile: rest_within(c.nodes, start, end); */ \
  /*@ assert hole: tile < 64 ==> \forall integer x; start <= x < end ==> \
        !in_rest(0, c.nodes, x); */ \
  /*@ assert live: tile >= 64 ==> \forall integer x; start <= x < end ==> \
        (in_rest(0, c.nodes, x) <==> !in_set(c.leaves, x)); */ \
  /*@ assert left: \forall integer x; start <= x < end && !in_rest(0, c.nodes, x) <==> \
        start <= x < end && (tile < 64 || in_set(c.leaves, x)); */ \
  /*@ assert put: put.err == 0 ==> \forall integer x; draft_punctured(d, x) <==> \
        draft_punctured{Pre}(d, x) || start <= x < end && !in_rest(0, c.nodes, x); */ \
  /*@ assert put_set: put.err == 0 ==> \forall integer x; draft_punctured(d, x) <==> \
        draft_punctured{Pre}(d, x) || covers(start, tile_height(tile), x) && \
          (tile < 64 || in_set(c.leaves, x)); */
#define TILE_IS_PUT \
  /*@ assert not_met: !set_meets(c.leaves, start, end); */ \
  /*@ assert none: \forall integer x; start <= x < end ==> !in_set(c.leaves, x); */ \
  /*@ assert rest_behind: rest_before(c.nodes, at.node, end); */ \
  /*@ assert put_live: err == 0 ==> \forall integer x; draft_punctured(d, x) <==> \
        draft_punctured{Pre}(d, x) || covers(start, tile_height(tile), x) && \
          (tile < 64 || in_set(c.leaves, x)); */

/* opt_draft_page: facts about the row are stated of its contents at the start; it does not
 * change */
#define PAGE_TO_PUT \
  NOTHING_CHANGED \
  /*@ ghost uint64_t *firsts = d->first; */ \
  /*@ ghost struct opt_page **pages = d->pages; */ \
  /*@ ghost size_t room = d->room; */ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ ghost unsigned tiles = page->tiles; */ \
  /*@ ghost row_order_lemma(row, tiles, first, depth); */ \
  /*@ ghost counts_lemma(row, tiles); */ \
  /*@ assert total: seeds_before{Pre}(row, tiles) == \at(page->seeds,Pre); */ \
  /*@ assert used: !free_page(page); */
#define TILE_OF_PAGE \
  TILE_IN_ROW \
  /*@ assert rest: rest_of_tile(c.leaves, c.nodes, tile_byte(row, i), d->end); */ \
  /*@ ghost uint64_t at_leaf = d->end; */
#define SET_WITH_TILE_OF_PAGE \
  /*@ assert covered: \forall integer x; tile_covers{Pre}(row, first, i, x) <==> \
        covers(at_leaf, tile_height(tile_byte{Pre}(row, i)), x); */ \
  /*@ assert one_more: \forall integer x; punctured_between{Pre}(row, first, 0, i + 1, x) <==> \
        punctured_between{Pre}(row, first, 0, i, x) || \
        tile_byte{Pre}(row, i) < 64 && tile_covers{Pre}(row, first, i, x); */

#endif

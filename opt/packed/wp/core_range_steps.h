/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/core_range.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_CORE_RANGE_STEPS_H
#define OPT_WP_PACKED_CORE_RANGE_STEPS_H

#include "core_steps.h"

/* siblings_at */
#define NOTHING_IS_LEFT \
  /*@ ghost one_tile_lemma(p, leaf); */ \
  /*@ assert left: left_of_leaf(p, leaf, out, 0); */ \
  /*@ assert right: right_of_leaf(p, leaf, out, 0); */
#define NODE_IS_LEFT \
  TILES_ARE_SAME \
  /*@ assert starts: \forall integer i; 0 <= i < p->pages ==> \
        tile_start{Pre}(page_row(p->page[i]), p->first[i], at.node.tile) == \
        tile_start(page_row(p->page[i]), p->first[i], at.node.tile); */ \
  /*@ assert in_page: \forall integer i; 0 <= i < p->pages ==> \
        node_in_page{Pre}(p, i, at.node) ==> \
        page_tile(p, i, OPT_TILE_LIVE + at.node.height, at.node.start); */ \
  /*@ assert tile: packed_tile(p, OPT_TILE_LIVE + at.node.height, at.node.start); */ \
  /*@ ghost one_tile_lemma(p, leaf); */ \
  /*@ assert height: tile_height(OPT_TILE_LIVE + at.node.height) == at.node.height; */ \
  /*@ assert only: \forall integer b, s; packed_tile(p, b, s) ==> \
        covers(s, tile_height(b), leaf) ==> \
        b == OPT_TILE_LIVE + at.node.height && s == at.node.start; */ \
  /*@ assert same_depth: p->depth == d; */ \
  /*@ assert entries: entries(root, d, out, kept.count); */ \
  /*@ assert entry: \forall integer i; 0 <= i < kept.count ==> entry(root, d, out + i); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= kept.count; \
       loop invariant heights: \forall integer i; 0 <= i < k ==> 0 <= entry_height(out, i); \
       loop assigns k; \
       loop variant kept.count - k; @/ \
    for (unsigned k = 0; k < kept.count; k++) { \
      unsigned height = out[k].node.height; \
      /@ assert height: entry_height(out, k) == height; @/ \
    } */ \
  /*@ assert heights: \forall integer i; 0 <= i < kept.count ==> 0 <= entry_height(out, i) < d; */ \
  /*@ assert places: \forall integer i; 0 <= i < kept.count ==> \
        tree_node(d, entry_start(out, i), entry_height(out, i)); */ \
  /*@ assert seeds: \forall integer i; 0 <= i < kept.count ==> \
        entry_seed(out, i) == node_seed(root, d, entry_start(out, i), entry_height(out, i)); */ \
  /*@ assert nodes: tree_entries(root, p->depth, out, kept.count); */ \
  /*@ assert starts_of: \forall integer i; 0 <= i < kept.count ==> \
        entry_start(out, i) == out[i].node.start && \
        entry_end(out, i) == out[i].node.start + pow2(out[i].node.height); */ \
  /*@ assert lefts: kept.err == PPRF_OK ==> right_side == 0 ==> \
        ascending(out, kept.count) && last_ends(out, kept.count, leaf) && \
        (kept.count > 0 ==> begins(out, 0, at.node.start)) && \
        (kept.count == 0 ==> leaf <= at.node.start); */ \
  /*@ assert rights: kept.err == PPRF_OK ==> right_side == 1 ==> descending(out, kept.count) && \
        last_begins(out, kept.count, leaf + 1) && \
        (kept.count > 0 ==> ends(out, 0, at.node.start + pow2(at.node.height))) && \
        (kept.count == 0 ==> at.node.start + pow2(at.node.height) <= leaf + 1); */ \
  /*@ assert up: kept.err == PPRF_OK ==> right_side == 0 ==> \
        entries_up(out, kept.count, at.node.start); */ \
  /*@ assert up_to: kept.err == PPRF_OK ==> right_side == 0 ==> \
        (kept.count > 0 ==> entry_end(out, kept.count - 1) == leaf) && \
        (kept.count == 0 ==> at.node.start == leaf); */ \
  /*@ assert left: kept.err == PPRF_OK ==> right_side == 0 ==> \
        left_of_node(OPT_TILE_LIVE + at.node.height, at.node.start, leaf, out, kept.count); */ \
  /*@ assert down: kept.err == PPRF_OK ==> right_side == 1 ==> \
        entries_down(out, kept.count, leaf + 1); */ \
  /*@ assert down_to: kept.err == PPRF_OK ==> right_side == 1 ==> \
        (kept.count > 0 ==> entry_end(out, 0) == at.node.start + pow2(at.node.height)) && \
        (kept.count == 0 ==> at.node.start + pow2(at.node.height) == leaf + 1); */ \
  /*@ assert right: kept.err == PPRF_OK ==> right_side == 1 ==> \
        right_of_node(OPT_TILE_LIVE + at.node.height, at.node.start, leaf, out, kept.count); */
#define TILES_ARE_SAME \
  /*@ assert tiles_kept: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (tile_of_page{Pre}(p->page[k], p->first[k], b, s) <==> \
         tile_of_page(p->page[k], p->first[k], b, s)); */ \
  /*@ assert tiles_of: \forall integer k, b, s; 0 <= k < p->pages ==> \
        (page_tile{Pre}(p, k, b, s) <==> page_tile(p, k, b, s)); */ \
  /*@ assert tiles_out: \forall integer b, s; packed_tile{Pre}(p, b, s) ==> \
        packed_tile(p, b, s); */ \
  /*@ assert tiles_in: \forall integer b, s; packed_tile(p, b, s) ==> \
        packed_tile{Pre}(p, b, s); */ \
  /*@ assert same_tiles: same_tiles{Pre,Here}(p); */

/* punct_range_from */
#define LIVE_IN_RANGE \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ ghost uint64_t live_leaf = either_lemma(at.node.start > first, at.node.start, first); */ \
  /*@ assert in_node: covers(at.node.start, at.node.height, live_leaf); */ \
  /*@ assert live: first <= live_leaf <= last && !packed_punctured(p, live_leaf); */ \
  /*@ assert around: at.node.start <= first ==> covers(at.node.start, at.node.height, first); */ \
  /*@ assert before: at.node.start > first ==> packed_punctured(p, first); */
#define RIGHT_IS_KEPT \
  /*@ ghost unsigned d = p->depth; */ \
  /*@ assert right_lo: \forall integer i; 0 <= i < d ==> \
        right[i].seed.lo == \at(right[i].seed.lo,Pre); */ \
  /*@ assert right_hi: \forall integer i; 0 <= i < d ==> \
        right[i].seed.hi == \at(right[i].seed.hi,Pre); */ \
  /*@ assert right_kept: wiped_or_kept{Pre,Here}(right, 0, d); */ \
  /*@ assert depth: d == \at(p->depth,Pre); */
#define LEFT_IS_KEPT \
  /*@ assert left_same: \forall integer i; 0 <= i < lefts.count ==> \
        entry_start(left, i) == entry_start{Left}(left, i) && \
        entry_height(left, i) == entry_height{Left}(left, i) && \
        entry_seed(left, i) == entry_seed{Left}(left, i); */ \
  /*@ assert left_ends: \forall integer i; 0 <= i < lefts.count ==> \
        entry_end(left, i) == entry_end{Left}(left, i); */ \
  /*@ assert left_nodes: tree_entries(root, p->depth, left, lefts.count); */ \
  /*@ assert tiles_in: \forall integer b, s; packed_tile(p, b, s) ==> \
        packed_tile{Left}(p, b, s); */ \
  /*@ assert left_old: \forall integer b, s; packed_tile(p, b, s) ==> \
        covers(s, tile_height(b), first) ==> \
        left_of_node{Left}(b, s, first, left, lefts.count); */ \
  /*@ assert left_node: \forall integer b, s; \
        left_of_node{Left}(b, s, first, left, lefts.count) ==> \
        left_of_node(b, s, first, left, lefts.count); */ \
  /*@ assert left_of: left_of_leaf(p, first, left, lefts.count); */ \
  /*@ assert same_set: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */ \
  /*@ assert same_nodes: p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert behind_lo: \forall integer i; lefts.count <= i < d ==> \
        left[i].seed.lo == \at(left[i].seed.lo,Left); */ \
  /*@ assert behind_hi: \forall integer i; lefts.count <= i < d ==> \
        left[i].seed.hi == \at(left[i].seed.hi,Left); */ \
  /*@ assert behind_left: wiped_or_kept{Pre,Left}(left, lefts.count, d); */ \
  /*@ assert behind: wiped_or_kept{Pre,Here}(left, lefts.count, d); */ \
  /*@ assert behind_right: wiped_or_kept{Left,Here}(right, rights.count, d); */ \
  /*@ assert right_behind: wiped_or_kept{Pre,Here}(right, rights.count, d); */ \
  /*@ ghost Derived: ; */
#define RANGE_IS_PUNCTURED \
  /*@ assert none_set: err != PPRF_OK ==> \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */ \
  /*@ assert none_nodes: err != PPRF_OK ==> p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert set: err == PPRF_OK ==> \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x) || first <= x <= last; */ \
  /*@ assert punct_left_lo: \forall integer i; 0 <= i < d ==> \
        left[i].seed.lo == \at(left[i].seed.lo,Derived); */ \
  /*@ assert punct_left_hi: \forall integer i; 0 <= i < d ==> \
        left[i].seed.hi == \at(left[i].seed.hi,Derived); */ \
  /*@ assert punct_right_lo: \forall integer i; 0 <= i < d ==> \
        right[i].seed.lo == \at(right[i].seed.lo,Derived); */ \
  /*@ assert punct_right_hi: \forall integer i; 0 <= i < d ==> \
        right[i].seed.hi == \at(right[i].seed.hi,Derived); */ \
  /*@ assert punct_left: wiped_or_kept{Pre,Here}(left, lefts.count, d); */ \
  /*@ assert punct_right: wiped_or_kept{Pre,Here}(right, rights.count, d); */ \
  /*@ ghost Punctured: ; */
#define SIDES_KEPT_BY_WIPING \
  /*@ assert rest_left_lo: \forall integer i; lefts.count <= i < d ==> \
        left[i].seed.lo == \at(left[i].seed.lo,Punctured); */ \
  /*@ assert rest_left_hi: \forall integer i; lefts.count <= i < d ==> \
        left[i].seed.hi == \at(left[i].seed.hi,Punctured); */ \
  /*@ assert rest_right_lo: \forall integer i; rights.count <= i < d ==> \
        right[i].seed.lo == \at(right[i].seed.lo,Punctured); */ \
  /*@ assert rest_right_hi: \forall integer i; rights.count <= i < d ==> \
        right[i].seed.hi == \at(right[i].seed.hi,Punctured); */ \
  /*@ assert depth: d == p->depth; */ \
  /*@ assert wiped_left: wiped_or_kept{Pre,Here}(left, 0, d); */ \
  /*@ assert wiped_right: wiped_or_kept{Pre,Here}(right, 0, d); */

/* opt_packed_punct_range, opt_packed_punct_range_deep */
#define SIDES_ARE_WIPED \
  /*@ assert wiped: wiped_or_kept{Begun,Here}(&left[0], 0, p->depth) && \
        wiped_or_kept{Begun,Here}(&right[0], 0, p->depth); */

#endif

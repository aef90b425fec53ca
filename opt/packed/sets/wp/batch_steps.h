/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/sets/batch.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_BATCH_STEPS_H
#define OPT_WP_PACKED_BATCH_STEPS_H

#include "set_steps.h"

/* replace_runs */
#define RUNS_TO_TAKE_PLACE \
  /*@ ghost Put: ; */ \
  /*@ assert same_index: index_same{Pre,Put}(p); */ \
  /*@ assert same_set: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */ \
  /*@ assert list: draft_list{Pre,Here}(d) && draft_distinct(d) && draft_blocks(d) && \
        draft_apart(d); */ \
  /*@ assert draft_room: d->room == \at(d->room,Pre) && d->n <= d->room; */ \
  /*@ assert draft_block: d->block == \at(d->block,Pre); */ \
  /*@ assert draft_firsts: d->first == \at(d->first,Pre); */ \
  /*@ assert draft_pages: d->pages == \at(d->pages,Pre); */ \
  /*@ assert same_firsts: p->first == \at(p->first,Pre) && p->page == \at(p->page,Pre) && \
        p->room == \at(p->room,Pre) && p->pages == \at(p->pages,Pre) && \
        p->page_max == \at(p->page_max,Pre) && p->depth == \at(p->depth,Pre) && \
        p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert beside: draft_beside(d, p); */ \
  /*@ assert own: run_own(d->pages, d->n); */ \
  /*@ assert distinct: run_distinct(d->pages, d->n); */ \
  /*@ assert blocks: \forall integer i; 0 <= i < d->n ==> page_bytes(d->pages[i]) <= d->block; */ \
  /*@ assert within: run_within(d->pages, d->n, p->page_max); */ \
  /*@ assert new: run_new(p, d->pages, d->n); */ \
  /*@ assert pages: pages_to_come(p, d, d->n); */ \
  /*@ assert room: p->pages + d->n <= p->room; */ \
  /*@ assert runs: put.err == 0 ==> put.runs <= most; */ \
  /*@ assert memory: put.err == 0 ==> runs_apart(p, d, run, put.runs); */ \
  /*@ assert to_come: put.err == 0 ==> \
        runs_to_come(root, p, d, run, put.runs, c.leaves); */ \
  /*@ assert none: put.err == 0 ==> none_between(c.leaves, runs_end(p, run, put.runs), \
        pow2(p->depth)); */ \
  /*@ assert in_tree: set_in_tree(p->depth, c.leaves); */
#define RUNS_HAVE_TAKEN_PLACE \
  /*@ assert set: \forall integer x; \
        packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || in_set(c.leaves, x); */

/* batch_with */
#define SET_BESIDE_DRAFT \
  /*@ assert begins: p->first[0] == 0 && index_same{Pre,Here}(p); */ \
  /*@ assert same_fields: p->room == \at(p->room,Pre) && p->pages == \at(p->pages,Pre) && \
        p->depth == \at(p->depth,Pre) && p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert block: index_block(d->first, d->pages, d->room); */ \
  /*@ assert beside: draft_beside(d, p); */ \
  /*@ assert leaves: \forall integer j; 0 <= j < c.leaves ==> \
        leaf_at(c.leaf, j) == leaf_at{Pre}(c.leaf, j); */ \
  /*@ assert set: set_is(c.leaf, c.leaves); */ \
  /*@ assert leaf_apart: set_apart(d, c.leaf, c.leaves); */ \
  /*@ assert kept: entries_kept{Pre,Here}(c.rest, c.nodes); */ \
  /*@ assert rest: rest_is(c.rest, c.nodes); */ \
  /*@ assert stored: set_stored(root, p->depth, d, c); */ \
  /*@ assert of_store: set_of_store(p, c); */ \
  /*@ assert runs_beside: runs_beside(p, d, c, run, most); */ \
  /*@ assert index_of: p->first == &p->one_first && p->page == &p->one_page && p->room == 1 || \
        index_block(p->first, p->page, p->room); */ \
  /*@ assert runs_first: \separated(run + (0 .. most - 1), p->first + (0 .. p->room - 1)); */ \
  /*@ assert runs_page: \separated(run + (0 .. most - 1), p->page + (0 .. p->room - 1)); */ \
  /*@ assert runs_apart: runs_apart(p, d, run, most); */

/* rewrite_set */
#define SET_IN_BLOCK \
  /*@ assert set_there: set_there(root, p->depth, c); */ \
  /*@ assert of_store: set_of_store(p, c); */

#define PAGES_AT_END \
  /*@ assert pages_in: \forall integer k; 0 <= k < p->pages ==> page_holds(root, \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */

/* size_of_set */
#define PAGE_TO_MEET \
  /*@ assert leaf: c.leaf[at] == leaf_at(c.leaf, at) == set_leaf(at) < pow2(p->depth); */ \
  /*@ assert from_next: p->first[next] <= c.leaf[at]; */
#define PAGE_IS_MET \
  /*@ ghost index_order_lemma(p, next); */ \
  /*@ assert not_before: next <= met; */ \
  /*@ ghost index_order_lemma(p, met); */ \
  /*@ assert fits: page_fits(p->page[met]) && \
        page_bytes(p->page[met]) <= p->page_max <= OPT_ARENA_MAX; */ \
  /*@ assert before_met: set_before(c.leaves, at, p->first[met]); */
#define NEXT_TO_MEET \
  /*@ assert up: next < p->pages ==> p->first[met] < p->first[next]; */ \
  /*@ assert before_next: next < p->pages ==> set_before(c.leaves, at, p->first[next]); */
#define SET_IS_MEASURED /*@ assert most: 98 <= p->page_max <= 4096; */

/* reserve_for_set */
#define SET_BESIDE_STORE \
  /*@ ghost const uint64_t *leaf = c.leaf; */ \
  /*@ ghost const struct opt_entry *e = c.rest; */ \
  /*@ ghost size_t n = c.nodes; */ \
  /*@ ghost size_t leaves = c.leaves; */
#define SET_IS_KEPT \
  NODES_BESIDE_STORE \
  /*@ assert leaves_kept: \forall integer j; 0 <= j < leaves ==> \
        leaf_at(leaf, j) == leaf_at{Pre}(leaf, j); */ \
  /*@ assert set: set_is(leaf, leaves); */ \
  /*@ assert rest: rest_is(e, n); */ \
  /*@ assert same_depth: p->depth == \at(p->depth,Pre); */ \
  /*@ assert nodes: tree_entries(root, p->depth, e, n); */ \
  /*@ assert there: set_there(root, p->depth, c); */ \
  /*@ assert of_store: set_of_store(p, c); */

/* opt_packed_puncture_runs */
#define SET_TO_REWRITE \
  /*@ assert room: p->pages <= p->room <= OPT_INDEX_MAX; */ \
  /*@ assert count_apart: index_memory(p) && \
        \separated(&p->nodes, &opt_firsts[0 .. OPT_INDEX_MAX - 1]); */
#define SET_HAS_ROOM \
  /*@ assert reserved: p->nodes == \at(p->nodes,Pre); */ \
  /*@ assert same_pages: p->pages == \at(p->pages,Pre); */ \
  /*@ assert reserved_room: err == 0 ==> p->pages + size.pages <= p->room; */ \
  /*@ assert reserved_set: \forall integer x; packed_punctured(p, x) <==> \
        packed_punctured{Pre}(p, x); */
#define SET_IS_REWRITTEN \
  /*@ ghost uint64_t nodes = p->nodes; */ \
  /*@ assert none: put.err != 0 ==> nodes == \at(p->nodes,Pre); */ \
  /*@ assert none_set: put.err != 0 ==> \forall integer x; \
        packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */ \
  /*@ assert nodes_apart: index_memory(p) && \
        \separated(&p->nodes, &opt_firsts[0 .. OPT_INDEX_MAX - 1]) && \
        \separated(&p->nodes, &opt_pages[0 .. OPT_PAGES_MAX - 1]); */ \
  /*@ assert runs_there: \valid_read(run + (0 .. put.runs - 1)) && \
        \separated(run + (0 .. put.runs - 1), p); */
#define SET_IS_TIDY \
  /*@ assert same_nodes: p->nodes == nodes; */ \
  /*@ assert still_none: put.err != 0 ==> \forall integer x; \
        packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */

#endif

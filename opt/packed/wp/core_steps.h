/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/core.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_CORE_STEPS_H
#define OPT_WP_PACKED_CORE_STEPS_H

/* opt_packed_live, next_live */
#define FOUND_IN_TREE \
  /*@ assert node: live == 1 ==> packed_node(p, node); */ \
  /*@ assert rows: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> \
        node_in_page(p, i, node) ==> row_tiles(page_row(p->page[i]), p->page[i]->tiles, \
        p->first[i], p->depth); */ \
  /*@ assert tile: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> \
        node_in_page(p, i, node) ==> tile_is_node(page_row(p->page[i]), p->first[i], p->depth, \
        node.tile); */ \
  /*@ assert place: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> \
        node_in_page(p, i, node) ==> tile_byte(page_row(p->page[i]), \
        node.tile) == OPT_TILE_LIVE + node.height && \
        tile_start(page_row(p->page[i]), p->first[i], node.tile) == node.start; */ \
  /*@ assert of_tree: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> \
        node_in_page(p, i, node) ==> byte_of_node(p->depth, OPT_TILE_LIVE + node.height, \
        node.start); */ \
  /*@ assert in_tree: live == 1 ==> node.height <= p->depth <= 63 && \
        tree_node(p->depth, node.start, node.height); */

/* walk_to */
#define NODE_TO_WALK /*@ ghost unsigned d = p->depth; */
#define NODE_IS_WALKED \
  /*@ assert starts: \forall integer i; 0 <= i < p->pages ==> \
        tile_start{Pre}(page_row(p->page[i]), p->first[i], node.tile) == \
        tile_start(page_row(p->page[i]), p->first[i], node.tile); */ \
  /*@ assert counts: \forall integer i; 0 <= i < p->pages ==> \
        seeds_before{Pre}(page_row(p->page[i]), node.tile) == \
        seeds_before(page_row(p->page[i]), node.tile); */ \
  /*@ assert in_page: \forall integer i; 0 <= i < p->pages ==> \
        node_in_page{Pre}(p, i, node) ==> node_in_page(p, i, node); */ \
  /*@ assert node: packed_node(p, node); */

/* punct_node */
#define OUT_IS_KEPT \
  /*@ assert out_kept: out != \null ==> \forall integer k; 0 <= k < 16 ==> \
        out[k] == \at(out[k],Pre); */

/* punct_with */
#define PATH_IS_SAME \
  /*@ assert los: \forall integer j; 0 <= j < d ==> copath[j].lo == \at(copath[j].lo,Pre); */ \
  /*@ assert his: \forall integer j; 0 <= j < d ==> copath[j].hi == \at(copath[j].hi,Pre); */ \
  /*@ assert path: wiped_or_same{Pre,Here}(copath, d); */ \
  /*@ assert wiped_value: wiped_or_same{Pre,Here}(value, 1); */
#define REST_IS_APART \
  /*@ assert apart_value: \forall integer j; 0 <= j < d ==> \separated(value, copath + j); */ \
  /*@ assert apart_rest: \forall integer j; found.node.height <= j < d ==> \
        \separated(copath + (0 .. found.node.height - 1), copath + j); */ \
  /*@ assert apart_store: \forall integer j; 0 <= j < d ==> copath_apart(p, copath + j, 1); */
#define PATH_IS_WIPED_TO \
  /*@ assert rest_los: \forall integer j; found.node.height <= j < d ==> \
        copath[j].lo == \at(copath[j].lo,Pre); */ \
  /*@ assert rest_his: \forall integer j; found.node.height <= j < d ==> \
        copath[j].hi == \at(copath[j].hi,Pre); */ \
  /*@ assert path: wiped_or_same{Pre,Here}(copath, d); */ \
  /*@ assert wiped_value: wiped_or_same{Pre,Here}(value, 1); */

/* punct_shallow, punct_any */
#define PATH_IS_WIPED \
  /*@ assert wiped: wiped_or_same{Begun,Here}(&copath[0], p->depth) && \
        wiped_or_same{Begun,Here}(&value, 1); */

#endif

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

#endif

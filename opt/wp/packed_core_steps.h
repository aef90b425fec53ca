/* SPDX-License-Identifier: Apache-2.0 */
/* What leads the provers through packed_core.c, by what it shows; to the compiler each of these is empty. */
#ifndef OPT_WP_PACKED_CORE_STEPS_H
#define OPT_WP_PACKED_CORE_STEPS_H

/* opt_packed_eval */
#define NODE_IN_TREE \
  /*@ assert rows: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        row_tiles(page_row(p->page[i]), p->page[i]->tiles, p->first[i], p->depth); */ \
  /*@ assert tile: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        tile_is_node(page_row(p->page[i]), p->first[i], p->depth, node.tile); */ \
  /*@ assert place: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        tile_byte(page_row(p->page[i]), node.tile) == OPT_TILE_LIVE + node.height && \
        tile_start(page_row(p->page[i]), p->first[i], node.tile) == node.start; */ \
  /*@ assert of_tree: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        byte_of_node(p->depth, OPT_TILE_LIVE + node.height, node.start); */ \
  /*@ assert node: node.height <= p->depth <= 63 && tree_node(p->depth, node.start, node.height); */

#endif

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

/* find_live */
#define FOUND_IN_TREE \
  /*@ assert node: live == 1 ==> packed_node(p, node); */ \
  /*@ assert rows: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        row_tiles(page_row(p->page[i]), p->page[i]->tiles, p->first[i], p->depth); */ \
  /*@ assert tile: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        tile_is_node(page_row(p->page[i]), p->first[i], p->depth, node.tile); */ \
  /*@ assert place: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        tile_byte(page_row(p->page[i]), node.tile) == OPT_TILE_LIVE + node.height && \
        tile_start(page_row(p->page[i]), p->first[i], node.tile) == node.start; */ \
  /*@ assert of_tree: live == 1 ==> \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==> \
        byte_of_node(p->depth, OPT_TILE_LIVE + node.height, node.start); */ \
  /*@ assert in_tree: live == 1 ==> node.height <= p->depth <= 63 && \
        tree_node(p->depth, node.start, node.height); */

/* walk_to, give_and_wipe: all pages, the index and the count are as they were */
#define KEY_IS_APART \
  INDEX_IS_APART \
  /*@ assert same_bytes: \forall integer k, j; 0 <= k < OPT_PAGES_MAX ==> 0 <= j < OPT_ARENA_MAX ==> \
        tile_byte{Pre}(page_row(&opt_pages[k]), j) == tile_byte(page_row(&opt_pages[k]), j); */ \
  /*@ assert same_sizes: \forall integer k; 0 <= k < OPT_PAGES_MAX ==> \
        opt_pages[k].bytes == \at(opt_pages[k].bytes,Pre) && \
        opt_pages[k].tiles == \at(opt_pages[k].tiles,Pre) && \
        opt_pages[k].seeds == \at(opt_pages[k].seeds,Pre); */ \
  OTHERS_KEPT \
  /*@ assert where: p->first == &p->one_first && p->page == &p->one_page && p->room == 1 || \
        index_block(p->first, p->page, p->room); */ \
  STORE_KEPT \
  COUNT_KEPT \
  /*@ assert same_fields: p->nodes == \at(p->nodes,Pre) && p->room == \at(p->room,Pre) && \
        p->page_max == \at(p->page_max,Pre); */ \
  /*@ assert counted: packed_counted(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert sized: packed_sized(p); */ \
  /*@ assert key: packed_key(seed_value(R), p); */
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

/* opt_packed_punct, opt_packed_punct_deep: the store is there before, in and behind the block of the local seeds */
#define KEY_IN_BLOCK \
  /*@ assert old_held: \forall integer k; 0 <= k < p->pages ==> page_holds{Pre}(seed_value(R), \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */
#define KEY_AT_END \
  /*@ assert held_in: \forall integer k; 0 <= k < p->pages ==> page_holds(seed_value(R), \
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
  /*@ assert held: \forall integer k; 0 <= k < p->pages ==> page_holds(seed_value(R), \
        p->depth, p->page[k], p->first[k], page_end(p, k)); */ \
  /*@ assert holds: packed_holds(seed_value(R), p); */ \
  /*@ assert owns: packed_owns(p); */ \
  /*@ assert counted: packed_counted(p) && packed_sized(p); */ \
  /*@ assert memory: index_memory(p); */ \
  /*@ assert key: packed_key(seed_value(R), p); */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of packed/read.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_PACKED_READ_STEPS_H
#define OPT_WP_PACKED_READ_STEPS_H

#define PAGE_TO_READ \
  /*@ ghost const uint8_t *row = page->tile; */ \
  /*@ assert page: page_holds(root, p->depth, page, p->first[i], page_end(p, i)); */ \
  /*@ assert tiles: row_tiles(row, page->tiles, p->first[i], p->depth); */ \
  /*@ assert bytes: \forall integer k; 0 <= k < page->tiles ==> tile_byte(row, k) < 128; */ \
  /*@ ghost row_order_lemma(row, page->tiles, p->first[i], p->depth); */ \
  /*@ assert among: \forall integer x; page_punctured(p, i, x) ==> packed_punctured(p, x); */
#define TILE_IS_READ \
  /*@ assert tile: tile_is_node(row, p->first[i], p->depth, at.tile); */ \
  /*@ assert step: row_step(row, p->first[i], at.tile); */ \
  /*@ ghost leaves_of_lemma(page->tile[at.tile] % 64u); */
#define NODE_TO_READ \
  /*@ ghost live_tile_lemma(p, i, at.tile); */ \
  /*@ assert place: place_of_leaf(p, i, at, at.start); */ \
  /*@ assert inside: p->first[i] <= at.start < page_end(p, i); */ \
  /*@ assert end: end == tile_start(row, p->first[i], at.tile + 1); */ \
  /*@ assert seeds: at.seeds + 1 == seeds_before(row, at.tile + 1); */
#define NODE_IS_READ \
  /*@ assert node: node_in_page{Pre}(p, i, e->node); */ \
  /*@ assert cursor: cursor_in{Pre}(p, c->page, c->at); */
#define PAGE_IS_READ /*@ assert end: at.start == page_end(p, i); */

#endif

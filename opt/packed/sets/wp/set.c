/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs for packed/sets/set.acsl: ghost code only, never compiled. */
#include "path.h"
#include "packed/sets/range.h"
#include "packed/sets/set.h"

/*@ ghost
  void index_order_lemma(const struct opt_packed *p, size_t i)
  {
    /@ assert order: \forall integer k; 0 <= k ==> k + 1 < i ==> p->first[k + 1] < p->first[i]; @/
    /@ assert ends: \forall integer k; 0 <= k < i ==> page_end(p, k) == p->first[k + 1]; @/
  }

  void rest_behind_lemma(const struct opt_packed *p, struct opt_set c, struct opt_set_place at,
    size_t next,
                         size_t i)
  {
    index_order_lemma(p, i);
    deep_tree_lemma(p->depth);
    if (at.node < c.nodes) {
      uint64_t x = c.rest[at.node].node.start;
      /@ assert start: x == rest_start(at.node); @/
      /@ assert in_tree: 0 <= rest_height(at.node) <= p->depth &&
           tree_node(p->depth, rest_start(at.node), rest_height(at.node)); @/
      /@ assert begins: p->first[next] <= x < pow2(p->depth); @/
      if (x < p->first[i]) {
        size_t k = 0;
        /@ loop invariant here: k < p->pages && p->first[k] <= x;
           loop assigns k;
           loop variant p->pages - k; @/
        while (k + 1 < p->pages && p->first[k + 1] <= x)
          k++;
        index_order_lemma(p, k);
        const struct opt_page *page = p->page[k];
        /@ assert page: page_holds(root, p->depth, page, p->first[k], page_end(p, k)); @/
        row_order_lemma(page->tile, page->tiles, p->first[k], p->depth);
        const uint8_t *row = page->tile;
        uint64_t start = p->first[k];
        unsigned j = 0;
        /@ loop invariant here: j < page->tiles && start == tile_start(row, p->first[k], j) <= x;
           loop assigns j, start;
           loop variant page->tiles - j; @/
        while (1) {
          leaves_of_lemma(row[j] % 64);
          uint64_t leaves = (uint64_t)1 << row[j] % 64;
          /@ assert leaves: leaves == pow2(row[j] % 64); @/
          if (x - start < leaves)
            break;
          /@ assert byte: tile_is_node(row, p->first[k], p->depth, j); @/
          /@ assert height: tile_height(tile_byte(row, j)) == row[j] % 64; @/
          /@ assert step: row_step(row, p->first[k], j); @/
          /@ assert next: tile_start(row, p->first[k], j + 1) <= x; @/
          /@ assert not_last: j + 1 < page->tiles; @/
          /@ assert sum: start + leaves <= x; @/
          start += leaves;
          j++;
        }
        leaves_of_lemma(row[j] % 64);
        uint8_t b = row[j];
        /@ assert byte: b == tile_byte(row, j) && tile_is_node(row, p->first[k], p->depth, j); @/
        /@ assert height: tile_height(b) == b % 64; @/
        /@ assert tile: page_tile(p, k, b, start); @/
        /@ assert of_store: packed_tile(p, b, start); @/
        /@ assert covers: start <= x < start + pow2(tile_height(b)); @/
        /@ assert left: rest_of_tile(c.leaves, c.nodes, b, start); @/
        /@ assert not_outside: !rest_outside(c.nodes, start, start + pow2(tile_height(b))); @/
        /@ assert meets: set_meets(c.leaves, start, start + pow2(tile_height(b))); @/
        /@ assert step: row_step(page_row(page), p->first[k], j); @/
        /@ assert within: p->first[k] <= start && start + pow2(tile_height(b)) <= page_end(p, k); @/
        /@ assert this_page: next <= k < i; @/
        /@ assert ends: page_end(p, k) <= p->first[i]; @/
        /@ assert behind: p->first[next] <= p->first[k]; @/
        /@ assert ascend: \forall integer j; at.leaf <= j < c.leaves ==>
          p->first[i] <= set_leaf(j); @/
        /@ assert none: \forall integer j; 0 <= j < c.leaves ==>
             !(start <= set_leaf(j) < start + pow2(tile_height(b))); @/
        /@ assert contradiction: \false; @/
      }
      /@ assert first_one: p->first[i] <= rest_start(at.node); @/
      /@ assert heights: \forall integer j; 0 <= j < c.nodes ==> 0 <= rest_height(j) <= p->depth &&
           tree_node(p->depth, rest_start(j), rest_height(j)); @/
      /@ assert longer: rest_start(at.node) <= rest_end(at.node); @/
    }
  }
*/

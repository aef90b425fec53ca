/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind index.acsl: ghost code only, never compiled. */
#include "path.h"
#include "packed/index.h"

/*@ ghost
  void counts_lemma(const uint8_t *tile, unsigned n)
  {
    /@ loop invariant 0 <= k <= n;
       loop invariant seeds: \forall integer i, j; 0 <= i < j <= k ==>
         seeds_before(tile, i) + tile_seeds(tile_byte(tile, i)) <= seeds_before(tile, j);
       loop invariant count: \forall integer i; 0 <= i <= k ==> 0 <= seeds_before(tile, i) <= i;
       loop assigns k;
       loop variant n - k; @/
    for (unsigned k = 0; k < n; k++) {
      /@ assert step: row_step(tile, 0, k); @/
    }
  }

  void pages_lemma(const struct opt_packed *p)
  {
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant inside: \forall integer i, x; 0 <= i < k ==> page_punctured(p, i, x) ==>
         p->first[i] <= x < page_end(p, i);
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      /@ assert page: page_holds(root, p->depth, page, p->first[k], page_end(p, k)); @/
      row_order_lemma(page->tile, page->tiles, p->first[k], p->depth);
      /@ assert tiles: \forall integer j, x; 0 <= j < page->tiles ==>
           tile_covers(page_row(page), p->first[k], j, x) ==>
           p->first[k] <= x < page_end(p, k); @/
    }
    /@ assert behind: \forall integer i, k; 0 <= i < k < p->pages ==>
      page_end(p, i) <= p->first[k]; @/
  }

  void only_page_lemma(const struct opt_packed *p, size_t i, uint64_t x)
  {
    /@ assert behind: \forall integer k, l; 0 <= k < l < p->pages ==>
      page_end(p, k) <= p->first[l]; @/
  }

  void only_tile_lemma(const struct opt_packed *p, size_t i, uint64_t leaf)
  {
    only_page_lemma(p, i, leaf);
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant page: \forall integer l, j; 0 <= l < k ==> 0 <= j < p->page[l]->tiles ==>
         tile_covers(page_row(p->page[l]), p->first[l], j, leaf) ==> l == i;
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      const uint8_t *row = page->tile;
      uint64_t first = p->first[k];
      /@ assert page: page_holds(root, p->depth, page, first, page_end(p, k)); @/
      row_order_lemma(row, page->tiles, first, p->depth);
      /@ assert inside: \forall integer j; 0 <= j < page->tiles ==>
        tile_covers(row, first, j, leaf) ==> first <= leaf < page_end(p, k); @/
    }
    const struct opt_page *page = p->page[i];
    const uint8_t *row = page->tile;
    /@ assert page: page_holds(root, p->depth, page, p->first[i], page_end(p, i)); @/
    row_order_lemma(row, page->tiles, p->first[i], p->depth);
  }

  void tile_of_leaf_lemma(const struct opt_packed *p, size_t i, struct opt_place at, uint64_t leaf,
                          unsigned b, uint64_t s)
  {
    only_tile_lemma(p, i, leaf);
    /@ assert covers: \forall integer k, j; 0 <= k < p->pages ==> 0 <= j < p->page[k]->tiles ==>
         tile_byte(page_row(p->page[k]), j) == b ==>
         tile_start(page_row(p->page[k]), p->first[k], j) == s ==>
         tile_covers(page_row(p->page[k]), p->first[k], j, leaf); @/
    /@ assert in_page: \forall integer k; 0 <= k < p->pages ==> page_tile(p, k, b, s) ==> k == i; @/
    /@ assert this: \forall integer j; 0 <= j < p->page[i]->tiles ==>
         tile_covers(page_row(p->page[i]), p->first[i], j, leaf) ==> j == at.tile; @/
  }

  void places_of_pages_lemma(const struct opt_packed *p)
  {
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant places: \forall integer i, j; 0 <= i < k ==> 0 <= j < p->page[i]->tiles ==>
         tile_byte(page_row(p->page[i]), j) >= 64 ==>
         0 <= seeds_before(page_row(p->page[i]), j) < OPT_PAGE_SEEDS;
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      /@ assert page: page_holds(root, p->depth, page, p->first[k], page_end(p, k)); @/
      /@ assert few: seeds_before(page_row(page), page->tiles) == page->seeds < OPT_PAGE_SEEDS; @/
      row_order_lemma(page->tile, page->tiles, p->first[k], p->depth);
      /@ assert tiles: \forall integer j; 0 <= j < page->tiles ==>
           tile_byte(page_row(page), j) >= 64 ==>
           0 <= seeds_before(page_row(page), j) < OPT_PAGE_SEEDS; @/
    }
  }

  void live_tile_lemma(const struct opt_packed *p, size_t i, unsigned tile)
  {
    const struct opt_page *page = p->page[i];
    const uint8_t *row = page->tile;
    uint64_t first = p->first[i];
    /@ assert page: page_holds(root, p->depth, page, first, page_end(p, i)); @/
    row_order_lemma(row, page->tiles, first, p->depth);
    pages_lemma(p);
    /@ assert inside: \forall integer x; tile_covers(row, first, tile, x) ==>
         p->first[i] <= x < page_end(p, i); @/
    /@ assert apart: \forall integer k, x; 0 <= k < p->pages ==>
         tile_covers(row, first, tile, x) ==> p->first[k] <= x < page_end(p, k) ==> k == i; @/
    /@ assert other_tile: \forall integer k, x; 0 <= k < page->tiles ==>
         tile_covers(row, first, tile, x) ==> tile_covers(row, first, k, x) ==> k == tile; @/
    /@ assert other_page: \forall integer k, x; 0 <= k < p->pages ==>
         tile_covers(row, first, tile, x) ==> page_punctured(p, k, x) ==> k == i; @/
    /@ assert here: \forall integer x; tile_covers(row, first, tile, x) ==>
         !page_punctured(p, i, x); @/
  }

  void in_tree_lemma(uint64_t x, unsigned h)
  {
    shift_lemma(x, h);
  }

  void few_seeds_lemma(const uint8_t *tile, unsigned n, uint64_t first, unsigned d)
  {
    deep_tree_lemma(d);
    /@ loop invariant 0 <= k <= n;
       loop invariant few: 0 <= seeds_before(tile, k) <= tile_start(tile, first, k) - first;
       loop assigns k;
       loop variant n - k; @/
    for (unsigned k = 0; k < n; k++) {
      /@ assert node: tile_is_node(tile, first, d, k); @/
      /@ assert step: row_step(tile, first, k); @/
    }
  }

  void count_lemma(const struct opt_packed *p)
  {
    deep_tree_lemma(p->depth);
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant few: 0 <= seeds_in_pages(p,
         k) <= (k < p->pages ? p->first[k] : pow2(p->depth));
       loop invariant page: \forall integer i; 0 <= i < k ==>
         0 <= p->page[i]->seeds <= seeds_in_pages(p, k);
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      /@ assert page: page_holds(root, p->depth, page, p->first[k], page_end(p, k)); @/
      few_seeds_lemma(page->tile, page->tiles, p->first[k], p->depth);
      /@ assert seeds: 0 <= page->seeds <= page_end(p, k) - p->first[k]; @/
      /@ assert step: count_step(p, k); @/
    }
  }

  uint64_t live_tile_of(const uint8_t *tile, unsigned n, uint64_t first, unsigned d)
  {
    row_order_lemma(tile, n, first, d);
    /@ loop invariant 0 <= k <= n;
       loop invariant none: seeds_before(tile, k) == 0;
       loop invariant gone: \forall integer x; first <= x < tile_start(tile, first, k) ==>
         row_punctured(tile, k, first, x);
       loop assigns k;
       loop variant n - k; @/
    for (unsigned k = 0; k < n; k++) {
      /@ assert node: tile_is_node(tile, first, d, k); @/
      /@ assert step: row_step(tile, first, k); @/
      if (tile[k] >= 64)
        return k;
      /@ assert own: \forall integer x; tile_covers(tile, first, k, x) ==>
           row_punctured(tile, k + 1, first, x); @/
      /@ assert before: \forall integer x; row_punctured(tile, k, first, x) ==>
           row_punctured(tile, k + 1, first, x); @/
    }
    return n;
  }

  void no_node_lemma(const struct opt_packed *p)
  {
    deep_tree_lemma(p->depth);
    count_lemma(p);
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant none: seeds_in_pages(p, k) == 0;
       loop invariant gone: \forall integer x;
         0 <= x < (k < p->pages ? p->first[k] : pow2(p->depth)) ==> packed_punctured(p, x);
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      const uint8_t *row = page->tile;
      uint64_t first = p->first[k];
      /@ assert page: page_holds(root, p->depth, page, first, page_end(p, k)); @/
      /@ assert step: count_step(p, k); @/
      uint64_t j = live_tile_of(row, page->tiles, first, p->depth);
      if (j < page->tiles) {
        live_tile_lemma(p, k, (unsigned)j);
        /@ assert node: tile_is_node(row, first, p->depth, j); @/
        /@ assert live: tile_covers(row, first, j, tile_start(row, first, j)); @/
        /@ assert inside: 0 <= tile_start(row, first, j) < pow2(p->depth); @/
        /@ assert left: !packed_punctured(p, tile_start(row, first, j)); @/
        return;
      }
      /@ assert own: \forall integer x; first <= x < page_end(p, k) ==> page_punctured(p, k, x); @/
      /@ assert out: \forall integer x; page_punctured(p, k, x) ==> packed_punctured(p, x); @/
      /@ assert of_store: \forall integer x; first <= x < page_end(p, k) ==>
           packed_punctured(p, x); @/
    }
  }
*/

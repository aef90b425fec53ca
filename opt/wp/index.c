/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind index.acsl: ghost code only, nothing of it is compiled. */
#include "path.h"
#include "index.h"

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

  void pages_lemma(const struct opt_packed *p, struct pprf_seed R)
  {
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant inside: \forall integer i, x; 0 <= i < k ==> page_punctured(p, i, x) ==>
         p->first[i] <= x < page_end(p, i);
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      /@ assert page: page_holds(seed_value(R), p->depth, page, p->first[k], page_end(p, k)); @/
      row_order_lemma(page->tile, page->tiles, p->first[k], p->depth);
      /@ assert tiles: \forall integer j, x; 0 <= j < page->tiles ==>
           tile_covers(page_row(page), p->first[k], j, x) ==>
           p->first[k] <= x < page_end(p, k); @/
    }
    /@ assert behind: \forall integer i, k; 0 <= i < k < p->pages ==> page_end(p, i) <= p->first[k]; @/
  }

  void only_page_lemma(const struct opt_packed *p, size_t i, uint64_t x)
  {
    /@ assert behind: \forall integer k, l; 0 <= k < l < p->pages ==> page_end(p, k) <= p->first[l]; @/
  }

  void places_of_pages_lemma(const struct opt_packed *p, struct pprf_seed R)
  {
    /@ loop invariant 0 <= k <= p->pages;
       loop invariant places: \forall integer i, j; 0 <= i < k ==> 0 <= j < p->page[i]->tiles ==>
         tile_byte(page_row(p->page[i]), j) >= 64 ==>
         0 <= seeds_before(page_row(p->page[i]), j) < OPT_PAGE_SEEDS;
       loop assigns k;
       loop variant p->pages - k; @/
    for (size_t k = 0; k < p->pages; k++) {
      const struct opt_page *page = p->page[k];
      /@ assert page: page_holds(seed_value(R), p->depth, page, p->first[k], page_end(p, k)); @/
      /@ assert few: seeds_before(page_row(page), page->tiles) == page->seeds < OPT_PAGE_SEEDS; @/
      row_order_lemma(page->tile, page->tiles, p->first[k], p->depth);
      /@ assert tiles: \forall integer j; 0 <= j < page->tiles ==>
           tile_byte(page_row(page), j) >= 64 ==>
           0 <= seeds_before(page_row(page), j) < OPT_PAGE_SEEDS; @/
    }
  }

  void live_tile_lemma(const struct opt_packed *p, size_t i, unsigned tile, struct pprf_seed R)
  {
    const struct opt_page *page = p->page[i];
    const uint8_t *row = page->tile;
    uint64_t first = p->first[i];
    /@ assert page: page_holds(seed_value(R), p->depth, page, first, page_end(p, i)); @/
    row_order_lemma(row, page->tiles, first, p->depth);
    pages_lemma(p, R);
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
*/

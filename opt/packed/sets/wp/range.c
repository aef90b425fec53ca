/* SPDX-License-Identifier: Apache-2.0 */
/* The sets of leaves used in packed/sets/range.acsl: ghost code only, never compiled. */
#include "path.h"
#include "packed/sets/range.h"

/*@ ghost
  /@ requires index_of_pages(p);
     assigns \nothing;
     ensures order: \forall integer i, k; 0 <= i < k < p->pages ==> page_end(p, i) <= p->first[k];
  @/
  void page_order_lemma(const struct opt_packed *p)
  {
  }

  // the tiles before tile t end where it begins at most, those behind it begin where it ends at
  // least
  /@ requires row_tiles(tile, n, first, d) && d <= 63 && t < n;
     assigns \nothing;
     ensures before: \forall integer j; 0 <= j < t ==>
       tile_start(tile, first, j) + pow2(tile_height(tile_byte(tile, j))) <= tile_start(tile, first,
       t);
     ensures from: \forall integer j; t <= j <= n ==>
       tile_start(tile, first, t) <= tile_start(tile, first, j);
     ensures to: \forall integer j; 0 <= j <= t ==>
       tile_start(tile, first, j) + pow2(tile_height(tile_byte(tile, j))) <=
         tile_start(tile, first, t) + pow2(tile_height(tile_byte(tile, t)));
     ensures behind: \forall integer j; t < j <= n ==>
       tile_start(tile, first, t) + pow2(tile_height(tile_byte(tile, t))) <= tile_start(tile, first,
       j);
  @/
  void tile_order_lemma(const uint8_t *tile, unsigned n, uint64_t first, unsigned d, unsigned t)
  {
    row_order_lemma(tile, n, first, d);
  }

  void range_set_lemma(const struct opt_packed *p, size_t from, size_t to, struct opt_place a,
                       struct opt_place b, uint64_t begin, uint64_t last, unsigned lefts,
                       unsigned rights)
  {
    const struct opt_page *page = p->page[from], *page_b = p->page[to];
    const uint8_t *row = page->tile, *row_b = page_b->tile;
    uint64_t first = p->first[from], first_b = p->first[to];
    /@ assert page: page_holds(root, p->depth, page, first, page_end(p, from)); @/
    /@ assert page_b: page_holds(root, p->depth, page_b, first_b, page_end(p, to)); @/
    pages_lemma(p);
    tile_order_lemma(row, page->tiles, first, p->depth, a.tile);
    tile_order_lemma(row_b, page_b->tiles, first_b, p->depth, b.tile);
    /@ assert fits: page_fits(page) && page_fits(page_b) && a.tile < OPT_ARENA_MAX &&
      b.tile < OPT_ARENA_MAX; @/
    if (page->tile[a.tile] >= 64)
      live_tile_lemma(p, from, a.tile);
    if (page_b->tile[b.tile] >= 64)
      live_tile_lemma(p, to, b.tile);
    page_order_lemma(p);
    /@ assert apart: \forall integer k, x; 0 <= k < p->pages ==>
      p->first[from] <= x < page_end(p, from) ==> p->first[k] <= x < page_end(p, k) ==>
      k == from; @/
    /@ assert apart_b: \forall integer k, x; 0 <= k < p->pages ==>
      p->first[to] <= x < page_end(p, to) ==> p->first[k] <= x < page_end(p, k) ==> k == to; @/
    /@ assert inside: \forall integer k, x; 0 <= k < p->pages ==> page_punctured(p, k, x) ==>
         p->first[k] <= x < page_end(p, k); @/
    /@ assert only: \forall integer k, x; 0 <= k < p->pages ==>
      p->first[from] <= x < page_end(p, from) ==> page_punctured(p, k, x) ==> k == from; @/
    /@ assert only_b: \forall integer k, x; 0 <= k < p->pages ==>
      p->first[to] <= x < page_end(p, to) ==> page_punctured(p, k, x) ==> k == to; @/
    /@ assert starts: a.start == tile_start(row, first, a.tile) &&
      b.start == tile_start(row_b, first_b, b.tile); @/
    /@ assert above: \forall integer j; a.tile <= j < page->tiles ==>
      a.start <= tile_start(row, first, j); @/
    /@ assert below: \forall integer j; 0 <= j < a.tile ==>
         tile_start(row, first, j) + pow2(tile_height(tile_byte(row, j))) <= a.start; @/
    /@ assert above_b: \forall integer j; b.tile < j < page_b->tiles ==>
         place_end(p, to, b) <= tile_start(row_b, first_b, j); @/
    /@ assert below_b: \forall integer j; 0 <= j <= b.tile ==>
      tile_start(row_b, first_b, j) + pow2(tile_height(tile_byte(row_b, j))) <= place_end(p, to, b);
      @/
    /@ assert step: row_step(row, first, a.tile); @/
    /@ assert step_b: row_step(row_b, first_b, b.tile); @/
    /@ assert in: \forall integer x; p->first[from] <= x < page_end(p, from) ==>
         (packed_punctured(p, x) <==> page_punctured(p, from, x)); @/
    /@ assert in_b: \forall integer x; p->first[to] <= x < page_end(p, to) ==>
         (packed_punctured(p, x) <==> page_punctured(p, to, x)); @/
    /@ assert not_behind: \forall integer j, x; a.tile <= j < page->tiles ==> x < a.start ==>
         !tile_covers(row, p->first[from], j, x); @/
    /@ assert not_before: \forall integer j, x; 0 <= j < a.tile ==> a.start <= x ==>
         !tile_covers(row, p->first[from], j, x); @/
    /@ assert not_behind_b: \forall integer j, x; b.tile < j < page_b->tiles ==>
         x < place_end(p, to, b) ==> !tile_covers(row_b, p->first[to], j, x); @/
    /@ assert not_before_b: \forall integer j, x; 0 <= j <= b.tile ==> place_end(p, to, b) <= x ==>
         !tile_covers(row_b, p->first[to], j, x); @/
    /@ assert this: page == p->page[from] && row == page_row(p->page[from]) &&
      page_b == p->page[to] && row_b == page_row(p->page[to]); @/
    /@ assert before_out: \forall integer x; punctured_before(p, from, a, x) ==>
      page_punctured(p, from, x); @/
    /@ assert before_in: \forall integer x; x < a.start ==> page_punctured(p, from, x) ==>
         punctured_before(p, from, a, x); @/
    /@ assert behind_out: \forall integer x; punctured_behind(p, to, b, x) ==>
      page_punctured(p, to, x); @/
    /@ assert behind_in: \forall integer x; place_end(p, to, b) <= x ==>
      page_punctured(p, to, x) ==> punctured_behind(p, to, b, x); @/
    /@ assert before: \forall integer x; p->first[from] <= x < a.start ==>
         (page_punctured(p, from, x) <==> punctured_before(p, from, a, x)); @/
    /@ assert behind: \forall integer x; place_end(p, to, b) <= x < page_end(p, to) ==>
         (page_punctured(p, to, x) <==> punctured_behind(p, to, b, x)); @/
    /@ assert none_before: \forall integer x; punctured_before(p, from, a, x) ==> x < a.start; @/
    /@ assert none_behind: \forall integer x; punctured_behind(p, to, b, x) ==>
         place_end(p, to, b) <= x; @/
    /@ assert covers: \forall integer x; a.start <= x < begin ==>
      tile_covers(row, p->first[from], a.tile, x); @/
    /@ assert covers_b: \forall integer x; last < x < place_end(p, to, b) ==>
         tile_covers(row_b, p->first[to], b.tile, x); @/
    /@ assert hole: tile_byte(row, a.tile) < 64 ==> \forall integer x;
         tile_covers(row, p->first[from], a.tile, x) ==> page_punctured(p, from, x); @/
    /@ assert hole_b: tile_byte(row_b, b.tile) < 64 ==> \forall integer x;
         tile_covers(row_b, p->first[to], b.tile, x) ==> page_punctured(p, to, x); @/
    /@ assert live: tile_byte(row, a.tile) >= 64 ==> \forall integer x;
         tile_covers(row, p->first[from], a.tile, x) ==> !packed_punctured(p, x); @/
    /@ assert live_b: tile_byte(row_b, b.tile) >= 64 ==> \forall integer x;
         tile_covers(row_b, p->first[to], b.tile, x) ==> !packed_punctured(p, x); @/
    /@ assert of_store: \forall integer i, x; 0 <= i < p->pages ==> page_punctured(p, i, x) ==>
         packed_punctured(p, x); @/
    /@ assert here: \forall integer x; a.start <= x < begin ==>
         (packed_punctured(p, x) <==> tile_byte(row, a.tile) < 64); @/
    /@ assert here_b: \forall integer x; last < x < place_end(p, to, b) ==>
         (packed_punctured(p, x) <==> tile_byte(row_b, b.tile) < 64); @/
    /@ assert ends: a.start <= begin && last < place_end(p, to, b) && a.start < page_end(p, from) &&
         place_end(p, to, b) <= page_end(p, to) && first_b <= last; @/
    /@ assert left: \forall integer x; p->first[from] <= x < begin ==> (packed_punctured(p, x) <==>
         punctured_before(p, from, a, x) || (lefts == 0 ? a.start : begin) <= x); @/
    /@ assert right: \forall integer x; last < x < page_end(p, to) ==> (packed_punctured(p, x) <==>
         punctured_behind(p, to, b, x) || x < (rights > 0 ? last + 1 : place_end(p, to, b))); @/
  }
*/

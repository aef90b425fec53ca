/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind index.acsl: ghost code only, nothing of it is compiled. */
#include "path.h"
#include "index.h"

/*@ ghost
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
*/

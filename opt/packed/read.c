/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the nodes of a packed store in order (read.h). */
#include "read.h"

#include "wp/read_steps.h"

int opt_packed_read(const struct opt_packed *p, struct opt_cursor *c, struct opt_entry *e)
{
  size_t i = c->page;
  struct opt_place at = c->at;
  /*@ loop invariant cursor: cursor_in(p, i, at);
      loop invariant between: \at(c->at.start,Pre) <= at.start && \forall integer x;
        \at(c->at.start,Pre) <= x < at.start ==> packed_punctured(p, x);
      loop assigns i, at;
      loop variant p->pages - i; */
  for (; i < p->pages; i++, at.tile = at.seeds = 0) {
    const struct opt_page *page = p->page[i];
    PAGE_TO_READ
    /*@ loop invariant tile: at.tile <= page->tiles;
        loop invariant cursor: cursor_in(p, i, at);
        loop invariant between: \at(c->at.start,Pre) <= at.start && \forall integer x;
          \at(c->at.start,Pre) <= x < at.start ==> packed_punctured(p, x);
        loop assigns at;
        loop variant page->tiles - at.tile; */
    while (at.tile < page->tiles && !opt_tile_live(page->tile[at.tile])) {
      TILE_IS_READ
      at.start += opt_tile_leaves(page->tile[at.tile]);
      at.tile++;
    }
    if (at.tile < page->tiles) {
      TILE_IS_READ
      unsigned height = opt_tile_height(page->tile[at.tile]);
      uint64_t end = at.start + opt_tile_leaves(page->tile[at.tile]);
      struct pprf_seed seed = opt_seed_in(p, i, at);
      NODE_TO_READ
      *e = (struct opt_entry){{at.start, height, (uint16_t)at.tile, (uint16_t)at.seeds}, seed};
      *c = (struct opt_cursor){i, {end, at.tile + 1, at.seeds + 1}};
      NODE_IS_READ
      return 1;
    }
    PAGE_IS_READ
  }
  return 0;
}

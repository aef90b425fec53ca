/* SPDX-License-Identifier: Apache-2.0 */
/* Writing tiles and nodes into a draft (rewrite.h). */
#include "rewrite.h"

#include "pprf.h"

#include "wp/rewrite_steps.h"

/* Write a tile, with its seed if it is live. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires tile: byte_of_node(depth, tile, d->end);
    requires seed: tile >= OPT_TILE_LIVE ==> seed_apart(d, seed) &&
      seed_value(*seed) == node_seed(root, depth, d->end, tile_height(tile));
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == \old(d->end) + pow2(tile_height(tile));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || tile < OPT_TILE_LIVE &&
      covers(\old(d->end), tile_height(tile), x); */
static inline int put_tile(struct opt_draft *d, uint8_t tile, const struct pprf_seed *seed)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  if (opt_tile_live(tile))
    return opt_draft_live(d, opt_tile_height(tile), seed) /*@ ghost (depth, from) */;
  return opt_draft_hole(d, opt_tile_height(tile)) /*@ ghost (depth, from) */;
}

int opt_draft_row(struct opt_draft *d, const struct opt_page *page, struct opt_place at, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */
{
  ROW_TO_WRITE
  unsigned k = at.seeds;
  /*@ loop invariant place: at.tile <= i <= last && d->end == tile_start{Pre}(row, first, i) &&
        k == seeds_before{Pre}(row, i);
      loop invariant page: block_kept{Pre,Here}(page) && !free_page(page) && !of_run(d, page);
      loop invariant draft: draft_holds(root, depth, d, from);
      loop invariant grown: draft_grown{Pre,Here}(d);
      loop invariant punctured: \forall integer x; draft_punctured(d, x) <==>
        draft_punctured{Pre}(d, x) || punctured_between{Pre}(row, first, at.tile, i, x);
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns i, k, d->n, d->end, d->nodes, firsts[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant last - i; */
  for (unsigned i = at.tile; i < at.tile + n; i++) {
    TILE_OF_ROW
    int err = put_tile(d, page->tile[i], opt_page_row(page, k + 1)) /*@ ghost (depth, from) */;
    TILE_IS_WRITTEN
    if (err != PPRF_OK)
      return err;
    k += opt_tile_live(page->tile[i]);
    SET_WITH_TILE
  }
  return PPRF_OK;
}

/* Write node i, which starts where the draft ends. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires nodes: i < n && tree_entries(root, depth, e, n) && entry_start(e, i) == d->end;
    requires memory: \valid_read(e + (0 .. n - 1)) && entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == entry_end{Pre}(e, i);
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
    ensures nodes: entries_kept{Pre,Post}(e, n) && entries_apart(d, e, n); */
static inline int put_entry_of(struct opt_draft *d, const struct opt_entry *e, unsigned i)
  /*@ ghost (unsigned n, unsigned depth, uint64_t from) */
{
  ENTRY_TO_WRITE
  int err = opt_draft_live(d, e[i].node.height, &e[i].seed) /*@ ghost (depth, from) */;
  ENTRIES_ARE_APART
  return err;
}

int opt_draft_up(struct opt_draft *d, const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  NODES_TO_WRITE
  /*@ loop invariant place: i <= n && d->end == (i == 0 ? start : entry_end{Pre}(e, i - 1));
      loop invariant draft: draft_holds(root, depth, d, from);
      loop invariant grown: draft_grown{Pre,Here}(d);
      loop invariant same: \forall integer x; draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
      loop invariant nodes: entries_kept{Pre,Here}(e, n) && entries_apart(d, e, n);
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns i, d->n, d->end, d->nodes, firsts[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++) {
    NODE_OF_ROW
    int err = put_entry_of(d, e, i) /*@ ghost (n, depth, from) */;
    NODE_IS_WRITTEN
    if (err != PPRF_OK)
      return err;
  }
  return PPRF_OK;
}

int opt_draft_down(struct opt_draft *d, const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  NODES_TO_WRITE
  /*@ loop invariant place: i <= n && d->end == (i == n ? start : entry_end{Pre}(e, i));
      loop invariant draft: draft_holds(root, depth, d, from);
      loop invariant grown: draft_grown{Pre,Here}(d);
      loop invariant same: \forall integer x; draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
      loop invariant nodes: entries_kept{Pre,Here}(e, n) && entries_apart(d, e, n);
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns i, d->n, d->end, d->nodes, firsts[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant i; */
  for (unsigned i = n; i > 0; i--) {
    NODE_OF_ROW
    int err = put_entry_of(d, e, i - 1) /*@ ghost (n, depth, from) */;
    NODE_IS_WRITTEN
    if (err != PPRF_OK)
      return err;
  }
  return PPRF_OK;
}

int opt_draft_left(struct opt_draft *d, const struct opt_page *page, struct opt_place at,
                   const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */
{
  LEFT_TO_WRITE
  int err = opt_draft_row(d, page, (struct opt_place){d->end, 0, 0}, at.tile)
    /*@ ghost (depth, from, first, end) */;
  ROW_IS_WRITTEN
  if (err == PPRF_OK)
    err = opt_draft_up(d, e, n) /*@ ghost (depth, from) */;
  LEFT_IS_WRITTEN
  return err;
}

/* Write the punctured leaves before `gap`, and the n nodes after them. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end <= gap <= pow2(depth);
    requires nodes: tree_entries(root, depth, e, n) && entries_down(e, n, gap);
    requires memory: \valid_read(e + (0 .. n - 1)) && entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == (n == 0 ? gap : entry_end{Pre}(e, 0));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < gap; */
static inline int put_gap_and(struct opt_draft *d, uint64_t gap, const struct opt_entry *e,
                              unsigned n)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  ENTRIES_LIE_APART
  int err = opt_draft_punctured(d, gap) /*@ ghost (depth, from) */;
  GAP_IS_WRITTEN
  if (err == PPRF_OK)
    err = opt_draft_down(d, e, n) /*@ ghost (depth, from) */;
  LEFT_IS_WRITTEN
  return err;
}

int opt_draft_right(struct opt_draft *d, const struct opt_page *page, struct opt_place at,
                    uint64_t last, const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */
{
  RIGHT_TO_WRITE
  uint64_t behind = at.start + opt_tile_leaves(page->tile[at.tile]);
  TILE_ENDS
  int err = put_gap_and(d, n > 0 ? last + 1 : behind, e, n) /*@ ghost (depth, from) */;
  PAGE_STAYS
  if (err != PPRF_OK)
    return err;
  struct opt_place next = {behind, at.tile + 1, at.seeds + opt_tile_live(page->tile[at.tile])};
  err = opt_draft_row(d, page, next, page->tiles - next.tile)
    /*@ ghost (depth, from, first, end) */;
  RIGHT_IS_WRITTEN
  return err;
}

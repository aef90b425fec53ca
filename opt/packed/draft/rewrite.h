/* SPDX-License-Identifier: Apache-2.0 */
/** @file rewrite.h
 * Copying a page into a draft (draft.h): tiles that do not change, and the nodes that remain of
 * others. */
#ifndef PPRF_OPT_REWRITE_H
#define PPRF_OPT_REWRITE_H

#include "draft.h"

#ifdef __FRAMAC__
#include "rewrite.acsl"
#endif

/** Write n tiles of a page that is not in this run, from the tile at a place on, which starts where
 * the draft ends.
 * @retval 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known of
 * them. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires page: page_holds(root, depth, page, first, end) && page_to_write(d, page);
    requires place: at.tile + n <= page->tiles && at.start == d->end &&
      at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == tile_start{Pre}(page_row{Pre}(page), first,
      at.tile + n);
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) ||
      punctured_between{Pre}(page_row{Pre}(page), first, at.tile, at.tile + n, x); */
int opt_draft_row(struct opt_draft *d, const struct opt_page *page, struct opt_place at, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */;

/** Write n nodes.  Each starts where the one before it ends, the first where the draft ends.
 * @retval 0, or PPRF_ERR_NOMEM, as above. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires nodes: tree_entries(root, depth, e, n) && entries_up(e, n, d->end);
    requires memory: \valid_read(e + (0 .. n - 1)) && entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == (n == 0 ? \old(d->end) : entry_end{Pre}(e, n - 1));
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x); */
int opt_draft_up(struct opt_draft *d, const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from) */;

/** The same for nodes in reverse order: each starts where the next one ends, the last where the
 * draft ends. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires nodes: tree_entries(root, depth, e, n) && entries_down(e, n, d->end);
    requires memory: \valid_read(e + (0 .. n - 1)) && entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == (n == 0 ? \old(d->end) : entry_end{Pre}(e, 0));
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x); */
int opt_draft_down(struct opt_draft *d, const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from) */;

/** Write what a page keeps before a range of leaves: its tiles before the one at `at`, and the n
 * nodes that remain of that one.
 * @retval 0, or PPRF_ERR_NOMEM, as above. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end == first;
    requires page: page_holds(root, depth, page, first, end) && page_to_write(d, page);
    requires place: at.tile < page->tiles && at.start == tile_start(page_row(page), first, at.tile);
    requires nodes: tree_entries(root, depth, e, n) && entries_up(e, n, at.start);
    requires memory: \valid_read(e + (0 .. n - 1)) && entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from);
    ensures end: \result == 0 ==> d->end == (n == 0 ? at.start : entry_end{Pre}(e, n - 1));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || punctured_between{Pre}(page_row{Pre}(page), first, 0, at.tile,
      x); */
int opt_draft_left(struct opt_draft *d, const struct opt_page *page, struct opt_place at,
                   const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */;

/** Write the range's punctured leaves, and what a page keeps after the range, which ends in the
 * tile at `at`: the n nodes that remain of that tile, the last one first, and the tiles after it.
 * @retval 0, or PPRF_ERR_NOMEM, as above. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end <= last;
    requires page: page_holds(root, depth, page, first, end) && page_to_write(d, page) &&
      end <= pow2(depth);
    requires place: at.tile < page->tiles &&
      at.start == tile_start(page_row(page), first, at.tile) &&
      at.seeds == seeds_before(page_row(page), at.tile) &&
      tile_covers(page_row(page), first, at.tile, last);
    requires nodes: tree_entries(root, depth, e, n) && entries_down(e, n, last + 1);
    requires edge: n > 0 ==> entry_end(e, 0) == tile_start(page_row(page), first, at.tile + 1);
    requires memory: \valid_read(e + (0 .. n - 1)) && entries_apart(d, e, n);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) && d->end == end;
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) ||
      \old(d->end) <= x < (n > 0 ? last + 1
        : tile_start{Pre}(page_row{Pre}(page), first, at.tile + 1)) ||
      punctured_between{Pre}(page_row{Pre}(page), first, at.tile + 1, \old(page->tiles), x); */
int opt_draft_right(struct opt_draft *d, const struct opt_page *page, struct opt_place at,
                    uint64_t last, const struct opt_entry *e, unsigned n)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */;

#endif

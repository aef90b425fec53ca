/* SPDX-License-Identifier: Apache-2.0 */
/** @file draft.h
 * A draft: new pages, written tile by tile in leaf order, that later replace pages of a store or
 * become a store. */
#ifndef PPRF_OPT_DRAFT_H
#define PPRF_OPT_DRAFT_H

#include "../index.h"

struct opt_draft {
  uint64_t end;            /* end of the leaves written so far */
  uint64_t nodes;          /* live tiles in all pages */
  size_t block;            /* bytes of a page */
  uint64_t *first;         /* first leaf of each page */
  struct opt_page **pages; /* not part of a store yet */
  size_t n, room;          /* number of pages written, and room in the arrays */
  size_t at;               /* first page of this run: each run of leaves has pages of its own */
};

#ifdef __FRAMAC__
#include "draft.acsl"
#endif

/** Begin a run of leaves, after those of the previous run. */
/*@ requires draft: draft_own(d) && d->nodes <= leaf <= pow2(depth) && depth <= 63;
    assigns d->at, d->end;
    ensures draft: draft_holds(root, depth, d, leaf);
    ensures begin: d->at == d->n && d->end == leaf;
    ensures none: \forall integer x; !draft_punctured(d, x);
    ensures pages: draft_kept{Pre,Post}(d); */
void opt_draft_begin(struct opt_draft *d, uint64_t leaf)
  /*@ ghost (unsigned depth) */;

/** Write a node of height h, whose first leaf is the draft's end.
 * @retval 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known of
 * them. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires node: h <= depth && tree_node(depth, d->end, h);
    requires memory: seed_apart(d, seed);
    requires seed: seed_value(*seed) == node_seed(root, depth, d->end, h);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == \old(d->end) + pow2(h);
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
    ensures count: \result == 0 ==> d->nodes == \old(d->nodes) + 1; */
int opt_draft_live(struct opt_draft *d, unsigned h, const struct pprf_seed *seed)
  /*@ ghost (unsigned depth, uint64_t from) */;

/** Write a subtree of height h whose leaves are all punctured, from the draft's end on.
 * @retval 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known of
 * them. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires node: h <= depth && tree_node(depth, d->end, h);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == \old(d->end) + pow2(h);
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || covers(\old(d->end), h, x);
    ensures count: \result == 0 ==> d->nodes == \old(d->nodes); */
int opt_draft_hole(struct opt_draft *d, unsigned h)
  /*@ ghost (unsigned depth, uint64_t from) */;

/** Write the punctured leaves from the draft's end to end - 1.
 * @retval 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known of
 * them. */
/*@ requires draft: draft_holds(root, depth, d, from) && end <= pow2(depth);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == (\old(d->end) < end ? end : \old(d->end));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < end;
    ensures count: \result == 0 ==> d->nodes == \old(d->nodes); */
int opt_draft_punctured(struct opt_draft *d, uint64_t end)
  /*@ ghost (unsigned depth, uint64_t from) */;

#endif

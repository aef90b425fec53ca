/* SPDX-License-Identifier: Apache-2.0 */
/** @file rewrite_set.h
 * Copying a page into a draft (draft.h) without a set of leaves. */
#ifndef PPRF_OPT_REWRITE_SET_H
#define PPRF_OPT_REWRITE_SET_H

#include "rewrite.h"

/** Leaves to puncture, ascending, and what remains of the live nodes that cover them: nodes in
 * leaf order. */
struct opt_set {
  const uint64_t *leaf;
  size_t leaves;
  const struct opt_entry *rest;
  size_t nodes;
};

/** Index of the first leaf and of the first node of a set that are not written yet. */
struct opt_set_place {
  size_t leaf, node;
};

#ifdef __FRAMAC__
#include "rewrite_set.acsl"
#endif

/** Index of the first leaf of a set, from `at` on, that is not below x. */
/*@ requires set: set_is(c.leaf, c.leaves) && \valid_read(c.leaf + (0 .. c.leaves - 1));
    requires place: set_before(c.leaves, at, x);
    assigns \nothing;
    ensures place: at <= \result && set_before(c.leaves, \result, x);
    ensures next: \result < c.leaves ==> x <= set_leaf(\result); */
static inline size_t opt_set_from(struct opt_set c, size_t at, uint64_t x)
{
  /*@ loop invariant place: set_before(c.leaves, at, x) && \at(at,Pre) <= at;
      loop assigns at;
      loop variant c.leaves - at; */
  while (at < c.leaves && c.leaf[at] < x)
    at++;
  return at;
}

/** Result of writing. */
struct opt_set_put {
  struct opt_set_place at;
  int err;
};

/** Write the tiles of a page that is not in this run, which starts where the draft ends, without
 * the leaves of a set.
 * @return the set's next place; err: 0, or PPRF_ERR_NOMEM: the pages still belong to the draft;
 *         nothing else is known of them. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end == first;
    requires page: page_holds(root, depth, page, first, end) && page_to_write(d, page) &&
      end <= pow2(depth);
    requires set: set_of_tree(depth, c.leaves, c.nodes) && set_stored(root, depth, d, c);
    requires rest: rest_of_row(page_row(page), page->tiles, first, c.leaves, c.nodes);
    requires place: set_before(c.leaves, at.leaf, first) && rest_before(c.nodes, at.node, first);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures set: set_stored(root, depth, d, c);
    ensures draft: \result.err == 0 ==> draft_holds(root, depth, d, from) && d->end == end;
    ensures place: \result.err == 0 ==> set_before(c.leaves, \result.at.leaf, end) &&
      rest_before(c.nodes, \result.at.node, end);
    ensures punctured: \result.err == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || row_punctured{Pre}(page_row{Pre}(page), \old(page->tiles),
      first, x) || first <= x < end && in_set(c.leaves, x); */
struct opt_set_put opt_draft_page(struct opt_draft *d, const struct opt_page *page,
                                  struct opt_set c, struct opt_set_place at)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */;

#endif

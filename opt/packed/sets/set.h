/* SPDX-License-Identifier: Apache-2.0 */
/** @file set.h
 * Writing one run of pages of a packed store (index.h) without a set of leaves. */
#ifndef PPRF_OPT_PACKED_SET_H
#define PPRF_OPT_PACKED_SET_H

#include "range.h"
#include "../draft/rewrite_set.h"

#ifdef __FRAMAC__
#include "set.acsl"
#endif

/** A run that was written, of the pages up to `to`, and the set's next place. */
struct opt_run_put {
  size_t to;
  struct opt_set_put put;
};

/** Write page i of a store, and the pages after it as long as each has leaves of a set, without
 * these leaves, as a new run at the end of a draft.  The store is unchanged.
 * @param[in] at  the part of the set that lies before the page.
 * @return put.err: 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known
 *         of them. */
/*@ requires store: packed_key(root, p) && i < p->pages && draft_beside(d, p);
    requires draft: draft_own(d) && d->nodes <= p->first[i];
    requires set: set_of_tree(p->depth, c.leaves, c.nodes) &&
      set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    requires place: set_before(c.leaves, at.leaf, p->first[i]) &&
      rest_before(c.nodes, at.node, p->first[i]);
    assigns d->at, d->n, d->end, d->nodes, d->first[0 .. d->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.put.err == 0 || \result.put.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_list{Pre,Post}(d) && d->at == \old(d->n);
    ensures before: draft_pages_same{Pre,Post}(d, \old(d->n));
    ensures store: packed_key(root, p) && store_to_write(d, p);
    ensures index: index_same{Pre,Post}(p) && same_leaves{Pre,Post}(p);
    ensures set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    ensures draft: \result.put.err == 0 ==> i <= \result.to < p->pages &&
      draft_holds(root, p->depth, d, p->first[i]) && d->end == page_end(p, \result.to);
    ensures place: \result.put.err == 0 ==>
      set_before(c.leaves, \result.put.at.leaf, page_end(p, \result.to)) &&
      rest_before(c.nodes, \result.put.at.node, page_end(p, \result.to));
    ensures punctured: \result.put.err == 0 ==> \forall integer x;
      p->first[i] <= x < page_end(p, \result.to) ==>
      (draft_punctured(d, x) <==> packed_punctured(p, x) || in_set(c.leaves, x)); */
struct opt_run_put opt_packed_put_run(struct opt_draft *d, const struct opt_packed *p, size_t i,
                                      struct opt_set c, struct opt_set_place at);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file read.h
 * Reading the nodes of a packed store one after the other, for an export. */
#ifndef PPRF_OPT_PACKED_READ_H
#define PPRF_OPT_PACKED_READ_H

#include "entry.h"
#include "index.h"

/** Where to continue: a tile of a page, or the end of that page.  {0} is before all nodes. */
struct opt_cursor {
  size_t page;
  struct opt_place at;
};

/*@ // a place in page i of a store, or its end; the end of all pages
    predicate cursor_in{L}(struct opt_packed *p, integer i, struct opt_place at) =
      i <= p->pages && (i == p->pages ==> at.start == pow2(p->depth)) &&
      (i < p->pages ==> at.tile <= p->page[i]->tiles &&
        at.start == tile_start(page_row(p->page[i]), p->first[i], at.tile) &&
        at.seeds == seeds_before(page_row(p->page[i]), at.tile)); */

/** Read the next node and its seed; the store must not change meanwhile.  No search is needed:
 * opt_packed_next and opt_packed_seed take ten times as long for each node of a key.
 * @retval 1 *e is set, and the cursor is after the node.
 * @retval 0 there is none. */
/*@ requires store: packed_holds(root, p) && cursor_in(p, c->page, c->at);
    requires memory: \valid(c) && \valid(e) && \separated(c, e);
    assigns *c, *e;
    ensures results: \result == 0 || \result == 1;
    ensures node: \result == 1 ==> packed_node{Pre}(p, e->node) &&
      \old(c->at.start) <= e->node.start;
    ensures seed: \result == 1 ==> seed_value(e->seed) ==
      node_seed(root, \old(p->depth), e->node.start, e->node.height);
    ensures between: \result == 1 ==> \forall integer x; \old(c->at.start) <= x < e->node.start ==>
      packed_punctured{Pre}(p, x);
    ensures behind: \result == 1 ==> cursor_in{Pre}(p, c->page, c->at) &&
      c->at.start == e->node.start + pow2(e->node.height);
    ensures none: \result == 0 ==> \forall integer x;
      \old(c->at.start) <= x < pow2(\old(p->depth)) ==> packed_punctured{Pre}(p, x); */
int opt_packed_read(const struct opt_packed *p, struct opt_cursor *c, struct opt_entry *e);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file load.h
 * Making a packed store from the root, or from the nodes of a key one after the other. */
#ifndef PPRF_OPT_PACKED_LOAD_H
#define PPRF_OPT_PACKED_LOAD_H

#include "draft/draft.h"
#include "fit.h"

#ifdef __FRAMAC__
#include "load.acsl"
#endif

/** Make a store with one node, the root.
 * @retval 0, or PPRF_ERR_NOMEM: there is no store. */
/*@ requires memory: store_memory(p) && \valid_read(seed) && \separated(seed, p) &&
      \separated(seed, &opt_pages[0 .. OPT_PAGES_MAX - 1]);
    requires root: seed_value(*seed) == root;
    requires depth: 1 <= depth <= 63;
    assigns *p, opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: \result == 0 ==> packed_key(root, p) && p->depth == depth && p->nodes == 1;
    ensures none: \result == 0 ==> \forall integer x; !packed_punctured(p, x); */
int opt_packed_open(struct opt_packed *p, unsigned depth, const struct pprf_seed *seed);

/** Begin a store of at most `nodes` nodes: a draft without pages.
 * @retval 0, or PPRF_ERR_NOMEM: there is no draft. */
/*@ requires memory: store_memory(p) && draft_memory(d) && \separated(p, d);
    requires depth: 1 <= depth <= 63;
    assigns *p, *d;
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures loading: \result == 0 ==> loading(root, p, d) && p->depth == depth;
    ensures none: \result == 0 ==> d->n == 0 && d->end == 0 &&
      \forall integer x; !draft_punctured(d, x); */
int opt_load_begin(struct opt_packed *p, struct opt_draft *d, unsigned depth, uint64_t nodes);

/** Add the next node in leaf order; the leaves before it, from the previous node on, are punctured.
 * @retval 0, or PPRF_ERR_NOMEM: the pages still belong to the draft; nothing else is known of
 * them. */
/*@ requires loading: loading(root, p, d);
    requires node: d->end <= start && height <= p->depth && tree_node(p->depth, start, height);
    requires memory: seed_outside(d, seed);
    requires seed: seed_value(*seed) == node_seed(root, p->depth, start, height);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures loading: \result == 0 ==> loading(root, p, d) && d->end == start + pow2(height);
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < start; */
int opt_load_node(struct opt_draft *d, uint64_t start, unsigned height,
                  const struct pprf_seed *seed)
  /*@ ghost (const struct opt_packed *p) */;

/** Make a store of the draft; the leaves after its last node are punctured.
 * @retval 0, or PPRF_ERR_NOMEM: there is no store, and the draft still has its pages. */
/*@ requires loading: loading(root, p, d);
    assigns p->nodes, p->page_max, p->pages, p->room, p->one_first, d->n, d->end, d->nodes,
      opt_firsts[0 .. OPT_INDEX_MAX - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from d->first,
      d->pages, d->pages[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: \result != 0 ==> draft_own(d) && draft_grown{Pre,Post}(d);
    ensures store: \result == 0 ==> packed_key(root, p);
    ensures punctured: \result == 0 ==> \forall integer x; packed_punctured(p, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < pow2(p->depth); */
int opt_load_end(struct opt_packed *p, struct opt_draft *d);

#endif

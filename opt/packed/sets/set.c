/* SPDX-License-Identifier: Apache-2.0 */
/* Writing one run of pages without a set of leaves (set.h). */
#include "set.h"

#include "pprf.h"

#include "../wp/index_steps.h"

#include "wp/set_steps.h"

/* Write page i, which starts where the draft ends, without the leaves of a set; the index and
 * its pages are unchanged. */
/*@ OPT_SET_TO_WRITE
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures set: set_stored(root, \old(p->depth), d, c);
    ensures draft: \result.err == 0 ==> draft_holds(root, \old(p->depth), d, from) &&
      d->end == page_end{Pre}(p, i);
    ensures place: \result.err == 0 ==>
      set_before(c.leaves, \result.at.leaf, page_end{Pre}(p, i)) &&
      rest_before(c.nodes, \result.at.node, page_end{Pre}(p, i));
    ensures punctured: \result.err == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || page_punctured{Pre}(p, i, x) ||
      \old(p->first[i]) <= x < page_end{Pre}(p, i) && in_set(c.leaves, x);
    ensures index: index_same{Pre,Post}(p);
    ensures pages: pages_stay{Pre,Post}(d, p); */
static inline struct opt_set_put put_page_beside(struct opt_draft *d, const struct opt_packed *p,
                                                 size_t i, struct opt_set c,
                                                 struct opt_set_place at)
  /*@ ghost (uint64_t from) */
{
  INDEX_TO_KEEP
  STORE_PAGE_TO_PUT
  const struct opt_set_put put = opt_draft_page(d, p->page[i], c, at)
    /*@ ghost (depth, from, start, stop) */;
  INDEX_IS_KEPT
  return put;
}

/* put_page_beside, with the proof that the store is unchanged. */
/*@ OPT_SET_TO_WRITE
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures store: packed_key(root, p) && store_to_write(d, p);
    ensures index: index_same{Pre,Post}(p);
    ensures same: same_leaves{Pre,Post}(p);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    ensures draft: \result.err == 0 ==> draft_holds(root, p->depth, d, from) &&
      d->end == page_end(p, i);
    ensures place: \result.err == 0 ==> set_before(c.leaves, \result.at.leaf, page_end(p, i)) &&
      rest_before(c.nodes, \result.at.node, page_end(p, i));
    ensures punctured: \result.err == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || page_punctured(p, i, x) ||
      p->first[i] <= x < page_end(p, i) && in_set(c.leaves, x); */
static inline struct opt_set_put put_page(struct opt_draft *d, const struct opt_packed *p, size_t i,
                                          struct opt_set c, struct opt_set_place at)
  /*@ ghost (uint64_t from) */
{
  STORE_TO_KEEP
  const struct opt_set_put put = put_page_beside(d, p, i, c, at) /*@ ghost (from) */;
  STORE_AS_BEFORE
  STORE_PAGE_IS_PUT
  return put;
}

/* Write page i, and the pages after it as long as each has leaves of the set, into an empty run. */
/*@ OPT_SET_TO_WRITE
    requires begin: from == p->first[i] && \forall integer x; !draft_punctured(d, x);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.put.err == 0 || \result.put.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures store: packed_key(root, p) && store_to_write(d, p);
    ensures index: index_same{Pre,Post}(p) && same_leaves{Pre,Post}(p);
    ensures set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    ensures draft: \result.put.err == 0 ==> i <= \result.to < p->pages &&
      draft_holds(root, p->depth, d, from) && d->end == page_end(p, \result.to);
    ensures place: \result.put.err == 0 ==>
      set_before(c.leaves, \result.put.at.leaf, page_end(p, \result.to)) &&
      rest_before(c.nodes, \result.put.at.node, page_end(p, \result.to));
    ensures punctured: \result.put.err == 0 ==>
      \forall integer x; from <= x < page_end(p, \result.to) ==>
      (draft_punctured(d, x) <==> packed_punctured(p, x) || in_set(c.leaves, x)); */
static struct opt_run_put put_run(struct opt_draft *d, const struct opt_packed *p, size_t i,
                                  struct opt_set c, struct opt_set_place at)
  /*@ ghost (uint64_t from) */
{
  RUN_OF_SET_TO_PUT
  struct opt_set_put put = put_page(d, p, i, c, at) /*@ ghost (from) */;
  FIRST_PAGE_IS_PUT
  /*@ loop invariant place: i0 <= i < p->pages && (put.err == 0 || put.err == PPRF_ERR_NOMEM);
      loop invariant own: draft_own(d) && draft_grown{Pre,Here}(d);
      loop invariant store: packed_key(root, p) && store_to_write(d, p);
      loop invariant index: index_same{Pre,Here}(p) && same_leaves{Pre,Here}(p);
      loop invariant set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
      loop invariant draft: put.err == 0 ==> draft_holds(root, p->depth, d, from) &&
        d->end == page_end(p, i);
      loop invariant before: put.err == 0 ==> set_before(c.leaves, put.at.leaf, page_end(p, i)) &&
        rest_before(c.nodes, put.at.node, page_end(p, i));
      loop invariant punctured: put.err == 0 ==> \forall integer x; draft_punctured(d, x) <==>
        pages_punctured(p, i0, i + 1, x) || from <= x < page_end(p, i) && in_set(c.leaves, x);
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns i, put, d->n, d->end, d->nodes, firsts[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant p->pages - i; */
  while (put.err == PPRF_OK && i + 1 < p->pages) {
    NEXT_PAGE_OF_RUN
    uint64_t next = p->first[i + 1];
    size_t leaf = opt_set_from(c, put.at.leaf, next);
    if (leaf == c.leaves || (i + 2 < p->pages && c.leaf[leaf] >= p->first[i + 2]))
      break;
    i++;
    put = put_page(d, p, i, c, put.at) /*@ ghost (from) */;
    PAGE_OF_RUN_IS_PUT
  }
  RUN_OF_SET_IS_PUT
  return (struct opt_run_put){i, put};
}

/* Begin a run with page i; the store and the set are unchanged. */
/*@ requires store: packed_key(root, p) && i < p->pages && draft_beside(d, p);
    requires draft: draft_own(d) && d->nodes <= p->first[i];
    requires set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    assigns d->at, d->end;
    ensures store: packed_key(root, p) && store_to_write(d, p);
    ensures index: index_same{Pre,Post}(p) && same_leaves{Pre,Post}(p);
    ensures set: set_stored(root, p->depth, d, c) && rest_of_store(p, c.leaves, c.nodes);
    ensures draft: draft_holds(root, p->depth, d, p->first[i]) && d->end == p->first[i] &&
      d->at == d->n && \forall integer x; !draft_punctured(d, x);
    ensures pages: draft_kept{Pre,Post}(d); */
static inline void begin_run(struct opt_draft *d, const struct opt_packed *p, size_t i)
  /*@ ghost (struct opt_set c) */
{
  RUN_TO_BEGIN
  opt_draft_begin(d, p->first[i]) /*@ ghost (p->depth) */;
  RUN_HAS_BEGUN
}

struct opt_run_put opt_packed_put_run(struct opt_draft *d, const struct opt_packed *p, size_t i,
                                      struct opt_set c, struct opt_set_place at)
{
  RUN_BEHIND_OTHERS
  begin_run(d, p, i) /*@ ghost (c) */;
  RUN_TO_FILL
  const struct opt_run_put put = put_run(d, p, i, c, at) /*@ ghost (from) */;
  RUN_IS_BEHIND_OTHERS
  return put;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a page without a set of leaves (rewrite_set.h). */
#include "rewrite_set.h"

#include "pprf.h"

#include "wp/rewrite_set_steps.h"

/* Write the leaves from the draft's end to end - 1 as punctured; the set is unchanged. */
/*@ requires draft: draft_holds(root, depth, d, from) && end <= pow2(depth);
    requires set: set_stored(root, depth, d, c);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == (\old(d->end) < end ? end : \old(d->end));
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < end;
    ensures set: set_stored(root, depth, d, c); */
static inline int put_gap(struct opt_draft *d, uint64_t end)
  /*@ ghost (struct opt_set c, unsigned depth, uint64_t from) */
{
  SET_LIES_APART
  int err = opt_draft_punctured(d, end) /*@ ghost (depth, from) */;
  SET_STAYS
  return err;
}

/* Write a live node, which starts where the draft ends; the set is unchanged. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires node: h <= depth && tree_node(depth, d->end, h);
    requires memory: seed_apart(d, seed);
    requires seed: seed_value(*seed) == node_seed(root, depth, d->end, h);
    requires set: set_stored(root, depth, d, c);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == \old(d->end) + pow2(h);
    ensures same: \result == 0 ==> \forall integer x;
      draft_punctured(d, x) <==> draft_punctured{Pre}(d, x);
    ensures set: set_stored(root, depth, d, c); */
static inline int put_live_beside(struct opt_draft *d, unsigned h, const struct pprf_seed *seed)
  /*@ ghost (struct opt_set c, unsigned depth, uint64_t from) */
{
  SET_LIES_APART
  int err = opt_draft_live(d, h, seed) /*@ ghost (depth, from) */;
  SET_STAYS
  return err;
}

/* Write a remaining node; the leaves from the draft's end to it become punctured. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires set: set_of_tree(depth, c.leaves, c.nodes) && set_stored(root, depth, d, c);
    requires node: i < c.nodes && d->end <= rest_start(i);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == rest_end(i);
    ensures punctured: \result == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < rest_start(i);
    ensures set: set_stored(root, depth, d, c); */
static inline int put_node(struct opt_draft *d, struct opt_set c, size_t i)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  NODE_TO_PUT
  int err = put_gap(d, c.rest[i].node.start) /*@ ghost (c, depth, from) */;
  GAP_IS_PUT
  if (err != PPRF_OK)
    return err;
  err = put_live_beside(d, c.rest[i].node.height, &c.rest[i].seed) /*@ ghost (c, depth, from) */;
  NODE_IS_PUT
  return err;
}

/* Write the remaining nodes that start before `end`; all other leaves from the draft's end to it
 * become punctured. */
/*@ requires draft: draft_holds(root, depth, d, from) && d->end <= end <= pow2(depth);
    requires set: set_of_tree(depth, c.leaves, c.nodes) && set_stored(root, depth, d, c);
    requires place: rest_before(c.nodes, at, d->end) && rest_within(c.nodes, d->end, end);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result.err == 0 ==> draft_holds(root, depth, d, from) && d->end == end;
    ensures place: \result.err == 0 ==> \result.at.leaf == leaf &&
      rest_before(c.nodes, \result.at.node, end);
    ensures punctured: \result.err == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || \old(d->end) <= x < end && !in_rest(0, c.nodes, x);
    ensures set: set_stored(root, depth, d, c); */
static struct opt_set_put put_nodes_left(struct opt_draft *d, struct opt_set c, size_t leaf,
                                         size_t at, uint64_t end)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  size_t i = at;
  REST_TO_PUT
  /*@ loop invariant place: at <= i <= c.nodes && start <= d->end <= end &&
        rest_before(c.nodes, i, d->end);
      loop invariant draft: draft_holds(root, depth, d, from);
      loop invariant grown: draft_grown{Pre,Here}(d);
      loop invariant punctured: \forall integer x; draft_punctured(d, x) <==>
        draft_punctured{Pre}(d, x) || start <= x < d->end && !in_rest(at, i, x);
      loop invariant set: set_stored(root, depth, d, c);
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns i, d->n, d->end, d->nodes, firsts[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant c.nodes - i; */
  for (; i < c.nodes && c.rest[i].node.start < end; i++) {
    NODE_OF_REST
    int err = put_node(d, c, i) /*@ ghost (depth, from) */;
    NODE_OF_REST_IS_PUT
    if (err != PPRF_OK)
      return (struct opt_set_put){{leaf, i}, err};
  }
  GAP_BEHIND_REST
  int err = put_gap(d, end) /*@ ghost (c, depth, from) */;
  REST_IS_PUT
  return (struct opt_set_put){{leaf, i}, err};
}

/* Write a tile, which starts where the draft ends, without the leaves of the set. */
/*@ requires draft: draft_holds(root, depth, d, from);
    requires tile: byte_of_node(depth, tile, d->end);
    requires seed: tile >= OPT_TILE_LIVE ==> seed_apart(d, seed) &&
      seed_value(*seed) == node_seed(root, depth, d->end, tile_height(tile));
    requires set: set_of_tree(depth, c.leaves, c.nodes) && set_stored(root, depth, d, c);
    requires rest: rest_of_tile(c.leaves, c.nodes, tile, d->end);
    requires place: set_before(c.leaves, at.leaf, d->end) && rest_before(c.nodes, at.node, d->end);
    assigns d->n, d->end, d->nodes, d->first[0 .. d->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures own: draft_own(d) && draft_grown{Pre,Post}(d);
    ensures draft: \result.err == 0 ==> draft_holds(root, depth, d, from) &&
      d->end == \old(d->end) + pow2(tile_height(tile));
    ensures place: \result.err == 0 ==> set_before(c.leaves, \result.at.leaf, d->end) &&
      rest_before(c.nodes, \result.at.node, d->end);
    ensures punctured: \result.err == 0 ==> \forall integer x; draft_punctured(d, x) <==>
      draft_punctured{Pre}(d, x) || covers(\old(d->end), tile_height(tile), x) &&
        (tile < OPT_TILE_LIVE || in_set(c.leaves, x));
    ensures set: set_stored(root, depth, d, c); */
static inline struct opt_set_put put_rest_of_tile(struct opt_draft *d, uint8_t tile,
                                                  const struct pprf_seed *seed, struct opt_set c,
                                                  struct opt_set_place at)
  /*@ ghost (unsigned depth, uint64_t from) */
{
  TILE_TO_PUT
  uint64_t end = d->end + opt_tile_leaves(tile);
  size_t leaf = opt_set_from(c, at.leaf, d->end);
  TILE_MEETS_SET
  if (!opt_tile_live(tile) || (leaf < c.leaves && c.leaf[leaf] < end)) {
    const struct opt_set_put put =
      put_nodes_left(d, c, leaf, at.node, end) /*@ ghost (depth, from) */;
    REST_OF_TILE_IS_PUT
    return put;
  }
  int err = put_live_beside(d, opt_tile_height(tile), seed) /*@ ghost (c, depth, from) */;
  TILE_IS_PUT
  return (struct opt_set_put){{leaf, at.node}, err};
}

struct opt_set_put opt_draft_page(struct opt_draft *d, const struct opt_page *page,
                                  struct opt_set c, struct opt_set_place at)
  /*@ ghost (unsigned depth, uint64_t from, uint64_t first, uint64_t end) */
{
  PAGE_TO_PUT
  unsigned k = 0;
  /*@ loop invariant place: 0 <= i <= tiles && d->end == tile_start{Pre}(row, first, i) &&
        k == seeds_before{Pre}(row, i);
      loop invariant page: block_kept{Pre,Here}(page) && !free_page(page) && !of_run(d, page);
      loop invariant draft: draft_holds(root, depth, d, from);
      loop invariant grown: draft_grown{Pre,Here}(d);
      loop invariant before: set_before(c.leaves, at.leaf, d->end) &&
        rest_before(c.nodes, at.node, d->end);
      loop invariant punctured: \forall integer x; draft_punctured(d, x) <==>
        draft_punctured{Pre}(d, x) || punctured_between{Pre}(row, first, 0, i, x) ||
        first <= x < d->end && in_set(c.leaves, x);
      loop invariant set: set_stored(root, depth, d, c);
      loop invariant list: d->first == firsts && d->pages == pages && d->room == room;
      loop assigns i, k, at, d->n, d->end, d->nodes, firsts[0 .. room - 1],
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop assigns pages[0 .. room - 1] \from pages[0 .. room - 1], d->block,
        opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant tiles - i; */
  for (unsigned i = 0; i < page->tiles; i++) {
    TILE_OF_PAGE
    const struct opt_set_put put = put_rest_of_tile(d, page->tile[i], opt_page_row(page, k + 1), c,
                                                    at) /*@ ghost (depth, from) */;
    TILE_IS_WRITTEN
    if (put.err != PPRF_OK)
      return put;
    k += opt_tile_live(page->tile[i]);
    at = put.at;
    SET_WITH_TILE_OF_PAGE
  }
  return (struct opt_set_put){at, PPRF_OK};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Punctures of ranges of packed keys. */
#include "core.h"

#include "packed.h"
#include "sets/range.h"
#include "../walk.h"
#include "wp/index_steps.h"

#include "wp/core_range_steps.h"

/* Find the live node that covers a leaf, or else the next one after it. */
/*@ requires store: packed_holds(root, p) && leaf < pow2(p->depth);
    assigns \nothing;
    ensures results: \result.live == 0 || \result.live == 1;
    ensures node: \result.live == 1 ==> packed_node(p, \result.node) &&
      packed_intact(p, \result.node.start, \result.node.height) &&
      leaf < \result.node.start + pow2(\result.node.height);
    ensures next: \result.live == 1 ==> \forall integer x; leaf <= x < \result.node.start ==>
      packed_punctured(p, x);
    ensures none: \result.live == 0 ==> \forall integer x; leaf <= x < pow2(p->depth) ==>
      packed_punctured(p, x);
    ensures height: \result.live == 1 ==> \result.node.height <= p->depth &&
      tree_node(p->depth, \result.node.start, \result.node.height); */
static inline struct opt_found next_live(const struct opt_packed *p, uint64_t leaf)
{
  struct opt_node node;
  int live = opt_packed_next(p, leaf, &node);
  FOUND_IN_TREE
  return (struct opt_found){node, live};
}

/* Derive what remains of a leaf's node when a range begins or ends with the leaf (walk.h);
 * nothing if the leaf has no node. The store is unchanged. */
/*@ requires store: packed_key(root, p) && leaf < pow2(p->depth);
    requires family: tree_family(family);
    requires live: at.live == 0 || at.live == 1;
    requires node: at.live == 1 ==> packed_node(p, at.node) &&
      covers(at.node.start, at.node.height, leaf) && at.node.height <= p->depth &&
      tree_node(p->depth, at.node.start, at.node.height);
    requires none: at.live == 0 ==> packed_punctured(p, leaf);
    requires side: right_side == 0 || right_side == 1;
    requires memory: \valid(out + (0 .. p->depth - 1)) && entries_beside(p, out, p->depth);
    assigns out[0 .. p->depth - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + p->depth;
    ensures count: \result.count <= p->depth && (\result.err != PPRF_OK ==> \result.count == 0);
    ensures nodes: tree_entries(root, p->depth, out, \result.count);
    ensures left: \result.err == PPRF_OK ==> right_side == 0 ==>
      left_of_leaf(p, leaf, out, \result.count);
    ensures right: \result.err == PPRF_OK ==> right_side == 1 ==>
      right_of_leaf(p, leaf, out, \result.count);
    ensures store: packed_key(root, p) && p->nodes == \old(p->nodes) &&
      p->depth == \old(p->depth);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures tiles: same_tiles{Pre,Post}(p);
    ensures behind: wiped_or_kept{Pre,Post}(out, \result.count, p->depth); */
static inline struct opt_kept siblings_at(const struct opt_packed *p, struct pprf_family family,
                                          struct opt_found at, uint64_t leaf, int right_side,
                                          struct opt_entry *out)
{
  if (!at.live) {
    NOTHING_IS_LEFT
    return (struct opt_kept){0, PPRF_OK};
  }
  NODE_TO_WALK
  const struct opt_kept kept = opt_siblings(family, opt_packed_seed(p, at.node), at.node.start,
                                            at.node.height, leaf, right_side, out) /*@ ghost (d) */;
  KEY_IS_APART
  NODE_IS_LEFT
  return kept;
}

/* Wipe the remaining nodes.  The store is unchanged. */
/*@ requires store: packed_key(root, p);
    OPT_SIDES_MEMORY
    requires counts: lefts <= p->depth && rights <= p->depth;
    assigns left[0 .. lefts - 1], right[0 .. rights - 1];
    ensures wiped: (\forall integer i; 0 <= i < lefts ==> zero_seed(left[i].seed)) &&
      \forall integer i; 0 <= i < rights ==> zero_seed(right[i].seed);
    ensures store: packed_key(root, p) && p->nodes == \old(p->nodes);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void wipe_sides(struct opt_entry *left, unsigned lefts, struct opt_entry *right,
                              unsigned rights)
  /*@ ghost (const struct opt_packed *p) */
{
  opt_wipe_entries(left, lefts);
  opt_wipe_entries(right, rights);
  KEY_IS_APART
}

/* Puncture a range that overlaps a live node; left and right are buffers for what remains of the
 * nodes at its ends; `at` is the live node that covers the range's begin, or else the next one. */
/*@ OPT_SIDES_MEMORY
    requires live: at.live == 1 && packed_node(p, at.node) &&
      packed_intact(p, at.node.start, at.node.height) &&
      first < at.node.start + pow2(at.node.height) && at.node.start <= last;
    requires tree: at.node.height <= p->depth && tree_node(p->depth, at.node.start, at.node.height);
    requires next: \forall integer x; first <= x < at.node.start ==> packed_punctured(p, x);
    OPT_PACKED_PUNCT_RANGE
    assigns left[0 .. p->depth - 1], right[0 .. p->depth - 1];
    ensures some: \result != PPRF_ERR_PUNCTURED;
    ensures wiped: wiped_or_kept{Pre,Post}(left, 0, p->depth) &&
      wiped_or_kept{Pre,Post}(right, 0, p->depth); */
static inline int punct_range_from(struct opt_packed *p, struct pprf_family family,
                                   struct opt_found at, uint64_t first, uint64_t last,
                                   struct opt_entry *left, struct opt_entry *right)
{
  LIVE_IN_RANGE
  at.live = at.node.start <= first;
  const struct opt_kept lefts = siblings_at(p, family, at, first, 0, left);
  RIGHT_IS_KEPT
  if (lefts.err != PPRF_OK)
    return lefts.err;
  //@ ghost Left: ;
  const struct opt_kept rights = siblings_at(p, family, opt_packed_live(p, last), last, 1, right);
  LEFT_IS_KEPT
  int err = rights.err;
  if (err == PPRF_OK)
    err = opt_packed_puncture_range(p, first, last, left, lefts.count, right, rights.count);
  RANGE_IS_PUNCTURED
  wipe_sides(left, lefts.count, right, rights.count) /*@ ghost (p) */;
  SIDES_KEPT_BY_WIPING
  return err;
}

/* Find the first live node of a range and puncture the range. */
/*@ OPT_SIDES_MEMORY
    OPT_PACKED_PUNCT_RANGE
    assigns left[0 .. p->depth - 1], right[0 .. p->depth - 1];
    ensures wiped: wiped_or_kept{Pre,Post}(left, 0, p->depth) &&
      wiped_or_kept{Pre,Post}(right, 0, p->depth); */
static inline int punct_range_with(struct opt_packed *p, struct pprf_family family, uint64_t first,
                                   uint64_t last, struct opt_entry *left, struct opt_entry *right)
{
  struct opt_found at = next_live(p, first);
  if (!at.live || at.node.start > last)
    return PPRF_ERR_PUNCTURED;
  return punct_range_from(p, family, at, first, last, left, right);
}

PPRF_WORK int opt_packed_punct_range(struct opt_packed *p, struct pprf_family family,
                                     uint64_t first, uint64_t last)
{
  int err;
  {
    struct opt_entry left[PPRF_SLOTS_DEPTH_MAX], right[PPRF_SLOTS_DEPTH_MAX];
    KEY_IN_BLOCK
    KEY_IS_HERE
    //@ ghost Begun: ;
    err = punct_range_with(p, family, first, last, &left[0], &right[0]);
    SIDES_ARE_WIPED
    KEY_AT_END
  }
  KEY_IS_HERE
  return err;
}

PPRF_WORK int opt_packed_punct_range_deep(struct opt_packed *p, struct pprf_family family,
                                          uint64_t first, uint64_t last)
{
  int err;
  {
    struct opt_entry left[OPT_PACKED_DEPTH_MAX], right[OPT_PACKED_DEPTH_MAX];
    KEY_IN_BLOCK
    KEY_IS_HERE
    //@ ghost Begun: ;
    err = punct_range_with(p, family, first, last, &left[0], &right[0]);
    SIDES_ARE_WIPED
    KEY_AT_END
  }
  KEY_IS_HERE
  return err;
}

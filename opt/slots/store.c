/* SPDX-License-Identifier: Apache-2.0 */
/* Pair slots: loading, puncturing a leaf, a range or a set, and clearing (slots.h, pages.h). */
#include "slots.h"

#include "pages.h"
#include "wp/store_steps.h"

/* A block of 64^2 = 4096 leaves has 32 kB of slots, a block of 64^3 leaves 32 kB of `leaves`:
 * this memory is released when the block is full. */
#define SLOTS_LEVEL 2
#define DEAD_LEVEL 3

int opt_slots_next(const struct opt_slots *s, uint64_t leaf, struct opt_node *node)
{
  leaf = opt_bitmap_next_live(&s->punctured, leaf);
  //@ assert depth: 1 <= s->punctured.depth <= 32;
  if (!opt_in_tree(leaf, s->punctured.depth))
    return 0;
  return opt_slots_find(s, leaf, node);
}

/*@ requires opened(s) && j < pow2(s->punctured.depth - 1);
    assigns s->slot[j];
    ensures value: s->slot[j].lo == seed.lo && s->slot[j].hi == seed.hi;
    ensures others: same_but{Pre,Post}(s, j);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline void put_slot(struct opt_slots *s, uint64_t j, struct pprf_seed seed)
{
  SLOT_APART_FROM_BITMAP
  s->slot[j] = seed;
  BITMAP_UNCHANGED_BY_SLOT
}

/* Set s->nodes. */
/*@ requires opened: opened(s);
    assigns s->nodes;
    ensures value: s->nodes == nodes;
    ensures opened: opened(s);
    ensures words: same_words{Pre,Post}(&s->punctured);
    ensures slots: same_slots{Pre,Post}(s); */
static inline void put_nodes(struct opt_slots *s, uint64_t nodes)
{
  s->nodes = nodes;
  BITMAP_UNCHANGED_BY_COUNT
}

/* Write the seed of a path's sibling to its slot. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth) && i < s->punctured.depth;
    requires stored: copath_stored(root, s->punctured.depth, leaf, s->slot, i);
    requires seed: seed_value(seed) ==
      node_seed(root, s->punctured.depth, beside(leaf, i), i);
    assigns s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures stored: copath_stored(root, s->punctured.depth, leaf, s->slot, i + 1);
    ensures others: same_but{Pre,Post}(s, beside(leaf, i) / 2);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline void put_beside(struct opt_slots *s, uint64_t leaf, unsigned i, struct pprf_seed seed)
{
  COPATH_HAS_SLOTS
  uint64_t j = opt_sibling_start(leaf, i) >> 1;
  SIBLING_HAS_NO_OTHERS_SLOT
  put_slot(s, j, seed);
  SIBLINGS_STORED
}

/* Replace the seed of a node that covers a leaf by those of the siblings beside the path to the
 * leaf. One of these starts in the node's pair and overwrites its seed, unless the node is the
 * leaf itself. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth) && height <= s->punctured.depth;
    requires nodes: 1 <= s->nodes <= 0x100000000;
    requires \valid_read(copath + (0 .. height - 1));
    requires apart: APART(copath + (0 .. height - 1), s);
    requires copath: copath_seeds(root, s->punctured.depth, leaf, copath, 0, height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures nodes: s->nodes == \old(s->nodes) + height - 1;
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures copath: copath_stored(root, s->punctured.depth, leaf, s->slot, height);
    ensures leaf: height == 0 ==> zero_seed(s->slot[leaf / 2]);
    ensures others: height > 0 ==> other_slots{Pre,Post}(s, leaf, height);
    ensures other: height == 0 ==> same_but{Pre,Post}(s, leaf / 2); */
static void put_copath(struct opt_slots *s, uint64_t leaf, unsigned height,
                       const struct pprf_seed *copath)
{
  COPATH_FITS
  put_nodes(s, s->nodes + height - 1);
  //@ assert copath: copath_seeds(root, d, leaf, copath, 0, height);
  if (height == 0)
    put_slot(s, leaf >> 1, (struct pprf_seed){0, 0});
  /*@ loop invariant 0 <= i <= height;
      loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant nodes: s->nodes == \at(s->nodes,Pre) + height - 1;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant copath: copath_seeds(root, d, leaf, copath, 0, height);
      loop invariant done: copath_stored(root, d, leaf, s->slot, i);
      loop invariant leaf: height == 0 ==> zero_seed(s->slot[leaf / 2]);
      loop invariant others: height > 0 ==> other_slots{Pre,Here}(s, leaf, i);
      loop invariant other: height == 0 ==> same_but{Pre,Here}(s, leaf / 2);
      loop assigns i, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant height - i; */
  for (unsigned i = 0; i < height; i++) {
    //@ assert apart: \separated(copath + (0 .. height - 1), SLOTS(s));
    //@ ghost Before: ;
    put_beside(s, leaf, i, copath[i]);
    //@ assert same: same_seeds{Before,Here}(copath, height);
    //@ assert others: height > 0 ==> other_slots{Pre,Here}(s, leaf, i + 1);
  }
}

/* put_copath for the whole key: a node is replaced by its co-path, as if the leaf were punctured
 * already. */
/*@ requires key: slots_key(root, s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid_read(copath + (0 .. node.height - 1));
    requires apart: APART(copath + (0 .. node.height - 1), s);
    requires copath: copath_seeds(root, s->punctured.depth, leaf, copath, 0, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, leaf, leaf + 1);
    ensures nodes: s->nodes ==
      cover_size{Pre}(&s->punctured, leaf, leaf + 1, 0, s->punctured.depth); */
static void replace_node(struct opt_slots *s, uint64_t leaf, struct opt_node node,
                         const struct pprf_seed *copath)
{
  COVER_WHEN_PUNCTURED
  put_copath(s, leaf, node.height, copath);
  SLOTS_HOLD_THE_NEW_COVER
}

/* Release the slots of the leaves first .. end - 1, all of which are punctured. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth) && first % 64 == 0;
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, 0, 0);
    requires punctured: \forall integer x; first <= x < end ==> is_punctured(&s->punctured, x);
    assigns \nothing;
    ensures opened: opened(s); */
static inline void release_slots(struct opt_slots *s, uint64_t first, uint64_t end)
{
  RELEASED_SLOTS_ARE_ZERO
  opt_pages_release_slots(s, first, end);
}

/* Release the words of level 0 over leaves first .. end - 1, all of whose blocks are full. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth) && first % 64 == 0;
    requires level: DEAD_LEVEL < s->punctured.levels;
    requires full: full_leaves(&s->punctured, DEAD_LEVEL, first, end);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes);
    ensures kept: same_slots{Pre,Post}(s); */
static inline void release_punctured(struct opt_slots *s, uint64_t first, uint64_t end)
{
  RELEASED_WORDS_ARE_BELOW_FULL
  opt_pages_release_punctured(s, first, end);
  SET_KEPT_WITHOUT_WORDS
}

/* Release the memory that the blocks around a leaf no longer need, having become full with it. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, 0, 0);
    requires level: SLOTS_LEVEL <= full < s->punctured.levels;
    requires marked: \forall integer k; 0 <= k <= full ==>
      in_full_block(&s->punctured, k, block_of(leaf, k));
    requires full: \forall integer k, x; 0 <= k <= full ==> 0 <= x < pow2(s->punctured.depth) ==>
      block_of(x, k) == block_of(leaf, k) ==> is_punctured(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes);
    ensures kept: same_slots{Pre,Post}(s);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, 0, 0); */
static void release_blocks(struct opt_slots *s, uint64_t leaf, unsigned full)
{
  SLOTS_BLOCK_AROUND_LEAF
  uint64_t block = leaf >> 6 * SLOTS_LEVEL;
  SLOTS_BLOCK_IS_PUNCTURED
  release_slots(s, block << 6 * SLOTS_LEVEL, (block + 1) << 6 * SLOTS_LEVEL);
  if (full >= DEAD_LEVEL) {
    WORDS_BLOCK_AROUND_LEAF
    block = leaf >> 6 * DEAD_LEVEL;
    WORDS_BLOCK_IS_PUNCTURED
    release_punctured(s, block << 6 * DEAD_LEVEL, (block + 1) << 6 * DEAD_LEVEL);
  }
}

/* Mark a live leaf as punctured.  The slots are already up to date. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth) &&
      !is_punctured(&s->punctured, leaf);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured,
      leaf, leaf + 1);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, 0, 0);
    ensures leaves: \forall integer x;
      is_punctured(&s->punctured, x) <==> is_punctured{Pre}(&s->punctured, x) || x == leaf;
    ensures nodes: s->nodes == \old(s->nodes); */
static void puncture_leaf(struct opt_slots *s, uint64_t leaf)
{
  SLOTS_APART_FROM_MARK
  unsigned full = opt_bitmap_puncture(&s->punctured, leaf);
  COVER_WITHOUT_LEAF
  if (full >= SLOTS_LEVEL)
    release_blocks(s, leaf, full);
}

/* Release the rest of the memory if no node is left. */
/*@ requires key: slots_key(root, s);
    requires punctured: \forall integer x; 0 <= x < pow2(s->punctured.depth) ==>
      is_punctured(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures key: slots_key(root, s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static void release_all(struct opt_slots *s)
{
  NO_NODE_IS_LEFT
  opt_pages_release_all(s);
  EMPTY_KEY_KEPT
}

void opt_slots_puncture(struct opt_slots *s, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath)
{
  COVER_SIZE_BEFORE_PUNCTURE
  replace_node(s, leaf, node, copath);
  puncture_leaf(s, leaf);
  COVER_SIZE_AFTER_PUNCTURE
  if (s->nodes == 0) {
    //@ assert none: \forall integer x; 0 <= x < pow2(d) ==> is_punctured(&s->punctured, x);
    release_all(s);
  }
}

/* Remove a live node from the slots.  lo .. hi - 1 counts as punctured before, from .. to - 1
 * after. */
/*@ requires opened: opened(s);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires live: live(&s->punctured, lo, hi, s->punctured.depth, node.start, node.height);
    requires wider: range_plus_node(&s->punctured, lo, hi, from, to, node.start, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, from, to);
    ensures nodes: s->nodes == cover_size(&s->punctured, from, to, 0, s->punctured.depth); */
static inline void take_out(struct opt_slots *s, struct opt_node node)
  /*@ ghost (uint64_t lo, uint64_t hi, uint64_t from, uint64_t to) */
{
  NODE_HAS_ITS_SLOT_ALONE
  put_slot(s, node.start >> 1, (struct pprf_seed){0, 0});
  //@ ghost Put: ;
  put_nodes(s, s->nodes - 1);
  COVER_WITHOUT_NODE
}

/* Write a node to the slots.  from .. to - 1 counts as punctured before, lo .. hi - 1 after. */
/*@ requires opened: opened(s);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, from, to);
    requires nodes: s->nodes == cover_size(&s->punctured, from, to, 0, s->punctured.depth);
    requires live: live(&s->punctured, lo, hi, s->punctured.depth, node.start, node.height);
    requires wider: range_plus_node(&s->punctured, lo, hi, from, to, node.start, node.height);
    requires seed: seed_value(seed) ==
      node_seed(root, s->punctured.depth, node.start, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    ensures nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth); */
static inline void put_in(struct opt_slots *s, struct opt_node node, struct pprf_seed seed)
  /*@ ghost (uint64_t lo, uint64_t hi, uint64_t from, uint64_t to) */
{
  NO_NODE_HAS_THE_SLOT
  put_slot(s, node.start >> 1, seed);
  NODE_STORED
  put_nodes(s, s->nodes + 1);
  COVER_WITH_NODE
}

/* Mark leaves as punctured; the slots are unchanged. */
/*@ requires opened: opened(s) && first <= last < pow2(s->punctured.depth);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures leaves: \forall integer x;
      is_punctured(&s->punctured, x) <==> is_punctured{Pre}(&s->punctured, x) || first <= x <= last;
    ensures same: s->nodes == \old(s->nodes) && same_slots{Pre,Post}(s);
    ensures place: s->slot == \old(s->slot) &&
      s->punctured.depth == \old(s->punctured.depth); */
static void mark_leaves(struct opt_slots *s, uint64_t first, uint64_t last)
{
  SLOTS_APART_FROM_MARKS
  opt_bitmap_puncture_range(&s->punctured, first, last);
  SLOTS_KEPT_BY_MARKS
}

/* Mark leaves as punctured: each is so already, or lies in lo .. hi - 1, whose nodes have been
 * removed from the slots. */
/*@ requires opened: opened(s) && first <= last < pow2(s->punctured.depth);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires out: \forall integer x; first <= x <= last ==>
      is_punctured(&s->punctured, x) || lo <= x < hi;
    requires apart: APART_ENTRIES_WORDS(left, lefts, s) && APART_ENTRIES_WORDS(right, rights, s);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures leaves: \forall integer x;
      is_punctured(&s->punctured, x) <==> is_punctured{Pre}(&s->punctured, x) || first <= x <= last;
    ensures rest: same_entries{Pre,Post}(left, lefts) && same_entries{Pre,Post}(right, rights);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    ensures nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    ensures same: s->nodes == \old(s->nodes) && same_slots{Pre,Post}(s); */
static inline void mark_range(struct opt_slots *s, uint64_t first, uint64_t last)
  /*@ ghost (uint64_t lo, uint64_t hi, const struct opt_entry *left, unsigned lefts,
             const struct opt_entry *right, unsigned rights) */
{
  COVER_SIZE_BEFORE_MARKS
  mark_leaves(s, first, last);
  COVER_KEPT_BY_MARKS
}

/* The leaves from .. end - 1; empty if from >= end. */
struct span {
  uint64_t from, end;
};

/* Remove the live nodes that overlap a range from the slots.  Returns the span from the start of
 * the first to the end of the last. */
/*@ requires key: slots_key(root, s) && first <= last < pow2(s->punctured.depth);
    requires some: \exists integer x; first <= x <= last && !is_punctured(&s->punctured, x);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots:
      slots(root, s->punctured.depth, s->slot, &s->punctured, \result.from, \result.end);
    ensures nodes: s->nodes ==
      cover_size(&s->punctured, \result.from, \result.end, 0, s->punctured.depth);
    ensures out: \forall integer x; first <= x <= last ==>
      is_punctured(&s->punctured, x) || \result.from <= x < \result.end;
    ensures ends: live_from(&s->punctured, \result.from, first) &&
      live_to(&s->punctured, \result.end, last);
    ensures inner_left: \forall integer x; \result.from <= x < first ==>
      !is_punctured(&s->punctured, x);
    ensures inner_right: \forall integer x; last < x < \result.end ==>
      !is_punctured(&s->punctured, x);
    ensures bounds: \result.from < \result.end <= pow2(s->punctured.depth);
    ensures meets: \result.from <= last && first < \result.end; */
static struct span take_range(struct opt_slots *s, uint64_t first, uint64_t last)
{
  RANGE_IN_TREE
  struct opt_node n = {.start = 0, .height = 0};
  int more = opt_slots_next(s, first, &n); /* there is one */
  //@ ghost live_apart_lemma(&s->punctured, 0, 0, d);
  //@ assert some: more != 0 && n.start <= last;
  const uint64_t from = n.start;
  uint64_t to = from;
  NOTHING_TAKEN_YET
  /*@ loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant slots: slots(root, d, s->slot, &s->punctured, from, to);
      loop invariant nodes: s->nodes == cover_size(&s->punctured, from, to, 0, d);
      loop invariant bounds: from <= to <= pow2(d);
      loop invariant begin: from == to ==> more != 0 && n.start == from;
      loop invariant inner: \forall integer x; last < x < to ==> !is_punctured(&s->punctured, x);
      loop invariant begun: from < to ==> first < to && live_to{Pre}(&s->punctured, to, last);
      loop invariant before: \forall integer x; first <= x < from ==>
        is_punctured(&s->punctured, x);
      loop invariant more: more != 0 ==> live{Pre}(&s->punctured, 0, 0, d, n.start, n.height) &&
        to <= n.start && first < n.start + pow2(n.height);
      loop invariant next: more != 0 ==> \forall integer x; to <= x < n.start ==>
        is_punctured(&s->punctured, x);
      loop invariant end: more == 0 ==> \forall integer x; to <= x < pow2(d) ==>
        is_punctured(&s->punctured, x);
      loop assigns n, to, more, s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant pow2(d) - to; */
  while (more && n.start <= last) {
    NEXT_NODE_IS_LIVE
    take_out(s, n) /*@ ghost (from, to, from, end) */;
    to = opt_node_end(n);
    NODE_IS_TAKEN
    more = opt_slots_next(s, to, &n);
    //@ ghost live_apart_lemma(&s->punctured, 0, 0, d);
  }
  return (struct span){from, to};
}

/* Write the nodes that remain left of a punctured range to the slots. */
/*@ requires opened: opened(s);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires punctured: is_punctured(&s->punctured, first) && first < hi;
    requires count: n <= PPRF_SLOTS_DEPTH_MAX && \valid_read(rest + (0 .. n - 1));
    requires apart: APART(rest + (0 .. n - 1), s);
    requires entries: entries(root, s->punctured.depth, rest, n) &&
      entries_live(&s->punctured, rest, n);
    requires left: lefts(rest, n, lo, first);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured,
                         lo < first ? first : lo, hi);
    ensures nodes: s->nodes ==
      cover_size(&s->punctured, lo < first ? first : lo, hi, 0, s->punctured.depth); */
static void put_lefts(struct opt_slots *s, const struct opt_entry *rest, unsigned n)
  /*@ ghost (uint64_t lo, uint64_t hi, uint64_t first) */
{
  LEFTS_BEGIN
  /*@ loop invariant i <= n;
      loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant same: same_entries{Pre,Here}(rest, n);
      loop invariant slots: slots(root, d, s->slot, &s->punctured, from, hi);
      loop invariant nodes: s->nodes == cover_size(&s->punctured, from, hi, 0, d);
      loop invariant from: i < n ==> begins{Pre}(rest, i, from);
      loop invariant done: i == n ==> from == (lo < first ? first : lo);
      loop assigns i, from, s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++) {
    LEFT_IS_LIVE
    put_in(s, rest[i].node, rest[i].seed) /*@ ghost (end, hi, from, hi) */;
    LEFT_IS_STORED
  }
}

/* Write those that remain right of it. */
/*@ requires opened: opened(s);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires punctured: is_punctured(&s->punctured, last) && lo <= last;
    requires count: n <= PPRF_SLOTS_DEPTH_MAX && \valid_read(rest + (0 .. n - 1));
    requires apart: APART(rest + (0 .. n - 1), s);
    requires entries: entries(root, s->punctured.depth, rest, n) &&
      entries_live(&s->punctured, rest, n);
    requires right: rights(rest, n, hi, last);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo,
                         last + 1 < hi ? last + 1 : hi);
    ensures nodes: s->nodes ==
      cover_size(&s->punctured, lo, last + 1 < hi ? last + 1 : hi, 0, s->punctured.depth); */
static void put_rights(struct opt_slots *s, const struct opt_entry *rest, unsigned n)
  /*@ ghost (uint64_t lo, uint64_t hi, uint64_t last) */
{
  RIGHTS_BEGIN
  /*@ loop invariant i <= n;
      loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant same: same_entries{Pre,Here}(rest, n);
      loop invariant slots: slots(root, d, s->slot, &s->punctured, lo, to);
      loop invariant nodes: s->nodes == cover_size(&s->punctured, lo, to, 0, d);
      loop invariant to: i < n ==> ends{Pre}(rest, i, to);
      loop invariant done: i == n ==> to == (last + 1 < hi ? last + 1 : hi);
      loop assigns i, to, s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++) {
    RIGHT_IS_LIVE
    put_in(s, rest[i].node, rest[i].seed) /*@ ghost (lo, start, lo, to) */;
    RIGHT_IS_STORED
  }
}

/* First leaf of a block; the end of the tree for the block after its last. */
/*@ requires bitmap: bitmap(b) && 1 <= level < b->levels && i <= blocks(b->depth, level);
    assigns \nothing;
    ensures bound: \result <= pow2(b->depth) && \result % 64 == 0;
    ensures below: \forall integer z; 0 <= z < \result ==> block_of(z, level) < i;
    ensures above: i < blocks(b->depth, level) ==> \forall integer z; z >= 0 ==>
      block_of(z, level) < i ==> z < \result;
    ensures tree: i == blocks(b->depth, level) ==> \result == pow2(b->depth); */
static inline uint64_t block_start(unsigned level, uint64_t i)
  /*@ ghost (const struct opt_bitmap *b) */
{
  BLOCK_BEGINS_IN_TREE
  return i << 6 * level;
}

/* The leaves of the full blocks of a level that overlap the punctured leaves first .. last: only
 * the blocks at both ends may not be full.  Empty if there is no such level. */
/*@ requires bitmap: bitmap(b) && first <= last < pow2(b->depth);
    requires punctured: \forall integer x; first <= x <= last ==> is_punctured(b, x);
    requires level: 1 <= level;
    assigns \nothing;
    ensures span: \result.end <= pow2(b->depth) && \result.from % 64 == 0;
    ensures level: \result.from < \result.end ==> level < b->levels;
    ensures full: full_leaves(b, level, \result.from, \result.end);
    ensures leaves: \forall integer x; \result.from <= x < \result.end ==> is_punctured(b, x); */
static struct span full_span(const struct opt_bitmap *b, unsigned level, uint64_t first,
                             uint64_t last)
{
  //@ ghost pow2_pos_lemma();
  if (level >= b->levels)
    return (struct span){0, 0};
  BLOCKS_ASCEND
  uint64_t i = opt_block(first, level), j = opt_block(last, level);
  INNER_BLOCKS_ARE_FULL
  i += !opt_bitmap_is_full(b, level, i);
  j += opt_bitmap_is_full(b, level, j);
  //@ assert full: \forall integer y; i <= y < j ==> in_full_block(b, level, y);
  uint64_t from = block_start(level, i) /*@ ghost (b) */;
  uint64_t end = block_start(level, j) /*@ ghost (b) */;
  SPAN_IS_PUNCTURED
  return (struct span){from, end};
}

/* Release the memory that full blocks among punctured leaves no longer need. */
/*@ requires key: slots_key(root, s) && first <= last < pow2(s->punctured.depth);
    requires punctured: \forall integer x; first <= x <= last ==> is_punctured(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures key: slots_key(root, s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static void release_range(struct opt_slots *s, uint64_t first, uint64_t last)
{
  COVER_SIZE_BEFORE_RELEASE
  const struct span small = full_span(&s->punctured, SLOTS_LEVEL, first, last);
  if (small.from < small.end)
    release_slots(s, small.from, small.end);
  const struct span large = full_span(&s->punctured, DEAD_LEVEL, first, last);
  if (large.from < large.end)
    release_punctured(s, large.from, large.end);
  COVER_SIZE_KEPT_BY_RELEASE
}

/* Write the nodes that remain on either side of a punctured range to the slots. */
/*@ requires opened: opened(s) && first <= last < pow2(s->punctured.depth);
    requires slots: slots(root, s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires punctured: \forall integer x; first <= x <= last ==> is_punctured(&s->punctured, x);
    requires bounds: lo <= last && first < hi <= pow2(s->punctured.depth);
    requires left: lefts <= PPRF_SLOTS_DEPTH_MAX && \valid_read(left + (0 .. lefts - 1));
    requires right: rights <= PPRF_SLOTS_DEPTH_MAX && \valid_read(right + (0 .. rights - 1));
    requires apart: APART(left + (0 .. lefts - 1), s) && APART(right + (0 .. rights - 1), s);
    requires entries: entries(root, s->punctured.depth, left, lefts) &&
      entries(root, s->punctured.depth, right, rights);
    requires kept: entries_live(&s->punctured, left, lefts) &&
      entries_live(&s->punctured, right, rights);
    requires sides: lefts(left, lefts, lo, first) && rights(right, rights, hi, last);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures key: slots_key(root, s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static inline void put_rest(struct opt_slots *s, const struct opt_entry *left, unsigned lefts,
                            const struct opt_entry *right, unsigned rights)
  /*@ ghost (uint64_t lo, uint64_t hi, uint64_t first, uint64_t last) */
{
  RIGHTS_APART_FROM_SLOTS
  put_lefts(s, left, lefts) /*@ ghost (lo, hi, first) */;
  RIGHTS_KEPT_BY_LEFTS
  put_rights(s, right, rights) /*@ ghost (from, hi, last) */;
  REST_IS_THE_COVER
}

/* Replace the live nodes that overlap a range by those that remain of them.  Returns the span
 * from the start of the first to the end of the last. */
/*@ SLOTS_PUNCTURE_RANGE
    ensures bounds: \result.from < \result.end <= pow2(s->punctured.depth);
    ensures meets: \result.from <= last && first < \result.end; */
static inline struct span replace_range(struct opt_slots *s, uint64_t first, uint64_t last,
                                        const struct opt_entry *left, unsigned lefts,
                                        const struct opt_entry *right, unsigned rights)
{
  REST_APART_FROM_KEY
  const struct span out = take_range(s, first, last);
  REST_KEPT_BY_TAKING
  mark_range(s, first, last) /*@ ghost (lo, hi, left, lefts, right, rights) */;
  REST_KEPT_BY_MARKING
  put_rest(s, left, lefts, right, rights) /*@ ghost (lo, hi, first, last) */;
  /*@ assert punctured: \forall integer x;
        is_punctured(&s->punctured, x) <==> is_punctured{Pre}(&s->punctured, x) ||
        first <= x <= last; */
  return out;
}

/*@ assigns \nothing;
    ensures \result >= a && \result >= b && (\result == a || \result == b); */
static inline uint64_t later(uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/*@ assigns \nothing;
    ensures \result <= a && \result <= b && (\result == a || \result == b); */
static inline uint64_t earlier(uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

void opt_slots_puncture_range(struct opt_slots *s, uint64_t first, uint64_t last,
                              const struct opt_entry *left, unsigned lefts,
                              const struct opt_entry *right, unsigned rights)
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  const struct span out = replace_range(s, first, last, left, lefts, right, rights);
  //@ assert apart: APART_WORDS(s, s) && s->punctured.depth == d;
  /* blocks before the first node and after the last were released when they became full */
  release_range(s, later(out.from, first), earlier(out.end - 1, last));
  COUNT_IS_COVER_SIZE
  if (s->nodes == 0) {
    //@ assert none: \forall integer x; 0 <= x < pow2(d) ==> is_punctured(&s->punctured, x);
    release_all(s);
  }
}

void opt_slots_load_node(struct opt_slots *s, const struct opt_entry *e)
{
  NODE_HAS_A_SLOT
  put_slot(s, e->node.start >> 1, e->seed);
  put_nodes(s, s->nodes + 1);
}

void opt_slots_load_root(struct opt_slots *s, const struct pprf_seed *seed)
{
  ROOT_HAS_A_SLOT
  put_slot(s, 0, *seed);
  //@ ghost Put: ;
  put_nodes(s, 1);
  ROOT_IS_THE_COVER
}

void opt_slots_load_gap(struct opt_slots *s, uint64_t first, uint64_t last)
{
  if (first <= last)
    mark_leaves(s, first, last);
}

/* Zero the levels in the small block; those in the mapping are zero. */
/*@ requires memory: layout(b);
    requires mapped: \forall integer k; 0 <= k < b->levels ==> !small_level(b->depth, k) ==>
      zero_level(b, k);
    assigns BITMAP_WORDS(b);
    ensures memory: layout(b);
    ensures shape: same_shape{Pre,Post}(b);
    ensures zero: \forall integer k; 0 <= k < b->levels ==> zero_level(b, k); */
static void zero_small_levels(struct opt_bitmap *b)
{
  const unsigned depth = b->depth, levels = b->levels;
  /*@ loop invariant level: k <= levels;
      loop invariant memory: layout(b);
      loop invariant shape: same_shape{Pre,Here}(b);
      loop invariant mapped: \forall integer l; k <= l < levels ==> !small_level(depth, l) ==>
        zero_level(b, l);
      loop invariant zero: \forall integer l; 0 <= l < k ==> zero_level(b, l);
      loop assigns k, BITMAP_WORDS(b);
      loop variant levels - k; */
  for (unsigned k = 0; k < levels; k++)
    if (opt_level_is_small(depth, k)) {
      //@ ghost Before: ;
      opt_bitmap_zero_level(b, k);
      ZERO_LEVELS_STAY_ZERO
    }
}

/* Zero a store in any state: it then has no node, and no leaf is punctured. */
/*@ requires memory: laid_out(s);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s) && s->nodes == 0;
    ensures slots: zero_slots(s);
    ensures leaves: \forall integer x; !is_punctured(&s->punctured, x); */
static void zero_store(struct opt_slots *s)
{
  opt_pages_zero_mapping(s);
  SLOTS_APART_FROM_LEVELS
  zero_small_levels(&s->punctured);
  SLOTS_KEPT_BY_LEVELS
  put_nodes(s, 0);
}

void opt_slots_clear(struct opt_slots *s)
{
  zero_store(s);
  LEAVES_OF_TREE
  mark_leaves(s, 0, (UINT64_C(1) << s->punctured.depth) - 1);
  NO_NODE_IS_THE_COVER
}

void opt_slots_start(struct opt_slots *s, const struct pprf_seed *seed)
{
  ROOT_APART_FROM_STORE
  zero_store(s);
  //@ assert seed: seed->lo == \at(seed->lo,Pre) && seed->hi == \at(seed->hi,Pre);
  opt_slots_load_root(s, seed);
}

void opt_slots_set_up(struct opt_slots *s, const struct pprf_seed *seed)
{
  NEW_STORE_IS_OPENED
  opt_slots_load_root(s, seed);
}

void opt_slots_puncture_set(struct opt_slots *s, const uint64_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count)
{
  struct opt_node node;
  for (uint64_t i = 0, end = 0; i < n; i++)
    if (leaf[i] >= end) {
      int live = opt_slots_find(s, leaf[i], &node);
      if (live) {
        s->slot[node.start >> 1] = (struct pprf_seed){0, 0};
        s->nodes--;
        end = opt_node_end(node);
      }
    }
  for (size_t i = 0; i < count; i++)
    s->slot[rest[i].node.start >> 1] = rest[i].seed;
  s->nodes += count;
  for (size_t i = 0; i < n; i++)
    puncture_leaf(s, leaf[i]);
  if (s->nodes == 0)
    release_all(s);
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file slots.h
 * Dense pair slots: the store of a key whose punctures are many.
 *
 * An aligned pair of leaves {2j, 2j + 1} is the start of at most one live node, so the seed of the
 * node (start, height) lies in slot[start >> 1], and the set of punctured leaves gives the height.
 * Invariant: every slot is zero or holds the seed of the live node that starts in its pair.
 *
 * The slots and every bitmap level of a page or more lie in one private anonymous mapping, at
 * offsets that the depth alone determines; a page takes memory from its first write on.  Smaller
 * levels lie in a block of opt_slots_small_bytes(depth) bytes from the caller.  Neither holds a
 * pointer.  pages.h has this memory: made, given back, wiped. */
#ifndef PPRF_OPT_SLOTS_H
#define PPRF_OPT_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#include "../path.h"
#include "prg.h"

#include "../packed/entry.h"

struct opt_slots {
  struct opt_bitmap punctured;
  uint64_t nodes;         /* live nodes */
  struct pprf_seed *slot; /* 2^(depth - 1) of them: the start of the mapping */
  size_t mapped;          /* bytes of the mapping */
  size_t page;            /* bytes of a page */
  int locked;             /* whether the slots are kept out of swap */
  int shared;             /* whether the mapping is shared with forked processes */
  int held;               /* whether pages stay backed when they are no longer needed */
#ifndef __FRAMAC__
  uint64_t locker; /* of a shared mapping: the process (fork.h) that it is locked for */
#endif
};

/** A bitmap level smaller than this lies in the small block: a page of its own would cost more
 * than it holds. */
#define OPT_SMALL_LEVEL 4096

#ifdef __FRAMAC__
#include "slots.acsl"
#endif

/** The first leaf after a node. */
/*@ requires n.height <= 32 && n.start <= 0x100000000;
    assigns \nothing;
    ensures \result == n.start + pow2(n.height); */
static inline uint64_t opt_node_end(struct opt_node n)
{
  //@ ghost shl_lemma(1, n.height);
  //@ ghost leaves_lemma(n.height);
  return n.start + (UINT64_C(1) << n.height);
}

/** Load a node into a new store.  Nodes and gaps together must cover all leaves exactly once. */
/*@ requires opened: opened(s) && s->nodes < 0x100000000;
    requires node: \valid_read(e) && e->node.start < pow2(s->punctured.depth);
    assigns s->nodes, s->slot[e->node.start / 2];
    ensures seed: s->slot[\old(e->node.start) / 2].lo == \old(e->seed.lo) &&
      s->slot[\old(e->node.start) / 2].hi == \old(e->seed.hi);
    ensures others: same_but{Pre,Post}(s, \old(e->node.start) / 2);
    ensures nodes: s->nodes == \old(s->nodes) + 1;
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
void opt_slots_load_node(struct opt_slots *s, const struct opt_entry *e);

/** Load the root into a new store: a key with nothing punctured. */
/*@ requires opened: opened(s) && s->nodes == 0;
    requires seed: \valid_read(seed) && APART(seed, s);
    requires live: \forall integer x; !is_punctured(&s->punctured, x);
    requires zero: \forall integer j; 0 <= j < pow2(s->punctured.depth - 1) ==>
      zero_seed(s->slot[j]);
    assigns s->nodes, s->slot[0];
    ensures key: slots_key(seed_value(\old(*seed)), s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
void opt_slots_load_root(struct opt_slots *s, const struct pprf_seed *seed);

/** Load the punctured leaves first .. last into a new store; nothing if first > last. */
/*@ requires opened: opened(s) && (first <= last ==> last < pow2(s->punctured.depth));
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures leaves: \forall integer x;
      is_punctured(&s->punctured, x) <==> is_punctured{Pre}(&s->punctured, x) || first <= x <= last;
    ensures same: s->nodes == \old(s->nodes) && same_slots{Pre,Post}(s); */
void opt_slots_load_gap(struct opt_slots *s, uint64_t first, uint64_t last);

/** Find the live node that covers a leaf of the tree.
 * @retval 1 *node is set.
 * @retval 0 the leaf is punctured. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth);
    requires \valid(node) && APART(node, s);
    assigns *node;
    ensures results: \result == 0 || \result == 1;
    ensures live: \result == 1 <==> !is_punctured(&s->punctured, leaf);
    ensures node: \result == 1 ==>
      live(&s->punctured, 0, 0, s->punctured.depth, node->start, node->height) &&
      covers(node->start, node->height, leaf) && node->start == covering_start(leaf, node->height);
    ensures opened: opened(s);
    ensures held: slots_hold_key{Pre}(root, s) ==> slots_hold_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static inline int opt_slots_find(const struct opt_slots *s, uint64_t leaf, struct opt_node *node)
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost nodes_lemma(d, leaf);
  //@ ghost leaves_lemma(d);
  //@ assert apart: \forall integer j; 0 <= j < pow2(d - 1) ==> \separated(node, &s->slot[j]);
  int live = opt_bitmap_height(&s->punctured, leaf, &node->height);
  if (live)
    node->start = opt_start(leaf, node->height);
  //@ assert depth: s->punctured.depth == d;
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
  //@ assert words: same_words{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
  //@ assert slots: same_slots{Pre,Here}(s);
  //@ assert opened: opened(s);
  return live;
}

/** Hint that a leaf's node will be looked up and its seed read: fetches the slot of that seed if
 * the node is small.  Never touches a page. */
/*@ assigns \nothing; */
static inline void opt_slots_prefetch(const struct opt_slots *s, uint64_t leaf)
{
#ifndef __FRAMAC__
  __builtin_prefetch(&s->slot[leaf >> 1], 1);
#endif
}

/** Find the live node that covers a leaf, or else the next one in leaf order; leaf <= 2^depth.
 * @retval 1 *node is set.
 * @retval 0 all leaves >= leaf are punctured. */
/*@ requires opened: opened(s) && leaf <= pow2(s->punctured.depth);
    requires \valid(node) && APART(node, s);
    assigns *node;
    ensures results: \result == 0 || \result == 1;
    ensures node: \result == 1 ==>
      live(&s->punctured, 0, 0, s->punctured.depth, node->start, node->height) &&
      leaf < node->start + pow2(node->height);
    ensures next: \result == 1 ==> \forall integer x; leaf <= x < node->start ==>
      is_punctured(&s->punctured, x);
    ensures none: \result == 0 ==> \forall integer x; leaf <= x < pow2(s->punctured.depth) ==>
      is_punctured(&s->punctured, x);
    ensures opened: opened(s);
    ensures held: slots_hold_key{Pre}(root, s) ==> slots_hold_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
int opt_slots_next(const struct opt_slots *s, uint64_t leaf, struct opt_node *node);

/** The seed of a live node. */
/*@ requires held: slots_hold_key(root, s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height);
    assigns \nothing;
    ensures seed_value(\result) ==
      node_seed(root, s->punctured.depth, node.start, node.height); */
static inline struct pprf_seed opt_slots_seed(const struct opt_slots *s, struct opt_node node)
{
  //@ ghost path_lemma(s->punctured.depth);
  //@ ghost pow2_pos_lemma();
  return s->slot[node.start >> 1];
}

/** Puncture a leaf: replace the live node that covers it by its co-path.
 * @param[in] node   the live node that covers leaf.
 * @param[in] copath node.height seeds; copath[i] is that of the path's sibling of height i. */
/*@ requires key: slots_key(root, s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid_read(copath + (0 .. node.height - 1));
    requires apart: APART(copath + (0 .. node.height - 1), s);
    requires copath: copath_seeds(root, s->punctured.depth, leaf, copath, 0, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures key: slots_key(root, s);
    ensures leaves: \forall integer x;
      is_punctured(&s->punctured, x) <==> is_punctured{Pre}(&s->punctured, x) || x == leaf; */
void opt_slots_puncture(struct opt_slots *s, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath);

/** Puncture the leaves first .. last: replace the live nodes that overlap the range (at least one)
 * by the nodes that cover their leaves outside the range.
 * @param[in] left  lefts nodes left of the range, ascending.
 * @param[in] right rights nodes right of the range, descending. */
/*@ SLOTS_PUNCTURE_RANGE */
void opt_slots_puncture_range(struct opt_slots *s, uint64_t first, uint64_t last,
                              const struct opt_entry *left, unsigned lefts,
                              const struct opt_entry *right, unsigned rights);

/** Puncture n live leaves in ascending order: replace the nodes that cover them.
 * @param[in] rest  nodes that cover the other leaves of these nodes.
 * @param[in] count number of them. */
void opt_slots_puncture_set(struct opt_slots *s, const uint64_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count);

#endif

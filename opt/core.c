/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation and punctures: the descents from a live node, and the API functions that make them.
 * Branches and addresses depend on leaves only.
 *
 * All of it in twenty lines, with store.c's and bitmap.c's part:
 *
 *   node(x)      none if x is marked as punctured.  Else the height is the least of msb(x ^ l) over
 *                the nearest punctured leaf l on either side, the depth if there is none; the start
 *                is x with so many low bits zero.
 *   eval(x)      none if there is no node(x).  seed = slot[start >> 1]; for i = height - 1 down to
 *                0: seed = the right half of PRG(seed) if bit i of x is set, else the left half.
 *   punct(x)     as eval, keeping the other half of step i as copath[i].  If the PRG fails, nothing
 *                has changed.  Then for i = 0 .. height - 1: slot[start of the sibling of height i
 *                >> 1] = copath[i]; one of these is the node's own slot, and its seed is gone; at
 *                height 0 the slot is zeroed.  nodes += height - 1; x is marked.
 *   range(a, b)  the siblings left of the path to a and right of the path to b, below the nodes
 *                that cover these, are derived first; then the nodes that meet the range leave
 *                their slots, the range is marked, and the siblings are put in.
 *
 * A block of the tree whose leaves are all marked is marked as full, and its pages go back. */
#include "packed/core.h"
#include "walk.h"
#include "wp/core_steps.h"
#ifdef __FRAMAC__
#include "key.acsl"
#endif

/* Walk from a live node down to a leaf: derive the leaf's seed and, unless copath is NULL, the
 * seeds of the path's siblings by height.  On error neither output holds a seed. */
/*@ requires held: slots_hold_key(root, s);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid(value) && (copath == \null || \valid(copath + (0 .. node.height - 1)));
    requires \separated(value, copath + (0 .. node.height - 1));
    assigns *value, copath[0 .. WANTED(copath, node.height) - 1], expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures value: \result == PPRF_OK ==>
      seed_value(*value) == leaf_value(root, \old(s->punctured.depth), leaf);
    ensures copath: \result == PPRF_OK ==> copath != \null ==>
      copath_seeds(root, \old(s->punctured.depth), leaf, copath, 0, node.height);
    ensures error: \result != PPRF_OK ==> zero_seed(*value);
    ensures error_copath: \result != PPRF_OK ==> copath != \null ==>
      wiped_or_same{Pre,Post}(copath, node.height); */
static inline int descend(const struct opt_slots *s, struct pprf_family family,
                          struct opt_node node, uint64_t leaf, struct pprf_seed *copath,
                          struct pprf_seed *value)
{
  LEAF_BELOW_NODE
  struct pprf_seed seed = opt_slots_seed(s, node);
  return opt_walk(family, seed, node.start, node.height, leaf, copath, value) /*@ ghost (d) */;
}

/* The siblings that remain of a live node when a range ends in it (walk.h). */
/*@ requires held: slots_hold_key(root, s);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires side: right_side == 0 || right_side == 1;
    requires \valid(out + (0 .. node.height - 1));
    assigns out[0 .. node.height - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures count: \result.count <= node.height && (\result.err != PPRF_OK ==> \result.count == 0);
    ensures entries: entries(root, \old(s->punctured.depth), out, \result.count);
    ensures left: \result.err == PPRF_OK ==> right_side == 0 ==>
      lefts(out, \result.count, node.start, leaf);
    ensures right: \result.err == PPRF_OK ==> right_side != 0 ==>
      rights(out, \result.count, node.start + pow2(node.height), leaf);
    ensures error: \result.err != PPRF_OK ==> \forall integer i; 0 <= i < node.height ==>
      zero_seed(out[i].seed);
    ensures behind: wiped_or_kept{Pre,Post}(out, \result.count, node.height); */
static inline struct opt_kept siblings(const struct opt_slots *s, struct pprf_family family,
                                       struct opt_node node, uint64_t leaf, int right_side,
                                       struct opt_entry *out)
{
  LEAF_BELOW_NODE
  struct pprf_seed seed = opt_slots_seed(s, node);
  return opt_siblings(family, seed, node.start, node.height, leaf, right_side, out)
    /*@ ghost (d) */;
}

/* A function that writes memory besides the key of store s has KEY_BEFORE before the write and
 * KEY_KEPT after it.  The proof is the same each time, but no lemma can hold it: the size of the
 * cover is a recursive function of the bitmap, and that it is unchanged needs an induction over
 * two states of memory, for which ACSL has only loops.  The compiler sees nothing of them. */
#define KEY_BEFORE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */
#define KEY_KEPT                                                                                   \
  /*@ assert nodes: s->nodes == \at(s->nodes,Pre) && s->punctured.depth == d; */                   \
  /*@ assert slots: same_slots{Pre,Here}(s); */                                                    \
  /*@ assert shape: same_shape{Pre,Here}(&s->punctured); */                                        \
  /*@ assert each: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==> \
        same_word{Pre,Here}(&s->punctured, k, i); */                                               \
  /*@ assert summary: same_summary{Pre,Here}(&s->punctured); */                                    \
  /*@ assert leaves: same_leaf_words{Pre,Here}(&s->punctured); */ \
  /*@ assert words: same_words{Pre,Here}(&s->punctured); */                                        \
  /*@ assert layout: layout(&s->punctured); */                                                     \
  /*@ assert bitmap: bitmap(&s->punctured); */                                                     \
  /*@ assert opened: opened(s); */                                                                 \
  /*@ assert held: slots_hold_key(root, s); */                                            \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */                                                    \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */       \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0); */                          \
  /*@ ghost                                                                                        \
    /@ loop invariant 0 <= k <= d;                                                                 \
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k);                           \
       loop assigns k;                                                                             \
       loop variant d - k; @/                                                                      \
    for (unsigned k = 0; k < d; k++)                                                               \
      ; */

/* The same in the middle of a puncture, which leaves the key unchanged so far. */
/*@ requires key: slots_key(root, s);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires side: right_side == 0 || right_side == 1;
    requires \valid(out + (0 .. node.height - 1));
    requires apart: APART(out + (0 .. node.height - 1), s);
    assigns out[0 .. node.height - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures count: \result.count <= node.height && (\result.err != PPRF_OK ==> \result.count == 0);
    ensures entries: entries(root, \old(s->punctured.depth), out, \result.count);
    ensures left: \result.err == PPRF_OK ==> right_side == 0 ==>
      lefts(out, \result.count, node.start, leaf);
    ensures right: \result.err == PPRF_OK ==> right_side != 0 ==>
      rights(out, \result.count, node.start + pow2(node.height), leaf);
    ensures error: \result.err != PPRF_OK ==> \forall integer i; 0 <= i < node.height ==>
      zero_seed(out[i].seed);
    ensures behind: wiped_or_kept{Pre,Post}(out, \result.count, node.height);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline struct opt_kept range_siblings(const struct opt_slots *s, struct pprf_family family,
                                             struct opt_node node, uint64_t leaf, int right_side,
                                             struct opt_entry *out)
{
  KEY_BEFORE
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        \separated(out + (0 .. node.height - 1), &s->punctured.summary[k][i]); */
  struct opt_kept kept = siblings(s, family, node, leaf, right_side, out);
  KEY_KEPT
  return kept;
}

/* Wipe the nodes that remain on one side of a range; they are not part of the key. */
/*@ requires key: slots_key(root, s);
    requires \valid(e + (0 .. n - 1));
    requires apart: APART(e + (0 .. n - 1), s);
    assigns e[0 .. n - 1];
    ensures wiped: \forall integer i; 0 <= i < n ==> zero_seed(e[i].seed);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline void wipe_side(struct opt_entry *e, unsigned n)
  /*@ ghost (const struct opt_slots *s) */
{
  KEY_BEFORE
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        \separated(e + (0 .. n - 1), &s->punctured.summary[k][i]); */
  opt_wipe_entries(e, n);
  KEY_KEPT
}

/* Wipe those on both sides. */
/*@ requires key: slots_key(root, s);
    requires \valid(left + (0 .. lefts - 1)) && \valid(right + (0 .. rights - 1));
    requires \separated(left + (0 .. lefts - 1), right + (0 .. rights - 1));
    requires apart: APART(left + (0 .. lefts - 1), s) && APART(right + (0 .. rights - 1), s);
    assigns left[0 .. lefts - 1], right[0 .. rights - 1];
    ensures wiped_left: \forall integer i; 0 <= i < lefts ==> zero_seed(left[i].seed);
    ensures wiped_right: \forall integer i; 0 <= i < rights ==> zero_seed(right[i].seed);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline void wipe_rest(struct opt_entry *left, unsigned lefts, struct opt_entry *right,
                             unsigned rights)
  /*@ ghost (const struct opt_slots *s) */
{
  wipe_side(left, lefts) /*@ ghost (s) */;
  /*@ assert place: s->slot == \at(s->slot,Pre) &&
        s->punctured.depth == \at(s->punctured.depth,Pre); */
  wipe_side(right, rights) /*@ ghost (s) */;
  //@ assert words: same_words{Pre,Here}(&s->punctured);
  //@ assert slots: same_slots{Pre,Here}(s);
}

/* Derive the left siblings that remain of the first live node that a range overlaps. */
/*@ requires key: slots_key(root, s) && first < pow2(s->punctured.depth);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      first < node.start + pow2(node.height);
    requires next: \forall integer x; first <= x < node.start ==> is_punctured(&s->punctured, x);
    requires \valid(out + (0 .. PPRF_SLOTS_DEPTH_MAX - 1));
    requires apart: APART(out + (0 .. PPRF_SLOTS_DEPTH_MAX - 1), s);
    assigns out[0 .. PPRF_SLOTS_DEPTH_MAX - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + s->punctured.depth;
    ensures count: \result.count <= PPRF_SLOTS_DEPTH_MAX &&
      (\result.err != PPRF_OK ==> \result.count == 0);
    ensures entries: entries(root, \old(s->punctured.depth), out, \result.count);
    ensures lefts: \result.err == PPRF_OK ==>
      lefts_of(&s->punctured, out, \result.count, first);
    ensures behind: wiped_or_kept{Pre,Post}(out, \result.count, PPRF_SLOTS_DEPTH_MAX);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline struct opt_kept siblings_left_of_range(const struct opt_slots *s,
                                                     struct pprf_family family,
                                                     struct opt_node node, uint64_t first,
                                                     struct opt_entry *out)
{
  //@ assert depth: 1 <= s->punctured.depth <= 32;
  //@ ghost live_apart_lemma(&s->punctured, 0, 0, s->punctured.depth);
  if (node.start >= first)
    return (struct opt_kept){0, PPRF_OK};
  return range_siblings(s, family, node, first, 0, out);
}

/* Derive the right siblings that remain of the last such node. */
/*@ requires key: slots_key(root, s) && last < pow2(s->punctured.depth);
    requires family: tree_family(family);
    requires \valid(out + (0 .. PPRF_SLOTS_DEPTH_MAX - 1));
    requires apart: APART(out + (0 .. PPRF_SLOTS_DEPTH_MAX - 1), s);
    assigns out[0 .. PPRF_SLOTS_DEPTH_MAX - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + s->punctured.depth;
    ensures count: \result.count <= PPRF_SLOTS_DEPTH_MAX &&
      (\result.err != PPRF_OK ==> \result.count == 0);
    ensures entries: entries(root, \old(s->punctured.depth), out, \result.count);
    ensures rights: \result.err == PPRF_OK ==>
      rights_of(&s->punctured, out, \result.count, last);
    ensures behind: wiped_or_kept{Pre,Post}(out, \result.count, PPRF_SLOTS_DEPTH_MAX);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline struct opt_kept siblings_right_of_range(const struct opt_slots *s,
                                                      struct pprf_family family, uint64_t last,
                                                      struct opt_entry *out)
{
  struct opt_node node;
  //@ assert depth: 1 <= s->punctured.depth <= 32;
  //@ ghost live_apart_lemma(&s->punctured, 0, 0, s->punctured.depth);
  if (!opt_slots_find(s, last, &node))
    return (struct opt_kept){0, PPRF_OK};
  return range_siblings(s, family, node, last, 1, out);
}

/* Number of nodes that remain on each side of a range. */
struct rest {
  unsigned lefts, rights;
  int err; /* PPRF_OK or an error of the PRG */
};

/* Derive the nodes that remain on both sides; node is the first live node that the range
 * overlaps. */
/*@ requires key: slots_key(root, s) && first <= last < pow2(s->punctured.depth);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      first < node.start + pow2(node.height);
    requires next: \forall integer x; first <= x < node.start ==> is_punctured(&s->punctured, x);
    requires \valid(left + (0 .. PPRF_SLOTS_DEPTH_MAX - 1)) &&
      \valid(right + (0 .. PPRF_SLOTS_DEPTH_MAX - 1));
    requires \separated(left + (0 .. PPRF_SLOTS_DEPTH_MAX - 1),
      right + (0 .. PPRF_SLOTS_DEPTH_MAX - 1));
    requires apart: APART(left + (0 .. PPRF_SLOTS_DEPTH_MAX - 1), s) &&
      APART(right + (0 .. PPRF_SLOTS_DEPTH_MAX - 1), s);
    assigns left[0 .. PPRF_SLOTS_DEPTH_MAX - 1], right[0 .. PPRF_SLOTS_DEPTH_MAX - 1], expansions;
    ensures results: \result.err == PPRF_OK || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + 2 * s->punctured.depth;
    ensures counts: \result.lefts <= PPRF_SLOTS_DEPTH_MAX && \result.rights <= PPRF_SLOTS_DEPTH_MAX;
    ensures left: entries(root, \old(s->punctured.depth), left, \result.lefts);
    ensures right: entries(root, \old(s->punctured.depth), right, \result.rights);
    ensures lefts: \result.err == PPRF_OK ==>
      lefts_of(&s->punctured, left, \result.lefts, first);
    ensures rights: \result.err == PPRF_OK ==>
      rights_of(&s->punctured, right, \result.rights, last);
    ensures behind: wiped_or_kept{Pre,Post}(left, \result.lefts, PPRF_SLOTS_DEPTH_MAX) &&
      wiped_or_kept{Pre,Post}(right, \result.rights, PPRF_SLOTS_DEPTH_MAX);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline struct rest siblings_beside_range(const struct opt_slots *s,
                                                struct pprf_family family, struct opt_node node,
                                                uint64_t first, uint64_t last,
                                                struct opt_entry *left, struct opt_entry *right)
{
  const struct opt_kept lefts = siblings_left_of_range(s, family, node, first, left);
  RIGHT_KEPT_BY_LEFTS
  if (lefts.err != PPRF_OK)
    return (struct rest){lefts.count, 0, lefts.err};
  //@ ghost Left: ;
  const struct opt_kept rights = siblings_right_of_range(s, family, last, right);
  LEFTS_KEPT_BY_RIGHTS
  return (struct rest){lefts.count, rights.count, rights.err};
}

/* Puncture a range that overlaps a live node, the first of them node; left and right are buffers
 * for the remaining nodes. */
/*@ requires key: slots_key(root, s) && first <= last < pow2(s->punctured.depth);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      first < node.start + pow2(node.height) && node.start <= last;
    requires next: \forall integer x; first <= x < node.start ==> is_punctured(&s->punctured, x);
    requires \valid(left + (0 .. PPRF_SLOTS_DEPTH_MAX - 1)) &&
      \valid(right + (0 .. PPRF_SLOTS_DEPTH_MAX - 1));
    requires \separated(left + (0 .. PPRF_SLOTS_DEPTH_MAX - 1),
      right + (0 .. PPRF_SLOTS_DEPTH_MAX - 1));
    requires apart: APART(left + (0 .. PPRF_SLOTS_DEPTH_MAX - 1), s) &&
      APART(right + (0 .. PPRF_SLOTS_DEPTH_MAX - 1), s);
    assigns left[0 .. PPRF_SLOTS_DEPTH_MAX - 1], right[0 .. PPRF_SLOTS_DEPTH_MAX - 1], s->nodes,
      s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured), expansions;
    ensures key: slots_key(root, s);
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + 2 * s->punctured.depth;
    ensures leaves: \result == PPRF_OK ==> \forall integer x; is_punctured(&s->punctured, x) <==>
      is_punctured{Pre}(&s->punctured, x) || first <= x <= last;
    ensures error_words: \result != PPRF_OK ==> same_words{Pre,Post}(&s->punctured);
    ensures error_slots: \result != PPRF_OK ==> same_slots{Pre,Post}(s);
    ensures error_nodes: \result != PPRF_OK ==> s->nodes == \old(s->nodes); */
static inline int punct_from(struct opt_slots *s, struct pprf_family family, struct opt_node node,
                             uint64_t first, uint64_t last, struct opt_entry *left,
                             struct opt_entry *right)
{
  //@ ghost uint64_t live_leaf = either_lemma(node.start > first, node.start, first);
  //@ assert live: first <= live_leaf <= last && !is_punctured(&s->punctured, live_leaf);
  const struct rest rest = siblings_beside_range(s, family, node, first, last, left, right);
  //@ assert some: !is_punctured(&s->punctured, live_leaf);
  if (rest.err == PPRF_OK)
    opt_slots_puncture_range(s, first, last, left, rest.lefts, right, rest.rights);
  KEY_AFTER_PUNCTURE
  wipe_rest(left, rest.lefts, right, rest.rights) /*@ ghost (s) */;
  KEY_KEPT_BY_WIPING
  return rest.err;
}

/* Puncture a range of leaves that lies in the tree. */
/*@ requires key: slots_key(root, s) && first <= last < pow2(s->punctured.depth);
    requires family: tree_family(family);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured),
      expansions;
    ensures key: slots_key(root, s);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      \forall integer x; first <= x <= last ==> is_punctured{Pre}(&s->punctured, x);
    ensures cost: expansions <= \old(expansions) + 2 * s->punctured.depth;
    ensures free: \result == PPRF_ERR_PUNCTURED ==> expansions <= \old(expansions);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures leaves: \result == PPRF_OK ==> \forall integer x; is_punctured(&s->punctured, x) <==>
      is_punctured{Pre}(&s->punctured, x) || first <= x <= last;
    ensures error: \result != PPRF_OK ==> same_words{Pre,Post}(&s->punctured) &&
      same_slots{Pre,Post}(s) && s->nodes == \old(s->nodes); */
static PPRF_WORK int punct_range(struct opt_slots *s, struct pprf_family family, uint64_t first,
                                 uint64_t last)
{
  struct opt_entry left[PPRF_SLOTS_DEPTH_MAX], right[PPRF_SLOTS_DEPTH_MAX];
  struct opt_node node;
  int more = opt_slots_next(s, first, &node);
  //@ assert key: slots_key(root, s);
  if (!more || node.start > last)
    return PPRF_ERR_PUNCTURED;
  //@ ghost uint64_t live_leaf = either_lemma(node.start > first, node.start, first);
  //@ assert live: first <= live_leaf <= last && !is_punctured(&s->punctured, live_leaf);
  return punct_from(s, family, node, first, last, left, right);
}

/* Evaluate at a leaf that the live node covers. */
/*@ requires key: slots_key(root, s);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires out: \valid(out + (0 .. 15)) && APART(out + (0 .. 15), s);
    assigns out[0 .. 15], expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures value: \result == PPRF_OK ==> \exists integer lo, hi; seed_bytes(out, lo, hi) &&
      seed_from_words(lo, hi) == leaf_value(root, s->punctured.depth, leaf);
    ensures error: \result != PPRF_OK ==> seed_bytes(out, 0, 0); */
static PPRF_WORK int eval(const struct opt_slots *s, struct pprf_family family,
                          struct opt_node node, uint64_t leaf, uint8_t *out)
{
  struct pprf_seed value;
  int err = descend(s, family, node, leaf, NULL, &value);
  store_seed(out, value);
  wipe_seed(&value);
  //@ assert wiped: zero_seed(value);
  return err;
}

/* Walk down for a puncture, which leaves the key unchanged so far. */
/*@ requires key: slots_key(root, s);
    requires family: tree_family(family);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid(value) && \valid(copath + (0 .. node.height - 1));
    requires \separated(value, copath + (0 .. node.height - 1));
    requires apart: APART(copath + (0 .. node.height - 1), s) && APART(value, s);
    assigns *value, copath[0 .. node.height - 1], expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures value: \result == PPRF_OK ==>
      seed_value(*value) == leaf_value(root, s->punctured.depth, leaf);
    ensures copath: \result == PPRF_OK ==>
      copath_seeds(root, s->punctured.depth, leaf, copath, 0, node.height);
    ensures error: \result != PPRF_OK ==> zero_seed(*value) &&
      wiped_or_same{Pre,Post}(copath, node.height);
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline int derive_copath(const struct opt_slots *s, struct pprf_family family,
                                struct opt_node node, uint64_t leaf, struct pprf_seed *copath,
                                struct pprf_seed *value)
{
  KEY_BEFORE
  COPATH_APART_FROM_BITMAP
  int err = descend(s, family, node, leaf, copath, value);
  KEY_KEPT
  return err;
}

/* Wipe a co-path, which is not part of the key. */
/*@ requires key: slots_key(root, s);
    requires \valid(copath + (0 .. n - 1));
    requires apart: APART(copath + (0 .. n - 1), s);
    assigns copath[0 .. n - 1];
    ensures wiped: \forall integer i; 0 <= i < n ==> zero_seed(copath[i]);
    ensures key: slots_key(root, s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static inline void wipe_copath(struct pprf_seed *copath, unsigned n)
  /*@ ghost (const struct opt_slots *s) */
{
  KEY_BEFORE
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        \separated(copath + (0 .. n - 1), &s->punctured.summary[k][i]); */
  wipe(copath, n);
  KEY_KEPT
}

/* Result of a puncture, and whether seeds were read, so that the stack has to be wiped. */
struct done {
  int err, seeds;
};

/* opt_slots_find, with the proof that no other node covers the leaf. */
/*@ requires key: slots_key(root, s) && leaf < pow2(s->punctured.depth);
    requires \valid(node) && APART(node, s);
    assigns *node;
    ensures results: \result == 0 || \result == 1;
    ensures live: \result == 1 <==> !is_punctured(&s->punctured, leaf);
    ensures node: \result == 1 ==>
      live(&s->punctured, 0, 0, s->punctured.depth, node->start, node->height) &&
      covers(node->start, node->height, leaf) && node->start == covering_start(leaf, node->height);
    ensures only: \result == 1 ==> \forall integer t, h; LIVE_BEFORE(&s->punctured, t, h, leaf) ==>
      h == node->height;
    ensures key: slots_key(root, s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static inline int find_node(const struct opt_slots *s, uint64_t leaf, struct opt_node *node)
{
  KEY_BEFORE
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        \separated(node, &s->punctured.summary[k][i]); */
  //@ ghost live_apart_lemma(&s->punctured, 0, 0, d);
  int live = opt_slots_find(s, leaf, node);
  KEY_KEPT
  /*@ assert node: live == 1 ==> LIVE_BEFORE(&s->punctured, node->start, node->height, leaf); */
  return live;
}

/* Puncture, and write the leaf's value to out if that is not NULL. */
/*@ requires key: slots_key(root, s);
    requires family: tree_family(family);
    requires out: out == \null || \valid(out + (0 .. 15));
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured),
      out[0 .. WANTED(out, 16) - 1], expansions;
    ensures key: slots_key(root, s);
    ensures range: \result.err == PPRF_ERR_RANGE <==> leaf >= pow2(s->punctured.depth);
    ensures punctured: \result.err == PPRF_ERR_PUNCTURED <==>
      leaf < pow2(s->punctured.depth) && is_punctured{Pre}(&s->punctured, leaf);
    ensures others: \result.err == PPRF_OK || \result.err == PPRF_ERR_RANGE ||
      \result.err == PPRF_ERR_PUNCTURED || prg_error(\result.err);
    ensures cost: \forall integer t, h; LIVE_BEFORE(&s->punctured, t, h, leaf) ==>
      expansions <= \old(expansions) + h;
    ensures bound: expansions <= \old(expansions) + s->punctured.depth;
    ensures free: \result.err == PPRF_ERR_RANGE || \result.err == PPRF_ERR_PUNCTURED ==>
      expansions <= \old(expansions);
    ensures leaves: \result.err == PPRF_OK ==>
      \forall integer x; is_punctured(&s->punctured, x) <==>
      is_punctured{Pre}(&s->punctured, x) || x == leaf;
    ensures value: \result.err == PPRF_OK ==> out != \null ==> \exists integer lo, hi;
      seed_bytes(out, lo, hi) &&
      seed_from_words(lo, hi) == leaf_value(root, s->punctured.depth, leaf);
    ensures error: \result.err != PPRF_OK ==> same_words{Pre,Post}(&s->punctured) &&
      same_slots{Pre,Post}(s) && s->nodes == \old(s->nodes);
    ensures error_out: \result.err != PPRF_OK ==> out != \null ==>
      \forall integer k; 0 <= k < 16 ==> out[k] == \old(out[k]); */
static PPRF_WORK struct done punct(struct opt_slots *s, struct pprf_family family, uint64_t leaf,
                                   uint8_t *out)
{
  struct pprf_seed copath[PPRF_SLOTS_DEPTH_MAX], value;
  struct opt_node node;
  if (!opt_in_tree(leaf, s->punctured.depth))
    return (struct done){PPRF_ERR_RANGE, 0};
  opt_slots_prefetch(s, leaf);
  if (!find_node(s, leaf, &node))
    return (struct done){PPRF_ERR_PUNCTURED, 0};
  /* half of all punctures in random order: in slots this reads no seed */
  if (node.height == 0 && out == NULL) {
    opt_slots_puncture(s, leaf, node, NULL);
    return (struct done){PPRF_OK, 0};
  }
  //@ ghost Begun: ;
  int err = derive_copath(s, family, node, leaf, copath, &value);
  if (err == PPRF_OK) {
    opt_slots_puncture(s, leaf, node, copath);
    if (out != NULL)
      store_seed(out, value);
    wipe_copath(copath, node.height) /*@ ghost (s) */;
  }
  wipe_seed(&value);
  //@ assert wiped: zero_seed(value) && wiped_or_same{Begun,Here}(&copath[0], node.height);
  return (struct done){err, 1};
}

/* ---- the functions of the API for a key with either store ---- */

/*@ requires key: key(root, key) && !packed(key);
    KEY_EVAL */
static int eval_slots(const pprf_key *key, uint64_t leaf, uint8_t *out)
{
  const struct opt_slots *s = &key->store.slots;
  struct opt_node node;
  store_seed(out, (struct pprf_seed){0, 0});
  if (!opt_in_tree(leaf, depth_of(key)))
    return PPRF_ERR_RANGE;
  //@ ghost live_apart_lemma(&s->punctured, 0, 0, s->punctured.depth);
  if (!opt_slots_find(s, leaf, &node))
    return PPRF_ERR_PUNCTURED;
  //@ assert node: LIVE_BEFORE(&key->store.slots.punctured, node.start, node.height, leaf);
  /*@ assert only: \forall integer t, h; LIVE_BEFORE(&key->store.slots.punctured, t, h, leaf) ==>
        h == node.height; */
  int err = eval(s, key->family, node, leaf, out);
  prg_wipe(prg_wipe_plan(EVAL_STACK));
  return err;
}

/*@ requires key: key(root, key) && packed(key);
    KEY_EVAL */
static NOINLINE int eval_packed(const pprf_key *key, uint64_t leaf, uint8_t *out)
{
  int err = opt_packed_eval(key->store.packed, key->family, leaf, out);
  prg_wipe(prg_wipe_plan(EVAL_STACK));
  return err;
}

/*@ requires key: key(root, key) && !packed(key);
    KEY_PUNCT */
static int punct_slots(pprf_key *key, uint64_t leaf, uint8_t *out)
{
  if (out != NULL)
    store_seed(out, (struct pprf_seed){0, 0});
  const struct done done = punct(&key->store.slots, key->family, leaf, out);
  KEY_IN_SLOTS
  if (done.seeds)
    prg_wipe(prg_wipe_plan(PUNCT_STACK));
  return done.err;
}

/*@ requires key: key(root, key) && packed(key);
    KEY_PUNCT */
static NOINLINE int punct_packed(pprf_key *key, uint64_t leaf, uint8_t *out)
{
  struct opt_packed *p = key->store.packed;
  unsigned stack = PUNCT_STACK;
  int err;
  if (depth_of(key) <= PPRF_SLOTS_DEPTH_MAX) {
    err = opt_packed_punct(p, key->family, leaf, out);
  } else {
    err = opt_packed_punct_deep(p, key->family, leaf, out);
    stack += DEEP_STACK;
  }
  KEY_IN_PACKED
  if (err != PPRF_ERR_RANGE && err != PPRF_ERR_PUNCTURED)
    prg_wipe(prg_wipe_plan(stack));
  return err;
}

/*@ requires key: key(root, key) && !packed(key);
    KEY_PUNCT_RANGE */
static int punct_range_slots(pprf_key *key, uint64_t first, uint64_t last)
{
  int err = punct_range(&key->store.slots, key->family, first, last);
  KEY_IN_SLOTS
  prg_wipe(prg_wipe_plan(RANGE_STACK));
  return err;
}

/*@ requires key: key(root, key) && packed(key);
    KEY_PUNCT_RANGE */
static NOINLINE int punct_range_packed(pprf_key *key, uint64_t first, uint64_t last)
{
  struct opt_packed *p = key->store.packed;
  unsigned stack = RANGE_STACK;
  int err;
  if (depth_of(key) <= PPRF_SLOTS_DEPTH_MAX) {
    err = opt_packed_punct_range(p, key->family, first, last);
  } else {
    err = opt_packed_punct_range_deep(p, key->family, first, last);
    stack += 2 * DEEP_STACK;
  }
  KEY_IN_PACKED
  prg_wipe(prg_wipe_plan(stack));
  return err;
}

/* ---- the API ---- */

/*@ requires key: usable(root, key);
    requires family: key == \null || copied(key) || tree_family(key->family);
    requires out: out == \null || \valid(out + (0 .. 15));
    requires apart: key == \null || out == \null || (\separated(out + (0 .. 15), key) &&
      (copied(key) || value_outside(key, out)));
    assigns out[0 .. 15], expansions;
    ensures null: \result == PPRF_ERR_NULL <==> key == \null || out == \null;
    ensures forked: \result == PPRF_ERR_FORKED <==>
      key != \null && out != \null && copied{Pre}(key);
    ensures range: \result == PPRF_ERR_RANGE <==>
      CALLED(key) && out != \null && leaf >= pow2(depth(key));
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      CALLED(key) && out != \null && leaf < pow2(depth(key)) && punctured{Pre}(key, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures cost: CALLED(key) ==> expansions <= \old(expansions) + depth(key);
    ensures cost_slots: CALLED(key) ==> !packed{Pre}(key) ==>
      \forall integer s, h; LIVE_BEFORE(&key->store.slots.punctured, s, h, leaf) ==>
      expansions <= \old(expansions) + h;
    ensures free: \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ==> expansions <= \old(expansions);
    ensures value: \result == PPRF_OK ==> \exists integer lo, hi; seed_bytes(out, lo, hi) &&
      seed_from_words(lo, hi) == leaf_value(root, depth(key), leaf);
    ensures error: \result != PPRF_OK ==> out != \null ==> seed_bytes(out, 0, 0);
    ensures key: CALLED(key) ==> key(root, key) && same_head{Pre,Post}(key);
    ensures same: CALLED(key) ==> same_punctured{Pre,Post}(key) &&
      nodes(key) == \old(nodes(key)); */
int pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  PPRF_IF_WIDE(key, return opt_wide_key_eval(wide, leaf, PPRF_LONGER(out));)
  if (out == NULL)
    return PPRF_ERR_NULL;
  if (key == NULL || pprf_is_copy(key->maker)) {
    store_seed(out, (struct pprf_seed){0, 0});
    return key == NULL ? PPRF_ERR_NULL : PPRF_ERR_FORKED;
  }
  return key->store.packed != NULL ? eval_packed(key, leaf, out) : eval_slots(key, leaf, out);
}

/*@ requires key: usable(root, key);
    requires family: key == \null || copied(key) || tree_family(key->family);
    assigns KEY_SLOTS(key);
    assigns KEY_PACKED(key) \from KEY_PACKED(key);
    assigns expansions;
    ensures null: \result == PPRF_ERR_NULL <==> key == \null;
    ensures forked: \result == PPRF_ERR_FORKED <==> key != \null && copied{Pre}(key);
    ensures key: CALLED(key) ==> key(root, key) && same_head{Pre,Post}(key);
    ensures range: \result == PPRF_ERR_RANGE <==> CALLED(key) && leaf >= pow2(depth(key));
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      CALLED(key) && leaf < pow2(depth(key)) && punctured{Pre}(key, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result) ||
      (key != \null && no_memory{Pre}(key, \result));
    ensures cost: CALLED(key) ==> expansions <= \old(expansions) + depth(key);
    ensures cost_slots: CALLED(key) ==> !packed{Pre}(key) ==>
      \forall integer s, h; LIVE_BEFORE(&key->store.slots.punctured, s, h, leaf) ==>
      expansions <= \old(expansions) + h;
    ensures free: \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ==> expansions <= \old(expansions);
    ensures leaves: \result == PPRF_OK ==>
      \forall integer x; punctured(key, x) <==> punctured{Pre}(key, x) || x == leaf;
    ensures error: \result != PPRF_OK ==> CALLED(key) ==>
      same_punctured{Pre,Post}(key) && nodes(key) == \old(nodes(key));
    ensures error_slots: \result != PPRF_OK ==> key != \null ==> !packed{Pre}(key) ==>
      same_store{Pre,Post}(&key->store.slots); */
int pprf_punct(pprf_key *key, uint64_t leaf)
{
  PPRF_IF_WIDE(key, return opt_wide_key_punct(wide, leaf);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  int err =
    key->store.packed != NULL ? punct_packed(key, leaf, NULL) : punct_slots(key, leaf, NULL);
  return err;
}

/*@ requires key: usable(root, key);
    requires family: key == \null || copied(key) || tree_family(key->family);
    requires out: out == \null || \valid(out + (0 .. 15));
    requires apart: key == \null || out == \null || (\separated(out + (0 .. 15), key) &&
      (copied(key) || value_outside(key, out)));
    assigns KEY_SLOTS(key);
    assigns KEY_PACKED(key) \from KEY_PACKED(key);
    assigns out[0 .. 15], expansions;
    ensures null: \result == PPRF_ERR_NULL <==> key == \null || out == \null;
    ensures forked: \result == PPRF_ERR_FORKED <==>
      key != \null && out != \null && copied{Pre}(key);
    ensures key: CALLED(key) ==> key(root, key) && same_head{Pre,Post}(key);
    ensures range: \result == PPRF_ERR_RANGE <==>
      CALLED(key) && out != \null && leaf >= pow2(depth(key));
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      CALLED(key) && out != \null && leaf < pow2(depth(key)) && punctured{Pre}(key, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result) ||
      (key != \null && no_memory{Pre}(key, \result));
    ensures cost: CALLED(key) ==> expansions <= \old(expansions) + depth(key);
    ensures cost_slots: CALLED(key) ==> !packed{Pre}(key) ==>
      \forall integer s, h; LIVE_BEFORE(&key->store.slots.punctured, s, h, leaf) ==>
      expansions <= \old(expansions) + h;
    ensures free: \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ==> expansions <= \old(expansions);
    ensures leaves: \result == PPRF_OK ==>
      \forall integer x; punctured(key, x) <==> punctured{Pre}(key, x) || x == leaf;
    ensures error: \result != PPRF_OK ==> CALLED(key) ==>
      same_punctured{Pre,Post}(key) && nodes(key) == \old(nodes(key));
    ensures error_slots: \result != PPRF_OK ==> key != \null ==> !packed{Pre}(key) ==>
      same_store{Pre,Post}(&key->store.slots);
    ensures value: \result == PPRF_OK ==> \exists integer lo, hi; seed_bytes(out, lo, hi) &&
      seed_from_words(lo, hi) == leaf_value(root, depth(key), leaf);
    ensures error_out: \result != PPRF_OK ==> out != \null ==> seed_bytes(out, 0, 0); */
int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  PPRF_IF_WIDE(key, return opt_wide_key_eval_punct(wide, leaf, PPRF_LONGER(out));)
  if (out == NULL)
    return PPRF_ERR_NULL;
  if (key == NULL || pprf_is_copy(key->maker)) {
    store_seed(out, (struct pprf_seed){0, 0});
    return key == NULL ? PPRF_ERR_NULL : PPRF_ERR_FORKED;
  }
  int err = key->store.packed != NULL ? punct_packed(key, leaf, out) : punct_slots(key, leaf, out);
  return err;
}

/*@ requires key: usable(root, key);
    requires family: key == \null || copied(key) || tree_family(key->family);
    assigns KEY_SLOTS(key);
    assigns KEY_PACKED(key) \from KEY_PACKED(key);
    assigns expansions;
    ensures null: \result == PPRF_ERR_NULL <==> key == \null;
    ensures forked: \result == PPRF_ERR_FORKED <==> key != \null && copied{Pre}(key);
    ensures key: CALLED(key) ==> key(root, key) && same_head{Pre,Post}(key);
    ensures range: \result == PPRF_ERR_RANGE <==>
      CALLED(key) && (first > last || last >= pow2(depth(key)));
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      CALLED(key) && first <= last < pow2(depth(key)) && \forall integer x; first <= x <= last ==>
      punctured{Pre}(key, x);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result) ||
      (key != \null && no_memory{Pre}(key, \result));
    ensures cost: CALLED(key) ==> expansions <= \old(expansions) + 2 * depth(key);
    ensures free: \result == PPRF_ERR_NULL || \result == PPRF_ERR_FORKED ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ==> expansions <= \old(expansions);
    ensures leaves: \result == PPRF_OK ==>
      \forall integer x; punctured(key, x) <==> punctured{Pre}(key, x) || first <= x <= last;
    ensures error: \result != PPRF_OK ==> CALLED(key) ==>
      same_punctured{Pre,Post}(key) && nodes(key) == \old(nodes(key));
    ensures error_slots: \result != PPRF_OK ==> key != \null ==> !packed{Pre}(key) ==>
      same_store{Pre,Post}(&key->store.slots); */
int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  PPRF_IF_WIDE(key, return opt_wide_key_punct_range(wide, first, last);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  if (first > last || !opt_in_tree(last, depth_of(key)))
    return PPRF_ERR_RANGE;
  int err = key->store.packed != NULL ? punct_range_packed(key, first, last)
                                      : punct_range_slots(key, first, last);
  return err;
}

/*@ requires key: CALLED(key) && key(root, key) && tree_family(key->family);
    requires range: first <= last < pow2(depth(key));
    assigns KEY_SLOTS(key);
    assigns KEY_PACKED(key) \from KEY_PACKED(key);
    assigns expansions;
    ensures results: \result == PPRF_OK || prg_error(\result) || no_memory{Pre}(key, \result);
    ensures key: key(root, key) && same_head{Pre,Post}(key);
    ensures cost: expansions <= \old(expansions) + 4 * depth(key);
    ensures leaves: \result == PPRF_OK ==> \forall integer x; 0 <= x < pow2(depth(key)) ==>
      (punctured(key, x) <==> punctured{Pre}(key, x) || x < first || last < x); */
int opt_puncture_outside(pprf_key *key, uint64_t first, uint64_t last)
{
  const uint64_t end = opt_bit(depth_of(key)) - 1;
  int err = first > 0 ? pprf_punct_range(key, 0, first - 1) : PPRF_OK;
  /*@ assert places: key->store.slots.slot == \at(key->store.slots.slot,Pre) &&
        key->store.slots.punctured.leaves == \at(key->store.slots.punctured.leaves,Pre) &&
        \forall integer k; 1 <= k <= 5 ==> key->store.slots.punctured.summary[k] ==
        \at(key->store.slots.punctured.summary[k],Pre); */
  if ((err == PPRF_OK || err == PPRF_ERR_PUNCTURED) && last < end)
    err = pprf_punct_range(key, last + 1, end);
  return err == PPRF_ERR_PUNCTURED ? PPRF_OK : err;
}

/*@ requires key: usable(root, key);
    assigns \nothing;
    ensures none: key == \null || copied{Pre}(key) ==> \result == 0;
    ensures count: CALLED(key) ==> \result == nodes(key);
    ensures count_slots: CALLED(key) ==> !packed(key) ==> \result ==
      cover_size(&key->store.slots.punctured, 0, 0, 0, depth(key)); */
size_t pprf_node_count(const pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_node_count(wide);)
  if (key == NULL || pprf_is_copy(key->maker))
    return 0;
  return (size_t)(key->store.packed != NULL ? key->store.packed->nodes : key->store.slots.nodes);
}

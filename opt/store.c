/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include "pages.h"

/* Blocks of 64^2 = 4096 leaves have 32 kB of slots, blocks of 64^3 leaves 32 kB of `dead`: these
 * go back to the system when the block is full. */
#define SLOTS_LEVEL 2
#define DEAD_LEVEL 3

int opt_store_next(const struct opt_store *s, uint64_t leaf, struct opt_node *node)
  /*@ ghost (struct pprf_seed R) */
{
  leaf = opt_bitmap_next_live(&s->punctured, leaf);
  //@ assert depth: 1 <= s->punctured.depth <= 32;
  if (!opt_in_tree(leaf, s->punctured.depth))
    return 0;
  return opt_store_find(s, leaf, node) /*@ ghost (R) */;
}

/*@ requires opened(s) && j < pow2(s->punctured.depth - 1);
    assigns s->slot[j];
    ensures value: s->slot[j].lo == seed.lo && s->slot[j].hi == seed.hi;
    ensures others: same_but{Pre,Post}(s, j);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline void put_slot(struct opt_store *s, uint64_t j, struct pprf_seed seed)
{
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==>
        0 <= i < words(s->punctured.depth, k) ==>
        \separated(&s->slot[j], &s->punctured.summary[k][i]); */
  /*@ assert apart_dead: \forall integer i; 0 <= i < words(s->punctured.depth, 0) ==>
        \separated(&s->slot[j], &s->punctured.dead[i]); */
  s->slot[j] = seed;
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
  /*@ assert summary: \forall integer k, i; 1 <= k < s->punctured.levels ==>
        0 <= i < words(s->punctured.depth, k) ==> same_word{Pre,Here}(&s->punctured, k, i); */
  /*@ assert dead: \forall integer i; 0 <= i < words(s->punctured.depth, 0) ==>
        same_word{Pre,Here}(&s->punctured, 0, i); */
  //@ assert words: same_words{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
}

/* s->nodes = nodes */
/*@ requires opened: opened(s);
    assigns s->nodes;
    ensures value: s->nodes == nodes;
    ensures opened: opened(s);
    ensures words: same_words{Pre,Post}(&s->punctured);
    ensures slots: same_slots{Pre,Post}(s); */
static inline void put_nodes(struct opt_store *s, uint64_t nodes)
{
  s->nodes = nodes;
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
  //@ assert words: same_words{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
}

/* Put the seed of a path's sibling into its slot. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth) && i < s->punctured.depth;
    requires stored: copath_stored(sd(R), s->punctured.depth, leaf, s->slot, i);
    requires seed: sd(seed) == ns(sd(R), s->punctured.depth, beside(leaf, i), i);
    assigns s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures stored: copath_stored(sd(R), s->punctured.depth, leaf, s->slot, i + 1);
    ensures others: same_but{Pre,Post}(s, beside(leaf, i) / 2);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline void put_beside(struct opt_store *s, uint64_t leaf, unsigned i, struct pprf_seed seed)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost copath_slots_lf(d, leaf);
  //@ ghost leaves_lf(d);
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  uint64_t j = opt_sibling_start(leaf, i) >> 1;
  //@ assert pair: j == beside(leaf, i) / 2 && j < pow2(d - 1);
  /*@ assert fresh: \forall integer k; 0 <= k < i ==>
        beside(leaf, k) / 2 != j && 0 <= beside(leaf, k) / 2 < pow2(d - 1); */
  put_slot(s, j, seed);
  //@ assert value: sd(s->slot[j]) == ns(sd(R), d, beside(leaf, i), i);
  /*@ assert before: \forall integer k; 0 <= k < i ==>
        same_slot{Pre,Here}(s, beside(leaf, k) / 2); */
}

/* Replace the seed of a node around a leaf by those of the siblings beside the path to the leaf.
 * One of these starts in the node's pair and overwrites its seed, unless the node is the leaf
 * itself. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth) && height <= s->punctured.depth;
    requires nodes: 1 <= s->nodes <= 0x100000000;
    requires \valid_read(copath + (0 .. height - 1));
    requires apart: APART(copath + (0 .. height - 1), s);
    requires copath: copath_seeds(sd(R), s->punctured.depth, leaf, copath, 0, height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures nodes: s->nodes == \old(s->nodes) + height - 1;
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures copath: copath_stored(sd(R), s->punctured.depth, leaf, s->slot, height);
    ensures leaf: height == 0 ==> zero_seed(s->slot[leaf / 2]);
    ensures others: height > 0 ==> other_slots{Pre,Post}(s, leaf, height);
    ensures other: height == 0 ==> same_but{Pre,Post}(s, leaf / 2); */
static void put_copath(struct opt_store *s, uint64_t leaf, unsigned height,
                       const struct pprf_seed *copath) /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost leaves_lf(d);
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  put_nodes(s, s->nodes + height - 1);
  //@ assert copath: copath_seeds(sd(R), d, leaf, copath, 0, height);
  if (height == 0)
    put_slot(s, leaf >> 1, (struct pprf_seed){0, 0});
  /*@ loop invariant 0 <= i <= height;
      loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant nodes: s->nodes == \at(s->nodes,Pre) + height - 1;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant copath: copath_seeds(sd(R), d, leaf, copath, 0, height);
      loop invariant done: copath_stored(sd(R), d, leaf, s->slot, i);
      loop invariant leaf: height == 0 ==> zero_seed(s->slot[leaf / 2]);
      loop invariant others: height > 0 ==> other_slots{Pre,Here}(s, leaf, i);
      loop invariant other: height == 0 ==> same_but{Pre,Here}(s, leaf / 2);
      loop assigns i, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant height - i; */
  for (unsigned i = 0; i < height; i++) {
    //@ assert apart: \separated(copath + (0 .. height - 1), SLOTS(s));
    //@ ghost Before: ;
    put_beside(s, leaf, i, copath[i]) /*@ ghost (R) */;
    //@ assert same: same_seeds{Before,Here}(copath, height);
    //@ assert others: height > 0 ==> other_slots{Pre,Here}(s, leaf, i + 1);
  }
}

/* The same, for the key: a node gives way to its co-path, as if the leaf were punctured already. */
/*@ requires key: key(sd(R), s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid_read(copath + (0 .. node.height - 1));
    requires apart: APART(copath + (0 .. node.height - 1), s);
    requires copath: copath_seeds(sd(R), s->punctured.depth, leaf, copath, 0, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, leaf, leaf + 1);
    ensures nodes: s->nodes ==
      cover_size{Pre}(&s->punctured, leaf, leaf + 1, 0, s->punctured.depth); */
static void replace_node(struct opt_store *s, uint64_t leaf, struct opt_node node,
                         const struct pprf_seed *copath) /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost puncture_lf(&s->punctured, d, node.start, node.height, leaf);
  //@ ghost puncture_size_lf(&s->punctured, d, node.start, node.height, leaf);
  //@ ghost size_bounds_lf(&s->punctured, 0, 0, d);
  //@ ghost if (node.height > 0) slot_overwritten_lf(d, node.start, node.height, leaf);
  //@ ghost pair_slot_injective_lf(&s->punctured, 0, 0, d);
  //@ ghost pair_slot_injective_lf(&s->punctured, leaf, leaf + 1, d);
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  put_copath(s, leaf, node.height, copath) /*@ ghost (R) */;
  /*@ assert intact: \forall integer t, g; intact(&s->punctured, leaf, leaf + 1, t, g) <==>
        intact{Pre}(&s->punctured, leaf, leaf + 1, t, g); */
  /*@ assert live: \forall integer t, g; live(&s->punctured, leaf, leaf + 1, d, t, g) <==>
        live{Pre}(&s->punctured, leaf, leaf + 1, d, t, g); */
  /*@ assert beside: \forall integer i; 0 <= i < node.height ==>
        sd(s->slot[beside(leaf, i) / 2]) == ns(sd(R), d, beside(leaf, i), i); */
  /*@ assert apart: \forall integer t, g; live{Pre}(&s->punctured, leaf, leaf + 1, d, t, g) ==>
        live{Pre}(&s->punctured, 0, 0, d, t, g) ==>
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != t / 2) ||
        (\exists integer i; 0 <= i < node.height && t == beside(leaf, i) && g == i); */
  /*@ assert same_seed: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==>
        same_slot{Pre,Here}(s, t / 2) ==> sd(s->slot[t / 2]) == ns(sd(R), d, t, g); */
  /*@ assert range: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==>
        0 <= t / 2 < pow2(d - 1); */
  /*@ assert others: node.height > 0 ==> \forall integer j; 0 <= j < pow2(d - 1) ==>
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != j) ==>
        same_slot{Pre,Here}(s, j); */
  /*@ assert same: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==>
        node.height > 0 ==> (\forall integer i; 0 <= i < node.height ==>
        beside(leaf, i) / 2 != t / 2) ==> same_slot{Pre,Here}(s, t / 2); */
  /*@ assert same_leaf: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==>
        node.height == 0 ==> !(t == node.start && g == node.height) ==>
        same_slot{Pre,Here}(s, t / 2); */
  /*@ assert old: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==>
        !(t == node.start && g == node.height) ==>
        sd(s->slot[t / 2]) == ns(sd(R), d, t, g); */
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, leaf, leaf + 1);
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, 0, 0, d, j) ==>
        owned(&s->punctured, leaf, leaf + 1, d, j) || j == node.start / 2; */
  /*@ assert new: \forall integer i; 0 <= i < node.height ==>
        owned(&s->punctured, leaf, leaf + 1, d, beside(leaf, i) / 2); */
  /*@ assert overwritten: node.height > 0 ==> \exists integer i; 0 <= i < node.height &&
        beside(leaf, i) / 2 == node.start / 2; */
  //@ assert itself: node.height == 0 ==> node.start == leaf;
  /*@ assert same_zero: \forall integer j; 0 <= j < pow2(d - 1) ==>
        same_slot{Pre,Here}(s, j) ==>
        zero_seed(s->slot[j]) || owned{Pre}(&s->punctured, 0, 0, d, j); */
  /*@ assert untouched: \forall integer j; 0 <= j < pow2(d - 1) ==>
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != j) ==>
        (node.height == 0 ==> j != leaf / 2) ==>
        zero_seed(s->slot[j]) || owned{Pre}(&s->punctured, 0, 0, d, j); */
  /*@ assert kept: \forall integer j; 0 <= j < pow2(d - 1) ==>
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != j) ==>
        (node.height == 0 ==> j != leaf / 2) ==>
        zero_seed(s->slot[j]) || owned(&s->punctured, leaf, leaf + 1, d, j); */
  //@ assert zero: node.height == 0 ==> zero_seed(s->slot[leaf / 2]);
  //@ assert clean: clean(d, s->slot, &s->punctured, leaf, leaf + 1);
}

/* Give back the slots of the leaves first .. end - 1, all of which are punctured. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth) && first % 64 == 0;
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, 0, 0);
    requires gone: \forall integer x; first <= x < end ==> gone(&s->punctured, x);
    assigns \nothing;
    ensures opened: opened(s); */
static inline void release_slots(struct opt_store *s, uint64_t first, uint64_t end)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost pow2_pos_lf();
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  /*@ assert begin: \forall integer t, h; live(&s->punctured, 0, 0, d, t, h) ==>
        covers(t, h, t); */
  /*@ assert start: \forall integer t, h; live(&s->punctured, 0, 0, d, t, h) ==>
        !(first <= t < end); */
  /*@ assert none: \forall integer j; first <= 2 * j < end - 1 ==>
        !owned(&s->punctured, 0, 0, d, j); */
  //@ assert zero: \forall integer j; first <= 2 * j < end - 1 ==> zero_seed(s->slot[j]);
  opt_pages_release_slots(s, first, end);
}

/* Give back the words of level 0 over these leaves, all of whose blocks are full. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth) && first % 64 == 0;
    requires level: DEAD_LEVEL < s->punctured.levels;
    requires full: full_leaves(&s->punctured, DEAD_LEVEL, first, end);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes);
    ensures kept: same_slots{Pre,Post}(s); */
static inline void release_dead(struct opt_store *s, uint64_t first, uint64_t end)
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost shape_lf(d);
  //@ ghost leaves_lf(d);
  //@ assert range: end / 64 <= words(d, 0);
  /*@ assert block: \forall integer w; first <= 64 * w < end ==>
        blk(64 * w, DEAD_LEVEL) == blk(w, DEAD_LEVEL - 1); */
  /*@ assert marked: \forall integer w; first <= 64 * w < end ==>
        under(&s->punctured, DEAD_LEVEL, blk(w, DEAD_LEVEL - 1)); */
  /*@ assert path: \forall integer w, j; w >= 0 ==> DEAD_LEVEL <= j < s->punctured.levels ==>
        blk(blk(w, DEAD_LEVEL - 1), j - DEAD_LEVEL) == blk(w, j - 1); */
  /*@ ghost
    /@ loop invariant first <= 64 * w;
       loop invariant \forall integer v; first <= 64 * v < 64 * w ==> 64 * v < end ==>
         under(&s->punctured, 1, v);
       loop assigns w;
       loop invariant 64 * w < end + 64 || w == first / 64;
       loop variant end - 64 * w; @/
    for (uint64_t w = first / 64; 64 * w < end; w++) {
      uint64_t j = under_lf(&s->punctured, DEAD_LEVEL, 64 * w);
      /@ assert path: blk(64 * w, j) == blk(w, j - 1); @/
      /@ assert under: under(&s->punctured, 1, w); @/
    } */
  //@ assert apart: \forall integer j; 0 <= j < pow2(d - 1) ==> \separated(&s->slot[j], DEAD(s));
  /*@ assert apart_words: \forall integer k, i; 1 <= k < s->punctured.levels ==>
        0 <= i < words(d, k) ==> \separated(&s->punctured.summary[k][i], DEAD(s)); */
  opt_pages_release_dead(s, first, end);
  //@ assert nodes: s->nodes == \at(s->nodes,Pre);
  //@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Pre,Here}(s, j);
  //@ assert kept: same_slots{Pre,Here}(s);
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
  /*@ assert words: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        same_word{Pre,Here}(&s->punctured, k, i); */
  /*@ assert summary: \forall integer k; 1 <= k < s->punctured.levels ==>
        same_level{Pre,Here}(&s->punctured, k); */
  /*@ assert dead: \forall integer w; 0 <= w < words(d, 0) ==>
        \at(s->punctured.dead[w],Pre) == s->punctured.dead[w] ||
        (s->punctured.dead[w] == 0 && under{Pre}(&s->punctured, 1, w)); */
  //@ assert cleared: dead_cleared{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
}

/* Give back what the blocks around a leaf that became full with it no longer need. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, 0, 0);
    requires level: SLOTS_LEVEL <= full < s->punctured.levels;
    requires marked: \forall integer k; 0 <= k <= full ==>
      under(&s->punctured, k, blk(leaf, k));
    requires full: \forall integer k, x; 0 <= k <= full ==> 0 <= x < pow2(s->punctured.depth) ==>
      blk(x, k) == blk(leaf, k) ==> gone(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes);
    ensures kept: same_slots{Pre,Post}(s);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, 0, 0); */
static void release_blocks(struct opt_store *s, uint64_t leaf, unsigned full)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost leaves_lf(d);
  //@ ghost path_lf(d);
  //@ ghost shift_lf(leaf, 6 * SLOTS_LEVEL);
  //@ ghost shl_lf(1, 6 * SLOTS_LEVEL);
  //@ ghost around_two_lf(6 * SLOTS_LEVEL);
  //@ ghost shr_blk_lf(SLOTS_LEVEL);
  uint64_t block = leaf >> 6 * SLOTS_LEVEL;
  //@ ghost shl_lf(block + 1, 6 * SLOTS_LEVEL);
  //@ assert size: pow2(6 * SLOTS_LEVEL) == 0x1000;
  /*@ assert span: (block << 6 * SLOTS_LEVEL) == block * 0x1000 == down(leaf, 6 * SLOTS_LEVEL) &&
        ((block + 1) << 6 * SLOTS_LEVEL) == block * 0x1000 + 0x1000 <= pow2(d); */
  /*@ assert leaves: \forall integer x; block * 0x1000 <= x < block * 0x1000 + 0x1000 ==>
        blk(x, SLOTS_LEVEL) == blk(leaf, SLOTS_LEVEL); */
  release_slots(s, block << 6 * SLOTS_LEVEL, (block + 1) << 6 * SLOTS_LEVEL) /*@ ghost (R) */;
  if (full >= DEAD_LEVEL) {
    //@ ghost shift_lf(leaf, 6 * DEAD_LEVEL);
    //@ ghost shl_lf(1, 6 * DEAD_LEVEL);
    //@ ghost around_two_lf(6 * DEAD_LEVEL);
    //@ ghost shr_blk_lf(DEAD_LEVEL);
    block = leaf >> 6 * DEAD_LEVEL;
    //@ ghost shl_lf(block + 1, 6 * DEAD_LEVEL);
    //@ assert size: pow2(6 * DEAD_LEVEL) == 0x40000;
    /*@ assert span: (block << 6 * DEAD_LEVEL) == block * 0x40000 == down(leaf, 6 * DEAD_LEVEL) &&
          ((block + 1) << 6 * DEAD_LEVEL) == block * 0x40000 + 0x40000 <= pow2(d); */
    /*@ assert leaves: \forall integer x; block * 0x40000 <= x < block * 0x40000 + 0x40000 ==>
          blk(x, DEAD_LEVEL) == blk(leaf, DEAD_LEVEL); */
    release_dead(s, block << 6 * DEAD_LEVEL, (block + 1) << 6 * DEAD_LEVEL);
  }
}

/* Mark a live leaf as punctured.  The slots are up to date already. */
/*@ requires opened: opened(s) && leaf < pow2(s->punctured.depth) && !gone(&s->punctured, leaf);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, leaf, leaf + 1);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, 0, 0);
    ensures gone: \forall integer x;
      gone(&s->punctured, x) <==> gone{Pre}(&s->punctured, x) || x == leaf;
    ensures nodes: s->nodes == \old(s->nodes); */
static void puncture_leaf(struct opt_store *s, uint64_t leaf) /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost leaves_lf(d);
  //@ assert apart: APART_WORDS(s, s);
  //@ assert apart_nodes: APART_WORDS(&s->nodes, s);
  //@ assert apart_slots: APART_WORDS(SLOTS(s), s);
  //@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s);
  unsigned full = opt_bitmap_puncture(&s->punctured, leaf);
  //@ assert nodes: s->nodes == \at(s->nodes,Pre);
  //@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d;
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==>
        same_slot{Pre,Here}(s, j); */
  //@ assert kept: same_slots{Pre,Here}(s);
  //@ assert opened: opened(s);
  /*@ assert intact: \forall integer t, g;
        intact{Pre}(&s->punctured, leaf, leaf + 1, t, g) <==> intact(&s->punctured, 0, 0, t, g); */
  /*@ assert live: \forall integer t, g; live{Pre}(&s->punctured, leaf, leaf + 1, d, t, g) <==>
        live(&s->punctured, 0, 0, d, t, g); */
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, leaf, leaf + 1, d, j) ==>
        owned(&s->punctured, 0, 0, d, j); */
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, 0, 0);
  //@ assert clean: clean(d, s->slot, &s->punctured, 0, 0);
  if (full >= SLOTS_LEVEL)
    release_blocks(s, leaf, full) /*@ ghost (R) */;
}

/* Give back what is left when no node is. */
/*@ requires key: key(sd(R), s);
    requires gone: \forall integer x; 0 <= x < pow2(s->punctured.depth) ==>
      gone(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures key: key(sd(R), s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static void release_all(struct opt_store *s) /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost path_lf(d);
  //@ ghost pow2_pos_lf();
  //@ ghost top_full_lf(&s->punctured);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  //@ assert none: \forall integer t, g; !live(&s->punctured, 0, 0, d, t, g);
  //@ assert no_owner: \forall integer j; !owned(&s->punctured, 0, 0, d, j);
  //@ assert zero: \forall integer j; 0 <= j < pow2(d - 1) ==> zero_seed(s->slot[j]);
  //@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s);
  opt_pages_release_all(s);
  //@ assert shape: same_shape{Pre,Here}(&s->punctured) && s->punctured.depth == d;
  //@ assert nodes: s->nodes == \at(s->nodes,Pre);
  //@ assert place: s->slot == \at(s->slot,Pre);
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Pre,Here}(s, j); */
  //@ assert slots: same_slots{Pre,Here}(s);
  //@ assert top: same_level{Pre,Here}(&s->punctured, s->punctured.levels - 1);
  //@ assert cleared: all_cleared{Pre,Here}(&s->punctured);
  //@ assert words: cleared{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
  //@ assert opened: opened(s);
  //@ assert set: same_set{Pre,Here}(&s->punctured);
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, 0, 0);
  //@ assert clean: clean(d, s->slot, &s->punctured, 0, 0);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
}

void opt_store_puncture(struct opt_store *s, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath) /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost puncture_lf(&s->punctured, d, node.start, node.height, leaf);
  //@ ghost leaves_lf(d);
  //@ ghost size_lf(&s->punctured, leaf, leaf + 1);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, leaf, leaf + 1, k);
  replace_node(s, leaf, node, copath) /*@ ghost (R) */;
  puncture_leaf(s, leaf) /*@ ghost (R) */;
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, leaf, leaf + 1, 0, 0);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, leaf, leaf + 1, 0, 0, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
  //@ assert size: s->nodes == cover_size(&s->punctured, 0, 0, 0, d);
  //@ assert key: key(sd(R), s);
  //@ ghost size_bounds_lf(&s->punctured, 0, 0, d);
  /*@ assert some: \forall integer x; 0 <= x < pow2(d) ==> !gone(&s->punctured, x) ==>
        s->nodes >= 1; */
  if (s->nodes == 0) {
    //@ assert none: \forall integer x; 0 <= x < pow2(d) ==> gone(&s->punctured, x);
    release_all(s) /*@ ghost (R) */;
  }
}

/* Take a live node out of the slots: lo .. hi - 1 counts as punctured before, from .. to - 1
 * after. */
/*@ requires opened: opened(s);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires live: live(&s->punctured, lo, hi, s->punctured.depth, node.start, node.height);
    requires wider: wider(&s->punctured, lo, hi, from, to, node.start, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, from, to);
    ensures nodes: s->nodes == cover_size(&s->punctured, from, to, 0, s->punctured.depth); */
static inline void take_out(struct opt_store *s, struct opt_node node)
  /*@ ghost (struct pprf_seed R, uint64_t lo, uint64_t hi, uint64_t from, uint64_t to) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost node_out_lf(&s->punctured, d, lo, hi, from, to, node.start, node.height);
  //@ ghost size_bounds_lf(&s->punctured, lo, hi, d);
  //@ ghost pair_slot_injective_lf(&s->punctured, lo, hi, d);
  //@ ghost size_lf(&s->punctured, from, to);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, from, to, k);
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  //@ ghost pow2_pos_lf();
  //@ assert whole: intact(&s->punctured, lo, hi, node.start, node.height);
  //@ assert first: covers(node.start, node.height, node.start) && 0 <= node.start < pow2(d);
  //@ assert free: !gone(&s->punctured, node.start) && !(lo <= node.start < hi);
  //@ assert some: 1 <= s->nodes <= pow2(d);
  /*@ assert others: \forall integer t, g; live(&s->punctured, from, to, d, t, g) ==>
        t / 2 != node.start / 2 && 0 <= t / 2 < pow2(d - 1); */
  put_slot(s, node.start >> 1, (struct pprf_seed){0, 0});
  //@ ghost Put: ;
  put_nodes(s, s->nodes - 1);
  //@ assert kept: same_but{Pre,Here}(s, node.start / 2) && zero_seed(s->slot[node.start / 2]);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, from, to, from, to);
  /*@ assert live: \forall integer t, g; live(&s->punctured, from, to, d, t, g) <==>
        live{Pre}(&s->punctured, from, to, d, t, g); */
  /*@ assert slot: \forall integer t, g; live(&s->punctured, from, to, d, t, g) ==>
        same_slot{Pre,Here}(s, t / 2) && live{Pre}(&s->punctured, lo, hi, d, t, g); */
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, lo, hi, d, j) ==>
        owned(&s->punctured, from, to, d, j) || j == node.start / 2; */
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, from, to);
  //@ assert clean: clean(d, s->slot, &s->punctured, from, to);
  //@ ghost size_lf(&s->punctured, from, to);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, from, to, k);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, from, to, from, to, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
}

/* Put a node into the slots: from .. to - 1 counts as punctured before, lo .. hi - 1 after. */
/*@ requires opened: opened(s);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, from, to);
    requires nodes: s->nodes == cover_size(&s->punctured, from, to, 0, s->punctured.depth);
    requires live: live(&s->punctured, lo, hi, s->punctured.depth, node.start, node.height);
    requires wider: wider(&s->punctured, lo, hi, from, to, node.start, node.height);
    requires seed: sd(seed) == ns(sd(R), s->punctured.depth, node.start, node.height);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    ensures nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth); */
static inline void put_in(struct opt_store *s, struct opt_node node, struct pprf_seed seed)
  /*@ ghost (struct pprf_seed R, uint64_t lo, uint64_t hi, uint64_t from, uint64_t to) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost node_out_lf(&s->punctured, d, lo, hi, from, to, node.start, node.height);
  //@ ghost size_bounds_lf(&s->punctured, lo, hi, d);
  //@ ghost pair_slot_injective_lf(&s->punctured, lo, hi, d);
  //@ ghost size_lf(&s->punctured, lo, hi);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k);
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  /*@ assert others: \forall integer t, g; live(&s->punctured, from, to, d, t, g) ==>
        t / 2 != node.start / 2 && 0 <= t / 2 < pow2(d - 1); */
  put_slot(s, node.start >> 1, seed);
  //@ ghost Put: ;
  //@ assert put: same_but{Pre,Here}(s, node.start / 2);
  //@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d;
  put_nodes(s, s->nodes + 1);
  //@ assert still: same_slots{Put,Here}(s);
  //@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d;
  /*@ assert one: \forall integer j; 0 <= j < pow2(d - 1) ==> j != node.start / 2 ==>
        same_slot{Pre,Here}(s, j); */
  //@ assert kept: same_but{Pre,Here}(s, node.start / 2);
  //@ assert new: sd(s->slot[node.start / 2]) == ns(sd(R), d, node.start, node.height);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, lo, hi, lo, hi);
  /*@ assert live: \forall integer t, g; live(&s->punctured, lo, hi, d, t, g) <==>
        live{Pre}(&s->punctured, lo, hi, d, t, g); */
  /*@ assert slot: \forall integer t, g; live(&s->punctured, lo, hi, d, t, g) ==>
        (t == node.start && g == node.height) ||
        (same_slot{Pre,Here}(s, t / 2) && live{Pre}(&s->punctured, from, to, d, t, g)); */
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, from, to, d, j) ==>
        owned(&s->punctured, lo, hi, d, j); */
  //@ assert own: owned(&s->punctured, lo, hi, d, node.start / 2);
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, lo, hi);
  //@ assert clean: clean(d, s->slot, &s->punctured, lo, hi);
  //@ ghost size_lf(&s->punctured, lo, hi);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, lo, hi, lo, hi, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
}

/* Mark leaves as punctured: the slots stay. */
/*@ requires opened: opened(s) && first <= last < pow2(s->punctured.depth);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures gone: \forall integer x;
      gone(&s->punctured, x) <==> gone{Pre}(&s->punctured, x) || first <= x <= last;
    ensures same: s->nodes == \old(s->nodes) && same_slots{Pre,Post}(s);
    ensures place: s->slot == \old(s->slot) &&
      s->punctured.depth == \old(s->punctured.depth); */
static void mark_leaves(struct opt_store *s, uint64_t first, uint64_t last)
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ assert apart: APART_WORDS(s, s);
  //@ assert apart_slots: APART_WORDS(SLOTS(s), s);
  //@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s);
  opt_bitmap_puncture_range(&s->punctured, first, last);
  //@ assert nodes: s->nodes == \at(s->nodes,Pre);
  //@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d;
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Pre,Here}(s, j); */
  //@ assert kept: same_slots{Pre,Here}(s);
  //@ assert opened: opened(s);
}

/* Mark leaves as punctured that are, or are among lo .. hi - 1, whose nodes are out of the
 * slots. */
/*@ requires opened: opened(s) && first <= last < pow2(s->punctured.depth);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires out: \forall integer x; first <= x <= last ==>
      gone(&s->punctured, x) || lo <= x < hi;
    requires apart: APART_ENTRIES_WORDS(left, lefts, s) && APART_ENTRIES_WORDS(right, rights, s);
    assigns BITMAP_WORDS(&s->punctured);
    ensures opened: opened(s);
    ensures gone: \forall integer x;
      gone(&s->punctured, x) <==> gone{Pre}(&s->punctured, x) || first <= x <= last;
    ensures rest: same_entries{Pre,Post}(left, lefts) && same_entries{Pre,Post}(right, rights);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    ensures nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    ensures same: s->nodes == \old(s->nodes) && same_slots{Pre,Post}(s); */
static inline void mark_range(struct opt_store *s, uint64_t first, uint64_t last)
  /*@ ghost (struct pprf_seed R, uint64_t lo, uint64_t hi, const struct opt_entry *left,
             unsigned lefts, const struct opt_entry *right, unsigned rights) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost size_lf(&s->punctured, lo, hi);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k);
  mark_leaves(s, first, last);
  //@ assert starts_left: same_starts{Pre,Here}(left, lefts);
  //@ assert seeds_left: same_los{Pre,Here}(left, lefts) && same_his{Pre,Here}(left, lefts);
  //@ assert starts_right: same_starts{Pre,Here}(right, rights);
  //@ assert seeds_right: same_los{Pre,Here}(right, rights) && same_his{Pre,Here}(right, rights);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, lo, hi, lo, hi);
  /*@ assert live: \forall integer t, g; live{Pre}(&s->punctured, lo, hi, d, t, g) <==>
        live(&s->punctured, lo, hi, d, t, g); */
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, lo, hi, d, j) ==>
        owned(&s->punctured, lo, hi, d, j); */
  //@ assert half: pow2(d) == 2 * pow2(d - 1);
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, lo, hi);
  //@ assert clean: clean(d, s->slot, &s->punctured, lo, hi);
  //@ ghost size_lf(&s->punctured, lo, hi);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, lo, hi, lo, hi, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
}

/* The leaves from .. end - 1; none if from >= end. */
struct span {
  uint64_t from, end;
};

/* Take the live nodes that meet a range out of the slots.  The span runs from the start of the
 * first to the end of the last. */
/*@ requires key: key(sd(R), s) && first <= last < pow2(s->punctured.depth);
    requires some: \exists integer x; first <= x <= last && !gone(&s->punctured, x);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots:
      slots(sd(R), s->punctured.depth, s->slot, &s->punctured, \result.from, \result.end);
    ensures nodes: s->nodes ==
      cover_size(&s->punctured, \result.from, \result.end, 0, s->punctured.depth);
    ensures out: \forall integer x; first <= x <= last ==>
      gone(&s->punctured, x) || \result.from <= x < \result.end;
    ensures ends: live_from(&s->punctured, \result.from, first) &&
      live_to(&s->punctured, \result.end, last);
    ensures inner_left: \forall integer x; \result.from <= x < first ==> !gone(&s->punctured, x);
    ensures inner_right: \forall integer x; last < x < \result.end ==> !gone(&s->punctured, x);
    ensures bounds: \result.from < \result.end <= pow2(s->punctured.depth);
    ensures meets: \result.from <= last && first < \result.end; */
static struct span take_range(struct opt_store *s, uint64_t first, uint64_t last)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost path_lf(d);
  struct opt_node n;
  int more = opt_store_next(s, first, &n) /*@ ghost (R) */; /* there is one */
  //@ ghost live_apart_lf(&s->punctured, 0, 0, d);
  //@ assert some: more != 0 && n.start <= last;
  const uint64_t from = n.start;
  uint64_t to = from;
  //@ assert first: live_from{Pre}(&s->punctured, from, first);
  //@ assert inner: \forall integer x; from <= x < first ==> !gone(&s->punctured, x);
  //@ ghost same_set_lf(&s->punctured, d, 0, 0, from, from);
  /*@ assert owned: \forall integer j; owned(&s->punctured, 0, 0, d, j) ==>
        owned(&s->punctured, from, from, d, j); */
  //@ assert seeds: seeds(sd(R), d, s->slot, &s->punctured, from, from);
  //@ assert clean: clean(d, s->slot, &s->punctured, from, from);
  /*@ loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant slots: slots(sd(R), d, s->slot, &s->punctured, from, to);
      loop invariant nodes: s->nodes == cover_size(&s->punctured, from, to, 0, d);
      loop invariant bounds: from <= to <= pow2(d);
      loop invariant begin: from == to ==> more != 0 && n.start == from;
      loop invariant inner: \forall integer x; last < x < to ==> !gone(&s->punctured, x);
      loop invariant begun: from < to ==> first < to && live_to{Pre}(&s->punctured, to, last);
      loop invariant before: \forall integer x; first <= x < from ==> gone(&s->punctured, x);
      loop invariant more: more != 0 ==> live{Pre}(&s->punctured, 0, 0, d, n.start, n.height) &&
        to <= n.start && first < n.start + pow2(n.height);
      loop invariant next: more != 0 ==> \forall integer x; to <= x < n.start ==>
        gone(&s->punctured, x);
      loop invariant end: more == 0 ==> \forall integer x; to <= x < pow2(d) ==>
        gone(&s->punctured, x);
      loop assigns n, to, more, s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant pow2(d) - to; */
  while (more && n.start <= last) {
    //@ ghost uint64_t t = n.start, end = end_lf(t, n.height);
    //@ ghost unsigned h = n.height;
    //@ assert within: t < end <= pow2(d);
    //@ assert intact: intact(&s->punctured, from, to, t, h);
    //@ assert live: live(&s->punctured, from, to, d, t, h);
    //@ assert wider: wider(&s->punctured, from, to, from, end, t, h);
    take_out(s, n) /*@ ghost (R, from, to, from, end) */;
    to = opt_node_end(n);
    //@ assert to: to == end;
    /*@ assert taken: live{Pre}(&s->punctured, 0, 0, \at(s->punctured.depth,Pre), t, h) &&
          t <= last && to == t + pow2(h); */
    //@ assert last: live_to{Pre}(&s->punctured, to, last);
    more = opt_store_next(s, to, &n) /*@ ghost (R) */;
    //@ ghost live_apart_lf(&s->punctured, 0, 0, d);
  }
  return (struct span){from, to};
}

/* Put the nodes that a punctured range leaves left of it into the slots. */
/*@ requires opened: opened(s);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires gone: gone(&s->punctured, first) && first < hi;
    requires count: n <= PPRF_DEPTH_MAX && \valid_read(rest + (0 .. n - 1));
    requires apart: APART(rest + (0 .. n - 1), s);
    requires entries: entries(sd(R), s->punctured.depth, rest, n) &&
      entries_live(&s->punctured, rest, n);
    requires left: lefts(rest, n, lo, first);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured,
                         lo < first ? first : lo, hi);
    ensures nodes: s->nodes ==
      cover_size(&s->punctured, lo < first ? first : lo, hi, 0, s->punctured.depth); */
static void put_lefts(struct opt_store *s, const struct opt_entry *rest, unsigned n)
  /*@ ghost (struct pprf_seed R, uint64_t lo, uint64_t hi, uint64_t first) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost path_lf(d);
  //@ ghost uint64_t from = lo;
  /*@ loop invariant i <= n;
      loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant same: same_entries{Pre,Here}(rest, n);
      loop invariant slots: slots(sd(R), d, s->slot, &s->punctured, from, hi);
      loop invariant nodes: s->nodes == cover_size(&s->punctured, from, hi, 0, d);
      loop invariant from: i < n ==> begins{Pre}(rest, i, from);
      loop invariant done: i == n ==> from == (lo < first ? first : lo);
      loop assigns i, from, s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++) {
    //@ ghost Before: ;
    //@ ghost uint64_t start = rest[i].node.start, end = end_lf(start, rest[i].node.height);
    //@ assert entry: start == from && ends{Pre}(rest, i, end) && start < end <= first;
    //@ assert node: rest[i].node.height < d && tnode(d, start, rest[i].node.height);
    //@ assert seed: sd(rest[i].seed) == ns(sd(R), d, start, rest[i].node.height);
    //@ assert parent: parent_of(rest, i, first) && gone(&s->punctured, first);
    //@ assert intact: intact(&s->punctured, end, hi, start, rest[i].node.height);
    //@ assert live: live(&s->punctured, end, hi, d, start, rest[i].node.height);
    //@ assert wider: wider(&s->punctured, end, hi, from, hi, start, rest[i].node.height);
    //@ assert apart: APART_ENTRIES(rest, n, s);
    put_in(s, rest[i].node, rest[i].seed) /*@ ghost (R, end, hi, from, hi) */;
    //@ assert starts: same_starts{Before,Here}(rest, n);
    //@ assert seeds: same_los{Before,Here}(rest, n) && same_his{Before,Here}(rest, n);
    //@ assert same: same_entries{Before,Here}(rest, n);
    //@ ghost from = end;
  }
}

/* Those right of it. */
/*@ requires opened: opened(s);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires gone: gone(&s->punctured, last) && lo <= last;
    requires count: n <= PPRF_DEPTH_MAX && \valid_read(rest + (0 .. n - 1));
    requires apart: APART(rest + (0 .. n - 1), s);
    requires entries: entries(sd(R), s->punctured.depth, rest, n) &&
      entries_live(&s->punctured, rest, n);
    requires right: rights(rest, n, hi, last);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures opened: opened(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo,
                         last + 1 < hi ? last + 1 : hi);
    ensures nodes: s->nodes ==
      cover_size(&s->punctured, lo, last + 1 < hi ? last + 1 : hi, 0, s->punctured.depth); */
static void put_rights(struct opt_store *s, const struct opt_entry *rest, unsigned n)
  /*@ ghost (struct pprf_seed R, uint64_t lo, uint64_t hi, uint64_t last) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost path_lf(d);
  //@ ghost uint64_t to = hi;
  /*@ loop invariant i <= n;
      loop invariant opened: opened(s) && s->punctured.depth == d;
      loop invariant set: same_set{Pre,Here}(&s->punctured);
      loop invariant same: same_entries{Pre,Here}(rest, n);
      loop invariant slots: slots(sd(R), d, s->slot, &s->punctured, lo, to);
      loop invariant nodes: s->nodes == cover_size(&s->punctured, lo, to, 0, d);
      loop invariant to: i < n ==> ends{Pre}(rest, i, to);
      loop invariant done: i == n ==> to == (last + 1 < hi ? last + 1 : hi);
      loop assigns i, to, s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++) {
    //@ ghost Before: ;
    //@ ghost uint64_t start = rest[i].node.start, end = end_lf(start, rest[i].node.height);
    //@ assert bound: between{Pre}(rest, n, last + 1, hi);
    //@ assert entry: end == to && begins{Pre}(rest, i, start) && last < start < end;
    //@ assert node: rest[i].node.height < d && tnode(d, start, rest[i].node.height);
    //@ assert seed: sd(rest[i].seed) == ns(sd(R), d, start, rest[i].node.height);
    //@ assert parent: parent_of(rest, i, last) && gone(&s->punctured, last);
    //@ assert intact: intact(&s->punctured, lo, start, start, rest[i].node.height);
    //@ assert live: live(&s->punctured, lo, start, d, start, rest[i].node.height);
    //@ assert wider: wider(&s->punctured, lo, start, lo, to, start, rest[i].node.height);
    //@ assert apart: APART_ENTRIES(rest, n, s);
    put_in(s, rest[i].node, rest[i].seed) /*@ ghost (R, lo, start, lo, to) */;
    //@ assert starts: same_starts{Before,Here}(rest, n);
    //@ assert seeds: same_los{Before,Here}(rest, n) && same_his{Before,Here}(rest, n);
    //@ assert same: same_entries{Before,Here}(rest, n);
    //@ ghost to = start;
  }
}

/* Where a block of a level begins; where the tree ends for the block behind its last. */
/*@ requires bitmap: bitmap(b) && 1 <= level < b->levels && i <= blocks(b->depth, level);
    assigns \nothing;
    ensures bound: \result <= pow2(b->depth) && \result % 64 == 0;
    ensures below: \forall integer z; 0 <= z < \result ==> blk(z, level) < i;
    ensures above: i < blocks(b->depth, level) ==> \forall integer z; z >= 0 ==>
      blk(z, level) < i ==> z < \result;
    ensures tree: i == blocks(b->depth, level) ==> \result == pow2(b->depth); */
static inline uint64_t block_start(unsigned level, uint64_t i)
  /*@ ghost (const struct opt_bitmap *b) */
{
  //@ ghost unsigned d = b->depth, h = 6 * level;
  //@ ghost shape_lf(d);
  //@ ghost shr_blk_lf(level);
  //@ ghost around_one_lf(h);
  //@ ghost pow2_pos_lf();
  //@ ghost pow2_sum_lf(d - h, h);
  //@ ghost leaves_lf(d);
  //@ ghost shl_lf(i, h);
  //@ ghost shl_even_lf(i, h);
  //@ assert tree: i == blocks(d, level) ==> (i << h) == pow2(d);
  //@ ghost uint64_t x = 0;
  //@ ghost if (i < end_lf(0, d - h)) x = full_lf(b, level, i);
  //@ ghost shift_lf(x, h);
  //@ assert block: i < blocks(d, level) ==> i == (x >> h) && (i << h) == down(x, h);
  //@ assert bound: (i << h) <= pow2(d);
  //@ assert below: \forall integer z; 0 <= z < down(x, h) ==> blk(z, level) < blk(x, level);
  /*@ assert above: \forall integer z; z >= 0 ==> blk(z, level) < blk(x, level) ==>
        z < down(x, h); */
  return i << 6 * level;
}

/* The leaves of the full blocks of a level among those that meet the punctured leaves first ..
 * last: only the two blocks at the ends may not be full.  None if there is no such level. */
/*@ requires bitmap: bitmap(b) && first <= last < pow2(b->depth);
    requires gone: \forall integer x; first <= x <= last ==> gone(b, x);
    requires level: 1 <= level;
    assigns \nothing;
    ensures span: \result.end <= pow2(b->depth) && \result.from % 64 == 0;
    ensures level: \result.from < \result.end ==> level < b->levels;
    ensures full: full_leaves(b, level, \result.from, \result.end);
    ensures gone: \forall integer x; \result.from <= x < \result.end ==> gone(b, x); */
static struct span full_span(const struct opt_bitmap *b, unsigned level, uint64_t first,
                             uint64_t last)
{
  //@ ghost pow2_pos_lf();
  if (level >= b->levels)
    return (struct span){0, 0};
  //@ ghost unsigned d = b->depth;
  //@ ghost shape_lf(d);
  //@ ghost blk_mono_lf(level);
  uint64_t i = opt_block(first, level), j = opt_block(last, level);
  //@ assert mono: i <= j < blocks(d, level);
  /*@ ghost
    /@ loop invariant i < k;
       loop invariant \forall integer y; i < y < k ==> y < j ==> under(b, level, y);
       loop assigns k;
       loop variant j - k; @/
    for (uint64_t k = i + 1; k < j; k++) {
      full_lf(b, level, k);
      /@ assert in: \forall integer x; 0 <= x ==> i < blk(x, level) < j ==> first <= x <= last; @/
    } */
  i += !opt_bitmap_is_full(b, level, i);
  j += opt_bitmap_is_full(b, level, j);
  //@ assert full: \forall integer y; i <= y < j ==> under(b, level, y);
  uint64_t from = block_start(level, i) /*@ ghost (b) */;
  uint64_t end = block_start(level, j) /*@ ghost (b) */;
  //@ assert in: \forall integer z; from <= z < end ==> i <= blk(z, level) < j;
  /*@ ghost
    /@ loop invariant from <= x;
       loop invariant \forall integer z; from <= z < x ==> z < end ==> gone(b, z);
       loop assigns x;
       loop variant end - x; @/
    for (uint64_t x = from; x < end; x++) {
      uint64_t k = under_lf(b, level, x);
      /@ assert gone: gone(b, x); @/
    } */
  return (struct span){from, end};
}

/* Give back what the full blocks among punctured leaves no longer need. */
/*@ requires key: key(sd(R), s) && first <= last < pow2(s->punctured.depth);
    requires gone: \forall integer x; first <= x <= last ==> gone(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures key: key(sd(R), s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static void release_range(struct opt_store *s, uint64_t first, uint64_t last)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost leaves_lf(d);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  const struct span small = full_span(&s->punctured, SLOTS_LEVEL, first, last);
  if (small.from < small.end)
    release_slots(s, small.from, small.end) /*@ ghost (R) */;
  const struct span large = full_span(&s->punctured, DEAD_LEVEL, first, last);
  if (large.from < large.end)
    release_dead(s, large.from, large.end);
  //@ assert held: held(sd(R), s);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
}

/* Put the nodes that a punctured range leaves on either side into the slots. */
/*@ requires opened: opened(s) && first <= last < pow2(s->punctured.depth);
    requires slots: slots(sd(R), s->punctured.depth, s->slot, &s->punctured, lo, hi);
    requires nodes: s->nodes == cover_size(&s->punctured, lo, hi, 0, s->punctured.depth);
    requires gone: \forall integer x; first <= x <= last ==> gone(&s->punctured, x);
    requires bounds: lo <= last && first < hi <= pow2(s->punctured.depth);
    requires left: lefts <= PPRF_DEPTH_MAX && \valid_read(left + (0 .. lefts - 1));
    requires right: rights <= PPRF_DEPTH_MAX && \valid_read(right + (0 .. rights - 1));
    requires apart: APART(left + (0 .. lefts - 1), s) && APART(right + (0 .. rights - 1), s);
    requires entries: entries(sd(R), s->punctured.depth, left, lefts) &&
      entries(sd(R), s->punctured.depth, right, rights);
    requires kept: entries_live(&s->punctured, left, lefts) &&
      entries_live(&s->punctured, right, rights);
    requires sides: lefts(left, lefts, lo, first) && rights(right, rights, hi, last);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1];
    ensures key: key(sd(R), s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static inline void put_rest(struct opt_store *s, const struct opt_entry *left, unsigned lefts,
                            const struct opt_entry *right, unsigned rights)
  /*@ ghost (struct pprf_seed R, uint64_t lo, uint64_t hi, uint64_t first, uint64_t last) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ assert apart: APART_ENTRIES(right, rights, s);
  put_lefts(s, left, lefts) /*@ ghost (R, lo, hi, first) */;
  //@ assert starts: same_starts{Pre,Here}(right, rights);
  //@ assert seeds: same_los{Pre,Here}(right, rights) && same_his{Pre,Here}(right, rights);
  //@ assert same: same_entries{Pre,Here}(right, rights);
  //@ ghost uint64_t from = either_lf(lo < first, first, lo);
  put_rights(s, right, rights) /*@ ghost (R, from, hi, last) */;
  //@ ghost uint64_t to = either_lf(last + 1 < hi, last + 1, hi);
  //@ assert all: \forall integer x; from <= x < to ==> gone(&s->punctured, x);
  /*@ assert no_more: \forall integer x;
        gone(&s->punctured, x) || from <= x < to ==> gone(&s->punctured, x); */
  //@ assert slots: slots(sd(R), d, s->slot, &s->punctured, from, to);
  //@ assert nodes: s->nodes == cover_size(&s->punctured, from, to, 0, d);
  //@ ghost same_set_lf(&s->punctured, d, from, to, 0, 0);
  /*@ assert owned: \forall integer j; owned(&s->punctured, from, to, d, j) ==>
        owned(&s->punctured, 0, 0, d, j); */
  //@ assert held_seeds: seeds(sd(R), d, s->slot, &s->punctured, 0, 0);
  //@ assert clean: clean(d, s->slot, &s->punctured, 0, 0);
}

/* Replace the live nodes that meet a range by the nodes that it leaves.  The span runs from the
 * start of the first to the end of the last. */
/*@ requires key: key(sd(R), s) && first <= last < pow2(s->punctured.depth);
    requires some: \exists integer x; first <= x <= last && !gone(&s->punctured, x);
    requires left: lefts <= PPRF_DEPTH_MAX && \valid_read(left + (0 .. lefts - 1));
    requires right: rights <= PPRF_DEPTH_MAX && \valid_read(right + (0 .. rights - 1));
    requires apart: APART(left + (0 .. lefts - 1), s) && APART(right + (0 .. rights - 1), s);
    requires entries: entries(sd(R), s->punctured.depth, left, lefts) &&
      entries(sd(R), s->punctured.depth, right, rights);
    requires lefts: lefts_of(&s->punctured, left, lefts, first);
    requires rights: rights_of(&s->punctured, right, rights, last);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures key: key(sd(R), s);
    ensures gone: \forall integer x;
      gone(&s->punctured, x) <==> gone{Pre}(&s->punctured, x) || first <= x <= last;
    ensures bounds: \result.from < \result.end <= pow2(s->punctured.depth);
    ensures meets: \result.from <= last && first < \result.end; */
static inline struct span replace_range(struct opt_store *s, uint64_t first, uint64_t last,
                                        const struct opt_entry *left, unsigned lefts,
                                        const struct opt_entry *right, unsigned rights)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ assert apart_left: APART_ENTRIES(left, lefts, s);
  //@ assert apart_right: APART_ENTRIES(right, rights, s);
  //@ assert words_left: APART_ENTRIES_WORDS(left, lefts, s);
  //@ assert words_right: APART_ENTRIES_WORDS(right, rights, s);
  const struct span out = take_range(s, first, last) /*@ ghost (R) */;
  //@ ghost uint64_t lo = out.from, hi = out.end;
  //@ assert starts_left: same_starts{Pre,Here}(left, lefts);
  //@ assert seeds_left: same_los{Pre,Here}(left, lefts) && same_his{Pre,Here}(left, lefts);
  //@ assert starts_right: same_starts{Pre,Here}(right, rights);
  //@ assert seeds_right: same_los{Pre,Here}(right, rights) && same_his{Pre,Here}(right, rights);
  //@ assert lefts: lefts{Pre}(left, lefts, lo, first);
  //@ assert rights: rights{Pre}(right, rights, hi, last);
  //@ assert inner_left: \forall integer x; lo <= x < first ==> !gone(&s->punctured, x);
  //@ assert inner_right: \forall integer x; last < x < hi ==> !gone(&s->punctured, x);
  mark_range(s, first, last) /*@ ghost (R, lo, hi, left, lefts, right, rights) */;
  //@ assert same_left: same_entries{Pre,Here}(left, lefts);
  //@ assert same_right: same_entries{Pre,Here}(right, rights);
  //@ assert left: entries(sd(R), d, left, lefts);
  //@ assert right: entries(sd(R), d, right, rights);
  //@ assert lefts: lefts(left, lefts, lo, first);
  //@ assert rights: rights(right, rights, hi, last);
  //@ assert inner_left: \forall integer x; lo <= x < first ==> !gone(&s->punctured, x);
  //@ assert inner_right: \forall integer x; last < x < hi ==> !gone(&s->punctured, x);
  /*@ assert in_left: \forall integer i, x; 0 <= i < lefts ==>
        covers(left[i].node.start, left[i].node.height, x) ==> lo <= x < first; */
  /*@ assert in_right: \forall integer i, x; 0 <= i < rights ==>
        covers(right[i].node.start, right[i].node.height, x) ==> last < x < hi; */
  //@ assert kept_left: entries_live(&s->punctured, left, lefts);
  //@ assert kept_right: entries_live(&s->punctured, right, rights);
  put_rest(s, left, lefts, right, rights) /*@ ghost (R, lo, hi, first, last) */;
  /*@ assert gone: \forall integer x;
        gone(&s->punctured, x) <==> gone{Pre}(&s->punctured, x) || first <= x <= last; */
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

void opt_store_puncture_range(struct opt_store *s, uint64_t first, uint64_t last,
                              const struct opt_entry *left, unsigned lefts,
                              const struct opt_entry *right, unsigned rights)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  const struct span out =
    replace_range(s, first, last, left, lefts, right, rights) /*@ ghost (R) */;
  //@ assert apart: APART_WORDS(s, s) && s->punctured.depth == d;
  /* Blocks before the first node and after the last were released when they became full. */
  release_range(s, later(out.from, first), earlier(out.end - 1, last)) /*@ ghost (R) */;
  //@ assert depth: s->punctured.depth == d;
  //@ ghost shape_lf(d);
  //@ assert shaped: shaped(&s->punctured);
  //@ ghost size_bounds_lf(&s->punctured, 0, 0, d);
  if (s->nodes == 0) {
    //@ assert none: \forall integer x; 0 <= x < pow2(d) ==> gone(&s->punctured, x);
    release_all(s) /*@ ghost (R) */;
  }
}

void opt_store_load_node(struct opt_store *s, const struct opt_entry *e)
{
  //@ assert depth: 1 <= s->punctured.depth <= 32;
  //@ ghost leaves_lf(s->punctured.depth);
  //@ assert half: pow2(s->punctured.depth) == 2 * pow2(s->punctured.depth - 1);
  put_slot(s, e->node.start >> 1, e->seed);
  put_nodes(s, s->nodes + 1);
}

void opt_store_load_root(struct opt_store *s, const struct pprf_seed *root)
{
  //@ ghost struct pprf_seed r = *root;
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d - 1);
  //@ ghost path_lf(d);
  put_slot(s, 0, *root);
  //@ ghost Put: ;
  put_nodes(s, 1);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d;
  //@ assert others: same_but{Pre,Put}(s, 0) && same_slots{Put,Here}(s);
  //@ assert none: \forall integer x; !gone(&s->punctured, x);
  //@ assert intact: \forall integer t, g; intact(&s->punctured, 0, 0, t, g);
  //@ assert root: live(&s->punctured, 0, 0, d, 0, d);
  //@ assert only: \forall integer t, g; live(&s->punctured, 0, 0, d, t, g) ==> t == 0 && g == d;
  //@ assert seed: sd(s->slot[0]) == ns(sd(r), d, 0, d);
  //@ assert seeds: seeds(sd(r), d, s->slot, &s->punctured, 0, 0);
  //@ assert zero: \forall integer j; 0 < j < pow2(d - 1) ==> zero_seed(s->slot[j]);
  //@ assert owned: owned(&s->punctured, 0, 0, d, 0);
  //@ assert clean: clean(d, s->slot, &s->punctured, 0, 0);
}

void opt_store_load_gap(struct opt_store *s, uint64_t first, uint64_t last)
{
  if (first <= last)
    mark_leaves(s, first, last);
}

void opt_store_puncture_set(struct opt_store *s, const uint32_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count)
  /*@ ghost (struct pprf_seed R) */
{
  struct opt_node node;
  for (uint64_t i = 0, end = 0; i < n; i++)
    if (leaf[i] >= end) {
      int live = opt_store_find(s, leaf[i], &node) /*@ ghost (R) */;
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
    puncture_leaf(s, leaf[i]) /*@ ghost (R) */;
  if (s->nodes == 0)
    release_all(s) /*@ ghost (R) */;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include "pages.h"

/* Blocks of 64^2 = 4096 leaves have 32 kB of slots, blocks of 64^3 leaves 32 kB of `dead`: these
 * go back to the system when the block is full. */
#define SLOTS_LEVEL 2
#define DEAD_LEVEL 3

void opt_store_load_node(struct opt_store *s, const struct opt_entry *e)
{
  s->slot[e->node.start >> 1] = e->seed;
  s->nodes++;
}

void opt_store_load_gap(struct opt_store *s, uint64_t first, uint64_t last)
{
  if (first <= last)
    opt_bitmap_puncture_range(&s->punctured, first, last);
}

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
    ensures kept: same_slots{Pre,Post}(s);
    ensures levels: \forall integer k, y; k >= 0 ==> y >= 0 ==> under{Pre}(&s->punctured, k, y) ==>
      under(&s->punctured, k, y); */
static inline void release_dead(struct opt_store *s, uint64_t first, uint64_t end)
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  /*@ assert block: \forall integer w; first <= 64 * w < end ==>
        blk(64 * w, DEAD_LEVEL) == blk(w, DEAD_LEVEL - 1); */
  /*@ assert marked: \forall integer w; first <= 64 * w < end ==>
        under(&s->punctured, DEAD_LEVEL, blk(w, DEAD_LEVEL - 1)); */
  /*@ assert path: \forall integer w, j; w >= 0 ==> DEAD_LEVEL <= j < s->punctured.levels ==>
        blk(blk(w, DEAD_LEVEL - 1), j - DEAD_LEVEL) == blk(w, j - 1); */
  /*@ assert under: \forall integer w; first <= 64 * w < end ==>
        under(&s->punctured, 1, w); */
  opt_pages_release_dead(s, first, end);
  //@ assert kept: same_slots{Pre,Here}(s) && s->nodes == \at(s->nodes,Pre);
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
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
  /*@ assert apart: \separated(s, DEAD(s)) && \separated(s, WORDS(s, 1)) &&
        \separated(s, WORDS(s, 2)) && \separated(s, WORDS(s, 3)) &&
        \separated(s, WORDS(s, 4)) && \separated(s, WORDS(s, 5)); */
  /*@ assert slots: \separated(SLOTS(s), DEAD(s)) && \separated(SLOTS(s), WORDS(s, 1)) &&
        \separated(SLOTS(s), WORDS(s, 2)) && \separated(SLOTS(s), WORDS(s, 3)) &&
        \separated(SLOTS(s), WORDS(s, 4)) && \separated(SLOTS(s), WORDS(s, 5)); */
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==>
        \separated(&s->slot[j], DEAD(s)) && \separated(&s->slot[j], WORDS(s, 1)) &&
        \separated(&s->slot[j], WORDS(s, 2)) && \separated(&s->slot[j], WORDS(s, 3)) &&
        \separated(&s->slot[j], WORDS(s, 4)) && \separated(&s->slot[j], WORDS(s, 5)); */
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
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==>
        \separated(&s->slot[j], DEAD(s)) && \separated(&s->slot[j], WORDS(s, 1)) &&
        \separated(&s->slot[j], WORDS(s, 2)) && \separated(&s->slot[j], WORDS(s, 3)) &&
        \separated(&s->slot[j], WORDS(s, 4)) && \separated(&s->slot[j], WORDS(s, 5)); */
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

/* The full blocks of a level among those that meet the punctured leaves first .. last: these are
 * punctured, so only the two at the ends may not be full.  Leaves *from .. *end - 1. */
static int full_span(const struct opt_store *s, unsigned level, uint64_t first, uint64_t last,
                     uint64_t *from, uint64_t *end)
{
  if (level >= s->punctured.levels)
    return 0;
  uint64_t i = first >> 6 * level, j = last >> 6 * level;
  i += !opt_bitmap_is_full(&s->punctured, level, i);
  j += opt_bitmap_is_full(&s->punctured, level, j);
  *from = i << 6 * level;
  *end = j << 6 * level;
  return i < j;
}

void opt_store_puncture_range(struct opt_store *s, uint64_t first, uint64_t last,
                              const struct opt_entry *rest, unsigned count)
  /*@ ghost (struct pprf_seed R) */
{
  struct opt_node n;
  uint64_t at = first, begin = last, end = first;
  int more = opt_store_next(s, at, &n) /*@ ghost (R) */;
  while (more && n.start <= last) {
    s->slot[n.start >> 1] = (struct pprf_seed){0, 0};
    s->nodes--;
    at = n.start + (UINT64_C(1) << n.height);
    begin = n.start < begin ? n.start : begin;
    end = at - 1;
    more = opt_store_next(s, at, &n) /*@ ghost (R) */;
  }
  opt_bitmap_puncture_range(&s->punctured, first, last);
  for (unsigned i = 0; i < count; i++)
    s->slot[rest[i].node.start >> 1] = rest[i].seed;
  s->nodes += count;

  /* Blocks before the first node and after the last were released when they became full. */
  first = begin > first ? begin : first;
  last = end < last ? end : last;
  if (full_span(s, SLOTS_LEVEL, first, last, &begin, &end))
    opt_pages_release_slots(s, begin, end);
  if (full_span(s, DEAD_LEVEL, first, last, &begin, &end))
    opt_pages_release_dead(s, begin, end);
  if (s->nodes == 0)
    release_all(s) /*@ ghost (R) */;
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
        end = node.start + (UINT64_C(1) << node.height);
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

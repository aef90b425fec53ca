/* SPDX-License-Identifier: Apache-2.0 */
#include "bitmap.h"

/* The bits of word i of a level. */
/*@ requires layout(b) && level < b->levels && i < words(b->depth, level);
    assigns \nothing;
    ensures \result == any_word(b, level, i); */
static inline uint64_t any_at(const struct opt_bitmap *b, unsigned level, uint64_t i)
{
  return level == 0 ? b->dead[i] : b->summary[level][i].any;
}

/*@ requires layout(b) && level < b->levels && i < words(b->depth, level);
    assigns \nothing;
    ensures \result == full_word(b, level, i); */
static inline uint64_t full_at(const struct opt_bitmap *b, unsigned level, uint64_t i)
{
  return level == 0 ? b->dead[i] : b->summary[level][i].full;
}

int opt_bitmap_height(const struct opt_bitmap *b, uint64_t leaf, unsigned *height)
{
  /* From the top down to the level at which the leaf's block has no punctured leaf: what decides
   * the height is in the same word there, unless the whole tree is live. */
  unsigned level = b->levels - 1;
  //@ ghost shape_lf(b->depth);
  /*@ loop invariant bounds: level < b->levels;
      loop invariant above: \forall integer k; level < k < b->levels ==>
        any(b, k, blk(leaf, k)) && !full(b, k, blk(leaf, k));
      loop assigns level;
      loop variant level; */
  for (;; level--) {
    uint64_t block = opt_block(leaf, level);
    unsigned i = block % 64;
    uint64_t any = any_at(b, level, block / 64);
    //@ assert parent: level < b->levels - 1 ==> block / 64 == blk(leaf, level + 1);
    if (!opt_has(any, i)) {
      //@ ghost live_lf(b, level);
      //@ assert here: !any(b, level, blk(leaf, level)) && !full(b, level, blk(leaf, level));
      /*@ assert path: level < b->levels - 1 ==> \forall integer j; level + 1 <= j < b->levels ==>
            blk(blk(leaf, level + 1), j - (level + 1)) == blk(leaf, j); */
      //@ assert clear: level < b->levels - 1 ==> !under(b, level + 1, blk(leaf, level + 1));
      //@ assert not_under: !under(b, level, blk(leaf, level));
      //@ assert live: !gone(b, leaf);
      if (any == 0) {
        /*@ assert zero: level < b->levels - 1 ==>
              any_word(b, level, blk(leaf, level + 1)) == 0 &&
              any(b, level + 1, blk(leaf, level + 1)); */
        //@ assert top: level == b->levels - 1;
        //@ assert none: \forall integer x; 0 <= x < pow2(b->depth) ==> blk(x, level) / 64 == 0;
        /*@ assert free: \forall integer x; 0 <= x < pow2(b->depth) ==>
              !any(b, level, blk(x, level)); */
        /*@ assert free_under: \forall integer x; 0 <= x < pow2(b->depth) ==>
              !under(b, level, blk(x, level)); */
        //@ assert all: \forall integer x; !gone(b, x);
        *height = b->depth;
        //@ assert kept: same_words{Pre,Here}(b);
        //@ assert live: !gone(b, leaf);
        //@ assert all: \forall integer x; !gone(b, x);
        return 1;
      }
      unsigned h = 6 * level + opt_gap_height(any, i);
      //@ ghost unsigned g = h - 6 * level;
      //@ ghost around_lf(level, g);
      //@ ghost around_lf(level, g + 1);
      //@ ghost any_all_lf(b, level);
      /*@ assert bits: \forall integer x; 0 <= x < pow2(b->depth) ==>
            blk(x, level) / 64 == block / 64 ==>
            (any(b, level, blk(x, level)) <==> bit(any, blk(x, level) % 64)); */
      /*@ assert near: \forall integer x; 0 <= x < pow2(b->depth) ==>
            covers(down(leaf, 6 * level + g), 6 * level + g, x) ==>
            !any(b, level, blk(x, level)); */
      /*@ assert up_one: \forall integer x; 0 <= x ==> level < b->levels - 1 ==>
            blk(x, level) / 64 == block / 64 ==> blk(x, level + 1) == blk(leaf, level + 1); */
      /*@ assert near_under: \forall integer x; 0 <= x < pow2(b->depth) ==>
            covers(down(leaf, 6 * level + g), 6 * level + g, x) ==>
            !under(b, level, blk(x, level)); */
      /*@ assert free: \forall integer x; covers(down(leaf, 6 * level + g), 6 * level + g, x) ==>
            !gone(b, x); */
      /*@ assert bit: \exists integer j; 0 <= j < 64 && any(b, level, 64 * (block / 64) + j) &&
            shr(j, g + 1) == shr(i, g + 1); */
      /*@ assert block: \exists integer y; 0 <= y && any(b, level, y) && y / 64 == block / 64 &&
            shr(y % 64, g + 1) == shr(i, g + 1); */
      /*@ assert some: \exists integer x; gone(b, x) && blk(x, level) / 64 == block / 64 &&
            shr(blk(x, level) % 64, g + 1) == shr(i, g + 1); */
      /*@ assert maximal: \exists integer x; gone(b, x) &&
            covers(down(leaf, 6 * level + g + 1), 6 * level + g + 1, x); */
      //@ ghost unsigned t = b->depth - 6 * level;
      //@ ghost unsigned w = t < 6 ? t : 6;
      //@ ghost shr_zero_lf(w);
      //@ assert width: t <= 6 ==> w == t;
      //@ ghost shr_mono_lf();
      //@ assert top: t <= 6 ==> level == b->levels - 1 && block < pow2(t) && block / 64 == 0;
      //@ assert digits: \forall integer j; 0 <= j < 64 ==> j / 64 == 0 && j % 64 == j;
      //@ assert word: t <= 6 ==> any == any_word(b, level, 0) && words(b->depth, level) == 1;
      /*@ assert set: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==>
            any(b, level, j); */
      /*@ assert low: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==>
            j < pow2(t); */
      //@ assert shift: t <= 6 ==> \forall integer j; 0 <= j < pow2(t) ==> shr(j, t) == 0;
      //@ assert own: t <= 6 ==> i < pow2(t);
      /*@ assert equal: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==>
            shr(j, t) == shr(i, t); */
      //@ assert inside: 6 * level + g < b->depth;
      *height = h;
      //@ assert kept: same_words{Pre,Here}(b);
      //@ assert live: !gone(b, leaf);
      //@ assert free: \forall integer x; covers(down(leaf, h), h, x) ==> !gone(b, x);
      //@ assert maximal: \exists integer x; gone(b, x) && covers(down(leaf, h + 1), h + 1, x);
      return 1;
    }
    if (level == 0 || opt_has(full_at(b, level, block / 64), i)) {
      //@ assert full: full(b, level, blk(leaf, level));
      //@ assert gone: gone(b, leaf);
      return 0;
    }
  }
}

int opt_bitmap_is_full(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  //@ ghost shape_lf(b->depth);
  //@ ghost uint64_t leaf = full_lf(b, level, block);
  /*@ assert path: \forall integer k; level <= k < b->levels ==>
        blk(block, k - level) == blk(leaf, k); */
  /*@ loop invariant bounds: level <= k < b->levels;
      loop invariant above: \forall integer j; k < j < b->levels ==>
        any(b, j, blk(leaf, j)) && !full(b, j, blk(leaf, j));
      loop assigns k;
      loop variant k; */
  for (unsigned k = b->levels - 1; k > level; k--) {
    uint64_t above = opt_block(block, k - level);
    //@ assert above: above == blk(leaf, k);
    const struct opt_summary *s = &b->summary[k][above / 64];
    if (!opt_has(s->any, above % 64)) {
      //@ assert clear: !any(b, k, blk(leaf, k)) && !full(b, k, blk(leaf, k));
      /*@ assert further: \forall integer j; k <= j < b->levels ==>
            blk(blk(leaf, k), j - k) == blk(leaf, j); */
      //@ assert not_under: !under(b, k, blk(leaf, k));
      //@ ghost live_lf(b, k);
      return 0;
    }
    if (opt_has(s->full, above % 64)) {
      //@ assert marked: full(b, k, blk(block, k - level));
      return 1;
    }
  }
  /*@ assert not_above: \forall integer j; level < j < b->levels ==>
        !full(b, j, blk(block, j - level)); */
  //@ assert not_under: !full(b, level, block) ==> !under(b, level, block);
  return opt_has(full_at(b, level, block / 64), block % 64);
}

/* The least live leaf of a block that is not full, nor one around it; of the block behind the
 * tree's last one, at the top level, the tree's end. */
/*@ requires bitmap(b) && level < b->levels;
    requires end: block <= blocks(b->depth, level) && block < 64 * words(b->depth, level);
    requires live: !under(b, level, block);
    assigns \nothing;
    ensures leaf: \old(block) < blocks(b->depth, \old(level)) ==>
      \result < pow2(b->depth) && blk(\result, \old(level)) == \old(block) && !gone(b, \result);
    ensures least: \old(block) < blocks(b->depth, \old(level)) ==>
      \forall integer x; 0 <= x < \result ==> blk(x, \old(level)) == \old(block) ==> gone(b, x);
    ensures end: \old(block) == blocks(b->depth, \old(level)) ==> \result == pow2(b->depth); */
static uint64_t first_live(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  //@ ghost unsigned d = b->depth;
  //@ ghost shape_lf(d);
  /*@ loop invariant bounds: level <= \at(level,Pre) && block < 64 * words(d, level);
      loop invariant inside: \at(block,Pre) < blocks(d, \at(level,Pre)) ==>
        block < blocks(d, level);
      loop invariant outside: \at(block,Pre) == blocks(d, \at(level,Pre)) ==>
        level == \at(level,Pre) && block == \at(block,Pre);
      loop invariant path: blk(block, \at(level,Pre) - level) == \at(block,Pre);
      loop invariant live: !under(b, level, block);
      loop invariant least: \forall integer x; 0 <= x < pow2(d) ==>
        blk(x, \at(level,Pre)) == \at(block,Pre) ==> blk(x, level) < block ==> gone(b, x);
      loop assigns level, block;
      loop variant level; */
  for (; level > 0; level--) {
    if (!opt_has(b->summary[level][block / 64].any, block % 64)) {
      //@ ghost unsigned h = 6 * level;
      //@ ghost uint64_t n = end_lf(0, d - h);
      //@ ghost uint64_t z = block < n ? full_lf(b, level, block) : 0;
      //@ ghost shl_lf(block, h);
      //@ ghost pow2_sum_lf(d - h, h);
      //@ ghost shift_lf(z, h);
      //@ ghost shr_blk_lf(level);
      //@ ghost around_one_lf(h);
      //@ ghost around_two_lf(h);
      //@ ghost pow2_pos_lf();
      //@ ghost live_lf(b, level);
      //@ assert end: block == blocks(d, level) ==> (block << h) == pow2(d);
      //@ assert block: block < n ==> block == (z >> h) && (block << h) == down(z, h);
      //@ assert first: covers(down(z, h), h, down(z, h)) && 0 <= down(z, h) <= z;
      //@ assert in: block < n ==> blk(down(z, h), level) == block;
      /*@ assert clear: block < n ==> !any(b, level, blk(down(z, h), level)) &&
            !under(b, level, blk(down(z, h), level)); */
      //@ assert leaf: block < n ==> !under(b, 0, blk(down(z, h), 0));
      //@ assert free: block < n ==> !gone(b, down(z, h));
      //@ assert before: \forall integer x; 0 <= x < down(z, h) ==> blk(x, level) < blk(z, level);
      return block << 6 * level;
    }
    uint64_t clear = opt_clear(full_at(b, level - 1, block));
    //@ assert inside: block < blocks(d, level) && \at(block,Pre) < blocks(d, \at(level,Pre));
    //@ assert some: clear != 0;
    //@ ghost uint64_t up = block;
    block = 64 * block + opt_lsb(clear);
    //@ assert up: block / 64 == up && block % 64 == block - 64 * up;
    //@ assert not_full: !full(b, level - 1, block);
    //@ assert live: !under(b, level - 1, block);
    //@ assert full: \forall integer y; 64 * up <= y < block ==> full(b, level - 1, y);
    /*@ assert gone: \forall integer x; 0 <= x < pow2(d) ==>
          64 * up <= blk(x, level - 1) < block ==> gone(b, x); */
    //@ assert path: blk(block, \at(level,Pre) - (level - 1)) == \at(block,Pre);
    /*@ assert least: \forall integer x; 0 <= x < pow2(d) ==> blk(x, level - 1) < block ==>
          blk(x, level) < up || 64 * up <= blk(x, level - 1) < block; */
  }
  return block;
}

/* The next block behind a block that is not full, if it lies in the same word; else the first block
 * of the next word. */
/*@ requires bitmap: bitmap(b) && level < b->levels && block < blocks(b->depth, level);
    assigns \nothing;
    ensures bounds: block < \result <= 64 * (block / 64) + 64;
    ensures end: \result / 64 == block / 64 ==> \result <= blocks(b->depth, level);
    ensures full: \forall integer y; block < y < \result ==> full(b, level, y);
    ensures next: \result / 64 == block / 64 ==> !full(b, level, \result); */
static inline uint64_t next_not_full(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  uint64_t word = block / 64;
  //@ ghost shape_lf(b->depth);
  //@ ghost unsigned i = block % 64;
  uint64_t right = opt_clear(full_at(b, level, word)) & ~opt_upto(block % 64);
  //@ assert place: block == 64 * word + i && i < 64;
  /*@ assert bits: \forall integer j; 0 <= j < 64 ==> (bit(right, j) <==>
        j > i && !bit(full_word(b, level, word), j)); */
  /*@ assert digits: \forall integer j; 0 <= j < 64 ==>
        (64 * word + j) / 64 == word && (64 * word + j) % 64 == j; */
  /*@ assert right: \forall integer j; 0 <= j < 64 ==> (bit(right, j) <==>
        j > i && !full(b, level, 64 * word + j)); */
  unsigned next = right != 0 ? opt_lsb(right) : 64;
  //@ assert clear: \forall integer j; i < j < next ==> full(b, level, 64 * word + j);
  //@ assert split: \forall integer y; block < y < 64 * word + next ==> i < y - 64 * word < next;
  /*@ assert top: level + 1 == b->levels ==>
        \forall integer y; full(b, level, y) ==> y < blocks(b->depth, level); */
  /*@ assert low: level + 1 < b->levels ==>
        64 * words(b->depth, level) == blocks(b->depth, level); */
  //@ assert last: 64 * word + next - 1 == block || full(b, level, 64 * word + next - 1);
  return 64 * word + next;
}

/* Whether a leaf is live. */
/*@ requires bitmap: bitmap(b) && leaf < pow2(b->depth);
    assigns \nothing;
    ensures live: \result != 0 <==> !gone(b, leaf); */
static inline int is_live(const struct opt_bitmap *b, uint64_t leaf)
{
  unsigned height;
  int live = opt_bitmap_height(b, leaf, &height);
  //@ assert same: same_words{Pre,Here}(b);
  //@ assert shape: b->depth == \at(b->depth,Pre) && b->levels == \at(b->levels,Pre);
  //@ assert set: gone(b, leaf) <==> gone{Pre}(b, leaf);
  return live;
}

/* The greatest level at which a punctured leaf's block is full. */
/*@ requires bitmap: bitmap(b) && leaf < pow2(b->depth) && gone(b, leaf);
    assigns \nothing;
    ensures level: \result < b->levels && full(b, \result, blk(leaf, \result));
    ensures above: \forall integer j; \result < j < b->levels ==> !full(b, j, blk(leaf, j));
    ensures gone: \forall integer x; leaf <= x < pow2(b->depth) ==>
      blk(x, \result) <= blk(leaf, \result) ==> gone(b, x); */
static inline unsigned full_level(const struct opt_bitmap *b, uint64_t leaf)
{
  //@ ghost shape_lf(b->depth);
  unsigned level = b->levels - 1;
  /*@ loop invariant bounds: level < b->levels;
      loop invariant above: \forall integer j; level < j < b->levels ==>
        !full(b, j, blk(leaf, j));
      loop assigns level;
      loop variant level; */
  while (level > 0 && !opt_has(b->summary[level][opt_block(leaf, level) / 64].full,
                               opt_block(leaf, level) % 64))
    level--;
  //@ ghost blk_mono_lf(level);
  //@ assert full: full(b, level, blk(leaf, level));
  return level;
}

uint64_t opt_bitmap_next_live(const struct opt_bitmap *b, uint64_t leaf)
{
  //@ ghost unsigned d = b->depth;
  //@ ghost shape_lf(d);
  //@ ghost shift_lf(leaf, d);
  //@ ghost shl_lf(1, d);
  if (leaf >> b->depth != 0 || is_live(b, leaf))
    return leaf;
  unsigned level = full_level(b, leaf);
  /*@ loop invariant bounds: level <= b->levels;
      loop invariant above: \forall integer j; level < j < b->levels ==>
        !full(b, j, blk(leaf, j));
      loop invariant gone: level < b->levels ==> \forall integer x; leaf <= x < pow2(d) ==>
        blk(x, level) <= blk(leaf, level) ==> gone(b, x);
      loop invariant all: level == b->levels ==> \forall integer x; leaf <= x < pow2(d) ==>
        gone(b, x);
      loop assigns level;
      loop variant b->levels - level; */
  for (; level < b->levels; level++) {
    uint64_t block = opt_block(leaf, level), next = next_not_full(b, level, block);
    //@ ghost blk_mono_lf(level);
    //@ assert ahead: \forall integer x; leaf <= x ==> block <= blk(x, level);
    /*@ assert full: \forall integer x; leaf <= x < pow2(d) ==> full(b, level, blk(x, level)) ==>
          gone(b, x); */
    /*@ assert before: \forall integer x; leaf <= x < pow2(d) ==> blk(x, level) < next ==>
          gone(b, x); */
    if (next / 64 == block / 64) { /* behind the tree's last block that gives 2^depth */
      /*@ assert up: \forall integer j; level < j < b->levels ==>
            blk(next, j - level) == blk(next / 64, j - level - 1) &&
            blk(block, j - level) == blk(block / 64, j - level - 1); */
      /*@ assert path: \forall integer j; level < j < b->levels ==>
            blk(next, j - level) == blk(block, j - level) == blk(leaf, j); */
      //@ assert here: !full(b, level, blk(next, 0));
      /*@ assert above: \forall integer j, i; level < j < b->levels ==> i == j - level ==>
            blk(next, i) == blk(leaf, j); */
      /*@ assert same: \forall integer j, i; level < j < b->levels ==> i == j - level ==>
            !full(b, j, blk(leaf, j)) ==> !full(b, j, blk(next, i)); */
      /*@ assert around: \forall integer j, i; level < j < b->levels ==> i == j - level ==>
            !full(b, j, blk(next, i)); */
      uint64_t found = first_live(b, level, next);
      //@ assert inside: next < blocks(d, level) ==> found < pow2(d) && blk(found, level) == next;
      /*@ assert none: \forall integer x; leaf <= x < found ==> x < pow2(d) &&
            (blk(x, level) < next || blk(x, level) == blk(found, level)); */
      //@ assert least: \forall integer x; leaf <= x < found ==> gone(b, x);
      return found;
    }
    //@ assert word: next == 64 * (block / 64) + 64;
    /*@ assert up: \forall integer x; 0 <= x < pow2(d) ==> level + 1 < b->levels ==>
          blk(x, level + 1) == blk(x, level) / 64; */
  }
  return UINT64_C(1) << b->depth;
}

/* Set bits of word i of a level: `full`, and so `any`. */
/*@ requires layout(b) && level < b->levels && i < words(b->depth, level);
    assigns BITMAP_WORDS(b);
    ensures others: others{Pre,Post}(b, level, i);
    ensures any: any_set{Pre,Post}(b, level, i, bits);
    ensures full: full_set{Pre,Post}(b, level, i, bits);
    ensures layout: layout(b); */
static inline void set_full(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  if (level == 0) {
    b->dead[i] |= bits;
  } else {
    b->summary[level][i].any |= bits;
    b->summary[level][i].full |= bits;
  }
  /*@ assert any: \forall integer j; 0 <= j < 64 ==>
        (bit(any_word(b, level, i), j) <==> bit(any_word{Pre}(b, level, i), j) || bit(bits, j)); */
  /*@ assert full: \forall integer j; 0 <= j < 64 ==>
        (bit(full_word(b, level, i), j) <==>
         bit(full_word{Pre}(b, level, i), j) || bit(bits, j)); */
  //@ assert others: others{Pre,Here}(b, level, i);
}

/* Set bits of word i of a level above the leaves: `any` alone. */
/*@ requires layout(b) && 1 <= level < b->levels && i < words(b->depth, level);
    assigns BITMAP_WORDS(b);
    ensures others: others{Pre,Post}(b, level, i);
    ensures any: any_set{Pre,Post}(b, level, i, bits);
    ensures full: full_same_at{Pre,Post}(b);
    ensures layout: layout(b); */
static inline void set_any(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  b->summary[level][i].any |= bits;
  /*@ assert any: \forall integer j; 0 <= j < 64 ==>
        (bit(any_word(b, level, i), j) <==> bit(any_word{Pre}(b, level, i), j) || bit(bits, j)); */
  //@ assert others: others{Pre,Here}(b, level, i);
}

/* Set bits of word i of a level; the levels above do not know yet. */
/*@ requires bitmap(b) && level < b->levels && i < words(b->depth, level);
    requires bits != 0 && inside(b, level, i, bits);
    assigns BITMAP_WORDS(b);
    ensures filling: filling(b, level, i);
    ensures gone: \forall integer x; 0 <= x < pow2(b->depth) ==> (gone(b, x) <==>
      gone{Pre}(b, x) || (blk(x, level) / 64 == i && bit(bits, blk(x, level) % 64))); */
static inline void start(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  //@ ghost shape_lf(b->depth);
  //@ ghost unsigned some = some_bit(bits);
  set_full(b, level, i, bits);
  //@ assert digits: (64 * i + some) / 64 == i && (64 * i + some) % 64 == some;
  //@ assert new: any(b, level, 64 * i + some);
  //@ assert some: any_word(b, level, i) != 0;
  //@ assert kept: full_kept{Pre,Here}(b);
  //@ assert full_any: full_any(b);
  //@ assert any_up: any_up(b, level, i);
  //@ assert full_up: full_up(b, level, i);
  //@ assert any_down: any_down(b);
  //@ assert no_more: no_more(b);
  /*@ assert back: \forall integer x; gone(b, x) ==>
        gone{Pre}(b, x) || (blk(x, level) / 64 == i && bit(bits, blk(x, level) % 64)); */
  /*@ assert marked: \forall integer x; 0 <= x < pow2(b->depth) ==> blk(x, level) / 64 == i ==>
        bit(bits, blk(x, level) % 64) ==> full(b, level, blk(x, level)); */
}

/* Word z of the level below is full: so is block z. */
/*@ requires 1 <= level < b->levels && filling(b, level - 1, z) && z < words(b->depth, level - 1);
    requires full_word(b, level - 1, z) == ALL_BITS;
    assigns BITMAP_WORDS(b);
    ensures filling: filling(b, level, z / 64);
    ensures kept: full_kept{Pre,Post}(b);
    ensures marked: full(b, level, z);
    ensures gone: \forall integer x; gone(b, x) <==> gone{Pre}(b, x); */
static inline void fill(struct opt_bitmap *b, unsigned level, uint64_t z)
{
  //@ ghost shape_lf(b->depth);
  //@ ghost all_bits_lf(0);
  //@ assert block: full_block(b, level - 1, z);
  set_full(b, level, z / 64, opt_bit(z % 64));
  /*@ assert digits: \forall integer y; 0 <= y ==>
        (y / 64 == z / 64 && y % 64 == z % 64 <==> y == z); */
  //@ assert any_one: any_one{Pre,Here}(b, level, z);
  //@ assert full_one: full_one{Pre,Here}(b, level, z);
  //@ assert marked: full(b, level, z) && any(b, level, z);
  //@ assert kept: full_kept{Pre,Here}(b);
  //@ assert some: any_word(b, level, z / 64) != 0;
  //@ assert below: any_word(b, level - 1, z) != 0;
  //@ assert full_any: full_any(b);
  //@ assert any_up: any_up(b, level, z / 64);
  //@ assert full_up: full_up(b, level, z / 64);
  //@ assert any_down: any_down(b);
  //@ assert no_more: no_more(b);
}

/* Some leaf of block z is punctured. */
/*@ requires 1 <= level < b->levels && rising(b, level - 1, z) && z < words(b->depth, level - 1);
    assigns BITMAP_WORDS(b);
    ensures rising: rising(b, level, z / 64);
    ensures kept: full_kept{Pre,Post}(b);
    ensures gone: \forall integer x; gone(b, x) <==> gone{Pre}(b, x); */
static inline void rise(struct opt_bitmap *b, unsigned level, uint64_t z)
{
  //@ ghost shape_lf(b->depth);
  set_any(b, level, z / 64, opt_bit(z % 64));
  /*@ assert digits: \forall integer y; 0 <= y ==>
        (y / 64 == z / 64 && y % 64 == z % 64 <==> y == z); */
  //@ assert any_one: any_one{Pre,Here}(b, level, z);
  //@ assert any: any(b, level, z);
  //@ assert kept: full_kept{Pre,Here}(b);
  //@ assert some: any_word(b, level, z / 64) != 0;
  //@ assert below: any_word(b, level - 1, z) != 0;
  //@ assert any_up: any_up(b, level, z / 64);
  //@ assert full_any: full_any(b);
  //@ assert any_down: any_down(b);
  //@ assert no_more: no_more(b);
}

/* Set bits of word i of a level, none of whose blocks above is full, and what follows from that
 * above: `full` while words fill up, then `any`.  Gives the greatest level with a new full bit. */
/*@ requires bitmap(b) && level < b->levels && i < words(b->depth, level);
    requires bits != 0 && inside(b, level, i, bits);
    assigns BITMAP_WORDS(b);
    ensures bitmap: bitmap(b);
    ensures gone: \forall integer x; 0 <= x < pow2(b->depth) ==> (gone(b, x) <==>
      gone{Pre}(b, x) || (blk(x, level) / 64 == i && bit(bits, blk(x, level) % 64)));
    ensures level: level <= \result < b->levels;
    ensures full: full_path(b, level, \result, i); */
static inline unsigned set_bits(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  //@ ghost shape_lf(b->depth);
  start(b, level, i, bits);
  //@ ghost First: ;
  /*@ loop invariant bounds: \at(level,Pre) <= level < b->levels && i < words(b->depth, level);
      loop invariant path: i == blk(\at(i,Pre), level - \at(level,Pre));
      loop invariant filling: filling(b, level, i);
      loop invariant gone: \forall integer x; gone(b, x) <==> gone{First}(b, x);
      loop invariant full: full_path(b, \at(level,Pre), level, \at(i,Pre));
      loop assigns level, i, BITMAP_WORDS(b);
      loop variant b->levels - level; */
  while (level + 1 < b->levels && full_at(b, level, i) == UINT64_MAX) {
    level++;
    fill(b, level, i);
    //@ assert kept: full_path(b, \at(level,Pre), level - 1, \at(i,Pre));
    //@ assert step: full_step(b, \at(level,Pre), level, \at(i,Pre));
    i /= 64;
  }
  //@ assert rising: rising(b, level, i);
  /*@ loop invariant bounds: level < k <= b->levels && i < words(b->depth, k - 1);
      loop invariant rising: rising(b, k - 1, i);
      loop invariant gone: \forall integer x; gone(b, x) <==> gone{First}(b, x);
      loop invariant full: full_path(b, \at(level,Pre), level, \at(i,Pre));
      loop assigns k, i, BITMAP_WORDS(b);
      loop variant b->levels - k; */
  for (unsigned k = level + 1; k < b->levels; k++) {
    if (opt_has(any_at(b, k, i / 64), i % 64)) {
      //@ assert any: any(b, k, i);
      //@ assert bitmap: bitmap(b);
      break;
    }
    rise(b, k, i);
    i /= 64;
  }
  //@ assert bitmap: bitmap(b);
  return level;
}

unsigned opt_bitmap_puncture(struct opt_bitmap *b, uint64_t leaf)
{
  //@ ghost shape_lf(b->depth);
  uint64_t bits = opt_bit(leaf % 64);
  /*@ assert leaf: \forall integer y; 0 <= y ==>
        (y / 64 == leaf / 64 && y % 64 == leaf % 64 <==> y == leaf); */
  unsigned level = set_bits(b, 0, leaf / 64, bits);
  //@ assert step: \forall integer k; 0 < k <= level ==> full_step(b, 0, k, leaf / 64);
  //@ assert marked: \forall integer k; 0 < k <= level ==> full(b, k, blk(leaf, k));
  //@ assert under: \forall integer k; 0 <= k <= level ==> under(b, k, blk(leaf, k));
  /*@ assert gone: \forall integer k, x; 0 <= k <= level ==> 0 <= x < pow2(b->depth) ==>
        blk(x, k) == blk(leaf, k) ==> gone(b, x); */
  return level;
}

/* set_bits, but not below a full block: there the leaves are punctured already. */
/*@ requires bitmap(b) && level < b->levels && i < words(b->depth, level);
    requires bits != 0 && inside(b, level, i, bits);
    assigns BITMAP_WORDS(b);
    ensures bitmap: bitmap(b);
    ensures gone: \forall integer x; 0 <= x < pow2(b->depth) ==> (gone(b, x) <==>
      gone{Pre}(b, x) || (blk(x, level) / 64 == i && bit(bits, blk(x, level) % 64))); */
static void set_bits_unless_full(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  //@ ghost shape_lf(b->depth);
  if (level + 1 == b->levels || !opt_bitmap_is_full(b, level + 1, i))
    (void)set_bits(b, level, i, bits);
  /*@ assert full: \forall integer x; 0 <= x < pow2(b->depth) ==> level + 1 < b->levels ==>
        blk(x, level + 1) == blk(x, level) / 64; */
}

void opt_bitmap_puncture_range(struct opt_bitmap *b, uint64_t first, uint64_t last)
{
  //@ ghost unsigned d = b->depth;
  //@ ghost shape_lf(d);
  /* At each level the partial words at both ends; whole words are full blocks one level up. */
  /*@ loop invariant bounds: level < b->levels && b->depth == d;
      loop invariant span: first <= last < blocks(d, level);
      loop invariant bitmap: bitmap(b);
      loop invariant gone: \forall integer x; 0 <= x < pow2(d) ==>
        (gone(b, x) || first <= blk(x, level) <= last <==>
         gone{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre));
      loop assigns level, first, last, BITMAP_WORDS(b);
      loop variant b->levels - level; */
  for (unsigned level = 0;; level++) {
    uint64_t i = first / 64, j = last / 64;
    unsigned from = first % 64, to = last % 64;
    //@ assert top: level + 1 == b->levels ==> i == 0 && j == 0;
    uint64_t head = opt_bits(from, i == j ? to : 63);
    /*@ assert head: \forall integer y; 0 <= y ==> (y / 64 == i && bit(head, y % 64) <==>
          first <= y && y <= last && y <= 64 * i + 63); */
    //@ assert some: bit(head, from);
    //@ assert inside: inside(b, level, i, head);
    if (level + 1 == b->levels || (i == j && head != UINT64_MAX)) {
      set_bits_unless_full(b, level, i, head);
      return;
    }
    //@ ghost all_bits_lf(0);
    //@ assert whole: i == j ==> from == 0 && to == 63;
    /*@ assert up: \forall integer x; 0 <= x < pow2(d) ==>
          blk(x, level + 1) == blk(x, level) / 64; */
    if (from != 0) {
      set_bits_unless_full(b, level, i, head);
      i++;
    }
    /*@ assert left: \forall integer x; 0 <= x < pow2(d) ==>
          (gone(b, x) || 64 * i <= blk(x, level) <= last <==>
           gone{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre)); */
    if (to != 63) {
      uint64_t tail = opt_bits(0, to);
      /*@ assert tail: \forall integer y; 0 <= y ==> (y / 64 == j && bit(tail, y % 64) <==>
            64 * j <= y <= last); */
      //@ assert some: bit(tail, 0);
      //@ assert inside: inside(b, level, j, tail);
      set_bits_unless_full(b, level, j, tail);
      j--;
    }
    /*@ assert right: \forall integer x; 0 <= x < pow2(d) ==>
          (gone(b, x) || 64 * i <= blk(x, level) <= 64 * j + 63 <==>
           gone{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre)); */
    if (i > j)
      return;
    first = i;
    last = j;
  }
}

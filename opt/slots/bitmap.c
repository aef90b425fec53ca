/* SPDX-License-Identifier: Apache-2.0 */
/* Searching and changing the set of punctured leaves (bitmap.h). */
#include "bitmap.h"
#include "wp/bitmap_steps.h"

/* The `any` bits of word i of a level; at level 0 its leaves. */
/*@ requires layout(b) && level < b->levels && i < words(b->depth, level);
    assigns \nothing;
    ensures \result == any_word(b, level, i); */
static inline uint64_t any_at(const struct opt_bitmap *b, unsigned level, uint64_t i)
{
  return level == 0 ? b->leaves[i] : b->summary[level][i].any;
}

/*@ requires layout(b) && level < b->levels && i < words(b->depth, level);
    assigns \nothing;
    ensures \result == full_word(b, level, i); */
static inline uint64_t full_at(const struct opt_bitmap *b, unsigned level, uint64_t i)
{
  return level == 0 ? b->leaves[i] : b->summary[level][i].full;
}

int opt_bitmap_height(const struct opt_bitmap *b, uint64_t leaf, unsigned *height)
{
  /* From the top down to the first level at which the leaf's block has no punctured leaf: the
   * bits that decide the height are in the same word there, unless the whole tree is live. */
  unsigned level = b->levels - 1;
  //@ ghost shape_lemma(b->depth);
  /*@ loop invariant bounds: level < b->levels;
      loop invariant above: \forall integer k; level < k < b->levels ==>
        any(b, k, block_of(leaf, k)) && !full(b, k, block_of(leaf, k));
      loop assigns level;
      loop variant level; */
  for (;; level--) {
    uint64_t block = opt_block(leaf, level);
    unsigned i = block % 64;
    uint64_t any = any_at(b, level, block / 64);
    //@ assert parent: level < b->levels - 1 ==> block / 64 == block_of(leaf, level + 1);
    if (!opt_has(any, i)) {
      LEAF_IS_LIVE
      if (any == 0) {
        NOTHING_IS_PUNCTURED
        *height = b->depth;
        WHOLE_TREE_IS_LIVE
        return 1;
      }
      unsigned h = 6 * level + opt_gap_height(any, i);
      GAP_IS_LIVE_AND_MAXIMAL
      *height = h;
      HEIGHT_OF_GAP
      return 1;
    }
    if (level == 0 || opt_has(full_at(b, level, block / 64), i)) {
      //@ assert full: full(b, level, block_of(leaf, level));
      //@ assert punctured: is_punctured(b, leaf);
      return 0;
    }
  }
}

int opt_bitmap_is_full(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  PATH_OF_BLOCK
  /*@ loop invariant bounds: level <= k < b->levels;
      loop invariant above: \forall integer j; k < j < b->levels ==>
        any(b, j, block_of(leaf, j)) && !full(b, j, block_of(leaf, j));
      loop assigns k;
      loop variant k; */
  for (unsigned k = b->levels - 1; k > level; k--) {
    uint64_t above = opt_block(block, k - level);
    //@ assert above: above == block_of(leaf, k);
    const struct opt_summary *s = &b->summary[k][above / 64];
    if (!opt_has(s->any, above % 64)) {
      NOT_FULL_AT_LEVEL
      return 0;
    }
    if (opt_has(s->full, above % 64)) {
      //@ assert marked: full(b, k, block_of(block, k - level));
      return 1;
    }
  }
  NOT_FULL_ABOVE
  return opt_has(full_at(b, level, block / 64), block % 64);
}

/* Least live leaf of a block that is not full and lies in no full block.  For the block after
 * the tree's last one, at the top level: the end of the tree. */
/*@ requires bitmap(b) && level < b->levels;
    requires end: block <= blocks(b->depth, level) && block < 64 * words(b->depth, level);
    requires live: !in_full_block(b, level, block);
    assigns \nothing;
    ensures leaf: \old(block) < blocks(b->depth, \old(level)) ==>
      \result < pow2(b->depth) && block_of(\result, \old(level)) == \old(block) &&
      !is_punctured(b, \result);
    ensures least: \old(block) < blocks(b->depth, \old(level)) ==>
      \forall integer x; 0 <= x < \result ==>
        block_of(x, \old(level)) == \old(block) ==> is_punctured(b, x);
    ensures end: \old(block) == blocks(b->depth, \old(level)) ==> \result == pow2(b->depth); */
static uint64_t first_live(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  //@ ghost unsigned d = b->depth;
  //@ ghost shape_lemma(d);
  /*@ loop invariant bounds: level <= \at(level,Pre) && block < 64 * words(d, level);
      loop invariant inside: \at(block,Pre) < blocks(d, \at(level,Pre)) ==>
        block < blocks(d, level);
      loop invariant outside: \at(block,Pre) == blocks(d, \at(level,Pre)) ==>
        level == \at(level,Pre) && block == \at(block,Pre);
      loop invariant path: block_of(block, \at(level,Pre) - level) == \at(block,Pre);
      loop invariant live: !in_full_block(b, level, block);
      loop invariant least: \forall integer x; 0 <= x < pow2(d) ==>
        block_of(x, \at(level,Pre)) == \at(block,Pre) ==>
        block_of(x, level) < block ==> is_punctured(b, x);
      loop assigns level, block;
      loop variant level; */
  for (; level > 0; level--) {
    if (!opt_has(b->summary[level][block / 64].any, block % 64)) {
      BLOCK_BEGINS_LIVE
      return block << 6 * level;
    }
    uint64_t clear = opt_clear(full_at(b, level - 1, block));
    A_CHILD_IS_NOT_FULL
    block = 64 * block + opt_lsb(clear);
    FIRST_CHILD_NOT_FULL
  }
  return block;
}

/* The next block in the same word after a block that is not full; otherwise the first block of
 * the next word. */
/*@ requires bitmap: bitmap(b) && level < b->levels && block < blocks(b->depth, level);
    assigns \nothing;
    ensures bounds: block < \result <= 64 * (block / 64) + 64;
    ensures end: \result / 64 == block / 64 ==> \result <= blocks(b->depth, level);
    ensures full: \forall integer y; block < y < \result ==> full(b, level, y);
    ensures next: \result / 64 == block / 64 ==> !full(b, level, \result); */
static inline uint64_t next_not_full(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  uint64_t word = block / 64;
  //@ ghost shape_lemma(b->depth);
  //@ ghost unsigned i = block % 64;
  uint64_t right = opt_clear(full_at(b, level, word)) & ~opt_upto(block % 64);
  BITS_RIGHT_OF_BLOCK
  unsigned next = right != 0 ? opt_lsb(right) : 64;
  BLOCKS_BETWEEN_ARE_FULL
  return 64 * word + next;
}

/* Whether a leaf is live. */
/*@ requires bitmap: bitmap(b) && leaf < pow2(b->depth);
    assigns \nothing;
    ensures live: \result != 0 <==> !is_punctured(b, leaf); */
static inline int is_live(const struct opt_bitmap *b, uint64_t leaf)
{
  unsigned height;
  int live = opt_bitmap_height(b, leaf, &height);
  SET_UNCHANGED
  return live;
}

/* Greatest level at which the block around a punctured leaf is full. */
/*@ requires bitmap: bitmap(b) && leaf < pow2(b->depth) && is_punctured(b, leaf);
    assigns \nothing;
    ensures level: \result < b->levels && full(b, \result, block_of(leaf, \result));
    ensures above: \forall integer j; \result < j < b->levels ==> !full(b, j, block_of(leaf, j));
    ensures leaves: \forall integer x; leaf <= x < pow2(b->depth) ==>
      block_of(x, \result) <= block_of(leaf, \result) ==> is_punctured(b, x); */
static inline unsigned full_level(const struct opt_bitmap *b, uint64_t leaf)
{
  //@ ghost shape_lemma(b->depth);
  unsigned level = b->levels - 1;
  /*@ loop invariant bounds: level < b->levels;
      loop invariant above: \forall integer j; level < j < b->levels ==>
        !full(b, j, block_of(leaf, j));
      loop assigns level;
      loop variant level; */
  while (level > 0 &&
         !opt_has(b->summary[level][opt_block(leaf, level) / 64].full, opt_block(leaf, level) % 64))
    level--;
  //@ ghost block_of_mono_lemma(level);
  //@ assert full: full(b, level, block_of(leaf, level));
  return level;
}

uint64_t opt_bitmap_next_live(const struct opt_bitmap *b, uint64_t leaf)
{
  LEAF_IN_TREE
  if (leaf >> b->depth != 0 || is_live(b, leaf))
    return leaf;
  unsigned level = full_level(b, leaf);
  /*@ loop invariant bounds: level <= b->levels;
      loop invariant above: \forall integer j; level < j < b->levels ==>
        !full(b, j, block_of(leaf, j));
      loop invariant leaves: level < b->levels ==> \forall integer x; leaf <= x < pow2(d) ==>
        block_of(x, level) <= block_of(leaf, level) ==> is_punctured(b, x);
      loop invariant all: level == b->levels ==>
        \forall integer x; leaf <= x < pow2(d) ==> is_punctured(b, x);
      loop assigns level;
      loop variant b->levels - level; */
  for (; level < b->levels; level++) {
    uint64_t block = opt_block(leaf, level), next = next_not_full(b, level, block);
    LEAVES_BEFORE_NEXT_ARE_PUNCTURED
    if (next / 64 == block / 64) { /* after the tree's last block this yields 2^depth */
      NEXT_HAS_NO_FULL_BLOCK_ABOVE
      uint64_t found = first_live(b, level, next);
      FOUND_IS_LEAST
      return found;
    }
    REST_OF_WORD_IS_FULL
  }
  return UINT64_C(1) << b->depth;
}

/* Set bits of word i of a level in `full`, and therefore in `any`. */
/*@ requires layout(b) && level < b->levels && i < words(b->depth, level);
    assigns BITMAP_WORDS(b);
    ensures others: others{Pre,Post}(b, level, i);
    ensures any: any_set{Pre,Post}(b, level, i, bits);
    ensures full: full_set{Pre,Post}(b, level, i, bits);
    ensures layout: layout(b); */
static inline void set_full(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  if (level == 0) {
    b->leaves[i] |= bits;
  } else {
    b->summary[level][i].any |= bits;
    b->summary[level][i].full |= bits;
  }
  BITS_OF_BOTH_WORDS
}

/* Set bits of word i of a level above the leaves in `any` alone. */
/*@ requires layout(b) && 1 <= level < b->levels && i < words(b->depth, level);
    assigns BITMAP_WORDS(b);
    ensures others: others{Pre,Post}(b, level, i);
    ensures any: any_set{Pre,Post}(b, level, i, bits);
    ensures full: full_same_at{Pre,Post}(b);
    ensures layout: layout(b); */
static inline void set_any(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  b->summary[level][i].any |= bits;
  BITS_OF_ANY_WORD
}

/* Set bits of word i of a level, without updating the levels above. */
/*@ requires bitmap(b) && level < b->levels && i < words(b->depth, level);
    requires bits != 0 && inside(b, level, i, bits);
    assigns BITMAP_WORDS(b);
    ensures filling: filling(b, level, i);
    ensures leaves: \forall integer x; 0 <= x < pow2(b->depth) ==> (is_punctured(b, x) <==>
      is_punctured{Pre}(b, x) || (block_of(x, level) / 64 == i &&
      bit(bits, block_of(x, level) % 64))); */
static inline void start(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  //@ ghost shape_lemma(b->depth);
  //@ ghost unsigned some = some_bit(bits);
  set_full(b, level, i, bits);
  MARKED_BLOCKS_ARE_PUNCTURED
}

/* Word z of the level below is full, so mark block z as full. */
/*@ requires 1 <= level < b->levels && filling(b, level - 1, z) && z < words(b->depth, level - 1);
    requires full_word(b, level - 1, z) == ALL_BITS;
    assigns BITMAP_WORDS(b);
    ensures filling: filling(b, level, z / 64);
    ensures kept: full_kept{Pre,Post}(b);
    ensures marked: full(b, level, z);
    ensures leaves: \forall integer x; is_punctured(b, x) <==> is_punctured{Pre}(b, x); */
static inline void mark_full_above(struct opt_bitmap *b, unsigned level, uint64_t z)
{
  BLOCK_BELOW_IS_FULL
  set_full(b, level, z / 64, opt_bit(z % 64));
  FULL_MARK_KEEPS_THE_SET
}

/* Some leaf of block z is punctured: mark it in `any`. */
/*@ requires 1 <= level < b->levels && rising(b, level - 1, z) && z < words(b->depth, level - 1);
    assigns BITMAP_WORDS(b);
    ensures rising: rising(b, level, z / 64);
    ensures kept: full_kept{Pre,Post}(b);
    ensures leaves: \forall integer x; is_punctured(b, x) <==> is_punctured{Pre}(b, x); */
static inline void mark_any_above(struct opt_bitmap *b, unsigned level, uint64_t z)
{
  //@ ghost shape_lemma(b->depth);
  set_any(b, level, z / 64, opt_bit(z % 64));
  ANY_MARK_KEEPS_THE_SET
}

/* Set bits of word i of a level; no block above it is full.  Updates the levels above: `full` as
 * long as words fill up, then `any`.  Returns the greatest level with a new full bit. */
/*@ requires bitmap(b) && level < b->levels && i < words(b->depth, level);
    requires bits != 0 && inside(b, level, i, bits);
    assigns BITMAP_WORDS(b);
    ensures bitmap: bitmap(b);
    ensures leaves: \forall integer x; 0 <= x < pow2(b->depth) ==> (is_punctured(b, x) <==>
      is_punctured{Pre}(b, x) || (block_of(x, level) / 64 == i &&
      bit(bits, block_of(x, level) % 64)));
    ensures level: level <= \result < b->levels;
    ensures full: full_path(b, level, \result, i); */
static inline unsigned set_bits(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  //@ ghost shape_lemma(b->depth);
  start(b, level, i, bits);
  //@ ghost First: ;
  /*@ loop invariant bounds: \at(level,Pre) <= level < b->levels && i < words(b->depth, level);
      loop invariant path: i == block_of(\at(i,Pre), level - \at(level,Pre));
      loop invariant filling: filling(b, level, i);
      loop invariant leaves: \forall integer x; is_punctured(b, x) <==> is_punctured{First}(b, x);
      loop invariant full: full_path(b, \at(level,Pre), level, \at(i,Pre));
      loop assigns level, i, BITMAP_WORDS(b);
      loop variant b->levels - level; */
  while (level + 1 < b->levels && full_at(b, level, i) == UINT64_MAX) {
    level++;
    mark_full_above(b, level, i);
    //@ assert kept: full_path(b, \at(level,Pre), level - 1, \at(i,Pre));
    //@ assert step: full_step(b, \at(level,Pre), level, \at(i,Pre));
    i /= 64;
  }
  //@ assert rising: rising(b, level, i);
  /*@ loop invariant bounds: level < k <= b->levels && i < words(b->depth, k - 1);
      loop invariant rising: rising(b, k - 1, i);
      loop invariant leaves: \forall integer x; is_punctured(b, x) <==> is_punctured{First}(b, x);
      loop invariant full: full_path(b, \at(level,Pre), level, \at(i,Pre));
      loop assigns k, i, BITMAP_WORDS(b);
      loop variant b->levels - k; */
  for (unsigned k = level + 1; k < b->levels; k++) {
    if (opt_has(any_at(b, k, i / 64), i % 64)) {
      //@ assert any: any(b, k, i);
      //@ assert bitmap: bitmap(b);
      break;
    }
    mark_any_above(b, k, i);
    i /= 64;
  }
  //@ assert bitmap: bitmap(b);
  return level;
}

unsigned opt_bitmap_puncture(struct opt_bitmap *b, uint64_t leaf)
{
  //@ ghost shape_lemma(b->depth);
  uint64_t bits = opt_bit(leaf % 64);
  /*@ assert leaf: \forall integer y; 0 <= y ==>
        (y / 64 == leaf / 64 && y % 64 == leaf % 64 <==> y == leaf); */
  unsigned level = set_bits(b, 0, leaf / 64, bits);
  FULL_BLOCKS_AROUND_LEAF
  return level;
}

/* set_bits, except below a full block, where all leaves are punctured already. */
/*@ requires bitmap(b) && level < b->levels && i < words(b->depth, level);
    requires bits != 0 && inside(b, level, i, bits);
    assigns BITMAP_WORDS(b);
    ensures bitmap: bitmap(b);
    ensures leaves: \forall integer x; 0 <= x < pow2(b->depth) ==> (is_punctured(b, x) <==>
      is_punctured{Pre}(b, x) || (block_of(x, level) / 64 == i &&
      bit(bits, block_of(x, level) % 64))); */
static void set_bits_unless_full(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  //@ ghost shape_lemma(b->depth);
  if (level + 1 == b->levels || !opt_bitmap_is_full(b, level + 1, i))
    (void)set_bits(b, level, i, bits);
  /*@ assert full: \forall integer x; 0 <= x < pow2(b->depth) ==> level + 1 < b->levels ==>
        block_of(x, level + 1) == block_of(x, level) / 64; */
}

void opt_bitmap_puncture_range(struct opt_bitmap *b, uint64_t first, uint64_t last)
{
  //@ ghost unsigned d = b->depth;
  //@ ghost shape_lemma(d);
  /* at each level the partial words at both ends: whole words are full blocks one level up */
  /*@ loop invariant bounds: level < b->levels && b->depth == d;
      loop invariant span: first <= last < blocks(d, level);
      loop invariant bitmap: bitmap(b);
      loop invariant leaves: \forall integer x; 0 <= x < pow2(d) ==>
        (is_punctured(b, x) || first <= block_of(x, level) <= last <==>
         is_punctured{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre));
      loop assigns level, first, last, BITMAP_WORDS(b);
      loop variant b->levels - level; */
  for (unsigned level = 0;; level++) {
    uint64_t i = first / 64, j = last / 64;
    unsigned from = first % 64, to = last % 64;
    //@ assert top: level + 1 == b->levels ==> i == 0 && j == 0;
    uint64_t head = opt_bits(from, i == j ? to : 63);
    HEAD_OF_RANGE
    if (level + 1 == b->levels || (i == j && head != UINT64_MAX)) {
      set_bits_unless_full(b, level, i, head);
      return;
    }
    INNER_WORDS_OF_RANGE
    if (from != 0) {
      set_bits_unless_full(b, level, i, head);
      i++;
    }
    HEAD_IS_MARKED
    if (to != 63) {
      uint64_t tail = opt_bits(0, to);
      TAIL_OF_RANGE
      set_bits_unless_full(b, level, j, tail);
      j--;
    }
    TAIL_IS_MARKED
    if (i > j)
      return;
    first = i;
    last = j;
  }
}

/* Zero a word of level 0. */
/*@ requires layout(b) && i < words(b->depth, 0);
    assigns BITMAP_WORDS(b);
    ensures others: others{Pre,Post}(b, 0, i);
    ensures zero: zero_word(b, 0, i);
    ensures layout: layout(b); */
static inline void zero_leaves(struct opt_bitmap *b, uint64_t i)
{
  b->leaves[i] = 0;
  //@ assert others: others{Pre,Here}(b, 0, i);
}

/* Zero a word of a higher level. */
/*@ requires layout(b) && 1 <= level < b->levels && i < words(b->depth, level);
    assigns BITMAP_WORDS(b);
    ensures others: others{Pre,Post}(b, level, i);
    ensures zero: zero_word(b, level, i);
    ensures layout: layout(b); */
static inline void zero_summary(struct opt_bitmap *b, unsigned level, uint64_t i)
{
  b->summary[level][i].any = 0;
  b->summary[level][i].full = 0;
  //@ assert others: others{Pre,Here}(b, level, i);
}

/* Zero all of level 0. */
/*@ requires layout(b);
    assigns BITMAP_WORDS(b);
    ensures layout: layout(b);
    ensures zero: zero_level(b, 0);
    ensures others: other_levels{Pre,Post}(b, 0); */
static void zero_all_leaves(struct opt_bitmap *b)
{
  const uint64_t words = opt_bitmap_words(b->depth, 0);
  /*@ loop invariant i <= words;
      loop invariant layout: layout(b);
      loop invariant others: other_levels{Pre,Here}(b, 0);
      loop invariant zero: \forall integer w; 0 <= w < i ==> zero_word(b, 0, w);
      loop assigns i, BITMAP_WORDS(b);
      loop variant words - i; */
  for (uint64_t i = 0; i < words; i++) {
    //@ ghost Before: ;
    zero_leaves(b, i);
    //@ assert before: \forall integer w; 0 <= w < i ==> zero_word(b, 0, w);
    //@ assert others: other_levels{Before,Here}(b, 0);
    //@ assert shape: same_shape{Pre,Here}(b);
    //@ assert levels: \forall integer k; 1 <= k < b->levels ==> same_level{Pre,Here}(b, k);
  }
}

void opt_bitmap_zero_level(struct opt_bitmap *b, unsigned level)
{
  if (level == 0) {
    zero_all_leaves(b);
    return;
  }
  const uint64_t words = opt_bitmap_words(b->depth, level);
  /*@ loop invariant i <= words;
      loop invariant layout: layout(b);
      loop invariant others: other_levels{Pre,Here}(b, level);
      loop invariant zero: \forall integer w; 0 <= w < i ==> zero_word(b, level, w);
      loop assigns i, BITMAP_WORDS(b);
      loop variant words - i; */
  for (uint64_t i = 0; i < words; i++) {
    //@ ghost Before: ;
    zero_summary(b, level, i);
    //@ assert before: \forall integer w; 0 <= w < i ==> zero_word(b, level, w);
    //@ assert others: other_levels{Before,Here}(b, level);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file bitmap.h
 * The set of punctured leaves: 64-ary bitmaps over the leaves of a tree of depth d.
 *
 * Level 0 is `leaves`: bit x means that leaf x is punctured.  Level k > 0 has two bits for each
 * block of 64^k leaves: `any` (some leaf of the block is punctured) and `full` (all of them are).
 * The top level is one word.
 *
 * Which words are valid.  Below a full block the lower words mean nothing and are neither read nor
 * written, so a range of any length writes O(levels) words.  Below a block whose `any` is clear the
 * words are zero and are not read either, so a search touches no page that no puncture has written.
 * A block is full at its level if and only if all its leaves are punctured, unless a block above it
 * is full; `full` implies `any`; `any` implies the `any` of every block above, up to a full one. */
#ifndef PPRF_OPT_BITMAP_H
#define PPRF_OPT_BITMAP_H

#include <stddef.h>
#include <stdint.h>

/** Number of levels at depth 32. */
#define OPT_LEVELS_MAX 6

/** One word of a level above 0: 64 blocks. */
struct opt_summary {
  uint64_t any, full;
};

/** The levels, in memory of the caller; all zero: nothing is punctured. */
struct opt_bitmap {
  unsigned depth;                              /* 1..32 */
  unsigned levels;                             /* opt_bitmap_levels(depth) */
  uint64_t *leaves;                              /* level 0 */
  struct opt_summary *summary[OPT_LEVELS_MAX]; /* levels 1 .. levels - 1; [0] is unused */
};

#ifdef __FRAMAC__
#include "bitmap.acsl"
#endif

/* Word arithmetic.  Bits are numbered from 0, the least significant. */

/** Greatest i such that bit i of w is set; w != 0. */
/*@ requires w != 0;
    assigns \nothing;
    ensures set: \result < 64 && bit(w, \result);
    ensures greatest: \forall integer j; \result < j < 64 ==> !bit(w, j); */
static inline unsigned opt_msb(uint64_t w)
{
  return 63u - (unsigned)__builtin_clzll(w);
}

/** Least i such that bit i of w is set; w != 0. */
/*@ requires w != 0;
    assigns \nothing;
    ensures set: \result < 64 && bit(w, \result);
    ensures least: \forall integer j; 0 <= j < \result ==> !bit(w, j); */
static inline unsigned opt_lsb(uint64_t w)
{
  return (unsigned)__builtin_ctzll(w);
}

/** The word with only bit i set: 2^i; i < 64. */
/*@ requires i < 64;
    assigns \nothing;
    ensures value: \result == pow2(i) == (1 << i);
    ensures bits: \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> j == i); */
static inline uint64_t opt_bit(unsigned i)
{
  /*@ ghost
    pow2_mono_lemma(i, 63);
    /@ loop invariant k <= i;
       loop invariant (1 << k) == pow2(k);
       loop assigns k;
       loop variant i - k; @/
    for (unsigned k = 0; k < i; k++) {
      /@ assert (1 << (k + 1)) == ((1 << k) << 1); @/
      /@ assert ((1 << k) << 1) == 2 * (1 << k); @/
    } */
  return UINT64_C(1) << i;
}

/** Whether bit i of w is set; i < 64. */
/*@ requires i < 64;
    assigns \nothing;
    ensures \result == 0 || \result == 1;
    ensures bit: \result == 1 <==> bit(w, i); */
static inline int opt_has(uint64_t w, unsigned i)
{
  return (int)(w >> i & 1);
}

/** The bits below i: 0 .. i - 1; i < 64. */
/*@ requires i < 64;
    assigns \nothing;
    ensures bits: \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> j < i); */
static inline uint64_t opt_below(unsigned i)
{
  //@ ghost below_lemma(i);
  return opt_bit(i) - 1;
}

/** The bits up to i: 0 .. i; i < 64. */
/*@ requires i < 64;
    assigns \nothing;
    ensures bits: \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> j <= i); */
static inline uint64_t opt_upto(unsigned i)
{
  //@ ghost all_bits_lemma(0);
  //@ ghost shift_bits_lemma(UINT64_MAX, 63 - i);
  return UINT64_MAX >> (63 - i);
}

/** The bits first .. last; first <= last < 64. */
/*@ requires first <= last < 64;
    assigns \nothing;
    ensures bits: \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> first <= j <= last); */
static inline uint64_t opt_bits(unsigned first, unsigned last)
{
  return ~opt_below(first) & opt_upto(last);
}

/** The clear bits of w. */
/*@ assigns \nothing;
    ensures none: \result == 0 <==> w == ALL_BITS;
    ensures bits: \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> !bit(w, j)); */
static inline uint64_t opt_clear(uint64_t w)
{
  uint64_t clear = ~w;
  //@ ghost all_bits_lemma(w);
  //@ assert bits: \forall integer j; 0 <= j < 64 ==> (bit(clear, j) <==> !bit(w, j));
  //@ assert none: clear == 0 ==> \forall integer j; 0 <= j < 64 ==> bit(w, j);
  //@ assert all: w == ALL_BITS ==> clear == 0;
  return clear;
}

/** Height of the smallest aligned block of bits that contains both i and j, minus one: msb(i XOR
 * j); i, j < 64, i != j. */
/*@ requires i < 64 && j < 64 && i != j;
    assigns \nothing;
    ensures bound: \result < 6;
    ensures apart: shift_right(i, \result) != shift_right(j, \result);
    ensures together: shift_right(i, \result + 1) == shift_right(j, \result + 1); */
static inline unsigned opt_fork(unsigned i, unsigned j)
{
  return opt_msb(i ^ j);
}

/** Least msb(i XOR j) over the set bits j of w; w != 0, bit i of w clear, i < 64. The nearest
 * set bit on each side decides: with h the result, the aligned block of 2^h bits around i is
 * the greatest without a set bit. */
/*@ requires i < 64 && w != 0 && !bit(w, i);
    assigns \nothing;
    ensures bound: \result < 6;
    ensures free: \forall integer j; 0 <= j < 64 ==>
      shift_right(j, \result) == shift_right(i, \result) ==>
      !bit(w, j);
    ensures maximal: \exists integer j; 0 <= j < 64 && bit(w, j) &&
      shift_right(j, \result + 1) == shift_right(i, \result + 1); */
static inline unsigned opt_gap_height(uint64_t w, unsigned i)
{
  uint64_t left = w & opt_below(i), right = w ^ left;
  unsigned h = 6;
  /*@ assert sides: \forall integer j; 0 <= j < 64 ==> (bit(left, j) <==> bit(w, j) && j < i) &&
        (bit(right, j) <==> bit(w, j) && j > i); */
  //@ assert some: left != 0 || right != 0;
  //@ ghost shift_right_mono_lemma();
  if (left != 0) {
    unsigned l = opt_msb(left);
    h = opt_fork(i, l);
    /*@ assert left: \forall integer j; 0 <= j < i ==> bit(w, j) ==>
          shift_right(j, h) <= shift_right(l, h) < shift_right(i, h); */
  }
  //@ ghost unsigned l = h;
  /*@ assert left: \forall integer j, g; 0 <= j < i ==> bit(w, j) ==> 0 <= g <= l ==>
          shift_right(j, g) != shift_right(i, g); */
  if (right != 0) {
    unsigned r = opt_fork(i, opt_lsb(right));
    /*@ assert right: \forall integer j, g; i < j < 64 ==> bit(w, j) ==> 0 <= g <= r ==>
          shift_right(j, g) != shift_right(i, g); */
    h = r < h ? r : h;
  }
  return h;
}

/** x / 2^h; h < 64. */
/*@ requires h < 64;
    assigns \nothing;
    ensures \result == shift_right(x, h) == (x >> h); */
static inline uint64_t opt_shr(uint64_t x, unsigned h)
{
  //@ ghost shift_right_lemma(x);
  return x >> h;
}

/** Index of the block of a level that contains a leaf; level < 6. */
/*@ requires level < 6;
    assigns \nothing;
    ensures \result == block_of(leaf, level); */
static inline uint64_t opt_block(uint64_t leaf, unsigned level)
{
  //@ ghost shift_right_block_of_lemma(level);
  return opt_shr(leaf, 6 * level);
}

/** Number of levels: the least L >= 1 with 64^L >= 2^depth; 1 <= depth <= 32. */
/*@ requires 1 <= depth <= 32;
    assigns \nothing;
    ensures \result == levels(depth) && 1 <= \result <= OPT_LEVELS_MAX; */
static inline unsigned opt_bitmap_levels(unsigned depth)
{
  return (depth + 5) / 6;
}

/** Number of words of a level; level < opt_bitmap_levels(depth). */
/*@ requires 1 <= depth <= 32 && level < levels(depth);
    assigns \nothing;
    ensures \result == words(depth, level) && 1 <= \result <= 0x4000000; */
static inline uint64_t opt_bitmap_words(unsigned depth, unsigned level)
{
  unsigned below = 6 * (level + 1);
  //@ ghost shape_lemma(depth);
  //@ ghost shl_lemma(1, depth > below ? depth - below : 0);
  return depth > below ? UINT64_C(1) << (depth - below) : 1;
}

/** Height of the node that covers a leaf: min of msb(leaf XOR l) over the punctured leaves l, or
 * the depth if there is none.
 * @retval 1 the leaf is live, *height is set.
 * @retval 0 the leaf is punctured. */
/*@ requires bitmap(b) && leaf < pow2(b->depth);
    requires \valid(height) && \separated(height, b);
    assigns *height;
    ensures results: \result == 0 || \result == 1;
    ensures live: \result == 1 <==> !is_punctured(b, leaf);
    ensures height: \result == 1 ==> *height <= b->depth;
    ensures free: \result == 1 ==>
      \forall integer x; covers(covering_start(leaf, *height), *height, x) ==> !is_punctured(b, x);
    ensures maximal: \result == 1 ==> *height < b->depth ==>
      \exists integer x; covers(covering_start(leaf, *height + 1), *height + 1, x) &&
      is_punctured(b, x); */
int opt_bitmap_height(const struct opt_bitmap *b, uint64_t leaf, unsigned *height);

/** Least live leaf >= leaf, or 2^depth if there is none; leaf <= 2^depth. */
/*@ requires bitmap(b) && leaf <= pow2(b->depth);
    assigns \nothing;
    ensures bounds: leaf <= \result <= pow2(b->depth);
    ensures live: \result < pow2(b->depth) ==> !is_punctured(b, \result);
    ensures least: \forall integer x; leaf <= x < \result ==> is_punctured(b, x); */
uint64_t opt_bitmap_next_live(const struct opt_bitmap *b, uint64_t leaf);

/** Whether all leaves of a block of 64^level leaves are punctured; level < levels. */
/*@ requires bitmap(b) && level < b->levels && block < blocks(b->depth, level);
    assigns \nothing;
    ensures results: \result == 0 || \result == 1;
    ensures marked: \result == 1 <==> in_full_block(b, level, block);
    ensures full: \result == 1 <==>
      \forall integer x; 0 <= x < pow2(b->depth) ==> block_of(x, level) == block ==>
        is_punctured(b, x); */
int opt_bitmap_is_full(const struct opt_bitmap *b, unsigned level, uint64_t block);

/** Puncture a live leaf.
 * @return the greatest level at which this made the block around the leaf full; 0 if only the leaf
 *         itself. */
/*@ requires bitmap(b) && leaf < pow2(b->depth) && !is_punctured(b, leaf);
    assigns BITMAP_WORDS(b);
    ensures bitmap: bitmap(b);
    ensures leaves: \forall integer x; is_punctured(b, x) <==> is_punctured{Pre}(b, x) || x == leaf;
    ensures level: \result < b->levels;
    ensures marked: \forall integer k; 0 <= k <= \result ==> in_full_block(b, k, block_of(leaf, k));
    ensures full: \forall integer k, x; 0 <= k <= \result ==> 0 <= x < pow2(b->depth) ==>
      block_of(x, k) == block_of(leaf, k) ==> is_punctured(b, x); */
unsigned opt_bitmap_puncture(struct opt_bitmap *b, uint64_t leaf);

/** Puncture the leaves first .. last, some of which may be punctured already; first <= last. */
/*@ requires bitmap(b) && first <= last < pow2(b->depth);
    assigns BITMAP_WORDS(b);
    ensures bitmap: bitmap(b);
    ensures leaves: \forall integer x; is_punctured(b, x) <==> is_punctured{Pre}(b, x) ||
      first <= x <= last; */
void opt_bitmap_puncture_range(struct opt_bitmap *b, uint64_t first, uint64_t last);

/** Zero the words of a level, whatever they contain; level < levels. */
/*@ requires layout(b) && level < b->levels;
    assigns BITMAP_WORDS(b);
    ensures layout: layout(b);
    ensures zero: zero_level(b, level);
    ensures others: other_levels{Pre,Post}(b, level); */
void opt_bitmap_zero_level(struct opt_bitmap *b, unsigned level);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file pages.h
 * The memory of a store: the mapping of its slots and its bitmap's large levels, and the small
 * block of the other levels.  Pages that are no longer needed are given back to the kernel: such a
 * page then reads as zero, or is unchanged if the kernel did not take it. */
#ifndef PPRF_OPT_PAGES_H
#define PPRF_OPT_PAGES_H

#include "slots.h"

/** Bytes of a bitmap level; 1 <= depth <= 32, level < opt_bitmap_levels(depth).  Not inlined:
 * its loop makes clang -O3 for AVX-512 use 3 KB of stack, in each of three functions that call
 * one another, which is more than is wiped. */
/*@ requires 1 <= depth <= 32 && level < levels(depth);
    assigns \nothing;
    ensures bytes: \result == level_bytes(depth, level) && \result % 8 == 0; */
size_t opt_level_bytes(unsigned depth, unsigned level) __attribute__((noinline));

/** Whether a level lies in the small block rather than in the mapping. */
/*@ requires 1 <= depth <= 32 && level < levels(depth);
    assigns \nothing;
    ensures small: \result != 0 <==> small_level(depth, level); */
int opt_level_is_small(unsigned depth, unsigned level);

/** Bytes of the bitmap levels outside the mapping; a multiple of 8. */
/*@ requires 1 <= depth <= 32;
    assigns \nothing;
    ensures bytes: \result == small_bytes(depth, levels(depth)) && \result % 8 == 0;
    ensures bound: \result <= OPT_LEVELS_MAX * OPT_SMALL_LEVEL; */
size_t opt_slots_small_bytes(unsigned depth);

/** Make a store without nodes in which nothing is punctured, to be loaded by the caller.
 * @param[in] depth 1..32.
 * @param[in] small opt_slots_small_bytes(depth) zero bytes, aligned for uint64_t, which must live
 *                  as long as the store.
 * @param[in] shared whether processes forked later share the mapping.
 * @retval 0, or PPRF_ERR_NOMEM. */
/*@ requires store: \valid(s) && 1 <= depth <= 32;
    requires small: \valid(SMALL_WORDS(small, depth)) && \separated(s, SMALL_WORDS(small, depth));
    requires zero: \forall integer i; 0 <= i < small_bytes(depth, levels(depth)) / 8 ==>
      ((uint64_t *)small)[i] == 0;
    assigns *s;
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: \result == 0 ==> new_store(s) && s->punctured.depth == depth;
    ensures shared: \result == 0 ==> (s->shared != 0 <==> shared != 0); */
int opt_slots_open(struct opt_slots *s, unsigned depth, void *small, int shared);

/** Make a store, as left by opt_slots_open, a key with nothing punctured. */
/*@ requires store: new_store(s);
    requires seed: \valid_read(seed) && APART(seed, s);
    assigns s->nodes, s->slot[0];
    ensures key: slots_key(seed_value(\old(*seed)), s);
    ensures leaves: \forall integer x; !is_punctured(&s->punctured, x); */
void opt_slots_set_up(struct opt_slots *s, const struct pprf_seed *seed);

/** Free a store without wiping it: a copy made by fork, in any state, or a store without seeds. */
void opt_slots_drop(struct opt_slots *s);

/** Whether the seeds are kept out of swap. */
int opt_slots_locked(const struct opt_slots *s);

/** Bytes of a store's mapping: whole pages; 0 if size_t cannot hold the number. */
size_t opt_slots_mapped_bytes(unsigned depth);

/** Place a store in a mapping of opt_slots_mapped_bytes(depth) bytes and a small block, both of
 * which keep their contents: zeros, or another process's store of this depth; then the caller
 * must set the number of nodes.  Asks the kernel to keep the mapping out of core dumps, and its
 * slots out of swap. */
void opt_slots_lay_out(struct opt_slots *s, unsigned depth, void *mapping, void *small, int shared);

/** Zero the mapping: the slots, and the bitmap levels in it. */
/*@ requires memory: laid_out(s);
    assigns s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures slots: zero_slots(s);
    ensures levels: \forall integer k; 0 <= k < s->punctured.levels ==>
      !small_level(s->punctured.depth, k) ==> zero_level(&s->punctured, k); */
void opt_pages_zero_mapping(struct opt_slots *s);

/** Wipe the seeds and puncture every leaf, in any state of the store. */
/*@ requires memory: laid_out(s);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures key: \forall seed R; slots_key(R, s);
    ensures slots: zero_slots(s);
    ensures leaves: \forall integer x; 0 <= x < pow2(s->punctured.depth) ==>
      is_punctured(&s->punctured, x); */
void opt_slots_clear(struct opt_slots *s);

/** Wipe the seeds and make the root the only node, in any state of the store: a key with nothing
 * punctured. */
/*@ requires memory: laid_out(s);
    requires seed: \valid_read(seed) && APART(seed, s);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures key: slots_key(seed_value(\old(*seed)), s);
    ensures leaves: \forall integer x; !is_punctured(&s->punctured, x); */
void opt_slots_start(struct opt_slots *s, const struct pprf_seed *seed);

/** Wipe the seeds and free the mapping. */
void opt_slots_close(struct opt_slots *s);

/** Back every page of the mapping with memory until the store is closed.
 * @retval 0, or PPRF_ERR_NOMEM. */
int opt_pages_back(struct opt_slots *s);

/** Bytes of the mapping that are backed by memory now. */
size_t opt_slots_resident_bytes(const struct opt_slots *s);

/** Release the slots of the leaves first .. end - 1, which are zero and stay zero. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth);
    requires zero: \forall integer j; first / 2 <= j < end / 2 ==> zero_seed(s->slot[j]);
    assigns \nothing; */
void opt_pages_release_slots(struct opt_slots *s, uint64_t first, uint64_t end);

/** Release the words of the bitmap's level 0 over the leaves first .. end - 1, whose blocks are
 * full at a higher level, so that the words are not valid. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth);
    requires full: \forall integer w; first / 64 <= w < end / 64 ==>
      in_full_block(&s->punctured, 1, w);
    assigns s->punctured.leaves[first / 64 .. end / 64 - 1];
    ensures \forall integer w; first / 64 <= w < end / 64 ==>
      s->punctured.leaves[w] == 0 || s->punctured.leaves[w] == \old(s->punctured.leaves[w]); */
void opt_pages_release_punctured(struct opt_slots *s, uint64_t first, uint64_t end);

/** Release the whole mapping.  With every leaf punctured the slots are zero, and only the
 * bitmap's top level is valid, which lies in the small block. */
/*@ requires opened: opened(s);
    requires zero: \forall integer j; 0 <= j < pow2(s->punctured.depth - 1) ==>
      zero_seed(s->slot[j]);
    requires punctured: \forall integer x; 0 <= x < pow2(s->punctured.depth) ==>
      is_punctured(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures top: \forall integer i; 0 <= i < words(s->punctured.depth, s->punctured.levels - 1) ==>
      same_word{Pre,Post}(&s->punctured, s->punctured.levels - 1, i);
    ensures below: \forall integer k, i; 0 <= k < s->punctured.levels - 1 ==>
      0 <= i < words(s->punctured.depth, k) ==> same_word{Pre,Post}(&s->punctured, k, i) ||
      (any_word(&s->punctured, k, i) == 0 && full_word(&s->punctured, k, i) == 0); */
void opt_pages_release_all(struct opt_slots *s);

#endif

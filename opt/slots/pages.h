/* SPDX-License-Identifier: Apache-2.0 */
/** @file pages.h
 * The memory of a store: the mapping of its slots and its bitmap's large levels, and the small block of
 * the others.  Pages that nothing needs any more go back to the system: a page comes back zero, or, if
 * the system does not take it, stays as it is. */
#ifndef PPRF_OPT_PAGES_H
#define PPRF_OPT_PAGES_H

#include "../store.h"

/** Bytes of a bitmap level; 1 <= depth <= 32, level < opt_bitmap_levels(depth).  Not in its callers: clang -O3
 * for a processor with AVX-512 makes 3 KB of stack of the loop in it, in each of three functions that call
 * one another, and that is more than is wiped. */
/*@ requires 1 <= depth <= 32 && level < levels(depth);
    assigns \nothing;
    ensures bytes: \result == level_bytes(depth, level) && \result % 8 == 0; */
size_t opt_level_bytes(unsigned depth, unsigned level) __attribute__((noinline));

/** Whether a level lies in the small block, and not in the mapping. */
/*@ requires 1 <= depth <= 32 && level < levels(depth);
    assigns \nothing;
    ensures small: \result != 0 <==> small_level(depth, level); */
int opt_level_is_small(unsigned depth, unsigned level);

/** Bytes of the bitmap levels that are kept outside the mapping; a multiple of 8. */
/*@ requires 1 <= depth <= 32;
    assigns \nothing;
    ensures bytes: \result == small_bytes(depth, levels(depth)) && \result % 8 == 0;
    ensures bound: \result <= OPT_LEVELS_MAX * OPT_SMALL_LEVEL; */
size_t opt_store_small_bytes(unsigned depth);

/** Make a store without nodes in which nothing is punctured: the caller loads it.
 * @param[in] depth 1..32.
 * @param[in] small opt_store_small_bytes(depth) zero bytes, aligned for uint64_t, which must live
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
int opt_store_open(struct opt_store *s, unsigned depth, void *small, int shared);

/** Make a store, as opt_store_open leaves it, a key in which nothing is punctured. */
/*@ requires store: new_store(s);
    requires seed: \valid_read(seed) && APART(seed, s);
    assigns s->nodes, s->slot[0];
    ensures key: key(seed_value(\old(*seed)), s);
    ensures leaves: \forall integer x; !is_punctured(&s->punctured, x); */
void opt_store_set_up(struct opt_store *s, const struct pprf_seed *seed);

/** Make a packed store, its root's seed given.
 * @param[in] packed zero bytes that must live as long as the store.
 * @retval 0, or PPRF_ERR_NOMEM. */
int opt_store_open_packed(struct opt_store *s, unsigned depth, struct opt_packed *packed,
                          const struct pprf_seed *seed);

/** Make a packed store with the nodes of a source, as opt_packed_load. */
int opt_store_load_packed(struct opt_store *s, unsigned depth, uint64_t nodes,
                          struct opt_packed *packed, int (*next)(void *, struct opt_entry *),
                          void *from);

/** Let go of a store and wipe nothing: of a copy that fork made, whatever state it is in, or of one that
 * has no seeds. */
void opt_store_drop(struct opt_store *s);

/** Whether the seeds are kept out of swap. */
int opt_store_locked(const struct opt_store *s);

/** Bytes of the mapping of a store: whole pages; 0 if they are more than a size_t counts. */
size_t opt_store_mapped_bytes(unsigned depth);

/** Place a store in a mapping of opt_store_mapped_bytes(depth) bytes and a small block, both of which keep their
 * contents: zeros, or another process's store of this depth, whose number of nodes the caller then
 * sets.  The system is told to keep the mapping out of core dumps, and its slots out of swap. */
void opt_store_lay_out(struct opt_store *s, unsigned depth, void *mapping, void *small, int shared);

/** Zero the mapping: the slots, and the bitmap's levels that lie there. */
/*@ requires memory: laid_out(s);
    assigns s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures slots: zero_slots(s);
    ensures levels: \forall integer k; 0 <= k < s->punctured.levels ==>
      !small_level(s->punctured.depth, k) ==> zero_level(&s->punctured, k); */
void opt_pages_zero_mapping(struct opt_store *s);

/** Wipe the seeds and puncture every leaf, whatever state the store is in. */
/*@ requires memory: laid_out(s);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures key: \forall seed R; key(R, s);
    ensures slots: zero_slots(s);
    ensures leaves: \forall integer x; 0 <= x < pow2(s->punctured.depth) ==>
      is_punctured(&s->punctured, x); */
void opt_store_clear(struct opt_store *s);

/** Wipe the seeds and give the store one node, the root, whatever state it is in: a key in which nothing is
 * punctured. */
/*@ requires memory: laid_out(s);
    requires seed: \valid_read(seed) && APART(seed, s);
    assigns s->nodes, s->slot[0 .. pow2(s->punctured.depth - 1) - 1], BITMAP_WORDS(&s->punctured);
    ensures key: key(seed_value(\old(*seed)), s);
    ensures leaves: \forall integer x; !is_punctured(&s->punctured, x); */
void opt_store_start(struct opt_store *s, const struct pprf_seed *seed);

/** Wipe the seeds and give the mapping back. */
void opt_store_close(struct opt_store *s);

/** Have every page of the mapping backed by memory, from now until the store is closed.
 * @retval 0, or PPRF_ERR_NOMEM. */
int opt_pages_back(struct opt_store *s);

/** Bytes of the mapping that are backed by memory now; a packed store's blocks and index. */
size_t opt_store_resident_bytes(const struct opt_store *s);

/** Give back the slots of the leaves first .. end - 1, which are zero and stay so. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth);
    requires zero: \forall integer j; first / 2 <= j < end / 2 ==> zero_seed(s->slot[j]);
    assigns \nothing; */
void opt_pages_release_slots(struct opt_store *s, uint64_t first, uint64_t end);

/** Give back the words of the bitmap's level 0 over the leaves first .. end - 1, blocks that are
 * full at a higher level: the words say nothing. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth);
    requires full: \forall integer w; first / 64 <= w < end / 64 ==>
      in_full_block(&s->punctured, 1, w);
    assigns s->punctured.leaves[first / 64 .. end / 64 - 1];
    ensures \forall integer w; first / 64 <= w < end / 64 ==>
      s->punctured.leaves[w] == 0 || s->punctured.leaves[w] == \old(s->punctured.leaves[w]); */
void opt_pages_release_punctured(struct opt_store *s, uint64_t first, uint64_t end);

/** Give back all of the mapping.  With every leaf punctured the slots are zero and of the bitmap
 * only the top level is trusted, which lies in the small block. */
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
void opt_pages_release_all(struct opt_store *s);

#endif

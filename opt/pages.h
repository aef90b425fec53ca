/* SPDX-License-Identifier: Apache-2.0 */
/** @file pages.h
 * Pages of a store that nothing needs any more go back to the system.  A page comes back zero, or,
 * if the system does not take it, stays as it is. */
#ifndef PPRF_OPT_PAGES_H
#define PPRF_OPT_PAGES_H

#include "store.h"

/** Give back the slots of the leaves first .. end - 1, which are zero and stay so. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth);
    requires zero: \forall integer j; first / 2 <= j < end / 2 ==> zero_seed(s->slot[j]);
    assigns \nothing; */
void opt_pages_release_slots(struct opt_store *s, uint64_t first, uint64_t end);

/** Give back the words of the bitmap's level 0 over the leaves first .. end - 1, blocks that are
 * full at a higher level: the words say nothing. */
/*@ requires opened: opened(s) && first <= end <= pow2(s->punctured.depth);
    requires full: \forall integer w; first / 64 <= w < end / 64 ==> under(&s->punctured, 1, w);
    assigns s->punctured.dead[first / 64 .. end / 64 - 1];
    ensures \forall integer w; first / 64 <= w < end / 64 ==>
      s->punctured.dead[w] == 0 || s->punctured.dead[w] == \old(s->punctured.dead[w]); */
void opt_pages_release_dead(struct opt_store *s, uint64_t first, uint64_t end);

/** Give back all of the mapping.  With every leaf punctured the slots are zero and of the bitmap
 * only the top level is trusted, which lies in the small block. */
/*@ requires opened: opened(s);
    requires zero: \forall integer j; 0 <= j < pow2(s->punctured.depth - 1) ==>
      zero_seed(s->slot[j]);
    requires gone: \forall integer x; 0 <= x < pow2(s->punctured.depth) ==>
      gone(&s->punctured, x);
    assigns BITMAP_WORDS(&s->punctured);
    ensures top: \forall integer i; 0 <= i < words(s->punctured.depth, s->punctured.levels - 1) ==>
      same_word{Pre,Post}(&s->punctured, s->punctured.levels - 1, i);
    ensures below: \forall integer k, i; 0 <= k < s->punctured.levels - 1 ==>
      0 <= i < words(s->punctured.depth, k) ==> same_word{Pre,Post}(&s->punctured, k, i) ||
      (any_word(&s->punctured, k, i) == 0 && full_word(&s->punctured, k, i) == 0); */
void opt_pages_release_all(struct opt_store *s);

#endif

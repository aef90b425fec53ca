/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of core.c, each named by what it shows; empty for the compiler.
 * The contracts and the loop invariants are in the code. */
#ifndef OPT_WP_CORE_STEPS_H
#define OPT_WP_CORE_STEPS_H

/* descend, siblings */
#define LEAF_BELOW_NODE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost top_lemma(d, node.start, node.height, leaf); */

/* siblings_beside_range */
#define RIGHT_KEPT_BY_LEFTS \
  /*@ assert right_los: \forall integer i; 0 <= i < PPRF_SLOTS_DEPTH_MAX ==> \
        right[i].seed.lo == \at(right[i].seed.lo,Pre); */ \
  /*@ assert right_his: \forall integer i; 0 <= i < PPRF_SLOTS_DEPTH_MAX ==> \
        right[i].seed.hi == \at(right[i].seed.hi,Pre); */ \
  /*@ assert right_kept: wiped_or_kept{Pre,Here}(right, 0, PPRF_SLOTS_DEPTH_MAX); */
#define LEFTS_KEPT_BY_RIGHTS \
  /*@ assert starts: same_starts{Left,Here}(left, lefts.count); */ \
  /*@ assert behind_los: \forall integer i; lefts.count <= i < PPRF_SLOTS_DEPTH_MAX ==> \
        left[i].seed.lo == \at(left[i].seed.lo,Left); */ \
  /*@ assert behind_his: \forall integer i; lefts.count <= i < PPRF_SLOTS_DEPTH_MAX ==> \
        left[i].seed.hi == \at(left[i].seed.hi,Left); */ \
  /*@ assert behind_left: wiped_or_kept{Pre,Left}(left, lefts.count, PPRF_SLOTS_DEPTH_MAX); */ \
  /*@ assert behind: wiped_or_kept{Pre,Here}(left, lefts.count, PPRF_SLOTS_DEPTH_MAX); */ \
  /*@ assert behind_right: wiped_or_kept{Left,Here}(right, rights.count, PPRF_SLOTS_DEPTH_MAX); */ \
  /*@ assert right_behind: wiped_or_kept{Pre,Here}(right, rights.count, PPRF_SLOTS_DEPTH_MAX); */ \
  /*@ assert seeds: same_los{Left,Here}(left, lefts.count) && \
        same_his{Left,Here}(left, lefts.count); */ \
  /*@ assert same: same_entries{Left,Here}(left, lefts.count); */ \
  /*@ assert depth: s->punctured.depth == \at(s->punctured.depth,Pre); */ \
  /*@ assert live: \forall integer t, g; live{Left}(&s->punctured, 0, 0, s->punctured.depth, t, g) \
        <==> live(&s->punctured, 0, 0, s->punctured.depth, t, g); */ \
  /*@ assert ascending: ascending{Left}(left, lefts.count) ==> ascending(left, lefts.count); */ \
  /*@ assert between: \forall integer x; between{Left}(left, lefts.count, x, first) ==> \
        between(left, lefts.count, x, first); */ \
  /*@ assert parents: parents{Left}(left, lefts.count, first) ==> \
        parents(left, lefts.count, first); */ \
  /*@ assert begins: \forall integer x; lefts.count > 0 ==> begins{Left}(left, 0, x) ==> \
        begins(left, 0, x); */ \
  /*@ assert ends: last_ends{Left}(left, lefts.count, first) ==> \
        last_ends(left, lefts.count, first); */ \
  /*@ assert lefts: \forall integer x; lefts{Left}(left, lefts.count, x, first) ==> \
        lefts(left, lefts.count, x, first); */ \
  /*@ assert slots: same_slots{Pre,Here}(s); */ \
  /*@ assert words: same_words{Pre,Here}(&s->punctured); */ \
  /*@ assert entries: entries(root, \at(s->punctured.depth,Pre), left, lefts.count); */

/* punct_from */
#define KEY_AFTER_PUNCTURE \
  /*@ assert key: slots_key(root, s); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && \
        s->punctured.depth == \at(s->punctured.depth,Pre); */ \
  /*@ assert kept: rest.err != PPRF_OK ==> same_slots{Pre,Here}(s); */ \
  /*@ ghost Done: ; */
#define KEY_KEPT_BY_WIPING \
  /*@ assert wiped: same_slots{Done,Here}(s); */ \
  /*@ assert stays: s->slot == \at(s->slot,Pre); */ \
  /*@ assert each: rest.err != PPRF_OK ==> \forall integer j; \
        0 <= j < pow2(\at(s->punctured.depth,Pre) - 1) ==> same_slot{Pre,Here}(s, j); */ \
  /*@ assert los: rest.err != PPRF_OK ==> \forall integer j; \
        0 <= j < pow2(\at(s->punctured.depth,Pre) - 1) ==> \
        \at(\at(s->slot,Pre)[j].lo,Here) == \at(s->slot[j].lo,Pre); */ \
  /*@ assert his: rest.err != PPRF_OK ==> \forall integer j; \
        0 <= j < pow2(\at(s->punctured.depth,Pre) - 1) ==> \
        \at(\at(s->slot,Pre)[j].hi,Here) == \at(s->slot[j].hi,Pre); */ \
  /*@ assert words: rest.err != PPRF_OK ==> same_words{Pre,Here}(&s->punctured); */

/* derive_copath */
#define COPATH_APART_FROM_BITMAP \
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(d, k) ==> \separated(copath + (0 .. node.height - 1), \
        &s->punctured.summary[k][i]); */ \
  /*@ assert apart_value: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(d, k) ==> \separated(value, &s->punctured.summary[k][i]); */

/* punct_slots, punct_range_slots; punct_packed, punct_range_packed */
#define KEY_IN_SLOTS \
  HEAD_KEPT \
  /*@ assert apart: apart_from_slots(key, &key->store.slots); */ \
  /*@ assert store: slots_key(root, &key->store.slots); */ \
  /*@ assert key: key(root, key); */ \
  /*@ assert old_set: \forall integer x; punctured{Pre}(key, x) <==> \
        is_punctured{Pre}(&key->store.slots.punctured, x); */ \
  /*@ assert set: \forall integer x; punctured(key, x) <==> \
        is_punctured(&key->store.slots.punctured, x); */
#define HEAD_KEPT \
  /*@ assert maker: key->maker == \at(key->maker,Pre); */ \
  /*@ assert suite: key->family.suite == \at(key->family.suite,Pre); */ \
  /*@ assert salt_lo: key->family.salt_lo == \at(key->family.salt_lo,Pre); */ \
  /*@ assert salt_hi: key->family.salt_hi == \at(key->family.salt_hi,Pre); */ \
  /*@ assert same_depth: depth(key) == depth{Pre}(key); */ \
  /*@ assert same_store: key->store.packed == \at(key->store.packed,Pre); */ \
  /*@ assert head: same_head{Pre,Here}(key); */
#define KEY_IN_PACKED \
  /*@ assert place: key->store.packed == \at(key->store.packed,Pre) && key->store.packed == p; */ \
  HEAD_KEPT \
  /*@ assert depth: p->depth == depth(key); */ \
  /*@ assert key: key(root, key); */ \
  /*@ assert old_set: \forall integer x; punctured{Pre}(key, x) <==> \
        packed_punctured{Pre}(\at(key->store.packed,Pre), x); */ \
  /*@ assert set: \forall integer x; punctured(key, x) <==> packed_punctured(p, x); */

#endif

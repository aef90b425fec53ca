/* SPDX-License-Identifier: Apache-2.0 */
/* What leads the provers through core.c, by what it shows; to the compiler each of these is empty.
 * The contracts and the loops' invariants stand in the code. */
#ifndef OPT_WP_CORE_STEPS_H
#define OPT_WP_CORE_STEPS_H

/* descend */
#define LEAF_BELOW_NODE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost top_lemma(d, node.start, node.height, leaf); */

/* keep_beside */
#define SIBLING_IN_TREE \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */ \
  /*@ ghost beside_lemma(d, leaf); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ assert half: pow2(h + 1) == 2 * pow2(h); */
#define SIBLING_IS_ENTERED \
  /*@ assert put: out[n].node.start == from && out[n].node.height == h && \
        out[n].seed.lo == seed.lo && out[n].seed.hi == seed.hi; */ \
  /*@ assert own: seed_value(out[n].seed) == node_seed(seed_value(R), d, from, h); */ \
  /*@ assert entry: entry(seed_value(R), d, out + n); */ \
  /*@ assert parent: parent_of(out, n, leaf); */ \
  /*@ assert parents: parents{Pre}(out, n, leaf) ==> parents(out, n + 1, leaf); */ \
  /*@ assert left: right_child(leaf, h) ==> \
        begins(out, n, covering_start(leaf, h + 1)) && ends(out, n, covering_start(leaf, h)); */ \
  /*@ assert left_first: right_child(leaf, h) ==> \
        lefts_to{Pre}(out, n, start, covering_start(leaf, h + 1), leaf) ==> \
        begins(out, 0, start); */ \
  /*@ assert left_old: right_child(leaf, h) ==> \
        lefts_to{Pre}(out, n, start, covering_start(leaf, h + 1), leaf) ==> \
        ascending(out, n) && last_ends(out, n, covering_start(leaf, h + 1)); */ \
  /*@ assert left_order: right_child(leaf, h) ==> \
        lefts_to{Pre}(out, n, start, covering_start(leaf, h + 1), leaf) ==> \
        ascending(out, n + 1); */ \
  /*@ assert left_bounds: right_child(leaf, h) ==> \
        lefts_to{Pre}(out, n, start, covering_start(leaf, h + 1), leaf) ==> \
        between(out, n + 1, start, covering_start(leaf, h)); */ \
  /*@ assert right: !right_child(leaf, h) ==> begins(out, n, covering_start(leaf, h) + pow2(h)) && \
        ends(out, n, covering_start(leaf, h + 1) + pow2(h + 1)); */ \
  /*@ assert right_first: !right_child(leaf, h) ==> \
        rights_to{Pre}(out, n, end, covering_start(leaf, h + 1) + pow2(h + 1), \
        leaf) ==> ends(out, 0, end); */ \
  /*@ assert right_old: !right_child(leaf, h) ==> \
        rights_to{Pre}(out, n, end, covering_start(leaf, h + 1) + pow2(h + 1), leaf) ==> \
        descending(out, n) && last_begins(out, n, covering_start(leaf, h + 1) + pow2(h + 1)); */ \
  /*@ assert right_order: !right_child(leaf, h) ==> \
        rights_to{Pre}(out, n, end, covering_start(leaf, h + 1) + pow2(h + 1), leaf) ==> \
        descending(out, n + 1); */ \
  /*@ assert right_bounds: !right_child(leaf, h) ==> \
        rights_to{Pre}(out, n, end, covering_start(leaf, h + 1) + pow2(h + 1), leaf) ==> \
        between(out, n + 1, covering_start(leaf, h) + pow2(h), end); */

/* siblings */
#define PATH_BELOW_NODE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */ \
  /*@ ghost top_lemma(d, node.start, node.height, leaf); */ \
  /*@ ghost uint64_t far = end_lemma(node.start, node.height); */
#define CHILDREN_OF_PATH \
  /*@ ghost step_lemma(d, leaf, h); */ \
  /*@ ghost children_lemma(d, start, h); */ \
  /*@ ghost beside_lemma(d, leaf); */
#define SIBLINGS_ARE_COPATH \
  /*@ assert left: c.err == PPRF_OK ==> right_side == 0 ==> lefts(out, n, node.start, leaf); */ \
  /*@ assert right: c.err == PPRF_OK ==> right_side != 0 ==> rights(out, n, far, leaf); */ \
  /*@ assert wiped: c.err != PPRF_OK ==> n == 0 && \forall integer i; 0 <= i < node.height ==> \
        zero_seed(out[i].seed); */

/* siblings_beside_range */
#define LEFTS_KEPT_BY_RIGHTS \
  /*@ assert starts: same_starts{Left,Here}(left, lefts.count); */ \
  /*@ assert seeds: same_los{Left,Here}(left, lefts.count) && same_his{Left,Here}(left, lefts.count); */ \
  /*@ assert same: same_entries{Left,Here}(left, lefts.count); */ \
  /*@ assert depth: s->punctured.depth == \at(s->punctured.depth,Pre); */ \
  /*@ assert live: \forall integer t, g; live{Left}(&s->punctured, 0, 0, s->punctured.depth, t, g) \
        <==> live(&s->punctured, 0, 0, s->punctured.depth, t, g); */ \
  /*@ assert ascending: ascending{Left}(left, lefts.count) ==> ascending(left, lefts.count); */ \
  /*@ assert between: \forall integer x; between{Left}(left, lefts.count, x, first) ==> \
        between(left, lefts.count, x, first); */ \
  /*@ assert parents: parents{Left}(left, lefts.count, first) ==> parents(left, lefts.count, first); */ \
  /*@ assert begins: \forall integer x; lefts.count > 0 ==> begins{Left}(left, 0, x) ==> \
        begins(left, 0, x); */ \
  /*@ assert ends: last_ends{Left}(left, lefts.count, first) ==> \
        last_ends(left, lefts.count, first); */ \
  /*@ assert lefts: \forall integer x; lefts{Left}(left, lefts.count, x, first) ==> \
        lefts(left, lefts.count, x, first); */ \
  /*@ assert slots: same_slots{Pre,Here}(s); */ \
  /*@ assert words: same_words{Pre,Here}(&s->punctured); */ \
  /*@ assert entries: entries(seed_value(R), \at(s->punctured.depth,Pre), left, lefts.count); */

/* punct_from */
#define KEY_AFTER_PUNCTURE \
  /*@ assert key: key(seed_value(R), s); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == \at(s->punctured.depth,Pre); */ \
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
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==> \
        \separated(copath + (0 .. node.height - 1), &s->punctured.summary[k][i]); */ \
  /*@ assert apart_value: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(d, k) ==> \separated(value, &s->punctured.summary[k][i]); */

#endif

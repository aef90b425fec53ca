/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of store.c, each named by what it shows; empty for the compiler.
 * The contracts and the loop invariants are in the code. */
#ifndef OPT_WP_STORE_STEPS_H
#define OPT_WP_STORE_STEPS_H

/* put_slot */
#define SLOT_APART_FROM_BITMAP \
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(s->punctured.depth, k) ==> \
        \separated(&s->slot[j], &s->punctured.summary[k][i]); */ \
  /*@ assert apart_leaves: \forall integer i; 0 <= i < words(s->punctured.depth, 0) ==> \
        \separated(&s->slot[j], &s->punctured.leaves[i]); */
#define BITMAP_UNCHANGED_BY_SLOT \
  /*@ assert shape: same_shape{Pre,Here}(&s->punctured); */ \
  /*@ assert summary: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(s->punctured.depth, k) ==> same_word{Pre,Here}(&s->punctured, k, i); */ \
  /*@ assert leaves: \forall integer i; 0 <= i < words(s->punctured.depth, 0) ==> \
        same_word{Pre,Here}(&s->punctured, 0, i); */ \
  /*@ assert words: same_words{Pre,Here}(&s->punctured); */ \
  /*@ assert layout: layout(&s->punctured); */ \
  /*@ assert bitmap: bitmap(&s->punctured); */

/* put_nodes */
#define BITMAP_UNCHANGED_BY_COUNT \
  /*@ assert shape: same_shape{Pre,Here}(&s->punctured); */ \
  /*@ assert words: same_words{Pre,Here}(&s->punctured); */ \
  /*@ assert layout: layout(&s->punctured); */ \
  /*@ assert bitmap: bitmap(&s->punctured); */

/* put_beside */
#define COPATH_HAS_SLOTS \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ ghost copath_slots_lemma(d, leaf); */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */
#define SIBLING_HAS_NO_OTHERS_SLOT \
  /*@ assert pair: j == beside(leaf, i) / 2 && j < pow2(d - 1); */ \
  /*@ assert fresh: \forall integer k; 0 <= k < i ==> \
        beside(leaf, k) / 2 != j && 0 <= beside(leaf, k) / 2 < pow2(d - 1); */
#define SIBLINGS_STORED \
  /*@ assert value: seed_value(s->slot[j]) == node_seed(root, d, beside(leaf, i), i); */ \
  /*@ assert before: \forall integer k; 0 <= k < i ==> \
        same_slot{Pre,Here}(s, beside(leaf, k) / 2); */

/* put_copath */
#define COPATH_FITS \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */

/* replace_node */
#define COVER_WHEN_PUNCTURED \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost puncture_lemma(&s->punctured, d, node.start, node.height, leaf); */ \
  /*@ ghost puncture_size_lemma(&s->punctured, d, node.start, node.height, leaf); */ \
  /*@ ghost size_bounds_lemma(&s->punctured, 0, 0, d); */ \
  /*@ ghost if (node.height > 0) slot_overwritten_lemma(d, node.start, node.height, leaf); */ \
  /*@ ghost pair_slot_injective_lemma(&s->punctured, 0, 0, d); */ \
  /*@ ghost pair_slot_injective_lemma(&s->punctured, leaf, leaf + 1, d); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */
#define SLOTS_HOLD_THE_NEW_COVER \
  /*@ assert intact: \forall integer t, g; intact(&s->punctured, leaf, leaf + 1, t, g) <==> \
        intact{Pre}(&s->punctured, leaf, leaf + 1, t, g); */ \
  /*@ assert live: \forall integer t, g; live(&s->punctured, leaf, leaf + 1, d, t, g) <==> \
        live{Pre}(&s->punctured, leaf, leaf + 1, d, t, g); */ \
  /*@ assert beside: \forall integer i; 0 <= i < node.height ==> \
        seed_value(s->slot[beside(leaf, i) / 2]) == \
        node_seed(root, d, beside(leaf, i), i); */ \
  /*@ assert apart: \forall integer t, g; live{Pre}(&s->punctured, leaf, leaf + 1, d, t, g) ==> \
        live{Pre}(&s->punctured, 0, 0, d, t, g) ==> \
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != t / 2) || \
        (\exists integer i; 0 <= i < node.height && t == beside(leaf, i) && g == i); */ \
  /*@ assert same_seed: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==> \
        same_slot{Pre,Here}(s, t / 2) ==> \
        seed_value(s->slot[t / 2]) == node_seed(root, d, t, g); */ \
  /*@ assert range: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==> \
        0 <= t / 2 < pow2(d - 1); */ \
  /*@ assert others: node.height > 0 ==> \forall integer j; 0 <= j < pow2(d - 1) ==> \
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != j) ==> \
        same_slot{Pre,Here}(s, j); */ \
  /*@ assert same: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==> \
        node.height > 0 ==> (\forall integer i; 0 <= i < node.height ==> \
        beside(leaf, i) / 2 != t / 2) ==> same_slot{Pre,Here}(s, t / 2); */ \
  /*@ assert same_leaf: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==> \
        node.height == 0 ==> !(t == node.start && g == node.height) ==> \
        same_slot{Pre,Here}(s, t / 2); */ \
  /*@ assert old: \forall integer t, g; live{Pre}(&s->punctured, 0, 0, d, t, g) ==> \
        !(t == node.start && g == node.height) ==> \
        seed_value(s->slot[t / 2]) == node_seed(root, d, t, g); */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, leaf, leaf + 1); */ \
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, 0, 0, d, j) ==> \
        owned(&s->punctured, leaf, leaf + 1, d, j) || j == node.start / 2; */ \
  /*@ assert new: \forall integer i; 0 <= i < node.height ==> \
        owned(&s->punctured, leaf, leaf + 1, d, beside(leaf, i) / 2); */ \
  /*@ assert overwritten: node.height > 0 ==> \exists integer i; 0 <= i < node.height && \
        beside(leaf, i) / 2 == node.start / 2; */ \
  /*@ assert itself: node.height == 0 ==> node.start == leaf; */ \
  /*@ assert same_zero: \forall integer j; 0 <= j < pow2(d - 1) ==> \
        same_slot{Pre,Here}(s, j) ==> \
        zero_seed(s->slot[j]) || owned{Pre}(&s->punctured, 0, 0, d, j); */ \
  /*@ assert untouched: \forall integer j; 0 <= j < pow2(d - 1) ==> \
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != j) ==> \
        (node.height == 0 ==> j != leaf / 2) ==> \
        zero_seed(s->slot[j]) || owned{Pre}(&s->punctured, 0, 0, d, j); */ \
  /*@ assert kept: \forall integer j; 0 <= j < pow2(d - 1) ==> \
        (\forall integer i; 0 <= i < node.height ==> beside(leaf, i) / 2 != j) ==> \
        (node.height == 0 ==> j != leaf / 2) ==> \
        zero_seed(s->slot[j]) || owned(&s->punctured, leaf, leaf + 1, d, j); */ \
  /*@ assert zero: node.height == 0 ==> zero_seed(s->slot[leaf / 2]); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, leaf, leaf + 1); */

/* release_slots */
#define RELEASED_SLOTS_ARE_ZERO \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */ \
  /*@ assert begin: \forall integer t, h; live(&s->punctured, 0, 0, d, t, h) ==> \
        covers(t, h, t); */ \
  /*@ assert start: \forall integer t, h; live(&s->punctured, 0, 0, d, t, h) ==> \
        !(first <= t < end); */ \
  /*@ assert none: \forall integer j; first <= 2 * j < end - 1 ==> \
        !owned(&s->punctured, 0, 0, d, j); */ \
  /*@ assert zero: \forall integer j; first <= 2 * j < end - 1 ==> zero_seed(s->slot[j]); */

/* release_punctured */
#define RELEASED_WORDS_ARE_BELOW_FULL \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost shape_lemma(d); */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert range: end / 64 <= words(d, 0); */ \
  /*@ assert block: \forall integer w; first <= 64 * w < end ==> \
        block_of(64 * w, DEAD_LEVEL) == block_of(w, DEAD_LEVEL - 1); */ \
  /*@ assert marked: \forall integer w; first <= 64 * w < end ==> \
        in_full_block(&s->punctured, DEAD_LEVEL, block_of(w, DEAD_LEVEL - 1)); */ \
  /*@ assert path: \forall integer w, j; w >= 0 ==> DEAD_LEVEL <= j < s->punctured.levels ==> \
        block_of(block_of(w, DEAD_LEVEL - 1), j - DEAD_LEVEL) == block_of(w, j - 1); */ \
  /*@ ghost \
    /@ loop invariant first <= 64 * w; \
       loop invariant \forall integer v; first <= 64 * v < 64 * w ==> 64 * v < end ==> \
         in_full_block(&s->punctured, 1, v); \
       loop assigns w; \
       loop invariant 64 * w < end + 64 || w == first / 64; \
       loop variant end - 64 * w; @/ \
    for (uint64_t w = first / 64; 64 * w < end; w++) { \
      uint64_t j = in_full_block_lemma(&s->punctured, DEAD_LEVEL, 64 * w); \
      /@ assert path: block_of(64 * w, j) == block_of(w, j - 1); @/ \
      /@ assert under: in_full_block(&s->punctured, 1, w); @/ \
    } */ \
  /*@ assert apart: \forall integer j; 0 <= j < pow2(d - 1) ==> \
        \separated(&s->slot[j], LEAVES(s)); */ \
  /*@ assert apart_words: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(d, k) ==> \separated(&s->punctured.summary[k][i], LEAVES(s)); */
#define SET_KEPT_WITHOUT_WORDS \
  /*@ assert nodes: s->nodes == \at(s->nodes,Pre); */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Pre,Here}(s, j); */ \
  /*@ assert kept: same_slots{Pre,Here}(s); */ \
  /*@ assert shape: same_shape{Pre,Here}(&s->punctured); */ \
  /*@ assert words: \forall integer k, i; 1 <= k < s->punctured.levels ==> \
        0 <= i < words(d, k) ==> same_word{Pre,Here}(&s->punctured, k, i); */ \
  /*@ assert summary: \forall integer k; 1 <= k < s->punctured.levels ==> \
        same_level{Pre,Here}(&s->punctured, k); */ \
  /*@ assert leaves: \forall integer w; 0 <= w < words(d, 0) ==> \
        \at(s->punctured.leaves[w],Pre) == s->punctured.leaves[w] || \
        (s->punctured.leaves[w] == 0 && in_full_block{Pre}(&s->punctured, 1, w)); */ \
  /*@ assert cleared: leaves_cleared{Pre,Here}(&s->punctured); */ \
  /*@ assert layout: layout(&s->punctured); */ \
  /*@ assert bitmap: bitmap(&s->punctured); */

/* release_blocks */
#define SLOTS_BLOCK_AROUND_LEAF \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */ \
  /*@ ghost shift_lemma(leaf, 6 * SLOTS_LEVEL); */ \
  /*@ ghost shl_lemma(1, 6 * SLOTS_LEVEL); */ \
  /*@ ghost around_two_lemma(6 * SLOTS_LEVEL); */ \
  /*@ ghost shift_right_block_of_lemma(SLOTS_LEVEL); */
#define SLOTS_BLOCK_IS_PUNCTURED \
  /*@ ghost shl_lemma(block + 1, 6 * SLOTS_LEVEL); */ \
  /*@ assert size: pow2(6 * SLOTS_LEVEL) == 0x1000; */ \
  /*@ assert span: (block << 6 * SLOTS_LEVEL) == block * 0x1000 == covering_start(leaf, 6 * \
        SLOTS_LEVEL) && \
        ((block + 1) << 6 * SLOTS_LEVEL) == block * 0x1000 + 0x1000 <= pow2(d); */ \
  /*@ assert leaves: \forall integer x; block * 0x1000 <= x < block * 0x1000 + 0x1000 ==> \
        block_of(x, SLOTS_LEVEL) == block_of(leaf, SLOTS_LEVEL); */
#define WORDS_BLOCK_AROUND_LEAF \
  /*@ ghost shift_lemma(leaf, 6 * DEAD_LEVEL); */ \
  /*@ ghost shl_lemma(1, 6 * DEAD_LEVEL); */ \
  /*@ ghost around_two_lemma(6 * DEAD_LEVEL); */ \
  /*@ ghost shift_right_block_of_lemma(DEAD_LEVEL); */
#define WORDS_BLOCK_IS_PUNCTURED \
  /*@ ghost shl_lemma(block + 1, 6 * DEAD_LEVEL); */ \
  /*@ assert size: pow2(6 * DEAD_LEVEL) == 0x40000; */ \
  /*@ assert span: (block << 6 * DEAD_LEVEL) == block * 0x40000 == covering_start(leaf, 6 * \
        DEAD_LEVEL) && \
        ((block + 1) << 6 * DEAD_LEVEL) == block * 0x40000 + 0x40000 <= pow2(d); */ \
  /*@ assert leaves: \forall integer x; block * 0x40000 <= x < block * 0x40000 + 0x40000 ==> \
        block_of(x, DEAD_LEVEL) == block_of(leaf, DEAD_LEVEL); */

/* puncture_leaf */
#define SLOTS_APART_FROM_MARK \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert apart: APART_WORDS(s, s); */ \
  /*@ assert apart_nodes: APART_WORDS(&s->nodes, s); */ \
  /*@ assert apart_slots: APART_WORDS(SLOTS(s), s); */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s); */
#define COVER_WITHOUT_LEAF \
  /*@ assert nodes: s->nodes == \at(s->nodes,Pre); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d; */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> \
        same_slot{Pre,Here}(s, j); */ \
  /*@ assert kept: same_slots{Pre,Here}(s); */ \
  /*@ assert opened: opened(s); */ \
  /*@ assert intact: \forall integer t, g; \
        intact{Pre}(&s->punctured, leaf, leaf + 1, t, g) <==> intact(&s->punctured, 0, 0, t, g); */ \
  /*@ assert live: \forall integer t, g; live{Pre}(&s->punctured, leaf, leaf + 1, d, t, g) <==> \
        live(&s->punctured, 0, 0, d, t, g); */ \
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, leaf, leaf + 1, d, j) ==> \
        owned(&s->punctured, 0, 0, d, j); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, 0, 0); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, 0, 0); */

/* release_all */
#define NO_NODE_IS_LEFT \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ ghost top_full_lemma(&s->punctured); */ \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */ \
  /*@ assert none: \forall integer t, g; !live(&s->punctured, 0, 0, d, t, g); */ \
  /*@ assert no_owner: \forall integer j; !owned(&s->punctured, 0, 0, d, j); */ \
  /*@ assert zero: \forall integer j; 0 <= j < pow2(d - 1) ==> zero_seed(s->slot[j]); */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s); */
#define EMPTY_KEY_KEPT \
  /*@ assert shape: same_shape{Pre,Here}(&s->punctured) && s->punctured.depth == d; */ \
  /*@ assert nodes: s->nodes == \at(s->nodes,Pre); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre); */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Pre,Here}(s, j); */ \
  /*@ assert slots: same_slots{Pre,Here}(s); */ \
  /*@ assert top: same_level{Pre,Here}(&s->punctured, s->punctured.levels - 1); */ \
  /*@ assert cleared: all_cleared{Pre,Here}(&s->punctured); */ \
  /*@ assert words: cleared{Pre,Here}(&s->punctured); */ \
  /*@ assert layout: layout(&s->punctured); */ \
  /*@ assert bitmap: bitmap(&s->punctured); */ \
  /*@ assert opened: opened(s); */ \
  /*@ assert set: same_set{Pre,Here}(&s->punctured); */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, 0, 0); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, 0, 0); */ \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */ \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k); \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */

/* opt_slots_puncture */
#define COVER_SIZE_BEFORE_PUNCTURE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost puncture_lemma(&s->punctured, d, node.start, node.height, leaf); */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost size_lemma(&s->punctured, leaf, leaf + 1); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> \
        size_step(&s->punctured, leaf, leaf + 1, k); */
#define COVER_SIZE_AFTER_PUNCTURE \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */ \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, leaf, leaf + 1, 0, 0); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant same_size{Pre,Here}(&s->punctured, leaf, leaf + 1, 0, 0, k); \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */ \
  /*@ assert size: s->nodes == cover_size(&s->punctured, 0, 0, 0, d); */ \
  /*@ assert key: slots_key(root, s); */ \
  /*@ ghost size_bounds_lemma(&s->punctured, 0, 0, d); */ \
  /*@ assert some: \forall integer x; 0 <= x < pow2(d) ==> !is_punctured(&s->punctured, x) ==> \
        s->nodes >= 1; */

/* take_out */
#define NODE_HAS_ITS_SLOT_ALONE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost node_out_lemma(&s->punctured, d, lo, hi, from, to, node.start, node.height); */ \
  /*@ ghost size_bounds_lemma(&s->punctured, lo, hi, d); */ \
  /*@ ghost pair_slot_injective_lemma(&s->punctured, lo, hi, d); */ \
  /*@ ghost size_lemma(&s->punctured, from, to); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, from, to, k); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ assert whole: intact(&s->punctured, lo, hi, node.start, node.height); */ \
  /*@ assert first: covers(node.start, node.height, node.start) && 0 <= node.start < pow2(d); */ \
  /*@ assert free: !is_punctured(&s->punctured, node.start) && !(lo <= node.start < hi); */ \
  /*@ assert some: 1 <= s->nodes <= pow2(d); */ \
  /*@ assert others: \forall integer t, g; live(&s->punctured, from, to, d, t, g) ==> \
        t / 2 != node.start / 2 && 0 <= t / 2 < pow2(d - 1); */
#define COVER_WITHOUT_NODE \
  /*@ assert kept: same_but{Pre,Here}(s, node.start / 2) && zero_seed(s->slot[node.start / 2]); */ \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, from, to, from, to); */ \
  /*@ assert live: \forall integer t, g; live(&s->punctured, from, to, d, t, g) <==> \
        live{Pre}(&s->punctured, from, to, d, t, g); */ \
  /*@ assert slot: \forall integer t, g; live(&s->punctured, from, to, d, t, g) ==> \
        same_slot{Pre,Here}(s, t / 2) && live{Pre}(&s->punctured, lo, hi, d, t, g); */ \
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, lo, hi, d, j) ==> \
        owned(&s->punctured, from, to, d, j) || j == node.start / 2; */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, from, to); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, from, to); */ \
  /*@ ghost size_lemma(&s->punctured, from, to); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, from, to, k); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant same_size{Pre,Here}(&s->punctured, from, to, from, to, k); \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */

/* put_in */
#define NO_NODE_HAS_THE_SLOT \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost node_out_lemma(&s->punctured, d, lo, hi, from, to, node.start, node.height); */ \
  /*@ ghost size_bounds_lemma(&s->punctured, lo, hi, d); */ \
  /*@ ghost pair_slot_injective_lemma(&s->punctured, lo, hi, d); */ \
  /*@ ghost size_lemma(&s->punctured, lo, hi); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */ \
  /*@ assert others: \forall integer t, g; live(&s->punctured, from, to, d, t, g) ==> \
        t / 2 != node.start / 2 && 0 <= t / 2 < pow2(d - 1); */
#define NODE_STORED \
  /*@ ghost Put: ; */ \
  /*@ assert put: same_but{Pre,Here}(s, node.start / 2); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d; */
#define COVER_WITH_NODE \
  /*@ assert still: same_slots{Put,Here}(s); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d; */ \
  /*@ assert one: \forall integer j; 0 <= j < pow2(d - 1) ==> j != node.start / 2 ==> \
        same_slot{Pre,Here}(s, j); */ \
  /*@ assert kept: same_but{Pre,Here}(s, node.start / 2); */ \
  /*@ assert new: seed_value(s->slot[node.start / 2]) == \
        node_seed(root, d, node.start, node.height); */ \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, lo, hi, lo, hi); */ \
  /*@ assert live: \forall integer t, g; live(&s->punctured, lo, hi, d, t, g) <==> \
        live{Pre}(&s->punctured, lo, hi, d, t, g); */ \
  /*@ assert slot: \forall integer t, g; live(&s->punctured, lo, hi, d, t, g) ==> \
        (t == node.start && g == node.height) || \
        (same_slot{Pre,Here}(s, t / 2) && live{Pre}(&s->punctured, from, to, d, t, g)); */ \
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, from, to, d, j) ==> \
        owned(&s->punctured, lo, hi, d, j); */ \
  /*@ assert own: owned(&s->punctured, lo, hi, d, node.start / 2); */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, lo, hi); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, lo, hi); */ \
  /*@ ghost size_lemma(&s->punctured, lo, hi); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant same_size{Pre,Here}(&s->punctured, lo, hi, lo, hi, k); \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */

/* mark_leaves */
#define SLOTS_APART_FROM_MARKS \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert apart: APART_WORDS(s, s); */ \
  /*@ assert apart_slots: APART_WORDS(SLOTS(s), s); */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s); */
#define SLOTS_KEPT_BY_MARKS \
  /*@ assert nodes: s->nodes == \at(s->nodes,Pre); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d; */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Pre,Here}(s, j); */ \
  /*@ assert kept: same_slots{Pre,Here}(s); */ \
  /*@ assert opened: opened(s); */

/* mark_range */
#define COVER_SIZE_BEFORE_MARKS \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost size_lemma(&s->punctured, lo, hi); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k); */
#define COVER_KEPT_BY_MARKS \
  /*@ assert starts_left: same_starts{Pre,Here}(left, lefts); */ \
  /*@ assert seeds_left: same_los{Pre,Here}(left, lefts) && same_his{Pre,Here}(left, lefts); */ \
  /*@ assert starts_right: same_starts{Pre,Here}(right, rights); */ \
  /*@ assert seeds_right: same_los{Pre,Here}(right, rights) && \
        same_his{Pre,Here}(right, rights); */ \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, lo, hi, lo, hi); */ \
  /*@ assert live: \forall integer t, g; live{Pre}(&s->punctured, lo, hi, d, t, g) <==> \
        live(&s->punctured, lo, hi, d, t, g); */ \
  /*@ assert owned: \forall integer j; owned{Pre}(&s->punctured, lo, hi, d, j) ==> \
        owned(&s->punctured, lo, hi, d, j); */ \
  /*@ assert half: pow2(d) == 2 * pow2(d - 1); */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, lo, hi); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, lo, hi); */ \
  /*@ ghost size_lemma(&s->punctured, lo, hi); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, lo, hi, k); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant same_size{Pre,Here}(&s->punctured, lo, hi, lo, hi, k); \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */

/* take_range */
#define RANGE_IN_TREE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */
#define NOTHING_TAKEN_YET \
  /*@ assert first: live_from{Pre}(&s->punctured, from, first); */ \
  /*@ assert inner: \forall integer x; from <= x < first ==> !is_punctured(&s->punctured, x); */ \
  /*@ ghost same_set_lemma(&s->punctured, d, 0, 0, from, from); */ \
  /*@ assert owned: \forall integer j; owned(&s->punctured, 0, 0, d, j) ==> \
        owned(&s->punctured, from, from, d, j); */ \
  /*@ assert seeds: seeds(root, d, s->slot, &s->punctured, from, from); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, from, from); */
#define NEXT_NODE_IS_LIVE \
  /*@ ghost uint64_t t = n.start, end = end_lemma(t, n.height); */ \
  /*@ ghost unsigned h = n.height; */ \
  /*@ assert within: t < end <= pow2(d); */ \
  /*@ assert intact: intact(&s->punctured, from, to, t, h); */ \
  /*@ assert live: live(&s->punctured, from, to, d, t, h); */ \
  /*@ assert wider: range_plus_node(&s->punctured, from, to, from, end, t, h); */
#define NODE_IS_TAKEN \
  /*@ assert to: to == end; */ \
  /*@ assert taken: live{Pre}(&s->punctured, 0, 0, \at(s->punctured.depth,Pre), t, h) && \
        t <= last && to == t + pow2(h); */ \
  /*@ assert last: live_to{Pre}(&s->punctured, to, last); */

/* put_lefts */
#define LEFTS_BEGIN \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */ \
  /*@ ghost uint64_t from = lo; */
#define LEFT_IS_LIVE \
  /*@ ghost Before: ; */ \
  /*@ ghost uint64_t start = rest[i].node.start, end = end_lemma(start, rest[i].node.height); */ \
  /*@ assert entry: start == from && ends{Pre}(rest, i, end) && start < end <= first; */ \
  /*@ assert node: rest[i].node.height < d && tree_node(d, start, rest[i].node.height); */ \
  /*@ assert seed: seed_value(rest[i].seed) == \
        node_seed(root, d, start, rest[i].node.height); */ \
  /*@ assert parent: parent_of(rest, i, first) && is_punctured(&s->punctured, first); */ \
  /*@ assert intact: intact(&s->punctured, end, hi, start, rest[i].node.height); */ \
  /*@ assert live: live(&s->punctured, end, hi, d, start, rest[i].node.height); */ \
  /*@ assert wider: range_plus_node(&s->punctured, end, hi, from, hi, start, \
        rest[i].node.height); */ \
  /*@ assert apart: APART_ENTRIES(rest, n, s); */
#define LEFT_IS_STORED \
  /*@ assert starts: same_starts{Before,Here}(rest, n); */ \
  /*@ assert seeds: same_los{Before,Here}(rest, n) && same_his{Before,Here}(rest, n); */ \
  /*@ assert same: same_entries{Before,Here}(rest, n); */ \
  /*@ ghost from = end; */

/* put_rights */
#define RIGHTS_BEGIN \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost path_lemma(d); */ \
  /*@ ghost uint64_t to = hi; */
#define RIGHT_IS_LIVE \
  /*@ ghost Before: ; */ \
  /*@ ghost uint64_t start = rest[i].node.start, end = end_lemma(start, rest[i].node.height); */ \
  /*@ assert bound: between{Pre}(rest, n, last + 1, hi); */ \
  /*@ assert entry: end == to && begins{Pre}(rest, i, start) && last < start < end; */ \
  /*@ assert node: rest[i].node.height < d && tree_node(d, start, rest[i].node.height); */ \
  /*@ assert seed: seed_value(rest[i].seed) == \
        node_seed(root, d, start, rest[i].node.height); */ \
  /*@ assert parent: parent_of(rest, i, last) && is_punctured(&s->punctured, last); */ \
  /*@ assert intact: intact(&s->punctured, lo, start, start, rest[i].node.height); */ \
  /*@ assert live: live(&s->punctured, lo, start, d, start, rest[i].node.height); */ \
  /*@ assert wider: range_plus_node(&s->punctured, lo, start, lo, to, start, \
        rest[i].node.height); */ \
  /*@ assert apart: APART_ENTRIES(rest, n, s); */
#define RIGHT_IS_STORED \
  /*@ assert starts: same_starts{Before,Here}(rest, n); */ \
  /*@ assert seeds: same_los{Before,Here}(rest, n) && same_his{Before,Here}(rest, n); */ \
  /*@ assert same: same_entries{Before,Here}(rest, n); */ \
  /*@ ghost to = start; */

/* block_start */
#define BLOCK_BEGINS_IN_TREE \
  /*@ ghost unsigned d = b->depth, h = 6 * level; */ \
  /*@ ghost shape_lemma(d); */ \
  /*@ ghost shift_right_block_of_lemma(level); */ \
  /*@ ghost around_one_lemma(h); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ ghost pow2_sum_lemma(d - h, h); */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost shl_lemma(i, h); */ \
  /*@ ghost shl_even_lemma(i, h); */ \
  /*@ assert tree: i == blocks(d, level) ==> (i << h) == pow2(d); */ \
  /*@ ghost uint64_t x = 0; */ \
  /*@ ghost if (i < end_lemma(0, d - h)) x = full_lemma(b, level, i); */ \
  /*@ ghost shift_lemma(x, h); */ \
  /*@ assert block: i < blocks(d, level) ==> i == (x >> h) && (i << h) == covering_start(x, h); */ \
  /*@ assert bound: (i << h) <= pow2(d); */ \
  /*@ assert below: \forall integer z; 0 <= z < covering_start(x, h) ==> \
        block_of(z, level) < block_of(x, level); */ \
  /*@ assert above: \forall integer z; z >= 0 ==> block_of(z, level) < block_of(x, level) ==> \
        z < covering_start(x, h); */

/* full_span */
#define BLOCKS_ASCEND \
  /*@ ghost unsigned d = b->depth; */ \
  /*@ ghost shape_lemma(d); */ \
  /*@ ghost block_of_mono_lemma(level); */
#define INNER_BLOCKS_ARE_FULL \
  /*@ assert mono: i <= j < blocks(d, level); */ \
  /*@ ghost \
    /@ loop invariant i < k; \
       loop invariant \forall integer y; i < y < k ==> y < j ==> in_full_block(b, level, y); \
       loop assigns k; \
       loop variant j - k; @/ \
    for (uint64_t k = i + 1; k < j; k++) { \
      full_lemma(b, level, k); \
      /@ assert in: \forall integer x; 0 <= x ==> i < block_of(x, level) < j ==> \
           first <= x <= last; @/ \
    } */
#define SPAN_IS_PUNCTURED \
  /*@ assert in: \forall integer z; from <= z < end ==> i <= block_of(z, level) < j; */ \
  /*@ ghost \
    /@ loop invariant from <= x; \
       loop invariant \forall integer z; from <= z < x ==> z < end ==> is_punctured(b, z); \
       loop assigns x; \
       loop variant end - x; @/ \
    for (uint64_t x = from; x < end; x++) { \
      uint64_t k = in_full_block_lemma(b, level, x); \
      /@ assert punctured: is_punctured(b, x); @/ \
    } */

/* release_range */
#define COVER_SIZE_BEFORE_RELEASE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */
#define COVER_SIZE_KEPT_BY_RELEASE \
  /*@ assert held: slots_hold_key(root, s); */ \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k); */ \
  /*@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k); \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */

/* put_rest */
#define RIGHTS_APART_FROM_SLOTS \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert apart: APART_ENTRIES(right, rights, s); */
#define RIGHTS_KEPT_BY_LEFTS \
  /*@ assert starts: same_starts{Pre,Here}(right, rights); */ \
  /*@ assert seeds: same_los{Pre,Here}(right, rights) && same_his{Pre,Here}(right, rights); */ \
  /*@ assert same: same_entries{Pre,Here}(right, rights); */ \
  /*@ ghost uint64_t from = either_lemma(lo < first, first, lo); */
#define REST_IS_THE_COVER \
  /*@ ghost uint64_t to = either_lemma(last + 1 < hi, last + 1, hi); */ \
  /*@ assert all: \forall integer x; from <= x < to ==> is_punctured(&s->punctured, x); */ \
  /*@ assert no_more: \forall integer x; \
        is_punctured(&s->punctured, x) || from <= x < to ==> is_punctured(&s->punctured, x); */ \
  /*@ assert slots: slots(root, d, s->slot, &s->punctured, from, to); */ \
  /*@ assert nodes: s->nodes == cover_size(&s->punctured, from, to, 0, d); */ \
  /*@ ghost same_set_lemma(&s->punctured, d, from, to, 0, 0); */ \
  /*@ assert owned: \forall integer j; owned(&s->punctured, from, to, d, j) ==> \
        owned(&s->punctured, 0, 0, d, j); */ \
  /*@ assert held_seeds: seeds(root, d, s->slot, &s->punctured, 0, 0); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, 0, 0); */

/* replace_range */
#define REST_APART_FROM_KEY \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert apart_left: APART_ENTRIES(left, lefts, s); */ \
  /*@ assert apart_right: APART_ENTRIES(right, rights, s); */ \
  /*@ assert words_left: APART_ENTRIES_WORDS(left, lefts, s); */ \
  /*@ assert words_right: APART_ENTRIES_WORDS(right, rights, s); */
#define REST_KEPT_BY_TAKING \
  /*@ ghost uint64_t lo = out.from, hi = out.end; */ \
  /*@ assert starts_left: same_starts{Pre,Here}(left, lefts); */ \
  /*@ assert seeds_left: same_los{Pre,Here}(left, lefts) && same_his{Pre,Here}(left, lefts); */ \
  /*@ assert starts_right: same_starts{Pre,Here}(right, rights); */ \
  /*@ assert seeds_right: same_los{Pre,Here}(right, rights) && \
        same_his{Pre,Here}(right, rights); */ \
  /*@ assert lefts: lefts{Pre}(left, lefts, lo, first); */ \
  /*@ assert rights: rights{Pre}(right, rights, hi, last); */ \
  /*@ assert inner_left: \forall integer x; lo <= x < first ==> \
        !is_punctured(&s->punctured, x); */ \
  /*@ assert inner_right: \forall integer x; last < x < hi ==> !is_punctured(&s->punctured, x); */
#define REST_KEPT_BY_MARKING \
  /*@ assert same_left: same_entries{Pre,Here}(left, lefts); */ \
  /*@ assert same_right: same_entries{Pre,Here}(right, rights); */ \
  /*@ assert left: entries(root, d, left, lefts); */ \
  /*@ assert right: entries(root, d, right, rights); */ \
  /*@ assert lefts: lefts(left, lefts, lo, first); */ \
  /*@ assert rights: rights(right, rights, hi, last); */ \
  /*@ assert inner_left: \forall integer x; lo <= x < first ==> \
        !is_punctured(&s->punctured, x); */ \
  /*@ assert inner_right: \forall integer x; last < x < hi ==> !is_punctured(&s->punctured, x); */ \
  /*@ assert in_left: \forall integer i, x; 0 <= i < lefts ==> \
        covers(left[i].node.start, left[i].node.height, x) ==> lo <= x < first; */ \
  /*@ assert in_right: \forall integer i, x; 0 <= i < rights ==> \
        covers(right[i].node.start, right[i].node.height, x) ==> last < x < hi; */ \
  /*@ assert kept_left: entries_live(&s->punctured, left, lefts); */ \
  /*@ assert kept_right: entries_live(&s->punctured, right, rights); */

/* opt_slots_puncture_range */
#define COUNT_IS_COVER_SIZE \
  /*@ assert depth: s->punctured.depth == d; */ \
  /*@ ghost shape_lemma(d); */ \
  /*@ assert shaped: shaped(&s->punctured); */ \
  /*@ ghost size_bounds_lemma(&s->punctured, 0, 0, d); */

/* opt_slots_load_node */
#define NODE_HAS_A_SLOT \
  /*@ assert depth: 1 <= s->punctured.depth <= 32; */ \
  /*@ ghost leaves_lemma(s->punctured.depth); */ \
  /*@ assert half: pow2(s->punctured.depth) == 2 * pow2(s->punctured.depth - 1); */

/* opt_slots_load_root */
#define ROOT_HAS_A_SLOT \
  /*@ ghost struct pprf_seed r = *seed; */ \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d - 1); */ \
  /*@ ghost path_lemma(d); */
#define ROOT_IS_THE_COVER \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d; */ \
  /*@ assert others: same_but{Pre,Put}(s, 0) && same_slots{Put,Here}(s); */ \
  /*@ assert none: \forall integer x; !is_punctured(&s->punctured, x); */ \
  /*@ assert intact: \forall integer t, g; intact(&s->punctured, 0, 0, t, g); */ \
  /*@ assert root: live(&s->punctured, 0, 0, d, 0, d); */ \
  /*@ assert only: \forall integer t, g; live(&s->punctured, 0, 0, d, t, g) ==> \
        t == 0 && g == d; */ \
  /*@ assert seed: seed_value(s->slot[0]) == node_seed(seed_value(r), d, 0, d); */ \
  /*@ assert seeds: seeds(seed_value(r), d, s->slot, &s->punctured, 0, 0); */ \
  /*@ assert zero: \forall integer j; 0 < j < pow2(d - 1) ==> zero_seed(s->slot[j]); */ \
  /*@ assert owned: owned(&s->punctured, 0, 0, d, 0); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, 0, 0); */

/* zero_small_levels */
#define ZERO_LEVELS_STAY_ZERO \
  /*@ assert others: \forall integer l; 0 <= l < levels ==> l != k ==> \
        same_level{Before,Here}(b, l); */ \
  /*@ assert words: \forall integer l, w; 0 <= l < levels ==> same_level{Before,Here}(b, l) ==> \
        0 <= w < words(depth, l) ==> zero_word{Before}(b, l, w) ==> zero_word(b, l, w); */ \
  /*@ assert same: \forall integer l; 0 <= l < levels ==> l != k ==> \
        zero_level{Before}(b, l) ==> zero_level(b, l); */

/* zero_store */
#define SLOTS_APART_FROM_LEVELS \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ assert apart: APART_WORDS(s, s); */ \
  /*@ assert apart_slots: APART_WORDS(SLOTS(s), s); */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> APART_WORDS(&s->slot[j], s); */ \
  /*@ ghost Mapped: ; */
#define SLOTS_KEPT_BY_LEVELS \
  /*@ assert place: s->slot == \at(s->slot,Pre) && s->punctured.depth == d; */ \
  /*@ assert each: \forall integer j; 0 <= j < pow2(d - 1) ==> same_slot{Mapped,Here}(s, j); */ \
  /*@ assert zero: zero_slots(s); */ \
  /*@ assert level: \forall integer k, i; 0 <= k < s->punctured.levels ==> \
        zero_level(&s->punctured, k) ==> 0 <= i < words(d, k) ==> \
        zero_word(&s->punctured, k, i); */ \
  /*@ assert words: \forall integer k, i; 0 <= k < s->punctured.levels ==> \
        0 <= i < words(d, k) ==> zero_word(&s->punctured, k, i); */ \
  /*@ ghost empty_lemma(&s->punctured); */ \
  /*@ assert opened: opened(s); */

/* opt_slots_clear */
#define LEAVES_OF_TREE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d); */ \
  /*@ ghost shl_lemma(1, d); */ \
  /*@ ghost Zero: ; */
#define NO_NODE_IS_THE_COVER \
  /*@ assert zero: zero_slots(s); */ \
  /*@ assert all: \forall integer x; 0 <= x < pow2(d) ==> is_punctured(&s->punctured, x); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ assert first: \forall integer t, g; 0 <= g <= d ==> covers(t, g, t); */ \
  /*@ assert start: \forall integer t, g; intact(&s->punctured, 0, 0, t, g) ==> \
        covers(t, g, t) ==> !is_punctured(&s->punctured, t); */ \
  /*@ assert none: \forall integer t, g; 0 <= g <= d ==> 0 <= t < pow2(d) ==> \
        !intact(&s->punctured, 0, 0, t, g); */ \
  /*@ assert clean: clean(d, s->slot, &s->punctured, 0, 0); */ \
  /*@ assert seeds: \forall seed R; seeds(R, d, s->slot, &s->punctured, 0, 0); */ \
  /*@ ghost size_lemma(&s->punctured, 0, 0); */ \
  /*@ ghost \
    /@ loop invariant 0 <= k <= d; \
       loop invariant size: \forall integer t; 0 <= t ==> t + pow2(k) <= pow2(d) ==> \
         cover_size(&s->punctured, 0, 0, t, k) == 0; \
       loop assigns k; \
       loop variant d - k; @/ \
    for (unsigned k = 0; k < d; k++) \
      ; */

/* opt_slots_start */
#define ROOT_APART_FROM_STORE \
  /*@ ghost unsigned d = s->punctured.depth; */ \
  /*@ assert depth: 1 <= d <= 32; */ \
  /*@ ghost leaves_lemma(d - 1); */ \
  /*@ assert apart: APART_WORDS(seed, s); */

/* opt_slots_set_up */
#define NEW_STORE_IS_OPENED \
  /*@ assert level: \forall integer k, i; 0 <= k < s->punctured.levels ==> \
        zero_level(&s->punctured, k) ==> 0 <= i < words(s->punctured.depth, k) ==> \
        zero_word(&s->punctured, k, i); */ \
  /*@ assert words: \forall integer k, i; 0 <= k < s->punctured.levels ==> \
        0 <= i < words(s->punctured.depth, k) ==> zero_word(&s->punctured, k, i); */ \
  /*@ ghost empty_lemma(&s->punctured); */ \
  /*@ assert opened: opened(s); */

#endif

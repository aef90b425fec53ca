/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of bitmap.c, each named by what it shows; empty for the compiler.
 * The contracts and the loop invariants are in the code. */
#ifndef OPT_WP_BITMAP_STEPS_H
#define OPT_WP_BITMAP_STEPS_H

/* opt_bitmap_height */
#define LEAF_IS_LIVE \
  /*@ ghost live_lemma(b, level); */ \
  /*@ assert here: !any(b, level, block_of(leaf, level)) && \
        !full(b, level, block_of(leaf, level)); */ \
  /*@ assert path: level < b->levels - 1 ==> \forall integer j; level + 1 <= j < b->levels ==> \
        block_of(block_of(leaf, level + 1), j - (level + 1)) == block_of(leaf, j); */ \
  /*@ assert clear: level < b->levels - 1 ==> \
        !in_full_block(b, level + 1, block_of(leaf, level + 1)); */ \
  /*@ assert not_under: !in_full_block(b, level, block_of(leaf, level)); */ \
  /*@ assert live: !is_punctured(b, leaf); */
#define NOTHING_IS_PUNCTURED \
  /*@ assert zero: level < b->levels - 1 ==> \
        any_word(b, level, block_of(leaf, level + 1)) == 0 && \
        any(b, level + 1, block_of(leaf, level + 1)); */ \
  /*@ assert top: level == b->levels - 1; */ \
  /*@ assert none: \forall integer x; 0 <= x < pow2(b->depth) ==> block_of(x, level) / 64 == 0; */ \
  /*@ assert free: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        !any(b, level, block_of(x, level)); */ \
  /*@ assert free_under: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        !in_full_block(b, level, block_of(x, level)); */ \
  /*@ assert all: \forall integer x; !is_punctured(b, x); */
#define WHOLE_TREE_IS_LIVE \
  /*@ assert kept: same_words{Pre,Here}(b); */ \
  /*@ assert live: !is_punctured(b, leaf); */ \
  /*@ assert all: \forall integer x; !is_punctured(b, x); */
#define GAP_IS_LIVE_AND_MAXIMAL \
  /*@ ghost unsigned g = h - 6 * level; */ \
  /*@ ghost around_lemma(level, g); */ \
  /*@ ghost around_lemma(level, g + 1); */ \
  /*@ ghost any_all_lemma(b, level); */ \
  /*@ assert bits: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        block_of(x, level) / 64 == block / 64 ==> \
        (any(b, level, block_of(x, level)) <==> bit(any, block_of(x, level) % 64)); */ \
  /*@ assert near: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        covers(covering_start(leaf, 6 * level + g), 6 * level + g, x) ==> \
        !any(b, level, block_of(x, level)); */ \
  /*@ assert up_one: \forall integer x; 0 <= x ==> level < b->levels - 1 ==> \
        block_of(x, level) / 64 == block / 64 ==> \
        block_of(x, level + 1) == block_of(leaf, level + 1); */ \
  /*@ assert near_under: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        covers(covering_start(leaf, 6 * level + g), 6 * level + g, x) ==> \
        !in_full_block(b, level, block_of(x, level)); */ \
  /*@ assert free: \forall integer x; \
        covers(covering_start(leaf, 6 * level + g), 6 * level + g, x) ==> \
        !is_punctured(b, x); */ \
  /*@ assert bit: \exists integer j; 0 <= j < 64 && any(b, level, 64 * (block / 64) + j) && \
        shift_right(j, g + 1) == shift_right(i, g + 1); */ \
  /*@ assert block: \exists integer y; 0 <= y && any(b, level, y) && y / 64 == block / 64 && \
        shift_right(y % 64, g + 1) == shift_right(i, g + 1); */ \
  /*@ assert some: \exists integer x; is_punctured(b, x) && \
        block_of(x, level) / 64 == block / 64 && \
        shift_right(block_of(x, level) % 64, g + 1) == shift_right(i, g + 1); */ \
  /*@ assert maximal: \exists integer x; is_punctured(b, x) && \
        covers(covering_start(leaf, 6 * level + g + 1), 6 * level + g + 1, x); */ \
  /*@ ghost unsigned t = b->depth - 6 * level; */ \
  /*@ ghost unsigned w = t < 6 ? t : 6; */ \
  /*@ ghost shift_right_zero_lemma(w); */ \
  /*@ assert width: t <= 6 ==> w == t; */ \
  /*@ ghost shift_right_mono_lemma(); */ \
  /*@ assert top: t <= 6 ==> level == b->levels - 1 && block < pow2(t) && block / 64 == 0; */ \
  /*@ assert digits: \forall integer j; 0 <= j < 64 ==> j / 64 == 0 && j % 64 == j; */ \
  /*@ assert word: t <= 6 ==> any == any_word(b, level, 0) && words(b->depth, level) == 1; */ \
  /*@ assert set: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==> \
        any(b, level, j); */ \
  /*@ assert low: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==> \
        j < pow2(t); */ \
  /*@ assert shift: t <= 6 ==> \forall integer j; 0 <= j < pow2(t) ==> shift_right(j, t) == 0; */ \
  /*@ assert own: t <= 6 ==> i < pow2(t); */ \
  /*@ assert equal: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==> \
        shift_right(j, t) == shift_right(i, t); */ \
  /*@ assert inside: 6 * level + g < b->depth; */
#define HEIGHT_OF_GAP \
  /*@ assert kept: same_words{Pre,Here}(b); */ \
  /*@ assert live: !is_punctured(b, leaf); */ \
  /*@ assert free: \forall integer x; covers(covering_start(leaf, h), h, x) ==> \
        !is_punctured(b, x); */ \
  /*@ assert maximal: \exists integer x; is_punctured(b, x) && \
        covers(covering_start(leaf, h + 1), h + 1, x); */

/* opt_bitmap_is_full */
#define PATH_OF_BLOCK \
  /*@ ghost shape_lemma(b->depth); */ \
  /*@ ghost uint64_t leaf = full_lemma(b, level, block); */ \
  /*@ assert path: \forall integer k; level <= k < b->levels ==> \
        block_of(block, k - level) == block_of(leaf, k); */
#define NOT_FULL_AT_LEVEL \
  /*@ assert clear: !any(b, k, block_of(leaf, k)) && !full(b, k, block_of(leaf, k)); */ \
  /*@ assert further: \forall integer j; k <= j < b->levels ==> \
        block_of(block_of(leaf, k), j - k) == block_of(leaf, j); */ \
  /*@ assert not_under: !in_full_block(b, k, block_of(leaf, k)); */ \
  /*@ ghost live_lemma(b, k); */
#define NOT_FULL_ABOVE \
  /*@ assert not_above: \forall integer j; level < j < b->levels ==> \
        !full(b, j, block_of(block, j - level)); */ \
  /*@ assert not_under: !full(b, level, block) ==> !in_full_block(b, level, block); */

/* first_live */
#define BLOCK_BEGINS_LIVE \
  /*@ ghost unsigned h = 6 * level; */ \
  /*@ ghost uint64_t n = end_lemma(0, d - h); */ \
  /*@ ghost uint64_t z = block < n ? full_lemma(b, level, block) : 0; */ \
  /*@ ghost shl_lemma(block, h); */ \
  /*@ ghost pow2_sum_lemma(d - h, h); */ \
  /*@ ghost shift_lemma(z, h); */ \
  /*@ ghost shift_right_block_of_lemma(level); */ \
  /*@ ghost around_one_lemma(h); */ \
  /*@ ghost around_two_lemma(h); */ \
  /*@ ghost pow2_pos_lemma(); */ \
  /*@ ghost live_lemma(b, level); */ \
  /*@ assert end: block == blocks(d, level) ==> (block << h) == pow2(d); */ \
  /*@ assert block: block < n ==> block == (z >> h) && (block << h) == covering_start(z, h); */ \
  /*@ assert first: covers(covering_start(z, h), h, covering_start(z, h)) && \
        0 <= covering_start(z, h) <= z; */ \
  /*@ assert in: block < n ==> block_of(covering_start(z, h), level) == block; */ \
  /*@ assert clear: block < n ==> !any(b, level, block_of(covering_start(z, h), level)) && \
        !in_full_block(b, level, block_of(covering_start(z, h), level)); */ \
  /*@ assert leaf: block < n ==> !in_full_block(b, 0, block_of(covering_start(z, h), 0)); */ \
  /*@ assert free: block < n ==> !is_punctured(b, covering_start(z, h)); */ \
  /*@ assert before: \forall integer x; 0 <= x < covering_start(z, h) ==> \
        block_of(x, level) < block_of(z, level); */
#define A_CHILD_IS_NOT_FULL \
  /*@ assert inside: block < blocks(d, level) && \at(block,Pre) < blocks(d, \at(level,Pre)); */ \
  /*@ assert some: clear != 0; */ \
  /*@ ghost uint64_t up = block; */
#define FIRST_CHILD_NOT_FULL \
  /*@ assert up: block / 64 == up && block % 64 == block - 64 * up; */ \
  /*@ assert not_full: !full(b, level - 1, block); */ \
  /*@ assert live: !in_full_block(b, level - 1, block); */ \
  /*@ assert full: \forall integer y; 64 * up <= y < block ==> full(b, level - 1, y); */ \
  /*@ assert punctured: \forall integer x; 0 <= x < pow2(d) ==> \
        64 * up <= block_of(x, level - 1) < block ==> is_punctured(b, x); */ \
  /*@ assert path: block_of(block, \at(level,Pre) - (level - 1)) == \at(block,Pre); */ \
  /*@ assert least: \forall integer x; 0 <= x < pow2(d) ==> block_of(x, level - 1) < block ==> \
        block_of(x, level) < up || 64 * up <= block_of(x, level - 1) < block; */

/* next_not_full */
#define BITS_RIGHT_OF_BLOCK \
  /*@ assert place: block == 64 * word + i && i < 64; */ \
  /*@ assert bits: \forall integer j; 0 <= j < 64 ==> (bit(right, j) <==> \
        j > i && !bit(full_word(b, level, word), j)); */ \
  /*@ assert digits: \forall integer j; 0 <= j < 64 ==> \
        (64 * word + j) / 64 == word && (64 * word + j) % 64 == j; */ \
  /*@ assert right: \forall integer j; 0 <= j < 64 ==> (bit(right, j) <==> \
        j > i && !full(b, level, 64 * word + j)); */
#define BLOCKS_BETWEEN_ARE_FULL \
  /*@ assert clear: \forall integer j; i < j < next ==> full(b, level, 64 * word + j); */ \
  /*@ assert split: \forall integer y; block < y < 64 * word + next ==> \
        i < y - 64 * word < next; */ \
  /*@ assert top: level + 1 == b->levels ==> \
        \forall integer y; full(b, level, y) ==> y < blocks(b->depth, level); */ \
  /*@ assert low: level + 1 < b->levels ==> \
        64 * words(b->depth, level) == blocks(b->depth, level); */ \
  /*@ assert last: 64 * word + next - 1 == block || full(b, level, 64 * word + next - 1); */

/* is_live */
#define SET_UNCHANGED \
  /*@ assert same: same_words{Pre,Here}(b); */ \
  /*@ assert shape: b->depth == \at(b->depth,Pre) && b->levels == \at(b->levels,Pre); */ \
  /*@ assert set: is_punctured(b, leaf) <==> is_punctured{Pre}(b, leaf); */

/* opt_bitmap_next_live */
#define LEAF_IN_TREE \
  /*@ ghost unsigned d = b->depth; */ \
  /*@ ghost shape_lemma(d); */ \
  /*@ ghost shift_lemma(leaf, d); */ \
  /*@ ghost shl_lemma(1, d); */
#define LEAVES_BEFORE_NEXT_ARE_PUNCTURED \
  /*@ ghost block_of_mono_lemma(level); */ \
  /*@ assert ahead: \forall integer x; leaf <= x ==> block <= block_of(x, level); */ \
  /*@ assert full: \forall integer x; leaf <= x < pow2(d) ==> \
        full(b, level, block_of(x, level)) ==> \
        is_punctured(b, x); */ \
  /*@ assert before: \forall integer x; leaf <= x < pow2(d) ==> block_of(x, level) < next ==> \
        is_punctured(b, x); */
#define NEXT_HAS_NO_FULL_BLOCK_ABOVE \
  /*@ assert up: \forall integer j; level < j < b->levels ==> \
        block_of(next, j - level) == block_of(next / 64, j - level - 1) && \
        block_of(block, j - level) == block_of(block / 64, j - level - 1); */ \
  /*@ assert path: \forall integer j; level < j < b->levels ==> \
        block_of(next, j - level) == block_of(block, j - level) == block_of(leaf, j); */ \
  /*@ assert here: !full(b, level, block_of(next, 0)); */ \
  /*@ assert above: \forall integer j, i; level < j < b->levels ==> i == j - level ==> \
        block_of(next, i) == block_of(leaf, j); */ \
  /*@ assert same: \forall integer j, i; level < j < b->levels ==> i == j - level ==> \
        !full(b, j, block_of(leaf, j)) ==> !full(b, j, block_of(next, i)); */ \
  /*@ assert around: \forall integer j, i; level < j < b->levels ==> i == j - level ==> \
        !full(b, j, block_of(next, i)); */
#define FOUND_IS_LEAST \
  /*@ assert inside: next < blocks(d, level) ==> found < pow2(d) && \
        block_of(found, level) == next; */ \
  /*@ assert none: \forall integer x; leaf <= x < found ==> x < pow2(d) && \
        (block_of(x, level) < next || block_of(x, level) == block_of(found, level)); */ \
  /*@ assert least: \forall integer x; leaf <= x < found ==> is_punctured(b, x); */
#define REST_OF_WORD_IS_FULL \
  /*@ assert word: next == 64 * (block / 64) + 64; */ \
  /*@ assert up: \forall integer x; 0 <= x < pow2(d) ==> level + 1 < b->levels ==> \
        block_of(x, level + 1) == block_of(x, level) / 64; */

/* set_full */
#define BITS_OF_BOTH_WORDS \
  /*@ assert any: \forall integer j; 0 <= j < 64 ==> \
        (bit(any_word(b, level, i), j) <==> bit(any_word{Pre}(b, level, i), j) || bit(bits, j)); \
        */ \
  /*@ assert full: \forall integer j; 0 <= j < 64 ==> \
        (bit(full_word(b, level, i), j) <==> \
         bit(full_word{Pre}(b, level, i), j) || bit(bits, j)); */ \
  /*@ assert others: others{Pre,Here}(b, level, i); */

/* set_any */
#define BITS_OF_ANY_WORD \
  /*@ assert any: \forall integer j; 0 <= j < 64 ==> \
        (bit(any_word(b, level, i), j) <==> bit(any_word{Pre}(b, level, i), j) || bit(bits, j)); \
        */ \
  /*@ assert others: others{Pre,Here}(b, level, i); */

/* start */
#define MARKED_BLOCKS_ARE_PUNCTURED \
  /*@ assert digits: (64 * i + some) / 64 == i && (64 * i + some) % 64 == some; */ \
  /*@ assert new: any(b, level, 64 * i + some); */ \
  /*@ assert some: any_word(b, level, i) != 0; */ \
  /*@ assert kept: full_kept{Pre,Here}(b); */ \
  /*@ assert full_any: full_any(b); */ \
  /*@ assert any_up: any_up(b, level, i); */ \
  /*@ assert full_up: full_up(b, level, i); */ \
  /*@ assert any_down: any_down(b); */ \
  /*@ assert no_more: no_more(b); */ \
  /*@ assert back: \forall integer x; is_punctured(b, x) ==> \
        is_punctured{Pre}(b, x) || (block_of(x, level) / 64 == i && \
        bit(bits, block_of(x, level) % 64)); */ \
  /*@ assert marked: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        block_of(x, level) / 64 == i ==> \
        bit(bits, block_of(x, level) % 64) ==> full(b, level, block_of(x, level)); */

/* mark_full_above */
#define BLOCK_BELOW_IS_FULL \
  /*@ ghost shape_lemma(b->depth); */ \
  /*@ ghost all_bits_lemma(0); */ \
  /*@ assert block: full_block(b, level - 1, z); */
#define FULL_MARK_KEEPS_THE_SET \
  /*@ assert digits: \forall integer y; 0 <= y ==> \
        (y / 64 == z / 64 && y % 64 == z % 64 <==> y == z); */ \
  /*@ assert any_one: any_one{Pre,Here}(b, level, z); */ \
  /*@ assert full_one: full_one{Pre,Here}(b, level, z); */ \
  /*@ assert marked: full(b, level, z) && any(b, level, z); */ \
  /*@ assert kept: full_kept{Pre,Here}(b); */ \
  /*@ assert some: any_word(b, level, z / 64) != 0; */ \
  /*@ assert below: any_word(b, level - 1, z) != 0; */ \
  /*@ assert full_any: full_any(b); */ \
  /*@ assert any_up: any_up(b, level, z / 64); */ \
  /*@ assert full_up: full_up(b, level, z / 64); */ \
  /*@ assert any_down: any_down(b); */ \
  /*@ assert no_more: no_more(b); */

/* mark_any_above */
#define ANY_MARK_KEEPS_THE_SET \
  /*@ assert digits: \forall integer y; 0 <= y ==> \
        (y / 64 == z / 64 && y % 64 == z % 64 <==> y == z); */ \
  /*@ assert any_one: any_one{Pre,Here}(b, level, z); */ \
  /*@ assert any: any(b, level, z); */ \
  /*@ assert kept: full_kept{Pre,Here}(b); */ \
  /*@ assert some: any_word(b, level, z / 64) != 0; */ \
  /*@ assert below: any_word(b, level - 1, z) != 0; */ \
  /*@ assert any_up: any_up(b, level, z / 64); */ \
  /*@ assert full_any: full_any(b); */ \
  /*@ assert any_down: any_down(b); */ \
  /*@ assert no_more: no_more(b); */

/* opt_bitmap_puncture */
#define FULL_BLOCKS_AROUND_LEAF \
  /*@ assert step: \forall integer k; 0 < k <= level ==> full_step(b, 0, k, leaf / 64); */ \
  /*@ assert marked: \forall integer k; 0 < k <= level ==> full(b, k, block_of(leaf, k)); */ \
  /*@ assert under: \forall integer k; 0 <= k <= level ==> \
        in_full_block(b, k, block_of(leaf, k)); */ \
  /*@ assert punctured: \forall integer k, x; 0 <= k <= level ==> 0 <= x < pow2(b->depth) ==> \
        block_of(x, k) == block_of(leaf, k) ==> is_punctured(b, x); */

/* opt_bitmap_puncture_range */
#define HEAD_OF_RANGE \
  /*@ assert head: \forall integer y; 0 <= y ==> (y / 64 == i && bit(head, y % 64) <==> \
        first <= y && y <= last && y <= 64 * i + 63); */ \
  /*@ assert some: bit(head, from); */ \
  /*@ assert inside: inside(b, level, i, head); */
#define INNER_WORDS_OF_RANGE \
  /*@ ghost all_bits_lemma(0); */ \
  /*@ assert whole: i == j ==> from == 0 && to == 63; */ \
  /*@ assert up: \forall integer x; 0 <= x < pow2(d) ==> \
        block_of(x, level + 1) == block_of(x, level) / 64; */
#define HEAD_IS_MARKED \
  /*@ assert left: \forall integer x; 0 <= x < pow2(d) ==> \
        (is_punctured(b, x) || 64 * i <= block_of(x, level) <= last <==> \
         is_punctured{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre)); */
#define TAIL_OF_RANGE \
  /*@ assert tail: \forall integer y; 0 <= y ==> (y / 64 == j && bit(tail, y % 64) <==> \
        64 * j <= y <= last); */ \
  /*@ assert some: bit(tail, 0); */ \
  /*@ assert inside: inside(b, level, j, tail); */
#define TAIL_IS_MARKED \
  /*@ assert right: \forall integer x; 0 <= x < pow2(d) ==> \
        (is_punctured(b, x) || 64 * i <= block_of(x, level) <= 64 * j + 63 <==> \
         is_punctured{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre)); */

#endif

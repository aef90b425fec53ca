/* SPDX-License-Identifier: Apache-2.0 */
/* What leads the provers through bitmap.c, by what it shows; to the compiler each of these is empty.
 * The contracts and the loops' invariants stand in the code. */
#ifndef OPT_WP_BITMAP_STEPS_H
#define OPT_WP_BITMAP_STEPS_H

/* opt_bitmap_height */
#define LEAF_IS_LIVE \
  /*@ ghost live_lf(b, level); */ \
  /*@ assert here: !any(b, level, blk(leaf, level)) && !full(b, level, blk(leaf, level)); */ \
  /*@ assert path: level < b->levels - 1 ==> \forall integer j; level + 1 <= j < b->levels ==> \
        blk(blk(leaf, level + 1), j - (level + 1)) == blk(leaf, j); */ \
  /*@ assert clear: level < b->levels - 1 ==> !under(b, level + 1, blk(leaf, level + 1)); */ \
  /*@ assert not_under: !under(b, level, blk(leaf, level)); */ \
  /*@ assert live: !gone(b, leaf); */
#define NOTHING_IS_PUNCTURED \
  /*@ assert zero: level < b->levels - 1 ==> \
        any_word(b, level, blk(leaf, level + 1)) == 0 && \
        any(b, level + 1, blk(leaf, level + 1)); */ \
  /*@ assert top: level == b->levels - 1; */ \
  /*@ assert none: \forall integer x; 0 <= x < pow2(b->depth) ==> blk(x, level) / 64 == 0; */ \
  /*@ assert free: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        !any(b, level, blk(x, level)); */ \
  /*@ assert free_under: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        !under(b, level, blk(x, level)); */ \
  /*@ assert all: \forall integer x; !gone(b, x); */
#define WHOLE_TREE_IS_LIVE \
  /*@ assert kept: same_words{Pre,Here}(b); */ \
  /*@ assert live: !gone(b, leaf); */ \
  /*@ assert all: \forall integer x; !gone(b, x); */
#define GAP_IS_LIVE_AND_MAXIMAL \
  /*@ ghost unsigned g = h - 6 * level; */ \
  /*@ ghost around_lf(level, g); */ \
  /*@ ghost around_lf(level, g + 1); */ \
  /*@ ghost any_all_lf(b, level); */ \
  /*@ assert bits: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        blk(x, level) / 64 == block / 64 ==> \
        (any(b, level, blk(x, level)) <==> bit(any, blk(x, level) % 64)); */ \
  /*@ assert near: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        covers(down(leaf, 6 * level + g), 6 * level + g, x) ==> \
        !any(b, level, blk(x, level)); */ \
  /*@ assert up_one: \forall integer x; 0 <= x ==> level < b->levels - 1 ==> \
        blk(x, level) / 64 == block / 64 ==> blk(x, level + 1) == blk(leaf, level + 1); */ \
  /*@ assert near_under: \forall integer x; 0 <= x < pow2(b->depth) ==> \
        covers(down(leaf, 6 * level + g), 6 * level + g, x) ==> \
        !under(b, level, blk(x, level)); */ \
  /*@ assert free: \forall integer x; covers(down(leaf, 6 * level + g), 6 * level + g, x) ==> \
        !gone(b, x); */ \
  /*@ assert bit: \exists integer j; 0 <= j < 64 && any(b, level, 64 * (block / 64) + j) && \
        shr(j, g + 1) == shr(i, g + 1); */ \
  /*@ assert block: \exists integer y; 0 <= y && any(b, level, y) && y / 64 == block / 64 && \
        shr(y % 64, g + 1) == shr(i, g + 1); */ \
  /*@ assert some: \exists integer x; gone(b, x) && blk(x, level) / 64 == block / 64 && \
        shr(blk(x, level) % 64, g + 1) == shr(i, g + 1); */ \
  /*@ assert maximal: \exists integer x; gone(b, x) && \
        covers(down(leaf, 6 * level + g + 1), 6 * level + g + 1, x); */ \
  /*@ ghost unsigned t = b->depth - 6 * level; */ \
  /*@ ghost unsigned w = t < 6 ? t : 6; */ \
  /*@ ghost shr_zero_lf(w); */ \
  /*@ assert width: t <= 6 ==> w == t; */ \
  /*@ ghost shr_mono_lf(); */ \
  /*@ assert top: t <= 6 ==> level == b->levels - 1 && block < pow2(t) && block / 64 == 0; */ \
  /*@ assert digits: \forall integer j; 0 <= j < 64 ==> j / 64 == 0 && j % 64 == j; */ \
  /*@ assert word: t <= 6 ==> any == any_word(b, level, 0) && words(b->depth, level) == 1; */ \
  /*@ assert set: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==> \
        any(b, level, j); */ \
  /*@ assert low: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==> \
        j < pow2(t); */ \
  /*@ assert shift: t <= 6 ==> \forall integer j; 0 <= j < pow2(t) ==> shr(j, t) == 0; */ \
  /*@ assert own: t <= 6 ==> i < pow2(t); */ \
  /*@ assert equal: t <= 6 ==> \forall integer j; 0 <= j < 64 ==> bit(any, j) ==> \
        shr(j, t) == shr(i, t); */ \
  /*@ assert inside: 6 * level + g < b->depth; */
#define HEIGHT_OF_GAP \
  /*@ assert kept: same_words{Pre,Here}(b); */ \
  /*@ assert live: !gone(b, leaf); */ \
  /*@ assert free: \forall integer x; covers(down(leaf, h), h, x) ==> !gone(b, x); */ \
  /*@ assert maximal: \exists integer x; gone(b, x) && covers(down(leaf, h + 1), h + 1, x); */

/* opt_bitmap_is_full */
#define PATH_OF_BLOCK \
  /*@ ghost shape_lf(b->depth); */ \
  /*@ ghost uint64_t leaf = full_lf(b, level, block); */ \
  /*@ assert path: \forall integer k; level <= k < b->levels ==> \
        blk(block, k - level) == blk(leaf, k); */
#define NOT_FULL_AT_LEVEL \
  /*@ assert clear: !any(b, k, blk(leaf, k)) && !full(b, k, blk(leaf, k)); */ \
  /*@ assert further: \forall integer j; k <= j < b->levels ==> \
        blk(blk(leaf, k), j - k) == blk(leaf, j); */ \
  /*@ assert not_under: !under(b, k, blk(leaf, k)); */ \
  /*@ ghost live_lf(b, k); */
#define NOT_FULL_ABOVE \
  /*@ assert not_above: \forall integer j; level < j < b->levels ==> \
        !full(b, j, blk(block, j - level)); */ \
  /*@ assert not_under: !full(b, level, block) ==> !under(b, level, block); */

/* first_live */
#define BLOCK_BEGINS_LIVE \
  /*@ ghost unsigned h = 6 * level; */ \
  /*@ ghost uint64_t n = end_lf(0, d - h); */ \
  /*@ ghost uint64_t z = block < n ? full_lf(b, level, block) : 0; */ \
  /*@ ghost shl_lf(block, h); */ \
  /*@ ghost pow2_sum_lf(d - h, h); */ \
  /*@ ghost shift_lf(z, h); */ \
  /*@ ghost shr_blk_lf(level); */ \
  /*@ ghost around_one_lf(h); */ \
  /*@ ghost around_two_lf(h); */ \
  /*@ ghost pow2_pos_lf(); */ \
  /*@ ghost live_lf(b, level); */ \
  /*@ assert end: block == blocks(d, level) ==> (block << h) == pow2(d); */ \
  /*@ assert block: block < n ==> block == (z >> h) && (block << h) == down(z, h); */ \
  /*@ assert first: covers(down(z, h), h, down(z, h)) && 0 <= down(z, h) <= z; */ \
  /*@ assert in: block < n ==> blk(down(z, h), level) == block; */ \
  /*@ assert clear: block < n ==> !any(b, level, blk(down(z, h), level)) && \
        !under(b, level, blk(down(z, h), level)); */ \
  /*@ assert leaf: block < n ==> !under(b, 0, blk(down(z, h), 0)); */ \
  /*@ assert free: block < n ==> !gone(b, down(z, h)); */ \
  /*@ assert before: \forall integer x; 0 <= x < down(z, h) ==> blk(x, level) < blk(z, level); */
#define A_CHILD_IS_NOT_FULL \
  /*@ assert inside: block < blocks(d, level) && \at(block,Pre) < blocks(d, \at(level,Pre)); */ \
  /*@ assert some: clear != 0; */ \
  /*@ ghost uint64_t up = block; */
#define FIRST_CHILD_NOT_FULL \
  /*@ assert up: block / 64 == up && block % 64 == block - 64 * up; */ \
  /*@ assert not_full: !full(b, level - 1, block); */ \
  /*@ assert live: !under(b, level - 1, block); */ \
  /*@ assert full: \forall integer y; 64 * up <= y < block ==> full(b, level - 1, y); */ \
  /*@ assert gone: \forall integer x; 0 <= x < pow2(d) ==> \
        64 * up <= blk(x, level - 1) < block ==> gone(b, x); */ \
  /*@ assert path: blk(block, \at(level,Pre) - (level - 1)) == \at(block,Pre); */ \
  /*@ assert least: \forall integer x; 0 <= x < pow2(d) ==> blk(x, level - 1) < block ==> \
        blk(x, level) < up || 64 * up <= blk(x, level - 1) < block; */

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
  /*@ assert split: \forall integer y; block < y < 64 * word + next ==> i < y - 64 * word < next; */ \
  /*@ assert top: level + 1 == b->levels ==> \
        \forall integer y; full(b, level, y) ==> y < blocks(b->depth, level); */ \
  /*@ assert low: level + 1 < b->levels ==> \
        64 * words(b->depth, level) == blocks(b->depth, level); */ \
  /*@ assert last: 64 * word + next - 1 == block || full(b, level, 64 * word + next - 1); */

/* is_live */
#define SET_UNCHANGED \
  /*@ assert same: same_words{Pre,Here}(b); */ \
  /*@ assert shape: b->depth == \at(b->depth,Pre) && b->levels == \at(b->levels,Pre); */ \
  /*@ assert set: gone(b, leaf) <==> gone{Pre}(b, leaf); */

/* opt_bitmap_next_live */
#define LEAF_IN_TREE \
  /*@ ghost unsigned d = b->depth; */ \
  /*@ ghost shape_lf(d); */ \
  /*@ ghost shift_lf(leaf, d); */ \
  /*@ ghost shl_lf(1, d); */
#define LEAVES_BEFORE_NEXT_ARE_PUNCTURED \
  /*@ ghost blk_mono_lf(level); */ \
  /*@ assert ahead: \forall integer x; leaf <= x ==> block <= blk(x, level); */ \
  /*@ assert full: \forall integer x; leaf <= x < pow2(d) ==> full(b, level, blk(x, level)) ==> \
        gone(b, x); */ \
  /*@ assert before: \forall integer x; leaf <= x < pow2(d) ==> blk(x, level) < next ==> \
        gone(b, x); */
#define NEXT_HAS_NO_FULL_BLOCK_ABOVE \
  /*@ assert up: \forall integer j; level < j < b->levels ==> \
        blk(next, j - level) == blk(next / 64, j - level - 1) && \
        blk(block, j - level) == blk(block / 64, j - level - 1); */ \
  /*@ assert path: \forall integer j; level < j < b->levels ==> \
        blk(next, j - level) == blk(block, j - level) == blk(leaf, j); */ \
  /*@ assert here: !full(b, level, blk(next, 0)); */ \
  /*@ assert above: \forall integer j, i; level < j < b->levels ==> i == j - level ==> \
        blk(next, i) == blk(leaf, j); */ \
  /*@ assert same: \forall integer j, i; level < j < b->levels ==> i == j - level ==> \
        !full(b, j, blk(leaf, j)) ==> !full(b, j, blk(next, i)); */ \
  /*@ assert around: \forall integer j, i; level < j < b->levels ==> i == j - level ==> \
        !full(b, j, blk(next, i)); */
#define FOUND_IS_LEAST \
  /*@ assert inside: next < blocks(d, level) ==> found < pow2(d) && blk(found, level) == next; */ \
  /*@ assert none: \forall integer x; leaf <= x < found ==> x < pow2(d) && \
        (blk(x, level) < next || blk(x, level) == blk(found, level)); */ \
  /*@ assert least: \forall integer x; leaf <= x < found ==> gone(b, x); */
#define REST_OF_WORD_IS_FULL \
  /*@ assert word: next == 64 * (block / 64) + 64; */ \
  /*@ assert up: \forall integer x; 0 <= x < pow2(d) ==> level + 1 < b->levels ==> \
        blk(x, level + 1) == blk(x, level) / 64; */

/* set_full */
#define BITS_OF_BOTH_WORDS \
  /*@ assert any: \forall integer j; 0 <= j < 64 ==> \
        (bit(any_word(b, level, i), j) <==> bit(any_word{Pre}(b, level, i), j) || bit(bits, j)); */ \
  /*@ assert full: \forall integer j; 0 <= j < 64 ==> \
        (bit(full_word(b, level, i), j) <==> \
         bit(full_word{Pre}(b, level, i), j) || bit(bits, j)); */ \
  /*@ assert others: others{Pre,Here}(b, level, i); */

/* set_any */
#define BITS_OF_ANY_WORD \
  /*@ assert any: \forall integer j; 0 <= j < 64 ==> \
        (bit(any_word(b, level, i), j) <==> bit(any_word{Pre}(b, level, i), j) || bit(bits, j)); */ \
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
  /*@ assert back: \forall integer x; gone(b, x) ==> \
        gone{Pre}(b, x) || (blk(x, level) / 64 == i && bit(bits, blk(x, level) % 64)); */ \
  /*@ assert marked: \forall integer x; 0 <= x < pow2(b->depth) ==> blk(x, level) / 64 == i ==> \
        bit(bits, blk(x, level) % 64) ==> full(b, level, blk(x, level)); */

/* mark_full_above */
#define BLOCK_BELOW_IS_FULL \
  /*@ ghost shape_lf(b->depth); */ \
  /*@ ghost all_bits_lf(0); */ \
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
  /*@ assert marked: \forall integer k; 0 < k <= level ==> full(b, k, blk(leaf, k)); */ \
  /*@ assert under: \forall integer k; 0 <= k <= level ==> under(b, k, blk(leaf, k)); */ \
  /*@ assert gone: \forall integer k, x; 0 <= k <= level ==> 0 <= x < pow2(b->depth) ==> \
        blk(x, k) == blk(leaf, k) ==> gone(b, x); */

/* opt_bitmap_puncture_range */
#define HEAD_OF_RANGE \
  /*@ assert head: \forall integer y; 0 <= y ==> (y / 64 == i && bit(head, y % 64) <==> \
        first <= y && y <= last && y <= 64 * i + 63); */ \
  /*@ assert some: bit(head, from); */ \
  /*@ assert inside: inside(b, level, i, head); */
#define INNER_WORDS_OF_RANGE \
  /*@ ghost all_bits_lf(0); */ \
  /*@ assert whole: i == j ==> from == 0 && to == 63; */ \
  /*@ assert up: \forall integer x; 0 <= x < pow2(d) ==> \
        blk(x, level + 1) == blk(x, level) / 64; */
#define HEAD_IS_MARKED \
  /*@ assert left: \forall integer x; 0 <= x < pow2(d) ==> \
        (gone(b, x) || 64 * i <= blk(x, level) <= last <==> \
         gone{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre)); */
#define TAIL_OF_RANGE \
  /*@ assert tail: \forall integer y; 0 <= y ==> (y / 64 == j && bit(tail, y % 64) <==> \
        64 * j <= y <= last); */ \
  /*@ assert some: bit(tail, 0); */ \
  /*@ assert inside: inside(b, level, j, tail); */
#define TAIL_IS_MARKED \
  /*@ assert right: \forall integer x; 0 <= x < pow2(d) ==> \
        (gone(b, x) || 64 * i <= blk(x, level) <= 64 * j + 63 <==> \
         gone{Pre}(b, x) || \at(first,Pre) <= x <= \at(last,Pre)); */

#endif

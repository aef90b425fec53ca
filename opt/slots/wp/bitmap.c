/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind bitmap.acsl: ghost code only, never compiled. */
#include "slots/bitmap.h"

/*@ ghost
  void shift_right_lemma(uint64_t x)
  {
    /@ loop invariant 0 <= k <= 63;
       loop invariant \forall integer h; 0 <= h <= k ==> (x >> h) == shift_right(x, h) >= 0;
       loop assigns k;
       loop variant 63 - k; @/
    for (int k = 0; k < 63; k++) {
      /@ assert (x >> (k + 1)) == ((x >> k) >> 1); @/
      /@ assert ((x >> k) >> 1) == (x >> k) / 2; @/
      /@ assert shift_right(x, k + 1) == shift_right(x, k) / 2; @/
    }
  }

  void shift_right_block_of_lemma(unsigned k)
  {
    /@ loop invariant 0 <= i <= k;
       loop invariant \forall integer x; x >= 0 ==> shift_right(x, 6 * i) == block_of(x, i) >= 0;
       loop assigns i;
       loop variant k - i; @/
    for (unsigned i = 0; i < k; i++) {
      /@ assert \forall integer x; shift_right(x, 6 * i + 2) == shift_right(x, 6 * i) / 2 / 2; @/
      /@ assert \forall integer x;
           shift_right(x, 6 * i + 4) == shift_right(x, 6 * i + 2) / 2 / 2; @/
      /@ assert \forall integer x;
           shift_right(x, 6 * (i + 1)) == shift_right(x, 6 * i + 4) / 2 / 2; @/
      /@ assert \forall integer x; x >= 0 ==> x / 2 / 2 / 2 / 2 / 2 / 2 == x / 64; @/
      /@ assert \forall integer x; x >= 0 ==>
           shift_right(x, 6 * (i + 1)) == shift_right(x, 6 * i) / 64; @/
      /@ assert \forall integer x; x >= 0 ==> block_of(x, i + 1) == block_of(x, i) / 64; @/
    }
  }

  /@ assigns \nothing;
     ensures w == 0 ==> \result == ALL_BITS;
     ensures \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> !bit(w, j));
  @/
  uint64_t not_lemma(uint64_t w)
  {
    return ~w;
  }

  void all_bits_lemma(uint64_t w)
  {
    uint64_t a = not_lemma(0);
    shift_right_lemma(w);
    shift_right_lemma(a);
    /@ assert pow2(63) == 0x8000000000000000; @/
    /@ loop invariant 0 <= k <= 63;
       loop invariant shift_right(w, k) <= pow2(64 - k) - 1;
       loop invariant shift_right(a, k) <= pow2(64 - k) - 1;
       loop assigns k;
       loop variant 63 - k; @/
    for (int k = 0; k < 63; k++) {
      /@ assert pow2(64 - k) == 2 * pow2(63 - k); @/
      /@ assert shift_right(w, k + 1) == shift_right(w, k) / 2 &&
           shift_right(a, k + 1) == shift_right(a, k) / 2; @/
    }
    /@ assert bit(w, 63) <==> bit(w >> 63, 0); @/
    /@ assert bit(a, 63) <==> bit(a >> 63, 0); @/
    /@ assert !bit(0, 0); @/
    /@ loop invariant 0 <= k <= 63;
       loop invariant (\forall integer j; 0 <= j < 64 ==> bit(w, j)) ==>
         shift_right(w, k) == shift_right(a, k);
       loop assigns k;
       loop variant k; @/
    for (int k = 63; k > 0; k--) {
      /@ assert shift_right(w, k) == shift_right(w, k - 1) / 2 &&
           shift_right(a, k) == shift_right(a, k - 1) / 2; @/
      /@ assert bit(w, k - 1) <==> bit(w >> (k - 1), 0); @/
      /@ assert bit(a, k - 1) <==> bit(a >> (k - 1), 0); @/
      /@ assert 2 * (w >> k) == ((w >> k) << 1); @/
      /@ assert !bit(((w >> k) << 1), 0); @/
      /@ assert 2 * (a >> k) == ((a >> k) << 1); @/
      /@ assert !bit(((a >> k) << 1), 0); @/
      /@ assert bit(w, k - 1) ==> (w >> (k - 1)) == 2 * (w >> k) + 1; @/
      /@ assert (a >> (k - 1)) == 2 * (a >> k) + 1; @/
    }
    /@ assert shift_right(w, 0) == w && shift_right(a, 0) == a; @/
  }

  void block_of_mono_lemma(unsigned k)
  {
    /@ loop invariant 0 <= i <= k;
       loop invariant \forall integer x, y; 0 <= x <= y ==> 0 <= block_of(x, i) <= block_of(y, i);
       loop assigns i;
       loop variant k - i; @/
    for (unsigned i = 0; i < k; i++) {
      /@ assert \forall integer x; x >= 0 ==> block_of(x, i + 1) == block_of(x, i) / 64; @/
    }
  }

  void shift_right_mono_lemma(void)
  {
    /@ loop invariant 0 <= k <= 6;
       loop invariant \forall integer x, y, h; 0 <= x <= y ==> 0 <= h <= k ==>
         0 <= shift_right(x, h) <= shift_right(y, h);
       loop invariant \forall integer x, y, g, h; 0 <= x && 0 <= y ==> 0 <= g <= h <= k ==>
         shift_right(x, g) == shift_right(y, g) ==> shift_right(x, h) == shift_right(y, h);
       loop assigns k;
       loop variant 6 - k; @/
    for (unsigned k = 0; k < 6; k++) {
      /@ assert \forall integer x; shift_right(x, k + 1) == shift_right(x, k) / 2; @/
    }
  }

  void shift_bits_lemma(uint64_t w, unsigned h)
  {
    /@ assert \forall integer j; 64 <= j ==> !bit(w, j); @/
  }

  void below_lemma(unsigned i)
  {
    uint64_t m = ALL_BITS / 2;
    pow2_mono_lemma(i, 63);
    all_bits_lemma(0);
    shift_right_lemma(m);
    /@ assert pow2(63) == 0x8000000000000000; @/
    /@ loop invariant 0 <= k <= 63 - i;
       loop invariant shift_right(m, k) == pow2(63 - k) - 1;
       loop assigns k;
       loop variant 63 - k; @/
    for (unsigned k = 0; k < 63 - i; k++) {
      /@ assert pow2(63 - k) == 2 * pow2(62 - k); @/
      /@ assert shift_right(m, k + 1) == shift_right(m, k) / 2; @/
    }
    /@ assert (m >> (63 - i)) == pow2(i) - 1; @/
    shift_bits_lemma(ALL_BITS, 1);
    shift_bits_lemma(m, 63 - i);
    /@ assert \forall integer j; 0 <= j < 64 ==> (bit(m, j) <==> j < 63); @/
    /@ assert \forall integer j; 0 <= j < 64 ==> (bit(m >> (63 - i), j) <==> j < i); @/
  }

  void covering_start_lemma(unsigned d, uint64_t x, unsigned h)
  {
    tn_apart_lemma(d, h);
    pow2_pos_lemma();
    shift_right_zero_lemma(d);
    shift_right_lemma(x);
    /@ assert shift_right(x, d) == 0; @/
    /@ assert covering_start(x, d) == 0; @/
    /@ loop invariant h <= k <= d;
       loop invariant tree_node(d, covering_start(x, k), k);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > h; k--) {
      /@ assert covering_start(x, k) == covering_start(x, k - 1) ||
           covering_start(x, k) == covering_start(x, k - 1) - pow2(k - 1); @/
      /@ assert tree_node(d, covering_start(x, k - 1), k - 1); @/
    }
    /@ loop invariant 0 <= k <= h;
       loop invariant covers(covering_start(x, k), k, x);
       loop assigns k;
       loop variant h - k; @/
    for (unsigned k = 0; k < h; k++) {
      /@ assert covering_start(x, k + 1) == covering_start(x, k) ||
           covering_start(x, k + 1) == covering_start(x, k) - pow2(k); @/
      /@ assert pow2(k + 1) == 2 * pow2(k); @/
    }
    /@ assert \forall integer s; tree_node(d, s, h) ==>
         s < covering_start(x, h) ==> !covers(s, h, x); @/
    /@ assert \forall integer s; tree_node(d, s, h) ==>
         s > covering_start(x, h) ==> !covers(s, h, x); @/
  }

  void shift_right_zero_lemma(unsigned h)
  {
    /@ loop invariant 0 <= k <= h;
       loop invariant \forall integer x; 0 <= x < pow2(h) ==> 0 <= shift_right(x, k) < pow2(h - k);
       loop assigns k;
       loop variant h - k; @/
    for (unsigned k = 0; k < h; k++) {
      /@ assert pow2(h - k) == 2 * pow2(h - k - 1); @/
      /@ assert \forall integer x; shift_right(x, k + 1) == shift_right(x, k) / 2; @/
    }
  }

  void shape_lemma(unsigned d)
  {
    pow2_pos_lemma();
    pow2_mono_lemma(0, d);
    unsigned top = (d + 5) / 6 - 1;
    /@ assert pow2(1) == 2 && pow2(6) == 64; @/
    pow2_mono_lemma(1, d - 6 * top);
    pow2_mono_lemma(d - 6 * top, 6);
    /@ assert six: \forall integer n; 0 <= n ==> pow2(n + 6) == 64 * pow2(n); @/
    /@ assert inner: \forall integer k; 0 <= k < top ==> words(d, k) == blocks(d, k + 1) &&
         blocks(d, k) == 64 * blocks(d, k + 1); @/
    /@ assert pow2(8) == 256 && pow2(16) == 65536 && pow2(26) == 0x4000000; @/
    /@ assert pow2(32) == 0x100000000; @/
    pow2_mono_lemma(d, 32);
    /@ loop invariant 0 <= i <= top;
       loop invariant \forall integer k; 0 <= k < i ==> 1 <= words(d, k) <= 0x4000000 &&
         2 <= blocks(d, k) == 64 * words(d, k) && blocks(d, k) <= 0x100000000;
       loop invariant 2 <= blocks(d, i) <= 0x100000000;
       loop assigns i;
       loop variant top - i; @/
    for (unsigned i = 0; i < top; i++) {
      pow2_mono_lemma(1, d - 6 * (i + 1));
    }
    /@ loop invariant 0 <= j <= top;
       loop invariant \forall integer x, k; 0 <= x < pow2(d) ==> 0 <= k <= j ==>
         0 <= block_of(x, k) < blocks(d, k) && 0 <= block_of(x, k) / 64 < words(d, k);
       loop assigns j;
       loop variant top - j; @/
    for (unsigned j = 0; j < top; j++) {
      /@ assert \forall integer x; 0 <= x ==> block_of(x, j + 1) == block_of(x, j) / 64; @/
    }
  }

  void around_one_lemma(unsigned h)
  {
    pow2_pos_lemma();
    /@ loop invariant 0 <= i <= h;
       loop invariant \forall integer x; 0 <= x ==> covers(covering_start(x, i), i, x) &&
         0 <= shift_right(x, i);
       loop assigns i;
       loop variant h - i; @/
    for (unsigned i = 0; i < h; i++) {
      /@ assert pow2(i + 1) == 2 * pow2(i); @/
      /@ assert \forall integer x; shift_right(x, i + 1) == shift_right(x, i) / 2; @/
      /@ assert \forall integer x; 0 <= x ==>
           covering_start(x, i + 1) == covering_start(x, i) ||
           covering_start(x, i + 1) == covering_start(x, i) - pow2(i); @/
    }
  }

  void around_two_lemma(unsigned h)
  {
    pow2_pos_lemma();
    around_one_lemma(h);
    /@ assert left: \forall integer x, y; 0 <= x && 0 <= y ==>
         shift_right(x, h) < shift_right(y, h) ==>
         !covers(covering_start(x, h), h, y); @/
    /@ assert right: \forall integer x, y; 0 <= x && 0 <= y ==>
         shift_right(y, h) < shift_right(x, h) ==>
         !covers(covering_start(x, h), h, y); @/
    /@ assert equal: \forall integer x, y; 0 <= x && 0 <= y ==>
         shift_right(y, h) == shift_right(x, h) ==>
         covers(covering_start(x, h), h, y); @/
  }

  void shift_right_word_lemma(unsigned g)
  {
    /@ assert s0: \forall integer x; 0 <= x ==>
         shift_right(x, 0) == 64 * (x / 64) + shift_right(x % 64, 0) &&
         0 <= shift_right(x % 64, 0) < 64; @/
    /@ assert s1: \forall integer x; 0 <= x ==>
         shift_right(x, 1) == 32 * (x / 64) + shift_right(x % 64, 1) &&
         0 <= shift_right(x % 64, 1) < 32; @/
    /@ assert s2: \forall integer x; 0 <= x ==>
         shift_right(x, 2) == 16 * (x / 64) + shift_right(x % 64, 2) &&
         0 <= shift_right(x % 64, 2) < 16; @/
    /@ assert s3: \forall integer x; 0 <= x ==>
         shift_right(x, 3) == 8 * (x / 64) + shift_right(x % 64, 3) &&
         0 <= shift_right(x % 64, 3) < 8; @/
    /@ assert s4: \forall integer x; 0 <= x ==>
         shift_right(x, 4) == 4 * (x / 64) + shift_right(x % 64, 4) &&
         0 <= shift_right(x % 64, 4) < 4; @/
    /@ assert s5: \forall integer x; 0 <= x ==>
         shift_right(x, 5) == 2 * (x / 64) + shift_right(x % 64, 5) &&
         0 <= shift_right(x % 64, 5) < 2; @/
    /@ assert s6: \forall integer x; 0 <= x ==>
         shift_right(x, 6) == x / 64 + shift_right(x % 64, 6) &&
         0 <= shift_right(x % 64, 6) < 1; @/
    /@ assert w0: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 0) == shift_right(y, 0) <==>
         x / 64 == y / 64 && shift_right(x % 64, 0) == shift_right(y % 64, 0)); @/
    /@ assert w1: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 1) == shift_right(y, 1) <==>
         x / 64 == y / 64 && shift_right(x % 64, 1) == shift_right(y % 64, 1)); @/
    /@ assert w2: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 2) == shift_right(y, 2) <==>
         x / 64 == y / 64 && shift_right(x % 64, 2) == shift_right(y % 64, 2)); @/
    /@ assert w3: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 3) == shift_right(y, 3) <==>
         x / 64 == y / 64 && shift_right(x % 64, 3) == shift_right(y % 64, 3)); @/
    /@ assert w4: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 4) == shift_right(y, 4) <==>
         x / 64 == y / 64 && shift_right(x % 64, 4) == shift_right(y % 64, 4)); @/
    /@ assert w5: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 5) == shift_right(y, 5) <==>
         x / 64 == y / 64 && shift_right(x % 64, 5) == shift_right(y % 64, 5)); @/
    /@ assert w6: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, 6) == shift_right(y, 6) <==>
         x / 64 == y / 64 && shift_right(x % 64, 6) == shift_right(y % 64, 6)); @/
    /@ assert cases: g == 0 || g == 1 || g == 2 || g == 3 || g == 4 || g == 5 || g == 6; @/
    /@ assert word: \forall integer x, y; 0 <= x && 0 <= y ==>
         (shift_right(x, g) == shift_right(y, g) <==>
         x / 64 == y / 64 && shift_right(x % 64, g) == shift_right(y % 64, g)); @/
  }

  void around_lemma(unsigned k, unsigned g)
  {
    shift_right_block_of_lemma(k);
    /@ loop invariant 0 <= i <= g;
       loop invariant \forall integer x; 0 <= x ==>
         shift_right(x, 6 * k + i) == shift_right(block_of(x, k), i) >= 0;
       loop assigns i;
       loop variant g - i; @/
    for (unsigned i = 0; i < g; i++) {
      /@ assert \forall integer x;
           shift_right(x, 6 * k + i + 1) == shift_right(x, 6 * k + i) / 2; @/
      /@ assert \forall integer x; shift_right(x, i + 1) == shift_right(x, i) / 2; @/
    }
    around_two_lemma(6 * k + g);
    shift_right_word_lemma(g);
  }

  void live_lemma(const struct opt_bitmap *b, unsigned k)
  {
    shape_lemma(b->depth);
    /@ loop invariant 0 <= i <= k;
       loop invariant done: \forall integer x, j; 0 <= x ==> i <= j <= k ==>
         busy(b, j, x) ==> busy(b, k, x);
       loop assigns i;
       loop variant i; @/
    for (unsigned i = k; i > 0; i--) {
      /@ assert step: \forall integer x, j; 0 <= x ==> i - 1 <= j < i ==>
           busy(b, j, x) ==> busy(b, i, x); @/
      /@ assert here: \forall integer x, j; 0 <= x ==> i - 1 <= j < i ==>
           busy(b, j, x) ==> busy(b, k, x); @/
    }
  }

  uint64_t any_lemma(const struct opt_bitmap *b, unsigned k, uint64_t y)
  {
    shape_lemma(b->depth);
    unsigned i = k;
    uint64_t z = y;
    /@ loop invariant i <= k && z < blocks(b->depth, i);
       loop invariant block_of(z, k - i) == y;
       loop invariant any(b, k, y) ==> in_full_block(b, i, z) || any(b, i, z);
       loop assigns i, z;
       loop variant i; @/
    while (i > 0) {
      uint64_t w = i == 1 ? b->leaves[z] : b->summary[i - 1][z].any;
      unsigned j = w == 0 ? 0 : some_bit(w);
      uint64_t c = 64 * z + j;
      /@ assert word: w == any_word(b, i - 1, z); @/
      /@ assert low: 0 <= j < 64; @/
      /@ assert quotient: c / 64 == z; @/
      /@ assert rest: c % 64 == j; @/
      /@ assert inside: c < blocks(b->depth, i - 1) && z < words(b->depth, i - 1); @/
      /@ assert some: w != 0 ==> any(b, i - 1, c); @/
      /@ assert none: any(b, i, z) ==> w == 0 ==> in_full_block(b, i, z); @/
      /@ assert covered: in_full_block(b, i, z) ==> in_full_block(b, i - 1, c); @/
      /@ assert path: block_of(c, k - i + 1) == block_of(z, k - i); @/
      z = c;
      i--;
    }
    /@ assert any(b, 0, z) ==> full(b, 0, z); @/
    /@ assert full(b, 0, z) ==> full(b, 0, block_of(z, 0 - 0)); @/
    /@ assert full(b, 0, z) ==> in_full_block(b, 0, z); @/
    /@ assert z < pow2(b->depth); @/
    return z;
  }

  void any_all_lemma(const struct opt_bitmap *b, unsigned k)
  {
    shape_lemma(b->depth);
    pow2_mono_lemma(b->depth - 6 * k, 32);
    uint64_t n = end_lemma(0, b->depth - 6 * k);
    /@ assert n == blocks(b->depth, k); @/
    /@ loop invariant 0 <= y <= n;
       loop invariant \forall integer z; 0 <= z < y ==> any(b, k, z) ==>
         \exists integer x; is_punctured(b, x) && block_of(x, k) == z;
       loop assigns y;
       loop variant n - y; @/
    for (uint64_t y = 0; y < n; y++) any_lemma(b, k, y);
    /@ assert \forall integer z; any(b, k, z) ==> 0 <= z < n; @/
  }

  void empty_lemma(const struct opt_bitmap *b)
  {
    shape_lemma(b->depth);
    /@ assert clear: \forall integer k, y; 0 <= k < b->levels ==>
         !any(b, k, y) && !full(b, k, y); @/
    /@ assert \forall integer k, y; 0 <= k ==> !in_full_block(b, k, y); @/
  }

  /@ requires i < 64;
     assigns \nothing;
     ensures \result != 0 <==> bit(w, i);
  @/
  uint64_t has_lemma(uint64_t w, unsigned i)
  {
    shift_bits_lemma(w, i);
    return (w >> i) & 1;
  }

  uint64_t in_full_block_lemma(const struct opt_bitmap *b, unsigned k, uint64_t x)
  {
    shape_lemma(b->depth);
    unsigned j = 0;
    uint64_t z = x;
    /@ loop invariant bounds: 0 <= j < b->levels && z == block_of(x, j) < blocks(b->depth, j);
       loop invariant below: \forall integer i; k <= i < j ==> !full(b, i, block_of(x, i));
       loop assigns j, z;
       loop variant b->levels - j; @/
    while (j + 1 < b->levels) {
      uint64_t w = j == 0 ? b->leaves[z / 64] : b->summary[j][z / 64].full;
      /@ assert word: w == full_word(b, j, z / 64); @/
      if (j >= k && has_lemma(w, z % 64) != 0)
        break;
      /@ assert clear: j >= k ==> !full(b, j, block_of(x, j)); @/
      /@ assert up: block_of(x, j + 1) == z / 64; @/
      z = z / 64;
      j++;
    }
    /@ assert path: \forall integer i; k <= i < b->levels ==>
         block_of(block_of(x, k), i - k) == block_of(x, i); @/
    /@ assert some: \exists integer i; k <= i < b->levels && full(b, i, block_of(x, i)); @/
    return j;
  }

  uint64_t full_lemma(const struct opt_bitmap *b, unsigned k, uint64_t y)
  {
    shape_lemma(b->depth);
    unsigned i = k;
    uint64_t z = y;
    /@ loop invariant i <= k && z < blocks(b->depth, i);
       loop invariant block_of(z, k - i) == y;
       loop invariant !in_full_block(b, k, y) ==> !in_full_block(b, i, z);
       loop assigns i, z;
       loop variant i; @/
    while (i > 0) {
      uint64_t w = i == 1 ? b->leaves[z] : b->summary[i - 1][z].full;
      uint64_t v = not_lemma(w);
      all_bits_lemma(w);
      /@ assert all: v == 0 ==> \forall integer j; 0 <= j < 64 ==> bit(w, j); @/
      unsigned j = v == 0 ? 0 : some_bit(v);
      uint64_t c = 64 * z + j;
      /@ assert low: 0 <= j < 64; @/
      /@ assert word: w == full_word(b, i - 1, z); @/
      /@ assert quotient: c / 64 == z; @/
      /@ assert rest: c % 64 == j; @/
      /@ assert inside: c < blocks(b->depth, i - 1) && z < words(b->depth, i - 1); @/
      /@ assert full: v == 0 ==> in_full_block(b, i, z); @/
      /@ assert clear: v != 0 ==> !full(b, i - 1, c); @/
      /@ assert live: !in_full_block(b, i, z) ==> !in_full_block(b, i - 1, c); @/
      /@ assert path: block_of(c, k - i + 1) == block_of(z, k - i); @/
      z = c;
      i--;
    }
    /@ assert z < pow2(b->depth); @/
    /@ assert !in_full_block(b, k, y) ==> !is_punctured(b, z); @/
    return z;
  }

  void top_full_lemma(const struct opt_bitmap *b)
  {
    shape_lemma(b->depth);
    unsigned top = b->levels - 1;
    pow2_mono_lemma(b->depth - 6 * top, 32);
    uint64_t n = end_lemma(0, b->depth - 6 * top);
    /@ assert n == blocks(b->depth, top); @/
    /@ loop invariant 0 <= y <= n;
       loop invariant \forall integer z; 0 <= z < y ==> full(b, top, z);
       loop assigns y;
       loop variant n - y; @/
    for (uint64_t y = 0; y < n; y++) {
      full_lemma(b, top, y);
      /@ assert full(b, top, y); @/
    }
    /@ loop invariant 0 <= j <= top;
       loop invariant done: \forall integer k, w; j <= k < top ==> 0 <= w < words(b->depth, k) ==>
         full_around(b, top, k, w);
       loop assigns j;
       loop variant j; @/
    for (unsigned j = top; j > 0; j--) {
      /@ assert here: j == top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           w < n && block_of(w, top - j) == w; @/
      /@ assert out: j < top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           0 <= w / 64 < words(b->depth, j); @/
      /@ assert up: j < top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           block_of(w, top - j) == block_of(w / 64, top - 1 - j); @/
      /@ assert inner: j < top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           full_around(b, top, j, w / 64); @/
      /@ assert full: \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           full(b, top, block_of(w, top - j)); @/
      /@ assert around: \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           full_around(b, top, j - 1, w); @/
    }
    /@ assert around: \forall integer k, w; 0 <= k < top ==> 0 <= w < words(b->depth, k) ==>
         top_around(b, k, w); @/
  }
*/

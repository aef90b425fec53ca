/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind bitmap.acsl: ghost code only, nothing of it is compiled. */
#include "bitmap.h"

/*@ ghost
  void shr_lf(uint64_t x)
  {
    /@ loop invariant 0 <= k <= 63;
       loop invariant \forall integer h; 0 <= h <= k ==> (x >> h) == shr(x, h) >= 0;
       loop assigns k;
       loop variant 63 - k; @/
    for (int k = 0; k < 63; k++) {
      /@ assert (x >> (k + 1)) == ((x >> k) >> 1); @/
      /@ assert ((x >> k) >> 1) == (x >> k) / 2; @/
      /@ assert shr(x, k + 1) == shr(x, k) / 2; @/
    }
  }

  void shr_blk_lf(unsigned k)
  {
    /@ loop invariant 0 <= i <= k;
       loop invariant \forall integer x; x >= 0 ==> shr(x, 6 * i) == blk(x, i) >= 0;
       loop assigns i;
       loop variant k - i; @/
    for (unsigned i = 0; i < k; i++) {
      /@ assert \forall integer x; shr(x, 6 * i + 2) == shr(x, 6 * i) / 2 / 2; @/
      /@ assert \forall integer x; shr(x, 6 * i + 4) == shr(x, 6 * i + 2) / 2 / 2; @/
      /@ assert \forall integer x; shr(x, 6 * (i + 1)) == shr(x, 6 * i + 4) / 2 / 2; @/
      /@ assert \forall integer x; x >= 0 ==> x / 2 / 2 / 2 / 2 / 2 / 2 == x / 64; @/
      /@ assert \forall integer x; x >= 0 ==> shr(x, 6 * (i + 1)) == shr(x, 6 * i) / 64; @/
      /@ assert \forall integer x; x >= 0 ==> blk(x, i + 1) == blk(x, i) / 64; @/
    }
  }

  /@ assigns \nothing;
     ensures w == 0 ==> \result == ALL_BITS;
     ensures \forall integer j; 0 <= j < 64 ==> (bit(\result, j) <==> !bit(w, j));
  @/
  uint64_t not_lf(uint64_t w)
  {
    return ~w;
  }

  void all_bits_lf(uint64_t w)
  {
    uint64_t a = not_lf(0);
    shr_lf(w);
    shr_lf(a);
    /@ assert pow2(63) == 0x8000000000000000; @/
    /@ loop invariant 0 <= k <= 63;
       loop invariant shr(w, k) <= pow2(64 - k) - 1;
       loop invariant shr(a, k) <= pow2(64 - k) - 1;
       loop assigns k;
       loop variant 63 - k; @/
    for (int k = 0; k < 63; k++) {
      /@ assert pow2(64 - k) == 2 * pow2(63 - k); @/
      /@ assert shr(w, k + 1) == shr(w, k) / 2 && shr(a, k + 1) == shr(a, k) / 2; @/
    }
    /@ assert bit(w, 63) <==> bit(w >> 63, 0); @/
    /@ assert bit(a, 63) <==> bit(a >> 63, 0); @/
    /@ assert !bit(0, 0); @/
    /@ loop invariant 0 <= k <= 63;
       loop invariant (\forall integer j; 0 <= j < 64 ==> bit(w, j)) ==> shr(w, k) == shr(a, k);
       loop assigns k;
       loop variant k; @/
    for (int k = 63; k > 0; k--) {
      /@ assert shr(w, k) == shr(w, k - 1) / 2 && shr(a, k) == shr(a, k - 1) / 2; @/
      /@ assert bit(w, k - 1) <==> bit(w >> (k - 1), 0); @/
      /@ assert bit(a, k - 1) <==> bit(a >> (k - 1), 0); @/
      /@ assert 2 * (w >> k) == ((w >> k) << 1); @/
      /@ assert !bit(((w >> k) << 1), 0); @/
      /@ assert 2 * (a >> k) == ((a >> k) << 1); @/
      /@ assert !bit(((a >> k) << 1), 0); @/
      /@ assert bit(w, k - 1) ==> (w >> (k - 1)) == 2 * (w >> k) + 1; @/
      /@ assert (a >> (k - 1)) == 2 * (a >> k) + 1; @/
    }
    /@ assert shr(w, 0) == w && shr(a, 0) == a; @/
  }

  void blk_mono_lf(unsigned k)
  {
    /@ loop invariant 0 <= i <= k;
       loop invariant \forall integer x, y; 0 <= x <= y ==> 0 <= blk(x, i) <= blk(y, i);
       loop assigns i;
       loop variant k - i; @/
    for (unsigned i = 0; i < k; i++) {
      /@ assert \forall integer x; x >= 0 ==> blk(x, i + 1) == blk(x, i) / 64; @/
    }
  }

  void shr_mono_lf(void)
  {
    /@ loop invariant 0 <= k <= 6;
       loop invariant \forall integer x, y, h; 0 <= x <= y ==> 0 <= h <= k ==>
         0 <= shr(x, h) <= shr(y, h);
       loop invariant \forall integer x, y, g, h; 0 <= x && 0 <= y ==> 0 <= g <= h <= k ==>
         shr(x, g) == shr(y, g) ==> shr(x, h) == shr(y, h);
       loop assigns k;
       loop variant 6 - k; @/
    for (unsigned k = 0; k < 6; k++) {
      /@ assert \forall integer x; shr(x, k + 1) == shr(x, k) / 2; @/
    }
  }

  void shift_bits_lf(uint64_t w, unsigned h)
  {
    /@ assert \forall integer j; 64 <= j ==> !bit(w, j); @/
  }

  void below_lf(unsigned i)
  {
    uint64_t m = ALL_BITS / 2;
    pow2_mono_lf(i, 63);
    all_bits_lf(0);
    shr_lf(m);
    /@ assert pow2(63) == 0x8000000000000000; @/
    /@ loop invariant 0 <= k <= 63 - i;
       loop invariant shr(m, k) == pow2(63 - k) - 1;
       loop assigns k;
       loop variant 63 - k; @/
    for (unsigned k = 0; k < 63 - i; k++) {
      /@ assert pow2(63 - k) == 2 * pow2(62 - k); @/
      /@ assert shr(m, k + 1) == shr(m, k) / 2; @/
    }
    /@ assert (m >> (63 - i)) == pow2(i) - 1; @/
    shift_bits_lf(ALL_BITS, 1);
    shift_bits_lf(m, 63 - i);
    /@ assert \forall integer j; 0 <= j < 64 ==> (bit(m, j) <==> j < 63); @/
    /@ assert \forall integer j; 0 <= j < 64 ==> (bit(m >> (63 - i), j) <==> j < i); @/
  }

  void down_lf(unsigned d, uint64_t x, unsigned h)
  {
    tn_apart_lf(d, h);
    pow2_pos_lf();
    shr_zero_lf(d);
    shr_lf(x);
    /@ assert shr(x, d) == 0; @/
    /@ assert down(x, d) == 0; @/
    /@ loop invariant h <= k <= d;
       loop invariant tnode(d, down(x, k), k);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > h; k--) {
      /@ assert down(x, k) == down(x, k - 1) || down(x, k) == down(x, k - 1) - pow2(k - 1); @/
      /@ assert tnode(d, down(x, k - 1), k - 1); @/
    }
    /@ loop invariant 0 <= k <= h;
       loop invariant covers(down(x, k), k, x);
       loop assigns k;
       loop variant h - k; @/
    for (unsigned k = 0; k < h; k++) {
      /@ assert down(x, k + 1) == down(x, k) || down(x, k + 1) == down(x, k) - pow2(k); @/
      /@ assert pow2(k + 1) == 2 * pow2(k); @/
    }
    /@ assert \forall integer s; tnode(d, s, h) ==> s < down(x, h) ==> !covers(s, h, x); @/
    /@ assert \forall integer s; tnode(d, s, h) ==> s > down(x, h) ==> !covers(s, h, x); @/
  }

  void shr_zero_lf(unsigned h)
  {
    /@ loop invariant 0 <= k <= h;
       loop invariant \forall integer x; 0 <= x < pow2(h) ==> 0 <= shr(x, k) < pow2(h - k);
       loop assigns k;
       loop variant h - k; @/
    for (unsigned k = 0; k < h; k++) {
      /@ assert pow2(h - k) == 2 * pow2(h - k - 1); @/
      /@ assert \forall integer x; shr(x, k + 1) == shr(x, k) / 2; @/
    }
  }

  void shape_lf(unsigned d)
  {
    pow2_pos_lf();
    pow2_mono_lf(0, d);
    unsigned top = (d + 5) / 6 - 1;
    /@ assert pow2(1) == 2 && pow2(6) == 64; @/
    pow2_mono_lf(1, d - 6 * top);
    pow2_mono_lf(d - 6 * top, 6);
    /@ assert six: \forall integer n; 0 <= n ==> pow2(n + 6) == 64 * pow2(n); @/
    /@ assert inner: \forall integer k; 0 <= k < top ==> words(d, k) == blocks(d, k + 1) &&
         blocks(d, k) == 64 * blocks(d, k + 1); @/
    /@ assert pow2(8) == 256 && pow2(16) == 65536 && pow2(26) == 0x4000000; @/
    /@ assert pow2(32) == 0x100000000; @/
    pow2_mono_lf(d, 32);
    /@ loop invariant 0 <= i <= top;
       loop invariant \forall integer k; 0 <= k < i ==> 1 <= words(d, k) <= 0x4000000 &&
         2 <= blocks(d, k) == 64 * words(d, k) && blocks(d, k) <= 0x100000000;
       loop invariant 2 <= blocks(d, i) <= 0x100000000;
       loop assigns i;
       loop variant top - i; @/
    for (unsigned i = 0; i < top; i++) {
      pow2_mono_lf(1, d - 6 * (i + 1));
    }
    /@ loop invariant 0 <= j <= top;
       loop invariant \forall integer x, k; 0 <= x < pow2(d) ==> 0 <= k <= j ==>
         0 <= blk(x, k) < blocks(d, k) && 0 <= blk(x, k) / 64 < words(d, k);
       loop assigns j;
       loop variant top - j; @/
    for (unsigned j = 0; j < top; j++) {
      /@ assert \forall integer x; 0 <= x ==> blk(x, j + 1) == blk(x, j) / 64; @/
    }
  }

  void around_one_lf(unsigned h)
  {
    pow2_pos_lf();
    /@ loop invariant 0 <= i <= h;
       loop invariant \forall integer x; 0 <= x ==> covers(down(x, i), i, x) && 0 <= shr(x, i);
       loop assigns i;
       loop variant h - i; @/
    for (unsigned i = 0; i < h; i++) {
      /@ assert pow2(i + 1) == 2 * pow2(i); @/
      /@ assert \forall integer x; shr(x, i + 1) == shr(x, i) / 2; @/
      /@ assert \forall integer x; 0 <= x ==>
           down(x, i + 1) == down(x, i) || down(x, i + 1) == down(x, i) - pow2(i); @/
    }
  }

  void around_two_lf(unsigned h)
  {
    pow2_pos_lf();
    around_one_lf(h);
    /@ assert left: \forall integer x, y; 0 <= x && 0 <= y ==> shr(x, h) < shr(y, h) ==>
         !covers(down(x, h), h, y); @/
    /@ assert right: \forall integer x, y; 0 <= x && 0 <= y ==> shr(y, h) < shr(x, h) ==>
         !covers(down(x, h), h, y); @/
    /@ assert equal: \forall integer x, y; 0 <= x && 0 <= y ==> shr(y, h) == shr(x, h) ==>
         covers(down(x, h), h, y); @/
  }

  void shr_word_lf(unsigned g)
  {
    /@ assert s0: \forall integer x; 0 <= x ==> shr(x, 0) == 64 * (x / 64) + shr(x % 64, 0) &&
         0 <= shr(x % 64, 0) < 64; @/
    /@ assert s1: \forall integer x; 0 <= x ==> shr(x, 1) == 32 * (x / 64) + shr(x % 64, 1) &&
         0 <= shr(x % 64, 1) < 32; @/
    /@ assert s2: \forall integer x; 0 <= x ==> shr(x, 2) == 16 * (x / 64) + shr(x % 64, 2) &&
         0 <= shr(x % 64, 2) < 16; @/
    /@ assert s3: \forall integer x; 0 <= x ==> shr(x, 3) == 8 * (x / 64) + shr(x % 64, 3) &&
         0 <= shr(x % 64, 3) < 8; @/
    /@ assert s4: \forall integer x; 0 <= x ==> shr(x, 4) == 4 * (x / 64) + shr(x % 64, 4) &&
         0 <= shr(x % 64, 4) < 4; @/
    /@ assert s5: \forall integer x; 0 <= x ==> shr(x, 5) == 2 * (x / 64) + shr(x % 64, 5) &&
         0 <= shr(x % 64, 5) < 2; @/
    /@ assert s6: \forall integer x; 0 <= x ==> shr(x, 6) == x / 64 + shr(x % 64, 6) &&
         0 <= shr(x % 64, 6) < 1; @/
    /@ assert w0: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 0) == shr(y, 0) <==>
         x / 64 == y / 64 && shr(x % 64, 0) == shr(y % 64, 0)); @/
    /@ assert w1: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 1) == shr(y, 1) <==>
         x / 64 == y / 64 && shr(x % 64, 1) == shr(y % 64, 1)); @/
    /@ assert w2: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 2) == shr(y, 2) <==>
         x / 64 == y / 64 && shr(x % 64, 2) == shr(y % 64, 2)); @/
    /@ assert w3: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 3) == shr(y, 3) <==>
         x / 64 == y / 64 && shr(x % 64, 3) == shr(y % 64, 3)); @/
    /@ assert w4: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 4) == shr(y, 4) <==>
         x / 64 == y / 64 && shr(x % 64, 4) == shr(y % 64, 4)); @/
    /@ assert w5: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 5) == shr(y, 5) <==>
         x / 64 == y / 64 && shr(x % 64, 5) == shr(y % 64, 5)); @/
    /@ assert w6: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, 6) == shr(y, 6) <==>
         x / 64 == y / 64 && shr(x % 64, 6) == shr(y % 64, 6)); @/
    /@ assert cases: g == 0 || g == 1 || g == 2 || g == 3 || g == 4 || g == 5 || g == 6; @/
    /@ assert word: \forall integer x, y; 0 <= x && 0 <= y ==> (shr(x, g) == shr(y, g) <==>
         x / 64 == y / 64 && shr(x % 64, g) == shr(y % 64, g)); @/
  }

  void around_lf(unsigned k, unsigned g)
  {
    shr_blk_lf(k);
    /@ loop invariant 0 <= i <= g;
       loop invariant \forall integer x; 0 <= x ==> shr(x, 6 * k + i) == shr(blk(x, k), i) >= 0;
       loop assigns i;
       loop variant g - i; @/
    for (unsigned i = 0; i < g; i++) {
      /@ assert \forall integer x; shr(x, 6 * k + i + 1) == shr(x, 6 * k + i) / 2; @/
      /@ assert \forall integer x; shr(x, i + 1) == shr(x, i) / 2; @/
    }
    around_two_lf(6 * k + g);
    shr_word_lf(g);
  }

  void live_lf(const struct opt_bitmap *b, unsigned k)
  {
    shape_lf(b->depth);
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

  uint64_t any_lf(const struct opt_bitmap *b, unsigned k, uint64_t y)
  {
    shape_lf(b->depth);
    unsigned i = k;
    uint64_t z = y;
    /@ loop invariant i <= k && z < blocks(b->depth, i);
       loop invariant blk(z, k - i) == y;
       loop invariant any(b, k, y) ==> under(b, i, z) || any(b, i, z);
       loop assigns i, z;
       loop variant i; @/
    while (i > 0) {
      uint64_t w = i == 1 ? b->dead[z] : b->summary[i - 1][z].any;
      unsigned j = w == 0 ? 0 : some_bit(w);
      uint64_t c = 64 * z + j;
      /@ assert word: w == any_word(b, i - 1, z); @/
      /@ assert low: 0 <= j < 64; @/
      /@ assert quotient: c / 64 == z; @/
      /@ assert rest: c % 64 == j; @/
      /@ assert inside: c < blocks(b->depth, i - 1) && z < words(b->depth, i - 1); @/
      /@ assert some: w != 0 ==> any(b, i - 1, c); @/
      /@ assert none: any(b, i, z) ==> w == 0 ==> under(b, i, z); @/
      /@ assert covered: under(b, i, z) ==> under(b, i - 1, c); @/
      /@ assert path: blk(c, k - i + 1) == blk(z, k - i); @/
      z = c;
      i--;
    }
    /@ assert any(b, 0, z) ==> full(b, 0, z); @/
    /@ assert full(b, 0, z) ==> full(b, 0, blk(z, 0 - 0)); @/
    /@ assert full(b, 0, z) ==> under(b, 0, z); @/
    /@ assert z < pow2(b->depth); @/
    return z;
  }

  void any_all_lf(const struct opt_bitmap *b, unsigned k)
  {
    shape_lf(b->depth);
    pow2_mono_lf(b->depth - 6 * k, 32);
    uint64_t n = end_lf(0, b->depth - 6 * k);
    /@ assert n == blocks(b->depth, k); @/
    /@ loop invariant 0 <= y <= n;
       loop invariant \forall integer z; 0 <= z < y ==> any(b, k, z) ==>
         \exists integer x; gone(b, x) && blk(x, k) == z;
       loop assigns y;
       loop variant n - y; @/
    for (uint64_t y = 0; y < n; y++) any_lf(b, k, y);
    /@ assert \forall integer z; any(b, k, z) ==> 0 <= z < n; @/
  }

  void empty_lf(const struct opt_bitmap *b)
  {
    shape_lf(b->depth);
    /@ assert clear: \forall integer k, y; 0 <= k < b->levels ==>
         !any(b, k, y) && !full(b, k, y); @/
    /@ assert \forall integer k, y; 0 <= k ==> !under(b, k, y); @/
  }

  /@ requires i < 64;
     assigns \nothing;
     ensures \result != 0 <==> bit(w, i);
  @/
  uint64_t has_lf(uint64_t w, unsigned i)
  {
    shift_bits_lf(w, i);
    return (w >> i) & 1;
  }

  uint64_t under_lf(const struct opt_bitmap *b, unsigned k, uint64_t x)
  {
    shape_lf(b->depth);
    unsigned j = 0;
    uint64_t z = x;
    /@ loop invariant bounds: 0 <= j < b->levels && z == blk(x, j) < blocks(b->depth, j);
       loop invariant below: \forall integer i; k <= i < j ==> !full(b, i, blk(x, i));
       loop assigns j, z;
       loop variant b->levels - j; @/
    while (j + 1 < b->levels) {
      uint64_t w = j == 0 ? b->dead[z / 64] : b->summary[j][z / 64].full;
      /@ assert word: w == full_word(b, j, z / 64); @/
      if (j >= k && has_lf(w, z % 64) != 0)
        break;
      /@ assert clear: j >= k ==> !full(b, j, blk(x, j)); @/
      /@ assert up: blk(x, j + 1) == z / 64; @/
      z = z / 64;
      j++;
    }
    /@ assert path: \forall integer i; k <= i < b->levels ==> blk(blk(x, k), i - k) == blk(x, i); @/
    /@ assert some: \exists integer i; k <= i < b->levels && full(b, i, blk(x, i)); @/
    return j;
  }

  uint64_t full_lf(const struct opt_bitmap *b, unsigned k, uint64_t y)
  {
    shape_lf(b->depth);
    unsigned i = k;
    uint64_t z = y;
    /@ loop invariant i <= k && z < blocks(b->depth, i);
       loop invariant blk(z, k - i) == y;
       loop invariant !under(b, k, y) ==> !under(b, i, z);
       loop assigns i, z;
       loop variant i; @/
    while (i > 0) {
      uint64_t w = i == 1 ? b->dead[z] : b->summary[i - 1][z].full;
      uint64_t v = not_lf(w);
      all_bits_lf(w);
      /@ assert all: v == 0 ==> \forall integer j; 0 <= j < 64 ==> bit(w, j); @/
      unsigned j = v == 0 ? 0 : some_bit(v);
      uint64_t c = 64 * z + j;
      /@ assert low: 0 <= j < 64; @/
      /@ assert word: w == full_word(b, i - 1, z); @/
      /@ assert quotient: c / 64 == z; @/
      /@ assert rest: c % 64 == j; @/
      /@ assert inside: c < blocks(b->depth, i - 1) && z < words(b->depth, i - 1); @/
      /@ assert full: v == 0 ==> under(b, i, z); @/
      /@ assert clear: v != 0 ==> !full(b, i - 1, c); @/
      /@ assert live: !under(b, i, z) ==> !under(b, i - 1, c); @/
      /@ assert path: blk(c, k - i + 1) == blk(z, k - i); @/
      z = c;
      i--;
    }
    /@ assert z < pow2(b->depth); @/
    /@ assert !under(b, k, y) ==> !gone(b, z); @/
    return z;
  }

  void top_full_lf(const struct opt_bitmap *b)
  {
    shape_lf(b->depth);
    unsigned top = b->levels - 1;
    pow2_mono_lf(b->depth - 6 * top, 32);
    uint64_t n = end_lf(0, b->depth - 6 * top);
    /@ assert n == blocks(b->depth, top); @/
    /@ loop invariant 0 <= y <= n;
       loop invariant \forall integer z; 0 <= z < y ==> full(b, top, z);
       loop assigns y;
       loop variant n - y; @/
    for (uint64_t y = 0; y < n; y++) {
      full_lf(b, top, y);
      /@ assert full(b, top, y); @/
    }
    /@ loop invariant 0 <= j <= top;
       loop invariant done: \forall integer k, w; j <= k < top ==> 0 <= w < words(b->depth, k) ==>
         full_around(b, top, k, w);
       loop assigns j;
       loop variant j; @/
    for (unsigned j = top; j > 0; j--) {
      /@ assert here: j == top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           w < n && blk(w, top - j) == w; @/
      /@ assert out: j < top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           0 <= w / 64 < words(b->depth, j); @/
      /@ assert up: j < top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           blk(w, top - j) == blk(w / 64, top - 1 - j); @/
      /@ assert inner: j < top ==> \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           full_around(b, top, j, w / 64); @/
      /@ assert full: \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           full(b, top, blk(w, top - j)); @/
      /@ assert around: \forall integer w; 0 <= w < words(b->depth, j - 1) ==>
           full_around(b, top, j - 1, w); @/
    }
    /@ assert around: \forall integer k, w; 0 <= k < top ==> 0 <= w < words(b->depth, k) ==>
         top_around(b, k, w); @/
  }
*/

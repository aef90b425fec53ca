/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind path.acsl and slots.acsl: ghost code only, nothing of it is compiled. */
#include "slots/slots.h"

/*@ ghost
  void path_lemma(unsigned d)
  {
    pow2_mono_lemma(0, d);
    pow2_pos_lemma();
    tn_apart_lemma(d, d);
    /@ loop invariant 0 <= k <= d;
       loop invariant shr: \forall integer x; x >= 0 ==> shift_right(x, k) >= 0;
       loop invariant in: \forall integer x, h; 0 <= h <= k ==> x >= 0 ==>
         0 <= covering_start(x, h) && covers(covering_start(x, h), h, x);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++) {
      /@ assert half: pow2(k + 1) == 2 * pow2(k) && pow2(k + 1) > 0; @/
      /@ assert shr: \forall integer x; x >= 0 ==> shift_right(x, k + 1) >= 0; @/
      /@ assert down: \forall integer x, h; covering_start(x, h) == shift_right(x, h) * pow2(h); @/
      /@ assert low: \forall integer x; x >= 0 ==> covering_start(x, k + 1) >= 0; @/
    }
    /@ assert shr: \forall integer x; 0 <= x < pow2(d) ==>
         covering_start(x, d) == shift_right(x, d) * pow2(d) && covering_start(x, d) < pow2(d); @/
    /@ assert root: \forall integer x; 0 <= x < pow2(d) ==> covering_start(x, d) == 0; @/
    /@ loop invariant 0 <= k <= d;
       loop invariant node: \forall integer x, h; k <= h <= d ==> 0 <= x < pow2(d) ==>
         tree_node(d, covering_start(x, h), h) && 0 <= covering_start(x, h) &&
         covering_start(x, h) + pow2(h) <= pow2(d);
       loop invariant tree: \forall integer s, h; k <= h <= d ==> tree_node(d, s, h) ==>
         0 <= s && s + pow2(h) <= pow2(d);
       loop invariant only: \forall integer s, h, x; k <= h <= d ==> tree_node(d, s, h) ==>
         covers(s, h, x) ==> covering_start(x, h) == s;
       loop invariant above: \forall integer x, y, h, g; k <= h <= g <= d ==> 0 <= x < pow2(d) ==>
         covers(covering_start(x, h), h, y) ==> 0 <= y < pow2(d) &&
         covering_start(y, g) == covering_start(x, g);
       loop invariant within: \forall integer x, h, g; k <= h <= g <= d ==> 0 <= x < pow2(d) ==>
         covering_start(x, g) <= covering_start(x, h) &&
         covering_start(x, h) + pow2(h) <= covering_start(x, g) + pow2(g);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 0; k--) {
      pow2_mono_lemma(k - 1, k);
      tn_apart_lemma(d, k - 1);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert two: \forall integer x; 0 <= x < pow2(d) ==>
           covering_start(x, k - 1) == covering_start(x, k) ||
           covering_start(x, k - 1) == covering_start(x, k) + pow2(k - 1); @/
      /@ assert node: \forall integer x; 0 <= x < pow2(d) ==>
           tree_node(d, covering_start(x, k - 1), k - 1); @/
      /@ assert only: \forall integer s, x; tree_node(d, s, k - 1) ==>
           covers(s, k - 1, x) ==> covering_start(x, k - 1) == s; @/
      /@ assert in: \forall integer x, y; 0 <= x < pow2(d) ==>
           covers(covering_start(x, k - 1), k - 1, y) ==> covers(covering_start(x, k), k, y); @/
      /@ assert same: \forall integer x, y; 0 <= x < pow2(d) ==>
           covers(covering_start(x, k - 1), k - 1, y) ==>
           covering_start(y, k - 1) == covering_start(x, k - 1); @/
      /@ assert next: \forall integer x; 0 <= x < pow2(d) ==>
           covering_start(x, k) <= covering_start(x, k - 1) &&
           covering_start(x, k - 1) + pow2(k - 1) <= covering_start(x, k) + pow2(k); @/
      /@ assert lower: \forall integer x, g; k <= g <= d ==> 0 <= x < pow2(d) ==>
           covering_start(x, g) <= covering_start(x, k - 1); @/
      /@ assert upper: \forall integer x, g; k <= g <= d ==> 0 <= x < pow2(d) ==>
           covering_start(x, k - 1) + pow2(k - 1) <= covering_start(x, g) + pow2(g); @/
    }
    pow2_pos_lemma();
  }

  void leaves_lemma(unsigned d)
  {
    pow2_mono_lemma(d, 32);
    /@ assert pow2(8) == 256; @/
    /@ assert pow2(16) == 65536; @/
    /@ assert pow2(24) == 0x1000000; @/
    /@ assert pow2(32) == 0x100000000; @/
  }

  void shl_lemma(uint64_t v, unsigned h)
  {
    /@ loop invariant 0 <= j <= h;
       loop invariant (v << j) == v * pow2(j);
       loop assigns j;
       loop variant h - j; @/
    for (unsigned j = 0; j < h; j++) {
      /@ assert next: (v << (j + 1)) == ((v << j) << 1); @/
      /@ assert twice: ((v << j) << 1) == 2 * (v << j); @/
      /@ assert two: pow2(j + 1) == 2 * pow2(j); @/
    }
  }

  void times_64_lemma(uint64_t i, uint64_t p, uint64_t q)
  {
  }

  void shl_even_lemma(uint64_t i, unsigned h)
  {
    pow2_mono_lemma(h, 63);
    uint64_t p = end_lemma(0, h - 6), q = end_lemma(0, h);
    pow2_sum_lemma(6, h - 6);
    /@ assert six: pow2(1) == 2 && pow2(2) == 4 && pow2(3) == 8 && pow2(4) == 16 &&
         pow2(5) == 32 && pow2(6) == 64; @/
    /@ assert sum: pow2(6) * pow2(h - 6) == pow2(h); @/
    /@ assert less: pow2(h) == 64 * p; @/
    shl_lemma(i, h);
    times_64_lemma(i, p, q);
    /@ assert value: (i << h) == 64 * (i * p); @/
  }

  void pow2_sum_lemma(unsigned a, unsigned h)
  {
    /@ loop invariant 0 <= j <= h;
       loop invariant product(pow2(a + j), pow2(a), pow2(j));
       loop assigns j;
       loop variant h - j; @/
    for (unsigned j = 0; j < h; j++) {
      /@ assert two: pow2(j + 1) == 2 * pow2(j); @/
      /@ assert next: pow2(a + j + 1) == 2 * pow2(a + j); @/
    }
    /@ assert product(pow2(a + h), pow2(a), pow2(h)); @/
  }

  /@ requires v >= 1;
     assigns \nothing;
     ensures v * p >= p; @/
  void mul_lemma(uint64_t v, uint64_t p)
  {
  }

  /@ requires h <= 63 && v <= (x >> h) <= v;
     assigns \nothing;
     ensures shift_right(x, h) * pow2(h) == v * pow2(h); @/
  void shift_right_times_lemma(uint64_t x, unsigned h, uint64_t v)
  {
    shift_right_lemma(x);
    /@ assert v == shift_right(x, h); @/
  }

  void shift_lemma(uint64_t x, unsigned h)
  {
    uint64_t v = x >> h;
    shift_right_times_lemma(x, h, v);
    shift_right_lemma(x);
    /@ assert down: \forall integer y, g; covering_start(y, g) == shift_right(y, g) * pow2(g); @/
    around_one_lemma(h);
    pow2_pos_lemma();
    shl_lemma(v, h);
    /@ assert there: (v << h) == v * pow2(h); @/
    /@ assert start: covering_start(x, h) == v * pow2(h); @/
    /@ assert zero: v == 0 ==> x < pow2(h); @/
    pow2_mono_lemma(h, 63);
    uint64_t p = end_lemma(0, h);
    if (v > 0)
      mul_lemma(v, p);
    /@ assert more: v >= 1 ==> p <= v * pow2(h); @/
  }

  /@ requires even: (u & 1) <= 0;
     assigns \nothing;
     ensures set: (u ^ 1) == u + 1 && ((u ^ 1) & 1) == 1;
     ensures back: ((u ^ 1) ^ 1) == u; @/
  void set_low_bit_lemma(uint64_t u)
  {
  }

  /@ assigns \nothing;
     ensures even: ((w << 1) & 1) == 0;
     ensures twice: (w << 1) == 2 * w; @/
  void shl_one_lemma(uint64_t w)
  {
  }

  /@ assigns \nothing;
     ensures xor: (v ^ 1) == (v % 2 == 0 ? v + 1 : v - 1);
     ensures and: (v & 1) == v % 2; @/
  void low_bit_lemma(uint64_t v)
  {
    uint64_t w = v / 2, u = v - v % 2;
    shl_one_lemma(w);
    /@ assert twice: u == 2 * w; @/
    /@ assert shifted: u == (w << 1); @/
    /@ assert even: (u & 1) == 0; @/
    set_low_bit_lemma(u);
    /@ assert odd: v % 2 == 1 ==> v == (u ^ 1); @/
  }

  /@ requires q == 2 * p && w == v / 2 && s == (v % 2 == 0 ? v + 1 : v - 1);
     assigns \nothing;
     ensures sibling: s * p == 2 * (w * q) + p - v * p;
     ensures even: v % 2 == 0 ==> v * p == w * q;
     ensures odd: v % 2 == 1 ==> v * p == w * q + p; @/
  void halves_lemma(uint64_t v, uint64_t w, uint64_t s, uint64_t p, uint64_t q)
  {
    /@ assert even: v % 2 == 0 ==> v == 2 * w && s == 2 * w + 1; @/
    /@ assert odd: v % 2 == 1 ==> v == 2 * w + 1 && s == 2 * w; @/
    /@ assert product: w * q == 2 * (w * p); @/
    /@ assert even_s: v % 2 == 0 ==> s * p == 2 * (w * p) + p && v * p == 2 * (w * p); @/
    /@ assert odd_s: v % 2 == 1 ==> s * p == 2 * (w * p) && v * p == 2 * (w * p) + p; @/
  }

  void sibling_lemma(uint64_t x, unsigned h)
  {
    uint64_t v = x >> h, w = x >> (h + 1), s = v ^ 1;
    shift_lemma(x, h);
    shift_lemma(x, h + 1);
    low_bit_lemma(v);
    shl_lemma(s, h);
    pow2_mono_lemma(h, 32);
    pow2_mono_lemma(h + 1, 32);
    uint64_t p = end_lemma(0, h), q = end_lemma(0, h + 1);
    /@ assert half: w == v / 2; @/
    /@ assert two: q == 2 * p; @/
    halves_lemma(v, w, s, p, q);
    /@ assert node: covering_start(x, h) == v * p; @/
    /@ assert parent: covering_start(x, h + 1) == w * q; @/
    /@ assert sibling: s * p == beside(x, h); @/
    leaves_lemma(h);
    /@ assert bound: v % 2 == 0 ==> beside(x, h) == covering_start(x, h) + p; @/
  }

  void even_lemma(unsigned d)
  {
    tn_apart_lemma(d, d);
    /@ loop invariant 0 <= k <= d;
       loop invariant \forall integer s, h; k + 1 <= h <= d ==> tree_node(d, s, h) ==> s % 2 == 0;
       loop invariant root: \forall integer s; tree_node(d, s, d) ==> s == 0;
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 0; k--) {
      pow2_mono_lemma(k - 1, k);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert parent: \forall integer s; k < d ==>
           tree_node(d, s, k) ==> tree_node(d, s, k + 1) || tree_node(d, s - pow2(k), k + 1); @/
    }
  }

  void beside_lemma(unsigned d, uint64_t x)
  {
    path_lemma(d);
    pow2_pos_lemma();
    /@ assert half: \forall integer h; 0 <= h < d ==> pow2(h + 1) == 2 * pow2(h); @/
    /@ assert node: \forall integer h; 0 <= h < d ==>
      tree_node(d, covering_start(x, h + 1), h + 1); @/
    /@ assert two: \forall integer h; 0 <= h < d ==>
         covering_start(x, h) == covering_start(x, h + 1) ||
         covering_start(x, h) == covering_start(x, h + 1) + pow2(h); @/
    /@ assert left: \forall integer h; 0 <= h < d ==> tree_node(d, covering_start(x, h + 1), h); @/
    /@ assert right: \forall integer h; 0 <= h < d ==>
         tree_node(d, covering_start(x, h + 1) + pow2(h), h); @/
  }

  void top_lemma(unsigned d, uint64_t s, unsigned h, uint64_t x)
  {
    path_lemma(d);
  }

  void nodes_lemma(unsigned d, uint64_t x)
  {
    path_lemma(d);
    pow2_pos_lemma();
  }
*/

/*@ ghost
  uint64_t either_lemma(int c, uint64_t a, uint64_t b)
  {
    return c != 0 ? a : b;
  }

  void live_apart_lemma(const struct opt_bitmap *b, uint64_t lo, uint64_t hi, unsigned d)
  {
    path_lemma(d);
    /@ assert parent: \forall integer s, h, g; live(b, lo, hi, d, s, h) ==> h < g <= d ==>
         !intact(b, lo, hi, covering_start(s, g), g); @/
    /@ assert lower: \forall integer s, h, t, g; live(b, lo, hi, d, s, h) ==>
         live(b, lo, hi, d, t, g) ==> h < g ==> !covers(t, g, s); @/
    /@ assert upper: \forall integer s, h, t, g; live(b, lo, hi, d, s, h) ==>
         live(b, lo, hi, d, t, g) ==> h < g ==> !covers(s, h, t); @/
  }

  void pair_slot_injective_lemma(const struct opt_bitmap *b, uint64_t lo, uint64_t hi, unsigned d)
  {
    path_lemma(d);
    even_lemma(d);
    live_apart_lemma(b, lo, hi, d);
    pow2_pos_lemma();
    /@ assert two: pow2(1) == 2; @/
    /@ assert wide: \forall integer h; 1 <= h <= d ==> pow2(h) >= 2; @/
    /@ assert next: \forall integer s, h, t, g; live(b, lo, hi, d, s, h) ==>
         live(b, lo, hi, d, t, g) ==> s < t ==> s / 2 == t / 2 ==>
         t == s + 1 && s % 2 == 0 && h == 0 && g == 0; @/
    /@ assert pair: \forall integer s; tree_node(d, s, 0) ==> s % 2 == 0 ==>
         covering_start(s, 1) == s; @/
    /@ assert free: \forall integer s; live(b, lo, hi, d, s, 0) ==> s % 2 == 0 ==>
         live(b, lo, hi, d, s + 1, 0) ==> intact(b, lo, hi, s, 1); @/
    /@ assert none: \forall integer s, h, t, g; live(b, lo, hi, d, s, h) ==>
         live(b, lo, hi, d, t, g) ==> s < t ==> s / 2 != t / 2; @/
  }

  void slot_overwritten_lemma(unsigned d, uint64_t s, unsigned h, uint64_t x)
  {
    path_lemma(d);
    even_lemma(d);
    pow2_mono_lemma(h, d);
    pow2_mono_lemma(d, 32);
    beside_lemma(d, x);
    unsigned i = h;
    /@ loop invariant 0 <= i <= h;
       loop invariant covering_start(x, i) == s;
       loop assigns i;
       loop variant i; @/
    while (i > 0) {
      pow2_mono_lemma(i - 1, d);
      uint64_t half = end_lemma(0, i - 1);
      /@ assert two: covering_start(x, i - 1) == s || covering_start(x, i - 1) == s + half; @/
      if (x - s >= half)
        break;
      i--;
    }
    /@ assert right: i > 0 ==> beside(x, i - 1) == s; @/
    /@ assert left: i == 0 ==> x == s && beside(x, 0) / 2 == s / 2; @/
  }

  void puncture_lemma(const struct opt_bitmap *b, unsigned d, uint64_t s, unsigned h, uint64_t x)
  {
    path_lemma(d);
    beside_lemma(d, x);
    live_apart_lemma(b, 0, 0, d);
    /@ assert here: covering_start(x, h) == s && x < pow2(d); @/
    /@ assert old: \forall integer t, g; live(b, 0, 0, d, t, g) ==>
         (t == s && g == h) || live(b, x, x + 1, d, t, g); @/
    /@ assert up: \forall integer i; 0 <= i < h ==>
         covering_start(beside(x, i), i + 1) == covering_start(x, i + 1); @/
    /@ assert in: \forall integer i, y; 0 <= i < h ==> covers(beside(x, i), i, y) ==>
         covers(s, h, y) && y != x; @/
    /@ assert sides: \forall integer i; 0 <= i < h ==> intact(b, x, x + 1, beside(x, i), i); @/
    /@ assert punctured: \forall integer g; 0 <= g <= d ==>
         !intact(b, x, x + 1, covering_start(x, g), g); @/
    /@ assert high: \forall integer g; h < g <= d ==> !intact(b, 0, 0, covering_start(x, g), g); @/
    /@ assert kids: \forall integer t, g; 0 <= g < d ==> tree_node(d, t, g) ==>
         covering_start(t, g + 1) == covering_start(x, g + 1) ==>
         t == covering_start(x, g) || t == beside(x, g); @/
    /@ assert parents: \forall integer t, g; 0 <= g < d ==> tree_node(d, t, g) ==>
         covering_start(t, g + 1) != covering_start(x, g + 1) ==>
         !covers(covering_start(t, g + 1), g + 1, x); @/
    /@ assert far: \forall integer t, g; live(b, x, x + 1, d, t, g) ==> g < d ==>
         covering_start(t, g + 1) != covering_start(x, g + 1) ==> live(b, 0, 0, d, t, g); @/
    /@ assert near: \forall integer t, g; live(b, x, x + 1, d, t, g) ==> h <= g < d ==>
         covering_start(t, g + 1) == covering_start(x, g + 1) ==> live(b, 0, 0, d, t, g); @/
    /@ assert low: \forall integer t, g; live(b, x, x + 1, d, t, g) ==> g < h ==>
         covering_start(t, g + 1) == covering_start(x, g + 1) ==> t == beside(x, g); @/
    /@ assert top: \forall integer t; live(b, x, x + 1, d, t, d) ==> \false; @/
  }
*/

/*@ ghost
  void copath_slots_lemma(unsigned d, uint64_t x)
  {
    path_lemma(d);
    even_lemma(d);
    beside_lemma(d, x);
    pow2_pos_lemma();
    /@ assert two: pow2(1) == 2; @/
    /@ assert wide: \forall integer h; 1 <= h <= d ==> pow2(h) >= 2; @/
    /@ assert in: \forall integer i, k; 0 <= i < k < d ==>
      !covers(beside(x, k), k, beside(x, i)); @/
  }

  void size_lemma(const struct opt_bitmap *b, uint64_t lo, uint64_t hi)
  {
    pow2_pos_lemma();
    /@ assert bits: \forall integer w, i; bit_b(w, i) == \true <==> bit(w, i); @/
    /@ assert no: \forall integer k, y; k < b->levels ==> y >= 0 ==> full_b(b, k, y) != \true ==>
         !full(b, k, y); @/
    /@ assert yes: \forall integer k, y; k < b->levels ==> y >= 0 ==> full_b(b, k, y) == \true ==>
         full(b, k, y); @/
    /@ assert punctured: \forall integer x; is_punctured_b(b, x) == \true <==>
      is_punctured(b, x); @/
    /@ loop invariant 0 <= k <= 33;
       loop invariant \forall integer s, h; 0 <= h < k ==>
         (whole(b, lo, hi, s, h) == \true <==> intact(b, lo, hi, s, h));
       loop assigns k;
       loop variant 33 - k; @/
    for (unsigned k = 0; k <= 32; k++) {
      /@ assert half: k > 0 ==> pow2(k) == 2 * pow2(k - 1); @/
      /@ assert in: \forall integer s; k > 0 ==> (intact(b, lo, hi, s, k) <==>
           intact(b, lo, hi, s, k - 1) && intact(b, lo, hi, s + pow2(k - 1), k - 1)); @/
    }
  }

  void puncture_size_lemma(const struct opt_bitmap *b, unsigned d, uint64_t s,
    unsigned h, uint64_t x)
  {
    path_lemma(d);
    beside_lemma(d, x);
    pow2_pos_lemma();
    puncture_lemma(b, d, s, h, x);
    pow2_mono_lemma(d, 32);
    size_lemma(b, 0, 0);
    size_lemma(b, x, x + 1);
    /@ assert half: \forall integer g; 0 <= g < d ==> pow2(g + 1) == 2 * pow2(g); @/
    /@ loop invariant 0 <= k <= d + 1;
       loop invariant \forall integer t, g; 0 <= g < k ==> !covers(t, g, x) ==>
         cover_size(b, x, x + 1, t, g) == cover_size(b, 0, 0, t, g);
       loop assigns k;
       loop variant d + 1 - k; @/
    for (unsigned k = 0; k <= d; k++) {
      /@ assert same: \forall integer t; !covers(t, k, x) ==>
           (intact(b, x, x + 1, t, k) <==> intact(b, 0, 0, t, k)); @/
      /@ assert halves: \forall integer t; 1 <= k ==> !covers(t, k, x) ==>
           !covers(t, k - 1, x) && !covers(t + pow2(k - 1), k - 1, x); @/
    }
    /@ loop invariant 0 <= k <= h;
       loop invariant cover_size(b, x, x + 1, covering_start(x, k), k) == k;
       loop assigns k;
       loop variant h - k; @/
    for (unsigned k = 0; k < h; k++) {
      /@ assert punctured: !intact(b, x, x + 1, covering_start(x, k + 1), k + 1); @/
      /@ assert one: cover_size(b, x, x + 1, beside(x, k), k) == 1; @/
    }
    /@ loop invariant h <= k <= d;
       loop invariant cover_size(b, x, x + 1, covering_start(x, k), k) ==
         cover_size(b, 0, 0, covering_start(x, k), k) + h - 1;
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = h; k < d; k++) {
      /@ assert high: !intact(b, 0, 0, covering_start(x, h + 1), h + 1); @/
      /@ assert punctured: !intact(b, x, x + 1, covering_start(x, k + 1), k + 1); @/
      /@ assert hit0: !intact(b, 0, 0, covering_start(x, k + 1), k + 1); @/
      /@ assert far: cover_size(b, x, x + 1, beside(x, k), k) ==
           cover_size(b, 0, 0, beside(x, k), k); @/
    }
  }

  void node_out_lemma(const struct opt_bitmap *b, unsigned d, uint64_t lo,
    uint64_t hi, uint64_t from,
                   uint64_t to, uint64_t s, unsigned h)
  {
    path_lemma(d);
    pow2_pos_lemma();
    beside_lemma(d, s);
    live_apart_lemma(b, lo, hi, d);
    size_lemma(b, lo, hi);
    size_lemma(b, from, to);
    pow2_mono_lemma(d, 32);
    /@ assert half: \forall integer g; 0 <= g < d ==> pow2(g + 1) == 2 * pow2(g); @/
    /@ assert punctured: \forall integer x; covers(s, h, x) ==>
      is_punctured(b, x) || from <= x < to; @/
    /@ assert begin: \forall integer t, g; 0 <= g <= d ==> in_subtree(t, g, s, h) ==>
         covers(s, h, t) && covers(t, g, t); @/
    /@ assert out: \forall integer t, g; 0 <= g <= d ==> in_subtree(t, g, s, h) ==>
         !intact(b, from, to, t, g); @/
    /@ assert less: \forall integer t, g; intact(b, from, to, t, g) ==> intact(b, lo, hi, t, g); @/
    /@ assert far: \forall integer t, g; apart(t, g, s, h) ==>
         (intact(b, from, to, t, g) <==> intact(b, lo, hi, t, g)); @/
    /@ assert above: \forall integer k; h < k <= d ==>
         !intact(b, lo, hi, covering_start(s, k), k); @/
    /@ assert overlap: \forall integer t, g; !apart(t, g, s, h) ==>
         covers(t, g, s) || covers(s, h, t); @/
    /@ assert around: \forall integer t, g; h < g <= d ==> tree_node(d, t, g) ==>
      covers(t, g, s) ==> t == covering_start(s, g); @/
    /@ assert across: \forall integer t, g; h < g <= d ==> tree_node(d, t, g) ==>
      covers(s, h, t) ==> t == covering_start(s, g); @/
    /@ assert inner: \forall integer t, g; 0 <= g <= h ==> tree_node(d, t, g) ==>
      covers(s, h, t) ==> in_subtree(t, g, s, h); @/
    /@ assert start: covering_start(s, h) == s && 0 <= s < pow2(d); @/
    /@ assert lower: \forall integer g; 0 <= g <= h ==>
         covering_start(s, h) <= covering_start(s, g) <= s; @/
    /@ assert equal: \forall integer t, g; 0 <= g <= h ==> tree_node(d, t, g) ==>
      covers(t, g, s) ==> t == s; @/
    /@ assert nested: \forall integer t, g; 0 <= g <= d ==> tree_node(d, t, g) ==>
         apart(t, g, s, h) || in_subtree(t, g, s, h) || (g > h && t == covering_start(s, g)); @/
    /@ assert parents: \forall integer t, g; 0 <= g <= d ==> tree_node(d, t, g) ==>
         intact(b, lo, hi, t, g) ==> apart(t, g, s, h) || in_subtree(t, g, s, h); @/
    /@ assert old: \forall integer t, g; live(b, lo, hi, d, t, g) ==> !(t == s && g == h) ==>
         apart(t, g, s, h); @/
    /@ assert kept: \forall integer t, g; live(b, lo, hi, d, t, g) ==> !(t == s && g == h) ==>
         live(b, from, to, d, t, g); @/
    /@ assert in: \forall integer t, g; 0 <= g < d ==> tree_node(d, t, g) ==>
         in_subtree(t, g, covering_start(t, g + 1), g + 1) &&
         tree_node(d, covering_start(t, g + 1), g + 1); @/
    /@ assert up: \forall integer t, g; live(b, from, to, d, t, g) ==> g < d ==>
         !intact(b, lo, hi, covering_start(t, g + 1), g + 1); @/
    /@ assert new: \forall integer t, g; live(b, from, to, d, t, g) ==> live(b, lo, hi, d, t, g); @/
    /@ assert punctured: !live(b, from, to, d, s, h); @/
    /@ loop invariant 0 <= k <= d + 1;
       loop invariant same: \forall integer t, g; 0 <= g < k ==> apart(t, g, s, h) ==>
         cover_size(b, from, to, t, g) == cover_size(b, lo, hi, t, g);
       loop invariant none: \forall integer t, g; 0 <= g < k ==> in_subtree(t, g, s, h) ==>
         cover_size(b, from, to, t, g) == 0;
       loop assigns k;
       loop variant d + 1 - k; @/
    for (unsigned k = 0; k <= d; k++) {
      /@ assert apart: \forall integer t; 1 <= k ==> apart(t, k, s, h) ==>
           apart(t, k - 1, s, h) && apart(t + pow2(k - 1), k - 1, s, h); @/
      /@ assert within: \forall integer t; 1 <= k ==> in_subtree(t, k, s, h) ==>
           in_subtree(t, k - 1, s, h) && in_subtree(t + pow2(k - 1), k - 1, s, h); @/
    }
    /@ loop invariant h <= k <= d;
       loop invariant size: cover_size(b, from, to, covering_start(s, k), k) ==
         cover_size(b, lo, hi, covering_start(s, k), k) - 1;
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = h; k < d; k++) {
      /@ assert mixed: !intact(b, lo, hi, covering_start(s, k + 1), k + 1) &&
           !intact(b, from, to, covering_start(s, k + 1), k + 1); @/
      /@ assert inside: in_subtree(s, h, covering_start(s, k), k); @/
      /@ assert left: covering_start(s, k) == covering_start(s, k + 1) ==>
           apart(covering_start(s, k + 1) + pow2(k), k, s, h); @/
      /@ assert right: covering_start(s, k) != covering_start(s, k + 1) ==>
           covering_start(s, k) == covering_start(s, k + 1) + pow2(k) &&
           apart(covering_start(s, k + 1), k, s, h); @/
    }
    /@ assert root: covering_start(s, d) == 0; @/
  }

  void same_set_lemma(const struct opt_bitmap *b, unsigned d, uint64_t lo,
    uint64_t hi, uint64_t from,
                   uint64_t to)
  {
    size_lemma(b, lo, hi);
    size_lemma(b, from, to);
    /@ assert intact: \forall integer s, h; intact(b, lo, hi, s, h) <==>
      intact(b, from, to, s, h); @/
    /@ loop invariant 0 <= k <= d + 1;
       loop invariant \forall integer s, h; 0 <= h < k ==>
         cover_size(b, lo, hi, s, h) == cover_size(b, from, to, s, h);
       loop assigns k;
       loop variant d + 1 - k; @/
    for (unsigned k = 0; k <= d; k++)
      ;
  }

  void size_bounds_lemma(const struct opt_bitmap *b, uint64_t lo, uint64_t hi, unsigned d)
  {
    path_lemma(d);
    size_lemma(b, lo, hi);
    pow2_pos_lemma();
    /@ assert half: \forall integer g; 0 <= g < d ==> pow2(g + 1) == 2 * pow2(g); @/
    /@ loop invariant 0 <= k <= d + 1;
       loop invariant bounds: \forall integer t, g; 0 <= g < k ==>
         0 <= cover_size(b, lo, hi, t, g) <= pow2(g);
       loop invariant some: \forall integer t, g, x; 0 <= g < k ==> covers(t, g, x) ==>
         !is_punctured(b, x) ==> !(lo <= x < hi) ==> cover_size(b, lo, hi, t, g) >= 1;
       loop assigns k;
       loop variant d + 1 - k; @/
    for (unsigned k = 0; k <= d; k++) {
      /@ assert bounds: \forall integer t; 0 <= cover_size(b, lo, hi, t, k) <= pow2(k); @/
      /@ assert in: \forall integer t, x; 1 <= k ==> covers(t, k, x) ==>
           covers(t, k - 1, x) || covers(t + pow2(k - 1), k - 1, x); @/
      /@ assert split: \forall integer t; 1 <= k ==> !intact(b, lo, hi, t, k) ==>
           cover_size(b, lo, hi, t, k) == cover_size(b, lo, hi, t, k - 1) +
             cover_size(b, lo, hi, t + pow2(k - 1), k - 1); @/
    }
  }
*/

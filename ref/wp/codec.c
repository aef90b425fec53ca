/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind bytes.acsl and codec.acsl, and what an encoding determines: ghost code only,
 * nothing of it is compiled. */
#include "codec.h"

/*@ predicate equal{L}(uint8_t *p, uint8_t *q, integer n) =
      \forall integer k; 0 <= k < n ==> p[k] == q[k]; */

/*@ ghost
  void byte_inj_lf(unsigned w)
  {
    /@ loop invariant 0 <= j <= w;
       loop invariant \forall integer u, v; 0 <= u < pow2(8 * j) ==> 0 <= v < pow2(8 * j) ==>
         agree(u, v, j) ==> u == v;
       loop assigns j;
       loop variant w - j; @/
    for (unsigned j = 0; j < w; j++) {
      /@ assert grow: pow2(8 * (j + 1)) == 256 * pow2(8 * j); @/
      /@ assert step: \forall integer u, k; 0 <= u ==> 0 <= k ==>
           byte(u, k + 1) == byte(u / 256, k); @/
      /@ assert high: \forall integer u, v; 0 <= u ==> 0 <= v ==>
           agree(u, v, j + 1) ==> agree(u / 256, v / 256, j); @/
      /@ assert low: \forall integer u, v; 0 <= u ==> 0 <= v ==>
           agree(u, v, j + 1) ==> u % 256 == v % 256; @/
    }
  }

  void node_id_lf(unsigned d)
  {
    /@ loop invariant 0 <= k <= d;
       loop invariant apart: \forall integer s, h, t, g; k <= h <= g ==> g <= d ==>
         tnode(d, s, h) ==> tnode(d, t, g) ==> s < t ==> s + pow2(h) <= t;
       loop invariant within: \forall integer s, h; k <= h <= d ==> tnode(d, s, h) ==>
         0 <= s && s + pow2(h) <= pow2(d);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 0; k--) {
      pow2_mono_lf(k - 1, k);
      tn_apart_lf(d, k - 1);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert parent: \forall integer s;
           tnode(d, s, k - 1) ==> tnode(d, s, k) || tnode(d, s - pow2(k - 1), k); @/
    }
    pow2_pos_lf();
    /@ assert half: \forall integer g; 1 <= g <= d ==> pow2(g) == 2 * pow2(g - 1); @/
    /@ assert right: \forall integer t, g; 1 <= g <= d ==> tnode(d, t, g) ==>
         tnode(d, t + pow2(g - 1), g - 1); @/
    /@ assert lower: \forall integer s, h, t, g; 0 <= h < g ==> g <= d ==>
         tnode(d, s, h) ==> tnode(d, t, g) ==> node_id(s, h) != node_id(t, g); @/
    /@ assert top: pow2(d + 1) == 2 * pow2(d); @/
  }

  void has_id_lf(unsigned d)
  {
    node_id_lf(d);
    unsigned w = d / 8 + 1;
    byte_inj_lf(w);
    pow2_mono_lf(d + 1, 8 * w);
    /@ assert bytes: \forall uint8_t *p, integer at, s, h, t, g;
         has_id(p, at, d, s, h) ==> has_id(p, at, d, t, g) ==>
         agree(node_id(s, h), node_id(t, g), w); @/
    /@ assert bound: \forall integer s, h; 0 <= h <= d ==> tnode(d, s, h) ==>
         0 <= node_id(s, h) < pow2(8 * w); @/
    /@ assert same: \forall uint8_t *p, integer at, s, h, t, g; 0 <= h <= d ==> 0 <= g <= d ==>
         tnode(d, s, h) ==> tnode(d, t, g) ==> has_id(p, at, d, s, h) ==> has_id(p, at, d, t, g) ==>
         node_id(s, h) == node_id(t, g); @/
  }

  void multiples_lf(unsigned d, unsigned h)
  {
    tn_apart_lf(d, d);
    /@ loop invariant h <= k <= d;
       loop invariant nodes: \forall integer q; 0 <= q < pow2(d - k) ==> tnode(d, nth_start(q, k), k);
       loop invariant multiples: \forall integer s; tnode(d, s, k) ==>
         \exists integer q; 0 <= q < pow2(d - k) && s == nth_start(q, k);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > h; k--) {
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert twice: pow2(d - (k - 1)) == 2 * pow2(d - k); @/
      /@ assert lower: \forall integer q; 0 <= q < pow2(d - k) ==>
           tnode(d, nth_start(q, k), k - 1) &&
           tnode(d, nth_start(q, k) + pow2(k - 1), k - 1); @/
      /@ assert halves: \forall integer r; 0 <= r < pow2(d - (k - 1)) ==>
           0 <= r / 2 < pow2(d - k) && (nth_start(r, k - 1) == nth_start(r / 2, k) ||
             nth_start(r, k - 1) == nth_start(r / 2, k) + pow2(k - 1)); @/
      /@ assert nodes: \forall integer r; 0 <= r < pow2(d - (k - 1)) ==>
           tnode(d, nth_start(r, k - 1), k - 1); @/
      /@ assert parent: \forall integer s;
           tnode(d, s, k - 1) ==> tnode(d, s, k) || tnode(d, s - pow2(k - 1), k); @/
      /@ assert first: \forall integer s; tnode(d, s, k) ==>
           \exists integer q; 0 <= q < pow2(d - (k - 1)) && s == nth_start(q, k - 1); @/
      /@ assert second: \forall integer s; tnode(d, s - pow2(k - 1), k) ==>
           \exists integer q; 0 <= q < pow2(d - (k - 1)) && s == nth_start(q, k - 1); @/
    }
  }

  void in_order_lf(const uint8_t *p, const struct ref_node *a, size_t n, unsigned d)
  {
    has_id_lf(d);
    /@ assert all_nodes: \forall integer i; 0 <= i < n ==>
          node_at(p, record_at(d, i), d, a[i].start, a[i].height); @/
    /@ assert some_node: \forall integer i; 0 <= i < n ==>
          \exists integer s, h; node_at(p, record_at(d, i), d, s, h); @/
    /@ assert one_node: \forall integer i, s, h; 0 <= i < n ==>
          node_at(p, record_at(d, i), d, s, h) ==> s == a[i].start && h == a[i].height; @/
    /@ assert all_follow: \forall integer i, j; 0 <= i < j < n ==>
          follow(d, a[i].start, a[i].height, a[j].start, a[j].height); @/
    /@ assert they_follow: \forall integer i, j, s, h, t, g; 0 <= i < j < n ==>
          node_at(p, record_at(d, i), d, s, h) ==> node_at(p, record_at(d, j), d, t, g) ==>
          follow(d, s, h, t, g); @/
  }

  // what is the same in front of p[at] and has the same w bytes from there on
  /@ requires w <= 8 && at + w <= SIZE_MAX && equal(p, q, at);
     requires bytes(p, at, w, v) && bytes(q, at, w, v);
     assigns \nothing;
     ensures equal(p, q, at + w);
  @/
  void longer_lf(const uint8_t *p, const uint8_t *q, size_t at, size_t w, uint64_t v)
  {
    /@ loop invariant 0 <= k <= w;
       loop invariant equal(p, q, at + k);
       loop assigns k;
       loop variant w - k; @/
    for (size_t k = 0; k < w; k++) {
      /@ assert p[at + k] == byte(v, k); @/
      /@ assert q[at + k] == byte(v, k); @/
    }
  }

  // the nodes determine every byte of their encoding
  /@ requires 1 <= d <= 32 && n <= 0xffffffff;
     requires \valid_read(a + (0 .. n-1));
     requires okps(d, a, n) && encodes(p, a, n, d) && encodes(q, a, n, d);
     assigns \nothing;
     ensures equal(p, q, record_at(d, n) + 32);
  @/
  void same_bytes_lf(const uint8_t *p, const uint8_t *q, const struct ref_node *a, size_t n,
                     unsigned d)
  {
    size_t w = d / 8 + 1, at = 16;
    pow2_mono_lf(d, 32);
    pow2_mono_lf(32, 63);
    longer_lf(p, q, 12, 4, n);
    /@ loop invariant 0 <= i <= n;
       loop invariant place: at == record_at(d, i);
       loop invariant same: equal(p, q, at);
       loop assigns i, at;
       loop variant n - i; @/
    for (size_t i = 0; i < n; i++) {
      pow2_mono_lf(a[i].height, 32);
      /@ assert records: record(p, at, d, a + i) && record(q, at, d, a + i); @/
      longer_lf(p, q, at, w, a[i].start + end_lf(a[i].start, a[i].height));
      longer_lf(p, q, at + w, 8, a[i].seed.lo);
      longer_lf(p, q, at + w + 8, 8, a[i].seed.hi);
      at += w + 16;
    }
    /@ loop invariant 0 <= k <= at;
       loop invariant message: message_of(p, k) == message_of(q, k);
       loop assigns k;
       loop variant at - k; @/
    for (size_t k = 0; k < at; k++)
      ;
    /@ loop invariant 0 <= k <= 32;
       loop invariant same: equal(p, q, at + k);
       loop assigns k;
       loop variant 32 - k; @/
    for (size_t k = 0; k < 32; k++) {
      /@ assert p[at + k] == digest(message_of(p, at), k); @/
      /@ assert q[at + k] == digest(message_of(q, at), k); @/
    }
  }

  // the bytes determine the nodes that they encode
  /@ requires 1 <= d <= 32 && n <= 0xffffffff;
     requires okps(d, a, n) && okps(d, b, n);
     requires records(p, a, n, d) && records(p, b, n, d);
     assigns \nothing;
     ensures \forall integer k; 0 <= k < n ==> eqn{Here,Here}(a + k, b + k);
  @/
  void same_nodes_lf(const uint8_t *p, const struct ref_node *a, const struct ref_node *b, size_t n,
                     unsigned d)
  {
    has_id_lf(d);
    byte_inj_lf(8);
    /@ assert pow2(8) == 0x100; @/
    /@ assert pow2(16) == 0x10000; @/
    /@ assert pow2(32) == 0x100000000; @/
    /@ assert pow2(64) == 0x10000000000000000; @/
    /@ assert both: \forall integer k; 0 <= k < n ==>
         record(p, record_at(d, k), d, a + k) && record(p, record_at(d, k), d, b + k); @/
    /@ assert place: \forall integer k; 0 <= k < n ==>
         a[k].start == b[k].start && a[k].height == b[k].height; @/
    /@ assert agree_lo: \forall integer k; 0 <= k < n ==> agree(a[k].seed.lo, b[k].seed.lo, 8); @/
    /@ assert agree_hi: \forall integer k; 0 <= k < n ==> agree(a[k].seed.hi, b[k].seed.hi, 8); @/
    /@ assert lo: \forall integer k; 0 <= k < n ==> a[k].seed.lo == b[k].seed.lo; @/
    /@ assert hi: \forall integer k; 0 <= k < n ==> a[k].seed.hi == b[k].seed.hi; @/
  }
*/

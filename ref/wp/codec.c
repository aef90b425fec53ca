/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind bytes.acsl and codec.acsl, and the round trip through the key file. Only
 * proven, never compiled. */
#include "codec.h"

/*@ predicate equal{L}(uint8_t *p, uint8_t *q, integer n) =
      \forall integer k; 0 <= k < n ==> p[k] == q[k]; */

/*@ ghost
  void byte_inj_lemma(unsigned w)
  {
    /@ loop invariant 0 <= j <= w;
       loop invariant \forall integer u, v; 0 <= u < pow2(8 * j) ==> 0 <= v < pow2(8 * j) ==>
         same_low_bytes(u, v, j) ==> u == v;
       loop assigns j;
       loop variant w - j; @/
    for (unsigned j = 0; j < w; j++) {
      /@ assert grow: pow2(8 * (j + 1)) == 256 * pow2(8 * j); @/
      /@ assert step: \forall integer u, k; 0 <= u ==> 0 <= k ==>
           byte(u, k + 1) == byte(u / 256, k); @/
      /@ assert high: \forall integer u, v; 0 <= u ==> 0 <= v ==>
           same_low_bytes(u, v, j + 1) ==> same_low_bytes(u / 256, v / 256, j); @/
      /@ assert low: \forall integer u, v; 0 <= u ==> 0 <= v ==>
           same_low_bytes(u, v, j + 1) ==> u % 256 == v % 256; @/
    }
  }

  void node_id_lemma(unsigned d)
  {
    /@ loop invariant 0 <= k <= d;
       loop invariant apart: \forall integer s, h, t, g; k <= h <= g ==> g <= d ==>
         tree_node(d, s, h) ==> tree_node(d, t, g) ==> s < t ==> s + pow2(h) <= t;
       loop invariant within: \forall integer s, h; k <= h <= d ==> tree_node(d, s, h) ==>
         0 <= s && s + pow2(h) <= pow2(d);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 0; k--) {
      pow2_mono_lemma(k - 1, k);
      tn_apart_lemma(d, k - 1);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert parent: \forall integer s;
           tree_node(d, s, k - 1) ==> tree_node(d, s, k) || tree_node(d, s - pow2(k - 1), k); @/
    }
    pow2_pos_lemma();
    /@ assert half: \forall integer g; 1 <= g <= d ==> pow2(g) == 2 * pow2(g - 1); @/
    /@ assert right: \forall integer t, g; 1 <= g <= d ==> tree_node(d, t, g) ==>
         tree_node(d, t + pow2(g - 1), g - 1); @/
    /@ assert lower: \forall integer s, h, t, g; 0 <= h < g ==> g <= d ==>
         tree_node(d, s, h) ==> tree_node(d, t, g) ==> node_id(s, h) != node_id(t, g); @/
    /@ assert top: pow2(d + 1) == 2 * pow2(d); @/
  }

  void has_id_lemma(unsigned d)
  {
    node_id_lemma(d);
    unsigned w = d / 8 + 1;
    byte_inj_lemma(w);
    pow2_mono_lemma(d + 1, 8 * w);
    /@ assert bytes: \forall uint8_t *p, integer at, s, h, t, g;
         has_id(p, at, d, s, h) ==> has_id(p, at, d, t, g) ==>
         same_low_bytes(node_id(s, h), node_id(t, g), w); @/
    /@ assert bound: \forall integer s, h; 0 <= h <= d ==> tree_node(d, s, h) ==>
         0 <= node_id(s, h) < pow2(8 * w); @/
    /@ assert same: \forall uint8_t *p, integer at, s, h, t, g; 0 <= h <= d ==> 0 <= g <= d ==>
         tree_node(d, s, h) ==> tree_node(d, t, g) ==> has_id(p, at, d, s, h) ==> has_id(p, at, d, t, g) ==>
         node_id(s, h) == node_id(t, g); @/
  }

  void multiples_lemma(unsigned d, unsigned h)
  {
    tn_apart_lemma(d, d);
    /@ loop invariant h <= k <= d;
       loop invariant nodes: \forall integer q; 0 <= q < pow2(d - k) ==> tree_node(d, nth_start(q, k), k);
       loop invariant multiples: \forall integer s; tree_node(d, s, k) ==>
         \exists integer q; 0 <= q < pow2(d - k) && s == nth_start(q, k);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > h; k--) {
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert twice: pow2(d - (k - 1)) == 2 * pow2(d - k); @/
      /@ assert lower: \forall integer q; 0 <= q < pow2(d - k) ==>
           tree_node(d, nth_start(q, k), k - 1) &&
           tree_node(d, nth_start(q, k) + pow2(k - 1), k - 1); @/
      /@ assert halves: \forall integer r; 0 <= r < pow2(d - (k - 1)) ==>
           0 <= r / 2 < pow2(d - k) && (nth_start(r, k - 1) == nth_start(r / 2, k) ||
             nth_start(r, k - 1) == nth_start(r / 2, k) + pow2(k - 1)); @/
      /@ assert nodes: \forall integer r; 0 <= r < pow2(d - (k - 1)) ==>
           tree_node(d, nth_start(r, k - 1), k - 1); @/
      /@ assert parent: \forall integer s;
           tree_node(d, s, k - 1) ==> tree_node(d, s, k) || tree_node(d, s - pow2(k - 1), k); @/
      /@ assert first: \forall integer s; tree_node(d, s, k) ==>
           \exists integer q; 0 <= q < pow2(d - (k - 1)) && s == nth_start(q, k - 1); @/
      /@ assert second: \forall integer s; tree_node(d, s - pow2(k - 1), k) ==>
           \exists integer q; 0 <= q < pow2(d - (k - 1)) && s == nth_start(q, k - 1); @/
    }
  }

  void nodes_bound_lemma(const struct ref_node *a, size_t n, unsigned d)
  {
    pow2_mono_lemma(0, d);
    multiples_lemma(d, 1);
    /@ assert even: \forall integer s; tree_node(d, s, 1) ==> s % 2 == 0; @/
    /@ loop invariant 1 <= k <= d;
       loop invariant lower: \forall integer s, h; k <= h <= d ==> tree_node(d, s, h) ==> tree_node(d, s, k);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 1; k--)
      ;
    /@ assert inner: \forall integer s, h; 1 <= h <= d ==> tree_node(d, s, h) ==> s % 2 == 0; @/
    /@ assert parent: \forall integer s; tree_node(d, s, 0) ==> s % 2 == 0 ==> tree_node(d, s, 1); @/
    /@ assert wide: \forall integer h; 1 <= h <= d ==> pow2(h) >= 2; @/
    /@ loop invariant 0 <= i <= n;
       loop invariant right: i > 0 ==> 2 * (i - 1) <= a[i-1].start;
       loop assigns i;
       loop variant n - i; @/
    for (size_t i = 0; i < n; i++) {
      /@ assert before: i > 0 ==> a[i-1].start + pow2(a[i-1].height) <= a[i].start; @/
      /@ assert node: node_shape(d, a + i) && (i > 0 ==> node_shape(d, a + (i - 1))); @/
      /@ assert odd: a[i].start % 2 == 1 ==> a[i].height == 0; @/
      /@ assert pair: i > 0 ==> a[i-1].height == 0 ==> a[i-1].start % 2 == 0 ==>
           tree_node(d, a[i-1].start, 1); @/
      /@ assert unmerged: i > 0 ==>
           !siblings(d, a[i-1].start, a[i-1].height, a[i].start, a[i].height); @/
      /@ assert apart: i > 0 ==> a[i-1].height == 0 ==> a[i-1].start % 2 == 0 ==>
           a[i].start != a[i-1].start + 1; @/
      /@ assert leaf: i > 0 ==> a[i-1].height == 0 ==> a[i].start >= 2 * i; @/
      /@ assert tall: i > 0 ==> a[i-1].height > 0 ==> a[i].start >= 2 * i; @/
    }
    /@ assert last: n > 0 ==> a[n-1].start < 2 * pow2(d - 1); @/
  }

  void in_order_lemma(const uint8_t *p, const struct ref_node *a, size_t n, unsigned d)
  {
    has_id_lemma(d);
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
  void longer_lemma(const uint8_t *p, const uint8_t *q, size_t at, size_t w, uint64_t v)
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
     requires node_shapes(d, a, n) && encodes(p, a, n, d) && encodes(q, a, n, d);
     assigns \nothing;
     ensures equal(p, q, record_at(d, n) + 32);
  @/
  void same_bytes_lemma(const uint8_t *p, const uint8_t *q, const struct ref_node *a, size_t n,
                     unsigned d)
  {
    size_t w = d / 8 + 1, at = 16;
    pow2_mono_lemma(d, 32);
    pow2_mono_lemma(32, 63);
    longer_lemma(p, q, 12, 4, n);
    /@ loop invariant 0 <= i <= n;
       loop invariant place: at == record_at(d, i);
       loop invariant same: equal(p, q, at);
       loop assigns i, at;
       loop variant n - i; @/
    for (size_t i = 0; i < n; i++) {
      pow2_mono_lemma(a[i].height, 32);
      /@ assert records: record(p, at, d, a + i) && record(q, at, d, a + i); @/
      longer_lemma(p, q, at, w, a[i].start + end_lemma(a[i].start, a[i].height));
      longer_lemma(p, q, at + w, 8, a[i].seed.lo);
      longer_lemma(p, q, at + w + 8, 8, a[i].seed.hi);
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
     requires node_shapes(d, a, n) && node_shapes(d, b, n);
     requires records(p, a, n, d) && records(p, b, n, d);
     assigns \nothing;
     ensures \forall integer k; 0 <= k < n ==> same_node{Here,Here}(a + k, b + k);
  @/
  void same_nodes_lemma(const uint8_t *p, const struct ref_node *a,
    const struct ref_node *b, size_t n,
                     unsigned d)
  {
    has_id_lemma(d);
    byte_inj_lemma(8);
    /@ assert pow2(8) == 0x100; @/
    /@ assert pow2(16) == 0x10000; @/
    /@ assert pow2(32) == 0x100000000; @/
    /@ assert pow2(64) == 0x10000000000000000; @/
    /@ assert both: \forall integer k; 0 <= k < n ==>
         record(p, record_at(d, k), d, a + k) && record(p, record_at(d, k), d, b + k); @/
    /@ assert place: \forall integer k; 0 <= k < n ==>
         a[k].start == b[k].start && a[k].height == b[k].height; @/
    /@ assert agree_lo: \forall integer k; 0 <= k < n ==> same_low_bytes(a[k].seed.lo, b[k].seed.lo, 8); @/
    /@ assert agree_hi: \forall integer k; 0 <= k < n ==> same_low_bytes(a[k].seed.hi, b[k].seed.hi, 8); @/
    /@ assert lo: \forall integer k; 0 <= k < n ==> a[k].seed.lo == b[k].seed.lo; @/
    /@ assert hi: \forall integer k; 0 <= k < n ==> a[k].seed.hi == b[k].seed.hi; @/
  }
*/

/* An exported key imports as the same nodes; only the digest can fail. */
/*@ requires 1 <= d <= 32 && canonical(d, a, n);
    requires \valid(buf + (0 .. record_at(d, n) + 31));
    requires \valid_read(a + (0 .. n-1)) && \valid(b + (0 .. n-1));
    requires \separated(buf + (0 .. record_at(d, n) + 31), a + (0 .. n-1), b + (0 .. n-1));
    assigns buf[0 .. record_at(d, n) + 31], b[0 .. n-1];
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures nodes: \result == PPRF_OK ==>
      \forall integer k; 0 <= k < n ==> same_node{Post,Pre}(b + k, a + k); */
static int export_import(uint8_t *buf, const struct ref_node *a, size_t n, unsigned d,
                         struct ref_node *b)
{
  unsigned e = 0;
  size_t m = 0;
  //@ ghost nodes_bound_lemma(a, n, d);
  //@ ghost pow2_mono_lemma(d - 1, 32);
  int err = ref_encode(buf, a, n, d);
  if (err != PPRF_OK)
    return err;
  //@ ghost in_order_lemma(buf, a, n, d);
  //@ assert key_file: key_file(buf, record_at(d, n) + 32, d, n);
  err = ref_decode_header(buf, ref_encoded_bytes(d, n), &e, &m);
  //@ assert accepted: err == PPRF_OK;
  //@ assert depth: e == d;
  //@ assert count: m == n;
  err = ref_decode(b, n, d, buf);
  //@ assert format: err != PPRF_ERR_FORMAT;
  if (err != PPRF_OK)
    return err;
  //@ assert same: same{Here,Pre}(a, 0, n);
  //@ ghost same_nodes_lemma(buf, a, b, n, d);
  return PPRF_OK;
}

/* An imported file exports as the same bytes, and every other file is rejected; only the digest
 * can fail. */
/*@ requires \valid_read(buf + (0 .. len-1));
    requires \valid(a + (0 .. len-1)) && \valid(out + (0 .. len-1));
    requires \valid(depth) && \valid(count);
    requires \separated(buf + (0 .. len-1), out + (0 .. len-1), a + (0 .. len-1), depth, count);
    assigns out[0 .. len-1], a[0 .. len-1], *depth, *count;
    ensures results: \result == PPRF_OK || \result == PPRF_ERR_FORMAT || prg_error(\result);
    ensures accepted: \result == PPRF_OK ==> key_file{Pre}(buf, len, *depth, *count);
    ensures rejected: \result == PPRF_ERR_FORMAT ==>
      \forall integer d, n; !key_file{Pre}(buf, len, d, n);
    ensures bytes: \result == PPRF_OK ==> equal(out, buf, len); */
static int import_export(const uint8_t *buf, size_t len, struct ref_node *a, uint8_t *out,
                         unsigned *depth, size_t *count)
{
  unsigned d = 0;
  size_t n = 0;
  int err = ref_decode_header(buf, len, &d, &n);
  if (err != PPRF_OK)
    return err;
  //@ assert unique: \forall integer e, m; key_file(buf, len, e, m) ==> e == d && m == n;
  //@ ghost pow2_mono_lemma(d - 1, 32);
  err = ref_decode(a, n, d, buf);
  if (err != PPRF_OK)
    return err;
  //@ assert file: key_file(buf, len, d, n);
  //@ ghost Read: ;
  err = ref_encode(out, a, n, d);
  //@ assert nodes: same{Here,Read}(a, 0, n);
  //@ assert kept: bytes_unchanged{Here,Read}(buf, len);
  //@ assert records: records(buf, a, n, d);
  //@ assert node_shapes: node_shapes(d, a, n);
  /*@ ghost
    /@ loop invariant bound: 0 <= k <= len - 32;
       loop invariant message: message_of(buf, k) == message_of{Read}(buf, k);
       loop assigns k;
       loop variant len - k; @/
    for (size_t k = 0; k < len - 32; k++) ; */
  //@ assert sealed: sealed(buf, record_at(d, n));
  if (err == PPRF_OK) {
    //@ ghost same_bytes_lemma(out, buf, a, n, d);
    *depth = d;
    *count = n;
  }
  return err;
}

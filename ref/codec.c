/* SPDX-License-Identifier: Apache-2.0 */
/* The encoder and the decoder of version 1 of the key file. */
#include "codec.h"

#include "bytes.h"

/* The first 12 bytes: all of the header but the node count. */
/*@ requires depth: d <= CODEC_DEPTH_MAX;
    requires \valid(h + (0 .. 11));
    assigns h[0 .. 11];
    ensures header: header(h, d); */
static void put_header(uint8_t h[12], unsigned d)
{
  h[0] = 'P';
  h[1] = 'P';
  h[2] = 'R';
  h[3] = 'F';
  h[4] = 'K';
  h[5] = 'E';
  h[6] = 'Y';
  h[7] = CODEC_VERSION;
  h[8] = PRG_SHA3_256;
  h[9] = (uint8_t)d;
  h[10] = 0;
  h[11] = 0;
}

size_t ref_encoded_bytes(unsigned d, size_t n)
{
  return CODEC_HEADER_BYTES + n * CODEC_RECORD_BYTES(d) + DIGEST_BYTES;
}

/*@ requires depth: 1 <= d <= CODEC_DEPTH_MAX && at + id_bytes(d) + 16 <= SIZE_MAX;
    requires \valid_read(node) && \valid(buf + (at .. at + id_bytes(d) + 15));
    requires \separated(node, buf + (at .. at + id_bytes(d) + 15));
    requires node: node_shape(d, node);
    assigns buf[at .. at + id_bytes(d) + 15];
    ensures record: record(buf, at, d, node);
    ensures frame: bytes_unchanged{Post,Pre}(buf, at); */
static void put_record(uint8_t *buf, size_t at, const struct ref_node *node, unsigned d)
{
  unsigned w = CODEC_ID_BYTES(d);
  //@ ghost pow2_mono_lemma(d, 32);
  //@ ghost pow2_mono_lemma(node->height, d);
  ref_put_bytes(buf, at, w, 2 * node->start + ref_width(node->height));
  ref_put_bytes(buf, at + w, 8, node->seed.lo);
  ref_put_bytes(buf, at + w + 8, 8, node->seed.hi);
#ifdef PPRF_WIDE
  ref_put_bytes(buf, at + w + 16, 8, node->seed.third);
  ref_put_bytes(buf, at + w + 24, 8, node->seed.fourth);
#endif
}

int ref_encode(uint8_t *buf, const struct ref_node *a, size_t n, unsigned d)
{
  size_t body = ref_encoded_bytes(d, n) - DIGEST_BYTES, at = CODEC_HEADER_BYTES;
  put_header(buf, d);
  ref_put_bytes(buf, 12, 4, n);
  /*@ loop invariant bound: 0 <= k <= n;
      loop invariant place: at == record_at(d, k);
      loop invariant start: starts(buf, d, n);
      loop invariant records: records(buf, a, k, d);
      loop assigns k, at, buf[0 .. record_at(d, n) - 1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++) {
    //@ ghost Step: ;
    put_record(buf, at, &a[k], d);
    //@ assert same: same{Here,Step}(a, 0, k);
    //@ assert kept: bytes_unchanged{Here,Step}(buf, record_at(d, k));
    //@ assert records: records(buf, a, k, d);
    at += CODEC_RECORD_BYTES(d);
  }
  //@ ghost Body: ;
  int err = prg_digest(buf, body, buf + body);
  //@ assert same: same{Here,Body}(a, 0, n);
  //@ assert kept: bytes_unchanged{Here,Body}(buf, record_at(d, n));
  //@ assert records: records(buf, a, n, d);
  if (err != PPRF_OK) {
    /*@ loop invariant bound: 0 <= k <= body + DIGEST_BYTES;
        loop invariant zero: \forall integer j; 0 <= j < k ==> buf[j] == 0;
        loop assigns k, buf[0 .. body + DIGEST_BYTES - 1];
        loop variant body + DIGEST_BYTES - k; */
    for (size_t k = 0; k < body + DIGEST_BYTES; k++)
      buf[k] = 0;
  }
  return err;
}

int ref_decode_header(const uint8_t *buf, size_t len, unsigned *d, size_t *n)
{
  uint8_t h[12];
  *d = 0;
  *n = 0;
  if (len < CODEC_HEADER_BYTES + DIGEST_BYTES)
    return PPRF_ERR_FORMAT;
  unsigned depth = buf[9];
  if (depth < PPRF_DEPTH_MIN || depth > CODEC_DEPTH_MAX)
    return PPRF_ERR_FORMAT;
  put_header(h, depth);
  uint64_t count = ref_get_bytes(buf, 12, 4);
  //@ ghost byte_inj_lemma(4);
  //@ ghost pow2_mono_lemma(depth - 1, 32);
  //@ assert agree: \forall integer m; bytes(buf, 12, 4, m) ==> same_low_bytes(m, count, 4);
  /*@ assert unique: \forall integer e, m; sized(len, e, m) ==> starts(buf, e, m) ==>
        e == depth && m == count; */
  if (!ref_same_bytes(buf, h, 12) || count > ref_width(depth - 1) ||
      len != ref_encoded_bytes(depth, count))
    return PPRF_ERR_FORMAT;
  *d = depth;
  *n = count;
  return PPRF_OK;
}

/* The height of the node with this in-order id: the number of zero bits that the id ends with. */
/*@ requires depth: 1 <= d <= CODEC_DEPTH_MAX;
    requires id: 0 < id < pow2(d + 1);
    assigns \nothing;
    ensures height: \result <= d && pow2(\result) <= id;
    ensures even: (id - pow2(\result)) % 2 == 0;
    ensures node: tree_node(d, (id - pow2(\result)) / 2, \result); */
static unsigned height_of_id(uint64_t id) /*@ ghost (unsigned d) */
{
  unsigned h = 0;
  //@ ghost pow2_pos_lemma();
  /*@ loop invariant height: 0 <= h <= d;
      loop invariant odd: 0 < id < pow2(d + 1 - h);
      loop invariant value: \at(id,Pre) == nth_start(id, h);
      loop assigns h, id;
      loop variant id; */
  while (id % 2 == 0) {
    //@ assert half: pow2(d + 1 - h) == 2 * pow2(d - h);
    //@ assert twice: pow2(h + 1) == 2 * pow2(h);
    //@ assert up: h == d ==> pow2(d - h) == 1;
    id /= 2;
    h++;
  }
  //@ ghost multiples_lemma(d, h);
  //@ assert half: pow2(d + 1 - h) == 2 * pow2(d - h);
  //@ assert odd: id == 2 * (id / 2) + 1;
  //@ assert start: \at(id,Pre) - pow2(h) == 2 * nth_start(id / 2, h);
  //@ assert node: tree_node(d, nth_start(id / 2, h), h);
  return h;
}

/* Read the record at buf[at] into a[k].
 * Returns 0 if its id names no node of a tree of depth d. */
/*@ requires depth: 1 <= d <= CODEC_DEPTH_MAX && at + id_bytes(d) + 16 <= SIZE_MAX;
    requires \valid(a + k) && \valid_read(buf + (at .. at + id_bytes(d) + 15));
    requires \separated(a + k, buf + (at .. at + id_bytes(d) + 15));
    assigns a[k];
    ensures frame: \forall integer q; q != k ==> same_node{Post,Pre}(a + q, a + q);
    ensures accepted: \result != 0 ==> node_shape(d, a + k) && record(buf, at, d, a + k);
    ensures rejected: \result == 0 ==> \forall integer s, h;
      0 <= h <= d ==> tree_node(d, s, h) ==> !has_id(buf, at, d, s, h); */
static int get_record(struct ref_node *a, size_t k, unsigned d, const uint8_t *buf, size_t at)
{
  unsigned w = CODEC_ID_BYTES(d);
  uint64_t id = ref_get_bytes(buf, at, w);
  //@ ghost node_id_lemma(d);
  //@ ghost byte_inj_lemma(w);
  //@ ghost pow2_mono_lemma(d + 1, 8 * w);
  /*@ assert unique: \forall integer s, h; 0 <= h <= d ==> tree_node(d, s, h) ==>
        has_id(buf, at, d, s, h) ==> same_low_bytes(node_id(s, h), id, w); */
  //@ assert twice: pow2(d + 1) == 2 * pow2(d);
  if (id == 0 || id / 2 >= ref_width(d))
    return 0;
  unsigned height = height_of_id(id) /*@ ghost (d) */;
  uint64_t start = (id - ref_width(height)) / 2;
  //@ ghost tn_apart_lemma(d, height);
  struct pprf_seed seed = {ref_get_bytes(buf, at + w, 8), ref_get_bytes(buf, at + w + 8, 8)};
#ifdef PPRF_WIDE
  seed.third = ref_get_bytes(buf, at + w + 16, 8);
  seed.fourth = ref_get_bytes(buf, at + w + 24, 8);
#endif
  ref_put(a, k, (struct ref_node){start, height, seed});
  return 1;
}

/* Whether *node may follow *prev in a canonical key: it lies right of it and is not its sibling. */
/*@ requires depth: 1 <= d <= CODEC_DEPTH_MAX;
    requires \valid_read(prev) && \valid_read(node);
    requires nodes: node_shape(d, prev) && node_shape(d, node);
    assigns \nothing;
    ensures follows: \result != 0 <==>
      follow(d, prev->start, prev->height, node->start, node->height); */
static int follows(const struct ref_node *prev, const struct ref_node *node)
  /*@ ghost (unsigned d) */
{
  uint64_t width = ref_width(prev->height);
  //@ ghost pow2_mono_lemma(d, 32);
  //@ ghost pow2_mono_lemma(prev->height, d);
  uint64_t end = prev->start + width;
  if (node->start != end || node->height != prev->height)
    return node->start >= end;
  //@ ghost unsigned h = prev->height;
  //@ assert inner: h < d;
  //@ ghost multiples_lemma(d, h);
  //@ ghost multiples_lemma(d, h + 1);
  //@ assert twice: pow2(h + 1) == 2 * pow2(h) && pow2(d - h) == 2 * pow2(d - (h + 1));
  //@ assert quotient: prev->start == nth_start(prev->start / width, h);
  /*@ assert left: (prev->start / width) % 2 == 0 ==>
        prev->start == nth_start((prev->start / width) / 2, h + 1); */
  /*@ assert even: \forall integer r; 0 <= r ==> prev->start == nth_start(r, h + 1) ==>
        nth_start(2 * r, h) == prev->start && nth_start(2 * r, h) / pow2(h) == 2 * r; */
  return prev->start / width % 2 == 1;
}

/* Read n records.  Returns 0 unless they are the records of a canonical key. */
/*@ requires sizes: 1 <= d <= CODEC_DEPTH_MAX && n <= CODEC_NODES_MAX;
    requires \valid(a + (0 .. n-1)) && \valid_read(buf + (0 .. record_at(d, n) - 1));
    requires \separated(a + (0 .. n-1), buf + (0 .. record_at(d, n) - 1));
    assigns a[0 .. n-1];
    ensures accepted: \result != 0 ==> canonical(d, a, n) && records(buf, a, n, d);
    ensures in_order: \result != 0 <==> in_order{Pre}(buf, d, n); */
static int get_records(struct ref_node *a, size_t n, unsigned d, const uint8_t *buf)
{
  size_t at = CODEC_HEADER_BYTES;
  //@ ghost has_id_lemma(d);
  //@ ghost pow2_pos_lemma();
  /*@ loop invariant bound: 0 <= k <= n;
      loop invariant place: at == record_at(d, k);
      loop invariant nodes: node_shapes(d, a, k);
      loop invariant order: sorted(a, k);
      loop invariant maximal: maximal(d, a, k);
      loop invariant records: records(buf, a, k, d);
      loop assigns k, at, a[0 .. n-1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++) {
    //@ ghost Step: ;
    //@ assert next: in_order(buf, d, n) ==> \exists integer s, h; node_at(buf, at, d, s, h);
    if (!get_record(a, k, d, buf, at))
      return 0;
    //@ assert kept: same{Here,Step}(a, 0, k);
    //@ assert nodes: node_shapes(d, a, k + 1);
    //@ assert order: sorted(a, k);
    //@ assert maximal: maximal(d, a, k);
    //@ assert records: records(buf, a, k + 1, d);
    //@ assert node: node_at(buf, at, d, a[k].start, a[k].height);
    /*@ assert previous: k > 0 ==>
          node_at(buf, record_at(d, k - 1), d, a[k-1].start, a[k-1].height); */
    /*@ assert ordered: k > 0 ==> in_order(buf, d, n) ==>
          follow(d, a[k-1].start, a[k-1].height, a[k].start, a[k].height); */
    if (k > 0 && !follows(&a[k - 1], &a[k]) /*@ ghost (d) */)
      return 0;
    //@ assert last: k > 0 ==> before(a[k-1].start, a[k-1].height, a[k].start);
    //@ assert right: k > 0 ==> a[k-1].start < a[k].start;
    /*@ assert left: \forall integer j; 0 <= j < k - 1 ==>
          before(a[j].start, a[j].height, a[k-1].start); */
    /*@ assert apart: \forall integer j; 0 <= j < k - 1 ==>
          a[j].start + pow2(a[j].height) < a[k].start; */
    /*@ assert behind: \forall integer j; 0 <= j < k ==>
          before(a[j].start, a[j].height, a[k].start); */
    /*@ assert single: \forall integer j; 0 <= j < k ==>
          !siblings(d, a[j].start, a[j].height, a[k].start, a[k].height); */
    at += CODEC_RECORD_BYTES(d);
  }
  //@ ghost in_order_lemma(buf, a, n, d);
  return 1;
}

int ref_decode(struct ref_node *a, size_t n, unsigned d, const uint8_t *buf)
{
  uint8_t digest[DIGEST_BYTES];
  //@ ghost pow2_mono_lemma(d - 1, 32);
  size_t body = ref_encoded_bytes(d, n) - DIGEST_BYTES;
  int err = prg_digest(buf, body, digest);
  /*@ ghost
    /@ loop invariant bound: 0 <= k <= body;
       loop invariant message: message_of(buf, k) == message_of{Pre}(buf, k);
       loop assigns k;
       loop variant body - k; @/
    for (size_t k = 0; k < body; k++) ; */
  if (err == PPRF_OK &&
      (!ref_same_bytes(digest, buf + body, DIGEST_BYTES) || !get_records(a, n, d, buf)))
    err = PPRF_ERR_FORMAT;
  if (err != PPRF_OK)
    ref_wipe(a, 0, n);
  return err;
}

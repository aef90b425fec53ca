/* SPDX-License-Identifier: Apache-2.0 */
/** @file bytes.h
 * Conversion of integers to and from bytes, little-endian. */
#ifndef REF_BYTES_H
#define REF_BYTES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __FRAMAC__
#include "bytes.acsl"
#endif

/** Write the w low bytes of v to p[at .. at+w-1]. */
/*@ requires width: w <= 8 && at + w <= SIZE_MAX;
    requires \valid(p + (at .. at+w-1));
    assigns p[at .. at+w-1];
    ensures bytes: bytes(p, at, w, v);
    ensures frame: \forall integer j; j < at || at + w <= j ==> p[j] == \old(p[j]); */
static inline void ref_put_bytes(uint8_t *p, size_t at, unsigned w, uint64_t v)
{
  /*@ loop invariant bound: 0 <= k <= w;
      loop invariant rest: \forall integer j; j >= k ==> byte(\at(v,Pre), j) == byte(v, j - k);
      loop invariant done: bytes(p, at, k, \at(v,Pre));
      loop invariant frame: \forall integer j; j < at || at + w <= j ==> p[j] == \at(p[j],Pre);
      loop assigns k, v, p[at .. at+w-1];
      loop variant w - k; */
  for (unsigned k = 0; k < w; k++) {
    p[at + k] = (uint8_t)(v % 256);
    v /= 256;
  }
}

/** The integer in p[at .. at+w-1]. */
/*@ requires width: w <= 8 && at + w <= SIZE_MAX;
    requires \valid_read(p + (at .. at+w-1));
    assigns \nothing;
    ensures bytes: bytes(p, at, w, \result);
    ensures bound: \result < pow2(8 * w); */
static inline uint64_t ref_get_bytes(const uint8_t *p, size_t at, unsigned w)
{
  uint64_t v = 0;
  /*@ loop invariant bound: 0 <= k <= w;
      loop invariant value: v < pow2(8 * (w - k));
      loop invariant done: \forall integer j; k <= j < w ==> p[at + j] == byte(v, j - k);
      loop assigns k, v;
      loop variant k; */
  for (unsigned k = w; k > 0; k--) {
    //@ ghost pow2_mono_lemma(8 * (w - k), 56);
    //@ assert pow2(56) == 0x100000000000000;
    v = v * 256 + p[at + k - 1];
  }
  return v;
}

/** Whether the n bytes at p and at q are equal. */
/*@ requires \valid_read(p + (0 .. n-1)) && \valid_read(q + (0 .. n-1));
    assigns \nothing;
    ensures same: \result <==> \forall integer k; 0 <= k < n ==> p[k] == q[k]; */
static inline int ref_same_bytes(const uint8_t *p, const uint8_t *q, size_t n)
{
  /*@ loop invariant bound: 0 <= k <= n;
      loop invariant same: \forall integer j; 0 <= j < k ==> p[j] == q[j];
      loop assigns k;
      loop variant n - k; */
  for (size_t k = 0; k < n; k++)
    if (p[k] != q[k])
      return 0;
  return 1;
}

#endif

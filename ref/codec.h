/* SPDX-License-Identifier: Apache-2.0 */
/** @file codec.h
 * The canonical encoding of a key (docs/key-file.md), all integers little-endian:
 *   7 bytes "PPRFKEY", 1 byte format version, 1 byte PRG id, 1 byte depth d, 2 zero bytes,
 *   4 bytes node count n; n records in leaf order: the node's in-order id 2*start + 2^height in
 *   d/8 + 1 bytes, its seed in 16; SHA3-256 of all that. */
#ifndef REF_CODEC_H
#define REF_CODEC_H

#include "node.h"
#include "pprf.h"

#define CODEC_VERSION 1
#define CODEC_HEADER_BYTES 16
/** Greatest depth in version 1 of the key file. */
#define CODEC_DEPTH_MAX 32
/** Greatest node count that the four-byte field can hold. */
#define CODEC_NODES_MAX 0xffffffff

/** Bytes of an in-order id in a tree of depth d: ids are below 2^(d+1). */
#define CODEC_ID_BYTES(d) ((d) / 8 + 1)
#define CODEC_RECORD_BYTES(d) ((size_t)CODEC_ID_BYTES(d) + PPRF_SEED_BYTES)

#ifdef __FRAMAC__
#include "codec.acsl"
#endif

/** Bytes of the encoding of n nodes at depth d. */
/*@ requires depth: 1 <= d <= CODEC_DEPTH_MAX;
    requires count: n <= CODEC_NODES_MAX;
    assigns \nothing;
    ensures bytes: \result == record_at(d, n) + DIGEST_BYTES; */
size_t ref_encoded_bytes(unsigned d, size_t n);

/** Write the encoding of the key, ref_encoded_bytes(d, n) bytes; zeros on error.
 * @retval PPRF_OK or an error of prg_digest. */
/*@ requires depth: 1 <= d <= CODEC_DEPTH_MAX;
    requires count: n <= CODEC_NODES_MAX;
    requires \valid(buf + (0 .. record_at(d, n) + DIGEST_BYTES - 1));
    requires \valid_read(a + (0 .. n-1));
    requires \separated(buf + (0 .. record_at(d, n) + DIGEST_BYTES - 1), a + (0 .. n-1));
    requires nodes: node_shapes(d, a, n);
    assigns buf[0 .. record_at(d, n) + DIGEST_BYTES - 1];
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures encoded: \result == PPRF_OK ==> encodes(buf, a, n, d);
    ensures error: \result != PPRF_OK ==>
      \forall integer k; 0 <= k < record_at(d, n) + DIGEST_BYTES ==> buf[k] == 0; */
int ref_encode(uint8_t *buf, const struct ref_node *a, size_t n, unsigned d);

/** Read the header: depth and node count; *n <= len.
 * @retval PPRF_OK         len is the length of such an encoding.
 * @retval PPRF_ERR_FORMAT the header or the length is wrong (*d and *n are 0). */
/*@ requires \valid_read(buf + (0 .. len-1));
    requires \valid(d) && \valid(n) && \separated(buf + (0 .. len-1), d, n);
    assigns *d, *n;
    ensures results: \result == PPRF_OK || \result == PPRF_ERR_FORMAT;
    ensures accepted: \result == PPRF_OK ==> sized(len, *d, *n) && starts(buf, *d, *n);
    ensures rejected: \result != PPRF_OK ==> \forall integer e, m;
      !(sized(len, e, m) && starts(buf, e, m));
    ensures error: \result != PPRF_OK ==> *d == 0 && *n == 0;
    ensures bound: *n <= len; */
int ref_decode_header(const uint8_t *buf, size_t len, unsigned *d, size_t *n);

/** Read the nodes of an encoding whose header gave d and n; a has room for n nodes and is wiped on
 * error.
 * @retval PPRF_OK         buf is exactly what ref_encode writes for a[0 .. n-1].
 * @retval PPRF_ERR_FORMAT buf is not a canonical encoding.
 * @retval an error of prg_digest. */
/*@ requires header: sized(record_at(d, n) + DIGEST_BYTES, d, n) && starts(buf, d, n);
    requires \valid(a + (0 .. n-1));
    requires \valid_read(buf + (0 .. record_at(d, n) + DIGEST_BYTES - 1));
    requires \separated(buf + (0 .. record_at(d, n) + DIGEST_BYTES - 1), a + (0 .. n-1));
    assigns a[0 .. n-1];
    ensures results: \result == PPRF_OK || \result == PPRF_ERR_FORMAT || prg_error(\result);
    ensures accepted: \result == PPRF_OK ==> canonical(d, a, n) && encodes(buf, a, n, d);
    ensures key_file: \result == PPRF_OK ==> key_file{Pre}(buf, record_at(d, n) + DIGEST_BYTES, d, n);
    ensures rejected: \result == PPRF_ERR_FORMAT ==>
      !key_file{Pre}(buf, record_at(d, n) + DIGEST_BYTES, d, n);
    ensures error: \result != PPRF_OK ==> zeros(a, 0, n); */
int ref_decode(struct ref_node *a, size_t n, unsigned d, const uint8_t *buf);

#endif

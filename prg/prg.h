/* SPDX-License-Identifier: Apache-2.0 */
/** @file prg.h
 * The PRG of the GGM tree: seed -> (left seed, right seed).  Both implementations call it.
 *
 * A seed is two 64-bit words, its bytes 0..7 and 8..15 read little-endian, and is passed by value:
 * a call writes no memory in which the caller keeps other seeds. */
#ifndef PPRF_PRG_H
#define PPRF_PRG_H

#include <stddef.h>
#include <stdint.h>

#include "wipe.h"

/** Suites, by their ids in a key file.  PRG_SHA3_256 has no salt: SHA3-256 of the seed. */
#define PRG_SHA3_256 1
#define PRG_SHA3_256_SALTED 2
#define PRG_AES_128 3
#define PRG_MLS_SHA256 4 /* 32-byte seeds: wide.h */
/** Bytes of a SHA3-256 digest. */
#define DIGEST_BYTES 32

struct pprf_seed {
  uint64_t lo, hi;
};

/** The parameters of a key's PRG: the suite, and the key's 16-byte salt as two little-endian
 * words, zero if the suite has none.  Public. */
struct pprf_family {
  unsigned suite;
  uint64_t salt_lo, salt_hi;
};

/** The family of the suite without salt. */
#define PRG_BARE ((struct pprf_family){PRG_SHA3_256, 0, 0})

#ifdef __FRAMAC__
#include "ggm.acsl"
#include "digest.acsl"
#endif

/* Number of calls of prg_expand.  A call adds at most one, so that the counter may saturate; a
 * contract that bounds the counter bounds the calls. */
//@ ghost unsigned long expansions;

struct pprf_children {
  struct pprf_seed left, right; /* zero when err is not 0 */
  int err;                      /* PPRF_OK, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM */
};

/** Seeds of the two children of the node (start, height) with the given seed: the halves of the
 * family's output for that seed and, except for PRG_SHA3_256, for the node's in-order id
 * 2*start + 2^height. In a tree the height is at least 1; tls/ makes keys from the children of
 * a leaf, height 0. */
/*@ requires family: tree_family(family);
    assigns expansions;
    ensures results: \result.err == 0 || prg_error(\result.err);
    ensures cost: expansions <= \old(expansions) + 1;
    ensures left: \result.err == 0 ==>
      seed_value(\result.left) == prg_l(seed_value(seed), start, height);
    ensures right: \result.err == 0 ==>
      seed_value(\result.right) == prg_r(seed_value(seed), start, height); */
struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height);

/** A fresh seed from RAND_priv_bytes; from getrandom in any process but the one that loaded the
 * library.
 * @retval 0 or PPRF_ERR_CRYPTO (*seed is zero then). */
int prg_random(struct pprf_seed *seed);

/** SHA3-256 of len bytes.
 * @retval 0, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM (out is zero then). */
/*@ requires \valid_read(bytes + (0 .. len - 1)) && \valid(out + (0 .. DIGEST_BYTES - 1));
    requires \separated(bytes + (0 .. len - 1), out + (0 .. DIGEST_BYTES - 1));
    assigns out[0 .. DIGEST_BYTES - 1];
    ensures results: \result == 0 || prg_error(\result);
    ensures digest: \result == 0 ==> \forall integer k; 0 <= k < DIGEST_BYTES ==>
      out[k] == digest(message_of(bytes, len), k);
    ensures error: \result != 0 ==> \forall integer k; 0 <= k < DIGEST_BYTES ==> out[k] == 0; */
int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);

/** The argument of prg_wipe after an operation: the registers, and the stack bytes of the
 * operation's own functions below the caller plus those of prg_expand in every version that the
 * process has used. */
/*@ assigns \nothing; */
uint64_t prg_wipe_plan(unsigned own);

/** Stack bytes of prg_random and prg_digest; prg_expand takes less. */
#ifdef __OPTIMIZE__
#define PRG_LIBCRYPTO_STACK 6144u
#else
#define PRG_LIBCRYPTO_STACK 8192u
#endif

/** Number of calls of prg_expand by this thread so far. */
uint64_t prg_calls(void);

#endif

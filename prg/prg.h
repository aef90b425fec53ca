/* SPDX-License-Identifier: Apache-2.0 */
/** @file prg.h
 * The PRG of the GGM tree: seed -> (left seed, right seed).  Both implementations call it.
 *
 * A seed is two 64-bit words, its bytes 0..7 and 8..15 read little-endian, and travels by value:
 * no memory is written that a caller's other seeds live in. */
#ifndef PPRF_PRG_H
#define PPRF_PRG_H

#include <stddef.h>
#include <stdint.h>

#include "wipe.h"

/** Suites by their ids in a key file.  Without a salt: SHA3-256 of the seed. */
#define PRG_SHA3_256 1
#define PRG_SHA3_256_SALTED 2
#define PRG_AES_128 3
#define PRG_MLS_SHA256 4 /* its seeds have 32 bytes: wide.h */
/** Bytes of a SHA3-256 digest. */
#define DIGEST_BYTES 32

struct pprf_seed {
  uint64_t lo, hi;
};

/** What gives each inner node of a key's tree its PRG: the suite, and the key's 16 bytes of salt as
 * two words, little-endian, zero if the suite has none.  Public. */
struct pprf_family {
  unsigned suite;
  uint64_t salt_lo, salt_hi;
};

/** The family of the suite that has no salt. */
#define PRG_BARE ((struct pprf_family){PRG_SHA3_256, 0, 0})

#ifdef __FRAMAC__
#include "ggm.acsl"
#include "digest.acsl"
#endif

/* The number of calls of prg_expand.  A call adds at most one, so that the counter may stop at the type's maximum, and
 * a contract that bounds it bounds the calls. */
//@ ghost unsigned long expansions;

struct pprf_children {
  struct pprf_seed left, right; /* zero when err is not 0 */
  int err;                      /* PPRF_OK, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM */
};

/** Seeds of the two children of the node (start, height), whose seed is given: the halves of what the family
 * gives for that seed and, but for PRG_SHA3_256, the node's in-order id 2*start + 2^height.  In a tree the
 * height is at least 1; a leaf's own children, height 0, are what tls/ makes keys of. */
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

/** A fresh seed from RAND_priv_bytes; in a child of the process that loaded the library from getrandom.
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

/** What an operation leaves behind, for prg_wipe: the registers, and as many bytes of stack as the
 * operation's own functions below the caller take, and below them prg_expand, in every version that the
 * process has used. */
/*@ assigns \nothing; */
uint64_t prg_wipe_plan(unsigned own);

/** Bytes of stack that prg_random and prg_digest take, and more than prg_expand. */
#ifdef __OPTIMIZE__
#define PRG_LIBCRYPTO_STACK 6144u
#else
#define PRG_LIBCRYPTO_STACK 8192u
#endif

/** Calls of prg_expand by this thread so far. */
uint64_t prg_calls(void);

#endif

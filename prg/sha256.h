/* SPDX-License-Identifier: Apache-2.0 */
/** @file sha256.h
 * The suite mls-sha256 (wide.h) without libcrypto.
 *
 * All versions compute the same function and cannot fail.  Control flow and addresses do not depend
 * on the seed.  Seeds, hash states of the key and schedules stay in registers or are spilled to the
 * stack below the caller: prg_wipe clears both. */
#ifndef PPRF_PRG_SHA256_H
#define PPRF_PRG_SHA256_H

#include "wide.h"

/* FIPS 180-4, 4.2.2. */
/* clang-format off */
#define SHA256_ROUND_CONSTANTS \
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, \
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, \
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, \
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, \
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, \
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, \
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, \
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
/* clang-format on */

typedef struct pprf_wide_children opt_wide_expand(struct pprf_wide_seed seed);

/** Portable C. */
opt_wide_expand opt_sha256_scalar;

#if defined(__x86_64__)
#define OPT_SHA256_X86 1
/** The processor's SHA-256 instructions, two blocks side by side. */
opt_wide_expand opt_sha256_ni;
#else
#define OPT_SHA256_X86 0
#endif

/* As in aes.h. */
#if defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && \
  (!defined(__clang__) || __clang_major__ >= 16 || defined(__ARM_FEATURE_SHA2))
#define OPT_SHA256_ARM 1
#ifdef __clang__
#define OPT_SHA256_ARM_TARGET "sha2"
#else
#define OPT_SHA256_ARM_TARGET "+crypto"
#endif
/** The SHA-256 instructions of ARMv8. */
opt_wide_expand opt_sha256_armv8;
#else
#define OPT_SHA256_ARM 0
#endif

#endif

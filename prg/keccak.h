/* SPDX-License-Identifier: Apache-2.0 */
/** @file keccak.h
 * The suites sha3-256 and sha3-256-salted without libcrypto: SHA3-256 (FIPS 202) of a seed, or of a
 * seed, a salt and a node's id, is one Keccak-f[1600].
 *
 * The library uses the version that the environment variable PPRF_PRG names, otherwise the fastest
 * that the processor can run, until pprf_prg_select chooses another.  A version is used only after
 * it has agreed with libcrypto's SHA3-256 on a set of seeds; if it has not, or if PPRF_PRG names
 * one that the processor cannot run, libcrypto's is used.
 *
 * All versions compute the same function and cannot fail.  Control flow and addresses do not depend
 * on the seed.  Their state may stay in registers and on the stack below the caller: prg_wipe
 * clears both. */
#ifndef PPRF_OPT_KECCAK_H
#define PPRF_OPT_KECCAK_H

#include "lanes.h"
#include "prg.h"

typedef struct pprf_children opt_expand(struct pprf_seed seed, uint64_t start, unsigned height);

/** The same for four or eight steps at once; all inputs are read before an output is written. */
typedef void opt_expand_lanes(const struct opt_step *step);

/** Portable C; opt_salted_*: the same for sha3-256-salted. */
opt_expand opt_keccak_scalar;
opt_node_expand opt_salted_scalar;

#if defined(__x86_64__)
#define OPT_KECCAK_X86 1
/** The same code with BMI's and-not, for processors that have AVX2. */
opt_expand opt_keccak_avx2;
opt_node_expand opt_salted_avx2;
/** One lane in each of 25 vector registers, with AVX-512VL's rotations and three-operand logic. */
opt_expand opt_keccak_avx512;
opt_node_expand opt_salted_avx512;
/** Four seeds in the elements of 256-bit vectors, eight in those of 512-bit vectors. */
opt_expand_lanes opt_keccak_avx2_x4, opt_keccak_avx512_x4, opt_keccak_avx512_x8;
opt_node_lanes opt_salted_avx2_x4, opt_salted_avx512_x4, opt_salted_avx512_x8;
/** The walk down with AVX-512: the state never leaves the vector registers. */
opt_node_descend opt_keccak_avx512_descend, opt_salted_avx512_descend;
#else
#define OPT_KECCAK_X86 0
#endif

/** pprf_prg_name, under a name with which programs test whether this PRG is linked in. */
const char *opt_prg_name(void);

#endif

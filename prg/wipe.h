/* SPDX-License-Identifier: Apache-2.0 */
/** @file wipe.h
 * Wiping what an operation leaves behind on the stack and in registers.
 *
 * A function of the API holds no secret in its own frame.  The work happens in a function below it
 * that the compiler may neither inline nor clone (PPRF_WORK), and after it the function of the API
 * calls prg_wipe: what the work and its callees had lies below that call's return address, whatever the
 * compiler made of them. */
#ifndef PPRF_WIPE_H
#define PPRF_WIPE_H

#include <stdint.h>

/** A function that has secrets in its frame: it stays one. */
#ifdef __clang__
#define PPRF_WORK __attribute__((noinline))
#else
#define PPRF_WORK __attribute__((noipa))
#endif

/** A number of bytes of stack, with the flags below: see prg_wipe_plan. */
#define WIPE_BYTES 0xffffffffu
#define WIPE_AVX (UINT64_C(1) << 32)
#define WIPE_AVX512 (UINT64_C(1) << 33)
#define WIPE_SSE (UINT64_C(1) << 34)

/** Overwrite with zeros as many bytes of the stack below the caller's frame as the plan says (rounded up to a
 * multiple of 128, and up to 31 more), and the registers that a callee may change, as far as the flags name them. */
/*@ assigns \nothing; */
void prg_wipe(uint64_t plan);

/** The flags for the registers that this processor has, used or not. */
/*@ assigns \nothing; */
uint64_t prg_wipe_flags(void);

#endif

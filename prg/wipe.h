/* SPDX-License-Identifier: Apache-2.0 */
/** @file wipe.h
 * Wiping the stack and registers after an operation.
 *
 * A function of the API holds no secret in its own frame.  The work happens in a function below it
 * that the compiler may neither inline nor clone (PPRF_WORK).  Afterwards the function of the API
 * calls prg_wipe: all frames of the work and its callees lie below that call's return address,
 * whatever the compiler made of them. */
#ifndef PPRF_WIPE_H
#define PPRF_WIPE_H

#include <stdint.h>

/** Marks a function with secrets in its frame: it is neither inlined nor cloned. */
#ifdef __clang__
#define PPRF_WORK __attribute__((noinline))
#else
#define PPRF_WORK __attribute__((noipa))
#endif

/** Mask of the number of stack bytes in a wipe plan (prg_wipe_plan); flags for registers follow. */
#define WIPE_BYTES 0xffffffffu
#define WIPE_AVX (UINT64_C(1) << 32)
#define WIPE_AVX512 (UINT64_C(1) << 33)
#define WIPE_SSE (UINT64_C(1) << 34)

/** Zero the planned number of stack bytes below the caller's frame (rounded up to a multiple of
 * 128, plus up to 31 more), and the caller-saved registers that the flags name. */
/*@ assigns \nothing; */
void prg_wipe(uint64_t plan);

/** The flags for the registers that this processor has. */
/*@ assigns \nothing; */
uint64_t prg_wipe_flags(void);

#endif

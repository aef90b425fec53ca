/* SPDX-License-Identifier: Apache-2.0 */
/** @file unrolled.h
 * Unrolling of short hot loops with a constant count.  At -O2 gcc keeps them as loops, which
 * doubles the time of a search in a page and turns a store of 8 bytes into 8 stores; clang unrolls
 * them anyway. */
#ifndef PPRF_OPT_UNROLLED_H
#define PPRF_OPT_UNROLLED_H

/* Before a loop: unroll 8 steps.  It changes no meaning, so Frama-C does not see it. */
#ifdef __FRAMAC__
#define UNROLLED_8
#else
#ifdef __clang__
#define UNROLLED_8
#else
#define UNROLLED_8 _Pragma("GCC unroll 8")
#endif
#endif

#endif

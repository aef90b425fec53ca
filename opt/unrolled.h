/* SPDX-License-Identifier: Apache-2.0 */
/** @file unrolled.h
 * Short loops of a constant count on the hot path.  gcc leaves them loops at -O2, and then the search of a page takes
 * twice as long and 8 bytes are 8 stores; clang unrolls them unasked. */
#ifndef PPRF_OPT_UNROLLED_H
#define PPRF_OPT_UNROLLED_H

/* Before a loop: 8 steps at once.  It changes no meaning, so that Frama-C need not see it. */
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

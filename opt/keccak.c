/* SPDX-License-Identifier: Apache-2.0 */
/* Keccak-f[1600] of FIPS 202 as macros over a type of lanes, and SHA3-256 of a 16-byte block. */
#include "keccak.h"

/* Round constants: FIPS 202, iota. */
static const uint64_t iota[24] = {
  0x0000000000000001, 0x0000000000008082, 0x800000000000808a, 0x8000000080008000,
  0x000000000000808b, 0x0000000080000001, 0x8000000080008081, 0x8000000000008009,
  0x000000000000008a, 0x0000000000000088, 0x0000000080008009, 0x000000008000000a,
  0x000000008000808b, 0x800000000000008b, 0x8000000000008089, 0x8000000000008003,
  0x8000000000008002, 0x8000000000000080, 0x000000000000800a, 0x800000008000000a,
  0x8000000080008081, 0x8000000000008080, 0x0000000080000001, 0x8000000080008008};

/* Lane (x, y) of the state s is s##n with n = x + 5 y.  The includer of these macros defines
 *   XOR(a, b), XOR3(a, b, c), ROL(a, n), CHI(a, b, c) = a ^ (~b & c), CONSTANT(word). */

/* theta: the d of each column; the other steps add it. */
#define THETA(a)                                                                                   \
  c0 = XOR3(XOR3(a##0, a##5, a##10), a##15, a##20);                                                \
  c1 = XOR3(XOR3(a##1, a##6, a##11), a##16, a##21);                                                \
  c2 = XOR3(XOR3(a##2, a##7, a##12), a##17, a##22);                                                \
  c3 = XOR3(XOR3(a##3, a##8, a##13), a##18, a##23);                                                \
  c4 = XOR3(XOR3(a##4, a##9, a##14), a##19, a##24);                                                \
  d0 = XOR(c4, ROL(c1, 1));                                                                        \
  d1 = XOR(c0, ROL(c2, 1));                                                                        \
  d2 = XOR(c1, ROL(c3, 1));                                                                        \
  d3 = XOR(c2, ROL(c4, 1));                                                                        \
  d4 = XOR(c3, ROL(c0, 1))

/* rho and pi: the five lanes of a row of the next state, before chi. */
#define RHO_PI(l0, d0, r0, l1, d1, r1, l2, d2, r2, l3, d3, r3, l4, d4, r4)                         \
  b0 = ROL(XOR(l0, d0), r0);                                                                       \
  b1 = ROL(XOR(l1, d1), r1);                                                                       \
  b2 = ROL(XOR(l2, d2), r2);                                                                       \
  b3 = ROL(XOR(l3, d3), r3);                                                                       \
  b4 = ROL(XOR(l4, d4), r4)

#define CHI_ROW(e0, e1, e2, e3, e4)                                                                \
  e0 = CHI(b0, b1, b2);                                                                            \
  e1 = CHI(b1, b2, b3);                                                                            \
  e2 = CHI(b2, b3, b4);                                                                            \
  e3 = CHI(b3, b4, b0);                                                                            \
  e4 = CHI(b4, b0, b1)

/* Row 0 before chi; its first lane is not rotated. */
#define ROW_0(a)                                                                                   \
  b0 = XOR(a##0, d0);                                                                              \
  b1 = ROL(XOR(a##6, d1), 44);                                                                     \
  b2 = ROL(XOR(a##12, d2), 43);                                                                    \
  b3 = ROL(XOR(a##18, d3), 21);                                                                    \
  b4 = ROL(XOR(a##24, d4), 14)

/* One round from the state a to the state e. */
#define ROUND(a, e, rc)                                                                            \
  THETA(a);                                                                                        \
  ROW_0(a);                                                                                        \
  CHI_ROW(e##0, e##1, e##2, e##3, e##4);                                                           \
  e##0 = XOR(e##0, CONSTANT(rc));                                                                  \
  RHO_PI(a##3, d3, 28, a##9, d4, 20, a##10, d0, 3, a##16, d1, 45, a##22, d2, 61);                  \
  CHI_ROW(e##5, e##6, e##7, e##8, e##9);                                                           \
  RHO_PI(a##1, d1, 1, a##7, d2, 6, a##13, d3, 25, a##19, d4, 8, a##20, d0, 18);                    \
  CHI_ROW(e##10, e##11, e##12, e##13, e##14);                                                      \
  RHO_PI(a##4, d4, 27, a##5, d0, 36, a##11, d1, 10, a##17, d2, 15, a##23, d3, 56);                 \
  CHI_ROW(e##15, e##16, e##17, e##18, e##19);                                                      \
  RHO_PI(a##2, d2, 62, a##8, d3, 55, a##14, d4, 39, a##15, d0, 41, a##21, d1, 2);                  \
  CHI_ROW(e##20, e##21, e##22, e##23, e##24)

#define STATE(lane, s)                                                                             \
  lane s##0, s##1, s##2, s##3, s##4, s##5, s##6, s##7, s##8, s##9, s##10, s##11, s##12, s##13,     \
    s##14, s##15, s##16, s##17, s##18, s##19, s##20, s##21, s##22, s##23, s##24

/* The lanes 0 .. 3 of the digest of a seed (lo, hi) into e0 .. e3.  Padding: 06 after the seed's
 * 16 bytes, 80 in the last byte of the rate, byte 135.  Of the last round four lanes matter. */
#define SHA3_256_OF_SEED(lane, lo, hi)                                                             \
  STATE(lane, a);                                                                                  \
  STATE(lane, e);                                                                                  \
  lane b0, b1, b2, b3, b4, c0, c1, c2, c3, c4, d0, d1, d2, d3, d4;                                 \
  a0 = lo;                                                                                         \
  a1 = hi;                                                                                         \
  a2 = CONSTANT(0x06);                                                                             \
  a16 = CONSTANT(0x8000000000000000);                                                              \
  a3 = a4 = a5 = a6 = a7 = a8 = a9 = a10 = a11 = a12 = a13 = a14 = a15 = CONSTANT(0);              \
  a17 = a18 = a19 = a20 = a21 = a22 = a23 = a24 = CONSTANT(0);                                     \
  for (unsigned i = 0; i < 22; i += 2) {                                                           \
    ROUND(a, e, iota[i]);                                                                          \
    ROUND(e, a, iota[i + 1]);                                                                      \
  }                                                                                                \
  ROUND(a, e, iota[22]);                                                                           \
  THETA(e);                                                                                        \
  ROW_0(e);                                                                                        \
  e0 = XOR(CHI(b0, b1, b2), CONSTANT(iota[23]));                                                   \
  e1 = CHI(b1, b2, b3);                                                                            \
  e2 = CHI(b2, b3, b4);                                                                            \
  e3 = CHI(b3, b4, b0)

#define XOR(a, b) ((a) ^ (b))
#define XOR3(a, b, c) ((a) ^ (b) ^ (c))
#define ROL(a, n) ((a) << (n) | (a) >> (64 - (n)))
#define CHI(a, b, c) ((a) ^ (~(b) & (c)))
#define CONSTANT(word) ((uint64_t)(word))

struct pprf_children opt_keccak_scalar(struct pprf_seed seed, uint64_t start, unsigned height)
{
  (void)start;
  (void)height;
  SHA3_256_OF_SEED(uint64_t, seed.lo, seed.hi);
  return (struct pprf_children){{e0, e1}, {e2, e3}, 0};
}

#if OPT_KECCAK_X86

__attribute__((target("avx2,bmi,bmi2"))) struct pprf_children
opt_keccak_avx2(struct pprf_seed seed, uint64_t start, unsigned height)
{
  (void)start;
  (void)height;
  SHA3_256_OF_SEED(uint64_t, seed.lo, seed.hi);
  return (struct pprf_children){{e0, e1}, {e2, e3}, 0};
}

#undef XOR
#undef XOR3
#undef ROL
#undef CHI
#undef CONSTANT

#include <immintrin.h>

#define XOR(a, b) _mm_xor_si128(a, b)
#define XOR3(a, b, c) _mm_ternarylogic_epi64(a, b, c, 0x96)
#define ROL(a, n) _mm_rol_epi64(a, n)
#define CHI(a, b, c) _mm_ternarylogic_epi64(a, b, c, 0xd2)
#define CONSTANT(word) _mm_cvtsi64_si128((long long)(word))

__attribute__((target("avx512f,avx512vl"))) struct pprf_children
opt_keccak_avx512(struct pprf_seed seed, uint64_t start, unsigned height)
{
  (void)start;
  (void)height;
  SHA3_256_OF_SEED(__m128i, CONSTANT(seed.lo), CONSTANT(seed.hi));
  return (struct pprf_children){
    {(uint64_t)_mm_cvtsi128_si64(e0), (uint64_t)_mm_cvtsi128_si64(e1)},
    {(uint64_t)_mm_cvtsi128_si64(e2), (uint64_t)_mm_cvtsi128_si64(e3)},
    0};
}

#endif

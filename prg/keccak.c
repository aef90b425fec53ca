/* SPDX-License-Identifier: Apache-2.0 */
/* Keccak-f[1600] of FIPS 202 as macros over a lane type; SHA3-256 of a seed, and of a seed with
 * a salt and a node's id. */
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
  c0 = XOR3(XOR(a##0, a##5), XOR(a##10, a##15), a##20);                                            \
  c1 = XOR3(XOR(a##1, a##6), XOR(a##11, a##16), a##21);                                            \
  c2 = XOR3(XOR(a##2, a##7), XOR(a##12, a##17), a##22);                                            \
  c3 = XOR3(XOR(a##3, a##8), XOR(a##13, a##18), a##23);                                            \
  c4 = XOR3(XOR(a##4, a##9), XOR(a##14, a##19), a##24);                                            \
  d0 = XOR(c4, ROL(c1, 1));                                                                        \
  d1 = XOR(c0, ROL(c2, 1));                                                                        \
  d2 = XOR(c1, ROL(c3, 1));                                                                        \
  d3 = XOR(c2, ROL(c4, 1));                                                                        \
  d4 = XOR(c3, ROL(c0, 1))

/* rho and pi: five lanes of one row of the next state, before chi. */
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

/* The first round for the block of a seed (lo, hi): byte 06 follows the 16 bytes of the seed and
 * byte 80 is the last byte of the rate (135), so lanes 2 and 16 are constants and the others
 * zero. */
#define FIRST_ROUND(e, lo, hi)                                                                     \
  c1 = XOR(hi, CONSTANT(TOP));                                                                     \
  d0 = ROL(c1, 1);                                                                                 \
  d1 = XOR(lo, CONSTANT(2 * 0x06));                                                                \
  d2 = c1;                                                                                         \
  d4 = ROL(lo, 1); /* d3 is 06 */                                                                  \
  b0 = XOR(lo, d0);                                                                                \
  b1 = ROL(d1, 44);                                                                                \
  b2 = ROL(d2, 43);                                                                                \
  b3 = CONSTANT(ROTATED(0x06, 21));                                                                \
  b4 = ROL(d4, 14);                                                                                \
  CHI_ROW(e##0, e##1, e##2, e##3, e##4);                                                           \
  e##0 = XOR(e##0, CONSTANT(iota[0]));                                                             \
  b0 = CONSTANT(ROTATED(0x06, 28));                                                                \
  b1 = ROL(d4, 20);                                                                                \
  b2 = ROL(d0, 3);                                                                                 \
  b3 = ROL(XOR(d1, CONSTANT(TOP)), 45);                                                            \
  b4 = ROL(d2, 61);                                                                                \
  CHI_ROW(e##5, e##6, e##7, e##8, e##9);                                                           \
  b0 = ROL(XOR(hi, d1), 1);                                                                        \
  b1 = ROL(d2, 6);                                                                                 \
  b2 = CONSTANT(ROTATED(0x06, 25));                                                                \
  b3 = ROL(d4, 8);                                                                                 \
  b4 = ROL(d0, 18);                                                                                \
  CHI_ROW(e##10, e##11, e##12, e##13, e##14);                                                      \
  b0 = ROL(d4, 27);                                                                                \
  b1 = ROL(d0, 36);                                                                                \
  b2 = ROL(d1, 10);                                                                                \
  b3 = ROL(d2, 15);                                                                                \
  b4 = CONSTANT(ROTATED(0x06, 56));                                                                \
  CHI_ROW(e##15, e##16, e##17, e##18, e##19);                                                      \
  b0 = ROL(XOR(d2, CONSTANT(0x06)), 62);                                                           \
  b1 = CONSTANT(ROTATED(0x06, 55));                                                                \
  b2 = ROL(d4, 39);                                                                                \
  b3 = ROL(d0, 41);                                                                                \
  b4 = ROL(d1, 2);                                                                                 \
  CHI_ROW(e##20, e##21, e##22, e##23, e##24)

/* The first round for the block of a node: its seed (lo, hi), its key's salt (s0, s1) and its
 * in-order id are lanes 0 .. 4, and 06 follows them in lane 5. */
#define FIRST_ROUND_OF_NODE(e, lo, hi, s0, s1, id)                                                 \
  c0 = XOR(lo, CONSTANT(0x06));                                                                    \
  c1 = XOR(hi, CONSTANT(TOP));                                                                     \
  d0 = XOR(id, ROL(c1, 1));                                                                        \
  d1 = XOR(c0, ROL(s0, 1));                                                                        \
  d2 = XOR(c1, ROL(s1, 1));                                                                        \
  d3 = XOR(s0, ROL(id, 1));                                                                        \
  d4 = XOR(s1, ROL(c0, 1));                                                                        \
  b0 = XOR(lo, d0);                                                                                \
  b1 = ROL(d1, 44);                                                                                \
  b2 = ROL(d2, 43);                                                                                \
  b3 = ROL(d3, 21);                                                                                \
  b4 = ROL(d4, 14);                                                                                \
  CHI_ROW(e##0, e##1, e##2, e##3, e##4);                                                           \
  e##0 = XOR(e##0, CONSTANT(iota[0]));                                                             \
  b0 = ROL(XOR(s1, d3), 28);                                                                       \
  b1 = ROL(d4, 20);                                                                                \
  b2 = ROL(d0, 3);                                                                                 \
  b3 = ROL(XOR(d1, CONSTANT(TOP)), 45);                                                            \
  b4 = ROL(d2, 61);                                                                                \
  CHI_ROW(e##5, e##6, e##7, e##8, e##9);                                                           \
  b0 = ROL(XOR(hi, d1), 1);                                                                        \
  b1 = ROL(d2, 6);                                                                                 \
  b2 = ROL(d3, 25);                                                                                \
  b3 = ROL(d4, 8);                                                                                 \
  b4 = ROL(d0, 18);                                                                                \
  CHI_ROW(e##10, e##11, e##12, e##13, e##14);                                                      \
  b0 = ROL(XOR(id, d4), 27);                                                                       \
  b1 = ROL(XOR(d0, CONSTANT(0x06)), 36);                                                           \
  b2 = ROL(d1, 10);                                                                                \
  b3 = ROL(d2, 15);                                                                                \
  b4 = ROL(d3, 56);                                                                                \
  CHI_ROW(e##15, e##16, e##17, e##18, e##19);                                                      \
  b0 = ROL(XOR(s0, d2), 62);                                                                       \
  b1 = ROL(d3, 55);                                                                                \
  b2 = ROL(d4, 39);                                                                                \
  b3 = ROL(d0, 41);                                                                                \
  b4 = ROL(d1, 2);                                                                                 \
  CHI_ROW(e##20, e##21, e##22, e##23, e##24)

/* From the state after the first round in e to the digest's lanes 0 .. 3 in e0 .. e3; the last
 * round computes only these four lanes.  The rounds between are a loop of two: straight-line
 * code for all 24 fills the decoded-instruction cache and is no faster even alone. */
#define OTHER_ROUNDS                                                                               \
  for (unsigned i = 1; i < 23; i += 2) {                                                           \
    ROUND(e, a, iota[i]);                                                                          \
    ROUND(a, e, iota[i + 1]);                                                                      \
  }                                                                                                \
  THETA(e);                                                                                        \
  ROW_0(e);                                                                                        \
  e0 = XOR(CHI(b0, b1, b2), CONSTANT(iota[23]));                                                   \
  e1 = CHI(b1, b2, b3);                                                                            \
  e2 = CHI(b2, b3, b4);                                                                            \
  e3 = CHI(b3, b4, b0)

#define WORKING(lane)                                                                              \
  STATE(lane, a);                                                                                  \
  STATE(lane, e);                                                                                  \
  lane b0, b1, b2, b3, b4, c0, c1, c2, c3, c4, d0, d1, d2, d3, d4

/* Lanes 0 .. 3 of the digest of a seed (lo, hi), into e0 .. e3. */
#define SHA3_256_OF_SEED(lane, lo, hi)                                                             \
  WORKING(lane);                                                                                   \
  FIRST_ROUND(e, lo, hi);                                                                          \
  OTHER_ROUNDS

/* The same for a node: seed, salt and in-order id. */
#define SHA3_256_OF_NODE(lane, lo, hi, s0, s1, id)                                                 \
  WORKING(lane);                                                                                   \
  FIRST_ROUND_OF_NODE(e, lo, hi, s0, s1, id);                                                      \
  OTHER_ROUNDS

#define TOP 0x8000000000000000
#define ROTATED(word, n) ((uint64_t)(word) << (n) | (uint64_t)(word) >> (64 - (n)))

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

struct pprf_children opt_salted_scalar(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi,
                                       uint64_t id)
{
  SHA3_256_OF_NODE(uint64_t, seed.lo, seed.hi, salt_lo, salt_hi, id);
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

__attribute__((target("avx2,bmi,bmi2"))) struct pprf_children
opt_salted_avx2(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi, uint64_t id)
{
  SHA3_256_OF_NODE(uint64_t, seed.lo, seed.hi, salt_lo, salt_hi, id);
  return (struct pprf_children){{e0, e1}, {e2, e3}, 0};
}

/* From here on a lane is a vector with one instance in each 64-bit element. */
#undef XOR
#undef XOR3
#undef ROL
#undef CHI
#undef CONSTANT

#include <immintrin.h>

/* A vector of four 16-byte seeds takes four loads, because the parents may lie anywhere. */
static inline __attribute__((target("avx2"), always_inline)) __m256i
load_2(const struct opt_step *s)
{
  __m128i low = _mm_loadu_si128((const __m128i *)(const void *)s[0].seed);
  __m128i high = _mm_loadu_si128((const __m128i *)(const void *)s[1].seed);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}

static inline __attribute__((target("avx2"), always_inline)) void
store_2(struct pprf_seed *to_low, struct pprf_seed *to_high, __m256i v)
{
  _mm_storeu_si128((__m128i *)(void *)to_low, _mm256_castsi256_si128(v));
  _mm_storeu_si128((__m128i *)(void *)to_high, _mm256_extracti128_si256(v, 1));
}

/* Elements 0 .. 3 are the steps 0, 2, 1, 3: the order that unpacking two pairs of seeds gives,
 * and that unpacking the words of the digests undoes. */
#define LOAD_4(s, lo, hi)                                                                          \
  __m256i s01 = load_2(s), s23 = load_2((s) + 2);                                                  \
  __m256i lo = _mm256_unpacklo_epi64(s01, s23), hi = _mm256_unpackhi_epi64(s01, s23)

#define STORE_4(s, e0, e1, e2, e3)                                                                 \
  store_2((s)[0].left, (s)[1].left, _mm256_unpacklo_epi64(e0, e1));                                \
  store_2((s)[2].left, (s)[3].left, _mm256_unpackhi_epi64(e0, e1));                                \
  store_2((s)[0].right, (s)[1].right, _mm256_unpacklo_epi64(e2, e3));                              \
  store_2((s)[2].right, (s)[3].right, _mm256_unpackhi_epi64(e2, e3))

#define XOR(a, b) _mm256_xor_si256(a, b)
#define XOR3(a, b, c) XOR(XOR(a, b), c)
#define ROL(a, n) _mm256_or_si256(_mm256_slli_epi64(a, n), _mm256_srli_epi64(a, 64 - (n)))
#define CHI(a, b, c) XOR(a, _mm256_andnot_si256(b, c))
#define CONSTANT(word) _mm256_set1_epi64x((long long)(word))

__attribute__((target("avx2"))) void opt_keccak_avx2_x4(const struct opt_step *step)
{
  LOAD_4(step, lo, hi);
  SHA3_256_OF_SEED(__m256i, lo, hi);
  STORE_4(step, e0, e1, e2, e3);
}

/* The in-order ids of the parents, in the same order. */
#define IDS_4(s) _mm256_set_epi64x(ID(s, 3), ID(s, 1), ID(s, 2), ID(s, 0))
#define ID(s, i) (long long)opt_step_id(&(s)[i])

__attribute__((target("avx2"))) void opt_salted_avx2_x4(uint64_t salt_lo, uint64_t salt_hi,
                                                        const struct opt_step *step)
{
  LOAD_4(step, lo, hi);
  __m256i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi), id = IDS_4(step);
  SHA3_256_OF_NODE(__m256i, lo, hi, s0, s1, id);
  STORE_4(step, e0, e1, e2, e3);
}

#undef XOR3
#undef ROL
#undef CHI
#define XOR3(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0x96)
#define ROL(a, n) _mm256_rol_epi64(a, n)
#define CHI(a, b, c) _mm256_ternarylogic_epi64(a, b, c, 0xd2)

__attribute__((target("avx2,avx512f,avx512vl"))) void
opt_keccak_avx512_x4(const struct opt_step *step)
{
  LOAD_4(step, lo, hi);
  SHA3_256_OF_SEED(__m256i, lo, hi);
  STORE_4(step, e0, e1, e2, e3);
}

__attribute__((target("avx2,avx512f,avx512vl"))) void
opt_salted_avx512_x4(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)
{
  LOAD_4(step, lo, hi);
  __m256i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi), id = IDS_4(step);
  SHA3_256_OF_NODE(__m256i, lo, hi, s0, s1, id);
  STORE_4(step, e0, e1, e2, e3);
}

#undef XOR
#undef XOR3
#undef ROL
#undef CHI
#undef CONSTANT
#define XOR(a, b) _mm512_xor_si512(a, b)
#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define ROL(a, n) _mm512_rol_epi64(a, n)
#define CHI(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0xd2)
#define CONSTANT(word) _mm512_set1_epi64((long long)(word))

/* Steps s, s + 1 in the lower half of the result and t, t + 1 in the upper. */
static inline __attribute__((target("avx2,avx512f"), always_inline)) __m512i
load_4(const struct opt_step *s, const struct opt_step *t)
{
  return _mm512_inserti64x4(_mm512_castsi256_si512(load_2(s)), load_2(t), 1);
}

#define STORE_8(a, b, side, v)                                                                     \
  store_2(step[a].side, step[(a) + 1].side, _mm512_castsi512_si256(v));                            \
  store_2(step[b].side, step[(b) + 1].side, _mm512_extracti64x4_epi64(v, 1))

__attribute__((target("avx2,avx512f,avx512vl"))) void
opt_keccak_avx512_x8(const struct opt_step *step)
{
  __m512i even = load_4(step, step + 4), odd = load_4(step + 2, step + 6);
  __m512i lo = _mm512_unpacklo_epi64(even, odd), hi = _mm512_unpackhi_epi64(even, odd);
  SHA3_256_OF_SEED(__m512i, lo, hi);
  STORE_8(0, 4, left, _mm512_unpacklo_epi64(e0, e1));
  STORE_8(2, 6, left, _mm512_unpackhi_epi64(e0, e1));
  STORE_8(0, 4, right, _mm512_unpacklo_epi64(e2, e3));
  STORE_8(2, 6, right, _mm512_unpackhi_epi64(e2, e3));
}

__attribute__((target("avx2,avx512f,avx512vl"))) void
opt_salted_avx512_x8(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)
{
  __m512i even = load_4(step, step + 4), odd = load_4(step + 2, step + 6);
  __m512i lo = _mm512_unpacklo_epi64(even, odd), hi = _mm512_unpackhi_epi64(even, odd);
  __m512i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi);
  __m512i id = _mm512_inserti64x4(_mm512_castsi256_si512(IDS_4(step)), IDS_4(step + 4), 1);
  SHA3_256_OF_NODE(__m512i, lo, hi, s0, s1, id);
  STORE_8(0, 4, left, _mm512_unpacklo_epi64(e0, e1));
  STORE_8(2, 6, left, _mm512_unpackhi_epi64(e0, e1));
  STORE_8(0, 4, right, _mm512_unpacklo_epi64(e2, e3));
  STORE_8(2, 6, right, _mm512_unpackhi_epi64(e2, e3));
}

#undef XOR
#undef XOR3
#undef ROL
#undef CHI
#undef CONSTANT
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
  __m128i lo = CONSTANT(seed.lo), hi = CONSTANT(seed.hi);
  SHA3_256_OF_SEED(__m128i, lo, hi);
  return (struct pprf_children){{(uint64_t)_mm_cvtsi128_si64(e0), (uint64_t)_mm_cvtsi128_si64(e1)},
                                {(uint64_t)_mm_cvtsi128_si64(e2), (uint64_t)_mm_cvtsi128_si64(e3)},
                                0};
}

__attribute__((target("avx512f,avx512vl"))) struct pprf_children
opt_salted_avx512(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi, uint64_t id)
{
  __m128i lo = CONSTANT(seed.lo), hi = CONSTANT(seed.hi);
  __m128i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi), at = CONSTANT(id);
  SHA3_256_OF_NODE(__m128i, lo, hi, s0, s1, at);
  return (struct pprf_children){{(uint64_t)_mm_cvtsi128_si64(e0), (uint64_t)_mm_cvtsi128_si64(e1)},
                                {(uint64_t)_mm_cvtsi128_si64(e2), (uint64_t)_mm_cvtsi128_si64(e3)},
                                0};
}

/* Bitwise a where side has ones, else b. */
#define CHOOSE(side, a, b) _mm_ternarylogic_epi64(side, a, b, 0xca)

/* All ones if the path to the leaf goes right at height h, else zeros. */
#define SIDE(leaf, h) CONSTANT((leaf >> ((h) - 1) & 1) * UINT64_MAX)

/* The child on the path becomes the next seed; its sibling is stored where copath says, if that
 * is not NULL. No jump depends on the leaf, and the state stays in registers. */
#define STEP_DOWN(side, copath, h)                                                                 \
  lo = CHOOSE(side, e2, e0);                                                                       \
  hi = CHOOSE(side, e3, e1);                                                                       \
  __m128i other_lo = CHOOSE(side, e0, e2), other_hi = CHOOSE(side, e1, e3);                        \
  if (copath != NULL)                                                                              \
  _mm_storeu_si128((__m128i *)(void *)&copath[(h) - 1],                                            \
                   _mm_set_epi64x(_mm_cvtsi128_si64(other_hi), _mm_cvtsi128_si64(other_lo)))

__attribute__((target("avx512f,avx512vl"))) struct pprf_seed
opt_keccak_avx512_descend(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi, uint64_t leaf,
                          unsigned height, struct pprf_seed *copath)
{
  (void)salt_lo;
  (void)salt_hi;
  __m128i lo = CONSTANT(seed.lo), hi = CONSTANT(seed.hi);
  for (unsigned h = height; h > 0; h--) {
    __m128i side = SIDE(leaf, h);
    SHA3_256_OF_SEED(__m128i, lo, hi);
    STEP_DOWN(side, copath, h);
  }
  return (struct pprf_seed){(uint64_t)_mm_cvtsi128_si64(lo), (uint64_t)_mm_cvtsi128_si64(hi)};
}

__attribute__((target("avx512f,avx512vl"))) struct pprf_seed
opt_salted_avx512_descend(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi, uint64_t leaf,
                          unsigned height, struct pprf_seed *copath)
{
  __m128i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi);
  __m128i lo = CONSTANT(seed.lo), hi = CONSTANT(seed.hi);
  for (unsigned h = height; h > 0; h--) {
    __m128i side = SIDE(leaf, h);
    __m128i at = CONSTANT(2 * (leaf >> h << h) + (UINT64_C(1) << h));
    SHA3_256_OF_NODE(__m128i, lo, hi, s0, s1, at);
    STEP_DOWN(side, copath, h);
  }
  return (struct pprf_seed){(uint64_t)_mm_cvtsi128_si64(lo), (uint64_t)_mm_cvtsi128_si64(hi)};
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.c by the processor's SHA-256 instructions (x86, ARMv8).  Each round depends on the one
 * before, so two independent blocks are hashed side by side: the key's two, the two labels, the
 * two digests. */
#include "sha256.h"

#if OPT_SHA256_X86

#include <immintrin.h>

#define SHA_NI __attribute__((target("sha,sse4.1,ssse3")))
#define SHA_NI_INLINE inline __attribute__((target("sha,sse4.1,ssse3"), always_inline))

static const uint32_t ni_constant[64] __attribute__((aligned(16))) = {SHA256_ROUND_CONSTANTS};

/* A hash value in the instructions' order, the first word in the highest place: a b e f,
 * c d g h. */
struct ni_state {
  __m128i abef, cdgh;
};

/* A block, later the last 16 words of its schedule: four words each, the first in the lowest
 * place. */
struct ni_words {
  __m128i four[4];
};

static SHA_NI_INLINE __m128i words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  return _mm_set_epi32((int)d, (int)c, (int)b, (int)a);
}

static SHA_NI_INLINE void four_rounds(struct ni_state *v, __m128i words_and_constants)
{
  v->cdgh = _mm_sha256rnds2_epu32(v->cdgh, v->abef, words_and_constants);
  v->abef = _mm_sha256rnds2_epu32(v->abef, v->cdgh, _mm_shuffle_epi32(words_and_constants, 0x0e));
}

/* FIPS 180-4, 6.2.2, step 1: words 4 i to 4 i + 3 replace the words 16 places before. */
static SHA_NI_INLINE void schedule(struct ni_words *m, unsigned i)
{
  __m128i *now = &m->four[i % 4];
  __m128i back_12 = m->four[(i + 1) % 4], back_8 = m->four[(i + 2) % 4],
          back_4 = m->four[(i + 3) % 4];
  __m128i back_7 = _mm_alignr_epi8(back_4, back_8, 4);
  *now = _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(*now, back_12), back_7), back_4);
}

/* Compress one block into each of two hash values. */
static SHA_NI_INLINE void compress_pair(struct ni_state *a, struct ni_words m, struct ni_state *b,
                                        struct ni_words n)
{
  struct ni_state v = *a, w = *b;
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; i++) {
    __m128i constants = _mm_load_si128((const __m128i *)(const void *)&ni_constant[4 * i]);
    if (i >= 4) {
      schedule(&m, i);
      schedule(&n, i);
    }
    four_rounds(&v, _mm_add_epi32(m.four[i % 4], constants));
    four_rounds(&w, _mm_add_epi32(n.four[i % 4], constants));
  }
  *a = (struct ni_state){_mm_add_epi32(a->abef, v.abef), _mm_add_epi32(a->cdgh, v.cdgh)};
  *b = (struct ni_state){_mm_add_epi32(b->abef, w.abef), _mm_add_epi32(b->cdgh, w.cdgh)};
}

/* Reverse the bytes of each word: SHA-256 is big-endian. */
static SHA_NI_INLINE __m128i swap(__m128i v)
{
  return _mm_shuffle_epi8(v, _mm_set_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203));
}

/* The first four words of a hash value, the first in the lowest place; below, the last four. */
static SHA_NI_INLINE __m128i first_four(struct ni_state v)
{
  return _mm_shuffle_epi32(_mm_unpackhi_epi64(v.abef, v.cdgh), 0xb1);
}

static SHA_NI_INLINE __m128i last_four(struct ni_state v)
{
  return _mm_shuffle_epi32(_mm_unpacklo_epi64(v.abef, v.cdgh), 0xb1);
}

/* The first block of one of HMAC's hashes; below, the second block of its outer hash. */
static SHA_NI_INLINE struct ni_words keyed_block(__m128i first, __m128i last, uint32_t pad)
{
  const __m128i pads = _mm_set1_epi32((int)pad);
  return (struct ni_words){{_mm_xor_si128(first, pads), _mm_xor_si128(last, pads), pads, pads}};
}

static SHA_NI_INLINE struct ni_words digest_block(struct ni_state v)
{
  return (struct ni_words){
    {first_four(v), last_four(v), words(0x80000000, 0, 0, 0), words(0, 0, 0, 768)}};
}

static SHA_NI_INLINE void put_state(struct pprf_wide_seed *seed, struct ni_state v)
{
  __m128i *to = (__m128i *)(void *)seed;
  _mm_storeu_si128(to, swap(first_four(v)));
  _mm_storeu_si128(to + 1, swap(last_four(v)));
}

SHA_NI struct pprf_wide_children opt_sha256_ni(struct pprf_wide_seed seed)
{
  const __m128i *from = (const __m128i *)(const void *)&seed;
  const __m128i first = swap(_mm_loadu_si128(from)), last = swap(_mm_loadu_si128(from + 1));
  const __m128i none = _mm_setzero_si128();
  struct pprf_wide_children c = {.err = 0};
  /* FIPS 180-4, 5.3.3 */
  struct ni_state inner = {words(0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667),
                           words(0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372)};
  struct ni_state outer = inner;
  compress_pair(&inner, keyed_block(first, last, 0x36363636), &outer,
                keyed_block(first, last, 0x5c5c5c5c));
  struct ni_state left = inner, right = inner;
  /* 00 20, 0c "MLS 1.0 tree", 04 "left" or 05 "right", 01, as in sha256.c */
  compress_pair(
    &left,
    (struct ni_words){{words(0x00200c4d, 0x4c532031, 0x2e302074, 0x72656504),
                       words(0x6c656674, 0x01800000, 0, 0), none, words(0, 0, 0, 680)}},
    &right,
    (struct ni_words){{words(0x00200c4d, 0x4c532031, 0x2e302074, 0x72656505),
                       words(0x72696768, 0x74018000, 0, 0), none, words(0, 0, 0, 688)}});
  struct ni_words m = digest_block(left), n = digest_block(right);
  left = right = outer;
  compress_pair(&left, m, &right, n);
  put_state(&c.left, left);
  put_state(&c.right, right);
  return c;
}

#endif

#if OPT_SHA256_ARM

#include <arm_neon.h>

#define SHA_ARM __attribute__((target(OPT_SHA256_ARM_TARGET)))
#define SHA_ARM_INLINE inline __attribute__((target(OPT_SHA256_ARM_TARGET), always_inline))

static const uint32_t arm_constant[64] = {SHA256_ROUND_CONSTANTS};

/* A hash value, the first word in the lowest place. */
struct arm_state {
  uint32x4_t abcd, efgh;
};

/* A block, and then the last 16 words of its schedule. */
struct arm_words {
  uint32x4_t four[4];
};

static SHA_ARM_INLINE uint32x4_t words(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  return vcombine_u32(vcreate_u32(a | (uint64_t)b << 32), vcreate_u32(c | (uint64_t)d << 32));
}

/* Compress one block into each of two hash values. */
static SHA_ARM_INLINE void compress_pair(struct arm_state *a, struct arm_words m,
                                         struct arm_state *b, struct arm_words n)
{
  struct arm_state v = *a, w = *b;
#pragma GCC unroll 16
  for (unsigned i = 0; i < 16; i++) {
    unsigned now = i % 4, back_12 = (i + 1) % 4, back_8 = (i + 2) % 4, back_4 = (i + 3) % 4;
    uint32x4_t constants = vld1q_u32(&arm_constant[4 * i]);
    if (i >= 4) {
      m.four[now] = vsha256su1q_u32(vsha256su0q_u32(m.four[now], m.four[back_12]), m.four[back_8],
                                    m.four[back_4]);
      n.four[now] = vsha256su1q_u32(vsha256su0q_u32(n.four[now], n.four[back_12]), n.four[back_8],
                                    n.four[back_4]);
    }
    uint32x4_t abcd = v.abcd, sum = vaddq_u32(m.four[now], constants);
    v.abcd = vsha256hq_u32(v.abcd, v.efgh, sum);
    v.efgh = vsha256h2q_u32(v.efgh, abcd, sum);
    abcd = w.abcd;
    sum = vaddq_u32(n.four[now], constants);
    w.abcd = vsha256hq_u32(w.abcd, w.efgh, sum);
    w.efgh = vsha256h2q_u32(w.efgh, abcd, sum);
  }
  *a = (struct arm_state){vaddq_u32(a->abcd, v.abcd), vaddq_u32(a->efgh, v.efgh)};
  *b = (struct arm_state){vaddq_u32(b->abcd, w.abcd), vaddq_u32(b->efgh, w.efgh)};
}

/* Convert two words of a seed to words of a hash value, and back. */
static SHA_ARM_INLINE uint32x4_t load_words(uint64_t lo, uint64_t hi)
{
  return vreinterpretq_u32_u8(
    vrev32q_u8(vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(lo), vcreate_u64(hi)))));
}

static SHA_ARM_INLINE struct pprf_wide_seed seed_of_state(struct arm_state v)
{
  uint64x2_t first = vreinterpretq_u64_u8(vrev32q_u8(vreinterpretq_u8_u32(v.abcd)));
  uint64x2_t last = vreinterpretq_u64_u8(vrev32q_u8(vreinterpretq_u8_u32(v.efgh)));
  return (struct pprf_wide_seed){vgetq_lane_u64(first, 0), vgetq_lane_u64(first, 1),
                                 vgetq_lane_u64(last, 0), vgetq_lane_u64(last, 1)};
}

/* The first block of one of HMAC's hashes; the second of its second hash. */
static SHA_ARM_INLINE struct arm_words keyed_block(uint32x4_t first, uint32x4_t last, uint32_t pad)
{
  const uint32x4_t pads = vdupq_n_u32(pad);
  return (struct arm_words){{veorq_u32(first, pads), veorq_u32(last, pads), pads, pads}};
}

static SHA_ARM_INLINE struct arm_words digest_block(struct arm_state v)
{
  return (struct arm_words){{v.abcd, v.efgh, words(0x80000000, 0, 0, 0), words(0, 0, 0, 768)}};
}

SHA_ARM struct pprf_wide_children opt_sha256_armv8(struct pprf_wide_seed seed)
{
  const uint32x4_t none = vdupq_n_u32(0);
  const uint32x4_t first = load_words(seed.lo, seed.hi), last = load_words(seed.third, seed.fourth);
  /* FIPS 180-4, 5.3.3 */
  struct arm_state inner = {words(0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a),
                            words(0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19)};
  struct arm_state outer = inner;
  compress_pair(&inner, keyed_block(first, last, 0x36363636), &outer,
                keyed_block(first, last, 0x5c5c5c5c));
  struct arm_state left = inner, right = inner;
  /* 00 20, 0c "MLS 1.0 tree", 04 "left" or 05 "right", 01, as in sha256.c */
  compress_pair(
    &left,
    (struct arm_words){{words(0x00200c4d, 0x4c532031, 0x2e302074, 0x72656504),
                        words(0x6c656674, 0x01800000, 0, 0), none, words(0, 0, 0, 680)}},
    &right,
    (struct arm_words){{words(0x00200c4d, 0x4c532031, 0x2e302074, 0x72656505),
                        words(0x72696768, 0x74018000, 0, 0), none, words(0, 0, 0, 688)}});
  struct arm_words m = digest_block(left), n = digest_block(right);
  left = right = outer;
  compress_pair(&left, m, &right, n);
  return (struct pprf_wide_children){seed_of_state(left), seed_of_state(right), 0};
}

#endif

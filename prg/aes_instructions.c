/* SPDX-License-Identifier: Apache-2.0 */
/* AES-128 of two blocks by the processor's AES instructions (x86, ARMv8), with the key schedule
 * beside the rounds as in aes.c. */
#include "aes.h"

#if OPT_AES_X86 || OPT_AES_ARM
static const uint8_t rcons[10] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36};
#endif

#if OPT_AES_X86

#include <immintrin.h>

#define AES_NI __attribute__((target("aes,ssse3")))
#define AES_NI_INLINE inline __attribute__((target("aes,ssse3"), always_inline))

static AES_NI_INLINE __m128i load_block(const struct pprf_seed *seed)
{
  return _mm_loadu_si128((const __m128i *)(const void *)seed);
}

static AES_NI_INLINE void store_block(struct pprf_seed *seed, __m128i v)
{
  _mm_storeu_si128((__m128i *)(void *)seed, v);
}

/* The bytes of column `from`, rotated by `turn`, in each column of the four-bit set `columns`;
 * zero in the other columns. */
static AES_NI_INLINE __m128i turned(__m128i v, unsigned columns, unsigned from, unsigned turn)
{
  int zero = (int)0x80808080u, bytes = 0;
  for (unsigned j = 0; j < 4; j++)
    bytes |= (int)(4 * from + (j + turn) % 4) << 8 * j;
  return _mm_shuffle_epi8(v, _mm_set_epi32(columns & 8 ? bytes : zero, columns & 4 ? bytes : zero,
                                           columns & 2 ? bytes : zero, columns & 1 ? bytes : zero));
}
#define ALL_COLUMNS 15
#define SUM _mm_xor_si128

/* Encrypt two blocks under one key with the shortest dependency chain: one instruction of the key
 * schedule per round depends on the round before.  Sums are XORs.  Let B(r) be the last word of
 * round key r, w[4r + 3] in FIPS 197, 5.2, and
 *   B(-3) = w[0] + w[1] + w[2] + w[3],  B(-2) = w[1] + w[3],  B(-1) = w[2] + w[3].
 * Then, by 5.2, for r > 0
 *   B(r) = SubWord(RotWord(B(r - 1))) + Rcon(r) + B(r - 4),
 *   round key r = B(r) in all columns + B(r - 1) in 0 and 2 + B(r - 2) in 0 and 1 + B(r - 3) in 0.
 * v[r mod 4] is B(r) in all columns, rotated back by r bytes, which cancels RotWord.  Since the
 * columns are equal, ShiftRows changes nothing: the last round's instruction computes SubWord and
 * the sum. */
static AES_NI_INLINE void encrypt_pair(__m128i key, __m128i *a, __m128i *b)
{
  __m128i v[4];
  v[0] = turned(key, ALL_COLUMNS, 3, 0);
  v[1] = SUM(SUM(turned(key, ALL_COLUMNS, 0, 3), turned(key, ALL_COLUMNS, 1, 3)),
             SUM(turned(key, ALL_COLUMNS, 2, 3), turned(key, ALL_COLUMNS, 3, 3)));
  v[2] = SUM(turned(key, ALL_COLUMNS, 1, 2), turned(key, ALL_COLUMNS, 3, 2));
  v[3] = SUM(turned(key, ALL_COLUMNS, 2, 1), turned(key, ALL_COLUMNS, 3, 1));
  *a = SUM(*a, key);
  *b = SUM(*b, key);
#pragma GCC unroll 10
  for (unsigned r = 1; r <= 10; r++) {
    unsigned now = r % 4, before_1 = (r + 3) % 4, before_2 = (r + 2) % 4, before_3 = (r + 1) % 4;
    __m128i rcon = _mm_set1_epi32((int)((uint32_t)rcons[r - 1] << 8 * now));
    if (r == 1) /* B(-3) is ready late: add it last */
      v[now] = SUM(_mm_aesenclast_si128(v[before_1], rcon), v[now]);
    else
      v[now] = _mm_aesenclast_si128(v[before_1], SUM(v[now], rcon));
    key = SUM(turned(v[now], ALL_COLUMNS, 0, now),
              SUM(turned(v[before_1], 5, 0, before_1),
                  SUM(turned(v[before_2], 3, 0, before_2), turned(v[before_3], 1, 0, before_3))));
    if (r < 10) {
      *a = _mm_aesenc_si128(*a, key);
      *b = _mm_aesenc_si128(*b, key);
    }
  }
  *a = _mm_aesenclast_si128(*a, key);
  *b = _mm_aesenclast_si128(*b, key);
}

AES_NI struct pprf_children opt_aes_ni(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi,
                                       uint64_t id)
{
  __m128i key = _mm_set_epi64x((long long)seed.hi, (long long)seed.lo);
  __m128i a = _mm_set_epi64x((long long)salt_hi, (long long)(salt_lo ^ id));
  __m128i b = _mm_xor_si128(a, _mm_set_epi64x(1, 0));
  struct pprf_children c = {.err = 0};
  encrypt_pair(key, &a, &b);
  store_block(&c.left, a);
  store_block(&c.right, b);
  return c;
}

/* One block is the child on the path, the other its sibling, so no selection by the leaf's bit
 * follows the rounds. */
AES_NI struct pprf_seed opt_aes_ni_descend(struct pprf_seed seed, uint64_t salt_lo,
                                           uint64_t salt_hi, uint64_t leaf, unsigned height,
                                           struct pprf_seed *copath)
{
  __m128i own = _mm_set_epi64x((long long)seed.hi, (long long)seed.lo);
  const __m128i salt = _mm_set_epi64x((long long)salt_hi, (long long)salt_lo);
  const __m128i other_side = _mm_set_epi64x(1, 0);
  for (unsigned h = height; h > 0; h--) {
    uint64_t id = 2 * (leaf >> h << h) + (UINT64_C(1) << h), side = leaf >> (h - 1) & 1;
    __m128i key = own;
    own = _mm_xor_si128(salt, _mm_set_epi64x((long long)side, (long long)id));
    __m128i other = _mm_xor_si128(own, other_side);
    encrypt_pair(key, &own, &other);
    if (copath != NULL)
      store_block(&copath[h - 1], other);
  }
  store_block(&seed, own);
  return seed;
}

/* FIPS 197, 5.2: word i of a round key is the sum of words 0 .. i of the old key and of one
 * word, SubWord, RotWord and Rcon, which is added to all. */
static AES_NI_INLINE __m128i sums(__m128i key)
{
  key = _mm_xor_si128(key, _mm_slli_si128(key, 4));
  return _mm_xor_si128(key, _mm_slli_si128(key, 8));
}

/* aeskeygenassist takes its constant as an immediate operand. */
#define NEXT_KEY(key, rcon) \
  key = _mm_xor_si128(sums(key), _mm_shuffle_epi32(_mm_aeskeygenassist_si128(key, rcon), 0xff))

#define AES_ROUND(key, a, b, rcon) \
  NEXT_KEY(key, rcon);             \
  a = _mm_aesenc_si128(a, key);    \
  b = _mm_aesenc_si128(b, key)

/* Four keys at once: four independent dependency chains hide the latency, so the fewest
 * instructions are fastest, which is FIPS 197's own key schedule. */
#define AES_ROUND_4(rcon)                \
  for (unsigned i = 0; i < 4; i++) {     \
    AES_ROUND(key[i], a[i], b[i], rcon); \
  }

AES_NI void opt_aes_ni_x4(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)
{
  const __m128i other_side = _mm_set_epi64x(1, 0);
  __m128i key[4], a[4], b[4];
  for (unsigned i = 0; i < 4; i++) {
    key[i] = load_block(step[i].seed);
    a[i] = _mm_xor_si128(
      key[i], _mm_set_epi64x((long long)salt_hi, (long long)(salt_lo ^ opt_step_id(&step[i]))));
    b[i] = _mm_xor_si128(a[i], other_side);
  }
  AES_ROUND_4(0x01)
  AES_ROUND_4(0x02)
  AES_ROUND_4(0x04)
  AES_ROUND_4(0x08)
  AES_ROUND_4(0x10)
  AES_ROUND_4(0x20)
  AES_ROUND_4(0x40)
  AES_ROUND_4(0x80)
  AES_ROUND_4(0x1b)
  for (unsigned i = 0; i < 4; i++) {
    NEXT_KEY(key[i], 0x36);
    store_block(step[i].left, _mm_aesenclast_si128(a[i], key[i]));
    store_block(step[i].right, _mm_aesenclast_si128(b[i], key[i]));
  }
}

/* ---- four blocks in one register ---- */

#define VAES __attribute__((target("aes,vaes,avx512f,avx512bw,avx512vl")))
#define VAES_INLINE \
  inline __attribute__((target("aes,vaes,avx512f,avx512bw,avx512vl"), always_inline))

static VAES_INLINE __m512i load_keys_4(const struct opt_step *s)
{
  __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(const void *)s[0].seed));
  v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)s[1].seed), 1);
  v = _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)s[2].seed), 2);
  return _mm512_inserti32x4(v, _mm_loadu_si128((const __m128i *)(const void *)s[3].seed), 3);
}

/* The left children's blocks. */
static VAES_INLINE __m512i blocks_4(const struct opt_step *s, uint64_t salt_lo, uint64_t salt_hi)
{
  return _mm512_xor_si512(
    _mm512_set_epi64(0, (long long)opt_step_id(&s[3]), 0, (long long)opt_step_id(&s[2]), 0,
                     (long long)opt_step_id(&s[1]), 0, (long long)opt_step_id(&s[0])),
    _mm512_set4_epi64((long long)salt_hi, (long long)salt_lo, (long long)salt_hi,
                      (long long)salt_lo));
}

#define STORE_BLOCKS_4(s, side, v)                                                   \
  _mm_storeu_si128((__m128i *)(void *)(s)[0].side, _mm512_castsi512_si128(v));       \
  _mm_storeu_si128((__m128i *)(void *)(s)[1].side, _mm512_extracti32x4_epi32(v, 1)); \
  _mm_storeu_si128((__m128i *)(void *)(s)[2].side, _mm512_extracti32x4_epi32(v, 2)); \
  _mm_storeu_si128((__m128i *)(void *)(s)[3].side, _mm512_extracti32x4_epi32(v, 3))

/* The rotated last word is in all columns, so ShiftRows changes nothing: the last round's
 * instruction computes SubWord and adds Rcon. */
static VAES_INLINE __m512i next_key_4(__m512i key, int rcon)
{
  const __m512i rotated_last = _mm512_set1_epi32(0x0c0f0e0d);
  __m512i word =
    _mm512_aesenclast_epi128(_mm512_shuffle_epi8(key, rotated_last), _mm512_set1_epi32(rcon));
  __m512i two = _mm512_xor_si512(key, _mm512_bslli_epi128(key, 4));
  return _mm512_ternarylogic_epi64(two, _mm512_bslli_epi128(two, 8), word, 0x96);
}

VAES void opt_aes_vaes_x4(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)
{
  __m512i key = load_keys_4(step), a = _mm512_xor_si512(blocks_4(step, salt_lo, salt_hi), key);
  __m512i b = _mm512_xor_si512(a, _mm512_set4_epi64(1, 0, 1, 0));
  for (unsigned i = 0; i < 9; i++) {
    key = next_key_4(key, rcons[i]);
    a = _mm512_aesenc_epi128(a, key);
    b = _mm512_aesenc_epi128(b, key);
  }
  key = next_key_4(key, rcons[9]);
  a = _mm512_aesenclast_epi128(a, key);
  b = _mm512_aesenclast_epi128(b, key);
  STORE_BLOCKS_4(step, left, a);
  STORE_BLOCKS_4(step, right, b);
}

VAES void opt_aes_vaes_x8(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)
{
  const __m512i other_side = _mm512_set4_epi64(1, 0, 1, 0);
  __m512i k0 = load_keys_4(step), k1 = load_keys_4(step + 4);
  __m512i a0 = _mm512_xor_si512(blocks_4(step, salt_lo, salt_hi), k0);
  __m512i a1 = _mm512_xor_si512(blocks_4(step + 4, salt_lo, salt_hi), k1);
  __m512i b0 = _mm512_xor_si512(a0, other_side), b1 = _mm512_xor_si512(a1, other_side);
  for (unsigned i = 0; i < 9; i++) {
    k0 = next_key_4(k0, rcons[i]);
    k1 = next_key_4(k1, rcons[i]);
    a0 = _mm512_aesenc_epi128(a0, k0);
    b0 = _mm512_aesenc_epi128(b0, k0);
    a1 = _mm512_aesenc_epi128(a1, k1);
    b1 = _mm512_aesenc_epi128(b1, k1);
  }
  k0 = next_key_4(k0, rcons[9]);
  k1 = next_key_4(k1, rcons[9]);
  a0 = _mm512_aesenclast_epi128(a0, k0);
  b0 = _mm512_aesenclast_epi128(b0, k0);
  a1 = _mm512_aesenclast_epi128(a1, k1);
  b1 = _mm512_aesenclast_epi128(b1, k1);
  STORE_BLOCKS_4(step, left, a0);
  STORE_BLOCKS_4(step, right, b0);
  STORE_BLOCKS_4(step + 4, left, a1);
  STORE_BLOCKS_4(step + 4, right, b1);
}

#endif

#if OPT_AES_ARM

#include <arm_neon.h>

#define AES_ARM __attribute__((target(OPT_AES_ARM_TARGET)))
#define AES_ARM_INLINE inline __attribute__((target(OPT_AES_ARM_TARGET), always_inline))

static AES_ARM_INLINE uint8x16_t block(uint64_t lo, uint64_t hi)
{
  return vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(lo), vcreate_u64(hi)));
}

static AES_ARM_INLINE uint8x16_t load_block(const struct pprf_seed *seed)
{
  return block(seed->lo, seed->hi);
}

static AES_ARM_INLINE void store_block(struct pprf_seed *seed, uint8x16_t v)
{
  uint64x2_t words = vreinterpretq_u64_u8(v);
  *seed = (struct pprf_seed){vgetq_lane_u64(words, 0), vgetq_lane_u64(words, 1)};
}

/* FIPS 197, 5.2.  aese adds a round key, here zero, and then does SubBytes and ShiftRows; the
 * rotated last word is in all columns, so ShiftRows changes nothing. */
static AES_ARM_INLINE uint8x16_t next_round_key(uint8x16_t key, unsigned rcon)
{
  const uint8x16_t none = vdupq_n_u8(0);
  const uint8x16_t rotated_last = vreinterpretq_u8_u32(vdupq_n_u32(0x0c0f0e0d));
  uint8x16_t word = vaeseq_u8(vqtbl1q_u8(key, rotated_last), none);
  key = veorq_u8(key, vextq_u8(none, key, 12));
  key = veorq_u8(key, vextq_u8(none, key, 8));
  return veorq_u8(key, veorq_u8(word, vreinterpretq_u8_u32(vdupq_n_u32(rcon))));
}

/* n pairs of blocks, each pair under its own key; the pairs are independent.  aese begins a
 * round by adding the previous round's key, so the last key is added separately. */
static AES_ARM_INLINE void encrypt_pairs(unsigned n, uint8x16_t *key, uint8x16_t *a, uint8x16_t *b)
{
  for (unsigned round = 0; round < 9; round++)
#pragma GCC unroll 4
    for (unsigned i = 0; i < n; i++) {
      a[i] = vaesmcq_u8(vaeseq_u8(a[i], key[i]));
      b[i] = vaesmcq_u8(vaeseq_u8(b[i], key[i]));
      key[i] = next_round_key(key[i], rcons[round]);
    }
  for (unsigned i = 0; i < n; i++) {
    uint8x16_t last = next_round_key(key[i], rcons[9]);
    a[i] = veorq_u8(vaeseq_u8(a[i], key[i]), last);
    b[i] = veorq_u8(vaeseq_u8(b[i], key[i]), last);
  }
}

AES_ARM struct pprf_children opt_aes_armv8(struct pprf_seed seed, uint64_t salt_lo,
                                           uint64_t salt_hi, uint64_t id)
{
  uint8x16_t key = load_block(&seed), a = block(salt_lo ^ id, salt_hi);
  uint8x16_t b = veorq_u8(a, block(0, 1));
  struct pprf_children c = {.err = 0};
  encrypt_pairs(1, &key, &a, &b);
  store_block(&c.left, a);
  store_block(&c.right, b);
  return c;
}

AES_ARM struct pprf_seed opt_aes_armv8_descend(struct pprf_seed seed, uint64_t salt_lo,
                                               uint64_t salt_hi, uint64_t leaf, unsigned height,
                                               struct pprf_seed *copath)
{
  uint8x16_t own = load_block(&seed);
  const uint8x16_t salt = block(salt_lo, salt_hi), other_side = block(0, 1);
  for (unsigned h = height; h > 0; h--) {
    uint64_t id = 2 * (leaf >> h << h) + (UINT64_C(1) << h), side = leaf >> (h - 1) & 1;
    uint8x16_t key = own, other;
    own = veorq_u8(salt, block(id, side));
    other = veorq_u8(own, other_side);
    encrypt_pairs(1, &key, &own, &other);
    if (copath != NULL)
      store_block(&copath[h - 1], other);
  }
  store_block(&seed, own);
  return seed;
}

AES_ARM void opt_aes_armv8_x4(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)
{
  const uint8x16_t other_side = block(0, 1);
  uint8x16_t key[4], a[4], b[4];
  for (unsigned i = 0; i < 4; i++) {
    key[i] = load_block(step[i].seed);
    a[i] = block(salt_lo ^ opt_step_id(&step[i]), salt_hi);
    b[i] = veorq_u8(a[i], other_side);
  }
  encrypt_pairs(4, key, a, b);
  for (unsigned i = 0; i < 4; i++) {
    store_block(step[i].left, a[i]);
    store_block(step[i].right, b[i]);
  }
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 (FIPS 180-4) as HMAC and HKDF-Expand need it for RFC 9420's labels: six blocks, of
 * which the key's two serve both children.  Portable and free of #if: what is translated to Coq
 * is what every compiler sees. */
#include "sha256.h"

/* The hash value, or the working variables: FIPS 180-4, 6.2. */
struct sha256_state {
  uint32_t a, b, c, d, e, f, g, h;
};

/* A block of the message; as the schedule proceeds, its last 16 words. */
struct sha256_words {
  uint32_t word[16];
};

/* FIPS 180-4, 4.2.2 */
static const uint32_t round_constant[64] = {SHA256_ROUND_CONSTANTS};

/* FIPS 180-4, 4.1.2 */
#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define BIG_SIGMA_0(x) (ROTR(x, 2) ^ ROTR(x, 13) ^ ROTR(x, 22))
#define BIG_SIGMA_1(x) (ROTR(x, 6) ^ ROTR(x, 11) ^ ROTR(x, 25))
#define SMALL_SIGMA_0(x) (ROTR(x, 7) ^ ROTR(x, 18) ^ (x) >> 3)
#define SMALL_SIGMA_1(x) (ROTR(x, 17) ^ ROTR(x, 19) ^ (x) >> 10)

/* FIPS 180-4, 6.2.2, for one block: the next hash value.  Word t of the schedule replaces
 * word t - 16. */
static inline struct sha256_state compress(struct sha256_state hash, struct sha256_words m)
{
  struct sha256_state v = hash;
  for (unsigned t = 0; t < 64; t++) {
    if (t >= 16) {
      uint32_t back_15 = m.word[(t + 1) & 15], back_7 = m.word[(t + 9) & 15];
      uint32_t back_2 = m.word[(t + 14) & 15];
      m.word[t & 15] += SMALL_SIGMA_1(back_2) + back_7 + SMALL_SIGMA_0(back_15);
    }
    uint32_t t1 = v.h + BIG_SIGMA_1(v.e) + CH(v.e, v.f, v.g) + round_constant[t] + m.word[t & 15];
    uint32_t t2 = BIG_SIGMA_0(v.a) + MAJ(v.a, v.b, v.c);
    v.h = v.g;
    v.g = v.f;
    v.f = v.e;
    v.e = v.d + t1;
    v.d = v.c;
    v.c = v.b;
    v.b = v.a;
    v.a = t1 + t2;
  }
  return (struct sha256_state){hash.a + v.a, hash.b + v.b, hash.c + v.c, hash.d + v.d,
                               hash.e + v.e, hash.f + v.f, hash.g + v.g, hash.h + v.h};
}

/* The hash value after the first block of one of HMAC's hashes: the key XOR a repeated byte
 * (RFC 2104), from the initial hash value of FIPS 180-4, 5.3.3. */
static inline struct sha256_state keyed(struct sha256_words key, uint32_t pad)
{
  struct sha256_state initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  for (unsigned i = 0; i < 16; i++)
    key.word[i] ^= pad;
  return compress(initial, key);
}

/* The second block of both of HMAC's hashes.  The message has less than 56 bytes, so it fits one
 * block with its padding and length; a hash value of 32 bytes after a block of 64 makes 768
 * bits. */
static inline struct sha256_state hmac(struct sha256_state inner, struct sha256_state outer,
                                       struct sha256_words message)
{
  struct sha256_state v = compress(inner, message);
  struct sha256_words digest = {
    {v.a, v.b, v.c, v.d, v.e, v.f, v.g, v.h, 0x80000000, 0, 0, 0, 0, 0, 0, 768}};
  return compress(outer, digest);
}

/* Reverse the bytes of both words: SHA-256 is big-endian, a seed little-endian. */
#define SWAP(x) ((ROTR(x, 8) & 0xff00ff00) | (ROTR(x, 24) & 0x00ff00ff))

static inline uint32_t first_word(uint64_t v)
{
  uint32_t word = (uint32_t)v;
  return SWAP(word);
}

static inline uint32_t second_word(uint64_t v)
{
  uint32_t word = (uint32_t)(v >> 32);
  return SWAP(word);
}

static inline uint64_t two_words(uint32_t first, uint32_t second)
{
  return (uint64_t)SWAP(first) | (uint64_t)SWAP(second) << 32;
}

static inline struct pprf_wide_seed seed_of(struct sha256_state v)
{
  return (struct pprf_wide_seed){two_words(v.a, v.b), two_words(v.c, v.d), two_words(v.e, v.f),
                                 two_words(v.g, v.h)};
}

struct pprf_wide_children opt_sha256_scalar(struct pprf_wide_seed seed)
{
  struct sha256_words key = {{first_word(seed.lo), second_word(seed.lo), first_word(seed.hi),
                              second_word(seed.hi), first_word(seed.third), second_word(seed.third),
                              first_word(seed.fourth), second_word(seed.fourth)}};
  /* 00 20, 0c "MLS 1.0 tree", 04 "left", 01: 21 bytes, after a block of 64 */
  struct sha256_words left = {{0x00200c4d, 0x4c532031, 0x2e302074, 0x72656504, 0x6c656674,
                               0x01800000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 680}};
  /* 00 20, 0c "MLS 1.0 tree", 05 "right", 01: 22 bytes */
  struct sha256_words right = {{0x00200c4d, 0x4c532031, 0x2e302074, 0x72656505, 0x72696768,
                                0x74018000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 688}};
  struct sha256_state inner = keyed(key, 0x36363636);
  struct sha256_state outer = keyed(key, 0x5c5c5c5c);
  return (struct pprf_wide_children){seed_of(hmac(inner, outer, left)),
                                     seed_of(hmac(inner, outer, right)), 0};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of prg.h and wide.h without a library: SHA3-256 written as in FIPS 202, AES-128
 * as in FIPS 197, SHA-256 as in FIPS 180-4, and the system's random generator. It shares no code
 * with keccak.c, aes.c and sha256.c, so comparing them at the first use compares two
 * implementations; before that it must reproduce the standards' own examples. */
#include "prg.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "pprf.h"
#include "wide.h"

#define LANES 25
#define RATE_BYTES 136 /* of SHA3-256 */
#define RATE_LANES (RATE_BYTES / 8)

static _Thread_local
  __attribute__((tls_model("initial-exec"))) uint64_t builtin_calls; /* as in choice.c */

static uint64_t rotate(uint64_t v, unsigned n)
{
  return n == 0 ? v : v << n | v >> (64 - n);
}

/* FIPS 202, 3.2.5, algorithm 5: the bits of a linear feedback shift register, one for each round
 * and each j. */
static unsigned next_rc_bit(unsigned *r)
{
  unsigned bit = *r & 1;
  *r = *r << 1 ^ (*r >> 7) * 0x171;
  return bit;
}

/* Keccak-f[1600] of the state a; lane (x, y) is a[x + 5 * y]. */
static void permute(uint64_t a[LANES])
{
  uint64_t b[LANES], c[5];
  unsigned r = 1;
  for (unsigned round = 0; round < 24; round++) {
    for (unsigned x = 0; x < 5; x++) /* theta */
      c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (unsigned i = 0; i < LANES; i++)
      a[i] ^= c[(i + 4) % 5] ^ rotate(c[(i + 1) % 5], 1);
    b[0] = a[0];
    for (unsigned t = 0, x = 1, y = 0; t < 24; t++) { /* rho, and pi: (x, y) goes to (y, 2x + 3y) */
      unsigned to_y = (2 * x + 3 * y) % 5;
      b[y + 5 * to_y] = rotate(a[x + 5 * y], (t + 1) * (t + 2) / 2 % 64);
      x = y;
      y = to_y;
    }
    for (unsigned i = 0; i < LANES; i++) { /* chi */
      unsigned row = i / 5 * 5;
      a[i] = b[i] ^ (~b[row + (i + 1) % 5] & b[row + (i + 2) % 5]);
    }
    for (unsigned j = 0; j <= 6; j++) /* iota */
      a[0] ^= (uint64_t)next_rc_bit(&r) << ((1u << j) - 1);
  }
  explicit_bzero(b, sizeof b);
  explicit_bzero(c, sizeof c);
}

/* SHA3-256 of len bytes. */
static void sponge(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  uint64_t a[LANES] = {0};
  size_t at = 0; /* position in the block */
  for (size_t i = 0; i < len; i++) {
    a[at / 8] ^= (uint64_t)bytes[i] << 8 * (at % 8);
    if (++at == RATE_BYTES) {
      permute(a);
      at = 0;
    }
  }
  a[at / 8] ^= UINT64_C(0x06) << 8 * (at % 8);
  a[RATE_LANES - 1] ^= UINT64_C(0x80) << 56;
  permute(a);
  for (unsigned i = 0; i < DIGEST_BYTES; i++)
    out[i] = (uint8_t)(a[i / 8] >> 8 * (i % 8));
  explicit_bzero(a, sizeof a);
}

/* The product of a and b in GF(256), FIPS 197, 4.2; no branch depends on them. */
static uint8_t multiply(uint8_t a, uint8_t b)
{
  unsigned product = 0, power = a;
  for (unsigned i = 0; i < 8; i++) {
    product ^= power & -(unsigned)(b >> i & 1);
    power = power << 1 ^ (0x11b & -(power >> 7 & 1));
  }
  return (uint8_t)product;
}

/* FIPS 197, 5.1.1: the inverse, as the 254th power, and the affine map. */
static uint8_t s_box(uint8_t a)
{
  uint8_t power = a, inverse = 1;
  for (unsigned i = 1; i < 8; i++) {
    power = multiply(power, power);
    inverse = multiply(inverse, power);
  }
  unsigned twice = inverse * 0x101u;
  return (uint8_t)(inverse ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7 ^ 0x63);
}

/* FIPS 197, 5.2, one round: replaces a round key by the next one. */
static void advance_round_key(uint8_t key[16], uint8_t rcon)
{
  for (unsigned i = 0; i < 4; i++)
    key[i] ^= s_box(key[12 + (i + 1) % 4]);
  key[0] ^= rcon;
  for (unsigned i = 4; i < 16; i++)
    key[i] ^= key[i - 4];
}

/* FIPS 197, 5.1: AES-128 of a block in place.  Byte row + 4 * column is s[row, column]. */
static void aes_encrypt(const uint8_t cipher_key[16], uint8_t s[16])
{
  uint8_t key[16], t[16], rcon = 1;
  memcpy(key, cipher_key, sizeof key);
  for (unsigned i = 0; i < 16; i++)
    s[i] ^= key[i];
  for (unsigned round = 1; round <= 10; round++) {
    for (unsigned i = 0; i < 16; i++) /* SubBytes, ShiftRows */
      t[i] = s_box(s[(i + 4 * (i % 4)) % 16]);
    for (unsigned i = 0; i < 16; i++) { /* MixColumns */
      const uint8_t *column = t + i / 4 * 4;
      s[i] = round == 10 ? t[i]
                         : multiply(2, column[i % 4]) ^ multiply(3, column[(i + 1) % 4]) ^
                             column[(i + 2) % 4] ^ column[(i + 3) % 4];
    }
    advance_round_key(key, rcon);
    rcon = multiply(2, rcon);
    for (unsigned i = 0; i < 16; i++)
      s[i] ^= key[i];
  }
  explicit_bzero(key, sizeof key);
  explicit_bzero(t, sizeof t);
}

/* FIPS 197, appendix B. */
static const uint8_t example_key[16] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6,
                                        0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
static const uint8_t example_input[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d,
                                          0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
static const uint8_t example_output[16] = {0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb,
                                           0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b, 0x32};

/* FIPS 180-4, 4.2.2 and 5.3.3. */
static const uint32_t sha256_constant[64] = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
static const uint32_t sha256_initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                           0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static uint32_t rotate_right(uint32_t v, unsigned n)
{
  return v >> n | v << (32 - n);
}

/* FIPS 180-4, 6.2.2: hash the block at p into the hash value. */
static void sha256_block(uint32_t hash[8], const uint8_t *p)
{
  uint32_t w[64], v[8];
  for (unsigned t = 0; t < 16; t++)
    w[t] = (uint32_t)p[4 * t] << 24 | (uint32_t)p[4 * t + 1] << 16 | (uint32_t)p[4 * t + 2] << 8 |
           p[4 * t + 3];
  for (unsigned t = 16; t < 64; t++) {
    uint32_t a = w[t - 15], b = w[t - 2];
    w[t] = (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10) + w[t - 7] +
           (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[t - 16];
  }
  memcpy(v, hash, sizeof v); /* a .. h */
  for (unsigned t = 0; t < 64; t++) {
    uint32_t t1 = v[7] + (rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25)) +
                  ((v[4] & v[5]) ^ (~v[4] & v[6])) + sha256_constant[t] + w[t];
    uint32_t t2 = (rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22)) +
                  ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    memmove(v + 1, v, 7 * sizeof *v);
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (unsigned i = 0; i < 8; i++)
    hash[i] += v[i];
  explicit_bzero(w, sizeof w);
  explicit_bzero(v, sizeof v);
}

#define SHA256_BLOCK 64 /* bytes */

/* SHA-256 of len bytes. */
static void sha256(const uint8_t *bytes, size_t len, uint8_t out[32])
{
  uint8_t last[2 * SHA256_BLOCK] = {0};
  uint32_t hash[8];
  size_t whole = len / SHA256_BLOCK * SHA256_BLOCK, rest = len - whole;
  size_t size = rest < SHA256_BLOCK - 8 ? SHA256_BLOCK : 2 * SHA256_BLOCK;
  memcpy(hash, sha256_initial, sizeof hash);
  if (rest > 0)
    memcpy(last, bytes + whole, rest);
  last[rest] = 0x80;
  for (unsigned i = 0; i < 8; i++)
    last[size - 1 - i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
  for (size_t at = 0; at < whole; at += SHA256_BLOCK)
    sha256_block(hash, bytes + at);
  for (size_t at = 0; at < size; at += SHA256_BLOCK)
    sha256_block(hash, last + at);
  for (unsigned i = 0; i < 32; i++)
    out[i] = (uint8_t)(hash[i / 4] >> (24 - 8 * (i % 4)));
  explicit_bzero(last, sizeof last);
  explicit_bzero(hash, sizeof hash);
}

/* HMAC (RFC 2104) with SHA-256; key and message are no longer than a block. */
static void hmac_sha256(const uint8_t *key, size_t key_len, const uint8_t *message, size_t len,
                        uint8_t out[32])
{
  uint8_t bytes[2 * SHA256_BLOCK] = {0};
  memcpy(bytes, key, key_len);
  for (unsigned i = 0; i < SHA256_BLOCK; i++)
    bytes[i] ^= 0x36;
  memcpy(bytes + SHA256_BLOCK, message, len);
  sha256(bytes, SHA256_BLOCK + len, out);
  for (unsigned i = 0; i < SHA256_BLOCK; i++)
    bytes[i] ^= 0x36 ^ 0x5c;
  memcpy(bytes + SHA256_BLOCK, out, 32);
  sha256(bytes, SHA256_BLOCK + 32, out);
  explicit_bzero(bytes, sizeof bytes);
}

/* NIST's two-block example for FIPS 180-4, and the first test case of RFC 4231. */
static const char sha256_input[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
static const uint8_t sha256_output[32] = {
  0x24, 0x8d, 0x6a, 0x61, 0xd2, 0x06, 0x38, 0xb8, 0xe5, 0xc0, 0x26, 0x93, 0x0c, 0x3e, 0x60, 0x39,
  0xa3, 0x3c, 0xe4, 0x59, 0x64, 0xff, 0x21, 0x67, 0xf6, 0xec, 0xed, 0xd4, 0x19, 0xdb, 0x06, 0xc1};
static const uint8_t hmac_output[32] = {
  0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53, 0x5c, 0xa8, 0xaf, 0xce, 0xaf, 0x0b, 0xf1, 0x2b,
  0x88, 0x1d, 0xc2, 0x00, 0xc9, 0x83, 0x3d, 0xa7, 0x26, 0xe9, 0x37, 0x6c, 0x2e, 0x32, 0xcf, 0xf7};

/* NIST's examples for FIPS 202: SHA3-256 of the empty message, and of 200 bytes a3, which are
 * two blocks. */
static const uint8_t example_of_nothing[DIGEST_BYTES] = {
  0xa7, 0xff, 0xc6, 0xf8, 0xbf, 0x1e, 0xd7, 0x66, 0x51, 0xc1, 0x47, 0x56, 0xa0, 0x61, 0xd6, 0x62,
  0xf5, 0x80, 0xff, 0x4d, 0xe4, 0x3b, 0x49, 0xfa, 0x82, 0xd8, 0x0a, 0x4b, 0x80, 0xf8, 0x43, 0x4a};
static const uint8_t example_of_1600_bits[DIGEST_BYTES] = {
  0x79, 0xf3, 0x8a, 0xde, 0xc5, 0xc2, 0x03, 0x07, 0xa9, 0x8e, 0xf7, 0x6e, 0x83, 0x24, 0xaf, 0xbf,
  0xd4, 0x6c, 0xfd, 0x81, 0xb2, 0x2e, 0x39, 0x73, 0xc6, 0x5f, 0xa1, 0xbd, 0x9d, 0xe3, 0x17, 0x87};

static int reproduces_the_examples(void)
{
  uint8_t message[200] = {0}, digest[DIGEST_BYTES];
  sponge(message, 0, digest);
  if (memcmp(digest, example_of_nothing, sizeof digest) != 0)
    return 0;
  memset(message, 0xa3, sizeof message);
  sponge(message, sizeof message, digest);
  if (memcmp(digest, example_of_1600_bits, sizeof digest) != 0)
    return 0;
  sha256((const uint8_t *)sha256_input, sizeof sha256_input - 1, digest);
  if (memcmp(digest, sha256_output, sizeof digest) != 0)
    return 0;
  memset(message, 0x0b, 20);
  hmac_sha256(message, 20, (const uint8_t *)"Hi There", 8, digest);
  if (memcmp(digest, hmac_output, sizeof digest) != 0)
    return 0;
  memcpy(message, example_input, sizeof example_input);
  aes_encrypt(example_key, message);
  return memcmp(message, example_output, sizeof example_output) == 0;
}

/* Whether the examples are reproduced, determined once. Threads that do so at the same time find
 * the same. */
static int examples_hold(void)
{
  static _Atomic int found; /* 0: not yet, 1: yes, -1: no */
  int known = atomic_load_explicit(&found, memory_order_relaxed);
  if (known == 0) {
    known = reproduces_the_examples() ? 1 : -1;
    atomic_store_explicit(&found, known, memory_order_relaxed);
  }
  return known > 0;
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  if (!examples_hold()) {
    explicit_bzero(out, DIGEST_BYTES);
    return PPRF_ERR_CRYPTO;
  }
  sponge(bytes, len, out);
  return PPRF_OK;
}

static uint64_t read_word(const uint8_t *p)
{
  uint64_t v = 0;
  for (unsigned i = 8; i-- > 0;)
    v = v << 8 | p[i];
  return v;
}

static void write_word(uint8_t *p, uint64_t v)
{
  for (unsigned i = 0; i < 8; i++)
    p[i] = (uint8_t)(v >> 8 * i);
}

struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height)
{
  uint8_t in[PPRF_SEED_BYTES + 16 + 8], out[DIGEST_BYTES] = {0};
  uint8_t *salt = in + PPRF_SEED_BYTES, *id = salt + 16;
  struct pprf_children c;
  builtin_calls++;
  write_word(in, seed.lo);
  write_word(in + 8, seed.hi);
  write_word(salt, family.salt_lo);
  write_word(salt + 8, family.salt_hi);
  write_word(id, 2 * start + (UINT64_C(1) << height));
  if (family.suite == PRG_SHA3_256)
    c.err = prg_digest(in, PPRF_SEED_BYTES, out);
  else if (family.suite == PRG_SHA3_256_SALTED)
    c.err = prg_digest(in, sizeof in, out);
  else
    c.err = family.suite == PRG_AES_128 && examples_hold() ? PPRF_OK : PPRF_ERR_CRYPTO;
  if (family.suite == PRG_AES_128 && c.err == PPRF_OK) {
    for (unsigned i = 0; i < 16; i++)
      out[i] = out[16 + i] = salt[i] ^ (i < 8 ? id[i] : 0);
    out[16 + 8] ^= 1;
    aes_encrypt(in, out);
    aes_encrypt(in, out + 16);
  }
  c.left = (struct pprf_seed){read_word(out), read_word(out + 8)};
  c.right = (struct pprf_seed){read_word(out + 16), read_word(out + 24)};
  explicit_bzero(in, sizeof in);
  explicit_bzero(out, sizeof out);
  return c;
}

static struct pprf_wide_seed read_wide(const uint8_t bytes[PRG_WIDE_BYTES])
{
  return (struct pprf_wide_seed){read_word(bytes), read_word(bytes + 8), read_word(bytes + 16),
                                 read_word(bytes + 24)};
}

struct pprf_wide_children prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                          uint64_t start, unsigned height)
{
  /* a struct KDFLabel of RFC 9420 with length 32, and the block number of HKDF-Expand */
  static const char left[] = "\0\x20\x0cMLS 1.0 tree\4left\1",
                    right[] = "\0\x20\x0cMLS 1.0 tree\5right\1";
  uint8_t key[PRG_WIDE_BYTES], out[2 * PRG_WIDE_BYTES] = {0};
  struct pprf_wide_children c;
  (void)start;
  (void)height;
  builtin_calls++;
  write_word(key, seed.lo);
  write_word(key + 8, seed.hi);
  write_word(key + 16, seed.third);
  write_word(key + 24, seed.fourth);
  c.err = family.suite == PRG_MLS_SHA256 && examples_hold() ? PPRF_OK : PPRF_ERR_CRYPTO;
  if (c.err == PPRF_OK) {
    hmac_sha256(key, sizeof key, (const uint8_t *)left, sizeof left - 1, out);
    hmac_sha256(key, sizeof key, (const uint8_t *)right, sizeof right - 1, out + PRG_WIDE_BYTES);
  }
  c.left = read_wide(out);
  c.right = read_wide(out + PRG_WIDE_BYTES);
  explicit_bzero(key, sizeof key);
  explicit_bzero(out, sizeof out);
  return c;
}

int prg_random(struct pprf_seed *seed)
{
  uint8_t bytes[PPRF_SEED_BYTES];
  int drawn = getrandom(bytes, sizeof bytes, 0) == sizeof bytes;
  seed->lo = drawn ? read_word(bytes) : 0;
  seed->hi = drawn ? read_word(bytes + 8) : 0;
  explicit_bzero(bytes, sizeof bytes);
  return drawn ? PPRF_OK : PPRF_ERR_CRYPTO;
}

int prg_random_wide(struct pprf_wide_seed *seed)
{
  uint8_t bytes[PRG_WIDE_BYTES] = {0};
  int drawn = getrandom(bytes, sizeof bytes, 0) == sizeof bytes;
  *seed = drawn ? read_wide(bytes) : (struct pprf_wide_seed){0, 0, 0, 0};
  explicit_bzero(bytes, sizeof bytes);
  return drawn ? PPRF_OK : PPRF_ERR_CRYPTO;
}

uint64_t prg_wipe_plan(unsigned own)
{
  return prg_wipe_flags() | (PRG_LIBCRYPTO_STACK + own);
}

uint64_t prg_calls(void)
{
  return builtin_calls;
}

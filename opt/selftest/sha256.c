/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of SHA-256 in each version: whole hashes, of which the library computes only what a
 * seed's children need, and the children, compared with libcrypto's HKDF. */
#include <openssl/evp.h>

#include "selftest.h"

/* their functions are static; those two are also linked from the library */
#define opt_sha256_scalar included_scalar
#define opt_sha256_ni included_ni
#define opt_sha256_armv8 included_armv8
#include <sha256.c>
#include <sha256_instructions.c>
#undef opt_sha256_scalar
#undef opt_sha256_ni
#undef opt_sha256_armv8

opt_wide_expand opt_sha256_scalar, opt_sha256_ni, opt_sha256_armv8;
/* prg/libcrypto.c, as in opt's library */
struct pprf_wide_children prg_expand_wide_evp(struct pprf_family family, struct pprf_wide_seed seed,
                                              uint64_t start, unsigned height);

/* A version's compression, of two blocks into two hash values. */
typedef void compress_two(struct sha256_state *a, struct sha256_words m, struct sha256_state *b,
                          struct sha256_words n);

static void scalar_two(struct sha256_state *a, struct sha256_words m, struct sha256_state *b,
                       struct sha256_words n)
{
  *a = compress(*a, m);
  *b = compress(*b, n);
}

#if OPT_SHA256_X86
static SHA_NI struct ni_state to_ni(const struct sha256_state *v)
{
  return (struct ni_state){words(v->f, v->e, v->b, v->a), words(v->h, v->g, v->d, v->c)};
}

static SHA_NI void from_ni(struct sha256_state *to, struct ni_state v)
{
  _mm_storeu_si128((__m128i *)(void *)&to->a, first_four(v));
  _mm_storeu_si128((__m128i *)(void *)&to->e, last_four(v));
}

static SHA_NI struct ni_words block_to_ni(const struct sha256_words *m)
{
  struct ni_words b;
  for (unsigned i = 0; i < 4; i++)
    b.four[i] = _mm_loadu_si128((const __m128i *)(const void *)&m->word[4 * i]);
  return b;
}

static SHA_NI void ni_two(struct sha256_state *a, struct sha256_words m, struct sha256_state *b,
                          struct sha256_words n)
{
  struct ni_state v = to_ni(a), w = to_ni(b);
  compress_pair(&v, block_to_ni(&m), &w, block_to_ni(&n));
  from_ni(a, v);
  from_ni(b, w);
}
#endif

#if OPT_SHA256_ARM
static SHA_ARM struct arm_words block_to_arm(const struct sha256_words *m)
{
  return (struct arm_words){
    {vld1q_u32(m->word), vld1q_u32(m->word + 4), vld1q_u32(m->word + 8), vld1q_u32(m->word + 12)}};
}

static SHA_ARM void armv8_two(struct sha256_state *a, struct sha256_words m, struct sha256_state *b,
                              struct sha256_words n)
{
  struct arm_state v = {words(a->a, a->b, a->c, a->d), words(a->e, a->f, a->g, a->h)};
  struct arm_state w = {words(b->a, b->b, b->c, b->d), words(b->e, b->f, b->g, b->h)};
  compress_pair(&v, block_to_arm(&m), &w, block_to_arm(&n));
  vst1q_u32(&a->a, v.abcd);
  vst1q_u32(&a->e, v.efgh);
  vst1q_u32(&b->a, w.abcd);
  vst1q_u32(&b->e, w.efgh);
}
#endif

static const struct version {
  const char *name;
  opt_wide_expand *expand;
  compress_two *two;
} versions[] = {
  {"sha256-scalar", opt_sha256_scalar, scalar_two},
#if OPT_SHA256_X86
  {"sha256-ni", opt_sha256_ni, ni_two},
#endif
#if OPT_SHA256_ARM
  {"sha256-armv8", opt_sha256_armv8, armv8_two},
#endif
};

/* ---- whole hashes ---- */

#define BLOCK 64
#define LONGEST 256

/* Pad a message as in FIPS 180-4, 5.1.1; returns the number of blocks. */
static unsigned pad(const uint8_t *message, size_t len, struct sha256_words block[])
{
  uint8_t bytes[LONGEST + 2 * BLOCK] = {0};
  unsigned blocks = (unsigned)((len + 9 + BLOCK - 1) / BLOCK);
  memcpy(bytes, message, len);
  bytes[len] = 0x80;
  for (unsigned i = 0; i < 8; i++)
    bytes[blocks * BLOCK - 1 - i] = (uint8_t)((uint64_t)len * 8 >> 8 * i);
  for (unsigned i = 0; i < blocks * 16; i++)
    block[i / 16].word[i % 16] = (uint32_t)bytes[4 * i] << 24 | (uint32_t)bytes[4 * i + 1] << 16 |
                                 (uint32_t)bytes[4 * i + 2] << 8 | bytes[4 * i + 3];
  return blocks;
}

/* Hash a message by a version, on both sides of the pair, while another message is hashed beside
 * it. */
static int hash(compress_two *two, const uint8_t *message, size_t len, uint8_t out[32])
{
  static const struct sha256_state initial = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                              0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  struct sha256_words block[LONGEST / BLOCK + 2], other = {{1, 2, 3}};
  struct sha256_state a = initial, b = initial, beside = initial;
  unsigned blocks = pad(message, len, block);
  for (unsigned i = 0; i < blocks; i++)
    two(&a, block[i], &beside, other);
  for (unsigned i = 0; i < blocks; i++)
    two(&beside, other, &b, block[i]);
  const uint32_t word[8] = {a.a, a.b, a.c, a.d, a.e, a.f, a.g, a.h};
  for (unsigned i = 0; i < 32; i++)
    out[i] = (uint8_t)(word[i / 4] >> (24 - 8 * (i % 4)));
  return memcmp(&a, &b, sizeof a) == 0;
}

static int hash_is(compress_two *two, const uint8_t *message, size_t len, const uint8_t want[32])
{
  uint8_t out[32];
  return hash(two, message, len, out) && memcmp(out, want, 32) == 0;
}

static int hmac_is(compress_two *two, const uint8_t *key, size_t key_len, const uint8_t *message,
                   size_t len, const uint8_t want[32])
{
  uint8_t bytes[LONGEST] = {0};
  if (key_len > BLOCK) {
    if (!hash(two, key, key_len, bytes))
      return 0;
  } else
    memcpy(bytes, key, key_len);
  for (unsigned i = 0; i < BLOCK; i++)
    bytes[i] ^= 0x36;
  memcpy(bytes + BLOCK, message, len);
  if (!hash(two, bytes, BLOCK + len, bytes + BLOCK))
    return 0;
  for (unsigned i = 0; i < BLOCK; i++)
    bytes[i] ^= 0x36 ^ 0x5c;
  return hash_is(two, bytes, BLOCK + 32, want);
}

static void unhex(const char *hex, uint8_t *bytes)
{
  for (; *hex != 0; hex += 2)
    sscanf(hex, "%2hhx", bytes++);
}

/* NIST's examples for FIPS 180-4: one block, two, and the empty message. */
static void known_hashes(const struct version *v)
{
  static const char *const example[][2] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"}};
  uint8_t want[32];
  for (unsigned i = 0; i < sizeof example / sizeof *example; i++) {
    unhex(example[i][1], want);
    check(hash_is(v->two, (const uint8_t *)example[i][0], strlen(example[i][0]), want),
          "%s: example %u of FIPS 180-4", v->name, i);
  }
}

/* RFC 4231, 4.2 to 4.8, except the truncated one. */
static void known_macs(const struct version *v)
{
  static const struct {
    const char *key;
    unsigned times; /* a key or message of one byte is repeated this many times */
    const char *message;
    unsigned message_times;
    const char *want;
  } test[] = {
    {"\x0b", 20, "Hi There", 1, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
    {"Jefe", 1, "what do ya want for nothing?", 1,
     "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
    {"\xaa", 20, "\xdd", 50, "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"},
    {"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17"
     "\x18\x19",
     1, "\xcd", 50, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"},
    {"\xaa", 131, "Test Using Larger Than Block-Size Key - Hash Key First", 1,
     "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    {"\xaa", 131,
     "This is a test using a larger than block-size key and a larger than block-size data. The key "
     "needs to be hashed before being used by the HMAC algorithm.",
     1, "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"}};
  for (unsigned i = 0; i < sizeof test / sizeof *test; i++) {
    uint8_t key[LONGEST], message[LONGEST], want[32];
    size_t key_len = strlen(test[i].key) * test[i].times;
    size_t len = strlen(test[i].message) * test[i].message_times;
    for (size_t k = 0; k < key_len; k++)
      key[k] = (uint8_t)test[i].key[k % strlen(test[i].key)];
    for (size_t k = 0; k < len; k++)
      message[k] = (uint8_t)test[i].message[k % strlen(test[i].message)];
    unhex(test[i].want, want);
    check(hmac_is(v->two, key, key_len, message, len, want), "%s: test case %u of RFC 4231",
          v->name, i);
  }
}

static void random_hashes(const struct version *v)
{
  for (unsigned round = 0; round < 300; round++) {
    uint8_t message[LONGEST], want[32];
    size_t len = (size_t)rnd_below(LONGEST);
    for (size_t i = 0; i < len; i++)
      message[i] = (uint8_t)rnd();
    check(EVP_Digest(message, len, want, NULL, EVP_sha256(), NULL) == 1 &&
            hash_is(v->two, message, len, want),
          "%s: a message of %zu bytes", v->name, len);
  }
}

/* ---- children ---- */

static int same_wide(struct pprf_wide_seed a, struct pprf_wide_seed b)
{
  return a.lo == b.lo && a.hi == b.hi && a.third == b.third && a.fourth == b.fourth;
}

static void random_seeds(const struct version *v)
{
  const struct pprf_family family = {PRG_MLS_SHA256, 0, 0};
  for (unsigned round = 0; round < 1000; round++) {
    struct pprf_wide_seed seed = {rnd(), rnd(), rnd(), rnd()};
    struct pprf_wide_children c = v->expand(seed),
                              want = prg_expand_wide_evp(family, seed, rnd(), round % 64);
    check(c.err == 0 && want.err == 0 && same_wide(c.left, want.left) &&
            same_wide(c.right, want.right),
          "%s: round %u", v->name, round);
  }
}

void test_sha256(void)
{
  const char *before = pprf_sha256_name();
  for (unsigned i = 0; i < sizeof versions / sizeof *versions; i++) {
    if (pprf_prg_select(versions[i].name) != PPRF_OK) {
      printf("# this processor cannot run %s: not tested\n", versions[i].name);
      continue;
    }
    known_hashes(&versions[i]);
    known_macs(&versions[i]);
    random_hashes(&versions[i]);
    random_seeds(&versions[i]);
  }
  check(pprf_prg_select(before) == PPRF_OK, "back to %s", before);
  end_test("every_version_of_sha256_is_that_of_fips_180_and_every_child_libcryptos");
}

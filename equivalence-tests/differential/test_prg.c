/* SPDX-License-Identifier: Apache-2.0 */
#include "test_prg.h"

#include <string.h>

#include "pprf.h"

/* prg/libcrypto.c, compiled under other names */
struct pprf_children sha3_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                     uint64_t start, unsigned height);
int sha3_prg_random(struct pprf_seed *seed);
struct pprf_wide_children sha3_prg_expand_wide(struct pprf_family family,
                                               struct pprf_wide_seed seed, uint64_t start,
                                               unsigned height);
int sha3_prg_random_wide(struct pprf_wide_seed *seed);
int sha3_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
uint64_t sha3_prg_wipe_plan(unsigned own);

int test_prg_toy;
uint64_t test_prg_fail, test_prg_failed, test_prg_mislabelled;
const uint8_t *test_prg_next_random;
static uint64_t calls;

static void put64(uint8_t *p, uint64_t v)
{
  for (int i = 0; i < 8; i++)
    p[i] = (uint8_t)(v >> 8 * i);
}

void test_prg_root(unsigned depth, uint8_t tag, uint8_t seed[32])
{
  if (test_prg_toy) {
    put64(seed, (uint64_t)1 << depth);
    put64(seed + 8, 0xa5a5a5a5a5a50000u | tag);
    put64(seed + 16, ~((uint64_t)1 << depth));
    put64(seed + 24, ~(0xa5a5a5a5a5a50000u | tag));
  } else {
    for (int i = 0; i < 32; i++)
      seed[i] = (uint8_t)(tag ^ 17 * i);
  }
}

/* Count a call; returns whether it must fail. */
static int call_fails(void)
{
  calls++;
  if (test_prg_fail == 0 || --test_prg_fail != 0)
    return 0;
  test_prg_failed++;
  return 1;
}

/* Whether a toy seed's label is that of this node. */
static int labels(uint64_t id, uint64_t start, unsigned height)
{
  return height != 0 && height <= PPRF_DEPTH_MAX &&
         id == 2 * start + ((uint64_t)1 << (height & 63));
}

/* The distance between the label of a node and those of its children. */
static uint64_t half_of(unsigned height)
{
  return height == 0 ? 0 : (uint64_t)1 << ((height - 1) & 63);
}

struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height)
{
  uint64_t half = half_of(height);
  if (call_fails())
    return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
  if (!test_prg_toy)
    return sha3_prg_expand(family, seed, start, height);
  int trial =
    start == 0 && height == 1 && (seed.lo | seed.hi) == 0; /* as in prg/common/prepare.c */
  test_prg_mislabelled += !trial && !labels(seed.lo, start, height);
  return (struct pprf_children){
    .left = {seed.lo - half, seed.hi}, .right = {seed.lo + half, seed.hi}, .err = PPRF_OK};
}

struct pprf_wide_children prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                          uint64_t start, unsigned height)
{
  uint64_t half = half_of(height);
  int trial = start == 0 && height == 1 && (seed.lo | seed.hi | seed.third | seed.fourth) == 0;
  if (call_fails())
    return (struct pprf_wide_children){.err = PPRF_ERR_CRYPTO};
  if (!test_prg_toy)
    return sha3_prg_expand_wide(family, seed, start, height);
  test_prg_mislabelled += !trial && (!labels(seed.lo, start, height) || seed.third != ~seed.lo ||
                                     seed.fourth != ~seed.hi);
  return (struct pprf_wide_children){
    .left = {seed.lo - half, seed.hi, ~(seed.lo - half), seed.fourth},
    .right = {seed.lo + half, seed.hi, ~(seed.lo + half), seed.fourth},
    .err = PPRF_OK};
}

/* Word i of the random output. */
static uint64_t next_random(int i)
{
  uint64_t v = 0;
  for (int k = 8; k-- > 0;)
    v = v << 8 | test_prg_next_random[8 * i + k];
  return v;
}

int prg_random(struct pprf_seed *seed)
{
  if (test_prg_next_random == NULL)
    return sha3_prg_random(seed);
  *seed = (struct pprf_seed){next_random(0), next_random(1)};
  return PPRF_OK;
}

int prg_random_wide(struct pprf_wide_seed *seed)
{
  if (test_prg_next_random == NULL)
    return sha3_prg_random_wide(seed);
  *seed = (struct pprf_wide_seed){next_random(0), next_random(1), next_random(2), next_random(3)};
  return PPRF_OK;
}

/* Every step is a bijection of the lane and of the input word, so changing one byte always
 * changes the toy digest. */
static int toy_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  uint64_t lane[4] = {len, 1, 2, 3};
  for (size_t at = 0, k = 0; at < len; at += 8, k = (k + 1) & 3) {
    uint64_t word = 0;
    memcpy(&word, bytes + at, len - at < 8 ? len - at : 8);
    lane[k] = (lane[k] ^ word) * 0x9e3779b97f4a7c15u;
    lane[k] ^= lane[k] >> 29;
  }
  for (int i = 0; i < 8; i++)
    lane[i & 3] += lane[(i + 1) & 3] * 0xd1b54a32d192ed03u;
  for (int i = 0; i < 4; i++)
    put64(out + 8 * i, lane[i]);
  return PPRF_OK;
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  return test_prg_toy ? toy_digest(bytes, len, out) : sha3_prg_digest(bytes, len, out);
}

uint64_t prg_wipe_plan(unsigned own)
{
  return test_prg_toy ? own : sha3_prg_wipe_plan(own);
}

uint64_t prg_calls(void)
{
  return calls;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "test_prg.h"

#include <string.h>

#include "pprf.h"

/* prg/libcrypto.c, compiled under other names */
struct pprf_children sha3_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                     uint64_t start, unsigned height);
int sha3_prg_random(struct pprf_seed *seed);
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

void test_prg_root(unsigned depth, uint8_t tag, uint8_t seed[16])
{
  if (test_prg_toy) {
    put64(seed, (uint64_t)1 << depth);
    put64(seed + 8, 0xa5a5a5a5a5a50000u | tag);
  } else {
    for (int i = 0; i < 16; i++)
      seed[i] = (uint8_t)(tag ^ 17 * i);
  }
}

struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height)
{
  calls++;
  if (test_prg_fail != 0 && --test_prg_fail == 0) {
    test_prg_failed++;
    return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
  }
  if (!test_prg_toy)
    return sha3_prg_expand(family, seed, start, height);
  if (height == 0 || height > PPRF_DEPTH_MAX ||
      seed.lo != 2 * start + ((uint64_t)1 << (height & 63)))
    test_prg_mislabelled++;
  uint64_t half = height == 0 ? 0 : (uint64_t)1 << ((height - 1) & 63);
  return (struct pprf_children){
    .left = {seed.lo - half, seed.hi}, .right = {seed.lo + half, seed.hi}, .err = PPRF_OK};
}

int prg_random(struct pprf_seed *seed)
{
  if (test_prg_next_random == NULL)
    return sha3_prg_random(seed);
  *seed = (struct pprf_seed){0, 0};
  for (int i = 8; i-- > 0;) {
    seed->lo = seed->lo << 8 | test_prg_next_random[i];
    seed->hi = seed->hi << 8 | test_prg_next_random[8 + i];
  }
  return PPRF_OK;
}

/* Every step is a bijection of the lane and of the input word: one changed byte changes the toy's
 * digest for certain. */
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

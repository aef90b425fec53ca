/* SPDX-License-Identifier: Apache-2.0 */
/* A PRG for valgrind: seeds are marked undefined, so a branch or an address that depends on one is
 * an error. It uses only shifts, additions and XOR, which memcheck follows bit by bit. The digest
 * of a key file is public (comparing it decides whether the file is accepted), so it is marked
 * defined. The environment's PLANT selects a violation that valgrind must find. */
#include <stdlib.h>
#include <valgrind/memcheck.h>

#include "pprf.h"
#include "prg.h"
#include "wide.h"

static uint64_t calls;
static const uint8_t table[2] = {1, 2};
volatile uint8_t secret_prg_sink;

static uint64_t mix(uint64_t x, uint64_t y)
{
  for (int i = 0; i < 4; i++) {
    x = (x << 13 | x >> 51) + y;
    y = (y << 29 | y >> 35) ^ x;
  }
  return x ^ y;
}

static void violate(uint64_t secret)
{
  static int plant = -1;
  if (plant < 0) {
    const char *p = getenv("PLANT");
    plant = p == NULL || *p == 0 ? 0 : *p == 'b' ? 1 : 2;
  }
  if (plant == 1 && (secret & 1) != 0) /* a branch */
    calls++;
  if (plant == 2) /* an address */
    secret_prg_sink = table[secret & 1];
}

struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height)
{
  calls++;
  violate(seed.lo);
  (void)family;
  (void)start;
  (void)height;
  return (struct pprf_children){.left = {mix(seed.lo, seed.hi), mix(seed.hi, seed.lo + 1)},
                                .right = {mix(seed.lo, ~seed.hi), mix(seed.hi, ~seed.lo)},
                                .err = PPRF_OK};
}

int prg_random(struct pprf_seed *seed)
{
  *seed = (struct pprf_seed){calls, ~calls};
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof *seed);
  return PPRF_OK;
}

struct pprf_wide_children prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                          uint64_t start, unsigned height)
{
  uint64_t a = mix(seed.lo, seed.hi), b = mix(seed.third, seed.fourth);
  calls++;
  violate(seed.fourth);
  (void)family;
  (void)start;
  (void)height;
  return (struct pprf_wide_children){.left = {a, b, mix(a, b), mix(b, a)},
                                     .right = {~a, ~b, mix(a, ~b), mix(b, ~a)},
                                     .err = PPRF_OK};
}

int prg_random_wide(struct pprf_wide_seed *seed)
{
  *seed = (struct pprf_wide_seed){calls, ~calls, calls + 1, calls + 2};
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof *seed);
  return PPRF_OK;
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  uint64_t lane[4] = {len, 1, 2, 3};
  for (size_t i = 0; i < len; i++) {
    lane[i & 3] = mix(lane[i & 3], bytes[i]);
    VALGRIND_MAKE_MEM_DEFINED(lane, sizeof lane);
  }
  for (unsigned i = 0; i < DIGEST_BYTES; i++)
    out[i] = (uint8_t)(lane[i / 8] >> 8 * (i % 8));
  VALGRIND_MAKE_MEM_DEFINED(out, DIGEST_BYTES);
  return PPRF_OK;
}

uint64_t prg_wipe_plan(unsigned own)
{
  return own;
}

uint64_t prg_calls(void)
{
  return calls;
}

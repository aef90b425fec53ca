/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of prg/prg.h without hashing, linked in place of the PRG to measure the cost of
 * everything else (the paper's "without hashing"). No security whatsoever. With KEEP_THE_REST
 * everything except the expansion is the shipped PRG's, since wiping is part of an implementation's
 * own cost. */
#include <string.h>

#include "pprf.h"
#include "wide.h"

static _Thread_local uint64_t calls;

struct pprf_children prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start,
                                unsigned height)
{
  (void)family;
  (void)start;
  (void)height;
  calls++;
  struct pprf_children c = {{seed.hi + 1, seed.lo ^ 1}, {seed.hi ^ 2, seed.lo + 3}, PPRF_OK};
  return c;
}

#ifndef KEEP_THE_REST
/* Keys with 32-byte seeds are not measured here. */
struct pprf_wide_children prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                          uint64_t start, unsigned height)
{
  (void)family;
  (void)seed;
  (void)start;
  (void)height;
  return (struct pprf_wide_children){.err = PPRF_ERR_CRYPTO};
}

int prg_random_wide(struct pprf_wide_seed *seed)
{
  *seed = (struct pprf_wide_seed){0, 0, 0, 0};
  return PPRF_ERR_CRYPTO;
}

int prg_random(struct pprf_seed *seed)
{
  *seed = (struct pprf_seed){0x0123456789abcdef, 0xfedcba9876543210};
  return PPRF_OK;
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  memset(out, 0, DIGEST_BYTES);
  for (size_t i = 0; i < len; i++)
    out[i % DIGEST_BYTES] ^= bytes[i];
  return PPRF_OK;
}

uint64_t prg_wipe_plan(unsigned own)
{
  return own;
}
#endif

uint64_t prg_calls(void)
{
  return calls;
}

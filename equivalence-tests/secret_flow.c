/* SPDX-License-Identifier: Apache-2.0 */
/* Run under valgrind (secret-flow): every operation of both implementations on keys whose seeds
 * are undefined. */
#include <valgrind/memcheck.h>

#include "impls.h"
#include "tap.h"

static void all(const struct pprf_impl *impl, unsigned depth)
{
  static uint8_t file[2][1 << 16];
  uint8_t seed[16], out[16];
  uint64_t size = (uint64_t)1 << depth, state = depth;
  pprf_key *key, *other;
  for (int i = 0; i < 16; i++)
    seed[i] = (uint8_t)i;
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof seed);
  int ok = impl->setup(&key, depth, seed) == PPRF_OK;
  for (unsigned i = 0; i < 60; i++) {
    uint64_t a = tap_random(&state) % size, b = a + tap_random(&state) % (size - a) / 16;
    int err = i % 4 == 0   ? impl->eval(key, a, out)
              : i % 4 == 1 ? impl->punct(key, a)
              : i % 4 == 2 ? impl->eval_punct(key, a, out)
                           : impl->punct_range(key, a, b);
    ok &= err == PPRF_OK || err == PPRF_ERR_PUNCTURED; /* results are public: no error here */
  }
  size_t len = sizeof file[0], again = sizeof file[1];
  ok &= impl->export_key(key, file[0], &len) == PPRF_OK;
  ok &= impl->import_key(&other, file[0], len) == PPRF_OK;
  ok &= impl->export_key(other, file[1], &again) == PPRF_OK && again == len;
  ok &= impl->node_count(other) == impl->node_count(key);
  impl->free(other);
  file[0][17] ^= 0x40; /* a wrong id */
  ok &= impl->import_key(&other, file[0], len) == PPRF_ERR_FORMAT;
  impl->free(key);
  ok &= impl->setup(&key, depth, NULL) == PPRF_OK;
  ok &= impl->punct(key, size - 1) == PPRF_OK;
  impl->free(key);
  if (!ok) {
    printf("# %s depth %u: a wrong result\n", impl->name, depth);
    exit(2);
  }
}

int main(void)
{
  static const unsigned depths[] = {1, 2, 6, 7, 10, 13, 16};
  for (int i = 0; i < IMPLS; i++)
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
      all(impls[i], depths[d]);
  return VALGRIND_COUNT_ERRORS != 0;
}

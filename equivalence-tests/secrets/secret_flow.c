/* SPDX-License-Identifier: Apache-2.0 */
/* Run under valgrind (secret-flow): every operation of both implementations, on keys whose seeds
 * are undefined. */
#include <valgrind/memcheck.h>

#include "impls.h"
#include "in_suite.h"
#include "../../tools/tap.h"

/* from the PRG that ships, if it is linked */
__attribute__((weak)) const char *opt_prg_name(void);

__attribute__((weak)) const char *pprf_aes_name(void);
__attribute__((weak)) const char *pprf_sha256_name(void);

/* ref's function, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);

static int copy(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  memcpy(arg, values + in_suite_bytes() * (n - 1), in_suite_bytes());
  return 0;
}

static int batches(const struct pprf_impl *impl, pprf_key *key, unsigned depth, uint64_t *state)
{
  static uint8_t out[50][PPRF_VALUE_BYTES_MAX];
  uint64_t leaf[50], size = (uint64_t)1 << depth;
  int result[50], ref = impl == &impl_ref;
  for (unsigned i = 0; i < 50; i++)
    leaf[i] = i % 8 == 7 ? leaf[i - 1] : tap_random(state) % size;
  return (ref ? ref_pprf_eval_batch : pprf_eval_batch)(key, leaf, 50, out[0], result) == PPRF_OK &&
         (ref ? ref_pprf_expand : pprf_expand)(key, size / 4, size / 4 + size / 64, copy, out) ==
           PPRF_OK &&
         (ref ? ref_pprf_punct_batch : pprf_punct_batch)(key, leaf, 20, result) == PPRF_OK;
}

static void all(const struct pprf_impl *impl, unsigned depth)
{
  static uint8_t file[2][1 << 16];
  uint8_t seed[PPRF_VALUE_BYTES_MAX], out[PPRF_VALUE_BYTES_MAX];
  uint64_t size = (uint64_t)1 << depth, state = depth;
  pprf_key *key, *other;
  for (size_t i = 0; i < sizeof seed; i++)
    seed[i] = (uint8_t)i;
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof seed);
  int ok = setup_in_suite(impl, &key, depth, seed) == PPRF_OK;
  for (unsigned i = 0; i < 60; i++) {
    uint64_t a = tap_random(&state) % size, b = a + tap_random(&state) % (size - a) / 16;
    int err = i % 4 == 0   ? impl->eval(key, a, out)
              : i % 4 == 1 ? impl->punct(key, a)
              : i % 4 == 2 ? impl->eval_punct(key, a, out)
                           : impl->punct_range(key, a, b);
    ok &= err == PPRF_OK || err == PPRF_ERR_PUNCTURED; /* results are public: no error here */
  }
  ok &= batches(impl, key, depth, &state);
  int part = impl->delegate(key, size / 3, size / 3 * 2, &other);
  ok &= part == PPRF_OK || (part == PPRF_ERR_PUNCTURED && depth < 6);
  impl->free(other);
  size_t len = sizeof file[0], again = sizeof file[1];
  ok &= impl->export_key(key, file[0], &len) == PPRF_OK;
  ok &= import_any(impl, &other, file[0], len) == PPRF_OK;
  ok &= impl->export_key(other, file[1], &again) == PPRF_OK && again == len;
  ok &= impl->node_count(other) == impl->node_count(key);
  impl->free(other);
  file[0][in_suite() == PPRF_SHA3_256 ? 17 : 37] ^= 0x40; /* an invalid id */
  ok &= import_any(impl, &other, file[0], len) == PPRF_ERR_FORMAT;
  impl->free(key);
  for (int salt = 0; salt < 2; salt++) { /* drawn at random, too */
    int err = salt ? impl->setup(&key, depth, NULL) : setup_in_suite(impl, &key, depth, NULL);
    ok &= err == PPRF_OK;
    ok &= impl->punct(key, size - 1) == PPRF_OK;
    impl->free(key);
  }
  if (!ok) {
    printf("# %s depth %u: a wrong result\n", impl->name, depth);
    exit(2);
  }
}

int main(void)
{
  static const unsigned depths[] = {1, 2, 6, 7, 10, 13, 16};
  if (opt_prg_name != NULL)
    tap_note("PRG: %s\n# AES: %s\n# SHA-256: %s", opt_prg_name(), pprf_aes_name(),
             pprf_sha256_name());
  for (int i = 0; i < STORES; i++)
    for (size_t d = 0; d < sizeof depths / sizeof *depths; d++)
      all(stores[i], depths[d]);
  return VALGRIND_COUNT_ERRORS != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* make_corpus DIRECTORY: first inputs for the fuzzers, in DIRECTORY/fuzz_ops and
 * DIRECTORY/fuzz_import. */
#include <inttypes.h>
#include <sys/stat.h>

#include "impls.h"
#include "ops.h"
#include "tap.h"
#include "test_prg.h"

static void save(const char *directory, const char *target, unsigned number, const uint8_t *bytes,
                 size_t len)
{
  char path[400];
  snprintf(path, sizeof path, "%s/%s", directory, target);
  (void)mkdir(path, 0777);
  snprintf(path, sizeof path, "%s/%s/first-%03u", directory, target, number);
  FILE *f = fopen(path, "wb");
  if (f == NULL || fwrite(bytes, 1, len, f) != len || fclose(f) != 0) {
    perror(path);
    exit(1);
  }
}

int main(int argc, char **argv)
{
  static uint8_t bytes[1 << 16];
  uint64_t state = 1;
  if (argc != 2) {
    fprintf(stderr, "usage: make_corpus DIRECTORY\n");
    return 2;
  }
  for (unsigned i = 0; i < 64; i++)
    save(argv[1], "fuzz_ops", i, bytes,
         ops_random(&state, i % 32 + 1, i < 48, 12, bytes, sizeof bytes));
  for (unsigned i = 0; i < 64; i++) {
    unsigned depth = i % 32 + 1;
    uint8_t seed[16];
    pprf_key *key;
    size_t len = sizeof bytes - 1;
    test_prg_toy = (int)i & 1;
    test_prg_root(depth, (uint8_t)i, seed);
    if (impl_ref.setup(&key, depth, seed) != PPRF_OK)
      return 1;
    for (unsigned k = 0; k < i / 16 * 2; k++)
      (void)impl_ref.punct(key, tap_random(&state) & (((uint64_t)1 << depth) - 1));
    bytes[0] = test_prg_toy ? 7 : 3;
    if (impl_ref.export_key(key, bytes + 1, &len) != PPRF_OK)
      return 1;
    save(argv[1], "fuzz_import", i, bytes, len + 1);
    impl_ref.free(key);
  }
  return 0;
}

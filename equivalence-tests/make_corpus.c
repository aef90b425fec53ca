/* SPDX-License-Identifier: Apache-2.0 */
/* make_corpus DIRECTORY: first inputs for the fuzzers, in DIRECTORY/fuzz_ops, fuzz_import and
 * fuzz_cli. */
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

/* Command lines, words apart by one space. */
static const char *const command_lines[] = {
  "setup -d 4 new",
  "setup --depth=32 --seed 000102030405060708090a0b0c0d0e0f --force k",
  "setup -d 7 -s - -f l",
  "setup -fd5 --impl=ref d/new",
  "setup",
  "setup -d 33 k",
  "setup -d 4 k",
  "eval k 0 5 0x3",
  "eval --impl ref k 1",
  "eval k 18446744073709551616",
  "eval k 1..2",
  "eval k",
  "eval -- k 0",
  "eval l 2",
  "eval d 1",
  "eval nothing 1",
  "punct k 3",
  "punct k 0 1 2 3",
  "punct --eval k 5..9",
  "punct k 2..7 3",
  "punct -e -i ref k 0..15",
  "punct k 9..3",
  "punct ./k 0x4",
  "punct l 1",
  "punct k 7 99999999999",
  "info k",
  "info --json k",
  "info k k",
  "simulate -s worst -d 6",
  "simulate -s best -d 9 --json",
  "simulate -s random -d 5 --seed=3",
  "simulate -s normal -d 8 --sigma 2.5 --csv table",
  "simulate -i list -s worst -d 5",
  "simulate -s worst",
  "simulate -s worst -d 4 --punctures 9",
  "--help",
  "--version",
  "",
  "frobnicate",
  "punct --usage",
  "info -V",
  "simulate --help",
  "simulate -s best -d 4 --csv k",
  "info --ranges k",
  "info -rj l",
  "eval --check k 0..15",
  "eval -jc k 0..9",
  "eval --json k 1 2",
  "eval -q k 3",
  "punct -q k 3",
  "punct --json k 3 3 2..5",
  "punct -ej k 0..6",
  "punct -qe k 1",
  "eval k 1 -",
  "setup -d 4 -",
  "setup -d4 \"\"",
  "info -",
  "setup -fd 4 .pprf-0123456789abcdef.tmp",
  "eval --impl",
  "eval --json=3 k 1",
  "eval -h",
  "punct k -1",
  "eval k -",
  "punct k -",
  "punct --eval k - 5",
};

/* A key of that depth after a few punctures, as fuzz_import wants it: after one byte of flags. */
static size_t some_key(unsigned depth, uint8_t tag, unsigned punctures, uint64_t *state,
                       uint8_t *bytes, size_t size)
{
  uint8_t seed[PPRF_VALUE_BYTES_MAX];
  pprf_key *key;
  size_t len = size - 1;
  test_prg_root(depth, tag, seed);
  if (impl_ref.setup(&key, depth, seed) != PPRF_OK)
    exit(1);
  for (unsigned k = 0; k < punctures; k++)
    (void)impl_ref.punct(key, tap_random(state) & (((uint64_t)1 << depth) - 1));
  bytes[0] = test_prg_toy ? 7 : 3;
  if (impl_ref.export_key(key, bytes + 1, &len) != PPRF_OK)
    exit(1);
  impl_ref.free(key);
  return len + 1;
}

/* The depth of input i of 64. */
static unsigned depth_of(unsigned i)
{
  static const unsigned deep[8] = {33, 34, 40, 48, 55, 62, 63, 63};
  return i < 56 ? i % 32 + 1 : deep[i - 56];
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
         ops_random(&state, depth_of(i), i < 48, 12, bytes, sizeof bytes));
  for (unsigned i = 0; i < 64; i++) {
    test_prg_toy = (int)i & 1;
    save(argv[1], "fuzz_import", i, bytes,
         some_key(depth_of(i), (uint8_t)i, i / 16 * 2, &state, bytes, sizeof bytes));
  }
  test_prg_toy = 0;
  for (unsigned i = 0; i < sizeof command_lines / sizeof *command_lines; i++) {
    static uint8_t key[1 << 12];
    size_t len = strlen(command_lines[i]), at = len + 2;
    size_t key_len = some_key(i % 3 == 0 ? 4 : i % 32 + 1, 1, i % 4, &state, key, sizeof key);
    bytes[0] = 3;
    for (size_t k = 0; k <= len; k++)
      bytes[1 + k] = command_lines[i][k] == ' ' ? '\0' : (uint8_t)command_lines[i][k];
    bytes[at] = 1;
    if (strstr(command_lines[i], "k -") != NULL && command_lines[i][len - 1] != '1') {
      /* lines of leaves, where there is no key in the way */
      bytes[0] = 7;
      save(argv[1], "fuzz_cli", i, bytes,
           at + 1 + (size_t)sprintf((char *)bytes + at + 1, "3\n0x5..7\n9\n"));
      continue;
    }
    if (strstr(command_lines[i], "-s -") != NULL) {
      save(argv[1], "fuzz_cli", i, bytes,
           at + 1 + (size_t)sprintf((char *)bytes + at + 1, "0123456789abcdef0123456789ABCDEF\n"));
      continue;
    }
    memcpy(bytes + at + 1, key + 1, key_len - 1);
    save(argv[1], "fuzz_cli", i, bytes, at + key_len);
  }
  return 0;
}

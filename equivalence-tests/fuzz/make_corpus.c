/* SPDX-License-Identifier: Apache-2.0 */
/* make_corpus DIRECTORY: first inputs for the fuzzers, in DIRECTORY/fuzz_ops, fuzz_import and
 * fuzz_cli. */
#include <inttypes.h>
#include <sys/stat.h>

#include "impls.h"
#include "differential/ops.h"
#include "common/options.h"
#include "../../tools/tap.h"
#include "differential/test_prg.h"

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

/* Command lines with words separated by one space. */
static const char *const command_lines[] = {
  "setup -d 4 new",
  "setup --depth=32 --seed 000102030405060708090a0b0c0d0e0f --force k",
  "setup -d 7 -s - -f l",
  "setup -fd5 --impl=ref d/new",
  "setup",
  "setup -d 33 k",
  "setup -d 4 k",
  "delegate k 3..9 new",
  "delegate --force --impl=ref l 7 k",
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

/* A key file after some punctures, in the form for fuzz_import: after a byte of flags. Bit 1 of
 * that byte changes the header to the suite sha3-256. */
static size_t some_key(unsigned depth, unsigned suite, uint8_t tag, unsigned punctures,
                       uint64_t *state, uint8_t *bytes, size_t size)
{
  static const uint8_t salt[PPRF_SALT_BYTES] = {1, 2, 3};
  uint8_t seed[PPRF_VALUE_BYTES_MAX];
  const struct pprf_options options = {.size = sizeof options,
                                       .seed = seed,
                                       .depth = depth,
                                       .suite = suite,
                                       .salt = pprf_has_salt(suite) ? salt : NULL};
  pprf_key *key;
  size_t len = size - 1;
  test_prg_root(depth, tag, seed);
  if (impl_ref.setup_with(&key, &options) != PPRF_OK)
    exit(1);
  for (unsigned k = 0; k < punctures; k++)
    (void)impl_ref.punct(key, tap_random(state) & (((uint64_t)1 << depth) - 1));
  bytes[0] = (uint8_t)(1 + (suite == PPRF_SHA3_256 ? 2 : 0) + (test_prg_toy ? 4 : 0));
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

/* Keys whose files are version 2. */
static const struct {
  unsigned depth, suite;
} of_version2[] = {{33, PPRF_SHA3_256},        {48, PPRF_SHA3_256}, {63, PPRF_SHA3_256},
                   {5, PPRF_SHA3_256_SALTED},  {9, PPRF_AES_128},   {7, PPRF_MLS_SHA256},
                   {33, PPRF_MLS_SHA256},      {48, PPRF_AES_128},  {63, PPRF_MLS_SHA256},
                   {63, PPRF_SHA3_256_SALTED}, {63, PPRF_AES_128}};
enum { OF_VERSION2 = sizeof of_version2 / sizeof *of_version2 };

/* Command lines to run on them. */
static const char *const lines_of_version2[] = {
  "info -j k", "info -r k",          "eval k 3 0x7..9", "eval -c k 1..4",
  "punct k 5", "punct -ej k 9 2..4", "punct k 1..30",   "punct -iref k 0..31"};
enum { LINES_OF_VERSION2 = sizeof lines_of_version2 / sizeof *lines_of_version2 };

/* Put a command line (words separated by one space) after the byte of flags; returns where the
 * file begins. */
static size_t put_words(uint8_t *bytes, const char *line)
{
  size_t len = strlen(line);
  for (size_t k = 0; k <= len; k++)
    bytes[1 + k] = line[k] == ' ' ? '\0' : (uint8_t)line[k];
  bytes[len + 2] = 1;
  return len + 3;
}

int main(int argc, char **argv)
{
  static uint8_t bytes[1 << 16], key[1 << 14];
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
         some_key(depth_of(i), PPRF_SHA3_256, (uint8_t)i, i / 16 * 2, &state, bytes, sizeof bytes));
  }
  for (unsigned i = 0; i < 4 * OF_VERSION2; i++) {
    test_prg_toy = (int)i & 1;
    save(argv[1], "fuzz_import", 64 + i, bytes,
         some_key(of_version2[i / 4].depth, of_version2[i / 4].suite, (uint8_t)i, i % 4, &state,
                  bytes, sizeof bytes));
  }
  test_prg_toy = 0;
  unsigned lines = sizeof command_lines / sizeof *command_lines;
  for (unsigned i = 0; i < lines; i++) {
    const char *line = command_lines[i];
    size_t key_len =
      some_key(i % 3 == 0 ? 4 : i % 32 + 1, PPRF_SHA3_256, 1, i % 4, &state, key, sizeof key);
    size_t at = put_words(bytes, line);
    bytes[0] = 3;
    if (strstr(line, "k -") != NULL && line[strlen(line) - 1] != '1') {
      /* lines of leaves, if no key is in the way */
      bytes[0] = 7;
      save(argv[1], "fuzz_cli", i, bytes,
           at + (size_t)sprintf((char *)bytes + at, "3\n0x5..7\n9\n"));
      continue;
    }
    if (strstr(line, "-s -") != NULL) {
      save(argv[1], "fuzz_cli", i, bytes,
           at + (size_t)sprintf((char *)bytes + at, "0123456789abcdef0123456789ABCDEF\n"));
      continue;
    }
    memcpy(bytes + at, key + 1, key_len - 1);
    save(argv[1], "fuzz_cli", i, bytes, at + key_len - 1);
  }
  for (unsigned i = 0; i < LINES_OF_VERSION2 * OF_VERSION2; i++) {
    unsigned k = i / LINES_OF_VERSION2;
    size_t key_len = some_key(of_version2[k].depth, of_version2[k].suite, (uint8_t)i, i % 3, &state,
                              key, sizeof key);
    size_t at = put_words(bytes, lines_of_version2[i % LINES_OF_VERSION2]);
    bytes[0] = key[0];
    memcpy(bytes + at, key + 1, key_len - 1);
    save(argv[1], "fuzz_cli", lines + i, bytes, at + key_len - 1);
  }
  return 0;
}

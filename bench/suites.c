/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the suites, in every version that the processor supports, in one run, in turns within
 * each round.
 * Usage: suites [ROUNDS [FILE]]     default 5; prints a table; FILE: each round's values as JSON
 *
 * Figures, all CPU time of the thread:
 *   one     ns of a PRG call that waits for the previous one
 *   four    ns per expansion, four independent ones at once (opt_expand_many)
 *   eight   the same for eight
 *   punct   ns of a puncture, every second leaf of 2^16, pair slots
 *   fresh   ns of an evaluation on a key of depth 20 in which nothing is punctured
 *   expand  ns per expansion in pprf_expand over 2^16 leaves
 *   batch   ns per expansion in pprf_eval_batch, 512 leaves spread over a tree of depth 20
 */
#include <sys/wait.h>

#include "figures.h"
#include "common/fork.h"
#include "lanes.h"
#include "pprf.h"
#include "prg.h"
#include "wide.h"

enum { FIGURES = 7, PUNCTURES = 1 << 15, PUNCT_DEPTH = 16, FRESH_DEPTH = 20, BATCH = 512 };

static const char *const figure_name[FIGURES] = {"one",   "four",   "eight", "punct",
                                                 "fresh", "expand", "batch"};
static const uint8_t root[PPRF_VALUE_BYTES_MAX] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t salt[PPRF_SALT_BYTES] = {9, 10, 11, 12, 13, 14, 15, 16, 17};

/* Each suite with each of its versions; a suite without salt is next to its salted sister, so
 * that a disturbance of a round affects both. */
static struct row {
  unsigned suite;
  const char *version;
  struct figure figure[FIGURES];
} rows[] = {
  {.suite = PPRF_SHA3_256, .version = "evp"},
  {.suite = PPRF_SHA3_256_SALTED, .version = "evp"},
  {.suite = PPRF_SHA3_256, .version = "scalar"},
  {.suite = PPRF_SHA3_256_SALTED, .version = "scalar"},
  {.suite = PPRF_SHA3_256, .version = "avx2"},
  {.suite = PPRF_SHA3_256_SALTED, .version = "avx2"},
  {.suite = PPRF_SHA3_256, .version = "avx512"},
  {.suite = PPRF_SHA3_256_SALTED, .version = "avx512"},
  {.suite = PPRF_AES_128, .version = "aes-evp"},
  {.suite = PPRF_AES_128, .version = "aes-bitsliced"},
  {.suite = PPRF_AES_128, .version = "aes-ni"},
  {.suite = PPRF_AES_128, .version = "aes-vaes"},
  {.suite = PPRF_AES_128, .version = "aes-armv8"},
  {.suite = PPRF_MLS_SHA256, .version = "sha256-evp"},
  {.suite = PPRF_MLS_SHA256, .version = "sha256-scalar"},
  {.suite = PPRF_MLS_SHA256, .version = "sha256-ni"},
  {.suite = PPRF_MLS_SHA256, .version = "sha256-armv8"},
};
enum { ROWS = sizeof rows / sizeof *rows };

static int has_salt(unsigned suite)
{
  return suite != PPRF_SHA3_256 && suite != PPRF_MLS_SHA256;
}

static pprf_key *new_key(unsigned depth, unsigned suite)
{
  struct pprf_options o = {.size = sizeof o,
                           .seed = root,
                           .depth = depth,
                           .suite = suite,
                           .salt = has_salt(suite) ? salt : NULL};
  pprf_key *key = NULL;
  check(pprf_setup_with(&key, &o) == PPRF_OK, "set-up");
  return key;
}

static struct pprf_family family_of(unsigned suite)
{
  struct pprf_family f = {suite, 0, 0};
  if (has_salt(suite)) {
    memcpy(&f.salt_lo, salt, 8);
    memcpy(&f.salt_hi, salt + 8, 8);
  }
  return f;
}

static double one_ns(struct pprf_family family)
{
  enum { CALLS = 4000 };
  struct pprf_seed s = {1, 2};
  double from = now();
  for (unsigned i = 0; i < CALLS; i++)
    s = prg_expand(family, s, 2 * (uint64_t)i, 1).left;
  double t = now() - from;
  check(s.lo != 0, "a seed is zero");
  return t / CALLS;
}

static double wide_one_ns(void)
{
  enum { CALLS = 4000 };
  const struct pprf_family family = {PPRF_MLS_SHA256, 0, 0};
  struct pprf_wide_seed s = {1, 2, 3, 4};
  double from = now();
  for (unsigned i = 0; i < CALLS; i++)
    s = prg_expand_wide(family, s, 2 * (uint64_t)i, 1).left;
  double t = now() - from;
  check(s.lo != 0, "a seed is zero");
  return t / CALLS;
}

static double wide_lanes_ns(unsigned lanes)
{
  enum { CALLS = 1000 };
  const struct pprf_family family = {PPRF_MLS_SHA256, 0, 0};
  struct pprf_wide_seed seed[8], other[8];
  struct opt_wide_step step[8];
  for (unsigned i = 0; i < lanes; i++) {
    seed[i] = (struct pprf_wide_seed){i + 1, 2, 3, 4};
    step[i] = (struct opt_wide_step){&seed[i], &seed[i], &other[i], 2 * (uint64_t)i, 1};
  }
  int err = PPRF_OK;
  double from = now();
  for (unsigned i = 0; i < CALLS; i++)
    err |= opt_expand_many_wide(family, step, lanes);
  double t = now() - from;
  check(err == PPRF_OK && seed[0].lo != 0, "lanes");
  return t / CALLS / lanes;
}

static double lanes_ns(struct pprf_family family, unsigned lanes)
{
  enum { CALLS = 1000 };
  struct pprf_seed seed[8], other[8];
  struct opt_step step[8];
  for (unsigned i = 0; i < lanes; i++) {
    seed[i] = (struct pprf_seed){i + 1, 2};
    step[i] = (struct opt_step){&seed[i], &seed[i], &other[i], 2 * (uint64_t)i, 1};
  }
  int err = PPRF_OK;
  double from = now();
  for (unsigned i = 0; i < CALLS; i++)
    err |= opt_expand_many(family, step, lanes);
  double t = now() - from;
  check(err == PPRF_OK && seed[0].lo != 0, "lanes");
  return t / CALLS / lanes;
}

static double punct_ns(unsigned suite)
{
  pprf_key *key = new_key(PUNCT_DEPTH, suite);
  int err = PPRF_OK;
  double from = now();
  for (uint64_t i = 0; i < PUNCTURES; i++)
    err |= pprf_punct(key, 2 * i);
  double t = now() - from;
  check(err == PPRF_OK && pprf_node_count(key) == PUNCTURES, "puncture");
  pprf_free(key);
  return t / PUNCTURES;
}

static double fresh_ns(unsigned suite)
{
  enum { CALLS = 1000 };
  pprf_key *key = new_key(FRESH_DEPTH, suite);
  uint8_t out[PPRF_VALUE_BYTES_MAX];
  uint64_t state = 99;
  int err = pprf_eval(key, 0, out); /* touches the key's pages */
  double from = now();
  for (unsigned i = 0; i < CALLS; i++)
    err |= pprf_eval(key, next_random(&state) >> (64 - FRESH_DEPTH), out);
  double t = now() - from;
  check(err == PPRF_OK, "evaluation");
  pprf_free(key);
  return t / CALLS;
}

static int add_values(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  *(uint64_t *)arg += n + values[0];
  return 0;
}

static double expand_ns(unsigned suite)
{
  pprf_key *key = new_key(PUNCT_DEPTH, suite);
  uint64_t sum = 0, leaves = UINT64_C(1) << PUNCT_DEPTH;
  double from = now();
  int err = pprf_expand(key, 0, leaves - 1, add_values, &sum);
  double t = now() - from;
  check(err == PPRF_OK && sum >= leaves, "expand");
  pprf_free(key);
  return t / (double)(leaves - 1);
}

static double batch_ns(unsigned suite)
{
  static uint64_t leaf[BATCH];
  static uint8_t out[BATCH * PPRF_VALUE_BYTES_MAX];
  pprf_key *key = new_key(FRESH_DEPTH, suite);
  for (uint64_t i = 0; i < BATCH; i++)
    leaf[i] = i * UINT64_C(0x9e3779b97f4a7c15) >> (64 - FRESH_DEPTH);
  int err = pprf_eval_batch(key, leaf, BATCH, out, NULL); /* warms up */
  uint64_t calls = prg_calls();
  double from = now();
  for (unsigned i = 0; i < 4; i++)
    err |= pprf_eval_batch(key, leaf, BATCH, out, NULL);
  double t = now() - from;
  calls = prg_calls() - calls;
  check(err == PPRF_OK && calls >= 4 * BATCH, "batch");
  pprf_free(key);
  return t / (double)calls;
}

/* The figures of a row; 0 if this processor cannot run it. */
static int measure(const struct row *row, double value[FIGURES])
{
  struct pprf_family family = family_of(row->suite);
  uint64_t number;
  check(pprf_process_claim(&number) == PPRF_OK, "no memory");
  if (pprf_prg_select(row->version) != PPRF_OK)
    return 0;
  int wide = row->suite == PPRF_MLS_SHA256;
  (void)(wide ? wide_one_ns() : one_ns(family));
  value[0] = wide ? wide_one_ns() : one_ns(family);
  value[1] = wide ? wide_lanes_ns(4) : lanes_ns(family, 4);
  value[2] = wide ? wide_lanes_ns(8) : lanes_ns(family, 8);
  value[3] = punct_ns(row->suite);
  value[4] = fresh_ns(row->suite);
  value[5] = expand_ns(row->suite);
  value[6] = batch_ns(row->suite);
  return 1;
}

/* Measure each row in its own process: an operation wipes as much stack as any version that the
 * process has used, and libcrypto's version uses ten times as much as others. */
static void measure_apart(struct row *row)
{
  double value[FIGURES];
  int ends[2], status;
  snprintf(running, sizeof running, "%s, %s", pprf_suite_name(row->suite), row->version);
  check(pipe(ends) == 0, "no pipe");
  pid_t child = fork();
  check(child >= 0, "no process");
  if (child == 0) {
    size_t bytes = measure(row, value) ? sizeof value : 0;
    check(write(ends[1], value, bytes) == (ssize_t)bytes, "cannot send the figures");
    _exit(0);
  }
  close(ends[1]);
  ssize_t bytes = read(ends[0], value, sizeof value);
  close(ends[0]);
  check(waitpid(child, &status, 0) == child && status == 0, "the measurement failed");
  check(bytes == 0 || bytes == sizeof value, "the figures are incomplete");
  for (unsigned i = 0; bytes != 0 && i < FIGURES; i++)
    add_value(&row->figure[i], value[i]);
}

static void print_table(void)
{
  printf(
    "| suite | version | one lane | each of 4 | each of 8 | worst-case puncture | fresh evaluation, "
    "depth 20 | expansion in pprf_expand | in pprf_eval_batch |\n|---|---|---|---|---|---|---|---|"
    "---|\n");
  for (const struct row *r = rows; r < rows + ROWS; r++) {
    printf("| %s | %s |", pprf_suite_name(r->suite), r->version);
    if (r->figure[0].n == 0)
      printf(" not on this processor | | | | | | |");
    else
      for (unsigned i = 0; i < FIGURES; i++)
        printf(" %s |", text(&r->figure[i], 1));
    printf("\n");
  }
}

static void write_json(const char *path, unsigned rounds, const char *sha3, const char *aes,
                       const char *sha256)
{
  FILE *json = fopen(path, "w");
  check(json != NULL, "the file cannot be written");
  fprintf(json, "{\"rounds\": %u, \"default\": [\"%s\", \"%s\", \"%s\"], \"rows\": [", rounds, sha3,
          aes, sha256);
  for (const struct row *r = rows; r < rows + ROWS; r++) {
    fprintf(json, "%s\n {\"suite\": \"%s\", \"version\": \"%s\"", r > rows ? "," : "",
            pprf_suite_name(r->suite), r->version);
    for (unsigned i = 0; i < FIGURES; i++)
      write_figure(json, figure_name[i], &r->figure[i]);
    fprintf(json, "}");
  }
  fprintf(json, "\n]}\n");
  check(ferror(json) == 0 && fclose(json) == 0, "the file cannot be written");
}

int main(int argc, char **argv)
{
  unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 5;
  program_name = "suites";
  say_what_ends();
  check(argc <= 3 && rounds >= 1 && rounds <= ROUNDS_MAX, "usage: suites [ROUNDS [FILE]]");
  for (unsigned round = 0; round < rounds; round++)
    for (struct row *r = rows; r < rows + ROWS; r++)
      measure_apart(r);
  const char *sha3 = pprf_prg_name(), *aes = pprf_aes_name(),
             *sha256 = pprf_sha256_name(); /* the versions chosen for this processor */
  printf("ns, median (least-greatest) of %u rounds; the library takes %s, %s and %s here\n\n",
         rounds, sha3, aes, sha256);
  print_table();
  if (argc == 3)
    write_json(argv[2], rounds, sha3, aes, sha256);
  check_output();
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The thesis's simulation: puncture leaves in a pattern, record nodes, memory and time. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "common/options.h"
#include "impls/list.h"
#include "impls/random.h"
#include "leftovers.h"
#include "prg.h"

/* opt's pprf_memory_bytes looks at each page of a key.  Up to depth 20, sample it after every
 * puncture.  Deeper keys may have many pages: sample SAMPLES times a run, and whenever the node
 * count has grown by a 1024th since the last sample.  The memory of such a deep key is that of its
 * nodes. */
#define SAMPLE_ALL_DEPTH 20
#define SAMPLES 16384
/* A simulation gives up after this many consecutive draws of punctured leaves. */
#ifndef DRAWS_MAX /* fuzzing has a smaller one */
#define DRAWS_MAX (UINT64_C(1) << 26)
#endif

/* Each takes four bytes, for its time. */
#define PUNCTURES_MAX (UINT64_C(1) << 32)

enum scenario { WORST, BEST, NORMAL, RANDOM, SCENARIOS };
static const char *const scenario_names[SCENARIOS] = {"worst", "best", "normal", "random"};

struct args {
  const struct pprf_impl *impl;
  enum scenario scenario; /* SCENARIOS: not given */
  unsigned depth;         /* 0: not given */
  unsigned suite;
  double sigma; /* 0: not given */
  uint64_t seed, punctures;
  bool have_punctures, json;
  const char *csv;
};

/* ---- the pattern ---- */

struct pattern {
  const struct args *args;
  uint64_t state, next; /* generator state; next leaf of worst and best */
  double spare;         /* random_normal's */
  uint64_t *punctured; /* normal, random: a bit a leaf; a hash table beyond depth 32 */
  size_t places; /* table size, a power of 2 above the number of punctures; 0: bits */
};

static size_t bitmap_words(unsigned depth)
{
  return depth < 6 ? 1 : (size_t)1 << (depth - 6);
}

static bool pattern_begin(struct pattern *p, const struct args *a)
{
  *p = (struct pattern){.args = a, .state = a->seed, .spare = NAN};
  if (a->scenario == WORST || a->scenario == BEST)
    return true;
  if (a->depth > 32)
    for (p->places = 1; p->places / 2 < a->punctures; p->places *= 2)
      ;
  p->punctured = calloc(p->places != 0 ? p->places : bitmap_words(a->depth), sizeof *p->punctured);
  return p->punctured != NULL;
}

/* Mark a leaf as punctured; false if it already was. */
static bool enter(struct pattern *p, uint64_t leaf)
{
  if (p->places == 0) {
    uint64_t *word = &p->punctured[leaf / 64], bit = UINT64_C(1) << leaf % 64;
    bool there = (*word & bit) != 0;
    *word |= bit;
    return !there;
  }
  uint64_t state = leaf; /* 0 is an empty place; a leaf is stored as leaf + 1 */
  size_t at = (size_t)random_next(&state) & (p->places - 1);
  for (; p->punctured[at] != 0; at = (at + 1) & (p->places - 1))
    if (p->punctured[at] == leaf + 1)
      return false;
  p->punctured[at] = leaf + 1;
  return true;
}

/* One draw of normal or random; false if it is outside the tree. */
static bool draw_leaf(struct pattern *p, uint64_t *leaf)
{
  unsigned depth = p->args->depth;
  if (p->args->scenario == RANDOM) {
    *leaf = random_next(&p->state) >> (64 - depth);
    return true;
  }
  /* relative to the middle: beyond depth 53 a leaf has more bits than a double */
  double half = ldexp(1, (int)depth - 1),
         x = round(p->args->sigma * random_normal(&p->state, &p->spare));
  if (!(x >= -half && x < half))
    return false;
  *leaf = (UINT64_C(1) << (depth - 1)) + (uint64_t)(int64_t)x;
  return true;
}

/* The next leaf to puncture; false if none turns up. */
static bool pattern_next(struct pattern *p, uint64_t *leaf)
{
  if (p->punctured == NULL) {
    *leaf = p->next;
    p->next += p->args->scenario == WORST ? 2 : 1;
    return true;
  }
  for (uint64_t draws = 0; draws < DRAWS_MAX; draws++)
    if (draw_leaf(p, leaf) && enter(p, *leaf))
      return true;
  return false;
}

static uint64_t greatest_punctures(const struct args *a)
{
  return UINT64_C(1) << (a->scenario == WORST ? a->depth - 1 : a->depth);
}

/* Default of --punctures: worst and best run to their end, random takes all leaves, normal as many
 * as lie within two sigma of the middle, at most half of all (beyond that, most draws would be
 * repeats). */
static uint64_t default_punctures(const struct args *a)
{
  uint64_t half = UINT64_C(1) << (a->depth - 1);
  if (a->scenario != NORMAL)
    return greatest_punctures(a);
  return 4 * a->sigma >= (double)half ? half : 4 * a->sigma < 1 ? 1 : (uint64_t)(4 * a->sigma);
}

/* ---- measuring ---- */

struct result {
  uint64_t punctures, prg_calls;
  size_t peak_nodes, final_nodes;
  uint64_t peak_at; /* the first puncture, from 1, that reached the node peak */
  size_t peak_memory, final_memory, memory_at_peak, effective_at_peak;
  double mean_ns;
  uint32_t median_ns, p99_ns, max_ns;
};

/* Decides when to sample a key's memory. */
struct sampler {
  uint64_t stride;
  size_t nodes; /* at the last sample */
};

static struct sampler sampler_begin(const struct args *a, size_t nodes)
{
  int all = a->impl != &impl_opt || a->depth <= SAMPLE_ALL_DEPTH;
  return (struct sampler){.stride = all ? 1 : (a->punctures + SAMPLES - 1) / SAMPLES,
                          .nodes = nodes};
}

/* Whether to sample after puncture i (from 1). */
static bool sampler_asks(struct sampler *s, const struct args *a, uint64_t i, size_t nodes)
{
  if (i % s->stride != 0 && i != a->punctures && nodes <= s->nodes + s->nodes / 1024)
    return false;
  s->nodes = nodes;
  return true;
}

static int compare_ns(const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* The k-th of a hundred quantiles by the nearest-rank rule; ns is sorted, n > 0. */
static uint32_t percentile(const uint32_t *ns, uint64_t n, unsigned k)
{
  return ns[(n * k + 99) / 100 - 1];
}

/* Always the same key: the measurements do not depend on its seed. */
static int make_key(const struct args *a, pprf_key **key)
{
  static const uint8_t salt[PPRF_SALT_BYTES];
  uint8_t seed[PPRF_VALUE_BYTES_MAX];
  uint64_t state = ~a->seed; /* different from the pattern's */
  for (size_t i = 0; i < sizeof seed; i += 8) {
    uint64_t word = random_next(&state);
    memcpy(seed + i, &word, 8);
  }
  const struct pprf_options options = {.size = sizeof options,
                                       .seed = seed,
                                       .depth = a->depth,
                                       .suite = a->suite,
                                       .salt = pprf_has_salt(a->suite) ? salt : NULL};
  int err = a->impl == &impl_list ? a->impl->setup(key, a->depth, seed)
                                  : a->impl->setup_with(key, &options);
  if (err != PPRF_OK)
    return complain(STATUS_FAILED, "making the key: %s", pprf_strerror(err));
  return STATUS_DONE;
}

static int next_failed(const struct args *a, uint64_t done)
{
  return complain(STATUS_FAILED,
                  "only %" PRIu64 " of %" PRIu64 " leaves were drawn: use fewer --punctures, or "
                  "a larger --sigma",
                  done, a->punctures);
}

/* Puncture everything on a key; ns[i] is the time of puncture i.  Only the puncture is timed. */
static int measure(const struct args *a, struct pattern *p, pprf_key *key, FILE *csv, uint32_t *ns,
                   struct result *r)
{
  struct progress progress = progress_begin();
  char name[64];
  int status = STATUS_DONE;
  /* the bar's label: "opt worst d=20" */
  snprintf(name, sizeof name, "%s %s d=%u", a->impl->name, scenario_names[a->scenario], a->depth);
  r->peak_nodes = a->impl->node_count(key);
  r->peak_memory = r->memory_at_peak = a->impl->memory_bytes(key);
  r->effective_at_peak = a->impl == &impl_list ? list_effective_bytes(key) : 0;
  struct sampler sampler = sampler_begin(a, r->peak_nodes);
  for (uint64_t i = 0; status == STATUS_DONE && i < a->punctures; i++) {
    uint64_t leaf, begin, end, calls = prg_calls();
    if (!pattern_next(p, &leaf)) {
      status = next_failed(a, i);
      break;
    }
    begin = now_ns();
    int err = a->impl->punct(key, leaf);
    end = now_ns();
    if (err != PPRF_OK) {
      status = complain(STATUS_FAILED, "puncture %" PRIu64 ", leaf %" PRIu64 ": %s", i + 1, leaf,
                        pprf_strerror(err));
      break;
    }
    ns[i] = end - begin > UINT32_MAX ? UINT32_MAX : (uint32_t)(end - begin);
    r->prg_calls += prg_calls() - calls;
    r->final_nodes = a->impl->node_count(key);
    bool sampled = sampler_asks(&sampler, a, i + 1, r->final_nodes);
    if (sampled)
      r->final_memory = a->impl->memory_bytes(key);
    if (r->final_memory > r->peak_memory)
      r->peak_memory = r->final_memory;
    if (r->final_nodes > r->peak_nodes) {
      r->peak_nodes = r->final_nodes;
      r->peak_at = i + 1;
      r->memory_at_peak = sampled ? r->final_memory : 0;
      r->effective_at_peak = a->impl == &impl_list ? list_effective_bytes(key) : 0;
    } else if (r->final_nodes == r->peak_nodes && r->memory_at_peak == 0 && sampled) {
      r->memory_at_peak = r->final_memory; /* also at the peak: worst ends there */
    }
    if (csv != NULL) {
      fprintf(csv, "%" PRIu64 ",%" PRIu64 ",%zu,", i + 1, leaf, r->final_nodes);
      if (sampled)
        fprintf(csv, "%zu", r->final_memory);
      fprintf(csv, ",%" PRIu32 "\n", ns[i]);
    }
    progress_show(&progress, name, i + 1, a->punctures);
  }
  progress_end(&progress);
  r->punctures = a->punctures;
  return status;
}

/* Measure the memory at a node peak between two samples: repeat the same punctures up to it. */
static int replay_to_peak(const struct args *a, struct result *r)
{
  struct progress progress = progress_begin();
  struct pattern p;
  pprf_key *key = NULL;
  if (!pattern_begin(&p, a))
    return complain(STATUS_FAILED, "no memory");
  int status = make_key(a, &key), err = PPRF_OK;
  uint64_t leaf;
  for (uint64_t i = 0; status == STATUS_DONE && i < r->peak_at; i++) {
    if (!pattern_next(&p, &leaf))
      status = next_failed(a, i);
    else if ((err = a->impl->punct(key, leaf)) != PPRF_OK)
      status = complain(STATUS_FAILED, "leaf %" PRIu64 ": %s", leaf, pprf_strerror(err));
    if (i % 1024 == 0)
      progress_show(&progress, "again, to the peak", i, r->peak_at);
  }
  progress_end(&progress);
  if (status == STATUS_DONE)
    r->memory_at_peak = a->impl->memory_bytes(key);
  a->impl->free(key);
  free(p.punctured);
  return status;
}

static void summarize(uint32_t *ns, struct result *r)
{
  double sum = 0;
  for (uint64_t i = 0; i < r->punctures; i++)
    sum += ns[i];
  qsort(ns, r->punctures, sizeof *ns, compare_ns);
  r->mean_ns = sum / (double)r->punctures;
  r->median_ns = percentile(ns, r->punctures, 50);
  r->p99_ns = percentile(ns, r->punctures, 99);
  r->max_ns = ns[r->punctures - 1];
}

static int run(const struct args *a, FILE *csv, struct result *r)
{
  struct pattern p;
  pprf_key *key = NULL;
  uint32_t *ns = a->punctures > SIZE_MAX / sizeof *ns ? NULL : malloc(a->punctures * sizeof *ns);
  if (!pattern_begin(&p, a) || ns == NULL) {
    free(p.punctured);
    free(ns);
    return complain(STATUS_FAILED, "no memory for %" PRIu64 " punctures", a->punctures);
  }
  memset(ns, 0xff, a->punctures * sizeof *ns); /* take the page faults now */
  if (csv != NULL)
    fputs("puncture,leaf,nodes,memory_bytes,ns\n", csv);
  int status = make_key(a, &key);
  if (status == STATUS_DONE)
    status = measure(a, &p, key, csv, ns, r);
  a->impl->free(key);
  free(p.punctured);
  if (status == STATUS_DONE && r->memory_at_peak == 0)
    status = replay_to_peak(a, r);
  if (status == STATUS_DONE)
    summarize(ns, r);
  free(ns);
  return status;
}

/* ---- the report ---- */

static int print_text(const struct args *a, const struct result *r)
{
  printf("%s, %s, depth %u, %s", a->impl->name, scenario_names[a->scenario], a->depth,
         pprf_suite_name(a->suite));
  if (a->scenario == NORMAL)
    printf(", sigma %g", a->sigma);
  if (a->scenario == NORMAL || a->scenario == RANDOM)
    printf(", seed %" PRIu64, a->seed);
  printf("\npunctures  %" PRIu64 "\n"
         "nodes      peak %zu, final %zu\n"
         "memory     peak %zu bytes, final %zu; %.2f bytes a node at the node peak\n",
         r->punctures, r->peak_nodes, r->final_nodes, r->peak_memory, r->final_memory,
         (double)r->memory_at_peak / (double)r->peak_nodes);
  if (a->impl == &impl_list)
    printf("list       %zu bytes asked for at the node peak = 36 * %zu + %zu\n"
           "           %zu bytes with padding and headers   = 64 * %zu + %zu\n",
           r->effective_at_peak, r->peak_nodes, r->effective_at_peak - 36 * r->peak_nodes,
           r->memory_at_peak, r->peak_nodes, r->memory_at_peak - 64 * r->peak_nodes);
  printf("PRG calls  %" PRIu64 "\n"
         "time       mean %.0f ns, median %" PRIu32 ", p99 %" PRIu32 ", max %" PRIu32
         " a puncture\n",
         r->prg_calls, r->mean_ns, r->median_ns, r->p99_ns, r->max_ns);
  return STATUS_DONE;
}

static int print_json(const struct args *a, const struct result *r)
{
  json_t *o = json_pack(
    "{s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:f, s:I, s:I, s:I}", "impl",
    a->impl->name, "scenario", scenario_names[a->scenario], "suite", pprf_suite_name(a->suite),
    "depth", (int)a->depth, "punctures", (json_int_t)r->punctures, "peak_nodes",
    (json_int_t)r->peak_nodes, "peak_at", (json_int_t)r->peak_at, "final_nodes",
    (json_int_t)r->final_nodes, "peak_memory_bytes", (json_int_t)r->peak_memory,
    "final_memory_bytes", (json_int_t)r->final_memory, "memory_bytes_at_node_peak",
    (json_int_t)r->memory_at_peak, "bytes_a_node_at_node_peak",
    (double)r->memory_at_peak / (double)r->peak_nodes, "prg_calls", (json_int_t)r->prg_calls,
    "mean_ns", r->mean_ns, "median_ns", (json_int_t)r->median_ns, "p99_ns", (json_int_t)r->p99_ns,
    "max_ns", (json_int_t)r->max_ns);
  int failed = o == NULL;
  if (!failed && a->impl == &impl_list)
    failed |= json_object_set_new(o, "effective_bytes_at_node_peak",
                                  json_integer((json_int_t)r->effective_at_peak));
  if (!failed && a->scenario == NORMAL)
    failed |= json_object_set_new(o, "sigma", json_real(a->sigma));
  if (!failed && (a->scenario == NORMAL || a->scenario == RANDOM))
    failed |= json_object_set_new(o, "seed", json_integer((json_int_t)a->seed));
  failed = failed || json_dumpf(o, stdout, JSON_INDENT(2)) != 0 || putchar('\n') == EOF;
  json_decref(o);
  return failed ? complain(STATUS_FAILED, "cannot write JSON") : STATUS_DONE;
}

/* Never overwrite an existing regular file: it may be a key.  Pipes and devices have nothing to
 * lose. */
static FILE *open_csv(const char *path)
{
  struct stat s;
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0 && errno == EEXIST) {
    fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0 && (fstat(fd, &s) != 0 || S_ISREG(s.st_mode))) {
      (void)close(fd);
      fd = -1;
      errno = EEXIST;
    }
  }
  FILE *csv = fd < 0 ? NULL : fdopen(fd, "w");
  if (csv == NULL && fd >= 0)
    (void)close(fd);
  return csv;
}

static int simulate(const struct args *a)
{
  struct result r = {.punctures = 0};
  FILE *csv = NULL;
  if (a->csv != NULL && keyfile_reserved(a->csv))
    return complain(STATUS_USAGE, "--csv '%s': pprf erases files with such names", a->csv);
  if (a->csv != NULL && (csv = open_csv(a->csv)) == NULL)
    return complain(STATUS_FAILED, "--csv '%s': %s", a->csv,
                    errno == EEXIST ? "already exists, and no file is overwritten"
                                    : strerror(errno));
  int status = run(a, csv, &r);
  if (csv != NULL) {
    bool failed = ferror(csv) != 0;
    if (fclose(csv) != 0 || failed)
      status = complain(STATUS_FAILED, "--csv '%s': %s", a->csv, strerror(errno));
  }
  if (status != STATUS_DONE)
    return status;
  return a->json ? print_json(a, &r) : print_text(a, &r);
}

/* ---- arguments ---- */

enum { KEY_SIGMA = 256, KEY_SEED, KEY_PUNCTURES, KEY_CSV };

/* A positive decimal fraction, the whole string. */
static bool parse_sigma(const char *text, double *sigma)
{
  char *end;
  if (text[0] < '0' || text[0] > '9')
    return false;
  *sigma = strtod(text, &end);
  return *end == '\0' && isfinite(*sigma) && *sigma > 0;
}

/* Checks that need all options. */
static int complete(void *input)
{
  struct args *a = input;
  if (a->scenario == SCENARIOS)
    return complain(STATUS_USAGE, "--scenario is missing (worst, best, normal, random)");
  if (a->depth == 0)
    return complain(STATUS_USAGE, "--depth is missing");
  if (a->impl == &impl_list && a->depth > LIST_DEPTH_MAX)
    return complain(STATUS_USAGE, "--depth '%u': with --impl list at most %d", a->depth,
                    LIST_DEPTH_MAX);
  if (a->impl == &impl_list && a->suite != PPRF_SHA3_256)
    return complain(STATUS_USAGE, "--suite '%s': --impl list has only sha3-256",
                    pprf_suite_name(a->suite));
  if (a->sigma != 0 && a->scenario != NORMAL)
    return complain(STATUS_USAGE, "--sigma: only --scenario normal has one");
  if (a->sigma == 0)
    a->sigma = ldexp(1, (int)a->depth - 3);
  if (!a->have_punctures)
    a->punctures = default_punctures(a);
  if (a->punctures > PUNCTURES_MAX)
    return complain(STATUS_USAGE,
                    "--punctures is missing: the default is %" PRIu64 ", more than 2^32",
                    a->punctures);
  if (a->punctures > greatest_punctures(a))
    return complain(STATUS_USAGE,
                    "--punctures '%" PRIu64 "': there are only %" PRIu64 " leaves to puncture",
                    a->punctures, greatest_punctures(a));
  return STATUS_DONE;
}

static int parse_scenario(struct args *a, const char *arg)
{
  for (a->scenario = 0; a->scenario < SCENARIOS; a->scenario++)
    if (strcmp(arg, scenario_names[a->scenario]) == 0)
      return STATUS_DONE;
  return complain(STATUS_USAGE, "--scenario '%s': not one of worst, best, normal, random", arg);
}

static int parse_option(void *input, int key, char *arg)
{
  struct args *a = input;
  switch (key) {
  case 'i':
    a->impl = impl_by_name(arg, true);
    return a->impl == NULL ? STATUS_USAGE : STATUS_DONE;
  case KEY_CSV:
    a->csv = arg;
    return STATUS_DONE;
  case 'j':
    a->json = true;
    return STATUS_DONE;
  case 's':
    return parse_scenario(a, arg);
  case 'd':
    return parse_depth(arg, &a->depth);
  case 'S':
    return parse_suite(arg, &a->suite);
  case KEY_SIGMA:
    if (parse_sigma(arg, &a->sigma))
      return STATUS_DONE;
    return complain(STATUS_USAGE, "--sigma '%s': not a number above 0", arg);
  case KEY_SEED:
    if (parse_number(arg, INT64_MAX, &a->seed))
      return STATUS_DONE;
    return complain(STATUS_USAGE, "--seed '%s': not a number below 2^63", arg);
  default:
    a->have_punctures = true;
    if (parse_number(arg, PUNCTURES_MAX, &a->punctures) && a->punctures > 0)
      return STATUS_DONE;
    return complain(STATUS_USAGE, "--punctures '%s': not a number from 1 to 2^32", arg);
  }
}

static int parse_operand(void *input, char *arg)
{
  (void)input;
  return complain(STATUS_USAGE, "argument '%s': only options are allowed", arg);
}

int command_simulate(int argc, char **argv)
{
  static const struct option_line options[] = {
    {"scenario", 's', "NAME",
     "worst: every second leaf, ascending; best: all leaves, ascending; normal: leaves drawn from "
     "N(2^D/2, S); random: leaves drawn uniformly"},
    {"depth", 'd', "D", "Levels below the root, 1 to 63 (list: 30)"},
    {"suite", 'S', "NAME",
     "sha3-256 (default), sha3-256-salted, aes-128 or mls-sha256; list has only the first"},
    {"sigma", KEY_SIGMA, "S", "Standard deviation of normal, in leaves (default 2^D/8)"},
    {"seed", KEY_SEED, "N", "Seed of the simulation (default 1)"},
    {"punctures", KEY_PUNCTURES, "N",
     "Stop after N (default: worst 2^D/2, best and random 2^D, normal 4 S, at most 2^D/2)"},
    OPTION_IMPL("list|ref|opt"),
    {"csv", KEY_CSV, "FILE", "Write a line for each puncture to a new file"},
    {"json", 'j', NULL, "Print a JSON object"},
    {0},
  };
  static const struct command_line line = {
    .operands = "--scenario=NAME --depth=D",
    .about = "Puncture a key in a pattern; report its size and the time a puncture takes.",
    .more = "See pprf-simulate(1).",
    .options = options,
    .option = parse_option,
    .operand = parse_operand,
    .end = complete,
  };
  struct args a = {.impl = &impl_opt, .scenario = SCENARIOS, .suite = PPRF_SHA3_256, .seed = 1};
  int status = parse_arguments(&line, argc, argv, &a);
  return status == STATUS_DONE ? simulate(&a) : status;
}

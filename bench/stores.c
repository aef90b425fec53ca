/* SPDX-License-Identifier: Apache-2.0 */
/* The two stores of opt beside each other: bytes a node and times, in one run, round by round in turn.
 * Usage: stores [ROUNDS]     5 without it; a table on standard output
 *
 * A time's ratio is that to its PRG calls, each as long as one in a chain of them, measured in the same
 * round.  Times are CPU time of the thread; medians, with the least and the greatest round. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "packed.h"
#include "fork.h"
#include "pprf.h"
#include "prg.h"

enum { ROUNDS_MAX = 101 };

static const uint8_t root[PPRF_SEED_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};
static const char *const name[] = {"slots", "packed"};
static const unsigned kind[] = {PPRF_STORE_SLOTS, PPRF_STORE_PACKED};
static unsigned rounds = 5;
static uint64_t state;

static uint64_t rnd(void)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * UINT64_C(0x2545f4914f6cdd1d);
}

static void check(int ok, const char *what)
{
  if (!ok) {
    fprintf(stderr, "stores: %s\n", what);
    exit(1);
  }
}

static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ns of a PRG call that waits for the one before. */
static double call_ns(void)
{
  struct pprf_seed s = {1, 2};
  double best = 1e18;
  for (unsigned k = 0; k < 5; k++) {
    double from = now();
    for (unsigned i = 0; i < 2000; i++)
      s = prg_expand(PRG_BARE, s, 0, 1).left;
    double t = (now() - from) / 2000;
    best = t < best ? t : best;
  }
  check(s.lo != 0, "a seed is zero");
  return best;
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct figure {
  double value[ROUNDS_MAX];
};

static const char *text(struct figure *f, int digits)
{
  static char buf[4][80];
  static unsigned at;
  char *out = buf[at++ % 4];
  qsort(f->value, rounds, sizeof *f->value, by_value);
  snprintf(out, sizeof buf[0], "%.*f (%.*f-%.*f)", digits, f->value[rounds / 2], digits,
           f->value[0], digits, f->value[rounds - 1]);
  return out;
}

static pprf_key *new_key(unsigned depth, unsigned store)
{
  struct pprf_options o = {.size = sizeof o, .seed = root, .depth = depth, .store = store};
  pprf_key *key = NULL;
  check(pprf_setup_with(&key, &o) == PPRF_OK, "set-up");
  return key;
}

/* ---- sequences of punctures ---- */

enum order { RANDOM, WORST, TICKETS };

/* Leaves of a sequence, of which some may repeat. */
static uint64_t *sequence(enum order order, unsigned depth, uint64_t n)
{
  uint64_t *leaf = malloc(n * sizeof *leaf), mask = (UINT64_C(1) << depth) - 1;
  check(leaf != NULL, "no memory");
  state = 88172645463325252u;
  for (uint64_t i = 0; i < n; i++)
    leaf[i] = order == WORST    ? 2 * i
              : order == RANDOM ? rnd() & mask
                                : (i * 2 + (rnd() & 127)) & mask;
  return leaf;
}

static void punctures(const char *what, enum order order, unsigned depth, uint64_t n)
{
  static struct figure ns[2], ratio[2];
  double bytes[2] = {0};
  uint64_t *leaf = sequence(order, depth, n), nodes = 0, done = 0;
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned k = 0; k < 2; k++) {
      pprf_key *key = new_key(depth, kind[k]);
      double call = call_ns(), from = now();
      done = 0;
      for (uint64_t i = 0; i < n; i++)
        done += pprf_punct(key, leaf[i]) == PPRF_OK;
      double t = now() - from;
      nodes = pprf_node_count(key);
      bytes[k] = (double)pprf_memory_bytes(key) / (double)nodes;
      ns[k].value[round] = t / (double)done;
      /* each puncture takes as many calls as nodes come in, less one */
      ratio[k].value[round] = t / call / ((double)nodes + (double)done - 1);
      pprf_free(key);
    }
  for (unsigned k = 0; k < 2; k++)
    printf("| %s, depth %u, %llu punctures | %s | %llu | %.2f | %s | %s |\n", what, depth,
           (unsigned long long)done, name[k], (unsigned long long)nodes, bytes[k], text(&ns[k], 0),
           text(&ratio[k], 2));
  free(leaf);
}

/* Beyond the depths of the API: the packed store alone, with a descent as core.c has it. */
static void deep(unsigned depth, uint64_t n)
{
  static struct figure ns, ratio;
  struct opt_packed p;
  uint64_t *leaf = sequence(RANDOM, depth, n), done = 0, calls = 0;
  double bytes = 0;
  for (unsigned round = 0; round < rounds; round++) {
    struct pprf_seed seed = {1, 2}, copath[OPT_PACKED_DEPTH_MAX];
    struct opt_node node;
    check(opt_packed_open(&p, depth, &seed) == PPRF_OK, "open");
    double call = call_ns(), from = now();
    done = calls = 0;
    for (uint64_t i = 0; i < n; i++) {
      if (!opt_packed_find(&p, leaf[i], &node))
        continue;
      seed = opt_packed_seed(&p, node);
      for (unsigned h = node.height; h > 0; h--) {
        struct pprf_children c = prg_expand(PRG_BARE, seed, leaf[i] >> h << h, h);
        int right = (int)(leaf[i] >> (h - 1) & 1);
        seed = right ? c.right : c.left;
        copath[h - 1] = right ? c.left : c.right;
      }
      calls += node.height;
      done++;
      check(opt_packed_puncture(&p, leaf[i], node, copath) == PPRF_OK, "puncture");
    }
    double t = now() - from;
    ns.value[round] = t / (double)done;
    ratio.value[round] = t / call / (double)calls;
    bytes = (double)(opt_packed_bytes(&p) + sizeof p) / (double)p.nodes;
    if (round + 1 == rounds)
      printf(
        "| random, depth %u, %llu punctures | packed, without the API | %llu | %.2f | %s | %s |\n",
        depth, (unsigned long long)done, (unsigned long long)p.nodes, bytes, text(&ns, 0),
        text(&ratio, 2));
    opt_packed_close(&p);
  }
  free(leaf);
}

/* ---- small and fresh keys ---- */

static void set_up(void)
{
  static struct figure ns[2];
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned k = 0; k < 2; k++) {
      double from = now();
      for (unsigned i = 0; i < 500; i++)
        pprf_free(new_key(32, kind[k]));
      ns[k].value[round] = (now() - from) / 500;
    }
  for (unsigned k = 0; k < 2; k++)
    printf("| set-up and free, depth 32, seed given | %s | | | %s | |\n", name[k], text(&ns[k], 0));
}

static void first_use(unsigned depth)
{
  static struct figure ns[2], ratio[2];
  size_t bytes[2] = {0};
  uint8_t out[PPRF_SEED_BYTES];
  enum { KEYS = 200 };
  static pprf_key *key[KEYS];
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned k = 0; k < 2; k++) {
      for (unsigned i = 0; i < KEYS; i++)
        key[i] = new_key(depth, kind[k]);
      pprf_key *warm = new_key(depth, kind[k]);
      (void)pprf_eval_punct(warm, 1, out);
      double call = call_ns(), from = now();
      for (unsigned i = 0; i < KEYS; i++)
        check(pprf_eval_punct(key[i], 77, out) == PPRF_OK, "puncture");
      ns[k].value[round] = (now() - from) / KEYS;
      ratio[k].value[round] = ns[k].value[round] / call / depth;
      bytes[k] = pprf_memory_bytes(key[0]);
      for (unsigned i = 0; i < KEYS; i++)
        pprf_free(key[i]);
      pprf_free(warm);
    }
  for (unsigned k = 0; k < 2; k++)
    printf(
      "| first evaluate-and-puncture, depth %u: whole key %zu B | %s | %u | %.2f | %s | %s |\n",
      depth, bytes[k], name[k], depth, (double)bytes[k] / depth, text(&ns[k], 0),
      text(&ratio[k], 2));
}

static size_t process_bytes(void)
{
  unsigned long pages = 0, ignored;
  FILE *f = fopen("/proc/self/statm", "r");
  check(f != NULL && fscanf(f, "%lu %lu", &ignored, &pages) == 2, "statm");
  fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* All in all: what the process has grown by. */
static void many_keys(unsigned k, unsigned keys, unsigned each)
{
  pprf_key **key = malloc(keys * sizeof *key);
  uint64_t nodes = 0;
  check(key != NULL, "no memory");
  memset(key, 1, keys * sizeof *key);
  size_t before = process_bytes();
  state = 77;
  for (unsigned i = 0; i < keys; i++) {
    key[i] = new_key(32, kind[k]);
    for (unsigned j = 0; j < each; j++)
      (void)pprf_punct(key[i], rnd() >> 32);
    nodes += pprf_node_count(key[i]);
  }
  double bytes = (double)(process_bytes() - before);
  printf("| %u keys of depth 32, %u random punctures each | %s | %llu | %.2f | | |\n", keys, each,
         name[k], (unsigned long long)nodes, bytes / (double)nodes);
  for (unsigned i = 0; i < keys; i++)
    pprf_free(key[i]);
  free(key);
}

int main(int argc, char **argv)
{
  uint64_t number;
  if (argc == 2)
    rounds = (unsigned)atoi(argv[1]);
  check(argc <= 2 && rounds >= 1 && rounds <= ROUNDS_MAX, "usage: stores [ROUNDS]");
  check(pprf_process_claim(&number) == PPRF_OK, "no memory");
  printf("PRG %s, %.0f ns a call; %u rounds\n\n", pprf_prg_name(), call_ns(), rounds);
  printf("| case | store | nodes | bytes a node | ns | ratio to the PRG calls |\n");
  printf("|---|---|---|---|---|---|\n");
  set_up();
  first_use(16);
  first_use(32);
  many_keys(1, 10000, 50);
  many_keys(0, 100, 50);
  static const double densities[] = {1e-5, 1e-4, 1e-3, 1e-2, .1, .5};
  static const unsigned depths[] = {16, 20, 24};
  for (unsigned d = 0; d < 3; d++)
    for (unsigned i = 0; i < 6; i++) {
      uint64_t n = (uint64_t)(densities[i] * (double)(UINT64_C(1) << depths[d]));
      if (n >= 5 && n <= 2000000)
        punctures("random", RANDOM, depths[d], n);
    }
  punctures("random", RANDOM, 32, 64);
  punctures("random", RANDOM, 32, 10000);
  punctures("worst case", WORST, 16, 1 << 15);
  punctures("random, as many draws as leaves", RANDOM, 16, 1 << 16);
  punctures("tickets, in order but for 128 places", TICKETS, 20, 1 << 19);
  deep(48, 10000);
  deep(63, 64);
  deep(63, 10000);
  return 0;
}

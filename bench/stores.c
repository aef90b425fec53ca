/* SPDX-License-Identifier: Apache-2.0 */
/* Compares opt's two stores with each other, with a B-tree and a hash map of nodes, and with OpenMLS's tree if
 * that was built: bytes per node and times, in one run, in turns within each round.
 * Usage: stores [ROUNDS [FILE [LIBRARY]]]
 *   ROUNDS    default 5; cases of more than 200 000 punctures run once, or never if ROUNDS < 3
 *   FILE      each round's values as JSON
 *   LIBRARY   libopenmls_pprf.so, made by bench/openmls/build.sh
 * A table is written to standard output.
 *
 * A time's ratio is to the time of its PRG calls, as measured in a chain of calls in the same
 * round; OpenMLS's calls are longer: HKDF on 32-byte seeds. Times are CPU times of the thread. */
#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#include "packed/arena.h"
#include "baselines.h"
#include "figures.h"
#include "common/fork.h"
#include "key.h"
#include "prg.h"

enum { OPT, SLOTS, BTREE, HASH, OPENMLS, STORES };

static const uint8_t root[PPRF_SEED_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8};

/* The functions of a store that are used here, and its depths. */
static struct store {
  const char *name;
  struct pprf_impl impl;
  unsigned depth_min, depth_max;
  uint64_t sparse_max; /* at depth 32 and more, it has memory for this many punctures */
} stores[STORES];
static unsigned (*openmls_calls)(uint64_t n);

static unsigned rounds = 5;
static FILE *json;
static int rows;

/* ---- what is written ---- */

/* A case: what is done, and the value on the x axis. */
struct what {
  const char *name, *label;
  unsigned depth;
  uint64_t punctures;
};

/* A store's figures in a case; figures not measured are zero or have no values. */
struct row {
  uint64_t nodes;
  double key_bytes, bytes_per_node;
  struct figure ns, ratio;
};

static void put_row(const struct what *w, const struct store *s, const struct row *r)
{
  printf("| %s | %s | %llu |", w->label, s->name, (unsigned long long)r->nodes);
  if (r->bytes_per_node > 0)
    printf(" %.2f |", r->bytes_per_node);
  else
    printf(" |");
  printf(" %s | %s |\n", text(&r->ns, 0), text(&r->ratio, 2));
  check_output();
  if (json == NULL)
    return;
  fprintf(json,
          "%s\n {\"case\": \"%s\", \"label\": \"%s\", \"depth\": %u, \"punctures\": %llu, "
          "\"store\": \"%s\", \"nodes\": %llu",
          rows++ > 0 ? "," : "", w->name, w->label, w->depth, (unsigned long long)w->punctures,
          s->name, (unsigned long long)r->nodes);
  if (r->key_bytes > 0)
    fprintf(json, ", \"key_bytes\": %.0f", r->key_bytes);
  if (r->bytes_per_node > 0)
    fprintf(json, ", \"bytes_per_node\": %.4f", r->bytes_per_node);
  write_figure(json, "ns", &r->ns);
  write_figure(json, "ratio", &r->ratio);
  fprintf(json, "}");
}

/* ---- the stores ---- */

/* At every leaf OpenMLS's value equals that of a key of mls-sha256 with the same root (ROOT in
 * bench/openmls/lib.rs): both implement the tree of RFC 9420, section 9, independently. */
static void compare_with_openmls(int (*eval_punct)(pprf_key *, uint64_t, uint8_t *))
{
  enum { DEPTH = 16 };
  uint8_t seed[32], ours[32], theirs[32];
  memset(seed, 7, sizeof seed);
  const struct pprf_options options = {
    .size = sizeof options, .seed = seed, .depth = DEPTH, .suite = PPRF_MLS_SHA256};
  pprf_key *key = NULL, *openmls = NULL;
  check(impl_opt.setup_with(&key, &options) == PPRF_OK &&
          stores[OPENMLS].impl.setup(&openmls, DEPTH, root) == PPRF_OK,
        "no keys to compare OpenMLS's values with");
  for (uint64_t leaf = 0; leaf >> DEPTH == 0; leaf++)
    check(impl_opt.eval(key, leaf, ours) == PPRF_OK && eval_punct(openmls, leaf, theirs) == 0 &&
            memcmp(ours, theirs, sizeof ours) == 0,
          "OpenMLS's values are not those of mls-sha256");
  impl_opt.free(key);
  stores[OPENMLS].impl.free(openmls);
  printf("OpenMLS's %u values are those of mls-sha256\n", 1U << DEPTH);
}

static void open_openmls(const char *path)
{
  void *library = path != NULL && access(path, R_OK) == 0 ? dlopen(path, RTLD_NOW) : NULL;
  if (library == NULL)
    return;
  struct pprf_impl *i = &stores[OPENMLS].impl;
  *(void **)&i->setup = dlsym(library, "openmls_setup");
  *(void **)&i->eval_punct = dlsym(library, "openmls_eval_punct");
  *(void **)&i->memory_bytes = dlsym(library, "openmls_memory_bytes");
  *(void **)&i->free = dlsym(library, "openmls_free");
  *(void **)&openmls_calls = dlsym(library, "openmls_calls");
  int (*eval_punct_wide)(pprf_key *, uint64_t, uint8_t *) = NULL;
  *(void **)&eval_punct_wide = dlsym(library, "openmls_eval_punct_wide");
  check(i->setup && i->eval_punct && i->memory_bytes && i->free && openmls_calls != NULL &&
          eval_punct_wide != NULL,
        "the library is not the one of bench/openmls");
  compare_with_openmls(eval_punct_wide);
}

static void open_stores(const char *openmls)
{
  stores[OPT] = (struct store){"opt", impl_opt, 1, PPRF_DEPTH_MAX, UINT64_MAX};
  stores[SLOTS] = (struct store){"slots", impl_slots, 1, 32, 20000};
  stores[BTREE] = (struct store){"btree", impl_btree, 1, WIDE_DEPTH_MAX, UINT64_MAX};
  stores[HASH] = (struct store){"hash", impl_hash, 1, WIDE_DEPTH_MAX, UINT64_MAX};
  stores[OPENMLS] = (struct store){"openmls", {.name = "openmls"}, 16, 16, UINT64_MAX};
  open_openmls(openmls);
}

static int takes(const struct store *s, unsigned depth, uint64_t punctures)
{
  return s->impl.setup != NULL && s->depth_min <= depth && depth <= s->depth_max &&
         (depth < 32 || punctures <= s->sparse_max);
}

/* Record what runs now, for the message if the program stops. */
static void now_runs(const char *what, unsigned depth, uint64_t n, const struct store *s)
{
  snprintf(running, sizeof running, "%s, depth %u, %llu punctures, %s", what, depth,
           (unsigned long long)n, s->name);
}

/* Evaluate and puncture a leaf; 1 unless it was already punctured. */
static int took(const struct store *s, pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  int err = s->impl.eval_punct(key, leaf, out);
  check(err == PPRF_OK || err == PPRF_ERR_PUNCTURED, pprf_strerror(err));
  return err == PPRF_OK;
}

static pprf_key *new_key(const struct store *s, unsigned depth)
{
  pprf_key *key = NULL;
  int err = s->impl.setup(&key, depth, root);
  check(err == PPRF_OK, pprf_strerror(err));
  return key;
}

/* ns of a PRG call in a chain of dependent calls: the least of five, so that disturbances do not
 * make a ratio look better. */
static double call_ns(const struct store *s)
{
  enum { CALLS = 2000 };
  struct pprf_seed seed = {1, 2};
  double best = 1e18;
  for (unsigned k = 0; k < 5; k++) {
    double from = now();
    if (s == &stores[OPENMLS])
      (void)openmls_calls(CALLS);
    else
      for (unsigned i = 0; i < CALLS; i++)
        seed = prg_expand(PRG_BARE, seed, 0, 1).left;
    double t = (now() - from) / CALLS;
    best = t < best ? t : best;
  }
  check(seed.lo != 0, "a seed is zero");
  return best;
}

/* ---- sequences of punctures ---- */

enum order { RANDOM, WORST, TICKETS, ASCENDING };

/* The leaves of a sequence; some may repeat. */
static uint64_t *sequence(enum order order, unsigned depth, uint64_t n)
{
  uint64_t *leaf = malloc(n * sizeof *leaf), mask = (UINT64_C(1) << depth) - 1;
  uint64_t state = 88172645463325252u;
  check(leaf != NULL, "no memory");
  for (uint64_t i = 0; i < n; i++)
    leaf[i] = order == WORST       ? 2 * i
              : order == ASCENDING ? i
              : order == RANDOM    ? next_random(&state) & mask
                                   : (i * 2 + (next_random(&state) & 127)) & mask;
  return leaf;
}

/* Evaluate and puncture each leaf of the sequence in one call, OpenMLS's only operation; a short
 * sequence several times, each on a new key. */
static void run_sequence(const struct store *s, const struct what *w, const uint64_t *leaf,
                         uint64_t n, uint64_t *nodes, struct row *r, uint64_t *done)
{
  const unsigned keys = n < 1000 ? (unsigned)(1000 / n) : 1;
  size_t before = s == &stores[OPENMLS] ? s->impl.memory_bytes(NULL) : 0;
  now_runs(w->name, w->depth, n, s);
  double call = call_ns(s), t = 0;
  for (unsigned k = 0; k < keys; k++) {
    uint8_t out[PPRF_SEED_BYTES];
    pprf_key *key = new_key(s, w->depth);
    double from = now();
    *done = 0;
    for (uint64_t i = 0; i < n; i++)
      *done += (uint64_t)took(s, key, leaf[i], out);
    t += now() - from;
    if (s->impl.node_count != NULL)
      *nodes = s->impl.node_count(key);
    r->key_bytes = (double)(s->impl.memory_bytes(key) - before);
    s->impl.free(key);
  }
  t /= keys;
  r->nodes = *nodes; /* for OpenMLS the others' number, since it does not report its own */
  r->bytes_per_node = r->key_bytes / (double)*nodes;
  add_value(&r->ns, t / (double)*done);
  /* a puncture takes one call more than it adds nodes */
  add_value(&r->ratio, t / call / ((double)*nodes + (double)*done - 1));
}

static void punctures(const char *name, const char *words, enum order order, unsigned depth,
                      uint64_t n)
{
  char label[120];
  struct what w = {name, label, depth, n};
  struct row row[STORES];
  uint64_t *leaf = sequence(order, depth, n), nodes = 0, done = 0;
  const unsigned times =
    n > 100000 && rounds > 3 ? 3 : rounds; /* a long run averages out disturbances */
  if (n > 200000 && rounds < 3) {
    free(leaf);
    return;
  }
  memset(row, 0, sizeof row);
  for (unsigned round = 0; round < (n > 200000 ? 1 : times); round++) {
    for (unsigned k = 0; k < STORES; k++)
      if (takes(&stores[k], depth, n))
        run_sequence(&stores[k], &w, leaf, n, &nodes, &row[k], &done);
    malloc_trim(0);
  }
  snprintf(label, sizeof label, "%s, depth %u, %llu punctures", words, depth,
           (unsigned long long)done);
  for (unsigned k = 0; k < STORES; k++)
    if (row[k].ns.n > 0)
      put_row(&w, &stores[k], &row[k]);
  free(leaf);
}

/* ---- small and fresh keys ---- */

static void set_up(unsigned depth)
{
  char label[120];
  struct what w = {"setup", label, depth, 0};
  struct row row[STORES];
  memset(row, 0, sizeof row);
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned k = 0; k < STORES; k++)
      if (takes(&stores[k], depth, 0)) {
        now_runs("setup", depth, 0, &stores[k]);
        double from = now();
        for (unsigned i = 0; i < 500; i++)
          stores[k].impl.free(new_key(&stores[k], depth));
        add_value(&row[k].ns, (now() - from) / 500);
      }
  snprintf(label, sizeof label, "set-up and free, depth %u, seed given", depth);
  for (unsigned k = 0; k < STORES; k++)
    if (row[k].ns.n > 0)
      put_row(&w, &stores[k], &row[k]);
}

static void first_use(unsigned depth)
{
  enum { KEYS = 200 };
  char label[120];
  struct what w = {"first", label, depth, 1};
  struct row row[STORES];
  uint8_t out[PPRF_SEED_BYTES];
  static pprf_key *key[KEYS];
  memset(row, 0, sizeof row);
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned k = 0; k < STORES; k++) {
      const struct store *s = &stores[k];
      if (!takes(s, depth, 1))
        continue;
      now_runs("first", depth, 1, s);
      size_t before = k == OPENMLS ? s->impl.memory_bytes(NULL) : 0;
      pprf_key *warm = new_key(s, depth);
      check(s->impl.eval_punct(warm, 1, out) == PPRF_OK, "puncture");
      row[k].key_bytes = (double)(s->impl.memory_bytes(warm) - before);
      for (unsigned i = 0; i < KEYS; i++)
        key[i] = new_key(s, depth);
      double call = call_ns(s), from = now();
      int err = PPRF_OK;
      for (unsigned i = 0; i < KEYS; i++)
        err |= s->impl.eval_punct(key[i], 77, out);
      double t = (now() - from) / KEYS;
      check(err == PPRF_OK, "puncture");
      add_value(&row[k].ns, t);
      add_value(&row[k].ratio, t / call / depth);
      for (unsigned i = 0; i < KEYS; i++)
        s->impl.free(key[i]);
      s->impl.free(warm);
    }
  snprintf(label, sizeof label, "first evaluate-and-puncture of a key, depth %u", depth);
  for (unsigned k = 0; k < STORES; k++)
    if (row[k].ns.n > 0) {
      row[k].nodes = depth;
      row[k].bytes_per_node = row[k].key_bytes / depth;
      put_row(&w, &stores[k], &row[k]);
    }
}

/* A key of depth 16 with all leaves but one punctured. */
static void one_left(void)
{
  const struct what w = {"one left", "one node left, depth 16", 16, 65535};
  for (unsigned k = 0; k < STORES; k++) {
    const struct store *s = &stores[k];
    uint8_t out[PPRF_SEED_BYTES];
    struct row row;
    memset(&row, 0, sizeof row);
    if (!takes(s, 16, 65535))
      continue;
    now_runs(w.name, 16, 65535, s);
    size_t before = k == OPENMLS ? s->impl.memory_bytes(NULL) : 0;
    pprf_key *key = new_key(s, 16);
    int err = PPRF_OK;
    for (uint64_t leaf = 0; leaf < 65536; leaf++) /* this order creates many nodes on the way */
      if ((leaf * 40503 & 65535) != 12345)
        err |= s->impl.eval_punct(key, leaf * 40503 & 65535, out);
    check(err == PPRF_OK, "puncture");
    row.nodes = 1;
    row.key_bytes = row.bytes_per_node = (double)(s->impl.memory_bytes(key) - before);
    put_row(&w, s, &row);
    s->impl.free(key);
  }
}

static size_t process_bytes(void)
{
  unsigned long pages = 0, ignored;
  FILE *f = fopen("/proc/self/statm", "r");
  check(f != NULL && fscanf(f, "%lu %lu", &ignored, &pages) == 2, "statm");
  fclose(f);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* Growth of the whole process. The heap is trimmed first; freed blocks of other stores that
 * remain in it would favour whoever comes later, so the packed store comes first. */
static void many_keys(unsigned k, unsigned keys, unsigned depth)
{
  enum { EACH = 50 };
  char label[120];
  struct what w = {"many keys", label, depth, EACH};
  const struct store *s = &stores[k];
  struct row row;
  uint64_t state = 77;
  memset(&row, 0, sizeof row);
  if (!takes(s, depth, EACH))
    return;
  now_runs(w.name, depth, EACH, s);
  pprf_key **key = malloc(keys * sizeof *key);
  check(key != NULL, "no memory");
  memset(key, 1, keys * sizeof *key);
  malloc_trim(0);
  size_t before = process_bytes();
  for (unsigned i = 0; i < keys; i++) {
    uint8_t out[PPRF_SEED_BYTES];
    key[i] = new_key(s, depth);
    for (unsigned j = 0; j < EACH; j++)
      (void)took(s, key[i], next_random(&state) >> (64 - depth), out);
    row.nodes += s->impl.node_count != NULL ? s->impl.node_count(key[i]) : 0;
  }
  row.key_bytes = (double)(process_bytes() - before);
  row.bytes_per_node = row.key_bytes / (double)row.nodes;
  snprintf(label, sizeof label, "%u keys of depth %u, %u random punctures each, all in all", keys,
           depth, (unsigned)EACH);
  put_row(&w, s, &row);
  for (unsigned i = 0; i < keys; i++)
    s->impl.free(key[i]);
  free(key);
}

/* ns that wiping takes at the end of a puncture or set-up: the registers and their stack. With
 * arena: ns to take a block, lock it in memory as all are, wipe it and release it. */
static double wipe_ns(int arena)
{
  enum { CALLS = 5000, BLOCK = 64 };
  double best = 1e18;
  for (unsigned k = 0; k < 5; k++) {
    double from = now();
    for (unsigned i = 0; i < CALLS; i++)
      if (arena)
        opt_arena_give(opt_arena_take(BLOCK), BLOCK);
      else
        prg_wipe(prg_wipe_plan(PUNCT_STACK));
    double t = (now() - from) / CALLS;
    best = t < best ? t : best;
  }
  return best;
}

static void measure(void)
{
  static const double densities[] = {1e-5, 1e-4, 1e-3, 1e-2, .1, .5};
  static const unsigned depths[] = {16, 20, 24}, deep[] = {32, 48, 63};
  many_keys(OPT, 10000, 32);
  many_keys(SLOTS, 100, 32);
  many_keys(BTREE, 10000, 32);
  many_keys(HASH, 10000, 32);
  set_up(16);
  set_up(32);
  first_use(16);
  first_use(32);
  one_left();
  for (unsigned d = 0; d < 3; d++)
    for (unsigned i = 0; i < 6; i++) {
      uint64_t n = (uint64_t)(densities[i] * (double)(UINT64_C(1) << depths[d]));
      if (n >= 6)
        punctures("random", "random", RANDOM, depths[d], n);
    }
  punctures("worst", "worst case", WORST, 16, 1 << 15);
  punctures("all", "random, as many draws as leaves", RANDOM, 16, 1 << 16);
  punctures("ascending", "in order", ASCENDING, 16, 1 << 15);
  punctures("tickets", "tickets, in order but for 128 places", TICKETS, 20, 1 << 19);
  for (unsigned d = 0; d < 3; d++)
    for (uint64_t n = 64; n <= 1000000; n = n == 64 ? 10000 : n * 100)
      punctures("random", "random", RANDOM, deep[d], n);
}

int main(int argc, char **argv)
{
  uint64_t number;
  program_name = "stores";
  say_what_ends();
  if (argc > 1)
    rounds = (unsigned)atoi(argv[1]);
  check(argc <= 4 && rounds >= 1 && rounds <= ROUNDS_MAX,
        "usage: stores [ROUNDS [FILE [LIBRARY]]]");
  check(pprf_process_claim(&number) == PPRF_OK, "no memory");
  open_stores(argc == 4 ? argv[3] : NULL);
  json = argc > 2 ? fopen(argv[2], "w") : NULL;
  check(argc <= 2 || json != NULL, "the file cannot be written");
  const int with_openmls = stores[OPENMLS].impl.setup != NULL;
  printf("PRG %s, %.0f ns a call; %u rounds; OpenMLS %s", pprf_prg_name(), call_ns(&stores[OPT]),
         rounds, with_openmls ? "0.8.1" : "was not built: left out");
  if (with_openmls)
    printf(", %.0f ns a call", call_ns(&stores[OPENMLS]));
  printf("\n\n| case | store | nodes | bytes a node | ns | ratio to the PRG calls |\n");
  printf("|---|---|---|---|---|---|\n");
  if (json != NULL)
    fprintf(json,
            "{\"rounds\": %u, \"prg\": \"%s\", \"openmls\": %s, \"wipe_ns\": %.1f, "
            "\"arena_ns\": %.1f, \"rows\": [",
            rounds, pprf_prg_name(), with_openmls ? "true" : "false", wipe_ns(0), wipe_ns(1));
  measure();
  if (json != NULL) {
    fprintf(json, "\n]}\n");
    check(ferror(json) == 0 && fclose(json) == 0, "the file cannot be written");
  }
  check_output();
  return 0;
}

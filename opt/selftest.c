/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of opt against a naive model, TAP on standard output.
 * Usage: selftest [-x] [SEED]
 *   -x    stop after the first test that fails
 *   SEED  of the random tests (also from the environment; without one it is drawn and printed)
 *
 * The model is the sorted list of maximal intervals of punctured leaves.  The key's nodes are then
 * the live gaps cut into aligned blocks, which needs no bitmap and no search.  After each
 * operation everything opt knows is compared with that: the result, the nodes in order, the
 * bitmaps (any, full, what lies below them), heights and successors around every border, and every
 * slot: zero, or the seed of the live node that starts in its pair. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "keccak.h"
#include "pprf.h"
#include "prg.h"
#include "store.h"

/* ---- TAP ---- */

static unsigned tests, failed_tests;
static int failed; /* in the current test */
static int quiet;  /* failures are wanted: do not print them */
static int stop_at_failure;
static uint64_t base_seed;
static char context[200]; /* what the current test was doing */

__attribute__((format(printf, 2, 3))) static int check(int ok, const char *format, ...)
{
  va_list args;
  if (ok)
    return 1;
  if (failed++ < 5 && !quiet) {
    printf("# seed=%llu %s: ", (unsigned long long)base_seed, context);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
  }
  return 0;
}

static void end_test(const char *name)
{
  printf("%sok %u - %s\n", failed > 0 ? "not " : "", ++tests, name);
  if (failed) {
    failed_tests++;
    printf("# replay: build/opt/selftest %llu\n", (unsigned long long)base_seed);
  }
  if (failed && stop_at_failure)
    exit(1);
  failed = 0;
  context[0] = 0;
  fflush(stdout);
}

static uint64_t rng_state;

static uint64_t rnd(void)
{
  uint64_t z = rng_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

static uint64_t rnd_below(uint64_t n)
{
  return rnd() % n;
}

static void *must(void *p)
{
  if (p == NULL) {
    printf("Bail out! out of memory\n");
    exit(1);
  }
  return p;
}

/* ---- the PRG, through the linker's --wrap: counted, and made to fail ---- */

struct pprf_children __real_prg_expand(struct pprf_seed seed, uint64_t start, unsigned height);
struct pprf_children __wrap_prg_expand(struct pprf_seed seed, uint64_t start, unsigned height);
static uint64_t expansions, fail_at; /* the fail_at-th call from now on fails; 0: none */

struct pprf_children __wrap_prg_expand(struct pprf_seed seed, uint64_t start, unsigned height)
{
  expansions++;
  if (height == 0 || (start & opt_below(height)) != 0)
    check(0, "prg_expand called for (%llu, %u)", (unsigned long long)start, height);
  if (fail_at > 0 && --fail_at == 0)
    return (struct pprf_children){{0, 0}, {0, 0}, PPRF_ERR_CRYPTO};
  return __real_prg_expand(seed, start, height);
}

static const uint8_t root_bytes[PPRF_SEED_BYTES] = {1, 2,  3,  4,  5,  6,  7,  8,
                                                    9, 10, 11, 12, 13, 14, 15, 16};

static struct pprf_seed root_seed(void)
{
  return (struct pprf_seed){UINT64_C(0x0807060504030201), UINT64_C(0x100f0e0d0c0b0a09)};
}

/* GGM value of a node below the root. */
static struct pprf_seed node_seed(unsigned depth, struct opt_node n)
{
  struct pprf_seed s = root_seed();
  for (unsigned h = depth; h > n.height; h--) {
    struct pprf_children c = __real_prg_expand(s, n.start >> h << h, h);
    s = n.start >> (h - 1) & 1 ? c.right : c.left;
  }
  return s;
}

static int same_seed(struct pprf_seed a, struct pprf_seed b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

/* ---- the model ---- */

struct interval {
  uint64_t first, last;
};

struct model {
  unsigned depth;
  size_t n, room;
  struct interval *dead; /* in order, not touching */
};

static uint64_t leaves(const struct model *m)
{
  return UINT64_C(1) << m->depth;
}

/* Index of the first interval that ends at or after a leaf. */
static size_t model_at(const struct model *m, uint64_t leaf)
{
  size_t lo = 0, hi = m->n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (m->dead[mid].last < leaf)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

static int model_all_dead(const struct model *m, uint64_t first, uint64_t last)
{
  size_t i = model_at(m, first);
  return i < m->n && m->dead[i].first <= first && last <= m->dead[i].last;
}

static int model_any_dead(const struct model *m, uint64_t first, uint64_t last)
{
  size_t i = model_at(m, first);
  return i < m->n && m->dead[i].first <= last;
}

static void model_puncture(struct model *m, uint64_t first, uint64_t last)
{
  size_t i = model_at(m, first == 0 ? 0 : first - 1), j = i;
  while (j < m->n && m->dead[j].first <= last + 1) {
    if (m->dead[j].first < first)
      first = m->dead[j].first;
    if (m->dead[j].last > last)
      last = m->dead[j].last;
    j++;
  }
  if (m->n + 1 > m->room) {
    m->room = 2 * m->room + 64;
    m->dead = must(realloc(m->dead, m->room * sizeof *m->dead));
  }
  memmove(m->dead + i + 1, m->dead + j, (m->n - j) * sizeof *m->dead);
  m->dead[i] = (struct interval){first, last};
  m->n = m->n + 1 - (j - i);
}

/* The next node of cover(S) at or after a live leaf that starts a node, and the least live leaf
 * at or after a leaf. */
static uint64_t model_next_live(const struct model *m, uint64_t leaf)
{
  size_t i = model_at(m, leaf);
  return i < m->n && m->dead[i].first <= leaf ? m->dead[i].last + 1 : leaf;
}

static unsigned model_height(const struct model *m, uint64_t leaf)
{
  unsigned h = 0;
  while (h < m->depth) {
    uint64_t start = leaf >> (h + 1) << (h + 1);
    if (model_any_dead(m, start, start + (UINT64_C(2) << h) - 1))
      break;
    h++;
  }
  return h;
}

/* ---- comparing a store with the model ---- */

static const struct opt_store *store_of(const pprf_key *key)
{
  return (const struct opt_store *)(const void *)key; /* the first member of struct pprf_key */
}

/* The bitmaps of a block and everything below it, as far as they are trusted. */
static void check_block(const struct opt_bitmap *b, const struct model *m, unsigned level,
                        uint64_t block)
{
  uint64_t first = block << 6 * level, last = first + opt_below(6 * level);
  int any = model_any_dead(m, first, last), full = model_all_dead(m, first, last);
  if (level == 0) {
    check((int)(b->dead[block >> 6] >> (block & 63) & 1) == full, "dead bit of leaf %llu is wrong",
          (unsigned long long)block);
    return;
  }
  const struct opt_summary *s = &b->summary[level][block >> 6];
  check((int)(s->any >> (block & 63) & 1) == any, "any bit %llu of level %u is wrong",
        (unsigned long long)block, level);
  check((int)(s->full >> (block & 63) & 1) == full, "full bit %llu of level %u is wrong",
        (unsigned long long)block, level);
  if (failed)
    return;
  if (any && !full)
    for (unsigned i = 0; i < 64; i++)
      check_block(b, m, level - 1, block << 6 | i);
  else if (!any && m->depth <= 20) {
    if (level == 1)
      check(b->dead[block] == 0, "a live block has a dead bit");
    else
      check(b->summary[level - 1][block].any == 0 && b->summary[level - 1][block].full == 0,
            "a live block has a summary bit");
  }
}

static void check_bitmap(const struct opt_bitmap *b, const struct model *m)
{
  unsigned top = b->levels - 1;
  for (uint64_t block = 0; block << 6 * top < leaves(m) && !failed; block++)
    check_block(b, m, top, block);
}

static void check_leaf(const struct opt_bitmap *b, const struct model *m, uint64_t leaf)
{
  unsigned height = 99;
  int live = opt_bitmap_height(b, leaf, &height);
  if (check(live == !model_any_dead(m, leaf, leaf), "leaf %llu: live is %d",
            (unsigned long long)leaf, live) && live)
    check(height == model_height(m, leaf), "leaf %llu: height %u, not %u",
          (unsigned long long)leaf, height, model_height(m, leaf));
  check(opt_bitmap_next_live(b, leaf) == model_next_live(m, leaf), "next live of %llu is %llu",
        (unsigned long long)leaf, (unsigned long long)opt_bitmap_next_live(b, leaf));
}

static void check_borders(const struct opt_bitmap *b, const struct model *m)
{
  for (size_t i = 0; i < m->n && !failed; i++) {
    const struct interval *v = &m->dead[i];
    check_leaf(b, m, v->first);
    check_leaf(b, m, v->last);
    check_leaf(b, m, v->first + (v->last - v->first) / 2);
    if (v->first > 0)
      check_leaf(b, m, v->first - 1);
    if (v->last + 1 < leaves(m))
      check_leaf(b, m, v->last + 1);
  }
  check(opt_bitmap_next_live(b, leaves(m)) == leaves(m), "next live of the end");
}

/* Slots that are not zero, looking only at pages in memory. */
static uint64_t used_slots(const struct opt_store *s, unsigned depth)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = sizeof *s->slot << (depth - 1);
  unsigned char *resident = must(malloc(bytes / page + 1));
  uint64_t n = 0;
  if (mincore(s->slot, bytes, resident) != 0)
    check(0, "mincore");
  for (size_t at = 0; at < bytes; at += page)
    if (resident[at / page] & 1)
      for (size_t i = at; i < at + page && i < bytes; i += sizeof *s->slot)
        n += !same_seed(s->slot[i / sizeof *s->slot], (struct pprf_seed){0, 0});
  free(resident);
  return n;
}

/* The nodes in order, the count, and the slots: each node's slot holds its GGM value (all of them
 * up to depth 10, one in 16 above), and no other slot is in use. */
static void check_nodes(const struct opt_store *s, const struct model *m, int slots)
{
  uint64_t count = 0, at = 0;
  struct opt_node n;
  while ((at = model_next_live(m, at)) < leaves(m) && !failed) {
    unsigned height = model_height(m, at);
    if (!check(opt_store_next(s, at, &n) && n.start == at && n.height == height,
               "node at %llu is not (%llu, %u)", (unsigned long long)at, (unsigned long long)at,
               height))
      return;
    if (m->depth <= 10 || rnd_below(16) == 0)
      check(same_seed(opt_store_seed(s, n), node_seed(m->depth, n)), "seed of node (%llu, %u)",
            (unsigned long long)at, height);
    else
      check(!same_seed(opt_store_seed(s, n), (struct pprf_seed){0, 0}), "no seed at (%llu, %u)",
            (unsigned long long)at, height);
    count++;
    at += UINT64_C(1) << height;
  }
  check(!opt_store_next(s, leaves(m), &n), "a node after the end");
  check(s->nodes == count, "node count %llu, not %llu", (unsigned long long)s->nodes,
        (unsigned long long)count);
  if (slots && !failed)
    check(used_slots(s, m->depth) == count, "%llu slots in use, %llu nodes",
          (unsigned long long)used_slots(s, m->depth), (unsigned long long)count);
}

static void check_key(const pprf_key *key, const struct model *m, int slots)
{
  check_bitmap(&store_of(key)->punctured, m);
  if (!failed)
    check_borders(&store_of(key)->punctured, m);
  if (!failed)
    check_nodes(store_of(key), m, slots);
}

static pprf_key *new_key(struct model *m, unsigned depth)
{
  pprf_key *key = NULL;
  free(m->dead);
  *m = (struct model){.depth = depth};
  check(pprf_setup(&key, depth, root_bytes) == PPRF_OK, "setup");
  return must(key);
}

/* One operation on key and model. */
static void puncture(pprf_key *key, struct model *m, uint64_t first, uint64_t last)
{
  uint8_t out[PPRF_SEED_BYTES], value[PPRF_SEED_BYTES];
  int want = model_all_dead(m, first, last) ? PPRF_ERR_PUNCTURED : PPRF_OK, got;
  uint64_t before = expansions;
  if (first != last || rnd_below(4) == 0) {
    got = pprf_punct_range(key, first, last);
    check(expansions - before <= 2 * m->depth, "a range took %llu PRG calls",
          (unsigned long long)(expansions - before));
  } else if (rnd_below(2) == 0) {
    got = pprf_punct(key, first);
  } else {
    int err = pprf_eval(key, first, value);
    uint64_t calls = expansions - before;
    got = pprf_eval_punct(key, first, out);
    check(err == got && memcmp(out, value, sizeof out) == 0, "eval_punct is not eval then punct");
    check(expansions - before == 2 * calls, "eval_punct takes more PRG calls than eval");
  }
  check(got == want, "result %d, not %d", got, want);
  model_puncture(m, first, last);
}

static void check_round_trip(const pprf_key *key, const struct model *m)
{
  size_t len = 0, len2;
  pprf_key *copy = NULL;
  check(pprf_export(key, NULL, &len) == PPRF_OK, "export, length");
  uint8_t *a = must(malloc(len)), *b = must(malloc(len));
  len2 = len - 1;
  check(pprf_export(key, a, &len2) == PPRF_ERR_BUFFER && len2 == len, "export, short buffer");
  check(pprf_export(key, a, &len) == PPRF_OK, "export");
  check(pprf_import(&copy, a, len) == PPRF_OK, "import");
  if (!failed) {
    check_key(copy, m, 1);
    check(pprf_export(copy, b, &len) == PPRF_OK && memcmp(a, b, len) == 0, "export of the copy");
  }
  pprf_free(copy);
  free(a);
  free(b);
}

/* ---- tests: the PRG ---- */

opt_expand prg_expand_evp; /* ref/prg.c as opt's library has it */

static int same_children(struct pprf_children a, struct pprf_children b)
{
  return a.err == 0 && b.err == 0 && same_seed(a.left, b.left) && same_seed(a.right, b.right);
}

static void test_keccak(void)
{
  static const struct {
    const char *name;
    opt_expand *expand;
  } versions[] = {{"scalar", opt_keccak_scalar},
#if OPT_KECCAK_X86
                  {"avx2", opt_keccak_avx2},
                  {"avx512", opt_keccak_avx512},
#endif
                  {"evp", prg_expand_evp}};
  /* SHA3-256 of d83c721e e51b060c 5a41438a 8221e040: NIST's CAVP, SHA3_256ShortMsg, Len = 128 */
  const struct pprf_seed message = {UINT64_C(0x0c061be51e723cd8), UINT64_C(0x40e021828a43415a)};
  const struct pprf_children digest = {
    {UINT64_C(0x91d3ed22479e7db8), UINT64_C(0xf83ad0a6d9de2987)},
    {UINT64_C(0xe61a8a08ee986925), UINT64_C(0x962a14ffca4bef62)},
    0};
  const char *chosen = opt_prg_name();
  unsigned named = 0;
  for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++) {
    int agrees;
    named += strcmp(chosen, versions[v].name) == 0;
#if OPT_KECCAK_X86
    if ((strcmp(versions[v].name, "avx512") == 0 && !(__builtin_cpu_supports("avx512f") &&
                                                      __builtin_cpu_supports("avx512vl"))) ||
        (strcmp(versions[v].name, "avx2") == 0 &&
         !(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")))) {
      printf("# this processor cannot run %s: not tested\n", versions[v].name);
      continue;
    }
#endif
    agrees = check(same_children(versions[v].expand(message, 0, 1), digest),
                   "%s: NIST's vector", versions[v].name);
    for (unsigned i = 0; i < 1000000 && agrees && versions[v].expand != prg_expand_evp; i++) {
      struct pprf_seed s = {rnd(), rnd()};
      if (i < 256) /* one bit, or all but one */
        s = (struct pprf_seed){i < 64 ? opt_bit(i) : i >= 128 && i < 192 ? ~opt_bit(i & 63) : 0,
                               i >= 192 ? ~opt_bit(i & 63) : i >= 64 && i < 128 ? opt_bit(i & 63) : 0};
      agrees = check(same_children(versions[v].expand(s, 0, 1), prg_expand_evp(s, 0, 1)),
                     "%s: seed %016llx %016llx", versions[v].name, (unsigned long long)s.lo,
                     (unsigned long long)s.hi);
    }
    check(agrees || strcmp(chosen, versions[v].name) != 0, "%s is wrong, and chosen", chosen);
  }
  check(named == 1, "chosen: %s", chosen);
  printf("# the PRG is %s\n", chosen);
  end_test("every_version_of_the_prg_is_sha3_256");
}

/* ---- tests: seeds left behind ---- */

#define STACK_BYTES ((size_t)1 << 18)

struct job {
  pprf_key *key;
  uint64_t leaf, last;
  unsigned op;
  int err;
};

static void *do_job(void *argument)
{
  struct job *j = argument;
  static _Thread_local uint8_t out[PPRF_SEED_BYTES];
  if (j->op == 0)
    j->err = pprf_eval(j->key, j->leaf, out);
  else if (j->op == 1)
    j->err = pprf_punct(j->key, j->leaf);
  else if (j->op == 2)
    j->err = pprf_eval_punct(j->key, j->leaf, out);
  else
    j->err = pprf_punct_range(j->key, j->leaf, j->last);
  memset(out, 0, sizeof out);
  return NULL;
}

/* How often a half of a seed occurs in a stack. */
static unsigned occurrences(const unsigned char *stack, struct pprf_seed seed)
{
  unsigned n = 0;
  for (size_t at = 0; at + 8 <= STACK_BYTES; at += 4)
    n += memcmp(stack + at, &seed.lo, 8) == 0 || memcmp(stack + at, &seed.hi, 8) == 0;
  return n;
}

/* Each operation runs in a thread on a stack of ours, which is then searched for the seed of
 * every node on the path and of their siblings. */
static void test_stack(void)
{
  unsigned char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct model m = {0};
  pthread_attr_t attr;
  if (!check(stack != MAP_FAILED && pthread_attr_init(&attr) == 0 &&
               pthread_attr_setstack(&attr, stack, STACK_BYTES) == 0, "stack"))
    return;
  for (unsigned op = 0; op < 4; op++)
    for (unsigned depth = 1; depth <= 32; depth += depth < 8 ? 1 : 6) {
      struct job job = {.key = new_key(&m, depth), .op = op};
      pthread_t thread;
      job.leaf = rnd_below(leaves(&m));
      job.last = job.leaf + rnd_below(leaves(&m) - job.leaf);
      snprintf(context, sizeof context, "op %u depth %u leaf %llu", op, depth,
               (unsigned long long)job.leaf);
      check(pthread_create(&thread, &attr, do_job, &job) == 0 && pthread_join(thread, NULL) == 0,
            "thread");
      check(job.err == PPRF_OK, "result %d", job.err);
      for (unsigned h = 0; h <= depth; h++)
        for (unsigned side = 0; side < 2; side++) {
          uint64_t leaf = side == 1 && op == 3 ? job.last : job.leaf;
          struct opt_node n = {leaf >> h << h, h};
          check(occurrences(stack, node_seed(depth, n)) == 0, "seed of (%llu, %u) on the stack",
                (unsigned long long)n.start, h);
          n.start ^= UINT64_C(1) << h;
          if (h < depth)
            check(occurrences(stack, node_seed(depth, n)) == 0, "seed of (%llu, %u) on the stack",
                  (unsigned long long)n.start, h);
        }
      pprf_free(job.key);
    }
  (void)munmap(stack, STACK_BYTES);
  free(m.dead);
  end_test("no_seed_stays_on_the_stack");
}

/* ---- tests: words and bitmaps ---- */

static unsigned naive_gap_height(uint64_t w, unsigned i)
{
  unsigned best = 6;
  for (unsigned j = 0; j < 64; j++)
    if (w >> j & 1)
      for (unsigned h = 0; h < best; h++)
        if (i >> (h + 1) == j >> (h + 1))
          best = h;
  return best;
}

static void test_words(void)
{
  for (unsigned i = 0; i < 64; i++)
    for (unsigned j = i; j < 64; j++) {
      uint64_t bits = 0;
      for (unsigned k = i; k <= j; k++)
        bits |= UINT64_C(1) << k;
      check(opt_bits(i, j) == bits, "opt_bits(%u, %u)", i, j);
      check(opt_msb(bits) == j && opt_lsb(bits) == i, "opt_msb, opt_lsb of bits %u .. %u", i, j);
      check(opt_below(i) == (i == 0 ? 0 : opt_bits(0, i - 1)), "opt_below(%u)", i);
      check(opt_above(j) == (j == 63 ? 0 : opt_bits(j + 1, 63)), "opt_above(%u)", j);
      check(opt_has(bits, i) && opt_has(bits, j) && opt_bit(i) == opt_bits(i, i), "opt_has");
    }
  end_test("masks_and_bit_scans_agree_with_loops");
  for (unsigned i = 0; i < 64; i++) /* the nearest set bit on each side decides: all pairs */
    for (unsigned j = 0; j < 64; j++)
      for (unsigned k = 0; k < 64; k++)
        if (i != j && i != k) {
          uint64_t w = opt_bit(j) | opt_bit(k);
          check(opt_gap_height(w, i) == naive_gap_height(w, i), "w=%llx i=%u",
                (unsigned long long)w, i);
        }
  for (unsigned n = 0; n < 100000; n++) {
    unsigned i = (unsigned)rnd_below(64);
    uint64_t w = rnd() & (n & 1 ? rnd() : rnd() & rnd() & rnd()) & ~opt_bit(i);
    if (w != 0)
      check(opt_gap_height(w, i) == naive_gap_height(w, i), "w=%llx i=%u", (unsigned long long)w,
            i);
  }
  end_test("gap_height_is_least_msb_of_xor");
  for (unsigned d = 1; d <= 32; d++) {
    unsigned levels = opt_bitmap_levels(d);
    check(levels <= OPT_LEVELS_MAX && opt_bitmap_words(d, levels - 1) == 1 &&
            (levels == 1 || opt_bitmap_words(d, levels - 2) > 1), "depth %u: %u levels", d, levels);
    for (unsigned k = 0; k < levels; k++)
      check(opt_bitmap_words(d, k) == ((UINT64_C(1) << d) + (UINT64_C(1) << 6 * (k + 1)) - 1) >>
              6 * (k + 1), "words of level %u, depth %u", k, d);
  }
  end_test("levels_and_words_cover_the_leaves");
}

/* All ranges of a fresh bitmap, then a second one on top; every leaf asked. */
static void test_all_ranges(unsigned depth)
{
  char name[80];
  struct model m = {.depth = depth};
  uint64_t words[64];
  for (uint64_t first = 0; first < leaves(&m); first++)
    for (uint64_t last = first; last < leaves(&m) && !failed; last++) {
      struct opt_bitmap b = {.depth = depth, .levels = opt_bitmap_levels(depth), .dead = words};
      memset(words, 0, sizeof words);
      b.summary[1] = (struct opt_summary *)(void *)(words + 32);
      m.n = 0;
      opt_bitmap_puncture_range(&b, first, last);
      model_puncture(&m, first, last);
      for (unsigned twice = 0; twice < 2 && !failed; twice++) {
        snprintf(context, sizeof context, "depth %u range %llu..%llu pass %u", depth,
                 (unsigned long long)first, (unsigned long long)last, twice);
        check_bitmap(&b, &m);
        for (uint64_t x = 0; x < leaves(&m); x++)
          check_leaf(&b, &m, x);
        uint64_t from = rnd_below(leaves(&m)), to = from + rnd_below(leaves(&m) - from);
        opt_bitmap_puncture_range(&b, from, to);
        model_puncture(&m, from, to);
      }
    }
  free(m.dead);
  snprintf(name, sizeof name, "all_ranges_of_depth_%u", depth);
  end_test(name);
}

/* ---- tests: keys ---- */

static void test_all_sets(unsigned depth)
{
  char name[80];
  struct model m = {0};
  for (uint64_t set = 0; set < UINT64_C(1) << (1u << depth) && !failed; set++) {
    pprf_key *key = new_key(&m, depth);
    snprintf(context, sizeof context, "depth %u set %llx", depth, (unsigned long long)set);
    for (uint64_t x = 0; x < leaves(&m); x++)
      if (set >> x & 1)
        puncture(key, &m, x, x);
    check_key(key, &m, 1);
    pprf_free(key);
  }
  free(m.dead);
  snprintf(name, sizeof name, "all_sets_of_depth_%u", depth);
  end_test(name);
}

static void all_orders(uint64_t *order, unsigned fixed, unsigned n)
{
  if (fixed < n) {
    for (unsigned i = fixed; i < n; i++) {
      uint64_t t = order[fixed];
      order[fixed] = order[i];
      order[i] = t;
      all_orders(order, fixed + 1, n);
      order[i] = order[fixed];
      order[fixed] = t;
    }
    return;
  }
  static struct model m;
  pprf_key *key = new_key(&m, 3);
  uint64_t before = expansions;
  for (unsigned i = 0; i < n && !failed; i++) {
    snprintf(context, sizeof context, "order %llu%llu%llu%llu%llu%llu%llu%llu step %u",
             (unsigned long long)order[0], (unsigned long long)order[1],
             (unsigned long long)order[2], (unsigned long long)order[3],
             (unsigned long long)order[4], (unsigned long long)order[5],
             (unsigned long long)order[6], (unsigned long long)order[7], i);
    check(pprf_punct(key, order[i]) == PPRF_OK, "punct %llu", (unsigned long long)order[i]);
    model_puncture(&m, order[i], order[i]);
    check_nodes(store_of(key), &m, 1);
  }
  check(expansions - before == 7, "%llu PRG calls for all leaves, not 7",
        (unsigned long long)(expansions - before));
  pprf_free(key);
}

/* A leaf that is likely to be interesting: near a border of the model or of a block. */
static uint64_t some_leaf(const struct model *m)
{
  uint64_t x = rnd_below(leaves(m));
  unsigned kind = (unsigned)rnd_below(4);
  if (kind == 0 && m->n > 0) {
    const struct interval *v = &m->dead[rnd_below(m->n)];
    x = (rnd() & 1 ? v->first - rnd_below(3) : v->last + rnd_below(3));
  } else if (kind == 1) {
    unsigned k = 6 * (unsigned)rnd_below((m->depth + 5) / 6);
    x = ((x >> k) << k) + rnd_below(5) - 2;
  }
  return x & (leaves(m) - 1);
}

static void test_random_operations(unsigned depth, unsigned operations)
{
  char name[80];
  struct model m = {0};
  pprf_key *key = new_key(&m, depth);
  for (unsigned op = 0; op < operations && !failed; op++) {
    uint64_t first = some_leaf(&m), last = first;
    if (rnd_below(3) == 0) {
      if (rnd() & 1)
        last = some_leaf(&m);
      else
        last = first + (rnd_below(leaves(&m)) >> rnd_below(depth));
      if (last >= leaves(&m))
        last = leaves(&m) - 1;
      if (last < first) {
        uint64_t t = first;
        first = last;
        last = t;
      }
      if (last - first > leaves(&m) / 8 && rnd_below(8) != 0)
        last = first + (last - first) / 64; /* keep something alive */
    }
    snprintf(context, sizeof context, "depth %u op %u punct %llu..%llu", depth, op,
             (unsigned long long)first, (unsigned long long)last);
    puncture(key, &m, first, last);
    if (!failed)
      check_key(key, &m, depth <= 16 || op % 64 == 0);
    if (op % 64 == 63 && !failed)
      check_round_trip(key, &m);
    if (model_all_dead(&m, 0, leaves(&m) - 1)) {
      check_round_trip(key, &m);
      pprf_free(key);
      key = new_key(&m, depth);
    }
  }
  pprf_free(key);
  free(m.dead);
  snprintf(name, sizeof name, "random_operations_at_depth_%u", depth);
  end_test(name);
}

/* Every failure of the PRG leaves slots, bitmaps and count as they were. */
static void test_failing_prg(void)
{
  struct model m = {0};
  for (unsigned round = 0; round < 300 && !failed; round++) {
    unsigned depth = 1 + (unsigned)rnd_below(12);
    pprf_key *key = new_key(&m, depth);
    for (uint64_t n = rnd_below(6); n > 0; n--) {
      uint64_t first = some_leaf(&m), last = first + rnd_below(leaves(&m) - first) / 8;
      puncture(key, &m, first, last);
    }
    uint64_t first = some_leaf(&m), last = first + rnd_below(leaves(&m) - first);
    uint8_t out[PPRF_SEED_BYTES], zero[PPRF_SEED_BYTES] = {0};
    for (unsigned op = 0; op < 4; op++)
      for (uint64_t nth = 1;; nth++) {
        int err = PPRF_OK;
        snprintf(context, sizeof context, "depth %u op %u leaves %llu..%llu fails at call %llu",
                 depth, op, (unsigned long long)first, (unsigned long long)last,
                 (unsigned long long)nth);
        memset(out, 1, sizeof out);
        fail_at = nth;
        if (op == 0)
          err = pprf_eval(key, first, out);
        else if (op == 1)
          err = pprf_punct(key, first);
        else if (op == 2)
          err = pprf_eval_punct(key, first, out);
        else
          err = pprf_punct_range(key, first, last);
        int reached = fail_at == 0;
        fail_at = 0;
        if (!reached) {
          if (err == PPRF_OK && op > 0)
            model_puncture(&m, first, op == 3 ? last : first);
          break;
        }
        check(err == PPRF_ERR_CRYPTO, "result %d", err);
        check(op % 2 == 1 || memcmp(out, zero, sizeof out) == 0, "output not zeroed");
        check_key(key, &m, 1);
        if (failed)
          break;
      }
    check_key(key, &m, 1);
    pprf_free(key);
  }
  free(m.dead);
  end_test("a_failing_prg_leaves_the_key_as_it_was");
}

/* ---- tests: hostile key files ---- */

/* A file of depth 10 with these in-order ids, whose digest is right. */
static size_t forge(uint8_t *file, const uint64_t *ids, size_t n)
{
  const uint8_t header[16] = {'P', 'P', 'R', 'F', 'K', 'E', 'Y', 1, 1, 10, 0, 0, (uint8_t)n};
  memcpy(file, header, sizeof header);
  for (size_t i = 0; i < n; i++) {
    uint8_t *record = file + 16 + 18 * i;
    memset(record, 7, 18);
    record[0] = (uint8_t)ids[i];
    record[1] = (uint8_t)(ids[i] >> 8);
  }
  check(prg_digest(file, 16 + 18 * n, file + 16 + 18 * n) == PPRF_OK, "digest");
  return 48 + 18 * n;
}

static int import_result(const uint8_t *file, size_t len)
{
  pprf_key *key = NULL;
  uint8_t *exact = must(malloc(len + 1)); /* a read past the end is seen by sanitizers */
  memcpy(exact, file, len);
  int err = pprf_import(&key, exact, len);
  check((err == PPRF_OK) == (key != NULL), "key and result disagree");
  pprf_free(key);
  free(exact);
  return err;
}

static void test_hostile_files(void)
{
  static const struct {
    const char *what;
    uint64_t ids[3];
    size_t n;
    int want;
  } files[] = {
    {"the root", {1024}, 1, PPRF_OK},
    {"nothing live", {0}, 0, PPRF_OK},
    {"one leaf, the first", {1}, 1, PPRF_OK},
    {"one leaf, the last", {2047}, 1, PPRF_OK},
    {"two nodes that touch but are no siblings", {2 * 1 + 1, 2 * 2 + 2}, 2, PPRF_OK},
    {"cousins of one height that touch", {2 * 2 + 2, 2 * 4 + 2}, 2, PPRF_OK},
    {"id 0", {0}, 1, PPRF_ERR_FORMAT},
    {"an id outside the tree", {2048}, 1, PPRF_ERR_FORMAT},
    {"siblings", {2 * 4 + 1, 2 * 5 + 1}, 2, PPRF_ERR_FORMAT},
    {"siblings of height 9", {512, 1536}, 2, PPRF_ERR_FORMAT},
    {"siblings after another node", {1, 2 * 2 + 1, 2 * 3 + 1}, 3, PPRF_ERR_FORMAT},
    {"a node twice", {5, 5}, 2, PPRF_ERR_FORMAT},
    {"a node inside the one before", {512, 2 * 511 + 1}, 2, PPRF_ERR_FORMAT},
    {"a node inside the one after", {1, 512}, 2, PPRF_ERR_FORMAT},
    {"wrong order", {2 * 8 + 1, 2 * 4 + 1}, 2, PPRF_ERR_FORMAT},
  };
  uint8_t file[48 + 3 * 18 + 1];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    size_t len = forge(file, files[i].ids, files[i].n);
    int err = import_result(file, len);
    check(err == files[i].want, "%s: result %d", files[i].what, err);
  }
  for (unsigned at = 0; at < 16; at++)
    for (unsigned bit = 0; bit < 8; bit++) { /* the digest is right, the header is not */
      size_t len = forge(file, (const uint64_t[]){3, 6}, 2);
      file[at] ^= (uint8_t)(1u << bit);
      check(prg_digest(file, len - 32, file + len - 32) == PPRF_OK, "digest");
      int err = import_result(file, len); /* depths 11, 14 have ids of two bytes as well */
      int other_depth = at == 9 && (file[9] == 11 || file[9] == 14 || file[9] == 8);
      check(err == (other_depth ? PPRF_OK : PPRF_ERR_FORMAT), "header bit %u.%u: result %d", at,
            bit, err);
    }
  size_t len = forge(file, (const uint64_t[]){3, 6}, 2);
  for (size_t at = 0; at < len; at++)
    for (unsigned bit = 0; bit < 8; bit++) {
      file[at] ^= (uint8_t)(1u << bit);
      check(import_result(file, len) == PPRF_ERR_FORMAT, "bit %zu.%u", at, bit);
      file[at] ^= (uint8_t)(1u << bit);
    }
  for (size_t shorter = 0; shorter < len; shorter++)
    check(import_result(file, shorter) == PPRF_ERR_FORMAT, "%zu bytes of %zu", shorter, len);
  check(import_result(file, len + 1) == PPRF_ERR_FORMAT, "one byte more");
  check(import_result(file, len) == PPRF_OK, "the file itself");
  end_test("import_takes_canonical_files_only");
}

/* ---- tests: memory ---- */

static size_t process_bytes(void)
{
  char line[200], *end;
  FILE *f = must(fopen("/proc/self/statm", "r"));
  if (fgets(line, sizeof line, f) == NULL)
    line[0] = 0;
  fclose(f);
  strtoul(line, &end, 10);
  return strtoul(end, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Resident bytes of a key's mapping as the kernel accounts for them. */
static size_t kernel_bytes(const pprf_key *key)
{
  const struct opt_store *s = store_of(key);
  char line[512];
  unsigned long from = 0, to = 0, kb = 0, a, b;
  FILE *f = must(fopen("/proc/self/smaps", "r"));
  while (fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
      from = a;
      to = b;
    } else if (sscanf(line, "Rss: %lu kB", &a) == 1 && from >= (uintptr_t)s->slot &&
               to <= (uintptr_t)s->slot + s->mapped) {
      kb += a;
    }
  fclose(f);
  return kb * 1024;
}

static void test_depth_32(void)
{
  pprf_key *key;
  size_t before = process_bytes();
  uint8_t a[PPRF_SEED_BYTES], b[PPRF_SEED_BYTES];
  check(pprf_setup(&key, 32, root_bytes) == PPRF_OK, "setup");
  size_t grown = process_bytes() - before;
  check(grown <= 65536 && pprf_memory_bytes(key) <= 16384, "setup took %zu B, says %zu B", grown,
        pprf_memory_bytes(key));
  printf("# depth 32: setup took %zu B of resident memory, memory_bytes %zu, locked %d\n", grown,
         pprf_memory_bytes(key), pprf_memory_locked(key));
  check(pprf_eval(key, 0xfffffffe, a) == PPRF_OK, "eval");
  check(pprf_punct(key, 0xffffffff) == PPRF_OK && pprf_node_count(key) == 32, "punct");
  check(pprf_eval(key, 0xfffffffe, b) == PPRF_OK && memcmp(a, b, sizeof a) == 0, "value changed");
  check(pprf_eval(key, 0xffffffff, b) == PPRF_ERR_PUNCTURED, "eval of a punctured leaf");
  check(pprf_punct(key, UINT64_C(1) << 32) == PPRF_ERR_RANGE, "leaf outside");
  check(pprf_punct_range(key, 1, 0xfffffffd) == PPRF_OK && pprf_node_count(key) == 2, "range");
  check(pprf_memory_bytes(key) <= 65536, "memory after the range: %zu", pprf_memory_bytes(key));
  pprf_free(key);

  size_t len;
  check(pprf_setup(&key, 32, root_bytes) == PPRF_OK, "setup");
  check(pprf_punct_range(key, 0, (UINT64_C(1) << 20) - 1) == PPRF_OK, "range");
  check(pprf_punct(key, UINT64_C(0x80000000)) == PPRF_OK, "punct");
  size_t bytes = pprf_memory_bytes(key);
  uint8_t *file = must(malloc(2048));
  len = 2048;
  check(pprf_export(key, file, &len) == PPRF_OK, "export");
  for (unsigned i = 0; i < 1000; i++)
    (void)pprf_eval(key, rnd() >> 32, a);
  check(pprf_memory_bytes(key) == bytes, "reading took %zu B", pprf_memory_bytes(key) - bytes);
  free(file);
  pprf_free(key);
  end_test("depth_32_takes_memory_only_as_it_is_written");
}

static void test_worst_case_bytes(unsigned depth)
{
  char name[80];
  pprf_key *key;
  uint64_t n = UINT64_C(1) << depth;
  check(pprf_setup(&key, depth, root_bytes) == PPRF_OK, "setup");
  for (uint64_t x = 0; x < n; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  size_t seen_bytes = kernel_bytes(key), says = pprf_memory_bytes(key);
  check(pprf_node_count(key) == n / 2, "nodes");
  double per = (double)says / (double)(n / 2), seen = (double)seen_bytes / (double)(n / 2);
  printf("# depth %u: %.3f B a node by memory_bytes, %.3f resident by smaps\n",
         depth, per, seen);
  check(per <= 16.3, "%.3f B a node", per);
  check(seen <= per && per - seen < 0.05, "%.3f B a node resident", seen);
  for (uint64_t x = 1; x < n; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  check(pprf_node_count(key) == 0, "nodes at the end");
  check(pprf_memory_bytes(key) <= 16384 + n / 8, "%zu B when all is punctured",
        pprf_memory_bytes(key));
  check(kernel_bytes(key) + 2048 >= pprf_memory_bytes(key), "pages are kept, or not counted");
  check(kernel_bytes(key) <= 4096 + n / 8, "pages are kept when all is punctured");
  pprf_free(key);
  snprintf(name, sizeof name, "worst_case_peak_at_depth_%u_takes_at_most_16.3_bytes_a_node", depth);
  end_test(name);
}

static void test_range_release(void)
{
  pprf_key *key;
  uint64_t n = UINT64_C(1) << 18;
  check(pprf_setup(&key, 18, root_bytes) == PPRF_OK, "setup");
  for (uint64_t x = 0; x < n; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  size_t peak = pprf_memory_bytes(key);
  check(pprf_punct_range(key, 100, 4094) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) == peak, "a block that is not full was released");
  for (uint64_t x = 1; x < 100; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  check(pprf_punct(key, 4095) == PPRF_OK, "punct");
  check(pprf_memory_bytes(key) == peak - 32768, "block 0: %zu of %zu B", pprf_memory_bytes(key),
        peak);
  check(pprf_punct_range(key, 5000, 50000) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) == peak - 11 * 32768, "blocks 2 .. 11 whole: %zu of %zu B",
        pprf_memory_bytes(key), peak);
  check(pprf_punct_range(key, 4096, 49152) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) == peak - 12 * 32768, "block 1, at the start of the range");
  check(pprf_punct_range(key, 0, n - 1) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) <= 16384, "all: %zu B", pprf_memory_bytes(key));
  check(pprf_punct_range(key, 0, n - 1) == PPRF_ERR_PUNCTURED, "all again");
  pprf_free(key);
  end_test("pages_of_punctured_blocks_go_back_to_the_system");
}

/* ---- tests of the tests: damage that the comparison must see ---- */

static void test_damage(void)
{
  struct model m = {0};
  static const char *const damage[] = {"a stale seed", "a lost seed", "a dead bit", "an any bit",
                                       "a full bit", "the count"};
  for (unsigned i = 0; i < sizeof damage / sizeof *damage; i++) {
    pprf_key *key = new_key(&m, 14);
    puncture(key, &m, 77, 77);
    puncture(key, &m, 4096, 4096 + 200);
    check_key(key, &m, 1);
    if (failed)
      break;
    struct opt_store *s = (struct opt_store *)(void *)key;
    if (i == 0)
      s->slot[(4096 + 100) / 2] = root_seed();
    else if (i == 1)
      s->slot[76 / 2] = (struct pprf_seed){0, 0};
    else if (i == 2)
      s->punctured.dead[1] ^= 1;
    else if (i == 3)
      s->punctured.summary[1][0].any ^= 2;
    else if (i == 4)
      s->punctured.summary[1][1].full ^= 1;
    else
      s->nodes++;
    quiet = 1;
    check_key(key, &m, 1);
    int seen = failed > 0;
    failed = quiet = 0;
    check(seen, "%s is not seen", damage[i]);
    pprf_free(key);
  }
  free(m.dead);
  end_test("damage_to_the_representation_is_seen");
}

int main(int argc, char **argv)
{
  stop_at_failure = argc > 1 && strcmp(argv[1], "-x") == 0;
  argv += stop_at_failure;
  argc -= stop_at_failure;
  const char *given = argc > 1 ? argv[1] : getenv("SEED");
  if (given != NULL && *given != 0)
    base_seed = strtoull(given, NULL, 0);
  else if (getrandom(&base_seed, sizeof base_seed, 0) != sizeof base_seed)
    return 1;
  rng_state = base_seed;
  printf("# seed %llu\n", (unsigned long long)base_seed);

  test_words();
  for (unsigned depth = 1; depth <= 8; depth++)
    test_all_ranges(depth);
  for (unsigned depth = 1; depth <= 4; depth++)
    test_all_sets(depth);
  uint64_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  all_orders(order, 0, 8);
  end_test("all_orders_of_depth_3");
  for (unsigned depth = 1; depth <= 32; depth++)
    test_random_operations(depth, depth <= 16 ? 600 : 200);
  test_stack();
  test_failing_prg();
  test_hostile_files();
  test_depth_32();
  for (unsigned depth = 16; depth <= 18; depth++)
    test_worst_case_bytes(depth);
  test_range_release();
  test_damage();
  test_keccak();
  printf("1..%u\n", tests);
  return failed_tests != 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of opt against a naive model, TAP on standard output.
 * Usage: selftest [-x] [-t GROUP,GROUP...] [SEED]
 *   -x    stop after the first test that fails
 *   -t    only these groups (the table before main)
 *   SEED  of the random tests (also from the environment; without one it is drawn and printed)
 *
 * The model is the sorted list of maximal intervals of punctured leaves.  The key's nodes are then
 * the live gaps cut into aligned blocks, which needs no bitmap and no search.  After each
 * operation everything opt knows is compared with that: the result, the nodes in order, the
 * bitmaps (any, full, what lies below them), heights and successors around every border, and every
 * slot: zero, or the seed of the live node that starts in its pair. */
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "keccak.h"
#include "key.h"
#include "lanes.h"
#include "pprf.h"
#include "prg.h"
#include "shared.h"
#include "store.h"

/* lanes.c as a program with a PRG of its own links it */
int opt_expand_many_default(const struct opt_step *step, unsigned n);
#define opt_expand_many opt_expand_many_default
#include "lanes.c"
#undef opt_expand_many

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

int __real_opt_expand_many(const struct opt_step *step, unsigned n);
int __wrap_opt_expand_many(const struct opt_step *step, unsigned n);

int __wrap_opt_expand_many(const struct opt_step *step, unsigned n)
{
  expansions += n;
  for (unsigned i = 0; i < n; i++)
    if (step[i].height == 0 || (step[i].start & opt_below(step[i].height)) != 0)
      check(0, "opt_expand_many called for (%llu, %u)", (unsigned long long)step[i].start,
            step[i].height);
  int err = __real_opt_expand_many(step, n);
  if (fail_at > 0 && fail_at <= n) { /* as many outputs are written as before a failure can be */
    fail_at = 0;
    return PPRF_ERR_CRYPTO;
  }
  fail_at -= fail_at > 0 ? n : 0;
  return err;
}

/* ---- memory given back, through --wrap: searched for seeds; and advice refused ---- */

static struct pprf_seed watched[160];
static unsigned watching; /* number of them */
static unsigned seen_in_free;
void __real_free(void *p);
void __wrap_free(void *p);

void __wrap_free(void *p)
{
  size_t words = watching == 0 || p == NULL ? 0 : malloc_usable_size(p) / sizeof(uint64_t);
  for (size_t i = 0; i < words; i++)
    for (unsigned k = 0; k < watching; k++)
      seen_in_free += ((uint64_t *)p)[i] == watched[k].lo || ((uint64_t *)p)[i] == watched[k].hi;
  __real_free(p);
}

static int refused_advice = -1;
int __real_madvise(void *from, size_t len, int advice);
int __wrap_madvise(void *from, size_t len, int advice);

int __wrap_madvise(void *from, size_t len, int advice)
{
  if (advice == refused_advice) {
    errno = EINVAL;
    return -1;
  }
  return __real_madvise(from, len, advice);
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
  return &key->store;
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

opt_expand prg_expand_evp; /* prg/libcrypto.c as opt's library has it */

static int same_children(struct pprf_children a, struct pprf_children b)
{
  return a.err == 0 && b.err == 0 && same_seed(a.left, b.left) && same_seed(a.right, b.right);
}

/* One of the versions on n seeds, the children in place, or in a disorder that the round gives. */
static int lanes_are(opt_expand_lanes *lanes, const struct pprf_seed *seed,
                     const struct pprf_children *want, unsigned n, unsigned round)
{
  struct pprf_seed parent[OPT_LANES], left[OPT_LANES], right[OPT_LANES];
  struct opt_step step[OPT_LANES];
  for (unsigned i = 0; i < n; i++) {
    parent[i] = seed[i];
    step[i] = (struct opt_step){&parent[i], &left[(i * 3 + round) % n], &right[(i + round) % n],
                                0, 1};
    if (round & 1)
      step[i].left = &parent[i];
    else if (round & 2)
      step[i].right = &parent[i];
  }
  lanes(step);
  for (unsigned i = 0; i < n; i++)
    if (!same_seed(*step[i].left, want[i].left) || !same_seed(*step[i].right, want[i].right))
      return 0;
  return 1;
}

#if OPT_KECCAK_X86
static int have_avx2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

static int have_avx512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#endif

static void test_keccak(void)
{
  struct {
    const char *name;
    opt_expand *expand;
    opt_expand_lanes *lanes;
    unsigned n;
    int usable, agrees;
  } versions[] = {{"evp", prg_expand_evp, NULL, 1, 1, 1},
                  {"scalar", opt_keccak_scalar, NULL, 1, 1, 1},
#if OPT_KECCAK_X86
                  {"avx2", opt_keccak_avx2, NULL, 1, have_avx2(), 1},
                  {"avx512", opt_keccak_avx512, NULL, 1, have_avx512(), 1},
                  {"avx2, 4 lanes", NULL, opt_keccak_avx2_x4, 4, have_avx2(), 1},
                  {"avx512, 4 lanes", NULL, opt_keccak_avx512_x4, 4, have_avx512(), 1},
                  {"avx512, 8 lanes", NULL, opt_keccak_avx512_x8, 8, have_avx512(), 1},
#endif
  };
  /* SHA3-256 of d83c721e e51b060c 5a41438a 8221e040: NIST's CAVP, SHA3_256ShortMsg, Len = 128 */
  const struct pprf_seed message = {UINT64_C(0x0c061be51e723cd8), UINT64_C(0x40e021828a43415a)};
  const struct pprf_children digest = {
    {UINT64_C(0x91d3ed22479e7db8), UINT64_C(0xf83ad0a6d9de2987)},
    {UINT64_C(0xe61a8a08ee986925), UINT64_C(0x962a14ffca4bef62)},
    0};
  const char *chosen = pprf_prg_name();
  struct pprf_seed seed[OPT_LANES];
  struct pprf_children want[OPT_LANES];
  unsigned named = 0;
  for (unsigned round = 0; round < 1000000 / OPT_LANES; round++) {
    for (unsigned i = 0; i < OPT_LANES; i++) {
      unsigned k = round * OPT_LANES + i;
      seed[i] = (struct pprf_seed){rnd(), rnd()};
      if (k < 256) /* one bit, or all but one */
        seed[i] = (struct pprf_seed){
          k < 64 ? opt_bit(k) : k >= 128 && k < 192 ? ~opt_bit(k & 63) : 0,
          k >= 192 ? ~opt_bit(k & 63) : k >= 64 && k < 128 ? opt_bit(k & 63) : 0};
      else if (k == 256)
        seed[i] = message;
      want[i] = k == 256 ? digest : prg_expand_evp(seed[i], 0, 1);
    }
    for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++) {
      int same = 1;
      if (!versions[v].usable || !versions[v].agrees)
        continue;
      if (versions[v].lanes != NULL)
        for (unsigned i = 0; i < OPT_LANES; i += versions[v].n)
          same &= lanes_are(versions[v].lanes, seed + i, want + i, versions[v].n, round);
      else if (versions[v].expand != prg_expand_evp || round == 256 / OPT_LANES)
        for (unsigned i = 0; i < OPT_LANES; i++)
          same &= same_children(versions[v].expand(seed[i], 0, 1), want[i]);
      versions[v].agrees = check(same, "%s: one of 8 seeds from %016llx %016llx", versions[v].name,
                                 (unsigned long long)seed[0].lo, (unsigned long long)seed[0].hi);
    }
  }
  for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++) {
    named += strcmp(chosen, versions[v].name) == 0;
    if (!versions[v].usable)
      printf("# this processor cannot run %s: not tested\n", versions[v].name);
    check(versions[v].agrees || strncmp(chosen, versions[v].name, strlen(chosen)) != 0,
          "%s is wrong, and %s is chosen", versions[v].name, chosen);
  }
  check(named == 1, "chosen: %s", chosen);
  printf("# the PRG is %s\n", chosen);
  end_test("every_version_of_the_prg_is_sha3_256");
}

/* Any number of steps, with the PRG in any of its versions. */
static void test_many(void)
{
  static const char *const name[] = {"evp", "scalar", "avx2", "avx512"};
  const char *chosen = pprf_prg_name();
  struct pprf_seed seed[20], right[20];
  struct opt_step step[20];
  for (unsigned v = 0; v < 5; v++) {
    if (v < 4 && pprf_prg_select(name[v]) != PPRF_OK) {
      check(v >= 2, "%s cannot be selected", name[v]);
      continue;
    }
    check(v == 4 || strcmp(pprf_prg_name(), name[v]) == 0, "selected %s, it is %s", name[v & 3],
          pprf_prg_name());
    for (unsigned n = 0; n <= 20; n++) {
      struct pprf_seed before[20];
      uint64_t calls = prg_calls();
      for (unsigned i = 0; i < 20; i++) {
        before[i] = seed[i] = (struct pprf_seed){rnd(), rnd()};
        right[i] = root_seed();
        step[i] = (struct opt_step){&seed[i], &seed[i], &right[i], 0, 1};
      }
      snprintf(context, sizeof context, "%u steps", n);
      check((v < 4 ? __real_opt_expand_many : opt_expand_many_default)(step, n) == 0, "result");
      check(prg_calls() - calls == n, "counts %llu", (unsigned long long)(prg_calls() - calls));
      for (unsigned i = 0; i < 20; i++) {
        struct pprf_children c = prg_expand_evp(before[i], 0, 1);
        check(i < n ? same_seed(seed[i], c.left) && same_seed(right[i], c.right)
                    : same_seed(seed[i], before[i]) && same_seed(right[i], root_seed()),
              "step %u with %s", i, v < 4 ? name[v] : "the weak definition");
      }
    }
  }
  check(pprf_prg_select("md5") == PPRF_ERR_RANGE && pprf_prg_select("") == PPRF_ERR_RANGE &&
          pprf_prg_select(NULL) == PPRF_ERR_NULL, "a name that is none");
  check(pprf_prg_select(chosen) == PPRF_OK && strcmp(pprf_prg_name(), chosen) == 0, "back");
  end_test("any_number_of_steps_with_any_version");
}

/* ---- tests: seeds left behind ---- */

#define STACK_BYTES ((size_t)1 << 18)

static uint64_t leaves_of(const pprf_key *key)
{
  return UINT64_C(1) << pprf_depth(key);
}

struct job {
  pprf_key *key;
  uint64_t leaf, last;
  unsigned op;
  int err;
};

static int ignore(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)leaf;
  (void)n;
  (void)values;
  return 0;
}

static void *do_job(void *argument)
{
  struct job *j = argument;
  static _Thread_local uint8_t out[PPRF_SEED_BYTES];
  static uint8_t outs[9][PPRF_SEED_BYTES];
  uint64_t batch[9]; /* a leaf that is given, twice, and others */
  for (unsigned i = 0; i < 9; i++)
    batch[i] = i < 2 ? j->leaf : i == 2 ? j->last : (j->leaf + i * 77) & (leaves_of(j->key) - 1);
  if (j->op == 0)
    j->err = pprf_eval(j->key, j->leaf, out);
  else if (j->op == 1)
    j->err = pprf_punct(j->key, j->leaf);
  else if (j->op == 2)
    j->err = pprf_eval_punct(j->key, j->leaf, out);
  else if (j->op == 3)
    j->err = pprf_punct_range(j->key, j->leaf, j->last);
  else if (j->op == 4)
    j->err = pprf_eval_batch(j->key, batch, 9, *outs, NULL);
  else if (j->op == 5)
    j->err = pprf_punct_batch(j->key, batch, 9, NULL);
  else
    j->err = pprf_expand(j->key, j->leaf, j->last - j->leaf > 3000 ? j->leaf + 3000 : j->last,
                         ignore, NULL);
  memset(out, 0, sizeof out);
  memset(outs, 0, sizeof outs);
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
  for (unsigned op = 0; op < 7; op++)
    for (unsigned depth = 1; depth <= 32; depth += depth < 8 ? 1 : 6) {
      struct job job = {.key = new_key(&m, depth), .op = op};
      pthread_t thread;
      job.leaf = rnd_below(leaves(&m));
      job.last = job.leaf + rnd_below(leaves(&m) - job.leaf);
      snprintf(context, sizeof context, "op %u depth %u leaf %llu", op, depth,
               (unsigned long long)job.leaf);
      for (unsigned h = 0; h < depth; h++) { /* below the root */
        uint64_t start = job.leaf >> h << h;
        watched[watching++] = node_seed(depth, (struct opt_node){start, h});
        watched[watching++] = node_seed(depth, (struct opt_node){start ^ UINT64_C(1) << h, h});
        watched[watching++] = node_seed(depth, (struct opt_node){job.last >> h << h, h});
      }
      check(pthread_create(&thread, &attr, do_job, &job) == 0 && pthread_join(thread, NULL) == 0,
            "thread");
      watching = 0;
      check(seen_in_free == 0, "%u seeds in memory that was given back", seen_in_free);
      seen_in_free = 0;
      check(job.err == PPRF_OK, "result %d", job.err);
      for (unsigned h = 0; h <= depth; h++)
        for (unsigned side = 0; side < 2; side++) {
          uint64_t leaf = side == 1 && op >= 3 ? job.last : job.leaf;
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
  end_test("no_seed_stays_on_the_stack_or_in_freed_memory");
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
      check(opt_upto(j) == opt_bits(0, j), "opt_upto(%u)", j);
      check(opt_clear(bits) == (opt_below(i) | (j == 63 ? 0 : opt_bits(j + 1, 63))), "opt_clear");
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
  uint8_t a[PPRF_SEED_BYTES], b[PPRF_SEED_BYTES];
  check(pprf_setup(&key, 1, root_bytes) == PPRF_OK, "setup"); /* libcrypto's own start */
  pprf_free(key);
  size_t before = process_bytes();
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

/* ---- tests: many leaves ---- */

static pprf_key *copy_of(const pprf_key *key)
{
  size_t len = 0;
  pprf_key *copy = NULL;
  check(pprf_export(key, NULL, &len) == PPRF_OK, "export, length");
  uint8_t *file = must(malloc(len));
  check(pprf_export(key, file, &len) == PPRF_OK && pprf_import(&copy, file, len) == PPRF_OK,
        "copy");
  free(file);
  return must(copy);
}

/* eval_batch against eval; the PRG calls are those of an unshared walk at most, and exactly
 * `calls` if that is given. */
static void check_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n,
                             const uint64_t *calls)
{
  uint8_t *out = must(malloc(n * PPRF_SEED_BYTES + 1)), one[PPRF_SEED_BYTES];
  int *result = must(malloc((n + 1) * sizeof *result));
  uint64_t single = 0, before = expansions;
  memset(out, 1, n * PPRF_SEED_BYTES + 1);
  result[n] = 99;
  check(pprf_eval_batch(key, leaf, n, out, result) == PPRF_OK, "eval_batch");
  uint64_t batch = expansions - before;
  for (size_t i = 0; i < n && !failed; i++) {
    before = expansions;
    int err = pprf_eval(key, leaf[i], one);
    single += expansions - before;
    check(result[i] == err && memcmp(out + i * PPRF_SEED_BYTES, one, sizeof one) == 0,
          "leaf %llu, the %zuth of %zu: result %d, not %d, or another value",
          (unsigned long long)leaf[i], i, n, result[i], err);
  }
  check(out[n * PPRF_SEED_BYTES] == 1 && result[n] == 99, "written past the end");
  check(batch <= single, "%llu PRG calls, %llu one by one", (unsigned long long)batch,
        (unsigned long long)single);
  check(calls == NULL || batch == *calls, "%llu PRG calls for leaves in order, not %llu",
        (unsigned long long)batch, (unsigned long long)(calls == NULL ? 0 : *calls));
  free(out);
  free(result);
}

static int ascending(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Batches against single calls, on a key and its model: both end with the leaves punctured. */
static void check_batches(pprf_key *key, struct model *m, uint64_t *leaf, size_t n)
{
  int *result = must(malloc((n + 1) * sizeof *result));
  pprf_key *single = copy_of(key);
  check_eval_batch(key, leaf, n, NULL);
  pprf_key *before_punct = copy_of(key);
  uint64_t before = expansions;
  check(pprf_punct_batch(key, leaf, n, result) == PPRF_OK, "punct_batch");
  uint64_t batch = expansions - before;
  before = expansions;
  for (size_t i = 0; i < n && !failed; i++) {
    int err = pprf_punct(single, leaf[i]);
    check(result[i] == err, "leaf %llu, the %zuth of %zu: result %d, not %d",
          (unsigned long long)leaf[i], i, n, result[i], err);
    model_puncture(m, leaf[i], leaf[i]);
  }
  check(batch == expansions - before, "%llu PRG calls, one by one %llu",
        (unsigned long long)batch, (unsigned long long)(expansions - before));
  check_key(key, m, 1);
  qsort(leaf, n, sizeof *leaf, ascending); /* the inner nodes above live leaves are those of punct */
  check_eval_batch(before_punct, leaf, n, n <= 1024 ? &batch : NULL);
  check_eval_batch(key, leaf, n, NULL);
  pprf_free(before_punct);
  pprf_free(single);
  free(result);
}

struct taken {
  uint64_t first, last, next, live; /* leaves before next are done */
  const pprf_key *key;
  unsigned calls, stop_at;
};

static int take(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct taken *t = arg;
  uint8_t one[PPRF_SEED_BYTES];
  check(n > 0 && leaf >= t->next && leaf + n - 1 <= t->last, "run %llu + %zu",
        (unsigned long long)leaf, n);
  for (size_t i = 0; i < n && !failed; i++)
    check(pprf_eval(t->key, leaf + i, one) == PPRF_OK &&
            memcmp(one, values + i * PPRF_SEED_BYTES, sizeof one) == 0, "value of leaf %llu",
          (unsigned long long)(leaf + i));
  t->next = leaf + n;
  t->live += n;
  return ++t->calls == t->stop_at ? -7 : 0;
}

static void check_expand(const pprf_key *key, const struct model *m, uint64_t first, uint64_t last)
{
  struct taken t = {.first = first, .last = last, .next = first, .key = key};
  uint64_t live = 0, inner = 0, before = prg_calls(), x = first;
  while ((x = model_next_live(m, x)) <= last) { /* node by node */
    unsigned height = model_height(m, x);
    uint64_t end = ((x >> height) + 1) << height, to = end - 1 < last ? end - 1 : last;
    live += to - x + 1;
    for (unsigned h = 1; h <= height; h++)
      inner += (to >> h) - (x >> h) + 1;
    x = end;
  }
  uint64_t calls = expansions;
  check(pprf_expand(key, first, last, ignore, NULL) == PPRF_OK, "expand");
  check(expansions - calls == inner, "%llu PRG calls for %llu inner nodes",
        (unsigned long long)(expansions - calls), (unsigned long long)inner);
  check(prg_calls() - before == inner, "prg_calls");
  check(pprf_expand(key, first, last, take, &t) == PPRF_OK, "expand");
  check(t.live == live, "%llu live leaves of %llu", (unsigned long long)t.live,
        (unsigned long long)live);
  if (t.calls > 1) {
    struct taken stopped = {.first = first, .last = last, .next = first, .key = key, .stop_at = 2};
    check(pprf_expand(key, first, last, take, &stopped) == -7 && stopped.calls == 2, "stopped");
  }
}

static void test_batches_small(void)
{
  struct model m = {0};
  for (unsigned depth = 1; depth <= 3; depth++) {
    unsigned sets = 1u << (1u << depth);
    for (unsigned set = 0; set < sets && !failed; set += depth < 3 ? 1 : 1 + (unsigned)rnd_below(15))
      for (unsigned batch = 0; batch < sets && !failed; batch++) {
        uint64_t leaf[16];
        size_t n = 0;
        pprf_key *key = new_key(&m, depth);
        snprintf(context, sizeof context, "depth %u set %x batch %x", depth, set, batch);
        for (uint64_t x = 0; x < leaves(&m); x++)
          if (set >> x & 1)
            puncture(key, &m, x, x);
        for (uint64_t x = leaves(&m); x-- > 0;)
          if (batch >> x & 1)
            leaf[n++] = x;
        if (n > 0 && batch & 2)
          leaf[n] = leaf[rnd_below(n)], n++;
        if (batch == 0)
          for (uint64_t first = 0; first < leaves(&m); first++)
            for (uint64_t last = first; last < leaves(&m); last++)
              check_expand(key, &m, first, last);
        check_batches(key, &m, leaf, n);
        pprf_free(key);
      }
  }
  free(m.dead);
  end_test("batches_are_single_calls_on_small_trees");
}

static void test_batches_random(void)
{
  struct model m = {0};
  static uint64_t leaf[1 << 15];
  for (unsigned round = 0; round < 224 && !failed; round++) {
    unsigned depth = 1 + round % 32;
    pprf_key *key = new_key(&m, depth);
    snprintf(context, sizeof context, "depth %u round %u", depth, round);
    for (uint64_t n = rnd_below(20); n > 0; n--) {
      uint64_t first = some_leaf(&m), last = first + (rnd_below(leaves(&m) - first) >> rnd_below(9));
      if (last - first <= leaves(&m) / 4)
        puncture(key, &m, first, last);
    }
    size_t n = rnd_below(rnd_below(8) == 0 ? 5000 : 40);
    uint64_t base = rnd_below(leaves(&m)), spread = 1 + rnd_below(rnd_below(2) ? leaves(&m) : 3000);
    for (size_t i = 0; i < n; i++)
      leaf[i] = rnd_below(5) == 0 ? some_leaf(&m) : (base + rnd_below(spread)) & (leaves(&m) - 1);
    if (depth > 20 && round % 3 == 0) /* all of them at the borders */
      for (size_t i = 0; i < n; i++)
        leaf[i] = some_leaf(&m);
    check_batches(key, &m, leaf, n);
    uint64_t first = some_leaf(&m), last = first + rnd_below(1 + rnd_below(6000));
    if (last < leaves(&m))
      check_expand(key, &m, first, last);
    if (depth <= 12)
      check_expand(key, &m, 0, leaves(&m) - 1);
    pprf_free(key);
  }
  pprf_key *key = new_key(&m, 16); /* all in two batches: the store is given back */
  for (uint64_t x = 0; x < 32768; x++)
    leaf[x] = 2 * x;
  check_batches(key, &m, leaf, 32768);
  for (uint64_t x = 0; x < 32768; x++)
    leaf[x] = 65535 - 2 * x;
  check_batches(key, &m, leaf, 32768);
  check(pprf_node_count(key) == 0 && kernel_bytes(key) <= 4096, "%zu nodes, %zu B",
        pprf_node_count(key), kernel_bytes(key));
  pprf_free(key);
  free(m.dead);
  end_test("batches_are_single_calls_on_random_keys");
}

static void test_batch_errors(void)
{
  struct model m = {0};
  pprf_key *key = new_key(&m, 10);
  uint64_t leaf[40];
  uint8_t out[40 * PPRF_SEED_BYTES], zero[40 * PPRF_SEED_BYTES] = {0};
  int result[40];
  puncture(key, &m, 5, 5);
  puncture(key, &m, 100, 300);
  for (unsigned i = 0; i < 40; i++)
    leaf[i] = (i * 389 + 7) & 1023;
  for (unsigned op = 0; op < 3; op++)
    for (uint64_t nth = 1; !failed; nth++) { /* a PRG that fails */
      int err;
      pprf_key *copy = copy_of(key);
      snprintf(context, sizeof context, "op %u fails at call %llu", op, (unsigned long long)nth);
      memset(out, 1, sizeof out);
      fail_at = nth;
      if (op == 0)
        err = pprf_eval_batch(copy, leaf, 40, out, result);
      else if (op == 1)
        err = pprf_punct_batch(copy, leaf, 40, result);
      else
        err = pprf_expand(copy, 3, 900, ignore, NULL);
      int reached = fail_at == 0;
      fail_at = 0;
      if (reached) {
        check(err == PPRF_ERR_CRYPTO, "result %d", err);
        check(op == 2 || (result[0] == err && result[39] == err), "results");
        check(op != 0 || memcmp(out, zero, sizeof out) == 0, "output not zeroed");
        check_key(copy, &m, 1);
      }
      pprf_free(copy);
      if (!reached) {
        check(err == PPRF_OK && nth > 40, "result %d after %llu calls", err,
              (unsigned long long)nth);
        break;
      }
    }
  context[0] = 0;
  leaf[39] = 1024;
  memset(out, 1, sizeof out);
  check(pprf_eval_batch(key, leaf, 40, out, result) == PPRF_ERR_RANGE &&
          memcmp(out, zero, sizeof out) == 0 && result[0] == PPRF_ERR_RANGE, "eval_batch, range");
  check(pprf_punct_batch(key, leaf, 40, result) == PPRF_ERR_RANGE && result[0] == PPRF_ERR_RANGE,
        "punct_batch, range");
  memset(out, 1, sizeof out);
  check(pprf_eval_batch(NULL, leaf, 40, out, NULL) == PPRF_ERR_NULL &&
          memcmp(out, zero, sizeof out) == 0, "eval_batch, no key");
  check(pprf_eval_batch(key, NULL, 40, out, NULL) == PPRF_ERR_NULL &&
          pprf_eval_batch(key, leaf, 40, NULL, result) == PPRF_ERR_NULL &&
          pprf_punct_batch(NULL, leaf, 40, NULL) == PPRF_ERR_NULL &&
          pprf_punct_batch(key, NULL, 40, NULL) == PPRF_ERR_NULL, "null");
  check(pprf_eval_batch(key, NULL, 0, NULL, NULL) == PPRF_OK &&
          pprf_punct_batch(key, NULL, 0, NULL) == PPRF_OK, "no leaves");
  check(pprf_expand(key, 0, 1024, ignore, NULL) == PPRF_ERR_RANGE &&
          pprf_expand(key, 2, 1, ignore, NULL) == PPRF_ERR_RANGE &&
          pprf_expand(NULL, 0, 1, ignore, NULL) == PPRF_ERR_NULL &&
          pprf_expand(key, 0, 1, NULL, NULL) == PPRF_ERR_NULL, "expand, arguments");
  check_key(key, &m, 1);
  pprf_free(key);
  free(m.dead);
  end_test("a_batch_that_fails_changes_nothing");
}

static void test_prefault(void)
{
  struct model m = {0};
  for (unsigned depth = 1; depth <= 18; depth++)
    for (unsigned refused = 0; refused < 2; refused++) {
      pprf_key *key = new_key(&m, depth);
      const struct opt_store *s = store_of(key);
      for (unsigned i = 0; i < 10; i++) {
        uint64_t x = some_leaf(&m);
        puncture(key, &m, x, x);
      }
      snprintf(context, sizeof context, "depth %u%s", depth, refused ? ", by hand" : "");
      refused_advice = refused ? 23 : -1; /* MADV_POPULATE_WRITE */
      check(pprf_prefault(key) == PPRF_OK, "prefault");
      refused_advice = -1;
      check(kernel_bytes(key) == s->mapped && pprf_memory_bytes(key) >= s->mapped, "%zu B of %zu",
            kernel_bytes(key), s->mapped);
      check_key(key, &m, 1);
      (void)pprf_punct_range(key, 0, (UINT64_C(1) << depth) - 1);
      check(kernel_bytes(key) == s->mapped, "%zu B stay backed of %zu", kernel_bytes(key), s->mapped);
      pprf_free(key);
    }
  context[0] = 0;
  if (sysconf(_SC_PHYS_PAGES) < (INT64_C(1) << 35) / sysconf(_SC_PAGESIZE)) {
    pprf_key *key = new_key(&m, 32);
    check(pprf_prefault(key) == PPRF_ERR_NOMEM, "32 GB on this machine");
    pprf_free(key);
  }
  check(pprf_prefault(NULL) == PPRF_ERR_NULL, "null");
  free(m.dead);
  end_test("prefault_backs_every_page_and_changes_nothing");
}

/* ---- tests: shared keys ---- */

static void check_cleared(pprf_key *key, unsigned depth)
{
  struct model m = {.depth = depth};
  uint8_t out[PPRF_SEED_BYTES];
  const unsigned char *bytes = (const unsigned char *)store_of(key)->slot;
  size_t used = 0;
  model_puncture(&m, 0, leaves(&m) - 1);
  check_key(key, &m, 1);
  check(pprf_node_count(key) == 0 && pprf_eval(key, 1, out) == PPRF_ERR_PUNCTURED &&
          pprf_punct_range(key, 0, leaves(&m) - 1) == PPRF_ERR_PUNCTURED, "something is live");
  for (size_t i = 0; i < sizeof(struct pprf_seed) << (depth - 1); i++)
    used += bytes[i] != 0;
  check(used == 0, "%zu bytes of slots are not zero", used);
  free(m.dead);
}

static void test_shared(void)
{
  static const unsigned depths[] = {1, 6, 7, 12, 16, 19};
  for (unsigned k = 0; k < sizeof depths / sizeof *depths; k++) {
    unsigned depth = depths[k];
    pprf_key *key = NULL;
    uint8_t first[PPRF_SEED_BYTES] = {0}, value[PPRF_SEED_BYTES];
    uint64_t n = UINT64_C(1) << depth;
    int status = 0;
    snprintf(context, sizeof context, "depth %u", depth);
    if (!check(opt_shared_new(&key, depth) == PPRF_OK && key != NULL, "new"))
      break;
    check(pprf_depth(key) == depth, "depth");
    check_cleared(key, depth);
    for (unsigned round = 0; round < 4 && !failed; round++) {
      check(opt_shared_start(key) == PPRF_OK && pprf_node_count(key) == 1, "start");
      check(pprf_eval(key, n - 1, value) == PPRF_OK, "eval");
      check(memcmp(value, first, sizeof value) != 0, "the same seed again");
      memcpy(first, value, sizeof first);
      pid_t child = fork(); /* what a child punctures is punctured here */
      if (child == 0)
        _exit(pprf_punct(key, 0) == PPRF_OK ? 0 : 1);
      check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
      check(pprf_node_count(key) == depth && pprf_eval(key, 0, value) == PPRF_ERR_PUNCTURED,
            "the child's puncture is not seen");
      check(pprf_eval(key, n - 1, value) == PPRF_OK && memcmp(value, first, sizeof value) == 0,
            "another value");
      for (unsigned i = 0; i < 500; i++)
        (void)pprf_punct(key, rnd_below(n));
      if (round == 1) { /* half changed: slots without a node, bits without reason, a wrong count */
        struct opt_store *s = &key->store;
        for (unsigned i = 0; i < 50; i++) {
          s->slot[rnd_below(n / 2)] = root_seed();
          s->punctured.dead[rnd_below(opt_bitmap_words(depth, 0))] = rnd();
          for (unsigned level = 1; level < s->punctured.levels; level++)
            s->punctured.summary[level][rnd_below(opt_bitmap_words(depth, level))] =
              (struct opt_summary){rnd(), rnd()};
        }
        s->nodes = rnd();
      }
      if (round == 2) /* a system that does not take pages back */
        refused_advice = MADV_REMOVE;
      opt_shared_clear(key);
      refused_advice = -1;
      check_cleared(key, depth);
    }
    if (k & 1)
      opt_shared_free(key);
    else
      pprf_free(key);
  }
  end_test("a_shared_key_is_wiped_by_clear_and_starts_again");
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
    struct opt_store *s = &key->store;
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

/* ---- */

static void all_ranges(void)
{
  for (unsigned depth = 1; depth <= 8; depth++)
    test_all_ranges(depth);
}

static void all_sets(void)
{
  for (unsigned depth = 1; depth <= 4; depth++)
    test_all_sets(depth);
}

static void orders(void)
{
  uint64_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  all_orders(order, 0, 8);
  end_test("all_orders_of_depth_3");
}

static void random_operations(void)
{
  for (unsigned depth = 1; depth <= 32; depth++)
    test_random_operations(depth, depth <= 16 ? 600 : 200);
}

static void bytes(void)
{
  for (unsigned depth = 16; depth <= 18; depth++)
    test_worst_case_bytes(depth);
}

static const struct {
  const char *name;
  void (*run)(void);
} groups[] = {{"words", test_words},
              {"ranges", all_ranges},
              {"sets", all_sets},
              {"orders", orders},
              {"random", random_operations},
              {"batches", test_batch_errors}, /* the fastest first */
              {"batches", test_batches_random},
              {"batches", test_batches_small},
              {"residue", test_stack},
              {"failing", test_failing_prg},
              {"files", test_hostile_files},
              {"depth32", test_depth_32},
              {"bytes", bytes},
              {"release", test_range_release},
              {"prefault", test_prefault},
              {"shared", test_shared},
              {"damage", test_damage},
              {"prg", test_keccak},
              {"prg", test_many}};

/* Whether a group is in a list with commas between; NULL: all are. */
static int wanted(const char *group, const char *list)
{
  size_t len = strlen(group);
  for (const char *at = list; at != NULL && *at != 0; at += *at == ',') {
    if (strncmp(at, group, len) == 0 && (at[len] == ',' || at[len] == 0))
      return 1;
    at += strcspn(at, ",");
  }
  return list == NULL;
}

int main(int argc, char **argv)
{
  const char *only = NULL;
  int option;
  while ((option = getopt(argc, argv, "xt:")) != -1)
    if (option == 'x')
      stop_at_failure = 1;
    else if (option == 't')
      only = optarg;
    else
      return 2;
  const char *given = optind < argc ? argv[optind] : getenv("SEED");
  if (given != NULL && *given != 0)
    base_seed = strtoull(given, NULL, 0);
  else if (getrandom(&base_seed, sizeof base_seed, 0) != sizeof base_seed)
    return 1;
  rng_state = base_seed;
  printf("# seed %llu\n", (unsigned long long)base_seed);
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (wanted(groups[i].name, only))
      groups[i].run();
  if (tests == 0)
    printf("Bail out! no such group: %s\n", only);
  printf("1..%u\n", tests);
  return failed_tests != 0 || tests == 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the PRG, and of seeds left in memory. */
#include <pthread.h>
#include <sys/mman.h>

#include "keccak.h"
#include "lanes.h"
#include "selftest.h"

/* lanes.c, as linked into a program with a PRG of its own */
int opt_expand_many_default(struct pprf_family family, const struct opt_step *step, unsigned n);
int opt_descend_default(struct pprf_family family, struct pprf_seed seed, uint64_t leaf,
                        unsigned height, struct pprf_seed *copath, struct pprf_seed *value);
#define opt_expand_many opt_expand_many_default
#define opt_descend opt_descend_default
#include "lanes.c"
#undef opt_descend
#undef opt_expand_many

int __real_opt_expand_many(struct pprf_family family, const struct opt_step *step,
                           unsigned n); /* besides model.c's wrapper */

/* ---- tests: the PRG ---- */

/* prg/libcrypto.c, as in opt's library */
struct pprf_children prg_expand_evp(struct pprf_family family, struct pprf_seed seed,
                                    uint64_t start, unsigned height);

static struct pprf_children evp(struct pprf_seed seed, uint64_t start, unsigned height)
{
  return prg_expand_evp(PRG_BARE, seed, start, height);
}

static int same_children(struct pprf_children a, struct pprf_children b)
{
  return a.err == 0 && b.err == 0 && same_seed(a.left, b.left) && same_seed(a.right, b.right);
}

/* Test a version on n seeds, with children in place, or in an order that depends on the round. */
static int lanes_are(opt_expand_lanes *lanes, const struct pprf_seed *seed,
                     const struct pprf_children *want, unsigned n, unsigned round)
{
  struct pprf_seed parent[OPT_LANES], left[OPT_LANES], right[OPT_LANES];
  struct opt_step step[OPT_LANES];
  for (unsigned i = 0; i < n; i++) {
    parent[i] = seed[i];
    step[i] =
      (struct opt_step){&parent[i], &left[(i * 3 + round) % n], &right[(i + round) % n], 0, 1};
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

void test_keccak(void)
{
  struct {
    const char *name;
    opt_expand *expand;
    opt_expand_lanes *lanes;
    unsigned n;
    int usable, agrees;
  } versions[] = {
    {"evp", evp, NULL, 1, 1, 1},
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
  const struct pprf_children digest = {{UINT64_C(0x91d3ed22479e7db8), UINT64_C(0xf83ad0a6d9de2987)},
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
        seed[i] = (struct pprf_seed){k < 64                ? opt_bit(k)
                                     : k >= 128 && k < 192 ? ~opt_bit(k & 63)
                                                           : 0,
                                     k >= 192             ? ~opt_bit(k & 63)
                                     : k >= 64 && k < 128 ? opt_bit(k & 63)
                                                          : 0};
      else if (k == 256)
        seed[i] = message;
      want[i] = k == 256 ? digest : evp(seed[i], 0, 1);
    }
    for (unsigned v = 0; v < sizeof versions / sizeof *versions; v++) {
      int same = 1;
      if (!versions[v].usable || !versions[v].agrees)
        continue;
      if (versions[v].lanes != NULL)
        for (unsigned i = 0; i < OPT_LANES; i += versions[v].n)
          same &= lanes_are(versions[v].lanes, seed + i, want + i, versions[v].n, round);
      else if (versions[v].expand != evp || round == 256 / OPT_LANES)
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

/* Any number of steps, with the PRG in each of its versions. */
void test_many(void)
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
      check((v < 4 ? __real_opt_expand_many : opt_expand_many_default)(PRG_BARE, step, n) == 0,
            "result");
      check(prg_calls() - calls == n, "counts %llu", (unsigned long long)(prg_calls() - calls));
      for (unsigned i = 0; i < 20; i++) {
        struct pprf_children c = evp(before[i], 0, 1);
        check(i < n ? same_seed(seed[i], c.left) && same_seed(right[i], c.right)
                    : same_seed(seed[i], before[i]) && same_seed(right[i], root_seed()),
              "step %u with %s", i, v < 4 ? name[v] : "the weak definition");
      }
    }
  }
  check(pprf_prg_select("md5") == PPRF_ERR_RANGE && pprf_prg_select("") == PPRF_ERR_RANGE &&
          pprf_prg_select(NULL) == PPRF_ERR_NULL,
        "a name that is none");
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

int ignore(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)leaf;
  (void)n;
  (void)values;
  return 0;
}

static const unsigned char *job_stack;
static unsigned char
  *seen_by_caller; /* the stack as it is when pprf_expand first calls the caller's function */
static int calls_of_caller;

static int see_stack(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  if (calls_of_caller++ == 0)
    memcpy(seen_by_caller, job_stack, STACK_BYTES);
  return ignore(arg, leaf, n, values);
}

static void *do_job(void *argument)
{
  struct job *j = argument;
  static _Thread_local uint8_t out[PPRF_SEED_BYTES];
  static uint8_t outs[9][PPRF_SEED_BYTES];
  uint64_t batch[9]; /* the given leaf twice, and others */
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
                         see_stack, NULL);
  memset(out, 0, sizeof out);
  memset(outs, 0, sizeof outs);
  return NULL;
}

/* Number of occurrences of half a seed in a stack. */
static unsigned occurrences(const unsigned char *stack, struct pprf_seed seed)
{
  unsigned n = 0;
  for (size_t at = 0; at + 8 <= STACK_BYTES; at += 4)
    n += memcmp(stack + at, &seed.lo, 8) == 0 || memcmp(stack + at, &seed.hi, 8) == 0;
  return n;
}

static void check_path(const unsigned char *stack, const struct job *job, unsigned depth)
{
  for (unsigned h = 0; h <= depth; h++)
    for (unsigned side = 0; side < 2; side++) {
      uint64_t leaf = side == 1 && job->op >= 3 ? job->last : job->leaf;
      struct opt_node n = {.start = leaf >> h << h, .height = h};
      check(occurrences(stack, node_seed(depth, n)) == 0, "seed of (%llu, %u) on the stack",
            (unsigned long long)n.start, h);
      n.start ^= UINT64_C(1) << h;
      if (h < depth)
        check(occurrences(stack, node_seed(depth, n)) == 0, "seed of (%llu, %u) on the stack",
              (unsigned long long)n.start, h);
    }
}

/* Each operation runs in a thread on a stack of the test's, which is then searched for the seed
 * of every node on the path and of their siblings; also while pprf_expand calls the caller's
 * function. */
void test_stack(void)
{
  unsigned char *stack =
    mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct model m = {0};
  pthread_attr_t attr;
  if (!check(stack != MAP_FAILED && pthread_attr_init(&attr) == 0 &&
               pthread_attr_setstack(&attr, stack, STACK_BYTES) == 0,
             "stack"))
    return;
  job_stack = stack;
  seen_by_caller = must(malloc(STACK_BYTES));
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
        watched[watching++] = node_seed(depth, (struct opt_node){.start = start, .height = h});
        watched[watching++] =
          node_seed(depth, (struct opt_node){.start = start ^ UINT64_C(1) << h, .height = h});
        watched[watching++] =
          node_seed(depth, (struct opt_node){.start = job.last >> h << h, .height = h});
      }
      calls_of_caller = 0;
      check(pthread_create(&thread, &attr, do_job, &job) == 0 && pthread_join(thread, NULL) == 0,
            "thread");
      watching = 0;
      check(seen_in_free == 0, "%u seeds in memory that was given back", seen_in_free);
      seen_in_free = 0;
      check(job.err == PPRF_OK, "result %d", job.err);
      check((calls_of_caller > 0) == (op == 6), "%d calls", calls_of_caller);
      check_path(stack, &job, depth);
      if (op == 6)
        check_path(seen_by_caller, &job, depth);
      pprf_free(job.key);
    }
  (void)munmap(stack, STACK_BYTES);
  free(seen_by_caller);
  free(m.punctured);
  end_test("no_seed_stays_on_the_stack_or_in_freed_memory");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG of the library that ships: one of the versions of keccak.h, or libcrypto's.
 * prg/libcrypto.c is compiled beside it with its functions of these names renamed to *_evp. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "keccak.h"
#include "pprf.h"

opt_expand prg_expand_evp;
int prg_digest_evp(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
uint64_t prg_wipe_plan_evp(unsigned own);

/* What stands behind the Keccaks of keccak.c, and is the last of the versions. */
#ifdef PPRF_NO_OPENSSL
#define BEHIND "builtin"
#else
#define BEHIND "evp"
#endif

static int always(void)
{
  return 1;
}

#if OPT_KECCAK_X86
static int have_avx2(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}

static int have_avx512(void)
{
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
}
#endif

/* Without optimization a Keccak on vector registers has a variable for each of its steps. */
#ifdef __OPTIMIZE__
#define KECCAK_STACK 512
#define KECCAK_VECTOR_STACK 256
#define KECCAK_4_STACK 3072
#define KECCAK_8_STACK 3072
#else
#define KECCAK_STACK 2048
#define KECCAK_VECTOR_STACK 8192
#define KECCAK_4_STACK (160 << 10)
#define KECCAK_8_STACK (80 << 10)
#endif

static const struct version {
  const char *name;
  opt_expand *expand;
  opt_expand_lanes *expand_4, *expand_8; /* or NULL */
  int (*usable)(void);
  unsigned stack, stack_many; /* bytes that prg_expand and opt_expand_many take */
} versions[] = {              /* the fastest first; the last is what remains */
#if OPT_KECCAK_X86
  {"avx512", opt_keccak_avx512, opt_keccak_avx512_x4, opt_keccak_avx512_x8, have_avx512, KECCAK_VECTOR_STACK,
   KECCAK_8_STACK},
  {"avx2", opt_keccak_avx2, opt_keccak_avx2_x4, NULL, have_avx2, KECCAK_STACK, KECCAK_4_STACK},
#endif
  {"scalar", opt_keccak_scalar, NULL, NULL, always, KECCAK_STACK, KECCAK_STACK + 512},
  {BEHIND, prg_expand_evp, NULL, NULL, always, PRG_LIBCRYPTO_STACK, PRG_LIBCRYPTO_STACK + 512}};

#define VERSIONS (sizeof versions / sizeof *versions)

/* Before the choice: its prg_expand makes it. */
static opt_expand choose_and_expand;
static const struct version undecided = {"", choose_and_expand, NULL, NULL, always, 0, 0};
static _Atomic(const struct version *) current = &undecided;
/* For prg_wipe_plan and opt_wipe_plan: the most that a version takes of those that are or were
 * current. */
static _Atomic uint64_t used, used_many;

/* In the static block of thread-local memory: an access is one instruction, and no call. */
static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t calls;

static int same_seed(struct pprf_seed a, struct pprf_seed b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

/* Whether a version's lanes agree with its prg_expand, on seeds that each lane sees.  The children
 * are written in place and to places in disorder, as callers do. */
static int lanes_agree(const struct version *v, opt_expand_lanes *lanes, unsigned n)
{
  struct pprf_seed seed[OPT_LANES], parent[OPT_LANES], right[OPT_LANES];
  struct opt_step step[OPT_LANES];
  int same = 1;
  for (unsigned round = 0; round < 8; round++) {
    for (unsigned i = 0; i < n; i++) {
      unsigned at = (i * 3 + round) % n;
      parent[i] = seed[i] = (struct pprf_seed){
        UINT64_C(0x9e3779b97f4a7c15) * (8 * round + i + 1), UINT64_C(1) << (8 * round + i)};
      step[i] = (struct opt_step){&seed[i], &seed[i], &right[at], 0, 1};
    }
    lanes(step);
    for (unsigned i = 0; i < n; i++) {
      struct pprf_children c = v->expand(parent[i], 0, 1);
      same &= same_seed(c.left, *step[i].left) && same_seed(c.right, *step[i].right);
    }
  }
  return same;
}

/* Whether a version agrees with libcrypto: 1 or 0, or -1 if libcrypto fails. */
static int agrees(const struct version *v)
{
  struct pprf_seed seed = {0, 0};
  for (unsigned i = 0; i < 64; i++) {
    struct pprf_children a = prg_expand_evp(seed, 0, 1), b = v->expand(seed, 0, 1);
    if (a.err != 0)
      return -1;
    if (!same_seed(a.left, b.left) || !same_seed(a.right, b.right))
      return 0;
    seed = i & 1 ? a.right : a.left;
  }
  return (v->expand_4 == NULL || lanes_agree(v, v->expand_4, 4)) &&
         (v->expand_8 == NULL || lanes_agree(v, v->expand_8, 8));
}

/* The version of a name, or NULL. */
static const struct version *named(const char *name)
{
  for (size_t i = 0; i < VERSIONS; i++)
    if (strcmp(name, versions[i].name) == 0)
      return &versions[i];
  return NULL;
}

static void raise_to(_Atomic uint64_t *most, uint64_t plan)
{
  uint64_t before = atomic_load(most);
  while (before < plan && !atomic_compare_exchange_weak(most, &before, plan))
    ;
}

/* Called before the version becomes current: who uses it finds its stack in the plans. */
static void note(const struct version *v)
{
  raise_to(&used, prg_wipe_flags() | v->stack);
  raise_to(&used_many, prg_wipe_flags() | v->stack_many);
}

/* Choose the version.  Threads that come here at once choose the same one.  While libcrypto fails
 * nothing is decided and its error is the caller's result. */
static const struct version *choose(void)
{
  const struct version *evp = &versions[VERSIONS - 1], *chosen = NULL, *before = &undecided;
  const char *wanted = secure_getenv("PPRF_PRG");
  if (wanted != NULL)
    chosen = named(wanted);
  if (chosen == NULL)
    for (chosen = versions; !chosen->usable();)
      chosen++;
  else if (!chosen->usable())
    chosen = evp;
  int same = agrees(chosen);
  if (same < 0) {
    note(evp);
    return evp;
  }
  if (!same)
    chosen = evp;
  note(chosen);
  /* pprf_prg_select may have been first */
  return atomic_compare_exchange_strong(&current, &before, chosen) ? chosen : before;
}

static const struct version *chosen_version(void)
{
  const struct version *v = atomic_load_explicit(&current, memory_order_acquire);
  return v == &undecided ? choose() : v;
}

static struct pprf_children choose_and_expand(struct pprf_seed seed, uint64_t start,
                                              unsigned height)
{
  /* in memory: in a register that callees save it would go as deep as libcrypto does */
  volatile uint64_t lo = seed.lo, hi = seed.hi;
  const struct version *v = choose();
  seed = (struct pprf_seed){lo, hi};
  lo = hi = 0;
  return v->expand(seed, start, height);
}

const char *pprf_prg_name(void)
{
  return chosen_version()->name;
}

const char *opt_prg_name(void)
{
  return pprf_prg_name();
}

int pprf_prg_select(const char *name)
{
  if (name == NULL)
    return PPRF_ERR_NULL;
  const struct version *v = named(name);
  if (v == NULL || !v->usable())
    return PPRF_ERR_RANGE;
  int same = agrees(v);
  if (same <= 0)
    return same < 0 ? PPRF_ERR_CRYPTO : PPRF_ERR_RANGE;
  note(v);
  atomic_store(&current, v);
  return PPRF_OK;
}

/* It holds no array: nothing for the stack protector to guard. */
__attribute__((no_stack_protector)) struct pprf_children
prg_expand(struct pprf_seed seed, uint64_t start, unsigned height)
{
  calls++;
  return atomic_load_explicit(&current, memory_order_acquire)->expand(seed, start, height);
}

/* n < 4 or n < 8 steps in lanes of which some are idle. */
static void pad_and_expand(opt_expand_lanes *lanes, unsigned width, const struct opt_step *step,
                           unsigned n)
{
  struct opt_step padded[OPT_LANES];
  struct pprf_seed unused[3] = {{0, 0}};
  for (unsigned i = 0; i < width; i++)
    padded[i] = i < n ? step[i] : (struct opt_step){&unused[0], &unused[1], &unused[2], 0, 1};
  lanes(padded);
}

int opt_expand_many(const struct opt_step *step, unsigned n)
{
  const struct version *v = chosen_version();
  struct pprf_children c = {.err = 0};
  calls += n;
  for (; n >= 8 && v->expand_8 != NULL; n -= 8, step += 8)
    v->expand_8(step);
  if (n > 4 && n < 8 && v->expand_8 != NULL) {
    pad_and_expand(v->expand_8, 8, step, n);
    return 0;
  }
  for (; n >= 4 && v->expand_4 != NULL; n -= 4, step += 4)
    v->expand_4(step);
  if (n >= 2 && v->expand_4 != NULL) {
    pad_and_expand(v->expand_4, 4, step, n);
    return 0;
  }
  for (; n > 0 && c.err == 0; n--, step++) {
    c = v->expand(*step->seed, step->start, step->height);
    *step->left = c.left;
    *step->right = c.right;
  }
  int err = c.err;
  c.left = c.right = (struct pprf_seed){0, 0};
  __asm__ volatile("" : : "r"(&c) : "memory"); /* the zeros are stored */
  return err;
}

uint64_t prg_calls(void)
{
  return calls;
}

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  return prg_digest_evp(bytes, len, out);
}

/* Before the first choice libcrypto's is what may have been used. */
static uint64_t plan_of(_Atomic uint64_t *most, unsigned own)
{
  uint64_t plan = atomic_load_explicit(most, memory_order_acquire);
  return (plan != 0 ? plan : prg_wipe_plan_evp(512)) + own;
}

uint64_t prg_wipe_plan(unsigned own)
{
  return plan_of(&used, own);
}

uint64_t opt_wipe_plan(unsigned own)
{
  return plan_of(&used_many, own);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG of the library that ships: one of the versions of keccak.h, or libcrypto's.
 * ref/prg.c is compiled beside it with its functions of these names renamed to *_evp. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "keccak.h"
#include "pprf.h"

opt_expand prg_expand_evp;
int prg_digest_evp(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
void prg_wipe_stack_evp(void);

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

static const struct version {
  const char *name;
  opt_expand *expand;
  opt_expand_lanes *expand_4, *expand_8; /* or NULL */
  int (*usable)(void);
} versions[] = { /* the fastest first; the last is what remains */
#if OPT_KECCAK_X86
  {"avx512", opt_keccak_avx512, opt_keccak_avx512_x4, opt_keccak_avx512_x8, have_avx512},
  {"avx2", opt_keccak_avx2, opt_keccak_avx2_x4, NULL, have_avx2},
#endif
  {"scalar", opt_keccak_scalar, NULL, NULL, always},
  {"evp", prg_expand_evp, NULL, NULL, always}};

#define VERSIONS (sizeof versions / sizeof *versions)

/* Before the choice: its prg_expand makes it. */
static opt_expand choose_and_expand;
static const struct version undecided = {"", choose_and_expand, NULL, NULL, always};
static _Atomic(const struct version *) current = &undecided;

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
  if (same < 0)
    return evp;
  if (!same)
    chosen = evp;
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
  return choose()->expand(seed, start, height);
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

#if OPT_KECCAK_X86
/* The registers that a caller may not rely on; those that it may rely on, callees have restored. */
#define CLEAR_GENERAL                                                                              \
  "xor %%eax, %%eax; xor %%ecx, %%ecx; xor %%edx, %%edx; xor %%esi, %%esi; xor %%edi, %%edi\n\t"   \
  "xor %%r8d, %%r8d; xor %%r9d, %%r9d; xor %%r10d, %%r10d; xor %%r11d, %%r11d\n\t"
#define CLEAR_4(op, a, b, c, d) op(a) op(b) op(c) op(d)
#define CLEAR_LOW_16(op)                                                                           \
  CLEAR_4(op, 0, 1, 2, 3) CLEAR_4(op, 4, 5, 6, 7) CLEAR_4(op, 8, 9, 10, 11)                        \
  CLEAR_4(op, 12, 13, 14, 15)
#define CLEAR_HIGH_16(op)                                                                          \
  CLEAR_4(op, 16, 17, 18, 19) CLEAR_4(op, 20, 21, 22, 23) CLEAR_4(op, 24, 25, 26, 27)              \
  CLEAR_4(op, 28, 29, 30, 31)
#define PXOR(n) "pxor %%xmm" #n ", %%xmm" #n "\n\t"
#define VPXOR(n) "vpxor %%xmm" #n ", %%xmm" #n ", %%xmm" #n "\n\t" /* and the upper halves */
#define VPXORQ(n) "vpxorq %%xmm" #n ", %%xmm" #n ", %%xmm" #n "\n\t"
#define CLOBBERED                                                                                  \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",         \
    "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9",    \
    "r10", "r11", "cc"

static inline void wipe_registers(const struct version *v)
{
  if (v->usable == have_avx512)
    __asm__ volatile(CLEAR_LOW_16(VPXOR) CLEAR_HIGH_16(VPXORQ) CLEAR_GENERAL : : : CLOBBERED);
  else if (v->usable == have_avx2)
    __asm__ volatile(CLEAR_LOW_16(VPXOR) CLEAR_GENERAL : : : CLOBBERED);
  else
    __asm__ volatile(CLEAR_LOW_16(PXOR) CLEAR_GENERAL : : : CLOBBERED);
}
#endif

/* Bytes of stack that the callees of an operation's outermost function use for seeds: a descent,
 * prg_expand and a Keccak, 450 bytes with gcc 12 and clang 14.  Without optimization a Keccak on
 * vector registers alone takes 4.7 kB. */
#ifdef __OPTIMIZE__
#define STACK_USED 504
#else
#define STACK_USED 8192
#endif

static __attribute__((noinline)) void wipe_below(void)
{
  uint8_t below[STACK_USED];
  explicit_bzero(below, sizeof below);
}

#if OPT_KECCAK_X86
typedef uint64_t wide __attribute__((vector_size(32), aligned(16)));

/* The same in 5 ns instead of 14: that counts beside a puncture's two Keccaks of 200. */
static __attribute__((noinline, no_stack_protector, target("avx2"))) void wipe_below_wide(void)
{
  wide below[(STACK_USED + sizeof(wide) - 1) / sizeof(wide)];
  for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
    below[i] = (wide){0};
    __asm__ volatile("" : "+m"(below[i]));
  }
}
#endif

int prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  int err = prg_digest_evp(bytes, len, out);
  prg_wipe_stack_evp(); /* libcrypto goes deeper */
  return err;
}

void prg_wipe_stack(void)
{
  const struct version *v = atomic_load_explicit(&current, memory_order_acquire);
  if (v == &undecided || v->expand == prg_expand_evp)
    prg_wipe_stack_evp();
#if OPT_KECCAK_X86
  else if (v->usable != always)
    wipe_below_wide();
#endif
  else
    wipe_below();
#if OPT_KECCAK_X86
  wipe_registers(v);
#endif
}

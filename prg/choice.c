/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG of the shipped library, and the choice of its version: one of keccak.h for the
 * SHA3-256 suites, of aes.h for aes-128, of sha256.h for 32-byte seeds, or libcrypto's.
 * prg/libcrypto.c is compiled beside this file with its functions renamed to *_evp. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "aes.h"
#include "keccak.h"
#include "pprf.h"
#include "sha256.h"

#if OPT_AES_X86 || OPT_SHA256_X86
#include <cpuid.h>
#endif
#if (OPT_AES_ARM || OPT_SHA256_ARM) && defined(__linux__)
#include <sys/auxv.h>
#endif

struct pprf_children prg_expand_evp(struct pprf_family family, struct pprf_seed seed,
                                    uint64_t start, unsigned height);
struct pprf_wide_children prg_expand_wide_evp(struct pprf_family family, struct pprf_wide_seed seed,
                                              uint64_t start, unsigned height);
int prg_digest_evp(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
uint64_t prg_wipe_plan_evp(unsigned own);

/* The last version of each list: libcrypto's, or without libcrypto the portable one. */
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

#if OPT_AES_X86
static int have_aes(void)
{
  return __builtin_cpu_supports("aes") && __builtin_cpu_supports("ssse3");
}

/* Not every compiler's __builtin_cpu_supports knows vaes. A system that saves AVX-512's
 * registers also saves those of VAES. */
static int have_vaes(void)
{
  unsigned a, b, c, d;
  return have_aes() && have_avx512() && __builtin_cpu_supports("avx512bw") &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (c & bit_VAES) != 0;
}
#endif

#if OPT_AES_ARM
#ifndef HWCAP_AES
#define HWCAP_AES (1UL << 3) /* Linux on arm64 */
#endif

static int have_armv8_aes(void)
{
#if defined(__ARM_FEATURE_AES) /* compiled for processors that have the instructions */
  return 1;
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0;
#else
  return 0;
#endif
}
#endif

#if OPT_SHA256_X86
/* Not every compiler's __builtin_cpu_supports knows sha. */
static int have_sha(void)
{
  unsigned a, b, c, d;
  return __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("sse4.1") &&
         __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA) != 0;
}
#endif

#if OPT_SHA256_ARM
#ifndef HWCAP_SHA2
#define HWCAP_SHA2 (1UL << 6) /* Linux on arm64 */
#endif

static int have_armv8_sha2(void)
{
#if defined(__ARM_FEATURE_SHA2) /* compiled for processors that have the instructions */
  return 1;
#elif defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_SHA2) != 0;
#else
  return 0;
#endif
}
#endif

/* Without optimization each step of a vector Keccak has a stack variable of its own, and a
 * version with many lanes takes up to 120 kB of stack, more than a thread may have.  So only
 * optimized builds have multi-lane Keccak.  PPRF_STACK_BYTES in pprf.h bounds the stack of every
 * call. */
#ifdef __OPTIMIZE__
#define KECCAK_LANES(lanes) (lanes)
#define KECCAK_STACK 512
#define KECCAK_VECTOR_STACK 256
#define KECCAK_4_STACK 3072
#define KECCAK_8_STACK 3072
#define AES_STACK 256
#define AES_LANES_STACK 1024
#define AES_BITSLICED_STACK 1024
#define SHA256_STACK 1024
#define SHA256_SCALAR_STACK 1536
#else
#define KECCAK_LANES(lanes) (0 ? (lanes) : NULL)
#define KECCAK_STACK 2048
#define KECCAK_VECTOR_STACK 8192
#define KECCAK_4_STACK (KECCAK_STACK + 512)
#define KECCAK_8_STACK (KECCAK_VECTOR_STACK + 512)
#define AES_STACK 8192
#define AES_LANES_STACK (20 << 10)
#define AES_BITSLICED_STACK 8192
#define SHA256_STACK 8192
#define SHA256_SCALAR_STACK 2048
#endif

/* The code of one version for one suite. For sha3-256 salt and id are ignored. */
struct code {
  opt_node_expand *expand;
  opt_node_lanes *expand_4, *expand_8; /* or NULL */
  opt_node_descend *descend;           /* or NULL */
};

#define BARE(name)                                                                                 \
  static struct pprf_children bare_##name(struct pprf_seed seed, uint64_t salt_lo,                 \
                                          uint64_t salt_hi, uint64_t id)                           \
  {                                                                                                \
    (void)salt_lo;                                                                                 \
    (void)salt_hi;                                                                                 \
    (void)id;                                                                                      \
    return name(seed, 0, 1);                                                                       \
  }
#define BARE_LANES(name)                                                                           \
  static void bare_##name(uint64_t salt_lo, uint64_t salt_hi, const struct opt_step *step)         \
  {                                                                                                \
    (void)salt_lo;                                                                                 \
    (void)salt_hi;                                                                                 \
    name(step);                                                                                    \
  }
BARE(opt_keccak_scalar)
#if OPT_KECCAK_X86
BARE(opt_keccak_avx2)
BARE(opt_keccak_avx512)
BARE_LANES(opt_keccak_avx2_x4)
BARE_LANES(opt_keccak_avx512_x4)
BARE_LANES(opt_keccak_avx512_x8)
#endif

/* libcrypto's version as such a function: from the in-order id to start and height. */
static struct pprf_children behind(unsigned suite, struct pprf_seed seed, uint64_t salt_lo,
                                   uint64_t salt_hi, uint64_t id)
{
  return prg_expand_evp((struct pprf_family){suite, salt_lo, salt_hi}, seed, (id & (id - 1)) >> 1,
                        (unsigned)__builtin_ctzll(id));
}

#define NODE_EXPAND(name, call)                                                                    \
  static struct pprf_children name(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi,      \
                                   uint64_t id)                                                    \
  {                                                                                                \
    return call;                                                                                   \
  }
NODE_EXPAND(behind_bare, behind(PRG_SHA3_256, seed, salt_lo, salt_hi, id))
NODE_EXPAND(behind_salted, behind(PRG_SHA3_256_SALTED, seed, salt_lo, salt_hi, id))
NODE_EXPAND(behind_aes, behind(PRG_AES_128, seed, salt_lo, salt_hi, id))

static struct pprf_wide_children behind_wide(struct pprf_wide_seed seed)
{
  return prg_expand_wide_evp((struct pprf_family){PRG_MLS_SHA256, 0, 0}, seed, 0, 1);
}

struct version {
  const char *name;
  int (*usable)(void);
  unsigned stack, stack_many; /* bytes for prg_expand and opt_descend, and for opt_expand_many */
  union {
    struct code code[2];   /* for the suites that share the version */
    opt_wide_expand *wide; /* for the suite with 32-byte seeds */
  };
};

/* clang-format off */
/* The fastest first; the last is the fallback. */
static const struct version sha3_versions[] = {
#if OPT_KECCAK_X86
  {"avx512", have_avx512, KECCAK_VECTOR_STACK, KECCAK_8_STACK,
   .code = {{bare_opt_keccak_avx512, KECCAK_LANES(bare_opt_keccak_avx512_x4), KECCAK_LANES(bare_opt_keccak_avx512_x8),
     opt_keccak_avx512_descend},
    {opt_salted_avx512, KECCAK_LANES(opt_salted_avx512_x4), KECCAK_LANES(opt_salted_avx512_x8),
     opt_salted_avx512_descend}}},
  {"avx2", have_avx2, KECCAK_STACK, KECCAK_4_STACK,
   .code = {{bare_opt_keccak_avx2, KECCAK_LANES(bare_opt_keccak_avx2_x4), NULL, NULL},
    {opt_salted_avx2, KECCAK_LANES(opt_salted_avx2_x4), NULL, NULL}}},
#endif
  {"scalar", always, KECCAK_STACK, KECCAK_STACK + 512,
   .code = {{bare_opt_keccak_scalar, NULL, NULL, NULL}, {opt_salted_scalar, NULL, NULL, NULL}}},
  {BEHIND, always, PRG_LIBCRYPTO_STACK, PRG_LIBCRYPTO_STACK + 512,
   .code = {{behind_bare, NULL, NULL, NULL}, {behind_salted, NULL, NULL, NULL}}}};

static const struct version aes_versions[] = {
#if OPT_AES_X86
  {"aes-vaes", have_vaes, AES_STACK, AES_LANES_STACK,
   .code = {{opt_aes_ni, opt_aes_vaes_x4, opt_aes_vaes_x8, opt_aes_ni_descend}}},
  {"aes-ni", have_aes, AES_STACK, AES_LANES_STACK,
   .code = {{opt_aes_ni, opt_aes_ni_x4, NULL, opt_aes_ni_descend}}},
#endif
#if OPT_AES_ARM
  {"aes-armv8", have_armv8_aes, AES_STACK, AES_LANES_STACK,
   .code = {{opt_aes_armv8, opt_aes_armv8_x4, NULL, opt_aes_armv8_descend}}},
#endif
  {"aes-bitsliced", always, AES_BITSLICED_STACK, AES_BITSLICED_STACK + 512,
   .code = {{opt_aes_bitsliced, NULL, NULL, NULL}}},
  {"aes-" BEHIND, always, PRG_LIBCRYPTO_STACK, PRG_LIBCRYPTO_STACK + 512,
   .code = {{behind_aes, NULL, NULL, NULL}}}};

static const struct version sha256_versions[] = {
#if OPT_SHA256_X86
  {"sha256-ni", have_sha, SHA256_STACK, SHA256_STACK + 512, .wide = opt_sha256_ni},
#endif
#if OPT_SHA256_ARM
  {"sha256-armv8", have_armv8_sha2, SHA256_STACK, SHA256_STACK + 512, .wide = opt_sha256_armv8},
#endif
  {"sha256-scalar", always, SHA256_SCALAR_STACK, SHA256_SCALAR_STACK + 512,
   .wide = opt_sha256_scalar},
  {"sha256-" BEHIND, always, PRG_LIBCRYPTO_STACK, PRG_LIBCRYPTO_STACK + 512,
   .wide = behind_wide}};
/* clang-format on */

/* The version before the choice: its prg_expand makes the choice. */
static opt_node_expand choose_for_bare, choose_for_salted, choose_for_aes;
static opt_wide_expand choose_for_wide;
static const struct version sha3_undecided = {
  "", always, 0, 0,
  .code = {{choose_for_bare, NULL, NULL, NULL}, {choose_for_salted, NULL, NULL, NULL}}};
static const struct version aes_undecided = {"", always, 0, 0,
                                             .code = {{choose_for_aes, NULL, NULL, NULL}}};
static const struct version sha256_undecided = {"", always, 0, 0, .wide = choose_for_wide};

/* Suites that share a choice of version have consecutive ids. */
static struct choice {
  const char *variable; /* environment variable */
  unsigned first_suite, suites;
  const struct version *versions, *last, *undecided;
  _Atomic(const struct version *) current;
} sha3_choice = {"PPRF_PRG",
                 PRG_SHA3_256,
                 2,
                 sha3_versions,
                 sha3_versions + sizeof sha3_versions / sizeof *sha3_versions - 1,
                 &sha3_undecided,
                 &sha3_undecided},
  aes_choice = {"PPRF_AES",
                PRG_AES_128,
                1,
                aes_versions,
                aes_versions + sizeof aes_versions / sizeof *aes_versions - 1,
                &aes_undecided,
                &aes_undecided},
  sha256_choice = {"PPRF_SHA256",
                   PRG_MLS_SHA256,
                   1,
                   sha256_versions,
                   sha256_versions + sizeof sha256_versions / sizeof *sha256_versions - 1,
                   &sha256_undecided,
                   &sha256_undecided};

static struct choice *choice_of(unsigned suite)
{
  return suite == PRG_AES_128 ? &aes_choice : &sha3_choice;
}

/* For prg_wipe_plan and opt_wipe_plan: the maximum over all versions that are or were current. */
static _Atomic uint64_t used, used_many;

/* In the static TLS block: an access is one instruction and no call. */
static _Thread_local __attribute__((tls_model("initial-exec"))) uint64_t calls;

/* ---- does a version agree with libcrypto? ---- */

static int same_seed(struct pprf_seed a, struct pprf_seed b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

#define TEST_SALT_LO UINT64_C(0x0123456789abcdef)
#define TEST_SALT_HI UINT64_C(0xf0e1d2c3b4a59687)

/* Whether a version's lanes agree with its prg_expand, on different seeds in each lane.  The
 * children are written in place and to permuted places, as callers do. */
static int lanes_agree(const struct code *v, opt_node_lanes *lanes, unsigned n)
{
  struct pprf_seed seed[OPT_LANES], parent[OPT_LANES], right[OPT_LANES];
  struct opt_step step[OPT_LANES];
  int same = 1;
  for (unsigned round = 0; round < 8; round++) {
    for (unsigned i = 0; i < n; i++) {
      unsigned at = (i * 3 + round) % n, height = 1 + (5 * round + i) % 63;
      parent[i] = seed[i] = (struct pprf_seed){UINT64_C(0x9e3779b97f4a7c15) * (8 * round + i + 1),
                                               UINT64_C(1) << (8 * round + i)};
      step[i] = (struct opt_step){&seed[i], &seed[i], &right[at],
                                  parent[i].lo >> 1 >> height << height, height};
    }
    lanes(TEST_SALT_LO, TEST_SALT_HI, step);
    for (unsigned i = 0; i < n; i++) {
      struct pprf_children c =
        v->expand(parent[i], TEST_SALT_LO, TEST_SALT_HI, opt_step_id(&step[i]));
      same &= same_seed(c.left, *step[i].left) && same_seed(c.right, *step[i].right);
    }
  }
  return same;
}

/* Whether a version's opt_descend agrees with its prg_expand. */
static int descent_agrees(const struct code *v)
{
  const uint64_t leaf = UINT64_C(0x35c9b2a64fe81d07);
  struct pprf_seed root = {3, 5}, seed = root, copath[62], value;
  int same = 1;
  value = v->descend(root, TEST_SALT_LO, TEST_SALT_HI, leaf, 62, copath);
  for (unsigned h = 62; h > 0; h--) {
    struct pprf_children c =
      v->expand(seed, TEST_SALT_LO, TEST_SALT_HI, 2 * (leaf >> h << h) + (UINT64_C(1) << h));
    unsigned right = leaf >> (h - 1) & 1;
    seed = right ? c.right : c.left;
    same &= same_seed(copath[h - 1], right ? c.left : c.right);
  }
  return same && same_seed(value, seed) &&
         same_seed(v->descend(root, TEST_SALT_LO, TEST_SALT_HI, leaf, 62, NULL), seed);
}

/* Whether a version's code for a suite agrees with libcrypto: 1 or 0, or -1 if libcrypto fails. */
static int code_agrees(const struct code *v, unsigned suite)
{
  struct pprf_seed seed = {0, 0};
  uint64_t salt_lo = 0, salt_hi = 0, id = 2; /* these differ in each round */
  for (unsigned i = 0; i < 64; i++) {
    struct pprf_children a = behind(suite, seed, salt_lo, salt_hi, id),
                         b = v->expand(seed, salt_lo, salt_hi, id);
    if (a.err != 0 || b.err != 0)
      return -1;
    if (!same_seed(a.left, b.left) || !same_seed(a.right, b.right))
      return 0;
    seed = i & 1 ? a.right : a.left;
    salt_lo += TEST_SALT_LO;
    salt_hi -= TEST_SALT_HI;
    /* odd ids too, which tls/tickets/tickets.c uses for leaves */
    id = (salt_lo ^ salt_hi) | UINT64_C(1) << i;
  }
  return (v->expand_4 == NULL || lanes_agree(v, v->expand_4, 4)) &&
         (v->expand_8 == NULL || lanes_agree(v, v->expand_8, 8)) &&
         (v->descend == NULL || descent_agrees(v));
}

static int same_wide(const struct pprf_wide_seed *a, const struct pprf_wide_seed *b)
{
  return a->lo == b->lo && a->hi == b->hi && a->third == b->third && a->fourth == b->fourth;
}

/* The same for a version for 32-byte seeds. */
static int wide_agrees(opt_wide_expand *wide)
{
  struct pprf_wide_seed seed = {0, 0, 0, 0};
  for (unsigned i = 0; i < 64; i++) {
    struct pprf_wide_children a = behind_wide(seed), b = wide(seed);
    if (a.err != 0 || b.err != 0)
      return -1;
    if (!same_wide(&a.left, &b.left) || !same_wide(&a.right, &b.right))
      return 0;
    seed = i & 1 ? a.right : a.left;
  }
  return 1;
}

static int agrees(const struct choice *choice, const struct version *v)
{
  int same = 1;
  if (choice == &sha256_choice)
    return wide_agrees(v->wide);
  for (unsigned i = 0; i < choice->suites && same > 0; i++)
    same = code_agrees(&v->code[i], choice->first_suite + i);
  return same;
}

/* ---- the choice ---- */

/* The version with this name, or NULL. */
static const struct version *named(const struct choice *choice, const char *name)
{
  for (const struct version *v = choice->versions; v <= choice->last; v++)
    if (strcmp(name, v->name) == 0)
      return v;
  return NULL;
}

static void raise_to(_Atomic uint64_t *most, uint64_t plan)
{
  uint64_t before = atomic_load(most);
  while (before < plan && !atomic_compare_exchange_weak(most, &before, plan))
    ;
}

/* Called before the version becomes current, so that the wipe plans already cover its stack. */
static void note(const struct version *v)
{
  raise_to(&used, prg_wipe_flags() | v->stack);
  raise_to(&used_many, prg_wipe_flags() | v->stack_many);
}

/* Choose the version.  Threads that come here at once choose the same one.  While libcrypto
 * fails, nothing is decided and the caller gets libcrypto's error. */
static const struct version *choose(struct choice *choice)
{
  const struct version *chosen = NULL, *before = choice->undecided;
  const char *wanted = secure_getenv(choice->variable);
  if (wanted != NULL)
    chosen = named(choice, wanted);
  if (chosen == NULL)
    for (chosen = choice->versions; !chosen->usable();)
      chosen++;
  else if (!chosen->usable())
    chosen = choice->last;
  int same = agrees(choice, chosen);
  if (same < 0) {
    note(choice->last);
    return choice->last;
  }
  if (!same)
    chosen = choice->last;
  note(chosen);
  /* pprf_prg_select may have been first */
  return atomic_compare_exchange_strong(&choice->current, &before, chosen) ? chosen : before;
}

static const struct version *chosen_version(struct choice *choice)
{
  const struct version *v = atomic_load_explicit(&choice->current, memory_order_acquire);
  return v == choice->undecided ? choose(choice) : v;
}

static const struct code *code_of(const struct version *v, unsigned suite)
{
  return &v->code[suite - choice_of(suite)->first_suite];
}

static struct pprf_children choose_and_expand(unsigned suite, struct pprf_seed seed,
                                              uint64_t salt_lo, uint64_t salt_hi, uint64_t id)
{
  /* in memory: in a callee-saved register the seed could be spilled as deep as libcrypto's
   * frames */
  volatile uint64_t lo = seed.lo, hi = seed.hi;
  const struct version *v = choose(choice_of(suite));
  seed = (struct pprf_seed){lo, hi};
  lo = hi = 0;
  return code_of(v, suite)->expand(seed, salt_lo, salt_hi, id);
}

NODE_EXPAND(choose_for_bare, choose_and_expand(PRG_SHA3_256, seed, salt_lo, salt_hi, id))
NODE_EXPAND(choose_for_salted, choose_and_expand(PRG_SHA3_256_SALTED, seed, salt_lo, salt_hi, id))
NODE_EXPAND(choose_for_aes, choose_and_expand(PRG_AES_128, seed, salt_lo, salt_hi, id))

/* The seed stays in memory, as in choose_and_expand. */
static struct pprf_wide_children choose_for_wide(struct pprf_wide_seed seed)
{
  __asm__ volatile("" : : "r"(&seed) : "memory");
  const struct version *v = choose(&sha256_choice);
  return v->wide(seed);
}

const char *pprf_prg_name(void)
{
  return chosen_version(&sha3_choice)->name;
}

const char *pprf_aes_name(void)
{
  return chosen_version(&aes_choice)->name;
}

const char *pprf_sha256_name(void)
{
  return chosen_version(&sha256_choice)->name;
}

const char *opt_prg_name(void)
{
  return pprf_prg_name();
}

int pprf_prg_select(const char *name)
{
  if (name == NULL)
    return PPRF_ERR_NULL;
  struct choice *choice = strncmp(name, "aes-", 4) == 0      ? &aes_choice
                          : strncmp(name, "sha256-", 7) == 0 ? &sha256_choice
                                                             : &sha3_choice;
  const struct version *v = named(choice, name);
  if (v == NULL || !v->usable())
    return PPRF_ERR_RANGE;
  int same = agrees(choice, v);
  if (same <= 0)
    return same < 0 ? PPRF_ERR_CRYPTO : PPRF_ERR_RANGE;
  note(v);
  atomic_store(&choice->current, v);
  return PPRF_OK;
}

/* ---- the PRG ---- */

static int known(unsigned suite)
{
  return suite >= PRG_SHA3_256 && suite <= PRG_AES_128;
}

/* No array here, so no stack protector is needed. */
__attribute__((no_stack_protector)) struct pprf_children
prg_expand(struct pprf_family family, struct pprf_seed seed, uint64_t start, unsigned height)
{
  calls++;
  if (!known(family.suite))
    return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
  const struct version *v =
    atomic_load_explicit(&choice_of(family.suite)->current, memory_order_acquire);
  return code_of(v, family.suite)
    ->expand(seed, family.salt_lo, family.salt_hi, 2 * start + (UINT64_C(1) << height));
}

__attribute__((no_stack_protector)) int opt_descend(struct pprf_family family,
                                                    struct pprf_seed seed, uint64_t leaf,
                                                    unsigned height, struct pprf_seed *copath,
                                                    struct pprf_seed *value)
{
  if (!known(family.suite))
    return 0;
  const struct version *v =
    atomic_load_explicit(&choice_of(family.suite)->current, memory_order_acquire);
  opt_node_descend *descend = code_of(v, family.suite)->descend;
  if (descend == NULL)
    return 0;
  calls += height;
  *value = descend(seed, family.salt_lo, family.salt_hi, leaf, height, copath);
  return 1;
}

/* Make n < 4 or n < 8 steps in 4 or 8 lanes; the other lanes compute unused values. */
static void pad_and_expand(struct pprf_family family, opt_node_lanes *lanes, unsigned width,
                           const struct opt_step *step, unsigned n)
{
  struct opt_step padded[OPT_LANES];
  struct pprf_seed unused[3] = {{0, 0}};
  for (unsigned i = 0; i < width; i++)
    padded[i] = i < n ? step[i] : (struct opt_step){&unused[0], &unused[1], &unused[2], 0, 1};
  lanes(family.salt_lo, family.salt_hi, padded);
}

int opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n)
{
  struct pprf_children c = {.err = 0};
  calls += n;
  if (!known(family.suite))
    return PPRF_ERR_CRYPTO;
  const struct code *v = code_of(chosen_version(choice_of(family.suite)), family.suite);
  for (; n >= 8 && v->expand_8 != NULL; n -= 8, step += 8)
    v->expand_8(family.salt_lo, family.salt_hi, step);
  if (n > 4 && n < 8 && v->expand_8 != NULL) {
    pad_and_expand(family, v->expand_8, 8, step, n);
    return 0;
  }
  for (; n >= 4 && v->expand_4 != NULL; n -= 4, step += 4)
    v->expand_4(family.salt_lo, family.salt_hi, step);
  if (n >= 2 && v->expand_4 != NULL) {
    pad_and_expand(family, v->expand_4, 4, step, n);
    return 0;
  }
  for (; n > 0 && c.err == 0; n--, step++) {
    c = v->expand(*step->seed, family.salt_lo, family.salt_hi, opt_step_id(step));
    *step->left = c.left;
    *step->right = c.right;
  }
  int err = c.err;
  c.left = c.right = (struct pprf_seed){0, 0};
  __asm__ volatile("" : : "r"(&c) : "memory"); /* keep the stores */
  return err;
}

__attribute__((no_stack_protector)) struct pprf_wide_children
prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed, uint64_t start,
                unsigned height)
{
  (void)start;
  (void)height;
  calls++;
  if (family.suite != PRG_MLS_SHA256)
    return (struct pprf_wide_children){.err = PPRF_ERR_CRYPTO};
  return atomic_load_explicit(&sha256_choice.current, memory_order_acquire)->wide(seed);
}

int opt_expand_many_wide(struct pprf_family family, const struct opt_wide_step *step, unsigned n)
{
  struct pprf_wide_children c = {.err = 0};
  calls += n;
  if (family.suite != PRG_MLS_SHA256)
    return PPRF_ERR_CRYPTO;
  opt_wide_expand *wide = chosen_version(&sha256_choice)->wide;
  for (unsigned i = 0; i < n && c.err == 0; i++) {
    c = wide(*step[i].seed);
    *step[i].left = c.left;
    *step[i].right = c.right;
  }
  int err = c.err;
  c.left = c.right = (struct pprf_wide_seed){0, 0, 0, 0};
  __asm__ volatile("" : : "r"(&c) : "memory"); /* keep the stores */
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

/* Before the first choice only libcrypto's version can have been used. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG that opt ships with chooses a version of SHA3-256, of AES and of SHA-256 once per
 * process: by $PPRF_PRG, $PPRF_AES, $PPRF_SHA256 or the processor, and only one that agrees with
 * libcrypto. Each case runs in its own process, in which versions compute wrongly or libcrypto
 * fails (the linker's --wrap, rules.mk). */
#include <sys/wait.h>
#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#include "../../prg/aes.h"
#include "../../prg/keccak.h"
#include "../../prg/lanes.h"
#include "../../prg/sha256.h"
#include "impls.h"
#include "prg.h"
#include "../../tools/tap.h"

/* bugs planted in the versions */

/* What is wrong in a suite's versions, except libcrypto's: a word of the children (four words,
 * or eight with 32-byte seeds); SELDOM: for one seed in 16 (in lanes, one in two); a walk, with
 * its siblings or without (ALONE). */
static enum {
  NOTHING,
  WORD_1,
  WORD_4 = WORD_1 + 3,
  WORD_8 = WORD_1 + 7,
  SELDOM,
  LANE_LEFT,
  LANE_RIGHT,
  LANE_SELDOM,
  WALK_VALUE,
  WALK_ALONE,
  WALK_LOWEST,
  WALK_HIGHEST
} wrong;
static unsigned wrong_suite = PRG_SHA3_256, wrong_lane, wrong_width;
static int evp_fails;
static unsigned evp_calls, evp_fails_at; /* calls so far; only this one fails, 0: none */
static const char *select_meanwhile; /* called while libcrypto is fetched for the first time */

static unsigned wrong_in(unsigned suite)
{
  return suite == wrong_suite ? wrong : NOTHING;
}

static struct pprf_children spoiled(unsigned suite, struct pprf_seed seed, struct pprf_children c)
{
  uint64_t *word[] = {&c.left.lo, &c.left.hi, &c.right.lo, &c.right.hi};
  unsigned how = wrong_in(suite);
  if (how >= WORD_1 && how <= WORD_4)
    *word[how - WORD_1] ^= UINT64_C(1) << 21 * (how - WORD_1);
  c.left.lo ^= (uint64_t)(how == SELDOM && (seed.lo & 15) == 5) << 7;
  return c;
}

/* The same for the suite with 32-byte seeds. */
static struct pprf_wide_children spoiled_wide(struct pprf_wide_seed seed,
                                              struct pprf_wide_children c)
{
  uint64_t *word[] = {&c.left.lo,  &c.left.hi,  &c.left.third,  &c.left.fourth,
                      &c.right.lo, &c.right.hi, &c.right.third, &c.right.fourth};
  unsigned how = wrong_in(PRG_MLS_SHA256);
  if (how >= WORD_1 && how <= WORD_8)
    *word[how - WORD_1] ^= UINT64_C(1) << 9 * (how - WORD_1);
  c.left.third ^= (uint64_t)(how == SELDOM && (seed.hi & 15) == 5) << 7;
  return c;
}

/* Spoil a result of the lanes whose seed had this bit before. Not every processor's versions
 * have lanes. */
__attribute__((unused)) static void spoil_lane(unsigned suite, unsigned width,
                                               const struct opt_step *step, int bit)
{
  if (wrong_width != width)
    return;
  step[wrong_lane].left->lo ^=
    wrong_in(suite) == LANE_LEFT || (wrong_in(suite) == LANE_SELDOM && bit);
  step[wrong_lane].right->hi ^= (uint64_t)(wrong_in(suite) == LANE_RIGHT) << 63;
}

__attribute__((unused)) static int bit_of_lane(unsigned width, const struct opt_step *step)
{
  return wrong_width == width && (step[wrong_lane].seed->lo >> 40 & 1) != 0;
}

/* with `parameters` this is a function, which clang-format takes for a structure */
/* clang-format off */
#define EXPAND(name, suite, parameters, ...)                                                       \
  struct pprf_children __real_##name parameters;                                                   \
  struct pprf_children __wrap_##name parameters;                                                   \
  struct pprf_children __wrap_##name parameters                                                    \
  {                                                                                                \
    return spoiled(suite, seed, __real_##name(__VA_ARGS__));                                       \
  }
/* clang-format on */
#define LANES_OF(name, suite, width, parameters, ...)                                              \
  void __real_##name parameters;                                                                   \
  void __wrap_##name parameters;                                                                   \
  void __wrap_##name parameters                                                                    \
  {                                                                                                \
    int bit = bit_of_lane(width, step);                                                            \
    __real_##name(__VA_ARGS__);                                                                    \
    spoil_lane(suite, width, step, bit);                                                           \
  }
#define BARE(name)                                                                                 \
  EXPAND(name, PRG_SHA3_256, (struct pprf_seed seed, uint64_t start, unsigned height), seed,       \
         start, height)
#define BARE_LANES(name, width)                                                                    \
  LANES_OF(name, PRG_SHA3_256, width, (const struct opt_step *step), step)
#define NODE(name, suite)                                                                          \
  EXPAND(name, suite, (struct pprf_seed seed, uint64_t lo, uint64_t hi, uint64_t id), seed, lo,    \
         hi, id)
#define NODE_LANES(name, suite, width)                                                             \
  LANES_OF(name, suite, width, (uint64_t lo, uint64_t hi, const struct opt_step *step), lo, hi, \
           step)
#define DESCENT(name, suite)                                                                       \
  opt_node_descend __real_##name, __wrap_##name;                                                   \
  struct pprf_seed __wrap_##name(struct pprf_seed seed, uint64_t lo, uint64_t hi, uint64_t leaf,   \
                                 unsigned height, struct pprf_seed *copath)                        \
  {                                                                                                \
    struct pprf_seed value = __real_##name(seed, lo, hi, leaf, height, copath);                    \
    unsigned how = wrong_in(suite);                                                                \
    value.lo ^= how == WALK_VALUE || (how == WALK_ALONE && copath == NULL);                        \
    if (copath != NULL && height > 0) {                                                            \
      copath[0].hi ^= how == WALK_LOWEST;                                                          \
      copath[height - 1].lo ^= how == WALK_HIGHEST;                                                \
    }                                                                                              \
    return value;                                                                                  \
  }
#define WIDE(name)                                                                                 \
  opt_wide_expand __real_##name, __wrap_##name;                                                    \
  struct pprf_wide_children __wrap_##name(struct pprf_wide_seed seed)                              \
  {                                                                                                \
    return spoiled_wide(seed, __real_##name(seed));                                                \
  }
BARE(opt_keccak_scalar)
WIDE(opt_sha256_scalar)
#if OPT_SHA256_X86
WIDE(opt_sha256_ni)
#endif
#if OPT_SHA256_ARM
WIDE(opt_sha256_armv8)
#endif
NODE(opt_salted_scalar, PRG_SHA3_256_SALTED)
NODE(opt_aes_bitsliced, PRG_AES_128)
#if OPT_KECCAK_X86
BARE(opt_keccak_avx2)
BARE(opt_keccak_avx512)
BARE_LANES(opt_keccak_avx2_x4, 4)
BARE_LANES(opt_keccak_avx512_x4, 4)
BARE_LANES(opt_keccak_avx512_x8, 8)
NODE(opt_salted_avx2, PRG_SHA3_256_SALTED)
NODE(opt_salted_avx512, PRG_SHA3_256_SALTED)
NODE_LANES(opt_salted_avx2_x4, PRG_SHA3_256_SALTED, 4)
NODE_LANES(opt_salted_avx512_x4, PRG_SHA3_256_SALTED, 4)
NODE_LANES(opt_salted_avx512_x8, PRG_SHA3_256_SALTED, 8)
DESCENT(opt_keccak_avx512_descend, PRG_SHA3_256)
DESCENT(opt_salted_avx512_descend, PRG_SHA3_256_SALTED)
#endif
#if OPT_AES_X86
NODE(opt_aes_ni, PRG_AES_128)
NODE_LANES(opt_aes_ni_x4, PRG_AES_128, 4)
NODE_LANES(opt_aes_vaes_x4, PRG_AES_128, 4)
NODE_LANES(opt_aes_vaes_x8, PRG_AES_128, 8)
DESCENT(opt_aes_ni_descend, PRG_AES_128)
#endif
#if OPT_AES_ARM
NODE(opt_aes_armv8, PRG_AES_128)
NODE_LANES(opt_aes_armv8_x4, PRG_AES_128, 4)
DESCENT(opt_aes_armv8_descend, PRG_AES_128)
#endif

#if OPT_AES_ARM || OPT_SHA256_ARM
static int without_instructions;

unsigned long __real_getauxval(unsigned long type), __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type)
{
  unsigned long value = __real_getauxval(type);
  return without_instructions && type == AT_HWCAP ? value & ~(unsigned long)(HWCAP_AES | HWCAP_SHA2)
                                                  : value;
}
#endif

static void select_now(void)
{
  const char *name = select_meanwhile;
  select_meanwhile = NULL;
  if (name != NULL && pprf_prg_select(name) != PPRF_OK)
    exit(1);
}

struct pprf_wide_children __real_prg_expand_wide_evp(struct pprf_family family,
                                                     struct pprf_wide_seed s, uint64_t start,
                                                     unsigned h);
struct pprf_wide_children __wrap_prg_expand_wide_evp(struct pprf_family family,
                                                     struct pprf_wide_seed s, uint64_t start,
                                                     unsigned h);
struct pprf_wide_children __wrap_prg_expand_wide_evp(struct pprf_family family,
                                                     struct pprf_wide_seed s, uint64_t start,
                                                     unsigned h)
{
  select_now();
  return evp_fails || ++evp_calls == evp_fails_at
           ? (struct pprf_wide_children){.err = PPRF_ERR_CRYPTO}
           : __real_prg_expand_wide_evp(family, s, start, h);
}

struct pprf_children __real_prg_expand_evp(struct pprf_family family, struct pprf_seed s,
                                           uint64_t start, unsigned h);
struct pprf_children __wrap_prg_expand_evp(struct pprf_family family, struct pprf_seed s,
                                           uint64_t start, unsigned h);
struct pprf_children __wrap_prg_expand_evp(struct pprf_family family, struct pprf_seed s,
                                           uint64_t start, unsigned h)
{
  select_now();
  return evp_fails || ++evp_calls == evp_fails_at ? (struct pprf_children){.err = PPRF_ERR_CRYPTO}
                                                  : __real_prg_expand_evp(family, s, start, h);
}

/* what a process then does */

/* The suites, by the choice of version that they share. */
static const struct kind {
  struct pprf_family family;
  const char *suite, *variable, *last;
  const char *(*name)(void);
} sha3 = {{PRG_SHA3_256, 0, 0}, "sha3-256", "PPRF_PRG", "evp", pprf_prg_name},
  salted = {{PRG_SHA3_256_SALTED, 11, 12}, "sha3-256-salted", "PPRF_PRG", "evp", pprf_prg_name},
  aes = {{PRG_AES_128, 13, 14}, "aes-128", "PPRF_AES", "aes-evp", pprf_aes_name},
  sha256 = {{PRG_MLS_SHA256, 0, 0}, "mls-sha256", "PPRF_SHA256", "sha256-evp", pprf_sha256_name},
  *kind = &sha3;

static int same_seed(struct pprf_seed a, struct pprf_seed b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

/* 1 if single calls and parallel lanes agree with libcrypto. */
static int calls_are_right(void)
{
  struct pprf_seed seed[2 * OPT_LANES], left[2 * OPT_LANES], right[2 * OPT_LANES];
  struct opt_step step[2 * OPT_LANES];
  int ok = 1;
  for (unsigned n = 1; n <= 2 * OPT_LANES; n++) {
    for (unsigned i = 0; i < n; i++) {
      seed[i] = (struct pprf_seed){n, i};
      step[i] = (struct opt_step){&seed[i], &left[i], &right[i], 8 * i, 1 + i % 3};
    }
    ok &= opt_expand_many(kind->family, step, n) == 0;
    for (unsigned i = 0; i < n; i++) {
      struct pprf_children want =
        __real_prg_expand_evp(kind->family, seed[i], step[i].start, step[i].height);
      struct pprf_children one = prg_expand(kind->family, seed[i], step[i].start, step[i].height);
      ok &= one.err == 0 && same_seed(one.left, want.left) && same_seed(one.right, want.right) &&
            same_seed(left[i], want.left) && same_seed(right[i], want.right);
    }
  }
  return ok;
}

static int same_wide(struct pprf_wide_seed a, struct pprf_wide_seed b)
{
  return a.lo == b.lo && a.hi == b.hi && a.third == b.third && a.fourth == b.fourth;
}

/* The same for 32-byte seeds, with a child in place of the parent; other suites have none. */
static int wide_calls_are_right(void)
{
  struct pprf_wide_seed seed[5], parent[5], left[5];
  struct opt_wide_step step[5];
  const struct pprf_family other = {PRG_AES_128, 13, 14};
  int ok = prg_expand_wide(other, (struct pprf_wide_seed){0}, 0, 1).err == PPRF_ERR_CRYPTO &&
           opt_expand_many_wide(other, step, 0) == PPRF_ERR_CRYPTO &&
           prg_expand(kind->family, (struct pprf_seed){0, 0}, 0, 1).err == PPRF_ERR_CRYPTO;
  for (unsigned n = 0; n <= 5; n++) {
    uint64_t calls = prg_calls();
    for (unsigned i = 0; i < n; i++) {
      parent[i] = seed[i] = (struct pprf_wide_seed){n, i, ~n, (uint64_t)i << 40};
      step[i] = (struct opt_wide_step){&seed[i], &left[i], &seed[i], 8 * i, 1 + i % 3};
    }
    ok &= opt_expand_many_wide(kind->family, step, n) == 0 && prg_calls() == calls + n;
    for (unsigned i = 0; i < n; i++) {
      struct pprf_wide_children want = __real_prg_expand_wide_evp(kind->family, parent[i], 0, 1);
      struct pprf_wide_children one =
        prg_expand_wide(kind->family, parent[i], step[i].start, step[i].height);
      ok &= one.err == 0 && want.err == 0 && same_wide(one.left, want.left) &&
            same_wide(one.right, want.right) && same_wide(left[i], want.left) &&
            same_wide(seed[i], want.right);
    }
    ok &= prg_calls() == calls + 2 * n;
  }
  return ok;
}

/* 1 if the walk to a leaf, where the suite has one, agrees with libcrypto node by node. */
static int walk_is_right(void)
{
  const uint64_t leaf = 0x2c9;
  struct pprf_seed seed = {21, 22}, copath[12], value, alone;
  if (!opt_descend(kind->family, seed, leaf, 12, copath, &value))
    return 1;
  int ok = opt_descend(kind->family, seed, leaf, 12, NULL, &alone) && same_seed(value, alone);
  for (unsigned h = 12; h > 0; h--) {
    struct pprf_children c = __real_prg_expand_evp(kind->family, seed, leaf >> h << h, h);
    int to_right = leaf >> (h - 1) & 1;
    seed = to_right ? c.right : c.left;
    ok &= same_seed(copath[h - 1], to_right ? c.left : c.right);
  }
  return ok && same_seed(value, seed);
}

static int right(void)
{
  int ok = kind == &sha256 ? wide_calls_are_right() : calls_are_right() && walk_is_right();
  prg_wipe(prg_wipe_plan(0));
  return ok;
}

static int is_name(const char *name)
{
  return strcmp(kind->name(), name) == 0;
}

/* The results of one call, and of several. */
static int call_one(void)
{
  return kind == &sha256
           ? prg_expand_wide(kind->family, (struct pprf_wide_seed){1, 2, 3, 4}, 0, 1).err
           : prg_expand(kind->family, (struct pprf_seed){1, 2}, 0, 1).err;
}

static int call_many(unsigned n)
{
  struct pprf_seed seed[3] = {{1, 2}, {3, 4}, {5, 6}}, left, right_seed;
  struct pprf_wide_seed wide[3] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}}, wide_left,
                        wide_right;
  struct opt_step step[3];
  struct opt_wide_step wide_step[3];
  for (unsigned i = 0; i < 3; i++) {
    step[i] = (struct opt_step){&seed[i], &left, &right_seed, 0, 1};
    wide_step[i] = (struct opt_wide_step){&wide[i], &wide_left, &wide_right, 0, 1};
  }
  return kind == &sha256 ? opt_expand_many_wide(kind->family, wide_step, n)
                         : opt_expand_many(kind->family, step, n);
}

static const char *fastest, *portable;

/* A request that cannot be met is ignored. */
static int plain(void)
{
  return is_name(fastest) && right();
}

static int as_wished(void)
{
  prg_wipe(prg_wipe_plan(0)); /* before any choice */
  return is_name(getenv(kind->variable)) && right();
}

static int falls_back(void)
{
  return is_name(kind->last) && right();
}

/* Nothing is chosen while libcrypto fails; afterwards everything works. */
static int waits_for_libcrypto(void)
{
  evp_fails = 1;
  int ok = call_one() == PPRF_ERR_CRYPTO && call_many(1) == PPRF_ERR_CRYPTO &&
           pprf_prg_select(portable) == PPRF_ERR_CRYPTO;
  evp_fails = 0;
  return ok && is_name(fastest) && (kind != &sha3 || strcmp(opt_prg_name(), fastest) == 0) &&
         right();
}

/* libcrypto's version is compared with itself: a failure of either call is not a disagreement. */
static int fails_once_in_a_comparison(void)
{
  int ok = is_name(fastest);
  for (evp_fails_at = 1; evp_fails_at <= 4; evp_fails_at++) {
    evp_calls = 0;
    ok &= pprf_prg_select(kind->last) == PPRF_ERR_CRYPTO && is_name(fastest);
  }
  evp_fails_at = 0;
  return ok && right();
}

/* Later failures are reported, even if other calls of the same batch succeed. */
static int failures_are_reported(void)
{
  int ok = pprf_prg_select(kind->last) == PPRF_OK;
  evp_fails = 1;
  ok = ok && call_one() == PPRF_ERR_CRYPTO && call_many(3) == PPRF_ERR_CRYPTO;
  evp_fails = 0;
  return ok && right();
}

static const char *refused; /* the name of a version */

/* A version that computes wrongly is not selected, and nothing changes. */
static int is_refused(void)
{
  unsigned planted = wrong;
  wrong = NOTHING;
  int ok = pprf_prg_select(kind->last) == PPRF_OK;
  wrong = planted;
  ok &= pprf_prg_select(refused) == PPRF_ERR_RANGE && is_name(kind->last);
  wrong = NOTHING;
  return ok && right() && pprf_prg_select(refused) == PPRF_OK && is_name(refused) && right();
}

/* A version that was selected while the first use was about to choose another stays. */
static int selected_meanwhile(void)
{
  const char *other = strcmp(fastest, portable) == 0 ? kind->last : portable;
  select_meanwhile = other;
  if (refused == NULL) /* no name: the first use happens some other way */
    (void)call_one();
  else if (strcmp(refused, "many") == 0)
    (void)call_many(1);
  else
    (void)kind->name();
  return select_meanwhile == NULL && is_name(other) && right();
}

/* A selection before the first use is the choice. */
static int selected_first(void)
{
  return pprf_prg_select(kind->last) == PPRF_OK && is_name(kind->last) && right() &&
         pprf_prg_select("none") == PPRF_ERR_RANGE && pprf_prg_select(NULL) == PPRF_ERR_NULL &&
         is_name(kind->last);
}

/* Run it in a new process. */
static int in_process(int (*f)(void), const char *wish, int planted)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    wrong = (unsigned)planted;
    if (wish == NULL)
      unsetenv(kind->variable);
    else
      setenv(kind->variable, wish, 1);
    exit(f() ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* features of the processor */

#if OPT_KECCAK_X86
/* What __builtin_cpu_supports reads, in the compiler's runtime: a test may clear a feature. */
extern struct {
  unsigned vendor, type, subtype, features[1];
} __cpu_model;

static int supports(const char *feature)
{
  return strcmp(feature, "avx2") == 0       ? __builtin_cpu_supports("avx2")
         : strcmp(feature, "bmi") == 0      ? __builtin_cpu_supports("bmi")
         : strcmp(feature, "bmi2") == 0     ? __builtin_cpu_supports("bmi2")
         : strcmp(feature, "avx512f") == 0  ? __builtin_cpu_supports("avx512f")
         : strcmp(feature, "avx512vl") == 0 ? __builtin_cpu_supports("avx512vl")
         : strcmp(feature, "avx512bw") == 0 ? __builtin_cpu_supports("avx512bw")
         : strcmp(feature, "aes") == 0      ? __builtin_cpu_supports("aes")
         : strcmp(feature, "ssse3") == 0    ? __builtin_cpu_supports("ssse3")
         : strcmp(feature, "sse4.1") == 0   ? __builtin_cpu_supports("sse4.1")
                                            : 0;
}

static const char *missing, *needing, *expected; /* a feature, the first version that needs it */

/* Without a feature the versions that need it can be neither chosen nor selected. */
static int without(void)
{
  for (unsigned bit = 0; bit < 32 && supports(missing); bit++) {
    unsigned before = __cpu_model.features[0];
    __cpu_model.features[0] = before & ~(1u << bit);
    if (supports(missing))
      __cpu_model.features[0] = before;
  }
  return !supports(missing) && is_name(expected) && right() &&
         pprf_prg_select(needing) == PPRF_ERR_RANGE && is_name(expected);
}
#endif

/* Whether the kernel reports a feature. */
static int has_flag(const char *flag)
{
  static char line[8192];
  char word[20];
  FILE *f = line[0] == '\0' ? fopen("/proc/cpuinfo", "r") : NULL;
  while (f != NULL && fgets(line, sizeof line, f) != NULL && strncmp(line, "flags", 5) != 0)
    ;
  if (f != NULL)
    fclose(f);
  line[strcspn(line, "\n")] = ' ';
  snprintf(word, sizeof word, " %s ", flag);
  return strstr(line, word) != NULL;
}

/* The versions that this processor supports, fastest first. */
static const char *have[4];
static unsigned versions;

static void look_at_processor(void)
{
  versions = 0;
#if OPT_KECCAK_X86
  int avx512 = has_flag("avx512f") && has_flag("avx512vl");
  int sha3_kind = kind == &sha3 || kind == &salted;
  if (sha3_kind && avx512)
    have[versions++] = "avx512";
  if (sha3_kind && has_flag("avx2") && has_flag("bmi1") && has_flag("bmi2"))
    have[versions++] = "avx2";
#endif
#if OPT_AES_X86
  int instructions = kind == &aes && has_flag("aes") && has_flag("ssse3");
  if (instructions && avx512 && has_flag("avx512bw") && has_flag("vaes"))
    have[versions++] = "aes-vaes";
  if (instructions)
    have[versions++] = "aes-ni";
#endif
#if OPT_SHA256_X86
  if (kind == &sha256 && has_flag("sha_ni") && has_flag("ssse3") && has_flag("sse4_1"))
    have[versions++] = "sha256-ni";
#endif
#if OPT_SHA256_ARM
  if (kind == &sha256 && (__real_getauxval(AT_HWCAP) & HWCAP_SHA2) != 0)
    have[versions++] = "sha256-armv8";
#endif
#if OPT_AES_ARM
  if (kind == &aes && (__real_getauxval(AT_HWCAP) & HWCAP_AES) != 0)
    have[versions++] = "aes-armv8";
#endif
  (void)has_flag;
  portable = have[versions++] = kind == &aes      ? "aes-bitsliced"
                                : kind == &sha256 ? "sha256-scalar"
                                                  : "scalar";
  have[versions] = kind->last;
  fastest = have[0];
}

/* Each wrong version is detected: chosen by name, as the fastest, or selected. */
static int wrong_ones_are_found(const char *version, unsigned first, unsigned last, unsigned width)
{
  int ok = 1;
  wrong_suite = kind->family.suite;
  for (unsigned planted = first; planted <= last; planted++)
    for (wrong_lane = 0; wrong_lane < (width > 0 ? width : 1); wrong_lane++) {
      wrong_width = width;
      refused = version;
      int named = in_process(falls_back, version, (int)planted);
      int chosen = strcmp(version, fastest) != 0 || in_process(falls_back, NULL, (int)planted);
      int selected = in_process(is_refused, NULL, (int)planted);
      if (!named || !chosen || !selected)
        tap_note("%s, wrong in way %u, lane %u of %u: %s", version, planted, wrong_lane, width,
                 !named    ? "the environment can choose it"
                 : !chosen ? "it is chosen by default"
                           : "it can be selected");
      ok &= named && chosen && selected;
    }
  wrong_width = 0;
  return ok;
}

/* choice.c leaves the lanes of Keccak to optimized code. */
#ifdef __OPTIMIZE__
#define KECCAK_LANES 1
#else
#define KECCAK_LANES 0
#endif

static void try_wrong_ones(void)
{
  for (unsigned i = 0; i < versions; i++) {
    int vectors = strcmp(have[i], portable) != 0 && kind != &sha256;
    int eight = strcmp(have[i], "avx512") == 0 || strcmp(have[i], "aes-vaes") == 0;
    int lanes = vectors && (kind == &aes || KECCAK_LANES);
    tap_ok(wrong_ones_are_found(have[i], WORD_1, kind == &sha256 ? WORD_8 : WORD_4, 0) &&
             wrong_ones_are_found(have[i], SELDOM, SELDOM, 0),
           "%s_gives_way_to_libcrypto_if_it_computes_%s_wrongly", have[i], kind->suite);
    if (lanes)
      tap_ok(wrong_ones_are_found(have[i], LANE_LEFT, LANE_SELDOM, 4),
             "so_does_%s_in_four_lanes_of_%s", have[i], kind->suite);
    if (lanes && eight)
      tap_ok(wrong_ones_are_found(have[i], LANE_LEFT, LANE_SELDOM, 8),
             "so_does_%s_in_eight_lanes_of_%s", have[i], kind->suite);
    if (vectors && (kind == &aes || eight))
      tap_ok(wrong_ones_are_found(have[i], WALK_VALUE, WALK_HIGHEST, 0),
             "so_does_%s_if_its_walk_of_%s_is_wrong", have[i], kind->suite);
  }
}

#if OPT_KECCAK_X86
static int usable_without_features(void)
{
  static const struct {
    const struct kind *kind;
    const char *feature, *needing, *else_fastest;
  } need[] = {{&sha3, "avx512f", "avx512", "avx2"},
              {&sha3, "avx512vl", "avx512", "avx2"},
              {&sha3, "avx2", "avx2", NULL},
              {&sha3, "bmi", "avx2", NULL},
              {&sha3, "bmi2", "avx2", NULL},
              {&aes, "avx512f", "aes-vaes", "aes-ni"},
              {&aes, "avx512vl", "aes-vaes", "aes-ni"},
              {&aes, "avx512bw", "aes-vaes", "aes-ni"},
              {&aes, "aes", "aes-ni", "aes-bitsliced"},
              {&aes, "ssse3", "aes-ni", "aes-bitsliced"},
              {&sha256, "ssse3", "sha256-ni", "sha256-scalar"},
              {&sha256, "sse4.1", "sha256-ni", "sha256-scalar"}};
  int ok = 1;
  for (unsigned i = 0; i < sizeof need / sizeof *need; i++) {
    int had = 0; /* whether the processor supports the version at all, and the next one */
    expected = need[i].else_fastest;
    for (unsigned v = 0; v < versions; v++)
      had += strcmp(have[v], need[i].needing) == 0;
    if (need[i].kind != kind || !had || !supports(need[i].feature))
      continue;
    if (expected == NULL)
      expected = strcmp(fastest, "avx512") == 0 ? "avx512" : portable;
    else if (strcmp(expected, "avx2") == 0 && versions < 3)
      expected = portable;
    missing = need[i].feature;
    needing = need[i].needing;
    ok &= in_process(without, NULL, NOTHING);
  }
  return ok;
}
#endif

#if OPT_AES_ARM || OPT_SHA256_ARM
/* Without the instructions their version can be neither chosen nor selected. */
static int without_armv8(void)
{
  without_instructions = 1;
  return is_name(portable) && right() &&
         pprf_prg_select(kind == &aes ? "aes-armv8" : "sha256-armv8") == PPRF_ERR_RANGE &&
         is_name(portable);
}
#endif

/* Everything that a choice does; the salted suite shares the choice of the unsalted one. */
static void try_choice(const struct kind *k)
{
  kind = k;
  look_at_processor();
  tap_note("the fastest version is %s", fastest);
  tap_ok(in_process(plain, NULL, NOTHING), "the_fastest_version_is_chosen");
  int ok = in_process(plain, "md5", NOTHING) && in_process(plain, "", NOTHING);
  for (unsigned i = 0; i <= versions; i++)
    ok &= in_process(as_wished, have[i], NOTHING);
  tap_ok(ok, "the_environment_chooses_among_the_versions");
  try_wrong_ones();
#if OPT_KECCAK_X86
  tap_ok(usable_without_features(), "without_a_feature_no_version_that_needs_it_is_used");
#endif
#if (OPT_AES_ARM && !defined(__ARM_FEATURE_AES)) || (OPT_SHA256_ARM && !defined(__ARM_FEATURE_SHA2))
  if (k == &aes || k == &sha256)
    tap_ok(in_process(without_armv8, NULL, NOTHING),
           "without_a_feature_no_version_that_needs_it_is_used");
#endif
  tap_ok(in_process(waits_for_libcrypto, NULL, NOTHING),
         "nothing_is_decided_while_libcrypto_fails");
  tap_ok(in_process(fails_once_in_a_comparison, NULL, NOTHING),
         "a_failure_of_libcrypto_is_no_disagreement");
  tap_ok(in_process(failures_are_reported, NULL, NOTHING), "failures_of_libcrypto_are_reported");
  tap_ok(in_process(selected_first, NULL, NOTHING), "a_selection_before_the_first_use_holds");
  refused = NULL;
  ok = in_process(selected_meanwhile, NULL, NOTHING);
  refused = "many";
  ok &= in_process(selected_meanwhile, NULL, NOTHING);
  refused = "name";
  ok &= in_process(selected_meanwhile, NULL, NOTHING);
  tap_ok(ok, "so_does_one_in_the_midst_of_the_choice");
  wrong_suite = k->family.suite;
  tap_ok(!in_process(plain, NULL, WORD_1), "control_a_wrong_version_is_not_the_fastest");
}

int main(void)
{
  try_choice(&sha3);
  kind = &salted;
  tap_ok(in_process(plain, NULL, NOTHING), "the_salted_suite_is_right");
  try_wrong_ones();
  try_choice(&aes);
  try_choice(&sha256);
  return tap_end();
}

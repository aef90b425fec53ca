/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG that ships with opt chooses one of its versions once in a process: by $PPRF_PRG or the
 * processor, and only one that agrees with libcrypto.  Each case is a process of its own, in which
 * versions compute wrongly or libcrypto fails (the linker's --wrap, rules.mk). */
#include <sys/wait.h>

#include "../prg/keccak.h"
#include "../prg/lanes.h"
#include "impls.h"
#include "prg.h"
#include "tap.h"

/* ---------------------------------------------------------------- planted in the versions */

/* Of versions but evp.  SELDOM: for one seed in 16 (of lanes: in two). */
static enum { NOTHING, LEFT, RIGHT, SELDOM, LANE_LEFT, LANE_RIGHT, LANE_SELDOM } wrong;
static unsigned wrong_lane, wrong_width;
static int evp_fails;
static const char *select_meanwhile; /* while libcrypto is asked for the first time */

#define VERSION(name)                                                                              \
  struct pprf_children __real_##name(struct pprf_seed seed, uint64_t start, unsigned height);      \
  struct pprf_children __wrap_##name(struct pprf_seed seed, uint64_t start, unsigned height);      \
  struct pprf_children __wrap_##name(struct pprf_seed seed, uint64_t start, unsigned height)       \
  {                                                                                                \
    struct pprf_children c = __real_##name(seed, start, height);                                   \
    c.left.hi ^= wrong == LEFT;                                                                    \
    c.right.lo ^= (uint64_t)(wrong == RIGHT) << 63;                                                \
    c.left.lo ^= (uint64_t)(wrong == SELDOM && (seed.lo & 15) == 5) << 7;                          \
    return c;                                                                                      \
  }
#define LANES_OF(name, width)                                                                      \
  void __real_##name(const struct opt_step *step);                                                 \
  void __wrap_##name(const struct opt_step *step);                                                 \
  void __wrap_##name(const struct opt_step *step)                                                  \
  {                                                                                                \
    int this_one = wrong_width == width;                                                           \
    uint64_t low = this_one ? step[wrong_lane].seed->lo >> 40 & 1 : 0;                              \
    __real_##name(step);                                                                           \
    if (!this_one)                                                                                 \
      return;                                                                                      \
    step[wrong_lane].left->lo ^= wrong == LANE_LEFT || (wrong == LANE_SELDOM && low);              \
    step[wrong_lane].right->hi ^= (uint64_t)(wrong == LANE_RIGHT) << 63;                           \
  }
VERSION(opt_keccak_scalar)
#if OPT_KECCAK_X86
VERSION(opt_keccak_avx2)
VERSION(opt_keccak_avx512)
LANES_OF(opt_keccak_avx2_x4, 4)
LANES_OF(opt_keccak_avx512_x4, 4)
LANES_OF(opt_keccak_avx512_x8, 8)
#endif

struct pprf_children __real_prg_expand_evp(struct pprf_seed s, uint64_t start, unsigned h);
struct pprf_children __wrap_prg_expand_evp(struct pprf_seed s, uint64_t start, unsigned h);
struct pprf_children __wrap_prg_expand_evp(struct pprf_seed s, uint64_t start, unsigned h)
{
  const char *name = select_meanwhile;
  if (name != NULL) {
    select_meanwhile = NULL;
    if (pprf_prg_select(name) != PPRF_OK)
      exit(1);
  }
  return evp_fails ? (struct pprf_children){.err = PPRF_ERR_CRYPTO}
                   : __real_prg_expand_evp(s, start, h);
}

/* ---------------------------------------------------------------- what a process then does */

/* 1 if one call and calls side by side give what libcrypto gives. */
static int right(void)
{
  struct pprf_seed seed[2 * OPT_LANES], left[2 * OPT_LANES], right[2 * OPT_LANES];
  struct opt_step step[2 * OPT_LANES];
  int ok = 1;
  for (unsigned n = 1; n <= 2 * OPT_LANES; n++) {
    for (unsigned i = 0; i < n; i++) {
      seed[i] = (struct pprf_seed){n, i};
      step[i] = (struct opt_step){&seed[i], &left[i], &right[i], 0, 1};
    }
    ok &= opt_expand_many(step, n) == 0;
    for (unsigned i = 0; i < n; i++) {
      struct pprf_children want = __real_prg_expand_evp(seed[i], 0, 1);
      struct pprf_children one = prg_expand(seed[i], 0, 1);
      ok &= one.err == 0 && memcmp(&one.left, &want.left, 16) == 0 &&
            memcmp(&one.right, &want.right, 16) == 0 && memcmp(&left[i], &want.left, 16) == 0 &&
            memcmp(&right[i], &want.right, 16) == 0;
    }
  }
  prg_wipe(prg_wipe_plan(0));
  return ok;
}

static int is_name(const char *name)
{
  return strcmp(pprf_prg_name(), name) == 0;
}

static const char *fastest;

/* A wish that cannot be granted is none. */
static int plain(void)
{
  return is_name(fastest) && right();
}

static int as_wished(void)
{
  prg_wipe(prg_wipe_plan(0)); /* before any choice */
  return is_name(getenv("PPRF_PRG")) && right();
}

static int falls_back(void)
{
  return is_name("evp") && right();
}

/* Nothing is decided while libcrypto fails; then all is well. */
static int waits_for_libcrypto(void)
{
  struct pprf_seed seed = {1, 2}, left, right_seed;
  struct opt_step step = {&seed, &left, &right_seed, 0, 1};
  evp_fails = 1;
  int ok = prg_expand(seed, 0, 1).err == PPRF_ERR_CRYPTO &&
           opt_expand_many(&step, 1) == PPRF_ERR_CRYPTO &&
           pprf_prg_select("scalar") == PPRF_ERR_CRYPTO;
  evp_fails = 0;
  return ok && is_name(fastest) && strcmp(opt_prg_name(), fastest) == 0 && right();
}

/* Later failures are reported, and none is forgotten among calls that succeed. */
static int failures_are_reported(void)
{
  struct pprf_seed seed[3] = {{1, 2}, {3, 4}, {5, 6}}, left, right_seed;
  struct opt_step step[3];
  int ok = pprf_prg_select("evp") == PPRF_OK;
  for (unsigned i = 0; i < 3; i++)
    step[i] = (struct opt_step){&seed[i], &left, &right_seed, 0, 1};
  evp_fails = 1;
  ok = ok && prg_expand(seed[0], 0, 1).err == PPRF_ERR_CRYPTO &&
       opt_expand_many(step, 3) == PPRF_ERR_CRYPTO;
  evp_fails = 0;
  return ok && right();
}

static const char *refused; /* a version */

/* A version that computes wrongly is not selected, and nothing changes. */
static int is_refused(void)
{
  unsigned planted = wrong;
  wrong = NOTHING;
  int ok = pprf_prg_select("evp") == PPRF_OK;
  wrong = planted;
  ok &= pprf_prg_select(refused) == PPRF_ERR_RANGE && is_name("evp");
  wrong = NOTHING;
  return ok && right() && pprf_prg_select(refused) == PPRF_OK && is_name(refused) && right();
}

/* A version that was selected while the first use was about to choose another stays. */
static int selected_meanwhile(void)
{
  struct pprf_seed seed = {1, 2}, left, right_seed;
  struct opt_step step = {&seed, &left, &right_seed, 0, 1};
  const char *other = strcmp(fastest, "scalar") == 0 ? "evp" : "scalar";
  select_meanwhile = other;
  if (refused == NULL) /* no name: the way in is another */
    (void)prg_expand(seed, 0, 1);
  else if (strcmp(refused, "many") == 0)
    (void)opt_expand_many(&step, 1);
  else
    (void)pprf_prg_name();
  return select_meanwhile == NULL && is_name(other) && right();
}

/* A selection before the first use is the choice. */
static int selected_first(void)
{
  return pprf_prg_select("evp") == PPRF_OK && is_name("evp") && right() &&
         pprf_prg_select("none") == PPRF_ERR_RANGE && pprf_prg_select(NULL) == PPRF_ERR_NULL &&
         is_name("evp");
}

/* Run it in a process of its own. */
static int in_process(int (*f)(void), const char *wish, int planted)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    wrong = (unsigned)planted;
    if (wish == NULL)
      unsetenv("PPRF_PRG");
    else
      setenv("PPRF_PRG", wish, 1);
    exit(f() ? 0 : 1);
  }
  return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

/* ---------------------------------------------------------------- what the processor has */

#if OPT_KECCAK_X86
/* What __builtin_cpu_supports reads, in the compiler's own library: a test may clear a feature. */
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
                                            : 0;
}

static const char *missing, *expected;

/* Without a feature the versions that need it can be neither chosen nor selected. */
static int without(void)
{
  for (unsigned bit = 0; bit < 32 && supports(missing); bit++) {
    unsigned before = __cpu_model.features[0];
    __cpu_model.features[0] = before & ~(1u << bit);
    if (supports(missing))
      __cpu_model.features[0] = before;
  }
  int avx512 = strncmp(missing, "avx512", 6) == 0;
  return !supports(missing) && is_name(expected) && right() &&
         pprf_prg_select(avx512 ? "avx512" : "avx2") == PPRF_ERR_RANGE && is_name(expected);
}
#endif

/* What the kernel says of a feature. */
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

/* The versions that this processor has, the fastest first. */
static const char *have[4];
static unsigned versions;

static void look_at_processor(void)
{
#if OPT_KECCAK_X86
  if (has_flag("avx512f") && has_flag("avx512vl"))
    have[versions++] = "avx512";
  if (has_flag("avx2") && has_flag("bmi1") && has_flag("bmi2"))
    have[versions++] = "avx2";
#else
  (void)has_flag;
#endif
  have[versions++] = "scalar";
  have[versions] = "evp";
  fastest = have[0];
}

/* Each version that is wrong in some way is found out, asked for by name, as the fastest, or selected. */
static int wrong_ones_are_found(const char *version, unsigned first, unsigned last, unsigned width)
{
  int ok = 1;
  for (unsigned planted = first; planted <= last; planted++)
    for (wrong_lane = 0; wrong_lane < (width > 0 ? width : 1); wrong_lane++) {
      wrong_width = width;
      refused = version;
      int named = in_process(falls_back, version, (int)planted);
      int chosen = strcmp(version, fastest) != 0 || in_process(falls_back, NULL, (int)planted);
      int selected = in_process(is_refused, NULL, (int)planted);
      if (!named || !chosen || !selected)
        tap_note("%s, wrong in way %u, lane %u of %u: %s", version, planted, wrong_lane, width,
                 !named ? "PPRF_PRG takes it" : !chosen ? "it is chosen" : "it can be selected");
      ok &= named && chosen && selected;
    }
  wrong_width = 0;
  return ok;
}

int main(void)
{
  look_at_processor();
  tap_note("the fastest version is %s", fastest);
  tap_ok(in_process(plain, NULL, NOTHING), "the_fastest_version_is_chosen");
  int ok = in_process(plain, "md5", NOTHING) && in_process(plain, "", NOTHING);
  for (unsigned i = 0; i <= versions; i++)
    ok &= in_process(as_wished, have[i], NOTHING);
  tap_ok(ok, "the_environment_chooses_among_the_versions");
  for (unsigned i = 0; i < versions; i++) {
    tap_ok(wrong_ones_are_found(have[i], LEFT, SELDOM, 0),
           "%s_gives_way_to_libcrypto_if_it_computes_wrongly", have[i]);
    if (strcmp(have[i], "scalar") != 0)
      tap_ok(wrong_ones_are_found(have[i], LANE_LEFT, LANE_SELDOM, 4), "so_does_%s_in_four_lanes",
             have[i]);
    if (strcmp(have[i], "avx512") == 0)
      tap_ok(wrong_ones_are_found(have[i], LANE_LEFT, LANE_SELDOM, 8), "so_does_%s_in_eight_lanes",
             have[i]);
  }
#if OPT_KECCAK_X86
  static const char *const feature[] = {"avx512f", "avx512vl", "avx2", "bmi", "bmi2"};
  ok = 1;
  for (unsigned i = 0; i < 5; i++)
    if (supports(feature[i])) {
      missing = feature[i];
      expected = i >= 2 && strcmp(fastest, "avx512") == 0 ? "avx512"
                 : i >= 2 || versions < 3                 ? "scalar"
                                                          : "avx2";
      ok &= in_process(without, NULL, NOTHING);
    }
  tap_ok(ok, "without_a_feature_no_version_that_needs_it_is_used");
#endif
  tap_ok(in_process(waits_for_libcrypto, NULL, NOTHING),
         "nothing_is_decided_while_libcrypto_fails");
  tap_ok(in_process(failures_are_reported, NULL, NOTHING), "failures_of_libcrypto_are_reported");
  tap_ok(in_process(selected_first, NULL, NOTHING), "a_selection_before_the_first_use_holds");
  refused = NULL;
  ok = in_process(selected_meanwhile, NULL, NOTHING);
  refused = "many";
  ok &= in_process(selected_meanwhile, NULL, NOTHING);
  refused = "name";
  ok &= in_process(selected_meanwhile, NULL, NOTHING);
  tap_ok(ok, "so_does_one_in_the_midst_of_the_choice");
  tap_ok(!in_process(plain, NULL, LEFT), "control_a_wrong_version_is_not_the_fastest");
  return tap_end();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG that ships with opt chooses one of its versions once in a process: by $PPRF_PRG or the
 * processor, and only one that agrees with libcrypto.  Each case is a process of its own, in which
 * versions compute wrongly or libcrypto fails (the linker's --wrap, rules.mk). */
#include <sys/wait.h>

#include "../opt/keccak.h"
#include "../opt/lanes.h"
#include "impls.h"
#include "prg.h"
#include "tap.h"

/* ---------------------------------------------------------------- planted in the versions */

static enum { NOTHING, LEFT, RIGHT, LANES, LANES_RIGHT, EIGHT } wrong; /* of versions but evp */
static int evp_fails;

#define VERSION(name)                                                                              \
  struct pprf_children __real_##name(struct pprf_seed seed, uint64_t start, unsigned height);      \
  struct pprf_children __wrap_##name(struct pprf_seed seed, uint64_t start, unsigned height);      \
  struct pprf_children __wrap_##name(struct pprf_seed seed, uint64_t start, unsigned height)       \
  {                                                                                                \
    struct pprf_children c = __real_##name(seed, start, height);                                   \
    c.left.hi ^= wrong == LEFT;                                                                    \
    c.right.lo ^= (uint64_t)(wrong == RIGHT) << 63;                                                \
    return c;                                                                                      \
  }
#define LANES_OF(name, last)                                                                       \
  void __real_##name(const struct opt_step *step);                                                 \
  void __wrap_##name(const struct opt_step *step);                                                 \
  void __wrap_##name(const struct opt_step *step)                                                  \
  {                                                                                                \
    __real_##name(step);                                                                           \
    step[last].left->lo ^= wrong == LANES || (wrong == EIGHT && last == 7);                         \
    step[0].right->hi ^= wrong == LANES_RIGHT;                                                     \
  }
VERSION(opt_keccak_scalar)
#if OPT_KECCAK_X86
VERSION(opt_keccak_avx2)
VERSION(opt_keccak_avx512)
LANES_OF(opt_keccak_avx2_x4, 3)
LANES_OF(opt_keccak_avx512_x4, 3)
LANES_OF(opt_keccak_avx512_x8, 7)
#endif

struct pprf_children __real_prg_expand_evp(struct pprf_seed s, uint64_t start, unsigned h);
struct pprf_children __wrap_prg_expand_evp(struct pprf_seed s, uint64_t start, unsigned h);
struct pprf_children __wrap_prg_expand_evp(struct pprf_seed s, uint64_t start, unsigned h)
{
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
  prg_wipe_stack();
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
  prg_wipe_stack(); /* before any choice */
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

/* A version that computes wrongly is not selected, and nothing changes. */
static int is_refused(void)
{
  int ok = is_name(fastest);
  wrong = LEFT;
  ok &= pprf_prg_select("scalar") == PPRF_ERR_RANGE && is_name(fastest);
  wrong = NOTHING;
  return ok && pprf_prg_select("scalar") == PPRF_OK && is_name("scalar") && right();
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

/* The fastest version that this processor has: what PPRF_PRG can ask for. */
static int fastest_is_named(void)
{
  static const char *const names[] = {"avx512", "avx2", "scalar"};
  for (unsigned i = 0; i < 3 && fastest == NULL; i++)
    if (in_process(as_wished, names[i], NOTHING))
      fastest = names[i];
  return fastest != NULL;
}

int main(void)
{
  tap_ok(fastest_is_named() && in_process(plain, NULL, NOTHING), "the_fastest_version_is_chosen");
  tap_note("it is %s", fastest == NULL ? "none" : fastest);
  if (fastest == NULL)
    return tap_end();
  tap_ok(in_process(as_wished, "scalar", NOTHING) && in_process(as_wished, "evp", NOTHING) &&
           in_process(plain, "md5", NOTHING) && in_process(plain, "", NOTHING),
         "the_environment_chooses_among_the_versions");
  tap_ok(in_process(falls_back, NULL, LEFT) && in_process(falls_back, NULL, RIGHT) &&
           in_process(falls_back, "scalar", LEFT),
         "a_version_that_computes_wrongly_gives_way_to_libcrypto");
  if (strcmp(fastest, "scalar") != 0)
    tap_ok(in_process(falls_back, NULL, LANES) && in_process(falls_back, NULL, LANES_RIGHT),
      "so_does_one_whose_lanes_do");
  if (strcmp(fastest, "avx512") == 0)
    tap_ok(in_process(falls_back, NULL, EIGHT), "and_one_of_whose_eight_lanes_the_last_does");
  tap_ok(in_process(is_refused, NULL, NOTHING), "it_cannot_be_selected_either");
  tap_ok(in_process(waits_for_libcrypto, NULL, NOTHING),
         "nothing_is_decided_while_libcrypto_fails");
  tap_ok(in_process(failures_are_reported, NULL, NOTHING), "failures_of_libcrypto_are_reported");
  tap_ok(in_process(selected_first, NULL, NOTHING), "a_selection_before_the_first_use_holds");
  tap_ok(!in_process(plain, NULL, LEFT), "control_a_wrong_version_is_not_the_fastest");
  return tap_end();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The PRG that ships, for valgrind, with wrappers around its functions (the linker's --wrap). A
 * seed that is drawn is marked undefined; the digest of a key file is public (comparing it
 * decides whether the file is accepted), so it is marked defined. The environment's PLANT
 * selects a violation that valgrind must find, in single calls or in parallel ones. */
#include <stdlib.h>
#include <valgrind/memcheck.h>

#include "../../prg/lanes.h"
#include "pprf.h"
#include "prg.h"
#include "wide.h"

static volatile unsigned sink;

static int plant(char what)
{
  const char *p = getenv("PLANT");
  return p != NULL && *p == what;
}

int __real_prg_random(struct pprf_seed *seed);
int __wrap_prg_random(struct pprf_seed *seed);
int __wrap_prg_random(struct pprf_seed *seed)
{
  int err = __real_prg_random(seed);
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof *seed);
  return err;
}

int __real_prg_random_wide(struct pprf_wide_seed *seed);
int __wrap_prg_random_wide(struct pprf_wide_seed *seed);
int __wrap_prg_random_wide(struct pprf_wide_seed *seed)
{
  int err = __real_prg_random_wide(seed);
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof *seed);
  return err;
}

int __real_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
int __wrap_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
int __wrap_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  int err = __real_prg_digest(bytes, len, out);
  VALGRIND_MAKE_MEM_DEFINED(out, DIGEST_BYTES);
  return err;
}

struct pprf_children __real_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                       uint64_t start, unsigned height);
struct pprf_children __wrap_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                       uint64_t start, unsigned height);
struct pprf_children __wrap_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                       uint64_t start, unsigned height)
{
  struct pprf_children c = __real_prg_expand(family, seed, start, height);
  if (plant('o') && (c.left.lo & 1) != 0) /* a single call */
    sink++;
  return c;
}

int __real_opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n);
int __wrap_opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n);
int __wrap_opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n)
{
  int err = __real_opt_expand_many(family, step, n);
  if (plant('m') && n > 1 && (step[n - 1].right->hi & 1) != 0) /* parallel calls */
    sink++;
  return err;
}

struct pprf_wide_children __real_prg_expand_wide(struct pprf_family family,
                                                 struct pprf_wide_seed seed, uint64_t start,
                                                 unsigned height);
struct pprf_wide_children __wrap_prg_expand_wide(struct pprf_family family,
                                                 struct pprf_wide_seed seed, uint64_t start,
                                                 unsigned height);
struct pprf_wide_children __wrap_prg_expand_wide(struct pprf_family family,
                                                 struct pprf_wide_seed seed, uint64_t start,
                                                 unsigned height)
{
  struct pprf_wide_children c = __real_prg_expand_wide(family, seed, start, height);
  if (plant('o') && (c.left.fourth & 1) != 0)
    sink++;
  return c;
}

int __real_opt_expand_many_wide(struct pprf_family family, const struct opt_wide_step *step,
                                unsigned n);
int __wrap_opt_expand_many_wide(struct pprf_family family, const struct opt_wide_step *step,
                                unsigned n);
int __wrap_opt_expand_many_wide(struct pprf_family family, const struct opt_wide_step *step,
                                unsigned n)
{
  int err = __real_opt_expand_many_wide(family, step, n);
  if (plant('m') && n > 1 && (step[n - 1].right->third & 1) != 0)
    sink++;
  return err;
}

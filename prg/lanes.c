/* SPDX-License-Identifier: Apache-2.0 */
/* The weak definitions of lanes.h, which call prg_expand. */
#include "lanes.h"
#include "wide.h"

__attribute__((weak)) int opt_expand_many(struct pprf_family family, const struct opt_step *step,
                                          unsigned n)
{
  struct pprf_children c = {.err = 0};
  for (unsigned i = 0; i < n && c.err == 0; i++) {
    c = prg_expand(family, *step[i].seed, step[i].start, step[i].height);
    *step[i].left = c.left;
    *step[i].right = c.right;
  }
  int err = c.err;
  c.left = c.right = (struct pprf_seed){0, 0};
  __asm__ volatile("" : : "r"(&c) : "memory"); /* keep the stores */
  return err;
}

__attribute__((weak)) int opt_expand_many_wide(struct pprf_family family,
                                               const struct opt_wide_step *step, unsigned n)
{
  struct pprf_wide_children c = {.err = 0};
  for (unsigned i = 0; i < n && c.err == 0; i++) {
    c = prg_expand_wide(family, *step[i].seed, step[i].start, step[i].height);
    *step[i].left = c.left;
    *step[i].right = c.right;
  }
  int err = c.err;
  c.left = c.right = (struct pprf_wide_seed){0, 0, 0, 0};
  __asm__ volatile("" : : "r"(&c) : "memory"); /* keep the stores */
  return err;
}

__attribute__((weak)) int opt_descend(struct pprf_family family, struct pprf_seed seed,
                                      uint64_t leaf, unsigned height, struct pprf_seed *copath,
                                      struct pprf_seed *value)
{
  (void)family;
  (void)seed;
  (void)leaf;
  (void)height;
  (void)copath;
  (void)value;
  return 0;
}

__attribute__((weak)) uint64_t opt_wipe_plan(unsigned own)
{
  return prg_wipe_plan(own + 1024);
}

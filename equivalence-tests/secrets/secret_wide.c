/* SPDX-License-Identifier: Apache-2.0 */
/* Run under valgrind (secret-flow): the PRG that ships, on undefined 32-byte seeds, in single
 * calls and in parallel ones. The environment's PLANT selects a violation that valgrind must
 * find. */
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>

#include "pprf.h"
#include "wide.h"

#define MANY 6

static volatile unsigned sink;

static int plant(char what)
{
  const char *p = getenv("PLANT");
  return p != NULL && *p == what;
}

int main(void)
{
  const struct pprf_family family = {PRG_MLS_SHA256, 0, 0};
  struct pprf_wide_seed seed[MANY] = {{1, 2, 3, 4}}, left[MANY];
  struct opt_wide_step step[MANY];
  /* choosing a version compares children of public seeds */
  printf("# SHA-256: %s\n", pprf_sha256_name());
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof seed);
  for (unsigned i = 0; i < MANY; i++) {
    struct pprf_wide_children c = prg_expand_wide(family, seed[i], i, 1);
    if (c.err != 0) /* the error is public */
      return 2;
    if (plant('o') && (c.right.fourth & 1) != 0) /* a single call */
      sink++;
    seed[i] = c.left;
    step[i] = (struct opt_wide_step){&seed[i], &left[i], &seed[i], i, 1};
  }
  if (opt_expand_many_wide(family, step, MANY) != 0)
    return 2;
  if (plant('m') && left[MANY - 1].lo >> 63 != 0) /* parallel calls */
    sink++;
  /* memcheck still regards the results as undefined */
  unsigned char undefined[sizeof left] = {0};
  if (VALGRIND_GET_VBITS(left, undefined, sizeof left) == 1)
    for (unsigned i = 0; i < sizeof left; i++)
      if (undefined[i] != 0xff)
        return 3;
  return 0;
}

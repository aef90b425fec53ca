/* SPDX-License-Identifier: Apache-2.0 */
/* Run under valgrind (secret-flow): the PRG that ships, of seeds of 32 bytes that are undefined, one by one and
 * side by side.  The environment's PLANT chooses a violation for the test of the test. */
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
  /* the choice of a version compares children of public seeds */
  printf("# SHA-256: %s\n", pprf_sha256_name());
  VALGRIND_MAKE_MEM_UNDEFINED(seed, sizeof seed);
  for (unsigned i = 0; i < MANY; i++) {
    struct pprf_wide_children c = prg_expand_wide(family, seed[i], i, 1);
    if (c.err != 0) /* public */
      return 2;
    if (plant('o') && (c.right.fourth & 1) != 0) /* one */
      sink++;
    seed[i] = c.left;
    step[i] = (struct opt_wide_step){&seed[i], &left[i], &seed[i], i, 1};
  }
  if (opt_expand_many_wide(family, step, MANY) != 0)
    return 2;
  if (plant('m') && left[MANY - 1].lo >> 63 != 0) /* many */
    sink++;
  /* memcheck followed the seeds to the end */
  unsigned char undefined[sizeof left] = {0};
  if (VALGRIND_GET_VBITS(left, undefined, sizeof left) == 1)
    for (unsigned i = 0; i < sizeof left; i++)
      if (undefined[i] != 0xff)
        return 3;
  return 0;
}

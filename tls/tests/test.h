/* SPDX-License-Identifier: Apache-2.0 */
/** @file test.h
 * Shared by the tests of the tickets: each runs once for every suite, and the names of its tests
 * include the suite. */
#ifndef PPRF_TLS_TEST_H
#define PPRF_TLS_TEST_H

#include "pprf.h"
#include "../../tools/tap.h"

#define check tap_check /* used several hundred times */

static unsigned suite; /* suite of the tickets; 0: the default */

/* Random choices. */
static const char *test_program; /* NULL: this test makes no random choices */
static uint64_t seed, state;

/** Set the seed: the program's argument, the environment's SEED, or a new one. */
__attribute__((unused)) static void begin_random(const char *argument, const char *of)
{
  test_program = of;
  seed = argument != NULL ? strtoull(argument, NULL, 0) : tap_seed();
  state = seed;
  tap_note("seed %llu", (unsigned long long)seed);
}

/** A random number below n. Not for keys. */
__attribute__((unused)) static uint64_t rnd(uint64_t n)
{
  return tap_random(&state) % n;
}

static void end_test(const char *name)
{
  char claim[200];
  snprintf(claim, sizeof claim, "%s%s%s", name, suite != 0 ? ", in " : "",
           suite != 0 ? pprf_suite_name(suite) : "");
  if (tap_missed > 0 && test_program != NULL)
    tap_note("again: build/tls/%s %llu", test_program, (unsigned long long)seed);
  tap_end_test(claim);
}

#endif

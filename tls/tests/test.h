/* SPDX-License-Identifier: Apache-2.0 */
/** @file test.h
 * What the tests of the tickets share: each runs once a suite, which the names of its tests say. */
#ifndef PPRF_TLS_TEST_H
#define PPRF_TLS_TEST_H

#include "pprf.h"
#include "../../tools/tap.h"

#define check tap_check /* several hundred times */

static unsigned suite; /* of the tickets; 0: the default */

/* The random choices of a test, for those that have any. */
static const char *test_program; /* NULL: this one has none */
static uint64_t seed, state;

/** The seed: the program's argument, or the environment's, or a new one. */
__attribute__((unused)) static void begin_random(const char *argument, const char *of)
{
  test_program = of;
  seed = argument != NULL ? strtoull(argument, NULL, 0) : tap_seed();
  state = seed;
  tap_note("seed %llu", (unsigned long long)seed);
}

/** A number below n, not for keys. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/** @file in_suite.h
 * Keys of the suite named by the environment's TEST_SUITE, for tests that search or watch a
 * process: the same program runs once per suite. Under the name PROGRAM-mls it uses mls-sha256. */
#ifndef EQ_IN_SUITE_H
#define EQ_IN_SUITE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../../cli/impls/impl.h"

static const uint8_t in_suite_salt[PPRF_SALT_BYTES] = {7, 1, 2,  3,  4,  5,  6,  7,
                                                       8, 9, 10, 11, 12, 13, 14, 0xf0};

/** The suite's id; an unknown name ends the program. */
__attribute__((unused)) static unsigned in_suite(void)
{
  const char *name = getenv("TEST_SUITE");
  if (name == NULL || *name == '\0')
    return strstr(program_invocation_short_name, "-mls") ? PPRF_MLS_SHA256 : PPRF_SHA3_256;
  for (unsigned suite = 1; pprf_suite_name(suite) != NULL; suite++)
    if (strcmp(name, pprf_suite_name(suite)) == 0)
      return suite;
  abort();
}

/** Bytes of a seed and of a value in that suite. */
__attribute__((unused)) static size_t in_suite_bytes(void)
{
  return in_suite() == PPRF_MLS_SHA256 ? 32 : 16;
}

/** A key in that suite. For the thesis's suite and a given seed pprf_setup makes it, which then
 * chooses that suite. */
__attribute__((unused)) static int setup_in_suite(const struct pprf_impl *impl, pprf_key **key,
                                                  unsigned depth, const uint8_t *seed)
{
  struct pprf_options options = {
    .size = sizeof options, .seed = seed, .depth = depth, .suite = in_suite()};
  if (options.suite == PPRF_SHA3_256_SALTED || options.suite == PPRF_AES_128)
    options.salt = in_suite_salt;
  return options.suite == PPRF_SHA3_256 && seed != NULL ? impl->setup(key, depth, seed)
                                                        : impl->setup_with(key, &options);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file suites.h
 * The suites, a row each.  Names, checks of options and the command line come from this table, and
 * bindings ask the library; pprf.h has the numbers for users.  cli/test_cli.py compares the lists
 * that documents and other languages have with it.  CONTRIBUTING.md says what a new row needs. */
#ifndef PPRF_SUITES_H
#define PPRF_SUITES_H

#include "pprf.h"

/** In the order of their numbers: number, name, whether keys have a salt, bytes of a seed. */
#define PPRF_SUITE_TABLE(ROW)                         \
  ROW(PPRF_SHA3_256, "sha3-256", 0, 16)               \
  ROW(PPRF_SHA3_256_SALTED, "sha3-256-salted", 1, 16) \
  ROW(PPRF_AES_128, "aes-128", 1, 16)                 \
  ROW(PPRF_MLS_SHA256, "mls-sha256", 0, 32)

#define PPRF_SALTED_ROW(number, name, salted, bytes) | (salted ? PPRF_SUITE_BIT(number) : 0)
#define PPRF_16_BYTES_ROW(number, name, salted, bytes) | (bytes == 16 ? PPRF_SUITE_BIT(number) : 0)
#define PPRF_32_BYTES_ROW(number, name, salted, bytes) | (bytes == 32 ? PPRF_SUITE_BIT(number) : 0)

/** The set of the suites with a salt. */
#define PPRF_SUITES_SALTED (UINT64_C(0) PPRF_SUITE_TABLE(PPRF_SALTED_ROW))

_Static_assert(PPRF_SUITES_16_BYTES == (0 PPRF_SUITE_TABLE(PPRF_16_BYTES_ROW)), "pprf.h differs");
_Static_assert(PPRF_SUITES_32_BYTES == (0 PPRF_SUITE_TABLE(PPRF_32_BYTES_ROW)), "pprf.h differs");

#endif

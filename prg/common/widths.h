/* SPDX-License-Identifier: Apache-2.0 */
/** @file widths.h
 * Keys of both widths behind one pointer: those of 16-byte seeds, and those of 32-byte seeds, which are
 * pprf_wide_key, of the suite mls-sha256 alone.  wide.c of either implementation makes these of the same
 * sources.  All of it is macros: a function here would be one of each proven file. */
#ifndef PPRF_WIDTHS_H
#define PPRF_WIDTHS_H

#include <stddef.h>
#include <stdint.h>

#include "pprf.h"
#include "wide.h"

typedef struct pprf_wide_key pprf_wide_key;

/** Where a key of either width has its family: behind its maker. */
#define PPRF_FAMILY_AT 8
#define PPRF_FAMILY_OF(key) \
  ((const struct pprf_family *)(const void *)((const char *)(key) + PPRF_FAMILY_AT))

/** Whether a key, NULL allowed, is a pprf_wide_key. */
#define PPRF_IS_WIDE(key) ((key) != NULL && PPRF_FAMILY_OF(key)->suite == PRG_MLS_SHA256)

/** What to do if key is one: in the statements it is called wide. */
#define PPRF_IF_WIDE(key, ...)                                       \
  if (__builtin_expect(PPRF_IS_WIDE(key), 0)) {                      \
    pprf_wide_key *wide = (pprf_wide_key *)(void *)(uintptr_t)(key); \
    __VA_ARGS__                                                      \
  }

/** The same place: to the compiler out has room for PPRF_SEED_BYTES, and the value of such a key is
 * longer. */
#define PPRF_LONGER(out)             \
  __extension__({                    \
    uint8_t *longer = (out);         \
    __asm__("" : "+r"(longer));      \
    longer;                          \
  })

/** The key as the API hands it out. */
#define PPRF_KEY_OF_WIDE(key) ((pprf_key *)(void *)(key))

#endif

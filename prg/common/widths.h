/* SPDX-License-Identifier: Apache-2.0 */
/** @file widths.h
 * Keys of two widths behind one pointer type: with 16-byte seeds, and with 32-byte seeds, which are
 * pprf_wide_key and have the suite mls-sha256.  Each implementation's wide.c compiles the same
 * sources for the second width.  Only macros: a function here would need a contract in every proven
 * file. */
#ifndef PPRF_WIDTHS_H
#define PPRF_WIDTHS_H

#include <stddef.h>
#include <stdint.h>

#include "pprf.h"
#include "wide.h"

typedef struct pprf_wide_key pprf_wide_key;

/** Offset of the family in a key of either width: after the maker. */
#define PPRF_FAMILY_AT 8
#define PPRF_FAMILY_OF(key) \
  ((const struct pprf_family *)(const void *)((const char *)(key) + PPRF_FAMILY_AT))

/** Whether a key (may be NULL) is a pprf_wide_key. */
#define PPRF_IS_WIDE(key) ((key) != NULL && PPRF_FAMILY_OF(key)->suite == PRG_MLS_SHA256)

/** Run these statements if key is wide; in them it is called `wide`. */
#define PPRF_IF_WIDE(key, ...)                                       \
  if (__builtin_expect(PPRF_IS_WIDE(key), 0)) {                      \
    pprf_wide_key *wide = (pprf_wide_key *)(void *)(uintptr_t)(key); \
    __VA_ARGS__                                                      \
  }

/** The same address with unknown bounds: the compiler believes that out has PPRF_SEED_BYTES, but
 * the value of a wide key is longer. */
#define PPRF_LONGER(out)             \
  __extension__({                    \
    uint8_t *longer = (out);         \
    __asm__("" : "+r"(longer));      \
    longer;                          \
  })

/** A wide key as the API's type. */
#define PPRF_KEY_OF_WIDE(key) ((pprf_key *)(void *)(key))

#endif

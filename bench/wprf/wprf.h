/* SPDX-License-Identifier: Apache-2.0 */
/** @file wprf.h
 * An experiment, in no library: the weak PRF of "Crypto Dark Matter" (docs/wprf.md) in several
 * forms.  A key is 511 bits k[1] .. k[511]; bit 0 of its eight words is ignored.  From an input of
 * 256 bits:  y = K x over Z_2 with the Toeplitz matrix K[i][j] = k[256 + i - j], then 81 trits R y
 * over Z_3 with a public matrix R.  Bit n of an array of words is bit n % 64 of word n / 64. */
#ifndef PPRF_BENCH_WPRF_H
#define PPRF_BENCH_WPRF_H

#include <stddef.h>
#include <stdint.h>

enum { WPRF_IN = 256, WPRF_TRITS = 81, WPRF_FORMS = 7, WPRF_KEY = 8, WPRF_CALLS = 9 };

/** 81 trits, each in a bit of both words: 0 is 11, 1 is msb alone, 2 is lsb alone
 * (spec/wprf/Wprf.v).  The bits after the 81st trit are 1. */
struct wprf_trits {
  uint64_t msb[2], lsb[2];
};

typedef void wprf_form(const uint64_t *key, const uint64_t *x, struct wprf_trits *out);

/** The forms; the first is the definition. */
extern const struct wprf_version {
  const char *name;
  wprf_form *form;
  const char *needs; /* instructions; NULL: none */
} wprf_versions[WPRF_FORMS];

/** Whether this processor has what the form needs. */
int wprf_usable(const struct wprf_version *v);

/** Make R and all tables.  1, or 0 if libcrypto fails. */
int wprf_setup(void);

/** The trits of several calls as one number in base 3, the first trit of the first call the least
 * significant, modulo 2^(64 words). */
void wprf_number(const struct wprf_trits *trits, unsigned calls, uint64_t *out, unsigned words);

/** A PRG: the keys of both children are the number of the 729 trits of nine calls on fixed public
 * inputs, modulo 2^1024.  The key may overlap its children. */
void wprf_expand(wprf_form *form, const uint64_t *key, uint64_t *child);

#endif

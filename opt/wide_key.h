/* SPDX-License-Identifier: Apache-2.0 */
/** @file wide_key.h
 * Keys of 32-byte seeds, those of the suite mls-sha256: the functions of pprf.h for them, each of which does
 * what the function of its name does.  wide.c makes them of the sources for 16-byte seeds. */
#ifndef PPRF_OPT_WIDE_KEY_H
#define PPRF_OPT_WIDE_KEY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pprf.h"
#include "wide.h"

typedef struct pprf_wide_key pprf_wide_key;

/** Where a key of either width has its suite: behind its maker. */
#define OPT_SUITE_AT 8

/** Whether a key, NULL allowed, is a pprf_wide_key. */
static inline int opt_is_wide(const pprf_key *key)
{
  unsigned suite;
  if (key == NULL)
    return 0;
  memcpy(&suite, (const unsigned char *)key + OPT_SUITE_AT, sizeof suite);
  return suite == PRG_MLS_SHA256;
}

/** What to do if key is one: in the statements it is called wide. */
#define OPT_IF_WIDE(key, ...) \
  if (__builtin_expect(opt_is_wide(key), 0)) { \
    pprf_wide_key *wide = (pprf_wide_key *)(void *)(uintptr_t)(key); \
    __VA_ARGS__ \
  }

/** The same place: to the compiler out has room for PPRF_SEED_BYTES, and the value of such a key is longer. */
static inline uint8_t *opt_longer(uint8_t *out)
{
  __asm__("" : "+r"(out));
  return out;
}

/** The key as the API hands it out. */
static inline pprf_key *opt_key_of_wide(pprf_wide_key *key)
{
  return (pprf_key *)(void *)key;
}

int opt_wide_key_eval(const pprf_wide_key *key, uint64_t leaf, uint8_t out[PRG_WIDE_BYTES]);
int opt_wide_key_punct(pprf_wide_key *key, uint64_t leaf);
int opt_wide_key_eval_punct(pprf_wide_key *key, uint64_t leaf, uint8_t out[PRG_WIDE_BYTES]);
int opt_wide_key_punct_range(pprf_wide_key *key, uint64_t first, uint64_t last);
int opt_wide_key_eval_batch(const pprf_wide_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                            int *result);
int opt_wide_key_punct_batch(pprf_wide_key *key, const uint64_t *leaf, size_t n, int *result);
int opt_wide_key_expand(const pprf_wide_key *key, uint64_t first, uint64_t last, pprf_each *each,
                        void *arg);
int opt_wide_key_prefault(pprf_wide_key *key);
size_t opt_wide_key_node_count(const pprf_wide_key *key);
size_t opt_wide_key_memory_bytes(const pprf_wide_key *key);
unsigned opt_wide_key_depth(const pprf_wide_key *key);
unsigned opt_wide_key_suite(const pprf_wide_key *key);
size_t opt_wide_key_value_bytes(const pprf_wide_key *key);
int opt_wide_key_memory_locked(const pprf_wide_key *key);
int opt_wide_key_export(const pprf_wide_key *key, uint8_t *buf, size_t *len);
void opt_wide_key_free(pprf_wide_key *key);

/** A key of the options, which were read and have the suite. */
int opt_wide_key_setup(pprf_wide_key **key, const struct pprf_options *options);

/** As pprf_import_with, of that suite alone. */
int opt_wide_key_import(pprf_wide_key **key, const uint8_t *buf, size_t len);

#endif

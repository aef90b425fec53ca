/* SPDX-License-Identifier: Apache-2.0 */
/** @file wide_key.h
 * Keys with 32-byte seeds (suite mls-sha256): each function does what the pprf.h function of the
 * same name does.  wide.c makes them from the sources for 16-byte seeds. */
#ifndef PPRF_OPT_WIDE_KEY_H
#define PPRF_OPT_WIDE_KEY_H

#include "common/widths.h"

int opt_wide_key_eval(const pprf_wide_key *key, uint64_t leaf, uint8_t out[PRG_WIDE_BYTES]);
int opt_wide_key_punct(pprf_wide_key *key, uint64_t leaf);
int opt_wide_key_eval_punct(pprf_wide_key *key, uint64_t leaf, uint8_t out[PRG_WIDE_BYTES]);
int opt_wide_key_punct_range(pprf_wide_key *key, uint64_t first, uint64_t last);
int opt_wide_key_delegate(const pprf_wide_key *key, uint64_t first, uint64_t last,
                          pprf_wide_key **sub);
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

/** Make a key from validated options, whose suite is mls-sha256. */
int opt_wide_key_setup(pprf_wide_key **key, const struct pprf_options *options);

/** pprf_import_with for this suite alone, into the given PPRF_STORE_*. */
int opt_wide_key_import(pprf_wide_key **key, const uint8_t *buf, size_t len, unsigned store);

#endif

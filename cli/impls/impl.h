/* SPDX-License-Identifier: Apache-2.0 */
/** @file impl.h
 * The implementations of pprf.h as values, so that one program can run several of them: the command
 * line tool, the tests and the benchmarks choose by name.
 *
 * impl.c is compiled twice: plainly for opt, and with the renamed public symbols (ref/names.h) for
 * ref.  A key belongs to the implementation that made it. */
#ifndef PPRF_IMPL_H
#define PPRF_IMPL_H

#include "pprf.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Each member is the function pprf_<member> of pprf.h; NULL if the implementation lacks it.
 * (`export` is a keyword of C++, hence export_key and import_key.) */
struct pprf_impl {
  const char *name;
  int (*setup)(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES]);
  int (*setup_with)(pprf_key **key, const struct pprf_options *options);
  int (*eval)(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);
  int (*punct)(pprf_key *key, uint64_t leaf);
  int (*eval_punct)(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);
  int (*punct_range)(pprf_key *key, uint64_t first, uint64_t last);
  int (*delegate)(const pprf_key *key, uint64_t first, uint64_t last, pprf_key **sub);
  size_t (*node_count)(const pprf_key *key);
  size_t (*memory_bytes)(const pprf_key *key);
  int (*memory_locked)(const pprf_key *key);
  unsigned (*depth)(const pprf_key *key);
  unsigned (*suite)(const pprf_key *key);
  size_t (*value_bytes)(const pprf_key *key);
  int (*export_key)(const pprf_key *key, uint8_t *buf, size_t *len);
  int (*import_key)(pprf_key **key, const uint8_t *buf, size_t len);
  int (*import_with)(pprf_key **key, const uint8_t *buf, size_t len,
                     const struct pprf_import_options *options);
  void (*free)(pprf_key *key);
};

/** The members that do not say which store a new key has, as pprf.h names them. */
#define PPRF_IMPL_MEMBERS \
  .eval = pprf_eval, .punct = pprf_punct, .eval_punct = pprf_eval_punct,                       \
  .punct_range = pprf_punct_range, .delegate = pprf_delegate, .node_count = pprf_node_count,   \
  .memory_bytes = pprf_memory_bytes, .memory_locked = pprf_memory_locked, .depth = pprf_depth, \
  .suite = pprf_suite, .value_bytes = pprf_value_bytes, .export_key = pprf_export,             \
  .import_with = pprf_import_with, .free = pprf_free

extern const struct pprf_impl impl_ref, impl_opt;

#ifdef __cplusplus
}
#endif
#endif

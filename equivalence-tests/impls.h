/* SPDX-License-Identifier: Apache-2.0 */
/** @file impls.h
 * The two implementations in one list, so that one loop tests both. */
#ifndef EQ_IMPLS_H
#define EQ_IMPLS_H

#include "../common/impl.h"

#define IMPLS 2
static const struct pprf_impl *const impls[IMPLS] = {&impl_ref, &impl_opt};

__attribute__((unused)) static int packed_setup(pprf_key **key, unsigned depth, const uint8_t *seed)
{
  struct pprf_options o = {
    .size = sizeof o, .seed = seed, .depth = depth, .store = PPRF_STORE_PACKED};
  return pprf_setup_with(key, &o);
}

__attribute__((unused)) static int packed_setup_with(pprf_key **key,
                                                     const struct pprf_options *options)
{
  struct pprf_options o = *options;
  o.store = PPRF_STORE_PACKED;
  return pprf_setup_with(key, &o);
}

__attribute__((unused)) static int packed_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  const struct pprf_import_options o = {.size = sizeof o, .store = PPRF_STORE_PACKED};
  return pprf_import_with(key, buf, len, &o);
}

/** opt with its other store. */
__attribute__((unused)) static const struct pprf_impl impl_packed = {
  .name = "packed",
  .setup = packed_setup,
  .setup_with = packed_setup_with,
  .eval = pprf_eval,
  .punct = pprf_punct,
  .eval_punct = pprf_eval_punct,
  .punct_range = pprf_punct_range,
  .node_count = pprf_node_count,
  .memory_bytes = pprf_memory_bytes,
  .memory_locked = pprf_memory_locked,
  .depth = pprf_depth,
  .suite = pprf_suite,
  .value_bytes = pprf_value_bytes,
  .export_key = pprf_export,
  .import_key = packed_import,
  .import_with = pprf_import_with, /* into the store that the options name: import_any */
  .free = pprf_free,
};

/** Both implementations, and opt with its other store. */
#define STORES 3
__attribute__((unused)) static const struct pprf_impl *const stores[STORES] = {&impl_ref, &impl_opt,
                                                                               &impl_packed};

/** Whether a key of this depth is more than the address space: opt maps 16 bytes for each pair of
 * leaves. */
__attribute__((unused)) static int too_deep(const struct pprf_impl *impl, unsigned depth)
{
  return sizeof(size_t) < 8 && impl == &impl_opt && depth > 28 && depth <= PPRF_SLOTS_DEPTH_MAX;
}

/** Import a key of any suite. */
__attribute__((unused)) static int import_any(const struct pprf_impl *impl, pprf_key **key,
                                              const uint8_t *buf, size_t len)
{
  const struct pprf_import_options all = {.size = sizeof all,
                                          .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES,
                                          .store = impl == &impl_packed ? PPRF_STORE_PACKED
                                                                        : PPRF_STORE_DEFAULT};
  return impl->import_with(key, buf, len, &all);
}

/** The name of a result, for messages. */
__attribute__((unused)) static const char *result_name(int err)
{
  static const char *const name[] = {"ok",     "punctured", "range", "nomem",  "crypto",
                                     "format", "buffer",    "null",  "forked", "suite"};
  return err >= 0 && err <= PPRF_ERR_SUITE ? name[err] : "unknown";
}

#endif

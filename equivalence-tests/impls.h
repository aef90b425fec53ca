/* SPDX-License-Identifier: Apache-2.0 */
/** @file impls.h
 * The two implementations in a list, so that one loop tests both. */
#ifndef EQ_IMPLS_H
#define EQ_IMPLS_H

#include "../cli/impls/impl.h"

/* Options without a store select pair slots, if the depth allows them. */
__attribute__((unused)) static int slots_setup_with(pprf_key **key,
                                                    const struct pprf_options *options)
{
  struct pprf_options o;
  if (options == NULL || options->size != sizeof o || options->store != PPRF_STORE_DEFAULT ||
      options->depth > PPRF_SLOTS_DEPTH_MAX)
    return pprf_setup_with(key, options);
  o = *options;
  o.store = PPRF_STORE_SLOTS;
  return pprf_setup_with(key, &o);
}

__attribute__((unused)) static int slots_setup(pprf_key **key, unsigned depth, const uint8_t *seed)
{
  struct pprf_options o = {
    .size = sizeof o, .seed = seed, .depth = depth, .store = PPRF_STORE_SLOTS};
  return depth > PPRF_SLOTS_DEPTH_MAX ? pprf_setup(key, depth, seed) : pprf_setup_with(key, &o);
}

/* Refuse a key too deep for pair slots, which would have a packed store. */
__attribute__((unused)) static int slots_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  const struct pprf_import_options o = {.size = sizeof o, .store = PPRF_STORE_SLOTS};
  int err = pprf_import_with(key, buf, len, &o);
  return err == PPRF_ERR_RANGE ? pprf_import(key, buf, len) : err;
}

/** opt with pair slots; impl_opt has packed stores.  import_with: into the store named by the
 * options, see any_key. */
__attribute__((unused)) static const struct pprf_impl impl_slots = {
  .name = "slots",
  .setup = slots_setup,
  .setup_with = slots_setup_with,
  .import_key = slots_import,
  PPRF_IMPL_MEMBERS,
};

/** The two implementations, if opt's store does not matter. */
#define IMPLS 2
static const struct pprf_impl *const impls[IMPLS] = {&impl_ref, &impl_slots};

/** These two, and opt with a packed store. */
#define STORES 3
__attribute__((unused)) static const struct pprf_impl *const stores[STORES] = {
  &impl_ref, &impl_slots, &impl_opt};

/** Whether a key of this depth exceeds the address space: opt maps 16 bytes for each pair of
 * leaves. */
__attribute__((unused)) static int too_deep(const struct pprf_impl *impl, unsigned depth)
{
  return sizeof(size_t) < 8 && impl == &impl_slots && depth > 28 && depth <= PPRF_SLOTS_DEPTH_MAX;
}

/** Options to import a key of any suite into the implementation's store. */
__attribute__((unused)) static struct pprf_import_options any_key(const struct pprf_impl *impl,
                                                                  unsigned depth)
{
  struct pprf_import_options any = {.size = sizeof any,
                                    .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES};
  if (impl == &impl_slots && depth <= PPRF_SLOTS_DEPTH_MAX)
    any.store = PPRF_STORE_SLOTS;
  return any;
}

/** Import a key of any suite. */
__attribute__((unused)) static int import_any(const struct pprf_impl *impl, pprf_key **key,
                                              const uint8_t *buf, size_t len)
{
  const struct pprf_import_options any = any_key(impl, len > 9 ? buf[9] : 0);
  return impl->import_with(key, buf, len, &any);
}

/** The name of a result, for messages. */
__attribute__((unused)) static const char *result_name(int err)
{
  static const char *const name[] = {"ok",     "punctured", "range", "nomem",  "crypto",
                                     "format", "buffer",    "null",  "forked", "suite"};
  return err >= 0 && err <= PPRF_ERR_SUITE ? name[err] : "unknown";
}

#endif

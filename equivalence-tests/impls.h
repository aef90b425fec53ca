/* SPDX-License-Identifier: Apache-2.0 */
/** @file impls.h
 * The two implementations in one list, so that one loop tests both. */
#ifndef EQ_IMPLS_H
#define EQ_IMPLS_H

#include "../common/impl.h"

#define IMPLS 2
static const struct pprf_impl *const impls[IMPLS] = {&impl_ref, &impl_opt};

/** Whether a key of this depth is more than the address space: opt maps 16 bytes for each pair of
 * leaves. */
__attribute__((unused)) static int too_deep(const struct pprf_impl *impl, unsigned depth)
{
  return sizeof(size_t) < 8 && impl == &impl_opt && depth > 28;
}

/** The name of a result, for messages. */
__attribute__((unused)) static const char *result_name(int err)
{
  static const char *const name[] = {"ok",     "punctured", "range", "nomem", "crypto",
                                     "format", "buffer",    "null",  "forked"};
  return err >= 0 && err <= PPRF_ERR_FORKED ? name[err] : "unknown";
}

#endif

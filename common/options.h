/* SPDX-License-Identifier: Apache-2.0 */
/** @file options.h
 * The options of pprf_setup_with, as both implementations read them. */
#ifndef PPRF_REF_OPTIONS_H
#define PPRF_REF_OPTIONS_H

#include "pprf.h"

/** Whether this library knows all that the options ask for: no flag and no member is one of a later
 * version, unless it is zero, which is what there was before. */
static inline int pprf_options_known(const struct pprf_options *o)
{
  const unsigned char *byte = (const unsigned char *)o;
  if (o->size < sizeof *o || (o->flags & ~PPRF_SHARED) != 0)
    return 0;
  for (size_t at = sizeof *o; at < o->size; at++)
    if (byte[at] != 0)
      return 0;
  return 1;
}

#endif

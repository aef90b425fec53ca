/* SPDX-License-Identifier: Apache-2.0 */
/** @file options.h
 * The options of pprf_setup_with, as both implementations read them. */
#ifndef PPRF_REF_OPTIONS_H
#define PPRF_REF_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "pprf.h"

/** Bytes of the options that version 0.2.0 had: all before the store. */
#define OPTIONS_LEAST offsetof(struct pprf_options, store)

/** Read options of any version; what an earlier one lacks is zero.
 * @retval 1 this library knows all that they ask for.
 * @retval 0 a flag, the store or a member of a later version is unknown, or they contradict each other. */
static inline int pprf_options_read(struct pprf_options *o, const struct pprf_options *options)
{
  const unsigned char *byte = (const unsigned char *)options;
  const size_t size = options->size;
  if (size != OPTIONS_LEAST && size < sizeof *o)
    return 0;
  memset(o, 0, sizeof *o);
  memcpy(o, options, size < sizeof *o ? size : sizeof *o);
  for (size_t at = sizeof *o; at < size; at++)
    if (byte[at] != 0)
      return 0;
  return (o->flags & ~PPRF_SHARED) == 0 && o->store <= PPRF_STORE_PACKED &&
         !(o->flags & PPRF_SHARED && o->store == PPRF_STORE_PACKED);
}

#endif

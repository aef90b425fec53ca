/* SPDX-License-Identifier: Apache-2.0 */
/** @file options.h
 * Validation of the options of pprf_setup_with and pprf_import_with, for both implementations, and
 * the properties of each suite. */
#ifndef PPRF_REF_OPTIONS_H
#define PPRF_REF_OPTIONS_H

#include <stddef.h>
#include <string.h>

#include "pprf.h"
#include "prg.h"
#include "suites.h"

/** Size of the options in version 0.2.0: all members before the store. */
#define OPTIONS_LEAST offsetof(struct pprf_options, store)

/** Whether the key's file has version 2 (docs/key-file.md): version 1 holds no other suite than
 * sha3-256 and no depth above 32. */
static inline int pprf_in_version2(unsigned suite, unsigned depth)
{
  return suite != PRG_SHA3_256 || depth > 32;
}

/** Whether a suite is in a set of PPRF_SUITE_BIT. */
static inline int pprf_is_among(uint64_t suites, unsigned suite)
{
  return suite < 64 && (suites >> suite & 1) != 0;
}

/** Whether keys of the suite have a salt, given or random. */
static inline int pprf_has_salt(unsigned suite)
{
  return pprf_is_among(PPRF_SUITES_SALTED, suite);
}

/** Whether keys of the suite have 32-byte seeds. */
static inline int pprf_suite_is_wide(unsigned suite)
{
  return pprf_is_among(PPRF_SUITES_32_BYTES, suite);
}

/** The suite of a key whose options name none.  A caller that gives the seed wants the values of
 * the thesis's function for it, hence sha3-256.  Nobody knows the values of a random root in
 * advance, so such a key gets the salted suite, in which a guess tests one key only. */
static inline unsigned pprf_default_suite(const uint8_t *seed)
{
  return seed == NULL ? PRG_SHA3_256_SALTED : PRG_SHA3_256;
}

/** Read options of any version; members that an earlier version lacks become zero.
 * @retval PPRF_OK        all options are supported, and o->suite is not 0.
 * @retval PPRF_ERR_RANGE a depth, a flag, the store or a member of a later version is unknown, or
 *                        options contradict each other.
 * @retval PPRF_ERR_SUITE the suite is unknown. */
static inline int pprf_options_read(struct pprf_options *o, const struct pprf_options *options)
{
  const unsigned char *byte = (const unsigned char *)options;
  const size_t size = options->size;
  if (size != OPTIONS_LEAST && size < sizeof *o)
    return PPRF_ERR_RANGE;
  memset(o, 0, sizeof *o);
  memcpy(o, options, size < sizeof *o ? size : sizeof *o);
  for (size_t at = sizeof *o; at < size; at++)
    if (byte[at] != 0)
      return PPRF_ERR_RANGE;
  if ((o->flags & ~PPRF_SHARED) != 0 || o->store > PPRF_STORE_PACKED ||
      (o->flags & PPRF_SHARED && o->store == PPRF_STORE_PACKED))
    return PPRF_ERR_RANGE;
  if (o->depth < PPRF_DEPTH_MIN || o->depth > PPRF_DEPTH_MAX)
    return PPRF_ERR_RANGE;
  if (o->depth > PPRF_SLOTS_DEPTH_MAX &&
      (o->flags & PPRF_SHARED || o->store == PPRF_STORE_SLOTS)) /* such keys are packed */
    return PPRF_ERR_RANGE;
  if (o->suite == 0)
    o->suite = pprf_default_suite(o->seed);
  if (pprf_suite_name(o->suite) == NULL)
    return PPRF_ERR_SUITE;
  return o->salt != NULL && !pprf_has_salt(o->suite) ? PPRF_ERR_RANGE : PPRF_OK;
}

/** The options with which pprf_import works. */
#define IMPORT_DEFAULTS                                                                            \
  ((struct pprf_import_options){.suites = PPRF_SUITES_16_BYTES, .store = PPRF_STORE_DEFAULT})

/** Read options of pprf_import_with, of this version or a later one.
 * @retval PPRF_OK        all options are supported, and o->suites is not 0.
 * @retval PPRF_ERR_RANGE some option is not supported. */
static inline int pprf_import_options_read(struct pprf_import_options *o,
                                           const struct pprf_import_options *options)
{
  const unsigned char *byte = (const unsigned char *)options;
  if (options->size < sizeof *options)
    return PPRF_ERR_RANGE;
  for (size_t at = sizeof *options; at < options->size; at++)
    if (byte[at] != 0)
      return PPRF_ERR_RANGE;
  *o = *options;
  if (o->suites == 0)
    o->suites = PPRF_SUITES_16_BYTES;
  if ((o->suites & ~(PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES)) != 0)
    return PPRF_ERR_RANGE;
  return o->store > PPRF_STORE_PACKED || o->flags != 0 ? PPRF_ERR_RANGE : PPRF_OK;
}

#endif

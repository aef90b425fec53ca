/* SPDX-License-Identifier: Apache-2.0 */
/* The text of each error, the name of each suite. */
#include <stddef.h>

#include "suites.h"

const char *pprf_strerror(int err)
{
  switch (err) {
  case PPRF_OK:
    return "done";
  case PPRF_ERR_PUNCTURED:
    return "punctured already";
  case PPRF_ERR_RANGE:
    return "depth, leaf or option out of range";
  case PPRF_ERR_NOMEM:
    return "out of memory";
  case PPRF_ERR_CRYPTO:
    return "the digest or the random generator failed";
  case PPRF_ERR_FORMAT:
    return "not a key file";
  case PPRF_ERR_BUFFER:
    return "buffer too short";
  case PPRF_ERR_NULL:
    return "unexpected null pointer";
  case PPRF_ERR_FORKED:
    return "the key belongs to the process that made it, before a fork";
  case PPRF_ERR_SUITE:
    return "unknown suite";
  default:
    return "unknown error";
  }
}

const char *pprf_suite_name(unsigned suite)
{
#define NAME_ROW(number, name, salted, bytes) [number] = name,
  static const char *const names[] = {PPRF_SUITE_TABLE(NAME_ROW)};
  return suite < sizeof names / sizeof *names ? names[suite] : NULL;
}

const char *pprf_version(void)
{
  return PPRF_VERSION;
}

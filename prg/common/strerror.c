/* SPDX-License-Identifier: Apache-2.0 */
/* The text of each error. */
#include "pprf.h"

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
  switch (suite) {
  case PPRF_SHA3_256:
    return "sha3-256";
  case PPRF_SHA3_256_SALTED:
    return "sha3-256-salted";
  case PPRF_AES_128:
    return "aes-128";
  case PPRF_MLS_SHA256:
    return "mls-sha256";
  default:
    return NULL;
  }
}

const char *pprf_version(void)
{
  return PPRF_VERSION;
}

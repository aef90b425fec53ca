/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion between versions 1 and 2 of the key file. */
#include "version2.h"

#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "codec.h"
#include "common/options.h"
#include "pprf.h"

/* Offsets in version 2; the other bytes of the first 12 are as in version 1. */
enum { VERSION = 7, SUITE = 8, DEPTH = 9, COUNT = 12, SALT = 20, HEADER_BYTES = 36 };

int ref_to_version2(uint8_t *buf, size_t bytes, struct pprf_family family)
{
  const uint8_t *version1 = buf + VERSION2_MORE_BYTES;
  uint64_t count = ref_get_bytes(version1, COUNT, 4);
  memcpy(buf, version1, COUNT);
  buf[VERSION] = 2;
  buf[SUITE] = (uint8_t)family.suite;
  ref_put_bytes(buf, COUNT, 8, count);
  ref_put_bytes(buf, SALT, 8, family.salt_lo);
  ref_put_bytes(buf, SALT + 8, 8, family.salt_hi);
  int err = prg_digest(buf, bytes - DIGEST_BYTES, buf + bytes - DIGEST_BYTES);
  if (err != PPRF_OK)
    explicit_bzero(buf, bytes);
  return err;
}

/* Check the digest at the end of the file against the bytes before it. */
static int check_digest(const uint8_t *file, size_t len)
{
  uint8_t digest[DIGEST_BYTES];
  int err = prg_digest(file, len - DIGEST_BYTES, digest);
  if (err == PPRF_OK && !ref_same_bytes(digest, file + len - DIGEST_BYTES, DIGEST_BYTES))
    err = PPRF_ERR_FORMAT;
  return err;
}

/* Whether the file begins like one of the given version, whatever its suite. */
static int begins(const uint8_t *file, unsigned version)
{
  return memcmp(file, "PPRFKEY", VERSION) == 0 && file[VERSION] == version &&
         pprf_in_version2(file[SUITE], file[DEPTH]) == (version == 2) &&
         file[DEPTH] >= PPRF_DEPTH_MIN && file[DEPTH] <= PPRF_DEPTH_MAX && file[DEPTH + 1] == 0 &&
         file[DEPTH + 2] == 0;
}

int ref_file_begins(const uint8_t *buf, size_t len, unsigned *suite, unsigned *version)
{
  if (len < CODEC_HEADER_BYTES + DIGEST_BYTES)
    return 0;
  *suite = buf[SUITE];
  *version = buf[VERSION];
  return begins(buf, 1) || (len >= HEADER_BYTES + DIGEST_BYTES && begins(buf, 2));
}

/* Convert a version 2 file to version 1 in place: the result begins at byte 20. */
static int to_version1(uint8_t *file, size_t len, uint64_t suites, struct pprf_family *family)
{
  uint64_t count = ref_get_bytes(file, COUNT, 8);
  *family = (struct pprf_family){file[SUITE], ref_get_bytes(file, SALT, 8),
                                 ref_get_bytes(file, SALT + 8, 8)};
  if (!begins(file, 2))
    return PPRF_ERR_FORMAT;
  if (!pprf_is_among(suites, family->suite))
    return PPRF_ERR_SUITE;
  if (count > len / CODEC_RECORD_BYTES(file[DEPTH]))
    return PPRF_ERR_FORMAT;
  if (count > CODEC_NODES_MAX) /* the file would have 2^36 bytes or more */
    return PPRF_ERR_NOMEM;
  if (!pprf_has_salt(family->suite) && (family->salt_lo != 0 || family->salt_hi != 0))
    return PPRF_ERR_FORMAT;
  int err = check_digest(file, len);
  if (err != PPRF_OK)
    return err;
  uint8_t *version1 = file + VERSION2_MORE_BYTES;
  memcpy(version1, file, COUNT);
  version1[VERSION] = CODEC_VERSION;
  version1[SUITE] = PRG_SHA3_256;
  ref_put_bytes(version1, COUNT, 4, count);
  return prg_digest(version1, len - VERSION2_MORE_BYTES - DIGEST_BYTES, file + len - DIGEST_BYTES);
}

int ref_from_version2(const uint8_t *buf, size_t len, uint64_t suites, uint8_t **image,
                      size_t *bytes, struct pprf_family *family)
{
  *image = NULL;
  *bytes = 0;
  if (len < HEADER_BYTES + DIGEST_BYTES)
    return PPRF_ERR_FORMAT;
  uint8_t *copy = malloc(len);
  if (copy == NULL)
    return PPRF_ERR_NOMEM;
  memcpy(copy, buf, len);
  int err = to_version1(copy, len, suites, family);
  if (err == PPRF_OK) {
    *bytes = len - VERSION2_MORE_BYTES;
    memmove(copy, copy + VERSION2_MORE_BYTES, *bytes);
    explicit_bzero(copy + *bytes, VERSION2_MORE_BYTES);
    *image = copy;
  } else {
    explicit_bzero(copy, len);
    free(copy);
  }
  return err;
}

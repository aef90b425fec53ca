/* SPDX-License-Identifier: Apache-2.0 */
/** @file version2.h
 * Version 2 of the key file, expressed by version 1 (codec.h): it has 20 more bytes between the
 * depth and the records, and its own digest.  docs/key-file.md specifies both. */
#ifndef REF_VERSION2_H
#define REF_VERSION2_H

#include <stddef.h>
#include <stdint.h>

#include "prg.h"

/** Number of bytes by which a version 2 file exceeds the same nodes in version 1. */
#define VERSION2_MORE_BYTES 20

/** Whether a file begins like one of version 1 or 2, whatever its suite; returns both. */
int ref_file_begins(const uint8_t *buf, size_t len, unsigned *suite, unsigned *version);

/** Convert in place to a version 2 file of `bytes` bytes: the version 1 file of bytes - 20 bytes
 * lies at buf + 20.  Zeros the file on error.
 * @retval PPRF_OK or an error of prg_digest. */
int ref_to_version2(uint8_t *buf, size_t bytes, struct pprf_family family);

/** Convert a version 2 file to a version 1 image in a new block, which the caller wipes and frees.
 * ref_decode must still validate the image, which may have a depth beyond version 1's limit.
 * @param[in]  buf    the file; each byte is read once.
 * @param[in]  suites the accepted suites: PPRF_SUITE_BIT of each.
 * @param[out] image  NULL on error.
 * @retval PPRF_OK         family and image are set.
 * @retval PPRF_ERR_FORMAT not a version 2 file, a wrong digest, or a salt for a suite that has
 *                         none.
 * @retval PPRF_ERR_SUITE  the suite is not accepted.
 * @retval PPRF_ERR_NOMEM  no memory, or 2^32 nodes or more.
 * @retval an error of prg_digest. */
int ref_from_version2(const uint8_t *buf, size_t len, uint64_t suites, uint8_t **image,
                      size_t *bytes, struct pprf_family *family);
#endif

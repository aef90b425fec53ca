/* SPDX-License-Identifier: Apache-2.0 */
/** @file version2.h
 * Version 2 of the key file, said with version 1 (codec.h): between the depth and the records it has
 * 20 bytes more, and its own digest.  docs/key-file.md has both. */
#ifndef REF_VERSION2_H
#define REF_VERSION2_H

#include <stddef.h>
#include <stdint.h>

#include "prg.h"

/** Bytes that a file of version 2 has more than the same nodes in version 1. */
#define VERSION2_MORE_BYTES 20

/** Whether a file begins as one of version 1 or 2 does, whatever the suite, which it names. */
int ref_file_begins(const uint8_t *buf, size_t len, unsigned *suite, unsigned *version);

/** Make a file of version 2 in place, of bytes - 20 bytes of version 1 that lie from buf + 20 on; zeros on
 * error.
 * @retval PPRF_OK or an error of prg_digest. */
int ref_to_version2(uint8_t *buf, size_t bytes, struct pprf_family family);

/** The other way round, in a block of its own: the caller wipes its *bytes bytes and frees it.  It is
 * for ref_decode to check that these are a file of version 1, except for a depth that version 1 does not have.
 * @param[in]  buf    the file; each byte is read once.
 * @param[in]  suites the suites that are taken, PPRF_SUITE_BIT of each.
 * @param[out] image  NULL on error.
 * @retval PPRF_OK         family and image are set.
 * @retval PPRF_ERR_FORMAT it is not one of version 2, or has another digest, or a salt that its suite
 *                         has not.
 * @retval PPRF_ERR_SUITE  its suite is none of these.
 * @retval PPRF_ERR_NOMEM  no memory, or 2^32 nodes or more.
 * @retval an error of prg_digest. */
int ref_from_version2(const uint8_t *buf, size_t len, uint64_t suites, uint8_t **image,
                      size_t *bytes, struct pprf_family *family);
#endif

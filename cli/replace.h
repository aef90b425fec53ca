/* SPDX-License-Identifier: Apache-2.0 */
/** @file replace.h
 * Creates key files, or replaces them as a whole and overwrites the old content. As in keyfile.h,
 * each function reports its failure on standard error and returns an exit status. */
#ifndef PPRF_REPLACE_H
#define PPRF_REPLACE_H

#include "keyfile.h"

/** Replace the file: write and sync a new file, exchange the two names, overwrite the old bytes,
 * unlock.  On STATUS_FAILED the old file is unchanged, unless the message says that the directory
 * could not be synced.
 * @param keep_mode the new file gets the old one's permissions and owner where possible; without
 *                  it, mode 0600. */
int keyfile_replace(struct keyfile *f, const uint8_t *bytes, size_t len, bool keep_mode);

/** Create a file with mode 0600.
 * @param force  replace an existing file, which is otherwise STATUS_FAILED.
 * @param source a key file that is never replaced, also if another process punctured it since it was read;
 *               or NULL. */
int keyfile_create(const char *path, const uint8_t *bytes, size_t len, bool force,
                   const struct keyfile *source);

#endif

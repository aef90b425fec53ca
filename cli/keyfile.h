/* SPDX-License-Identifier: Apache-2.0 */
/** @file keyfile.h
 * Key files on disk: read under a lock, replaced as a whole, their old content overwritten.
 *
 * Readers and writers lock the file itself (flock), and make sure afterwards that the path still
 * names the file they locked: a writer renames a new file over it.  So writers follow each other,
 * each on the result of the one before, and nobody reads a file while its old content is wiped.
 *
 * Every function reports its failure on standard error and returns an exit status (cli.h). */
#ifndef PPRF_KEYFILE_H
#define PPRF_KEYFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/** An open, locked key file. */
struct keyfile {
  const char *path; /* as the user wrote it, for messages */
  char *real;       /* the path with all symbolic links resolved */
  const char *base; /* its last component */
  int dir;          /* the directory that holds it */
  int fd;           /* the locked file */
  struct stat stat;
  uint8_t *bytes; /* its content, from secret_alloc; NULL until keyfile_read */
  size_t len;
};

/** Lock the file at path for reading, or for keyfile_replace; symbolic links are followed. */
int keyfile_open(struct keyfile *f, const char *path, bool for_writing);

/** Read it into f->bytes.  The header tells how long the file must be, before memory is taken. */
int keyfile_read(struct keyfile *f);

/** Unlock a file that is not needed any more; its content in memory stays. */
void keyfile_unlock(struct keyfile *f);

/** Put new content in its place: a new file, on disk before it is renamed over the old, whose
 * bytes are then overwritten; then unlock.  On STATUS_FAILED the old file is as it was, unless the
 * message says that the directory could not be synced.
 * @param keep_mode the new file gets the old one's permissions and owner where possible; without
 *                  it, mode 0600. */
int keyfile_replace(struct keyfile *f, const uint8_t *bytes, size_t len, bool keep_mode);

/** Wipe the content in memory, unlock, close. */
void keyfile_close(struct keyfile *f);

/** Create a file with mode 0600.
 * @param force replace one that exists; without it that is STATUS_FAILED. */
int keyfile_create(const char *path, const uint8_t *bytes, size_t len, bool force);

#endif

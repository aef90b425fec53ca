/* SPDX-License-Identifier: Apache-2.0 */
/** @file keyfile.h
 * Key files on disk, read under a lock.  replace.h replaces them as a whole.
 *
 * Readers and writers lock the file itself (flock) and then check that the path still names the
 * locked file, because a writer replaces it with a new one.  So each writer starts from the result
 * of the previous one, and no reader sees a file whose content is being overwritten.
 *
 * A writer's temporary file beside the key is named .pprf-<16 hexadecimal digits>.tmp and locked.
 * It is the new key before the exchange of names and the old key after it.  An unlocked one was
 * left by a killed command: opening a key for reading warns about it, and every writer erases it
 * (leftovers.h).
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

/** Read it into f->bytes.  The header's length is checked before memory is allocated. */
int keyfile_read(struct keyfile *f);

/** Header length of a key file, from its first 8 bytes. */
size_t keyfile_header_bytes(const uint8_t *file);
/** Length of each node's seed, from the same bytes. */
size_t keyfile_seed_bytes(const uint8_t *file);

/** Unlock the file; its content stays in memory. */
void keyfile_unlock(struct keyfile *f);

/** Wipe the content in memory, unlock, close. */
void keyfile_close(struct keyfile *f);

/** Open the directory of path and point *base at the last component; -1 with errno set. */
int keyfile_directory(char *path, const char **base, int flags);

#endif

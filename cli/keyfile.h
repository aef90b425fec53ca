/* SPDX-License-Identifier: Apache-2.0 */
/** @file keyfile.h
 * Key files on disk: read under a lock (keyfile.c); replaced as a whole, with the old content
 * overwritten (replace.c).
 *
 * Readers and writers lock the file itself (flock) and then check that the path still names the
 * locked file, because a writer replaces it with a new one.  So each writer starts from the result
 * of the previous one, and no reader sees a file whose content is being overwritten.
 *
 * A writer's temporary file beside the key is named .pprf-<16 hexadecimal digits>.tmp and locked.
 * It is the new key before the exchange of names and the old key after it.  An unlocked one was
 * left by a killed command: opening a key for reading warns about it, and every writer erases it.
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

/** Replace the file: write and sync a new file, exchange the two names, overwrite the old bytes,
 * unlock.  On STATUS_FAILED the old file is unchanged, unless the message says that the directory
 * could not be synced.
 * @param keep_mode the new file gets the old one's permissions and owner where possible; without
 *                  it, mode 0600. */
int keyfile_replace(struct keyfile *f, const uint8_t *bytes, size_t len, bool keep_mode);

/** Wipe the content in memory, unlock, close. */
void keyfile_close(struct keyfile *f);

/** Create a file with mode 0600.
 * @param force replace an existing file, which is otherwise STATUS_FAILED. */
int keyfile_create(const char *path, const uint8_t *bytes, size_t len, bool force);

/** Whether the path's last component is a temporary name, whose file a writer would erase. */
bool keyfile_reserved(const char *path);

/* ---- between keyfile.c and replace.c ---- */

/** flock, repeated after signals. @return false with errno set. */
bool keyfile_lock(int fd, int how);

bool keyfile_same(const struct stat *a, const struct stat *b);

/** Open the directory of path and point *base at the last component; -1 with errno set. */
int keyfile_directory(char *path, const char **base, int flags);

/** Erase the files that killed commands left in a directory, or only warn about them if !erase.
 * Considers files of this user and of the key's owner; warns about those it cannot erase.
 * @param key the key file, which the caller has locked, or NULL. */
void keyfile_sweep(int dir, const char *path, const struct stat *key, bool erase);

#endif

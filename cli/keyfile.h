/* SPDX-License-Identifier: Apache-2.0 */
/** @file keyfile.h
 * Key files on disk: read under a lock (keyfile.c), replaced as a whole, their old content
 * overwritten (replace.c).
 *
 * Readers and writers lock the file itself (flock), and make sure afterwards that the path still
 * names the file they locked: a writer puts a new file in its place.  So writers follow each other,
 * each on the result of the one before, and nobody reads a file while its old content is wiped.
 *
 * A writer's other file beside the key, the new one before and the old one after they exchange their
 * names, is called .pprf-<16 hexadecimal digits>.tmp and locked.  One that is not locked was left by
 * a command that was killed: opening a key for reading warns of it, every writer erases it.
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

/** Bytes before the records of a key file, of which the first 8 are given. */
size_t keyfile_header_bytes(const uint8_t *file);
/** The same of the seed of each node. */
size_t keyfile_seed_bytes(const uint8_t *file);

/** Unlock a file that is not needed any more; its content in memory stays. */
void keyfile_unlock(struct keyfile *f);

/** Put new content in its place: a new file, on disk before it exchanges its name with the old, whose
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

/** Whether the last component of a path is a name of the files that writers erase. */
bool keyfile_reserved(const char *path);

/* ---- between keyfile.c and replace.c ---- */

/** flock, whatever signals come. @return false with errno set. */
bool keyfile_lock(int fd, int how);

bool keyfile_same(const struct stat *a, const struct stat *b);

/** Open the directory of path and point *base at the last component; -1 with errno set. */
int keyfile_directory(char *path, const char **base, int flags);

/** Erase (or, if not, warn of) what killed commands left in a directory, in files of this user's or
 * of the key's owner.  What cannot be erased is warned of.
 * @param key the key file, which the caller has locked, or NULL. */
void keyfile_sweep(int dir, const char *path, const struct stat *key, bool erase);

#endif

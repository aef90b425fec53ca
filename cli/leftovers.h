/* SPDX-License-Identifier: Apache-2.0 */
/** @file leftovers.h
 * What killed commands leave beside a key: how it is recognized, and erased. */
#ifndef PPRF_LEFTOVERS_H
#define PPRF_LEFTOVERS_H

#include <stdbool.h>
#include <sys/stat.h>

/** flock, repeated after signals. @return false with errno set. */
bool keyfile_lock(int fd, int how);

/** Whether both are of one file. */
bool keyfile_same(const struct stat *a, const struct stat *b);

/** Whether the path's last component is a temporary name, whose file a writer would erase. */
bool keyfile_reserved(const char *path);

/** Overwrite a whole file on disk; false with errno set. */
bool keyfile_overwrite(int fd);

/** Erase the files that killed commands left in a directory, or only warn about them if !erase.
 * Considers files of this user and of the key's owner; warns about those it cannot erase.
 * @param key the key file, which the caller has locked, or NULL. */
void keyfile_sweep(int dir, const char *path, const struct stat *key, bool erase);

#endif

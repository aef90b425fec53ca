/* SPDX-License-Identifier: Apache-2.0 */
#include "leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"

bool keyfile_lock(int fd, int how)
{
  int r;
  do
    r = flock(fd, how);
  while (r != 0 && errno == EINTR);
  return r == 0;
}

bool keyfile_same(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool keyfile_overwrite(int fd)
{
  static const uint8_t zero[1 << 14];
  struct stat s;
  if (fstat(fd, &s) != 0)
    return false;
  int err = 0;
  for (off_t at = 0; err == 0 && at < s.st_size;) {
    off_t left = s.st_size - at;
    ssize_t n = pwrite(fd, zero, left < (off_t)sizeof zero ? (size_t)left : sizeof zero, at);
    if (n >= 0)
      at += n;
    else if (errno != EINTR)
      err = errno;
  }
  bool synced = fsync(fd) == 0; /* sync what was written, even after an error */
  if (err != 0)
    errno = err;
  return err == 0 && synced;
}

bool keyfile_reserved(const char *path)
{
  const char *slash = strrchr(path, '/'), *name = slash == NULL ? path : slash + 1;
  return strlen(name) == 26 && strncmp(name, ".pprf-", 6) == 0 &&
         strspn(name + 6, "0123456789abcdef") == 16 && strcmp(name + 22, ".tmp") == 0;
}

/* FUSE gives this name to an open file that loses its own; a crash leaves it behind. */
static bool is_hidden(const char *name)
{
  return strncmp(name, ".fuse_hidden", 12) == 0;
}

static bool begins_as_key(int fd)
{
  char start[7];
  return pread(fd, start, sizeof start, 0) == sizeof start &&
         memcmp(start, "PPRFKEY", sizeof start) == 0;
}

/* Open and lock a file that no running command holds.
 * @return -1 if there is none or it is not ours; -2 if it cannot be opened. */
static int open_abandoned(int dir, const char *name, const struct stat *key, bool erase,
                          struct stat *s)
{
  struct stat named;
  if (fstatat(dir, name, s, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(s->st_mode) ||
      (s->st_uid != geteuid() && (key == NULL || s->st_uid != key->st_uid)))
    return -1;
  int fd = openat(dir, name, (erase ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return errno == ENOENT ? -1 : -2;
  /* a second name of the key itself is not abandoned: we hold its lock */
  if (fstat(fd, s) == 0 && S_ISREG(s->st_mode) &&
      ((key != NULL && keyfile_same(s, key)) ||
       keyfile_lock(fd, (erase ? LOCK_EX : LOCK_SH) | LOCK_NB)) &&
      (!is_hidden(name) || begins_as_key(fd)) && fstat(fd, s) == 0 &&
      fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && keyfile_same(s, &named))
    return fd;
  (void)close(fd);
  return -1;
}

static DIR *open_list(int dir)
{
  int list = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *d = list < 0 ? NULL : fdopendir(list);
  if (d == NULL && list >= 0)
    (void)close(list);
  return d;
}

/* The next name that may be a killed command's, or NULL. */
static const char *next_left(DIR *d)
{
  struct dirent *e;
  do
    e = readdir(d);
  while (e != NULL && !keyfile_reserved(e->d_name) && !is_hidden(e->d_name));
  return e == NULL ? NULL : e->d_name;
}

/* Whether a file has a name that is not a killed command's.  One file may have several of these: a
 * temporary name, and FUSE's. */
static bool has_other_name(int dir, const struct stat *s)
{
  nlink_t left = 0;
  struct stat named;
  DIR *d = s->st_nlink > 1 ? open_list(dir) : NULL;
  if (d == NULL)
    return s->st_nlink > 1;
  for (const char *name; (name = next_left(d)) != NULL;)
    left += fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && keyfile_same(&named, s);
  (void)closedir(d);
  return s->st_nlink > left;
}

/* Only unlink a file that has another name: it may be the key itself. */
static bool erase_abandoned(int dir, const char *name, int fd, const struct stat *s)
{
  return (has_other_name(dir, s) || keyfile_overwrite(fd)) && unlinkat(dir, name, 0) == 0;
}

/* Handle one file with a temporary name; *synced: the directory is synced. */
static void sweep_one(int dir, const char *path, const char *name, const struct stat *key,
                      bool erase, bool *synced)
{
  struct stat s;
  int fd = open_abandoned(dir, name, key, erase, &s);
  if (fd == -1)
    return;
  if (!erase) {
    warn("%s: a killed command left an older key beside it, %s; the next punct or setup erases it",
         path, name);
  } else {
    /* Sync first: after a crash the key's name must not lead to the file that is wiped here. */
    *synced = *synced || (fd >= 0 && fsync(dir) == 0);
    if (!*synced || fd < 0 || !erase_abandoned(dir, name, fd, &s))
      warn("%s: a killed command left a key beside it, %s, which cannot be erased: %s", path, name,
           strerror(errno));
  }
  if (fd >= 0)
    (void)close(fd);
}

void keyfile_sweep(int dir, const char *path, const struct stat *key, bool erase)
{
  DIR *d = open_list(dir);
  bool synced = false;
  if (d == NULL)
    return; /* the directory is not readable */
  for (const char *name; (name = next_left(d)) != NULL;)
    sweep_one(dir, path, name, key, erase, &synced);
  (void)closedir(d);
  if (synced)
    (void)fsync(dir); /* a name that reappears after a crash has overwritten bytes */
}

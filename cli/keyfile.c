/* SPDX-License-Identifier: Apache-2.0 */
#include "keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "cli.h"
#include "common/options.h"
#include "leftovers.h"

int keyfile_directory(char *path, const char **base, int flags)
{
  char *slash = strrchr(path, '/');
  *base = slash == NULL ? path : slash + 1;
  if (slash == NULL)
    return open(".", flags | O_DIRECTORY | O_CLOEXEC);
  if (slash == path)
    return open("/", flags | O_DIRECTORY | O_CLOEXEC);
  *slash = '\0';
  int fd = open(path, flags | O_DIRECTORY | O_CLOEXEC);
  *slash = '/';
  return fd;
}

/* Refuse a path that is not a regular file before opening it: opening a FIFO could block, and
 * opening a device could have side effects. */
static int look(const char *path)
{
  struct stat s;
  if (stat(path, &s) != 0) {
    int err = errno;
    if (err == ENOENT && lstat(path, &s) == 0)
      return complain(STATUS_FILE, "%s: a dangling symbolic link", path);
    return complain(STATUS_FILE, "%s: %s", path, strerror(err));
  }
  return S_ISREG(s.st_mode) ? STATUS_DONE : complain(STATUS_FILE, "%s: not a regular file", path);
}

/* Try once.  Sets *again if the path names another file by the time we hold the lock. */
static int open_once(struct keyfile *f, bool for_writing, bool *again)
{
  int status = look(f->path);
  if (status != STATUS_DONE)
    return status;
  f->real = realpath(f->path, NULL);
  if (f->real == NULL) /* an open file without a name, for instance /dev/stdin */
    return complain(STATUS_FILE, "%s: %s", f->path,
                    errno == ENOENT ? "no directory has a name for it" : strerror(errno));
  if (for_writing && keyfile_reserved(f->real))
    return complain(STATUS_USAGE, "FILE '%s': pprf erases files with such names", f->path);
  f->dir = keyfile_directory(f->real, &f->base, for_writing ? O_RDONLY : O_PATH);
  if (f->dir < 0)
    return complain(STATUS_FILE, "%s: its directory: %s", f->path, strerror(errno));
  /* O_NONBLOCK: the file may have become a FIFO */
  f->fd = openat(f->dir, f->base,
                 (for_writing ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (f->fd < 0) {
    *again = errno == ENOENT || errno == ELOOP; /* changed since look(), which will say how */
    return *again ? STATUS_FILE : complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  }
  struct stat named;
  if (fstat(f->fd, &f->stat) != 0)
    return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  if (!S_ISREG(f->stat.st_mode))
    return complain(STATUS_FILE, "%s: not a regular file", f->path);
  if (!keyfile_lock(f->fd, for_writing ? LOCK_EX : LOCK_SH))
    return complain(STATUS_FAILED, "%s: cannot lock it: %s", f->path, strerror(errno));
  *again =
    fstatat(f->dir, f->base, &named, AT_SYMLINK_NOFOLLOW) != 0 || !keyfile_same(&f->stat, &named);
  if (!*again && fstat(f->fd, &f->stat) != 0) /* the size, now that it is locked */
    return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  return STATUS_DONE;
}

int keyfile_open(struct keyfile *f, const char *path, bool for_writing)
{
  for (;;) {
    bool again = false;
    *f = (struct keyfile){.path = path, .dir = -1, .fd = -1};
    int status = open_once(f, for_writing, &again);
    if (status == STATUS_DONE && !again) {
      keyfile_sweep(f->dir, path, &f->stat, for_writing);
      return STATUS_DONE;
    }
    keyfile_close(f);
    if (!again)
      return status;
  }
}

/* Read exactly len bytes at offset.  On failure false with errno set, to 0 if the file is too
 * short. */
static bool read_all(int fd, uint8_t *bytes, size_t len, off_t offset)
{
  for (size_t got = 0; got < len;) {
    ssize_t n = pread(fd, bytes + got, len - got, offset + (off_t)got);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      errno = n == 0 ? 0 : errno;
      return false;
    }
    got += (size_t)n;
  }
  return true;
}

size_t keyfile_header_bytes(const uint8_t *file)
{
  return file[7] == 2 ? 36 : 16;
}

size_t keyfile_seed_bytes(const uint8_t *file)
{
  return file[7] == 2 && file[8] == PPRF_MLS_SHA256 ? 32 : PPRF_SEED_BYTES;
}

/* The header bytes that determine a file's length. */
enum { START_BYTES = 20 };

/* Whether this version 2 file holds a key that must be written as version 1. */
static bool is_needless_version2(const uint8_t start[START_BYTES])
{
  return memcmp(start, "PPRFKEY\2", 8) == 0 && !pprf_in_version2(start[8], start[9]);
}

/* Whether this version does not know the suite.  Its seed length is then unknown too, and the
 * library decides from the header alone. */
static bool of_unknown_suite(const uint8_t start[START_BYTES])
{
  return start[7] == 2 && pprf_suite_name(start[8]) == NULL;
}
enum { UNKNOWN_BYTES = 68 };

/* The file length these bytes require (docs/key-file.md); 0 if no key begins like this, UINT64_MAX
 * if the length overflows. */
static uint64_t length_of(const uint8_t start[START_BYTES])
{
  unsigned depth = start[9];
  uint64_t nodes = 0;
  for (unsigned i = start[7] == 2 ? 8 : 4; i-- > 0;)
    nodes = nodes << 8 | start[12 + i];
  if (memcmp(start, "PPRFKEY", 7) != 0 || depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX ||
      nodes > UINT64_C(1) << (depth - 1))
    return 0;
  if (nodes > UINT64_MAX >> 8)
    return UINT64_MAX;
  return keyfile_header_bytes(start) + nodes * (depth / 8 + 1 + keyfile_seed_bytes(start)) + 32;
}

int keyfile_read(struct keyfile *f)
{
  uint8_t start[START_BYTES];
  uint64_t size = (uint64_t)f->stat.st_size, expected;
  if (!read_all(f->fd, start, sizeof start, 0)) {
    if (errno != 0)
      return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
    return complain(STATUS_FILE, "%s: not a key file: only %" PRIu64 " bytes", f->path, size);
  }
  if (is_needless_version2(start))
    return complain(STATUS_FILE, "%s: a file of version 2 for a key that needs version 1", f->path);
  expected = length_of(start);
  if (expected == 0)
    return complain(STATUS_FILE, "%s: not a key file", f->path);
  if (of_unknown_suite(start) && size >= UNKNOWN_BYTES)
    size = UNKNOWN_BYTES; /* the library looks no further */
  else if (expected != size || (size_t)size != size)
    return complain(STATUS_FILE, "%s: damaged: %" PRIu64 " bytes, but its header requires %" PRIu64,
                    f->path, size, expected);
  f->bytes = secret_alloc((size_t)size);
  if (f->bytes == NULL)
    return complain(STATUS_FAILED, "%s: no memory for %" PRIu64 " bytes", f->path, size);
  f->len = (size_t)size;
  if (!read_all(f->fd, f->bytes, f->len, 0))
    return complain(STATUS_FILE, "%s: %s", f->path,
                    errno != 0 ? strerror(errno) : "it was shortened while it was being read");
  return STATUS_DONE;
}

void keyfile_unlock(struct keyfile *f)
{
  if (f->fd >= 0)
    (void)close(f->fd); /* the file was only read, or is synced and replaced: nothing to lose */
  if (f->dir >= 0)
    (void)close(f->dir);
  f->fd = f->dir = -1;
}

void keyfile_close(struct keyfile *f)
{
  keyfile_unlock(f);
  secret_free(f->bytes, f->len);
  f->bytes = NULL;
  free(f->real);
  f->real = NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "keyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli.h"

/* ---- open, lock, read ---- */

static int lock(int fd, int how)
{
  int r;
  do
    r = flock(fd, how);
  while (r != 0 && errno == EINTR);
  return r;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Open the directory of path and point *base at the last component; -1 with errno set. */
static int open_directory(char *path, const char **base, int flags)
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

/* One attempt; *again if the path names another file by the time the lock is ours. */
static int open_once(struct keyfile *f, bool for_writing, bool *again)
{
  f->real = realpath(f->path, NULL);
  if (f->real == NULL)
    return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  f->dir = open_directory(f->real, &f->base, for_writing ? O_RDONLY : O_PATH);
  if (f->dir < 0)
    return complain(STATUS_FILE, "%s: its directory: %s", f->path, strerror(errno));
  /* O_NONBLOCK: opening a FIFO must not wait */
  f->fd = openat(f->dir, f->base,
                 (for_writing ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (f->fd < 0) {
    *again = errno == ENOENT || errno == ELOOP; /* changed since realpath, which tells why */
    return *again ? STATUS_FILE : complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  }
  struct stat named;
  if (fstat(f->fd, &f->stat) != 0)
    return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  if (!S_ISREG(f->stat.st_mode))
    return complain(STATUS_FILE, "%s: not a regular file", f->path);
  if (lock(f->fd, for_writing ? LOCK_EX : LOCK_SH) != 0)
    return complain(STATUS_FAILED, "%s: cannot lock it: %s", f->path, strerror(errno));
  *again = fstatat(f->dir, f->base, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
           !same_file(&f->stat, &named);
  if (!*again && fstat(f->fd, &f->stat) != 0) /* the size it has under the lock */
    return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
  return STATUS_DONE;
}

int keyfile_open(struct keyfile *f, const char *path, bool for_writing)
{
  for (;;) {
    bool again = false;
    *f = (struct keyfile){.path = path, .dir = -1, .fd = -1};
    int status = open_once(f, for_writing, &again);
    if (status == STATUS_DONE && !again)
      return STATUS_DONE;
    keyfile_close(f);
    if (!again)
      return status;
  }
}

/* Read exactly len bytes at offset; false with errno set, 0 for a file that ends too early. */
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

/* The length that a header asks for (docs/key-file.md); 0 if no key begins so. */
static uint64_t length_of(const uint8_t header[16])
{
  unsigned depth = header[9];
  uint64_t nodes = 0;
  for (unsigned i = 4; i-- > 0;)
    nodes = nodes << 8 | header[12 + i];
  if (memcmp(header, "PPRFKEY", 7) != 0 || depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX ||
      nodes > UINT64_C(1) << (depth - 1))
    return 0;
  return 48 + nodes * (depth / 8 + 1 + PPRF_SEED_BYTES);
}

int keyfile_read(struct keyfile *f)
{
  uint8_t header[16];
  uint64_t size = (uint64_t)f->stat.st_size, expected;
  if (!read_all(f->fd, header, sizeof header, 0)) {
    if (errno != 0)
      return complain(STATUS_FILE, "%s: %s", f->path, strerror(errno));
    return complain(STATUS_FILE, "%s: not a key file: only %" PRIu64 " bytes", f->path, size);
  }
  expected = length_of(header);
  if (expected == 0)
    return complain(STATUS_FILE, "%s: not a key file", f->path);
  if (expected != size || (size_t)size != size)
    return complain(STATUS_FILE,
                    "%s: damaged: %" PRIu64 " bytes, where its header asks for %" PRIu64, f->path,
                    size, expected);
  f->bytes = secret_alloc((size_t)size);
  if (f->bytes == NULL)
    return complain(STATUS_FAILED, "%s: no memory for %" PRIu64 " bytes", f->path, size);
  f->len = (size_t)size;
  if (!read_all(f->fd, f->bytes, f->len, 0))
    return complain(STATUS_FILE, "%s: %s", f->path,
                    errno != 0 ? strerror(errno) : "it became shorter while it was read");
  return STATUS_DONE;
}

void keyfile_unlock(struct keyfile *f)
{
  if (f->fd >= 0)
    (void)close(f->fd); /* read, or synced and replaced: nothing is lost here */
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

/* ---- write ---- */

enum { STATUS_EXISTS = -1 }; /* of write_new: the name is taken, and not reported yet */

/* Overwrite the first len bytes of a file on disk; false with errno set. */
static bool overwrite(int fd, uint64_t len)
{
  static const uint8_t zero[4096];
  bool done = lseek(fd, 0, SEEK_SET) == 0;
  for (uint64_t at = 0; done && at < len; at += sizeof zero)
    done = write_all(fd, zero, len - at < sizeof zero ? (size_t)(len - at) : sizeof zero);
  int saved = errno;
  bool synced = fsync(fd) == 0; /* as far as it came */
  if (!done)
    errno = saved;
  return done && synced;
}

/* A file that is complete before it gets its name. */
struct temporary {
  int dir, fd;
  char name[64]; /* empty while it has none (O_TMPFILE) */
};

static bool random_name(struct temporary *t)
{
  uint64_t r;
  if (getrandom(&r, sizeof r, 0) != sizeof r)
    return false;
  snprintf(t->name, sizeof t->name, ".pprf-%016" PRIx64 ".tmp", r);
  return true;
}

/* A file without a name leaves nothing behind when the machine stops; where O_TMPFILE or /proc,
 * which names it later, is missing, it gets a random name. */
static bool temporary_open(struct temporary *t, int dir)
{
  t->dir = dir;
  t->name[0] = '\0';
  t->fd = access("/proc/self/fd", F_OK) != 0
            ? -1
            : openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (t->fd >= 0)
    return true;
  if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
    return false;
  if (!random_name(t))
    return false;
  t->fd = openat(dir, t->name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
  if (t->fd < 0)
    t->name[0] = '\0';
  return t->fd >= 0;
}

static bool link_unnamed(const struct temporary *t, const char *name)
{
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
  return linkat(AT_FDCWD, self, t->dir, name, AT_SYMLINK_FOLLOW) == 0;
}

/* Give the file its name, which must be free unless replace. */
static bool temporary_commit(struct temporary *t, const char *base, bool replace)
{
  if (t->name[0] == '\0' && !replace)
    return link_unnamed(t, base);
  if (t->name[0] == '\0' && (!random_name(t) || !link_unnamed(t, t->name))) {
    t->name[0] = '\0';
    return false;
  }
  if (replace ? renameat(t->dir, t->name, t->dir, base) != 0
              : linkat(t->dir, t->name, t->dir, base, 0) != 0)
    return false;
  if (!replace)
    (void)unlinkat(t->dir, t->name, 0); /* the same file under its second name */
  t->name[0] = '\0';
  return true;
}

/* Remove what was not committed.  Its bytes are overwritten first: they are a key. */
static void temporary_close(struct temporary *t, bool committed, size_t len)
{
  int saved = errno;
  if (!committed)
    (void)overwrite(t->fd, len); /* what could not be written needs no overwriting */
  if (t->name[0] != '\0')
    (void)unlinkat(t->dir, t->name, 0);
  (void)close(t->fd); /* fsync reported every error of the content */
  errno = saved;
}

/* Owner first: permissions for the wrong group would open the file to it. */
static void copy_owner_and_mode(const struct keyfile *f, int fd)
{
  struct stat new;
  mode_t mode = f->stat.st_mode & 0777;
  if (fstat(fd, &new) != 0 ||
      ((new.st_uid != f->stat.st_uid || new.st_gid != f->stat.st_gid) &&
       fchown(fd, f->stat.st_uid, f->stat.st_gid) != 0)) {
    complain(STATUS_DONE, "%s: warning: its owner changes: %s", f->path, strerror(errno));
    mode = 0600;
  }
  if (fchmod(fd, mode) != 0)
    complain(STATUS_DONE, "%s: warning: its permissions become 0600: %s", f->path,
             strerror(errno));
}

/* Write a new file and give it its name; old, if not NULL, is what it replaces. */
static int write_new(int dir, const char *base, const char *path, const uint8_t *bytes, size_t len,
                     const struct keyfile *old, bool keep_mode)
{
  struct temporary t;
  bool committed = false;
  int status = STATUS_DONE;
  if (!temporary_open(&t, dir))
    return complain(STATUS_FAILED, "%s: cannot write to its directory: %s", path, strerror(errno));
  if (old != NULL && keep_mode)
    copy_owner_and_mode(old, t.fd);
  if (!write_all(t.fd, bytes, len) || fsync(t.fd) != 0)
    status = complain(STATUS_FAILED, "%s: cannot write it: %s", path, strerror(errno));
  else if (!temporary_commit(&t, base, old != NULL))
    status = errno == EEXIST && old == NULL
               ? STATUS_EXISTS
               : complain(STATUS_FAILED, "%s: cannot name it: %s", path, strerror(errno));
  else
    committed = true;
  temporary_close(&t, committed, len);
  if (committed && fsync(dir) != 0)
    status = complain(STATUS_FAILED,
                      "%s: written, but a crash may undo it: cannot sync its directory: %s", path,
                      strerror(errno));
  return status;
}

/* The old file is a key that computes what was punctured since. */
static void wipe_old(const struct keyfile *f)
{
  struct stat now;
  if (fstat(f->fd, &now) == 0 && now.st_nlink > 0) {
    complain(STATUS_DONE, "%s: warning: the old key still has %ju hard link%s elsewhere", f->path,
             (uintmax_t)now.st_nlink, now.st_nlink == 1 ? "" : "s");
    return;
  }
  if (!overwrite(f->fd, (uint64_t)f->stat.st_size))
    complain(STATUS_DONE, "%s: warning: the old key's bytes are not overwritten: %s", f->path,
             strerror(errno));
}

/* Signals that stop a program wait while files change their names. */
static void hold_signals(sigset_t *before)
{
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGQUIT);
  sigaddset(&set, SIGTERM);
  sigprocmask(SIG_BLOCK, &set, before);
}

int keyfile_replace(struct keyfile *f, const uint8_t *bytes, size_t len, bool keep_mode)
{
  sigset_t before;
  struct stat named;
  hold_signals(&before);
  int status = STATUS_DONE;
  if (fstatat(f->dir, f->base, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
      !same_file(&f->stat, &named)) /* by a program that knows no lock */
    status = complain(STATUS_FAILED, "%s: another program replaced it", f->path);
  else
    status = write_new(f->dir, f->base, f->path, bytes, len, f, keep_mode);
  if (status == STATUS_DONE) {
    wipe_old(f);
    keyfile_unlock(f);
  }
  sigprocmask(SIG_SETMASK, &before, NULL);
  return status;
}

int keyfile_create(const char *path, const uint8_t *bytes, size_t len, bool force)
{
  char *copy = strdup(path);
  const char *base = "";
  if (copy == NULL)
    return complain(STATUS_FAILED, "%s: %s", path, strerror(errno));
  int status, dir = open_directory(copy, &base, O_RDONLY);
  if (dir < 0) {
    status = complain(STATUS_FAILED, "%s: its directory: %s", path, strerror(errno));
  } else if (*base == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0) {
    status = complain(STATUS_USAGE, "FILE '%s': a directory, not a file", path);
  } else {
    sigset_t before;
    hold_signals(&before);
    status = write_new(dir, base, path, bytes, len, NULL, false);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (status == STATUS_EXISTS && !force) {
      status = complain(STATUS_FAILED, "%s: exists already (--force overwrites it)", path);
    } else if (status == STATUS_EXISTS) {
      struct keyfile old;
      status = keyfile_open(&old, path, true);
      if (status == STATUS_DONE) {
        status = keyfile_replace(&old, bytes, len, false);
        keyfile_close(&old);
      }
    }
  }
  if (dir >= 0)
    (void)close(dir);
  free(copy);
  return status;
}

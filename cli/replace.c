/* SPDX-License-Identifier: Apache-2.0 */
/* Create a key file, or replace it.  On disk there is, in turn:
 *
 *   1. the old key under its name, and a nameless new file (O_TMPFILE), written and synced;
 *   2. the new file, locked, under a temporary name (which it may have from the start);
 *   3. the two files with their names exchanged atomically, and the directory synced;
 *   4. the old file, now under the temporary name, overwritten, synced, then removed.
 *
 * So a kill loses neither the key nor a puncture, and the next writer finds whatever it leaves.  A
 * step that the file system or a container's system call filter does not support is replaced by
 * another.  Support is probed on the new file, so a probe cannot harm the old one. */
#include "replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli.h"
#include "filesystem.h"
#include "leftovers.h"

/* Missing in some libc headers. */
#ifndef RENAME_EXCHANGE
#define RENAME_NOREPLACE 1u
#define RENAME_EXCHANGE 2u
#endif

#define ACL "system.posix_acl_access"

enum { STATUS_EXISTS = -1 }; /* of create_once: the name is taken (not reported) */

/* ---- the new file ---- */

/* The temporary file beside the key: the new key until the exchange, then the old one. */
struct temporary {
  int dir, fd;
  char name[32]; /* empty while it has none (O_TMPFILE) */
};

/* The clock is good enough where random bytes are refused, since a taken name is never used. */
static void random_name(char name[32])
{
  uint64_t r;
  if (getrandom(&r, sizeof r, 0) != sizeof r)
    r = now_ns() ^ (uint64_t)getpid() << 48;
  snprintf(name, 32, ".pprf-%016" PRIx64 ".tmp", r);
}

/* Lock the named file before it has content.  If another writer erases it first, retry. */
static bool open_named(struct temporary *t)
{
  struct stat s, named;
  for (;;) {
    random_name(t->name);
    t->fd = openat(t->dir, t->name, O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
    if (t->fd < 0)
      break;
    bool locked = keyfile_lock(t->fd, LOCK_EX);
    if (locked && fstat(t->fd, &s) == 0 &&
        fstatat(t->dir, t->name, &named, AT_SYMLINK_NOFOLLOW) == 0 && keyfile_same(&s, &named))
      return true;
    int err = errno;
    if (!locked)
      (void)unlinkat(t->dir, t->name, 0);
    (void)close(t->fd);
    errno = err;
    if (!locked)
      break;
  }
  t->fd = -1;
  t->name[0] = '\0';
  return false;
}

/* A nameless file leaves nothing behind if the command is killed.  Where O_TMPFILE, or /proc
 * (needed to name the file later), is missing or refused, the file has a temporary name from the
 * start. */
static bool temporary_open(struct temporary *t, int dir, bool named)
{
  *t = (struct temporary){.dir = dir, .fd = -1};
  if (named || access("/proc/self/fd", F_OK) != 0)
    return open_named(t);
  t->fd = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (t->fd < 0)
    return open_named(t);
  if (keyfile_lock(t->fd, LOCK_EX))
    return true;
  (void)close(t->fd);
  return false;
}

static bool link_unnamed(const struct temporary *t, const char *name)
{
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", t->fd);
  return linkat(AT_FDCWD, self, t->dir, name, AT_SYMLINK_FOLLOW) == 0;
}

static bool temporary_name(struct temporary *t)
{
  if (t->name[0] != '\0')
    return true;
  random_name(t->name);
  if (link_unnamed(t, t->name))
    return true;
  t->name[0] = '\0';
  return false;
}

/* Remove a new file.  Overwrite its bytes first: they are a key. */
static void temporary_abandon(struct temporary *t, const char *path)
{
  if (!keyfile_overwrite(t->fd) && t->name[0] != '\0')
    warn("%s: a new key remains beside it, %s, until a punct or setup can erase it: %s", path,
         t->name, strerror(errno));
  else if (t->name[0] != '\0' && unlinkat(t->dir, t->name, 0) != 0)
    warn("%s: an overwritten file remains beside it, %s: %s", path, t->name, strerror(errno));
  (void)close(t->fd);
}

/* ---- permissions ---- */

/* Copy the access control list, or remove one inherited from the directory.  If the list is lost,
 * returns the mode without the group bits, which held the list's mask. */
static mode_t copy_acl(const struct keyfile *f, int fd, mode_t mode)
{
  char acl[4096];
  ssize_t n = fgetxattr(f->fd, ACL, acl, sizeof acl);
  if (n < 0 && (errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ||
                (errno == EPERM && (mode & 070) == 0))) { /* filtered; a list grants nothing */
    (void)fremovexattr(fd, ACL);
    return mode;
  }
  if (n >= 0 && fsetxattr(fd, ACL, acl, (size_t)n, 0) == 0)
    return mode;
  warn("%s: its access control list is lost: %s", f->path, strerror(errno));
  (void)fremovexattr(fd, ACL);
  return mode & ~(mode_t)070;
}

/* Set the owner first: otherwise the permissions would briefly apply to the wrong group.  A change
 * of owner clears the set-id bits, as a write does. */
static void copy_owner_and_mode(const struct keyfile *f, int fd)
{
  struct stat new;
  mode_t mode = f->stat.st_mode & 07777;
  if (fstat(fd, &new) != 0 || ((new.st_uid != f->stat.st_uid || new.st_gid != f->stat.st_gid) &&
                               fchown(fd, f->stat.st_uid, f->stat.st_gid) != 0)) {
    warn("%s: its owner changes: %s", f->path, strerror(errno));
    mode = 0600;
    (void)fremovexattr(fd, ACL);
  } else {
    mode = copy_acl(f, fd, mode);
  }
  (void)fchmod(fd, mode);
  if (fstat(fd, &new) == 0 && (new.st_mode & 07777) != mode)
    warn("%s: its permissions become %04o", f->path, (unsigned)(new.st_mode & 07777));
}

/* A file system without permissions gives every file the same mode. */
static void set_private(int fd, const char *path, bool tell)
{
  struct stat s;
  (void)fchmod(fd, 0600);
  if (tell && fstat(fd, &s) == 0 && (s.st_mode & 077) != 0)
    warn("%s: its file system does not keep it from other users (mode %04o)", path,
         (unsigned)(s.st_mode & 07777));
}

/* Write and sync the new file; it gets the owner and mode of old, if not NULL. */
static int write_new(struct temporary *t, int dir, const char *path, const uint8_t *bytes,
                     size_t len, const struct keyfile *old, bool named)
{
  if (!temporary_open(t, dir, named))
    return complain(STATUS_FAILED, "%s: cannot write to its directory: %s", path, strerror(errno));
  set_private(t->fd, path, old == NULL);
  bool written = write_all(t->fd, bytes, len);
  int err = errno;
  if (written && old != NULL)
    copy_owner_and_mode(old, t->fd);
  if (written && fsync(t->fd) == 0)
    return STATUS_DONE;
  if (written)
    err = errno;
  temporary_abandon(t, path);
  return complain(STATUS_FAILED, "%s: cannot write it: %s", path, strerror(err));
}

/* ---- putting it in place ---- */

static bool named_so(int dir, const char *name, const struct keyfile *f)
{
  struct stat named;
  return fstatat(dir, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && keyfile_same(&f->stat, &named);
}

static bool exchange(int dir, const char *a, const char *b)
{
  return syscall(SYS_renameat2, dir, a, dir, b, RENAME_EXCHANGE) == 0;
}

/* With these arguments the kernel would report missing names; a filter refuses any arguments. */
static bool renameat2_is_filtered(void)
{
  int err = errno;
  bool same = syscall(SYS_renameat2, -1, "", -1, "", RENAME_EXCHANGE) != 0 && errno == err;
  errno = err;
  return same && err != ENOENT;
}

/* Whether a hard link leads to the same inode.  If not (sshfs), the next writer would take it for
 * an abandoned file and overwrite it.  Probes the new file, which may be overwritten.
 * @return false with errno 0 if not; false with another errno if the probe cannot be undone. */
static bool links_are_seen(const struct temporary *t)
{
  char second[32];
  struct stat new, named;
  random_name(second);
  errno = 0;
  if (linkat(t->dir, t->name, t->dir, second, 0) != 0) {
    errno = 0;
    return false;
  }
  bool same = fstat(t->fd, &new) == 0 &&
              fstatat(t->dir, second, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
              keyfile_same(&new, &named);
  errno = 0;
  return unlinkat(t->dir, second, 0) == 0 && same;
}

/* Where names cannot be exchanged, give the old file a second, temporary name, then rename the new
 * file over the first.  Where hard links do not work either, a kill after the rename leaves the old
 * bytes on disk. */
static bool rename_over(struct temporary *t, const struct keyfile *f)
{
  char second[32];
  random_name(second);
  bool linked = links_are_seen(t);
  if (!linked && errno != 0)
    return false;
  linked = linked && linkat(t->dir, f->base, t->dir, second, 0) == 0;
  if (linked && !named_so(t->dir, second, f)) {
    (void)unlinkat(t->dir, second, 0);
    errno = ESTALE;
    return false;
  }
  if (renameat(t->dir, t->name, t->dir, f->base) != 0) {
    int err = errno;
    if (linked)
      (void)unlinkat(t->dir, second, 0);
    errno = err;
    return false;
  }
  memcpy(t->name, linked ? second : "", linked ? sizeof second : 1);
  return true;
}

/* Put the named new file in the old one's place.  Afterwards t->name is the old file's name, or
 * empty.
 * @return false with errno set, ESTALE if the path no longer names the old file. */
static bool take_place(struct temporary *t, const struct keyfile *f)
{
  if (!named_so(t->dir, f->base, f)) {
    errno = ESTALE;
    return false;
  }
  if (!exchange(t->dir, t->name, f->base))
    return (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP || renameat2_is_filtered()) &&
           rename_over(t, f);
  if (named_so(t->dir, t->name, f))
    return true;
  (void)exchange(t->dir, t->name, f->base); /* a program that ignores the lock was faster: undo */
  errno = ESTALE;
  return false;
}

static int not_placed(const struct keyfile *f, int err)
{
  struct stat s;
  const char *why = strerror(err);
  if (err == ESTALE)
    return complain(STATUS_FAILED, "%s: another program replaced it", f->path);
  if (err == EBUSY)
    why = "a file mounted on its own cannot be replaced; mount its directory";
  else if ((err == EPERM || err == EACCES) && fstat(f->dir, &s) == 0 && (s.st_mode & S_ISVTX) != 0)
    why = "its directory is sticky, and it belongs to another user";
  return complain(STATUS_FAILED, "%s: cannot replace it: %s", f->path, why);
}

/* Number of hard links elsewhere.  Counted before the replacement: FUSE then adds a name for the
 * open file. */
static uintmax_t names_elsewhere(const struct keyfile *f)
{
  struct stat now;
  return fstat(f->fd, &now) == 0 && now.st_nlink > 1 ? (uintmax_t)now.st_nlink - 1 : 0;
}

/* Overwrite and remove the old file, a key that still computes the punctured values. */
static void wipe_old(const struct keyfile *f, const char *name, uintmax_t elsewhere)
{
  bool own = name[0] != '\0';
  if (elsewhere > 0) {
    warn("%s: the old key still has %ju hard link%s elsewhere", f->path, elsewhere,
         elsewhere == 1 ? "" : "s");
  } else if (!keyfile_overwrite(f->fd)) {
    warn("%s: the old key's bytes are not overwritten: %s%s%s", f->path, strerror(errno),
         own ? "; they stay in " : "", name);
    return;
  }
  if (own && (unlinkat(f->dir, name, 0) != 0 || fsync(f->dir) != 0))
    warn("%s: the old file remains beside it, %s: %s", f->path, name, strerror(errno));
}

/* Block signals while names change, so that a replacement once begun is completed. */
static void hold_signals(sigset_t *before)
{
  sigset_t set;
  sigfillset(&set);
  sigprocmask(SIG_BLOCK, &set, before);
}

/* write_new, then a temporary name.  If a nameless file cannot get one, it is created again with a
 * name. */
static int write_named(struct temporary *t, const struct keyfile *f, const uint8_t *bytes,
                       size_t len, const struct keyfile *old)
{
  int status = write_new(t, f->dir, f->path, bytes, len, old, false);
  if (status != STATUS_DONE || temporary_name(t))
    return status;
  temporary_abandon(t, f->path);
  return write_new(t, f->dir, f->path, bytes, len, old, true);
}

/* Sync the name too, then close: the content was synced before the file was named. */
static int close_named(struct temporary *t, const char *path)
{
  int err = fsync(t->dir) == 0 ? 0 : errno;
  (void)close(t->fd);
  if (err == 0)
    return STATUS_DONE;
  return complain(STATUS_FAILED,
                  "%s: written, but a crash may undo it: cannot sync its directory: %s", path,
                  strerror(err));
}

static int replace(struct keyfile *f, const uint8_t *bytes, size_t len, bool keep_mode)
{
  struct temporary t;
  if ((filesystem_flags(f->dir) & APPEND_ONLY) != 0) /* names, once given, cannot be removed */
    return complain(STATUS_FAILED, "%s: cannot replace it: its directory is append-only", f->path);
  uintmax_t elsewhere = names_elsewhere(f);
  int status = write_named(&t, f, bytes, len, keep_mode ? f : NULL);
  if (status != STATUS_DONE)
    return status;
  if (!take_place(&t, f)) {
    int err = errno;
    temporary_abandon(&t, f->path);
    return not_placed(f, err);
  }
  status = close_named(&t, f->path);
  if (status != STATUS_DONE)
    return status;
  wipe_old(f, t.name, elsewhere);
  filesystem_warn(f->dir, f->fd, f->path);
  return STATUS_DONE;
}

int keyfile_replace(struct keyfile *f, const uint8_t *bytes, size_t len, bool keep_mode)
{
  sigset_t before;
  hold_signals(&before);
  int status = replace(f, bytes, len, keep_mode);
  if (status == STATUS_DONE)
    keyfile_unlock(f);
  sigprocmask(SIG_SETMASK, &before, NULL);
  return status;
}

/* ---- creating a file ---- */

/* Check that the name is free and take it; a lock admits one command at a time. */
static bool rename_if_free(const struct temporary *t, const char *base)
{
  struct stat s;
  bool locked = keyfile_lock(t->dir, LOCK_EX), free_name = false;
  if (locked && fstatat(t->dir, base, &s, AT_SYMLINK_NOFOLLOW) == 0)
    errno = EEXIST;
  else
    free_name = locked && errno == ENOENT;
  bool placed = free_name && renameat(t->dir, t->name, t->dir, base) == 0;
  int err = errno;
  if (locked)
    (void)keyfile_lock(t->dir, LOCK_UN);
  errno = err;
  return placed;
}

/* Give the new file the name base unless it is taken; false with errno set. */
static bool take_name(struct temporary *t, const char *base, const char *path)
{
  if (t->name[0] == '\0')
    return link_unnamed(t, base);
  if (syscall(SYS_renameat2, t->dir, t->name, t->dir, base, RENAME_NOREPLACE) == 0)
    return true;
  if (errno == EEXIST)
    return false;
  if (!links_are_seen(t))
    return errno == 0 && rename_if_free(t, base);
  if (linkat(t->dir, t->name, t->dir, base, 0) != 0)
    return false;
  if (unlinkat(t->dir, t->name, 0) != 0)
    warn("%s: it has a second name, %s: %s", path, t->name, strerror(errno));
  return true;
}

static int create_once(int dir, const char *base, const char *path, const uint8_t *bytes,
                       size_t len)
{
  struct temporary t;
  bool placed = false, named = false;
  int status;
  do {
    status = write_new(&t, dir, path, bytes, len, NULL, named);
    if (status != STATUS_DONE)
      return status;
    placed = take_name(&t, base, path);
    named = t.name[0] != '\0';
    int err = errno;
    if (!placed)
      temporary_abandon(&t, path);
    if (!placed && (named || err == EEXIST))
      return err == EEXIST ? STATUS_EXISTS
                           : complain(STATUS_FAILED, "%s: cannot name it: %s", path, strerror(err));
    named = true; /* naming it is refused: create it again with a name */
  } while (!placed);
  status = close_named(&t, path);
  if (status != STATUS_DONE)
    return status;
  filesystem_warn(dir, -1, path);
  return STATUS_DONE;
}

/* Whether a locked file is the source, as it was read or as its name says now: a puncture gives it a new inode,
 * but not while it is locked. */
static bool is_source(const struct keyfile *f, const struct keyfile *source)
{
  struct stat now;
  return source != NULL && (keyfile_same(&f->stat, &source->stat) ||
                            (stat(source->real, &now) == 0 && keyfile_same(&f->stat, &now)));
}

/* Create base in dir; with force, replace an existing one. */
static int create_in(int dir, const char *base, const char *path, const uint8_t *bytes, size_t len,
                     bool force, const struct keyfile *source)
{
  struct stat s;
  int status = STATUS_EXISTS;
  keyfile_sweep(dir, path, NULL, true);
  if (fstatat(dir, base, &s, AT_SYMLINK_NOFOLLOW) != 0) {
    sigset_t before;
    hold_signals(&before);
    status = create_once(dir, base, path, bytes, len);
    sigprocmask(SIG_SETMASK, &before, NULL);
  }
  if (status == STATUS_EXISTS && !force)
    return complain(STATUS_FAILED, "%s: already exists (--force overwrites it)", path);
  if (status != STATUS_EXISTS)
    return status;
  struct keyfile old;
  status = keyfile_open(&old, path, true);
  if (status == STATUS_DONE) {
    status = is_source(&old, source)
               ? complain(STATUS_FAILED, "%s: this is FILE: give another OUT", path)
               : keyfile_replace(&old, bytes, len, false);
    keyfile_close(&old);
  }
  return status;
}

int keyfile_create(const char *path, const uint8_t *bytes, size_t len, bool force,
                   const struct keyfile *source)
{
  char *copy = strdup(path);
  const char *base = "";
  if (copy == NULL)
    return complain(STATUS_FAILED, "%s: %s", path, strerror(errno));
  int status, dir = keyfile_directory(copy, &base, O_RDONLY);
  if (dir < 0)
    status = complain(STATUS_FAILED, "%s: its directory: %s", path, strerror(errno));
  else if (*base == '\0' || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
    status = complain(STATUS_USAGE, "FILE '%s': a directory, not a file", path);
  else if (keyfile_reserved(base))
    status = complain(STATUS_USAGE, "FILE '%s': pprf erases files with such names", path);
  else
    status = create_in(dir, base, path, bytes, len, force, source);
  if (dir >= 0)
    (void)close(dir);
  free(copy);
  return status;
}

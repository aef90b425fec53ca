/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded into the program under test (LD_PRELOAD): the call number FAIL_AT of those below fails
 * with EIO, or, with FAIL_KILL set, the process is killed just before it (as a power cut that the
 * file system survives).  With COUNT_TO set the number of calls is written to that file. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned calls;
static char done[4096];

/* 1 if this call is to fail. */
static int hit(const char *name)
{
  const char *at = getenv("FAIL_AT"), *to = getenv("COUNT_TO");
  calls++;
  if (to != NULL && strlen(done) + strlen(name) + 2 < sizeof done) {
    strcat(done, name);
    strcat(done, "\n");
    FILE *f = fopen(to, "w");
    if (f != NULL) {
      fputs(done, f);
      fclose(f);
    }
  }
  if (at == NULL || strtoul(at, NULL, 10) != calls)
    return 0;
  if (getenv("FAIL_KILL") != NULL)
    (void)kill(getpid(), SIGKILL);
  errno = EIO;
  return 1;
}

#define REAL(type, name, ...)                                                                      \
  static type (*real)(__VA_ARGS__);                                                                \
  if (real == NULL)                                                                                \
    *(void **)&real = dlsym(RTLD_NEXT, #name)

ssize_t write(int fd, const void *p, size_t n)
{
  REAL(ssize_t, write, int, const void *, size_t);
  return fd > 2 && hit("write") ? -1 : real(fd, p, n);
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
  REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
  return hit("pwrite") ? -1 : real(fd, p, n, at);
}

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
  REAL(ssize_t, pread, int, void *, size_t, off_t);
  return hit("pread") ? -1 : real(fd, p, n, at);
}

int fsync(int fd)
{
  REAL(int, fsync, int);
  return hit("fsync") ? -1 : real(fd);
}

int renameat(int a, const char *from, int b, const char *to)
{
  REAL(int, renameat, int, const char *, int, const char *);
  return hit("renameat") ? -1 : real(a, from, b, to);
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
  REAL(int, linkat, int, const char *, int, const char *, int);
  return hit("linkat") ? -1 : real(a, from, b, to, flags);
}

int unlinkat(int a, const char *name, int flags)
{
  REAL(int, unlinkat, int, const char *, int);
  return hit("unlinkat") ? -1 : real(a, name, flags);
}

int openat(int dir, const char *name, int flags, ...)
{
  REAL(int, openat, int, const char *, int, ...);
  va_list ap;
  va_start(ap, flags);
  unsigned mode = va_arg(ap, unsigned);
  va_end(ap);
  return hit("openat") ? -1 : real(dir, name, flags, mode);
}

int flock(int fd, int how);
int flock(int fd, int how)
{
  REAL(int, flock, int, int);
  return hit("flock") ? -1 : real(fd, how);
}

int fchmod(int fd, mode_t mode)
{
  REAL(int, fchmod, int, mode_t);
  return hit("fchmod") ? -1 : real(fd, mode);
}

off_t lseek(int fd, off_t at, int whence)
{
  REAL(off_t, lseek, int, off_t, int);
  return hit("lseek") ? -1 : real(fd, at, whence);
}

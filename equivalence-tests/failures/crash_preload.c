/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded into the program under test (LD_PRELOAD). Only calls by the program itself count, not
 * those by libraries. The environment says what happens:
 *   FAIL_AT=N    call number N fails with EIO or ENOMEM, or,
 *   FAIL_KILL=1  the process is killed just before it (as a power cut that the file system survives),
 *   FAIL_RAISE=S signal S is raised just before it, and the call does its work;
 *   TRACE_TO=F   a line for each call is written to F: its name, outcome, and files (as inode
 *                numbers, not descriptors, which are reused);
 *   NO_TMPFILE, NO_EXCHANGE, NO_LINK=1  the file system has no O_TMPFILE, no RENAME_EXCHANGE, no hard
 *                links to a file that has a name;
 *   FILTERED=1   a filter of system calls refuses renameat2 and linkat with EPERM;
 *   INTERRUPTED=0 or 1  each even, or each odd, call that may wait is interrupted by a signal (EINTR);
 *   FILE_SYSTEM=N  fstatfs says that the file system has this number;
 *   SECRETS=HEX,HEX..  bytes that must not remain, each XORed with 0x5a, so that the list does not
 *                contain them.  Memory is searched when it is unmapped, and all writable memory at
 *                the end; each find writes a line "secret". */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <unistd.h>

static unsigned calls;
static uintptr_t program_begin, program_end;

#define REAL(type, name, ...)                  \
  static type (*real)(__VA_ARGS__);            \
  if (real == NULL) {                          \
    *(void **)&real = dlsym(RTLD_NEXT, #name); \
  }

/* The first object is the program. */
static int first_object(struct dl_phdr_info *info, size_t size, void *unused)
{
  (void)size;
  (void)unused;
  program_begin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_LOAD)
      program_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
  return 1;
}

__attribute__((constructor)) static void find_program(void)
{
  (void)dl_iterate_phdr(first_object, NULL);
}

static int by_program(const void *caller)
{
  return (uintptr_t)caller >= program_begin && (uintptr_t)caller < program_end;
}
#define MINE by_program(__builtin_return_address(0))

static int is_set(const char *name)
{
  return getenv(name) != NULL;
}

/* ---- the trace, written by system calls that are not intercepted ---- */

static void trace(const char *format, ...)
{
  const char *to = getenv("TRACE_TO");
  char line[512];
  int saved = errno;
  va_list ap;
  if (to == NULL)
    return;
  va_start(ap, format);
  int n = vsnprintf(line, sizeof line, format, ap);
  va_end(ap);
  int fd = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (fd >= 0 && n > 0)
    (void)syscall(SYS_write, fd, line, (size_t)n);
  if (fd >= 0)
    (void)syscall(SYS_close, fd);
  errno = saved;
}

static unsigned long inode(int fd)
{
  struct stat s;
  int saved = errno;
  unsigned long n = fstat(fd, &s) == 0 ? (unsigned long)s.st_ino : 0;
  errno = saved;
  return n;
}

static unsigned long inode_of(int dir, const char *name)
{
  struct stat s;
  int saved = errno;
  unsigned long n = fstatat(dir, name, &s, AT_SYMLINK_NOFOLLOW) == 0 ? (unsigned long)s.st_ino : 0;
  errno = saved;
  return n;
}

/* Whether a regular file contains anything but zeros, and no name except `names` refers to it. */
static int last_bytes(int fd, nlink_t names)
{
  struct stat s;
  unsigned char b[4096];
  ssize_t n;
  int saved = errno, dirty = 0;
  if (fstat(fd, &s) != 0 || !S_ISREG(s.st_mode) || s.st_nlink > names)
    return 0;
  for (off_t at = 0; (n = (ssize_t)syscall(SYS_pread64, fd, b, sizeof b, at)) > 0; at += n)
    for (ssize_t i = 0; i < n; i++)
      dirty |= b[i] != 0;
  errno = saved;
  return dirty;
}

/* ---- what happens at a call ---- */

static int may_wait(const char *name)
{
  static const char *const names[] = {"flock", "read", "pread", "write", "pwrite"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return 1;
  return 0;
}

/* 1 if this call must fail; can_fail: calls of this kind may fail. */
static int hit(const char *name, int can_fail)
{
  const char *at = getenv("FAIL_AT"), *raised = getenv("FAIL_RAISE");
  calls++;
  trace("call\tname=%s\tcan_fail=%d\n", name, can_fail);
  const char *interrupted = getenv("INTERRUPTED");
  if (interrupted != NULL && may_wait(name) && calls % 2 == strtoul(interrupted, NULL, 10)) {
    errno = EINTR;
    return 1;
  }
  if (at == NULL || strtoul(at, NULL, 10) != calls)
    return 0;
  if (is_set("FAIL_KILL"))
    (void)kill(getpid(), SIGKILL);
  if (raised != NULL)
    (void)raise(atoi(raised));
  if (raised != NULL || !can_fail)
    return 0;
  errno = EIO;
  return 1;
}

#define HIT(name) (MINE && hit(name, 1))

static ssize_t write_call(const char *name, int fd, const void *p, size_t n, off_t at, int failed,
                          ssize_t r)
{
  int zero = 1;
  for (size_t i = 0; i < n; i++)
    zero &= ((const unsigned char *)p)[i] == 0;
  trace("%s\tfd=%d\tino=%lu\tat=%jd\tlen=%zu\tzero=%d\tok=%d\n", name, fd, inode(fd), (intmax_t)at,
        n, zero, !failed && r == (ssize_t)n);
  return r;
}

ssize_t write(int fd, const void *p, size_t n)
{
  REAL(ssize_t, write, int, const void *, size_t);
  if (!MINE)
    return real(fd, p, n);
  off_t at = fd > 2 ? (off_t)syscall(SYS_lseek, fd, 0, SEEK_CUR) : 0;
  int failed = hit("write", 1);
  return write_call("write", fd, p, n, at, failed, failed ? -1 : real(fd, p, n));
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
  REAL(ssize_t, pwrite, int, const void *, size_t, off_t);
  if (!MINE)
    return real(fd, p, n, at);
  int failed = hit("pwrite", 1);
  return write_call("pwrite", fd, p, n, at, failed, failed ? -1 : real(fd, p, n, at));
}
ssize_t pwrite64(int fd, const void *p, size_t n, off_t at) __attribute__((alias("pwrite")));

ssize_t pread(int fd, void *p, size_t n, off_t at)
{
  REAL(ssize_t, pread, int, void *, size_t, off_t);
  if (!MINE)
    return real(fd, p, n, at);
  trace("pread\tino=%lu\n", inode(fd));
  return hit("pread", 1) ? -1 : real(fd, p, n, at);
}
ssize_t pread64(int fd, void *p, size_t n, off_t at) __attribute__((alias("pread")));

ssize_t read(int fd, void *p, size_t n)
{
  REAL(ssize_t, read, int, void *, size_t);
  return MINE && hit("read", 1) ? -1 : real(fd, p, n);
}

/* A call that takes only a descriptor; `more` goes into the trace. */
#define ON_FD(type, name, can_fail, label, more, parameters, ...)        \
  type name parameters;                                                  \
  type name parameters                                                   \
  {                                                                      \
    REAL(type, name, __VA_ARGS__);                                       \
    if (!MINE)                                                           \
      return CALL;                                                       \
    unsigned long ino = inode(fd);                                       \
    type r = hit(#name, can_fail) ? -1 : CALL;                           \
    trace(#name "\tino=%lu\t%s=%ld\tok=%d\n", ino, label, more, r >= 0); \
    return r;                                                            \
  }

#define CALL real(fd)
ON_FD(int, fsync, 1, "", (long)0, (int fd), int)
#undef CALL
#define CALL real(fd, how)
ON_FD(int, flock, 1, "how", (long)how, (int fd, int how), int, int)
#undef CALL
#define CALL real(fd, mode)
ON_FD(int, fchmod, 1, "mode", (long)mode, (int fd, mode_t mode), int, mode_t)
#undef CALL
#define CALL real(fd, user, group)
ON_FD(int, fchown, 1, "user", (long)user, (int fd, uid_t user, gid_t group), int, uid_t, gid_t)
#undef CALL
#define CALL real(fd, name, value, size)
ON_FD(ssize_t, fgetxattr, 1, "", (long)0, (int fd, const char *name, void *value, size_t size), int,
      const char *, void *, size_t)
#undef CALL
#define CALL real(fd, name, value, size, flags)
ON_FD(int, fsetxattr, 1, "", (long)0,
      (int fd, const char *name, const void *value, size_t size, int flags), int, const char *,
      const void *, size_t, int)
#undef CALL
#define CALL real(fd, name)
ON_FD(int, fremovexattr, 1, "", (long)0, (int fd, const char *name), int, const char *)
#undef CALL

int close(int fd)
{
  REAL(int, close, int);
  if (!MINE)
    return real(fd);
  trace("close\tino=%lu\tlost=%d\n", inode(fd), last_bytes(fd, 0));
  (void)hit("close", 0);
  return real(fd);
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
  REAL(int, sigprocmask, int, const sigset_t *, sigset_t *);
  int held = 0;
  if (!MINE)
    return real(how, set, old);
  for (int s = 1; set != NULL && s < NSIG; s++)
    held += sigismember(set, s) == 1;
  (void)hit("sigprocmask", 0);
  int r = real(how, set, old);
  trace("sigprocmask\thow=%s\tsignals=%d\n", how == SIG_BLOCK ? "block" : "set", held);
  return r;
}

/* The program exchanges two names by system call number, since not every libc has a function for
 * it. */
long syscall(long number, ...)
{
  REAL(long, syscall, long, ...);
  long a[6];
  va_list ap;
  va_start(ap, number);
  for (int i = 0; i < 6; i++)
    a[i] = va_arg(ap, long);
  va_end(ap);
  if (!MINE || number != SYS_renameat2)
    return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  unsigned long from = inode_of((int)a[0], (const char *)a[1]),
                to = inode_of((int)a[2], (const char *)a[3]);
  long r = -1;
  int failed = hit("exchange", 1);
  if (!failed && (is_set("NO_EXCHANGE") || is_set("FILTERED")))
    errno = is_set("FILTERED") ? EPERM : EINVAL; /* a filter does not examine the names */
  else if (!failed)
    r = real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  trace("exchange\tdir=%lu\tname=%s\tfrom=%lu\tto=%lu\tok=%d\n", inode((int)a[0]),
        (const char *)a[1], from, to, r == 0);
  return r;
}

int renameat(int a, const char *from, int b, const char *to)
{
  REAL(int, renameat, int, const char *, int, const char *);
  unsigned long source = inode_of(a, from), target = inode_of(b, to);
  int r = hit("renameat", 1) ? -1 : real(a, from, b, to);
  trace("renameat\tdir=%lu\tname=%s\tfrom=%lu\tto=%lu\tok=%d\n", inode(a), from, source, target,
        r == 0);
  return r;
}

int linkat(int a, const char *from, int b, const char *to, int flags)
{
  REAL(int, linkat, int, const char *, int, const char *, int);
  struct stat s;
  int r = -1;
  unsigned long ino = fstatat(a, from, &s, flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) == 0
                        ? (unsigned long)s.st_ino
                        : 0;
  if (!hit("linkat", 1)) {
    if (is_set("FILTERED") || (is_set("NO_LINK") && (flags & AT_SYMLINK_FOLLOW) == 0))
      errno = EPERM;
    else
      r = real(a, from, b, to, flags);
  }
  trace("linkat\tino=%lu\tname=%s\tok=%d\n", ino, to, r == 0);
  return r;
}

int unlinkat(int a, const char *name, int flags)
{
  REAL(int, unlinkat, int, const char *, int);
  unsigned long ino = inode_of(a, name);
  int fd = (int)syscall(SYS_openat, a, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  int lost = fd >= 0 && last_bytes(fd, 1);
  if (fd >= 0)
    (void)syscall(SYS_close, fd);
  int r = hit("unlinkat", 1) ? -1 : real(a, name, flags);
  trace("unlinkat\tino=%lu\tname=%s\tlost=%d\tok=%d\n", ino, name, lost && r == 0, r == 0);
  return r;
}

static int opened(const char *name, int dir, const char *path, int flags, int r)
{
  const char *base = strrchr(path, '/');
  trace("%s\tdir=%lu\tname=%s\tino=%lu\tcreate=%d\texclusive=%d\tnofollow=%d\tunnamed=%d\twrite=%d"
        "\tok=%d\n",
        name, dir == AT_FDCWD ? 0 : inode(dir), base == NULL ? path : base + 1,
        r >= 0 ? inode(r) : 0, (flags & O_CREAT) != 0, (flags & O_EXCL) != 0,
        (flags & O_NOFOLLOW) != 0, (flags & O_TMPFILE) == O_TMPFILE,
        (flags & O_ACCMODE) != O_RDONLY, r >= 0);
  return r;
}

int openat(int dir, const char *name, int flags, ...)
{
  REAL(int, openat, int, const char *, int, ...);
  va_list ap;
  va_start(ap, flags);
  unsigned mode = va_arg(ap, unsigned);
  va_end(ap);
  if (!MINE)
    return real(dir, name, flags, mode);
  int r = -1;
  if (!hit("openat", 1)) {
    if ((flags & O_TMPFILE) == O_TMPFILE && is_set("NO_TMPFILE"))
      errno = EOPNOTSUPP;
    else
      r = real(dir, name, flags, mode);
  }
  return opened("openat", dir, name, flags, r);
}
int openat64(int dir, const char *name, int flags, ...) __attribute__((alias("openat")));

int open(const char *name, int flags, ...)
{
  REAL(int, open, const char *, int, ...);
  va_list ap;
  va_start(ap, flags);
  unsigned mode = va_arg(ap, unsigned);
  va_end(ap);
  if (!MINE)
    return real(name, flags, mode);
  return opened("open", AT_FDCWD, name, flags, hit("open", 1) ? -1 : real(name, flags, mode));
}
int open64(const char *name, int flags, ...) __attribute__((alias("open")));

/* The file that a name refers to, when the program asks. */
int fstatat64(int dir, const char *restrict name, struct stat64 *restrict s, int flags)
{
  REAL(int, fstatat64, int, const char *, struct stat64 *, int);
  if (!MINE)
    return real(dir, name, s, flags);
  int r = hit("fstatat", 1) ? -1 : real(dir, name, s, flags);
  trace("fstatat\tname=%s\tino=%lu\tok=%d\n", name, r == 0 ? (unsigned long)s->st_ino : 0, r == 0);
  return r;
}

int fstatfs64(int fd, struct statfs64 *s)
{
  REAL(int, fstatfs64, int, struct statfs64 *);
  const char *type = getenv("FILE_SYSTEM");
  int r = MINE && hit("fstatfs", 1) ? -1 : real(fd, s);
  if (MINE && r == 0 && type != NULL)
    s->f_type = strtol(type, NULL, 0);
  return r;
}

int fstat64(int fd, struct stat64 *s)
{
  REAL(int, fstat64, int, struct stat64 *);
  return MINE && hit("fstat", 1) ? -1 : real(fd, s);
}

/* ---- secrets in memory ---- */

static void search(const unsigned char *p, size_t len, const char *where)
{
  const char *list = getenv("SECRETS");
  unsigned char want[64];
  for (size_t n = 0; list != NULL && *list != '\0'; n = 0) {
    for (; *list != '\0' && *list != ','; list += 2) {
      unsigned v = 0;
      (void)sscanf(list, "%2x", &v);
      if (n < sizeof want)
        want[n++] = (unsigned char)v; /* still masked */
    }
    list += *list == ',';
    for (size_t i = 0; n > 0 && i + n <= len; i++) {
      size_t k = 0;
      while (k < n && (unsigned char)(p[i + k] ^ 0x5a) == want[k])
        k++;
      if (k == n)
        trace("secret\twhere=%s\toffset=%zu\n", where, i);
    }
  }
}

__attribute__((destructor)) static void search_all(void)
{
  char line[256];
  FILE *maps = is_set("SECRETS") ? fopen("/proc/self/maps", "r") : NULL;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    uintptr_t from, to;
    char access[8] = "", name[128] = "";
    int fields =
      sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %*s %127s", &from, &to, access, name);
    if (fields >= 3 && access[0] == 'r' && access[1] == 'w')
      search((const unsigned char *)from, to - from, name[0] != '\0' ? name : "memory");
  }
  if (maps != NULL) {
    fclose(maps);
    trace("searched\n");
  }
}

int munmap(void *at, size_t len)
{
  REAL(int, munmap, void *, size_t);
  if (MINE) {
    search(at, len, "unmapped");
    trace("unmapped\tat=%ju\tlen=%zu\n", (uintmax_t)(uintptr_t)at, len);
    (void)hit("munmap", 0);
  }
  return real(at, len);
}

/* glibc's own functions, which need no symbol lookup (that would allocate) */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);

void *__libc_realloc(void *p, size_t n);

void *realloc(void *p, size_t n)
{
  if (!HIT("realloc"))
    return __libc_realloc(p, n);
  errno = ENOMEM;
  return NULL;
}

void *malloc(size_t n)
{
  if (!HIT("malloc"))
    return __libc_malloc(n);
  errno = ENOMEM;
  return NULL;
}

void *calloc(size_t n, size_t size)
{
  if (!HIT("calloc"))
    return __libc_calloc(n, size);
  errno = ENOMEM;
  return NULL;
}

char *strdup(const char *text)
{
  REAL(char *, strdup, const char *);
  return HIT("strdup") ? NULL : real(text);
}

int vasprintf(char **text, const char *format, va_list args)
{
  REAL(int, vasprintf, char **, const char *, va_list);
  return HIT("vasprintf") ? -1 : real(text, format, args);
}

/* Variants called with -D_FORTIFY_SOURCE. */
int __vasprintf_chk(char **text, int flag, const char *format, va_list args);
int __vasprintf_chk(char **text, int flag, const char *format, va_list args)
{
  REAL(int, __vasprintf_chk, char **, int, const char *, va_list);
  return HIT("vasprintf") ? -1 : real(text, flag, format, args);
}

char *realpath(const char *path, char *to)
{
  REAL(char *, realpath, const char *, char *);
  return HIT("realpath") ? NULL : real(path, to);
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
  REAL(void *, mmap, void *, size_t, int, int, int, off_t);
  return HIT("mmap") ? MAP_FAILED : real(at, len, prot, flags, fd, offset);
}

/* Variants called if off_t has 64 bits. */
void *mmap64(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
  REAL(void *, mmap64, void *, size_t, int, int, int, off_t);
  if (!MINE)
    return real(at, len, prot, flags, fd, offset);
  void *p = hit("mmap", 1) ? MAP_FAILED : real(at, len, prot, flags, fd, offset);
  if (p == MAP_FAILED)
    errno = ENOMEM;
  else
    trace("mapped\tat=%ju\tlen=%zu\treserved=%d\n", (uintmax_t)(uintptr_t)p, len,
          (flags & MAP_NORESERVE) == 0);
  return p;
}

int madvise(void *at, size_t len, int advice)
{
  REAL(int, madvise, void *, size_t, int);
  trace("advised\tat=%ju\tlen=%zu\tadvice=%d\n", (uintmax_t)(uintptr_t)at, len, advice);
  return real(at, len, advice);
}

int mlock(const void *at, size_t len)
{
  REAL(int, mlock, const void *, size_t);
  trace("locked\tat=%ju\tlen=%zu\n", (uintmax_t)(uintptr_t)at, len);
  return real(at, len);
}

int mlock2(const void *at, size_t len, unsigned flags)
{
  REAL(int, mlock2, const void *, size_t, unsigned);
  trace("locked\tat=%ju\tlen=%zu\n", (uintmax_t)(uintptr_t)at, len);
  return real(at, len, flags);
}

ssize_t getrandom(void *p, size_t n, unsigned flags)
{
  REAL(ssize_t, getrandom, void *, size_t, unsigned);
  return HIT("getrandom") ? -1 : real(p, n, flags);
}

int RAND_priv_bytes(unsigned char *p, int n)
{
  REAL(int, RAND_priv_bytes, unsigned char *, int);
  return HIT("RAND_priv_bytes") ? 0 : real(p, n);
}

EVP_MD *EVP_MD_fetch(OSSL_LIB_CTX *c, const char *name, const char *properties)
{
  REAL(EVP_MD *, EVP_MD_fetch, OSSL_LIB_CTX *, const char *, const char *);
  return HIT("EVP_MD_fetch") ? NULL : real(c, name, properties);
}

EVP_MD_CTX *EVP_MD_CTX_new(void)
{
  REAL(EVP_MD_CTX *, EVP_MD_CTX_new, void);
  return HIT("EVP_MD_CTX_new") ? NULL : real();
}

int EVP_DigestInit_ex(EVP_MD_CTX *c, const EVP_MD *md, ENGINE *e)
{
  REAL(int, EVP_DigestInit_ex, EVP_MD_CTX *, const EVP_MD *, ENGINE *);
  return HIT("EVP_DigestInit_ex") ? 0 : real(c, md, e);
}

int EVP_DigestUpdate(EVP_MD_CTX *c, const void *p, size_t n)
{
  REAL(int, EVP_DigestUpdate, EVP_MD_CTX *, const void *, size_t);
  return HIT("EVP_DigestUpdate") ? 0 : real(c, p, n);
}

int EVP_DigestFinal_ex(EVP_MD_CTX *c, unsigned char *out, unsigned *n)
{
  REAL(int, EVP_DigestFinal_ex, EVP_MD_CTX *, unsigned char *, unsigned *);
  return HIT("EVP_DigestFinal_ex") ? 0 : real(c, out, n);
}

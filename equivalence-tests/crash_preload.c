/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded into the program under test (LD_PRELOAD): the call number FAIL_AT of those below fails
 * with EIO or ENOMEM, or, with FAIL_KILL set, the process is killed just before it (as a power cut
 * that the file system survives).  With COUNT_TO set the names of the calls are written to that
 * file.  Calls count that the program itself makes, not those of the libraries it uses. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static unsigned calls;
static char done[1 << 16];

static uintptr_t program_begin, program_end;

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

/* The same for what libraries call too. */
#define HIT(name) (by_program(__builtin_return_address(0)) && hit(name))

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

/* glibc's own, which need no look-up (that would allocate) */
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);

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

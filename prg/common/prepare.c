/* SPDX-License-Identifier: Apache-2.0 */
/* The preparation of prepare.h: calls every library function that later runs while seeds are
 * about. */
#include "prepare.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "options.h"
#include "pprf.h"
#include "prg.h"
#include "wide.h"

/* Under other names, because a compiler may inline memcpy and the others instead of calling
 * them. */
extern void *call_memcpy(void *to, const void *from, size_t n) __asm__("memcpy");
extern void *call_memmove(void *to, const void *from, size_t n) __asm__("memmove");
extern void *call_memset(void *to, int byte, size_t n) __asm__("memset");
extern int call_memcmp(const void *a, const void *b, size_t n) __asm__("memcmp");
#if defined(__USE_FORTIFY_LEVEL) && __USE_FORTIFY_LEVEL > 0 /* glibc's headers call these instead */
extern void *call_memcpy_chk(void *to, const void *from, size_t n,
                             size_t room) __asm__("__memcpy_chk");
extern void *call_memmove_chk(void *to, const void *from, size_t n,
                              size_t room) __asm__("__memmove_chk");
extern void *call_memset_chk(void *to, int byte, size_t n, size_t room) __asm__("__memset_chk");
#endif

static int bind_calls(void)
{
  /* volatile: the compiler must not know these */
  uint8_t bytes[16] = {0}, *volatile from = bytes, *volatile to = bytes + 8;
  volatile size_t one = 1;
  pthread_mutex_t lock;
  size_t bytes_of_page = (size_t)sysconf(_SC_PAGESIZE);
  (void)call_memset(to, 0, one);
  (void)call_memcpy(to, from, one);
  (void)call_memmove(to, from, one);
  one = (size_t)call_memcmp(to, from, one) + 1;
#if defined(__USE_FORTIFY_LEVEL) && __USE_FORTIFY_LEVEL > 0
  (void)call_memset_chk(to, 0, one, 8);
  (void)call_memcpy_chk(to, from, one, 8);
  (void)call_memmove_chk(to, from, one, 8);
#endif
  explicit_bzero(bytes, one);
  (void)pthread_mutex_init(&lock, NULL);
  (void)pthread_mutex_lock(&lock);
  (void)pthread_mutex_unlock(&lock);
  void *block = malloc(one), *zeros = calloc(one, one);
  __asm__ volatile("" : "+r"(block), "+r"(zeros)); /* both are used: keep the calls */
  int err = block == NULL || zeros == NULL ? PPRF_ERR_NOMEM : PPRF_OK;
  one = malloc_usable_size(block);
  free(block);
  free(zeros);
  void *p = mmap(NULL, bytes_of_page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (err != PPRF_OK || p == MAP_FAILED)
    err = PPRF_ERR_NOMEM;
  if (p == MAP_FAILED)
    return err;
  (void)madvise(p, bytes_of_page, MADV_DONTDUMP);
  (void)mlock2(p, bytes_of_page, MLOCK_ONFAULT);
  (void)mincore(p, bytes_of_page, bytes);
  (void)munlock(p, bytes_of_page);
  (void)munmap(p, bytes_of_page);
  return err;
}

/* The first PRG call also chooses the PRG's version. */
static PPRF_WORK int try_suite(unsigned suite)
{
  static const uint8_t message[300]; /* more than two blocks of SHA3-256 */
  const struct pprf_family family = {suite, 0, 0};
  uint8_t digest[DIGEST_BYTES];
  int err = bind_calls();
  if (err == PPRF_OK)
    err = prg_digest(message, sizeof message, digest);
  if (err == PPRF_OK && pprf_suite_is_wide(suite))
    err = prg_expand_wide(family, (struct pprf_wide_seed){0, 0, 0, 0}, 0, 1).err;
  else if (err == PPRF_OK)
    err = prg_expand(family, (struct pprf_seed){0, 0}, 0, 1).err;
  return err;
}

int pprf_prepare(unsigned suite)
{
  static _Atomic unsigned prepared; /* one bit per suite */
  if (atomic_load_explicit(&prepared, memory_order_acquire) >> suite & 1)
    return PPRF_OK;
  prg_wipe(prg_wipe_flags() | 128); /* the caller's registers may hold the root's seed */
  int before = errno;
  int err = try_suite(suite);
  errno = before; /* keep the caller's errno: locking memory may have failed, for example */
  prg_wipe(prg_wipe_plan(PRG_LIBCRYPTO_STACK)); /* a caller that gets an error wipes nothing */
  if (err == PPRF_OK)
    (void)atomic_fetch_or_explicit(&prepared, 1u << suite, memory_order_release);
  return err;
}

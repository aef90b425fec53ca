/* SPDX-License-Identifier: Apache-2.0 */
/* The process number of fork.h, in a page that fork clears. */
#ifndef __linux__
#error "libpprf runs on Linux alone: it needs MADV_WIPEONFORK, getrandom and mlock2"
#endif

#include "fork.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pprf.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

/* The page with the number, and how many numbers this process and its ancestors have issued;
 * children continue counting there. */
static _Atomic(_Atomic uint64_t *) page;
static _Atomic uint64_t given;

/* Runs in the child after fork if the kernel cannot clear the page. */
static void clear(void)
{
  _Atomic uint64_t *number = atomic_load(&page);
  if (number != NULL)
    atomic_store(number, 0);
}

uint64_t pprf_process(void)
{
  _Atomic uint64_t *number = atomic_load_explicit(&page, memory_order_acquire);
  return number == NULL ? 0 : atomic_load_explicit(number, memory_order_relaxed);
}

/* Map the page on first use; NULL: no memory.  The page is published only after fork is set to
 * clear it. */
static _Atomic uint64_t *map_page(void)
{
  _Atomic uint64_t *first = NULL;
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  if ((madvise(p, bytes, MADV_WIPEONFORK) != 0 && pthread_atfork(NULL, NULL, clear) != 0) ||
      !atomic_compare_exchange_strong(&page, &first, p)) {
    (void)munmap(p, bytes);
    return first; /* another thread's page, or NULL */
  }
  return p;
}

int pprf_process_claim(uint64_t *number)
{
  _Atomic uint64_t *at = atomic_load_explicit(&page, memory_order_acquire);
  if (at == NULL && (at = map_page()) == NULL)
    return PPRF_ERR_NOMEM;
  *number = 0;
  if (atomic_load(at) == 0) {
    uint64_t fresh = atomic_fetch_add(&given, 1) + 1;
    if (atomic_compare_exchange_strong(at, number, fresh))
      *number = fresh;
  } else {
    *number = atomic_load(at);
  }
  return PPRF_OK;
}

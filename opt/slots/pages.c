/* SPDX-License-Identifier: Apache-2.0 */
/* Allocating and releasing a store's memory: mmap, madvise, mlock.  The slots and the bitmap
 * levels in it belong to store.c and bitmap.c. */
#include "pages.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/fork.h"
#include "pprf.h"
#include "../seeds.h"
#include "read.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* Linux 5.18 */
#endif

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* For an existing mapping, so that this does not wrap. */
static size_t slot_bytes(unsigned depth)
{
  return sizeof(struct pprf_seed) << (depth - 1);
}

size_t opt_slots_mapped_bytes(unsigned depth)
{
  uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t total = (uint64_t)sizeof(struct pprf_seed) << (depth - 1);
  for (unsigned k = 0; k < opt_bitmap_levels(depth); k++)
    if (!opt_level_is_small(depth, k))
      total += opt_level_bytes(depth, k);
  total = (total + page - 1) / page * page;
  return total <= SIZE_MAX ? (size_t)total : 0;
}

void opt_slots_lay_out(struct opt_slots *s, unsigned depth, void *mapping, void *small, int shared)
{
  unsigned levels = opt_bitmap_levels(depth);
  unsigned char *pages = mapping;
  *s = (struct opt_slots){.punctured = {.depth = depth, .levels = levels},
                          .slot = (struct pprf_seed *)(void *)pages,
                          .mapped = opt_slots_mapped_bytes(depth),
                          .page = (size_t)sysconf(_SC_PAGESIZE),
                          .shared = shared};
  /* Failure of either is no error.  The first keeps seeds out of core dumps.  The second keeps
   * the memory of a key predictable: with huge pages, few punctures in a large domain would
   * commit 2 MB each.  Its price, measured in random order (without hashing, medians of three
   * alternating runs, busy two-core Zen 4): 151 instead of 125 ns a puncture at depth 21, 73
   * instead of 63 ns at depth 16. */
  (void)madvise(pages, s->mapped, MADV_DONTDUMP);
  (void)madvise(pages, s->mapped, MADV_NOHUGEPAGE);
  s->locked = mlock2(pages, slot_bytes(depth), MLOCK_ONFAULT) == 0 &&
              (!shared || pprf_process_claim(&s->locker) == PPRF_OK);

  unsigned char *in_pages = pages + slot_bytes(depth), *in_small = small;
  for (unsigned k = 0; k < levels; k++) {
    size_t bytes = opt_level_bytes(depth, k);
    unsigned char **at = opt_level_is_small(depth, k) ? &in_small : &in_pages;
    if (k == 0)
      s->punctured.leaves = (uint64_t *)(void *)*at;
    else
      s->punctured.summary[k] = (struct opt_summary *)(void *)*at;
    *at += bytes;
  }
}

int opt_slots_open(struct opt_slots *s, unsigned depth, void *small, int shared)
{
  size_t bytes = opt_slots_mapped_bytes(depth);
  if (bytes == 0)
    return PPRF_ERR_NOMEM;
  unsigned char *pages =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE,
         (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED)
    return PPRF_ERR_NOMEM;
  if (!shared) /* a child gets no copy of the seeds; old kernels refuse this */
    (void)madvise(pages, opt_slots_mapped_bytes(depth), MADV_WIPEONFORK);
  opt_slots_lay_out(s, depth, pages, small, shared);
  return PPRF_OK;
}

int opt_slots_locked(const struct opt_slots *s)
{
  return s->locked && (!s->shared || s->locker == pprf_process());
}

void opt_slots_drop(struct opt_slots *s)
{
  (void)munmap(s->slot, s->mapped);
}

void opt_slots_close(struct opt_slots *s)
{
  struct opt_slots_reader reader = {.slots = s};
  struct opt_node n;
  while (opt_slots_read(&reader, &n))
    wipe_seed(&s->slot[n.start >> 1]);
  (void)munmap(s->slot, s->mapped);
}

/* Give the whole pages among [from, to) back to the kernel.  They hold no seed, because the
 * slots of punctured pairs are zero: if the kernel does not take them, this costs memory, not
 * secrecy. */
static int release(struct opt_slots *s, void *from, void *to)
{
  if (s->held)
    return -1;
  uintptr_t a = ((uintptr_t)from + s->page - 1) / s->page * s->page;
  uintptr_t b = (uintptr_t)to / s->page * s->page;
  if (a >= b)
    return 0;
  void *pages = (void *)a;
  if (!s->shared)
    return madvise(pages, b - a, s->locked ? MADV_DONTNEED_LOCKED : MADV_DONTNEED);
  int rc = madvise(pages, b - a, MADV_REMOVE);
  if (rc != 0 && munlock(pages, b - a) == 0) { /* locked pages cannot be removed */
    rc = madvise(pages, b - a, MADV_REMOVE);
    if (s->locked && mlock2(pages, b - a, MLOCK_ONFAULT) != 0)
      s->locked = 0;
  }
  return rc;
}

static int release_mapping(struct opt_slots *s)
{
  return release(s, s->slot, (unsigned char *)s->slot + s->mapped);
}

void opt_pages_release_slots(struct opt_slots *s, uint64_t first, uint64_t end)
{
  (void)release(s, s->slot + (first >> 1), s->slot + (end >> 1));
}

void opt_pages_release_punctured(struct opt_slots *s, uint64_t first, uint64_t end)
{
  if (!opt_level_is_small(s->punctured.depth, 0))
    (void)release(s, s->punctured.leaves + (first >> 6), s->punctured.leaves + (end >> 6));
}

void opt_pages_release_all(struct opt_slots *s)
{
  (void)release_mapping(s);
}

void opt_pages_zero_mapping(struct opt_slots *s)
{
  if (release_mapping(s) != 0)
    explicit_bzero(s->slot, s->mapped);
}

int opt_pages_back(struct opt_slots *s)
{
  long pages = sysconf(_SC_PHYS_PAGES);
  if (pages > 0 && s->mapped / s->page > (size_t)pages)
    return PPRF_ERR_NOMEM;
  if (madvise(s->slot, s->mapped, MADV_POPULATE_WRITE) != 0) {
    if (errno != EINVAL)
      return PPRF_ERR_NOMEM;
    volatile unsigned char *byte = (unsigned char *)s->slot; /* for kernels without that advice */
    for (size_t at = 0; at < s->mapped; at += s->page)
      byte[at] = byte[at];
  }
  s->held = 1;
  return PPRF_OK;
}

/* Takes about a nanosecond per page of the mapping, used or not: 0.1 ms at depth 26, 9 ms at 32. */
size_t opt_slots_resident_bytes(const struct opt_slots *s)
{
  unsigned char resident[4096], *pages = (unsigned char *)s->slot;
  size_t bytes = 0, step = sizeof resident * s->page;
  for (size_t at = 0; at < s->mapped; at += step) {
    size_t len = s->mapped - at < step ? s->mapped - at : step;
    if (mincore(pages + at, len, resident) != 0)
      return s->mapped;
    for (size_t i = 0; i < len / s->page; i++)
      bytes += (resident[i] & 1u) * s->page;
  }
  return bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The arena: a region is one mapping, cut into slabs, and a slab is cut into blocks of one size.
 * Which blocks are free is stored outside the regions, except for a link in each free block: so
 * a region holds hardly anything but seeds. */
#include "arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/fork.h"
#include "pprf.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24 /* Linux 5.18 */
#endif
#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

enum {
  SLAB_BYTES = 16384,
  SLABS = 64,
  REGION_BYTES = SLABS * SLAB_BYTES,
  CLASSES = 32,
  WARM_MAX = SLABS /* empty slabs that keep their pages */
};

/* A slab is in one list: slabs of its block size with a free block; empty slabs that are warm,
 * that is with pages; or the cold slabs, empty and without pages, of its region. */
struct slab {
  struct slab *next, *before;
  struct region *region;
  uint32_t block; /* bytes of a block */
  uint16_t used;  /* blocks in use */
  uint16_t cut;   /* blocks cut so far */
  uint16_t freed; /* block freed last, from 1; its first bytes name the next one */
  uint8_t warm;
};

/* A region is in one list: those with a cold slab, those without, or the spare ones, which are
 * not mapped. */
struct region {
  struct region *next, *before;
  struct region *older; /* constant during the arena's life */
  unsigned char *_Atomic mapped; /* `from`, or NULL while not mapped; read by children of fork */
  unsigned char *from; /* the first slab holds only the region's address */
  struct slab *cold;   /* empty slabs without pages */
  unsigned slabs_used;
  int locked;
  struct slab slab[SLABS];
};

struct arena {
  uint64_t maker; /* the process that made it */
  pthread_mutex_t lock;
  struct region *roomy, *full; /* regions with a cold slab, and without */
  struct region *spare;        /* regions that are not mapped */
  struct region *_Atomic all; /* every region, the newest first; only ever extended */
  atomic_int forgotten;       /* whether the regions, another process's, have been unmapped */
  size_t count;               /* mapped regions */
  size_t empty;               /* mapped regions without a slab in use: one is kept */
  struct slab *warm;
  unsigned warm_count;
  struct slab *open[CLASSES]; /* slabs with a free block, by size */
  struct arena *parents;      /* not freed: another thread of the child may be reading it */
};

static struct arena *_Atomic process_arena;

/* ---- sizes ---- */

static unsigned class_of(size_t block)
{
  return block <= 1024   ? (unsigned)(block / 64 - 1)
         : block <= 2048 ? (unsigned)(16 + (block - 1024) / 128 - 1)
                         : (unsigned)(24 + (block - 2048) / 256 - 1);
}

/* ---- lists ---- */

static void put_first(struct slab **list, struct slab *s)
{
  s->next = *list;
  s->before = NULL;
  if (*list != NULL)
    (*list)->before = s;
  *list = s;
}

static void take_from(struct slab **list, struct slab *s)
{
  if (s->before != NULL)
    s->before->next = s->next;
  else
    *list = s->next;
  if (s->next != NULL)
    s->next->before = s->before;
}

/* ---- regions ---- */

/* Map a region at a multiple of its size, so that a block's address gives its region. */
static unsigned char *map_region(int *locked)
{
  unsigned char *p = mmap(NULL, 2 * (size_t)REGION_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return NULL;
  size_t before = (0 - (uintptr_t)p) % REGION_BYTES;
  if (before > 0)
    (void)munmap(p, before);
  (void)munmap(p + before + REGION_BYTES, REGION_BYTES - before);
  p += before;
  /* as in pages.c for a key's own mapping; for the same reasons failure is no error */
  (void)madvise(p, REGION_BYTES, MADV_DONTDUMP);
  (void)madvise(p, REGION_BYTES, MADV_NOHUGEPAGE);
  (void)madvise(p, REGION_BYTES, MADV_WIPEONFORK);
  *locked = mlock2(p, REGION_BYTES, MLOCK_ONFAULT) == 0;
  return p;
}

static void put_region(struct region **list, struct region *r)
{
  r->next = *list;
  r->before = NULL;
  if (*list != NULL)
    (*list)->before = r;
  *list = r;
}

static void take_region(struct region **list, struct region *r)
{
  if (r->before != NULL)
    r->before->next = r->next;
  else
    *list = r->next;
  if (r->next != NULL)
    r->next->before = r->before;
}

/* Return a region that is not mapped, the first of the spare ones. */
static struct region *spare_region(struct arena *a)
{
  struct region *r = a->spare;
  if (r != NULL || (r = calloc(1, sizeof *r)) == NULL)
    return r;
  put_region(&a->spare, r);
  r->older = atomic_load(&a->all);
  atomic_store(&a->all, r);
  return r;
}

/* Add a region that is mapped, zeroed and in no list. */
static void begin_region(struct arena *a, struct region *r)
{
  atomic_store(&r->mapped, r->from);
  memcpy(r->from, &r, sizeof r);
  r->cold = NULL;
  for (unsigned i = SLABS; i-- > 1;) {
    r->slab[i].region = r;
    put_first(&r->cold, &r->slab[i]);
  }
  put_region(&a->roomy, r);
  a->count++;
  a->empty++;
}

static struct region *new_region(struct arena *a)
{
  struct region *r = spare_region(a);
  if (r == NULL || (r->from = map_region(&r->locked)) == NULL)
    return NULL;
  take_region(&a->spare, r);
  begin_region(a, r);
  return r;
}

/* The region of a block in use. */
static struct region *region_of(const void *block)
{
  struct region *r;
  memcpy(&r, (const unsigned char *)block - (uintptr_t)block % REGION_BYTES, sizeof r);
  return r;
}

static void take_warm(struct arena *a, struct slab *s)
{
  take_from(&a->warm, s);
  a->warm_count--;
  s->warm = 0;
}

/* Unmap a region whose slabs are all empty. */
static void free_region(struct arena *a, struct region *r)
{
  take_region(r->cold != NULL ? &a->roomy : &a->full, r);
  for (unsigned i = 1; i < SLABS; i++)
    if (r->slab[i].warm)
      take_warm(a, &r->slab[i]);
  a->count--;
  a->empty--;
  atomic_store(&r->mapped, NULL); /* before another mapping can take its address */
  if (munmap(r->from, REGION_BYTES) == 0) {
    put_region(&a->spare, r);
  } else { /* the hole would exceed the limit of mappings: keep the region, without pages */
    (void)madvise(r->from, REGION_BYTES, r->locked ? MADV_DONTNEED_LOCKED : MADV_DONTNEED);
    begin_region(a, r);
  }
}

/* ---- slabs ---- */

static unsigned char *slab_bytes(const struct slab *s)
{
  return s->region->from + (size_t)(s - s->region->slab) * SLAB_BYTES;
}

static struct slab *cold_slab(struct arena *a)
{
  struct region *r = a->roomy;
  if (r == NULL && (r = new_region(a)) == NULL)
    return NULL;
  struct slab *s = r->cold;
  take_from(&r->cold, s);
  if (r->cold == NULL) {
    take_region(&a->roomy, r);
    put_region(&a->full, r);
  }
  return s;
}

static struct slab *new_slab(struct arena *a, size_t block)
{
  struct slab *s = a->warm;
  if (s != NULL)
    take_warm(a, s);
  else if ((s = cold_slab(a)) == NULL)
    return NULL;
  a->empty -= s->region->slabs_used++ == 0;
  s->block = (uint32_t)block;
  s->used = s->cut = s->freed = 0;
  put_first(&a->open[class_of(block)], s);
  return s;
}

static unsigned slab_blocks(const struct slab *s)
{
  return SLAB_BYTES / s->block;
}

/* All blocks are zero, so the empty slab can be cut again. */
static void empty_slab(struct arena *a, struct slab *s)
{
  struct region *r = s->region;
  take_from(&a->open[class_of(s->block)], s);
  memset(slab_bytes(s), 0, (size_t)s->cut * s->block); /* clear the links */
  if (a->warm_count < WARM_MAX) {
    s->warm = 1;
    a->warm_count++;
    put_first(&a->warm, s);
  } else {
    (void)madvise(slab_bytes(s), SLAB_BYTES, r->locked ? MADV_DONTNEED_LOCKED : MADV_DONTNEED);
    if (r->cold == NULL) {
      take_region(&a->full, r);
      put_region(&a->roomy, r);
    }
    put_first(&r->cold, s);
  }
  /* keep one empty region: otherwise keys that come and go at a full arena would map one each
   * time */
  if (--r->slabs_used == 0 && ++a->empty > 1)
    free_region(a, r);
}

/* ---- the process's arena ---- */

/* Unmap the regions of another process's arena, if fork copied any.  Another thread of that
 * process may have changed the arena while fork copied it page by page, so its data may be
 * inconsistent: this reads only what is written once, and each region's address. */
static void unmap_copies(struct arena *a)
{
  if (atomic_exchange(&a->forgotten, 1) != 0)
    return;
  for (struct region *r = atomic_load(&a->all); r != NULL; r = r->older) {
    unsigned char *p = atomic_load(&r->mapped);
    if (p != NULL)
      (void)munmap(p, REGION_BYTES);
  }
}

static struct arena *own_arena(void)
{
  struct arena *a = atomic_load(&process_arena);
  uint64_t process = pprf_process();
  if (a != NULL && a->maker == process)
    return a;
  struct arena *fresh = calloc(1, sizeof *fresh);
  if (fresh == NULL)
    return NULL;
  *fresh = (struct arena){.maker = process, .parents = a};
  (void)pthread_mutex_init(&fresh->lock, NULL);
  if (!atomic_compare_exchange_strong(&process_arena, &a, fresh)) { /* another thread was faster */
    free(fresh);
    return a;
  }
  if (a != NULL)
    unmap_copies(a);
  return fresh;
}

void opt_arena_forget_copies(void)
{
  struct arena *a = atomic_load(&process_arena);
  if (a != NULL && a->maker != pprf_process())
    unmap_copies(a);
}

/* ---- blocks ---- */

static void *take_block(struct arena *a, size_t bytes)
{
  struct slab *s = a->open[class_of(bytes)];
  if (s == NULL && (s = new_slab(a, bytes)) == NULL)
    return NULL;
  unsigned char *block;
  if (s->freed > 0) {
    block = slab_bytes(s) + (size_t)(s->freed - 1) * s->block;
    memcpy(&s->freed, block, sizeof s->freed);
    memset(block, 0, sizeof s->freed);
  } else {
    block = slab_bytes(s) + (size_t)s->cut++ * s->block;
  }
  if (++s->used == slab_blocks(s))
    take_from(&a->open[class_of(bytes)], s);
  return block;
}

void *opt_arena_take(size_t bytes)
{
  struct arena *a = own_arena();
  if (a == NULL)
    return NULL;
  (void)pthread_mutex_lock(&a->lock);
  void *block = take_block(a, bytes);
  (void)pthread_mutex_unlock(&a->lock);
  return block;
}

static void give_block(struct arena *a, unsigned char *block)
{
  struct region *r = region_of(block);
  struct slab *s = &r->slab[(size_t)(block - r->from) / SLAB_BYTES];
  if (s->used == slab_blocks(s))
    put_first(&a->open[class_of(s->block)], s);
  memcpy(block, &s->freed, sizeof s->freed);
  s->freed = (uint16_t)((size_t)(block - slab_bytes(s)) / s->block + 1);
  if (--s->used == 0)
    empty_slab(a, s);
}

void opt_arena_give(void *block, size_t bytes)
{
  struct arena *a = atomic_load(&process_arena);
  if (block == NULL)
    return;
  explicit_bzero(block, bytes);
  (void)pthread_mutex_lock(&a->lock);
  give_block(a, block);
  (void)pthread_mutex_unlock(&a->lock);
}

int opt_arena_locked(const void *block)
{
  struct arena *a = atomic_load(&process_arena);
  (void)pthread_mutex_lock(&a->lock);
  int locked = region_of(block)->locked;
  (void)pthread_mutex_unlock(&a->lock);
  return locked;
}

size_t opt_arena_mapped_bytes(void)
{
  struct arena *a = own_arena();
  return a == NULL ? 0 : a->count * REGION_BYTES;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What a child of fork finds of its parent's arena when another thread was changing it: fork copies page
 * after page, so a list's parts may be of different moments.  The lists are torn by hand here, and the
 * process's number is a variable.  TAP on stdout. */
#include "arena.c" /* its lists have no other name */

#include <errno.h>

#include "tap.h"

static uint64_t process = 1;

uint64_t pprf_process(void)
{
  return process;
}

enum { REGIONS = 3, BLOCK = 4096, BLOCKS = (SLABS - 1) * SLAB_BYTES / BLOCK };

static int is_mapped(const unsigned char *p)
{
  unsigned char pages[REGION_BYTES / 4096];
  return mincore((void *)(uintptr_t)p, REGION_BYTES, pages) == 0 || errno != ENOMEM;
}

/* A parent's arena with this many full regions, and where they are. */
static struct arena *parent(unsigned char *from[REGIONS])
{
  process++;
  for (unsigned i = 0; i < REGIONS; i++) {
    unsigned char *block = NULL;
    for (unsigned k = 0; k < BLOCKS; k++)
      block = opt_arena_take(BLOCK);
    from[i] = block - (uintptr_t)block % REGION_BYTES;
  }
  return atomic_load(&process_arena);
}

/* The child takes a block; the parent's regions are gone, its own block is good. */
static int child_lives(unsigned char *from[REGIONS])
{
  process++;
  alarm(20); /* a list that has become a circle */
  unsigned char *own = opt_arena_take(64);
  int good = own != NULL;
  for (unsigned i = 0; i < REGIONS; i++)
    good = good && (!is_mapped(from[i]) || own - (uintptr_t)own % REGION_BYTES == from[i]);
  if (good) {
    memset(own, 1, 64);
    opt_arena_give(own, 64);
  }
  alarm(0);
  return good;
}

int main(void)
{
  unsigned char *from[REGIONS];
  struct arena *a = parent(from);
  tap_ok(a->count == REGIONS && is_mapped(from[0]), "control: a parent's regions are mapped");
  tap_ok(child_lives(from), "a_child_unmaps_its_parents_regions");

  a = parent(from);
  a->full->next->next = a->full; /* moved to the front, before the first was */
  tap_ok(child_lives(from), "a_list_that_has_become_a_circle_is_followed_by_no_child");

  a = parent(from);
  a->roomy = a->full; /* put into one list, not yet taken from the other */
  tap_ok(child_lives(from), "a_region_in_two_lists_is_unmapped_once");

  a = parent(from);
  a->full = a->full->next->next; /* taken from one list, not yet in the other */
  tap_ok(child_lives(from), "a_region_in_no_list_is_unmapped_too");

  process++;
  unsigned char *block[2 * BLOCKS];
  for (unsigned i = 0; i < 2 * BLOCKS; i++)
    block[i] = opt_arena_take(BLOCK);
  unsigned char *first = block[0] - (uintptr_t)block[0] % REGION_BYTES;
  a = atomic_load(&process_arena);
  for (unsigned i = 0; i < BLOCKS; i++)
    opt_arena_give(block[i], BLOCK);
  unsigned char *place = is_mapped(first) ? NULL
                                          : mmap(first, REGION_BYTES, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tap_ok(a->count == 1 && place == first, "a region that was given back is another mapping's now");
  memset(place, 7, 4096);
  process++;
  tap_ok(opt_arena_take(64) != NULL && is_mapped(first) && first[8] == 7,
         "no_child_unmaps_what_is_another_mapping_now");

  process++;
  for (unsigned i = 0, n = 0, none = 0; i < 100; i++) {
    for (unsigned k = 0; k < 2 * BLOCKS; k++) {
      block[k] = opt_arena_take(BLOCK);
      none += block[k] == NULL;
    }
    for (unsigned k = 0; k < 2 * BLOCKS; k++)
      opt_arena_give(block[k], BLOCK);
    a = atomic_load(&process_arena);
    n = 0;
    for (struct region *r = atomic_load(&a->all); r != NULL; r = r->older)
      n++;
    if (i == 99)
      tap_ok(n == 2 && a->count == 1 && none == 0, "regions_that_come_and_go_are_the_same_two");
  }
  return tap_end();
}

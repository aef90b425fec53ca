/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the arena's lists: after any sequence of takes and gives each slab is in its list;
 * and of what a child of fork finds of its parent's arena if another thread was changing it,
 * because fork copies page by page and parts of a list may be from different moments.  The tests
 * tear lists by hand, and the process's number is a variable. Prints TAP; SEED repeats a run. */
#include "../../tools/meet.h"
#include "../packed/arena.c" /* its lists have no header */

#include <errno.h>
#include <sys/wait.h>

#include "../../tools/tap.h"

static uint64_t process = 1;

static void (*meanwhile)(void); /* what another thread does while one calls pprf_process, once */

uint64_t pprf_process(void)
{
  void (*act)(void) = meanwhile;
  meanwhile = NULL;
  if (act != NULL)
    act();
  return process;
}

static void (*at_meeting)(void); /* what happens at an atomic operation */

static void meet(void)
{
  void (*act)(void) = at_meeting;
  at_meeting = NULL;
  if (act != NULL)
    act();
}

enum { REGIONS = 3, BLOCK = 4096, BLOCKS = (SLABS - 1) * SLAB_BYTES / BLOCK };

static unsigned char *region_start(unsigned char *block)
{
  return block - (uintptr_t)block % REGION_BYTES;
}

static int is_mapped(const unsigned char *p)
{
  unsigned char pages[REGION_BYTES / 4096];
  return mincore((void *)(uintptr_t)p, REGION_BYTES, pages) == 0 || errno != ENOMEM;
}

/* A parent's arena with full regions, and their addresses. */
static struct arena *parent(unsigned char *from[REGIONS])
{
  process++;
  for (unsigned i = 0; i < REGIONS; i++) {
    unsigned char *block = NULL;
    for (unsigned k = 0; k < BLOCKS; k++)
      block = opt_arena_take(BLOCK);
    from[i] = region_start(block);
  }
  return atomic_load(&process_arena);
}

/* The child takes a block: the parent's regions are unmapped, and its own block is usable. */
static int child_lives(unsigned char *from[REGIONS])
{
  process++;
  alarm(20); /* in case a list has become a circle */
  unsigned char *own = opt_arena_take(64);
  int good = own != NULL;
  for (unsigned i = 0; i < REGIONS; i++)
    good = good && (!is_mapped(from[i]) || region_start(own) == from[i]);
  if (good) {
    memset(own, 1, 64);
    opt_arena_give(own, 64);
  }
  alarm(0);
  return good;
}

/* ---- the lists of free blocks ---- */

static unsigned in_list(const struct slab *list, const struct slab *s)
{
  unsigned n = 0;
  for (; list != NULL; list = list->next)
    n += list == s;
  return n;
}

/* Whether the links of a list agree in both directions, and it has at most `most` slabs. */
static int is_list(const struct slab *list, unsigned most)
{
  const struct slab *before = NULL;
  for (; list != NULL && most-- > 0; list = list->next) {
    if (list->before != before)
      return 0;
    before = list;
  }
  return list == NULL;
}

/* Whether a slab is in exactly the list it belongs to. */
static int is_slab_sound(const struct arena *a, const struct region *r, const struct slab *s)
{
  unsigned open = s->used > 0 && s->used < slab_blocks(s), opens = 0, links = 0;
  for (unsigned k = 0; k < CLASSES; k++)
    opens += in_list(a->open[k], s);
  if (s->used > 0) {
    const unsigned char *at = slab_bytes(s);
    for (uint16_t free_one = s->freed; free_one > 0 && links <= s->cut; links++)
      memcpy(&free_one, at + (size_t)(free_one - 1) * s->block, sizeof free_one);
  }
  return s->region == r && opens == open &&
         (!open || in_list(a->open[class_of(s->block)], s) == 1) &&
         in_list(a->warm, s) == (s->used == 0 && s->warm) &&
         in_list(r->cold, s) == (s->used == 0 && !s->warm) &&
         (s->used == 0 || (!s->warm && s->used + links == s->cut));
}

/* Whether this process's arena is consistent and has this many regions. */
static int is_sound(size_t regions)
{
  const struct arena *a = atomic_load(&process_arena);
  unsigned warm = 0;
  size_t count = 0, empty = 0;
  int sound = is_list(a->warm, WARM_MAX);
  for (unsigned k = 0; k < CLASSES; k++)
    sound = sound && is_list(a->open[k], 3 * SLABS);
  for (unsigned full = 0; full < 2; full++)
    for (const struct region *r = full ? a->full : a->roomy; sound && r != NULL; r = r->next) {
      unsigned used = 0;
      sound = is_list(r->cold, SLABS) && (r->cold == NULL) == full &&
              atomic_load(&r->mapped) == r->from && region_of(r->from) == r;
      for (unsigned i = 1; i < SLABS && sound; i++) {
        sound = is_slab_sound(a, r, &r->slab[i]);
        used += r->slab[i].used > 0;
        warm += r->slab[i].used == 0 && r->slab[i].warm;
      }
      sound = sound && r->slabs_used == used && ++count <= regions;
      empty += used == 0;
    }
  return sound && count == regions && a->count == regions && a->empty == empty && empty <= 1 &&
         a->warm_count == warm && opt_arena_mapped_bytes() == regions * REGION_BYTES;
}

/* Take and give blocks of all sizes, in alternating phases of mostly taking and mostly giving,
 * so that regions come and go. */
static int stays_sound(void)
{
  enum { HELD = 1200 };
  static unsigned char *block[HELD];
  static size_t bytes[HELD];
  uint64_t state = tap_seed();
  unsigned most = 0;
  tap_note("seed %llu", (unsigned long long)state);
  for (unsigned i = 0; i < 60000; i++) {
    unsigned k = (unsigned)(tap_random(&state) % HELD), takes = i / 5000 % 2 == 0;
    if (tap_random(&state) % 8 == 0)
      takes = !takes;
    if (takes && block[k] == NULL) {
      bytes[k] = opt_arena_fit(tap_random(&state) % BLOCK + 1);
      block[k] = opt_arena_take(bytes[k]);
      if (block[k] == NULL)
        return 0;
      memset(block[k], 0xff, bytes[k]);
    } else if (!takes && block[k] != NULL) {
      opt_arena_give(block[k], bytes[k]);
      block[k] = NULL;
    }
    unsigned regions = (unsigned)atomic_load(&process_arena)->count;
    most = regions > most ? regions : most;
    if (i % 500 == 499 && !is_sound(regions))
      return 0;
  }
  for (unsigned k = 0; k < HELD; k++)
    if (block[k] != NULL)
      opt_arena_give(block[k], bytes[k]);
  return most >= 3 && is_sound(1);
}

/* If all regions are full, taking and giving one block again and again maps a region only once;
 * when all are empty, one region stays. */
static int edge(void)
{
  static unsigned char *block[REGIONS * BLOCKS + 1];
  unsigned n = REGIONS * BLOCKS;
  int good = 1;
  process++;
  for (unsigned k = 0; k < n; k++)
    good = good && (block[k] = opt_arena_take(BLOCK)) != NULL;
  good = good && is_sound(REGIONS);
  for (unsigned k = 0; k < 4 && good; k++) {
    block[n] = opt_arena_take(BLOCK);
    good = block[n] != NULL && is_sound(REGIONS + 1);
    opt_arena_give(block[n], BLOCK);
    good = good && is_sound(REGIONS + 1);
  }
  for (unsigned k = 0; k < n && good; k++)
    opt_arena_give(block[k], BLOCK);
  return good && is_sound(1);
}

/* ---- two threads at the first use ---- */

static unsigned char *faster;

static void take_meanwhile(void)
{
  faster = opt_arena_take(64);
}

/* Both use the arena of the faster one. */
static int share_an_arena(void)
{
  meanwhile = take_meanwhile;
  unsigned char *slower = opt_arena_take(64);
  int good = faster != NULL && slower != NULL && slower != faster && is_sound(1) &&
             region_of(slower) == region_of(faster) &&
             opt_arena_locked(slower) == region_of(slower)->locked;
  opt_arena_give(faster, 64);
  opt_arena_give(slower, 64);
  return good && is_sound(1);
}

/* ---- a fork, or another thread of the child, at each atomic operation */

static unsigned char *held[REGIONS * BLOCKS]; /* blocks in use; NULL: none */
static unsigned forks, lost;

/* The child unmaps the regions that have a block in use. */
static void fork_there(void)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    process++;
    unsigned char *own = opt_arena_take(64);
    unsigned left = own == NULL;
    for (unsigned k = 0; k < REGIONS * BLOCKS; k += BLOCKS / 2)
      left += held[k] != NULL && region_start(held[k]) != region_start(own) &&
              is_mapped(region_start(held[k]));
    _exit(left > 0);
  }
  forks++;
  lost += child < 0 || waitpid(child, &status, 0) != child || status != 0;
  at_meeting = fork_there;
}

static int forks_amid_changes(void)
{
  process++;
  at_meeting = fork_there;
  for (unsigned k = 0; k < REGIONS * BLOCKS; k++) {
    at_meeting = k % BLOCKS < 2 ? fork_there : NULL; /* where regions come and go */
    held[k] = opt_arena_take(BLOCK);
  }
  for (unsigned k = REGIONS * BLOCKS; k-- > 0;) {
    unsigned char *block = held[k];
    held[k] = NULL;
    at_meeting = k % BLOCKS < 2 ? fork_there : NULL;
    opt_arena_give(block, BLOCK);
  }
  at_meeting = NULL;
  return forks > 2 * REGIONS && lost == 0;
}

static unsigned char **parents; /* the regions that a child's threads unmap */
static unsigned char *others[REGIONS];
static unsigned meetings, meeting;

/* Another thread unmaps the regions, too, and then maps something else there. */
static void forget_and_map(void)
{
  opt_arena_forget_copies();
  for (unsigned i = 0; i < REGIONS; i++)
    others[i] = is_mapped(parents[i]) ? NULL
                                      : mmap(parents[i], REGION_BYTES, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void forget_at_a_meeting(void)
{
  if (++meetings == meeting)
    forget_and_map();
  else
    at_meeting = forget_at_a_meeting;
}

static int threads_forget(void)
{
  unsigned char *from[REGIONS];
  int good = 1;
  parents = from;
  meeting = 0;
  do {
    meeting++;
    (void)parent(from);
    process++;
    meetings = 0;
    at_meeting = forget_at_a_meeting;
    opt_arena_forget_copies();
    at_meeting = NULL;
    if (meetings < meeting)
      forget_and_map();
    for (unsigned i = 0; i < REGIONS; i++)
      good = good && is_mapped(from[i]) == (others[i] == from[i]) &&
             (others[i] == NULL || munmap(others[i], REGION_BYTES) == 0);
  } while (meetings >= meeting);
  return good && meeting > 3;
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
  a->roomy = a->full; /* put into one list, not yet removed from the other */
  tap_ok(child_lives(from), "a_region_in_two_lists_is_unmapped_once");

  a = parent(from);
  a->full = a->full->next->next; /* removed from one list, not yet in the other */
  tap_ok(child_lives(from), "a_region_in_no_list_is_unmapped_too");

  process++;
  unsigned char *block[3 * BLOCKS];
  for (unsigned i = 0; i < 3 * BLOCKS; i++)
    block[i] = opt_arena_take(BLOCK);
  unsigned char *first = region_start(block[0]);
  a = atomic_load(&process_arena);
  for (unsigned i = 0; i < BLOCKS; i++)
    opt_arena_give(block[2 * BLOCKS + i], BLOCK); /* this region is kept */
  for (unsigned i = 0; i < BLOCKS; i++)
    opt_arena_give(block[i], BLOCK);
  unsigned char *place = is_mapped(first) ? NULL
                                          : mmap(first, REGION_BYTES, PROT_READ | PROT_WRITE,
                                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  tap_ok(a->count == 2 && place == first, "a region that was given back is another mapping's now");
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

  process++;
  tap_ok(share_an_arena(), "of_two_threads_that_come_first_both_have_the_same_arena");
  process++;
  tap_ok(stays_sound(), "every_slab_is_in_the_list_that_it_belongs_to");
  tap_ok(edge(), "a_region_is_kept_when_it_is_empty_and_no_second_one");
  tap_ok(forks_amid_changes(), "a_fork_amid_a_change_leaves_no_region_in_the_child");
  tap_ok(threads_forget(), "of_two_threads_of_a_child_one_unmaps_the_regions");
  return tap_end();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The packed store.  A puncture of a leaf changes one page in place (fit.c), after a larger block
 * or a split if the page has no room.  A change of many leaves is a rewrite: the pages that have
 * such leaves, and no others, are written anew tile by tile, and replace the old ones when all are
 * complete.  If memory runs out before, nothing has changed.
 *
 * The arena wipes a block that is freed, and in a page no stale seed lies below the row of seeds in
 * use. */
#include "packed.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "pprf.h"
#include "sets/batch.h"
#include "load.h"

/* ---- pages ---- */

_Static_assert(sizeof(struct opt_page) == OPT_PAGE_HEAD, "a page's head");
_Static_assert((PPRF_SEED_BYTES + 1) * (PPRF_DEPTH_MAX + 1) + OPT_ARENA_MAX / 4 + 64 <=
                 OPT_ARENA_MAX,
               "a quarter of the greatest page and a co-path");

struct opt_page *opt_page_new(size_t bytes)
{
  size_t block = opt_arena_fit(bytes);
  struct opt_page *page = opt_arena_take(block);
  if (page != NULL)
    page->bytes = (uint16_t)block;
  return page;
}

void opt_page_free(struct opt_page *page)
{
  if (page != NULL)
    opt_arena_give(page, page->bytes);
}

/* ---- the index ---- */

static void free_index(struct opt_packed *p)
{
  if (p->first != &p->one_first)
    free(p->first);
  if (p->page != &p->one_page)
    free(p->page);
}

struct opt_index opt_index_new(const struct opt_packed *p, size_t room)
{
  struct opt_index index = {malloc(room * sizeof *index.first), malloc(room * sizeof *index.page)};
  (void)p; /* the index is not p's yet */
  if (index.first == NULL || index.page == NULL) {
    free(index.first);
    free(index.page);
    index.first = NULL;
  }
  return index;
}

void opt_index_free(struct opt_index index, size_t room)
{
  (void)room;
  free(index.first);
  free(index.page);
}

/* ---- many leaves ---- */

int opt_packed_puncture_set(struct opt_packed *p, const uint64_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count)
{
  struct opt_run *run = NULL;
  if (p->pages > p->many) /* as in opt_packed_puncture */
    p->page_max = OPT_ARENA_MAX;
  if (p->pages <= UINT32_MAX)
    run = malloc((n < p->pages ? n : p->pages) * sizeof *run);
  if (run == NULL)
    return PPRF_ERR_NOMEM;
  int err = opt_packed_puncture_runs(p, (struct opt_set){leaf, n, rest, count}, run);
  free(run);
  return err;
}

/* ---- the rest ---- */

/* Write the nodes of a source. */
static PPRF_WORK int put_source(struct opt_draft *d, opt_packed_source *next, void *from)
{
  struct opt_entry e;
  int err = PPRF_OK;
  while (err == PPRF_OK && next(from, &e))
    err = opt_load_node(d, e.node.start, e.node.height, &e.seed);
  explicit_bzero(&e, sizeof e);
  return err;
}

int opt_packed_load(struct opt_packed *p, unsigned depth, uint64_t nodes, opt_packed_source *next,
                    void *from)
{
  struct opt_draft d;
  int err = opt_load_begin(p, &d, depth, nodes);
  if (err != PPRF_OK)
    return err;
  err = put_source(&d, next, from);
  if (err == PPRF_OK)
    err = opt_load_end(p, &d);
  if (err != PPRF_OK) {
    while (d.n > 0)
      opt_page_free(d.pages[--d.n]);
    opt_index_free((struct opt_index){d.first, d.pages}, d.room);
  }
  return err;
}

void opt_packed_close(struct opt_packed *p)
{
  for (size_t i = 0; i < p->pages; i++)
    opt_page_free(p->page[i]);
  free_index(p);
}

void opt_packed_drop_copy(struct opt_packed *p)
{
  free_index(p);
  opt_arena_forget_copies();
}

/* Fetch all lines that the page may have: its header, which gives their number, may not be
 * cached yet. */
static void fetch_page(const struct opt_packed *p, size_t i)
{
  enum { LINE_BYTES = 64 };
  uintptr_t page = (uintptr_t)p->page[i];
  for (size_t at = 0; at < p->page_max; at += LINE_BYTES)
    __builtin_prefetch((const void *)(page + at), 1);
}

void opt_packed_prefetch(const struct opt_packed *p, uint64_t leaf)
{
  fetch_page(p, opt_page_of(p, leaf));
}

void opt_packed_near(struct opt_packed *p, uint64_t leaf)
{
  p->near = opt_page_of(p, leaf);
  fetch_page(p, p->near);
}

size_t opt_packed_bytes(const struct opt_packed *p)
{
  size_t bytes = p->first == &p->one_first ? 0
                                           : malloc_usable_size(p->first) +
                                               malloc_usable_size(p->page) + 2 * sizeof(size_t);
  for (size_t i = 0; i < p->pages; i++)
    bytes += p->page[i]->bytes;
  return bytes;
}

int opt_packed_locked(const struct opt_packed *p)
{
  for (size_t i = 0; i < p->pages; i++)
    if (!opt_arena_locked(p->page[i]))
      return 0;
  return 1;
}

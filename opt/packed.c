/* SPDX-License-Identifier: Apache-2.0 */
/* A puncture of a leaf changes one page in place (fit.c), after it was given more memory or was split if it is
 * full.  Whatever touches more is a rewrite: the pages that it meets, and no others, are written anew, tile by
 * tile, and take the old pages' place when all of them are there; what lacks memory before that changes
 * nothing.
 *
 * A block that leaves its place is wiped by the arena, and within a page no seed lies below the row of
 * those that count. */
#include "packed.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "pprf.h"
#include "packed_load.h"
#include "packed_splice.h"

enum { SEED_BYTES = sizeof(struct pprf_seed) };

/* ---- pages ---- */

_Static_assert(sizeof(struct opt_page) == OPT_PAGE_HEAD, "a page's head");
_Static_assert((SEED_BYTES + 1) * (PPRF_DEPTH_MAX + 1) + OPT_ARENA_MAX / 4 + 64 <= OPT_ARENA_MAX,
               "a quarter of the greatest page and a co-path");

static struct pprf_seed *seed_at(const struct opt_page *page, unsigned i)
{
  return opt_page_row(page, i + 1);
}

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

static void free_index(const struct opt_packed *p, uint64_t *first, struct opt_page **page)
{
  if (first != &p->one_first)
    free(first);
  if (page != &p->one_page)
    free(page);
}

struct opt_index opt_index_new(const struct opt_packed *p, size_t room)
{
  struct opt_index index = {malloc(room * sizeof *index.first), malloc(room * sizeof *index.page)};
  (void)p; /* to which it does not belong yet */
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

/* ---- rewrites ---- */

/* Pages from .. to, one after the other, that a change meets, and in the draft their new ones. */
struct run {
  size_t from, to;
  size_t at, n; /* in the draft: the first of them, how many there are */
};

/* Take memory for a draft of the runs, whose tiles and seeds have so many bytes at most, and room in the
 * index; on an error there is no draft. */
static int open_draft(struct opt_draft *d, struct opt_packed *p, size_t runs, uint64_t bytes)
{
  uint64_t room = p->page_max - sizeof(struct opt_page);
  uint64_t n = bytes <= room ? 1 : bytes / (room * 3 / 4) + 1;
  size_t block = (size_t)(sizeof(struct opt_page) + bytes / n + 1 + SEED_BYTES);
  *d = (struct opt_draft){.block = opt_arena_fit(block < p->page_max ? block : p->page_max),
                          .room = (size_t)n + runs}; /* each run may have a page that is not full */
  int err = PPRF_ERR_NOMEM;
  if (n <= SIZE_MAX / 64 && (d->first = malloc(d->room * sizeof *d->first)) != NULL &&
      (d->pages = malloc(d->room * sizeof(struct opt_page *))) != NULL)
    err = opt_index_reserve(p, p->pages + (size_t)n);
  if (err != PPRF_OK) {
    free(d->first);
    free(d->pages);
  }
  return err;
}

/* Bytes that the tiles and seeds of a page take. */
static uint64_t row_bytes(const struct opt_page *page)
{
  return opt_page_used(page) - sizeof(struct opt_page);
}

/* Begin the new pages of a run, and end them. */
static void begin_run(struct opt_draft *d, const struct opt_packed *p, struct run *run)
{
  opt_draft_begin(d, p->first[run->from]);
  run->at = d->at;
}

static void end_run(const struct opt_draft *d, struct run *run)
{
  run->n = d->n - d->at;
}

/* Let a draft's pages take the place of the runs', in leaf order and no two of them beside each other, and give
 * back what they have too much; or, on an error, give the draft's back.  Returns err. */
static int close_draft(struct opt_draft *d, struct opt_packed *p, struct run *run, size_t runs,
                       int err)
{
  if (err == PPRF_OK) {
    for (size_t k = runs; k-- > 0;) /* the last one first: what is before it stays where it is */
      opt_packed_splice(p, run[k].from, run[k].to, d->first + run[k].at, d->pages + run[k].at,
                        run[k].n);
    opt_index_tidy(p);
    size_t more = 0; /* pages that have come in before a run; where some have gone it wraps */
    for (size_t k = 0; k < runs; k++) {
      size_t old = run[k].to - run[k].from + 1;
      run[k].from += more;
      more += run[k].n - old;
    }
    /* and here: a page that is joined to another moves those behind it alone */
    for (size_t k = runs; k-- > 0;)
      for (size_t i = run[k].from + run[k].n; i-- > run[k].from;)
        opt_packed_tidy(p, i);
  } else {
    while (d->n > 0)
      opt_page_free(d->pages[--d->n]);
  }
  free(d->first);
  free(d->pages);
  return err;
}

/* ---- many leaves ---- */

/* A live node that comes in. */
struct piece {
  uint64_t start;
  const struct pprf_seed *seed;
  unsigned height;
};

/* Ascending leaves that are punctured, and the nodes that are left of the live nodes which they meet, in leaf
 * order. */
struct change {
  const uint64_t *leaf;
  size_t leaves;
  const struct piece *piece;
  size_t pieces;
};

static struct piece piece_of(const struct opt_entry *e)
{
  return (struct piece){e->node.start, &e->seed, e->node.height};
}

static int by_start(const void *a, const void *b)
{
  const struct piece *x = a, *y = b;
  return (x->start > y->start) - (x->start < y->start);
}

/* Whether the leaves start .. end - 1, behind all those asked for before, have a leaf to be punctured. */
static int meets(struct change *c, uint64_t start, uint64_t end)
{
  while (c->leaves > 0 && *c->leaf < start) {
    c->leaf++;
    c->leaves--;
  }
  return c->leaves > 0 && *c->leaf < end;
}

/* Write what is left of the live node that ends at end. */
static int put_pieces(struct opt_draft *d, struct change *c, uint64_t end)
{
  for (; c->pieces > 0 && c->piece->start < end; c->piece++, c->pieces--) {
    int err = opt_draft_punctured(d, c->piece->start);
    if (err == PPRF_OK)
      err = opt_draft_live(d, c->piece->height, c->piece->seed);
    if (err != PPRF_OK)
      return err;
  }
  return opt_draft_punctured(d, end);
}

/* Write the tiles of a page with the change made. */
static int put_page(struct opt_draft *d, const struct opt_page *page, struct change *c)
{
  for (unsigned i = 0, k = 0; i < page->tiles; i++) {
    uint8_t tile = page->tile[i];
    uint64_t end = d->end + opt_tile_leaves(tile);
    int err;
    if (!opt_tile_live(tile))
      err = opt_draft_hole(d, opt_tile_height(tile));
    else if (meets(c, d->end, end))
      err = put_pieces(d, c, end);
    else
      err = opt_draft_live(d, opt_tile_height(tile), seed_at(page, k));
    if (err != PPRF_OK)
      return err;
    k += opt_tile_live(tile);
  }
  return PPRF_OK;
}

/* Bytes that the pages of the runs and what comes in take at most. */
static uint64_t bytes_at_most(const struct opt_packed *p, const struct run *run, size_t runs,
                              const struct change *c)
{
  uint64_t bytes = (uint64_t)(SEED_BYTES + 1) * c->pieces + c->leaves;
  for (size_t k = 0; k < runs; k++)
    for (size_t i = run[k].from; i <= run[k].to; i++)
      bytes += row_bytes(p->page[i]);
  return bytes;
}

/* Write the pages of a run with the change made. */
static int put_run(struct opt_draft *d, const struct opt_packed *p, struct run *run,
                   struct change *c)
{
  int err = PPRF_OK;
  begin_run(d, p, run);
  for (size_t i = run->from; i <= run->to && err == PPRF_OK; i++)
    err = put_page(d, p->page[i], c);
  end_run(d, run);
  return err;
}

/* Make a change of the runs. */
static int change_runs(struct opt_packed *p, struct run *run, size_t runs, struct change c)
{
  struct opt_draft d;
  int err = open_draft(&d, p, runs, bytes_at_most(p, run, runs, &c));
  if (err != PPRF_OK)
    return err;
  for (size_t k = 0; k < runs && err == PPRF_OK; k++)
    err = put_run(&d, p, &run[k], &c);
  return close_draft(&d, p, run, runs, err);
}

/* The runs of pages that have leaves of an ascending row: not more than leaves, or pages. */
static size_t runs_of(const struct opt_packed *p, const uint64_t *leaf, size_t n, struct run *run)
{
  size_t runs = 0;
  for (size_t i = 0, met; i < n;) {
    met = opt_page_of(p, leaf[i]);
    if (runs > 0 && run[runs - 1].to + 1 == met)
      run[runs - 1].to = met;
    else
      run[runs++] = (struct run){.from = met, .to = met};
    for (i++; i < n && (met + 1 == p->pages || leaf[i] < p->first[met + 1]); i++)
      ;
  }
  return runs;
}

int opt_packed_puncture_set(struct opt_packed *p, const uint64_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count)
{
  struct piece *piece = count > SIZE_MAX / 64 ? NULL : malloc((count + 1) * sizeof *piece);
  struct run *run = n > SIZE_MAX / 64 ? NULL : malloc((n < p->pages ? n : p->pages) * sizeof *run);
  if (piece == NULL || run == NULL) {
    free(piece);
    free(run);
    return PPRF_ERR_NOMEM;
  }
  for (size_t i = 0; i < count; i++)
    piece[i] = piece_of(&rest[i]);
  qsort(piece, count, sizeof *piece, by_start);
  struct change c = {.leaf = leaf, .leaves = n, .piece = piece, .pieces = count};
  int err = change_runs(p, run, runs_of(p, leaf, n, run), c);
  free(run);
  free(piece);
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

/* The index goes last: a child that is forked meanwhile frees what its copy names. */
void opt_packed_close(struct opt_packed *p)
{
  uint64_t *first = p->first;
  struct opt_page **page = p->page;
  for (size_t i = 0; i < p->pages; i++)
    opt_page_free(page[i]);
  *p = (struct opt_packed){.depth = p->depth};
  free_index(p, first, page);
}

void opt_packed_drop_copy(struct opt_packed *p)
{
  free_index(p, p->first, p->page);
  opt_arena_forget_copies();
}

/* All lines that the page may have: how many it has is said in one that may not be there yet. */
void opt_packed_prefetch(const struct opt_packed *p, uint64_t leaf)
{
  enum { LINE_BYTES = 64 };
  uintptr_t page = (uintptr_t)p->page[opt_page_of(p, leaf)];
  for (size_t at = 0; at < p->page_max; at += LINE_BYTES)
    __builtin_prefetch((const void *)(page + at), 1);
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

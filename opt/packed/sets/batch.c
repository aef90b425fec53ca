/* SPDX-License-Identifier: Apache-2.0 */
/* The puncture of a set of leaves (batch.h). */
#include "batch.h"

#include "../arena.h"
#include "rewrite.h"
#include "pprf.h"

#include "../wp/index_steps.h"

#include "wp/batch_steps.h"

/* ---- the pages ---- */

/* Write all affected runs of pages into an empty draft, and replace the old pages.  Returns the
 * number of runs; 0: no memory. */
/*@ requires store: packed_key(root, p) && p->pages <= 0xffffffff && draft_beside(d, p);
    requires draft: draft_own(d) && d->n == 0 && d->nodes == 0 && d->room <= 0xffffffff &&
      d->block <= p->page_max && p->pages + d->room <= p->room;
    requires set: set_of_store(p, c) && set_stored(root, p->depth, d, c);
    requires runs: runs_beside(p, d, c, run, most) && runs_apart(p, d, run, most) &&
      runs_fewer(p, c, most);
    assigns run[0 .. most - 1], d->at, d->n, d->end, d->nodes, d->first[0 .. d->room - 1];
    assigns d->pages[0 .. d->room - 1] \from d->pages[0 .. d->room - 1], d->block,
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1], d->pages[0 .. d->room - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    OPT_RUNS_ARE_REPLACED */
static struct opt_runs_put replace_runs(struct opt_draft *d, struct opt_packed *p, struct opt_set c,
                                        struct opt_run *run)
  /*@ ghost (size_t most) */
{
  const struct opt_runs_put put = opt_packed_put_runs(d, p, c, run) /*@ ghost (most) */;
  RUNS_TO_TAKE_PLACE
  if (put.err != PPRF_OK) {
    opt_packed_drop_draft(d) /*@ ghost (p) */;
    return (struct opt_runs_put){0, put.err};
  }
  opt_packed_splice_runs(p, d, run, put.runs) /*@ ghost (c.leaves) */;
  RUNS_HAVE_TAKEN_PLACE
  return put;
}

/* replace_runs, after opening a draft in the given memory. */
/*@ requires store: packed_key(root, p) && p->pages <= 0xffffffff;
    requires set: set_of_store(p, c) && set_there(root, p->depth, c) && set_beside(p, c);
    requires runs: runs_outside(p, c, run, most) && runs_fewer(p, c, most);
    requires draft: \valid(d) && draft_outside(p, d) &&
      \separated(d, c.rest + (0 .. c.nodes - 1)) && \separated(d, c.leaf + (0 .. c.leaves - 1)) &&
      \separated(d, run + (0 .. most - 1));
    requires index: index_block(index.first, index.page, size.pages) &&
      \separated(index.first + (0 .. size.pages - 1), p->first + (0 .. p->room - 1)) &&
      \separated(index.page + (0 .. size.pages - 1), p->page + (0 .. p->room - 1));
    requires size: 1 <= size.pages <= 0xffffffff && 25 <= size.block <= p->page_max;
    requires room: p->pages + size.pages <= p->room;
    assigns run[0 .. most - 1], *d, index.first[0 .. size.pages - 1];
    assigns index.page[0 .. size.pages - 1] \from index.page[0 .. size.pages - 1],
      opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->nodes, p->pages, p->first[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    assigns p->page[0 .. p->room - 1] \from p->page[0 .. p->room - 1],
      index.page[0 .. size.pages - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    OPT_RUNS_ARE_REPLACED */
static struct opt_runs_put batch_with(struct opt_draft *d, struct opt_packed *p, struct opt_set c,
                                      struct opt_run *run, struct opt_index index,
                                      struct opt_draft_size size)
  /*@ ghost (size_t most) */
{
  opt_packed_open_draft(d, p, 0, index, size) /*@ ghost (c.rest, c.nodes) */;
  SET_BESIDE_DRAFT
  return replace_runs(d, p, c, run) /*@ ghost (most) */;
}

/* Puncture a set; the index has room.  Returns the runs of new pages, and whether there was
 * memory. */
/*@ requires store: packed_key(root, p) && p->pages <= 0xffffffff;
    requires set: set_of_store(p, c) && set_there(root, p->depth, c) && set_beside(p, c);
    requires runs: runs_outside(p, c, run, most) && runs_fewer(p, c, most);
    requires size: 1 <= size.pages <= 0xffffffff && 25 <= size.block <= p->page_max;
    requires room: p->pages + size.pages <= p->room;
    assigns run[0 .. most - 1], p->nodes, p->pages, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1], p->first[0 .. p->room - 1];
    assigns p->page[0 .. p->room - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->page[0 .. p->room - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1], opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures results: \result.err == 0 || \result.err == PPRF_ERR_NOMEM;
    ensures count: \result.runs <= most;
    ensures store: packed_key(root, p);
    ensures punctured: \result.err == 0 ==> \forall integer x;
      packed_punctured(p, x) <==> packed_punctured{Pre}(p, x) || in_set(c.leaves, x);
    ensures none: \result.err != 0 ==> \result.runs == 0 && p->nodes == \old(p->nodes) &&
      \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static struct opt_runs_put rewrite_set(struct opt_packed *p, struct opt_set c, struct opt_run *run,
                                       struct opt_draft_size size)
  /*@ ghost (size_t most) */
{
  struct opt_index index = opt_index_new(p, size.pages);
  if (index.first == NULL)
    return (struct opt_runs_put){0, PPRF_ERR_NOMEM};
  struct opt_runs_put put;
  {
    struct opt_draft d;
    KEY_IN_BLOCK
    KEY_IS_HERE
    SET_IN_BLOCK
    DRAFT_IN_BLOCK
    put = batch_with(&d, p, c, run, index, size) /*@ ghost (most) */;
    PAGES_AT_END
    RANGE_AT_END
    KEY_AT_END
    DRAFT_AT_END
  }
  KEY_IS_HERE
  INDEX_OF_DRAFT
  opt_packed_drop_index(index, size.pages) /*@ ghost (p) */;
  return put;
}

/* ---- the memory ---- */

/* Size of a draft for the pages that a set affects.  The last page of each run may be partly
 * empty; in the others less than a tile and a seed stay unused. */
/*@ requires store: packed_holds(root, p) && packed_sized(p) && p->pages <= 0xffffffff;
    requires set: set_is(c.leaf, c.leaves) && \valid_read(c.leaf + (0 .. c.leaves - 1)) &&
      set_in_tree(p->depth, c.leaves);
    requires few: c.leaves <= 0xffffffffffff && c.nodes <= 0xffffffffffff;
    assigns \nothing;
    ensures pages: 1 <= \result.pages <= 0x2000000000000000;
    ensures block: 25 <= \result.block <= p->page_max; */
static struct opt_draft_size size_of_set(const struct opt_packed *p, struct opt_set c)
{
  enum { SEED_BYTES = sizeof(struct pprf_seed) };
  uint64_t bytes = (SEED_BYTES + 1) * (uint64_t)c.nodes + c.leaves; /* tiles and seeds at most */
  size_t runs = 0;
  size_t at = 0, next = 0; /* first page after the affected ones so far */
  /*@ loop invariant place: 0 <= next <= p->pages && runs <= next;
      loop invariant before: next < p->pages ==> set_before(c.leaves, at, p->first[next]);
      loop invariant few: at <= c.leaves;
      loop invariant bytes: bytes <= 17 * c.nodes + c.leaves + 4096 * next;
      loop assigns at, next, bytes, runs;
      loop variant p->pages - next; */
  while (next < p->pages) {
    at = opt_set_from(c, at, p->first[next]);
    if (at == c.leaves)
      break;
    PAGE_TO_MEET
    size_t met = opt_page_of(p, c.leaf[at]);
    PAGE_IS_MET
    bytes += opt_page_used(p->page[met]) - OPT_PAGE_HEAD;
    if (met > next || runs == 0)
      runs++;
    next = met + 1;
    NEXT_TO_MEET
  }
  SET_IS_MEASURED
  uint64_t room = p->page_max - OPT_PAGE_HEAD; /* for tiles and seeds */
  uint64_t n = bytes <= room ? 1 : bytes / (room / 4 * 3) + 1; /* pages may be partly empty */
  size_t block = OPT_PAGE_HEAD + bytes / n + 1 + SEED_BYTES;
  if (runs > 1) /* so that no run needs a second page; unused memory is freed at the end */
    block = p->page_max;
  else if (block < p->page_max)
    block = opt_arena_fit(block);
  return (struct opt_draft_size){n + runs, block < p->page_max ? block : p->page_max};
}

/* Make room in the index; the set is unchanged.  0, or PPRF_ERR_NOMEM. */
/*@ requires store: packed_key(root, p) && pages <= 0x7fffffffffffffff;
    requires set: set_of_store(p, c) && set_there(root, p->depth, c) && set_beside(p, c);
    assigns p->room, p->one_first, opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures results: \result == 0 || \result == PPRF_ERR_NOMEM;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures room: \result == 0 ==> pages <= p->room;
    ensures set: set_of_store(p, c) && set_there(root, p->depth, c) && set_beside(p, c); */
static inline int reserve_for_set(struct opt_packed *p, size_t pages)
  /*@ ghost (struct opt_set c) */
{
  SET_BESIDE_STORE
  int err = opt_index_reserve(p, pages);
  SET_IS_KEPT
  return err;
}

int opt_packed_puncture_runs(struct opt_packed *p, struct opt_set c, struct opt_run *run)
  /*@ ghost (size_t most) */
{
  struct opt_draft_size size = size_of_set(p, c);
  if (size.pages > UINT32_MAX / 64)
    return PPRF_ERR_NOMEM; /* so many pages would take 100 GB */
  SET_TO_REWRITE
  int err = reserve_for_set(p, p->pages + size.pages) /*@ ghost (c) */;
  SET_HAS_ROOM
  if (err != PPRF_OK)
    return err;
  struct opt_runs_put put = rewrite_set(p, c, run, size) /*@ ghost (most) */;
  SET_IS_REWRITTEN
  opt_packed_tidy_runs(p, run, put.runs);
  SET_IS_TIDY
  return put.err;
}

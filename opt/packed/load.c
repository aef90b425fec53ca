/* SPDX-License-Identifier: Apache-2.0 */
/* Making a packed store from the root, or from nodes (load.h). */
#include "load.h"

#include "pprf.h"

#include "wp/load_steps.h"

/* With more pages than this, larger pages are cheaper than more places in the index. */
enum { MANY_PAGES = 1 << 17 };

/* Size of a block for `least` bytes: 2048 or more; the greatest block if none is large enough. */
/*@ assigns \nothing;
    ensures bytes: 2048 <= \result <= OPT_ARENA_MAX;
    ensures fits: least <= OPT_ARENA_MAX ==> least <= \result; */
static unsigned page_block(unsigned least)
{
  if (least < 2048)
    return 2048;
  size_t bytes = least < OPT_ARENA_MAX ? opt_arena_fit(least) : OPT_ARENA_MAX;
  return bytes < OPT_ARENA_MAX ? (unsigned)bytes : OPT_ARENA_MAX;
}

/* Greatest size of a page.  Half of a page plus a tile leaves room for a leaf's co-path; with
 * 32-byte seeds at depth 63 a quarter does.  Small pages are faster to search and to move; each
 * page takes 16 bytes of the index. */
/*@ requires depth: 1 <= depth <= 63;
    assigns \nothing;
    ensures bytes: page_size(depth, \result) && 25 <= \result; */
static unsigned page_max(unsigned depth)
{
  return page_block(2 * (PPRF_SEED_BYTES + 1) * depth + 64);
}

/* ---- the root ---- */

/* Write the root into a page. */
/*@ requires page: \valid(page) && page_clean(page) && page->tiles == 0 && page->seeds == 0 &&
      25 <= page->bytes <= OPT_ARENA_MAX;
    requires seed: \valid_read(seed) && \separated(seed, page) && 1 <= depth <= 63;
    assigns page->tiles, page->seeds, page->tile[0], page->seed[OPT_PAGE_SEEDS - 1];
    ensures page: page_holds(seed_value(\old(*seed)), depth, page, 0, pow2(depth)) &&
      page_clean(page);
    ensures seeds: page->seeds == 1 && page_bytes(page) == 25;
    ensures none: \forall integer x; !row_punctured(page_row(page), page->tiles, 0, x); */
static void put_root(struct opt_page *page, unsigned depth, const struct pprf_seed *seed)
{
  ROOT_OF_TREE
  page->tile[0] = (uint8_t)(OPT_TILE_LIVE + depth);
  page->tiles = page->seeds = 1;
  *opt_page_row(page, 1) = *seed;
  ROOT_IS_IN_PAGE
}

/* Make a page the whole store. */
/*@ requires memory: store_memory(p) && 1 <= depth <= 63;
    requires own: a_page(only) && page_clean(only);
    requires root: page_holds(root, depth, only, 0, pow2(depth)) && only->seeds == 1 &&
      page_bytes(only) == 25;
    requires none: \forall integer x; !row_punctured(page_row(only), only->tiles, 0, x);
    assigns *p \from depth, only;
    ensures store: packed_key(root, p) && p->depth == depth && p->nodes == 1;
    ensures none: \forall integer x; !packed_punctured(p, x); */
static void set_page(struct opt_packed *p, unsigned depth, struct opt_page *only)
{
  *p = (struct opt_packed){.nodes = 1,
                           .depth = depth,
                           .page_max = page_max(depth),
                           .many = MANY_PAGES,
                           .pages = 1,
                           .room = 1,
                           .one_page = only};
  p->first = &p->one_first;
  p->page = &p->one_page;
  STORE_OF_ROOT
}

int opt_packed_open(struct opt_packed *p, unsigned depth, const struct pprf_seed *seed)
{
  struct opt_page *page = opt_page_new(OPT_PAGE_HEAD + 1 + PPRF_SEED_BYTES);
  if (page == NULL)
    return PPRF_ERR_NOMEM;
  //@ assert seed: seed->lo == \at(seed->lo,Pre) && seed->hi == \at(seed->hi,Pre);
  put_root(page, depth, seed);
  set_page(p, depth, page);
  return PPRF_OK;
}

/* ---- nodes ---- */

/* Room in the draft: each node has a live tile and at most `depth` punctured tiles beside the
 * path to it, and in every page but the last less than a tile and a seed stay unused. */
int opt_load_begin(struct opt_packed *p, struct opt_draft *d, unsigned depth, uint64_t nodes)
{
  if (nodes > SIZE_MAX / 128)
    return PPRF_ERR_NOMEM;
  *p = (struct opt_packed){.depth = depth, .page_max = page_max(depth), .many = MANY_PAGES};
  size_t room = (size_t)nodes * (depth + 1 + PPRF_SEED_BYTES) /
                  (p->page_max - OPT_PAGE_HEAD - 1 - PPRF_SEED_BYTES) +
                2;
  struct opt_index index = opt_index_new(p, room);
  if (index.first == NULL)
    return PPRF_ERR_NOMEM;
  *d = (struct opt_draft){
    .block = p->page_max, .first = index.first, .pages = index.page, .room = room};
  DRAFT_IS_EMPTY
  return PPRF_OK;
}

int opt_load_node(struct opt_draft *d, uint64_t start, unsigned height,
                  const struct pprf_seed *seed)
  /*@ ghost (const struct opt_packed *p) */
{
  NODE_TO_LOAD
  int err = opt_draft_punctured(d, start) /*@ ghost (p->depth, 0) */;
  GAP_IS_LOADED
  if (err == PPRF_OK)
    err = opt_draft_live(d, height, seed) /*@ ghost (p->depth, 0) */;
  NODE_IS_LOADED
  return err;
}

/* Number of seeds in all pages. */
/*@ requires index: \valid_read(p) && p->pages <= OPT_INDEX_MAX &&
      \valid_read(p->page + (0 .. p->pages - 1));
    requires pages: \forall integer k; 0 <= k < p->pages ==> \valid_read(p->page[k]);
    assigns \nothing;
    ensures seeds: \result == seeds_in_pages(p, p->pages); */
static uint64_t seeds_of(const struct opt_packed *p)
{
  uint64_t seeds = 0;
  /*@ loop invariant 0 <= k <= p->pages;
      loop invariant seeds: seeds == seeds_in_pages(p, k);
      loop invariant bound: seeds <= 0xffff * k;
      loop assigns k, seeds;
      loop variant p->pages - k; */
  for (size_t k = 0; k < p->pages; k++) {
    //@ assert step: count_step(p, k);
    seeds += p->page[k]->seeds;
  }
  return seeds;
}

/* Make the draft's pages the store, and its arrays the index. */
/*@ requires loading: loading(root, p, d) && d->end == pow2(p->depth);
    assigns p->nodes, p->page_max, p->pages, p->room;
    assigns p->first, p->page \from d->first, d->pages;
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> draft_punctured{Pre}(d, x); */
static void set_pages(struct opt_packed *p, const struct opt_draft *d)
{
  PAGES_OF_DRAFT
  p->first = d->first;
  p->page = d->pages;
  p->pages = d->n;
  p->room = d->room;
  p->nodes = seeds_of(p);
  if (p->pages > p->many)
    p->page_max = OPT_ARENA_MAX;
  PAGES_OF_STORE
}

int opt_load_end(struct opt_packed *p, struct opt_draft *d)
{
  REST_TO_LOAD
  int err = opt_draft_punctured(d, UINT64_C(1) << p->depth) /*@ ghost (p->depth, 0) */;
  REST_IS_LOADED
  if (err != PPRF_OK)
    return err;
  set_pages(p, d);
  if (p->pages == 1) /* a smaller index of more pages would need an allocation */
    opt_index_tidy(p);
  /* the last page may be much smaller than its block */
  opt_packed_tidy(p, p->pages - 1);
  return PPRF_OK;
}

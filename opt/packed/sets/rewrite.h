/* SPDX-License-Identifier: Apache-2.0 */
/** @file rewrite.h
 * What the rewrites of a range (range.c) and of a set (batch.c) share: opening a draft beside the
 * store, freeing it if memory runs out, and freeing what the new pages do not use. */
#ifndef PPRF_OPT_PACKED_REWRITE_H
#define PPRF_OPT_PACKED_REWRITE_H

#include "range.h"

/** Upper bound on the pages of a draft, and the bytes of one. */
struct opt_draft_size {
  size_t pages, block;
};

/** Open an empty draft for the pages from .. on of a store; the store and nodes to be written
 * later are unchanged. */
/*@ requires store: packed_key(root, p) && from < p->pages;
    requires memory: \valid(d) && draft_outside(p, d) &&
      index_block(index.first, index.page, size.pages) &&
      \separated(index.first + (0 .. size.pages - 1), p->first + (0 .. p->room - 1)) &&
      \separated(index.page + (0 .. size.pages - 1), p->page + (0 .. p->room - 1));
    requires size: 1 <= size.pages && 25 <= size.block <= p->page_max;
    requires nodes: entries_outside(p, d, e, n) && tree_entries(root, p->depth, e, n);
    assigns *d;
    ensures store: packed_key(root, p) && index_same{Pre,Post}(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures draft: draft_own(d) && d->end == p->first[from] && d->nodes == 0 && d->at == 0 &&
      d->n == 0;
    ensures memory: d->first == index.first && d->pages == index.page && d->room == size.pages &&
      d->block == size.block;
    ensures apart: store_to_write(d, p);
    ensures nodes: tree_entries(root, p->depth, e, n) && entries_kept{Pre,Post}(e, n) &&
      entries_apart(d, e, n); */
void opt_packed_open_draft(struct opt_draft *d, const struct opt_packed *p, size_t from,
                           struct opt_index index, struct opt_draft_size size)
  /*@ ghost (const struct opt_entry *e, size_t n) */;

/** Free the pages of a draft, which are not part of the store; the store is unchanged. */
/*@ requires store: packed_key(root, p) && draft_beside(d, p);
    requires draft: draft_own(d) && run_new(p, d->pages, d->n);
    assigns opt_pages[0 .. OPT_PAGES_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_packed_drop_draft(const struct opt_draft *d)
  /*@ ghost (const struct opt_packed *p) */;

/** Free the memory of a draft's index, which is not the store's. */
/*@ requires store: packed_key(root, p);
    requires index: index_block(index.first, index.page, room) &&
      \separated(index.first + (0 .. room - 1), p->first + (0 .. p->room - 1)) &&
      \separated(index.page + (0 .. room - 1), p->page + (0 .. p->room - 1));
    assigns index.first[0 .. room - 1];
    assigns index.page[0 .. room - 1] \from index.page[0 .. room - 1];
    ensures store: packed_key(root, p) && p->nodes == \old(p->nodes);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_packed_drop_index(struct opt_index index, size_t room)
  /*@ ghost (const struct opt_packed *p) */;

/** Free what n pages from one on do not use.  The last page first: a page that is joined to
 * another moves only those after it. */
/*@ requires store: packed_key(root, p) && from + n <= 0x7fffffffffffffff;
    assigns p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_firsts[0 .. OPT_INDEX_MAX - 1];
    assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
      p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
      opt_lists[0 .. OPT_INDEX_MAX - 1];
    ensures store: packed_key(root, p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
void opt_packed_tidy_run(struct opt_packed *p, size_t from, size_t n);

#endif

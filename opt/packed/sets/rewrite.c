/* SPDX-License-Identifier: Apache-2.0 */
/* Opening, freeing and tidying a draft beside a store (rewrite.h). */
#include "rewrite.h"

#include "../wp/index_steps.h"

#include "wp/range_steps.h"

/* Make a draft empty, beginning at a leaf. */
/*@ requires draft: \valid(d);
    assigns *d;
    ensures empty: d->end == end && d->nodes == 0 && d->at == 0 && d->n == 0;
    ensures memory: d->first == index.first && d->pages == index.page && d->room == size.pages &&
      d->block == size.block; */
static inline void set_empty(struct opt_draft *d, uint64_t end, struct opt_index index,
                             struct opt_draft_size size)
{
  d->end = end;
  d->nodes = 0;
  d->block = size.block;
  d->first = index.first;
  d->pages = index.page;
  d->n = 0;
  d->room = size.pages;
  d->at = 0;
}

/* set_empty for the pages from .. on of a store, which is unchanged. */
/*@ requires store: packed_key(root, p) && from < p->pages;
    requires memory: \valid(d) && draft_outside(p, d) &&
      index_block(index.first, index.page, size.pages) &&
      \separated(index.first + (0 .. size.pages - 1), p->first + (0 .. p->room - 1)) &&
      \separated(index.page + (0 .. size.pages - 1), p->page + (0 .. p->room - 1));
    requires size: 1 <= size.pages && 25 <= size.block <= p->page_max;
    assigns *d;
    ensures store: packed_key(root, p) && index_same{Pre,Post}(p);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x);
    ensures same_tiles: same_tiles{Pre,Post}(p);
    ensures draft: draft_own(d) && d->end == p->first[from] && d->nodes == 0 && d->at == 0 &&
      d->n == 0;
    ensures memory: d->first == index.first && d->pages == index.page && d->room == size.pages &&
      d->block == size.block;
    ensures apart: store_to_write(d, p); */
static inline void begin_draft(struct opt_draft *d, const struct opt_packed *p, size_t from,
                               struct opt_index index, struct opt_draft_size size)
{
  set_empty(d, p->first[from], index, size);
  ALL_IS_APART
  DRAFT_IS_EMPTY
}

void opt_packed_open_draft(struct opt_draft *d, const struct opt_packed *p, size_t from,
                           struct opt_index index, struct opt_draft_size size)
  /*@ ghost (const struct opt_entry *e, size_t n) */
{
  begin_draft(d, p, from, index, size);
  NODES_BESIDE_DRAFT
}

void opt_packed_drop_draft(const struct opt_draft *d)
  /*@ ghost (const struct opt_packed *p) */
{
  DRAFT_TO_DROP
  /*@ loop invariant place: 0 <= i <= d->n;
      loop invariant store: packed_holds(root, p) && packed_owns(p);
      loop invariant same: \forall integer x; packed_punctured(p, x) <==>
        packed_punctured{Pre}(p, x);
      loop invariant count: same_count{Pre,Here}(p);
      loop invariant within: pages_within(p);
      loop invariant spare: \forall integer j; i <= j < d->n ==> spare_page(p, d->pages[j]);
      loop assigns i, opt_pages[0 .. OPT_PAGES_MAX - 1];
      loop variant d->n - i; */
  for (size_t i = 0; i < d->n; i++) {
    PAGE_OF_DRAFT
    opt_packed_drop(d->pages[i]) /*@ ghost (p) */;
    PAGE_OF_DRAFT_IS_DROPPED
  }
  DRAFT_IS_DROPPED
}

void opt_packed_drop_index(struct opt_index index, size_t room)
  /*@ ghost (const struct opt_packed *p) */
{
  opt_index_free(index, room);
  ALL_IS_APART
}

void opt_packed_tidy_run(struct opt_packed *p, size_t from, size_t n)
{
  /*@ loop invariant place: from <= i <= from + n;
      loop invariant store: packed_key(root, p);
      loop invariant same: \forall integer x; packed_punctured(p, x) <==>
        packed_punctured{Pre}(p, x);
      loop assigns i, p->pages, p->room, p->one_first, opt_pages[0 .. OPT_PAGES_MAX - 1],
        opt_firsts[0 .. OPT_INDEX_MAX - 1];
      loop assigns p->first, p->page, p->one_page, opt_lists[0 .. OPT_INDEX_MAX - 1] \from p->first,
        p->page, p->page[0 .. p->room - 1], opt_pages[0 .. OPT_PAGES_MAX - 1],
        opt_lists[0 .. OPT_INDEX_MAX - 1];
      loop variant i; */
  for (size_t i = from + n; i > from; i--)
    if (i - 1 < p->pages)
      opt_packed_tidy(p, i - 1);
}

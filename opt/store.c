/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include "pages.h"

/* Blocks of 64^2 = 4096 leaves have 32 kB of slots, blocks of 64^3 leaves 32 kB of `dead`: these
 * go back to the system when the block is full. */
#define SLOTS_LEVEL 2
#define DEAD_LEVEL 3

void opt_store_load_node(struct opt_store *s, const struct opt_entry *e)
{
  s->slot[e->node.start >> 1] = e->seed;
  s->nodes++;
}

void opt_store_load_gap(struct opt_store *s, uint64_t first, uint64_t last)
{
  if (first <= last)
    opt_bitmap_puncture_range(&s->punctured, first, last);
}

int opt_store_next(const struct opt_store *s, uint64_t leaf, struct opt_node *node)
{
  leaf = opt_bitmap_next_live(&s->punctured, leaf);
  return leaf >> s->punctured.depth == 0 && opt_store_find(s, leaf, node);
}

/* Mark a live leaf as punctured.  The slots are up to date already. */
static void puncture_leaf(struct opt_store *s, uint64_t leaf)
{
  unsigned full = opt_bitmap_puncture(&s->punctured, leaf);
  if (full >= SLOTS_LEVEL) {
    uint64_t block = leaf >> 6 * SLOTS_LEVEL;
    opt_pages_release_slots(s, block << 6 * SLOTS_LEVEL, (block + 1) << 6 * SLOTS_LEVEL);
  }
  if (full >= DEAD_LEVEL) {
    uint64_t block = leaf >> 6 * DEAD_LEVEL;
    opt_pages_release_dead(s, block << 6 * DEAD_LEVEL, (block + 1) << 6 * DEAD_LEVEL);
  }
}

void opt_store_puncture(struct opt_store *s, uint64_t leaf, struct opt_node node,
                        const struct pprf_seed *copath)
{
  /* One of the siblings starts in the old node's pair and overwrites its seed, unless the node is
   * the leaf itself. */
  if (node.height == 0)
    s->slot[leaf >> 1] = (struct pprf_seed){0, 0};
  for (unsigned i = 0; i < node.height; i++)
    s->slot[((leaf >> i ^ 1) << i) >> 1] = copath[i];
  s->nodes = s->nodes + node.height - 1;
  puncture_leaf(s, leaf);
  if (s->nodes == 0)
    opt_pages_release_all(s);
}

/* The full blocks of a level among those that meet the punctured leaves first .. last: these are
 * punctured, so only the two at the ends may not be full.  Leaves *from .. *end - 1. */
static int full_span(const struct opt_store *s, unsigned level, uint64_t first, uint64_t last,
                     uint64_t *from, uint64_t *end)
{
  if (level >= s->punctured.levels)
    return 0;
  uint64_t i = first >> 6 * level, j = last >> 6 * level;
  i += !opt_bitmap_is_full(&s->punctured, level, i);
  j += opt_bitmap_is_full(&s->punctured, level, j);
  *from = i << 6 * level;
  *end = j << 6 * level;
  return i < j;
}

void opt_store_puncture_range(struct opt_store *s, uint64_t first, uint64_t last,
                              const struct opt_entry *rest, unsigned count)
{
  struct opt_node n;
  uint64_t at = first, begin = last, end = first;
  while (opt_store_next(s, at, &n) && n.start <= last) {
    s->slot[n.start >> 1] = (struct pprf_seed){0, 0};
    s->nodes--;
    at = n.start + (UINT64_C(1) << n.height);
    begin = n.start < begin ? n.start : begin;
    end = at - 1;
  }
  opt_bitmap_puncture_range(&s->punctured, first, last);
  for (unsigned i = 0; i < count; i++)
    s->slot[rest[i].node.start >> 1] = rest[i].seed;
  s->nodes += count;

  /* Blocks before the first node and after the last were released when they became full. */
  first = begin > first ? begin : first;
  last = end < last ? end : last;
  if (full_span(s, SLOTS_LEVEL, first, last, &begin, &end))
    opt_pages_release_slots(s, begin, end);
  if (full_span(s, DEAD_LEVEL, first, last, &begin, &end))
    opt_pages_release_dead(s, begin, end);
  if (s->nodes == 0)
    opt_pages_release_all(s);
}

void opt_store_puncture_set(struct opt_store *s, const uint32_t *leaf, size_t n,
                            const struct opt_entry *rest, size_t count)
{
  struct opt_node node;
  for (uint64_t i = 0, end = 0; i < n; i++)
    if (leaf[i] >= end && opt_store_find(s, leaf[i], &node)) {
      s->slot[node.start >> 1] = (struct pprf_seed){0, 0};
      s->nodes--;
      end = node.start + (UINT64_C(1) << node.height);
    }
  for (size_t i = 0; i < count; i++)
    s->slot[rest[i].node.start >> 1] = rest[i].seed;
  s->nodes += count;
  for (size_t i = 0; i < n; i++)
    puncture_leaf(s, leaf[i]);
  if (s->nodes == 0)
    opt_pages_release_all(s);
}

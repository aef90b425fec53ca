/* SPDX-License-Identifier: Apache-2.0 */
/* The change of a key's store: packed to pair slots and back. */
#include "change.h"

#include <stdlib.h>
#include <string.h>

#include "key.h"

/* The packed store could not become slots: try again at twice as many nodes. */
static void ask_later(struct opt_store *s)
{
  do
    s->most *= 2;
  while (s->most < s->packed->nodes);
}

void opt_store_may_change(struct opt_store *s)
{
  s->most = opt_most_packed(s->slots.punctured.depth);
  s->least = s->most == UINT64_MAX ? 0 : s->most >> 3;
  if (s->packed != NULL && s->most < s->packed->nodes)
    ask_later(s);
}

int opt_slots_open_apart(struct opt_slots *s, unsigned depth)
{
  void *small = calloc(1, opt_slots_small_bytes(depth) + 1);
  int err = small == NULL ? PPRF_ERR_NOMEM : opt_slots_open(s, depth, small, 0);
  if (err != PPRF_OK)
    free(small);
  else
    s->small = small;
  return err;
}

/* ---- packed to pair slots ---- */

/* Load the nodes of a packed store, and the gaps between them, into empty pair slots. */
static PPRF_WORK void load_packed(struct opt_slots *s, const struct opt_packed *p)
{
  struct opt_cursor cursor = {0};
  struct opt_entry e;
  uint64_t end = 0;
  while (opt_packed_read(p, &cursor, &e)) {
    if (e.node.start > end)
      opt_slots_load_gap(s, end, e.node.start - 1);
    opt_slots_load_node(s, &e);
    end = opt_node_end(e.node);
  }
  if (end >> p->depth == 0)
    opt_slots_load_gap(s, end, (UINT64_C(1) << p->depth) - 1);
  explicit_bzero(&e, sizeof e);
}

/* Replace the packed store by pair slots, which are empty so far.  The pointer to the packed
 * store is cleared last, so that a child forked meanwhile finds one complete store to free. */
static void replace_packed(struct opt_store *s, struct opt_slots *slots)
{
  load_packed(slots, s->packed);
  opt_packed_close(s->packed);
  s->slots = *slots;
  KEEP_STORES(s);
  s->packed = NULL;
  s->least = 0;
}

/* Open empty pair slots for the nodes of a packed store; if its seeds are locked in memory, the
 * slots must be too. */
static int open_slots(const struct opt_store *s, struct opt_slots *slots)
{
  int err = opt_slots_open_apart(slots, s->slots.punctured.depth);
  if (err == PPRF_OK && opt_packed_locked(s->packed) && !slots->locked) {
    opt_slots_drop(slots);
    err = PPRF_ERR_NOMEM;
  }
  return err;
}

/* Back the pages of pair slots, and only then replace the packed store by them. */
static int prefault_packed(struct opt_store *s)
{
  struct opt_slots slots;
  if (s->slots.punctured.depth > PPRF_SLOTS_DEPTH_MAX)
    return PPRF_ERR_NOMEM;
  int err = open_slots(s, &slots);
  if (err != PPRF_OK)
    return err;
  err = opt_pages_back(&slots);
  if (err == PPRF_OK)
    replace_packed(s, &slots);
  else
    opt_slots_drop(&slots);
  return err;
}

int opt_store_prefault(struct opt_store *s)
{
  if (s->packed != NULL)
    return prefault_packed(s);
  int err = opt_pages_back(&s->slots);
  if (err == PPRF_OK)
    s->least = 0;
  return err;
}

static int to_slots(struct opt_store *s)
{
  struct opt_slots slots;
  int err = open_slots(s, &slots);
  if (err != PPRF_OK)
    return err;
  replace_packed(s, &slots);
  opt_store_may_change(s);
  return PPRF_OK;
}

/* ---- pair slots to packed ---- */

/* Read the next node of a store: an opt_packed_source. */
static int read_next(void *reader, struct opt_entry *e)
{
  return opt_store_read(reader, e);
}

/* The pointer to the packed store is set first and the slots are closed last, so that a child
 * forked meanwhile frees what its copy names. */
static int to_packed(struct opt_store *s, struct opt_packed *place)
{
  struct opt_store packed;
  struct opt_slots slots = s->slots;
  struct opt_reader reader = opt_store_reader(s);
  int err =
    opt_store_load_packed(&packed, slots.punctured.depth, slots.nodes, place, read_next, &reader);
  if (err != PPRF_OK)
    return err;
  if (slots.locked && !opt_packed_locked(place)) {
    opt_packed_close(place);
    return PPRF_ERR_NOMEM;
  }
  opt_store_may_change(&packed);
  s->packed = place;
  KEEP_STORES(s);
  *s = packed;
  KEEP_STORES(s);
  opt_slots_close(&slots);
  return PPRF_OK;
}

void opt_key_change(pprf_key *key)
{
  struct opt_store *s = &key->store;
  if (s->packed != NULL) {
    if (to_slots(s) != PPRF_OK)
      ask_later(s);
  } else if (to_packed(s, (struct opt_packed *)(void *)key->small) != PPRF_OK) {
    s->least /= 2;
  }
  prg_wipe(prg_wipe_plan(PUNCT_STACK));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Each function hands the work to the packed store or to the pair slots. */
#include "store.h"

#include "packed/load.h"
#include "pprf.h"
#include "slots/pages.h"

int opt_store_open_packed(struct opt_store *s, unsigned depth, struct opt_packed *packed,
                          const struct pprf_seed *root)
{
  *s = (struct opt_store){.slots.punctured.depth = depth, .packed = packed};
  return opt_packed_open(packed, depth, root);
}

int opt_store_load_packed(struct opt_store *s, unsigned depth, uint64_t nodes,
                          struct opt_packed *packed, opt_packed_source *next, void *from)
{
  int err = opt_packed_load(packed, depth, nodes, next, from);
  if (err == PPRF_OK)
    *s = (struct opt_store){.slots.punctured.depth = depth, .packed = packed};
  return err;
}

void opt_store_close(struct opt_store *s)
{
  if (s->packed != NULL)
    opt_packed_close(s->packed);
  else
    opt_slots_close(&s->slots);
}

void opt_store_drop(struct opt_store *s)
{
  if (s->packed != NULL)
    opt_packed_drop_copy(s->packed);
  else
    opt_slots_drop(&s->slots);
}

int opt_store_locked(const struct opt_store *s)
{
  return s->packed != NULL ? opt_packed_locked(s->packed) : opt_slots_locked(&s->slots);
}

size_t opt_store_resident_bytes(const struct opt_store *s)
{
  return s->packed != NULL ? opt_packed_bytes(s->packed) : opt_slots_resident_bytes(&s->slots);
}

int opt_store_next(const struct opt_store *s, uint64_t leaf, struct opt_node *node)
{
  return s->packed != NULL ? opt_packed_next(s->packed, leaf, node)
                           : opt_slots_next(&s->slots, leaf, node);
}

int opt_store_puncture_set(struct opt_store *s, const uint64_t *leaf, size_t n,
                           const struct opt_entry *rest, size_t count)
{
  if (s->packed != NULL)
    return opt_packed_puncture_set(s->packed, leaf, n, rest, count);
  opt_slots_puncture_set(&s->slots, leaf, n, rest, count);
  return PPRF_OK;
}

int opt_store_read(struct opt_reader *r, struct opt_entry *e)
{
  const struct opt_store *s = r->store;
  if (s->packed != NULL)
    return opt_packed_read(s->packed, &r->cursor, e);
  if (!opt_slots_read(&r->slots, &e->node))
    return 0;
  e->seed = opt_slots_seed(&s->slots, e->node);
  return 1;
}

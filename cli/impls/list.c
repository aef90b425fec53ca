/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's chapter 3.4 as it stands: "two memory addresses of 8 byte" in the list element, "the
 * key value (16 byte) and the node position (4 byte)" in the tree node, 24 bytes for the list. */
#include "list.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "prg.h"

struct node {
  uint8_t seed[PPRF_SEED_BYTES];
  uint32_t id; /* in-order: 2*start + 2^height */
};

struct element {
  struct element *next;
  struct node *node;
};

struct list {
  struct element *first, *last;
  uint64_t count;
};

_Static_assert(sizeof(struct node) == 20 && (sizeof(void *) != 8 || (sizeof(struct element) == 16 &&
                                                                     sizeof(struct list) == 24)),
               "the sizes of the paper, whose addresses have 8 bytes");

/* The list, and what the measurement wants to know about it. */
struct pprf_key {
  struct list *list;
  unsigned depth;
  size_t asked, spent; /* heap bytes of the list: asked for, and with the allocator's overhead */
};

static void *take(pprf_key *key, size_t bytes)
{
  void *block = malloc(bytes);
  if (block != NULL) {
    key->asked += bytes;
    key->spent += malloc_usable_size(block) + sizeof(size_t); /* and the chunk's size field */
  }
  return block;
}

static void give_back(pprf_key *key, void *block, size_t bytes)
{
  if (block != NULL) {
    key->asked -= bytes;
    key->spent -= malloc_usable_size(block) + sizeof(size_t);
    explicit_bzero(block, bytes);
    free(block);
  }
}

static unsigned height_of(uint32_t id)
{
  return (unsigned)__builtin_ctz(id);
}

static uint64_t start_of(uint32_t id)
{
  return (id - (UINT32_C(1) << height_of(id))) / 2;
}

static struct pprf_seed load(const uint8_t bytes[PPRF_SEED_BYTES])
{
  struct pprf_seed s = {0, 0};
  for (unsigned i = 8; i-- > 0;) {
    s.lo = s.lo << 8 | bytes[i];
    s.hi = s.hi << 8 | bytes[8 + i];
  }
  return s;
}

static void store(uint8_t bytes[PPRF_SEED_BYTES], struct pprf_seed s)
{
  for (unsigned i = 0; i < 8; i++) {
    bytes[i] = (uint8_t)(s.lo >> 8 * i);
    bytes[8 + i] = (uint8_t)(s.hi >> 8 * i);
  }
}

static void drop(pprf_key *key, struct element *e)
{
  give_back(key, e->node, sizeof *e->node);
  give_back(key, e, sizeof *e);
}

static void drop_all(pprf_key *key, struct element *e)
{
  while (e != NULL) {
    struct element *next = e->next;
    drop(key, e);
    e = next;
  }
}

static struct element *make(pprf_key *key, struct pprf_seed seed, uint64_t start, unsigned height)
{
  struct element *e = take(key, sizeof *e);
  if (e == NULL)
    return NULL;
  e->next = NULL;
  e->node = take(key, sizeof *e->node);
  if (e->node == NULL) {
    drop(key, e);
    return NULL;
  }
  store(e->node->seed, seed);
  e->node->id = (uint32_t)(2 * start + (UINT64_C(1) << height));
  return e;
}

/* The element whose node covers the leaf, or NULL; *before is the one in front of it. */
static struct element *find(const pprf_key *key, uint64_t leaf, struct element **before)
{
  *before = NULL;
  for (struct element *e = key->list->first; e != NULL; *before = e, e = e->next)
    if (start_of(e->node->id) == leaf >> height_of(e->node->id) << height_of(e->node->id))
      return e;
  return NULL;
}

/* Walk from the node down to the leaf, whose value goes to *value.  With copath not NULL, the
 * siblings along the path become a list there; NULL on error. */
static int descend(pprf_key *key, const struct node *node, uint64_t leaf, struct pprf_seed *value,
                   struct element **copath, struct element **last)
{
  struct pprf_seed seed = load(node->seed);
  uint64_t start = start_of(node->id);
  struct element **end = copath;
  int err = PPRF_OK;
  for (unsigned h = height_of(node->id); err == PPRF_OK && h > 0; h--) {
    struct pprf_children c = prg_expand(PRG_BARE, seed, start, h);
    uint64_t right = start + (UINT64_C(1) << (h - 1));
    int go_right = leaf >= right;
    err = c.err;
    if (err == PPRF_OK && copath != NULL) {
      *end = make(key, go_right ? c.left : c.right, go_right ? start : right, h - 1);
      if (*end == NULL) {
        err = PPRF_ERR_NOMEM;
      } else {
        *last = *end;
        end = &(*end)->next;
      }
    }
    seed = go_right ? c.right : c.left;
    start = go_right ? right : start;
    explicit_bzero(&c, sizeof c);
  }
  if (err == PPRF_OK)
    *value = seed;
  explicit_bzero(&seed, sizeof seed);
  if (err != PPRF_OK && copath != NULL) {
    drop_all(key, *copath);
    *copath = NULL;
  }
  return err;
}

/* Evaluate; with change, puncture too. */
static int access_leaf(pprf_key *key, uint64_t leaf, struct pprf_seed *value, int change)
{
  if (leaf >> key->depth != 0)
    return PPRF_ERR_RANGE;
  struct element *before, *copath = NULL, *last = NULL, *e = find(key, leaf, &before);
  if (e == NULL)
    return PPRF_ERR_PUNCTURED;
  int err = descend(key, e->node, leaf, value, change ? &copath : NULL, &last);
  prg_wipe(prg_wipe_plan(512));
  if (err != PPRF_OK || !change)
    return err;

  struct list *l = key->list;
  *(before != NULL ? &before->next : &l->first) = e->next;
  if (l->last == e)
    l->last = before;
  l->count += height_of(e->node->id);
  l->count--;
  drop(key, e);
  if (copath != NULL) {
    *(l->last != NULL ? &l->last->next : &l->first) = copath;
    l->last = last;
  }
  return PPRF_OK;
}

static int access_out(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES], int change)
{
  struct pprf_seed value = {0, 0};
  int err = key == NULL || out == NULL ? PPRF_ERR_NULL : access_leaf(key, leaf, &value, change);
  if (out != NULL)
    store(out, value);
  explicit_bzero(&value, sizeof value);
  return err;
}

static int list_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  return access_out((pprf_key *)key, leaf, out, 0); /* nothing is written without change */
}

static int list_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  return access_out(key, leaf, out, 1);
}

static int list_punct(pprf_key *key, uint64_t leaf)
{
  struct pprf_seed value = {0, 0};
  int err = key == NULL ? PPRF_ERR_NULL : access_leaf(key, leaf, &value, 1);
  explicit_bzero(&value, sizeof value);
  return err;
}

static void list_free(pprf_key *key)
{
  if (key == NULL)
    return;
  if (key->list != NULL)
    drop_all(key, key->list->first);
  give_back(key, key->list, sizeof *key->list);
  free(key);
}

static int list_setup(pprf_key **out, unsigned depth, const uint8_t bytes[PPRF_SEED_BYTES])
{
  if (out == NULL)
    return PPRF_ERR_NULL;
  *out = NULL;
  if (depth < PPRF_DEPTH_MIN || depth > LIST_DEPTH_MAX)
    return PPRF_ERR_RANGE;
  struct pprf_seed seed;
  int err = PPRF_OK;
  if (bytes != NULL)
    seed = load(bytes);
  else
    err = prg_random(&seed);
  if (err != PPRF_OK)
    return err;

  pprf_key *key = calloc(1, sizeof *key);
  if (key != NULL) {
    key->depth = depth;
    key->list = take(key, sizeof *key->list);
  }
  struct element *root = key != NULL && key->list != NULL ? make(key, seed, 0, depth) : NULL;
  explicit_bzero(&seed, sizeof seed);
  if (root == NULL) {
    if (key != NULL)
      give_back(key, key->list, sizeof *key->list);
    free(key);
    return PPRF_ERR_NOMEM;
  }
  *key->list = (struct list){.first = root, .last = root, .count = 1};
  *out = key;
  return PPRF_OK;
}

static size_t list_node_count(const pprf_key *key)
{
  return key == NULL ? 0 : (size_t)key->list->count;
}

static size_t list_memory_bytes(const pprf_key *key)
{
  return key == NULL ? 0 : key->spent;
}

static unsigned list_depth(const pprf_key *key)
{
  return key == NULL ? 0 : key->depth;
}

size_t list_effective_bytes(const pprf_key *key)
{
  return key == NULL ? 0 : key->asked;
}

const struct pprf_impl impl_list = {
  .name = "list",
  .setup = list_setup,
  .eval = list_eval,
  .punct = list_punct,
  .eval_punct = list_eval_punct,
  .node_count = list_node_count,
  .memory_bytes = list_memory_bytes,
  .depth = list_depth,
  .free = list_free,
};

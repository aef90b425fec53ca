/* SPDX-License-Identifier: Apache-2.0 */
/* The public functions over the proven core: this file owns the memory and converts bytes. */
#include "pprf.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "core.h"
#include "key.h"

struct pprf_key {
  unsigned depth;
  size_t count, cap;
  struct ref_node *nodes; /* cap of them, count in use, in leaf order */
};

/* Clear the registers and the dead part of the stack: prg_wipe_stack reaches as deep as the PRG that
 * is linked needs, and the frames of ref's own functions, two arrays of nodes, go deeper than some. */
static __attribute__((noinline)) void wipe_frames(void)
{
  uint8_t below[8192];
  explicit_bzero(below, sizeof below);
}

static void wipe_stack(void)
{
  wipe_frames();
  prg_wipe_stack();
}

/* A key with room for cap nodes, or NULL. */
static pprf_key *key_new(unsigned depth, size_t cap)
{
  pprf_key *key = malloc(sizeof *key);
  if (key == NULL)
    return NULL;
  key->depth = depth;
  key->count = 0;
  key->cap = cap;
  key->nodes = calloc(cap > 0 ? cap : 1, sizeof *key->nodes);
  if (key->nodes == NULL) {
    free(key);
    return NULL;
  }
  return key;
}

/* Make room for what one puncture can add.  Never realloc: it may leave a copy of the seeds. */
static int grow(pprf_key *key)
{
  size_t cap = 2 * key->cap + REF_GROWTH(key->depth);
  struct ref_node *nodes = calloc(cap, sizeof *nodes);
  if (nodes == NULL)
    return PPRF_ERR_NOMEM;
  ref_copy(nodes, 0, key->nodes, 0, key->count);
  ref_wipe(key->nodes, 0, key->count);
  free(key->nodes);
  key->nodes = nodes;
  key->cap = cap;
  return PPRF_OK;
}

static uint64_t load64(const uint8_t *p)
{
  uint64_t v = 0;
  for (unsigned k = 8; k > 0; k--)
    v = v << 8 | p[k - 1];
  return v;
}

static void store64(uint8_t *p, uint64_t v)
{
  for (unsigned k = 0; k < 8; k++)
    p[k] = (uint8_t)(v >> 8 * k);
}

static void put_value(uint8_t out[PPRF_SEED_BYTES], struct pprf_seed *value)
{
  store64(out, value->lo);
  store64(out + 8, value->hi);
  ref_wipe_seed(value);
}

/* The root's seed into a new key: in a function of its own, so that all it leaves is below pprf_setup,
 * which wipes that. */
static __attribute__((noinline)) int put_root(pprf_key *key, const uint8_t *seed)
{
  struct pprf_seed root = {0, 0};
  int err = PPRF_OK;
  if (seed != NULL)
    root = (struct pprf_seed){load64(seed), load64(seed + 8)};
  else
    err = prg_random(&root);
  if (err == PPRF_OK) {
    ref_setup(key->nodes, key->depth, root);
    key->count = 1;
  }
  ref_wipe_seed(&root);
  return err;
}

int pprf_setup(pprf_key **key, unsigned depth, const uint8_t seed[PPRF_SEED_BYTES])
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (depth < PPRF_DEPTH_MIN || depth > PPRF_DEPTH_MAX)
    return PPRF_ERR_RANGE;
  pprf_key *k = key_new(depth, 1);
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  int err = put_root(k, seed);
  wipe_stack();
  if (err != PPRF_OK) {
    pprf_free(k);
    return err;
  }
  *key = k;
  return PPRF_OK;
}

int pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  struct pprf_seed value = {0, 0};
  if (out == NULL)
    return PPRF_ERR_NULL;
  int err = PPRF_ERR_NULL;
  if (key != NULL)
    err = ref_eval(key->nodes, key->count, key->depth, leaf, &value);
  put_value(out, &value);
  wipe_stack();
  return err;
}

int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  struct pprf_seed value = {0, 0};
  if (out == NULL)
    return PPRF_ERR_NULL;
  int err = PPRF_ERR_NULL;
  if (key != NULL) {
    err = ref_eval_punct(key->nodes, &key->count, key->cap, key->depth, leaf, &value);
    if (err == PPRF_ERR_BUFFER) {
      err = grow(key);
      if (err == PPRF_OK)
        err = ref_eval_punct(key->nodes, &key->count, key->cap, key->depth, leaf, &value);
    }
  }
  put_value(out, &value);
  wipe_stack();
  return err;
}

int pprf_punct(pprf_key *key, uint64_t leaf)
{
  uint8_t value[PPRF_SEED_BYTES];
  int err = pprf_eval_punct(key, leaf, value);
  explicit_bzero(value, sizeof value);
  return err;
}

int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  int err = ref_punct_range(key->nodes, &key->count, key->cap, key->depth, first, last);
  if (err == PPRF_ERR_BUFFER) {
    err = grow(key);
    if (err == PPRF_OK)
      err = ref_punct_range(key->nodes, &key->count, key->cap, key->depth, first, last);
  }
  wipe_stack();
  return err;
}

size_t pprf_node_count(const pprf_key *key)
{
  return key == NULL ? 0 : key->count;
}

/* malloc_usable_size leaves out the 8 bytes in front of each block. */
size_t pprf_memory_bytes(const pprf_key *key)
{
  if (key == NULL)
    return 0;
  return malloc_usable_size((void *)(uintptr_t)key) + malloc_usable_size(key->nodes) + 2 * 8;
}

unsigned pprf_depth(const pprf_key *key)
{
  return key == NULL ? 0 : key->depth;
}

int pprf_memory_locked(const pprf_key *key)
{
  (void)key;
  return 0;
}

int pprf_export(const pprf_key *key, uint8_t *buf, size_t *len)
{
  if (key == NULL || len == NULL)
    return PPRF_ERR_NULL;
  size_t room = *len;
  *len = ref_encoded_bytes(key->depth, key->count);
  if (buf == NULL)
    return PPRF_OK;
  if (room < *len)
    return PPRF_ERR_BUFFER;
  int err = ref_encode(buf, key->nodes, key->count, key->depth);
  wipe_stack();
  return err;
}

int pprf_import(pprf_key **key, const uint8_t *buf, size_t len)
{
  unsigned depth;
  size_t n;
  if (key == NULL)
    return PPRF_ERR_NULL;
  *key = NULL;
  if (buf == NULL)
    return PPRF_ERR_NULL;
  int err = ref_decode_header(buf, len, &depth, &n);
  if (err == PPRF_OK && n > len / CODEC_RECORD_BYTES(depth))
    err = PPRF_ERR_FORMAT; /* where a size has 32 bits, the length of so many nodes wraps */
  if (err != PPRF_OK)
    return err;
  pprf_key *k = key_new(depth, n);
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  err = ref_decode(k->nodes, n, depth, buf);
  wipe_stack();
  if (err != PPRF_OK) {
    pprf_free(k);
    return err;
  }
  k->count = n;
  *key = k;
  return PPRF_OK;
}

void ref_exchange(pprf_key *a, pprf_key *b)
{
  pprf_key c = *a;
  *a = *b;
  *b = c;
}

void pprf_free(pprf_key *key)
{
  if (key == NULL)
    return;
  ref_wipe(key->nodes, 0, key->count);
  free(key->nodes);
  explicit_bzero(key, sizeof *key);
  free(key);
}

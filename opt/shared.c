/* SPDX-License-Identifier: Apache-2.0 */
/* Keys in memory of the caller (pprf_shared.h): a handle is a key whose store was laid out
 * there. */
#include "pprf_shared.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "key.h"
#include "common/options.h"
#include "common/prepare.h"
#include "shared.h"

static int has_depth(unsigned depth)
{
  return depth >= PPRF_DEPTH_MIN && depth <= PPRF_SLOTS_DEPTH_MAX;
}

/* Make a family from a suite and a salt, which may be NULL if the suite has none. */
static int read_family(struct pprf_family *family, unsigned suite, const uint8_t *salt)
{
  if (!pprf_is_among(PPRF_SUITES_16_BYTES, suite))
    return PPRF_ERR_SUITE;
  *family = (struct pprf_family){suite, 0, 0};
  if (!pprf_has_salt(suite))
    return PPRF_OK;
  if (salt == NULL)
    return PPRF_ERR_NULL;
  family->salt_lo = load(salt, 8);
  family->salt_hi = load(salt + 8, 8);
  return PPRF_OK;
}

size_t pprf_shared_bytes(unsigned depth)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t mapped = has_depth(depth) ? opt_slots_mapped_bytes(depth) : 0;
  return mapped == 0 ? 0 : mapped + (opt_slots_small_bytes(depth) + page - 1) / page * page;
}

int pprf_shared_open(pprf_key **key, unsigned depth, void *memory)
{
  if (key != NULL)
    *key = NULL;
  if (key == NULL || memory == NULL)
    return PPRF_ERR_NULL;
  if (!has_depth(depth) || (uintptr_t)memory % (size_t)sysconf(_SC_PAGESIZE) != 0)
    return PPRF_ERR_RANGE;
  pprf_key *k = pprf_shared_bytes(depth) > 0 ? calloc(1, sizeof *k) : NULL;
  if (k == NULL)
    return PPRF_ERR_NOMEM;
  k->family = PRG_BARE;
  opt_slots_lay_out(&k->store.slots, depth, memory,
                    (unsigned char *)memory + opt_slots_mapped_bytes(depth), 1);
  *key = k;
  return PPRF_OK;
}

void pprf_shared_lock(const pprf_key *key)
{
  if (key != NULL && key->store.slots.locked)
    (void)mlock2(key->store.slots.slot, sizeof(struct pprf_seed) << (depth_of(key) - 1),
                 MLOCK_ONFAULT);
}

int pprf_shared_set(pprf_key *key, unsigned suite, const uint8_t salt[PPRF_SALT_BYTES],
                    uint64_t nodes)
{
  struct pprf_family family;
  if (key == NULL)
    return PPRF_ERR_NULL;
  int err = read_family(&family, suite, salt);
  if (err == PPRF_OK && nodes > UINT64_C(1) << (depth_of(key) - 1))
    err = PPRF_ERR_RANGE;
  if (err == PPRF_OK)
    err = pprf_prepare(suite);
  if (err == PPRF_OK) {
    key->family = family;
    key->store.slots.nodes = nodes;
  }
  return err;
}

int pprf_shared_start(pprf_key *key, unsigned suite, uint8_t salt[PPRF_SALT_BYTES])
{
  struct pprf_seed drawn = {0, 0};
  if (salt != NULL)
    memset(salt, 0, PPRF_SALT_BYTES);
  if (key == NULL || salt == NULL)
    return PPRF_ERR_NULL;
  int err = pprf_is_among(PPRF_SUITES_16_BYTES, suite) ? pprf_prepare(suite) : PPRF_ERR_SUITE;
  if (err == PPRF_OK && pprf_has_salt(suite))
    err = prg_random(&drawn);
  if (err == PPRF_OK)
    err = opt_shared_start(key);
  if (err != PPRF_OK)
    return err;
  key->family = (struct pprf_family){suite, drawn.lo, drawn.hi};
  store_seed(salt, drawn);
  return PPRF_OK;
}

void pprf_shared_clear(pprf_key *key)
{
  if (key != NULL)
    opt_shared_clear(key);
}

size_t pprf_shared_handle_bytes(const pprf_key *key)
{
  /* glibc keeps a block's size in the 8 bytes before it */
  return key == NULL ? 0 : malloc_usable_size((void *)(uintptr_t)key) + sizeof(size_t);
}

size_t pprf_shared_memory_bytes(const pprf_key *key)
{
  /* the store does not count small levels */
  return key == NULL ? 0
                     : pprf_shared_handle_bytes(key) + opt_store_resident_bytes(&key->store) +
                         opt_slots_small_bytes(depth_of(key));
}

void pprf_shared_close(pprf_key *key)
{
  free(key);
}

static PPRF_WORK int split(struct pprf_family family, uint64_t leaf, const uint8_t *value,
                           uint8_t *left, uint8_t *right)
{
  const struct pprf_children child = prg_expand(family, load_seed(value), leaf, 0);
  store_seed(left, child.left); /* zero on error */
  store_seed(right, child.right);
  return child.err;
}

int pprf_split_value(unsigned suite, const uint8_t salt[PPRF_SALT_BYTES], uint64_t leaf,
                     const uint8_t value[PPRF_SEED_BYTES], uint8_t left[PPRF_SEED_BYTES],
                     uint8_t right[PPRF_SEED_BYTES])
{
  struct pprf_family family;
  int err = value == NULL || left == NULL || right == NULL ? PPRF_ERR_NULL
                                                           : read_family(&family, suite, salt);
  if (err == PPRF_OK && leaf >> 63 != 0)
    err = PPRF_ERR_RANGE;
  if (err == PPRF_OK)
    err = pprf_prepare(suite);
  if (err == PPRF_OK) {
    err = split(family, leaf, value, left, right); /* left or right may be the value's place */
    prg_wipe(prg_wipe_plan(EVAL_STACK));           /* uses no more stack than an evaluation */
    return err;
  }
  if (left != NULL)
    memset(left, 0, PPRF_SEED_BYTES);
  if (right != NULL)
    memset(right, 0, PPRF_SEED_BYTES);
  return err;
}

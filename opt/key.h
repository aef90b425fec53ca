/* SPDX-License-Identifier: Apache-2.0 */
/** @file key.h
 * What pprf.c and batch.c share: the key, seeds as bytes, wiping. */
#ifndef PPRF_OPT_KEY_H
#define PPRF_OPT_KEY_H

#include "pprf.h"
#include "prg.h"
#include "store.h"

struct pprf_key {
  struct opt_store store;
  uint64_t small[]; /* bitmap levels of less than a page */
};

#define NOINLINE __attribute__((noinline))

static inline unsigned depth_of(const pprf_key *key)
{
  return key->store.punctured.depth;
}

/** The first leaf after a node. */
static inline uint64_t node_end(struct opt_node n)
{
  return n.start + (UINT64_C(1) << n.height);
}

/** Overwrite n seeds with zeros that the compiler may not leave out: explicit_bzero without the
 * call, which on the few seeds of a puncture costs more than the stores. */
static inline void wipe(struct pprf_seed *seed, unsigned n)
{
  for (unsigned i = 0; i < n; i++)
    seed[i] = (struct pprf_seed){0, 0};
  __asm__ volatile("" : : "r"(seed) : "memory");
}

static inline void wipe_children(struct pprf_children *c)
{
  c->left = c->right = (struct pprf_seed){0, 0};
  __asm__ volatile("" : : "r"(c) : "memory");
}

/** A little-endian number of so many bytes. */
static inline uint64_t load(const uint8_t *p, unsigned bytes)
{
  uint64_t v = 0;
  for (unsigned i = bytes; i-- > 0;)
    v = v << 8 | p[i];
  return v;
}

static inline void store(uint8_t *p, uint64_t v, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++)
    p[i] = (uint8_t)(v >> 8 * i);
}

static inline struct pprf_seed load_seed(const uint8_t *p)
{
  return (struct pprf_seed){load(p, 8), load(p + 8, 8)};
}

static inline void store_seed(uint8_t *p, struct pprf_seed seed)
{
  store(p, seed.lo, 8);
  store(p + 8, seed.hi, 8);
}

#endif

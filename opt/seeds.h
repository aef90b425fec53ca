/* SPDX-License-Identifier: Apache-2.0 */
/** @file seeds.h
 * Seeds in memory: as bytes, and wiped. */
#ifndef PPRF_OPT_SEEDS_H
#define PPRF_OPT_SEEDS_H

#include <stdint.h>

#include "prg.h"
#include "unrolled.h"

/*@ // byte k of a little-endian number
    logic integer byte_of(integer v, integer k) = (v >> 8 * k) & 0xff;
    // the 16 bytes at p are the seed of these two words
    predicate seed_bytes{L}(uint8_t *p, integer lo, integer hi) =
      \forall integer k; 0 <= k < 8 ==>
        p[k] == byte_of(lo, k) && p[8 + k] == byte_of(hi, k); */

/* Tell the compiler that the memory at p is read here, so that it keeps the stores. */
#ifdef __FRAMAC__
#define KEEP_STORES(p) ((void)(p))
#else
#define KEEP_STORES(p) __asm__ volatile("" : : "r"(p) : "memory")
#endif

/** Zero the seeds from .. n - 1; the compiler cannot optimize the stores away.  explicit_bzero
 * without its call, which costs more than the stores for the few seeds of a puncture. */
/*@ requires \valid(seed + (0 .. n - 1)) && from <= n;
    assigns seed[from .. n - 1];
    ensures wiped: \forall integer i; from <= i < n ==> zero_seed(seed[i]); */
static inline void wipe_from(struct pprf_seed *seed, unsigned from, unsigned n)
{
  /*@ loop invariant from <= i <= n;
      loop invariant \forall integer k; from <= k < i ==> zero_seed(seed[k]);
      loop assigns i, seed[from .. n - 1];
      loop variant n - i; */
  for (unsigned i = from; i < n; i++)
    seed[i] = (struct pprf_seed){0, 0};
  KEEP_STORES(seed);
}

/*@ requires \valid(seed + (0 .. n - 1));
    assigns seed[0 .. n - 1];
    ensures wiped: \forall integer i; 0 <= i < n ==> zero_seed(seed[i]); */
static inline void wipe(struct pprf_seed *seed, unsigned n)
{
  wipe_from(seed, 0, n);
}

/** The same for one seed. */
/*@ requires \valid(seed);
    assigns *seed;
    ensures wiped: zero_seed(*seed); */
static inline void wipe_seed(struct pprf_seed *seed)
{
  *seed = (struct pprf_seed){0, 0};
  KEEP_STORES(seed);
}

/*@ requires \valid(c);
    assigns c->left, c->right;
    ensures wiped: zero_seed(c->left) && zero_seed(c->right); */
static inline void wipe_children(struct pprf_children *c)
{
  c->left = c->right = (struct pprf_seed){0, 0};
  KEEP_STORES(c);
}

/* Wipe a function's own variables before it returns.  No contract can mention them, and taking
 * their addresses would move them from the proof's variables into its memory: prg_wipe clears
 * what they leave behind, and equivalence-tests/secrets/residue.c searches for it. */
#ifdef __FRAMAC__
#define WIPE_LOCALS(seed, children) ((void)0)
#else
#define WIPE_LOCALS(seed, children) (wipe(&(seed), 1), wipe_children(&(children)))
#endif

/** Read a little-endian number of this many bytes. */
static inline uint64_t load(const uint8_t *p, unsigned bytes)
{
  uint64_t v = 0;
  UNROLLED_8
  for (unsigned i = bytes; i-- > 0;)
    v = v << 8 | p[i];
  return v;
}

/*@ requires bytes <= 8 && \valid(p + (0 .. bytes - 1));
    assigns p[0 .. bytes - 1];
    ensures \forall integer k; 0 <= k < bytes ==> p[k] == byte_of(v, k); */
static inline void store(uint8_t *p, uint64_t v, unsigned bytes)
{
  /*@ loop invariant 0 <= i <= bytes;
      loop invariant \forall integer k; 0 <= k < i ==> p[k] == byte_of(v, k);
      loop assigns i, p[0 .. bytes - 1];
      loop variant bytes - i; */
  UNROLLED_8
  for (unsigned i = 0; i < bytes; i++)
    p[i] = (uint8_t)(v >> 8 * i & 0xff);
}

/** The same for bytes that may change meanwhile: each is read once, so that the value checked is
 * the value used. */
static inline uint64_t load_once(const volatile uint8_t *p, unsigned bytes)
{
  uint64_t v = 0;
  for (unsigned i = bytes; i-- > 0;)
    v = v << 8 | p[i];
  return v;
}

static inline struct pprf_seed load_seed(const uint8_t *p)
{
#ifdef PPRF_WIDE
  return (struct pprf_seed){load(p, 8), load(p + 8, 8), load(p + 16, 8), load(p + 24, 8)};
#else
  return (struct pprf_seed){load(p, 8), load(p + 8, 8)};
#endif
}

/*@ requires \valid(p + (0 .. 15));
    assigns p[0 .. 15];
    ensures value: seed_bytes(p, seed.lo, seed.hi); */
static inline void store_seed(uint8_t *p, struct pprf_seed seed)
{
  store(p, seed.lo, 8);
  KEEP_STORES(p); /* otherwise gcc assembles one vector of 16 bytes, byte by byte */
  store(p + 8, seed.hi, 8);
#ifdef PPRF_WIDE
  store(p + 16, seed.third, 8);
  store(p + 24, seed.fourth, 8);
#endif
}

#endif

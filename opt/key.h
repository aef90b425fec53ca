/* SPDX-License-Identifier: Apache-2.0 */
/** @file key.h
 * What pprf.c, core.c and batch.c share: the key, seeds as bytes, wiping.
 *
 * Secrets.  The functions of the API check their arguments and wipe what was left below them (wipe.h);
 * what has seeds in its frame is PPRF_WORK below them. */
#ifndef PPRF_OPT_KEY_H
#define PPRF_OPT_KEY_H

#include "common/fork.h"
#include "slots/pages.h"
#include "pprf.h"
#include "prg.h"
#include "store.h"
#include "unrolled.h"
#include "wipe.h"

/*@ // byte k of a little-endian number
    logic integer byte_of(integer v, integer k) = (v >> 8 * k) & 0xff;
    // the 16 bytes at p are the seed of these two words
    predicate seed_bytes{L}(uint8_t *p, integer lo, integer hi) =
      \forall integer k; 0 <= k < 8 ==>
        p[k] == byte_of(lo, k) && p[8 + k] == byte_of(hi, k); */

struct pprf_key {
  uint64_t maker; /* the process that made it (fork.h); 0: shared */
  struct pprf_family family;
  struct opt_store store;
#ifndef __FRAMAC__ /* WP has no flexible arrays, and no proven function touches this one */
  uint64_t small[]; /* bitmap levels of less than a page */
#endif
};

/*@ // the key belongs to another process than this one: it is a copy that fork made
    predicate copied{L}(pprf_key *key) = key->maker != 0 && key->maker != process_number; */

/* Keys of 32-byte seeds are wide.c's, which compiles these sources a second time: a function of the API
 * hands them over before all else.  What is proven here is proven of keys of 16-byte seeds. */
#ifdef __FRAMAC__
#define PPRF_IF_WIDE(key, ...)
#else
#include "wide_key.h"
#endif

#define NOINLINE __attribute__((noinline))

/* Bytes of stack that an operation's own functions take, all but the PRG: with it an eighth more, at
 * least, than any compiler and flags of equivalence-tests/secrets/residue-matrix.sh need. */
#ifdef PPRF_WIDE /* a co-path takes 512 bytes more, the two sides of a range 1024 */
#ifdef __OPTIMIZE__
#define EVAL_STACK 768u
#define PUNCT_STACK 2048u
#define RANGE_STACK 5376u
#define BATCH_STACK 3584u
#else
#define EVAL_STACK 1536u
#define PUNCT_STACK 3072u
#define RANGE_STACK 8192u
#define BATCH_STACK 5120u
#endif
#else
#ifdef __OPTIMIZE__
#define EVAL_STACK 640u
#define PUNCT_STACK 1408u
#define RANGE_STACK 4096u
#define BATCH_STACK 3072u
#else
#define EVAL_STACK 1024u
#define PUNCT_STACK 2048u
#define RANGE_STACK 6144u
#define BATCH_STACK 4096u
#endif
#endif

/* And that a co-path takes more in a tree deeper than 32; a range has two, of nodes with their places. */
#define DEEP_STACK ((PPRF_DEPTH_MAX - PPRF_SLOTS_DEPTH_MAX) * (PPRF_SEED_BYTES + 16u) * 6 / 5)

/*@ requires \valid_read(key);
    assigns \nothing;
    ensures \result == key->store.punctured.depth; */
static inline unsigned depth_of(const pprf_key *key)
{
  return key->store.punctured.depth;
}

/* The memory behind p is read here as far as the compiler knows, so that it keeps the stores. */
#ifdef __FRAMAC__
#define KEEP_STORES(p) ((void)(p))
#else
#define KEEP_STORES(p) __asm__ volatile("" : : "r"(p) : "memory")
#endif

/** Overwrite the seeds from .. n - 1 with zeros that the compiler may not leave out: explicit_bzero
 * without the call, which on the few seeds of a puncture costs more than the stores. */
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

/** The same, of one seed. */
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

/* Overwrite a function's own variables before it returns.  No contract can speak of them, and their
 * addresses would move them from the proof's variables into its memory: what they leave behind is
 * prg_wipe's, and equivalence-tests/secrets/residue.c's to find. */
#ifdef __FRAMAC__
#define WIPE_LOCALS(seed, children) ((void)0)
#else
#define WIPE_LOCALS(seed, children) (wipe(&(seed), 1), wipe_children(&(children)))
#endif

/** A little-endian number of so many bytes. */
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

/** The same of bytes that somebody may be changing: each is read once, so that what was checked is
 * what is used. */
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
  KEEP_STORES(p); /* gcc would make one vector of 16 bytes, byte by byte */
  store(p + 8, seed.hi, 8);
#ifdef PPRF_WIDE
  store(p + 16, seed.third, 8);
  store(p + 24, seed.fourth, 8);
#endif
}

#endif

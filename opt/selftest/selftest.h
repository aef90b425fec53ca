/* SPDX-License-Identifier: Apache-2.0 */
/** @file selftest.h
 * Shared by the parts of opt's unit tests. */
#ifndef OPT_SELFTEST_H
#define OPT_SELFTEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "pprf.h"
#include "prg.h"
#include "store.h"

/* ---- results.c: results of checks ---- */

extern int failed;        /* failed checks in the current test */
extern int quiet;         /* failures are expected: do not print them */
extern char context[200]; /* what the current test is doing */
__attribute__((format(printf, 2, 3))) int check(int ok, const char *format, ...);
void end_test(const char *name);
/** Check that what was taken since the test before is given back, except for `more` pointers and
 * the arena's note of each of its regions: what a test ends with. */
void check_held(long more);
/** Set the run's seed, from the environment or a new one. */
void begin_tests(void);
/** Print the plan; returns the exit status. */
int end_tests(const char *only);
uint64_t rnd(void);
uint64_t rnd_below(uint64_t n);
void *must(void *p);

/* ---- model.c: the PRG and memory through --wrap, the model, comparing a key with it ---- */

extern uint64_t expansions, fail_at; /* the fail_at-th call from now on fails; 0: none */
#define WATCHED 160
extern struct pprf_seed watched[WATCHED]; /* seeds that no freed memory may contain */
extern unsigned watching, seen_in_free;   /* their number; how often one was found */
extern int refused_advice;                /* advice that madvise refuses; -1: none */
extern int refused_with;                  /* the error that it gives then */
extern uint8_t *changed_byte;             /* is changed after each digest; NULL: none */
extern const uint8_t root_bytes[PPRF_SEED_BYTES];

struct interval {
  uint64_t first, last;
};

struct model {
  unsigned depth;
  size_t n, room;
  struct interval *punctured; /* in order, neither overlapping nor adjacent */
};

struct pprf_seed root_seed(void);
struct pprf_seed node_seed(unsigned depth, struct opt_node n);
int same_seed(struct pprf_seed a, struct pprf_seed b);
uint64_t leaves(const struct model *m);
int model_all_punctured(const struct model *m, uint64_t first, uint64_t last);
void model_puncture(struct model *m, uint64_t first, uint64_t last);
uint64_t model_next_live(const struct model *m, uint64_t leaf);
unsigned model_height(const struct model *m, uint64_t leaf);
const struct opt_store *store_of(const pprf_key *key);
void check_bitmap(const struct opt_bitmap *b, const struct model *m);
void check_leaf(const struct opt_bitmap *b, const struct model *m, uint64_t leaf);
void check_nodes(const struct opt_store *s, const struct model *m, int slots);
void check_key(const pprf_key *key, const struct model *m, int slots);
/** pprf_setup and pprf_import, for keys with pair slots. */
int setup_slots(pprf_key **key, unsigned depth, const uint8_t *seed);
int import_slots(pprf_key **key, const uint8_t *buf, size_t len);
pprf_key *new_key(struct model *m, unsigned depth);
void puncture(pprf_key *key, struct model *m, uint64_t first, uint64_t last);
void check_round_trip(const pprf_key *key, const struct model *m);

/* ---- prg.c: the PRG, seeds left behind ---- */

void test_keccak(void);
void test_many(void);
void test_suites(void);
void test_sha256(void);
int ignore(void *arg, uint64_t leaf, size_t n, const uint8_t *values);
void test_stack(void);

/* ---- keys.c: words, bitmaps, keys, hostile files ---- */

void test_words(void);
void test_all_ranges(unsigned depth);
void test_all_sets(unsigned depth);
void all_orders(uint64_t *order, unsigned fixed, unsigned n);
uint64_t some_leaf(const struct model *m);
void test_random_operations(unsigned depth, unsigned operations);
void test_marks(void);
void test_failing_prg(void);
void test_hostile_files(void);

/* ---- memory.c: memory, shared keys ---- */

size_t kernel_bytes(const pprf_key *key);
void test_depth_32(void);
void test_worst_case_bytes(unsigned depth);
void test_worst_case_packed(unsigned depth);
void test_range_release(void);
void test_prefault(void);
void test_opened(void);
void test_shared(void);

/* ---- batch.c: many leaves ---- */

void test_batches_small(void);
void test_batches_random(void);
void test_batch_errors(void);
void test_batch_residue(void);

/* ---- packed.c: the packed store; memory and locks through --wrap ---- */

/** What opt holds; the test's own too, where it is of the same kinds. */
extern struct held {
  _Atomic long heap, blocks; /* pointers, and blocks of the arena */
  _Atomic long mapped;       /* bytes, the arena's regions among them */
  _Atomic long regions,
    most_regions; /* of the arena, which keeps a note of each that it ever had */
} held;
extern uint64_t refused; /* the refused-th memory request from now on fails; 0: none */
extern enum mlock2_says { AS_IT_IS, GRANTED, REFUSED } mlock2_says;
void test_packed(void);

#endif

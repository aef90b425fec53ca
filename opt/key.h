/* SPDX-License-Identifier: Apache-2.0 */
/** @file key.h
 * What pprf.c, core.c and batch.c share: the key, and how much stack an operation takes.
 *
 * Secrets: a function of the API holds none in its own frame. It checks arguments, calls a
 * PPRF_WORK function that does the work, and then wipes the stack below itself (wipe.h). */
#ifndef PPRF_OPT_KEY_H
#define PPRF_OPT_KEY_H

#include "common/fork.h"
#include "pprf.h"
#include "prg.h"
#include "seeds.h"
#include "slots/pages.h"
#include "store.h"
#include "wipe.h"

struct pprf_key {
  uint64_t maker; /* process that made the key (fork.h); 0 if the key is shared */
  struct pprf_family family;
  struct opt_store store;
#ifndef __FRAMAC__ /* WP has no flexible arrays, and no proven function uses this one */
  uint64_t small[]; /* bitmap levels smaller than a page */
#endif
};

/*@ // the key belongs to another process than this one: it is a copy that fork made
    predicate copied{L}(pprf_key *key) = key->maker != 0 && key->maker != process_number; */

/* Keys with 32-byte seeds belong to wide.c, which compiles these sources a second time: a
 * function of the API first passes such keys on.  The proofs are about keys with 16-byte seeds. */
#ifdef __FRAMAC__
#define PPRF_IF_WIDE(key, ...)
#else
#include "wide_key.h"
#endif

#define NOINLINE __attribute__((noinline))

/* Stack bytes that an operation's own functions use, without the PRG; together with the PRG's at
 * least an eighth more than needed with any compiler and flags of
 * equivalence-tests/secrets/residue-matrix.sh. */
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

/* Additional bytes for co-paths in a tree deeper than 32; a range has two, of nodes with their
 * places. */
#define DEEP_STACK ((PPRF_DEPTH_MAX - PPRF_SLOTS_DEPTH_MAX) * (PPRF_SEED_BYTES + 16u) * 6 / 5)

/*@ requires \valid_read(key);
    assigns \nothing;
    ensures \result == key->store.slots.punctured.depth; */
static inline unsigned depth_of(const pprf_key *key)
{
  return key->store.slots.punctured.depth;
}

/** Puncture the leaves outside of the range first .. last of the tree.
 * @retval PPRF_OK  no other leaf is live.
 * @retval PPRF_ERR_NOMEM, or an error of the PRG: some of them may be. */
int opt_puncture_outside(pprf_key *key, uint64_t first, uint64_t last);

#endif

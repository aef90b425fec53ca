/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of the fleet: a puncturable key whose leaves are issued in order, each claimed by one asker at
 * a time, and punctured in the end.  It lives in this process only; nothing here writes a seed
 * anywhere.
 *
 *   issued  --claim-->  leased  --commit, or the lease runs out-->  punctured
 *     ^                   |
 *     +-----release-------+
 *
 * Times are milliseconds of a clock that no administrator sets (CLOCK_BOOTTIME): jumps of the system's
 * time change nothing. */
#ifndef VALKEY_TREE_H
#define VALKEY_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "pprf.h"

/* Results besides those of pprf.h. */
enum {
  TREE_DEAD = 100,   /* its seeds are gone: it ended, or it came out of a dump */
  TREE_LEASED = 101, /* another asker has the leaf */
  TREE_FULL = 102,   /* every leaf is issued; or there are too many leases */
  TREE_OVER = 103    /* the lease is over: the leaf is, or soon will be, punctured */
};

enum { TREE_LEASES_MAX = 65536 }; /* of a tree, at one time */

struct tree;

struct tree_counts {
  uint64_t live;      /* trees */
  uint64_t leases;    /* now */
  uint64_t issued;    /* leaves, ever */
  uint64_t claimed;   /* claims that gave a value */
  uint64_t used;      /* refused: the leaf was punctured */
  uint64_t busy;      /* refused: another had it */
  uint64_t dead;      /* refused: the tree was dead or another */
  uint64_t committed; /* punctured by a commit */
  uint64_t released;
  uint64_t ran_out;   /* leases that ended with a puncture because nobody answered */
  uint64_t punctured; /* by tree_puncture: calls */
};

struct tree_state {
  uint64_t id, leaves, issued, nodes, leases, lifetime_left, lease;
  unsigned depth;
  int live;
};

/* A tree with 2^depth leaves, a random root and a random id, for `lifetime` ms, each claim for `lease`
 * ms.  PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO. */
int tree_new(struct tree **tree, unsigned depth, uint64_t lifetime, uint64_t lease);
/* What is left of a tree in a dump: the name of one that is gone.  NULL: no memory. */
struct tree *tree_dead(unsigned depth, uint64_t id);
/* From any thread.  The tree's seeds are wiped. */
void tree_free(struct tree *tree);

/* Take the next leaves, n at most: *n of them from *first on, their values at `value`, 16 bytes each. */
int tree_issue(struct tree *tree, uint64_t id, uint64_t *first, size_t *n, uint8_t *value);
/* Lease a leaf: its value, and the number of the lease for the other two.  A leaf that was never issued
 * is PPRF_ERR_RANGE. */
int tree_claim(struct tree *tree, uint64_t id, uint64_t leaf, uint64_t *lease, uint8_t value[16]);
/* End a lease: commit punctures the leaf, release lets it be claimed again.  If puncturing fails the
 * lease stays, nobody can claim the leaf, and puncturing is tried again. */
int tree_commit(struct tree *tree, uint64_t id, uint64_t leaf, uint64_t lease);
int tree_release(struct tree *tree, uint64_t id, uint64_t leaf, uint64_t lease);
/* Puncture a range of issued leaves, leased or not.  So a leaf that is issued has a value. */
int tree_puncture(struct tree *tree, uint64_t id, uint64_t first, uint64_t last);

/* Puncture what is leased too long, end what has lived long enough; in every tree of the process. */
void tree_sweep(void);
struct tree_state tree_look(const struct tree *tree);
struct tree_counts tree_counts(void);
size_t tree_memory(const struct tree *tree);

/* The clock, in milliseconds. */
uint64_t tree_now(void);

#endif

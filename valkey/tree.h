/* SPDX-License-Identifier: Apache-2.0 */
/* A tree of the fleet: a puncturable key whose leaves are issued in order, claimed by one client at
 * a time, and finally punctured.  Unused leaves can be handed back and are issued again.  The tree
 * lives in this process only; no function writes a seed out.
 *
 *   issued  --claim-->  leased  --commit, or the lease runs out-->  punctured
 *     ^                   |
 *     +-----release-------+
 *
 * Times are in milliseconds of CLOCK_BOOTTIME, so changes of the system's time have no effect. */
#ifndef VALKEY_TREE_H
#define VALKEY_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "pprf.h"

/* Results besides those of pprf.h. */
enum {
  TREE_DEAD = 100,   /* no seeds: the tree ended, or was restored from a dump */
  TREE_LEASED = 101, /* another client has the leaf */
  TREE_FULL = 102,   /* every leaf is issued; or there are too many leases */
  TREE_OVER = 103,   /* the lease is over: the leaf is, or soon will be, punctured */
  TREE_NOT_YOURS = 104 /* leaves that the owner no longer has, or that were used */
};

enum {
  TREE_LEASES_MAX = 65536, /* at one time in a tree */
  TREE_GRANTS = 4          /* calls of tree_issue whose leaves an owner can hand back */
};

struct tree;

struct tree_counts {
  uint64_t live;      /* live trees */
  uint64_t leases;    /* current leases */
  uint64_t issued;    /* leaves issued, in total */
  uint64_t returned;  /* leaves handed back, in total */
  uint64_t claimed;   /* claims that returned a value */
  uint64_t used;      /* refused: the leaf was punctured */
  uint64_t busy;      /* refused: leased to another client */
  uint64_t dead;      /* refused: the tree was dead or had another id */
  uint64_t committed; /* punctured by a commit */
  uint64_t released;
  uint64_t ran_out;   /* leases that expired unanswered and ended in a puncture */
  uint64_t punctured; /* calls of tree_puncture */
};

struct tree_state {
  uint64_t id, leaves, issued, nodes, leases, lifetime_left, lease;
  unsigned depth;
  int live;
};

/* Make a tree with 2^depth leaves, a random root and a random id, which lives for `lifetime` ms;
 * claims last `lease` ms.  PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO. */
int tree_new(struct tree **tree, unsigned depth, uint64_t lifetime, uint64_t lease);
/* Make the dead tree that a dump restores: depth and id, no seeds.  NULL: no memory. */
struct tree *tree_dead(unsigned depth, uint64_t id);
/* Wipe and free the tree.  May be called from any thread. */
void tree_free(struct tree *tree);

/* Issue the next leaves, at most n: *n leaves from *first on, their values at `value`, 16 bytes
 * each.  Leaves that were handed back come first.  owner: a number that nobody else ever has; its
 * owner may hand the leaves back. */
int tree_issue(struct tree *tree, uint64_t id, uint64_t owner, uint64_t *first, size_t *n,
               uint8_t *value);
/* Hand back the last leaves, or all, of one call of tree_issue, as if they had never been issued:
 * once for each call, by its owner, and only leaves behind those that were claimed or punctured;
 * else TREE_NOT_YOURS. */
int tree_return(struct tree *tree, uint64_t id, uint64_t owner, uint64_t first, uint64_t last);
/* The owner has gone and hands nothing back: its leaves stay issued. */
void tree_forget(uint64_t owner);
/* Lease a leaf: returns its value, and the lease number for commit and release.  PPRF_ERR_RANGE for
 * a leaf that was never issued or is handed back. */
int tree_claim(struct tree *tree, uint64_t id, uint64_t leaf, uint64_t *lease, uint8_t value[16]);
/* End a lease: commit punctures the leaf, release lets it be claimed again.  If puncturing fails,
 * the lease stays, nobody can claim the leaf, and puncturing is retried. */
int tree_commit(struct tree *tree, uint64_t id, uint64_t leaf, uint64_t lease);
int tree_release(struct tree *tree, uint64_t id, uint64_t leaf, uint64_t lease);
/* Puncture a range of issued leaves, leased or not.  Unissued leaves are refused, so every leaf has
 * a value when issued. */
int tree_puncture(struct tree *tree, uint64_t id, uint64_t first, uint64_t last);

/* In every tree of the process: puncture leaves whose lease has expired, and end trees past their
 * lifetime. */
void tree_sweep(void);
struct tree_state tree_look(const struct tree *tree);
struct tree_counts tree_counts(void);
size_t tree_memory(const struct tree *tree);

/* The clock, in milliseconds. */
uint64_t tree_now(void);

#endif

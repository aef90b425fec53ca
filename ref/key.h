/* SPDX-License-Identifier: Apache-2.0 */
/** @file key.h
 * What pprf.c and batch.c share: the key. */
#ifndef REF_KEY_H
#define REF_KEY_H

#include "core.h"
#include "pprf.h"
#include "prg.h"
#include "wide_key.h"

/* Bytes of stack that ref's own functions take: two co-paths of nodes and what is around them. */
#ifdef PPRF_WIDE /* of 48 bytes a node, not 32 */
#ifdef __OPTIMIZE__
#define OWN_STACK 11264
#else
#define OWN_STACK 13312
#endif
#else
#ifdef __OPTIMIZE__
#define OWN_STACK 8192
#else
#define OWN_STACK 10240
#endif
#endif

struct pprf_key {
  uint64_t maker; /* the process that made it (fork.h); 0: shared */
  struct pprf_family family;
  unsigned depth;
  size_t count, cap;
  struct ref_node *nodes; /* cap of them, count in use, in leaf order */
  size_t mapped; /* bytes of the shared mapping in which it lies; 0: private, on the heap */
};

/** Move the contents of a private key into another key; the private key must then be freed. */
void ref_key_take(pprf_key *key, pprf_key *from);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file key.h
 * struct pprf_key and what pprf.c and batch.c share. */
#ifndef REF_KEY_H
#define REF_KEY_H

#include "core.h"
#include "pprf.h"
#include "prg.h"
#include "wide_key.h"

/* Stack bytes that ref's own functions use: two co-paths of nodes and their callers' frames. */
#ifdef PPRF_WIDE /* 48 bytes per node instead of 32 */
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
  uint64_t maker; /* process that made the key (fork.h); 0 if the key is shared */
  struct pprf_family family;
  unsigned depth;
  size_t count, cap;
  struct ref_node *nodes; /* array of cap nodes, the first count of them in use, in leaf order */
  size_t mapped; /* bytes of the shared mapping with the key and its nodes; 0: private */
};

/** Replace the contents of a key by those of a private key, which the caller must then free. */
void ref_key_take(pprf_key *key, pprf_key *from);

#endif

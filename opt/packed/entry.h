/* SPDX-License-Identifier: Apache-2.0 */
/** @file entry.h
 * The nodes of a key, as both stores hand them out and take them. */
#ifndef PPRF_OPT_ENTRY_H
#define PPRF_OPT_ENTRY_H

#include <stdint.h>

#include "prg.h"

/** The subtree over the leaves start .. start + 2^height - 1. */
struct opt_node {
  uint64_t start;
  unsigned height;
  uint16_t tile, seeds; /* where a packed store found it in its page; the pair slots need neither */
};

/** A node and its seed. */
struct opt_entry {
  struct opt_node node;
  struct pprf_seed seed;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file entry.h
 * A node of a key, and a node with its seed: the interface of both stores. */
#ifndef PPRF_OPT_ENTRY_H
#define PPRF_OPT_ENTRY_H

#include <stdint.h>

#include "prg.h"

/** The subtree over the leaves start .. start + 2^height - 1. */
struct opt_node {
  uint64_t start;
  unsigned height;
  uint16_t tile, seeds; /* where the packed store found it in its page; unused by pair slots */
};

/** A node and its seed. */
struct opt_entry {
  struct opt_node node;
  struct pprf_seed seed;
};

#endif

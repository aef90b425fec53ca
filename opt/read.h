/* SPDX-License-Identifier: Apache-2.0 */
/** @file read.h
 * Read the nodes of either store one after the other, for an export, a change of the store and the wiping of a
 * key. */
#ifndef PPRF_OPT_READ_H
#define PPRF_OPT_READ_H

#include "packed/read.h"
#include "store.h"

/** With all members but store zero, it stands before all nodes.  The store must not change meanwhile. */
struct opt_reader {
  const struct opt_store *store;
  struct opt_cursor cursor; /* of a packed one */
  /* of pair slots: the end of the node read last; the word of 64 leaves that it lies in, and its live leaves that are
   * still to be read (0: none, or the word is not known) */
  uint64_t at, word, live;
};

/** Read the next node of pair slots.
 * @retval 1 *node is set.
 * @retval 0 there is none. */
int opt_slots_read(struct opt_reader *r, struct opt_node *node);

/** Read the next node of a store, and its seed.
 * @retval 1 *e is set.
 * @retval 0 there is none. */
int opt_store_read(struct opt_reader *r, struct opt_entry *e);

#endif

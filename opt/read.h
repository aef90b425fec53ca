/* SPDX-License-Identifier: Apache-2.0 */
/** @file read.h
 * Reading the nodes of either store one after the other, for export, a change of the store and the
 * wiping of a key. */
#ifndef PPRF_OPT_READ_H
#define PPRF_OPT_READ_H

#include "packed/read.h"
#include "store.h"

/** If all members but store are zero, the reader stands before the first node.  The store must
 * not change while it is read. */
struct opt_reader {
  const struct opt_store *store;
  struct opt_cursor cursor; /* for a packed store */
  /* for pair slots: the end of the last node read; the word of 64 leaves in which it lies, and
   * the live leaves of that word not read yet (0: none, or the word is not known) */
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

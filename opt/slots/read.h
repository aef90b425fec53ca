/* SPDX-License-Identifier: Apache-2.0 */
/** @file read.h
 * Read the nodes of pair slots one after the other. */
#ifndef PPRF_OPT_SLOTS_READ_H
#define PPRF_OPT_SLOTS_READ_H

#include "slots.h"

/** With all members but slots zero, it stands before all nodes.  The slots must not change
 * meanwhile. */
struct opt_slots_reader {
  const struct opt_slots *slots;
  /* the end of the node read last; the word of 64 leaves that it lies in, and its live leaves that
   * are still to be read (0: none, or the word is not known) */
  uint64_t at, word, live;
};

/** Read the next node.
 * @retval 1 *node is set.
 * @retval 0 there is none. */
int opt_slots_read(struct opt_slots_reader *r, struct opt_node *node);

#endif

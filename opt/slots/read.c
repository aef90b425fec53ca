/* SPDX-License-Identifier: Apache-2.0 */
/* Reading the nodes of a store in leaf order. */
#include "read.h"

/* Take the first node out of the live leaves of a word that also has a punctured leaf.  The node
 * starts at the first live leaf and is as large as its position and the live leaves after it
 * allow. */
static struct opt_node first_node(uint64_t *live, uint64_t start)
{
  unsigned i = opt_lsb(*live), height = opt_msb(opt_lsb(~(*live >> i)));
  if (i != 0 && opt_lsb(i) < height)
    height = opt_lsb(i);
  *live &= ~opt_upto(i + (1u << height) - 1);
  return (struct opt_node){.start = start + i, .height = height};
}

/* Nodes of less than 64 leaves are read from their word: a search from the top takes three times
 * as long for each.  The word is valid (bitmap.h), because such a node has a punctured leaf
 * beside it, and none of it was read before. */
int opt_slots_read(struct opt_slots_reader *r, struct opt_node *node)
{
  const struct opt_bitmap *b = &r->slots->punctured;
  if (r->live != 0) {
    *node = first_node(&r->live, 64 * r->word);
  } else if (!opt_slots_next(r->slots, r->at, node)) {
    return 0;
  } else if (node->height < 6 && b->depth >= 6) {
    r->word = node->start / 64;
    r->live = opt_clear(b->leaves[r->word]);
    *node = first_node(&r->live, 64 * r->word);
  }
  r->at = opt_node_end(*node);
  return 1;
}

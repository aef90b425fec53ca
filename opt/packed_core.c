/* SPDX-License-Identifier: Apache-2.0 */
#include "packed_core.h"

#include "walk.h"

/* A node that opt_packed_find gave is one of the tree. */
/*@ ghost
  /@ requires packed_holds(seed_value(R), p) && packed_node(p, node);
     assigns \nothing;
     ensures node.height <= p->depth <= 63 && tree_node(p->depth, node.start, node.height);
  @/
  static inline void node_in_tree_lemma(const struct opt_packed *p, struct opt_node node, struct pprf_seed R)
  {
    /@ assert row: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==>
         row_tiles(page_row(p->page[i]), p->page[i]->tiles, p->first[i], p->depth); @/
    /@ assert tile: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==>
         tile_is_node(page_row(p->page[i]), p->first[i], p->depth, node.tile); @/
    /@ assert node: \forall integer i; 0 <= i < p->pages ==> node_in_page(p, i, node) ==>
         byte_of_node(p->depth, OPT_TILE_LIVE + node.height, node.start); @/
  }
*/

PPRF_WORK int opt_packed_eval(const struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                              uint8_t *out) /*@ ghost (struct pprf_seed R) */
{
  struct pprf_seed value = {0, 0};
  struct opt_node node;
  int err = PPRF_ERR_PUNCTURED;
  //@ ghost unsigned d = p->depth;
  if (opt_packed_find(p, leaf, &node) /*@ ghost (R) */) {
    //@ ghost node_in_tree_lemma(p, node, R);
    err = opt_walk(family, opt_packed_seed(p, node) /*@ ghost (R) */, node.start, node.height, leaf,
                   NULL, &value) /*@ ghost (R, d) */;
  }
  store_seed(out, value);
  wipe_seed(&value);
  return err;
}

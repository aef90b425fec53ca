/* SPDX-License-Identifier: Apache-2.0 */
#include "packed_core.h"

#include "walk.h"
#include "wp/packed_core_steps.h"

PPRF_WORK int opt_packed_eval(const struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                              uint8_t *out) /*@ ghost (struct pprf_seed R) */
{
  struct pprf_seed value = {0, 0};
  struct opt_node node;
  int err = PPRF_ERR_PUNCTURED;
  //@ ghost unsigned d = p->depth;
  if (opt_packed_find(p, leaf, &node) /*@ ghost (R) */) {
    NODE_IN_TREE
    err = opt_walk(family, opt_packed_seed(p, node) /*@ ghost (R) */, node.start, node.height, leaf,
                   NULL, &value) /*@ ghost (R, d) */;
  }
  store_seed(out, value);
  wipe_seed(&value);
  return err;
}

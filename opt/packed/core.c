/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation and punctures of leaves of packed keys. */
#include "core.h"

#include "packed.h"
#include "../walk.h"
#include "wp/index_steps.h"

#include "wp/core_steps.h"

struct opt_found opt_packed_live(const struct opt_packed *p, uint64_t leaf)
{
  struct opt_node node;
  int live = opt_packed_find(p, leaf, &node);
  FOUND_IN_TREE
  return (struct opt_found){node, live};
}

/* Walk from a leaf's node down to it: derive the leaf's seed and those beside the path.  The
 * store is unchanged. */
/*@ requires store: packed_key(root, p);
    requires family: tree_family(family);
    requires node: packed_node(p, node) && covers(node.start, node.height, leaf);
    requires tree: node.height <= p->depth && tree_node(p->depth, node.start, node.height);
    requires memory: \valid(value) &&
      (copath == \null || \valid(copath + (0 .. node.height - 1))) &&
      \separated(value, copath + (0 .. node.height - 1));
    requires apart: (copath == \null || copath_apart(p, copath, node.height)) &&
      copath_apart(p, value, 1);
    assigns *value, copath[0 .. WANTED(copath, node.height) - 1], expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures value: \result == PPRF_OK ==>
      seed_value(*value) == leaf_value(root, p->depth, leaf);
    ensures copath: \result == PPRF_OK ==> copath != \null ==>
      copath_seeds(root, p->depth, leaf, copath, 0, node.height);
    ensures error: \result != PPRF_OK ==> zero_seed(*value);
    ensures store: packed_key(root, p) && p->nodes == \old(p->nodes) &&
      p->depth == \old(p->depth);
    ensures node: packed_node(p, node);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline int walk_to(const struct opt_packed *p, struct pprf_family family,
                          struct opt_node node, uint64_t leaf, struct pprf_seed *copath,
                          struct pprf_seed *value)
{
  NODE_TO_WALK
  int err = opt_walk(family, opt_packed_seed(p, node), node.start, node.height, leaf, copath,
                     value) /*@ ghost (d) */;
  KEY_IS_APART
  NODE_IS_WALKED
  return err;
}

/* Write the value to out unless that is NULL, and wipe what was derived.  The store is
 * unchanged. */
/*@ requires store: packed_key(root, p);
    requires memory: \valid(value) && \valid(copath + (0 .. n - 1));
    requires apart: copath_apart(p, copath, n) && copath_apart(p, value, 1);
    requires out: out == \null || (\valid(out + (0 .. 15)) && value_apart(p, out));
    assigns *value, copath[0 .. n - 1], out[0 .. WANTED(out, 16) - 1];
    ensures value: out != \null ==> seed_bytes(out, \old(value->lo), \old(value->hi));
    ensures wiped: zero_seed(*value) && \forall integer i; 0 <= i < n ==> zero_seed(copath[i]);
    ensures store: packed_key(root, p) && p->nodes == \old(p->nodes);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void give_and_wipe(struct pprf_seed *value, struct pprf_seed *copath, unsigned n,
                                 uint8_t *out)
  /*@ ghost (const struct opt_packed *p) */
{
  if (out != NULL)
    store_seed(out, *value);
  wipe(copath, n);
  wipe_seed(value);
  KEY_IS_APART
}

/* Write zeros where the value will be, if it is wanted.  The store is as it was. */
/*@ requires store: packed_key(root, p);
    requires out: out == \null || (\valid(out + (0 .. 15)) && value_apart(p, out));
    assigns out[0 .. WANTED(out, 16) - 1];
    ensures zero: out != \null ==> seed_bytes(out, 0, 0);
    ensures store: packed_key(root, p) && p->nodes == \old(p->nodes) && p->depth == \old(p->depth);
    ensures same: \forall integer x; packed_punctured(p, x) <==> packed_punctured{Pre}(p, x); */
static inline void clear_value(uint8_t *out)
  /*@ ghost (const struct opt_packed *p) */
{
  if (out != NULL)
    store_seed(out, (struct pprf_seed){0, 0});
  KEY_IS_APART
}

/* ---- an evaluation ---- */

/* Evaluate at a leaf, with memory for its seed. */
/*@ requires store: packed_key(root, p);
    requires family: tree_family(family);
    requires memory: \valid(value) && copath_apart(p, value, 1) &&
      \separated(value, out + (0 .. 15));
    requires out: \valid(out + (0 .. 15)) && value_apart(p, out);
    assigns out[0 .. 15], *value, expansions;
    OPT_PACKED_EVAL
    ensures wiped: wiped_or_same{Pre,Post}(value, 1); */
static inline int eval_with(const struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                            uint8_t *out, struct pprf_seed *value)
{
  clear_value(out) /*@ ghost (p) */;
  if (!opt_in_tree(leaf, p->depth))
    return PPRF_ERR_RANGE;
  const struct opt_found found = opt_packed_live(p, leaf);
  if (!found.live)
    return PPRF_ERR_PUNCTURED;
  int err = walk_to(p, family, found.node, leaf, NULL, value);
  give_and_wipe(value, value, 0, out) /*@ ghost (p) */;
  return err;
}

PPRF_WORK int opt_packed_eval(const struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                              uint8_t *out)
{
  int err;
  {
    struct pprf_seed value;
    KEY_IN_BLOCK
    KEY_IS_HERE
    //@ ghost Begun: ;
    err = eval_with(p, family, leaf, out, &value);
    //@ assert wiped: wiped_or_same{Begun,Here}(&value, 1);
    KEY_AT_END
  }
  KEY_IS_HERE
  return err;
}

/* ---- a puncture ---- */

/* Puncture a leaf of a node, with memory for its seed and those beside the path to it. */
/*@ OPT_PATH_MEMORY
    requires node: packed_node(p, node) && covers(node.start, node.height, leaf);
    requires tree: node.height <= p->depth && tree_node(p->depth, node.start, node.height);
    requires live: !packed_punctured(p, leaf);
    OPT_PACKED_PUNCT_LEAF
    assigns copath[0 .. node.height - 1], *value;
    ensures wiped: zero_seed(*value) &&
      \forall integer i; 0 <= i < node.height ==> zero_seed(copath[i]); */
static inline int punct_node(struct opt_packed *p, struct pprf_family family, struct opt_node node,
                             uint64_t leaf, uint8_t *out, struct pprf_seed *copath,
                             struct pprf_seed *value)
{
  int err = walk_to(p, family, node, leaf, copath, value);
  OUT_IS_KEPT
  if (err == PPRF_OK)
    err = opt_packed_puncture(p, leaf, node, copath);
  OUT_IS_KEPT
  give_and_wipe(value, copath, node.height, err == PPRF_OK ? out : NULL) /*@ ghost (p) */;
  return err;
}

/* Find a leaf's node and puncture the leaf. */
/*@ OPT_PATH_MEMORY
    OPT_PACKED_PUNCT_LEAF
    assigns copath[0 .. p->depth - 1], *value;
    ensures wiped: wiped_or_same{Pre,Post}(copath, \old(p->depth));
    ensures wiped_value: wiped_or_same{Pre,Post}(value, 1); */
static inline int punct_with(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                             uint8_t *out, struct pprf_seed *copath, struct pprf_seed *value)
{
#ifndef __FRAMAC__
  opt_packed_near(p, leaf);
#endif
  struct opt_found found = opt_packed_live(p, leaf);
  if (!found.live)
    return PPRF_ERR_PUNCTURED;
  //@ ghost unsigned d = p->depth;
  int err;
  if (found.node.height == 0 && out == NULL) { /* half of all punctures in random order */
    err = opt_packed_puncture(p, leaf, found.node, NULL);
    PATH_IS_SAME
  } else {
    REST_IS_APART
    err = punct_node(p, family, found.node, leaf, out, copath, value);
    PATH_IS_WIPED_TO
  }
  return err;
}

/* The same with that memory in its frame, for trees of depth PPRF_SLOTS_DEPTH_MAX at most, and for
 * all. */
/*@ requires depth: p->depth <= PPRF_SLOTS_DEPTH_MAX;
    OPT_PACKED_PUNCT_LEAF */
static inline int punct_shallow(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                                uint8_t *out)
{
  int err;
  {
    struct pprf_seed copath[PPRF_SLOTS_DEPTH_MAX], value;
    KEY_IN_BLOCK
    KEY_IS_HERE
    //@ ghost Begun: ;
    err = punct_with(p, family, leaf, out, &copath[0], &value);
    PATH_IS_WIPED
    KEY_AT_END
  }
  KEY_IS_HERE
  return err;
}

/*@ OPT_PACKED_PUNCT_LEAF */
static inline int punct_any(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                            uint8_t *out)
{
  int err;
  {
    struct pprf_seed copath[OPT_PACKED_DEPTH_MAX], value;
    KEY_IN_BLOCK
    KEY_IS_HERE
    //@ ghost Begun: ;
    err = punct_with(p, family, leaf, out, &copath[0], &value);
    PATH_IS_WIPED
    KEY_AT_END
  }
  KEY_IS_HERE
  return err;
}

PPRF_WORK int opt_packed_punct(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                               uint8_t *out)
{
  clear_value(out) /*@ ghost (p) */;
  if (!opt_in_tree(leaf, p->depth))
    return PPRF_ERR_RANGE;
  return punct_shallow(p, family, leaf, out);
}

PPRF_WORK int opt_packed_punct_deep(struct opt_packed *p, struct pprf_family family, uint64_t leaf,
                                    uint8_t *out)
{
  clear_value(out) /*@ ghost (p) */;
  if (!opt_in_tree(leaf, p->depth))
    return PPRF_ERR_RANGE;
  return punct_any(p, family, leaf, out);
}

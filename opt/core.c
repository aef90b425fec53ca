/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation and punctures: the descents from a live node, and the API functions that make them.
 *
 * Seeds.  descend and siblings hold seeds in registers that the compiler may spill: each wipes its
 * variables, and its caller wipes the stack below itself.  Seeds in the callers' own arrays are
 * wiped one by one.  Branches and addresses depend on leaves only. */
#include <string.h>

#include "key.h"

/* Walk from a live node down to a leaf: the leaf's seed, and in copath, if not NULL, the seeds of
 * the path's siblings by height.  On error neither holds a seed. */
static NOINLINE int descend(const struct opt_store *s, struct opt_node node, uint64_t leaf,
                            struct pprf_seed *copath, struct pprf_seed *value)
{
  struct pprf_seed seed = opt_store_seed(s, node);
  struct pprf_children c = {.err = PPRF_OK};
  for (unsigned h = node.height; h > 0; h--) {
    c = prg_expand(seed, leaf >> h << h, h);
    if (c.err != PPRF_OK) {
      if (copath != NULL)
        wipe(copath + h, node.height - h);
      seed = (struct pprf_seed){0, 0};
      break;
    }
    int right = leaf >> (h - 1) & 1;
    seed = right ? c.right : c.left;
    if (copath != NULL)
      copath[h - 1] = right ? c.left : c.right;
  }
  *value = seed;
  int err = c.err;
  wipe(&seed, 1);
  wipe_children(&c);
  return err;
}

/* What is left of a live node when a range ends in it: the left siblings of the path to the
 * range's first leaf, or the right siblings of the path to its last.  The walk stops at the
 * subtree that lies wholly in the range.  On error out holds no seed. */
static NOINLINE int siblings(const struct opt_store *s, struct opt_node node, uint64_t leaf,
                             int right_side, struct opt_entry *out, unsigned *count)
{
  uint64_t inside = right_side ? ~leaf : leaf; /* low h bits zero: the rest is in the range */
  struct pprf_seed seed = opt_store_seed(s, node);
  struct pprf_children c = {.err = PPRF_OK};
  *count = 0;
  for (unsigned h = node.height; h > 0 && (inside & opt_below(h)) != 0; h--) {
    c = prg_expand(seed, leaf >> h << h, h);
    if (c.err != PPRF_OK) {
      explicit_bzero(out, *count * sizeof *out);
      *count = 0;
      break;
    }
    int right = leaf >> (h - 1) & 1;
    seed = right ? c.right : c.left;
    if (right != right_side)
      out[(*count)++] = (struct opt_entry){
        .node = {.start = (leaf >> (h - 1) ^ 1) << (h - 1), .height = h - 1},
        .seed = right ? c.left : c.right};
  }
  int err = c.err;
  wipe(&seed, 1);
  wipe_children(&c);
  return err;
}

static NOINLINE int punct_range(struct opt_store *s, uint64_t first, uint64_t last)
{
  struct opt_entry rest[2 * PPRF_DEPTH_MAX];
  struct opt_node node;
  unsigned lefts = 0, rights = 0;
  int err = PPRF_OK;
  if (!opt_store_next(s, first, &node) || node.start > last)
    return PPRF_ERR_PUNCTURED;
  if (node.start < first)
    err = siblings(s, node, first, 0, rest, &lefts);
  if (err == PPRF_OK && opt_store_find(s, last, &node))
    err = siblings(s, node, last, 1, rest + lefts, &rights);
  if (err == PPRF_OK)
    opt_store_puncture_range(s, first, last, rest, lefts + rights);
  explicit_bzero(rest, (lefts + rights) * sizeof *rest);
  prg_wipe_stack();
  return err;
}

int pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  struct opt_node node;
  struct pprf_seed value = {0, 0};
  if (out == NULL)
    return PPRF_ERR_NULL;
  int err = PPRF_OK;
  if (key == NULL)
    err = PPRF_ERR_NULL;
  else if (leaf >> depth_of(key) != 0)
    err = PPRF_ERR_RANGE;
  else if (!opt_store_find(&key->store, leaf, &node))
    err = PPRF_ERR_PUNCTURED;
  else
    err = descend(&key->store, node, leaf, NULL, &value);
  store_seed(out, value);
  wipe(&value, 1);
  prg_wipe_stack();
  return err;
}

/* Puncture, and write the leaf's value to out if that is not NULL.  Wiping comes last: after it no
 * register and no stack below the API function holds a seed. */
static NOINLINE int punct(pprf_key *key, uint64_t leaf, uint8_t *out)
{
  struct pprf_seed copath[PPRF_DEPTH_MAX], value;
  struct opt_node node;
  if (leaf >> depth_of(key) != 0)
    return PPRF_ERR_RANGE;
  opt_store_prefetch(&key->store, leaf);
  if (!opt_store_find(&key->store, leaf, &node))
    return PPRF_ERR_PUNCTURED;
  if (node.height == 0 && out == NULL) { /* half of all punctures in random order: no seed is read */
    opt_store_puncture(&key->store, leaf, node, NULL);
    return PPRF_OK;
  }
  int err = descend(&key->store, node, leaf, copath, &value);
  if (err == PPRF_OK) {
    opt_store_puncture(&key->store, leaf, node, copath);
    if (out != NULL)
      store_seed(out, value);
    wipe(copath, node.height);
  }
  wipe(&value, 1);
  prg_wipe_stack();
  return err;
}

int pprf_punct(pprf_key *key, uint64_t leaf)
{
  return key == NULL ? PPRF_ERR_NULL : punct(key, leaf, NULL);
}

int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  if (out == NULL)
    return PPRF_ERR_NULL;
  memset(out, 0, PPRF_SEED_BYTES);
  return key == NULL ? PPRF_ERR_NULL : punct(key, leaf, out);
}

int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (first > last || last >> depth_of(key) != 0)
    return PPRF_ERR_RANGE;
  return punct_range(&key->store, first, last);
}

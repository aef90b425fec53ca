/* SPDX-License-Identifier: Apache-2.0 */
#include "core.h"

size_t ref_find(const struct ref_node *a, size_t n, uint64_t x)
{
  size_t lo = 0, hi = n;
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    if (a[mid].start + ref_width(a[mid].height) <= x)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

void ref_setup(struct ref_node *a, unsigned d, struct pprf_seed root)
{
  ref_put(a, 0, d, root);
}

int ref_eval(const struct ref_node *a, size_t n, unsigned d, uint64_t x, struct pprf_seed *value)
{
  ref_wipe_seed(value);
  if (x >= ref_width(d))
    return PPRF_ERR_RANGE;
  size_t i = ref_find(a, n, x);
  if (i == n || a[i].start > x)
    return PPRF_ERR_PUNCTURED;
  uint64_t start = a[i].start;
  unsigned h = a[i].height;
  struct pprf_seed seed = a[i].seed;
  while (h > 0) {
    struct pprf_children c = prg_expand(seed, start, h);
    if (c.err != PPRF_OK) {
      prg_wipe_stack();
      return c.err;
    }
    h--;
    uint64_t half = ref_width(h);
    if (x - start < half) {
      seed = c.left;
    } else {
      seed = c.right;
      start += half;
    }
  }
  *value = seed;
  prg_wipe_stack();
  return PPRF_OK;
}

int ref_co_path(const struct ref_node *node, uint64_t x, struct ref_node *path, size_t *left,
                struct pprf_seed *value)
{
  uint64_t start = node->start;
  unsigned h = node->height;
  struct pprf_seed seed = node->seed;
  size_t lo = 0, hi = h; /* free slots: path[lo .. hi-1], one for each level below */
  int err = PPRF_OK;
  while (h > 0) {
    struct pprf_children c = prg_expand(seed, start, h);
    err = c.err;
    if (err != PPRF_OK)
      break;
    h--;
    uint64_t half = ref_width(h);
    if (x - start < half) {
      hi--;
      ref_put(&path[hi], start + half, h, c.right);
      seed = c.left;
    } else {
      ref_put(&path[lo], start, h, c.left);
      lo++;
      start += half;
      seed = c.right;
    }
  }
  prg_wipe_stack();
  if (err != PPRF_OK) {
    ref_wipe(path, node->height);
    ref_wipe_seed(&seed);
  }
  *left = lo;
  *value = seed;
  return err;
}

int ref_eval_punct(struct ref_node *a, size_t *n, size_t cap, unsigned d, uint64_t x,
                   struct pprf_seed *value)
{
  struct ref_node path[REF_DEPTH_MAX];
  size_t left;
  ref_wipe_seed(value);
  if (x >= ref_width(d))
    return PPRF_ERR_RANGE;
  size_t i = ref_find(a, *n, x);
  if (i == *n || a[i].start > x)
    return PPRF_ERR_PUNCTURED;
  unsigned h = a[i].height;
  if (h > cap - (*n - 1))
    return PPRF_ERR_BUFFER;
  int err = ref_co_path(&a[i], x, path, &left, value);
  if (err != PPRF_OK)
    return err;
  *n = ref_splice(a, *n, i, i + 1, path, h);
  ref_wipe(path, h);
  return PPRF_OK;
}

int ref_punct(struct ref_node *a, size_t *n, size_t cap, unsigned d, uint64_t x)
{
  struct pprf_seed value;
  int err = ref_eval_punct(a, n, cap, d, x, &value);
  ref_wipe_seed(&value);
  return err;
}

/* What stays of a node that covers the leaves from first on up to its end, or begins with them:
 * the part of its co-path of first that is left of first.  No PRG call if that is empty. */
static int keep_left(const struct ref_node *node, uint64_t first, struct ref_node *kept,
                     size_t *count)
{
  struct pprf_seed value;
  *count = 0;
  if (first <= node->start)
    return PPRF_OK;
  int err = ref_co_path(node, first, kept, count, &value);
  if (err != PPRF_OK) {
    *count = 0;
    return err;
  }
  ref_wipe_seed(&value);
  ref_wipe(&kept[*count], node->height - *count);
  return PPRF_OK;
}

/* The same at the other end: the part of the co-path of last that is right of last. */
static int keep_right(const struct ref_node *node, uint64_t last, struct ref_node *kept,
                      size_t *count)
{
  struct ref_node path[REF_DEPTH_MAX];
  struct pprf_seed value;
  size_t left;
  *count = 0;
  if (last - node->start >= ref_width(node->height) - 1)
    return PPRF_OK;
  int err = ref_co_path(node, last, path, &left, &value);
  if (err != PPRF_OK)
    return err;
  ref_wipe_seed(&value);
  *count = node->height - left;
  ref_copy(kept, &path[left], *count);
  ref_wipe(path, node->height);
  return PPRF_OK;
}

int ref_punct_range(struct ref_node *a, size_t *n, size_t cap, unsigned d, uint64_t first,
                    uint64_t last)
{
  struct ref_node kept[2 * REF_DEPTH_MAX];
  size_t left, right;
  if (first > last || last >= ref_width(d))
    return PPRF_ERR_RANGE;
  size_t i = ref_find(a, *n, first), j = ref_find(a, *n, last);
  if (j < *n && a[j].start <= last)
    j++; /* a[i .. j-1] meet the range */
  if (i == j)
    return PPRF_ERR_PUNCTURED;
  if ((size_t)a[i].height + a[j - 1].height > cap - (*n - (j - i)))
    return PPRF_ERR_BUFFER;
  int err = keep_left(&a[i], first, kept, &left);
  if (err != PPRF_OK)
    return err;
  err = keep_right(&a[j - 1], last, &kept[left], &right);
  if (err == PPRF_OK)
    *n = ref_splice(a, *n, i, j, kept, left + right);
  ref_wipe(kept, left + right);
  return err;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pprf.h"

static void *need(void *p)
{
  if (p == NULL) {
    fprintf(stderr, "model: no memory\n");
    exit(99);
  }
  return p;
}

static uint64_t get_le(const uint8_t *p, unsigned bytes)
{
  uint64_t v = 0;
  for (unsigned i = bytes; i-- > 0;)
    v = v << 8 | p[i];
  return v;
}

static void put_le(uint8_t *p, uint64_t v, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++)
    p[i] = (uint8_t)(v >> 8 * i);
}

static int is_wide(const struct model *m)
{
  return m->family.suite == PRG_MLS_SHA256;
}

size_t model_value_bytes(const struct model *m)
{
  return is_wide(m) ? 32 : 16;
}

void model_setup(struct model *m, unsigned depth, struct pprf_family family, const uint8_t *seed)
{
  *m = (struct model){
    .depth = depth, .family = family, .root = {get_le(seed, 8), get_le(seed + 8, 8), 0, 0}};
  if (is_wide(m)) {
    m->root.third = get_le(seed + 16, 8);
    m->root.fourth = get_le(seed + 24, 8);
  }
}

void model_free(struct model *m)
{
  free(m->hole);
  *m = (struct model){0};
}

/* 1 if every leaf of [first, last] is punctured; *meets: whether any is. */
static int covered(const struct model *m, uint64_t first, uint64_t last, int *meets)
{
  size_t low = 0, high = m->holes; /* the first hole that ends at or after `first` */
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (m->hole[mid].last < first)
      low = mid + 1;
    else
      high = mid;
  }
  *meets = low < m->holes && m->hole[low].first <= last;
  return *meets && m->hole[low].first <= first && last <= m->hole[low].last;
}

/* A seed's children, of either width. */
static struct pprf_wide_children expand(const struct model *m, struct pprf_wide_seed seed,
                                        uint64_t start, unsigned h)
{
  if (is_wide(m))
    return prg_expand_wide(m->family, seed, start, h);
  struct pprf_children c = prg_expand(m->family, (struct pprf_seed){seed.lo, seed.hi}, start, h);
  return (struct pprf_wide_children){
    {c.left.lo, c.left.hi, 0, 0}, {c.right.lo, c.right.hi, 0, 0}, c.err};
}

static void put_seed(const struct model *m, uint8_t *out, const struct pprf_wide_seed *seed)
{
  put_le(out, seed->lo, 8);
  put_le(out + 8, seed->hi, 8);
  if (is_wide(m)) {
    put_le(out + 16, seed->third, 8);
    put_le(out + 24, seed->fourth, 8);
  }
}

static void value(const struct model *m, uint64_t leaf, uint8_t *out)
{
  struct pprf_wide_seed seed = m->root;
  for (unsigned h = m->depth; h > 0; h--) {
    uint64_t start = leaf >> h << h;
    struct pprf_wide_children c = expand(m, seed, start, h);
    seed = leaf >> (h - 1) & 1 ? c.right : c.left;
  }
  put_seed(m, out, &seed);
}

int model_eval(const struct model *m, uint64_t leaf, uint8_t *out)
{
  int meets;
  memset(out, 0, model_value_bytes(m));
  if (leaf >> m->depth != 0)
    return PPRF_ERR_RANGE;
  if (covered(m, leaf, leaf, &meets))
    return PPRF_ERR_PUNCTURED;
  value(m, leaf, out);
  return PPRF_OK;
}

int model_punct_range(struct model *m, uint64_t first, uint64_t last)
{
  int meets;
  if (first > last || last >> m->depth != 0)
    return PPRF_ERR_RANGE;
  if (covered(m, first, last, &meets))
    return PPRF_ERR_PUNCTURED;
  if (m->holes + 1 > m->cap) {
    m->cap = 2 * m->cap + 16;
    m->hole = need(realloc(m->hole, m->cap * sizeof *m->hole));
  }
  /* holes [from, to) touch or meet the range and are merged with it */
  size_t from = 0, to;
  while (from < m->holes && m->hole[from].last + 1 < first)
    from++;
  for (to = from; to < m->holes && m->hole[to].first <= last + 1; to++) {
    first = m->hole[to].first < first ? m->hole[to].first : first;
    last = m->hole[to].last > last ? m->hole[to].last : last;
  }
  memmove(m->hole + from + 1, m->hole + to, (m->holes - to) * sizeof *m->hole);
  m->hole[from] = (struct interval){first, last};
  m->holes = m->holes - (to - from) + 1;
  return PPRF_OK;
}

int model_punct(struct model *m, uint64_t leaf)
{
  return model_punct_range(m, leaf, leaf);
}

int model_eval_punct(struct model *m, uint64_t leaf, uint8_t *out)
{
  int err = model_eval(m, leaf, out);
  return err != PPRF_OK ? err : model_punct(m, leaf);
}

int model_delegate(const struct model *m, uint64_t first, uint64_t last, struct model *sub)
{
  int meets;
  if (first > last || last >> m->depth != 0)
    return PPRF_ERR_RANGE;
  if (covered(m, first, last, &meets))
    return PPRF_ERR_PUNCTURED;
  *sub = *m;
  sub->cap = m->holes + 2;
  sub->hole = need(malloc(sub->cap * sizeof *sub->hole));
  for (size_t i = 0; i < m->holes; i++)
    sub->hole[i] = m->hole[i];
  if (first > 0)
    (void)model_punct_range(sub, 0, first - 1);
  (void)model_punct_range(sub, last + 1,
                          ((uint64_t)1 << m->depth) - 1); /* none if last is the tree's */
  return PPRF_OK;
}

unsigned model_height(const struct model *m, uint64_t leaf)
{
  unsigned h = 0;
  int meets = 0;
  while (h < m->depth && !meets) { /* the largest subtree around the leaf without a hole */
    uint64_t start = leaf >> (h + 1) << (h + 1);
    (void)covered(m, start, start + ((uint64_t)2 << h) - 1, &meets);
    h += !meets;
  }
  return h;
}

struct writer {
  uint8_t *bytes;
  size_t len, cap, nodes;
};

/* The cover of the subtree (start, height), in leaf order: itself if no leaf of it is punctured,
 * nothing if all are, else the covers of its children.  seed is NULL when only ids are wanted. */
static void write_cover(const struct model *m, struct writer *w, uint64_t start, unsigned height,
                        const struct pprf_wide_seed *seed)
{
  int meets, all = covered(m, start, start + ((uint64_t)1 << height) - 1, &meets);
  if (all)
    return;
  if (!meets) {
    unsigned width = m->depth / 8 + 1;
    size_t record = width + (seed != NULL ? model_value_bytes(m) : 0);
    if (w->len + record > w->cap) {
      w->cap = 2 * w->cap + 1024;
      w->bytes = need(realloc(w->bytes, w->cap));
    }
    put_le(w->bytes + w->len, 2 * start + ((uint64_t)1 << height), width);
    if (seed != NULL)
      put_seed(m, w->bytes + w->len + width, seed);
    w->len += record;
    w->nodes++;
    return;
  }
  struct pprf_wide_children c = {.err = 0};
  if (seed != NULL)
    c = expand(m, *seed, start, height);
  uint64_t half = (uint64_t)1 << (height - 1);
  write_cover(m, w, start, height - 1, seed != NULL ? &c.left : NULL);
  write_cover(m, w, start + half, height - 1, seed != NULL ? &c.right : NULL);
}

/* Version 1 of the key file supports only one suite and depths up to 32. */
static int in_version2(unsigned suite, unsigned depth)
{
  return suite != PRG_SHA3_256 || depth > 32;
}

uint8_t *model_export(const struct model *m, size_t *len, size_t *nodes)
{
  struct writer w = {.cap = 256, .len = in_version2(m->family.suite, m->depth) ? 36 : 16};
  w.bytes = need(malloc(w.cap));
  write_cover(m, &w, 0, m->depth, &m->root);
  memcpy(w.bytes, "PPRFKEY\1\1", 9);
  w.bytes[9] = (uint8_t)m->depth;
  put_le(w.bytes + 10, 0, 2);
  put_le(w.bytes + 12, w.nodes, 4);
  if (in_version2(m->family.suite, m->depth)) {
    w.bytes[7] = 2;
    w.bytes[8] = (uint8_t)m->family.suite;
    put_le(w.bytes + 12, w.nodes, 8);
    put_le(w.bytes + 20, m->family.salt_lo, 8);
    put_le(w.bytes + 28, m->family.salt_hi, 8);
  }
  w.bytes = need(realloc(w.bytes, w.len + DIGEST_BYTES));
  if (prg_digest(w.bytes, w.len, w.bytes + w.len) != 0)
    exit(99);
  *len = w.len + DIGEST_BYTES;
  *nodes = w.nodes;
  return w.bytes;
}

int model_accepts(const uint8_t *bytes, size_t len)
{
  uint8_t digest[DIGEST_BYTES];
  struct model m = {0};
  struct writer w = {0};
  int ok = 0;
  if (len < 16 + DIGEST_BYTES || memcmp(bytes, "PPRFKEY", 7) != 0 || bytes[9] < PPRF_DEPTH_MIN ||
      bytes[9] > PPRF_DEPTH_MAX || bytes[10] != 0 || bytes[11] != 0)
    return 0;
  unsigned first = in_version2(bytes[8], bytes[9]) ? 36 : 16;
  if (bytes[7] != (first == 36 ? 2 : 1) || bytes[8] < PRG_SHA3_256 || bytes[8] > PRG_MLS_SHA256)
    return 0;
  if (len < first + DIGEST_BYTES)
    return 0;
  m.depth = bytes[9];
  m.family.suite = bytes[8];
  unsigned width = m.depth / 8 + 1;
  size_t record = width + model_value_bytes(&m);
  uint64_t n = get_le(bytes + 12, first == 36 ? 8 : 4), end = 0;
  if (n > len || len != first + n * record + DIGEST_BYTES)
    return 0;
  int has_salt = bytes[8] == PRG_SHA3_256_SALTED || bytes[8] == PRG_AES_128;
  for (unsigned i = 20; !has_salt && i < first; i++)
    if (bytes[i] != 0)
      return 0;
  if (prg_digest(bytes, len - DIGEST_BYTES, digest) != 0 ||
      memcmp(digest, bytes + len - DIGEST_BYTES, DIGEST_BYTES) != 0)
    return 0;
  /* The gaps between the nodes are the punctured leaves. */
  for (uint64_t i = 0; i < n; i++) {
    uint64_t id = get_le(bytes + first + i * record, width);
    if (id == 0 || (m.depth < 63 && id >> (m.depth + 1) != 0))
      goto done;
    unsigned h = (unsigned)__builtin_ctzll(id);
    uint64_t start = (id - ((uint64_t)1 << h)) / 2;
    if (start < end)
      goto done;
    if (start > end)
      (void)model_punct_range(&m, end, start - 1);
    end = start + ((uint64_t)1 << h);
  }
  if (end < (uint64_t)1 << m.depth)
    (void)model_punct_range(&m, end, ((uint64_t)1 << m.depth) - 1);
  write_cover(&m, &w, 0, m.depth, NULL);
  ok = w.nodes == n;
  for (uint64_t i = 0; ok && i < n; i++)
    ok = memcmp(w.bytes + i * width, bytes + first + i * record, width) == 0;
done:
  free(w.bytes);
  model_free(&m);
  return ok;
}

int model_import(const uint8_t *bytes, size_t len)
{
  if (model_accepts(bytes, len))
    return PPRF_OK;
  int begins = len >= 36 + DIGEST_BYTES && memcmp(bytes, "PPRFKEY\2", 8) == 0 &&
               bytes[9] >= PPRF_DEPTH_MIN && bytes[9] <= PPRF_DEPTH_MAX && bytes[10] == 0 &&
               bytes[11] == 0;
  return begins && pprf_suite_name(bytes[8]) == NULL ? PPRF_ERR_SUITE : PPRF_ERR_FORMAT;
}

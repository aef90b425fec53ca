/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on many leaves: all paths are walked together, one level of the tree after the other.
 * So there are always independent PRG calls to run side by side, and a node above several of the
 * leaves is expanded only once.
 *
 * Seeds in arrays are wiped one by one; the API functions wipe the stack. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "key.h"
#include "lanes.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

/* Number of leaves that eval_batch and expand process at a time. */
#define CHUNK 1024
/* Greatest height of a node that expand fills in lanes; above it there are few nodes. */
#define BLOCK_HEIGHT 9
/* Number of idle expansions kept for reuse. */
#define SPARE 4

/* The leaves first .. last of a forest: all its leaves below one node of this height. */
struct group {
  uint32_t first, last;
  uint32_t height;
  uint32_t at; /* index of the group's first sibling in the forest's siblings */
};

/* Live leaves in ascending order, without repeats, in groups.  seed[first] is the seed of a
 * group's node; a group of height 0 is one leaf, and that seed is its value. */
struct forest {
  uint64_t *leaf;
  struct pprf_seed *seed; /* one per leaf */
  size_t leaves;
  struct group *group; /* room for one per leaf */
  size_t groups;
  struct pprf_family family;
  struct opt_entry *sibling; /* co-path nodes in leaf order, or NULL if not wanted */
  uint32_t *beside;          /* result of count_siblings, one per leaf */
  size_t siblings;
};

static void put_seeds(uint8_t *out, const struct pprf_seed *seed, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  memcpy(out, seed, n * PPRF_SEED_BYTES);
#else
  for (size_t i = 0; i < n; i++)
    store_seed(out + i * PPRF_SEED_BYTES, seed[i]);
#endif
}

/* Index of the group's first leaf >= mid, or last + 1 if there is none. */
static uint32_t split(const uint64_t *leaf, const struct group *g, uint64_t mid)
{
  uint32_t lo = g->first, hi = g->last + 1;
  if (leaf[g->last] < mid)
    return hi;
  if (leaf[lo] >= mid)
    return lo;
  if (leaf[g->last] - leaf[lo] == g->last - lo)
    return lo + (uint32_t)(mid - leaf[lo]);
  while (hi - lo > 1) { /* here leaf[lo] < mid */
    uint32_t at = lo + (hi - lo) / 2;
    if (leaf[at] < mid)
      lo = at;
    else
      hi = at;
  }
  return hi;
}

/* Number of siblings of a group, provided that 32 bits can count the forest's.  Each node of the
 * forest has its siblings in a stretch of the array, so they end in leaf order whichever is
 * derived first. */
static uint32_t siblings_of(const struct forest *f, const struct group *g)
{
  return g->height + f->beside[g->last] - f->beside[g->first];
}

/* Prepare the step from a group to the next level. If both children have leaves, the upper
 * leaves become a new group.  A child without leaves is a sibling, or its seed goes to *unused. */
static struct opt_step step_down(struct forest *f, struct group *g, struct pprf_seed *unused)
{
  unsigned h = g->height;
  uint64_t start = f->leaf[g->first] >> h << h, mid = start + (UINT64_C(1) << (h - 1));
  uint32_t m = split(f->leaf, g, mid);
  int left_empty = m == g->first, right_empty = m > g->last;
  struct pprf_seed *own = &f->seed[g->first];
  struct opt_step step = {own, own, own, start, h};
  if (f->sibling != NULL && (left_empty || right_empty)) {
    struct opt_entry *e = &f->sibling[left_empty ? g->at++ : g->at + siblings_of(f, g) - 1];
    e->node = (struct opt_node){.start = left_empty ? start : mid, .height = h - 1};
    unused = &e->seed;
  }
  g->height--;
  if (left_empty) {
    step.left = unused;
  } else if (right_empty) {
    step.right = unused;
  } else {
    struct group *right = &f->group[f->groups++];
    *right = (struct group){m, g->last, h - 1, g->at};
    g->last = m - 1;
    if (f->sibling != NULL)
      right->at += siblings_of(f, g);
    step.right = &f->seed[m];
  }
  return step;
}

/* Derive the seeds of all leaves, and the siblings if wanted. */
static PPRF_WORK int walk_down(struct forest *f)
{
  struct opt_step step[OPT_LANES];
  struct pprf_seed unused = {0, 0};
  unsigned n = 0, height = 0;
  int err = PPRF_OK;
  for (size_t i = 0; i < f->groups; i++)
    height = f->group[i].height > height ? f->group[i].height : height;
  for (; height > 0 && err == PPRF_OK; height--) {
    size_t groups = f->groups; /* groups added below are one level lower */
    for (size_t i = 0; i < groups && err == PPRF_OK; i++) {
      if (f->group[i].height != height)
        continue;
      step[n++] = step_down(f, &f->group[i], &unused);
      if (n == OPT_LANES) {
        err = opt_expand_many(f->family, step, n);
        n = 0;
      }
    }
    if (err == PPRF_OK && n > 0)
      err = opt_expand_many(f->family, step, n);
    n = 0;
  }
  wipe(&unused, 1);
  return err;
}

/* Add leaf x, greater than all before, if it is live; *end is the first leaf after the node of
 * the last leaf that was looked up. */
static void add_leaf(struct forest *f, const struct opt_store *s, uint64_t x, uint64_t *end)
{
  struct opt_node node;
  uint32_t at = (uint32_t)f->leaves;
  if (x < *end) {
    f->group[f->groups - 1].last = at;
  } else {
    if (!opt_store_find(s, x, &node))
      return;
    *end = opt_node_end(node);
    f->group[f->groups++] = (struct group){at, at, node.height, 0};
    f->seed[at] = opt_store_seed(s, node);
  }
  f->leaf[at] = x;
  f->leaves++;
}

/* ---- leaves in any order ---- */

/* A leaf and its index in the caller's array. */
struct item {
  uint64_t leaf;
  uint32_t place;
};

/* Sort n items of leaves < 2^depth; the sort is stable. spare has room for n. */
static void sort(struct item *items, struct item *spare, size_t n, unsigned depth)
{
  size_t sorted = 1;
  while (sorted < n && items[sorted - 1].leaf <= items[sorted].leaf)
    sorted++;
  if (sorted >= n)
    return;
  if (n <= 32) {
    for (size_t i = sorted; i < n; i++) {
      struct item v = items[i];
      size_t j = i;
      for (; j > 0 && items[j - 1].leaf > v.leaf; j--)
        items[j] = items[j - 1];
      items[j] = v;
    }
    return;
  }
  for (unsigned shift = 0; shift < depth; shift += 8) {
    size_t place[256] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
      place[items[i].leaf >> shift & 255]++;
    for (unsigned d = 0; d < 256; d++) {
      size_t count = place[d];
      place[d] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; i++)
      spare[place[items[i].leaf >> shift & 255]++] = items[i];
    memcpy(items, spare, n * sizeof *items);
  }
}

/* Make items from the caller's leaves, reading each once: the values checked are the values
 * used, even if another thread changes the array or the outputs overlap it. */
static int read_leaves(const pprf_key *key, const volatile uint64_t *leaf, size_t n,
                       struct item *items)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t x = leaf[i];
    if (x >> depth_of(key) != 0)
      return PPRF_ERR_RANGE;
    items[i] = (struct item){x, (uint32_t)i};
  }
  return PPRF_OK;
}

/* Allocate n elements; NULL without memory or if no object can be so large. */
static void *array(uint64_t n, size_t size)
{
  return n > (size_t)PTRDIFF_MAX / size ? NULL : malloc((size_t)n * size);
}

static void fill_results(int *result, size_t n, int value)
{
  for (size_t i = 0; result != NULL && i < n; i++)
    result[i] = value;
}

struct eval_work {
  struct item items[CHUNK], spare[CHUNK];
  uint64_t leaf[CHUNK];
  struct group group[CHUNK];
  struct pprf_seed seed[CHUNK];
};

/* Evaluate at most CHUNK leaves. */
static PPRF_WORK int eval_chunk(const pprf_key *key, struct eval_work *w, const uint64_t *leaf,
                                size_t n, uint8_t *out, int *result)
{
  struct forest f = {.leaf = w->leaf, .seed = w->seed, .group = w->group, .family = key->family};
  uint64_t end = 0, ahead = 4;
  int err = read_leaves(key, leaf, n, w->items);
  if (err != PPRF_OK)
    return err;
  sort(w->items, w->spare, n, depth_of(key));
  for (size_t i = 0; i < n; i++) {
    if (i + ahead < n)
      opt_store_prefetch(&key->store, w->items[i + ahead].leaf);
    if (i == 0 || w->items[i].leaf != w->items[i - 1].leaf)
      add_leaf(&f, &key->store, w->items[i].leaf, &end);
  }
  err = walk_down(&f);
  for (size_t i = 0, at = 0; i < n && err == PPRF_OK; i++) {
    size_t place = w->items[i].place;
    while (at < f.leaves && f.leaf[at] < w->items[i].leaf)
      at++;
    int live = at < f.leaves && f.leaf[at] == w->items[i].leaf;
    if (live)
      put_seeds(out + place * PPRF_SEED_BYTES, &f.seed[at], 1);
    else
      memset(out + place * PPRF_SEED_BYTES, 0, PPRF_SEED_BYTES);
    if (result != NULL)
      result[place] = live ? PPRF_OK : PPRF_ERR_PUNCTURED;
  }
  explicit_bzero(w->seed, f.leaves * sizeof *w->seed);
  return err;
}

int pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out, int *result)
{
  PPRF_IF_WIDE(key, return opt_wide_key_eval_batch(wide, leaf, n, out, result);)
  int err = PPRF_OK;
  struct eval_work *w = NULL;
  if (n > SIZE_MAX / PPRF_SEED_BYTES)
    return PPRF_ERR_NOMEM; /* no output can be so long */
  if (key == NULL || (n > 0 && (leaf == NULL || out == NULL)))
    err = PPRF_ERR_NULL;
  else if (pprf_is_copy(key->maker))
    err = PPRF_ERR_FORKED;
  else if (n > 0 && (w = malloc(sizeof *w)) == NULL)
    err = PPRF_ERR_NOMEM;
  for (size_t at = 0; at < n && err == PPRF_OK; at += CHUNK)
    err = eval_chunk(key, w, leaf + at, n - at < CHUNK ? n - at : CHUNK, out + at * PPRF_SEED_BYTES,
                     result == NULL ? NULL : result + at);
  free(w);
  if (err != PPRF_OK) {
    if (out != NULL)
      explicit_bzero(out, n * PPRF_SEED_BYTES);
    fill_results(result, n, err);
  }
  prg_wipe(opt_wipe_plan(BATCH_STACK));
  return err;
}

/* ---- punctures ---- */

/* Count the siblings of a forest's paths, and note for each leaf the number up to and including
 * its path, modulo 2^32.  Below a node of height h the first path has h siblings.  A later path
 * whose topmost node off the previous path has height b adds b siblings and removes one: that
 * node itself. */
static uint64_t count_siblings(struct forest *f)
{
  uint64_t siblings = 0;
  for (size_t i = 0; i < f->groups; i++) {
    struct group *g = &f->group[i];
    g->at = (uint32_t)siblings;
    siblings += g->height;
    f->beside[g->first] = (uint32_t)siblings;
    for (uint32_t j = g->first + 1; j <= g->last; j++) {
      siblings += (uint64_t)opt_msb(f->leaf[j] ^ f->leaf[j - 1]) - 1; /* neighbours: one less */
      f->beside[j] = (uint32_t)siblings;
    }
  }
  return siblings;
}

/* Puncture the leaves of n sorted items, n <= UINT32_MAX. */
static PPRF_WORK int punct_items(pprf_key *key, const struct item *items, size_t n, int *result)
{
  struct forest f = {.leaf = array(n, sizeof *f.leaf),
                     .seed = array(n, sizeof *f.seed),
                     .group = array(n, sizeof *f.group),
                     .beside = array(n, sizeof *f.beside),
                     .family = key->family};
  uint64_t end = 0;
  int err = f.leaf == NULL || f.seed == NULL || f.group == NULL || f.beside == NULL ? PPRF_ERR_NOMEM
                                                                                    : PPRF_OK;
  for (size_t i = 0; i < n && err == PPRF_OK; i++)
    if (i == 0 || items[i].leaf != items[i - 1].leaf)
      add_leaf(&f, &key->store, items[i].leaf, &end);
  if (err == PPRF_OK) {
    uint64_t siblings = count_siblings(&f);
    f.sibling = siblings > UINT32_MAX ? NULL : array(siblings + 1, sizeof *f.sibling);
    f.siblings = f.sibling == NULL ? 0 : (size_t)siblings;
    err = f.sibling == NULL ? PPRF_ERR_NOMEM : walk_down(&f);
  }
  if (err == PPRF_OK && f.leaves > 0)
    err = opt_store_puncture_set(&key->store, f.leaf, f.leaves, f.sibling, f.siblings);
  for (size_t i = 0, at = 0; i < n && err == PPRF_OK && result != NULL; i++) {
    int live = at < f.leaves && f.leaf[at] == items[i].leaf;
    at += (size_t)live; /* so that a repeated leaf counts as punctured */
    result[items[i].place] = live ? PPRF_OK : PPRF_ERR_PUNCTURED;
  }
  if (f.sibling != NULL)
    explicit_bzero(f.sibling, f.siblings * sizeof *f.sibling);
  if (f.seed != NULL)
    explicit_bzero(f.seed, f.leaves * sizeof *f.seed);
  free(f.sibling);
  free(f.beside);
  free(f.group);
  free(f.seed);
  free(f.leaf);
  return err;
}

int pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result)
{
  PPRF_IF_WIDE(key, return opt_wide_key_punct_batch(wide, leaf, n, result);)
  struct item *items = NULL;
  int err = PPRF_OK;
  if (n > SIZE_MAX / PPRF_SEED_BYTES)
    return PPRF_ERR_NOMEM;
  if (key == NULL || (n > 0 && leaf == NULL))
    err = PPRF_ERR_NULL;
  else if (pprf_is_copy(key->maker))
    err = PPRF_ERR_FORKED;
  else if (n > UINT32_MAX || (n > 0 && (items = array(n, 2 * sizeof *items)) == NULL))
    err = PPRF_ERR_NOMEM;
  else
    err = read_leaves(key, leaf, n, items);
  if (err == PPRF_OK && n > 0) {
    sort(items, items + n, n, depth_of(key));
    err = punct_items(key, items, n, result);
  }
  free(items);
  if (err != PPRF_OK)
    fill_results(result, n, err);
  prg_wipe(opt_wipe_plan(BATCH_STACK));
  return err;
}

/* ---- all leaves of a range ---- */

/* State of pprf_expand while the caller's function runs, which may fork or never return. */
struct expansion {
  int here;    /* 0 in a fork's child, where the mapping is cleared */
  int cleared; /* whether the kernel clears it at fork; otherwise it is not reused */
  const struct opt_store *store;
  struct pprf_family family;
  uint64_t first, last;
  uint64_t at;                                  /* store nodes below this leaf are done */
  struct opt_entry pending[PPRF_DEPTH_MAX + 1]; /* to be done first, the last one first */
  unsigned n;
  uint64_t leaf[CHUNK];
  struct group group[CHUNK];
  struct pprf_seed seed[CHUNK];
};

/* Slot for an ended, wiped expansion: a new mapping costs more than a small range. */
static struct expansion *_Atomic *spare_expansion(unsigned i)
{
  static struct expansion *_Atomic spare[SPARE];
  return &spare[i];
}

/* Take an expansion, in a mapping that core dumps omit and fork clears in the child, like the
 * arena's; NULL: no memory. */
static struct expansion *take_expansion(void)
{
  size_t bytes = sizeof(struct expansion);
  struct expansion *x = NULL;
  for (unsigned i = 0; i < SPARE && x == NULL; i++)
    x = atomic_exchange(spare_expansion(i), NULL);
  if (x == NULL) {
    x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (x == MAP_FAILED)
      return NULL;
  }
  if (!x->here) { /* new, or cleared by fork: a child's memory is not locked */
    (void)madvise(x, bytes, MADV_DONTDUMP);
    x->cleared = madvise(x, bytes, MADV_WIPEONFORK) == 0;
    (void)mlock2(x, bytes, MLOCK_ONFAULT);
    x->here = 1;
  }
  return x;
}

static void give_expansion(struct expansion *x)
{
  int here = x->here, kept = x->cleared;
  explicit_bzero(x, sizeof *x);
  x->here = here;
  x->cleared = kept;
  for (unsigned i = 0; i < SPARE && kept; i++) {
    struct expansion *none = NULL;
    if (atomic_compare_exchange_strong(spare_expansion(i), &none, x))
      return;
  }
  (void)munmap(x, sizeof *x);
}

/* Make sure that a node of the range is pending; returns 0 if none is left. */
static int next_pending(struct expansion *x)
{
  struct opt_entry *e = &x->pending[x->n];
  if (x->n > 0)
    return 1;
  if (x->at > x->last || !opt_store_next(x->store, x->at, &e->node) || e->node.start > x->last)
    return 0;
  e->seed = opt_store_seed(x->store, e->node);
  x->at = opt_node_end(e->node);
  x->n = 1;
  return 1;
}

/* Replace the last pending node by those of its children that overlap the range. */
static int split_pending(struct expansion *x)
{
  struct opt_entry *e = &x->pending[x->n - 1], parent = *e;
  unsigned h = parent.node.height;
  uint64_t mid = parent.node.start + (UINT64_C(1) << (h - 1));
  struct pprf_children c = prg_expand(x->family, parent.seed, parent.node.start, h);
  x->n--;
  if (mid <= x->last) {
    *e++ = (struct opt_entry){{.start = mid, .height = h - 1}, c.right};
    x->n++;
  }
  if (mid > x->first) {
    *e = (struct opt_entry){{.start = parent.node.start, .height = h - 1}, c.left};
    x->n++;
  }
  int err = c.err;
  wipe(&parent.seed, 1);
  wipe_children(&c);
  return err;
}

/* Derive the seeds of all leaves below a node; seed[0] is the node's.  Like walk_down, without
 * searching for leaves. */
static PPRF_WORK int fill_subtree(struct pprf_family family, struct opt_node node,
                                  struct pprf_seed *seed)
{
  struct opt_step step[OPT_LANES];
  uint64_t leaves = UINT64_C(1) << node.height;
  int err = PPRF_OK;
  for (unsigned h = node.height, n = 0; h > 0 && err == PPRF_OK; h--) {
    for (uint64_t at = 0, w = UINT64_C(1) << h; at < leaves && err == PPRF_OK; at += w) {
      step[n++] = (struct opt_step){&seed[at], &seed[at], &seed[at + w / 2], node.start + at, h};
      if (n == OPT_LANES || at + w == leaves) {
        err = opt_expand_many(family, step, n);
        n = 0;
      }
    }
  }
  return err;
}

/* Fill a forest with as many of the next leaves of the range as it can hold; none at the end. */
static int next_leaves(struct expansion *x, struct forest *f)
{
  int err = PPRF_OK;
  while (err == PPRF_OK && next_pending(x)) {
    const struct opt_entry *e = &x->pending[x->n - 1];
    if (e->node.height > BLOCK_HEIGHT) {
      err = split_pending(x);
      continue;
    }
    uint64_t from = e->node.start > x->first ? e->node.start : x->first,
             to = opt_node_end(e->node) - 1;
    to = to < x->last ? to : x->last;
    if (f->leaves + (to - from) >= CHUNK)
      break;
    uint32_t at = (uint32_t)f->leaves;
    f->seed[at] = e->seed;
    if (to - from == (UINT64_C(1) << e->node.height) - 1)
      err = fill_subtree(f->family, e->node, &f->seed[at]);
    else
      f->group[f->groups++] = (struct group){at, at + (uint32_t)(to - from), e->node.height, 0};
    for (uint64_t leaf = from; leaf <= to; leaf++)
      f->leaf[f->leaves++] = leaf;
    x->n--;
  }
  return err;
}

/* Fill a forest with the next leaves and derive their values, as bytes. */
static PPRF_WORK int next_values(struct expansion *x, struct forest *f)
{
  int err = next_leaves(x, f);
  if (err == PPRF_OK)
    err = walk_down(f);
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
  if (err == PPRF_OK)
    put_seeds((uint8_t *)f->seed, f->seed, f->leaves);
#endif
  return err;
}

/* Pass a forest's values to the caller's function, one call per run of consecutive leaves. */
static int hand_over(const pprf_key *key, const struct expansion *x, const struct forest *f,
                     pprf_each *each, void *arg)
{
  int stop = 0;
  for (size_t from = 0, to; from < f->leaves && stop == 0; from = to) {
    for (to = from + 1; to < f->leaves && f->leaf[to] == f->leaf[to - 1] + 1; to++)
      ;
    stop = each(arg, f->leaf[from], to - from, (const uint8_t *)&f->seed[from]);
    if (stop == 0 &&
        (!x->here || pprf_is_copy(key->maker))) /* each() has forked and this is the child */
      stop = PPRF_ERR_FORKED;
  }
  return stop;
}

int pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg)
{
  PPRF_IF_WIDE(key, return opt_wide_key_expand(wide, first, last, each, arg);)
  if (key == NULL || each == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  if (first > last || last >> depth_of(key) != 0)
    return PPRF_ERR_RANGE;
  struct expansion *x = take_expansion();
  if (x == NULL)
    return PPRF_ERR_NOMEM;
  x->store = &key->store;
  x->family = key->family;
  x->first = x->at = first;
  x->last = last;
  x->n = 0;
  struct forest f;
  int result;
  do {
    f = (struct forest){.leaf = x->leaf, .seed = x->seed, .group = x->group, .family = x->family};
    result = next_values(x, &f);
    prg_wipe(opt_wipe_plan(BATCH_STACK)); /* the caller's function will use this stack */
    if (result == PPRF_OK)
      result = hand_over(key, x, &f, each, arg);
  } while (result == PPRF_OK && f.leaves > 0);
  give_expansion(x);
  prg_wipe(opt_wipe_plan(BATCH_STACK));
  return result;
}

int pprf_prefault(pprf_key *key)
{
  PPRF_IF_WIDE(key, return opt_wide_key_prefault(wide);)
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (pprf_is_copy(key->maker))
    return PPRF_ERR_FORKED;
  return key->store.packed != NULL ? PPRF_OK : opt_pages_back(&key->store.slots);
}

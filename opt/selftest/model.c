/* SPDX-License-Identifier: Apache-2.0 */
/* The model that opt is compared with, and the linker's wrappers of the PRG and of memory
 * functions. */
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lanes.h"
#include "selftest.h"

/* ---- the PRG, through the linker's --wrap: calls are counted and can be made to fail ---- */

struct pprf_children __real_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                       uint64_t start, unsigned height);
struct pprf_children __wrap_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                       uint64_t start, unsigned height);
uint64_t expansions, fail_at; /* the fail_at-th call from now on fails; 0: none */

struct pprf_children __wrap_prg_expand(struct pprf_family family, struct pprf_seed seed,
                                       uint64_t start, unsigned height)
{
  expansions++;
  if (height == 0 || (start & opt_below(height)) != 0)
    check(0, "prg_expand called for (%llu, %u)", (unsigned long long)start, height);
  if (fail_at > 0 && --fail_at == 0)
    return (struct pprf_children){{0, 0}, {0, 0}, PPRF_ERR_CRYPTO};
  return __real_prg_expand(family, seed, start, height);
}

int __real_opt_descend(struct pprf_family family, struct pprf_seed seed, uint64_t leaf,
                       unsigned height, struct pprf_seed *copath, struct pprf_seed *value);
int __wrap_opt_descend(struct pprf_family family, struct pprf_seed seed, uint64_t leaf,
                       unsigned height, struct pprf_seed *copath, struct pprf_seed *value);

/* Every second walk, and each that may fail, goes node by node. */
int __wrap_opt_descend(struct pprf_family family, struct pprf_seed seed, uint64_t leaf,
                       unsigned height, struct pprf_seed *copath, struct pprf_seed *value)
{
  static unsigned walks;
  if (fail_at > 0 || (walks++ & 1) != 0)
    return 0;
  int done = __real_opt_descend(family, seed, leaf, height, copath, value);
  expansions += done ? height : 0;
  return done;
}

int __real_opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n);
int __wrap_opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n);

int __wrap_opt_expand_many(struct pprf_family family, const struct opt_step *step, unsigned n)
{
  expansions += n;
  for (unsigned i = 0; i < n; i++)
    if (step[i].height == 0 || (step[i].start & opt_below(step[i].height)) != 0)
      check(0, "opt_expand_many called for (%llu, %u)", (unsigned long long)step[i].start,
            step[i].height);
  int err = __real_opt_expand_many(family, step, n);
  if (fail_at > 0 && fail_at <= n) { /* write as many outputs as a real failure might */
    fail_at = 0;
    return PPRF_ERR_CRYPTO;
  }
  fail_at -= fail_at > 0 ? n : 0;
  return err;
}

/* ---- freed memory, through --wrap, is searched for seeds; madvise may be refused ---- */

struct pprf_seed watched[WATCHED];
unsigned watching; /* number of them */
unsigned seen_in_free;
void __real_free(void *p);
void __wrap_free(void *p);

void __wrap_free(void *p)
{
  size_t words = watching == 0 || p == NULL ? 0 : malloc_usable_size(p) / sizeof(uint64_t);
  for (size_t i = 0; i < words; i++)
    for (unsigned k = 0; k < watching; k++)
      seen_in_free += ((uint64_t *)p)[i] == watched[k].lo || ((uint64_t *)p)[i] == watched[k].hi;
  held.heap -= p != NULL;
  __real_free(p);
}

int refused_advice = -1, refused_with = EINVAL;
int __real_madvise(void *from, size_t len, int advice);
int __wrap_madvise(void *from, size_t len, int advice);

int __wrap_madvise(void *from, size_t len, int advice)
{
  if (advice == refused_advice) {
    errno = refused_with;
    return -1;
  }
  return __real_madvise(from, len, advice);
}

/* ---- what another thread does to a buffer that was just hashed, through --wrap ---- */

uint8_t *changed_byte;
int __real_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);
int __wrap_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES]);

int __wrap_prg_digest(const uint8_t *bytes, size_t len, uint8_t out[DIGEST_BYTES])
{
  int err = __real_prg_digest(bytes, len, out);
  if (changed_byte != NULL)
    *changed_byte ^= 0xff;
  return err;
}

const uint8_t root_bytes[PPRF_SEED_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

struct pprf_seed root_seed(void)
{
  return (struct pprf_seed){UINT64_C(0x0807060504030201), UINT64_C(0x100f0e0d0c0b0a09)};
}

/* GGM value of a node. */
struct pprf_seed node_seed(unsigned depth, struct opt_node n)
{
  struct pprf_seed s = root_seed();
  for (unsigned h = depth; h > n.height; h--) {
    struct pprf_children c = __real_prg_expand(PRG_BARE, s, n.start >> h << h, h);
    s = n.start >> (h - 1) & 1 ? c.right : c.left;
  }
  return s;
}

int same_seed(struct pprf_seed a, struct pprf_seed b)
{
  return a.lo == b.lo && a.hi == b.hi;
}

/* ---- the model ---- */

uint64_t leaves(const struct model *m)
{
  return UINT64_C(1) << m->depth;
}

/* Index of the first interval that ends at or after a leaf. */
static size_t model_at(const struct model *m, uint64_t leaf)
{
  size_t lo = 0, hi = m->n;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (m->punctured[mid].last < leaf)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

int model_all_punctured(const struct model *m, uint64_t first, uint64_t last)
{
  size_t i = model_at(m, first);
  return i < m->n && m->punctured[i].first <= first && last <= m->punctured[i].last;
}

static int model_any_punctured(const struct model *m, uint64_t first, uint64_t last)
{
  size_t i = model_at(m, first);
  return i < m->n && m->punctured[i].first <= last;
}

void model_puncture(struct model *m, uint64_t first, uint64_t last)
{
  size_t i = model_at(m, first == 0 ? 0 : first - 1), j = i;
  while (j < m->n && m->punctured[j].first <= last + 1) {
    if (m->punctured[j].first < first)
      first = m->punctured[j].first;
    if (m->punctured[j].last > last)
      last = m->punctured[j].last;
    j++;
  }
  if (m->n + 1 > m->room) {
    m->room = 2 * m->room + 64;
    m->punctured = must(realloc(m->punctured, m->room * sizeof *m->punctured));
  }
  memmove(m->punctured + i + 1, m->punctured + j, (m->n - j) * sizeof *m->punctured);
  m->punctured[i] = (struct interval){first, last};
  m->n = m->n + 1 - (j - i);
}

/* model_next_live: the least live leaf at or after a leaf. */
uint64_t model_next_live(const struct model *m, uint64_t leaf)
{
  size_t i = model_at(m, leaf);
  return i < m->n && m->punctured[i].first <= leaf ? m->punctured[i].last + 1 : leaf;
}

unsigned model_height(const struct model *m, uint64_t leaf)
{
  unsigned h = 0;
  while (h < m->depth) {
    uint64_t start = leaf >> (h + 1) << (h + 1);
    if (model_any_punctured(m, start, start + (UINT64_C(2) << h) - 1))
      break;
    h++;
  }
  return h;
}

/* ---- comparing a store with the model ---- */

const struct opt_store *store_of(const pprf_key *key)
{
  return &key->store;
}

/* Check the bitmaps of a block and of everything below it, as far as they are valid. */
static void check_block(const struct opt_bitmap *b, const struct model *m, unsigned level,
                        uint64_t block)
{
  uint64_t first = block << 6 * level, last = first + opt_below(6 * level);
  int any = model_any_punctured(m, first, last), full = model_all_punctured(m, first, last);
  if (level == 0) {
    check((int)(b->leaves[block >> 6] >> (block & 63) & 1) == full,
          "punctured bit of leaf %llu is wrong", (unsigned long long)block);
    return;
  }
  const struct opt_summary *s = &b->summary[level][block >> 6];
  check((int)(s->any >> (block & 63) & 1) == any, "any bit %llu of level %u is wrong",
        (unsigned long long)block, level);
  check((int)(s->full >> (block & 63) & 1) == full, "full bit %llu of level %u is wrong",
        (unsigned long long)block, level);
  if (failed)
    return;
  if (any && !full)
    for (unsigned i = 0; i < 64; i++)
      check_block(b, m, level - 1, block << 6 | i);
  else if (!any && m->depth <= 20) {
    if (level == 1)
      check(b->leaves[block] == 0, "a live block has a punctured bit");
    else
      check(b->summary[level - 1][block].any == 0 && b->summary[level - 1][block].full == 0,
            "a live block has a summary bit");
  }
}

void check_bitmap(const struct opt_bitmap *b, const struct model *m)
{
  unsigned top = b->levels - 1;
  for (uint64_t block = 0; block << 6 * top < leaves(m) && !failed; block++)
    check_block(b, m, top, block);
}

void check_leaf(const struct opt_bitmap *b, const struct model *m, uint64_t leaf)
{
  unsigned height = 99;
  int live = opt_bitmap_height(b, leaf, &height);
  if (check(live == !model_any_punctured(m, leaf, leaf), "leaf %llu: live is %d",
            (unsigned long long)leaf, live) &&
      live)
    check(height == model_height(m, leaf), "leaf %llu: height %u, not %u", (unsigned long long)leaf,
          height, model_height(m, leaf));
  check(opt_bitmap_next_live(b, leaf) == model_next_live(m, leaf), "next live of %llu is %llu",
        (unsigned long long)leaf, (unsigned long long)opt_bitmap_next_live(b, leaf));
}

static void check_borders(const struct opt_bitmap *b, const struct model *m)
{
  for (size_t i = 0; i < m->n && !failed; i++) {
    const struct interval *v = &m->punctured[i];
    check_leaf(b, m, v->first);
    check_leaf(b, m, v->last);
    check_leaf(b, m, v->first + (v->last - v->first) / 2);
    if (v->first > 0)
      check_leaf(b, m, v->first - 1);
    if (v->last + 1 < leaves(m))
      check_leaf(b, m, v->last + 1);
  }
  check(opt_bitmap_next_live(b, leaves(m)) == leaves(m), "next live of the end");
}

/* Number of nonzero slots, inspecting only pages in memory. */
static uint64_t used_slots(const struct opt_slots *s, unsigned depth)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = sizeof *s->slot << (depth - 1);
  unsigned char *resident = must(malloc(bytes / page + 1));
  uint64_t n = 0;
  if (mincore(s->slot, bytes, resident) != 0)
    check(0, "mincore");
  for (size_t at = 0; at < bytes; at += page)
    if (resident[at / page] & 1)
      for (size_t i = at; i < at + page && i < bytes; i += sizeof *s->slot)
        n += !same_seed(s->slot[i / sizeof *s->slot], (struct pprf_seed){0, 0});
  free(resident);
  return n;
}

/* Check the nodes in order, the count, and the slots: each node's slot holds its GGM value (all
 * of them up to depth 10, one in 16 above), and no other slot is in use. */
void check_nodes(const struct opt_store *s, const struct model *m, int slots)
{
  uint64_t count = 0, at = 0;
  struct opt_node n;
  while ((at = model_next_live(m, at)) < leaves(m) && !failed) {
    unsigned height = model_height(m, at);
    if (!check(opt_store_next(s, at, &n) && n.start == at && n.height == height,
               "node at %llu is not (%llu, %u)", (unsigned long long)at, (unsigned long long)at,
               height))
      return;
    if (m->depth <= 10 || rnd_below(16) == 0)
      check(same_seed(opt_store_seed(s, n), node_seed(m->depth, n)), "seed of node (%llu, %u)",
            (unsigned long long)at, height);
    else
      check(!same_seed(opt_store_seed(s, n), (struct pprf_seed){0, 0}), "no seed at (%llu, %u)",
            (unsigned long long)at, height);
    count++;
    at += UINT64_C(1) << height;
  }
  check(!opt_store_next(s, leaves(m), &n), "a node after the end");
  check(opt_store_nodes(s) == count, "node count %llu, not %llu",
        (unsigned long long)opt_store_nodes(s), (unsigned long long)count);
  if (slots && !failed)
    check(used_slots(&s->slots, m->depth) == count, "%llu slots in use, %llu nodes",
          (unsigned long long)used_slots(&s->slots, m->depth), (unsigned long long)count);
}

void check_key(const pprf_key *key, const struct model *m, int slots)
{
  check_bitmap(&store_of(key)->slots.punctured, m);
  if (!failed)
    check_borders(&store_of(key)->slots.punctured, m);
  if (!failed)
    check_nodes(store_of(key), m, slots);
}

int setup_slots(pprf_key **key, unsigned depth, const uint8_t *seed)
{
  const struct pprf_options o = {
    .size = sizeof o, .seed = seed, .depth = depth, .store = PPRF_STORE_SLOTS};
  return pprf_setup_with(key, &o);
}

int import_slots(pprf_key **key, const uint8_t *buf, size_t len)
{
  const struct pprf_import_options o = {.size = sizeof o, .store = PPRF_STORE_SLOTS};
  return pprf_import_with(key, buf, len, &o);
}

pprf_key *new_key(struct model *m, unsigned depth)
{
  pprf_key *key = NULL;
  free(m->punctured);
  *m = (struct model){.depth = depth};
  check(setup_slots(&key, depth, root_bytes) == PPRF_OK, "setup");
  return must(key);
}

/* Make one puncture on key and model. */
void puncture(pprf_key *key, struct model *m, uint64_t first, uint64_t last)
{
  uint8_t out[PPRF_SEED_BYTES], value[PPRF_SEED_BYTES];
  int want = model_all_punctured(m, first, last) ? PPRF_ERR_PUNCTURED : PPRF_OK, got;
  uint64_t before = expansions;
  if (first != last || rnd_below(4) == 0) {
    got = pprf_punct_range(key, first, last);
    check(expansions - before <= 2 * m->depth, "a range took %llu PRG calls",
          (unsigned long long)(expansions - before));
  } else if (rnd_below(2) == 0) {
    got = pprf_punct(key, first);
  } else {
    int err = pprf_eval(key, first, value);
    uint64_t calls = expansions - before;
    got = pprf_eval_punct(key, first, out);
    check(err == got && memcmp(out, value, sizeof out) == 0, "eval_punct is not eval then punct");
    check(expansions - before == 2 * calls, "eval_punct takes more PRG calls than eval");
  }
  check(got == want, "result %d, not %d", got, want);
  model_puncture(m, first, last);
}

void check_round_trip(const pprf_key *key, const struct model *m)
{
  size_t len = 0, len2;
  pprf_key *copy = NULL;
  check(pprf_export(key, NULL, &len) == PPRF_OK, "export, length");
  uint8_t *a = must(malloc(len)), *b = must(malloc(len));
  len2 = len - 1;
  check(pprf_export(key, a, &len2) == PPRF_ERR_BUFFER && len2 == len, "export, short buffer");
  check(pprf_export(key, a, &len) == PPRF_OK, "export");
  check(import_slots(&copy, a, len) == PPRF_OK, "import");
  if (!failed) {
    check_key(copy, m, 1);
    check(pprf_export(copy, b, &len) == PPRF_OK && memcmp(a, b, len) == 0, "export of the copy");
  }
  pprf_free(copy);
  free(a);
  free(b);
}

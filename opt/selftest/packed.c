/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the packed store and its arena alone, against the model: depths 1 .. 63. */
#include "packed/packed.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "packed/arena.h"
#include "common/fork.h"
#include "packed/load.h"
#include "packed/sets/range.h"
#include "packed/read.h"
#include "pprf.h"
#include "selftest.h"

enum { REGION = 1 << 20 };

/* ---- memory that is refused, through --wrap ---- */

uint64_t refused;
struct held held;

static int refuse(void)
{
  return refused > 0 && --refused == 0;
}

void *__real_opt_arena_take(size_t bytes);
void *__wrap_opt_arena_take(size_t bytes);
void *__wrap_opt_arena_take(size_t bytes)
{
  void *block = refuse() ? NULL : __real_opt_arena_take(bytes);
  held.blocks += block != NULL;
  return block;
}

void __real_opt_arena_give(void *block, size_t bytes);
void __wrap_opt_arena_give(void *block, size_t bytes);
void __wrap_opt_arena_give(void *block, size_t bytes)
{
  held.blocks--;
  __real_opt_arena_give(block, bytes);
}

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
  void *p = refuse() ? NULL : __real_malloc(bytes);
  held.heap += p != NULL;
  return p;
}

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
  void *p = refuse() ? NULL : __real_calloc(n, bytes);
  held.heap += p != NULL;
  return p;
}

void *__real_realloc(void *before, size_t bytes);
void *__wrap_realloc(void *before, size_t bytes);
void *__wrap_realloc(void *before, size_t bytes)
{
  void *p = __real_realloc(before, bytes);
  held.heap += p != NULL && before == NULL;
  return p;
}

/* ---- the result of mlock2, through --wrap ---- */

enum mlock2_says mlock2_says; /* by default the system's limit applies */

int __real_mlock2(const void *at, size_t bytes, unsigned flags);
int __wrap_mlock2(const void *at, size_t bytes, unsigned flags);
int __wrap_mlock2(const void *at, size_t bytes, unsigned flags)
{
  return mlock2_says == AS_IT_IS  ? __real_mlock2(at, bytes, flags)
         : mlock2_says == GRANTED ? 0
                                  : -1;
}

/* ---- mappings, through --wrap ---- */

static int holes_refused;       /* munmap of a region fails, as when vm.max_map_count is reached */
static size_t mapped, unmapped; /* bytes, for regions */

static long whole_pages(size_t bytes)
{
  return (long)((bytes + 4095) / 4096 * 4096);
}

/* Refused like other memory.  A region's mapping begins in the middle of an aligned block, so
 * that there is something to unmap before it and after it. */
void *__real_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *at, size_t bytes, int prot, int flags, int fd, off_t offset)
{
  size_t more = bytes == 2 * REGION ? 4 * REGION : bytes;
  unsigned char *p =
    more == bytes && refuse() ? MAP_FAILED : __real_mmap64(at, more, prot, flags, fd, offset);
  if (p != MAP_FAILED) {
    held.mapped += whole_pages(more);
    held.regions += more != bytes;
    if (held.regions > held.most_regions)
      held.most_regions = (long)held.regions;
  }
  if (p == MAP_FAILED || more == bytes)
    return p;
  size_t before = (REGION + REGION / 2 - (uintptr_t)p % REGION) % REGION;
  if (before > 0)
    (void)munmap(p, before);
  (void)munmap(p + before + bytes, 2 * REGION - before);
  mapped += bytes;
  unmapped = 0;
  return p + before;
}

int __real_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes);
int __wrap_munmap(void *at, size_t bytes)
{
  if (holes_refused && bytes == REGION)
    return -1;
  unmapped += bytes;
  held.mapped -= whole_pages(bytes);
  held.regions -= bytes == REGION && (uintptr_t)at % REGION == 0;
  return __real_munmap(at, bytes);
}

/* ---- a store and its model ---- */

struct subject {
  struct opt_packed p;
  struct model m;
};

static struct subject *new_subject(unsigned depth, unsigned page_max)
{
  struct subject *s = must(calloc(1, sizeof *s));
  struct pprf_seed root = root_seed();
  uint64_t number;
  s->m.depth = depth;
  check(pprf_process_claim(&number) == PPRF_OK && opt_packed_open(&s->p, depth, &root) == PPRF_OK,
        "open");
  if (page_max != 0) {
    s->p.page_max = page_max;
    s->p.many = 20;
  }
  return s;
}

static void free_subject(struct subject *s)
{
  opt_packed_close(&s->p);
  free(s->m.punctured);
  free(s);
}

static uint64_t node_end(struct opt_node n)
{
  return n.start + (UINT64_C(1) << n.height);
}

static int spared; /* no memory was refused: every block is at most an eighth too large */

/* Check one page against tiles.h and packed.h; returns the first leaf after it. */
static uint64_t check_page(const struct subject *s, const struct opt_page *page, uint64_t at,
                           int seeds)
{
  const struct pprf_seed *top = (const struct pprf_seed *)((uintptr_t)page + page->bytes);
  size_t used = sizeof *page + page->tiles + sizeof *top * page->seeds;
  unsigned k = 0;
  check(page->tiles > 0 && used <= page->bytes && page->bytes <= s->p.page_max &&
          opt_arena_fit(page->bytes) == page->bytes &&
          (!spared || opt_arena_fit(used) >= page->bytes - page->bytes / 8u),
        "page of %u bytes, %zu used", page->bytes, used);
  for (unsigned i = 0; i < page->tiles && !failed; i++) {
    unsigned height = page->tile[i] & 63, live = page->tile[i] >> 6;
    uint64_t last = at + (UINT64_C(1) << height) - 1;
    check(height <= s->m.depth && live <= 1 && at % (last - at + 1) == 0 && last < leaves(&s->m),
          "tile %02x at %llx", page->tile[i], (unsigned long long)at);
    if (live) {
      check(model_next_live(&s->m, at) == at && model_height(&s->m, at) == height,
            "a node of height %u at %llx", height, (unsigned long long)at);
      if (seeds || rnd_below(64) == 0)
        check(same_seed(top[-1 - (int)k],
                        node_seed(s->m.depth, (struct opt_node){.start = at, .height = height})),
              "seed of (%llx, %u)", (unsigned long long)at, height);
      k++;
    } else {
      check(model_all_punctured(&s->m, at, last), "a live leaf in %llx .. %llx",
            (unsigned long long)at, (unsigned long long)last);
      if (i > 0 && page->tile[i - 1] == page->tile[i])
        check((at >> height & 1) == 0, "two punctured siblings at %llx", (unsigned long long)at);
    }
    at = last + 1;
  }
  check(k == page->seeds, "%u seeds, %u live tiles", page->seeds, k);
  for (const uint8_t *b = page->tile + page->tiles; b < (const uint8_t *)(top - page->seeds); b++)
    check(*b == 0, "free memory of a page is not zero");
  return at;
}

static void check_find(const struct subject *s, uint64_t leaf)
{
  struct opt_node n;
  int live = opt_packed_find(&s->p, leaf, &n), punctured = model_all_punctured(&s->m, leaf, leaf);
  check(live == !punctured, "leaf %llx: live is %d", (unsigned long long)leaf, live);
  if (live && !punctured)
    check(n.height == model_height(&s->m, leaf) && n.start == leaf >> n.height << n.height,
          "leaf %llx: (%llx, %u)", (unsigned long long)leaf, (unsigned long long)n.start, n.height);
  uint64_t next = model_next_live(&s->m, leaf);
  live = opt_packed_next(&s->p, leaf, &n);
  check(live == (next < leaves(&s->m)), "next of %llx: %d", (unsigned long long)leaf, live);
  if (live)
    check(n.start <= next && next < node_end(n), "next of %llx is (%llx, %u)",
          (unsigned long long)leaf, (unsigned long long)n.start, n.height);
}

/* Check the nodes read one after the other, as an export does. */
static void check_read(const struct subject *s)
{
  struct opt_cursor cursor = {0};
  struct opt_entry e;
  uint64_t at = 0;
  while (opt_packed_read(&s->p, &cursor, &e) && !failed) {
    uint64_t next = model_next_live(&s->m, at);
    struct opt_node n;
    check(next < leaves(&s->m) && opt_packed_find(&s->p, next, &n) && e.node.start == next &&
            e.node.height == n.height && same_seed(e.seed, opt_packed_seed(&s->p, n)),
          "behind %llx: read (%llx, %u)", (unsigned long long)at, (unsigned long long)e.node.start,
          e.node.height);
    at = node_end(e.node);
  }
  check(failed || model_next_live(&s->m, at) >= leaves(&s->m), "nothing read behind %llx",
        (unsigned long long)at);
}

static void check_packed(const struct subject *s, int seeds)
{
  uint64_t at = 0, nodes = 0;
  for (size_t i = 0; i < s->p.pages && !failed; i++) {
    check(s->p.first[i] == at, "page %zu begins at %llx", i, (unsigned long long)s->p.first[i]);
    nodes += s->p.page[i]->seeds;
    at = check_page(s, s->p.page[i], at, seeds);
  }
  check(at == leaves(&s->m) && nodes == s->p.nodes, "%llu nodes, counted %llu",
        (unsigned long long)s->p.nodes, (unsigned long long)nodes);
  for (size_t i = 0; i < s->m.n && !failed; i++) {
    const struct interval *v = &s->m.punctured[i];
    check_find(s, v->first);
    check_find(s, v->last);
    if (v->first > 0)
      check_find(s, v->first - 1);
    if (v->last + 1 < leaves(&s->m))
      check_find(s, v->last + 1);
  }
  check_find(s, rnd_below(leaves(&s->m)));
  check_read(s);
}

/* The nodes that cover lo .. hi - 1, a part of one node, in ascending order. */
static unsigned cut(unsigned depth, uint64_t lo, uint64_t hi, struct opt_entry *e)
{
  unsigned n = 0;
  while (lo < hi) {
    unsigned h = 0;
    while (h + 1 < 64 && lo % (UINT64_C(2) << h) == 0 && (UINT64_C(2) << h) <= hi - lo)
      h++;
    e[n].node = (struct opt_node){.start = lo, .height = h};
    e[n++].seed = node_seed(depth, (struct opt_node){.start = lo, .height = h});
    lo += UINT64_C(1) << h;
  }
  return n;
}

/* ---- operations, with the seeds derived from the root ---- */

/* Set the page that is tried first: that of the leaf, as before every puncture, or a random one. */
static void guess_page(struct subject *s, uint64_t leaf)
{
  if (rnd_below(2) == 0)
    opt_packed_prefetch(&s->p, leaf);
  else
    s->p.near = rnd_below(8) == 0 ? SIZE_MAX - rnd_below(2) : rnd_below(s->p.pages + 2);
}

static int puncture_one(struct subject *s, uint64_t leaf)
{
  struct pprf_seed copath[OPT_PACKED_DEPTH_MAX];
  struct opt_node n;
  guess_page(s, leaf);
  if (!opt_packed_find(&s->p, leaf, &n))
    return PPRF_ERR_PUNCTURED;
  struct pprf_seed seed = opt_packed_seed(&s->p, n);
  for (unsigned h = n.height; h > 0; h--) {
    struct pprf_children c = prg_expand(PRG_BARE, seed, leaf >> h << h, h);
    int right = (int)(leaf >> (h - 1) & 1);
    seed = right ? c.right : c.left;
    copath[h - 1] = right ? c.left : c.right;
  }
  int err = opt_packed_puncture(&s->p, leaf, n, copath);
  if (err == PPRF_OK)
    model_puncture(&s->m, leaf, leaf);
  return err;
}

static int puncture_range(struct subject *s, uint64_t first, uint64_t last)
{
  struct opt_entry left[64], right[64], ascending[64];
  struct opt_node n;
  unsigned lefts = 0, rights = 0;
  if (!opt_packed_next(&s->p, first, &n) || n.start > last)
    return PPRF_ERR_PUNCTURED;
  if (n.start < first)
    lefts = cut(s->m.depth, n.start, first, left);
  if (opt_packed_find(&s->p, last, &n))
    rights = cut(s->m.depth, last + 1, node_end(n), ascending);
  for (unsigned i = 0; i < rights; i++)
    right[i] = ascending[rights - 1 - i];
  int err = opt_packed_puncture_range(&s->p, first, last, left, lefts, right, rights);
  if (err == PPRF_OK)
    model_puncture(&s->m, first, last);
  return err;
}

/* like `refused`, for the set alone: the test itself allocates memory before it */
static uint64_t refused_in_set;

/* Puncture random leaves near a place, as one set. */
static int puncture_set(struct subject *s, uint64_t near, uint64_t span, unsigned wanted)
{
  uint64_t *leaf = must(malloc((wanted + 1) * sizeof *leaf));
  struct opt_entry *rest = must(malloc((wanted + 1) * 64 * sizeof *rest));
  struct opt_node n;
  size_t count = 0, leaves_n = 0;
  uint64_t at = near, end = 0; /* end of the previous leaf's node */
  for (unsigned i = 0; i < wanted; i++) {
    at += 1 + rnd_below(span);
    if (at >= leaves(&s->m))
      break;
    if (!opt_packed_find(&s->p, at, &n))
      continue;
    uint64_t from = n.start;
    if (at < end)
      from = leaf[leaves_n - 1] + 1u;
    else if (leaves_n > 0 && end > 0)
      count += cut(s->m.depth, leaf[leaves_n - 1] + 1u, end, rest + count);
    count += cut(s->m.depth, from, at, rest + count);
    end = node_end(n);
    leaf[leaves_n++] = at;
  }
  int err = PPRF_ERR_PUNCTURED;
  if (leaves_n > 0) {
    count += cut(s->m.depth, leaf[leaves_n - 1] + 1u, end, rest + count);
    refused = refused_in_set;
    err = opt_packed_puncture_set(&s->p, leaf, leaves_n, rest, count);
    refused_in_set = refused;
    refused = 0;
  }
  for (size_t i = 0; i < leaves_n && err == PPRF_OK; i++)
    model_puncture(&s->m, leaf[i], leaf[i]);
  free(leaf);
  free(rest);
  return err;
}

/* ---- no seeds but live ones: the arena, word by word ---- */

static int by_value(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* Every word of the store's only region that is not an address, a header or tiles must be half
 * of a live seed. */
static void check_arena(const struct subject *s)
{
  if (!check(opt_arena_mapped_bytes() == REGION, "%zu bytes mapped", opt_arena_mapped_bytes()))
    return;
  uint64_t *region = (uint64_t *)(uintptr_t)((uintptr_t)s->p.page[0] / REGION * REGION);
  uint64_t *seen = must(malloc(REGION)), *live = must(malloc((2 * s->p.nodes + 1) * sizeof *live));
  size_t n = 0;
  memcpy(seen, region, REGION);
  seen[0] = 0; /* the region's address */
  for (size_t i = 0; i < s->p.pages; i++) {
    const struct opt_page *page = s->p.page[i];
    const uint64_t *end = (const uint64_t *)((uintptr_t)page + page->bytes);
    memset((unsigned char *)seen + ((uintptr_t)page - (uintptr_t)region), 0,
           sizeof *page + page->tiles);
    for (unsigned k = 0; k < 2u * page->seeds; k++)
      live[n++] = *--end;
  }
  qsort(live, n, sizeof *live, by_value);
  for (size_t i = 0; i < REGION / sizeof *seen; i++)
    if (seen[i] >> 16 != 0) /* smaller values are links of free blocks */
      check(bsearch(&seen[i], live, n, sizeof *live, by_value) != NULL,
            "a seed that does not count at byte %zu of the region", i * sizeof *seen);
  free(seen);
  free(live);
}

/* ---- tests ---- */

static void order_from(struct subject *s, uint64_t *order, unsigned fixed, unsigned n)
{
  for (unsigned i = fixed; i < n; i++) {
    uint64_t t = order[fixed];
    order[fixed] = order[i];
    order[i] = t;
    order_from(s, order, fixed + 1, n);
    order[i] = order[fixed];
    order[fixed] = t;
  }
  if (fixed < n || failed)
    return;
  struct subject *t = new_subject(s->m.depth, 320);
  for (unsigned i = 0; i < n && !failed; i++) {
    check(puncture_one(t, order[i]) == PPRF_OK, "puncture");
    check_packed(t, i + 1 == n / 2);
  }
  free_subject(t);
}

static void small_trees(void)
{
  uint64_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  for (unsigned d = 1; d <= 3; d++) {
    struct subject *s = new_subject(d, 320);
    order_from(s, order, 0, 1u << d);
    free_subject(s);
  }
  end_test("packed: all_orders_of_all_leaves_to_depth_3");
  for (unsigned set = 0; set < 1u << 16 && !failed; set++) {
    struct subject *s = new_subject(4, 320);
    for (unsigned x = 0; x < 16; x++)
      if (set >> x & 1)
        check(puncture_one(s, x) == PPRF_OK, "puncture");
    check_packed(s, set % 8 == 0);
    free_subject(s);
  }
  end_test("packed: all_sets_of_depth_4");
  for (unsigned d = 1; d <= 7; d++) /* a range on a key with any one leaf punctured */
    for (uint64_t first = 0; first < UINT64_C(1) << d; first++)
      for (uint64_t last = first; last < UINT64_C(1) << d && !failed; last++) {
        struct subject *s = new_subject(d, 320);
        snprintf(context, sizeof context, "depth %u range %u..%u", d, (unsigned)first,
                 (unsigned)last);
        (void)puncture_one(s, rnd_below(leaves(&s->m)));
        (void)puncture_one(s, rnd_below(leaves(&s->m)));
        int want = model_all_punctured(&s->m, first, last) ? PPRF_ERR_PUNCTURED : PPRF_OK;
        check(puncture_range(s, first, last) == want, "range");
        check_packed(s, first == last);
        free_subject(s);
      }
  end_test("packed: all_ranges_to_depth_7");
}

/* Puncture all leaves of a tree in five orders. */
static void whole_trees(void)
{
  for (unsigned d = 5; d <= 12; d++)
    for (unsigned mode = 0; mode < 5 && !failed; mode++) {
      uint64_t n = UINT64_C(1) << d, *order = must(malloc(n * sizeof *order));
      struct subject *s = new_subject(d, mode == 4 ? 0 : 512);
      snprintf(context, sizeof context, "depth %u mode %u", d, mode);
      for (uint64_t i = 0; i < n; i++)
        order[i] = mode == 1 ? n - 1 - i : mode == 2 ? 2 * i % n + (i >= n / 2) : i;
      for (uint64_t i = n; i > 1 && (mode == 0 || mode == 4); i--) {
        uint64_t j = rnd_below(i), t = order[i - 1];
        order[i - 1] = order[j];
        order[j] = t;
      }
      for (uint64_t i = 0; i < n && !failed; i++) {
        check(puncture_one(s, order[i]) == PPRF_OK, "puncture");
        check(puncture_one(s, order[rnd_below(i + 1)]) == PPRF_ERR_PUNCTURED, "puncture again");
        if (d <= 7 || i % (n / 32) == 0 || i + 1 == n) {
          check_packed(s, d <= 6);
          check_arena(s);
        }
      }
      if (mode == 0 && (d <= 8 || d >= 11))
        check((s->p.page_max == OPT_ARENA_MAX) == (d >= 11), "pages of %u bytes", s->p.page_max);
      check(s->p.nodes == 0 && s->p.pages == 1 && opt_packed_bytes(&s->p) <= 512,
            "%zu pages, %zu bytes at the end", s->p.pages, opt_packed_bytes(&s->p));
      free(order);
      free_subject(s);
    }
  end_test("packed: whole_trees_in_five_orders_leave_no_seed_behind");
}

/* A random operation, near a few places so that nodes of every height occur. */
static int random_operation(struct subject *s, unsigned i)
{
  unsigned d = s->m.depth, bits = (unsigned)rnd_below(d) + 1;
  uint64_t x = (rnd_below(3) << (d > 2 ? d - 2 : 0) | (rnd() & opt_below(bits))) % leaves(&s->m);
  if (i % 16 == 7) {
    uint64_t last = x + (rnd() & opt_below((unsigned)rnd_below(d)));
    return puncture_range(s, x, last < leaves(&s->m) ? last : leaves(&s->m) - 1);
  }
  if (i % 16 == 11)
    return puncture_set(s, x, (rnd() & opt_below((unsigned)rnd_below(20) + 1)) + 1, 40);
  return puncture_one(s, x);
}

static void random_depths(void)
{
  for (unsigned d = 1; d <= OPT_PACKED_DEPTH_MAX; d++) {
    struct subject *s = new_subject(d, d <= 12 ? 512 : d % 2 ? 0 : OPT_ARENA_MAX);
    for (unsigned i = 0; i < 300 && !failed; i++) {
      snprintf(context, sizeof context, "depth %u operation %u", d, i);
      int err = random_operation(s, i);
      check(err == PPRF_OK || err == PPRF_ERR_PUNCTURED, "result %d", err);
      if (i % 20 == 0)
        check_packed(s, 0);
    }
    check_packed(s, d <= 9);
    check_arena(s);
    free_subject(s);
  }
  end_test("packed: random_operations_at_depths_1_to_63");
}

/* The nodes of a store one after the other: an opt_packed_source. */
struct nodes {
  const struct opt_packed *p;
  uint64_t at;
};

static int next_node(void *from, struct opt_entry *e)
{
  struct nodes *n = from;
  if (!opt_packed_next(n->p, n->at, &e->node))
    return 0;
  e->seed = opt_packed_seed(n->p, e->node);
  n->at = node_end(e->node);
  return 1;
}

/* A second store with the nodes of another, and the same model; the at-th memory request is
 * refused (0: none). NULL: the store could not be made. */
static struct subject *loaded(const struct subject *s, uint64_t at)
{
  struct subject *t = must(calloc(1, sizeof *t));
  struct nodes from = {&s->p, 0};
  t->m = s->m;
  t->m.punctured = must(malloc((s->m.n + 1) * sizeof *t->m.punctured));
  for (size_t i = 0; i < s->m.n; i++)
    t->m.punctured[i] = s->m.punctured[i];
  t->m.room = s->m.n + 1;
  refused = at;
  int err = opt_packed_load(&t->p, s->m.depth, s->p.nodes, next_node, &from);
  refused = 0;
  if (err == PPRF_OK)
    return t;
  free(t->m.punctured);
  free(t);
  return NULL;
}

/* Loaded stores hold the same nodes in full pages and work like others; without memory there is
 * no store. An empty one is a single tile. */
static void loads(void)
{
  unsigned refusals = 0;
  for (unsigned d = 1; d <= OPT_PACKED_DEPTH_MAX; d++) {
    struct subject *s = new_subject(d, 0), *t;
    for (unsigned i = 0; i < 240 && !failed; i++)
      (void)random_operation(s, i);
    snprintf(context, sizeof context, "depth %u", d);
    for (uint64_t k = 1; (t = loaded(s, k)) == NULL && k < 1000; k++)
      refusals++;
    if (t != NULL) /* its last page may be too large: shrinking it may fail */
      free_subject(t);
    t = loaded(s, 0);
    check(t != NULL && t->p.nodes == s->p.nodes && t->p.pages <= s->p.pages, "nodes or pages");
    if (t != NULL) {
      check_packed(t, d <= 9);
      struct nodes a = {&s->p, 0}, b = {&t->p, 0};
      struct opt_entry x, y;
      while (!failed && next_node(&a, &x))
        check(next_node(&b, &y) && same_seed(x.seed, y.seed), "node %llx",
              (unsigned long long)x.node.start);
      for (unsigned i = 0; i < 60 && !failed; i++)
        (void)random_operation(t, i);
      check_packed(t, 0);
      if (leaves(&t->m) > 0 && t->p.nodes > 0)
        check(puncture_range(t, 0, leaves(&t->m) - 1) == PPRF_OK && t->p.pages == 1 &&
                t->p.room == 1,
              "a range that leaves nothing: %zu pages, room for %zu", t->p.pages, t->p.room);
      struct subject *none = loaded(t, 0);
      check(none != NULL && none->p.nodes == 0 && none->p.pages == 1 &&
              none->p.page[0]->tiles == 1 && opt_packed_bytes(&none->p) == 64,
            "an empty store");
      if (none != NULL)
        free_subject(none);
      free_subject(t);
    }
    free_subject(s);
  }
  check(refusals >= 300, "%u refusals", refusals);
  end_test("packed: stores_of_other_stores_nodes_are_the_same");
}

/* Single leaves, `span` leaves apart: an opt_packed_source. */
struct single {
  uint64_t at, span, left;
};

static int next_single(void *from, struct opt_entry *e)
{
  struct single *f = from;
  if (f->left == 0)
    return 0;
  *e = (struct opt_entry){.node = {.start = f->at, .height = 0}, .seed = root_seed()};
  f->at += f->span;
  f->left--;
  return 1;
}

/* Nodes with the greatest number of punctured tiles beside them: enough pages were reserved. */
static void loads_single_leaves(void)
{
  for (unsigned d = 1; d <= OPT_PACKED_DEPTH_MAX; d++)
    for (unsigned log = 0; log < d && log <= 10; log++) {
      struct opt_packed p;
      struct opt_node node = {0};
      uint64_t n = UINT64_C(1) << log, span = UINT64_C(1) << (d - log), first = span / 3, at = 0;
      struct single from = {first, span, n};
      snprintf(context, sizeof context, "depth %u, %llu leaves", d, (unsigned long long)n);
      int err = opt_packed_load(&p, d, n, next_single, &from);
      check(err == PPRF_OK && p.nodes == n, "error %d", err);
      if (err != PPRF_OK)
        continue;
      for (uint64_t i = 0; i < n && !failed; i++, at = node.start + 1)
        check(opt_packed_next(&p, at, &node) && node.start == first + i * span && node.height == 0,
              "leaf %llu", (unsigned long long)i);
      check(!opt_packed_next(&p, at, &node), "a node too many");
      opt_packed_close(&p);
    }
  end_test("packed: single_leaves_that_lie_far_apart_are_loaded");
}

/* A set of at most eight leaves that are far apart: pages without such a leaf do not move,
 * except those that are joined to a small new one. */
static void far_leaves(void)
{
  for (unsigned round = 0; round < 20 && !failed; round++) {
    struct subject *s = new_subject(20, 0);
    for (unsigned i = 0; i < 600; i++)
      (void)puncture_one(s, rnd_below(leaves(&s->m)));
    size_t n = s->p.pages, stay = 0;
    struct opt_page **page = must(malloc(n * sizeof *page));
    uint64_t *first = must(malloc(n * sizeof *first));
    memcpy(page, s->p.page, n * sizeof *page);
    memcpy(first, s->p.first, n * sizeof *first);
    uint64_t span = leaves(&s->m) / 4;
    snprintf(context, sizeof context, "round %u, %zu pages", round, n);
    check(puncture_set(s, rnd_below(span), span, 8) == PPRF_OK, "set");
    for (size_t i = 0; i < n; i++)
      for (size_t j = 0; j < s->p.pages; j++)
        stay += s->p.first[j] == first[i] && s->p.page[j] == page[i];
    check(n > 50 && stay < n && stay + 16 >= n, "%zu of %zu pages stay", stay, n);
    check_packed(s, 0);
    check_arena(s);
    free(first);
    free(page);
    free_subject(s);
  }
  end_test("packed: pages_without_a_leaf_of_a_set_stay_where_they_are");
}

/* All remaining leaves as one set: the index has room for the one page. */
static void sets_of_all_leaves(void)
{
  size_t most = 0;
  for (unsigned d = 1; d <= 10; d++) {
    struct subject *s = new_subject(d, 512);
    snprintf(context, sizeof context, "depth %u", d);
    for (unsigned i = 0; i < leaves(&s->m) / 4; i++)
      (void)puncture_one(s, rnd_below(leaves(&s->m)));
    most = s->p.room > most ? s->p.room : most;
    check(puncture_set(s, UINT64_MAX, 1, 1u << d) == PPRF_OK, "set"); /* UINT64_MAX + 1 is leaf 0 */
    check(s->p.nodes == 0 && s->p.pages == 1 && s->p.room == 1, "%zu pages, room for %zu",
          s->p.pages, s->p.room);
    check_packed(s, 1);
    check_arena(s);
    free_subject(s);
  }
  check(most > 8, "room for %zu pages at most", most);
  end_test("packed: a_set_of_all_leaves_leaves_one_page");
}

/* Sets whose every request is refused, one in each, until one has all; returns how many failed. */
static unsigned refused_sets(void)
{
  struct subject *s = new_subject(10, 512);
  unsigned failures = 0;
  for (unsigned i = 0; i < 40 && !failed; i++) {
    snprintf(context, sizeof context, "set %u", i);
    int err = PPRF_ERR_NOMEM;
    for (uint64_t at = 1; err == PPRF_ERR_NOMEM; at++) {
      uint64_t nodes = s->p.nodes;
      size_t punctured = s->m.n;
      refused_in_set = at;
      err = puncture_set(s, rnd_below(leaves(&s->m)), 40, 24);
      refused_in_set = 0;
      if (err == PPRF_ERR_NOMEM) {
        failures++;
        check(s->p.nodes == nodes && s->m.n == punctured, "changed");
        check_packed(s, 1);
      }
    }
  }
  check_arena(s);
  free_subject(s);
  return failures;
}

/* Refuse each memory request in turn: the store is unchanged. */
static void no_memory(void)
{
  static const unsigned depths[] = {3, 10, 20, 32, 63};
  unsigned refusals = 0, sets = 0;
  spared = 0;
  for (unsigned k = 0; k < sizeof depths / sizeof *depths; k++) {
    struct subject *s = new_subject(depths[k], depths[k] <= 10 ? 512 : 0);
    for (unsigned i = 0; i < 400 && !failed; i++) {
      snprintf(context, sizeof context, "depth %u operation %u", depths[k], i);
      uint64_t nodes = s->p.nodes, at = 0;
      size_t punctured = s->m.n;
      int is_set = i % 16 == 11;
      refused = is_set ? 0 : 1 + i % 11;
      refused_in_set = is_set ? 1 + i / 16 % 11 : 0;
      int err = random_operation(s, i);
      at = refused + refused_in_set;
      refused = refused_in_set = 0;
      sets += is_set && err == PPRF_ERR_NOMEM;
      if (err == PPRF_ERR_NOMEM) {
        refusals++;
        check(at == 0 && s->p.nodes == nodes && s->m.n == punctured, "changed");
        check_packed(s, depths[k] <= 10);
      }
    }
    check_packed(s, 0);
    check_arena(s);
    free_subject(s);
  }
  unsigned each = refused_sets();
  spared = 1;
  struct opt_packed p;
  struct pprf_seed root = root_seed();
  refused = 1;
  check(opt_packed_open(&p, 9, &root) == PPRF_ERR_NOMEM, "open");
  refused = 0;
  check(refusals >= 50 && sets >= 20 && each >= 100, "%u refusals, %u of them of sets, then %u",
        refusals, sets, each);
  end_test("packed: without_memory_the_store_is_as_it_was");
}

/* Whole trees whose pages get no memory for joining or shrinking: the puncture of a single leaf
 * does not need it. */
static void no_memory_to_tidy(void)
{
  enum { DEPTH = 10, LEAVES = 1 << DEPTH };
  spared = 0;
  for (unsigned mode = 0; mode < 4 && !failed; mode++) {
    struct subject *s = new_subject(DEPTH, 512);
    uint64_t order[LEAVES];
    for (unsigned i = 0; i < LEAVES; i++)
      order[i] = mode == 1 ? LEAVES - 1 - i : i;
    for (unsigned i = LEAVES; i > 1 && mode >= 2; i--) {
      uint64_t j = rnd_below(i), t = order[i - 1];
      order[i - 1] = order[j];
      order[j] = t;
    }
    for (unsigned i = 0; i < LEAVES && !failed; i++) {
      struct opt_node n;
      snprintf(context, sizeof context, "mode %u puncture %u", mode, i);
      check(opt_packed_find(&s->p, order[i], &n), "a leaf is gone");
      refused = n.height == 0 ? 1 + i % 3 : 0;
      check(puncture_one(s, order[i]) == PPRF_OK, "puncture");
      refused = 0;
      if (i % 16 == 0)
        check_packed(s, 1);
    }
    check(s->p.nodes == 0, "nodes at the end");
    check_packed(s, 0);
    check_arena(s);
    free_subject(s);
  }
  spared = 1;
  end_test("packed: without_memory_pages_stay_as_they_are_and_single_leaves_go");
}

/* Bytes per node, as in docs/sparse-store.md. */
static void sizes(void)
{
  static const struct {
    unsigned depth, punctures, at_most;
  } cases[] = {{16, 8, 21},      {20, 64, 21},    {24, 168, 21},  {24, 16777, 21},
               {32, 64, 21},     {32, 4096, 21},  {48, 1000, 21}, {63, 64, 21},
               {63, 4096, 21},   {16, 45426, 21}, /* draws that hit half of all leaves */
               {16, 150902, 24}, {16, 301804, 30} /* nine tenths, and 99 in 100 */};
  for (unsigned k = 0; k < sizeof cases / sizeof *cases; k++) {
    struct subject *s = new_subject(cases[k].depth, 0);
    unsigned most = s->p.page_max;
    for (unsigned i = 0; i < cases[k].punctures; i++)
      (void)puncture_one(s, rnd() & opt_below(cases[k].depth));
    /* as packed.h says; none of these keys has very many pages */
    check(most <= 2304 && s->p.page_max == most, "pages of %u bytes, of %u at first", s->p.page_max,
          most);
    size_t bytes = 0; /* including the allocator's word before each of the index's two blocks */
    if (s->p.pages > 1)
      bytes = malloc_usable_size(s->p.first) + 8 + malloc_usable_size(s->p.page) + 8;
    for (size_t i = 0; i < s->p.pages; i++)
      bytes += s->p.page[i]->bytes;
    check(opt_packed_bytes(&s->p) == bytes, "%zu bytes, where pages and index have %zu",
          opt_packed_bytes(&s->p), bytes);
    double per = (double)(opt_packed_bytes(&s->p) + sizeof s->p) / (double)s->p.nodes;
    printf("# depth %u, %u random punctures: %.2f B a node\n", cases[k].depth, cases[k].punctures,
           per);
    check(s->p.nodes < 64 || per <= cases[k].at_most, "depth %u, %u punctures: %.2f B a node",
          cases[k].depth, cases[k].punctures, per);
    free_subject(s);
  }
  for (unsigned d = 1; d <= OPT_PACKED_DEPTH_MAX; d++) {
    struct subject *s = new_subject(d, 0);
    (void)puncture_one(s, rnd_below(leaves(&s->m)));
    check(opt_packed_bytes(&s->p) <= opt_arena_fit(17 * (size_t)d + 9),
          "depth %u: %zu B after one puncture", d, opt_packed_bytes(&s->p));
    free_subject(s);
  }
  end_test("packed: at_most_21_bytes_a_node_up_to_half_of_the_leaves");
}

/* ---- the arena ---- */

static void *arena_user(void *arg)
{
  unsigned char *block[64] = {0};
  size_t size[64];
  uint64_t state = *(const uint64_t *)arg, bad = 0;
  for (unsigned i = 0; i < 20000; i++) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    unsigned k = (unsigned)(state >> 58);
    if (block[k] != NULL) {
      for (size_t j = 0; j < size[k]; j++)
        bad += block[k][j] != (unsigned char)(k + 1);
      opt_arena_give(block[k], size[k]);
      block[k] = NULL;
    } else {
      size[k] = opt_arena_fit((state >> 40) % OPT_ARENA_MAX + 1);
      block[k] = opt_arena_take(size[k]);
      for (size_t j = 0; j < size[k]; j++)
        bad += block[k][j] != 0;
      memset(block[k], (int)k + 1, size[k]);
    }
  }
  for (unsigned k = 0; k < 64; k++)
    if (block[k] != NULL)
      opt_arena_give(block[k], size[k]);
  return (void *)(uintptr_t)bad;
}

/* A key of three regions is made and freed; exactly these regions are mapped meanwhile. */
static void three_regions(size_t left)
{
  struct subject *s = new_subject(20, 0);
  mapped = 0;
  for (unsigned i = 0; i % 64 != 0 || opt_packed_bytes(&s->p) < 2 * REGION + REGION / 8; i++)
    (void)puncture_one(s, rnd_below(leaves(&s->m)));
  check(opt_arena_mapped_bytes() == 3 * REGION, "%zu bytes are mapped", opt_arena_mapped_bytes());
  check(mapped == 0 || unmapped == REGION, "%zu bytes beside a region went back", unmapped);
  free_subject(s);
  check(opt_arena_mapped_bytes() == left * REGION, "%zu bytes are mapped",
        opt_arena_mapped_bytes());
}

static void arena(void)
{
  for (size_t bytes = 1; bytes <= OPT_ARENA_MAX; bytes++) {
    size_t fit = opt_arena_fit(bytes);
    check(fit >= bytes && fit % 16 == 0 && fit <= bytes + 63 + bytes / 8 &&
            opt_arena_fit(fit) == fit,
          "%zu bytes fit into %zu", bytes, fit);
  }
  end_test("arena: blocks_fit_and_are_an_eighth_too_great_at_most");
  pthread_t thread[4];
  uint64_t state[4];
  void *bad;
  for (unsigned i = 0; i < 4; i++) {
    state[i] = rnd();
    check(pthread_create(&thread[i], NULL, arena_user, &state[i]) == 0, "thread");
  }
  for (unsigned i = 0; i < 4; i++)
    check(pthread_join(thread[i], &bad) == 0 && bad == NULL, "a block was not zero, or shared");
  check(opt_arena_mapped_bytes() == REGION, "%zu bytes are kept", opt_arena_mapped_bytes());
  end_test("arena: threads_take_and_give_zero_blocks_of_their_own");
  three_regions(1);
  check(mapped > 0, "no region was mapped");
  end_test("arena: regions_without_blocks_go_back_and_what_is_mapped_beside_them");
  holes_refused = 1;
  three_regions(3);
  three_regions(3);
  check(mapped == 0, "regions that could not go back are not used again");
  holes_refused = 0;
  three_regions(1);
  end_test("arena: regions_that_cannot_go_back_are_used_again");
  struct subject *s = new_subject(12, 0);
  int status = 0;
  const unsigned char *page = (const unsigned char *)s->p.page[0];
  pid_t child = fork();
  if (child == 0) {
    uint64_t number;
    int wiped = 1;
    for (unsigned i = 0; i < s->p.page[0]->bytes; i++)
      wiped &= page[i] == 0;
    opt_arena_forget_copies();
    opt_arena_forget_copies();
    failed = !wiped || pprf_process_claim(&number) != PPRF_OK;
    struct subject *own = new_subject(12, 0);
    for (unsigned i = 0; i < 100; i++)
      (void)puncture_one(own, rnd_below(4096));
    check_packed(own, 1);
    check_arena(own);
    free_subject(own);
    _exit(failed != 0);
  }
  check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child: %d", status);
  check_packed(s, 1);
  free_subject(s);
  end_test("arena: a_child_has_no_copy_and_an_arena_of_its_own");
}

/* How many of a store's pages lie in a region of the arena. */
static size_t pages_in(const struct opt_packed *p, uintptr_t region)
{
  size_t n = 0;
  for (size_t i = 0; i < p->pages; i++)
    n += (uintptr_t)p->page[i] / REGION == region;
  return n;
}

/* A key is kept out of swap if all its blocks are; of two regions only the first is locked.
 * Runs in a child, whose arena is empty.  Leaves are punctured in order, so that only the last page
 * changes, and is the first to be in the second region. */
static void locks(void)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    uint64_t number;
    failed = pprf_process_claim(&number) != PPRF_OK;
    mlock2_says = GRANTED;
    struct subject *small = new_subject(20, 0), *s = new_subject(20, 0);
    const struct opt_packed *p = &s->p;
    uintptr_t first = (uintptr_t)small->p.page[0] / REGION;
    check(opt_packed_locked(p) == 1, "a key of a region that is locked");
    mlock2_says = REFUSED;
    for (uint64_t x = 0; x < leaves(&s->m) && pages_in(p, first) == p->pages; x += 2)
      (void)puncture_one(s, x);
    check(pages_in(p, first) == p->pages - 1 && (uintptr_t)p->page[0] / REGION == first,
          "%zu of %zu pages in the first region", pages_in(p, first), p->pages);
    check(opt_packed_locked(&small->p) == 1 && opt_packed_locked(p) == 0, "%d, %d",
          opt_packed_locked(&small->p), opt_packed_locked(p));
    fflush(stdout);
    _exit(failed != 0);
  }
  int status = -1, ended = child > 0 && waitpid(child, &status, 0) == child;
  check(ended && status == 0, "child: %d", status);
  end_test("arena: a_key_is_locked_if_each_of_its_blocks_is");
}

void test_packed(void)
{
  spared = 1;
  small_trees();
  whole_trees();
  random_depths();
  far_leaves();
  sets_of_all_leaves();
  loads();
  loads_single_leaves();
  no_memory();
  no_memory_to_tidy();
  sizes();
  arena();
  locks();
}

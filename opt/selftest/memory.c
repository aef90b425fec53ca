/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of memory use, prefaulting and shared keys. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shared.h"
#include "selftest.h"

/* ---- tests: memory ---- */

static size_t process_bytes(void)
{
  char line[200], *end;
  FILE *f = must(fopen("/proc/self/statm", "r"));
  if (fgets(line, sizeof line, f) == NULL)
    line[0] = 0;
  fclose(f);
  strtoul(line, &end, 10);
  return strtoul(end, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Resident bytes of a key's mapping according to the kernel, which may have merged it with a
 * neighbour of the same flags: an advice of its own cuts it out. */
size_t kernel_bytes(const pprf_key *key)
{
  const struct opt_slots *s = &store_of(key)->slots;
  char line[512];
  unsigned long from = 0, to = 0, kb = 0, a, b;
  check(madvise(s->slot, s->mapped, MADV_SEQUENTIAL) == 0, "madvise: %s", strerror(errno));
  FILE *f = must(fopen("/proc/self/smaps", "r"));
  while (fgets(line, sizeof line, f) != NULL)
    if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
      from = a;
      to = b;
    } else if ((sscanf(line, "Rss: %lu kB", &a) == 1 || sscanf(line, "Swap: %lu kB", &a) == 1) &&
               from >= (uintptr_t)s->slot && to <= (uintptr_t)s->slot + s->mapped) {
      kb += a;
    }
  fclose(f);
  (void)madvise(s->slot, s->mapped, MADV_NORMAL);
  return kb * 1024;
}

void test_depth_32(void)
{
  pprf_key *key;
  uint8_t a[PPRF_SEED_BYTES], b[PPRF_SEED_BYTES];
  check(setup_slots(&key, 1, root_bytes) == PPRF_OK, "setup"); /* initializes libcrypto */
  pprf_free(key);
  size_t before = process_bytes();
  check(setup_slots(&key, 32, root_bytes) == PPRF_OK, "setup");
  size_t grown = process_bytes() - before;
  check(grown <= 65536 && pprf_memory_bytes(key) <= 16384, "setup took %zu B, says %zu B", grown,
        pprf_memory_bytes(key));
  printf("# depth 32: setup took %zu B of resident memory, memory_bytes %zu, locked %d\n", grown,
         pprf_memory_bytes(key), pprf_memory_locked(key));
  check(pprf_eval(key, 0xfffffffe, a) == PPRF_OK, "eval");
  check(pprf_punct(key, 0xffffffff) == PPRF_OK && pprf_node_count(key) == 32, "punct");
  check(pprf_eval(key, 0xfffffffe, b) == PPRF_OK && memcmp(a, b, sizeof a) == 0, "value changed");
  check(pprf_eval(key, 0xffffffff, b) == PPRF_ERR_PUNCTURED, "eval of a punctured leaf");
  check(pprf_punct(key, UINT64_C(1) << 32) == PPRF_ERR_RANGE, "leaf outside");
  check(pprf_punct_range(key, 1, 0xfffffffd) == PPRF_OK && pprf_node_count(key) == 2, "range");
  check(pprf_memory_bytes(key) <= 65536, "memory after the range: %zu", pprf_memory_bytes(key));
  pprf_free(key);

  size_t len;
  check(setup_slots(&key, 32, root_bytes) == PPRF_OK, "setup");
  check(pprf_punct_range(key, 0, (UINT64_C(1) << 20) - 1) == PPRF_OK, "range");
  check(pprf_punct(key, UINT64_C(0x80000000)) == PPRF_OK, "punct");
  size_t bytes = pprf_memory_bytes(key);
  uint8_t *file = must(malloc(2048));
  len = 2048;
  check(pprf_export(key, file, &len) == PPRF_OK, "export");
  for (unsigned i = 0; i < 1000; i++)
    (void)pprf_eval(key, rnd() >> 32, a);
  check(pprf_memory_bytes(key) == bytes, "reading took %zu B", pprf_memory_bytes(key) - bytes);
  free(file);
  pprf_free(key);
  end_test("depth_32_takes_memory_only_as_it_is_written");
}

void test_worst_case_bytes(unsigned depth)
{
  char name[80];
  pprf_key *key;
  uint64_t n = UINT64_C(1) << depth;
  check(setup_slots(&key, depth, root_bytes) == PPRF_OK, "setup");
  for (uint64_t x = 0; x < n; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  size_t seen_bytes = kernel_bytes(key), says = pprf_memory_bytes(key);
  check(pprf_node_count(key) == n / 2, "nodes");
  double per = (double)says / (double)(n / 2), seen = (double)seen_bytes / (double)(n / 2);
  printf("# depth %u: %.3f B a node by memory_bytes, %.3f resident by smaps\n", depth, per, seen);
  check(per <= 16.3, "%.3f B a node", per);
  check(seen <= per && per - seen < 0.05, "%.3f B a node resident", seen);
  for (uint64_t x = 1; x < n; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  check(pprf_node_count(key) == 0, "nodes at the end");
  check(pprf_memory_bytes(key) <= 16384 + n / 8, "%zu B when all is punctured",
        pprf_memory_bytes(key));
  check(kernel_bytes(key) + 2048 >= pprf_memory_bytes(key), "pages are kept, or not counted");
  check(kernel_bytes(key) <= 4096 + n / 8, "pages are kept when all is punctured");
  pprf_free(key);
  snprintf(name, sizeof name, "worst_case_peak_at_depth_%u_takes_at_most_16.3_bytes_a_node", depth);
  end_test(name);
}

/* The same for a packed key. */
void test_worst_case_packed(unsigned depth)
{
  char name[120];
  const struct pprf_options o = {.size = sizeof o, .seed = root_bytes, .depth = depth};
  pprf_key *key = NULL;
  uint64_t n = UINT64_C(1) << depth;
  check(pprf_setup_with(&key, &o) == PPRF_OK, "setup");
  for (uint64_t x = 0; x < n; x += 2)
    check(pprf_punct(must(key), x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  check(pprf_node_count(key) == n / 2 && store_of(key)->packed != NULL, "nodes");
  double per = (double)pprf_memory_bytes(key) / (double)(n / 2);
  printf("# depth %u, packed: %.3f B a node\n", depth, per);
  check(per <= 19.6, "%.3f B a node", per);
  pprf_free(key);
  snprintf(name, sizeof name, "worst_case_peak_at_depth_%u_takes_at_most_19.6_bytes_a_node_packed",
           depth);
  end_test(name);
}

void test_range_release(void)
{
  pprf_key *key;
  uint64_t n = UINT64_C(1) << 18;
  check(setup_slots(&key, 18, root_bytes) == PPRF_OK, "setup");
  for (uint64_t x = 0; x < n; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  size_t peak = pprf_memory_bytes(key);
  check(pprf_punct_range(key, 100, 4094) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) == peak, "a block that is not full was released");
  for (uint64_t x = 1; x < 100; x += 2)
    check(pprf_punct(key, x) == PPRF_OK, "punct %llu", (unsigned long long)x);
  check(pprf_punct(key, 4095) == PPRF_OK, "punct");
  check(pprf_memory_bytes(key) == peak - 32768, "block 0: %zu of %zu B", pprf_memory_bytes(key),
        peak);
  check(pprf_punct_range(key, 5000, 50000) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) == peak - 11 * 32768, "blocks 2 .. 11 whole: %zu of %zu B",
        pprf_memory_bytes(key), peak);
  check(pprf_punct_range(key, 4096, 49152) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) == peak - 12 * 32768, "block 1, at the start of the range");
  check(pprf_punct_range(key, 0, n - 1) == PPRF_OK, "range");
  check(pprf_memory_bytes(key) <= 16384, "all: %zu B", pprf_memory_bytes(key));
  check(pprf_punct_range(key, 0, n - 1) == PPRF_ERR_PUNCTURED, "all again");
  pprf_free(key);
  end_test("pages_of_punctured_blocks_go_back_to_the_system");
}

/* A packed key has no memory but what it uses: nothing changes. */
static void prefault_packed(void)
{
  const struct pprf_options o = {.size = sizeof o, .seed = root_bytes, .depth = 12};
  struct model m = {.depth = 12};
  pprf_key *key = NULL;
  check(pprf_setup_with(&key, &o) == PPRF_OK, "setup");
  for (unsigned i = 0; i < 10; i++) {
    uint64_t x = rnd_below(leaves(&m));
    (void)pprf_punct(must(key), x);
    model_puncture(&m, x, x);
  }
  size_t bytes = pprf_memory_bytes(key);
  check(pprf_prefault(key) == PPRF_OK && pprf_memory_bytes(key) == bytes, "prefault");
  check_nodes(store_of(key), &m, 0);
  pprf_free(key);
  free(m.punctured);
}

/* Keys side by side, whose mappings the kernel merges where none may be locked. */
static void prefault_several(void)
{
  pprf_key *key[4];
  enum { KEYS = sizeof key / sizeof *key };
  mlock2_says = REFUSED;
  for (unsigned i = 0; i < KEYS; i++)
    check(setup_slots(&key[i], 17, root_bytes) == PPRF_OK && pprf_prefault(key[i]) == PPRF_OK,
          "set");
  mlock2_says = AS_IT_IS;
  for (unsigned i = 0; i < KEYS; i++) {
    size_t backed = store_of(key[i])->slots.mapped;
    check(kernel_bytes(key[i]) == backed, "key %u: %zu B of %zu", i, kernel_bytes(key[i]), backed);
  }
  for (unsigned i = 0; i < KEYS; i++)
    pprf_free(key[i]);
}

void test_prefault(void)
{
  struct model m = {0};
  for (unsigned depth = 1; depth <= 18; depth++)
    for (unsigned by_hand = 0; by_hand < 2; by_hand++) {
      pprf_key *key = new_key(&m, depth);
      const struct opt_slots *s = &store_of(key)->slots;
      for (unsigned i = 0; i < 10; i++) {
        uint64_t x = some_leaf(&m);
        puncture(key, &m, x, x);
      }
      snprintf(context, sizeof context, "depth %u%s", depth, by_hand ? ", by hand" : "");
      refused_advice = by_hand ? 23 : -1; /* MADV_POPULATE_WRITE */
      check(pprf_prefault(key) == PPRF_OK, "prefault");
      refused_advice = -1;
      check(kernel_bytes(key) == s->mapped && pprf_memory_bytes(key) >= s->mapped, "%zu B of %zu",
            kernel_bytes(key), s->mapped);
      check_key(key, &m, 1);
      (void)pprf_punct_range(key, 0, (UINT64_C(1) << depth) - 1);
      check(kernel_bytes(key) == s->mapped, "%zu B stay backed of %zu", kernel_bytes(key),
            s->mapped);
      pprf_free(key);
    }
  context[0] = 0;
  prefault_several();
  prefault_packed();
  if (sysconf(_SC_PHYS_PAGES) < (INT64_C(1) << 35) / sysconf(_SC_PAGESIZE)) {
    pprf_key *key = new_key(&m, 32);
    check(pprf_prefault(key) == PPRF_ERR_NOMEM, "32 GB on this machine");
    pprf_free(key);
  }
  check(pprf_prefault(NULL) == PPRF_ERR_NULL, "null");
  free(m.punctured);
  end_test("prefault_backs_every_page_and_changes_nothing");
}

/* ---- tests: what opt_slots_open promises to the proofs ---- */

struct region {
  const unsigned char *at;
  uint64_t bytes;
};

static int is_inside(struct region r, struct region of)
{
  return r.at >= of.at && r.bytes <= of.bytes && (uint64_t)(r.at - of.at) <= of.bytes - r.bytes;
}

static int is_apart(struct region r, struct region of)
{
  return r.at + r.bytes <= of.at || of.at + of.bytes <= r.at;
}

static void check_opened(const struct opt_slots *s, unsigned depth, struct region small)
{
  const struct opt_bitmap *b = &s->punctured;
  const struct region mapping = {(const unsigned char *)s->slot, s->mapped};
  struct region part[1 + OPT_LEVELS_MAX] = {{mapping.at, UINT64_C(16) << (depth - 1)}};
  unsigned parts = 1;
  check(b->depth == depth && b->levels == (depth + 5) / 6 && s->nodes == 0, "shape");
  for (unsigned k = 0; 6 * k < depth; k++) {
    uint64_t words = depth > 6 * k + 6 ? UINT64_C(1) << (depth - 6 * k - 6) : 1;
    part[parts++] =
      k == 0 ? (struct region){(const unsigned char *)b->leaves, words * sizeof *b->leaves}
             : (struct region){(const unsigned char *)b->summary[k], words * sizeof **b->summary};
  }
  for (unsigned i = 0; i < parts; i++) {
    check((uintptr_t)part[i].at % sizeof(uint64_t) == 0, "part %u is not aligned", i);
    check(is_inside(part[i], mapping) || is_inside(part[i], small), "part %u is outside", i);
    for (unsigned j = 0; j < i; j++)
      check(is_apart(part[i], part[j]), "parts %u and %u share memory", j, i);
    for (uint64_t at = 0; depth <= 16 && at < part[i].bytes; at++)
      if (part[i].at[at] != 0 && !check(0, "part %u is not zero", i))
        return;
  }
}

void test_opened(void)
{
  for (unsigned depth = 1; depth <= PPRF_SLOTS_DEPTH_MAX; depth++)
    for (int shared = 0; shared <= (depth <= 20); shared++) {
      struct opt_slots s;
      size_t bytes = opt_slots_small_bytes(depth);
      void *small = must(calloc(1, bytes));
      snprintf(context, sizeof context, "depth %u, shared %d", depth, shared);
      if (check(opt_slots_open(&s, depth, small, shared) == PPRF_OK, "open")) {
        check_opened(&s, depth, (struct region){small, bytes});
        check((s.shared != 0) == shared, "shared");
        opt_slots_drop(&s);
      }
      free(small);
    }
  end_test("a_store_is_opened_zero_and_its_parts_share_no_memory");
}

/* ---- tests: shared keys ---- */

static void check_cleared(pprf_key *key, unsigned depth)
{
  struct model m = {.depth = depth};
  uint8_t out[PPRF_SEED_BYTES];
  const unsigned char *bytes = (const unsigned char *)store_of(key)->slots.slot;
  size_t used = 0;
  model_puncture(&m, 0, leaves(&m) - 1);
  check_key(key, &m, 1);
  check(pprf_node_count(key) == 0 && pprf_eval(key, 1, out) == PPRF_ERR_PUNCTURED &&
          pprf_punct_range(key, 0, leaves(&m) - 1) == PPRF_ERR_PUNCTURED,
        "something is live");
  for (size_t i = 0; i < sizeof(struct pprf_seed) << (depth - 1); i++)
    used += bytes[i] != 0;
  check(used == 0, "%zu bytes of slots are not zero", used);
  free(m.punctured);
}

/* A key whose leaves were all punctured one by one starts again like one that was cleared. */
static void start_after_punctures(pprf_key *key)
{
  uint64_t n = UINT64_C(1) << pprf_depth(key), live = 0;
  uint8_t value[PPRF_SEED_BYTES];
  check(opt_shared_start(key) == PPRF_OK, "start");
  for (uint64_t leaf = 0; leaf < n; leaf++)
    check(pprf_punct(key, leaf) == PPRF_OK, "punct");
  check(opt_shared_start(key) == PPRF_OK && pprf_node_count(key) == 1, "start after punctures");
  check(pprf_punct(key, 0) == PPRF_OK && pprf_node_count(key) == pprf_depth(key),
        "the first puncture");
  for (uint64_t leaf = 1; leaf < n; leaf++)
    live += pprf_eval(key, leaf, value) == PPRF_OK;
  check(live == n - 1, "leaves are punctured still");
}

/* A new key in shared memory uses only its first page, also where pages cannot be given back. */
static void new_shared_keys(void)
{
  enum { DEPTH = 22 }; /* 32 MB of slots */
  const struct pprf_options o = {
    .size = sizeof o, .seed = root_bytes, .depth = DEPTH, .flags = PPRF_SHARED};
  pprf_key *key = NULL;
  refused_advice = MADV_REMOVE;
  check(pprf_setup_with(&key, &o) == PPRF_OK && pprf_node_count(must(key)) == 1, "setup");
  check(opt_store_resident_bytes(&key->store) <= 16384, "a new key takes %zu B",
        opt_store_resident_bytes(&key->store));
  pprf_free(key);
  check(opt_shared_new(&key, DEPTH) == PPRF_OK && pprf_node_count(must(key)) == 0 &&
          pprf_punct_range(key, 0, (1u << DEPTH) - 1) == PPRF_ERR_PUNCTURED,
        "new");
  check(opt_store_resident_bytes(&key->store) <= 16384, "a key without leaves takes %zu B",
        opt_store_resident_bytes(&key->store));
  pprf_free(key);
  refused_advice = -1;
  end_test("a_new_shared_key_takes_no_pages_but_its_first");
}

/* Where the kernel takes no pages back, a shared key is still cleared, locked or not. */
static void cleared_where_pages_stay(void)
{
  enum { DEPTH = 14 };
  const struct pprf_options o = {
    .size = sizeof o, .seed = root_bytes, .depth = DEPTH, .flags = PPRF_SHARED};
  refused_advice = MADV_REMOVE;
  for (int locked = 0; locked <= 1; locked++) {
    pprf_key *key = NULL;
    mlock2_says = locked ? GRANTED : REFUSED;
    check(pprf_setup_with(&key, &o) == PPRF_OK && pprf_memory_locked(must(key)) == locked, "setup");
    for (uint64_t x = 0; x < 1u << DEPTH; x += 3)
      check(pprf_punct(key, x) == PPRF_OK, "punct");
    opt_shared_clear(key);
    check_cleared(key, DEPTH);
    pprf_free(key);
  }
  refused_advice = -1;
  mlock2_says = AS_IT_IS;
  end_test("a_shared_key_is_cleared_where_pages_stay");
}

void test_shared(void)
{
  static const unsigned depths[] = {1, 6, 7, 12, 16, 19};
  for (unsigned k = 0; k < sizeof depths / sizeof *depths; k++) {
    unsigned depth = depths[k];
    pprf_key *key = NULL;
    uint8_t first[PPRF_SEED_BYTES] = {0}, value[PPRF_SEED_BYTES];
    uint64_t n = UINT64_C(1) << depth;
    int status = 0;
    snprintf(context, sizeof context, "depth %u", depth);
    if (!check(opt_shared_new(&key, depth) == PPRF_OK && key != NULL, "new"))
      break;
    check(pprf_depth(key) == depth, "depth");
    check_cleared(key, depth);
    for (unsigned round = 0; round < 4 && !failed; round++) {
      check(opt_shared_start(key) == PPRF_OK && pprf_node_count(key) == 1, "start");
      size_t touched = opt_store_resident_bytes(&key->store);
      check(touched <= 16384, "a start touches %zu B", touched);
      check(pprf_eval(key, n - 1, value) == PPRF_OK, "eval");
      check(memcmp(value, first, sizeof value) != 0, "the same seed again");
      memcpy(first, value, sizeof first);
      pid_t child = fork(); /* what a child punctures is punctured in the parent */
      if (child == 0)
        _exit(pprf_punct(key, 0) == PPRF_OK ? 0 : 1);
      check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "child");
      check(pprf_node_count(key) == depth && pprf_eval(key, 0, value) == PPRF_ERR_PUNCTURED,
            "the child's puncture is not seen");
      check(pprf_eval(key, n - 1, value) == PPRF_OK && memcmp(value, first, sizeof value) == 0,
            "another value");
      for (unsigned i = 0; i < 500; i++)
        (void)pprf_punct(key, rnd_below(n));
      if (round == 1) { /* half changed: slots without a node, random bits, a wrong count */
        struct opt_slots *s = &key->store.slots;
        for (unsigned i = 0; i < 50; i++) {
          s->slot[rnd_below(n / 2)] = root_seed();
          s->punctured.leaves[rnd_below(opt_bitmap_words(depth, 0))] = rnd();
          for (unsigned level = 1; level < s->punctured.levels; level++)
            s->punctured.summary[level][rnd_below(opt_bitmap_words(depth, level))] =
              (struct opt_summary){rnd(), rnd()};
        }
        s->nodes = rnd();
      }
      if (round == 2) /* the kernel takes no pages back */
        refused_advice = MADV_REMOVE;
      opt_shared_clear(key);
      refused_advice = -1;
      check_cleared(key, depth);
    }
    if (depth <= 12)
      start_after_punctures(key);
    if (k & 1)
      opt_shared_free(key);
    else
      pprf_free(key);
  }
  end_test("a_shared_key_is_wiped_by_clear_and_starts_again");
  context[0] = 0;
  new_shared_keys();
  cleared_where_pages_stay();
}

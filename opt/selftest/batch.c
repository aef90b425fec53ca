/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of batches and of pprf_expand. */
#include <sys/mman.h>

#include "selftest.h"

/* ---- tests: many leaves ---- */

static pprf_key *copy_of(const pprf_key *key)
{
  size_t len = 0;
  pprf_key *copy = NULL;
  check(pprf_export(key, NULL, &len) == PPRF_OK, "export, length");
  uint8_t *file = must(malloc(len));
  check(pprf_export(key, file, &len) == PPRF_OK && import_slots(&copy, file, len) == PPRF_OK,
        "copy");
  free(file);
  return must(copy);
}

/* Compare eval_batch with eval.  It may make at most the PRG calls of separate walks, and
 * exactly `calls` if that is not NULL. */
static void check_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n,
                             const uint64_t *calls)
{
  uint8_t *out = must(malloc(n * PPRF_SEED_BYTES + 1)), one[PPRF_SEED_BYTES];
  int *result = must(malloc((n + 1) * sizeof *result));
  uint64_t single = 0, before = expansions;
  memset(out, 1, n * PPRF_SEED_BYTES + 1);
  result[n] = 99;
  check(pprf_eval_batch(key, leaf, n, out, result) == PPRF_OK, "eval_batch");
  uint64_t batch = expansions - before;
  for (size_t i = 0; i < n && !failed; i++) {
    before = expansions;
    int err = pprf_eval(key, leaf[i], one);
    single += expansions - before;
    check(result[i] == err && memcmp(out + i * PPRF_SEED_BYTES, one, sizeof one) == 0,
          "leaf %llu, the %zuth of %zu: result %d, not %d, or another value",
          (unsigned long long)leaf[i], i, n, result[i], err);
  }
  check(out[n * PPRF_SEED_BYTES] == 1 && result[n] == 99, "written past the end");
  check(batch <= single, "%llu PRG calls, %llu one by one", (unsigned long long)batch,
        (unsigned long long)single);
  check(calls == NULL || batch == *calls, "%llu PRG calls for leaves in order, not %llu",
        (unsigned long long)batch, (unsigned long long)(calls == NULL ? 0 : *calls));
  free(out);
  free(result);
}

static int ascending(const void *a, const void *b)
{
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Compare batches with single calls, on a key and its model; both end with the leaves punctured. */
static void check_batches(pprf_key *key, struct model *m, uint64_t *leaf, size_t n)
{
  int *result = must(malloc((n + 1) * sizeof *result));
  pprf_key *single = copy_of(key);
  check_eval_batch(key, leaf, n, NULL);
  pprf_key *before_punct = copy_of(key);
  uint64_t before = expansions;
  check(pprf_punct_batch(key, leaf, n, result) == PPRF_OK, "punct_batch");
  uint64_t batch = expansions - before;
  before = expansions;
  for (size_t i = 0; i < n && !failed; i++) {
    int err = pprf_punct(single, leaf[i]);
    check(result[i] == err, "leaf %llu, the %zuth of %zu: result %d, not %d",
          (unsigned long long)leaf[i], i, n, result[i], err);
    model_puncture(m, leaf[i], leaf[i]);
  }
  check(batch == expansions - before, "%llu PRG calls, one by one %llu", (unsigned long long)batch,
        (unsigned long long)(expansions - before));
  check_key(key, m, 1);
  qsort(leaf, n, sizeof *leaf,
        ascending); /* the inner nodes above live leaves are those of punct */
  check_eval_batch(before_punct, leaf, n, n <= 1024 ? &batch : NULL);
  check_eval_batch(key, leaf, n, NULL);
  pprf_free(before_punct);
  pprf_free(single);
  free(result);
}

struct taken {
  uint64_t first, last, next, live; /* leaves before next are done */
  const pprf_key *key;
  unsigned calls, stop_at;
};

static int take(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct taken *t = arg;
  uint8_t one[PPRF_SEED_BYTES];
  check(n > 0 && leaf >= t->next && leaf + n - 1 <= t->last, "run %llu + %zu",
        (unsigned long long)leaf, n);
  for (size_t i = 0; i < n && !failed; i++)
    check(pprf_eval(t->key, leaf + i, one) == PPRF_OK &&
            memcmp(one, values + i * PPRF_SEED_BYTES, sizeof one) == 0,
          "value of leaf %llu", (unsigned long long)(leaf + i));
  t->next = leaf + n;
  t->live += n;
  return ++t->calls == t->stop_at ? -7 : 0;
}

static void check_expand(const pprf_key *key, const struct model *m, uint64_t first, uint64_t last)
{
  struct taken t = {.first = first, .last = last, .next = first, .key = key};
  uint64_t live = 0, inner = 0, before = prg_calls(), x = first;
  while ((x = model_next_live(m, x)) <= last) { /* node by node */
    unsigned height = model_height(m, x);
    uint64_t end = ((x >> height) + 1) << height, to = end - 1 < last ? end - 1 : last;
    live += to - x + 1;
    for (unsigned h = 1; h <= height; h++)
      inner += (to >> h) - (x >> h) + 1;
    x = end;
  }
  uint64_t calls = expansions;
  check(pprf_expand(key, first, last, ignore, NULL) == PPRF_OK, "expand");
  check(expansions - calls == inner, "%llu PRG calls for %llu inner nodes",
        (unsigned long long)(expansions - calls), (unsigned long long)inner);
  check(prg_calls() - before == inner, "prg_calls");
  check(pprf_expand(key, first, last, take, &t) == PPRF_OK, "expand");
  check(t.live == live, "%llu live leaves of %llu", (unsigned long long)t.live,
        (unsigned long long)live);
  if (t.calls > 1) {
    struct taken stopped = {.first = first, .last = last, .next = first, .key = key, .stop_at = 2};
    check(pprf_expand(key, first, last, take, &stopped) == -7 && stopped.calls == 2, "stopped");
  }
}

void test_batches_small(void)
{
  struct model m = {0};
  for (unsigned depth = 1; depth <= 3; depth++) {
    unsigned sets = 1u << (1u << depth);
    for (unsigned set = 0; set < sets && !failed;
         set += depth < 3 ? 1 : 1 + (unsigned)rnd_below(15))
      for (unsigned batch = 0; batch < sets && !failed; batch++) {
        uint64_t leaf[16];
        size_t n = 0;
        pprf_key *key = new_key(&m, depth);
        snprintf(context, sizeof context, "depth %u set %x batch %x", depth, set, batch);
        for (uint64_t x = 0; x < leaves(&m); x++)
          if (set >> x & 1)
            puncture(key, &m, x, x);
        for (uint64_t x = leaves(&m); x-- > 0;)
          if (batch >> x & 1)
            leaf[n++] = x;
        if (n > 0 && batch & 2)
          leaf[n] = leaf[rnd_below(n)], n++;
        if (batch == 0)
          for (uint64_t first = 0; first < leaves(&m); first++)
            for (uint64_t last = first; last < leaves(&m); last++)
              check_expand(key, &m, first, last);
        check_batches(key, &m, leaf, n);
        pprf_free(key);
      }
  }
  free(m.punctured);
  end_test("batches_are_single_calls_on_small_trees");
}

void test_batches_random(void)
{
  struct model m = {0};
  static uint64_t leaf[1 << 15];
  for (unsigned round = 0; round < 224 && !failed; round++) {
    unsigned depth = 1 + round % 32;
    pprf_key *key = new_key(&m, depth);
    snprintf(context, sizeof context, "depth %u round %u", depth, round);
    for (uint64_t n = rnd_below(20); n > 0; n--) {
      uint64_t first = some_leaf(&m),
               last = first + (rnd_below(leaves(&m) - first) >> rnd_below(9));
      if (last - first <= leaves(&m) / 4)
        puncture(key, &m, first, last);
    }
    size_t n = rnd_below(rnd_below(8) == 0 ? 5000 : 40);
    uint64_t base = rnd_below(leaves(&m)), spread = 1 + rnd_below(rnd_below(2) ? leaves(&m) : 3000);
    for (size_t i = 0; i < n; i++)
      leaf[i] = rnd_below(5) == 0 ? some_leaf(&m) : (base + rnd_below(spread)) & (leaves(&m) - 1);
    if (depth > 20 && round % 3 == 0) /* all leaves at borders */
      for (size_t i = 0; i < n; i++)
        leaf[i] = some_leaf(&m);
    check_batches(key, &m, leaf, n);
    uint64_t first = some_leaf(&m), last = first + rnd_below(1 + rnd_below(6000));
    if (last < leaves(&m))
      check_expand(key, &m, first, last);
    if (depth <= 12)
      check_expand(key, &m, 0, leaves(&m) - 1);
    pprf_free(key);
  }
  pprf_key *key = new_key(&m, 16); /* two batches empty it: its pages are released */
  for (uint64_t x = 0; x < 32768; x++)
    leaf[x] = 2 * x;
  check_batches(key, &m, leaf, 32768);
  for (uint64_t x = 0; x < 32768; x++)
    leaf[x] = 65535 - 2 * x;
  check_batches(key, &m, leaf, 32768);
  check(pprf_node_count(key) == 0 && kernel_bytes(key) <= 4096, "%zu nodes, %zu B",
        pprf_node_count(key), kernel_bytes(key));
  pprf_free(key);
  free(m.punctured);
  end_test("batches_are_single_calls_on_random_keys");
}

/* ---- what a batch leaves behind */

enum { MOST = 3000, PART = 10, HEIGHTS = WATCHED / PART / 2 };

/* Watch the nodes above some leaves and their siblings. */
static void watch_leaves(unsigned depth, const uint64_t *leaf, size_t n)
{
  seen_in_free = watching = 0;
  for (size_t i = 0; i < n && i < PART; i++)
    for (unsigned k = 0; k < 2 * HEIGHTS; k++)
      watched[watching++] = node_seed(
        depth, (struct opt_node){.start = (leaf[i] >> k / 2 ^ k % 2) << k / 2, .height = k / 2});
}

/* Values that a callback was given, and how many bytes of them were not zero at the end. */
static const uint8_t *given[64];
static size_t given_bytes[64];
static unsigned given_times;

static int note_given(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)arg;
  (void)leaf;
  if (given_times < 64) {
    given_bytes[given_times] = n * PPRF_SEED_BYTES;
    given[given_times++] = values;
  }
  return 0;
}

static size_t left_of_given(void)
{
  size_t left = 0;
  unsigned char resident;
  for (unsigned i = 0; i < given_times; i++)
    for (size_t k = 0; k < given_bytes[i]; k++) {
      uintptr_t page = (uintptr_t)(given[i] + k) / 4096 * 4096;
      if (mincore((void *)page, 1, &resident) == 0)
        left += given[i][k] != 0;
      else
        k = page + 4095 - (uintptr_t)given[i];
    }
  return left;
}

/* Whatever part of it the leaf is in, and whether it succeeds or a PRG call fails: an early one,
 * one in the middle, the last. */
void test_batch_residue(void)
{
  static const size_t sizes[] = {1, 700, 1023, 1024, 1025, 1500, 2048, 2100, MOST};
  static uint64_t leaf[MOST];
  static uint8_t out[MOST * PPRF_SEED_BYTES];
  struct model m = {0};
  for (size_t i = 0; i < MOST; i++)
    leaf[i] = 2 * (i * 1009 % 4096) + i % 2;
  for (unsigned k = 0; k < sizeof sizes / sizeof *sizes && !failed; k++)
    for (size_t part = 0, n = sizes[k]; part < n; part += n / 4 + 1)
      for (unsigned op = 0; op < 4; op++) { /* evaluate, puncture; both once more, and fail */
        pprf_key *key = new_key(&m, 13);
        snprintf(context, sizeof context, "op %u on %zu leaves, from leaf %zu", op, n, part);
        if (op >= 2) {
          expansions = 0;
          pprf_key *other = copy_of(key);
          (void)(op == 2 ? pprf_eval_batch(other, leaf, n, out, NULL)
                         : pprf_punct_batch(other, leaf, n, NULL));
          pprf_free(other);
          fail_at = expansions - expansions * (part % 4) / 4;
        }
        watch_leaves(13, leaf + part, n - part);
        int err = op % 2 == 0 ? pprf_eval_batch(key, leaf, n, out, NULL)
                              : pprf_punct_batch(key, leaf, n, NULL);
        watching = 0;
        check(err == (op < 2 ? PPRF_OK : PPRF_ERR_CRYPTO), "result %d", err);
        check(seen_in_free == 0, "%u words of seeds in freed memory", seen_in_free);
        fail_at = 0;
        pprf_free(key);
      }
  for (uint64_t last = 1; last < 8192 && !failed; last = 3 * last + 400) {
    pprf_key *key = new_key(&m, 13);
    given_times = 0;
    check(pprf_expand(key, last / 3, last, note_given, NULL) == PPRF_OK && given_times > 0,
          "expand");
    check(left_of_given() == 0, "%zu bytes that a callback was given", left_of_given());
    pprf_free(key);
  }
  free(m.punctured);
  end_test("no_part_of_a_batch_leaves_a_seed");
}

void test_batch_errors(void)
{
  struct model m = {0};
  pprf_key *key = new_key(&m, 10);
  uint64_t leaf[40];
  uint8_t out[40 * PPRF_SEED_BYTES], zero[40 * PPRF_SEED_BYTES] = {0};
  int result[40];
  puncture(key, &m, 5, 5);
  puncture(key, &m, 100, 300);
  for (unsigned i = 0; i < 40; i++)
    leaf[i] = (i * 389 + 7) & 1023;
  for (unsigned op = 0; op < 3; op++)
    for (uint64_t nth = 1; !failed; nth++) { /* the nth PRG call fails */
      int err;
      pprf_key *copy = copy_of(key);
      snprintf(context, sizeof context, "op %u fails at call %llu", op, (unsigned long long)nth);
      memset(out, 1, sizeof out);
      fail_at = nth;
      if (op == 0)
        err = pprf_eval_batch(copy, leaf, 40, out, result);
      else if (op == 1)
        err = pprf_punct_batch(copy, leaf, 40, result);
      else
        err = pprf_expand(copy, 3, 900, ignore, NULL);
      int reached = fail_at == 0;
      fail_at = 0;
      if (reached) {
        check(err == PPRF_ERR_CRYPTO, "result %d", err);
        check(op == 2 || (result[0] == err && result[39] == err), "results");
        check(op != 0 || memcmp(out, zero, sizeof out) == 0, "output not zeroed");
        check_key(copy, &m, 1);
      }
      pprf_free(copy);
      if (!reached) {
        check(err == PPRF_OK && nth > 40, "result %d after %llu calls", err,
              (unsigned long long)nth);
        break;
      }
    }
  context[0] = 0;
  leaf[39] = 1024;
  memset(out, 1, sizeof out);
  check(pprf_eval_batch(key, leaf, 40, out, result) == PPRF_ERR_RANGE &&
          memcmp(out, zero, sizeof out) == 0 && result[0] == PPRF_ERR_RANGE,
        "eval_batch, range");
  check(pprf_punct_batch(key, leaf, 40, result) == PPRF_ERR_RANGE && result[0] == PPRF_ERR_RANGE,
        "punct_batch, range");
  memset(out, 1, sizeof out);
  check(pprf_eval_batch(NULL, leaf, 40, out, NULL) == PPRF_ERR_NULL &&
          memcmp(out, zero, sizeof out) == 0,
        "eval_batch, no key");
  check(pprf_eval_batch(key, NULL, 40, out, NULL) == PPRF_ERR_NULL &&
          pprf_eval_batch(key, leaf, 40, NULL, result) == PPRF_ERR_NULL &&
          pprf_punct_batch(NULL, leaf, 40, NULL) == PPRF_ERR_NULL &&
          pprf_punct_batch(key, NULL, 40, NULL) == PPRF_ERR_NULL,
        "null");
  check(pprf_eval_batch(key, NULL, 0, NULL, NULL) == PPRF_OK &&
          pprf_punct_batch(key, NULL, 0, NULL) == PPRF_OK,
        "no leaves");
  check(pprf_expand(key, 0, 1024, ignore, NULL) == PPRF_ERR_RANGE &&
          pprf_expand(key, 2, 1, ignore, NULL) == PPRF_ERR_RANGE &&
          pprf_expand(NULL, 0, 1, ignore, NULL) == PPRF_ERR_NULL &&
          pprf_expand(key, 0, 1, NULL, NULL) == PPRF_ERR_NULL,
        "expand, arguments");
  check_key(key, &m, 1);
  pprf_free(key);
  free(m.punctured);
  end_test("a_batch_that_fails_changes_nothing");
}

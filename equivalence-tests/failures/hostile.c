/* SPDX-License-Identifier: Apache-2.0 */
/* Callers that break the rules, and heaps that were used before: arrays that change while they are
 * read, outputs that overlap inputs, impossible lengths, key files that change between check and
 * use. Such a caller may get wrong results, but nothing outside the outputs is written and no other
 * error occurs (the same program with ASan: hostile-asan).
 *
 * Changing memory is simulated by inaccessible pages: the first access to a page opens it and
 * closes the earlier ones, so a second access is detected, and then the bytes change. */
#include <signal.h>
#include <sys/mman.h>

#include "impls.h"
#include "../../tools/tap.h"

static const uint8_t root[16] = {7};

/* ref's function, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);

static int eval_batch(int i, const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                      int *result)
{
  return (stores[i] == &impl_ref ? ref_pprf_eval_batch : pprf_eval_batch)(key, leaf, n, out,
                                                                          result);
}

static int punct_batch(int i, pprf_key *key, const uint64_t *leaf, size_t n, int *result)
{
  return (stores[i] == &impl_ref ? ref_pprf_punct_batch : pprf_punct_batch)(key, leaf, n, result);
}

static void *block(size_t bytes)
{
  void *p = malloc(bytes);
  if (p == NULL)
    abort();
  return p;
}

static uint8_t *export(const struct pprf_impl *impl, const pprf_key *key, size_t *len)
{
  *len = 0;
  if (impl->export_key(key, NULL, len) != PPRF_OK)
    abort();
  uint8_t *file = block(*len);
  if (impl->export_key(key, file, len) != PPRF_OK)
    abort();
  return file;
}

/* pages that detect accesses */

#define PAGES_MAX 64
static struct {
  uint8_t *at;
  size_t page, pages;
  size_t open[2];            /* accessible pages, the last one opened first; ~0: none */
  unsigned window;           /* how many pages stay open: 2 if one access can cross a border */
  unsigned touch[PAGES_MAX]; /* how often each page was opened */
  unsigned change_at;        /* the opening at which the page's bytes change */
  unsigned changed;
  void (*change)(uint8_t *page, size_t bytes);
} watch;

static void shut(size_t k)
{
  if (k < watch.pages)
    (void)mprotect(watch.at + k * watch.page, watch.page, PROT_NONE);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
  (void)context;
  size_t off = (size_t)((uint8_t *)info->si_addr - watch.at);
  if (watch.at == NULL || (uint8_t *)info->si_addr < watch.at || off >= watch.pages * watch.page) {
    signal(sig, SIG_DFL);
    return;
  }
  size_t k = off / watch.page;
  uint8_t *page = watch.at + k * watch.page;
  (void)mprotect(page, watch.page, PROT_READ | PROT_WRITE);
  if (++watch.touch[k] == watch.change_at) {
    watch.change(page, watch.page);
    watch.changed++;
  }
  shut(watch.open[watch.window - 1]);
  watch.open[1] = watch.open[0];
  watch.open[0] = k;
}

/* Copy bytes to watched pages; the copy ends where the pages end unless `aligned`. */
static uint8_t *watched(const void *bytes, size_t n, int aligned, unsigned window)
{
  watch.page = (size_t)sysconf(_SC_PAGESIZE);
  watch.pages = (n + watch.page - 1) / watch.page;
  if (watch.pages > PAGES_MAX)
    abort();
  watch.window = window;
  watch.open[0] = watch.open[1] = SIZE_MAX;
  memset(watch.touch, 0, sizeof watch.touch);
  watch.changed = 0;
  watch.at = mmap(NULL, watch.pages * watch.page, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (watch.at == MAP_FAILED)
    abort();
  uint8_t *at = watch.at + (aligned ? 0 : watch.pages * watch.page - n);
  memcpy(at, bytes, n);
  for (size_t k = 0; k < watch.pages; k++)
    shut(k);
  return at;
}

static void unwatch(void)
{
  (void)munmap(watch.at, watch.pages * watch.page);
  watch.at = NULL;
}

static void leave_the_tree(uint8_t *page, size_t bytes)
{
  memset(page, 0xfe, bytes);
}

/* ---------------------------------------------------------------- batches */

#define N 8192
#define DEPTH 14

static void leaves_are_read_once(int i, uint64_t seed)
{
  static uint64_t leaf[N];
  uint8_t *out = block(N * 16);
  int *result = block(N * sizeof *result);
  pprf_key *key;
  (void)seed;
  int ok = stores[i]->setup(&key, DEPTH, root) == PPRF_OK;
  for (size_t k = 0; k < N; k++)
    leaf[k] = (k * 5) % (1u << DEPTH);
  watch.change = leave_the_tree;
  watch.change_at = 2;
  const uint64_t *at = (const uint64_t *)(void *)watched(leaf, sizeof leaf, 1, 1);
  ok &= eval_batch(i, key, at, N, out, result) == PPRF_OK && watch.changed == 0;
  for (size_t k = 0; ok && k < watch.pages; k++)
    ok = watch.touch[k] == 1;
  unwatch();
  tap_ok(ok, "%s_eval_batch_reads_each_leaf_once", stores[i]->name);

  at = (const uint64_t *)(void *)watched(leaf, sizeof leaf, 1, 1);
  ok = punct_batch(i, key, at, N, result) == PPRF_OK && watch.changed == 0;
  for (size_t k = 0; ok && k < watch.pages; k++)
    ok = watch.touch[k] == 1;
  unwatch();
  for (size_t k = 0; ok && k < N; k++)
    ok = stores[i]->eval(key, leaf[k], out) == PPRF_ERR_PUNCTURED;
  tap_ok(ok, "%s_punct_batch_reads_each_leaf_once", stores[i]->name);
  stores[i]->free(key);
  free(result);
  free(out);
}

/* Overlap each of the three arrays with each other one by this many bytes; the block ends where
 * the last array ends. */
static void arrays_that_overlap(int i, uint64_t seed)
{
  (void)seed;
  enum { n = 2048, LEAF = n * 8, OUT = n * 16, RESULT = n * 4 };
  static const size_t shift[] = {0, 8, 16, 4096, 8192, LEAF - 8};
  pprf_key *key;
  size_t len[2];
  int ok =
    stores[i]->setup(&key, DEPTH, root) == PPRF_OK &&
    stores[i]->punct_range(key, 77, (1u << DEPTH) - 1) == PPRF_OK; /* most leaves cost nothing */
  uint8_t *before = export(stores[i], key, &len[0]);
  for (size_t s = 0; s < sizeof shift / sizeof *shift; s++)
    for (int kind = 0; kind < 5; kind++) {
      size_t leaf_at = kind == 1 || kind == 3 ? shift[s] : 0, out_at = kind == 0 ? shift[s] : 0;
      size_t result_at = kind == 0 ? out_at + OUT : kind == 1 ? leaf_at + LEAF + OUT : 0;
      size_t bytes = OUT + RESULT + LEAF + leaf_at + out_at + result_at;
      uint8_t *memory = block(bytes), *end = memory + bytes;
      memset(memory, 0, bytes);
      if (kind == 1) /* leaves at the output's end, overwritten before they are read */
        leaf_at = OUT - LEAF;
      if (kind == 2) { /* results overlap leaves */
        leaf_at = 0;
        result_at = shift[s] % LEAF;
        out_at = LEAF + RESULT;
      }
      if (kind == 3) { /* results overlap values */
        out_at = 0;
        result_at = shift[s];
        leaf_at = OUT + RESULT;
      }
      if (kind == 4) { /* an exact block, at whose end all three arrays end */
        leaf_at = bytes - LEAF;
        out_at = bytes - OUT;
        result_at = bytes - RESULT;
      }
      uint64_t *leaf = (uint64_t *)(void *)(memory + leaf_at / 8 * 8);
      int *result = (int *)(void *)(memory + result_at / 4 * 4);
      uint8_t *out = memory + out_at;
      for (int call = 0; call < 2; call++) {
        for (size_t k = 0; k < n; k++)
          leaf[k] = (k * 7) % (1u << DEPTH);
        if ((uint8_t *)(leaf + n) > end || out + OUT > end || (uint8_t *)(result + n) > end)
          abort();
        int err = eval_batch(i, key, leaf, n, out, call ? result : NULL);
        ok &= err == PPRF_OK || err == PPRF_ERR_RANGE;
      }
      free(memory);
    }
  uint8_t *after = export(stores[i], key, &len[1]);
  ok &= len[0] == len[1] && memcmp(before, after, len[0]) == 0;
  free(before);
  free(after);
  for (size_t s = 0; s < sizeof shift / sizeof *shift; s++) {
    uint8_t *memory = block(LEAF + RESULT);
    uint64_t *leaf = (uint64_t *)(void *)memory;
    for (size_t k = 0; k < n; k++)
      leaf[k] = (k * 7 + s) % (1u << DEPTH);
    int err = punct_batch(i, key, leaf, n, (int *)(void *)(memory + shift[s] / 4 * 4));
    ok &= err == PPRF_OK;
    free(memory);
  }
  stores[i]->free(key);
  tap_ok(ok, "%s_batches_keep_to_their_memory_when_arrays_overlap", stores[i]->name);
}

static void lengths_that_no_array_has(int i, uint64_t seed)
{
  (void)seed;
  static const size_t n[] = {SIZE_MAX / 16 + 1, SIZE_MAX / 8, SIZE_MAX / 4 + 1, SIZE_MAX - 1,
                             SIZE_MAX};
  uint64_t leaf[2] = {1, 2};
  uint8_t out[64], same[64];
  int result[4] = {77, 77, 77, 77};
  pprf_key *key;
  int ok = stores[i]->setup(&key, DEPTH, root) == PPRF_OK;
  memset(out, 0xee, sizeof out);
  memset(same, 0xee, sizeof same);
  for (size_t k = 0; ok && k < sizeof n / sizeof *n; k++) {
    ok &= eval_batch(i, key, leaf, n[k], out, result) == PPRF_ERR_NOMEM;
    ok &= eval_batch(i, key, NULL, n[k], out, result) == PPRF_ERR_NOMEM;
    ok &= eval_batch(i, NULL, leaf, n[k], out, NULL) == PPRF_ERR_NOMEM;
    ok &= punct_batch(i, key, leaf, n[k], result) == PPRF_ERR_NOMEM;
    ok &= punct_batch(i, NULL, leaf, n[k], result) == PPRF_ERR_NOMEM;
    for (int r = 0; r < 4; r++)
      ok &= result[r] == 77;
    ok &= memcmp(out, same, sizeof out) == 0 && stores[i]->node_count(key) == 1;
  }
  stores[i]->free(key);
  tap_ok(ok, "%s_batches_longer_than_memory_write_nothing", stores[i]->name);
}

/* heaps that were used before */

static void used_heaps(int i, uint64_t seed)
{
  enum { BLOCKS = 400, ROUNDS = 2000, STEPS = 60 };
  void *held[BLOCKS] = {0};
  int ok = 1;
  for (int round = 0; ok && round < ROUNDS; round++) {
    for (int k = 0; k < STEPS; k++) { /* chunks of all sizes near a key's, some free, some not */
      size_t at = tap_random(&seed) % BLOCKS;
      free(held[at]);
      held[at] = tap_random(&seed) % 3
                   ? block(1 + tap_random(&seed) % (tap_random(&seed) % 4 ? 120 : 3000))
                   : NULL;
    }
    pprf_key *a, *b;
    uint64_t leaf[8];
    size_t len[2];
    ok = stores[i]->setup(&a, DEPTH, root) == PPRF_OK;
    ok = stores[i]->setup(&b, DEPTH, root) == PPRF_OK && ok;
    for (int k = 0; k < 8; k++) {
      leaf[k] = tap_random(&seed) % (1u << DEPTH);
      int err = stores[i]->punct(b, leaf[k]);
      ok &= err == PPRF_OK || err == PPRF_ERR_PUNCTURED;
    }
    ok = ok && punct_batch(i, a, leaf, 8, NULL) == PPRF_OK;
    uint8_t *x = export(stores[i], a, &len[0]), *y = export(stores[i], b, &len[1]);
    ok = ok && len[0] == len[1] && memcmp(x, y, len[0]) == 0;
    free(x);
    free(y);
    stores[i]->free(a);
    stores[i]->free(b);
  }
  for (int k = 0; k < BLOCKS; k++)
    free(held[k]);
  tap_ok(ok, "%s_batches_are_right_on_a_heap_filled_at_random", stores[i]->name);
}

/* ---------------------------------------------------------------- key files */

static void ids_run_wild(uint8_t *page, size_t bytes)
{
  for (size_t k = 0; k < bytes; k++)
    page[k] = (uint8_t)(page[k] * 29 + k * k + 0x55);
}

static void ids_are_zero(uint8_t *page, size_t bytes)
{
  memset(page, 0, bytes);
}

static void ids_are_ones(uint8_t *page, size_t bytes)
{
  memset(page, 0xff, bytes);
}

/* The bytes change when a page is accessed for the t-th time: before the check, between check
 * and digest, or between digest and use. */
static void files_that_change(int i, uint64_t seed)
{
  (void)seed;
  static void (*const change[])(uint8_t *, size_t) = {leave_the_tree, ids_run_wild, ids_are_zero,
                                                      ids_are_ones};
  static const unsigned depths[] = {9, 14, 20, 31, 33, 63};
  int ok = 1, taken = 0, refused = 0;
  unsigned passes = 0;
  for (size_t d = 0; ok && d < sizeof depths / sizeof *depths; d++) {
    pprf_key *key;
    size_t len;
    const struct pprf_impl *writer = too_deep(stores[i], depths[d]) ? &impl_ref : stores[i];
    ok = writer->setup(&key, depths[d], root) == PPRF_OK;
    for (uint64_t k = 0; ok && k < 180; k++)
      ok = writer->punct(key, (k * 40503) % (UINT64_C(1) << depths[d])) == PPRF_OK;
    uint8_t *file = export(writer, key, &len);
    size_t nodes = writer->node_count(key);
    writer->free(key);
    for (unsigned t = 1; ok && t <= 6; t++)
      for (size_t c = 0; ok && c < sizeof change / sizeof *change; c++) {
        pprf_key *in = NULL;
        watch.change = change[c];
        watch.change_at = t;
        uint8_t *at = watched(file, len, 0, 2);
        int err = stores[i]->import_key(&in, at, len);
        for (size_t p = 0; p < watch.pages; p++)
          passes = watch.touch[p] > passes ? watch.touch[p] : passes;
        unwatch();
        int refusal = too_deep(stores[i], depths[d]) && err != PPRF_ERR_FORMAT ? PPRF_ERR_NOMEM
                                                                               : PPRF_ERR_FORMAT;
        ok &= err == PPRF_OK ? in != NULL : err == refusal && in == NULL;
        if (err == PPRF_OK) { /* a usable key with this many nodes, though a different one */
          pprf_key *again = NULL;
          size_t n;
          ok &= stores[i]->node_count(in) == nodes;
          uint8_t *bytes = export(stores[i], in, &n), value[16];
          ok &= stores[i]->import_key(&again, bytes, n) == PPRF_OK;
          ok &= stores[i]->eval(in, 3, value) <= PPRF_ERR_PUNCTURED;
          ok &= stores[i]->punct_range(in, 0, 300) <= PPRF_ERR_PUNCTURED;
          stores[i]->free(again);
          free(bytes);
        }
        *(err == PPRF_OK ? &taken : &refused) += 1;
        stores[i]->free(in);
      }
    free(file);
  }
  tap_note("pages were read up to %u times; %d files accepted, %d refused", passes, taken, refused);
  tap_ok(ok && passes >= 2 && taken > 0 && refused > 0,
         "%s_import_of_bytes_that_change_gives_a_key_or_an_error", stores[i]->name);
}

/* Each prefix of a file ends at the end of a page, and the next page is inaccessible. */
static void files_that_end_early(int i, uint64_t seed)
{
  (void)seed;
  static const uint8_t long_root[32] = {7};
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + page, page, PROT_NONE) != 0)
    abort();
  int ok = 1;
  for (unsigned suite = PPRF_SHA3_256; ok && suite <= PPRF_MLS_SHA256; suite++) {
    const struct pprf_options o = {.size = sizeof o, .seed = long_root, .depth = 9, .suite = suite};
    pprf_key *key, *in = NULL;
    size_t len;
    if (stores[i]->setup_with(&key, &o) != PPRF_OK || stores[i]->punct(key, 3) != PPRF_OK)
      abort();
    uint8_t *file = export(stores[i], key, &len);
    stores[i]->free(key);
    for (size_t n = 0; ok && n < len; n++) {
      memcpy(pages + page - n, file, n);
      ok = import_any(stores[i], &in, pages + page - n, n) == PPRF_ERR_FORMAT && in == NULL;
    }
    memcpy(pages + page - len, file, len);
    ok = ok && import_any(stores[i], &in, pages + page - len, len) == PPRF_OK;
    stores[i]->free(in);
    free(file);
  }
  (void)munmap(pages, 2 * page);
  tap_ok(ok, "%s_import_reads_a_file_to_its_end_and_no_further", stores[i]->name);
}

/* A whole file of version 1, after the first 20 bytes of one of version 2: a reader that
 * continues after the error in the outer file finds a valid inner one. */
static void files_in_files(int i, uint64_t seed)
{
  static const uint64_t counts[] = {0, 1, 3, 1 << 20, UINT64_C(1) << 32, UINT64_MAX};
  pprf_key *key, *in = NULL;
  uint8_t file[20 + 512] = {0}, out[16];
  size_t len = sizeof file - 20;
  (void)seed;
  int ok = 1;
  if (stores[i]->setup(&key, 5, root) != PPRF_OK || stores[i]->punct(key, 3) != PPRF_OK ||
      stores[i]->export_key(key, file + 20, &len) != PPRF_OK)
    abort();
  stores[i]->free(key);
  for (unsigned suite = 0; suite < 256; suite++)
    for (unsigned k = 0; k < 2 * (sizeof counts / sizeof *counts); k++) {
      memcpy(file, "PPRFKEY\2", 8);
      file[8] = (uint8_t)suite;
      file[9] = k & 1 ? 5 : 40;
      for (unsigned b = 0; b < 8; b++)
        file[12 + b] = (uint8_t)(counts[k / 2] >> 8 * b);
      in = (pprf_key *)(uintptr_t)16;
      ok &= import_any(stores[i], &in, file, 20 + len) != PPRF_OK && in == NULL;
    }
  ok = ok && import_any(stores[i], &in, file + 20, len) == PPRF_OK &&
       stores[i]->eval(in, 4, out) == PPRF_OK && stores[i]->eval(in, 3, out) == PPRF_ERR_PUNCTURED;
  stores[i]->free(in);
  tap_ok(ok, "%s_import_refuses_a_file_in_a_file", stores[i]->name);
}

/* A file that counts 2^32 nodes, more than allowed, and has room for far fewer, is refused,
 * however much memory there is. What follows its header is not examined. */
static void counts_of_long_files(int i, uint64_t seed)
{
  enum { RECORD = 1 + 16 }; /* of a node at depth 5 */
  const size_t most = (UINT64_C(1) << 32) / RECORD + 4096;
  uint8_t *file =
    mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  pprf_key *in = (pprf_key *)(uintptr_t)16;
  (void)seed;
  if (file == MAP_FAILED)
    abort();
  memcpy(file, "PPRFKEY\2", 8);
  file[8] = PPRF_SHA3_256_SALTED;
  file[9] = 5;
  file[16] = 1; /* the fifth of the count's eight bytes */
  tap_ok(import_any(stores[i], &in, file, most) == PPRF_ERR_FORMAT && in == NULL,
         "%s_import_refuses_a_count_that_its_file_is_too_short_for", stores[i]->name);
  (void)munmap(file, most);
}

/* ---------------------------------------------------------------- the arena of packed keys, through --wrap */

static long blocks; /* in use */

void *__real_opt_arena_take(size_t bytes);
void *__wrap_opt_arena_take(size_t bytes);
void *__wrap_opt_arena_take(size_t bytes)
{
  void *p = __real_opt_arena_take(bytes);
  blocks += p != NULL;
  return p;
}

void __real_opt_arena_give(void *p, size_t bytes);
void __wrap_opt_arena_give(void *p, size_t bytes);
void __wrap_opt_arena_give(void *p, size_t bytes)
{
  blocks -= p != NULL;
  __real_opt_arena_give(p, bytes);
}

int main(int argc, char **argv)
{
  static void (*const test[])(int, uint64_t) = {
    leaves_are_read_once, arrays_that_overlap, lengths_that_no_array_has,
    used_heaps,           files_that_change,   files_that_end_early,
    files_in_files,       counts_of_long_files};
  enum { TESTS = sizeof test / sizeof *test };

  uint64_t seed = tap_seed();
  tap_note("SEED=%llu", (unsigned long long)seed);
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
  sigaction(SIGSEGV, &action, NULL);
  for (int i = 0; i < STORES; i++)
    for (int k = 0; k < TESTS; k++)
      if (argc < 2 || atoi(argv[1]) == TESTS * i + k) /* only this test */
        test[k](i, seed);
  tap_ok(blocks == 0, "no_block_of_a_refused_key_is_kept");
  return tap_end();
}

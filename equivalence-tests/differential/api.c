/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the API that sequences of operations do not reach: null pointers, depths out of
 * range, random roots, the default suite, error texts, keys in shared memory across a fork. */
#include <sys/wait.h>

#include "../../opt/shared.h"
#include "impls.h"
#include "prg.h"
#include "../../tools/tap.h"

static const uint8_t zero[16], root[16] = {7};

/* ref's function, renamed */
const char *ref_pprf_strerror(int err);

static void nulls(const struct pprf_impl *impl)
{
  uint8_t out[16], file[100];
  pprf_key *key;
  size_t len = sizeof file;
  int ok = impl->setup(NULL, 5, root) == PPRF_ERR_NULL;
  ok &= impl->setup(&key, 5, root) == PPRF_OK;
  ok &= impl->eval(key, 1, NULL) == PPRF_ERR_NULL;
  ok &= impl->eval(NULL, 1, NULL) == PPRF_ERR_NULL;
  memset(out, 0xee, 16);
  ok &= impl->eval(NULL, 1, out) == PPRF_ERR_NULL && memcmp(out, zero, 16) == 0;
  ok &= impl->punct(NULL, 1) == PPRF_ERR_NULL;
  ok &= impl->eval_punct(key, 1, NULL) == PPRF_ERR_NULL && impl->node_count(key) == 1;
  memset(out, 0xee, 16);
  ok &= impl->eval_punct(NULL, 1, out) == PPRF_ERR_NULL && memcmp(out, zero, 16) == 0;
  ok &= impl->punct_range(NULL, 1, 2) == PPRF_ERR_NULL;
  pprf_key *sub = key;
  ok &= impl->delegate(NULL, 1, 2, &sub) == PPRF_ERR_NULL && sub == NULL;
  ok &= impl->delegate(key, 1, 2, NULL) == PPRF_ERR_NULL;
  ok &= impl->node_count(NULL) == 0 && impl->memory_bytes(NULL) == 0 && impl->depth(NULL) == 0 &&
        impl->memory_locked(NULL) == 0;
  ok &= impl->export_key(NULL, file, &len) == PPRF_ERR_NULL;
  ok &= impl->export_key(key, file, NULL) == PPRF_ERR_NULL;
  ok &= impl->export_key(key, file, &len) == PPRF_OK && len == 65;
  impl->free(key);
  ok &= impl->import_key(NULL, file, len) == PPRF_ERR_NULL;
  key = (pprf_key *)(uintptr_t)16;
  ok &= impl->import_key(&key, NULL, len) == PPRF_ERR_NULL && key == NULL;
  impl->free(NULL);
  tap_ok(ok, "%s_reports_null_pointers", impl->name);
}

/* ref's function, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);
int ref_pprf_prefault(pprf_key *key);
const char *ref_pprf_prg_name(void);
int ref_pprf_prg_select(const char *name);

static int stop_at_once(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  (void)n;
  (void)values;
  ++*(int *)arg;
  return -7;
}

static void batch_corners(const struct pprf_impl *impl)
{
  int ref = impl == &impl_ref, calls = 0, result[2] = {77, 77};
  int (*eval)(const pprf_key *, const uint64_t *, size_t, uint8_t *, int *) =
    ref ? ref_pprf_eval_batch : pprf_eval_batch;
  int (*punct)(pprf_key *, const uint64_t *, size_t, int *) =
    ref ? ref_pprf_punct_batch : pprf_punct_batch;
  int (*expand)(const pprf_key *, uint64_t, uint64_t, pprf_each *, void *) =
    ref ? ref_pprf_expand : pprf_expand;
  int (*prefault)(pprf_key *) = ref ? ref_pprf_prefault : pprf_prefault;
  uint8_t out[2][16];
  const uint64_t leaf[2] = {3, 1u << 9};
  pprf_key *key;
  int ok = impl->setup(&key, 9, root) == PPRF_OK;
  ok &= eval(NULL, leaf, 1, out[0], NULL) == PPRF_ERR_NULL;
  ok &= eval(key, NULL, 1, out[0], NULL) == PPRF_ERR_NULL;
  ok &= eval(key, leaf, 1, NULL, NULL) == PPRF_ERR_NULL;
  ok &= eval(key, NULL, 0, NULL, NULL) == PPRF_OK;
  ok &= eval(key, leaf, 1, out[0], NULL) == PPRF_OK;
  ok &= impl->eval(key, leaf[0], out[1]) == PPRF_OK && memcmp(out[0], out[1], 16) == 0;
  memset(out, 0xee, sizeof out);
  ok &= eval(key, leaf, 2, out[0], result) == PPRF_ERR_RANGE && result[0] == PPRF_ERR_RANGE &&
        result[1] == PPRF_ERR_RANGE && memcmp(out[0], zero, 16) == 0 &&
        memcmp(out[1], zero, 16) == 0;
  ok &= punct(NULL, leaf, 1, NULL) == PPRF_ERR_NULL;
  ok &= punct(key, NULL, 1, NULL) == PPRF_ERR_NULL;
  ok &= punct(key, NULL, 0, NULL) == PPRF_OK;
  ok &= punct(key, leaf, 2, NULL) == PPRF_ERR_RANGE && impl->node_count(key) == 1;
  ok &= punct(key, leaf, 1, NULL) == PPRF_OK && impl->node_count(key) == 9;
  ok &= expand(NULL, 0, 1, stop_at_once, &calls) == PPRF_ERR_NULL;
  ok &= expand(key, 0, 1, NULL, &calls) == PPRF_ERR_NULL;
  ok &= expand(key, 1, 0, stop_at_once, &calls) == PPRF_ERR_RANGE;
  ok &= expand(key, 0, 1u << 9, stop_at_once, &calls) == PPRF_ERR_RANGE && calls == 0;
  ok &= expand(key, 0, 511, stop_at_once, &calls) == -7 && calls == 1;
  ok &= prefault(NULL) == PPRF_ERR_NULL;
  ok &= prefault(key) == PPRF_OK && impl->punct(key, 100) == PPRF_OK;
  impl->free(key);
  tap_ok(ok, "%s_batches_and_expansion_keep_their_contracts_at_the_corners", impl->name);
}

static void prefault_keeps_packed(void)
{
  static const uint64_t gone[] = {0, 1, 77, 78, 200, 254, 255, 8190, 8191};
  size_t bytes;
  const struct pprf_options o = {
    .size = sizeof o, .seed = root, .depth = 13, .store = PPRF_STORE_PACKED};
  pprf_key *key, *slots;
  uint8_t a[16], b[16];
  int ok = pprf_setup_with(&key, &o) == PPRF_OK && impl_slots.setup(&slots, 13, root) == PPRF_OK;
  for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
    ok &= pprf_punct(key, gone[i]) == PPRF_OK && pprf_punct(slots, gone[i]) == PPRF_OK;
  bytes = pprf_memory_bytes(key);
  ok &= pprf_prefault(key) == PPRF_OK && pprf_prefault(slots) == PPRF_OK &&
        pprf_node_count(key) == pprf_node_count(slots) && pprf_memory_bytes(key) == bytes;
  for (uint64_t leaf = 0; leaf < 8192; leaf++)
    ok &= pprf_eval(key, leaf, a) == pprf_eval(slots, leaf, b) && memcmp(a, b, 16) == 0;
  pprf_free(key);
  pprf_free(slots);
  tap_ok(ok, "a_packed_key_is_the_same_after_prefault");
}

/* Whether two keys have the same value at leaf 5. */
static int same_value(const struct pprf_impl *impl, const pprf_key *a, const pprf_key *b)
{
  uint8_t value[2][16];
  return impl->eval(a, 5, value[0]) == PPRF_OK && impl->eval(b, 5, value[1]) == PPRF_OK &&
         memcmp(value[0], value[1], 16) == 0;
}

/* A key of a suite, its copy made by export and import, and one with the salt from the file. */
static int one_suite(const struct pprf_impl *impl, unsigned suite, const pprf_key *bare)
{
  struct pprf_options o = {.size = sizeof o, .seed = root, .depth = 9, .suite = suite};
  pprf_key *key = NULL, *copy = NULL, *again = NULL, *other = NULL;
  uint8_t file[200];
  size_t len = sizeof file;
  int salted = suite != PPRF_SHA3_256;
  int ok = impl->setup_with(&key, &o) == PPRF_OK && impl->suite(key) == suite &&
           impl->export_key(key, file, &len) == PPRF_OK && file[7] == 1 + salted &&
           impl->import_key(&copy, file, len) == PPRF_OK && impl->suite(copy) == suite &&
           same_value(impl, key, copy) && same_value(impl, key, bare) == !salted;
  if (!ok || !salted)
    goto end;
  ok = impl->setup_with(&other, &o) == PPRF_OK && !same_value(impl, key, other); /* another salt */
  o.salt = file + 20;
  ok = ok && impl->setup_with(&again, &o) == PPRF_OK && same_value(impl, key, again);
end:
  impl->free(key);
  impl->free(copy);
  impl->free(again);
  impl->free(other);
  return ok;
}

static void suites(const struct pprf_impl *impl)
{
  static const unsigned unknown[] = {5, 6, 255, 256 + PPRF_AES_128, 256 + PPRF_MLS_SHA256, ~0u};
  struct pprf_options o = {.size = sizeof o, .seed = root, .depth = 9};
  pprf_key *key, *bare;
  int ok = impl->setup_with(&bare, &o) == PPRF_OK && impl->suite(bare) == PPRF_SHA3_256;
  ok = ok && impl->suite(NULL) == 0;
  for (unsigned suite = PPRF_SHA3_256; ok && suite <= PPRF_AES_128; suite++)
    ok = pprf_suite_name(suite) != NULL && one_suite(impl, suite, bare);
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    key = (pprf_key *)(uintptr_t)16;
    o.suite = unknown[i];
    ok &= impl->setup_with(&key, &o) == PPRF_ERR_SUITE && key == NULL;
    ok &= pprf_suite_name(unknown[i]) == NULL;
  }
  o.salt = root;
  for (o.suite = 0; o.suite <= PPRF_SHA3_256; o.suite++) { /* the suite has no salt */
    key = (pprf_key *)(uintptr_t)16;
    ok &= impl->setup_with(&key, &o) == PPRF_ERR_RANGE && key == NULL;
  }
  impl->free(bare);
  tap_ok(ok, "%s_suites_are_made_named_and_distinguished", impl->name);
}

/* ---- keys with 32-byte seeds */

static const uint8_t wide_root[32] = {9, [15] = 1, [16] = 2, [31] = 3};

static int wide_setup(const struct pprf_impl *impl, pprf_key **key, unsigned depth,
                      const uint8_t *seed, const uint8_t *salt, unsigned flags)
{
  const struct pprf_options o = {.size = sizeof o,
                                 .seed = seed,
                                 .depth = depth,
                                 .flags = flags,
                                 .suite = PPRF_MLS_SHA256,
                                 .salt = salt};
  return impl->setup_with(key, &o);
}

/* Whether this many bytes are zero and those behind them unchanged. */
static int zeroed(const uint8_t *out, size_t bytes, size_t size)
{
  for (size_t i = 0; i < size; i++)
    if (out[i] != (i < bytes ? 0 : 0xee))
      return 0;
  return 1;
}

/* How many bytes are written: a whole value and nothing behind it; 16 if there is no key. */
static void wide_values(const struct pprf_impl *impl)
{
  uint8_t out[3 * 32 + 16], value[2][32];
  const uint64_t leaf[3] = {7, 3, 7}, wrong[2] = {7, 512};
  int ref = impl == &impl_ref, result[3];
  int (*batch)(const pprf_key *, const uint64_t *, size_t, uint8_t *, int *) =
    ref ? ref_pprf_eval_batch : pprf_eval_batch;
  pprf_key *key = NULL;
  int ok = wide_setup(impl, &key, 9, wide_root, NULL, 0) == PPRF_OK;
  ok = ok && impl->value_bytes(key) == 32 && impl->suite(key) == PPRF_MLS_SHA256 &&
       impl->depth(key) == 9 && impl->node_count(key) == 1 && impl->value_bytes(NULL) == 0;
  memset(out, 0xee, sizeof out);
  ok = ok && impl->eval(key, 7, out) == PPRF_OK && out[32] == 0xee;
  memcpy(value[0], out, 32);
  ok = ok && impl->eval(key, 3, value[1]) == PPRF_OK && memcmp(value[0], value[1], 16) != 0 &&
       memcmp(value[0] + 16, value[1] + 16, 16) != 0;
  memset(out, 0xee, sizeof out);
  ok = ok && impl->eval(key, 512, out) == PPRF_ERR_RANGE && zeroed(out, 32, sizeof out);
  memset(out, 0xee, sizeof out);
  ok = ok && impl->eval_punct(key, 512, out) == PPRF_ERR_RANGE && zeroed(out, 32, sizeof out);
  ok = ok && impl->eval(key, 7, NULL) == PPRF_ERR_NULL &&
       impl->eval_punct(key, 7, NULL) == PPRF_ERR_NULL;
  memset(out, 0xee, sizeof out);
  ok = ok && impl->punct(key, 3) == PPRF_OK && impl->eval(key, 3, out) == PPRF_ERR_PUNCTURED &&
       zeroed(out, 32, sizeof out);
  memset(out, 0xee, sizeof out);
  ok = ok && batch(key, leaf, 3, out, result) == PPRF_OK && memcmp(out, value[0], 32) == 0 &&
       memcmp(out + 64, value[0], 32) == 0 && out[96] == 0xee && result[1] == PPRF_ERR_PUNCTURED &&
       out[32] == 0 && out[63] == 0;
  memset(out, 0xee, sizeof out);
  ok = ok && batch(key, wrong, 2, out, NULL) == PPRF_ERR_RANGE && zeroed(out, 64, sizeof out);
  ok = ok && batch(key, leaf, SIZE_MAX / 32 + 1, out, NULL) == PPRF_ERR_NOMEM;
  ok = ok && (ref ? ref_pprf_punct_batch : pprf_punct_batch)(key, leaf, 1, NULL) == PPRF_OK &&
       (ref ? ref_pprf_prefault : pprf_prefault)(key) == PPRF_OK;
  memset(out, 0xee, sizeof out);
  ok = ok && impl->eval_punct(key, 8, out) == PPRF_OK && out[32] == 0xee;
  ok = ok && impl->punct_range(key, 0, 511) == PPRF_OK && impl->node_count(key) == 0;
  impl->free(key);
  tap_ok(ok, "%s_values_of_32_bytes_are_written_whole_and_nothing_else", impl->name);
}

/* Only a caller that names the suite gets such a key. */
static void wide_by_name_alone(const struct pprf_impl *impl)
{
  struct {
    struct pprf_import_options o;
    uint8_t more[8];
  } longer = {.o = {.size = sizeof longer, .suites = PPRF_SUITES_32_BYTES}};
  struct pprf_import_options o = {.size = sizeof o};
  uint8_t file[120], again[120], salted[120], bare[120];
  size_t len = sizeof file, len2 = sizeof again, salted_len = sizeof salted, bare_len = sizeof bare;
  pprf_key *key = NULL, *other = NULL, *none;
  int ok = wide_setup(impl, &key, 9, wide_root, root, 0) == PPRF_ERR_RANGE && key == NULL;
  ok = ok && wide_setup(impl, &key, 64, wide_root, NULL, 0) == PPRF_ERR_RANGE;
  ok = ok && wide_setup(impl, &key, 9, wide_root, NULL, 0) == PPRF_OK;
  ok = ok && impl->export_key(key, file, &len) == PPRF_OK && len == 36 + 2 + 32 + 32 &&
       file[7] == 2 && file[8] == PPRF_MLS_SHA256 && memcmp(file + 20, zero, 16) == 0 &&
       memcmp(file + 38, wide_root, 32) == 0;
  none = key;
  ok = ok && impl->import_key(&none, file, len) == PPRF_ERR_SUITE && none == NULL;
  none = key;
  ok = ok && impl->import_with(&none, file, len, &o) == PPRF_ERR_SUITE && none == NULL;
  o.suites = PPRF_SUITES_16_BYTES;
  ok = ok && impl->import_with(&none, file, len, &o) == PPRF_ERR_SUITE;
  o.suites = PPRF_SUITES_32_BYTES;
  ok = ok && impl->import_with(&other, file, len, &o) == PPRF_OK &&
       impl->value_bytes(other) == 32 && impl->suite(other) == PPRF_MLS_SHA256 &&
       impl->export_key(other, again, &len2) == PPRF_OK && len2 == len &&
       memcmp(again, file, len) == 0;
  impl->free(other);
  impl->free(key);
  /* nor from files of the other suites */
  key = other = NULL;
  ok = ok && impl->setup(&key, 9, NULL) == PPRF_OK && impl->value_bytes(key) == 16 &&
       impl->export_key(key, salted, &salted_len) == PPRF_OK;
  ok = ok && impl->setup(&other, 9, root) == PPRF_OK && impl->value_bytes(other) == 16 &&
       impl->export_key(other, bare, &bare_len) == PPRF_OK;
  ok = ok && impl->import_with(&none, salted, salted_len, &o) == PPRF_ERR_SUITE &&
       impl->import_with(&none, bare, bare_len, &o) == PPRF_ERR_SUITE;
  impl->free(key);
  impl->free(other);
  other = NULL;
  for (unsigned suite = 1; suite <= 3; suite++) {
    o.suites = PPRF_SUITE_BIT(suite);
    int is_bare = impl->import_with(&other, bare, bare_len, &o) == PPRF_OK;
    impl->free(other);
    int is_salted = impl->import_with(&other, salted, salted_len, &o) == PPRF_OK;
    impl->free(other);
    ok = ok && is_bare == (suite == PPRF_SHA3_256) && is_salted == (suite == PPRF_SHA3_256_SALTED);
  }
  o.suites = 0;
  ok = ok && impl->import_with(&other, bare, bare_len, &o) == PPRF_OK;
  impl->free(other);
  /* suites that do not exist */
  static const uint64_t wrong[] = {1, PPRF_SUITE_BIT(5), PPRF_SUITE_BIT(63), ~UINT64_C(0)};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    o.suites = wrong[i];
    none = key;
    ok = ok && impl->import_with(&none, file, len, &o) == PPRF_ERR_RANGE && none == NULL;
  }
  o.suites = PPRF_SUITES_32_BYTES;
  o.size = sizeof o - 1;
  ok = ok && impl->import_with(&none, file, len, &o) == PPRF_ERR_RANGE;
  ok = ok && impl->import_with(&other, file, len, &longer.o) == PPRF_OK;
  impl->free(other);
  longer.more[7] = 1;
  ok = ok && impl->import_with(&none, file, len, &longer.o) == PPRF_ERR_RANGE;
  o.size = sizeof o;
  ok = ok && impl->import_with(NULL, file, len, &o) == PPRF_ERR_NULL &&
       impl->import_with(&none, NULL, len, &o) == PPRF_ERR_NULL &&
       impl->import_with(&none, file, len, NULL) == PPRF_ERR_NULL;
  tap_ok(ok, "%s_keys_of_32_bytes_are_for_those_who_name_them", impl->name);
}

/* Random roots: each of the four words is random. */
static void wide_roots(const struct pprf_impl *impl)
{
  uint8_t file[2][120];
  size_t len = sizeof file[0];
  int ok = 1;
  for (int i = 0; i < 2; i++) {
    pprf_key *key = NULL;
    ok = ok && wide_setup(impl, &key, 9, NULL, NULL, 0) == PPRF_OK &&
         impl->export_key(key, file[i], &len) == PPRF_OK;
    impl->free(key);
  }
  for (unsigned a = 0; ok && a < 8; a++)
    for (unsigned b = 0; b <= a; b++) { /* eight distinct nonzero words */
      const uint8_t *x = file[a / 4] + 38 + 8 * (a % 4), *y = file[b / 4] + 38 + 8 * (b % 4);
      ok = ok && memcmp(x, a == b ? zero : y, 8) != 0;
    }
  tap_ok(ok, "%s_roots_of_32_bytes_are_drawn_at_random", impl->name);
}

/* A key shared with a child; and a private key, whose copy the child must not use. */
static void wide_forks(const struct pprf_impl *impl)
{
  uint8_t value[32], out[33];
  pprf_key *key = NULL, *own = NULL;
  int status, ref = impl == &impl_ref;
  int (*batch)(const pprf_key *, const uint64_t *, size_t, uint8_t *, int *) =
    ref ? ref_pprf_eval_batch : pprf_eval_batch;
  const uint64_t leaf = 4;
  int ok = wide_setup(impl, &key, 10, wide_root, NULL, PPRF_SHARED) == PPRF_OK &&
           wide_setup(impl, &own, 10, wide_root, NULL, 0) == PPRF_OK &&
           impl->eval(key, 5, value) == PPRF_OK && impl->memory_bytes(key) > 0;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    size_t len = 0;
    memset(out, 0xee, sizeof out);
    int good = impl->eval(own, 4, out) == PPRF_ERR_FORKED && zeroed(out, 32, sizeof out);
    memset(out, 0xee, sizeof out);
    good =
      good && batch(own, &leaf, 1, out, NULL) == PPRF_ERR_FORKED && zeroed(out, 32, sizeof out);
    good = good && impl->value_bytes(own) == 0 && impl->suite(own) == 0 && impl->depth(own) == 0 &&
           impl->node_count(own) == 0 && impl->memory_bytes(own) == 0 &&
           impl->punct(own, 4) == PPRF_ERR_FORKED &&
           impl->export_key(own, NULL, &len) == PPRF_ERR_FORKED;
    impl->free(own);
    good = good && impl->value_bytes(key) == 32 && impl->eval_punct(key, 5, out) == PPRF_OK &&
           memcmp(out, value, 32) == 0 && impl->punct_range(key, 100, 400) == PPRF_OK;
    _exit(!good);
  }
  ok = ok && child > 0 && waitpid(child, &status, 0) == child && status == 0;
  ok = ok && impl->punct(key, 5) == PPRF_ERR_PUNCTURED &&
       impl->punct(key, 400) == PPRF_ERR_PUNCTURED && impl->eval(own, 5, out) == PPRF_OK &&
       memcmp(out, value, 32) == 0;
  impl->free(key);
  impl->free(own);
  tap_ok(ok, "%s_keys_of_32_bytes_are_shared_and_copies_are_refused", impl->name);
}

static void depths(const struct pprf_impl *impl)
{
  static const unsigned wrong[] = {0, 64, 65, 96, 127, 255, 256, 1u << 31, ~0u};
  int ok = 1;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    pprf_key *key = (pprf_key *)(uintptr_t)16;
    ok &= impl->setup(&key, wrong[i], root) == PPRF_ERR_RANGE && key == NULL;
  }
  for (unsigned depth = 1; depth <= 63; depth++) {
    const uint64_t far[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, (uint64_t)1 << depth,
                            ((uint64_t)1 << depth) + 1};
    pprf_key *key;
    uint8_t out[16];
    if (too_deep(impl, depth)) {
      ok &= impl->setup(&key, depth, root) == PPRF_ERR_NOMEM && key == NULL;
      continue;
    }
    ok &= impl->setup(&key, depth, root) == PPRF_OK && impl->depth(key) == depth;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
      memset(out, 0xee, 16);
      ok &= impl->eval(key, far[i], out) == PPRF_ERR_RANGE && memcmp(out, zero, 16) == 0;
      ok &= impl->punct(key, far[i]) == PPRF_ERR_RANGE;
      memset(out, 0xee, 16);
      ok &= impl->eval_punct(key, far[i], out) == PPRF_ERR_RANGE && memcmp(out, zero, 16) == 0;
      ok &= impl->punct_range(key, 0, far[i]) == PPRF_ERR_RANGE;
      ok &= impl->punct_range(key, far[i], far[i]) == PPRF_ERR_RANGE;
      pprf_key *sub = key;
      ok &= impl->delegate(key, far[i] - 1, far[i], &sub) == PPRF_ERR_RANGE && sub == NULL;
    }
    pprf_key *none = key;
    ok &= impl->delegate(key, 1, 0, &none) == PPRF_ERR_RANGE && none == NULL;
    ok &= impl->punct_range(key, 1, 0) == PPRF_ERR_RANGE && impl->node_count(key) == 1;
    impl->free(key);
  }
  tap_ok(ok, "%s_reports_what_is_out_of_range", impl->name);
}

/* The functions of pprf.h that impl.h does not name. */
struct batches {
  int (*eval)(const pprf_key *, const uint64_t *, size_t, uint8_t *, int *);
  int (*punct)(pprf_key *, const uint64_t *, size_t, int *);
  int (*expand)(const pprf_key *, uint64_t, uint64_t, pprf_each *, void *);
  int (*prefault)(pprf_key *);
};

static struct batches batches_of(const struct pprf_impl *impl)
{
  return impl == &impl_ref
           ? (struct batches){ref_pprf_eval_batch, ref_pprf_punct_batch, ref_pprf_expand,
                              ref_pprf_prefault}
           : (struct batches){pprf_eval_batch, pprf_punct_batch, pprf_expand, pprf_prefault};
}

/* Whether a new key with these options has pair slots. */
static int is_slots(const struct pprf_impl *impl, unsigned depth, unsigned store)
{
  return impl != &impl_ref && depth <= PPRF_SLOTS_DEPTH_MAX &&
         (store == PPRF_STORE_SLOTS || (impl == &impl_slots && store == PPRF_STORE_DEFAULT));
}

/* Which stores a depth has: beyond 32 only the packed one, which cannot be shared. */
static void deep_stores(const struct pprf_impl *impl)
{
  static const struct {
    unsigned depth, store, flags;
    int err;
  } asked[] = {{32, PPRF_STORE_SLOTS, 0, PPRF_OK},
               {32, PPRF_STORE_DEFAULT, 0, PPRF_OK},
               {33, PPRF_STORE_SLOTS, 0, PPRF_ERR_RANGE},
               {63, PPRF_STORE_SLOTS, 0, PPRF_ERR_RANGE},
               {33, PPRF_STORE_PACKED, 0, PPRF_OK},
               {63, PPRF_STORE_PACKED, 0, PPRF_OK},
               {33, PPRF_STORE_DEFAULT, 0, PPRF_OK},
               {63, PPRF_STORE_DEFAULT, 0, PPRF_OK},
               {33, PPRF_STORE_DEFAULT, PPRF_SHARED, PPRF_ERR_RANGE},
               {63, PPRF_STORE_DEFAULT, PPRF_SHARED, PPRF_ERR_RANGE}};
  int ok = 1;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    struct pprf_options o = {.size = sizeof o,
                             .seed = root,
                             .depth = asked[i].depth,
                             .store = asked[i].store,
                             .flags = asked[i].flags};
    pprf_key *key = (pprf_key *)(uintptr_t)16;
    if (too_deep(impl, o.depth))
      continue;
    ok &= impl->setup_with(&key, &o) == asked[i].err && (key != NULL) == (asked[i].err == PPRF_OK);
    /* a store of few nodes takes little memory, although pair slots have a bitmap and a page for
     * each node */
    if (asked[i].err == PPRF_OK)
      ok &= impl->punct(key, 5) == PPRF_OK && impl->node_count(key) == o.depth &&
            (is_slots(impl, o.depth, asked[i].store) ? impl->memory_bytes(key) > 65536
                                                     : impl->memory_bytes(key) < 8192);
    impl->free(key);
  }
  tap_ok(ok, "%s_keys_deeper_than_32_have_a_packed_store", impl->name);
}

/* How many seeds of an encoding (version 1, depth 10) are in a key's mapping, if its words are
 * stored there as in the encoding. */
static unsigned seeds_in_mapping(const struct pprf_impl *impl, const pprf_key *key,
                                 const uint8_t *file, size_t len)
{
  enum { HEADER = 16, ID = 2, SEED = 16, DIGEST = 32 };
  unsigned found = 0;
  for (size_t at = HEADER; at + ID + SEED + DIGEST <= len; at += ID + SEED)
    found +=
      memmem((const void *)(uintptr_t)key, impl->memory_bytes(key), file + at + ID, SEED) != NULL;
  return found;
}

/* A key with PPRF_SHARED behaves like a private one, whether a change adds or removes nodes; it
 * keeps no removed seed, and reports its memory. */
static void shared_by_option(const struct pprf_impl *impl)
{
  enum { DEPTH = 10, LEAVES = 1 << DEPTH };
  static uint64_t leaf[LEAVES / 2];
  static uint8_t large_file[LEAVES * 16];
  const uint16_t one = 1;
  const int little_endian = *(const uint8_t *)&one;
  const struct batches many = batches_of(impl);
  const struct pprf_options shared = {
    .size = sizeof shared, .seed = root, .depth = DEPTH, .flags = PPRF_SHARED};
  const struct pprf_options large = {.size = sizeof large, .depth = 21, .flags = PPRF_SHARED};
  pprf_key *key[2] = {NULL, NULL};
  int ok = impl->setup_with(&key[0], &large) == PPRF_OK && impl->memory_bytes(key[0]) > 0 &&
           impl->memory_bytes(key[0]) < 262144; /* of a mapping of at least 16 MB */
  impl->free(key[0]);
  key[0] = NULL;
  ok = ok && impl->setup_with(&key[0], &shared) == PPRF_OK &&
       impl->setup(&key[1], DEPTH, root) == PPRF_OK;
  for (int i = 0; ok && i < 2; i++) {
    for (uint64_t k = 0; k < LEAVES / 2; k++)
      leaf[k] = 2 * k; /* as many nodes as possible */
    ok = many.punct(key[i], leaf, LEAVES / 2, NULL) == PPRF_OK &&
         impl->node_count(key[i]) == LEAVES / 2;
    size_t bytes = sizeof large_file;
    ok = ok && impl->memory_bytes(key[i]) > LEAVES / 2 * 16 &&
         impl->export_key(key[i], large_file, &bytes) == PPRF_OK;
    int looked_at =
      i == 0 && impl == &impl_ref && little_endian; /* ref's nodes are stored behind the key */
    if (looked_at)
      ok = ok && seeds_in_mapping(impl, key[i], large_file, bytes) == LEAVES / 2;
    for (uint64_t k = 0; k < LEAVES / 2; k++)
      leaf[k] = 2 * k + 1; /* fewer */
    ok = ok && many.punct(key[i], leaf, LEAVES / 2 - 3, NULL) == PPRF_OK &&
         impl->node_count(key[i]) == 3;
    if (looked_at)
      ok = ok && seeds_in_mapping(impl, key[i], large_file, bytes) == 3;
  }
  uint8_t file[2][200];
  size_t len[2] = {sizeof file[0], sizeof file[1]};
  for (int i = 0; ok && i < 2; i++)
    ok = impl->export_key(key[i], file[i], &len[i]) == PPRF_OK;
  ok = ok && len[0] == len[1] && memcmp(file[0], file[1], len[0]) == 0;
  for (int i = 0; i < 2; i++)
    impl->free(key[i]);
  tap_ok(ok, "%s_shared_keys_grow_and_shrink_like_others", impl->name);
}

/* An imported key has the requested store, whatever the exported key had. */
static void stores_of_read_keys(const struct pprf_impl *impl)
{
  static const struct {
    unsigned depth, store, flags;
    int err;
  } asked[] = {{20, PPRF_STORE_DEFAULT, 0, PPRF_OK},
               {20, PPRF_STORE_SLOTS, 0, PPRF_OK},
               {20, PPRF_STORE_PACKED, 0, PPRF_OK},
               {32, PPRF_STORE_PACKED, 0, PPRF_OK},
               {33, PPRF_STORE_DEFAULT, 0, PPRF_OK},
               {33, PPRF_STORE_PACKED, 0, PPRF_OK},
               {33, PPRF_STORE_SLOTS, 0, PPRF_ERR_RANGE},
               {63, PPRF_STORE_SLOTS, 0, PPRF_ERR_RANGE},
               {20, PPRF_STORE_PACKED + 1, 0, PPRF_ERR_RANGE},
               {20, ~0u, 0, PPRF_ERR_RANGE},
               {20, PPRF_STORE_PACKED, 1, PPRF_ERR_RANGE},
               {20, 0, 1u << 31, PPRF_ERR_RANGE}};
  static const unsigned suites[] = {PPRF_SHA3_256, PPRF_AES_128, PPRF_MLS_SHA256};
  int ok = 1;
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++)
    for (size_t s = 0; s < sizeof suites / sizeof *suites; s++) {
      struct pprf_import_options o = {.size = sizeof o,
                                      .suites = PPRF_SUITE_BIT(suites[s]),
                                      .store = asked[i].store,
                                      .flags = asked[i].flags};
      uint8_t file[3000], again[3000];
      size_t len = sizeof file, len2 = sizeof again;
      pprf_key *key = NULL, *in = (pprf_key *)(uintptr_t)16;
      const struct pprf_options set_up = {
        .size = sizeof set_up, .seed = wide_root, .depth = asked[i].depth, .suite = suites[s]};
      if (impl_ref.setup_with(&key, &set_up) != PPRF_OK || impl_ref.punct(key, 5) != PPRF_OK ||
          impl_ref.export_key(key, file, &len) != PPRF_OK)
        ok = 0;
      impl_ref.free(key);
      ok = ok && impl->import_with(&in, file, len, &o) == asked[i].err &&
           (in != NULL) == (asked[i].err == PPRF_OK);

      if (ok && in != NULL) {
        int slots = impl != &impl_ref && asked[i].store == PPRF_STORE_SLOTS;
        ok = (slots ? impl->memory_bytes(in) > 16384 : impl->memory_bytes(in) < 8192) &&
             impl->punct(in, 5) == PPRF_ERR_PUNCTURED && impl->punct(in, 4) == PPRF_OK &&
             impl->punct_range(in, 0, 7) == PPRF_OK && impl->node_count(in) == asked[i].depth - 3 &&
             impl->export_key(in, again, &len2) == PPRF_OK && len2 < len;
        impl->free(in);
      }
    }
  tap_ok(ok, "%s_keys_are_imported_into_the_requested_store", impl->name);
}

/* Compare the values of a tree's first leaves, then stop. */
struct beginning {
  const struct pprf_impl *impl;
  const pprf_key *key;
  uint64_t next;
  int ok;
};

static int begin(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct beginning *b = arg;
  uint8_t value[16];
  for (size_t i = 0; i < n; i += 100)
    b->ok = b->ok && b->impl->eval(b->key, leaf + i, value) == PPRF_OK &&
            memcmp(value, values + 16 * i, 16) == 0;
  b->ok = b->ok && leaf == b->next;
  b->next = leaf + n;
  return b->next < 3000 ? 0 : -7;
}

static int add_one(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)values;
  *(uint64_t *)arg += n * (leaf >= (UINT64_C(1) << 40));
  return 0;
}

/* Both ends of a deep tree, where leaves and in-order ids have the most bits. */
static void ends_of_deep_trees(const struct pprf_impl *impl)
{
  const struct batches many = batches_of(impl);
  static const unsigned depths[] = {33, 48, 63};
  for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
    const unsigned depth = depths[d];
    const uint64_t last = (UINT64_C(1) << depth) - 1, middle = UINT64_C(1) << (depth - 1);
    const uint64_t leaf[5] = {last, 0, middle, last, middle - 1};
    uint8_t value[16], out[5][16], file[8192], again[8192];
    int result[5];
    uint64_t live = 0;
    size_t len = sizeof file, len2 = sizeof again;
    pprf_key *key, *other = NULL;
    int ok = impl->setup(&key, depth, root) == PPRF_OK && impl->depth(key) == depth;
    struct beginning b = {impl, key, 0, 1};
    ok = ok && many.expand(key, 0, last, begin, &b) == -7 && b.ok && b.next < 5000;
    ok = ok && many.eval(key, leaf, 5, out[0], result) == PPRF_OK;
    for (int i = 0; ok && i < 5; i++)
      ok = result[i] == PPRF_OK && impl->eval(key, leaf[i], value) == PPRF_OK &&
           memcmp(value, out[i], 16) == 0 && memcmp(value, zero, 16) != 0;
    ok = ok && memcmp(out[0], out[3], 16) == 0 && memcmp(out[0], out[1], 16) != 0;
    ok = ok && impl->eval_punct(key, last, value) == PPRF_OK && memcmp(value, out[0], 16) == 0 &&
         impl->node_count(key) == depth && impl->eval(key, last, value) == PPRF_ERR_PUNCTURED;
    ok = ok && many.punct(key, leaf, 5, result) == PPRF_OK && result[0] == PPRF_ERR_PUNCTURED &&
         result[1] == PPRF_OK && result[2] == PPRF_OK && result[3] == PPRF_ERR_PUNCTURED &&
         result[4] == PPRF_OK && impl->node_count(key) == 4 * (size_t)(depth - 2);
    ok = ok && many.expand(key, last - 1500, last, add_one, &live) == PPRF_OK &&
         live == (depth > 40 ? 1500 : 0);
    ok = ok && impl->export_key(key, file, &len) == PPRF_OK && file[7] == 2 &&
         file[8] == PPRF_SHA3_256 && file[9] == depth &&
         len == 36 + impl->node_count(key) * (depth / 8 + 17) + 32 &&
         impl->import_key(&other, file, len) == PPRF_OK &&
         impl->export_key(other, again, &len2) == PPRF_OK && len2 == len &&
         memcmp(file, again, len) == 0;
    ok = ok && many.prefault(key) == PPRF_OK;
    len2 = sizeof again;
    ok = ok && impl->export_key(key, again, &len2) == PPRF_OK && memcmp(file, again, len) == 0;
    ok = ok && impl->eval(other, last - 1, value) == PPRF_OK &&
         impl->punct_range(other, 1, last - 1) == PPRF_OK && impl->node_count(other) == 0 &&
         impl->punct_range(other, 0, last) == PPRF_ERR_PUNCTURED;
    ok = ok && impl->punct_range(key, 0, last) == PPRF_OK && impl->node_count(key) == 0 &&
         impl->eval(key, middle + 1, value) == PPRF_ERR_PUNCTURED;
    impl->free(other);
    len = sizeof file;
    ok = ok && impl->export_key(key, file, &len) == PPRF_OK && len == 68 &&
         impl->import_key(&other, file, len) == PPRF_OK && impl->node_count(other) == 0 &&
         impl->punct(other, last) == PPRF_ERR_PUNCTURED;
    impl->free(other);
    impl->free(key);
    tap_ok(ok, "%s_ends_of_a_tree_of_depth_%u", impl->name, depth);
  }
}

/* The error from importing a file of one node with this header and a correct digest. */
static int import_of(const struct pprf_impl *impl, unsigned version, unsigned suite, unsigned depth,
                     uint64_t nodes, unsigned salt)
{
  uint8_t file[200] = "PPRFKEY";
  size_t header = version == 2 ? 36 : 16, width = depth / 8 + 1, len = header + width + 16;
  pprf_key *key = (pprf_key *)(uintptr_t)16;
  file[7] = (uint8_t)version;
  file[8] = (uint8_t)suite;
  file[9] = (uint8_t)depth;
  for (unsigned i = 0; i < (version == 2 ? 8 : 4); i++)
    file[12 + i] = (uint8_t)(nodes >> 8 * i);
  if (version == 2)
    file[20] = (uint8_t)salt;
  if (depth < 64) /* the root, whose id is 2^depth */
    file[header + depth / 8] = (uint8_t)(1u << depth % 8);
  if (prg_digest(file, len, file + len) != PPRF_OK)
    return -1;
  int err = impl->import_key(&key, file, len + 32);
  if (err == PPRF_OK)
    impl->free(key);
  return err != PPRF_OK && key != NULL ? -1 : err;
}

/* Each key has exactly one file: its version follows from the suite and the depth. */
static void one_version_a_key(const struct pprf_impl *impl)
{
  int ok = 1;
  for (unsigned depth = 0; depth <= 65; depth++)
    for (unsigned suite = PPRF_SHA3_256; suite <= PPRF_AES_128; suite++) {
      int salted = suite != PPRF_SHA3_256, is_depth = depth >= 1 && depth <= 63;
      int second = salted || depth > 32;
      if (too_deep(impl, depth))
        continue;
      ok &=
        import_of(impl, 1, suite, depth, 1, 0) == (is_depth && !second ? PPRF_OK : PPRF_ERR_FORMAT);
      ok &=
        import_of(impl, 2, suite, depth, 1, 0) == (is_depth && second ? PPRF_OK : PPRF_ERR_FORMAT);
      ok &=
        import_of(impl, 2, suite, depth, 1, 9) == (is_depth && salted ? PPRF_OK : PPRF_ERR_FORMAT);
    }
  /* node counts whose byte counts wrap to that of one node: 24 bytes times 2^61 is a multiple of
   * 2^64 */
  ok &= import_of(impl, 2, PPRF_SHA3_256, 63, 1 + (UINT64_C(1) << 61), 0) == PPRF_ERR_FORMAT;
  ok &= import_of(impl, 2, PPRF_SHA3_256, 63, 1 + (UINT64_C(1) << 32), 0) == PPRF_ERR_FORMAT;
  ok &= import_of(impl, 2, PPRF_SHA3_256, 63, 0, 0) == PPRF_ERR_FORMAT;
  tap_ok(ok, "%s_takes_version_2_of_a_file_where_version_1_cannot_be", impl->name);
}

/* Two keys of that suite with random roots: the roots differ, and so do the salts. In a fresh
 * key's file the root's seed, after an id of two bytes, is all there is between header and
 * digest. */
static int two_roots(const struct pprf_impl *impl, unsigned suite)
{
  struct pprf_options o = {.size = sizeof o, .depth = 9, .suite = suite};
  size_t header = suite == PPRF_SHA3_256 ? 16 : 36, len[2];
  uint8_t file[2][100], x[16], y[16];
  pprf_key *key[2] = {NULL, NULL};
  int ok = 1;
  for (int i = 0; i < 2; i++) {
    len[i] = sizeof file[i];
    ok = ok && impl->setup_with(&key[i], &o) == PPRF_OK &&
         impl->export_key(key[i], file[i], &len[i]) == PPRF_OK && len[i] == header + 2 + 16 + 32 &&
         memcmp(file[i] + header + 2, zero, 16) != 0;
  }
  ok = ok && memcmp(file[0] + header + 2, file[1] + header + 2, 16) != 0;
  if (ok && header == 36)
    ok = memcmp(file[0] + 20, file[1] + 20, 16) != 0 && memcmp(file[0] + 20, zero, 16) != 0 &&
         memcmp(file[0] + 20, file[0] + 38, 16) != 0; /* nor is the salt the secret seed */
  ok = ok && impl->eval(key[0], 3, x) == PPRF_OK && impl->eval(key[0], 4, y) == PPRF_OK &&
       memcmp(x, y, 16) != 0 && memcmp(x, zero, 16) != 0;
  impl->free(key[0]);
  impl->free(key[1]);
  return ok;
}

static void random_roots(const struct pprf_impl *impl)
{
  int ok = 1;
  for (unsigned suite = PPRF_SHA3_256; suite <= PPRF_AES_128; suite++)
    ok &= two_roots(impl, suite);
  tap_ok(ok, "%s_roots_are_drawn_at_random", impl->name);
}

/* A key made without naming a suite: its suite, and the version of its file. */
static int without_a_name(const struct pprf_impl *impl, const uint8_t *seed, const uint8_t *salt,
                          int with, unsigned suite)
{
  struct pprf_options o = {.size = sizeof o, .depth = 9, .seed = seed, .salt = salt};
  uint8_t file[100];
  size_t len = sizeof file;
  pprf_key *key;
  int ok = (with ? impl->setup_with(&key, &o) : impl->setup(&key, 9, seed)) == PPRF_OK &&
           impl->suite(key) == suite && impl->export_key(key, file, &len) == PPRF_OK &&
           file[7] == (suite == PPRF_SHA3_256 ? 1 : 2) && file[8] == suite;
  ok = ok && (salt == NULL || memcmp(file + 20, salt, 16) == 0);
  impl->free(key);
  return ok;
}

static void default_suites(const struct pprf_impl *impl)
{
  int ok = 1;
  for (int with = 0; with < 2; with++) {
    ok &= without_a_name(impl, NULL, NULL, with, PPRF_SHA3_256_SALTED);
    ok &= without_a_name(impl, root, NULL, with, PPRF_SHA3_256);
  }
  ok &= without_a_name(impl, NULL, root, 1, PPRF_SHA3_256_SALTED);
  ok &= two_roots(impl, 0);
  tap_ok(ok, "%s_random_roots_are_salted_and_given_ones_are_not", impl->name);
}

/* ref has one PRG (for opt's, see prg_choice.c) */
/* Batches of more leaves than opt processes at once: every output equals eval's, and nothing
 * else is written. */
static void long_batches(const struct pprf_impl *impl, unsigned depth)
{
  enum { N = 2500, GUARD = 2048 };
  static uint64_t leaf[N];
  static uint8_t out[GUARD + N + GUARD][16], want[16];
  static int result[GUARD + N + GUARD];
  int ref = impl == &impl_ref, ok = 1;
  pprf_key *key = NULL;
  uint64_t state = 13;
  ok &= impl->setup(&key, depth, (const uint8_t *)"sixteen bytes...") == PPRF_OK;
  ok &= impl->punct_range(key, 100, 900) == PPRF_OK && impl->punct(key, 4097) == PPRF_OK;
  for (size_t i = 0; i < N; i++)
    leaf[i] = i == 77 ? 4097 : tap_random(&state) >> (64 - depth);
  for (int with = 0; with < 2; with++) {
    memset(out, 0xa7, sizeof out);
    memset(result, 0xa7, sizeof result);
    ok &= (ref ? ref_pprf_eval_batch : pprf_eval_batch)(key, leaf, N, out[GUARD],
                                                        with ? result + GUARD : NULL) == PPRF_OK;
    for (size_t i = 0; i < N; i++) {
      int err = impl->eval(key, leaf[i], want);
      ok &= memcmp(out[GUARD + i], want, 16) == 0 && (!with || result[GUARD + i] == err);
    }
    for (size_t i = 0; i < GUARD; i++)
      for (size_t b = 0; b < 16; b++)
        ok &= out[i][b] == 0xa7 && out[GUARD + N + i][b] == 0xa7;
    for (size_t i = 0; i < GUARD + N + GUARD; i++)
      if (!with || i < GUARD || i >= GUARD + N)
        ok &= result[i] == (int)0xa7a7a7a7;
  }
  if (!ref) { /* ref copies the key and punctures leaf by leaf: see its own tests */
    memset(result, 0xa7, sizeof result);
    size_t live = 0;
    ok &= pprf_punct_batch(key, leaf, N, result + GUARD) == PPRF_OK;
    for (size_t i = 0; i < N; i++)
      live += result[GUARD + i] == PPRF_OK;
    for (size_t i = 0; i < N; i++)
      ok &= impl->eval(key, leaf[i], want) == PPRF_ERR_PUNCTURED;
    pprf_key *fresh = NULL;
    ok &= impl->setup(&fresh, depth, (const uint8_t *)"sixteen bytes...") == PPRF_OK;
    for (size_t i = 0; i < N; i += 50) /* and the leaves beside them are unchanged */
      ok &= impl->eval(key, leaf[i] ^ 1, want) != PPRF_OK ||
            (impl->eval(fresh, leaf[i] ^ 1, out[0]) == PPRF_OK && memcmp(want, out[0], 16) == 0);
    impl->free(fresh);
    for (size_t i = 0; i < GUARD; i++)
      ok &= result[i] == (int)0xa7a7a7a7 && result[GUARD + N + i] == (int)0xa7a7a7a7;
    ok &= live > N / 2 && (live < N || depth > 13);
  }
  impl->free(key);
  tap_ok(ok, "%s_long_batches_are_their_leaves_and_write_nothing_else_at_depth_%u", impl->name,
         depth);
}

static void ref_prg(void)
{
  tap_ok(strcmp(ref_pprf_prg_name(), "evp") == 0 && ref_pprf_prg_select("evp") == PPRF_OK &&
           ref_pprf_prg_select("scalar") == PPRF_ERR_RANGE &&
           ref_pprf_prg_select(NULL) == PPRF_ERR_NULL,
         "ref_has_the_prg_of_libcrypto_alone");
}

static void error_texts(const char *name, const char *(*text)(int))
{
  int ok = 1;
  for (int err = -1; err <= PPRF_ERR_FORKED + 1; err++) {
    const char *t = text(err);
    ok &= t != NULL && *t != '\0' && strchr(t, '\n') == NULL;
    for (int other = 0; ok && other < err; other++)
      ok &= strcmp(t, text(other)) != 0;
  }
  tap_ok(ok && strcmp(text(12345), text(-12345)) == 0, "%s_has_a_text_for_each_error", name);
}

/* Puncture 2^18 leaves one by one: whole blocks of memory are released, and the key equals that
 * after one range. */
static void whole_blocks(const struct pprf_impl *impl)
{
  pprf_key *a, *b;
  uint8_t x[2][200];
  size_t len[2] = {200, 200};
  int ok = impl->setup(&a, 19, root) == PPRF_OK;
  ok = impl->setup(&b, 19, root) == PPRF_OK && ok;
  for (uint64_t leaf = 0; ok && leaf < 1u << 18; leaf++)
    ok = impl->punct(a, leaf ^ 63) == PPRF_OK;
  ok = ok && impl->punct_range(b, 0, (1u << 18) - 1) == PPRF_OK && impl->node_count(a) == 1;
  ok = ok && impl->export_key(a, x[0], &len[0]) == PPRF_OK &&
       impl->export_key(b, x[1], &len[1]) == PPRF_OK && len[0] == len[1] &&
       memcmp(x[0], x[1], len[0]) == 0 && impl->memory_bytes(a) <= 65536;
  tap_note("%s: %zu bytes held", impl->name, impl->memory_bytes(a));
  impl->free(a);
  impl->free(b);
  tap_ok(ok, "%s_single_punctures_of_whole_blocks_are_one_range", impl->name);
}

/* A child punctures and the parent sees it.  Both return the same values. */
static void shared_keys(void)
{
  pprf_key *key;
  uint8_t before[16], out[16];
  int status, ok = opt_shared_new(&key, 16) == PPRF_OK;
  ok = ok && pprf_node_count(key) == 0 && pprf_eval(key, 5, out) == PPRF_ERR_PUNCTURED;
  ok = ok && opt_shared_start(key) == PPRF_OK && pprf_eval(key, 5, before) == PPRF_OK;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0)
    _exit(!(pprf_eval_punct(key, 5, out) == PPRF_OK && memcmp(out, before, 16) == 0 &&
            pprf_punct_range(key, 100, 40000) == PPRF_OK));
  ok = ok && child > 0 && waitpid(child, &status, 0) == child && status == 0;
  ok = ok && pprf_punct(key, 5) == PPRF_ERR_PUNCTURED &&
       pprf_punct_range(key, 100, 40000) == PPRF_ERR_PUNCTURED &&
       pprf_eval(key, 6, out) == PPRF_OK && pprf_eval(key, 40001, out) == PPRF_OK;
  opt_shared_clear(key);
  ok = ok && pprf_node_count(key) == 0 && pprf_eval(key, 6, out) == PPRF_ERR_PUNCTURED;
  ok = ok && opt_shared_start(key) == PPRF_OK && pprf_eval(key, 5, out) == PPRF_OK &&
       memcmp(out, before, 16) != 0;
  opt_shared_clear(key);
  opt_shared_free(key);
  tap_ok(ok, "shared_keys_are_punctured_for_all_processes");
}

static pprf_key *late[IMPLS]; /* used when a child ends */

/* The last exit handler: libcrypto has cleaned up, and the libcrypto objects of the PRG are
 * freed. */
static void at_the_end(void)
{
  int ok = 1;
  if (late[0] == NULL)
    return;
  for (int i = 0; i < IMPLS; i++) {
    uint8_t out[16];
    memset(out, 0xee, 16);
    ok &= impls[i]->eval(late[i], 1, out) == PPRF_ERR_CRYPTO && memcmp(out, zero, 16) == 0;
  }
  _exit(!ok);
}

static void ends(void)
{
  int status;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < IMPLS; i++)
      if (impls[i]->setup(&late[i], 5, root) != PPRF_OK)
        _exit(1);
    exit(1); /* at_the_end sets the status */
  }
  tap_ok(child > 0 && waitpid(child, &status, 0) == child && status == 0,
         "at_the_end_of_a_process_there_is_no_digest_any_more");
}

int main(void)
{
  if (atexit(at_the_end) != 0) /* registered before libcrypto's handler, so it runs after that */
    return 1;
  static const struct pprf_impl *const by_option[] = {&impl_ref, &impl_slots, &impl_opt};
  for (int i = 0; i < 3; i++) {
    nulls(by_option[i]);
    depths(by_option[i]);
    whole_blocks(by_option[i]);
    batch_corners(by_option[i]);
    deep_stores(by_option[i]);
    stores_of_read_keys(by_option[i]);
    shared_by_option(by_option[i]);
    ends_of_deep_trees(by_option[i]);
    one_version_a_key(by_option[i]);
    long_batches(by_option[i], 13);
    long_batches(by_option[i], 63);
  }
  for (int i = 0; i < STORES; i++) {
    suites(stores[i]);
    random_roots(stores[i]);
    default_suites(stores[i]);
    wide_values(stores[i]);
    wide_by_name_alone(stores[i]);
    wide_roots(stores[i]);
    wide_forks(stores[i]);
  }
  prefault_keeps_packed();
  ref_prg();
  error_texts("ref", ref_pprf_strerror);
  error_texts("opt", pprf_strerror);
  tap_ok(strcmp(pprf_version(), PPRF_VERSION) == 0, "the_version_is_that_of_the_header");
  shared_keys();
  ends();
  return tap_end();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Small trees, all of them.
 *   sets      every set of leaves at depth <= 4, punctured ascending, descending, in random order
 *   orders    every order of every set of leaves at depth 3
 *   ranges    every range after every single puncture, and on a fresh key (depth <= 7)
 *   parts     every range of these keys delegated, then every range of that key (depth <= 4)
 *   prefixes  every prefix of every key file of depth <= 3 (--full: 4), and of deeper files
 *   bytes     every change of one byte of key files, with the digest unchanged or corrected
 * compared with the model; with the labelled toy PRG, and a part of them with SHA3; likewise for
 * keys with 32-byte seeds, a part of them with SHA-256. --full: all with SHA3. */
#include <inttypes.h>

#include "impls.h"
#include "model.h"
#include "../../tools/tap.h"
#include "test_prg.h"

static uint64_t keys_checked, imports_checked;
/* of the keys, and the size of their values */
static struct pprf_family family = {PRG_SHA3_256, 0, 0};
static size_t value_bytes = 16;
enum { VALUE_MAX = PPRF_VALUE_BYTES_MAX };
static unsigned problems;

__attribute__((format(printf, 1, 2))) static void problem(const char *text, ...)
{
  va_list ap;
  if (problems++ >= 5)
    return;
  if (tap_stop())
    exit(1);
  va_start(ap, text);
  printf("# ");
  vprintf(text, ap);
  printf("\n");
  va_end(ap);
}

static pprf_key *fresh(const struct pprf_impl *impl, unsigned depth, const uint8_t *seed)
{
  const struct pprf_options o = {
    .size = sizeof o, .seed = seed, .depth = depth, .suite = family.suite};
  pprf_key *key;
  if (impl->setup_with(&key, &o) != PPRF_OK) {
    printf("Bail out! setup\n");
    exit(1);
  }
  return key;
}

/* Whether the key has this encoding and node count. */
static int is_key(const struct pprf_impl *impl, const pprf_key *key, const uint8_t *want,
                  size_t want_len, size_t nodes)
{
  static uint8_t bytes[1 << 16];
  size_t len = sizeof bytes;
  keys_checked++;
  return impl->export_key(key, bytes, &len) == PPRF_OK && len == want_len &&
         memcmp(bytes, want, len) == 0 && impl->node_count(key) == nodes;
}

static void shuffle(uint8_t *order, unsigned n, uint64_t *state)
{
  for (unsigned i = n; i > 1; i--) {
    unsigned j = (unsigned)(tap_random(state) % i);
    uint8_t t = order[i - 1];
    order[i - 1] = order[j];
    order[j] = t;
  }
}

/* Puncture in this order; then the key is the set's. `values`: compare every leaf, too. */
static void sequence(const struct pprf_impl *impl, unsigned depth, const uint8_t *seed,
                     const uint8_t *order, unsigned n, uint32_t set, uint8_t (*value)[VALUE_MAX],
                     const uint8_t *want, size_t want_len, size_t nodes, int values)
{
  pprf_key *key = fresh(impl, depth, seed);
  uint8_t out[VALUE_MAX];
  int ok = 1;
  for (unsigned i = 0; i < n; i++)
    if (i % 2)
      ok &= impl->punct(key, order[i]) == PPRF_OK;
    else
      ok &= impl->eval_punct(key, order[i], out) == PPRF_OK &&
            memcmp(out, value[order[i]], value_bytes) == 0;
  ok &= is_key(impl, key, want, want_len, nodes);
  for (unsigned x = 0; values && x < 1u << depth; x++) {
    int err = impl->eval(key, x, out);
    ok &= set >> x & 1 ? err == PPRF_ERR_PUNCTURED
                       : err == PPRF_OK && memcmp(out, value[x], value_bytes) == 0;
  }
  if (!ok)
    problem("%s depth %u set 0x%x, first leaf %u", impl->name, depth, set, n > 0 ? order[0] : 0);
  impl->free(key);
}

static void all_values(unsigned depth, const uint8_t *seed, uint8_t (*value)[VALUE_MAX])
{
  struct model m;
  model_setup(&m, depth, family, seed);
  for (unsigned x = 0; x < 1u << depth; x++)
    (void)model_eval(&m, x, value[x]);
  model_free(&m);
}

/* The encoding of the key for a set. */
static uint8_t *encoding(unsigned depth, const uint8_t *seed, uint32_t set, size_t *len,
                         size_t *nodes)
{
  struct model m;
  model_setup(&m, depth, family, seed);
  for (unsigned x = 0; x < 1u << depth; x++)
    if (set >> x & 1)
      (void)model_punct(&m, x);
  uint8_t *bytes = model_export(&m, len, nodes);
  model_free(&m);
  return bytes;
}

static uint64_t sets(unsigned depth, unsigned step)
{
  uint8_t seed[VALUE_MAX], value[16][VALUE_MAX], order[16];
  uint64_t count = 0, state = 1, total = (uint64_t)1 << (1u << depth);
  test_prg_root(depth, 1, seed);
  all_values(depth, seed, value);
  for (uint64_t s = 0; s < total; s += step) {
    uint32_t set = (uint32_t)s;
    size_t len, nodes;
    uint8_t *want = encoding(depth, seed, set, &len, &nodes);
    unsigned n = 0;
    for (unsigned x = 0; x < 1u << depth; x++)
      if (set >> x & 1)
        order[n++] = (uint8_t)x;
    for (int kind = 0; kind < 3; kind++) {
      if (kind == 1)
        for (unsigned i = 0; i < n / 2; i++) {
          uint8_t t = order[i];
          order[i] = order[n - 1 - i];
          order[n - 1 - i] = t;
        }
      if (kind == 2)
        shuffle(order, n, &state);
      for (int i = 0; i < IMPLS; i++)
        sequence(impls[i], depth, seed, order, n, set, value, want, len, nodes, kind == 0);
    }
    free(want);
    count++;
    tap_progress("sets", s, total);
  }
  tap_progress("sets", total, total);
  return count;
}

/* Every order of every set of the 8 leaves: a walk over all sequences without repetition. */
struct orders {
  uint8_t seed[VALUE_MAX], value[8][VALUE_MAX], order[8];
  uint8_t *want[256];
  size_t len[256], nodes[256];
  uint64_t count;
};

static void orders_from(struct orders *o, unsigned n, uint32_t set)
{
  o->count++;
  for (int i = 0; i < IMPLS; i++)
    sequence(impls[i], 3, o->seed, o->order, n, set, o->value, o->want[set], o->len[set],
             o->nodes[set], 0);
  tap_progress("orders", o->count, 109601);
  for (unsigned x = 0; x < 8; x++)
    if ((set >> x & 1) == 0) {
      o->order[n] = (uint8_t)x;
      orders_from(o, n + 1, set | 1u << x);
    }
}

static uint64_t orders(void)
{
  static struct orders o;
  o.count = 0;
  test_prg_root(3, 2, o.seed);
  all_values(3, o.seed, o.value);
  for (uint32_t set = 0; set < 256; set++)
    o.want[set] = encoding(3, o.seed, set, &o.len[set], &o.nodes[set]);
  orders_from(&o, 0, 0);
  for (uint32_t set = 0; set < 256; set++)
    free(o.want[set]);
  return o.count;
}

/* Every range after puncturing leaf p (p = 2^depth: none), then both ends and their neighbours. */
static uint64_t ranges(unsigned depth, unsigned p_step)
{
  uint8_t seed[VALUE_MAX], out[VALUE_MAX], value[128][VALUE_MAX];
  uint64_t size = (uint64_t)1 << depth, count = 0;
  test_prg_root(depth, 3, seed);
  all_values(depth, seed, value);
  for (uint64_t p = 0; p <= size; p += p == size - 1 ? 1 : p_step) {
    size_t base_len[IMPLS];
    uint8_t *base[IMPLS];
    struct model m;
    for (int i = 0; i < IMPLS; i++) { /* the key that each range starts from */
      pprf_key *key = fresh(impls[i], depth, seed);
      if (p < size && impls[i]->punct(key, p) != PPRF_OK)
        problem("%s depth %u punct %u", impls[i]->name, depth, (unsigned)p);
      base_len[i] = 1 << 13;
      base[i] = malloc(base_len[i]);
      if (impls[i]->export_key(key, base[i], &base_len[i]) != PPRF_OK)
        problem("%s export", impls[i]->name);
      impls[i]->free(key);
    }
    for (uint64_t a = 0; a < size; a++)
      for (uint64_t b = a; b < size; b++) {
        size_t len, nodes;
        model_setup(&m, depth, family, seed);
        if (p < size)
          (void)model_punct(&m, p);
        int want_err = model_punct_range(&m, a, b);
        uint8_t *want = model_export(&m, &len, &nodes);
        for (int i = 0; i < IMPLS; i++) {
          const struct pprf_impl *impl = impls[i];
          pprf_key *key;
          int ok = import_any(impl, &key, base[i], base_len[i]) == PPRF_OK &&
                   impl->punct_range(key, a, b) == want_err && is_key(impl, key, want, len, nodes);
          const uint64_t probe[4] = {a, b, a - 1, b + 1};
          for (int k = 0; ok && k < 4; k++) {
            int punctured = k < 2 || probe[k] == p;
            int err = impl->eval(key, probe[k], out);
            ok = probe[k] >= size ? err == PPRF_ERR_RANGE
                 : punctured      ? err == PPRF_ERR_PUNCTURED
                             : err == PPRF_OK && memcmp(out, value[probe[k]], value_bytes) == 0;
          }
          ok = ok && impl->punct_range(key, a, b) == PPRF_ERR_PUNCTURED;
          if (!ok)
            problem("%s depth %u punct %u range %u..%u", impl->name, depth, (unsigned)p,
                    (unsigned)a, (unsigned)b);
          impl->free(key);
        }
        count++;
        free(want);
        model_free(&m);
      }
    for (int i = 0; i < IMPLS; i++)
      free(base[i]);
    tap_progress("ranges", p, size);
  }
  return count;
}

/* The nodes of a key that lie inside a range. */
static size_t inside(const struct model *m, uint64_t first, uint64_t last)
{
  uint8_t out[VALUE_MAX];
  size_t n = 0;
  for (uint64_t x = first, end; x <= last; x++)
    if (model_eval(m, x, out) == PPRF_OK) {
      end = x + ((uint64_t)1 << model_height(m, x)) - 1;
      n += x >> model_height(m, x) << model_height(m, x) == x && end <= last;
    }
  return n;
}

/* Delegate a..b of a key.  The new key is the model's and has few nodes; with `again`, so has each part of it. */
static uint64_t delegated(const struct pprf_impl *impl, const pprf_key *key, const struct model *m,
                          uint64_t a, uint64_t b, int again)
{
  struct model part;
  pprf_key *sub;
  size_t len, nodes;
  const size_t more = m->depth == 1 ? 1 : 2 * (m->depth - 1);
  uint64_t count = 1;
  int want_err = model_delegate(m, a, b, &part), err = impl->delegate(key, a, b, &sub);
  if (err != want_err || (err != PPRF_OK) != (sub == NULL))
    problem("%s depth %u delegate %u..%u: %s, want %s", impl->name, m->depth, (unsigned)a,
            (unsigned)b, result_name(err), result_name(want_err));
  if (want_err != PPRF_OK || err != PPRF_OK)
    return 1;
  uint8_t *want = model_export(&part, &len, &nodes);
  if (!is_key(impl, sub, want, len, nodes) || nodes > inside(m, a, b) + more)
    problem("%s depth %u delegate %u..%u: another key", impl->name, m->depth, (unsigned)a,
            (unsigned)b);
  for (uint64_t c = 0; again && c < 1u << m->depth; c++)
    for (uint64_t d = c; d < 1u << m->depth; d++)
      count += delegated(impl, sub, &part, c, d, 0);
  impl->free(sub);
  free(want);
  model_free(&part);
  return count;
}

/* Every part of every key with one hole a..b; none if b = 2^depth. */
static uint64_t parts(unsigned depth, int again)
{
  uint8_t seed[VALUE_MAX];
  uint64_t size = (uint64_t)1 << depth, count = 0;
  test_prg_root(depth, 6, seed);
  for (int i = 0; i < STORES; i++)
    for (uint64_t a = 0; a < size; a++)
      for (uint64_t b = a; b <= size; b += b + 1 == size && a > 0 ? 2 : 1) {
        pprf_key *key = fresh(stores[i], depth, seed);
        struct model m;
        model_setup(&m, depth, family, seed);
        if (b < size && stores[i]->punct_range(key, a, b) == PPRF_OK)
          (void)model_punct_range(&m, a, b);
        for (uint64_t c = 0; c < size; c++)
          for (uint64_t d = c; d < size; d++)
            count += delegated(stores[i], key, &m, c, d, again);
        model_free(&m);
        stores[i]->free(key);
      }
  return count;
}

/* Import: bytes that the model accepts are accepted and exported unchanged; all others are
 * rejected. */
static void decode(const uint8_t *bytes, size_t len, const char *what, size_t at)
{
  int want = model_import(bytes, len);
  for (int i = 0; i < IMPLS; i++) {
    pprf_key *key = NULL;
    int err = import_any(impls[i], &key, bytes, len);
    imports_checked++;
    if (err != want || (err != PPRF_OK && key != NULL))
      problem("%s: %s %zu of a file of %zu bytes: %s, want %s", impls[i]->name, what, at, len,
              result_name(err), result_name(want));
    if (err == PPRF_OK) {
      if (!is_key(impls[i], key, bytes, len, impls[i]->node_count(key)))
        problem("%s: %s %zu of a file of %zu bytes: exported differently", impls[i]->name, what, at,
                len);
      impls[i]->free(key);
    }
  }
}

static void prefixes(const uint8_t *file, size_t len)
{
  for (size_t n = 0; n < len; n++) {
    uint8_t *prefix = malloc(n > 0 ? n : 1); /* exact, for the sanitizer */
    memcpy(prefix, file, n);
    for (int i = 0; i < IMPLS; i++) {
      pprf_key *key = NULL;
      int err = import_any(impls[i], &key, prefix, n);
      imports_checked++;
      if (err != PPRF_ERR_FORMAT || key != NULL)
        problem("%s: %zu of %zu bytes: %s", impls[i]->name, n, len, result_name(err));
    }
    free(prefix);
  }
}

/* The decoder does not examine seeds, so unless `all` is set one seed byte stands for the
 * others. */
static void bytes_changed(const uint8_t *file, size_t len, int all)
{
  uint8_t *bytes = malloc(len);
  unsigned width = file[9] / 8u + 1, header = file[7] == 1 ? 16 : 36;
  for (size_t at = 0; at < len; at++) {
    int seed = at >= header && at < len - 32 && (at - header) % (width + value_bytes) >= width;
    for (unsigned change = 1; change < 256; change++) {
      if (!all && (seed || at >= len - 32) && change != 1 && change != 0x80)
        continue;
      memcpy(bytes, file, len);
      bytes[at] ^= (uint8_t)change;
      for (int i = 0; i < IMPLS; i++) {
        pprf_key *key = NULL;
        imports_checked++;
        if (import_any(impls[i], &key, bytes, len) != model_import(bytes, len) || key != NULL)
          problem("%s: byte %zu of %zu changed by 0x%x: not rejected", impls[i]->name, at, len,
                  change);
      }
      if (at >= len - 32)
        continue;
      (void)prg_digest(bytes, len - 32, bytes + len - 32);
      decode(bytes, len, "correct digest, byte", at);
    }
  }
  free(bytes);
}

/* The files of all sets of a depth, or of `count` random ones. */
static uint64_t files(unsigned depth, unsigned count, void (*f)(const uint8_t *, size_t))
{
  uint8_t seed[VALUE_MAX];
  uint64_t state = depth, done = 0, total = (uint64_t)1 << (1u << depth);
  test_prg_root(depth, 4, seed);
  for (uint64_t s = 0; count == 0 ? s < total : s < count; s++, done++) {
    size_t len, nodes;
    uint64_t set = count == 0 ? s : tap_random(&state) & tap_random(&state);
    uint8_t *file = encoding(depth, seed, (uint32_t)set, &len, &nodes);
    f(file, len);
    free(file);
  }
  return done;
}

static void some_bytes(const uint8_t *file, size_t len)
{
  bytes_changed(file, len, 0);
}

static void all_bytes(const uint8_t *file, size_t len)
{
  bytes_changed(file, len, 1);
}

static uint64_t deep_prefixes(void)
{
  uint64_t count = 0;
  for (unsigned depth = 6; depth <= 32; depth++) {
    struct model m;
    uint8_t seed[VALUE_MAX];
    uint64_t state = depth;
    size_t len, nodes;
    test_prg_root(depth, 5, seed);
    model_setup(&m, depth, family, seed);
    for (int i = 0; i < 5; i++)
      (void)model_punct(&m, tap_random(&state) & (((uint64_t)1 << depth) - 1));
    uint8_t *file = model_export(&m, &len, &nodes);
    prefixes(file, len);
    free(file);
    model_free(&m);
    count++;
  }
  return count;
}

/* All tests with one PRG; unless `all` is set, a part of them. */
static void run(const char *prg, int all, int full, int toy)
{
  uint64_t n = 0;
  problems = 0;
  for (unsigned depth = 1; depth <= 4; depth++)
    n += sets(depth, depth == 4 && !all ? 97 : 1);
  tap_ok(problems == 0, "order_of_punctures_is_irrelevant (%s, %" PRIu64 " sets, 3 orders)", prg,
         n);
  problems = 0;
  if (all) {
    n = orders();
    tap_ok(problems == 0 && n == 109601, "every_order_of_every_set_at_depth_3 (%s, %" PRIu64 ")",
           prg, n);
  }
  problems = 0;
  n = 0;
  for (unsigned depth = 1; depth <= (all ? 7u : 6u); depth++)
    n += ranges(depth, all && (depth < 7 || !tap_stop()) ? 1 : 19);
  tap_ok(problems == 0, "every_range_after_every_puncture (%s, %" PRIu64 " ranges)", prg, n);
  problems = 0;
  n = parts(1, 1) + parts(2, 1) + parts(3, all) + parts(4, full);
  tap_ok(problems == 0, "every_part_of_every_key_with_a_hole (%s, %" PRIu64 " delegations)", prg,
         n);
  problems = 0;
  n = files(1, 0, prefixes) + files(2, 0, prefixes) + files(3, 0, prefixes) +
      files(4, full && toy ? 0 : 50, prefixes) + files(5, full ? 2000 : 50, prefixes) +
      deep_prefixes();
  tap_ok(problems == 0, "every_prefix_is_rejected (%s, %" PRIu64 " files)", prg, n);
  problems = 0;
  n = files(1, 0, all_bytes) + files(2, 0, all ? all_bytes : some_bytes);
  n += all ? files(3, 0, full && toy ? all_bytes : some_bytes) : files(3, 20, some_bytes);
  n += files(4, full ? 2000 : all ? 60 : 4, some_bytes);
  n += files(5, full ? 2000 : all ? 60 : 4, some_bytes);
  tap_ok(problems == 0, "every_changed_byte_is_rejected_or_canonical (%s, %" PRIu64 " files)", prg,
         n);
  tap_ok(test_prg_mislabelled == 0, "every_seed_is_expanded_at_its_own_node (%s)", prg);
}

int main(int argc, char **argv)
{
  int full = tap_full(argc, argv);
  for (int toy = 1; toy >= 0; toy--) {
    test_prg_toy = toy;
    run(toy ? "toy" : "sha3", toy || full, full, toy);
  }
  family.suite = PRG_MLS_SHA256;
  value_bytes = 32;
  for (int toy = 1; toy >= 0; toy--) {
    test_prg_toy = toy;
    run(toy ? "toy of 32 bytes" : "mls-sha256", full && toy, full, toy);
  }
  tap_note("%" PRIu64 " keys compared, %" PRIu64 " imports", keys_checked, imports_checked);
  return tap_end();
}

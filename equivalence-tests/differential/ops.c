/* SPDX-License-Identifier: Apache-2.0 */
#include "ops.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "impls.h"
#include "../../opt/shared.h"
#include "model.h"
#include "common/options.h"
#include "oracle.h"
#include "../../tools/tap.h"
#include "test_prg.h"

/* opt's keys in the packed store are a third implementation, those in shared memory a fourth.
 * Neither can be imported. A shared key draws its root at random: here the test PRG supplies it.
 * Large shared trees would need much memory-backed address space. */
enum { PACKED = IMPLS, SHARED, PARTIES, SHARED_DEPTH_MAX = 14 };

static int shared_setup(pprf_key **key, unsigned depth, const uint8_t *seed)
{
  int err = opt_shared_new(key, depth);
  if (err != PPRF_OK)
    return err;
  test_prg_next_random = seed;
  err = opt_shared_start(*key);
  test_prg_next_random = NULL;
  return err;
}

static void shared_free(pprf_key *key)
{
  if (key != NULL) {
    opt_shared_clear(key);
    opt_shared_free(key);
  }
}

static const struct pprf_impl *party(int i)
{
  static struct pprf_impl shared;
  if (i < STORES)
    return stores[i];
  if (shared.name == NULL) {
    shared = impl_slots;
    shared.name = "shared";
    shared.setup = shared_setup;
    shared.free = shared_free;
    shared.import_key = NULL;
  }
  return &shared;
}

/* One operation, decoded. */
struct op {
  unsigned code;
  uint64_t a, b; /* two leaves, or the first and the last of a range */
  unsigned x, y; /* two byte operands */
};

struct reader {
  const uint8_t *at, *end;
  uint64_t leaf; /* the last leaf */
  unsigned depth;
};

static int read_byte(struct reader *r, unsigned *v)
{
  if (r->at == r->end)
    return 0;
  *v = *r->at++;
  return 1;
}

/* The depth encoded in a byte. */
static unsigned depth_of(unsigned byte)
{
  unsigned depth = (byte & 63) + 1;
  return depth <= PPRF_DEPTH_MAX ? depth : PPRF_DEPTH_MAX;
}

static int read_leaf(struct reader *r, uint64_t *leaf)
{
  unsigned s;
  if (!read_byte(r, &s))
    return 0;
  unsigned k = s & 63, bit = r->depth > 32 ? k : k % 34;
  switch (s >> 6) {
  case 0:
    r->leaf += (uint64_t)k - 32;
    break;
  case 1:
    r->leaf ^= (uint64_t)1 << bit;
    break;
  case 2:
    r->leaf = s & 1 ? ((uint64_t)1 << r->depth) - ((uint64_t)1 << bit) : ((uint64_t)1 << bit) - 1;
    break;
  default: {
    unsigned bytes = r->depth > 32 ? (s & 7) + 1 : (s & 7) % 5 + 1, v;
    uint64_t x = 0;
    for (unsigned i = 0; i < bytes; i++) {
      if (!read_byte(r, &v))
        return 0;
      x |= (uint64_t)v << 8 * i;
    }
    r->leaf = x;
  }
  }
  *leaf = r->leaf;
  return 1;
}

/* The next operation; 0 at the end. */
static int read_op(struct reader *r, struct op *op)
{
  static const uint8_t canonical[16] = {OP_EVAL,       OP_PUNCT,       OP_EVAL_PUNCT, OP_RANGE,
                                        OP_EXPORT,     OP_IMPORT,      OP_SWAP,       OP_COUNT,
                                        OP_SETUP,      OP_SWEEP,       OP_SUBTREE,    OP_FAIL,
                                        OP_EVAL_BATCH, OP_PUNCT_BATCH, OP_EXPAND,     OP_DELEGATE};
  unsigned byte;
  *op = (struct op){0};
  if (!read_byte(r, &byte))
    return 0;
  op->code = canonical[byte & 15];
  switch (op->code) {
  case OP_EVAL:
  case OP_PUNCT:
  case OP_EVAL_PUNCT:
    return read_leaf(r, &op->a);
  case OP_RANGE:
  case OP_EXPAND:
  case OP_DELEGATE:
    return read_leaf(r, &op->a) && read_leaf(r, &op->b);
  case OP_EXPORT:
  case OP_FAIL:
    return read_byte(r, &op->x);
  case OP_SETUP:
    if (!read_byte(r, &op->x) || !read_byte(r, &op->y))
      return 0;
    op->x = depth_of(op->x);
    r->depth = op->x;
    return 1;
  case OP_EVAL_BATCH:
  case OP_PUNCT_BATCH:
  case OP_SWEEP:
    return read_leaf(r, &op->a) && read_byte(r, &op->x) && read_byte(r, &op->y);
  case OP_SUBTREE: {
    if (!read_leaf(r, &op->a) || !read_byte(r, &op->x))
      return 0;
    uint64_t below = ((uint64_t)1 << op->x % (r->depth > 32 ? 64 : 33)) - 1;
    op->b = op->a | below;
    op->a &= ~below;
    return 1;
  }
  default:
    return 1;
  }
}

static void op_text(const struct op *op, char *text, size_t size)
{
  static const char *const name[] = {
    "eval",  "punct", "eval_punct", "range", "export",     "import",      "swap",   "count",
    "setup", "sweep", "range",      "fail",  "eval_batch", "punct_batch", "expand", "delegate"};
  int n = snprintf(text, size, "%s", name[op->code]);
  text += n;
  size -= (size_t)n;
  switch (op->code) {
  case OP_EVAL:
  case OP_PUNCT:
  case OP_EVAL_PUNCT:
    snprintf(text, size, " 0x%" PRIx64, op->a);
    break;
  case OP_EVAL_BATCH:
  case OP_PUNCT_BATCH:
    snprintf(text, size, " 0x%" PRIx64 " and the like, %u, spread %u", op->a, op->x, op->y + 1);
    break;
  case OP_RANGE:
  case OP_EXPAND:
  case OP_SUBTREE:
  case OP_DELEGATE:
    snprintf(text, size, " 0x%" PRIx64 "..0x%" PRIx64, op->a, op->b);
    break;
  case OP_EXPORT:
    snprintf(text, size, " buffer %s",
             (const char *[]){"exact", "short", "NULL", "longer"}[op->x % 4]);
    break;
  case OP_SETUP:
    snprintf(text, size, " depth %u tag %u", op->x, op->y);
    break;
  case OP_SWEEP:
    snprintf(text, size, " 0x%" PRIx64 " and %u more, step %u", op->a, op->x, op->y + 1);
    break;
  case OP_FAIL:
    snprintf(text, size, " at PRG call %u of the next operation", op->x + 1);
    break;
  default:
    break;
  }
}

struct run {
  struct ops_result *result;
  FILE *trace;
  pprf_key *key[PARTIES];
  int parties; /* PARTIES, or one less if the shared key is left out */
  struct model model;
  unsigned fail; /* the PRG call that fails in the next operation; 0: none */
  struct op op;
};

__attribute__((format(printf, 2, 3))) static void fail(struct run *r, const char *what, ...)
{
  char text[160];
  va_list ap;
  if (r->result->failed)
    return;
  r->result->failed = 1;
  op_text(&r->op, text, sizeof text);
  int n = snprintf(r->result->text, sizeof r->result->text, "op=%zu %s: ", r->result->ops, text);
  va_start(ap, what);
  vsnprintf(r->result->text + n, sizeof r->result->text - (size_t)n, what, ap);
  va_end(ap);
}

enum { VALUE_MAX = PPRF_VALUE_BYTES_MAX, HEX_MAX = 2 * VALUE_MAX + 1 };

static void hex(const uint8_t *p, size_t n, char text[HEX_MAX])
{
  for (size_t i = 0; i < n; i++)
    snprintf(text + 2 * i, 3, "%02x", p[i]);
}

/* Export into a block of exactly the right size, so that a sanitizer detects any overrun. */
static uint8_t *export_of(struct run *r, int i, const pprf_key *key, size_t *len)
{
  *len = 0;
  int err = party(i)->export_key(key, NULL, len);
  if (err != PPRF_OK) {
    fail(r, "%s: the length for export: %s", party(i)->name, result_name(err));
    return NULL;
  }
  uint8_t *bytes = malloc(*len);
  size_t got = *len;
  err = party(i)->export_key(key, bytes, &got);
  if (err != PPRF_OK || got != *len) {
    fail(r, "%s: export: %s, %zu bytes, %zu announced", party(i)->name, result_name(err), got,
         *len);
    free(bytes);
    return NULL;
  }
  return bytes;
}

static uint8_t *export(struct run *r, int i, size_t *len)
{
  return export_of(r, i, r->key[i], len);
}

/* All keys have the same canonical bytes and node counts. */
static void compare_keys(struct run *r)
{
  size_t want_len, nodes;
  uint8_t *want = model_export(&r->model, &want_len, &nodes);
  if (nodes > r->result->peak_nodes)
    r->result->peak_nodes = nodes;
  for (int i = 0; i < r->parties && !r->result->failed; i++) {
    size_t count = party(i)->node_count(r->key[i]), len;
    if (count != nodes) {
      fail(r, "%s: %zu nodes, model: %zu", party(i)->name, count, nodes);
      break;
    }
    uint8_t *bytes = export(r, i, &len);
    if (bytes == NULL)
      break;
    size_t at = 0;
    while (at < len && at < want_len && bytes[at] == want[at])
      at++;
    if (len != want_len || at != len)
      fail(r, "%s: key of %zu bytes differs from the model's %zu at byte %zu", party(i)->name, len,
           want_len, at);
    free(bytes);
  }
  /* The oracle's dump is slow: for long keys compare only node counts. */
  if (oracle_running() && !r->result->failed) {
    size_t len = want_len;
    uint8_t *bytes = nodes <= 100 ? oracle_export(r->model.depth, r->model.family, &len) : NULL;
    if (nodes != oracle_count() || len != want_len ||
        (bytes != NULL && memcmp(bytes, want, len) != 0))
      fail(r, "the oracle's key differs from the model's");
    free(bytes);
  }
  free(want);
}

unsigned ops_compare_every = 1, ops_many_max = 1024;

/* A cheap check: the implementations have the same number of nodes. */
static void compare_counts(struct run *r)
{
  size_t nodes = party(0)->node_count(r->key[0]);
  r->result->peak_nodes = nodes > r->result->peak_nodes ? nodes : r->result->peak_nodes;
  for (int i = 1; i < r->parties; i++)
    if (party(i)->node_count(r->key[i]) != nodes)
      fail(r, "%s and %s: different numbers of nodes", party(0)->name, party(i)->name);
}

/* The extracted Coq model agrees with the naive one. */
static void ask_oracle(struct run *r, unsigned code, uint64_t a, uint64_t b, int want,
                       const uint8_t *value)
{
  uint8_t out[VALUE_MAX];
  int err = PPRF_OK;
  if (!oracle_running() || want == PPRF_ERR_RANGE)
    return;
  if (code == OP_EVAL || code == OP_EVAL_PUNCT) {
    err = oracle_eval(a, out);
    if (err == want && memcmp(out, value, model_value_bytes(&r->model)) != 0)
      fail(r, "the oracle's value differs from the model's");
  }
  if (code == OP_PUNCT || (code == OP_EVAL_PUNCT && err == PPRF_OK))
    err = oracle_punct(a);
  else if (code == OP_RANGE)
    err = oracle_punct_range(a, b);
  if (err != want)
    fail(r, "oracle=%s model=%s", result_name(err), result_name(want));
}

/* One of eval, punct, eval_punct, range on one implementation. */
static int call(const struct pprf_impl *impl, pprf_key *key, unsigned code, uint64_t a, uint64_t b,
                uint8_t *out)
{
  switch (code) {
  case OP_EVAL:
    return impl->eval(key, a, out);
  case OP_PUNCT:
    return impl->punct(key, a);
  case OP_EVAL_PUNCT:
    return impl->eval_punct(key, a, out);
  default:
    return impl->punct_range(key, a, b);
  }
}

static void leaf_op(struct run *r, unsigned code, uint64_t a, uint64_t b)
{
  static const uint8_t zero[VALUE_MAX];
  const size_t bytes = model_value_bytes(&r->model);
  int want, has_value = code == OP_EVAL || code == OP_EVAL_PUNCT;
  uint8_t value[VALUE_MAX] = {0};
  size_t old_len = 0, nodes;
  uint8_t *old = NULL;
  /* PRG calls that the operation may make: one per level below the node, two per level for a
   * range */
  uint64_t cost = 0;
  if (code == OP_RANGE)
    cost = 2 * r->model.depth;
  else if (a >> r->model.depth == 0 && model_eval(&r->model, a, value) == PPRF_OK)
    cost = model_height(&r->model, a);
  if (r->fail != 0)
    old = model_export(&r->model, &old_len, &nodes);
  switch (code) {
  case OP_EVAL:
    want = model_eval(&r->model, a, value);
    break;
  case OP_PUNCT:
    want = model_punct(&r->model, a);
    break;
  case OP_EVAL_PUNCT:
    want = model_eval_punct(&r->model, a, value);
    break;
  default:
    want = model_punct_range(&r->model, a, b);
  }
  ask_oracle(r, code, a, b, want, value);
  int err[PARTIES];
  uint8_t out[PARTIES][VALUE_MAX + 1];
  for (int i = 0; i < r->parties && !r->result->failed; i++) {
    uint64_t hits = test_prg_failed, spent = prg_calls();
    memset(out[i], 0xee, sizeof out[i]);
    test_prg_fail = r->fail;
    err[i] = call(party(i), r->key[i], code, a, b, out[i]);
    test_prg_fail = 0;
    if (test_prg_failed != hits) { /* it failed and changed nothing: repeat without failure */
      r->result->faults++;
      if (err[i] != PPRF_ERR_CRYPTO)
        fail(r, "%s: %s although the PRG failed", party(i)->name, result_name(err[i]));
      if (has_value && memcmp(out[i], zero, bytes) != 0)
        fail(r, "%s: the output is not zero after a failure of the PRG", party(i)->name);
      size_t len;
      uint8_t *now = export(r, i, &len);
      if (now != NULL && (len != old_len || memcmp(now, old, len) != 0))
        fail(r, "%s: the key changed although the PRG failed", party(i)->name);
      free(now);
      memset(out[i], 0xee, sizeof out[i]);
      spent = prg_calls();
      err[i] = call(party(i), r->key[i], code, a, b, out[i]);
    }
    spent = prg_calls() - spent;
    if (code == OP_RANGE ? spent > cost : spent != cost)
      fail(r, "%s: %llu PRG calls, should be %llu", party(i)->name, (unsigned long long)spent,
           (unsigned long long)cost);
  }
  free(old);
  if (r->result->failed)
    return;
  for (int i = 0; i < r->parties; i++)
    if (err[i] != want) {
      const char *shared = r->parties > SHARED ? " shared=" : "";
      fail(r, "ref=%s slots=%s opt=%s%s%s model=%s", result_name(err[0]), result_name(err[1]),
           result_name(err[PACKED]), shared, r->parties > SHARED ? result_name(err[SHARED]) : "",
           result_name(want));
    }
  for (int i = 0; has_value && i < r->parties; i++)
    if (memcmp(out[i], value, bytes) != 0 || out[i][bytes] != 0xee) {
      char got[HEX_MAX], good[HEX_MAX];
      hex(out[i], bytes, got);
      hex(value, bytes, good);
      fail(r, "%s=%s model=%s", party(i)->name, got, good);
    }
  if (r->trace != NULL) {
    char text[HEX_MAX];
    hex(value, bytes, text);
    fprintf(r->trace, " = %s%s%s", result_name(want), has_value && want == PPRF_OK ? " " : "",
            has_value && want == PPRF_OK ? text : "");
  }
}

/* ---- delegation */

/* A key that an implementation delegated is the model's. */
static void compare_sub(struct run *r, int i, const pprf_key *sub, const struct model *want)
{
  size_t len, want_len, nodes;
  uint8_t *bytes = export_of(r, i, sub, &len), *good = model_export(want, &want_len, &nodes);
  if (bytes != NULL &&
      (len != want_len || memcmp(bytes, good, len) != 0 || party(i)->node_count(sub) != nodes))
    fail(r, "%s: the delegated key of %zu bytes differs from the model's %zu", party(i)->name, len,
         want_len);
  free(bytes);
  free(good);
}

static void delegate_op(struct run *r, uint64_t a, uint64_t b)
{
  struct model want = {0}, after = {0};
  int want_err = model_delegate(&r->model, a, b, &want);
  /* without its first leaf, if it has another one */
  int more = want_err == PPRF_OK && model_delegate(&want, a + 1, b, &after) == PPRF_OK;
  for (int i = 0; i < r->parties && !r->result->failed; i++) {
    pprf_key *sub = r->key[i]; /* must be set to NULL on an error */
    uint64_t hits = test_prg_failed, spent = prg_calls();
    test_prg_fail = r->fail;
    int err = party(i)->delegate(r->key[i], a, b, &sub);
    test_prg_fail = 0;
    if (test_prg_failed != hits) { /* repeat without failure */
      r->result->faults++;
      if (err != PPRF_ERR_CRYPTO || sub != NULL)
        fail(r, "%s: %s although the PRG failed", party(i)->name, result_name(err));
      spent = prg_calls();
      err = party(i)->delegate(r->key[i], a, b, &sub);
    }
    spent = prg_calls() - spent;
    if (err != want_err || (err != PPRF_OK) != (sub == NULL))
      fail(r, "%s=%s model=%s", party(i)->name, result_name(err), result_name(want_err));
    else if (spent > 2 * r->model.depth)
      fail(r, "%s: %llu PRG calls", party(i)->name, (unsigned long long)spent);
    if (err != PPRF_OK || r->result->failed)
      continue; /* compare_keys shows that the key is as it was */
    compare_sub(r, i, sub, &want);
    if (party(i)->punct(sub, a) <= PPRF_ERR_PUNCTURED && more)
      compare_sub(r, i, sub, &after);
    party(i == SHARED ? PACKED : i)->free(sub);
  }
  model_free(&want);
  model_free(&after);
}

/* ---- batches and expansion, which pprf.h defines in terms of the other operations */

/* ref's, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);

enum { BATCH_MAX = 255, EXPAND_MAX = 1024 };

/* Values in the order of the batch's or range's leaves. */
struct many {
  uint64_t first;
  size_t bytes; /* size of a value */
  uint8_t out[EXPAND_MAX * VALUE_MAX];
  int result[EXPAND_MAX];
  int wrong;
};

static int collect(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  struct many *m = arg;
  for (size_t i = 0; i < n; i++) {
    uint64_t at = leaf + i - m->first;
    if (leaf < m->first || at >= EXPAND_MAX || m->result[at] != -1) {
      m->wrong = 1;
      return -1;
    }
    memcpy(m->out + m->bytes * at, values + m->bytes * i, m->bytes);
    m->result[at] = PPRF_OK;
  }
  return 0;
}

static int call_many(struct run *r, int i, unsigned code, const uint64_t *leaf, size_t n,
                     struct many *m)
{
  pprf_key *key = r->key[i];
  m->wrong = 0;
  m->bytes = model_value_bytes(&r->model);
  if (code == OP_EXPAND) {
    m->first = leaf[0];
    memset(m->out, 0, sizeof m->out);
    for (size_t k = 0; k < EXPAND_MAX; k++)
      m->result[k] = -1;
    return (i == 0 ? ref_pprf_expand : pprf_expand)(key, leaf[0], leaf[1], collect, m);
  }
  memset(m->out, 0xee, sizeof m->out);
  memset(m->result, 0xee, sizeof m->result);
  return code == OP_EVAL_BATCH
           ? (i == 0 ? ref_pprf_eval_batch : pprf_eval_batch)(key, leaf, n, m->out, m->result)
           : (i == 0 ? ref_pprf_punct_batch : pprf_punct_batch)(key, leaf, n, m->result);
}

/* The model's results: result and value of each leaf, and the overall result. */
static int model_many(struct run *r, unsigned code, const uint64_t *leaf, size_t n, struct many *m,
                      uint64_t *cost)
{
  struct model *model = &r->model;
  const size_t bytes = m->bytes = model_value_bytes(model);
  *cost = 0;
  if (code == OP_EXPAND) {
    if (leaf[0] > leaf[1] || leaf[1] >> model->depth != 0)
      return PPRF_ERR_RANGE;
    for (uint64_t x = leaf[0]; x <= leaf[1]; x++)
      m->result[x - leaf[0]] = model_eval(model, x, m->out + bytes * (x - leaf[0]));
    return PPRF_OK;
  }
  int err = PPRF_OK;
  for (size_t i = 0; i < n; i++)
    err = leaf[i] >> model->depth != 0 ? PPRF_ERR_RANGE : err;
  for (size_t i = 0; i < n; i++) {
    memset(m->out + bytes * i, 0, bytes);
    m->result[i] = err;
    if (err != PPRF_OK)
      continue;
    m->result[i] = model_eval(model, leaf[i], m->out + bytes * i);
    if (code == OP_PUNCT_BATCH && m->result[i] == PPRF_OK) {
      *cost += model_height(model, leaf[i]);
      (void)model_punct(model, leaf[i]);
      if (oracle_running())
        (void)oracle_punct(leaf[i]);
    }
  }
  return err;
}

static void many_op(struct run *r, const struct op *op)
{
  static struct many want, got;
  static const uint8_t zero[VALUE_MAX];
  const size_t bytes = model_value_bytes(&r->model);
  uint64_t leaf[BATCH_MAX], cost, mask = ((uint64_t)1 << r->model.depth) - 1;
  size_t n = op->code == OP_EXPAND ? 2 : op->x, places, old_len, nodes;
  for (size_t i = 0; i < n; i++) {
    leaf[i] = op->a + (uint64_t)(i * i) * (op->y + 1);
    if (op->a <= mask)
      leaf[i] &= mask;
  }
  if (op->code == OP_EXPAND) {
    leaf[0] = op->a;
    uint64_t most = ops_many_max < EXPAND_MAX ? ops_many_max : EXPAND_MAX;
    leaf[1] = op->b >= op->a && op->b - op->a >= most ? op->a + most - 1 : op->b;
  }
  uint8_t *old = model_export(&r->model, &old_len, &nodes);
  int want_err = model_many(r, op->code, leaf, n, &want, &cost);
  places = op->code != OP_EXPAND ? n : want_err == PPRF_OK ? leaf[1] - leaf[0] + 1 : 0;
  for (int i = 0; i < r->parties && !r->result->failed; i++) {
    uint64_t hits = test_prg_failed, spent = prg_calls();
    test_prg_fail = r->fail;
    int err = call_many(r, i, op->code, leaf, n, &got);
    test_prg_fail = 0;
    if (test_prg_failed != hits) {
      r->result->faults++;
      if (err != PPRF_ERR_CRYPTO)
        fail(r, "%s: %s although the PRG failed", party(i)->name, result_name(err));
      for (size_t k = 0; op->code != OP_EXPAND && k < n; k++)
        if (got.result[k] != PPRF_ERR_CRYPTO ||
            (op->code == OP_EVAL_BATCH && memcmp(got.out + bytes * k, zero, bytes) != 0))
          fail(r, "%s: output %zu is not zero after a failure of the PRG", party(i)->name, k);
      size_t len;
      uint8_t *now = export(r, i, &len);
      if (now != NULL && (len != old_len || memcmp(now, old, len) != 0))
        fail(r, "%s: the key changed although the PRG failed", party(i)->name);
      free(now);
      spent = prg_calls();
      err = call_many(r, i, op->code, leaf, n, &got);
    }
    spent = prg_calls() - spent;
    if (err != want_err || got.wrong)
      fail(r, "%s=%s model=%s", party(i)->name, result_name(err), result_name(want_err));
    if (op->code == OP_PUNCT_BATCH && spent != cost)
      fail(r, "%s: %llu PRG calls, should be %llu", party(i)->name, (unsigned long long)spent,
           (unsigned long long)cost);
    for (size_t k = 0; k < places && !r->result->failed; k++) {
      int result = got.result[k] == -1 ? PPRF_ERR_PUNCTURED : got.result[k];
      if (result != want.result[k])
        fail(r, "%s: place %zu is %s, model: %s", party(i)->name, k, result_name(result),
             result_name(want.result[k]));
      if (op->code != OP_PUNCT_BATCH &&
          memcmp(got.out + bytes * k, want.out + bytes * k, bytes) != 0)
        fail(r, "%s: place %zu has another value than the model's", party(i)->name, k);
    }
  }
  free(old);
}

/* The family of a tag's keys: from 0xc0 on the suite with 32-byte seeds, otherwise the other
 * suites in turn; the bytes of a salt are those after the tag. */
static struct pprf_family family_of(uint8_t tag, uint8_t salt[16])
{
  struct pprf_family family = {tag >= 0xc0 ? PRG_MLS_SHA256 : PRG_SHA3_256 + tag % 3u, 0, 0};
  memset(salt, 0, 16);
  if (!pprf_has_salt(family.suite))
    return family;
  for (unsigned i = 0; i < 16; i++)
    salt[i] = (uint8_t)(tag * (i + 1u) + 0x5a);
  for (unsigned i = 8; i-- > 0;) {
    family.salt_lo = family.salt_lo << 8 | salt[i];
    family.salt_hi = family.salt_hi << 8 | salt[8 + i];
  }
  return family;
}

/* A key of the family. A shared key of a suite with a salt is made through the options, like the
 * others. */
static int setup_party(int i, pprf_key **key, unsigned depth, const uint8_t *seed, unsigned suite,
                       const uint8_t *salt)
{
  struct pprf_options options = {.size = sizeof options,
                                 .seed = seed,
                                 .depth = depth,
                                 .flags = i == SHARED ? PPRF_SHARED : 0,
                                 .suite = suite,
                                 .salt = pprf_has_salt(suite) ? salt : NULL};
  return suite == PRG_SHA3_256 ? party(i)->setup(key, depth, seed)
                               : party(i)->setup_with(key, &options);
}

/* Keys of both implementations and the model from one root. */
static void setup(struct run *r, unsigned depth, uint8_t tag)
{
  uint8_t seed[VALUE_MAX], salt[16];
  test_prg_root(depth, tag, seed);
  model_free(&r->model);
  model_setup(&r->model, depth, family_of(tag, salt), seed);
  if (oracle_running())
    oracle_setup(depth, r->model.family, seed, test_prg_toy);
  for (int i = 0; i < PARTIES; i++) {
    party(i)->free(r->key[i]);
    r->key[i] = NULL;
  }
  r->parties = depth <= SHARED_DEPTH_MAX ? PARTIES : SHARED;
  for (int i = 0; i < r->parties; i++) {
    int err = setup_party(i, &r->key[i], depth, seed, r->model.family.suite, salt);
    if (err != PPRF_OK || r->key[i] == NULL)
      fail(r, "%s: setup: %s", party(i)->name, result_name(err));
  }
}

static void export_op(struct run *r, unsigned kind)
{
  for (int i = 0; i < r->parties && !r->result->failed; i++) {
    size_t want = 0, len;
    if (party(i)->export_key(r->key[i], NULL, &want) != PPRF_OK)
      fail(r, "%s: the length for export", party(i)->name);
    size_t room = kind == 1 ? want - 1 : kind == 3 ? want + 7 : want;
    uint8_t *bytes = kind == 2 ? NULL : malloc(room);
    if (bytes != NULL)
      memset(bytes, 0xcc, room);
    len = kind == 2 ? 3 : room;
    int err = party(i)->export_key(r->key[i], bytes, &len);
    if (err != (kind == 1 ? PPRF_ERR_BUFFER : PPRF_OK) || len != want)
      fail(r, "%s: %s, length %zu of %zu", party(i)->name, result_name(err), len, want);
    for (size_t at = kind == 1 ? 0 : want; bytes != NULL && at < room; at++)
      if (bytes[at] != 0xcc)
        fail(r, "%s: byte %zu written, the buffer's content ends at %zu", party(i)->name, at,
             kind == 1 ? 0 : want);
    free(bytes);
  }
}

/* Export and free each key except a shared one, and import it from its own bytes or those of
 * another key. */
static void import_op(struct run *r, int swap)
{
  uint8_t *bytes[STORES];
  size_t len[STORES];
  for (int i = 0; i < STORES; i++)
    bytes[i] = export(r, i, &len[i]);
  for (int i = 0; i < STORES && !r->result->failed; i++) {
    int from = swap ? STORES - 1 - i : i;
    party(i)->free(r->key[i]);
    r->key[i] = NULL;
    int err = import_any(party(i), &r->key[i], bytes[from], len[from]);
    if (err != PPRF_OK || r->key[i] == NULL)
      fail(r, "%s: import of what %s exported: %s", party(i)->name, party(from)->name,
           result_name(err));
  }
  for (int i = 0; i < STORES; i++)
    free(bytes[i]);
}

static void count_op(struct run *r)
{
  for (int i = 0; i < r->parties; i++) {
    unsigned depth = party(i)->depth(r->key[i]);
    /* memory_bytes examines every page of a mapping, 9 ms at depth 32: too slow for a fuzzer */
    size_t nodes = party(i)->node_count(r->key[i]);
    int look = depth <= 14 || ops_many_max >= 1024;
    size_t bytes = model_value_bytes(&r->model);
    size_t memory = look ? party(i)->memory_bytes(r->key[i]) : bytes * nodes + 1;
    if (party(i)->value_bytes(r->key[i]) != bytes ||
        party(i)->suite(r->key[i]) != r->model.family.suite)
      fail(r, "%s: suite %u, values of %zu bytes", party(i)->name, party(i)->suite(r->key[i]),
           party(i)->value_bytes(r->key[i]));
    /* ref's array has 16 bytes and a seed per node and doubles when full; a large block is
     * rounded up to pages */
    if (i == 0 &&
        memory > (16 + bytes) * (2 * r->result->peak_nodes + 4 * (size_t)depth + 4) + 8192)
      fail(r, "%s: %zu bytes of memory for at most %zu nodes", party(i)->name, memory,
           r->result->peak_nodes);
    int locked = party(i)->memory_locked(r->key[i]);
    if (depth != r->model.depth)
      fail(r, "%s: depth %u, model %u", party(i)->name, depth, r->model.depth);
    if (memory < bytes * nodes || memory == 0)
      fail(r, "%s: %zu bytes of memory for %zu nodes", party(i)->name, memory, nodes);
    if (locked != 0 && locked != 1)
      fail(r, "%s: memory_locked %d", party(i)->name, locked);
  }
}

void ops_run(const uint8_t *bytes, size_t len, struct ops_result *result, FILE *trace)
{
  *result = (struct ops_result){0};
  if (len < 2)
    return;
  struct run r = {.result = result, .trace = trace};
  struct reader in = {bytes + 2, bytes + len, 0, depth_of(bytes[0])};
  test_prg_toy = bytes[0] >> 7 == 0;
  uint64_t mislabelled = test_prg_mislabelled;
  r.op = (struct op){.code = OP_SETUP, .x = in.depth, .y = bytes[1]};
  int more;
  do {
    unsigned armed = r.fail;
    if (r.op.code == OP_SWEEP || r.op.code == OP_EVAL_BATCH || r.op.code == OP_PUNCT_BATCH)
      r.op.x = r.op.x < ops_many_max ? r.op.x : ops_many_max;
    if (trace != NULL) {
      char text[160];
      op_text(&r.op, text, sizeof text);
      fprintf(trace, "op=%zu %s", result->ops, text);
    }
    switch (r.op.code) {
    case OP_SETUP:
      setup(&r, r.op.x, (uint8_t)r.op.y);
      break;
    case OP_EXPORT:
      export_op(&r, r.op.x % 4);
      break;
    case OP_IMPORT:
    case OP_SWAP:
      import_op(&r, r.op.code == OP_SWAP);
      break;
    case OP_COUNT:
      count_op(&r);
      break;
    case OP_SWEEP:
      for (unsigned i = 0; i <= r.op.x && !result->failed; i++)
        leaf_op(&r, OP_PUNCT, r.op.a + (uint64_t)i * (r.op.y + 1), 0);
      break;
    case OP_EVAL_BATCH:
    case OP_PUNCT_BATCH:
    case OP_EXPAND:
      many_op(&r, &r.op);
      break;
    case OP_DELEGATE:
      delegate_op(&r, r.op.a, r.op.b);
      break;
    case OP_FAIL:
      r.fail = r.op.x + 1;
      break;
    default:
      leaf_op(&r, r.op.code == OP_SUBTREE ? OP_RANGE : r.op.code, r.op.a, r.op.b);
    }
    if (armed != 0)
      r.fail = 0;
    int compare = result->ops % ops_compare_every == 0;
    if (!result->failed) {
      if (compare)
        compare_keys(&r);
      else
        compare_counts(&r);
    }
    if (test_prg_toy && test_prg_mislabelled != mislabelled)
      fail(&r, "a seed was expanded at another node's position");
    if (trace != NULL)
      fprintf(trace, "%s\n", result->failed ? " DIFFERS" : "");
    result->ops++;
    more = !result->failed && read_op(&in, &r.op);
    if (!more && !compare && !result->failed)
      compare_keys(&r);
  } while (more);
  if (result->failed)
    result->ops--;
  for (int i = 0; i < PARTIES; i++)
    party(i)->free(r.key[i]);
  model_free(&r.model);
}

/* failures shortened */

static int fails(const uint8_t *bytes, size_t len)
{
  struct ops_result result;
  ops_run(bytes, len, &result, NULL);
  return result.failed;
}

size_t ops_shrink(uint8_t *bytes, size_t len)
{
  enum { ROUNDS = 20000 };
  unsigned runs = 0;
  uint8_t *trial = malloc(len);
  /* Cut out windows of operations, from half of the sequence down to one operation. */
  for (size_t window = len; window > 0;) {
    size_t start[4096], n = 0;
    struct reader in = {bytes + 2, bytes + len, 0, depth_of(bytes[0])};
    struct op op;
    do
      start[n++] = (size_t)(in.at - bytes);
    while (n < 4095 && read_op(&in, &op));
    size_t ops = n - 1;
    start[ops] = len;
    window = window > ops ? ops : window;
    int cut = 0;
    for (size_t i = 0; window > 0 && i < ops && !cut && runs < ROUNDS; i++) {
      size_t from = start[i], to = start[i + window < ops ? i + window : ops];
      memcpy(trial, bytes, from);
      memcpy(trial + from, bytes + to, len - to);
      runs++;
      if (fails(trial, len - (to - from))) {
        len -= to - from;
        memcpy(bytes, trial, len);
        cut = 1;
      }
    }
    if (!cut)
      window /= 2;
    if (runs >= ROUNDS)
      break;
  }
  /* Then try smaller bytes. */
  for (size_t i = 0; i < len && runs < ROUNDS; i++)
    for (unsigned v = 0; v < bytes[i] && runs < ROUNDS; v = v == 0 ? 1 : 2 * v) {
      memcpy(trial, bytes, len);
      trial[i] = (uint8_t)v;
      runs++;
      if (fails(trial, len)) {
        memcpy(bytes, trial, len);
        break;
      }
    }
  free(trial);
  return len;
}

void ops_explain(const uint8_t *bytes, size_t len, uint64_t seed)
{
  struct ops_result result;
  ops_run(bytes, len, &result, NULL);
  tap_note("seed=0x%" PRIx64 " %s", seed, result.text);
  uint8_t *small = malloc(len);
  memcpy(small, bytes, len);
  size_t n = ops_shrink(small, len);
  ops_run(small, n, &result, NULL);
  tap_note("shrunk: seed=0x%" PRIx64 " %s", seed, result.text);
  printf("# replay: build/equivalence-tests/replay ");
  for (size_t i = 0; i < n; i++)
    printf("%02x", small[i]);
  printf("\n");
  fflush(stdout);
  free(small);
}

/* ---------------------------------------------------------------- random sequences */

struct out {
  uint8_t *at, *end;
};

static void put(struct out *o, uint64_t byte)
{
  if (o->at < o->end)
    *o->at++ = (uint8_t)byte;
}

static void put_leaf(struct out *o, uint64_t *state, unsigned depth)
{
  uint64_t r = tap_random(state) % 100;
  if (r < 35) /* near the previous one */
    put(o, 24 + tap_random(state) % 17);
  else if (r < 55) /* across a block's edge */
    put(o, 0x40 | tap_random(state) % depth);
  else if (r < 63)
    put(o, 0x80 | tap_random(state) % 64);
  else if (r < 64) { /* usually out of range */
    unsigned bytes = depth > 32 ? 8 : 5;
    put(o, 0xc0 | (bytes - 1));
    for (unsigned i = 0; i < bytes; i++)
      put(o, tap_random(state));
  } else {
    unsigned bytes = (depth + 7) / 8;
    uint64_t x = tap_random(state) & (((uint64_t)1 << depth) - 1);
    if (r < 75) /* next to a multiple of 64 */
      x = ((x & ~(uint64_t)63) + tap_random(state) % 3 - 1) & (((uint64_t)1 << depth) - 1);
    put(o, 0xc0 | (bytes - 1));
    for (unsigned i = 0; i < bytes; i++)
      put(o, x >> 8 * i);
  }
}

size_t ops_random(uint64_t *state, unsigned depth, int toy, unsigned ops, uint8_t *bytes,
                  size_t size)
{
  struct out o = {bytes, bytes + size};
  put(&o, (depth - 1) | (toy ? 0 : 0x80));
  put(&o, tap_random(state));
  for (unsigned i = 0; i < ops; i++) {
    uint64_t r = tap_random(state) % 1000;
    if (r < 40) {
      put(&o, r % 2 ? OP_EVAL_BATCH : OP_PUNCT_BATCH);
      put_leaf(&o, state, depth);
      put(&o, tap_random(state) % (r < 4 ? 256 : 24));
      put(&o, tap_random(state) % (r % 4 < 2 ? 3 : 256));
    } else if (r < 60) {
      put(&o, OP_EXPAND);
      put_leaf(&o, state, depth);
      put(&o, 32 + tap_random(state) % 64);
    } else if (r < 330) {
      put(&o, OP_PUNCT);
      put_leaf(&o, state, depth);
    } else if (r < 530) {
      put(&o, OP_EVAL_PUNCT);
      put_leaf(&o, state, depth);
    } else if (r < 640) {
      put(&o, OP_EVAL);
      put_leaf(&o, state, depth);
    } else if (r < 680) {
      put(&o, OP_DELEGATE);
      put_leaf(&o, state, depth);
      put_leaf(&o, state, depth);
    } else if (r < 780) {
      put(&o, OP_RANGE);
      put_leaf(&o, state, depth);
      if (r < 760) { /* mostly short and ascending */
        put(&o, 32 + tap_random(state) % 32);
      } else
        put_leaf(&o, state, depth);
    } else if (r < 830) {
      put(&o, OP_SUBTREE);
      put_leaf(&o, state, depth);
      put(&o, tap_random(state) % (depth + 1));
    } else if (r < 850) {
      put(&o, OP_SWEEP);
      put_leaf(&o, state, depth);
      put(&o, tap_random(state) % 80);
      put(&o, tap_random(state) % 4);
    } else if (r < 870) {
      put(&o, OP_EXPORT);
      put(&o, tap_random(state));
    } else if (r < 900)
      put(&o, OP_IMPORT);
    else if (r < 930)
      put(&o, OP_SWAP);
    else if (r < 950)
      put(&o, OP_COUNT);
    else if (r < 998) {
      put(&o, OP_FAIL);
      put(&o, tap_random(state) % (2 * depth));
    } else {
      put(&o, OP_SETUP);
      put(&o, depth - 1);
      put(&o, tap_random(state));
    }
  }
  return (size_t)(o.at - bytes);
}

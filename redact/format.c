/* SPDX-License-Identifier: Apache-2.0 */
/* The format (docs/redact.md): runs, input, CBOR, statement, proof. */
#include <cbor.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

void redact_fail(int *err, int why)
{
  if (*err == PPRF_OK)
    *err = why;
}

/* ---- memory ---- */

void redact_put(struct redact_buffer *b, const void *bytes, size_t len)
{
  if (b->err == PPRF_OK && len > b->room - b->len) {
    size_t room = len < SIZE_MAX / 4 - b->len ? 2 * (b->len + len) : 0;
    uint8_t *moved = room > 0 ? OPENSSL_clear_realloc(b->bytes, b->room, room) : NULL;
    if (moved == NULL) {
      b->err = PPRF_ERR_NOMEM;
    } else {
      b->bytes = moved;
      b->room = room;
    }
  }
  if (b->err == PPRF_OK && len > 0) {
    memcpy(b->bytes + b->len, bytes, len);
    b->len += len;
  }
}

void redact_buffer_free(struct redact_buffer *b)
{
  OPENSSL_clear_free(b->bytes, b->room);
  *b = (struct redact_buffer){0};
}

void redact_runs_add(struct redact_runs *runs, uint64_t first, uint64_t last)
{
  if (runs->err == PPRF_OK && runs->count == runs->room) {
    struct pprf_redact_run *moved =
      runs->room < SIZE_MAX / 64 ? OPENSSL_realloc(runs->at, (2 * runs->room + 8) * sizeof *moved)
                                 : NULL;
    if (moved == NULL) {
      runs->err = PPRF_ERR_NOMEM;
    } else {
      runs->at = moved;
      runs->room = 2 * runs->room + 8;
    }
  }
  if (runs->err == PPRF_OK)
    runs->at[runs->count++] = (struct pprf_redact_run){first, last};
}

static int by_first(const void *a, const void *b)
{
  const struct pprf_redact_run *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

void redact_runs_normalize(struct redact_runs *runs, uint64_t n)
{
  size_t kept = 0;
  if (runs->count > 1)
    qsort(runs->at, runs->count, sizeof *runs->at, by_first);
  for (size_t i = 0; i < runs->count; i++) {
    struct pprf_redact_run r = runs->at[i], *before = kept > 0 ? &runs->at[kept - 1] : NULL;
    if (r.first > r.last || r.last >= n)
      redact_fail(&runs->err, PPRF_REDACT_ERR_RUNS);
    if (before == NULL || r.first > before->last + 1)
      runs->at[kept++] = r;
    else if (r.last > before->last)
      before->last = r.last;
  }
  runs->count = kept;
}

uint64_t redact_runs_common(const struct redact_runs *a, const struct redact_runs *b)
{
  for (size_t i = 0, j = 0; i < a->count && j < b->count;) {
    const struct pprf_redact_run *x = &a->at[i], *y = &b->at[j];
    if (x->last >= y->first && y->last >= x->first)
      return x->first > y->first ? x->first : y->first;
    if (x->last < y->first)
      i++;
    else
      j++;
  }
  return REDACT_NOWHERE;
}

void redact_runs_gap(const struct redact_runs *runs, uint64_t n, size_t i, uint64_t *at,
                     uint64_t *end)
{
  *at = i == 0 ? 0 : runs->at[i - 1].last + 1;
  *end = i < runs->count ? runs->at[i].first : n;
}

/* ---- trees ---- */

uint64_t redact_block_end(uint64_t at, uint64_t end, uint64_t n)
{
  uint64_t size = at == 0 ? REDACT_COUNT_MAX : at & (~at + 1);
  if (n != 0 && end == n && n - at < size) /* a subtree on the right edge, perhaps incomplete */
    return n;
  while (size > end - at)
    size >>= 1;
  return at + size;
}

static uint64_t count_blocks(uint64_t at, uint64_t end, uint64_t n)
{
  uint64_t count = 0;
  for (; at < end; count++)
    at = redact_block_end(at, end, n);
  return count;
}

static uint64_t count_seeds(const struct pprf_redact *doc)
{
  uint64_t count = 0, at, end;
  for (size_t i = 0; i <= doc->hidden.count; i++) {
    redact_runs_gap(&doc->hidden, doc->n, i, &at, &end);
    count += count_blocks(at, end, 0);
  }
  return count;
}

static uint64_t count_hashes(const struct pprf_redact *doc)
{
  uint64_t count = 0;
  for (size_t i = 0; i < doc->hidden.count; i++)
    count += count_blocks(doc->hidden.at[i].first, doc->hidden.at[i].last + 1, doc->n);
  return count;
}

/* ---- input ---- */

void redact_input_open(struct redact_input *in, pprf_redact_read *read, void *arg)
{
  *in = (struct redact_input){.read = read, .arg = arg, .window = OPENSSL_malloc(REDACT_WINDOW)};
  in->err = in->window == NULL ? PPRF_ERR_NOMEM : PPRF_OK;
}

void redact_input_close(struct redact_input *in)
{
  if (!in->whole)
    OPENSSL_clear_free(in->window, REDACT_WINDOW);
  in->window = NULL;
}

/* Let the window begin at an offset. */
static void move_window(struct redact_input *in, uint64_t offset)
{
  in->start = offset;
  for (in->len = 0; in->len < REDACT_WINDOW;) {
    size_t room = REDACT_WINDOW - in->len;
    int64_t n = in->read(in->arg, offset + in->len, in->window + in->len, room);
    if (n < 0 || n > (int64_t)room)
      in->err = PPRF_REDACT_ERR_READ;
    if (n == 0 || in->err != PPRF_OK)
      return;
    in->len += (size_t)n;
  }
}

const uint8_t *redact_peek(struct redact_input *in, uint64_t ahead, size_t want, size_t *got)
{
  uint64_t offset = in->at + ahead;
  *got = 0;
  if (in->err != PPRF_OK)
    return in->window;
  if (!in->whole &&
      (offset < in->start || offset - in->start > in->len || in->len - (offset - in->start) < want))
    move_window(in, offset);
  if (in->err != PPRF_OK || offset - in->start > in->len)
    return in->window;
  *got = in->len - (size_t)(offset - in->start);
  return in->window + (offset - in->start);
}

/* ---- CBOR ---- */

/* Callbacks of libcbor that take an integer. */
#define TAKE(bits)                                         \
  static void take_##bits(void *arg, uint##bits##_t value) \
  {                                                        \
    *(uint64_t *)arg = value;                              \
  }
TAKE(8)
TAKE(16)
TAKE(32)
TAKE(64)

size_t redact_encode_head(unsigned major, uint64_t value, uint8_t out[REDACT_HEAD_MAX])
{
  size_t n = cbor_encode_uint(value, out, REDACT_HEAD_MAX);
  out[0] |= (uint8_t)(major << 5);
  return n;
}

/* libcbor reads every head as that of an integer, major type 0: for a byte string's own it would want
 * all its bytes in memory. */
uint64_t redact_head(struct redact_input *in, unsigned major)
{
  struct cbor_callbacks callbacks = cbor_empty_callbacks;
  uint8_t head[REDACT_HEAD_MAX], again[REDACT_HEAD_MAX];
  uint64_t value = 0;
  size_t got;
  const uint8_t *bytes = redact_peek(in, 0, sizeof head, &got);
  if (got == 0 || bytes[0] >> 5 != major) {
    redact_fail(&in->err, got == 0 ? PPRF_REDACT_ERR_SHORT : PPRF_REDACT_ERR_CBOR);
    return 0;
  }
  got = got < sizeof head ? got : sizeof head;
  memcpy(head, bytes, got);
  head[0] &= 0x1f;
  callbacks.uint8 = take_8;
  callbacks.uint16 = take_16;
  callbacks.uint32 = take_32;
  callbacks.uint64 = take_64;
  struct cbor_decoder_result r = cbor_stream_decode(head, got, &callbacks, &value);
  if (r.status == CBOR_DECODER_NEDATA)
    in->err = PPRF_REDACT_ERR_SHORT;
  else if (r.status != CBOR_DECODER_FINISHED ||
           redact_encode_head(REDACT_UINT, value, again) != r.read ||
           memcmp(head, again, r.read) != 0)
    in->err = PPRF_REDACT_ERR_CBOR;
  in->at += in->err == PPRF_OK ? r.read : 0;
  return in->err == PPRF_OK ? value : 0;
}

static void put_head(struct redact_buffer *b, unsigned major, uint64_t value)
{
  uint8_t head[REDACT_HEAD_MAX];
  redact_put(b, head, redact_encode_head(major, value, head));
}

void redact_put_bytes(struct redact_buffer *b, const void *bytes, size_t len)
{
  put_head(b, REDACT_BYTES, len);
  redact_put(b, bytes, len);
}

static void put_text(struct redact_buffer *b, const char *text)
{
  put_head(b, REDACT_TEXT, strlen(text));
  redact_put(b, text, strlen(text));
}

static void put_runs(struct redact_buffer *b, const struct redact_runs *runs)
{
  put_head(b, REDACT_ARRAY, runs->count);
  for (size_t i = 0; i < runs->count; i++) {
    put_head(b, REDACT_ARRAY, 2);
    put_head(b, REDACT_UINT, runs->at[i].first);
    put_head(b, REDACT_UINT, runs->at[i].last);
  }
}

static void get_array(struct redact_input *in, uint64_t count)
{
  if (redact_head(in, REDACT_ARRAY) != count)
    redact_fail(&in->err, PPRF_REDACT_ERR_CBOR);
}

/* Append min to max bytes to out; err is `wrong` if there are more or fewer.  Memory is taken only for
 * bytes that the input has. */
static void get_bytes(struct redact_input *in, struct redact_buffer *out, uint64_t min,
                      uint64_t max, int wrong)
{
  uint64_t len = redact_head(in, REDACT_BYTES);
  size_t got;
  if (len < min || len > max)
    redact_fail(&in->err, wrong);
  while (len > 0 && in->err == PPRF_OK) {
    size_t want = len < REDACT_WINDOW ? (size_t)len : REDACT_WINDOW;
    const uint8_t *bytes = redact_peek(in, 0, want, &got);
    if (got < want)
      redact_fail(&in->err, PPRF_REDACT_ERR_SHORT);
    else
      redact_put(out, bytes, want);
    in->at += want;
    len -= want;
    redact_fail(&in->err, out->err);
  }
  redact_fail(&in->err, out->err);
}

static void get_fixed(struct redact_input *in, uint8_t *out, size_t len)
{
  struct redact_buffer b = {0};
  get_bytes(in, &b, len, len, PPRF_REDACT_ERR_CBOR);
  if (in->err == PPRF_OK)
    memcpy(out, b.bytes, len);
  redact_buffer_free(&b);
}

/* The index of a text among names, which end with NULL; err is `unknown` if it is none. */
static unsigned get_name(struct redact_input *in, const char *const *names, int unknown)
{
  uint64_t len = redact_head(in, REDACT_TEXT);
  size_t got;
  const char *bytes = (const char *)redact_peek(in, 0, len < 64 ? (size_t)len : 64, &got);
  if (got < len)
    redact_fail(&in->err, got < 64 ? PPRF_REDACT_ERR_SHORT : unknown);
  in->at += len;
  for (unsigned i = 0; in->err == PPRF_OK && names[i] != NULL; i++)
    if (strlen(names[i]) == len && memcmp(names[i], bytes, (size_t)len) == 0)
      return i;
  redact_fail(&in->err, unknown);
  return 0;
}

/* The number of runs is bounded by the input's length: each takes 3 bytes at least. */
static void get_runs(struct redact_input *in, uint64_t n, struct redact_runs *runs)
{
  uint64_t count = redact_head(in, REDACT_ARRAY);
  for (uint64_t i = 0; in->err == PPRF_OK && i < count; i++) {
    get_array(in, 2);
    uint64_t first = redact_head(in, REDACT_UINT), last = redact_head(in, REDACT_UINT);
    if (first > last || last >= n || (i > 0 && first <= runs->at[i - 1].last + 1))
      redact_fail(&in->err, PPRF_REDACT_ERR_RUNS);
    if (in->err == PPRF_OK)
      redact_runs_add(runs, first, last);
    redact_fail(&in->err, runs->err);
  }
}

/* ---- statement ---- */

static const char *const kinds[] = {"lines", "json", NULL}; /* PPRF_REDACT_LINES - 1, ... */
const char *const redact_algorithms[] = {"ed25519", "ecdsa-p256-sha256", NULL};
static const char *const suites[] = {"sha3-256-salted", NULL};
static const char *const hashes[] = {"sha-256", NULL};
enum { VERSION = 1, STATEMENT_ITEMS = 11, PROOF_ITEMS = 5 };

void redact_encode_statement(struct pprf_redact *doc)
{
  struct redact_buffer *b = &doc->statement;
  redact_put(b, REDACT_PREFIX, sizeof REDACT_PREFIX);
  put_head(b, REDACT_ARRAY, STATEMENT_ITEMS);
  put_head(b, REDACT_UINT, VERSION);
  put_text(b, kinds[doc->kind - 1]);
  put_text(b, redact_algorithms[doc->algorithm]);
  put_text(b, suites[0]);
  put_text(b, hashes[0]);
  put_head(b, REDACT_UINT, doc->n);
  redact_put_bytes(b, doc->salt, sizeof doc->salt);
  redact_put_bytes(b, doc->key_salt, sizeof doc->key_salt);
  redact_put_bytes(b, doc->root, sizeof doc->root);
  put_runs(b, &doc->required);
  redact_put_bytes(b, doc->context.bytes, doc->context.len);
}

static void decode_statement(struct redact_input *in, struct pprf_redact *doc)
{
  get_array(in, STATEMENT_ITEMS);
  if (redact_head(in, REDACT_UINT) != VERSION)
    redact_fail(&in->err, PPRF_REDACT_ERR_VERSION);
  doc->kind = get_name(in, kinds, PPRF_REDACT_ERR_KIND) + 1;
  doc->algorithm = get_name(in, redact_algorithms, PPRF_REDACT_ERR_ALGORITHM);
  (void)get_name(in, suites, PPRF_REDACT_ERR_SUITE);
  (void)get_name(in, hashes, PPRF_REDACT_ERR_HASH);
  doc->n = redact_head(in, REDACT_UINT);
  if (doc->n == 0 || doc->n > REDACT_COUNT_MAX) {
    redact_fail(&in->err, PPRF_REDACT_ERR_COUNT);
    doc->n = 0;
  }
  get_fixed(in, doc->salt, sizeof doc->salt);
  get_fixed(in, doc->key_salt, sizeof doc->key_salt);
  get_fixed(in, doc->root, sizeof doc->root);
  get_runs(in, doc->n, &doc->required);
  get_bytes(in, &doc->context, 0, REDACT_CONTEXT_MAX, PPRF_REDACT_ERR_LIMIT);
  if (in->at != in->len)
    redact_fail(&in->err, PPRF_REDACT_ERR_CBOR);
}

/* ---- proof ---- */

void redact_encode_proof(const struct pprf_redact *doc, struct redact_buffer *out)
{
  size_t prefix = sizeof REDACT_PREFIX;
  put_head(out, REDACT_ARRAY, PROOF_ITEMS);
  redact_put_bytes(out, doc->statement.bytes + prefix, doc->statement.len - prefix);
  redact_put_bytes(out, doc->signature.bytes, doc->signature.len);
  put_runs(out, &doc->hidden);
  redact_put_bytes(out, doc->seeds.bytes, doc->seeds.len);
  redact_put_bytes(out, doc->hashes.bytes, doc->hashes.len);
}

void redact_decode_proof(struct pprf_redact *doc)
{
  struct redact_input *in = &doc->in, inner = {.whole = true};
  get_array(in, PROOF_ITEMS);
  redact_put(&doc->statement, REDACT_PREFIX, sizeof REDACT_PREFIX);
  get_bytes(in, &doc->statement, 0, REDACT_STATEMENT_MAX, PPRF_REDACT_ERR_LIMIT);
  get_bytes(in, &doc->signature, 0, REDACT_SIGNATURE_MAX, PPRF_REDACT_ERR_LIMIT);
  if (in->err != PPRF_OK)
    return;
  inner.window = doc->statement.bytes + sizeof REDACT_PREFIX;
  inner.len = doc->statement.len - sizeof REDACT_PREFIX;
  decode_statement(&inner, doc);
  redact_fail(&in->err, inner.err);
  get_runs(in, doc->n, &doc->hidden);
  doc->where = redact_runs_common(&doc->hidden, &doc->required);
  if (doc->where != REDACT_NOWHERE)
    redact_fail(&in->err, PPRF_REDACT_ERR_REQUIRED);
  uint64_t seeds = count_seeds(doc) * PPRF_SEED_BYTES, digests = count_hashes(doc) * REDACT_HASH;
  get_bytes(in, &doc->seeds, seeds, seeds, PPRF_REDACT_ERR_SEEDS);
  get_bytes(in, &doc->hashes, digests, digests, PPRF_REDACT_ERR_HASHES);
  doc->parts_at = in->at;
}

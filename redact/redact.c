/* SPDX-License-Identifier: Apache-2.0 */
/* Signing, verifying, reading and hiding: each is a walk over the parts, with their salts from
 * pprf_expand and their hashes into the tree. */
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* ---- the RFC 9162 tree ---- */

void redact_tree_open(struct redact_tree *t, const struct redact_runs *wanted, uint64_t n)
{
  bool some = wanted != NULL && wanted->count > 0;
  *t = (struct redact_tree){.md = EVP_MD_fetch(NULL, "SHA2-256", NULL),
                            .ctx = EVP_MD_CTX_new(),
                            .wanted = wanted,
                            .n = n,
                            .at = some ? wanted->at[0].first : REDACT_NOWHERE};
  t->err = t->md != NULL && t->ctx != NULL ? PPRF_OK : PPRF_ERR_CRYPTO;
}

void redact_tree_close(struct redact_tree *t)
{
  EVP_MD_CTX_free(t->ctx);
  EVP_MD_free(t->md);
  redact_buffer_free(&t->kept);
}

/* Keep the top of the stack if it is the next wanted subtree: they end in the order in which they
 * begin. */
static void keep(struct redact_tree *t)
{
  if (t->stack[t->height - 1].start != t->at)
    return;
  uint64_t last = t->wanted->at[t->run].last, end = redact_block_end(t->at, last + 1, t->n);
  if (t->stack[t->height - 1].end != end)
    return;
  redact_put(&t->kept, t->stack[t->height - 1].hash, REDACT_HASH);
  t->at = end;
  if (end == last + 1)
    t->at = ++t->run < t->wanted->count ? t->wanted->at[t->run].first : REDACT_NOWHERE;
}

/* Replace the two subtrees on top of the stack by their parent. */
static void join(struct redact_tree *t)
{
  uint8_t both[1 + 2 * REDACT_HASH] = {1};
  t->height--;
  memcpy(both + 1, t->stack[t->height - 1].hash, REDACT_HASH);
  memcpy(both + 1 + REDACT_HASH, t->stack[t->height].hash, REDACT_HASH);
  t->stack[t->height - 1].end = t->stack[t->height].end;
  if (EVP_DigestInit_ex2(t->ctx, t->md, NULL) != 1 ||
      EVP_DigestUpdate(t->ctx, both, sizeof both) != 1 ||
      EVP_DigestFinal_ex(t->ctx, t->stack[t->height - 1].hash, NULL) != 1)
    redact_fail(&t->err, PPRF_ERR_CRYPTO);
  keep(t);
}

static uint64_t size(const struct redact_tree *t, unsigned i)
{
  return t->stack[i].end - t->stack[i].start;
}

void redact_tree_add(struct redact_tree *t, uint64_t start, uint64_t end,
                     const uint8_t hash[REDACT_HASH])
{
  t->stack[t->height].start = start;
  t->stack[t->height].end = end;
  memcpy(t->stack[t->height++].hash, hash, REDACT_HASH);
  keep(t);
  while (t->height > 1 && size(t, t->height - 2) == size(t, t->height - 1))
    join(t);
}

void redact_tree_root(struct redact_tree *t, uint8_t root[REDACT_HASH])
{
  while (t->height > 1)
    join(t);
  memcpy(root, t->stack[0].hash, REDACT_HASH);
  redact_fail(&t->err, t->kept.err);
}

/* ---- a walk over the parts ---- */

struct walk {
  struct pprf_redact *doc;
  struct redact_input *in; /* the document's; its err is the walk's */
  bool counting;           /* the number of parts is not known: as many as there are */
  bool ended;              /* no part is left */
  uint64_t part;           /* the next one */
  size_t run;              /* the next hidden run */
  const uint8_t *hashes;   /* of the next hidden subtree */
  struct redact_tree tree;
  pprf_redact_each *each;
  void *arg;
};

/* Length of the next line with its line feed; 0 at the end of the input. */
static uint64_t line_length(struct redact_input *in)
{
  size_t got;
  for (uint64_t len = 0;; len += got) {
    const uint8_t *bytes = redact_peek(in, len, 1, &got), *feed = memchr(bytes, '\n', got);
    if (feed != NULL || got == 0)
      return len + (feed != NULL ? (uint64_t)(feed - bytes) + 1 : 0);
  }
}

/* Length of the next part; the input is then at its first byte. */
static uint64_t next_part(struct walk *w)
{
  size_t got;
  (void)redact_peek(w->in, 0, 1, &got);
  w->ended = got == 0;
  if (w->ended && !w->counting)
    redact_fail(&w->in->err, PPRF_REDACT_ERR_SHORT);
  return w->ended ? 0 : w->doc->is_text ? line_length(w->in) : redact_head(w->in, REDACT_BYTES);
}

static void put_number(uint8_t *out, uint64_t value, int bytes) /* big-endian */
{
  for (int i = bytes - 1; i >= 0; i--, value >>= 8)
    out[i] = (uint8_t)value;
}

/* Whether a piece may stand where it does: in a line, or in a pointer's length, pointer and value. */
static bool is_well_formed(const struct walk *w, const struct pprf_redact_piece *p)
{
  const uint8_t *b = p->bytes;
  if (w->doc->kind == PPRF_REDACT_LINES) {
    bool ends = p->offset + p->bytes_len == p->len,
         is_last = w->counting || p->part + 1 == w->doc->n;
    const uint8_t *feed = memchr(b, '\n', p->bytes_len);
    return p->len > 0 && (feed == NULL ? !ends || is_last : ends && feed == b + p->bytes_len - 1);
  }
  if (p->offset > 0)
    return true;
  if (p->len < 4)
    return false;
  uint32_t len = redact_pointer_length(b);
  return len < p->len - 4 && len <= REDACT_POINTER_MAX && (len == 0 || b[4] == '/');
}

/* Check a piece of a part, hash it and pass it on. */
static void walk_piece(struct walk *w, struct pprf_redact_piece *p)
{
  uint64_t left = p->len - p->offset;
  size_t got;
  p->bytes_len = left < REDACT_WINDOW ? (size_t)left : REDACT_WINDOW;
  p->bytes = redact_peek(w->in, 0, p->bytes_len, &got);
  if (got < p->bytes_len)
    redact_fail(&w->in->err, PPRF_REDACT_ERR_SHORT);
  else if (!is_well_formed(w, p))
    redact_fail(&w->in->err, PPRF_REDACT_ERR_PART);
  else if (EVP_DigestUpdate(w->tree.ctx, p->bytes, p->bytes_len) != 1)
    redact_fail(&w->in->err, PPRF_ERR_CRYPTO);
  else if (w->each != NULL)
    redact_fail(&w->in->err, redact_answer(w->each(w->arg, p)));
  p->offset += p->bytes_len;
  w->in->at += p->bytes_len;
}

/* Hash the next part, which is shown. */
static void walk_part(struct walk *w, const uint8_t salt[PPRF_SEED_BYTES])
{
  uint8_t entry[1 + REDACT_SALT + PPRF_SEED_BYTES + 8 + 8] = {0}, hash[REDACT_HASH];
  struct pprf_redact_piece piece = {.part = w->part, .len = next_part(w)};
  EVP_MD_CTX *ctx = w->tree.ctx;
  if (w->ended)
    return;
  memcpy(entry + 1, w->doc->salt, REDACT_SALT);
  memcpy(entry + 17, salt, PPRF_SEED_BYTES);
  put_number(entry + 33, w->part, 8);
  put_number(entry + 41, piece.len, 8);
  if (EVP_DigestInit_ex2(ctx, w->tree.md, NULL) != 1 ||
      EVP_DigestUpdate(ctx, entry, sizeof entry) != 1)
    redact_fail(&w->in->err, PPRF_ERR_CRYPTO);
  OPENSSL_cleanse(entry, sizeof entry);
  do
    walk_piece(w, &piece);
  while (w->in->err == PPRF_OK && piece.offset < piece.len);
  if (w->in->err != PPRF_OK)
    return;
  if (EVP_DigestFinal_ex(ctx, hash, NULL) != 1)
    redact_fail(&w->in->err, PPRF_ERR_CRYPTO);
  redact_tree_add(&w->tree, w->part, w->part + 1, hash);
  w->part++;
}

/* Pass over the hidden run that begins at the next part, if one does. */
static void walk_hidden(struct walk *w)
{
  const struct redact_runs *hidden = &w->doc->hidden;
  if (w->run == hidden->count || hidden->at[w->run].first != w->part)
    return;
  uint64_t end = hidden->at[w->run++].last + 1, next;
  struct pprf_redact_piece piece = {.part = w->part, .hidden = end - w->part};
  if (w->each != NULL)
    redact_fail(&w->in->err, redact_answer(w->each(w->arg, &piece)));
  for (; w->part < end; w->part = next, w->hashes += REDACT_HASH) {
    next = redact_block_end(w->part, end, w->doc->n);
    redact_tree_add(&w->tree, w->part, next, w->hashes);
  }
}

static int on_salts(void *arg, uint64_t leaf, size_t n, const uint8_t *salts)
{
  struct walk *w = arg;
  (void)leaf; /* the key's leaves are the shown parts */
  for (size_t i = 0; i < n && w->in->err == PPRF_OK && !w->ended; i++) {
    walk_hidden(w);
    walk_part(w, salts + i * PPRF_SEED_BYTES);
  }
  return w->in->err != PPRF_OK || w->ended ? -1 : 0;
}

/* Walk over the document's parts, from doc->parts_at to the end of its input.
 * @param[in,out] w    members counting, each and arg are set.
 * @param[in]     key  gives the salts.
 * @param[in]     wanted, kept  runs, and a buffer for the hashes of their subtrees; or NULL.
 * @param[out]    root the root. */
static int walk(struct walk *w, pprf_redact *doc, const pprf_key *key,
                const struct redact_runs *wanted, struct redact_buffer *kept,
                uint8_t root[REDACT_HASH])
{
  size_t got;
  w->doc = doc;
  w->in = &doc->in;
  w->hashes = doc->hashes.bytes;
  w->in->at = doc->parts_at;
  redact_tree_open(&w->tree, wanted, doc->n);
  w->in->err = w->tree.err;
  if (w->in->err == PPRF_OK) {
    int err = pprf_expand(key, 0, (w->counting ? REDACT_COUNT_MAX : doc->n) - 1, on_salts, w);
    redact_fail(&w->in->err, w->ended ? PPRF_OK : err);
    doc->where = err == -1 && !w->ended ? w->part : REDACT_NOWHERE;
    walk_hidden(w);
    (void)redact_peek(w->in, 0, 1, &got);
    if (got > 0)
      redact_fail(&w->in->err, !w->counting                  ? PPRF_REDACT_ERR_TRAILING
                               : w->part == REDACT_COUNT_MAX ? PPRF_REDACT_ERR_COUNT
                                                             : PPRF_REDACT_ERR_CHANGED);
    redact_tree_root(&w->tree, root);
  }
  redact_fail(&w->in->err, w->tree.err);
  if (kept != NULL)
    redact_put(kept, w->tree.kept.bytes, w->tree.kept.len);
  redact_tree_close(&w->tree);
  return w->in->err;
}

/* ---- the key ---- */

enum { KEY_HEAD = 36, KEY_ID = 6, KEY_NODE = KEY_ID + PPRF_SEED_BYTES, KEY_DIGEST = 32 };

static void put_little(uint8_t *out, uint64_t value, int bytes)
{
  for (int i = 0; i < bytes; i++, value >>= 8)
    out[i] = (uint8_t)value;
}

/* The key of the shown parts: its key file (docs/key-file.md, version 2) is composed and imported. */
static int import_key(const struct pprf_redact *doc, pprf_key **key)
{
  uint8_t head[KEY_HEAD] = "PPRFKEY\2\2\50"; /* version 2, suite 2, depth 40 */
  uint8_t node[KEY_NODE], digest[KEY_DIGEST];
  struct redact_buffer file = {0};
  const uint8_t *seed = doc->seeds.bytes;
  uint64_t at, end, next;
  put_little(head + 12, doc->seeds.len / PPRF_SEED_BYTES, 8);
  memcpy(head + 20, doc->key_salt, PPRF_SALT_BYTES);
  redact_put(&file, head, sizeof head);
  for (size_t i = 0; i <= doc->hidden.count; i++) {
    redact_runs_gap(&doc->hidden, doc->n, i, &at, &end);
    for (; at < end; at = next, seed += PPRF_SEED_BYTES) {
      next = redact_block_end(at, end, 0);
      put_little(node, 2 * at + (next - at), KEY_ID);
      memcpy(node + KEY_ID, seed, PPRF_SEED_BYTES);
      redact_put(&file, node, sizeof node);
    }
  }
  OPENSSL_cleanse(node, sizeof node);
  if (!EVP_Digest(file.bytes, file.len, digest, NULL, EVP_sha3_256(), NULL))
    redact_fail(&file.err, PPRF_ERR_CRYPTO);
  redact_put(&file, digest, sizeof digest);
  int err = file.err != PPRF_OK ? file.err : pprf_import(key, file.bytes, file.len);
  redact_buffer_free(&file);
  return err;
}

/* The key's seeds, in leaf order. */
static int export_seeds(const pprf_key *key, struct redact_buffer *seeds)
{
  size_t len = 0;
  int err = pprf_export(key, NULL, &len);
  uint8_t *file = err == PPRF_OK ? OPENSSL_malloc(len) : NULL;
  if (err == PPRF_OK)
    err = file == NULL ? PPRF_ERR_NOMEM : pprf_export(key, file, &len);
  for (size_t at = KEY_HEAD; err == PPRF_OK && at < len - KEY_DIGEST; at += KEY_NODE)
    redact_put(seeds, file + at + KEY_ID, PPRF_SEED_BYTES);
  OPENSSL_clear_free(file, len);
  return err != PPRF_OK ? err : seeds->err;
}

/* ---- signatures ---- */

static int algorithm_of(const EVP_PKEY *key, unsigned *algorithm)
{
  char group[32];
  *algorithm = EVP_PKEY_is_a(key, "ED25519") ? 0 : 1;
  if (*algorithm == 0 ||
      (EVP_PKEY_is_a(key, "EC") && EVP_PKEY_get_group_name(key, group, sizeof group, NULL) == 1 &&
       strcmp(group, SN_X9_62_prime256v1) == 0))
    return PPRF_OK;
  return PPRF_REDACT_ERR_KEY;
}

static const char *digest_of(const struct pprf_redact *doc)
{
  return doc->algorithm == 0 ? NULL : "SHA2-256";
}

static int sign_statement(struct pprf_redact *doc, EVP_PKEY *key)
{
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  uint8_t signature[128];
  size_t len = sizeof signature;
  int err = doc->statement.err;
  ERR_set_mark();
  if (ctx == NULL)
    redact_fail(&err, PPRF_ERR_NOMEM);
  else if (EVP_DigestSignInit_ex(ctx, NULL, digest_of(doc), NULL, NULL, key, NULL) != 1 ||
           EVP_DigestSign(ctx, signature, &len, doc->statement.bytes, doc->statement.len) != 1)
    redact_fail(&err, PPRF_REDACT_ERR_KEY);
  else
    redact_put(&doc->signature, signature, len);
  redact_fail(&err, doc->signature.err);
  ERR_pop_to_mark();
  EVP_MD_CTX_free(ctx);
  return err;
}

static int verify_statement(const struct pprf_redact *doc, EVP_PKEY *key)
{
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  ERR_set_mark();
  bool good = ctx != NULL &&
              EVP_DigestVerifyInit_ex(ctx, NULL, digest_of(doc), NULL, NULL, key, NULL) == 1 &&
              EVP_DigestVerify(ctx, doc->signature.bytes, doc->signature.len, doc->statement.bytes,
                               doc->statement.len) == 1;
  ERR_pop_to_mark();
  EVP_MD_CTX_free(ctx);
  return good ? PPRF_OK : ctx == NULL ? PPRF_ERR_NOMEM : PPRF_REDACT_ERR_SIGNATURE;
}

/* ---- the interface: documents ---- */

static void release(struct pprf_redact *doc)
{
  redact_input_close(&doc->in);
  redact_buffer_free(&doc->statement);
  redact_buffer_free(&doc->signature);
  redact_buffer_free(&doc->seeds);
  redact_buffer_free(&doc->hashes);
  redact_buffer_free(&doc->context);
  OPENSSL_free(doc->required.at);
  OPENSSL_free(doc->hidden.at);
}

void pprf_redact_close(pprf_redact *doc)
{
  if (doc != NULL)
    release(doc);
  OPENSSL_free(doc);
}

int pprf_redact_open(pprf_redact **doc, pprf_redact_read *read, void *in)
{
  if (doc != NULL)
    *doc = NULL;
  if (doc == NULL || read == NULL)
    return PPRF_ERR_NULL;
  pprf_redact *d = OPENSSL_zalloc(sizeof *d);
  if (d == NULL)
    return PPRF_ERR_NOMEM;
  redact_input_open(&d->in, read, in);
  redact_decode_proof(d);
  int err = d->in.err;
  if (err == PPRF_OK)
    *doc = d;
  else
    pprf_redact_close(d);
  return err;
}

/* Walk over a document and compare the root. */
static int check_root(pprf_redact *doc, pprf_redact_each *each, void *arg,
                      const struct redact_runs *wanted, struct redact_buffer *kept)
{
  struct walk w = {.each = each, .arg = arg};
  uint8_t root[REDACT_HASH];
  pprf_key *key = NULL;
  int err = import_key(doc, &key);
  if (err == PPRF_OK)
    err = walk(&w, doc, key, wanted, kept, root);
  if (err == PPRF_OK && memcmp(root, doc->root, sizeof root) != 0)
    err = doc->verified ? PPRF_REDACT_ERR_CHANGED : PPRF_REDACT_ERR_ROOT;
  pprf_free(key);
  return err;
}

int pprf_redact_verify(pprf_redact *doc, EVP_PKEY *key, const uint8_t *context, size_t context_len)
{
  unsigned algorithm;
  if (doc == NULL || key == NULL || (context == NULL && context_len > 0))
    return PPRF_ERR_NULL;
  doc->where = REDACT_NOWHERE;
  doc->verified = false;
  int err = algorithm_of(key, &algorithm);
  if (err == PPRF_OK && algorithm != doc->algorithm)
    err = PPRF_REDACT_ERR_KEY;
  if (err == PPRF_OK)
    err = verify_statement(doc, key);
  if (err == PPRF_OK &&
      (doc->context.len != context_len ||
       (context_len > 0 && memcmp(doc->context.bytes, context, context_len) != 0)))
    err = PPRF_REDACT_ERR_CONTEXT;
  if (err == PPRF_OK)
    err = check_root(doc, NULL, NULL, NULL, NULL);
  doc->verified = err == PPRF_OK;
  return err;
}

int pprf_redact_parts(pprf_redact *doc, pprf_redact_each *each, void *arg)
{
  return doc == NULL || each == NULL ? PPRF_ERR_NULL : check_root(doc, each, arg, NULL, NULL);
}

/* Writes a document: its proof, then the parts that are not hidden in it. */
struct writer {
  pprf_redact_write *write;
  void *out;
  const struct pprf_redact *doc;
  size_t run;
};

static int write_part(void *arg, const struct pprf_redact_piece *p)
{
  struct writer *w = arg;
  const struct redact_runs *hidden = &w->doc->hidden;
  uint8_t head[REDACT_HEAD_MAX];
  int err = PPRF_OK;
  while (w->run < hidden->count && hidden->at[w->run].last < p->part)
    w->run++;
  if (p->hidden > 0 || (w->run < hidden->count && hidden->at[w->run].first <= p->part))
    return PPRF_OK;
  if (p->offset == 0)
    err = w->write(w->out, head, redact_encode_head(REDACT_BYTES, p->len, head));
  return err != PPRF_OK ? err : w->write(w->out, p->bytes, p->bytes_len);
}

static int write_proof(const struct writer *w)
{
  struct redact_buffer proof = {0};
  redact_encode_proof(w->doc, &proof);
  int err =
    proof.err != PPRF_OK ? proof.err : redact_answer(w->write(w->out, proof.bytes, proof.len));
  redact_buffer_free(&proof);
  return err;
}

/* The input was as it should be when it was read before. */
static int changed(int err)
{
  bool not_ours = err <= 0 || err < PPRF_REDACT_ERR_CBOR || err == PPRF_REDACT_ERR_READ;
  return not_ours ? err : PPRF_REDACT_ERR_CHANGED;
}

/* Puncture the key of the document at the runs that more hides, and take the seeds. */
static int puncture(const pprf_redact *doc, struct pprf_redact *more)
{
  pprf_key *key = NULL;
  int err = import_key(doc, &key);
  for (size_t i = 0; err == PPRF_OK && i < more->hidden.count; i++) {
    err = pprf_punct_range(key, more->hidden.at[i].first, more->hidden.at[i].last);
    if (err == PPRF_ERR_PUNCTURED) /* hidden before */
      err = PPRF_OK;
  }
  if (err == PPRF_OK)
    err = export_seeds(key, &more->seeds);
  pprf_free(key);
  return err;
}

/* more: what the new document has of its own, its hidden runs and what they imply. */
static int hide(pprf_redact *doc, struct pprf_redact *more, struct writer *w)
{
  if (more->hidden.err != PPRF_OK)
    return more->hidden.err;
  doc->where = redact_runs_common(&more->hidden, &doc->required);
  if (doc->where != REDACT_NOWHERE)
    return PPRF_REDACT_ERR_REQUIRED;
  int err = check_root(doc, NULL, NULL, &more->hidden, &more->hashes);
  redact_fail(&err, more->hashes.err);
  if (err == PPRF_OK)
    err = puncture(doc, more);
  if (err == PPRF_OK)
    err = write_proof(w);
  return err != PPRF_OK ? err : changed(check_root(doc, write_part, w, NULL, NULL));
}

int pprf_redact_hide(pprf_redact *doc, const struct pprf_redact_run *runs, size_t count,
                     pprf_redact_write *write, void *out)
{
  if (doc == NULL || write == NULL || (runs == NULL && count > 0))
    return PPRF_ERR_NULL;
  struct pprf_redact more = {.statement = doc->statement, .signature = doc->signature};
  struct writer w = {.write = write, .out = out, .doc = &more};
  doc->where = REDACT_NOWHERE;
  for (size_t i = 0; i < doc->hidden.count; i++)
    redact_runs_add(&more.hidden, doc->hidden.at[i].first, doc->hidden.at[i].last);
  for (size_t i = 0; i < count; i++)
    redact_runs_add(&more.hidden, runs[i].first, runs[i].last);
  redact_runs_normalize(&more.hidden, doc->n);
  int err = hide(doc, &more, &w);
  more.statement = more.signature = (struct redact_buffer){0}; /* doc's */
  release(&more);
  return err;
}

void pprf_redact_info(const pprf_redact *doc, struct pprf_redact_summary *info)
{
  *info = (struct pprf_redact_summary){.kind = (int)doc->kind,
                                       .algorithm = redact_algorithms[doc->algorithm],
                                       .parts = doc->n,
                                       .hidden = doc->hidden.at,
                                       .hidden_count = doc->hidden.count,
                                       .required = doc->required.at,
                                       .required_count = doc->required.count,
                                       .context = doc->context.bytes,
                                       .context_len = doc->context.len,
                                       .where = doc->where};
}

/* ---- the interface: signing ---- */

/* A signer's state: the document to be, whose input is the text or, for JSON, its parts. */
struct signer {
  struct pprf_redact doc;
  const struct pprf_redact_options *options;
  struct redact_buffer parts;
  pprf_key *key;
};

/* Mark the parts at and below a pointer as required. */
static void require_pointer(struct signer *s, size_t i)
{
  struct redact_input *in = &s->doc.in;
  size_t before = s->doc.required.count;
  uint64_t len;
  in->at = 0;
  for (uint64_t part = 0; in->at < in->len; part++, in->at += len) {
    len = redact_head(in, REDACT_BYTES);
    if (redact_is_below(s->options->required_pointers[i], in->window + in->at, (size_t)len))
      redact_runs_add(&s->doc.required, part, part);
  }
  redact_fail(&in->err, s->doc.required.err);
  if (s->doc.required.count == before && in->err == PPRF_OK) {
    in->err = PPRF_REDACT_ERR_POINTER;
    s->doc.where = s->options->pointer_count + i;
  }
}

/* Read the whole JSON text and replace the input by its parts. */
static int split_input(struct signer *s)
{
  struct redact_input *in = &s->doc.in;
  const struct pprf_redact_options *o = s->options;
  struct redact_buffer text = {0};
  size_t got;
  do {
    const uint8_t *bytes = redact_peek(in, 0, 1, &got);
    redact_put(&text, bytes, got);
    in->at += got;
  } while (got > 0);
  int err = in->err;
  redact_fail(&err, text.err);
  if (err == PPRF_OK)
    err = redact_split(&text, o->pointers, o->pointer_count, &s->parts, &s->doc.where);
  redact_buffer_free(&text);
  redact_input_close(in);
  *in =
    (struct redact_input){.window = s->parts.bytes, .len = s->parts.len, .whole = true, .err = err};
  for (size_t i = 0; in->err == PPRF_OK && i < o->required_pointer_count; i++)
    require_pointer(s, i);
  return in->err;
}

/* The first pass: number of parts and root. */
static int compute_root(struct signer *s)
{
  struct pprf_redact *doc = &s->doc;
  struct walk w = {.counting = true};
  struct pprf_options options = {.size = sizeof options,
                                 .depth = REDACT_DEPTH,
                                 .suite = PPRF_SHA3_256_SALTED,
                                 .salt = doc->key_salt};
  if (RAND_bytes(doc->salt, sizeof doc->salt) != 1 ||
      RAND_bytes(doc->key_salt, sizeof doc->key_salt) != 1)
    return PPRF_ERR_CRYPTO;
  int err = pprf_setup_with(&s->key, &options);
  if (err == PPRF_OK)
    err = walk(&w, doc, s->key, NULL, NULL, doc->root);
  if (err != PPRF_REDACT_ERR_COUNT)
    err = changed(err);
  doc->n = w.part;
  if (err == PPRF_OK && doc->n == 0)
    err = PPRF_REDACT_ERR_EMPTY;
  return err;
}

static int sign(struct signer *s, EVP_PKEY *key, struct writer *out)
{
  struct pprf_redact *doc = &s->doc;
  const struct pprf_redact_options *o = s->options;
  int err = algorithm_of(key, &doc->algorithm);
  if (err == PPRF_OK && o->kind == PPRF_REDACT_JSON)
    err = split_input(s);
  if (err == PPRF_OK)
    err = compute_root(s);
  for (size_t i = 0; i < o->required_count; i++)
    redact_runs_add(&doc->required, o->required[i].first, o->required[i].last);
  if (err == PPRF_OK)
    redact_runs_normalize(&doc->required, doc->n);
  redact_fail(&err, doc->required.err);
  if (err == PPRF_OK && doc->n < REDACT_COUNT_MAX)
    err = pprf_punct_range(s->key, doc->n, REDACT_COUNT_MAX - 1);
  if (err == PPRF_OK)
    err = export_seeds(s->key, &doc->seeds);
  if (err != PPRF_OK)
    return err;
  redact_put(&doc->context, o->context, o->context_len);
  redact_fail(&doc->statement.err, doc->context.err);
  redact_encode_statement(doc);
  if (doc->statement.len > sizeof REDACT_PREFIX + REDACT_STATEMENT_MAX)
    return PPRF_ERR_RANGE;
  err = sign_statement(doc, key);
  if (err == PPRF_OK)
    err = write_proof(out);
  return err != PPRF_OK ? err : changed(check_root(doc, write_part, out, NULL, NULL));
}

int pprf_redact_sign(pprf_redact_read *read, void *in, EVP_PKEY *key,
                     const struct pprf_redact_options *options, pprf_redact_write *write, void *out,
                     uint64_t *where)
{
  struct signer s = {.options = options, .doc = {.where = REDACT_NOWHERE}};
  struct writer w = {.write = write, .out = out, .doc = &s.doc};
  if (where != NULL)
    *where = REDACT_NOWHERE;
  if (read == NULL || key == NULL || options == NULL || write == NULL)
    return PPRF_ERR_NULL;
  if (options->size != sizeof *options)
    return PPRF_ERR_RANGE;
  if ((options->context == NULL && options->context_len > 0) ||
      (options->required == NULL && options->required_count > 0) ||
      (options->pointers == NULL && options->pointer_count > 0) ||
      (options->required_pointers == NULL && options->required_pointer_count > 0))
    return PPRF_ERR_NULL;
  if (options->context_len > REDACT_CONTEXT_MAX ||
      (options->kind != PPRF_REDACT_JSON &&
       (options->kind != PPRF_REDACT_LINES || options->pointer_count > 0 ||
        options->required_pointer_count > 0)))
    return PPRF_ERR_RANGE;
  s.doc.kind = (unsigned)options->kind;
  s.doc.is_text = options->kind == PPRF_REDACT_LINES;
  redact_input_open(&s.doc.in, read, in);
  int err = s.doc.in.err != PPRF_OK ? s.doc.in.err : sign(&s, key, &w);
  if (where != NULL)
    *where = s.doc.where;
  pprf_free(s.key);
  release(&s.doc);
  redact_buffer_free(&s.parts);
  return err;
}

/* ---- the interface: the rest ---- */

int64_t pprf_redact_read_fd(void *arg, uint64_t offset, uint8_t *buf, size_t len)
{
  ssize_t n;
  if (offset > INT64_MAX)
    return 0;
  do
    n = pread(*(int *)arg, buf, len, (off_t)offset);
  while (n < 0 && errno == EINTR);
  return n;
}

int pprf_redact_write_fd(void *arg, const uint8_t *bytes, size_t len)
{
  while (len > 0) {
    ssize_t n = write(*(int *)arg, bytes, len);
    if (n < 0 && errno != EINTR)
      return -1;
    bytes += n > 0 ? n : 0;
    len -= n > 0 ? (size_t)n : 0;
  }
  return 0;
}

const char *pprf_redact_strerror(int err)
{
  static const char *const text[] = {
    "not canonical CBOR of this form",
    "the document ends too early",
    "bytes follow the last part",
    "unknown version of the format",
    "unknown kind of parts",
    "unknown signature algorithm",
    "unknown suite of the salt tree",
    "unknown hash function",
    "the number of parts is not in 1..2^40",
    "runs of parts are out of order, touch each other or lie beyond the last part",
    "a required part cannot be hidden",
    "wrong number of seeds",
    "wrong number of hashes",
    "wrong hash: the parts are not those that were signed",
    "a part is not one line or one value",
    "the signature is wrong",
    "signed for another context",
    "the key does not fit the signature",
    "an empty file has no part",
    "not JSON",
    "a name occurs twice in an object",
    "a pointer names no part",
    "reading failed",
    "the input changed while it was read",
    "longer than the format allows"};
  size_t i = (size_t)err - PPRF_REDACT_ERR_CBOR;
  return err == -1                        ? "writing failed"
         : i < sizeof text / sizeof *text ? text[i]
                                          : pprf_strerror(err);
}

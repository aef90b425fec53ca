/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: hostile documents.  The input is bytes that are taken for a document, or a program that
 * hides parts of a signed document and then edits its bytes.  What must hold:
 *   - a proof that opens is encoded to the same bytes again;
 *   - a document that verifies shows parts of a signed one at their places, or hides them;
 *   - hiding parts of it gives one that verifies, unless a part is required. */
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { PARTS = 9, REQUIRED = 4 };
static const char lines[] = "a\nbb\n\nccc\nd\n\ne\nf\ng",
                  json[] = "[1,{\"a\":2},[],{},null,\"b\",-1,0,7]";
static EVP_PKEY *key;
static struct redact_buffer signed_docs[2], parts[2][PARTS];

static void must(int good, const char *what)
{
  if (!good) {
    fprintf(stderr, "fuzz_redact: %s\n", what);
    abort();
  }
}

/* Salts and seeds are the same in every run. */
static int count_bytes(unsigned char *out, int n)
{
  static unsigned char next;
  for (int i = 0; i < n; i++)
    out[i] = next++;
  return 1;
}

int RAND_bytes(unsigned char *out, int n)
{
  return count_bytes(out, n);
}

int RAND_priv_bytes(unsigned char *out, int n)
{
  return count_bytes(out, n);
}

static int64_t read_buffer(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
  const struct redact_buffer *b = arg;
  size_t left = offset < b->len ? b->len - (size_t)offset : 0;
  n = n < left ? n : left;
  if (n > 0)
    memcpy(out, b->bytes + offset, n);
  return (int64_t)n;
}

static int write_buffer(void *arg, const uint8_t *bytes, size_t n)
{
  redact_put(arg, bytes, n);
  return 0;
}

/* Compare a shown part with the signed one, or remember it in the first call. */
static int on_part(void *arg, const struct pprf_redact_piece *p)
{
  struct redact_buffer *part = (struct redact_buffer *)arg + p->part;
  must(p->part + p->hidden <= PARTS &&
         (p->hidden == 0 || p->part > REQUIRED || p->part + p->hidden <= REQUIRED),
       "a place");
  if (p->hidden == 0 && part->len == 0)
    redact_put(part, p->bytes, p->bytes_len);
  must(p->hidden > 0 || (part->len == p->len && memcmp(part->bytes, p->bytes, p->bytes_len) == 0),
       "a part");
  return 0;
}

static void setup(void)
{
  static const uint8_t raw[32] = {1};
  struct pprf_redact_run run = {REQUIRED, REQUIRED};
  pprf_redact *doc;
  key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, raw, sizeof raw);
  for (int i = 0; i < 2; i++) {
    const char *text = i == 0 ? lines : json;
    struct redact_buffer in = {.bytes = (uint8_t *)text, .len = strlen(text)};
    struct pprf_redact_options o = {
      .size = sizeof o, .kind = i + 1, .required = &run, .required_count = 1};
    must(pprf_redact_sign(read_buffer, &in, key, &o, write_buffer, &signed_docs[i], NULL) ==
             PPRF_OK &&
           pprf_redact_open(&doc, read_buffer, &signed_docs[i]) == PPRF_OK &&
           pprf_redact_parts(doc, on_part, parts[i]) == PPRF_OK &&
           pprf_redact_verify(doc, key, NULL, 0) == PPRF_OK,
         "setup");
    pprf_redact_close(doc);
  }
}

/* Hide a run: in must be replaced by the result, if that is possible.  @return whether in verifies. */
static bool offer(struct redact_buffer *in, struct pprf_redact_run run)
{
  pprf_redact *doc;
  struct redact_buffer proof = {0}, same = {0}, less = {0};
  if (pprf_redact_open(&doc, read_buffer, in) != PPRF_OK)
    return false;
  redact_encode_proof(doc, &proof);
  must(proof.len == doc->parts_at && memcmp(proof.bytes, in->bytes, proof.len) == 0,
       "not canonical");
  if (pprf_redact_hide(doc, NULL, 0, write_buffer, &same) == PPRF_OK)
    must(same.len == in->len && memcmp(same.bytes, in->bytes, same.len) == 0,
         "hiding nothing changes it");
  bool good = pprf_redact_verify(doc, key, NULL, 0) == PPRF_OK;
  if (good)
    must(pprf_redact_parts(doc, on_part, parts[doc->kind - 1]) == PPRF_OK,
         "verified, but cannot be read");
  int err = pprf_redact_hide(doc, &run, 1, write_buffer, &less);
  must(!good || err == PPRF_OK ||
         (err == PPRF_REDACT_ERR_REQUIRED && run.first <= REQUIRED && REQUIRED <= run.last) ||
         (err == PPRF_REDACT_ERR_RUNS && (run.first > run.last || run.last >= PARTS)),
       "hiding failed");
  pprf_redact_close(doc);
  redact_buffer_free(&proof);
  redact_buffer_free(&same);
  if (good && err == PPRF_OK) {
    redact_buffer_free(in);
    *in = less;
  } else {
    redact_buffer_free(&less);
  }
  return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  struct redact_buffer doc = {0};
  struct pprf_redact_run none = {1, 0};
  if (key == NULL)
    setup();
  if (len < 2)
    return 0;
  unsigned op = bytes[0], hides = bytes[1] % 4;
  bytes += 2, len -= 2;
  const struct redact_buffer *from = &signed_docs[op % 2];
  redact_put(&doc, op & 2 ? bytes : from->bytes, op & 2 ? len : from->len);
  for (; hides > 0 && len >= 2; hides--, bytes += 2, len -= 2)
    must(offer(&doc, (struct pprf_redact_run){bytes[0] % 10, bytes[1] % 10}) || op & 2,
         "a redaction does not verify");
  for (; !(op & 2) && len >= 3 && doc.len > 0;
       bytes += 3, len -= 3) { /* set, insert or drop a byte */
    size_t at = ((size_t)bytes[0] | (size_t)(bytes[1] & 3) << 8) % doc.len;
    if (bytes[1] & 4)
      redact_put(&doc, bytes, 1);
    if (bytes[1] & 12)
      memmove(doc.bytes + at + !(bytes[1] & 8), doc.bytes + at + !!(bytes[1] & 8),
              doc.len - at - 1);
    doc.len -= (bytes[1] & 8) != 0;
    if (!(bytes[1] & 8))
      doc.bytes[at] = bytes[2];
  }
  (void)offer(&doc, none);
  redact_buffer_free(&doc);
  return 0;
}

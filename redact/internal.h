/* SPDX-License-Identifier: Apache-2.0 */
/** @file internal.h
 * What the files of libpprf_redact share.  A structure with a member err keeps the first error; once
 * it has one, functions on it do nothing and return 0. */
#ifndef PPRF_REDACT_INTERNAL_H
#define PPRF_REDACT_INTERNAL_H

#include <openssl/evp.h>
#include <stdbool.h>

#include "pprf_redact.h"

enum {
  REDACT_DEPTH = 40,
  REDACT_SALT = 16,
  REDACT_HASH = 32,
  REDACT_HEAD_MAX = 9,      /* of a CBOR item */
  REDACT_WINDOW = 256 << 10, /* a part up to this long comes in one piece */
  /* limits of the format, in bytes */
  REDACT_STATEMENT_MAX = 16 << 20,
  REDACT_SIGNATURE_MAX = 72,
  REDACT_CONTEXT_MAX = 64 << 10,
  REDACT_POINTER_MAX = 4096
};
#define REDACT_COUNT_MAX (UINT64_C(1) << REDACT_DEPTH)
#define REDACT_NOWHERE UINT64_MAX

/* ---- memory that grows; wiped when it moves and when it is freed ---- */

struct redact_buffer {
  uint8_t *bytes;
  size_t len, room;
  int err;
};
void redact_put(struct redact_buffer *b, const void *bytes, size_t len);
void redact_buffer_free(struct redact_buffer *b);

struct redact_runs {
  struct pprf_redact_run *at;
  size_t count, room;
  int err;
};
void redact_runs_add(struct redact_runs *runs, uint64_t first, uint64_t last);
/** Sort the runs and join those that touch; err is PPRF_REDACT_ERR_RUNS if first > last or last >= n. */
void redact_runs_normalize(struct redact_runs *runs, uint64_t n);
/** The first part that lies in both, or REDACT_NOWHERE. */
uint64_t redact_runs_common(const struct redact_runs *a, const struct redact_runs *b);
/** The gap [*at, *end) of [0, n) before run i, or after the last; it may be empty. */
void redact_runs_gap(const struct redact_runs *runs, uint64_t n, size_t i, uint64_t *at,
                     uint64_t *end);
/** End of the largest subtree that begins at `at` and ends by `end`: of the RFC 9162 tree of n leaves,
 * or, if n is 0, an aligned power of two. */
uint64_t redact_block_end(uint64_t at, uint64_t end, uint64_t n);

/* ---- input at offsets, through a window ---- */

struct redact_input {
  pprf_redact_read *read;
  void *arg;
  uint8_t *window;
  uint64_t start, at; /* offsets of the window's first byte, and of the next byte to decode */
  size_t len;         /* of the window */
  bool whole;         /* the window is all there is, and not ours to free */
  int err;
};
void redact_input_open(struct redact_input *in, pprf_redact_read *read, void *arg);
void redact_input_close(struct redact_input *in);
/** A callback's answer as a result: a positive one, which means nothing, ends the call too. */
static inline int redact_answer(int answer)
{
  return answer > 0 ? -1 : answer;
}
/** Set err unless there is one. */
void redact_fail(int *err, int why);
/** The bytes from in->at + ahead on.
 * @param[in]  want at most REDACT_WINDOW.
 * @param[out] got  at least want, unless the input ends; 0 if err is set. */
const uint8_t *redact_peek(struct redact_input *in, uint64_t ahead, size_t want, size_t *got);

/* ---- CBOR: heads by libcbor ---- */

enum { REDACT_UINT = 0, REDACT_BYTES = 2, REDACT_TEXT = 3, REDACT_ARRAY = 4 }; /* major types */
/** Decode a head of that type, which must be in the shortest form, and pass it. */
uint64_t redact_head(struct redact_input *in, unsigned major);
/** Encode a head.
 * @return its length in bytes. */
size_t redact_encode_head(unsigned major, uint64_t value, uint8_t out[REDACT_HEAD_MAX]);
void redact_put_bytes(struct redact_buffer *b, const void *bytes, size_t len);

/* ---- statement and proof ---- */

struct pprf_redact {
  struct redact_input in;
  /* the statement */
  unsigned kind, algorithm; /* PPRF_REDACT_LINES or _JSON; index of redact_algorithms */
  uint64_t n;
  uint8_t salt[REDACT_SALT], key_salt[PPRF_SALT_BYTES], root[REDACT_HASH];
  struct redact_runs required;
  struct redact_buffer context;
  struct redact_buffer statement; /* its encoding, after the prefix that is signed with it */
  /* the rest of the proof */
  struct redact_buffer signature, seeds, hashes;
  struct redact_runs hidden;
  uint64_t parts_at; /* offset of the first shown part */
  uint64_t where;
  bool verified, is_text; /* is_text: the input is lines that are not byte strings yet */
};
extern const char *const redact_algorithms[3]; /* ends with NULL */

/** What is signed before the statement, with its zero byte: 17 bytes. */
#define REDACT_PREFIX "libpprf redact 1"
void redact_encode_statement(struct pprf_redact *doc);
void redact_encode_proof(const struct pprf_redact *doc, struct redact_buffer *out);
/** Decode the proof at the start of doc->in, whose err is the result. */
void redact_decode_proof(struct pprf_redact *doc);

/* ---- the RFC 9162 tree ---- */

struct redact_tree {
  EVP_MD *md;
  EVP_MD_CTX *ctx;
  struct {
    uint64_t start, end;
    uint8_t hash[REDACT_HASH];
  } stack[REDACT_DEPTH + 2];
  unsigned height;
  const struct redact_runs *wanted; /* runs whose subtrees' hashes are kept, or NULL */
  size_t run;
  uint64_t at, n; /* the next of these subtrees begins at `at` */
  struct redact_buffer kept;
  int err;
};
void redact_tree_open(struct redact_tree *t, const struct redact_runs *wanted, uint64_t n);
/** Add the subtree of the leaves [start, end). */
void redact_tree_add(struct redact_tree *t, uint64_t start, uint64_t end,
                     const uint8_t hash[REDACT_HASH]);
void redact_tree_root(struct redact_tree *t, uint8_t root[REDACT_HASH]);
void redact_tree_close(struct redact_tree *t);

/* ---- JSON ---- */

/** Split a JSON text into parts and append each to parts as a byte string.
 * @param[in]  pointers, count  values that are one part each, not split.
 * @param[out] where  what an error is about, as for pprf_redact_sign; set only on such an error.
 * @return PPRF_OK, or JSON, DUPLICATE, POINTER, LIMIT or NOMEM. */
int redact_split(const struct redact_buffer *text, const char *const *pointers, size_t count,
                 struct redact_buffer *parts, uint64_t *where);
/** A double as RFC 8785 writes it. */
void redact_number(double x, char out[32]);
/** Length of the pointer of a JSON document's part, from the part's first 4 bytes. */
uint32_t redact_pointer_length(const uint8_t *part);
/** Whether a part of a JSON document lies at or below a pointer. */
bool redact_is_below(const char *pointer, const uint8_t *part, size_t len);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_redact.h
 * Redactable documents: signed once; later anybody may hide parts, and what is left still verifies.
 * docs/redact.md has the format and what a verifier learns.
 *
 * Parts are the lines of a text or the values of a JSON document, counted from 0 here.  Input is read
 * at offsets, twice; output is written in order.  Memory does not grow with parts or their number, but
 * with runs of hidden and required parts (for JSON, signing holds the whole document).
 *
 * Functions that return int return PPRF_OK, an error of pprf.h, an error below, or what a callback
 * returned if that is negative; -1 if that is positive.  After an error, what was written must not be
 * used.
 *
 * A JSON document is what its pairs of pointer and value say: these do not tell arrays from objects,
 * and that the pairs are those of one JSON text is the signer's word, which no verifier checks. */
#ifndef PPRF_REDACT_H
#define PPRF_REDACT_H

#include <openssl/types.h>
#include <pprf.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Results of every function that returns int, beside those of pprf.h. */
enum {
  PPRF_REDACT_ERR_CBOR = 64,      /**< not canonical CBOR, or not of the proof's form */
  PPRF_REDACT_ERR_SHORT = 65,     /**< the input ends too early, or a length in it is too large */
  PPRF_REDACT_ERR_TRAILING = 66,  /**< bytes follow the last part */
  PPRF_REDACT_ERR_VERSION = 67,   /**< unknown version */
  PPRF_REDACT_ERR_KIND = 68,      /**< unknown kind of parts */
  PPRF_REDACT_ERR_ALGORITHM = 69, /**< unknown signature algorithm */
  PPRF_REDACT_ERR_SUITE = 70,     /**< unknown suite of the salt tree */
  PPRF_REDACT_ERR_HASH = 71,      /**< unknown hash function */
  PPRF_REDACT_ERR_COUNT = 72,     /**< the number of parts is not in 1..2^40 */
  PPRF_REDACT_ERR_RUNS = 73,      /**< runs of hidden or required parts are out of order, touch or
                                       overlap each other, or lie beyond the last part */
  PPRF_REDACT_ERR_REQUIRED = 74,  /**< a required part is, or would be, hidden */
  PPRF_REDACT_ERR_SEEDS = 75,     /**< wrong number of seeds */
  PPRF_REDACT_ERR_HASHES = 76,    /**< wrong number of hashes */
  PPRF_REDACT_ERR_ROOT = 77,      /**< parts, seeds and hashes do not give the signed root */
  PPRF_REDACT_ERR_PART = 78,      /**< a part is not one line, or not a pointer and a value */
  PPRF_REDACT_ERR_SIGNATURE = 79, /**< the signature is wrong */
  PPRF_REDACT_ERR_CONTEXT = 80,   /**< signed for another context */
  PPRF_REDACT_ERR_KEY = 81,       /**< the key is not of the signature's algorithm */
  PPRF_REDACT_ERR_EMPTY = 82,     /**< an empty file has no part */
  PPRF_REDACT_ERR_JSON = 83,      /**< not JSON in UTF-8, or a number that no double holds */
  PPRF_REDACT_ERR_DUPLICATE = 84, /**< a name occurs twice in a JSON object */
  PPRF_REDACT_ERR_POINTER = 85,   /**< a pointer names nothing, or a value inside another's */
  PPRF_REDACT_ERR_READ = 86,      /**< reading failed */
  PPRF_REDACT_ERR_CHANGED = 87,   /**< the input changed while it was read */
  PPRF_REDACT_ERR_LIMIT = 88      /**< a statement above 16 MiB, a signature above 72 bytes, a context
                                       above 64 KiB, or, when signing, a pointer above 4096 bytes */
};

/** One line of English for any result, never NULL. */
PPRF_API const char *pprf_redact_strerror(int err);

/** Kinds of parts. */
enum {
  PPRF_REDACT_LINES = 1, /**< a part is a line with its line feed; the last line may have none */
  PPRF_REDACT_JSON = 2 /**< a part is the length of a pointer (RFC 6901) in 4 bytes, big-endian, the
                              pointer, and the canonical bytes (RFC 8785) of the value there */
};

/** Read up to len bytes at an offset.
 * @return the number of bytes, less than len only at the end; negative: reading failed. */
typedef int64_t pprf_redact_read(void *arg, uint64_t offset, uint8_t *buf, size_t len);

/** Take the next bytes.
 * @return 0 to go on; another value ends the call. */
typedef int pprf_redact_write(void *arg, const uint8_t *bytes, size_t len);

/** A ready-made pprf_redact_read: arg points to an int, the descriptor of a file that can seek. */
PPRF_API int64_t pprf_redact_read_fd(void *arg, uint64_t offset, uint8_t *buf, size_t len);
/** A ready-made pprf_redact_write: arg points to an int, a descriptor. */
PPRF_API int pprf_redact_write_fd(void *arg, const uint8_t *bytes, size_t len);

/** Parts first .. last, counted from 0. */
struct pprf_redact_run {
  uint64_t first; /**< the first */
  uint64_t last;  /**< the last, not one beyond it */
};

/** What pprf_redact_sign signs.  Later versions add members at the end. */
struct pprf_redact_options {
  size_t size;            /**< sizeof(struct pprf_redact_options) */
  int kind;               /**< PPRF_REDACT_LINES or PPRF_REDACT_JSON */
  const uint8_t *context; /**< what the document is for; a verifier must name it */
  size_t context_len;     /**< its length in bytes, or 0 */
  const struct pprf_redact_run
    *required;                 /**< runs that cannot be hidden, in any order; may overlap */
  size_t required_count;       /**< their number */
  const char *const *pointers; /**< JSON: values that are one part each, not split */
  size_t pointer_count;        /**< their number */
  const char *const *required_pointers; /**< JSON: all parts at and below these cannot be hidden */
  size_t required_pointer_count;        /**< their number */
};

/** Sign a document.
 * @param[in]  read      reads the text, twice.
 * @param[in]  in        passed to read.
 * @param[in]  key       a private key: Ed25519 or P-256.
 * @param[in]  options   options->size bytes of them.
 * @param[in]  write     receives the whole document with its proof.
 * @param[in]  out       passed to write.
 * @param[out] where     what an error is about: a part from 0, for JSON and DUPLICATE the byte, for POINTER
 *                       the index in pointers, or pointer_count + that in required_pointers; UINT64_MAX if nothing; may be NULL.
 * @retval PPRF_ERR_RANGE an option is out of range, or the context or the required runs are too long.
 * @retval PPRF_ERR_NULL  read, write, key, options or an array of a length above 0 is NULL.
 * @retval others         COUNT, RUNS, KEY, EMPTY, JSON, DUPLICATE, POINTER, READ, CHANGED, LIMIT; NOMEM and
 *                        CRYPTO of pprf.h. */
PPRF_API int pprf_redact_sign(pprf_redact_read *read, void *in, EVP_PKEY *key,
                              const struct pprf_redact_options *options, pprf_redact_write *write,
                              void *out, uint64_t *where);

/** A document that is open for reading; nothing in it is verified until pprf_redact_verify says so. */
typedef struct pprf_redact pprf_redact;

/** Read a document's proof.
 * @param[out] doc     to be given back with pprf_redact_close; NULL on error.
 * @param[in]  read reads the document, until the close.
 * @param[in]  in   passed to read.
 * @retval PPRF_OK the proof is canonical and its counts agree with each other.
 * @retval others  CBOR to SEEDS, HASHES, KIND, READ, LIMIT; NOMEM and NULL of pprf.h. */
PPRF_API int pprf_redact_open(pprf_redact **doc, pprf_redact_read *read, void *in);

/** Check the signature, the context, every part and every hash.
 * @param[in] doc         the document.
 * @param[in] key         the signer's public key.
 * @param[in] context     the context that it must have been signed for.
 * @param[in] context_len its length in bytes.
 * @retval PPRF_OK the signer signed a document of these parts, at these places, for this context.
 * @retval others  KEY, SIGNATURE, CONTEXT, SHORT, TRAILING, ROOT, PART, CBOR, READ; NOMEM, CRYPTO and NULL. */
PPRF_API int pprf_redact_verify(pprf_redact *doc, EVP_PKEY *key, const uint8_t *context,
                                size_t context_len);

/** A piece of a shown part, or a run of hidden ones. */
struct pprf_redact_piece {
  uint64_t part;        /**< its number, from 0; the first of a hidden run */
  uint64_t hidden;      /**< number of hidden parts; 0: the piece is of a shown part */
  uint64_t offset;      /**< of a shown part: where in it the piece begins, in bytes */
  uint64_t len;         /**< its whole length in bytes */
  const uint8_t *bytes; /**< the piece; NULL for hidden ones */
  size_t bytes_len;     /**< its length */
};

/** Receives the next piece, in order.
 * @return 0 to go on; another value ends the call. */
typedef int pprf_redact_each(void *arg, const struct pprf_redact_piece *piece);

/** Read all parts.  They are verified only if pprf_redact_verify succeeded before, and only once the
 * call has returned PPRF_OK: the input is read again and compared with the root again,
 * so that what each received must not be used before.
 * @param[in] doc  the document.
 * @param[in] each receives the pieces.
 * @param[in] arg  passed to each.
 * @retval PPRF_REDACT_ERR_CHANGED verified before, but no longer.
 * @retval others                  SHORT, TRAILING, ROOT, PART, CBOR, READ; NOMEM and CRYPTO. */
PPRF_API int pprf_redact_parts(pprf_redact *doc, pprf_redact_each *each, void *arg);

/** Write the document with more parts hidden.  Needs no key.  The root is checked first.
 * @param[in] doc       the document.
 * @param[in] runs      parts to hide, in any order; may overlap, and may be hidden already.
 * @param[in] count     number of runs.
 * @param[in] write     receives the new document.
 * @param[in] out       passed to write.
 * @retval PPRF_REDACT_ERR_REQUIRED the info's where names a required part among them.
 * @retval PPRF_REDACT_ERR_RUNS     first > last, or there is no such part.
 * @retval others                   as pprf_redact_parts. */
PPRF_API int pprf_redact_hide(pprf_redact *doc, const struct pprf_redact_run *runs, size_t count,
                              pprf_redact_write *write, void *out);

/** What a proof says of its document; pointers are valid until the close.  Runs are sorted, disjoint and
 * not adjacent. */
struct pprf_redact_summary {
  int kind;                               /**< PPRF_REDACT_LINES or PPRF_REDACT_JSON */
  const char *algorithm;                  /**< "ed25519" or "ecdsa-p256-sha256" */
  uint64_t parts;                         /**< their number */
  const struct pprf_redact_run *hidden;   /**< hidden parts */
  size_t hidden_count;                    /**< number of runs */
  const struct pprf_redact_run *required; /**< parts that cannot be hidden */
  size_t required_count;                  /**< number of runs */
  const uint8_t *context;                 /**< what the document was signed for */
  size_t context_len;                     /**< its length in bytes */
  uint64_t where;                         /**< the part that the last error was about, from 0;
                                               UINT64_MAX: none */
};
/** Tell what a document's proof says.
 * @param[in]  doc  the document.
 * @param[out] info receives it. */
PPRF_API void pprf_redact_info(const pprf_redact *doc, struct pprf_redact_summary *info);
/** Wipe the proof's seeds and release the memory.  NULL is allowed. */
PPRF_API void pprf_redact_close(pprf_redact *doc);

#ifdef __cplusplus
}
#endif
#endif

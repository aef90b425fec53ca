/* SPDX-License-Identifier: Apache-2.0 */
/** @file tickets.h
 * What tickets.c (bytes in, bytes out) and attach.c (OpenSSL's callbacks) share: the state behind a
 * pprf_tickets and the keys of one ticket. */
#ifndef PPRF_TICKETS_INTERNAL_H
#define PPRF_TICKETS_INTERNAL_H

#include <openssl/evp.h>
#include <stdatomic.h>

#include "backend.h"

struct pprf_tickets {
  const struct backend *backend;
  void *keys; /* the backend's */
  struct pprf_tickets_options options; /* defaults filled in */
  atomic_uint users; /* in this process: who made it, and those of ticket_hold */
};

/** Keep the state's memory in this process although pprf_tickets_free is called, until
 * ticket_let_go. */
void ticket_hold(pprf_tickets *tickets);
void ticket_let_go(pprf_tickets *tickets);

/** The process's own part of a state, defaults filled in, without a backend, which the caller gives it.
 * @retval as pprf_tickets_new. */
int ticket_state(pprf_tickets **tickets, const struct pprf_tickets_options *options);

/** The keys of one ticket, as long as the value that they come from: longer ones would be as easy to guess.
 * The IV is the ticket's name: one that is used with this cipher key only need
 * not be random. */
struct ticket_keys {
  uint8_t cipher[PPRF_SEED_BYTES]; /**< AES-128-CBC */
  uint8_t mac[PPRF_SEED_BYTES];    /**< HMAC-SHA-256 */
};

_Static_assert(NAME_BYTES == 16, "a name is as long as an IV");

/** Fetch the algorithms, once: whether they are there. */
int ticket_algorithms(void);

/** Seconds of the clock by which tickets age. */
uint64_t ticket_clock(void);

/** The digest of this many bytes, 32 (SHA-256) or 48 (SHA-384); NULL: there is none. */
const EVP_MD *ticket_digest(size_t bytes);

/** HMAC (RFC 2104) under a key of at most a block of the digest, 64 bytes.  False: OpenSSL failed. */
int ticket_hmac(const EVP_MD *digest, const uint8_t *key, size_t key_bytes, const uint8_t *text,
                size_t text_bytes, uint8_t *out);

/** HKDF-Extract (RFC 5869, 2.2) without a salt, of a secret as long as the digest.  False: OpenSSL failed. */
int ticket_extract(const EVP_MD *digest, const uint8_t *secret, uint8_t *out);

/** The keys of a leaf's value (pprf_split_value).  False: the PRG failed, and keys is zero. */
int ticket_derive(const struct origin *origin, const uint8_t value[PPRF_SEED_BYTES],
                  struct ticket_keys *keys);

/** Set up a cipher and a MAC for a ticket; iv: the ticket's.  False: OpenSSL failed. */
int ticket_set_keys(const struct ticket_keys *keys, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                    const uint8_t iv[16], int enc);

#endif

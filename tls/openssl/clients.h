/* SPDX-License-Identifier: Apache-2.0 */
/** @file clients.h
 * What a connection asks of its client, as a digest: the session id context and, where client certificates are asked
 * for, which are accepted.  A ticket is good only where the same is asked as where it was issued. */
#ifndef PPRF_TLS_CLIENTS_H
#define PPRF_TLS_CLIENTS_H

#include <openssl/ssl.h>
#include <stdint.h>

#define CLIENTS_BYTES 16
/** The session id context that an SSL_CTX without one is given; for a digest it is the same as none. */
#define CLIENTS_ID "pprf"

/** The certificates that an SSL_CTX trusts, digested once: they may be many. */
struct clients_anchors {
  X509_STORE *store; /**< held; NULL: none was digested */
  uint8_t digest[32];
};

/** Digest what an SSL_CTX trusts.  *anchors is empty before, or was read before, and given to clients_forget in the end.
 * False: no memory, and it is empty. */
int clients_read(SSL_CTX *ctx, struct clients_anchors *anchors);

void clients_forget(struct clients_anchors *anchors);

/** What a connection asks of its client with the SSL_CTX that it has now: the session id context; verify mode, and
 * where certificates are asked for, depth and flags of verifying, the names of the CAs that are accepted, and the
 * certificates that are trusted.
 * @param[in]  anchors of that SSL_CTX, or NULL.
 * @param[in,out] other what a connection trusts that anchors do not hold; kept for its next digests.  Empty at first, and
 *                      given to clients_forget in the end.
 * @param[out] out     128 bits of a SHA-256.  False: OpenSSL failed, and out means nothing. */
int clients_digest(SSL *ssl, const struct clients_anchors *anchors, struct clients_anchors *other,
                   uint8_t out[CLIENTS_BYTES]);

/** Bytes of an SSL_CTX's session id context; -1: they cannot be told. */
int clients_id_bytes(const SSL_CTX *ctx);

/** Bytes of an object of OpenSSL's; 0: its memory is not malloc's.  (attach.c) */
size_t clients_object_bytes(const void *object);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file clients.h
 * The client requirements of a connection, as a digest: the session id context and, if client
 * certificates are requested, which ones are accepted.  A ticket is good only under the
 * requirements it was issued under. */
#ifndef PPRF_TLS_CLIENTS_H
#define PPRF_TLS_CLIENTS_H

#include <openssl/ssl.h>
#include <stdint.h>

#define CLIENTS_BYTES 16
/** The session id context given to an SSL_CTX that has none; the digest treats it as none. */
#define CLIENTS_ID "pprf"

/** Digest of the certificates that an SSL_CTX trusts, computed once because there may be many. */
struct clients_anchors {
  X509_STORE *store; /**< held; NULL: nothing is digested */
  uint8_t digest[32];
};

/** Digest the certificates that an SSL_CTX trusts.  *anchors must be empty or a previous result;
 * free it with clients_forget.  False: no memory, and it is empty. */
int clients_read(SSL_CTX *ctx, struct clients_anchors *anchors);

void clients_forget(struct clients_anchors *anchors);

/** Digest of a connection's client requirements with its current SSL_CTX: session id context and
 * verify mode; if certificates are requested, also verify depth and flags, accepted CA names and
 * trusted certificates.
 * @param[in]  anchors of that SSL_CTX, or NULL.
 * @param[in,out] other trusted certificates not in anchors, kept for the connection's next digests.
 *                      Empty at first; free it with clients_forget.
 * @param[out] out     128 bits of a SHA-256.  False: OpenSSL failed, and out means nothing. */
int clients_digest(SSL *ssl, const struct clients_anchors *anchors, struct clients_anchors *other,
                   uint8_t out[CLIENTS_BYTES]);

/** Length of an SSL_CTX's session id context; -1: unknown. */
int clients_id_bytes(const SSL_CTX *ctx);

/** Size of an OpenSSL object; 0: its memory is not from malloc.  (attach.c) */
size_t clients_object_bytes(const void *object);

#endif

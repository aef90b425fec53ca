/* SPDX-License-Identifier: Apache-2.0 */
/** @file loop.h
 * A TLS client and a TLS server in one process, joined by memory, for tests and measurements. */
#ifndef PPRF_TLS_LOOP_H
#define PPRF_TLS_LOOP_H

#include <openssl/ssl.h>

/** What a connection was like. */
struct loop_result {
  int client_done, server_done; /* whether the handshake was completed */
  int resumed;                  /* as the server sees it */
  int early;                    /* whether early data was delivered to the server */
  SSL_SESSION *session;         /* the last one the client got, or NULL: the caller's */
  double server_seconds;        /* processor time of the server's calls */
};

/** An SSL_CTX of a server, with a certificate made for this process, by TLS or another method, and of a client. */
SSL_CTX *loop_server(void);
SSL_CTX *loop_server_of(const SSL_METHOD *method);
SSL_CTX *loop_client(int max_version);

/** Connect: session NULL is a full handshake; early data is sent if early is set.
 * @param[in] server NULL: a new one from server_ctx. */
struct loop_result loop_connect(SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL *server,
                                SSL_SESSION *session, int early, const char *server_name);

/** Join a new client and a server, for callers that drive the handshake themselves. */
SSL *loop_join(SSL_CTX *client_ctx, SSL *server, SSL_SESSION *session);

#endif

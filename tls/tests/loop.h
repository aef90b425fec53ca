/* SPDX-License-Identifier: Apache-2.0 */
/** @file loop.h
 * A TLS client and a TLS server in one process, joined by memory, for tests and measurements. */
#ifndef PPRF_TLS_LOOP_H
#define PPRF_TLS_LOOP_H

#include <openssl/ssl.h>

/** The outcome of a connection. */
struct loop_result {
  int client_done, server_done; /* whether the handshake was completed */
  int resumed;                  /* according to the server */
  int early;                    /* whether early data was delivered to the server */
  SSL_SESSION *session;         /* the last one the client got, or NULL; the caller frees it */
  double server_seconds;        /* processor time of the server's calls */
};

/** A server's SSL_CTX, with a certificate made for this process, for TLS or another method; and
 * a client's. */
SSL_CTX *loop_server(void);
SSL_CTX *loop_server_of(const SSL_METHOD *method);
SSL_CTX *loop_client(int max_version);

/** Connect: a full handshake if session is NULL; early data is sent if early is set.
 * @param[in] server NULL: a new one from server_ctx. */
struct loop_result loop_connect(SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL *server,
                                SSL_SESSION *session, int early, const char *server_name);

/** A handshake that may wait for a ticket's server: one thread can have many of them. */
struct loop_handshake {
  SSL *client, *server;
  SSL_SESSION *session; /* the last one the client got, or NULL */
};

struct loop_handshake loop_begin(SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL_SESSION *session);
/** Go on: 1, it is done; 0, it waits (pprf_tickets_waits_for); -1, it failed. */
int loop_step(struct loop_handshake *h);
/** Wait for what it waits for. */
void loop_wait(const struct loop_handshake *h, size_t n);
/** Free both ends, wherever the handshake is.  The session stays. */
void loop_end(struct loop_handshake *h);

/** Join a new client and a server, for callers that drive the handshake themselves. */
SSL *loop_join(SSL_CTX *client_ctx, SSL *server, SSL_SESSION *session);

#endif

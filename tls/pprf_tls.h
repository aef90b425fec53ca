/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_tls.h
 * The tickets of pprf_tickets.h for OpenSSL servers: forward-secret, replay-safe TLS 1.3 0-RTT.
 *
 * A ticket's leaf is punctured when the client has shown that the ticket is its own (RFC 8446,
 * 4.2.11.2: the binder is verified) and before its early data is accepted, so that a replayed first
 * flight finds no key. */
#ifndef PPRF_TLS_H
#define PPRF_TLS_H

#include <openssl/ssl.h>
#include <pprf_tickets.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Let an SSL_CTX issue and redeem these tickets.  Sets the ticket key, session ticket, early data
 * and info callbacks (an existing info callback is still called), SSL_OP_NO_ANTI_REPLAY (this
 * library is the anti-replay; with OpenSSL's own, tickets would be stateful), session cache off,
 * the timeout and the amount of early data.  Call it after every other setting of the SSL_CTX.  An
 * SSL_CTX without a session id context gets one, "pprf": without it, OpenSSL ends every resumption
 * if client certificates are requested.  A ticket is good only under the client requirements it was
 * issued under: session id context, verify mode and, with SSL_VERIFY_PEER, depth and flags, the
 * names of the accepted CAs and the trusted certificates (those of the SSL_CTX as they are now).
 * Otherwise it costs a full handshake; if a servername callback changes them after OpenSSL has
 * accepted the session, the handshake ends with an alert, and the ticket stays good.  Verify
 * callbacks, CRLs and directories of hashed certificates are not compared: contexts that differ
 * only in these need different session id contexts.  OpenSSL does not call a certificate callback
 * (SSL_CTX_set_cert_cb) in a resumption: one that changes the requirements makes every resumption
 * end with the alert.  Set a connection's own info callback before its handshake or in a client
 * hello callback, not later.  When a TLS 1.3 connection's tickets are sent, ticket secrets that it
 * no longer needs are overwritten; a ticket requested later (SSL_new_session_ticket, post-handshake
 * authentication) cannot be decrypted by anybody, and costs its client a full handshake.  The
 * state's memory stays until the SSL_CTX and its connections are freed, or it is detached.
 * @retval PPRF_OK            the SSL_CTX has these tickets.
 * @retval PPRF_ERR_NULL      a pointer is NULL.
 * @retval PPRF_ERR_NOMEM     no memory; nothing was changed.
 * @retval PPRF_TLS_ERR_TAKEN the SSL_CTX has tickets attached or external session cache
 *                            callbacks; nothing was changed.
 * @retval PPRF_TLS_ERR_SSL   OpenSSL refused. */
PPRF_API int pprf_tickets_attach(SSL_CTX *ctx, pprf_tickets *tickets);

/** pprf_tickets_attach with an amount of early data for this SSL_CTX, instead of the options'.
 * @param[in] ctx            the SSL_CTX.
 * @param[in] tickets        as for pprf_tickets_attach.
 * @param[in] max_early_data bytes of early data with a ticket that this SSL_CTX issues, 0..2^31 -
 *                           1.  With 0, this SSL_CTX accepts no early data with any ticket.  Let
 *                           the options' number be the greatest of all: early data that is not
 *                           accepted is skipped up to that number.
 * @retval PPRF_OK             the SSL_CTX has these tickets.
 * @retval PPRF_ERR_NULL       a pointer is NULL.
 * @retval PPRF_ERR_NOMEM      no memory; nothing was changed.
 * @retval PPRF_TLS_ERR_OPTION max_early_data is out of range; nothing was changed.
 * @retval PPRF_TLS_ERR_TAKEN  as pprf_tickets_attach; nothing was changed.
 * @retval PPRF_TLS_ERR_SSL    OpenSSL refused. */
PPRF_API int pprf_tickets_attach_early(SSL_CTX *ctx, pprf_tickets *tickets,
                                       uint32_t max_early_data);

/** Stop an SSL_CTX from issuing and redeeming tickets.  All settings that attaching changed are restored,
 * except the ticket key, session ticket and early data callbacks, which are removed: OpenSSL then uses
 * tickets of its own.  Connections in a handshake finish it with these tickets.  Other threads must
 * not be using the SSL_CTX, as for its other settings.  Tickets can be attached again, these or
 * others.
 * @retval PPRF_OK          no tickets are attached, or there were none.
 * @retval PPRF_ERR_NULL    ctx is NULL.
 * @retval PPRF_TLS_ERR_SSL OpenSSL refused a setting that it had before; no tickets are attached. */
PPRF_API int pprf_tickets_detach(SSL_CTX *ctx);

/** SSL_CTX_set_session_ticket_cb for an SSL_CTX with tickets attached, which has a callback of this
 * library in that place; the program's callbacks are called as OpenSSL would call them.  Call it
 * after pprf_tickets_attach, which drops earlier ones, because OpenSSL cannot return them.
 * @param[in] ctx      the SSL_CTX.
 * @param[in] generate may be NULL.
 * @param[in] decrypt  may be NULL.
 * @param[in] arg      passed to both.
 * @retval PPRF_OK            connections that begin from now on have them.
 * @retval PPRF_ERR_NULL      ctx is NULL.
 * @retval PPRF_TLS_ERR_TAKEN no tickets are attached.
 * @retval PPRF_TLS_ERR_SSL   OpenSSL refused. */
PPRF_API int pprf_tickets_set_session_ticket_cb(SSL_CTX *ctx,
                                                SSL_CTX_generate_session_ticket_fn generate,
                                                SSL_CTX_decrypt_session_ticket_fn decrypt,
                                                void *arg);

/** A client hello callback for programs that serve many connections in one thread and whose tickets
 * are on servers (pprf_fleet.h): SSL_CTX_set_client_hello_cb(ctx, pprf_tickets_client_hello, NULL),
 * or called by the program's own.  Without it the thread waits in the handshake for a server's answer.
 * With it, the handshake (SSL_accept, SSL_read_early_data) fails with SSL_ERROR_WANT_CLIENT_HELLO_CB;
 * wait for what pprf_tickets_waits_for says, serve other connections meanwhile, and call it again.
 * The budget of such threads is not used up.  The thread still waits for a second ticket in one
 * ClientHello, and at the end of a resumption of TLS 1.2.
 * @retval SSL_CLIENT_HELLO_SUCCESS the handshake goes on.
 * @retval SSL_CLIENT_HELLO_RETRY   the answer is not there yet. */
PPRF_API int pprf_tickets_client_hello(SSL *ssl, int *alert, void *arg);

/** What a handshake that pprf_tickets_client_hello has interrupted waits for.
 * @param[in]  ssl the connection.
 * @param[out] fd  a descriptor to poll for reading; it is not the caller's, and may have changed at
 *                 the next call.
 * @param[out] ms  milliseconds after which the handshake can go on without an answer.
 * @retval PPRF_OK        fd and ms are set.
 * @retval PPRF_ERR_RANGE the connection waits for no server; *fd is -1.
 * @retval PPRF_ERR_NULL  a pointer is NULL. */
PPRF_API int pprf_tickets_waits_for(const SSL *ssl, int *fd, unsigned *ms);

/** Have OpenSSL wipe all memory that it frees: libssl frees a decrypted session, which holds the
 * ticket's resumption secret, without wiping it.  Call it first thing in main.
 * @retval PPRF_OK           from now on.
 * @retval PPRF_TLS_ERR_LATE OpenSSL has allocated memory already; nothing was changed. */
PPRF_API int pprf_tickets_wipe_openssl(void);

/** Result of pprf_tickets_wiping: memory that OpenSSL frees is wiped, by this library or by malloc. */
#define PPRF_WIPING_FREED 1u
/** Result of pprf_tickets_wiping: used tickets' secrets in open connections are found and wiped. */
#define PPRF_WIPING_USED 2u
/** Both. */
#define PPRF_WIPING_FULL (PPRF_WIPING_FREED | PPRF_WIPING_USED)

/** Which of the two keep a used ticket's secrets out of this process's memory; 0: neither is known
 * to, or tickets is NULL.  A process has one OpenSSL allocator: if another copy of the library has
 * set it (the preload shim beside an nginx module), that counts like this copy's.  Call it when
 * OpenSSL is in use.
 * @retval PPRF_WIPING_FULL  both: nothing is left once a ticket is used and its successor is sent.
 * @retval PPRF_WIPING_FREED only the first: pprf_tickets_stats counts the secrets kept.
 * @retval PPRF_WIPING_USED  only the second: secrets may be left in freed memory. */
PPRF_API unsigned pprf_tickets_wiping(pprf_tickets *tickets);

#ifdef __cplusplus
}
#endif
#endif

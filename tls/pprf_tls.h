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

/** Let an SSL_CTX issue and redeem these tickets: sets the ticket key, session ticket, early data and
 * info callbacks (an info callback that is set already is called too), SSL_OP_NO_ANTI_REPLAY (this
 * library is the anti-replay; with OpenSSL's own, tickets would be stateful), session cache off,
 * the timeout and the amount of early data.  Call it after every other setting of the SSL_CTX.
 * When a TLS 1.3 connection's tickets are out, the secrets of tickets that it needs no more are
 * overwritten; a ticket that is asked for later (SSL_new_session_ticket, post-handshake
 * authentication) is one that nobody can decrypt, and costs its client a full handshake.  The
 * tickets must outlive it.
 * @retval PPRF_OK            the SSL_CTX has these tickets.
 * @retval PPRF_ERR_NULL      a pointer is NULL.
 * @retval PPRF_ERR_NOMEM     no memory; nothing was changed.
 * @retval PPRF_TLS_ERR_TAKEN the SSL_CTX has tickets attached or external session cache
 *                            callbacks; nothing was changed.
 * @retval PPRF_TLS_ERR_SSL   OpenSSL refused. */
PPRF_API int pprf_tickets_attach(SSL_CTX *ctx, pprf_tickets *tickets);

/** SSL_CTX_set_session_ticket_cb for an SSL_CTX with tickets attached, which has a callback of this
 * library in that place: the program's are called as OpenSSL would call them.  Call it after
 * pprf_tickets_attach, which drops what was set before and cannot be asked for.
 * @param[in] generate, decrypt may be NULL.
 * @retval PPRF_OK            connections that begin from now on have them.
 * @retval PPRF_ERR_NULL      ctx is NULL.
 * @retval PPRF_TLS_ERR_TAKEN no tickets are attached.
 * @retval PPRF_TLS_ERR_SSL   OpenSSL refused. */
PPRF_API int pprf_tickets_set_session_ticket_cb(SSL_CTX *ctx,
                                                SSL_CTX_generate_session_ticket_fn generate,
                                                SSL_CTX_decrypt_session_ticket_fn decrypt,
                                                void *arg);

/** Have OpenSSL wipe all memory that it frees: libssl frees a decrypted session, which holds the
 * ticket's resumption secret, without wiping it.  Call it first thing in main.
 * @retval PPRF_OK           from now on.
 * @retval PPRF_TLS_ERR_LATE OpenSSL has allocated memory already; nothing was changed. */
PPRF_API int pprf_tickets_wipe_openssl(void);

#ifdef __cplusplus
}
#endif
#endif

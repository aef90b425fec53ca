/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_tls.h
 * Session tickets for OpenSSL servers that are used once and cannot be decrypted afterwards, not
 * even by someone who steals the server: forward-secret, replay-safe TLS 1.3 0-RTT.
 *
 * Every ticket is encrypted under keys derived from a leaf of a puncturable PRF, the leaves being
 * taken in order.  A ticket's leaf is punctured when the client has shown that the ticket is its
 * own (RFC 8446, 4.2.11.2: the binder is verified) and before its early data is accepted, so that
 * a replayed first flight finds no key.  Tickets past their lifetime are punctured by range.
 *
 * The state is one mapping that forked processes share: make it before forking, attach it to every
 * SSL_CTX, and all processes and threads agree on what is used.  Functions may be called from any
 * thread and process.  Functions that return int return PPRF_OK or an error of pprf.h. */
#ifndef PPRF_TLS_H
#define PPRF_TLS_H

#include <openssl/ssl.h>
#include <pprf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Errors besides those of pprf.h. */
enum {
  PPRF_TLS_ERR_OPTION = 32, /**< an option's value is out of range */
  PPRF_TLS_ERR_TAKEN = 33,  /**< the SSL_CTX has tickets or a session store of its own already */
  PPRF_TLS_ERR_SSL = 34,    /**< OpenSSL refused a setting; its error queue says why */
  PPRF_TLS_ERR_LATE = 35    /**< too late: OpenSSL has allocated memory already */
};

typedef struct pprf_tickets pprf_tickets;

/** What to set before pprf_tickets_new; zero means the default. */
struct pprf_tickets_options {
  unsigned depth;          /**< a key gives 2^depth tickets: 4..32, default 22 */
  unsigned lifetime;       /**< seconds that a ticket is good for: 1..604800 (RFC 8446, 4.6.1),
                                default 7200 */
  unsigned rotation;       /**< seconds after which a new key starts, at least lifetime; default:
                                when the key's tickets are used up */
  unsigned max_early_data; /**< bytes of early data accepted, 1..2^31 - 1; default 16384 */
};

/** Counters since pprf_tickets_new, and what is held now. */
struct pprf_tickets_stats {
  uint64_t issued;          /**< leaves given out, one for each ticket */
  uint64_t resumed;         /**< tickets redeemed without early data */
  uint64_t early_accepted;  /**< tickets redeemed with early data */
  uint64_t early_rejected;  /**< early data rejected although the ticket was good when the client
                                 offered it: another connection was faster, or puncturing failed */
  uint64_t refused;         /**< tickets offered that were used or expired, or whose key is gone */
  uint64_t foreign;         /**< key names that are not ours */
  uint64_t not_issued;      /**< tickets that could not be made; TLS 1.3 clients got one that
                                 nobody can decrypt */
  uint64_t expired;         /**< tickets past their lifetime, punctured by range */
  uint64_t dropped;         /**< keys given up before their last ticket had expired: the depth is
                                 too small, or a process died while it changed the key */
  uint64_t outstanding;     /**< leaves given out that are neither redeemed nor expired */
  uint64_t nodes;           /**< seeds held */
  uint64_t memory_bytes;    /**< memory held: heap and mapped pages */
};

/** Make the tickets' state.
 * @param[out] tickets NULL on error.
 * @param[in]  options NULL: all defaults.
 * @retval PPRF_OK, PPRF_ERR_NULL, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO.
 * @retval PPRF_TLS_ERR_OPTION a value is out of range (pprf_tickets_bad_option names it). */
PPRF_API int pprf_tickets_new(pprf_tickets **tickets, const struct pprf_tickets_options *options);

/** The first option whose value pprf_tickets_new would refuse, as "name: the range"; NULL if all
 * are good. */
PPRF_API const char *pprf_tickets_bad_option(const struct pprf_tickets_options *options);

/** Let an SSL_CTX issue and redeem these tickets: sets the ticket key, early data and info
 * callbacks (an info callback that is set already is called too), SSL_OP_NO_ANTI_REPLAY (this
 * library is the anti-replay; with OpenSSL's own, tickets would be stateful), session cache off,
 * the timeout and the amount of early data.  Call it after every other setting of the SSL_CTX.  The
 * tickets must outlive it.
 * @retval PPRF_OK, PPRF_ERR_NULL.
 * @retval PPRF_TLS_ERR_TAKEN the SSL_CTX has tickets attached or external session cache
 *                            callbacks; nothing was changed.
 * @retval PPRF_TLS_ERR_SSL   OpenSSL refused. */
PPRF_API int pprf_tickets_attach(SSL_CTX *ctx, pprf_tickets *tickets);

/** Puncture the tickets past their lifetime now.  Issuing does so too, at most once every
 * lifetime/32 seconds; a server that may be idle calls this from a timer. */
PPRF_API int pprf_tickets_expire(pprf_tickets *tickets);

/** Counters and what is held. */
PPRF_API int pprf_tickets_stats(pprf_tickets *tickets, struct pprf_tickets_stats *stats);

/** Wipe the state and unmap it in this process; NULL is allowed.  Other processes that still use
 * it find no key any more: their tickets cost a full handshake. */
PPRF_API void pprf_tickets_free(pprf_tickets *tickets);

/** Have OpenSSL wipe all memory that it frees: libssl frees a decrypted session, which holds the
 * ticket's resumption secret, without wiping it.  Call it first thing in main.
 * @retval PPRF_OK, PPRF_TLS_ERR_LATE. */
PPRF_API int pprf_tickets_wipe_openssl(void);

/** One line of English for a result, also for those of pprf.h. */
PPRF_API const char *pprf_tls_strerror(int err);

#ifdef __cplusplus
}
#endif
#endif

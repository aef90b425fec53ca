/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_tickets.h
 * Session tickets that are used once and cannot be decrypted afterwards, not even by an attacker who
 * steals the server: bytes in, bytes out, for any TLS library.  With pprf_tls.h OpenSSL issues and
 * redeems them by itself; this header needs no OpenSSL header.  docs/tickets.md has the format of a
 * ticket, byte by byte, and how each TLS library calls these functions.
 *
 * Every ticket is encrypted under keys derived from a leaf of a puncturable PRF.  Opening a ticket
 * changes nothing, because anybody who has seen a ticket can send it.  Redeeming it punctures its leaf:
 * after that nobody can open the ticket, and of all calls in all processes exactly one
 * succeeds.  Tickets past their lifetime are punctured by range.
 *
 * The state is one mapping that forked processes share: make it before forking, and all processes
 * and threads agree on what is used.  Functions may be called from any thread and process.
 * Functions that return int return PPRF_OK or an error of pprf.h or of this header; each function
 * documents its errors. */
#ifndef PPRF_TICKETS_H
#define PPRF_TICKETS_H

#include <pprf.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Errors besides those of pprf.h. */
enum {
  PPRF_TLS_ERR_OPTION = 32, /**< an option's value, or a structure's size, is out of range */
  PPRF_TLS_ERR_TAKEN = 33,  /**< the SSL_CTX has tickets or a session store of its own already */
  PPRF_TLS_ERR_SSL = 34,    /**< OpenSSL refused a setting; its error queue says why */
  PPRF_TLS_ERR_LATE = 35,   /**< too late: OpenSSL has allocated memory already */
  PPRF_TLS_ERR_FD = 36,     /**< the descriptor is not of tickets of this library */
  PPRF_TLS_ERR_BACKEND = 37 /**< the tickets' server gave no answer (pprf_fleet.h) */
};

/** A pool of keys that seals and opens tickets. */
typedef struct pprf_tickets pprf_tickets;

/** Options of pprf_tickets_new; zero means the default.  Later versions add fields at the end; size
 * tells which ones the program knows. */
struct pprf_tickets_options {
  size_t size;             /**< sizeof(struct pprf_tickets_options) */
  unsigned depth;          /**< a key gives 2^depth tickets: 4..32; default: by the rate */
  unsigned lifetime;       /**< seconds that a ticket is good for: 1..604800 (RFC 8446, 4.6.1),
                                default 7200 */
  unsigned rotation;       /**< seconds after which a new key starts, at least lifetime; default:
                                when the key's tickets are used up */
  unsigned max_early_data; /**< bytes of early data accepted by an SSL_CTX (pprf_tls.h),
                                1..2^31 - 1; default 16384 */
  unsigned rate;           /**< tickets a second to be ready for, default 500; chooses the least depth,
                                10 or more, with 2^depth >= rate * lifetime (at most 2^32): 22 by
                                default.  Not given with a depth */
  unsigned no_tls_1_2;     /**< nonzero: an SSL_CTX makes and takes no tickets in TLS 1.2, which hold
                                the secret of the connection that they came in.  Default: tickets
                                without a successor, so that a TLS 1.2 session is resumed once */
  uint64_t memory;         /**< upper bound in bytes.  When a key's tickets are used up before they
                                expire, another key starts, up to 64, as long as all fit into this
                                memory, 8.3 * 2^depth bytes each; then the oldest is dropped.  At
                                least 2 must fit; default: 8 */
  uint64_t suite;          /**< of the keys' trees: PPRF_SHA3_256, PPRF_SHA3_256_SALTED or PPRF_AES_128 of
                                pprf.h (pprf_tickets_suite finds them by name).  Default: PPRF_AES_128
                                if the processor has AES instructions, else PPRF_SHA3_256_SALTED */
};

/** Counters since pprf_tickets_new, and the current holdings.  Later versions add fields at the
 * end. */
struct pprf_tickets_stats {
  size_t size;              /**< in: sizeof(struct pprf_tickets_stats) */
  uint64_t issued;          /**< leaves issued, one for each ticket */
  uint64_t resumed;         /**< tickets redeemed without early data */
  uint64_t early_accepted;  /**< tickets redeemed with early data */
  uint64_t early_rejected;  /**< early data rejected although the ticket was good when the client
                                 offered it: another connection was faster, or puncturing failed */
  uint64_t refused;         /**< tickets offered that were used or expired, or whose key is gone */
  uint64_t foreign;         /**< bytes offered that are not a whole ticket of this state */
  uint64_t not_issued;      /**< tickets that could not be made.  Without a server of the fleet the
                                 client got none; after another failure, a TLS 1.3 client of
                                 OpenSSL got one that nobody can decrypt */
  uint64_t expired;         /**< tickets past their lifetime, punctured by range */
  uint64_t dropped;         /**< keys dropped before their last ticket had expired: the depth is
                                 too small, or a process died while it changed the key */
  uint64_t outstanding;     /**< leaves issued that are neither redeemed nor expired */
  uint64_t nodes;           /**< seeds held */
  uint64_t memory_bytes;    /**< memory held: heap and mapped pages */
  uint64_t kept;            /**< TLS 1.3 connections in which OpenSSL keeps the secrets of tickets,
                                 including used ones, until they are closed, because this library
                                 does not know this OpenSSL and did not find them in its memory */
  uint64_t depth;           /**< a key holds 2^depth tickets */
  uint64_t keys;            /**< keys held, the current one and those whose tickets have not expired;
                                 for keys in parts, the largest number of any part */
  uint64_t keys_max;        /**< keys that can be held before the oldest is dropped */
  uint64_t unanswered;      /**< tickets about which a server (pprf_fleet.h) did not answer in time */
  uint64_t connected;       /**< connections made to such servers */
  uint64_t suite;           /**< of the keys' trees: a number of pprf.h */
  uint64_t remembered;      /**< tickets refused without asking a server, because this host knew that
                                 they were used; refused counts these too */
  uint64_t over_budget;     /**< tickets refused without asking a server, because the thread had waited
                                 for servers for too much of its time */
  uint64_t current;         /**< leaves of the current key that are issued, of 2^depth */
  uint64_t imported;        /**< programs that took this state over (pprf_tickets_import) */
};

/** Make the tickets' state.
 * @param[out] tickets to be given back with pprf_tickets_free; NULL on error.
 * @param[in]  options NULL: all defaults.
 * @retval PPRF_OK             *tickets can be used, by processes forked from now on too.
 * @retval PPRF_ERR_NULL       tickets is NULL.
 * @retval PPRF_ERR_NOMEM      no memory or address space.
 * @retval PPRF_ERR_CRYPTO     OpenSSL lacks an algorithm, or its random generator failed.
 * @retval PPRF_TLS_ERR_OPTION a value is out of range (pprf_tickets_bad_option names it). */
PPRF_API int pprf_tickets_new(pprf_tickets **tickets, const struct pprf_tickets_options *options);

/** Get the state ready for a program that this process is about to execute: a descriptor of its memory,
 * in which there is no pointer.  From now on pprf_tickets_free wipes in no process, since another
 * program may continue with the tickets, until one calls pprf_tickets_adopt; the system wipes the
 * memory when the last process releases it.
 * @param[in]  tickets the state, which this process and its children may continue to use.
 * @param[out] fd      a new descriptor without close-on-exec, the caller's to close; -1 on error.
 *                     Access to it is access to every ticket: leave it open only in that program,
 *                     and pass it the number, for instance in the environment.
 * @retval PPRF_OK         *fd is open.
 * @retval PPRF_TLS_ERR_FD no descriptor is left, or the program has closed the library's own.
 * @retval PPRF_TLS_ERR_BACKEND the keys are on servers (pprf_fleet.h), which a new program asks too.
 * @retval PPRF_ERR_NULL   a pointer is NULL. */
PPRF_API int pprf_tickets_export(pprf_tickets *tickets, int *fd);

/** Map the state of a descriptor from pprf_tickets_export, in another program or in the same one.
 * @param[out] tickets to be given back with pprf_tickets_free; NULL on error.
 * @param[in]  fd      stays the caller's, to be closed by the caller.
 * @param[in]  options as for pprf_tickets_new: the depth, memory, lifetime and rotation of the
 *                     state.  Without a suite in the options, keys started here have the state's
 *                     suite too.
 * @retval PPRF_OK             tickets issued by either program are good in both, once.
 * @retval PPRF_TLS_ERR_FD     the descriptor is of something else, of tickets that their maker has
 *                             ended, or of a library version with another memory layout: make new
 *                             tickets.
 * @retval PPRF_ERR_SUITE      this library does not know the state's suite: make new tickets.
 * @retval PPRF_TLS_ERR_OPTION depth, memory, lifetime, rotation or suite differs, or an option is
 *                             out of range.
 * @retval PPRF_ERR_NOMEM      no memory or address space.
 * @retval PPRF_ERR_CRYPTO     OpenSSL lacks an algorithm.
 * @retval PPRF_ERR_NULL       tickets is NULL. */
PPRF_API int pprf_tickets_import(pprf_tickets **tickets, int fd,
                                 const struct pprf_tickets_options *options);

/** The first option whose value pprf_tickets_new would refuse, as "name: the range"; NULL if all
 * are good. */
PPRF_API const char *pprf_tickets_bad_option(const struct pprf_tickets_options *options);

/** The suite named "sha3-256", "sha3-256-salted" or "aes-128", for the options; 0 for any other
 * name and for NULL. */
PPRF_API unsigned pprf_tickets_suite(const char *name);

/** A ticket is at most this many bytes longer than its content. */
#define PPRF_TICKET_OVERHEAD 80
/** Largest content in bytes: a TLS ticket has fewer than 2^16 bytes. */
#define PPRF_TICKET_CONTENT_MAX 65455

/** Make a ticket: encrypt and authenticate the session state from the TLS library.
 * @param[in]     tickets the state.
 * @param[in]     in      the content; NULL is allowed if in_len is 0.
 * @param[in]     in_len  its length in bytes.
 * @param[out]    out     where the ticket goes, not overlapping in; NULL: only the length is
 *                        computed.
 * @param[in,out] out_len in: bytes that out holds, in_len + PPRF_TICKET_OVERHEAD is enough (not read
 *                        when out is NULL); out: bytes of the ticket, also with PPRF_ERR_BUFFER.
 * @retval PPRF_OK            out (if not NULL) holds a ticket.
 * @retval PPRF_ERR_RANGE     in_len is above PPRF_TICKET_CONTENT_MAX.
 * @retval PPRF_ERR_BUFFER    out is too short; nothing was written to it.
 * @retval PPRF_ERR_PUNCTURED the process that made the tickets has freed them.  out is zeroed, here
 *                            and below.
 * @retval PPRF_ERR_CRYPTO    OpenSSL failed.
 * @retval PPRF_ERR_NOMEM     no memory, or the lock is lost.
 * @retval PPRF_TLS_ERR_BACKEND no leaf fetched from a server (pprf_fleet.h) is left.
 * @retval PPRF_ERR_NULL      a pointer that must not be NULL is NULL. */
PPRF_API int pprf_tickets_seal(pprf_tickets *tickets, const uint8_t *in, size_t in_len,
                               uint8_t *out, size_t *out_len);

/** Decrypt a ticket that a client offers.  Nothing is punctured: the client has not yet shown that
 * the ticket is its own.  The bytes may come from an attacker: bytes that were not sealed here are
 * refused before the tree is touched, except copies of a good ticket changed after its first 16
 * bytes, which cost an evaluation.
 * @param[in]     tickets the state.
 * @param[in]     in      the ticket.
 * @param[in]     in_len  its length in bytes.
 * @param[out]    out     where the content goes, not overlapping in; zeroed on error.  It is as
 *                        secret as the session.
 * @param[in,out] out_len in: bytes that out holds, in_len is enough; out: bytes of the content, with
 *                        PPRF_ERR_BUFFER the bytes that out must hold, otherwise 0 on error.
 * @param[out]    ticket  what pprf_tickets_redeem takes: the ticket's key and leaf; 0 on error.
 * @retval PPRF_OK            the content is what was sealed, and the ticket was good just now.
 * @retval PPRF_ERR_FORMAT    not one of these tickets, or a changed one.
 * @retval PPRF_ERR_PUNCTURED the ticket was redeemed, has expired, or its key is gone.
 * @retval PPRF_ERR_BUFFER    out is too short.
 * @retval PPRF_ERR_CRYPTO    OpenSSL failed.
 * @retval PPRF_ERR_NOMEM     no memory, or the lock is lost.
 * @retval PPRF_TLS_ERR_BACKEND a server (pprf_fleet.h) did not answer in time.
 * @retval PPRF_ERR_NULL      a pointer is NULL. */
PPRF_API int pprf_tickets_open(pprf_tickets *tickets, const uint8_t *in, size_t in_len,
                               uint8_t *out, size_t *out_len, uint64_t *ticket);

/** Redeem a ticket: puncture its leaf.  Of all calls for one ticket, in all threads and processes,
 * exactly one returns PPRF_OK.  Call it when the client has shown that the ticket is its own (TLS
 * 1.3: the PSK binder is verified) and before early data is accepted; accept that data if and only
 * if the result is PPRF_OK.
 * @param[in] tickets the state.
 * @param[in] ticket  from pprf_tickets_open.
 * @param[in] early   whether early data came with it, for the counters.
 * @retval PPRF_OK            this call used the ticket up.
 * @retval PPRF_ERR_PUNCTURED another one did, it has expired, or it was never issued.
 * @retval PPRF_ERR_CRYPTO    the digest failed: the ticket is as it was.
 * @retval PPRF_ERR_NOMEM     no memory, or the lock is lost: the ticket is as it was.
 * @retval PPRF_ERR_NULL      tickets is NULL. */
PPRF_API int pprf_tickets_redeem(pprf_tickets *tickets, uint64_t ticket, int early);

/** Release an opened ticket that will not be redeemed, because its client has not shown that the
 * ticket is its own.  Tickets whose keys are on this machine need not be released.  With keys on a
 * server (pprf_fleet.h), only a released ticket can be opened again; one that is neither redeemed
 * nor released ends punctured.
 * @param[in] tickets the state.
 * @param[in] ticket  from pprf_tickets_open; any number.
 * @retval PPRF_OK       the ticket is as it was before it was opened.
 * @retval PPRF_ERR_NULL tickets is NULL. */
PPRF_API int pprf_tickets_release(pprf_tickets *tickets, uint64_t ticket);

/** Puncture the tickets past their lifetime now.  Issuing and redeeming do so too; a server that may
 * be idle calls this from a timer.
 * @retval PPRF_OK         no ticket past its lifetime can be opened.
 * @retval PPRF_ERR_CRYPTO the digest failed.  Tickets past their lifetime are refused all the same;
 *                         the next call tries again.
 * @retval PPRF_ERR_NOMEM  no memory, or the lock is lost.
 * @retval PPRF_ERR_NULL   tickets is NULL. */
PPRF_API int pprf_tickets_expire(pprf_tickets *tickets);

/** Start new keys now, for all further tickets.  Tickets issued before stay good until they expire,
 * unless there is no memory for so many keys.
 * @retval PPRF_OK         done.
 * @retval PPRF_ERR_CRYPTO done, but the digest failed while tickets past their lifetime were punctured:
 *                         the next call tries again.
 * @retval PPRF_ERR_NOMEM  no memory, or a lock is lost: some old keys may continue to issue.
 * @retval PPRF_TLS_ERR_BACKEND the keys are on servers, and one of them has not done it (pprf_fleet.h).
 * @retval PPRF_ERR_NULL   tickets is NULL. */
PPRF_API int pprf_tickets_rotate(pprf_tickets *tickets);

/** Wipe all keys now: no ticket issued before this call is good in any process or can be decrypted
 * any more.  Tickets issued from now on are good.  Connections continue.
 * @retval PPRF_OK        done.
 * @retval PPRF_ERR_NOMEM a lock is lost: some keys may be left.
 * @retval PPRF_TLS_ERR_BACKEND the keys are on servers, and one of them has not done it (pprf_fleet.h).
 * @retval PPRF_ERR_NULL  tickets is NULL. */
PPRF_API int pprf_tickets_revoke(pprf_tickets *tickets);

/** Read the counters and the current holdings.
 * @param[in]     tickets the state.
 * @param[in,out] stats   its size is read, and as many fields as it covers are set.
 * @retval PPRF_OK             done.
 * @retval PPRF_TLS_ERR_OPTION stats->size is less than that of the first version.
 * @retval PPRF_ERR_NULL       a pointer is NULL. */
PPRF_API int pprf_tickets_stats(pprf_tickets *tickets, struct pprf_tickets_stats *stats);

/** How much of the secret memory that this process has touched is locked in RAM.  What is not locked, because
 * RLIMIT_MEMLOCK is too low, may be written to swap space.  Reads /proc/self/smaps, which takes
 * milliseconds.
 * @param[in]  tickets    the state.
 * @param[out] locked     bytes; 0 on error.
 * @param[out] not_locked bytes; 0 on error.
 * @retval PPRF_OK        done.
 * @retval PPRF_ERR_NOMEM /proc cannot be read.
 * @retval PPRF_ERR_NULL  a pointer is NULL. */
PPRF_API int pprf_tickets_locked(pprf_tickets *tickets, uint64_t *locked, uint64_t *not_locked);

/** Let pprf_tickets_free wipe the state in this process instead of the one that made it: for
 * servers that make it before they fork into a daemon, and for exported tickets that no other
 * program continues to use.
 * @retval PPRF_OK       done.
 * @retval PPRF_ERR_NULL tickets is NULL. */
PPRF_API int pprf_tickets_adopt(pprf_tickets *tickets);

/** Wipe the state, if this process adopted it, or made it and did not export it.  Unmap it in this
 * process once no connection or SSL_CTX here uses it.  NULL is allowed.  After the wipe, other
 * processes find no key: their tickets cost a full handshake. */
PPRF_API void pprf_tickets_free(pprf_tickets *tickets);

/** One line of English for a result, also for those of pprf.h; never NULL. */
PPRF_API const char *pprf_tls_strerror(int err);

#ifdef __cplusplus
}
#endif
#endif

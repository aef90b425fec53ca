/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.h
 * The tickets' keys, without TLS: which leaves were given out, redeemed, expired.
 *
 * A pool lives in one mapping that is shared with every process forked after pool_new, and that a
 * program started by exec can map again (pool_import).  It has a few shards, each with a lock and
 * trees of its own, so that processes seldom wait for each other.  In a shard one tree is current, and
 * its leaves are given out in order; the others are retired, and their tickets are still redeemed until
 * they expire.  When a process dies while it changes a tree, that tree is wiped: its tickets cost a
 * full handshake, and no puncture is half done.
 *
 * A ticket is named by 16 bytes: one AES block over its number.  To others it looks random, and 16
 * bytes that the pool did not make are refused before a tree is touched.
 *
 * All trees of a pool have one suite, which its mapping names: a process that maps it takes that suite or
 * none.  Each tree has a root and, if the suite has one, a salt of its own, both drawn when it is started.
 *
 * A value is evaluated when its leaf is given out, under the shard's lock, and is in no memory but the
 * caller's: no process holds one that another could have revoked or expired meanwhile. */
#ifndef PPRF_POOL_H
#define PPRF_POOL_H

#include <pprf.h>
#include <stdint.h>

#include "backend.h"
#include "pprf_tickets.h"

#define POOL_NAME_BYTES 16
/** Keys that a pool holds at most: the current one and retired ones whose tickets have not expired. */
#define POOL_KEYS_MIN 2
#define POOL_KEYS_MAX 64

/** A ticket's number: 2^32 times its tree's id in its shard, plus its leaf, whose high bits are the
 * shard's number; 0 is none. */
typedef uint64_t pool_ticket;

struct pool;

/** Shards of a pool of this depth, as a power of two: each has 2^(depth - this) leaves a tree. */
unsigned pool_shard_bits(unsigned depth);

/** Whether trees can have a suite: one that the library knows, with values of 16 bytes. */
int pool_has_suite(uint64_t suite);

/** Keys of this depth that take at most so many bytes, all tickets issued; at most POOL_KEYS_MAX. */
unsigned pool_keys(unsigned depth, uint64_t memory);

/** depth 1..32; keys POOL_KEYS_MIN..POOL_KEYS_MAX: when as many are held and one more is needed, the
 * oldest is wiped, though its tickets have not expired; lifetime and rotation in seconds, rotation 0: never by time;
 * suite: one of pprf.h.
 * @retval PPRF_OK, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO. */
int pool_new(struct pool **pool, unsigned depth, unsigned keys, uint64_t lifetime,
             uint64_t rotation, unsigned suite);

/** End it for all processes, if this process made it and pool_export was not called: all trees are
 * wiped, and no ticket is given out any more. */
void pool_close(struct pool *pool);

/** Close it and unmap it in this process; NULL is allowed. */
void pool_free(struct pool *pool);

/** A new descriptor of the mapping, to stay open in a program that this process executes.  From now on
 * pool_free wipes in no process; what is left is the system's to wipe when the last one lets go.
 * @retval PPRF_OK
 * @retval PPRF_TLS_ERR_FD the program has closed the pool's own descriptor, or none is left. */
int pool_export(struct pool *pool, int *fd);

/** The pool of a descriptor, which stays the caller's.  suite: what the pool's must be; 0: any that this
 * library knows.
 * @retval PPRF_OK, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO.
 * @retval PPRF_TLS_ERR_FD     the descriptor is of no pool, or of a library that lays it out otherwise.
 * @retval PPRF_ERR_SUITE      the pool's suite is none of pool_has_suite.
 * @retval PPRF_TLS_ERR_OPTION depth, keys, lifetime, rotation or suite is not the pool's. */
int pool_import(struct pool **pool, int fd, unsigned depth, unsigned keys, uint64_t lifetime,
                uint64_t rotation, unsigned suite);

/** Let pool_free wipe the pool in this process, instead of the one that made it, or in none. */
void pool_adopt(struct pool *pool);

/** Give out the next leaf: its name, its value and where that is from.  now: seconds of a clock that never goes back
 * and is the same for all processes.  Every function with a `now` also punctures what is past its
 * lifetime, except pool_open: in the shard that it uses, and in all once in a 32nd of the lifetime.
 * @retval PPRF_OK, or an error of pprf_eval or of a new tree (name and value are zero).
 * @retval PPRF_ERR_PUNCTURED the process that made the pool has freed it. */
int pool_issue(struct pool *pool, uint64_t now, uint8_t name[POOL_NAME_BYTES],
               struct origin *origin, uint8_t value[PPRF_SEED_BYTES]);

/** The ticket and the value of a name, and where that is from; nothing is punctured.
 * @retval PPRF_OK
 * @retval PPRF_ERR_FORMAT    the pool did not make this name (*ticket means nothing).
 * @retval PPRF_ERR_PUNCTURED the ticket was redeemed or has expired.
 * @retval another error of pprf_eval (value is zero). */
int pool_open(struct pool *pool, uint64_t now, const uint8_t name[POOL_NAME_BYTES],
              pool_ticket *ticket, struct origin *origin, uint8_t value[PPRF_SEED_BYTES]);

/** Puncture a ticket.  Of several callers exactly one gets PPRF_OK.
 * @param[in] early whether the ticket carries early data, for the counters.
 * @retval PPRF_OK, PPRF_ERR_PUNCTURED, or another error of pprf_punct. */
int pool_redeem(struct pool *pool, uint64_t now, pool_ticket ticket, int early);

/** Puncture what is past its lifetime. */
int pool_expire(struct pool *pool, uint64_t now);

/** Retire the current trees: tickets issued from now on are of new ones. */
int pool_rotate(struct pool *pool, uint64_t now);

/** Wipe all trees: no ticket issued before is good. */
int pool_revoke(struct pool *pool, uint64_t now);

/** Count a ticket that the caller could not give out. */
void pool_count_not_issued(struct pool *pool);

/** Count bytes that are no ticket of the pool's. */
void pool_count_foreign(struct pool *pool);

/** Count a connection whose secrets OpenSSL keeps. */
void pool_count_kept(struct pool *pool);

void pool_stats(struct pool *pool, struct pprf_tickets_stats *stats);

#endif

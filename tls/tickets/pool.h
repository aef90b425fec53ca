/* SPDX-License-Identifier: Apache-2.0 */
/** @file pool.h
 * The tickets' keys, without TLS: which leaves are issued, redeemed, expired.
 *
 * A pool lives in one mapping, shared with every process forked after pool_new; a program started
 * by exec can map it again (pool_import).  It has a few shards, each with its own lock and trees,
 * so that processes seldom wait for each other.  In each shard one tree is current and its leaves
 * are issued in order; the others are retired, and their tickets are redeemed until they expire.
 * When a process dies while it changes a tree, that tree is wiped: its tickets cost a full
 * handshake, and no puncture is half done.
 *
 * A ticket is named by 16 bytes: one AES block over its number.  To others the name looks random,
 * and bytes that the pool did not make are refused before a tree is touched.
 *
 * All trees of a pool have one suite, recorded in the mapping; a process that maps the pool must
 * accept that suite.  Each tree has its own root and, if the suite uses one, salt, drawn when the
 * tree is started.
 *
 * A value is computed when its leaf is issued, under the shard's lock, and is only in the caller's
 * memory: no process holds values that another could have revoked or expired. */
#ifndef PPRF_POOL_H
#define PPRF_POOL_H

#include <pprf.h>
#include <stdint.h>

#include "backend.h"
#include "pprf_tickets.h"

#define POOL_NAME_BYTES 16
/** Bounds on a pool's keys: the current one and retired ones whose tickets have not expired. */
#define POOL_KEYS_MIN 2
#define POOL_KEYS_MAX 64

/** A ticket's number: 2^32 times its tree's id in its shard, plus its leaf, whose high bits are the
 * shard's number; 0 is none. */
typedef uint64_t pool_ticket;

struct pool;

/** log2 of the shards of a pool of this depth; each has 2^(depth - this) leaves a tree. */
unsigned pool_shard_bits(unsigned depth);

/** Whether trees can have this suite: the library knows it, and its values have 16 bytes. */
int pool_has_suite(uint64_t suite);

/** Number of keys of this depth that fit into so many bytes even with all tickets issued; at most
 * POOL_KEYS_MAX. */
unsigned pool_keys(unsigned depth, uint64_t memory);

/** Make a pool.  depth 1..32.  keys POOL_KEYS_MIN..POOL_KEYS_MAX: if one more is needed, the oldest
 * is wiped although its tickets have not expired.  lifetime and rotation are in seconds; rotation
 * 0: never by time.  suite: one of pprf.h.
 * @retval PPRF_OK, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO. */
int pool_new(struct pool **pool, unsigned depth, unsigned keys, uint64_t lifetime,
             uint64_t rotation, unsigned suite);

/** If this process made the pool and never called pool_export, end it for all processes: wipe all
 * trees and issue no more tickets. */
void pool_close(struct pool *pool);

/** Close it and unmap it in this process; NULL is allowed. */
void pool_free(struct pool *pool);

/** Make a new descriptor of the mapping, which stays open in a program that this process executes.
 * From now on pool_free wipes in no process; the system wipes the memory when its last user ends.
 * @retval PPRF_OK
 * @retval PPRF_TLS_ERR_FD the program has closed the pool's own descriptor, or none is left. */
int pool_export(struct pool *pool, int *fd);

/** Map the pool of a descriptor, which the caller keeps.  suite: what the pool's must be; 0: any
 * that this library knows.
 * @retval PPRF_OK, PPRF_ERR_NOMEM, PPRF_ERR_CRYPTO.
 * @retval PPRF_TLS_ERR_FD     the descriptor is of no pool, of one that has ended, or of a library
 *                             that lays it out otherwise.
 * @retval PPRF_ERR_SUITE      the pool's suite is none of pool_has_suite.
 * @retval PPRF_TLS_ERR_OPTION depth, keys, lifetime, rotation or suite is not the pool's. */
int pool_import(struct pool **pool, int fd, unsigned depth, unsigned keys, uint64_t lifetime,
                uint64_t rotation, unsigned suite);

/** Let pool_free wipe the pool in this process instead of in its maker, or instead of in none. */
void pool_adopt(struct pool *pool);

/** Issue the next leaf: its name, its value and the value's origin.  now: seconds of a monotonic
 * clock shared by all processes.  Every function with a `now` except pool_open also punctures
 * expired leaves: in its shard, and once in a 32nd of the lifetime in all shards.
 * @retval PPRF_OK, or an error of pprf_eval or of a new tree (name and value are zero).
 * @retval PPRF_ERR_PUNCTURED the process that made the pool has freed it. */
int pool_issue(struct pool *pool, uint64_t now, uint8_t name[POOL_NAME_BYTES],
               struct origin *origin, uint8_t value[PPRF_SEED_BYTES]);

/** Find a name's ticket, value and the value's origin; nothing is punctured.
 * @retval PPRF_OK
 * @retval PPRF_ERR_FORMAT    the pool did not make this name (*ticket means nothing).
 * @retval PPRF_ERR_PUNCTURED the ticket was redeemed or has expired.
 * @retval another error of pprf_eval (value is zero). */
int pool_open(struct pool *pool, uint64_t now, const uint8_t name[POOL_NAME_BYTES],
              pool_ticket *ticket, struct origin *origin, uint8_t value[PPRF_SEED_BYTES]);

/** Puncture a ticket.  Exactly one of several callers gets PPRF_OK.
 * @param[in] early whether the ticket carries early data, for the counters.
 * @retval PPRF_OK, PPRF_ERR_PUNCTURED, or another error of pprf_punct. */
int pool_redeem(struct pool *pool, uint64_t now, pool_ticket ticket, int early);

/** Puncture all expired leaves. */
int pool_expire(struct pool *pool, uint64_t now);

/** Retire the current trees: from now on tickets come from new ones. */
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

/** The mapping.  public: bytes of the map of punctured leaves, behind the seeds of each key. */
void *pool_memory(const struct pool *pool, size_t *bytes, size_t *public);

#endif

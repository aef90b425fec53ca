/* SPDX-License-Identifier: Apache-2.0 */
/** @file backend.h
 * What holds the tickets' keys: the pool of one machine (pool.h), or servers that several machines
 * ask (fleet.h).  A ticket is known by its name, 16 bytes that are sent with it, and while it is open by a
 * number.
 *
 * Opening a ticket gives its value to nobody else meanwhile, if the backend is not of this machine alone:
 * so what was opened and is not redeemed is released. */
#ifndef PPRF_TLS_BACKEND_H
#define PPRF_TLS_BACKEND_H

#include <pprf.h>
#include <stdint.h>

#include "pprf_tickets.h"

#define NAME_BYTES 16

/** Where a leaf's value is from, without which nothing is derived from it: the tree's suite and salt, and the
 * leaf's number in its tree.  Public. */
struct origin {
  unsigned suite;
  uint8_t salt[PPRF_SALT_BYTES];
  uint64_t leaf;
};

/** Things that are counted outside of the backend. */
enum backend_count { COUNT_NOT_ISSUED, COUNT_FOREIGN, COUNT_KEPT };

/** Functions of pprf_tickets.h with a clock's seconds; keys: the backend's own state. */
struct backend {
  /* Tickets of a ClientHello that are looked at: each costs an evaluation or a question to a server, and
   * 900 fit into one.  Clients offer one or two. */
  unsigned offers;
  int (*issue)(void *keys, uint64_t now, uint8_t name[NAME_BYTES], struct origin *origin,
               uint8_t value[PPRF_SEED_BYTES]);
  int (*open)(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t *ticket,
              struct origin *origin, uint8_t value[PPRF_SEED_BYTES]);
  int (*redeem)(void *keys, uint64_t now, uint64_t ticket, int early);
  void (*release)(void *keys, uint64_t ticket); /* any number */
  /* Instead of redeem, for a ticket that was opened and released: puncture it, even if others have opened it
   * meanwhile.  For tickets that anybody who has seen them may open.  NULL: opening does not reserve a ticket. */
  int (*puncture)(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t ticket);
  int (*expire)(void *keys, uint64_t now);
  int (*rotate)(void *keys, uint64_t now);
  int (*revoke)(void *keys, uint64_t now);
  void (*count)(void *keys, enum backend_count what);
  void (*stats)(void *keys, struct pprf_tickets_stats *stats);
  int (*export)(void *keys, int *fd);
  void (*adopt)(void *keys);
  void (*close)(void *keys); /* pprf_tickets_free was called; connections may still have tickets */
  void (*free)(void *keys);
};

/** keys: a struct pool. */
extern const struct backend pool_backend;

#endif

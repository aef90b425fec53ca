/* SPDX-License-Identifier: Apache-2.0 */
/** @file backend.h
 * Interface to the holder of the tickets' keys: a pool on one machine (pool.h), or servers shared
 * by several machines (pprf_fleet.h).  A ticket carries its name, 16 bytes; while it is open it
 * also has a number.
 *
 * With shared servers, opening a ticket reserves it: nobody else gets its value.  So an opened
 * ticket that is not redeemed must be released. */
#ifndef PPRF_TLS_BACKEND_H
#define PPRF_TLS_BACKEND_H

#include <pprf.h>
#include <stdint.h>

#include "pprf_tickets.h"

#define NAME_BYTES 16

/** Origin of a leaf's value, an input to every derivation from it: the tree's suite and salt, and
 * the leaf's number.  Public. */
struct origin {
  unsigned suite;
  uint8_t salt[PPRF_SALT_BYTES];
  uint64_t leaf;
};

/** A ticket that is opened while its caller serves others.  Begins as zeros, and with a name. */
struct opening {
  uint8_t name[NAME_BYTES];
  int begun, done; /* done: the fields below are what open gives */
  int result;
  uint64_t ticket;
  struct origin origin;
  uint8_t value[PPRF_SEED_BYTES];
  /* until it is done */
  unsigned server, lane;
  uint64_t claim, deadline; /* deadline: CLOCK_MONOTONIC, ms */
  int fd;                   /* readable: call again */
};

/** Events counted outside the backend. */
enum backend_count { COUNT_NOT_ISSUED, COUNT_FOREIGN, COUNT_KEPT };

/** The functions of pprf_tickets.h, with the time in seconds; keys: the backend's state. */
struct backend {
  /* Number of tickets examined in one ClientHello, which can hold 900: each costs an evaluation or
   * a server request.  Clients offer one or two. */
  unsigned offers;
  int (*issue)(void *keys, uint64_t now, uint8_t name[NAME_BYTES], struct origin *origin,
               uint8_t value[PPRF_SEED_BYTES]);
  int (*open)(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t *ticket,
              struct origin *origin, uint8_t value[PPRF_SEED_BYTES]);
  /* open without waiting: call until it is done.  Then release the ticket, or before that give the
   * opening up.  NULL: open never waits. */
  void (*open_some)(void *keys, struct opening *o);
  void (*give_up)(void *keys, struct opening *o);
  int (*redeem)(void *keys, uint64_t now, uint64_t ticket, int early);
  void (*release)(void *keys, uint64_t ticket); /* any number */
  /* Puncture a ticket that was opened and released, even if others have opened it meanwhile.  Used
   * instead of redeem for TLS 1.2 tickets, which anybody who has seen them can have opened.  NULL:
   * opening does not reserve a ticket. */
  int (*puncture)(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t ticket);
  int (*expire)(void *keys, uint64_t now);
  int (*rotate)(void *keys, uint64_t now);
  int (*revoke)(void *keys, uint64_t now);
  void (*count)(void *keys, enum backend_count what);
  void (*stats)(void *keys, struct pprf_tickets_stats *stats);
  int (*export)(void *keys, int *fd);
  void (*adopt)(void *keys);
  void (*close)(void *keys); /* for pprf_tickets_free; tickets may still be open */
  void (*free)(void *keys);
  /* The mapping that holds secrets; public: bytes that hold none behind each part that does. */
  void *(*memory)(void *keys, size_t *bytes, size_t *public);
  int (*ready)(void *keys); /* whether there is a leaf to issue now; NULL: it is tried */
};

/** keys: a struct pool. */
extern const struct backend pool_backend;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file wire.h
 * One connection to a fleet server: commands out, replies in, over TCP, TLS or a Unix socket.
 * hiredis formats commands and parses replies, but the socket is ours, so that every function
 * returns by its deadline.  hiredis' own connections only bound each read and write: a server that
 * trickled bytes could hold a worker indefinitely.  The length of a reply is bounded here too.
 *
 * After an error the connection can only be closed. */
#ifndef PPRF_TLS_WIRE_H
#define PPRF_TLS_WIRE_H

#include <hiredis/hiredis.h>
#include <stdint.h>

#include "cause.h"
#include "target.h"

struct wire {
  int fd;     /* -1: closed */
  int *noted; /* a copy of the descriptor, for a child to close */
  int halt;   /* every wait ends when this descriptor is readable */
  SSL *ssl;
  uint8_t *chain; /* key of the masks, CHAIN_KEY_BYTES */
  redisReader *reader;
  redisReply *reply; /* the last */
  size_t part;       /* bytes received of the next */
  enum cause why;    /* the last function that failed did so */
};

/** Monotonic milliseconds, for deadlines. */
uint64_t wire_now(void);

/** Connect, authenticate both sides, and agree on the masks.  Returns 0 or -1. */
int wire_open(struct wire *w, const struct target *t, const struct access *a, uint64_t deadline);
/** Use a connected socket.  On -1 the caller keeps it. */
int wire_use(struct wire *w, int fd);
void wire_close(struct wire *w);

/** Send a command whose words are strings.  Returns 0 or -1. */
int wire_send(struct wire *w, int words, const char **word, uint64_t deadline);

/** The next reply, or NULL.  It is valid until the next one is read or the connection is closed.
 * With a deadline that has passed, it takes what has arrived; if that is no whole reply, NULL and
 * CAUSE_SILENT, and the rest can be read later. */
const redisReply *wire_reply(struct wire *w, uint64_t deadline);

/** Whether r is a reply of this type that begins with a word, for instance an error code. */
int reply_is(const redisReply *r, int type, const char *word);

/** Check a connection on which no reply is due.  Returns 0, or -1 if it closed or data arrived. */
int wire_idle(struct wire *w);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file wire.h
 * One connection to a server of the fleet's: commands out, replies in, over TCP, TLS or a Unix socket.  What is
 * said is hiredis' to write and to read; the socket is ours, so that every function ends at its deadline, whatever
 * the server does: hiredis' own connections bound each read and write, and a server that sends a byte now and then
 * would hold a worker for as long as it likes.  How long a reply may be is bounded here too.
 *
 * After an error the connection is of no use but to be closed. */
#ifndef PPRF_TLS_WIRE_H
#define PPRF_TLS_WIRE_H

#include <hiredis/hiredis.h>
#include <stdint.h>

#include "target.h"

struct wire {
  int fd;     /* -1: closed */
  int *noted; /* where the descriptor is noted too, for a child to close */
  int halt;   /* a descriptor that ends every wait when it can be read */
  SSL *ssl;
  uint8_t *chain; /* of the masks, CHAIN_KEY_BYTES */
  redisReader *reader;
  redisReply *reply; /* the last */
};

/** Milliseconds of a clock that nobody sets, for deadlines. */
uint64_t wire_now(void);

/** Connect, prove who both are, and agree on the masks: 0, or -1. */
int wire_open(struct wire *w, const struct target *t, uint64_t deadline);
/** Have a socket that is connected already; -1: it is still the caller's. */
int wire_use(struct wire *w, int fd);
void wire_close(struct wire *w);

/** Send a command of strings: 0, or -1. */
int wire_send(struct wire *w, int words, const char **word, uint64_t deadline);

/** The next reply, NULL: there is none.  It is there until the next one is read, or the connection closed. */
const redisReply *wire_reply(struct wire *w, uint64_t deadline);

/** Whether this is a reply, and of this type, and begins with a word: an error's code for instance. */
int reply_is(const redisReply *r, int type, const char *word);

/** Look at a connection on which no reply is due: 0, or -1: it has ended, or something came. */
int wire_idle(struct wire *w);

#endif

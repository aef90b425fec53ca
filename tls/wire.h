/* SPDX-License-Identifier: Apache-2.0 */
/** @file wire.h
 * One connection to a server of the fleet's: commands out, replies in (RESP2), over TCP, TLS or a Unix
 * socket.  Every function ends at its deadline, whatever the server does: what hiredis bounds is each
 * read and write, and a server that sends a byte now and then would hold a worker for as long as it likes.
 * Nothing is allocated for a reply, and what a reply may be is told by a handful of lines.
 *
 * After an error the connection is of no use but to be closed. */
#ifndef PPRF_TLS_WIRE_H
#define PPRF_TLS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "target.h"

enum { WIRE_IN = 16384, WIRE_TEXT_MAX = 8192 };

struct wire {
  int fd;     /* -1: closed */
  int *noted; /* where the descriptor is noted too, for a child to close */
  int halt;   /* a descriptor that ends every wait when it can be read */
  SSL *ssl;
  uint8_t *chain; /* of the masks, CHAIN_KEY_BYTES */
  size_t at, have;
  uint8_t in[WIRE_IN];
};

struct word {
  const void *p;
  size_t n;
};

/** '+' or '-': n bytes of text.  ':': the number n.  '$': n bytes.  '*': n replies follow.  '_': nil.
 * The text is there until the next reply is read. */
struct reply {
  char type;
  long long n;
  const uint8_t *text;
};

/** Milliseconds of a clock that nobody sets, for deadlines. */
uint64_t wire_now(void);

/** Connect, prove who both are, and agree on the masks: 0, or -1. */
int wire_open(struct wire *w, const struct target *t, uint64_t deadline);
void wire_close(struct wire *w);

/** Send a command: 0, or -1. */
int wire_send(struct wire *w, unsigned words, const struct word *word, uint64_t deadline);

/** The next reply: 0, or -1. */
int wire_reply(struct wire *w, struct reply *r, uint64_t deadline);

/** Whether a reply begins with a word, an error's code for instance. */
int reply_is(const struct reply *r, char type, const char *word);

/** Look at a connection on which no reply is due: 0, or -1: it has ended, or something came. */
int wire_idle(struct wire *w);

#endif

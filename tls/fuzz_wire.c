/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: a hostile server's replies.  The input's first byte says in what pieces the rest arrives.  What
 * wire_reply makes of it is compared with what hiredis does: as far as hiredis reads whole replies, and they
 * are written as a server writes them, ours are the same, or ours is an error where wire.h promises less: long
 * lines, texts and numbers.  (hiredis does not look at what ends a text.) */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { PIECES = 128, LINE_SURE = 500, DIGITS_SURE = 18 };

static void must(int good, const char *what)
{
  if (good)
    return;
  fprintf(stderr, "fuzz_wire: %s\n", what);
  abort();
}

/* Each piece is a message of its own: what is not sent at once does not arrive at once. */
static size_t send_pieces(int fd, const uint8_t *bytes, size_t len, size_t piece)
{
  size_t sent = 0;
  for (unsigned i = 0; i < PIECES && sent < len; i++) {
    size_t n = len - sent < piece ? len - sent : piece;
    must(send(fd, bytes + sent, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n, "send");
    sent += n;
  }
  return sent;
}

static int is_sure_number(long long n)
{
  char digits[32];
  return snprintf(digits, sizeof digits, "%lld", n < 0 ? -n : n) <= DIGITS_SURE;
}

struct bytes {
  const uint8_t *at, *end;
};

static int begins_with(struct bytes *b, const void *p, size_t n)
{
  if ((size_t)(b->end - b->at) < n || memcmp(b->at, p, n) != 0)
    return 0;
  b->at += n;
  return 1;
}

static int begins_with_header(struct bytes *b, char type, long long n)
{
  char header[32];
  int len = snprintf(header, sizeof header, "%c%lld\r\n", type, n);
  return begins_with(b, header, (size_t)len);
}

/* Whether these bytes are how a server writes this reply. */
static int is_written_so(struct bytes *b, const redisReply *theirs)
{
  switch (theirs->type) {
  case REDIS_REPLY_NIL:
    return begins_with_header(b, '$', -1) || begins_with_header(b, '*', -1);
  case REDIS_REPLY_INTEGER:
    return begins_with_header(b, ':', theirs->integer);
  case REDIS_REPLY_ARRAY:
    if (!begins_with_header(b, '*', (long long)theirs->elements))
      return 0;
    for (size_t i = 0; i < theirs->elements; i++)
      if (!is_written_so(b, theirs->element[i]))
        return 0;
    return 1;
  default:
    return (theirs->type == REDIS_REPLY_STRING
              ? begins_with_header(b, '$', (long long)theirs->len)
              : begins_with(b, theirs->type == REDIS_REPLY_ERROR ? "-" : "+", 1)) &&
           begins_with(b, theirs->str, (size_t)theirs->len) && begins_with(b, "\r\n", 2);
  }
}

/* The next reply of ours is the one that hiredis has read, and all that are in it: 1.  0: ours has ended. */
static int same(struct wire *w, const redisReply *theirs)
{
  struct reply r;
  if (wire_reply(w, &r, wire_now() + 60000) != 0) {
    int sure = theirs->type == REDIS_REPLY_NIL;
    if (theirs->type == REDIS_REPLY_INTEGER)
      sure = is_sure_number(theirs->integer);
    else if (theirs->type == REDIS_REPLY_STRING)
      sure = theirs->len <= WIRE_TEXT_MAX;
    else if (theirs->type == REDIS_REPLY_ARRAY)
      sure = theirs->elements <= WIRE_TEXT_MAX;
    else if (theirs->type == REDIS_REPLY_STATUS || theirs->type == REDIS_REPLY_ERROR)
      sure = theirs->len <= LINE_SURE && memchr(theirs->str, '\n', (size_t)theirs->len) == NULL;
    must(!sure, "a good reply was refused");
    return 0;
  }
  if (r.text != NULL)
    must(r.text >= w->in && r.n >= 0 && r.text + r.n <= w->in + w->have,
         "text beyond what was read");
  switch (theirs->type) {
  case REDIS_REPLY_NIL:
    must(r.type == '_', "nil");
    return 1;
  case REDIS_REPLY_INTEGER:
    must(r.type == ':' && r.n == theirs->integer, "a number");
    return 1;
  case REDIS_REPLY_ARRAY:
    must(r.type == '*' && (size_t)r.n == theirs->elements, "an array");
    for (size_t i = 0; i < theirs->elements; i++)
      if (!same(w, theirs->element[i]))
        return 0;
    return 1;
  default:
    must(r.type == (theirs->type == REDIS_REPLY_STRING  ? '$'
                    : theirs->type == REDIS_REPLY_ERROR ? '-'
                                                        : '+'),
         "the type");
    must((size_t)r.n == (size_t)theirs->len && memcmp(r.text, theirs->str, (size_t)r.n) == 0,
         "the text");
    return 1;
  }
}

/* How much of the input hiredis may see: it allocates an array of any length that it is told. */
static size_t harmless(const uint8_t *bytes, size_t len)
{
  size_t digits = 0;
  int array = 0;
  for (size_t i = 0; i < len; i++) {
    if (bytes[i] == '*') {
      array = 1;
      digits = 0;
    } else if (array && bytes[i] >= '0' && bytes[i] <= '9') {
      if (++digits > 4)
        return i;
    } else {
      array = 0;
    }
  }
  return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  static struct wire w;
  static uint8_t chain[32];
  int pair[2], halt[2], noted = -1, good = 1;
  void *theirs = NULL;
  if (len < 2)
    return 0;
  must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0 && pipe(halt) == 0, "sockets");
  size_t sent = send_pieces(pair[1], bytes + 1, len - 1, bytes[0] % 64 * 16u + 1);
  (void)shutdown(pair[1], SHUT_WR);
  w = (struct wire){.fd = pair[0], .noted = &noted, .halt = halt[0], .chain = chain};
  struct bytes rest = {bytes + 1, bytes + 1 + sent};
  redisReader *reader = redisReaderCreate();
  must(reader != NULL &&
         redisReaderFeed(reader, (const char *)bytes + 1, harmless(bytes + 1, sent)) == REDIS_OK,
       "hiredis");
  while (good && redisReaderGetReply(reader, &theirs) == REDIS_OK && theirs != NULL) {
    good = is_written_so(&rest, theirs) && same(&w, theirs);
    freeReplyObject(theirs);
    theirs = NULL;
  }
  redisReaderFree(reader);
  for (struct reply r;
       good && wire_reply(&w, &r, wire_now() + 60000) == 0;) /* what hiredis refuses */
    must(r.text == NULL || (r.text >= w.in && r.text + r.n <= w.in + w.have),
         "text beyond what was read");
  wire_close(&w);
  (void)close(pair[1]);
  (void)close(halt[0]);
  (void)close(halt[1]);
  return 0;
}

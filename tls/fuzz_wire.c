/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: a hostile server's replies.  The input's first byte says in what pieces the rest arrives.  What
 * wire_reply makes of it is compared with what hiredis does: as far as hiredis reads whole replies, ours are
 * the same, or ours is an error where wire.h promises less: long lines, texts and numbers. */
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
  redisReader *reader = redisReaderCreate();
  must(reader != NULL && redisReaderFeed(reader, (const char *)bytes + 1, sent) == REDIS_OK,
       "hiredis");
  while (good && redisReaderGetReply(reader, &theirs) == REDIS_OK && theirs != NULL) {
    good = same(&w, theirs);
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

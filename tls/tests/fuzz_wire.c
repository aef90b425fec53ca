/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: a hostile server's replies. The input's first byte says how the rest is split into
 * pieces. wire_reply must read the pieces as hiredis reads the whole, up to the first array that
 * is longer than any of ours. */
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fleet/wire.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

enum { PIECES = 128, ELEMENTS = 64 };

static void must(int good, const char *what)
{
  if (good)
    return;
  fprintf(stderr, "fuzz_wire: %s\n", what);
  abort();
}

/* Each piece is its own message: pieces sent apart arrive apart. */
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

static int has_long_array(const redisReply *r)
{
  if (r->elements > ELEMENTS)
    return 1;
  for (size_t i = 0; i < r->elements; i++)
    if (has_long_array(r->element[i]))
      return 1;
  return 0;
}

static void same(const redisReply *ours, const redisReply *theirs)
{
  must(ours->type == theirs->type, "the type");
  must(ours->integer == theirs->integer, "a number");
  must(ours->len == theirs->len && (ours->str == NULL) == (theirs->str == NULL) &&
         (ours->str == NULL || memcmp(ours->str, theirs->str, theirs->len + 1) == 0),
       "the text");
  must(ours->elements == theirs->elements, "an array");
  for (size_t i = 0; i < theirs->elements; i++)
    same(ours->element[i], theirs->element[i]);
}

/* The prefix of the input that hiredis may see: it would allocate an array of any length. */
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

/* Refuse one client's first command. */
static void *refuse(void *listener)
{
  char command[64] = "";
  int fd = accept(*(int *)listener, NULL, NULL);
  must(fd >= 0 && recv(fd, command, sizeof command - 1, 0) > 20 &&
         strstr(command, "PPRF.HELLO") != NULL,
       "a command");
  must(send(fd, "-NO\r\n", 5, MSG_NOSIGNAL) == 5, "an answer");
  (void)close(fd);
  return NULL;
}

/* A name with two addresses, such as localhost; nobody listens on the first. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
  static uint8_t chain[32];
  struct sockaddr_in at[2];
  struct addrinfo address[2];
  int port[2], halt[2], noted = -1;
  pthread_t server;
  (void)argc;
  (void)argv;
  for (unsigned i = 0; i < 2; i++) {
    socklen_t n = sizeof at[i];
    at[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    port[i] = socket(AF_INET, SOCK_STREAM, 0);
    must(port[i] >= 0 && bind(port[i], (void *)&at[i], n) == 0 &&
           getsockname(port[i], (void *)&at[i], &n) == 0,
         "a port");
    address[i] =
      (struct addrinfo){.ai_family = AF_INET, .ai_addr = (void *)&at[i], .ai_addrlen = n};
  }
  address[0].ai_next = &address[1];
  must(listen(port[1], 1) == 0 && pipe(halt) == 0 &&
         pthread_create(&server, NULL, refuse, &port[1]) == 0,
       "a server");
  struct target t = {.host = "two"};
  struct access a = {.addresses = address};
  struct wire w = {.fd = -1, .noted = &noted, .halt = halt[0], .chain = chain};
  must(wire_open(&w, &t, &a, wire_now() + 60000) != 0 && w.fd == -1 && noted == -1,
       "a server that refuses");
  (void)pthread_join(server, NULL);
  for (unsigned i = 0; i < 2; i++) {
    (void)close(port[i]);
    (void)close(halt[i]);
  }
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  static struct wire w;
  static uint8_t chain[32];
  int pair[2], halt[2], noted = -1, more = 1;
  void *theirs = NULL;
  if (len < 2)
    return 0;
  must(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0 && pipe(halt) == 0, "sockets");
  size_t sent = send_pieces(pair[1], bytes + 1, len - 1, bytes[0] % 64 * 16u + 1);
  (void)shutdown(pair[1], SHUT_WR);
  w = (struct wire){.fd = -1, .noted = &noted, .halt = halt[0], .chain = chain};
  must(wire_use(&w, pair[0]) == 0, "memory");
  redisReader *reader = redisReaderCreate();
  size_t seen = harmless(bytes + 1, sent);
  must(reader != NULL && redisReaderFeed(reader, (const char *)bytes + 1, seen) == REDIS_OK,
       "hiredis");
  while (more && redisReaderGetReply(reader, &theirs) == REDIS_OK && theirs != NULL) {
    const redisReply *ours = wire_reply(&w, wire_now() + 60000);
    more = !has_long_array(theirs);
    must((ours != NULL) == more, more ? "a good reply was refused" : "a long array");
    if (more)
      same(ours, theirs);
    freeReplyObject(theirs);
    theirs = NULL;
  }
  redisReaderFree(reader);
  if (more && seen == sent)
    must(wire_reply(&w, wire_now() + 60000) == NULL, "a reply more");
  while (more && wire_reply(&w, wire_now() + 60000) != NULL)
    ; /* nothing to compare: hiredis did not see the rest */
  wire_close(&w);
  (void)close(pair[1]);
  (void)close(halt[0]);
  (void)close(halt[1]);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "tickets/descriptor.h"

/* Limits of a reply, at least twice what our servers send. */
enum { REPLY_BYTES_MAX = 65536, ELEMENTS_MAX = 64 };

/* The signature differs between hiredis 0.14 and 1.0. */
#if HIREDIS_MAJOR < 1
typedef int array_length;
#else
typedef size_t array_length;
#endif

uint64_t wire_now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- bytes ---- */

/* OpenSSL's own socket writes can raise SIGPIPE. */
static int bio_write(BIO *b, const char *in, int n)
{
  const struct wire *w = BIO_get_data(b);
  BIO_clear_retry_flags(b);
  ssize_t sent = send(w->fd, in, (size_t)n, MSG_NOSIGNAL);
  if (sent < 0 && (errno == EAGAIN || errno == EINTR))
    BIO_set_retry_write(b);
  return (int)sent;
}

static int bio_read(BIO *b, char *out, int n)
{
  const struct wire *w = BIO_get_data(b);
  BIO_clear_retry_flags(b);
  ssize_t got = recv(w->fd, out, (size_t)n, 0);
  if (got < 0 && (errno == EAGAIN || errno == EINTR))
    BIO_set_retry_read(b);
  return (int)got;
}

static long bio_ctrl(BIO *b, int command, long n, void *p)
{
  (void)b;
  (void)n;
  (void)p;
  return command == BIO_CTRL_FLUSH;
}

/* hiredis' own functions, except for arrays: hiredis would allocate any length a server names. */
static redisReplyObjectFunctions objects;
static void *(*make_array)(const redisReadTask *, array_length);

static void *make_bounded_array(const redisReadTask *task, array_length n)
{
  return n <= ELEMENTS_MAX ? make_array(task, n) : NULL;
}

static BIO_METHOD *method;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare(void)
{
  redisReader *reader = redisReaderCreate();
  if (reader == NULL)
    return;
  objects = *reader->fn;
  make_array = objects.createArray;
  objects.createArray = make_bounded_array;
  redisReaderFree(reader);
  BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fleet");
  if (m != NULL && BIO_meth_set_write(m, bio_write) == 1 && BIO_meth_set_read(m, bio_read) == 1 &&
      BIO_meth_set_ctrl(m, bio_ctrl) == 1)
    method = m;
}

/* Wait until the socket is ready.  Returns 0, or -1 at the deadline or on halt. */
static int await(struct wire *w, short events, uint64_t deadline)
{
  w->why = CAUSE_SILENT;
  for (;;) {
    uint64_t now = wire_now();
    struct pollfd p[] = {{.fd = w->fd, .events = events}, {.fd = w->halt, .events = POLLIN}};
    if (now >= deadline)
      return -1;
    int n = poll(p, 2, (int)(deadline - now));
    if (n > 0)
      return p[1].revents == 0 ? 0 : -1;
    if (n < 0 && errno != EINTR)
      return -1;
  }
}

/* The events to wait for after a call that made no progress; 0: it failed. */
static short wanted(const struct wire *w, short events)
{
  if (w->ssl == NULL)
    return errno == EAGAIN || errno == EINTR ? events : 0;
  if (!BIO_should_retry(SSL_get_rbio(w->ssl)))
    return 0;                  /* the socket was closed; SSL_want still has its last value */
  int want = SSL_want(w->ssl); /* not SSL_get_error: others may have left errors in the queue */
  return want == SSL_READING ? POLLIN : want == SSL_WRITING ? POLLOUT : 0;
}

/* Why the connection has ended. */
static enum cause ending(const struct wire *w)
{
  return w->ssl != NULL && ERR_GET_REASON(ERR_peek_last_error()) >= SSL_AD_REASON_OFFSET
           ? CAUSE_ALERT
           : CAUSE_ENDED;
}

/* Feed the available bytes to the reader.  Returns their number; 0: none yet; -1: the connection
 * ended. */
static int receive(struct wire *w, short *events)
{
  char bytes[4096];
  long n =
    w->ssl != NULL ? SSL_read(w->ssl, bytes, sizeof bytes) : recv(w->fd, bytes, sizeof bytes, 0);
  *events = n < 0 || w->ssl != NULL ? wanted(w, POLLIN) : 0;
  w->why = n > 0 ? CAUSE_ANSWER : ending(w);
  if (n > 0)
    return redisReaderFeed(w->reader, bytes, (size_t)n) == REDIS_OK ? (int)n : -1;
  return *events != 0 ? 0 : -1;
}

static int send_all(struct wire *w, const char *in, size_t n, uint64_t deadline)
{
  while (n > 0) {
    long sent = w->ssl != NULL ? SSL_write(w->ssl, in, (int)n) : send(w->fd, in, n, MSG_NOSIGNAL);
    if (sent > 0) {
      in += sent;
      n -= (size_t)sent;
      continue;
    }
    short events = wanted(w, POLLOUT);
    w->why = ending(w);
    if (events == 0 || await(w, events, deadline) != 0)
      return -1;
  }
  return 0;
}

/* ---- commands and replies ---- */

/* length: bytes of each word; NULL: the words are strings. */
static int send_command(struct wire *w, int words, const char **word, const size_t *length,
                        uint64_t deadline)
{
  char *out = NULL;
  long long n = redisFormatCommandArgv(&out, words, word, length);
  int err = n > 0 ? send_all(w, out, (size_t)n, deadline) : -1;
  if (n > 0)
    OPENSSL_cleanse(out, (size_t)n); /* it may contain a password */
  redisFreeCommand(out);
  return err;
}

static const redisReply *next_reply(struct wire *w, uint64_t deadline)
{
  void *reply = NULL;
  freeReplyObject(w->reply);
  w->reply = NULL;
  w->why = CAUSE_ANSWER;
  while (redisReaderGetReply(w->reader, &reply) == REDIS_OK && reply == NULL) {
    short events;
    int n = w->part <= REPLY_BYTES_MAX ? receive(w, &events) : -1;
    if (n < 0 || (n == 0 && await(w, events, deadline) != 0))
      return NULL;
    w->part += (size_t)n;
    w->why = CAUSE_ANSWER;
  }
  w->part = 0;
  return w->reply = reply;
}

int wire_send(struct wire *w, int words, const char **word, uint64_t deadline)
{
  (void)ERR_set_mark(); /* keep OpenSSL errors that our caller has yet to read */
  int err = send_command(w, words, word, NULL, deadline);
  (void)ERR_pop_to_mark();
  return err;
}

const redisReply *wire_reply(struct wire *w, uint64_t deadline)
{
  (void)ERR_set_mark();
  const redisReply *r = next_reply(w, deadline);
  (void)ERR_pop_to_mark();
  return r;
}

int reply_is(const redisReply *r, int type, const char *word)
{
  return r != NULL && r->type == type && strncmp(r->str, word, strlen(word)) == 0;
}

int wire_idle(struct wire *w)
{
  short events;
  (void)ERR_set_mark();
  int n = w->reader->pos == w->reader->len ? receive(w, &events) : -1;
  (void)ERR_pop_to_mark();
  return n == 0 ? 0 : -1;
}

/* ---- connecting ---- */

static void close_socket(struct wire *w)
{
  if (w->fd >= 0) {
    *w->noted = -1;
    (void)close(w->fd);
  }
  w->fd = -1;
}

static enum cause cause_of_errno(int err)
{
  return err == ENOENT         ? CAUSE_NO_SOCKET
         : err == EACCES       ? CAUSE_SOCKET_RIGHT
         : err == ECONNREFUSED ? CAUSE_CLOSED
         : err == ETIMEDOUT    ? CAUSE_SILENT
                               : CAUSE_UNREACHABLE;
}

/* On failure everything but the socket is kept, so that the next address can be tried. */
static int connect_to(struct wire *w, int family, const void *address, socklen_t n,
                      uint64_t deadline)
{
  int err = 0, on = 1;
  socklen_t bytes = sizeof err;
  w->why = CAUSE_UNREACHABLE;
  w->fd = above_standard(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  *w->noted = w->fd;
  if (w->fd < 0)
    return -1;
  if (connect(w->fd, address, n) != 0)
    err = errno;
  if (err == EINPROGRESS || err == EAGAIN)
    err = await(w, POLLOUT, deadline) != 0                             ? ETIMEDOUT
          : getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0 ? errno
                                                                       : err;
  if (err != 0) {
    w->why = cause_of_errno(err);
    close_socket(w);
    return -1;
  }
  if (family != AF_UNIX)
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return 0;
}

static int connect_any(struct wire *w, const struct target *t, const struct addrinfo *addresses,
                       uint64_t deadline)
{
  if (t->host == NULL) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, t->path, strlen(t->path));
    return connect_to(w, AF_UNIX, &a, sizeof a, deadline);
  }
  uint64_t left = 0;
  for (const struct addrinfo *a = addresses; a != NULL; a = a->ai_next)
    left++;
  /* a silent address must not use up the time of the next ones */
  for (const struct addrinfo *a = addresses; a != NULL; a = a->ai_next, left--) {
    uint64_t now = wire_now(), share = now < deadline ? (deadline - now) / left : 0;
    if (connect_to(w, a->ai_family, a->ai_addr, a->ai_addrlen, now + share) == 0)
      return 0;
  }
  return -1;
}

static int handshake(struct wire *w, const struct target *t, SSL_CTX *ctx, uint64_t deadline)
{
  BIO *bio = BIO_new(method);
  w->ssl = SSL_new(ctx);
  if (bio == NULL || w->ssl == NULL) {
    BIO_free(bio);
    return -1;
  }
  BIO_set_data(bio, w);
  BIO_set_init(bio, 1);
  SSL_set_bio(w->ssl, bio, bio);
  (void)SSL_set_tlsext_host_name(w->ssl, t->host);
  for (;;) {
    if (SSL_connect(w->ssl) == 1)
      return 0;
    short events = wanted(w, POLLIN);
    if (events != 0 && await(w, events, deadline) == 0)
      continue;
    w->why = SSL_get_verify_result(w->ssl) != X509_V_OK ? CAUSE_CERTIFICATE
             : ending(w) == CAUSE_ALERT                 ? CAUSE_ALERT
                                                        : CAUSE_NO_TLS;
    return -1;
  }
}

static int log_in(struct wire *w, const struct target *t, const char *password, uint64_t deadline)
{
  const char *word[] = {"AUTH", t->user, password}, *anyone[] = {"AUTH", password};
  if (password == NULL)
    return 0;
  int err = t->user != NULL ? send_command(w, 3, word, NULL, deadline)
                            : send_command(w, 2, anyone, NULL, deadline);
  if (err != 0 || next_reply(w, deadline) == NULL)
    return -1;
  w->why = cause_of(w->reply, "AUTH");
  return reply_is(w->reply, REDIS_REPLY_STATUS, "OK") ? 0 : -1;
}

static int hello(struct wire *w, uint64_t deadline)
{
  uint8_t client[CHAIN_KEY_BYTES];
  size_t n = sizeof client;
  EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
  int good = own != NULL && EVP_PKEY_get_raw_public_key(own, client, &n) == 1;
  if (good) {
    const char *word[] = {"PPRF.HELLO", (const char *)client};
    const size_t length[] = {10, sizeof client};
    const redisReply *r =
      send_command(w, 2, word, length, deadline) == 0 ? next_reply(w, deadline) : NULL;
    good = r != NULL && r->type == REDIS_REPLY_STRING && r->len == CHAIN_KEY_BYTES;
    if (r != NULL)
      w->why = cause_of(r, "PPRF.HELLO");
    if (good) {
      const uint8_t *server = (const uint8_t *)r->str;
      good = chain_agree(own, server, client, server, w->chain) == 0;
    }
  }
  EVP_PKEY_free(own);
  return good ? 0 : -1;
}

int wire_use(struct wire *w, int fd)
{
  w->ssl = NULL;
  w->reply = NULL;
  w->part = 0;
  w->reader = pthread_once(&once, prepare) == 0 && method != NULL
                ? redisReaderCreateWithFunctions(&objects)
                : NULL;
  if (w->reader == NULL)
    return -1;
  w->fd = fd;
  return 0;
}

int wire_open(struct wire *w, const struct target *t, const struct access *a, uint64_t deadline)
{
  if (wire_use(w, -1) != 0)
    return -1;
  (void)ERR_set_mark();
  int err = connect_any(w, t, a->addresses, deadline);
  if (err == 0 && t->tls)
    err = handshake(w, t, a->ctx, deadline);
  if (err == 0)
    err = log_in(w, t, a->password, deadline);
  if (err == 0)
    err = hello(w, deadline);
  if (err != 0)
    wire_close(w);
  (void)ERR_pop_to_mark();
  return err;
}

/* Sends no close_notify, which could block. */
void wire_close(struct wire *w)
{
  freeReplyObject(w->reply);
  w->reply = NULL;
  redisReaderFree(w->reader);
  w->reader = NULL;
  SSL_free(w->ssl);
  w->ssl = NULL;
  close_socket(w);
  OPENSSL_cleanse(w->chain, CHAIN_KEY_BYTES);
}

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

enum { LINE_MAX_BYTES = 512, COMMAND_MAX = 2048 };

uint64_t wire_now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* ---- bytes ---- */

/* OpenSSL's own writes to a socket may be answered by SIGPIPE. */
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

static BIO_METHOD *method;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_method(void)
{
  BIO_METHOD *m = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "fleet");
  if (m != NULL && BIO_meth_set_write(m, bio_write) == 1 && BIO_meth_set_read(m, bio_read) == 1 &&
      BIO_meth_set_ctrl(m, bio_ctrl) == 1)
    method = m;
}

/* Wait until the socket is ready: 0, or -1: the deadline has come, or the end. */
static int await(const struct wire *w, short events, uint64_t deadline)
{
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

/* The events that a call which did nothing waits for; 0: it has failed. */
static short wanted(const struct wire *w, short events)
{
  if (w->ssl == NULL)
    return errno == EAGAIN || errno == EINTR ? events : 0;
  int want = SSL_want(w->ssl); /* the error queue may hold what others left in it */
  return want == SSL_READING ? POLLIN : want == SSL_WRITING ? POLLOUT : 0;
}

/* One more read; 0 bytes: there is nothing yet.  -1: the connection has ended. */
static int receive_some(struct wire *w, short *events)
{
  size_t room = WIRE_IN - w->have;
  long n = w->ssl != NULL ? SSL_read(w->ssl, w->in + w->have, (int)room)
                          : recv(w->fd, w->in + w->have, room, 0);
  *events = n < 0 || w->ssl != NULL ? wanted(w, POLLIN) : 0;
  if (n > 0)
    w->have += (size_t)n;
  return n > 0 ? (int)n : *events != 0 ? 0 : -1;
}

/* More bytes behind those that are there. */
static int receive(struct wire *w, uint64_t deadline)
{
  short events;
  if (w->at > 0) {
    memmove(w->in, w->in + w->at, w->have - w->at);
    w->have -= w->at;
    w->at = 0;
  }
  if (w->have == WIRE_IN)
    return -1;
  for (;;) {
    int n = receive_some(w, &events);
    if (n != 0)
      return n > 0 ? 0 : -1;
    if (await(w, events, deadline) != 0)
      return -1;
  }
}

static int send_all(struct wire *w, const uint8_t *in, size_t n, uint64_t deadline)
{
  while (n > 0) {
    long sent = w->ssl != NULL ? SSL_write(w->ssl, in, (int)n) : send(w->fd, in, n, MSG_NOSIGNAL);
    if (sent > 0) {
      in += sent;
      n -= (size_t)sent;
      continue;
    }
    short events = wanted(w, POLLOUT);
    if (events == 0 || await(w, events, deadline) != 0)
      return -1;
  }
  return 0;
}

/* ---- commands and replies ---- */

static int send_command(struct wire *w, unsigned words, const struct word *word, uint64_t deadline)
{
  uint8_t out[COMMAND_MAX];
  size_t n = (size_t)snprintf((char *)out, sizeof out, "*%u\r\n", words);
  int err = 0;
  for (unsigned i = 0; i < words && err == 0; i++) {
    if (word[i].n > sizeof out || sizeof out - n < word[i].n + 32) {
      err = -1;
      break;
    }
    n += (size_t)snprintf((char *)out + n, sizeof out - n, "$%zu\r\n", word[i].n);
    memcpy(out + n, word[i].p, word[i].n);
    n += word[i].n;
    out[n++] = '\r';
    out[n++] = '\n';
  }
  if (err == 0)
    err = send_all(w, out, n, deadline);
  OPENSSL_cleanse(out, sizeof out); /* a password may have been in it */
  return err;
}

/* A line without its end, at w->in + w->at: its length, or -1. */
static long read_line(struct wire *w, uint64_t deadline)
{
  size_t looked = 0;
  for (;;) {
    const uint8_t *line = w->in + w->at, *end;
    size_t n = w->have - w->at;
    end = n > looked ? memchr(line + looked, '\n', n - looked) : NULL;
    if (end != NULL)
      return end > line + 1 && end[-1] == '\r' ? (long)(end - line - 1) : -1;
    if (n > LINE_MAX_BYTES || receive(w, deadline) != 0)
      return -1;
    looked = n;
  }
}

static int read_number(const uint8_t *s, size_t n, long long *value)
{
  size_t sign = n > 0 && s[0] == '-';
  *value = 0;
  if (n == sign || n - sign > 18)
    return -1;
  for (size_t i = sign; i < n; i++) {
    if (s[i] < '0' || s[i] > '9')
      return -1;
    *value = *value * 10 + (s[i] - '0');
  }
  *value = sign ? -*value : *value;
  return 0;
}

static int next_reply(struct wire *w, struct reply *r, uint64_t deadline)
{
  long n = read_line(w, deadline);
  if (n < 1)
    return -1;
  const uint8_t *line = w->in + w->at;
  *r = (struct reply){.type = (char)line[0], .n = n - 1, .text = line + 1};
  w->at += (size_t)n + 2;
  if (r->type == '+' || r->type == '-')
    return 0;
  if (strchr(":$*", r->type) == NULL || r->type == '\0' ||
      read_number(line + 1, (size_t)n - 1, &r->n) != 0)
    return -1;
  r->text = NULL;
  if (r->type == ':')
    return 0;
  if (r->n == -1) {
    r->type = '_';
    return 0;
  }
  if (r->n < 0 || r->n > WIRE_TEXT_MAX)
    return -1;
  if (r->type == '*')
    return 0;
  size_t bytes = (size_t)r->n;
  while (w->have - w->at < bytes + 2)
    if (receive(w, deadline) != 0)
      return -1;
  r->text = w->in + w->at;
  w->at += bytes + 2;
  return r->text[bytes] == '\r' && r->text[bytes + 1] == '\n' ? 0 : -1;
}

int wire_send(struct wire *w, unsigned words, const struct word *word, uint64_t deadline)
{
  (void)ERR_set_mark(); /* a caller of ours may be asking for OpenSSL's errors of its own */
  int err = send_command(w, words, word, deadline);
  (void)ERR_pop_to_mark();
  return err;
}

int wire_reply(struct wire *w, struct reply *r, uint64_t deadline)
{
  (void)ERR_set_mark();
  int err = next_reply(w, r, deadline);
  (void)ERR_pop_to_mark();
  return err;
}

int reply_is(const struct reply *r, char type, const char *word)
{
  size_t n = strlen(word);
  return r->type == type && r->n >= (long long)n && memcmp(r->text, word, n) == 0;
}

int wire_idle(struct wire *w)
{
  short events;
  (void)ERR_set_mark();
  int n = w->at == w->have ? receive_some(w, &events) : -1;
  (void)ERR_pop_to_mark();
  return n == 0 ? 0 : -1;
}

/* ---- connecting ---- */

static int connect_to(struct wire *w, int family, const void *address, socklen_t n,
                      uint64_t deadline)
{
  int err = 0, on = 1;
  socklen_t bytes = sizeof err;
  w->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  *w->noted = w->fd;
  if (w->fd < 0)
    return -1;
  if (connect(w->fd, address, n) != 0 &&
      ((errno != EINPROGRESS && errno != EAGAIN) || await(w, POLLOUT, deadline) != 0 ||
       getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &err, &bytes) != 0 || err != 0)) {
    wire_close(w);
    return -1;
  }
  if (family != AF_UNIX)
    (void)setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return 0;
}

static int connect_any(struct wire *w, const struct target *t, uint64_t deadline)
{
  if (t->host == NULL) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, t->path, strlen(t->path));
    return connect_to(w, AF_UNIX, &a, sizeof a, deadline);
  }
  for (const struct addrinfo *a = t->addresses; a != NULL; a = a->ai_next)
    if (connect_to(w, a->ai_family, a->ai_addr, a->ai_addrlen, deadline) == 0)
      return 0;
  return -1;
}

static int handshake(struct wire *w, const struct target *t, uint64_t deadline)
{
  if (pthread_once(&once, make_method) != 0 || method == NULL)
    return -1;
  BIO *bio = BIO_new(method);
  w->ssl = SSL_new(t->ctx);
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
    if (events == 0 || await(w, events, deadline) != 0)
      return -1;
  }
}

static int log_in(struct wire *w, const struct target *t, uint64_t deadline)
{
  struct reply r;
  struct word word[3] = {{"AUTH", 4}, {t->user, 0}, {t->password, 0}};
  if (t->password == NULL)
    return 0;
  word[2].n = strlen(t->password);
  if (t->user != NULL)
    word[1].n = strlen(t->user);
  else
    word[1] = word[2];
  return send_command(w, t->user != NULL ? 3 : 2, word, deadline) == 0 &&
             next_reply(w, &r, deadline) == 0 && reply_is(&r, '+', "OK")
           ? 0
           : -1;
}

static int hello(struct wire *w, uint64_t deadline)
{
  uint8_t client[CHAIN_KEY_BYTES];
  size_t n = sizeof client;
  struct reply r;
  EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
  int good = own != NULL && EVP_PKEY_get_raw_public_key(own, client, &n) == 1;
  if (good) {
    const struct word word[] = {{"PPRF.HELLO", 10}, {client, sizeof client}};
    good = send_command(w, 2, word, deadline) == 0 && next_reply(w, &r, deadline) == 0 &&
           r.type == '$' && r.n == CHAIN_KEY_BYTES &&
           chain_agree(own, r.text, client, r.text, w->chain) == 0;
  }
  EVP_PKEY_free(own);
  return good ? 0 : -1;
}

int wire_open(struct wire *w, const struct target *t, uint64_t deadline)
{
  w->at = w->have = 0;
  w->ssl = NULL;
  (void)ERR_set_mark();
  int err = connect_any(w, t, deadline);
  if (err == 0 && t->tls)
    err = handshake(w, t, deadline);
  if (err == 0)
    err = log_in(w, t, deadline);
  if (err == 0)
    err = hello(w, deadline);
  if (err != 0)
    wire_close(w);
  (void)ERR_pop_to_mark();
  return err;
}

/* Without a farewell, which could wait. */
void wire_close(struct wire *w)
{
  SSL_free(w->ssl);
  w->ssl = NULL;
  if (w->fd >= 0) {
    *w->noted = -1;
    (void)close(w->fd);
  }
  w->fd = -1;
  OPENSSL_cleanse(w->chain, CHAIN_KEY_BYTES);
}

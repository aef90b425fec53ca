/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of server latency in a threaded program.  Each thread makes TLS connections in memory,
 * one after the other: without tickets, with OpenSSL's own, without tickets but with clients that
 * offer one of another server, with tickets whose server answers after some milliseconds (a relay
 * in this process delays its bytes), with the same tickets but without waiting for the server
 * (pprf_tickets_client_hello, thirty connections at a time in each thread), and during a flood of
 * copies of a ClientHello whose ticket is used.
 *   latency SOCKET THREADS SECONDS MS...
 * Prints a line for each: kind, round trip, connections a second, resumptions a second, flood
 * copies a second. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "tests/loop.h"
#include "pprf_fleet.h"
#include "pprf_tls.h"

enum { THREADS_MAX = 64, ENDS_MAX = 1024, PIECE = 16384, COPIES = 205, ROUNDS = 5, AT_ONCE = 30 };

static void die(const char *what)
{
  fprintf(stderr, "latency: %s\n", what);
  exit(1);
}

static double now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- the relay ---- */

/* Delayed bytes, in order, since all have the same delay. */
struct piece {
  struct piece *next;
  double due;
  int to;
  size_t n;
  char bytes[PIECE];
};

static struct {
  int listener, ends, fd[ENDS_MAX], other[ENDS_MAX];
  const char *socket;
  double delay;
} relay;

static void add_end(int fd, int other)
{
  if (relay.ends == ENDS_MAX)
    die("too many connections");
  relay.fd[relay.ends] = fd;
  relay.other[relay.ends++] = other;
}

static void join_server(void)
{
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  int near = accept(relay.listener, NULL, NULL), far = socket(AF_UNIX, SOCK_STREAM, 0), on = 1;
  memcpy(a.sun_path, relay.socket, strlen(relay.socket));
  if (near < 0 || connect(far, (struct sockaddr *)&a, sizeof a) != 0)
    die("no server");
  (void)setsockopt(near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  add_end(near, far);
  add_end(far, near);
}

static void *carry(void *none)
{
  struct piece *first = NULL, **last = &first;
  (void)none;
  for (;;) {
    struct pollfd p[ENDS_MAX + 1] = {{.fd = relay.listener, .events = POLLIN}};
    for (int i = 0; i < relay.ends; i++)
      p[i + 1] = (struct pollfd){.fd = relay.fd[i], .events = POLLIN};
    double left = first != NULL ? first->due - now() : 1;
    if (left > 0) {
      struct timespec t = {(time_t)left, (long)((left - (double)(time_t)left) * 1e9)};
      (void)ppoll(p, (nfds_t)relay.ends + 1, &t, NULL);
    }
    int ends = relay.ends;
    if (p[0].revents != 0)
      join_server();
    for (int i = 0; i < ends; i++) {
      if (p[i + 1].revents == 0)
        continue;
      struct piece *in = malloc(sizeof *in);
      ssize_t n = in != NULL ? recv(relay.fd[i], in->bytes, PIECE, 0) : -1;
      if (n <= 0) { /* pass the end of the connection on at once */
        free(in);
        (void)shutdown(relay.other[i], SHUT_RDWR);
        relay.fd[i] = -1;
        continue;
      }
      in->next = NULL;
      in->due = now() + relay.delay;
      in->to = relay.other[i];
      in->n = (size_t)n;
      *last = in;
      last = &in->next;
    }
    while (first != NULL && first->due <= now()) {
      struct piece *out = first;
      (void)!send(out->to, out->bytes, out->n, MSG_NOSIGNAL);
      first = out->next;
      last = first == NULL ? &first : last;
      free(out);
    }
  }
  return NULL;
}

static unsigned start_relay(const char *socket_path)
{
  struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t n = sizeof a;
  pthread_t thread;
  relay.socket = socket_path;
  relay.listener = socket(AF_INET, SOCK_STREAM, 0);
  if (strlen(socket_path) >= sizeof((struct sockaddr_un){0}).sun_path ||
      bind(relay.listener, (struct sockaddr *)&a, n) != 0 || listen(relay.listener, 64) != 0 ||
      getsockname(relay.listener, (struct sockaddr *)&a, &n) != 0 ||
      pthread_create(&thread, NULL, carry, NULL) != 0)
    die("no relay");
  return ntohs(a.sin_port);
}

/* ---- the threads ---- */

static SSL_CTX *client, *server;
static int resumes;          /* whether clients offer the ticket that they got last */
static SSL_SESSION *foreign; /* which all clients offer; NULL: none */
static atomic_int going;
static atomic_ulong connections, resumed, flooded;
static unsigned char *hello; /* the flood's ClientHello; NULL: no flood */
static int hello_bytes;
static double begun;

/* Process one copy, up to where the server waits for the client. */
static void take_copy(void)
{
  SSL *ssl = SSL_new(server);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  if (ssl == NULL || in == NULL || out == NULL || BIO_write(in, hello, hello_bytes) != hello_bytes)
    die("no memory");
  SSL_set_bio(ssl, in, out);
  if (SSL_accept(ssl) == 1 || SSL_session_reused(ssl))
    die("a used ticket is good");
  SSL_free(ssl);
}

static void *connect_all(void *none)
{
  SSL_SESSION *s = NULL;
  (void)none;
  while (going) {
    if (hello != NULL && (double)flooded < (now() - begun) * COPIES) {
      (void)atomic_fetch_add(&flooded, 1);
      take_copy();
    }
    struct loop_result r = loop_connect(client, server, NULL, resumes ? s : foreign, 0, NULL);
    if (!r.server_done)
      die("a handshake failed");
    SSL_SESSION_free(s);
    s = r.session;
    (void)atomic_fetch_add(&connections, 1);
    (void)atomic_fetch_add(&resumed, (unsigned long)r.resumed);
  }
  SSL_SESSION_free(s);
  return NULL;
}

/* The same, thirty at a time, none of which waits for the tickets' server. */
static void *connect_at_once(void *none)
{
  struct loop_handshake h[AT_ONCE] = {{0}};
  (void)none;
  while (going) {
    unsigned waiting = 0;
    for (unsigned i = 0; i < AT_ONCE; i++) {
      if (h[i].server == NULL) {
        SSL_SESSION *offered = h[i].session;
        h[i] = loop_begin(client, server, offered);
        SSL_SESSION_free(offered);
      }
      int state = loop_step(&h[i]);
      if (state < 0)
        die("a handshake failed");
      waiting += state == 0;
      if (state == 0)
        continue;
      (void)atomic_fetch_add(&connections, 1);
      (void)atomic_fetch_add(&resumed, (unsigned long)SSL_session_reused(h[i].server));
      loop_end(&h[i]);
    }
    if (waiting == AT_ONCE)
      loop_wait(h, AT_ONCE);
  }
  for (unsigned i = 0; i < AT_ONCE; i++) {
    if (h[i].server != NULL)
      loop_end(&h[i]);
    SSL_SESSION_free(h[i].session);
  }
  return NULL;
}

struct rates {
  double all, resumed, flood;
};

static struct rates measure(int threads, double seconds, void *(*connects)(void *))
{
  pthread_t thread[THREADS_MAX];
  connections = resumed = flooded = 0;
  going = 1;
  begun = now();
  for (int i = 0; i < threads; i++)
    if (pthread_create(&thread[i], NULL, connects, NULL) != 0)
      die("no thread");
  (void)nanosleep(&(struct timespec){(time_t)seconds, 0}, NULL);
  going = 0;
  for (int i = 0; i < threads; i++)
    (void)pthread_join(thread[i], NULL);
  double took = now() - begun;
  return (struct rates){(double)connections / took, (double)resumed / took, (double)flooded / took};
}

/* Record a ClientHello whose ticket is already used. */
static void record_hello(void)
{
  struct loop_result r = {0};
  for (int i = 0; i < 500 && !r.resumed; i++) {
    struct loop_result a = loop_connect(client, server, NULL, NULL, 0, NULL);
    SSL *ssl = SSL_new(client);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    SSL_SESSION *copy = a.session != NULL ? SSL_SESSION_dup(a.session) : NULL;
    unsigned char *bytes;
    SSL_set_bio(ssl, in, out);
    if (copy != NULL)
      (void)SSL_set_session(ssl, copy);
    (void)SSL_connect(ssl);
    hello_bytes = (int)BIO_get_mem_data(out, &bytes);
    free(hello);
    hello = malloc((size_t)hello_bytes);
    memcpy(hello, bytes, (size_t)hello_bytes);
    SSL_free(ssl);
    SSL_SESSION_free(copy);
    if (a.session != NULL)
      r = loop_connect(client, server, NULL, a.session, 0, NULL);
    SSL_SESSION_free(a.session);
    SSL_SESSION_free(r.session);
    (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  if (!r.resumed)
    die("the server does not answer");
}

static int compare(const void *a, const void *b)
{
  double x = ((const struct rates *)a)->all, y = ((const struct rates *)b)->all;
  return x < y ? -1 : x > y;
}

/* Median of each kind; the kinds take turns. */
int main(int argc, char **argv)
{
  static const char *const name[] = {"no-tickets",
                                     "offering",
                                     "full",
                                     "full-and-flood",
                                     "no-tickets-and-flood",
                                     "not-waiting",
                                     "no-tickets-offering",
                                     "own-tickets"};
  enum { NONE, OFFERING, FULL, FLOOD, NONE_FLOOD, NOT_WAITING, NONE_OFFERING, OWN, KINDS };
  int threads = argc > 2 ? atoi(argv[2]) : 0;
  double seconds = argc > 3 ? atof(argv[3]) : 0;
  if (argc < 5 || threads < 1 || threads > THREADS_MAX || seconds < 1)
    die("usage: latency SOCKET THREADS SECONDS MS...");
  char url[96];
  const char *urls = url;
  pprf_tickets *tickets;
  SSL_CTX *with = loop_server(), *without = loop_server(), *not_waiting = loop_server(),
          *own = loop_server();
  client = loop_client(TLS1_3_VERSION);
  (void)SSL_CTX_set_num_tickets(without, 0);
  (void)snprintf(url, sizeof url, "valkey://127.0.0.1:%u?timeout=500", start_relay(argv[1]));
  if (pprf_tickets_new_fleet(&tickets, NULL, &urls, 1) != PPRF_OK ||
      pprf_tickets_attach(with, tickets) != PPRF_OK ||
      pprf_tickets_attach(not_waiting, tickets) != PPRF_OK)
    die("no tickets");
  SSL_CTX_set_client_hello_cb(not_waiting, pprf_tickets_client_hello, NULL);
  server = with;
  record_hello();
  unsigned char *used = hello;
  SSL_SESSION *other = loop_connect(client, loop_server(), NULL, NULL, 0, NULL).session;
  if (other == NULL)
    die("no ticket");
  for (int at = 4; at < argc; at++) {
    struct rates rate[KINDS][ROUNDS];
    relay.delay = atof(argv[at]) / 2000;
    for (int round = 0; round < ROUNDS; round++)
      for (int k = 0; k < KINDS; k++) {
        server = k == NOT_WAITING                                     ? not_waiting
                 : k == OWN                                           ? own
                 : k == NONE || k == NONE_FLOOD || k == NONE_OFFERING ? without
                                                                      : with;
        resumes = k == OFFERING;
        foreign = k == NONE_OFFERING ? other : NULL;
        hello = k == FLOOD || k == NONE_FLOOD ? used : NULL;
        rate[k][round] =
          measure(threads, seconds, k == NOT_WAITING ? connect_at_once : connect_all);
      }
    for (int k = 0; k < KINDS; k++) {
      qsort(rate[k], ROUNDS, sizeof *rate[k], compare);
      const struct rates *r = &rate[k][ROUNDS / 2];
      printf("%s %s %.1f %.1f %.1f\n", name[k], argv[at], r->all, r->resumed, r->flood);
    }
    (void)fflush(stdout);
  }
  struct pprf_tickets_stats s = {.size = sizeof s};
  (void)pprf_tickets_stats(tickets, &s);
  printf(
    "# over budget %llu, remembered %llu, unanswered %llu, connections %llu, not issued %llu\n",
    (unsigned long long)s.over_budget, (unsigned long long)s.remembered,
    (unsigned long long)s.unanswered, (unsigned long long)s.connected,
    (unsigned long long)s.not_issued);
  return 0;
}

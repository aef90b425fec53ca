/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the tickets in OpenSSL's callbacks (attach.c), with client and server in this process,
 * so that failures can be injected.  TAP. */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "openssl/clients.h"
#include "loop.h"
#include "tickets/pool.h"
#include "pprf_tls.h"
#include "test.h"
#include "tickets/tickets.h"

/* ---- failures ---- */

static int eval_fails, punct_fails, hmac_fails;

int __real_pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);
int __wrap_pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES]);
int __wrap_pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  if (!eval_fails)
    return __real_pprf_eval(key, leaf, out);
  memset(out, 0, PPRF_SEED_BYTES);
  return PPRF_ERR_CRYPTO;
}

int __real_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf)
{
  return punct_fails ? PPRF_ERR_CRYPTO : __real_pprf_punct(key, leaf);
}

/* attach.c's calls while it searches for the secrets that OpenSSL keeps */
int __real_ticket_hmac(const EVP_MD *digest, const uint8_t *key, size_t key_bytes,
                       const uint8_t *text, size_t text_bytes, uint8_t out[EVP_MAX_MD_SIZE]);
int __wrap_ticket_hmac(const EVP_MD *digest, const uint8_t *key, size_t key_bytes,
                       const uint8_t *text, size_t text_bytes, uint8_t out[EVP_MAX_MD_SIZE]);
int __wrap_ticket_hmac(const EVP_MD *digest, const uint8_t *key, size_t key_bytes,
                       const uint8_t *text, size_t text_bytes, uint8_t out[EVP_MAX_MD_SIZE])
{
  return !hmac_fails && __real_ticket_hmac(digest, key, key_bytes, text, text_bytes, out);
}

static unsigned certificates_digested;

int __real_X509_digest(const X509 *cert, const EVP_MD *digest, unsigned char *out, unsigned *bytes);
int __wrap_X509_digest(const X509 *cert, const EVP_MD *digest, unsigned char *out, unsigned *bytes);
int __wrap_X509_digest(const X509 *cert, const EVP_MD *digest, unsigned char *out, unsigned *bytes)
{
  certificates_digested++;
  return __real_X509_digest(cert, digest, out, bytes);
}

/* How many settings OpenSSL accepts until it refuses one; -1: it refuses none. */
static int settings_until_refused = -1;

static int refused(void)
{
  return settings_until_refused >= 0 && settings_until_refused-- == 0;
}

int __real_SSL_CTX_set_max_early_data(SSL_CTX *ctx, uint32_t bytes);
int __wrap_SSL_CTX_set_max_early_data(SSL_CTX *ctx, uint32_t bytes);
int __wrap_SSL_CTX_set_max_early_data(SSL_CTX *ctx, uint32_t bytes)
{
  return !refused() && __real_SSL_CTX_set_max_early_data(ctx, bytes);
}

int __real_SSL_CTX_set_recv_max_early_data(SSL_CTX *ctx, uint32_t bytes);
int __wrap_SSL_CTX_set_recv_max_early_data(SSL_CTX *ctx, uint32_t bytes);
int __wrap_SSL_CTX_set_recv_max_early_data(SSL_CTX *ctx, uint32_t bytes)
{
  return !refused() && __real_SSL_CTX_set_recv_max_early_data(ctx, bytes);
}

/* Blocks that end at an inaccessible page.  Used in a short-lived child. */
static int guarded;
static size_t not_wiped;
enum { BLOCKS = 16, BLOCK_BYTES = 1 << 16 };
static struct block {
  unsigned char *at;
  size_t bytes;
} block[BLOCKS];

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
  struct block *b = block;
  if (!guarded)
    return __real_malloc(n);
  while (b < block + BLOCKS && b->at != NULL)
    b++;
  unsigned char *map =
    mmap(NULL, 2 * BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (b == block + BLOCKS || n > BLOCK_BYTES || map == MAP_FAILED ||
      mprotect(map + BLOCK_BYTES, BLOCK_BYTES, PROT_NONE) != 0)
    exit(1);
  b->bytes = (n + 15) & ~(size_t)15;
  return b->at = map + BLOCK_BYTES - b->bytes;
}

static struct block *block_at(const void *p)
{
  struct block *b = block;
  while (b < block + BLOCKS && b->at != p)
    b++;
  return p == NULL || b == block + BLOCKS ? NULL : b;
}

size_t __real_malloc_usable_size(void *p);
size_t __wrap_malloc_usable_size(void *p);
size_t __wrap_malloc_usable_size(void *p)
{
  return block_at(p) != NULL ? block_at(p)->bytes : __real_malloc_usable_size(p);
}

void __real_free(void *p);
void __wrap_free(void *p);
void __wrap_free(void *p)
{
  struct block *b = block_at(p);
  if (b == NULL) {
    __real_free(p);
    return;
  }
  for (size_t i = 0; i < b->bytes; i++)
    not_wiped += b->at[i] != 0;
  *b = (struct block){0};
}

/* ---- a server and its clients ---- */

static SSL_CTX *client, *client_1_2;

struct server {
  SSL_CTX *ctx;
  pprf_tickets *tickets;
};

static struct server new_server(void)
{
  struct server s = {loop_server(), NULL};
  struct pprf_tickets_options options = {.size = sizeof options, .depth = 10, .suite = suite};
  check(pprf_tickets_new(&s.tickets, &options) == PPRF_OK, "new");
  check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK, "attach");
  return s;
}

static void free_server(struct server *s)
{
  SSL_CTX_free(s->ctx);
  pprf_tickets_free(s->tickets);
}

static struct pprf_tickets_stats stats_of(const struct server *s)
{
  struct pprf_tickets_stats stats = {.size = sizeof stats};
  check(pprf_tickets_stats(s->tickets, &stats) == PPRF_OK, "stats");
  return stats;
}

enum outcome { FAILED, FULL, RESUMED, EARLY };
static const char *const outcome_name[] = {"failed", "full", "resumed", "early"};

/* Connect.  *renewed, if not NULL, receives the client's new session. */
static enum outcome connect_to(SSL_CTX *from, SSL_CTX *ctx, SSL *ssl, SSL_SESSION *session,
                               int early, SSL_SESSION **renewed, const char *name)
{
  struct loop_result r = loop_connect(from, ctx, ssl, session, early, name);
  if (renewed != NULL)
    *renewed = r.session;
  else
    SSL_SESSION_free(r.session);
  if (!r.client_done || !r.server_done)
    return FAILED;
  return r.early ? EARLY : r.resumed ? RESUMED : FULL;
}

static void expect(enum outcome got, enum outcome want, const char *what)
{
  check(got == want, "%s: %s, not %s", what, outcome_name[got], outcome_name[want]);
}

/* ---- tests ---- */

static SSL_SESSION *get_session(SSL_CTX *ctx, const unsigned char *id, int len, int *copy)
{
  (void)ctx, (void)id, (void)len, (void)copy;
  return NULL;
}

static SSL_SESSION *get_cb(SSL *ssl, const unsigned char *id, int len, int *copy)
{
  return get_session(SSL_get_SSL_CTX(ssl), id, len, copy);
}

enum { SIZE = sizeof(struct pprf_tickets_options) };

static void api(void)
{
  pprf_tickets *t = NULL;
  struct pprf_tickets_stats stats = {.size = sizeof stats};
  static const struct {
    struct pprf_tickets_options options;
    const char *bad;
  } option[] = {
    {{.size = SIZE}, NULL},
    {{.size = SIZE, .depth = 4, .lifetime = 1, .rotation = 1, .max_early_data = 1}, NULL},
    {{SIZE, 32, 604800, 604800, INT32_MAX, 0, 1, UINT64_MAX, PPRF_AES_128}, NULL},
    {{.size = SIZE, .suite = PPRF_SHA3_256}, NULL},
    {{.size = SIZE, .suite = PPRF_AES_128 + 1}, "suite"},
    {{.size = SIZE, .suite = (UINT64_C(1) << 32) + 1}, "suite"},
    {{.size = SIZE, .suite = UINT64_MAX}, "suite"},
    {{.size = SIZE, .depth = 10, .memory = 1 << 18}, NULL},
    {{.size = SIZE, .depth = 10, .memory = 1 << 14}, "memory"},
    {{.size = SIZE, .memory = 1}, "memory"},
    {{.size = SIZE, .rotation = 7200}, NULL},
    {{.size = SIZE, .depth = 3}, "depth"},
    {{.size = SIZE, .depth = 33}, "depth"},
    {{.size = SIZE, .lifetime = 1 << 16, .rate = 1 << 16}, NULL},
    {{.size = SIZE, .lifetime = 1 << 16, .rate = (1 << 16) + 1}, "rate"},
    {{.size = SIZE, .depth = 22, .rate = 1}, "rate"},
    {{.size = SIZE, .rate = UINT32_MAX}, "rate"},
    {{.size = SIZE, .lifetime = 604801}, "lifetime"},
    {{.size = SIZE, .rotation = 7199}, "rotation"},
    {{.size = SIZE, .lifetime = 100, .rotation = 99}, "rotation"},
    {{.size = SIZE, .max_early_data = (unsigned)INT32_MAX + 1}, "max_early_data"},
    {{.size = 0}, "size"},
    {{.size = offsetof(struct pprf_tickets_options, rate) - 1}, "size"}};
  for (unsigned i = 0; i < sizeof option / sizeof *option; i++) {
    const char *bad = pprf_tickets_bad_option(&option[i].options);
    check((bad == NULL) == (option[i].bad == NULL) &&
            (bad == NULL || strncmp(bad, option[i].bad, strlen(option[i].bad)) == 0),
          "options %u: %s", i, bad != NULL ? bad : "good");
    if (option[i].bad != NULL) {
      t = (pprf_tickets *)&stats;
      check(pprf_tickets_new(&t, &option[i].options) == PPRF_TLS_ERR_OPTION && t == NULL, "new");
    }
  }
  check(pprf_tickets_bad_option(NULL) == NULL, "defaults");
  static const unsigned chosen[][3] = {{1, 1, 10},      {1, 1024, 10},     {1, 1025, 11},
                                       {100, 7200, 20}, {1000, 86400, 27}, {1 << 10, 1 << 12, 22},
                                       {0, 1, 10},      {0, 7200, 22},     {0, 0, 22},
                                       {0, 86400, 26}};
  for (unsigned i = 0; i < sizeof chosen / sizeof *chosen; i++) {
    struct server s = {NULL, NULL};
    struct pprf_tickets_options o = {.size = SIZE, .rate = chosen[i][0], .lifetime = chosen[i][1]};
    if (sizeof(size_t) < 8 && chosen[i][2] > 24) /* 8 trees of 2^25 leaves: 2 GB */
      check(pprf_tickets_new(&s.tickets, &o) == PPRF_ERR_NOMEM && s.tickets == NULL, "too large");
    else
      check(pprf_tickets_new(&s.tickets, &o) == PPRF_OK && stats_of(&s).depth == chosen[i][2] &&
              stats_of(&s).keys_max == 8,
            "depth for %u a second, %u s", chosen[i][0], chosen[i][1]);
    pprf_tickets_free(s.tickets);
  }
  check(pprf_tickets_new(NULL, NULL) == PPRF_ERR_NULL, "new(NULL)");
  struct server s = new_server();
  SSL_CTX *other = loop_server();
  check(pprf_tickets_attach(NULL, s.tickets) == PPRF_ERR_NULL, "attach(NULL)");
  check(pprf_tickets_attach(other, NULL) == PPRF_ERR_NULL, "attach(, NULL)");
  check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_TLS_ERR_TAKEN, "attach twice");
  SSL_CTX_sess_set_get_cb(other, get_cb);
  uint64_t options = SSL_CTX_get_options(other);
  check(pprf_tickets_attach(other, s.tickets) == PPRF_TLS_ERR_TAKEN, "a session store");
  check(SSL_CTX_get_options(other) == options, "nothing was changed");
  SSL_CTX_sess_set_get_cb(other, NULL);
  SSL_CTX_set_options(other, SSL_OP_NO_TICKET);
  check(pprf_tickets_attach(other, s.tickets) == PPRF_OK, "attach to another");
  check((SSL_CTX_get_options(other) & (SSL_OP_NO_ANTI_REPLAY | SSL_OP_NO_TICKET)) ==
            SSL_OP_NO_ANTI_REPLAY &&
          SSL_CTX_get_session_cache_mode(other) == SSL_SESS_CACHE_OFF &&
          SSL_CTX_get_max_early_data(other) == 16384 && SSL_CTX_get_timeout(other) == 7200,
        "what attach sets");
  check(pprf_tickets_stats(NULL, &stats) == PPRF_ERR_NULL &&
          pprf_tickets_stats(s.tickets, NULL) == PPRF_ERR_NULL &&
          pprf_tickets_expire(NULL) == PPRF_ERR_NULL && pprf_tickets_adopt(NULL) == PPRF_ERR_NULL &&
          pprf_tickets_expire(s.tickets) == PPRF_OK,
        "NULL");
  check(pprf_tickets_wiping(NULL) == 0, "wiping(NULL)");
  check(pprf_tickets_wipe_openssl() == PPRF_TLS_ERR_LATE, "OpenSSL is in use already");
  for (int err = 0; err < 40; err++)
    check(pprf_tls_strerror(err) != NULL && *pprf_tls_strerror(err) != '\0', "strerror");
  pprf_tickets_free(NULL);
  SSL_CTX_free(other);
  free_server(&s);
  end_test("attach_sets_all_it_needs_and_refuses_what_would_break_it");
}

static void life(void)
{
  struct server s = new_server();
  SSL_SESSION *first, *second;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  expect(connect_to(client, s.ctx, NULL, first, 1, &second, NULL), EARLY, "a ticket");
  for (unsigned i = 0; i < 3; i++)
    expect(connect_to(client, s.ctx, NULL, first, 1, NULL, NULL), FULL, "the same ticket");
  for (unsigned i = 0; i < 1000; i++) {
    SSL_SESSION *next;
    expect(connect_to(client, s.ctx, NULL, second, i % 2, &next, NULL), i % 2 ? EARLY : RESUMED,
           "the renewed ticket");
    SSL_SESSION_free(second);
    second = next;
  }
  struct pprf_tickets_stats stats = stats_of(&s);
  check(stats.resumed == 500 && stats.early_accepted == 501 && stats.refused == 3 &&
          stats.early_rejected == 0 && stats.issued == 2 + 1 + 6 + 1000 && stats.kept == 0,
        "stats");
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
  free_server(&s);
  end_test("a_chain_of_1000_tickets_each_good_once");
}

static void failing_puncture(void)
{
  struct server s = new_server();
  SSL_SESSION *session;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  punct_fails = 1;
  expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), RESUMED, "puncturing fails");
  expect(connect_to(client, s.ctx, NULL, session, 0, NULL, NULL), RESUMED, "it fails again");
  punct_fails = 0;
  struct pprf_tickets_stats stats = stats_of(&s);
  check(stats.early_rejected == 1 && stats.early_accepted == 0 && stats.resumed == 0, "stats");
  expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), EARLY, "the ticket is good");
  expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), FULL, "once");
  SSL_SESSION_free(session);
  free_server(&s);
  end_test("failing_puncture_rejects_early_data_and_nothing_else");
}

static void failing_evaluation(void)
{
  struct server s = new_server();
  SSL_SESSION *session, *spoilt, *none;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  eval_fails = 1;
  expect(connect_to(client, s.ctx, NULL, session, 1, &spoilt, NULL), FULL, "evaluation fails");
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &none, NULL), FULL, "TLS 1.2");
  eval_fails = 0;
  check(stats_of(&s).not_issued == 3, "not issued");
  check(none == NULL || !SSL_SESSION_has_ticket(none), "TLS 1.2: no ticket");
  if (check(spoilt != NULL, "a TLS 1.3 client got a ticket, which is no good"))
    expect(connect_to(client, s.ctx, NULL, spoilt, 1, NULL, NULL), FULL, "that ticket");
  check(stats_of(&s).foreign == 1, "foreign");
  expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), EARLY, "the first ticket");
  SSL_SESSION_free(session);
  SSL_SESSION_free(spoilt);
  SSL_SESSION_free(none);
  free_server(&s);
  end_test("failing_evaluation_costs_a_full_handshake_and_sends_no_malformed_ticket");
}

/* ---- a backend without leaves ---- */

static int leaves;

static int has_leaves(void *keys)
{
  (void)keys;
  return leaves;
}

/* Connect a client whose key share the server accepts, or (again) must ask for again. */
static void withhold(int again)
{
  struct server s = new_server();
  SSL_SESSION *session, *next;
  struct backend b = *s.tickets->backend;
  b.ready = has_leaves;
  s.tickets->backend = &b;
  check(SSL_CTX_set1_groups_list(s.ctx, again ? "P-384" : "X25519") == 1, "groups");
  leaves = 0;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "without leaves");
  check(session == NULL && stats_of(&s).not_issued == 2, "no ticket, and both are counted");
  SSL *ssl = SSL_new(s.ctx), *leaves_early = loop_join(client, ssl, NULL);
  for (unsigned i = 0; i < 2; i++) {
    (void)SSL_do_handshake(leaves_early);
    (void)SSL_do_handshake(ssl); /* ends with a ServerHello */
  }
  SSL_free(leaves_early);
  check(stats_of(&s).not_issued == 4, "a client that leaves");
  check(SSL_clear(ssl) == 1, "SSL_clear");
  leaves = 1;
  expect(connect_to(client, NULL, ssl, NULL, 0, &session, NULL), FULL, "the same SSL, with leaves");
  SSL_free(ssl);
  leaves = 0;
  if (check(session != NULL, "a ticket"))
    expect(connect_to(client, s.ctx, NULL, session, 0, &next, NULL), RESUMED, "that ticket");
  check(next == NULL && stats_of(&s).not_issued == 5, "no successor, and it is counted");
  check(stats_of(&s).issued == 2 && stats_of(&s).resumed == 1, "stats");
  SSL_SESSION_free(session);
  free_server(&s);
}

static void without_leaves(void)
{
  withhold(0);
  withhold(1);
  end_test("without_a_leaf_no_ticket_is_sent_and_each_is_counted");
}

static void tls_1_2(void)
{
  struct server s = new_server();
  SSL_SESSION *first, *second, *same;
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  expect(connect_to(client_1_2, s.ctx, NULL, first, 0, &same, NULL), RESUMED, "a ticket");
  /* a successor would hold the same master secret */
  check(stats_of(&s).issued == 1, "no successor was issued");
  expect(connect_to(client_1_2, s.ctx, NULL, same, 0, NULL, NULL), FULL, "all the client has");
  expect(connect_to(client_1_2, s.ctx, NULL, first, 0, &second, NULL), FULL, "the same ticket");
  /* a ClientHello alone proves nothing: the ticket stays valid */
  SSL *half = SSL_new(s.ctx);
  SSL *nobody = loop_join(client_1_2, half, second);
  (void)SSL_do_handshake(nobody);
  (void)SSL_do_handshake(half);
  check(SSL_session_reused(half) == 1, "the ticket was found good");
  /* two at once: both resume, one of them punctures the ticket */
  expect(connect_to(client_1_2, s.ctx, NULL, second, 0, NULL, NULL), RESUMED, "the other");
  (void)SSL_do_handshake(nobody);
  check(SSL_do_handshake(half) == 1, "the one that lost the race goes on");
  check(stats_of(&s).resumed == 2, "and it is not counted");
  expect(connect_to(client_1_2, s.ctx, NULL, second, 0, NULL, NULL), FULL, "a third");
  SSL_free(nobody);
  SSL_free(half);
  SSL_SESSION_free(first);
  /* nor is there a successor if the program has removed the session ticket callback */
  (void)SSL_CTX_set_session_ticket_cb(s.ctx, NULL, NULL, NULL);
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  uint64_t issued = stats_of(&s).issued;
  expect(connect_to(client_1_2, s.ctx, NULL, first, 0, NULL, NULL), RESUMED, "a ticket");
  check(stats_of(&s).issued == issued, "no successor was issued");
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
  SSL_SESSION_free(same);
  free_server(&s);
  end_test("tls_1_2_punctures_when_the_handshake_is_done");
}

/* Two UDP sockets of this machine, connected to each other. */
static void udp_pair(BIO *end[2], int fd[2])
{
  struct sockaddr_in at[2];
  for (unsigned i = 0; i < 2; i++) {
    socklen_t n = sizeof *at;
    at[i] = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    fd[i] = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    check(bind(fd[i], (struct sockaddr *)&at[i], n) == 0 &&
            getsockname(fd[i], (struct sockaddr *)&at[i], &n) == 0,
          "a UDP socket");
  }
  for (unsigned i = 0; i < 2; i++) {
    BIO_ADDR *peer = BIO_ADDR_new();
    const struct sockaddr_in *to = &at[1 - i];
    check(connect(fd[i], (const struct sockaddr *)to, sizeof *to) == 0 && peer != NULL &&
            BIO_ADDR_rawmake(peer, AF_INET, &to->sin_addr, sizeof to->sin_addr, to->sin_port) == 1,
          "a peer");
    end[i] = BIO_new_dgram(fd[i], BIO_CLOSE);
    (void)BIO_ctrl_set_connected(end[i], peer);
    BIO_ADDR_free(peer);
  }
}

/* Connect over DTLS.  hello_alone: the client sends only its ClientHello.  *renewed, if not NULL,
 * receives the client's session. */
static enum outcome connect_dtls(SSL_CTX *from, SSL_CTX *to, SSL_SESSION *offered, int hello_alone,
                                 SSL_SESSION **renewed)
{
  BIO *end[2];
  SSL *ssl[2] = {SSL_new(from), SSL_new(to)};
  int fd[2], done[2] = {0, 0};
  udp_pair(end, fd);
  for (unsigned i = 0; i < 2; i++)
    SSL_set_bio(ssl[i], end[i], end[i]);
  SSL_set_connect_state(ssl[0]);
  SSL_set_accept_state(ssl[1]);
  check(offered == NULL || SSL_set_session(ssl[0], offered) == 1, "a session");
  for (unsigned turn = 0; turn < (hello_alone ? 2 : 40) && !(done[0] && done[1]); turn++) {
    struct pollfd to_read = {.fd = fd[turn % 2], .events = POLLIN};
    if (turn > 0 && !done[turn % 2])
      (void)poll(&to_read, 1, 5000); /* arrives at once unless the machine is busy */
    done[turn % 2] = done[turn % 2] || SSL_do_handshake(ssl[turn % 2]) == 1;
  }
  enum outcome o = !hello_alone && !(done[0] && done[1]) ? FAILED
                   : SSL_session_reused(ssl[1])          ? RESUMED
                                                         : FULL;
  if (renewed != NULL)
    *renewed = SSL_get1_session(ssl[0]);
  for (unsigned i = 0; i < 2; i++) {
    SSL_set_shutdown(ssl[i], SSL_SENT_SHUTDOWN |
                               SSL_RECEIVED_SHUTDOWN); /* otherwise its session counts as bad */
    SSL_free(ssl[i]);
  }
  ERR_clear_error();
  return o;
}

/* DTLS 1.2 behaves like TLS 1.2, although its version number is greater. */
static void dtls(void)
{
  struct server s = {loop_server_of(DTLS_server_method()), NULL};
  struct pprf_tickets_options options = {.size = SIZE, .depth = 10, .suite = suite};
  SSL_CTX *from = SSL_CTX_new(DTLS_client_method());
  SSL_SESSION *first, *second;
  check(pprf_tickets_new(&s.tickets, &options) == PPRF_OK, "new");
  check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK, "attach");
  expect(connect_dtls(from, s.ctx, NULL, 0, &first), FULL, "no ticket");
  expect(connect_dtls(from, s.ctx, first, 1, NULL), RESUMED, "a ClientHello with a copied ticket");
  check(stats_of(&s).outstanding == 1 && stats_of(&s).resumed == 0, "it burns nothing");
  expect(connect_dtls(from, s.ctx, first, 0, &second), RESUMED, "the ticket");
  check(stats_of(&s).issued == 1, "no successor, which would hold the same master secret");
  expect(connect_dtls(from, s.ctx, first, 0, NULL), FULL, "the same ticket");
  check(stats_of(&s).kept == 0, "nothing of TLS 1.3 was sought");
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
  SSL_CTX_free(from);
  free_server(&s);
  end_test("dtls_1_2_punctures_when_the_handshake_is_done");
}

static void no_tls_1_2(void)
{
  struct server s = {loop_server(), NULL}, with = new_server();
  struct pprf_tickets_options options = {.size = SIZE, .no_tls_1_2 = 1, .suite = suite};
  SSL_SESSION *none, *ticket;
  check(pprf_tickets_new(&s.tickets, &options) == PPRF_OK, "new");
  check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK, "attach");
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &none, NULL), FULL, "TLS 1.2");
  check(SSL_SESSION_has_ticket(none) == 0, "no ticket");
  expect(connect_to(client_1_2, s.ctx, NULL, none, 0, NULL, NULL), FULL, "nothing to resume");
  expect(connect_to(client_1_2, with.ctx, NULL, NULL, 0, &ticket, NULL), FULL, "another server");
  expect(connect_to(client_1_2, s.ctx, NULL, ticket, 0, NULL, NULL), FULL, "its ticket");
  struct pprf_tickets_stats stats = stats_of(&s);
  check(stats.issued == 0 && stats.not_issued == 0, "none was to be issued");
  SSL_SESSION_free(none);
  SSL_SESSION_free(ticket);
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &ticket, NULL), FULL, "TLS 1.3");
  expect(connect_to(client, s.ctx, NULL, ticket, 1, NULL, NULL), EARLY, "a ticket");
  SSL_SESSION_free(ticket);
  free_server(&with);
  free_server(&s);
  end_test("without_tickets_in_tls_1_2_those_of_1_3_are_as_before");
}

/* ---- the program's own pre-shared keys ---- */

static const unsigned char psk_name[] = "external";

/* An external key, for TLS_AES_128_GCM_SHA256. */
static SSL_SESSION *external_key(SSL *ssl)
{
  static const unsigned char id[] = {0x13, 0x01}, key[32] = "a key that both sides have";
  SSL_SESSION *session = SSL_SESSION_new();
  const SSL_CIPHER *cipher = SSL_CIPHER_find(ssl, id);
  check(session != NULL && cipher != NULL &&
          SSL_SESSION_set1_master_key(session, key, sizeof key) == 1 &&
          SSL_SESSION_set_cipher(session, cipher) == 1 &&
          SSL_SESSION_set_max_early_data(session, 100) == 1 &&
          SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1,
        "external key");
  return session;
}

static int find_key(SSL *ssl, const unsigned char *name, size_t len, SSL_SESSION **session)
{
  *session = len == sizeof psk_name && memcmp(name, psk_name, len) == 0 ? external_key(ssl) : NULL;
  return 1;
}

static int use_key(SSL *ssl, const EVP_MD *md, const unsigned char **name, size_t *len,
                   SSL_SESSION **session)
{
  (void)md;
  *name = psk_name;
  *len = sizeof psk_name;
  *session = external_key(ssl);
  return 1;
}

/* An attacker has its own external key and a copy of another client's ticket, but not its secret.
 * It offers both under a cipher suite that OpenSSL does not use with the ticket. */
static void external_keys(void)
{
  static const unsigned char guess[48] = "not the secret";
  struct server s = new_server();
  SSL_CTX *attacker = loop_client(TLS1_3_VERSION);
  SSL_SESSION *victims;
  SSL_CTX_set_psk_find_session_callback(s.ctx, find_key);
  SSL_CTX_set_psk_use_session_callback(attacker, use_key);
  check(SSL_CTX_set_ciphersuites(attacker, "TLS_AES_128_GCM_SHA256") == 1, "cipher suites");
  expect(connect_to(attacker, s.ctx, NULL, NULL, 0, NULL, NULL), RESUMED, "the external key");
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &victims, NULL), FULL, "the victim");
  for (int early = 0; early < 2; early++) {
    SSL_SESSION *copy = SSL_SESSION_dup(victims);
    check(SSL_SESSION_set1_master_key(copy, guess, sizeof guess) == 1, "a guess");
    expect(connect_to(attacker, s.ctx, NULL, copy, early, NULL, NULL), RESUMED, "the attack");
    SSL_SESSION_free(copy);
  }
  struct pprf_tickets_stats stats = stats_of(&s);
  check(stats.resumed == 0 && stats.early_accepted == 0 && stats.early_rejected == 0,
        "no ticket was redeemed");
  expect(connect_to(client, s.ctx, NULL, victims, 1, NULL, NULL), EARLY, "the victim's ticket");
  SSL_SESSION_free(victims);
  SSL_CTX_free(attacker);
  free_server(&s);
  end_test("an_external_key_does_not_burn_a_copied_ticket");
}

/* ---- secrets that OpenSSL keeps ---- */

/* Whether both ends' sessions have the same secret. */
static int same_secret(const SSL *a, const SSL *b)
{
  unsigned char x[48], y[48];
  size_t m = SSL_SESSION_get_master_key(SSL_get_session(a), x, sizeof x);
  size_t n = SSL_SESSION_get_master_key(SSL_get_session(b), y, sizeof y);
  return m > 0 && m == n && memcmp(x, y, n) == 0;
}

/* A ticket made after the handshake, when the source of its secret is wiped. */
static void late_tickets(void)
{
  struct server s = new_server();
  SSL *server = SSL_new(s.ctx), *peer = loop_join(client, server, NULL);
  SSL_SESSION *before = NULL, *late;
  size_t n;
  char buf[16];
  for (unsigned i = 0; i < 4; i++)
    (void)SSL_do_handshake(peer), (void)SSL_do_handshake(server);
  check(SSL_is_init_finished(server) && SSL_is_init_finished(peer), "connected");
  (void)SSL_read_ex(peer, buf, sizeof buf, &n);
  before = SSL_get1_session(peer);
  check(!same_secret(server, peer), "the server has forgotten the ticket's secret");
  check(SSL_SESSION_has_ticket(before), "tickets");
  check(SSL_new_session_ticket(server) == 1 && SSL_do_handshake(server) == 1, "one more");
  (void)SSL_read_ex(peer, buf, sizeof buf, &n);
  late = SSL_get1_session(peer);
  check(late != before && SSL_SESSION_has_ticket(late), "the client has it");
  check(stats_of(&s).not_issued == 1, "it is none of ours");
  expect(connect_to(client, s.ctx, NULL, late, 1, NULL, NULL), FULL, "nobody can decrypt it");
  expect(connect_to(client, s.ctx, NULL, before, 1, NULL, NULL), EARLY, "one of before");
  check(stats_of(&s).kept == 0, "all secrets were found");
  SSL_SESSION_free(before);
  SSL_SESSION_free(late);
  SSL_free(peer);
  SSL_free(server);
  free_server(&s);
  end_test("a_ticket_made_after_the_handshake_costs_a_full_handshake");
}

/* A secret that is not found is counted, and nothing is written into the SSL. */
static void secrets_not_found(void)
{
  struct server s = new_server();
  SSL *server = SSL_new(s.ctx), *peer = loop_join(client, server, NULL);
  char buf[16];
  size_t n = 0;
  hmac_fails = 1;
  for (unsigned i = 0; i < 4; i++)
    (void)SSL_do_handshake(peer), (void)SSL_do_handshake(server);
  hmac_fails = 0;
  check(SSL_is_init_finished(server) && SSL_is_init_finished(peer), "connected");
  check(stats_of(&s).kept == 1 && pprf_tickets_wiping(s.tickets) == 0, "counted, and it is said");
  check(SSL_write_ex(server, "answer", 6, &n) == 1, "the server goes on");
  check(SSL_read_ex(peer, buf, sizeof buf, &n) == 1 && n == 6 && memcmp(buf, "answer", 6) == 0,
        "the client reads it");
  check(same_secret(server, peer), "the session's secret is as it was");
  SSL_free(peer);
  SSL_free(server);
  free_server(&s);
  end_test("a_secret_that_is_not_found_is_counted_and_nothing_is_overwritten");
}

/* A daemon whose parent made the tickets and has ended. */
static void adopted(void)
{
  struct server s = new_server();
  SSL_SESSION *session;
  for (int adopt = 0; adopt < 2; adopt++) {
    expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
      if (adopt && pprf_tickets_adopt(s.tickets) != PPRF_OK)
        _exit(1);
      pprf_tickets_free(s.tickets);
      _exit(0);
    }
    check(waitpid(pid, &status, 0) == pid && status == 0, "child");
    expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), adopt ? FULL : EARLY,
           "after another process has freed the tickets");
    check((stats_of(&s).nodes == 0) == adopt, "seeds held");
    SSL_SESSION_free(session);
  }
  free_server(&s);
  end_test("a_process_that_adopts_the_tickets_wipes_them");
}

static int generated, decrypted;

static int on_generate(SSL *ssl, void *arg)
{
  generated += arg == &generated;
  return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), "mine", 4);
}

static SSL_TICKET_RETURN on_decrypt(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                    size_t len, SSL_TICKET_STATUS status, void *arg)
{
  void *data = NULL;
  size_t n = 0;
  (void)ssl, (void)name, (void)len;
  if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW)
    return SSL_TICKET_RETURN_IGNORE_RENEW;
  check(SSL_SESSION_get0_ticket_appdata(session, &data, &n) == 1 && n == 4 &&
          memcmp(data, "mine", 4) == 0,
        "the program's data came back");
  return (decrypted += arg == &generated) == 3 ? SSL_TICKET_RETURN_IGNORE_RENEW
                                               : SSL_TICKET_RETURN_USE_RENEW;
}

static void program_callbacks(void)
{
  struct server s = new_server();
  SSL_CTX *other = loop_server();
  SSL_SESSION *first, *second, *old;
  generated = decrypted = 0;
  check(pprf_tickets_set_session_ticket_cb(NULL, NULL, NULL, NULL) == PPRF_ERR_NULL, "NULL");
  check(pprf_tickets_set_session_ticket_cb(other, NULL, NULL, NULL) == PPRF_TLS_ERR_TAKEN,
        "no tickets");
  check(pprf_tickets_set_session_ticket_cb(s.ctx, on_generate, on_decrypt, &generated) == PPRF_OK,
        "set");
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  expect(connect_to(client, s.ctx, NULL, first, 1, &second, NULL), EARLY, "a ticket");
  expect(connect_to(client, s.ctx, NULL, first, 1, NULL, NULL), FULL, "the same ticket");
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &old, NULL), FULL, "TLS 1.2");
  expect(connect_to(client_1_2, s.ctx, NULL, old, 0, NULL, NULL), RESUMED, "its ticket");
  check(stats_of(&s).issued == 2 + 1 + 2 + 1, "no successor, though the program wants one");
  expect(connect_to(client, s.ctx, NULL, second, 0, NULL, NULL), FULL, "the program's refusal");
  expect(connect_to(client, s.ctx, NULL, second, 1, NULL, NULL), EARLY, "used nothing up");
  check(generated == 9 && decrypted == 4, "callbacks: %d, %d", generated, decrypted);
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
  SSL_SESSION_free(old);
  SSL_CTX_free(other);
  free_server(&s);
  end_test("the_programs_session_ticket_callbacks_are_called_too");
}

static void duplicate(void)
{
  struct server s = new_server();
  SSL *ssl = SSL_new(s.ctx), *copy;
  SSL_SESSION *first;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  expect(connect_to(client, NULL, ssl, first, 0, NULL, NULL), RESUMED, "a ticket");
  check(SSL_clear(ssl) == 1, "SSL_clear"); /* an SSL in use is shared, not copied */
  copy = SSL_dup(ssl);
  check(copy != NULL && copy != ssl, "SSL_dup");
  SSL_free(ssl);
  SSL_free(copy);
  SSL_SESSION_free(first);
  free_server(&s);
  end_test("a_copied_ssl_is_freed_once");
}

static void used_again(void)
{
  struct server s = new_server();
  SSL_SESSION *old, *other;
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &old, NULL), FULL, "no ticket");
  SSL *ssl = SSL_new(s.ctx);
  SSL *nobody = loop_join(client_1_2, ssl, old);
  (void)SSL_do_handshake(nobody);
  (void)SSL_do_handshake(ssl); /* the ticket is good, but the client leaves */
  SSL_free(nobody);
  check(SSL_clear(ssl) == 1, "SSL_clear");
  expect(connect_to(client, NULL, ssl, NULL, 0, &other, NULL), FULL, "the next client");
  expect(connect_to(client_1_2, s.ctx, NULL, old, 0, NULL, NULL), RESUMED, "the first client");
  SSL_free(ssl);
  SSL_SESSION_free(old);
  SSL_SESSION_free(other);
  free_server(&s);
  end_test("an_ssl_used_again_forgets_its_ticket");
}

/* More connections than one handshake may offer tickets.  Every second client has a ticket: in TLS
 * 1.2 it gets no other. */
static void used_often(void)
{
  struct server s = new_server();
  SSL *ssl = SSL_new(s.ctx);
  SSL_SESSION *session = NULL;
  for (unsigned i = 0; i < 80; i++) {
    SSL *peer = loop_join(client_1_2, ssl, session);
    for (unsigned turn = 0; turn < 4; turn++) {
      (void)SSL_do_handshake(peer);
      (void)SSL_do_handshake(ssl);
    }
    check(SSL_is_init_finished(peer) && SSL_session_reused(peer) == (session != NULL), "client %u",
          i);
    SSL_SESSION_free(session);
    session = session == NULL ? SSL_get1_session(peer) : NULL;
    (void)SSL_shutdown(peer);
    (void)SSL_shutdown(ssl);
    SSL_free(peer);
    check(SSL_clear(ssl) == 1, "SSL_clear");
  }
  SSL_free(ssl);
  SSL_SESSION_free(session);
  free_server(&s);
  end_test("an_ssl_may_be_used_again_and_again");
}

static int on_name(SSL *ssl, int *alert, void *arg)
{
  (void)alert;
  const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
  if (name != NULL && strcmp(name, "b") == 0)
    (void)SSL_set_SSL_CTX(ssl, arg);
  return SSL_TLSEXT_ERR_OK;
}

static void two_contexts(int attach_b)
{
  struct server a = new_server(), b = {loop_server(), NULL};
  SSL_SESSION *session, *renewed;
  if (attach_b) {
    SSL_CTX_free(b.ctx);
    b = new_server();
  }
  (void)SSL_CTX_set_tlsext_servername_callback(a.ctx, on_name);
  (void)SSL_CTX_set_tlsext_servername_arg(a.ctx, b.ctx);
  expect(connect_to(client, a.ctx, NULL, NULL, 0, &session, "b"), FULL, "b");
  check(stats_of(&a).issued == 2, "tickets of the first context");
  /* a context without tickets takes no early data */
  expect(connect_to(client, a.ctx, NULL, session, 1, &renewed, "b"), attach_b ? EARLY : RESUMED,
         "a ticket");
  expect(connect_to(client, a.ctx, NULL, session, 1, NULL, "b"), FULL, "the same ticket");
  expect(connect_to(client, a.ctx, NULL, renewed, 0, NULL, "b"), RESUMED, "the renewed ticket");
  expect(connect_to(client, a.ctx, NULL, renewed, 1, NULL, "b"), FULL, "the same ticket");
  struct pprf_tickets_stats stats = stats_of(&a);
  check(stats.early_accepted == (attach_b ? 1 : 0) && stats.foreign == 0 &&
          stats.early_accepted + stats.resumed == 2,
        "stats");
  if (attach_b)
    check(stats_of(&b).issued == 0, "none of the second's");
  SSL_SESSION_free(session);
  SSL_SESSION_free(renewed);
  free_server(&a);
  free_server(&b);
}

static void sni(void)
{
  two_contexts(1);
  two_contexts(0);
  end_test("with_sni_tickets_are_the_first_contexts_and_good_once");
}

static unsigned infos;
static void count_infos(const SSL *ssl, int where, int ret)
{
  (void)ssl, (void)where, (void)ret;
  infos++;
}

static void info_callbacks(void)
{
  struct server s = {loop_server(), NULL};
  SSL_SESSION *first, *second;
  infos = 0;
  check(pprf_tickets_new(&s.tickets, NULL) == PPRF_OK, "new");
  SSL_CTX_set_info_callback(s.ctx, count_infos);
  check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK, "attach");
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  check(infos > 5, "the program's callback was called");
  /* the connection's own callback replaces ours */
  SSL *ssl = SSL_new(s.ctx);
  SSL_set_info_callback(ssl, count_infos);
  expect(connect_to(client, NULL, ssl, first, 0, &second, NULL), RESUMED, "a ticket");
  check(stats_of(&s).resumed == 1, "punctured with the new ticket");
  expect(connect_to(client, s.ctx, NULL, first, 1, NULL, NULL), FULL, "the same ticket");
  expect(connect_to(client, s.ctx, NULL, second, 1, NULL, NULL), EARLY, "the renewed ticket");
  SSL_free(ssl);
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
  free_server(&s);
  end_test("other_info_callbacks_do_no_harm");
}

static void freed_tickets(void)
{
  struct server s = new_server(), t = new_server();
  SSL_SESSION *session;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  expect(connect_to(client, t.ctx, NULL, session, 1, NULL, NULL), FULL, "at another host");
  check(stats_of(&t).foreign == 1 && stats_of(&t).refused == 0, "foreign");
  expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), EARLY, "at its own");
  SSL_SESSION_free(session);
  free_server(&s);
  free_server(&t);
  end_test("a_ticket_at_another_host_costs_a_full_handshake");
}

/* ---- client requirements ---- */

/* How a context differs from the others, one rule at a time. */
enum rule { PLAIN, REQUIRED, CA_NAMES, DEPTH, ID_CONTEXT, TRUST, CRLS, RULES };
static const char *const rule_name[] = {"client certificates", "required", "CA names", "depth",
                                        "session id context",  "trust",    "CRLs"};

static int any_certificate(int good, X509_STORE_CTX *store)
{
  (void)good, (void)store;
  return 1;
}

static unsigned alerts;

static void count_alerts(const SSL *ssl, int where, int ret)
{
  (void)ssl;
  alerts += (where & SSL_CB_ALERT) != 0 && ret >> 8 == SSL3_AL_FATAL;
}

static unsigned own_alerts;

static void count_own(const SSL *ssl, int where, int ret)
{
  count_alerts(ssl, where, ret);
  own_alerts += (where & SSL_CB_ALERT) != 0;
}

/* A context that accepts every client certificate and differs in one rule from one that requests
 * them.  base: the context that CA_NAMES to CRLS differ from; for REQUIRED, one that requests
 * none. */
static SSL_CTX *asking(pprf_tickets *tickets, enum rule rule, int base)
{
  SSL_CTX *ctx = loop_server();
  int asks = rule != PLAIN && !(base && rule == REQUIRED);
  X509_STORE *store = SSL_CTX_get_cert_store(ctx);
  X509_NAME *name = X509_NAME_new();
  STACK_OF(X509_NAME) *names = sk_X509_NAME_new_null();
  const char *ca = rule == CA_NAMES && !base ? "second" : "first";
  check(SSL_CTX_set_session_id_context(
          ctx, (const unsigned char *)(rule == ID_CONTEXT && !base ? "B" : "A"), 1) == 1 &&
          X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)ca, -1, -1,
                                     0) == 1 &&
          sk_X509_NAME_push(names, name) == 1,
        "rules");
  SSL_CTX_set_client_CA_list(ctx, names);
  SSL_CTX_set_verify(ctx,
                     asks ? SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT : SSL_VERIFY_NONE,
                     any_certificate);
  if (rule == DEPTH && !base)
    SSL_CTX_set_verify_depth(ctx, 3);
  if (rule == TRUST && !base)
    check(X509_STORE_add_cert(store, SSL_CTX_get0_certificate(ctx)) == 1, "trust");
  if (rule == CRLS && !base)
    check(X509_STORE_set_flags(store, X509_V_FLAG_CRL_CHECK) == 1, "CRLs");
  SSL_CTX_set_info_callback(ctx, count_alerts);
  if (tickets != NULL)
    check(pprf_tickets_attach(ctx, tickets) == PPRF_OK, "attach");
  return ctx;
}

/* Switch contexts as servers do after SNI: OpenSSL's function keeps the connection's verify
 * mode. */
static void choose(SSL *ssl, SSL_CTX *ctx)
{
  (void)SSL_set_SSL_CTX(ssl, ctx);
  SSL_set_verify(ssl, SSL_CTX_get_verify_mode(ctx), any_certificate);
  SSL_set_verify_depth(ssl, SSL_CTX_get_verify_depth(ctx));
}

/* Whether the current client sends a name: in TLS 1.2 SSL_get_servername returns only a resumed
 * session's name. */
static int named;

static int choose_by_name(SSL *ssl, int *alert, void *arg)
{
  (void)alert;
  if (named)
    choose(ssl, arg);
  return SSL_TLSEXT_ERR_OK;
}

static int choose_context_alone(SSL *ssl, int *alert, void *arg)
{
  (void)alert;
  if (named)
    (void)SSL_set_SSL_CTX(ssl, arg);
  return SSL_TLSEXT_ERR_OK;
}

static int choose_by_hello(SSL *ssl, int *alert, void *arg)
{
  const unsigned char *name;
  size_t n;
  (void)alert;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_server_name, &name, &n) == 1)
    choose(ssl, arg);
  return SSL_CLIENT_HELLO_SUCCESS;
}

static SSL_CTX *with_certificate(int max_version)
{
  SSL_CTX *ctx = loop_client(max_version), *of = loop_server();
  check(SSL_CTX_use_certificate(ctx, SSL_CTX_get0_certificate(of)) == 1 &&
          SSL_CTX_use_PrivateKey(ctx, SSL_CTX_get0_privatekey(of)) == 1,
        "a client's certificate");
  SSL_CTX_free(of);
  return ctx;
}

static enum outcome connect_named(SSL_CTX *from, SSL_CTX *ctx, SSL_SESSION *session, int early,
                                  SSL_SESSION **renewed)
{
  named = 1;
  enum outcome o = connect_to(from, ctx, NULL, session, early, renewed, "b");
  named = 0;
  return o;
}

/* Expect a connection that ends with one alert and delivers no early data. */
static void expect_alert(SSL_CTX *from, SSL_CTX *ctx, SSL *ssl, SSL_SESSION *session, int early,
                         const char *name, const char *what)
{
  alerts = 0;
  named = name != NULL;
  struct loop_result r = loop_connect(from, ctx, ssl, session, early, name);
  named = 0;
  check(!r.server_done && !r.early && alerts == 1, "%s: done %d, early %d, %u alerts", what,
        r.server_done, r.early, alerts);
  SSL_SESSION_free(r.session);
}

/* Use tickets of one pool in two contexts, chosen by address and by name.  early: in TLS 1.3, with
 * early data. */
static void between(SSL_CTX *from, int early, enum rule rule, int swapped)
{
  struct server s = new_server();
  SSL_CTX *a = asking(s.tickets, rule, !swapped), *b = asking(s.tickets, rule, swapped);
  SSL_SESSION *of_a, *of_b, *of_name;
  enum outcome good = early ? EARLY : RESUMED;
  char what[100];
#define SAY(text)                                                                                  \
  (snprintf(what, sizeof what, "%s, %s%s: %s", rule_name[rule],                                    \
            early                                                   ? "early" \
            : SSL_CTX_get_max_proto_version(from) == TLS1_3_VERSION ? "1.3"                        \
                                                                    : "1.2",  \
            swapped ? ", swapped" : "", text),                                                     \
   what)
  expect(connect_to(from, a, NULL, NULL, 0, &of_a, NULL), FULL, SAY("a"));
  expect(connect_to(from, b, NULL, NULL, 0, &of_b, NULL), FULL, SAY("b"));
  for (unsigned i = 0; i < 2; i++)
    expect(connect_to(from, b, NULL, of_a, early, NULL, NULL), FULL, SAY("a's ticket at b"));
  /* chosen before OpenSSL looks up a session */
  SSL_CTX_set_client_hello_cb(a, choose_by_hello, b);
  expect(connect_named(from, a, of_a, early, NULL), FULL, SAY("a's ticket by hello"));
  expect(connect_named(from, a, NULL, 0, &of_name), FULL, SAY("b by hello"));
  expect(connect_named(from, a, of_name, early, NULL), good, SAY("its ticket"));
  expect(connect_named(from, a, of_name, early, NULL), FULL, SAY("its ticket again"));
  SSL_SESSION_free(of_name);
  SSL_CTX_set_client_hello_cb(a, NULL, NULL);
  /* and after */
  (void)SSL_CTX_set_tlsext_servername_callback(a, choose_by_name);
  (void)SSL_CTX_set_tlsext_servername_arg(a, b);
  expect(connect_named(from, a, of_b, early, NULL), FULL, SAY("b's own ticket by name"));
  expect(connect_named(from, a, NULL, 0, &of_name), FULL, SAY("b by name"));
  expect_alert(from, a, NULL, of_a, early, "b", SAY("a's ticket by name"));
  expect_alert(from, a, NULL, of_name, 0, NULL, SAY("a name's ticket without one"));
  if (rule == REQUIRED || rule == CA_NAMES) {
    (void)SSL_CTX_set_tlsext_servername_callback(a, choose_context_alone);
    expect_alert(from, a, NULL, of_a, early, "b", SAY("the context is chosen, the mode is not"));
    (void)SSL_CTX_set_tlsext_servername_callback(a, choose_by_name);
  }
  SSL *ssl = SSL_new(a); /* with a callback of its own */
  SSL_set_info_callback(ssl, count_own);
  own_alerts = 0;
  if (SSL_CTX_get_max_proto_version(from) == TLS1_3_VERSION)
    expect_alert(from, NULL, ssl, of_a, early, "b", SAY("a callback of the SSL's own"));
  check(SSL_CTX_get_max_proto_version(from) != TLS1_3_VERSION || own_alerts == 1, "it is called");
  SSL_free(ssl);
  check(stats_of(&s).resumed + stats_of(&s).early_accepted == 1, "%s: used up %d", rule_name[rule],
        (int)(stats_of(&s).resumed + stats_of(&s).early_accepted));
  /* none was used up */
  expect(connect_named(from, a, of_name, early, NULL), good, SAY("the name's ticket"));
  expect(connect_to(from, b, NULL, of_b, early, NULL, NULL), good, SAY("b's ticket"));
  expect(connect_to(from, a, NULL, of_a, early, NULL, NULL), good, SAY("a's ticket"));
#undef SAY
  SSL_SESSION_free(of_a);
  SSL_SESSION_free(of_b);
  SSL_SESSION_free(of_name);
  SSL_CTX_free(a);
  SSL_CTX_free(b);
  free_server(&s);
}

static void client_rules(void)
{
  SSL_CTX *from = with_certificate(TLS1_3_VERSION), *from_1_2 = with_certificate(TLS1_2_VERSION);
  for (enum rule rule = REQUIRED; rule < RULES; rule++)
    for (int swapped = 0; swapped < 2; swapped++) {
      between(from, 0, rule, swapped);
      between(from, 1, rule, swapped);
      between(from_1_2, 0, rule, swapped);
    }
  SSL_CTX_free(from);
  SSL_CTX_free(from_1_2);
  end_test("a_ticket_is_good_only_under_the_client_requirements_it_was_issued_under");
}

/* There may be many certificates, and any client that names the context makes every handshake
 * digest them. */
static void trusted_certificates(void)
{
  SSL_CTX *from[] = {with_certificate(TLS1_3_VERSION), with_certificate(TLS1_2_VERSION)};
  for (unsigned i = 0; i < 4; i++) {
    int attached = i / 2 == 0;
    struct server s = new_server();
    SSL_CTX *b = asking(attached ? s.tickets : NULL, TRUST, 0);
    SSL_SESSION *session;
    (void)SSL_CTX_set_tlsext_servername_callback(s.ctx, choose_by_name);
    (void)SSL_CTX_set_tlsext_servername_arg(s.ctx, b);
    certificates_digested = 0;
    expect(connect_named(from[i % 2], s.ctx, NULL, 0, &session), FULL, "no ticket");
    check(certificates_digested == !attached, "a full handshake: %u", certificates_digested);
    expect(connect_named(from[i % 2], s.ctx, session, 0, NULL), RESUMED, "a ticket");
    check(certificates_digested == 2 * !attached, "and a resumption: %u", certificates_digested);
    SSL_SESSION_free(session);
    SSL_CTX_free(b);
    free_server(&s);
  }
  SSL_CTX_free(from[0]);
  SSL_CTX_free(from[1]);
  end_test("trusted_certificates_are_digested_when_tickets_are_attached_or_once_in_a_handshake");
}

static int ask_for_one(SSL *ssl, void *arg)
{
  (void)arg;
  SSL_set_verify(ssl, SSL_VERIFY_PEER, any_certificate);
  return 1;
}

/* OpenSSL calls it only in full handshakes: a resumption requests no certificate. */
static void rules_of_a_certificate_callback(void)
{
  for (unsigned i = 0; i < 2; i++) {
    SSL_CTX *from = with_certificate(i == 0 ? TLS1_3_VERSION : TLS1_2_VERSION);
    struct server s = new_server();
    SSL_SESSION *session;
    SSL_CTX *ctx = asking(s.tickets, PLAIN, 0);
    SSL_CTX_set_cert_cb(ctx, ask_for_one, NULL);
    expect(connect_to(from, ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    expect_alert(from, ctx, NULL, session, 0, NULL, "a rule of a certificate callback");
    SSL_SESSION_free(session);
    SSL_CTX_free(ctx);
    SSL_CTX_free(from);
    free_server(&s);
  }
  end_test("a_ticket_under_rules_of_a_certificate_callback_ends_in_an_alert");
}

/* OpenSSL ends every resumption if client certificates are requested without a session id
 * context. */
static void without_id_context(void)
{
  for (unsigned i = 0; i < 2; i++) {
    SSL_CTX *from = with_certificate(i == 0 ? TLS1_3_VERSION : TLS1_2_VERSION);
    struct server s = {loop_server(), NULL};
    SSL_SESSION *session, *renewed;
    enum outcome good = i == 0 ? EARLY : RESUMED;
    check(pprf_tickets_new(&s.tickets, NULL) == PPRF_OK, "new");
    SSL_CTX_set_verify(s.ctx, SSL_VERIFY_PEER, any_certificate);
    SSL *before[] = {SSL_new(s.ctx), SSL_new(s.ctx)};
    check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK, "attach");
    expect(connect_to(from, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    expect(connect_to(from, s.ctx, NULL, session, 1, &renewed, NULL), good, "a ticket");
    SSL_SESSION_free(session);
    SSL_SESSION_free(renewed);
    /* existing connections */
    for (unsigned j = 0; j < 2; j++) {
      SSL_SESSION *offered = j == 0 ? NULL : session;
      expect(connect_to(from, NULL, before[j], offered, 0, j == 0 ? &session : NULL, NULL), FULL,
             "without a session id context");
      SSL_free(before[j]);
    }
    SSL_SESSION_free(session);
    check(pprf_tickets_detach(s.ctx) == PPRF_OK && clients_id_bytes(s.ctx) == 0,
          "there is none again");
    /* the program's stays */
    check(SSL_CTX_set_session_id_context(s.ctx, (const unsigned char *)"mine", 4) == 1 &&
            pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK && clients_id_bytes(s.ctx) == 4 &&
            pprf_tickets_detach(s.ctx) == PPRF_OK && clients_id_bytes(s.ctx) == 4,
          "the program's own");
    SSL_CTX_free(from);
    free_server(&s);
  }
  end_test("a_context_that_asks_for_certificates_without_a_session_id_context_gets_one");
}

/* Whether a server that gets this ClientHello resumes with its ticket. */
static int takes(SSL_CTX *ctx, const uint8_t *hello, size_t n)
{
  SSL *ssl = SSL_new(ctx);
  BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
  (void)BIO_set_mem_eof_return(in, -1);
  check(BIO_write(in, hello, (int)n) == (int)n, "a hello");
  SSL_set_bio(ssl, in, out);
  SSL_set_accept_state(ssl);
  (void)SSL_do_handshake(ssl);
  int taken = SSL_session_reused(ssl);
  SSL_free(ssl);
  ERR_clear_error();
  return taken;
}

/* An attacker who sees first flights sends a whole ClientHello, binder included, before or after
 * the client's.  Only that order matters: no copy has another client's ticket. */
static void copied_hellos(void)
{
  enum { CLIENTS = 300 };
  struct server s = new_server();
  unsigned taken[2][2][2] = {{{0}}}; /* [TLS 1.2][the copy came first][taken from the copy] */
  for (unsigned i = 0; i < 4 * CLIENTS; i++) {
    unsigned old = i % 2, first = i / 2 % 2;
    SSL_SESSION *session;
    expect(connect_to(old ? client_1_2 : client, s.ctx, NULL, NULL, 0, &session, NULL), FULL,
           "no ticket");
    SSL *from = SSL_new(old ? client_1_2 : client);
    BIO *out = BIO_new(BIO_s_mem());
    SSL_set_bio(from, BIO_new(BIO_s_mem()), out);
    SSL_set_connect_state(from);
    check(SSL_set_session(from, session) == 1, "a session");
    (void)SSL_do_handshake(from);
    uint8_t *hello;
    size_t n = (size_t)BIO_get_mem_data(out, &hello);
    for (unsigned j = 0; j < 2; j++)
      taken[old][first][j == !first] += takes(s.ctx, hello, n) != 0;
    SSL_free(from);
    SSL_SESSION_free(session);
  }
  tap_note("of %d clients whose ClientHello was copied, their own was taken when the copy came "
           "first: %u, second: %u; in TLS 1.2: %u, %u",
           CLIENTS, taken[0][1][0], taken[0][0][0], taken[1][1][0], taken[1][0][0]);
  check(taken[0][1][0] == 0 && taken[0][1][1] == CLIENTS && taken[0][0][0] == CLIENTS &&
          taken[0][0][1] == 0,
        "TLS 1.3: who comes first has the ticket, the copies %u and %u times", taken[0][1][1],
        taken[0][0][1]);
  check(taken[1][1][0] == CLIENTS && taken[1][0][0] == CLIENTS,
        "TLS 1.2: a copy takes it from nobody");
  free_server(&s);
  end_test("a_copied_client_hello_takes_the_ticket_if_it_comes_first_and_none_in_tls_1_2");
}

/* Decrypt a ticket by the format in docs/tickets.md: its content and its client requirements. */
static size_t content_of(const struct server *s, const uint8_t *ticket, size_t n, uint8_t *out,
                         uint8_t asked[CLIENTS_BYTES])
{
  SSL *ssl = SSL_new(s->ctx);
  struct clients_anchors other = {0};
  uint8_t value[PPRF_SEED_BYTES], text[22 + CLIENTS_BYTES] = "libpprf tls ticket, 2", okm[48],
                                            mac[32];
  struct origin origin;
  struct ticket_keys keys;
  uint64_t number;
  int length = 0, last = 0;
  unsigned mac_bytes = 0;
  EVP_CIPHER_CTX *cipher = EVP_CIPHER_CTX_new();
  check(clients_digest(ssl, NULL, &other, text + 22) &&
          pool_open(s->tickets->keys, ticket_clock(), ticket, &number, &origin, value) == PPRF_OK &&
          ticket_derive(&origin, value, &keys) &&
          HMAC(EVP_sha384(), &keys, sizeof keys, text, sizeof text, okm, NULL) != NULL,
        "the ticket's keys");
  check(HMAC(EVP_sha256(), okm + 16, 16, ticket, n - 32, mac, &mac_bytes) != NULL &&
          memcmp(mac, ticket + n - 32, 32) == 0,
        "its MAC");
  check(EVP_DecryptInit_ex(cipher, EVP_aes_128_cbc(), NULL, okm, ticket + 16) == 1 &&
          EVP_DecryptUpdate(cipher, out, &length, ticket + 32, (int)n - 64) == 1 &&
          EVP_DecryptFinal_ex(cipher, out + length, &last) == 1,
        "its content");
  for (unsigned i = 0; i < CLIENTS_BYTES; i++)
    asked[i] = ticket[16 + i] ^ okm[32 + i] ^ text[22 + i];
  EVP_CIPHER_CTX_free(cipher);
  clients_forget(&other);
  SSL_free(ssl);
  return (size_t)(length + last);
}

/* Before tickets recorded client requirements, they had the format of pprf_tickets_seal. */
static void old_tickets(void)
{
  static const uint8_t nothing_else[CLIENTS_BYTES];
  struct server s = new_server();
  uint8_t sealed[4096], encoded[8192], content[4096], asked[CLIENTS_BYTES];
  for (unsigned i = 0; i < 2; i++) {
    SSL_CTX *from = i == 0 ? client : client_1_2;
    SSL_SESSION *session;
    const unsigned char *ticket, *in = encoded;
    unsigned char *out = encoded;
    size_t n, room = sizeof sealed;
    uint64_t number;
    expect(connect_to(from, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    SSL_SESSION_get0_ticket(session, &ticket, &n);
    check(pprf_tickets_open(s.tickets, ticket, n, sealed, &room, &number) == PPRF_ERR_FORMAT,
          "the functions for bytes do not take one of OpenSSL's");
    size_t bytes = content_of(&s, ticket, n, content, asked);
    check(memcmp(asked, nothing_else, sizeof asked) == 0,
          "what is asked in the end is what was asked at the beginning");
    room = sizeof sealed;
    check(pprf_tickets_seal(s.tickets, content, bytes, sealed, &room) == PPRF_OK && room == n,
          "an old ticket");
    int der = i2d_SSL_SESSION(session, NULL);
    if (!check(der > 0 && (size_t)der <= sizeof encoded && i2d_SSL_SESSION(session, &out) == der,
               "encode"))
      exit(1);
    uint8_t *at = memmem(encoded, (size_t)der, ticket, n);
    if (!check(at != NULL, "the ticket in its session"))
      exit(1);
    memcpy(at, sealed, n);
    SSL_SESSION *old = d2i_SSL_SESSION(NULL, &in, der);
    expect(connect_to(from, s.ctx, NULL, old, 1, NULL, NULL), FULL, "the old ticket");
    expect(connect_to(from, s.ctx, NULL, session, 1, NULL, NULL), i == 0 ? EARLY : RESUMED,
           "the new one");
    SSL_SESSION_free(session);
    SSL_SESSION_free(old);
  }
  free_server(&s);
  end_test("a_ticket_without_client_requirements_costs_a_full_handshake");
}

static unsigned infos_before;

static int replace_info(SSL *ssl, int *alert, void *arg)
{
  (void)alert, (void)arg;
  SSL_set_info_callback(ssl, count_infos);
  return SSL_TLSEXT_ERR_OK;
}

/* A servername callback sets the program's info callback after a ticket has been accepted. */
static void unheard_later(void)
{
  struct server s = new_server();
  SSL_SESSION *session;
  (void)SSL_CTX_set_tlsext_servername_callback(s.ctx, replace_info);
  for (unsigned i = 0; i < 2; i++) {
    expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    check(!SSL_SESSION_has_ticket(session), "none is given");
    expect(connect_to(client_1_2, s.ctx, NULL, session, 0, NULL, NULL), FULL, "its session");
    SSL_SESSION_free(session);
  }
  check(stats_of(&s).issued == 0, "none is issued");
  free_server(&s);
}

/* In TLS 1.2 only the info callback punctures: unless it is ours, no ticket is accepted. */
static void unheard_ends(void)
{
  struct server s = new_server();
  SSL_CTX *other = loop_server();
  SSL_SESSION *session, *second;
  SSL_CTX_set_info_callback(other, count_infos);
  (void)SSL_CTX_set_tlsext_servername_callback(s.ctx, on_name);
  (void)SSL_CTX_set_tlsext_servername_arg(s.ctx, other);
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &session, "b"), FULL, "no ticket");
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &second, NULL), FULL, "no ticket");
  for (unsigned i = 0; i < 2; i++) {
    SSL *ssl = SSL_new(s.ctx);
    SSL_set_info_callback(ssl, count_infos);
    expect(connect_to(client_1_2, s.ctx, ssl, session, 0, NULL, "b"), FULL,
           "a callback of the SSL's own");
    SSL_free(ssl);
  }
  check(stats_of(&s).resumed == 0, "none was redeemed");
  unsigned before = infos;
  expect(connect_to(client_1_2, s.ctx, NULL, session, 0, NULL, "b"), RESUMED,
         "a context without tickets");
  check(infos > before, "its callback is called");
  check(stats_of(&s).resumed == 1, "the ticket is punctured: %d", (int)stats_of(&s).resumed);
  expect(connect_to(client_1_2, s.ctx, NULL, session, 0, NULL, "b"), FULL, "once");
  /* detached in the handshake */
  SSL *half = SSL_new(s.ctx), *peer = loop_join(client_1_2, half, second);
  (void)SSL_do_handshake(peer);
  (void)SSL_do_handshake(half);
  check(pprf_tickets_detach(s.ctx) == PPRF_OK, "detach");
  (void)SSL_do_handshake(peer);
  check(SSL_do_handshake(half) == 1 && SSL_session_reused(half) == 1, "a ticket");
  check(stats_of(&s).resumed == 2, "is punctured all the same");
  SSL_free(peer);
  SSL_free(half);
  SSL_SESSION_free(session);
  SSL_SESSION_free(second);
  SSL_CTX_free(other);
  free_server(&s);
  unheard_later();
  end_test("a_tls_1_2_ticket_is_taken_only_if_the_handshakes_end_is_reported");
}

/* Early data is accepted and no ticket is sent, so the open connection's session is the
 * ticket's. */
static void no_successor(void)
{
  struct server s = new_server();
  unsigned char secret[64], held[64];
  SSL_SESSION *session;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  size_t n = SSL_SESSION_get_master_key(session, secret, sizeof secret);
  SSL *ssl = SSL_new(s.ctx);
  check(SSL_set_num_tickets(ssl, 0) == 1, "none is sent");
  expect(connect_to(client, s.ctx, ssl, session, 1, NULL, NULL), EARLY, "a ticket");
  check(SSL_SESSION_get_master_key(SSL_get_session(ssl), held, sizeof held) == n && n >= 32 &&
          memcmp(secret, held, n) != 0,
        "its secret is overwritten");
  check(stats_of(&s).kept == 0, "no secret is said to be kept");
  SSL_free(ssl);
  SSL_SESSION_free(session);
  free_server(&s);
  end_test("the_secret_of_a_ticket_without_a_successor_is_overwritten");
}

static void detaching(void)
{
  struct server s = {loop_server(), NULL};
  struct pprf_tickets_options options = {.size = sizeof options, .depth = 10, .suite = suite};
  SSL_SESSION *session, *own, *first;
  check(pprf_tickets_detach(NULL) == PPRF_ERR_NULL && pprf_tickets_detach(s.ctx) == PPRF_OK,
        "nothing to detach");
  (void)SSL_CTX_set_max_early_data(s.ctx, 77);
  (void)SSL_CTX_set_recv_max_early_data(s.ctx, 99);
  (void)SSL_CTX_set_timeout(s.ctx, 1234);
  (void)SSL_CTX_set_session_cache_mode(s.ctx, SSL_SESS_CACHE_SERVER);
  (void)SSL_CTX_set_options(s.ctx, SSL_OP_NO_TICKET);
  SSL_CTX_set_info_callback(s.ctx, count_infos);
  uint64_t before = SSL_CTX_get_options(s.ctx);
  for (unsigned round = 0; round < 2; round++) {
    check(pprf_tickets_new(&s.tickets, &options) == PPRF_OK &&
            pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK,
          "attach");
    infos_before = infos;
    expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    check(infos > infos_before, "the program's info callback");
    expect(connect_to(client, s.ctx, NULL, session, 1, &first, NULL), EARLY, "a ticket");
    SSL_SESSION_free(session);
    check(pprf_tickets_detach(s.ctx) == PPRF_OK && pprf_tickets_detach(s.ctx) == PPRF_OK, "detach");
    check(SSL_CTX_get_max_early_data(s.ctx) == 77 && SSL_CTX_get_recv_max_early_data(s.ctx) == 99 &&
            SSL_CTX_get_timeout(s.ctx) == 1234 &&
            SSL_CTX_get_session_cache_mode(s.ctx) == SSL_SESS_CACHE_SERVER &&
            SSL_CTX_get_options(s.ctx) == before && SSL_CTX_get_info_callback(s.ctx) == count_infos,
          "what was set before");
    struct pprf_tickets_stats stats = stats_of(&s);
    (void)SSL_CTX_clear_options(s.ctx, SSL_OP_NO_TICKET);
    /* otherwise tickets are stateful and bypass the callbacks */
    (void)SSL_CTX_set_options(s.ctx, SSL_OP_NO_ANTI_REPLAY);
    expect(connect_to(client, s.ctx, NULL, first, 1, &own, NULL), FULL, "a ticket of before");
    expect(connect_to(client, s.ctx, NULL, own, 0, NULL, NULL), RESUMED, "OpenSSL's own");
    (void)SSL_CTX_clear_options(s.ctx, SSL_OP_NO_ANTI_REPLAY);
    (void)SSL_CTX_set_options(s.ctx, before);
    check(stats_of(&s).issued == stats.issued && stats_of(&s).refused == stats.refused &&
            stats_of(&s).foreign == stats.foreign,
          "the tickets were not asked");
    SSL_SESSION_free(first);
    SSL_SESSION_free(own);
    pprf_tickets_free(s.tickets);
  }
  SSL_CTX_free(s.ctx);
  end_test("detaching_gives_back_what_was_set_and_tickets_can_be_attached_again");
}

/* If OpenSSL refuses a setting, the call fails.  Then an SSL_CTX is as it was, and one that loses
 * its tickets has lost them. */
static void refused_settings(void)
{
  struct server s = new_server();
  SSL_CTX *ctx = loop_server();
  (void)SSL_CTX_set_max_early_data(ctx, 77);
  (void)SSL_CTX_set_recv_max_early_data(ctx, 99);
  for (int k = 0; k < 2; k++) {
    settings_until_refused = k;
    check(pprf_tickets_attach(ctx, s.tickets) == PPRF_TLS_ERR_SSL, "attach, setting %d", k);
    settings_until_refused = -1;
    check(SSL_CTX_get_max_early_data(ctx) == 77 && SSL_CTX_get_recv_max_early_data(ctx) == 99 &&
            SSL_CTX_get_info_callback(ctx) == NULL,
          "attach, setting %d: what was set before", k);
    check(pprf_tickets_attach(ctx, s.tickets) == PPRF_OK, "attach");
    settings_until_refused = k;
    check(pprf_tickets_detach(ctx) == PPRF_TLS_ERR_SSL, "detach, setting %d", k);
    settings_until_refused = -1;
    check(SSL_CTX_get_info_callback(ctx) == NULL && pprf_tickets_detach(ctx) == PPRF_OK,
          "detached all the same");
    (void)SSL_CTX_set_max_early_data(ctx, 77);
    (void)SSL_CTX_set_recv_max_early_data(ctx, 99);
  }
  SSL_CTX_free(ctx);
  free_server(&s);
  end_test("settings_that_openssl_refuses_are_an_error");
}

/* Tickets are freed while connections and the SSL_CTX hold them. */
static void freed_in_use(int detach)
{
  struct server s = new_server();
  SSL_SESSION *session;
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  SSL *half = SSL_new(s.ctx), *fresh = SSL_new(s.ctx);
  SSL *peer = loop_join(client, half, session), *other = loop_join(client, fresh, session);
  (void)SSL_do_handshake(peer);
  (void)SSL_do_handshake(half); /* the ticket was found good */
  if (detach)
    check(pprf_tickets_detach(s.ctx) == PPRF_OK, "detach");
  pprf_tickets_free(s.tickets);
  for (unsigned i = 0; i < 4; i++) {
    (void)SSL_do_handshake(peer);
    (void)SSL_do_handshake(half);
    (void)SSL_do_handshake(other);
    (void)SSL_do_handshake(fresh);
  }
  check(SSL_is_init_finished(half) && SSL_is_init_finished(peer), "the connection goes on");
  check(SSL_is_init_finished(fresh) && !SSL_session_reused(fresh), "a full handshake");
  expect(connect_to(client, s.ctx, NULL, session, 1, NULL, NULL), FULL, "the ticket");
  SSL_free(peer), SSL_free(half), SSL_free(other), SSL_free(fresh);
  SSL_SESSION_free(session);
  SSL_CTX_free(s.ctx);
}

static void free_first(void)
{
  freed_in_use(0);
  freed_in_use(1);
  end_test("tickets_may_be_freed_before_what_uses_them");
}

static void early_data_per_context(void)
{
  struct server a = new_server(), b = {loop_server(), a.tickets}, c = {loop_server(), a.tickets};
  SSL_SESSION *session, *small;
  check(pprf_tickets_attach_early(b.ctx, b.tickets, (uint32_t)INT32_MAX + 1) ==
            PPRF_TLS_ERR_OPTION &&
          pprf_tickets_attach_early(NULL, b.tickets, 0) == PPRF_ERR_NULL &&
          pprf_tickets_attach_early(b.ctx, NULL, 0) == PPRF_ERR_NULL,
        "wrong arguments");
  check(pprf_tickets_attach_early(b.ctx, b.tickets, 0) == PPRF_OK &&
          pprf_tickets_attach_early(b.ctx, b.tickets, 0) == PPRF_TLS_ERR_TAKEN &&
          pprf_tickets_attach_early(c.ctx, c.tickets, 5000) == PPRF_OK,
        "attach");
  expect(connect_to(client, a.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  check(SSL_SESSION_get_max_early_data(session) == 16384, "the options'");
  expect(connect_to(client, b.ctx, NULL, session, 1, NULL, NULL), RESUMED, "where there is none");
  expect(connect_to(client, b.ctx, NULL, NULL, 0, &small, NULL), FULL, "no ticket");
  check(SSL_SESSION_get_max_early_data(small) == 0, "none");
  SSL_SESSION_free(small);
  expect(connect_to(client, c.ctx, NULL, NULL, 0, &small, NULL), FULL, "no ticket");
  check(SSL_SESSION_get_max_early_data(small) == 5000, "its own");
  expect(connect_to(client, c.ctx, NULL, small, 1, NULL, NULL), EARLY, "its ticket");
  expect(connect_to(client, a.ctx, NULL, small, 1, NULL, NULL), FULL, "the same at another");
  SSL_SESSION_free(session);
  SSL_SESSION_free(small);
  /* contexts chosen by name: none, without tickets, with their own */
  SSL_CTX *plain = loop_server(), *chosen[] = {b.ctx, plain, c.ctx};
  (void)SSL_CTX_set_tlsext_servername_callback(a.ctx, on_name);
  for (unsigned i = 0; i < 3; i++) {
    (void)SSL_CTX_set_tlsext_servername_arg(a.ctx, chosen[i]);
    expect(connect_to(client, a.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
    check(SSL_SESSION_get_max_early_data(session) == 16384, "the options'");
    expect(connect_to(client, a.ctx, NULL, session, 1, &small, "b"), i == 2 ? EARLY : RESUMED,
           i == 0   ? "a name with none"
           : i == 1 ? "one without tickets"
                    : "one with early data");
    SSL_SESSION_free(session);
    SSL_SESSION_free(small);
    expect(connect_to(client, a.ctx, NULL, NULL, 0, &small, "b"), FULL, "no ticket");
    check(i != 0 || SSL_SESSION_get_max_early_data(small) == 0, "a ticket of a name with none");
    SSL_SESSION_free(small);
  }
  check(stats_of(&a).early_accepted == 2 && stats_of(&a).early_rejected == 0, "early data");
  expect(connect_to(client, a.ctx, NULL, NULL, 0, &session, NULL), FULL, "no ticket");
  expect(connect_to(client, a.ctx, NULL, NULL, 0, &small, NULL), FULL, "no ticket");
  SSL_CTX_free(plain);
  SSL_SESSION_free(session);
  SSL_SESSION_free(small);
  SSL_CTX_free(b.ctx);
  SSL_CTX_free(c.ctx);
  free_server(&a);
  end_test("the_amount_of_early_data_is_each_contexts");
}

/* Whether the n bytes at p begin with `same` of these bytes. */
static int holds(const unsigned char *p, unsigned byte, size_t same, size_t n)
{
  size_t good = p != NULL && __wrap_malloc_usable_size((void *)(uintptr_t)p) >= n;
  for (size_t i = 0; good && i < same; i++)
    good = p[i] == byte;
  return (int)good;
}

/* OpenSSL's allocator can only be replaced before its first allocation, so test in a child. */
static int wiping_memory(void)
{
  static const size_t size[] = {100, 101, 5000, 2600, 64, 1, 40000, 16};
  guarded = 1;
  if (pprf_tickets_wipe_openssl() != PPRF_OK)
    return 1;
  unsigned char *p = NULL;
  size_t before = 0;
  for (unsigned i = 0; i < sizeof size / sizeof *size; i++) {
    p = OPENSSL_realloc(p, size[i]);
    if (!holds(p, i, before < size[i] ? before : size[i], size[i]))
      return 2;
    before = size[i];
    memset(p, (int)i + 1, __wrap_malloc_usable_size(p));
  }
  if (__wrap_malloc_usable_size(p) >= 40000)
    return 3;
  p = OPENSSL_realloc(p, 0);
  unsigned char *q = OPENSSL_malloc(100);
  if (p != NULL || !holds(q, 0, 0, 100))
    return 4;
  memset(q, 7, 100);
  OPENSSL_free(q);
  OPENSSL_free(NULL);
  for (unsigned i = 0; i < BLOCKS; i++)
    if (block[i].at != NULL)
      return 5;
  return not_wiped != 0 ? 6 : 0;
}

static void openssls_memory(void)
{
  int status = -1;
  pid_t pid = fork();
  if (pid == 0)
    _exit(wiping_memory());
  check(waitpid(pid, &status, 0) == pid && status == 0, "the child's status is %#x",
        (unsigned)status);
  end_test("what_openssl_frees_is_wiped_and_what_it_moves_is_kept_whole");
}

/* A foreign allocator, whose blocks are not malloc's. */
enum { BEFORE = 16 };

static void *strangers_malloc(size_t n, const char *file, int line)
{
  unsigned char *p = malloc(n + BEFORE);
  (void)file, (void)line;
  return p != NULL ? p + BEFORE : NULL;
}

static void strangers_free(void *p, const char *file, int line)
{
  (void)file, (void)line;
  free(p != NULL ? (unsigned char *)p - BEFORE : NULL);
}

static void *strangers_realloc(void *p, size_t n, const char *file, int line)
{
  unsigned char *q;
  if (n == 0) {
    strangers_free(p, file, line);
    return NULL;
  }
  q = realloc(p != NULL ? (unsigned char *)p - BEFORE : NULL, n + BEFORE);
  return q != NULL ? q + BEFORE : NULL;
}

enum allocator { OPENSSLS, OWN, ANOTHER_COPYS, STRANGERS };

/* A second copy of the library with its own symbols and state, like an nginx module beside the
 * preload shim. */
static int copy_wipes_openssl(void)
{
  char path[PATH_MAX + sizeof "/copy.so"] = "";
  int (*wipe)(void);
  if (readlink("/proc/self/exe", path, PATH_MAX) <= 0)
    return 0;
  void *copy = dlopen(strcat(dirname(path), "/copy.so"), RTLD_NOW | RTLD_LOCAL);
  void *found = copy != NULL ? dlsym(copy, "pprf_tickets_wipe_openssl") : NULL;
  memcpy(&wipe, &found, sizeof wipe);
  return found != NULL && found != (void *)(uintptr_t)pprf_tickets_wipe_openssl &&
         wipe() == PPRF_OK;
}

static int set_allocator(enum allocator allocator)
{
  switch (allocator) {
  case OWN:
    return pprf_tickets_wipe_openssl() == PPRF_OK;
  case ANOTHER_COPYS:
    return copy_wipes_openssl();
  case STRANGERS:
    return CRYPTO_set_mem_functions(strangers_malloc, strangers_realloc, strangers_free) == 1;
  default:
    return 1;
  }
}

/* In a child: pprf_tickets_wiping after a ticket was issued and used, plus 4 if secrets were
 * kept. */
static int wiping_with(enum allocator allocator)
{
  SSL_SESSION *first;
  if (!set_allocator(allocator))
    return -1;
  client = loop_client(TLS1_3_VERSION);
  struct server s = new_server();
  if (connect_to(client, s.ctx, NULL, NULL, 0, &first, NULL) != FULL ||
      connect_to(client, s.ctx, NULL, first, 1, NULL, NULL) != EARLY)
    return -1;
  return (int)pprf_tickets_wiping(s.tickets) | (stats_of(&s).kept != 0 ? 4 : 0);
}

static void allocators(void)
{
  static const unsigned want[] = {[OPENSSLS] = PPRF_WIPING_USED,
                                  [OWN] = PPRF_WIPING_FULL,
                                  [ANOTHER_COPYS] = PPRF_WIPING_FULL,
                                  [STRANGERS] = 4};
  for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
      _exit(wiping_with((enum allocator)i));
    check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
            WEXITSTATUS(status) == (int)want[i],
          "allocator %u: status %#x, not an exit with %u", i, (unsigned)status, want[i]);
  }
  end_test("secrets_are_found_in_memory_of_another_copys_allocator_and_no_strangers_is_searched");
}

static void run(void)
{
  life();
  failing_puncture();
  failing_evaluation();
  without_leaves();
  tls_1_2();
  dtls();
  no_tls_1_2();
  external_keys();
  late_tickets();
  secrets_not_found();
  adopted();
  program_callbacks();
  duplicate();
  used_again();
  used_often();
  sni();
  info_callbacks();
  unheard_ends();
  no_successor();
  detaching();
  refused_settings();
  free_first();
  early_data_per_context();
  client_rules();
  trusted_certificates();
  rules_of_a_certificate_callback();
  without_id_context();
  copied_hellos();
  old_tickets();
  freed_tickets();
}

int main(void)
{
  openssls_memory();
  allocators();
  client = loop_client(TLS1_3_VERSION);
  client_1_2 = loop_client(TLS1_2_VERSION);
  api();
  suite = PPRF_SHA3_256_SALTED;
  run();
  suite = PPRF_AES_128;
  run();
  SSL_CTX_free(client);
  SSL_CTX_free(client_1_2);
  return tap_end();
}

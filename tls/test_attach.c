/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the tickets in OpenSSL's callbacks (attach.c), with client and server in this process,
 * so that failures can be injected.  TAP. */
#include <openssl/err.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loop.h"
#include "pool.h"
#include "pprf_tls.h"

static unsigned tests, failed_tests;
static int failed;

__attribute__((format(printf, 2, 3))) static int check(int good, const char *format, ...)
{
  va_list args;
  if (good)
    return 1;
  if (failed++ < 5) {
    printf("# ");
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
  }
  return 0;
}

static void end_test(const char *name)
{
  printf("%sok %u - %s\n", failed > 0 ? "not " : "", ++tests, name);
  failed_tests += failed > 0;
  failed = 0;
  fflush(stdout);
}

/* ---- failures ---- */

static int eval_fails, punct_fails;

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

/* ---- a server and its clients ---- */

static SSL_CTX *client, *client_1_2;

struct server {
  SSL_CTX *ctx;
  pprf_tickets *tickets;
};

static struct server new_server(void)
{
  struct server s = {loop_server(), NULL};
  struct pprf_tickets_options options = {.size = sizeof options, .depth = 10};
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

/* Connect: *renewed, if not NULL, becomes the session that the client got. */
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
    {{SIZE, 0, 0, 0, 0}, NULL}, {{SIZE, 4, 1, 1, 1}, NULL},
    {{SIZE, 32, 604800, 604800, INT32_MAX}, NULL}, {{SIZE, 0, 0, 7200, 0}, NULL},
    {{SIZE, 3, 0, 0, 0}, "depth"}, {{SIZE, 33, 0, 0, 0}, "depth"},
    {{SIZE, 0, 604801, 0, 0}, "lifetime"}, {{SIZE, 0, 0, 7199, 0}, "rotation"},
    {{SIZE, 0, 100, 99, 0}, "rotation"},
    {{SIZE, 0, 0, 0, (unsigned)INT32_MAX + 1}, "max_early_data"},
    {{0, 0, 0, 0, 0}, "size"}, {{SIZE - 1, 0, 0, 0, 0}, "size"}};
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
          pprf_tickets_expire(NULL) == PPRF_ERR_NULL &&
          pprf_tickets_expire(s.tickets) == PPRF_OK, "NULL");
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
          stats.early_rejected == 0 && stats.issued == 2 + 1 + 6 + 1000, "stats");
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

static void tls_1_2(void)
{
  struct server s = new_server();
  SSL_SESSION *first, *second;
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  expect(connect_to(client_1_2, s.ctx, NULL, first, 0, &second, NULL), RESUMED, "a ticket");
  expect(connect_to(client_1_2, s.ctx, NULL, first, 0, NULL, NULL), FULL, "the same ticket");
  /* a ClientHello alone proves nothing: the ticket stays good */
  SSL *half = SSL_new(s.ctx);
  SSL *nobody = loop_join(client_1_2, half, second);
  (void)SSL_do_handshake(nobody);
  (void)SSL_do_handshake(half);
  check(SSL_session_reused(half) == 1, "the ticket was found good");
  /* two at once: both are resumptions of the client's, one punctures */
  expect(connect_to(client_1_2, s.ctx, NULL, second, 0, NULL, NULL), RESUMED, "the other");
  (void)SSL_do_handshake(nobody);
  check(SSL_do_handshake(half) == 1, "the one that lost the race goes on");
  check(stats_of(&s).resumed == 2, "and is not counted");
  expect(connect_to(client_1_2, s.ctx, NULL, second, 0, NULL, NULL), FULL, "a third");
  SSL_free(nobody);
  SSL_free(half);
  SSL_SESSION_free(first);
  SSL_SESSION_free(second);
  free_server(&s);
  end_test("tls_1_2_punctures_when_the_handshake_is_done");
}

static void used_again(void)
{
  struct server s = new_server();
  SSL_SESSION *old, *other;
  expect(connect_to(client_1_2, s.ctx, NULL, NULL, 0, &old, NULL), FULL, "no ticket");
  SSL *ssl = SSL_new(s.ctx);
  SSL *nobody = loop_join(client_1_2, ssl, old);
  (void)SSL_do_handshake(nobody);
  (void)SSL_do_handshake(ssl); /* the ticket was found good, the client leaves */
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
  expect(connect_to(client, a.ctx, NULL, session, 1, &renewed, "b"), EARLY, "a ticket");
  expect(connect_to(client, a.ctx, NULL, session, 1, NULL, "b"), FULL, "the same ticket");
  expect(connect_to(client, a.ctx, NULL, renewed, 0, NULL, "b"), RESUMED, "the renewed ticket");
  expect(connect_to(client, a.ctx, NULL, renewed, 1, NULL, "b"), FULL, "the same ticket");
  struct pprf_tickets_stats stats = stats_of(&a);
  check(stats.early_accepted == 1 && stats.resumed == 1 && stats.foreign == 0, "stats");
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
  check(pprf_tickets_new(&s.tickets, NULL) == PPRF_OK, "new");
  SSL_CTX_set_info_callback(s.ctx, count_infos);
  check(pprf_tickets_attach(s.ctx, s.tickets) == PPRF_OK, "attach");
  expect(connect_to(client, s.ctx, NULL, NULL, 0, &first, NULL), FULL, "no ticket");
  check(infos > 5, "the program's callback was called");
  /* a callback of the connection's own replaces ours */
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

int main(void)
{
  client = loop_client(TLS1_3_VERSION);
  client_1_2 = loop_client(TLS1_2_VERSION);
  api();
  life();
  failing_puncture();
  failing_evaluation();
  tls_1_2();
  used_again();
  sni();
  info_callbacks();
  freed_tickets();
  SSL_CTX_free(client);
  SSL_CTX_free(client_1_2);
  printf("1..%u\n", tests);
  return failed_tests > 0;
}

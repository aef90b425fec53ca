/* SPDX-License-Identifier: Apache-2.0 */
#include "loop.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pprf_tls.h"

static int session_index = -1; /* SSL ex_data: receives the client's session */

static _Noreturn void die(const char *what)
{
  fprintf(stderr, "loop: %s\n", what);
  ERR_print_errors_fp(stderr);
  exit(1);
}

static int on_session(SSL *ssl, SSL_SESSION *session)
{
  SSL_SESSION **out = SSL_get_ex_data(ssl, session_index);
  if (out == NULL)
    return 0;
  SSL_SESSION_free(*out);
  *out = session;
  return 1;
}

SSL_CTX *loop_server(void)
{
  return loop_server_of(TLS_server_method());
}

SSL_CTX *loop_server_of(const SSL_METHOD *method)
{
  static EVP_PKEY *key;
  static X509 *cert;
  if (key == NULL) {
    key = EVP_EC_gen("P-256");
    cert = X509_new();
    if (key == NULL || cert == NULL || ASN1_INTEGER_set(X509_get_serialNumber(cert), 1) != 1 ||
        X509_gmtime_adj(X509_getm_notBefore(cert), -60) == NULL ||
        X509_gmtime_adj(X509_getm_notAfter(cert), 86400) == NULL ||
        X509_set_pubkey(cert, key) != 1 || X509_sign(cert, key, EVP_sha256()) == 0)
      die("certificate");
  }
  SSL_CTX *ctx = SSL_CTX_new(method);
  if (ctx == NULL || SSL_CTX_use_certificate(ctx, cert) != 1 ||
      SSL_CTX_use_PrivateKey(ctx, key) != 1)
    die("server");
  return ctx;
}

SSL_CTX *loop_client(int max_version)
{
  if (session_index < 0)
    session_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  if (ctx == NULL || SSL_CTX_set_max_proto_version(ctx, max_version) != 1)
    die("client");
  (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(ctx, on_session);
  return ctx;
}

SSL *loop_join(SSL_CTX *client_ctx, SSL *server, SSL_SESSION *session)
{
  BIO *a, *b;
  SSL *client = SSL_new(client_ctx);
  if (client == NULL || BIO_new_bio_pair(&a, 1 << 17, &b, 1 << 17) != 1)
    die("join");
  SSL_set_bio(client, a, a);
  SSL_set_bio(server, b, b);
  SSL_set_connect_state(client);
  SSL_set_accept_state(server);
  /* a copy: OpenSSL's clients use a TLS 1.3 session only once, but these tests reuse it */
  SSL_SESSION *copy = session != NULL ? SSL_SESSION_dup(session) : NULL;
  if (session != NULL && (copy == NULL || SSL_set_session(client, copy) != 1))
    die("session");
  SSL_SESSION_free(copy);
  return client;
}

struct loop_handshake loop_begin(SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL_SESSION *session)
{
  struct loop_handshake h = {.server = SSL_new(server_ctx)};
  h.client = loop_join(client_ctx, h.server, session);
  return h;
}

int loop_step(struct loop_handshake *h)
{
  char byte;
  int client = 0, server = 0;
  (void)SSL_set_ex_data(h->client, session_index, &h->session); /* h may have moved */
  for (unsigned turn = 0; turn < 8 && (client != 1 || server != 1); turn++) {
    client = SSL_do_handshake(h->client);
    if (client != 1 && SSL_get_error(h->client, client) != SSL_ERROR_WANT_READ)
      return -1;
    server = SSL_do_handshake(h->server);
    if (server == 1)
      continue;
    int why = SSL_get_error(h->server, server);
    if (why == SSL_ERROR_WANT_CLIENT_HELLO_CB)
      return 0;
    if (why != SSL_ERROR_WANT_READ)
      return -1;
  }
  (void)SSL_read(h->client, &byte, 1); /* tickets come after the handshake */
  return client == 1 && server == 1 ? 1 : -1;
}

void loop_wait(const struct loop_handshake *h, size_t n)
{
  struct pollfd *p = calloc(n, sizeof *p);
  unsigned least = 1000, ms;
  for (size_t i = 0; p != NULL && i < n; i++) {
    p[i].events = POLLIN;
    if (h[i].server == NULL || pprf_tickets_waits_for(h[i].server, &p[i].fd, &ms) != PPRF_OK)
      p[i].fd = -1;
    else if (ms < least)
      least = ms;
  }
  if (p == NULL || poll(p, n, (int)least + 1) < 0)
    die("poll");
  free(p);
}

void loop_end(struct loop_handshake *h)
{
  if (!SSL_in_init(h->client))
    (void)SSL_shutdown(h->client); /* else its session is no good */
  SSL_free(h->client);
  SSL_free(h->server);
  h->client = h->server = NULL;
  ERR_clear_error();
}

static double cpu(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One step of the server. Returns 0 if it failed. */
static int serve(SSL *server, int *early_over, struct loop_result *r)
{
  char buf[256];
  size_t n;
  int rc = 0;
  while (!*early_over) {
    int state = SSL_read_early_data(server, buf, sizeof buf, &n);
    r->early |= state == SSL_READ_EARLY_DATA_SUCCESS && n > 0;
    *early_over = state == SSL_READ_EARLY_DATA_FINISH;
    if (state == SSL_READ_EARLY_DATA_ERROR)
      return SSL_get_error(server, 0) == SSL_ERROR_WANT_READ;
  }
  if (r->server_done)
    return 1;
  rc = SSL_do_handshake(server);
  r->server_done = rc == 1;
  return rc == 1 || SSL_get_error(server, rc) == SSL_ERROR_WANT_READ;
}

struct loop_result loop_connect(SSL_CTX *client_ctx, SSL_CTX *server_ctx, SSL *reused,
                                SSL_SESSION *session, int early, const char *server_name)
{
  static const char request[] = "GET / HTTP/1.0\r\n\r\n";
  struct loop_result r = {0};
  double before = cpu();
  SSL *server = reused != NULL ? reused : SSL_new(server_ctx);
  r.server_seconds = cpu() - before;
  SSL *client = loop_join(client_ctx, server, session);
  char buf[256];
  size_t n;
  int over = 0, going = 1, rc;
  (void)SSL_set_ex_data(client, session_index, &r.session);
  if (server_name != NULL)
    (void)SSL_set_tlsext_host_name(client, server_name);
  if (early && session != NULL && SSL_SESSION_get_max_early_data(session) > 0)
    going = SSL_write_early_data(client, request, sizeof request - 1, &n) == 1;
  for (unsigned turn = 0; turn < 8 && going; turn++) {
    if (!r.client_done) {
      rc = SSL_do_handshake(client);
      r.client_done = rc == 1;
      going = rc == 1 || SSL_get_error(client, rc) == SSL_ERROR_WANT_READ;
    }
    before = cpu();
    going &= serve(server, &over, &r);
    r.server_seconds += cpu() - before;
    if (r.client_done) { /* tickets come after the handshake */
      rc = SSL_read_ex(client, buf, sizeof buf, &n);
      if (rc != 1 && SSL_get_error(client, rc) != SSL_ERROR_WANT_READ)
        r.client_done = going = 0;
    }
  }
  r.resumed = SSL_session_reused(server);
  /* in TLS 1.2 no callback announces a ticket from a resumption */
  if (r.client_done && r.session == NULL && SSL_version(client) < TLS1_3_VERSION)
    r.session = SSL_get1_session(client);
  SSL_set_ex_data(client, session_index, NULL);
  (void)SSL_shutdown(client);
  SSL_free(client);
  before = cpu();
  (void)SSL_shutdown(server);
  if (reused == NULL)
    SSL_free(server);
  r.server_seconds += cpu() - before;
  ERR_clear_error();
  return r;
}

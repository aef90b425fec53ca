/* SPDX-License-Identifier: Apache-2.0 */
/* The tickets in OpenSSL's callbacks.  On a resumption OpenSSL calls, in this order:
 *   1. the ticket key callback with enc = 0: the ticket's keys are derived, nothing is punctured,
 *      since whoever has seen the ticket can send it;
 *   2. (it checks the ticket's MAC and, TLS 1.3, the PSK binder: the client knows the secret)
 *   3. allow_early_data, if there is early data: accepted if and only if this call punctures;
 *   4. the info callback: a resumption without early data punctures after the ServerHello (not at
 *      it: a HelloRetryRequest shares its state), in TLS 1.2 when the handshake is done, since only
 *      then the client has shown that it knows the secret;
 *   5. the ticket key callback with enc = 1, for the next ticket; it punctures too if the info
 *      callback could not, or if the program replaced it with one of its own for this connection.
 * Two resumptions without early data that race for a ticket may both go on: they are connections of
 * one client, each with its own key exchange, and neither can be replayed. */
#include <openssl/err.h>
#include <openssl/rand.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "pprf_tls.h"
#include "tickets.h"

/* What an SSL_CTX with tickets carries. */
struct attachment {
  pprf_tickets *tickets;
  void (*info)(const SSL *ssl, int where, int ret); /* the callback that was set before, or NULL */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ctx_index = -1; /* SSL_CTX ex_data: struct attachment */
/* SSL ex_data: the ticket that the client offered, the connection's pool, and how many tickets the
 * client has offered.  The pool is that of the SSL_CTX the SSL was made from, whose callbacks
 * OpenSSL calls; when SNI has changed the SSL_CTX, that one's pool has nothing to do with it. */
static int ticket_index = -1, pool_index = -1, offers_index = -1;

/* Every ticket offered costs an evaluation, and 900 fit into a ClientHello.  Clients offer one or
 * two; the rest of what one offers is not looked at. */
#define OFFERS_MAX 16

static void free_attachment(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                            void *argp)
{
  (void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
  free(ptr);
}

static void init(void)
{
  ctx_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_attachment);
  ticket_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  pool_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
  offers_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

static int initialised(void)
{
  return pthread_once(&once, init) == 0 && ctx_index >= 0 && ticket_index >= 0 &&
         pool_index >= 0 && offers_index >= 0;
}

_Static_assert(sizeof(void *) >= sizeof(pool_ticket), "a ticket fits into ex_data");

static int remember(SSL *ssl, pool_ticket ticket)
{
  return SSL_set_ex_data(ssl, ticket_index, (void *)(uintptr_t)ticket) == 1;
}

static void forget(SSL *ssl)
{
  (void)SSL_set_ex_data(ssl, ticket_index, NULL); /* cannot fail once it was set */
}

static pool_ticket remembered(const SSL *ssl)
{
  return (pool_ticket)(uintptr_t)SSL_get_ex_data(ssl, ticket_index);
}

/* Whether one more offered ticket may be looked up. */
static int may_offer(SSL *ssl)
{
  uintptr_t n = (uintptr_t)SSL_get_ex_data(ssl, offers_index);
  return n < OFFERS_MAX && SSL_set_ex_data(ssl, offers_index, (void *)(n + 1)) == 1;
}

static struct attachment *attachment_of(const SSL *ssl)
{
  return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ctx_index);
}

/* Called first when the handshake starts; NULL: there is none. */
static struct pool *pool_of(SSL *ssl)
{
  struct pool *pool = SSL_get_ex_data(ssl, pool_index);
  struct attachment *a = attachment_of(ssl);
  if (pool == NULL && a != NULL && SSL_set_ex_data(ssl, pool_index, a->tickets->pool) == 1)
    pool = a->tickets->pool;
  return pool;
}

/* ---- the callbacks ---- */

enum { NO_TICKET = 0, USE_TICKET = 1, USE_AND_RENEW = 2 }; /* results of the key callback */

/* A ticket that nobody can decrypt. */
static int spoil(unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
  struct ticket_keys keys;
  int good = RAND_bytes(name, POOL_NAME_BYTES) == 1 &&
             RAND_priv_bytes((unsigned char *)&keys, sizeof keys) == 1;
  if (good) {
    memcpy(iv, keys.iv, sizeof keys.iv);
    good = ticket_set_keys(&keys, cipher, mac, iv, 1);
  }
  OPENSSL_cleanse(&keys, sizeof keys);
  return good;
}

static int issue(SSL *ssl, struct pool *pool, unsigned char *name, unsigned char *iv,
                 EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
  uint8_t value[PPRF_SEED_BYTES];
  struct ticket_keys keys;
  int good = pool_issue(pool, ticket_clock(), name, value) == PPRF_OK && ticket_derive(value, &keys);
  if (good) {
    memcpy(iv, keys.iv, sizeof keys.iv);
    good = ticket_set_keys(&keys, cipher, mac, iv, 1);
    OPENSSL_cleanse(&keys, sizeof keys);
  }
  OPENSSL_cleanse(value, sizeof value);
  if (!good) {
    pool_count_not_issued(pool);
    /* In TLS 1.3 "no ticket" would have OpenSSL send an empty NewSessionTicket, which clients
     * answer with a decode_error; in TLS 1.2 an empty one is legal (RFC 5077, 3.3). */
    good = SSL_version(ssl) >= TLS1_3_VERSION && spoil(name, iv, cipher, mac);
  }
  return good ? USE_TICKET : NO_TICKET;
}

static int look_up(SSL *ssl, struct pool *pool, const unsigned char *name, const unsigned char *iv,
                   EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
  uint8_t value[PPRF_SEED_BYTES];
  struct ticket_keys keys;
  pool_ticket ticket;
  if (!remember(ssl, 0) || !may_offer(ssl) ||
      pool_open(pool, ticket_clock(), name, &ticket, value) != PPRF_OK)
    return NO_TICKET;
  int good = ticket_derive(value, &keys);
  if (good) {
    good = ticket_set_keys(&keys, cipher, mac, iv, 0);
    OPENSSL_cleanse(&keys, sizeof keys);
  }
  OPENSSL_cleanse(value, sizeof value);
  return good && remember(ssl, ticket) ? USE_AND_RENEW : NO_TICKET;
}

/* Puncture the ticket that this connection resumes with: whether this call did. */
static int redeem(SSL *ssl, int early)
{
  pool_ticket ticket = remembered(ssl);
  if (ticket == 0)
    return 0; /* done already, or OpenSSL found a session elsewhere */
  int err = pool_redeem(SSL_get_ex_data(ssl, pool_index), ticket_clock(), ticket, early);
  if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED)
    forget(ssl); /* else a later callback tries again, without early data */
  return err == PPRF_OK;
}

/* Never negative: that would end the handshake. */
static int on_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                         EVP_MAC_CTX *mac, int enc)
{
  struct pool *pool = pool_of(ssl);
  if (pool == NULL)
    return NO_TICKET;
  if (!enc)
    return look_up(ssl, pool, name, iv, cipher, mac);
  if (SSL_version(ssl) >= TLS1_3_VERSION && SSL_session_reused(ssl))
    (void)redeem(ssl, 0);
  return issue(ssl, pool, name, iv, cipher, mac);
}

static int on_early_data(SSL *ssl, void *arg)
{
  (void)arg;
  return redeem(ssl, 1);
}

static void on_info(const SSL *cssl, int where, int ret)
{
  SSL *ssl = (SSL *)(uintptr_t)cssl;
  struct attachment *a = attachment_of(ssl);
  if (a == NULL)
    return;
  if ((where & SSL_CB_HANDSHAKE_START) != 0 && SSL_is_server(ssl)) {
    (void)pool_of(ssl);
    forget(ssl); /* an SSL may be used again after SSL_clear */
    (void)SSL_set_ex_data(ssl, offers_index, NULL);
  } else if (remembered(ssl) != 0 && SSL_is_server(ssl) && SSL_session_reused(ssl)) {
    int is_1_3 = SSL_version(ssl) >= TLS1_3_VERSION;
    if (is_1_3 ? SSL_get_state(ssl) == TLS_ST_SW_ENCRYPTED_EXTENSIONS
               : (where & SSL_CB_HANDSHAKE_DONE) != 0)
      (void)redeem(ssl, 0);
  }
  if (a->info != NULL)
    a->info(ssl, where, ret);
}

/* ---- pprf_tls.h ---- */

int pprf_tickets_attach(SSL_CTX *ctx, pprf_tickets *tickets)
{
  if (ctx == NULL || tickets == NULL)
    return PPRF_ERR_NULL;
  if (!initialised())
    return PPRF_ERR_NOMEM;
  if (SSL_CTX_get_ex_data(ctx, ctx_index) != NULL || SSL_CTX_sess_get_get_cb(ctx) != NULL ||
      SSL_CTX_sess_get_new_cb(ctx) != NULL)
    return PPRF_TLS_ERR_TAKEN;
  struct attachment *a = calloc(1, sizeof *a);
  if (a == NULL)
    return PPRF_ERR_NOMEM;
  a->tickets = tickets;
  a->info = SSL_CTX_get_info_callback(ctx);
  const struct pprf_tickets_options *o = &tickets->options;
  if (SSL_CTX_set_ex_data(ctx, ctx_index, a) != 1) {
    free(a);
    return PPRF_TLS_ERR_SSL;
  }
  if (SSL_CTX_set_max_early_data(ctx, o->max_early_data) != 1 ||
      SSL_CTX_set_recv_max_early_data(ctx, o->max_early_data) != 1 ||
      SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket_key) != 1) {
    (void)SSL_CTX_set_max_early_data(ctx, 0);
    (void)SSL_CTX_set_ex_data(ctx, ctx_index, NULL);
    free(a);
    return PPRF_TLS_ERR_SSL;
  }
  (void)SSL_CTX_set_timeout(ctx, (long)o->lifetime);
  (void)SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
  (void)SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET);
  (void)SSL_CTX_set_options(ctx, SSL_OP_NO_ANTI_REPLAY);
  SSL_CTX_set_allow_early_data_cb(ctx, on_early_data, NULL);
  SSL_CTX_set_info_callback(ctx, on_info);
  return PPRF_OK;
}

/* ---- memory that OpenSSL frees ---- */

static void *wiping_malloc(size_t n, const char *file, int line)
{
  (void)file, (void)line;
  return malloc(n);
}

static void wiping_free(void *p, const char *file, int line)
{
  (void)file, (void)line;
  if (p != NULL)
    explicit_bzero(p, malloc_usable_size(p));
  free(p);
}

static void *wiping_realloc(void *p, size_t n, const char *file, int line)
{
  if (p == NULL)
    return malloc(n);
  if (n == 0) {
    wiping_free(p, file, line);
    return NULL;
  }
  size_t old = malloc_usable_size(p);
  if (n <= old && n >= old / 2)
    return p;
  void *q = malloc(n);
  if (q != NULL) {
    memcpy(q, p, old < n ? old : n);
    wiping_free(p, file, line);
  }
  return q;
}

int pprf_tickets_wipe_openssl(void)
{
  return CRYPTO_set_mem_functions(wiping_malloc, wiping_realloc, wiping_free) == 1
           ? PPRF_OK
           : PPRF_TLS_ERR_LATE;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tickets in OpenSSL's callbacks.  On a resumption OpenSSL calls, in this order:
 *   1. the ticket key callback with enc = 0: the ticket's keys are derived.  Nothing is punctured,
 *      since anybody who has seen the ticket can send it;
 *   2. (it checks the ticket's MAC) the session ticket callback: the ticket is tied to the session
 *      inside it, not to the connection, which may resume another session, for instance from the
 *      program's own pre-shared keys; (TLS 1.3: it checks the PSK binder, which shows that the
 *      client knows the secret)
 *   3. (it calls the servername callback, which may change the SSL_CTX) allow_early_data, if there is
 *      early data: accepted if and only if this call punctures;
 *   4. the info callback.  Before the ServerHello, a resumption ends with an alert if this
 *      connection's client requirements differ from those where the ticket was issued.  At the
 *      ServerHello, a ticket that is not resumed is released.  A resumption without early data
 *      punctures after it (a HelloRetryRequest has the same state); in TLS 1.2 it punctures at the
 *      end of the handshake, when the client has shown that it knows the secret.  After the TLS 1.3
 *      ServerHello, a backend without leaves makes the handshake send no ticket;
 *   5. the ticket key callback with enc = 1, for the next ticket; it punctures too if the info
 *      callback could not, or if the program replaced that callback for this connection;
 *   6. the info callback, when the last ticket is sent: wipes the secrets of the used ticket and of
 *      the new one, which OpenSSL would keep while the connection is open (TLS 1.3).
 * Two resumptions without early data that race for a ticket may both succeed: they belong to one
 * client, each has its own key exchange, and neither can be replayed. */
#include <openssl/err.h>
#include <openssl/rand.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clients.h"
#include "pprf_tls.h"
#include "tickets/tickets.h"

/* SSL_CTX settings that attaching changes and that can be read back. */
struct settings {
  uint32_t max_early_data, recv_max_early_data;
  long timeout, cache_mode;
  uint64_t options;
};

/* Data of an SSL_CTX with tickets. */
struct attachment {
  pprf_tickets *tickets; /* held; NULL: detached */
  struct settings before;
  void (*info)(const SSL *ssl, int where, int ret); /* the callback that was set before, or NULL */
  SSL_CTX_decrypt_session_ticket_fn decrypted;      /* the program's, or NULL */
  struct clients_anchors anchors;
  int no_early_data; /* attached with 0 */
  int named;         /* we gave it a session id context */
};

/* Data of an SSL with tickets. */
struct connection {
  /* Held.  The tickets of the SSL_CTX that the SSL was made from, whose callbacks OpenSSL calls
   * even after SNI has changed the SSL_CTX. */
  pprf_tickets *tickets;
  const SSL_CTX *first;         /* that SSL_CTX */
  uint8_t begun[CLIENTS_BYTES]; /* client requirements at the start of the handshake */
  uint8_t asked[CLIENTS_BYTES]; /* those where the last opened ticket was issued */
  uint8_t name[NAME_BYTES];     /* of the ticket that was opened last */
  struct opening opening;       /* of the one that the client hello callback has found */
  uint64_t decrypting;  /* ticket whose keys OpenSSL got but whose session it has not reported */
  SSL_SESSION *session; /* the last ticket's session; held, so that its address stays unique */
  uint64_t ticket;      /* the ticket that held this session */
  int looked;           /* the info callback knows which session is resumed */
  unsigned offers;      /* tickets offered in this handshake */
  int resumes;          /* a ticket of ours */
  SSL_CTX_decrypt_session_ticket_fn decrypted;      /* the program's, or NULL */
  void (*info)(const SSL *ssl, int where, int ret); /* the program's for this connection, or NULL */
  uint64_t made;                                    /* tickets made: OpenSSL's next nonce */
  size_t early_secret, early_bytes; /* its offset in the SSL; 0: not found, or none */
  int forgotten;                    /* the resumption master secret is wiped */
  size_t withheld; /* tickets not sent because the backend had no leaf; 0: all are sent */
  struct clients_anchors other; /* of an SSL_CTX without tickets, digested once a handshake */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int drawn;
static int ctx_index = -1;               /* SSL_CTX ex_data: struct attachment */
static int connection_index = -1;        /* SSL ex_data: struct connection */
static uint8_t unknown[EVP_MAX_MD_SIZE]; /* random bytes of this process */

/* Limits searches, which take milliseconds. */
#define SEARCHES_MAX 3

static int blocks_are_mallocs(void);
static void on_info(const SSL *ssl, int where, int ret);
static void on_info_and_call(const SSL *ssl, int where, int ret);
static void on_info_of_ssl(const SSL *ssl, int where, int ret);

static void free_attachment(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                            void *argp)
{
  struct attachment *a = ptr;
  (void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
  if (a != NULL && a->tickets != NULL)
    ticket_let_go(a->tickets);
  if (a != NULL)
    clients_forget(&a->anchors);
  free(a);
}

static void free_connection(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                            void *argp);

/* A copy made by SSL_dup has its own handshake. */
static int no_copy(CRYPTO_EX_DATA *to, const CRYPTO_EX_DATA *from, void **ptr, int idx, long argl,
                   void *argp)
{
  (void)to, (void)from, (void)idx, (void)argl, (void)argp;
  *ptr = NULL;
  return 1;
}

static void init(void)
{
  ctx_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_attachment);
  connection_index = SSL_get_ex_new_index(0, NULL, NULL, no_copy, free_connection);
  SSL_SESSION *session = SSL_SESSION_new();
  uint8_t out[EVP_MAX_MD_SIZE];
  /* Call these once before there are secrets, as in tickets.c: first calls save registers on the
   * stack. */
  drawn = RAND_priv_bytes(unknown, sizeof unknown) == 1 && session != NULL &&
          SSL_SESSION_set1_master_key(session, unknown, SSL_MAX_MASTER_KEY_LENGTH) == 1 &&
          SSL_SESSION_get_master_key(session, out, sizeof out) == SSL_MAX_MASTER_KEY_LENGTH &&
          memmem(out, SSL_MAX_MASTER_KEY_LENGTH, unknown, 1) != NULL;
  SSL_SESSION_free(session);
}

static int initialised(void)
{
  return pthread_once(&once, init) == 0 && ctx_index >= 0 && connection_index >= 0 && drawn &&
         ticket_algorithms();
}

static struct attachment *attachment_of(const SSL *ssl)
{
  return SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ctx_index);
}

/* Digest of what the connection asks of its client now.  False: unknown, so no ticket is good. */
static int asks(SSL *ssl, struct connection *c, uint8_t out[CLIENTS_BYTES])
{
  const struct attachment *a = attachment_of(ssl);
  return clients_digest(ssl, a != NULL ? &a->anchors : NULL, &c->other, out);
}

/* The connection's data, first needed when the handshake starts; NULL: none. */
static struct connection *connection_of(SSL *ssl)
{
  struct connection *c = SSL_get_ex_data(ssl, connection_index);
  struct attachment *a = attachment_of(ssl);
  if (c != NULL || a == NULL || a->tickets == NULL || (c = calloc(1, sizeof *c)) == NULL)
    return c;
  c->tickets = a->tickets;
  c->decrypted = a->decrypted;
  c->first = SSL_get_SSL_CTX(ssl);
  if (!asks(ssl, c, c->begun) || SSL_set_ex_data(ssl, connection_index, c) != 1) {
    clients_forget(&c->other);
    free(c);
    return NULL;
  }
  ticket_hold(c->tickets);
  return c;
}

/* The ticket of the session that a connection resumes, or 0.  OpenSSL may decrypt one session and
 * resume another.  When it makes the next ticket it has a copy of the session, so the earlier
 * answer counts; if no callback recorded one, the session is taken to be the ticket's. */
static uint64_t resumed_ticket(const SSL *ssl, const struct connection *c)
{
  int copied = SSL_get_state(ssl) == TLS_ST_SW_SESSION_TICKET;
  if (c->decrypting != 0)
    return c->decrypting; /* the program has replaced our session ticket callback */
  return SSL_get_session(ssl) == c->session || (copied && (c->resumes || !c->looked)) ? c->ticket
                                                                                      : 0;
}

static void forget_ticket(struct connection *c)
{
  SSL_SESSION_free(c->session);
  c->session = NULL;
  c->ticket = c->decrypting = 0;
}

/* Release the ticket that the client hello callback has opened, if OpenSSL has not asked for it. */
static void drop_opening(struct connection *c)
{
  const struct backend *b = c->tickets->backend;
  if (c->opening.done && c->opening.ticket != 0)
    b->release(c->tickets->keys, c->opening.ticket);
  else if (c->opening.begun && !c->opening.done)
    b->give_up(c->tickets->keys, &c->opening);
  OPENSSL_cleanse(&c->opening, sizeof c->opening);
}

/* Release an opened, unredeemed ticket: any host may open it again. */
static void release_ticket(struct connection *c)
{
  if (c->ticket != 0)
    c->tickets->backend->release(c->tickets->keys, c->ticket);
  if (c->decrypting != 0)
    c->tickets->backend->release(c->tickets->keys, c->decrypting);
  forget_ticket(c);
}

static void free_connection(void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl,
                            void *argp)
{
  struct connection *c = ptr;
  (void)parent, (void)ad, (void)idx, (void)argl, (void)argp;
  if (c == NULL)
    return;
  drop_opening(c);
  release_ticket(c);
  ticket_let_go(c->tickets);
  clients_forget(&c->other);
  free(c);
}

/* ---- the secrets that OpenSSL keeps ---- */

/* While a connection is open, its SSL holds two secrets that it no longer needs (RFC 8446, 7.1):
 * the early secret, which decrypts this connection's early data, and the resumption master secret,
 * which yields the secret of every ticket it issued, used or not.  Its session holds the secret of
 * the last ticket.  OpenSSL has a function to overwrite the session's secret but none for the two
 * in the SSL.  So we search the SSL for bytes that verify as the secret, and overwrite only those.
 * A secret that is not found is counted and stays until the connection is closed. */

/* Bytes of the SSL; 0 if its memory is not malloc's. */
static size_t ssl_bytes(const SSL *ssl)
{
  return blocks_are_mallocs() ? malloc_usable_size((void *)(uintptr_t)ssl) : 0;
}

size_t clients_object_bytes(const void *object)
{
  return ssl_bytes(object);
}

/* The session's secret, and the handshake's digest, which is as long; NULL: there is none. */
static const EVP_MD *session_secret(const SSL *ssl, uint8_t secret[EVP_MAX_MD_SIZE])
{
  const SSL_SESSION *session = SSL_get_session(ssl);
  return session != NULL
           ? ticket_digest(SSL_SESSION_get_master_key(session, secret, EVP_MAX_MD_SIZE))
           : NULL;
}

/* To be called while the session is still the resumed one. */
static void find_early_secret(const SSL *ssl, struct connection *c)
{
  static _Atomic size_t known; /* last offset found: it is the same in every SSL */
  const uint8_t *in = (const uint8_t *)ssl;
  uint8_t psk[EVP_MAX_MD_SIZE], early[EVP_MAX_MD_SIZE];
  const EVP_MD *md = session_secret(ssl, psk);
  size_t bytes = ssl_bytes(ssl), size = md != NULL ? (size_t)EVP_MD_get_size(md) : 0, at = known;
  c->early_secret = 0;
  if (md != NULL && bytes >= size && ticket_extract(md, psk, early)) {
    if (at == 0 || at > bytes - size || memcmp(in + at, early, size) != 0) {
      const uint8_t *found = memmem(in, bytes, early, size);
      at = found != NULL ? (size_t)(found - in) : 0;
      known = at;
    }
    c->early_secret = at;
    c->early_bytes = size;
  }
  OPENSSL_cleanse(psk, sizeof psk);
  OPENSSL_cleanse(early, sizeof early);
}

/* Whether these bytes are the resumption master secret: whether they give the secret of the
 * connection's last ticket. */
static int is_resumption_secret(const uint8_t *bytes, const EVP_MD *md, uint64_t nonce,
                                const uint8_t psk[EVP_MAX_MD_SIZE])
{
  static const uint8_t zero[16];
  uint8_t info[29] = "\0\0\x10tls13 resumption\x08", out[EVP_MAX_MD_SIZE];
  size_t size = (size_t)EVP_MD_get_size(md);
  if (memcmp(bytes, zero, sizeof zero) == 0)
    return 0; /* most of an SSL */
  info[1] = (uint8_t)size;
  info[28] = 1; /* HKDF-Expand's first block */
  for (unsigned i = 0; i < 8; i++)
    info[20 + i] = (uint8_t)(nonce >> (56 - 8 * i));
  int same =
    ticket_hmac(md, bytes, size, info, sizeof info, out) && CRYPTO_memcmp(out, psk, size) == 0;
  OPENSSL_cleanse(out, sizeof out);
  return same;
}

/* Offset of the resumption master secret in the SSL, or 0.  It is the same in every SSL, so only
 * the first is searched. */
static size_t find_resumption_secret(const SSL *ssl, const EVP_MD *md, uint64_t nonce,
                                     const uint8_t psk[EVP_MAX_MD_SIZE])
{
  static _Atomic size_t known;
  static _Atomic unsigned searches;
  size_t size = (size_t)EVP_MD_get_size(md), bytes = ssl_bytes(ssl), at = known;
  if (at != 0 || bytes < size)
    return bytes >= size && at <= bytes - size &&
               is_resumption_secret((const uint8_t *)ssl + at, md, nonce, psk)
             ? at
             : 0;
  if (atomic_fetch_add(&searches, 1) >= SEARCHES_MAX)
    return 0;
  for (at = 1; at <= bytes - size; at++)
    if (is_resumption_secret((const uint8_t *)ssl + at, md, nonce, psk)) {
      known = at;
      return at;
    }
  return 0;
}

/* Wipe the secrets once the last ticket is sent. */
static void forget_secrets(SSL *ssl, struct connection *c)
{
  uint8_t psk[EVP_MAX_MD_SIZE];
  int kept = c->resumes && c->early_secret == 0;
  if (c->forgotten || (c->made == 0 && !c->resumes))
    return;
  const EVP_MD *md = session_secret(ssl, psk);
  size_t size = md != NULL ? (size_t)EVP_MD_get_size(md) : 0;
  if (c->early_secret != 0)
    OPENSSL_cleanse((uint8_t *)ssl + c->early_secret, c->early_bytes);
  c->early_secret = 0;
  if (c->made == 0 && md != NULL) /* there is no successor: the session is the used ticket's */
    kept |= SSL_SESSION_set1_master_key(SSL_get_session(ssl), unknown, size) != 1;
  c->resumes = 0;
  if (c->made > 0) {
    size_t at = md != NULL ? find_resumption_secret(ssl, md, c->made - 1, psk) : 0;
    if (at != 0) {
      /* if OpenSSL makes a ticket from it, no client can know the secret or prove that it does */
      memcpy((uint8_t *)ssl + at, unknown, size);
      (void)SSL_SESSION_set1_master_key(SSL_get_session(ssl), unknown, size);
      c->forgotten = 1;
    }
    kept |= at == 0;
  }
  OPENSSL_cleanse(psk, sizeof psk);
  if (kept)
    c->tickets->backend->count(c->tickets->keys, COUNT_KEPT);
}

/* ---- the callbacks ---- */

enum { NO_TICKET = 0, USE_TICKET = 1, USE_AND_RENEW = 2 }; /* results of the key callback */

/* Make a ticket that nobody can decrypt. */
static int spoil(unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
  struct ticket_keys keys;
  int good =
    RAND_bytes(name, NAME_BYTES) == 1 && RAND_priv_bytes((unsigned char *)&keys, sizeof keys) == 1;
  if (good) {
    memcpy(iv, name, NAME_BYTES);
    good = ticket_set_keys(&keys, cipher, mac, iv, 1);
  }
  OPENSSL_cleanse(&keys, sizeof keys);
  return good;
}

/* DTLS versions count down from above TLS's; OpenSSL has no DTLS 1.3. */
static int is_1_3(const SSL *ssl)
{
  return SSL_version(ssl) >= TLS1_3_VERSION && !SSL_is_dtls(ssl);
}

/* Derive a ticket's keys and the mask of its IV from the leaf's value and the client requirements
 * at the start of the handshake.  So tickets issued under other requirements, by pprf_tickets_seal,
 * or by a version without requirements do not decrypt. */
static int derive(const struct connection *c, const struct origin *origin,
                  const uint8_t value[PPRF_SEED_BYTES], struct ticket_keys *keys,
                  uint8_t mask[CLIENTS_BYTES])
{
  static const char label[] = "libpprf tls ticket, 2";
  uint8_t text[sizeof label + CLIENTS_BYTES], out[48];
  memcpy(text, label, sizeof label);
  memcpy(text + sizeof label, c->begun, CLIENTS_BYTES);
  int good =
    ticket_derive(origin, value, keys) &&
    ticket_hmac(ticket_digest(sizeof out), keys->cipher, sizeof *keys, text, sizeof text, out);
  if (good) {
    memcpy(keys, out, sizeof *keys);
    memcpy(mask, out + sizeof *keys, CLIENTS_BYTES);
  }
  OPENSSL_cleanse(out, sizeof out);
  return good;
}

static void exclusive_or(uint8_t out[CLIENTS_BYTES], const uint8_t a[CLIENTS_BYTES],
                         const uint8_t b[CLIENTS_BYTES])
{
  for (unsigned i = 0; i < CLIENTS_BYTES; i++)
    out[i] = a[i] ^ b[i];
}

static int issue(SSL *ssl, struct connection *c, unsigned char *name, unsigned char *iv,
                 EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
  const struct backend *b = c->tickets->backend;
  void *keys_of = c->tickets->keys;
  uint8_t value[PPRF_SEED_BYTES] = {0}, asked[CLIENTS_BYTES], mask[CLIENTS_BYTES];
  struct origin origin;
  struct ticket_keys keys = {0};
  /* a ticket without its resumption master secret: the client would know another one */
  int good = !c->forgotten && asks(ssl, c, asked) &&
             b->issue(keys_of, ticket_clock(), name, &origin, value) == PPRF_OK &&
             derive(c, &origin, value, &keys, mask);
  if (good) {
    exclusive_or(iv, mask, asked);
    good = ticket_set_keys(&keys, cipher, mac, iv, 1);
  }
  OPENSSL_cleanse(&keys, sizeof keys);
  OPENSSL_cleanse(value, sizeof value);
  c->made++;
  if (!good) {
    b->count(keys_of, COUNT_NOT_ISSUED);
    /* In TLS 1.3 "no ticket" would have OpenSSL send an empty NewSessionTicket, which clients
     * answer with a decode_error; in TLS 1.2 an empty one is legal (RFC 5077, 3.3). */
    good = is_1_3(ssl) && spoil(name, iv, cipher, mac);
  }
  return good ? USE_TICKET : NO_TICKET;
}

static int is_programs(void (*info)(const SSL *ssl, int where, int ret))
{
  return info != NULL && info != on_info && info != on_info_and_call && info != on_info_of_ssl;
}

/* Set our info callback on the connection, so that we see its steps even if SNI changes the SSL_CTX
 * or that one has no tickets.  Only this callback ends a resumption when the client requirements
 * differ, and only it punctures in TLS 1.2.  If the program has set a callback for this connection,
 * that one is called last, and in TLS 1.2 the answer is no. */
static int hears(SSL *ssl, struct connection *c)
{
  void (*info)(const SSL *ssl, int where, int ret) = SSL_get_info_callback(ssl);
  int own = is_programs(info);
  if (own && !is_1_3(ssl))
    return 0;
  if (info != on_info_of_ssl)
    c->info = own ? info : NULL;
  SSL_set_info_callback(ssl, on_info_of_ssl);
  return 1;
}

/* Whether the client requirements may yet match the ticket's: they match now, or they are still
 * those at the start of the handshake and a servername callback may change them. */
static int may_ask(SSL *ssl, struct connection *c, const uint8_t wanted[CLIENTS_BYTES])
{
  uint8_t now[CLIENTS_BYTES];
  return asks(ssl, c, now) &&
         (memcmp(now, wanted, CLIENTS_BYTES) == 0 || memcmp(now, c->begun, CLIENTS_BYTES) == 0);
}

/* Open a ticket, or take the one that the client hello callback has opened. */
static int open_ticket(struct connection *c, const uint8_t name[NAME_BYTES], uint64_t *ticket,
                       struct origin *origin, uint8_t value[PPRF_SEED_BYTES])
{
  struct opening *o = &c->opening;
  if (!o->done || memcmp(o->name, name, NAME_BYTES) != 0)
    return c->tickets->backend->open(c->tickets->keys, ticket_clock(), name, ticket, origin, value);
  int err = o->result;
  *ticket = o->ticket;
  *origin = o->origin;
  memcpy(value, o->value, PPRF_SEED_BYTES);
  OPENSSL_cleanse(o, sizeof *o);
  return err;
}

static int look_up(SSL *ssl, struct connection *c, const unsigned char *name,
                   const unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac)
{
  uint8_t value[PPRF_SEED_BYTES], mask[CLIENTS_BYTES];
  struct origin origin;
  struct ticket_keys keys = {0};
  uint64_t ticket;
  release_ticket(c);
  if (!hears(ssl, c))
    return NO_TICKET;
  if (c->offers++ >= c->tickets->backend->offers ||
      open_ticket(c, name, &ticket, &origin, value) != PPRF_OK)
    return NO_TICKET;
  int good = derive(c, &origin, value, &keys, mask);
  if (good) {
    exclusive_or(c->asked, iv, mask); /* before OpenSSL has checked the MAC */
    good = may_ask(ssl, c, c->asked) && ticket_set_keys(&keys, cipher, mac, iv, 0);
  }
  OPENSSL_cleanse(&keys, sizeof keys);
  OPENSSL_cleanse(value, sizeof value);
  if (!good) {
    c->tickets->backend->release(c->tickets->keys, ticket);
    return NO_TICKET;
  }
  memcpy(c->name, name, sizeof c->name);
  c->decrypting = ticket;
  /* A TLS 1.2 client shows only at the end that it knows the secret: others may try until then. */
  if (!is_1_3(ssl) && c->tickets->backend->puncture != NULL)
    c->tickets->backend->release(c->tickets->keys, ticket);
  /* A TLS 1.2 ticket's successor would hold the same master secret, and outlive it. */
  return is_1_3(ssl) ? USE_AND_RENEW : USE_TICKET;
}

/* Whether the connection resumes with a ticket issued under other client requirements. */
static int is_out_of_place(SSL *ssl, struct connection *c)
{
  uint8_t now[CLIENTS_BYTES];
  return resumed_ticket(ssl, c) != 0 &&
         !(asks(ssl, c, now) && memcmp(now, c->asked, CLIENTS_BYTES) == 0);
}

/* End a handshake before the ServerHello, after OpenSSL has accepted a session.  OpenSSL has no
 * function for this.  In TLS 1.3, resetting the state makes the server report an internal error,
 * with an alert.  In TLS 1.2, replace the secret with one that no client has: the client sends the
 * alert. */
static void refuse(SSL *ssl, struct connection *c)
{
  release_ticket(c);
  if (is_1_3(ssl))
    SSL_set_accept_state(ssl);
  else
    (void)SSL_SESSION_set1_master_key(SSL_get_session(ssl), unknown, SSL_MAX_MASTER_KEY_LENGTH);
}

/* Puncture the ticket that this connection resumes with.  Returns whether this call did. */
static int redeem(SSL *ssl, int early)
{
  struct connection *c = SSL_get_ex_data(ssl, connection_index);
  uint64_t ticket = c != NULL ? resumed_ticket(ssl, c) : 0;
  if (ticket == 0 || is_out_of_place(ssl, c))
    return 0; /* already done, or not a session of ours, or a session to refuse */
  c->resumes = 1;
  const struct backend *b = c->tickets->backend;
  int released = !is_1_3(ssl) && b->puncture != NULL;
  int err = released ? b->puncture(c->tickets->keys, ticket_clock(), c->name, ticket)
                     : b->redeem(c->tickets->keys, ticket_clock(), ticket, early);
  if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED || released)
    forget_ticket(c); /* otherwise a later callback retries, without early data */
  return err == PPRF_OK;
}

/* Negative, which ends the handshake with an alert, only if the program has replaced our info
 * callback. */
static int on_ticket_key(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                         EVP_MAC_CTX *mac, int enc)
{
  struct connection *c = connection_of(ssl);
  if (c == NULL || (!is_1_3(ssl) && c->tickets->options.no_tls_1_2))
    return NO_TICKET;
  if (!enc)
    return look_up(ssl, c, name, iv, cipher, mac);
  if (!is_1_3(ssl) && is_programs(SSL_get_info_callback(ssl)))
    return NO_TICKET; /* nothing would puncture it if ours is replaced after the client hello */
  if (is_1_3(ssl) && SSL_session_reused(ssl)) {
    if (is_out_of_place(ssl, c))
      return -1;
    (void)redeem(ssl, 0);
  }
  return issue(ssl, c, name, iv, cipher, mac);
}

/* Whether OpenSSL would end the handshake because certificates are requested and the session has no
 * session id context. */
static int is_unnamed(const SSL *ssl, const SSL_SESSION *session)
{
  unsigned bytes;
  (void)SSL_SESSION_get0_id_context(session, &bytes);
  return bytes == 0 && (SSL_get_verify_mode(ssl) & SSL_VERIFY_PEER) != 0;
}

/* OpenSSL has decrypted a ticket.  Follow the program's callback, or do what OpenSSL does without
 * one. */
static SSL_TICKET_RETURN on_decrypted(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                      size_t len, SSL_TICKET_STATUS status, void *arg)
{
  struct connection *c = SSL_get_ex_data(ssl, connection_index);
  uint64_t ticket = c != NULL ? c->decrypting : 0;
  int good = status == SSL_TICKET_SUCCESS || status == SSL_TICKET_SUCCESS_RENEW;
  int keep = good && ticket != 0 && SSL_SESSION_up_ref(session) == 1;
  if (keep)
    c->decrypting = 0;
  if (c != NULL)
    release_ticket(c);
  if (good && !keep)
    return SSL_TICKET_RETURN_IGNORE_RENEW;
  if (keep) {
    c->session = session;
    c->ticket = ticket;
  }
  if (keep && is_unnamed(ssl, session)) {
    release_ticket(c);
    return SSL_TICKET_RETURN_IGNORE_RENEW;
  }
  SSL_TICKET_RETURN wanted = !good                          ? SSL_TICKET_RETURN_IGNORE_RENEW
                             : status == SSL_TICKET_SUCCESS ? SSL_TICKET_RETURN_USE
                                                            : SSL_TICKET_RETURN_USE_RENEW;
  if (c != NULL && c->decrypted != NULL)
    wanted = c->decrypted(ssl, session, name, len, status, arg);
  if (wanted == SSL_TICKET_RETURN_USE_RENEW && !is_1_3(ssl))
    wanted = SSL_TICKET_RETURN_USE; /* no successor */
  return wanted;
}

/* Whether the SSL_CTX chosen by SNI refuses early data; OpenSSL asks only the one that the SSL was
 * made from.  (With the preload shim, that is what the program expects.) */
static int takes_none(SSL *ssl, const struct connection *c)
{
  SSL_CTX *now = SSL_get_SSL_CTX(ssl);
  const struct attachment *a = attachment_of(ssl);
  int attached = a != NULL && a->tickets != NULL;
  return now != c->first && (attached ? a->no_early_data : SSL_CTX_get_max_early_data(now) == 0);
}

static int on_early_data(SSL *ssl, void *arg)
{
  const struct connection *c = SSL_get_ex_data(ssl, connection_index);
  (void)arg;
  return c != NULL && !takes_none(ssl, c) && redeem(ssl, 1);
}

/* If the backend has no leaf, send no ticket.  Otherwise issue() would make one that nobody can
 * decrypt, and the client would offer it. */
static void withhold_tickets(SSL *ssl, struct connection *c)
{
  const struct backend *b = c->tickets->backend;
  size_t n = SSL_get_num_tickets(ssl);
  if (n == 0 || b->ready == NULL || b->ready(c->tickets->keys) || SSL_set_num_tickets(ssl, 0) != 1)
    return;
  c->withheld = n;
  for (size_t i = 0; i < (SSL_session_reused(ssl) ? 1 : n); i++)
    b->count(c->tickets->keys, COUNT_NOT_ISSUED);
}

/* Act on a handshake's steps. */
static void at_step(SSL *ssl, int where)
{
  struct connection *c = SSL_is_server(ssl) ? connection_of(ssl) : NULL;
  int starts = (where & SSL_CB_HANDSHAKE_START) != 0 &&
               SSL_get_state(ssl) != TLS_ST_EARLY_DATA; /* not: it continues after early data */
  if (c != NULL && starts) {
    drop_opening(c);
    release_ticket(c); /* an SSL may be reused after SSL_clear */
    c->offers = 0;
    c->looked = c->resumes = 0;
    c->early_secret = 0;
    c->forgotten = 0;
    if (c->withheld > 0)
      (void)SSL_set_num_tickets(ssl, c->withheld);
    c->withheld = 0;
    clients_forget(&c->other);
    if (!asks(ssl, c, c->begun)) /* then no ticket matches */
      memset(c->begun, 0, sizeof c->begun);
  } else if (c != NULL && SSL_get_state(ssl) == TLS_ST_SR_CLNT_HELLO) {
    if (SSL_session_reused(ssl) && is_out_of_place(ssl, c))
      refuse(ssl, c);
    if (takes_none(ssl, c))
      (void)SSL_set_max_early_data(ssl, 0); /* its tickets allow none */
  } else if (c != NULL && SSL_get_state(ssl) == TLS_ST_SW_SRVR_HELLO) {
    drop_opening(c);
    /* Another session is resumed, or none.  Forget the ticket: a client that stops here, or at a
     * HelloRetryRequest, must not block the ticket or keep its secret in memory. */
    if (!SSL_session_reused(ssl) || resumed_ticket(ssl, c) == 0)
      release_ticket(c);
  } else if (c != NULL && is_1_3(ssl)) {
    if (SSL_get_state(ssl) == TLS_ST_SW_ENCRYPTED_EXTENSIONS)
      withhold_tickets(ssl, c);
    if (SSL_get_state(ssl) == TLS_ST_SW_ENCRYPTED_EXTENSIONS && SSL_session_reused(ssl)) {
      c->looked = 1;
      (void)redeem(ssl, 0);
      if (c->resumes)
        find_early_secret(ssl, c);
    } else if ((where & SSL_CB_EXIT) != 0 && SSL_is_init_finished(ssl)) {
      release_ticket(c);
      forget_secrets(ssl, c);
    }
  } else if (c != NULL && (where & SSL_CB_HANDSHAKE_DONE) != 0 && SSL_session_reused(ssl)) {
    (void)redeem(ssl, 0);
  }
}

/* OpenSSL calls it some thirty times a handshake. */
static void on_info(const SSL *ssl, int where, int ret)
{
  (void)ret;
  OSSL_HANDSHAKE_STATE state = SSL_get_state(ssl);
  if ((where & SSL_CB_LOOP) == 0 || state == TLS_ST_SR_CLNT_HELLO ||
      state == TLS_ST_SW_SRVR_HELLO || state == TLS_ST_SW_ENCRYPTED_EXTENSIONS)
    at_step((SSL *)(uintptr_t)ssl, where);
}

/* Used if the program has its own callback, which is called last. */
static void on_info_and_call(const SSL *ssl, int where, int ret)
{
  struct attachment *a = attachment_of(ssl);
  on_info(ssl, where, ret);
  if (a != NULL && a->info != NULL)
    a->info(ssl, where, ret);
}

/* Replaces the connection's callback; that one, or the SSL_CTX's, is called last. */
static void on_info_of_ssl(const SSL *ssl, int where, int ret)
{
  const struct connection *c = SSL_get_ex_data(ssl, connection_index);
  void (*info)(const SSL *ssl, int where, int ret) =
    c != NULL && c->info != NULL ? c->info : SSL_CTX_get_info_callback(SSL_get_SSL_CTX(ssl));
  on_info(ssl, where, ret);
  if (info == on_info_and_call)
    info = attachment_of(ssl)->info;
  if (info != NULL && info != on_info)
    info(ssl, where, ret);
}

/* ---- pprf_tls.h ---- */

/* Restore an SSL_CTX's saved settings, or set it up for tickets. */
static int set(SSL_CTX *ctx, const struct settings *s)
{
  int good = SSL_CTX_set_max_early_data(ctx, s->max_early_data) == 1 &&
             SSL_CTX_set_recv_max_early_data(ctx, s->recv_max_early_data) == 1;
  (void)SSL_CTX_set_timeout(ctx, s->timeout);
  (void)SSL_CTX_set_session_cache_mode(ctx, s->cache_mode);
  (void)SSL_CTX_clear_options(ctx, SSL_OP_NO_TICKET | SSL_OP_NO_ANTI_REPLAY);
  (void)SSL_CTX_set_options(ctx, s->options);
  return good;
}

static struct settings settings_of(SSL_CTX *ctx)
{
  return (struct settings){SSL_CTX_get_max_early_data(ctx), SSL_CTX_get_recv_max_early_data(ctx),
                           SSL_CTX_get_timeout(ctx), SSL_CTX_get_session_cache_mode(ctx),
                           SSL_CTX_get_options(ctx) & (SSL_OP_NO_TICKET | SSL_OP_NO_ANTI_REPLAY)};
}

int pprf_tickets_attach(SSL_CTX *ctx, pprf_tickets *tickets)
{
  return pprf_tickets_attach_early(ctx, tickets,
                                   tickets != NULL ? tickets->options.max_early_data : 0);
}

int pprf_tickets_attach_early(SSL_CTX *ctx, pprf_tickets *tickets, uint32_t max_early_data)
{
  if (ctx == NULL || tickets == NULL)
    return PPRF_ERR_NULL;
  if (max_early_data > INT32_MAX)
    return PPRF_TLS_ERR_OPTION;
  if (!initialised())
    return PPRF_ERR_NOMEM;
  struct attachment *a = SSL_CTX_get_ex_data(ctx, ctx_index);
  if ((a != NULL && a->tickets != NULL) || SSL_CTX_sess_get_get_cb(ctx) != NULL ||
      SSL_CTX_sess_get_new_cb(ctx) != NULL)
    return PPRF_TLS_ERR_TAKEN;
  if (a == NULL) {
    a = calloc(1, sizeof *a);
    if (a == NULL)
      return PPRF_ERR_NOMEM;
    if (SSL_CTX_set_ex_data(ctx, ctx_index, a) != 1) {
      free(a);
      return PPRF_TLS_ERR_SSL;
    }
  }
  if (!clients_read(ctx, &a->anchors))
    return PPRF_ERR_NOMEM;
  a->before = settings_of(ctx);
  if (SSL_CTX_get_info_callback(ctx) != on_info &&
      SSL_CTX_get_info_callback(ctx) != on_info_and_call)
    a->info = SSL_CTX_get_info_callback(ctx);
  a->decrypted = NULL;
  /* A client may send as much early data as the SSL_CTX that issued its ticket allowed; what is not
   * accepted must be skipped. */
  uint32_t skipped = tickets->options.max_early_data;
  const struct settings s = {max_early_data, max_early_data > skipped ? max_early_data : skipped,
                             (long)tickets->options.lifetime, SSL_SESS_CACHE_OFF,
                             SSL_OP_NO_ANTI_REPLAY};
  if (!set(ctx, &s) || SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, on_ticket_key) != 1) {
    (void)set(ctx, &a->before);
    return PPRF_TLS_ERR_SSL;
  }
  (void)SSL_CTX_set_session_ticket_cb(ctx, NULL, on_decrypted, NULL);
  SSL_CTX_set_allow_early_data_cb(ctx, on_early_data, NULL);
  SSL_CTX_set_info_callback(ctx, a->info != NULL ? on_info_and_call : on_info);
  a->named = clients_id_bytes(ctx) == 0 &&
             SSL_CTX_set_session_id_context(ctx, (const unsigned char *)CLIENTS_ID,
                                            sizeof CLIENTS_ID - 1) == 1;
  ticket_hold(tickets);
  a->tickets = tickets;
  a->no_early_data = max_early_data == 0;
  return PPRF_OK;
}

/* Keep the attachment: an existing SSL still calls on_info, which calls the program's callback. */
int pprf_tickets_detach(SSL_CTX *ctx)
{
  if (ctx == NULL)
    return PPRF_ERR_NULL;
  struct attachment *a = initialised() ? SSL_CTX_get_ex_data(ctx, ctx_index) : NULL;
  if (a == NULL || a->tickets == NULL)
    return PPRF_OK;
  (void)SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, NULL);
  (void)SSL_CTX_set_session_ticket_cb(ctx, NULL, NULL, NULL);
  SSL_CTX_set_allow_early_data_cb(ctx, NULL, NULL);
  SSL_CTX_set_info_callback(ctx, a->info);
  if (a->named)
    (void)SSL_CTX_set_session_id_context(ctx, NULL, 0);
  int good = set(ctx, &a->before);
  ticket_let_go(a->tickets);
  a->tickets = NULL;
  return good ? PPRF_OK : PPRF_TLS_ERR_SSL;
}

int pprf_tickets_set_session_ticket_cb(SSL_CTX *ctx, SSL_CTX_generate_session_ticket_fn generate,
                                       SSL_CTX_decrypt_session_ticket_fn decrypt, void *arg)
{
  if (ctx == NULL)
    return PPRF_ERR_NULL;
  struct attachment *a = initialised() ? SSL_CTX_get_ex_data(ctx, ctx_index) : NULL;
  if (a == NULL || a->tickets == NULL)
    return PPRF_TLS_ERR_TAKEN;
  a->decrypted = decrypt;
  return SSL_CTX_set_session_ticket_cb(ctx, generate, on_decrypted, arg) == 1 ? PPRF_OK
                                                                              : PPRF_TLS_ERR_SSL;
}

/* The name of the first ticket in a ClientHello, or NULL: the identity of a pre-shared key (RFC 8446,
 * 4.2.11) or a ticket of TLS 1.2 (RFC 5077, 3.2). */
static const uint8_t *offered(SSL *ssl, const struct connection *c)
{
  const unsigned char *p;
  size_t n, identity;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_psk, &p, &n) == 1) {
    if (n < 4)
      return NULL;
    identity = (size_t)p[2] << 8 | p[3];
    return identity >= NAME_BYTES && n - 4 >= identity ? p + 4 : NULL;
  }
  return !c->tickets->options.no_tls_1_2 &&
             SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_session_ticket, &p, &n) == 1 &&
             n >= NAME_BYTES
           ? p
           : NULL;
}

int pprf_tickets_client_hello(SSL *ssl, int *alert, void *arg)
{
  struct connection *c = initialised() ? connection_of(ssl) : NULL;
  (void)alert;
  (void)arg;
  if (c == NULL || c->tickets->backend->open_some == NULL || c->opening.done)
    return SSL_CLIENT_HELLO_SUCCESS;
  const uint8_t *name = c->opening.begun ? c->opening.name : offered(ssl, c);
  if (name == NULL)
    return SSL_CLIENT_HELLO_SUCCESS;
  if (!c->opening.begun)
    memcpy(c->opening.name, name, NAME_BYTES);
  c->tickets->backend->open_some(c->tickets->keys, &c->opening);
  return c->opening.done ? SSL_CLIENT_HELLO_SUCCESS : SSL_CLIENT_HELLO_RETRY;
}

int pprf_tickets_waits_for(const SSL *ssl, int *fd, unsigned *ms)
{
  if (ssl == NULL || fd == NULL || ms == NULL)
    return PPRF_ERR_NULL;
  const struct connection *c = initialised() ? SSL_get_ex_data(ssl, connection_index) : NULL;
  struct timespec t;
  *fd = -1;
  *ms = 0;
  if (c == NULL || !c->opening.begun || c->opening.done)
    return PPRF_ERR_RANGE;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  uint64_t now = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
  *fd = c->opening.fd;
  *ms = c->opening.deadline > now ? (unsigned)(c->opening.deadline - now) : 0;
  return PPRF_OK;
}

/* ---- memory that OpenSSL frees ---- */

/* A process has one OpenSSL allocator, but may have several copies of this library (an nginx module
 * and the preload shim), of different versions, which do not see each other's symbols.  So a copy
 * asks the allocator itself: an allocation from an impossible line number, with a question in place
 * of the file name. */
#define NO_LINE (-0x7070)

struct question {
  char version[32]; /* a string; changes if the answer's format changes */
  int answered;     /* the memory is malloc's, and is wiped when freed */
};

static struct question question = {"libpprf_tls: allocator, 1", 0};

static void answer(const char *file)
{
  if (file != NULL && strcmp(file, question.version) == 0)
    ((struct question *)(uintptr_t)file)->answered = 1;
}

static void *wiping_malloc(size_t n, const char *file, int line)
{
  if (line == NO_LINE)
    answer(file);
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

static pthread_once_t asked = PTHREAD_ONCE_INIT;
static int openssl_wipes, openssl_mallocs; /* whichever copy set its allocator */

/* Ask once: after its first allocation OpenSSL keeps its allocator. */
static void ask(void)
{
  CRYPTO_malloc_fn allocate;
  CRYPTO_free_fn release;
  CRYPTO_get_mem_functions(&allocate, NULL, &release);
  if (allocate != CRYPTO_malloc)
    release(allocate(1, question.version, NO_LINE), question.version, NO_LINE);
  openssl_wipes = question.answered;
  openssl_mallocs = question.answered || allocate == CRYPTO_malloc;
}

static int blocks_are_mallocs(void)
{
  return pthread_once(&asked, ask) == 0 && openssl_mallocs;
}

/* Whether malloc overwrites freed memory, as glibc's does if configured.  It then also fills new
 * blocks with a byte, except those from its cache, which are not overwritten. */
static int malloc_wipes(void)
{
  enum { BYTES = 200 }; /* a size that glibc caches */
  unsigned char *p = malloc(BYTES);
  if (p == NULL)
    return 0;
  for (unsigned i = 0; i < BYTES; i++)
    p[i] = (unsigned char)(i + 1);
  /* keeps the compiler from removing the stores and the block */
  __asm__ volatile("" : : "r"(p) : "memory");
  free(p);
  p = malloc(BYTES);
  __asm__ volatile("" : "+r"(p) : : "memory");
  if (p == NULL)
    return 0;
  int wiped = p[0] != 0; /* fresh memory proves nothing */
  for (unsigned i = 1; i < BYTES; i++)
    wiped &= p[i] == p[0];
  free(p);
  return wiped;
}

unsigned pprf_tickets_wiping(pprf_tickets *tickets)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  if (pprf_tickets_stats(tickets, &s) != PPRF_OK)
    return 0;
  unsigned found = blocks_are_mallocs() && s.kept == 0 ? PPRF_WIPING_USED : 0;
  return found | (openssl_wipes || (openssl_mallocs && malloc_wipes()) ? PPRF_WIPING_FREED : 0);
}

int pprf_tickets_wipe_openssl(void)
{
  return CRYPTO_set_mem_functions(wiping_malloc, wiping_realloc, wiping_free) == 1
           ? PPRF_OK
           : PPRF_TLS_ERR_LATE;
}

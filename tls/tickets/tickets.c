/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets as bytes, for any TLS library (pprf_tickets.h); attach.c has them made by OpenSSL's libssl,
 * in the same format. */
#include "tickets.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <pprf_shared.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pool.h"

/* The parts of a ticket: name, IV, ciphertext, MAC over all that precedes. */
enum {
  IV_AT = NAME_BYTES,
  TEXT_AT = IV_AT + 16,
  MAC_BYTES = 32,
  BLOCK = 16,
  FRAME_BYTES = TEXT_AT + MAC_BYTES
};

_Static_assert(FRAME_BYTES + BLOCK == PPRF_TICKET_OVERHEAD, "a whole block of padding at most");

static pthread_once_t once = PTHREAD_ONCE_INIT;
static EVP_CIPHER *aes_cbc;
static EVP_MAC *hmac;
static EVP_MD *sha256, *sha384;
/* Digests that have taken in an HMAC's two pads, those of a key of zeros: no secrets. */
static EVP_MD_CTX *zero_key[2][2];
static int tried;

static int try_all(void);

static void fetch_zero_key(const EVP_MD *digest, EVP_MD_CTX *half[2])
{
  static const uint8_t pad[2] = {0x36, 0x5c};
  uint8_t block[128];
  for (unsigned i = 0; i < 2; i++) {
    memset(block, pad[i], sizeof block);
    half[i] = EVP_MD_CTX_new();
    if (half[i] == NULL || EVP_DigestInit_ex2(half[i], digest, NULL) != 1 ||
        EVP_DigestUpdate(half[i], block, (size_t)EVP_MD_get_block_size(digest)) != 1) {
      EVP_MD_CTX_free(half[i]);
      half[i] = NULL;
    }
  }
}

static void fetch(void)
{
  aes_cbc = EVP_CIPHER_fetch(NULL, "AES-128-CBC", NULL);
  hmac = EVP_MAC_fetch(NULL, "HMAC", NULL);
  sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
  sha384 = EVP_MD_fetch(NULL, "SHA384", NULL);
  if (sha256 != NULL && sha384 != NULL) {
    fetch_zero_key(sha256, zero_key[0]);
    fetch_zero_key(sha384, zero_key[1]);
  }
  tried = aes_cbc != NULL && hmac != NULL && zero_key[0][0] != NULL && zero_key[0][1] != NULL &&
          zero_key[1][0] != NULL && zero_key[1][1] != NULL && try_all();
}

int ticket_algorithms(void)
{
  return pthread_once(&once, fetch) == 0 && tried;
}

uint64_t ticket_clock(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_BOOTTIME, &t); /* counts suspended time: tickets age then too */
  return (uint64_t)t.tv_sec;
}

/* ---- keys of one ticket ---- */

const EVP_MD *ticket_digest(size_t bytes)
{
  return bytes == 32 ? sha256 : bytes == 48 ? sha384 : NULL;
}

/* One of HMAC's two digests: of the key's block under a pad, and the text. */
static int keyed(EVP_MD_CTX *ctx, const EVP_MD *digest, uint8_t block[128], uint8_t pad,
                 const uint8_t *text, size_t text_bytes, uint8_t *out)
{
  size_t block_bytes = (size_t)EVP_MD_get_block_size(digest);
  for (size_t i = 0; i < block_bytes; i++)
    block[i] ^= pad;
  return EVP_DigestInit_ex2(ctx, digest, NULL) == 1 &&
         EVP_DigestUpdate(ctx, block, block_bytes) == 1 &&
         EVP_DigestUpdate(ctx, text, text_bytes) == 1 && EVP_DigestFinal_ex(ctx, out, NULL) == 1;
}

/* Not OpenSSL's: its HMAC looks the digest up by its name each time, which takes longer than digesting. */
int ticket_hmac(const EVP_MD *digest, const uint8_t *key, size_t key_bytes, const uint8_t *text,
                size_t text_bytes, uint8_t *out)
{
  EVP_MD_CTX *ctx = EVP_MD_CTX_new();
  uint8_t block[128] = {0}, inner[48];
  memcpy(block, key, key_bytes);
  int good = ctx != NULL && keyed(ctx, digest, block, 0x36, text, text_bytes, inner) &&
             keyed(ctx, digest, block, 0x36 ^ 0x5c, inner, (size_t)EVP_MD_get_size(digest), out);
  EVP_MD_CTX_free(ctx); /* wipes what it holds */
  OPENSSL_cleanse(block, sizeof block);
  OPENSSL_cleanse(inner, sizeof inner);
  return good;
}

int ticket_extract(const EVP_MD *digest, const uint8_t *secret, uint8_t *out)
{
  EVP_MD_CTX *const *half = zero_key[digest == sha384], *ctx = EVP_MD_CTX_new();
  size_t bytes = (size_t)EVP_MD_get_size(digest);
  uint8_t inner[48];
  int good = ctx != NULL && EVP_MD_CTX_copy_ex(ctx, half[0]) == 1 &&
             EVP_DigestUpdate(ctx, secret, bytes) == 1 &&
             EVP_DigestFinal_ex(ctx, inner, NULL) == 1 && EVP_MD_CTX_copy_ex(ctx, half[1]) == 1 &&
             EVP_DigestUpdate(ctx, inner, bytes) == 1 && EVP_DigestFinal_ex(ctx, out, NULL) == 1;
  EVP_MD_CTX_free(ctx); /* wipes what it holds */
  OPENSSL_cleanse(inner, sizeof inner);
  return good;
}

int ticket_derive(const struct origin *origin, const uint8_t value[PPRF_SEED_BYTES],
                  struct ticket_keys *keys)
{
  return pprf_split_value(origin->suite, origin->salt, origin->leaf, value, keys->cipher,
                          keys->mac) == PPRF_OK;
}

int ticket_set_keys(const struct ticket_keys *keys, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac,
                    const uint8_t iv[16], int enc)
{
  static char digest[] = "SHA256";
  OSSL_PARAM params[] = {OSSL_PARAM_construct_octet_string(
                           OSSL_MAC_PARAM_KEY, (void *)(uintptr_t)keys->mac, sizeof keys->mac),
                         OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
                         OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, params) == 1 &&
         EVP_CipherInit_ex2(cipher, aes_cbc, keys->cipher, iv, enc, NULL) == 1;
}

/* ---- tickets as bytes ---- */

/* A cipher and a MAC under the keys of a leaf's value. */
struct engine {
  EVP_CIPHER_CTX *cipher;
  EVP_MAC_CTX *mac;
};

static int start(struct engine *e, const struct origin *origin,
                 const uint8_t value[PPRF_SEED_BYTES], const uint8_t iv[16], int enc)
{
  struct ticket_keys keys;
  *e = (struct engine){EVP_CIPHER_CTX_new(), EVP_MAC_CTX_new(hmac)};
  int good = e->cipher != NULL && e->mac != NULL && ticket_derive(origin, value, &keys);
  if (good) {
    good = ticket_set_keys(&keys, e->cipher, e->mac, iv, enc) &&
           EVP_MAC_init(e->mac, NULL, 0, NULL) == 1;
    OPENSSL_cleanse(&keys, sizeof keys);
  }
  return good;
}

static void end(struct engine *e)
{
  EVP_CIPHER_CTX_free(e->cipher); /* both wipe their keys */
  EVP_MAC_CTX_free(e->mac);
}

static int mac_of(struct engine *e, const uint8_t *in, size_t len, uint8_t mac[MAC_BYTES])
{
  size_t n;
  return EVP_MAC_update(e->mac, in, len) == 1 && EVP_MAC_final(e->mac, mac, &n, MAC_BYTES) == 1 &&
         n == MAC_BYTES;
}

/* in may be NULL if len is 0. */
static int encrypt(struct engine *e, const uint8_t *in, size_t len, uint8_t *out)
{
  int n = 0, last = 0;
  return (len == 0 || EVP_CipherUpdate(e->cipher, out, &n, in, (int)len) == 1) &&
         EVP_CipherFinal_ex(e->cipher, out + n, &last) == 1 &&
         (size_t)n + (size_t)last == (len / BLOCK + 1) * BLOCK;
}

static int decrypt(struct engine *e, const uint8_t *in, size_t len, uint8_t *out, size_t *out_len)
{
  int n = 0, last = 0;
  if (EVP_CipherUpdate(e->cipher, out, &n, in, (int)len) != 1 ||
      EVP_CipherFinal_ex(e->cipher, out + n, &last) != 1)
    return 0;
  *out_len = (size_t)n + (size_t)last;
  return 1;
}

/* In a program that binds lazily the first call of a function leaves the caller's registers on the stack
 * (prg/common/prepare.c).  So the functions that see a ticket's secrets are called before there are any. */
static int try_all(void)
{
  static const struct ticket_keys keys;
  static const uint8_t zeros[48];
  uint8_t out[64];
  struct engine e = {EVP_CIPHER_CTX_new(), EVP_MAC_CTX_new(hmac)};
  int good = e.cipher != NULL && e.mac != NULL &&
             ticket_set_keys(&keys, e.cipher, e.mac, zeros, 1) &&
             EVP_MAC_init(e.mac, NULL, 0, NULL) == 1 && encrypt(&e, zeros, sizeof zeros, out) &&
             mac_of(&e, zeros, sizeof zeros, out) &&
             ticket_hmac(sha384, zeros, sizeof zeros, zeros, sizeof zeros, out) &&
             ticket_extract(sha384, zeros, out) && CRYPTO_memcmp(out, zeros, sizeof zeros) != 0;
  end(&e);
  return good;
}

int pprf_tickets_seal(pprf_tickets *tickets, const uint8_t *in, size_t in_len, uint8_t *out,
                      size_t *out_len)
{
  if (tickets == NULL || (in == NULL && in_len > 0) || out_len == NULL)
    return PPRF_ERR_NULL;
  if (in_len > PPRF_TICKET_CONTENT_MAX)
    return PPRF_ERR_RANGE;
  size_t text = (in_len / BLOCK + 1) * BLOCK, need = FRAME_BYTES + text, room = *out_len;
  *out_len = need;
  if (out == NULL)
    return PPRF_OK;
  if (room < need)
    return PPRF_ERR_BUFFER;
  uint8_t value[PPRF_SEED_BYTES];
  struct origin origin;
  struct engine e = {NULL, NULL};
  int err = tickets->backend->issue(tickets->keys, ticket_clock(), out, &origin, value);
  memcpy(out + IV_AT, out, NAME_BYTES);
  if (err == PPRF_OK &&
      !(start(&e, &origin, value, out + IV_AT, 1) && encrypt(&e, in, in_len, out + TEXT_AT) &&
        mac_of(&e, out, TEXT_AT + text, out + TEXT_AT + text)))
    err = PPRF_ERR_CRYPTO;
  end(&e);
  OPENSSL_cleanse(value, sizeof value);
  if (err != PPRF_OK) {
    OPENSSL_cleanse(out, need);
    tickets->backend->count(tickets->keys, COUNT_NOT_ISSUED);
  }
  return err;
}

/* Whether a ticket's length is one that sealing gives. */
static int is_ticket_length(size_t len)
{
  return len >= FRAME_BYTES + BLOCK && (len - FRAME_BYTES) % BLOCK == 0 &&
         len <= PPRF_TICKET_CONTENT_MAX + PPRF_TICKET_OVERHEAD;
}

/* A tree is reached by names of the backend's only.  A MAC is compared in time that says nothing of
 * it, and nothing is decrypted before it is found good. */
static int open_ticket(struct engine *e, const struct origin *origin,
                       const uint8_t value[PPRF_SEED_BYTES], const uint8_t *in, size_t in_len,
                       uint8_t *out, size_t *out_len)
{
  uint8_t mac[MAC_BYTES];
  if (!start(e, origin, value, in + IV_AT, 0) || !mac_of(e, in, in_len - MAC_BYTES, mac))
    return PPRF_ERR_CRYPTO;
  int same = CRYPTO_memcmp(mac, in + in_len - MAC_BYTES, MAC_BYTES) == 0;
  OPENSSL_cleanse(mac, sizeof mac);
  if (!same)
    return PPRF_ERR_FORMAT;
  return decrypt(e, in + TEXT_AT, in_len - FRAME_BYTES, out, out_len) ? PPRF_OK : PPRF_ERR_CRYPTO;
}

int pprf_tickets_open(pprf_tickets *tickets, const uint8_t *in, size_t in_len, uint8_t *out,
                      size_t *out_len, uint64_t *ticket)
{
  if (ticket != NULL)
    *ticket = 0;
  if (tickets == NULL || in == NULL || out == NULL || out_len == NULL || ticket == NULL)
    return PPRF_ERR_NULL;
  size_t room = *out_len;
  *out_len = 0;
  if (!is_ticket_length(in_len)) {
    tickets->backend->count(tickets->keys, COUNT_FOREIGN);
    return PPRF_ERR_FORMAT;
  }
  size_t need = in_len - FRAME_BYTES - 1;
  if (room < need) {
    *out_len = need;
    return PPRF_ERR_BUFFER;
  }
  uint8_t value[PPRF_SEED_BYTES];
  uint64_t found;
  struct origin origin;
  struct engine e = {NULL, NULL};
  int err = tickets->backend->open(tickets->keys, ticket_clock(), in, &found, &origin, value);
  if (err == PPRF_OK) {
    err = open_ticket(&e, &origin, value, in, in_len, out, out_len);
    end(&e);
    if (err == PPRF_OK)
      *ticket = found;
    else {
      OPENSSL_cleanse(out, need);
      tickets->backend->release(tickets->keys, found);
      if (err == PPRF_ERR_FORMAT)
        tickets->backend->count(tickets->keys, COUNT_FOREIGN);
    }
  }
  OPENSSL_cleanse(value, sizeof value);
  return err;
}

int pprf_tickets_redeem(pprf_tickets *tickets, uint64_t ticket, int early)
{
  return tickets == NULL ? PPRF_ERR_NULL
                         : tickets->backend->redeem(tickets->keys, ticket_clock(), ticket, early);
}

int pprf_tickets_release(pprf_tickets *tickets, uint64_t ticket)
{
  if (tickets == NULL)
    return PPRF_ERR_NULL;
  tickets->backend->release(tickets->keys, ticket);
  return PPRF_OK;
}

/* ---- the state ---- */

/* Structures of the first version end here; the fields of later ones follow. */
enum {
  OPTIONS_1 = offsetof(struct pprf_tickets_options, max_early_data) + sizeof(unsigned),
  STATS_1 = offsetof(struct pprf_tickets_stats, memory_bytes) + sizeof(uint64_t)
};

/* The options of a program that was compiled with this version, an older one or a newer one, whose
 * further fields must be zero.  False: its size cannot be. */
static int read_options(const struct pprf_tickets_options *from, struct pprf_tickets_options *to)
{
  *to = (struct pprf_tickets_options){0};
  if (from->size < OPTIONS_1)
    return 0;
  for (size_t i = sizeof *to; i < from->size; i++)
    if (((const uint8_t *)from)[i] != 0)
      return 0;
  memcpy(to, from, from->size < sizeof *to ? from->size : sizeof *to);
  return 1;
}

/* A key lasts a lifetime at this rate, so that two would do, and the other keys are a reserve. */
static unsigned depth_for(uint64_t rate, uint64_t lifetime)
{
  unsigned depth = 10;
  while (UINT64_C(1) << depth < rate * lifetime)
    depth++;
  return depth;
}

static void fill_in(struct pprf_tickets_options *o)
{
  o->lifetime = o->lifetime != 0 ? o->lifetime : 7200;
  if (o->depth == 0)
    o->depth = depth_for(o->rate != 0 ? o->rate : 500, o->lifetime);
  o->max_early_data = o->max_early_data != 0 ? o->max_early_data : 16384;
}

/* AES-128 where the processor has instructions for it: the library's version without takes more than twice as
 * long as SHA3. */
static unsigned default_suite(void)
{
  const char *aes = pprf_aes_name();
  int instructions =
    strcmp(aes, "aes-vaes") == 0 || strcmp(aes, "aes-ni") == 0 || strcmp(aes, "aes-armv8") == 0;
  return instructions ? PPRF_AES_128 : PPRF_SHA3_256_SALTED;
}

unsigned pprf_tickets_suite(const char *name)
{
  for (unsigned suite = 1; name != NULL && pool_has_suite(suite); suite++)
    if (strcmp(name, pprf_suite_name(suite)) == 0)
      return suite;
  return 0;
}

/* The keys that a pool may hold. */
static unsigned keys_of(const struct pprf_tickets_options *o)
{
  return o->memory == 0 ? 8 : pool_keys(o->depth, o->memory);
}

const char *pprf_tickets_bad_option(const struct pprf_tickets_options *options)
{
  struct pprf_tickets_options copy, *o = &copy;
  if (options == NULL)
    return NULL;
  if (!read_options(options, o))
    return "size: sizeof(struct pprf_tickets_options)";
  if (o->depth != 0 && (o->depth < 4 || o->depth > PPRF_SLOTS_DEPTH_MAX))
    return "depth: 4..32";
  if (o->lifetime > 604800)
    return "lifetime: 1..604800 seconds";
  unsigned lifetime = o->lifetime != 0 ? o->lifetime : 7200;
  if (o->rotation != 0 && o->rotation < lifetime)
    return "rotation: at least the lifetime";
  if (o->max_early_data > INT32_MAX)
    return "max_early_data: 1..2147483647 bytes";
  if (o->rate != 0 && (o->depth != 0 || (uint64_t)o->rate * lifetime > UINT64_C(1) << 32))
    return "rate: rate * lifetime at most 4294967296, and no depth beside it";
  if (o->suite != 0 && !pool_has_suite(o->suite))
    return "suite: sha3-256, sha3-256-salted or aes-128";
  fill_in(o);
  if (keys_of(o) < POOL_KEYS_MIN)
    return "memory: room for two keys, 8.3 * 2^depth bytes each, and some pages";
  return NULL;
}

int ticket_state(pprf_tickets **tickets, const struct pprf_tickets_options *options)
{
  if (tickets == NULL)
    return PPRF_ERR_NULL;
  *tickets = NULL;
  if (pprf_tickets_bad_option(options) != NULL)
    return PPRF_TLS_ERR_OPTION;
  if (!ticket_algorithms())
    return PPRF_ERR_CRYPTO;
  pprf_tickets *t = calloc(1, sizeof *t);
  if (t == NULL)
    return PPRF_ERR_NOMEM;
  struct pprf_tickets_options *o = &t->options;
  if (options != NULL)
    (void)read_options(options, o);
  fill_in(o);
  atomic_init(&t->users, 1);
  *tickets = t;
  return PPRF_OK;
}

/* err: of the pool that was to be theirs. */
static int with_pool(pprf_tickets **tickets, struct pool *pool, int err)
{
  (*tickets)->backend = &pool_backend;
  (*tickets)->keys = pool;
  if (err != PPRF_OK) {
    free(*tickets);
    *tickets = NULL;
  }
  return err;
}

int pprf_tickets_new(pprf_tickets **tickets, const struct pprf_tickets_options *options)
{
  int err = ticket_state(tickets, options);
  if (err != PPRF_OK)
    return err;
  const struct pprf_tickets_options *o = &(*tickets)->options;
  struct pool *pool;
  unsigned suite = o->suite != 0 ? (unsigned)o->suite : default_suite();
  err = pool_new(&pool, o->depth, keys_of(o), o->lifetime, o->rotation, suite);
  return with_pool(tickets, pool, err);
}

int pprf_tickets_import(pprf_tickets **tickets, int fd, const struct pprf_tickets_options *options)
{
  int err = ticket_state(tickets, options);
  if (err != PPRF_OK)
    return err;
  const struct pprf_tickets_options *o = &(*tickets)->options;
  struct pool *pool;
  err = pool_import(&pool, fd, o->depth, keys_of(o), o->lifetime, o->rotation, (unsigned)o->suite);
  return with_pool(tickets, pool, err);
}

int pprf_tickets_export(pprf_tickets *tickets, int *fd)
{
  if (fd != NULL)
    *fd = -1;
  return tickets == NULL || fd == NULL ? PPRF_ERR_NULL
                                       : tickets->backend->export(tickets->keys, fd);
}

int pprf_tickets_expire(pprf_tickets *tickets)
{
  return tickets == NULL ? PPRF_ERR_NULL : tickets->backend->expire(tickets->keys, ticket_clock());
}

int pprf_tickets_rotate(pprf_tickets *tickets)
{
  return tickets == NULL ? PPRF_ERR_NULL : tickets->backend->rotate(tickets->keys, ticket_clock());
}

int pprf_tickets_revoke(pprf_tickets *tickets)
{
  return tickets == NULL ? PPRF_ERR_NULL : tickets->backend->revoke(tickets->keys, ticket_clock());
}

int pprf_tickets_stats(pprf_tickets *tickets, struct pprf_tickets_stats *stats)
{
  if (tickets == NULL || stats == NULL)
    return PPRF_ERR_NULL;
  struct pprf_tickets_stats s;
  size_t size = stats->size;
  if (size < STATS_1)
    return PPRF_TLS_ERR_OPTION;
  tickets->backend->stats(tickets->keys, &s);
  s.size = size;
  memset(stats, 0, size); /* fields that this version does not know */
  memcpy(stats, &s, size < sizeof s ? size : sizeof s);
  return PPRF_OK;
}

int pprf_tickets_adopt(pprf_tickets *tickets)
{
  if (tickets == NULL)
    return PPRF_ERR_NULL;
  tickets->backend->adopt(tickets->keys);
  return PPRF_OK;
}

void ticket_hold(pprf_tickets *tickets)
{
  (void)atomic_fetch_add(&tickets->users, 1);
}

void ticket_let_go(pprf_tickets *tickets)
{
  if (atomic_fetch_sub(&tickets->users, 1) > 1)
    return;
  tickets->backend->free(tickets->keys);
  free(tickets);
}

void pprf_tickets_free(pprf_tickets *tickets)
{
  if (tickets == NULL)
    return;
  tickets->backend->close(tickets->keys);
  ticket_let_go(tickets);
}

const char *pprf_tls_strerror(int err)
{
  switch (err) {
  case PPRF_TLS_ERR_OPTION:
    return "an option's value is out of range";
  case PPRF_TLS_ERR_TAKEN:
    return "the SSL_CTX has tickets or a session store of its own";
  case PPRF_TLS_ERR_SSL:
    return "OpenSSL refused a setting";
  case PPRF_TLS_ERR_LATE:
    return "OpenSSL has allocated memory already";
  case PPRF_TLS_ERR_BACKEND:
    return "the tickets' server gives no answer, or its password file or certificate cannot be used";
  case PPRF_TLS_ERR_FD:
    return "the descriptor is not of tickets, or of tickets that have ended or are another version's";
  default:
    return pprf_strerror(err);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "clients.h"

#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <pthread.h>
#include <string.h>

#include "tickets/tickets.h"

/* ---- the session id context ---- */

/* OpenSSL can set it but not return it.  SSL and SSL_CTX store it as a length followed by an array.
 * To find the offsets, set a random one in an SSL and an SSL_CTX and search for it. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static size_t in_ssl, in_ctx; /* offset of the length; 0: not found, so none can be read */

struct id_context {
  size_t length;
  uint8_t bytes[SSL_MAX_SID_CTX_LENGTH];
};

/* False: it cannot be read. */
static int read_id(const void *object, size_t at, struct id_context *id)
{
  if (at == 0 || at + sizeof *id > clients_object_bytes(object))
    return 0;
  memcpy(id, (const uint8_t *)object + at, sizeof *id);
  return id->length <= sizeof id->bytes;
}

static size_t find_id(const void *object, const struct id_context *id)
{
  const uint8_t *in = object, *found = memmem(in, clients_object_bytes(in), id, sizeof *id);
  return found != NULL ? (size_t)(found - in) : 0;
}

static void find_ids(void)
{
  struct id_context id = {sizeof id.bytes, {0}};
  SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
  SSL *ssl = NULL;
  if (ctx != NULL && RAND_bytes(id.bytes, sizeof id.bytes) == 1 &&
      SSL_CTX_set_session_id_context(ctx, id.bytes, sizeof id.bytes) == 1 &&
      (ssl = SSL_new(ctx)) != NULL) {
    in_ctx = find_id(ctx, &id);
    in_ssl = find_id(ssl, &id);
  }
  SSL_free(ssl);
  SSL_CTX_free(ctx);
}

int clients_id_bytes(const SSL_CTX *ctx)
{
  struct id_context id;
  return pthread_once(&once, find_ids) == 0 && read_id(ctx, in_ctx, &id) ? (int)id.length : -1;
}

/* ---- the digest ---- */

static int add(EVP_MD_CTX *digest, const void *bytes, size_t n)
{
  uint64_t length = n;
  return EVP_DigestUpdate(digest, &length, sizeof length) == 1 &&
         (n == 0 || EVP_DigestUpdate(digest, bytes, n) == 1);
}

static int add_names(EVP_MD_CTX *digest, const STACK_OF(X509_NAME) * names)
{
  int good = 1;
  for (int i = 0; good && i < sk_X509_NAME_num(names); i++) {
    const unsigned char *der;
    size_t n;
    good = X509_NAME_get0_der(sk_X509_NAME_value(names, i), &der, &n) == 1 && add(digest, der, n);
  }
  return good;
}

/* Sum of the certificates' digests, since a store has no order. */
static int digest_store(X509_STORE *store, uint8_t out[32])
{
  uint64_t sum[4] = {0}, one[4];
  if (X509_STORE_lock(store) != 1)
    return 0;
  const STACK_OF(X509_OBJECT) *objects = X509_STORE_get0_objects(store);
  int good = 1;
  for (int i = 0; good && i < sk_X509_OBJECT_num(objects); i++) {
    const X509 *cert = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i));
    if (cert == NULL)
      continue; /* a CRL */
    good = X509_digest(cert, ticket_digest(sizeof one), (uint8_t *)one, NULL) == 1;
    for (unsigned j = 0; good && j < 4; j++)
      sum[j] += one[j];
  }
  (void)X509_STORE_unlock(store);
  memcpy(out, sum, sizeof sum);
  return good;
}

/* Holds the store while its digest is in use. */
static int read_store(X509_STORE *store, struct clients_anchors *anchors)
{
  clients_forget(anchors);
  if (!digest_store(store, anchors->digest) || X509_STORE_up_ref(store) != 1)
    return 0;
  anchors->store = store;
  return 1;
}

int clients_read(SSL_CTX *ctx, struct clients_anchors *anchors)
{
  X509_STORE *store = NULL;
  (void)SSL_CTX_get0_verify_cert_store(ctx, &store);
  if (store == NULL)
    store = SSL_CTX_get_cert_store(ctx);
  return store == NULL || read_store(store, anchors);
}

void clients_forget(struct clients_anchors *anchors)
{
  X509_STORE_free(anchors->store);
  *anchors = (struct clients_anchors){0};
}

static int add_verifying(EVP_MD_CTX *digest, SSL *ssl, const struct clients_anchors *anchors,
                         struct clients_anchors *other)
{
  SSL_CTX *ctx = SSL_get_SSL_CTX(ssl);
  X509_STORE *store = NULL;
  const STACK_OF(X509_NAME) *names = SSL_get_client_CA_list(ssl);
  (void)SSL_get0_verify_cert_store(ssl, &store);
  if (store == NULL)
    store = SSL_CTX_get_cert_store(ctx);
  X509_VERIFY_PARAM *own = SSL_get0_param(ssl), *stores = X509_STORE_get0_param(store);
  const uint64_t number[] = {
    (uint64_t)X509_VERIFY_PARAM_get_depth(own), X509_VERIFY_PARAM_get_flags(own),
    (uint64_t)X509_VERIFY_PARAM_get_depth(stores), X509_VERIFY_PARAM_get_flags(stores)};
  if (anchors == NULL || anchors->store != store)
    anchors = other;
  if (anchors->store != store && !read_store(store, other))
    return 0;
  return add(digest, number, sizeof number) &&
         add(digest, anchors->digest, sizeof anchors->digest) &&
         add_names(digest, sk_X509_NAME_num(names) > 0 ? names : SSL_get0_CA_list(ssl));
}

int clients_digest(SSL *ssl, const struct clients_anchors *anchors, struct clients_anchors *other,
                   uint8_t out[CLIENTS_BYTES])
{
  uint8_t whole[EVP_MAX_MD_SIZE];
  struct id_context id;
  /* from the SSL: SSL_set_SSL_CTX does not change its mode */
  const uint64_t mode[] = {(uint64_t)SSL_get_verify_mode(ssl),
                           (uint64_t)SSL_CTX_get_verify_mode(SSL_get_SSL_CTX(ssl))};
  EVP_MD_CTX *digest = EVP_MD_CTX_new();
  int good = digest != NULL && EVP_DigestInit_ex2(digest, ticket_digest(32), NULL) == 1 &&
             pthread_once(&once, find_ids) == 0 && add(digest, mode, sizeof mode);
  if (good && read_id(ssl, in_ssl, &id))
    good = id.length > 0 ? add(digest, id.bytes, id.length)
                         : add(digest, CLIENTS_ID, sizeof CLIENTS_ID - 1);
  if (good && ((mode[0] | mode[1]) & SSL_VERIFY_PEER) != 0)
    good = add_verifying(digest, ssl, anchors, other);
  good = good && EVP_DigestFinal_ex(digest, whole, NULL) == 1;
  EVP_MD_CTX_free(digest);
  if (good)
    memcpy(out, whole, CLIENTS_BYTES);
  return good;
}

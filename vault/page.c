/* SPDX-License-Identifier: Apache-2.0 */
#include "page.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char message[512] = "no error";

const char *pprf_vault_error(void)
{
  return message;
}

int fail(int err, const char *format, ...)
{
  char text[sizeof message]; /* an argument may be the message itself */
  va_list args;
  va_start(args, format);
  (void)vsnprintf(text, sizeof text, format, args);
  va_end(args);
  memcpy(message, text, sizeof message);
  return err;
}

int failed(int err, const char *what)
{
  return err < PPRF_VAULT_ERR_BUSY ? fail(err, "%s: %s", what, pprf_strerror(err)) : err;
}

void wipe_free(void *memory, size_t bytes)
{
  if (memory != NULL)
    OPENSSL_cleanse(memory, bytes);
  free(memory);
}

void put_le(uint8_t *out, uint64_t value, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++)
    out[i] = (uint8_t)(value >> 8 * i);
}

uint64_t get_le(const uint8_t *in, unsigned bytes)
{
  uint64_t value = 0;
  for (unsigned i = 0; i < bytes; i++)
    value |= (uint64_t)in[i] << 8 * i;
  return value;
}

bool tree_of_head(struct tree *tree)
{
  tree->depth = tree->head[8];
  tree->suite = tree->head[9];
  tree->seed = (PPRF_SUITES_32_BYTES >> (tree->suite & 63) & 1) != 0 ? 32 : 16;
  return memcmp(tree->head, PAGE_MAGIC, 8) == 0 && tree->depth >= PPRF_DEPTH_MIN &&
         tree->depth <= PPRF_DEPTH_MAX && pprf_suite_name(tree->suite) != NULL;
}

/* ---- sealing ---- */

int draw(uint8_t *out, size_t bytes)
{
  if (RAND_priv_bytes(out, (int)bytes) == 1)
    return PPRF_OK;
  OPENSSL_cleanse(out, bytes);
  return fail(PPRF_ERR_CRYPTO, "the random generator failed");
}

int derive(uint8_t out[KEY], const uint8_t *secret, size_t bytes, const uint8_t salt[KEY],
           const char *info)
{
  EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
  EVP_KDF_CTX *c = kdf != NULL ? EVP_KDF_CTX_new(kdf) : NULL;
  OSSL_PARAM p[] = {
    OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, bytes),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, KEY),
    OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, strlen(info)),
    OSSL_PARAM_construct_end(),
  };
  int good = c != NULL && EVP_KDF_derive(c, out, KEY, p) > 0;
  EVP_KDF_CTX_free(c);
  EVP_KDF_free(kdf);
  if (!good)
    OPENSSL_cleanse(out, KEY);
  return good ? PPRF_OK : fail(PPRF_ERR_CRYPTO, "HKDF failed");
}

int gcm(bool seal, const uint8_t key[KEY], const uint8_t nonce[12], const uint8_t *with,
        size_t with_bytes, const uint8_t *in, size_t len, uint8_t *out)
{
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  int n = 0;
  bool good = c != NULL && EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce, seal) == 1 &&
              EVP_CipherUpdate(c, NULL, &n, with, (int)with_bytes) == 1 && (n = 0, true) &&
              (len == 0 || EVP_CipherUpdate(c, out, &n, in, (int)len) == 1);
  int err = good ? PPRF_OK : PPRF_ERR_CRYPTO;
  if (good && seal)
    good = EVP_CipherFinal_ex(c, out + n, &n) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG, out + len) == 1;
  else if (good) {
    good = EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG, (void *)(in + len)) == 1 &&
           EVP_CipherFinal_ex(c, out + n, &n) == 1;
    err = good ? PPRF_OK : PPRF_VAULT_ERR_DAMAGED;
  }
  EVP_CIPHER_CTX_free(c);
  if (!good)
    OPENSSL_cleanse(out, len + (seal ? TAG : 0));
  return good ? PPRF_OK : err == PPRF_OK ? PPRF_ERR_CRYPTO : err;
}

/* The nonce is zero: a page key is random and seals one page, a root's key is derived with a random salt. */
int page_gcm(bool seal, const struct tree *tree, uint64_t row, const uint8_t key[KEY],
             const uint8_t *in, uint8_t *out)
{
  static const uint8_t zero[12];
  uint8_t with[PUBLIC + 8];
  memcpy(with, tree->head, PUBLIC);
  put_le(with + PUBLIC, row, 8);
  int err = gcm(seal, key, zero, with, sizeof with, in, PAGE_MAX, out);
  return err == PPRF_OK ? err
                        : fail(err, "page %llu: it does not open under its key: damaged or foreign",
                               (unsigned long long)row);
}

/* ---- leaf pages: for each node a byte, height and gap, perhaps the gap in 7-bit groups, the seed ---- */

enum { GAP_FOLLOWS = 2 };

static size_t gap_bytes(uint64_t gap)
{
  size_t n = 0;
  for (; gap >= GAP_FOLLOWS && (n == 0 || gap >> 7 * n != 0); n++)
    ;
  return n;
}

size_t node_bytes(const struct tree *tree, const struct node *node, uint64_t end)
{
  return 1 + gap_bytes(node->start - end) + tree->seed;
}

static uint64_t node_end(const struct node *node)
{
  return node->start + (UINT64_C(1) << node->height);
}

void leaf_encode(const struct tree *tree, const struct node *node, size_t count,
                 uint8_t plain[PAGE_MAX])
{
  uint64_t end = count > 0 ? node->start : 0;
  uint8_t *at = plain + LEAF_HEAD;
  memset(plain, 0, PAGE_MAX);
  put_le(plain + 1, count, 2);
  put_le(plain + PAGE_HEAD, end, 8);
  for (size_t i = 0; i < count; end = node_end(&node[i++])) {
    uint64_t gap = node[i].start - end;
    size_t n = gap_bytes(gap);
    *at++ = (uint8_t)(node[i].height | (n > 0 ? GAP_FOLLOWS : gap) << 6);
    for (; n > 0; n--, gap >>= 7)
      *at++ = (uint8_t)((gap & 127) | (n > 1 ? 128 : 0));
    memcpy(at, node[i].seed, tree->seed);
    at += tree->seed;
  }
}

/* Read the head of a node; the start of the node before ended at *end. */
static const uint8_t *node_decode(struct node *node, uint64_t *end, const uint8_t *at,
                                  const uint8_t *stop)
{
  if (at == stop)
    return NULL;
  uint64_t gap = *at >> 6;
  node->height = *at++ & 63;
  if (gap == GAP_FOLLOWS) {
    gap = 0;
    for (unsigned shift = 0;; shift += 7) {
      if (at == stop || shift > 63)
        return NULL;
      gap |= (uint64_t)(*at & 127) << shift;
      if (*at++ < 128)
        break;
    }
  }
  node->start = *end + gap;
  *end = node_end(node);
  return at;
}

int leaf_decode(const struct tree *tree, const uint8_t plain[PAGE_MAX], struct node **node,
                size_t *count)
{
  size_t n = get_le(plain + 1, 2), seed = tree->seed;
  const uint8_t *at = plain + LEAF_HEAD, *stop = plain + PAGE_MAX;
  *node = NULL;
  *count = 0;
  if (n > (PAGE_MAX - LEAF_HEAD) / (seed + 1))
    return PPRF_VAULT_ERR_DAMAGED;
  uint64_t end = get_le(plain + PAGE_HEAD, 8);
  struct node *all = calloc(n + 1, sizeof *all);
  if (all == NULL)
    return PPRF_ERR_NOMEM;
  for (size_t i = 0; i < n && at != NULL; i++) {
    at = node_decode(&all[i], &end, at, stop);
    if (at == NULL || (size_t)(stop - at) < seed)
      at = NULL;
    else
      memcpy(all[i].seed, at, seed);
    at = at == NULL ? NULL : at + seed;
  }
  if (at == NULL) {
    nodes_free(all, n);
    return PPRF_VAULT_ERR_DAMAGED;
  }
  *node = all;
  *count = n;
  return PPRF_OK;
}

void nodes_free(struct node *node, size_t count)
{
  wipe_free(node, count * sizeof *node);
}

/* ---- keys: docs/key-file.md ---- */

struct layout {
  bool first_version;
  size_t head, id, record; /* bytes before the nodes, of an id, of a node */
};

static struct layout layout_of(const struct tree *tree)
{
  bool first = tree->suite == PPRF_SHA3_256 && tree->depth <= 32;
  size_t id = tree->depth / 8 + 1;
  return (struct layout){first, first ? 16 : 36, id, id + tree->seed};
}

int key_of_nodes(pprf_key **key, const struct tree *tree, const struct node *node, size_t count)
{
  const struct pprf_import_options options = {
    .size = sizeof options, .suites = PPRF_SUITE_BIT(tree->suite), .store = PPRF_STORE_PACKED};
  struct layout l = layout_of(tree);
  size_t body = l.head + count * l.record;
  uint8_t *file = calloc(1, body + 32);
  *key = NULL;
  if (file == NULL)
    return PPRF_ERR_NOMEM;
  memcpy(file, "PPRFKEY", 7);
  file[7] = l.first_version ? 1 : 2;
  file[8] = (uint8_t)tree->suite;
  file[9] = (uint8_t)tree->depth;
  put_le(file + 12, count, l.first_version ? 4 : 8);
  if (!l.first_version)
    memcpy(file + 20, tree->head + SALT_AT, 16);
  for (size_t i = 0; i < count; i++) {
    uint8_t *at = file + l.head + i * l.record;
    put_le(at, 2 * node[i].start + (UINT64_C(1) << node[i].height), (unsigned)l.id);
    memcpy(at + l.id, node[i].seed, tree->seed);
  }
  int err = EVP_Digest(file, body, file + body, NULL, EVP_sha3_256(), NULL) == 1 ? PPRF_OK
                                                                                 : PPRF_ERR_CRYPTO;
  if (err == PPRF_OK)
    err = pprf_import_with(key, file, body + 32, &options);
  wipe_free(file, body + 32);
  return err;
}

int nodes_of_key(struct node **node, size_t *count, const struct tree *tree, const pprf_key *key)
{
  struct layout l = layout_of(tree);
  size_t len = 0;
  *node = NULL;
  *count = 0;
  int err = pprf_export(key, NULL, &len);
  if (err != PPRF_OK)
    return err;
  size_t n = (len - l.head - 32) / l.record, size = len;
  uint8_t *file = malloc(len);
  struct node *all = calloc(n + 1, sizeof *all);
  err = file == NULL || all == NULL ? PPRF_ERR_NOMEM : pprf_export(key, file, &len);
  for (size_t i = 0; i < n && err == PPRF_OK; i++) {
    const uint8_t *at = file + l.head + i * l.record;
    uint64_t id = get_le(at, (unsigned)l.id);
    all[i].height = (unsigned)__builtin_ctzll(id);
    all[i].start = (id & (id - 1)) >> 1;
    memcpy(all[i].seed, at + l.id, tree->seed);
  }
  wipe_free(file, size);
  if (err != PPRF_OK) {
    nodes_free(all, n);
    return err;
  }
  *node = all;
  *count = n;
  return PPRF_OK;
}

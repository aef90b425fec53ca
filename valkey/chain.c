/* SPDX-License-Identifier: Apache-2.0 */
#include "chain.h"

#include <openssl/crypto.h>
#include <string.h>

enum { LABEL_BYTES = 16 };
static const char label[LABEL_BYTES + 1] = "libpprf valkey 1";
static EVP_MD *digest;

int chain_init(void)
{
  if (digest == NULL)
    digest = EVP_MD_fetch(NULL, "SHAKE256", NULL);
  return digest != NULL ? 0 : -1;
}

/* out = SHAKE256(in || use).  The digest is fetched once, since that takes longer than hashing.
 * Freeing the context wipes its state, which would reveal a mask. */
static int shake(const uint8_t *in, size_t n, uint8_t use, uint8_t *out, size_t bytes)
{
  EVP_MD_CTX *c = EVP_MD_CTX_new();
  int ok = c != NULL && EVP_DigestInit_ex2(c, digest, NULL) == 1 &&
           EVP_DigestUpdate(c, in, n) == 1 && EVP_DigestUpdate(c, &use, 1) == 1 &&
           EVP_DigestFinalXOF(c, out, bytes) == 1;
  EVP_MD_CTX_free(c);
  return ok ? 0 : -1;
}

int chain_agree(EVP_PKEY *own, const uint8_t peer[CHAIN_KEY_BYTES],
                const uint8_t client[CHAIN_KEY_BYTES], const uint8_t server[CHAIN_KEY_BYTES],
                uint8_t chain[CHAIN_KEY_BYTES])
{
  uint8_t in[3 * CHAIN_KEY_BYTES + LABEL_BYTES];
  size_t n = CHAIN_KEY_BYTES;
  EVP_PKEY *other = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, peer, CHAIN_KEY_BYTES);
  EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
  /* the derivation fails for a key of small order */
  int ok = other != NULL && c != NULL && EVP_PKEY_derive_init(c) == 1 &&
           EVP_PKEY_derive_set_peer(c, other) == 1 && EVP_PKEY_derive(c, in, &n) == 1 &&
           n == CHAIN_KEY_BYTES;
  if (ok) {
    memcpy(in + CHAIN_KEY_BYTES, client, CHAIN_KEY_BYTES);
    memcpy(in + 2 * CHAIN_KEY_BYTES, server, CHAIN_KEY_BYTES);
    memcpy(in + 3 * CHAIN_KEY_BYTES, label, LABEL_BYTES);
    ok = shake(in, sizeof in, 0, chain, CHAIN_KEY_BYTES) == 0;
  }
  OPENSSL_cleanse(in, sizeof in);
  EVP_PKEY_CTX_free(c);
  EVP_PKEY_free(other);
  return ok ? 0 : -1;
}

int chain_mask(uint8_t chain[CHAIN_KEY_BYTES], uint8_t *value, size_t n)
{
  uint8_t mask[16 * 64];
  int err = 0;
  /* a step of the chain for each piece */
  for (size_t at = 0; at < n && err == 0; at += sizeof mask) {
    size_t bytes = n - at < sizeof mask ? n - at : sizeof mask;
    err = shake(chain, CHAIN_KEY_BYTES, 1, mask, bytes);
    for (size_t i = 0; i < bytes && err == 0; i++)
      value[at + i] ^= mask[i];
    if (err == 0)
      err = shake(chain, CHAIN_KEY_BYTES, 2, mask, CHAIN_KEY_BYTES);
    if (err == 0)
      memcpy(chain, mask, CHAIN_KEY_BYTES);
  }
  OPENSSL_cleanse(mask, sizeof mask);
  if (err != 0)
    OPENSSL_cleanse(value, n);
  return err;
}

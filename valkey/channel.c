/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

enum { LABEL_BYTES = 16 };
static const char label[LABEL_BYTES + 1] = "libpprf valkey 1";

/* A chain key; all zero: the channel is free. */
struct slot {
  uint8_t chain[CHANNEL_KEY_BYTES];
};
static struct slot *slots;
static int lowest_free; /* no free one lies below */
static EVP_MD *digest;

int channel_init(void)
{
  size_t bytes = CHANNEL_MAX * sizeof *slots;
  void *p =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  digest = EVP_MD_fetch(NULL, "SHAKE256", NULL);
  if (p == MAP_FAILED || digest == NULL)
    return -1;
  (void)madvise(p, bytes, MADV_DONTDUMP);
  (void)madvise(p, bytes, MADV_WIPEONFORK);
  (void)mlock2(p, bytes, MLOCK_ONFAULT);
  slots = p;
  return 0;
}

/* out = SHAKE256(in || use).  The digest is looked up once: that takes longer than computing it.  Its
 * state, from which a mask follows, is wiped by the freeing. */
static int shake(const uint8_t *in, size_t n, uint8_t use, uint8_t *out, size_t bytes)
{
  EVP_MD_CTX *c = EVP_MD_CTX_new();
  int ok = c != NULL && EVP_DigestInit_ex2(c, digest, NULL) == 1 &&
           EVP_DigestUpdate(c, in, n) == 1 && EVP_DigestUpdate(c, &use, 1) == 1 &&
           EVP_DigestFinalXOF(c, out, bytes) == 1;
  EVP_MD_CTX_free(c);
  return ok ? 0 : -1;
}

/* in[0..31] = X25519(own, peer), and the chain key from it and the two public keys. */
static int agree(EVP_PKEY *own, const uint8_t *client, const uint8_t *server, uint8_t *chain)
{
  uint8_t in[3 * CHANNEL_KEY_BYTES + LABEL_BYTES];
  size_t n = CHANNEL_KEY_BYTES;
  EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, NULL, client, CHANNEL_KEY_BYTES);
  EVP_PKEY_CTX *c = EVP_PKEY_CTX_new(own, NULL);
  /* a peer's key of small order makes the derivation fail */
  int ok = peer != NULL && c != NULL && EVP_PKEY_derive_init(c) == 1 &&
           EVP_PKEY_derive_set_peer(c, peer) == 1 && EVP_PKEY_derive(c, in, &n) == 1 &&
           n == CHANNEL_KEY_BYTES;
  if (ok) {
    memcpy(in + CHANNEL_KEY_BYTES, client, CHANNEL_KEY_BYTES);
    memcpy(in + 2 * CHANNEL_KEY_BYTES, server, CHANNEL_KEY_BYTES);
    memcpy(in + 3 * CHANNEL_KEY_BYTES, label, LABEL_BYTES);
    ok = shake(in, sizeof in, 0, chain, CHANNEL_KEY_BYTES) == 0;
  }
  OPENSSL_cleanse(in, sizeof in);
  EVP_PKEY_CTX_free(c);
  EVP_PKEY_free(peer);
  return ok ? 0 : -1;
}

static int is_free(const struct slot *s)
{
  static const struct slot zero;
  return CRYPTO_memcmp(s, &zero, sizeof zero) == 0;
}

int channel_open(const uint8_t client[CHANNEL_KEY_BYTES], uint8_t own[CHANNEL_KEY_BYTES])
{
  size_t n = CHANNEL_KEY_BYTES;
  int i = lowest_free;
  while (i < CHANNEL_MAX && !is_free(&slots[i]))
    i++;
  if (i == CHANNEL_MAX)
    return -1;
  EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
  int ok = key != NULL && EVP_PKEY_get_raw_public_key(key, own, &n) == 1 &&
           agree(key, client, own, slots[i].chain) == 0;
  EVP_PKEY_free(key);
  if (!ok) {
    channel_close(i);
    return -1;
  }
  lowest_free = i + 1;
  return i;
}

int channel_mask(int channel, uint8_t *value, size_t n)
{
  uint8_t mask[16 * 64], *chain = slots[channel].chain;
  int err = 0;
  /* a step of the chain for each piece */
  for (size_t at = 0; at < n && err == 0; at += sizeof mask) {
    size_t bytes = n - at < sizeof mask ? n - at : sizeof mask;
    err = shake(chain, CHANNEL_KEY_BYTES, 1, mask, bytes);
    for (size_t i = 0; i < bytes && err == 0; i++)
      value[at + i] ^= mask[i];
    if (err == 0)
      err = shake(chain, CHANNEL_KEY_BYTES, 2, mask, CHANNEL_KEY_BYTES);
    if (err == 0)
      memcpy(chain, mask, CHANNEL_KEY_BYTES);
  }
  OPENSSL_cleanse(mask, sizeof mask);
  if (err != 0)
    OPENSSL_cleanse(value, n);
  return err;
}

void channel_close(int channel)
{
  OPENSSL_cleanse(&slots[channel], sizeof slots[channel]);
  if (channel < lowest_free)
    lowest_free = channel;
}

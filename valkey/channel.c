/* SPDX-License-Identifier: Apache-2.0 */
#include "channel.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <sys/mman.h>

#include "chain.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

/* A chain key; all zero: the channel is free. */
struct slot {
  uint8_t chain[CHANNEL_KEY_BYTES];
};
static struct slot *slots;
static int lowest_free; /* no lower slot is free */

int channel_init(void)
{
  size_t bytes = CHANNEL_MAX * sizeof *slots;
  void *p =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED || chain_init() != 0)
    return -1;
  (void)madvise(p, bytes, MADV_DONTDUMP);
  (void)madvise(p, bytes, MADV_WIPEONFORK);
  (void)mlock2(p, bytes, MLOCK_ONFAULT);
  slots = p;
  return 0;
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
           chain_agree(key, client, client, own, slots[i].chain) == 0;
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
  return chain_mask(slots[channel].chain, value, n);
}

void channel_close(int channel)
{
  OPENSSL_cleanse(&slots[channel], sizeof slots[channel]);
  if (channel < lowest_free)
    lowest_free = channel;
}

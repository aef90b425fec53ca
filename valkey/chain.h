/* SPDX-License-Identifier: Apache-2.0 */
/* Masks for values sent from the module to a host.  Client and server agree on a 32-byte chain key
 * (X25519, both key pairs made for the connection).  Each value's mask is derived from the chain
 * key, which is then replaced by its hash: Bellare and Yee's forward-secure generator.  docs/fleet.md
 * has the formulas, and where they are proven. */
#ifndef VALKEY_CHAIN_H
#define VALKEY_CHAIN_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

enum { CHAIN_KEY_BYTES = 32 };

/* Fetch the digest, once a process.  Returns 0, or -1 if it is not available. */
int chain_init(void);
/* The first chain key, from one side's own key and the other's public key, and both public keys in
 * the given order.  Returns 0, or -1: `peer` is not a valid public key, or the digest failed. */
int chain_agree(EVP_PKEY *own, const uint8_t peer[CHAIN_KEY_BYTES],
                const uint8_t client[CHAIN_KEY_BYTES], const uint8_t server[CHAIN_KEY_BYTES],
                uint8_t chain[CHAIN_KEY_BYTES]);
/* Mask or unmask n bytes in place and advance the chain key.  Returns 0, or -1 if the digest
 * failed; the bytes are then wiped. */
int chain_mask(uint8_t chain[CHAIN_KEY_BYTES], uint8_t *value, size_t n);

#endif

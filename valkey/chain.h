/* SPDX-License-Identifier: Apache-2.0 */
/* The masks of values on their way from the module to a host, which both ends compute: a 32-byte chain key
 * that client and server agree on (X25519, both keys made for the connection), from which each value's mask
 * follows, and which is then replaced by its hash.  docs/fleet.md has the formulas. */
#ifndef VALKEY_CHAIN_H
#define VALKEY_CHAIN_H

#include <openssl/evp.h>
#include <stddef.h>
#include <stdint.h>

enum { CHAIN_KEY_BYTES = 32 };

/* Fetch the digest, once a process.  0, or -1: there is none. */
int chain_init(void);
/* The first chain key, from one side's own key and the other's public key; then both public keys, in this
 * order.  0, or -1: `peer` is no public key, or the digest failed. */
int chain_agree(EVP_PKEY *own, const uint8_t peer[CHAIN_KEY_BYTES],
                const uint8_t client[CHAIN_KEY_BYTES], const uint8_t server[CHAIN_KEY_BYTES],
                uint8_t chain[CHAIN_KEY_BYTES]);
/* Mask n bytes in place, or take their mask away, and go on to the next chain key.  0, or -1: the digest
 * failed, and the bytes are wiped. */
int chain_mask(uint8_t chain[CHAIN_KEY_BYTES], uint8_t *value, size_t n);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Masks values sent to a client.  The server, and every proxy in between, keeps replies in buffers
 * that it neither wipes nor lets a module wipe, so their content must be useless to anyone who
 * reads it later.  Each connection has a chain key (chain.h).  An attacker who reads the server's
 * memory gets the current chain key but no earlier one.
 *   This protects values from an attacker who reads memory later.  It does not protect against one
 * who changes bytes on the wire: use TLS, or a Unix socket's permissions. */
#ifndef VALKEY_CHANNEL_H
#define VALKEY_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "chain.h"

enum { CHANNEL_KEY_BYTES = CHAIN_KEY_BYTES, CHANNEL_MAX = 65536 };

/* Allocate CHANNEL_MAX channels, kept out of core dumps and, if the system permits, out of swap,
 * and cleared in a child.  Returns 0, or -1: no memory, or no digest. */
int channel_init(void);

/* Agree on a chain key with the client's public key; writes ours to `own`.  Returns the channel's
 * number, or -1: too many channels, or the key is invalid. */
int channel_open(const uint8_t client[CHANNEL_KEY_BYTES], uint8_t own[CHANNEL_KEY_BYTES]);
/* Mask n bytes in place and advance the chain key.  Returns 0, or -1 if the digest failed; the
 * bytes are then wiped. */
int channel_mask(int channel, uint8_t *value, size_t n);
/* Wipe the channel. */
void channel_close(int channel);

#endif

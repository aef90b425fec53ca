/* SPDX-License-Identifier: Apache-2.0 */
/* Values on their way to a client, masked.  A server keeps replies in buffers that it neither wipes nor
 * lets a module wipe, and so does every proxy on the way: what lies there must be of no use to whoever
 * reads it later.  So each connection has a chain key (chain.h).  Who has the server's memory later has the chain key of that time, and no earlier one.
 *   This hides values from who reads memory afterwards.  Against who changes what goes over the wire it
 * does nothing: that is TLS's, or a Unix socket's permissions. */
#ifndef VALKEY_CHANNEL_H
#define VALKEY_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "chain.h"

enum { CHANNEL_KEY_BYTES = CHAIN_KEY_BYTES, CHANNEL_MAX = 65536 };

/* Make the memory for CHANNEL_MAX channels: out of swap if the system lets us, in no core dump, and
 * cleared in a child.  0, or -1: no memory, or no digest. */
int channel_init(void);

/* Agree on a chain key with the client's public key; ours is written to `own`.  The channel's number, or
 * -1: too many channels, or the key is none. */
int channel_open(const uint8_t client[CHANNEL_KEY_BYTES], uint8_t own[CHANNEL_KEY_BYTES]);
/* Mask n bytes in place, and go on to the next chain key.  0, or -1: the digest failed, and the bytes
 * are wiped. */
int channel_mask(int channel, uint8_t *value, size_t n);
/* Wipe the channel. */
void channel_close(int channel);

#endif

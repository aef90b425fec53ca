/* SPDX-License-Identifier: Apache-2.0 */
/** @file shared.h
 * Keys in memory that forked processes share, for the session tickets of tls/.  The functions of
 * pprf.h accept them; pprf_free is opt_shared_free.  Callers must serialise access across
 * processes. */
#ifndef PPRF_OPT_SHARED_H
#define PPRF_OPT_SHARED_H

#include "pprf.h"

/** Make a key with all leaves punctured, in memory shared with processes forked later, at the same
 * address in all of them.
 * @retval PPRF_OK, PPRF_ERR_NOMEM. */
int opt_shared_new(pprf_key **key, unsigned depth);

/** Make it a new key with nothing punctured and a root seed from RAND_priv_bytes, whatever its
 * state.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO (the key is unchanged). */
int opt_shared_start(pprf_key *key);

/** Wipe the key and puncture all its leaves.  The key may be in any state, even half changed,
 * and another call can finish one that was interrupted.  Where locked pages cannot be given
 * back, as under AddressSanitizer, this and opt_shared_start write all of the mapping. */
void opt_shared_clear(pprf_key *key);

/** Unmap the key in this process.  Does not wipe it: other processes may use it, and the kernel
 * frees the memory when the last one unmaps it.  To wipe it at once, call opt_shared_clear
 * first. */
void opt_shared_free(pprf_key *key);

#endif

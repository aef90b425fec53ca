/* SPDX-License-Identifier: Apache-2.0 */
/** @file shared.h
 * Keys in memory that forked processes share, for the session tickets of tls/.  The functions of
 * pprf.h take them; pprf_free is opt_shared_free.  The callers serialise across processes. */
#ifndef PPRF_OPT_SHARED_H
#define PPRF_OPT_SHARED_H

#include "pprf.h"

/** Make a key whose leaves are all punctured, in memory shared with processes forked later, at one
 * address in all of them.
 * @retval PPRF_OK, PPRF_ERR_NOMEM. */
int opt_shared_new(pprf_key **key, unsigned depth);

/** Make it a new key, nothing punctured, its root seed drawn from RAND_priv_bytes, whatever state it is
 * in.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO (the key is as it was). */
int opt_shared_start(pprf_key *key);

/** Wipe the key and puncture all its leaves.  It may be in any state, half changed too, and what
 * this call leaves half done another call can finish.  Where the system does not take locked pages back, as under
 * AddressSanitizer, it writes all of the mapping; so does opt_shared_start. */
void opt_shared_clear(pprf_key *key);

/** Unmap the key in this process.  It is not wiped: other processes may hold it, and the system wipes
 * its memory when the last one lets go.  To wipe it now, opt_shared_clear first. */
void opt_shared_free(pprf_key *key);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file key.h
 * What batch.c needs of a key besides the public functions. */
#ifndef REF_KEY_H
#define REF_KEY_H

#include "pprf.h"

/** Exchange what two keys are: each pointer is then the other's key. */
void ref_exchange(pprf_key *a, pprf_key *b);

#endif

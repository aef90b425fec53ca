/* SPDX-License-Identifier: Apache-2.0 */
/** @file sha256.h
 * The suite mls-sha256 (wide.h) without libcrypto.
 *
 * Versions, bit for bit the same function.  Control flow and addresses do not depend on the seed; they
 * cannot fail.  Seeds, the key's two hash states and schedules are in registers, at most spilled to the stack
 * below the caller: prg_wipe clears both. */
#ifndef PPRF_PRG_SHA256_H
#define PPRF_PRG_SHA256_H

#include "wide.h"

typedef struct pprf_wide_children opt_wide_expand(struct pprf_wide_seed seed);

#endif

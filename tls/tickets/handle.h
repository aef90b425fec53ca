/* SPDX-License-Identifier: Apache-2.0 */
/** @file handle.h
 * Keys in shared memory of the caller's.  The memory holds no pointer, so that processes may map it at
 * different addresses.  Each process has a handle of its own, which the functions of pprf.h,
 * opt_shared_start and opt_shared_clear take; the callers serialise across processes, and carry what is
 * not in the memory from one handle to the next: the number of nodes, and the suite and the salt. */
#ifndef PPRF_TLS_HANDLE_H
#define PPRF_TLS_HANDLE_H

#include <pprf.h>
#include <stddef.h>
#include <stdint.h>

#include "prg.h"

/** Bytes that a key of this depth takes: whole pages; 0 if they are more than a size_t counts. */
size_t handle_bytes(unsigned depth);

/** A handle, without a suite yet, for the key in memory of handle_bytes(depth) bytes from a page's start, which are left as
 * they are: zero, to be cleared first, or those of another handle's key.
 * @retval PPRF_OK, PPRF_ERR_NOMEM. */
int handle_new(pprf_key **key, unsigned depth, void *memory);

/** Lock the key's seeds into memory in a process forked after handle_new, if they are locked in the one
 * that called it: locks are not inherited, and a page that only the child touches would be swapped. */
void handle_lock(const pprf_key *key);

/** Say which suite and salt the key has, in whatever process it was started. */
void handle_set_family(pprf_key *key, struct pprf_family family);

/** Say how many nodes the key has come to through another handle. */
void handle_set_nodes(pprf_key *key, uint64_t nodes);

/** Bytes of the handle. */
size_t handle_own_bytes(const pprf_key *key);

/** Bytes of memory that the handle and the key really hold: counting them takes as long as the key is
 * large. */
size_t handle_memory_bytes(const pprf_key *key);

/** Free a handle, NULL too; the memory stays. */
void handle_free(pprf_key *key);

#endif

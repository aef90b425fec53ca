/* SPDX-License-Identifier: Apache-2.0 */
/** @file pprf_shared.h
 * Keys in memory of the caller's, for servers of several processes, and what they make of a leaf's value.
 *
 * A key lies in memory that the caller gives, as a shared mapping or a file of memory (memfd_create) that other
 * programs map too.  The memory holds no pointer: each process may map it at another address, and has a handle
 * of its own, which pprf_eval, pprf_punct and the other functions of pprf.h take.  (Not pprf_free and
 * pprf_prefault: pprf_shared_close.)  The key has pair slots (PPRF_STORE_SLOTS) and a depth of 1..32; the implementation opt
 * alone has these functions.
 *
 * What is not in the memory.  The suite, the salt and the number of nodes belong to the handle.  The callers
 * keep them beside the key, and set them (pprf_shared_set) in a handle before they use it, after another
 * handle has changed the key.
 *
 * Threads and processes.  The callers keep the writer and the readers of a key apart in all processes, as
 * pprf.h says of threads, for instance by a robust mutex in shared memory of their own.  A process that dies while it
 * writes leaves the key half changed: pprf_shared_clear and pprf_shared_start take it in any state, the other
 * functions do not.
 *
 * Fork.  A handle is good in a child of the process that opened it: both have the same key.  */
#ifndef PPRF_SHARED_H
#define PPRF_SHARED_H

#include <pprf.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of memory that a key of this depth takes: whole pages; 0 if depth is not in 1..32, or if they are more
 * than a size_t counts. */
PPRF_API size_t pprf_shared_bytes(unsigned depth);

/** Open a handle for the key in memory.  The memory is left as it is: it is zero, to be cleared or started
 * first, or another handle's key.  Seeds are locked into memory, as far as the limit (RLIMIT_MEMLOCK) goes, and kept out of core
 * dumps.
 * @param[out] key    the handle, to be given back with pprf_shared_close; NULL on error.
 * @param[in]  depth  1..32, the key's.
 * @param[in]  memory pprf_shared_bytes(depth) bytes from a page's start, which live as long as the handle.
 * @retval PPRF_OK        *key is a handle; its suite is PPRF_SHA3_256 and it has no nodes, until
 *                        pprf_shared_set or pprf_shared_start says otherwise.
 * @retval PPRF_ERR_NULL  key or memory is NULL.
 * @retval PPRF_ERR_RANGE depth is not in 1..32, or memory does not begin a page.
 * @retval PPRF_ERR_NOMEM no memory, or address space is short. */
PPRF_API int pprf_shared_open(pprf_key **key, unsigned depth, void *memory);

/** Lock the key's seeds into memory in a process forked after pprf_shared_open, if they are locked in the one
 * that called it: locks are not inherited, and a page that only the child touches would be swapped.  NULL is
 * allowed. */
PPRF_API void pprf_shared_lock(const pprf_key *key);

/** Tell a handle what another has made of the key.
 * @param[in,out] key   the handle; as it was on error.
 * @param[in]     suite of the key: one whose values have PPRF_SEED_BYTES bytes.
 * @param[in]     salt  PPRF_SALT_BYTES bytes, the key's; not read in a suite without a salt, and may be NULL then.
 * @param[in]     nodes pprf_node_count of the handle that changed it last.
 * @retval PPRF_OK        the handle is as that one.
 * @retval PPRF_ERR_NULL  key is NULL, or salt is and the suite has one.
 * @retval PPRF_ERR_SUITE the suite is unknown, or its values have 32 bytes.
 * @retval PPRF_ERR_RANGE more nodes than 2^(depth - 1).
 * @retval PPRF_ERR_CRYPTO the digest failed; not once a call for this suite has succeeded in the process.
 * @retval PPRF_ERR_NOMEM no memory; the same. */
PPRF_API int pprf_shared_set(pprf_key *key, unsigned suite, const uint8_t salt[PPRF_SALT_BYTES],
                             uint64_t nodes);

/** Make it a new key, nothing punctured, with a random root and salt, whatever state it is in.
 * @param[in,out] key   the handle; it and the key are as they were on error.
 * @param[in]     suite one whose values have PPRF_SEED_BYTES bytes.
 * @param[out]    salt  PPRF_SALT_BYTES bytes, the key's, for other handles; zero in a suite without a salt, and
 *                      on error.
 * @retval PPRF_OK         the key has one node.
 * @retval PPRF_ERR_NULL   key or salt is NULL.
 * @retval PPRF_ERR_SUITE  the suite is unknown, or its values have 32 bytes.
 * @retval PPRF_ERR_CRYPTO the random generator or the digest failed.
 * @retval PPRF_ERR_NOMEM  no memory. */
PPRF_API int pprf_shared_start(pprf_key *key, unsigned suite, uint8_t salt[PPRF_SALT_BYTES]);

/** Wipe the key and puncture all its leaves.  It may be in any state, half changed too, since its writer died,
 * and what this call leaves half done another call can finish.  NULL is allowed.  Where the system does not take locked pages
 * back, as under AddressSanitizer, it writes all of the memory; so does pprf_shared_start. */
PPRF_API void pprf_shared_clear(pprf_key *key);

/** Bytes of the handle alone; 0 for NULL. */
PPRF_API size_t pprf_shared_handle_bytes(const pprf_key *key);

/** Bytes of memory that the handle and the key really hold: counting them takes as long as the key is
 * large; 0 for NULL. */
PPRF_API size_t pprf_shared_memory_bytes(const pprf_key *key);

/** Free a handle; NULL is allowed.  The memory stays, with the key in it: pprf_shared_clear wipes that. */
PPRF_API void pprf_shared_close(pprf_key *key);

/** Two secrets from a leaf's value, for instance the keys of a cipher and of a MAC: what the suite would give as its
 * children's seeds if the leaf were an inner node of the in-order id 2 * leaf + 1, which no inner node has.  So they are
 * independent of each other and of all values and seeds of the key, and are gone when the leaf is
 * punctured and they and the value are wiped.
 * @param[in]  suite of the key: one whose values have PPRF_SEED_BYTES bytes.
 * @param[in]  salt  PPRF_SALT_BYTES bytes, the key's; not read in a suite without a salt, and may be NULL then.
 * @param[in]  leaf  whose value it is.
 * @param[in]  value of the leaf.
 * @param[out] left  PPRF_SEED_BYTES bytes; zeroed on error.  It may be value.
 * @param[out] right as left; only one of them may be value.
 * @retval PPRF_OK         left and right are set.
 * @retval PPRF_ERR_NULL   value, left or right is NULL, or salt is and the suite has one.
 * @retval PPRF_ERR_SUITE  the suite is unknown, or its values have 32 bytes.
 * @retval PPRF_ERR_RANGE  leaf is 2^63 or more.
 * @retval PPRF_ERR_CRYPTO the digest failed.
 * @retval PPRF_ERR_NOMEM  no memory for the digest's state. */
PPRF_API int pprf_split_value(unsigned suite, const uint8_t salt[PPRF_SALT_BYTES], uint64_t leaf,
                              const uint8_t value[PPRF_SEED_BYTES], uint8_t left[PPRF_SEED_BYTES],
                              uint8_t right[PPRF_SEED_BYTES]);

#ifdef __cplusplus
}
#endif
#endif

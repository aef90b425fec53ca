/* SPDX-License-Identifier: Apache-2.0 */
/** @file list.h
 * The paper's own store, kept as a measured baseline: a singly linked list in no order, two
 * allocations an element, every operation a linear search. */
#ifndef PPRF_LIST_H
#define PPRF_LIST_H

#include "impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Greatest depth: a node's in-order id is a 4-byte integer. */
#define LIST_DEPTH_MAX 30

/** Lacks punct_range, delegate, memory_locked, export_key and import_key. */
extern const struct pprf_impl impl_list;

/** Heap bytes of the list as its code asked for them: the paper's 36 n + 24.  (memory_bytes gives
 * what the allocator really spends: 64 n + 32 with glibc on a 64-bit machine.) */
size_t list_effective_bytes(const pprf_key *key);

#ifdef __cplusplus
}
#endif
#endif

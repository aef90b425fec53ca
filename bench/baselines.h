/* SPDX-License-Identifier: Apache-2.0 */
/** @file baselines.h
 * Stores to compare with, each written plainly: no wiping, no error recovery (both in their
 * favour). Nodes have in-order ids, of 4 bytes unless stated otherwise.
 *
 *   list28  the paper's proposal (figure 4.2): a linked list with one 28-byte struct per element
 *   bst     the paper's future work: a balanced search tree, std::map (a red-black tree)
 *   array   a sorted array of 20-byte records; memmove at every puncture
 *   btree   a B-tree, Abseil's btree_map, by 8-byte ids
 *   hash    a hash map, Abseil's flat_hash_map, by 8-byte ids, searched at each height
 *
 * `slots` is no baseline but opt with PPRF_STORE_SLOTS. `opt` has the default, packed keys.
 *
 * The baselines lack memory_locked, export_key and import_key; a range is punctured leaf by leaf. */
#ifndef PPRF_BASELINES_H
#define PPRF_BASELINES_H

#include "../cli/impls/impl.h"

/** Depth limits of the baselines with 4-byte ids, and of those with 8-byte ids. */
#define BASELINE_DEPTH_MAX 30
#define WIDE_DEPTH_MAX 63

#ifdef __cplusplus
extern "C" {
#endif
extern const struct pprf_impl impl_list28, impl_bst, impl_array, impl_btree, impl_hash, impl_slots;
#ifdef __cplusplus
}
#endif

#endif

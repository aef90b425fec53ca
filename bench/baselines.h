/* SPDX-License-Identifier: Apache-2.0 */
/** @file baselines.h
 * Stores to measure against, each written plainly: no wiping, no error recovery (both in their
 * favour), nodes named by 4-byte in-order ids.
 *
 *   list28  the paper's proposal (its figure 4.2): a linked list with one 28-byte struct an element
 *   bst     the paper's future work: a balanced search tree, std::map (a red-black tree)
 *   array   a sorted array of 20-byte records; memmove at every puncture
 *
 * They lack memory_locked, export_key and import_key; a range is punctured leaf by leaf. */
#ifndef PPRF_BASELINES_H
#define PPRF_BASELINES_H

#include "impl.h"

#define BASELINE_DEPTH_MAX 30

extern "C" const struct pprf_impl impl_list28, impl_bst, impl_array;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file pages.h
 * Pages of a store that nothing needs any more go back to the system.  A page comes back zero, or,
 * if the system does not take it, stays as it is. */
#ifndef PPRF_OPT_PAGES_H
#define PPRF_OPT_PAGES_H

#include "store.h"

/** Give back the slots of the leaves first .. end - 1, which are zero and stay so. */
void opt_pages_release_slots(struct opt_store *s, uint64_t first, uint64_t end);

/** Give back the words of the bitmap's level 0 over the leaves first .. end - 1, blocks that are
 * full at a higher level: the words say nothing. */
void opt_pages_release_dead(struct opt_store *s, uint64_t first, uint64_t end);

/** Give back all of the mapping.  With every leaf punctured the slots are zero and of the bitmap
 * only the top level is trusted, which lies in the small block. */
void opt_pages_release_all(struct opt_store *s);

#endif

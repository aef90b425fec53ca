/* SPDX-License-Identifier: Apache-2.0 */
/** @file core.h
 * The puncturable PRF on an array of nodes in leaf order that the caller owns.
 *
 * Results are those of pprf.h; PPRF_ERR_BUFFER means that the array is too short for the result.
 * On any error the array and its length are as they were. */
#ifndef REF_CORE_H
#define REF_CORE_H

#include "node.h"
#include "pprf.h"

/** More nodes than a puncture (of a leaf or a range) can add to a key of depth d. */
#define REF_GROWTH(d) (2 * (size_t)(d))

/** How many nodes lie wholly left of leaf x: the index of the first node that ends beyond x. */
size_t ref_find(const struct ref_node *a, size_t n, uint64_t x);

/** The key of depth d that has nothing punctured: one node, the root. */
void ref_setup(struct ref_node *a, unsigned d, struct pprf_seed root);

/** Value of leaf x: zero on error.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED, or an error of prg_expand. */
int ref_eval(const struct ref_node *a, size_t n, unsigned d, uint64_t x, struct pprf_seed *value);

/** The co-path of x below a node that covers x: the siblings along the path from the node down to
 * x, in leaf order, path[0 .. *left-1] left of x and path[*left .. height-1] right of it.
 * @param[out] path  room for node->height nodes; wiped on error.
 * @param[out] left  how many of them are left of x.
 * @param[out] value the value of x, zero on error.
 * @retval PPRF_OK or an error of prg_expand. */
int ref_co_path(const struct ref_node *node, uint64_t x, struct ref_node *path, size_t *left,
                struct pprf_seed *value);

/** Puncture leaf x and give its value, zero on error.
 * @param[in,out] n   length; on success the node that covered x is replaced by its co-path.
 * @param[in]     cap nodes that the array holds.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED, PPRF_ERR_BUFFER, or an error of
 * prg_expand. */
int ref_eval_punct(struct ref_node *a, size_t *n, size_t cap, unsigned d, uint64_t x,
                   struct pprf_seed *value);

/** Puncture leaf x: ref_eval_punct without the value. */
int ref_punct(struct ref_node *a, size_t *n, size_t cap, unsigned d, uint64_t x);

/** Puncture the leaves first .. last.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED (all of them were before), PPRF_ERR_BUFFER,
 * or an error of prg_expand. */
int ref_punct_range(struct ref_node *a, size_t *n, size_t cap, unsigned d, uint64_t first,
                    uint64_t last);

#endif

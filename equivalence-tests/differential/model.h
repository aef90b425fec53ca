/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.h
 * The naive model consists only of the root's seed and the set of punctured leaves. Every answer is
 * computed from these by the definition, so that an error shared by both implementations shows as a
 * difference. */
#ifndef EQ_MODEL_H
#define EQ_MODEL_H

#include <stddef.h>
#include <stdint.h>

#include "wide.h"

struct interval {
  uint64_t first, last;
};

struct model {
  unsigned depth;
  struct pprf_family family;
  struct pprf_wide_seed root; /* the third and fourth word are zero in suites with 16-byte seeds */
  struct interval *hole; /* the punctured leaves: disjoint, ascending, never adjacent */
  size_t holes, cap;
};

/** A fresh key of the family; the seed has the family's seed size. */
void model_setup(struct model *m, unsigned depth, struct pprf_family family, const uint8_t *seed);
void model_free(struct model *m);

/** Bytes of a value. */
size_t model_value_bytes(const struct model *m);

/* Results and outputs are those of the functions in pprf.h. */
int model_eval(const struct model *m, uint64_t leaf, uint8_t *out);
int model_punct(struct model *m, uint64_t leaf);
int model_eval_punct(struct model *m, uint64_t leaf, uint8_t *out);
int model_punct_range(struct model *m, uint64_t first, uint64_t last);

/** Set up sub as the key that pprf_delegate makes; on an error it has nothing to free. */
int model_delegate(const struct model *m, uint64_t first, uint64_t last, struct model *sub);

/** Height of the node that covers a live leaf of the tree. */
unsigned model_height(const struct model *m, uint64_t leaf);

/** The canonical encoding, allocated with malloc. */
uint8_t *model_export(const struct model *m, size_t *len, size_t *nodes);

/** Whether an encoder can write these bytes, by the definition: the listed nodes are the cover of
 * the key in which all leaves outside of them are punctured. */
int model_accepts(const uint8_t *bytes, size_t len);

/** The result of importing the bytes with any suite allowed: PPRF_OK, PPRF_ERR_FORMAT or
 * PPRF_ERR_SUITE. */
int model_import(const uint8_t *bytes, size_t len);

#endif

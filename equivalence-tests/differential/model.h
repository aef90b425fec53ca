/* SPDX-License-Identifier: Apache-2.0 */
/** @file model.h
 * The naive model: the root's seed and the set of punctured leaves, nothing else.  Every answer is
 * computed from these two by the definition, so that an error that both implementations make
 * differs from it. */
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
  struct pprf_wide_seed root; /* the third and fourth word are zero in the suites of 16 bytes */
  struct interval *hole; /* the punctured leaves: disjoint, ascending, never adjacent */
  size_t holes, cap;
};

/** A fresh key of the family; the seed has as many bytes as the family's seeds. */
void model_setup(struct model *m, unsigned depth, struct pprf_family family, const uint8_t *seed);
void model_free(struct model *m);

/** Bytes of a value. */
size_t model_value_bytes(const struct model *m);

/* Results and outputs as the functions of pprf.h. */
int model_eval(const struct model *m, uint64_t leaf, uint8_t *out);
int model_punct(struct model *m, uint64_t leaf);
int model_eval_punct(struct model *m, uint64_t leaf, uint8_t *out);
int model_punct_range(struct model *m, uint64_t first, uint64_t last);

/** Height of the node that covers a live leaf of the tree. */
unsigned model_height(const struct model *m, uint64_t leaf);

/** The canonical encoding, malloc'd. */
uint8_t *model_export(const struct model *m, size_t *len, size_t *nodes);

/** 1 if the bytes are an encoding that an encoder writes, 0 if not, by the definition: the nodes
 * that the bytes list are the cover of the leaves that they leave out. */
int model_accepts(const uint8_t *bytes, size_t len);

/** What an import of any suite says of the bytes: PPRF_OK, PPRF_ERR_FORMAT or PPRF_ERR_SUITE. */
int model_import(const uint8_t *bytes, size_t len);

#endif

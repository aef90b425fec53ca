/* SPDX-License-Identifier: Apache-2.0 */
/** @file wide.h
 * The suite with 32-byte seeds, mls-sha256: the PRG of RFC 9420's secret tree under cipher suites
 * with SHA-256.  A node with seed s has the children
 *   ExpandWithLabel(s, "tree", "left", 32) and ExpandWithLabel(s, "tree", "right", 32),
 * that is HKDF-Expand (RFC 5869) with SHA-256 for one block: HMAC-SHA-256 under s of
 *   00 20, 0c "MLS 1.0 tree", 04 "left" or 05 "right", 01.
 * The output depends on neither the node's position nor a salt.  The declarations correspond to
 * those of prg.h and lanes.h for 16-byte seeds. */
#ifndef PPRF_PRG_WIDE_H
#define PPRF_PRG_WIDE_H

#include <stdint.h>

#include "prg.h"

#define PRG_WIDE_BYTES 32

/** Bytes 0..31 as four words, each read little-endian. */
struct pprf_wide_seed {
  uint64_t lo, hi, third, fourth;
};

struct pprf_wide_children {
  struct pprf_wide_seed left, right; /* zero when err is not 0 */
  int err;                           /* PPRF_OK, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM */
};

/** Seeds of the two children of the node (start, height) with the given seed; PPRF_ERR_CRYPTO if
 * the family's suite has 16-byte seeds. */
struct pprf_wide_children prg_expand_wide(struct pprf_family family, struct pprf_wide_seed seed,
                                          uint64_t start, unsigned height);

/** Like prg_random.
 * @retval 0 or PPRF_ERR_CRYPTO (*seed is zero then). */
int prg_random_wide(struct pprf_wide_seed *seed);

/** Like struct opt_step. */
struct opt_wide_step {
  const struct pprf_wide_seed *seed;
  struct pprf_wide_seed *left, *right; /* one of them may be the parent's */
  uint64_t start;
  unsigned height;
};

/** Like opt_expand_many; lanes.c has a weak definition of it too.
 * @retval 0, PPRF_ERR_CRYPTO or PPRF_ERR_NOMEM (the outputs are undefined then). */
int opt_expand_many_wide(struct pprf_family family, const struct opt_wide_step *step, unsigned n);

#endif

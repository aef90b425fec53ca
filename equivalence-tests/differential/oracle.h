/* SPDX-License-Identifier: Apache-2.0 */
/** @file oracle.h
 * The extracted Coq model (build/oracle, proofs/oracle) as a third party: a child process that
 * answers each command with a line. */
#ifndef EQ_ORACLE_H
#define EQ_ORACLE_H

#include <stddef.h>
#include <stdint.h>

#include "prg.h"

/** Start the program, or resume after a pause; exits if it cannot be started. */
void oracle_start(const char *program);

/** Do not use it until the next start. */
void oracle_pause(void);

/** 1 if it was started and is not paused. */
int oracle_running(void);

/* Results and outputs are those of pprf.h; leaves are in the tree, first <= last. */
void oracle_setup(unsigned depth, struct pprf_family family, const uint8_t *seed, int toy);
int oracle_eval(uint64_t leaf, uint8_t *out);
int oracle_punct(uint64_t leaf);
int oracle_punct_range(uint64_t first, uint64_t last);
size_t oracle_count(void);

/** The canonical encoding of the oracle's nodes, allocated with malloc. */
uint8_t *oracle_export(unsigned depth, struct pprf_family family, size_t *len);

#endif

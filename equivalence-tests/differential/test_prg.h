/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_prg.h
 * A PRG for tests that replaces prg/libcrypto.c: SHA3 through the real one, or a fast toy whose
 * seeds are labels. Both can be made to fail. */
#ifndef EQ_TEST_PRG_H
#define EQ_TEST_PRG_H

#include "wide.h"

/** 1: the toy, 0: the suite's own. A toy seed is {in-order id of its node, tag of its root}; one
 * of 32 bytes continues with the complements of both. So a seed that was derived wrongly, or is
 * at the wrong node, shows where it belongs. */
extern int test_prg_toy;
/** The n-th call of prg_expand from now fails, and this becomes 0; 0: none fails. */
extern uint64_t test_prg_fail;
/** How often the failure set by test_prg_fail occurred. */
extern uint64_t test_prg_failed;
/** How often a toy seed was expanded at a position other than its label's. */
extern uint64_t test_prg_mislabelled;

/** What prg_random and prg_random_wide return next; NULL: random bytes. */
extern const uint8_t *test_prg_next_random;

/** The root seed with this tag: 16 bytes, followed by the other 16 of a 32-byte seed; a label if
 * the toy is chosen. */
void test_prg_root(unsigned depth, uint8_t tag, uint8_t seed[32]);

#endif

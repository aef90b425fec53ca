/* SPDX-License-Identifier: Apache-2.0 */
/** @file test_prg.h
 * A PRG for tests, in the place of prg/libcrypto.c: SHA3 through the real one, or a fast toy whose seeds
 * are labels, and either can be told to fail. */
#ifndef EQ_TEST_PRG_H
#define EQ_TEST_PRG_H

#include "wide.h"

/** 1: the toy, 0: the suite's own.  A toy seed is {in-order id of its node, tag of its root}, of 32 bytes
 * with the complements of both behind them: a seed that is derived wrongly, or sits at the wrong node, names the
 * place where it belongs. */
extern int test_prg_toy;
/** The n-th call of prg_expand from now fails, and the counter goes to 0; 0: none fails. */
extern uint64_t test_prg_fail;
/** How often test_prg_fail hit. */
extern uint64_t test_prg_failed;
/** How often a toy seed was expanded under a position that is not its label. */
extern uint64_t test_prg_mislabelled;

/** What prg_random and prg_random_wide give next; NULL: random bytes. */
extern const uint8_t *test_prg_next_random;

/** The root seed with the given tag: 16 bytes for the suites of so many, and behind them what one of 32 has
 * more; a label if the toy is chosen. */
void test_prg_root(unsigned depth, uint8_t tag, uint8_t seed[32]);

#endif

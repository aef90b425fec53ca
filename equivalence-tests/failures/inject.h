/* SPDX-License-Identifier: Apache-2.0 */
/** @file inject.h
 * Injects failures inside opt, for tests of code that uses its public functions: link inject.c with
 * INJECT_WRAP (rules.mk). */
#ifndef PPRF_INJECT_H
#define PPRF_INJECT_H

/** PRG calls that succeed before all others fail; -1: none fails. */
extern long inject_expands;

/** If not NULL, called in the middle of a puncture of pair slots, when half of the seeds are
 * written and the others hold something else. */
extern void (*inject_half)(void);

#endif

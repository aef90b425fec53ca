/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepare.h
 * Preparation before the library reads its first seed, independent of how the program was
 * linked. */
#ifndef PPRF_PREPARE_H
#define PPRF_PREPARE_H

/** Prepare for keys of a suite; does its work once per process and suite.
 *
 * In a program with lazy binding the first call of another library's function goes through the
 * dynamic linker, which saves all vector registers some 3 kB below the caller: deeper than what is
 * wiped, and a seed may have passed through them.  So every function that runs while seeds are in
 * use is called here first, without secrets, including memcpy, memmove, memset and memcmp, which
 * compilers call on their own.  The PRG chooses its version and tries libcrypto's; the digest,
 * without which no key can be exported, is tried too.
 *
 * Every function that makes a key calls this before it reads a seed.
 * equivalence-tests/secrets/first_use.py finds a function that is missing here.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: of the digest and the PRG. */
int pprf_prepare(unsigned suite);

#endif

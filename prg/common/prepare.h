/* SPDX-License-Identifier: Apache-2.0 */
/** @file prepare.h
 * What the library does before it reads the first seed, however the program was linked. */
#ifndef PPRF_PREPARE_H
#define PPRF_PREPARE_H

/** Get ready for keys of a suite; once for the process and suite it does something.
 *
 * In a program that binds lazily the first call of a function of another library goes through the dynamic linker,
 * which saves all vector registers some 3 kB below the caller: deeper than what is wiped, and a seed may have passed
 * through them.  So every function that is called while seeds are about is called here first, with nothing; compilers
 * make calls of memcpy, memmove, memset and memcmp themselves.  The PRG chooses its version and tries libcrypto's; the
 * digest is tried, without which no key could be exported.
 *
 * Every function that makes a key calls this before it reads a seed.
 * equivalence-tests/secrets/first_use.py finds a function that is missing here.
 * @retval PPRF_OK, PPRF_ERR_CRYPTO, PPRF_ERR_NOMEM: of the digest and the PRG. */
int pprf_prepare(unsigned suite);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file fuzz.h
 * Shared by the fuzz targets. Each is a file fuzz_*.c with the function of libFuzzer's interface.
 * AFL++ and corpus.c, which runs the committed inputs, call that function, too. */
#ifndef EQ_FUZZ_H
#define EQ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "prg.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/** Correct a hostile key file's frame, so that its nodes are examined.
 * @param flags bit 0: the digest; bit 1: magic, version, PRG and node count */
static inline void mend(uint8_t *file, size_t size, unsigned flags)
{
  if ((flags & 2) != 0 && size >= 68 && file[9] > 32) {
    memcpy(file, "PPRFKEY\2\1", 9);
    size_t n = (size - 68) / (file[9] / 8u + 17);
    for (int b = 0; b < 8; b++)
      file[12 + b] = (uint8_t)((uint64_t)n >> 8 * b);
    memset(file + 20, 0, 16); /* this suite has no salt */
  } else if ((flags & 2) != 0 && size >= 48) {
    memcpy(file, "PPRFKEY\1\1", 9);
    size_t n = (size - 48) / (file[9] / 8u + 17);
    for (int b = 0; b < 4; b++)
      file[12 + b] = (uint8_t)(n >> 8 * b);
  }
  if ((flags & 1) != 0 && size >= 32)
    (void)prg_digest(file, size - 32, file + size - 32);
}

#endif

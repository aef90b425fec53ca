/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any byte string is a sequence of operations (ops.h) on which ref, opt and the model
 * agree; and the extracted Coq model, which is slow, on one in ORACLE_SHARE of them. */
#include <stdlib.h>

#include "fuzz.h"
#include "ops.h"
#include "oracle.h"

enum { LEN_MAX = 256, ORACLE_SHARE = 16 };

/* Of the bytes alone, so that an input always runs in the same way. */
static int for_the_oracle(const uint8_t *bytes, size_t len)
{
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (size_t i = 0; i < len; i++)
    hash = (hash ^ bytes[i]) * 16777619u;
  return (hash >> 16) % ORACLE_SHARE == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  struct ops_result result;
  len = len < LEN_MAX ? len : LEN_MAX;
  if (for_the_oracle(bytes, len))
    oracle_start("build/oracle");
  else
    oracle_pause();
  ops_run(bytes, len, &result, NULL);
  if (result.failed) {
    fprintf(stderr, "%s\nreplay: build/equivalence-tests/replay ", result.text);
    for (size_t i = 0; i < len; i++)
      fprintf(stderr, "%02x", bytes[i]);
    fprintf(stderr, "\n");
    abort();
  }
  return 0;
}

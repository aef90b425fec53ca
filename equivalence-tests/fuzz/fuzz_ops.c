/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any byte string is a sequence of operations (ops.h) on which ref, opt and the naive
 * model, all in this process, agree. Expensive checks run only for some inputs: for one in
 * EVERY_BYTE_SHARE the keys' bytes are compared after each operation, for the others after each
 * 16th and at the end, and batches are short; for one in ORACLE_SHARE the extracted Coq model,
 * behind a pipe, is compared, too. */
#include <stdlib.h>

#include "fuzz.h"
#include "differential/ops.h"
#include "differential/oracle.h"

enum { LEN_MAX = 128, EVERY_BYTE_SHARE = 32, ORACLE_SHARE = 2048 };

/* Depends only on the bytes, so that an input is always run in the same way. */
static uint32_t hash_of(const uint8_t *bytes, size_t len)
{
  uint32_t hash = 2166136261u; /* FNV-1a */
  for (size_t i = 0; i < len; i++)
    hash = (hash ^ bytes[i]) * 16777619u;
  return hash >> 16;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  struct ops_result result;
  len = len < LEN_MAX ? len : LEN_MAX;
  uint32_t hash = hash_of(bytes, len);
  int all = hash % EVERY_BYTE_SHARE == 0;
  ops_compare_every = all ? 1 : 16;
  ops_many_max = all ? 1024 : 24;
  if (hash % ORACLE_SHARE == 0)
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

/* SPDX-License-Identifier: Apache-2.0 */
/* libFuzzer: any byte string is a sequence of operations (ops.h) on which ref, opt and the model
 * agree. */
#include <stdlib.h>

#include "ops.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
  struct ops_result result;
  ops_run(bytes, len < 256 ? len : 256, &result, NULL);
  if (result.failed) {
    fprintf(stderr, "%s\nreplay: build/equivalence-tests/replay ", result.text);
    for (size_t i = 0; i < len; i++)
      fprintf(stderr, "%02x", bytes[i]);
    fprintf(stderr, "\n");
    abort();
  }
  return 0;
}

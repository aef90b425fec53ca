/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's worst case for valgrind's massif: the list alone on the heap (no PRG, no C++).
 * Usage: heap DEPTH      prints "nodes effective_bytes memory_bytes" of the list at the end. */
#include <stdio.h>
#include <stdlib.h>

#include "../cli/impls/list.h"

int main(int argc, char **argv)
{
  static char out[BUFSIZ]; /* otherwise standard output's buffer would be on the heap */
  static const uint8_t seed[PPRF_SEED_BYTES] = {1};
  const unsigned depth = argc == 2 ? (unsigned)atoi(argv[1]) : 0;
  pprf_key *key;
  setvbuf(stdout, out, _IOFBF, sizeof out);
  if (depth < 1 || depth > LIST_DEPTH_MAX || impl_list.setup(&key, depth, seed) != PPRF_OK) {
    fputs("usage: heap DEPTH\n", stderr);
    return 1;
  }
  for (uint64_t leaf = 0; leaf < (uint64_t)1 << depth; leaf += 2)
    if (impl_list.punct(key, leaf) != PPRF_OK)
      return 4;
  printf("%zu %zu %zu\n", impl_list.node_count(key), list_effective_bytes(key),
         impl_list.memory_bytes(key));
  impl_list.free(key);
  return 0;
}

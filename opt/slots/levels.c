/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of the bitmap's levels, and which of them lie in the small block. */
#include "pages.h"

size_t opt_level_bytes(unsigned depth, unsigned level)
{
  const size_t words = (size_t)opt_bitmap_words(depth, level);
  return level == 0 ? words * sizeof(uint64_t) : words * sizeof(struct opt_summary);
}

int opt_level_is_small(unsigned depth, unsigned level)
{
  return opt_level_bytes(depth, level) < OPT_SMALL_LEVEL;
}

size_t opt_slots_small_bytes(unsigned depth)
{
  size_t bytes = 0;
  const unsigned levels = opt_bitmap_levels(depth);
  /*@ loop invariant k <= levels;
      loop invariant bytes: bytes == small_bytes(depth, k);
      loop invariant bound: bytes <= k * OPT_SMALL_LEVEL && bytes % 8 == 0;
      loop assigns k, bytes;
      loop variant levels - k; */
  for (unsigned k = 0; k < levels; k++) {
    //@ assert level: k == 0 || k == 1 || k == 2 || k == 3 || k == 4 || k == 5;
    if (opt_level_is_small(depth, k))
      bytes += opt_level_bytes(depth, k);
  }
  return bytes;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "bitmap.h"

/* The bits of word i of a level that stand for full blocks (level 0: punctured leaves). */
static uint64_t full_word(const struct opt_bitmap *b, unsigned level, uint64_t i)
{
  return level == 0 ? b->dead[i] : b->summary[level][i].full;
}

int opt_bitmap_height(const struct opt_bitmap *b, uint64_t leaf, unsigned *height)
{
  /* From the top down to the level at which the leaf's block has no punctured leaf: what decides
   * the height is in the same word there, unless the whole tree is live. */
  unsigned level = b->levels - 1;
  for (;; level--) {
    uint64_t block = leaf >> 6 * level;
    unsigned i = block & 63;
    uint64_t any = level == 0 ? b->dead[block >> 6] : b->summary[level][block >> 6].any;
    if (!opt_has(any, i)) {
      *height = any == 0 ? b->depth : 6 * level + opt_gap_height(any, i);
      return 1;
    }
    if (level == 0 || opt_has(b->summary[level][block >> 6].full, i))
      return 0;
  }
}

int opt_bitmap_is_full(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  for (unsigned k = b->levels - 1; k > level; k--) {
    uint64_t above = block >> 6 * (k - level);
    const struct opt_summary *s = &b->summary[k][above >> 6];
    if (!opt_has(s->any, above & 63))
      return 0;
    if (opt_has(s->full, above & 63))
      return 1;
  }
  return opt_has(full_word(b, level, block >> 6), block & 63);
}

/* The least live leaf of a block that is not full. */
static uint64_t first_live(const struct opt_bitmap *b, unsigned level, uint64_t block)
{
  for (; level > 0; level--) {
    if (!opt_has(b->summary[level][block >> 6].any, block & 63))
      return block << 6 * level;
    block = block << 6 | opt_lsb(~full_word(b, level - 1, block));
  }
  return block;
}

uint64_t opt_bitmap_next_live(const struct opt_bitmap *b, uint64_t leaf)
{
  unsigned height;
  if (leaf >> b->depth != 0)
    return leaf;
  if (opt_bitmap_height(b, leaf, &height))
    return leaf;
  unsigned level = b->levels - 1; /* the greatest at which the leaf's block is full */
  while (level > 0 && !opt_has(b->summary[level][leaf >> 6 * (level + 1)].full,
                               leaf >> 6 * level & 63))
    level--;
  for (; level < b->levels; level++) {
    uint64_t block = leaf >> 6 * level;
    uint64_t live = ~full_word(b, level, block >> 6) & opt_above(block & 63);
    if (live != 0) /* behind the tree's last block the top word is zero: that gives 2^depth */
      return first_live(b, level, (block & ~UINT64_C(63)) | opt_lsb(live));
  }
  return UINT64_C(1) << b->depth;
}

/* Set bits of word i of a level, none of whose blocks above is full, and what follows from that
 * above: `full` while words fill up, then `any`.  Returns the greatest level with a new full bit. */
static unsigned set_bits(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  for (;; level++) {
    if (level == 0) {
      b->dead[i] |= bits;
    } else {
      b->summary[level][i].any |= bits;
      b->summary[level][i].full |= bits;
    }
    if (level + 1 == b->levels || full_word(b, level, i) != UINT64_MAX)
      break;
    bits = opt_bit(i & 63);
    i >>= 6;
  }
  for (unsigned k = level + 1; k < b->levels; k++) {
    bits = opt_bit(i & 63);
    i >>= 6;
    if ((b->summary[k][i].any & bits) != 0)
      break;
    b->summary[k][i].any |= bits;
  }
  return level;
}

unsigned opt_bitmap_puncture(struct opt_bitmap *b, uint64_t leaf)
{
  return set_bits(b, 0, leaf >> 6, opt_bit(leaf & 63));
}

/* set_bits, but not below a full block: there the leaves are punctured already. */
static void set_bits_unless_full(struct opt_bitmap *b, unsigned level, uint64_t i, uint64_t bits)
{
  if (level + 1 == b->levels || !opt_bitmap_is_full(b, level + 1, i))
    (void)set_bits(b, level, i, bits);
}

void opt_bitmap_puncture_range(struct opt_bitmap *b, uint64_t first, uint64_t last)
{
  /* At each level the partial words at both ends; whole words are full blocks one level up. */
  for (unsigned level = 0;; level++) {
    uint64_t i = first >> 6, j = last >> 6;
    unsigned from = first & 63, to = last & 63;
    if (level + 1 == b->levels || (i == j && opt_bits(from, to) != UINT64_MAX)) {
      set_bits_unless_full(b, level, i, opt_bits(from, to));
      return;
    }
    if (from != 0) {
      set_bits_unless_full(b, level, i, opt_bits(from, 63));
      i++;
    }
    if (to != 63) {
      set_bits_unless_full(b, level, j, opt_bits(0, to));
      j--;
    }
    if (i > j)
      return;
    first = i;
    last = j;
  }
}

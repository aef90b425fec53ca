/* SPDX-License-Identifier: Apache-2.0 */
#include "tiles.h"

/* Tiles that opt_tiles_find looks at together. */
#define GROUP 8u

static uint64_t group_leaves(const uint8_t *tile)
{
  uint64_t leaves = 0;
  for (unsigned i = 0; i < GROUP; i++)
    leaves += opt_tile_leaves(tile[i]);
  return leaves;
}

static unsigned group_lives(const uint8_t *tile)
{
  unsigned lives = 0;
  for (unsigned i = 0; i < GROUP; i++)
    lives += opt_tile_live(tile[i]);
  return lives;
}

struct opt_place opt_tiles_find(const uint8_t *tile, unsigned n, uint64_t first, uint64_t leaf)
{
  struct opt_place at = {first, 0, 0};
  while (at.tile + GROUP < n) {
    uint64_t leaves = group_leaves(tile + at.tile);
    if (leaf - at.start < leaves)
      break;
    at.start += leaves;
    at.seeds += group_lives(tile + at.tile);
    at.tile += GROUP;
  }
  while (at.tile + 1 < n && leaf - at.start >= opt_tile_leaves(tile[at.tile])) {
    at.start += opt_tile_leaves(tile[at.tile]);
    at.seeds += opt_tile_live(tile[at.tile]);
    at.tile++;
  }
  return at;
}

void opt_tiles_up(uint8_t *tile, unsigned n, unsigned by)
{
  for (unsigned i = n; i > 0; i--)
    tile[i - 1 + by] = tile[i - 1];
}

void opt_tiles_down(uint8_t *tile, unsigned n, unsigned by)
{
  for (unsigned i = 0; i < n; i++)
    tile[i] = tile[i + by];
}

void opt_seeds_down(struct pprf_seed *seed, unsigned n, unsigned by)
{
  for (unsigned i = 0; i < n; i++)
    seed[i] = seed[i + by];
}

void opt_seeds_up_one(struct pprf_seed *seed, unsigned n)
{
  for (unsigned i = n; i > 0; i--)
    seed[i] = seed[i - 1];
  seed[0] = (struct pprf_seed){0, 0};
}

void opt_tiles_put_path(uint8_t *tile, struct pprf_seed *seed, uint64_t leaf, unsigned h,
                        const struct pprf_seed *copath)
{
  unsigned left = 0, right = h; /* tiles beside the path so far, from either end */
  /* no branch on the leaf's bits: the processor would guess every other one wrong */
  for (unsigned i = h; i > 0; i--) {
    unsigned is_left = (unsigned)(leaf >> (i - 1) & 1), at = right - is_left * (right - left);
    tile[at] = (uint8_t)(OPT_TILE_LIVE + (i - 1));
    seed[h - is_left - at] = copath[i - 1];
    left += is_left;
    right -= 1 - is_left;
  }
  tile[left] = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file tiles.h
 * A run of leaves cut into tiles: aligned subtrees of which either no leaf is punctured (a live tile: a
 * node of the key, with a seed) or every leaf is.  A tile is one byte, its height and whether it is live;
 * where it starts follows from the tiles before it.
 *
 * A page holds a run: its tiles in leaf order from the front, their seeds in leaf order from the end of
 * the page downwards.  These functions know one page: no tree, no arena, no PRG. */
#ifndef PPRF_OPT_TILES_H
#define PPRF_OPT_TILES_H

#include <stddef.h>
#include <stdint.h>

#include "prg.h"

/** Added to the height of a live tile. */
#define OPT_TILE_LIVE 64u

/** Where a leaf lies: its tile, the tile's first leaf, how many seeds come before the tile's. */
struct opt_place {
  uint64_t start;
  unsigned tile, seeds;
};

static inline unsigned opt_tile_height(uint8_t t)
{
  return t % 64u;
}

static inline unsigned opt_tile_live(uint8_t t)
{
  return t / 64u;
}

static inline uint64_t opt_tile_leaves(uint8_t t)
{
  return UINT64_C(1) << t % 64u;
}

/** Find a leaf in a run of n tiles that starts at first and covers it. */
struct opt_place opt_tiles_find(const uint8_t *tile, unsigned n, uint64_t first, uint64_t leaf);

/** Move n tiles up by so many places. */
void opt_tiles_up(uint8_t *tile, unsigned n, unsigned by);

/** Move the n tiles that lie so many places above down to where tile points. */
void opt_tiles_down(uint8_t *tile, unsigned n, unsigned by);

/** The same of seeds; what is left above the moved ones is to be overwritten by the caller. */
void opt_seeds_down(struct pprf_seed *seed, unsigned n, unsigned by);

/** Move n seeds up by one place, over the seed that lies there, and zero the lowest place. */
void opt_seeds_up_one(struct pprf_seed *seed, unsigned n);

/** Write the tiles that replace a live tile of height h >= 1 around a punctured leaf: h + 1 of them, from
 * tile[0] on, and their h seeds downwards from seed[h - 1], the place of the first.
 * @param[in] copath h seeds by height: those of the siblings beside the path to the leaf. */
void opt_tiles_put_path(uint8_t *tile, struct pprf_seed *seed, uint64_t leaf, unsigned h,
                        const struct pprf_seed *copath);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file tiles.h
 * A run of leaves divided into tiles.  A tile is an aligned subtree, either live (no leaf is
 * punctured: a node of the key, with a seed) or punctured (every leaf is).  It is one byte: its
 * height and whether it is live; where it starts follows from the tiles before it.
 *
 * A page holds a run: its tiles in leaf order from the front, their seeds in leaf order from the
 * end of the page downwards.  These functions work on one page: no tree, no arena, no PRG. */
#ifndef PPRF_OPT_TILES_H
#define PPRF_OPT_TILES_H

#include <stddef.h>
#include <stdint.h>

#include "prg.h"

/** Added to the height of a live tile. */
#define OPT_TILE_LIVE 64u

/** Upper bound on the tiles in a row: a page has fewer bytes. */
#define OPT_TILES_MAX 0xffff

/** A leaf's place: its tile, the tile's first leaf, and the number of seeds before the tile's. */
struct opt_place {
  uint64_t start;
  unsigned tile, seeds;
};

#ifdef __FRAMAC__
#include "tiles.acsl"
#endif

/*@ requires tile: t < 128;
    assigns \nothing;
    ensures \result == tile_height(t); */
static inline unsigned opt_tile_height(uint8_t t)
{
  return t % 64u;
}

/*@ requires tile: t < 128;
    assigns \nothing;
    ensures \result == tile_seeds(t); */
static inline unsigned opt_tile_live(uint8_t t)
{
  return t / 64u;
}

/*@ requires tile: t < 128;
    assigns \nothing;
    ensures \result == pow2(tile_height(t)); */
static inline uint64_t opt_tile_leaves(uint8_t t)
{
  //@ ghost leaves_of_lemma(t % 64u);
  return UINT64_C(1) << t % 64u;
}

/** Copy n tiles. */
/*@ requires memory: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1)) &&
      \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1];
    ensures copied: \forall integer i; 0 <= i < n ==> to[i] == \old(from[i]); */
static inline void opt_tiles_copy(uint8_t *restrict to, const uint8_t *restrict from, unsigned n)
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant copied: \forall integer j; 0 <= j < i ==> to[j] == \at(from[j],Pre);
      loop assigns i, to[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    to[i] = from[i];
}

/** Copy n seeds. */
/*@ requires place: to == to_top - n && from == from_top - (k + n);
    requires memory: \valid(to + (0 .. n - 1)) && \valid_read(from + (0 .. n - 1)) &&
      \separated(to + (0 .. n - 1), from + (0 .. n - 1));
    assigns to[0 .. n - 1];
    ensures copied: \forall integer j; 0 <= j < n ==>
      place_seed(to_top, j) == place_seed{Pre}(from_top, k + j); */
static inline void opt_seeds_copy(struct pprf_seed *restrict to,
                                  const struct pprf_seed *restrict from, unsigned n)
  /*@ ghost (const struct pprf_seed *to_top, const struct pprf_seed *from_top, unsigned k) */
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant copied: \forall integer j; n - i <= j < n ==>
        place_seed(to_top, j) == place_seed{Pre}(from_top, k + j);
      loop assigns i, to[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    to[i] = from[i];
}

/** Find a leaf in a row of n tiles and m seeds that covers the leaves first .. end - 1, from both
 * ends at once: in a page that is punctured in order, the leaf is close to one of them. */
/*@ requires row: d <= 63 && n <= OPT_TILES_MAX && \valid_read(tile + (0 .. n - 1)) &&
      row_tiles(tile, n, first, d);
    requires ends: end == tile_start(tile, first, n) && m == seeds_before(tile, n);
    requires leaf: first <= leaf < end;
    assigns \nothing;
    ensures tile: \result.tile < n;
    ensures start: \result.start == tile_start(tile, first, \result.tile);
    ensures seeds: \result.seeds == seeds_before(tile, \result.tile);
    ensures covers: tile_covers(tile, first, \result.tile, leaf); */
struct opt_place opt_tiles_find(const uint8_t *tile, unsigned n, unsigned m, uint64_t first,
                                uint64_t end, uint64_t leaf)
  /*@ ghost (unsigned d) */;

/** Move n tiles up by `by` places. */
/*@ requires place: tile == row + k && k + n + by <= OPT_TILES_MAX &&
      \valid(row + (k .. k + n + by - 1));
    assigns tile[by .. n + by - 1];
    ensures moved: \forall integer i; k + by <= i < k + n + by ==> row[i] == \old(row[i - by]); */
void opt_tiles_up(uint8_t *tile, unsigned n, unsigned by)
  /*@ ghost (const uint8_t *row, unsigned k) */;

/** Move the n tiles that lie `by` places above `tile` down to `tile`. */
/*@ requires place: tile == row + k && k + n + by <= OPT_TILES_MAX &&
      \valid(row + (k .. k + n + by - 1));
    assigns tile[0 .. n - 1];
    ensures moved: \forall integer i; k <= i < k + n ==> row[i] == \old(row[i + by]); */
void opt_tiles_down(uint8_t *tile, unsigned n, unsigned by)
  /*@ ghost (const uint8_t *row, unsigned k) */;

/** The same for seeds.  The caller must overwrite what remains above the moved ones. */
/*@ requires place: seed == top - (k + n + by) && k + n + by <= OPT_TILES_MAX &&
      \valid(seed + (0 .. n + by - 1));
    assigns seed[0 .. n - 1];
    ensures moved: \forall integer j; k + by <= j < k + n + by ==>
      place_seed(top, j) == place_seed{Pre}(top, j - by); */
void opt_seeds_down(struct pprf_seed *seed, unsigned n, unsigned by)
  /*@ ghost (const struct pprf_seed *top, unsigned k) */;

/** Move n seeds up by one place, over the seed that lies there, and zero the lowest place. */
/*@ requires place: seed == top - (k + n + 1) && k + n < OPT_TILES_MAX &&
      \valid(seed + (0 .. n));
    assigns seed[0 .. n];
    ensures moved: \forall integer j; k <= j < k + n ==>
      place_seed(top, j) == place_seed{Pre}(top, j + 1);
    ensures wiped: zero_seed(seed[0]); */
void opt_seeds_up_one(struct pprf_seed *seed, unsigned n)
  /*@ ghost (const struct pprf_seed *top, unsigned k) */;

/** Write the tiles that replace a live tile of height h >= 1 around a punctured leaf: h + 1 tiles
 * from tile[0] on, and their h seeds downwards from seed[h - 1], the place of the first.
 * @param[in] copath h seeds by height: those of the siblings beside the path to the leaf. */
/*@ requires node: 1 <= h <= d <= 63 && tree_node(d, s, h) && covers(s, h, leaf);
    requires place: tile == row + k && k + h < OPT_TILES_MAX && seeds <= OPT_TILES_MAX &&
      seed == top - (seeds + h);
    requires before: tile_start(row, first, k) == s && seeds_before(row, k) == seeds;
    requires memory: \valid(tile + (0 .. h)) && \valid(seed + (0 .. h - 1)) &&
      \valid_read(copath + (0 .. h - 1));
    requires apart: \separated(tile + (0 .. h), copath + (0 .. h - 1)) &&
      \separated(tile + (0 .. h), seed + (0 .. h - 1)) &&
      \separated(seed + (0 .. h - 1), copath + (0 .. h - 1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns tile[0 .. h], seed[0 .. h - 1];
    ensures before: row_kept{Pre,Post}(row, first, k);
    ensures nodes: \forall integer i; k <= i <= k + h ==> tile_is_node(row, first, d, i);
    ensures seeds: \forall integer i; k <= i <= k + h ==>
      tile_has_seed(root, d, row, first, top, i);
    ensures only: \forall integer i; k <= i <= k + h ==> tile_byte(row, i) < 64 ==>
      tile_byte(row, i) == 0 && tile_start(row, first, i) == leaf;
    ensures leaf: \exists integer i; k <= i <= k + h && tile_byte(row, i) == 0 &&
      tile_start(row, first, i) == leaf;
    ensures end: tile_start(row, first, k + h + 1) == s + pow2(h);
    ensures count: seeds_before(row, k + h + 1) == seeds + h; */
void opt_tiles_put_path(uint8_t *tile, struct pprf_seed *seed, uint64_t leaf, unsigned h,
                        const struct pprf_seed *copath)
  /*@ ghost (const uint8_t *row, unsigned k, uint64_t first, uint64_t s,
             const struct pprf_seed *top, unsigned seeds, unsigned d) */
  ;

/** Merge the punctured tile at index `at` of a row of n with its siblings, as long as they lie in
 * the row.
 * @param[in] start the tile's first leaf.
 * @return the number of tiles. */
/*@ requires row: row_holds(root, d, tile, n, first, end, top, m);
    requires at: at < n && tile[at] < 64 && start == tile_start(tile, first, at);
    requires memory: \valid(tile + (0 .. n - 1));
    assigns tile[0 .. n - 1];
    ensures row: row_holds(root, d, tile, \result, first, end, top, m);
    ensures punctured: \forall integer x;
      row_punctured(tile, \result, first, x) <==> row_punctured{Pre}(tile, n, first, x);
    ensures count: 1 <= \result <= n;
    ensures free: \forall integer i; \result <= i < n ==> tile[i] == 0; */
unsigned opt_row_merge(uint8_t *tile, unsigned n, unsigned at, uint64_t start)
  /*@ ghost (const struct pprf_seed *top, unsigned m, unsigned d, uint64_t first, uint64_t end) */
  ;

/** Puncture a leaf that is a tile by itself, in a row of n tiles and m seeds, whose first seed lies
 * just below top.  Its seed is overwritten, and m - 1 remain; punctured siblings become one tile.
 * @param[in] at the leaf's place by opt_tiles_find.
 * @return the number of tiles. */
/*@ requires row: row_holds(root, d, tile, n, first, end, top, m);
    requires at: at.tile < n && tile[at.tile] == OPT_TILE_LIVE &&
      at.start == tile_start(tile, first, at.tile) && at.seeds == seeds_before(tile, at.tile);
    requires memory: \valid(tile + (0 .. n - 1)) && \valid(top + (-m .. -1)) &&
      \separated(tile + (0 .. n - 1), top + (-m .. -1));
    assigns tile[0 .. n - 1], top[-m .. -1];
    ensures row: row_holds(root, d, tile, \result, first, end, top, m - 1);
    ensures punctured: \forall integer x; row_punctured(tile, \result, first, x) <==>
      row_punctured{Pre}(tile, n, first, x) || x == at.start;
    ensures count: 1 <= \result <= n;
    ensures owned: places_owned(tile, \result, m - 1);
    ensures wiped: zero_seed(top[-m]);
    ensures free: \forall integer i; \result <= i < n ==> tile[i] == 0; */
unsigned opt_row_puncture_leaf(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                               struct opt_place at)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */;

/** Puncture a leaf below a tile of height h >= 1 in such a row, which is followed by memory for
 * h more tiles and h - 1 more seeds.  Each of the n + h tiles and m + h - 1 seeds is written or
 * keeps its place. */
/*@ requires row: row_holds(root, d, tile, n, first, end, top, m);
    requires at: at.tile < n && tile[at.tile] == OPT_TILE_LIVE + h && 1 <= h &&
      at.start == tile_start(tile, first, at.tile) && at.seeds == seeds_before(tile, at.tile);
    requires leaf: covers(at.start, h, leaf) && n + h <= OPT_TILES_MAX;
    requires memory: \valid(tile + (0 .. n + h - 1)) && \valid(top + (-(m + h - 1) .. -1)) &&
      \valid_read(copath + (0 .. h - 1));
    requires apart: \separated(tile + (0 .. n + h - 1), top + (-(m + h - 1) .. -1)) &&
      \separated(copath + (0 .. h - 1), tile + (0 .. n + h - 1)) &&
      \separated(copath + (0 .. h - 1), top + (-(m + h - 1) .. -1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns tile[0 .. n + h - 1], top[-(m + h - 1) .. -1];
    ensures row: row_holds(root, d, tile, n + h, first, end, top, m + h - 1);
    ensures punctured: \forall integer x; row_punctured(tile, n + h, first, x) <==>
      row_punctured{Pre}(tile, n, first, x) || x == leaf;
    ensures owned: places_owned(tile, n + h, m + h - 1); */
void opt_row_puncture_below(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                            struct opt_place at, uint64_t leaf, unsigned h,
                            const struct pprf_seed *copath)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */;

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Searching and changing a row of tiles (tiles.h). */
#include "tiles.h"

#include "wp/tiles_steps.h"

struct opt_place opt_tiles_find(const uint8_t *tile, unsigned n, unsigned m, uint64_t first,
                                uint64_t end, uint64_t leaf)
  /*@ ghost (unsigned d) */
{
  //@ ghost row_order_lemma(tile, n, first, d);
  struct opt_place left = {first, 0, 0}, right = {end, n, m};
  /*@ loop invariant tiles: left.tile < right.tile <= n;
      loop invariant starts: left.start == tile_start(tile, first, left.tile) <= leaf <
        tile_start(tile, first, right.tile) == right.start;
      loop invariant seeds: left.seeds == seeds_before(tile, left.tile) &&
        right.seeds == seeds_before(tile, right.tile);
      loop assigns left, right;
      loop variant right.tile - left.tile; */
  for (;;) {
    NEXT_TILES
    right.tile--;
    right.start -= opt_tile_leaves(tile[right.tile]);
    right.seeds -= opt_tile_live(tile[right.tile]);
    if (leaf >= right.start)
      return right;
    uint64_t next = left.start + opt_tile_leaves(tile[left.tile]);
    if (leaf < next)
      return left;
    left.start = next;
    left.seeds += opt_tile_live(tile[left.tile]);
    left.tile++;
  }
}

void opt_tiles_up(uint8_t *tile, unsigned n, unsigned by)
  /*@ ghost (const uint8_t *row, unsigned k) */
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant moved: \forall integer j; k + i + by <= j < k + n + by ==>
        row[j] == \at(row[j - by],Pre);
      loop invariant rest: \forall integer j; k <= j < k + i ==> row[j] == \at(row[j],Pre);
      loop assigns i, tile[by .. n + by - 1];
      loop variant i; */
  for (unsigned i = n; i > 0; i--)
    tile[i - 1 + by] = tile[i - 1];
}

void opt_tiles_down(uint8_t *tile, unsigned n, unsigned by)
  /*@ ghost (const uint8_t *row, unsigned k) */
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant moved: \forall integer j; k <= j < k + i ==> row[j] == \at(row[j + by],Pre);
      loop invariant rest: \forall integer j; k + i <= j < k + n + by ==>
        row[j] == \at(row[j],Pre);
      loop assigns i, tile[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    tile[i] = tile[i + by];
}

void opt_seeds_down(struct pprf_seed *seed, unsigned n, unsigned by)
  /*@ ghost (const struct pprf_seed *top, unsigned k) */
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant moved: \forall integer j; k + n + by - i <= j < k + n + by ==>
        place_seed(top, j) == place_seed{Pre}(top, j - by);
      loop invariant rest: \forall integer j; k <= j < k + n + by - i ==>
        place_seed(top, j) == place_seed{Pre}(top, j);
      loop assigns i, seed[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    seed[i] = seed[i + by];
}

void opt_seeds_up_one(struct pprf_seed *seed, unsigned n)
  /*@ ghost (const struct pprf_seed *top, unsigned k) */
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant moved: \forall integer j; k <= j < k + n - i ==>
        place_seed(top, j) == place_seed{Pre}(top, j + 1);
      loop invariant rest: \forall integer j; k + n - i <= j <= k + n ==>
        place_seed(top, j) == place_seed{Pre}(top, j);
      loop assigns i, seed[1 .. n];
      loop variant i; */
  for (unsigned i = n; i > 0; i--)
    seed[i] = seed[i - 1];
  seed[0] = (struct pprf_seed){0, 0};
}

/* Write one live tile, and its seed, of the h + 1 tiles that replace another. */
/*@ requires place: tile == row + k && at <= h && seed == top - (seeds + h) && to < h;
    requires height: height < h <= 63 && k + h < OPT_TILES_MAX && seeds <= OPT_TILES_MAX;
    requires memory: \valid(tile + (0 .. h)) && \valid(seed + (0 .. h - 1));
    assigns tile[at], seed[to];
    ensures byte: tile_byte(row, k + at) == OPT_TILE_LIVE + height;
    ensures seed: place_seed(top, seeds + (h - 1 - to)) == seed_value(value);
    ensures other_bytes: \forall integer j; k <= j <= k + h ==> j != k + at ==>
      tile_byte(row, j) == tile_byte{Pre}(row, j);
    ensures other_seeds: \forall integer j; seeds <= j < seeds + h ==>
      j != seeds + (h - 1 - to) ==> place_seed(top, j) == place_seed{Pre}(top, j); */
static inline void put_live(uint8_t *tile, unsigned at, unsigned height, struct pprf_seed *seed,
                            unsigned to, struct pprf_seed value)
  /*@ ghost (const uint8_t *row, unsigned k, const struct pprf_seed *top, unsigned seeds,
             unsigned h) */
{
  tile[at] = (uint8_t)(OPT_TILE_LIVE + height);
  seed[to] = value;
}

/* Place of the next tile beside a path, counted from the left end or from the right end. */
/*@ requires sides: left <= right && is_left <= 1;
    assigns \nothing;
    ensures \result == (is_left == 0 ? right : left); */
static inline unsigned next_place(unsigned left, unsigned right, unsigned is_left)
{
  //@ assert side: is_left == 0 || is_left == 1;
  return right - is_left * (right - left);
}

/* Write the sibling of the given height beside the path to a leaf: the next tile from its side.
 * The node above it starts at `start`, that node's right half at `middle`. */
/*@ requires place: tile == row + k && left < right <= h <= 63 && seed == top - (seeds + h) &&
      k + h < OPT_TILES_MAX && seeds <= OPT_TILES_MAX;
    requires memory: \valid(tile + (0 .. h)) && \valid(seed + (0 .. h - 1)) &&
      \separated(tile + (0 .. h), seed + (0 .. h - 1));
    requires height: height < h && is_left <= 1 && middle == start + pow2(height) &&
      end == middle + pow2(height) && s + pow2(h) <= 0x8000000000000000;
    requires sibling: beside(leaf, height) == (is_left == 0 ? middle : start) &&
      tree_node(d, beside(leaf, height), height) &&
      seed_value(value) == node_seed(root, d, beside(leaf, height), height);
    requires lefts: sibling_run(root, d, leaf, h, row, k, k + left, top, seeds - k, s, start);
    requires rights: sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1, top,
                                 seeds - k - 1, end, s + pow2(h));
    assigns tile[0 .. h], seed[0 .. h - 1];
    ensures left: is_left != 0 ==>
      sibling_run(root, d, leaf, h, row, k, k + left + 1, top, seeds - k, s, middle) &&
      sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1, top, seeds - k - 1,
                  end, s + pow2(h));
    ensures right: is_left == 0 ==>
      sibling_run(root, d, leaf, h, row, k, k + left, top, seeds - k, s, start) &&
      sibling_run(root, d, leaf, h, row, k + right, k + h + 1, top, seeds - k - 1,
                  middle, s + pow2(h)); */
static inline void put_path_sibling(uint8_t *tile, struct pprf_seed *seed, unsigned left,
                                    unsigned right, unsigned h, unsigned is_left, unsigned height,
                                    struct pprf_seed value)
  /*@ ghost (const uint8_t *row, unsigned k, uint64_t s, const struct pprf_seed *top,
             unsigned seeds, unsigned d, uint64_t leaf, uint64_t start, uint64_t middle,
             uint64_t end) */
{
  unsigned at = next_place(left, right, is_left);
  put_live(tile, at, height, seed, h - is_left - at, value) /*@ ghost (row, k, top, seeds, h) */;
  SIBLING_IN_RUN
}

/* Write the siblings beside the path to a leaf: all tiles of opt_tiles_put_path but the leaf's.
 * Returns how many lie left of the leaf. */
/*@ requires node: 1 <= h <= d <= 63 && tree_node(d, s, h) && covers(s, h, leaf);
    requires place: tile == row + k && k + h < OPT_TILES_MAX && seeds <= OPT_TILES_MAX &&
      seed == top - (seeds + h);
    requires memory: \valid(tile + (0 .. h)) && \valid(seed + (0 .. h - 1)) &&
      \valid_read(copath + (0 .. h - 1));
    requires apart: \separated(tile + (0 .. h), copath + (0 .. h - 1)) &&
      \separated(tile + (0 .. h), seed + (0 .. h - 1)) &&
      \separated(seed + (0 .. h - 1), copath + (0 .. h - 1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns tile[0 .. h], seed[0 .. h - 1];
    ensures left: \result <= h;
    ensures leaf: tree_node(d, leaf, 0) && leaf < 0x8000000000000000;
    ensures lefts: sibling_run(root, d, leaf, h, row, k, k + \result, top, seeds - k, s, leaf);
    ensures rights: sibling_run(root, d, leaf, h, row, k + \result + 1, k + h + 1, top,
                                seeds - k - 1, leaf + 1, s + pow2(h)); */
static inline unsigned put_siblings(uint8_t *tile, struct pprf_seed *seed, uint64_t leaf,
                                    unsigned h, const struct pprf_seed *copath)
  /*@ ghost (const uint8_t *row, unsigned k, uint64_t s, const struct pprf_seed *top,
             unsigned seeds, unsigned d) */
{
  unsigned left = 0, right = h; /* ends of the tiles written so far, on either side */
  NO_SIBLINGS
  /* no branch on the leaf's bits: half of them would be mispredicted */
  /*@ loop invariant height: i <= h && left + i == right <= h;
      loop invariant node: tree_node(d, start, i) && covers(start, i, leaf) &&
        end == start + pow2(i) <= 0x8000000000000000;
      loop invariant lefts: sibling_run(root, d, leaf, h, row, k, k + left, top,
                                        seeds - k, s, start);
      loop invariant rights: sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1,
                                         top, seeds - k - 1, end, s + pow2(h));
      loop invariant copath: copath_seeds(root, d, leaf, copath, 0, h);
      loop assigns i, left, right, start, end, tile[0 .. h], seed[0 .. h - 1];
      loop variant i; */
  for (unsigned i = h; i > 0; i--) {
    HALVES_OF_PATH
    unsigned is_left = (unsigned)(leaf >> (i - 1) & 1);
    SIDE_OF_SIBLING
    put_path_sibling(tile, seed, left, right, h, is_left, i - 1, copath[i - 1])
      /*@ ghost (row, k, s, top, seeds, d, leaf, start, middle, end) */;
    left += is_left;
    right -= 1 - is_left;
    HALF_OF_LEAF
  }
  return left;
}

/* Write the punctured leaf's tile between the siblings. */
/*@ requires place: tile == row + k && left == right <= h && k + h < OPT_TILES_MAX &&
      \valid(tile + (0 .. h));
    requires lefts: sibling_run(root, d, leaf, h, row, k, k + left, top, seeds - k, s, start);
    requires rights: sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1, top,
                                 seeds - k - 1, end, s + pow2(h));
    assigns tile[left];
    ensures byte: tile_byte(row, k + left) == 0;
    ensures before: \forall integer i; 0 <= i < k ==> tile_byte(row, i) == tile_byte{Pre}(row, i);
    ensures lefts: sibling_run(root, d, leaf, h, row, k, k + left, top, seeds - k, s, start);
    ensures rights: sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1, top,
                                seeds - k - 1, end, s + pow2(h)); */
static inline void put_punctured_leaf(uint8_t *tile, unsigned left)
  /*@ ghost (const uint8_t *row, unsigned k, uint64_t s, const struct pprf_seed *top,
             unsigned seeds, unsigned d, uint64_t leaf, unsigned h, unsigned right,
             uint64_t start, uint64_t end) */
{
  tile[left] = 0;
  RUNS_KEPT
}

void opt_tiles_put_path(uint8_t *tile, struct pprf_seed *seed, uint64_t leaf, unsigned h,
                        const struct pprf_seed *copath)
  /*@ ghost (const uint8_t *row, unsigned k, uint64_t first, uint64_t s,
             const struct pprf_seed *top, unsigned seeds, unsigned d) */
{
  unsigned left = put_siblings(tile, seed, leaf, h, copath)
    /*@ ghost (row, k, s, top, seeds, d) */;
  put_punctured_leaf(tile, left)
    /*@ ghost (row, k, s, top, seeds, d, leaf, h, left, leaf, leaf + 1) */;
  PATH_IS_ROW
}

/* Merge tiles left and left + 1 of n into one. */
/*@ requires pair: left + 1 < n <= OPT_TILES_MAX && tile[left] < 64 && \valid(tile + (0 .. n - 1));
    assigns tile[0 .. n - 1];
    ensures before: \forall integer i; 0 <= i < left ==>
      tile_byte(tile, i) == tile_byte{Pre}(tile, i);
    ensures merged: tile_byte(tile, left) == tile_byte{Pre}(tile, left) + 1;
    ensures behind: \forall integer i; left + 1 <= i < n - 1 ==>
      tile_byte(tile, i) == tile_byte{Pre}(tile, i + 1);
    ensures free: tile[n - 1] == 0; */
static inline void put_merged(uint8_t *tile, unsigned n, unsigned left)
{
  uint8_t merged = (uint8_t)(tile[left] + 1);
  opt_tiles_down(tile + left + 1, n - left - 2u, 1) /*@ ghost (tile, left + 1u) */;
  tile[n - 1] = 0;
  tile[left] = merged;
}

/* put_merged for two punctured siblings, tiles left and left + 1 of n. */
/*@ requires row: row_holds(root, d, tile, n, first, end, top, m);
    requires pair: left + 1 < n && tile_byte(tile, left) == tile_byte(tile, left + 1) < d &&
      tree_node(d, tile_start(tile, first, left), tile_byte(tile, left) + 1);
    requires memory: \valid(tile + (0 .. n - 1));
    assigns tile[0 .. n - 1];
    ensures row: row_holds(root, d, tile, n - 1, first, end, top, m);
    ensures punctured: \forall integer x;
      row_punctured(tile, n - 1, first, x) <==> row_punctured{Pre}(tile, n, first, x);
    ensures before: row_kept{Pre,Post}(tile, first, left);
    ensures merged: tile[left] == \old(tile[left]) + 1;
    ensures free: tile[n - 1] == 0; */
static inline void merge_pair(uint8_t *tile, unsigned n, unsigned left)
  /*@ ghost (const struct pprf_seed *top, unsigned m, unsigned d, uint64_t first, uint64_t end) */
{
  put_merged(tile, n, left);
  PAIR_IS_TILE
}

unsigned opt_row_merge(uint8_t *tile, unsigned n, unsigned at, uint64_t start)
  /*@ ghost (const struct pprf_seed *top, unsigned m, unsigned d, uint64_t first, uint64_t end) */
{
  /*@ loop invariant count: 1 <= n <= \at(n,Pre);
      loop invariant row: row_holds(root, d, tile, n, first, end, top, m);
      loop invariant punctured: \forall integer x;
        row_punctured(tile, n, first, x) <==> row_punctured{Pre}(tile, \at(n,Pre), first, x);
      loop invariant at: at < n && tile[at] < 64 && start == tile_start(tile, first, at);
      loop invariant free: \forall integer i; n <= i < \at(n,Pre) ==> tile[i] == 0;
      loop assigns n, at, start, tile[0 .. \at(n,Pre) - 1];
      loop variant n; */
  for (;;) {
    uint8_t t = tile[at];
    TILE_AND_PARENT
    int right = (int)(start >> opt_tile_height(t) & 1);
    if (right ? at == 0 : at + 1 == n)
      return n;
    unsigned left = right ? at - 1 : at; /* the left one of the two */
    if (tile[left] != tile[left + 1])
      return n;
    PAIR_HAS_PARENT
    merge_pair(tile, n, left) /*@ ghost (top, m, d, first, end) */;
    //@ assert rest: \forall integer i; n <= i < \at(n,Pre) ==> tile[i] == 0;
    //@ assert free: \forall integer i; n - 1 <= i < \at(n,Pre) ==> tile[i] == 0;
    n--;
    start -= right ? opt_tile_leaves(t) : 0;
    at = left;
  }
}

/* Remove the seed of a leaf that is a tile by itself from the row. */
/*@ requires row: row_holds(root, d, tile, n, first, end, top, m);
    requires at: at.tile < n && tile[at.tile] == OPT_TILE_LIVE &&
      at.start == tile_start(tile, first, at.tile) && at.seeds == seeds_before(tile, at.tile);
    requires memory: \valid(tile + (0 .. n - 1)) && \valid(top + (-m .. -1)) &&
      \separated(tile + (0 .. n - 1), top + (-m .. -1));
    assigns tile[0 .. n - 1], top[-m .. -1];
    ensures row: row_holds(root, d, tile, n, first, end, top, m - 1);
    ensures punctured: \forall integer x; row_punctured(tile, n, first, x) <==>
      row_punctured{Pre}(tile, n, first, x) || x == at.start;
    ensures at: tile[at.tile] == 0 && tile_start(tile, first, at.tile) == at.start;
    ensures count: m >= 1;
    ensures wiped: zero_seed(top[-m]); */
static inline void take_live_leaf(uint8_t *tile, struct pprf_seed *top, unsigned m,
                                  struct opt_place at)
  /*@ ghost (unsigned n, unsigned d, uint64_t first, uint64_t end) */
{
  SEEDS_BELOW_LEAF
  opt_seeds_up_one(top - m, m - at.seeds - 1u) /*@ ghost (top, at.seeds) */;
  tile[at.tile] = 0;
  LEAF_IS_TAKEN
}

unsigned opt_row_puncture_leaf(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                               struct opt_place at)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  take_live_leaf(tile, top, m, at) /*@ ghost (n, d, first, end) */;
  unsigned tiles = opt_row_merge(tile, n, at.tile, at.start)
    /*@ ghost (top, m - 1, d, first, end) */;
  //@ ghost places_lemma(tile, tiles);
  return tiles;
}

/* Make room for h tiles after a tile and for h - 1 seeds after its seed. */
/*@ requires at: k < n && n + h <= OPT_TILES_MAX && 1 <= h && seeds < m <= n;
    requires memory: \valid(tile + (0 .. n + h - 1)) && \valid(top + (-(m + h - 1) .. -1)) &&
      \separated(tile + (0 .. n + h - 1), top + (-(m + h - 1) .. -1));
    assigns tile[0 .. n + h - 1], top[-(m + h - 1) .. -1];
    ensures before: \forall integer i; 0 <= i < k ==> tile_byte(tile, i) == tile_byte{Pre}(tile, i);
    ensures behind: \forall integer i; k + h < i < n + h ==>
      tile_byte(tile, i) == tile_byte{Pre}(tile, i - h);
    ensures above: \forall integer j; 0 <= j < seeds ==>
      place_seed(top, j) == place_seed{Pre}(top, j);
    ensures below: \forall integer j; seeds + h <= j < m + h - 1 ==>
      place_seed(top, j) == place_seed{Pre}(top, j - (h - 1)); */
static inline void make_room(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                             unsigned k, unsigned seeds, unsigned h)
{
  opt_tiles_up(tile + k + 1, n - k - 1u, h) /*@ ghost (tile, k + 1u) */;
  opt_seeds_down(top - (m + h - 1u), m - seeds - 1u, h - 1u) /*@ ghost (top, seeds + 1u) */;
}

/* Replace a live tile of height h >= 1 by the tiles around a leaf below it.  All other tiles and
 * seeds stay, or move as in make_room. */
/*@ requires at: k < n && n + h <= OPT_TILES_MAX && seeds < m <= n;
    requires node: 1 <= h <= d <= 63 && tree_node(d, s, h) && covers(s, h, leaf);
    requires before: tile_start(tile, first, k) == s && seeds_before(tile, k) == seeds;
    requires memory: \valid(tile + (0 .. n + h - 1)) && \valid(top + (-(m + h - 1) .. -1)) &&
      \valid_read(copath + (0 .. h - 1));
    requires apart: \separated(tile + (0 .. n + h - 1), top + (-(m + h - 1) .. -1)) &&
      \separated(copath + (0 .. h - 1), tile + (0 .. n + h - 1)) &&
      \separated(copath + (0 .. h - 1), top + (-(m + h - 1) .. -1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns tile[0 .. n + h - 1], top[-(m + h - 1) .. -1];
    ensures head: \forall integer i; 0 <= i < k ==> tile_byte(tile, i) == tile_byte{Pre}(tile, i);
    ensures tail: \forall integer i; k + h < i < n + h ==>
      tile_byte(tile, i) == tile_byte{Pre}(tile, i - h);
    ensures above: \forall integer j; 0 <= j < seeds ==>
      place_seed(top, j) == place_seed{Pre}(top, j);
    ensures below: \forall integer j; seeds + h <= j < m + h - 1 ==>
      place_seed(top, j) == place_seed{Pre}(top, j - (h - 1));
    ensures before: row_kept{Pre,Post}(tile, first, k);
    ensures nodes: \forall integer i; k <= i <= k + h ==> tile_is_node(tile, first, d, i);
    ensures seeds: \forall integer i; k <= i <= k + h ==>
      tile_has_seed(root, d, tile, first, top, i);
    ensures only: \forall integer i; k <= i <= k + h ==> tile_byte(tile, i) < 64 ==>
      tile_byte(tile, i) == 0 && tile_start(tile, first, i) == leaf;
    ensures leaf: \exists integer i; k <= i <= k + h && tile_byte(tile, i) == 0 &&
      tile_start(tile, first, i) == leaf;
    ensures end: tile_start(tile, first, k + h + 1) == s + pow2(h);
    ensures count: seeds_before(tile, k + h + 1) == seeds + h; */
static inline void put_path_in_room(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                                    unsigned k, unsigned seeds, uint64_t leaf, unsigned h,
                                    const struct pprf_seed *copath)
  /*@ ghost (unsigned d, uint64_t first, uint64_t s) */
{
  make_room(tile, n, top, m, k, seeds, h);
  ROW_BEFORE_PATH
  opt_tiles_put_path(tile + k, top - (seeds + h), leaf, h, copath)
    /*@ ghost (tile, k, first, s, top, seeds, d) */;
  PATH_IN_ROOM
}

/* put_path_in_room, with the proof of where the tiles after it start. */
/*@ requires at: k < n && n + h <= OPT_TILES_MAX && seeds < m <= n;
    requires node: 1 <= h <= d <= 63 && tree_node(d, s, h) && covers(s, h, leaf);
    requires before: tile_start(tile, first, k) == s && seeds_before(tile, k) == seeds;
    requires end: tile_start(tile, first, k + 1) == s + pow2(h) &&
      seeds_before(tile, k + 1) == seeds + 1;
    requires memory: \valid(tile + (0 .. n + h - 1)) && \valid(top + (-(m + h - 1) .. -1)) &&
      \valid_read(copath + (0 .. h - 1));
    requires apart: \separated(tile + (0 .. n + h - 1), top + (-(m + h - 1) .. -1)) &&
      \separated(copath + (0 .. h - 1), tile + (0 .. n + h - 1)) &&
      \separated(copath + (0 .. h - 1), top + (-(m + h - 1) .. -1));
    requires copath: copath_seeds(root, d, leaf, copath, 0, h);
    assigns tile[0 .. n + h - 1], top[-(m + h - 1) .. -1];
    ensures head: \forall integer i; 0 <= i < k ==> tile_byte(tile, i) == tile_byte{Pre}(tile, i);
    ensures tail: \forall integer i; k + h < i < n + h ==>
      tile_byte(tile, i) == tile_byte{Pre}(tile, i - h);
    ensures above: \forall integer j; 0 <= j < seeds ==>
      place_seed(top, j) == place_seed{Pre}(top, j);
    ensures below: \forall integer j; seeds + h <= j < m + h - 1 ==>
      place_seed(top, j) == place_seed{Pre}(top, j - (h - 1));
    ensures before: row_kept{Pre,Post}(tile, first, k);
    ensures nodes: \forall integer i; k <= i <= k + h ==> tile_is_node(tile, first, d, i);
    ensures seeds: \forall integer i; k <= i <= k + h ==>
      tile_has_seed(root, d, tile, first, top, i);
    ensures only: \forall integer i; k <= i <= k + h ==> tile_byte(tile, i) < 64 ==>
      tile_byte(tile, i) == 0 && tile_start(tile, first, i) == leaf;
    ensures leaf: \exists integer i; k <= i <= k + h && tile_byte(tile, i) == 0 &&
      tile_start(tile, first, i) == leaf;
    ensures behind: row_moved{Pre,Post}(tile, first, k + 1, n, h, h - 1); */
static inline void replace_tile(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                                unsigned k, unsigned seeds, uint64_t leaf, unsigned h,
                                const struct pprf_seed *copath)
  /*@ ghost (unsigned d, uint64_t first, uint64_t s) */
{
  put_path_in_room(tile, n, top, m, k, seeds, leaf, h, copath) /*@ ghost (d, first, s) */;
  STARTS_BEHIND_PATH
}

void opt_row_puncture_below(uint8_t *tile, unsigned n, struct pprf_seed *top, unsigned m,
                            struct opt_place at, uint64_t leaf, unsigned h,
                            const struct pprf_seed *copath)
  /*@ ghost (unsigned d, uint64_t first, uint64_t end) */
{
  SEEDS_BELOW_NODE
  replace_tile(tile, n, top, m, at.tile, at.seeds, leaf, h, copath)
    /*@ ghost (d, first, at.start) */;
  PATH_IN_ROW
}

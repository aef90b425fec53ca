/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind tiles.acsl: ghost code only, never compiled. */
#include "path.h"
#include "packed/tiles.h"

/*@ ghost
  void leaves_of_lemma(unsigned h)
  {
    shl_lemma(1, h);
    pow2_mono_lemma(0, h);
    pow2_mono_lemma(h, 63);
  }

  void deep_tree_lemma(unsigned d)
  {
    pow2_mono_lemma(0, d);
    pow2_pos_lemma();
    tn_apart_lemma(d, d);
    /@ loop invariant 0 <= k <= d;
       loop invariant within: \forall integer s, h; k <= h <= d ==> tree_node(d, s, h) ==>
         0 <= s && s + pow2(h) <= pow2(d);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 0; k--) {
      tn_apart_lemma(d, k - 1);
    }
    pow2_mono_lemma(d, 63);
  }

  // proven in slots.c
  /@ assigns \nothing;
     ensures xor: (v ^ 1) == (v % 2 == 0 ? v + 1 : v - 1);
     ensures and: (v & 1) == v % 2; @/
  void low_bit_lemma(uint64_t v);

  /@ requires q == 2 * p && w == v / 2;
     assigns \nothing;
     ensures even: v % 2 == 0 ==> v * p == w * q;
     ensures odd: v % 2 == 1 ==> v * p == w * q + p; @/
  void half_times_lemma(uint64_t v, uint64_t w, uint64_t p, uint64_t q)
  {
    /@ assert even: v % 2 == 0 ==> v == 2 * w; @/
    /@ assert odd: v % 2 == 1 ==> v == 2 * w + 1; @/
    /@ assert product: w * q == 2 * (w * p); @/
    /@ assert even_product: v % 2 == 0 ==> v * p == 2 * (w * p); @/
    /@ assert odd_product: v % 2 == 1 ==> v * p == 2 * (w * p) + p; @/
  }

  void half_lemma(unsigned d, uint64_t s, unsigned h, uint64_t x)
  {
    deep_tree_lemma(d);
    /@ assert leaf: x < pow2(d); @/
    covering_start_lemma(d, x, h);
    covering_start_lemma(d, x, h - 1);
    /@ assert node: covering_start(x, h) == s; @/
    shift_lemma(x, h);
    shift_lemma(x, h - 1);
    uint64_t p = end_lemma(0, h - 1), q = end_lemma(0, h), v = x >> (h - 1), w = x >> h;
    /@ assert two: q == 2 * p; @/
    /@ assert half: w == v / 2; @/
    low_bit_lemma(v);
    half_times_lemma(v, w, p, q);
    /@ assert own: covering_start(x, h - 1) == v * p; @/
    /@ assert parent: s == w * q; @/
    /@ assert where: covering_start(x, h - 1) == (v % 2 == 0 ? s : s + p); @/
    /@ assert bit: v % 2 == (x < s + p ? 0 : 1); @/
  }

  void parent_lemma(unsigned d, uint64_t s, unsigned h)
  {
    deep_tree_lemma(d);
    low_bit_lemma(s >> h);
    if (h < d) {
      covering_start_lemma(d, s, h + 1);
      uint64_t p = s >> (h + 1);
      shift_lemma(s, h + 1);
      uint64_t start = s >> (h + 1) << (h + 1);
      /@ assert start: start == covering_start(s, h + 1); @/
      half_lemma(d, start, h + 1, s);
      tn_apart_lemma(d, h);
      /@ assert left: s < start + pow2(h) ==> s == start; @/
      /@ assert right: s >= start + pow2(h) ==> s == start + pow2(h); @/
    } else {
      shift_lemma(s, h);
      /@ assert root: s == 0; @/
      /@ assert zero: (s >> h) == 0; @/
    }
  }

  void leaf_node_lemma(unsigned d, uint64_t x)
  {
    deep_tree_lemma(d);
    covering_start_lemma(d, x, 0);
    /@ assert one: pow2(0) == 1; @/
    /@ assert start: covering_start(x, 0) == x; @/
  }

  void next_node_lemma(unsigned d, uint64_t s, unsigned h)
  {
    deep_tree_lemma(d);
    uint64_t x = end_lemma(s, h);
    covering_start_lemma(d, x, h);
    tn_apart_lemma(d, h);
    /@ assert around: covers(covering_start(x, h), h, x); @/
    /@ assert right: s < covering_start(x, h); @/
    /@ assert start: covering_start(x, h) == x; @/
  }

  void row_order_lemma(const uint8_t *tile, unsigned n, uint64_t first, unsigned d)
  {
    deep_tree_lemma(d);
    /@ loop invariant 0 <= k <= n;
       loop invariant starts: \forall integer i, j; 0 <= i < j <= k ==>
         tile_start(tile, first, i) + pow2(tile_height(tile[i])) <= tile_start(tile, first, j);
       loop invariant seeds: \forall integer i, j; 0 <= i < j <= k ==>
         seeds_before(tile, i) + tile_seeds(tile[i]) <= seeds_before(tile, j);
       loop invariant count: \forall integer i; 0 <= i <= k ==> 0 <= seeds_before(tile, i) <= i;
       loop invariant begin: \forall integer i; 0 <= i <= k ==> first <= tile_start(tile, first, i);
       loop invariant inside: \forall integer i; 0 <= i < k ==>
         first <= tile_start(tile, first, i) <
           tile_start(tile, first, i) + pow2(tile_height(tile[i])) <= 0x8000000000000000;
       loop assigns k;
       loop variant n - k; @/
    for (unsigned k = 0; k < n; k++) {
      /@ assert node: tile_is_node(tile, first, d, k); @/
      /@ assert step: row_step(tile, first, k); @/
    }
  }

  void run_append_lemma(unsigned d, uint64_t leaf, unsigned h,
                        const uint8_t *tile, unsigned from, unsigned to,
                        const struct pprf_seed *top, int shift, uint64_t start, uint64_t end)
  {
    /@ assert tiles: sibling_tiles(root, d, leaf, h, tile, from, to + 1, top, shift); @/
    /@ assert last: \forall integer i; from <= i ==> i + 1 == to ==>
         sibling_end(tile, leaf, i) == sibling_start(tile, leaf, to); @/
    /@ assert meet: siblings_meet(tile, leaf, from, to + 1, start, sibling_end(tile, leaf, to)); @/
  }

  void run_prepend_lemma(unsigned d, uint64_t leaf, unsigned h,
                         const uint8_t *tile, unsigned from, unsigned to,
                         const struct pprf_seed *top, int shift, uint64_t start, uint64_t end)
  {
    /@ assert tiles: sibling_tiles(root, d, leaf, h, tile, from, to, top, shift); @/
    /@ assert first: \forall integer i; i == from + 1 ==> i < to ==>
         sibling_end(tile, leaf, from) == sibling_start(tile, leaf, i); @/
    /@ assert meet: siblings_meet(tile, leaf, from, to, sibling_start(tile, leaf, from), end); @/
  }

  void run_in_row_lemma(unsigned d, uint64_t leaf, unsigned h,
                        const uint8_t *tile, uint64_t first, unsigned from, unsigned to,
                        const struct pprf_seed *top, int shift, uint64_t start, uint64_t end)
  {
    /@ loop invariant from <= q <= to;
       loop invariant start: q < to ==> tile_start(tile, first, q) == sibling_start(tile, leaf, q);
       loop invariant end: q == to ==> tile_start(tile, first, to) == end;
       loop invariant count: seeds_before(tile, q) == q + shift;
       loop invariant live: \forall integer i; from <= i < q ==> tile_byte(tile, i) >= 64;
       loop invariant nodes: \forall integer i; from <= i < q ==> tile_is_node(tile, first, d, i);
       loop invariant seeds: \forall integer i; from <= i < q ==>
         tile_has_seed(root, d, tile, first, top, i);
       loop assigns q;
       loop variant to - q; @/
    for (unsigned q = from; q < to; q++) {
      /@ assert step: row_step(tile, first, q); @/
      /@ assert own: sibling_tile(root, d, leaf, h, tile, q, top, shift); @/
      /@ assert byte: 64 <= tile_byte(tile, q) < 64 + h; @/
      /@ assert behind: tile_start(tile, first, q + 1) == sibling_end(tile, leaf, q); @/
      /@ assert next: q + 1 < to ==>
           sibling_end(tile, leaf, q) == sibling_start(tile, leaf, q + 1); @/
      /@ assert node: tile_is_node(tile, first, d, q); @/
      /@ assert seed: tile_has_seed(root, d, tile, first, top, q); @/
    }
  }

  void only_leaf_lemma(const uint8_t *tile, uint64_t first, unsigned from, unsigned at, unsigned to,
                       uint64_t leaf)
  {
    /@ assert only: \forall integer i; from <= i <= to ==> tile_byte(tile, i) < 64 ==> i == at; @/
  }

  void places_lemma(const uint8_t *tile, unsigned n)
  {
    /@ loop invariant 0 <= k <= n;
       loop invariant places: places_owned(tile, k, seeds_before(tile, k));
       loop assigns k;
       loop variant n - k; @/
    for (unsigned k = 0; k < n; k++) {
      /@ assert step: row_step(tile, 0, k); @/
      /@ assert old: \forall integer j; place_owned(tile, k, j) ==> place_owned(tile, k + 1, j); @/
      /@ assert new: tile_byte(tile, k) >= 64 ==>
        place_owned(tile, k + 1, seeds_before(tile, k)); @/
    }
  }
*/

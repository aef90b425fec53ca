/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of tiles.c, each named by what it shows; empty for the compiler.
 * The contracts and the loop invariants are in the code. */
#ifndef OPT_WP_TILES_STEPS_H
#define OPT_WP_TILES_STEPS_H

/* The starts and counts up to tile `kept` are those of the state Pre.  Those of tiles `behind`
 * to `tiles` are too, but `by` places higher, with `more` additional seeds before them.  Both
 * are inductions over the row in two states of memory, for which ACSL has only loops.  The step
 * of the second one is row_moved_S: no prover finds it when `by` is not a constant and stands in
 * a sum under a quantifier. */
#define STARTS_KEPT \
  /*@ assert bytes: \forall integer i; 0 <= i < kept ==> \
        tile_byte{Pre}(row, i) == tile_byte(row, i); */ \
  /*@ ghost \
    /@ loop invariant 0 <= j <= kept; \
       loop invariant row_kept{Pre,Here}(row, first, j); \
       loop assigns j; \
       loop variant kept - j; @/ \
    for (unsigned j = 0; j < kept; j++) { \
      /@ assert old: row_step{Pre}(row, first, j); @/ \
      /@ assert new: row_step(row, first, j); @/ \
      /@ assert byte: tile_byte{Pre}(row, j) == tile_byte(row, j); @/ \
    } */ \
  /*@ assert starts: row_kept{Pre,Here}(row, first, kept); */
#define STARTS_MOVED \
  /*@ assert bytes: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte{Pre}(row, i - by) == tile_byte(row, i); */ \
  /*@ ghost \
    /@ loop invariant behind <= j <= tiles; \
       loop invariant row_moved{Pre,Here}(row, first, behind, j, by, more); \
       loop assigns j; \
       loop variant tiles - j; @/ \
    for (unsigned j = behind; j < tiles; j++) { \
      /@ assert byte: tile_byte{Pre}(row, j) == tile_byte(row, j + by); @/ \
    } */ \
  /*@ assert starts: row_moved{Pre,Here}(row, first, behind, tiles, by, more); */

/* Consequence: tiles below `kept` and those from `behind` to tiles - 1 are as in Pre, unmoved or
 * moved. */
#define TILES_KEPT \
  /*@ assert head: \forall integer i; 0 <= i < kept ==> \
        tile_byte{Pre}(row, i) == tile_byte(row, i) && \
        tile_start{Pre}(row, first, i) == tile_start(row, first, i) && \
        seeds_before{Pre}(row, i) == seeds_before(row, i); */ \
  /*@ assert tail: \forall integer i; behind <= i < tiles ==> \
        tile_byte{Pre}(row, i) == tile_byte(row, i + by) && \
        tile_start{Pre}(row, first, i) == tile_start(row, first, i + by) && \
        seeds_before{Pre}(row, i) + more == seeds_before(row, i + by); */ \
  /*@ assert back: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte{Pre}(row, i - by) == tile_byte(row, i) && \
        tile_start{Pre}(row, first, i - by) == tile_start(row, first, i) && \
        seeds_before{Pre}(row, i - by) + more == seeds_before(row, i); */ \
  /*@ assert nodes: \forall integer i; 0 <= i < tiles ==> tile_is_node{Pre}(row, first, d, i); */ \
  /*@ assert nodes_head: \forall integer i; 0 <= i < kept ==> tile_is_node(row, first, d, i); */ \
  /*@ assert nodes_tail: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_is_node(row, first, d, i); */ \
  /*@ assert out_head: \forall integer i, x; 0 <= i < kept ==> tile_byte{Pre}(row, i) < 64 ==> \
        tile_covers{Pre}(row, first, i, x) ==> row_punctured(row, tiles + by, first, x); */ \
  /*@ assert out_tail: \forall integer i, x; behind <= i < tiles ==> \
        tile_byte{Pre}(row, i) < 64 ==> tile_covers{Pre}(row, first, i, x) ==> \
        row_punctured(row, tiles + by, first, x); */ \
  /*@ assert in_head: \forall integer i, x; 0 <= i < kept ==> tile_byte(row, i) < 64 ==> \
        tile_covers(row, first, i, x) ==> row_punctured{Pre}(row, tiles, first, x); */ \
  /*@ assert in_tail: \forall integer i, x; behind + by <= i < tiles + by ==> \
        tile_byte(row, i) < 64 ==> tile_covers(row, first, i, x) ==> \
        row_punctured{Pre}(row, tiles, first, x); */ \
  /*@ assert out: \forall integer x; row_punctured{Pre}(row, tiles, first, x) ==> \
        punctured_between{Pre}(row, first, kept, behind, x) || \
        row_punctured(row, tiles + by, first, x); */ \
  /*@ assert in: \forall integer x; row_punctured(row, tiles + by, first, x) ==> \
        punctured_between(row, first, kept, behind + by, x) || \
        row_punctured{Pre}(row, tiles, first, x); */ \
  /*@ assert inner_old: \forall integer x; punctured_between{Pre}(row, first, kept, behind, x) ==> \
        row_punctured{Pre}(row, tiles, first, x); */ \
  /*@ assert inner_new: \forall integer x; punctured_between(row, first, kept, behind + by, x) ==> \
        row_punctured(row, tiles + by, first, x); */
/* The same for their seeds, if seeds before some place are as in Pre and those after it have
 * moved. */
#define SEEDS_KEPT \
  /*@ assert held: \forall integer i; 0 <= i < tiles ==> \
        tile_has_seed{Pre}(root, d, row, first, top, i); */ \
  /*@ assert held_head: \forall integer i; 0 <= i < kept ==> seed_of_node(root, d, \
        tile_byte(row, i), tile_start(row, first, i), \
        place_seed{Pre}(top, seeds_before{Pre}(row, i))); */ \
  /*@ assert seeds_head: \forall integer i; 0 <= i < kept ==> \
        tile_has_seed(root, d, row, first, top, i); */ \
  /*@ assert seeds_tail: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_has_seed(root, d, row, first, top, i); */

/* What SEEDS_KEPT needs where the seeds have moved. */
#define PLACES_KEPT \
  /*@ assert less: \forall integer i; 0 <= i < kept ==> tile_byte{Pre}(row, i) >= 64 ==> \
        0 <= seeds_before{Pre}(row, i) < at.seeds; */ \
  /*@ assert more: \forall integer i; behind <= i < tiles ==> tile_byte{Pre}(row, i) >= 64 ==> \
        at.seeds < seeds_before{Pre}(row, i) < m; */ \
  /*@ assert places_head: \forall integer i; 0 <= i < kept ==> tile_byte(row, i) >= 64 ==> \
        place_seed(top, seeds_before(row, i)) == place_seed{Pre}(top, seeds_before{Pre}(row, i)); \
        */ \
  /*@ assert places_tail: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte(row, i) >= 64 ==> place_seed(top, seeds_before(row, i)) == \
        place_seed{Pre}(top, seeds_before{Pre}(row, i - by)); */

/* With the tiles between, all of them form the row. */
#define ROW_KEPT \
  /*@ assert tiles: row_tiles(row, tiles + by, first, d); */ \
  /*@ assert seeds: row_seeds(root, d, row, tiles + by, first, top); */ \
  /*@ assert old_end: tile_start{Pre}(row, first, tiles) == end && \
        seeds_before{Pre}(row, tiles) == m; */ \
  /*@ assert moved_end: tile_start{Pre}(row, first, tiles) == tile_start(row, first, \
        tiles + by) && seeds_before{Pre}(row, tiles) + more == seeds_before(row, tiles + by); */ \
  /*@ assert end: tile_start(row, first, tiles + by) == end && \
        seeds_before(row, tiles + by) == m + more; */

/* opt_tiles_find */
#define NEXT_TILES \
  /*@ ghost unsigned before = right.tile - 1; */ \
  /*@ assert right_step: row_step(tile, first, before); */ \
  /*@ assert right_node: tile_is_node(tile, first, d, before); */ \
  /*@ assert left_step: row_step(tile, first, left.tile); */ \
  /*@ assert left_node: tile_is_node(tile, first, d, left.tile); */

/* put_path_sibling, put_punctured_leaf: the tiles and seeds of both runs of siblings are as in
 * Pre, so both still are runs. */
#define RUNS_KEPT \
  /*@ assert lefts_bytes: \forall integer i; k <= i < k + left ==> \
        tile_byte(row, i) == tile_byte{Pre}(row, i); */ \
  /*@ assert lefts_seeds: \forall integer j; seeds <= j < seeds + left ==> \
        place_seed(top, j) == place_seed{Pre}(top, j); */ \
  /*@ assert lefts_same: \forall integer i; k <= i < k + left ==> \
        sibling_tile{Pre}(root, d, leaf, h, row, i, top, seeds - k) ==> \
        sibling_tile(root, d, leaf, h, row, i, top, seeds - k); */ \
  /*@ assert lefts_starts: \forall integer i; k <= i < k + left ==> \
        sibling_start(row, leaf, i) == sibling_start{Pre}(row, leaf, i) && \
        sibling_end(row, leaf, i) == sibling_end{Pre}(row, leaf, i); */ \
  /*@ assert lefts_tiles: sibling_tiles(root, d, leaf, h, row, k, k + left, top, \
        seeds - k); */ \
  /*@ assert lefts_meet: siblings_meet(row, leaf, k, k + left, s, start); */ \
  /*@ assert lefts: sibling_run(root, d, leaf, h, row, k, k + left, top, seeds - k, \
        s, start); */ \
  /*@ assert rights_bytes: \forall integer i; k + right + 1 <= i < k + h + 1 ==> \
        tile_byte(row, i) == tile_byte{Pre}(row, i); */ \
  /*@ assert rights_seeds: \forall integer j; seeds + right <= j < seeds + h ==> \
        place_seed(top, j) == place_seed{Pre}(top, j); */ \
  /*@ assert rights_same: \forall integer i; k + right + 1 <= i < k + h + 1 ==> \
        sibling_tile{Pre}(root, d, leaf, h, row, i, top, seeds - k - 1) ==> \
        sibling_tile(root, d, leaf, h, row, i, top, seeds - k - 1); */ \
  /*@ assert rights_starts: \forall integer i; k + right + 1 <= i < k + h + 1 ==> \
        sibling_start(row, leaf, i) == sibling_start{Pre}(row, leaf, i) && \
        sibling_end(row, leaf, i) == sibling_end{Pre}(row, leaf, i); */ \
  /*@ assert rights_tiles: sibling_tiles(root, d, leaf, h, row, k + right + 1, k + h + 1, \
        top, seeds - k - 1); */ \
  /*@ assert rights_meet: siblings_meet(row, leaf, k + right + 1, k + h + 1, end, s + pow2(h)); */ \
  /*@ assert rights: sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1, top, \
        seeds - k - 1, end, s + pow2(h)); */

/* put_path_sibling */
#define SIBLING_IN_RUN \
  RUNS_KEPT \
  /*@ ghost \
    if (is_left != 0) { \
      /@ assert byte: tile_byte(row, k + left) == 64 + height; @/ \
      /@ assert tile: sibling_tile(root, d, leaf, h, row, k + left, top, seeds - k); @/ \
      /@ assert begin: sibling_start(row, leaf, k + left) == start; @/ \
      /@ assert end: sibling_end(row, leaf, k + left) == middle; @/ \
      run_append_lemma(d, leaf, h, row, k, k + left, top, (int)seeds - (int)k, s, start); \
    } else { \
      /@ assert byte: tile_byte(row, k + right) == 64 + height; @/ \
      /@ assert tile: sibling_tile(root, d, leaf, h, row, k + right, top, \
                                   seeds - k - 1); @/ \
      /@ assert begin: sibling_start(row, leaf, k + right) == middle; @/ \
      /@ assert end: sibling_end(row, leaf, k + right) == end; @/ \
      unsigned from = k + right, to = k + h + 1; \
      /@ assert behind: sibling_run(root, d, leaf, h, row, from + 1, to, top, \
                                    seeds - k - 1, end, s + pow2(h)); @/ \
      run_prepend_lemma(d, leaf, h, row, from, to, top, (int)seeds - (int)k - 1, end, \
                        end_lemma(s, h)); \
    } */

/* put_siblings */
#define NO_SIBLINGS \
  /*@ ghost deep_tree_lemma(d); */ \
  /*@ ghost uint64_t start = s, end = end_lemma(s, h); */ \
  /*@ assert no_lefts: sibling_run(root, d, leaf, h, row, k, k + left, top, seeds - k, s, \
                                   start); */ \
  /*@ assert no_rights: sibling_run(root, d, leaf, h, row, k + right + 1, k + h + 1, top, \
                                    seeds - k - 1, end, s + pow2(h)); */
#define HALVES_OF_PATH \
  /*@ ghost half_lemma(d, start, i, leaf); */ \
  /*@ ghost uint64_t middle = end_lemma(start, i - 1); */
#define SIDE_OF_SIBLING \
  /*@ assert bit: is_left == (leaf < middle ? 0 : 1); */ \
  /*@ assert seed: seed_value(copath[i - 1]) == \
        node_seed(root, d, beside(leaf, i - 1), i - 1); */
#define HALF_OF_LEAF \
  /*@ ghost start = is_left != 0 ? middle : start; */ \
  /*@ ghost end = is_left != 0 ? end : middle; */

/* opt_tiles_put_path */
#define PATH_IS_ROW \
  /*@ assert height: tile_height(0) == 0; */ \
  /*@ assert leaf_node: byte_of_node(d, 0, leaf); */ \
  /*@ ghost unsigned kept = k; */ \
  STARTS_KEPT \
  /*@ assert begin: tile_start(row, first, k) == s && seeds_before(row, k) == seeds; */ \
  /*@ ghost deep_tree_lemma(d); */ \
  /*@ ghost run_in_row_lemma(d, leaf, h, row, first, k, k + left, top, (int)seeds - (int)k, s, \
                             leaf); */ \
  /*@ assert hole: tile_byte(row, k + left) == 0 && tile_start(row, first, k + left) == leaf && \
        seeds_before(row, k + left) == seeds + left; */ \
  /*@ assert step: row_step(row, first, k + left); */ \
  /*@ assert behind: tile_start(row, first, k + left + 1) == leaf + 1 && \
        seeds_before(row, k + left + 1) == seeds + left; */ \
  /*@ ghost uint64_t end = end_lemma(s, h); */ \
  /*@ ghost run_in_row_lemma(d, leaf, h, row, first, k + left + 1, k + h + 1, top, \
                             (int)seeds - (int)k - 1, leaf + 1, end); */ \
  /*@ assert hole_node: tile_is_node(row, first, d, k + left); */ \
  /*@ ghost only_leaf_lemma(row, first, k, k + left, k + h, leaf); */

/* merge_pair */
#define PAIR_IS_TILE \
  /*@ ghost const uint8_t *row = tile; */ \
  /*@ ghost unsigned kept = left, behind = left + 2, tiles = n; */ \
  /*@ ghost int by = -1, more = 0; */ \
  /*@ ghost uint8_t merged = tile[left]; */ \
  STARTS_KEPT \
  /*@ assert old: row_step{Pre}(row, first, left) && row_step{Pre}(row, first, left + 1); */ \
  /*@ assert left: merged == tile_byte{Pre}(row, left) + 1; */ \
  /*@ assert right: merged == tile_byte{Pre}(row, left + 1) + 1; */ \
  /*@ assert one: tile_byte(row, left) == merged <= d; */ \
  /*@ assert same_left: tile_start{Pre}(row, first, left) == tile_start(row, first, left) && \
        seeds_before{Pre}(row, left) == seeds_before(row, left); */ \
  /*@ assert step: row_step(row, first, left); */ \
  /*@ assert new: tile_start(row, first, left + 1) == tile_start(row, first, \
        left) + pow2(merged) && seeds_before(row, left + 1) == seeds_before(row, left); */ \
  /*@ assert twice: pow2(merged) == 2 * pow2(merged - 1); */ \
  /*@ assert two: tile_start{Pre}(row, first, left + 1) == \
        tile_start(row, first, left) + pow2(merged - 1) && \
        seeds_before{Pre}(row, left + 1) == seeds_before(row, left); */ \
  /*@ assert end_of_two: tile_start{Pre}(row, first, left + 2) == tile_start(row, first, \
        left + 1) && seeds_before{Pre}(row, left + 2) == seeds_before(row, left + 1); */ \
  STARTS_MOVED \
  TILES_KEPT \
  /*@ assert parent: tree_node(d, tile_start(row, first, left), tile_byte{Pre}(row, left) + 1); */ \
  /*@ assert start: tree_node(d, tile_start(row, first, left), merged); */ \
  /*@ assert merged: tile_byte(row, left) == merged < 64 && tile_is_node(row, first, d, left); */ \
  SEEDS_KEPT \
  ROW_KEPT \
  /*@ assert in_left: \forall integer x; tile_covers{Pre}(row, first, left, x) ==> \
        tile_covers(row, first, left, x); */ \
  /*@ assert in_right: \forall integer x; tile_covers{Pre}(row, first, left + 1, x) ==> \
        tile_covers(row, first, left, x); */ \
  /*@ assert in_both: \forall integer i, x; kept <= i < behind ==> \
        tile_covers{Pre}(row, first, i, x) ==> tile_covers(row, first, left, x); */ \
  /*@ assert both: \forall integer x; punctured_between{Pre}(row, first, kept, behind, x) ==> \
        tile_covers(row, first, left, x); */ \
  /*@ assert one: \forall integer x; tile_covers(row, first, left, x) ==> \
        tile_covers{Pre}(row, first, left, x) || tile_covers{Pre}(row, first, left + 1, x); */ \
  /*@ assert same_old: \forall integer x; tile_covers(row, first, left, x) ==> \
        punctured_between{Pre}(row, first, kept, behind, x); */ \
  /*@ assert same_new: \forall integer x; tile_covers(row, first, left, x) <==> \
        punctured_between(row, first, kept, behind + by, x); */

/* opt_row_merge */
#define TILE_AND_PARENT \
  /*@ assert node: tile_is_node(tile, first, d, at); */ \
  /*@ ghost row_order_lemma(tile, n, first, d); */ \
  /*@ ghost parent_lemma(d, start, t); */
#define PAIR_HAS_PARENT \
  /*@ assert nodes: tile_is_node(tile, first, d, left) && \
        tile_is_node(tile, first, d, left + 1); */ \
  /*@ assert step: row_step(tile, first, left) && row_step(tile, first, left + 1); */ \
  /*@ ghost deep_tree_lemma(d); */ \
  /*@ assert lower: t < d; */ \
  /*@ assert bytes: tile_byte(tile, left) == t && tile_byte(tile, left + 1) == t; */ \
  /*@ assert left: right == 0 ==> tree_node(d, tile_start(tile, first, left), t + 1); */ \
  /*@ assert begin: right != 0 ==> tile_start(tile, first, left) == start - pow2(t); */ \
  /*@ assert right: right != 0 ==> tree_node(d, tile_start(tile, first, left), t + 1); */ \
  /*@ assert parent: tree_node(d, tile_start(tile, first, left), t + 1); */

/* take_live_leaf */
#define SEEDS_BELOW_LEAF \
  /*@ ghost row_order_lemma(tile, n, first, d); */ \
  /*@ assert own: row_step(tile, first, at.tile); */ \
  /*@ assert place: at.seeds < m; */
#define LEAF_IS_TAKEN \
  /*@ ghost const uint8_t *row = tile; */ \
  /*@ ghost unsigned kept = at.tile, behind = at.tile + 1, tiles = n; */ \
  /*@ ghost int by = 0, more = -1; */ \
  STARTS_KEPT \
  /*@ assert old: row_step{Pre}(row, first, kept); */ \
  /*@ assert new: row_step(row, first, kept); */ \
  STARTS_MOVED \
  TILES_KEPT \
  /*@ assert same_leaf: tile_start{Pre}(row, first, kept) == tile_start(row, first, kept); */ \
  /*@ assert leaf: tile_byte(row, kept) == 0 && tile_is_node(row, first, d, kept); */ \
  /*@ assert above: \forall integer j; 0 <= j < at.seeds ==> \
        place_seed(top, j) == place_seed{Pre}(top, j); */ \
  /*@ assert below: \forall integer j; at.seeds <= j < m - 1 ==> \
        place_seed(top, j) == place_seed{Pre}(top, j + 1); */ \
  PLACES_KEPT \
  SEEDS_KEPT \
  ROW_KEPT \
  /*@ assert none: \forall integer x; !punctured_between{Pre}(row, first, kept, behind, x); */ \
  /*@ assert one: \forall integer x; punctured_between(row, first, kept, behind + by, x) <==> \
        x == at.start; */

/* put_path_in_room */
#define ROW_BEFORE_PATH \
  /*@ ghost const uint8_t *row = tile; */ \
  /*@ ghost unsigned kept = k; */ \
  STARTS_KEPT \
  /*@ assert begin: tile_start(row, first, k) == s && seeds_before(row, k) == seeds; */ \
  /*@ ghost Moved: ; */
#define PATH_IN_ROOM \
  /*@ assert head: \forall integer i; 0 <= i < k ==> \
        tile_byte(row, i) == tile_byte{Moved}(row, i); */ \
  /*@ assert tail: \forall integer i; k + h < i < n + h ==> \
        tile_byte(row, i) == tile_byte{Moved}(row, i); */ \
  /*@ assert above: \forall integer j; 0 <= j < seeds ==> \
        place_seed(top, j) == place_seed{Moved}(top, j); */ \
  /*@ assert below: \forall integer j; seeds + h <= j < m + h - 1 ==> \
        place_seed(top, j) == place_seed{Moved}(top, j); */ \
  /*@ assert before: row_kept{Moved,Here}(row, first, k); */

/* replace_tile */
#define STARTS_BEHIND_PATH \
  /*@ ghost const uint8_t *row = tile; */ \
  /*@ ghost unsigned behind = k + 1, tiles = n, by = h, more = h - 1; */ \
  /*@ assert end_of_node: tile_start{Pre}(row, first, behind) == s + pow2(h) && \
        seeds_before{Pre}(row, behind) == seeds + 1; */ \
  /*@ assert end_of_path: tile_start(row, first, behind + by) == s + pow2(h) && \
        seeds_before(row, behind + by) == seeds + h; */ \
  STARTS_MOVED

/* opt_row_puncture_below */
#define SEEDS_BELOW_NODE \
  /*@ ghost row_order_lemma(tile, n, first, d); */ \
  /*@ assert own: row_step(tile, first, at.tile); */ \
  /*@ assert node: tile_is_node(tile, first, d, at.tile); */ \
  /*@ assert place: at.seeds < m <= n; */ \
  /*@ assert end: tile_start(tile, first, at.tile + 1) == at.start + pow2(h) && \
        seeds_before(tile, at.tile + 1) == at.seeds + 1; */
#define PLACES_BEHIND_PATH \
  /*@ assert live_behind: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte(row, i) >= 64 ==> at.seeds < seeds_before{Pre}(row, i - by) < m; */ \
  /*@ assert places_behind: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte(row, i) >= 64 ==> at.seeds + h <= seeds_before(row, i) < m + h - 1 && \
        seeds_before(row, i) - (h - 1) == seeds_before{Pre}(row, i - by); */
#define PATH_IN_ROW \
  /*@ ghost const uint8_t *row = tile; */ \
  /*@ ghost unsigned kept = at.tile, behind = at.tile + 1, tiles = n, by = h, more = h - 1; */ \
  /*@ assert nodes_old: \forall integer i; 0 <= i < tiles ==> \
        tile_is_node{Pre}(row, first, d, i); */ \
  /*@ assert nodes_moved: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte{Pre}(row, i - by) == tile_byte(row, i) ==> \
        tile_start{Pre}(row, first, i - by) == tile_start(row, first, i) ==> \
        tile_is_node(row, first, d, i); */ \
  TILES_KEPT \
  /*@ assert old: row_step{Pre}(row, first, kept); */ \
  PLACES_BEHIND_PATH \
  PLACES_KEPT \
  /*@ assert held_old: \forall integer i; 0 <= i < tiles ==> \
        tile_has_seed{Pre}(root, d, row, first, top, i); */ \
  /*@ assert held_moved: \forall integer i; behind + by <= i < tiles + by ==> \
        tile_byte{Pre}(row, i - by) == tile_byte(row, i) ==> \
        tile_start{Pre}(row, first, i - by) == tile_start(row, first, i) ==> \
        seed_of_node(root, d, tile_byte(row, i), tile_start(row, first, i), \
          place_seed{Pre}(top, seeds_before{Pre}(row, i - by))); */ \
  /*@ assert held_tail: \forall integer i; behind + by <= i < tiles + by ==> \
        seed_of_node(root, d, tile_byte(row, i), tile_start(row, first, i), \
          place_seed{Pre}(top, seeds_before{Pre}(row, i - by))); */ \
  SEEDS_KEPT \
  /*@ assert path_nodes: \forall integer i; kept <= i < behind + by ==> \
        tile_is_node(row, first, d, i); */ \
  /*@ assert path_seeds: \forall integer i; kept <= i < behind + by ==> \
        tile_has_seed(root, d, row, first, top, i); */ \
  ROW_KEPT \
  /*@ assert none: \forall integer x; !punctured_between{Pre}(row, first, kept, behind, x); */ \
  /*@ assert at_leaf: \forall integer i; kept <= i < behind + by ==> tile_byte(row, i) < 64 ==> \
        tile_byte(row, i) == 0 && tile_start(row, first, i) == leaf; */ \
  /*@ assert only: \forall integer x; punctured_between(row, first, kept, behind + by, x) ==> \
        x == leaf; */ \
  /*@ assert this: \exists integer i; kept <= i < behind + by && tile_byte(row, i) < 64 && \
        tile_covers(row, first, i, leaf); */ \
  /*@ assert one: \forall integer x; punctured_between(row, first, kept, behind + by, x) <==> \
        x == leaf; */ \
  /*@ ghost places_lemma(tile, n + h); */

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Proof steps of walk.c, each named by what it shows; empty for the compiler. */
#ifndef OPT_WP_WALK_STEPS_H
#define OPT_WP_WALK_STEPS_H

/* keep_child */
#define CHILD_IN_TREE \
  /*@ ghost deep_tree_lemma(d); */ \
  /*@ ghost half_lemma(d, start, h, leaf); */ \
  /*@ ghost covering_start_lemma(d, child, h); */ \
  /*@ assert parent: covering_start(child, h) == start; */ \
  /*@ assert child: tree_node(d, child, h - 1); */
#define CHILD_IS_ENTERED \
  /*@ assert put: out[n].node.start == child && out[n].node.height == h - 1 && \
        out[n].seed.lo == seed.lo && out[n].seed.hi == seed.hi; */ \
  /*@ assert own: seed_value(out[n].seed) == node_seed(root, d, child, h - 1); */ \
  /*@ assert entry: entry(root, d, out + n); */ \
  /*@ assert parent_of: parent_of(out, n, leaf); */ \
  /*@ assert parents: parents{Pre}(out, n, leaf) ==> parents(out, n + 1, leaf); */ \
  /*@ assert left: right == 0 ==> begins(out, n, start) && ends(out, n, start + pow2(h - 1)); */ \
  /*@ assert left_first: right == 0 ==> lefts_to{Pre}(out, n, begin, start, leaf) ==> \
        begins(out, 0, begin); */ \
  /*@ assert left_old: right == 0 ==> lefts_to{Pre}(out, n, begin, start, leaf) ==> \
        ascending(out, n) && last_ends(out, n, start); */ \
  /*@ assert left_order: right == 0 ==> lefts_to{Pre}(out, n, begin, start, leaf) ==> \
        ascending(out, n + 1); */ \
  /*@ assert left_bounds: right == 0 ==> lefts_to{Pre}(out, n, begin, start, leaf) ==> \
        between(out, n + 1, begin, start + pow2(h - 1)); */ \
  /*@ assert right: right != 0 ==> begins(out, n, start + pow2(h - 1)) && \
        ends(out, n, start + pow2(h)); */ \
  /*@ assert right_first: right != 0 ==> rights_to{Pre}(out, n, end, start + pow2(h), leaf) ==> \
        ends(out, 0, end); */ \
  /*@ assert right_old: right != 0 ==> rights_to{Pre}(out, n, end, start + pow2(h), leaf) ==> \
        descending(out, n) && last_begins(out, n, start + pow2(h)); */ \
  /*@ assert right_order: right != 0 ==> rights_to{Pre}(out, n, end, start + pow2(h), leaf) ==> \
        descending(out, n + 1); */ \
  /*@ assert right_bounds: right != 0 ==> rights_to{Pre}(out, n, end, start + pow2(h), leaf) ==> \
        between(out, n + 1, start + pow2(h - 1), end); */

/* opt_siblings */
#define NODE_OF_RANGE \
  /*@ ghost deep_tree_lemma(d); */ \
  /*@ ghost leaves_of_lemma(height); */ \
  /*@ ghost uint64_t far = end_lemma(start, height); */
#define CHILDREN_OF_NODE \
  /*@ ghost half_lemma(d, from, h, leaf); */ \
  /*@ ghost children_lemma(d, from, h); */ \
  /*@ ghost leaves_of_lemma(h - 1); */
#define CHILD_IS_KEPT \
  /*@ assert same: same_behind{Before,Here}(out, n); */ \
  /*@ assert behind: wiped_or_kept{Pre,Here}(out, n + 1, height); */
#define SIBLINGS_OF_RANGE \
  /*@ assert left: c.err == PPRF_OK ==> right_side == 0 ==> lefts(out, n, start, leaf); */ \
  /*@ assert right: c.err == PPRF_OK ==> right_side != 0 ==> rights(out, n, far, leaf); */ \
  /*@ assert wiped: c.err != PPRF_OK ==> n == 0 && \forall integer i; 0 <= i < height ==> \
        zero_seed(out[i].seed); */

#endif

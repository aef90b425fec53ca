/* SPDX-License-Identifier: Apache-2.0 */
/** @file core.h
 * The puncturable PRF on a caller-supplied array of nodes in leaf order.
 *
 * Results are those of pprf.h; PPRF_ERR_BUFFER means that the array is too short for the result.
 * On any error the array and its length are unchanged.  Contracts state every value relative to
 * root, the seed of the tree's root, which a key no longer stores once it is punctured
 * (ggm.acsl). */
#ifndef REF_CORE_H
#define REF_CORE_H

#include "node.h"
#include "pprf.h"

#ifdef __FRAMAC__
#include "splice.acsl"
#endif

/** Upper bound on the nodes that one puncture (of a leaf or a range) adds to a key of depth d. */
#define REF_GROWTH(d) (2 * (size_t)(d))
/** Upper bound on the length of an array in the core: 2^33 nodes. */
#define REF_NODES_MAX 0x200000000

/** Number of nodes that lie entirely left of leaf x, which is the index of the first node that
 * ends beyond x. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires \valid_read(a + (0 .. n-1));
    requires nodes: inv(root, d, a, n);
    assigns \nothing;
    ensures bound: \result <= n;
    ensures left: \forall integer k; 0 <= k < \result ==> before(a[k].start, a[k].height, x);
    ensures right: \forall integer k; \result <= k < n ==> x < a[k].start + pow2(a[k].height);
    ensures covered: covered(a, n, x) <==> \result < n && a[\result].start <= x; */
size_t ref_find(const struct ref_node *a, size_t n, uint64_t x)
  /*@ ghost (unsigned d) */;

/** Write the key of depth d with nothing punctured: one node, the root, with the given seed. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires \valid(a);
    assigns a[0];
    ensures nodes: inv(seed_value(root), d, a, 1);
    ensures covered: \forall integer y; 0 <= y < pow2(d) <==> covered(a, 1, y); */
void ref_setup(struct ref_node *a, unsigned d, struct pprf_seed root);

/** Value of leaf x: zero on error.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED, or an error of prg_expand. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid_read(a + (0 .. n-1)) && \valid(value);
    requires \separated(value, a + (0 .. n-1));
    requires nodes: inv(root, d, a, n);
    assigns *value, expansions;
    ensures range: \result == PPRF_ERR_RANGE <==> x >= pow2(d);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==> x < pow2(d) && !covered(a, n, x);
    ensures cost: \forall integer k; 0 <= k < n && covers_at{Pre}(a + k, x) ==>
      expansions <= \old(expansions) + \at(a[k].height,Pre);
    ensures free: \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ==>
      expansions <= \old(expansions);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_RANGE ||
                    \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures value: \result == PPRF_OK ==> seed_value(*value) == leaf_value(root, d, x);
    ensures error: \result != PPRF_OK ==> zero_seed(*value); */
int ref_eval(const struct ref_node *a, size_t n, unsigned d, struct pprf_family family, uint64_t x,
             struct pprf_seed *value);

/** Derive the co-path of x below a node that covers x: the siblings along the path from the node
 * down to x, in leaf order, path[0 .. *left-1] left of x and path[*left .. height-1] right of it.
 * @param[out] path  room for node.height nodes; wiped on error.
 * @param[out] left  number of siblings left of x.
 * @param[out] value value of x; zero on error.
 * @retval PPRF_OK or an error of prg_expand. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(path + (0 .. node.height - 1)) && \valid(left) && \valid(value);
    requires \separated(path + (0 .. node.height - 1), left, value);
    requires node: correct_value(root, d, node) && covers(node.start, node.height, x);
    assigns path[0 .. node.height - 1], *left, *value, expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures left: *left <= node.height;
    ensures nodes: \result == PPRF_OK ==> correct_nodes(root, d, path, node.height);
    ensures order: \result == PPRF_OK ==> sorted(path, node.height);
    ensures maximal: \result == PPRF_OK ==> maximal(d, path, node.height);
    ensures below: \result == PPRF_OK ==> below(path, 0, node.height, node);
    ensures side_l: \result == PPRF_OK ==> all_left(path, 0, *left, x);
    ensures side_r: \result == PPRF_OK ==> all_right(path, *left, node.height, x);
    ensures covered: \result == PPRF_OK ==> \forall integer y;
      covers(node.start, node.height, y) ==>
      y == x || covered_in(path, 0, *left, y) || covered_in(path, *left, node.height, y);
    ensures value: \result == PPRF_OK ==> seed_value(*value) == leaf_value(root, d, x);
    ensures error: \result != PPRF_OK ==> zeros(path, 0, node.height) && zero_seed(*value); */
int ref_co_path(struct pprf_family family, struct ref_node node, uint64_t x, struct ref_node *path,
                size_t *left, struct pprf_seed *value) /*@ ghost (unsigned d) */;

/** Puncture leaf x and return its value, zero on error.  The array beyond its last node is zero
 * before and after the call, so no seed that the key no longer needs stays there.
 * @param[in,out] n   length; on success the node that covered x is replaced by its co-path.
 * @param[in]     cap nodes that the array can hold.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED, PPRF_ERR_BUFFER, or an error of
 * prg_expand. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(n) && \valid(value) && *n <= cap <= REF_NODES_MAX;
    requires \valid(a + (0 .. cap-1));
    requires \separated(a + (0 .. cap-1), n, value);
    requires nodes: inv(root, d, a, *n);
    requires clear: zeros(a, *n, cap);
    assigns a[0 .. cap-1], *n, *value, expansions;
    ensures nodes: inv(root, d, a, *n);
    ensures range: \result == PPRF_ERR_RANGE <==> x >= pow2(d);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      x < pow2(d) && !covered{Pre}(a, \old(*n), x);
    ensures buffer: \result == PPRF_ERR_BUFFER <==> x < pow2(d) &&
      \exists integer k; 0 <= k < \old(*n) && covers_at{Pre}(a + k, x) &&
        cap < \old(*n) - 1 + \at(a[k].height,Pre);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_RANGE ||
                    \result == PPRF_ERR_PUNCTURED || \result == PPRF_ERR_BUFFER ||
                    prg_error(\result);
    ensures cost: \forall integer k; 0 <= k < \old(*n) && covers_at{Pre}(a + k, x) ==>
      expansions <= \old(expansions) + \at(a[k].height,Pre);
    ensures free: \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ||
      \result == PPRF_ERR_BUFFER ==> expansions <= \old(expansions);
    ensures value: \result == PPRF_OK ==> seed_value(*value) == leaf_value(root, d, x);
    ensures leaves: \result == PPRF_OK ==> !covered(a, *n, x);
    ensures others_stay: \forall integer y; y != x ==>
      (covered(a, *n, y) <==> covered{Pre}(a, \old(*n), y));
    ensures growth: *n <= cap && *n < \old(*n) + d + 1;
    ensures clear: zeros(a, *n, cap);
    ensures error: \result != PPRF_OK ==>
      zero_seed(*value) && *n == \old(*n) && same{Post,Pre}(a, 0, cap); */
int ref_eval_punct(struct ref_node *a, size_t *n, size_t cap, unsigned d, struct pprf_family family,
                   uint64_t x, struct pprf_seed *value);

/** Puncture the leaves first .. last.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED (all of them were punctured before),
 * PPRF_ERR_BUFFER, or an error of prg_expand. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(n) && *n <= cap <= REF_NODES_MAX;
    requires \valid(a + (0 .. cap-1));
    requires \separated(a + (0 .. cap-1), n);
    requires nodes: inv(root, d, a, *n);
    requires clear: zeros(a, *n, cap);
    assigns a[0 .. cap-1], *n, expansions;
    ensures nodes: inv(root, d, a, *n);
    ensures range: \result == PPRF_ERR_RANGE <==> first > last || last >= pow2(d);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      first <= last < pow2(d) &&
      \forall integer y; first <= y <= last ==> !covered{Pre}(a, \old(*n), y);
    ensures buffer: \result == PPRF_ERR_BUFFER <==> first <= last < pow2(d) &&
      \exists integer i, j; 0 <= i < j <= \old(*n) &&
        meeting{Pre}(a, \old(*n), first, last, i, j) &&
        cap < \old(*n) - (j - i) + \at(a[i].height,Pre) + \at(a[j - 1].height,Pre);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_RANGE ||
                    \result == PPRF_ERR_PUNCTURED || \result == PPRF_ERR_BUFFER ||
                    prg_error(\result);
    ensures cost: expansions <= \old(expansions) + 2 * d;
    ensures cost_end: first == 0 || last + 1 == pow2(d) ==> expansions <= \old(expansions) + d;
    ensures free: \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ||
      \result == PPRF_ERR_BUFFER ==> expansions <= \old(expansions);
    ensures leaves: \result == PPRF_OK ==>
      \forall integer y; first <= y <= last ==> !covered(a, *n, y);
    ensures others_stay: \forall integer y; y < first || last < y ==>
      (covered(a, *n, y) <==> covered{Pre}(a, \old(*n), y));
    ensures growth: *n <= cap && *n < \old(*n) + 2 * d + 1;
    ensures clear: zeros(a, *n, cap);
    ensures error: \result != PPRF_OK ==> *n == \old(*n) && same{Post,Pre}(a, 0, cap); */
int ref_punct_range(struct ref_node *a, size_t *n, size_t cap, unsigned d,
                    struct pprf_family family, uint64_t first, uint64_t last);

/** Write the key of the leaves first .. last alone: it covers those of them that a covers.
 * @param[out] out   array of zeros, room nodes long; zeros again on error, and after the last node.
 * @param[out] count length of the new key; on PPRF_ERR_BUFFER the room that it needs; else 0.
 * @retval PPRF_OK, PPRF_ERR_RANGE, PPRF_ERR_PUNCTURED (all of them are punctured),
 * PPRF_ERR_BUFFER, or an error of prg_expand. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires bounds: n <= REF_NODES_MAX && room <= REF_NODES_MAX;
    requires \valid_read(a + (0 .. n-1)) && \valid(out + (0 .. room-1)) && \valid(count);
    requires \separated(a + (0 .. n-1), out + (0 .. room-1), count);
    requires nodes: inv(root, d, a, n);
    requires clear: zeros(out, 0, room);
    assigns out[0 .. room-1], *count, expansions;
    ensures range: \result == PPRF_ERR_RANGE <==> first > last || last >= pow2(d);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      first <= last < pow2(d) &&
      \forall integer y; first <= y <= last ==> !covered{Pre}(a, n, y);
    ensures buffer: \result == PPRF_ERR_BUFFER <==> first <= last < pow2(d) &&
      \exists integer i, j; 0 <= i < j <= n && meeting{Pre}(a, n, first, last, i, j) &&
        room < j - i + 4 * d;
    ensures needed: \result == PPRF_ERR_BUFFER ==> \forall integer i, j; 0 <= i < j <= n &&
      meeting{Pre}(a, n, first, last, i, j) ==> *count == j - i + 4 * d;
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_RANGE ||
                    \result == PPRF_ERR_PUNCTURED || \result == PPRF_ERR_BUFFER ||
                    prg_error(\result);
    ensures cost: expansions <= \old(expansions) + 2 * d;
    ensures free: \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED ||
      \result == PPRF_ERR_BUFFER ==> expansions <= \old(expansions);
    ensures nodes: \result == PPRF_OK ==> inv(root, d, out, *count);
    ensures leaves: \result == PPRF_OK ==> \forall integer y;
      covered(out, *count, y) <==> first <= y <= last && covered{Pre}(a, n, y);
    ensures clear: \result == PPRF_OK ==> *count <= room && zeros(out, *count, room);
    ensures error: \result != PPRF_OK ==> zeros(out, 0, room);
    ensures empty: \result != PPRF_OK && \result != PPRF_ERR_BUFFER ==> *count == 0; */
int ref_delegate(const struct ref_node *a, size_t n, unsigned d, struct pprf_family family,
                 uint64_t first, uint64_t last, struct ref_node *out, size_t room, size_t *count);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file node.h
 * Nodes of a key and the operations that need no PRG: place, move, wipe. */
#ifndef REF_NODE_H
#define REF_NODE_H

#include "prg.h"

/** Greatest depth of a tree, hence the greatest height of a node. */
#define REF_DEPTH_MAX 63

/** A subtree of the GGM tree whose seed the key stores: leaves start .. start + 2^height - 1. */
struct ref_node {
  uint64_t start;
  unsigned height;
  struct pprf_seed seed;
};

#ifdef __FRAMAC__
#include "node.acsl"
#endif

/** Leaves below a node of height h: 2^h. */
/*@ requires height: h <= 63;
    assigns \nothing;
    ensures width: \result == pow2(h); */
static inline uint64_t ref_width(unsigned h)
{
  /*@ ghost
    pow2_mono_lemma(h, 63);
    /@ loop invariant 0 <= i <= h;
       loop invariant (1 << i) == pow2(i);
       loop assigns i;
       loop variant h - i; @/
    for (unsigned i = 0; i < h; i++) {
      /@ assert (1 << (i + 1)) == ((1 << i) << 1); @/
      /@ assert ((1 << i) << 1) == 2 * (1 << i); @/
    } */
  return (uint64_t)1 << h;
}

/** a[k] = node. */
/*@ requires \valid(a + k);
    assigns a[k];
    ensures value: is(a + k, node);
    ensures frame: \forall integer q; q != k ==> same_node{Post,Pre}(a + q, a + q); */
static inline void ref_put(struct ref_node *a, size_t k, struct ref_node node)
{
  a[k].start = node.start;
  a[k].height = node.height;
  a[k].seed.lo = node.seed.lo;
  a[k].seed.hi = node.seed.hi;
#ifdef PPRF_WIDE
  a[k].seed.third = node.seed.third;
  a[k].seed.fourth = node.seed.fourth;
#endif
}

/** Zero a seed; the compiler cannot optimize the stores away. */
/*@ requires \valid(seed);
    assigns *seed;
    ensures wiped: zero_seed(*seed); */
void ref_wipe_seed(struct pprf_seed *seed);

/** Zero a[from .. to-1]; the compiler cannot optimize the stores away. */
/*@ requires from <= to;
    requires \valid(a + (from .. to-1));
    assigns a[from .. to-1];
    ensures wiped: zeros(a, from, to); */
void ref_wipe(struct ref_node *a, size_t from, size_t to);

/** Copy b[from .. from+n-1] to a[to .. to+n-1]; the arrays do not overlap. */
/*@ requires bounds: from + n <= 0x300000000 && to + n <= 0x300000000;
    requires \valid(a + (to .. to+n-1)) && \valid_read(b + (from .. from+n-1));
    requires \separated(a + (to .. to+n-1), b + (from .. from+n-1));
    assigns a[to .. to+n-1];
    ensures copied: \forall integer k; to <= k < to + n ==>
                      shifted{Post,Pre}(a, k, b, from - to); */
void ref_copy(struct ref_node *a, size_t to, const struct ref_node *b, size_t from, size_t n);

/** Replace the nodes a[i .. j-1] by b[0 .. m-1].  The nodes from a[j] on move; b and the places
 * beyond the new last node are wiped.
 * @return the new length, n - (j - i) + m; the array must have room for it. */
/*@ requires bounds: i <= j <= n <= 0x200000000 && m <= 2 * REF_DEPTH_MAX;
    requires \valid(a + (0 .. n-1)) && \valid(a + (0 .. n-(j-i)+m-1));
    requires \valid(b + (0 .. m-1));
    requires \separated(a + (0 .. n+m), b + (0 .. m-1));
    assigns a[i .. n-1], a[i .. n-(j-i)+m-1], b[0 .. m-1];
    ensures length: \result == n - (j - i) + m;
    ensures head: moved{Post,Pre}(a, 0, i, a, 0);
    ensures new: moved{Post,Pre}(a, i, i + m, b, -i);
    ensures tail: moved{Post,Pre}(a, i + m, \result, a, n - \result);
    ensures wiped: zeros(a, \result, n) && zeros(b, 0, m); */
size_t ref_splice(struct ref_node *a, size_t n, size_t i, size_t j, struct ref_node *b, size_t m);

#endif

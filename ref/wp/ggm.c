/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind the vocabulary: ghost code only, never compiled. */
#include "node.h"

/*@ ghost
  /@ assigns \nothing;
     ensures pow2(63) == 0x8000000000000000;
  @/
  void pow2_63_lemma(void)
  {
    /@ assert pow2(8) == 256; @/
    /@ assert pow2(16) == 65536; @/
    /@ assert pow2(24) == 0x1000000; @/
    /@ assert pow2(32) == 0x100000000; @/
    /@ assert pow2(40) == 0x10000000000; @/
    /@ assert pow2(48) == 0x1000000000000; @/
    /@ assert pow2(56) == 0x100000000000000; @/
  }

  void pow2_pos_lemma(void)
  {
    /@ loop invariant 0 <= k <= 63;
       loop invariant pow2(k) >= 1;
       loop invariant \forall integer n; 0 <= n <= k ==> pow2(n) >= 1;
       loop assigns k;
       loop variant 63 - k; @/
    for (int k = 0; k < 63; k++) ;
  }

  void pow2_mono_lemma(unsigned a, unsigned b)
  {
    pow2_63_lemma();
    /@ loop invariant 0 <= i <= a;
       loop invariant pow2(i) >= 1;
       loop assigns i;
       loop variant a - i; @/
    for (unsigned i = 0; i < a; i++) ;
    /@ loop invariant a <= j <= b;
       loop invariant pow2(j) >= pow2(a) >= 1;
       loop invariant a < j ==> pow2(j) >= 2 * pow2(a);
       loop assigns j;
       loop variant b - j; @/
    for (unsigned j = a; j < b; j++) ;
    /@ loop invariant b <= k <= 63;
       loop invariant pow2(b) <= pow2(k);
       loop assigns k;
       loop variant 63 - k; @/
    for (unsigned k = b; k < 63; k++) ;
  }

  uint64_t end_lemma(uint64_t s, unsigned h)
  {
    uint64_t p = 1;
    pow2_pos_lemma();
    pow2_mono_lemma(h, 63);
    /@ loop invariant 0 <= i <= h;
       loop invariant p == pow2(i) <= pow2(h);
       loop assigns i, p;
       loop variant h - i; @/
    for (unsigned i = 0; i < h; i++) {
      pow2_mono_lemma(i, h);
      /@ assert pow2(i + 1) == 2 * pow2(i); @/
      p = 2 * p;
    }
    return s + p;
  }

  void tn_apart_lemma(unsigned d, unsigned h)
  {
    /@ loop invariant h <= k <= d;
       loop invariant \forall integer s, t;
         tree_node(d, s, k) ==> tree_node(d, t, k) ==> s < t ==> s + pow2(k) <= t;
       loop invariant \forall integer s; tree_node(d, s, k) ==> 0 <= s && s + pow2(k) <= pow2(d);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > h; k--) {
      pow2_mono_lemma(k - 1, k);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert parent: \forall integer s;
           tree_node(d, s, k - 1) ==> tree_node(d, s, k) || tree_node(d, s - pow2(k - 1), k); @/
    }
  }

  void tn_nest_lemma(unsigned d, uint64_t t, unsigned g)
  {
    tn_apart_lemma(d, g);
    /@ loop invariant 0 <= k <= g;
       loop invariant \forall integer s, h;
         k <= h <= g ==> tree_node(d, s, h) ==> s < t ==> s + pow2(h) <= t;
       loop invariant \forall integer s, h;
         k <= h <= g ==> tree_node(d, s, h) ==> t <= s < t + pow2(g) ==> s + pow2(h) <= t + pow2(g);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = g; k > 0; k--) {
      pow2_mono_lemma(k - 1, k);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert parent: \forall integer s;
           tree_node(d, s, k - 1) ==> tree_node(d, s, k) || tree_node(d, s - pow2(k - 1), k); @/
    }
  }

  void seam_lemma(unsigned d, uint64_t t, unsigned g)
  {
    pow2_pos_lemma();
    tn_nest_lemma(d, t, g);
    /@ assert twice: \forall integer h; 0 <= h ==> pow2(h + 1) == 2 * pow2(h); @/
  }

  void children_lemma(unsigned d, uint64_t s, unsigned h)
  {
    pow2_mono_lemma(h - 1, h);
    tn_apart_lemma(d, h);
    /@ assert half: pow2(h) == 2 * pow2(h - 1); @/
    /@ assert not_left: !tree_node(d, s + pow2(h - 1), h); @/
  }
*/

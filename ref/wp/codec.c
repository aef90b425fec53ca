/* SPDX-License-Identifier: Apache-2.0 */
/* The inductions behind bytes.acsl and codec.acsl: ghost code only, nothing of it is compiled. */
#include "codec.h"

/*@ ghost
  void byte_inj_lf(unsigned w)
  {
    /@ loop invariant 0 <= j <= w;
       loop invariant \forall integer u, v; 0 <= u < pow2(8 * j) ==> 0 <= v < pow2(8 * j) ==>
         agree(u, v, j) ==> u == v;
       loop assigns j;
       loop variant w - j; @/
    for (unsigned j = 0; j < w; j++) {
      /@ assert grow: pow2(8 * (j + 1)) == 256 * pow2(8 * j); @/
      /@ assert step: \forall integer u, k; 0 <= u ==> 0 <= k ==>
           byte(u, k + 1) == byte(u / 256, k); @/
      /@ assert high: \forall integer u, v; 0 <= u ==> 0 <= v ==>
           agree(u, v, j + 1) ==> agree(u / 256, v / 256, j); @/
      /@ assert low: \forall integer u, v; 0 <= u ==> 0 <= v ==>
           agree(u, v, j + 1) ==> u % 256 == v % 256; @/
    }
  }

  void node_id_lf(unsigned d)
  {
    /@ loop invariant 0 <= k <= d;
       loop invariant apart: \forall integer s, h, t, g; k <= h <= g ==> g <= d ==>
         tnode(d, s, h) ==> tnode(d, t, g) ==> s < t ==> s + pow2(h) <= t;
       loop invariant within: \forall integer s, h; k <= h <= d ==> tnode(d, s, h) ==>
         0 <= s && s + pow2(h) <= pow2(d);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > 0; k--) {
      pow2_mono_lf(k - 1, k);
      tn_apart_lf(d, k - 1);
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert parent: \forall integer s;
           tnode(d, s, k - 1) ==> tnode(d, s, k) || tnode(d, s - pow2(k - 1), k); @/
    }
    pow2_pos_lf();
    /@ assert half: \forall integer g; 1 <= g <= d ==> pow2(g) == 2 * pow2(g - 1); @/
    /@ assert right: \forall integer t, g; 1 <= g <= d ==> tnode(d, t, g) ==>
         tnode(d, t + pow2(g - 1), g - 1); @/
    /@ assert lower: \forall integer s, h, t, g; 0 <= h < g ==> g <= d ==>
         tnode(d, s, h) ==> tnode(d, t, g) ==> node_id(s, h) != node_id(t, g); @/
    /@ assert top: pow2(d + 1) == 2 * pow2(d); @/
  }

  void has_id_lf(unsigned d)
  {
    node_id_lf(d);
    unsigned w = d / 8 + 1;
    byte_inj_lf(w);
    pow2_mono_lf(d + 1, 8 * w);
    /@ assert bytes: \forall uint8_t *p, integer s, h, t, g;
         has_id(p, d, s, h) ==> has_id(p, d, t, g) ==>
         agree(node_id(s, h), node_id(t, g), w); @/
    /@ assert bound: \forall integer s, h; 0 <= h <= d ==> tnode(d, s, h) ==>
         0 <= node_id(s, h) < pow2(8 * w); @/
    /@ assert same: \forall uint8_t *p, integer s, h, t, g; 0 <= h <= d ==> 0 <= g <= d ==>
         tnode(d, s, h) ==> tnode(d, t, g) ==> has_id(p, d, s, h) ==> has_id(p, d, t, g) ==>
         node_id(s, h) == node_id(t, g); @/
  }

  void multiples_lf(unsigned d, unsigned h)
  {
    tn_apart_lf(d, d);
    /@ loop invariant h <= k <= d;
       loop invariant nodes: \forall integer q; 0 <= q < pow2(d - k) ==> tnode(d, nth_start(q, k), k);
       loop invariant multiples: \forall integer s; tnode(d, s, k) ==>
         \exists integer q; 0 <= q < pow2(d - k) && s == nth_start(q, k);
       loop assigns k;
       loop variant k; @/
    for (unsigned k = d; k > h; k--) {
      /@ assert half: pow2(k) == 2 * pow2(k - 1); @/
      /@ assert twice: pow2(d - (k - 1)) == 2 * pow2(d - k); @/
      /@ assert lower: \forall integer q; 0 <= q < pow2(d - k) ==>
           tnode(d, nth_start(q, k), k - 1) &&
           tnode(d, nth_start(q, k) + pow2(k - 1), k - 1); @/
      /@ assert halves: \forall integer r; 0 <= r < pow2(d - (k - 1)) ==>
           0 <= r / 2 < pow2(d - k) && (nth_start(r, k - 1) == nth_start(r / 2, k) ||
             nth_start(r, k - 1) == nth_start(r / 2, k) + pow2(k - 1)); @/
      /@ assert nodes: \forall integer r; 0 <= r < pow2(d - (k - 1)) ==>
           tnode(d, nth_start(r, k - 1), k - 1); @/
      /@ assert parent: \forall integer s;
           tnode(d, s, k - 1) ==> tnode(d, s, k) || tnode(d, s - pow2(k - 1), k); @/
      /@ assert first: \forall integer s; tnode(d, s, k) ==>
           \exists integer q; 0 <= q < pow2(d - (k - 1)) && s == nth_start(q, k - 1); @/
      /@ assert second: \forall integer s; tnode(d, s - pow2(k - 1), k) ==>
           \exists integer q; 0 <= q < pow2(d - (k - 1)) && s == nth_start(q, k - 1); @/
    }
  }
*/

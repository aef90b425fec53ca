/* SPDX-License-Identifier: Apache-2.0 */
/* Proofs for packed/core.acsl: ghost code only, never compiled. */
#include "path.h"
#include "packed/sets/range.h"
#include "packed/core.h"

/*@ ghost
  void one_tile_lemma(const struct opt_packed *p, uint64_t leaf)
  {
    size_t i = 0;
    /@ loop invariant here: i < p->pages && p->first[i] <= leaf;
       loop assigns i;
       loop variant p->pages - i; @/
    while (i + 1 < p->pages && p->first[i + 1] <= leaf)
      i++;
    only_tile_lemma(p, i, leaf);
    /@ assert page: \forall integer k, b, s; 0 <= k < p->pages ==> page_tile(p, k, b, s) ==>
         covers(s, tile_height(b), leaf) ==> k == i; @/
    /@ assert tile: \forall integer b, s, c, t; page_tile(p, i, b, s) ==>
      covers(s, tile_height(b), leaf) ==> page_tile(p, i, c, t) ==>
      covers(t, tile_height(c), leaf) ==> b == c && s == t; @/
    /@ assert punctured: \forall integer k; 0 <= k < p->pages ==> page_punctured(p, k, leaf) ==>
      \exists integer b, s; page_tile(p, k, b, s) && covers(s, tile_height(b), leaf) && b < 64; @/
  }
*/

/* SPDX-License-Identifier: Apache-2.0 */
/* Wiping, copying and moving nodes. */
#include "node.h"

#ifdef __FRAMAC__
#include "splice.acsl"
#endif

/* Tell the compiler that the memory at p is read here, so that it keeps the stores. */
#ifdef __FRAMAC__
#define KEEP_STORES(p) ((void)(p))
#else
#define KEEP_STORES(p) __asm__ volatile("" : : "r"(p) : "memory")
#endif

void ref_wipe_seed(struct pprf_seed *seed)
{
  seed->lo = 0;
  seed->hi = 0;
#ifdef PPRF_WIDE
  seed->third = 0;
  seed->fourth = 0;
#endif
  KEEP_STORES(seed);
}

void ref_wipe(struct ref_node *a, size_t from, size_t to)
{
  struct ref_node zero = {0, 0, {0, 0}};
  /*@ loop invariant from <= k <= to;
      loop invariant zeros(a, from, k);
      loop assigns k, a[from .. to-1];
      loop variant to - k; */
  for (size_t k = from; k < to; k++)
    ref_put(a, k, zero);
  KEEP_STORES(a);
}

void ref_copy(struct ref_node *a, size_t to, const struct ref_node *b, size_t from, size_t n)
{
  /*@ loop invariant 0 <= k <= n;
      loop invariant \forall integer q; to <= q < to + k ==>
                       shifted{Here,Pre}(a, q, b, from - to);
      loop invariant same{Here,Pre}(b, from, from + n);
      loop assigns k, a[to .. to+n-1];
      loop variant n - k; */
  for (size_t k = 0; k < n; k++) {
    ref_put(a, to + k, b[from + k]);
    //@ assert shifted{Here,Pre}(a, to + k, b, from - to);
  }
}

/* Move the nodes that arrive at a[from .. to-1] up by `by` places, the last one first, so that
 * none is overwritten before it has moved. */
/*@ requires bounds: by <= from <= to <= 0x300000000;
    requires \valid(a + (0 .. to-1));
    assigns a[from .. to-1];
    ensures moved: \forall integer k; from <= k < to ==> shifted{Post,Pre}(a, k, a, -by); */
static void move_up(struct ref_node *a, size_t from, size_t to, size_t by)
{
  /*@ loop invariant from <= k <= to;
      loop invariant \forall integer q; k <= q < to ==> shifted{Here,Pre}(a, q, a, -by);
      loop invariant same{Here,Pre}(a, 0, k);
      loop assigns k, a[from .. to-1];
      loop variant k; */
  for (size_t k = to; k > from; k--)
    ref_put(a, k - 1, a[k - 1 - by]);
}

/* Move the nodes that arrive at a[from .. to-1] down by `by` places. */
/*@ requires bounds: from <= to && to + by <= 0x300000000;
    requires \valid(a + (0 .. to+by-1));
    assigns a[from .. to-1];
    ensures moved: \forall integer k; from <= k < to ==> shifted{Post,Pre}(a, k, a, by); */
static void move_down(struct ref_node *a, size_t from, size_t to, size_t by)
{
  /*@ loop invariant from <= k <= to;
      loop invariant moved: \forall integer q; from <= q < k ==> shifted{Here,Pre}(a, q, a, by);
      loop invariant same{Here,Pre}(a, k, to + by);
      loop assigns k, a[from .. to-1];
      loop variant to - k; */
  for (size_t k = from; k < to; k++) {
    //@ ghost Step: ;
    ref_put(a, k, a[k + by]);
    //@ assert before: same{Here,Step}(a, from, k);
    //@ assert shifted{Here,Pre}(a, k, a, by);
  }
}

size_t ref_splice(struct ref_node *a, size_t n, size_t i, size_t j, struct ref_node *b, size_t m)
{
  size_t len = n - (j - i) + m;
  if (len > n) {
    move_up(a, i + m, len, len - n);
    /*@ assert tail: \forall integer k; i + m <= k < len ==>
          shifted{Here,Pre}(a, k, a, n - len); */
  } else if (len < n) {
    move_down(a, i + m, len, n - len);
    /*@ assert tail: \forall integer k; i + m <= k < len ==>
          shifted{Here,Pre}(a, k, a, n - len); */
    //@ ghost Down: ;
    ref_wipe(a, len, n);
    //@ assert same{Here,Down}(a, i + m, len);
  }
  //@ assert b: same{Here,Pre}(b, 0, m);
  //@ assert head: same{Here,Pre}(a, 0, i);
  /*@ assert tail: \forall integer k; i + m <= k < len ==>
        shifted{Here,Pre}(a, k, a, n - len); */
  //@ assert rest: zeros(a, len, n);
  //@ ghost Moved: ;
  ref_copy(a, i, b, 0, m);
  //@ assert kept_head: same{Here,Moved}(a, 0, i);
  //@ assert kept_tail: same{Here,Moved}(a, i + m, len);
  //@ assert kept_rest: same{Here,Moved}(a, len, n);
  //@ assert new: moved{Here,Pre}(a, i, i + m, b, -i);
  //@ assert tail: moved{Here,Pre}(a, i + m, len, a, n - len);
  //@ ghost Copied: ;
  ref_wipe(b, 0, m);
  //@ assert kept: same{Here,Copied}(a, 0, len);
  //@ assert kept_rest: same{Here,Copied}(a, len, n);
  return len;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of core.h: find, evaluate, puncture a leaf or a range. All of it is proven. */
#include "core.h"

size_t ref_find(const struct ref_node *a, size_t n, uint64_t x)
  /*@ ghost (unsigned d) */
{
  size_t lo = 0, hi = n;
  //@ ghost pow2_pos_lemma();
  /*@ loop invariant bounds: 0 <= lo <= hi <= n;
      loop invariant left: \forall integer k; 0 <= k < lo ==> before(a[k].start, a[k].height, x);
      loop invariant right: \forall integer k; hi <= k < n ==> x < a[k].start + pow2(a[k].height);
      loop assigns lo, hi;
      loop variant hi - lo; */
  while (lo < hi) {
    size_t mid = lo + (hi - lo) / 2;
    //@ assert node: correct_node(root, d, a + mid);
    //@ ghost pow2_mono_lemma(a[mid].height, d);
    //@ ghost pow2_mono_lemma(d, 63);
    if (a[mid].start + ref_width(a[mid].height) <= x)
      lo = mid + 1;
    else
      hi = mid;
  }
  //@ assert here: lo < n && a[lo].start <= x ==> covers_at(a + lo, x);
  //@ assert miss: \forall integer k; 0 <= k < n && covers_at(a + k, x) ==> k == lo;
  return lo;
}

void ref_setup(struct ref_node *a, unsigned d, struct pprf_seed root)
{
  struct ref_node node = {0, d, root};
  //@ ghost pow2_mono_lemma(0, d);
  ref_put(a, 0, node);
  //@ assert all: \forall integer y; 0 <= y < pow2(d) ==> covers_at(a + 0, y);
}

int ref_eval(const struct ref_node *a, size_t n, unsigned d, struct pprf_family family, uint64_t x,
             struct pprf_seed *value)
{
  ref_wipe_seed(value);
  //@ assert kept: same{Here,Pre}(a, 0, n);
  if (x >= ref_width(d))
    return PPRF_ERR_RANGE;
  size_t i = ref_find(a, n, x) /*@ ghost (d) */;
  if (i == n || a[i].start > x)
    return PPRF_ERR_PUNCTURED;
  //@ assert node: correct_node(root, d, a + i);
  //@ assert only: \forall integer k; 0 <= k < n && covers_at(a + k, x) ==> k == i;
  /*@ assert height: \forall integer k; 0 <= k < n && covers_at{Pre}(a + k, x) ==>
        a[i].height == \at(a[k].height,Pre); */
  uint64_t start = a[i].start;
  unsigned h = a[i].height;
  struct pprf_seed seed = a[i].seed;
  //@ ghost unsigned top = h;
  /*@ loop invariant path: h <= d && covers(start, h, x) && start + pow2(h) <= pow2(d);
      loop invariant node: tree_node(d, start, h);
      loop invariant seed: seed_value(seed) == node_seed(root, d, start, h);
      loop invariant cost: expansions + h <= \at(expansions,Pre) + top;
      loop assigns h, start, seed, expansions;
      loop variant h; */
  while (h > 0) {
    struct pprf_children c = prg_expand(family, seed, start, h);
    if (c.err != PPRF_OK)
      return c.err;
    //@ ghost children_lemma(d, start, h);
    h--;
    uint64_t half = ref_width(h);
    if (x - start < half) {
      seed = c.left;
    } else {
      seed = c.right;
      start += half;
    }
  }
  *value = seed;
  return PPRF_OK;
}

int ref_co_path(struct pprf_family family, struct ref_node node, uint64_t x, struct ref_node *path,
                size_t *left, struct pprf_seed *value) /*@ ghost (unsigned d) */
{
  uint64_t start = node.start;
  unsigned h = node.height;
  struct pprf_seed seed = node.seed;
  size_t lo = 0, hi = h; /* free slots: path[lo .. hi-1], one for each level below */
  //@ ghost pow2_mono_lemma(d, 63);
  /*@ loop invariant slots: h <= node.height && lo <= hi <= node.height && hi - lo == h;
      loop invariant path: covers(start, h, x) && start + pow2(h) <= pow2(d);
      loop invariant inside: node.start <= start &&
        start + pow2(h) <= node.start + pow2(node.height);
      loop invariant node: tree_node(d, start, h);
      loop invariant seed: seed_value(seed) == node_seed(root, d, start, h);
      loop invariant nodes_l: \forall integer k; 0 <= k < lo ==>
        correct_node(root, d, path + k);
      loop invariant nodes_r: \forall integer k; hi <= k < node.height ==>
        correct_node(root, d, path + k);
      loop invariant heights_l: \forall integer k; 0 <= k < lo ==> h <= path[k].height;
      loop invariant heights_r: \forall integer k; hi <= k < node.height ==> h <= path[k].height;
      loop invariant below_l: below(path, 0, lo, node);
      loop invariant below_r: below(path, hi, node.height, node);
      loop invariant side_l: all_left(path, 0, lo, start);
      loop invariant side_r: all_right(path, hi, node.height, start + pow2(h) - 1);
      loop invariant order_l: \forall integer k, l; 0 <= k < l < lo ==>
        before(path[k].start, path[k].height, path[l].start) && path[l].height < path[k].height;
      loop invariant order_r: \forall integer k, l; hi <= k < l < node.height ==>
        before(path[k].start, path[k].height, path[l].start) && path[k].height < path[l].height;
      loop invariant all: \forall integer y; covers(node.start, node.height, y) ==>
        covers(start, h, y) || covered_in(path, 0, lo, y) || covered_in(path, hi, node.height, y);
      loop invariant cost: expansions + h <= \at(expansions,Pre) + node.height;
      loop assigns h, start, seed, lo, hi, path[0 .. node.height - 1], expansions;
      loop variant h; */
  while (h > 0) {
    struct pprf_children c = prg_expand(family, seed, start, h);
    if (c.err != PPRF_OK) {
      ref_wipe(path, 0, node.height);
      ref_wipe_seed(value);
      *left = 0;
      return c.err;
    }
    //@ ghost children_lemma(d, start, h);
    //@ ghost Step: ;
    h--;
    uint64_t half = ref_width(h);
    if (x - start < half) {
      hi--;
      ref_put(path, hi, (struct ref_node){start + half, h, c.right});
      //@ assert l: same{Here,Step}(path, 0, lo);
      //@ assert r: same{Here,Step}(path, hi + 1, node.height);
      //@ assert cl: \forall integer y; covered_in{Step}(path, 0, lo, y) ==> covered_in(path, 0, lo, y);
      /*@ assert cr: \forall integer y;
            covered_in{Step}(path, hi + 1, node.height, y) ==> covered_in(path, hi, node.height, y); */
      //@ assert new: \forall integer y; covers(start + half, h, y) ==> covers_at(path + hi, y);
      seed = c.left;
    } else {
      ref_put(path, lo, (struct ref_node){start, h, c.left});
      //@ assert l: same{Here,Step}(path, 0, lo);
      //@ assert r: same{Here,Step}(path, hi, node.height);
      //@ assert cl: \forall integer y; covered_in{Step}(path, 0, lo, y) ==> covered_in(path, 0, lo + 1, y);
      /*@ assert cr: \forall integer y;
            covered_in{Step}(path, hi, node.height, y) ==> covered_in(path, hi, node.height, y); */
      //@ assert new: \forall integer y; covers(start, h, y) ==> covers_at(path + lo, y);
      lo++;
      start += half;
      seed = c.right;
    }
  }
  //@ assert leaf: start == x && lo == hi && pow2(0) == 1;
  /*@ assert across: \forall integer k, l; 0 <= k < lo && lo <= l < node.height ==>
        path[k].start + pow2(path[k].height) < path[l].start; */
  //@ assert max_l: maximal(d, path, lo);
  //@ assert max: maximal(d, path, node.height);
  /*@ assert all: \forall integer y; covers(node.start, node.height, y) ==>
        y == x || covered_in(path, 0, lo, y) || covered_in(path, lo, node.height, y); */
  //@ ghost Done: ;
  *left = lo;
  *value = seed;
  //@ assert kept: same{Here,Done}(path, 0, node.height);
  //@ assert cl: \forall integer y; covered_in{Done}(path, 0, lo, y) ==> covered_in(path, 0, lo, y);
  /*@ assert cr: \forall integer y;
        covered_in{Done}(path, lo, node.height, y) ==> covered_in(path, lo, node.height, y); */
  return PPRF_OK;
}

/* ref_splice where the new nodes cover fewer leaves than the replaced ones: the result is again
 * a key. (s, g) is the first replaced node, (t, h) the last. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires bounds: i < j <= n <= REF_NODES_MAX && m <= 2 * REF_DEPTH_MAX;
    requires \valid(a + (0 .. n-1)) && \valid(a + (0 .. n-(j-i)+m-1));
    requires \valid(b + (0 .. m-1));
    requires \separated(a + (0 .. n+m), b + (0 .. m-1));
    requires nodes: inv(root, d, a, n);
    requires new: inv(root, d, b, m);
    requires fit: fit(b, 0, m, a[i].start, a[i].height, a[j-1].start, a[j-1].height);
    assigns a[i .. n-1], a[i .. n-(j-i)+m-1], b[0 .. m-1];
    ensures length: \result == n - (j - i) + m;
    ensures nodes: inv(root, d, a, \result);
    ensures covered: \forall integer y; covered(a, \result, y) <==> covered{Pre}(b, m, y) ||
      (covered{Pre}(a, n, y) &&
       !(\old(a[i].start) <= y < \old(a[j-1].start) + pow2(\old(a[j-1].height))));
    ensures wiped: zeros(a, \result, n) && zeros(b, 0, m); */
static size_t replace(struct ref_node *a, size_t n, size_t i, size_t j, struct ref_node *b,
                      size_t m) /*@ ghost (unsigned d) */
{
  //@ ghost uint64_t s = a[i].start, t = a[j - 1].start;
  //@ ghost unsigned g = a[i].height, h = a[j - 1].height;
  //@ assert first: correct_node(root, d, a + i);
  //@ assert last: correct_node(root, d, a + (j - 1));
  //@ assert left: all_left(a, 0, i, s);
  //@ assert from: all_after(a, i + 1, j, s, g);
  //@ assert to: all_left(a, i, j - 1, t);
  //@ assert right: all_after(a, j, n, t, h);
  //@ ghost pow2_pos_lemma();
  //@ ghost seam_lemma(d, s, g);
  //@ ghost seam_lemma(d, t, h);
  //@ assert wide: s < t + pow2(h);
  //@ assert slices: slice(root, d, a, 0, i) && slice(root, d, a, j, n);
  //@ assert old: \forall integer y; covered_in(a, i, j, y) ==> s <= y < t + pow2(h);
  //@ assert span: span(root, d, a, n, i, j, s, g, t, h);
  size_t len = ref_splice(a, n, i, j, b, m);
  //@ assert spliced: spliced{Here,Pre}(root, d, a, n, i, j, s, g, t, h, b, m, a, len);
  return len;
}

int ref_eval_punct(struct ref_node *a, size_t *n, size_t cap, unsigned d, struct pprf_family family,
                   uint64_t x, struct pprf_seed *value)
{
  struct ref_node path[REF_DEPTH_MAX];
  size_t left;
  ref_wipe_seed(value);
  //@ assert kept: same{Here,Pre}(a, 0, cap);
  //@ assert nodes: inv(root, d, a, *n);
  //@ assert cov0: \forall integer y; covered(a, *n, y) <==> covered{Pre}(a, *n, y);
  if (x >= ref_width(d))
    return PPRF_ERR_RANGE;
  size_t i = ref_find(a, *n, x) /*@ ghost (d) */;
  if (i == *n || a[i].start > x)
    return PPRF_ERR_PUNCTURED;
  //@ assert node: correct_node(root, d, a + i);
  unsigned h = a[i].height;
  //@ assert only: \forall integer k; 0 <= k < *n && covers_at(a + k, x) ==> k == i;
  /*@ assert height: \forall integer k; 0 <= k < \at(*n,Pre) && covers_at{Pre}(a + k, x) ==>
        h == \at(a[k].height,Pre); */
  if (h > cap - (*n - 1))
    return PPRF_ERR_BUFFER;
  //@ assert room: *n - 1 + h <= cap;
  /*@ assert enough: \forall integer k; 0 <= k < \at(*n,Pre) && covers_at{Pre}(a + k, x) ==>
        \at(*n,Pre) - 1 + \at(a[k].height,Pre) <= cap; */
  //@ ghost Walk: ;
  int err = ref_co_path(family, a[i], x, path, &left, value) /*@ ghost (d) */;
  //@ assert walk: same{Here,Walk}(a, 0, cap);
  //@ assert n1: *n == \at(*n,Pre) && *n - 1 + h <= cap;
  //@ assert kept1: same{Here,Pre}(a, 0, cap);
  //@ assert same1: same{Here,Pre}(a, 0, \at(*n,Pre));
  //@ assert nodes1: inv(root, d, a, *n);
  //@ assert clear1: zeros(a, *n, cap);
  //@ assert cov1: \forall integer y; covered(a, *n, y) <==> covered{Pre}(a, *n, y);
  if (err != PPRF_OK)
    return err;
  /*@ assert punctured: \forall integer y; covered(&path[0], h, y) ==> y != x && covers_at(a + i, y); */
  /*@ assert all: \forall integer y; covers_at(a + i, y) ==> y == x || covered(&path[0], h, y); */
  //@ assert key: inv(root, d, &path[0], h);
  //@ assert fit: fit(&path[0], 0, h, a[i].start, h, a[i].start, h);
  size_t len = replace(a, *n, i, i + 1, path, h) /*@ ghost (d) */;
  //@ ghost Replaced: ;
  //@ assert cut: zeros(a, len, \at(*n,Pre));
  //@ assert beyond: \forall integer k; len <= k < cap ==> \at(*n,Pre) <= k ==> zero_node(a + k);
  //@ assert clear: zeros(a, len, cap);
  /*@ assert covered: \forall integer y; covered(a, len, y) <==>
        (y != x && covered{Pre}(a, \at(*n,Pre), y)); */
  *n = len;
  //@ assert length: same{Here,Replaced}(a, 0, len) && zeros(a, len, cap);
  return PPRF_OK;
}

/* What remains of a node after puncturing all leaves from `first` on: the part of the co-path of
 * `first` that lies left of it. Makes no PRG call if that part is empty. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(kept + (0 .. node.height - 1)) && \valid(count);
    requires \separated(kept + (0 .. node.height - 1), count);
    requires node: correct_value(root, d, node) && first < node.start + pow2(node.height);
    assigns kept[0 .. node.height - 1], *count, expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures free: first <= node.start ==> expansions <= \old(expansions);
    ensures count: *count <= node.height;
    ensures part: \result == PPRF_OK ==> part(root, d, kept, 0, *count, node, 0, first);
    ensures wiped: node.start < first ==> zeros(kept, *count, node.height);
    ensures error: \result != PPRF_OK ==> *count == 0; */
static int keep_left(struct pprf_family family, struct ref_node node, uint64_t first,
                     struct ref_node *kept, size_t *count)
  /*@ ghost (unsigned d) */
{
  struct pprf_seed value;
  size_t left;
  *count = 0;
  if (first <= node.start)
    return PPRF_OK;
  int err = ref_co_path(family, node, first, kept, &left, &value) /*@ ghost (d) */;
  if (err != PPRF_OK)
    return err;
  //@ assert nodes: inv(root, d, kept, node.height);
  //@ assert slice: slice(root, d, kept, 0, left);
  //@ assert inside: below(kept, 0, left, node);
  //@ assert within: \forall integer k; 0 <= k < left ==> node_within(kept + k, 0, first);
  /*@ assert only: \forall integer y; covered_in(kept, 0, left, y) ==>
        covers(node.start, node.height, y) && y < first; */
  /*@ assert all: \forall integer y; covers(node.start, node.height, y) && y < first ==>
        covered_in(kept, 0, left, y); */
  //@ assert part: part(root, d, kept, 0, left, node, 0, first);
  //@ ghost Walked: ;
  ref_wipe_seed(&value);
  ref_wipe(kept, left, node.height);
  *count = left;
  //@ assert kept: same{Here,Walked}(kept, 0, left);
  //@ assert covers_at: \forall integer y; covered_in(kept, 0, left, y) <==> covered_in{Walked}(kept, 0, left, y);
  //@ assert slice: slice(root, d, kept, 0, left);
  return PPRF_OK;
}

/* What remains of a node after puncturing all leaves up to `last`: the part right of it, written
 * from kept[at] on. */
/*@ requires depth: d <= REF_DEPTH_MAX && at <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(kept + (at .. at + node.height - 1)) && \valid(count);
    requires \separated(kept + (at .. at + node.height - 1), count);
    requires node: correct_value(root, d, node) && node.start <= last;
    assigns kept[at .. at + node.height - 1], *count, expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + node.height;
    ensures free: node.start + pow2(node.height) <= last + 1 ==> expansions <= \old(expansions);
    ensures count: *count <= node.height;
    ensures part: \result == PPRF_OK ==>
      part(root, d, kept, at, at + *count, node, last + 1, pow2(d));
    ensures error: \result != PPRF_OK ==> *count == 0; */
static int keep_right(struct pprf_family family, struct ref_node node, uint64_t last,
                      struct ref_node *kept, size_t at, size_t *count) /*@ ghost (unsigned d) */
{
  struct ref_node path[REF_DEPTH_MAX];
  struct pprf_seed value;
  size_t left;
  *count = 0;
  //@ ghost pow2_mono_lemma(node.height, 63);
  if (last - node.start >= ref_width(node.height) - 1)
    return PPRF_OK;
  int err = ref_co_path(family, node, last, path, &left, &value) /*@ ghost (d) */;
  if (err != PPRF_OK)
    return err;
  //@ ghost pow2_pos_lemma();
  //@ assert nodes: inv(root, d, &path[0], node.height);
  //@ assert slice: slice(root, d, &path[0], left, node.height);
  //@ assert inside: below(&path[0], left, node.height, node);
  /*@ assert within: \forall integer k; left <= k < node.height ==>
        node_within(&path[k], last + 1, pow2(d)); */
  /*@ assert only: \forall integer y; covered_in(&path[0], left, node.height, y) ==>
        covers(node.start, node.height, y) && last < y; */
  /*@ assert all: \forall integer y; covers(node.start, node.height, y) && last < y ==>
        covered_in(&path[0], left, node.height, y); */
  //@ assert part: part(root, d, &path[0], left, node.height, node, last + 1, pow2(d));
  //@ ghost Walked: ;
  size_t right = node.height - left;
  ref_copy(kept, at, path, left, right);
  //@ assert copied: moved{Here,Walked}(kept, at, at + right, &path[0], left - at);
  //@ ghost Copied: ;
  ref_wipe_seed(&value);
  ref_wipe(path, 0, node.height);
  *count = right;
  //@ assert same: same{Here,Copied}(kept, at, at + right);
  /*@ assert moved: moved{Here,Walked}(kept, at, at + right, &path[0], left - at); */
  /*@ assert carried: carried{Here,Walked}(root, d, kept, at, at + right,
        &path[0], left - at,
                                           left, node.height); */
  return PPRF_OK;
}

/* Find the nodes that overlap leaves first .. last: a[i .. *j - 1], where i is the result. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires \valid_read(a + (0 .. n-1)) && \valid(j);
    requires \separated(a + (0 .. n-1), j);
    requires nodes: inv(root, d, a, n);
    requires range: first <= last;
    assigns *j;
    ensures bounds: \result <= *j <= n;
    ensures left: all_left(a, 0, \result, first);
    ensures right: all_right(a, *j, n, last);
    ensures first: \result < *j ==> first < a[\result].start + pow2(a[\result].height);
    ensures last: \result < *j ==> a[*j - 1].start <= last;
    ensures in: \forall integer y; first <= y <= last ==> covered(a, n, y) ==>
      covered_in(a, \result, *j, y);
    ensures only: \forall integer p, q; 0 <= p < q <= n ==> meeting(a, n, first, last, p, q) ==>
      p == \result && q == *j;
    ensures none: \result == *j <==>
      \forall integer y; first <= y <= last ==> !covered(a, n, y); */
static size_t meet(const struct ref_node *a, size_t n, uint64_t first, uint64_t last, size_t *j)
  /*@ ghost (unsigned d) */
{
  size_t lo = ref_find(a, n, first) /*@ ghost (d) */;
  size_t hi = ref_find(a, n, last) /*@ ghost (d) */;
  //@ assert order: lo <= hi;
  //@ assert next: hi < n ==> all_right(a, hi + 1, n, last);
  if (hi < n && a[hi].start <= last)
    hi++;
  //@ ghost pow2_pos_lemma();
  //@ assert left: all_left(a, 0, lo, first);
  //@ assert right: all_right(a, hi, n, last);
  //@ assert first: lo < hi ==> first < a[lo].start + pow2(a[lo].height);
  //@ assert last: lo < hi ==> a[hi - 1].start <= last;
  //@ assert node: lo < hi ==> correct_node(root, d, a + lo) && a[lo].start <= last;
  //@ assert one: lo < hi ==> covers_at(a + lo, first) || covers_at(a + lo, a[lo].start);
  /*@ assert some: lo < hi ==> covered(a, n, first) ||
        (first <= a[lo].start && covered(a, n, a[lo].start)); */
  /*@ assert none: lo == hi ==> \forall integer y; first <= y <= last ==> !covered(a, n, y); */
  /*@ assert in: \forall integer y; first <= y <= last ==> covered(a, n, y) ==>
        covered_in(a, lo, hi, y); */
  /*@ assert only: \forall integer p, q; 0 <= p < q <= n ==> meeting(a, n, first, last, p, q) ==>
        p == lo && q == hi; */
  //@ ghost Found: ;
  *j = hi;
  //@ assert kept: same{Here,Found}(a, 0, n);
  //@ assert left: all_left(a, 0, lo, first);
  //@ assert right: all_right(a, hi, n, last);
  /*@ assert covers_at: \forall integer y; covered(a, n, y) <==> covered{Found}(a, n, y); */
  return lo;
}

/* What remains of the nodes top_l to top_r after puncturing the leaves first .. last. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(kept + (0 .. 2 * REF_DEPTH_MAX - 1)) && \valid(count);
    requires \separated(kept + (0 .. 2 * REF_DEPTH_MAX - 1), count);
    requires left: correct_value(root, d, top_l) && first < top_l.start + pow2(top_l.height);
    requires right: correct_value(root, d, top_r) && top_r.start <= last;
    requires order: top_l.start <= top_r.start &&
      top_l.start + pow2(top_l.height) <= top_r.start + pow2(top_r.height);
    requires range: first <= last;
    assigns kept[0 .. 2 * REF_DEPTH_MAX - 1], *count, expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + top_l.height + top_r.height;
    ensures cost_l: top_r.start + pow2(top_r.height) <= last + 1 ==>
      expansions <= \old(expansions) + top_l.height;
    ensures cost_r: first <= top_l.start ==> expansions <= \old(expansions) + top_r.height;
    ensures count: \result == PPRF_OK ==> *count <= top_l.height + top_r.height;
    ensures nodes: \result == PPRF_OK ==> inv(root, d, kept, *count);
    ensures fit: \result == PPRF_OK ==>
      fit(kept, 0, *count, top_l.start, top_l.height, top_r.start, top_r.height);
    ensures covered: \result == PPRF_OK ==> \forall integer y; covered(kept, *count, y) <==>
      (covers(top_l.start, top_l.height, y) && y < first) ||
      (covers(top_r.start, top_r.height, y) && last < y); */
static int keep_ends(struct pprf_family family, struct ref_node top_l, struct ref_node top_r,
                     uint64_t first, uint64_t last, struct ref_node *kept, size_t *count)
  /*@ ghost (unsigned d) */
{
  size_t left, right;
  int err = keep_left(family, top_l, first, kept, &left) /*@ ghost (d) */;
  if (err != PPRF_OK)
    return err;
  //@ assert part_l: part(root, d, kept, 0, left, top_l, 0, first);
  //@ assert few: left <= REF_DEPTH_MAX && top_r.height <= REF_DEPTH_MAX;
  //@ ghost Left: ;
  err = keep_right(family, top_r, last, kept, left, &right) /*@ ghost (d) */;
  //@ assert same: same{Here,Left}(kept, 0, left);
  if (err != PPRF_OK) {
    ref_wipe(kept, 0, left);
    return err;
  }
  //@ assert part_r: part(root, d, kept, left, left + right, top_r, last + 1, pow2(d));
  //@ assert slice_l: slice(root, d, kept, 0, left);
  //@ assert below_l: below(kept, 0, left, top_l);
  //@ assert within_l: \forall integer k; 0 <= k < left ==> node_within(kept + k, 0, first);
  //@ assert cov_l: \forall integer y; covered_in(kept, 0, left, y) <==> covered_in{Left}(kept, 0, left, y);
  //@ assert slice_r: slice(root, d, kept, left, left + right);
  /*@ assert apart: \forall integer k, l; 0 <= k < left <= l < left + right ==>
        ordered(d, kept + k, kept + l); */
  //@ assert slice: slice(root, d, kept, 0, left + right);
  /*@ assert fit_l: fit(kept, 0, left, top_l.start, top_l.height, top_r.start, top_r.height); */
  /*@ assert fit_r: fit(kept, left, left + right, top_l.start, top_l.height, top_r.start,
                        top_r.height); */
  /*@ assert covers_at: \forall integer y; covered(kept, left + right, y) <==>
        covered_in(kept, 0, left, y) || covered_in(kept, left, left + right, y); */
  /*@ assert fit: fit(kept, 0, left + right, top_l.start, top_l.height, top_r.start,
                      top_r.height); */
  //@ ghost Kept: ;
  *count = left + right;
  //@ assert kept: same{Here,Kept}(kept, 0, left + right);
  //@ assert nodes: inv(root, d, kept, *count);
  /*@ assert fit: fit(kept, 0, left + right, top_l.start, top_l.height, top_r.start,
                      top_r.height); */
  /*@ assert covered: \forall integer y;
        covered(kept, left + right, y) <==> covered{Kept}(kept, left + right, y); */
  return PPRF_OK;
}

int ref_punct_range(struct ref_node *a, size_t *n, size_t cap, unsigned d,
                    struct pprf_family family, uint64_t first, uint64_t last)
{
  struct ref_node kept[2 * REF_DEPTH_MAX];
  size_t j, count;
  if (first > last || last >= ref_width(d))
    return PPRF_ERR_RANGE;
  //@ ghost pow2_mono_lemma(d, 63);
  size_t i = meet(a, *n, first, last, &j) /*@ ghost (d) */;
  if (i == j)
    return PPRF_ERR_PUNCTURED;
  //@ assert first: correct_node(root, d, a + i);
  //@ assert last: correct_node(root, d, a + (j - 1));
  unsigned g = a[i].height, h = a[j - 1].height;
  //@ assert meeting: meeting(a, *n, first, last, i, j);
  /*@ assert only: \forall integer p, q; 0 <= p < q <= *n ==> meeting(a, *n, first, last, p, q) ==>
        p == i && q == j; */
  if ((size_t)g + h > cap - (*n - (j - i)))
    return PPRF_ERR_BUFFER;
  //@ assert room: *n - (j - i) + g + h <= cap;
  //@ ghost pow2_pos_lemma();
  //@ ghost uint64_t s = a[i].start, t = a[j - 1].start;
  //@ assert from: all_after(a, i + 1, j, s, g);
  //@ assert to: all_left(a, i, j - 1, t);
  //@ assert old: \forall integer y; covered_in(a, i, j, y) ==> s <= y < t + pow2(h);
  /*@ assert span: \forall integer y; first <= y <= last ==> covered(a, *n, y) ==>
        s <= y < t + pow2(h); */
  /*@ assert order: a[i].start <= a[j - 1].start &&
        a[i].start + pow2(g) <= a[j - 1].start + pow2(h); */
  //@ ghost Keep: ;
  int err = keep_ends(family, a[i], a[j - 1], first, last, kept, &count) /*@ ghost (d) */;
  //@ assert kept: same{Here,Keep}(a, 0, cap);
  //@ assert n1: *n == \at(*n,Pre);
  //@ assert kept1: same{Here,Pre}(a, 0, cap);
  //@ assert same1: same{Here,Pre}(a, 0, \at(*n,Pre));
  //@ assert nodes1: inv(root, d, a, *n);
  //@ assert clear1: zeros(a, *n, cap);
  //@ assert cov1: \forall integer y; covered(a, *n, y) <==> covered{Pre}(a, *n, y);
  if (err != PPRF_OK)
    return err;
  /*@ assert punctured: \forall integer y; covered(&kept[0], count, y) ==>
        (y < first || last < y) && (covers_at(a + i, y) || covers_at(a + (j - 1), y)); */
  /*@ assert span: \forall integer y; first <= y <= last ==> covered(a, *n, y) ==>
        a[i].start <= y < a[j - 1].start + pow2(h); */
  /*@ assert all: \forall integer y; covered(a, *n, y) && (y < first || last < y) &&
        a[i].start <= y < a[j - 1].start + pow2(h) ==> covered(&kept[0], count, y); */
  /*@ assert key: \forall integer y; covered(&kept[0], count, y) ==> covered(a, *n, y); */
  /*@ assert stays: \forall integer y;
        ((y < first || last < y) && covered(a, *n, y)) <==> covered(&kept[0], count, y) ||
        (covered(a, *n, y) && !(a[i].start <= y < a[j - 1].start + pow2(h))); */
  /*@ assert stays1: \forall integer y;
        ((y < first || last < y) && covered{Pre}(a, \at(*n,Pre), y)) <==>
        covered(&kept[0], count, y) ||
        (covered(a, *n, y) && !(a[i].start <= y < a[j - 1].start + pow2(h))); */
  size_t len = replace(a, *n, i, j, kept, count) /*@ ghost (d) */;
  //@ ghost Replaced: ;
  //@ assert cut: zeros(a, len, \at(*n,Pre));
  //@ assert beyond: \forall integer k; len <= k < cap ==> \at(*n,Pre) <= k ==> zero_node(a + k);
  //@ assert clear: zeros(a, len, cap);
  /*@ assert covered: \forall integer y; covered(a, len, y) <==>
        ((y < first || last < y) && covered{Pre}(a, \at(*n,Pre), y)); */
  *n = len;
  //@ assert length: same{Here,Replaced}(a, 0, len) && zeros(a, len, cap);
  return PPRF_OK;
}

/* Puncture the leaves outside of first .. last, of which the key covers one or more. On an error
 * the key is wiped. */
/*@ requires depth: d <= REF_DEPTH_MAX;
    requires family: tree_family(family);
    requires \valid(n) && *n + 4 * d <= cap <= REF_NODES_MAX;
    requires \valid(a + (0 .. cap-1));
    requires \separated(a + (0 .. cap-1), n);
    requires nodes: inv(root, d, a, *n);
    requires clear: zeros(a, *n, cap);
    requires range: first <= last < pow2(d);
    assigns a[0 .. cap-1], *n, expansions;
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures cost: expansions <= \old(expansions) + 2 * d;
    ensures nodes: \result == PPRF_OK ==> inv(root, d, a, *n);
    ensures leaves: \result == PPRF_OK ==> \forall integer y;
      covered(a, *n, y) <==> first <= y <= last && covered{Pre}(a, \old(*n), y);
    ensures clear: *n <= cap && zeros(a, *n, cap);
    ensures error: \result != PPRF_OK ==> *n == 0; */
static int puncture_outside(struct ref_node *a, size_t *n, size_t cap, unsigned d,
                            struct pprf_family family, uint64_t first, uint64_t last)
{
  const uint64_t end = ref_width(d) - 1;
  int err = PPRF_OK;
  //@ assert low: \forall integer k; 0 <= k < *n ==> a[k].height <= d;
  if (first > 0)
    err = ref_punct_range(a, n, cap, d, family, 0, first - 1);
  //@ assert same: err != PPRF_OK ==> same{Here,Pre}(a, 0, *n);
  /*@ assert from: err == PPRF_OK || err == PPRF_ERR_PUNCTURED ==> \forall integer y;
        covered(a, *n, y) <==> first <= y && covered{Pre}(a, \at(*n,Pre), y); */
  //@ assert results: err == PPRF_OK || err == PPRF_ERR_PUNCTURED || prg_error(err);
  //@ assert room: *n + 2 * d <= cap;
  //@ assert low: \forall integer k; 0 <= k < *n ==> a[k].height <= d;
  //@ ghost Half: ;
  if ((err == PPRF_OK || err == PPRF_ERR_PUNCTURED) && last < end)
    err = ref_punct_range(a, n, cap, d, family, last + 1, end);
  //@ assert results: err == PPRF_OK || err == PPRF_ERR_PUNCTURED || prg_error(err);
  //@ assert same: err != PPRF_OK ==> same{Here,Half}(a, 0, *n);
  //@ assert clear: zeros(a, *n, cap);
  /*@ assert to: err == PPRF_OK || err == PPRF_ERR_PUNCTURED ==> \forall integer y;
        covered(a, *n, y) <==> y <= last && covered{Half}(a, \at(*n,Half), y); */
  if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED)
    return PPRF_OK;
  //@ ghost Failed: ;
  ref_wipe(a, 0, *n);
  //@ assert rest: same{Here,Failed}(a, *n, cap);
  //@ assert wiped: zeros(a, 0, cap);
  *n = 0;
  return err;
}

int ref_delegate(const struct ref_node *a, size_t n, unsigned d, struct pprf_family family,
                 uint64_t first, uint64_t last, struct ref_node *out, size_t room, size_t *count)
{
  size_t j;
  *count = 0;
  //@ assert kept: same{Here,Pre}(a, 0, n);
  //@ assert zeros: zeros(out, 0, room);
  if (first > last || last >= ref_width(d))
    return PPRF_ERR_RANGE;
  size_t i = meet(a, n, first, last, &j) /*@ ghost (d) */;
  //@ assert cov: \forall integer y; covered(a, n, y) <==> covered{Pre}(a, n, y);
  if (i == j)
    return PPRF_ERR_PUNCTURED;
  /*@ assert meeting: meeting{Pre}(a, n, first, last, i, j); */
  /*@ assert only: \forall integer p, q; 0 <= p < q <= n ==>
        meeting{Pre}(a, n, first, last, p, q) ==> p == i && q == j; */
  size_t needed = j - i + 2 * REF_GROWTH(d); /* for two punctures */
  if (needed > room) {
    *count = needed;
    return PPRF_ERR_BUFFER;
  }
  //@ ghost Copy: ;
  ref_copy(out, 0, a, i, j - i);
  //@ assert slice: slice{Copy}(root, d, a, 0, n) && slice{Copy}(root, d, a, i, j);
  //@ assert carried: carried{Here,Copy}(root, d, out, 0, j - i, a, i, i, j);
  //@ assert rest: zeros(out, j - i, room);
  //@ assert copied: slice(root, d, out, 0, j - i);
  /*@ assert covered: \forall integer y; first <= y <= last ==>
        (covered(out, j - i, y) <==> covered{Pre}(a, n, y)); */
  //@ ghost Copied: ;
  *count = j - i;
  //@ assert same: same{Here,Copied}(out, 0, j - i);
  //@ assert clear: zeros(out, *count, room);
  //@ assert nodes: inv(root, d, out, *count);
  /*@ assert range: \forall integer y; first <= y <= last ==>
        (covered(out, *count, y) <==> covered{Pre}(a, n, y)); */
  return puncture_outside(out, count, room, d, family, first, last);
}

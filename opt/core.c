/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation and punctures: the descents from a live node, and the API functions that make them.
 *
 * Seeds.  descend and siblings hold seeds in registers that the compiler may spill: each wipes its
 * variables, and its caller wipes the stack below itself.  Seeds in the callers' own arrays are
 * wiped one by one.  Branches and addresses depend on leaves only. */
#include "key.h"

/* The seed of one of the two children. */
/*@ assigns \nothing;
    ensures right: right != 0 ==> sd(\result) == sd(c.right);
    ensures left: right == 0 ==> sd(\result) == sd(c.left); */
static inline struct pprf_seed child(struct pprf_children c, int right)
{
  return right ? c.right : c.left;
}

/* Add the seed of height i to those of the heights above, if the co-path is wanted. */
/*@ requires copath == \null || \valid(copath + (0 .. n - 1));
    requires index: i < n;
    requires above: copath != \null ==> copath_seeds(sd(R), d, leaf, copath, i + 1, n);
    requires seed: sd(seed) == ns(sd(R), d, beside(leaf, i), i);
    assigns copath[0 .. WANTED(copath, n) - 1];
    ensures copath: copath != \null ==> copath_seeds(sd(R), d, leaf, copath, i, n);
    ensures rest: copath != \null ==> same_seeds{Pre,Post}(copath, i); */
static inline void put_sibling(struct pprf_seed *copath, unsigned i, struct pprf_seed seed)
  /*@ ghost (struct pprf_seed R, unsigned d, uint64_t leaf, unsigned n) */
{
  if (copath != NULL)
    copath[i] = seed;
}

/* Wipe what there is of a co-path. */
/*@ requires copath == \null || \valid(copath + (0 .. n - 1));
    requires index: from <= n;
    assigns copath[0 .. WANTED(copath, n) - 1];
    ensures wiped: copath != \null ==> \forall integer i; from <= i < n ==> zero_seed(copath[i]);
    ensures rest: copath != \null ==> same_seeds{Pre,Post}(copath, from); */
static inline void wipe_siblings(struct pprf_seed *copath, unsigned from, unsigned n)
{
  if (copath != NULL)
    wipe_from(copath, from, n);
}

/* Walk from a live node down to a leaf: the leaf's seed, and in copath, if not NULL, the seeds of
 * the path's siblings by height.  On error neither holds a seed. */
/*@ requires held: held(sd(R), s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid(value) && (copath == \null || \valid(copath + (0 .. node.height - 1)));
    requires \separated(value, copath + (0 .. node.height - 1));
    assigns *value, copath[0 .. WANTED(copath, node.height) - 1];
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures value: \result == PPRF_OK ==>
      sd(*value) == leaf_value(sd(R), \old(s->punctured.depth), leaf);
    ensures copath: \result == PPRF_OK ==> copath != \null ==>
      copath_seeds(sd(R), \old(s->punctured.depth), leaf, copath, 0, node.height);
    ensures error: \result != PPRF_OK ==> zero_seed(*value);
    ensures error_copath: \result != PPRF_OK ==> copath != \null ==>
      wiped_or_same{Pre,Post}(copath, node.height); */
static NOINLINE int descend(const struct opt_store *s, struct opt_node node, uint64_t leaf,
                            struct pprf_seed *copath, struct pprf_seed *value)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost leaves_lf(d);
  //@ ghost top_lf(d, node.start, node.height, leaf);
  struct pprf_seed seed = opt_store_seed(s, node) /*@ ghost (R) */;
  struct pprf_children c = {.err = PPRF_OK};
  /*@ loop invariant height: h <= node.height <= d && c.err == PPRF_OK;
      loop invariant seed: sd(seed) == ns(sd(R), d, down(leaf, h), h);
      loop invariant copath: copath != \null ==>
        copath_seeds(sd(R), d, leaf, copath, h, node.height);
      loop invariant rest: copath != \null ==> same_seeds{Pre,Here}(copath, h);
      loop assigns h, seed, c, copath[0 .. WANTED(copath, node.height) - 1];
      loop variant h; */
  for (unsigned h = node.height; h > 0; h--) {
    uint64_t start = opt_start(leaf, h);
    //@ ghost step_lf(d, leaf, h);
    //@ ghost children_lf(d, start, h);
    c = prg_expand(seed, start, h);
    if (c.err != PPRF_OK) {
      wipe_siblings(copath, h, node.height);
      //@ assert wiped: copath != \null ==> wiped_or_same{Pre,Here}(copath, node.height);
      seed = (struct pprf_seed){0, 0};
      break;
    }
    int right = opt_is_right(leaf, h - 1);
    //@ assert left: sd(c.left) == ns(sd(R), d, start, h - 1);
    //@ assert right: sd(c.right) == ns(sd(R), d, start + pow2(h - 1), h - 1);
    seed = child(c, right);
    //@ assert own: sd(seed) == ns(sd(R), d, down(leaf, h - 1), h - 1);
    struct pprf_seed other = child(c, !right);
    //@ assert other: sd(other) == ns(sd(R), d, beside(leaf, h - 1), h - 1);
    put_sibling(copath, h - 1, other) /*@ ghost (R, d, leaf, node.height) */;
  }
  *value = seed;
  /*@ assert wiped: c.err != PPRF_OK ==> copath != \null ==>
        wiped_or_same{Pre,Here}(copath, node.height); */
  int err = c.err;
  WIPE_LOCALS(seed, c);
  return err;
}

/* Overwrite the seeds of n nodes. */
/*@ requires \valid(e + (0 .. n - 1));
    assigns e[0 .. n - 1];
    ensures wiped: \forall integer i; 0 <= i < n ==> zero_seed(e[i].seed); */
static inline void wipe_entries(struct opt_entry *e, unsigned n)
{
  /*@ loop invariant 0 <= i <= n;
      loop invariant \forall integer k; 0 <= k < i ==> zero_seed(e[k].seed);
      loop assigns i, e[0 .. n - 1];
      loop variant n - i; */
  for (unsigned i = 0; i < n; i++)
    e[i].seed = (struct pprf_seed){0, 0};
  KEEP_STORES(e);
}

/* What is left of a live node when a range ends in it: the left siblings of the path to the
 * range's first leaf, or the right siblings of the path to its last.  The walk stops at the
 * subtree that lies wholly in the range.  On error out holds no seed. */
static NOINLINE int siblings(const struct opt_store *s, struct opt_node node, uint64_t leaf,
                             int right_side, struct opt_entry *out, unsigned *count)
  /*@ ghost (struct pprf_seed R) */
{
  uint64_t inside = right_side ? ~leaf : leaf; /* low h bits zero: the rest is in the range */
  struct pprf_seed seed = opt_store_seed(s, node) /*@ ghost (R) */;
  struct pprf_children c = {.err = PPRF_OK};
  *count = 0;
  for (unsigned h = node.height; h > 0 && (inside & opt_below(h)) != 0; h--) {
    c = prg_expand(seed, opt_start(leaf, h), h);
    if (c.err != PPRF_OK) {
      wipe_entries(out, *count);
      *count = 0;
      break;
    }
    int right = opt_is_right(leaf, h - 1);
    seed = right ? c.right : c.left;
    if (right != right_side)
      out[(*count)++] = (struct opt_entry){
        .node = {.start = opt_sibling_start(leaf, h - 1), .height = h - 1},
        .seed = right ? c.left : c.right};
  }
  int err = c.err;
  WIPE_LOCALS(seed, c);
  return err;
}

static NOINLINE int punct_range(struct opt_store *s, uint64_t first, uint64_t last)
{
  struct opt_entry rest[2 * PPRF_DEPTH_MAX];
  struct opt_node node;
  unsigned lefts = 0, rights = 0;
  int err = PPRF_OK;
  int more = opt_store_next(s, first, &node) /*@ ghost (key_root) */;
  if (!more || node.start > last)
    return PPRF_ERR_PUNCTURED;
  if (node.start < first)
    err = siblings(s, node, first, 0, rest, &lefts) /*@ ghost (key_root) */;
  if (err == PPRF_OK && opt_store_find(s, last, &node) /*@ ghost (key_root) */)
    err = siblings(s, node, last, 1, rest + lefts, &rights) /*@ ghost (key_root) */;
  if (err == PPRF_OK)
    opt_store_puncture_range(s, first, last, rest, lefts + rights) /*@ ghost (key_root) */;
  wipe_entries(rest, lefts + rights);
  prg_wipe_stack();
  return err;
}

/*@ requires key: key == \null || key(sd(key_root), &key->store);
    requires \valid_read(key) || key == \null;
    requires out: out == \null || \valid(out + (0 .. 15));
    assigns out[0 .. 15];
    ensures null: \result == PPRF_ERR_NULL <==> key == \null || out == \null;
    ensures range: \result == PPRF_ERR_RANGE <==>
      key != \null && out != \null && leaf >= pow2(key->store.punctured.depth);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      key != \null && out != \null && leaf < pow2(key->store.punctured.depth) &&
      gone{Pre}(&key->store.punctured, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures value: \result == PPRF_OK ==> \exists integer lo, hi; seed_bytes(out, lo, hi) &&
      mk2(lo, hi) == leaf_value(sd(key_root), key->store.punctured.depth, leaf);
    ensures error: \result != PPRF_OK ==> out != \null ==> seed_bytes(out, 0, 0); */
int pprf_eval(const pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  struct opt_node node;
  struct pprf_seed value = {0, 0};
  if (out == NULL)
    return PPRF_ERR_NULL;
  int err = PPRF_OK;
  if (key == NULL)
    err = PPRF_ERR_NULL;
  else if (!opt_in_tree(leaf, depth_of(key)))
    err = PPRF_ERR_RANGE;
  else if (!opt_store_find(&key->store, leaf, &node) /*@ ghost (key_root) */)
    err = PPRF_ERR_PUNCTURED;
  else
    err = descend(&key->store, node, leaf, NULL, &value) /*@ ghost (key_root) */;
  store_seed(out, value);
  wipe_seed(&value);
  prg_wipe_stack();
  return err;
}

/* The same for a puncture: the walk leaves the key as it is. */
/*@ requires key: key(sd(R), s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid(value) && \valid(copath + (0 .. node.height - 1));
    requires \separated(value, copath + (0 .. node.height - 1));
    requires apart: APART(copath + (0 .. node.height - 1), s) && APART(value, s);
    assigns *value, copath[0 .. node.height - 1];
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures value: \result == PPRF_OK ==>
      sd(*value) == leaf_value(sd(R), s->punctured.depth, leaf);
    ensures copath: \result == PPRF_OK ==>
      copath_seeds(sd(R), s->punctured.depth, leaf, copath, 0, node.height);
    ensures key: key(sd(R), s);
    ensures same: same_words{Pre,Post}(&s->punctured) && same_slots{Pre,Post}(s);
    ensures set: same_set{Pre,Post}(&s->punctured);
    ensures nodes: s->nodes == \old(s->nodes); */
static inline int walk(const struct opt_store *s, struct opt_node node, uint64_t leaf,
                       struct pprf_seed *copath, struct pprf_seed *value)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        \separated(copath + (0 .. node.height - 1), &s->punctured.summary[k][i]); */
  /*@ assert apart_value: \forall integer k, i; 1 <= k < s->punctured.levels ==>
        0 <= i < words(d, k) ==> \separated(value, &s->punctured.summary[k][i]); */
  int err = descend(s, node, leaf, copath, value) /*@ ghost (R) */;
  //@ assert nodes: s->nodes == \at(s->nodes,Pre) && s->punctured.depth == d;
  //@ assert slots: same_slots{Pre,Here}(s);
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
  /*@ assert each: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        same_word{Pre,Here}(&s->punctured, k, i); */
  //@ assert summary: same_summary{Pre,Here}(&s->punctured);
  //@ assert dead: same_dead{Pre,Here}(&s->punctured);
  //@ assert words: same_words{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
  //@ assert opened: opened(s);
  //@ assert held: held(sd(R), s);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
  return err;
}

/* Wipe a co-path, which is no part of the key. */
/*@ requires key: key(sd(R), s);
    requires \valid(copath + (0 .. n - 1));
    requires apart: APART(copath + (0 .. n - 1), s);
    assigns copath[0 .. n - 1];
    ensures wiped: \forall integer i; 0 <= i < n ==> zero_seed(copath[i]);
    ensures key: key(sd(R), s);
    ensures set: same_set{Pre,Post}(&s->punctured); */
static inline void wipe_copath(struct pprf_seed *copath, unsigned n)
  /*@ ghost (const struct opt_store *s, struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  /*@ assert apart: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        \separated(copath + (0 .. n - 1), &s->punctured.summary[k][i]); */
  wipe(copath, n);
  //@ assert nodes: s->nodes == \at(s->nodes,Pre) && s->punctured.depth == d;
  //@ assert slots: same_slots{Pre,Here}(s);
  //@ assert shape: same_shape{Pre,Here}(&s->punctured);
  /*@ assert each: \forall integer k, i; 1 <= k < s->punctured.levels ==> 0 <= i < words(d, k) ==>
        same_word{Pre,Here}(&s->punctured, k, i); */
  //@ assert summary: same_summary{Pre,Here}(&s->punctured);
  //@ assert dead: same_dead{Pre,Here}(&s->punctured);
  //@ assert words: same_words{Pre,Here}(&s->punctured);
  //@ assert layout: layout(&s->punctured);
  //@ assert bitmap: bitmap(&s->punctured);
  //@ assert opened: opened(s);
  //@ assert held: held(sd(R), s);
  //@ ghost size_lf(&s->punctured, 0, 0);
  //@ assert steps: \forall integer k; 0 <= k <= d ==> size_step(&s->punctured, 0, 0, k);
  //@ assert intact: same_intact{Pre,Here}(&s->punctured, 0, 0, 0, 0);
  /*@ ghost
    /@ loop invariant 0 <= k <= d;
       loop invariant same_size{Pre,Here}(&s->punctured, 0, 0, 0, 0, k);
       loop assigns k;
       loop variant d - k; @/
    for (unsigned k = 0; k < d; k++)
      ; */
}

/* Puncture, and write the leaf's value to out if that is not NULL.  Wiping comes last: after it no
 * register and no stack below the API function holds a seed. */
/*@ requires key: key(sd(key_root), &key->store) && \valid(key);
    requires out: out == \null || \valid(out + (0 .. 15));
    assigns key->store.nodes, key->store.slot[0 .. pow2(key->store.punctured.depth - 1) - 1],
      BITMAP_WORDS(&key->store.punctured), out[0 .. WANTED(out, 16) - 1];
    ensures key: key(sd(key_root), &key->store);
    ensures range: \result == PPRF_ERR_RANGE <==> leaf >= pow2(key->store.punctured.depth);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      leaf < pow2(key->store.punctured.depth) && gone{Pre}(&key->store.punctured, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_RANGE ||
      \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures gone: \result == PPRF_OK ==> \forall integer x; gone(&key->store.punctured, x) <==>
      gone{Pre}(&key->store.punctured, x) || x == leaf;
    ensures value: \result == PPRF_OK ==> out != \null ==> \exists integer lo, hi;
      seed_bytes(out, lo, hi) &&
      mk2(lo, hi) == leaf_value(sd(key_root), key->store.punctured.depth, leaf);
    ensures error: \result != PPRF_OK ==> same_words{Pre,Post}(&key->store.punctured) &&
      same_slots{Pre,Post}(&key->store) && key->store.nodes == \old(key->store.nodes);
    ensures error_out: \result != PPRF_OK ==> out != \null ==>
      \forall integer k; 0 <= k < 16 ==> out[k] == \old(out[k]); */
static NOINLINE int punct(pprf_key *key, uint64_t leaf, uint8_t *out)
{
  struct pprf_seed copath[PPRF_DEPTH_MAX], value;
  struct opt_node node;
  struct opt_store *s = &key->store;
  if (!opt_in_tree(leaf, depth_of(key)))
    return PPRF_ERR_RANGE;
  opt_store_prefetch(s, leaf);
  if (!opt_store_find(s, leaf, &node) /*@ ghost (key_root) */)
    return PPRF_ERR_PUNCTURED;
  if (node.height == 0 && out == NULL) { /* half of all punctures in random order: no seed is read */
    opt_store_puncture(s, leaf, node, NULL) /*@ ghost (key_root) */;
    return PPRF_OK;
  }
  int err = walk(s, node, leaf, copath, &value) /*@ ghost (key_root) */;
  if (err == PPRF_OK) {
    opt_store_puncture(s, leaf, node, copath) /*@ ghost (key_root) */;
    if (out != NULL)
      store_seed(out, value);
    wipe_copath(copath, node.height) /*@ ghost (s, key_root) */;
  }
  wipe_seed(&value);
  prg_wipe_stack();
  return err;
}

/*@ requires key: key == \null || (\valid(key) && key(sd(key_root), &key->store));
    assigns key->store.nodes, key->store.slot[0 .. pow2(key->store.punctured.depth - 1) - 1],
      BITMAP_WORDS(&key->store.punctured);
    ensures null: \result == PPRF_ERR_NULL <==> key == \null;
    ensures key: key != \null ==> key(sd(key_root), &key->store);
    ensures range: \result == PPRF_ERR_RANGE <==>
      key != \null && leaf >= pow2(key->store.punctured.depth);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      key != \null && leaf < pow2(key->store.punctured.depth) &&
      gone{Pre}(&key->store.punctured, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures gone: \result == PPRF_OK ==> \forall integer x; gone(&key->store.punctured, x) <==>
      gone{Pre}(&key->store.punctured, x) || x == leaf;
    ensures error: \result != PPRF_OK ==> key != \null ==>
      same_words{Pre,Post}(&key->store.punctured) && same_slots{Pre,Post}(&key->store) &&
      key->store.nodes == \old(key->store.nodes); */
int pprf_punct(pprf_key *key, uint64_t leaf)
{
  return key == NULL ? PPRF_ERR_NULL : punct(key, leaf, NULL);
}

/*@ requires key: key == \null || (\valid(key) && key(sd(key_root), &key->store));
    requires out: out == \null || \valid(out + (0 .. 15));
    assigns key->store.nodes, key->store.slot[0 .. pow2(key->store.punctured.depth - 1) - 1],
      BITMAP_WORDS(&key->store.punctured), out[0 .. 15];
    ensures null: \result == PPRF_ERR_NULL <==> key == \null || out == \null;
    ensures key: key != \null ==> key(sd(key_root), &key->store);
    ensures range: \result == PPRF_ERR_RANGE <==>
      key != \null && out != \null && leaf >= pow2(key->store.punctured.depth);
    ensures punctured: \result == PPRF_ERR_PUNCTURED <==>
      key != \null && out != \null && leaf < pow2(key->store.punctured.depth) &&
      gone{Pre}(&key->store.punctured, leaf);
    ensures others: \result == PPRF_OK || \result == PPRF_ERR_NULL ||
      \result == PPRF_ERR_RANGE || \result == PPRF_ERR_PUNCTURED || prg_error(\result);
    ensures gone: \result == PPRF_OK ==> \forall integer x; gone(&key->store.punctured, x) <==>
      gone{Pre}(&key->store.punctured, x) || x == leaf;
    ensures error: \result != PPRF_OK ==> key != \null ==>
      same_words{Pre,Post}(&key->store.punctured) && same_slots{Pre,Post}(&key->store) &&
      key->store.nodes == \old(key->store.nodes);
    ensures value: \result == PPRF_OK ==> \exists integer lo, hi; seed_bytes(out, lo, hi) &&
      mk2(lo, hi) == leaf_value(sd(key_root), key->store.punctured.depth, leaf);
    ensures error_out: \result != PPRF_OK ==> out != \null ==> seed_bytes(out, 0, 0); */
int pprf_eval_punct(pprf_key *key, uint64_t leaf, uint8_t out[PPRF_SEED_BYTES])
{
  if (out == NULL)
    return PPRF_ERR_NULL;
  store_seed(out, (struct pprf_seed){0, 0});
  return key == NULL ? PPRF_ERR_NULL : punct(key, leaf, out);
}

int pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  if (key == NULL)
    return PPRF_ERR_NULL;
  if (first > last || last >> depth_of(key) != 0)
    return PPRF_ERR_RANGE;
  return punct_range(&key->store, first, last);
}

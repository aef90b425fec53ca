/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation and punctures: the descents from a live node, and the API functions that make them.
 *
 * Seeds.  descend and siblings hold seeds in registers that the compiler may spill: each wipes its
 * variables, and its caller wipes the stack below itself.  Seeds in the callers' own arrays are
 * wiped one by one.  Branches and addresses depend on leaves only. */
#include "key.h"

/* Walk from a live node down to a leaf: the leaf's seed, and in copath, if not NULL, the seeds of
 * the path's siblings by height.  On error neither holds a seed. */
/*@ requires key: key(sd(R), s);
    requires live: live(&s->punctured, 0, 0, s->punctured.depth, node.start, node.height) &&
      covers(node.start, node.height, leaf);
    requires \valid(value) && (copath == \null || \valid(copath + (0 .. node.height - 1)));
    requires \separated(value, copath + (0 .. node.height - 1));
    assigns *value, copath[0 .. node.height - 1];
    ensures results: \result == PPRF_OK || prg_error(\result);
    ensures value: \result == PPRF_OK ==>
      sd(*value) == leaf_value(sd(R), \old(s->punctured.depth), leaf);
    ensures copath: \result == PPRF_OK ==> copath != \null ==>
      \forall integer i; 0 <= i < node.height ==>
        sd(copath[i]) == ns(sd(R), \old(s->punctured.depth), beside(leaf, i), i);
    ensures error: \result != PPRF_OK ==> zero_seed(*value);
    ensures error_copath: \result != PPRF_OK ==> copath != \null ==>
      \forall integer i; 0 <= i < node.height ==> zero_seed(copath[i]) ||
        (copath[i].lo == \old(copath[i].lo) && copath[i].hi == \old(copath[i].hi)); */
static NOINLINE int descend(const struct opt_store *s, struct opt_node node, uint64_t leaf,
                            struct pprf_seed *copath, struct pprf_seed *value)
  /*@ ghost (struct pprf_seed R) */
{
  //@ ghost unsigned d = s->punctured.depth;
  //@ assert depth: 1 <= d <= 32;
  //@ ghost path_lf(d);
  //@ ghost leaves_lf(d);
  //@ ghost beside_lf(d, leaf);
  struct pprf_seed seed = opt_store_seed(s, node) /*@ ghost (R) */;
  struct pprf_children c = {.err = PPRF_OK};
  /*@ loop invariant height: h <= node.height <= d && c.err == PPRF_OK;
      loop invariant seed: sd(seed) == ns(sd(R), d, down(leaf, h), h);
      loop invariant copath: copath != \null ==> \forall integer i; h <= i < node.height ==>
        sd(copath[i]) == ns(sd(R), d, beside(leaf, i), i);
      loop invariant rest: copath != \null ==> \forall integer i; 0 <= i < h ==>
        copath[i].lo == \at(copath[i].lo,Pre) && copath[i].hi == \at(copath[i].hi,Pre);
      loop assigns h, seed, c, copath[0 .. node.height - 1];
      loop variant h; */
  for (unsigned h = node.height; h > 0; h--) {
    uint64_t start = opt_start(leaf, h);
    //@ ghost children_lf(d, start, h);
    c = prg_expand(seed, start, h);
    if (c.err != PPRF_OK) {
      if (copath != NULL)
        wipe(copath + h, node.height - h);
      /*@ assert wiped: copath != \null ==> \forall integer i; h <= i < node.height ==>
            zero_seed((copath + h)[i - h]); */
      /*@ assert wiped_i: copath != \null ==> \forall integer i; h <= i < node.height ==>
            zero_seed(copath[i]); */
      /*@ assert rest: copath != \null ==> \forall integer i; 0 <= i < h ==>
            copath[i].lo == \at(copath[i].lo,Pre) && copath[i].hi == \at(copath[i].hi,Pre); */
      seed = (struct pprf_seed){0, 0};
      break;
    }
    int right = opt_is_right(leaf, h - 1);
    //@ assert half: tnode(d, down(leaf, h), h);
    //@ ghost struct pprf_seed other = right ? c.left : c.right;
    //@ assert other: sd(other) == ns(sd(R), d, beside(leaf, h - 1), h - 1);
    seed = right ? c.right : c.left;
    //@ assert own: sd(seed) == ns(sd(R), d, down(leaf, h - 1), h - 1);
    if (copath != NULL)
      copath[h - 1] = right ? c.left : c.right;
    /*@ assert stored: copath != \null ==>
          sd(copath[h - 1]) == ns(sd(R), d, beside(leaf, h - 1), h - 1); */
  }
  /*@ assert apart: copath != \null ==> \forall integer i; 0 <= i < node.height ==>
        \separated(value, &copath[i]); */
  *value = seed;
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
      gone(&key->store.punctured, leaf);
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
  wipe(&value, 1);
  prg_wipe_stack();
  return err;
}

/* Puncture, and write the leaf's value to out if that is not NULL.  Wiping comes last: after it no
 * register and no stack below the API function holds a seed. */
/*@ requires key: key(sd(key_root), &key->store) && \valid(key);
    requires out: out == \null || \valid(out + (0 .. 15));
    assigns key->store.nodes, key->store.slot[0 .. pow2(key->store.punctured.depth - 1) - 1],
      BITMAP_WORDS(&key->store.punctured), out[0 .. 15];
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
  int err = descend(s, node, leaf, copath, &value) /*@ ghost (key_root) */;
  //@ assert walk: same_words{Pre,Here}(&s->punctured) && same_slots{Pre,Here}(s);
  //@ assert walk_opened: opened(s);
  //@ assert walk_key: key(sd(key_root), s);
  if (err == PPRF_OK) {
    opt_store_puncture(s, leaf, node, copath) /*@ ghost (key_root) */;
    //@ ghost Done: ;
    if (out != NULL)
      store_seed(out, value);
    //@ assert bytes: out != \null ==> seed_bytes(out, value.lo, value.hi);
    //@ assert value: sd(value) == leaf_value(sd(key_root), s->punctured.depth, leaf);
    wipe(copath, node.height);
    //@ assert co_path: \forall integer i; 0 <= i < node.height ==> zero_seed(copath[i]);
    //@ assert kept: same_words{Done,Here}(&s->punctured) && same_slots{Done,Here}(s);
    //@ assert kept_opened: opened(s);
    //@ assert kept_key: key(sd(key_root), s);
    //@ assert kept_set: same_set{Done,Here}(&s->punctured);
  }
  //@ ghost Last: ;
  wipe(&value, 1);
  //@ assert last: same_words{Last,Here}(&s->punctured) && same_slots{Last,Here}(s);
  //@ assert last_opened: opened(s);
  //@ assert last_key: key(sd(key_root), s);
  //@ assert last_set: same_set{Last,Here}(&s->punctured);
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

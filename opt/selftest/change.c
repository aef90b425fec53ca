/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the change of a key's store, against the model: when it happens, by which operation,
 * and when not. */
#include "change.h"

#include <sys/wait.h>
#include <unistd.h>

#include "common/fork.h"
#include "selftest.h"

/* ---- a key, its model, and the store it must have ---- */

struct subject {
  pprf_key *key;
  struct model m;
  int packed;       /* store found by the last look() */
  unsigned changes; /* so far */
};

static uint64_t most(unsigned depth)
{
  return UINT64_C(1) << depth >> 3;
}

static uint64_t least(unsigned depth)
{
  return UINT64_C(1) << depth >> 6;
}

static int is_packed(const pprf_key *key)
{
  return store_of(key)->packed != NULL;
}

static int changes(unsigned depth)
{
  return depth >= 10 && depth <= 20; /* as pprf.h says */
}

static struct subject new_subject(unsigned depth)
{
  struct subject s = {.m = {.depth = depth}, .packed = 1};
  check(pprf_setup(&s.key, depth, root_bytes) == PPRF_OK && is_packed(must(s.key)), "setup");
  return s;
}

static void free_subject(struct subject *s)
{
  pprf_free(s->key);
  free(s->m.punctured);
}

/* Check everything that can be observed of a key in its store. */
static void check_whole(const struct subject *s)
{
  if (s->packed)
    check_nodes(store_of(s->key), &s->m, 0);
  else
    check_key(s->key, &s->m, 1);
}

/* Called after an operation: check that the store is the right one, and the whole key if it has
 * just changed. */
static void look(struct subject *s)
{
  uint64_t nodes = pprf_node_count(s->key);
  unsigned depth = s->m.depth;
  int packed = !changes(depth) ? 1 : s->packed ? nodes <= most(depth) : nodes < least(depth);
  check(is_packed(s->key) == packed, "depth %u, %llu nodes: %s", depth, (unsigned long long)nodes,
        packed ? "not packed" : "no pair slots");
  if (packed != s->packed) {
    s->changes++;
    s->packed = packed;
    check_whole(s);
  }
}

/* Puncture leaves by a batch. */
static void batch(struct subject *s, const uint64_t *leaf, size_t n)
{
  check(pprf_punct_batch(s->key, leaf, n, NULL) == PPRF_OK, "batch");
  for (size_t i = 0; i < n; i++)
    model_puncture(&s->m, leaf[i], leaf[i]);
}

/* ---- tests ---- */

/* Puncture all leaves in random order, by one kind of operation; values are compared with those
 * of a key with pair slots. */
static void whole_tree(unsigned depth, unsigned kind)
{
  struct subject s = new_subject(depth);
  pprf_key *slots = NULL;
  uint64_t n = leaves(&s.m), *leaf = must(malloc(n * sizeof *leaf));
  uint8_t out[2][PPRF_SEED_BYTES];
  for (uint64_t i = 0; i < n; i++) {
    uint64_t k = rnd_below(i + 1);
    leaf[i] = leaf[k];
    leaf[k] = i;
  }
  check(setup_slots(&slots, depth, root_bytes) == PPRF_OK, "setup");
  for (uint64_t i = 0, step; i < n && !failed; i += step) {
    step = kind == 3 && n - i >= 4 ? 4 : 1;
    int err = pprf_eval(slots, leaf[i], out[0]);
    check(pprf_eval(s.key, leaf[i], out[1]) == err && memcmp(out[0], out[1], sizeof out[0]) == 0,
          "another value");
    if (step == 4) {
      batch(&s, leaf + i, 4);
    } else {
      err = kind == 0   ? pprf_punct(s.key, leaf[i])
            : kind == 1 ? pprf_eval_punct(s.key, leaf[i], out[1])
                        : pprf_punct_range(s.key, leaf[i], leaf[i]);
      check(err == PPRF_OK && memcmp(out[0], out[1], sizeof out[0]) == 0, "puncture: %d", err);
      model_puncture(&s.m, leaf[i], leaf[i]);
    }
    look(&s);
    if (i % (n / 16) == 0)
      check_whole(&s);
  }
  check(pprf_node_count(s.key) == 0 && s.changes == (changes(depth) ? 2 : 0), "%u changes",
        s.changes);
  pprf_free(slots);
  free(leaf);
  free_subject(&s);
}

static void whole_trees(void)
{
  for (unsigned depth = 8; depth <= 12; depth++)
    for (unsigned kind = 0; kind < 4 && !failed; kind++)
      whole_tree(depth, kind);
  end_test("changes: whole_trees_have_the_store_that_their_nodes_ask_for");
}

/* The deepest tree that changes and the next deeper one; to slots and back again. */
static void deep_trees(void)
{
  enum { BATCH = 1024 };
  static uint64_t leaf[BATCH];
  for (unsigned depth = 20; depth <= 21 && !failed; depth++) {
    struct subject s = new_subject(depth);
    while (pprf_node_count(s.key) <= most(depth) && !failed) {
      for (unsigned i = 0; i < BATCH; i++)
        leaf[i] = rnd_below(leaves(&s.m));
      batch(&s, leaf, BATCH);
      look(&s);
    }
    check(s.changes == (depth == 20), "depth %u: %u changes", depth, s.changes);
    for (unsigned k = 1; k <= 16; k++) {
      check(pprf_punct_range(s.key, 0, leaves(&s.m) / 16 * k - 2) == PPRF_OK, "range");
      model_puncture(&s.m, 0, leaves(&s.m) / 16 * k - 2);
      look(&s);
    }
    check(s.packed && pprf_memory_bytes(s.key) < 1000, "%zu B for one node",
          pprf_memory_bytes(s.key));
    free_subject(&s);
  }
  end_test("changes: the_deepest_tree_that_changes_has_depth_20");
}

/* Fill and use up one half after the other: the greatest possible number of changes. */
static void there_and_back(void)
{
  enum { DEPTH = 12 };
  struct subject s = new_subject(DEPTH);
  uint64_t half = leaves(&s.m) / 2;
  for (unsigned side = 0; side < 2 && !failed; side++) {
    while (s.changes == 2 * side && !failed) {
      uint64_t leaf = side * half + rnd_below(half);
      if (pprf_punct(s.key, leaf) == PPRF_OK)
        model_puncture(&s.m, leaf, leaf);
      look(&s);
    }
    check(pprf_punct_range(s.key, side * half, side * half + half - 2) == PPRF_OK, "range");
    model_puncture(&s.m, side * half, side * half + half - 2);
    look(&s);
    check(s.changes == 2 * side + 2, "%u changes", s.changes);
  }
  free_subject(&s);
  end_test("changes: a_key_changes_as_often_as_it_fills_and_is_used_up");
}

/* A key with as many nodes as it can have without a change. */
static struct subject on_the_edge(unsigned depth)
{
  struct subject s = new_subject(depth);
  while (pprf_node_count(s.key) < most(depth)) {
    uint64_t leaf = rnd_below(leaves(&s.m));
    if (pprf_node_count(s.key) + model_height(&s.m, leaf) <= most(depth) + 1 &&
        pprf_punct(s.key, leaf) == PPRF_OK)
      model_puncture(&s.m, leaf, leaf);
  }
  check(is_packed(s.key), "changed with %zu nodes", pprf_node_count(s.key));
  check_whole(&s);
  return s;
}

/* A leaf below a node of some height, so that its puncture adds nodes. */
static uint64_t splitting_leaf(const struct model *m)
{
  uint64_t leaf;
  do
    leaf = rnd_below(leaves(m));
  while (model_next_live(m, leaf) != leaf || model_height(m, leaf) < 2);
  return leaf;
}

/* Keys delegated by a key of many nodes: each has the store that suits its own number of nodes. */
static void delegated(void)
{
  static const unsigned depths[] = {9, 12, 13, 21};
  for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
    struct subject s = new_subject(depths[d]);
    const uint64_t end = leaves(&s.m) - 1;
    const uint64_t parts[][2] = {{0, end}, {1, end - 1}, {3, 200}, {end / 2 + 1, end}};
    for (uint64_t x = 0; x < end && x < 2400; x += 2)
      puncture(s.key, &s.m, x, x);
    look(&s);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
      struct subject t = {.m = {.depth = depths[d]}, .packed = 1};
      check(pprf_delegate(s.key, parts[i][0], parts[i][1], &t.key) == PPRF_OK, "delegate");
      for (uint64_t x = 0; x < end && x < 2400; x += 2)
        model_puncture(&t.m, x, x);
      if (parts[i][0] > 0)
        model_puncture(&t.m, 0, parts[i][0] - 1);
      if (parts[i][1] < end)
        model_puncture(&t.m, parts[i][1] + 1, end);
      must(t.key);
      look(&t);
      check_whole(&t);
      free_subject(&t);
    }
    check_whole(&s);
    free_subject(&s);
  }
}

/* Keys imported from files. */
static void imported(void)
{
  for (unsigned depth = 9; depth <= 12; depth++)
    for (int dense = 0; dense < 2 && !failed; dense++) {
      struct subject s = on_the_edge(depth);
      uint8_t *file = must(malloc(65536));
      size_t len = 65536;
      if (dense) {
        uint64_t leaf = splitting_leaf(&s.m);
        check(pprf_punct(s.key, leaf) == PPRF_OK, "punct");
        model_puncture(&s.m, leaf, leaf);
      }
      check(pprf_export(s.key, file, &len) == PPRF_OK, "export");
      pprf_free(s.key);
      check(pprf_import(&s.key, file, len) == PPRF_OK, "import");
      s.packed = !(dense && changes(depth));
      check(is_packed(must(s.key)) == s.packed, "depth %u, dense %d", depth, dense);
      check_whole(&s);
      for (uint64_t n = leaves(&s.m), i = 0, at = rnd_below(n); i < n; i++, at = (at + 7) % n)
        if (!model_all_punctured(&s.m, at, at)) {
          check(pprf_punct(s.key, at) == PPRF_OK, "punct");
          model_puncture(&s.m, at, at);
          look(&s);
        }
      check(s.changes == (changes(depth) ? 2u - (unsigned)dense : 0), "%u changes", s.changes);
      free(file);
      free_subject(&s);
    }
  end_test("changes: a_key_that_is_read_begins_with_the_store_that_its_nodes_ask_for");
}

/* Refuse each memory request in turn, at a change to pair slots and at a change back: either the
 * operation fails and the key is unchanged, or it succeeds and the store is unchanged until the
 * next change is due. */
static void no_memory(void)
{
  enum { DEPTH = 11 };
  unsigned kept = 0;
  for (unsigned k = 0; k < 40 && !failed; k++) {
    unsigned at = 1 + k % 5; /* a puncture allocates up to twice, a change twice */
    struct subject s = on_the_edge(DEPTH);
    uint64_t leaf = splitting_leaf(&s.m);
    refused = at;
    int err = pprf_punct(s.key, leaf), done = refused > 0;
    refused = 0;
    check(err == PPRF_OK || (err == PPRF_ERR_NOMEM && !done), "punct: %d", err);
    if (err == PPRF_OK)
      model_puncture(&s.m, leaf, leaf);
    check(is_packed(s.key) || done, "changed without memory");
    check(store_of(s.key)->most == most(DEPTH) * (err == PPRF_OK && !done ? 2 : 1) || done, "most");
    kept += err == PPRF_OK && !done;
    s.packed = is_packed(s.key);
    check_whole(&s);
    while (s.packed && !failed) { /* later requests succeed */
      leaf = splitting_leaf(&s.m);
      uint64_t bound = store_of(s.key)->most;
      check(pprf_punct(s.key, leaf) == PPRF_OK, "punct");
      model_puncture(&s.m, leaf, leaf);
      s.packed = is_packed(s.key);
      check(s.packed == (pprf_node_count(s.key) <= bound), "another bound");
    }
    check_whole(&s);
    free_subject(&s);
  }
  check(kept >= 2, "%u changes were refused", kept);
  kept = 0;
  for (unsigned at = 1, done = 0; !done && !failed; at++) {
    struct subject s = on_the_edge(DEPTH);
    uint64_t leaf = splitting_leaf(&s.m), n = leaves(&s.m), last = n;
    check(pprf_punct(s.key, leaf) == PPRF_OK && !is_packed(s.key), "no pair slots");
    model_puncture(&s.m, leaf, leaf);
    while (s.m.n == 0 ||
           pprf_node_count(s.key) > least(DEPTH)) /* one node at a time from the end */
      if (pprf_punct(s.key, --last) == PPRF_OK)
        model_puncture(&s.m, last, last);
    refused = at;
    while (pprf_node_count(s.key) >= least(DEPTH))
      if (pprf_punct(s.key, --last) == PPRF_OK)
        model_puncture(&s.m, last, last);
    done = refused > 0;
    refused = 0;
    s.packed = is_packed(s.key); /* packed despite the refusal: shrinking a page may fail */
    check(s.packed || (!done && store_of(s.key)->least == least(DEPTH) / 2), "least");
    kept += !s.packed;
    check_whole(&s);
    while (pprf_node_count(s.key) > 0)
      if (pprf_punct(s.key, --last) == PPRF_OK)
        model_puncture(&s.m, last, last);
    s.packed = is_packed(s.key);
    check(s.packed, "pair slots without a node");
    check_whole(&s);
    free_subject(&s);
  }
  check(kept >= 2, "%u changes were refused", kept);
  end_test("changes: without_memory_the_store_stays_and_the_next_change_is_later");
}

/* A file of a key with `nodes` nodes of height 0; the caller frees it. */
static uint8_t *dense_file(unsigned depth, uint64_t nodes, size_t *len)
{
  pprf_key *key = NULL;
  uint64_t n = UINT64_C(1) << depth;
  check(setup_slots(&key, depth, root_bytes) == PPRF_OK, "setup");
  if (2 * nodes < n)
    check(pprf_punct_range(key, 2 * nodes, n - 1) == PPRF_OK, "range");
  for (uint64_t i = 0; i < nodes; i++)
    check(pprf_punct(key, 2 * i) == PPRF_OK, "punct");
  check(pprf_node_count(key) == nodes && pprf_export(key, NULL, len) == PPRF_OK, "nodes");
  uint8_t *file = must(malloc(*len));
  check(pprf_export(key, file, len) == PPRF_OK, "export");
  pprf_free(key);
  return file;
}

/* Whether a key is packed and equals that of a file. */
static int is_packed_of(const pprf_key *key, const uint8_t *file, size_t len)
{
  size_t got = len;
  uint8_t *out = must(malloc(len));
  check(pprf_export(key, out, &got) == PPRF_OK && got == len && memcmp(out, file, len) == 0,
        "another key");
  free(out);
  return is_packed(key);
}

/* Refuse each memory request in turn while a file of many nodes is imported: the key gets the
 * store for which there is memory, and changes to slots later if they could not be allocated
 * now. */
static void no_memory_to_read(void)
{
  enum { DEPTH = 11 };
  unsigned packed = 0;
  for (unsigned quarters = 2; quarters <= 4; quarters++) { /* of the most nodes possible */
    size_t len = 0;
    uint8_t *file = dense_file(DEPTH, quarters * most(DEPTH), &len);
    for (unsigned at = 1, done = 0; !done && !failed; at++) {
      pprf_key *key = NULL;
      refused = at;
      int err = pprf_import(&key, file, len);
      done = refused > 0;
      refused = 0;
      check(err == PPRF_OK, "import: %d", err);
      uint64_t later = quarters * most(DEPTH) <= 2 * most(DEPTH) ? 2 : 4;
      if (is_packed_of(must(key), file, len)) {
        packed++;
        check(!done && store_of(key)->most == later * most(DEPTH), "another bound");
      }
      pprf_free(key);
    }
    free(file);
  }
  check(packed >= 6, "%u packed keys", packed);
  end_test("changes: a_file_of_many_nodes_is_read_into_the_store_for_which_there_is_memory");
}

/* Pair slots with locked seeds, and an arena whose first region cannot be locked. */
static void locked_slots(void)
{
  enum { DEPTH = 12 };
  pprf_key *key = NULL;
  uint8_t *file = must(malloc(65536));
  size_t len = 65536;
  check(setup_slots(&key, DEPTH, root_bytes) == PPRF_OK, "setup");
  for (uint64_t leaf = 0; leaf >> DEPTH == 0; leaf += 2)
    (void)pprf_punct(key, leaf);
  check(pprf_export(key, file, &len) == PPRF_OK, "export");
  pprf_free(key);
  check(pprf_import(&key, file, len) == PPRF_OK && !is_packed(must(key)), "import");
  free(file);
  mlock2_says = REFUSED;
  check(pprf_punct_range(key, 9, (1u << DEPTH) - 1) == PPRF_OK, "range");
  check(!is_packed(key) && pprf_memory_locked(key) == 1 && store_of(key)->least == least(DEPTH) / 2,
        "a packed store that is not locked");
  pprf_free(key);
}

/* A packed store that is locked, and pair slots that cannot be locked at first. */
static void locked_arena(void)
{
  enum { DEPTH = 12 };
  for (int granted = 0; granted < 2; granted++) {
    mlock2_says = GRANTED;
    struct subject s = on_the_edge(DEPTH);
    check(pprf_memory_locked(s.key) == 1, "the arena is not locked");
    mlock2_says = granted ? GRANTED : REFUSED;
    (void)pprf_punct(s.key, splitting_leaf(&s.m));
    check(is_packed(s.key) == !granted && pprf_memory_locked(s.key) == 1 &&
            (granted || store_of(s.key)->most == 2 * most(DEPTH)),
          "granted %d: packed %d", granted, is_packed(s.key));
    free_subject(&s);
  }
}

/* The same while a file of many nodes is imported: no seed was ever in unlocked memory, and
 * slots that can be locked are used later. */
static void read_locked(void)
{
  enum { DEPTH = 12 };
  struct subject other = new_subject(DEPTH); /* creates the arena's region */
  size_t len = 0;
  uint8_t *file = dense_file(DEPTH, 2 * most(DEPTH), &len);
  pprf_key *key = NULL;
  mlock2_says = REFUSED;
  check(pprf_import(&key, file, len) == PPRF_OK && is_packed_of(must(key), file, len) &&
          pprf_memory_locked(key) == 1 && store_of(key)->most == 2 * most(DEPTH),
        "not packed, or not locked");
  mlock2_says = GRANTED;
  check(pprf_punct_range(key, 0, 0) == PPRF_ERR_PUNCTURED && pprf_punct(key, 1) == PPRF_OK &&
          is_packed(key),
        "changed with fewer nodes");
  pprf_free(key);
  check(pprf_import(&key, file, len) == PPRF_OK && !is_packed_of(must(key), file, len) &&
          pprf_memory_locked(key) == 1,
        "no pair slots, or not locked");
  pprf_free(key);
  free(file);
  free_subject(&other);
}

/* Import if neither store can be locked. */
static void read_unlocked(void)
{
  enum { DEPTH = 12 };
  size_t len = 0;
  mlock2_says = REFUSED;
  uint8_t *file = dense_file(DEPTH, 2 * most(DEPTH), &len);
  for (unsigned at = 0; at < 10 && !failed; at++) { /* 0: all memory is granted */
    pprf_key *key = NULL;
    refused = at;
    check(pprf_import(&key, file, len) == PPRF_OK, "import, %u", at);
    check(is_packed_of(must(key), file, len) == (refused == 0 && at >= 1 && at <= 3) &&
            pprf_memory_locked(key) == 0,
          "request %u refused: packed %d", at, is_packed(key));
    refused = 0;
    pprf_free(key);
  }
  free(file);
}

/* pprf_prefault never gives up a lock; it makes slots for a packed key if they can be locked, or
 * if the key was not locked. */
static void prefaulted_locked(void)
{
  enum { DEPTH = 12 };
  struct subject s = on_the_edge(DEPTH);
  mlock2_says = REFUSED;
  check(pprf_prefault(s.key) == PPRF_ERR_NOMEM && is_packed(s.key) &&
          pprf_memory_locked(s.key) == 1 && store_of(s.key)->most == most(DEPTH),
        "a lock was given up");
  check_whole(&s);
  mlock2_says = GRANTED;
  check(pprf_prefault(s.key) == PPRF_OK && !is_packed(s.key) && pprf_memory_locked(s.key) == 1,
        "no pair slots");
  s.packed = 0;
  check_whole(&s);
  free_subject(&s);
}

/* The same if nothing can be locked, for either store. */
static void prefaulted_unlocked(void)
{
  enum { DEPTH = 12 };
  pprf_key *slots = NULL;
  mlock2_says = REFUSED;
  struct subject s = on_the_edge(DEPTH);
  check(setup_slots(&slots, DEPTH, root_bytes) == PPRF_OK && pprf_prefault(slots) == PPRF_OK,
        "slots");
  check(pprf_prefault(s.key) == PPRF_OK && !is_packed(s.key), "no pair slots");
  s.packed = 0;
  check_whole(&s);
  pprf_free(slots);
  free_subject(&s);
}

/* A key that is not locked anyway changes in both directions. */
static void nothing_locked(void)
{
  enum { DEPTH = 12 };
  mlock2_says = REFUSED;
  struct subject s = on_the_edge(DEPTH);
  check(pprf_memory_locked(s.key) == 0, "the arena is locked");
  (void)pprf_punct(s.key, splitting_leaf(&s.m));
  check(!is_packed(s.key) && pprf_memory_locked(s.key) == 0, "no pair slots, or locked ones");
  check(pprf_punct_range(s.key, 9, leaves(&s.m) - 1) == PPRF_OK, "range");
  check(is_packed(s.key) && pprf_memory_locked(s.key) == 0, "not packed, or locked");
  free_subject(&s);
}

/* Locked seeds stay locked.  Each case runs in a child, whose arena is empty. */
static void locks(void)
{
  static void (*const cases[])(void) = {locked_slots,  locked_arena,      read_locked,
                                        read_unlocked, prefaulted_locked, prefaulted_unlocked,
                                        nothing_locked};
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      uint64_t number;
      failed = pprf_process_claim(&number) != PPRF_OK;
      mlock2_says = GRANTED;
      cases[i]();
      check_held(2); /* the child's arena, and its note of a region */
      fflush(stdout);
      _exit(failed != 0);
    }
    int ok = child > 0 && waitpid(child, &status, 0) == child && status == 0;
    check(ok, "child %u: %d", i, status);
  }
  end_test("changes: seeds_that_are_kept_out_of_swap_stay_so");
}

/* A store requested by an option or by pprf_prefault is kept. */
static void asked_for(void)
{
  enum { DEPTH = 11 };
  for (unsigned kind = 0; kind < 4 && !failed; kind++) {
    struct subject s = {.m = {.depth = DEPTH}};
    const struct pprf_options o = {.size = sizeof o,
                                   .seed = root_bytes,
                                   .depth = DEPTH,
                                   .store = kind == 0   ? PPRF_STORE_SLOTS
                                            : kind == 1 ? PPRF_STORE_PACKED
                                                        : PPRF_STORE_DEFAULT};
    check(pprf_setup_with(&s.key, &o) == PPRF_OK, "setup");
    s.packed = kind != 0;
    if (kind == 2)
      check(pprf_prefault(s.key) == PPRF_OK, "prefault");
    for (uint64_t i = 0, n = leaves(&s.m), leaf = 5; i < n; i++, leaf = (leaf + 1023) % n) {
      check(pprf_punct(s.key, leaf) == PPRF_OK, "punct");
      model_puncture(&s.m, leaf, leaf);
      if (kind == 3 && s.packed && !is_packed(s.key)) /* after its first change */
        check(pprf_prefault(s.key) == PPRF_OK, "prefault");
      s.packed = kind == 1 || (kind == 3 && is_packed(s.key));
      check(is_packed(s.key) == s.packed, "kind %u, after %llu", kind, (unsigned long long)i);
    }
    check(s.packed == (kind == 1), "kind %u: another store at the end", kind);
    check_whole(&s);
    free_subject(&s);
  }
  end_test("changes: a_store_that_was_asked_for_stays");
}

/* Keys with 32-byte seeds, which other code handles. */
static void wide(void)
{
  enum { DEPTH = 12 };
  static uint8_t out[2][PPRF_VALUE_BYTES_MAX];
  static const uint8_t seed[32] = {1, 2, 3};
  pprf_key *key[2] = {NULL};
  size_t bytes = 0, greatest = 0;
  for (int i = 0; i < 2; i++) {
    const struct pprf_options o = {.size = sizeof o,
                                   .seed = seed,
                                   .depth = DEPTH,
                                   .suite = PPRF_MLS_SHA256,
                                   .store = i == 0 ? PPRF_STORE_DEFAULT : PPRF_STORE_SLOTS};
    check(pprf_setup_with(&key[i], &o) == PPRF_OK, "setup");
  }
  for (uint64_t i = 0, leaf = 5; i >> DEPTH == 0; i++, leaf = (leaf + 1023) % (1 << DEPTH)) {
    check(pprf_eval_punct(must(key[0]), leaf, out[0]) == PPRF_OK &&
            pprf_eval_punct(must(key[1]), leaf, out[1]) == PPRF_OK &&
            memcmp(out[0], out[1], sizeof out[0]) == 0 &&
            pprf_node_count(key[0]) == pprf_node_count(key[1]),
          "leaf %llu", (unsigned long long)leaf);
    bytes = pprf_memory_bytes(key[0]);
    greatest = bytes > greatest ? bytes : greatest;
  }
  check(greatest > 65536 && bytes < 1000, "%zu B at most, %zu at the end", greatest, bytes);
  pprf_free(key[0]);
  pprf_free(key[1]);
  end_test("changes: keys_of_32_byte_seeds_change_too");
}

/* Let mlock2 answer for slots as it did for the arena's regions that earlier tests left, so that
 * no change is refused, whatever the limit on locked memory is. */
static void lock_alike(void)
{
  pprf_key *key = NULL;
  mlock2_says = GRANTED;
  check(pprf_setup(&key, 4, root_bytes) == PPRF_OK, "setup");
  if (pprf_memory_locked(key) == 0)
    mlock2_says = REFUSED;
  pprf_free(key);
}

void test_changes(void)
{
  lock_alike();
  whole_trees();
  deep_trees();
  there_and_back();
  delegated();
  imported();
  no_memory();
  no_memory_to_read();
  locks();
  asked_for();
  wide();
  mlock2_says = AS_IT_IS;
}

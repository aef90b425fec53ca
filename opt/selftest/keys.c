/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of words, bitmaps, keys and hostile files. */
#include <sys/mman.h>

#include "selftest.h"

/* ---- tests: words and bitmaps ---- */

static unsigned naive_gap_height(uint64_t w, unsigned i)
{
  unsigned best = 6;
  for (unsigned j = 0; j < 64; j++)
    if (w >> j & 1)
      for (unsigned h = 0; h < best; h++)
        if (i >> (h + 1) == j >> (h + 1))
          best = h;
  return best;
}

void test_words(void)
{
  for (unsigned i = 0; i < 64; i++)
    for (unsigned j = i; j < 64; j++) {
      uint64_t bits = 0;
      for (unsigned k = i; k <= j; k++)
        bits |= UINT64_C(1) << k;
      check(opt_bits(i, j) == bits, "opt_bits(%u, %u)", i, j);
      check(opt_msb(bits) == j && opt_lsb(bits) == i, "opt_msb, opt_lsb of bits %u .. %u", i, j);
      check(opt_below(i) == (i == 0 ? 0 : opt_bits(0, i - 1)), "opt_below(%u)", i);
      check(opt_upto(j) == opt_bits(0, j), "opt_upto(%u)", j);
      check(opt_clear(bits) == (opt_below(i) | (j == 63 ? 0 : opt_bits(j + 1, 63))), "opt_clear");
      check(opt_has(bits, i) && opt_has(bits, j) && opt_bit(i) == opt_bits(i, i), "opt_has");
    }
  end_test("masks_and_bit_scans_agree_with_loops");
  static uint64_t small[8192];
  for (unsigned depth = 1; depth <= PPRF_SLOTS_DEPTH_MAX; depth++) {
    struct opt_slots s;
    uintptr_t end = (uintptr_t)small;
    check(opt_slots_open(&s, depth, small, 0) == PPRF_OK, "open");
    for (unsigned k = 0; k < s.punctured.levels; k++)
      if (opt_level_is_small(depth, k))
        end = (k == 0 ? (uintptr_t)s.punctured.leaves : (uintptr_t)s.punctured.summary[k]) +
              opt_level_bytes(depth, k);
    check(end - (uintptr_t)small == opt_slots_small_bytes(depth), "depth %u: %zu bytes", depth,
          opt_slots_small_bytes(depth));
    check(opt_slots_small_bytes(depth) <= sizeof small, "depth %u: too many", depth);
    (void)munmap(s.slot, s.mapped);
  }
  end_test("a_small_block_has_room_for_its_levels_and_no_more");
  for (unsigned i = 0; i < 64; i++) /* all pairs: the nearest set bit on each side decides */
    for (unsigned j = 0; j < 64; j++)
      for (unsigned k = 0; k < 64; k++)
        if (i != j && i != k) {
          uint64_t w = opt_bit(j) | opt_bit(k);
          check(opt_gap_height(w, i) == naive_gap_height(w, i), "w=%llx i=%u",
                (unsigned long long)w, i);
        }
  for (unsigned n = 0; n < 100000; n++) {
    unsigned i = (unsigned)rnd_below(64);
    uint64_t w = rnd() & (n & 1 ? rnd() : rnd() & rnd() & rnd()) & ~opt_bit(i);
    if (w != 0)
      check(opt_gap_height(w, i) == naive_gap_height(w, i), "w=%llx i=%u", (unsigned long long)w,
            i);
  }
  end_test("gap_height_is_least_msb_of_xor");
  for (unsigned d = 1; d <= 32; d++) {
    unsigned levels = opt_bitmap_levels(d);
    check(levels <= OPT_LEVELS_MAX && opt_bitmap_words(d, levels - 1) == 1 &&
            (levels == 1 || opt_bitmap_words(d, levels - 2) > 1),
          "depth %u: %u levels", d, levels);
    for (unsigned k = 0; k < levels; k++)
      check(opt_bitmap_words(d, k) ==
              ((UINT64_C(1) << d) + (UINT64_C(1) << 6 * (k + 1)) - 1) >> 6 * (k + 1),
            "words of level %u, depth %u", k, d);
  }
  end_test("levels_and_words_cover_the_leaves");
}

/* All ranges on a fresh bitmap, then a second range on top; every leaf is queried. */
void test_all_ranges(unsigned depth)
{
  char name[80];
  struct model m = {.depth = depth};
  uint64_t words[64];
  for (uint64_t first = 0; first < leaves(&m); first++)
    for (uint64_t last = first; last < leaves(&m) && !failed; last++) {
      struct opt_bitmap b = {.depth = depth, .levels = opt_bitmap_levels(depth), .leaves = words};
      memset(words, 0, sizeof words);
      b.summary[1] = (struct opt_summary *)(void *)(words + 32);
      m.n = 0;
      opt_bitmap_puncture_range(&b, first, last);
      model_puncture(&m, first, last);
      for (unsigned twice = 0; twice < 2 && !failed; twice++) {
        snprintf(context, sizeof context, "depth %u range %llu..%llu pass %u", depth,
                 (unsigned long long)first, (unsigned long long)last, twice);
        check_bitmap(&b, &m);
        for (uint64_t x = 0; x < leaves(&m); x++)
          check_leaf(&b, &m, x);
        uint64_t from = rnd_below(leaves(&m)), to = from + rnd_below(leaves(&m) - from);
        opt_bitmap_puncture_range(&b, from, to);
        model_puncture(&m, from, to);
      }
    }
  free(m.punctured);
  snprintf(name, sizeof name, "all_ranges_of_depth_%u", depth);
  end_test(name);
}

/* ---- tests: keys ---- */

void test_all_sets(unsigned depth)
{
  char name[80];
  struct model m = {0};
  for (uint64_t set = 0; set < UINT64_C(1) << (1u << depth) && !failed; set++) {
    pprf_key *key = new_key(&m, depth);
    snprintf(context, sizeof context, "depth %u set %llx", depth, (unsigned long long)set);
    for (uint64_t x = 0; x < leaves(&m); x++)
      if (set >> x & 1)
        puncture(key, &m, x, x);
    check_key(key, &m, 1);
    pprf_free(key);
  }
  free(m.punctured);
  snprintf(name, sizeof name, "all_sets_of_depth_%u", depth);
  end_test(name);
}

void all_orders(uint64_t *order, unsigned fixed, unsigned n)
{
  if (fixed < n) {
    for (unsigned i = fixed; i < n; i++) {
      uint64_t t = order[fixed];
      order[fixed] = order[i];
      order[i] = t;
      all_orders(order, fixed + 1, n);
      order[i] = order[fixed];
      order[fixed] = t;
    }
    return;
  }
  struct model m = {0};
  pprf_key *key = new_key(&m, 3);
  uint64_t before = expansions;
  for (unsigned i = 0; i < n && !failed; i++) {
    snprintf(context, sizeof context, "order %llu%llu%llu%llu%llu%llu%llu%llu step %u",
             (unsigned long long)order[0], (unsigned long long)order[1],
             (unsigned long long)order[2], (unsigned long long)order[3],
             (unsigned long long)order[4], (unsigned long long)order[5],
             (unsigned long long)order[6], (unsigned long long)order[7], i);
    check(pprf_punct(key, order[i]) == PPRF_OK, "punct %llu", (unsigned long long)order[i]);
    model_puncture(&m, order[i], order[i]);
    check_nodes(store_of(key), &m, 1);
  }
  check(expansions - before == 7, "%llu PRG calls for all leaves, not 7",
        (unsigned long long)(expansions - before));
  pprf_free(key);
  free(m.punctured);
}

/* A leaf that is likely to be interesting: near a border of the model or of a block. */
uint64_t some_leaf(const struct model *m)
{
  uint64_t x = rnd_below(leaves(m));
  unsigned kind = (unsigned)rnd_below(4);
  if (kind == 0 && m->n > 0) {
    const struct interval *v = &m->punctured[rnd_below(m->n)];
    x = (rnd() & 1 ? v->first - rnd_below(3) : v->last + rnd_below(3));
  } else if (kind == 1) {
    unsigned k = 6 * (unsigned)rnd_below((m->depth + 5) / 6);
    x = ((x >> k) << k) + rnd_below(5) - 2;
  }
  return x & (leaves(m) - 1);
}

void test_random_operations(unsigned depth, unsigned operations)
{
  char name[80];
  struct model m = {0};
  pprf_key *key = new_key(&m, depth);
  for (unsigned op = 0; op < operations && !failed; op++) {
    uint64_t first = some_leaf(&m), last = first;
    if (rnd_below(3) == 0) {
      if (rnd() & 1)
        last = some_leaf(&m);
      else
        last = first + (rnd_below(leaves(&m)) >> rnd_below(depth));
      if (last >= leaves(&m))
        last = leaves(&m) - 1;
      if (last < first) {
        uint64_t t = first;
        first = last;
        last = t;
      }
      if (last - first > leaves(&m) / 8 && rnd_below(8) != 0)
        last = first + (last - first) / 64; /* keep some leaves live */
    }
    snprintf(context, sizeof context, "depth %u op %u punct %llu..%llu", depth, op,
             (unsigned long long)first, (unsigned long long)last);
    puncture(key, &m, first, last);
    if (!failed)
      check_key(key, &m, depth <= 16 || op % 64 == 0);
    if (op % 64 == 63 && !failed)
      check_round_trip(key, &m);
    if (model_all_punctured(&m, 0, leaves(&m) - 1)) {
      check_round_trip(key, &m);
      pprf_free(key);
      key = new_key(&m, depth);
    }
  }
  pprf_free(key);
  free(m.punctured);
  snprintf(name, sizeof name, "random_operations_at_depth_%u", depth);
  end_test(name);
}

static int same_words(const struct opt_bitmap *a, const struct opt_bitmap *b)
{
  int same = memcmp(a->leaves, b->leaves, 8 * opt_bitmap_words(a->depth, 0)) == 0;
  for (unsigned k = 1; k < a->levels; k++)
    same &= memcmp(a->summary[k], b->summary[k],
                   sizeof *a->summary[k] * opt_bitmap_words(a->depth, k)) == 0;
  return same;
}

/* All of a packed store but where its blocks are and the seeds in them. */
static int same_shape(const struct opt_packed *a, const struct opt_packed *b)
{
  int same = a->nodes == b->nodes && a->page_max == b->page_max && a->many == b->many &&
             a->pages == b->pages && a->room == b->room && a->near == b->near;
  for (size_t i = 0; same && i < a->pages; i++) {
    const struct opt_page *p = a->page[i], *q = b->page[i];
    same = a->first[i] == b->first[i] && p->bytes == q->bytes && p->tiles == q->tiles &&
           p->seeds == q->seeds && memcmp(p->tile, q->tile, p->tiles) == 0;
  }
  return same;
}

/* Two keys with different seeds and the same calls have the same results, and after each call the
 * same bitmap words or the same pages.  A thief who reads them learns which calls were made, and
 * nothing about seeds (docs/security.md). */
static void compare_keys(unsigned depth, int packed)
{
  struct model m = {0};
  pprf_key *key[2] = {new_key(&m, depth), NULL};
  uint8_t seed[PPRF_SEED_BYTES], out[PPRF_SEED_BYTES];
  for (size_t i = 0; i < sizeof seed; i++)
    seed[i] = (uint8_t)rnd();
  if (packed) {
    pprf_free(key[0]);
    check(pprf_setup(&key[0], depth, root_bytes) == PPRF_OK, "setup");
  }
  check((packed ? pprf_setup : setup_slots)(&key[1], depth, seed) == PPRF_OK, "setup");
  for (unsigned op = 0; op < 60 && !failed; op++) {
    uint64_t first = some_leaf(&m), last = first + rnd_below(leaves(&m) - first) / 8;
    uint64_t kind = rnd_below(4), nth = rnd_below(40);
    int got[2] = {PPRF_OK, PPRF_OK};
    for (int i = 0; i < 2; i++) {
      fail_at = nth; /* in some calls a PRG call fails */
      got[i] = kind == 0   ? pprf_punct(key[i], first)
               : kind == 1 ? pprf_eval_punct(key[i], first, out)
               : kind == 2 ? pprf_eval(key[i], first, out)
                           : pprf_punct_range(key[i], first, last);
      fail_at = 0;
    }
    if (got[0] == PPRF_OK && kind != 2)
      model_puncture(&m, first, kind == 3 ? last : first);
    snprintf(context, sizeof context, "depth %u op %u kind %u leaves %llu..%llu", depth, op,
             (unsigned)kind, (unsigned long long)first, (unsigned long long)last);
    check(got[0] == got[1], "results %d and %d", got[0], got[1]);
    const struct opt_store *a = store_of(key[0]), *b = store_of(key[1]);
    check(packed ? same_shape(a->packed, b->packed)
                 : same_words(&a->slots.punctured, &b->slots.punctured),
          "the keys differ");
  }
  pprf_free(key[0]);
  pprf_free(key[1]);
  free(m.punctured);
}

void test_marks(void)
{
  for (unsigned round = 0; round < 200 && !failed; round++)
    compare_keys(1 + round % 16, 0);
  end_test("bitmaps_do_not_depend_on_seeds");
  for (unsigned round = 0; round < 200 && !failed; round++)
    compare_keys(1 + round % 16, 1);
  end_test("packed_pages_depend_on_seeds_in_the_places_of_seeds_alone");
}

/* A failing PRG leaves slots, bitmaps and count unchanged. */
void test_failing_prg(void)
{
  struct model m = {0};
  for (unsigned round = 0; round < 300 && !failed; round++) {
    unsigned depth = 1 + (unsigned)rnd_below(12);
    pprf_key *key = new_key(&m, depth);
    for (uint64_t n = rnd_below(6); n > 0; n--) {
      uint64_t first = some_leaf(&m), last = first + rnd_below(leaves(&m) - first) / 8;
      puncture(key, &m, first, last);
    }
    uint64_t first = some_leaf(&m), last = first + rnd_below(leaves(&m) - first);
    uint8_t out[PPRF_SEED_BYTES], zero[PPRF_SEED_BYTES] = {0};
    for (unsigned op = 0; op < 4; op++)
      for (uint64_t nth = 1;; nth++) {
        int err = PPRF_OK;
        snprintf(context, sizeof context, "depth %u op %u leaves %llu..%llu fails at call %llu",
                 depth, op, (unsigned long long)first, (unsigned long long)last,
                 (unsigned long long)nth);
        memset(out, 1, sizeof out);
        fail_at = nth;
        if (op == 0)
          err = pprf_eval(key, first, out);
        else if (op == 1)
          err = pprf_punct(key, first);
        else if (op == 2)
          err = pprf_eval_punct(key, first, out);
        else
          err = pprf_punct_range(key, first, last);
        int reached = fail_at == 0;
        fail_at = 0;
        if (!reached) {
          if (err == PPRF_OK && op > 0)
            model_puncture(&m, first, op == 3 ? last : first);
          break;
        }
        check(err == PPRF_ERR_CRYPTO, "result %d", err);
        check(op % 2 == 1 || memcmp(out, zero, sizeof out) == 0, "output not zeroed");
        check_key(key, &m, 1);
        if (failed)
          break;
      }
    check_key(key, &m, 1);
    pprf_free(key);
  }
  free(m.punctured);
  end_test("a_failing_prg_leaves_the_key_as_it_was");
}

/* ---- tests: hostile key files ---- */

/* A file of depth 10 with these in-order ids and a correct digest. */
static size_t forge(uint8_t *file, const uint64_t *ids, size_t n)
{
  const uint8_t header[16] = {'P', 'P', 'R', 'F', 'K', 'E', 'Y', 1, 1, 10, 0, 0, (uint8_t)n};
  memcpy(file, header, sizeof header);
  for (size_t i = 0; i < n; i++) {
    uint8_t *record = file + 16 + 18 * i;
    memset(record, 7, 18);
    record[0] = (uint8_t)ids[i];
    record[1] = (uint8_t)(ids[i] >> 8);
  }
  check(prg_digest(file, 16 + 18 * n, file + 16 + 18 * n) == PPRF_OK, "digest");
  return 48 + 18 * n;
}

static int import_result(const uint8_t *file, size_t len)
{
  pprf_key *key = NULL;
  uint8_t *exact = must(malloc(len + 1)); /* exact size: sanitizers detect a read past the end */
  memcpy(exact, file, len);
  int err = import_slots(&key, exact, len);
  check((err == PPRF_OK) == (key != NULL), "key and result disagree");
  pprf_free(key);
  free(exact);
  return err;
}

/* Another thread changes a byte of the records after the digest was checked: the key is refused or
 * whole, and nothing stays of it. */
static void changed_files(void)
{
  static const unsigned stores[] = {PPRF_STORE_DEFAULT, PPRF_STORE_SLOTS, PPRF_STORE_PACKED};
  struct model m = {0};
  uint8_t file[2048], copy[2048];
  unsigned refusals = 0;
  pprf_key *key = new_key(&m, 12);
  for (uint64_t leaf = 0; leaf < 4096; leaf += 600)
    (void)pprf_punct(key, leaf);
  size_t len = sizeof file;
  check(pprf_export(key, file, &len) == PPRF_OK, "export");
  for (size_t at = 16; at < len - 32 && !failed; at++)
    for (unsigned k = 0; k < sizeof stores / sizeof *stores; k++) {
      const struct pprf_import_options o = {
        .size = sizeof o, .store = stores[k], .suites = 1u << PPRF_SHA3_256};
      pprf_key *other = NULL;
      memcpy(copy, file, len);
      changed_byte = copy + at;
      int err = pprf_import_with(&other, copy, len, &o);
      changed_byte = NULL;
      check((err == PPRF_OK) == (other != NULL) && (err == PPRF_OK || err == PPRF_ERR_FORMAT),
            "byte %zu: result %d", at, err);
      refusals += err != PPRF_OK;
      pprf_free(other);
    }
  check(refusals >= 3 * 60, "%u refusals", refusals);
  pprf_free(key);
  free(m.punctured);
  end_test("files_that_change_while_they_are_read_leave_nothing");
}

void test_hostile_files(void)
{
  changed_files();
  static const struct {
    const char *what;
    uint64_t ids[3];
    size_t n;
    int want;
  } files[] = {
    {"the root", {1024}, 1, PPRF_OK},
    {"nothing live", {0}, 0, PPRF_OK},
    {"one leaf, the first", {1}, 1, PPRF_OK},
    {"one leaf, the last", {2047}, 1, PPRF_OK},
    {"two nodes that touch but are no siblings", {2 * 1 + 1, 2 * 2 + 2}, 2, PPRF_OK},
    {"cousins of one height that touch", {2 * 2 + 2, 2 * 4 + 2}, 2, PPRF_OK},
    {"id 0", {0}, 1, PPRF_ERR_FORMAT},
    {"an id outside the tree", {2048}, 1, PPRF_ERR_FORMAT},
    {"siblings", {2 * 4 + 1, 2 * 5 + 1}, 2, PPRF_ERR_FORMAT},
    {"siblings of height 9", {512, 1536}, 2, PPRF_ERR_FORMAT},
    {"siblings after another node", {1, 2 * 2 + 1, 2 * 3 + 1}, 3, PPRF_ERR_FORMAT},
    {"a node twice", {5, 5}, 2, PPRF_ERR_FORMAT},
    {"a node inside the one before", {512, 2 * 511 + 1}, 2, PPRF_ERR_FORMAT},
    {"a node inside the one after", {1, 512}, 2, PPRF_ERR_FORMAT},
    {"wrong order", {2 * 8 + 1, 2 * 4 + 1}, 2, PPRF_ERR_FORMAT},
  };
  uint8_t file[48 + 3 * 18 + 1];
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    size_t len = forge(file, files[i].ids, files[i].n);
    int err = import_result(file, len);
    check(err == files[i].want, "%s: result %d", files[i].what, err);
  }
  for (unsigned at = 0; at < 16; at++)
    for (unsigned bit = 0; bit < 8; bit++) { /* correct digest, wrong header */
      size_t len = forge(file, (const uint64_t[]){3, 6}, 2);
      file[at] ^= (uint8_t)(1u << bit);
      check(prg_digest(file, len - 32, file + len - 32) == PPRF_OK, "digest");
      int err = import_result(file, len); /* depths 11 and 14 have two-byte ids as well */
      int other_depth = at == 9 && (file[9] == 11 || file[9] == 14 || file[9] == 8);
      check(err == (other_depth ? PPRF_OK : PPRF_ERR_FORMAT), "header bit %u.%u: result %d", at,
            bit, err);
    }
  size_t len = forge(file, (const uint64_t[]){3, 6}, 2);
  for (size_t at = 0; at < len; at++)
    for (unsigned bit = 0; bit < 8; bit++) {
      file[at] ^= (uint8_t)(1u << bit);
      check(import_result(file, len) == PPRF_ERR_FORMAT, "bit %zu.%u", at, bit);
      file[at] ^= (uint8_t)(1u << bit);
    }
  for (size_t shorter = 0; shorter < len; shorter++)
    check(import_result(file, shorter) == PPRF_ERR_FORMAT, "%zu bytes of %zu", shorter, len);
  check(import_result(file, len + 1) == PPRF_ERR_FORMAT, "one byte more");
  check(import_result(file, len) == PPRF_OK, "the file itself");
  end_test("import_takes_canonical_files_only");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests of opt against a naive model, TAP on standard output.
 * Usage: selftest [-x] [-t GROUP,GROUP...] [SEED]
 *   -x    stop after the first test that fails
 *   -t    only these groups (the table before main)
 *   SEED  of the random tests (also from the environment; without one it is drawn and printed)
 *
 * The model is the sorted list of maximal intervals of punctured leaves.  The key's nodes are then
 * the live gaps cut into aligned blocks, which needs no bitmap and no search.  After each
 * operation everything opt knows is compared with that: the result, the nodes in order, the
 * bitmaps (any, full, what lies below them), heights and successors around every border, and every
 * slot: zero, or the seed of the live node that starts in its pair. */
#include <unistd.h>

#include "selftest.h"

/* ---- tests of the tests: damage that the comparison must see ---- */

static void test_damage(void)
{
  struct model m = {0};
  static const char *const damage[] = {"a stale seed", "a lost seed", "a punctured bit",
                                       "an any bit",   "a full bit",  "the count"};
  for (unsigned i = 0; i < sizeof damage / sizeof *damage; i++) {
    pprf_key *key = new_key(&m, 14);
    puncture(key, &m, 77, 77);
    puncture(key, &m, 4096, 4096 + 200);
    check_key(key, &m, 1);
    if (failed)
      break;
    struct opt_slots *s = &key->store.slots;
    if (i == 0)
      s->slot[(4096 + 100) / 2] = root_seed();
    else if (i == 1)
      s->slot[76 / 2] = (struct pprf_seed){0, 0};
    else if (i == 2)
      s->punctured.leaves[1] ^= 1;
    else if (i == 3)
      s->punctured.summary[1][0].any ^= 2;
    else if (i == 4)
      s->punctured.summary[1][1].full ^= 1;
    else
      s->nodes++;
    quiet = 1;
    check_key(key, &m, 1);
    int seen = failed > 0;
    failed = quiet = 0;
    check(seen, "%s is not seen", damage[i]);
    pprf_free(key);
  }
  free(m.punctured);
  end_test("damage_to_the_representation_is_seen");
}

/* ---- */

static void all_ranges(void)
{
  for (unsigned depth = 1; depth <= 8; depth++)
    test_all_ranges(depth);
}

static void all_sets(void)
{
  for (unsigned depth = 1; depth <= 4; depth++)
    test_all_sets(depth);
}

static void orders(void)
{
  uint64_t order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  all_orders(order, 0, 8);
  end_test("all_orders_of_depth_3");
}

static void random_operations(void)
{
  for (unsigned depth = 1; depth <= 32; depth++)
    test_random_operations(depth, depth <= 16 ? 600 : 200);
}

static void bytes(void)
{
  for (unsigned depth = 16; depth <= 18; depth++)
    test_worst_case_bytes(depth);
  for (unsigned depth = 16; depth <= 21; depth += depth == 16 ? 4 : 1)
    test_worst_case_packed(depth);
}

static const struct {
  const char *name;
  void (*run)(void);
} groups[] = {{"words", test_words},
              {"ranges", all_ranges},
              {"sets", all_sets},
              {"orders", orders},
              {"random", random_operations},
              {"batches", test_batch_errors}, /* the fastest first */
              {"batches", test_batch_residue},
              {"batches", test_batches_random},
              {"batches", test_batches_small},
              {"residue", test_stack},
              {"marks", test_marks},
              {"failing", test_failing_prg},
              {"files", test_hostile_files},
              {"depth32", test_depth_32},
              {"bytes", bytes},
              {"release", test_range_release},
              {"prefault", test_prefault},
              {"opened", test_opened},
              {"shared", test_shared},
              {"damage", test_damage},
              {"prg", test_keccak},
              {"packed", test_packed},
              {"prg", test_many},
              {"prg", test_suites},
              {"prg", test_sha256}};

/* Whether a group is in a list with commas between; NULL: all are. */
static int wanted(const char *group, const char *list)
{
  size_t len = strlen(group);
  for (const char *at = list; at != NULL && *at != 0; at += *at == ',') {
    if (strncmp(at, group, len) == 0 && (at[len] == ',' || at[len] == 0))
      return 1;
    at += strcspn(at, ",");
  }
  return list == NULL;
}

int main(int argc, char **argv)
{
  const char *only = NULL;
  int option;
  while ((option = getopt(argc, argv, "xt:")) != -1)
    if (option == 'x')
      setenv("STOP", "1", 1);
    else if (option == 't')
      only = optarg;
    else
      return 2;
  if (optind < argc)
    setenv("SEED", argv[optind], 1);
  begin_tests();
  for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
    if (wanted(groups[i].name, only))
      groups[i].run();
  return end_tests(only);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of batches that exceed the counters: batch.c compiled with 16-bit counters instead of
 * 32-bit ones, so that 2 MB suffice instead of 10 GB.  Prints TAP. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../key.h"
#include "lanes.h"
#include "../../tools/tap.h"

#define uint32_t uint16_t
#undef UINT32_MAX
#define UINT32_MAX UINT16_MAX
#define pprf_eval_batch narrow_eval_batch
#define pprf_punct_batch narrow_punct_batch
#define pprf_expand narrow_expand
#define pprf_prefault narrow_prefault
int narrow_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                      int *result);
int narrow_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int narrow_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);
int narrow_prefault(pprf_key *key);
#include "../batch.c"
#undef pprf_punct_batch

enum { DEPTH = 63, MOST = UINT16_MAX };

static pprf_key *new_key(unsigned suite)
{
  static const uint8_t seed[32] = {1, 2, 3};
  struct pprf_options options = {
    .size = sizeof options, .seed = seed, .depth = DEPTH, .suite = suite};
  pprf_key *key = NULL;
  return pprf_setup_with(&key, &options) == PPRF_OK ? key : NULL;
}

/* Number of nodes after puncturing these leaves of a new key: all of them are siblings. */
static size_t siblings(const uint64_t *leaf, size_t n)
{
  pprf_key *key = new_key(PPRF_AES_128);
  size_t count =
    key != NULL && pprf_punct_batch(key, leaf, n, NULL) == PPRF_OK ? pprf_node_count(key) : 0;
  pprf_free(key);
  return count;
}

/* Whether these leaves, with `count` siblings, are punctured; or, if there are too many, refused
 * with no change. */
static int fits_or_nothing(const uint64_t *leaf, size_t n, size_t count)
{
  pprf_key *key = new_key(PPRF_AES_128);
  int fits = n <= MOST && count <= MOST;
  int err = narrow_punct_batch(key, leaf, n, NULL);
  int good = err == (fits ? PPRF_OK : PPRF_ERR_NOMEM) && pprf_node_count(key) == (fits ? count : 1);
  if (!good)
    tap_note("%zu leaves, %zu siblings: %d, %zu nodes", n, count, err,
             (size_t)pprf_node_count(key));
  pprf_free(key);
  return good;
}

/* Scattered leaves with nearly as many siblings as can be counted, then neighbours of them, each
 * of which adds some more. */
static int siblings_are_counted_to_the_end(void)
{
  enum { NEIGHBOURS = 60 };
  static uint64_t leaf[MOST / 50 + NEIGHBOURS];
  uint64_t state = 1;
  size_t n = 1000, count;
  unsigned met[2] = {0, 0};
  for (size_t i = 0; i < n; i++)
    leaf[i] = tap_random(&state) >> 1;
  while ((count = siblings(leaf, n)) < MOST - NEIGHBOURS)
    leaf[n++] = tap_random(&state) >> 1;
  if (!fits_or_nothing(leaf, n, count))
    return 0;
  for (unsigned i = 0; i < NEIGHBOURS; i++) {
    leaf[n++] = leaf[7 * i] ^ (UINT64_C(1) << (1 + i % 4));
    count = siblings(leaf, n);
    met[count <= MOST]++;
    if (!fits_or_nothing(leaf, n, count))
      return 0;
  }
  tap_note("%u batches fit, %u have too many siblings", met[1], met[0]);
  return met[0] > 0;
}

/* All leaves below one node, so that its group alone exceeds the counter. */
static int one_group_has_too_many(void)
{
  static uint64_t leaf[2 * MOST / 50];
  uint64_t state = 2;
  size_t n = sizeof leaf / sizeof *leaf;
  for (size_t i = 0; i < n; i++)
    leaf[i] = tap_random(&state) >> 1;
  size_t count = siblings(leaf, n);
  return count > MOST + 1000 && fits_or_nothing(leaf, n, count);
}

static int too_many_leaves(void)
{
  static uint64_t leaf[MOST + 2];
  for (size_t i = 0; i < MOST + 2; i++)
    leaf[i] = i;
  return fits_or_nothing(leaf, MOST, siblings(leaf, MOST)) && fits_or_nothing(leaf, MOST + 1, 0);
}

int main(void)
{
  tap_ok(siblings_are_counted_to_the_end(),
         "a_batch_of_more_siblings_than_are_counted_changes_nothing");
  tap_ok(one_group_has_too_many(), "nor_does_one_below_one_node");
  tap_ok(too_many_leaves(), "nor_one_of_more_leaves");
  return tap_end();
}

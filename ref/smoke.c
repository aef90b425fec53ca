/* SPDX-License-Identifier: Apache-2.0 */
/* Test of ref on every set of punctured leaves of small trees, reached by single punctures in
 * both orders and by ranges, against the definition of the GGM tree. */
#include <stdlib.h>
#include <string.h>

#include "pprf.h"
#include "prg.h"
#include "../tools/tap.h"

#define DEPTH 3
#define LEAVES (1u << DEPTH)

static const uint8_t root[PPRF_SEED_BYTES] = {1, 2,  3,  4,  5,  6,  7,  8,
                                              9, 10, 11, 12, 13, 14, 15, 16};
static uint8_t expected[LEAVES][PPRF_SEED_BYTES];

#define CHECK(c) tap_check(c, "%s:%d: not %s (set 0x%x)", __FILE__, __LINE__, #c, set)

static void ggm(uint8_t out[PPRF_SEED_BYTES], uint64_t x)
{
  uint8_t pair[DIGEST_BYTES];
  memcpy(out, root, PPRF_SEED_BYTES);
  for (unsigned bit = DEPTH; bit-- > 0;) {
    if (prg_digest(out, PPRF_SEED_BYTES, pair) != 0)
      exit(2);
    memcpy(out, pair + (x >> bit & 1) * PPRF_SEED_BYTES, PPRF_SEED_BYTES);
  }
}

/* Check every leaf: its value, or punctured and a zero output. */
static void check_values(const pprf_key *key, unsigned set)
{
  static const uint8_t zero[PPRF_SEED_BYTES];
  uint8_t out[PPRF_SEED_BYTES];
  for (unsigned x = 0; x < LEAVES; x++) {
    int punctured = set >> x & 1;
    memset(out, 0xff, sizeof out);
    CHECK(pprf_eval(key, x, out) == (punctured ? PPRF_ERR_PUNCTURED : PPRF_OK));
    CHECK(memcmp(out, punctured ? zero : expected[x], sizeof out) == 0);
  }
}

static void punct_leaf(pprf_key *key, unsigned x, unsigned set)
{
  uint8_t out[PPRF_SEED_BYTES];
  CHECK(pprf_eval_punct(key, x, out) == PPRF_OK);
  CHECK(memcmp(out, expected[x], sizeof out) == 0);
  CHECK(pprf_punct(key, x) == PPRF_ERR_PUNCTURED);
}

/* Both keys export the same bytes, which import to a key with the same bytes. */
static void check_bytes(const pprf_key *key, const pprf_key *other, unsigned set)
{
  uint8_t a[1024], b[1024], c[1024];
  size_t len_a = sizeof a, len_b = sizeof b, len_c = sizeof c;
  CHECK(pprf_export(key, a, &len_a) == PPRF_OK);
  CHECK(pprf_export(other, b, &len_b) == PPRF_OK);
  CHECK(len_a == len_b && memcmp(a, b, len_a) == 0);
  pprf_key *copy;
  CHECK(pprf_import(&copy, a, len_a) == PPRF_OK);
  CHECK(pprf_export(copy, c, &len_c) == PPRF_OK);
  CHECK(len_a == len_c && memcmp(a, c, len_a) == 0);
  for (size_t k = 0; k < len_a; k++) {
    pprf_key *bad;
    a[k] ^= 1;
    CHECK(pprf_import(&bad, a, len_a) == PPRF_ERR_FORMAT && bad == NULL);
    a[k] ^= 1;
  }
  pprf_free(copy);
}

int main(void)
{
  unsigned set = 0;
  for (unsigned x = 0; x < LEAVES; x++)
    ggm(expected[x], x);
  for (set = 0; set < 1u << LEAVES; set++) {
    pprf_key *up, *down, *range;
    CHECK(pprf_setup(&up, DEPTH, root) == PPRF_OK);
    CHECK(pprf_setup(&down, DEPTH, root) == PPRF_OK);
    CHECK(pprf_setup(&range, DEPTH, root) == PPRF_OK);
    for (unsigned x = 0; x < LEAVES; x++) {
      if (set >> x & 1)
        punct_leaf(up, x, set);
      if (set >> (LEAVES - 1 - x) & 1)
        punct_leaf(down, LEAVES - 1 - x, set);
    }
    for (unsigned x = 0, y; x < LEAVES; x = y + 1) {
      for (y = x; y < LEAVES && (set >> y & 1); y++)
        ;
      if (y > x) {
        CHECK(pprf_punct_range(range, x, y - 1) == PPRF_OK);
        CHECK(pprf_punct_range(range, x, y - 1) == PPRF_ERR_PUNCTURED);
      }
    }
    check_values(up, set);
    check_bytes(up, down, set);
    check_bytes(up, range, set);
    pprf_free(up);
    pprf_free(down);
    pprf_free(range);
  }
  tap_end_test("ref_is_ggm_on_every_set_of_a_small_tree");
  return tap_end();
}

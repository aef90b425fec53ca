/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the proofs of bitmap.c assume about words: the contracts of __builtin_clzll,
 * __builtin_ctzll and opt_fork, clause by clause.  opt_fork on all its inputs; the builtins on
 * all words with 16 adjacent bits at every position, and on random words.  Prints TAP; SEED
 * repeats a run. */
#include "../slots/bitmap.h"
#include "../../tools/tap.h"

static int bit(uint64_t w, unsigned i)
{
  return (w / (UINT64_C(1) << i)) % 2 == 1;
}

/* 63 - clz(w) and ctz(w) have the same contract: a set bit with none beyond it. */
static int first_from_top(uint64_t w, unsigned i)
{
  if (i >= 64 || !bit(w, i))
    return 0;
  for (unsigned j = i + 1; j < 64; j++)
    if (bit(w, j))
      return 0;
  return 1;
}

static int first_from_bottom(uint64_t w, unsigned i)
{
  if (i >= 64 || !bit(w, i))
    return 0;
  for (unsigned j = 0; j < i; j++)
    if (bit(w, j))
      return 0;
  return 1;
}

static uint64_t random_state;

static uint64_t next_random(void)
{
  return tap_random(&random_state);
}

/* Whether scan(w) is correct for all words tried. */
static int scans(unsigned (*scan)(uint64_t), int (*right)(uint64_t, unsigned))
{
  for (unsigned at = 0; at <= 48; at++)
    for (uint64_t window = 1; window < 0x10000; window++)
      if (!right(window << at, scan(window << at)))
        return 0;
  for (unsigned n = 0; n < 1000000; n++) {
    uint64_t w = next_random();
    w = n % 4 == 0 ? w : n % 4 == 1 ? w & next_random() & next_random() : w >> n % 64;
    if (w != 0 && !right(w, scan(w)))
      return 0;
  }
  return 1;
}

static int forks(unsigned (*fork_of)(unsigned, unsigned))
{
  for (unsigned i = 0; i < 64; i++)
    for (unsigned j = 0; j < 64; j++)
      if (i != j) {
        unsigned h = fork_of(i, j), below = 1, above;
        if (h >= 6)
          return 0;
        for (unsigned k = 0; k < h; k++)
          below *= 2;
        above = 2 * below;
        if (i / below == j / below || i / above != j / above)
          return 0;
      }
  return 1;
}

static unsigned top(uint64_t w)
{
  return 63 - (unsigned)__builtin_clzll(w);
}

static unsigned bottom(uint64_t w)
{
  return (unsigned)__builtin_ctzll(w);
}

static unsigned fork_of(unsigned i, unsigned j)
{
  return opt_fork(i, j);
}

/* Planted bugs: wrong for one word in 65 536, and wrong for the two halves of a word. */
static unsigned wrong_top(uint64_t w)
{
  return w == UINT64_C(0xffff000000000000) ? 62 : top(w);
}

static unsigned wrong_bottom(uint64_t w)
{
  return w == UINT64_C(0x8000) ? 14 : bottom(w);
}

static unsigned wrong_fork(unsigned i, unsigned j)
{
  return i == 31 && j == 32 ? 4 : opt_fork(i, j);
}

int main(void)
{
  random_state = tap_seed();
  tap_note("seed %llu", (unsigned long long)random_state);
  tap_ok(forks(fork_of), "opt_fork_on_all_pairs");
  tap_ok(scans(top, first_from_top), "clz_gives_the_greatest_bit");
  tap_ok(scans(bottom, first_from_bottom), "ctz_gives_the_least_bit");
  tap_ok(!forks(wrong_fork), "a_wrong_fork_is_seen");
  tap_ok(!scans(wrong_top, first_from_top), "a_wrong_greatest_bit_is_seen");
  tap_ok(!scans(wrong_bottom, first_from_bottom), "a_wrong_least_bit_is_seen");
  return tap_end();
}

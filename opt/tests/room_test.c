/* SPDX-License-Identifier: Apache-2.0 */
/* Room in full pages of 32-byte seeds. The test includes wide.c to look into its pages. TAP on
 * standard output.
 *
 * A first puncture in the lower half of a tree of depth 63 replaces a node of height 62 and takes
 * 2014 bytes. If its page is full but for LOW_MAX bytes, and a live tile lies across the page's
 * middle, one split does not make enough room. Random sequences of operations do not get there. */
#include "../wide.c"

#include "../../tools/tap.h"

enum { DEPTH = 63, LOW_MAX = 3 }; /* bytes that such a page lacks at most */

static uint64_t state = 47;

static uint64_t below(uint64_t n)
{
  return tap_random(&state) % n;
}

static pprf_key *fresh_key(void)
{
  static const uint8_t seed[PRG_WIDE_BYTES] = {1, 2, 3};
  struct pprf_options o = {.size = sizeof o,
                           .seed = seed,
                           .depth = DEPTH,
                           .suite = PPRF_MLS_SHA256,
                           .store = PPRF_STORE_PACKED};
  pprf_key *key = NULL;
  return opt_wide_key_setup(&key, &o) == PPRF_OK ? key : NULL;
}

/* The leaves that a key lost, in their order. */
static uint64_t lost[4096];
static size_t lost_n;

static int lose(pprf_key *key, uint64_t leaf)
{
  lost[lost_n++] = leaf;
  return tap_check(pprf_punct(key, leaf) == PPRF_OK, "puncture of %llx", (unsigned long long)leaf);
}

/* Puncture leaves of the upper half until the first page, in which the lower half is one tile, has
 * so many bytes: a leaf in each of some eights, then one in their other fours, which takes 34
 * bytes, then more in these fours, a byte each. */
static int fill_first(pprf_key *key, size_t bytes)
{
  const struct opt_packed *p = key->store.packed;
  const uint64_t half = UINT64_C(1) << (DEPTH - 1), end = p->pages > 1 ? p->first[1] : 2 * half;
  const uint64_t eights = 10 + below(12), first = half + (below(end - half) >> below(62)) / 8 * 8;
  for (unsigned i = 0; i < 600 && opt_page_used(p->page[0]) < bytes; i++) {
    uint64_t leaf = first + (i < eights       ? 8 * i
                             : i < 2 * eights ? 8 * (i - eights) + 4
                                              : 4 * below(2 * eights) + 2);
    struct opt_node n;
    if (leaf < end && opt_packed_find(p, leaf, &n) &&
        opt_page_used_after(p->page[0], n.height) <= bytes && (i < 2 * eights || n.height == 1) &&
        !lose(key, leaf))
      return 0;
  }
  return opt_page_used(p->page[0]) == bytes;
}

static void check_pages(const struct opt_packed *p)
{
  tap_check(p->pages <= p->room, "%zu pages, an index of %zu", p->pages, p->room);
  for (size_t i = 0; i < p->pages; i++)
    tap_check(opt_page_used(p->page[i]) <= p->page[i]->bytes && p->page[i]->bytes <= p->page_max,
              "page %zu: %zu bytes of %u, %u at most", i, opt_page_used(p->page[i]),
              p->page[i]->bytes, p->page_max);
}

/* Whether the key is that which loses the same leaves at once. */
static int same_as_at_once(const pprf_key *key)
{
  static uint8_t a[1 << 20], b[1 << 20];
  size_t n = sizeof a, m = sizeof b;
  pprf_key *other = fresh_key();
  int same = other != NULL && pprf_punct_batch(other, lost, lost_n, NULL) == PPRF_OK &&
             pprf_export(key, a, &n) == PPRF_OK && pprf_export(other, b, &m) == PPRF_OK && n == m &&
             memcmp(a, b, n) == 0;
  pprf_free(other);
  return same;
}

/* An index with room for one page more, and no larger. */
static void trim_index(struct opt_packed *p)
{
  struct opt_index index = opt_index_new(p, 2);
  *index.first = *p->first;
  *index.page = *p->page;
  p->first = index.first;
  p->page = index.page;
  p->room = 2;
}

static unsigned twice[2]; /* pages that were split twice; where the index had room for one more */

static void try_split(size_t bytes, int trimmed)
{
  pprf_key *key = fresh_key();
  lost_n = 0;
  const struct opt_packed *p = key->store.packed;
  if (fill_first(key, bytes)) {
    if (trimmed)
      trim_index(key->store.packed);
    (void)lose(key, below(UINT64_C(1) << 62));
    check_pages(p);
    tap_check(same_as_at_once(key), "a page of %zu bytes: another key", bytes);
    twice[trimmed] += p->pages == 3;
  }
  pprf_free(key);
}

int main(void)
{
  for (unsigned i = 0; i < 40000 && (twice[0] < 3 || twice[1] < 3); i++)
    try_split(OPT_ARENA_MAX - i % (LOW_MAX + 1), i / 8 % 2);
  tap_end_test("full_pages_of_wide_seeds_have_room_for_the_largest_copath");
  tap_ok(twice[0] > 0, "control_pages_were_split_twice: %u", twice[0]);
  tap_ok(twice[1] > 0, "control_and_where_the_index_had_room_for_one_more: %u", twice[1]);
  return tap_end();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Compares tree.c with a model: all short sequences of steps on a tree of two leaves, random ones
 * on trees of up to 64.  The test controls the clock and makes allocations and punctures fail.
 * TAP.  SEED=n repeats a run. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../tools/tap.h"
#include "tree.h"

/* ---- wrapped functions ---- */

static uint64_t clock_ms;
static unsigned other_clocks;
int __real_clock_gettime(clockid_t which, struct timespec *t);
int __wrap_clock_gettime(clockid_t which, struct timespec *t);
int __wrap_clock_gettime(clockid_t which, struct timespec *t)
{
  if (which != CLOCK_BOOTTIME) {
    other_clocks++;
    return __real_clock_gettime(which, t);
  }
  *t = (struct timespec){(time_t)(clock_ms / 1000), (long)(clock_ms % 1000) * 1000000};
  return 0;
}

static int punct_fails;
static unsigned suites; /* suites of the punctured keys, one bit each */
int __real_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf)
{
  suites |= 1u << pprf_suite(key);
  return punct_fails ? PPRF_ERR_NOMEM : __real_pprf_punct(key, leaf);
}

static int malloc_fails;
void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
  return malloc_fails ? NULL : __real_malloc(n);
}

/* ---- the model ---- */

static uint64_t state;
static uint64_t below(uint64_t n)
{
  return tap_random(&state) % n;
}

enum { LEAVES_MAX = 64, LIFETIME = 1500, LEASE = 50 };
enum leaf_state { FRESH, ISSUED, LEASED, OVERDUE, PUNCTURED };
enum { OWNERS = 2, TIMES_MAX = 512 };

struct model {
  enum leaf_state leaf[LEAVES_MAX];
  unsigned time[LEAVES_MAX]; /* when it was issued, for leaves that can be handed back; else 0 */
  unsigned owner[TIMES_MAX], times;
  int gone[LEAVES_MAX];                          /* punctured while leased */
  uint64_t lease[LEAVES_MAX], until[LEAVES_MAX]; /* until: of LEASED and OVERDUE */
  uint64_t leaves, end;
  uint8_t value[LEAVES_MAX][16];
  int dead;
};

static int puncture(struct model *m, uint64_t leaf)
{
  if (punct_fails)
    return PPRF_ERR_NOMEM;
  m->leaf[leaf] = PUNCTURED;
  return PPRF_OK;
}

/* An expired lease stays until its leaf can be punctured. */
static void pass_time(struct model *m)
{
  if (clock_ms >= m->end)
    m->dead = 1;
  for (uint64_t i = 0; i < m->leaves && !m->dead && !punct_fails; i++)
    if ((m->leaf[i] == LEASED || m->leaf[i] == OVERDUE) && clock_ms >= m->until[i])
      m->leaf[i] = PUNCTURED;
}

static uint64_t issued(const struct model *m)
{
  uint64_t n = 0;
  for (uint64_t i = 0; i < m->leaves; i++)
    n += m->leaf[i] != FRESH;
  return n;
}

/* Leaves up to a used one, issued together with it, can no longer be handed back. */
static void use(struct model *m, uint64_t leaf)
{
  unsigned time = m->time[leaf];
  for (uint64_t i = 0; i <= leaf && time != 0; i++)
    m->time[i] = m->time[i] == time ? 0 : m->time[i];
}

/* The time of issue whose last leaves these are, if all belong to the owner; else 0. */
static unsigned time_of(const struct model *m, unsigned owner, uint64_t first, uint64_t last)
{
  unsigned time = first <= last && last < m->leaves ? m->time[last] : 0;
  for (uint64_t i = 0; i < m->leaves; i++)
    if ((i >= first && i <= last && m->time[i] != time) || (i > last && m->time[i] == time))
      return 0;
  return m->owner[time] == owner ? time : 0;
}

struct pair {
  struct tree *tree;
  struct model m;
  uint64_t id;
};

static int open_pair(struct pair *p, unsigned depth)
{
  memset(p, 0, sizeof *p);
  if (tree_new(&p->tree, depth, LIFETIME, LEASE) != PPRF_OK)
    return 0;
  p->id = tree_look(p->tree).id;
  p->m.leaves = UINT64_C(1) << depth;
  p->m.end = clock_ms + LIFETIME;
  return 1;
}

static int same(const struct pair *p)
{
  uint64_t leases = 0;
  struct tree_state s = tree_look(p->tree);
  if (p->m.dead || !s.live)
    return p->m.dead == !s.live;
  for (uint64_t i = 0; i < p->m.leaves; i++)
    leases += p->m.leaf[i] == LEASED || p->m.leaf[i] == OVERDUE;
  return s.leases == leases && s.issued == issued(&p->m);
}

/* One step of tree and model; 0 if they differ.  `what`: 0 issue, 1 claim, 2 commit, 3 release, 4
 * punct, 5 time, 6 commit with another number, 7 another tree's id, 8 hand back, 9 hand back
 * another owner's leaves, 10 an owner goes. */
static int step(struct pair *p, unsigned what, uint64_t leaf)
{
  struct model *m = &p->m;
  uint8_t value[LEAVES_MAX][16], one[16], zero[16] = {0};
  uint64_t first = 0, lease = 0;
  size_t n = leaf % 3 + 1, got = n;
  int err, want;
  if (what == 5) {
    clock_ms += leaf % 2 == 0 ? LEASE : LEASE / 2;
    tree_sweep();
    pass_time(m);
    return same(p);
  }
  pass_time(m);
  int exists = leaf < m->leaves;
  int leased = exists && m->leaf[leaf] == LEASED;
  int is_issued = exists && m->leaf[leaf] != FRESH;
  unsigned owner = (unsigned)(leaf / 3 % OWNERS) + 1;
  uint64_t next = 0, last = leaf;
  switch (what) {
  case 0:
    err = tree_issue(p->tree, p->id, owner, &first, &got, value[0]);
    while (next < m->leaves && m->leaf[next] != FRESH)
      next++;
    want = m->dead             ? TREE_DEAD
           : next == m->leaves ? TREE_FULL
           : malloc_fails      ? PPRF_ERR_NOMEM
                               : PPRF_OK;
    if (err != want)
      return 0;
    if (err == PPRF_OK) {
      size_t left = 0; /* the leaves handed back are not contiguous */
      while (next + left < m->leaves && m->leaf[next + left] == FRESH)
        left++;
      if (first != next || got != (n < left ? n : left))
        return 0;
      m->owner[++m->times] = owner;
      for (size_t i = 0; i < got; i++, next++) {
        static const uint8_t none[16];
        if (memcmp(value[i], zero, 16) == 0 ||
            (memcmp(m->value[next], none, 16) != 0 && memcmp(m->value[next], value[i], 16) != 0))
          return 0;
        memcpy(m->value[next], value[i], 16);
        m->leaf[next] = ISSUED;
        m->time[next] = m->times;
      }
      unsigned own = 0, time = m->times;
      for (; time > 0 && own <= TREE_GRANTS; time--) {
        int any = 0;
        for (uint64_t i = 0; i < m->leaves; i++)
          any |= m->time[i] == time;
        own += any && m->owner[time] == owner;
      }
      for (uint64_t i = 0; i < m->leaves && own > TREE_GRANTS; i++) /* the oldest */
        m->time[i] = m->time[i] == time + 1 ? 0 : m->time[i];
    }
    return same(p);
  case 1:
    memset(one, 0xee, sizeof one);
    err = tree_claim(p->tree, p->id, leaf, &lease, one);
    if (m->dead)
      return err == TREE_DEAD;
    want = !is_issued                                            ? PPRF_ERR_RANGE
           : m->leaf[leaf] == LEASED || m->leaf[leaf] == OVERDUE ? TREE_LEASED
           : m->leaf[leaf] == PUNCTURED                          ? PPRF_ERR_PUNCTURED
           : malloc_fails                                        ? PPRF_ERR_NOMEM
                                                                 : PPRF_OK;
    if (err != want)
      return 0;
    if (err == PPRF_OK) {
      if (memcmp(one, m->value[leaf], 16) != 0)
        return 0;
      use(m, leaf);
      m->leaf[leaf] = LEASED;
      m->lease[leaf] = lease;
      m->until[leaf] = clock_ms + LEASE;
    } else if (memcmp(one, m->value[leaf % m->leaves], 16) == 0) {
      return 0; /* an error gives no value */
    }
    return same(p);
  case 2:
    err = tree_commit(p->tree, p->id, leaf, exists ? m->lease[leaf] : 1);
    want = m->dead ? TREE_DEAD : !leased ? TREE_OVER : puncture(m, leaf);
    if (!m->dead && leased && want != PPRF_OK)
      m->leaf[leaf] = OVERDUE;
    return err == want && same(p);
  case 3:
    err = tree_release(p->tree, p->id, leaf, exists ? m->lease[leaf] : 1);
    want = m->dead ? TREE_DEAD : leased ? PPRF_OK : TREE_OVER;
    if (want == PPRF_OK)
      m->leaf[leaf] = m->gone[leaf] ? PUNCTURED : ISSUED;
    return err == want && same(p);
  case 4:
    err = tree_puncture(p->tree, p->id, leaf, leaf);
    if (m->dead || !is_issued)
      return err == (m->dead ? TREE_DEAD : PPRF_ERR_RANGE);
    /* a leased leaf stays leased, without a value, until the lease ends */
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      return 0;
    if ((err == PPRF_OK) != (m->leaf[leaf] != PUNCTURED && !m->gone[leaf]))
      return 0;
    if (err == PPRF_OK)
      use(m, leaf);
    m->gone[leaf] = 1;
    if (m->leaf[leaf] == LEASED || m->leaf[leaf] == OVERDUE)
      return same(p);
    m->leaf[leaf] = PUNCTURED;
    return same(p);
  case 6:
    err = tree_commit(p->tree, p->id, leaf, exists ? m->lease[leaf] + 1 : 1);
    return err == (m->dead ? TREE_DEAD : TREE_OVER) && same(p);
  case 8:
  case 9:
    while (exists && last + 1 < m->leaves && m->time[last + 1] == m->time[leaf] && last - leaf < n)
      last++; /* to the end, or at most n */
    owner = exists && m->time[leaf] != 0 ? m->owner[m->time[leaf]] : owner;
    owner = what == 9 ? OWNERS + 1 - owner : owner;
    unsigned time = time_of(m, owner, leaf, last);
    err = tree_return(p->tree, p->id, owner, leaf, last);
    if (err != (m->dead ? TREE_DEAD : time == 0 ? TREE_NOT_YOURS : PPRF_OK))
      return 0;
    for (uint64_t i = 0; i < m->leaves && !m->dead && time != 0; i++) {
      if (m->time[i] == time && i >= leaf)
        m->leaf[i] = FRESH;
      m->time[i] = m->time[i] == time ? 0 : m->time[i];
    }
    return same(p);
  case 10:
    tree_sweep(); /* every other operation starts with a sweep */
    tree_forget(owner);
    for (uint64_t i = 0; i < m->leaves && !m->dead; i++)
      m->time[i] = m->owner[m->time[i]] == owner ? 0 : m->time[i];
    return same(p);
  default:
    return tree_claim(p->tree, p->id ^ 1, leaf, &lease, one) == TREE_DEAD && same(p);
  }
}

/* Every sequence of LENGTH steps on two leaves: first leases, then handing leaves back. */
enum { LENGTH = 5 };
struct kind {
  unsigned what;
  uint64_t leaf;
};
static const struct kind leasing[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {2, 1}, {3, 0},
                                      {3, 1}, {5, 0}, {5, 1}, {6, 0}, {7, 0}, {1, 2}, {4, 0}},
                         returning[] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {2, 0}, {4, 0},
                                        {4, 1}, {8, 0}, {8, 1}, {9, 0}, {10, 0}};

static void every_short_sequence(const struct kind *steps, unsigned n, const char *what)
{
  unsigned long sequences = 1, bad = 0;
  for (unsigned i = 0; i < LENGTH; i++)
    sequences *= n;
  for (unsigned long s = 0; s < sequences && bad == 0; s++) {
    struct pair p;
    unsigned long rest = s;
    if (!open_pair(&p, 1)) {
      bad++;
      break;
    }
    for (unsigned i = 0; i < LENGTH && bad == 0; i++, rest /= n)
      if (!step(&p, steps[rest % n].what, steps[rest % n].leaf)) {
        tap_note("sequence %lu, step %u", s, i);
        bad++;
      }
    tree_free(p.tree);
  }
  tap_note("%lu sequences", sequences);
  tap_ok(bad == 0, "every sequence of 5 steps on two leaves agrees with the model: %s", what);
  tap_ok(tree_counts().live == 0 && tree_counts().leases == 0, "freed trees leave nothing behind");
}

static void random_sequences(void)
{
  unsigned bad = 0;
  for (unsigned round = 0; round < 400 && bad == 0; round++) {
    struct pair p;
    if (!open_pair(&p, 1 + round % 6)) {
      bad++;
      break;
    }
    for (unsigned i = 0; i < 300 && bad == 0; i++) {
      uint64_t r = below(1000);
      punct_fails = below(10) == 0;
      malloc_fails = below(20) == 0;
      if (!step(&p, (unsigned)below(11), r % (p.m.leaves + 1))) {
        tap_note("round %u, step %u", round, i);
        bad++;
      }
      punct_fails = malloc_fails = 0;
    }
    tree_free(p.tree);
  }
  tap_ok(bad == 0, "random sequences with failures agree with the model");
}

static void too_many_leases(void)
{
  struct tree *t;
  static uint8_t value[1 << 17][16];
  uint64_t first, lease;
  size_t n = 1 << 17;
  int good = tree_new(&t, 17, LIFETIME, LEASE) == PPRF_OK;
  good = good && tree_issue(t, tree_look(t).id, 1, &first, &n, value[0]) == PPRF_OK;
  for (uint64_t i = 0; good && i < TREE_LEASES_MAX; i++)
    good = tree_claim(t, tree_look(t).id, i, &lease, value[0]) == PPRF_OK;
  good = good && tree_claim(t, tree_look(t).id, TREE_LEASES_MAX, &lease, value[0]) == TREE_FULL;
  good = good && tree_release(t, tree_look(t).id, TREE_LEASES_MAX - 1, lease) == PPRF_OK;
  good = good && tree_claim(t, tree_look(t).id, TREE_LEASES_MAX, &lease, value[0]) == PPRF_OK;
  tap_ok(good, "leases are bounded");
  tree_free(t);
}

int main(void)
{
  state = tap_seed();
  tap_note("seed %llu", (unsigned long long)state);
  other_clocks = 0;
  every_short_sequence(leasing, sizeof leasing / sizeof *leasing, "leases");
  every_short_sequence(returning, sizeof returning / sizeof *returning, "leaves handed back");
  random_sequences();
  too_many_leases();
  tap_ok(suites == 1u << PPRF_SHA3_256, "every tree uses sha3-256");
  tap_ok(other_clocks == 0, "no clock that an administrator can set is read");
  return tap_end();
}

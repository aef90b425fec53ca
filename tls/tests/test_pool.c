/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the tickets' keys (pool.h), without TLS, and of shared keys (opt/shared.h).  TAP.
 * Usage: test_pool [SEED]   (or from the environment; otherwise random and printed)
 *
 * The model is a list of all tickets ever issued, each with its tree, its segment and its value.
 * Time is a variable.  Processes are killed at chosen places by the wrapped functions below. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "failures/inject.h"
#include "pprf_shared.h"
#include "tickets/pool.h"
#include "test.h"

static _Thread_local struct origin origin; /* of the last value */

/* ---- wrapped functions ---- */

/* Where to kill this process. */
enum place { NOWHERE, BEFORE_PUNCT, HALF_PUNCT, AFTER_PUNCT, IN_RANGE, IN_START, IN_CLEAR, PLACES };
static enum place die_at;

static void here(enum place place)
{
  if (die_at == place)
    (void)kill(getpid(), SIGKILL);
}

static void half_way(void)
{
  here(HALF_PUNCT);
}

static int trylock_error; /* result of trylock; 0: the real one */

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
  return trylock_error != 0 ? trylock_error : __real_pthread_mutex_trylock(mutex);
}

static long callocs_until_failure = -1; /* one fails; -1: none does */

void *__real_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes);
void *__wrap_calloc(size_t n, size_t bytes)
{
  return callocs_until_failure >= 0 && callocs_until_failure-- == 0 ? NULL
                                                                    : __real_calloc(n, bytes);
}

static long draws_until_failure = -1; /* one draw fails; -1: none does */
static uint8_t drawn[16]; /* the last 16 secret bytes drawn, every bit inverted */

int __real_RAND_priv_bytes(unsigned char *buf, int num);
int __wrap_RAND_priv_bytes(unsigned char *buf, int num);
int __wrap_RAND_priv_bytes(unsigned char *buf, int num)
{
  if (draws_until_failure >= 0 && draws_until_failure-- == 0)
    return 0;
  int good = __real_RAND_priv_bytes(buf, num);
  for (unsigned i = 0; i < sizeof drawn && num == (int)sizeof drawn; i++)
    drawn[i] = (uint8_t)~buf[i];
  return good;
}

int __real_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf);
int __wrap_pprf_punct(pprf_key *key, uint64_t leaf)
{
  here(BEFORE_PUNCT);
  int err = __real_pprf_punct(key, leaf);
  here(AFTER_PUNCT);
  return err;
}

/* Leaves punctured by range since the last unlock, and their maximum. */
static uint64_t in_a_slice, longest_slice;
static void (*meanwhile)(void); /* called once after the next unlock */

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
  void (*act)(void) = meanwhile;
  in_a_slice = 0;
  int rc = __real_pthread_mutex_unlock(mutex);
  if (act != NULL) {
    meanwhile = NULL;
    act();
  }
  return rc;
}

int __real_pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last);
int __wrap_pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last);
int __wrap_pprf_punct_range(pprf_key *key, uint64_t first, uint64_t last)
{
  here(IN_RANGE);
  in_a_slice += last - first + 1;
  longest_slice = in_a_slice > longest_slice ? in_a_slice : longest_slice;
  return __real_pprf_punct_range(key, first, last);
}

int __real_pprf_shared_start(pprf_key *key, unsigned of, uint8_t salt[PPRF_SALT_BYTES]);
int __wrap_pprf_shared_start(pprf_key *key, unsigned of, uint8_t salt[PPRF_SALT_BYTES]);
int __wrap_pprf_shared_start(pprf_key *key, unsigned of, uint8_t salt[PPRF_SALT_BYTES])
{
  int err = __real_pprf_shared_start(key, of, salt);
  here(IN_START);
  return err;
}

void __real_pprf_shared_clear(pprf_key *key);
void __wrap_pprf_shared_clear(pprf_key *key);
void __wrap_pprf_shared_clear(pprf_key *key)
{
  here(IN_CLEAR);
  __real_pprf_shared_clear(key);
}

/* ---- a naive model ---- */

enum ticket_state { LIVE, USED, EXPIRED, LOST };

struct model_ticket {
  unsigned tree, segment;
  enum ticket_state state;
  pool_ticket ticket;
  uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
};

struct model_segment {
  unsigned tree;
  uint64_t opened, last;
  int gone;
};

struct model_tree {
  uint64_t opened, given_out;
  int gone;
};

enum { TICKETS_MAX = 5000, SHARDS_MAX = 8 };

/* Of a shard; now and expired belong to the pool. */
static struct model {
  unsigned tickets, segments, trees; /* totals; the last tree is the current one, if any */
  int retired;                       /* the last tree is not current any more */
  struct pprf_tickets_stats stats;
  struct model_ticket ticket[TICKETS_MAX];
  struct model_segment segment[TICKETS_MAX];
  struct model_tree tree[TICKETS_MAX];
} model[SHARDS_MAX];

static struct {
  unsigned tree_depth, shards, keys;
  uint64_t lifetime, rotation, now, expired;
} pool_model;

static void model_lose(struct model *m, unsigned tree, enum ticket_state to)
{
  for (unsigned i = 0; i < m->tickets; i++)
    if (m->ticket[i].tree == tree && m->ticket[i].state == LIVE)
      m->ticket[i].state = to;
  for (unsigned s = 0; s < m->segments; s++)
    m->segment[s].gone |= m->segment[s].tree == tree;
  m->tree[tree].gone = 1;
}

static void model_expire(struct model *m, int current_too)
{
  for (unsigned s = 0; s < m->segments; s++) {
    if (m->segment[s].gone || m->segment[s].last + pool_model.lifetime > pool_model.now)
      continue;
    m->segment[s].gone = 1;
    for (unsigned i = 0; i < m->tickets; i++)
      if (m->ticket[i].segment == s && m->ticket[i].state == LIVE) {
        m->ticket[i].state = EXPIRED;
        m->stats.expired++;
      }
  }
  for (unsigned t = 0; t < m->trees; t++) {
    int used = t + 1 == m->trees && !current_too && !m->retired;
    for (unsigned s = 0; s < m->segments; s++)
      used |= m->segment[s].tree == t && !m->segment[s].gone;
    m->tree[t].gone |= !used;
  }
}

static void model_expire_all(void)
{
  for (unsigned i = 0; i < pool_model.shards; i++)
    model_expire(&model[i], 0);
}

/* All shards expire once in a 32nd of the lifetime. */
static void model_expire_in_time(void)
{
  if (pool_model.shards > 1 && pool_model.now > pool_model.expired &&
      pool_model.now - pool_model.expired > pool_model.lifetime / 32) {
    pool_model.expired = pool_model.now;
    model_expire_all();
  }
}

static struct model_ticket *model_issue(struct model *m)
{
  model_expire(m, 0);
  struct model_tree *t = m->trees > 0 && !m->retired ? &m->tree[m->trees - 1] : NULL;
  if (t == NULL || t->gone || t->given_out >> pool_model.tree_depth != 0 ||
      (pool_model.rotation != 0 && pool_model.now - t->opened >= pool_model.rotation)) {
    model_expire(m, 1);
    unsigned held = 0, oldest = m->trees;
    for (unsigned i = m->trees; i-- > 0;)
      if (!m->tree[i].gone) {
        held++;
        oldest = i;
      }
    if (held == pool_model.keys) {
      model_lose(m, oldest, LOST);
      m->stats.dropped++;
    }
    t = &m->tree[m->trees++];
    m->retired = 0;
    *t = (struct model_tree){.opened = pool_model.now};
  }
  struct model_segment *s = m->segments > 0 ? &m->segment[m->segments - 1] : NULL;
  if (s == NULL || s->gone || s->tree != m->trees - 1 ||
      pool_model.now - s->opened > pool_model.lifetime / 32) {
    s = &m->segment[m->segments++];
    *s = (struct model_segment){.tree = m->trees - 1, .opened = pool_model.now};
  }
  s->last = pool_model.now;
  t->given_out++;
  m->stats.issued++;
  m->ticket[m->tickets] =
    (struct model_ticket){.tree = m->trees - 1, .segment = m->segments - 1, .state = LIVE};
  return &m->ticket[m->tickets++];
}

static int model_good(const struct model *m, const struct model_ticket *t)
{
  return t->state == LIVE && m->segment[t->segment].last + pool_model.lifetime > pool_model.now;
}

static int same_stats(struct pool *pool)
{
  struct pprf_tickets_stats s, sum = {0};
  pool_stats(pool, &s);
  for (unsigned k = 0; k < pool_model.shards; k++) {
    struct model *m = &model[k];
    for (unsigned i = 0; i < m->tickets; i++)
      sum.outstanding += m->ticket[i].state == LIVE;
#define ADD(f) sum.f += m->stats.f
    ADD(issued), ADD(resumed), ADD(early_accepted), ADD(early_rejected), ADD(refused);
    ADD(foreign), ADD(expired), ADD(dropped);
  }
#define SAME(f)                                                                               \
  check(s.f == sum.f, #f " is %llu, model %llu, after %llu tickets", (unsigned long long)s.f, \
        (unsigned long long)sum.f, (unsigned long long)sum.issued)
  return (SAME(issued) & SAME(resumed) & SAME(early_accepted) & SAME(early_rejected) &
          SAME(refused) & SAME(foreign) & SAME(expired) & SAME(dropped) & SAME(outstanding)) != 0;
}

/* A random ticket, often a recent one; NULL: none. */
static struct model_ticket *some_ticket(struct model **m)
{
  *m = &model[rnd(pool_model.shards)];
  unsigned n = (*m)->tickets;
  return n == 0 ? NULL : &(*m)->ticket[n - 1 - rnd(n < 60 || rnd(9) == 0 ? n : 60)];
}

static void model_run(unsigned depth, unsigned keys, uint64_t lifetime, uint64_t rotation,
                      unsigned ops)
{
  struct pool *pool;
  for (unsigned i = 0; i < SHARDS_MAX; i++) {
    struct model *m = &model[i];
    m->tickets = m->segments = m->trees = 0;
    m->retired = 0;
    m->stats = (struct pprf_tickets_stats){0};
  }
  pool_model.shards = 1u << pool_shard_bits(depth);
  pool_model.tree_depth = depth - pool_shard_bits(depth);
  pool_model.lifetime = lifetime;
  pool_model.keys = keys;
  pool_model.rotation = rotation;
  pool_model.now = 1000;
  pool_model.expired = 0;
  if (!check(pool_new(&pool, depth, keys, lifetime, rotation, suite) == PPRF_OK, "pool_new"))
    return;
  /* no caller is delayed before this */
  check(pool_expire(pool, pool_model.now) == PPRF_OK, "tell the time");
  for (unsigned op = 0; op < ops && !tap_missed; op++) {
    unsigned what = (unsigned)rnd(1000);
    uint64_t now = pool_model.now;
    uint64_t late = rnd(4) == 0 && now > 5 ? rnd(5) : 0; /* a delayed caller */
    struct model *m;
    struct model_ticket *t = some_ticket(&m);
    uint8_t value[PPRF_SEED_BYTES], name[POOL_NAME_BYTES], first[PPRF_SEED_BYTES];
    pool_ticket ticket;
    if (what < 400 || t == NULL) {
      model_expire_in_time();
      check(pool_issue(pool, now - late, name, &origin, first) == PPRF_OK, "op %u: issue", op);
      check(pool_open(pool, now - late, name, &ticket, &origin, value) == PPRF_OK &&
              memcmp(value, first, sizeof value) == 0,
            "op %u: a new ticket opens", op);
      uint64_t shard = (uint32_t)ticket >> pool_model.tree_depth;
      if (!check(shard < pool_model.shards, "op %u: its shard is %llu", op,
                 (unsigned long long)shard))
        break;
      t = model_issue(&model[shard]);
      t->ticket = ticket;
      memcpy(t->name, name, sizeof name);
      memcpy(t->value, value, sizeof value);
    } else if (what < 600) {
      int want = model_good(m, t) ? PPRF_OK : PPRF_ERR_PUNCTURED;
      int got = pool_open(pool, now - late, t->name, &ticket, &origin, value);
      check(got == want, "op %u: open: %d, model %d", op, got, want);
      check(ticket == t->ticket, "op %u: open: another ticket", op);
      static const uint8_t zero[PPRF_SEED_BYTES];
      check(memcmp(value, want == PPRF_OK ? t->value : zero, sizeof value) == 0,
            "op %u: open: wrong value", op);
      m->stats.refused += want != PPRF_OK;
    } else if (what < 800) {
      int early = (int)rnd(2), want = model_good(m, t) ? PPRF_OK : PPRF_ERR_PUNCTURED;
      int got = pool_redeem(pool, now - late, t->ticket, early);
      check(got == want, "op %u: redeem: %d, model %d", op, got, want);
      if (want == PPRF_OK)
        t->state = USED;
      m->stats.early_accepted += want == PPRF_OK && early;
      m->stats.resumed += want == PPRF_OK && !early;
      m->stats.early_rejected += want != PPRF_OK && early;
      model_expire(m, 0);
      model_expire_in_time();
    } else if (what < 840) {
      memcpy(name, t->name, sizeof name);
      name[rnd(16)] ^= (uint8_t)(1u << rnd(8));
      check(pool_open(pool, now, name, &ticket, &origin, value) == PPRF_ERR_FORMAT,
            "op %u: a changed name", op);
      m->stats.foreign++;
    } else if (what < 870) {
      check(pool_expire(pool, now - late) == PPRF_OK, "op %u: expire", op);
      model_expire_all();
    } else if (what < 877) {
      check(pool_rotate(pool, now - late) == PPRF_OK, "op %u: rotate", op);
      for (unsigned i = 0; i < pool_model.shards; i++) {
        model[i].retired = 1;
        model_expire(&model[i], 0);
      }
    } else if (what < 880) {
      check(pool_revoke(pool, now - late) == PPRF_OK, "op %u: revoke", op);
      for (unsigned i = 0; i < pool_model.shards; i++)
        for (unsigned k = 0; k < model[i].trees; k++)
          model_lose(&model[i], k, LOST);
    } else {
      pool_model.now += rnd(what < 990 ? lifetime / 16 + 2 : 2 * lifetime);
      if (rnd(2)) {
        check(pool_expire(pool, pool_model.now) == PPRF_OK, "op %u: expire", op);
        model_expire_all();
      } else { /* tells the time and nothing else */
        memset(name, 0, sizeof name);
        check(pool_open(pool, pool_model.now, name, &ticket, &origin, value) == PPRF_ERR_FORMAT,
              "op %u: open", op);
        m->stats.foreign++;
      }
    }
    if (op % 16 == 0)
      same_stats(pool);
    if (tap_missed)
      printf("# depth %u keys %u lifetime %llu rotation %llu op %u\n", depth, keys,
             (unsigned long long)lifetime, (unsigned long long)rotation, op);
  }
  same_stats(pool);
  pool_free(pool);
}

static void agrees_with_model(void)
{
  model_run(4, 4, 100, 0, 4000);
  model_run(4, 2, 60, 0, 3000);
  model_run(4, 9, 300, 0, 4000);
  model_run(5, 3, 7, 0, 4000);
  model_run(6, 64, 2000, 0, 4000);
  model_run(8, 4, 1000, 0, 4000);
  model_run(10, 5, 64, 64, 4000);
  model_run(10, 4, 33, 50, 4000);
  model_run(15, 8, 700, 1000, 4000);
  model_run(16, 4, 7200, 10000, 4000);
  model_run(17, 3, 40, 0, 4000);
  model_run(22, 8, 7200, 0, 1000);
  end_test("random_operations_agree_with_a_naive_model");
}

/* ---- single claims ---- */

struct given {
  uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
  pool_ticket ticket;
  struct origin origin;
};

static int same_origin(const struct origin *a, const struct origin *b)
{
  return a->leaf == b->leaf && a->suite == b->suite &&
         memcmp(a->salt, b->salt, sizeof a->salt) == 0;
}

static void give(struct pool *p, uint64_t now, struct given *g)
{
  uint8_t value[PPRF_SEED_BYTES];
  check(pool_issue(p, now, g->name, &g->origin, g->value) == PPRF_OK, "issue");
  check(pool_open(p, now, g->name, &g->ticket, &origin, value) == PPRF_OK &&
          same_origin(&origin, &g->origin),
        "open");
}

static int opens(struct pool *p, uint64_t now, const struct given *g)
{
  uint8_t value[PPRF_SEED_BYTES];
  pool_ticket ticket;
  int err = pool_open(p, now, g->name, &ticket, &origin, value);
  if (err == PPRF_OK)
    check(memcmp(value, g->value, sizeof value) == 0 && ticket == g->ticket &&
            same_origin(&origin, &g->origin),
          "another value");
  return err;
}

static struct pool *new_pool(unsigned depth, uint64_t lifetime, uint64_t rotation)
{
  struct pool *p = NULL;
  check(pool_new(&p, depth, 4, lifetime, rotation, suite) == PPRF_OK, "pool_new");
  return p;
}

static void lifetimes(void)
{
  for (uint64_t lifetime = 1; lifetime < 8000; lifetime = lifetime * 3 + 1) {
    struct pool *p = new_pool(12, lifetime, 0);
    struct given g;
    give(p, 50, &g);
    check(opens(p, 50 + lifetime - 1, &g) == PPRF_OK, "lifetime %d: not before its end",
          (int)lifetime);
    check(opens(p, 50 + lifetime, &g) == PPRF_ERR_PUNCTURED, "lifetime %d: its end", (int)lifetime);
    check(pool_redeem(p, 50 + lifetime, g.ticket, 1) == PPRF_ERR_PUNCTURED, "redeemed too late");
    /* others in the segment live at most a 32nd longer */
    give(p, 10000, &g);
    for (uint64_t t = 10000; t <= 10000 + lifetime; t += lifetime / 64 + 1) {
      struct given other;
      give(p, t, &other);
    }
    check(opens(p, 10000 + lifetime + lifetime / 32 + 1, &g) == PPRF_ERR_PUNCTURED,
          "lifetime %d: a 32nd late", (int)lifetime);
    pool_free(p);
  }
  end_test("tickets_end_with_their_lifetime");
}

static void names(void)
{
  struct pool *p = new_pool(12, 100, 0), *other = new_pool(12, 100, 0);
  struct given g[2], junk;
  struct pprf_tickets_stats before, after;
  uint8_t value[PPRF_SEED_BYTES];
  pool_ticket ticket;
  give(p, 1, &g[0]);
  give(p, 1, &g[1]);
  pool_stats(p, &before);
  for (unsigned bit = 0; bit < 8 * POOL_NAME_BYTES; bit++) {
    junk = g[0];
    junk.name[bit / 8] ^= (uint8_t)(1u << bit % 8);
    check(pool_open(p, 1, junk.name, &ticket, &origin, value) == PPRF_ERR_FORMAT, "bit %u", bit);
  }
  for (unsigned i = 0; i < 10000; i++) {
    for (unsigned k = 0; k < POOL_NAME_BYTES; k++)
      junk.name[k] = (uint8_t)rnd(256);
    check(pool_open(p, 1, junk.name, &ticket, &origin, value) == PPRF_ERR_FORMAT, "junk");
  }
  check(pool_open(other, 1, g[0].name, &ticket, &origin, value) == PPRF_ERR_FORMAT,
        "another pool's");
  pool_stats(p, &after);
  check(after.foreign == before.foreign + 10128 && after.nodes == before.nodes &&
          after.outstanding == before.outstanding,
        "something changed");
  check(opens(p, 1, &g[0]) == PPRF_OK && opens(p, 1, &g[1]) == PPRF_OK, "the tickets are good");
  pool_free(p);
  pool_free(other);
  end_test("names_that_the_pool_did_not_make_change_nothing");
}

static void not_ours_to_redeem(void)
{
  struct pool *p = new_pool(6, 100, 0);
  struct given g;
  give(p, 1, &g);
  pool_ticket wrong[] = {0,
                         1,
                         g.ticket + 1,
                         g.ticket + 63,
                         g.ticket + 64,
                         g.ticket ^ UINT64_C(1) << 32,
                         g.ticket ^ UINT64_C(1) << 63,
                         UINT64_MAX};
  for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++)
    check(pool_redeem(p, 1, wrong[i], 0) == PPRF_ERR_PUNCTURED, "%u", i);
  check(opens(p, 1, &g) == PPRF_OK, "the ticket is good");
  pool_free(p);
  end_test("tickets_that_were_not_issued_are_not_redeemed");
}

static void after_free(void)
{
  struct pool *p = new_pool(6, 100, 0);
  struct given g;
  int go[2], said[2], status = 1;
  char c = 0;
  give(p, 1, &g);
  check(pipe(go) == 0 && pipe(said) == 0, "pipe");
  pid_t pid = fork();
  if (pid == 0) {
    static const uint8_t zero[POOL_NAME_BYTES];
    uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
    pool_ticket ticket;
    (void)close(go[1]);
    if (read(go[0], &c, 1) != 0)
      _exit(2);
    memset(name, 0xaa, sizeof name);
    memset(value, 0xaa, sizeof value);
    if (pool_open(p, 1, g.name, &ticket, &origin, value) == PPRF_OK ||
        pool_redeem(p, 1, g.ticket, 1) == PPRF_OK ||
        pool_issue(p, 1, name, &origin, value) == PPRF_OK)
      _exit(3);
    _exit(memcmp(name, zero, sizeof name) != 0 || memcmp(value, zero, sizeof value) != 0);
  }
  pool_free(p);
  (void)close(go[1]);
  check(waitpid(pid, &status, 0) == pid && status == 0, "the other process: %x", (unsigned)status);
  (void)close(go[0]), (void)close(said[0]), (void)close(said[1]);
  end_test("a_pool_that_was_freed_serves_no_process");
}

/* A lock that is free at the fork is free in the child. */
static void child_makes_pools(void)
{
  enum { SECONDS = 20 };
  struct pool *p = new_pool(6, 100, 0);
  int status = 1;
  pid_t pid = fork();
  if (pid == 0) {
    struct given g;
    (void)alarm(SECONDS);
    struct pool *own = new_pool(6, 100, 0);
    give(own, 1, &g);
    int good = opens(own, 1, &g) == PPRF_OK;
    pool_free(own);
    pool_free(p);
    _exit(!good || tap_missed > 0);
  }
  check(waitpid(pid, &status, 0) == pid && status == 0, "the child: %x", (unsigned)status);
  pool_free(p);
  end_test("a_child_of_fork_makes_pools_of_its_own_and_frees_them");
}

/* Locked kilobytes of this process. */
static long locked_kilobytes(void)
{
  char line[200];
  long kilobytes = 0;
  FILE *f = fopen("/proc/self/status", "r");
  while (f != NULL && fgets(line, sizeof line, f) != NULL)
    (void)sscanf(line, "VmLck: %ld", &kilobytes);
  if (f != NULL)
    (void)fclose(f);
  return kilobytes;
}

/* A child must lock as much as its parent had: fork drops all locks. */
static void child_locks_memory(void)
{
  long before = locked_kilobytes();
  struct pool *first = new_pool(6, 100, 0), *second = new_pool(10, 100, 0),
              *third = new_pool(8, 100, 0);
  pool_free(second);
  long own = locked_kilobytes() - before;
  int status = 1;
  pid_t pid = fork();
  if (pid == 0)
    _exit(locked_kilobytes() != own);
  check(waitpid(pid, &status, 0) == pid && status == 0, "the child: %x", (unsigned)status);
  pool_free(first);
  pool_free(third);
  if (own > 0)
    end_test("a_child_of_fork_keeps_the_pools_out_of_swap_too");
  else
    end_test("a_child_of_fork_keeps_the_pools_out_of_swap_too # SKIP nothing may be locked here");
}

/* Make a pool (fd -1) or import one while each allocation fails in turn. */
static void each_block(int fd)
{
  int next = dup(0), then, err = PPRF_ERR_NOMEM;
  (void)close(next);
  for (long n = 0; err != PPRF_OK; n++) {
    struct pool *p = NULL;
    callocs_until_failure = n;
    err = fd < 0 ? pool_new(&p, 6, 4, 100, 0, suite) : pool_import(&p, fd, 6, 4, 100, 0, suite);
    callocs_until_failure = -1;
    check(err == PPRF_OK ? n > 4 : err == PPRF_ERR_NOMEM && p == NULL, "%d, block %ld: %d", fd, n,
          err);
    pool_free(p);
    then = dup(0);
    (void)close(then);
    check(then == next, "%d, block %ld: a descriptor is left", fd, n);
  }
}

static void no_memory(void)
{
  struct pool *p = new_pool(6, 100, 0);
  int fd;
  each_block(-1);
  check(pool_export(p, &fd) == PPRF_OK, "export");
  each_block(fd);
  (void)close(fd);
  pool_free(p);
  end_test("a_pool_without_memory_is_an_error_and_leaves_nothing_open");
}

/* A held lock is waited for; a lock that fails is an error and changes nothing. */
static void failing_locks(unsigned depth)
{
  static const uint8_t zero[POOL_NAME_BYTES];
  struct pool *p = new_pool(depth, 100, 0);
  struct given g, next;
  struct pprf_tickets_stats before, after;
  uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
  pool_ticket ticket;
  give(p, 1, &g);
  pool_stats(p, &before);
  memset(name, 7, sizeof name);
  memset(value, 7, sizeof value);
  trylock_error = ENOTRECOVERABLE;
  check(pool_issue(p, 200, name, &origin, value) == PPRF_ERR_NOMEM, "issue");
  check(memcmp(name, zero, sizeof name) == 0 && memcmp(value, zero, sizeof value) == 0, "outputs");
  memset(value, 7, sizeof value);
  check(pool_open(p, 1, g.name, &ticket, &origin, value) == PPRF_ERR_NOMEM, "open");
  check(memcmp(value, zero, sizeof value) == 0, "a value");
  check(pool_redeem(p, 1, g.ticket, 1) == PPRF_ERR_NOMEM, "redeem");
  check(pool_expire(p, 1) == PPRF_ERR_NOMEM && pool_rotate(p, 1) == PPRF_ERR_NOMEM &&
          pool_revoke(p, 1) == PPRF_ERR_NOMEM,
        "expire, rotate, revoke");
  trylock_error = 0;
  pool_stats(p, &after);
  check(memcmp(&before, &after, sizeof before) == 0, "counters");
  pool_free(p);
  p = new_pool(depth, 100, 0);
  give(p, 1, &g);
  trylock_error = EBUSY;
  give(p, 1, &next);
  check(opens(p, 1, &g) == PPRF_OK && pool_redeem(p, 1, g.ticket, 1) == PPRF_OK &&
          opens(p, 1, &g) == PPRF_ERR_PUNCTURED && pool_expire(p, 1) == PPRF_OK,
        "waiting for a lock");
  trylock_error = 0;
  check(opens(p, 1, &next) == PPRF_OK, "the one given meanwhile");
  pool_free(p);
  end_test(depth < 16 ? "a_lock_that_cannot_be_had_is_an_error"
                      : "locks_of_shards_that_cannot_be_had_are_an_error");
}

/* ---- rotate and revoke ---- */

static void rotate_and_revoke(unsigned depth)
{
  struct pool *p = new_pool(depth, 100, 0);
  enum { EACH = 3000 };
  static struct given old[EACH], young[EACH];
  const unsigned n = depth < 12 ? 10 : EACH;
  struct pprf_tickets_stats s;
  for (unsigned i = 0; i < n; i++)
    give(p, 1, &old[i]);
  check(pool_rotate(p, 2) == PPRF_OK, "rotate");
  for (unsigned i = 0; i < n; i++)
    give(p, 2, &young[i]);
  for (unsigned i = 0; i < n; i++) {
    check(young[i].ticket >> 32 > old[i].ticket >> 32, "an old tree: %u", i);
    check(opens(p, 3, &old[i]) == PPRF_OK && opens(p, 3, &young[i]) == PPRF_OK, "both are good");
  }
  check(pool_redeem(p, 3, old[0].ticket, 1) == PPRF_OK, "an old ticket");
  check(pool_revoke(p, 3) == PPRF_OK, "revoke");
  for (unsigned i = 0; i < n; i++) {
    check(opens(p, 3, &old[i]) == PPRF_ERR_PUNCTURED &&
            opens(p, 3, &young[i]) == PPRF_ERR_PUNCTURED,
          "a revoked ticket opens");
    check(pool_redeem(p, 3, young[i].ticket, 0) == PPRF_ERR_PUNCTURED, "it is redeemed");
  }
  pool_stats(p, &s);
  check(s.nodes == 0 && s.outstanding == 0 && s.dropped == 0, "nothing is held");
  give(p, 3, &old[0]);
  check(opens(p, 3, &old[0]) == PPRF_OK && opens(p, 3, &young[0]) == PPRF_ERR_PUNCTURED,
        "a new ticket, and one that was revoked");
  pool_free(p);
  end_test(depth < 12 ? "rotation_keeps_tickets_and_revocation_ends_them"
                      : "rotation_and_revocation_reach_every_shard");
}

static struct pool *overtaken_pool;
static struct given overtaker;

static void overtake(void)
{
  give(overtaken_pool, 101, &overtaker);
}

/* A caller that read the clock before a rotation was due reaches the shard after another caller
 * rotated it. */
static void overtaken(void)
{
  enum { DEPTH = 17 };
  struct pool *p = overtaken_pool = new_pool(DEPTH, 200, 100);
  struct pprf_tickets_stats s;
  struct given g, next;
  give(p, 1, &g);
  do { /* until the thread moves to the next shard: the following tickets come from that one */
    next = g;
    give(p, 1, &g);
  } while ((uint32_t)g.ticket >> (DEPTH - 3) == (uint32_t)next.ticket >> (DEPTH - 3));
  meanwhile = overtake;
  give(p, 100, &next);
  check(meanwhile == NULL && overtaker.ticket >> 32 == (g.ticket >> 32) + 1 &&
          (uint32_t)overtaker.ticket >> (DEPTH - 3) == (uint32_t)g.ticket >> (DEPTH - 3),
        "control: the shard was rotated meanwhile");
  check(next.ticket == overtaker.ticket + 1, "the next leaf of the new tree: %llx, %llx",
        (unsigned long long)overtaker.ticket, (unsigned long long)next.ticket);
  pool_stats(p, &s);
  check(s.keys == 2 && s.dropped == 0, "%llu keys", (unsigned long long)s.keys);
  pool_free(p);
  end_test("a_caller_overtaken_by_a_rotation_does_not_rotate_again");
}

/* Processes issue concurrently; then one revokes, and no earlier ticket is good in any of them. */
static void revoked_everywhere(void)
{
  enum { PROCESSES = 3, EACH = 500 };
  struct all {
    atomic_uint issued;
    pthread_barrier_t revoked;
    struct given g[PROCESSES][EACH];
  } *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct pool *p = new_pool(18, 100, 0);
  pid_t pid[PROCESSES];
  pthread_barrierattr_t attr;
  (void)pthread_barrierattr_init(&attr);
  (void)pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  (void)pthread_barrier_init(&all->revoked, &attr, PROCESSES + 1);
  fflush(stdout);
  for (unsigned k = 0; k < PROCESSES; k++)
    if ((pid[k] = fork()) == 0) {
      for (unsigned i = 0; i < EACH; i++)
        give(p, 1, &all->g[k][i]);
      (void)pthread_barrier_wait(&all->revoked);
      (void)pthread_barrier_wait(&all->revoked);
      for (unsigned i = 0; i < EACH && !tap_missed; i++)
        for (unsigned from = 0; from < PROCESSES; from++)
          check(opens(p, 1, &all->g[from][i]) == PPRF_ERR_PUNCTURED &&
                  pool_redeem(p, 1, all->g[from][i].ticket, 1) == PPRF_ERR_PUNCTURED,
                "a revoked ticket is good");
      struct given g;
      give(p, 1, &g);
      check(pool_redeem(p, 1, g.ticket, 1) == PPRF_OK, "a new one");
      _exit(tap_missed > 0);
    }
  (void)pthread_barrier_wait(&all->revoked);
  check(pool_revoke(p, 1) == PPRF_OK, "revoke");
  (void)pthread_barrier_wait(&all->revoked);
  for (unsigned k = 0; k < PROCESSES; k++) {
    int status = 1;
    check(waitpid(pid[k], &status, 0) == pid[k] && status == 0, "process %u", k);
  }
  pool_free(p);
  (void)munmap(all, sizeof *all);
  end_test("what_one_process_revokes_no_other_issues_or_redeems");
}

/* Several processes issue 2^depth tickets at once; the keys hold them all. */
static void fill(void)
{
  enum { PROCESSES = 4, DEPTH = 16 };
  const unsigned each = (1u << DEPTH) / PROCESSES;
  struct given *g =
    mmap(NULL, sizeof *g << DEPTH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct pool *p = new_pool(DEPTH, 100, 0);
  pid_t pid[PROCESSES];
  fflush(stdout);
  for (unsigned k = 0; k < PROCESSES; k++)
    if ((pid[k] = fork()) == 0) {
      for (unsigned i = 0; i < each; i++)
        give(p, 1, &g[k * each + i]);
      _exit(tap_missed > 0);
    }
  for (unsigned k = 0; k < PROCESSES; k++) {
    int status = 1;
    check(waitpid(pid[k], &status, 0) == pid[k] && status == 0, "process %u", k);
  }
  unsigned in_shard[SHARDS_MAX] = {0}, least = UINT32_MAX, most = 0;
  for (unsigned i = 0; i < 1u << DEPTH; i++) {
    check(pool_redeem(p, 1, g[i].ticket, 1) == PPRF_OK, "ticket %u", i);
    in_shard[((uint32_t)g[i].ticket >> (DEPTH - 3)) % SHARDS_MAX]++;
  }
  for (unsigned i = 0; i < SHARDS_MAX; i++) {
    least = in_shard[i] < least ? in_shard[i] : least;
    most = in_shard[i] > most ? in_shard[i] : most;
  }
  struct pprf_tickets_stats s;
  pool_stats(p, &s);
  check(s.dropped == 0 && s.outstanding == 0 && s.issued == 1u << DEPTH, "stats");
  printf("# the shards gave out %u to %u tickets\n", least, most);
  pool_free(p);
  (void)munmap(g, sizeof *g << DEPTH);
  end_test("as_many_tickets_as_a_key_has_drop_none_whoever_issues_them");
}

/* Number of tickets in the list that can be opened. */
static unsigned good_ones(struct pool *p, uint64_t now, const struct given *g, unsigned n)
{
  unsigned good = 0;
  for (unsigned i = 0; i < n; i++)
    good += opens(p, now, &g[i]) == PPRF_OK;
  return good;
}

/* A pool grows key by key; at its bound only the oldest key is dropped. */
static void grow(void)
{
  static struct given g[(5 << 8) + 2];
  for (unsigned depth = 4; depth <= 8; depth++)
    for (unsigned keys = 2; keys <= (depth == 4 ? 64 : 5); keys++) {
      struct pool *p;
      struct pprf_tickets_stats s;
      unsigned a_key = 1u << depth, n = keys * a_key;
      check(pool_new(&p, depth, keys, 100, 0, suite) == PPRF_OK, "pool_new");
      for (unsigned i = 0; i < n; i++) {
        give(p, 1, &g[i]);
        if (i % a_key == 0) {
          pool_stats(p, &s);
          check(s.keys == i / a_key + 1 && s.keys_max == keys && s.depth == depth,
                "%llu keys after %u tickets", (unsigned long long)s.keys, i + 1);
        }
      }
      pool_stats(p, &s);
      check(s.dropped == 0 && s.outstanding == n && good_ones(p, 1, g, n) == n,
            "depth %u, %u keys: a ticket was given up before the bound", depth, keys);
      give(p, 1, &g[n]);
      pool_stats(p, &s);
      check(s.dropped == 1 && s.keys == keys && s.outstanding == n + 1 - a_key &&
              good_ones(p, 1, g, a_key) == 0 &&
              good_ones(p, 1, g + a_key, n + 1 - a_key) == n + 1 - a_key,
            "depth %u, %u keys: at the bound the oldest key, and no other", depth, keys);
      check(pool_expire(p, 101) == PPRF_OK, "expire");
      pool_stats(p, &s);
      check(s.outstanding == 0 && s.keys <= 1 && s.expired == n + 1 - a_key, "all expired");
      pool_free(p);
    }
  end_test("a_pool_grows_to_its_bound_and_gives_up_no_ticket_before_it");
}

/* Issue as many tickets a lifetime as all keys but one hold, indefinitely; and more, as a
 * control. */
static void sustained(void)
{
  enum { LIFETIME = 64, SECONDS = 4 * LIFETIME };
  static struct given g[SECONDS * 40];
  for (unsigned depth = 4; depth <= 8; depth++)
    for (unsigned keys = 2; keys <= 6; keys++)
      for (unsigned more = 0; more < 2; more++) {
        unsigned each = ((keys - 1) << depth) / (LIFETIME + LIFETIME / 32 + 2);
        if (each == 0 || each > 16)
          continue;
        each = more ? 2 * each + 2 : each; /* a second */
        struct pool *p;
        struct pprf_tickets_stats s;
        unsigned n = 0;
        check(pool_new(&p, depth, keys, LIFETIME, 0, suite) == PPRF_OK, "pool_new");
        for (uint64_t now = 1; now <= SECONDS; now++) {
          for (unsigned i = 0; i < each; i++)
            give(p, now, &g[n++]);
          unsigned alive = each * (now < LIFETIME ? (unsigned)now : LIFETIME);
          if (!more && now % 16 == 0)
            check(good_ones(p, now, g + n - alive, alive) == alive, "a ticket of this lifetime");
        }
        pool_stats(p, &s);
        check((s.dropped > 0) == more, "depth %u, %u keys, %u a second: %llu dropped", depth, keys,
              each, (unsigned long long)s.dropped);
        pool_free(p);
      }
  end_test("all_keys_but_one_hold_the_tickets_of_a_lifetime");
}

/* A process that expires many tickets releases the lock in between. */
static void slices(void)
{
  enum { DEPTH = 15, A_KEY = 1 << DEPTH };
  for (unsigned round = 0; round < 3; round++) {
    struct pool *p;
    struct pprf_tickets_stats s;
    struct given first, g;
    uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
    check(pool_new(&p, DEPTH, 2, 100, 0, suite) == PPRF_OK, "pool_new");
    give(p, 1, &first);
    for (unsigned i = 1; i < 2 * A_KEY; i++) /* two keys, so that none is free */
      check(pool_issue(p, i < A_KEY ? 1 : 2, name, &origin, value) == PPRF_OK, "issue");
    longest_slice = 0;
    if (round == 0) {
      check(pool_expire(p, 200) == PPRF_OK, "expire");
      pool_stats(p, &s);
      check(s.expired == 2 * A_KEY && s.outstanding == 0 && s.nodes == 0, "all expired");
    } else if (round == 1) {
      for (unsigned i = 1; i <= 3; i++) {
        check(pool_redeem(p, 101, first.ticket, 0) == PPRF_ERR_PUNCTURED, "an expired ticket");
        pool_stats(p, &s);
        check(s.expired == (i < 2 ? 0 : A_KEY) && s.outstanding == 2 * A_KEY - s.expired,
              "the first key's are %llu", (unsigned long long)s.expired);
      }
    } else { /* expired tickets are no loss, even if not yet punctured */
      give(p, 200, &g);
      pool_stats(p, &s);
      check(s.dropped == 0 && s.issued == 2 * A_KEY + 1 && s.outstanding == A_KEY + 1,
            "%llu dropped", (unsigned long long)s.dropped);
      check(pool_expire(p, 200) == PPRF_OK && opens(p, 200, &g) == PPRF_OK, "the new one is good");
      pool_stats(p, &s);
      check(s.expired == 2 * A_KEY && s.outstanding == 1 && s.keys == 1, "all the others expired");
    }
    check(longest_slice == 16384, "%llu leaves under one lock", (unsigned long long)longest_slice);
    pool_free(p);
  }
  end_test("tickets_expire_by_slices_and_others_have_the_lock_between_them");
}

static void memory_bounds_keys(void)
{
  for (unsigned depth = 4; depth <= 20; depth++) {
    struct pprf_tickets_stats s;
    uint64_t bytes = 0;
    unsigned last = pool_keys(depth, 0);
    check(last == 0, "no memory");
    while (last < 5) { /* the least memory for each number of keys */
      uint64_t high = bytes + (UINT64_C(1) << 32);
      while (bytes + 1 < high) {
        uint64_t middle = (bytes + high) / 2;
        *(pool_keys(depth, middle) > last ? &high : &bytes) = middle;
      }
      bytes = high;
      check(pool_keys(depth, bytes) == last + 1, "one key more");
      last++;
      if (last < POOL_KEYS_MIN || depth > 14)
        continue;
      struct pool *p;
      check(pool_new(&p, depth, last, 100, 0, suite) == PPRF_OK, "pool_new");
      uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
      pool_ticket ticket;
      for (unsigned i = 0; i < last << depth; i++)
        check(pool_issue(p, 1, name, &origin, value) == PPRF_OK &&
                pool_open(p, 1, name, &ticket, &origin, value) == PPRF_OK &&
                (i % 2 == 0 || pool_redeem(p, 1, ticket, 0) == PPRF_OK),
              "ticket %u", i);
      pool_stats(p, &s);
      check(s.keys == last && s.nodes == (uint64_t)last << (depth - 1),
            "all keys at their largest");
      /* and the handles */
      check(s.memory_bytes <= bytes + last * 2048, "depth %u, %u keys: %llu bytes of %llu", depth,
            last, (unsigned long long)s.memory_bytes, (unsigned long long)bytes);
      pool_free(p);
    }
    check(pool_keys(depth, UINT64_MAX) == POOL_KEYS_MAX, "64 at most");
  }
  end_test("the_keys_take_no_more_than_the_memory_they_may");
}

/* ---- another program ---- */

enum { HANDED = 40 };
struct handed {
  unsigned depth;
  struct given g[HANDED];
};

/* Part of the program started by exec; argument 2 is the pool's descriptor, 3 that of the
 * tickets. */
static int imported(int fd, int tickets_fd)
{
  struct pool *p;
  struct handed *h = mmap(NULL, sizeof *h, PROT_READ, MAP_SHARED, tickets_fd, 0);
  struct given g;
  if (h == MAP_FAILED)
    return 1;
  check(pool_import(&p, fd, h->depth, 4, 100, 0, 0) == PPRF_OK, "import, in whatever suite it is");
  if (tap_missed)
    return 1;
  struct pprf_tickets_stats s;
  pool_stats(p, &s);
  check(s.suite == h->g[0].origin.suite, "suite %llu", (unsigned long long)s.suite);
  for (unsigned i = 0; i < HANDED; i++)
    check(opens(p, 2, &h->g[i]) == (i % 2 ? PPRF_OK : PPRF_ERR_PUNCTURED), "ticket %u", i);
  for (unsigned i = 0; i < HANDED / 2; i++)
    check(pool_redeem(p, 2, h->g[i].ticket, 1) == (i % 2 ? PPRF_OK : PPRF_ERR_PUNCTURED),
          "redeem %u", i);
  give(p, 2, &g);
  check(pool_redeem(p, 2, g.ticket, 1) == PPRF_OK, "a ticket of its own");
  pool_free(p);
  return tap_missed > 0;
}

/* Number of words in the memory that are addresses of this process. */
static unsigned pointers_in(const uint64_t *word, size_t bytes)
{
  char line[512];
  unsigned found = 0;
  FILE *maps = fopen("/proc/self/maps", "r");
  unsigned long long from, to;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
    if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
      for (size_t i = 0; i < bytes / sizeof *word; i++)
        found += word[i] >= from && word[i] < to;
  check(maps != NULL, "/proc/self/maps");
  if (maps != NULL)
    (void)fclose(maps);
  return found;
}

/* Words of an exported pool that are addresses; at these depths all of it can be searched. */
static unsigned pointers_in_pool(int fd)
{
  struct stat st;
  check(fstat(fd, &st) == 0, "fstat");
  uint64_t *memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
  uint64_t control = (uint64_t)(uintptr_t)memory;
  check(pointers_in(&control, sizeof control) == 1, "control: an address is seen");
  unsigned found = pointers_in(memory, (size_t)st.st_size);
  (void)munmap(memory, (size_t)st.st_size);
  return found;
}

static void give_and_redeem(struct pool *p, struct given g[HANDED])
{
  for (unsigned i = 0; i < HANDED; i++) {
    give(p, 1, &g[i]);
    if (i % 2 == 0)
      check(pool_redeem(p, 1, g[i].ticket, 1) == PPRF_OK, "redeem");
  }
}

/* The same for another pool: half a seed may look like an address, once in about 2^32, but not in
 * two pools. */
static unsigned pointers_in_another(unsigned depth)
{
  static struct given g[HANDED];
  struct pool *p = new_pool(depth, 100, 0);
  int fd = -1;
  give_and_redeem(p, g);
  check(pool_export(p, &fd) == PPRF_OK, "export");
  unsigned found = pointers_in_pool(fd);
  (void)close(fd);
  pool_free(p);
  return found;
}

static void handed_over(const char *program, unsigned depth)
{
  struct pool *p = new_pool(depth, 100, 0), *q;
  int tickets_fd = memfd_create("tickets", 0), fd = -1, status = 1;
  check(tickets_fd >= 0 && ftruncate(tickets_fd, sizeof(struct handed)) == 0, "memfd");
  struct handed *h = mmap(NULL, sizeof *h, PROT_READ | PROT_WRITE, MAP_SHARED, tickets_fd, 0);
  h->depth = depth;
  give_and_redeem(p, h->g);
  check(pool_export(p, &fd) == PPRF_OK && fd > 2, "export");
  check(pointers_in_pool(fd) == 0 || pointers_in_another(depth) == 0, "an address in the mapping");

  check(pool_import(&q, fd, depth + 1, 4, 100, 0, suite) == PPRF_TLS_ERR_OPTION && q == NULL &&
          pool_import(&q, fd, depth, 5, 100, 0, suite) == PPRF_TLS_ERR_OPTION &&
          pool_import(&q, fd, depth, 4, 101, 0, suite) == PPRF_TLS_ERR_OPTION &&
          pool_import(&q, fd, depth, 4, 100, 100, suite) == PPRF_TLS_ERR_OPTION,
        "other options");
  char a[16], b[16];
  (void)snprintf(a, sizeof a, "%d", fd);
  (void)snprintf(b, sizeof b, "%d", tickets_fd);
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    (void)execl(program, program, "import", a, b, (char *)NULL);
    _exit(127);
  }
  check(waitpid(pid, &status, 0) == pid && status == 0, "the other program: %x", (unsigned)status);
  /* the same process may map it twice, at two addresses */
  check(pool_import(&q, fd, depth, 4, 100, 0, suite) == PPRF_OK, "import");
  (void)close(fd);
  for (unsigned i = 0; i < HANDED; i++) {
    int want = i % 2 && i >= HANDED / 2 ? PPRF_OK : PPRF_ERR_PUNCTURED;
    check(opens(p, 3, &h->g[i]) == want && opens(q, 3, &h->g[i]) == want, "afterwards: %u", i);
  }
  check(pool_redeem(p, 3, h->g[HANDED - 1].ticket, 1) == PPRF_OK &&
          pool_redeem(q, 3, h->g[HANDED - 1].ticket, 1) == PPRF_ERR_PUNCTURED,
        "once");
  pool_free(p); /* the maker has exported it, so this ends nothing */
  check(opens(q, 3, &h->g[HANDED - 3]) == PPRF_OK, "still good");
  pool_free(q);
  (void)munmap(h, sizeof *h);
  (void)close(tickets_fd);
  end_test(depth < 16 ? "tickets_live_on_in_a_program_that_is_executed"
                      : "tickets_of_many_shards_live_on_in_a_program_that_is_executed");
}

/* ---- suites ---- */

enum { PLACES_MAX = 96 };
struct seen {
  unsigned n;
  struct given g[PLACES_MAX];
};

/* Issue some tickets and keep them. */
static void give_some(struct pool *p, unsigned n, struct seen *seen)
{
  for (unsigned i = 0; i < n && check(seen->n < PLACES_MAX, "room"); i++)
    give(p, 1, &seen->g[seen->n++]);
}

static int same_salt(const struct given *a, const struct given *b)
{
  return memcmp(a->origin.salt, b->origin.salt, sizeof a->origin.salt) == 0;
}

/* Trees of all kinds: first ones, of a further key, after a rotation, used again after they were revoked, and
 * those that another process starts. */
static void salts(void)
{
  enum { DEPTH = 4 };
  struct seen *seen =
    mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct pool *p = new_pool(DEPTH, 100, 0);
  unsigned mark[6], marks = 0;
  int status = 1;
  mark[marks++] = 0;
  give_some(p, 17, seen); /* the last is of a further tree */
  mark[marks++] = 16;
  check(pool_rotate(p, 1) == PPRF_OK, "rotate");
  mark[marks++] = seen->n;
  give_some(p, 3, seen);
  check(pool_redeem(p, 1, seen->g[0].ticket, 1) == PPRF_OK, "redeem");
  mark[marks++] = seen->n;
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    check(pool_rotate(p, 1) == PPRF_OK, "rotate");
    give_some(p, 3, seen);
    check(opens(p, 1, &seen->g[1]) == PPRF_OK, "a ticket of the parent's");
    _exit(tap_missed > 0);
  }
  check(waitpid(pid, &status, 0) == pid && status == 0, "child");
  check(seen->n == mark[marks - 1] + 3, "the child's tickets");
  for (unsigned i = 1; i < seen->n; i++)
    check(opens(p, 1, &seen->g[i]) == PPRF_OK, "ticket %u, whoever started its tree", i);
  unsigned revoked = seen->n;
  check(pool_revoke(p, 1) == PPRF_OK, "revoke");
  mark[marks++] = seen->n;
  give_some(p, 3, seen);
  for (unsigned i = 0; i < revoked; i++)
    check(opens(p, 1, &seen->g[i]) == PPRF_ERR_PUNCTURED, "revoked: %u", i);
  for (unsigned a = 0, t = 0; a < seen->n; a++) {
    while (t + 1 < marks && mark[t + 1] <= a)
      t++;
    const struct given *g = &seen->g[a], *first = &seen->g[mark[t]];
    check(g->origin.suite == suite && g->origin.leaf == a - mark[t], "ticket %u", a);
    check(same_salt(g, first), "two salts in a tree: %u", a);
    for (unsigned u = 0; u < t; u++)
      check(same_salt(g, &seen->g[mark[u]]) == (suite == PPRF_SHA3_256), "trees %u and %u", t, u);
  }
  if (suite == PPRF_SHA3_256)
    check(memcmp(seen->g[0].origin.salt, (uint8_t[PPRF_SALT_BYTES]){0}, PPRF_SALT_BYTES) == 0,
          "a salt");
  pool_free(p);
  (void)munmap(seen, sizeof *seen);
  end_test("every_tree_has_a_salt_of_its_own_that_all_processes_know");
}

/* Both halves of a salt are random: a salt or half that is never set is detected. */
static void salts_are_drawn(void)
{
  uint8_t ones[PPRF_SALT_BYTES] = {0}, zeros[PPRF_SALT_BYTES] = {0};
  struct pool *p = new_pool(10, 100, 0);
  struct given g;
  for (unsigned i = 0; i < 64; i++) {
    check(pool_revoke(p, 1) == PPRF_OK, "revoke");
    give(p, 1, &g);
    for (unsigned k = 0; k < PPRF_SALT_BYTES; k++) {
      ones[k] |= g.origin.salt[k];
      zeros[k] |= (uint8_t)~g.origin.salt[k];
    }
  }
  for (unsigned k = 0; k < PPRF_SALT_BYTES; k++)
    check(suite == PPRF_SHA3_256 ? ones[k] == 0 : ones[k] == 255 && zeros[k] == 255,
          "bits of byte %u that never change: %x", k, ~(ones[k] & zeros[k]) & 255u);
  pool_free(p);
  end_test("each_bit_of_a_salt_is_drawn");
}

/* If drawing a salt fails there is no tree and no ticket; the next attempt works.  One draw fails
 * at a time. */
static void no_randomness(void)
{
  struct given g;
  for (unsigned draws = 0; draws < 2; draws++) { /* a suite without a salt draws only the root */
    struct pool *p = new_pool(10, 100, 0);
    uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
    draws_until_failure = (long)draws;
    int err = pool_issue(p, 1, name, &origin, value);
    draws_until_failure = -1;
    int want = suite == PPRF_SHA3_256 && draws == 1 ? PPRF_OK : PPRF_ERR_CRYPTO;
    check(err == want, "draw %u fails: %d", draws, err);
    struct pprf_tickets_stats s;
    pool_stats(p, &s);
    check(s.keys == (want == PPRF_OK) && s.issued == (want == PPRF_OK), "a tree, or a ticket");
    give(p, 1, &g);
    check(opens(p, 1, &g) == PPRF_OK, "the next ticket");
    pool_free(p);
  }
  end_test("a_tree_without_a_random_root_or_salt_is_not_started");
}

/* A pool's header names its suite, at SUITE_WORD. */
static void imports_by_suite(void)
{
  enum { SUITE_WORD = 6 };
  struct pool *p = new_pool(6, 100, 0), *q = p;
  struct given g;
  struct stat st;
  int fd = -1;
  give(p, 1, &g);
  check(pool_export(p, &fd) == PPRF_OK && fstat(fd, &st) == 0, "export");
  uint64_t *memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  check(memory[SUITE_WORD] == suite, "control: the suite's place");
  for (unsigned other = 0; other <= PPRF_AES_128; other++) {
    int err = pool_import(&q, fd, 6, 4, 100, 0, other);
    if (other == 0 || other == suite) {
      check(err == PPRF_OK, "suite %u: %d", other, err);
      struct pprf_tickets_stats s;
      pool_stats(q, &s);
      check(s.suite == suite && opens(q, 1, &g) == PPRF_OK, "its ticket");
      check(pool_rotate(q, 1) == PPRF_OK, "rotate");
      struct given own;
      give(q, 1, &own);
      check(own.origin.suite == suite && opens(p, 1, &own) == PPRF_OK, "a tree started there");
      pool_free(q);
    } else {
      check(err == PPRF_TLS_ERR_OPTION && q == NULL, "suite %u: %d", other, err);
    }
  }
  const uint64_t unknown[] = {0, PPRF_AES_128 + 1, 255, (UINT64_C(1) << 32) + suite, UINT64_MAX};
  for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    memory[SUITE_WORD] = unknown[i];
    check(pool_import(&q, fd, 6, 4, 100, 0, 0) == PPRF_ERR_SUITE && q == NULL, "suite %llu, any",
          (unsigned long long)unknown[i]);
    check(pool_import(&q, fd, 6, 4, 100, 0, suite) == PPRF_ERR_SUITE && q == NULL, "suite %llu",
          (unsigned long long)unknown[i]);
  }
  memory[SUITE_WORD] = suite;
  uint64_t layout = memory[0];
  for (uint64_t version = 0; version < 4; version++) { /* those that named no suite */
    memory[0] = (layout & UINT64_MAX >> 8) | version << 56;
    check(pool_import(&q, fd, 6, 4, 100, 0, 0) == PPRF_TLS_ERR_FD && q == NULL, "layout %llu",
          (unsigned long long)version);
  }
  memory[0] = layout;
  check(pool_import(&q, fd, 6, 4, 100, 0, 0) == PPRF_OK, "as it was");
  pool_free(q);
  (void)munmap(memory, (size_t)st.st_size);
  (void)close(fd);
  pool_free(p);
  end_test("a_pool_is_imported_in_its_own_suite_and_none_that_is_not_known");
}

static void wrong_descriptors(void)
{
  struct pool *p = new_pool(6, 100, 0), *q = p;
  int fd = -1, pipes[2];
  check(pool_import(&q, -1, 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD && q == NULL, "none");
  check(pipe(pipes) == 0 && pool_import(&q, pipes[0], 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD,
        "a pipe");
  int file = memfd_create("other", MFD_ALLOW_SEALING);
  check(pool_import(&q, file, 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD, "unsealed memory");
  check(ftruncate(file, 4096) == 0 && fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 &&
          pool_import(&q, file, 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD,
        "memory of something else");
  check(pool_export(p, &fd) == PPRF_OK, "export");
  struct stat st;
  check(fstat(fd, &st) == 0, "fstat");
  uint8_t *memory = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  for (unsigned at = 0; at < 16; at++) { /* another layout, another size */
    memory[at] ^= 1;
    check(pool_import(&q, fd, 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD, "byte %u changed", at);
    memory[at] ^= 1;
  }
  /* like a pool's, except that it can shrink */
  int copy = memfd_create("copy", MFD_ALLOW_SEALING);
  check(ftruncate(copy, st.st_size) == 0 && pwrite(copy, memory, 4096, 0) == 4096 &&
          fcntl(copy, F_ADD_SEALS, F_SEAL_GROW) == 0 &&
          pool_import(&q, copy, 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD,
        "memory that can shrink");
  (void)close(copy);
  (void)munmap(memory, (size_t)st.st_size);
  check(ftruncate(fd, 0) != 0, "the memory can shrink under those who map it");
  check(pool_import(&q, fd, 6, 4, 100, 0, suite) == PPRF_OK, "the right one");
  pool_adopt(q);
  pool_free(q);
  check(pool_import(&q, fd, 6, 4, 100, 0, suite) == PPRF_TLS_ERR_FD && q == NULL, "it has ended");
  /* a program closes descriptors it does not own and reuses the numbers */
  for (int i = 3; i < 64; i++)
    if (i != pipes[0] && fstat(i, &st) == 0 && S_ISREG(st.st_mode))
      (void)close(i);
  check(pool_export(p, &fd) == PPRF_TLS_ERR_FD, "the pool's descriptor is gone");
  for (int i = 3; i < 64; i++)
    (void)dup2(pipes[0], i);
  check(pool_export(p, &fd) == PPRF_TLS_ERR_FD, "and is another file's");
  pool_free(p);
  char c;
  check(fcntl(pipes[0], F_GETFD) >= 0 && fcntl(40, F_GETFD) >= 0, "another file was closed");
  (void)c;
  for (int i = 3; i < 64; i++)
    (void)close(i);
  end_test("descriptors_that_are_not_a_pools_are_refused_and_left_alone");
}

/* A daemon may have closed its standard streams.  None of their numbers is the pool's: what is printed would go
 * into its memory. */
static void standard_streams(void)
{
  for (unsigned closed = 1; closed < 8; closed++) {
    int saved[3] = {-1, -1, -1}, fd = -1, taken = 0;
    fflush(stdout);
    for (int i = 0; i < 3; i++)
      if (closed >> i & 1) {
        saved[i] = fcntl(i, F_DUPFD, 3);
        (void)close(i);
      }
    struct pool *p = new_pool(6, 100, 0);
    struct given g;
    give(p, 1, &g);
    int opened = opens(p, 1, &g), exported = pool_export(p, &fd);
    int seals = fcntl(fd, F_GET_SEALS), wanted = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    for (int i = 0; i < 3; i++)
      taken |= saved[i] >= 0 && fcntl(i, F_GETFD) >= 0;
    (void)close(fd);
    pool_free(p);
    for (int i = 0; i < 3; i++)
      if (saved[i] >= 0) {
        (void)dup2(saved[i], i);
        (void)close(saved[i]);
      }
    check(opened == PPRF_OK && exported == PPRF_OK, "closed %u: a ticket, an export", closed);
    check(!taken, "closed %u: one of the numbers is taken", closed);
    check(seals >= 0 && (seals & wanted) == wanted, "closed %u: seals %d", closed, seals);
  }
  end_test("a_program_without_standard_streams_prints_into_no_pool");
}

/* ---- races ---- */

enum { ROUNDS = 1000, RACERS = 2 };
static struct race {
  pthread_barrier_t barrier;
  signed char result[ROUNDS][RACERS];
} *race;
static struct pool *race_pool;
static struct given race_ticket[ROUNDS];

static void *run_race(void *arg)
{
  unsigned me = *(unsigned *)arg;
  for (unsigned r = 0; r < ROUNDS; r++) {
    (void)pthread_barrier_wait(&race->barrier);
    race->result[r][me] =
      (signed char)pool_redeem(race_pool, 1, race_ticket[r].ticket, (int)(r + me) % 2);
  }
  return NULL;
}

static void races(int processes)
{
  unsigned id[RACERS] = {0, 1};
  pid_t pid[RACERS];
  pthread_t thread[RACERS];
  pthread_barrierattr_t attr;
  race = mmap(NULL, sizeof *race, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  (void)pthread_barrierattr_init(&attr);
  (void)pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
  (void)pthread_barrier_init(&race->barrier, &attr, RACERS);
  memset(race->result, -1, sizeof race->result);
  race_pool = new_pool(12, 100, 0);
  for (unsigned r = 0; r < ROUNDS; r++)
    give(race_pool, 1, &race_ticket[r]);
  for (unsigned i = 0; i < RACERS; i++) {
    if (!processes)
      check(pthread_create(&thread[i], NULL, run_race, &id[i]) == 0, "thread");
    else if ((pid[i] = fork()) == 0) {
      (void)run_race(&id[i]);
      _exit(0);
    }
  }
  for (unsigned i = 0; i < RACERS; i++) {
    int status = 0;
    if (processes)
      check(waitpid(pid[i], &status, 0) == pid[i] && status == 0, "racer %u", i);
    else
      (void)pthread_join(thread[i], NULL);
  }
  unsigned first = 0;
  for (unsigned r = 0; r < ROUNDS; r++) {
    unsigned won = 0, lost = 0;
    for (unsigned i = 0; i < RACERS; i++) {
      won += race->result[r][i] == PPRF_OK;
      lost += race->result[r][i] == PPRF_ERR_PUNCTURED;
    }
    check(won == 1 && lost == RACERS - 1, "round %u: %u won, %u lost", r, won, lost);
    first += race->result[r][0] == PPRF_OK;
  }
  struct pprf_tickets_stats s;
  pool_stats(race_pool, &s);
  check(s.resumed + s.early_accepted == ROUNDS && s.outstanding == 0, "stats");
  printf("# the first racer won %u of %d rounds\n", first, ROUNDS);
  pool_free(race_pool);
  (void)munmap(race, sizeof *race);
  end_test(processes ? "of_two_processes_exactly_one_redeems_1000_rounds"
                     : "of_two_threads_exactly_one_redeems_1000_rounds");
}

/* ---- processes that die ---- */

/* Whether the next owner learns that a lock's owner died.  The kernel reports it; qemu's user mode
 * does not, and everybody would wait forever. */
static int death_is_told(void)
{
  pthread_mutex_t *lock =
    mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t attr;
  if (lock == MAP_FAILED || pthread_mutexattr_init(&attr) != 0 ||
      pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 ||
      pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) != 0 ||
      pthread_mutex_init(lock, &attr) != 0)
    return 1; /* the tests that need it will say so */
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0)
    _exit(pthread_mutex_lock(lock) != 0);
  (void)waitpid(pid, NULL, 0);
  int told = pthread_mutex_trylock(lock) == EOWNERDEAD;
  if (told) /* otherwise this thread's robust list would name freed memory */
    (void)pthread_mutex_consistent(lock), (void)pthread_mutex_unlock(lock);
  (void)munmap(lock, sizeof *lock);
  return told;
}

/* A process dies at this place during a change; then check what the others see. */
static void die_in_the_middle(enum place place, const char *name)
{
  struct pool *p = new_pool(10, 100, 150);
  struct given old[20], young[20], fresh;
  struct pprf_tickets_stats s;
  for (unsigned i = 0; i < 20; i++)
    give(p, 100, &old[i]); /* this tree retires at 250 */
  for (unsigned i = 0; i < 20; i++)
    give(p, 195, &old[i]);
  for (unsigned i = 0; i < 20; i++)
    give(p, 250, &young[i]);
  check(pool_redeem(p, 250, old[3].ticket, 1) == PPRF_OK, "redeem");
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    die_at = place;
    inject_half = place == HALF_PUNCT ? half_way : NULL;
    switch (place) {
    case IN_RANGE: /* the old tree's last ticket has expired */
    case IN_CLEAR:
      (void)pool_expire(p, 310);
      break;
    case IN_START:
      (void)pool_issue(p, 400, fresh.name, &origin, fresh.value);
      break;
    default:
      (void)pool_redeem(p, 260, old[7].ticket, 1);
    }
    _exit(0);
  }
  int status;
  (void)alarm(60); /* wedged: the test dies */
  check(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
        "it was not killed: %x", (unsigned)status);
  uint64_t now = 260;
  if (place == IN_START) /* it saw a later time */
    now = 400;
  else if (place == IN_CLEAR || place == IN_RANGE)
    now = 310;
  for (unsigned i = 0; i < 20; i++) {
    check(opens(p, now, &old[i]) == PPRF_ERR_PUNCTURED, "a ticket of the changed tree opens");
    check(pool_redeem(p, now, old[i].ticket, 1) == PPRF_ERR_PUNCTURED, "it is redeemed");
    check(opens(p, now, &young[i]) == (now < 350 ? PPRF_OK : PPRF_ERR_PUNCTURED),
          "a ticket of another tree: %u", i);
  }
  give(p, now, &fresh);
  check(pool_redeem(p, now, fresh.ticket, 1) == PPRF_OK, "a new ticket");
  check(pool_redeem(p, now, fresh.ticket, 1) == PPRF_ERR_PUNCTURED, "a new ticket, again");
  pool_stats(p, &s);
  check(s.dropped == 1, "dropped %llu", (unsigned long long)s.dropped);
  (void)alarm(0);
  pool_free(p);
  end_test(name);
}

/* Processes are killed at random times, repeatedly. */
static void die_anywhere(void)
{
  enum { KILLS = 60, EACH = 3000 };
  struct done {
    _Atomic int started;
    _Atomic unsigned char used[EACH];
  } *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct pool *p = new_pool(16, 100, 0);
  static struct given g[EACH];
  unsigned acknowledged = 0, lost = 0;
  (void)alarm(120);
  for (unsigned k = 0; k < KILLS && !tap_missed; k++) {
    for (unsigned i = 0; i < EACH; i++) {
      give(p, 1, &g[i]);
      atomic_store(&done->used[i], 0);
    }
    atomic_store(&done->started, 0);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
      atomic_store(&done->started, 1);
      for (unsigned i = 0; i < EACH; i++)
        if (pool_redeem(p, 1, g[i].ticket, 1) == PPRF_OK)
          atomic_store(&done->used[i], 1);
      _exit(0);
    }
    struct timespec nap = {0, 20000};
    while (atomic_load(&done->started) == 0)
      (void)nanosleep(&nap, NULL);
    nap.tv_nsec = (long)rnd(3000000);
    (void)nanosleep(&nap, NULL);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    for (unsigned i = 0; i < EACH; i++) {
      int err = opens(p, 1, &g[i]); /* a value, if any, is correct */
      if (atomic_load(&done->used[i])) {
        acknowledged++;
        check(err == PPRF_ERR_PUNCTURED, "a used ticket opens");
      } else {
        lost += err != PPRF_OK;
        check(pool_redeem(p, 1, g[i].ticket, 1) == err, "redeem and open disagree");
      }
    }
  }
  (void)alarm(0);
  struct pprf_tickets_stats s;
  pool_stats(p, &s);
  printf("# %d processes killed: %u tickets used, %u lost, %llu trees dropped\n", KILLS,
         acknowledged, lost, (unsigned long long)s.dropped);
  pool_free(p);
  (void)munmap(done, sizeof *done);
  end_test("processes_killed_at_any_time_revive_no_ticket");
}

/* ---- a PRG that fails ---- */

static void prg_failures(void)
{
  static const uint8_t zero[POOL_NAME_BYTES];
  for (long k = 0; k < 10; k++) {
    struct pool *p = new_pool(10, 100, 0);
    struct given g, next;
    struct pprf_tickets_stats before, after;
    uint8_t value[PPRF_SEED_BYTES];
    pool_ticket ticket;
    give(p, 1, &g);
    pool_stats(p, &before);
    inject_expands = k;
    int err = pool_redeem(p, 1, g.ticket, 1);
    inject_expands = k;
    int opened = pool_open(p, 1, g.name, &ticket, &origin, value);
    int wiped = memcmp(value, zero, sizeof value) == 0;
    inject_expands = k;
    int issued = pool_issue(p, 1, next.name, &origin, next.value);
    inject_expands = -1;
    check(err == PPRF_ERR_CRYPTO && opened == PPRF_ERR_CRYPTO && issued == PPRF_ERR_CRYPTO,
          "failure at call %ld: %d %d %d", k, err, opened, issued);
    check(wiped && memcmp(next.name, zero, sizeof zero) == 0 &&
            memcmp(next.value, zero, sizeof next.value) == 0,
          "outputs are zero");
    pool_stats(p, &after);
    check(after.nodes == before.nodes && after.outstanding == 1 && after.issued == 1 &&
            after.early_rejected == 1 && after.early_accepted == 0 && after.refused == 1,
          "stats");
    check(opens(p, 1, &g) == PPRF_OK, "the key is as it was");
    give(p, 1, &next);
    check(pool_redeem(p, 1, g.ticket, 1) == PPRF_OK && pool_redeem(p, 1, next.ticket, 0) == PPRF_OK,
          "and serves again");
    pool_free(p);
  }
  end_test("prg_failure_rejects_early_data_and_leaves_the_key_as_it_was");

  static int (*const expires[])(struct pool *, uint64_t) = {pool_expire, pool_rotate};
  for (unsigned k = 0; k < 2; k++) {
    struct pool *p = new_pool(10, 100, 0);
    struct given g[3];
    struct pprf_tickets_stats s;
    for (unsigned i = 0; i < 3; i++)
      give(p, 1, &g[i]);
    inject_expands = 2;
    check(expires[k](p, 101) == PPRF_ERR_CRYPTO, "%u: expire fails", k);
    inject_expands = -1;
    check(opens(p, 101, &g[1]) == PPRF_ERR_PUNCTURED, "%u: expired all the same", k);
    pool_stats(p, &s);
    check(s.expired == 0 && s.outstanding == 3, "%u: not counted yet", k);
    check(expires[k](p, 101) == PPRF_OK, "%u: expire again", k);
    pool_stats(p, &s);
    check(s.expired == 3 && s.outstanding == 0, "%u: counted once", k);
    pool_free(p);
  }
  end_test("failed_expiry_is_made_up_for");
}

/* ---- shared keys ---- */

/* Whether released memory is unmapped: under emulation it reads as zero but stays. */
static int memory_goes_back(void)
{
  size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char there = 1;
  unsigned char *page =
    mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED)
    return 1;
  page[0] = 1;
  if (madvise(page, bytes, MADV_REMOVE) != 0 || mincore(page, bytes, &there) != 0)
    there = 0;
  (void)munmap(page, bytes);
  return (there & 1) == 0;
}

/* Map a key's memory; each call adds another mapping. */
static void *map_key(int fd, unsigned depth)
{
  void *memory = mmap(NULL, pprf_shared_bytes(depth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  check(memory != MAP_FAILED, "map");
  return memory;
}

static void shared_keys(void)
{
  enum { DEPTH = 16, LEAVES = 1 << DEPTH };
  static const uint8_t zero[PPRF_SALT_BYTES];
  int back = memory_goes_back(), fd = memfd_create("test_pool", MFD_CLOEXEC);
  pprf_key *key, *other;
  uint8_t a[PPRF_SEED_BYTES], b[PPRF_SEED_BYTES], salt[PPRF_SALT_BYTES];
  check(ftruncate(fd, (off_t)pprf_shared_bytes(DEPTH)) == 0, "size");
  void *memory[] = {map_key(fd, DEPTH), map_key(fd, DEPTH)};
  check(pprf_shared_open(&key, DEPTH, memory[0]) == PPRF_OK &&
          pprf_shared_open(&other, DEPTH, memory[1]) == PPRF_OK,
        "open");
  pprf_shared_clear(key);
  check(pprf_eval(key, 0, a) == PPRF_ERR_PUNCTURED &&
          pprf_eval(key, LEAVES - 1, a) == PPRF_ERR_PUNCTURED && pprf_node_count(key) == 0,
        "all punctured at first");
  size_t empty = pprf_shared_memory_bytes(key);
  for (unsigned round = 0; round < 5; round++) {
    check(pprf_shared_start(key, suite, salt) == PPRF_OK && pprf_node_count(key) == 1, "start");
    check((memcmp(salt, zero, sizeof salt) == 0) == (suite == PPRF_SHA3_256), "a salt");
    check(pprf_eval(key, 12345, b) == PPRF_OK, "eval");
    check(round == 0 || memcmp(a, b, sizeof a) != 0, "a new key, not the last one");
    memcpy(a, b, sizeof a);
    for (uint64_t leaf = 0; leaf < LEAVES; leaf += 2)
      if (round == 0 || rnd(2))
        check(pprf_punct(key, leaf) == PPRF_OK, "punct");
    size_t full = pprf_shared_memory_bytes(key);
    check(!back || full > empty + 100000, "memory at the peak: %zu, empty %zu", full, empty);
    check(pprf_shared_set(other, suite, salt, pprf_node_count(key)) == PPRF_OK &&
            pprf_eval(other, 12345, b) == PPRF_OK && memcmp(a, b, sizeof a) == 0 &&
            pprf_punct(other, 12345) == PPRF_OK,
          "at another address it is the same key");
    check(pprf_eval(key, 12345, b) == PPRF_ERR_PUNCTURED,
          "what another handle has punctured is gone");
    check(pprf_shared_set(key, suite, salt, pprf_node_count(other)) == PPRF_OK &&
            pprf_node_count(key) == pprf_node_count(other),
          "its nodes are carried over");
    if (round % 2 == 1)
      check(pprf_punct_range(key, 0, LEAVES - 1) == PPRF_OK, "puncture the rest");
    if (round == 2) /* whatever a writer that died has left there */
      for (size_t i = 0; i < pprf_shared_bytes(DEPTH); i += 1 + rnd(4000))
        ((uint8_t *)memory[1])[i] ^= (uint8_t)(1 + rnd(255));
    pprf_shared_clear(round == 3 ? other : key);
    pprf_shared_clear(key);
    check(pprf_node_count(key) == 0 && pprf_eval(key, 12345, b) == PPRF_ERR_PUNCTURED, "clear");
    for (uint64_t leaf = 0; round == 2 && leaf < LEAVES; leaf++)
      check(pprf_eval(key, leaf, b) == PPRF_ERR_PUNCTURED, "leaf %llu", (unsigned long long)leaf);
    check(!back || pprf_shared_memory_bytes(key) <= empty + 8192,
          "memory goes back: %zu, empty %zu", pprf_shared_memory_bytes(key), empty);
  }
  pid_t pid;
  int status;
  check(pprf_shared_start(key, suite, salt) == PPRF_OK && pprf_eval(key, 7, a) == PPRF_OK, "start");
  if ((pid = fork()) == 0)
    _exit(!(pprf_eval(key, 7, b) == PPRF_OK && memcmp(a, b, sizeof a) == 0 &&
            pprf_punct(key, 7) == PPRF_OK));
  check(waitpid(pid, &status, 0) == pid && status == 0, "child");
  check(pprf_eval(key, 7, b) == PPRF_ERR_PUNCTURED, "the child's puncture is seen");
  pprf_shared_close(key);
  pprf_shared_close(other);
  for (unsigned i = 0; i < 2; i++)
    (void)munmap(memory[i], pprf_shared_bytes(DEPTH));
  (void)close(fd);
  end_test(back ? "shared_keys_start_clear_and_give_their_memory_back"
                : "shared_keys_start_clear # SKIP of the memory: it is not given back here");
}

static void shared_keys_refuse(void)
{
  static const uint8_t zero[PPRF_SEED_BYTES];
  static const unsigned no_suite[] = {0, PPRF_MLS_SHA256, PPRF_MLS_SHA256 + 1, 64, UINT_MAX};
  int salted = suite != PPRF_SHA3_256;
  size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = pprf_shared_bytes(10);
  uint8_t *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  uint8_t a[PPRF_SEED_BYTES], b[PPRF_SEED_BYTES], salt[PPRF_SALT_BYTES], before[PPRF_SALT_BYTES];
  pprf_key *key;
  check(pprf_shared_bytes(0) == 0 && pprf_shared_bytes(33) == 0 &&
          pprf_shared_bytes(UINT_MAX) == 0 && bytes > 0 && bytes % page == 0,
        "bytes");
  check(pprf_shared_open(NULL, 10, memory) == PPRF_ERR_NULL, "open into NULL");
  static const struct {
    unsigned depth, at;
    int err;
  } bad[] = {{0, 0, PPRF_ERR_RANGE}, {33, 0, PPRF_ERR_RANGE}, {10, 8, PPRF_ERR_RANGE}};
  for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
    key = (pprf_key *)(void *)memory;
    check(pprf_shared_open(&key, bad[i].depth, memory + bad[i].at) == bad[i].err && key == NULL,
          "open %u", i);
  }
  check(pprf_shared_open(&key, 10, NULL) == PPRF_ERR_NULL && key == NULL, "no memory");
  callocs_until_failure = 0;
  check(pprf_shared_open(&key, 10, memory) == PPRF_ERR_NOMEM && key == NULL, "no handle");
  callocs_until_failure = -1;
  check(pprf_shared_open(&key, 10, memory) == PPRF_OK, "open");
  check(pprf_shared_start(key, suite, salt) == PPRF_OK && pprf_eval(key, 3, a) == PPRF_OK, "start");
  memcpy(before, salt, sizeof salt);
  for (unsigned i = 0; i < sizeof no_suite / sizeof *no_suite; i++) {
    check(pprf_shared_set(key, no_suite[i], salt, 1) == PPRF_ERR_SUITE, "set %u", i);
    check(pprf_shared_start(key, no_suite[i], salt) == PPRF_ERR_SUITE &&
            memcmp(salt, zero, sizeof salt) == 0,
          "start %u", i);
    memcpy(salt, before, sizeof salt);
    memset(b, 1, sizeof b);
    check(pprf_split_value(no_suite[i], salt, 3, a, b, before) == PPRF_ERR_SUITE &&
            memcmp(b, zero, sizeof b) == 0 && memcmp(before, zero, sizeof before) == 0,
          "split %u", i);
    memcpy(before, salt, sizeof salt);
  }
  check(pprf_shared_set(NULL, suite, salt, 1) == PPRF_ERR_NULL &&
          pprf_shared_set(key, suite, salt, 513) == PPRF_ERR_RANGE &&
          pprf_shared_set(key, suite, NULL, 1) == (salted ? PPRF_ERR_NULL : PPRF_OK) &&
          pprf_shared_start(NULL, suite, before) == PPRF_ERR_NULL &&
          pprf_shared_start(key, suite, NULL) == PPRF_ERR_NULL,
        "what is refused");
  for (long draw = 0; draw < 1 + salted; draw++) {
    draws_until_failure = draw;
    check(pprf_shared_start(key, suite, before) == PPRF_ERR_CRYPTO &&
            memcmp(before, zero, sizeof before) == 0,
          "draw %ld", draw);
    draws_until_failure = -1;
  }
  check(pprf_eval(key, 3, b) == PPRF_OK && memcmp(a, b, sizeof a) == 0 && pprf_node_count(key) == 1,
        "the key is as it was");
  check(pprf_split_value(suite, salt, UINT64_C(1) << 63, a, b, before) == PPRF_ERR_RANGE &&
          pprf_split_value(suite, salted ? NULL : salt, 3, salted ? a : NULL, b, before) ==
            PPRF_ERR_NULL &&
          pprf_split_value(suite, salt, 3, a, NULL, before) == PPRF_ERR_NULL &&
          pprf_split_value(suite, salt, 3, a, b, NULL) == PPRF_ERR_NULL,
        "what is not split");
  inject_expands = 0;
  check(pprf_split_value(suite, salt, 3, a, b, before) == PPRF_ERR_CRYPTO &&
          memcmp(b, zero, sizeof b) == 0 && memcmp(before, zero, sizeof before) == 0,
        "split without a PRG");
  inject_expands = -1;
  check(pprf_split_value(suite, salt, 3, a, b, before) == PPRF_OK &&
          memcmp(b, before, sizeof b) != 0 && memcmp(a, b, sizeof b) != 0,
        "split");
  uint8_t right[PPRF_SEED_BYTES];
  check(pprf_split_value(suite, salt, 3, a, a, right) == PPRF_OK &&
          memcmp(a, b, PPRF_SEED_BYTES) == 0 && memcmp(right, before, PPRF_SEED_BYTES) == 0,
        "split in the value's place");
  check(pprf_shared_handle_bytes(NULL) == 0 && pprf_shared_memory_bytes(NULL) == 0 &&
          pprf_shared_memory_bytes(key) > pprf_shared_handle_bytes(key),
        "bytes held");
  pprf_shared_clear(NULL);
  pprf_shared_lock(NULL);
  pprf_shared_close(NULL);
  pprf_shared_close(key);
  (void)munmap(memory, bytes);
  end_test("shared_keys_refuse_what_they_cannot_be");
}

static void memory(void)
{
  struct pool *p = new_pool(18, 100, 0);
  struct pprf_tickets_stats empty, full, over;
  uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
  pool_ticket ticket;
  const unsigned n = 1u << 18;
  int back = memory_goes_back();
  pool_stats(p, &empty);
  for (unsigned i = 0; i < n; i++) {
    check(pool_issue(p, 1, name, &origin, value) == PPRF_OK &&
            pool_open(p, 1, name, &ticket, &origin, value) == PPRF_OK,
          "issue");
    if (ticket % 2 == 0) /* the most seeds: every second leaf */
      check(pool_redeem(p, 1, ticket, 1) == PPRF_OK, "redeem");
  }
  pool_stats(p, &full);
  check(full.nodes == n / 2 && full.outstanding == n / 2, "seeds");
  double each = (double)(full.memory_bytes - empty.memory_bytes) / n;
  printf("# %.2f bytes a ticket issued, at most\n", each);
  check(each <= 8.3, "%.2f bytes a ticket issued", each);
  check(pool_expire(p, 101) == PPRF_OK, "expire");
  pool_stats(p, &over);
  check(over.nodes == 0 && (!back || over.memory_bytes - empty.memory_bytes <
                                       (full.memory_bytes - empty.memory_bytes) / 20),
        "memory goes back: %llu of %llu, empty %llu", (unsigned long long)over.memory_bytes,
        (unsigned long long)full.memory_bytes, (unsigned long long)empty.memory_bytes);
  pool_free(p);
  end_test(back ? "a_ticket_issued_takes_8_3_bytes_at_most_and_expiry_gives_them_back"
                : "expiry_gives_memory_back # SKIP it is not given back here");
}

/* ---- secrets ---- */

static uint8_t needle[PPRF_SEED_BYTES]; /* inverted, so that this copy does not match */

/* Whether the value is at `at`, as bytes or as two machine words. */
static int is_value(const uint8_t *at)
{
  const unsigned turned = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 7 : 0;
  unsigned bytes = 0, words = 0;
  while (bytes < PPRF_SEED_BYTES && (at[bytes] ^ needle[bytes]) == 255)
    bytes++;
  while (words < PPRF_SEED_BYTES && (at[words] ^ needle[words ^ turned]) == 255)
    words++;
  return bytes == PPRF_SEED_BYTES || words == PPRF_SEED_BYTES;
}

/* Occurrences of the value in this process's memory, counted by a child. */
static unsigned in_memory(void)
{
  int status = 0;
  pid_t me = getpid(), pid = fork();
  if (pid == 0) {
    char path[64], line[512];
    static uint8_t block[1 << 16];
    unsigned found = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)me);
    int mem = open(path, O_RDONLY);
    (void)snprintf(path, sizeof path, "/proc/%d/maps", (int)me);
    FILE *maps = fopen(path, "r");
    if (mem < 0 || maps == NULL)
      _exit(255);
    while (fgets(line, sizeof line, maps) != NULL) {
      unsigned long at, end;
      char mode[8];
      if (sscanf(line, "%lx-%lx %7s", &at, &end, mode) != 3 || strncmp(mode, "rw", 2) != 0)
        continue;
      while (at < end) {
        ssize_t n = pread(mem, block, end - at < sizeof block ? end - at : sizeof block, (off_t)at);
        if (n < PPRF_SEED_BYTES)
          break;
        for (ssize_t i = 0; i + PPRF_SEED_BYTES <= n; i++)
          found += (unsigned)is_value(block + i);
        at +=
          at + (unsigned long)n == end ? (unsigned long)n : (unsigned long)n - PPRF_SEED_BYTES + 1;
      }
    }
    _exit(found < 250 ? (int)found : 250);
  }
  check(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) != 255,
        "cannot look into memory");
  return (unsigned)WEXITSTATUS(status);
}

/* Processes keep contexts with the name key. */
static void name_key(void)
{
  struct pool *p = new_pool(10, 100, 0);
  for (unsigned k = 0; k < PPRF_SEED_BYTES; k++)
    needle[k] = drawn[k]; /* the last draw of pool_new */
  struct given g;
  give(p, 1, &g);
  check(opens(p, 1, &g) == PPRF_OK, "open");
  unsigned found = in_memory();
  check(found >= 2, "control: it is found in the pool and in a context: %u", found);
  pool_free(p);
  check(in_memory() == 0, "it is found");
  end_test("the_key_of_a_freed_pools_names_is_nowhere_in_memory");
}

static void secrets(void)
{
  struct pool *p = new_pool(10, 100, 0);
  uint8_t name[2][POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
  pool_ticket ticket[2];
  for (unsigned i = 0; i < 2; i++) {
    check(pool_issue(p, 1, name[i], &origin, value) == PPRF_OK, "issue");
    check(pool_open(p, 1, name[i], &ticket[i], &origin, value) == PPRF_OK, "open");
  }
  for (unsigned k = 0; k < PPRF_SEED_BYTES; k++)
    needle[k] = (uint8_t)~value[k];
  check(in_memory() > 0, "control: the value in a variable is found");
  explicit_bzero(value, sizeof value);
  check(in_memory() == 0, "issuing and opening leave no copy");
  check(pool_redeem(p, 1, ticket[0], 1) == PPRF_OK, "redeem");
  check(in_memory() == 1, "control: the value is a seed of the key now, and is found");
  check(pool_redeem(p, 1, ticket[1], 1) == PPRF_OK, "redeem");
  check(in_memory() == 0, "the value of a redeemed ticket is found");
  pool_free(p);
  end_test("the_value_of_a_redeemed_ticket_is_nowhere_in_memory");

  p = new_pool(10, 100, 0);
  for (unsigned i = 0; i < 2; i++) {
    check(pool_issue(p, 1, name[i], &origin, value) == PPRF_OK, "issue");
    check(pool_open(p, 1, name[i], &ticket[i], &origin, value) == PPRF_OK, "open");
  }
  for (unsigned k = 0; k < PPRF_SEED_BYTES; k++)
    needle[k] = (uint8_t)~value[k];
  explicit_bzero(value, sizeof value);
  check(pool_redeem(p, 1, ticket[0], 1) == PPRF_OK, "redeem");
  check(in_memory() == 1, "control: it is found before");
  check(pool_expire(p, 101) == PPRF_OK, "expire");
  check(in_memory() == 0, "the value of an expired ticket is found");
  pool_free(p);
  end_test("the_value_of_an_expired_ticket_is_nowhere_in_memory");
}

/* Tests that depend on the suite, or may; program: this program. */
static void run(const char *program)
{
  agrees_with_model();
  lifetimes();
  names();
  not_ours_to_redeem();
  after_free();
  child_makes_pools();
  child_locks_memory();
  failing_locks(10);
  failing_locks(17);
  rotate_and_revoke(10);
  rotate_and_revoke(17);
  overtaken();
  revoked_everywhere();
  fill();
  grow();
  sustained();
  slices();
  memory_bounds_keys();
  handed_over(program, 10);
  handed_over(program, 16);
  standard_streams();
  wrong_descriptors();
  races(1);
  races(0);
  static const char *const name[PLACES] = {
    [BEFORE_PUNCT] = "killed_before_a_puncture_the_rest_goes_on",
    [HALF_PUNCT] = "killed_in_a_puncture_nothing_half_punctured_is_accepted",
    [AFTER_PUNCT] = "killed_after_a_puncture_the_rest_goes_on",
    [IN_RANGE] = "killed_while_expiring_the_rest_goes_on",
    [IN_START] = "killed_while_starting_a_tree_the_rest_goes_on",
    [IN_CLEAR] = "killed_while_wiping_a_tree_the_rest_goes_on"};
  if (death_is_told()) {
    for (enum place place = BEFORE_PUNCT; place < PLACES; place++)
      die_in_the_middle(place, name[place]);
    die_anywhere();
  } else {
    tap_ok(1, "killed_processes # SKIP nobody hears here of a lock whose owner died");
  }
  memory();
  secrets();
  name_key();
}

int main(int argc, char **argv)
{
  if (argc == 4 && strcmp(argv[1], "import") == 0)
    return imported(atoi(argv[2]), atoi(argv[3]));
  begin_random(argc > 1 ? argv[1] : NULL, "test_pool");
  for (suite = PPRF_SHA3_256; suite <= PPRF_AES_128; suite++) {
    salts();
    salts_are_drawn();
    no_randomness();
    imports_by_suite();
    shared_keys();
    shared_keys_refuse();
  }
  suite = PPRF_SHA3_256_SALTED;
  run(argv[0]);
  prg_failures(); /* the code of aes-128 cannot fail */
  suite = PPRF_AES_128;
  run(argv[0]);
  no_memory();
  return tap_end();
}

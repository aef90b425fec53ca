/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <errno.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shared.h"

/* One current tree, and retired ones whose tickets have not expired. */
#define TREES 4
/* Leaves expire by segments of those given out within a 32nd of the lifetime.  At most 32 and two
 * partly used ones live at a time; more room only delays the next. */
#define SEGMENTS_PER_LIFETIME 32
#define SEGMENTS 40

struct segment {
  uint64_t begin;  /* first leaf; the next segment's begin, or the tree's next, ends it */
  uint64_t opened; /* when its first leaf was given out */
  uint64_t last;   /* when its last leaf was */
  uint64_t outstanding;
};

struct tree {
  pprf_key *key;   /* never changes, so that a process that dies cannot lose it */
  uint32_t id;     /* 0: free, every leaf is punctured */
  uint64_t opened; /* when its first leaf was given out */
  uint64_t next;   /* first leaf not given out */
  unsigned first_segment, segments;
  struct segment segment[SEGMENTS]; /* a ring */
};

struct pool {
  pthread_mutex_t lock;
  pid_t maker;
  unsigned depth;
  uint64_t lifetime, rotation;
  uint64_t now; /* the latest time that a caller gave */
  int closed;   /* its maker has freed it */
  uint8_t name_key[16];
  EVP_CIPHER *name_cipher; /* in each process's own memory, at one address */
  uint32_t last_id;
  struct tree *current;        /* NULL: none yet */
  struct tree *_Atomic change; /* the tree that the lock's owner is changing, or NULL */
  struct pprf_tickets_stats stats;
  struct tree tree[TREES];
};

/* ---- segments ---- */

static struct segment *segment_at(struct tree *t, unsigned i)
{
  return &t->segment[(t->first_segment + i) % SEGMENTS];
}

/* The segment of a leaf that was given out and has not expired. */
static struct segment *segment_of(struct tree *t, uint64_t leaf)
{
  unsigned i = t->segments;
  while (i > 1 && segment_at(t, i - 1)->begin > leaf)
    i--;
  return segment_at(t, i - 1);
}

static uint64_t segment_end(struct tree *t, unsigned i)
{
  return i + 1 < t->segments ? segment_at(t, i + 1)->begin : t->next;
}

/* ---- trees ---- */

/* Every change of a tree is announced, so that the next owner of the lock knows which tree a
 * process that died may have left half changed. */
static void begin_change(struct pool *p, struct tree *t)
{
  atomic_store(&p->change, t);
}

static void end_change(struct pool *p)
{
  atomic_store(&p->change, NULL);
}

/* All but the key. */
static void reset(struct tree *t)
{
  memset(&t->id, 0, sizeof *t - offsetof(struct tree, id));
}

/* Erase a tree, whatever state it is in. */
static void clear(struct pool *p, struct tree *t)
{
  begin_change(p, t);
  opt_shared_clear(t->key);
  reset(t);
  if (p->current == t)
    p->current = NULL;
  end_change(p);
}

/* Puncture the segments of a tree whose tickets are past their lifetime. */
static int expire(struct pool *p, struct tree *t)
{
  while (t->segments > 0 && segment_at(t, 0)->last + p->lifetime <= p->now) {
    struct segment *s = segment_at(t, 0);
    uint64_t end = segment_end(t, 0);
    begin_change(p, t);
    int err = pprf_punct_range(t->key, s->begin, end - 1);
    if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED) {
      p->stats.expired += s->outstanding;
      t->first_segment = (t->first_segment + 1) % SEGMENTS;
      t->segments--;
      err = PPRF_OK;
    }
    end_change(p);
    if (err != PPRF_OK)
      return err;
  }
  if (t->segments == 0 && t != p->current)
    clear(p, t); /* a retired tree: its other leaves will never be given out */
  return PPRF_OK;
}

static int expire_all(struct pool *p)
{
  int err = PPRF_OK;
  for (unsigned i = 0; i < TREES; i++)
    if (p->tree[i].id != 0) {
      int e = expire(p, &p->tree[i]);
      err = err == PPRF_OK ? e : err;
    }
  return err;
}

/* A tree that is free, at the price of the oldest one if there is none. */
static struct tree *free_tree(struct pool *p)
{
  struct tree *oldest = &p->tree[0];
  for (unsigned i = 0; i < TREES; i++) {
    if (p->tree[i].id == 0)
      return &p->tree[i];
    if (p->last_id - p->tree[i].id > p->last_id - oldest->id) /* ids may have wrapped */
      oldest = &p->tree[i];
  }
  clear(p, oldest);
  p->stats.dropped++;
  return oldest;
}

/* Make sure that the current tree has a leaf to give out. */
static int current_tree(struct pool *p)
{
  struct tree *t = p->current;
  if (t != NULL && t->next >> p->depth == 0 &&
      (p->rotation == 0 || p->now - t->opened < p->rotation))
    return PPRF_OK;
  p->current = NULL;
  (void)expire_all(p);
  t = free_tree(p);
  begin_change(p, t);
  int err = opt_shared_start(t->key);
  if (err == PPRF_OK) {
    reset(t);
    p->last_id += p->last_id == UINT32_MAX ? 2 : 1; /* 0 is no id */
    t->id = p->last_id;
    t->opened = p->now;
    p->current = t;
  }
  end_change(p);
  return err;
}

/* The segment for a leaf that is given out now. */
static struct segment *current_segment(struct pool *p, struct tree *t)
{
  struct segment *s = t->segments > 0 ? segment_at(t, t->segments - 1) : NULL;
  if (s == NULL || (t->segments < SEGMENTS &&
                    p->now - s->opened > p->lifetime / SEGMENTS_PER_LIFETIME)) {
    s = segment_at(t, t->segments++);
    *s = (struct segment){.begin = t->next, .opened = p->now};
  }
  s->last = p->now;
  return s;
}

static struct tree *tree_of(struct pool *p, pool_ticket ticket)
{
  for (unsigned i = 0; i < TREES; i++)
    if (p->tree[i].id != 0 && p->tree[i].id == ticket >> 32)
      return &p->tree[i];
  return NULL;
}

/* The tree of a ticket that has not expired, or NULL. */
static struct tree *live_tree_of(struct pool *p, pool_ticket ticket)
{
  struct tree *t = tree_of(p, ticket);
  uint64_t leaf = (uint32_t)ticket;
  return t != NULL && t->segments > 0 && leaf >= segment_at(t, 0)->begin && leaf < t->next &&
             segment_of(t, leaf)->last + p->lifetime > p->now
           ? t
           : NULL;
}

/* ---- the lock ---- */

/* now: read before the lock was had, so it may be a little behind another caller's. */
static int lock(struct pool *p, uint64_t now)
{
  int rc = pthread_mutex_lock(&p->lock);
  if (rc == EOWNERDEAD) {
    struct tree *t = atomic_load(&p->change);
    if (t != NULL) { /* its owner died in the middle of a change */
      clear(p, t);
      p->stats.dropped++;
    }
    rc = pthread_mutex_consistent(&p->lock);
  }
  if (rc == 0 && now > p->now)
    p->now = now;
  return rc == 0 ? PPRF_OK : PPRF_ERR_NOMEM;
}

static void unlock(struct pool *p)
{
  (void)pthread_mutex_unlock(&p->lock);
}

/* ---- names ---- */

/* One AES-128 block under the pool's name key. */
static int name_block(const struct pool *p, int encrypt, const uint8_t in[POOL_NAME_BYTES],
                      uint8_t out[POOL_NAME_BYTES])
{
  int n = 0, good = 0;
  EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  if (ctx != NULL)
    good = EVP_CipherInit_ex2(ctx, p->name_cipher, p->name_key, NULL, encrypt, NULL) == 1 &&
           EVP_CIPHER_CTX_set_padding(ctx, 0) == 1 &&
           EVP_CipherUpdate(ctx, out, &n, in, POOL_NAME_BYTES) == 1 && n == POOL_NAME_BYTES;
  EVP_CIPHER_CTX_free(ctx);
  return good ? PPRF_OK : PPRF_ERR_CRYPTO;
}

/* The plain block: the ticket, little-endian, and eight zero bytes. */
static int write_name(const struct pool *p, pool_ticket ticket, uint8_t name[POOL_NAME_BYTES])
{
  uint8_t plain[POOL_NAME_BYTES] = {0};
  for (unsigned i = 0; i < 8; i++)
    plain[i] = (uint8_t)(ticket >> 8 * i);
  return name_block(p, 1, plain, name);
}

static int read_name(const struct pool *p, const uint8_t name[POOL_NAME_BYTES],
                     pool_ticket *ticket)
{
  static const uint8_t zero[8];
  uint8_t plain[POOL_NAME_BYTES];
  int err = name_block(p, 0, name, plain);
  if (err != PPRF_OK)
    return err;
  *ticket = 0;
  for (unsigned i = 8; i-- > 0;)
    *ticket = *ticket << 8 | plain[i];
  return memcmp(plain + 8, zero, sizeof zero) == 0 ? PPRF_OK : PPRF_ERR_FORMAT;
}

/* ---- the functions of pool.h ---- */

int pool_new(struct pool **pool, unsigned depth, uint64_t lifetime, uint64_t rotation)
{
  pthread_mutexattr_t attr;
  *pool = NULL;
  struct pool *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    return PPRF_ERR_NOMEM;
  (void)madvise(p, sizeof *p, MADV_DONTDUMP);
  *p = (struct pool){.depth = depth, .lifetime = lifetime, .rotation = rotation, .maker = getpid()};
  p->name_cipher = EVP_CIPHER_fetch(NULL, "AES-128-ECB", NULL);
  int err = p->name_cipher != NULL && RAND_priv_bytes(p->name_key, sizeof p->name_key) == 1
              ? PPRF_OK
              : PPRF_ERR_CRYPTO;
  if (pthread_mutexattr_init(&attr) != 0) {
    EVP_CIPHER_free(p->name_cipher);
    (void)munmap(p, sizeof *p);
    return PPRF_ERR_NOMEM;
  }
  if (pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 ||
      pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) != 0 ||
      pthread_mutex_init(&p->lock, &attr) != 0)
    err = PPRF_ERR_NOMEM;
  (void)pthread_mutexattr_destroy(&attr);
  for (unsigned i = 0; i < TREES && err == PPRF_OK; i++)
    err = opt_shared_new(&p->tree[i].key, depth);
  if (err != PPRF_OK) {
    p->maker = 0; /* the lock may not be one yet */
    pool_free(p);
    return err;
  }
  *pool = p;
  return PPRF_OK;
}

void pool_free(struct pool *p)
{
  if (p == NULL)
    return;
  /* What other processes still map is theirs until they end, unless its maker ends it. */
  int maker = p->maker == getpid() && lock(p, 0) == PPRF_OK;
  for (unsigned i = 0; i < TREES; i++)
    if (p->tree[i].key != NULL) {
      if (maker)
        clear(p, &p->tree[i]);
      opt_shared_free(p->tree[i].key);
    }
  EVP_CIPHER_free(p->name_cipher);
  if (maker) {
    p->closed = 1;
    OPENSSL_cleanse(p->name_key, sizeof p->name_key);
    unlock(p);
  }
  (void)munmap(p, sizeof *p);
}

int pool_issue(struct pool *p, uint64_t now, uint8_t name[POOL_NAME_BYTES],
               uint8_t value[PPRF_SEED_BYTES])
{
  memset(name, 0, POOL_NAME_BYTES);
  memset(value, 0, PPRF_SEED_BYTES);
  int err = lock(p, now);
  if (err != PPRF_OK)
    return err;
  (void)expire_all(p);
  err = p->closed ? PPRF_ERR_PUNCTURED : current_tree(p);
  if (err == PPRF_OK) {
    struct tree *t = p->current;
    err = pprf_eval(t->key, t->next, value);
    if (err == PPRF_OK)
      err = write_name(p, (pool_ticket)t->id << 32 | t->next, name);
    if (err == PPRF_OK) {
      begin_change(p, t);
      current_segment(p, t)->outstanding++;
      t->next++;
      p->stats.issued++;
      end_change(p);
    }
  }
  if (err != PPRF_OK)
    OPENSSL_cleanse(value, PPRF_SEED_BYTES);
  unlock(p);
  return err;
}

int pool_open(struct pool *p, uint64_t now, const uint8_t name[POOL_NAME_BYTES],
              pool_ticket *ticket, uint8_t value[PPRF_SEED_BYTES])
{
  memset(value, 0, PPRF_SEED_BYTES);
  *ticket = 0;
  int err = lock(p, now);
  if (err != PPRF_OK)
    return err;
  err = read_name(p, name, ticket);
  if (err == PPRF_OK) {
    struct tree *t = live_tree_of(p, *ticket);
    err = t == NULL ? PPRF_ERR_PUNCTURED : pprf_eval(t->key, (uint32_t)*ticket, value);
  }
  if (err == PPRF_ERR_FORMAT)
    p->stats.foreign++;
  else if (err != PPRF_OK)
    p->stats.refused++;
  unlock(p);
  return err;
}

int pool_redeem(struct pool *p, uint64_t now, pool_ticket ticket, int early)
{
  int err = lock(p, now);
  if (err != PPRF_OK)
    return err;
  struct tree *t = live_tree_of(p, ticket);
  uint64_t leaf = (uint32_t)ticket;
  err = PPRF_ERR_PUNCTURED;
  if (t != NULL) {
    begin_change(p, t);
    err = pprf_punct(t->key, leaf);
    if (err == PPRF_OK)
      segment_of(t, leaf)->outstanding--;
    end_change(p);
  }
  if (err != PPRF_OK)
    p->stats.early_rejected += early != 0;
  else if (early)
    p->stats.early_accepted++;
  else
    p->stats.resumed++;
  (void)expire_all(p);
  unlock(p);
  return err;
}

int pool_expire(struct pool *p, uint64_t now)
{
  int err = lock(p, now);
  if (err != PPRF_OK)
    return err;
  err = expire_all(p);
  unlock(p);
  return err;
}

void pool_count_not_issued(struct pool *p)
{
  if (lock(p, 0) == PPRF_OK) {
    p->stats.not_issued++;
    unlock(p);
  }
}

void pool_count_foreign(struct pool *p)
{
  if (lock(p, 0) == PPRF_OK) {
    p->stats.foreign++;
    unlock(p);
  }
}

void pool_stats(struct pool *p, struct pprf_tickets_stats *stats)
{
  *stats = (struct pprf_tickets_stats){0};
  if (lock(p, 0) != PPRF_OK)
    return;
  *stats = p->stats;
  for (unsigned i = 0; i < TREES; i++) {
    struct tree *t = &p->tree[i];
    if (t->id == 0)
      continue;
    stats->nodes += pprf_node_count(t->key);
    for (unsigned k = 0; k < t->segments; k++)
      stats->outstanding += segment_at(t, k)->outstanding;
  }
  unlock(p);
  stats->memory_bytes = sizeof *p; /* counting pages takes long: not under the lock */
  for (unsigned i = 0; i < TREES; i++)
    stats->memory_bytes += pprf_memory_bytes(p->tree[i].key);
}

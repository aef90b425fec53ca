/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <pprf_shared.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "descriptor.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u /* Linux 6.3, which can be configured to require it */
#endif

/* Index of no tree. */
#define NONE UINT_MAX
/* Shards of a large pool: with eight, two processes rarely meet.  In a small pool each shard would
 * have too few leaves. */
#define SHARD_BITS 3
#define SHARDS (1u << SHARD_BITS)
#define SHARDED_DEPTH 16
/* Leaves issued within a 32nd of the lifetime form a segment and expire together.  At most 32 and
 * two partly used segments live at a time; if no segment is free, the last one grows. */
#define SEGMENTS_PER_LIFETIME 32
#define SEGMENTS 40
/* Leaves expired in one hold of a lock, some tenths of a millisecond. */
#define SLICE 16384
/* Tickets a thread issues from a shard before it moves to the next. */
#define TURN 64
/* Attempts to take a lock before blocking, which takes longer than most owners hold it. */
#define SPINS 100

/* ---- the mapping, which holds no pointer ---- */

struct segment {
  uint64_t begin;  /* first leaf; it ends at the next segment's begin, or at the tree's next */
  uint64_t opened; /* when its first leaf was given out */
  uint64_t last;   /* when its last leaf was */
  uint64_t outstanding;
};

struct tree {
  uint64_t nodes;  /* nodes of its key, whose memory follows the header */
  uint32_t id;     /* 0: free, every leaf is punctured */
  uint32_t first_segment, segments;
  _Alignas(8) uint8_t salt[PPRF_SALT_BYTES]; /* of its key; zero if the suite has none */
  uint64_t opened; /* when its first leaf was given out */
  uint64_t next;   /* first leaf not given out */
  struct segment segment[SEGMENTS]; /* a ring */
};

/* Counters are changed under the shard's lock. */
struct shard {
  _Alignas(64) pthread_mutex_t lock;
  int closed;                /* its maker has freed it */
  uint32_t last_id;
  unsigned current;          /* the tree whose leaves are given out; NONE: none yet */
  _Atomic unsigned changing; /* the tree that the lock's owner is changing; NONE: none */
  struct pprf_tickets_stats stats;
  struct tree tree[]; /* one current, and retired ones whose tickets have not expired */
};

struct header {
  uint64_t layout, bytes; /* must match in every program that maps it */
  uint64_t depth, keys, lifetime, rotation, suite;
  _Atomic uint64_t maker;   /* a process; 0: none */
  _Atomic uint64_t now;     /* the latest time that a caller gave */
  _Atomic uint64_t expired; /* when all shards were last checked for expiry */
  _Atomic uint64_t foreign, not_issued, kept, imported;
  uint8_t name_key[16];
  _Alignas(64) unsigned char shard[]; /* shard_bytes each */
};

/* Identifies the layout: the structures' sizes, and a version for changes that keep the sizes.
 * Before version 3 every pool had the suite sha3-256, and did not record it. */
#define LAYOUT \
  ((uint64_t)4 << 56 | (uint64_t)sizeof(struct header) << 24 | sizeof(struct shard) << 8 | \
   sizeof(pthread_mutex_t)) +                                                              \
    sizeof(struct tree)

/* ---- per-process state ---- */

struct pool {
  struct header *h;
  int fd;      /* of the mapping */
  dev_t dev;   /* identifies fd's file, since programs close descriptors they do not own */
  ino_t ino;
  unsigned depth, shards, tree_depth;
  unsigned keys; /* trees of a shard */
  unsigned suite; /* as read from the header */
  EVP_CIPHER *name_cipher;
  EVP_CIPHER_CTX *name_ctx[2]; /* AES under the name key, to decrypt and to encrypt */
  atomic_int naming;           /* a thread is using one of them */
  pprf_key **key; /* handles, grouped by shard */
  struct pool *next; /* of the process's pools */
};

/* A shard whose lock this thread holds. */
struct held {
  struct pool *pool;
  struct shard *shard;
  unsigned index; /* the shard's */
  pprf_key **key; /* of its trees */
  uint64_t now;
  uint64_t slice; /* leaves that may still expire in this hold; 0: more may remain */
};

static size_t shard_bytes(unsigned keys)
{
  return (sizeof(struct shard) + keys * sizeof(struct tree) + 63) / 64 * 64;
}

static struct shard *shard_at(const struct pool *p, unsigned i)
{
  return (struct shard *)(void *)(p->h->shard + i * shard_bytes(p->keys));
}

/* ---- segments ---- */

static struct segment *segment_at(struct tree *t, unsigned i)
{
  return &t->segment[(t->first_segment + i) % SEGMENTS];
}

/* The segment of an issued leaf that has not expired. */
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

/* The tree's handle. */
static pprf_key *handle_of(const struct held *s, const struct tree *t)
{
  return s->key[t - s->shard->tree];
}

/* The tree's handle, updated for use: another process may have started or changed the tree. */
static pprf_key *key_of(const struct held *s, const struct tree *t)
{
  pprf_key *key = handle_of(s, t);
  (void)pprf_shared_set(key, s->pool->suite, t->salt, t->nodes);
  return key;
}

static struct origin origin_of(const struct held *s, const struct tree *t, uint64_t leaf)
{
  struct origin origin = {.suite = s->pool->suite, .leaf = leaf};
  memcpy(origin.salt, t->salt, sizeof origin.salt);
  return origin;
}

/* Announce a change of a tree, so that if this process dies, the next owner of the lock knows which
 * tree may be half changed. */
static void begin_change(struct held *s, struct tree *t)
{
  atomic_store(&s->shard->changing, (unsigned)(t - s->shard->tree));
}

/* Call after changing key_of(s, t). */
static void end_change(struct held *s, struct tree *t)
{
  t->nodes = pprf_node_count(handle_of(s, t));
  atomic_store(&s->shard->changing, NONE);
}

/* Seconds since `then`, or 0: another caller may have recorded a time that is later than this
 * caller's. */
static uint64_t since(const struct held *s, uint64_t then)
{
  return s->now > then ? s->now - then : 0;
}

static int is_current(const struct held *s, const struct tree *t)
{
  return s->shard->current == (unsigned)(t - s->shard->tree);
}

/* All but the key. */
static void reset(struct tree *t)
{
  memset(&t->id, 0, sizeof *t - offsetof(struct tree, id));
}

/* Erase a tree in any state. */
static void clear(struct held *s, struct tree *t)
{
  begin_change(s, t);
  pprf_shared_clear(handle_of(s, t));
  reset(t);
  if (is_current(s, t))
    s->shard->current = NONE;
  end_change(s, t);
}

/* Whether a segment's tickets are past their lifetime. */
static int is_over(const struct held *s, const struct segment *segment)
{
  return segment->last + s->pool->h->lifetime <= s->now;
}

/* Puncture the segments of a tree whose tickets are past their lifetime, or a slice of them. */
static int expire(struct held *s, struct tree *t)
{
  while (t->segments > 0 && is_over(s, segment_at(t, 0))) {
    struct segment *first = segment_at(t, 0);
    uint64_t end = segment_end(t, 0), last = end;
    if (s->slice == 0)
      return PPRF_OK;
    if (last - first->begin > s->slice)
      last = first->begin + s->slice;
    begin_change(s, t);
    int err = pprf_punct_range(key_of(s, t), first->begin, last - 1);
    if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED) {
      s->slice -= last - first->begin;
      first->begin = last;
      if (last == end) {
        s->shard->stats.expired += first->outstanding;
        t->first_segment = (t->first_segment + 1) % SEGMENTS;
        t->segments--;
      }
      err = PPRF_OK;
    }
    end_change(s, t);
    if (err != PPRF_OK)
      return err;
  }
  if (t->segments == 0 && !is_current(s, t))
    clear(s, t); /* a retired tree issues no more leaves */
  return PPRF_OK;
}

static int expire_all(struct held *s)
{
  int err = PPRF_OK;
  for (unsigned i = 0; i < s->pool->keys; i++)
    if (s->shard->tree[i].id != 0) {
      int e = expire(s, &s->shard->tree[i]);
      err = err == PPRF_OK ? e : err;
    }
  return err;
}

/* Return a free tree; if there is none, drop the oldest. */
static struct tree *free_tree(struct held *s)
{
  struct shard *p = s->shard;
  struct tree *oldest = &p->tree[0];
  for (unsigned i = 0; i < s->pool->keys; i++) {
    if (p->tree[i].id == 0)
      return &p->tree[i];
    if (p->last_id - p->tree[i].id > p->last_id - oldest->id) /* ids may have wrapped */
      oldest = &p->tree[i];
  }
  if (is_over(s, segment_at(oldest, oldest->segments - 1))) /* its expiry was only pending */
    for (unsigned i = 0; i < oldest->segments; i++)
      p->stats.expired += segment_at(oldest, i)->outstanding;
  else
    p->stats.dropped++;
  clear(s, oldest);
  return oldest;
}

static int retire(struct held *s)
{
  s->shard->current = NONE;
  return expire_all(s);
}

/* Start a free tree with a new root and salt.  On failure it stays free. */
static int start_tree(struct held *s, struct tree *t)
{
  pprf_key *key = key_of(s, t);
  reset(t);
  return pprf_shared_start(key, s->pool->suite, t->salt);
}

/* Make sure that the current tree has a leaf to give out. */
static int current_tree(struct held *s)
{
  struct shard *p = s->shard;
  const struct header *h = s->pool->h;
  if (p->current != NONE) {
    const struct tree *t = &p->tree[p->current];
    if (t->next >> s->pool->tree_depth == 0 &&
        (h->rotation == 0 || since(s, t->opened) < h->rotation))
      return PPRF_OK;
  }
  (void)retire(s);
  struct tree *t = free_tree(s);
  begin_change(s, t);
  int err = start_tree(s, t);
  if (err == PPRF_OK) {
    p->last_id += p->last_id == UINT32_MAX ? 2 : 1; /* skip 0, which is no id */
    t->id = p->last_id;
    t->opened = s->now;
    p->current = (unsigned)(t - p->tree);
  }
  end_change(s, t);
  return err;
}

/* The segment for a leaf issued now. */
static struct segment *current_segment(struct held *s, struct tree *t)
{
  struct segment *last = t->segments > 0 ? segment_at(t, t->segments - 1) : NULL;
  if (last == NULL || (t->segments < SEGMENTS &&
                       since(s, last->opened) > s->pool->h->lifetime / SEGMENTS_PER_LIFETIME)) {
    last = segment_at(t, t->segments++);
    *last = (struct segment){.begin = t->next, .opened = s->now};
  }
  last->last = s->now > last->last ? s->now : last->last;
  return last;
}

/* ---- tickets ---- */

static pool_ticket ticket_of(const struct held *s, const struct tree *t, uint64_t leaf)
{
  uint64_t shard = s->index;
  return (uint64_t)t->id << 32 | shard << s->pool->tree_depth | leaf;
}

static uint64_t leaf_of(const struct pool *p, pool_ticket ticket)
{
  return (uint32_t)ticket & ((UINT64_C(1) << p->tree_depth) - 1);
}

/* At least p->shards for an invalid ticket. */
static uint64_t shard_of(const struct pool *p, pool_ticket ticket)
{
  return (uint32_t)ticket >> p->tree_depth;
}

/* The tree of a ticket of this shard that has not expired, or NULL. */
static struct tree *live_tree_of(struct held *s, pool_ticket ticket)
{
  uint64_t leaf = leaf_of(s->pool, ticket);
  if (shard_of(s->pool, ticket) != s->index)
    return NULL;
  for (unsigned i = 0; i < s->pool->keys; i++) {
    struct tree *t = &s->shard->tree[i];
    if (t->id != 0 && t->id == ticket >> 32)
      return t->segments > 0 && leaf >= segment_at(t, 0)->begin && leaf < t->next &&
                 segment_of(t, leaf)->last + s->pool->h->lifetime > s->now
               ? t
               : NULL;
  }
  return NULL;
}

/* ---- time and locks ---- */

/* Record a caller's time and return the latest one; a delayed caller may be a little behind. */
static uint64_t tell(struct pool *p, uint64_t now)
{
  uint64_t latest = atomic_load(&p->h->now);
  while (latest < now)
    if (atomic_compare_exchange_weak(&p->h->now, &latest, now))
      return now;
  return latest;
}

/* Set up s after a lock attempt; rc: result of pthread_mutex_lock or trylock. */
static int locked(struct held *s, struct pool *p, unsigned index, uint64_t now, int rc)
{
  *s = (struct held){p, shard_at(p, index), index, p->key + index * p->keys, now, SLICE};
  if (rc == EOWNERDEAD) {
    unsigned changing = atomic_load(&s->shard->changing);
    if (changing < p->keys) { /* its last owner died during a change */
      clear(s, &s->shard->tree[changing]);
      s->shard->stats.dropped++;
    }
    rc = pthread_mutex_consistent(&s->shard->lock);
  }
  return rc == 0 ? PPRF_OK : PPRF_ERR_NOMEM;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

static int lock(struct held *s, struct pool *p, unsigned index, uint64_t now)
{
  int rc = EBUSY;
  for (unsigned i = 0; i < SPINS && rc == EBUSY; i++) {
    rc = pthread_mutex_trylock(&shard_at(p, index)->lock);
    if (rc == EBUSY)
      pause_briefly();
  }
  if (rc == EBUSY)
    rc = pthread_mutex_lock(&shard_at(p, index)->lock);
  return locked(s, p, index, now, rc);
}

static void unlock(struct held *s)
{
  (void)pthread_mutex_unlock(&s->shard->lock);
}

/* Lock the ticket's shard, or any shard for an invalid ticket. */
static int lock_of(struct held *s, struct pool *p, pool_ticket ticket, uint64_t now)
{
  uint64_t shard = shard_of(p, ticket);
  return lock(s, p, shard < p->shards ? (unsigned)shard : 0, now);
}

/* Shards take turns, so that they fill evenly.  A thread stays with one for a while to keep its
 * cache lines, and moves on when the shard is busy. */
static int lock_any(struct held *s, struct pool *p, uint64_t now)
{
  static _Thread_local unsigned turn;
  for (unsigned i = 0; i < p->shards; i++, turn += TURN - turn % TURN) {
    unsigned index = turn / TURN % p->shards;
    int rc = pthread_mutex_trylock(&shard_at(p, index)->lock);
    if (rc != EBUSY) {
      turn++;
      return locked(s, p, index, now, rc);
    }
  }
  return lock(s, p, turn / TURN % p->shards, now);
}

/* An action on each shard. */
typedef int action(struct held *s);

static int each_shard(struct pool *p, uint64_t now, action *act)
{
  int err = PPRF_OK;
  for (unsigned i = 0; i < p->shards; i++) {
    struct held s;
    int e;
    do { /* other threads may take the lock between slices */
      e = lock(&s, p, i, now);
      if (e == PPRF_OK) {
        e = act(&s);
        unlock(&s);
      }
    } while (e == PPRF_OK && s.slice == 0);
    err = err == PPRF_OK ? e : err;
  }
  return err;
}

/* Expire in all shards once in a 32nd of the lifetime: some may have no callers. */
static void expire_in_time(struct pool *p, uint64_t now)
{
  uint64_t expired = atomic_load(&p->h->expired);
  if (p->shards > 1 && now - expired > p->h->lifetime / SEGMENTS_PER_LIFETIME && now > expired &&
      atomic_compare_exchange_strong(&p->h->expired, &expired, now))
    (void)each_shard(p, now, expire_all);
}

/* ---- names ---- */

/* Freeing the context wipes its key.  NULL: OpenSSL failed. */
static EVP_CIPHER_CTX *new_name_ctx(const struct pool *p, int encrypt)
{
  EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
  if (ctx != NULL &&
      (EVP_CipherInit_ex2(ctx, p->name_cipher, p->h->name_key, NULL, encrypt, NULL) != 1 ||
       EVP_CIPHER_CTX_set_padding(ctx, 0) != 1)) {
    EVP_CIPHER_CTX_free(ctx);
    ctx = NULL;
  }
  return ctx;
}

/* Call once the pool's name key is set. */
static int keep_name_ctx(struct pool *p)
{
  for (int encrypt = 0; encrypt < 2; encrypt++) {
    p->name_ctx[encrypt] = new_name_ctx(p, encrypt);
    if (p->name_ctx[encrypt] == NULL)
      return PPRF_ERR_CRYPTO;
  }
  return PPRF_OK;
}

/* One AES-128 block under the pool's name key.  Key set-up takes longer than a block, so contexts
 * are kept.  If another thread is using them, or was when we were forked, make a new one. */
static int name_block(struct pool *p, int encrypt, const uint8_t in[POOL_NAME_BYTES],
                      uint8_t out[POOL_NAME_BYTES])
{
  int n = 0, kept = atomic_exchange(&p->naming, 1) == 0;
  EVP_CIPHER_CTX *ctx = kept ? p->name_ctx[encrypt] : new_name_ctx(p, encrypt);
  int good =
    ctx != NULL && EVP_CipherUpdate(ctx, out, &n, in, POOL_NAME_BYTES) == 1 && n == POOL_NAME_BYTES;
  if (kept)
    atomic_store(&p->naming, 0);
  else
    EVP_CIPHER_CTX_free(ctx);
  return good ? PPRF_OK : PPRF_ERR_CRYPTO;
}

/* The plain block: the ticket, little-endian, and eight zero bytes. */
static int write_name(struct pool *p, pool_ticket ticket, uint8_t name[POOL_NAME_BYTES])
{
  uint8_t plain[POOL_NAME_BYTES] = {0};
  for (unsigned i = 0; i < 8; i++)
    plain[i] = (uint8_t)(ticket >> 8 * i);
  return name_block(p, 1, plain, name);
}

static int read_name(struct pool *p, const uint8_t name[POOL_NAME_BYTES], pool_ticket *ticket)
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

/* ---- pools ---- */

int pool_has_suite(uint64_t suite)
{
  return suite < 64 && (PPRF_SUITES_16_BYTES >> suite & 1) != 0 &&
         pprf_suite_name((unsigned)suite) != NULL;
}

unsigned pool_shard_bits(unsigned depth)
{
  return depth < SHARDED_DEPTH ? 0 : SHARD_BITS;
}

/* Bytes before the keys' memory. */
static size_t header_bytes(unsigned depth, unsigned keys)
{
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t bytes = sizeof(struct header) + (shard_bytes(keys) << pool_shard_bits(depth));
  return (bytes + page - 1) / page * page;
}

/* Bytes of one key in all shards; 0: overflow. */
static uint64_t key_bytes(unsigned depth)
{
  unsigned bits = pool_shard_bits(depth);
  return (uint64_t)pprf_shared_bytes(depth - bits) << bits;
}

/* 0: overflow. */
static size_t mapping_bytes(unsigned depth, unsigned keys)
{
  uint64_t each = key_bytes(depth), bytes = header_bytes(depth, keys) + each * keys;
  return each > 0 && bytes <= SIZE_MAX ? (size_t)bytes : 0;
}

unsigned pool_keys(unsigned depth, uint64_t memory)
{
  unsigned keys = POOL_KEYS_MAX;
  if (mapping_bytes(depth, POOL_KEYS_MIN) == 0) /* no memory suffices; pool_new will report it */
    return POOL_KEYS_MIN;
  while (keys > 0 && (mapping_bytes(depth, keys) == 0 || mapping_bytes(depth, keys) > memory))
    keys--;
  return keys;
}

/* ---- pools of a process that forks ---- */

static pthread_mutex_t pools_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pool *pools;

static void before_fork(void)
{
  (void)pthread_mutex_lock(&pools_lock);
}

static void after_fork(void)
{
  (void)pthread_mutex_unlock(&pools_lock);
}

/* Memory locks are not inherited. */
static void in_child(void)
{
  for (struct pool *p = pools; p != NULL; p = p->next) {
    (void)mlock(p->h, header_bytes(p->depth, p->keys));
    for (unsigned i = 0; i < p->shards * p->keys; i++)
      pprf_shared_lock(p->key[i]);
  }
  after_fork();
}

static void watch_forks(void)
{
  (void)pthread_atfork(before_fork, after_fork, in_child);
}

static void enlist(struct pool *p)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, watch_forks);
  before_fork();
  p->next = pools;
  pools = p;
  after_fork();
}

static void delist(struct pool *p)
{
  before_fork();
  for (struct pool **q = &pools; *q != NULL; q = &(*q)->next)
    if (*q == p) {
      *q = p->next;
      break;
    }
  after_fork();
}

/* Make the per-process state of a pool mapped from fd. */
static int attach(struct pool **pool, int fd, unsigned depth, unsigned keys, unsigned suite)
{
  struct stat st;
  size_t bytes = mapping_bytes(depth, keys), header = header_bytes(depth, keys);
  struct pool *p = calloc(1, sizeof *p);
  if (p == NULL)
    return PPRF_ERR_NOMEM;
  p->fd = -1;
  p->depth = depth;
  p->keys = keys;
  p->suite = suite;
  p->shards = 1u << pool_shard_bits(depth);
  p->tree_depth = depth - pool_shard_bits(depth);
  p->name_cipher = EVP_CIPHER_fetch(NULL, "AES-128-ECB", NULL);
  int err = p->name_cipher != NULL ? PPRF_OK : PPRF_ERR_CRYPTO;
  p->key = calloc(p->shards * keys, sizeof(pprf_key *));
  p->h = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (p->h == MAP_FAILED || p->key == NULL) {
    p->h = p->h == MAP_FAILED ? NULL : p->h;
    err = PPRF_ERR_NOMEM;
  } else {
    (void)madvise(p->h, bytes, MADV_DONTDUMP);
    (void)mlock(p->h, header);
    unsigned char *memory = (unsigned char *)p->h + header;
    for (unsigned i = 0; i < p->shards * keys && err == PPRF_OK; i++) {
      err = pprf_shared_open(&p->key[i], p->tree_depth, memory);
      memory += pprf_shared_bytes(p->tree_depth);
    }
  }
  static const uint8_t no_salt[PPRF_SALT_BYTES];
  if (err == PPRF_OK) /* once a handle accepts the suite it always does, so key_of need not check */
    err = pprf_shared_set(p->key[0], suite, no_salt, 0);
  if (err != PPRF_OK) {
    pool_free(p);
    return err;
  }
  p->fd = fd;
  if (fstat(fd, &st) == 0) {
    p->dev = st.st_dev;
    p->ino = st.st_ino;
  }
  enlist(p);
  *pool = p;
  return PPRF_OK;
}

static int init_lock(pthread_mutex_t *mutex)
{
  pthread_mutexattr_t attr;
  if (pthread_mutexattr_init(&attr) != 0)
    return PPRF_ERR_NOMEM;
  int good = pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) == 0 &&
             pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0 &&
             pthread_mutex_init(mutex, &attr) == 0;
  (void)pthread_mutexattr_destroy(&attr);
  return good ? PPRF_OK : PPRF_ERR_NOMEM;
}

/* Anonymous memory with a descriptor, sealed against shrinking while mapped. */
static int new_memory(size_t bytes)
{
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes)
    return -1; /* ftruncate would raise a signal */
  int fd = memfd_create("pprf-tickets", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (fd < 0 && errno == EINVAL)
    fd = memfd_create("pprf-tickets", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd >= 0 && (ftruncate(fd, (off_t)bytes) != 0 ||
                  fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
    (void)close(fd);
    fd = -1;
  }
  return above_standard(fd);
}

int pool_new(struct pool **pool, unsigned depth, unsigned keys, uint64_t lifetime,
             uint64_t rotation, unsigned suite)
{
  *pool = NULL;
  size_t bytes = mapping_bytes(depth, keys);
  int fd = bytes > 0 ? new_memory(bytes) : -1;
  if (fd < 0)
    return PPRF_ERR_NOMEM;
  struct pool *p = NULL;
  int err = attach(&p, fd, depth, keys, suite);
  if (err != PPRF_OK) {
    (void)close(fd);
    return err;
  }
  struct header *h = p->h; /* zero, and without a maker: pool_free does not wipe it */
  h->depth = depth;
  h->keys = keys;
  h->lifetime = lifetime;
  h->rotation = rotation;
  h->suite = suite;
  err = RAND_priv_bytes(h->name_key, sizeof h->name_key) == 1 ? keep_name_ctx(p) : PPRF_ERR_CRYPTO;
  for (unsigned i = 0; i < p->shards && err == PPRF_OK; i++) {
    struct shard *shard = shard_at(p, i);
    err = init_lock(&shard->lock);
    shard->current = NONE;
    atomic_store(&shard->changing, NONE);
    for (unsigned k = 0; k < keys; k++)
      pprf_shared_clear(p->key[i * keys + k]);
  }
  if (err != PPRF_OK) {
    pool_free(p);
    return err;
  }
  h->layout = LAYOUT;
  h->bytes = bytes;
  atomic_store(&h->maker, (uint64_t)getpid());
  *pool = p;
  return PPRF_OK;
}

static int clear_all(struct held *s)
{
  for (unsigned i = 0; i < s->pool->keys; i++)
    clear(s, &s->shard->tree[i]);
  return PPRF_OK;
}

static int close_shard(struct held *s)
{
  s->shard->closed = 1;
  return clear_all(s);
}

/* Whether the pool's descriptor is still what it was. */
static int has_descriptor(const struct pool *p)
{
  struct stat st;
  return p->fd >= 0 && fstat(p->fd, &st) == 0 && st.st_dev == p->dev && st.st_ino == p->ino;
}

void pool_adopt(struct pool *p)
{
  atomic_store(&p->h->maker, (uint64_t)getpid());
}

void pool_close(struct pool *p)
{
  /* Other processes keep the pool until they end, unless its maker closes it. */
  if (p->h == NULL || atomic_load(&p->h->maker) != (uint64_t)getpid())
    return;
  p->h->layout = 0; /* no program maps it from now on */
  (void)each_shard(p, 0, close_shard);
  OPENSSL_cleanse(p->h->name_key, sizeof p->h->name_key);
}

void pool_free(struct pool *p)
{
  if (p == NULL)
    return;
  delist(p);
  pool_close(p);
  for (unsigned i = 0; p->key != NULL && i < p->shards * p->keys; i++)
    pprf_shared_close(p->key[i]);
  free(p->key);
  if (p->h != NULL)
    (void)munmap(p->h, mapping_bytes(p->depth, p->keys));
  if (has_descriptor(p))
    (void)close(p->fd);
  EVP_CIPHER_CTX_free(p->name_ctx[0]);
  EVP_CIPHER_CTX_free(p->name_ctx[1]);
  EVP_CIPHER_free(p->name_cipher);
  free(p);
}

int pool_export(struct pool *p, int *fd)
{
  *fd = has_descriptor(p) ? fcntl(p->fd, F_DUPFD, 3) : -1; /* no close-on-exec; not 0, 1 or 2 */
  if (*fd < 0)
    return PPRF_TLS_ERR_FD;
  atomic_store(&p->h->maker, 0);
  return PPRF_OK;
}

int pool_import(struct pool **pool, int fd, unsigned depth, unsigned keys, uint64_t lifetime,
                uint64_t rotation, unsigned suite)
{
  struct header h;
  struct stat st;
  *pool = NULL;
  int seals = fcntl(fd, F_GET_SEALS), need = F_SEAL_SHRINK | F_SEAL_GROW;
  if (seals < 0 || (seals & need) != need || fstat(fd, &st) != 0 ||
      pread(fd, &h, offsetof(struct header, maker), 0) != offsetof(struct header, maker) ||
      h.layout != LAYOUT || h.bytes != (uint64_t)st.st_size || h.depth < PPRF_DEPTH_MIN ||
      h.depth > PPRF_SLOTS_DEPTH_MAX || h.keys < POOL_KEYS_MIN || h.keys > POOL_KEYS_MAX ||
      h.bytes != mapping_bytes((unsigned)h.depth, (unsigned)h.keys))
    return PPRF_TLS_ERR_FD;
  if (!pool_has_suite(h.suite))
    return PPRF_ERR_SUITE;
  if (h.depth != depth || h.keys != keys || h.lifetime != lifetime || h.rotation != rotation ||
      (suite != 0 && h.suite != suite))
    return PPRF_TLS_ERR_OPTION;
  int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (own < 0)
    return PPRF_TLS_ERR_FD;
  int err = attach(pool, own, depth, keys, (unsigned)h.suite);
  if (err != PPRF_OK) {
    (void)close(own);
    return err;
  }
  err = keep_name_ctx(*pool);
  if (err != PPRF_OK) {
    pool_free(*pool);
    *pool = NULL;
  } else {
    (void)atomic_fetch_add(&(*pool)->h->imported, 1);
  }
  return err;
}

/* ---- issuing and redeeming tickets ---- */

int pool_issue(struct pool *p, uint64_t now, uint8_t name[POOL_NAME_BYTES], struct origin *origin,
               uint8_t value[PPRF_SEED_BYTES])
{
  struct held s;
  pool_ticket ticket = 0;
  memset(name, 0, POOL_NAME_BYTES);
  memset(value, 0, PPRF_SEED_BYTES);
  now = tell(p, now);
  expire_in_time(p, now);
  int err = lock_any(&s, p, now);
  if (err != PPRF_OK)
    return err;
  (void)expire_all(&s);
  err = s.shard->closed ? PPRF_ERR_PUNCTURED : current_tree(&s);
  if (err == PPRF_OK) {
    struct tree *t = &s.shard->tree[s.shard->current];
    err = pprf_eval(key_of(&s, t), t->next, value);
    if (err == PPRF_OK) {
      *origin = origin_of(&s, t, t->next);
      ticket = ticket_of(&s, t, t->next);
      begin_change(&s, t);
      current_segment(&s, t)->outstanding++;
      t->next++;
      s.shard->stats.issued++;
      end_change(&s, t);
    }
  }
  unlock(&s);
  if (err == PPRF_OK)
    err = write_name(p, ticket, name);
  if (err != PPRF_OK) {
    OPENSSL_cleanse(value, PPRF_SEED_BYTES);
    memset(name, 0, POOL_NAME_BYTES);
  }
  return err;
}

int pool_open(struct pool *p, uint64_t now, const uint8_t name[POOL_NAME_BYTES],
              pool_ticket *ticket, struct origin *origin, uint8_t value[PPRF_SEED_BYTES])
{
  struct held s;
  memset(value, 0, PPRF_SEED_BYTES);
  *ticket = 0;
  now = tell(p, now);
  int err = read_name(p, name, ticket);
  if (err != PPRF_OK) {
    if (err == PPRF_ERR_FORMAT)
      pool_count_foreign(p);
    return err;
  }
  err = lock_of(&s, p, *ticket, now);
  if (err != PPRF_OK)
    return err;
  struct tree *t = live_tree_of(&s, *ticket);
  err = t == NULL ? PPRF_ERR_PUNCTURED : pprf_eval(key_of(&s, t), leaf_of(p, *ticket), value);
  if (err == PPRF_OK)
    *origin = origin_of(&s, t, leaf_of(p, *ticket));
  else
    s.shard->stats.refused++;
  unlock(&s);
  return err;
}

int pool_redeem(struct pool *p, uint64_t now, pool_ticket ticket, int early)
{
  struct held s;
  now = tell(p, now);
  int err = lock_of(&s, p, ticket, now);
  if (err != PPRF_OK)
    return err;
  struct tree *t = live_tree_of(&s, ticket);
  err = PPRF_ERR_PUNCTURED;
  if (t != NULL) {
    uint64_t leaf = leaf_of(p, ticket);
    begin_change(&s, t);
    err = pprf_punct(key_of(&s, t), leaf);
    if (err == PPRF_OK)
      segment_of(t, leaf)->outstanding--;
    end_change(&s, t);
  }
  if (err != PPRF_OK)
    s.shard->stats.early_rejected += early != 0;
  else if (early)
    s.shard->stats.early_accepted++;
  else
    s.shard->stats.resumed++;
  (void)expire_all(&s);
  unlock(&s);
  expire_in_time(p, now);
  return err;
}

int pool_expire(struct pool *p, uint64_t now)
{
  return each_shard(p, tell(p, now), expire_all);
}

int pool_rotate(struct pool *p, uint64_t now)
{
  return each_shard(p, tell(p, now), retire);
}

int pool_revoke(struct pool *p, uint64_t now)
{
  return each_shard(p, tell(p, now), clear_all);
}

/* ---- counters ---- */

void pool_count_not_issued(struct pool *p)
{
  (void)atomic_fetch_add(&p->h->not_issued, 1);
}

void pool_count_foreign(struct pool *p)
{
  (void)atomic_fetch_add(&p->h->foreign, 1);
}

static void add_shard(struct held *s, struct pprf_tickets_stats *sum)
{
  const struct pprf_tickets_stats *own = &s->shard->stats;
  sum->issued += own->issued;
  sum->resumed += own->resumed;
  sum->early_accepted += own->early_accepted;
  sum->early_rejected += own->early_rejected;
  sum->refused += own->refused;
  sum->expired += own->expired;
  sum->dropped += own->dropped;
  uint64_t keys = 0;
  if (s->shard->current != NONE)
    sum->current += s->shard->tree[s->shard->current].next;
  for (unsigned i = 0; i < s->pool->keys; i++) {
    struct tree *t = &s->shard->tree[i];
    keys += t->id != 0;
    sum->nodes += t->nodes;
    for (unsigned k = 0; k < t->segments; k++)
      sum->outstanding += segment_at(t, k)->outstanding;
  }
  sum->keys = keys > sum->keys ? keys : sum->keys;
}

void pool_count_kept(struct pool *p)
{
  (void)atomic_fetch_add(&p->h->kept, 1);
}

/* Bytes of the mapping's resident pages and of the handles. */
static uint64_t held_bytes(const struct pool *p)
{
  struct stat st;
  uint64_t bytes = 0;
  int counted = has_descriptor(p) && fstat(p->fd, &st) == 0;
  for (unsigned i = 0; i < p->shards * p->keys; i++)
    bytes += counted ? pprf_shared_handle_bytes(p->key[i]) : pprf_shared_memory_bytes(p->key[i]);
  return bytes + (counted ? 512 * (uint64_t)st.st_blocks : header_bytes(p->depth, p->keys));
}

void pool_stats(struct pool *p, struct pprf_tickets_stats *stats)
{
  *stats = (struct pprf_tickets_stats){.foreign = atomic_load(&p->h->foreign),
                                       .not_issued = atomic_load(&p->h->not_issued),
                                       .kept = atomic_load(&p->h->kept),
                                       .imported = atomic_load(&p->h->imported),
                                       .depth = p->depth,
                                       .keys_max = p->keys,
                                       .suite = p->suite};
  for (unsigned i = 0; i < p->shards; i++) {
    struct held s;
    if (lock(&s, p, i, 0) == PPRF_OK) {
      add_shard(&s, stats);
      unlock(&s);
    }
  }
  stats->memory_bytes = held_bytes(p);
}

void *pool_memory(const struct pool *p, size_t *bytes, size_t *public)
{
  *public = pprf_shared_bytes(p->tree_depth) - ((size_t)PPRF_SEED_BYTES << (p->tree_depth - 1));
  *bytes = mapping_bytes(p->depth, p->keys);
  return p->h;
}

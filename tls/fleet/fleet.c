/* SPDX-License-Identifier: Apache-2.0 */
/* Tickets whose keys are on servers (pprf_fleet.h): the backend of several machines.
 *
 * On each server the hosts share a few trees, in keys NAME:0 to NAME:15 of one hash tag.  Tickets
 * are issued from a tree for a quarter of a lifetime, and the tree lives a lifetime longer.  A host
 * that finds no tree to issue from creates one.  A process fetches leaves and their values ahead,
 * and seals its tickets under them; when it ends, it hands unused leaves back.
 *
 * A rotation starts a tree, which has a lease time of its own so that all hosts see it as one that
 * replaces the older ones.  A revocation replaces every tree by one that ends at once.
 *
 * A ticket's name is one AES block that encrypts its tree's id and slot, its leaf, and its issue
 * time by the server's clock.  The server process draws the AES key.  Every host can read the name;
 * nobody else can, or can link two tickets of one connection.  A restarted server has a new key and
 * new trees.
 *
 * Opening a ticket claims it; redeeming it commits the lease.  A TLS 1.2 ticket is released at
 * once, because anyone can have it opened and a client proves its right only at the end of the
 * handshake.  Its leaf is punctured then, whoever has claimed it; if no answer comes, the thread
 * tries again.
 *
 * Each process has a thread for each server.  The thread fetches leaves over its own connection and
 * opens the lanes, the connections over which tickets are claimed.  A caller has a lane to itself,
 * so there can be as many concurrent claims as lanes; when none is free, the thread opens one more.
 * A caller that gets no answer in time marks the line broken; the thread then closes all its
 * connections and reconnects, with growing pauses.  Meanwhile nobody waits.
 *
 * A caller that serves others meanwhile (open_some) leaves its claim in the lane.  If it does not
 * come back for the answer, the thread takes it and releases the lease.
 *
 * Before a claim, the host checks two things without a round trip: whether it knows that the leaf
 * is punctured (the spent table, shared by its processes), and whether the calling thread has
 * recently waited too long (its budget). */
#include <errno.h>
#include <inttypes.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "chain.h"
#include "tickets/descriptor.h"
#include "pprf_fleet.h"
#include "tickets/tickets.h"
#include "wire.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18 /* Linux 4.14 */
#endif

enum {
  SLOTS = 16,  /* trees of a server: six live at a time, unless their leaves run out */
  BATCH = 512, /* leaves fetched at a time, at most; a process has two batches */
  BATCH_MIN = 16,
  BATCH_MS_MIN = 1000, /* twice as many are fetched if they were used up faster than this */
  BATCH_MS_MAX = 8000, /* half as many if slower than this */
  LANES = 128,         /* concurrent claims of a process at one server */
  SPARE = 2,           /* lanes that claims leave free whose callers must not wait for one */
  SPENT_SETS = 2048,   /* sets of four punctured leaves that a host remembers */
  SPENT_WAYS = 4,
  UNUSED_US = 125000, /* a pause's budget for waiting that can be used after it */
  OPEN_MAX = 4096,   /* open tickets of a process */
  LATE_MAX = 1024,
  LEASE_MS = 10000,
  ROTATION_LEASE_MS = 10001, /* of a tree that a rotation started: older ones issue no more */
  ISSUE_MS_MIN = 10000,      /* least time that a tree issues tickets */
  LIFETIME_MAX = 432000,     /* plus a quarter: the seven days that a tree may live */
  AGE_UNIT_MS = 16000,       /* unit of the 16-bit time in a name: 12 days */
  AHEAD_UNITS = 5400,        /* a day by which a ticket may be from the future */
  CONNECT_MS = 1000,         /* for a whole connection */
  ANSWER_MS = 1000,          /* for the thread's own requests */
  ORDER_MS = 2000,           /* for a rotation or a revocation */
  PAUSE_MS_MIN = 50,         /* before connecting again */
  PAUSE_MS_MAX = 2000,
  LIVED_MS = 2000, /* a connection that lasted this long resets the pause */
  TICK_MS = 1000,
  LOOK_MS = 10000,       /* between two looks at all trees */
  SAMPLE_MS_MAX = 60000, /* over which the rate of issue is measured */
  ID_DIGITS = 16
};

/* Leaves of a tree, with their values. */
struct leaves {
  uint64_t id, first, since, until; /* clock_ms: fetched; after it they are not issued */
  unsigned slot, asked, n, next;    /* asked: leaves asked for */
  uint8_t value[BATCH][PPRF_SEED_BYTES];
};

/* A leaf to puncture. */
struct leaf {
  uint64_t id, leaf;
  unsigned slot;
};

/* What a name says. */
struct named {
  uint64_t id, leaf;
  unsigned slot, made; /* made: in AGE_UNITs of the server's clock */
};

struct tree {
  uint64_t id, until; /* 0: none is known */
  unsigned slot;
};

/* Leaves that can be issued before a tree gives way. */
struct sample {
  uint64_t at, left;
};

/* A connection over which tickets are claimed. */
struct lane {
  int in_use;     /* a caller has it, and owns the fields below */
  uint64_t claim; /* with the line's lock: number of a claim whose caller serves others; 0: none */
  int read, left; /* the same: its caller is reading; has given it up */
  struct named asked;            /* its leaf */
  uint64_t life, deadline, sent; /* sent: in us */
  unsigned due;                  /* replies not yet read */
  uint8_t chain[CHAIN_KEY_BYTES];
  struct wire wire;
};

/* What the thread is to do with the server's trees; of two orders the greater one. */
enum order { NO_ORDER, ROTATE, REVOKE };

/* A process's part of a server. */
struct line {
  struct fleet *fleet;
  const struct target *target;
  pthread_t thread;
  int *fds;             /* of the lanes, own, wake and halt; a child inherits this memory */
  pthread_mutex_t lock; /* protects the fields below */
  pthread_cond_t given; /* a lane */
  int up, broken;
  unsigned lanes, used;            /* open; in use */
  unsigned callers, wanted;        /* have a lane or wait for one; their maximum so far */
  uint64_t claims;                 /* whose callers served others */
  enum order order;                /* not begun yet */
  uint64_t ordered, ended, failed; /* orders given; the last that ended; the last that failed */
  int known;                       /* the name key and the clock */
  uint64_t life;                   /* counts the server processes seen */
  uint8_t name_key[16];
  int64_t ahead; /* the server's clock minus ours, ms */
  unsigned current;
  struct leaves batch[2];
  unsigned late_count; /* unanswered punctures, which the thread repeats */
  struct leaf late[LATE_MAX];
  struct lane lane[LANES];
  _Atomic int looks_up; /* the thread is in getaddrinfo, which nothing interrupts */
  /* used by the thread only */
  struct access access;
  enum cause refused;  /* why the server gave no leaves */
  enum cause lacks;    /* what works only in part without it */
  enum cause disobeys; /* why it did not do the last order */
  int noted;           /* the last cause noted; -1: none yet */
  uint64_t looked_at;  /* clock_ms */
  struct sample sample;
  struct wire own;
  uint8_t own_chain[CHAIN_KEY_BYTES];
  struct tree tree;
  struct leaves coming;
  unsigned want; /* leaves at a time */
};

/* An open ticket. */
struct ticket {
  uint64_t number, id, leaf, lease, life;
  unsigned server, slot;
};

/* Per-process state; in a child it starts as zeros. */
struct process {
  _Atomic int state; /* IDLE, RUNNING, CLOSED */
  pthread_mutex_t lock;
  uint64_t last; /* number of a ticket */
  struct ticket open[OPEN_MAX];
  struct line line[PPRF_FLEET_SERVERS_MAX];
};

enum { IDLE, RUNNING, CLOSED };
enum { OWN_FD = LANES, WAKE_FD, HALT_FD, FDS };

/* A server, as all processes see it. */
struct seen {
  _Atomic uint64_t connected_at, round_trip_us; /* connected_at: a time of wire_now */
  _Atomic uint64_t trees, leaves_left, seconds_left;
  _Atomic int cause, told; /* told: the last cause that went to a log */
};

/* Shared by all processes. */
struct counts {
  struct seen server[PPRF_FLEET_SERVERS_MAX];
  _Atomic uint64_t issued, resumed, early_accepted, early_rejected, refused, foreign, not_issued,
    kept, unanswered, connected, remembered, over_budget, dropped;
};

/* Punctured leaves recently seen by this host's processes.  Tags are unique within a tree, and a
 * tree's id is random.  A missing leaf costs a round trip. */
struct spent {
  struct {
    _Atomic uint64_t tag, until; /* until: a time of clock_ms */
  } set[SPENT_SETS][SPENT_WAYS];
};

struct fleet {
  struct process *own;
  struct counts *counts;
  struct spent *spent;
  unsigned servers, depth, batch;
  int punctures; /* redeemed by PPRF.PUNCT: TLS 1.2 tickets */
  uint64_t lifetime_ms, issue_ms;
  struct target target[PPRF_FLEET_SERVERS_MAX];
  struct access access[PPRF_FLEET_SERVERS_MAX]; /* access_lock protects it */
  int fds[PPRF_FLEET_SERVERS_MAX][FDS];
  struct fleet *next; /* of this process */
};

static EVP_CIPHER *name_cipher;
static pthread_mutex_t access_lock = PTHREAD_MUTEX_INITIALIZER;

/* The clock that the server's trees use. */
static uint64_t clock_ms(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_BOOTTIME, &t);
  return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void poke(int fd)
{
  const uint64_t one = 1;
  (void)!write(fd, &one, sizeof one);
}

/* ---- names ---- */

static int name_block(const uint8_t key[16], int encrypt, const uint8_t in[NAME_BYTES],
                      uint8_t out[NAME_BYTES])
{
  int n = 0;
  EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
  int good = c != NULL && EVP_CipherInit_ex2(c, name_cipher, key, NULL, encrypt, NULL) == 1 &&
             EVP_CIPHER_CTX_set_padding(c, 0) == 1 &&
             EVP_CipherUpdate(c, out, &n, in, NAME_BYTES) == 1 && n == NAME_BYTES;
  EVP_CIPHER_CTX_free(c);
  return good;
}

static void put(uint8_t *out, uint64_t v, unsigned bytes)
{
  for (unsigned i = 0; i < bytes; i++)
    out[i] = (uint8_t)(v >> 8 * i);
}

static uint64_t get(const uint8_t *in, unsigned bytes)
{
  uint64_t v = 0;
  for (unsigned i = bytes; i-- > 0;)
    v = v << 8 | in[i];
  return v;
}

/* The plain block, little-endian: id (8 bytes), leaf (4), made (2), slot, 0. */
static int write_name(const uint8_t key[16], const struct named *n, uint8_t name[NAME_BYTES])
{
  uint8_t plain[NAME_BYTES] = {0};
  put(plain, n->id, 8);
  put(plain + 8, n->leaf, 4);
  put(plain + 12, n->made, 2);
  plain[14] = (uint8_t)n->slot;
  return name_block(key, 1, plain, name);
}

/* One in 4096 random blocks looks like a name; the server then knows no such tree. */
static int read_name(const uint8_t key[16], const uint8_t name[NAME_BYTES], struct named *n)
{
  uint8_t plain[NAME_BYTES];
  if (!name_block(key, 0, name, plain))
    return 0;
  *n = (struct named){get(plain, 8), get(plain + 8, 4), plain[14], (unsigned)get(plain + 12, 2)};
  return n->slot < SLOTS && plain[15] == 0;
}

static unsigned age_now(int64_t ahead)
{
  return (unsigned)(((int64_t)clock_ms() + ahead) / AGE_UNIT_MS) & 0xffff;
}

/* A ticket from the future is new: hosts read the server's clock only when they connect, and a virtual
 * machine may have stood still since. */
static int is_too_old(const struct fleet *f, unsigned made, int64_t ahead)
{
  unsigned age = (age_now(ahead) - made) & 0xffff;
  return age < 0x10000 - AHEAD_UNITS && age > f->lifetime_ms / AGE_UNIT_MS + 1;
}

/* ---- leaves that are punctured ---- */

static uint64_t tag_of(uint64_t id, uint64_t leaf)
{
  uint64_t tag = id + leaf * UINT64_C(0x9e3779b97f4a7c15); /* odd factor: distinct for each leaf */
  return tag != 0 ? tag : 1;
}

static int is_spent_leaf(const struct fleet *f, uint64_t id, uint64_t leaf)
{
  uint64_t tag = tag_of(id, leaf), now = clock_ms();
  for (unsigned i = 0; i < SPENT_WAYS; i++)
    if (atomic_load(&f->spent->set[tag % SPENT_SETS][i].tag) == tag &&
        now < atomic_load(&f->spent->set[tag % SPENT_SETS][i].until))
      return 1;
  return 0;
}

/* Replaces the entry that expires first.  After an entry expires, the ticket itself is too old. */
static void remember_spent(struct fleet *f, uint64_t id, uint64_t leaf)
{
  uint64_t tag = tag_of(id, leaf);
  unsigned at = 0;
  if (is_spent_leaf(f, id, leaf))
    return;
  for (unsigned i = 1; i < SPENT_WAYS; i++)
    if (atomic_load(&f->spent->set[tag % SPENT_SETS][i].until) <
        atomic_load(&f->spent->set[tag % SPENT_SETS][at].until))
      at = i;
  atomic_store(&f->spent->set[tag % SPENT_SETS][at].until, 0); /* a race leaves one entry or none */
  atomic_store(&f->spent->set[tag % SPENT_SETS][at].tag, tag);
  atomic_store(&f->spent->set[tag % SPENT_SETS][at].until,
               clock_ms() + f->lifetime_ms + 2 * AGE_UNIT_MS);
}

/* ---- how long a thread has waited ---- */

static uint64_t waiting_clock_us(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Until then this thread asks no server: a wait costs the time of which it is the budget's percentage.
 * So the waits of a busy thread are spread over its time, and threads seldom wait all at once. */
static _Thread_local uint64_t asks_again;

static void add_waited(uint64_t from, unsigned budget)
{
  uint64_t now = waiting_clock_us(), unused = now > UNUSED_US ? now - UNUSED_US : 0;
  asks_again = (asks_again > unused ? asks_again : unused) + (now - from) * 100 / budget;
}

static int is_over(unsigned budget)
{
  uint64_t now = waiting_clock_us();
  return budget < 100 && now < asks_again;
}

/* ---- commands on trees ---- */

/* A command's words: its name, the tree's key, and up to three more. */
struct command {
  char key[80], text[3][24];
  const char *word[9];
  int words;
};

static void add(struct command *c, const char *word)
{
  c->word[c->words++] = word;
}

static void begin(struct command *c, const char *name, const struct target *t, unsigned slot)
{
  (void)snprintf(c->key, sizeof c->key, "{%s}:%u", t->name, slot);
  c->words = 0;
  add(c, name);
  add(c, c->key);
}

static void add_id(struct command *c, uint64_t id)
{
  (void)snprintf(c->text[0], sizeof c->text[0], "%016" PRIx64, id);
  add(c, c->text[0]);
}

static void add_number(struct command *c, unsigned at, uint64_t n)
{
  (void)snprintf(c->text[at], sizeof c->text[at], "%" PRIu64, n);
  add(c, c->text[at]);
}

static int read_id(const redisReply *r, uint64_t *id)
{
  *id = 0;
  if (r == NULL || r->type != REDIS_REPLY_STRING || r->len != ID_DIGITS)
    return -1;
  for (int i = 0; i < ID_DIGITS; i++) {
    const char *digits = "0123456789abcdef";
    const char *d = r->str[i] != 0 ? strchr(digits, r->str[i]) : NULL;
    if (d == NULL)
      return -1;
    *id = *id << 4 | (uint64_t)(d - digits);
  }
  return *id != 0 ? 0 : -1;
}

/* Whether this is a reply of two elements with these types. */
static int is_pair(const redisReply *r, int first, int second)
{
  return r != NULL && r->type == REDIS_REPLY_ARRAY && r->elements == 2 &&
         r->element[0]->type == first && r->element[1]->type == second;
}

/* Results besides those of pprf.h: the server has no such tree; it was not asked; it has not
 * answered yet. */
enum { NOT_THERE = -1, OVER_BUDGET = -2, WAITS = -3 };

/* The server's reason for refusing a leaf. */
static int read_refusal(const redisReply *r)
{
  if (r->type == REDIS_REPLY_NIL || reply_is(r, REDIS_REPLY_ERROR, "LEASED "))
    return PPRF_ERR_PUNCTURED;
  if (reply_is(r, REDIS_REPLY_ERROR, "NOKEY ") || reply_is(r, REDIS_REPLY_ERROR, "DEAD ") ||
      reply_is(r, REDIS_REPLY_ERROR, "WRONGTYPE "))
    return NOT_THERE;
  return r->type == REDIS_REPLY_ERROR ? PPRF_TLS_ERR_BACKEND : PPRF_OK;
}

/* PPRF.PUNCT of a leaf, whoever has leased it. */
static void begin_puncture(struct command *c, const struct target *t, const struct leaf *at)
{
  begin(c, "PPRF.PUNCT", t, at->slot);
  add_id(c, at->id);
  add_number(c, 1, at->leaf);
}

/* Read its reply.  *broken: it is malformed. */
static int read_puncture(const redisReply *r, int *broken)
{
  int err = r == NULL ? PPRF_TLS_ERR_BACKEND : read_refusal(r);
  *broken = r == NULL || (err == PPRF_OK && !reply_is(r, REDIS_REPLY_STATUS, "OK"));
  return *broken ? PPRF_TLS_ERR_BACKEND : err == NOT_THERE ? PPRF_ERR_PUNCTURED : err;
}

/* ---- the thread: connections ---- */

static int collect(struct line *l, struct lane *lane);

static int halted(const struct line *l)
{
  struct pollfd p = {.fd = l->fds[HALT_FD], .events = POLLIN};
  return poll(&p, 1, 0) != 0;
}

static void pause_for(const struct line *l, unsigned ms)
{
  struct pollfd p = {.fd = l->fds[HALT_FD], .events = POLLIN};
  (void)poll(&p, 1, (int)ms);
}

static unsigned number_of(const struct line *l)
{
  return (unsigned)(l - l->fleet->own->line);
}

static struct seen *seen_of(const struct line *l)
{
  return &l->fleet->counts->server[number_of(l)];
}

/* Note a failure, or once that all is well.  Another process's failure is not overwritten again and
 * again. */
static void note(struct line *l, enum cause cause)
{
  if (cause == CAUSE_NONE && l->noted == CAUSE_NONE)
    return;
  l->noted = (int)cause;
  atomic_store(&seen_of(l)->cause, (int)cause);
}

static uint64_t now_us(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Look the host up, with the password and the certificates of now. */
static enum cause find_server(struct line *l)
{
  access_free(&l->access);
  (void)pthread_mutex_lock(&access_lock);
  int err = access_copy(&l->access, &l->fleet->access[number_of(l)]);
  (void)pthread_mutex_unlock(&access_lock);
  atomic_store(&l->looks_up, 1); /* before it asks whether to halt: see stop */
  if (err == 0 && !halted(l))
    err = access_look_up(&l->access, l->target);
  atomic_store(&l->looks_up, 0);
  return err == 0 ? CAUSE_NONE : CAUSE_NAME;
}

/* Fetch the server's name key and clock.  If the server has restarted, discard everything taken
 * from the process before. */
static int learn(struct line *l)
{
  const char *word[] = {"PPRF.NAMEKEY"};
  const redisReply *r;
  uint8_t key[sizeof l->name_key];
  uint64_t deadline = wire_now() + ANSWER_MS;
  if (wire_send(&l->own, 1, word, deadline) != 0 || (r = wire_reply(&l->own, deadline)) == NULL)
    return -1;
  l->own.why = cause_of(r, word[0]);
  if (!is_pair(r, REDIS_REPLY_STRING, REDIS_REPLY_INTEGER) || r->element[0]->len != sizeof key ||
      r->element[1]->integer < 0)
    return -1;
  memcpy(key, r->element[0]->str, sizeof key);
  if (chain_mask(l->own_chain, key, sizeof key) != 0)
    return -1;
  (void)pthread_mutex_lock(&l->lock);
  l->ahead = r->element[1]->integer - (int64_t)clock_ms();
  if (!l->known || memcmp(key, l->name_key, sizeof key) != 0) {
    OPENSSL_cleanse(l->batch, sizeof l->batch);
    l->tree.id = 0;
    l->late_count = 0;
    memcpy(l->name_key, key, sizeof key);
    l->life++;
    l->known = 1;
  }
  (void)pthread_mutex_unlock(&l->lock);
  return 0;
}

/* Whether our user on the server may use the module's commands, probed with an id that no tree has
 * and arguments that do nothing.  The first real COMMIT or PUNCT comes after the handshake, too late
 * to refuse the ticket. */
static int probe(struct line *l)
{
  static const struct {
    const char *name;
    int words;
  } probed[] = {{"PPRF.INFO", 2},   {"PPRF.CREATE", 3},  {"PPRF.ISSUE", 4}, {"PPRF.CLAIM", 4},
                {"PPRF.COMMIT", 5}, {"PPRF.RELEASE", 5}, {"PPRF.PUNCT", 4}, {"PPRF.RETURN", 5}};
  enum { PROBED = sizeof probed / sizeof *probed, PUNCT = 6, RETURN = 7 };
  uint64_t deadline = wire_now() + ANSWER_MS, sent = now_us();
  enum cause cannot = CAUSE_NONE;
  struct command c;
  l->lacks = CAUSE_NONE;
  for (unsigned i = 0; i < PROBED; i++) {
    begin(&c, probed[i].name, l->target, 0);
    add_id(&c, 0);
    add(&c, "0");
    add(&c, "0");
    if (wire_send(&l->own, probed[i].words, c.word, deadline) != 0)
      return -1;
  }
  for (unsigned i = 0; i < PROBED; i++) {
    const redisReply *r = wire_reply(&l->own, deadline);
    if (r == NULL)
      return -1;
    enum cause cause = reply_is(r, REDIS_REPLY_ERROR, "NOPERM") ||
                           reply_is(r, REDIS_REPLY_ERROR, "ERR unknown command")
                         ? cause_of(r, probed[i].name)
                         : CAUSE_NONE;
    if (i == RETURN)
      l->lacks = cause;
    else if (cannot == CAUSE_NONE && (i != PUNCT || l->fleet->punctures))
      cannot = cause;
  }
  atomic_store(&seen_of(l)->round_trip_us, now_us() - sent);
  l->own.why = cannot;
  return cannot == CAUSE_NONE ? 0 : -1;
}

static enum cause connect_line(struct line *l)
{
  enum cause cause = find_server(l);
  uint64_t deadline = wire_now() + CONNECT_MS;
  if (cause != CAUSE_NONE)
    return cause;
  l->own.halt = l->fds[HALT_FD];
  if (wire_open(&l->own, l->target, &l->access, deadline) != 0)
    return l->own.why;
  l->own.halt =
    -1; /* what it asks for from now on comes, or ANSWER_MS end: leaves do not get lost */
  if (learn(l) != 0 || probe(l) != 0)
    return l->own.why;
  if (wire_open(&l->lane[0].wire, l->target, &l->access, deadline) != 0)
    return l->lane[0].wire.why;
  l->lane[0].due = 0;
  (void)pthread_mutex_lock(&l->lock);
  l->up = 1;
  l->lanes = 1;
  l->broken = 0;
  (void)pthread_mutex_unlock(&l->lock);
  (void)atomic_fetch_add(&l->fleet->counts->connected, 1);
  return CAUSE_NONE;
}

/* Open as many lanes as callers have wanted at once.  If the server refuses more, keep the existing
 * ones. */
static void widen(struct line *l)
{
  for (;;) {
    (void)pthread_mutex_lock(&l->lock);
    int enough = l->lanes == LANES || l->lanes >= l->wanted;
    struct lane *next = enough ? NULL : &l->lane[l->lanes];
    (void)pthread_mutex_unlock(&l->lock);
    if (next == NULL)
      return;
    int opened = wire_open(&next->wire, l->target, &l->access, wire_now() + CONNECT_MS) == 0;
    next->due = 0;
    (void)pthread_mutex_lock(&l->lock);
    l->lanes += (unsigned)opened;
    if (!opened)
      l->wanted = l->lanes; /* until all lanes are in use again */
    (void)pthread_cond_signal(&l->given);
    (void)pthread_mutex_unlock(&l->lock);
  }
}

/* With the line's lock held: a lane is free again. */
static void put_back(struct line *l, struct lane *lane)
{
  lane->in_use = 0;
  lane->claim = 0;
  lane->read = lane->left = 0;
  l->used--;
  l->callers--;
}

/* Callers that wait in a lane return by their deadlines. */
static void disconnect_line(struct line *l)
{
  (void)pthread_mutex_lock(&l->lock);
  l->up = 0;
  l->order = NO_ORDER;
  (void)pthread_cond_broadcast(&l->given);
  for (;;) {
    for (unsigned i = 0; i < LANES; i++)
      if (l->lane[i].claim != 0 && !l->lane[i].read)
        put_back(l, &l->lane[i]);
    if (l->used == 0)
      break;
    (void)pthread_cond_wait(&l->given, &l->lock);
  }
  l->lanes = 0;
  (void)pthread_mutex_unlock(&l->lock);
  for (unsigned i = 0; i < LANES; i++)
    wire_close(&l->lane[i].wire);
  wire_close(&l->own);
}

/* ---- the thread: trees and leaves.  Results: 1, done; 0, the server refused; -1, the connection
 * is unusable ---- */

struct state {
  uint64_t id, live, leaves, issued, lifetime_left, lease;
};

/* A reply to PPRF.INFO: names and values. */
static int read_state(struct line *l, struct state *s, uint64_t deadline)
{
  const struct {
    const char *name;
    uint64_t *value;
  } field[] = {{"live", &s->live},
               {"leaves", &s->leaves},
               {"issued", &s->issued},
               {"lifetime_left_ms", &s->lifetime_left},
               {"lease_ms", &s->lease}};
  const redisReply *r = wire_reply(&l->own, deadline);
  *s = (struct state){0};
  if (reply_is(r, REDIS_REPLY_ERROR, "NOKEY "))
    return 1;
  if (r != NULL && r->type == REDIS_REPLY_ERROR) {
    l->refused = cause_of(r, "PPRF.INFO");
    return 0;
  }
  if (r == NULL || r->type != REDIS_REPLY_ARRAY || r->elements % 2 != 0)
    return -1;
  for (size_t at = 0; at < r->elements; at += 2) {
    const redisReply *name = r->element[at], *value = r->element[at + 1];
    if (name->type != REDIS_REPLY_STATUS)
      return -1;
    if (strcmp(name->str, "id") == 0) {
      if (read_id(value, &s->id) != 0)
        return -1;
      continue;
    }
    if (value->type != REDIS_REPLY_INTEGER || value->integer < 0)
      return -1;
    for (unsigned i = 0; i < sizeof field / sizeof *field; i++)
      if (strcmp(name->str, field[i].name) == 0)
        *field[i].value = (uint64_t)value->integer;
  }
  return 1;
}

/* For the status: what is left, and how long it lasts at the rate of the last minute. */
static void note_left(struct line *l, uint64_t trees, uint64_t left)
{
  struct seen *s = seen_of(l);
  uint64_t now = clock_ms(), passed = now - l->sample.at;
  atomic_store(&s->trees, trees);
  atomic_store(&s->leaves_left, left);
  if (l->sample.at == 0 || left > l->sample.left) {
    l->sample = (struct sample){now, left}; /* a tree has ended, or leaves were handed back */
    atomic_store(&s->seconds_left, UINT64_MAX);
  } else if (passed >= LOOK_MS) {
    uint64_t used = l->sample.left - left;
    atomic_store(&s->seconds_left, used == 0 ? UINT64_MAX : left * (passed / 1000) / used);
    if (passed >= SAMPLE_MS_MAX)
      l->sample = (struct sample){now, left};
  }
}

/* What the slots hold, where the server has told, or why it has not. */
struct slots {
  struct state state[SLOTS];
  enum cause unknown[SLOTS];
};

static int ask(struct line *l, struct slots *s)
{
  struct command c;
  uint64_t deadline = wire_now() + ANSWER_MS;
  for (unsigned i = 0; i < SLOTS; i++) {
    begin(&c, "PPRF.INFO", l->target, i);
    if (wire_send(&l->own, c.words, c.word, deadline) != 0)
      return -1;
  }
  int seen = 0;
  for (unsigned i = 0; i < SLOTS; i++) {
    int rc = read_state(l, &s->state[i], deadline);
    if (rc < 0)
      return -1;
    s->unknown[i] = rc == 0 ? l->refused : CAUSE_NONE;
    seen |= rc;
  }
  return seen;
}

/* The youngest tree that a rotation started; without one, a tree that is older than all. */
static struct state rotation_of(const struct slots *s)
{
  struct state found = {0};
  for (unsigned i = 0; i < SLOTS; i++)
    if (s->state[i].live && s->state[i].lease == ROTATION_LEASE_MS &&
        s->state[i].lifetime_left > found.lifetime_left)
      found = s->state[i];
  return found;
}

/* Whether leaves of the tree may still be made into tickets. */
static int is_current(const struct state *tree, const struct state *rotation)
{
  return tree->live && (tree->id == rotation->id || tree->lifetime_left > rotation->lifetime_left);
}

/* Forget the leaves fetched from a slot's earlier tree, or from one that has been rotated out. */
static void forget_old_leaves(struct line *l, unsigned slot, const struct state *tree, int current)
{
  (void)pthread_mutex_lock(&l->lock);
  for (unsigned k = 0; k < 2; k++)
    if (l->batch[k].slot == slot && (!current || l->batch[k].id != tree->id))
      OPENSSL_cleanse(&l->batch[k], sizeof l->batch[k]);
  (void)pthread_mutex_unlock(&l->lock);
}

/* Look at all trees.  Finds the youngest that can issue, or else a free slot for a new one (SLOTS:
 * none), and the oldest tree. */
static int look(struct line *l, unsigned *free_slot, struct tree *oldest)
{
  struct slots s;
  uint64_t best = 0, trees = 0, left = 0;
  l->tree.id = 0;
  *free_slot = SLOTS;
  *oldest = (struct tree){.until = UINT64_MAX};
  int seen = ask(l, &s);
  if (seen < 0)
    return -1;
  struct state rotation = rotation_of(&s);
  for (unsigned i = 0; i < SLOTS; i++) {
    const struct state *t = &s.state[i];
    if (s.unknown[i] != CAUSE_NONE)
      continue;
    int current = is_current(t, &rotation);
    forget_old_leaves(l, i, t, current);
    if (!t->live && *free_slot == SLOTS)
      *free_slot = i;
    trees += t->live;
    if (t->live && t->lifetime_left < oldest->until)
      *oldest = (struct tree){t->id, t->lifetime_left, i};
    if (!current || t->issued == t->leaves || t->lifetime_left <= l->fleet->lifetime_ms)
      continue;
    left += t->leaves - t->issued;
    if (t->lifetime_left > best) {
      best = t->lifetime_left;
      l->tree = (struct tree){t->id, clock_ms() + best - l->fleet->lifetime_ms, i};
    }
  }
  note_left(l, trees, left + ((SLOTS - trees) << l->fleet->depth));
  l->looked_at = clock_ms();
  return seen;
}

/* PPRF.CREATE of a tree that lives for some ms, in place of another one unless that is 0.  Gives its
 * id, or 0 if another host was first. */
static int make_tree(struct line *l, unsigned slot, unsigned depth, uint64_t lifetime,
                     uint64_t lease, uint64_t instead, uint64_t *id)
{
  char old[ID_DIGITS + 1];
  struct command c;
  const redisReply *r;
  uint64_t deadline = wire_now() + ANSWER_MS;
  *id = 0;
  begin(&c, "PPRF.CREATE", l->target, slot);
  add_number(&c, 0, depth);
  add(&c, "LIFETIME");
  add_number(&c, 1, lifetime);
  add(&c, "LEASE");
  add_number(&c, 2, lease);
  if (instead != 0) {
    (void)snprintf(old, sizeof old, "%016" PRIx64, instead);
    add(&c, "INSTEAD");
    add(&c, old);
  }
  if (wire_send(&l->own, c.words, c.word, deadline) != 0 ||
      (r = wire_reply(&l->own, deadline)) == NULL)
    return -1;
  if (r->type == REDIS_REPLY_ERROR) {
    l->refused = cause_of(r, "PPRF.CREATE");
    return reply_is(r, REDIS_REPLY_ERROR, "EXISTS ");
  }
  return read_id(r, id) == 0 ? 1 : -1;
}

static int create(struct line *l, unsigned slot, uint64_t lease, uint64_t instead)
{
  uint64_t now = clock_ms(), id;
  int rc = make_tree(l, slot, l->fleet->depth, l->fleet->lifetime_ms + l->fleet->issue_ms, lease,
                     instead, &id);
  if (rc != 1 || id == 0)
    return rc;
  (void)atomic_fetch_add(&l->fleet->counts->dropped, instead != 0);
  l->tree = (struct tree){id, now + l->fleet->issue_ms, slot};
  l->looked_at = 0;
  return 1;
}

/* A tree to issue from: with the lease of a rotation a new one.  When there are as many as there can
 * be, the oldest gives way, with its tickets. */
static int find_tree(struct line *l, uint64_t lease)
{
  for (int tries = 0; tries < 3; tries++) {
    unsigned slot;
    struct tree oldest;
    int rc = look(l, &slot, &oldest);
    if (lease == ROTATION_LEASE_MS)
      l->tree.id = 0;
    if (rc == 1 && l->tree.id == 0)
      rc = slot < SLOTS     ? create(l, slot, lease, 0)
           : oldest.id != 0 ? create(l, oldest.slot, lease, oldest.id)
                            : 0;
    if (rc != 1 || l->tree.id != 0)
      return rc;
  }
  return 0;
}

/* End every tree, with its tickets. */
static int end_trees(struct line *l)
{
  struct slots s;
  int rc = ask(l, &s);
  l->tree.id = 0;
  for (unsigned i = 0; i < SLOTS && rc == 1; i++) {
    uint64_t id;
    if (s.state[i].live)
      rc = make_tree(l, i, PPRF_DEPTH_MIN, 1, 1, s.state[i].id, &id);
    else if (s.unknown[i] != CAUSE_NONE && s.unknown[i] != CAUSE_KEY_TAKEN)
      rc = 0;
  }
  return rc;
}

/* Do what a caller has ordered, if one has. */
static int obey(struct line *l)
{
  (void)pthread_mutex_lock(&l->lock);
  enum order order = l->order;
  uint64_t number = l->ordered;
  l->order = NO_ORDER;
  (void)pthread_mutex_unlock(&l->lock);
  if (order == NO_ORDER)
    return 1;
  int rc = order == REVOKE ? end_trees(l) : find_tree(l, ROTATION_LEASE_MS);
  l->disobeys = rc == 1 ? CAUSE_NONE : l->refused;
  (void)pthread_mutex_lock(&l->lock);
  OPENSSL_cleanse(l->batch, sizeof l->batch);
  l->ended = number;
  if (rc != 1)
    l->failed = number;
  (void)pthread_cond_broadcast(&l->given);
  (void)pthread_mutex_unlock(&l->lock);
  return rc;
}

/* The tree's next leaves, into l->coming. */
static int fetch(struct line *l)
{
  struct command c;
  const redisReply *r;
  struct leaves *in = &l->coming;
  uint64_t deadline = wire_now() + ANSWER_MS;
  begin(&c, "PPRF.ISSUE", l->target, l->tree.slot);
  add_id(&c, l->tree.id);
  add_number(&c, 1, l->want);
  if (wire_send(&l->own, c.words, c.word, deadline) != 0 ||
      (r = wire_reply(&l->own, deadline)) == NULL)
    return -1;
  if (r->type == REDIS_REPLY_ERROR) {
    l->refused = cause_of(r, "PPRF.ISSUE");
    l->tree.id = 0; /* full or expired */
    return 0;
  }
  if (!is_pair(r, REDIS_REPLY_INTEGER, REDIS_REPLY_STRING) || r->element[0]->integer < 0)
    return -1;
  const redisReply *values = r->element[1];
  size_t n = values->len;
  if (n == 0 || n % PPRF_SEED_BYTES != 0 || n > sizeof in->value)
    return -1;
  *in = (struct leaves){.id = l->tree.id,
                        .first = (uint64_t)r->element[0]->integer,
                        .since = clock_ms(),
                        .until = l->tree.until,
                        .slot = l->tree.slot,
                        .asked = l->want,
                        .n = (unsigned)(n / PPRF_SEED_BYTES)};
  memcpy(in->value, values->str, n);
  return chain_mask(l->own_chain, in->value[0], n) == 0 ? 1 : -1;
}

static int is_spent(const struct leaves *b, uint64_t now)
{
  return b->next == b->n || now >= b->until;
}

/* How many leaves to fetch, now that a batch is used up: enough for some seconds, not more, because
 * this process may end.  A batch that the server made shorter says nothing. */
static void adapt(struct line *l, const struct leaves *b, uint64_t now)
{
  if (b->n < b->asked)
    return;
  if (now - b->since < BATCH_MS_MIN && l->want < l->fleet->batch)
    l->want *= 2;
  else if (now - b->since > BATCH_MS_MAX && l->want > BATCH_MIN)
    l->want /= 2;
}

/* Fill the batches that are empty or whose tree no longer issues. */
static int fill(struct line *l)
{
  for (unsigned i = 0; i < 2 && !halted(l); i++) {
    uint64_t now = clock_ms();
    (void)pthread_mutex_lock(&l->lock);
    int spent = is_spent(&l->batch[i], now);
    if (spent)
      adapt(l, &l->batch[i], now);
    (void)pthread_mutex_unlock(&l->lock);
    if (!spent)
      continue;
    int rc = 0;
    for (int tries = 0; tries < 2 && rc == 0; tries++) {
      rc = l->tree.id != 0 && now < l->tree.until ? 1 : find_tree(l, LEASE_MS);
      if (rc == 1)
        rc = fetch(l);
      else
        break;
    }
    if (rc == 1) {
      (void)pthread_mutex_lock(&l->lock);
      l->batch[i] = l->coming;
      (void)pthread_mutex_unlock(&l->lock);
    }
    OPENSSL_cleanse(&l->coming, sizeof l->coming);
    if (rc != 1)
      return rc;
  }
  return 1;
}

/* Repeat the unanswered punctures.  0, or -1 if the connection is unusable. */
static int puncture_late(struct line *l)
{
  for (;;) {
    struct command c;
    struct leaf at;
    int broken = 1;
    (void)pthread_mutex_lock(&l->lock);
    unsigned n = l->late_count;
    at = l->late[n > 0 ? n - 1 : 0];
    (void)pthread_mutex_unlock(&l->lock);
    if (n == 0 || halted(l))
      return 0;
    uint64_t deadline = wire_now() + ANSWER_MS;
    begin_puncture(&c, l->target, &at);
    if (wire_send(&l->own, c.words, c.word, deadline) == 0)
      (void)read_puncture(wire_reply(&l->own, deadline), &broken);
    if (broken)
      return -1;
    (void)pthread_mutex_lock(&l->lock);
    for (unsigned i = 0; i < l->late_count; i++) /* callers may have added some meanwhile */
      if (l->late[i].id == at.id && l->late[i].leaf == at.leaf)
        l->late[i] = l->late[--l->late_count];
    (void)pthread_mutex_unlock(&l->lock);
  }
}

/* At the end, hand back the leaves that no ticket has.  They are forgotten before the server hears
 * of it: without an answer nobody knows whether they are another host's already. */
static void hand_back(struct line *l)
{
  struct command c[2];
  uint64_t deadline = wire_now() + l->target->timeout, now = clock_ms();
  unsigned n = 0, sent = 0;
  (void)pthread_mutex_lock(&l->lock);
  for (unsigned i = 0; i < 2; i++) {
    struct leaves *b = &l->batch[i];
    if (!is_spent(b, now)) {
      begin(&c[n], "PPRF.RETURN", l->target, b->slot);
      add_id(&c[n], b->id);
      add_number(&c[n], 1, b->first + b->next);
      add_number(&c[n++], 2, b->first + b->n - 1);
    }
    OPENSSL_cleanse(b, sizeof *b);
  }
  (void)pthread_mutex_unlock(&l->lock);
  while (sent < n && wire_send(&l->own, c[sent].words, c[sent].word, deadline) == 0)
    sent++;
  /* a connection that is closed with replies to come may take the commands with it */
  while (sent-- > 0 && wire_reply(&l->own, deadline) != NULL)
    ;
}

/* Serve until the connections are unusable: 0, or the process ends: 1. */
static int serve(struct line *l)
{
  int filled;
  while (puncture_late(l) == 0 && obey(l) >= 0 && (filled = fill(l)) >= 0) {
    unsigned slot;
    struct tree oldest;
    if (clock_ms() - l->looked_at >= LOOK_MS && look(l, &slot, &oldest) < 0)
      return 0;
    note(l, !filled ? l->refused : l->disobeys != CAUSE_NONE ? l->disobeys : l->lacks);
    widen(l);
    atomic_store(&seen_of(l)->connected_at, wire_now());
    struct pollfd p[3 + LANES] = {{.fd = l->fds[HALT_FD], .events = POLLIN},
                                  {.fd = l->own.fd, .events = POLLIN | POLLRDHUP},
                                  {.fd = l->fds[WAKE_FD], .events = POLLIN}};
    uint64_t pokes;
    for (unsigned i = 0; i < LANES; i++)
      p[3 + i] =
        (struct pollfd){.fd = l->lane[i].wire.fd,
                        .events = collect(l, &l->lane[i]) ? POLLRDHUP | POLLIN : POLLRDHUP};
    (void)poll(p, sizeof p / sizeof *p, TICK_MS);
    if (p[2].revents != 0)
      (void)!read(l->fds[WAKE_FD], &pokes, sizeof pokes);
    (void)pthread_mutex_lock(&l->lock);
    int broken = l->broken;
    (void)pthread_mutex_unlock(&l->lock);
    for (unsigned i = 0; i < LANES; i++)
      broken |= (p[3 + i].revents & ~POLLIN) != 0;
    int gone = p[1].revents != 0 && wire_idle(&l->own) != 0;
    if (p[0].revents != 0 || broken || gone)
      return p[0].revents != 0 && !gone;
  }
  return 0;
}

static void *tend(void *line)
{
  struct line *l = line;
  unsigned pause = PAUSE_MS_MIN;
  while (!halted(l)) {
    uint64_t since = 0;
    enum cause cause = connect_line(l);
    if (cause == CAUSE_NONE) {
      since = wire_now();
      if (serve(l))
        hand_back(l);
    } else if (!halted(l)) {
      note(l, cause);
    }
    atomic_store(&seen_of(l)->connected_at, 0);
    disconnect_line(l);
    if (since != 0 && wire_now() - since >= LIVED_MS)
      pause = PAUSE_MS_MIN;
    pause_for(l, pause);
    pause = 2 * pause < PAUSE_MS_MAX ? 2 * pause : PAUSE_MS_MAX;
  }
  access_free(&l->access);
  return NULL;
}

/* ---- the processes ---- */

static pthread_mutex_t fleets_lock = PTHREAD_MUTEX_INITIALIZER;
static struct fleet *fleets;

static void close_fds(struct fleet *f)
{
  for (unsigned i = 0; i < f->servers; i++)
    for (unsigned k = 0; k < FDS; k++) {
      if (f->fds[i][k] >= 0)
        (void)close(f->fds[i][k]);
      f->fds[i][k] = -1;
    }
}

static void lock_fleets(void)
{
  (void)pthread_mutex_lock(&fleets_lock);
}

static void unlock_fleets(void)
{
  (void)pthread_mutex_unlock(&fleets_lock);
}

/* With fleets_lock held.  ends: with the process, so that it need not wait for name servers. */
static void stop(struct fleet *f, int ends)
{
  if (atomic_load(&f->own->state) != RUNNING)
    return;
  atomic_store(&f->own->state, CLOSED);
  for (unsigned i = 0; i < f->servers; i++)
    poke(f->fds[i][HALT_FD]);
  for (unsigned i = 0; i < f->servers; i++) {
    struct line *l = &f->own->line[i];
    if (!ends || !atomic_load(&l->looks_up))
      (void)pthread_join(l->thread, NULL);
    (void)pthread_mutex_lock(&l->lock);
    OPENSSL_cleanse(l->batch, sizeof l->batch);
    l->known = 0;
    (void)pthread_mutex_unlock(&l->lock);
  }
}

static void before_fork(void)
{
  lock_fleets();
  (void)pthread_mutex_lock(&access_lock);
}

static void after_fork(void)
{
  (void)pthread_mutex_unlock(&access_lock);
  unlock_fleets();
}

/* Threads, connections, leaves and open tickets belong to the parent. */
static void in_child(void)
{
  for (struct fleet *f = fleets; f != NULL; f = f->next) {
    close_fds(f);
    if (atomic_load(&f->own->state) != IDLE) /* the kernel has not zeroed it */
      memset(f->own, 0, sizeof *f->own);
  }
  after_fork();
}

/* OpenSSL cleans up at exit, after this: none of our threads may be using it then. */
static void at_exit(void)
{
  lock_fleets();
  for (struct fleet *f = fleets; f != NULL; f = f->next)
    stop(f, 1);
  unlock_fleets();
}

static void watch(void)
{
  name_cipher = EVP_CIPHER_fetch(NULL, "AES-128-ECB", NULL);
  if (chain_init() != 0 || pthread_atfork(before_fork, after_fork, in_child) != 0 ||
      atexit(at_exit) != 0) {
    EVP_CIPHER_free(name_cipher);
    name_cipher = NULL;
  }
}

static int watching(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  return pthread_once(&once, watch) == 0 && name_cipher != NULL;
}

static int start_line(struct fleet *f, unsigned i)
{
  struct line *l = &f->own->line[i];
  pthread_condattr_t attr;
  *l = (struct line){
    .fleet = f, .target = &f->target[i], .fds = f->fds[i], .noted = -1, .want = BATCH_MIN};
  l->fds[WAKE_FD] = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  l->fds[HALT_FD] = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  l->own = (struct wire){
    .fd = -1, .noted = &l->fds[OWN_FD], .halt = l->fds[HALT_FD], .chain = l->own_chain};
  for (unsigned k = 0; k < LANES; k++)
    l->lane[k].wire = (struct wire){
      .fd = -1, .noted = &l->fds[k], .halt = l->fds[HALT_FD], .chain = l->lane[k].chain};
  if (l->fds[WAKE_FD] < 0 || l->fds[HALT_FD] < 0 || pthread_mutex_init(&l->lock, NULL) != 0 ||
      pthread_condattr_init(&attr) != 0)
    return -1;
  int good = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 &&
             pthread_cond_init(&l->given, &attr) == 0 &&
             pthread_create(&l->thread, NULL, tend, l) == 0;
  (void)pthread_condattr_destroy(&attr);
  return good ? 0 : -1;
}

/* A process that cannot start its threads has no tickets. */
static int start(struct fleet *f)
{
  sigset_t all, before;
  int good = pthread_mutex_init(&f->own->lock, NULL) == 0;
  (void)mlock2(f->own, sizeof *f->own, MLOCK_ONFAULT); /* a child does not inherit locks */
  unsigned started = 0;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the program's threads */
  while (good && started < f->servers && start_line(f, started) == 0)
    started++;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (good && started == f->servers) {
    atomic_store(&f->own->state, RUNNING);
    return 1;
  }
  for (unsigned i = 0; i < started; i++) {
    poke(f->fds[i][HALT_FD]);
    (void)pthread_join(f->own->line[i].thread, NULL);
  }
  close_fds(f);
  return 0;
}

static int running(struct fleet *f)
{
  int state = atomic_load(&f->own->state);
  if (state == IDLE) {
    lock_fleets();
    state = atomic_load(&f->own->state);
    if (state == IDLE && start(f))
      state = RUNNING;
    unlock_fleets();
  }
  return state == RUNNING;
}

/* ---- lanes ---- */

/* Take a free lane, and leave as many as spare for those who only send.  NULL: none became free
 * before the deadline. */
static struct lane *take(struct line *l, uint64_t life, uint64_t deadline, unsigned spare)
{
  struct timespec t = {(time_t)(deadline / 1000), (long)(deadline % 1000) * 1000000};
  struct lane *lane = NULL;
  int rc = 0;
  (void)pthread_mutex_lock(&l->lock);
  l->callers++;
  int more = l->callers + spare > l->wanted && l->wanted < LANES;
  if (more)
    l->wanted = l->callers + spare;
  if (more && l->wanted > l->lanes)
    poke(l->fds[WAKE_FD]);
  while (l->up && !l->broken && l->used + spare >= l->lanes && rc == 0)
    rc = pthread_cond_timedwait(&l->given, &l->lock, &t);
  if (l->up && !l->broken && l->life == life && l->used + spare < l->lanes)
    for (unsigned i = 0; i < l->lanes && lane == NULL; i++)
      if (!l->lane[i].in_use)
        lane = &l->lane[i];
  if (lane != NULL) {
    lane->in_use = 1;
    l->used++;
  } else {
    l->callers--;
    l->wanted += spare > 0 && l->wanted < LANES; /* it does not wait, so count it here */
  }
  (void)pthread_mutex_unlock(&l->lock);
  return lane;
}

/* Whether there is no time left for an answer.  A caller that has waited that long for its lane
 * returns it unused. */
static int is_too_late(const struct line *l, uint64_t deadline)
{
  return wire_now() + l->target->timeout / 4 > deadline;
}

static void give_back(struct line *l, struct lane *lane, int broken)
{
  (void)pthread_mutex_lock(&l->lock);
  put_back(l, lane);
  l->broken |= broken;
  (void)pthread_cond_broadcast(&l->given);
  (void)pthread_mutex_unlock(&l->lock);
  if (broken)
    poke(l->fds[WAKE_FD]);
}

/* The reply to the last command.  NULL: it is not there by the deadline, or one is malformed. */
static const redisReply *last_reply(struct lane *lane, uint64_t deadline)
{
  for (; lane->due > 0; lane->due--) {
    const redisReply *r = wire_reply(&lane->wire, deadline);
    if (!reply_is(r, REDIS_REPLY_STATUS, "") && !reply_is(r, REDIS_REPLY_ERROR, "") &&
        (r == NULL || r->type != REDIS_REPLY_NIL))
      return NULL;
  }
  return wire_reply(&lane->wire, deadline);
}

/* Read the reply to PPRF.CLAIM.  *broken: it is malformed.  *spent: the leaf is punctured, not just
 * leased. */
static int read_claim(struct lane *lane, const redisReply *r, uint64_t *lease,
                      uint8_t value[PPRF_SEED_BYTES], int *broken, int *spent)
{
  *broken = r == NULL;
  int err = r == NULL ? PPRF_TLS_ERR_BACKEND : read_refusal(r);
  *spent = r != NULL && r->type == REDIS_REPLY_NIL;
  if (err != PPRF_OK)
    return err;
  *broken = 1;
  if (!is_pair(r, REDIS_REPLY_INTEGER, REDIS_REPLY_STRING) || r->element[0]->integer < 1 ||
      r->element[1]->len != PPRF_SEED_BYTES)
    return PPRF_TLS_ERR_BACKEND;
  *lease = (uint64_t)r->element[0]->integer;
  memcpy(value, r->element[1]->str, PPRF_SEED_BYTES);
  if (chain_mask(lane->chain, value, PPRF_SEED_BYTES) != 0) {
    OPENSSL_cleanse(value, PPRF_SEED_BYTES);
    return PPRF_TLS_ERR_BACKEND;
  }
  *broken = 0;
  return PPRF_OK;
}

/* Claim a leaf: take a lane and send PPRF.CLAIM until `until`.  NULL: there is no lane, or no time
 * left. */
static struct lane *begin_claim(struct line *l, uint64_t life, const struct named *n,
                                uint64_t until, uint64_t deadline, unsigned spare)
{
  struct command c;
  struct lane *lane = take(l, life, until, spare);
  if (lane == NULL)
    return NULL;
  begin(&c, "PPRF.CLAIM", l->target, n->slot);
  add_id(&c, n->id);
  add_number(&c, 1, n->leaf);
  lane->asked = *n;
  lane->life = life;
  lane->deadline = deadline;
  lane->sent = now_us();
  int late = is_too_late(l, deadline);
  if (!late && wire_send(&lane->wire, c.words, c.word, until) == 0)
    return lane;
  give_back(l, lane, !late);
  return NULL;
}

/* The answer to a lane's claim, or WAITS: none has come until `until`, and there is time left.
 * Otherwise the lane is given back. */
static int end_claim(struct line *l, struct lane *lane, uint64_t until, uint64_t *lease,
                     uint8_t value[PPRF_SEED_BYTES])
{
  int broken, spent;
  const struct named n = lane->asked;
  const redisReply *r = last_reply(lane, until);
  if (r == NULL && lane->wire.why == CAUSE_SILENT && until < lane->deadline)
    return WAITS;
  int err = read_claim(lane, r, lease, value, &broken, &spent);
  if (!broken)
    atomic_store(&seen_of(l)->round_trip_us, now_us() - lane->sent);
  give_back(l, lane, broken);
  if (spent)
    remember_spent(l->fleet, n.id, n.leaf);
  return err;
}

/* Nobody is reading a lane's answer any more. */
static void rest(struct line *l, struct lane *lane)
{
  (void)pthread_mutex_lock(&l->lock);
  lane->read = 0;
  (void)pthread_cond_broadcast(&l->given);
  (void)pthread_mutex_unlock(&l->lock);
}

static int claim(struct line *l, uint64_t life, const struct named *n, uint64_t *lease,
                 uint8_t value[PPRF_SEED_BYTES])
{
  uint64_t deadline = wire_now() + l->target->timeout, from = waiting_clock_us();
  struct lane *lane = begin_claim(l, life, n, deadline, deadline, 0);
  int err = lane != NULL ? end_claim(l, lane, deadline, lease, value) : PPRF_TLS_ERR_BACKEND;
  add_waited(from, l->target->budget);
  return err;
}

static int puncture(struct line *l, uint64_t life, const struct leaf *at)
{
  struct command c;
  uint64_t deadline = wire_now() + l->target->timeout, from = waiting_clock_us();
  int broken = 1, err = PPRF_TLS_ERR_BACKEND;
  struct lane *lane = take(l, life, deadline, 0);
  if (lane != NULL) {
    begin_puncture(&c, l->target, at);
    if (is_too_late(l, deadline))
      broken = 0;
    else if (wire_send(&lane->wire, c.words, c.word, deadline) == 0)
      err = read_puncture(last_reply(lane, deadline), &broken);
    give_back(l, lane, broken);
  }
  if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED)
    remember_spent(l->fleet, at->id, at->leaf);
  add_waited(from, l->target->budget);
  return err;
}

/* Have the thread puncture a leaf once the server answers again. */
static void puncture_later(struct line *l, uint64_t life, const struct leaf *at)
{
  (void)pthread_mutex_lock(&l->lock);
  if (l->life == life && l->late_count < LATE_MAX)
    l->late[l->late_count++] = *at;
  (void)pthread_mutex_unlock(&l->lock);
  poke(l->fds[WAKE_FD]);
}

/* End a lease by PPRF.COMMIT or PPRF.RELEASE.  If the command does not reach the server, the lease
 * expires. */
static void answer(struct line *l, const char *how, const struct ticket *t)
{
  struct command c;
  uint64_t deadline = wire_now() + l->target->timeout, from = waiting_clock_us();
  struct lane *lane = take(l, t->life, deadline, 0);
  if (lane != NULL) {
    begin(&c, how, l->target, t->slot);
    add_id(&c, t->id);
    add_number(&c, 1, t->leaf);
    add_number(&c, 2, t->lease);
    int broken = wire_send(&lane->wire, c.words, c.word, deadline) != 0;
    lane->due += !broken;
    give_back(l, lane, broken);
  }
  add_waited(from, l->target->budget);
}

/* For the thread: take the answer to a claim whose caller has given it up, or does not ask for it,
 * and release the lease.  Returns whether it is still to come. */
static int collect(struct line *l, struct lane *lane)
{
  uint8_t value[PPRF_SEED_BYTES];
  struct ticket t = {0};
  uint64_t now = wire_now();
  (void)pthread_mutex_lock(&l->lock);
  int found = lane->claim != 0 && !lane->read && (lane->left || now > lane->deadline + TICK_MS);
  lane->read |= found;
  (void)pthread_mutex_unlock(&l->lock);
  if (!found)
    return 0;
  t.id = lane->asked.id;
  t.leaf = lane->asked.leaf;
  t.slot = lane->asked.slot;
  t.life = lane->life;
  int err = end_claim(l, lane, now, &t.lease, value);
  OPENSSL_cleanse(value, sizeof value);
  if (err == PPRF_OK)
    answer(l, "PPRF.RELEASE", &t);
  if (err == WAITS)
    rest(l, lane);
  return err == WAITS;
}

/* ---- tickets that are open ---- */

static uint64_t remember(struct process *p, struct ticket t)
{
  (void)pthread_mutex_lock(&p->lock);
  t.number = ++p->last * PPRF_FLEET_SERVERS_MAX + t.server;
  p->open[p->last % OPEN_MAX] = t; /* overwrites a ticket so old that its lease has expired */
  (void)pthread_mutex_unlock(&p->lock);
  return t.number;
}

/* Remove an open ticket; only one caller succeeds. */
static int forget(struct process *p, uint64_t number, struct ticket *t)
{
  (void)pthread_mutex_lock(&p->lock);
  struct ticket *found = &p->open[number / PPRF_FLEET_SERVERS_MAX % OPEN_MAX];
  int good = number != 0 && found->number == number;
  if (good) {
    *t = *found;
    *found = (struct ticket){0};
  }
  (void)pthread_mutex_unlock(&p->lock);
  return good;
}

/* ---- the backend ---- */

/* Take a fetched leaf; there: only while the server is connected. */
static int take_leaf(struct line *l, int there, struct named *n, uint8_t key[16],
                     uint8_t value[PPRF_SEED_BYTES])
{
  int good = 0, spent = 0;
  uint64_t now = clock_ms();
  (void)pthread_mutex_lock(&l->lock);
  for (unsigned i = 0; i < 2 && !good && l->known && (l->up || !there); i++) {
    struct leaves *b = &l->batch[l->current];
    if (is_spent(b, now)) {
      l->current ^= 1;
      continue;
    }
    *n = (struct named){b->id, b->first + b->next, b->slot, age_now(l->ahead)};
    memcpy(value, b->value[b->next], PPRF_SEED_BYTES);
    OPENSSL_cleanse(b->value[b->next++], PPRF_SEED_BYTES);
    memcpy(key, l->name_key, sizeof l->name_key);
    spent = b->next == b->n;
    l->current ^= (unsigned)spent; /* in turn, so that the other batch does not grow old */
    good = 1;
  }
  (void)pthread_mutex_unlock(&l->lock);
  if (spent)
    poke(l->fds[WAKE_FD]);
  return good;
}

/* Origin of a server's values.  Its trees have the suite that valkey/tree.c names, whose derivation
 * uses neither salt nor leaf number. */
static const struct origin server_origin = {.suite = PPRF_SHA3_256};

static int fleet_issue(void *keys, uint64_t now, uint8_t name[NAME_BYTES], struct origin *origin,
                       uint8_t value[PPRF_SEED_BYTES])
{
  static _Thread_local unsigned turn;
  struct fleet *f = keys;
  struct named n;
  uint8_t key[16];
  (void)now;
  *origin = server_origin;
  memset(name, 0, NAME_BYTES);
  memset(value, 0, PPRF_SEED_BYTES);
  for (unsigned i = 0; running(f) && i < 2 * f->servers; i++)
    if (take_leaf(&f->own->line[turn++ % f->servers], i < f->servers, &n, key, value)) {
      if (!write_name(key, &n, name)) {
        OPENSSL_cleanse(value, PPRF_SEED_BYTES);
        return PPRF_ERR_CRYPTO;
      }
      (void)atomic_fetch_add(&f->counts->issued, 1);
      return PPRF_OK;
    }
  return PPRF_TLS_ERR_BACKEND;
}

/* A process that does not call pprf_tickets_expire starts its threads here, at its first handshake,
 * and has no leaf yet. */
static int fleet_ready(void *keys)
{
  struct fleet *f = keys;
  uint64_t now = clock_ms();
  int ready = 0;
  for (unsigned i = 0; running(f) && i < f->servers && !ready; i++) {
    struct line *l = &f->own->line[i];
    (void)pthread_mutex_lock(&l->lock);
    ready = l->known && (!is_spent(&l->batch[0], now) || !is_spent(&l->batch[1], now));
    (void)pthread_mutex_unlock(&l->lock);
  }
  return ready;
}

/* What a host knows of a ticket at a server without asking it; PPRF_OK: it can be claimed there. */
static int read_ticket(struct fleet *f, unsigned i, const uint8_t name[NAME_BYTES], struct named *n,
                       uint64_t *life)
{
  struct line *l = &f->own->line[i];
  uint8_t key[16];
  (void)pthread_mutex_lock(&l->lock);
  int known = l->known;
  int64_t ahead = l->ahead;
  *life = l->life;
  memcpy(key, l->name_key, sizeof key);
  (void)pthread_mutex_unlock(&l->lock);
  if (!known)
    return PPRF_TLS_ERR_BACKEND;
  if (!read_name(key, name, n))
    return PPRF_ERR_FORMAT;
  if (is_too_old(f, n->made, ahead))
    return NOT_THERE; /* or it is another server's name: one key in 4096 reads it */
  if (is_spent_leaf(f, n->id, n->leaf)) {
    (void)atomic_fetch_add(&f->counts->remembered, 1);
    return PPRF_ERR_PUNCTURED;
  }
  return PPRF_OK;
}

/* After a claim: remember the open ticket, or drop the leaves of a tree that is gone. */
static int end_open(struct fleet *f, unsigned i, int err, const struct named *n, uint64_t life,
                    uint64_t lease, uint64_t *ticket)
{
  struct line *l = &f->own->line[i];
  if (err == NOT_THERE) {
    (void)pthread_mutex_lock(&l->lock);
    for (unsigned k = 0; k < 2; k++)
      if (l->batch[k].id == n->id)
        OPENSSL_cleanse(&l->batch[k], sizeof l->batch[k]);
    (void)pthread_mutex_unlock(&l->lock);
    poke(l->fds[WAKE_FD]);
  }
  if (err == PPRF_OK)
    *ticket = remember(f->own, (struct ticket){0, n->id, n->leaf, lease, life, i, n->slot});
  return err;
}

/* Open a ticket at the server whose key reads its name, unless that server has no such tree. */
static int open_at(struct fleet *f, unsigned i, const uint8_t name[NAME_BYTES], uint64_t *ticket,
                   uint8_t value[PPRF_SEED_BYTES])
{
  struct line *l = &f->own->line[i];
  struct named n;
  uint64_t lease = 0, life;
  int err = read_ticket(f, i, name, &n, &life);
  if (err != PPRF_OK)
    return err;
  if (is_over(l->target->budget)) {
    (void)atomic_fetch_add(&f->counts->over_budget, 1);
    return OVER_BUDGET;
  }
  err = claim(l, life, &n, &lease, value);
  return end_open(f, i, err, &n, life, lease, ticket);
}

/* The same without waiting; nothing is waited for, so there is no budget. */
static int open_some_at(struct fleet *f, struct opening *o)
{
  struct line *l = &f->own->line[o->server];
  uint64_t lease = 0, life, now = wire_now();
  struct named n;
  if (o->claim == 0) {
    int err = read_ticket(f, o->server, o->name, &n, &life);
    if (err != PPRF_OK)
      return err;
    o->deadline = now + l->target->timeout;
    struct lane *lane = begin_claim(l, life, &n, now, o->deadline, SPARE);
    if (lane == NULL)
      return PPRF_TLS_ERR_BACKEND;
    o->fd = lane->wire.fd;
    o->lane = (unsigned)(lane - l->lane);
    (void)pthread_mutex_lock(&l->lock);
    o->claim = lane->claim = ++l->claims;
    (void)pthread_cond_broadcast(&l->given); /* the thread may be closing the lanes */
    (void)pthread_mutex_unlock(&l->lock);
    return WAITS;
  }
  struct lane *lane = &l->lane[o->lane];
  (void)pthread_mutex_lock(&l->lock);
  int ours = lane->claim == o->claim && !lane->read;
  lane->read |= ours;
  (void)pthread_mutex_unlock(&l->lock);
  if (!ours) { /* the thread has closed the lane, or thought that nobody would ask */
    o->claim = 0;
    return PPRF_TLS_ERR_BACKEND;
  }
  n = lane->asked;
  life = lane->life;
  int err = end_claim(l, lane, now, &lease, o->value);
  if (err == WAITS)
    rest(l, lane);
  else
    o->claim = 0;
  return end_open(f, o->server, err, &n, life, lease, &o->ticket);
}

/* Add what one server says of a ticket.  Returns whether no other is to be asked. */
static int add_result(int *result, int err)
{
  if (err == PPRF_OK || err == PPRF_ERR_PUNCTURED || err == OVER_BUDGET) {
    *result = err;
    return 1;
  }
  /* one silent server outweighs the others' "no such tree" */
  if (err == NOT_THERE)
    err = PPRF_ERR_PUNCTURED;
  if (err != PPRF_ERR_FORMAT && *result != PPRF_TLS_ERR_BACKEND)
    *result = err;
  return 0;
}

static int count_open(struct fleet *f, int err)
{
  if (err == OVER_BUDGET) /* counted as this alone */
    return PPRF_TLS_ERR_BACKEND;
  if (err != PPRF_OK)
    (void)atomic_fetch_add(err == PPRF_ERR_FORMAT      ? &f->counts->foreign
                           : err == PPRF_ERR_PUNCTURED ? &f->counts->refused
                                                       : &f->counts->unanswered,
                           1);
  return err;
}

static int fleet_open(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t *ticket,
                      struct origin *origin, uint8_t value[PPRF_SEED_BYTES])
{
  struct fleet *f = keys;
  int err = PPRF_ERR_FORMAT, ended = 0;
  (void)now;
  *origin = server_origin;
  *ticket = 0;
  memset(value, 0, PPRF_SEED_BYTES);
  if (!running(f))
    return PPRF_TLS_ERR_BACKEND;
  for (unsigned i = 0; i < f->servers && !ended; i++)
    ended = add_result(&err, open_at(f, i, name, ticket, value));
  return count_open(f, err);
}

static void fleet_open_some(void *keys, struct opening *o)
{
  struct fleet *f = keys;
  if (!o->begun) {
    o->begun = 1;
    o->result = PPRF_ERR_FORMAT;
    o->origin = server_origin;
  }
  int ended = !running(f);
  if (ended)
    o->result = PPRF_TLS_ERR_BACKEND;
  for (; o->server < f->servers && !ended; o->server++) {
    int err = open_some_at(f, o);
    if (err == WAITS)
      return;
    ended = add_result(&o->result, err);
  }
  o->done = 1;
  o->result = count_open(f, o->result);
}

static void fleet_give_up(void *keys, struct opening *o)
{
  struct fleet *f = keys;
  struct line *l = &f->own->line[o->server % PPRF_FLEET_SERVERS_MAX];
  if (o->claim == 0 || atomic_load(&f->own->state) != RUNNING)
    return;
  (void)pthread_mutex_lock(&l->lock);
  int ours = l->lane[o->lane].claim == o->claim; /* not in a child, nor after the line was down */
  l->lane[o->lane].left |= ours;
  (void)pthread_mutex_unlock(&l->lock);
  if (ours)
    poke(l->fds[WAKE_FD]);
}

static int fleet_redeem(void *keys, uint64_t now, uint64_t ticket, int early)
{
  struct fleet *f = keys;
  struct ticket t;
  (void)now;
  if (!running(f) || !forget(f->own, ticket, &t)) {
    (void)atomic_fetch_add(&f->counts->early_rejected, early != 0);
    return PPRF_ERR_PUNCTURED;
  }
  remember_spent(f, t.id, t.leaf); /* the lease can now only end in a puncture */
  answer(&f->own->line[t.server], "PPRF.COMMIT", &t);
  (void)atomic_fetch_add(early ? &f->counts->early_accepted : &f->counts->resumed, 1);
  return PPRF_OK;
}

static void fleet_release(void *keys, uint64_t ticket)
{
  struct fleet *f = keys;
  struct ticket t;
  if (running(f) && forget(f->own, ticket, &t))
    answer(&f->own->line[t.server], "PPRF.RELEASE", &t);
}

static int fleet_puncture(void *keys, uint64_t now, const uint8_t name[NAME_BYTES], uint64_t ticket)
{
  struct fleet *f = keys;
  struct line *l = &f->own->line[ticket % PPRF_FLEET_SERVERS_MAX];
  uint8_t key[16];
  struct named n;
  int err = PPRF_TLS_ERR_BACKEND;
  (void)now;
  if (running(f)) {
    (void)pthread_mutex_lock(&l->lock);
    int known = l->known;
    uint64_t life = l->life;
    memcpy(key, l->name_key, sizeof key);
    (void)pthread_mutex_unlock(&l->lock);
    if (known && !read_name(key, name, &n)) { /* the server has restarted, without the tree */
      err = PPRF_ERR_PUNCTURED;
    } else if (known) {
      const struct leaf at = {n.id, n.leaf, n.slot};
      err = puncture(l, life, &at);
      if (err == PPRF_TLS_ERR_BACKEND)
        puncture_later(l, life, &at);
    }
  }
  (void)atomic_fetch_add(err == PPRF_OK              ? &f->counts->resumed
                         : err == PPRF_ERR_PUNCTURED ? &f->counts->refused
                                                     : &f->counts->unanswered,
                         1);
  return err;
}

/* Servers expire their trees themselves; this only makes a forked process connect. */
static int fleet_expire(void *keys, uint64_t now)
{
  (void)now;
  return running(keys) ? PPRF_OK : PPRF_ERR_NOMEM;
}

/* Give an order to all servers at once, then wait for each. */
static int command_all(struct fleet *f, enum order order)
{
  uint64_t number[PPRF_FLEET_SERVERS_MAX], deadline = wire_now() + ORDER_MS;
  const struct timespec t = {(time_t)(deadline / 1000), (long)(deadline % 1000) * 1000000};
  int err = PPRF_OK;
  if (!running(f))
    return PPRF_TLS_ERR_BACKEND;
  for (unsigned i = 0; i < f->servers; i++) {
    struct line *l = &f->own->line[i];
    (void)pthread_mutex_lock(&l->lock);
    number[i] = ++l->ordered;
    if (l->up && order > l->order)
      l->order = order;
    (void)pthread_mutex_unlock(&l->lock);
    poke(l->fds[WAKE_FD]);
  }
  for (unsigned i = 0; i < f->servers; i++) {
    struct line *l = &f->own->line[i];
    int rc = 0;
    (void)pthread_mutex_lock(&l->lock);
    while (l->up && l->ended < number[i] && rc == 0)
      rc = pthread_cond_timedwait(&l->given, &l->lock, &t);
    if (l->ended < number[i] || l->failed >= number[i])
      err = PPRF_TLS_ERR_BACKEND;
    (void)pthread_mutex_unlock(&l->lock);
  }
  return err;
}

static int fleet_rotate(void *keys, uint64_t now)
{
  (void)now;
  return command_all(keys, ROTATE);
}

static int fleet_revoke(void *keys, uint64_t now)
{
  (void)now;
  return command_all(keys, REVOKE);
}

static void fleet_count(void *keys, enum backend_count what)
{
  struct counts *c = ((struct fleet *)keys)->counts;
  (void)atomic_fetch_add(what == COUNT_NOT_ISSUED ? &c->not_issued
                         : what == COUNT_FOREIGN  ? &c->foreign
                                                  : &c->kept,
                         1);
}

static void fleet_stats(void *keys, struct pprf_tickets_stats *s)
{
  const struct fleet *f = keys;
  struct counts *c = f->counts;
  *s = (struct pprf_tickets_stats){.issued = atomic_load(&c->issued),
                                   .resumed = atomic_load(&c->resumed),
                                   .early_accepted = atomic_load(&c->early_accepted),
                                   .early_rejected = atomic_load(&c->early_rejected),
                                   .refused = atomic_load(&c->refused),
                                   .foreign = atomic_load(&c->foreign),
                                   .not_issued = atomic_load(&c->not_issued),
                                   .kept = atomic_load(&c->kept),
                                   .unanswered = atomic_load(&c->unanswered),
                                   .connected = atomic_load(&c->connected),
                                   .remembered = atomic_load(&c->remembered),
                                   .over_budget = atomic_load(&c->over_budget),
                                   .dropped = atomic_load(&c->dropped),
                                   .keys_max = SLOTS,
                                   .depth = f->depth,
                                   .suite = server_origin.suite,
                                   .memory_bytes =
                                     sizeof *f + sizeof *f->own + sizeof *c + sizeof *f->spent};
}

static int fleet_export(void *keys, int *fd)
{
  (void)keys;
  *fd = -1;
  return PPRF_TLS_ERR_BACKEND;
}

static void *fleet_memory(void *keys, size_t *bytes, size_t *public)
{
  struct fleet *f = keys;
  *public = 0;
  *bytes = sizeof *f->own;
  return f->own;
}

static void fleet_adopt(void *keys)
{
  (void)keys;
}

static void fleet_close(void *keys)
{
  lock_fleets();
  stop(keys, 0);
  unlock_fleets();
}

static void fleet_free(void *keys)
{
  struct fleet *f = keys;
  lock_fleets();
  for (struct fleet **at = &fleets; *at != NULL; at = &(*at)->next)
    if (*at == f) {
      *at = f->next;
      break;
    }
  if (f->own != NULL) {
    stop(f, 0);
    close_fds(f);
    OPENSSL_cleanse(f->own, sizeof *f->own);
    (void)munmap(f->own, sizeof *f->own);
  }
  unlock_fleets();
  if (f->counts != NULL)
    (void)munmap(f->counts, sizeof *f->counts);
  if (f->spent != NULL)
    (void)munmap(f->spent, sizeof *f->spent);
  for (unsigned i = 0; i < f->servers; i++) {
    target_free(&f->target[i]);
    access_free(&f->access[i]);
  }
  free(f);
}

static const struct backend fleet_backend = {.offers = 2,
                                             .issue = fleet_issue,
                                             .open = fleet_open,
                                             .open_some = fleet_open_some,
                                             .give_up = fleet_give_up,
                                             .redeem = fleet_redeem,
                                             .release = fleet_release,
                                             .puncture = fleet_puncture,
                                             .expire = fleet_expire,
                                             .rotate = fleet_rotate,
                                             .revoke = fleet_revoke,
                                             .count = fleet_count,
                                             .stats = fleet_stats,
                                             .export = fleet_export,
                                             .adopt = fleet_adopt,
                                             .close = fleet_close,
                                             .free = fleet_free,
                                             .memory = fleet_memory,
                                             .ready = fleet_ready};

/* ---- pprf_fleet.h ---- */

const char *pprf_tickets_bad_server(const char *server)
{
  struct target t;
  if (server == NULL)
    return "there is no URL";
  const char *wrong = target_parse(&t, server);
  target_free(&t);
  return wrong;
}

static void *map(size_t bytes, int kind)
{
  void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? NULL : p;
}

static int new_fleet(struct fleet *f, const char *const *server, size_t servers)
{
  for (unsigned i = 0; i < servers; i++) {
    f->servers = i + 1;
    for (unsigned k = 0; k < FDS; k++)
      f->fds[i][k] = -1;
    if (target_parse(&f->target[i], server[i]) != NULL)
      return PPRF_TLS_ERR_OPTION;
    if (access_read(&f->access[i], &f->target[i]) != 0)
      return PPRF_TLS_ERR_BACKEND;
  }
  f->counts = map(sizeof *f->counts, MAP_SHARED);
  f->spent = map(sizeof *f->spent, MAP_SHARED);
  f->own = map(sizeof *f->own, MAP_PRIVATE);
  if (f->counts == NULL || f->spent == NULL || f->own == NULL)
    return PPRF_ERR_NOMEM;
  (void)madvise(f->own, sizeof *f->own, MADV_WIPEONFORK);
  (void)madvise(f->own, sizeof *f->own, MADV_DONTDUMP);
  (void)mlock2(f->own, sizeof *f->own, MLOCK_ONFAULT);
  return PPRF_OK;
}

int pprf_tickets_new_fleet(pprf_tickets **tickets, const struct pprf_tickets_options *options,
                           const char *const *server, size_t servers)
{
  if (tickets == NULL || server == NULL)
    return PPRF_ERR_NULL;
  *tickets = NULL;
  for (size_t i = 0; i < servers; i++)
    if (server[i] == NULL)
      return PPRF_ERR_NULL;
  if (servers < 1 || servers > PPRF_FLEET_SERVERS_MAX)
    return PPRF_TLS_ERR_OPTION;
  if (!watching())
    return PPRF_ERR_CRYPTO;
  pprf_tickets *made;
  int err = ticket_state(&made, options);
  if (err != PPRF_OK)
    return err;
  struct pprf_tickets_options *o = &made->options;
  struct fleet *f = calloc(1, sizeof *f);
  err = f == NULL ? PPRF_ERR_NOMEM
        : o->rotation != 0 || o->memory != 0 || o->suite != 0 || o->lifetime > LIFETIME_MAX
          ? PPRF_TLS_ERR_OPTION
          : new_fleet(f, server, servers);
  if (err != PPRF_OK) {
    if (f != NULL)
      fleet_free(f);
    free(made);
    return err;
  }
  if ((options == NULL || options->depth == 0) && o->depth > 12)
    o->depth -= 2; /* by rate: a tree issues for a quarter of a lifetime */
  f->depth = o->depth;
  f->punctures = !o->no_tls_1_2;
  f->batch = o->depth >= 17 ? BATCH : o->depth <= 12 ? BATCH_MIN : 1u << (o->depth - 8);
  f->lifetime_ms = (uint64_t)o->lifetime * 1000;
  f->issue_ms = f->lifetime_ms / 4 > ISSUE_MS_MIN ? f->lifetime_ms / 4 : ISSUE_MS_MIN;
  lock_fleets();
  f->next = fleets;
  fleets = f;
  unlock_fleets();
  made->backend = &fleet_backend;
  made->keys = f;
  *tickets = made;
  return PPRF_OK;
}

static struct fleet *fleet_of(const pprf_tickets *tickets)
{
  return tickets != NULL && tickets->backend == &fleet_backend ? tickets->keys : NULL;
}

int pprf_tickets_renew(pprf_tickets *tickets)
{
  struct access renewed[PPRF_FLEET_SERVERS_MAX] = {{0}};
  struct fleet *f = fleet_of(tickets);
  int err = PPRF_OK;
  if (tickets == NULL)
    return PPRF_ERR_NULL;
  if (f == NULL)
    return PPRF_OK;
  for (unsigned i = 0; i < f->servers && err == PPRF_OK; i++)
    err = access_read(&renewed[i], &f->target[i]) == 0 ? PPRF_OK : PPRF_TLS_ERR_BACKEND;
  (void)pthread_mutex_lock(&access_lock);
  for (unsigned i = 0; i < f->servers && err == PPRF_OK; i++) {
    struct access old = f->access[i];
    f->access[i] = renewed[i];
    renewed[i] = old;
  }
  (void)pthread_mutex_unlock(&access_lock);
  for (unsigned i = 0; i < f->servers; i++)
    access_free(&renewed[i]);
  return err;
}

static void write_place(const struct target *t, char out[PPRF_FLEET_PLACE_MAX])
{
  const size_t bytes = PPRF_FLEET_PLACE_MAX;
  if (t->host == NULL)
    (void)snprintf(out, bytes, "unix://%s?name=%s", t->path, t->name);
  else
    (void)snprintf(out, bytes, strchr(t->host, ':') != NULL ? "%s://[%s]:%s/%s" : "%s://%s:%s/%s",
                   t->tls ? "valkeys" : "valkey", t->host, t->port, t->name);
  for (char *c = out; *c != '\0'; c++)
    if (*c <= ' ' || *c > '~' || *c == '"' || *c == '\\')
      *c = '?'; /* it goes into logs and JSON */
}

int pprf_tickets_server(pprf_tickets *tickets, unsigned server, struct pprf_tickets_server *out)
{
  struct fleet *f = fleet_of(tickets);
  if (tickets == NULL || out == NULL)
    return PPRF_ERR_NULL;
  if (out->size < sizeof *out)
    return PPRF_TLS_ERR_OPTION;
  size_t size = out->size;
  memset(out, 0, size);
  out->size = size;
  if (f == NULL || server >= f->servers)
    return PPRF_ERR_RANGE;
  struct seen *s = &f->counts->server[server];
  uint64_t at = atomic_load(&s->connected_at);
  int cause = atomic_load(&s->cause);
  out->up = at != 0 && wire_now() - at < 3 * TICK_MS;
  out->round_trip_us = atomic_load(&s->round_trip_us);
  out->trees = atomic_load(&s->trees);
  out->leaves_left = atomic_load(&s->leaves_left);
  out->seconds_left = atomic_load(&s->seconds_left);
  out->failure = cause != CAUSE_NONE ? cause_text((enum cause)cause) : NULL;
  write_place(&f->target[server], out->place);
  return PPRF_OK;
}

unsigned pprf_tickets_failure(pprf_tickets *tickets, char *line, size_t bytes)
{
  struct fleet *f = fleet_of(tickets);
  for (unsigned i = 0; f != NULL && line != NULL && i < f->servers; i++) {
    struct seen *s = &f->counts->server[i];
    int cause = atomic_load(&s->cause);
    if (atomic_load(&s->told) == cause || atomic_exchange(&s->told, cause) == cause ||
        cause == CAUSE_NONE)
      continue;
    char place[PPRF_FLEET_PLACE_MAX];
    write_place(&f->target[i], place);
    int n = snprintf(line, bytes, "server %u, %s: %s", i + 1, place, cause_text((enum cause)cause));
    return n > 0 ? (unsigned)n : 0;
  }
  return 0;
}

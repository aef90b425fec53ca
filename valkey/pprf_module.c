/* SPDX-License-Identifier: Apache-2.0 */
/* The commands PPRF.*: a module for Valkey and Redis.  See docs/fleet.md.
 *
 * Nothing is replicated or saved: no function here gives the server a command to propagate, and the
 * type's save function writes only a tree's depth and id.  So a tree lives in one process, and a
 * replica, a restart or RESTORE has only a dead copy. */
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Redis's API, which Valkey provides under the same names, so one module serves both. */
#define REDISMODULE_API static
#define REDISMODULE_ATTR REDISMODULE_ATTR_UNUSED
#include <redismodule.h>

#include "channel.h"
#include "pprf.h"
#include "tree.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
  ISSUE_MAX = 4096,
  ID_DIGITS = 16,
  TYPE_VERSION = 1,
  LIFETIME_DEFAULT = 7200 * 1000, /* ms: the ticket lifetime in docs/tls.md */
  LEASE_DEFAULT = 10 * 1000
};
static const long long LIFETIME_MAX = 7LL * 86400 * 1000; /* RFC 8446, 4.6.1: seven days */

static RedisModuleType *type;
static RedisModuleDict *channels; /* client's id -> channel + 1 */
static uint8_t name_key[16];  /* belongs to this process, like its trees */

/* ---- arguments and replies ---- */

static int fail(RedisModuleCtx *ctx, int err)
{
  switch (err) {
  case PPRF_ERR_PUNCTURED:
    return RedisModule_ReplyWithNull(ctx);
  case TREE_DEAD:
    return RedisModule_ReplyWithError(
      ctx, "DEAD the tree's seeds are gone, or the id is another tree's");
  case TREE_LEASED:
    return RedisModule_ReplyWithError(ctx, "LEASED another client has claimed the leaf");
  case TREE_FULL:
    return RedisModule_ReplyWithError(ctx, "FULL no leaf, or no lease, is left");
  case TREE_OVER:
    return RedisModule_ReplyWithError(ctx, "OVER the lease has ended");
  case TREE_NOT_YOURS:
    return RedisModule_ReplyWithError(ctx, "NOTYOURS not the last leaves of a PPRF.ISSUE of this "
                                           "connection, or some are used or handed back already");
  case PPRF_ERR_RANGE:
    return RedisModule_ReplyWithError(ctx, "ERR leaf is not in the tree, or was not issued");
  case PPRF_ERR_NOMEM:
    return RedisModule_ReplyWithError(ctx, "ERR not enough memory");
  case PPRF_ERR_CRYPTO:
    return RedisModule_ReplyWithError(ctx, "ERR the digest or the random generator failed");
  default:
    return RedisModule_ReplyWithError(ctx, pprf_strerror(err));
  }
}

/* Parse a numeric argument.  Returns 0 after an error reply that names it. */
static int number(RedisModuleCtx *ctx, RedisModuleString *s, const char *name, long long least,
                  long long greatest, long long *n)
{
  char text[96];
  if (RedisModule_StringToLongLong(s, n) == REDISMODULE_OK && *n >= least && *n <= greatest)
    return 1;
  (void)snprintf(text, sizeof text, "ERR %s must be %lld to %lld", name, least, greatest);
  (void)RedisModule_ReplyWithError(ctx, text);
  return 0;
}

/* 16 lower-case hexadecimal digits */
static int read_id(RedisModuleCtx *ctx, RedisModuleString *s, uint64_t *id)
{
  static const char digits[] = "0123456789abcdef";
  size_t n;
  const char *text = RedisModule_StringPtrLen(s, &n), *d;
  *id = 0;
  if (n == ID_DIGITS) {
    while (n > 0 && *text != 0 && (d = strchr(digits, *text)) != NULL) {
      *id = *id << 4 | (uint64_t)(d - digits);
      text++;
      n--;
    }
    if (n == 0)
      return 1;
  }
  (void)RedisModule_ReplyWithError(ctx, "ERR a tree's id has 16 hexadecimal digits");
  return 0;
}

static int reply_id(RedisModuleCtx *ctx, uint64_t id)
{
  char text[ID_DIGITS];
  for (int i = ID_DIGITS - 1; i >= 0; i--, id >>= 4)
    text[i] = "0123456789abcdef"[id & 15];
  return RedisModule_ReplyWithStringBuffer(ctx, text, sizeof text);
}

/* The tree of a key, or NULL after an error reply.  A replica has no live trees. */
static struct tree *open_tree(RedisModuleCtx *ctx, RedisModuleString *name, int mode)
{
  RedisModuleKey *k = RedisModule_OpenKey(ctx, name, mode);
  if (k == NULL || RedisModule_KeyType(k) == REDISMODULE_KEYTYPE_EMPTY)
    (void)RedisModule_ReplyWithError(ctx, "NOKEY there is no such key");
  else if (RedisModule_ModuleTypeGetType(k) != type)
    (void)RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
  else
    return RedisModule_ModuleTypeGetValue(k);
  return NULL;
}

/* The caller's channel, or -1 after an error reply. */
static int channel_of(RedisModuleCtx *ctx)
{
  uint64_t client = RedisModule_GetClientId(ctx);
  uintptr_t c = (uintptr_t)RedisModule_DictGetC(channels, &client, sizeof client, NULL);
  if (c == 0)
    (void)RedisModule_ReplyWithError(ctx, "ERR say PPRF.HELLO first: values are sent masked");
  return (int)c - 1;
}

/* Mask the value in place and reply with it. */
static int reply_value(RedisModuleCtx *ctx, int channel, uint8_t *value, size_t n)
{
  int masked = channel_mask(channel, value, n) == 0;
  if (masked)
    (void)RedisModule_ReplyWithStringBuffer(ctx, (const char *)value, n);
  else
    (void)RedisModule_ReplyWithError(ctx, "ERR the digest failed");
  OPENSSL_cleanse(value, n);
  return REDISMODULE_OK;
}

/* ---- commands ---- */

static int hello(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  uint8_t own[CHANNEL_KEY_BYTES];
  uint64_t client = RedisModule_GetClientId(ctx);
  size_t len;
  if (n != 2)
    return RedisModule_WrongArity(ctx);
  const char *peer = RedisModule_StringPtrLen(a[1], &len);
  if (len != CHANNEL_KEY_BYTES)
    return RedisModule_ReplyWithError(ctx, "ERR an X25519 public key has 32 bytes");
  uintptr_t old = (uintptr_t)RedisModule_DictGetC(channels, &client, sizeof client, NULL);
  int c = channel_open((const uint8_t *)peer, own);
  if (c < 0)
    return RedisModule_ReplyWithError(ctx, "ERR no channel: not a public key, or too many clients");
  if (old != 0)
    channel_close((int)old - 1);
  (void)RedisModule_DictReplaceC(channels, &client, sizeof client, (void *)(uintptr_t)(c + 1));
  return RedisModule_ReplyWithStringBuffer(ctx, (const char *)own, sizeof own);
}

/* PPRF.NAMEKEY */
static int namekey(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  uint8_t key[sizeof name_key];
  int channel;
  (void)a;
  if (n != 1)
    return RedisModule_WrongArity(ctx);
  if ((channel = channel_of(ctx)) < 0)
    return REDISMODULE_OK;
  memcpy(key, name_key, sizeof key);
  (void)RedisModule_ReplyWithArray(ctx, 2);
  (void)reply_value(ctx, channel, key, sizeof key);
  return RedisModule_ReplyWithLongLong(ctx, (long long)tree_now());
}

static void client_changed(RedisModuleCtx *ctx, RedisModuleEvent e, uint64_t sub, void *data)
{
  (void)ctx;
  (void)e;
  if (sub != REDISMODULE_SUBEVENT_CLIENT_CHANGE_DISCONNECTED)
    return;
  uint64_t client = ((const RedisModuleClientInfo *)data)->id;
  tree_forget(client);
  uintptr_t c = (uintptr_t)RedisModule_DictGetC(channels, &client, sizeof client, NULL);
  if (c == 0)
    return;
  channel_close((int)c - 1);
  (void)RedisModule_DictDelC(channels, &client, sizeof client, NULL);
}

/* Whether the server may drop keys to make room. */
static int evicts(RedisModuleCtx *ctx)
{
  RedisModuleServerInfoData *info = RedisModule_GetServerInfo(ctx, "memory");
  const char *policy = RedisModule_ServerInfoGetFieldC(info, "maxmemory_policy");
  int yes = policy == NULL || strcmp(policy, "noeviction") != 0;
  RedisModule_FreeServerInfo(ctx, info);
  return yes;
}

/* PPRF.CREATE key depth [LIFETIME ms] [LEASE ms] [INSTEAD id] */
static int create(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  long long depth, lifetime = LIFETIME_DEFAULT, lease = LEASE_DEFAULT;
  uint64_t instead = 0; /* not the id of any tree */
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n < 3 || n > 9 || n % 2 == 0)
    return RedisModule_WrongArity(ctx);
  if (!number(ctx, a[2], "depth", PPRF_DEPTH_MIN, PPRF_SLOTS_DEPTH_MAX, &depth))
    return REDISMODULE_OK;
  for (int i = 3; i < n; i += 2) {
    const char *word = RedisModule_StringPtrLen(a[i], NULL);
    if (strcasecmp(word, "INSTEAD") == 0) {
      if (!read_id(ctx, a[i + 1], &instead))
        return REDISMODULE_OK;
      continue;
    }
    int is_lifetime = strcasecmp(word, "LIFETIME") == 0;
    if (!is_lifetime && strcasecmp(word, "LEASE") != 0)
      return RedisModule_ReplyWithError(ctx, "ERR options are LIFETIME, LEASE and INSTEAD");
    if (!number(ctx, a[i + 1], is_lifetime ? "LIFETIME" : "LEASE", 1, LIFETIME_MAX,
                is_lifetime ? &lifetime : &lease))
      return REDISMODULE_OK;
  }
  if ((RedisModule_GetContextFlags(ctx) & REDISMODULE_CTX_FLAGS_MASTER) == 0)
    return RedisModule_ReplyWithError(ctx, "READONLY a replica has no trees");
  if (evicts(ctx))
    return RedisModule_ReplyWithError(ctx, "ERR maxmemory-policy must be noeviction: "
                                           "an evicted tree takes its tickets with it");
  RedisModuleKey *k = RedisModule_OpenKey(ctx, a[1], REDISMODULE_READ | REDISMODULE_WRITE);
  if (RedisModule_KeyType(k) != REDISMODULE_KEYTYPE_EMPTY) {
    if (RedisModule_ModuleTypeGetType(k) != type)
      return RedisModule_ReplyWithError(ctx, REDISMODULE_ERRORMSG_WRONGTYPE);
    struct tree_state s = tree_look(RedisModule_ModuleTypeGetValue(k));
    if (s.live && s.id != instead)
      return RedisModule_ReplyWithError(ctx, "EXISTS the key holds a live tree");
  }
  int err = tree_new(&t, (unsigned)depth, (uint64_t)lifetime, (uint64_t)lease);
  if (err != PPRF_OK)
    return fail(ctx, err);
  (void)RedisModule_ModuleTypeSetValue(k, type,
                                       t); /* frees the tree that was there and wipes its seeds */
  return reply_id(ctx, tree_look(t).id);
}

/* PPRF.ISSUE key id n */
static int issue(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  uint64_t id, first;
  long long count;
  int channel;
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n != 4)
    return RedisModule_WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "n", 1, ISSUE_MAX, &count) ||
      (channel = channel_of(ctx)) < 0 ||
      (t = open_tree(ctx, a[1], REDISMODULE_READ | REDISMODULE_WRITE)) == NULL)
    return REDISMODULE_OK;
  size_t got = (size_t)count, bytes = got * PPRF_SEED_BYTES;
  uint8_t *value = calloc(got, PPRF_SEED_BYTES);
  int err = value == NULL ? PPRF_ERR_NOMEM
                          : tree_issue(t, id, RedisModule_GetClientId(ctx), &first, &got, value);
  if (err == PPRF_OK) {
    (void)RedisModule_ReplyWithArray(ctx, 2);
    (void)RedisModule_ReplyWithLongLong(ctx, (long long)first);
    (void)reply_value(ctx, channel, value, got * PPRF_SEED_BYTES);
  } else {
    (void)fail(ctx, err);
  }
  if (value != NULL)
    OPENSSL_cleanse(value, bytes);
  free(value);
  return REDISMODULE_OK;
}

/* PPRF.RETURN key id first last */
static int give_back(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  uint64_t id;
  long long first, last;
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n != 5)
    return RedisModule_WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "first leaf", 0, UINT32_MAX, &first) ||
      !number(ctx, a[4], "last leaf", first, UINT32_MAX, &last) ||
      (t = open_tree(ctx, a[1], REDISMODULE_READ | REDISMODULE_WRITE)) == NULL)
    return REDISMODULE_OK;
  int err = tree_return(t, id, RedisModule_GetClientId(ctx), (uint64_t)first, (uint64_t)last);
  return err == PPRF_OK ? RedisModule_ReplyWithSimpleString(ctx, "OK") : fail(ctx, err);
}

/* PPRF.CLAIM key id leaf */
static int claim(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  uint8_t value[PPRF_SEED_BYTES];
  uint64_t id, lease, start = tree_now();
  long long leaf;
  int channel;
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n != 4)
    return RedisModule_WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "leaf", 0, UINT32_MAX, &leaf) ||
      (channel = channel_of(ctx)) < 0 ||
      (t = open_tree(ctx, a[1], REDISMODULE_READ | REDISMODULE_WRITE)) == NULL)
    return REDISMODULE_OK;
  int err = tree_claim(t, id, (uint64_t)leaf, &lease, value);
  if (err != PPRF_OK)
    return fail(ctx, err);
  (void)RedisModule_ReplyWithArray(ctx, 2);
  (void)RedisModule_ReplyWithLongLong(ctx, (long long)lease);
  (void)reply_value(ctx, channel, value, sizeof value);
  RedisModule_LatencyAddSample("pprf-claim", (long long)(tree_now() - start));
  return REDISMODULE_OK;
}

typedef int end_lease(struct tree *, uint64_t id, uint64_t leaf, uint64_t lease);

/* PPRF.COMMIT and PPRF.RELEASE key id leaf lease */
static int answer(RedisModuleCtx *ctx, RedisModuleString **a, int n, end_lease *f)
{
  uint64_t id;
  long long leaf, lease;
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n != 5)
    return RedisModule_WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "leaf", 0, UINT32_MAX, &leaf) ||
      !number(ctx, a[4], "lease", 1, INT64_MAX, &lease) ||
      (t = open_tree(ctx, a[1], REDISMODULE_READ | REDISMODULE_WRITE)) == NULL)
    return REDISMODULE_OK;
  int err = f(t, id, (uint64_t)leaf, (uint64_t)lease);
  return err == PPRF_OK ? RedisModule_ReplyWithSimpleString(ctx, "OK") : fail(ctx, err);
}

static int commit(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  return answer(ctx, a, n, tree_commit);
}

static int release(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  return answer(ctx, a, n, tree_release);
}

/* PPRF.PUNCT key id first [last] */
static int punct(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  uint64_t id;
  long long first, last;
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n != 4 && n != 5)
    return RedisModule_WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "first leaf", 0, UINT32_MAX, &first) ||
      !number(ctx, a[n - 1], "last leaf", first, UINT32_MAX, &last) ||
      (t = open_tree(ctx, a[1], REDISMODULE_READ | REDISMODULE_WRITE)) == NULL)
    return REDISMODULE_OK;
  int err = tree_puncture(t, id, (uint64_t)first, (uint64_t)last);
  return err == PPRF_OK ? RedisModule_ReplyWithSimpleString(ctx, "OK") : fail(ctx, err);
}

static void field(RedisModuleCtx *ctx, const char *name, uint64_t value)
{
  (void)RedisModule_ReplyWithSimpleString(ctx, name);
  (void)RedisModule_ReplyWithLongLong(ctx, (long long)value);
}

/* PPRF.INFO key */
static int info(RedisModuleCtx *ctx, RedisModuleString **a, int n)
{
  struct tree *t;
  RedisModule_AutoMemory(ctx);
  if (n != 2)
    return RedisModule_WrongArity(ctx);
  if ((t = open_tree(ctx, a[1], REDISMODULE_READ)) == NULL)
    return REDISMODULE_OK;
  struct tree_state s = tree_look(t);
  (void)RedisModule_ReplyWithArray(ctx, 20);
  (void)RedisModule_ReplyWithSimpleString(ctx, "id");
  (void)reply_id(ctx, s.id);
  field(ctx, "live", (uint64_t)s.live);
  field(ctx, "depth", s.depth);
  field(ctx, "leaves", s.leaves);
  field(ctx, "issued", s.issued);
  field(ctx, "leases", s.leases);
  field(ctx, "nodes", s.nodes);
  field(ctx, "memory_bytes", tree_memory(t));
  field(ctx, "lifetime_left_ms", s.lifetime_left);
  field(ctx, "lease_ms", s.lease);
  return REDISMODULE_OK;
}

static void info_section(RedisModuleInfoCtx *ctx, int crash)
{
  if (crash) /* a crash report must hold no secrets, and the lock may be held */
    return;
  struct tree_counts c = tree_counts();
  (void)RedisModule_InfoAddSection(ctx, "");
  (void)RedisModule_InfoAddFieldULongLong(ctx, "trees_live", c.live);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "leases", c.leases);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "leaves_issued", c.issued);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "leaves_returned", c.returned);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "claims", c.claimed);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "claims_refused_used", c.used);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "claims_refused_leased", c.busy);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "refused_dead", c.dead);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "commits", c.committed);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "releases", c.released);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "leases_run_out", c.ran_out);
  (void)RedisModule_InfoAddFieldULongLong(ctx, "ranges_punctured", c.punctured);
}

/* ---- the data type ---- */

static void save(RedisModuleIO *io, void *value)
{
  struct tree_state s = tree_look(value);
  RedisModule_SaveUnsigned(io, s.depth);
  RedisModule_SaveUnsigned(io, s.id);
}

static void *load(RedisModuleIO *io, int version)
{
  if (version != TYPE_VERSION)
    return NULL;
  uint64_t depth = RedisModule_LoadUnsigned(io), id = RedisModule_LoadUnsigned(io);
  if (RedisModule_IsIOError(io) || depth < PPRF_DEPTH_MIN || depth > PPRF_SLOTS_DEPTH_MAX)
    return NULL;
  return tree_dead((unsigned)depth, id);
}

/* Write nothing to an append-only file. */
static void rewrite(RedisModuleIO *io, RedisModuleString *key, void *value)
{
  (void)io;
  (void)key;
  (void)value;
}

static size_t memory(const void *value)
{
  return tree_memory(value);
}

static void free_value(void *value)
{
  tree_free(value);
}

static void cron(RedisModuleCtx *ctx, RedisModuleEvent e, uint64_t sub, void *data)
{
  (void)ctx;
  (void)e;
  (void)sub;
  (void)data;
  tree_sweep();
}

/* ---- loading ---- */

static const struct command {
  const char *name, *flags, *summary;
  RedisModuleCmdFunc run;
  int arity, keys;
} commands[] = {
  {"pprf.hello", "fast deny-script", "Agree on the connection's masks: an X25519 public key", hello,
   2, 0},
  {"pprf.namekey", "fast deny-script", "The key for tickets' names, and the clock of trees",
   namekey, 1, 0},
  {"pprf.create", "write deny-oom deny-script",
   "Make a tree of 2^depth leaves: key depth(1..32) [LIFETIME ms] [LEASE ms] [INSTEAD id]", create,
   -3, 1},
  {"pprf.issue", "write deny-oom deny-script",
   "Take the next leaves and their values: key id n(1..4096)", issue, 4, 1},
  {"pprf.return", "write fast deny-script",
   "Hand back the last leaves of this connection's PPRF.ISSUE, unused: key id first last",
   give_back, 5, 1},
  {"pprf.claim", "write fast deny-script", "Lease a leaf and get its value: key id leaf", claim, 4,
   1},
  {"pprf.commit", "write fast deny-script", "Puncture a leased leaf: key id leaf lease", commit, 5,
   1},
  {"pprf.release", "write fast deny-script", "Give a leased leaf back: key id leaf lease", release,
   5, 1},
  {"pprf.punct", "write fast deny-script", "Puncture leaves: key id first [last]", punct, -4, 1},
  {"pprf.info", "readonly fast", "Describe a tree: key", info, 2, 1},
};

/* missing in older servers */
static int (*set_categories)(RedisModuleCommand *, const char *names);

static int add_command(RedisModuleCtx *ctx, const struct command *c, int category)
{
  RedisModuleCommandInfo i = {.version = REDISMODULE_COMMAND_INFO_VERSION,
                              .summary = c->summary,
                              .since = "0.1.0",
                              .complexity = "O(depth)",
                              .arity = c->arity};
  if (RedisModule_CreateCommand(ctx, c->name, c->run, c->flags, c->keys, c->keys, c->keys) !=
      REDISMODULE_OK)
    return REDISMODULE_ERR;
  RedisModuleCommand *made = RedisModule_GetCommand(ctx, c->name);
  if (made == NULL || RedisModule_SetCommandInfo(made, &i) != REDISMODULE_OK)
    return REDISMODULE_ERR;
  if (category && set_categories(made, "pprf") != REDISMODULE_OK)
    return REDISMODULE_ERR;
  return REDISMODULE_OK;
}

EXPORTED int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argument, int n);
EXPORTED int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argument, int n)
{
  RedisModuleTypeMethods methods = {.version = REDISMODULE_TYPE_METHOD_VERSION,
                                    .rdb_load = load,
                                    .rdb_save = save,
                                    .aof_rewrite = rewrite,
                                    .mem_usage = memory,
                                    .free = free_value};
  int (*add_category)(RedisModuleCtx *, const char *name) = NULL;
  (void)argument;
  if (n != 0 || RedisModule_Init(ctx, "pprf", 1, REDISMODULE_APIVER_1) != REDISMODULE_OK ||
      RedisModule_SetCommandInfo == NULL) /* before Redis 7.0 */
    return REDISMODULE_ERR;
  if (channel_init() != 0 || RAND_bytes(name_key, sizeof name_key) != 1)
    return REDISMODULE_ERR;
  type = RedisModule_CreateDataType(ctx, "pprf-tree", TYPE_VERSION, &methods);
  channels = RedisModule_CreateDict(NULL);
  int category =
    RedisModule_GetApi("RedisModule_AddACLCategory", (void *)&add_category) == REDISMODULE_OK &&
    RedisModule_GetApi("RedisModule_SetCommandACLCategories", (void *)&set_categories) ==
      REDISMODULE_OK &&
    add_category(ctx, "pprf") == REDISMODULE_OK;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (add_command(ctx, &commands[i], category) != REDISMODULE_OK)
      return REDISMODULE_ERR;
  if (type == NULL || channels == NULL ||
      RedisModule_RegisterInfoFunc(ctx, info_section) != REDISMODULE_OK ||
      RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_ClientChange, client_changed) !=
        REDISMODULE_OK ||
      RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_CronLoop, cron) != REDISMODULE_OK)
    return REDISMODULE_ERR;
  return REDISMODULE_OK;
}

/* Refuse to unload: trees and their leases would outlive the code. */
EXPORTED int RedisModule_OnUnload(RedisModuleCtx *ctx);
EXPORTED int RedisModule_OnUnload(RedisModuleCtx *ctx)
{
  (void)ctx;
  return REDISMODULE_ERR;
}

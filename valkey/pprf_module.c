/* SPDX-License-Identifier: Apache-2.0 */
/* The commands PPRF.*: a module for Valkey and Redis.  docs/fleet.md says what they are for.
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

#include "channel.h"
#include "pprf.h"
#include "server_api.h"
#include "tree.h"

#define EXPORTED __attribute__((visibility("default")))

enum {
  ISSUE_MAX = 4096,
  ID_DIGITS = 16,
  TYPE_VERSION = 1,
  LIFETIME_DEFAULT = 7200 * 1000, /* ms: the ticket lifetime of docs/tls.md */
  LEASE_DEFAULT = 10 * 1000
};
static const long long LIFETIME_MAX = 7LL * 86400 * 1000; /* RFC 8446, 4.6.1: seven days */

static struct server server;
static server_type *type;
static server_dict *channels; /* client's id -> channel + 1 */
static uint8_t name_key[16];  /* belongs to this process, like its trees */

/* ---- arguments and replies ---- */

static int fail(server_ctx *ctx, int err)
{
  switch (err) {
  case PPRF_ERR_PUNCTURED:
    return server.ReplyWithNull(ctx);
  case TREE_DEAD:
    return server.ReplyWithError(ctx,
                                 "DEAD the tree's seeds are gone, or the id is another tree's");
  case TREE_LEASED:
    return server.ReplyWithError(ctx, "LEASED another client has claimed the leaf");
  case TREE_FULL:
    return server.ReplyWithError(ctx, "FULL no leaf, or no lease, is left");
  case TREE_OVER:
    return server.ReplyWithError(ctx, "OVER the lease has ended");
  case TREE_NOT_YOURS:
    return server.ReplyWithError(ctx, "NOTYOURS not the last leaves of a PPRF.ISSUE of this "
                                      "connection, or some are used or handed back already");
  case PPRF_ERR_RANGE:
    return server.ReplyWithError(ctx, "ERR leaf not of the tree, or not issued");
  case PPRF_ERR_NOMEM:
    return server.ReplyWithError(ctx, "ERR not enough memory");
  case PPRF_ERR_CRYPTO:
    return server.ReplyWithError(ctx, "ERR the digest or the random generator failed");
  default:
    return server.ReplyWithError(ctx, pprf_strerror(err));
  }
}

/* Parse a numeric argument.  Returns 0 after an error reply that names it. */
static int number(server_ctx *ctx, server_str *s, const char *name, long long least,
                  long long greatest, long long *n)
{
  char text[96];
  if (server.StringToLongLong(s, n) == SERVER_OK && *n >= least && *n <= greatest)
    return 1;
  (void)snprintf(text, sizeof text, "ERR %s must be %lld to %lld", name, least, greatest);
  (void)server.ReplyWithError(ctx, text);
  return 0;
}

/* 16 lower-case hexadecimal digits */
static int read_id(server_ctx *ctx, server_str *s, uint64_t *id)
{
  static const char digits[] = "0123456789abcdef";
  size_t n;
  const char *text = server.StringPtrLen(s, &n), *d;
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
  (void)server.ReplyWithError(ctx, "ERR a tree's id has 16 hexadecimal digits");
  return 0;
}

static int reply_id(server_ctx *ctx, uint64_t id)
{
  char text[ID_DIGITS];
  for (int i = ID_DIGITS - 1; i >= 0; i--, id >>= 4)
    text[i] = "0123456789abcdef"[id & 15];
  return server.ReplyWithStringBuffer(ctx, text, sizeof text);
}

/* The tree of a key, or NULL after an error reply.  A replica has no live trees. */
static struct tree *open_tree(server_ctx *ctx, server_str *name, int mode)
{
  server_key *k = server.OpenKey(ctx, name, mode);
  if (k == NULL || server.KeyType(k) == SERVER_KEY_EMPTY)
    (void)server.ReplyWithError(ctx, "NOKEY there is no such key");
  else if (server.ModuleTypeGetType(k) != type)
    (void)server.ReplyWithError(ctx, SERVER_WRONG_TYPE);
  else
    return server.ModuleTypeGetValue(k);
  return NULL;
}

/* The caller's channel, or -1 after an error reply. */
static int channel_of(server_ctx *ctx)
{
  uint64_t client = server.GetClientId(ctx);
  uintptr_t c = (uintptr_t)server.DictGetC(channels, &client, sizeof client, NULL);
  if (c == 0)
    (void)server.ReplyWithError(ctx, "ERR say PPRF.HELLO first: values go over the wire masked");
  return (int)c - 1;
}

/* Mask the value in place and reply with it. */
static int reply_value(server_ctx *ctx, int channel, uint8_t *value, size_t n)
{
  int masked = channel_mask(channel, value, n) == 0;
  if (masked)
    (void)server.ReplyWithStringBuffer(ctx, (const char *)value, n);
  else
    (void)server.ReplyWithError(ctx, "ERR the digest failed");
  OPENSSL_cleanse(value, n);
  return SERVER_OK;
}

/* ---- commands ---- */

static int hello(server_ctx *ctx, server_str **a, int n)
{
  uint8_t own[CHANNEL_KEY_BYTES];
  uint64_t client = server.GetClientId(ctx);
  size_t len;
  if (n != 2)
    return server.WrongArity(ctx);
  const char *peer = server.StringPtrLen(a[1], &len);
  if (len != CHANNEL_KEY_BYTES)
    return server.ReplyWithError(ctx, "ERR an X25519 public key has 32 bytes");
  uintptr_t old = (uintptr_t)server.DictGetC(channels, &client, sizeof client, NULL);
  int c = channel_open((const uint8_t *)peer, own);
  if (c < 0)
    return server.ReplyWithError(ctx, "ERR no channel: not a public key, or too many clients");
  if (old != 0)
    channel_close((int)old - 1);
  (void)server.DictReplaceC(channels, &client, sizeof client, (void *)(uintptr_t)(c + 1));
  return server.ReplyWithStringBuffer(ctx, (const char *)own, sizeof own);
}

/* PPRF.NAMEKEY */
static int namekey(server_ctx *ctx, server_str **a, int n)
{
  uint8_t key[sizeof name_key];
  int channel;
  (void)a;
  if (n != 1)
    return server.WrongArity(ctx);
  if ((channel = channel_of(ctx)) < 0)
    return SERVER_OK;
  memcpy(key, name_key, sizeof key);
  (void)server.ReplyWithArray(ctx, 2);
  (void)reply_value(ctx, channel, key, sizeof key);
  return server.ReplyWithLongLong(ctx, (long long)tree_now());
}

static void client_changed(server_ctx *ctx, struct server_event e, uint64_t sub, void *data)
{
  (void)ctx;
  (void)e;
  if (sub != SERVER_CLIENT_DISCONNECTED)
    return;
  uint64_t client = ((const struct server_client *)data)->id;
  tree_forget(client);
  uintptr_t c = (uintptr_t)server.DictGetC(channels, &client, sizeof client, NULL);
  if (c == 0)
    return;
  channel_close((int)c - 1);
  (void)server.DictDelC(channels, &client, sizeof client, NULL);
}

/* Whether the server may drop keys to make room. */
static int evicts(server_ctx *ctx)
{
  server_info_data *info = server.GetServerInfo(ctx, "memory");
  const char *policy = server.ServerInfoGetFieldC(info, "maxmemory_policy");
  int yes = policy == NULL || strcmp(policy, "noeviction") != 0;
  server.FreeServerInfo(ctx, info);
  return yes;
}

/* PPRF.CREATE key depth [LIFETIME ms] [LEASE ms] [INSTEAD id] */
static int create(server_ctx *ctx, server_str **a, int n)
{
  long long depth, lifetime = LIFETIME_DEFAULT, lease = LEASE_DEFAULT;
  uint64_t instead = 0; /* no tree's id */
  struct tree *t;
  server.AutoMemory(ctx);
  if (n < 3 || n > 9 || n % 2 == 0)
    return server.WrongArity(ctx);
  if (!number(ctx, a[2], "depth", PPRF_DEPTH_MIN, PPRF_SLOTS_DEPTH_MAX, &depth))
    return SERVER_OK;
  for (int i = 3; i < n; i += 2) {
    const char *word = server.StringPtrLen(a[i], NULL);
    if (strcasecmp(word, "INSTEAD") == 0) {
      if (!read_id(ctx, a[i + 1], &instead))
        return SERVER_OK;
      continue;
    }
    int is_lifetime = strcasecmp(word, "LIFETIME") == 0;
    if (!is_lifetime && strcasecmp(word, "LEASE") != 0)
      return server.ReplyWithError(ctx, "ERR options are LIFETIME, LEASE and INSTEAD");
    if (!number(ctx, a[i + 1], is_lifetime ? "LIFETIME" : "LEASE", 1, LIFETIME_MAX,
                is_lifetime ? &lifetime : &lease))
      return SERVER_OK;
  }
  if ((server.GetContextFlags(ctx) & SERVER_IS_PRIMARY) == 0)
    return server.ReplyWithError(ctx, "READONLY a replica has no trees");
  if (evicts(ctx))
    return server.ReplyWithError(ctx, "ERR maxmemory-policy must be noeviction: "
                                      "an evicted tree takes its tickets with it");
  server_key *k = server.OpenKey(ctx, a[1], SERVER_READ | SERVER_WRITE);
  if (server.KeyType(k) != SERVER_KEY_EMPTY) {
    if (server.ModuleTypeGetType(k) != type)
      return server.ReplyWithError(ctx, SERVER_WRONG_TYPE);
    struct tree_state s = tree_look(server.ModuleTypeGetValue(k));
    if (s.live && s.id != instead)
      return server.ReplyWithError(ctx, "EXISTS the key holds a live tree");
  }
  int err = tree_new(&t, (unsigned)depth, (uint64_t)lifetime, (uint64_t)lease);
  if (err != PPRF_OK)
    return fail(ctx, err);
  (void)server.ModuleTypeSetValue(k, type,
                                  t); /* the tree that was there is freed, and its seeds wiped */
  return reply_id(ctx, tree_look(t).id);
}

/* PPRF.ISSUE key id n */
static int issue(server_ctx *ctx, server_str **a, int n)
{
  uint64_t id, first;
  long long count;
  int channel;
  struct tree *t;
  server.AutoMemory(ctx);
  if (n != 4)
    return server.WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "n", 1, ISSUE_MAX, &count) ||
      (channel = channel_of(ctx)) < 0 ||
      (t = open_tree(ctx, a[1], SERVER_READ | SERVER_WRITE)) == NULL)
    return SERVER_OK;
  size_t got = (size_t)count, bytes = got * PPRF_SEED_BYTES;
  uint8_t *value = calloc(got, PPRF_SEED_BYTES);
  int err = value == NULL ? PPRF_ERR_NOMEM
                          : tree_issue(t, id, server.GetClientId(ctx), &first, &got, value);
  if (err == PPRF_OK) {
    (void)server.ReplyWithArray(ctx, 2);
    (void)server.ReplyWithLongLong(ctx, (long long)first);
    (void)reply_value(ctx, channel, value, got * PPRF_SEED_BYTES);
  } else {
    (void)fail(ctx, err);
  }
  if (value != NULL)
    OPENSSL_cleanse(value, bytes);
  free(value);
  return SERVER_OK;
}

/* PPRF.RETURN key id first last */
static int give_back(server_ctx *ctx, server_str **a, int n)
{
  uint64_t id;
  long long first, last;
  struct tree *t;
  server.AutoMemory(ctx);
  if (n != 5)
    return server.WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "first leaf", 0, UINT32_MAX, &first) ||
      !number(ctx, a[4], "last leaf", first, UINT32_MAX, &last) ||
      (t = open_tree(ctx, a[1], SERVER_READ | SERVER_WRITE)) == NULL)
    return SERVER_OK;
  int err = tree_return(t, id, server.GetClientId(ctx), (uint64_t)first, (uint64_t)last);
  return err == PPRF_OK ? server.ReplyWithSimpleString(ctx, "OK") : fail(ctx, err);
}

/* PPRF.CLAIM key id leaf */
static int claim(server_ctx *ctx, server_str **a, int n)
{
  uint8_t value[PPRF_SEED_BYTES];
  uint64_t id, lease, start = tree_now();
  long long leaf;
  int channel;
  struct tree *t;
  server.AutoMemory(ctx);
  if (n != 4)
    return server.WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "leaf", 0, UINT32_MAX, &leaf) ||
      (channel = channel_of(ctx)) < 0 ||
      (t = open_tree(ctx, a[1], SERVER_READ | SERVER_WRITE)) == NULL)
    return SERVER_OK;
  int err = tree_claim(t, id, (uint64_t)leaf, &lease, value);
  if (err != PPRF_OK)
    return fail(ctx, err);
  (void)server.ReplyWithArray(ctx, 2);
  (void)server.ReplyWithLongLong(ctx, (long long)lease);
  (void)reply_value(ctx, channel, value, sizeof value);
  server.LatencyAddSample("pprf-claim", (long long)(tree_now() - start));
  return SERVER_OK;
}

typedef int end_lease(struct tree *, uint64_t id, uint64_t leaf, uint64_t lease);

/* PPRF.COMMIT and PPRF.RELEASE key id leaf lease */
static int answer(server_ctx *ctx, server_str **a, int n, end_lease *f)
{
  uint64_t id;
  long long leaf, lease;
  struct tree *t;
  server.AutoMemory(ctx);
  if (n != 5)
    return server.WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "leaf", 0, UINT32_MAX, &leaf) ||
      !number(ctx, a[4], "lease", 1, INT64_MAX, &lease) ||
      (t = open_tree(ctx, a[1], SERVER_READ | SERVER_WRITE)) == NULL)
    return SERVER_OK;
  int err = f(t, id, (uint64_t)leaf, (uint64_t)lease);
  return err == PPRF_OK ? server.ReplyWithSimpleString(ctx, "OK") : fail(ctx, err);
}

static int commit(server_ctx *ctx, server_str **a, int n)
{
  return answer(ctx, a, n, tree_commit);
}

static int release(server_ctx *ctx, server_str **a, int n)
{
  return answer(ctx, a, n, tree_release);
}

/* PPRF.PUNCT key id first [last] */
static int punct(server_ctx *ctx, server_str **a, int n)
{
  uint64_t id;
  long long first, last;
  struct tree *t;
  server.AutoMemory(ctx);
  if (n != 4 && n != 5)
    return server.WrongArity(ctx);
  if (!read_id(ctx, a[2], &id) || !number(ctx, a[3], "first leaf", 0, UINT32_MAX, &first) ||
      !number(ctx, a[n - 1], "last leaf", first, UINT32_MAX, &last) ||
      (t = open_tree(ctx, a[1], SERVER_READ | SERVER_WRITE)) == NULL)
    return SERVER_OK;
  int err = tree_puncture(t, id, (uint64_t)first, (uint64_t)last);
  return err == PPRF_OK ? server.ReplyWithSimpleString(ctx, "OK") : fail(ctx, err);
}

static void field(server_ctx *ctx, const char *name, uint64_t value)
{
  (void)server.ReplyWithSimpleString(ctx, name);
  (void)server.ReplyWithLongLong(ctx, (long long)value);
}

/* PPRF.INFO key */
static int info(server_ctx *ctx, server_str **a, int n)
{
  struct tree *t;
  server.AutoMemory(ctx);
  if (n != 2)
    return server.WrongArity(ctx);
  if ((t = open_tree(ctx, a[1], SERVER_READ)) == NULL)
    return SERVER_OK;
  struct tree_state s = tree_look(t);
  (void)server.ReplyWithArray(ctx, 20);
  (void)server.ReplyWithSimpleString(ctx, "id");
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
  return SERVER_OK;
}

static void info_section(server_info_ctx *ctx, int crash)
{
  if (crash) /* nothing secret in a crash report, and the lock may be held */
    return;
  struct tree_counts c = tree_counts();
  (void)server.InfoAddSection(ctx, "");
  (void)server.InfoAddFieldULongLong(ctx, "trees_live", c.live);
  (void)server.InfoAddFieldULongLong(ctx, "leases", c.leases);
  (void)server.InfoAddFieldULongLong(ctx, "leaves_issued", c.issued);
  (void)server.InfoAddFieldULongLong(ctx, "leaves_returned", c.returned);
  (void)server.InfoAddFieldULongLong(ctx, "claims", c.claimed);
  (void)server.InfoAddFieldULongLong(ctx, "claims_refused_used", c.used);
  (void)server.InfoAddFieldULongLong(ctx, "claims_refused_leased", c.busy);
  (void)server.InfoAddFieldULongLong(ctx, "refused_dead", c.dead);
  (void)server.InfoAddFieldULongLong(ctx, "commits", c.committed);
  (void)server.InfoAddFieldULongLong(ctx, "releases", c.released);
  (void)server.InfoAddFieldULongLong(ctx, "leases_run_out", c.ran_out);
  (void)server.InfoAddFieldULongLong(ctx, "ranges_punctured", c.punctured);
}

/* ---- the data type ---- */

static void save(server_io *io, void *value)
{
  struct tree_state s = tree_look(value);
  server.SaveUnsigned(io, s.depth);
  server.SaveUnsigned(io, s.id);
}

static void *load(server_io *io, int version)
{
  if (version != TYPE_VERSION)
    return NULL;
  uint64_t depth = server.LoadUnsigned(io), id = server.LoadUnsigned(io);
  if (server.IsIOError(io) || depth < PPRF_DEPTH_MIN || depth > PPRF_SLOTS_DEPTH_MAX)
    return NULL;
  return tree_dead((unsigned)depth, id);
}

/* Writes nothing into an append-only file. */
static void rewrite(server_io *io, server_str *key, void *value)
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

static void cron(server_ctx *ctx, struct server_event e, uint64_t sub, void *data)
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
  server_run *run;
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
  {"pprf.info", "readonly fast", "What a tree is and holds: key", info, 2, 1},
};

static int add_command(server_ctx *ctx, const struct command *c, int category)
{
  static const struct server_info_version version = {1, 2 * sizeof(void *), 0, 0};
  struct server_command_info i = {.version = &version,
                                  .summary = c->summary,
                                  .since = "0.1.0",
                                  .complexity = "O(depth)",
                                  .arity = c->arity};
  if (server.CreateCommand(ctx, c->name, c->run, c->flags, c->keys, c->keys, c->keys) != SERVER_OK)
    return SERVER_ERR;
  server_command *made = server.GetCommand(ctx, c->name);
  if (made == NULL || server.SetCommandInfo(made, &i) != SERVER_OK)
    return SERVER_ERR;
  if (category && server.SetCommandACLCategories(made, "pprf") != SERVER_OK)
    return SERVER_ERR;
  return SERVER_OK;
}

/* The server's functions, by name; 0 if one is missing. */
static int find_functions(server_ctx *ctx)
{
  int (*get)(const char *, void *);
  memcpy(&get, (void *)ctx, sizeof get);
#define FIND(result, name, parameters)                              \
  if (get("RedisModule_" #name, (void *)&server.name) != SERVER_OK) \
    return 0;
#define TRY(result, name, parameters) (void)get("RedisModule_" #name, (void *)&server.name);
  SERVER_FUNCTIONS(FIND)
  SERVER_LATER_FUNCTIONS(TRY)
#undef FIND
#undef TRY
  return 1;
}

EXPORTED int RedisModule_OnLoad(server_ctx *ctx, server_str **argument, int n);
EXPORTED int RedisModule_OnLoad(server_ctx *ctx, server_str **argument, int n)
{
  struct server_type_methods methods = {1, load, save, rewrite, memory, NULL, free_value};
  (void)argument;
  if (!find_functions(ctx) || n != 0 || server.IsModuleNameBusy("pprf"))
    return SERVER_ERR;
  server.SetModuleAttribs(ctx, "pprf", 1, SERVER_API_VERSION);
  if (channel_init() != 0 || RAND_bytes(name_key, sizeof name_key) != 1)
    return SERVER_ERR;
  type = server.CreateDataType(ctx, "pprf-tree", TYPE_VERSION, &methods);
  channels = server.CreateDict(NULL);
  int category = server.AddACLCategory != NULL && server.SetCommandACLCategories != NULL &&
                 server.AddACLCategory(ctx, "pprf") == SERVER_OK;
  for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
    if (add_command(ctx, &commands[i], category) != SERVER_OK)
      return SERVER_ERR;
  if (type == NULL || channels == NULL || server.RegisterInfoFunc(ctx, info_section) != SERVER_OK ||
      server.SubscribeToServerEvent(ctx, SERVER_CLIENT_CHANGE, client_changed) != SERVER_OK ||
      server.SubscribeToServerEvent(ctx, SERVER_CRON_LOOP, cron) != SERVER_OK)
    return SERVER_ERR;
  return SERVER_OK;
}

/* Refuse to unload: trees and their leases would outlive the code. */
EXPORTED int RedisModule_OnUnload(server_ctx *ctx);
EXPORTED int RedisModule_OnUnload(server_ctx *ctx)
{
  (void)ctx;
  return SERVER_ERR;
}

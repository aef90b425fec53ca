/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of a ticket in the module, compared with one server key per ticket in the same server
 * and run: SET when it is issued, GETDEL when it comes back.  bench.py starts the server and calls
 * this.
 *   tickets SOCKET KEY ID DEPTH
 * The tree is fresh.  Each line: kind, connections, commands in flight on each, tickets,
 * nanoseconds a ticket; latency lines: kind, median and 99th percentile in microseconds. */
#include <hiredis/hiredis.h>
#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONNECTIONS_MAX = 50, FLIGHT_MAX = 64, TICKETS = 20000, ROUND_TRIPS = 5000 };

static redisContext *connection[CONNECTIONS_MAX];
static const char *key, *id;
static long long next_leaf;

static void die(const char *what)
{
  fprintf(stderr, "tickets: %s\n", what);
  exit(1);
}

static double now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Read a reply of this type, or exit. */
static redisReply *take(redisContext *c, int type)
{
  void *r;
  if (redisGetReply(c, &r) != REDIS_OK)
    die(c->errstr);
  if (((redisReply *)r)->type != type)
    die(((redisReply *)r)->str != NULL ? ((redisReply *)r)->str : "a reply of another type");
  return r;
}

static redisContext *dial(const char *path)
{
  uint8_t public[32];
  size_t n = sizeof public;
  redisContext *c = redisConnectUnix(path);
  EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
  if (c == NULL || c->err != 0 || own == NULL || EVP_PKEY_get_raw_public_key(own, public, &n) != 1)
    die("cannot connect");
  (void)redisAppendCommand(c, "PPRF.HELLO %b", public, n);
  freeReplyObject(take(c, REDIS_REPLY_STRING));
  EVP_PKEY_free(own); /* the values are not unmasked here */
  return c;
}

static void ticket_name(char name[17], long long n)
{
  (void)snprintf(name, 17, "%016llx", (unsigned long long)n * 0x9e3779b97f4a7c15u);
}

enum kind { PING, KEYS, TREE };

/* One batch on every connection: a claim and a commit of a ticket, or a GETDEL. */
static void batch(enum kind kind, int connections, int flight)
{
  static long long lease[CONNECTIONS_MAX][FLIGHT_MAX];
  long long first = next_leaf;
  char name[17];
  for (int step = 0; step < (kind == TREE ? 2 : 1); step++) {
    for (int i = 0; i < connections; i++) {
      redisContext *c = connection[i];
      for (int j = 0; j < flight; j++) {
        long long leaf = first + i * flight + j;
        ticket_name(name, leaf);
        if (kind == PING)
          (void)redisAppendCommand(c, "PING");
        else if (kind == KEYS)
          (void)redisAppendCommand(c, "GETDEL %s", name);
        else if (step == 0)
          (void)redisAppendCommand(c, "PPRF.CLAIM %s %s %lld", key, id, leaf);
        else
          (void)redisAppendCommand(c, "PPRF.COMMIT %s %s %lld %lld", key, id, leaf, lease[i][j]);
      }
      for (int done = 0; !done;)
        if (redisBufferWrite(c, &done) != REDIS_OK)
          die(c->errstr);
    }
    for (int i = 0; i < connections; i++)
      for (int j = 0; j < flight; j++) {
        int type = kind == PING || step == 1 ? REDIS_REPLY_STATUS
                   : kind == KEYS            ? REDIS_REPLY_STRING
                                             : REDIS_REPLY_ARRAY;
        redisReply *r = take(connection[i], type);
        if (type == REDIS_REPLY_ARRAY)
          lease[i][j] = r->element[0]->integer;
        freeReplyObject(r);
      }
  }
  next_leaf += (long long)connections * flight;
}

static void throughput(const char *name, enum kind kind, int connections, int flight)
{
  int batches = TICKETS / (connections * flight);
  double start = now();
  for (int i = 0; i < batches; i++)
    batch(kind, connections, flight);
  double ns = (now() - start) * 1e9 / (batches * connections * flight);
  printf("throughput %s %d %d %d %.0f\n", name, connections, flight, batches * connections * flight,
         ns);
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

/* One command and its reply, ROUND_TRIPS times. */
static void latency(const char *name, enum kind kind)
{
  static double us[ROUND_TRIPS];
  char ticket[17];
  redisContext *c = connection[0];
  for (int i = 0; i < ROUND_TRIPS; i++) {
    ticket_name(ticket, next_leaf);
    double start = now();
    if (kind == PING)
      (void)redisAppendCommand(c, "PING");
    else if (kind == KEYS)
      (void)redisAppendCommand(c, "GETDEL %s", ticket);
    else
      (void)redisAppendCommand(c, "PPRF.CLAIM %s %s %lld", key, id, next_leaf);
    redisReply *r = take(c, kind == PING   ? REDIS_REPLY_STATUS
                            : kind == KEYS ? REDIS_REPLY_STRING
                                           : REDIS_REPLY_ARRAY);
    us[i] = (now() - start) * 1e6;
    if (kind == TREE) {
      (void)redisAppendCommand(c, "PPRF.COMMIT %s %s %lld %lld", key, id, next_leaf,
                               r->element[0]->integer);
      freeReplyObject(take(c, REDIS_REPLY_STATUS));
    }
    freeReplyObject(r);
    next_leaf++;
  }
  qsort(us, ROUND_TRIPS, sizeof *us, compare);
  printf("latency %s %.1f %.1f\n", name, us[ROUND_TRIPS / 2], us[ROUND_TRIPS * 99 / 100]);
}

static void issue(long long leaves)
{
  double start = now();
  for (long long at = 0; at < leaves; at += 4096) {
    (void)redisAppendCommand(connection[0], "PPRF.ISSUE %s %s 4096", key, id);
    freeReplyObject(take(connection[0], REDIS_REPLY_ARRAY));
  }
  printf("issue %.0f\n", (now() - start) * 1e9 / (double)leaves);
}

static void set_keys(long long from, long long to)
{
  char name[17];
  for (long long at = from; at < to; at += 1000) {
    long long n = to - at < 1000 ? to - at : 1000;
    for (long long i = 0; i < n; i++) {
      ticket_name(name, at + i);
      (void)redisAppendCommand(connection[0], "SET %s %b EX 7200", name, name, (size_t)16);
    }
    for (long long i = 0; i < n; i++)
      freeReplyObject(take(connection[0], REDIS_REPLY_STATUS));
  }
}

int main(int argc, char **argv)
{
  static const struct {
    int connections, flight;
  } shape[] = {{1, 1}, {1, 16}, {8, 1}, {50, 16}};
  if (argc != 5)
    die("usage: tickets SOCKET KEY ID DEPTH");
  key = argv[2];
  id = argv[3];
  for (int i = 0; i < CONNECTIONS_MAX; i++)
    connection[i] = dial(argv[1]);
  issue(1LL << atoi(argv[4]));
  for (size_t i = 0; i < sizeof shape / sizeof *shape; i++)
    for (int round = 0; round < 3; round++) {
      long long leaf = next_leaf;
      throughput("PING", PING, shape[i].connections, shape[i].flight);
      next_leaf = leaf;
      set_keys(leaf, leaf + TICKETS);
      throughput("GETDEL", KEYS, shape[i].connections, shape[i].flight);
      next_leaf = leaf;
      throughput("CLAIM+COMMIT", TREE, shape[i].connections, shape[i].flight);
    }
  latency("PING", PING);
  set_keys(next_leaf, next_leaf + ROUND_TRIPS);
  latency("GETDEL", KEYS);
  latency("CLAIM", TREE);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the tickets cost.  Usage: bench_tls [-q|-w] OUT.json; a table on standard output.
 *   -q         quick
 *   -w         handshakes only, and OpenSSL does not wipe what it frees
 *   handshake  processor time of the server for a resumption with early data, client and server
 *              joined by memory: these tickets / OpenSSL's stateless ones / its session cache
 *   tickets    issued and redeemed a second, without TLS, by one process and by two
 *   state      bytes per outstanding ticket: a key with half of its tickets redeemed at random, and
 *              OpenSSL's session cache
 * The three kinds of tickets take turns, so that the load of the machine meets all alike; medians
 * of rounds, and their quartiles. */
#include <malloc.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"
#include "pool.h"
#include "pprf_tls.h"

static _Noreturn void die(const char *what)
{
  fprintf(stderr, "bench_tls: %s\n", what);
  exit(1);
}

static double now(clockid_t clock)
{
  struct timespec t;
  (void)clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

struct summary {
  double median, low, high; /* quartiles */
};

static struct summary summarise(double *x, unsigned n)
{
  qsort(x, n, sizeof *x, ascending);
  return (struct summary){x[n / 2], x[n / 4], x[n - 1 - n / 4]};
}

/* ---- handshakes ---- */

enum kind { PPRF, STATELESS, CACHE, KINDS };
static const char *const kind_name[] = {"pprf", "stateless", "cache"};
enum { ROUNDS_MAX = 64 };

static FILE *json;
static int wiping = 1;

static void handshakes(unsigned rounds, unsigned each, unsigned depth)
{
  static double seconds[KINDS][ROUNDS_MAX], ratio[KINDS][ROUNDS_MAX];
  SSL_CTX *server[KINDS], *client = loop_client(TLS1_3_VERSION);
  SSL_SESSION *session[KINDS];
  pprf_tickets *tickets;
  struct pprf_tickets_options options = {.size = sizeof options, .depth = depth};
  for (enum kind k = 0; k < KINDS; k++) {
    server[k] = loop_server();
    (void)SSL_CTX_set_max_early_data(server[k], 16384);
    if (k == PPRF && (pprf_tickets_new(&tickets, &options) != PPRF_OK ||
                      pprf_tickets_attach(server[k], tickets) != PPRF_OK))
      die("tickets");
    if (k == STATELESS)
      (void)SSL_CTX_set_options(server[k], SSL_OP_NO_ANTI_REPLAY);
    struct loop_result r = loop_connect(client, server[k], NULL, NULL, 0, NULL);
    session[k] = r.session;
  }
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned turn = 0; turn < each; turn++)
      for (enum kind k = 0; k < KINDS; k++) {
        struct loop_result r = loop_connect(client, server[k], NULL, session[k], 1, NULL);
        if (!r.client_done || !r.early || r.session == NULL)
          die("early data was not accepted");
        SSL_SESSION_free(session[k]);
        session[k] = r.session;
        seconds[k][round] += r.server_seconds / each;
      }
    for (enum kind k = 0; k < KINDS; k++)
      ratio[k][round] = seconds[PPRF][round] / seconds[k][round];
  }
  fprintf(json, "  \"handshake\": {\"rounds\": %u, \"each\": %u, \"depth\": %u", rounds, each,
          depth);
  printf("server CPU, resumption with early data (%u rounds of %u, depth %u%s)\n", rounds, each,
         depth, wiping ? ", freed memory wiped" : ", freed memory not wiped");
  printf("  %-10s %10s %18s   %s\n", "tickets", "us", "quartiles", "pprf / this");
  for (enum kind k = 0; k < KINDS; k++) {
    struct summary r = summarise(ratio[k], rounds), s = summarise(seconds[k], rounds);
    printf("  %-10s %10.1f %8.1f - %7.1f   %.3f (%.3f - %.3f)\n", kind_name[k], 1e6 * s.median,
           1e6 * s.low, 1e6 * s.high, r.median, r.low, r.high);
    fprintf(json, ",\n    \"%s\": {\"us\": %.2f, \"us_quartiles\": [%.2f, %.2f], "
            "\"ratio\": %.4f, \"ratio_quartiles\": [%.4f, %.4f]}", kind_name[k], 1e6 * s.median,
            1e6 * s.low, 1e6 * s.high, r.median, r.low, r.high);
    SSL_SESSION_free(session[k]);
    SSL_CTX_free(server[k]);
  }
  fprintf(json, "},\n");
  SSL_CTX_free(client);
  pprf_tickets_free(tickets);
}

/* ---- tickets a second ---- */

static void churn(struct pool *p, unsigned n)
{
  uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
  pool_ticket ticket;
  for (unsigned i = 0; i < n; i++)
    if (pool_issue(p, 1, name, value) != PPRF_OK ||
        pool_open(p, 1, name, &ticket, value) != PPRF_OK || pool_redeem(p, 1, ticket, 1) != PPRF_OK)
      die("pool");
}

static void rates(unsigned rounds, unsigned n)
{
  static double rate[2][ROUNDS_MAX];
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned processes = 1; processes <= 2; processes++) {
      struct pool *p;
      if (pool_new(&p, 22, 7200, 0) != PPRF_OK)
        die("pool_new");
      churn(p, 1000);
      double start = now(CLOCK_MONOTONIC);
      pid_t pid = processes == 2 ? fork() : 0;
      if (pid < 0)
        die("fork");
      if (processes == 1 || pid != 0)
        churn(p, n);
      else {
        churn(p, n);
        _exit(0);
      }
      int status = 0;
      if (processes == 2 && (waitpid(pid, &status, 0) != pid || status != 0))
        die("child");
      rate[processes - 1][round] = processes * n / (now(CLOCK_MONOTONIC) - start);
      pool_free(p);
    }
  printf("\ntickets issued, opened and redeemed a second (wall clock, depth 22)\n");
  fprintf(json, "  \"rate\": {");
  for (unsigned i = 0; i < 2; i++) {
    struct summary s = summarise(rate[i], rounds);
    printf("  %u process%s %10.0f  %10.0f - %.0f\n", i + 1, i ? "es" : "  ", s.median, s.low,
           s.high);
    fprintf(json, "%s\"processes_%u\": {\"per_second\": %.0f, \"quartiles\": [%.0f, %.0f]}",
            i ? ", " : "", i + 1, s.median, s.low, s.high);
  }
  fprintf(json, "},\n");
}

/* ---- state ---- */

static size_t heap(void)
{
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

/* Heap bytes per session in OpenSSL's cache, as it is after a TLS 1.3 handshake. */
static double cache_bytes(unsigned n)
{
  SSL_CTX *server = loop_server(), *client = loop_client(TLS1_3_VERSION);
  (void)SSL_CTX_set_max_early_data(server, 16384);
  (void)SSL_CTX_sess_set_cache_size(server, 0);
  struct loop_result r = loop_connect(client, server, NULL, NULL, 0, NULL);
  SSL_SESSION *like = r.session;
  if (like == NULL || SSL_CTX_sess_number(server) == 0)
    die("the session cache is not used");
  long had = SSL_CTX_sess_number(server);
  size_t before = heap();
  for (unsigned i = 0; i < n; i++) {
    r = loop_connect(client, server, NULL, NULL, 0, NULL);
    SSL_SESSION_free(r.session);
  }
  double bytes = (double)(heap() - before) / (double)(SSL_CTX_sess_number(server) - had);
  SSL_SESSION_free(like);
  SSL_CTX_free(server);
  SSL_CTX_free(client);
  return bytes;
}

static void state(unsigned sessions, unsigned top)
{
  double cache = cache_bytes(sessions);
  printf("\nstate, bytes per outstanding ticket, half of all redeemed in random order\n");
  printf("  session cache: %.0f (heap of %u sessions)\n", cache, sessions * 2);
  printf("  %12s %6s %10s %12s %10s %8s\n", "outstanding", "depth", "seeds", "bytes", "per ticket",
         "cache / this");
  fprintf(json, "  \"state\": {\"cache_bytes\": %.1f, \"rows\": [", cache);
  for (unsigned k = 10; k <= top; k += 2) {
    unsigned depth = k + 1, n = 1u << depth;
    struct pool *p;
    uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
    pool_ticket *ticket = malloc(n * sizeof *ticket);
    if (ticket == NULL || pool_new(&p, depth, 7200, 0) != PPRF_OK)
      die("pool_new");
    struct pprf_tickets_stats empty, s;
    pool_stats(p, &empty);
    for (unsigned i = 0; i < n; i++)
      if (pool_issue(p, 1, name, value) != PPRF_OK ||
          pool_open(p, 1, name, &ticket[i], value) != PPRF_OK)
        die("issue");
    for (unsigned i = 0; i < n / 2; i++) {
      uint32_t r;
      if (RAND_bytes((unsigned char *)&r, sizeof r) != 1)
        die("random");
      unsigned j = i + r % (n - i);
      pool_ticket t = ticket[j];
      ticket[j] = ticket[i];
      if (pool_redeem(p, 1, t, 1) != PPRF_OK)
        die("redeem");
    }
    pool_stats(p, &s);
    double per = (double)s.memory_bytes / (double)s.outstanding;
    printf("  %12lu %6u %10lu %12lu %10.2f %8.1f\n", (unsigned long)s.outstanding, depth,
           (unsigned long)s.nodes, (unsigned long)s.memory_bytes, per, cache / per);
    fprintf(json, "%s\n    {\"outstanding\": %lu, \"depth\": %u, \"seeds\": %lu, \"bytes\": %lu, "
            "\"empty_bytes\": %lu, \"per_ticket\": %.3f, \"ratio\": %.2f}", k > 10 ? "," : "",
            (unsigned long)s.outstanding, depth, (unsigned long)s.nodes,
            (unsigned long)s.memory_bytes, (unsigned long)empty.memory_bytes, per, cache / per);
    free(ticket);
    pool_free(p);
  }
  fprintf(json, "]}\n");
}

int main(int argc, char **argv)
{
  int quick = argc == 3 && strcmp(argv[1], "-q") == 0;
  wiping = argc != 3 || strcmp(argv[1], "-w") != 0;
  if (argc != 2 + (quick || !wiping))
    die("usage: bench_tls [-q|-w] OUT.json");
  if (wiping && pprf_tickets_wipe_openssl() != PPRF_OK)
    die("too late to wipe");
  json = fopen(argv[argc - 1], "w");
  if (json == NULL)
    die("cannot write the output");
  fprintf(json, "{\n");
  handshakes(quick ? 9 : 41, quick ? 20 : 100, 22);
  if (!wiping) {
    fprintf(json, "  \"wiping\": false\n}\n");
    return fclose(json) != 0;
  }
  rates(quick ? 3 : 9, quick ? 20000 : 100000);
  state(quick ? 500 : 5000, quick ? 16 : 20);
  fprintf(json, "}\n");
  if (fclose(json) != 0)
    die("cannot write the output");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the tickets.  Usage: bench_tls [-q|-h|-w|-t|-r|-l|-s] OUT.json
 * Prints a table on standard output.
 *   -q         quick
 *   -h         handshakes only
 *   -w         handshakes only, without OpenSSL wiping what it frees
 *   -t         tickets a second only; -r: the same with real-time priority, so that other load does
 *              not keep two processes from running at once
 *   -l         only the longest time that a lock is held
 *   -s         only the suites of the trees
 *   handshake  processor time of the server for a resumption with early data, client and server
 *              joined by memory: these tickets / OpenSSL's stateless ones / its session cache
 *   tickets    issued, opened and redeemed per second, without TLS, by one process and by two, in
 *              turns; processor time, and how often one waited for the other
 *   lock       the longest time that a lock is held, in processor time, while a key of depth 22
 *              expires in an idle process, is dropped, or is revoked
 *   suites     processor time to issue, open and redeem a ticket, including its keys, with trees
 *              of each suite, in turns
 *   state      bytes per outstanding ticket: a key with half of its tickets redeemed at random, and
 *              OpenSSL's session cache
 * The three kinds of tickets take turns, so that load on the machine affects all of them equally;
 * the results are medians of rounds, with quartiles.  Handshakes are measured twice: 20 of a kind
 * in a row, as in a server with one kind of tickets; and alternating, so that each finds the caches
 * filled by the other kinds. */
#include <errno.h>
#include <malloc.h>
#include <openssl/rand.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"
#include "tickets/pool.h"
#include "pprf_tls.h"
#include "tickets/tickets.h"

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
static int wiping = 1, real_time;
static unsigned suite; /* of the trees; 0: the default */

/* row: number of handshakes of a kind before the next kind */
static void handshakes(const char *name, unsigned row, unsigned rounds, unsigned each,
                       unsigned depth)
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
    for (enum kind k = 0; k < KINDS; k++)
      seconds[k][round] = 0;
    for (unsigned turn = 0; turn < each * KINDS; turn++) {
      enum kind k = (enum kind)(turn / row % KINDS);
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
  fprintf(json, "  \"%s\": {\"rounds\": %u, \"each\": %u, \"in_a_row\": %u, \"depth\": %u", name,
          rounds, each, row, depth);
  printf("server CPU, resumption with early data (%u rounds of %u, %u in a row, depth %u%s)\n",
         rounds, each, row, depth, wiping ? ", freed memory wiped" : ", freed memory not wiped");
  printf("  %-10s %10s %18s   %s\n", "tickets", "us", "quartiles", "pprf / this");
  for (enum kind k = 0; k < KINDS; k++) {
    struct summary r = summarise(ratio[k], rounds), s = summarise(seconds[k], rounds);
    printf("  %-10s %10.1f %8.1f - %7.1f   %.3f (%.3f - %.3f)\n", kind_name[k], 1e6 * s.median,
           1e6 * s.low, 1e6 * s.high, r.median, r.low, r.high);
    fprintf(json,
            ",\n    \"%s\": {\"us\": %.2f, \"us_quartiles\": [%.2f, %.2f], "
            "\"ratio\": %.4f, \"ratio_quartiles\": [%.4f, %.4f]}",
            kind_name[k], 1e6 * s.median, 1e6 * s.low, 1e6 * s.high, r.median, r.low, r.high);
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
  struct origin origin;
  pool_ticket ticket;
  for (unsigned i = 0; i < n; i++)
    if (pool_issue(p, 1, name, &origin, value) != PPRF_OK ||
        pool_open(p, 1, name, &ticket, &origin, value) != PPRF_OK ||
        pool_redeem(p, 1, ticket, 1) != PPRF_OK)
      die("pool");
}

struct rate {
  double per_second; /* by the wall clock */
  double cpu;        /* microseconds of processor time per ticket */
  double waits;      /* voluntary context switches per thousand tickets */
};

/* A barrier that starts the processes together. */
static pthread_barrier_t *start_line(unsigned processes)
{
  static pthread_barrier_t *line;
  pthread_barrierattr_t attr;
  if (line == NULL)
    line = mmap(NULL, sizeof *line, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (line == MAP_FAILED || pthread_barrierattr_init(&attr) != 0 ||
      pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) != 0 ||
      pthread_barrier_init(line, &attr, processes) != 0)
    die("barrier");
  return line;
}

/* Run processes at the same time, each of which issues, opens and redeems n tickets. */
static struct rate rate(unsigned processes, unsigned n)
{
  struct pool *p;
  struct rusage before, after;
  if (pool_new(&p, 22, 8, 7200, 0, suite) != PPRF_OK)
    die("pool_new");
  churn(p, 1000);
  (void)getrusage(RUSAGE_CHILDREN, &before);
  pthread_barrier_t *go = start_line(processes + 1);
  for (unsigned i = 0; i < processes; i++) {
    pid_t pid = fork();
    if (pid < 0)
      die("fork");
    if (pid == 0) {
      (void)pthread_barrier_wait(go);
      churn(p, n);
      _exit(0);
    }
  }
  (void)pthread_barrier_wait(go);
  double start = now(CLOCK_MONOTONIC);
  for (unsigned i = 0; i < processes; i++) {
    int status = 0;
    if (wait(&status) < 0 || status != 0)
      die("child");
  }
  double seconds = now(CLOCK_MONOTONIC) - start, tickets = (double)processes * n;
  (void)getrusage(RUSAGE_CHILDREN, &after);
  double cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
                        before.ru_stime.tv_sec) +
               1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
                               after.ru_stime.tv_usec - before.ru_stime.tv_usec);
  pool_free(p);
  return (struct rate){tickets / seconds, 1e6 * cpu / tickets,
                       1e3 * (double)(after.ru_nvcsw - before.ru_nvcsw) / tickets};
}

static void rates(unsigned rounds, unsigned n)
{
  static double per_second[2][ROUNDS_MAX], cpu[2][ROUNDS_MAX], waits[2][ROUNDS_MAX],
    ratio[ROUNDS_MAX];
  const struct sched_param param = {.sched_priority = 1};
  if (real_time && sched_setscheduler(0, SCHED_FIFO, &param) != 0)
    die("no right to real-time priority");
  for (unsigned round = 0; round < rounds; round++) {
    for (unsigned i = 0; i < 2; i++) {
      struct rate r = rate(i + 1, n);
      per_second[i][round] = r.per_second;
      cpu[i][round] = r.cpu;
      waits[i][round] = r.waits;
    }
    ratio[round] = per_second[1][round] / per_second[0][round];
  }
  struct summary both = summarise(ratio, rounds);
  printf("\ntickets issued, opened and redeemed a second (depth 22, %u rounds of %u%s)\n", rounds,
         n, real_time ? ", real-time priority" : "");
  printf("  %-11s %10s %21s %11s %14s\n", "processes", "a second", "quartiles", "us of CPU",
         "waits per 1000");
  fprintf(json, "  \"rate\": {\"real_time\": %d, \"rounds\": %u, \"each\": %u", real_time, rounds,
          n);
  for (unsigned i = 0; i < 2; i++) {
    struct summary s = summarise(per_second[i], rounds), c = summarise(cpu[i], rounds),
                   w = summarise(waits[i], rounds);
    printf("  %-11u %10.0f %10.0f - %8.0f %11.2f %14.2f\n", i + 1, s.median, s.low, s.high,
           c.median, w.median);
    fprintf(json,
            ", \"processes_%u\": {\"per_second\": %.0f, \"quartiles\": [%.0f, %.0f], "
            "\"cpu_us\": %.3f, \"waits_per_1000\": %.3f}",
            i + 1, s.median, s.low, s.high, c.median, w.median);
  }
  printf("  two to one: %.2f (%.2f - %.2f)\n", both.median, both.low, both.high);
  fprintf(json, ", \"two_to_one\": %.3f, \"two_to_one_quartiles\": [%.3f, %.3f]}", both.median,
          both.low, both.high);
}

/* ---- suites ---- */

enum step { ISSUE, OPEN, REDEEM, ALL, STEPS };
static const char *const step_name[] = {"issue", "open", "redeem", "all"};
enum { SUITES = PPRF_AES_128, ROW = 1000 };

/* Seconds for each step of n tickets; ROW tickets are issued before the first is opened, as in a
 * server with that many clients. A ticket's keys are derived as in libssl's callback. */
static void time_steps(struct pool *p, unsigned n, double seconds[STEPS])
{
  static uint8_t name[ROW][POOL_NAME_BYTES];
  uint8_t value[PPRF_SEED_BYTES];
  pool_ticket ticket[ROW];
  struct origin origin;
  struct ticket_keys keys;
  memset(seconds, 0, STEPS * sizeof *seconds);
  for (unsigned done = 0; done < n; done += ROW) {
    double t[REDEEM + 2];
    t[ISSUE] = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 0; i < ROW; i++)
      if (pool_issue(p, 1, name[i], &origin, value) != PPRF_OK ||
          !ticket_derive(&origin, value, &keys))
        die("issue");
    t[OPEN] = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 0; i < ROW; i++)
      if (pool_open(p, 1, name[i], &ticket[i], &origin, value) != PPRF_OK ||
          !ticket_derive(&origin, value, &keys))
        die("open");
    t[REDEEM] = now(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned i = 0; i < ROW; i++)
      if (pool_redeem(p, 1, ticket[i], 1) != PPRF_OK)
        die("redeem");
    t[REDEEM + 1] = now(CLOCK_THREAD_CPUTIME_ID);
    for (enum step step = ISSUE; step <= REDEEM; step++)
      seconds[step] += (t[step + 1] - t[step]) / n;
  }
  seconds[ALL] = seconds[ISSUE] + seconds[OPEN] + seconds[REDEEM];
}

static void suites(unsigned rounds, unsigned n)
{
  static double seconds[SUITES + 1][STEPS][ROUNDS_MAX], ratio[SUITES + 1][STEPS][ROUNDS_MAX];
  struct pool *p[SUITES + 1];
  double one[STEPS];
  for (unsigned i = 1; i <= SUITES; i++)
    if (pool_new(&p[i], 22, 8, 7200, 0, i) != PPRF_OK)
      die("pool_new");
  for (unsigned round = 0; round < rounds; round++)
    for (unsigned i = 1; i <= SUITES; i++) {
      time_steps(p[i], n, one);
      for (enum step step = ISSUE; step < STEPS; step++) {
        seconds[i][step][round] = one[step];
        ratio[i][step][round] = one[step] / seconds[PPRF_SHA3_256][step][round];
      }
    }
  printf("\nns of CPU per ticket, including its keys, %u issued before the first is opened "
         "(depth 22, %u rounds of %u;\nSHA3 by %s, AES by %s)\n",
         ROW, rounds, n, pprf_prg_name(), pprf_aes_name());
  printf("  %-16s %-7s %8s %19s   %s\n", "suite", "", "ns", "quartiles", "this / sha3-256");
  fprintf(json, "  \"suites\": {\"rounds\": %u, \"each\": %u, \"sha3\": \"%s\", \"aes\": \"%s\"",
          rounds, n, pprf_prg_name(), pprf_aes_name());
  for (unsigned i = 1; i <= SUITES; i++) {
    fprintf(json, ",\n    \"%s\": {", pprf_suite_name(i));
    for (enum step step = ISSUE; step < STEPS; step++) {
      struct summary s = summarise(seconds[i][step], rounds), r = summarise(ratio[i][step], rounds);
      printf("  %-16s %-7s %8.0f %8.0f - %8.0f   %.3f (%.3f - %.3f)\n", pprf_suite_name(i),
             step_name[step], 1e9 * s.median, 1e9 * s.low, 1e9 * s.high, r.median, r.low, r.high);
      fprintf(json,
              "%s\"%s\": {\"ns\": %.1f, \"quartiles\": [%.1f, %.1f], \"ratio\": %.4f, "
              "\"ratio_quartiles\": [%.4f, %.4f]}",
              step == ISSUE ? "" : ", ", step_name[step], 1e9 * s.median, 1e9 * s.low, 1e9 * s.high,
              r.median, r.low, r.high);
    }
    fprintf(json, "}");
    pool_free(p[i]);
  }
  fprintf(json, "}");
}

/* ---- how long a lock is held ---- */

static int measuring;
static double held_since, held_longest;
static unsigned long held_times;

static int taken(int rc)
{
  if (measuring && (rc == 0 || rc == EOWNERDEAD))
    held_since = now(CLOCK_THREAD_CPUTIME_ID);
  return rc;
}

int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex)
{
  return taken(__real_pthread_mutex_trylock(mutex));
}

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
  return taken(__real_pthread_mutex_lock(mutex));
}

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
  if (measuring) {
    double t = now(CLOCK_THREAD_CPUTIME_ID) - held_since;
    held_longest = t > held_longest ? t : held_longest;
    held_times++;
  }
  return __real_pthread_mutex_unlock(mutex);
}

enum end { EXPIRE, GIVE_UP, REVOKE, ENDS };
static const char *const end_name[] = {"expire", "give_up", "revoke"};

/* Issue a key's tickets, redeem every second one, then end them. */
static void end_key(enum end end, double *longest, double *all)
{
  enum { DEPTH = 22 };
  struct pool *p;
  uint8_t name[POOL_NAME_BYTES], value[PPRF_SEED_BYTES];
  struct origin origin;
  pool_ticket ticket;
  if (pool_new(&p, DEPTH, 2, 7200, 0, suite) != PPRF_OK)
    die("pool_new");
  for (unsigned i = 0; i < 1u << DEPTH; i++) {
    uint64_t time = 1 + i / 2000; /* seconds */
    if (pool_issue(p, time, name, &origin, value) != PPRF_OK ||
        (i % 2 == 1 && (pool_open(p, time, name, &ticket, &origin, value) != PPRF_OK ||
                        pool_redeem(p, time, ticket, 1) != PPRF_OK)))
      die("pool");
  }
  held_longest = 0;
  held_times = 0;
  measuring = 1;
  double start = now(CLOCK_THREAD_CPUTIME_ID);
  if (end == EXPIRE && pool_expire(p, 1000000) != PPRF_OK)
    die("expire");
  for (unsigned i = 0; end == GIVE_UP && i < 2048; i++) /* two more keys in every shard */
    if ((i % 1024 == 0 && pool_rotate(p, 5000) != PPRF_OK) ||
        pool_issue(p, 5000, name, &origin, value) != PPRF_OK)
      die("issue");
  if (end == REVOKE && pool_revoke(p, 5000) != PPRF_OK)
    die("revoke");
  measuring = 0;
  *all = now(CLOCK_THREAD_CPUTIME_ID) - start;
  *longest = held_longest;
  pool_free(p);
}

static void locks(unsigned rounds)
{
  static double longest[ROUNDS_MAX], all[ROUNDS_MAX];
  printf("\nthe longest time that a lock is held, ms of CPU (depth 22, %u rounds)\n", rounds);
  printf("  %-10s %10s %18s %10s\n", "a key", "longest", "quartiles", "in all");
  fprintf(json, "  \"lock\": {\"rounds\": %u", rounds);
  for (enum end e = EXPIRE; e < ENDS; e++) {
    for (unsigned i = 0; i < rounds; i++)
      end_key(e, &longest[i], &all[i]);
    struct summary s = summarise(longest, rounds), a = summarise(all, rounds);
    printf("  %-10s %10.3f %8.3f - %7.3f %10.1f\n", end_name[e], 1e3 * s.median, 1e3 * s.low,
           1e3 * s.high, 1e3 * a.median);
    fprintf(json, ", \"%s\": {\"ms\": %.4f, \"quartiles\": [%.4f, %.4f], \"in_all_ms\": %.3f}",
            end_name[e], 1e3 * s.median, 1e3 * s.low, 1e3 * s.high, 1e3 * a.median);
  }
  fprintf(json, "}");
}

/* ---- state ---- */

static size_t heap(void)
{
  struct mallinfo2 m = mallinfo2();
  return m.uordblks + m.hblkhd;
}

/* Heap bytes per session in OpenSSL's cache, in its state after a TLS 1.3 handshake. */
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
    struct origin origin;
    pool_ticket *ticket = malloc(n * sizeof *ticket);
    if (ticket == NULL || pool_new(&p, depth, 8, 7200, 0, suite) != PPRF_OK)
      die("pool_new");
    struct pprf_tickets_stats empty, s;
    pool_stats(p, &empty);
    for (unsigned i = 0; i < n; i++)
      if (pool_issue(p, 1, name, &origin, value) != PPRF_OK ||
          pool_open(p, 1, name, &ticket[i], &origin, value) != PPRF_OK)
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
    fprintf(json,
            "%s\n    {\"outstanding\": %lu, \"depth\": %u, \"seeds\": %lu, \"bytes\": %lu, "
            "\"empty_bytes\": %lu, \"per_ticket\": %.3f, \"ratio\": %.2f}",
            k > 10 ? "," : "", (unsigned long)s.outstanding, depth, (unsigned long)s.nodes,
            (unsigned long)s.memory_bytes, (unsigned long)empty.memory_bytes, per, cache / per);
    free(ticket);
    pool_free(p);
  }
  fprintf(json, "]}\n");
}

/* The suite that tickets get by default. */
static unsigned default_suite(void)
{
  struct pprf_tickets_options options = {.size = sizeof options, .depth = 4};
  struct pprf_tickets_stats s = {.size = sizeof s};
  pprf_tickets *t;
  if (pprf_tickets_new(&t, &options) != PPRF_OK || pprf_tickets_stats(t, &s) != PPRF_OK)
    die("tickets");
  pprf_tickets_free(t);
  return (unsigned)s.suite;
}

int main(int argc, char **argv)
{
  char option = argc == 3 && argv[1][0] == '-' ? argv[1][1] : '\0';
  int quick = option == 'q';
  wiping = option != 'w';
  real_time = option == 'r';
  if (argc != 2 + (option != '\0') || (option != '\0' && strchr("qhwtrls", option) == NULL))
    die("usage: bench_tls [-q|-h|-w|-t|-r|-l|-s] OUT.json");
  if (wiping && pprf_tickets_wipe_openssl() != PPRF_OK)
    die("too late to wipe");
  json = fopen(argv[argc - 1], "w");
  if (json == NULL)
    die("cannot write the output");
  suite = default_suite();
  fprintf(json, "{\n");
  if (option == 's') {
    suites(41, 20000);
    fprintf(json, "\n}\n");
    return fclose(json) != 0;
  }
  if (option == 't' || option == 'r') {
    rates(21, 100000);
    fprintf(json, "\n}\n");
    return fclose(json) != 0;
  }
  if (option == 'l') {
    locks(5);
    fprintf(json, "\n}\n");
    return fclose(json) != 0;
  }
  handshakes("handshake", 20, quick ? 9 : 41, quick ? 20 : 100, 22);
  handshakes("handshake_cold", 1, quick ? 9 : 41, quick ? 20 : 100, 22);
  if (!wiping || option == 'h') {
    fprintf(json, "  \"wiping\": %s\n}\n", wiping ? "true" : "false");
    return fclose(json) != 0;
  }
  rates(quick ? 3 : 21, quick ? 20000 : 100000);
  fprintf(json, ",\n");
  suites(quick ? 5 : 41, quick ? 2000 : 20000);
  fprintf(json, ",\n");
  locks(quick ? 1 : 5);
  fprintf(json, ",\n");
  state(quick ? 500 : 5000, quick ? 16 : 20);
  fprintf(json, "}\n");
  if (fclose(json) != 0)
    die("cannot write the output");
  return 0;
}

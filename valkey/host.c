/* SPDX-License-Identifier: Apache-2.0 */
/* A host without TLS, for tests: executes commands from stdin on tickets of pprf_fleet.h, and
 * answers each with a line.
 *   host DEPTH LIFETIME URL...
 *   seal           a ticket, in hexadecimal
 *   open TICKET    its number
 *   redeem NUMBER, release NUMBER, rotate, revoke, export
 *   puncture NUMBER TICKET   of a ticket that was opened and released, as TLS 1.2 does
 *   stats          the counters
 *   clock SECONDS  set this process's clock (CLOCK_BOOTTIME) forward
 *   child          fork a child that does nothing: its process id
 *   seal-in-child  a ticket that a child seals, as soon as it can
 *   sealing-child  a child that has sealed a ticket: its process id
 *   use-many N     seals N tickets and redeems each: how many failed
 *   open-together N  seals N tickets; N concurrent threads open and redeem one each: how many could
 *   open-in-child T  a new child opens it
 *   server N       of the N-th server: up, microseconds of a round trip, its place and failure
 *   left N         its trees, leaves and seconds that are left
 *   failure        the next failure for a log
 *   renew          reads the files again
 * HOST_STILL: this process's clock (CLOCK_BOOTTIME) stands still, except for the command clock.
 * HOST_STEP: microseconds by which each reading advances the clock of waiting; default: the
 * system's clock.  HOST_FIRST: an address that each name gets before its own.
 * HOST_NAMES: a file with the address that each name has now; none if it is empty.
 * TLS connections in memory, all in this thread, which does not wait for the server:
 *   sessions N     N clients get a ticket each, by full handshakes
 *   begin          each begins a resumption: how many wait for the server
 *   end            all go on to their ends, and get new tickets: how many have resumed, and how many
 *                  have not
 *   leave          the server forgets them as they are
 *   exit           the process ends, and frees nothing
 * An error is "error " and its number. */
#include <netdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pprf_fleet.h"
#include "pprf_tls.h"
#include "tests/loop.h"
#include "tickets/tickets.h"

enum { TICKET_MAX = 256, CLIENTS_MAX = 64 };
static const uint8_t content[] = "the session";
static pprf_tickets *tickets;
static _Atomic long ahead; /* seconds; other threads read it */

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
  static _Atomic long read_before, still;
  const char *step = getenv("HOST_STEP");
  int rc = __real_clock_gettime(clock, t);
  if (clock == CLOCK_MONOTONIC_RAW && step != NULL) {
    long us = 1000000 + atol(step) * ++read_before;
    *t = (struct timespec){us / 1000000, us % 1000000 * 1000};
  }
  if (clock == CLOCK_BOOTTIME) {
    long none = 0;
    if (getenv("HOST_STILL") != NULL && !atomic_compare_exchange_strong(&still, &none, t->tv_sec))
      *t = (struct timespec){still, 0};
    t->tv_sec += ahead;
  }
  return rc;
}

int __real_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found);
int __wrap_getaddrinfo(const char *node, const char *service, const struct addrinfo *hints,
                       struct addrinfo **found)
{
  const char *first = getenv("HOST_FIRST");
  struct addrinfo *own;
  char address[64] = "";
  if (getenv("HOST_NAMES") != NULL) {
    FILE *f = fopen(getenv("HOST_NAMES"), "r");
    if (f == NULL || fscanf(f, "%63s", address) != 1)
      node = NULL;
    else
      node = address;
    if (f != NULL)
      (void)fclose(f);
    if (node == NULL)
      return EAI_NONAME;
  }
  int rc = __real_getaddrinfo(node, service, hints, found);
  if (rc != 0 || first == NULL || (rc = __real_getaddrinfo(first, service, hints, &own)) != 0)
    return rc;
  own->ai_next = *found;
  *found = own;
  return 0;
}

static void say_error(int err)
{
  printf("error %d\n", err);
}

/* Seal a ticket as soon as possible. */
static int seal_when_possible(uint8_t ticket[TICKET_MAX], size_t *n)
{
  int err = PPRF_TLS_ERR_BACKEND;
  for (int i = 0; i < 30000 && err == PPRF_TLS_ERR_BACKEND; i++) {
    *n = TICKET_MAX;
    err = pprf_tickets_seal(tickets, content, sizeof content, ticket, n);
    if (err == PPRF_TLS_ERR_BACKEND)
      (void)usleep(2000);
  }
  return err;
}

static int say_ticket(int err, const uint8_t *ticket, size_t n)
{
  for (size_t i = 0; err == PPRF_OK && i < n; i++)
    printf("%02x", ticket[i]);
  return err;
}

static int seal(void)
{
  uint8_t ticket[TICKET_MAX];
  size_t n = sizeof ticket;
  int err = pprf_tickets_seal(tickets, content, sizeof content, ticket, &n);
  return say_ticket(err, ticket, n);
}

static unsigned long long use_many(unsigned long long many)
{
  uint8_t ticket[TICKET_MAX], out[TICKET_MAX];
  unsigned long long bad = 0;
  for (; many > 0; many--) {
    size_t n, out_n = sizeof out;
    uint64_t number;
    bad += seal_when_possible(ticket, &n) != PPRF_OK ||
           pprf_tickets_open(tickets, ticket, n, out, &out_n, &number) != PPRF_OK ||
           pprf_tickets_redeem(tickets, number, 1) != PPRF_OK;
  }
  return bad;
}

struct opener {
  pthread_t thread;
  pthread_barrier_t *all;
  uint8_t ticket[TICKET_MAX];
  size_t n;
  int good;
};

static void *open_at_once(void *opener)
{
  struct opener *o = opener;
  uint8_t out[TICKET_MAX];
  size_t out_n = sizeof out;
  uint64_t number;
  (void)pthread_barrier_wait(o->all);
  o->good = pprf_tickets_open(tickets, o->ticket, o->n, out, &out_n, &number) == PPRF_OK &&
            pprf_tickets_redeem(tickets, number, 0) == PPRF_OK;
  return NULL;
}

static unsigned open_together(unsigned many)
{
  struct opener *o = calloc(many, sizeof *o);
  pthread_barrier_t all;
  unsigned good = 0;
  (void)pthread_barrier_init(&all, NULL, many);
  for (unsigned i = 0; i < many; i++) {
    o[i].all = &all;
    (void)seal_when_possible(o[i].ticket, &o[i].n);
  }
  for (unsigned i = 0; i < many; i++)
    if (pthread_create(&o[i].thread, NULL, open_at_once, &o[i]) != 0)
      exit(2);
  for (unsigned i = 0; i < many; i++) {
    (void)pthread_join(o[i].thread, NULL);
    good += (unsigned)o[i].good;
  }
  free(o);
  return good;
}

static void open_ticket(const char *hex)
{
  uint8_t ticket[TICKET_MAX], out[TICKET_MAX];
  size_t n = 0, out_n = sizeof out;
  uint64_t number;
  unsigned byte;
  for (; n < sizeof ticket && sscanf(hex + 2 * n, "%2x", &byte) == 1; n++)
    ticket[n] = (uint8_t)byte;
  int err = pprf_tickets_open(tickets, ticket, n, out, &out_n, &number);
  if (err != PPRF_OK)
    say_error(err);
  else if (out_n != sizeof content || memcmp(out, content, out_n) != 0)
    printf("another content\n");
  else
    printf("%llu\n", (unsigned long long)number);
}

/* ---- connections that do not wait ---- */

static SSL_CTX *client, *server;
static SSL_SESSION *session[CLIENTS_MAX];
static struct loop_handshake handshake[CLIENTS_MAX];
static unsigned clients;

/* version: the greatest of the clients. */
static unsigned get_sessions(unsigned n, int version)
{
  unsigned got = 0;
  SSL_CTX_free(client);
  SSL_CTX_free(server);
  client = loop_client(version);
  server = loop_server();
  if (pprf_tickets_attach(server, tickets) != PPRF_OK)
    exit(2);
  SSL_CTX_set_client_hello_cb(server, pprf_tickets_client_hello, NULL);
  for (clients = 0; clients < n && clients < CLIENTS_MAX; clients++) {
    SSL_SESSION_free(session[clients]);
    session[clients] = NULL;
    for (int i = 0; i < 3000 && session[clients] == NULL; i++) {
      session[clients] = loop_connect(client, server, NULL, NULL, 0, NULL).session;
      if (session[clients] == NULL)
        (void)usleep(2000); /* the process has no leaves yet */
    }
    got += session[clients] != NULL;
  }
  return got;
}

static unsigned begin_all(void)
{
  unsigned waiting = 0;
  for (unsigned i = 0; i < clients; i++) {
    handshake[i] = loop_begin(client, server, session[i]);
    waiting += loop_step(&handshake[i]) == 0;
  }
  return waiting;
}

static void leave_all(void)
{
  for (unsigned i = 0; i < clients && handshake[i].server != NULL; i++) {
    loop_end(&handshake[i]);
    if (handshake[i].session != NULL) {
      SSL_SESSION_free(session[i]);
      session[i] = handshake[i].session;
    }
  }
}

static void end_all(void)
{
  unsigned resumed = 0, full = 0, waiting;
  do {
    waiting = 0;
    loop_wait(handshake, clients);
    for (unsigned i = 0; i < clients; i++) {
      int state = loop_step(&handshake[i]);
      waiting += state == 0;
      if (state < 0)
        exit(2);
    }
  } while (waiting > 0);
  for (unsigned i = 0; i < clients; i++)
    if (SSL_session_reused(handshake[i].server))
      resumed++;
    else
      full++;
  leave_all();
  printf("%u %u\n", resumed, full);
}

static void child(int seals)
{
  int done[2];
  char byte;
  (void)fflush(stdout);
  pid_t pid = pipe(done) == 0 ? fork() : -1;
  if (pid == 0) {
    uint8_t ticket[TICKET_MAX];
    size_t n;
    (void)prctl(PR_SET_PDEATHSIG, 9);
    if (!seals || seal_when_possible(ticket, &n) == PPRF_OK)
      (void)!write(done[1], "", 1);
    (void)close(done[0]);
    (void)close(done[1]);
    for (;;)
      (void)pause();
  }
  printf("%d\n", pid > 0 && read(done[0], &byte, 1) == 1 ? (int)pid : -1);
  (void)close(done[0]);
  (void)close(done[1]);
}

static void in_child(const char *opened)
{
  (void)fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    uint8_t ticket[TICKET_MAX];
    size_t n;
    int err = seal_when_possible(ticket, &n);
    if (opened == NULL)
      (void)say_ticket(err, ticket, n);
    if (err == PPRF_OK && opened != NULL)
      open_ticket(opened);
    else if (err != PPRF_OK)
      say_error(err);
    else
      printf("\n");
    (void)fflush(stdout);
    exit(0); /* run the atexit handlers, as servers do */
  }
  (void)waitpid(pid, NULL, 0);
}

static void stats(void)
{
  struct pprf_tickets_stats s = {.size = sizeof s};
  (void)pprf_tickets_stats(tickets, &s);
  printf(
    "issued=%llu resumed=%llu early_accepted=%llu early_rejected=%llu refused=%llu foreign=%llu "
    "unanswered=%llu connected=%llu depth=%llu suite=%llu remembered=%llu over_budget=%llu dropped=%llu\n",
    (unsigned long long)s.issued, (unsigned long long)s.resumed,
    (unsigned long long)s.early_accepted, (unsigned long long)s.early_rejected,
    (unsigned long long)s.refused, (unsigned long long)s.foreign, (unsigned long long)s.unanswered,
    (unsigned long long)s.connected, (unsigned long long)s.depth, (unsigned long long)s.suite,
    (unsigned long long)s.remembered, (unsigned long long)s.over_budget,
    (unsigned long long)s.dropped);
}

static void say_server(unsigned number)
{
  struct pprf_tickets_server s = {.size = sizeof s};
  int err = pprf_tickets_server(tickets, number, &s);
  if (err != PPRF_OK)
    say_error(err);
  else
    printf("%llu %llu %s %s\n", (unsigned long long)s.up, (unsigned long long)s.round_trip_us,
           s.place, s.failure != NULL ? s.failure : "");
}

static void say_left(unsigned number)
{
  struct pprf_tickets_server s = {.size = sizeof s};
  (void)pprf_tickets_server(tickets, number, &s);
  printf("%llu %llu %llu\n", (unsigned long long)s.trees, (unsigned long long)s.leaves_left,
         (unsigned long long)s.seconds_left);
}

static void say_failure(void)
{
  char text[384];
  printf("%s\n", pprf_tickets_failure(tickets, text, sizeof text) ? text : "");
}

int main(int argc, char **argv)
{
  char line[2 * TICKET_MAX + 32];
  int fd;
  if (argc < 4)
    return 2;
  const char *suite = getenv("HOST_SUITE"); /* by its number */
  struct pprf_tickets_options o = {.size = sizeof o,
                                   .depth = (unsigned)atoi(argv[1]),
                                   .lifetime = (unsigned)atoi(argv[2]),
                                   .suite = suite != NULL ? (uint64_t)atoi(suite) : 0};
  int err = pprf_tickets_new_fleet(&tickets, &o, (const char *const *)argv + 3, (size_t)argc - 3);
  if (err != PPRF_OK) {
    const char *wrong = pprf_tickets_bad_server(argv[argc - 1]);
    printf("%s\n", wrong != NULL ? wrong : pprf_tls_strerror(err));
    return 1;
  }
  printf("ready\n");
  (void)fflush(stdout);
  while (fgets(line, sizeof line, stdin) != NULL) {
    char *argument = strchr(line, ' ');
    line[strcspn(line, "\n")] = '\0';
    argument = argument != NULL ? argument + 1 : line + strlen(line);
    unsigned long long number = strtoull(argument, NULL, 10);
    size_t word = strcspn(line, " ");
#define IS(name) (word == sizeof name - 1 && strncmp(line, name, word) == 0)
    if (IS("seal")) {
      err = seal();
      if (err != PPRF_OK)
        say_error(err);
      else
        printf("\n");
    } else if (IS("open")) {
      open_ticket(argument);
    } else if (IS("redeem")) {
      say_error(pprf_tickets_redeem(tickets, number, 1));
    } else if (IS("release")) {
      say_error(pprf_tickets_release(tickets, number));
    } else if (IS("puncture")) {
      uint8_t name[NAME_BYTES] = {0};
      const char *hex = strchr(argument, ' ');
      for (unsigned k = 0; hex != NULL && k < NAME_BYTES; k++)
        (void)sscanf(hex + 1 + 2 * k, "%2hhx", &name[k]);
      say_error(tickets->backend->puncture(tickets->keys, 0, name, number));
    } else if (IS("rotate")) {
      say_error(pprf_tickets_rotate(tickets));
    } else if (IS("revoke")) {
      say_error(pprf_tickets_revoke(tickets));
    } else if (IS("export")) {
      say_error(pprf_tickets_export(tickets, &fd));
    } else if (IS("stats")) {
      stats();
    } else if (IS("server")) {
      say_server((unsigned)number);
    } else if (IS("left")) {
      say_left((unsigned)number);
    } else if (IS("failure")) {
      say_failure();
    } else if (IS("renew")) {
      say_error(pprf_tickets_renew(tickets));
    } else if (IS("clock")) {
      ahead += (long)number;
      printf("\n");
    } else if (IS("child")) {
      child(0);
    } else if (IS("sealing-child")) {
      child(1);
    } else if (IS("use-many")) {
      printf("%llu\n", use_many(number));
    } else if (IS("seal-in-child")) {
      in_child(NULL);
    } else if (IS("open-in-child")) {
      in_child(argument);
    } else if (IS("sessions") || IS("sessions-1.2")) {
      printf("%u\n",
             get_sessions((unsigned)number, IS("sessions") ? TLS1_3_VERSION : TLS1_2_VERSION));
    } else if (IS("begin")) {
      printf("%u\n", begin_all());
    } else if (IS("end")) {
      end_all();
    } else if (IS("leave")) {
      leave_all();
      printf("\n");
    } else if (IS("exit")) {
      exit(0);
    } else if (IS("open-together")) {
      printf("%u\n", open_together((unsigned)number));
    } else {
      return 2;
    }
    (void)fflush(stdout);
  }
  leave_all();
  for (unsigned i = 0; i < clients; i++)
    SSL_SESSION_free(session[i]);
  SSL_CTX_free(client);
  SSL_CTX_free(server);
  pprf_tickets_free(tickets);
  printf("freed\n");
  return 0;
}

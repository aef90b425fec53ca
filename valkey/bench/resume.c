/* SPDX-License-Identifier: Apache-2.0 */
/* The time that asking a server adds to a handshake: TLS client and server in one thread, joined by
 * memory, with tickets of this machine and of a server (pprf_fleet.h) in turns.
 *   resume ROUNDS NAME=URL...
 * Each line: kind, ticket source, handshakes, median and 99th percentile in microseconds; then
 * ratio and difference of the medians to the tickets of this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/loop.h"
#include "pprf_fleet.h"
#include "pprf_tls.h"

enum { KINDS_MAX = 4, PATIENCE_MS = 20000 };

struct kind {
  const char *name;
  pprf_tickets *tickets;
  SSL_CTX *ctx;
  double *full, *resumed, *early;
};

static void die(const char *what)
{
  fprintf(stderr, "resume: %s\n", what);
  exit(1);
}

static double now(void)
{
  struct timespec t;
  (void)clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Time a handshake, in microseconds; *s: its ticket. */
static double handshake(SSL_CTX *client, struct kind *k, SSL_SESSION **s, int early)
{
  SSL_SESSION *offered = *s;
  double start = now();
  struct loop_result r = loop_connect(client, k->ctx, NULL, offered, early, NULL);
  double us = (now() - start) * 1e6;
  if (!r.server_done || r.session == NULL || r.resumed != (offered != NULL) || r.early != early)
    die("a handshake was not of the kind that is measured");
  SSL_SESSION_free(offered);
  *s = r.session;
  return us;
}

/* Wait until tickets are redeemed, that is until the server's first leaves have arrived. */
static void wait_until_ready(SSL_CTX *client, struct kind *k)
{
  for (int ms = 0; ms < PATIENCE_MS; ms += 20) {
    struct loop_result a = loop_connect(client, k->ctx, NULL, NULL, 0, NULL), b = {0};
    if (a.session != NULL)
      b = loop_connect(client, k->ctx, NULL, a.session, 0, NULL);
    int good = b.resumed;
    SSL_SESSION_free(a.session);
    SSL_SESSION_free(b.session);
    if (good)
      return;
    (void)nanosleep(&(struct timespec){0, 20000000}, NULL);
  }
  die("the server does not answer");
}

static int compare(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void report(const char *what, const struct kind *k, double *us, int n, double base)
{
  double median = us[n / 2];
  printf("%s %s %d %.1f %.1f %.3f %+.1f\n", what, k->name, n, median, us[n * 99 / 100],
         median / base, median - base);
}

int main(int argc, char **argv)
{
  struct kind kind[KINDS_MAX] = {{.name = "machine"}};
  int kinds = argc - 1, rounds = argc > 1 ? atoi(argv[1]) : 0;
  SSL_CTX *client = loop_client(TLS1_3_VERSION);
  if (argc < 3 || kinds > KINDS_MAX || rounds < 1 || client == NULL)
    die("usage: resume ROUNDS NAME=URL...");
  for (int i = 0; i < kinds; i++) {
    struct kind *k = &kind[i];
    if (i > 0) {
      const char *url = strchr(argv[i + 1], '=');
      if (url == NULL)
        die("NAME=URL");
      *strchr(argv[i + 1], '=') = '\0';
      k->name = argv[i + 1];
      url++;
      if (pprf_tickets_new_fleet(&k->tickets, NULL, &url, 1) != PPRF_OK)
        die("no tickets");
    } else if (pprf_tickets_new(&k->tickets, NULL) != PPRF_OK) {
      die("no tickets");
    }
    k->ctx = loop_server();
    k->full = calloc((size_t)rounds, sizeof(double));
    k->resumed = calloc((size_t)rounds, sizeof(double));
    k->early = calloc((size_t)rounds, sizeof(double));
    if (k->ctx == NULL || pprf_tickets_attach(k->ctx, k->tickets) != PPRF_OK || k->full == NULL ||
        k->resumed == NULL || k->early == NULL)
      die("no memory");
    wait_until_ready(client, k);
  }
  for (int r = 0; r < rounds; r++)
    for (int i = 0; i < kinds; i++) {
      struct kind *k = &kind[(i + r) % kinds];
      SSL_SESSION *s = NULL;
      k->full[r] = handshake(client, k, &s, 0);
      k->resumed[r] = handshake(client, k, &s, 0);
      k->early[r] = handshake(client, k, &s, 1);
      SSL_SESSION_free(s);
    }
  for (int i = 0; i < kinds; i++) {
    struct kind *k = &kind[i];
    qsort(k->full, (size_t)rounds, sizeof(double), compare);
    qsort(k->resumed, (size_t)rounds, sizeof(double), compare);
    qsort(k->early, (size_t)rounds, sizeof(double), compare);
    report("full", k, k->full, rounds, kind[0].full[rounds / 2]);
    report("resumption", k, k->resumed, rounds, kind[0].resumed[rounds / 2]);
    report("early-data", k, k->early, rounds, kind[0].early[rounds / 2]);
  }
  for (int i = 0; i < kinds; i++) {
    SSL_CTX_free(kind[i].ctx);
    pprf_tickets_free(kind[i].tickets);
    free(kind[i].full);
    free(kind[i].resumed);
    free(kind[i].early);
  }
  SSL_CTX_free(client);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file figures.h
 * Shared by the programs that compare stores and suites: a clock; figures of several rounds; two
 * outputs, a table to read and JSON with every round for the report. If a program stops early it
 * says in which case and why, except after SIGKILL, which the shell reports. */
#ifndef PPRF_BENCH_FIGURES_H
#define PPRF_BENCH_FIGURES_H

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 101 };

static const char *program_name = "bench";

/** What is being measured, for messages. */
static char running[160] = "set-up";

static inline void check(int ok, const char *what)
{
  if (!ok) {
    fprintf(stderr, "%s: %s: %s\n", program_name, running, what);
    exit(1);
  }
}

/* Print "stores: random, depth 48: ended by signal 13", using only functions that a handler may
 * call; errors are ignored. */
static inline void ended_by(int number)
{
  const char digits[] = {(char)('0' + number / 10), (char)('0' + number % 10), '\n', '\0'};
  const char *part[] = {program_name, ": ", running, ": ended by signal ", digits};
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    if (write(STDERR_FILENO, part[i], strlen(part[i])) < 0)
      break;
  (void)raise(number); /* its action is the default again */
}

/** Make a signal that ends the program print so; SIGPIPE becomes an error of standard output. */
static inline void say_what_ends(void)
{
  static const int fatal[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,
                              SIGBUS,  SIGFPE,  SIGUSR1, SIGSEGV, SIGUSR2, SIGALRM,
                              SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS};
  static char stack[1 << 14]; /* the program's own stack may be used up */
  stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  struct sigaction action = {.sa_handler = ended_by, .sa_flags = SA_RESETHAND | SA_ONSTACK};
  (void)sigaltstack(&other, NULL);
  for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
    (void)sigaction(fatal[i], &action, NULL);
  (void)signal(SIGPIPE, SIG_IGN);
}

/** Check that all output was written. */
static inline void check_output(void)
{
  check(fflush(stdout) == 0 && !ferror(stdout), "standard output cannot be written");
}

/** CPU time of this thread in ns, so that time used by other processes does not count. */
static inline double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/** A figure, with a value for each round. */
struct figure {
  double value[ROUNDS_MAX];
  unsigned n;
};

static inline void add_value(struct figure *f, double value)
{
  check(f->n < ROUNDS_MAX, "too many rounds");
  f->value[f->n++] = value;
}

static inline int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/** "median (least-greatest)"; "-" without values.  Valid until eight more texts are made. */
static inline const char *text(const struct figure *f, int digits)
{
  static char buf[8][80];
  static unsigned at;
  struct figure sorted = *f;
  char *out = buf[at++ % 8];
  if (f->n == 0)
    return "-";
  qsort(sorted.value, sorted.n, sizeof *sorted.value, by_value);
  snprintf(out, sizeof buf[0], "%.*f (%.*f-%.*f)", digits, sorted.value[sorted.n / 2], digits,
           sorted.value[0], digits, sorted.value[sorted.n - 1]);
  return out;
}

/** Write a member of the current JSON object: the values in the order of the rounds. */
static inline void write_figure(FILE *json, const char *name, const struct figure *f)
{
  if (json == NULL || f->n == 0)
    return;
  fprintf(json, ", \"%s\": [", name);
  for (unsigned i = 0; i < f->n; i++)
    fprintf(json, "%s%.6g", i > 0 ? ", " : "", f->value[i]);
  fprintf(json, "]");
}

/** Pseudorandom numbers from a state that the caller sets. */
static inline uint64_t next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif

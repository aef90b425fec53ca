/* SPDX-License-Identifier: Apache-2.0 */
/** @file figures.h
 * What the programs that compare stores and suites share: a clock, figures of several rounds, and two
 * ways to write them: a table to be read, and JSON with every round for the report. */
#ifndef PPRF_BENCH_FIGURES_H
#define PPRF_BENCH_FIGURES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MAX = 101 };

static const char *program_name = "bench";

static inline void check(int ok, const char *what)
{
  if (!ok) {
    fprintf(stderr, "%s: %s\n", program_name, what);
    exit(1);
  }
}

/** CPU time of this thread in ns: what other processes take does not count. */
static inline double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/** A figure, once a round. */
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

/** A member of the JSON object that is being written: the values in the order of the rounds. */
static inline void write_figure(FILE *json, const char *name, const struct figure *f)
{
  if (json == NULL || f->n == 0)
    return;
  fprintf(json, ", \"%s\": [", name);
  for (unsigned i = 0; i < f->n; i++)
    fprintf(json, "%s%.6g", i > 0 ? ", " : "", f->value[i]);
  fprintf(json, "]");
}

/** Numbers that look random, from a state that the caller sets. */
static inline uint64_t next_random(uint64_t *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state * UINT64_C(0x2545f4914f6cdd1d);
}

#endif

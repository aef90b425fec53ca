/* SPDX-License-Identifier: Apache-2.0 */
/** @file tap.h
 * TAP output and progress for the test programs. */
#ifndef PPRF_TAP_H
#define PPRF_TAP_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int tap_count, tap_failed;
static int tap_missed; /* checks that failed, of the test that runs */

/** 1: the first failure ends the program (environment STOP): for runs that only want to know. */
__attribute__((unused)) static int tap_stop(void)
{
  static int stop = -1;
  if (stop < 0)
    stop = getenv("STOP") != NULL;
  return stop;
}

/** One TAP result; the claim is a printf format. */
__attribute__((format(printf, 2, 3), unused)) static int tap_ok(int ok, const char *claim, ...)
{
  va_list ap;
  va_start(ap, claim);
  printf("%sok %d - ", ok ? "" : "not ", ++tap_count);
  vprintf(claim, ap);
  printf("\n");
  va_end(ap);
  fflush(stdout);
  tap_failed += !ok;
  if (!ok && tap_stop())
    exit(1);
  return ok;
}

/** A comment in the TAP stream; prove --comments shows it. */
__attribute__((format(printf, 1, 2), unused)) static void tap_note(const char *text, ...)
{
  va_list ap;
  va_start(ap, text);
  printf("# ");
  vprintf(text, ap);
  printf("\n");
  va_end(ap);
  fflush(stdout);
}

/** One check of a test that makes many: nothing is printed when it holds, and what the format says for
 * the first five of a test that do not.  tap_end_test ends the test. */
__attribute__((format(printf, 2, 3), unused)) static int tap_check(int ok, const char *what, ...)
{
  if (ok)
    return 1;
  if (tap_missed++ < 5) {
    va_list ap;
    va_start(ap, what);
    printf("# ");
    vprintf(what, ap);
    printf("\n");
    va_end(ap);
  }
  return 0;
}

/** The result of the checks since the test before, one TAP result. */
__attribute__((unused)) static int tap_end_test(const char *claim)
{
  int ok = tap_missed == 0;
  tap_missed = 0;
  return tap_ok(ok, "%s", claim);
}

/** The plan, and the exit status. */
__attribute__((unused)) static int tap_end(void)
{
  printf("1..%d\n", tap_count);
  return tap_failed != 0;
}

static inline double tap_seconds(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/** A line on stderr at most five times a second, and only when stderr is a terminal. */
__attribute__((unused)) static void tap_progress(const char *what, uint64_t done, uint64_t total)
{
  static double last;
  static int terminal = -1;
  if (terminal < 0)
    terminal = isatty(2);
  if (!terminal)
    return;
  double now = tap_seconds();
  if (done >= total)
    fprintf(stderr, "\r\033[K");
  else if (now - last > 0.2) {
    last = now;
    fprintf(stderr, "\r\033[K%s: %llu of %llu", what, (unsigned long long)done,
            (unsigned long long)total);
  }
}

/** Whether the program was started with --full. */
__attribute__((unused)) static int tap_full(int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--full") == 0)
      return 1;
  return 0;
}

/** A generator of test choices (splitmix64): not for keys. */
__attribute__((unused)) static uint64_t tap_random(uint64_t *state)
{
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/** The seed of a random test: the environment's SEED, or a new one. */
__attribute__((unused)) static uint64_t tap_seed(void)
{
  const char *s = getenv("SEED");
  if (s != NULL && *s != '\0')
    return strtoull(s, NULL, 0);
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  uint64_t seed = (uint64_t)t.tv_nsec ^ (uint64_t)t.tv_sec << 20 ^ (uint64_t)getpid() << 40;
  return tap_random(&seed) & 0xffffffffffffu;
}

#endif

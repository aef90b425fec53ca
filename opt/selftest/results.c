/* SPDX-License-Identifier: Apache-2.0 */
/* Results of checks, as TAP, and the random choices of tests. */
#include <stdarg.h>

#include "packed/arena.h"
#include "selftest.h"
#include "../../tools/tap.h"

int failed;
int quiet; /* failures are expected: do not print them */
static uint64_t base_seed;
char context[200];

int check(int ok, const char *format, ...)
{
  va_list args;
  if (ok)
    return 1;
  if (failed++ < 5 && !quiet) {
    printf("# seed=%llu %s: ", (unsigned long long)base_seed, context);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    printf("\n");
  }
  return 0;
}

static struct held before; /* the test */

static struct held held_now(void)
{
  struct held now = held;
  now.mapped -= (long)opt_arena_mapped_bytes();
  return now;
}

void check_held(long more)
{
  struct held now = held_now();
  long heap = now.heap - before.heap - (now.most_regions - before.most_regions) - more;
  if (failed == 0)
    check(heap == 0 && now.blocks == before.blocks && now.mapped == before.mapped,
          "%ld pointers, %ld blocks and %ld mapped bytes stay", heap, now.blocks - before.blocks,
          now.mapped - before.mapped);
  before = now;
}

void end_test(const char *name)
{
  check_held(0);
  int passed = failed == 0;
  if (!passed)
    tap_note("replay: build/opt/selftest %llu", (unsigned long long)base_seed);
  failed = 0;
  context[0] = 0;
  tap_ok(passed, "%s", name);
}

static uint64_t rng_state;

uint64_t rnd(void)
{
  return tap_random(&rng_state);
}

uint64_t rnd_below(uint64_t n)
{
  return rnd() % n;
}

void *must(void *p)
{
  if (p == NULL) {
    printf("Bail out! out of memory\n");
    exit(1);
  }
  return p;
}

void begin_tests(void)
{
  rng_state = base_seed = tap_seed();
  tap_note("seed %llu", (unsigned long long)base_seed);
  pprf_key *key = NULL; /* what is made once, and the memory of an expansion, stays */
  check(pprf_setup(&key, 1, root_bytes) == PPRF_OK &&
          pprf_expand(must(key), 0, 1, ignore, NULL) == PPRF_OK,
        "setup");
  pprf_free(key);
  before = held_now();
}

int end_tests(const char *only)
{
  if (tap_count == 0)
    printf("Bail out! no such group: %s\n", only);
  return tap_end() || tap_count == 0;
}

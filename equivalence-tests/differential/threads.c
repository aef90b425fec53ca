/* SPDX-License-Identifier: Apache-2.0 */
/* The rule of pprf.h under ThreadSanitizer: a key may have many readers at once, or one writer, and
 * the caller keeps them apart; different keys are independent. --break violates the rule, which
 * ThreadSanitizer must report (threads.sh). With the PRG that ships, its version changes all the
 * time, and all threads make their first use at once. */
#include <pthread.h>

#include "impls.h"
#include "../../tools/tap.h"

/* from the PRG that ships, if it is linked */
#pragma weak pprf_prg_select
__attribute__((weak)) const char *opt_prg_name(void);

enum { READERS = 3, ROUNDS = 60, DEPTH = 12, OWN_PUNCTURES = 400 };

static const struct pprf_impl *impl;
static pprf_key *shared;
static pthread_barrier_t start; /* all threads run at once */
static pthread_rwlock_t rule = PTHREAD_RWLOCK_INITIALIZER;
static const uint8_t root[16] = {1, 2, 3};
static int broken;
static int bad; /* accessed atomically */

static void note_bad(void)
{
  __atomic_store_n(&bad, 1, __ATOMIC_RELAXED);
}

/* ref's, renamed */
int ref_pprf_eval_batch(const pprf_key *key, const uint64_t *leaf, size_t n, uint8_t *out,
                        int *result);
int ref_pprf_punct_batch(pprf_key *key, const uint64_t *leaf, size_t n, int *result);
int ref_pprf_expand(const pprf_key *key, uint64_t first, uint64_t last, pprf_each *each, void *arg);

static int count_leaves(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  (void)values;
  *(uint64_t *)arg += n;
  return 0;
}

/* Call every function that only reads. */
static void read_all(uint64_t *state)
{
  static _Thread_local uint8_t file[1 << 16];
  uint8_t out[16], again[16];
  size_t len = sizeof file;
  for (int i = 0; i < 20; i++) {
    uint64_t leaf = tap_random(state) % (1u << DEPTH);
    int err = impl->eval(shared, leaf, out);
    if (err != impl->eval(shared, leaf, again) || memcmp(out, again, 16) != 0)
      note_bad();
  }
  uint64_t leaf[16], live = 0;
  uint8_t many[16][16];
  int result[16], ref = impl == &impl_ref;
  for (int i = 0; i < 16; i++)
    leaf[i] = tap_random(state) % (1u << DEPTH);
  if ((ref ? ref_pprf_eval_batch : pprf_eval_batch)(shared, leaf, 16, many[0], result) != PPRF_OK ||
      (ref ? ref_pprf_expand : pprf_expand)(shared, 64, 127, count_leaves, &live) != PPRF_OK ||
      live > 64)
    note_bad();
  if (impl->export_key(shared, file, &len) != PPRF_OK || impl->depth(shared) != DEPTH ||
      impl->memory_bytes(shared) == 0 || len != 48 + 18 * impl->node_count(shared))
    note_bad();
  (void)impl->memory_locked(shared);
  pprf_key *part;
  int err = impl->delegate(shared, leaf[0] / 2, leaf[0], &part);
  if (err > PPRF_ERR_PUNCTURED ||
      (err == PPRF_OK && impl->node_count(part) > impl->node_count(shared) + 2 * DEPTH))
    note_bad();
  impl->free(part);
}

static void *reader(void *arg)
{
  uint64_t state = (uint64_t)(uintptr_t)arg;
  pthread_barrier_wait(&start);
  for (int i = 0; i < ROUNDS; i++) {
    if (broken)
      usleep(100); /* no lock: the threads take turns */
    else
      pthread_rwlock_rdlock(&rule);
    read_all(&state);
    if (!broken)
      pthread_rwlock_unlock(&rule);
  }
  return NULL;
}

static void *writer(void *arg)
{
  uint64_t state = (uint64_t)(uintptr_t)arg;
  uint8_t out[16];
  pthread_barrier_wait(&start);
  for (int i = 0; i < 3 * ROUNDS; i++) {
    uint64_t leaf = tap_random(&state) % (1u << DEPTH);
    if (broken)
      usleep(100);
    else
      pthread_rwlock_wrlock(&rule);
    const uint64_t batch[4] = {leaf, leaf ^ 1, leaf ^ 64, leaf};
    int err = i % 4 == 0   ? impl->punct(shared, leaf)
              : i % 4 == 1 ? impl->eval_punct(shared, leaf, out)
              : i % 4 == 2 ? (impl == &impl_ref ? ref_pprf_punct_batch
                                                : pprf_punct_batch)(shared, batch, 4, NULL)
                           : impl->punct_range(shared, leaf, leaf | 31);
    if (!broken)
      pthread_rwlock_unlock(&rule);
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      note_bad();
  }
  return NULL;
}

/* A thread's own key, used beside the others. */
static void *own(void *arg)
{
  pprf_key *key;
  uint64_t state = (uint64_t)(uintptr_t)arg, done = 0;
  pthread_barrier_wait(&start);
  if (impl->setup(&key, DEPTH, root) != PPRF_OK) {
    note_bad();
    return NULL;
  }
  for (int i = 0; i < OWN_PUNCTURES; i++)
    done += impl->punct(key, tap_random(&state) % (1u << DEPTH)) == PPRF_OK;
  if (done < OWN_PUNCTURES / 2)
    note_bad();
  impl->free(key);
  return NULL;
}

static int stop; /* accessed atomically */

/* Keep selecting another version of the PRG. */
static void *chooser(void *arg)
{
  static const char *const name[] = {"scalar", "evp", "avx2", "avx512", "md5"};
  uint64_t state = (uint64_t)(uintptr_t)arg;
  pthread_barrier_wait(&start);
  while (opt_prg_name != NULL && !broken && !__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    unsigned k = (unsigned)(tap_random(&state) % 5);
    int err = pprf_prg_select(name[k]);
    if (k < 2    ? err != PPRF_OK
        : k == 4 ? err != PPRF_ERR_RANGE
                 : err != PPRF_OK && err != PPRF_ERR_RANGE)
      note_bad();
    if (*opt_prg_name() == '\0')
      note_bad();
    usleep(50);
  }
  return NULL;
}

static void run(void)
{
  enum { THREADS = READERS + 4 };
  pthread_t thread[THREADS];
  if (impl->setup(&shared, DEPTH, root) != PPRF_OK ||
      pthread_barrier_init(&start, NULL, THREADS) != 0)
    note_bad();
  __atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
  for (uintptr_t i = 0; i < THREADS; i++)
    if (pthread_create(&thread[i], NULL,
                       i < READERS        ? reader
                       : i == READERS     ? writer
                       : i == THREADS - 1 ? chooser
                                          : own,
                       (void *)(i + 1)) != 0)
      exit(3);
  for (int i = 0; i < THREADS; i++) {
    if (i == THREADS - 1)
      __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread[i], NULL);
  }
  impl->free(shared);
  pthread_barrier_destroy(&start);
}

int main(int argc, char **argv)
{
  if (argc == 3 && strcmp(argv[1], "--break") == 0) {
    broken = 1;
    impl = impls[argv[2][0] != 'r'];
    run();
    return 0;
  }
  if (opt_prg_name != NULL)
    tap_note("with the PRG that ships");
  for (int i = 0; i < STORES; i++) {
    impl = stores[i];
    bad = 0;
    run();
    tap_ok(!bad, "%s_readers_share_a_key_and_keys_are_independent", impl->name);
  }
  return tap_end();
}

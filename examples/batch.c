/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: one call handles many leaves and makes the common steps of their paths once. */
#include <pprf.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static int count(void *arg, uint64_t leaf, size_t n, const uint8_t *values)
{
  (void)leaf;
  (void)values; /* n consecutive values */
  *(size_t *)arg += n;
  return 0; /* go on */
}

int main(void)
{
  static uint64_t leaf[N], even[N / 2];
  static uint8_t values[N][PPRF_SEED_BYTES];
  static int result[N];
  size_t live = 0, punctured = 0;
  pprf_key *key;
  int err = pprf_setup(&key, 20, NULL);
  if (err != PPRF_OK)
    return 1;
  for (uint64_t i = 0; i < N; i++)
    leaf[i] = i;
  for (uint64_t i = 0; i < N / 2; i++)
    even[i] = 2 * i;
  err = pprf_punct_batch(key, even, N / 2, result); /* all, or on an error none */
  if (err == PPRF_OK)
    err = pprf_eval_batch(key, leaf, N, values[0], result); /* one result per leaf */
  for (size_t i = 0; i < N && err == PPRF_OK; i++)
    punctured += result[i] == PPRF_ERR_PUNCTURED;
  printf("of %d leaves %zu are punctured\n", N, punctured);
  if (err == PPRF_OK)
    err = pprf_expand(key, 0, 1999, count, &live); /* in order, without punctured leaves */
  printf("of the first 2000 leaves %zu have a value\n", live);
  explicit_bzero(values, sizeof values);
  pprf_free(key);
  if (err != PPRF_OK)
    fprintf(stderr, "%s\n", pprf_strerror(err));
  return err == PPRF_OK ? 0 : 1;
}

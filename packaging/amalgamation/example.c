/* SPDX-License-Identifier: Apache-2.0 */
/* cc -DPPRF_NO_OPENSSL example.c pprf.c -pthread && ./a.out */
#include <stdio.h>

#include "pprf.h"

int main(void)
{
  pprf_key *key;
  uint8_t value[PPRF_SEED_BYTES];
  if (pprf_setup(&key, 20, NULL) != PPRF_OK) /* 2^20 leaves, a random root seed */
    return 1;
  int first = pprf_eval_punct(key, 42, value); /* the value of leaf 42, for the last time */
  int second = pprf_eval(key, 42, value);
  printf("first use: %s\nsecond use: %s\n", pprf_strerror(first), pprf_strerror(second));
  printf("%zu seeds left\n", pprf_node_count(key));
  pprf_free(key);
  return 0;
}

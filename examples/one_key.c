/* SPDX-License-Identifier: Apache-2.0 */
/* One key: a value is used once, the key is saved, and a copy of it does not help a thief. */
#include <pprf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(const char *what, int err)
{
  if (err == PPRF_OK)
    return;
  fprintf(stderr, "%s: %s\n", what, pprf_strerror(err));
  exit(1);
}

int main(void)
{
  pprf_key *key, *copy;
  uint8_t value[PPRF_SEED_BYTES], again[PPRF_SEED_BYTES];
  check("setup", pprf_setup(&key, 20, NULL)); /* 2^20 leaves, a random root seed */
  check("eval", pprf_eval(key, 7, value));
  check("eval", pprf_eval(key, 7, again));
  printf("leaf 7 has the same value twice: %s\n",
         memcmp(value, again, sizeof value) == 0 ? "yes" : "no");

  check("eval_punct", pprf_eval_punct(key, 42, again)); /* for the last time */
  printf("leaf 42 now: %s\n", pprf_strerror(pprf_eval(key, 42, again)));
  printf("the key has %zu seeds\n", pprf_node_count(key));

  size_t len = 0; /* the first call returns the length */
  check("export", pprf_export(key, NULL, &len));
  uint8_t *bytes = malloc(len);
  check("export", bytes == NULL ? PPRF_ERR_NOMEM : pprf_export(key, bytes, &len));
  check("import", pprf_import(&copy, bytes, len));
  printf("leaf 42 of a copy: %s\n", pprf_strerror(pprf_eval(copy, 42, again)));
  check("eval", pprf_eval(copy, 7, again));
  printf("leaf 7 of a copy: %s value\n",
         memcmp(value, again, sizeof value) == 0 ? "the same" : "another");

  explicit_bzero(bytes, len); /* they are as secret as the key */
  explicit_bzero(value, sizeof value);
  explicit_bzero(again, sizeof again);
  free(bytes);
  pprf_free(copy);
  pprf_free(key);
  return 0;
}

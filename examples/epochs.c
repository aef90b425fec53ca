/* SPDX-License-Identifier: Apache-2.0 */
/* Epochs: a leaf's high bits are the month, its low bits the user.  One range puncture ends a month. */
#include <pprf.h>
#include <stdio.h>

enum { MONTH_BITS = 12, USER_BITS = 20 };

static uint64_t leaf_of(uint64_t month, uint64_t user) /* user < 2^USER_BITS */
{
  return month << USER_BITS | user;
}

static void show(const pprf_key *key, const char *when)
{
  printf("%s:", when);
  for (uint64_t month = 6; month <= 8; month++) {
    uint8_t value[PPRF_SEED_BYTES];
    int err = pprf_eval(key, leaf_of(month, 1234), value);
    printf(" month %u %s", (unsigned)month, err == PPRF_OK ? "has its key" : "is gone");
  }
  printf("; %zu seeds\n", pprf_node_count(key));
}

int main(void)
{
  pprf_key *key;
  int err = pprf_setup(&key, MONTH_BITS + USER_BITS, NULL);
  if (err != PPRF_OK) {
    fprintf(stderr, "pprf_setup: %s\n", pprf_strerror(err));
    return 1;
  }
  show(key, "at first");
  err = pprf_punct_range(key, leaf_of(7, 0),
                         leaf_of(8, 0) - 1); /* 2^20 leaves, a few dozen PRG calls */
  show(key, "month 7 ended");
  if (err == PPRF_OK)
    err = pprf_punct(key, leaf_of(8, 1234)); /* one user, in one month */
  show(key, "user 1234 left");
  pprf_free(key);
  return err == PPRF_OK ? 0 : 1;
}

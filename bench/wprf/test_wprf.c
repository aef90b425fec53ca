/* SPDX-License-Identifier: Apache-2.0 */
/* TAP: the forms of the weak PRF agree with each other.  SEED=... repeats the random inputs. */
#include "tap.h"
#include "wprf.h"

static uint64_t seed;

/* All other usable forms agree with the first of these on n random keys and inputs. */
static void agree(const struct wprf_version *first, unsigned n, const char *claim)
{
  uint64_t state = seed, key[WPRF_KEY], x[4];
  struct wprf_trits want, got;
  for (unsigned op = 0; op < n && tap_missed == 0; op++) {
    for (unsigned w = 0; w < WPRF_KEY; w++)
      key[w] = tap_random(&state);
    for (unsigned w = 0; w < 4; w++)
      x[w] = tap_random(&state);
    first->form(key, x, &want);
    for (const struct wprf_version *v = first + 1; v < wprf_versions + WPRF_FORMS; v++)
      if (wprf_usable(v)) {
        v->form(key, x, &got);
        tap_check(memcmp(&got, &want, sizeof got) == 0, "op=%u: %s is not %s; SEED=%llu repeats it",
                  op, v->name, first->name, (unsigned long long)seed);
      }
    tap_progress(claim, op, n);
  }
  tap_end_test(claim);
}

int main(void)
{
  seed = tap_seed();
  if (!tap_ok(wprf_setup(), "libcrypto makes the public matrix"))
    return tap_end();
  tap_note("SEED=%llu", (unsigned long long)seed);
  for (const struct wprf_version *v = wprf_versions; v < wprf_versions + WPRF_FORMS; v++)
    if (!wprf_usable(v))
      tap_ok(1, "%s # SKIP this processor lacks %s", v->name, v->needs);
  agree(&wprf_versions[0], 10000, "10^4 random inputs of each form agree with the definition");
  agree(&wprf_versions[1], 1000000,
        "10^6 random inputs of each fast form agree with the packed form");
  return tap_end();
}

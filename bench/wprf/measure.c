/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the weak PRF's forms, a scalar multiplication of libsodium, and a tree with the fastest
 * form as PRG beside trees of the library, in turns within each round.  CPU time of the thread.
 * Usage: measure ROUNDS FILE     writes each round's values as JSON (bench/report/tables.py) */
#include <sodium.h>

#include "figures.h"
#include "prg.h"
#include "wprf.h"

enum { WEAK = 0 };                         /* in place of a suite */
static const struct wprf_version *fastest; /* the last form that this processor can run */

static double form_ns(unsigned form)
{
  const unsigned calls = form == 0 ? 20 : 2000;
  uint64_t key[WPRF_KEY] = {2, 3, 5, 7, 11, 13, 17, 19}, x[4] = {23, 29, 31, 37};
  double from = now();
  for (unsigned i = 0; i < calls; i++) {
    struct wprf_trits out;
    wprf_versions[form].form(key, x, &out);
    x[i % 4] ^= out.msb[0] ^ out.lsb[1]; /* the next call waits */
  }
  return (now() - from) / calls;
}

static double sodium_ns(unsigned calls)
{
  uint8_t point[crypto_core_ed25519_BYTES], scalar[crypto_core_ed25519_SCALARBYTES];
  crypto_core_ed25519_random(point);
  crypto_core_ed25519_scalar_random(scalar);
  double from = now();
  for (unsigned i = 0; i < calls; i++)
    check(crypto_scalarmult_ed25519(point, scalar, point) == 0, "scalar multiplication");
  return (now() - from) / calls;
}

/* A puncture without a store, a step of it: expansions down to a leaf, each sibling kept. */
static double walk_ns(unsigned suite)
{
  enum { DEPTH = 20, WALKS = 32 };
  static uint64_t kept[DEPTH][WPRF_KEY];
  static struct pprf_seed kept_seed[DEPTH];
  double from = now();
  for (uint64_t leaf = 0; leaf < WALKS; leaf++) {
    uint64_t child[2 * WPRF_KEY] = {leaf, 3, 5, 7};
    struct pprf_seed seed = {leaf, 3};
    for (unsigned h = DEPTH; h-- > 0;) {
      unsigned right = leaf >> h & 1;
      if (suite == WEAK) {
        wprf_expand(fastest->form, child, child);
        memcpy(kept[h], child + (1 - right) * WPRF_KEY, sizeof kept[h]);
        memmove(child, child + right * WPRF_KEY, sizeof kept[h]);
      } else {
        struct pprf_family family = {suite, 0, 0};
        struct pprf_children c = prg_expand(family, seed, leaf >> (h + 1) << (h + 1), h + 1);
        kept_seed[h] = right ? c.left : c.right;
        seed = right ? c.right : c.left;
      }
    }
  }
  check((kept[0][0] | kept_seed[0].lo) != 0, "a sibling is zero");
  return (now() - from) / WALKS / DEPTH;
}

int main(int argc, char **argv)
{
  static struct {
    const char *name;
    double (*ns)(unsigned);
    unsigned of;
    struct figure figure;
  } row[] = {
    [WPRF_FORMS] = {.name = "scalar multiplication, libsodium", .ns = sodium_ns, .of = 40},
    {.name = "tree of the weak PRF", .ns = walk_ns, .of = WEAK},
    {.name = "tree of sha3-256", .ns = walk_ns, .of = PRG_SHA3_256},
    {.name = "tree of aes-128", .ns = walk_ns, .of = PRG_AES_128},
  };
  enum { ROWS = WPRF_FORMS + 4 };
  unsigned rounds = argc == 3 ? (unsigned)atoi(argv[1]) : 0;
  program_name = "wprf";
  say_what_ends();
  check(rounds >= 1 && rounds <= ROUNDS_MAX, "usage: measure ROUNDS FILE");
  check(sodium_init() >= 0 && wprf_setup(), "set-up");
  for (unsigned f = 0; f < WPRF_FORMS; f++) {
    row[f].name = wprf_versions[f].name;
    row[f].of = f;
    row[f].ns = wprf_usable(&wprf_versions[f]) ? form_ns : NULL;
    fastest = row[f].ns != NULL ? &wprf_versions[f] : fastest;
  }
  for (unsigned round = 0; round <= rounds; round++) { /* the first warms up */
    fprintf(stderr, "wprf: round %u of %u\n", round, rounds);
    for (unsigned r = 0; r < ROWS; r++) {
      double ns = row[r].ns != NULL ? row[r].ns(row[r].of) : 0;
      if (round > 0 && row[r].ns != NULL)
        add_value(&row[r].figure, ns);
    }
  }
  FILE *json = fopen(argv[2], "w");
  check(json != NULL, "the file cannot be written");
  fprintf(json, "{\"rounds\": %u, \"rows\": [", rounds);
  for (unsigned r = 0; r < ROWS; r++) {
    fprintf(json, "%s\n {\"version\": \"%s\"", r > 0 ? "," : "", row[r].name);
    write_figure(json, "ns", &row[r].figure);
    fprintf(json, "}");
  }
  fprintf(json, "\n]}\n");
  check(ferror(json) == 0 && fclose(json) == 0, "the file cannot be written");
  return 0;
}

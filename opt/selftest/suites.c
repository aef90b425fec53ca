/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the salted suites in every version, and of the walks of all. */
#include "aes.h"
#include "keccak.h"
#include "selftest.h"

/* prg/libcrypto.c, as in opt's library */
struct pprf_children prg_expand_evp(struct pprf_family family, struct pprf_seed seed,
                                    uint64_t start, unsigned height);

/* A version, or part of one. */
struct version {
  const char *name;
  unsigned suite;
  opt_node_expand *expand;
  opt_node_lanes *lanes; /* for n steps */
  unsigned n;
  opt_node_descend *descend;
  int usable;
};

/* The steps of a round; the family's suite is the version's. */
struct round {
  struct pprf_family family;
  struct pprf_seed seed[OPT_LANES];
  uint64_t start[OPT_LANES];
  unsigned height[OPT_LANES];
};

static int same_children(struct pprf_children a, struct pprf_children b)
{
  return a.err == 0 && b.err == 0 && same_seed(a.left, b.left) && same_seed(a.right, b.right);
}

static uint64_t id_of(uint64_t start, unsigned height)
{
  return 2 * start + opt_bit(height);
}

static int expand_is(const struct version *v, const struct round *r,
                     const struct pprf_children *want)
{
  int same = 1;
  for (unsigned i = 0; i < OPT_LANES; i++)
    same &= same_children(
      v->expand(r->seed[i], r->family.salt_lo, r->family.salt_hi, id_of(r->start[i], r->height[i])),
      want[i]);
  return same;
}

/* Test the lanes with children in place, or in an order that depends on the round. */
static int lanes_are(const struct version *v, const struct round *r,
                     const struct pprf_children *want, unsigned number)
{
  struct pprf_seed parent[OPT_LANES], left[OPT_LANES], right[OPT_LANES];
  struct opt_step step[OPT_LANES];
  for (unsigned i = 0; i < OPT_LANES; i++) {
    parent[i] = r->seed[i];
    step[i] = (struct opt_step){&parent[i], &left[(i * 3 + number) % OPT_LANES],
                                &right[(i + number) % OPT_LANES], r->start[i], r->height[i]};
    if (number & 1)
      step[i].left = &parent[i];
    else if (number & 2)
      step[i].right = &parent[i];
  }
  for (unsigned i = 0; i < OPT_LANES; i += v->n)
    v->lanes(r->family.salt_lo, r->family.salt_hi, step + i);
  for (unsigned i = 0; i < OPT_LANES; i++)
    if (!same_seed(*step[i].left, want[i].left) || !same_seed(*step[i].right, want[i].right))
      return 0;
  return 1;
}

/* Compare the walk from a node of the round down to a leaf with libcrypto's, node by node. */
static int descent_is(const struct version *v, const struct round *r, unsigned number)
{
  unsigned i = number % OPT_LANES, height = r->height[i] % 33;
  uint64_t leaf = rnd() >> 2;
  struct pprf_family family = r->family;
  struct pprf_seed seed = r->seed[i], copath[33], other;
  int same = 1;
  family.suite = v->suite;
  copath[height] = root_seed(); /* must not change */
  struct pprf_seed value =
    v->descend(seed, family.salt_lo, family.salt_hi, leaf, height, number & 1 ? copath : NULL);
  for (unsigned h = height; h > 0; h--) {
    struct pprf_children c = prg_expand_evp(family, seed, leaf >> h << h, h);
    seed = leaf >> (h - 1) & 1 ? c.right : c.left;
    other = leaf >> (h - 1) & 1 ? c.left : c.right;
    same &= (number & 1) == 0 || same_seed(copath[h - 1], other);
  }
  return same && same_seed(value, seed) && same_seed(copath[height], root_seed());
}

static void draw(struct round *r)
{
  r->family.salt_lo = rnd();
  r->family.salt_hi = rnd();
  for (unsigned i = 0; i < OPT_LANES; i++) {
    r->seed[i] = (struct pprf_seed){rnd(), rnd()};
    r->height[i] = 1 + (unsigned)(rnd() % 63);
    r->start[i] = rnd() >> 1 >> r->height[i] << r->height[i];
  }
}

/* FIPS 197, C.1, and SHA3-256 of the bytes 0 .. 39 by Python's hashlib. */
static void known_answers(const struct version *v)
{
  static const struct pprf_seed counting = {UINT64_C(0x0706050403020100),
                                            UINT64_C(0x0f0e0d0c0b0a0908)};
  struct pprf_children c;
  if (v->expand == NULL)
    return;
  if (v->suite == PRG_AES_128) {
    c = v->expand(counting, UINT64_C(0x7766554433221100) ^ 6, UINT64_C(0xffeeddccbbaa9988), 6);
    check(same_seed(c.left,
                    (struct pprf_seed){UINT64_C(0x30047b6ad8e0c469), UINT64_C(0x5ac5b47080b7cdd8)}),
          "%s: FIPS 197, C.1", v->name);
  } else {
    c = v->expand(counting, UINT64_C(0x1716151413121110), UINT64_C(0x1f1e1d1c1b1a1918),
                  UINT64_C(0x2726252423222120));
    check(same_seed(c.left, (struct pprf_seed){UINT64_C(0x4785ac304d32ba02),
                                               UINT64_C(0x6c6a354def9b5791)}) &&
            same_seed(c.right, (struct pprf_seed){UINT64_C(0x0541d2059972b7a0),
                                                  UINT64_C(0xf3b0746e725a8e8b)}),
          "%s: SHA3-256 of 00 .. 27", v->name);
  }
}

#if OPT_AES_X86
static int have(int avx2, int avx512)
{
  return (!avx2 || __builtin_cpu_supports("avx2")) &&
         (!avx512 || (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw")));
}
#endif

void test_suites(void)
{
  /* a version that the processor lacks cannot be selected */
  const int ni = pprf_prg_select("aes-ni") == PPRF_OK,
            vaes = pprf_prg_select("aes-vaes") == PPRF_OK,
            armv8 = pprf_prg_select("aes-armv8") == PPRF_OK;
  const struct version versions[] = {
    {"salted, scalar", PRG_SHA3_256_SALTED, opt_salted_scalar, NULL, 1, NULL, 1},
    {"aes-bitsliced", PRG_AES_128, opt_aes_bitsliced, NULL, 1, NULL, 1},
#if OPT_AES_X86
    {"salted, avx2", PRG_SHA3_256_SALTED, opt_salted_avx2, NULL, 1, NULL, have(1, 0)},
    {"salted, avx512", PRG_SHA3_256_SALTED, opt_salted_avx512, NULL, 1, NULL, have(1, 1)},
    {"salted, avx512, descent", PRG_SHA3_256_SALTED, NULL, NULL, 1, opt_salted_avx512_descend,
     have(1, 1)},
    {"sha3-256, avx512, descent", PRG_SHA3_256, NULL, NULL, 1, opt_keccak_avx512_descend,
     have(1, 1)},
    {"salted, avx2, 4 lanes", PRG_SHA3_256_SALTED, NULL, opt_salted_avx2_x4, 4, NULL, have(1, 0)},
    {"salted, avx512, 4 lanes", PRG_SHA3_256_SALTED, NULL, opt_salted_avx512_x4, 4, NULL,
     have(1, 1)},
    {"salted, avx512, 8 lanes", PRG_SHA3_256_SALTED, NULL, opt_salted_avx512_x8, 8, NULL,
     have(1, 1)},
    {"aes-ni", PRG_AES_128, opt_aes_ni, NULL, 1, NULL, ni},
    {"aes-ni, 4 lanes", PRG_AES_128, NULL, opt_aes_ni_x4, 4, NULL, ni},
    {"aes-ni, descent", PRG_AES_128, NULL, NULL, 1, opt_aes_ni_descend, ni},
    {"aes-vaes, 4 lanes", PRG_AES_128, NULL, opt_aes_vaes_x4, 4, NULL, vaes},
    {"aes-vaes, 8 lanes", PRG_AES_128, NULL, opt_aes_vaes_x8, 8, NULL, vaes},
#endif
#if OPT_AES_ARM
    {"aes-armv8", PRG_AES_128, opt_aes_armv8, NULL, 1, NULL, armv8},
    {"aes-armv8, 4 lanes", PRG_AES_128, NULL, opt_aes_armv8_x4, 4, NULL, armv8},
    {"aes-armv8, descent", PRG_AES_128, NULL, NULL, 1, opt_aes_armv8_descend, armv8},
#endif
  };
  const unsigned count = sizeof versions / sizeof *versions;
  for (unsigned v = 0; v < count; v++)
    if (versions[v].usable)
      known_answers(&versions[v]);
    else
      printf("# this processor cannot run %s: not tested\n", versions[v].name);
  for (unsigned number = 0; number < 4000; number++) {
    struct round r;
    draw(&r);
    for (unsigned suite = PRG_SHA3_256_SALTED; suite <= PRG_AES_128; suite++) {
      struct pprf_children want[OPT_LANES];
      r.family.suite = suite;
      for (unsigned i = 0; i < OPT_LANES; i++)
        want[i] = prg_expand_evp(r.family, r.seed[i], r.start[i], r.height[i]);
      for (unsigned i = 0; i < count; i++) {
        const struct version *v = &versions[i];
        if (v->suite == suite && v->usable)
          check(v->expand != NULL  ? expand_is(v, &r, want)
                : v->lanes != NULL ? lanes_are(v, &r, want, number)
                                   : descent_is(v, &r, number),
                "%s: round %u", v->name, number);
      }
    }
  }
  check(pprf_prg_select(vaes    ? "aes-vaes"
                        : ni    ? "aes-ni"
                        : armv8 ? "aes-armv8"
                                : "aes-bitsliced") == PPRF_OK,
        "back");
  end_test("every_version_of_the_suites_with_a_salt_is_libcryptos");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The weak PRF in its forms.  An experiment: tables are indexed by secrets, and nothing is wiped. */
#include "wprf.h"

#include <openssl/evp.h>
#include <string.h>

static const struct wprf_trits zero = {{UINT64_MAX, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
/* Public: R, the inputs of wprf_expand, R's columns, and the sums of all subsets of 8 and of 16. */
static uint8_t matrix[WPRF_TRITS][WPRF_IN];
static uint64_t input[WPRF_CALLS][4];
static struct wprf_trits column[WPRF_IN], table8[32 << 8], table16[16 << 16];
/* For eight rows of R at a time: where they are not 0, then where they are 2. */
static uint64_t eight_rows[11][2 * 4][8] __attribute__((aligned(64)));

static unsigned bit(const uint64_t *word, unsigned n)
{
  return word[n / 64] >> n % 64 & 1;
}

static void pack(const uint8_t trit[WPRF_TRITS], struct wprf_trits *out)
{
  *out = zero;
  for (unsigned r = 0; r < WPRF_TRITS; r++) {
    out->lsb[r / 64] ^= (uint64_t)(trit[r] == 1) << r % 64;
    out->msb[r / 64] ^= (uint64_t)(trit[r] == 2) << r % 64;
  }
}

/* One bit at a time, as it is defined. */
static void by_definition(const uint64_t *key, const uint64_t *x, struct wprf_trits *out)
{
  uint8_t y[WPRF_IN], trit[WPRF_TRITS];
  for (unsigned i = 0; i < WPRF_IN; i++) {
    unsigned sum = 0;
    for (unsigned j = 0; j < WPRF_IN; j++)
      sum += bit(key, 256 + i - j) * bit(x, j);
    y[i] = sum % 2;
  }
  for (unsigned r = 0; r < WPRF_TRITS; r++) {
    unsigned sum = 0;
    for (unsigned j = 0; j < WPRF_IN; j++)
      sum += matrix[r][j] * y[j];
    trit[r] = sum % 3;
  }
  pack(trit, out);
}

static inline void add(struct wprf_trits *a, const struct wprf_trits *b, uint64_t mask)
{
  for (unsigned w = 0; w < 2; w++) {
    uint64_t m1 = a->msb[w], l1 = a->lsb[w], m2 = b->msb[w] | mask, l2 = b->lsb[w] | mask;
    uint64_t t = (l1 & m2) ^ (l2 & m1);
    a->msb[w] = (l1 & l2) ^ t;
    a->lsb[w] = (m1 & m2) ^ t;
  }
}

/* K x is the sum of the columns of K at the ones of x; column j is k[256 - j] .. k[511 - j]. */
static inline void times_packed(const uint64_t *key, const uint64_t *x, uint64_t *y)
{
  memset(y, 0, 4 * sizeof *y);
  for (unsigned j = 0; j < WPRF_IN; j++) {
    unsigned from = (256 - j) / 64, shift = (256 - j) % 64;
    uint64_t mask = -(uint64_t)bit(x, j);
    for (unsigned w = 0; w < 4; w++)
      y[w] ^= mask & (shift == 0 ? key[from + w]
                                 : key[from + w] >> shift | key[from + w + 1] << (64 - shift));
  }
}

static void packed(const uint64_t *key, const uint64_t *x, struct wprf_trits *out)
{
  uint64_t y[4];
  struct wprf_trits sum = zero;
  times_packed(key, x, y);
  for (unsigned j = 0; j < WPRF_IN; j++)
    add(&sum, &column[j], (uint64_t)bit(y, j) - 1);
  *out = sum;
}

static inline void look_up(const struct wprf_trits *table, unsigned bits, const uint64_t *y,
                           struct wprf_trits *out)
{
  struct wprf_trits sum = zero;
  for (unsigned n = 0; n < WPRF_IN; n += bits) {
    unsigned index = y[n / 64] >> n % 64 & ((1u << bits) - 1);
    add(&sum, &table[(n / bits << bits) + index], 0);
  }
  *out = sum;
}

static void fill(struct wprf_trits *table, unsigned bits)
{
  for (unsigned n = 0; n < WPRF_IN; n += bits, table += 1u << bits) {
    table[0] = zero;
    for (unsigned i = 1; i < 1u << bits; i++) {
      table[i] = table[i & (i - 1)];
      add(&table[i], &column[n + (unsigned)__builtin_ctz(i)], 0);
    }
  }
}

#define WITH_TABLES(name, attributes, times, table, bits)                                     \
  static attributes void name(const uint64_t *key, const uint64_t *x, struct wprf_trits *out) \
  {                                                                                           \
    uint64_t y[4];                                                                            \
    times(key, x, y);                                                                         \
    look_up(table, bits, y, out);                                                             \
  }
WITH_TABLES(tables_8, , times_packed, table8, 8)
WITH_TABLES(tables_16, , times_packed, table16, 16)

#ifdef __x86_64__
#include <immintrin.h>
#define CLMUL __attribute__((target("pclmul")))
#define VPOPCNT __attribute__((target("pclmul,avx512f,avx512dq,avx512vpopcntdq")))

/* y is coefficients 256 .. 511 of the carry-less product of k and x.  product[n] is the sum of the
 * products of words a of k and b of x with a + b = n + 3. */
static inline CLMUL void times_clmul(const uint64_t *key, const uint64_t *x, uint64_t *y)
{
  __m128i product[5];
#pragma GCC unroll 5
  for (unsigned n = 0; n < 5; n++) {
    product[n] = _mm_setzero_si128();
#pragma GCC unroll 4
    for (unsigned b = 0; b < 4; b++) {
      __m128i k = _mm_cvtsi64_si128((long long)key[n + 3 - b]);
      __m128i v = _mm_cvtsi64_si128((long long)x[b]);
      product[n] = _mm_xor_si128(product[n], _mm_clmulepi64_si128(k, v, 0));
    }
  }
  for (unsigned w = 0; w < 4; w++)
    y[w] = (uint64_t)_mm_cvtsi128_si64(
      _mm_xor_si128(product[w + 1], _mm_unpackhi_epi64(product[w], product[w])));
}

WITH_TABLES(clmul_tables_8, CLMUL, times_clmul, table8, 8)
WITH_TABLES(clmul_tables_16, CLMUL, times_clmul, table16, 16)

/* Constant time.  The sum of a row is the number of ones of y where the row is not 0 and where it
 * is 2; it is at most 512, so that the product with 21846 / 2^16 is its third, rounded down. */
__attribute__((no_stack_protector)) static VPOPCNT void
clmul_vpopcnt(const uint64_t *key, const uint64_t *x, struct wprf_trits *out)
{
  uint64_t y[4];
  times_clmul(key, x, y);
  *out = zero;
  for (unsigned g = 0; g < 11; g++) {
    __m512i sum = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (unsigned w = 0; w < 8; w++)
      sum = _mm512_add_epi64(
        sum, _mm512_popcnt_epi64(_mm512_and_si512(_mm512_set1_epi64((long long)y[w % 4]),
                                                  _mm512_load_si512(eight_rows[g][w]))));
    __m512i third = _mm512_srli_epi64(_mm512_mul_epu32(sum, _mm512_set1_epi64(21846)), 16);
    sum = _mm512_sub_epi64(sum, _mm512_add_epi64(third, _mm512_add_epi64(third, third)));
    _store_mask8((__mmask8 *)out->msb + g, _mm512_cmplt_epu64_mask(sum, _mm512_set1_epi64(2)));
    _store_mask8((__mmask8 *)out->lsb + g, _mm512_cmpneq_epu64_mask(sum, _mm512_set1_epi64(1)));
  }
}
#define X86(form) form
#else
#define X86(form) NULL
#endif

const struct wprf_version wprf_versions[WPRF_FORMS] = {
  {"definition", by_definition, NULL},
  {"packed", packed, NULL},
  {"tables of 8 bits", tables_8, NULL},
  {"tables of 16 bits", tables_16, NULL},
  {"CLMUL, tables of 8 bits", X86(clmul_tables_8), "CLMUL"},
  {"CLMUL, tables of 16 bits", X86(clmul_tables_16), "CLMUL"},
  {"CLMUL, VPOPCNTDQ", X86(clmul_vpopcnt), "CLMUL and AVX-512 with VPOPCNTDQ"},
};

int wprf_usable(const struct wprf_version *v)
{
#ifdef __x86_64__
  int clmul = __builtin_cpu_supports("pclmul");
  int vpopcnt = __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vpopcntdq");
  return v->needs == NULL || (clmul && (v->form != clmul_vpopcnt || vpopcnt));
#else
  return v->form != NULL;
#endif
}

static int shake128(const char *text, uint8_t *out, size_t bytes)
{
  EVP_MD_CTX *context = EVP_MD_CTX_new();
  int ok = context != NULL && EVP_DigestInit_ex(context, EVP_shake128(), NULL) == 1 &&
           EVP_DigestUpdate(context, text, strlen(text)) == 1 &&
           EVP_DigestFinalXOF(context, out, bytes) == 1;
  EVP_MD_CTX_free(context);
  return ok;
}

/* R, row by row: the pairs of bits of the stream that are not 3. */
int wprf_setup(void)
{
  uint8_t stream[8192], inputs[sizeof input], trit[WPRF_TRITS];
  unsigned at = 0;
  if (!shake128("libpprf wprf R", stream, sizeof stream) ||
      !shake128("libpprf wprf inputs", inputs, sizeof inputs))
    return 0;
  for (unsigned n = 0; n < WPRF_TRITS * WPRF_IN; at++)
    if ((stream[at / 4] >> at % 4 * 2 & 3) != 3)
      matrix[n / WPRF_IN][n % WPRF_IN] = stream[at / 4] >> at % 4 * 2 & 3, n++;
  for (unsigned i = 0; i < sizeof inputs; i++)
    input[i / 32][i / 8 % 4] |= (uint64_t)inputs[i] << i % 8 * 8;
  for (unsigned j = 0; j < WPRF_IN; j++) {
    for (unsigned r = 0; r < WPRF_TRITS; r++) {
      trit[r] = matrix[r][j];
      eight_rows[r / 8][j / 64][r % 8] |= (uint64_t)(trit[r] != 0) << j % 64;
      eight_rows[r / 8][4 + j / 64][r % 8] |= (uint64_t)(trit[r] == 2) << j % 64;
    }
    pack(trit, &column[j]);
  }
  fill(table8, 8);
  fill(table16, 16);
  return 1;
}

/* Horner's rule, at most 20 trits at a time, the most significant first: 3^20 < 2^32. */
void wprf_number(const struct wprf_trits *trits, unsigned calls, uint64_t *out, unsigned words)
{
  static const unsigned from[] = {0, 20, 40, 60, 80, 81};
  unsigned used = 0; /* words that can be other than 0 */
  memset(out, 0, words * sizeof *out);
  for (unsigned n = 5 * calls; n-- > 0;) {
    uint64_t carry = 0, scale = n % 5 == 4 ? 3 : 3486784401;
    for (unsigned r = from[n % 5 + 1]; r-- > from[n % 5];)
      carry = 3 * carry + 2 * !bit(trits[n / 5].msb, r) + !bit(trits[n / 5].lsb, r);
    for (unsigned w = 0; w < used; w++) {
      uint64_t low = (out[w] & UINT32_MAX) * scale + carry;
      carry = (out[w] >> 32) * scale + (low >> 32);
      out[w] = carry << 32 | (low & UINT32_MAX);
      carry >>= 32;
    }
    if (used < words)
      out[used++] = carry;
  }
}

void wprf_expand(wprf_form *form, const uint64_t *key, uint64_t *child)
{
  struct wprf_trits trits[WPRF_CALLS];
  for (unsigned c = 0; c < WPRF_CALLS; c++)
    form(key, input[c], &trits[c]);
  wprf_number(trits, WPRF_CALLS, child, 2 * WPRF_KEY);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* AES-128 of two blocks under a key used only once, so the key schedule runs beside the rounds:
 * round i needs round key i, which is made from round key i - 1 with the same S-box evaluation.
 * Portable and free of #if: what proofs/tools/aes.py translates to Coq is what every compiler sees.
 *
 * Plane i holds bit i of 48 bytes: positions 0 .. 15 are the left child's block, 16 .. 31 the right
 * child's, 32 .. 47 the round key.  Within a block byte row + 4 * column is FIPS 197's s[row,
 * column]. So one S-box serves both blocks and the key schedule. */
#include "aes.h"

enum { LEFT = 0, RIGHT = 16, KEY = 32 };
#define BLOCKS UINT64_C(0x00000000ffffffff)    /* positions of the two blocks */
#define ROUND_KEY UINT64_C(0x0000ffff00000000) /* positions of the round key */
#define ROW(r) (UINT64_C(0x0000111111111111) << (r))

struct planes {
  uint64_t bit[8];
};

/* GF(4): hi w + lo with w^2 = w + 1. */
struct gf4 {
  uint64_t hi, lo;
};

/* GF(16) over GF(4): hi z + lo with z^2 = z + w + 1. */
struct gf16 {
  struct gf4 hi, lo;
};

static inline struct gf4 add4(struct gf4 a, struct gf4 b)
{
  return (struct gf4){a.hi ^ b.hi, a.lo ^ b.lo};
}

static inline struct gf4 mul4(struct gf4 a, struct gf4 b)
{
  uint64_t high = a.hi & b.hi;
  return (struct gf4){(a.hi & b.lo) ^ (a.lo & b.hi) ^ high, (a.lo & b.lo) ^ high};
}

/* Squaring; in GF(4) this is also the inverse. */
static inline struct gf4 square4(struct gf4 a)
{
  return (struct gf4){a.hi, a.hi ^ a.lo};
}

/* a w, and a (w + 1) */
static inline struct gf4 times_w(struct gf4 a)
{
  return (struct gf4){a.hi ^ a.lo, a.hi};
}

static inline struct gf4 times_w_1(struct gf4 a)
{
  return (struct gf4){a.lo, a.hi ^ a.lo};
}

static inline struct gf16 add16(struct gf16 a, struct gf16 b)
{
  return (struct gf16){add4(a.hi, b.hi), add4(a.lo, b.lo)};
}

static inline struct gf16 mul16(struct gf16 a, struct gf16 b)
{
  struct gf4 high = mul4(a.hi, b.hi), low = mul4(a.lo, b.lo);
  struct gf4 all = mul4(add4(a.hi, a.lo), add4(b.hi, b.lo));
  return (struct gf16){add4(all, low), add4(low, times_w_1(high))};
}

static inline struct gf16 square16(struct gf16 a)
{
  struct gf4 high = square4(a.hi);
  return (struct gf16){high, add4(square4(a.lo), times_w_1(high))};
}

/* a (w z) */
static inline struct gf16 times_wz(struct gf16 a)
{
  return (struct gf16){times_w(add4(a.hi, a.lo)), a.hi};
}

/* The inverse: the conjugate divided by the norm; 0 for 0. */
static inline struct gf16 inverse16(struct gf16 a)
{
  struct gf4 sum = add4(a.hi, a.lo);
  struct gf4 norm = add4(times_w_1(square4(a.hi)), mul4(sum, a.lo)), over = square4(norm);
  return (struct gf16){mul4(a.hi, over), mul4(sum, over)};
}

/* SubBytes, FIPS 197, 5.1.1: the inverse in GF(256) and an affine map.  GF(256) over GF(16) is
 * hi y + lo with y^2 = y + w z; the map between its basis and FIPS 197's sends x to the element 5a, a root
 * of x^8 + x^4 + x^3 + x + 1. */
static inline void sub_bytes(struct planes *p)
{
  uint64_t *x = p->bit;
  uint64_t x16 = x[1] ^ x[6], x23 = x[2] ^ x[3], x57 = x[5] ^ x[7], x146 = x[4] ^ x16;
  struct gf16 hi = {{x57, x[5] ^ x23 ^ x146}, {x23 ^ x57, x[1]}};
  struct gf16 lo = {{x[2] ^ x[7] ^ x16, x[3] ^ x[4] ^ x[6]}, {x146, x[0] ^ x[4]}};
  struct gf16 sum = add16(hi, lo);
  struct gf16 norm = add16(times_wz(square16(hi)), mul16(sum, lo)), over = inverse16(norm);
  hi = mul16(hi, over);
  lo = mul16(sum, over);
  uint64_t t0 = lo.lo.lo, t1 = lo.lo.hi, t2 = lo.hi.lo, t3 = lo.hi.hi;
  uint64_t t4 = hi.lo.lo, t5 = hi.lo.hi, t6 = hi.hi.lo, t7 = hi.hi.hi;
  uint64_t t02 = t0 ^ t2, t07 = t0 ^ t7, t27 = t2 ^ t7, t023 = t3 ^ t02, t46 = t4 ^ t6;
  x[0] = ~(t6 ^ t023); /* complemented where 0x63 has a bit */
  x[1] = ~(t1 ^ t07);
  x[2] = t1 ^ t7 ^ t02 ^ t46;
  x[3] = t023;
  x[4] = t4 ^ t5 ^ t07;
  x[5] = ~(t3 ^ t27);
  x[6] = ~t46;
  x[7] = t27;
}

/* Row r of the blocks moves r columns to the left. */
static inline uint64_t shift_rows(uint64_t v)
{
  const uint64_t low4 = UINT64_C(0x000f000f000f), low8 = UINT64_C(0x00ff00ff00ff),
                 low12 = UINT64_C(0x0fff0fff0fff);
  uint64_t by1 = ((v >> 4) & low12) | ((v & low4) << 12);
  uint64_t by2 = ((v >> 8) & low8) | ((v & low8) << 8);
  uint64_t by3 = ((v >> 12) & low4) | ((v & low12) << 4);
  return (v & ROW(0)) | (by1 & ROW(1)) | (by2 & ROW(2)) | (by3 & ROW(3));
}

/* Each position gets the byte one row below it, cyclically within the column. */
static inline uint64_t row_below(uint64_t v)
{
  return ((v >> 1) & ~ROW(3)) | ((v & ROW(0)) << 3);
}

static inline uint64_t rows_below_2(uint64_t v)
{
  return ((v >> 2) & (ROW(0) | ROW(1))) | ((v & (ROW(0) | ROW(1))) << 2);
}

/* MixColumns, FIPS 197, 5.1.3: 2 (s_r + s_r+1) + s_r+1 + s_r+2 + s_r+3 in row r. */
static inline void mix_columns(struct planes *p)
{
  struct planes next, pair;
  for (unsigned i = 0; i < 8; i++) {
    next.bit[i] = row_below(p->bit[i]);
    pair.bit[i] = p->bit[i] ^ next.bit[i];
  }
  for (unsigned i = 0; i < 8; i++) {
    uint64_t doubled = i == 0 ? pair.bit[7] : pair.bit[i - 1];
    if (i == 1 || i == 3 || i == 4) /* x^8 is x^4 + x^3 + x + 1 */
      doubled ^= pair.bit[7];
    p->bit[i] = doubled ^ next.bit[i] ^ rows_below_2(pair.bit[i]);
  }
}

/* The next round key, from the bits of this one and of its bytes' S-box values; FIPS 197, 5.2. */
static inline uint64_t next_key(uint64_t key, uint64_t subbed, unsigned rcon)
{
  uint64_t last = subbed >> 12 & 15;                       /* last column */
  uint64_t rotated = (last >> 1 | (last & 1) << 3) ^ rcon; /* RotWord, and Rcon in row 0 */
  rotated |= rotated << 4;                                 /* copied to all four columns */
  rotated |= rotated << 8;
  key ^= key << 4 & 0xffff;
  key ^= key << 8 & 0xffff;
  return key ^ rotated;
}

/* Transpose the 8x8 bits of a word: byte i of the result holds bit i of each of the eight bytes. */
static inline uint64_t transposed(uint64_t v)
{
  uint64_t t = (v ^ v >> 7) & UINT64_C(0x00aa00aa00aa00aa);
  v ^= t ^ t << 7;
  t = (v ^ v >> 14) & UINT64_C(0x0000cccc0000cccc);
  v ^= t ^ t << 14;
  t = (v ^ v >> 28) & UINT64_C(0x00000000f0f0f0f0);
  return v ^ t ^ t << 28;
}

/* Put a block into the planes, which are zero there. */
static inline void put_block(struct planes *p, unsigned at, uint64_t lo, uint64_t hi)
{
  lo = transposed(lo);
  hi = transposed(hi);
  for (unsigned i = 0; i < 8; i++)
    p->bit[i] |= ((lo >> 8 * i & 0xff) | (hi >> 8 * i & 0xff) << 8) << at;
}

static inline struct pprf_seed get_block(const struct planes *p, unsigned at)
{
  uint64_t lo = 0, hi = 0;
  for (unsigned i = 0; i < 8; i++) {
    lo |= (p->bit[i] >> at & 0xff) << 8 * i;
    hi |= (p->bit[i] >> at >> 8 & 0xff) << 8 * i;
  }
  return (struct pprf_seed){transposed(lo), transposed(hi)};
}

struct pprf_children opt_aes_bitsliced(struct pprf_seed seed, uint64_t salt_lo, uint64_t salt_hi,
                                       uint64_t id)
{
  struct planes s = {{0}}, key;
  unsigned rcon = 1;
  put_block(&s, LEFT, seed.lo ^ salt_lo ^ id, seed.hi ^ salt_hi);
  put_block(&s, RIGHT, seed.lo ^ salt_lo ^ id, seed.hi ^ salt_hi ^ 1);
  put_block(&s, KEY, seed.lo, seed.hi);
  for (unsigned round = 1; round <= 10; round++) {
    for (unsigned i = 0; i < 8; i++)
      key.bit[i] = s.bit[i] >> KEY & 0xffff;
    sub_bytes(&s);
    for (unsigned i = 0; i < 8; i++) {
      key.bit[i] = next_key(key.bit[i], s.bit[i] >> KEY, rcon >> i & 1);
      s.bit[i] = shift_rows(s.bit[i]);
    }
    if (round < 10)
      mix_columns(&s);
    for (unsigned i = 0; i < 8; i++)
      s.bit[i] = ((s.bit[i] & BLOCKS) ^ (key.bit[i] | key.bit[i] << RIGHT)) | key.bit[i] << KEY;
    rcon = rcon << 1 ^ (rcon >> 7) * 0x11b;
  }
  return (struct pprf_children){get_block(&s, LEFT), get_block(&s, RIGHT), 0};
}

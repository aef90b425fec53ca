/* SPDX-License-Identifier: Apache-2.0 */
#include "node.h"

/* The memory behind p is read here as far as the compiler knows, so that it keeps the stores. */
#ifdef __FRAMAC__
#define KEEP_STORES(p) ((void)(p))
#else
#define KEEP_STORES(p) __asm__ volatile("" : : "r"(p) : "memory")
#endif

uint64_t ref_width(unsigned h)
{
  return (uint64_t)1 << h;
}

void ref_put(struct ref_node *p, uint64_t start, unsigned height, struct pprf_seed seed)
{
  p->start = start;
  p->height = height;
  p->seed.lo = seed.lo;
  p->seed.hi = seed.hi;
}

void ref_wipe_seed(struct pprf_seed *seed)
{
  seed->lo = 0;
  seed->hi = 0;
  KEEP_STORES(seed);
}

void ref_wipe(struct ref_node *a, size_t n)
{
  struct pprf_seed zero = {0, 0};
  for (size_t k = 0; k < n; k++)
    ref_put(&a[k], 0, 0, zero);
  KEEP_STORES(a);
}

void ref_copy(struct ref_node *a, const struct ref_node *b, size_t n)
{
  for (size_t k = 0; k < n; k++)
    ref_put(&a[k], b[k].start, b[k].height, b[k].seed);
}

/* Move a[j .. n-1] to a[to .. ], to >= j: from the last one down, so that none is overwritten
 * before it has moved. */
static void move_up(struct ref_node *a, size_t n, size_t j, size_t to)
{
  for (size_t k = n; k > j; k--)
    ref_put(&a[to + (k - 1 - j)], a[k - 1].start, a[k - 1].height, a[k - 1].seed);
}

/* Move a[j .. n-1] to a[to .. ], to <= j. */
static void move_down(struct ref_node *a, size_t n, size_t j, size_t to)
{
  for (size_t k = j; k < n; k++)
    ref_put(&a[to + (k - j)], a[k].start, a[k].height, a[k].seed);
}

size_t ref_splice(struct ref_node *a, size_t n, size_t i, size_t j, const struct ref_node *b,
                  size_t m)
{
  size_t len = n - (j - i) + m;
  if (len > n)
    move_up(a, n, j, i + m);
  else if (len < n) {
    move_down(a, n, j, i + m);
    ref_wipe(&a[len], n - len);
  }
  ref_copy(&a[i], b, m);
  return len;
}

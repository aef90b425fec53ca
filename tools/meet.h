/* SPDX-License-Identifier: Apache-2.0 */
/** @file meet.h
 * Included before a C file that a test contains: at each of its atomic operations the test's meet() runs, which does
 * what another thread could do there.  Each second weak exchange fails, as it may on some processors. */
#ifndef PPRF_MEET_H
#define PPRF_MEET_H

#include <stdatomic.h>

static void meet(void);

__attribute__((unused)) static int meet_weakly(void)
{
  static unsigned tries;
  meet();
  return tries++ % 2;
}

#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_weak
#define MEET_ORDER memory_order_seq_cst
#define atomic_load(at) (meet(), atomic_load_explicit(at, MEET_ORDER))
#define atomic_store(at, v) (meet(), atomic_store_explicit(at, v, MEET_ORDER), meet())
#define atomic_exchange(at, v) (meet(), atomic_exchange_explicit(at, v, MEET_ORDER))
#define atomic_compare_exchange_strong(at, old, v) \
  (meet(), atomic_compare_exchange_strong_explicit(at, old, v, MEET_ORDER, MEET_ORDER))
#define atomic_compare_exchange_weak(at, old, v) \
  (meet_weakly() && atomic_compare_exchange_strong_explicit(at, old, v, MEET_ORDER, MEET_ORDER))

#endif

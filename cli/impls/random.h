/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers for workloads, simulations and tests, the same on every machine. Not for keys. */
#ifndef PPRF_RANDOM_H
#define PPRF_RANDOM_H

#include <math.h>
#include <stdint.h>

/** The next 64 random bits: splitmix64 (Steele, Lea, Flood 2014). Any initial state will do. */
static inline uint64_t random_next(uint64_t *state)
{
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/** A number in [0, 1). */
static inline double random_unit(uint64_t *state)
{
  return (double)(random_next(state) >> 11) * 0x1p-53;
}

/** A number from N(0, 1). Box and Muller's method makes two at a time: *spare is the second one,
 * NAN if there is none. */
static inline double random_normal(uint64_t *state, double *spare)
{
  double kept = *spare;
  *spare = NAN;
  if (!isnan(kept))
    return kept;
  double u = random_unit(state) + 0x1p-53; /* in (0, 1] */
  double r = sqrt(-2 * log(u)), angle = 2 * 3.14159265358979323846 * random_unit(state);
  *spare = r * sin(angle);
  return r * cos(angle);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* How large a key grows when the punctured leaves are normally distributed: simulation and
 * prediction, counting nodes only (no seeds, no hashing).  The derivation is docs/key-size.md.
 *
 * Usage: coversize [--runs N] [--seed N] DEPTH...      JSON on stdout, progress on stderr.
 *
 * A run punctures leaves drawn from N(2^d/2, sigma), redrawn if outside the tree or already
 * punctured, until 4 sigma leaves are punctured (every leaf if sigma = 2^d/4). */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cli/impls/random.h"

/* sigma = 2^d / divisor */
static const unsigned divisors[] = {4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024};
#define NDIVISORS (sizeof divisors / sizeof divisors[0])
#define RUN_SIGMAS 4

/* --- one run --- */

struct run {
  double peak, mean, at_peak; /* nodes; nodes; leaves punctured when the peak was first reached */
};

/* hit: one bit per node, numbered like a heap (root 1, children 2n and 2n + 1, leaf 2^d + x): the
 * subtree holds a punctured leaf.  |cover| = free leaves - free inner nodes, so a puncture changes
 * it by (inner nodes newly hit) - 1. */
static struct run simulate(uint64_t *hit, unsigned depth, double sigma, uint64_t *state)
{
  const uint64_t leaves = (uint64_t)1 << depth;
  const uint64_t punctures = (uint64_t)llround(RUN_SIGMAS * sigma);
  struct run r = {0, 0, 0};
  int64_t size = 1, peak = 0;
  double sum = 0, spare = NAN;
  memset(hit, 0, (2 * leaves + 63) / 64 * sizeof *hit);
  for (uint64_t done = 0; done < punctures;) {
    double x = floor((double)leaves / 2 + sigma * random_normal(state, &spare));
    if (x < 0 || x >= (double)leaves)
      continue;
    uint64_t node = leaves + (uint64_t)x;
    if (hit[node / 64] >> node % 64 & 1)
      continue;
    for (size--; hit[node / 64] |= (uint64_t)1 << node % 64, node >>= 1, node > 0; size++)
      if (hit[node / 64] >> node % 64 & 1)
        break;
    done++;
    sum += (double)size;
    if (size > peak) {
      peak = size;
      r.at_peak = (double)done;
    }
  }
  r.peak = (double)peak;
  r.mean = sum / (double)punctures;
  return r;
}

/* --- prediction --- */

/* mass[node]: probability that one draw falls into the node's subtree, given that it falls into the
 * tree.  The law is symmetric, so only the left half is kept: the subtree of node 2, renumbered as
 * a heap of its own. */
static void node_masses(double *mass, unsigned depth, double sigma)
{
  const uint64_t half = (uint64_t)1 << (depth - 1);
  double below = 0.5 * erfc((double)half / sigma * M_SQRT1_2), total = 1 - 2 * below;
  for (uint64_t x = 0; x < half; x++) {
    double next = 0.5 * erfc(((double)half - (double)(x + 1)) / sigma * M_SQRT1_2);
    mass[half + x] = (next - below) / total;
    below = next;
  }
  for (uint64_t node = half; node-- > 1;)
    mass[node] = mass[2 * node] + mass[2 * node + 1];
}

struct expected {
  double size;              /* nodes of the key */
  double punctured, spread; /* leaves punctured: mean and variance */
  double drift, variance;   /* change of the size at the next puncture: mean and variance */
  double overshoot;         /* mean excess of the size over a level that it first exceeds */
};

/* After a Poisson number of draws with mean t, a subtree of mass p is free with probability
 * exp(-t p), and disjoint subtrees are independent.  The next puncture splits a node of height k or
 * more with probability (sum of p exp(-t p) over nodes of height k) / (the same over leaves), and
 * changes the size by k - 1.  Where the drift is 0 this is a walk that falls by 1 at most, whose
 * ladder heights j have probabilities proportional to those of a step of j or more. */
static struct expected expectation(const double *mass, unsigned depth, double t)
{
  const uint64_t half = (uint64_t)1 << (depth - 1);
  struct expected e = {0, 0, 0, 0, 0, 0};
  double rate = 0, mean = exp(-t), square = (2.0 * depth - 1) * exp(-t);
  double ladder = 0, ladder2 = 0;
  for (uint64_t node = half; node < 2 * half; node++) {
    double hit = -expm1(-t * mass[node]);
    e.punctured += 2 * hit;
    e.spread += 2 * hit * (1 - hit);
    e.size += 2 * (1 - hit);
    rate += 2 * mass[node] * (1 - hit);
  }
  e.size -= exp(-t);
  for (unsigned height = 1; height < depth; height++)
    for (uint64_t node = half >> height; node < half >> (height - 1); node++) {
      double free_p = exp(-t * mass[node]);
      e.size -= 2 * free_p;
      mean += 2 * mass[node] * free_p;
      square += 2 * mass[node] * free_p * (2.0 * height - 1);
      ladder += 2 * mass[node] * free_p * (height - 1);
      ladder2 += 2 * mass[node] * free_p * (height - 1) * (height - 2.0);
    }
  mean /= rate;
  e.drift = mean - 1;
  e.variance = square / rate - mean * mean;
  e.overshoot = ladder2 / (2 * ladder);
  return e;
}

struct prediction {
  double peak, mean, at_peak;
};

/* Peak: where the expected size stops rising (bisection over log t).  The maximum of a run lies
 * above the maximum of the expectation: near it the size is a walk with variance B per puncture
 * around a parabola of curvature A. For a Brownian motion the mean excess is 0.99619 (B^2 /
 * A)^(1/3). A walk on whole numbers misses half a node of that in the direction in which its steps
 * are skip-free, and half a node and the overshoot in the other: the mean of both is subtracted.
 * At a fixed number m of punctures the size is larger than at the Poisson time where m is expected,
 * by -1/2 (variance of m) (second derivative of the size).  Mean: the first puncture leaves d
 * nodes; then the integral of the size over the number of punctured leaves, by trapezoids. */
static struct prediction predict(double *mass, unsigned depth, double sigma)
{
  const double end = RUN_SIGMAS * sigma;
  double lo = log(0.05 * sigma), hi = log(60 * sigma);
  node_masses(mass, depth, sigma);
  while (hi - lo > 1e-6) {
    double mid = (lo + hi) / 2;
    if (expectation(mass, depth, exp(mid)).drift > 0)
      lo = mid;
    else
      hi = mid;
  }
  struct expected top = expectation(mass, depth, exp(lo));
  struct expected left = expectation(mass, depth, exp(lo - 1e-2));
  struct expected right = expectation(mass, depth, exp(lo + 1e-2));
  double curvature = (left.drift - right.drift) / (right.punctured - left.punctured);
  struct prediction p = {top.size, 0, top.punctured};
  p.peak += 0.99619 * cbrt(top.variance * top.variance / curvature);
  p.peak += top.spread * curvature / 2 - 0.5 - top.overshoot / 2;
  struct expected last = expectation(mass, depth, 1), now;
  p.mean = depth;
  for (double t = 1.05; last.punctured < end + 0.5 && t < 1e6 * sigma; last = now, t *= 1.05) {
    now = expectation(mass, depth, t);
    double from = fmax(last.punctured, 1.5), to = fmin(now.punctured, end + 0.5);
    if (to > from && now.punctured > last.punctured)
      p.mean += (to - from) / (now.punctured - last.punctured) *
                ((now.punctured - last.punctured) * (now.size + last.size) / 2 -
                 (now.drift - last.drift) * (now.spread + last.spread) / 4);
  }
  p.mean /= end;
  return p;
}

/* Expected nodes per leaf if every leaf is free with probability r, independently:
 * r - sum over heights h >= 1 of 2^-h r^(2^h). */
static double density(double r)
{
  double sum = r, weight = 0.5, power = r * r;
  for (int h = 1; h < 64 && power > 0; h++, weight /= 2, power *= power)
    sum -= weight * power;
  return sum;
}

/* sigma large and 2^d/sigma large: everything is proportional to sigma and a function of s, after
 * s sigma draws.  At distance u sigma from the centre a leaf is free with probability
 * r = exp(-s phi(u)), and a node of height h with r^(2^h).  size and punctured are per sigma. */
static struct expected limit(double s)
{
  struct expected e = {0, 0, 0, 0, 0, 0};
  const double step = 2e-3;
  double rate = 0, mean = 0, square = 0;
  for (double u = step / 2; u < 9; u += step) {
    double phi = exp(-u * u / 2) / sqrt(2 * M_PI), power = exp(-s * phi);
    e.size += 2 * step * density(power);
    e.punctured += 2 * step * (1 - power);
    rate += phi * power;
    for (int h = 1; h < 40; h++) { /* 2^40 > sigma */
      power *= power;
      mean += phi * power;
      square += phi * power * (2 * h - 1);
    }
  }
  mean /= rate;
  e.drift = mean - 1;
  e.variance = square / rate - mean * mean;
  return e;
}

struct limits {
  double peak, excess, mean, at_peak; /* per sigma; excess per cube root of sigma */
};

static struct limits limit_constants(void)
{
  struct expected last = {0, 0, 0, 0, 0, 0};
  struct limits l = {0, 0, 0, 0};
  for (double s = 1e-3; last.punctured < RUN_SIGMAS; s *= 1.01) {
    struct expected e = limit(s);
    if (last.drift > 0 && e.drift <= 0) { /* the maximum is in between: size is flat there */
      double part = last.drift / (last.drift - e.drift);
      double curvature = (last.drift - e.drift) / (e.punctured - last.punctured);
      l.at_peak = last.punctured + part * (e.punctured - last.punctured);
      l.peak = last.size + part * (e.size - last.size) +
               curvature / 2 * (l.at_peak - last.punctured) * (e.punctured - l.at_peak);
      l.excess = 0.99619 * cbrt(e.variance * e.variance / curvature);
    }
    double to = fmin(e.punctured, RUN_SIGMAS);
    l.mean += (to - last.punctured) * (e.size + last.size) / 2 / RUN_SIGMAS;
    last = e;
  }
  return l;
}

/* --- statistics and output --- */

static void print_sample(const char *name, const double *v, unsigned n, double predicted)
{
  double mean = 0, var = 0, dof = n - 1.0, z = 1.959964;
  for (unsigned i = 0; i < n; i++)
    mean += v[i] / n;
  for (unsigned i = 0; i < n; i++)
    var += (v[i] - mean) * (v[i] - mean) / dof;
  double t = z + (z * z * z + z) / (4 * dof); /* Student's 97.5 % point, first-order expansion */
  printf("\"%s\": {\"mean\": %.6g, \"sd\": %.4g, \"ci95\": %.4g, \"predicted\": %.6g}", name, mean,
         sqrt(var), t * sqrt(var / n), predicted);
}

static long number(const char *arg, long min, long max)
{
  char *end;
  errno = 0;
  long v = strtol(arg, &end, 10);
  if (errno != 0 || *end != '\0' || end == arg || v < min || v > max) {
    fprintf(stderr, "coversize: '%s' is not a number in %ld..%ld\n", arg, min, max);
    exit(1);
  }
  return v;
}

int main(int argc, char **argv)
{
  unsigned runs = 100;
  long seed = 1;
  int i = 1, first = 1;
  for (; i + 1 < argc && strncmp(argv[i], "--", 2) == 0; i += 2)
    if (strcmp(argv[i], "--runs") == 0)
      runs = (unsigned)number(argv[i + 1], 2, 1000000);
    else if (strcmp(argv[i], "--seed") == 0)
      seed = number(argv[i + 1], 0, 1000000000);
    else
      break;
  if (i >= argc || argv[i][0] == '-') {
    fputs("usage: coversize [--runs N] [--seed N] DEPTH...\n", stderr);
    return 1;
  }
  struct limits lim = limit_constants();
  double uniform = 0, uniform_at = 0;
  for (double r = 0; r <= 1; r += 1e-4)
    if (density(r) > uniform) {
      uniform = density(r);
      uniform_at = 1 - r;
    }
  printf("{\"seed\": %ld, \"runs\": %u, \"run_sigmas\": %d,\n", seed, runs, RUN_SIGMAS);
  printf(" \"limit\": {\"peak_per_sigma\": %.5f, \"mean_per_sigma\": %.5f, "
         "\"punctured_per_sigma\": %.5f, \"excess\": %.4f, \"uniform_peak_per_leaf\": %.5f, "
         "\"uniform_punctured\": %.4f},\n \"rows\": [",
         lim.peak, lim.mean, lim.at_peak, lim.excess, uniform, uniform_at);
  for (; i < argc; i++) {
    const unsigned depth = (unsigned)number(argv[i], 10, 24);
    const uint64_t leaves = (uint64_t)1 << depth;
    uint64_t *hit = malloc((2 * leaves + 63) / 64 * sizeof *hit);
    double *mass = malloc(leaves * sizeof *mass);
    double *sample = malloc(3 * (size_t)runs * sizeof *sample);
    if (hit == NULL || mass == NULL || sample == NULL) {
      fputs("coversize: out of memory\n", stderr);
      return 4;
    }
    for (size_t k = 0; k < NDIVISORS; k++) {
      const double sigma = (double)leaves / divisors[k];
      for (unsigned n = 0; n < runs; n++) {
        uint64_t state = (uint64_t)seed << 32 | (uint64_t)depth << 24 | k << 16 | n;
        struct run r = simulate(hit, depth, sigma, &state);
        sample[n] = r.peak;
        sample[runs + n] = r.mean;
        sample[2 * runs + n] = r.at_peak / (double)leaves;
      }
      struct prediction p = predict(mass, depth, sigma);
      printf("%s\n  {\"depth\": %u, \"divisor\": %u, \"sigma\": %.6g, ", first ? "" : ",", depth,
             divisors[k], sigma);
      print_sample("peak", sample, runs, p.peak);
      printf(", ");
      print_sample("mean_size", sample + runs, runs, p.mean);
      printf(", ");
      print_sample("punctured", sample + 2 * runs, runs, p.at_peak / (double)leaves);
      printf("}");
      fflush(stdout);
      first = 0;
    }
    fprintf(stderr, "coversize: depth %u: %u runs at each of %zu values of sigma\n", depth, runs,
            NDIVISORS);
    free(hit);
    free(mass);
    free(sample);
  }
  printf("\n]}\n");
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** @file workload.h
 * Sequences of punctures, made from a fixed seed before any clock starts, and the key's number of
 * nodes after each of them (by arithmetic: |cover| = free leaves - free inner nodes). */
#ifndef PPRF_WORKLOAD_H
#define PPRF_WORKLOAD_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/** Puncture the leaves first..last. */
struct Op {
  uint32_t first, last;
};

struct Workload {
  std::string scenario;
  unsigned depth = 0;
  std::vector<Op> ops;
  size_t peak_ops = 0;   ///< operations done when the key first has the most nodes
  size_t peak_nodes = 0; ///< that number
};

/** Nodes of a key under punctures. */
class NodeCounter {
  unsigned depth_;
  int64_t size_ = 1;
  std::vector<uint64_t> hit_; // a bit per node, in heap order: the subtree holds a punctured leaf

public:
  explicit NodeCounter(unsigned depth);
  bool punctured(uint64_t leaf) const;
  void punct(uint64_t leaf); ///< no effect if it is punctured already
  size_t size() const { return static_cast<size_t>(size_); }
};

/** Scenarios:
 *   worst       every second leaf, ascending                        2^(d-1) operations
 *   descending  every second leaf, descending                       2^(d-1)
 *   best        all leaves, ascending                               2^d
 *   random      all leaves in random order                          2^d
 *   normal      leaves from N(2^d/2, 2^d/16), redrawn if outside or punctured    2^(d-2)
 *   tls         one ticket per leaf, issued in order; half are redeemed, after an exponential delay
 *                 with mean 2^d/16 tickets; those older than 2^d/4 expire, in ranges of 2^d/64
 *   ranges      2^(d/2) ranges at random places, of 1 .. 2^(d/2) leaves each
 *   sparse:P    2^d P leaves at random, P a fraction
 * `normal` also takes a parameter: normal:32 is sigma = 2^d/32.
 * An unknown name throws std::invalid_argument. */
Workload make_workload(const std::string &scenario, unsigned depth, uint64_t seed = 1);

#endif

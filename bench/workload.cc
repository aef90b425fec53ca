// SPDX-License-Identifier: Apache-2.0
#include "workload.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <unordered_set>

#include "../cli/impls/random.h"

NodeCounter::NodeCounter(unsigned depth) : depth_(depth), hit_(((UINT64_C(2) << depth) + 63) / 64)
{
}

bool NodeCounter::punctured(uint64_t leaf) const
{
  const uint64_t node = (UINT64_C(1) << depth_) + leaf;
  return hit_[node / 64] >> node % 64 & 1;
}

void NodeCounter::punct(uint64_t leaf)
{
  if (punctured(leaf))
    return;
  size_--;
  for (uint64_t node = (UINT64_C(1) << depth_) + leaf;;) {
    hit_[node / 64] |= UINT64_C(1) << node % 64;
    node /= 2;
    if (node == 0 || (hit_[node / 64] >> node % 64 & 1))
      break;
    size_++; // an inner node that was free is no longer free
  }
}

namespace {

// The same sequences on every machine: the C++ standard does not fix those of its distributions.
class Random {
  uint64_t state_;
  double spare_ = NAN;

public:
  explicit Random(uint64_t seed) : state_(seed) {}
  double unit() { return random_unit(&state_); }
  uint64_t below(uint64_t n) { return random_next(&state_) % n; } // n is far below 2^64
  double exponential(double mean) { return -mean * std::log1p(-unit()); }
  double normal() { return random_normal(&state_, &spare_); }
};

std::vector<Op> tls(uint32_t leaves, Random &random)
{
  struct Event {
    double time;
    Op op;
  };
  const double mean_delay = leaves / 16.0;
  const uint32_t lifetime = leaves / 4, step = std::max<uint32_t>(leaves / 64, 1);
  std::vector<Event> events;
  for (uint32_t ticket = 0; ticket < leaves; ticket++) {
    const bool redeemed = random.unit() < 0.5;
    const double delay = random.exponential(mean_delay);
    if (redeemed && delay < lifetime)
      events.push_back({ticket + delay, {ticket, ticket}});
  }
  for (uint32_t first = 0; first < leaves; first += step) // expires with its youngest ticket
    events.push_back({double(first) + step + lifetime, {first, first + step - 1}});
  std::sort(events.begin(), events.end(),
            [](const Event &a, const Event &b) { return a.time < b.time; });
  std::vector<Op> ops;
  std::transform(events.begin(), events.end(), std::back_inserter(ops),
                 [](const Event &e) { return e.op; });
  return ops;
}

} // namespace

Workload make_workload(const std::string &scenario, unsigned depth, uint64_t seed)
{
  const uint64_t leaves = UINT64_C(1) << depth;
  const size_t colon = scenario.find(':');
  const std::string kind = scenario.substr(0, colon);
  const double parameter = colon == std::string::npos ? 0 : std::stod(scenario.substr(colon + 1));
  Random random(seed);
  Workload w;
  w.scenario = scenario;
  w.depth = depth;
  auto add = [&w](uint64_t leaf) {
    w.ops.push_back({static_cast<uint32_t>(leaf), static_cast<uint32_t>(leaf)});
  };

  if (kind == "worst") {
    for (uint64_t x = 0; x < leaves; x += 2)
      add(x);
  } else if (kind == "descending") {
    for (uint64_t x = leaves; x > 0; x -= 2)
      add(x - 1);
  } else if (kind == "best") {
    for (uint64_t x = 0; x < leaves; x++)
      add(x);
  } else if (kind == "random") {
    for (uint64_t x = 0; x < leaves; x++)
      add(x);
    for (uint64_t i = leaves - 1; i > 0; i--)
      std::swap(w.ops[i], w.ops[random.below(i + 1)]);
  } else if (kind == "normal") {
    const double sigma = static_cast<double>(leaves) / (parameter > 0 ? parameter : 16);
    std::vector<bool> seen(leaves);
    while (w.ops.size() < std::min(static_cast<double>(leaves), 4 * sigma)) {
      const double x = std::floor(static_cast<double>(leaves) / 2 + sigma * random.normal());
      if (x < 0 || x >= static_cast<double>(leaves) || seen[static_cast<uint64_t>(x)])
        continue;
      seen[static_cast<uint64_t>(x)] = true;
      add(static_cast<uint64_t>(x));
    }
  } else if (kind == "tls") {
    w.ops = tls(static_cast<uint32_t>(leaves), random);
  } else if (kind == "ranges") {
    const uint64_t n = UINT64_C(1) << depth / 2;
    while (w.ops.size() < n) {
      const uint64_t first = random.below(leaves), last = first + random.below(n);
      if (last < leaves)
        w.ops.push_back({static_cast<uint32_t>(first), static_cast<uint32_t>(last)});
    }
  } else if (kind == "sparse") {
    std::unordered_set<uint64_t> seen;
    while (static_cast<double>(w.ops.size()) < parameter * static_cast<double>(leaves)) {
      const uint64_t x = random.below(leaves);
      if (seen.insert(x).second)
        add(x);
    }
  } else {
    throw std::invalid_argument("no scenario '" + scenario + "'");
  }

  if (kind != "sparse") { // its counter would need 2^(d+1) bits
    NodeCounter counter(depth);
    for (size_t i = 0; i < w.ops.size(); i++) {
      for (uint64_t x = w.ops[i].first; x <= w.ops[i].last; x++)
        counter.punct(x);
      if (counter.size() > w.peak_nodes) {
        w.peak_nodes = counter.size();
        w.peak_ops = i + 1;
      }
    }
  }
  return w;
}

// SPDX-License-Identifier: Apache-2.0
// One run in detail; CSV on stdout, progress on stderr.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "baselines.h"
#include "../cli/impls/list.h"
#include "../cli/impls/random.h"
#include "workload.h"

namespace {

const uint8_t root_seed[PPRF_SEED_BYTES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

double seconds(clockid_t clock)
{
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

const pprf_impl *find_impl(const std::string &name)
{
  for (const pprf_impl *impl :
       {&impl_list, &impl_list28, &impl_bst, &impl_array, &impl_ref, &impl_slots})
    if (name == impl->name)
      return impl;
  throw std::invalid_argument("no implementation '" + name + "'");
}

void check(int err, const char *what)
{
  if (err != PPRF_OK)
    throw std::runtime_error(std::string(what) + ": " + pprf_strerror(err));
}

struct Step {
  size_t nodes, bytes, effective;
  double eval_ns = 1e18, punct_ns = 1e18;
};

void run(const pprf_impl *impl, const std::string &scenario, unsigned depth)
{
  const Workload w = make_workload(scenario, depth);
  std::vector<Step> steps(w.ops.size());
  for (int repetition = 0; repetition < 5; repetition++) {
    pprf_key *key;
    check(impl->setup(&key, depth, root_seed), "setup");
    for (size_t i = 0; i < steps.size(); i++) {
      const uint64_t leaf = w.ops[i].first;
      uint8_t value[PPRF_SEED_BYTES];
      const double t0 = seconds(CLOCK_MONOTONIC);
      check(impl->eval(key, leaf, value), "eval");
      const double t1 = seconds(CLOCK_MONOTONIC);
      check(impl->punct(key, leaf), "punct");
      const double t2 = seconds(CLOCK_MONOTONIC);
      Step &s = steps[i];
      s.eval_ns = std::min(s.eval_ns, 1e9 * (t1 - t0));
      s.punct_ns = std::min(s.punct_ns, 1e9 * (t2 - t1));
      if (repetition == 0) {
        s.nodes = impl->node_count(key);
        s.bytes = impl->memory_bytes(key);
        s.effective = impl == &impl_list ? list_effective_bytes(key) : 0;
      }
    }
    impl->free(key);
  }
  puts("op,nodes,bytes,effective_bytes,eval_ns,punct_ns");
  for (size_t i = 0; i < steps.size(); i++)
    printf("%zu,%zu,%zu,%zu,%.0f,%.0f\n", i + 1, steps[i].nodes, steps[i].bytes, steps[i].effective,
           steps[i].eval_ns, steps[i].punct_ns);
  fprintf(stderr, "series: %s, %s, d = %u: %zu punctures\n", impl->name, scenario.c_str(), depth,
          steps.size());
}

double resident_bytes()
{
  double total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

double free_bytes()
{
  std::ifstream info("/proc/meminfo");
  std::string name, unit;
  for (double kilobytes; info >> name >> kilobytes >> unit;)
    if (name == "MemAvailable:")
      return 1024 * kilobytes;
  return 4e9;
}

void sparse(const pprf_impl *impl, unsigned depth, double fraction)
{
  const double leaves = static_cast<double>(UINT64_C(1) << depth);
  const double limit = std::min(12e9, free_bytes() / 2), resident_before = resident_bytes();
  uint64_t random = 1, done = 0;
  const double grid[] = {1, 2, 5};
  double power = 1e-8, time = 0;
  unsigned index = 0;
  pprf_key *key;
  check(impl->setup(&key, depth, root_seed), "setup");
  puts("depth,fraction,punctured,nodes,bytes,rss_bytes,cpu_seconds");
  for (const char *why = nullptr; why == nullptr;) {
    const double step = std::min(power * grid[index], fraction);
    const double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    while (static_cast<double>(done) < step * leaves && why == nullptr) {
      const int err = impl->punct(key, random_next(&random) >> (64 - depth));
      if (err == PPRF_ERR_PUNCTURED)
        continue;
      check(err, "punct");
      done++;
      if (done % 512 != 0)
        continue;
      if (resident_bytes() - resident_before > limit)
        why = "the memory limit";
      else if (time + seconds(CLOCK_THREAD_CPUTIME_ID) - begin > 60)
        why = "the time limit";
    }
    time += seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
    if (done >= 16)
      printf("%u,%.3e,%llu,%zu,%zu,%.0f,%.4f\n", depth, static_cast<double>(done) / leaves,
             static_cast<unsigned long long>(done), impl->node_count(key), impl->memory_bytes(key),
             resident_bytes() - resident_before, time);
    if (why == nullptr && step >= fraction * 0.999)
      why = "the end";
    if (why != nullptr)
      fprintf(stderr, "series: sparse, %s, d = %u: %s at a fraction of %.2g, %.0f bytes a node\n",
              impl->name, depth, why, static_cast<double>(done) / leaves,
              static_cast<double>(impl->memory_bytes(key)) /
                static_cast<double>(impl->node_count(key)));
    index = (index + 1) % 3;
    power *= index == 0 ? 10 : 1;
  }
  impl->free(key);
}

} // namespace

int main(int argc, char **argv)
{
  try {
    if (argc == 5 && strcmp(argv[1], "run") == 0)
      run(find_impl(argv[2]), argv[3], static_cast<unsigned>(std::stoul(argv[4])));
    else if (argc == 5 && strcmp(argv[1], "sparse") == 0)
      sparse(find_impl(argv[2]), static_cast<unsigned>(std::stoul(argv[3])), std::stod(argv[4]));
    else
      throw std::invalid_argument(
        "usage: series run IMPL SCENARIO DEPTH | series sparse IMPL DEPTH FRACTION");
  } catch (const std::exception &e) {
    std::cerr << "series: " << e.what() << "\n";
    return 1;
  }
  return 0;
}

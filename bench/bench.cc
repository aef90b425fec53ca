// SPDX-License-Identifier: Apache-2.0
// Google Benchmark of every implementation: BM_<Op>/<impl>/<scenario>/d:<depth>.
//
// Usage: bench --set=core|growth|quick [Google Benchmark's options]
//
// One repetition runs a whole scenario on a new key; the time reported is the mean of one
// operation.  The machine may be shared and its clock may change, so every repetition also times
// bare PRG calls between slices of the scenario and reports ratios to those; compare ratios, not
// times, between machines.  Counters:
//   prg_per_op      mean number of PRG calls of one operation
//   prg_ns          CPU time of one bare PRG call in this repetition
//   ratio           CPU time / (PRG calls x prg_ns): 1 means nothing but hashing
//   nodes           largest number of nodes during the scenario
//   bytes_per_node  memory_bytes / nodes at that moment
//   rss_per_node    growth of the process's resident memory / nodes at that moment (slots)
//   vs_eval_then_punct   time of eval_punct / time of eval followed by punct (EvalPunct)
//   max_ns, p99_ns, p50_ns   wall time of single operations (Latency); other processes disturb it
//   cpu_max_ns               the largest CPU time of one operation, reading the clock included
//   recurring_max_ns         the maximum over operations of the least wall time so far
//   recurring_at             that operation's place in the scenario
//   machine_max_ns           the largest wall time of a bare PRG call, of as many in a row
//   vs_single       single operations' time / this, in the same repetition (Batch, Expand)
//   vs_oneshot      EVP_Digest's time for one seed / this version's PRG call (Prg)
//
// Built twice: with the PRG, and with prg_none.c in its place (NO_HASHING), the cost without hashing.
#include <benchmark/benchmark.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "baselines.h"
#include "../cli/impls/list.h"
#include "workload.h"

extern "C" {
#include "prg.h"
}

namespace {

const uint8_t root_seed[PPRF_SEED_BYTES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

const std::vector<const pprf_impl *> impls = {&impl_list, &impl_list28, &impl_bst,  &impl_array,
                                              &impl_ref,  &impl_opt,    &impl_slots};

#ifdef NO_HASHING
const bool hashing = false;
#else
const bool hashing = true;
#endif

bool failed; // an operation returned a wrong result: discard the run

double seconds(clockid_t clock)
{
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

double cpu_seconds() // of this thread, so that time used by other processes does not count
{
  return seconds(CLOCK_THREAD_CPUTIME_ID);
}

constexpr pprf_family bare = {PRG_SHA3_256, 0, 0};

// CPU seconds of one bare PRG call in a chain of them.
double bare_prg(uint64_t calls)
{
  pprf_seed seed = {1, 2};
  const double begin = cpu_seconds();
  for (uint64_t i = 0; i < calls; i++) {
    const pprf_children c = prg_expand(bare, seed, 0, 1);
    seed = i % 2 ? c.left : c.right;
  }
  benchmark::DoNotOptimize(seed);
  return (cpu_seconds() - begin) / static_cast<double>(calls);
}

size_t resident_bytes()
{
  size_t total = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> total >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

struct KeyDeleter {
  const pprf_impl *impl;
  void operator()(pprf_key *key) const { impl->free(key); }
};
using KeyPtr = std::unique_ptr<pprf_key, KeyDeleter>;

KeyPtr new_key(const pprf_impl *impl, unsigned depth)
{
  pprf_key *key = nullptr;
  if (impl->setup(&key, depth, root_seed) != PPRF_OK)
    key = nullptr;
  return KeyPtr(key, {impl});
}

// The list has no range operation: the paper's interface punctures one leaf at a time.
int punct_range(const pprf_impl *impl, pprf_key *key, Op op)
{
  if (impl->punct_range != nullptr)
    return impl->punct_range(key, op.first, op.last);
  for (uint64_t x = op.first; x <= op.last; x++) {
    const int err = impl->punct(key, x);
    if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)
      return err;
  }
  return PPRF_OK;
}

using Step = bool (*)(const pprf_impl *, pprf_key *, Op); // false: wrong result

bool is_range(Op op)
{
  return op.first != op.last;
}

bool do_range(const pprf_impl *impl, pprf_key *key, Op op)
{
  const int err = punct_range(impl, key, op);
  return err == PPRF_OK || err == PPRF_ERR_PUNCTURED;
}

bool do_punct(const pprf_impl *impl, pprf_key *key, Op op)
{
  return is_range(op) ? do_range(impl, key, op) : impl->punct(key, op.first) == PPRF_OK;
}

bool do_eval_punct(const pprf_impl *impl, pprf_key *key, Op op)
{
  uint8_t value[PPRF_SEED_BYTES];
  if (is_range(op))
    return do_range(impl, key, op);
  const int err = impl->eval_punct(key, op.first, value);
  benchmark::DoNotOptimize(value);
  return err == PPRF_OK;
}

bool do_eval_then_punct(const pprf_impl *impl, pprf_key *key, Op op)
{
  uint8_t value[PPRF_SEED_BYTES];
  if (is_range(op))
    return do_range(impl, key, op);
  const int err = impl->eval(key, op.first, value);
  benchmark::DoNotOptimize(value);
  return err == PPRF_OK && impl->punct(key, op.first) == PPRF_OK;
}

// Stops benchmarks that grow with the depth before a repetition would exceed the time limit.
class Budget {
  struct Seen {
    unsigned depth = 0;
    double time = 0, growth = 4; // per level; the list needs n^2 steps for n leaves
  };
  std::map<std::string, Seen> seen_;

public:
  double predict(const std::string &what, unsigned depth) const
  {
    const auto it = seen_.find(what);
    if (it == seen_.end() || depth <= it->second.depth)
      return 0;
    return it->second.time * std::pow(it->second.growth, depth - it->second.depth);
  }

  void record(const std::string &what, unsigned depth, double time)
  {
    Seen &s = seen_[what];
    if (s.depth > 0 && depth > s.depth && s.time > 1e-3)
      s.growth = std::max(2.0, std::pow(time / s.time, 1.0 / (depth - s.depth)));
    s.time = depth == s.depth ? std::min(s.time, time) : time;
    s.depth = depth;
  }
};

Budget budget;
double limit_seconds = 2, slots_limit_seconds = 2;

const Workload &workload(const std::string &scenario, unsigned depth)
{
  static Workload last; // consecutive benchmarks share it
  if (last.scenario != scenario || last.depth != depth) {
    last = Workload(); // free before allocating
    last = make_workload(scenario, depth);
  }
  return last;
}

bool over_budget(benchmark::State &state, const pprf_impl *impl, const std::string &what,
                 unsigned depth)
{
  const double predicted = budget.predict(what, depth);
  if (predicted <= (impl == &impl_slots ? slots_limit_seconds : limit_seconds))
    return false;
  char text[80];
  snprintf(text, sizeof text, "left out: about %.0f s per repetition", predicted);
  state.SkipWithError(text);
  return true;
}

void fail(benchmark::State &state, const char *text)
{
  failed = true;
  state.SkipWithError(text);
}

// Run a scenario on a key, in slices; `compare`, if not null, runs the same slices on its own key.
void run_scenario(benchmark::State &state, const pprf_impl *impl, const std::string &op,
                  const std::string &scenario, unsigned depth, Step step, Step compare)
{
  const std::string what = op + "/" + impl->name + "/" + scenario;
  if (over_budget(state, impl, what, depth))
    return;
  const Workload &w = workload(scenario, depth);
  const size_t n = w.ops.size(), slice = std::max<size_t>(n / 12, std::min<size_t>(n, 32));
  double time = 0, compare_time = 0, prg_time = 0, rss = 0, bytes = 0;
  uint64_t calls = 0;
  const double begin_all = cpu_seconds();

  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(n))) {
    state.PauseTiming();
    const size_t rss_before = resident_bytes();
    KeyPtr key = new_key(impl, depth), other = compare ? new_key(impl, depth) : KeyPtr();
    if (!key || (compare && !other))
      return fail(state, "setup failed");
    for (size_t i = 0, end; i < n; i = end) {
      end = std::min(i + slice, n);
      if (i < w.peak_ops && end > w.peak_ops)
        end = w.peak_ops;
      bool good = true;
      const uint64_t calls_before = prg_calls();
      const double begin = cpu_seconds();
      state.ResumeTiming();
      for (size_t k = i; k < end; k++)
        good &= step(impl, key.get(), w.ops[k]);
      state.PauseTiming();
      time += cpu_seconds() - begin;
      const uint64_t slice_calls = prg_calls() - calls_before;
      calls += slice_calls;
      if (compare) {
        const double compare_begin = cpu_seconds();
        for (size_t k = i; k < end; k++)
          good &= compare(impl, other.get(), w.ops[k]);
        compare_time += cpu_seconds() - compare_begin;
      }
      if (!good)
        return fail(state, "an operation gave a wrong result");
      if (slice_calls > 0)
        prg_time +=
          static_cast<double>(slice_calls) * bare_prg(std::clamp<uint64_t>(slice_calls, 50, 20000));
      if (end == w.peak_ops && !compare) {
        if (impl->node_count(key.get()) != w.peak_nodes)
          return fail(state, "the number of nodes at the peak is wrong");
        bytes = static_cast<double>(impl->memory_bytes(key.get()));
        rss = static_cast<double>(resident_bytes()) - static_cast<double>(rss_before);
      }
    }
    key.reset();
    other.reset();
    state.ResumeTiming();
  }

  budget.record(what, depth, cpu_seconds() - begin_all);
  const auto nodes = static_cast<double>(w.peak_nodes);
  state.counters["prg_per_op"] = static_cast<double>(calls) / static_cast<double>(n);
  state.counters["nodes"] = nodes;
  if (bytes > 0)
    state.counters["bytes_per_node"] = bytes / nodes;
  if (impl == &impl_slots && bytes > 0)
    state.counters["rss_per_node"] = rss / nodes;
  if (hashing) {
    state.counters["prg_ns"] = 1e9 * prg_time / static_cast<double>(calls);
    state.counters["ratio"] = time / prg_time;
  }
  if (compare)
    state.counters["vs_eval_then_punct"] = time / compare_time;
}

// The key at the scenario's node peak.
KeyPtr key_at_peak(const pprf_impl *impl, const Workload &w)
{
  KeyPtr key = new_key(impl, w.depth);
  for (size_t i = 0; key && i < w.peak_ops; i++)
    if (!do_punct(impl, key.get(), w.ops[i]))
      key.reset();
  return key;
}

void run_eval(benchmark::State &state, const pprf_impl *impl, const std::string &scenario,
              unsigned depth)
{
  if (over_budget(state, impl, std::string("Eval/") + impl->name + "/" + scenario, depth))
    return;
  const double begin_all = cpu_seconds();
  const bool fresh = scenario == "fresh";
  const Workload &w = workload(fresh ? "random" : scenario, depth);
  KeyPtr key = fresh ? new_key(impl, depth) : key_at_peak(impl, w);
  if (!key)
    return fail(state, "the key could not be made");
  NodeCounter punctured(depth);
  for (size_t i = 0; !fresh && i < w.peak_ops; i++)
    for (uint64_t x = w.ops[i].first; x <= w.ops[i].last; x++)
      punctured.punct(x);
  std::vector<uint64_t> leaves; // live leaves, spread over the tree in no order
  const uint64_t stride = 0x9e3779b97f4a7c15u >> (64 - depth) | 1;
  for (uint64_t i = 0, x = 0; leaves.size() < 4096 && i < UINT64_C(1) << depth; i++) {
    x = (x + stride) & ((UINT64_C(1) << depth) - 1);
    if (!punctured.punctured(x))
      leaves.push_back(x);
  }
  const uint64_t calls_before = prg_calls();
  double time = 0;
  bool good = true;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(leaves.size()))) {
    uint8_t value[PPRF_SEED_BYTES];
    const double begin = cpu_seconds();
    for (uint64_t x : leaves) {
      good &= impl->eval(key.get(), x, value) == PPRF_OK;
      benchmark::DoNotOptimize(value);
    }
    time += cpu_seconds() - begin;
  }
  if (!good)
    return fail(state, "an evaluation failed");
  const auto calls = static_cast<double>(prg_calls() - calls_before);
  state.counters["prg_per_op"] = calls / static_cast<double>(leaves.size());
  state.counters["nodes"] = static_cast<double>(impl->node_count(key.get()));
  if (hashing && calls >= static_cast<double>(leaves.size()) / 2) {
    const double prg = bare_prg(4000);
    state.counters["prg_ns"] = 1e9 * prg;
    state.counters["ratio"] = time / (calls * prg);
  }
  budget.record(std::string("Eval/") + impl->name + "/" + scenario, depth,
                cpu_seconds() - begin_all);
}

void run_latency(benchmark::State &state, const pprf_impl *impl, const std::string &scenario,
                 unsigned depth, bool prefault)
{
  static std::map<std::string, std::vector<float>> least; // minimum over the repetitions
  const Workload &w = workload(scenario, depth);
  const size_t n = w.ops.size();
  std::vector<float> ns(n);
  double cpu_max = 0, machine_max = 0;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(n))) {
    state.PauseTiming();
    KeyPtr key = new_key(impl, depth);
    if (!key || (prefault && pprf_prefault(key.get()) != PPRF_OK))
      return fail(state, "setup failed");
    bool good = true;
    state.ResumeTiming();
    double before = seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < n; i++) {
      good &= impl->punct(key.get(), w.ops[i].first) == PPRF_OK;
      const double now = seconds(CLOCK_MONOTONIC);
      ns[i] = static_cast<float>(1e9 * (now - before));
      before = now;
    }
    state.PauseTiming();
    key = new_key(impl, depth); // again, measured with the thread's CPU clock
    good &= key && (!prefault || pprf_prefault(key.get()) == PPRF_OK);
    double cpu_before = cpu_seconds();
    for (size_t i = 0; key && i < n; i++) {
      good &= impl->punct(key.get(), w.ops[i].first) == PPRF_OK;
      const double now = cpu_seconds();
      cpu_max = std::max(cpu_max, now - cpu_before);
      cpu_before = now;
    }
    if (!good || !key)
      return fail(state, "a puncture failed");
    key.reset();
    pprf_seed seed = {0, 0}; // disturbances of a loop that accesses no memory
    before = seconds(CLOCK_MONOTONIC);
    for (size_t i = 0; i < n; i++) {
      seed = prg_expand(bare, seed, 0, 1).left;
      const double now = seconds(CLOCK_MONOTONIC);
      machine_max = std::max(machine_max, now - before);
      before = now;
    }
    benchmark::DoNotOptimize(seed);
    state.ResumeTiming();
  }
  state.counters["cpu_max_ns"] = 1e9 * cpu_max;
  state.counters["machine_max_ns"] = 1e9 * machine_max;
  std::vector<float> &best =
    least[impl->name + (scenario + std::to_string(depth)) + (prefault ? "p" : "")];
  if (best.empty())
    best = ns;
  for (size_t i = 0; i < n; i++)
    best[i] = std::min(best[i], ns[i]);
  const auto recurring = std::max_element(best.begin(), best.end());
  state.counters["recurring_max_ns"] = *recurring;
  state.counters["recurring_at"] = static_cast<double>(recurring - best.begin());
  std::sort(ns.begin(), ns.end());
  state.counters["max_ns"] = ns[n - 1];
  state.counters["p99_ns"] = ns[n * 99 / 100];
  state.counters["p50_ns"] = ns[n / 2];
}

void run_setup(benchmark::State &state, const pprf_impl *impl, unsigned depth)
{
  const int n = 200;
  while (state.KeepRunningBatch(n))
    for (int i = 0; i < n; i++)
      if (!new_key(impl, depth))
        return fail(state, "setup failed");
}

void run_export(benchmark::State &state, const pprf_impl *impl, const std::string &scenario,
                unsigned depth, bool import)
{
  const int n = 8;
  KeyPtr key = key_at_peak(impl, workload(scenario, depth));
  size_t len = 0;
  if (!key || impl->export_key(key.get(), nullptr, &len) != PPRF_OK)
    return fail(state, "the key could not be made");
  std::vector<uint8_t> file(len);
  bool good = impl->export_key(key.get(), file.data(), &len) == PPRF_OK;
  while (state.KeepRunningBatch(n))
    for (int i = 0; i < n; i++) {
      if (import) {
        pprf_key *copy = nullptr;
        good &= impl->import_key(&copy, file.data(), len) == PPRF_OK;
        impl->free(copy);
      } else {
        good &= impl->export_key(key.get(), file.data(), &len) == PPRF_OK;
        benchmark::DoNotOptimize(file.data());
      }
    }
  if (!good)
    return fail(state, "export or import failed");
  const auto nodes = static_cast<double>(impl->node_count(key.get()));
  state.counters["nodes"] = nodes;
  state.counters["file_bytes_per_node"] = static_cast<double>(len) / nodes;
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * static_cast<int64_t>(len));
}

// The middle third of the leaves is made a key of its own.
void run_delegate(benchmark::State &state, const pprf_impl *impl, const std::string &scenario,
                  unsigned depth)
{
  const int n = 8;
  const bool fresh = scenario == "fresh";
  KeyPtr key = fresh ? new_key(impl, depth) : key_at_peak(impl, workload(scenario, depth));
  const uint64_t leaves = UINT64_C(1) << depth, first = leaves / 3 | 1, last = 2 * (leaves / 3);
  if (!key)
    return fail(state, "the key could not be made");
  KeyPtr part(nullptr, {impl});
  bool good = true;
  uint64_t calls = 0, delegations = 0;
  while (state.KeepRunningBatch(n))
    for (int i = 0; i < n; i++) {
      pprf_key *sub = nullptr;
      const uint64_t before = prg_calls();
      good &= impl->delegate(key.get(), first, last, &sub) == PPRF_OK;
      calls += prg_calls() - before;
      delegations++;
      part.reset(sub);
    }
  uint8_t value[PPRF_SEED_BYTES], same[PPRF_SEED_BYTES];
  good = good && impl->eval(key.get(), first, value) == PPRF_OK && // odd, so live in the worst case
         impl->eval(part.get(), first, same) == PPRF_OK && memcmp(value, same, sizeof same) == 0 &&
         impl->eval(part.get(), first - 2, value) == PPRF_ERR_PUNCTURED &&
         impl->eval(part.get(), last + 1, value) == PPRF_ERR_PUNCTURED;
  if (!good)
    return fail(state, "the delegated key is wrong");
  state.counters["prg_per_op"] = static_cast<double>(calls) / static_cast<double>(delegations);
  state.counters["nodes"] = static_cast<double>(impl->node_count(part.get()));
}

// One version of the PRG and libcrypto's one-shot call, alternating.
void run_prg(benchmark::State &state, const char *version)
{
  const std::string before = pprf_prg_name();
  if (pprf_prg_select(version) != PPRF_OK)
    return state.SkipWithError("this processor does not support it");
  const int n = 20000, turns = 10;
  double own = 0, oneshot = 0;
  while (state.KeepRunningBatch(n))
    for (int turn = 0; turn < turns; turn++) {
      own += bare_prg(n / turns);
      state.PauseTiming();
      uint8_t seed[PPRF_SEED_BYTES] = {0}, digest[DIGEST_BYTES];
      const double begin = cpu_seconds();
      for (int i = 0; i < n / turns; i++) {
        EVP_Digest(seed, sizeof seed, digest, nullptr, EVP_sha3_256(), nullptr);
        memcpy(seed, digest, sizeof seed);
      }
      oneshot += (cpu_seconds() - begin) / (n / turns);
      state.ResumeTiming();
    }
  state.counters["prg_ns"] = 1e9 * own / turns;
  state.counters["vs_oneshot"] = oneshot / own;
  pprf_prg_select(before.c_str());
}

// Batches of evaluations at leaves spread over an unpunctured key, compared with single
// evaluations.
void run_batch(benchmark::State &state, unsigned depth, size_t batch)
{
  const size_t n = 4096;
  KeyPtr key = new_key(&impl_opt, depth);
  std::vector<uint64_t> leaves(n);
  for (size_t i = 0; i < n; i++)
    leaves[i] = (i * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - depth);
  std::vector<uint8_t> values(n * PPRF_SEED_BYTES), single(values.size());
  double time = 0, single_time = 0;
  bool good = key != nullptr;
  while (good && state.KeepRunningBatch(n))
    for (size_t i = 0; i < n; i += 512) {
      double begin = cpu_seconds();
      for (size_t k = i; k < i + 512; k += batch)
        good &= pprf_eval_batch(key.get(), &leaves[k], batch, &values[k * PPRF_SEED_BYTES],
                                nullptr) == PPRF_OK;
      time += cpu_seconds() - begin;
      state.PauseTiming();
      begin = cpu_seconds();
      for (size_t k = i; k < i + 512; k++)
        good &= pprf_eval(key.get(), leaves[k], &single[k * PPRF_SEED_BYTES]) == PPRF_OK;
      single_time += cpu_seconds() - begin;
      state.ResumeTiming();
    }
  if (!good || values != single)
    return fail(state, "a batch gave a wrong result");
  state.counters["vs_single"] = single_time / time;
}

// All leaves below a node, one PRG call after another, as a simple program would compute them.
void expand_single(pprf_seed seed, unsigned height, uint64_t &sum)
{
  if (height == 0) {
    sum += seed.lo;
    return;
  }
  const pprf_children c = prg_expand(bare, seed, 0, height);
  expand_single(c.left, height - 1, sum);
  expand_single(c.right, height - 1, sum);
}

int sum_values(void *arg, uint64_t, size_t n, const uint8_t *values)
{
  for (size_t i = 0; i < n; i++) {
    uint64_t lo;
    memcpy(&lo, values + i * PPRF_SEED_BYTES, sizeof lo);
    *static_cast<uint64_t *>(arg) += lo;
  }
  return 0;
}

void run_expand(benchmark::State &state, unsigned depth)
{
  KeyPtr key = new_key(&impl_opt, depth);
  pprf_seed root;
  memcpy(&root, root_seed, sizeof root);
  double time = 0, single_time = 0;
  const uint64_t n = UINT64_C(1) << depth;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(n))) {
    uint64_t sum = 0, single = 0;
    double begin = cpu_seconds();
    const int err = pprf_expand(key.get(), 0, n - 1, sum_values, &sum);
    time += cpu_seconds() - begin;
    state.PauseTiming();
    begin = cpu_seconds();
    expand_single(root, depth, single);
    single_time += cpu_seconds() - begin;
    state.ResumeTiming();
    if (err != PPRF_OK || sum != single)
      return fail(state, "the expansion gave a wrong result");
  }
  state.counters["vs_single"] = single_time / time;
}

using Run = std::function<void(benchmark::State &)>;

void add(const std::string &op, const std::string &impl, const std::string &scenario,
         unsigned depth, const Run &run)
{
  benchmark::RegisterBenchmark(
    ("BM_" + op + "/" + impl + "/" + scenario + "/d:" + std::to_string(depth)).c_str(), run);
}

void add_scenario(const std::string &op, const std::string &scenario,
                  const std::vector<unsigned> &depths, Step step, Step compare = nullptr)
{
  for (unsigned depth : depths)
    for (const pprf_impl *impl : impls)
      add(op, impl->name, scenario, depth, [=](benchmark::State &state) {
        run_scenario(state, impl, op, scenario, depth, step, compare);
      });
}

void add_eval(const std::string &scenario, const std::vector<unsigned> &depths)
{
  for (unsigned depth : depths)
    for (const pprf_impl *impl : impls)
      add("Eval", impl->name, scenario, depth,
          [=](benchmark::State &state) { run_eval(state, impl, scenario, depth); });
}

void register_core(bool quick)
{
  using Depths = std::vector<unsigned>;
  add_scenario("Punct", "worst", {9, 10, 11, 12, 13, 14, 15, 16}, do_punct);
  add_scenario("Punct", "random", quick ? Depths{14, 16} : Depths{12, 14, 16, 18, 21}, do_punct);
  if (!hashing)
    return;
  for (const char *version : {"evp", "scalar", "avx2", "avx512"})
    add("Prg", version, "chain", 1, [=](benchmark::State &state) { run_prg(state, version); });
  for (size_t batch : {4, 8, 512})
    add("Batch", "opt", "n" + std::to_string(batch), 15,
        [=](benchmark::State &state) { run_batch(state, 15, batch); });
  add("Expand", "opt", "all", 20, [](benchmark::State &state) { run_expand(state, 20); });
  for (unsigned depth : quick ? Depths{16, 32} : Depths{10, 16, 20, 24, 30, 32})
    for (const pprf_impl *impl : impls)
      if (depth <= BASELINE_DEPTH_MAX || impl == &impl_ref || impl == &impl_opt ||
          impl == &impl_slots)
        add("Setup", impl->name, "fresh", depth,
            [=](benchmark::State &state) { run_setup(state, impl, depth); });
  add_scenario("Punct", "descending", quick ? Depths{14} : Depths{13, 15}, do_punct);
  add_scenario("Punct", "best", quick ? Depths{14} : Depths{9, 10, 11, 12, 13, 14, 15}, do_punct);
  add_scenario("Punct", "normal", quick ? Depths{14} : Depths{13, 16}, do_punct);
  add_scenario("EvalPunct", "tls", quick ? Depths{14} : Depths{14, 16, 20}, do_eval_punct);
  add_scenario("EvalPunct", "random", quick ? Depths{14} : Depths{14, 16}, do_eval_punct,
               do_eval_then_punct);
  add_scenario("Range", "ranges", quick ? Depths{14} : Depths{14, 16, 20}, do_range);
  for (const char *scenario : {"fresh", "worst", "random"})
    add_eval(scenario, quick ? Depths{15} : Depths{11, 13, 15, 18});
  for (unsigned depth : quick ? Depths{16} : Depths{16, 20}) {
    for (const pprf_impl *impl : {&impl_ref, &impl_opt, &impl_slots})
      for (bool import : {false, true})
        add(import ? "Import" : "Export", impl->name, "worst", depth,
            [=](benchmark::State &state) { run_export(state, impl, "worst", depth, import); });
    for (const pprf_impl *impl : {&impl_ref, &impl_opt, &impl_slots})
      for (const char *scenario : {"fresh", "worst"})
        add("Delegate", impl->name, scenario, depth,
            [=](benchmark::State &state) { run_delegate(state, impl, scenario, depth); });
    for (bool prefault : {false, true})
      add("Latency", "opt", prefault ? "prefault" : "random", depth, [=](benchmark::State &state) {
        // only pair slots are prefaulted
        run_latency(state, prefault ? &impl_slots : &impl_opt, "random", depth, prefault);
      });
  }
}

void register_growth()
{
  std::vector<unsigned> depths(24 - 10 + 1);
  std::iota(depths.begin(), depths.end(), 10u);
  add_scenario("Punct", "worst", depths, do_punct);
  add_scenario("Punct", "random", depths, do_punct);
  limit_seconds = 3;
  slots_limit_seconds = 40;
}

// Why a run has no figures, or NULL. (Google Benchmark 1.8 renamed the two fields.)
template <class Run> auto not_measured(const Run &run) -> decltype(run.error_message.c_str())
{
  return run.error_occurred ? run.error_message.c_str() : nullptr;
}
template <class Run> auto not_measured(const Run &run) -> decltype(run.skip_message.c_str())
{
  return run.skipped ? run.skip_message.c_str() : nullptr;
}

// Prints a line per benchmark, as progress. (The JSON file has every repetition.)
class Lines : public benchmark::BenchmarkReporter {
  static double counter(const Run &run, const char *name)
  {
    const auto it = run.counters.find(name);
    return it == run.counters.end() ? 0 : it->second.value;
  }

public:
  bool ReportContext(const Context &) override
  {
    printf("%-34s %14s %8s %8s %9s\n", "median of the repetitions", "CPU ns/op", "PRG/op",
           "time/PRG", "B/node");
    return true;
  }

  void ReportRuns(const std::vector<Run> &runs) override
  {
    for (const Run &run : runs) {
      const std::string name = run.run_name.str();
      if (const char *why = not_measured(run)) {
        printf("%-34s %s\n", name.c_str(), why);
        break; // the other repetitions have the same error
      }
      if (run.aggregate_name != "median")
        continue;
      printf("%-34s %14.1f", name.c_str(), run.GetAdjustedCPUTime());
      for (const auto &[key, digits] :
           {std::pair{"prg_per_op", 2}, {"ratio", 3}, {"bytes_per_node", 2}})
        if (const double value = counter(run, key); value >= 0.01 && value < 1e5)
          printf(" %8.*f", digits, value);
        else
          printf(" %8s", "-");
      printf("\n");
    }
    fflush(stdout);
  }
};

std::string cpu_model()
{
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.compare(0, 10, "model name") == 0)
      return line.substr(line.find(':') + 2);
  return "unknown";
}

} // namespace

int main(int argc, char **argv)
{
  std::string set = "core";
  std::vector<char *> args(argv, argv + argc);
  if (args.size() > 1 && strncmp(args[1], "--set=", 6) == 0) {
    set = args[1] + 6;
    args.erase(args.begin() + 1);
  }
  pprf_prg_name(); // chooses the PRG's version, which determines the cost of a wipe
  // One batch per repetition: a batch is a whole scenario.
  std::string once = "--benchmark_min_time=0";
  std::string reps = "--benchmark_repetitions=" + std::to_string(set == "core" ? 5 : 3);
  std::string show = "--benchmark_display_aggregates_only=true";
  args.insert(args.begin() + 1, {&once[0], &reps[0], &show[0]});
  if (set == "growth") {
    register_growth();
  } else if (set == "core" || set == "quick") {
    register_core(set == "quick");
    limit_seconds = set == "quick" ? 1 : 3;
    slots_limit_seconds = set == "quick" ? 1 : 6;
  } else {
    fprintf(stderr, "bench: no set '%s' (core, growth, quick)\n", set.c_str());
    return 1;
  }

  utsname kernel;
  uname(&kernel);
  benchmark::AddCustomContext("cpu_model", cpu_model());
  benchmark::AddCustomContext("kernel", std::string(kernel.sysname) + " " + kernel.release);
#if defined(__clang__)
  benchmark::AddCustomContext("compiler", "clang " __clang_version__);
#else
  benchmark::AddCustomContext("compiler", "gcc " __VERSION__);
#endif
  benchmark::AddCustomContext("openssl", OpenSSL_version(OPENSSL_VERSION));
  benchmark::AddCustomContext("set", set);

  int n = static_cast<int>(args.size());
  benchmark::Initialize(&n, args.data());
  if (benchmark::ReportUnrecognizedArguments(n, args.data()))
    return 1;
  Lines lines;
  benchmark::RunSpecifiedBenchmarks(&lines);
  benchmark::Shutdown();
  if (failed)
    fputs("bench: an implementation gave wrong results, see above\n", stderr);
  return failed ? 4 : 0;
}

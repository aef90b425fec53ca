// SPDX-License-Identifier: Apache-2.0
// What is compared must compute the same: every implementation and baseline gives the same values,
// node for node, and the scenarios are what they claim to be. TAP.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "baselines.h"
#include "../cli/impls/list.h"
#include "../tools/tap.h"
#include "workload.h"

namespace {

void ok(bool good, const std::string &name)
{
  tap_ok(good, "%s", name.c_str());
}

const uint8_t root_seed[PPRF_SEED_BYTES] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// All leaves' values after each of several stages of a scenario, with node counts in between.
bool record(const pprf_impl *impl, const Workload &w, std::vector<uint8_t> *values)
{
  pprf_key *key;
  if (impl->setup(&key, w.depth, root_seed) != PPRF_OK)
    return false;
  NodeCounter counter(w.depth);
  bool good = true;
  for (size_t i = 0; i < w.ops.size(); i++) {
    uint8_t out[PPRF_SEED_BYTES] = {0};
    for (uint64_t x = w.ops[i].first; x <= w.ops[i].last; x++) {
      const bool was = counter.punctured(x);
      const int want = was ? PPRF_ERR_PUNCTURED : PPRF_OK;
      if (i % 2)
        good &= impl->punct(key, x) == want;
      else
        good &= impl->eval_punct(key, x, out) == want;
      values->insert(values->end(), out, out + (was ? 0 : sizeof out));
      counter.punct(x);
    }
    good &= impl->node_count(key) == counter.size();
    if (i % 37 == 0)
      for (uint64_t x = 0; x < UINT64_C(1) << w.depth; x++) {
        good &= impl->eval(key, x, out) == (counter.punctured(x) ? PPRF_ERR_PUNCTURED : PPRF_OK);
        if (!counter.punctured(x))
          values->insert(values->end(), out, out + sizeof out);
      }
  }
  impl->free(key);
  return good;
}

// At depths beyond the other baselines, the two with wide ids agree with each other.
void deep()
{
  const unsigned d = WIDE_DEPTH_MAX;
  const pprf_impl *two[] = {&impl_btree, &impl_hash};
  pprf_key *key[2];
  bool good = true;
  for (int k = 0; k < 2; k++)
    good &= two[k]->setup(&key[k], d, root_seed) == PPRF_OK;
  uint64_t leaf = 1, last = (UINT64_C(1) << d) - 1;
  for (int i = 0; i < 500 && good; i++, leaf = leaf * 6364136223846793005u + 1442695040888963407u) {
    uint8_t out[2][PPRF_SEED_BYTES];
    const uint64_t x = i == 0 ? 0 : i == 1 ? last : leaf & last;
    for (int k = 0; k < 2; k++)
      good &= two[k]->eval_punct(key[k], x, out[k]) == PPRF_OK &&
              two[k]->punct(key[k], x) == PPRF_ERR_PUNCTURED;
    good &= memcmp(out[0], out[1], sizeof out[0]) == 0;
    good &= two[0]->node_count(key[0]) == two[1]->node_count(key[1]);
  }
  for (uint64_t x : {UINT64_C(2), last - 2, last / 2}) {
    uint8_t out[2][PPRF_SEED_BYTES];
    good &= two[0]->eval(key[0], x, out[0]) == PPRF_OK &&
            two[1]->eval(key[1], x, out[1]) == PPRF_OK &&
            memcmp(out[0], out[1], sizeof out[0]) == 0;
  }
  for (int k = 0; k < 2; k++)
    two[k]->free(key[k]);
  ok(good, "the baselines with wide ids agree at depth 63");
}

} // namespace

int main()
{
  for (const char *scenario :
       {"worst", "descending", "best", "random", "normal", "tls", "ranges", "sparse:0.05"}) {
    const Workload w = make_workload(scenario, 8);
    std::vector<uint8_t> reference;
    ok(record(&impl_ref, w, &reference) && !reference.empty(), std::string("ref runs ") + scenario);
    for (const pprf_impl *impl : {&impl_list, &impl_list28, &impl_bst, &impl_array, &impl_btree,
                                  &impl_hash, &impl_opt, &impl_slots}) {
      std::vector<uint8_t> values;
      ok(record(impl, w, &values) && values == reference,
         std::string(impl->name) + " computes what ref computes: " + scenario);
    }
  }
  deep();
  for (unsigned d : {4u, 11u}) {
    const std::string at = ", d = " + std::to_string(d);
    const size_t leaves = size_t(1) << d;
    const Workload worst = make_workload("worst", d), best = make_workload("best", d),
                   random = make_workload("random", d), tls = make_workload("tls", d);
    ok(worst.peak_nodes == leaves / 2 && worst.peak_ops > leaves / 4,
       "the worst case peaks at 2^(d-1) nodes, towards its end" + at);
    ok(best.peak_nodes == d && best.peak_ops == 1, "the best case peaks at d nodes, at once" + at);
    std::vector<bool> seen(leaves);
    for (Op op : random.ops)
      seen[op.first] = true;
    bool all = random.ops.size() == leaves;
    for (size_t x = 0; x < leaves; x++)
      all &= seen[x];
    ok(all, "random order is a permutation of the leaves" + at);
    NodeCounter counter(d);
    for (Op op : tls.ops)
      for (uint64_t x = op.first; x <= op.last; x++)
        counter.punct(x);
    ok(counter.size() == 0, "in the end every ticket is redeemed or expired" + at);
  }
  return tap_end();
}

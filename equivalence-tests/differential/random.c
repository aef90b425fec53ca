/* SPDX-License-Identifier: Apache-2.0 */
/* Random operation sequences on ref, opt and the model, at every depth. The environment's SEED
 * repeats a run, DEPTH selects one depth; --full runs longer. Under the name `three-way` it also
 * compares with build/oracle, the extracted Coq model. */
#include <inttypes.h>

#include "impls.h"
#include "ops.h"
#include "oracle.h"
#include "../../tools/tap.h"

int main(int argc, char **argv)
{
  static uint8_t bytes[8192];
  int full = tap_full(argc, argv);
  uint64_t seed = tap_seed(), state = seed, sequences = 0, ops = 0, faults = 0;
  size_t peak = 0;
  /* toy sequences per depth, sha3 sequences per depth */
  const char *name = strrchr(argv[0], '/'), *only = getenv("DEPTH");
  int oracle = strcmp(name == NULL ? argv[0] : name + 1, "three-way") == 0;
  unsigned toy = full ? 1500 : 110, sha3 = full ? 120 : 10;
  if (oracle) {
    oracle_start("build/oracle");
    toy = full ? 300 : 40;
    sha3 = full ? 40 : 5;
  }
  tap_note("seed=0x%" PRIx64 " (SEED=0x%" PRIx64 " repeats this run)", seed, seed);
  for (unsigned depth = PPRF_DEPTH_MIN; depth <= PPRF_DEPTH_MAX; depth++) {
    int ok = 1, skip = too_deep(&impl_slots, depth);
    if (only != NULL && strtoul(only, NULL, 10) != depth)
      continue;
    for (unsigned i = 0; i < toy + sha3 && ok && !skip; i++) {
      uint64_t start = state;
      /* many short sequences, a few long ones */
      unsigned count = 1u << (2 + tap_random(&state) % 6);
      size_t len = ops_random(&state, depth, i < toy, count, bytes, sizeof bytes);
      struct ops_result result;
      ops_run(bytes, len, &result, NULL);
      sequences++;
      ops += result.ops;
      faults += result.faults;
      peak = result.peak_nodes > peak ? result.peak_nodes : peak;
      if (result.failed) {
        ok = 0;
        if (tap_stop())
          exit(1);
        ops_explain(bytes, len, start);
      }
      tap_progress("random sequences", sequences, (uint64_t)PPRF_DEPTH_MAX * (toy + sha3));
    }
    tap_ok(ok, "ref_opt_and_%s_agree_at_depth_%u%s", oracle ? "the_coq_model" : "model", depth,
           skip ? " # SKIP a key of opt exceeds the address space" : "");
  }
  tap_note("%" PRIu64 " sequences, %" PRIu64 " operations, %" PRIu64
           " PRG failures, peak %zu nodes",
           sequences, ops, faults, peak);
  return tap_end();
}

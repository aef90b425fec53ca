/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each implementation: IMPL is the variable's name, IMPL_NAME the string. */
#include "impl.h"

const struct pprf_impl IMPL = {
  .name = IMPL_NAME,
  .setup = pprf_setup,
  .setup_with = pprf_setup_with,
  .eval = pprf_eval,
  .punct = pprf_punct,
  .eval_punct = pprf_eval_punct,
  .punct_range = pprf_punct_range,
  .delegate = pprf_delegate,
  .node_count = pprf_node_count,
  .memory_bytes = pprf_memory_bytes,
  .memory_locked = pprf_memory_locked,
  .depth = pprf_depth,
  .suite = pprf_suite,
  .value_bytes = pprf_value_bytes,
  .export_key = pprf_export,
  .import_key = pprf_import,
  .import_with = pprf_import_with,
  .free = pprf_free,
};

/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled once for each implementation: IMPL is the variable's name, IMPL_NAME the string. */
#include "impl.h"

const struct pprf_impl IMPL = {
  .name = IMPL_NAME,
  .setup = pprf_setup,
  .setup_with = pprf_setup_with,
  .import_key = pprf_import,
  PPRF_IMPL_MEMBERS,
};

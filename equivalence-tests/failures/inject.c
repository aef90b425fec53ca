/* SPDX-License-Identifier: Apache-2.0 */
#include "inject.h"

#include "pprf.h"
#include "prg.h"
#include "store.h"

long inject_expands = -1;
void (*inject_half)(void);

struct pprf_children __real_prg_expand(struct pprf_family family, struct pprf_seed s,
                                       uint64_t start, unsigned height);
struct pprf_children __wrap_prg_expand(struct pprf_family family, struct pprf_seed s,
                                       uint64_t start, unsigned height);
struct pprf_children __wrap_prg_expand(struct pprf_family family, struct pprf_seed s,
                                       uint64_t start, unsigned height)
{
  if (inject_expands == 0)
    return (struct pprf_children){.err = PPRF_ERR_CRYPTO};
  inject_expands -= inject_expands > 0;
  return __real_prg_expand(family, s, start, height);
}

int __real_opt_descend(struct pprf_family family, struct pprf_seed s, uint64_t leaf,
                       unsigned height, struct pprf_seed *copath, struct pprf_seed *value);
int __wrap_opt_descend(struct pprf_family family, struct pprf_seed s, uint64_t leaf,
                       unsigned height, struct pprf_seed *copath, struct pprf_seed *value);

/* A walk that may fail proceeds node by node. */
int __wrap_opt_descend(struct pprf_family family, struct pprf_seed s, uint64_t leaf,
                       unsigned height, struct pprf_seed *copath, struct pprf_seed *value)
{
  if (inject_expands >= 0)
    return 0;
  return __real_opt_descend(family, s, leaf, height, copath, value);
}

void __real_opt_slots_puncture(struct opt_slots *s, uint64_t leaf, struct opt_node node,
                               const struct pprf_seed *copath);
void __wrap_opt_slots_puncture(struct opt_slots *s, uint64_t leaf, struct opt_node node,
                               const struct pprf_seed *copath);
void __wrap_opt_slots_puncture(struct opt_slots *s, uint64_t leaf, struct opt_node node,
                               const struct pprf_seed *copath)
{
  if (inject_half != NULL) {
    struct pprf_seed half[PPRF_SLOTS_DEPTH_MAX];
    for (unsigned i = 0; i < node.height; i++)
      half[i] = i % 2 ? copath[i] : (struct pprf_seed){~copath[i].lo, copath[i].hi};
    __real_opt_slots_puncture(s, leaf, node, half);
    inject_half();
  }
  __real_opt_slots_puncture(s, leaf, node, copath);
}

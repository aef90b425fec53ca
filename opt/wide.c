/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with 32-byte seeds: the sources for 16-byte seeds, compiled a second time.
 *
 * Only load_seed and store_seed (key.h) depend on a seed's width: all other code assigns seeds, or
 * uses sizeof and PPRF_SEED_BYTES.  So here struct pprf_seed is that of prg/wide.h, and every name
 * that depends on the seed's width is renamed.  The bitmap, the arena and the sizes of levels do
 * not, and are shared. */
#include "wide_key.h"

#include "packed/arena.h"
#include "slots/bitmap.h"
#include "common/fork.h"
#include "lanes.h"
#include "common/options.h"
#include "path.h"
#include "wide.h"

/* `(struct pprf_seed){0, 0}` is zero for either width. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define PPRF_WIDE
#undef PPRF_IF_WIDE
#define PPRF_IF_WIDE(key, ...) /* every key here is wide */
#undef PPRF_SEED_BYTES
#define PPRF_SEED_BYTES PRG_WIDE_BYTES

/* prg.h and lanes.h, which the wide suite has variants of; it has no walk in one function */
#define pprf_seed pprf_wide_seed
#define pprf_children pprf_wide_children
#define prg_expand prg_expand_wide
#define prg_random prg_random_wide
#define opt_step opt_wide_step
#define opt_expand_many opt_expand_many_wide
#define opt_descend(...) 0

/* pprf.h and shared.h */
#define pprf_key pprf_wide_key
#define pprf_eval opt_wide_key_eval
#define pprf_punct opt_wide_key_punct
#define pprf_eval_punct opt_wide_key_eval_punct
#define pprf_punct_range opt_wide_key_punct_range
#define pprf_delegate opt_wide_key_delegate
#define pprf_eval_batch opt_wide_key_eval_batch
#define pprf_punct_batch opt_wide_key_punct_batch
#define pprf_expand opt_wide_key_expand
#define pprf_prefault opt_wide_key_prefault
#define pprf_node_count opt_wide_key_node_count
#define pprf_memory_bytes opt_wide_key_memory_bytes
#define pprf_depth opt_wide_key_depth
#define pprf_suite opt_wide_key_suite
#define pprf_value_bytes opt_wide_key_value_bytes
#define pprf_memory_locked opt_wide_key_memory_locked
#define pprf_export opt_wide_key_export
#define pprf_free opt_wide_key_free
#define opt_shared_new opt_wide_shared_new
#define opt_shared_start opt_wide_shared_start
#define opt_shared_clear opt_wide_shared_clear
#define opt_shared_free opt_wide_shared_free

/* the stores */
#define opt_tiles_find opt_wide_tiles_find
#define opt_tiles_up opt_wide_tiles_up
#define opt_tiles_down opt_wide_tiles_down
#define opt_seeds_down opt_wide_seeds_down
#define opt_seeds_up_one opt_wide_seeds_up_one
#define opt_tiles_put_path opt_wide_tiles_put_path
#define opt_tiles_copy opt_wide_tiles_copy
#define opt_seeds_copy opt_wide_seeds_copy
#define opt_row_merge opt_wide_row_merge
#define opt_row_puncture_leaf opt_wide_row_puncture_leaf
#define opt_row_puncture_below opt_wide_row_puncture_below
#define opt_page_of opt_wide_page_of
#define opt_place_in opt_wide_place_in
#define opt_seed_in opt_wide_seed_in
#define opt_page_new opt_wide_page_new
#define opt_page_free opt_wide_page_free
#define opt_page_give_back opt_wide_page_give_back
#define opt_page_part opt_wide_page_part
#define opt_packed_drop opt_wide_packed_drop
#define opt_index_new opt_wide_index_new
#define opt_index_free opt_wide_index_free
#define opt_index_reserve opt_wide_index_reserve
#define opt_index_tidy opt_wide_index_tidy
#define opt_packed_join opt_wide_packed_join
#define opt_packed_tidy opt_wide_packed_tidy
#define opt_packed_splice opt_wide_packed_splice
#define opt_packed_splice_runs opt_wide_packed_splice_runs
#define opt_packed_tidy_run opt_wide_packed_tidy_run
#define opt_packed_tidy_runs opt_wide_packed_tidy_runs
#define opt_packed_open_draft opt_wide_packed_open_draft
#define opt_packed_drop_draft opt_wide_packed_drop_draft
#define opt_packed_drop_index opt_wide_packed_drop_index
#define opt_packed_resize opt_wide_packed_resize
#define opt_packed_give_room opt_wide_packed_give_room
#define opt_index_puncture opt_wide_index_puncture
#define opt_draft_begin opt_wide_draft_begin
#define opt_draft_live opt_wide_draft_live
#define opt_draft_hole opt_wide_draft_hole
#define opt_draft_punctured opt_wide_draft_punctured
#define opt_draft_row opt_wide_draft_row
#define opt_draft_up opt_wide_draft_up
#define opt_draft_down opt_wide_draft_down
#define opt_draft_left opt_wide_draft_left
#define opt_draft_right opt_wide_draft_right
#define opt_draft_page opt_wide_draft_page
#define opt_packed_put_run opt_wide_packed_put_run
#define opt_packed_put_runs opt_wide_packed_put_runs
#define opt_packed_open opt_wide_packed_open
#define opt_packed_source opt_wide_packed_source
#define opt_packed_load opt_wide_packed_load
#define opt_load_begin opt_wide_load_begin
#define opt_load_node opt_wide_load_node
#define opt_load_end opt_wide_load_end
#define opt_packed_close opt_wide_packed_close
#define opt_packed_drop_copy opt_wide_packed_drop_copy
#define opt_packed_find opt_wide_packed_find
#define opt_packed_prefetch opt_wide_packed_prefetch
#define opt_packed_near opt_wide_packed_near
#define opt_packed_next opt_wide_packed_next
#define opt_packed_read opt_wide_packed_read
#define opt_packed_seed opt_wide_packed_seed
#define opt_packed_puncture opt_wide_packed_puncture
#define opt_packed_puncture_range opt_wide_packed_puncture_range
#define opt_packed_puncture_runs opt_wide_packed_puncture_runs
#define opt_packed_puncture_set opt_wide_packed_puncture_set
#define opt_packed_bytes opt_wide_packed_bytes
#define opt_packed_locked opt_wide_packed_locked
#define opt_puncture_outside opt_wide_puncture_outside
#define opt_walk opt_wide_walk
#define opt_siblings opt_wide_siblings
#define opt_packed_eval opt_wide_packed_eval
#define opt_packed_live opt_wide_packed_live
#define opt_packed_punct opt_wide_packed_punct
#define opt_packed_punct_deep opt_wide_packed_punct_deep
#define opt_packed_punct_range opt_wide_packed_punct_range
#define opt_packed_punct_range_deep opt_wide_packed_punct_range_deep
#define opt_slots_mapped_bytes opt_wide_slots_mapped_bytes
#define opt_slots_lay_out opt_wide_slots_lay_out
#define opt_slots_open opt_wide_slots_open
#define opt_store_open_packed opt_wide_store_open_packed
#define opt_store_load_packed opt_wide_store_load_packed
#define opt_store_locked opt_wide_store_locked
#define opt_store_drop opt_wide_store_drop
#define opt_store_close opt_wide_store_close
#define opt_slots_clear opt_wide_slots_clear
#define opt_slots_set_up opt_wide_slots_set_up
#define opt_slots_start opt_wide_slots_start
#define opt_pages_zero_mapping opt_wide_pages_zero_mapping
#define opt_pages_back opt_wide_pages_back
#define opt_store_resident_bytes opt_wide_store_resident_bytes
#define opt_pages_release_slots opt_wide_pages_release_slots
#define opt_pages_release_punctured opt_wide_pages_release_punctured
#define opt_pages_release_all opt_wide_pages_release_all
#define opt_store_next opt_wide_store_next
#define opt_slots_puncture_set opt_wide_slots_puncture_set
#define opt_slots_drop opt_wide_slots_drop
#define opt_slots_close opt_wide_slots_close
#define opt_slots_locked opt_wide_slots_locked
#define opt_slots_resident_bytes opt_wide_slots_resident_bytes
#define opt_slots_next opt_wide_slots_next
#define opt_slots_read opt_wide_slots_read
#define opt_store_read opt_wide_store_read
#define opt_slots_puncture opt_wide_slots_puncture
#define opt_slots_puncture_range opt_wide_slots_puncture_range
#define opt_store_puncture_set opt_wide_store_puncture_set
#define opt_slots_load_node opt_wide_slots_load_node
#define opt_slots_load_root opt_wide_slots_load_root
#define opt_slots_load_gap opt_wide_slots_load_gap

#include "packed/tiles.c"
#include "packed/index.c"
#include "packed/draft/draft.c"
#include "packed/draft/rewrite.c"
#include "packed/draft/rewrite_set.c"
#include "packed/fit.c"
#include "packed/draft/splice.c"
#include "packed/sets/rewrite.c"
#include "packed/sets/range.c"
#include "packed/sets/set.c"
#include "packed/sets/runs.c"
#include "packed/sets/splice_runs.c"
#include "packed/sets/batch.c"
#include "packed/load.c"
#include "packed/read.c"
#include "packed/packed.c"
#include "slots/pages.c"
#include "slots/store.c"
#include "slots/read.c"
#include "store.c"
#include "walk.c"
#include "packed/core.c"
#include "packed/core_range.c"
#include "core.c"
#include "pprf.c"
#include "batch.c"

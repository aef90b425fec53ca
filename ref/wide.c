/* SPDX-License-Identifier: Apache-2.0 */
/* Keys with 32-byte seeds: the sources for 16-byte seeds, compiled a second time.  Here struct
 * pprf_seed is that of prg/wide.h, and every name that depends on the seed's width is renamed.
 * Code that names the words of a seed has a variant under PPRF_WIDE. version2.c handles only
 * bytes and serves both widths. */
#include "wide_key.h"

#include "bytes.h"
#include "common/fork.h"
#include "common/options.h"
#include "version2.h"
#include "wide.h"

/* `(struct pprf_seed){0, 0}` is zero for either width. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define PPRF_WIDE
#undef PPRF_IF_WIDE
#define PPRF_IF_WIDE(key, ...) /* every key here is wide */
#undef PPRF_SEED_BYTES
#define PPRF_SEED_BYTES PRG_WIDE_BYTES

/* prg.h */
#define pprf_seed pprf_wide_seed
#define pprf_children pprf_wide_children
#define prg_expand prg_expand_wide
#define prg_random prg_random_wide

/* pprf.h, after ref/names.h if that is included */
#define pprf_key pprf_wide_key
#undef pprf_eval
#define pprf_eval ref_wide_key_eval
#undef pprf_punct
#define pprf_punct ref_wide_key_punct
#undef pprf_eval_punct
#define pprf_eval_punct ref_wide_key_eval_punct
#undef pprf_punct_range
#define pprf_punct_range ref_wide_key_punct_range
#undef pprf_delegate
#define pprf_delegate ref_wide_key_delegate
#undef pprf_eval_batch
#define pprf_eval_batch ref_wide_key_eval_batch
#undef pprf_punct_batch
#define pprf_punct_batch ref_wide_key_punct_batch
#undef pprf_expand
#define pprf_expand ref_wide_key_expand
#undef pprf_prefault
#define pprf_prefault ref_wide_key_prefault
#undef pprf_node_count
#define pprf_node_count ref_wide_key_node_count
#undef pprf_memory_bytes
#define pprf_memory_bytes ref_wide_key_memory_bytes
#undef pprf_depth
#define pprf_depth ref_wide_key_depth
#undef pprf_suite
#define pprf_suite ref_wide_key_suite
#undef pprf_value_bytes
#define pprf_value_bytes ref_wide_key_value_bytes
#undef pprf_export
#define pprf_export ref_wide_key_export
#undef pprf_free
#define pprf_free ref_wide_key_free

/* node.h, core.h, codec.h and key.h */
#define ref_wipe_seed ref_wide_wipe_seed
#define ref_wipe ref_wide_wipe
#define ref_copy ref_wide_copy
#define ref_splice ref_wide_splice
#define ref_find ref_wide_find
#define ref_setup ref_wide_setup
#define ref_eval ref_wide_eval
#define ref_co_path ref_wide_co_path
#define ref_eval_punct ref_wide_eval_punct
#define ref_punct_range ref_wide_punct_range
#define ref_delegate ref_wide_delegate
#define ref_encoded_bytes ref_wide_encoded_bytes
#define ref_encode ref_wide_encode
#define ref_decode_header ref_wide_decode_header
#define ref_decode ref_wide_decode
#define ref_key_take ref_wide_key_take

#include "node.c"
#include "core.c"
#include "codec.c"
#include "pprf.c"
#include "batch.c"

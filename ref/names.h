/* SPDX-License-Identifier: Apache-2.0 */
/* Included before every source of libpprf_ref_ns.a: renames its public symbols to ref_pprf_*, so
 * that a program can link both implementations. */
#ifndef REF_NAMES_H
#define REF_NAMES_H

#define pprf_setup ref_pprf_setup
#define pprf_setup_with ref_pprf_setup_with
#define pprf_eval ref_pprf_eval
#define pprf_punct ref_pprf_punct
#define pprf_eval_punct ref_pprf_eval_punct
#define pprf_punct_range ref_pprf_punct_range
#define pprf_delegate ref_pprf_delegate
#define pprf_eval_batch ref_pprf_eval_batch
#define pprf_punct_batch ref_pprf_punct_batch
#define pprf_expand ref_pprf_expand
#define pprf_prefault ref_pprf_prefault
#define pprf_prg_name ref_pprf_prg_name
#define pprf_aes_name ref_pprf_aes_name
#define pprf_sha256_name ref_pprf_sha256_name
#define pprf_suite ref_pprf_suite
#define pprf_value_bytes ref_pprf_value_bytes
#define pprf_suite_name ref_pprf_suite_name
#define pprf_prg_select ref_pprf_prg_select
#define pprf_node_count ref_pprf_node_count
#define pprf_memory_bytes ref_pprf_memory_bytes
#define pprf_depth ref_pprf_depth
#define pprf_memory_locked ref_pprf_memory_locked
#define pprf_export ref_pprf_export
#define pprf_import ref_pprf_import
#define pprf_import_with ref_pprf_import_with
#define pprf_free ref_pprf_free
#define pprf_strerror ref_pprf_strerror
#define pprf_version ref_pprf_version
#define pprf_process ref_pprf_process
#define pprf_process_claim ref_pprf_process_claim
#define pprf_prepare ref_pprf_prepare

#endif

(* SPDX-License-Identifier: Apache-2.0 *)
(* The end of the proof: the headline theorems, each closed under the global context. *)
From Coq Require Import ZArith.
From Pprf.spec Require Import RefGame OptGame PackedGame AttackCost Sha3Suite CodeSuite SaltedSuite PrpGame SuiteFamilies AesSuite.
From Pprf.proofs Require Import RefSecurity RefInhabited AttackCost OptSecurity OptInhabited PackedSecurity PackedInhabited Sha3Security CodeSecurity SaltedSecurity.
From Pprf.proofs Require Import PrpSwitch SuiteBounds AesSecurity.
From Pprf.spec Require Import AcslMemory AcslRef AcslOpt AcslApi AcslKey AcslImport AcslStore AcslCodec.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame Tickets TicketGame.
From Pprf.spec Require Import Delegation DelegationGame Redact Vault.
From Pprf.proofs Require Import Correctness Executable Scenarios Sizes RangeDelegation DelegationSecurity.
From Pprf.proofs Require Import EvaluationSecurity EvaluationCost Leakage TicketPool TicketSecurity RedactBinding RedactSecurity VaultSecurity.
From Coq Require Import NArith.
From Pprf.spec Require Import CModel Contracts Codec.
From Pprf.proofs Require Import Layout CodecProofs.
From Pprf.proofs Require Import AcslAgree AcslSound ImportSound AcslLayout ApiSound KeySound PackedSound CostSound AcslCodec.
From Pprf.proofs Require Import KeccakSound KeccakSuite AesSound AesVectorSound AesVectorPair KeccakVectorSound KeccakWalk
  ShaSound WprfSound.

(* The one statement, from ref's contracts, C's memory and any calls to SHA3-256 as FIPS 202
   defines it; the same from the contracts of opt's API; and both with what the C code of the
   Keccak functions computes as the contracts' PRG. *)
Print Assumptions ref_sha3_secure.
Print Assumptions opt_sha3_secure.
Print Assumptions ref_code_secure.
Print Assumptions opt_code_secure.
Print Assumptions sha3_suite_ok.
(* Functions and memory that satisfy the statements about opt, for every suite and depth, and any
   words of the bitmap; those about ref; and those about packed keys. *)
Print Assumptions opt_inhabited.
Print Assumptions ref_inhabited.
Print Assumptions packed_inhabited.
Print Assumptions keccak_is_the_suite.
(* For keys with opt's packed store: any suite, and the three with 16-byte seeds; memory that is ready. *)
Print Assumptions packed_suite_secure.
Print Assumptions packed_sha3_secure.
Print Assumptions packed_salted_secure.
Print Assumptions packed_aes_secure.
Print Assumptions packed_attack_cost.
Print Assumptions packed_ready_exists.
(* The same four for sha3-256-salted, whatever the salt; and with a random public salt. *)
Print Assumptions ref_salted_secure.
Print Assumptions opt_salted_secure.
Print Assumptions ref_salted_code_secure.
Print Assumptions opt_salted_code_secure.
Print Assumptions ref_drawn_secure.
Print Assumptions opt_drawn_secure.
Print Assumptions salted_is_the_suite.
(* The same four for aes-128, with opt's portable function as the code; and opt's bound in terms
   of AES-128 as a PRP, through the families of the suites' bounds. *)
Print Assumptions ref_aes_secure.
Print Assumptions opt_aes_secure.
Print Assumptions ref_aes_code_secure.
Print Assumptions opt_aes_code_secure.
Print Assumptions opt_aes_prp_secure.
Print Assumptions aes_is_the_suite.
Print Assumptions aes_prg_is_the_family.
Print Assumptions salted_prg_is_the_family.

(* The suites compared, in terms of the primitives that cryptanalysis studies. *)
Print Assumptions suite_adv_bounds.
Print Assumptions suite_ideal_bounds.
Print Assumptions aes_adv_bound_tree.
Print Assumptions aes_adv_bound_first.
Print Assumptions halves_prg_adv.
Print Assumptions halves_term_real.
Print Assumptions prp_ideal_pair.
Print Assumptions keyed_prg_adv.
Print Assumptions aes_points_differ.
Print Assumptions suite_points_inj.

Print Assumptions eval_puncture_all.
Print Assumptions puncture_all_canonical.
Print Assumptions puncture_order_independent.
Print Assumptions puncture_idempotent.
Print Assumptions puncture_prefix_canonical.
Print Assumptions puncture_range_canonical.
Print Assumptions puncture_regions_canonical.
Print Assumptions eval_puncture_regions.
Print Assumptions delegate_eval.
Print Assumptions delegate_only_subset.
Print Assumptions delegate_range_cover.
Print Assumptions delegate_range_canonical.
Print Assumptions delegate_range_eval.
Print Assumptions delegate_range_order.
Print Assumptions delegate_range_size.
Print Assumptions no_ancestor.
Print Assumptions mem_cover.
Print Assumptions cover_ggm.
Print Assumptions leaf_le_val.
Print Assumptions bits_val.
Print Assumptions val_bits.
Print Assumptions exec_eval_correct.
Print Assumptions exec_puncture_correct.
Print Assumptions exec_puncture_prefix_correct.
Print Assumptions exec_puncture_range_correct.
Print Assumptions left_half_punctured.
Print Assumptions all_leaves_punctured.
Print Assumptions every_second_leaf.
Print Assumptions size_puncture_step.
Print Assumptions size_cover_half.
Print Assumptions size_cover_odds.
Print Assumptions size_puncture_one.
Print Assumptions peak_at_least_depth.
Print Assumptions ascending_peak.
Print Assumptions size_cover_log.
Print Assumptions size_cover_exact_max.
Print Assumptions cover_minimal.
Print Assumptions expansions_once.
Print Assumptions expansions_mem.
Print Assumptions expansions_puncture.
Print Assumptions expansions_bound.
Print Assumptions expansions_total.
Print Assumptions ev_adv_sum.
Print Assumptions ev_adv_guess.
Print Assumptions ev_adv_bound.
Print Assumptions ev_adv_bound_tree.
Print Assumptions ev_adv_bound_set.
Print Assumptions ev_adv_bound_first.
Print Assumptions ev_adv_bound_users.
Print Assumptions ev_reduction_cost.
Print Assumptions share_adv_prefixes.
Print Assumptions share_adv_bound_tree.
Print Assumptions share_adv_bound_first.
Print Assumptions ref_attack_cost.
Print Assumptions opt_attack_cost.
Print Assumptions key_leaks.
Print Assumptions history_independent.
Print Assumptions ticket_issued_once.
Print Assumptions ticket_redeemed_once.
Print Assumptions ticket_ends.
Print Assumptions ticket_opens.
Print Assumptions tk_adv_sum.
Print Assumptions tk_adv_bound_users.
Print Assumptions tk_adv_bound_first.
Print Assumptions hide_adv_sum.
Print Assumptions hide_adv_bound.
Print Assumptions redact_verifies.
Print Assumptions redact_binding.
Print Assumptions rfc_tree_hash.
Print Assumptions vault_derives.
Print Assumptions vault_cover.
Print Assumptions vault_adv_ev.
Print Assumptions vault_adv_bound.
Print Assumptions canonical_of_invariants.
Print Assumptions cover_well_formed.
Print Assumptions encode_inj.
Print Assumptions encode_sorted.
Print Assumptions pair_slot_injective.
Print Assumptions slot_overwritten.
Print Assumptions height_from_neighbours.
Print Assumptions size_encode_key.
Print Assumptions decode_encode.
Print Assumptions decode_canonical.
Print Assumptions decode_encode_cover.
Print Assumptions decode_inj.
Print Assumptions acsl_facts.
Print Assumptions acsl_definitions_exist.
Print Assumptions acsl_inv_cover.
Print Assumptions ref_setup_sound.
Print Assumptions ref_eval_sound.
Print Assumptions ref_eval_punct_sound.
Print Assumptions ref_punct_range_sound.
Print Assumptions ref_delegate_sound.
Print Assumptions acsl_seed_whole.
Print Assumptions ref_decode_sound.
Print Assumptions ref_import_sound.
Print Assumptions acsl_layout_facts.
Print Assumptions acsl_layout_exists.
Print Assumptions acsl_store_holds.
Print Assumptions acsl_api_definitions_exist.
Print Assumptions opt_eval_sound.
Print Assumptions opt_punct_sound.
Print Assumptions opt_eval_punct_sound.
Print Assumptions opt_punct_range_sound.
Print Assumptions opt_node_count_sound.
(* Any calls of opt's API on a key with either store. *)
Print Assumptions key_calls_sound.
(* What the packed store's memory holds, after any of them; its predicates can be met. *)
Print Assumptions packed_live.
Print Assumptions packed_seeds_from_cover.
Print Assumptions packed_calls_sound.
Print Assumptions packed_definitions_exist.
Print Assumptions packed_key_exists.
Print Assumptions opt_refuses.
Print Assumptions ref_eval_cost_sound.
Print Assumptions ref_eval_punct_cost_sound.
Print Assumptions ref_punct_range_cost_sound.
Print Assumptions ref_delegate_cost_sound.
Print Assumptions opt_eval_cost_sound.
Print Assumptions opt_punct_cost_sound.
Print Assumptions opt_eval_punct_cost_sound.
Print Assumptions opt_punct_range_cost_sound.
Print Assumptions expanded_at_depth.
Print Assumptions live_apart_lemma.
Print Assumptions pair_slot_injective_lemma.
Print Assumptions slot_overwritten_lemma.
Print Assumptions puncture_lemma.
Print Assumptions acsl_live_cover.
Print Assumptions acsl_encodes.
Print Assumptions ref_encode_sound.
Print Assumptions keccak_sound.
Print Assumptions salted_sound.
Print Assumptions keccak_lanes_sound.
Print Assumptions salted_lanes_sound.
Print Assumptions keccak_avx512_sound.
Print Assumptions salted_avx512_sound.
Print Assumptions keccak_walk_sound.
Print Assumptions salted_walk_sound.
Print Assumptions aes_sound.
Print Assumptions aes_lanes_sound.
Print Assumptions aes_ni_sound.
Print Assumptions mls_sound.

(* An experiment: packed arithmetic mod 3, and a weak PRF computed with it. *)
Print Assumptions packed_arithmetic.
Print Assumptions packed_wprf_sound.
Print Assumptions binary_coding_is_wrong.

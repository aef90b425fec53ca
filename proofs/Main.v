(* SPDX-License-Identifier: Apache-2.0 *)
(* The end of the proof: the headline theorems, each closed under the global context. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Correctness Executable.

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

(* SPDX-License-Identifier: Apache-2.0 *)
(* The statement about ref and SHA3-256 applied to functions that meet the contracts (RefInhabited.v): a tree of
   depth 20, and an adversary that is challenged on a leaf, punctures it, and reads the array. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Oracle RefGame Sha3Suite AttackCost.
From Pprf.proofs Require Import RefSecurity RefInhabited AttackCost Sha3Security.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

Definition ref_inhabited_ex := ref_inhabited.

Example d20 : (0 < 20 <= 32)%N.
Proof. by []. Qed.
Definition array_ready := proj1 (ref_blank_ready d20).
Definition array_cleared := proj2 (ref_blank_ready d20).
Definition ref_meeting (S : suite) (ok : suite_ok S) := ref_functions_meet ok d20.

Definition sha3_suite_ok_ex := sha3_suite_ok.

Definition leaf0 : uint64 := exist _ 0%num erefl.
Definition ref_thief (S : suite) : ref_adversary S bool :=
  @Ask _ (@ref_reply S bool) (Call (EvalCall leaf0) Test false) (fun y =>
  @Ask _ (@ref_reply S bool) (Call (EvalPunctCall leaf0) Drop false) (fun _ =>
  @Ask _ (@ref_reply S bool) (Steal bool [:: (0, 0); (0, 1); (0, 2); (0, 3)]) (fun m =>
  Conclude _ (if (y, m) is (Some (_, Some _), Some _) then true else false)))).

Definition ref_sha3_secure_ex := ref_sha3_secure (ref_meeting sha3_suite_ok) array_ready array_cleared.
Definition thief_bound := proj1 (proj2 ref_sha3_secure_ex) (ref_thief sha3_suite).
Example thief_first : tests_below_leaf (N.of_nat 1) (ref_thief sha3_suite).
Proof. by []. Qed.
Definition thief_bound_first := proj2 (proj2 ref_sha3_secure_ex) (ref_thief sha3_suite) 1%nat thief_first.

(* The attack that is made from it: d = 20, two calls and one theft. *)
Example thief_calls : calls_at_most 2 1 (ref_thief sha3_suite).
Proof. by do ?split. Qed.
Definition ref_attack_cost_ex :=
  ref_attack_cost told (ref_place 20) blank_memory predT (isT : (0 < 20)%N) thief_calls.

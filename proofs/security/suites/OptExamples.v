(* SPDX-License-Identifier: Apache-2.0 *)
(* The statements about opt and SHA3-256 applied to functions that meet the contracts (OptInhabited.v): a key of
   depth 20, two words of its bitmap shown, and an adversary that is challenged on a leaf, punctures it, and reads
   a slot and a word of the bitmap.  Those about packed keys are applied to such functions too (PackedInhabited.v), and
   to a thief that sees every cell. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Oracle RefGame OptGame PackedGame Sha3Suite CodeSuite KeccakCode AttackCost.
From Pprf.proofs Require Import RefSecurity Sha3Security RefExamples OptMemory OptInhabited PackedSecurity PackedInhabited AttackCost CodeSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

Definition opt_inhabited_ex := opt_inhabited.
Definition packed_inhabited_ex := packed_inhabited.

Definition word : seq pointer := [:: (10, 0); (11, 1)].
Example word_shown (S : suite) : all (in_bitmap S 20 where_ (fresh S 20)) word.
Proof. by []. Qed.
Definition key_ready (S : suite) : opt_ready S 20 word where_ (fresh S 20) := opt_ready_exists d20 (word_shown S).
Definition meeting (S : suite) (ok : suite_ok S) := opt_functions_meet ok d20 (word_shown S).

Definition opt_thief (S : suite) : opt_adversary S bool :=
  @Ask _ (@ref_reply S _) (Call (EvalCall leaf0) Test (false, false)) (fun y =>
  @Ask _ (@ref_reply S _) (Call (RangeCall leaf0 leaf0) Drop (false, true)) (fun _ =>
  @Ask _ (@ref_reply S _) (Steal _ [:: (3, 0); (3, 1); (10, 0)]) (fun m =>
  Conclude _ (if (y, m) is (Some (_, Some _), Some _) then true else false)))).

Definition opt_sha3_secure_ex := opt_sha3_secure (meeting sha3_suite_ok) (key_ready sha3_suite).
Definition opt_thief_bound := proj1 (proj2 opt_sha3_secure_ex) (opt_thief sha3_suite).
Example opt_thief_first : tests_below_leaf (N.of_nat 1) (opt_thief sha3_suite).
Proof. by []. Qed.
Definition opt_thief_bound_first := proj2 (proj2 opt_sha3_secure_ex) (opt_thief sha3_suite) 1%nat opt_thief_first.

Example opt_thief_calls : calls_at_most 2 1 (opt_thief sha3_suite).
Proof. by do ?split. Qed.
Definition opt_attack_cost_ex := opt_attack_cost told (words_after 20 word) word where_ (fresh sha3_suite 20) predT
  (isT : (0 < 20)%N) opt_thief_calls.

Example scalar : List.In opt_keccak_scalar keccak_functions.
Proof. by left. Qed.
Definition opt_code_secure_ex :=
  opt_code_secure scalar (meeting (@keccak_suite_ok opt_keccak_scalar)) (key_ready (keccak_suite opt_keccak_scalar)).

Definition ref_code_secure_ex :=
  ref_code_secure scalar (ref_meeting (@keccak_suite_ok opt_keccak_scalar)) array_ready array_cleared.

Example packed_ready_ex (S : suite) (ok : suite_ok S) : packed_ready S 20 pred0 place (fresh_key S 20).
Proof. exact: (packed_ready_exists ok (isT : (0 < 20 <= 63)%N)). Qed.
Example packed_meeting (S : suite) (ok : suite_ok S) :
  packed_meets_contracts S 20 pred0 place (packed_functions S 20) (fresh_key S 20).
Proof. exact: (packed_functions_meet ok (isT : (0 < 20 <= 63)%N)). Qed.
Definition packed_sha3_secure_ex := packed_sha3_secure (packed_meeting sha3_suite_ok) (packed_ready_ex sha3_suite_ok).
Definition packed_thief_bound := proj1 packed_sha3_secure_ex (opt_thief sha3_suite).
Definition packed_suite_secure_ex :=
  packed_suite_secure (@keccak_suite_ok opt_keccak_scalar) words_wrap (fun _ s => keccak_halves s scalar)
    (packed_meeting (@keccak_suite_ok opt_keccak_scalar)) (packed_ready_ex (@keccak_suite_ok opt_keccak_scalar)).
Definition packed_attack_cost_ex := packed_attack_cost pred0 place (packed_functions sha3_suite 20)
  (fresh_key sha3_suite 20) predT (isT : (0 < 20)%N) opt_thief_calls.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The statement about ref and SHA3-256 applied to concrete memory: a tree of depth 2, room for six nodes in
   block 0, their number in block 1, values in block 2, and an adversary that is challenged on a leaf,
   punctures it, and reads the array. *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Oracle RefGame Sha3Suite.
From Pprf.proofs Require Import RefSecurity Sha3Security.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

Definition place : layout := Layout (0, 0) 6 (1, 0) (2, 0).
Definition empty : memory := Memory (fun _ => 0) (fun _ => True) (fun _ => True).

Example empty_ready : ready 2 place empty.
Proof.
split=> //.
split; first by move=> r [<-|[<-|//]] q [/= E _] [/= E' _]; lia.
by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split].
Qed.
Example empty_cleared : cleared place empty.
Proof. by []. Qed.

Definition sha3_suite_ok_ex := sha3_suite_ok.

Definition leaf0 : uint64 := exist _ 0%num erefl.
Definition thief : ref_adversary sha3_suite unit :=
  @Ask _ (@ref_reply sha3_suite unit) (Call (EvalCall leaf0) Test tt) (fun y =>
  @Ask _ (@ref_reply sha3_suite unit) (Call (EvalPunctCall leaf0) Drop tt) (fun _ =>
  @Ask _ (@ref_reply sha3_suite unit) (Steal unit [:: (0, 0); (0, 1); (0, 2); (0, 3)]) (fun m =>
  Conclude _ (if (y, m) is (Some (_, Some _), Some _) then true else false)))).

Section Functions.
Variable F : functions unit.
Hypothesis meets : meets_contracts sha3_suite 2 (fun _ _ _ => PPRF_OK) place F.
Definition ref_sha3_secure_ex := ref_sha3_secure meets empty_ready empty_cleared.
Definition thief_bound := proj1 (proj2 ref_sha3_secure_ex) thief.
Example thief_first : tests_below_leaf (N.of_nat 1) thief.
Proof. by []. Qed.
Definition thief_bound_first := proj2 (proj2 ref_sha3_secure_ex) thief 1%nat thief_first.
End Functions.

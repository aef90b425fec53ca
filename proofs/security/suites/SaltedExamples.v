(* SPDX-License-Identifier: Apache-2.0 *)
(* The statements about sha3-256-salted applied to the memory, calls and adversaries of RefExamples.v and
   OptExamples.v, under a salt of 16 bytes 00, 01, ..., 0f. *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Oracle RefGame OptGame Sha3Suite CodeSuite SaltedSuite KeccakCode.
From Pprf.proofs Require Import RefSecurity RefExamples OptMemory OptInhabited PackedInhabited OptExamples SaltedSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

Definition a_salt : sha3_seed := seed_of_words 0x0706050403020100 0x0f0e0d0c0b0a0908.

Example ref_thief_first_of salt : tests_below_leaf (N.of_nat 1) (ref_thief (salted_suite salt)).
Proof. by []. Qed.

Section Functions.
Local Notation S := (salted_suite a_salt).
Local Notation C := (salted_code_suite a_salt opt_salted_scalar).
Example salted_scalar : List.In opt_salted_scalar salted_functions.
Proof. by left. Qed.

Definition packed_salted_secure_ex :=
  packed_salted_secure (packed_meeting (salted_suite_ok a_salt _ _)) (packed_ready_ex (salted_suite_ok a_salt _ _)).
Definition ref_salted_secure_ex := ref_salted_secure (ref_meeting (salted_suite_ok a_salt _ _)) array_ready array_cleared.
Definition ref_thief_bound := proj1 (proj2 ref_salted_secure_ex) (ref_thief S).
Definition ref_thief_bound_first := proj2 (proj2 ref_salted_secure_ex) (ref_thief S) 1%nat (ref_thief_first_of a_salt).
Definition ref_salted_code_secure_ex :=
  ref_salted_code_secure salted_scalar (ref_meeting (salted_suite_ok a_salt _ _)) array_ready array_cleared.

Definition opt_salted_secure_ex := opt_salted_secure (meeting (salted_suite_ok _ _ _)) (key_ready S).
Definition opt_thief_salted := proj1 (proj2 opt_salted_secure_ex) (opt_thief S).
Example opt_thief_salted_first : tests_below_leaf (N.of_nat 1) (opt_thief S).
Proof. by []. Qed.
Definition opt_thief_salted_bound_first :=
  proj2 (proj2 opt_salted_secure_ex) (opt_thief S) 1%nat opt_thief_salted_first.
Definition opt_salted_code_secure_ex :=
  opt_salted_code_secure salted_scalar (meeting (salted_suite_ok _ _ _)) (key_ready C).
End Functions.

Definition ref_drawn_secure_ex := ref_drawn_secure
  (fun salt => @ref_meeting (salted_suite salt) (salted_suite_ok _ _ _)) array_ready array_cleared.
Definition ref_drawn_bound_first :=
  proj2 (ref_drawn_secure_ex (fun salt => ref_thief (salted_suite salt))) 1%nat
    ref_thief_first_of.
Definition opt_drawn_secure_ex := opt_drawn_secure
  (fun salt => @meeting (salted_suite salt) (salted_suite_ok _ _ _))
  (fun salt => key_ready (salted_suite salt)).
Definition opt_drawn_bound := proj1 (opt_drawn_secure_ex (fun salt => opt_thief (salted_suite salt))).

(* The three nodes that are expanded in a tree of depth 2 have the ids 4, 2 and 6. *)
Example ids : [seq node_id (first_leaf 2 p) (2 - size p) | p <- [:: [::]; [:: false]; [:: true]]] =
  [:: 4; 2; 6]%num.
Proof. by []. Qed.

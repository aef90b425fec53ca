(* SPDX-License-Identifier: Apache-2.0 *)
(* The statements about aes-128 applied to the memory, calls and adversaries of SaltedExamples.v;
   and values from an independent source (equivalence-tests/vectors/suites.json, by PyCA's AES)
   of the suite's PRG and its code. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Oracle RefGame OptGame Sha3Suite CodeSuite SaltedSuite AesSuite.
From Pprf.proofs Require Import RefSecurity RefExamples OptMemory OptInhabited PackedInhabited OptExamples.
From Pprf.proofs Require Import SaltedExamples AesSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(* The bytes ed 8e 36 .. and cf dd 5c ..; leaves 0, 1 and 3 at depth 2. *)
Definition aes_salt : sha3_seed := seed_of_words 0x735ac99af3368eed 0x850d1fcdf3f64263.
Definition aes_root : sha3_seed := seed_of_words 0xfa37511c4d5cddcf 0xfd5fbbc405730ea1.
Definition aes_leaves : seq bitseq := [:: [:: false; false]; [:: false; true]; [:: true; true]].
Definition aes_values : seq (Z * Z) :=
  [:: (0xcf0764564c001a42, 0x55646f2b1f14b717); (0xb1124652b830756f, 0x5a256d362c8f76f0);
      (0x57d4360a4eba9575, 0xc4159c2ebc8e2951)].
Definition leaf_words (G : bitseq -> sha3_seed -> sha3_seed * sha3_seed) (x : bitseq) : Z * Z :=
  let v := ggm G aes_root x in (number (take 64 (tval v)), number (drop 64 (tval v))).

Example aes_prg_values : map (leaf_words (aes_prg aes_salt 2)) aes_leaves = aes_values.
Proof. by vm_compute. Qed.

Example aes_code_values : map (leaf_words (@suite_prg (aes_code_suite aes_salt) 2)) aes_leaves = aes_values.
Proof. by vm_compute. Qed.

Example aes_is_the_suite_ex :=
  aes_is_the_suite 0xfa37511c4d5cddcf 0xfd5fbbc405730ea1 0x735ac99af3368eed 0x850d1fcdf3f64263 4.

Example aes_prg_is_the_family_ex := aes_prg_is_the_family aes_salt 2 [:: true] aes_root.
Example salted_prg_is_the_family_ex := salted_prg_is_the_family aes_salt 2 [:: true] aes_root.

Section Functions.
Local Notation S := (aes_suite a_salt).
Local Notation C := (aes_code_suite a_salt).

Definition packed_aes_secure_ex :=
  packed_aes_secure (packed_meeting (aes_suite_ok a_salt _ _)) (packed_ready_ex (aes_suite_ok a_salt _ _)).
Definition ref_aes_secure_ex := ref_aes_secure (ref_meeting (aes_suite_ok a_salt _ _)) array_ready array_cleared.
Definition ref_thief_aes := proj1 (proj2 ref_aes_secure_ex) (ref_thief S).
Example ref_thief_aes_first : tests_below_leaf (N.of_nat 1) (ref_thief S).
Proof. by []. Qed.
Definition ref_thief_aes_bound_first := proj2 (proj2 ref_aes_secure_ex) (ref_thief S) 1%nat ref_thief_aes_first.
Definition ref_aes_code_secure_ex := ref_aes_code_secure (ref_meeting (aes_suite_ok a_salt _ _)) array_ready array_cleared.

Definition opt_aes_secure_ex := opt_aes_secure (meeting (aes_suite_ok _ _ _)) (key_ready S).
Definition opt_thief_aes := proj1 (proj2 opt_aes_secure_ex) (opt_thief S).
Definition opt_aes_code_secure_ex := opt_aes_code_secure (meeting (aes_suite_ok _ _ _)) (key_ready C).
Definition opt_aes_prp_secure_ex := opt_aes_prp_secure (meeting (aes_suite_ok _ _ _)) (key_ready C).
Definition opt_thief_aes_prp := proj1 opt_aes_prp_secure_ex (opt_thief C).
Example opt_thief_aes_first : tests_below_leaf (N.of_nat 1) (opt_thief C).
Proof. by []. Qed.
Definition opt_thief_aes_prp_first := proj2 opt_aes_prp_secure_ex (opt_thief C) 1%nat opt_thief_aes_first.
End Functions.

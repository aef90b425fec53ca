(* SPDX-License-Identifier: Apache-2.0 *)
(* What it means that C's memory holds a key of the model: definitions only.

   AcslRef.v, which these definitions speak of, is written by proofs/tools/acsl.py from the ACSL of ref/:
   its record `logic' has the PRG (any two functions prg_l, prg_r) and the recursive functions. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section AcslKey.

Variable V : logic.
Local Notation Seed := (seed_t V).

(* The PRG of the contracts, as the model takes it. *)
Definition acsl_prg (s : N) (h : nat) (k : Seed) : Seed * Seed :=
  (prg_l V k (Z.of_N s) (Z.of_nat h), prg_r V k (Z.of_N s) (Z.of_nat h)).

Definition acsl_family (d : nat) : bitseq -> Seed -> Seed * Seed := family acsl_prg d.

(* The model's key of depth d with the root's seed R, once the leaves of P are punctured, and the
   same as C's nodes. *)
Definition punctured_key (d : nat) (P : pred bitseq) (R : pprf_seed) : key Seed :=
  cover (acsl_family d) d P [::] (sd V R).
Definition key_nodes (d : nat) (P : pred bitseq) (R : pprf_seed) : seq (CModel.node Seed) :=
  map (encode d) (punctured_key d P R).

(* The structure c is the node m. *)
Definition node_is (c : ref_node) (m : CModel.node Seed) : Prop :=
  [/\ ref_node_start c = Z.of_N (start m), ref_node_height c = Z.of_nat (height m) &
      sd V (ref_node_seed c) = seed m].

(* The array of n nodes at a holds K, node by node. *)
Definition holds (L : memory) (a : pointer) (n : Z) (K : seq (CModel.node Seed)) : Prop :=
  n = Z.of_nat (size K) /\
  forall k m, List.nth_error K k = Some m ->
    node_is (ref_node_at L (shift ref_node_cells a (Z.of_nat k))) m.

End AcslKey.

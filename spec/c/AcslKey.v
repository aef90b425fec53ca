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
  cover (acsl_family d) d P [::] (seed_value V R).
Definition key_nodes (d : nat) (P : pred bitseq) (R : pprf_seed) : seq (CModel.node Seed) :=
  map (encode d) (punctured_key d P R).

(* The structure c is the node m. *)
Definition node_is (c : ref_node) (m : CModel.node Seed) : Prop :=
  [/\ ref_node_start c = Z.of_N (start m), ref_node_height c = Z.of_nat (height m) &
      seed_value V (ref_node_seed c) = seed m].

(* The array of n nodes at a holds K, node by node. *)
Definition holds (L : memory) (a : pointer) (n : Z) (K : seq (CModel.node Seed)) : Prop :=
  n = Z.of_nat (size K) /\
  forall k m, List.nth_error K k = Some m ->
    node_is (ref_node_at L (shift ref_node_cells a (Z.of_nat k))) m.

(* How many nodes the model expands when it evaluates or punctures at a leaf of that key. *)
Definition expanded_at (d : nat) (P : pred bitseq) (R : pprf_seed) (x : N) : Z :=
  Z.of_nat (size (expanded (leaf_path d x) (punctured_key d P R))).

End AcslKey.

(* ---- The recursive functions, computed --------------------------------------------------- *)

Section Computed.

Variable V : logic.  (* for the PRG and the digest *)
Local Open Scope Z_scope.

Definition pow2_to (n : Z) : Z := Z.of_N (CModel.pow2 (Z.to_nat n)).

Fixpoint is_node_to (e : nat) (d s h : Z) : bool :=
  if (h <? 0) || (h >? d) then false else if h =? d then s =? 0 else
  if e is e'.+1 then is_node_to e' d s (h + 1) || is_node_to e' d (s - pow2_to h) (h + 1)
  else false.
Definition is_node_of d s h := is_node_to (Z.to_nat (d - h)) d s h.

Fixpoint node_seed_to (e : nat) (R : seed_t V) (d s h : Z) : seed_t V :=
  if e is e'.+1 then
    if is_node_of d s (h + 1) then prg_l V (node_seed_to e' R d s (h + 1)) s (h + 1)
    else prg_r V (node_seed_to e' R d (s - pow2_to h) (h + 1)) (s - pow2_to h) (h + 1)
  else R.

Fixpoint byte_to (k : nat) (v : Z) : Z :=
  if k is k'.+1 then byte_to k' (Z.quot v 256) else Z.rem v 256.

Fixpoint message_to (L : memory) (p : pointer) (n : nat) : message_t V :=
  if n is n'.+1 then then_ V (message_to L p n') (cell L (shift 1 p (Z.of_nat n')))
  else no_bytes V.

Definition defined : logic :=
  {| seed_t := seed_t V; seed_from_words := seed_from_words V; prg_l := prg_l V; prg_r := prg_r V;
     is_family := is_family V; prg_failed := prg_failed V;
     message_t := message_t V; no_bytes := no_bytes V; then_ := then_ V; digest := digest V;
     AcslRef.pow2 := pow2_to; is_node := is_node_of;
     node_seed := fun R d s h => node_seed_to (Z.to_nat (d - h)) R d s h;
     byte := fun v k => byte_to (Z.to_nat k) v;
     message_of := fun L p n => message_to L p (Z.to_nat n) |}.

End Computed.

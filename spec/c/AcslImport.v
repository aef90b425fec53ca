(* SPDX-License-Identifier: Apache-2.0 *)
(* Two readings of the contracts in which an array that a key file filled is a key: definitions only.

   The contracts of ref require nodes whose seeds come from one root; those of a key file may be
   anyone's.  But they leave open what a seed is and what the PRG makes of it: the record `logic' may be
   any that keeps the definitions, and a function is proven to meet its contract in each. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import AcslMemory AcslRef.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(* There is one seed: whatever prg_expand returns is right, and whatever a node holds. *)
Definition one_seed (V : logic) : logic :=
  {| seed_t := unit; seed_from_words := fun _ _ => tt; prg_l := fun _ _ _ => tt; prg_r := fun _ _ _ => tt;
     node_seed := fun _ _ _ _ => tt;
     is_family := is_family V; prg_failed := prg_failed V; pow2 := pow2 V; is_node := is_node V;
     message_t := message_t V; no_bytes := no_bytes V; then_ := then_ V; digest := digest V;
     message_of := message_of V; byte := byte V |}.

(* The tree whose nodes have the seeds that the array holds for them, and V's PRG elsewhere. *)
Section Grafted.

Variables (V : logic) (L : memory) (a : pointer) (n : Z).

Fixpoint stored (k : nat) (s h : Z) : option pprf_seed :=
  if k is k'.+1 then
    let c := ref_node_at L (shift ref_node_cells a (Z.of_nat k')) in
    if (ref_node_start c =? s) && (ref_node_height c =? h) then Some (ref_node_seed c) else stored k' s h
  else None.

Definition graft (s h : Z) (otherwise : seed_t V) : seed_t V :=
  if stored (Z.to_nat n) s h is Some v then seed_value V v else otherwise.
Definition graft_l (v : seed_t V) (s h : Z) : seed_t V := graft s (h - 1) (prg_l V v s h).
Definition graft_r (v : seed_t V) (s h : Z) : seed_t V :=
  graft (s + pow2 V (h - 1)) (h - 1) (prg_r V v s h).

Fixpoint graft_node_seed (e : nat) (R : seed_t V) (d s h : Z) : seed_t V :=
  if e is e'.+1 then
    if is_node V d s (h + 1) then graft_l (graft_node_seed e' R d s (h + 1)) s (h + 1)
    else graft_r (graft_node_seed e' R d (s - pow2 V h) (h + 1)) (s - pow2 V h) (h + 1)
  else R.

Definition grafted : logic :=
  {| seed_t := seed_t V; seed_from_words := seed_from_words V; prg_l := graft_l; prg_r := graft_r;
     node_seed := fun R d s h => graft_node_seed (Z.to_nat (d - h)) R d s h;
     is_family := is_family V; prg_failed := prg_failed V; pow2 := pow2 V; is_node := is_node V;
     message_t := message_t V; no_bytes := no_bytes V; then_ := then_ V; digest := digest V;
     message_of := message_of V; byte := byte V |}.

End Grafted.

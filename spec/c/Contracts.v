(* SPDX-License-Identifier: Apache-2.0 *)
(* The vocabulary and the post-conditions of ref's contracts over N, where the model lives:
   definitions only. An array is a function from indices to nodes, and a length. That the ACSL text
   says this is proven: proofs/c/AcslAgree.v and AcslSound.v. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith.
From Pprf.spec Require Import Ggm CModel.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.

Section Contracts.

Variable Seed : Type.
Variables prg_l prg_r : Seed -> N -> nat -> Seed.

(* is_node, by recursion on the number e = d - h of levels above the node *)
Fixpoint is_node_at (e : nat) (s : N) (h : nat) : bool :=
  if e is e'.+1 then
    is_node_at e' s h.+1 || (pow2 h <=? s) && is_node_at e' (s - pow2 h) h.+1
  else s =? 0.
Definition tree_node (d : nat) (s : N) (h : nat) : bool := (h <= d)%nat && is_node_at (d - h) s h.

(* the seed of node (s, h) of the tree of depth d under the root's seed R *)
Fixpoint node_seed_at (R : Seed) (e : nat) (s : N) (h : nat) : Seed :=
  if e is e'.+1 then
    if is_node_at e' s h.+1 then prg_l (node_seed_at R e' s h.+1) s h.+1
    else prg_r (node_seed_at R e' (s - pow2 h) h.+1) (s - pow2 h) h.+1
  else R.
Definition node_seed (R : Seed) (d : nat) (s : N) (h : nat) : Seed := node_seed_at R (d - h) s h.
Definition leaf_value (R : Seed) (d : nat) (x : N) : Seed := node_seed R d x 0.

Definition acsl_covers (s : N) (h : nat) (x : N) : Prop := s <= x /\ x < s + pow2 h.
Definition acsl_before (s : N) (h : nat) (t : N) : Prop := s + pow2 h <= t.
Definition acsl_siblings (d : nat) (s : N) (h : nat) (t : N) (g : nat) : Prop :=
  g = h /\ t = s + pow2 h /\ tree_node d s h.+1.

Definition correct_node (R : Seed) (d : nat) (p : node Seed) : Prop :=
  (height p <= d)%nat /\ start p + pow2 (height p) <= pow2 d /\
  tree_node d (start p) (height p) /\ seed p = node_seed R d (start p) (height p).

Definition array := nat -> node Seed.

Definition correct_nodes (R : Seed) (d : nat) (a : array) (n : nat) : Prop :=
  forall k, (k < n)%nat -> correct_node R d (a k).
Definition acsl_sorted (a : array) (n : nat) : Prop :=
  forall k l, (k < l)%nat -> (l < n)%nat -> acsl_before (start (a k)) (height (a k)) (start (a l)).
Definition maximal (d : nat) (a : array) (n : nat) : Prop :=
  forall k l, (k < l)%nat -> (l < n)%nat ->
    ~ acsl_siblings d (start (a k)) (height (a k)) (start (a l)) (height (a l)).
Definition inv (R : Seed) (d : nat) (a : array) (n : nat) : Prop :=
  correct_nodes R d a n /\ acsl_sorted a n /\ maximal d a n.
Definition acsl_covered (a : array) (n : nat) (x : N) : Prop :=
  exists2 k, (k < n)%nat & acsl_covers (start (a k)) (height (a k)) x.

(* ref_eval: ok iff a node covers x, and then the value of the leaf *)
Definition eval_post (R : Seed) (d : nat) (a : array) (n : nat) (x : N) (r : option Seed) : Prop :=
  (r <> None <-> acsl_covered a n x) /\ (forall v, r = Some v -> v = leaf_value R d x).

(* ref_punct and ref_punct_range on success: invariant, range erased, all else as before *)
Definition punct_range_post (R : Seed) (d : nat) (a : array) (n : nat) (a' : array) (n' : nat)
    (first last : N) : Prop :=
  [/\ inv R d a' n',
      forall y, first <= y -> y <= last -> ~ acsl_covered a' n' y &
      forall y, ~ (first <= y /\ y <= last) -> (acsl_covered a' n' y <-> acsl_covered a n y)].
Definition punct_post R d a n a' n' (x : N) : Prop := punct_range_post R d a n a' n' x x.

End Contracts.

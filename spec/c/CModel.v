(* SPDX-License-Identifier: Apache-2.0 *)
(* The data structures of the C code over integers: definitions only.

   Leaves and starts are N, heights are nat. The tree of depth d has the leaves 0 .. 2^d - 1;
   node (start, height) covers the leaves from start to start + 2^height - 1. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith.
From Pprf.spec Require Import Ggm.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.

(* 2^n, by doubling *)
Fixpoint pow2 (n : nat) : N := if n is n'.+1 then 2 * pow2 n' else 1.

(* ---- Leaves and nodes as integers --------------------------------------------------- *)

(* The integer with the binary digits x, most significant first; its digits at depth d. *)
Fixpoint leaf_num (x : bitseq) : N :=
  if x is b :: x' then (if b then pow2 (size x') else 0) + leaf_num x' else 0.

Fixpoint leaf_path (d : nat) (x : N) : bitseq :=
  if d is d'.+1 then
    if pow2 d' <=? x then true :: leaf_path d' (x - pow2 d') else false :: leaf_path d' x
  else [::].

(* The first leaf below prefix p in the tree of depth d. *)
Definition first_leaf (d : nat) (p : bitseq) : N := leaf_num p * pow2 (d - size p).

(* The in-order id of node (start, height), and back: height is the number of trailing zero
   bits of the id (none if the id is 0; fuel bounds the search). *)
Definition node_id (s : N) (h : nat) : N := 2 * s + pow2 h.

Fixpoint id_height (fuel : nat) (id : N) : nat :=
  if fuel is fuel'.+1 then if N.even id then (id_height fuel' (N.div2 id)).+1 else 0%nat else 0%nat.

Definition id_start (id : N) (h : nat) : N := N.div2 (id - pow2 h).

(* (s, h) is a node of the tree of depth d *)
Definition in_tree (d : nat) (s : N) (h : nat) : bool :=
  [&& (h <= d)%nat, s mod pow2 h =? 0 & s + pow2 h <=? pow2 d].

Section CModel.

Variable Seed : Type.

(* The C function prg_expand(seed, start, height): both children's seeds. *)
Variable prg : N -> nat -> Seed -> Seed * Seed.

(* The PRG family of the tree of depth d that prg implements. *)
Definition family (d : nat) : bitseq -> Seed -> Seed * Seed :=
  fun p => prg (first_leaf d p) (d - size p).

Record node := Node { start : N; height : nat; seed : Seed }.

Definition encode (d : nat) (n : Ggm.node Seed) : node :=
  Node (first_leaf d n.1) (d - size n.1) n.2.

Definition last_end (n : node) : N := start n + pow2 (height n).
Definition node_covers (n : node) (x : N) : bool := (start n <=? x) && (x <? last_end n).

(* Two nodes that cover() would have merged into their parent; and m may follow n in a key. *)
Definition siblings (n m : node) : bool :=
  [&& height n == height m, last_end n =? start m & start n mod pow2 (height n).+1 =? 0].
Definition follows (n m : node) : bool := (last_end n <=? start m) && ~~ siblings n m.

(* A key of depth d: nodes of the tree, in leaf order, disjoint, no two neighbours siblings. *)
Definition well_formed (d : nat) (a : seq node) : bool :=
  all (fun n => in_tree d (start n) (height n)) a && sorted follows a.

Definition covered (a : seq node) (x : N) : bool := has (fun n => node_covers n x) a.

(* Where the nodes are, without their seeds. *)
Definition positions (a : seq node) : seq (N * nat) := [seq (start n, height n) | n <- a].

(* The value of leaf x below node (s, h) with seed k. *)
Fixpoint walk (s : N) (h : nat) (k : Seed) (x : N) : Seed :=
  if h is h'.+1 then
    if x <? s + pow2 h' then walk s h' (prg s h k).1 x else walk (s + pow2 h') h' (prg s h k).2 x
  else k.

(* ---- The height of a node from the punctured leaves ---- *)

(* The nearest punctured leaf below x among the n next ones, and above. *)
Fixpoint punctured_below (n : nat) (P : pred N) (x : N) : option N :=
  if n is n'.+1 then
    if x =? 0 then None else if P (x - 1) then Some (x - 1) else punctured_below n' P (x - 1)
  else None.

Fixpoint punctured_above (n : nat) (P : pred N) (x : N) : option N :=
  if n is n'.+1 then if P (x + 1) then Some (x + 1) else punctured_above n' P (x + 1) else None.

(* floor(log2 (x XOR l)): the height of the highest node above x that does not cover l *)
Definition msb (v : N) : nat := N.to_nat (N.log2 v).

Definition height_to (d : nat) (x : N) (l : option N) : nat :=
  if l is Some l then msb (N.lxor x l) else d.

(* The height of the node that covers the live leaf x. *)
Definition node_height (d : nat) (P : pred N) (x : N) : nat :=
  minn (height_to d x (punctured_below (N.to_nat x) P x))
       (height_to d x (punctured_above (N.to_nat (pow2 d - 1 - x)) P x)).

End CModel.

Arguments last_end {Seed} n.
Arguments node_covers {Seed} n x.
Arguments siblings {Seed} n m.
Arguments follows {Seed} n m.

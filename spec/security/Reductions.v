(* SPDX-License-Identifier: Apache-2.0 *)
(* Reductions: programs against the PRG whose PRG calls and draws can be counted. Definitions only. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Reductions.

Variable Seed : finType.
Variable s0 : Seed.

(* G is not a parameter here: the only call of the PRG is the constructor Expand. *)
Inductive code (T : Type) : Type :=
| Done of T
| Expand of bitseq & Seed & (Seed * Seed -> code T)  (* call the PRG at a node on a seed *)
| Sample (X : finType) of X & (X -> code T)          (* draw uniformly *)
| Coin (X : finType) of X & (X -> code T).           (* the adversary tosses a coin *)

Fixpoint cbind (T U : Type) (c : code T) (f : T -> code U) : code U :=
  match c with
  | Done t => f t
  | Expand p s k => Expand p s (fun ab => cbind (k ab) f)
  | Sample X x0 k => Sample x0 (fun x => cbind (k x) f)
  | Coin X x0 k => Coin x0 (fun x => cbind (k x) f)
  end.

Notation "x <-: c ;; e" := (cbind c (fun x => e))
  (at level 65, c at next level, right associativity).

Fixpoint samples (n : nat) : code (seq Seed) :=
  if n is n'.+1 then Sample s0 (fun s => ss <-: samples n' ;; Done (s :: ss)) else Done [::].

(* The meaning of a code, given the PRG. *)
Fixpoint exec (G : bitseq -> Seed -> Seed * Seed) (T : Type) (c : code T) : prog T :=
  match c with
  | Done t => Ret t
  | Expand p s k => exec G (k (G p s))
  | Sample X x0 k => Draw x0 (fun x => exec G (k x))
  | Coin X x0 k => Draw x0 (fun x => exec G (k x))
  end.

(* On every run c makes at most n PRG calls and m draws, and with the rest of n and m its result
   satisfies post. Runs range over all coins, all draws and all answers of the PRG. *)
Fixpoint runs_within (n m : nat) (T : Type) (c : code T) (post : nat -> nat -> T -> Prop) : Prop :=
  match c with
  | Done t => post n m t
  | Expand p s k => if n is n'.+1 then forall ab, runs_within n' m (k ab) post else False
  | Sample X x0 k => if m is m'.+1 then forall x, runs_within n m' (k x) post else False
  | Coin X x0 k => forall x, runs_within n m (k x) post
  end.

(* A reduction: name a node, get the challenge, answer. It attacks G using G; its cost is that of
   both parts together. *)
Definition reduction := code (bitseq * (Seed * Seed -> code bool)).

Definition attack (G : bitseq -> Seed -> Seed * Seed) (R : reduction) : prg_adversary Seed :=
  pk <-$ exec G R ;; Ret (pk.1, fun ab => exec G (pk.2 ab)).

Definition costs_at_most (n m : nat) (R : reduction) : Prop :=
  runs_within n m R (fun n' m' pk => forall ab, runs_within n' m' (pk.2 ab) (fun _ _ _ => True)).

(* Against a PRG that does not depend on the node, the node need not be named. *)
Definition forget_node (D : prg_adversary Seed) : Seed * Seed -> prog bool :=
  fun ab => pk <-$ D ;; pk.2 ab.

(* ---- Nodes ---- *)

(* p is strictly above x. *)
Definition above (x p : bitseq) : bool := prefix p x && (p != x).

Definition children (p : bitseq) (ab : Seed * Seed) : key Seed :=
  [:: (rcons p false, ab.1); (rcons p true, ab.2)].

End Reductions.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Finite probability: programs that draw uniformly from finite types, and the exact, rational
   probability that such a program answers true.  A game is a program; an adversary is a program
   with a hole.  Nothing here is specific to puncturable PRFs. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* [Draw x0 k] draws x uniformly from the finite type of x0 and continues as [k x]. The witness
   x0 keeps the type inhabited, so that no program can get stuck: probabilities add up to 1. *)
Inductive prog (T : Type) : Type :=
| Ret of T
| Draw (X : finType) (x0 : X) (k : X -> prog T).

Fixpoint bind (T U : Type) (c : prog T) (f : T -> prog U) : prog U :=
  match c with
  | Ret t => f t
  | Draw X x0 k => Draw x0 (fun x => bind (k x) f)
  end.

Notation "x <-$ c ;; e" := (bind c (fun x => e))
  (at level 65, c at next level, right associativity).

(* one uniform element; n independent uniform elements *)
Definition unif (X : finType) (x0 : X) : prog X := Draw x0 (@Ret X).

Fixpoint unifs (X : finType) (x0 : X) (n : nat) : prog (seq X) :=
  if n is n'.+1 then x <-$ unif x0 ;; xs <-$ unifs x0 n' ;; Ret (x :: xs) else Ret [::].

(* mean of g over a finite type; expectation of f over the outcome of c; probability of true *)
Definition avg (X : finType) (g : X -> rat) : rat := (\sum_x g x) / #|X|%:R.

Fixpoint ex (T : Type) (c : prog T) (f : T -> rat) : rat :=
  match c with
  | Ret t => f t
  | Draw X x0 k => avg (fun x => ex (k x) f)
  end.

Definition Pr (c : prog bool) : rat := ex c (fun b => b%:R).

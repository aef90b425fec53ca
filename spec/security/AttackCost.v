(* SPDX-License-Identifier: Apache-2.0 *)
(* What an adversary against ref or opt asks for, in number: definitions only. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Oracle RefGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* At most q calls and t thefts, for all coins and answers; refused ones count, too. *)
Fixpoint calls_at_most (S : suite) (Fault : Type) (q t : nat) (A : ref_adversary S Fault) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, calls_at_most q t (k x)
  | Ask a k =>
      match a return (@ref_reply S Fault a -> ref_adversary S Fault) -> Prop with
      | Call _ _ _ => fun k => 0 < q /\ forall y, calls_at_most q.-1 t (k y)
      | Steal _ => fun k => 0 < t /\ forall y, calls_at_most q t.-1 (k y)
      end k
  end.

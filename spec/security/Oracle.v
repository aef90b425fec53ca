(* SPDX-License-Identifier: Apache-2.0 *)
(* Adversaries with oracles: one type for every game. Definitions only.

   An adversary tosses coins, asks queries, each chosen after all earlier answers and coins, and
   finally outputs a bit. A game is an oracle: a function that takes a state and a query and
   draws an answer and the next state. Adversaries may have any power, and may be adaptive and
   probabilistic. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Oracle.
Variable Query : Type.
Variable Reply : Query -> Type.                  (* the type of the answers to a query *)

Inductive adversary : Type :=
| Conclude of bool
| Random (X : finType) of X & (X -> adversary)   (* toss coins *)
| Ask (q : Query) of (Reply q -> adversary).

Variable State : Type.
Variable verdict : State -> bool -> bool.        (* the result computed from the adversary's final bit *)

Fixpoint interact (oracle : State -> forall q, prog (Reply q * State)) (st : State)
  (A : adversary) : prog bool :=
  match A with
  | Conclude b => Ret (verdict st b)
  | Random X x0 k => Draw x0 (fun x => interact oracle st (k x))
  | Ask q k => rs <-$ oracle st q ;; interact oracle rs.2 (k rs.1)
  end.

(* The same as a code whose PRG calls and draws are counted: reductions run an adversary in this
   way. *)
Fixpoint simulate (Seed : finType) (oracle : State -> forall q, code Seed (Reply q * State))
  (st : State) (A : adversary) : code Seed bool :=
  match A with
  | Conclude b => Done Seed (verdict st b)
  | Random X x0 k => Coin x0 (fun x => simulate oracle st (k x))
  | Ask q k => cbind (oracle st q) (fun rs => simulate oracle rs.2 (k rs.1))
  end.

End Oracle.

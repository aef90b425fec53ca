(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of TicketGame.v on one-bit seeds, a broken PRG and a one-time pad: the adversary evaluates
   one leaf, has one of two texts encrypted under another, redeems it, steals the key, and wins. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
From Pprf.spec Require Import TicketGame.
From Pprf.proofs Require Import Compat ProbabilityFacts SecurityExamples EvaluationExamples.
From Pprf.proofs Require Import TicketSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition pad (s m : bool) : prog bool := Ret (s (+) m).

Local Notation ask q k := (@Ask _ (@tk_reply one_bit 1 bool bool) q k).

Definition use_right : {r : region | region_ok 1 r} := exist _ (Leaf [:: true]) isT.

Definition read_ticket : tk_adversary one_bit 1 bool bool :=
  ask (Value _ left_leaf) (fun y => ask (Seal right_leaf false true) (fun c =>
  ask (Use _ use_right) (fun _ => ask (Theft _ whole) (fun K =>
  Conclude _ (if (y, c, K) is (Some s, Some z, Some _) then s (+) z else false))))).

Example read_ticket_wins : tk_adv false copy_prg pad read_ticket = 1.
Proof.
rewrite /tk_adv /tk_game /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* It wins against the PRG: the one-time pad is perfect. *)
Example read_ticket_seal : seal_adv false pad (as_seal false copy_prg read_ticket) = 0.
Proof.
rewrite /seal_adv /Pr /= !avg_bool /= ?avg_bool /=.
by apply/eqP; vm_compute.
Qed.

Example read_ticket_sum : 1 =
  ev_adv false copy_prg 0 (as_ev pad true read_ticket) -
  ev_adv false copy_prg 0 (as_ev pad false read_ticket).
Proof. by rewrite -read_ticket_wins tk_adv_sum read_ticket_seal addr0. Qed.

Example read_ticket_in : seals_in (first_leaves 0 2) read_ticket.
Proof. by do 5 ?split=> //. Qed.

Example tk_adv_bound_first_ex eps := @tk_adv_bound_first _ false copy_prg 1 _ _ pad 2 _ eps read_ticket_in.

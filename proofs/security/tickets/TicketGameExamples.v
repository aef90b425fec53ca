(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of TicketGame.v on one-bit seeds, a broken PRG and a one-time pad: the adversary
   evaluates one leaf, has one of two texts encrypted under another, redeems that, steals the
   key, and wins. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
From Pprf.spec Require Import TicketGame.
From Pprf.proofs Require Import Compat ProbabilityFacts EvaluationExamples.
From Pprf.proofs Require Import TicketSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition pad (s m : bool) : prog bool := Ret (s (+) m).
Definition unpad (s c : bool) : option bool := Some (s (+) c).

Local Notation ask q k := (@Ask _ (@tk_reply one_bit 1 bool one_bit) q k).

Definition use_right : {r : region | region_ok 1 r} := exist _ (Leaf [:: true]) isT.

Definition read_ticket : tk_adversary one_bit 1 bool one_bit :=
  ask (Value _ _ left_leaf) (fun y => ask (Seal _ right_leaf false true) (fun c =>
  ask (Use _ _ use_right) (fun _ => ask (Theft _ _ whole) (fun K =>
  Conclude _ (if (y, c, K) is (Some s, Some z, Some _) then s (+) z else false))))).

Example read_ticket_wins : tk_adv false copy_prg pad unpad 0 read_ticket = 1.
Proof.
rewrite /tk_adv /tk_game /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* It wins against the PRG: the one-time pad is perfect. *)
Example read_ticket_seal : seal_adv false pad unpad (as_seal false copy_prg unpad 0 read_ticket) = 0.
Proof.
rewrite /seal_adv /Pr /= !avg_bool /= ?avg_bool /=.
by apply/eqP; vm_compute.
Qed.

Example read_ticket_sum : 1 =
  ev_adv false copy_prg 0 (as_ev pad unpad true [::] read_ticket) -
  ev_adv false copy_prg 0 (as_ev pad unpad false [::] read_ticket).
Proof. by rewrite -read_ticket_wins tk_adv_sum read_ticket_seal addr0. Qed.

Example read_ticket_in : seals_in (first_leaves 0 2) read_ticket.
Proof. by do 5 ?split=> //. Qed.

Example tk_adv_bound_first_ex eps := @tk_adv_bound_first _ false copy_prg 1 _ _ pad unpad 2 _ eps read_ticket_in.

(* A ticket other than the challenge's is opened under its key, which reveals the pad; the ticket
   itself is not opened. Two trees of one leaf each: the challenge is in the second. *)
Definition forge_ticket (same : bool) : tk_adversary one_bit 1 bool one_bit :=
  ask (Seal _ right_leaf false true) (fun c => ask (Open _ right_leaf (if same then odflt false c else ~~ odflt false c)) (fun m =>
  Conclude _ (if m is Some t then ~~ t else false))).

Example forge_ticket_wins : tk_adv false copy_prg pad unpad 1 (forge_ticket false) = 1.
Proof.
rewrite /tk_adv /tk_game /Pr /= !avg_bool /= ?avg_bool /=.
by apply/eqP; vm_compute.
Qed.

Example same_ticket_does_not : tk_adv false copy_prg pad unpad 1 (forge_ticket true) = 0.
Proof.
rewrite /tk_adv /tk_game /Pr /= !avg_bool /= ?avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* It wins against the pad, which is no authenticated encryption. *)
Example forge_ticket_seal : seal_adv false pad unpad (as_seal false copy_prg unpad 1 (forge_ticket false)) = 1.
Proof.
rewrite /seal_adv /Pr /= !avg_bool /= ?avg_bool /= ?avg_bool /=.
by apply/eqP; vm_compute.
Qed.

Example forge_ticket_in : seals_in (first_leaves 1 1) (forge_ticket false).
Proof. by do 4 ?split=> //. Qed.

Example tk_adv_bound_users_ex eps := @tk_adv_bound_users _ false copy_prg 1 _ _ pad unpad 1 1 _ eps isT forge_ticket_in.

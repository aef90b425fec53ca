(* SPDX-License-Identifier: Apache-2.0 *)
(* The pool of tickets at work, and its theorems applied: four leaves, seeds that are paths. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Tickets.
From Pprf.proofs Require Import TicketPool Leakage.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition label_prg (p s : bitseq) : bitseq * bitseq := (rcons s false, rcons s true).
Definition t0 := [:: false; false].
Definition t1 := [:: false; true].
Definition t2 := [:: true; false].

(* Three tickets: two clients redeem the first one at the same time; the second expires; a ticket
   not yet issued, and junk, open to nothing. *)
Definition busy : seq operation :=
  [:: Issue; Issue; Open t0; Redeem t0; Redeem t0; Open t0; Issue; Expire t0 t1; Open t1; Redeem t1;
      Open t2; Redeem t2; Open [:: true; true]; Open [:: true]].

Example busy_pool : unzip2 (trace label_prg 2 (new_pool [::]) busy) =
  [:: Issued t0 (Some t0); Issued t1 (Some t1); Opened (Some t0); Redeemed true; Redeemed false;
      Opened None; Issued t2 (Some t2); Expired true; Opened None; Redeemed false;
      Opened (Some t2); Redeemed true; Opened None; Opened None].
Proof. by []. Qed.

Example ticket_redeemed_once_ex := @ticket_redeemed_once _ label_prg 2 [::] busy t0.
Example ticket_issued_once_ex := @ticket_issued_once _ label_prg 2 [::] busy t0.
Example ticket_ends_ex := @ticket_ends _ label_prg 2 [::] busy busy t1 erefl erefl.
Example ticket_opens_ex :
  (step label_prg 2 (after label_prg 2 (new_pool [::]) (take 3 busy)) (Open t1)).1 =
  Opened (Some t1) := @ticket_opens _ label_prg 2 [::] (take 3 busy) t1 erefl erefl erefl.

(* Removing leaf 0, as a range or by itself, leaves the same key: the nodes 01 and 1. *)
Example key_leaks_ex : puncture_regions label_prg [:: Leaf t0] (keygen [::]) =
  [seq (q, q) | q <- [:: [:: false; true]; [:: true]]] := @key_leaks _ label_prg 2 [::] [:: Leaf t0] isT.
Definition by_range := [:: Range t0 t1].
Definition one_by_one := [:: Leaf t1; Leaf t0; Leaf t1].
Example same_leaves (x : bitseq) : size x = 2 -> punctured by_range x = punctured one_by_one x.
Proof. by case: x => [|[] [|[] [|? ?]]]. Qed.
Example history_independent_ex :=
  @history_independent _ label_prg 2 [::] by_range one_by_one isT isT same_leaves.

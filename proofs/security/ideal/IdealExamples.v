(* SPDX-License-Identifier: Apache-2.0 *)
(* The game with the PRG as an ideal object: an adversary that evaluates, queries the random function at the
   node above, steals and is challenged; the bounds at two users. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame Attack WeakSeeds.
From Pprf.proofs Require Import Compat EvaluationExamples IdealSecurity IdealSuites AttackGain WeakSeedsGain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Adversary.
Variable Tag : finType.
Local Notation id_reply := (@id_reply one_bit 2 Tag).
Local Notation adversary := (id_adversary one_bit 2 Tag).

Definition first_of_two : leaf 2 := [tuple false; false].
Definition second_of_two : leaf 2 := [tuple false; true].
Definition everything : {p : bitseq | (size p <= 2)%N} := exist _ [::] isT.

(* Two users with two leaves each.  Evaluate the first user's first leaf, be challenged on the second, look for
   the first user's root among the seeds, steal both keys. *)
Definition search (t : Tag) : adversary :=
  @Ask _ id_reply (Device one_bit Tag (Evaluate first_of_two)) (fun z =>
  @Ask _ id_reply (Device one_bit Tag (Challenge second_of_two)) (fun y =>
  @Ask _ id_reply (Hash 2 t false) (fun ab =>
  @Ask _ id_reply (Device one_bit Tag (Reveal everything)) (fun K =>
  Conclude _ ((Some ab.1 == z) && (Some ab.2 == y)))))).

Example search_hashes t : hashes_at_most 1 (search t).
Proof. by []. Qed.
End Adversary.

Example id_adv_bound_ex : forall tag M, (forall t : one_bit, (targets 2 tag 1 t <= M)%N) ->
  `|id_adv false tag 1 (search false)| <= (M * 1 + clashes (map tag (inner 2 1)))%:R / #|one_bit|%:R :=
  fun tag M T => @id_adv_bound one_bit false 2 one_bit tag 1 isT _ 1 M T (@search_hashes _ false).

(* Two users, two inner nodes: 2 Q and one pair. *)
Example bare_adv_bound_ex : `|id_adv (false : one_bit) bare_tag 1 (search tt)| <= (2 * 1 + 1)%:R / 2%:R.
Proof.
have := @bare_adv_bound one_bit false 2 1 isT _ 1 (@search_hashes _ tt); by rewrite card_bool.
Qed.

(* With separate tags: half a bit's chance. *)
Example distinct_adv_bound_ex :
  `|id_adv (false : one_bit) (fun p => head false p : one_bit) 1 (search false)| <= 1 / 2%:R.
Proof.
have := @distinct_adv_bound one_bit false 2 1 isT one_bit (fun p => head false p) _ 1 isT (@search_hashes _ false).
by rewrite card_bool.
Qed.

(* Salts of one bit clash half the time. *)
Example salted_adv_bound_ex (t : salted 2 one_bit) :
  `|salted_adv (false : one_bit) 1 (false : one_bit) (fun _ => search t)| <=
    (1 + (1 + 2)%:R * 1 / 2%:R) / 2%:R.
Proof.
have := @salted_adv_bound one_bit false 2 1 isT one_bit false _ 1 (fun _ => @search_hashes _ t).
by rewrite card_bool.
Qed.

(* The salted suite's tags differ where the salts do. *)
Example salted_tags : uniq (map (salted_tag 2 1 (false : one_bit) [:: false; true]) (inner 2 1)).
Proof. by vm_compute. Qed.

(* The attack with one guess of two seeds, against two users. *)
Example many_targets_gain_ex :
  1 - (1 - 1 / 2%:R) ^+ 2 - 1 * (2%:R * (2%:R / 2%:R / 2%:R)) <=
  id_adv (false : one_bit) bare_tag 1 (many_targets 1 [:: false : one_bit]).
Proof. by have := @many_targets_gain one_bit false 1 [:: false] isT; rewrite card_bool. Qed.

Example many_targets_half_ex :
  2%:R / 2%:R / 2%:R - 2%:R * (2%:R / 2%:R / 2%:R) <=
  id_adv (false : one_bit) bare_tag 1 (many_targets 1 [:: false : one_bit]).
Proof.
by have := @many_targets_half one_bit false 1 [:: false] isT; rewrite card_bool => /(_ isT).
Qed.

Example hashes_many_ex : hashes_at_most 1 (many_targets 1 [:: false : one_bit]) :=
  hashes_many 1 [:: false : one_bit].

(* ---- A PRG with weak seeds: of the two seeds of one bit, false is weak ---------------------------- *)

Definition false_is_weak : {set one_bit} := [set false].

Lemma one_weak : #|false_is_weak| = 1%N.
Proof. exact: cards1. Qed.

(* Check whether the PRG has copied its seed. *)
Definition copies : prg_attack one_bit one_bit :=
  @Ask _ (@prg_reply one_bit one_bit) (Output _ false) (fun ab => Conclude _ (ab.1 == ab.2)).

Example weak_prg_bound_ex : `|weak_prg_adv (false : one_bit) false_is_weak copies| <= 1 / 2%:R.
Proof.
by have := @weak_prg_bound one_bit false one_bit false_is_weak 0 copies (fun _ => I); rewrite one_weak card_bool.
Qed.

(* All four leaves of two users with separate tags, two inner nodes: 1/16 - 1/64. *)
Example weak_leaves_adv_ex :
  weak_adv (false : one_bit) false_is_weak (fun p => head false p : one_bit) 1 (weak_leaves false_is_weak 2 predT) =
  3%:R / 64%:R.
Proof.
rewrite (@weak_leaves_adv one_bit false one_bit false_is_weak (fun p => head false p) 2 1 isT isT predT).
by rewrite one_weak card_bool; apply/eqP; vm_compute.
Qed.

Example weak_leaves_in_ex : challenges_in predT (weak_leaves false_is_weak 2 predT) :=
  @weak_leaves_in one_bit false_is_weak 2 predT.

(* One leaf of two, one node above it: at least 1/6, in fact 1/4. *)
Example weak_leaves_third_ex :
  1 / 6%:R <= weak_adv (false : one_bit) false_is_weak bare_tag 0 (weak_leaves false_is_weak 1 (pred1 [:: true])).
Proof.
have := @weak_leaves_third one_bit false _ false_is_weak bare_tag 1 0 isT isT (pred1 [:: true]) 1 isT.
by rewrite one_weak card_bool => /(_ isT isT) B; apply: le_trans B.
Qed.

Example depth_loss_ex : exists U : pred bitseq, [/\ card 1 U = 1%N, challenges_in U (weak_leaves false_is_weak 1 U) &
  1 / 6%:R <= weak_adv (false : one_bit) false_is_weak bare_tag 0 (weak_leaves false_is_weak 1 U)].
Proof.
have := @depth_loss one_bit false _ false_is_weak bare_tag 1 isT 1 isT.
rewrite one_weak card_bool => /(_ isT isT) [_ [U [q C B]]]; by exists U; split=> //; apply: le_trans B.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of EvaluationGame.v on one-bit seeds and small trees. An adversary that evaluates one
   leaf and is challenged on another wins against a broken PRG; the bound is attained; the rule
   refuses what would make the game trivial, and nothing else that these adversaries ask. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame DelegationGame.
From Pprf.proofs Require Import Compat ProbabilityFacts ReductionFacts.
From Pprf.proofs Require Import EvaluationSecurity EvaluationCost DelegationSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* A broken PRG on one-bit seeds: both children get the parent's seed. *)
Definition copy_prg (p : bitseq) (s : bool) : bool * bool := (s, s).

Section Adversaries.
Variable d : nat.
Local Notation ev_reply := (@ev_reply one_bit d).
Local Notation adversary := (ev_adversary one_bit d).

Definition ask_value (x : leaf d) (k : option bool -> adversary) : adversary :=
  @Ask _ ev_reply (Evaluate x) k.
Definition ask_test (x : leaf d) (k : option bool -> adversary) : adversary :=
  @Ask _ ev_reply (Challenge x) k.
Definition ask_punct (x : leaf d) (k : adversary) : adversary :=
  @Ask _ ev_reply (Punct (exist (fun r => region_ok d r) (Leaf x) (introT eqP (size_tuple x))))
    (fun _ => k).
Definition ask_key (p : {p : bitseq | (size p <= d)%N}) (k : option (key bool) -> adversary) :
  adversary := @Ask _ ev_reply (Reveal p) k.
End Adversaries.

Definition left_leaf : leaf 1 := [tuple false].
Definition right_leaf : leaf 1 := [tuple true].
Definition whole : {p : bitseq | (size p <= 1)%N} := exist _ [::] isT.

(* Evaluate the left leaf, be challenged on the right one, puncture it, steal the key, and check
   that its seed of the left leaf is the value that was evaluated; then compare challenge and
   value. *)
Definition compare_values : ev_adversary one_bit 1 :=
  ask_value left_leaf (fun y => ask_test right_leaf (fun z => ask_punct right_leaf (
  ask_key whole (fun K => Conclude _ ((z == y) && if K is Some [:: n] then y == Some n.2 else false))))).

Example compare_values_wins : ev_adv false copy_prg 0 compare_values = 1 / 2%:R.
Proof.
rewrite /ev_adv /ev_game expn0 /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* The PRG advantage of the guessing reduction is 1/4, computed from the PRG game itself ... *)
Example compare_values_prg :
  prg_adv false copy_prg (attack copy_prg (ev_guess false 0 predT compare_values)) = 1 / 4%:R.
Proof.
rewrite /prg_adv /Pr /= !avg_bool !avg_ord1 /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* ... so that 2 (2^1 - 1) eps is 1/2: the theorem's bound is attained. *)
Example compare_values_bound :
  `|ev_adv false copy_prg 0 compare_values| <= (2 * (2 ^ 1).-1)%:R * (1 / 4%:R).
Proof. by apply: ev_adv_bound_tree; rewrite compare_values_prg. Qed.

(* The challenge may come after the theft; the thief may take one key after another, and evaluate
   what is left: puncture leaf 0, steal the key, be challenged on leaf 0, evaluate leaf 1. *)
Definition test_after_theft : ev_adversary one_bit 1 :=
  ask_punct left_leaf (ask_key whole (fun K => ask_test left_leaf (fun z => ask_key whole (fun K' =>
  ask_value right_leaf (fun y => Conclude _ [&& K == K', z == y & z != None]))))).

Example test_after_theft_wins : ev_adv false copy_prg 0 test_after_theft = 1 / 2%:R.
Proof.
rewrite /ev_adv /ev_game expn0 /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* The rule refuses to let the adversary steal a key that evaluates a challenge leaf, evaluate
   that leaf, or be challenged on a leaf that was evaluated or that a stolen key evaluates. *)
Definition refused : ev_adversary one_bit 1 :=
  ask_test left_leaf (fun z => ask_value left_leaf (fun y => ask_key whole (fun K =>
  ask_value right_leaf (fun y' => ask_test right_leaf (fun z' =>
  Conclude _ [&& z != None, y == None, K == None, y' != None & z' == None]))))).

Example refused_always w : Pr (ev_game false copy_prg 0 w refused) = 1.
Proof.
by rewrite /ev_game expn0; case: w; rewrite /Pr /= !avg_bool /=; apply/eqP; vm_compute.
Qed.

(* Two users in a tree of depth 2: a leaf's first bit names its user. The first user's key is
   stolen at once; the second user's neighbouring leaf reveals the challenge, as above. *)
Definition second_users_left : leaf 2 := [tuple true; false].
Definition second_users_right : leaf 2 := [tuple true; true].
Definition first_users_key : {p : bitseq | (size p <= 2)%N} := exist _ [:: false] isT.
Definition all_keys : {p : bitseq | (size p <= 2)%N} := exist _ [::] isT.

Definition two_users : ev_adversary one_bit 2 :=
  ask_key first_users_key (fun K => ask_test second_users_left (fun z =>
  ask_value second_users_right (fun y => ask_punct second_users_left (ask_key all_keys (fun K' =>
  Conclude _ [&& K != None, K' != None & z == y]))))).

Example two_users_win : ev_adv false copy_prg 1 two_users = 1 / 2%:R.
Proof.
rewrite /ev_adv /ev_game expn1 /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* ---- Each theorem on these adversaries ------------------------------------------------------ *)

Example compare_values_right : challenges_in (pred1 [:: true]) compare_values.
Proof. by do 5 ?split=> //. Qed.

Example two_users_first : challenges_in (first_leaves 1 1) two_users.
Proof. by do 6 ?split=> //. Qed.

Example test_after_theft_first : challenges_in (first_leaves 0 1) test_after_theft.
Proof. by do 6 ?split=> //. Qed.

(* one cut, at the root *)
Example one_cut : cuts 1 0 (pred1 [:: true]) = [:: ([::], [::], [::])].
Proof. by []. Qed.

Example compare_values_sum :
  let adv w := prg_adv false copy_prg
    (attack copy_prg (cut_reduction false 0 w ([::], [::], [::]) compare_values)) in
  ev_adv false copy_prg 0 compare_values = adv Real - adv Ideal.
Proof. by rewrite (ev_adv_sum _ _ _ compare_values_right) // one_cut big_seq1. Qed.

Example ev_adv_guess_ex := @ev_adv_guess _ false copy_prg 1 0 _ _ isT compare_values_right.
Example ev_adv_bound_ex eps := @ev_adv_bound _ false copy_prg 1 0 _ _ eps 1 isT compare_values_right isT.
Example ev_adv_bound_set_ex eps :=
  @ev_adv_bound_set _ false copy_prg 1 _ _ eps compare_values_right.
Example ev_adv_bound_first_ex eps :=
  @ev_adv_bound_first _ false copy_prg 1 1 _ eps test_after_theft_first.
Example ev_adv_bound_users_ex eps :=
  @ev_adv_bound_users _ false copy_prg 2 1 1 _ eps isT two_users_first.

(* one evaluation, one challenge, one node stolen *)
Example compare_values_asks : asks_at_most 2 1 (bare_roots 0) compare_values.
Proof. by split=> // y; split=> // z; split=> // u; split=> // K. Qed.

Example compare_values_cost : costs_at_most 3 (1 + 1 + 2 + 2) (ev_guess false 0 predT compare_values).
Proof. exact: (proj2 (@ev_reduction_cost _ false 1 0 predT 2 1 _ isT compare_values_asks)). Qed.

(* ---- Sub-keys for ranges -------------------------------------------------------------------- *)

Local Notation share f l k := (@Ask _ (@share_reply one_bit 1) (Share f l) k).

(* A friend gets the right leaf's key, after a range that ends before it begins; the challenge is
   on the left leaf. The whole range would reveal that leaf and is refused; after the left leaf is
   punctured it is given away. *)
Definition friend : share_adversary one_bit 1 :=
  share right_leaf left_leaf (fun N => share right_leaf right_leaf (fun K =>
  @Ask _ (@share_reply one_bit 1) (Plain (Challenge left_leaf)) (fun z => share left_leaf right_leaf (fun M =>
  @Ask _ (@share_reply one_bit 1) (Plain (Punct (exist (fun r => region_ok 1 r) (Leaf left_leaf) isT))) (fun _ =>
  share left_leaf right_leaf (fun M' => Conclude _
    [&& N == Some [::], M == None, M' == K & (z != None) && (if K is Some [:: n] then z == Some n.2 else false)])))))).

Example friend_wins : share_adv false copy_prg friend = 1 / 2%:R.
Proof.
rewrite /share_adv /share_game /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

Example friend_first : shares_in (first_leaves 0 1) friend.
Proof. by do 7 ?split=> //. Qed.

Example share_adv_prefixes_ex : ev_adv false copy_prg 0 (as_prefixes [::] [::] friend) = 1 / 2%:R.
Proof. by rewrite -(share_adv_prefixes false copy_prg) friend_wins. Qed.
Example share_adv_bound_tree_ex eps := @share_adv_bound_tree _ false copy_prg 1 friend eps.
Example share_adv_bound_first_ex eps := @share_adv_bound_first _ false copy_prg 1 1 friend eps friend_first.

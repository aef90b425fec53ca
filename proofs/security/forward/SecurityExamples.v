(* SPDX-License-Identifier: Apache-2.0 *)
(* Concrete instances of the security theorems: one-bit seeds, small trees, explicit adversaries.
   The hypotheses hold, both sides of the equations are computed, and the bound is attained. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions.
From Pprf.proofs Require Import Compat ProbabilityFacts ForwardSecurity Security ReductionCost.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* A broken PRG on one-bit seeds: both children get the parent's seed. *)
Definition copy_prg (p : bitseq) (s : bool) : bool * bool := (s, s).

(* three borders in a tree of depth 4: 1 + 2 + 3 + 3 expansions, less than 3 * 4 and 2^4 - 1 *)
Example expansions_4_3 : expansions 4 3 = 9%N.
Proof. by []. Qed.

(* ---- Adaptive, depth 1: the bound is attained ------------------------------------------- *)

Definition left_leaf : leaf 1 := [tuple false].

(* evaluate and puncture the left leaf, steal the key, compare the answer with the remaining seed *)
Definition compare_siblings : fs_adversary one_bit 1 :=
  EvalPuncture left_leaf (fun y => Steal 1 (fun K =>
    Ret (if K is n :: _ then Some n.2 == y else false))).

Example compare_siblings_moves : moves_at_most 1 compare_siblings.
Proof. by []. Qed.

Example compare_siblings_adv : fs_adv false copy_prg compare_siblings = 1 / 2%:R.
Proof.
by rewrite /fs_adv /Pr /= !avg_bool /=; apply/eqP; vm_compute.
Qed.

(* The PRG advantage of the guessing reduction is 1/4, computed from the PRG game itself ... *)
Example compare_siblings_prg :
  prg_adv false copy_prg (attack copy_prg (fs_guess false 1 compare_siblings)) = 1 / 4%:R.
Proof.
rewrite /prg_adv /Pr /= !avg_bool !avg_ord1 /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* ... so that 2 q d eps with q = d = 1 and eps = 1/4 is 1/2: the theorem's bound is attained. *)
Example compare_siblings_bound :
  `|fs_adv false copy_prg compare_siblings| <= (2 * (1 * 1))%:R * (1 / 4%:R).
Proof.
apply: fs_adv_bound compare_siblings_moves _.
by rewrite -[expansions 1 1]/1%N compare_siblings_prg.
Qed.

Example compare_siblings_cost :
  costs_at_most 0 (1 + 1 + 2) (fs_guess false 1 compare_siblings).
Proof. exact: (proj2 (reduction_cost false compare_siblings_moves)). Qed.

(* ---- Adaptive, depth 2, a range and a prefix among the moves, a PRG tweaked by level ------- *)

Definition level_prg (p : bitseq) (s : bool) : bool * bool :=
  if odd (size p) then (s, ~~ s) else (~~ s, s).

Definition middle : {r : region | region_ok 2 r} :=
  exist _ (Range [:: false; true] [:: true; false]) isT.
Definition left_half : {r : region | region_ok 2 r} := exist _ (Subtree [:: false]) isT.
Definition last_leaf : leaf 2 := [tuple true; true].

(* puncture leaves 1 and 2; evaluate and puncture leaf 3; compare with the one remaining seed
   (leaf 0); if the answer was 0, puncture the left half first, so that none remains *)
Definition adaptive_moves : fs_adversary one_bit 2 :=
  Puncture middle (EvalPuncture last_leaf (fun y =>
    if y is Some true then Steal 2 (fun K => Ret (if K is n :: _ then n.2 else false))
    else Puncture left_half (Steal 2 (fun K => Ret (K == [::]))))).

Example adaptive_moves_ok : moves_at_most 4 adaptive_moves.
Proof. by split=> //; split=> // -[[]|] /=. Qed.

Example adaptive_moves_adv : fs_adv false level_prg adaptive_moves = 1 / 4%:R.
Proof. by rewrite /fs_adv /Pr /= !avg_bool /=; apply/eqP; vm_compute. Qed.

(* 4 moves at depth 2 would be 8 expansions, but the tree has only 3 inner nodes *)
Example adaptive_moves_sum :
  let adv w t :=
    prg_adv false level_prg (attack level_prg (fs_reduction false w t adaptive_moves)) in
  fs_adv false level_prg adaptive_moves = \sum_(t < 3) adv Real t - \sum_(t < 3) adv Ideal t.
Proof. exact: (fs_adv_sum false level_prg adaptive_moves_ok). Qed.

(* ---- Selective ------------------------------------------------------------------------------ *)

Definition name_left : pprf_adversary one_bit 1 :=
  Ret ([set left_leaf], fun K ys =>
    Ret (if K is n :: _ then if ys is y :: _ then n.2 == y else false else false)).

Example name_left_one : leaves_at_most 1 name_left.
Proof. by rewrite /= cards1. Qed.

Example name_left_adv : pprf_adv false copy_prg name_left = 1 / 2%:R.
Proof.
rewrite /pprf_adv /Pr /= !avg_bool /names /= enum_set1 /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

Example name_left_sum :
  let adv w t := prg_adv false copy_prg (attack copy_prg (pprf_reduction false w t name_left)) in
  pprf_adv false copy_prg name_left = \sum_(t < 1) adv Real t - \sum_(t < 1) adv Ideal t.
Proof. exact: (pprf_adv_sum false copy_prg name_left_one). Qed.

Example name_left_secure eps :
  `|prg_adv false copy_prg (attack copy_prg (pprf_guess false 1 name_left))| <= eps ->
  `|pprf_adv false copy_prg name_left| <= 2%:R * eps.
Proof. exact: (pprf_secure name_left_one). Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The headline theorems restated in full: this file does not compile if one is weakened. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Correctness Executable Scenarios.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Correctness.v ------------------------------------------------------------------ *)

Definition eval_puncture_all_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq) x,
    all (fun x => size x == d) xs -> size x = d ->
    eval G (puncture_all G xs (keygen s)) x =
    if x \in xs then None else eval G (keygen s) x
  := @eval_puncture_all.

Definition puncture_all_canonical_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq),
    all (fun x => size x == d) xs ->
    puncture_all G xs (keygen s) = cover G d (mem xs) [::] s
  := @puncture_all_canonical.

Definition puncture_order_independent_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs ys : seq bitseq),
    all (fun x => size x == d) xs -> xs =i ys ->
    puncture_all G xs (keygen s) = puncture_all G ys (keygen s)
  := @puncture_order_independent.

Definition puncture_idempotent_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (K : key Seed) x,
    puncture G x (puncture G x K) = puncture G x K
  := @puncture_idempotent.

Definition puncture_prefix_canonical_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq),
    all (fun x => size x <= d) xs ->
    foldl (fun K x => puncture_prefix G x K) (keygen s) xs =
    cover G d (fun y => has (fun x => prefix x y) xs) [::] s
  := @puncture_prefix_canonical.

Definition puncture_range_canonical_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (rs : seq (bitseq * bitseq)),
    all (fun r => (size r.1 == d) && (size r.2 == d)) rs ->
    foldl (fun K r => puncture_range G r.1 r.2 K) (keygen s) rs =
    cover G d (fun y => has (fun r => leaf_le r.1 y && leaf_le y r.2) rs) [::] s
  := @puncture_range_canonical.

Definition puncture_regions_canonical_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (rs : seq region),
    all (region_ok d) rs ->
    puncture_regions G rs (keygen s) = cover G d (punctured rs) [::] s
  := @puncture_regions_canonical.

Definition eval_puncture_regions_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (rs : seq region) x,
    all (region_ok d) rs -> size x = d ->
    eval G (puncture_regions G rs (keygen s)) x =
    if punctured rs x then None else Some (ggm G s x)
  := @eval_puncture_regions.

Definition delegate_eval_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (K : key Seed) x y,
    eval G (delegate G x K) y = if prefix x y then eval G K y else None
  := @delegate_eval.

Definition delegate_only_subset_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s x,
    size x <= d ->
    let K := cover G d P [::] s in
    [/\ delegate G x K = cover G (d - size x) (fun y => P (x ++ y)) x (ggm G s x),
        all (fun n => prefix x n.1) (delegate G x K) &
        forall y v, eval G (delegate G x K) y = Some v -> prefix x y /\ eval G K y = Some v]
  := @delegate_only_subset.

Definition no_ancestor_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s q x,
    q \in map fst (cover G d P [::] s) -> size x = d -> P x -> ~~ prefix q x
  := @no_ancestor.

Definition mem_cover_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s q,
    (q \in map fst (cover G d P [::] s)) =
    [&& size q <= d, free d P q & (q == [::]) || ~~ free d P (parent q)]
  := @mem_cover.

Definition cover_ggm_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s,
    cover G d P [::] s = [seq (q, ggm G s q) | q <- map fst (cover G d P [::] s)]
  := @cover_ggm.

Definition leaf_le_val_statement :
  forall x y, size x = size y -> leaf_le x y = (val x <= val y)
  := @leaf_le_val.

Definition bits_val_statement : forall p, bits (size p) (val p) = p := @bits_val.

Definition val_bits_statement : forall d n, n < 2 ^ d -> val (bits d n) = n := @val_bits.

(* ---- Executable.v ------------------------------------------------------------------- *)

Definition exec_eval_correct_statement :
  forall (Seed : Type) (G : seq bool -> Seed -> Seed * Seed) (K : key Seed) x,
    exec_eval G K x = eval G K x
  := @exec_eval_correct.

Definition exec_puncture_correct_statement :
  forall (Seed : Type) (G : seq bool -> Seed -> Seed * Seed) x (K : key Seed),
    exec_puncture G x K = puncture G x K
  := @exec_puncture_correct.

Definition exec_puncture_prefix_correct_statement :
  forall (Seed : Type) (G : seq bool -> Seed -> Seed * Seed) x (K : key Seed),
    exec_puncture_prefix G x K = puncture_prefix G x K
  := @exec_puncture_prefix_correct.

Definition exec_puncture_range_correct_statement :
  forall (Seed : Type) (G : seq bool -> Seed -> Seed * Seed) first last (K : key Seed),
    exec_puncture_range G first last K = puncture_range G first last K
  := @exec_puncture_range_correct.

(* ---- Scenarios.v -------------------------------------------------------------------- *)

Definition left_half_punctured_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s,
    puncture_range G (nseq d.+1 false) (false :: nseq d true) (keygen s) =
    [:: ([:: true], child G [::] true s)]
  := @left_half_punctured.

Definition all_leaves_punctured_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (rs : seq region),
    all (region_ok d) rs -> (forall x, size x = d -> punctured rs x) ->
    puncture_regions G rs (keygen s) = [::]
  := @all_leaves_punctured.

Definition every_second_leaf_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s,
    map fst (cover G d.+1 (fun x => ~~ last false x) [::] s) = pts d.+1 (last false)
  := @every_second_leaf.

Definition size_puncture_step_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s x,
    size x = d -> ~~ P x ->
    exists q, [/\ q \in map fst (cover G d P [::] s), prefix q x &
      (size (puncture G x (cover G d P [::] s))).+1 =
      size (cover G d P [::] s) + (d - size q)]
  := @size_puncture_step.

(* ---- ForwardSecurity.v, Security.v, ReductionCost.v --------------------------------- *)

From Pprf.spec Require Import Probability Games Reductions.
From Pprf.proofs Require Import ForwardSecurity Security ReductionCost.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition fs_adv_sum_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d q : nat)
         (A : fs_adversary Seed d), moves_at_most q A ->
    fs_adv s0 G A =
      \sum_(t < expansions d q) prg_adv s0 G (attack G (fs_reduction s0 Real t A))
    - \sum_(t < expansions d q) prg_adv s0 G (attack G (fs_reduction s0 Ideal t A))
  := @fs_adv_sum.

Definition fs_adv_sum_tree_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (A : fs_adversary Seed d),
    fs_adv s0 G A =
      \sum_(t < (2 ^ d).-1) prg_adv s0 G (attack G (fs_reduction s0 Real t A))
    - \sum_(t < (2 ^ d).-1) prg_adv s0 G (attack G (fs_reduction s0 Ideal t A))
  := @fs_adv_sum_tree.

Definition fs_adv_guess_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d q : nat)
         (A : fs_adversary Seed d), moves_at_most q A ->
    fs_adv s0 G A =
    (2 * expansions d q)%:R * prg_adv s0 G (attack G (fs_guess s0 (expansions d q) A))
  := @fs_adv_guess.

Definition fs_adv_bound_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d q : nat)
         (A : fs_adversary Seed d) (eps : rat), moves_at_most q A ->
    `|prg_adv s0 G (attack G (fs_guess s0 (expansions d q) A))| <= eps ->
    `|fs_adv s0 G A| <= (2 * (q * d))%:R * eps
  := @fs_adv_bound.

Definition fs_adv_bound_tree_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (A : fs_adversary Seed d) (eps : rat),
    `|prg_adv s0 G (attack G (fs_guess s0 (2 ^ d).-1 A))| <= eps ->
    `|fs_adv s0 G A| <= (2 * (2 ^ d).-1)%:R * eps
  := @fs_adv_bound_tree.

Definition fs_adv_bound_plain_statement :
  forall (Seed : finType) (s0 : Seed) (g : Seed -> Seed * Seed) (d q : nat)
         (A : fs_adversary Seed d) (eps : rat), moves_at_most q A ->
    let G := fun _ : bitseq => g in
    `|plain_prg_adv s0 g (forget_node (attack G (fs_guess s0 (expansions d q) A)))| <= eps ->
    `|fs_adv s0 G A| <= (2 * (q * d))%:R * eps
  := @fs_adv_bound_plain.

Definition prg_adv_positions_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed)
         (D : prg_adversary Seed) (eps : rat),
    (forall p D', `|prg_adv_at s0 G p D'| <= eps) -> `|prg_adv s0 G D| <= eps
  := @prg_adv_positions.

Definition prg_adv_constant_statement :
  forall (Seed : finType) (s0 : Seed) (g : Seed -> Seed * Seed) (D : prg_adversary Seed),
    prg_adv s0 (fun _ => g) D = plain_prg_adv s0 g (forget_node D)
  := @prg_adv_constant.

Definition selective_is_adaptive_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (A : pprf_adversary Seed d), pprf_adv s0 G A = fs_adv s0 G (selective s0 A)
  := @selective_is_adaptive.

Definition pprf_adv_sum_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d p : nat)
         (A : pprf_adversary Seed d), leaves_at_most p A ->
    pprf_adv s0 G A =
      \sum_(t < expansions d p) prg_adv s0 G (attack G (pprf_reduction s0 Real t A))
    - \sum_(t < expansions d p) prg_adv s0 G (attack G (pprf_reduction s0 Ideal t A))
  := @pprf_adv_sum.

Definition pprf_adv_guess_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d p : nat)
         (A : pprf_adversary Seed d), leaves_at_most p A ->
    pprf_adv s0 G A =
    (2 * expansions d p)%:R * prg_adv s0 G (attack G (pprf_guess s0 (expansions d p) A))
  := @pprf_adv_guess.

Definition pprf_secure_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d p : nat)
         (A : pprf_adversary Seed d) (eps : rat), leaves_at_most p A ->
    `|prg_adv s0 G (attack G (pprf_guess s0 (expansions d p) A))| <= eps ->
    `|pprf_adv s0 G A| <= (2 * minn (p * d) (2 ^ d).-1)%:R * eps
  := @pprf_secure.

Definition reduction_cost_statement :
  forall (Seed : finType) (s0 : Seed) (d q : nat) (A : fs_adversary Seed d),
    moves_at_most q A ->
    let N := expansions d q in
    (forall w t, costs_at_most (N - t.+1) (q + t) (fs_reduction s0 w t A)) /\
    costs_at_most N.-1 (q + N + 2) (fs_guess s0 N A)
  := @reduction_cost.

Definition pprf_reduction_cost_statement :
  forall (Seed : finType) (s0 : Seed) (d p : nat) (A : pprf_adversary Seed d),
    leaves_at_most p A ->
    let N := expansions d p in
    (forall w t, costs_at_most (N - t.+1) (p + t) (pprf_reduction s0 w t A)) /\
    costs_at_most N.-1 (p + N + 2) (pprf_guess s0 N A)
  := @pprf_reduction_cost.

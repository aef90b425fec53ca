(* SPDX-License-Identifier: Apache-2.0 *)
(* The headline theorems restated in full: this file does not compile if one is weakened. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Correctness Executable Scenarios Sizes.
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

(* ---- Sizes.v ------------------------------------------------------------------------ *)

Definition size_cover_half_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) p s,
    0 < d -> size (cover G d P p s) <= 2 ^ d.-1
  := @size_cover_half.

Definition size_cover_odds_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d p s,
    size (cover G d.+1 (last false) p s) = (2 ^ d)%N
  := @size_cover_odds.

Definition size_puncture_one_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s x,
    size x = d -> size (puncture G x (keygen s)) = d
  := @size_puncture_one.

Definition peak_at_least_depth_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq),
    all (fun x => size x == d) xs -> (forall x, size x = d -> x \in xs) ->
    exists2 i, i <= size xs & d <= size (puncture_all G (take i xs) (keygen s))
  := @peak_at_least_depth.

Definition ascending_peak_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s i, 0 < d ->
    size (puncture_all G (take i (pts d predT)) (keygen s)) <= d
  := @ascending_peak.

Definition size_cover_log_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) p s,
    0 < card d P -> trunc_log 2 (card d P) < d ->
    size (cover G d P p s) <= card d P * (d - trunc_log 2 (card d P))
  := @size_cover_log.

Definition size_cover_exact_max_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d p s, 0 < p <= 2 ^ d ->
    let k := trunc_log 2 p in let max := p * (d - k) - 2 * (p - 2 ^ k) in
    (forall P, card d P = p -> size (cover G d P [::] s) <= max) /\
    (exists2 P, card d P = p & size (cover G d P [::] s) = max)
  := @size_cover_exact_max.

Definition cover_minimal_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) p s
         (ns : seq bitseq),
    exact_cover d P ns -> size (cover G d P p s) <= size ns
  := @cover_minimal.

Definition expansions_once_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq),
    all (fun x => size x == d) xs -> uniq (expanded_all G xs (keygen s))
  := @expansions_once.

Definition expansions_mem_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq) q,
    all (fun x => size x == d) xs ->
    (q \in expanded_all G xs (keygen s)) = (size q < d) && has (prefix q) xs
  := @expansions_mem.

Definition expansions_puncture_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq) x,
    all (fun x => size x == d) xs -> size x = d ->
    size (expanded x (puncture_all G xs (keygen s))) <= d
  := @expansions_puncture.

Definition expansions_bound_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq),
    all (fun x => size x == d) xs -> size (expanded_all G xs (keygen s)) <= (2 ^ d - 1)%N
  := @expansions_bound.

Definition expansions_total_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d s (xs : seq bitseq),
    all (fun x => size x == d) xs -> (forall x, size x = d -> x \in xs) ->
    size (expanded_all G xs (keygen s)) = (2 ^ d - 1)%N
  := @expansions_total.

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

(* ---- EvaluationSecurity.v, EvaluationCost.v ----------------------------------------- *)

From Pprf.spec Require Import Oracle EvaluationGame.
From Pprf.proofs Require Import EvaluationSecurity EvaluationCost.

Definition ev_adv_sum_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d c : nat)
         (U : pred bitseq) (A : ev_adversary Seed d),
    (c <= d)%N -> challenges_in U A ->
    ev_adv s0 G c A =
      \sum_(x <- cuts d c U)
         (prg_adv s0 G (attack G (cut_reduction s0 c Real x A)) -
          prg_adv s0 G (attack G (cut_reduction s0 c Ideal x A)))
  := @ev_adv_sum.

Definition ev_adv_guess_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d c : nat)
         (U : pred bitseq) (A : ev_adversary Seed d),
    (c <= d)%N -> challenges_in U A ->
    ev_adv s0 G c A =
      (2 * size (cuts d c U))%:R * prg_adv s0 G (attack G (ev_guess s0 c U A))
  := @ev_adv_guess.

Definition ev_adv_bound_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d c : nat)
         (U : pred bitseq) (A : ev_adversary Seed d) (eps : rat) (N : nat),
    (c <= d)%N -> challenges_in U A -> (size (cuts d c U) <= N)%N ->
    `|prg_adv s0 G (attack G (ev_guess s0 c U A))| <= eps ->
    `|ev_adv s0 G c A| <= (2 * N)%:R * eps
  := @ev_adv_bound.

Definition ev_adv_bound_tree_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (A : ev_adversary Seed d) (eps : rat),
    `|prg_adv s0 G (attack G (ev_guess s0 0 predT A))| <= eps ->
    `|ev_adv s0 G 0 A| <= (2 * (2 ^ d).-1)%:R * eps
  := @ev_adv_bound_tree.

Definition ev_adv_bound_set_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (U : pred bitseq) (A : ev_adversary Seed d) (eps : rat),
    challenges_in U A ->
    `|prg_adv s0 G (attack G (ev_guess s0 0 U A))| <= eps ->
    `|ev_adv s0 G 0 A| <= (2 * (card d U * d))%:R * eps
  := @ev_adv_bound_set.

Definition ev_adv_bound_first_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d q : nat)
         (A : ev_adversary Seed d) (eps : rat),
    challenges_in (first_leaves 0 q) A ->
    `|prg_adv s0 G (attack G (ev_guess s0 0 (first_leaves 0 q) A))| <= eps ->
    `|ev_adv s0 G 0 A| <= (2 * (q + d).-1)%:R * eps
  := @ev_adv_bound_first.

Definition ev_adv_bound_users_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d c q : nat)
         (A : ev_adversary Seed d) (eps : rat),
    (c <= d)%N -> challenges_in (first_leaves c q) A ->
    `|prg_adv s0 G (attack G (ev_guess s0 c (first_leaves c q) A))| <= eps ->
    `|ev_adv s0 G c A| <= (2 * (2 ^ c * (q + (d - c)).-1))%:R * eps
  := @ev_adv_bound_users.

Definition ev_reduction_cost_statement :
  forall (Seed : finType) (s0 : Seed) (d c : nat) (U : pred bitseq) (q m : nat)
         (A : ev_adversary Seed d),
    (c <= d)%N -> asks_at_most q m (bare_roots c) A ->
    (forall w (x : cut), x \in cuts d c U ->
       costs_at_most ((q + m) * d) (2 ^ c + d + q) (cut_reduction s0 c w x A)) /\
    costs_at_most ((q + m) * d) (2 ^ c + d + q + 2) (ev_guess s0 c U A)
  := @ev_reduction_cost.

(* ---- IdealSecurity.v, IdealSuites.v -------------------------------------------------- *)

From Pprf.spec Require Import IdealGame.
From Pprf.proofs Require Import IdealSecurity IdealSuites.

Definition id_adv_bound_statement :
  forall (Seed : finType) (s0 : Seed) (d : nat) (Tag : finType) (tag : bitseq -> Tag) (c : nat),
    (c <= d)%N -> forall (A : id_adversary Seed d Tag) (Q M : nat),
    (forall t, targets d tag c t <= M)%N -> hashes_at_most Q A ->
    `|id_adv s0 tag c A| <= (M * Q + clashes (map tag (inner d c)))%:R / #|Seed|%:R
  := @id_adv_bound.

Definition bare_adv_bound_statement :
  forall (Seed : finType) (s0 : Seed) (d c : nat), (c <= d)%N ->
  forall (A : id_adversary Seed d _) (Q : nat), hashes_at_most Q A ->
    `|id_adv s0 bare_tag c A| <=
      ((2 ^ d - 2 ^ c) * Q + 'C(2 ^ d - 2 ^ c, 2))%:R / #|Seed|%:R
  := @bare_adv_bound.

Definition distinct_adv_bound_statement :
  forall (Seed : finType) (s0 : Seed) (d c : nat), (c <= d)%N ->
  forall (Tag : finType) (tag : bitseq -> Tag) (A : id_adversary Seed d Tag) (Q : nat),
    uniq (map tag (inner d c)) -> hashes_at_most Q A -> `|id_adv s0 tag c A| <= Q%:R / #|Seed|%:R
  := @distinct_adv_bound.

Definition salted_adv_bound_statement :
  forall (Seed : finType) (s0 : Seed) (d c : nat), (c <= d)%N ->
  forall (Salt : finType) (salt0 : Salt) (A : seq Salt -> id_adversary Seed d (salted d Salt))
         (Q : nat), (forall ts, hashes_at_most Q (A ts)) ->
    `|salted_adv s0 c salt0 A| <=
      (Q%:R + (Q + (2 ^ d - 2 ^ c))%:R * ('C(2 ^ c, 2))%:R / #|Salt|%:R) / #|Seed|%:R
  := @salted_adv_bound.

(* ---- PrpSwitch.v, SuiteBounds.v --------------------------------------------------------- *)

From Pprf.spec Require Import PrpGame SuiteFamilies.
From Pprf.spec Require Sha3Suite.
From Pprf.proofs Require Import PrpSwitch SuiteBounds.

Definition prp_ideal_pair_statement :
  forall (Block : finType) (b0 : Block) (E : Block -> Block -> Block) (x y : Block)
         (D : Block * Block -> prog bool), x != y ->
    Pr (prp_game b0 E Ideal (ask_two x y D)) =
    (\sum_a \sum_(b | b != a) Pr (D (a, b))) / (#|Block| * #|Block|.-1)%:R
  := @prp_ideal_pair.

Definition halves_prg_adv_statement :
  forall (Block : finType) (b0 : Block) (E : Block -> Block -> Block) (point : bitseq -> bool -> Block),
    (forall p, point p false != point p true) -> forall D : prg_adversary Block,
    `|prg_adv b0 (halves_family E point) D - prp_adv b0 E (ask_points point D)| <= #|Block|%:R^-1 /\
    `|prg_adv b0 (halves_family E point) D| <= `|prp_adv b0 E (ask_points point D)| + #|Block|%:R^-1
  := @halves_prg_adv.

Definition halves_term_real_statement :
  forall (Block : finType) (b0 : Block) (E : Block -> Block -> Block) (point : bitseq -> bool -> Block),
    (forall p, point p false != point p true) -> forall p, (forall k, injective (E k)) ->
    prg_adv_at b0 (halves_family E point) p (@equal_halves Block) = - #|Block|%:R^-1 /\
    prp_adv b0 E (ask_points point (Ret (p, @equal_halves Block))) = 0
  := @halves_term_real.

Definition keyed_prg_adv_statement :
  forall (Seed : finType) (s0 : Seed) (Message : Type) (F : Seed -> Message -> Seed * Seed)
         (message : bitseq -> Message) (D : prg_adversary Seed),
    prg_adv s0 (keyed_family F message) D = prf_adv s0 F (ask_message message D)
  := @keyed_prg_adv.

Definition aes_points_differ_statement :
  forall (d c : nat) (salts : seq bits128) p, aes_point d c salts p false != aes_point d c salts p true
  := @aes_points_differ.

Definition suite_points_inj_statement :
  forall (d c : nat) (salts : seq bits128) (p q : bitseq) (b b' : bool),
    (d - c <= 63)%N -> (c <= size p <= d)%N -> (c <= size q <= d)%N -> take c p = take c q ->
    (aes_point d c salts p b = aes_point d c salts q b' -> p = q /\ b = b') /\
    (salt_and_id d c salts p = salt_and_id d c salts q -> p = q)
  := @suite_points_inj.

Definition aes_adv_bound_tree_statement :
  forall (E : bits128 -> bits128 -> bits128) (d : nat) (A : seq bits128 -> ev_adversary bits128 d),
    `|salted_ev_adv (fun ts => aes_family d 0 ts E) 0 A| <=
    (2 * (2 ^ d).-1)%:R * (`|prp_adv zeros E (aes_attack E 0 predT A)| + 2%:R ^- 128)
  := @aes_adv_bound_tree.

Definition aes_adv_bound_first_statement :
  forall (E : bits128 -> bits128 -> bits128) (d q : nat) (A : seq bits128 -> ev_adversary bits128 d),
    (forall ts, challenges_in (first_leaves 0 q) (A ts)) ->
    `|salted_ev_adv (fun ts => aes_family d 0 ts E) 0 A| <=
    (2 * (q + d).-1)%:R * (`|prp_adv zeros E (aes_attack E 0 (first_leaves 0 q) A)| + 2%:R ^- 128)
  := @aes_adv_bound_first.

Definition suite_adv_bounds_statement :
  forall (E : bits128 -> bits128 -> bits128) (d c q : nat) (A0 : ev_adversary bits128 d)
         (A : seq bits128 -> ev_adversary bits128 d),
    let U := first_leaves c q in
    let n := (2 ^ c * (q + (d - c)).-1)%N in
    (c <= d)%N -> challenges_in U A0 -> (forall ts, challenges_in U (A ts)) ->
    `|ev_adv zeros (fun _ => Sha3Suite.sha3_prg) c A0| <=
      (2 * n)%:R * `|plain_prg_adv zeros Sha3Suite.sha3_prg (sha3_attack c U A0)| /\
    `|salted_ev_adv (salted_family d c) c A| <=
      (2 * n)%:R * `|prf_adv zeros salted_hash (salted_attack c U A)| /\
    `|salted_ev_adv (fun ts => aes_family d c ts E) c A| <=
      (2 * n)%:R * (`|prp_adv zeros E (aes_attack E c U A)| + 2%:R ^- 128)
  := @suite_adv_bounds.

Definition suite_ideal_bounds_statement :
  forall (d c Q : nat) (A0 : id_adversary bits128 d no_tag)
         (A : seq bits128 -> id_adversary bits128 d hashed_tag),
    let n := (2 ^ d - 2 ^ c)%N in
    (c <= d)%N -> (d - c <= 63)%N -> hashes_at_most Q A0 -> (forall ts, hashes_at_most Q (A ts)) ->
    `|id_adv zeros bare_tag c A0| <= (n * Q + 'C(n, 2))%:R * 2%:R ^- 128 /\
    `|hashed_adv c A| <= (Q%:R + (Q + n)%:R * ('C(2 ^ c, 2))%:R * 2%:R ^- 128) * 2%:R ^- 128
  := @suite_ideal_bounds.

(* ---- AttackGain.v ---------------------------------------------------------------------- *)

From Pprf.spec Require Import Attack.
From Pprf.proofs Require Import AttackGain.

Definition many_targets_gain_statement :
  forall (Seed : finType) (s0 : Seed) (c : nat) (guesses : seq Seed), uniq guesses ->
    1 - (1 - (size guesses)%:R / #|Seed|%:R) ^+ (2 ^ c) -
      (size guesses)%:R * ((2 ^ c)%:R * (2%:R / #|Seed|%:R / #|Seed|%:R)) <=
    id_adv s0 bare_tag c (many_targets c guesses)
  := @many_targets_gain.

Definition many_targets_half_statement :
  forall (Seed : finType) (s0 : Seed) (c : nat) (guesses : seq Seed), uniq guesses ->
    (2 ^ c * size guesses <= #|Seed|)%N ->
    (2 ^ c * size guesses)%:R / #|Seed|%:R / 2%:R -
      (2 ^ c * size guesses)%:R * (2%:R / #|Seed|%:R / #|Seed|%:R) <=
    id_adv s0 bare_tag c (many_targets c guesses)
  := @many_targets_half.

Definition hashes_many_statement :
  forall (Seed : finType) (c : nat) (guesses : seq Seed),
    hashes_at_most (size guesses) (many_targets c guesses)
  := @hashes_many.

(* ---- WeakSeedsGain.v ------------------------------------------------------------------- *)

From Pprf.spec Require Import WeakSeeds.
From Pprf.proofs Require Import WeakSeedsGain.

Definition depth_loss_statement :
  forall (Seed : finType) (s0 : Seed) (Tag : finType) (weak : {set Seed}) (tag : bitseq -> Tag) (d : nat),
    uniq (map tag (inner d 0)) ->
  forall q : nat, (0 < q <= 2 ^ d)%N -> let n := (q * (d - trunc_log 2 q))%N in
    (2 * n * #|weak| <= #|Seed|)%N -> (2 * q * #|weak| <= #|Seed|)%N ->
    let eps : rat := (2 * #|weak|)%:R / #|Seed|%:R in
    (forall A : prg_attack Seed Tag, calls_at_most #|weak| A -> `|weak_prg_adv s0 weak A| <= eps) /\
    exists U : pred bitseq, [/\ card d U = q, challenges_in U (weak_leaves weak d U) &
      n%:R * eps / 6%:R <= weak_adv s0 weak tag 0 (weak_leaves weak d U)]
  := @depth_loss.

Definition weak_prg_bound_statement :
  forall (Seed : finType) (s0 : Seed) (Tag : finType) (weak : {set Seed}) (Q : nat)
         (A : prg_attack Seed Tag), calls_at_most Q A ->
    `|weak_prg_adv s0 weak A| <= (#|weak| + Q)%:R / #|Seed|%:R
  := @weak_prg_bound.

Definition weak_leaves_adv_statement :
  forall (Seed : finType) (s0 : Seed) (Tag : finType) (weak : {set Seed}) (tag : bitseq -> Tag) (d c : nat),
    (c <= d)%N -> uniq (map tag (inner d c)) -> forall U : pred bitseq,
    weak_adv s0 weak tag c (weak_leaves weak d U) =
    (1 - #|weak|%:R / #|Seed|%:R) ^+ (card d U) -
    (1 - #|weak|%:R / #|Seed|%:R) ^+ (card d U + size (cuts d c U))
  := @weak_leaves_adv.

Definition weak_leaves_third_statement :
  forall (Seed : finType) (s0 : Seed) (Tag : finType) (weak : {set Seed}) (tag : bitseq -> Tag) (d c : nat),
    (c <= d)%N -> uniq (map tag (inner d c)) -> forall (U : pred bitseq) (n : nat),
    (n <= size (cuts d c U))%N -> (2 * n * #|weak| <= #|Seed|)%N -> (2 * card d U * #|weak| <= #|Seed|)%N ->
    n%:R * (#|weak|%:R / #|Seed|%:R) / 3%:R <= weak_adv s0 weak tag c (weak_leaves weak d U)
  := @weak_leaves_third.

Definition weak_leaves_in_statement :
  forall (Seed : finType) (weak : {set Seed}) (d : nat) (U : pred bitseq),
    challenges_in U (weak_leaves weak d U)
  := @weak_leaves_in.

(* ---- TicketPool.v ------------------------------------------------------------------- *)

From Pprf.spec Require Import Tickets.
From Pprf.proofs Require Import TicketPool.

Definition ticket_issued_once_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat) (s : Seed)
         (os : seq operation) (x : bitseq),
    (count (issues x) (trace G d (new_pool s) os) <= 1)%N
  := @ticket_issued_once.

Definition ticket_redeemed_once_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat) (s : Seed)
         (os : seq operation) (x : bitseq),
    (count (redeems x) (trace G d (new_pool s) os) <= 1)%N
  := @ticket_redeemed_once.

Definition ticket_ends_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat) (s : Seed)
         (os os' : seq operation) (x : bitseq),
    size x = d -> has (ends x) (trace G d (new_pool s) os) ->
    ~~ has (serves x) (trace G d (after G d (new_pool s) os) os')
  := @ticket_ends.

Definition ticket_opens_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat) (s : Seed)
         (os : seq operation) (x : bitseq),
    size x = d -> (val x < given_out (after G d (new_pool s) os))%N ->
    ~~ has (ends x) (trace G d (new_pool s) os) ->
    (step G d (after G d (new_pool s) os) (Open x)).1 = Opened (Some (ggm G s x))
  := @ticket_opens.

(* ---- TicketSecurity.v, Leakage.v ----------------------------------------------------- *)

From Pprf.spec Require Import TicketGame.
From Pprf.proofs Require Import TicketSecurity Leakage.

Definition tk_adv_sum_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (Text : Type) (Ticket : eqType) (seal : Seed -> Text -> prog Ticket)
         (unseal : Seed -> Ticket -> option Text) (c : nat) (A : tk_adversary Seed d Text Ticket),
    tk_adv s0 G seal unseal c A =
      ev_adv s0 G c (as_ev seal unseal true [::] A) - ev_adv s0 G c (as_ev seal unseal false [::] A) +
      seal_adv s0 seal unseal (as_seal s0 G unseal c A)
  := @tk_adv_sum.

Definition tk_adv_bound_users_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (Text : Type) (Ticket : eqType) (seal : Seed -> Text -> prog Ticket)
         (unseal : Seed -> Ticket -> option Text) (c q : nat) (A : tk_adversary Seed d Text Ticket)
         (eps : rat),
    (c <= d)%N -> seals_in (first_leaves c q) A ->
    (forall b, `|prg_adv s0 G
       (attack G (ev_guess s0 c (first_leaves c q) (as_ev seal unseal b [::] A)))| <= eps) ->
    `|tk_adv s0 G seal unseal c A| <=
      (2 * (2 * (2 ^ c * (q + (d - c)).-1)))%:R * eps +
      `|seal_adv s0 seal unseal (as_seal s0 G unseal c A)|
  := @tk_adv_bound_users.

Definition tk_adv_bound_first_statement :
  forall (Seed : finType) (s0 : Seed) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
         (Text : Type) (Ticket : eqType) (seal : Seed -> Text -> prog Ticket)
         (unseal : Seed -> Ticket -> option Text) (q : nat) (A : tk_adversary Seed d Text Ticket)
         (eps : rat),
    seals_in (first_leaves 0 q) A ->
    (forall b, `|prg_adv s0 G
       (attack G (ev_guess s0 0 (first_leaves 0 q) (as_ev seal unseal b [::] A)))| <= eps) ->
    `|tk_adv s0 G seal unseal 0 A| <=
      (2 * (2 * (q + d).-1))%:R * eps + `|seal_adv s0 seal unseal (as_seal s0 G unseal 0 A)|
  := @tk_adv_bound_first.

Definition key_leaks_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat) (s : Seed) (rs : seq region),
    all (region_ok d) rs ->
    puncture_regions G rs (keygen s) =
    [seq (q, ggm G s q) | q <- unzip1 (puncture_regions no_seed rs (keygen tt))]
  := @key_leaks.

Definition history_independent_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat) (s : Seed)
         (rs rs' : seq region),
    all (region_ok d) rs -> all (region_ok d) rs' ->
    (forall x : bitseq, size x = d -> punctured rs x = punctured rs' x) ->
    puncture_regions G rs (keygen s) = puncture_regions G rs' (keygen s)
  := @history_independent.

(* ---- Layout.v ----------------------------------------------------------------------- *)

From Coq Require Import NArith.
From Pprf.spec Require Import CModel.
From Pprf.proofs Require Import Layout.
Local Open Scope N_scope.

Definition canonical_of_invariants_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) d (a : seq (node Seed)) k,
    well_formed d a ->
    positions a =
    positions (map (encode d) (cover (family prg d) d (fun y => ~~ covered a (leaf_num y)) [::] k))
  := @canonical_of_invariants.

Definition cover_well_formed_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) d (P : pred bitseq) k,
    well_formed d (map (encode d) (cover (family prg d) d P [::] k))
  := @cover_well_formed.

Definition encode_inj_statement :
  forall d (p q : bitseq), (size p <= d)%nat -> (size q <= d)%nat ->
    node_id (first_leaf d p) (d - size p) = node_id (first_leaf d q) (d - size q) -> p = q
  := @encode_inj.

Definition encode_sorted_statement :
  forall (Seed : Type) (a : seq (node Seed)),
    pairwise (fun n m => (last_end n <=? start m) || (last_end m <=? start n)) a ->
    pairwise (fun n m => last_end n <=? start m) a =
    sorted N.ltb [seq node_id (start n) (height n) | n <- a]
  := @encode_sorted.

Definition pair_slot_injective_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s,
    {in map fst (cover G d P [::] s) &, injective (fun q => first_leaf d q / 2)}
  := @pair_slot_injective.

Definition slot_overwritten_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (K : key Seed) (x q : bitseq),
    size x = d -> q \in map fst K -> prefix q x -> (size q < d)%nat ->
    exists2 q', q' \in map fst (puncture G x K) &
                q' != q /\ first_leaf d q' / 2 = first_leaf d q / 2
  := @slot_overwritten.

Definition height_from_neighbours_statement :
  forall (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d (P : pred bitseq) s q y,
    q \in map fst (cover G d P [::] s) -> size y = d -> prefix q y ->
    node_height d (fun x => P (leaf_path d x)) (leaf_num y) = (d - size q)%nat
  := @height_from_neighbours.

(* ---- Refinement.v ------------------------------------------------------------------- *)

From Pprf.proofs Require Import Refinement.

Definition list_eval_refines_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) d (P : pred bitseq) R x,
    size x = d ->
    let K := cover (family prg d) d P [::] R in
    list_eval prg (map (encode d) K) (leaf_num x) = eval (family prg d) K x
  := @list_eval_refines.

Definition list_puncture_refines_statement :
  forall (Seed : Type) (zero : Seed) (prg : N -> nat -> Seed -> Seed * Seed) d
         (P : pred bitseq) R x,
    size x = d ->
    let K := cover (family prg d) d P [::] R in
    list_puncture zero prg (map (encode d) K) (leaf_num x) =
    map (encode d) (puncture (family prg d) x K)
  := @list_puncture_refines.

Definition list_puncture_range_refines_statement :
  forall (Seed : Type) (zero : Seed) (prg : N -> nat -> Seed -> Seed * Seed) d
         (P : pred bitseq) R first last,
    size first = d -> size last = d -> leaf_le first last ->
    let K := cover (family prg d) d P [::] R in
    list_puncture_range zero prg (map (encode d) K) (leaf_num first) (leaf_num last) =
    map (encode d) (puncture_range (family prg d) first last K)
  := @list_puncture_range_refines.

Definition slots_eval_refines_statement :
  forall (Seed : Type) (zero : Seed) (prg : N -> nat -> Seed -> Seed * Seed) d
         (st : slots Seed) R x,
    size x = d -> slots_hold zero prg d st R ->
    slots_eval prg d st (leaf_num x) =
    eval (family prg d) (cover (family prg d) d (fun y => leaf_punctured st (leaf_num y)) [::] R) x
  := @slots_eval_refines.

Definition slots_puncture_refines_statement :
  forall (Seed : Type) (zero : Seed) (prg : N -> nat -> Seed -> Seed * Seed) d
         (st : slots Seed) R x,
    size x = d -> slots_hold zero prg d st R ->
    slots_hold zero prg d (slots_puncture zero prg d st (leaf_num x)) R /\
    (forall y, leaf_punctured (slots_puncture zero prg d st (leaf_num x)) y =
               (y =? leaf_num x) || leaf_punctured st y)
  := @slots_puncture_refines.

(* ---- ContractsSound.v --------------------------------------------------------------- *)

From Pprf.spec Require Import Contracts.
From Pprf.proofs Require Import ContractsSound.

Definition contract_inv_sound_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) R d a n (P : pred bitseq),
    inv (fun k s h => (prg s h k).1) (fun k s h => (prg s h k).2) R d a n ->
    (forall x, x < pow2 d -> acsl_covered a n x <-> ~~ P (leaf_path d x)) ->
    mkseq a n = map (encode d) (cover (family prg d) d P [::] R)
  := @contract_inv_sound.

Definition contract_range_sound_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) R d a n a' n'
         (P : pred bitseq) first last,
    size first = d -> size last = d ->
    mkseq a n = map (encode d) (cover (family prg d) d P [::] R) ->
    punct_range_post (fun k s h => (prg s h k).1) (fun k s h => (prg s h k).2)
                     R d a n a' n' (leaf_num first) (leaf_num last) ->
    mkseq a' n' = map (encode d)
      (cover (family prg d) d (predU P (in_region (Range first last))) [::] R)
  := @contract_range_sound.

Definition contract_punct_sound_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) R d a n a' n'
         (P : pred bitseq) x,
    size x = d ->
    mkseq a n = map (encode d) (cover (family prg d) d P [::] R) ->
    punct_post (fun k s h => (prg s h k).1) (fun k s h => (prg s h k).2)
               R d a n a' n' (leaf_num x) ->
    mkseq a' n' = map (encode d) (cover (family prg d) d (predU P (pred1 x)) [::] R)
  := @contract_punct_sound.

Definition contract_eval_sound_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) R d a n (P : pred bitseq) x r,
    size x = d ->
    mkseq a n = map (encode d) (cover (family prg d) d P [::] R) ->
    eval_post (fun k s h => (prg s h k).1) (fun k s h => (prg s h k).2)
              R d a n (leaf_num x) r ->
    r = eval (family prg d) (cover (family prg d) d P [::] R) x
  := @contract_eval_sound.

Definition contract_inv_complete_statement :
  forall (Seed : Type) (prg : N -> nat -> Seed -> Seed * Seed) R d a n (P : pred bitseq),
    mkseq a n = map (encode d) (cover (family prg d) d P [::] R) ->
    inv (fun k s h => (prg s h k).1) (fun k s h => (prg s h k).2) R d a n /\
    (forall x, x < pow2 d -> acsl_covered a n x <-> ~~ P (leaf_path d x))
  := @contract_inv_complete.

(* ---- CodecProofs.v ------------------------------------------------------------------ *)

From Pprf.spec Require Import Codec.
From Pprf.proofs Require Import CodecProofs.

Definition size_encode_key_statement :
  forall (digest : seq byte -> 32.-tuple byte) (k : key_file),
    size (encode_key digest k) = (48 + size (nodes k) * (depth k %/ 8 + 17))%nat
  := @size_encode_key.

Definition decode_encode_statement :
  forall (digest : seq byte -> 32.-tuple byte)
         (prg : N -> nat -> seed_block -> seed_block * seed_block) (k : key_file),
    canonical_key prg k -> decode_key digest (encode_key digest k) = Some k
  := @decode_encode.

Definition decode_canonical_statement :
  forall (digest : seq byte -> 32.-tuple byte)
         (prg : N -> nat -> seed_block -> seed_block * seed_block) (bs : seq byte) (k : key_file),
    decode_key digest bs = Some k -> encode_key digest k = bs /\ canonical_key prg k
  := @decode_canonical.

Definition decode_encode_cover_statement :
  forall (digest : seq byte -> 32.-tuple byte)
         (prg : N -> nat -> seed_block -> seed_block * seed_block) d (P : pred bitseq) s,
    (0 < d <= 32)%nat ->
    let k := KeyFile d (map (encode d) (cover (family prg d) d P [::] s)) in
    decode_key digest (encode_key digest k) = Some k
  := @decode_encode_cover.

Definition decode_inj_statement :
  forall (digest : seq byte -> 32.-tuple byte)
         (prg : N -> nat -> seed_block -> seed_block * seed_block) (bs cs : seq byte)
         (k : key_file),
    decode_key digest bs = Some k -> decode_key digest cs = Some k -> bs = cs
  := @decode_inj.

(* ---- AcslAgree.v, AcslSound.v: AcslRef.v is written from the ACSL of ref/ -------------- *)

From Coq Require Import ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
From Pprf.proofs Require Import AcslAgree AcslSound.
Local Open Scope Z_scope.

Definition acsl_facts_statement : forall V : logic, definitions V -> facts V := @acsl_facts.

Definition acsl_definitions_exist_statement :
  forall V : logic, exists pow2 is_node node_seed byte message_of, definitions
    {| seed_t := seed_t V; seed_from_words := seed_from_words V; prg_l := prg_l V; prg_r := prg_r V;
       message_t := message_t V; no_bytes := no_bytes V; then_ := then_ V; digest := digest V;
       pow2 := pow2; is_node := is_node; node_seed := node_seed; byte := byte; message_of := message_of |}
  := @acsl_definitions_exist.

Definition acsl_inv_cover_statement :
  forall V : logic, definitions V -> forall L R d a n (P : pred bitseq),
    holds L a n (key_nodes V d P R) <->
    0 <= n /\ inv V L (seed_value V R) (Z.of_nat d) a n /\
    (forall x, (x < CModel.pow2 d)%num ->
       covered V L a n (Z.of_N x) <-> ~~ P (leaf_path d x))
  := @acsl_inv_cover.

Definition ref_setup_sound_statement :
  forall V : logic, definitions V -> forall Pre Post a d root,
    (d <= 63)%nat -> writable Pre (span ref_node_cells a 0 (1 - 1)) ->
    ref_setup_contract V Pre Post a (Z.of_nat d) root ->
    holds Post a 1 (key_nodes V d pred0 root) /\
    unchanged Pre Post [:: span ref_node_cells a 0 (1 - 1)]
  := @ref_setup_sound.

Definition ref_eval_sound_statement :
  forall V : logic, definitions V ->
  forall Pre Post a n d f x value R result (P : pred bitseq),
    (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> c_size_t n ->
    readable Pre (span ref_node_cells a 0 (n - 1)) ->
    writable Pre (span pprf_seed_cells value 0 0) ->
    separated [:: span pprf_seed_cells value 0 0; span ref_node_cells a 0 (n - 1)] ->
    holds Pre a n (key_nodes V d P R) ->
    ref_eval_contract V Pre Post a n (Z.of_nat d) f (Z.of_N x) value R result ->
    let v := eval (@acsl_family V d) (punctured_key V d P R) (leaf_path d x) in
    List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM;
                       PPRF_ERR_CRYPTO] /\
    (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
    (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
    (result = PPRF_OK -> v = Some (seed_value V (pprf_seed_at Post value))) /\
    (result <> PPRF_OK -> forall q, span pprf_seed_cells value 0 0 q -> cell Post q = 0) /\
    unchanged Pre Post [:: span pprf_seed_cells value 0 0]
  := @ref_eval_sound.

Definition ref_eval_punct_sound_statement :
  forall V : logic, definitions V ->
  forall Pre Post a n cap d f x value R result (P : pred bitseq),
    (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> cell Pre n <= cap <= REF_NODES_MAX ->
    writable Pre (span ref_node_cells a 0 (cap - 1)) -> writable Pre (span 1 n 0 0) ->
    writable Pre (span pprf_seed_cells value 0 0) ->
    separated [:: span ref_node_cells a 0 (cap - 1); span 1 n 0 0;
                  span pprf_seed_cells value 0 0] ->
    holds Pre a (cell Pre n) (key_nodes V d P R) ->
    (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
    ref_eval_punct_contract V Pre Post a n cap (Z.of_nat d) f (Z.of_N x) value R result ->
    let p := leaf_path d x in
    let v := eval (@acsl_family V d) (punctured_key V d P R) p in
    List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER;
                       PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
    (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
    (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
    (result = PPRF_ERR_BUFFER -> cap < cell Pre n + Z.of_nat d) /\
    (result = PPRF_OK ->
       v = Some (seed_value V (pprf_seed_at Post value)) /\
       holds Post a (cell Post n) (key_nodes V d (predU P (pred1 p)) R) /\
       cell Post n <= cap /\ cell Post n <= cell Pre n + Z.of_nat d /\
       forall q, span ref_node_cells a (cell Post n) (cap - 1) q -> cell Post q = 0) /\
    (result <> PPRF_OK ->
       unchanged Pre Post [:: span pprf_seed_cells value 0 0] /\
       forall q, span pprf_seed_cells value 0 0 q -> cell Post q = 0) /\
    unchanged Pre Post [:: span ref_node_cells a 0 (cap - 1); span 1 n 0 0;
                           span pprf_seed_cells value 0 0]
  := @ref_eval_punct_sound.

Definition ref_punct_range_sound_statement :
  forall V : logic, definitions V ->
  forall Pre Post a n cap d f first last R result (P : pred bitseq),
    (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) ->
    cell Pre n <= cap <= REF_NODES_MAX ->
    writable Pre (span ref_node_cells a 0 (cap - 1)) -> writable Pre (span 1 n 0 0) ->
    separated [:: span ref_node_cells a 0 (cap - 1); span 1 n 0 0] ->
    holds Pre a (cell Pre n) (key_nodes V d P R) ->
    (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
    ref_punct_range_contract V Pre Post a n cap (Z.of_nat d) f (Z.of_N first) (Z.of_N last) R
      result ->
    let range := Range (leaf_path d first) (leaf_path d last) in
    List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER;
                       PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
    (result = PPRF_ERR_RANGE <-> ~ (first <= last /\ last < CModel.pow2 d)%num) /\
    (result = PPRF_ERR_PUNCTURED <-> (first <= last /\ last < CModel.pow2 d)%num /\
       forall y, (first <= y /\ y <= last)%num -> P (leaf_path d y)) /\
    (result = PPRF_ERR_BUFFER -> cap < cell Pre n + 2 * Z.of_nat d) /\
    (result = PPRF_OK ->
       holds Post a (cell Post n) (key_nodes V d (predU P (in_region range)) R) /\
       cell Post n <= cap /\ cell Post n <= cell Pre n + 2 * Z.of_nat d /\
       forall q, span ref_node_cells a (cell Post n) (cap - 1) q -> cell Post q = 0) /\
    (result <> PPRF_OK -> unchanged Pre Post [::]) /\
    unchanged Pre Post [:: span ref_node_cells a 0 (cap - 1); span 1 n 0 0]
  := @ref_punct_range_sound.

Definition acsl_seed_whole_statement :
  forall (V : logic) (L M : memory) (p q : pointer),
    (forall a b c e, seed_from_words V a b = seed_from_words V c e -> a = c /\ b = e) ->
    seed_value V (pprf_seed_at L p) = seed_value V (pprf_seed_at M q) ->
    forall k, (0 <= k < pprf_seed_cells)%Z -> cell L (shift 1 p k) = cell M (shift 1 q k)
  := @acsl_seed_whole.

From Pprf.spec Require Import AcslImport.
From Pprf.proofs Require Import ImportSound.

Definition ref_decode_sound_statement :
  forall (V : logic) Pre Post a n d buf result,
    let len := record_at V d n + DIGEST_BYTES in
    let file := span 1 buf 0 (len - 1) in
    let nodes := span ref_node_cells a 0 (n - 1) in
    sized V len d n -> starts V Pre buf d n -> c_size_t n -> c_uint8_t (cell Pre buf) ->
    readable Pre file -> writable Pre nodes -> separated [:: file; nodes] ->
    ref_decode_contract V Pre Post a n d buf result ->
    List.In result [:: PPRF_OK; PPRF_ERR_FORMAT; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
    (result = PPRF_OK ->
       key_file V Pre buf len d n /\ canonical V Post d a n /\ encodes V Post buf a n d) /\
    (result = PPRF_ERR_FORMAT -> ~ key_file V Pre buf len d n) /\
    (result <> PPRF_OK -> forall q, nodes q -> cell Post q = 0) /\
    unchanged Pre Post [:: nodes]
  := @ref_decode_sound.

Definition ref_import_sound_statement :
  forall V : logic, definitions V -> forall L a n d, 0 <= n -> canonical V L (Z.of_nat d) a n ->
    exists P : pred bitseq,
    (forall x, (x < CModel.pow2 d)%num -> covered V L a n (Z.of_N x) <-> ~~ P (leaf_path d x)) /\
    (let W := one_seed V in
     definitions W /\
     forall R, inv W L (seed_value W R) (Z.of_nat d) a n /\ holds L a n (key_nodes W d P R)) /\
    (let W := grafted V L a n in
     definitions W /\
     (exists R, inv W L (seed_value W R) (Z.of_nat d) a n /\ holds L a n (key_nodes W d P R)) /\
     forall k s h v, let c := ref_node_at L (shift ref_node_cells a k) in
       0 <= k < n -> 1 <= h -> ref_node_start c <= s ->
       s + pow2 V h <= ref_node_start c + pow2 V (ref_node_height c) ->
       prg_l W v s h = prg_l V v s h /\ prg_r W v s h = prg_r V v s h)
  := @ref_import_sound.

(* ---- AcslLayout.v: AcslOpt.v is written from the ACSL of opt/ ------------------------- *)

From Pprf.spec Require Import AcslOpt.
From Pprf.proofs Require Import AcslLayout.

Definition acsl_layout_facts_statement :
  forall V : layout, definitions V -> layout_definitions V -> layout_facts V
  := @acsl_layout_facts.

Definition acsl_layout_exists_statement :
  forall (V : logic) punctured, exists shift_right,
    layout_definitions {| layout_tree := V; shift_right := shift_right; is_punctured := punctured |}
  := @acsl_layout_exists.

Definition live_apart_lemma_statement :
  forall V : layout, definitions V -> layout_definitions V ->
  forall L b lo hi d, c_uint64_t lo -> c_uint64_t hi -> c_unsigned d -> d <= 32 ->
  forall s h t g, live V L b lo hi d s h -> live V L b lo hi d t g ->
    s = t /\ h = g \/ s + pow2 V h <= t \/ t + pow2 V g <= s
  := @live_apart_lemma.

Definition pair_slot_injective_lemma_statement :
  forall V : layout, definitions V -> layout_definitions V ->
  forall L b lo hi d, c_uint64_t lo -> c_uint64_t hi -> c_unsigned d -> 1 <= d <= 32 ->
  forall s h t g, live V L b lo hi d s h -> live V L b lo hi d t g -> Z.quot s 2 = Z.quot t 2 ->
    s = t /\ h = g
  := @pair_slot_injective_lemma.

Definition slot_overwritten_lemma_statement :
  forall V : layout, definitions V -> layout_definitions V ->
  forall d s h x, c_unsigned d -> c_uint64_t s -> c_unsigned h -> c_uint64_t x ->
    (1 <= h /\ h <= d /\ d <= 32) /\ tree_node V d s h /\ AcslRef.covers V s h x ->
    exists i, 0 <= i < h /\ Z.quot (beside V x i) 2 = Z.quot s 2
  := @slot_overwritten_lemma.

Definition puncture_lemma_statement :
  forall V : layout, definitions V -> layout_definitions V ->
  forall L b d s h x, c_unsigned d -> c_uint64_t s -> c_unsigned h -> c_uint64_t x ->
    1 <= d <= 32 /\ live V L b 0 0 d s h /\ AcslRef.covers V s h x ->
    (x < pow2 V d /\ covering_start V x h = s /\ ~ is_punctured V L b x) /\
    (forall i, 0 <= i < h -> live V L b x (x + 1) d (beside V x i) i) /\
    (forall t g, live V L b 0 0 d t g -> t = s /\ g = h \/ live V L b x (x + 1) d t g) /\
    (forall t g, live V L b x (x + 1) d t g ->
       live V L b 0 0 d t g /\ ~ (t = s /\ g = h) \/ 0 <= g < h /\ t = beside V x g)
  := @puncture_lemma.

Definition acsl_live_cover_statement :
  forall V : layout, definitions V -> layout_definitions V ->
  forall L b lo hi d (P : pred bitseq),
    (forall x, (x < CModel.pow2 d)%num ->
       P (leaf_path d x) <-> is_punctured V L b (Z.of_N x) \/ lo <= Z.of_N x < hi) ->
  forall R s h, live V L b lo hi (Z.of_nat d) s h <->
    exists2 q, q \in map fst (punctured_key V d P R) &
               s = Z.of_N (first_leaf d q) /\ h = Z.of_nat (d - size q)
  := @acsl_live_cover.

(* ---- AcslCodec.v -------------------------------------------------------------------- *)

From Pprf.spec Require Import AcslCodec.
From Pprf.proofs Require Import AcslCodec.

Definition acsl_encodes_statement :
  forall V : logic, definitions V ->
  forall sha3 : seq Codec.byte -> 32.-tuple Codec.byte, digest_is V sha3 ->
  forall L p a d (K : seq (node seed_block)),
    (d <= 32)%nat -> holds_nodes L a K ->
    encodes V L p a (Z.of_nat (size K)) (Z.of_nat d) <->
    holds_bytes L p (encode_key sha3 (KeyFile d K))
  := @acsl_encodes.

Definition ref_encode_sound_statement :
  forall V : logic, definitions V ->
  forall sha3 : seq Codec.byte -> 32.-tuple Codec.byte, digest_is V sha3 ->
  forall Pre Post buf a d (K : seq (node seed_block)) result,
    (0 < d <= 32)%nat -> all (fun m => in_tree d (start m) (height m)) K ->
    Z.of_nat (size K) <= CODEC_NODES_MAX -> c_uint8_t (cell Pre buf) ->
    let file := encode_key sha3 (KeyFile d K) in
    let room := span 1 buf 0 (Z.of_nat (size file) - 1) in
    let nodes := span ref_node_cells a 0 (Z.of_nat (size K) - 1) in
    writable Pre room -> readable Pre nodes -> separated [:: room; nodes] ->
    holds_nodes Pre a K ->
    ref_encode_contract V Pre Post buf a (Z.of_nat (size K)) (Z.of_nat d) result ->
    List.In result [:: PPRF_OK; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
    (result = PPRF_OK -> holds_bytes Post buf file) /\
    (result <> PPRF_OK -> forall q, room q -> cell Post q = 0) /\
    unchanged Pre Post [:: room]
  := @ref_encode_sound.

(* ---- KeccakSound.v ------------------------------------------------------------------ *)

From Pprf.spec Require Import LaneCode KeccakCode.
From Pprf.spec Require Fips202.
From Pprf.proofs Require Import KeccakSound.

Definition keccak_sound_statement :
  forall p lo hi,
    List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                  opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
    exists l0 l1 r0 r1,
    run iota_words p [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
    put_le 8 l0 ++ put_le 8 l1 ++ put_le 8 r0 ++ put_le 8 r1 =
    Fips202.sha3_256 (put_le 8 lo ++ put_le 8 hi)
  := @keccak_sound.

Definition salted_sound_statement :
  forall p lo hi salt_lo salt_hi id,
    List.In p [:: opt_salted_scalar; opt_salted_avx2; opt_salted_avx512; opt_salted_avx2_x4;
                  opt_salted_avx512_x4; opt_salted_avx512_x8] ->
    exists l0 l1 r0 r1,
    run iota_words p [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
    put_le 8 l0 ++ put_le 8 l1 ++ put_le 8 r0 ++ put_le 8 r1 =
    Fips202.sha3_256 ((put_le 8 lo ++ put_le 8 hi) ++ (put_le 8 salt_lo ++ put_le 8 salt_hi) ++ put_le 8 id)
  := @salted_sound.

(* ---- AesSound.v --------------------------------------------------------------------- *)

From Coq Require Import Init.Byte.
From Pprf.spec Require Import LaneCode AesCode.
From Pprf.spec Require Codec Fips197.
From Pprf.proofs Require Import AesSound.

Definition aes_sound_statement :
  forall lo hi salt_lo salt_hi id,
    exists l0 l1 r0 r1,
    run [::] opt_aes_bitsliced [:: lo; hi; salt_lo; salt_hi; id] =
      Some [:: l0; l1; r0; r1; 0]%num /\
    let seed := Codec.put_le 8 lo ++ Codec.put_le 8 hi in
    let salt := Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi in
    Codec.put_le 8 l0 ++ Codec.put_le 8 l1 = Fips197.aes_half seed salt (Codec.put_le 8 id) x00 /\
    Codec.put_le 8 r0 ++ Codec.put_le 8 r1 = Fips197.aes_half seed salt (Codec.put_le 8 id) x01
  := @aes_sound.

(* ---- AesVectorSound.v --------------------------------------------------------------- *)

From Pprf.spec Require VectorCode AesVectorCode.
From Pprf.proofs Require AesVectorSound.

Definition aes_lanes_sound_statement :
  forall f n (ss : seq VectorCode.step) (m : VectorCode.memory) salt_lo salt_hi,
    List.In (f, n) [:: (AesVectorCode.opt_aes_ni_x4, 4%nat); (AesVectorCode.opt_aes_vaes_x4, 4%nat);
                       (AesVectorCode.opt_aes_vaes_x8, 8%nat)] ->
    size ss = n ->
    all (fun s => 2 * VectorCode.start s + 2 ^ VectorCode.height s <? 2 ^ 64)%num ss ->
    all (fun s => size (m (VectorCode.seed_at s)) == 16%nat) ss ->
    uniq (map VectorCode.left_at ss ++ map VectorCode.right_at ss) ->
    exists m',
    VectorCode.run f (VectorCode.Call ss None 0) [:: VectorCode.word salt_lo; VectorCode.word salt_hi] m =
      Some ([::], m') /\
    (forall l s, (l < n)%nat -> nth None (map Some ss) l = Some s ->
      let seed := m (VectorCode.seed_at s) in
      let salt := Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi in
      let id := Codec.put_le 8 (2 * VectorCode.start s + 2 ^ VectorCode.height s)%num in
      m' (VectorCode.left_at s) = Fips197.aes_half seed salt id x00 /\
      m' (VectorCode.right_at s) = Fips197.aes_half seed salt id x01) /\
    (forall q, q \notin map VectorCode.left_at ss ++ map VectorCode.right_at ss -> m' q = m q)
  := @AesVectorSound.aes_lanes_sound.

(* ---- AesVectorPair.v ---------------------------------------------------------------- *)

From Pprf.proofs Require AesVectorPair.

Definition aes_ni_sound_statement :
  forall lo hi salt_lo salt_hi id (m : VectorCode.memory),
    let seed := Codec.put_le 8 lo ++ Codec.put_le 8 hi in
    let salt := Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi in
    VectorCode.run AesVectorCode.opt_aes_ni (VectorCode.Call [::] None 0)
      [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; id]] m =
    Some ([:: Fips197.aes_half seed salt (Codec.put_le 8 id) x00; Fips197.aes_half seed salt (Codec.put_le 8 id) x01;
              VectorCode.word 0], m)
  := @AesVectorPair.aes_ni_sound.

(* ---- KeccakVectorSound.v ------------------------------------------------------------ *)

From Pprf.spec Require KeccakVectorCode.
From Pprf.proofs Require KeccakVectorSound.

Definition keccak_lanes_sound_statement :
  forall f n (ss : seq VectorCode.step) (m : VectorCode.memory),
    List.In (f, n) [:: (KeccakVectorCode.opt_keccak_avx2_x4, 4%nat); (KeccakVectorCode.opt_keccak_avx512_x4, 4%nat);
                       (KeccakVectorCode.opt_keccak_avx512_x8, 8%nat)] ->
    size ss = n ->
    all (fun s => size (m (VectorCode.seed_at s)) == 16%nat) ss ->
    uniq (map VectorCode.left_at ss ++ map VectorCode.right_at ss) ->
    exists m', VectorCode.run f (VectorCode.Call ss None 0) [::] m = Some ([::], m') /\
    (forall l s, (l < n)%nat -> nth None (map Some ss) l = Some s ->
      let digest := Fips202.sha3_256 (m (VectorCode.seed_at s)) in
      m' (VectorCode.left_at s) = take 16 digest /\ m' (VectorCode.right_at s) = drop 16 digest) /\
    (forall q, q \notin map VectorCode.left_at ss ++ map VectorCode.right_at ss -> m' q = m q)
  := @KeccakVectorSound.keccak_lanes_sound.

Definition salted_lanes_sound_statement :
  forall f n (ss : seq VectorCode.step) (m : VectorCode.memory) salt_lo salt_hi,
    List.In (f, n) [:: (KeccakVectorCode.opt_salted_avx2_x4, 4%nat); (KeccakVectorCode.opt_salted_avx512_x4, 4%nat);
                       (KeccakVectorCode.opt_salted_avx512_x8, 8%nat)] ->
    size ss = n ->
    all (fun s => 2 * VectorCode.start s + 2 ^ VectorCode.height s <? 2 ^ 64)%num ss ->
    all (fun s => size (m (VectorCode.seed_at s)) == 16%nat) ss ->
    uniq (map VectorCode.left_at ss ++ map VectorCode.right_at ss) ->
    exists m',
    VectorCode.run f (VectorCode.Call ss None 0) [:: VectorCode.word salt_lo; VectorCode.word salt_hi] m =
      Some ([::], m') /\
    (forall l s, (l < n)%nat -> nth None (map Some ss) l = Some s ->
      let salt := Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi in
      let id := Codec.put_le 8 (2 * VectorCode.start s + 2 ^ VectorCode.height s)%num in
      let digest := Fips202.sha3_256 (m (VectorCode.seed_at s) ++ salt ++ id) in
      m' (VectorCode.left_at s) = take 16 digest /\ m' (VectorCode.right_at s) = drop 16 digest) /\
    (forall q, q \notin map VectorCode.left_at ss ++ map VectorCode.right_at ss -> m' q = m q)
  := @KeccakVectorSound.salted_lanes_sound.

Definition keccak_avx512_sound_statement :
  forall lo hi start (m : VectorCode.memory),
    exists l0 l1 r0 r1,
    VectorCode.run KeccakVectorCode.opt_keccak_avx512 (VectorCode.Call [::] None 0)
      [seq VectorCode.word w | w <- [:: lo; hi; start]] m =
      Some ([seq VectorCode.word w | w <- [:: l0; l1; r0; r1; 0]%num], m) /\
    Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 =
    Fips202.sha3_256 (Codec.put_le 8 lo ++ Codec.put_le 8 hi)
  := @KeccakVectorSound.keccak_avx512_sound.

Definition salted_avx512_sound_statement :
  forall lo hi salt_lo salt_hi id (m : VectorCode.memory),
    exists l0 l1 r0 r1,
    VectorCode.run KeccakVectorCode.opt_salted_avx512 (VectorCode.Call [::] None 0)
      [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; id]] m =
      Some ([seq VectorCode.word w | w <- [:: l0; l1; r0; r1; 0]%num], m) /\
    Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 =
    Fips202.sha3_256 ((Codec.put_le 8 lo ++ Codec.put_le 8 hi) ++
                      (Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi) ++ Codec.put_le 8 id)
  := @KeccakVectorSound.salted_avx512_sound.

(* ---- KeccakWalk.v ------------------------------------------------------------------- *)

From Pprf.proofs Require KeccakWalk.

Definition keccak_walk_sound_statement :
  forall lo hi salt_lo salt_hi leaf (height : nat) (copath : option (nat -> VectorCode.location))
         (m : VectorCode.memory),
    (leaf < 2 ^ 63)%num -> (height <= 63)%nat ->
    (forall place i j, copath = Some place -> (i < height)%nat -> (j < height)%nat -> place i = place j -> i = j) ->
    let G (_ : seq bool) s := let digest := Fips202.sha3_256 s in (take 16 digest, drop 16 digest) in
    let path := [seq N.testbit leaf (N.of_nat i) | i <- rev (iota 0 height)] in
    let seed := Ggm.descend G [::] (Codec.put_le 8 lo ++ Codec.put_le 8 hi) in
    exists x y m',
    VectorCode.run KeccakVectorCode.opt_keccak_avx512_descend (VectorCode.Call [::] copath height)
      [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; leaf]] m = Some ([:: x; y], m') /\
    x ++ y = seed path /\
    (forall place i, copath = Some place -> (i < height)%nat ->
      m' (place i) = seed (rcons (take (height - i.+1) path) (~~ N.testbit leaf (N.of_nat i)))) /\
    (forall q, (forall place i, copath = Some place -> (i < height)%nat -> q <> place i) -> m' q = m q)
  := @KeccakWalk.keccak_walk_sound.

Definition salted_walk_sound_statement :
  forall lo hi salt_lo salt_hi leaf (height : nat) (copath : option (nat -> VectorCode.location))
         (m : VectorCode.memory),
    (leaf < 2 ^ 63)%num -> (height <= 63)%nat ->
    (forall place i j, copath = Some place -> (i < height)%nat -> (j < height)%nat -> place i = place j -> i = j) ->
    let G (p : seq bool) s :=
      let width := (2 ^ N.of_nat (height - size p))%num in
      let id := (2 * (leaf / width * width) + width)%num in
      let digest := Fips202.sha3_256
        (s ++ (Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi) ++ Codec.put_le 8 id) in
      (take 16 digest, drop 16 digest) in
    let path := [seq N.testbit leaf (N.of_nat i) | i <- rev (iota 0 height)] in
    let seed := Ggm.descend G [::] (Codec.put_le 8 lo ++ Codec.put_le 8 hi) in
    exists x y m',
    VectorCode.run KeccakVectorCode.opt_salted_avx512_descend (VectorCode.Call [::] copath height)
      [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; leaf]] m = Some ([:: x; y], m') /\
    x ++ y = seed path /\
    (forall place i, copath = Some place -> (i < height)%nat ->
      m' (place i) = seed (rcons (take (height - i.+1) path) (~~ N.testbit leaf (N.of_nat i)))) /\
    (forall q, (forall place i, copath = Some place -> (i < height)%nat -> q <> place i) -> m' q = m q)
  := @KeccakWalk.salted_walk_sound.

(* ---- ShaSound.v --------------------------------------------------------------------- *)

From Pprf.spec Require Fips180 WordCode ShaCode.
From Pprf.proofs Require ShaSound.

Definition mls_sound_statement :
  forall s0 s1 s2 s3,
    exists l0 l1 l2 l3 r0 r1 r2 r3,
    WordCode.run_calling ShaCode.opt_sha256_compress ShaCode.opt_sha256_scalar [:: s0; s1; s2; s3] =
      Some [:: l0; l1; l2; l3; r0; r1; r2; r3; 0]%num /\
    let seed := Codec.put_le 8 s0 ++ Codec.put_le 8 s1 ++ Codec.put_le 8 s2 ++ Codec.put_le 8 s3 in
    Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 l2 ++ Codec.put_le 8 l3 = Fips180.tree_left seed /\
    Codec.put_le 8 r0 ++ Codec.put_le 8 r1 ++ Codec.put_le 8 r2 ++ Codec.put_le 8 r3 = Fips180.tree_right seed
  := @ShaSound.mls_sound.

(* ---- Sha3Security.v ----------------------------------------------------------------- *)

From Pprf.spec Require Import Reductions EvaluationGame RefGame Sha3Suite.
From Pprf.proofs Require Import RefSecurity Sha3Security.

Definition sha3_suite_ok_statement : suite_ok sha3_suite := sha3_suite_ok.

From Pprf.proofs Require Import KeccakSuite.

Definition keccak_is_the_suite_statement :
  forall p lo hi,
    List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                  opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
    exists l0 l1 r0 r1 : N,
    LaneCode.run iota_words p [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
    sha3_prg (seed_of_words (Z.of_N lo) (Z.of_N hi)) =
      (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1))
  := @keccak_is_the_suite.

Definition ref_sha3_secure_statement :
  forall (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory),
  meets_contracts sha3_suite d fails l F -> ready d l M0 -> cleared l M0 ->
  (forall (s : RefGame.block sha3_suite) (cs : seq (call * Fault)),
     let r := run_calls sha3_suite l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall p : pointer, cell r.2 p = @image sha3_suite d l M0 m.2 p) /\
  (forall A : ref_adversary sha3_suite Fault,
     `|ref_adv d l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block sha3_suite) sha3_prg
           (sha3_distinguisher d fails l M0 predT A)|)%R /\
  (forall (A : ref_adversary sha3_suite Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block sha3_suite) sha3_prg
           (sha3_distinguisher d fails l M0 (first_leaves 0 q) A)|)%R
  := @ref_sha3_secure.

From Pprf.spec Require Import OptGame CodeSuite.
From Pprf.proofs Require Import OptSecurity OptInhabited CodeSecurity.

Definition opt_sha3_secure_statement :
  forall (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory),
  opt_meets_contracts sha3_suite d fails marks shown l F M0 -> opt_ready sha3_suite d shown l M0 ->
  (forall (s : RefGame.block sha3_suite) (cs : seq (call * order Fault)),
     let r := opt_run_calls sha3_suite l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek sha3_suite d shown l r.2 q =
       @opt_image sha3_suite d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (forall A : opt_adversary sha3_suite Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block sha3_suite) sha3_prg
           (opt_distinguisher (S := sha3_suite) sha3_prg d fails marks shown l M0 predT A)|)%R /\
  (forall (A : opt_adversary sha3_suite Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block sha3_suite) sha3_prg
           (opt_distinguisher (S := sha3_suite) sha3_prg d fails marks shown l M0 (first_leaves 0 q) A)|)%R
  := @opt_sha3_secure.

Definition opt_inhabited_statement :
  forall (S : suite) (d : nat), suite_ok S -> (0 < d <= 32)%nat ->
  exists (l : opt_layout) (M0 : memory), forall shown : seq pointer, all (in_bitmap S d l M0) shown ->
  exists (marks : seq (Z * Z) -> seq Z -> call -> order bool -> seq Z) (F : opt_functions bool),
    opt_ready S d shown l M0 /\
    opt_meets_contracts S d (fun _ _ o => if o.1 then PPRF_ERR_NOMEM else PPRF_OK) marks shown l F M0
  := @opt_inhabited.

Definition ref_code_secure_statement :
  forall (p : program) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory),
  List.In p keccak_functions ->
  meets_contracts (keccak_suite p) d fails l F -> ready d l M0 -> cleared l M0 ->
  (forall (s : RefGame.block (keccak_suite p)) (cs : seq (call * Fault)),
     let r := run_calls (keccak_suite p) l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, cell r.2 q = @image (keccak_suite p) d l M0 m.2 q) /\
  (forall A : ref_adversary (keccak_suite p) Fault,
     `|ref_adv d l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block (keccak_suite p)) sha3_prg
           (ref_distinguisher (S := keccak_suite p) sha3_prg d fails l M0 predT A)|)%R /\
  (forall (A : ref_adversary (keccak_suite p) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block (keccak_suite p)) sha3_prg
           (ref_distinguisher (S := keccak_suite p) sha3_prg d fails l M0 (first_leaves 0 q) A)|)%R
  := @ref_code_secure.

Definition opt_code_secure_statement :
  forall (p : program) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> order Fault -> Z) (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z)
    (shown : seq pointer) (l : opt_layout) (F : opt_functions Fault) (M0 : memory),
  List.In p keccak_functions ->
  opt_meets_contracts (keccak_suite p) d fails marks shown l F M0 ->
  opt_ready (keccak_suite p) d shown l M0 ->
  (forall (s : RefGame.block (keccak_suite p)) (cs : seq (call * order Fault)),
     let r := opt_run_calls (keccak_suite p) l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek (keccak_suite p) d shown l r.2 q =
       @opt_image (keccak_suite p) d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (forall A : opt_adversary (keccak_suite p) Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block (keccak_suite p)) sha3_prg
           (opt_distinguisher (S := keccak_suite p) sha3_prg d fails marks shown l M0 predT A)|)%R /\
  (forall (A : opt_adversary (keccak_suite p) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : RefGame.block (keccak_suite p)) sha3_prg
           (opt_distinguisher (S := keccak_suite p) sha3_prg d fails marks shown l M0 (first_leaves 0 q) A)|)%R
  := @opt_code_secure.

(* ---- SaltedSecurity.v --------------------------------------------------------------- *)

From Pprf.spec Require Import SaltedSuite.
From Pprf.proofs Require Import SaltedSecurity.

Definition salted_is_the_suite_statement :
  forall p lo hi salt_lo salt_hi id,
    List.In p [:: opt_salted_scalar; opt_salted_avx2; opt_salted_avx512; opt_salted_avx2_x4;
                  opt_salted_avx512_x4; opt_salted_avx512_x8] ->
    exists l0 l1 r0 r1 : N,
    let s := seed_of_words (Z.of_N lo) (Z.of_N hi) in
    let salt := seed_of_words (Z.of_N salt_lo) (Z.of_N salt_hi) in
    LaneCode.run iota_words p [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
    (salted_left salt s (Z.of_N id), salted_right salt s (Z.of_N id)) =
      (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1))
  := @salted_is_the_suite.

Definition ref_salted_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory),
  meets_contracts (salted_suite salt) d fails l F -> ready d l M0 -> cleared l M0 ->
  (forall (s : RefGame.block (salted_suite salt)) (cs : seq (call * Fault)),
     let r := run_calls (salted_suite salt) l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (salted_prg salt d) (keygen s) cs in
     r.1 = m.1 /\ forall p : pointer, cell r.2 p = @image (salted_suite salt) d l M0 m.2 p) /\
  (forall A : ref_adversary (salted_suite salt) Fault,
     `|ref_adv d l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       `|prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
           (ref_node_attack (S := salted_suite salt) (salted_prg salt d) d fails l M0 predT A)|)%R /\
  (forall (A : ref_adversary (salted_suite salt) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
           (ref_node_attack (S := salted_suite salt) (salted_prg salt d) d fails l M0 (first_leaves 0 q) A)|)%R
  := @ref_salted_secure.

Definition opt_salted_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory),
  opt_meets_contracts (salted_suite salt) d fails marks shown l F M0 ->
  opt_ready (salted_suite salt) d shown l M0 ->
  (forall (s : RefGame.block (salted_suite salt)) (cs : seq (call * order Fault)),
     let r := opt_run_calls (salted_suite salt) l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (salted_prg salt d) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek (salted_suite salt) d shown l r.2 q =
       @opt_image (salted_suite salt) d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (forall A : opt_adversary (salted_suite salt) Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       `|prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
           (opt_node_attack (S := salted_suite salt) (salted_prg salt d) d fails marks shown l M0 predT A)|)%R /\
  (forall (A : opt_adversary (salted_suite salt) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
           (opt_node_attack (S := salted_suite salt) (salted_prg salt d) d fails marks shown l M0
              (first_leaves 0 q) A)|)%R
  := @opt_salted_secure.

(* ref_secure_by and opt_secure_by are the conclusions just spelt out. *)
Definition ref_salted_code_secure_statement :
  forall (salt : sha3_seed) (p : program) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (F : functions Fault) (M0 : memory),
  List.In p salted_functions ->
  meets_contracts (salted_code_suite salt p) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (salted_code_suite salt p) (salted_prg salt d) d Fault fails l F M0
  := @ref_salted_code_secure.

Definition opt_salted_code_secure_statement :
  forall (salt : sha3_seed) (p : program) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> order Fault -> Z) (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z)
    (shown : seq pointer) (l : opt_layout) (F : opt_functions Fault) (M0 : memory),
  List.In p salted_functions ->
  opt_meets_contracts (salted_code_suite salt p) d fails marks shown l F M0 ->
  opt_ready (salted_code_suite salt p) d shown l M0 ->
  @opt_secure_by (salted_code_suite salt p) (salted_prg salt d) d Fault fails marks shown l F M0
  := @opt_salted_code_secure.

Definition ref_drawn_secure_statement :
  forall (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout)
    (F : sha3_seed -> functions Fault) (M0 : memory),
  (forall salt, meets_contracts (salted_suite salt) d fails l (F salt)) -> ready d l M0 -> cleared l M0 ->
  forall A : (forall salt, ref_adversary (salted_suite salt) Fault),
  (`|avg (fun salt : sha3_seed => ref_adv d l (F salt) M0 (A salt))| <= (2 * (expn 2 d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
        (ref_node_attack (S := salted_suite salt) (salted_prg salt d) d fails l M0 predT (A salt)))|)%R /\
  (forall q : nat, (forall salt, tests_below_leaf (N.of_nat q) (A salt)) ->
  `|avg (fun salt : sha3_seed => ref_adv d l (F salt) M0 (A salt))| <= (2 * (q + d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
        (ref_node_attack (S := salted_suite salt) (salted_prg salt d) d fails l M0 (first_leaves 0 q)
           (A salt)))|)%R
  := @ref_drawn_secure.

Definition opt_drawn_secure_statement :
  forall (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : sha3_seed -> opt_functions Fault) (M0 : sha3_seed -> memory),
  (forall salt, opt_meets_contracts (salted_suite salt) d fails marks shown l (F salt) (M0 salt)) ->
  (forall salt, opt_ready (salted_suite salt) d shown l (M0 salt)) ->
  forall A : (forall salt, opt_adversary (salted_suite salt) Fault),
  (`|avg (fun salt : sha3_seed => opt_adv d shown l (F salt) (M0 salt) (A salt))| <= (2 * (expn 2 d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
        (opt_node_attack (S := salted_suite salt) (salted_prg salt d) d fails marks shown l (M0 salt) predT
           (A salt)))|)%R /\
  (forall q : nat, (forall salt, tests_below_leaf (N.of_nat q) (A salt)) ->
  `|avg (fun salt : sha3_seed => opt_adv d shown l (F salt) (M0 salt) (A salt))| <= (2 * (q + d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : RefGame.block (salted_suite salt)) (salted_prg salt d)
        (opt_node_attack (S := salted_suite salt) (salted_prg salt d) d fails marks shown l (M0 salt)
           (first_leaves 0 q) (A salt)))|)%R
  := @opt_drawn_secure.

(* ---- AesSecurity.v ------------------------------------------------------------------ *)

From Pprf.spec Require Import AesSuite.
From Pprf.proofs Require Import AesSecurity.

Definition aes_is_the_suite_statement :
  forall lo hi salt_lo salt_hi id,
    exists l0 l1 r0 r1 : N,
    let s := seed_of_words (Z.of_N lo) (Z.of_N hi) in
    let salt := seed_of_words (Z.of_N salt_lo) (Z.of_N salt_hi) in
    LaneCode.run [::] opt_aes_bitsliced [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
    (aes_left salt s (Z.of_N id), aes_right salt s (Z.of_N id)) =
      (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1))
  := @aes_is_the_suite.

(* ref_secure_by and opt_secure_by are the conclusions spelt out above for sha3-256-salted. *)
Definition ref_aes_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory),
  meets_contracts (aes_suite salt) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (aes_suite salt) (aes_prg salt d) d Fault fails l F M0
  := @ref_aes_secure.

Definition opt_aes_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory),
  opt_meets_contracts (aes_suite salt) d fails marks shown l F M0 ->
  opt_ready (aes_suite salt) d shown l M0 ->
  @opt_secure_by (aes_suite salt) (aes_prg salt d) d Fault fails marks shown l F M0
  := @opt_aes_secure.

Definition ref_aes_code_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory),
  meets_contracts (aes_code_suite salt) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (aes_code_suite salt) (aes_prg salt d) d Fault fails l F M0
  := @ref_aes_code_secure.

Definition opt_aes_code_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory),
  opt_meets_contracts (aes_code_suite salt) d fails marks shown l F M0 ->
  opt_ready (aes_code_suite salt) d shown l M0 ->
  @opt_secure_by (aes_code_suite salt) (aes_prg salt d) d Fault fails marks shown l F M0
  := @opt_aes_code_secure.

Definition aes_prg_is_the_family_statement :
  forall (salt : sha3_seed) (d : nat) (p : bitseq) (s : sha3_seed),
    aes_prg salt d p s = aes_family d 0 [:: salt] aes_cipher p s
  := @aes_prg_is_the_family.

Definition salted_prg_is_the_family_statement :
  forall (salt : sha3_seed) (d : nat) (p : bitseq) (s : sha3_seed),
    salted_prg salt d p s = salted_family d 0 [:: salt] p s
  := @salted_prg_is_the_family.

Definition opt_aes_prp_secure_statement :
  forall (salt : sha3_seed) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory),
  opt_meets_contracts (aes_code_suite salt) d fails marks shown l F M0 ->
  opt_ready (aes_code_suite salt) d shown l M0 ->
  let attack := opt_node_attack (S := aes_code_suite salt) (aes_prg salt d) d fails marks shown l M0 in
  (forall A : opt_adversary (aes_code_suite salt) Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (expn 2 d).-1)%:R *
       (`|prp_adv SuiteFamilies.zeros aes_cipher (ask_points (aes_point d 0 [:: salt]) (attack predT A))| +
        2%:R ^- 128))%R /\
  (forall (A : opt_adversary (aes_code_suite salt) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       (`|prp_adv SuiteFamilies.zeros aes_cipher
            (ask_points (aes_point d 0 [:: salt]) (attack (first_leaves 0 q) A))| +
        2%:R ^- 128))%R
  := @opt_aes_prp_secure.

(* ---- ApiSound.v: AcslApi.v is written from the contracts of opt's API ----------------- *)

From Pprf.spec Require Import Ggm AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From Pprf.proofs Require Import ApiSound.
Local Open Scope Z_scope.

Definition acsl_store_holds_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall L s d (P : pred bitseq) R,
  store_holds V L s d P R <->
  [/\ cell L s = Z.of_nat d, AcslApi.key V L (seed_value V R) s &
      forall x, (x < CModel.pow2 d)%num -> is_punctured V L s (Z.of_N x) <-> P (leaf_path d x)]
  := @acsl_store_holds.

Definition acsl_api_definitions_exist_statement :
  forall T root process leads nowhere, exists shift_right is_punctured whole cover_size,
  let V := api_intro (layout_intro (defined T) shift_right is_punctured) whole cover_size root process leads nowhere in
  [/\ definitions V, layout_definitions V & api_definitions V]
  := @acsl_api_definitions_exist.

Definition opt_eval_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d x out result (P : pred bitseq),
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_contract V Pre Post key (Z.of_N x) out result ->
  let v := eval (@acsl_family V d) (punctured_key V d P (key_root V)) (leaf_path d x) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK -> exists2 y, v = Some y & value_is Post out y) /\
  (result <> PPRF_OK -> value_zero Post out) /\
  unchanged Pre Post [:: value_cells out]
  := @opt_eval_sound.

Definition opt_punct_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d x result (P : pred bitseq),
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P ->
  pprf_punct_contract V Pre Post key (Z.of_N x) result ->
  let p := leaf_path d x in
  let v := eval (@acsl_family V d) (punctured_key V d P (key_root V)) p in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK -> store_holds V Post (store_of key) d (predU P (pred1 p)) (key_root V)) /\
  (result <> PPRF_OK -> unchanged Pre Post [::]) /\
  unchanged Pre Post (store_memory V Pre (store_of key))
  := @opt_punct_sound.

Definition opt_eval_punct_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d x out result (P : pred bitseq),
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_punct_contract V Pre Post key (Z.of_N x) out result ->
  let p := leaf_path d x in
  let v := eval (@acsl_family V d) (punctured_key V d P (key_root V)) p in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK ->
     (exists2 y, v = Some y & value_is Post out y) /\
     store_holds V Post (store_of key) d (predU P (pred1 p)) (key_root V)) /\
  (result <> PPRF_OK -> unchanged Pre Post [:: value_cells out] /\ value_zero Post out) /\
  unchanged Pre Post (store_memory V Pre (store_of key) ++ [:: value_cells out])
  := @opt_eval_punct_sound.

Definition opt_punct_range_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d first last result (P : pred bitseq),
  c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) -> own_key V Pre key d P ->
  pprf_punct_range_contract V Pre Post key (Z.of_N first) (Z.of_N last) result ->
  let range := Range (leaf_path d first) (leaf_path d last) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (first <= last /\ last < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (first <= last /\ last < CModel.pow2 d)%num /\
     forall y, (first <= y /\ y <= last)%num -> P (leaf_path d y)) /\
  (result = PPRF_OK -> store_holds V Post (store_of key) d (predU P (in_region range)) (key_root V)) /\
  (result <> PPRF_OK -> unchanged Pre Post [::]) /\
  unchanged Pre Post (store_memory V Pre (store_of key))
  := @opt_punct_range_sound.

Definition opt_node_count_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d result (P : pred bitseq),
  own_key V Pre key d P -> pprf_node_count_contract V Pre Post key result ->
  result = Z.of_nat (size (punctured_key V d P (key_root V))) /\ unchanged Pre Post [::]
  := @opt_node_count_sound.

Definition opt_refuses_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key, usable V Pre key ->
  (forall x out result, c_uint64_t x -> c_uint8_t (cell Pre out) ->
     out = null V \/ writable Pre (value_cells out) ->
     key = null V \/ out = null V \/ separated [:: value_cells out; span key_cells key 0 0] /\
       (copied V Pre key \/ outside_store V Pre (store_of key) (value_cells out)) ->
     pprf_eval_contract V Pre Post key x out result \/ pprf_eval_punct_contract V Pre Post key x out result ->
     (result = PPRF_ERR_NULL <-> key = null V \/ out = null V) /\
     (result = PPRF_ERR_FORKED <-> [/\ key <> null V, out <> null V & copied V Pre key])) /\
  (forall x result, c_uint64_t x -> pprf_punct_contract V Pre Post key x result ->
     (result = PPRF_ERR_NULL <-> key = null V) /\
     (result = PPRF_ERR_FORKED <-> key <> null V /\ copied V Pre key)) /\
  (forall first last result, c_uint64_t first -> c_uint64_t last ->
     pprf_punct_range_contract V Pre Post key first last result ->
     (result = PPRF_ERR_NULL <-> key = null V) /\
     (result = PPRF_ERR_FORKED <-> key <> null V /\ copied V Pre key)) /\
  (forall result, pprf_node_count_contract V Pre Post key result ->
     key = null V \/ copied V Pre key -> result = 0)
  := @opt_refuses.

(* ---- CostSound.v: what the contracts say of PRG calls ---------------------------------- *)

From Pprf.proofs Require Import CostSound.

Definition ref_eval_cost_sound_statement :
  forall V : logic, definitions V ->
  forall Pre Post a n d f x value R result (P : pred bitseq) before after,
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> c_size_t n ->
  readable Pre (span ref_node_cells a 0 (n - 1)) -> writable Pre (span pprf_seed_cells value 0 0) ->
  separated [:: span pprf_seed_cells value 0 0; span ref_node_cells a 0 (n - 1)] ->
  holds Pre a n (key_nodes V d P R) ->
  ref_eval_contract V Pre Post a n (Z.of_nat d) f (Z.of_N x) value R result ->
  ref_eval_cost V Pre Post a n (Z.of_nat d) f (Z.of_N x) value R result before after ->
  after <= before + expanded_at V d P R x
  := @ref_eval_cost_sound.

Definition ref_eval_punct_cost_sound_statement :
  forall V : logic, definitions V ->
  forall Pre Post a n cap d f x value R result (P : pred bitseq) before after,
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> cell Pre n <= cap <= REF_NODES_MAX ->
  writable Pre (span ref_node_cells a 0 (cap - 1)) -> writable Pre (span 1 n 0 0) -> writable Pre (span pprf_seed_cells value 0 0) ->
  separated [:: span ref_node_cells a 0 (cap - 1); span 1 n 0 0; span pprf_seed_cells value 0 0] ->
  holds Pre a (cell Pre n) (key_nodes V d P R) ->
  (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
  ref_eval_punct_contract V Pre Post a n cap (Z.of_nat d) f (Z.of_N x) value R result ->
  ref_eval_punct_cost V Pre Post a n cap (Z.of_nat d) f (Z.of_N x) value R result before after ->
  after <= before + expanded_at V d P R x
  := @ref_eval_punct_cost_sound.

Definition ref_punct_range_cost_sound_statement :
  forall V : logic, definitions V ->
  forall Pre Post a n cap d f first last R result (P : pred bitseq) before after,
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) ->
  cell Pre n <= cap <= REF_NODES_MAX ->
  writable Pre (span ref_node_cells a 0 (cap - 1)) -> writable Pre (span 1 n 0 0) ->
  separated [:: span ref_node_cells a 0 (cap - 1); span 1 n 0 0] ->
  holds Pre a (cell Pre n) (key_nodes V d P R) ->
  (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
  ref_punct_range_cost V Pre Post a n cap (Z.of_nat d) f (Z.of_N first) (Z.of_N last) R result before after ->
  after <= before + 2 * Z.of_nat d /\
  (List.In result [:: PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER] -> after <= before)
  := @ref_punct_range_cost_sound.

Definition opt_eval_cost_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d x out result (P : pred bitseq) before after,
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_contract V Pre Post key (Z.of_N x) out result ->
  pprf_eval_cost V Pre Post key (Z.of_N x) out result before after ->
  after <= before + expanded_at V d P (key_root V) x
  := @opt_eval_cost_sound.

Definition opt_punct_cost_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d x result (P : pred bitseq) before after,
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P ->
  pprf_punct_contract V Pre Post key (Z.of_N x) result ->
  pprf_punct_cost V Pre Post key (Z.of_N x) result before after ->
  after <= before + expanded_at V d P (key_root V) x
  := @opt_punct_cost_sound.

Definition opt_eval_punct_cost_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d x out result (P : pred bitseq) before after,
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_punct_contract V Pre Post key (Z.of_N x) out result ->
  pprf_eval_punct_cost V Pre Post key (Z.of_N x) out result before after ->
  after <= before + expanded_at V d P (key_root V) x
  := @opt_eval_punct_cost_sound.

Definition opt_punct_range_cost_sound_statement :
  forall V : api, definitions V -> layout_definitions V -> api_definitions V ->
  forall Pre Post key d first last result (P : pred bitseq) before after,
  c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) -> own_key V Pre key d P ->
  pprf_punct_range_contract V Pre Post key (Z.of_N first) (Z.of_N last) result ->
  pprf_punct_range_cost V Pre Post key (Z.of_N first) (Z.of_N last) result before after ->
  after <= before + 2 * Z.of_nat d /\
  (result = PPRF_ERR_RANGE \/ result = PPRF_ERR_PUNCTURED -> after <= before)
  := @opt_punct_range_cost_sound.

Definition expanded_at_depth_statement :
  forall V : logic,
  forall d (P : pred bitseq) R x,
  expanded_at V d P R x <= Z.of_nat d
  := @expanded_at_depth.

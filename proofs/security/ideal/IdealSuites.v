(* SPDX-License-Identifier: Apache-2.0 *)
(* The bounds with an ideal PRG for the suites: bare seeds, and seeds hashed with a salt and a position. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame.
From Pprf.proofs Require Import Compat Correctness Sizes ProbabilityFacts EvaluationSecurity IdealSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ---- Bare and salted families ----------------------------------------------------------------------- *)

Lemma count_le_clashes (T : eqType) (t : T) ts : (count (pred1 t) ts <= (clashes ts).+1)%N.
Proof.
elim: ts => //= u ts IH; case: eqP => [->|_]; first by rewrite add1n ltnS leq_addr.
by rewrite add0n; apply: leq_trans IH _; rewrite ltnS leq_addl.
Qed.

Lemma clashes_le (T : eqType) (ts : seq T) m : (forall t, count (pred1 t) ts <= m.+1)%N ->
  (clashes ts <= size ts * m)%N.
Proof.
elim: ts => //= t ts IH B; rewrite mulSn leq_add //; first by have := B t; rewrite /= eqxx.
by apply: IH => u; apply: leq_trans (B u); rewrite /= leq_addl.
Qed.

Lemma clashes_const (T : eqType) (t : T) n : clashes (nseq n t) = 'C(n, 2).
Proof. by elim: n => //= n ->; rewrite count_nseq /= eqxx mul1n binS bin1 addnC. Qed.

Lemma avg_count (X : finType) (xs : seq X) :
  avg (fun x => (count (pred1 x) xs)%:R) = (size xs)%:R / #|X|%:R :> rat.
Proof.
elim: xs => [|y xs IH] /=; first by rewrite /avg sumr_const mul0rn !mul0r.
have E x : ((x == y) + count (pred1 x) xs)%:R = (x == y)%:R + (count (pred1 x) xs)%:R :> rat by rewrite natrD.
under eq_avg => x do rewrite eq_sym E.
by rewrite avgD avg_eq1 IH -add1n natrD mulrDl mul1r.
Qed.

Lemma ex_clashes (X : finType) (x0 : X) n :
  ex (unifs x0 n) (fun xs => (clashes xs)%:R) = ('C(n, 2))%:R / #|X|%:R :> rat.
Proof.
elim: n => [|n IH]; first by rewrite /= mul0r.
rewrite ex_unifsS -ex_avg.
rewrite (@eq_ex_unifs _ x0 n _ (fun xs => n%:R / #|X|%:R - (0 - (clashes xs)%:R))).
  by rewrite !ex_sub !ex_const IH sub0r opprK -mulrDl -natrD binS bin1 addnC.
move=> xs sz /=; under eq_avg => x do rewrite natrD.
by rewrite avgD avg_count sz (avg_const x0) sub0r opprK.
Qed.

Lemma ex_scale T (p : prog T) (a : rat) f : ex p (fun t => a * f t) = a * ex p f.
Proof. by elim: p => //= X x0 k IH; rewrite (eq_avg IH) avg_mull. Qed.

Lemma ex_shift T (p : prog T) (a : rat) f : ex p (fun t => a + f t) = a + ex p f.
Proof. by elim: p => //= X x0 k IH; rewrite (eq_avg IH) avgD (avg_const x0). Qed.

Lemma avg_norm_avg (X : finType) (f h : X -> rat) : (forall x, `|f x| <= h x) -> `|avg f| <= avg h.
Proof.
move=> B; rewrite ler_norml -sub0r le_sub_add -avgD avg_ge0 /=.
  by apply: avg_le => x; have := B x; rewrite ler_norml => /andP [].
by move=> x; have := B x; rewrite ler_norml => /andP [l _]; rewrite -le_sub_add sub0r.
Qed.

Lemma ex_unifs_norm (X : finType) (x0 : X) n f h : (forall xs, size xs = n -> `|f xs| <= h xs) ->
  `|ex (unifs x0 n) f| <= ex (unifs x0 n) h.
Proof.
elim: n f h => [|n IH] f h B; first exact: B.
rewrite !ex_unifsS; apply: avg_norm_avg => x; apply: IH => xs sz; apply: B.
by rewrite /= sz.
Qed.

Section Families.
Variable Seed : finType.
Variable s0 : Seed.
Variables d c : nat.
Hypothesis cd : (c <= d)%N.

(* 2^c users who hash only the bare seed: every inner node of every user is a target of every
   query. *)
Lemma bare_adv_bound (A : id_adversary Seed d _) (Q : nat) : hashes_at_most Q A ->
  `|id_adv s0 bare_tag c A| <=
    ((2 ^ d - 2 ^ c) * Q + 'C(2 ^ d - 2 ^ c, 2))%:R / #|Seed|%:R.
Proof.
move=> H; have sz := @size_inner d c cd; set n := (2 ^ d - 2 ^ c)%N in sz *.
have -> : 'C(n, 2) = clashes (map bare_tag (inner d c)).
  rewrite -[in LHS]sz -(clashes_const tt); congr clashes.
  by elim: (inner d c) => //= p ps <-.
apply: (@id_adv_bound Seed s0 d _ bare_tag c cd A Q n) => // t.
by rewrite /targets -sz count_size.
Qed.

Variable Salt : finType.
Variable salt0 : Salt.

(* Nodes with the same salt and place: at most one for each user with this salt. *)
Lemma placed_targets (Place : eqType) (place : bitseq -> Place) (ts : seq Salt) (t : Salt * Place) :
  (forall p q, (size p <= d - c)%N -> (size q <= d - c)%N -> place p = place q -> p = q) ->
  size ts = (2 ^ c)%N ->
  (count (fun p => (nth salt0 ts (val (take c p)), place (drop c p)) == t) (inner d c) <=
   count (pred1 t.1) ts)%N.
Proof.
move=> inj sz; rewrite -size_filter.
set ps := filter _ _; pose user p := val (take c p).
have sp p : p \in ps -> [/\ (c <= size p < d)%N, nth salt0 ts (user p) = t.1 & place (drop c p) = t.2].
  by rewrite mem_filter mem_inner // => /andP [/eqP <- s].
have sd (p : bitseq) : (c <= size p < d)%N -> (size (drop c p) <= d - c)%N.
  by case/andP=> _ pd; rewrite size_drop leq_sub2r // ltnW.
have -> : count (pred1 t.1) ts = size [seq i <- iota 0 (2 ^ c) | nth salt0 ts i == t.1].
  by rewrite size_filter -{1}(mkseq_nth salt0 ts) sz count_map.
rewrite -(size_map user); apply: uniq_leq_size.
  rewrite map_inj_in_uniq ?filter_uniq ?inner_uniq // => p q /sp [hp _ Dp] /sp [hq _ Dq] E.
  rewrite -(cat_take_drop c p) -(cat_take_drop c q) (inj _ _ (sd p hp) (sd q hq)) ?Dp ?Dq //.
  case/andP: hp => cp _; case/andP: hq => cq _; congr (_ ++ _).
  by apply: val_inj E; rewrite !size_takel.
move=> i /mapP [p /sp [/andP [cp _] E _] ->]; rewrite mem_filter E eqxx mem_iota /=.
by have := val_lt (take c p); rewrite size_takel.
Qed.

(* Users who draw salts, and tags that are shared by at most one node more than there are clashes
   of salts. *)
Lemma drawn_adv_bound (Tag : finType) (tag : seq Salt -> bitseq -> Tag) (A : seq Salt -> id_adversary Seed d Tag)
    (Q : nat) :
  (forall ts t, size ts = (2 ^ c)%N -> (targets d (tag ts) c t <= (clashes ts).+1)%N) ->
  (forall ts, hashes_at_most Q (A ts)) ->
  `|Pr (ts <-$ unifs salt0 (2 ^ c) ;; id_game s0 (tag ts) c Real (A ts)) -
    Pr (ts <-$ unifs salt0 (2 ^ c) ;; id_game s0 (tag ts) c Ideal (A ts))| <=
    (Q%:R + (Q + (2 ^ d - 2 ^ c))%:R * ('C(2 ^ c, 2))%:R / #|Salt|%:R) / #|Seed|%:R.
Proof.
move=> few H; rewrite !Pr_bind -ex_sub.
pose n := (2 ^ d - 2 ^ c)%N; pose S := #|Seed|%:R : rat.
have B ts : size ts = (2 ^ c)%N -> `|id_adv s0 (tag ts) c (A ts)| <=
    (Q%:R + (Q + n)%:R * (clashes ts)%:R) / S.
  move=> sz; have T t := few ts t sz.
  apply: le_trans (@id_adv_bound Seed s0 d _ _ c cd (A ts) Q _ T (H ts)) _.
  have K : (clashes (map (tag ts) (inner d c)) <= n * clashes ts)%N.
    rewrite /n -(@size_inner d c cd) -(size_map (tag ts)); apply: clashes_le => t.
    by rewrite count_map; apply: T.
  apply: le_mul2r; first by rewrite invr_ge0 ler0n.
  rewrite -natrM -natrD ler_nat mulSn mulnDl -addnA leq_add2l [(_ * Q)%N]mulnC leq_add2l; exact: K.
have -> : (Q%:R + (Q + n)%:R * ('C(2 ^ c, 2))%:R / #|Salt|%:R) / S =
    ex (unifs salt0 (2 ^ c)) (fun ts => (Q%:R + (Q + n)%:R * (clashes ts)%:R) / S).
  have E (ts : seq Salt) : (Q%:R + (Q + n)%:R * (clashes ts)%:R) / S = Q%:R / S + ((Q + n)%:R / S) * (clashes ts)%:R.
    by rewrite mulrDl; congr (_ + _); rewrite mulrAC.
  rewrite (eq_ex _ E) ex_shift ex_scale ex_clashes mulrDl; congr (_ + _).
  by rewrite [RHS]mulrACA -[LHS]mulrA; congr (_ * _); apply: mulrC.
exact: ex_unifs_norm.
Qed.

End Families.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The cost of the reductions of EvaluationGame.v: PRG calls and random draws. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness ProbabilityFacts ReductionFacts.
From Pprf.proofs Require Import EvaluationSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section EvaluationCost.
Variable Seed : finType.
Variable s0 : Seed.
Variable d : nat.
Local Notation ev_reply := (@ev_reply Seed d).
Local Notation anything := (fun _ _ _ => True).
Implicit Types (A : ev_adversary Seed d) (L : key Seed).

(* with n calls and r draws left at the end *)
Definition left_over (T : Type) (n r : nat) (i j : nat) (t : T) : Prop := n <= i /\ r <= j.

Lemma walk_cost n r p (s : Seed) y : runs_within (size y + n) r (walk p s y) (left_over n r).
Proof. by elim: y p s => [|b y IH] p s //= ab; apply: IH. Qed.

Lemma left_over_le T n n' r r' i i' j j' (t : T) : n <= n' -> r <= r' ->
  i <= i' -> j <= j' -> left_over n' r' i j t -> left_over n r i' j' t.
Proof. by move=> nn rr ii jj [ni rj]; split; [apply: leq_trans ii|apply: leq_trans jj];
  [apply: leq_trans ni|apply: leq_trans rj]. Qed.

Lemma find_seed_cost L n r q : size q <= d ->
  runs_within (d + n) r (find_seed s0 L q) (left_over n r).
Proof.
move=> le; elim: L => /= [|m L IH]; first by split; rewrite ?leq_addl.
case: ifP => // _; apply: runs_within_le (walk_cost n r m.1 m.2 _) => //.
  by rewrite leq_add2r (leq_trans _ le) // size_drop leq_subr.
by move=> i i' j j' t; apply: left_over_le.
Qed.

Lemma runs_le T n n' m m' N M (c : code Seed T) : n <= n' -> m <= m' ->
  runs_within n m c (left_over N M) -> runs_within n' m' c (left_over N M).
Proof. by move=> nn mm; apply: runs_within_le => // i i' j j' t; apply: left_over_le. Qed.

Lemma find_seeds_cost L (K : key unit) n r : Correctness.within d K ->
  runs_within (size K * d + n) r (find_seeds s0 L K) (left_over n r).
Proof.
elim: K n => [|m K IH] n /= ; first by split.
case/andP => md W; rewrite mulSn -addnA.
apply: runs_within_bind (find_seed_cost L _ r md) _ => i j s [ni rj].
apply: runs_within_bind (runs_le ni rj (IH n W)) _ => i' j' M [ni' rj'].
by split.
Qed.

(* one query *)
Lemma query_cost L cut_off q m n r (st : ev_state unit) a : Correctness.within d (held st) ->
  let: (i, j, K) := cost (held st) a in
  i <= q -> j <= m -> (q + m) * d <= n -> q <= r ->
  runs_within n r (@cut_oracle Seed s0 d L cut_off st a) (fun n' r' rs =>
    [/\ (q - i + (m - j)) * d <= n', q - i <= r', held rs.2 = K & Correctness.within d K]).
Proof.
move=> W; have ev x : size x <= d -> 0 < q -> (q + m) * d <= n -> q <= r ->
    runs_within n r (find_seed s0 L x) (left_over ((q - 1 + m) * d) r).
  move=> sx q0 nd qr; apply: runs_le (leqnn _) (find_seed_cost L _ _ sx) => //.
  by rewrite -mulSn -addSn subn1 prednK.
have le1 : (q - 1 + m) * d <= (q + m) * d by rewrite leq_mul2r leq_add2r leq_subr orbT.
case: a => [x|[p ok]|x|[p ok]] /=; rewrite ?subn0 => qi mj nd qr.
- have qr1 : q - 1 <= r := leq_trans (leq_subr _ _) qr.
  case: ifP => _; first by split=> //; apply: leq_trans nd.
  case: ifP => _; last by split=> //; apply: leq_trans nd.
  apply: runs_within_bind (ev x _ _ _ _) _ => // [|i j s [ni rj]]; first by rewrite size_tuple.
  by split=> //; apply: leq_trans rj.
- by split=> //; apply: within_puncture.
- have qr1 : q - 1 <= r := leq_trans (leq_subr _ _) qr.
  case: ifP => _; last by split=> //; apply: leq_trans nd.
  case: ifP => _ /=.
    rewrite -(prednK (leq_trans qi qr)) /= => s.
    by split=> //; rewrite ?(leq_trans le1) // -(subn1 r) leq_sub2r.
  apply: runs_within_bind (ev x _ _ _ _) _ => // [|i j s [ni rj]]; first by rewrite size_tuple.
  by split=> //; apply: leq_trans rj.
- set N := size _ in mj *; have le : (q + (m - N)) * d <= (q + m) * d.
    by rewrite leq_mul2r leq_add2l leq_subr orbT.
  case: ifP => _; first by split=> //; apply: leq_trans nd.
  have WD := within_delegate ok W.
  apply: runs_within_bind (runs_le _ _ (find_seeds_cost L ((q + (m - N)) * d) r WD)) _ => //.
    by rewrite -mulnDl addnCA subnKC.
  by move=> i j K [ni rj]; split=> //; apply: leq_trans rj.
Qed.

Lemma simulate_cost v L cut_off q m n r (st : ev_state unit) A : asks_at_most q m (held st) A ->
  Correctness.within d (held st) -> (q + m) * d <= n -> q <= r ->
  runs_within n r (simulate v (cut_oracle s0 L cut_off) st A) anything.
Proof.
elim: A q m n r st => [b|X x0 k IH|a k IH] q m n r st //=.
  by move=> H W nd qr x; apply: IH (H x) W nd qr.
move=> H W nd qr; move: (@query_cost L cut_off q m n r st a W) H.
case: (cost _ _) => [[i j] K'] C [iq jm H].
apply: runs_within_bind (C iq jm nd qr) _ => n' r' rs [nd' qr' E W'].
by apply: IH nd' qr'; rewrite E.
Qed.

(* a cut has fewer siblings than levels, and the other users' roots *)
Lemma cuts_below_width n before p after :
  all (fun x : cut => size x.1.1 + size x.2 <= size before + size after + n)
    (cuts_below n before p after).
Proof.
elim: n before p after => //= n IH before p after; rewrite leq_addr all_cat /=.
apply/andP; split; apply: sub_all (IH _ _ _) => x; rewrite /= ?size_rcons => /leq_trans; apply.
  by rewrite !addnS addSn.
by rewrite !addSn addnS.
Qed.

Lemma cuts_of_width n before ps :
  all (fun x : cut => size x.1.1 + size x.2 < size before + size ps + n) (cuts_of n before ps).
Proof.
elim: ps before => //= p ps IH before; rewrite all_cat; apply/andP; split.
  by apply: sub_all (cuts_below_width _ _ _ _) => x /=; rewrite addnS addSn ltnS.
by apply: sub_all (IH _) => x; rewrite size_rcons addSnnS.
Qed.

Lemma cut_reduction_cost c w q m (x : cut) A : c <= d -> size x.1.1 + size x.2 < 2 ^ c + d ->
  asks_at_most q m (bare_roots c) A ->
  costs_at_most ((q + m) * d) (2 ^ c + d + q) (cut_reduction s0 c w x A).
Proof.
case: x => -[before p] after /= cd sz H; rewrite /costs_at_most -(subnKC (ltnW sz)) -!addnA.
apply: runs_within_bind (samples_cost s0 _ _ _) _ => i j ls [-> -> _].
apply: runs_within_bind (samples_cost s0 _ _ _) _ => {}i {}j rs [-> -> _] /= ab.
by apply: (@simulate_cost _ _ _ q m); rewrite ?leq_addl //; apply: st0_ok.
Qed.

(* At most one PRG call for each level of each value and of each node that the adversary gets; at
   most one draw for each value, for each level and for each user's root. *)
Theorem ev_reduction_cost c U q m A : c <= d -> asks_at_most q m (bare_roots c) A ->
  (forall w (x : cut), x \in cuts d c U ->
     costs_at_most ((q + m) * d) (2 ^ c + d + q) (cut_reduction s0 c w x A)) /\
  costs_at_most ((q + m) * d) (2 ^ c + d + q + 2) (ev_guess s0 c U A).
Proof.
move=> cd H.
have sz x : x \in cuts d c U -> size x.1.1 + size x.2 < 2 ^ c + d.
  rewrite mem_filter => /andP [_ /(allP (cuts_of_width _ _ _))].
  by rewrite size_roots => /leq_trans; apply; rewrite leq_add2l leq_subr.
split=> [w x /sz s|]; first exact: cut_reduction_cost.
rewrite /costs_at_most addn2 /= => real t.
set x := nth _ _ _; have {}sz : size x.1.1 + size x.2 < 2 ^ c + d.
  case: (ltnP t (size (cuts d c U))) => lt; first by apply/sz/mem_nth.
  by rewrite /x nth_default //= addn_gt0 expn_gt0.
apply: runs_within_bind (cut_reduction_cost _ cd sz H) _ => i j pk C /= ab.
by apply: runs_within_bind (C ab) _.
Qed.

End EvaluationCost.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Sub-keys for ranges reveal no more than sub-keys for prefixes: the game with both is the game of
   EvaluationGame.v for an explicit adversary, so its bounds hold. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Delegation Probability Games Reductions Oracle EvaluationGame DelegationGame.
From Pprf.proofs Require Import Correctness RangeDelegation ProbabilityFacts EvaluationSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section DelegationSecurity.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Implicit Types (A : share_adversary Seed d) (st : ev_state Seed).
Local Notation same := (fun _ b => b).
Local Notation cover := (Ggm.cover G).

(* The sub-key for a range is that of its maximal prefixes, one after the other. *)
Lemma delegate_prefixes n (P N : pred bitseq) p s :
  flatten [seq delegate G q.1 (cover n P p s) | q <- Ggm.cover no_seed n N p tt] =
  cover n (fun x => P x || N x) p s.
Proof.
elim: n P N p s => [|n IH] P N p s.
  case E: (N [::]); rewrite [X in map _ X]/= [RHS]/= E ?orbT ?orbF //=.
  by rewrite cats0 -/(delegate G p (cover 0 P p s)) [LHS](@delegate_under _ G 0) ?prefix_refl.
case h: (has_leaf n.+1 N); last first.
  rewrite (@cover_no_leaf _ no_seed) ?h // [LHS]cats0 delegate_under ?prefix_refl //; apply: eq_cover => x sx.
  by move/negbT/no_leafP: h => -> //; rewrite orbF.
rewrite [X in map _ X]cover_has_leafS // map_cat flatten_cat [RHS]cover_has_leafS; last first.
  by case/has_leafP: h => x sx Nx; apply/has_leafP; exists x; rewrite ?Nx ?orbT.
have E b : flatten [seq delegate G q.1 (cover n.+1 P p s)
     | q <- Ggm.cover no_seed n (below N b) (rcons p b) (child no_seed p b tt)] =
   cover n (below (fun x => P x || N x) b) (rcons p b) (child G p b s); last by rewrite !E.
have -> : child no_seed p b tt = tt by case: (child _ _ _ _).
rewrite -[RHS](IH (below P b)); have := cover_size no_seed n (below N b) (rcons p b) tt.
have := cover_prefix no_seed n (below N b) (rcons p b) tt.
set K := cover n.+1 P p s; elim: (Ggm.cover _ _ _ _ _) => //= q L IHL /andP [/prefixP [x E] pL] /andP [sq sL].
rewrite (IHL pL sL) E; congr (_ ++ _); move: sq; rewrite E size_cat leq_add2l => sx.
by rewrite delegate_cover // cat_rcons /K delegate_cover.
Qed.

Lemma prefixes_keys (P N : pred bitseq) s :
  flatten [seq delegate G (sval r) (cover d P [::] s) | r <- maximal_prefixes d N] =
  cover d (fun x => P x || N x) [::] s.
Proof.
rewrite -(delegate_prefixes d P) /maximal_prefixes; have := cover_size no_seed d N [::] tt.
by elim: (Ggm.cover _ _ _ _ _) => //= q L IH /andP [sq sL]; rewrite insubT /= IH.
Qed.

(* the leaves below these prefixes are those that are not in N *)
Lemma prefixes_mem (N : pred bitseq) (x : bitseq) : size x = d ->
  has (fun r => prefix (sval r) x) (maximal_prefixes d N) = ~~ N x.
Proof.
move=> sx; have := @eval_cover unit no_seed d N [::] tt x sx.
rewrite /maximal_prefixes; have := cover_size no_seed d N [::] tt.
case: (N x) => /=; elim: (Ggm.cover _ _ _ _ _) => //= q L IH /andP [sq sL];
  by rewrite insubT /=; case: (prefix q.1 x) => //=; apply: IH.
Qed.

Lemma alive_cover (P : pred bitseq) s (x : bitseq) : size x = d -> alive (cover d P [::] s) x = ~~ P x.
Proof.
move=> sx; have := @eval_cover Seed G d P [::] s x sx; rewrite /alive.
by case: (P x) => /=; elim: (cover _ _ _ _) => //= q L IH; case: (prefix q.1 x).
Qed.

(* two states that differ in nothing that matters: revealed is a set of leaves *)
Definition alike st st' : Prop :=
  [/\ held st = held st', tested st = tested st', all (fun x => size x == d) (tested st) &
      forall x : bitseq, size x = d -> revealed st x = revealed st' x].

Lemma take_keys_value w K0 (ps : seq {p : bitseq | (size p <= d)%N}) M st (k : key Seed -> ev_adversary Seed d) :
  ~~ has (fun r => spoils (sval r) st) ps ->
  exists st', [/\ held st' = held st, tested st' = tested st,
    (forall x, revealed st' x = revealed st x || has (fun r => prefix (sval r) x) ps && alive (held st) x) &
    Pr (interact same (ev_oracle s0 G w K0) st (take_keys ps M k)) =
    Pr (interact same (ev_oracle s0 G w K0) st'
      (k (M ++ flatten [seq delegate G (sval r) (held st) | r <- ps])))].
Proof.
elim: ps M st => [|p ps IH] M st /=; first by exists st; rewrite cats0; split=> // x; rewrite orbF.
case/norP => /negbTE sp np; rewrite sp /=.
have [|st' [Eh Et Er ->]] := IH (M ++ delegate G (sval p) (held st)) (reveal (sval p) st).
  exact: np.
by exists st'; rewrite catA; split=> // x; rewrite Er /= andb_orl orbA.
Qed.

Lemma as_prefixes_value w s rs st st' A : all (region_ok d) rs -> alike st st' ->
  held st = cover d (punctured rs) [::] s ->
  Pr (interact same (share_oracle s0 G w (keygen s)) st A) =
  Pr (interact same (ev_oracle s0 G w (keygen s)) st' (as_prefixes rs (tested st) A)).
Proof.
elim: A st st' rs => [b|X x0 k IH|[[x|[r okr]|x|[p sp]]|f l] k IH] st st' rs ok al Ec //=;
  have [Eh Et At Er] := al.
- by apply: eq_avg => z; apply: IH.
- have Es : spoils x st' = spoils x st by rewrite /spoils -Et -Eh.
  rewrite Es -Eh; case: ifP => _; first exact: IH.
  by apply: IH => //; split=> //= y sy; rewrite Er // Eh.
- apply: IH => //=; first by rewrite all_rcons okr.
    by split=> //=; rewrite Eh.
  rewrite Ec (puncture_region_remove G (within_cover _ _ _ _) okr) -[X in remove _ X _ _]add0n.
  by rewrite (remove_cover G d _ _ [::]); apply: eq_cover => y _; rewrite /punctured has_rcons orbC.
- have Ef : fresh_leaf st' x = fresh_leaf st x by rewrite /fresh_leaf -Et Er ?size_tuple.
  rewrite Ef; case: ifP => _; last by apply: IH.
  rewrite !Pr_bind !ex_bind; apply: eq_ex => y; apply: IH => //; split=> //=; first by rewrite Et.
  by rewrite size_tuple eqxx.
- have Es : spoils p st' = spoils p st by rewrite /spoils -Et -Eh.
  rewrite Es -Eh; case: ifP => _; first exact: IH.
  by apply: IH => //; split=> //= y sy; rewrite Er // Eh.
set given := fun x : bitseq => in_region (Range f l) x && alive (held st) x.
have Eg : has given (tested st) =
    has (fun x => in_region (Range f l) x && ~~ punctured rs x) (tested st).
  apply: eq_in_has => y yt; have /eqP sy := allP At y yt.
  by rewrite /given Ec alive_cover.
rewrite -/given -Eg; case: ifP => [_|/negbT ng]; first by apply: IH.
have [|st1 [Eh1 Et1 Er1 ->]] := @take_keys_value w (keygen s) (maximal_prefixes d (predC (in_region (Range f l)))) [::] st'
  (fun K => as_prefixes rs (tested st) (k (Some K))).
  apply: contra ng => /hasP [r rr /hasP [y yt /andP [ry ay]]]; apply/hasP; exists y; first by rewrite Et.
  have sy : size y = d by apply/eqP; apply: (allP At); rewrite Et.
  rewrite /given Eh ay andbT -[in_region _ y]negbK -[~~ in_region _ y]/(predC (in_region (Range f l)) y) -prefixes_mem //.
  by apply/hasP; exists r.
rewrite cat0s -Eh Ec prefixes_keys -Ec.
have -> : delegate_range G d f l (held st) = cover d (fun x => punctured rs x || ~~ in_region (Range f l) x) [::] s.
  rewrite Ec -(puncture_regions_canonical G s ok); apply: delegate_range_canonical; by rewrite ?size_tuple.
apply: IH => //; split=> //=; rewrite ?Eh1 ?Et1 // => y sy.
by rewrite Er1 Er // prefixes_mem //= negbK /given Eh.
Qed.

Lemma share_game_ev w A : Pr (share_game s0 G w A) = Pr (ev_game s0 G 0 w (as_prefixes [::] [::] A)).
Proof.
rewrite /share_game /ev_game !Pr_bind /=; apply: eq_avg => s.
apply: (@as_prefixes_value w s [::] (fresh_state (keygen s)) (fresh_state (keygen s)) A) => //.
by rewrite -[LHS](cover_pred0 G d); apply: eq_cover.
Qed.

(* Exact. *)
Theorem share_adv_prefixes A : share_adv s0 G A = ev_adv s0 G 0 (as_prefixes [::] [::] A).
Proof. by rewrite /share_adv !share_game_ev. Qed.

Lemma as_prefixes_in (U : pred bitseq) rs ts A : shares_in U A -> challenges_in U (as_prefixes rs ts A).
Proof.
elim: A rs ts => [b|X x0 k IH|[a|f l] k IH] rs ts //=.
- by move=> H x; apply: IH.
- by case=> Ua H; split=> [|y]; [case: a {k IH H} Ua | apply: IH].
case=> _ H; case: ifP => _; first exact: IH.
by elim: (maximal_prefixes d (predC (in_region (Range f l)))) [::] => [|p ps IHp] K /=; [apply: IH | split=> // M; apply: IHp].
Qed.

(* The bounds of ev_adv_bound_tree and ev_adv_bound_first, whatever ranges were given away. *)
Theorem share_adv_bound_tree A (eps : rat) :
  `|prg_adv s0 G (attack G (ev_guess s0 0 predT (as_prefixes [::] [::] A)))| <= eps ->
  `|share_adv s0 G A| <= (2 * (2 ^ d).-1)%:R * eps.
Proof. by rewrite share_adv_prefixes; apply: ev_adv_bound_tree. Qed.

Theorem share_adv_bound_first (q : nat) A (eps : rat) : shares_in (first_leaves 0 q) A ->
  `|prg_adv s0 G (attack G (ev_guess s0 0 (first_leaves 0 q) (as_prefixes [::] [::] A)))| <= eps ->
  `|share_adv s0 G A| <= (2 * (q + d).-1)%:R * eps.
Proof. by move=> SU; rewrite share_adv_prefixes; apply: ev_adv_bound_first; apply: as_prefixes_in. Qed.

End DelegationSecurity.

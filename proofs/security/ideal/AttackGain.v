(* SPDX-License-Identifier: Apache-2.0 *)
(* The gain of the attack on many targets at once: the bound for bare seeds is of the right
   order. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame Attack.
From Pprf.proofs Require Import Compat Correctness Sizes ProbabilityFacts EvaluationSecurity.
From Pprf.proofs Require Import IdealSecurity IdealSuites.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Gain.
Variable Seed : finType.
Variable s0 : Seed.
Variable c : nat.
Local Notation d := c.+1.

Local Notation S := (#|Seed|%:R : rat).
Implicit Types (guesses : seq Seed) (g : {ffun unit * Seed -> Seed * Seed}).

Lemma hashes_search guesses values : hashes_at_most (size guesses) (search c guesses values).
Proof. by elim: guesses => //= s rest IH; split=> // ab; case: ifP. Qed.

Theorem hashes_many guesses : hashes_at_most (size guesses) (many_targets c guesses).
Proof.
rewrite /many_targets; elim: (roots c) [::] => [|u us IH] values /=; first exact: hashes_search.
by move=> z y; apply: IH.
Qed.

(* the answer of the attack, from the values *)
Definition found g guesses (values : seq (option Seed * option Seed)) : bool :=
  has (fun s => (Some (g (tt, s)).1, Some (g (tt, s)).2) \in values) guesses.

Lemma search_value w sg g st guesses values :
  value s0 bit sg (cut_off_in w) st (plug g (search c guesses values)) = (found g guesses values)%:R.
Proof.
elim: guesses => //= s rest IH; rewrite /value /=; case: ifP => // _; exact: IH.
Qed.

Lemma leaf_ofE u b : size u = c -> leaf_of c u b = rcons u b :> bitseq.
Proof. by move=> su; rewrite val_insubd size_rcons su eqxx. Qed.

Lemma alive_bare (u : bitseq) b : size u = c -> alive (bare_roots c) (rcons u b).
Proof.
move=> su; rewrite /alive has_map; apply/hasP; exists u; last exact: prefix_rcons.
by rewrite mem_leaves su.
Qed.

(* the two values of each user *)
Definition answers w (sg : bitseq -> Seed) (us : seq bitseq) : prog (seq (option Seed * option Seed)) :=
  ys <-$ (if w is Real then Ret [seq sg (rcons u true) | u <- us] else unifs s0 (size us)) ;;
  Ret (zip [seq Some (sg (rcons u false)) | u <- us] (map Some ys)).

(* after some users, not those in us *)
Definition st_after (us : seq bitseq) (st : ev_state unit) : Prop :=
  [/\ held st = bare_roots c,
      forall x, x \in tested st -> exists2 v, x = rcons v true & (size v = c) /\ v \notin us &
      forall u, u \in us -> ~~ revealed st (rcons u true)].

Lemma collect_value w sg g us st guesses values : uniq us -> all (fun u => size u == c) us ->
  st_after us st ->
  value s0 bit sg (cut_off_in w) st (plug g (collect c us guesses values)) =
  ex (answers w sg us) (fun new => (found g guesses (catrev new values))%:R).
Proof.
elim: us st values => [|u us IH] st values /=; first by case: w; rewrite search_value.
case/andP => nu uus /andP [/eqP su sus] [Eh Et Er].
rewrite value_Evaluate (_ : spoils _ st = false); last first.
  apply/hasPn => x /Et [v -> [sv nv]]; rewrite leaf_ofE // negb_and prefix_rconsE negb_or eqseq_rcons andbF andbT.
  apply/orP; left; apply/negP => /size_prefix; by rewrite size_rcons sv su ltnn.
rewrite Eh leaf_ofE // alive_bare //.
set st1 := reveal _ _.
have T1 : fresh_leaf st1 (leaf_of c u true).
  rewrite /fresh_leaf leaf_ofE // /st1 /= negb_or Er ?mem_head //=; apply/andP; split.
    rewrite negb_and prefix_rconsE negb_or eqseq_rcons andbF andbT; apply/orP; left.
    by apply/negP => /size_prefix; rewrite size_rcons su ltnn.
  apply/negP => /Et [v E [_ nv]]; have e : u = v := rcons_injl true E; by rewrite -e mem_head in nv.
have A2 : st_after us (challenge (rcons u true) st1).
  split=> //= [x|v vu].
    rewrite inE => /orP [/eqP ->|/Et [v -> [sv nv]]]; first by exists u.
    by exists v => //; split=> //; apply: contra nv => h; rewrite inE h orbT.
  rewrite negb_or Er ?inE ?vu ?orbT //= negb_and prefix_rconsE negb_or eqseq_rcons andbF andbT.
  apply/orP; left; apply/negP => /size_prefix; by rewrite size_rcons su (eqP (allP sus _ vu)) ltnn.
rewrite value_Challenge T1 leaf_ofE //.
case: w IH => IH /=.
  by rewrite IH.
rewrite /answers /=; apply: eq_avg => y; rewrite IH // /answers /= !ex_bind.
by apply: eq_ex => ys.
Qed.

Lemma world_seeds g ss b : size ss = size (roots c) ->
  [seq seed_of s0 (family bare_tag g) (zip (roots c) ss) (rcons u b) | u <- roots c] =
  [seq (if b then (g (tt, s)).2 else (g (tt, s)).1) | s <- ss].
Proof.
move=> sz; set L := zip _ _.
have D := dress_roots s0 (family bare_tag g) (roots_size c) (roots_uniq c) sz.
have E : [seq seed_of s0 (family bare_tag g) L u | u <- roots c] = ss.
  move/(congr1 (@unzip2 _ _)): D; rewrite unzip2_zip ?sz // => <-.
  by rewrite /dress /unzip2 -!map_comp.
rewrite -[in RHS]E -map_comp; apply/eq_in_map => u ur /=.
have su : size u = c by apply/eqP/(allP (roots_size c)).
rewrite -cats1 (@seed_of_grown _ s0 (family bare_tag g) c) ?su //.
  rewrite /L; elim: (roots c) (ss) sz (roots_size c) => [|q ns IH] [|t ts] //= [sz'] /andP [-> szs].
  exact: IH.
rewrite /alive /L; elim: (roots c) (ss) sz ur => [|q ns IH] [|t ts] //= [sz'].
by rewrite inE => /orP [/eqP ->|/(IH _ sz') ->]; rewrite ?prefix_refl ?orbT.
Qed.

Definition real_pairs g (ss : seq Seed) : seq (option Seed * option Seed) :=
  [seq (Some (g (tt, s)).1, Some (g (tt, s)).2) | s <- ss].

Definition ideal_pairs g (ss ys : seq Seed) : seq (option Seed * option Seed) :=
  zip [seq Some (g (tt, s)).1 | s <- ss] (map Some ys).

Lemma game_value w guesses : Pr (id_game s0 bare_tag c w (many_targets c guesses)) =
  avg (fun g : {ffun unit * Seed -> Seed * Seed} => ex (unifs s0 (size (roots c))) (fun ss =>
    if w is Real then (found g guesses (rev (real_pairs g ss)))%:R
    else ex (unifs s0 (size (roots c))) (fun ys => (found g guesses (rev (ideal_pairs g ss ys)))%:R))).
Proof.
rewrite (@id_game_value _ s0 d _ bare_tag c (leqnSn c)); apply: eq_avg => g.
apply: eq_ex_unifs => ss sz; rewrite (@collect_value w _ g (roots c)) ?roots_uniq ?roots_size //.
have E b := world_seeds g b sz; have F := E false; have T := E true.
rewrite /answers; case: w; rewrite /= ?ex_bind /=.
  rewrite T catrevE cats0 /real_pairs; congr ((found _ _ (rev _))%:R).
  rewrite (_ : [seq Some _ | u <- roots c] = map Some [seq (g (tt, s)).1 | s <- ss]); last first.
    by rewrite -F -map_comp.
  by elim: ss {sz E F T} => //= s ss ->.
apply: eq_ex => ys; rewrite catrevE cats0 /ideal_pairs; congr ((found _ _ (rev (zip _ _)))%:R).
by rewrite (map_comp Some (fun s => (g (tt, s)).1)) -F -map_comp.
Qed.

(* a root is among the guesses *)
Lemma mulnb_rat (a b : bool) : (a && b)%:R = a%:R * b%:R :> rat.
Proof. by case: a; case: b; rewrite ?mulr0 ?mul0r ?mulr1. Qed.

Lemma ex_missed guesses n : uniq guesses ->
  ex (unifs s0 n) (fun ss => (~~ has (mem guesses) ss)%:R) = (1 - (size guesses)%:R / S) ^+ n.
Proof.
move=> u; elim: n => [|n IH]; first by rewrite expr0.
rewrite ex_unifsS exprS -IH.
have -> : 1 - (size guesses)%:R / S = avg (fun s => (s \notin guesses)%:R).
  rewrite -(avg_count guesses) -[X in X - _](avg_const s0 1) -avgB; apply: eq_avg => s.
  by rewrite (count_uniq_mem _ u); case: (s \in guesses); rewrite ?subrr ?subr0.
rewrite mulrC -avg_mull; apply: eq_avg => s; rewrite mulrC -ex_scale; apply: eq_ex => ss.
by rewrite /= negb_or mulnb_rat.
Qed.

(* Real world: if a root is among the guesses, the attack answers so. *)
Lemma found_guessed g guesses ss : has (mem guesses) ss -> found g guesses (rev (real_pairs g ss)).
Proof.
case/hasP => s sin sg; apply/hasP; exists s => //; rewrite mem_rev.
exact: (map_f (fun s => (Some (g (tt, s)).1, Some (g (tt, s)).2))).
Qed.

(* Ideal world: a guess fits a user by accident. *)
Definition accident g (s t y : Seed) : bool := ((g (tt, s)).1 == (g (tt, t)).1) && ((g (tt, s)).2 == y).

Lemma found_accident g guesses ss ys :
  found g guesses (rev (ideal_pairs g ss ys)) = has (fun s => has (fun ty => accident g s ty.1 ty.2) (zip ss ys)) guesses.
Proof.
rewrite /found; apply: eq_has => s; rewrite mem_rev /ideal_pairs.
elim: ss ys => [|t ss IH] [|y ys] //=; rewrite inE IH; congr (_ || _).
Qed.

Lemma ex_add T (p : prog T) (f h : T -> rat) : ex p (fun t => f t + h t) = ex p f + ex p h.
Proof. by elim: p => //= X x0 k IH; rewrite (eq_avg IH) avgD. Qed.

Lemma orb_le (a b : bool) : (a || b)%:R <= a%:R + b%:R :> rat.
Proof. by case: a; case: b. Qed.

Definition any g s (ss ys : seq Seed) : bool := has (fun ty => accident g s ty.1 ty.2) (zip ss ys).

Lemma ex_any g s n :
  ex (unifs s0 n) (fun ss => ex (unifs s0 n) (fun ys => (any g s ss ys)%:R)) <=
  n%:R * avg (fun t => avg (fun y => (accident g s t y)%:R)).
Proof.
elim: n => [|n IH]; first by rewrite mul0r.
rewrite ex_unifsS -[n.+1]add1n natrD mulrDl mul1r.
set W := ex _ _ in IH; apply: (@le_trans _ _ (avg (fun t => avg (fun y => (accident g s t y)%:R)) + W)).
  rewrite -[W](avg_const s0) -avgD; apply: avg_le => t.
  rewrite /W -ex_shift; apply: ex_le => ss; rewrite ex_unifsS.
  rewrite -[X in _ + X](avg_const s0) -avgD; apply: avg_le => y.
  by rewrite -ex_shift; apply: ex_le => ys; apply: orb_le.
by apply: le_add.
Qed.

Lemma avg_accident s :
  avg (fun g => avg (fun t => avg (fun y => (accident g s t y)%:R))) <= 2%:R / S / S :> rat.
Proof.
have E g t : avg (fun y => (accident g s t y)%:R) = ((g (tt, s)).1 == (g (tt, t)).1)%:R / S.
  rewrite /accident; case: (_ == _) => /=; last by rewrite mul0r (avg_const s0).
  rewrite mul1r -(avg_eq1 (g (tt, s)).2); by apply: eq_avg => y; rewrite eq_sym.
under eq_avg => g do under eq_avg => t do rewrite E mulrC.
under eq_avg => g do rewrite avg_mull.
rewrite avg_mull mulrC; apply: le_mul2r; first by rewrite invr_ge0 ler0n.
rewrite avg_swap; apply: (@le_trans _ _ (avg (fun t => (t == s)%:R + S^-1))); last first.
  by rewrite avgD avg_eq1 (avg_const s0) mulrDl mul1r.
apply: avg_le => t; case: (t =P s) => [->|/eqP ne].
  under eq_avg => g do rewrite eqxx.
  by rewrite (avg_const (no_table s0 _)) le_addl invr_ge0 ler0n.
rewrite add0r (avg_put (s0, s0) (tt, s)).
have P (g : {ffun unit * Seed -> Seed * Seed}) : avg (fun v => (((put g (tt, s) v) (tt, s)).1 == ((put g (tt, s) v) (tt, t)).1)%:R) = S^-1.
  rewrite avg_pair -(avg_eq1 (g (tt, t)).1); apply: eq_avg => a.
  under eq_avg => b do rewrite !ffunE eqxx xpair_eqE (negbTE ne) andbF.
  exact: (@avg_const _ s0 (a == (g (tt, t)).1)%:R).
by rewrite (eq_avg P) (avg_const (no_table s0 _)) lexx.
Qed.

Lemma ideal_le guesses n :
  avg (fun g => ex (unifs s0 n) (fun ss => ex (unifs s0 n) (fun ys =>
    (found g guesses (rev (ideal_pairs g ss ys)))%:R))) <= (size guesses)%:R * (n%:R * (2%:R / S / S)) :> rat.
Proof.
under eq_avg => g do under eq_ex => ss do under eq_ex => ys do rewrite found_accident.
elim: guesses => [|s rest IH].
  rewrite mul0r; under eq_avg => g do (under eq_ex => ss do rewrite ex_const; rewrite ex_const).
  by rewrite (avg_const (no_table s0 _)).
rewrite [size _]/= -[(size rest).+1]add1n natrD mulrDl mul1r.
set W := avg _ in IH.
apply: (@le_trans _ _ (avg (fun g => ex (unifs s0 n) (fun ss => ex (unifs s0 n) (fun ys => (any g s ss ys)%:R))) + W)).
  rewrite /W -avgD; apply: avg_le => g; rewrite -ex_add; apply: ex_le => ss; rewrite -ex_add.
  by apply: ex_le => ys; apply: orb_le.
apply: le_add => //; apply: (@le_trans _ _ (n%:R * avg (fun g => avg (fun t => avg (fun y => (accident g s t y)%:R))))).
  by rewrite -avg_mull; apply: avg_le => g; apply: ex_any.
by rewrite ![n%:R * _]mulrC; apply: le_mul2r; rewrite ?ler0n ?avg_accident.
Qed.

(* Q different guesses against 2^c users: the gain is at least the probability that a root is
   among them, minus accidents. *)
Theorem many_targets_gain guesses : uniq guesses ->
  1 - (1 - (size guesses)%:R / S) ^+ (2 ^ c) - (size guesses)%:R * ((2 ^ c)%:R * (2%:R / S / S)) <=
  id_adv s0 bare_tag c (many_targets c guesses).
Proof.
move=> u; rewrite /id_adv !game_value size_roots.
have I := ideal_le guesses (2 ^ c).
have R : 1 - (1 - (size guesses)%:R / S) ^+ (2 ^ c) <=
    avg (fun g => ex (unifs s0 (2 ^ c)) (fun ss => (found g guesses (rev (real_pairs g ss)))%:R)) :> rat.
  rewrite -(ex_missed _ u) -[X in X - _](ex_const (unifs s0 (2 ^ c))) -ex_sub.
  rewrite -[X in X <= _](avg_const (no_table s0 _ : {ffun unit * Seed -> Seed * Seed})); apply: avg_le => g; apply: ex_le => ss.
  case h : (has (mem guesses) ss); last by rewrite subrr ler0n.
  by rewrite (found_guessed g h) subr0.
by apply: le_add => //; rewrite -subr_ge0 opprK addrC subr_ge0.
Qed.

(* If targets times guesses are at most the number of seeds, this bound is nearly half of their
   quotient. *)
Lemma bernoulli (x : rat) n : 0 <= x <= 1 -> (1 - x) ^+ n * (1 + n%:R * x) <= 1.
Proof.
case/andP => x0 x1; have y0 : 0 <= 1 - x by rewrite subr_ge0.
elim: n => [|n IH]; first by rewrite expr0 mul0r addr0 mulr1 lexx.
apply: le_trans IH; rewrite exprS [X in X <= _]mulrAC [X in X * _ <= _]mulrC [X in _ <= X]mulrC.
apply: le_mul2r; first exact: exprn_ge0.
have -> : n.+1%:R * x = x + n%:R * x by rewrite -[n.+1]add1n natrD mulrDl mul1r.
set a := n%:R * x; have a0 : 0 <= a by rewrite mulr_ge0 ?ler0n.
have -> : (1 + (x + a)) * (1 - x) = 1 + a - (x + a) * x.
  by rewrite mulrBr mulr1 mulrDl mul1r [x + a]addrC addrA opprD addrA addrK.
by rewrite le_sub_add le_addl mulr_ge0 ?addr_ge0.
Qed.

(* If there are at most as many pairs of a target and a guess as seeds: half of that quotient,
   minus accidents. *)
Theorem many_targets_half guesses : uniq guesses -> (2 ^ c * size guesses <= #|Seed|)%N ->
  (2 ^ c * size guesses)%:R / S / 2%:R - (2 ^ c * size guesses)%:R * (2%:R / S / S) <=
  id_adv s0 bare_tag c (many_targets c guesses).
Proof.
move=> u le; apply: le_trans (many_targets_gain u); apply: le_add; last first.
  by rewrite natrM -mulrA mulrCA lexx.
have S0 : S != 0 := card_neq0 s0.
have one k : (k <= #|Seed|)%N -> k%:R / S <= 1.
  by move=> k1; rewrite -[X in _ <= X](divff S0); apply: le_mul2r; rewrite ?invr_ge0 ?ler0n ?ler_nat.
set x := (size guesses)%:R / S; have x0 : 0 <= x by rewrite divr_ge0 ?ler0n.
have x1 : x <= 1.
  by apply: one; apply: leq_trans le; rewrite -[X in (X <= _)%N]mul1n leq_mul2r expn_gt0 orbT.
have e : (2 ^ c * size guesses)%:R / S = (2 ^ c)%:R * x by rewrite natrM mulrA.
have a1 : (2 ^ c)%:R * x <= 1 by rewrite -e; apply: one.
have B := @bernoulli x (2 ^ c) (introT andP (conj x0 x1)).
rewrite e; move: a1 B; set a := _ * x; set y := _ ^+ _ => a1 B.
have a0 : 0 <= a by rewrite mulr_ge0 ?ler0n.
have y0 : 0 <= y by rewrite exprn_ge0 // subr_ge0.
have y1 : y <= 1 by apply: le_trans B; rewrite mulrDr mulr1 le_addl mulr_ge0.
have two : (2%:R : rat) != 0 by [].
rewrite -[X in _ <= X](mulfK two); apply: le_mul2r; first by rewrite invr_ge0 ler0n.
apply: (@le_trans _ _ ((1 - y) * (1 + a))).
  rewrite mulrBl mul1r le_add_sub addrC; apply: le_add => //; exact: lexx.
rewrite ![(1 - y) * _]mulrC; apply: le_mul2r; first by rewrite subr_ge0.
by rewrite -[2%:R]/(1 + 1); apply: le_add => //; exact: lexx.
Qed.

End Gain.

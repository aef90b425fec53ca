(* SPDX-License-Identifier: Apache-2.0 *)
(* A PRG with weak seeds: the gain of attacks on the tree, and on the PRG itself.

   Idea. The children of a weak seed are weak. So a leaf is weak as soon as a seed on the way to
   it is weak; until then the seeds are those of the random function, independent and uniform. No
   leaf of a set is weak exactly if no seed on the ways to them is, and these are as many draws
   as there are nodes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame WeakSeeds.
From Pprf.proofs Require Import Compat Correctness Sizes ProbabilityFacts EvaluationSecurity.
From Pprf.proofs Require Import IdealSecurity IdealSuites AttackGain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Prg.
Variable Seed : finType.
Variable s0 : Seed.
Variable Tag : finType.
Variable weak : {set Seed}.
Local Notation S := (#|Seed|%:R : rat).
Local Notation table := (table Seed Tag).
Local Notation pairs := (pairs Seed Tag).
Local Notation prg_attack := (prg_attack Seed Tag).
Implicit Types (g : table) (h : pairs) (s x : Seed) (t : Tag) (A : prg_attack).

Definition no_pairs : pairs := [ffun _ => (s0, s0)].

(* the random function with h at the seed s *)
Definition with_pairs g s h : table := [ffun tx => if tx.2 == s then h tx.1 else g tx].

Lemma avg_with_pairs s (F : table -> rat) : avg F = avg (fun g => avg (fun h => F (with_pairs g s h))).
Proof.
pose swap (gh : table * pairs) : table * pairs := (with_pairs gh.1 s gh.2, [ffun t => gh.1 (t, s)]).
have swapK : involutive swap.
  case=> g h; congr (_, _); last by apply/ffunP => t; rewrite !ffunE /= eqxx.
  by apply/ffunP => -[t x]; rewrite !ffunE /=; case: (x =P s) => [->|//].
rewrite -[RHS](avg_pair (fun gh => F (with_pairs gh.1 s gh.2))).
rewrite -[RHS](avg_invol _ swapK) avg_pair /=; apply: eq_avg => g.
rewrite -[LHS](@avg_const _ no_pairs); apply: eq_avg => h; congr F; apply/ffunP => -[t x]; rewrite !ffunE /=.
by case: (x =P s) => [->|//].
Qed.

Definition play_with (answers : forall q : prg_query Seed Tag, prg_reply q) A : rat :=
  Pr (interact (fun _ b => b) (prg_oracle (Tag := Tag) answers) tt A).

Lemma play_with_01 answers A : 0 <= play_with answers A <= 1.
Proof. by rewrite Pr_ge0 Pr_le1. Qed.

(* the random function is queried at the seed s *)
Fixpoint guessed s (answers : forall q : prg_query Seed Tag, prg_reply q) A : rat :=
  match A with
  | Conclude _ => 0
  | Random X x0 k => avg (fun z => guessed s answers (k z))
  | Ask q k =>
      if (if q is Call t x then s == x else false) then 1 else guessed s answers (k (answers q))
  end.

Lemma guessed_ge0 s answers A : 0 <= guessed s answers A.
Proof.
elim: A => [b|X x0 k IH|q k IH] //=; first exact: avg_ge0.
by case: ifP => // _; rewrite ler01.
Qed.

Lemma play_close s r1 r2 A :
  (forall q : prg_query Seed Tag, (if q is Call t x then s != x else true) -> r1 q = r2 q) ->
  `|play_with r1 A - play_with r2 A| <= guessed s r2 A.
Proof.
move=> E; elim: A => [b|X x0 k IH|q k IH].
- by rewrite subrr normr0 lexx.
- by rewrite /play_with /Pr /= -avgB; apply: avg_norm_avg => z; apply: IH.
have P r : play_with r (@Ask _ (@prg_reply Seed Tag) q k) = play_with r (k (r q)) by [].
rewrite /= !P; case: ifP => [_|m].
  have /andP [a0 a1] := play_with_01 r1 (k (r1 q)); have /andP [b0 b1] := play_with_01 r2 (k (r2 q)).
  rewrite ler_norml; apply/andP; split; last by rewrite le_sub_add; apply: le_trans a1 _; rewrite le_addl.
  by rewrite le_add_sub addrC le_sub_add; apply: le_trans b1 _; rewrite addrC le_addl.
rewrite E; first exact: IH.
by case: q m {k IH P} => //= t x ->.
Qed.

Lemma guessed_le r Q A : calls_at_most Q A -> avg (fun s => guessed s r A) <= Q%:R / S.
Proof.
have S0 : 0 <= S^-1 by rewrite invr_ge0 ler0n.
elim: A Q => [b|X x0 k IH|[t|t x] k IH] Q /= H.
- by rewrite (avg_const s0) mulr_ge0 ?ler0n.
- rewrite avg_swap -[X in _ <= X](avg_const x0); apply: avg_le => z; exact: (IH _ _ (H z)).
- exact: (IH _ _ (H _)).
case: H => Q0 H; rewrite -(prednK Q0) -add1n natrD mulrDl mul1r.
apply: (@le_trans _ _ (avg (fun s => (s == x)%:R + guessed s r (k (r (Call t x)))))); last first.
  by rewrite avgD; apply: le_add; [rewrite avg_eq1 lexx | exact: (IH _ _ (H _))].
apply: avg_le => s; case: (s == x); last by rewrite add0r lexx.
by rewrite le_addl guessed_ge0.
Qed.

Lemma avg_weak : avg (fun s => (s \in weak)%:R) = #|weak|%:R / S :> rat.
Proof.
rewrite /avg; congr (_ / _); rewrite -sum1_card natr_sum [RHS]big_mkcond /=.
by apply: eq_bigr => s _; case: (s \in weak).
Qed.

(* Any attack that queries the random function Q times: a weak seed was drawn, or a query meets
   the hidden one. *)
Theorem weak_prg_bound (Q : nat) A : calls_at_most Q A ->
  `|weak_prg_adv s0 weak A| <= (#|weak| + Q)%:R / S.
Proof.
move=> H; pose run w g s h := play_with (prg_answer weak w g s h) A.
have E w : Pr (weak_prg_game s0 weak w A) = avg (fun s => avg (fun g => avg (fun h => run w g s h))).
  by rewrite [RHS]avg_swap.
rewrite /weak_prg_adv !E -avgB natrD mulrDl -avg_weak.
pose guess := fun s => avg (fun g => avg (fun h => guessed s (prg_answer weak Ideal g s h) A)).
have guess0 s : 0 <= guess s by do 2 (apply: avg_ge0 => ?); apply: guessed_ge0.
apply: (@le_trans _ _ (avg (fun s => (s \in weak)%:R + guess s))).
  apply: avg_norm_avg => s; case: (boolP (s \in weak)) => [sw|ns].
    apply: (@le_trans _ _ 1); last by rewrite le_addl.
    rewrite -avgB; apply: (avg_norm_le (no_table s0 Tag)) => g; rewrite -avgB.
    apply: (avg_norm_le no_pairs) => h.
    have /andP [a0 a1] := play_with_01 (prg_answer weak Real g s h) A.
    have /andP [b0 b1] := play_with_01 (prg_answer weak Ideal g s h) A.
    rewrite ler_norml; apply/andP; split; last by rewrite le_sub_add; apply: le_trans a1 _; rewrite le_addl.
    by rewrite le_add_sub addrC le_sub_add; apply: le_trans b1 _; rewrite addrC le_addl.
  rewrite add0r.
  have -> : avg (fun g => avg (fun h => run Real g s h)) =
      avg (fun g => avg (fun h => run Real (with_pairs g s h) s h)).
    rewrite (avg_with_pairs s); apply: eq_avg => g; apply: eq_avg => h.
    have C h' : run Real (with_pairs g s h) s h' = run Real (with_pairs g s h) s h.
      by rewrite /run /play_with; elim: A {H run E guess guess0} => //= X x0 k IH; apply: eq_avg.
    by rewrite (eq_avg C) (avg_const no_pairs).
  rewrite -avgB; apply: avg_norm_avg => g; rewrite -avgB; apply: avg_norm_avg => h.
  apply: play_close => -[t|t x] /= ne; last by rewrite ffunE /= eq_sym (negbTE ne).
  by rewrite /weak_prg (negbTE ns) ffunE /= eqxx.
rewrite avgD; apply: le_add; first exact: lexx.
rewrite /guess avg_swap -[X in _ <= X](avg_const (no_table s0 Tag)); apply: avg_le => g.
rewrite avg_swap -[X in _ <= X](avg_const no_pairs); apply: avg_le => h.
exact: (guessed_le (prg_answer weak Ideal g s0 h) H).
Qed.

End Prg.

(* ---- The nodes at leaves of a set and above them ------------------------------------------------ *)

Section Nodes.
Variable d c : nat.
Hypothesis cd : (c <= d)%N.
Variable U : pred bitseq.

Lemma uniq_pts n (P : pred bitseq) : uniq (pts n P).
Proof.
elim: n P => [|n IH] P /=; first by case: (P [::]).
rewrite cat_uniq !map_inj_uniq ?IH //=; try by move=> x y [].
by rewrite andbT; apply/hasPn => x /mapP [y _ ->]; apply/mapP => -[z _].
Qed.

Definition inner_below p : seq bitseq := inner_nodes (d - c) (fun y => U (p ++ y)) p.

Definition inner_of_roots : seq bitseq := flatten [seq inner_below p | p <- roots c].

Lemma size_inner_of_roots : size inner_of_roots = size (cuts d c U).
Proof.
rewrite /inner_of_roots /cuts; elim: (roots c) (roots_size c) [::] => //= p ps IH /andP [/eqP sp sz] before.
by rewrite filter_cat !size_cat size_cuts_below ?sp ?subnK // (IH sz (rcons before p)).
Qed.

Lemma mem_inner_below p q : q \in inner_below p -> prefix p q.
Proof. by move/(allP (inner_nodes_prefix _ _ _)). Qed.

Lemma mem_inner_of_roots q : reflect (size q < d /\ exists2 y, y \in pts d U & (c <= size q)%N && prefix q y)%N
  (q \in inner_of_roots).
Proof.
apply: (iffP flattenP) => [[ns /mapP [p pr ->] qn]|[qd [y]]].
  have sp : size p = c by apply/eqP/(allP (roots_size c)).
  have /prefixP [z E] := mem_inner_below qn; move: qn; rewrite /inner_below E mem_inner_nodes.
  case/andP => zd /has_leafP [y sy Uy]; rewrite size_cat sp; split; first by rewrite -ltn_subRL.
  exists (p ++ z ++ y); last by rewrite leq_addr catA prefix_prefix.
  by rewrite mem_pts Uy !size_cat sp sy subnKC ?(ltnW zd) // subnKC ?eqxx.
rewrite mem_pts => /andP [/eqP sy Uy] /andP [cq /prefixP [z E]].
exists (inner_below (take c q)); first by apply: map_f; rewrite mem_leaves size_takel.
rewrite -[X in X \in _](cat_take_drop c q) /inner_below mem_inner_nodes size_drop ltn_sub2r //=; last first.
  exact: leq_ltn_trans cq qd.
apply/has_leafP; exists z; last by rewrite catA cat_take_drop -E.
by apply/eqP; rewrite -(eqn_add2l (size q)) -size_cat -E sy subnBA // subnK // subnKC // ltnW.
Qed.

Lemma inner_of_roots_uniq : uniq inner_of_roots.
Proof.
rewrite /inner_of_roots; elim: (roots c) (roots_size c) (roots_uniq c) => //= p ps IH.
case/andP => /eqP sp sz /andP [np u]; rewrite cat_uniq inner_nodes_uniq IH // andbT /=.
apply/hasPn => q /flattenP [ns /mapP [r rps ->]] /mem_inner_below /prefixP [y E].
apply/negP => /mem_inner_below; rewrite E prefixE sp takel_cat ?(eqP (allP sz _ rps)) //.
by rewrite -(eqP (allP sz _ rps)) take_size => /eqP e; rewrite -e rps in np.
Qed.

(* the leaves of U and the nodes above them *)
Definition on_the_way : seq bitseq := inner_of_roots ++ pts d U.

Lemma on_the_way_uniq : uniq on_the_way.
Proof.
rewrite cat_uniq inner_of_roots_uniq uniq_pts andbT /=; apply/hasPn => q; rewrite mem_pts => /andP [/eqP sq _].
by apply/negP => /mem_inner_of_roots [qd _]; rewrite sq ltnn in qd.
Qed.

Lemma mem_on_the_way q :
  reflect (exists2 y, y \in pts d U & (c <= size q)%N && prefix q y) (q \in on_the_way).
Proof.
rewrite mem_cat; apply: (iffP orP) => [[/mem_inner_of_roots [] //|qU]|[y yU /andP [cq qy]]].
  by exists q; rewrite // prefix_refl andbT; move: qU; rewrite mem_pts => /andP [/eqP ->].
have sy : size y = d by move: yU; rewrite mem_pts => /andP [/eqP].
have := size_prefix qy; rewrite sy leq_eqVlt => /orP [/eqP sq|qd]; last first.
  by left; apply/mem_inner_of_roots; split=> //; exists y; rewrite ?cq.
right; case/prefixP: qy => z E; move/eqP: sy; rewrite E size_cat sq -[X in _ == X]addn0 eqn_add2l size_eq0.
by move/eqP => z0; move: yU; rewrite E z0 cats0.
Qed.

End Nodes.

(* ---- The tree ------------------------------------------------------------------------------------- *)

Section Gain.
Variable Seed : finType.
Variable s0 : Seed.
Variable Tag : finType.
Variable weak : {set Seed}.
Variable tag : bitseq -> Tag.
Variables d c : nat.
Hypothesis cd : (c <= d)%N.
Local Notation table := (table Seed Tag).
Local Notation x_weak := (#|weak|%:R / #|Seed|%:R : rat).
Implicit Types (g : table) (L : key Seed) (r y z : bitseq) (U : pred bitseq).

Local Notation with_weak g L := (seed_of s0 (weak_family weak tag g) L).
Local Notation without g L := (seed_of s0 (family tag g) L).

Lemma seed_of_root F1 F2 L r : all (fun n => size n.1 == c) L -> size r = c ->
  seed_of s0 F1 L r = seed_of s0 F2 L r.
Proof.
move=> + sr; rewrite /seed_of; elim: L => //= n L IH /andP [/eqP sn sz].
by case: ifP => _; [rewrite /= /eval_node drop_oversize ?sn ?sr | exact: IH].
Qed.

Lemma seed_of_rcons F L r y b : all (fun n => size n.1 == c) L -> size r = c -> alive L r ->
  seed_of s0 F L (r ++ rcons y b) = child F (r ++ y) b (seed_of s0 F L (r ++ y)).
Proof.
move=> sz sr al; rewrite -cats1 catA (seed_of_grown s0 F _ sz) //; first by rewrite size_cat sr leq_addr.
exact: alive_below (prefix_prefix _ _) al.
Qed.

Lemma child_weak g q b s : child (weak_family weak tag g) q b s =
  if s \in weak then s else child (family tag g) q b s.
Proof. by rewrite /child /weak_family /weak_prg; case: b; case: (s \in weak). Qed.

(* Until a seed on the way is weak, the seeds are those of the random function; after that they
   are weak. *)
Lemma way_weak g L r y : all (fun n => size n.1 == c) L -> size r = c -> alive L r ->
  with_weak g L (r ++ y) \notin weak ->
  with_weak g L (r ++ y) = without g L (r ++ y) /\ forall z, prefix z y -> without g L (r ++ z) \notin weak.
Proof.
move=> sz sr al; elim/last_ind: y => [|y b IH].
  rewrite cats0 (seed_of_root _ (family tag g) sz sr) => nw; split=> // z.
  by rewrite prefixs0 => /eqP ->; rewrite cats0.
rewrite !seed_of_rcons // child_weak; case: ifP => [->//|/negbT /IH [E N]].
rewrite E => nw; split=> // z; rewrite prefix_rconsE => /orP [/N //|/eqP ->].
by rewrite seed_of_rcons.
Qed.

Lemma way_free g L r y : all (fun n => size n.1 == c) L -> size r = c -> alive L r ->
  (forall z, prefix z y -> without g L (r ++ z) \notin weak) -> with_weak g L (r ++ y) = without g L (r ++ y).
Proof.
move=> sz sr al; elim/last_ind: y => [|y b IH] N; first by rewrite cats0 (seed_of_root _ (family tag g) sz sr).
have E : with_weak g L (r ++ y) = without g L (r ++ y).
  by apply: IH => z zy; apply: N; rewrite prefix_rconsE zy.
rewrite !seed_of_rcons // child_weak E (negbTE (N y _)) //; exact: prefix_rcons.
Qed.

Lemma some_leaf_weak g L U : all (fun n => size n.1 == c) L -> (forall r, size r = c -> alive L r) ->
  has (fun x => with_weak g L x \in weak) (pts d U) =
  has (fun q => without g L q \in weak) (on_the_way d c U).
Proof.
move=> sz al; apply: negb_inj; rewrite -!all_predC.
have way q : (c <= size q)%N -> exists r z, [/\ q = r ++ z, size r = c & alive L r].
  move=> cq; exists (take c q), (drop c q); rewrite cat_take_drop; split=> //; first by rewrite size_takel.
  by apply: al; rewrite size_takel.
apply/allP/allP => [N q /(mem_on_the_way cd) [x xU /andP [cq qx]]|N x xU] /=.
  have cx : (c <= size x)%N by apply: leq_trans cq (size_prefix qx).
  have [r [y [E sr ar]]] := way x cx; have := N x xU; rewrite /= E => /(way_weak sz sr ar) [_].
  have [r' [z [E' sr' _]]] := way q cq; move: qx; rewrite E E' => /prefixP [t].
  rewrite -catA => /eqP; rewrite eqseq_cat ?sr ?sr' // => /andP [/eqP -> /eqP ->]; apply.
  exact: prefix_prefix.
have sx : size x = d by move: xU; rewrite mem_pts => /andP [/eqP].
have [r [y [E sr ar]]] := way x (leq_trans cd (eq_leq (esym sx))).
rewrite E way_free // => [|z zy]; rewrite -?E; apply: N; apply/(mem_on_the_way cd); exists x => //.
  by rewrite sx cd prefix_refl.
rewrite size_cat sr leq_addr /= E; case/prefixP: zy => t ->; by rewrite catA prefix_prefix.
Qed.

(* ---- What the attack sees ---- *)

Lemma size_weak_le1 : 0 <= x_weak <= 1.
Proof.
rewrite divr_ge0 ?ler0n //= -[X in _ <= X](divff (card_neq0 s0)).
by apply: le_mul2r; rewrite ?invr_ge0 ?ler0n // ler_nat max_card.
Qed.

Lemma ex_weak n : ex (unifs s0 n) (fun ys => (has (fun s => s \in weak) ys)%:R) = 1 - (1 - x_weak) ^+ n.
Proof.
have := @ex_missed Seed s0 (enum weak) n (enum_uniq _); rewrite -cardE => <-.
rewrite -[X in X - _](ex_const (unifs s0 n)) -ex_sub; apply: eq_ex => ys.
rewrite (eq_has (mem_enum weak)); case: (has _ _); by rewrite ?subr0 ?subrr.
Qed.

Lemma look_value w sg st (xs : seq (leaf d)) : uniq xs -> (forall x, x \in xs -> fresh_leaf st x) ->
  value s0 bit sg (cut_off_in w) st (look_for_weak weak xs) =
  if w is Real then (has (fun x : leaf d => sg x \in weak) xs)%:R else 1 - (1 - x_weak) ^+ (size xs).
Proof.
rewrite -ex_weak; elim: xs st => [|x xs IH] st; first by case: w.
rewrite cons_uniq => /andP [nx u] F; rewrite [look_for_weak _ _]/= value_Challenge F ?mem_head //.
have F' (y : leaf d) : y \in xs -> fresh_leaf (challenge (x : leaf d) st) y.
  move=> yx; have := F y; rewrite inE yx orbT /fresh_leaf /= inE negb_or => /(_ isT) /andP [-> ->].
  by rewrite andbT /=; apply: contraNneq nx => e; rewrite (_ : x = y) //; apply: eqtype.val_inj; rewrite /= e.
case: w IH => IH; first by rewrite /=; case: ifP => // _; rewrite IH.
rewrite [size _]/= ex_unifsS; apply: eq_avg => y /=.
case: ifP => _ /=; last exact: IH.
by rewrite (ex_const (unifs s0 (size xs))).
Qed.

Lemma leaves_in_uniq U : uniq (leaves_in d U).
Proof.
rewrite map_inj_in_uniq ?uniq_pts // => x y; rewrite !mem_pts => /andP [/eqP sx _] /andP [/eqP sy _].
by move/(congr1 (@tval _ _)); rewrite !val_insubd sx sy eqxx.
Qed.

Lemma leaves_inE U : map (@tval _ _) (leaves_in d U) = pts d U.
Proof.
rewrite -[RHS]map_id -map_comp; apply/eq_in_map => x; rewrite mem_pts => /andP [/eqP sx _].
by rewrite /= val_insubd sx eqxx.
Qed.

Lemma weak_game_value w U : Pr (weak_game s0 weak tag c w (weak_leaves weak d U)) =
  avg (fun g => ex (unifs s0 (size (roots c))) (fun ss =>
    if w is Real then (has (fun x => with_weak g (zip (roots c) ss) x \in weak) (pts d U))%:R
    else 1 - (1 - x_weak) ^+ (card d U))).
Proof.
rewrite /weak_game Pr_bind; apply: eq_avg => g; rewrite -[LHS]/(Pr (ev_game _ _ _ _ _)) ev_game_value //.
apply: eq_ex => ss; rewrite /weak_leaves look_value ?leaves_in_uniq //.
by rewrite size_map; case: w => //; rewrite -(leaves_inE U) [in RHS]has_map.
Qed.

Hypothesis distinct : uniq (map tag (inner d c)).

Lemma never_meet (f : tree Seed d) : meet tag (inner d c) f = false.
Proof.
apply/negP => /hasP [p pn /hasP [q qn /and3P [ne /eqP T _]]].
elim: (inner d c) distinct pn qn => //= r ps IH /andP [nr u].
rewrite !inE => /orP [/eqP hp|hp] /orP [/eqP hq|hq].
- by rewrite hp hq eqxx in ne.
- by case/negP: nr; rewrite -hp T map_f.
- by case/negP: nr; rewrite -hq -T map_f.
exact: IH.
Qed.

(* Exact: a seed is not weak with probability 1 - x; q leaves and the N inner nodes above them. *)
Theorem weak_leaves_adv U :
  weak_adv s0 weak tag c (weak_leaves weak d U) =
  (1 - x_weak) ^+ (card d U) - (1 - x_weak) ^+ (card d U + size (cuts d c U)).
Proof.
rewrite /weak_adv !weak_game_value.
have -> : avg (fun g : table => ex (unifs s0 (size (roots c))) (fun ss =>
    1 - (1 - x_weak) ^+ (card d U))) = 1 - (1 - x_weak) ^+ (card d U).
  by under eq_avg => g do rewrite ex_const; rewrite (avg_const (no_table s0 Tag)).
have -> : avg (fun g => ex (unifs s0 (size (roots c))) (fun ss =>
    (has (fun x => with_weak g (zip (roots c) ss) x \in weak) (pts d U))%:R)) =
  1 - (1 - x_weak) ^+ (card d U + size (cuts d c U)).
  have ways q : q \in on_the_way d c U -> (c <= size q <= d)%N.
    case/(mem_on_the_way cd) => x; rewrite mem_pts => /andP [/eqP sx _] /andP [-> /size_prefix].
    by rewrite sx.
  pose h (f : tree Seed d) : rat := (has (fun q => at_node f q \in weak) (on_the_way d c U))%:R.
  transitivity (avg (fun g => avg (fun f => h (grow tag g (inner d c) f)))).
    apply: eq_avg => g; rewrite (@ex_unifs_tree _ s0 d) ?roots_uniq //; last first.
      by apply: sub_all (roots_size c) => q /eqP ->.
    apply: eq_avg => f; rewrite some_leaf_weak; first last.
    - move=> r sr; apply/hasP; exists (r, at_node f r); last exact: prefix_refl.
      by rewrite zip_self; apply: (map_f (fun q => (q, at_node f q))); rewrite mem_leaves sr.
    - by rewrite zip_self all_map; apply: sub_all (roots_size c).
    rewrite /h; congr ((nat_of_bool _)%:R); apply: eq_in_has => q /ways qc.
    by rewrite (real_tree s0 tag cd).
  rewrite avg_swap.
  rewrite (@grow_implant _ s0 d _ tag (inner d c) (inner d c) (fun _ f => h f)) //; last first.
  - by move=> g f; rewrite never_meet.
  - exact: inner_ordered.
  under eq_avg => f do rewrite (avg_const (no_table s0 Tag)).
  rewrite -ex_weak addnC -size_inner_of_roots // -size_cat.
  rewrite (@ex_unifs_tree _ s0 d) ?on_the_way_uniq //; last by apply/allP => q /ways /andP [].
  by apply: eq_avg => f; rewrite has_map.
by rewrite opprB addrC addrA subrK.
Qed.

Lemma at_least (x : rat) n : 0 <= x <= 1 -> 1 - n%:R * x <= (1 - x) ^+ n.
Proof.
case/andP => x0 x1; have y0 : 0 <= 1 - x by rewrite subr_ge0.
elim: n => [|n IH]; first by rewrite mul0r subr0 expr0 lexx.
rewrite exprSr; apply: le_trans (le_mul2r y0 IH).
have -> : n.+1%:R * x = x + n%:R * x by rewrite -[n.+1]add1n natrD mulrDl mul1r.
set a := n%:R * x; have a0 : 0 <= a by rewrite mulr_ge0 ?ler0n.
have -> : (1 - a) * (1 - x) = 1 - (x + a) + a * x.
  by rewrite mulrBl mul1r [a * (_ - _)]mulrBr mulr1 opprB opprD !addrA addrAC.
by rewrite le_addl mulr_ge0.
Qed.

Lemma half k : (2 * k * #|weak| <= #|Seed|)%N -> k%:R * x_weak <= 2%:R^-1.
Proof.
move=> le; have two : (2%:R : rat) != 0 by [].
rewrite -[X in X <= _](mulfK two) -[X in _ <= X]mul1r; apply: le_mul2r; first by rewrite invr_ge0 ler0n.
rewrite mulrC mulrA -natrM mulrA -natrM -[X in _ <= X](divff (card_neq0 s0)).
by apply: le_mul2r; rewrite ?invr_ge0 ?ler0n // ler_nat.
Qed.

(* If at most half a weak seed is expected on the way, and likewise at the leaves: a third of the
   number expected on the way. *)
Theorem weak_leaves_third U n : (n <= size (cuts d c U))%N ->
  (2 * n * #|weak| <= #|Seed|)%N -> (2 * card d U * #|weak| <= #|Seed|)%N ->
  n%:R * x_weak / 3%:R <= weak_adv s0 weak tag c (weak_leaves weak d U).
Proof.
move=> nN /half bh /half qh; rewrite weak_leaves_adv.
have x01 := size_weak_le1; have /andP [x0 x1] := x01.
have y0 : 0 <= 1 - x_weak by rewrite subr_ge0.
have y1 : 1 - x_weak <= 1 by rewrite le_sub_add le_addl.
set x := x_weak in bh qh x0 x1 x01 y0 y1 *; set N := size _ in nN *; set q := card d U in qh *.
rewrite exprD -[X in X - _]mulr1 -mulrBr.
have tN : (1 - x) ^+ N <= (1 - x) ^+ n.
  rewrite -(subnKC nN) exprD -[X in _ <= X]mulr1 ![(1 - x) ^+ n * _]mulrC; apply: le_mul2r.
    exact: exprn_ge0.
  exact: exprn_ile1.
have B := bernoulli n x01; set b := n%:R * x in bh B *; set t := (1 - x) ^+ n in tN B *.
have b0 : 0 <= b by rewrite mulr_ge0 ?ler0n.
have t1 : 0 <= 1 - t by rewrite subr_ge0; apply: exprn_ile1.
have h : 2%:R^-1 <= (1 - x) ^+ q.
  apply: le_trans (at_least q x01); rewrite le_add_sub.
  by apply: le_trans (le_add (lexx _) qh) _.
have b3 : b <= (1 - t) * (3%:R / 2%:R).
  apply: (@le_trans _ _ ((1 - t) * (1 + b))).
    by rewrite mulrBl mul1r le_add_sub addrC; apply: le_add; rewrite ?lexx.
  rewrite ![(1 - t) * _]mulrC; apply: le_mul2r => //.
  by rewrite (_ : 3%:R / 2%:R = 1 + 2%:R^-1); [apply: le_add; rewrite ?lexx | apply/eqP; vm_compute].
apply: (@le_trans _ _ (2%:R^-1 * (1 - t))).
  have <- : 3%:R / 2%:R / 3%:R = 2%:R^-1 :> rat by apply/eqP; vm_compute.
  rewrite [X in _ <= X]mulrC mulrA.
  by apply: le_mul2r; rewrite ?invr_ge0 ?ler0n.
apply: le_mul; rewrite ?invr_ge0 ?ler0n //.
by apply: le_add; rewrite ?lexx // -subr_ge0 opprK addrC subr_ge0.
Qed.

(* It is challenged only in U: these bounds and those of EvaluationSecurity.v have the same N. *)
Theorem weak_leaves_in U : challenges_in U (weak_leaves weak d U).
Proof.
rewrite /weak_leaves; have : all U (map (@tval _ _) (leaves_in d U)).
  by rewrite leaves_inE; apply/allP => x; rewrite mem_pts => /andP [].
elim: (leaves_in d U) => //= x xs IH /andP [Ux /IH C]; split=> // -[s|//].
by case: ifP.
Qed.

End Gain.

(* ---- Sets with many inner nodes above them ---------------------------------------------------------- *)

Lemma size_cover_inner n (P : pred bitseq) p :
  (size (cover no_seed n P p tt) + card n P = (size (inner_nodes n P p)).+1)%N.
Proof.
elim: n P p => [|n IH] P p; first by rewrite /card /=; case: (P [::]).
case h : (has_leaf n.+1 P); last first.
  rewrite cover_no_leaf ?h // inner_nodes_no_leaf ?h //; move: h; rewrite has_leaf_card.
  by case: (card _ _).
rewrite cover_has_leafS // inner_nodes_has_leafS // cardS !size_cat addnACA.
have E b : (size (cover no_seed n (below P b) (rcons p b) (child no_seed p b tt)) + card n (below P b) =
            (size (inner_nodes n (below P b) (rcons p b))).+1)%N by case: (child _ _ _ _); apply: IH.
by rewrite !E /= size_cat addnS addSn.
Qed.

Section Order.
Variable Seed : finType.
Variable s0 : Seed.
Variable Tag : finType.
Variable weak : {set Seed}.
Variable tag : bitseq -> Tag.
Variable d : nat.
Hypothesis distinct : uniq (map tag (inner d 0)).

Lemma size_cuts_spread q : (0 < q <= 2 ^ d)%N ->
  (q * (d - trunc_log 2 q) <= size (cuts d 0 (spread d q)))%N.
Proof.
case/andP => q0 qd; have /andP [kq qk] := trunc_log_bounds (isT : (1 < 2)%N) q0.
set k := trunc_log 2 q in kq qk *.
have kd : (k <= d)%N by rewrite -(@leq_exp2l 2) // (leq_trans kq).
have := @size_cover_spread _ no_seed d q k [::] tt kd; rewrite kq (ltnW qk) => /(_ isT qd).
rewrite -addnn addnA -{2}(card_spread qd) size_cover_inner.
rewrite -size_inner_of_roots // /inner_of_roots /= cats0 /inner_below subn0.
have -> : inner_nodes d (fun y => spread d q ([::] ++ y)) [::] = inner_nodes d (spread d q) [::] by [].
move=> E; rewrite -(leq_add2r (2 ^ k.+1)) -E addSnnS leq_add2l //.
Qed.

(* For any number q of leaves, eps bounds the gain of every attack on the PRG, and yet an attack
   on the tree gains a sixth of q (d - log q) eps; the set of leaves, q and d are those of
   ev_adv_bound_set. *)
Theorem depth_loss q : (0 < q <= 2 ^ d)%N -> let n := (q * (d - trunc_log 2 q))%N in
  (2 * n * #|weak| <= #|Seed|)%N -> (2 * q * #|weak| <= #|Seed|)%N ->
  let eps : rat := (2 * #|weak|)%:R / #|Seed|%:R in
  (forall A : prg_attack Seed Tag, calls_at_most #|weak| A -> `|weak_prg_adv s0 weak A| <= eps) /\
  exists U : pred bitseq, [/\ card d U = q, challenges_in U (weak_leaves weak d U) &
    n%:R * eps / 6%:R <= weak_adv s0 weak tag 0 (weak_leaves weak d U)].
Proof.
move=> qd n nS qS eps; split=> [A H|]; first by have := weak_prg_bound s0 weak H; rewrite addnn -mul2n.
have sz := size_cuts_spread qd; case/andP: qd => q0 qd; exists (spread d q).
split; [exact: card_spread | exact: weak_leaves_in |].
have -> : n%:R * eps / 6%:R = n%:R * (#|weak|%:R / #|Seed|%:R) / 3%:R.
  rewrite /eps natrM -!mulrA; congr (_ * _); rewrite mulrCA; congr (_ * _).
  by rewrite mulrCA; congr (_ * _); apply/eqP; vm_compute.
by apply: weak_leaves_third => //; rewrite card_spread.
Qed.

End Order.

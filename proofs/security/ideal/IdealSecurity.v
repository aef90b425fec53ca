(* SPDX-License-Identifier: Apache-2.0 *)
(* Security with the PRG as an ideal object that the adversary queries Q times.

   Idea. Draw all nodes' seeds independently and put them into the random function (implant):
   this is the real world, unless two nodes have the same tag and the same seed (grow). Then the
   seed of a node that was not revealed is independent of everything the adversary has seen, so a
   query meets it with probability 1 / #|Seed|; and until a query does, a challenge is a uniform
   seed (blind). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame.
From Pprf.proofs Require Import Compat Correctness Sizes ProbabilityFacts ReductionFacts EvaluationSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ---- Means over tables ------------------------------------------------------------------- *)

Lemma avg_pair (X Y : finType) (h : X * Y -> rat) : avg h = avg (fun x => avg (fun y => h (x, y))).
Proof.
rewrite /avg -mulr_suml -mulrA card_prod natrM invfM [_^-1 * _^-1]mulrC; congr (_ * _).
by rewrite pair_bigA; apply: eq_bigr => -[x y].
Qed.

Lemma avg_invol (X : finType) (f : X -> X) (h : X -> rat) : involutive f -> avg (fun x => h (f x)) = avg h.
Proof.
move=> fK; rewrite /avg; congr (_ / _); symmetry.
exact: (reindex_inj (inv_inj fK)).
Qed.

Lemma avg_ge0 (X : finType) (h : X -> rat) : (forall x, 0 <= h x) -> 0 <= avg h.
Proof. by move=> h0; rewrite /avg divr_ge0 ?ler0n // sumr_ge0. Qed.

Lemma avg_le (X : finType) (g h : X -> rat) : (forall x, g x <= h x) -> avg g <= avg h.
Proof. by move=> le; rewrite -subr_ge0 -avgB avg_ge0 // => x; rewrite subr_ge0. Qed.

Lemma avg_norm_le (X : finType) (x0 : X) (h : X -> rat) (e : rat) : (forall x, `|h x| <= e) -> `|avg h| <= e.
Proof. exact: (@ex_norm_le X (unif x0) h e). Qed.

Lemma avg_eq1 (X : finType) (x : X) : avg (fun y => (y == x)%:R) = #|X|%:R^-1.
Proof.
rewrite /avg (bigD1 x) //= eqxx big1 ?addr0 ?mul1r // => y /negbTE ->; by [].
Qed.

Lemma avgD (X : finType) (g h : X -> rat) : avg (fun x => g x + h x) = avg g + avg h.
Proof. by rewrite /avg big_split mulrDl. Qed.

Lemma avg_mull (X : finType) (a : rat) (h : X -> rat) : avg (fun x => a * h x) = a * avg h.
Proof. by rewrite /avg -mulr_sumr mulrA. Qed.

Section Tables.
Variables (X Y : finType) (y0 : Y).
Local Notation tbl := {ffun X -> Y}.
Implicit Types (f g : tbl).

(* f where k holds, else g *)
Definition mix (k : pred X) f g : tbl := [ffun x => if k x then f x else g x].

(* f with y at x *)
Definition put f (x : X) (y : Y) : tbl := [ffun z => if z == x then y else f z].

Lemma avg_mix (k : pred X) (h : tbl -> rat) : avg h = avg (fun f => avg (fun g => h (mix k f g))).
Proof.
pose swap (fg : tbl * tbl) := (mix k fg.1 fg.2, mix k fg.2 fg.1).
have swapK : involutive swap.
  by case=> f g; congr (_, _); apply/ffunP => x; rewrite !ffunE; case: (k x).
rewrite -[RHS](avg_pair (fun fg => h (mix k fg.1 fg.2))).
rewrite -[RHS](avg_invol _ swapK) avg_pair /=; apply: eq_avg => f.
rewrite -[LHS](@avg_const _ f); apply: eq_avg => g; congr h; apply/ffunP => x; rewrite !ffunE.
by case: (k x).
Qed.

Lemma avg_put (x : X) (h : tbl -> rat) : avg h = avg (fun f => avg (fun y => h (put f x y))).
Proof.
pose swap (fy : tbl * Y) := (put fy.1 x fy.2, fy.1 x).
have swapK : involutive swap.
  case=> f y; congr (_, _); last by rewrite ffunE eqxx.
  by apply/ffunP => z; rewrite !ffunE; case: eqP => // ->.
rewrite -[RHS](avg_pair (fun fy => h (put fy.1 x fy.2))).
rewrite -[RHS](avg_invol _ swapK) avg_pair /=; apply: eq_avg => f.
rewrite -[LHS](@avg_const _ y0); apply: eq_avg => y; congr h; apply/ffunP => z; rewrite !ffunE.
by case: eqP => // ->.
Qed.

Lemma avg_at (x : X) (h : Y -> rat) : avg (fun f : tbl => h (f x)) = avg h.
Proof.
rewrite (avg_put x) avg_swap; apply: eq_avg => y.
under eq_avg => f do rewrite ffunE eqxx.
exact: (avg_const [ffun _ => y0]).
Qed.

End Tables.

Section Ideal.
Variable Seed : finType.
Variable s0 : Seed.
Variable d : nat.
Variable Tag : finType.
Variable tag : bitseq -> Tag.
Variable c : nat.
Hypothesis cd : (c <= d)%N.
Local Notation table := (table Seed Tag).
Local Notation family := (family tag).
Local Notation inner := (inner d c).
Implicit Types (g : table) (p q : bitseq).

(* ---- Seeds for all nodes ------------------------------------------------------------------- *)

Definition tree := {ffun d.-bseq bool -> Seed}.
Implicit Types (f : tree).

Definition place q : d.-bseq bool := insubd [bseq] q.

Definition at_node f q : Seed := f (place q).

Lemma placeK q : (size q <= d)%N -> place q = q :> bitseq.
Proof. by move=> sq; rewrite /place val_insubd sq. Qed.

Lemma place_inj p q : (size p <= d)%N -> (size q <= d)%N -> place p = place q -> p = q.
Proof. by move=> sp sq E; rewrite -(placeK sp) -(placeK sq) E. Qed.

Lemma place_eq p q : (size p <= d)%N -> (size q <= d)%N -> (place p == place q) = (p == q).
Proof. by move=> sp sq; apply/eqP/eqP => [|-> //]; apply: place_inj. Qed.

Definition set_children f p (ab : Seed * Seed) : tree :=
  put (put f (place (rcons p false)) ab.1) (place (rcons p true)) ab.2.

Lemma at_set f p ab q : (size p < d)%N -> (size q <= d)%N ->
  at_node (set_children f p ab) q =
  if q == rcons p false then ab.1 else if q == rcons p true then ab.2 else at_node f q.
Proof.
move=> sp sq; rewrite /at_node /set_children !ffunE !place_eq ?size_rcons //.
by case: (q =P rcons p true) => [->|//]; rewrite eqseq_rcons andbF.
Qed.

Lemma avg_set_children p (h : tree -> rat) : (size p < d)%N ->
  avg h = avg (fun f => avg (fun ab => h (set_children f p ab))).
Proof.
move=> sp; rewrite (avg_put s0 (place (rcons p false))).
rewrite avg_swap.
under eq_avg => a do rewrite (avg_put s0 (place (rcons p true)) (fun f => h (put f (place (rcons p false)) a))).
rewrite avg_swap; apply: eq_avg => f; rewrite avg_pair; apply: eq_avg => a; apply: eq_avg => b.
congr h; apply/ffunP => z; rewrite !ffunE; case: (z =P place (rcons p false)) => // ->.
by rewrite place_eq ?size_rcons // eqseq_rcons andbF.
Qed.

(* ---- The real seeds, from a table ------------------------------------------------------------ *)

(* parents before children, none twice *)
Fixpoint ordered (ps : seq bitseq) : bool :=
  if ps is p :: ps' then
    [&& (size p < d)%N, p \notin ps', all (fun q => size p <= size q)%N ps' & ordered ps']
  else true.

Fixpoint grow g (ps : seq bitseq) f : tree :=
  if ps is p :: ps' then grow g ps' (set_children f p (g (tag p, at_node f p))) else f.

(* the random function, with the seeds f in it *)
Fixpoint implant (ps : seq bitseq) f g : table :=
  if ps is p :: ps' then
    put (implant ps' f g) (tag p, at_node f p) (at_node f (rcons p false), at_node f (rcons p true))
  else g.

(* two nodes with the same tag and the same seed *)
Definition meet (ps : seq bitseq) f : bool :=
  has (fun p => has (fun q => [&& p != q, tag p == tag q & at_node f p == at_node f q]) ps) ps.

Lemma grow_keeps g ps f q : ordered ps -> (size q <= d)%N ->
  (forall p, p \in ps -> forall b, q != rcons p b) -> at_node (grow g ps f) q = at_node f q.
Proof.
elim: ps f => //= p ps IH f /and4P [pd _ _ o] qd N; rewrite IH //; last first.
  by move=> p' h b; apply: N; rewrite inE h orbT.
by rewrite at_set // !(negbTE (N p (mem_head _ _) _)).
Qed.

Lemma grow_keeps_parent g ps f p q : ordered ps -> (size q <= d)%N ->
  all (fun q => size p <= size q)%N ps -> (size q <= size p)%N -> at_node (grow g ps f) q = at_node f q.
Proof.
move=> o qd a qp; apply: grow_keeps => // p' h b; apply: contraTneq qp => ->.
by rewrite size_rcons -ltnNge ltnS (allP a).
Qed.

Lemma grow_keeps_child g ps f p b : ordered ps -> (size p < d)%N -> p \notin ps ->
  at_node (grow g ps f) (rcons p b) = at_node f (rcons p b).
Proof.
move=> o pd np; apply: grow_keeps; rewrite ?size_rcons // => p' h b'.
by rewrite eqseq_rcons; apply: contraNN np => /andP [/eqP -> _].
Qed.

Lemma meet_intro ps f p q : p \in ps -> q \in ps -> p != q -> tag p = tag q ->
  at_node f p = at_node f q -> meet ps f.
Proof. by move=> hp hq ne T E; apply/hasP; exists p => //; apply/hasP; exists q; rewrite ?ne ?T ?E ?eqxx. Qed.

(* the table's entry for p's seed concerns later nodes only if they meet p *)
Lemma grow_put ns g ps f p ab : {subset ps <= ns} -> p \in ns -> ordered (p :: ps) ->
  let g' := put g (tag p, at_node f p) ab in
  grow g' ps f = grow g ps f \/ meet ns (grow g' ps f) /\ meet ns (grow g ps f).
Proof.
move=> + pn /and4P [pd]; elim: ps f => [|p' ps IH] f sub np le o /=; first by left.
move: np le; rewrite inE negb_or => /andP [ne np] /andP [pp' le].
have /and4P [p'd np' le' o'] := o.
have p'n : p' \in ns by apply: sub; rewrite mem_head.
have sub' : {subset ps <= ns} by move=> z h; apply: sub; rewrite inE h orbT.
have K ab' : at_node (set_children f p' ab') p = at_node f p.
  rewrite at_set // 1?ltnW //; have N b : p == rcons p' b = false.
    by apply/eqP => E; move: pp'; rewrite E size_rcons ltnn.
  by rewrite !N.
case: (altP ((tag p', at_node f p') =P (tag p, at_node f p))) => [[T E]|nz].
  right; have M g1 ab' : meet ns (grow g1 ps (set_children f p' ab')).
    apply: (@meet_intro _ _ p p') => //.
    rewrite !(@grow_keeps_parent _ _ _ p') // 1?ltnW // !at_set // 1?ltnW //.
    have N q b : (size q <= size p')%N -> q == rcons p' b = false.
      by move=> s; apply/eqP => h; move: s; rewrite h size_rcons ltnn.
    by rewrite !N.
  by split; apply: M.
have -> : (put g (tag p, at_node f p) ab) (tag p', at_node f p') = g (tag p', at_node f p').
  by rewrite ffunE (negbTE nz).
by rewrite -(K (g (tag p', at_node f p'))); apply: IH.
Qed.

Lemma grow_implant ns ps (h : table -> tree -> rat) : {subset ps <= ns} -> ordered ps ->
  (forall g f, meet ns f -> h g f = 0) ->
  avg (fun f => avg (fun g => h g (grow g ps f))) = avg (fun f => avg (fun g => h (implant ps f g) f)).
Proof.
elim: ps h => //= p ps IH h sub o Z; have /and4P [pd np le o'] := o.
have pn : p \in ns by apply: sub; rewrite mem_head.
have sub' : {subset ps <= ns} by move=> z k; apply: sub; rewrite inE k orbT.
pose h' g f := h (put g (tag p, at_node f p) (at_node f (rcons p false), at_node f (rcons p true))) f.
rewrite -(IH h') //; last by move=> g f M; apply: Z.
have E f : avg (fun g => h g (grow g ps (set_children f p (g (tag p, at_node f p))))) =
    avg (fun ab => avg (fun g => h (put g (tag p, at_node f p) ab)
      (grow (put g (tag p, at_node f p) ab) ps (set_children f p ab)))).
  rewrite (avg_put (s0, s0) (tag p, at_node f p)) avg_swap; apply: eq_avg => ab; apply: eq_avg => g.
  by rewrite [in g in set_children _ _ g]ffunE eqxx.
under eq_avg => f do rewrite E.
rewrite [RHS](avg_set_children _ pd); apply: eq_avg => f; apply: eq_avg => ab; apply: eq_avg => g.
set f' := set_children f p ab.
have K : at_node f' p = at_node f p.
  rewrite at_set // 1?ltnW //; have N b : p == rcons p b = false.
    by apply/eqP => /(congr1 size); rewrite size_rcons => /eqP; rewrite -[X in X == _]addn0 -addn1 eqn_add2l.
  by rewrite !N.
have [Ka Kb] : at_node f' (rcons p false) = ab.1 /\ at_node f' (rcons p true) = ab.2.
  by split; rewrite at_set ?size_rcons // ?eqseq_rcons ?eqxx ?andbF.
rewrite /h' (grow_keeps_parent _ _ o' (ltnW pd) le (leqnn _)) !grow_keeps_child // K Ka Kb -surjective_pairing -K.
by case: (@grow_put ns g ps f' p ab sub' pn o) => [->|[M1 M2]] //; rewrite !Z.
Qed.

(* ---- Adversaries whose queries to the random function are answered ------------------------------ *)

Local Notation id_adversary := (id_adversary Seed d Tag).
Local Notation id_reply := (@id_reply Seed d Tag).
Local Notation ev_reply := (@ev_reply Seed d).

Fixpoint plug (h : table) (A : id_adversary) : ev_adversary Seed d :=
  match A with
  | Conclude b => Conclude _ b
  | Random X x0 k => Random x0 (fun x => plug h (k x))
  | Ask q k =>
      match q return (id_reply q -> id_adversary) -> ev_adversary Seed d with
      | Device a => fun k => @Ask _ ev_reply a (fun y => plug h (k y))
      | Hash t s => fun k => plug h (k (h (t, s)))
      end k
  end.

Lemma interact_plug g w K0 st A :
  Pr (interact (fun _ b => b) (id_oracle s0 tag g w K0) st A) =
  Pr (interact (fun _ b => b) (ev_oracle s0 (family g) w K0) st (plug g A)).
Proof.
elim: A st => [b|X x0 k IH|[a|t s] k IH] st //=.
- by apply: eq_avg => x; apply: IH.
- by rewrite !Pr_bind; apply: eq_ex => rs; apply: IH.
Qed.

Lemma id_game_value w A : Pr (id_game s0 tag c w A) =
  avg (fun g : table => world_value s0 (family g) (st0 c) bit (roots c) (cut_off_in w) (plug g A)).
Proof.
rewrite /id_game Pr_bind; apply: eq_avg => g; rewrite -ev_game_value // /ev_game !Pr_bind.
by apply: eq_ex => ss; apply: interact_plug.
Qed.

Definition matches f (t : Tag) (s : Seed) p : bool := (tag p == t) && (at_node f p == s).

Lemma implant_miss ps f g t s : ~~ has (matches f t s) ps -> implant ps f g (t, s) = g (t, s).
Proof.
elim: ps => //= p ps IH /norP [np /IH E]; rewrite ffunE E xpair_eqE.
by move: np; rewrite /matches ![_ == t]eq_sym ![_ == s]eq_sym => /negbTE ->.
Qed.

Lemma implant_inner f g t s p : ~~ meet inner f -> p \in inner -> matches f t s p ->
  implant inner f g (t, s) = (at_node f (rcons p false), at_node f (rcons p true)).
Proof.
move=> N pn /andP [/eqP <- /eqP <-].
have : {subset inner <= inner} by [].
elim: {1 2 4}inner pn => //= q ps IH pn sub; rewrite ffunE xpair_eqE.
case: andP => [[/eqP T /eqP E]|ne].
  case: (p =P q) => [-> //|/eqP pq]; case/negP: N.
  apply: (@meet_intro _ _ p q) => //; last by apply: sub; rewrite mem_head.
  by move: pn; rewrite inE (negbTE pq) /= => h; apply: sub; rewrite inE h orbT.
apply: IH; last by move=> z h; apply: sub; rewrite inE h orbT.
by move: pn; rewrite inE; case: eqP => // pq; case: ne; rewrite pq !eqxx.
Qed.

(* ---- A query does not meet a node that was not revealed; then its challenge is uniform
   -------------- *)

Section Blind.
Variable g : table.
Variable M : nat.
Hypothesis targets_le : forall t, (targets d tag c t <= M)%N.

Definition run w f st A : rat := value s0 bit (at_node f) (cut_off_in w) st (plug (implant inner f g) A).

(* f0 where the adversary has seen seeds, otherwise f; in the ideal world it has seen no
   challenge leaf's seed. *)
Definition seen w (st : ev_state unit) : pred (d.-bseq bool) :=
  fun q : d.-bseq bool => revealed st q || (if w is Real then (q : bitseq) \in tested st else false).

Definition view w st f0 f : tree := mix (seen w st) f0 f.

Definition mean w (ok : pred tree) st f0 A : rat :=
  avg (fun f => (ok (view w st f0 f))%:R * run w (view w st f0 f) st A).

Definition closed (st : ev_state unit) : Prop := forall q b, revealed st q -> revealed st (rcons q b).

Definition tests_ok (st : ev_state unit) : Prop :=
  forall x, x \in tested st -> ~~ revealed st x && (size x == d).

Lemma mix_eq (k : pred (d.-bseq bool)) (f1 f2 f : tree) : (forall q : d.-bseq bool, k q -> f1 q = f2 q) -> mix k f1 f = mix k f2 f.
Proof. by move=> E; apply/ffunP => q; rewrite !ffunE; case: ifP => // /E. Qed.

Lemma avg_more (k k' : pred (d.-bseq bool)) f0 (h : tree -> rat) : subpred k k' ->
  avg (fun f => h (mix k f0 f)) = avg (fun f1 => avg (fun f => h (mix k' (mix k f0 f1) f))).
Proof.
move=> sub; rewrite (avg_mix k'); apply: eq_avg => f1; apply: eq_avg => f; congr h.
apply/ffunP => q; rewrite !ffunE; case: ifP => // kq; case: ifP => // /negP []; exact: sub.
Qed.

Lemma run_ge0 w f st A : 0 <= run w f st A.
Proof. exact: Pr_ge0. Qed.

Lemma run_le1 w f st A : run w f st A <= 1.
Proof. exact: Pr_le1. Qed.

Lemma tests_reveal p st : tests_ok st -> ~~ spoils p st -> tests_ok (reveal p st).
Proof.
move=> T sp x xt; have /andP [nr ->] := T x xt; rewrite andbT /= negb_or nr /=.
by have := hasPn sp x xt.
Qed.

Lemma closed_reveal p st : closed st -> closed (reveal p st).
Proof.
move=> C q b /= /orP [/C -> //|/andP [pq al]]; rewrite (prefix_trans pq (prefix_rcons _ _)).
by rewrite (alive_below (prefix_rcons _ _) al) orbT.
Qed.

Lemma mean_reveal w (ok : pred tree) st f0 p (B : tree -> id_adversary) : ~~ spoils p st -> tests_ok st ->
  (forall f f', (forall q : d.-bseq bool, revealed (reveal p st) q -> f q = f' q) -> B f = B f') ->
  avg (fun f => (ok (view w st f0 f))%:R * run w (view w st f0 f) (reveal p st) (B (view w st f0 f))) =
  avg (fun f1 => mean w ok (reveal p st) (view Real st f0 f1) (B (view Real st f0 f1))).
Proof.
move=> sp T EB; have T' := tests_reveal T sp.
rewrite (@avg_more _ (seen w (reveal p st)) f0
  (fun m => (ok m)%:R * run w m (reveal p st) (B m))); last first.
  by move=> q /orP [h|h]; apply/orP; [left; rewrite /= h | right].
apply: eq_avg => f1; apply: eq_avg => f.
have E : mix (seen w (reveal p st)) (mix (seen w st) f0 f1) f = view w (reveal p st) (view Real st f0 f1) f.
  apply: mix_eq => q; rewrite /view !ffunE /seen; case: (w) => //.
  rewrite orbF => rq; case: (revealed st q) => //=; case: ifP => // tq.
  by have := T' _ tq; rewrite rq.
rewrite E; congr (_ * run _ _ _ _); apply: EB => q rq.
by rewrite [LHS]ffunE /seen rq.
Qed.

Lemma seen_challenge w (x : leaf d) st : tests_ok st -> ~~ revealed st x ->
  forall f0 f1 f, view w (challenge x st) (view Real st f0 f1) f =
    if w is Real then mix (seen Real (challenge x st)) (mix (seen Real st) f0 f1) f
    else view Ideal st f0 f.
Proof.
move=> T nx f0 f1 f; case: w => //; apply/ffunP => q; rewrite !ffunE /seen /= !orbF.
by case: (revealed st q).
Qed.

Lemma mean_challenge w (ok : pred tree) st f0 (x : leaf d) (k : option Seed -> id_adversary) :
  tests_ok st -> fresh_leaf st x ->
  avg (fun f => (ok (view w st f0 f))%:R *
    run w (view w st f0 f) st (@Ask _ id_reply (Device _ _ (Challenge x)) k)) =
  avg (fun f1 => mean w ok (challenge x st) (view Real st f0 f1) (k (Some (at_node f1 x)))).
Proof.
move=> T fr; have /andP [nx nt] := fr.
have px : (place x : bitseq) = x by apply: placeK; rewrite size_tuple.
case: w; rewrite /run /= /mean.
  under eq_avg => f do rewrite value_Challenge fr /=.
  rewrite (@avg_more _ (seen Real (challenge x st)) f0 (fun m => (ok m)%:R *
    value s0 bit (at_node m) pred0 (challenge x st) (plug (implant inner m g) (k (Some (at_node m x)))))); last first.
    by move=> q /orP [h|h]; apply/orP; [left|right; rewrite inE h orbT].
  apply: eq_avg => f1; apply: eq_avg => f; rewrite seen_challenge //; congr (_ * value _ _ _ _ _ (plug _ (k (Some _)))).
  by rewrite /at_node !ffunE /seen px /= mem_head orbT (negbTE nx) (negbTE nt).
under eq_avg => f do rewrite value_Challenge fr /= -avg_mull.
rewrite avg_swap; rewrite -(avg_at s0 (place x)); apply: eq_avg => f1; apply: eq_avg => f.
by rewrite seen_challenge.
Qed.

Lemma inner_size p : p \in inner -> (size p < d)%N.
Proof.
case/flattenP => ns /mapP [n]; rewrite mem_iota subnKC // => /andP [_ nd] -> pn.
by rewrite (eqP (allP (roots_size n) _ pn)).
Qed.

Lemma meeting_le ps (k : pred (d.-bseq bool)) f0 t s :
  (forall p, p \in ps -> k (place p) -> ~~ matches f0 t s p) ->
  avg (fun f => (has (matches (mix k f0 f) t s) ps)%:R) <= (count (fun p => tag p == t) ps)%:R / #|Seed|%:R :> rat.
Proof.
elim: ps => [|p ps IH] N; first by rewrite mul0r (avg_const [ffun _ => s0]) lexx.
rewrite [count _ _]/= natrD mulrDl.
apply: (@le_trans _ _ (avg (fun f => (matches (mix k f0 f) t s p)%:R) +
                       avg (fun f => (has (matches (mix k f0 f) t s) ps)%:R))).
  rewrite -avgD; apply: avg_le => f /=; case: (matches _ _ _ _); case: (has _ _) => //=.
apply: le_add; last by apply: IH => q h; apply: N; rewrite inE h orbT.
rewrite /matches; case: eqP => T; last by rewrite mul0r (avg_const [ffun _ => s0]) lexx.
rewrite mul1r /= /at_node; case kp : (k (place p)).
  under eq_avg => f do rewrite ffunE kp.
  have := N p (mem_head _ _) kp; rewrite /matches T eqxx => /negbTE /= ->.
  by rewrite (avg_const [ffun _ => s0]) invr_ge0 ler0n.
under eq_avg => f do rewrite ffunE kp.
by rewrite (avg_at s0 (place p) (fun y => (y == s)%:R)) avg_eq1 lexx.
Qed.

(* a predicate of trees that does not depend on leaves *)
Definition above_leaves (ok : pred tree) : Prop :=
  forall f f', (forall q, (size q < d)%N -> at_node f q = at_node f' q) -> ok f = ok f'.

Lemma norm_mix_le (a b e e1 e2 B : rat) : `|a - b| <= e -> 0 <= e1 <= B -> 0 <= e2 <= B ->
  `|(a + e1) - (b + e2)| <= e + B.
Proof.
move=> ab /andP [e10 e1B] /andP [e20 e2B].
rewrite opprD addrACA -[e1 - e2]opprB; apply: le_trans (norm_sub_le _ _) _; apply: le_add => //.
rewrite ler_norml; apply/andP; split.
  by rewrite le_add_sub addrC le_sub_add (le_trans e1B) // addrC le_addl.
by rewrite le_sub_add (le_trans e2B) // le_addl.
Qed.

Lemma blind A Q st f0 (ok : pred tree) : hashes_at_most Q A -> nodes_ok d st -> closed st -> tests_ok st ->
  above_leaves ok -> (forall f, ok f -> ~~ meet inner f) ->
  `|mean Real ok st f0 A - mean Ideal ok st f0 A| <= (M * Q)%:R / #|Seed|%:R.
Proof.
have pos n : 0 <= n%:R / #|Seed|%:R :> rat by rewrite divr_ge0 ?ler0n.
elim: A Q st f0 ok => [b|X x0 k IH|[[x|[r rok]|x|[r rok]]|t s] k IH] Q st f0 ok H W C T L N.
- rewrite /mean (_ : avg _ = avg (fun f => (ok (view Ideal st f0 f))%:R * run Ideal (view Ideal st f0 f) st (Conclude _ b))).
    by rewrite subrr normr0.
  apply: eq_avg => f; rewrite /run /value /Pr /=; congr ((nat_of_bool _)%:R * _).
  apply: L => q qd; rewrite /at_node !ffunE /seen orbF placeK 1?ltnW //; case rq : (revealed st q) => //=.
  case: ifP => // tq; have /andP [_ /eqP sq] := T _ tq; by rewrite sq ltnn in qd.
- have E w : mean w ok st f0 (Random x0 k) = avg (fun x => mean w ok st f0 (k x)).
    rewrite /mean avg_swap; apply: eq_avg => f; by rewrite (avg_mull _ (fun x => run w (view w st f0 f) st (k x))).
  by rewrite !E -avgB; apply: (avg_norm_le x0) => x; apply: IH.
- rewrite /mean /run /=.
  under eq_avg => f do rewrite value_Evaluate.
  under [X in _ - X]eq_avg => f do rewrite value_Evaluate.
  case sp : (spoils x st); first exact: IH (H _) W C T L N.
  pose B f := k (if alive (held st) x then Some (at_node f x) else None).
  have EB f f' : (forall q : d.-bseq bool, revealed (reveal x st) q -> f q = f' q) -> B f = B f'.
    move=> E; rewrite /B; case al : (alive _ _) => //; rewrite /at_node E //=.
    by rewrite placeK ?size_tuple // prefix_refl al orbT.
  rewrite (mean_reveal Real ok f0 (negbT sp) T EB) (mean_reveal Ideal ok f0 (negbT sp) T EB) -avgB.
  apply: (avg_norm_le [ffun _ => s0]) => f1; apply: IH => //; first exact: closed_reveal.
  exact: tests_reveal (negbT sp).
- rewrite /mean /run /=.
  under eq_avg => f do rewrite value_Punct.
  under [X in _ - X]eq_avg => f do rewrite value_Punct.
  by apply: (IH tt Q (State (puncture_region no_seed r (held st)) (revealed st) (tested st)) f0 ok (H _)) => //;
    apply: within_puncture.
- case fr : (fresh_leaf st x); last first.
    rewrite /mean /run /=.
    under eq_avg => f do rewrite value_Challenge fr.
    under [X in _ - X]eq_avg => f do rewrite value_Challenge fr.
    exact: IH (H _) W C T L N.
  rewrite /mean !mean_challenge // -avgB; apply: (avg_norm_le [ffun _ => s0]) => f1; apply: IH => //.
  move=> y; rewrite inE => /orP [/eqP ->|/T //]; have /andP [-> _] := fr.
  by rewrite size_tuple eqxx.
- rewrite /mean /run /=.
  under eq_avg => f do rewrite value_Reveal.
  under [X in _ - X]eq_avg => f do rewrite value_Reveal.
  rewrite [sval _]/=; case sp : (spoils r st); first exact: IH (H _) W C T L N.
  pose B f := k (Some (dress (at_node f) (delegate no_seed r (held st)))).
  have EB f f' : (forall q : d.-bseq bool, revealed (reveal r st) q -> f q = f' q) -> B f = B f'.
    move=> E; rewrite /B; congr (k (Some _)).
    have D n : n \in unzip1 (delegate no_seed r (held st)) -> revealed (reveal r st) n.
      by move/delegate_below => /= ->; rewrite orbT.
    have := within_delegate rok W; elim: (delegate _ _ _) D => //= n K IHK D /andP [nd WK].
    rewrite IHK // => [|m h]; last by apply: D; rewrite inE h orbT.
    by rewrite /at_node E //= placeK //; apply: D; rewrite mem_head.
  rewrite (mean_reveal Real ok f0 (negbT sp) T EB) (mean_reveal Ideal ok f0 (negbT sp) T EB) -avgB.
  apply: (avg_norm_le [ffun _ => s0]) => f1; apply: IH => //; first exact: closed_reveal.
  exact: tests_reveal (negbT sp).
case: H => Q0 H.
case known : (has (fun p => revealed st p && matches f0 t s p) inner).
  case/hasP: known => p pn /andP [rp mp]; have pd := inner_size pn.
  pose y := (at_node f0 (rcons p false), at_node f0 (rcons p true)).
  have E w : mean w ok st f0 (@Ask _ id_reply (Hash d t s) k) = mean w ok st f0 (k y).
    apply: eq_avg => f; case okf : (ok _); last by rewrite !mul0r.
    congr (_ * _); rewrite /run /=; congr (value _ _ _ _ _ (plug _ (k _))).
    have K q : revealed st q -> (size q <= d)%N -> at_node (view w st f0 f) q = at_node f0 q.
      by move=> rq qd; rewrite /at_node ffunE /seen placeK // rq.
    rewrite (implant_inner _ (N _ okf) pn) ?/matches ?(K p) ?(ltnW pd) //.
    by rewrite !K ?size_rcons //; apply: C.
  rewrite !E; apply: le_trans (IH y Q.-1 _ _ _ (H y) W C T L N) _.
  by apply: le_mul2r; rewrite ?invr_ge0 ?ler0n // ler_nat leq_mul2l leq_pred orbT.
pose ok' f := ok f && ~~ has (matches f t s) inner.
pose rest w := avg (fun f => (ok (view w st f0 f) && has (matches (view w st f0 f) t s) inner)%:R *
  run w (view w st f0 f) st (@Ask _ id_reply (Hash d t s) k)).
have E w : mean w ok st f0 (@Ask _ id_reply (Hash d t s) k) = mean w ok' st f0 (k (g (t, s))) + rest w.
  rewrite /mean /rest -avgD; apply: eq_avg => f; rewrite /ok'.
  case: (ok _) => /=; last by rewrite !mul0r addr0.
  case h : (has _ _); rewrite /= !(mul0r, mul1r) ?add0r ?addr0 //.
  by rewrite /run /= implant_miss ?h.
have R w : 0 <= rest w <= M%:R / #|Seed|%:R.
  apply/andP; split; first by apply: avg_ge0 => f; rewrite mulr_ge0 ?ler0n ?run_ge0.
  apply: (@le_trans _ _ (avg (fun f => (has (matches (view w st f0 f) t s) inner)%:R))).
    apply: avg_le => f; case: (ok _) => /=; last by rewrite mul0r ler0n.
    by case: (has _ _); rewrite ?mul0r // mul1r run_le1.
  apply: le_trans (meeting_le _) _.
    move=> p pn sp; have pd := inner_size pn; move: sp; rewrite /seen placeK 1?ltnW // => /orP [rp|].
      by apply/negP => mp; case/negP: (negbT known); apply/hasP; exists p; rewrite ?rp.
    by case: (w) => // /T /andP [_ /eqP sp]; rewrite sp ltnn in pd.
  by apply: le_mul2r; rewrite ?invr_ge0 ?ler0n // ler_nat; apply: targets_le.
rewrite !E; apply: le_trans (norm_mix_le (IH (g (t, s)) Q.-1 st f0 ok' (H _) W C T _ _) (R Real) (R Ideal)) _.
- move=> f f' E'; rewrite /ok' (L _ _ E'); congr (_ && ~~ _); apply: eq_in_has => p pn.
  by rewrite /matches E' ?inner_size.
- by move=> f /andP [/N].
by rewrite -mulrDl -natrD -mulnSr prednK ?lexx.
Qed.

End Blind.

(* ---- The real game is the one with the seeds in the random function ----------------------------- *)

Definition deep (K : key unit) : bool := all (fun n => c <= size n.1)%N K.

Lemma deep_puncture r (K : key unit) : region_ok d r -> nodes_ok d (fresh_state K) -> deep K ->
  deep (puncture_region no_seed r K).
Proof.
move=> ok W; rewrite (puncture_region_remove _ W ok) /deep.
elim: K {W} => //= n K IH /andP [nc /IH D]; rewrite /remove /= all_cat; apply/andP; split; last exact: D.
by apply: sub_all (cover_prefix _ _ _ _ _) => m /size_prefix; apply: leq_trans.
Qed.

Lemma deep_delegate r (K : key unit) : deep K -> deep (delegate no_seed r K).
Proof.
elim: K => //= n K IH /andP [nc /IH D]; rewrite /delegate /= -/(delegate no_seed r K) /deep all_cat.
move: D; rewrite /deep => ->; rewrite andbT /delegate_node.
case: ifP => [/size_prefix h|_] /=; first by rewrite (leq_trans nc h).
by case: ifP => //= _; rewrite nc.
Qed.

Lemma eq_deep_seeds v sg1 sg2 cut_off st (A : ev_adversary Seed d) : (forall q, (c <= size q <= d)%N -> sg1 q = sg2 q) ->
  nodes_ok d st -> deep (held st) -> value s0 v sg1 cut_off st A = value s0 v sg2 cut_off st A.
Proof.
move=> E; elim: A st => [b|X x0 k IH|[x|[r ok]|x|[r ok]] k IH] st W D; rewrite ?valueE //.
- by apply: eq_avg => z; apply: IH.
- by rewrite E ?size_tuple ?cd ?leqnn // !IH.
- by apply: IH; [apply: within_puncture | apply: deep_puncture].
- rewrite E ?size_tuple ?cd ?leqnn // !IH //; case: ifP => // _; case: ifP => // _.
  by apply: eq_avg => y; apply: IH.
- have -> : dress sg1 (delegate no_seed r (held st)) = dress sg2 (delegate no_seed r (held st)).
    have := within_delegate ok W; have := deep_delegate r D; elim: (delegate _ _ _) => //= n K IHK.
    by move=> /andP [nc DK] /andP [nd WK]; rewrite E ?nc ?nd // IHK.
  by rewrite !IH.
Qed.

Lemma mem_inner p : (p \in inner) = (c <= size p < d)%N.
Proof.
apply/flattenP/andP => [[ns /mapP [n]]|[cp pd]].
  by rewrite mem_iota subnKC // => /andP [cn nd] -> /(allP (roots_size n)) /eqP ->.
exists (roots (size p)); first by apply: map_f; rewrite mem_iota subnKC // cp.
by rewrite mem_leaves.
Qed.

Lemma ordered_cat ps qs m : uniq ps -> all (fun p => size p == m) ps -> (m < d)%N ->
  all (fun q => m < size q)%N qs -> ordered qs -> ordered (ps ++ qs).
Proof.
move=> + + md mq oq; elim: ps => //= p ps IH /andP [np u] /andP [/eqP sp sz].
rewrite sp md mem_cat negb_or np IH // andbT /= all_cat; apply/and3P; split.
- by apply: contraTN isT => /(allP mq); rewrite sp ltnn.
- by apply: sub_all sz => q /eqP ->.
by apply: sub_all mq => q /ltnW.
Qed.

Lemma inner_ordered : ordered inner.
Proof.
suff G k m : (m + k <= d)%N -> ordered (flatten [seq pts n predT | n <- iota m k]).
  by apply: G; rewrite subnKC.
elim: k m => //= k IH m md; have md' : (m < d)%N by apply: leq_trans md; rewrite addnS ltnS leq_addr.
apply: (@ordered_cat _ _ m) => //; first exact: roots_uniq; first exact: roots_size.
  apply/allP => q /flattenP [ns /mapP [n]]; rewrite mem_iota => /andP [mn _] -> /(allP (roots_size n)).
  by move/eqP ->.
by apply: IH; rewrite addSnnS.
Qed.

Lemma grow_children g ps f p b : ordered ps -> p \in ps ->
  at_node (grow g ps f) (rcons p b) = child (family g) p b (at_node (grow g ps f) p).
Proof.
elim: ps f => //= q ps IH f /and4P [qd nq le o]; rewrite inE; case: eqP => [->|_] /= h; last exact: IH.
clear IH; have N b' : q == rcons q b' = false.
  by apply/eqP => /(congr1 size) /eqP; rewrite size_rcons -[X in X == _]addn0 -addn1 eqn_add2l.
rewrite grow_keeps_child // (grow_keeps_parent _ _ o (ltnW qd) le (leqnn _)) !at_set ?size_rcons //; try exact: ltnW.
by rewrite !N /child /family !eqseq_rcons eqxx; case: b.
Qed.

Lemma zip_self (T U : Type) (h : T -> U) ns : zip ns (map h ns) = [seq (x, h x) | x <- ns].
Proof. by elim: ns => //= x ns ->. Qed.

Lemma real_tree g f q : (c <= size q <= d)%N ->
  at_node (grow g inner f) q = seed_of s0 (family g) (zip (roots c) [seq at_node f r | r <- roots c]) q.
Proof.
set L := zip _ _; move=> /andP [cq qd].
rewrite -(cat_take_drop c q); have : size (take c q) = c by rewrite size_takel.
have : (size (take c q) + size (drop c q) <= d)%N by rewrite -size_cat cat_take_drop.
elim/last_ind: (drop c q) (take c q) => {q cq qd} [|y b IH] r rd rc.
  rewrite cats0 grow_keeps ?inner_ordered ?rc //; last first.
    move=> p; rewrite mem_inner => /andP [cp _] b; apply/eqP => h; move: rc; rewrite h size_rcons => h'.
    by rewrite -h' ltnn in cp.
  have sz : size [seq at_node f r | r <- roots c] = size (roots c) by rewrite size_map.
  have := @dress_roots Seed s0 (family g) c (roots c) _ (roots_size c) (roots_uniq c) sz.
  rewrite [in RHS]zip_self /dress -map_comp => /eq_in_map E.
  have rr : r \in roots c by rewrite mem_leaves rc.
  by have /= [->] := E r rr.
have rd' : (size r + size y < d)%N by move: rd; rewrite size_rcons addnS.
rewrite -rcons_cat grow_children ?inner_ordered //; last first.
  by rewrite mem_inner size_cat rd' andbT rc leq_addr.
rewrite IH ?(ltnW rd') // -[rcons (r ++ y) b]cats1 (@seed_of_grown _ s0 (family g) c L (r ++ y) [:: b]) //.
- rewrite /L; elim: (roots c) (roots_size c) => //= p ns IHn /andP [-> h]; exact: IHn.
- by rewrite size_cat rc leq_addr.
apply/hasP; exists (r, at_node f r); last by rewrite /= prefix_prefix.
rewrite /L zip_self; apply: (map_f (fun q => (q, at_node f q))).
by rewrite mem_leaves rc.
Qed.

Lemma ex_unifs_tree ns (h : seq Seed -> rat) : uniq ns -> all (fun q => size q <= d)%N ns ->
  ex (unifs s0 (size ns)) h = avg (fun f : tree => h [seq at_node f q | q <- ns]).
Proof.
elim: ns h => [|p ns IH] h /=; first by rewrite (avg_const [ffun _ => s0]).
case/andP => np u /andP [pd nd]; rewrite -[LHS]/(ex (unifs s0 (size ns).+1) h) ex_unifsS.
rewrite (avg_put s0 (place p)) avg_swap; apply: eq_avg => y; rewrite IH //; apply: eq_avg => f.
congr h; congr (_ :: _); first by rewrite /at_node ffunE eqxx.
apply/eq_in_map => q qn.
have ne : (q == p) = false by apply/eqP => E; rewrite -E qn in np.
by rewrite /at_node ffunE (place_eq (allP nd _ qn) pd) ne.
Qed.

Definition grown_value w g f A : rat := value s0 bit (at_node f) (cut_off_in w) (st0 c) (plug g A).

Lemma id_game_grown w A : Pr (id_game s0 tag c w A) =
  avg (fun f => avg (fun g => grown_value w g (grow g inner f) A)).
Proof.
rewrite id_game_value avg_swap; apply: eq_avg => g.
rewrite /world_value ex_unifs_tree ?roots_uniq //; last first.
  by apply: sub_all (roots_size c) => q /eqP ->.
apply: eq_avg => f; apply: eq_deep_seeds; [|exact: st0_ok|].
  by move=> q s; rewrite real_tree.
by rewrite /deep all_map; apply: sub_all (roots_size c) => q /= /eqP ->.
Qed.

(* ---- Two nodes with the same tag and seed ---------------------------------------------------------- *)

Fixpoint meet_later (ps : seq bitseq) f : bool :=
  if ps is p :: ps' then has (matches f (tag p) (at_node f p)) ps' || meet_later ps' f else false.

Lemma meet_is_later ps f : meet ps f -> meet_later ps f.
Proof.
case/hasP => p pn /hasP [q qn /and3P [ne /eqP T /eqP E]].
elim: ps pn qn => //= r ps IH; rewrite !inE => /orP [/eqP hp|hp] /orP [/eqP hq|hq].
- by rewrite hp hq eqxx in ne.
- by apply/orP; left; apply/hasP; exists q => //; rewrite /matches -hp T E !eqxx.
- by apply/orP; left; apply/hasP; exists p => //; rewrite /matches -hq T E !eqxx.
by rewrite IH // orbT.
Qed.

Lemma meet_le ps : uniq ps -> all (fun q => size q <= d)%N ps ->
  avg (fun f => (meet ps f)%:R) <= (clashes (map tag ps))%:R / #|Seed|%:R :> rat.
Proof.
move=> u a; apply: (@le_trans _ _ (avg (fun f => (meet_later ps f)%:R))).
  by apply: avg_le => f; case M : (meet _ _); rewrite ?ler0n // (meet_is_later M).
elim: ps u a => [|p ps IH] /=; first by rewrite mul0r (avg_const [ffun _ => s0]) lexx.
case/andP => np u /andP [pd a]; rewrite natrD mulrDl.
apply: (@le_trans _ _ (avg (fun f => (has (matches f (tag p) (at_node f p)) ps)%:R) +
                       avg (fun f => (meet_later ps f)%:R))).
  by rewrite -avgD; apply: avg_le => f; case: (has _ _); case: (meet_later _ _).
apply: le_add; last exact: IH.
elim: ps np u a {IH} => [|q ps IH] /=; first by rewrite mul0r (avg_const [ffun _ => s0]) lexx.
rewrite inE negb_or => /andP [ne np] /andP [_ u] /andP [qd a]; rewrite natrD mulrDl.
apply: (@le_trans _ _ (avg (fun f => (matches f (tag p) (at_node f p) q)%:R) +
                       avg (fun f => (has (matches f (tag p) (at_node f p)) ps)%:R))).
  by rewrite -avgD; apply: avg_le => f; case: (has _ _); case: (matches _ _ _ _).
apply: le_add; last exact: IH.
rewrite /matches; case: eqP => T; last by rewrite mul0r (avg_const [ffun _ => s0]) lexx.
rewrite mul1r (avg_put s0 (place q)) /=.
have E f : avg (fun y => (at_node (put f (place q) y) q == at_node (put f (place q) y) p)%:R) = #|Seed|%:R^-1.
  rewrite -(avg_eq1 (at_node f p)); apply: eq_avg => y.
  by rewrite /at_node !ffunE eqxx place_eq // (negbTE ne).
by rewrite (eq_avg E) (avg_const [ffun _ => s0]) lexx.
Qed.

Lemma inner_uniq : uniq inner.
Proof. by elim: inner inner_ordered => //= p ps IH /and4P [_ -> _ /IH]. Qed.

(* ---- The bound ---------------------------------------------------------------------------------------- *)

(* With M targets a query meets one with probability M / #|Seed|; apart from this only two nodes
   with the same tag and the same seed can help. *)
Theorem id_adv_bound (A : id_adversary) (Q M : nat) : (forall t, targets d tag c t <= M)%N -> hashes_at_most Q A ->
  `|id_adv s0 tag c A| <= (M * Q + clashes (map tag inner))%:R / #|Seed|%:R.
Proof.
move=> TM H; rewrite /id_adv !id_game_grown natrD mulrDl.
pose ok f := ~~ meet inner f.
pose good w := avg (fun f => avg (fun g => (ok (grow g inner f))%:R * grown_value w g (grow g inner f) A)).
pose bad w := avg (fun f => avg (fun g => (~~ ok (grow g inner f))%:R * grown_value w g (grow g inner f) A)).
have E w : avg (fun f => avg (fun g => grown_value w g (grow g inner f) A)) = good w + bad w.
  rewrite /good /bad -avgD; apply: eq_avg => f; rewrite -avgD; apply: eq_avg => g.
  by rewrite -mulrDl; case: (ok _); rewrite ?addr0 ?add0r mul1r.
have sub : {subset inner <= inner} by [].
have G w : good w = avg (fun g => mean g w ok (st0 c) [ffun _ => s0] A).
  rewrite /good (@grow_implant inner inner (fun g f => (ok f)%:R * grown_value w g f A)) //; last first.
  - by move=> g f; rewrite /ok => ->; rewrite mul0r.
  - exact: inner_ordered.
  rewrite avg_swap; apply: eq_avg => g; apply: eq_avg => f.
  have -> // : view w (st0 c) [ffun _ => s0] f = f.
  by apply/ffunP => q; rewrite ffunE /seen /=; case: (w).
have B w : 0 <= bad w <= (clashes (map tag inner))%:R / #|Seed|%:R.
  apply/andP; split; first by do 2 (apply: avg_ge0 => ?); rewrite mulr_ge0 ?ler0n // /grown_value Pr_ge0.
  apply: (@le_trans _ _ (avg (fun f => avg (fun g => (~~ ok (grow g inner f))%:R)))).
    by do 2 (apply: avg_le => ?); case: (ok _); rewrite ?mul0r ?lexx // mul1r Pr_le1.
  have C (b : bool) : (~~ b)%:R = 1 - b%:R :> rat by case: b; rewrite ?subrr ?subr0.
  under eq_avg => f do (under eq_avg => g do rewrite C; rewrite avgB).
  rewrite avgB (@grow_implant inner inner (fun g f => (ok f)%:R)) //; last first.
  - by move=> g f; rewrite /ok => ->.
  - exact: inner_ordered.
  under [X in _ - X]eq_avg => f do rewrite (avg_const (no_table s0 Tag)).
  under eq_avg => f do rewrite (avg_const (no_table s0 Tag)).
  rewrite -avgB; under eq_avg => f do rewrite -C /ok negbK.
  apply: meet_le; first exact: inner_uniq.
  by apply/allP => p; rewrite mem_inner => /andP [_ /ltnW].
rewrite !E; apply: norm_mix_le; last exact: B; last exact: B.
rewrite !G -avgB; apply: (avg_norm_le (no_table s0 Tag)) => g; apply: blind => //.
- exact: st0_ok.
- by move=> f f' e; rewrite /ok; congr (~~ _); apply: eq_in_has => p pn; apply: eq_in_has => q qn;
    rewrite !e ?inner_size.
Qed.

Lemma size_inner : size inner = (2 ^ d - 2 ^ c)%N.
Proof.
suff G k m : (size (flatten [seq pts n predT | n <- iota m k]) + 2 ^ m = 2 ^ (m + k))%N.
  by rewrite -(addnK (2 ^ c) (size _)) G subnKC.
elim: k m => [|k IH] m /=; first by rewrite addn0.
rewrite size_cat addnAC (_ : size (pts m predT) = 2 ^ m)%N; last exact: size_roots.
by rewrite addnC addnn -mul2n -expnS IH addSnnS.
Qed.

End Ideal.

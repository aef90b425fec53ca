(* SPDX-License-Identifier: Apache-2.0 *)
(* Security of values that are used first and punctured later: the advantage is a sum of PRG
   advantages, two for each inner node above a leaf that may be challenged.

   Idea. Let E_p be the event that a leaf below node p is challenged. On runs in E_p nobody is
   ever given a seed at p or above it (agree, never_tested). So on those runs the seeds of p's
   children may be replaced by fresh ones, at the cost of one PRG advantage (embed). Then the
   challenges below the left child are made random, then those below the right child
   (split_tests), each on the runs that have any. Then p gets its PRG back, at the cost of a
   second advantage. At a leaf there is nothing to do: its seed is fresh and used only for its
   challenge (leaf_step). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Sizes ProbabilityFacts ReductionFacts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section EvaluationSecurity.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Local Notation ev_adversary := (ev_adversary Seed d).
Local Notation ev_reply := (@ev_reply Seed d).
Implicit Types (A : ev_adversary) (L K : key Seed) (p q : bitseq).

(* ---- Prefixes ------------------------------------------------------------------------- *)

Lemma prefix_rconsE p q b : prefix q (rcons p b) = prefix q p || (q == rcons p b).
Proof.
elim: p q => [|a p IH] [|e q] //=.
by rewrite IH eqseq_cons; case: (e == a).
Qed.

Lemma delegate_below (S : Type) (F : bitseq -> S -> S * S) r (K : key S) p :
  p \in unzip1 (delegate F r K) -> prefix r p && alive K p.
Proof.
elim: K => //= n K IH; rewrite /delegate /= /unzip1 map_cat mem_cat /delegate_node.
case/orP => [|/IH /andP [-> ->]]; last by rewrite orbT.
case: ifP => [nr|_].
  by rewrite inE /= => /eqP ->; rewrite prefix_refl nr.
case: ifP => // rn; rewrite inE /= => /eqP ->; by rewrite rn prefix_refl.
Qed.

Lemma alive_below (S : Type) (K : key S) p (x : bitseq) : prefix p x -> alive K p -> alive K x.
Proof.
move=> px; elim: K => //= n K IH /orP [np|/IH ->]; last by rewrite orbT.
by rewrite (prefix_trans np px).
Qed.

(* ---- Running codes ---------------------------------------------------------------------- *)

Lemma ex_simulate (State : Type) (v : State -> bool -> bool)
    (oc : State -> forall a, code Seed (ev_reply a * State))
    (op : State -> forall a, prog (ev_reply a * State)) :
  (forall st a f, ex (exec G (oc st a)) f = ex (op st a) f) ->
  forall st A, Pr (exec G (simulate v oc st A)) = Pr (interact v op st A).
Proof.
move=> E st A; rewrite /Pr; elim: A st => [b|X x0 k IH|a k IH] st //=.
  by apply: eq_avg => x; apply: IH.
by rewrite ex_exec_bind ex_bind E; apply: eq_ex => rs; apply: IH.
Qed.

Definition seed_of L q : Seed := odflt s0 (eval G L q).

Lemma ex_walk p s y h : ex (exec G (walk p s y)) h = h (descend G p s y).
Proof. by elim: y p s => //= b y IH p s; rewrite IH /child; case: b. Qed.

Lemma ex_find_seed L q h : ex (exec G (find_seed s0 L q)) h = h (seed_of L q).
Proof.
rewrite /seed_of; elim: L => //= n L IH.
by case: ifP => _; [rewrite ex_walk | exact: IH].
Qed.

Definition dress (sg : bitseq -> Seed) (K : key unit) : key Seed := [seq (n.1, sg n.1) | n <- K].

Lemma ex_find_seeds L (K : key unit) h :
  ex (exec G (find_seeds s0 L K)) h = h (dress (seed_of L) K).
Proof.
elim: K h => //= n K IH h; rewrite ex_exec_bind ex_find_seed ex_exec_bind IH.
by [].
Qed.

(* ---- The device with its seeds given as a function of the node --------------------------- *)

Definition node_oracle (sg : bitseq -> Seed) (cut_off : pred bitseq) (st : ev_state unit) (a : ev_query d) :
  prog (ev_reply a * ev_state unit) :=
  match a with
  | Evaluate x =>
      if spoils x st then Ret (None, st)
      else Ret (if alive (held st) x then Some (sg x) else None, reveal x st)
  | Punct r =>
      Ret (tt, State (puncture_region no_seed (sval r) (held st)) (revealed st) (tested st))
  | Challenge x =>
      if fresh_leaf st x then
        y <-$ (if cut_off x then unif s0 else Ret (sg x)) ;; Ret (Some y, challenge x st)
      else Ret (None, st)
  | Reveal p =>
      if spoils (sval p) st then Ret (None, st)
      else Ret (Some (dress sg (delegate no_seed (sval p) (held st))), reveal (sval p) st)
  end.

Lemma ex_cut_oracle L cut_off st a f :
  ex (exec G (cut_oracle s0 L cut_off st a)) f = ex (node_oracle (seed_of L) (under cut_off) st a) f.
Proof.
case: a f => [x|r|x|p] f //=.
- case: ifP => // _; case: ifP => // _; by rewrite ex_exec_bind ex_find_seed.
- case: ifP => // _; rewrite ex_exec_bind ex_bind; case: ifP => _ //=.
  by rewrite ex_find_seed.
- by case: ifP => // _; rewrite ex_exec_bind ex_find_seeds.
Qed.

Definition value v sg cut_off st A : rat := Pr (interact v (node_oracle sg cut_off) st A).

Lemma value_Random v sg cut_off st (X : finType) (x0 : X) k :
  value v sg cut_off st (Random x0 k) = avg (fun z => value v sg cut_off st (k z)).
Proof. by []. Qed.

Lemma value_Evaluate v sg cut_off st (x : leaf d) k : value v sg cut_off st (@Ask _ ev_reply (Evaluate x) k) =
  if spoils x st then value v sg cut_off st (k None)
  else value v sg cut_off (reveal x st) (k (if alive (held st) x then Some (sg x) else None)).
Proof. by rewrite /value /=; case: ifP. Qed.

Lemma value_Punct v sg cut_off st r k : value v sg cut_off st (@Ask _ ev_reply (Punct r) k) =
  value v sg cut_off (State (puncture_region no_seed (sval r) (held st)) (revealed st) (tested st))
        (k tt).
Proof. by []. Qed.

Lemma value_Challenge v sg cut_off st (x : leaf d) k : value v sg cut_off st (@Ask _ ev_reply (Challenge x) k) =
  if fresh_leaf st x then
    if cut_off x then avg (fun y => value v sg cut_off (challenge x st) (k (Some y)))
    else value v sg cut_off (challenge x st) (k (Some (sg x)))
  else value v sg cut_off st (k None).
Proof. by rewrite /value /=; case: ifP => // _; case: ifP. Qed.

Lemma value_Reveal v sg cut_off st r k : value v sg cut_off st (@Ask _ ev_reply (Reveal r) k) =
  if spoils (sval r) st then value v sg cut_off st (k None)
  else value v sg cut_off (reveal (sval r) st)
             (k (Some (dress sg (delegate no_seed (sval r) (held st))))).
Proof. by rewrite /value /=; case: ifP. Qed.

Definition valueE :=
  (value_Random, value_Evaluate, value_Punct, value_Challenge, value_Reveal).

Definition tested_below p (st : ev_state unit) : bool := has (prefix p) (tested st).

(* ---- Runs on which no leaf below p can be challenged any more ----------------------------- *)

Lemma never_tested p sg cut_off st A :
  (forall y, prefix p y -> revealed st y) -> ~~ tested_below p st ->
  value (@tests_below _ p) sg cut_off st A = 0.
Proof.
rewrite /tested_below; elim: A st => [b|X x0 k IH|[x|r|x|r] k IH] st R N; rewrite ?valueE.
- by rewrite /value /Pr /= /tests_below (negbTE N) andbF.
- by rewrite (eq_avg (fun z => IH z st R N)) (avg_const x0).
- by case: ifP => _; apply: IH => //= y py; rewrite R.
- exact: IH.
- case: ifP => [/andP [nr _]|_]; last exact: IH.
  have np : ~~ prefix p x by apply: contra nr; apply: R.
  have N' : ~~ has (prefix p) (tested (challenge x st)) by rewrite /= negb_or np.
  case: ifP => _; last exact: IH.
  by rewrite (eq_avg (fun y => IH (Some y) (challenge x st) R N')) (avg_const s0).
- by case: ifP => _; apply: IH => //= y py; rewrite R.
Qed.

Lemma never_in (U : pred bitseq) p sg cut_off st A :
  challenges_in U A -> free d U p -> ~~ tested_below p st ->
  value (@tests_below _ p) sg cut_off st A = 0.
Proof.
move=> CU F; move: CU; rewrite /tested_below.
elim: A st => [b|X x0 k IH|[x|r|x|r] k IH] st CU N; rewrite ?valueE.
- by rewrite /value /Pr /= /tests_below (negbTE N) andbF.
- by rewrite (eq_avg (fun z => IH z st (CU z) N)) (avg_const x0).
- by case: ifP => _; apply: IH => //; apply: (proj2 CU).
- by case: CU => _ CU; apply: IH (CU tt) _.
- case: CU => /= Ux CU; case: ifP => _; last exact: IH (CU _) N.
  have np : ~~ prefix p x.
    apply/negP => /prefixP [y E]; move/no_leafP: F => /(_ y).
    have sx : size (tval x) = d := size_tuple x.
    by rewrite -E Ux -sx E size_cat addKn => /(_ erefl).
  have N' : ~~ has (prefix p) (tested (challenge x st)) by rewrite /= negb_or np.
  case: ifP => _; last exact: IH (CU _) N'.
  by rewrite (eq_avg (fun y => IH (Some y) (challenge x st) (CU _) N')) (avg_const s0).
- by case: ifP => _; apply: IH => //; apply: (proj2 CU).
Qed.

(* ---- On runs with a challenge below p the seed of p is not used ---------------------------- *)

Definition nodes_ok (st : ev_state unit) : Prop := Correctness.within d (held st).

Lemma within_puncture (S : Type) (F : bitseq -> S -> S * S) r (K : key S) : region_ok d r ->
  Correctness.within d K -> Correctness.within d (puncture_region F r K).
Proof.
move=> ok W; rewrite (puncture_region_remove _ W ok).
elim: K W => //= n K IH /andP [nd /IH W]; rewrite /Correctness.within all_cat; apply/andP.
split; last exact: W.
by apply: sub_all (cover_size _ _ _ _ _) => m; rewrite subnKC.
Qed.

Lemma within_delegate r (K : key unit) : (size r <= d)%N -> Correctness.within d K ->
  Correctness.within d (delegate no_seed r K).
Proof.
move=> rd; elim: K => //= n K IH /andP [nd /IH W].
rewrite /delegate /= -/(delegate no_seed r K) /Correctness.within all_cat.
move: W; rewrite /Correctness.within => ->; rewrite andbT /delegate_node.
by case: ifP => _ /=; rewrite ?rd //; case: ifP => //= _; rewrite nd.
Qed.

(* revealing p leaves no leaf below p to be challenged *)
Lemma spoilt p r (st : ev_state unit) : prefix r p -> alive (held st) p -> ~~ spoils r st ->
  (forall y, prefix p y -> revealed (reveal r st) y) /\ ~~ tested_below p (reveal r st).
Proof.
move=> rp al sp; split=> [y py|].
  by rewrite /= (prefix_trans rp py) (alive_below py al) orbT.
apply: contra sp => /hasP /= [y yt py]; apply/hasP; exists y => //.
by rewrite (prefix_trans rp py) (alive_below py al).
Qed.

(* the two seed functions and the two sets of cut-off leaves agree, except at p *)
Lemma agree p sg1 sg2 (cut_off1 cut_off2 : pred bitseq) st A :
  (forall q, (size q <= d)%N -> q != p -> sg1 q = sg2 q) ->
  (forall q, size q = d -> q != p -> cut_off1 q = cut_off2 q) ->
  (size p = d -> (p \in tested st) || cut_off1 p && cut_off2 p) -> nodes_ok st ->
  value (@tests_below _ p) sg1 cut_off1 st A = value (@tests_below _ p) sg2 cut_off2 st A.
Proof.
move=> Es Ed; elim: A st => [b|X x0 k IH|[x|[r ok]|x|[r ok]] k IH] st T W; rewrite ?valueE //.
- by apply: eq_avg => x; apply: IH.
- have sx : size (tval x) = d := size_tuple x.
  case: ifP => sp; first exact: IH.
  case: ifP => [al|_]; last exact: IH.
  case: (tval x =P p) => [E|/eqP ne].
    have [||R N] := @spoilt p x st _ _ (negbT sp).
    - by rewrite E prefix_refl.
    - by rewrite -E.
    by rewrite E in R N *; rewrite !never_tested.
  by rewrite Es ?sx //; apply: IH.
- by apply: IH => //; apply: within_puncture.
- have sx : size (tval x) = d := size_tuple x.
  case: ifP => [/andP [_ nt]|_]; last exact: IH.
  have T' : size p = d -> (p \in tested (challenge x st)) || cut_off1 p && cut_off2 p.
    by move/T; rewrite inE -orbA => ->; rewrite orbT.
  case: (tval x =P p) => [E|/eqP ne].
    have /andP [-> ->] : cut_off1 x && cut_off2 x.
      by have := T (etrans (congr1 size (esym E)) sx); rewrite -E (negbTE nt).
    by apply: eq_avg => y; apply: IH.
  rewrite Ed // Es ?sx //; case: ifP => _; last exact: IH.
  by apply: eq_avg => y; apply: IH.
- case: ifP => sp; first exact: IH.
  case h : (p \in unzip1 (delegate no_seed r (held st))).
    have {h} /andP [rp al] := delegate_below h.
    by have [R N] := spoilt rp al (negbT sp); rewrite !never_tested.
  have -> : dress sg1 (delegate no_seed r (held st)) = dress sg2 (delegate no_seed r (held st)).
    have := within_delegate ok W; elim: (delegate _ _ _) h => //= n K IHK.
    rewrite inE => /norP [ne nK] /andP [nd WK]; rewrite Es // 1?eq_sym // IHK //.
    exact/negbTE.
  exact: IH.
Qed.

(* ---- At a leaf: its seed is used only for its challenge -------------------------------------- *)

Definition at_leaf (sg : bitseq -> Seed) p (s : Seed) : bitseq -> Seed :=
  fun q => if q == p then s else sg q.

Lemma leaf_step p sg cut_off st A : size p = d -> ~~ cut_off p -> p \notin tested st -> nodes_ok st ->
  avg (fun s => value (@tests_below _ p) (at_leaf sg p s) cut_off st A) =
  value (@tests_below _ p) sg (predU (pred1 p) cut_off) st A.
Proof.
move=> sp dp; elim: A st => [b|X x0 k IH|[x|[r ok]|x|[r ok]] k IH] st nt W; rewrite ?valueE.
- exact: avg_const.
- under eq_avg => s do rewrite valueE.
  by rewrite avg_swap; apply: eq_avg => x; apply: IH.
- under eq_avg => s do rewrite valueE.
  case: ifP => sp'; first exact: IH.
  case al: (alive (held st) x); last by apply: IH.
  case: (tval x =P p) => [E|/eqP ne].
    have [||R N] := @spoilt p x st _ _ (negbT sp').
    - by rewrite E prefix_refl.
    - by rewrite -E.
    rewrite E in R N *.
    by rewrite (eq_avg (fun s => never_tested _ _ _ R N)) (avg_const s0) never_tested.
  under eq_avg => s do rewrite /at_leaf (negbTE ne) -/(at_leaf sg p s).
  exact: IH.
- under eq_avg => s do rewrite valueE.
  by apply: IH => //; apply: within_puncture.
- under eq_avg => s do rewrite valueE.
  case: ifP => fr; last exact: IH.
  case: (tval x =P p) => [E|/eqP ne].
    rewrite /= E eqxx (negbTE dp) /=; apply: eq_avg => s; rewrite /at_leaf eqxx.
    by apply: agree => //= [q _ /negbTE -> //|q _ /negbTE -> //|_]; rewrite mem_head.
  have nt' : p \notin tested (challenge x st) by rewrite inE negb_or eq_sym ne.
  rewrite /= (negbTE ne) /=; case: ifP => _.
    by rewrite avg_swap; apply: eq_avg => y; apply: IH.
  under eq_avg => s do rewrite /at_leaf (negbTE ne) -/(at_leaf sg p s).
  exact: IH.
- under eq_avg => s do rewrite valueE.
  case: ifP => sp'; first exact: IH.
  case h : (p \in unzip1 (delegate no_seed r (held st))).
    have {h} /andP [rp al] := delegate_below h.
    have [R N] := spoilt rp al (negbT sp').
    by rewrite (eq_avg (fun s => never_tested _ _ _ R N)) (avg_const s0) never_tested.
  have E s : dress (at_leaf sg p s) (delegate no_seed r (held st)) =
             dress sg (delegate no_seed r (held st)).
    elim: (delegate _ _ _) h => //= n K IHK; rewrite inE => /norP [ne nK].
    by rewrite IHK 1?(negbTE nK) // /at_leaf eq_sym (negbTE ne).
  under eq_avg => s do rewrite E.
  exact: IH.
Qed.

(* ---- Dead leaves below p matter only on runs that test a leaf below p ------------------------ *)

Lemma tested_same v p sg cut_off st A : (forall st b, tested_below p st -> v st b = @tests_below _ p st b) ->
  tested_below p st -> value v sg cut_off st A = value (@tests_below _ p) sg cut_off st A.
Proof.
move=> E; elim: A st => [b|X x0 k IH|[x|r|x|r] k IH] st H; rewrite ?valueE.
- by rewrite /value /= E.
- by apply: eq_avg => z; apply: IH.
- by case: ifP => _; apply: IH.
- exact: IH.
- have H' : tested_below p (challenge x st) by move: H; rewrite /tested_below /= => ->; rewrite orbT.
  case: ifP => _; last exact: IH.
  by case: ifP => _; [apply: eq_avg => y|]; apply: IH.
- by case: ifP => _; apply: IH.
Qed.

Lemma split_tests v p sg (cut_off1 cut_off2 : pred bitseq) st A :
  (forall st b, tested_below p st -> v st b = @tests_below _ p st b) ->
  (forall y : leaf d, ~~ prefix p y -> cut_off1 y = cut_off2 y) ->
  value v sg cut_off1 st A - value v sg cut_off2 st A =
  value (@tests_below _ p) sg cut_off1 st A - value (@tests_below _ p) sg cut_off2 st A.
Proof.
move=> E Ed; elim: A st => [b|X x0 k IH|[x|r|x|r] k IH] st; rewrite ?valueE.
- by rewrite !subrr.
- by rewrite -!avgB; apply: eq_avg => z; apply: IH.
- by case: ifP => _; apply: IH.
- exact: IH.
- case: ifP => _; last exact: IH.
  case px : (prefix p x).
    have H : tested_below p (challenge x st) by rewrite /tested_below /= px.
    congr (_ - _); case: ifP => _; try (apply: eq_avg => y); exact: tested_same.
  rewrite Ed ?px //; case: ifP => _; last exact: IH.
  by rewrite -!avgB; apply: eq_avg => y; apply: IH.
- by case: ifP => _; apply: IH.
Qed.

Lemma eq_cut_off v sg (cut_off1 cut_off2 : pred bitseq) st A : (forall y : leaf d, cut_off1 y = cut_off2 y) ->
  value v sg cut_off1 st A = value v sg cut_off2 st A.
Proof.
move=> Ed; elim: A st => [b|X x0 k IH|[x|r|x|r] k IH] st; rewrite ?valueE //.
- by apply: eq_avg => z; apply: IH.
- by case: ifP.
- rewrite Ed; case: ifP => // _; case: ifP => // _.
  by apply: eq_avg => y; apply: IH.
- by case: ifP.
Qed.

Lemma eq_seeds v sg1 sg2 cut_off st A : (forall q, (size q <= d)%N -> sg1 q = sg2 q) ->
  nodes_ok st -> value v sg1 cut_off st A = value v sg2 cut_off st A.
Proof.
move=> E; elim: A st => [b|X x0 k IH|[x|[r ok]|x|[r ok]] k IH] st W; rewrite ?valueE //.
- by apply: eq_avg => z; apply: IH.
- by rewrite E ?size_tuple // !IH.
- by apply: IH; apply: within_puncture.
- rewrite E ?size_tuple // !IH //; case: ifP => // _; case: ifP => // _.
  by apply: eq_avg => y; apply: IH.
- have -> : dress sg1 (delegate no_seed r (held st)) = dress sg2 (delegate no_seed r (held st)).
    have := within_delegate ok W; elim: (delegate _ _ _) => //= n K IHK.
    by move=> /andP [nd WK]; rewrite E // IHK.
  by rewrite !IH.
Qed.

(* ---- Worlds: the nodes ns carry fresh seeds ------------------------------------------------- *)

Lemma ex_unifs_cat m n (f : seq Seed -> rat) :
  ex (unifs s0 (m + n)) f = ex (unifs s0 m) (fun l => ex (unifs s0 n) (fun r => f (l ++ r))).
Proof.
elim: m f => [|m IH] f //; rewrite addSn !ex_unifsS; apply: eq_avg => s.
exact: (IH (fun l => f (s :: l))).
Qed.

(* the same for nodes before, at and after a place in the list *)
Lemma ex_unifs_at (f : key Seed -> rat) before p after :
  ex (unifs s0 (size (before ++ p :: after))) (fun ss => f (zip (before ++ p :: after) ss)) =
  ex (unifs s0 (size before)) (fun ls => ex (unifs s0 (size after)) (fun rs =>
    avg (fun s => f (zip before ls ++ (p, s) :: zip after rs)))).
Proof.
rewrite size_cat ex_unifs_cat; apply: eq_ex_unifs => ls sz.
rewrite [size (_ :: _)]/= ex_unifsS ex_avg; apply: eq_avg => s; apply: eq_ex => rs.
by rewrite zip_cat.
Qed.

Variable st0 : ev_state unit.
Hypothesis st0_fresh : tested st0 = [::].
Hypothesis st0_ok : nodes_ok st0.

Definition world_value v (ns : seq bitseq) (cut_off : pred bitseq) A : rat :=
  ex (unifs s0 (size ns)) (fun ss => value v (seed_of (zip ns ss)) cut_off st0 A).

(* the reduction of a cut, started at st0 *)
Definition reduction_at w (x : cut) A : reduction Seed :=
  let: (before, p, after) := x in
  cbind (samples s0 (size before)) (fun ls =>
  cbind (samples s0 (size after)) (fun rs =>
  Done Seed (p, fun ab =>
    simulate (@tests_below unit p)
      (cut_oracle s0 (zip before ls ++ children p ab ++ zip after rs)
         (if w is Real then before else rcons before p)) st0 A))).

Local Notation adv := (adv s0 G).

Lemma seed_of_children X Y p s q : q != p ->
  seed_of (X ++ (p, s) :: Y) q = seed_of (X ++ children p (G p s) ++ Y) q.
Proof.
move=> ne; rewrite /seed_of -[(p, s) :: Y]cat1s !eval_cat; case: (eval G X q) => //.
case pq : (prefix p q).
  by rewrite eval_children // /above pq eq_sym ne.
have N b : prefix (rcons p b) q = false.
  by apply: contraFF pq => h; apply: prefix_trans (prefix_rcons _ _) h.
by rewrite /= pq !N.
Qed.

Lemma embed w before p after A : (size p < d)%N ->
  let cut_off := under (if w is Real then before else rcons before p) in
  adv (reduction_at w (before, p, after) A) =
  world_value (@tests_below _ p) (before ++ p :: after) cut_off A -
  world_value (@tests_below _ p) (before ++ rcons p false :: rcons p true :: after) cut_off A.
Proof.
move=> pd cut_off; rewrite advE /reduction_at ex_exec_bind ex_exec_samples.
under eq_ex => ls do rewrite ex_exec_bind ex_exec_samples /=.
pose f L := value (@tests_below _ p) (seed_of L) cut_off st0 A.
rewrite /world_value (ex_unifs_at f) (ex_unifs_at f) -ex_sub; apply: eq_ex => ls.
have E L : Pr (exec G (simulate (@tests_below unit p) (cut_oracle s0 L
    (if w is Real then before else rcons before p)) st0 A)) = f L.
  by apply: ex_simulate => st a h; apply: ex_cut_oracle.
under eq_ex => rs do rewrite (eq_gap _ _ (fun ab => E _)).
rewrite /gap ex_sub; congr (_ - _).
  apply: eq_ex => rs; apply: eq_avg => s; apply: agree => //; last first.
    by move=> sp; rewrite sp ltnn in pd.
  by move=> q _ ne; rewrite -seed_of_children.
rewrite -[size (_ :: _)]/(size after).+1 ex_unifsS -ex_avg; apply: eq_ex => rs.
rewrite avg_swap; apply: eq_avg => a; apply: eq_avg => b.
by [].
Qed.

(* no node in the list is above p or below it *)
Definition aside p (ns : seq bitseq) : bool := all (fun n => ~~ prefix n p && ~~ prefix p n) ns.

Lemma aside_under p ns : aside p ns -> ~~ under ns p.
Proof. by move=> a; apply/hasPn => n /(allP a) /andP []. Qed.

Lemma aside_rcons p b ns : aside p ns -> aside (rcons p b) ns.
Proof.
apply: sub_all => n /andP [np pn]; rewrite prefix_rconsE negb_or np /=; apply/andP; split.
  by apply: contraNneq pn => ->; apply: prefix_rcons.
by apply: contra pn => h; apply: prefix_trans (prefix_rcons _ _) h.
Qed.

Lemma leaf_world before p after A : size p = d -> aside p before ->
  world_value (@tests_below _ p) (before ++ p :: after) (under before) A =
  world_value (@tests_below _ p) (before ++ p :: after) (under (rcons before p)) A.
Proof.
move=> sp ap; rewrite /world_value.
rewrite (ex_unifs_at (fun L => value _ (seed_of L) (under before) st0 A)).
rewrite (ex_unifs_at (fun L => value _ (seed_of L) (under (rcons before p)) st0 A)).
apply: eq_ex_unifs => ls sl; apply: eq_ex => rs.
pose sg := seed_of (zip before ls ++ (p, s0) :: zip after rs).
have npx : eval G (zip before ls) p = None.
  elim: before ls sl ap {sg} => [|n ns IH] [|l ls] //= [sl] /andP [/andP [/negbTE -> _]].
  exact: IH.
have E s q : (size q <= d)%N ->
    seed_of (zip before ls ++ (p, s) :: zip after rs) q = at_leaf sg p s q.
  rewrite /at_leaf => sq; case: eqP => [->|/eqP ne].
    by rewrite /seed_of eval_cat npx /= prefix_refl /eval_node drop_size.
  rewrite /sg /seed_of !eval_cat /=; case: ifP => // pq; case/eqP: ne.
  by case/prefixP: pq sq => y ->; rewrite size_cat sp -{2}[d]addn0 leq_add2l leqn0 size_eq0;
    move/eqP=> ->; rewrite cats0.
under eq_avg => s do rewrite (eq_seeds _ _ _ (E s) st0_ok).
rewrite leaf_step ?aside_under ?st0_fresh //.
apply/esym; under eq_avg => s do rewrite (eq_seeds _ _ _ (E s) st0_ok).
rewrite -[RHS](avg_const s0); apply: eq_avg => s.
rewrite (@eq_cut_off _ _ (under (rcons before p)) (predU (pred1 p) (under before))); last first.
  move=> y; rewrite /under /= has_rcons; congr (_ || _).
  have sy : size (tval y) = size p by rewrite size_tuple sp.
  by rewrite prefixE -sy take_size.
apply: agree => // [q _ /negbTE ne|_]; first by rewrite /at_leaf ne.
by rewrite /= eqxx orbT.
Qed.

(* ---- The sum over all cuts ------------------------------------------------------------------- *)

Lemma world_split v p ns (cut_off1 cut_off2 : pred bitseq) A :
  (forall st b, tested_below p st -> v st b = @tests_below _ p st b) ->
  (forall y : leaf d, ~~ prefix p y -> cut_off1 y = cut_off2 y) ->
  world_value v ns cut_off1 A - world_value v ns cut_off2 A =
  world_value (@tests_below _ p) ns cut_off1 A - world_value (@tests_below _ p) ns cut_off2 A.
Proof. by move=> E Ed; rewrite -!ex_sub; apply: eq_ex => ss; apply: split_tests. Qed.

Lemma under_rcons (ns : seq bitseq) p (y : bitseq) : under (rcons ns p) y = under ns y || prefix p y.
Proof. by rewrite /under has_rcons orbC. Qed.

Lemma tests_deeper p b st c : tested_below (rcons p b) st ->
  @tests_below _ p st c = @tests_below _ (rcons p b) st c.
Proof.
rewrite /tested_below /tests_below => H; rewrite H; congr (_ && _); apply/hasP.
by case/hasP: H => y yt py; exists y => //; apply: prefix_trans (prefix_rcons _ _) py.
Qed.

Definition cut_term x A : rat := adv (reduction_at Real x A) - adv (reduction_at Ideal x A).

Lemma cuts_below_value n before p after A : (n + size p = d)%N -> aside p before ->
  let ns := before ++ p :: after in
  world_value (@tests_below _ p) ns (under before) A -
  world_value (@tests_below _ p) ns (under (rcons before p)) A =
  \sum_(x <- cuts_below n before p after) cut_term x A.
Proof.
elim: n before p after => [|n IH] before p after sp ap ns.
  by rewrite big_nil (leaf_world _ _ sp ap) subrr.
have pd : (size p < d)%N by rewrite -sp addSn ltnS leq_addl.
have sc b : (n + size (rcons p b) = d)%N by rewrite size_rcons addnS -sp.
rewrite [cuts_below _ _ _ _]/= big_cons big_cat /= /cut_term !embed //.
set ns' := before ++ rcons p false :: rcons p true :: after.
rewrite -(IH before (rcons p false)) ?aside_rcons //.
rewrite -(IH (rcons before (rcons p false)) (rcons p true)) //; last first.
  rewrite /aside all_rcons -/(aside (rcons p true) before) aside_rcons // andbT.
  have F b c : prefix (rcons p b) p || (rcons p b == rcons p c) = (b == c).
    rewrite eqseq_rcons eqxx; case h: (prefix _ p) => //=.
    by have := size_prefix h; rewrite size_rcons ltnn.
  by rewrite !prefix_rconsE !F.
rewrite cat_rcons -/ns' -(@world_split (@tests_below _ p) (rcons p false)); first last.
- by move=> y py; rewrite under_rcons (negbTE py) orbF.
- by move=> st b; apply: tests_deeper.
rewrite -(@world_split (@tests_below _ p) (rcons p true)); first last.
- by move=> y py; rewrite [in RHS]under_rcons (negbTE py) orbF.
- by move=> st b; apply: tests_deeper.
have -> : world_value (@tests_below _ p) ns' (under (rcons (rcons before (rcons p false)) (rcons p true))) A
        = world_value (@tests_below _ p) ns' (under (rcons before p)) A.
  apply: eq_ex => ss; apply: eq_cut_off => y; rewrite !under_rcons -orbA; congr (_ || _).
  have sy : (size p < size (tval y))%N by rewrite size_tuple.
  have := prefix_children sy; by do 3 case: (prefix _ _).
rewrite [X in _ = _ + X]addrA subrK [RHS]addrC addrA.
set W1 := world_value _ ns _ _; set V1 := world_value _ ns' _ _; set W2 := world_value _ ns _ _.
set V2 := world_value _ ns' _ _.
by rewrite [V1 - V2 + _]addrC addrA subrK opprB addrA subrK.
Qed.

Definition bit (st : ev_state unit) (b : bool) : bool := b.

Lemma cuts_of_value c before ps A : (c <= d)%N -> all (fun p => size p == c) (before ++ ps) ->
  uniq (before ++ ps) ->
  world_value bit (before ++ ps) (under before) A -
  world_value bit (before ++ ps) (under (before ++ ps)) A =
  \sum_(x <- cuts_of (d - c) before ps) cut_term x A.
Proof.
move=> cd; elim: ps before => [|p after IH] before sz u; first by rewrite cats0 big_nil subrr.
have sp : size p = c.
  by apply/eqP; apply: (allP sz p); rewrite mem_cat mem_head orbT.
rewrite [cuts_of _ _ _]/= big_cat /= -cuts_below_value ?sp ?subnK //; last first.
  apply/allP => n nb; have sn : size n = c by apply/eqP; apply: (allP sz); rewrite mem_cat nb.
  have ne : n != p.
    move: u; rewrite cat_uniq /= negb_or => /and3P [_ /andP [pb _] _].
    by apply: contraNneq pb => <-.
  have T (q : bitseq) : size q = c -> take c q = q by move=> <-; apply: take_size.
  by rewrite !prefixE sn sp !T // ne eq_sym ne.
rewrite -(IH (rcons before p)) ?cat_rcons // -(@world_split bit p); first last.
- by move=> y py; rewrite under_rcons (negbTE py) orbF.
- by move=> st b; rewrite /bit /tests_below /tested_below => ->; rewrite andbT.
by rewrite addrA subrK.
Qed.

(* ---- The device of the game: its key is a function of its positions and of the seeds --------- *)

(* below p the seeds are those of the tree *)
Definition grown (sg : bitseq -> Seed) p : Prop := forall y, sg (p ++ y) = descend G p (sg p) y.

Definition all_grown sg (K : key unit) : Prop := forall n, List.In n K -> grown sg n.1.

Lemma grown_below sg p y : grown sg p -> grown sg (p ++ y).
Proof. by move=> g z; rewrite -catA !g descend_cat. Qed.

Lemma all_grown_cat sg (K1 K2 : key unit) : all_grown sg K1 -> all_grown sg K2 -> all_grown sg (K1 ++ K2).
Proof. by move=> g1 g2 n h; case: (List.in_app_or _ _ _ h); [apply: g1 | apply: g2]. Qed.

Lemma dress_cat sg (K1 K2 : key unit) : dress sg (K1 ++ K2) = dress sg K1 ++ dress sg K2.
Proof. exact: map_cat. Qed.

Lemma dress_cover sg m P p : grown sg p ->
  cover G m P p (sg p) = dress sg (cover no_seed m P p tt) /\
  all_grown sg (cover no_seed m P p tt).
Proof.
have one q : grown sg q -> all_grown sg [:: (q, tt)] by move=> g n [<-|].
elim: m P p => [|m IH] P p g /=; case: ifP => _ /=; try by split=> //; apply: one.
have E b : child G p b (sg p) = sg (rcons p b) by rewrite -cats1 g /= .
have gb b : grown sg (rcons p b) by rewrite -cats1; apply: grown_below.
have [El gl] := IH (below P false) _ (gb false); have [Er gr] := IH (below P true) _ (gb true).
have := E false; have := E true; rewrite /child => /= -> ->; rewrite El Er dress_cat.
by split=> //; apply: all_grown_cat.
Qed.

Lemma dress_puncture sg r (K : key unit) : region_ok d r -> Correctness.within d K -> all_grown sg K ->
  puncture_region G r (dress sg K) = dress sg (puncture_region no_seed r K) /\
  all_grown sg (puncture_region no_seed r K).
Proof.
move=> ok W g.
rewrite (puncture_region_remove no_seed W ok) (puncture_region_remove G _ ok); last first.
  by elim: K W {g} => //= n K IH /andP [-> /IH].
elim: K {W} g => //= -[p []] K IH g.
have [E1 g1] := IH (fun n h => g n (or_intror h)).
have [E2 g2] := dress_cover (d - size p) (fun y => in_region r (p ++ y)) (g _ (or_introl erefl)).
rewrite /remove /= -/(remove _ _ _ _) -/(remove no_seed d _ K) dress_cat.
split; last exact: all_grown_cat.
by rewrite -E1 /remove_node /= -E2.
Qed.

Lemma dress_delegate sg r (K : key unit) : all_grown sg K ->
  delegate G r (dress sg K) = dress sg (delegate no_seed r K).
Proof.
elim: K => //= n K IH g.
rewrite /delegate /= -/(delegate G r _) -/(delegate no_seed r K) dress_cat IH; last first.
  by move=> m h; apply: g; right.
congr (_ ++ _); rewrite /delegate_node /=; case: ifP => [/prefixP [y ->]|_]; last by case: ifP.
by rewrite /= /eval_node /= drop_size_cat // g //; left.
Qed.

Lemma dress_eval sg (K : key unit) (x : bitseq) : all_grown sg K ->
  eval G (dress sg K) x = if alive K x then Some (sg x) else None.
Proof.
elim: K => //= n K IH g; case: ifP => /= [/prefixP [y ->]|_]; last first.
  by apply: IH => m h; apply: g; right.
by rewrite /eval_node /= drop_size_cat // g //; left.
Qed.

Lemma alive_dress sg (K : key unit) (x : bitseq) : alive (dress sg K) x = alive K x.
Proof. by rewrite /alive has_map. Qed.

Lemma within_dress sg (K : key unit) :
  Correctness.within d (dress sg K) = Correctness.within d K.
Proof. by rewrite /Correctness.within all_map. Qed.

Definition cut_off_in (w : world) : pred bitseq := if w is Real then pred0 else predT.

Lemma game_value w K0 (st : ev_state Seed) (st1 : ev_state unit) A :
  held st = dress (seed_of K0) (held st1) -> revealed st =1 revealed st1 ->
  tested st = tested st1 -> nodes_ok st1 -> all_grown (seed_of K0) (held st1) ->
  Pr (interact (fun _ b => b) (ev_oracle s0 G w K0) st A) =
  value bit (seed_of K0) (cut_off_in w) st1 A.
Proof.
set sg := seed_of K0.
elim: A st st1 => [b|X x0 k IH|[x|[r ok]|x|[r ok]] k IH] st st1 Eh Er Et W g; rewrite ?valueE.
- by [].
- by apply: eq_avg => z; apply: IH.
- have Es : spoils x st = spoils x st1.
    by rewrite /spoils Et Eh; apply: eq_has => y /=; rewrite alive_dress.
  rewrite /= Es; case: ifP => _; first exact: IH.
  rewrite Eh dress_eval //; apply: IH => //= y; by rewrite Er Eh alive_dress.
- have [E g'] := dress_puncture ok W g.
  by apply: IH => //=; [rewrite Eh | apply: within_puncture].
- have Ef : fresh_leaf st x = fresh_leaf st1 x by rewrite /fresh_leaf Er Et.
  rewrite /= Ef; case: ifP => _; last exact: IH.
  rewrite Pr_bind; case: w IH => /= IH; first by apply: IH => //=; rewrite Et.
  by apply: eq_avg => y; apply: IH => //=; rewrite Et.
- have Es : spoils r st = spoils r st1.
    by rewrite /spoils Et Eh; apply: eq_has => y /=; rewrite alive_dress.
  rewrite /= Es; case: ifP => _; first exact: IH.
  rewrite Eh dress_delegate //; apply: IH => //= y; by rewrite Er Eh alive_dress.
Qed.

(* set-up: the roots with their seeds *)
Lemma seed_of_grown c L q y : all (fun n => size n.1 == c) L -> (c <= size q)%N ->
  alive L q -> seed_of L (q ++ y) = descend G q (seed_of L q) y.
Proof.
rewrite /seed_of => /= sz cq; elim: L sz => //= n L IH /andP [/eqP sn sz].
have E : prefix n.1 (q ++ y) = prefix n.1 q by rewrite !prefixE sn takel_cat.
rewrite E; case: ifP => [/prefixP [z Eq] _|_ /= al]; last exact: IH.
by rewrite Eq /= /eval_node -catA !drop_size_cat // descend_cat.
Qed.

Lemma dress_roots c (ns : seq bitseq) (ss : seq Seed) : all (fun q => size q == c) ns -> uniq ns ->
  size ss = size ns -> dress (seed_of (zip ns ss)) [seq (q, tt) | q <- ns] = zip ns ss.
Proof.
elim: ns ss => [|p ns IH] [|s ss] //= /andP [/eqP sp sz] /andP [pn u] [ss_].
rewrite /dress /= {1}/seed_of /= prefix_refl /eval_node drop_size /=; congr (_ :: _).
rewrite -[RHS](IH ss sz u ss_) /dress -!map_comp; apply/eq_in_map => q qn /=.
have sq : size q = c by apply/eqP/(allP sz).
have -> // : seed_of ((p, s) :: zip ns ss) q = seed_of (zip ns ss) q.
rewrite /seed_of /= prefixE sp -sq take_size; case: eqP => // E.
by rewrite -E qn in pn.
Qed.

End EvaluationSecurity.

(* ---- The theorems ------------------------------------------------------------------------------ *)

Section Theorems.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Implicit Types (A : ev_adversary Seed d) (c : nat) (U : pred bitseq).
Local Notation adv R := (prg_adv s0 G (attack G R)).

Lemma In_mem (T : eqType) (x : T) l : List.In x l -> x \in l.
Proof. by elim: l => //= y l IH [->|/IH xl]; rewrite inE ?eqxx ?xl ?orbT. Qed.

Lemma roots_size c : all (fun p => size p == c) (roots c).
Proof. exact: size_pts. Qed.

Lemma roots_uniq c : uniq (roots c).
Proof.
rewrite /roots; elim: c => // c IH /=.
rewrite cat_uniq !map_inj_uniq ?IH //=; try by move=> x y [].
by rewrite andbT; apply/hasPn => x /mapP [y _ ->]; apply/mapP => -[z _].
Qed.

Lemma size_roots c : size (roots c) = (2 ^ c)%N.
Proof. by rewrite /roots; elim: c => //= c IH; rewrite size_cat !size_map IH expnS mul2n addnn. Qed.

Definition st0 c : ev_state unit := fresh_state (bare_roots c).

Lemma st0_ok c : (c <= d)%N -> nodes_ok d (st0 c).
Proof.
move=> cd; rewrite /nodes_ok /Correctness.within all_map; apply: sub_all (roots_size c) => p /=.
by move/eqP ->.
Qed.

Lemma ev_game_value c w A : (c <= d)%N -> Pr (ev_game s0 G c w A) =
  world_value s0 G (st0 c) bit (roots c) (cut_off_in w) A.
Proof.
move=> cd; rewrite /ev_game /world_value size_roots Pr_bind -{2}(size_roots c).
rewrite -(size_roots c); apply: eq_ex_unifs => ss sz.
apply: game_value => //=.
- by rewrite (dress_roots _ _ (roots_size c) (roots_uniq c) sz).
- exact: st0_ok.
move=> n /(List.in_map_iff _ _ _) [p [<- pr]] y /=.
have sp : size p = c by apply/eqP/(allP (roots_size c))/In_mem.
apply: (@seed_of_grown _ _ _ c); rewrite ?sp //.
  elim: (roots c) (ss) sz (roots_size c) => [|q ns IH] [|t ts] //= [sz] /andP [-> szs].
  exact: IH.
elim: (roots c) (ss) sz pr => [|q ns IH] [|t ts] //= [sz] [->|pr]; first by rewrite prefix_refl.
by rewrite (IH ts sz pr) orbT.
Qed.

Lemma cuts_below_depth n before p after : all (fun x : cut => size x.1.2 < n + size p)%N
  (cuts_below n before p after).
Proof.
elim: n before p after => //= n IH before p after; rewrite addSn ltnS leq_addl all_cat /=.
by apply/andP; split; apply: sub_all (IH _ _ _) => x; rewrite size_rcons addnS.
Qed.

Lemma cuts_of_depth c before ps : (c <= d)%N -> all (fun p => size p == c) ps ->
  all (fun x : cut => size x.1.2 < d)%N (cuts_of (d - c) before ps).
Proof.
move=> cd; elim: ps before => //= p ps IH before /andP [/eqP sp sz].
by rewrite all_cat IH // andbT; have := cuts_below_depth (d - c) before p ps; rewrite sp subnK.
Qed.

(* Exact: the advantage is the sum of the PRG advantages of explicit reductions, two for each inner
   node above a leaf that may be challenged. *)
Theorem ev_adv_sum c (U : pred bitseq) A : (c <= d)%N -> challenges_in U A ->
  ev_adv s0 G c A = \sum_(x <- cuts d c U)
    (adv (cut_reduction s0 c Real x A) - adv (cut_reduction s0 c Ideal x A)).
Proof.
move=> cd CU; rewrite /ev_adv !ev_game_value //.
have E : world_value s0 G (st0 c) bit (roots c) predT A =
         world_value s0 G (st0 c) bit (roots c) (under ([::] ++ roots c)) A.
  apply: eq_ex => ss; apply: eq_cut_off => y; apply/esym/hasP; exists (take c y).
    by rewrite mem_leaves size_takel // size_tuple.
  by rewrite -{2}[tval y](cat_take_drop c) prefix_prefix.
rewrite [cut_off_in Real]/= [cut_off_in Ideal]/= E.
rewrite (@cuts_of_value _ s0 G d (st0 c) erefl (st0_ok cd) c [::] (roots c) A cd (roots_size c) (roots_uniq c)).
rewrite /cuts big_filter [RHS]big_mkcond; apply: eq_big_seq => x xc.
case F : (~~ _) => //; rewrite /cut_term; case: x xc F => -[before p] after /= xc /negbFE F.
have pd := allP (cuts_of_depth [::] cd (roots_size c)) _ xc.
have N w : ReductionFacts.adv s0 G (reduction_at s0 (st0 c) w (before, p, after) A) = 0.
  rewrite (embed s0 G (st0_ok cd)) // /world_value.
  have Z ns cut_off : ex (unifs s0 (size ns)) (fun ss =>
      value s0 (@tests_below _ p) (seed_of s0 G (zip ns ss)) cut_off (st0 c) A) = 0.
    by rewrite -[RHS](ex_const (unifs s0 (size ns))); apply: eq_ex => ss; apply: never_in CU F _.
  by rewrite !Z subrr.
rewrite -[LHS]/(ReductionFacts.adv s0 G (reduction_at s0 (st0 c) Real (before, p, after) A) -
                ReductionFacts.adv s0 G (reduction_at s0 (st0 c) Ideal (before, p, after) A)).
by rewrite !N subrr.
Qed.

(* Exact, with one reduction that guesses. *)
Theorem ev_adv_guess c (U : pred bitseq) A : (c <= d)%N -> challenges_in U A ->
  ev_adv s0 G c A = (2 * size (cuts d c U))%:R * adv (ev_guess s0 c U A).
Proof.
move=> cd CU; rewrite (ev_adv_sum cd CU) /ev_guess.
rewrite (big_nth ([::], [::], [::])) big_mkord.
set cs := cuts d c U; case: (size cs) => [|N]; first by rewrite big_ord0 mul0r.
rewrite -/(ReductionFacts.adv _ _ _) adv_Sample.
under eq_avg => real do (rewrite adv_Sample; under eq_avg => t do rewrite adv_flip).
rewrite avg_bool /= /avg card_ord sumrN mulNr -mulrBl natrM -sumrB.
by rewrite mulrC mulrA !divfK // pnatr_eq0.
Qed.

(* ---- How many cuts ----------------------------------------------------------------------------- *)

Lemma size_cuts_below U n before p after : (n + size p = d)%N ->
  size [seq x <- cuts_below n before p after | ~~ free d U x.1.2] =
  size (inner_nodes n (fun y => U (p ++ y)) p).
Proof.
elim: n before p after => // n IH before p after sp.
have sc b : (n + size (rcons p b) = d)%N by rewrite size_rcons addnS -sp.
have E b : size (inner_nodes n (fun y => U (rcons p b ++ y)) (rcons p b)) =
           size (inner_nodes n (below (fun y => U (p ++ y)) b) (rcons p b)).
  by congr size; apply: eq_inner_nodes => y _; rewrite cat_rcons.
rewrite [filter _ _]/= filter_cat /free negbK.
have -> : (d - size p = n.+1)%N by rewrite -sp addnK.
case: ifP => [h|/negbT h].
  by rewrite inner_nodes_has_leafS //= !size_cat !IH // !E.
rewrite size_cat !IH // !E.
have N b : inner_nodes n (below (fun y => U (p ++ y)) b) (rcons p b) = [::].
  apply: inner_nodes_no_leaf; apply: contra h => /has_leafP [y sy Uy].
  by apply/has_leafP; exists (b :: y); rewrite //= sy.
by rewrite !N inner_nodes_no_leaf.
Qed.

Lemma size_cuts c U k : (c <= d)%N ->
  (forall p, size p = c -> size (inner_nodes (d - c) (fun y => U (p ++ y)) p) <= k)%N ->
  (size (cuts d c U) <= 2 ^ c * k)%N.
Proof.
move=> cd B; rewrite /cuts -size_roots.
elim: (roots c) (roots_size c) [::] => //= p ps IH /andP [/eqP sp sz] before.
rewrite filter_cat size_cat mulSn leq_add ?IH // size_cuts_below ?sp ?subnK //.
exact: B.
Qed.

(* all leaves *)
Lemma inner_nodes_lt n (P : pred bitseq) p : (size (inner_nodes n P p) < 2 ^ n)%N.
Proof.
elim: n P p => // n IH P p /=; case: ifP => _; last by rewrite expn_gt0.
rewrite /= size_cat expnS mul2n -addnn -addnS -addSn; apply: leq_add; exact: IH.
Qed.

Lemma inner_nodes_le n (P : pred bitseq) p : (size (inner_nodes n P p) <= (2 ^ n).-1)%N.
Proof. by rewrite -ltnS prednK ?expn_gt0 // inner_nodes_lt. Qed.

Lemma size_cuts_all c U : (c <= d)%N -> (size (cuts d c U) <= 2 ^ c * (2 ^ (d - c)).-1)%N.
Proof. by move=> cd; apply: size_cuts => // p _; apply: inner_nodes_le. Qed.

(* the first q leaves of each user *)
Lemma inner_nodes_first n q (P : pred bitseq) p :
  (forall y, size y = n -> P y = (val y < q)%N) ->
  (size (inner_nodes n P p) <= (q + n).-1)%N.
Proof.
elim: n q P p => // n IH q P p E; case h : (has_leaf n.+1 P); last by rewrite inner_nodes_no_leaf ?h.
rewrite inner_nodes_has_leafS // [size _]/= size_cat.
have q0 : (0 < q)%N by case/has_leafP: h => y sy; rewrite E //; case: (q).
have lt y : size y = n -> (val y < 2 ^ n)%N by move=> <-; apply: val_lt.
have L : (size (inner_nodes n (below P false) (rcons p false)) <= (minn q (2 ^ n) + n).-1)%N.
  apply: IH => y sy; rewrite /below E /= ?sy // val_cons mul0n add0n leq_min.
  by rewrite (lt y sy) andbT.
have R : (size (inner_nodes n (below P true) (rcons p true)) <= (q - 2 ^ n + n).-1)%N.
  apply: IH => y sy; rewrite /below E /= ?sy // val_cons mul1n sy.
  by rewrite ltn_subRL.
case: (leqP q (2 ^ n)) => qn.
  have -> : inner_nodes n (below P true) (rcons p true) = [::].
    apply/inner_nodes_no_leaf/no_leafP => y sy; rewrite /below E /= ?sy // val_cons mul1n sy.
    by rewrite ltnNge (leq_trans qn) // leq_addr.
  rewrite addn0 addnS /=; apply: leq_ltn_trans L _; rewrite (minn_idPl qn).
  by rewrite -subn1 ltn_subrL addn_gt0 q0.
have L' := inner_nodes_le n (below P false) (rcons p false).
rewrite addnS /=; apply: leq_ltn_trans (leq_add L' R) _.
have p0 : (0 < 2 ^ n)%N by rewrite expn_gt0.
apply: (@leq_trans (2 ^ n + (q - 2 ^ n + n).-1)); first by rewrite ltn_add2r prednK.
by rewrite -{2}(subnKC (ltnW qn)) -addnA leq_add2l leq_pred.
Qed.

Lemma size_cuts_first c q : (c <= d)%N ->
  (size (cuts d c (first_leaves c q)) <= 2 ^ c * (q + (d - c)).-1)%N.
Proof.
move=> cd; apply: size_cuts => // p sp; apply: inner_nodes_first => y sy.
by rewrite /first_leaves drop_size_cat.
Qed.

(* any set of leaves *)
Lemma inner_nodes_card n (P : pred bitseq) p : (size (inner_nodes n P p) <= card n P * n)%N.
Proof.
elim: n P p => // n IH P p; case h : (has_leaf n.+1 P); last by rewrite inner_nodes_no_leaf ?h.
rewrite inner_nodes_has_leafS // [size _]/= size_cat mulnS -add1n leq_add -?has_leaf_card //.
by rewrite cardS mulnDl leq_add.
Qed.

(* ---- Bounds ------------------------------------------------------------------------------------ *)

Theorem ev_adv_bound c (U : pred bitseq) A (eps : rat) (N : nat) : (c <= d)%N -> challenges_in U A -> (size (cuts d c U) <= N)%N ->
  `|adv (ev_guess s0 c U A)| <= eps -> `|ev_adv s0 G c A| <= (2 * N)%:R * eps.
Proof. by move=> cd CU sN B; rewrite (ev_adv_guess cd CU); apply: bound_scale. Qed.

(* One user, all leaves: 2 (2^d - 1) eps, however many evaluations, thefts and challenges. *)
Theorem ev_adv_bound_tree A (eps : rat) : `|adv (ev_guess s0 0 predT A)| <= eps ->
  `|ev_adv s0 G 0 A| <= (2 * (2 ^ d).-1)%:R * eps.
Proof.
have CT : challenges_in predT A by elim: A => //= a k IH; split=> //; case: a k IH.
apply: ev_adv_bound CT _ => //; rewrite -[X in (_ <= X)%N]mul1n -{2}[d]subn0.
exact: (@size_cuts_all 0).
Qed.

(* One user, challenges on a set of leaves that is fixed beforehand: 2 d eps for each. *)
Theorem ev_adv_bound_set (U : pred bitseq) A (eps : rat) : challenges_in U A ->
  `|adv (ev_guess s0 0 U A)| <= eps -> `|ev_adv s0 G 0 A| <= (2 * (card d U * d))%:R * eps.
Proof.
move=> CU; apply: ev_adv_bound CU _ => //; rewrite -[X in (_ <= X)%N]mul1n.
apply: (@size_cuts 0) => // p /size0nil ->; rewrite subn0.
exact: inner_nodes_card.
Qed.

(* One user, challenges on the first q leaves only, as when tickets are numbered in order:
   2 (q + d - 1) eps. *)
Theorem ev_adv_bound_first (q : nat) A (eps : rat) : challenges_in (first_leaves 0 q) A ->
  `|adv (ev_guess s0 0 (first_leaves 0 q) A)| <= eps ->
  `|ev_adv s0 G 0 A| <= (2 * (q + d).-1)%:R * eps.
Proof.
move=> CU; apply: ev_adv_bound CU _ => //; rewrite -[X in (_ <= X)%N]mul1n -{2}[d]subn0.
exact: (@size_cuts_first 0).
Qed.

(* 2^c users, challenges on the first q leaves of each: 2^c times as much. *)
Theorem ev_adv_bound_users c (q : nat) A (eps : rat) : (c <= d)%N -> challenges_in (first_leaves c q) A ->
  `|adv (ev_guess s0 c (first_leaves c q) A)| <= eps ->
  `|ev_adv s0 G c A| <= (2 * (2 ^ c * (q + (d - c)).-1))%:R * eps.
Proof. by move=> cd CU; apply: ev_adv_bound CU _ => //; apply: size_cuts_first. Qed.

End Theorems.

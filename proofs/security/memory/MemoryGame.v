(* SPDX-License-Identifier: Apache-2.0 *)
(* The games on C's memory, of ref and of opt, are the model's game: for any device of which the results,
   the values and the memory after a call are known (game_is_model). *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Sizes Layout AcslAgree AcslSound.
From Pprf.proofs Require Import ProbabilityFacts ReductionFacts EvaluationSecurity Leakage.
From Pprf.spec Require Import RefGame AttackCost.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.of_nat : simpl never.
#[local] Arguments CModel.pow2 : simpl never.
#[local] Arguments Z.pow : simpl never.


(* ---- Calls on the model's key ------------------------------------------------------------------- *)

Section Calls.
Variable S : suite.
Variable d : nat.
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> Fault -> Z.
Local Notation Seed := (block S).
Local Notation G := (@suite_prg S d).

Definition keyc (P : pred bitseq) (s : Seed) : key Seed := cover G d P [::] s.

Lemma alive_eval (K : key Seed) x : alive K x = isSome (eval G K x).
Proof. by elim: K => //= n K ->; case: ifP. Qed.

Definition region_set (c : call) (y : bitseq) : bool :=
  if call_region d c is Some r then in_region r y else false.

Lemma region_call_ok c r : call_region d c = Some r -> region_ok d r.
Proof. by case: c => [x|x|x y] //= [<-] /=; rewrite ?size_leaf_path eqxx. Qed.

Lemma puncture_callE (T : Type) (H : bitseq -> T -> T * T) c P (s : T) :
  puncture_call d H c (cover H d P [::] s) = cover H d (predU P (region_set c)) [::] s.
Proof.
rewrite /puncture_call /region_set; case E : (call_region d c) => [r|]; last first.
  by apply: eq_cover => x _ /=; rewrite orbF.
rewrite (puncture_region_remove _ (within_cover _ _ _ _) (region_call_ok E)).
by have := @remove_cover _ H d P (in_region r) [::] s; rewrite add0n => ->.
Qed.

Lemma alive_keyc P s x : size x = d -> alive (keyc P s) x = ~~ P x.
Proof.
by move=> sx; rewrite alive_eval -[x in eval _ _ x]cat0s /keyc eval_cover //; case: (P x).
Qed.

Lemma delegate_whole (T : Type) (G : bitseq -> T -> T * T) (K : key T) : delegate G [::] K = K.
Proof.
elim: K => //= -[p v] K IH; rewrite /delegate /= -/(delegate G [::] K) IH.
by rewrite /delegate_node /= prefix0s; case: p.
Qed.

Definition bare (P : pred bitseq) : key unit := cover no_seed d P [::] tt.

Lemma bare_keyc P s : unzip1 (keyc P s) = unzip1 (bare P).
Proof. exact: cover_positions. Qed.

Lemma result_of_positions (T T' : Type) (K : key T) (K' : key T') c f : unzip1 K = unzip1 K' ->
  result_of d fails K c f = result_of d fails K' c f.
Proof.
move=> E; have pE (U : Type) (L : key U) : places d L =
    [seq (Z.of_N (first_leaf d p), Z.of_nat (d - size p)) | p <- unzip1 L].
  by rewrite /places -map_comp.
have aE (U : Type) (L : key U) x : alive L x = has (fun p => prefix p x) (unzip1 L).
  by rewrite /alive has_map.
have hE R : has_leaf d (fun z => R z && alive K z) = has_leaf d (fun z => R z && alive K' z).
  by apply: eq_has_leaf => z _; rewrite !aE E.
by case: c => [x|x|x y]; rewrite /result_of !pE E ?aE ?E // hE.
Qed.

Lemma path_ofE x : tval (path_of d x) = leaf_path d x.
Proof. by rewrite /path_of val_insubd size_leaf_path eqxx. Qed.

Lemma leaf_path_inj x y : (x < CModel.pow2 d)%num -> (y < CModel.pow2 d)%num ->
  (leaf_path d x == leaf_path d y) = (x == y).
Proof.
move=> xd yd; apply/eqP/eqP => [E|-> //].
by rewrite -(leaf_pathK xd) E leaf_pathK.
Qed.

Lemma prefix_leaf x y : (x < CModel.pow2 d)%num -> (y < CModel.pow2 d)%num ->
  prefix (leaf_path d x) (leaf_path d y) = (x == y).
Proof.
by move=> xd yd; rewrite prefixE size_leaf_path -{1}(size_leaf_path d y) take_size eq_sym leaf_path_inj // eq_sym.
Qed.

(* What a call that succeeds says of its arguments. *)
Definition in_range (c : call) : Prop :=
  match c with
  | EvalCall x | EvalPunctCall x => (sval x < CModel.pow2 d)%num
  | RangeCall x y => (sval x <= sval y /\ sval y < CModel.pow2 d)%num
  end.

Lemma result_ok (T : Type) (K : key T) c f : result_of d fails K c f = PPRF_OK ->
  in_range c /\ forall x, target c = Some x -> (x < CModel.pow2 d)%num /\ alive K (leaf_path d x).
Proof.
rewrite /result_of; case: ifP => // out; case: ifP => // al _.
case: c out al => [x|x|x y] /= out al.
- have xd : (sval x < CModel.pow2 d)%num by move: out; case: N.leb_spec0 => //= xd _; lia.
  by split=> // _ [<-].
- have xd : (sval x < CModel.pow2 d)%num by move: out; case: N.leb_spec0 => //= xd _; lia.
  by split=> // _ [<-].
split=> //; move: out; case: N.ltb_spec0 => //= xy; case: N.leb_spec0 => //= yd _.
by split; lia.
Qed.

Lemma erasesE c x : in_range c -> (x < CModel.pow2 d)%num ->
  region_set c (leaf_path d x) = erases c x.
Proof.
rewrite /region_set; case: c => [y|y|y z] //= rng xd.
  by rewrite leaf_path_inj //; apply/eqP/N.eqb_spec.
by rewrite !leaf_le_num ?size_leaf_path // !leaf_pathK //; lia.
Qed.

Local Notation ev_run w s := (interact (fun _ b => b) (@ev_oracle Seed (zero_block S) G d w (keygen s))).

Lemma ask_punctureE w s st2 c B :
  Pr (ev_run w s st2 (ask_puncture c B)) =
  Pr (ev_run w s (State (puncture_call d G c (held st2)) (revealed st2) (tested st2)) B).
Proof.
rewrite /ask_puncture /puncture_call; case E : (call_region d c) => [r|]; last by case: st2.
by rewrite (insubT (fun r => region_ok d r) (region_call_ok E)).
Qed.

End Calls.

Lemma val_leaf_num p : N.to_nat (leaf_num p) = Ggm.val p.
Proof.
have pow n : N.to_nat (CModel.pow2 n) = (2 ^ n)%N.
  by elim: n => // n IH; rewrite expnS -IH (_ : CModel.pow2 n.+1 = 2 * CModel.pow2 n)%num // N2Nat.inj_mul.
elim: p => // b p IH; rewrite val_cons /= N2Nat.inj_add IH -plusE.
by case: b; rewrite ?pow ?mul1n.
Qed.

(* ---- A device and the game on it ----------------------------------------------------------------- *)

Section Game.
Variable S : suite.
Variable d : nat.
Variable Fault : Type.
Local Notation Seed := (block S).
Local Notation G := (@suite_prg S d).
Local Notation keyc := (@keyc S d).
Local Notation bare := (@bare d).
Local Notation region_set := (@region_set d).
Local Notation reply := (@ref_reply S Fault).

(* What a call does, what a thief reads. *)
Variable perform : memory -> pprf_seed -> call -> Fault -> Z * option Seed * memory.
Variable peek : memory -> pointer -> Z.
Local Notation oracle w s := (@memory_oracle S d Fault (fun M => perform M (words_of s)) peek w).

(* What the adversary against the model keeps, the positions of the nodes among it: what a call that succeeds makes
   of it, and one that fails; whether calls fail; how it draws memory. *)
Variable Kept : Type.
Variable positions : Kept -> Ggm.key unit.
Variables kept_after kept_failed : Kept -> call -> Fault -> Kept.
Variable fails : Kept -> seq (Z * Z) -> call -> Fault -> Z.
Variable image : Kept -> Ggm.key Seed -> pointer -> Z.
Variable model_of : ref_state Kept -> ref_adversary S Fault -> ev_adversary Seed d.
Hypothesis model_of_end : forall st b, model_of st (Conclude _ b) = Conclude _ b.
Hypothesis model_of_coins : forall st (X : finType) (x0 : X) k,
  model_of st (Random x0 k) = Random x0 (fun x => model_of st (k x)).
Hypothesis model_of_call : forall st c u f k,
  model_of st (@Ask _ reply (Call c u f) k) =
  if permitted d st (Call c u f) then
    let r := result_of d (fails (mem st)) (positions (mem st)) c f in
    if r =? PPRF_OK then
      ask_value c u (fun y => ask_puncture c
        (model_of (called c u (kept_after (mem st) c f) st) (k (Some (r, y)))))
    else model_of (RefState (kept_failed (mem st) c f) (erased st) (known st) (challenged st)) (k (Some (r, None)))
  else model_of st (k None).
Hypothesis model_of_steal : forall st qs k,
  model_of st (@Ask _ reply (Steal Fault qs) k) =
  if permitted d st (Steal Fault qs) then
    @Ask _ (@ev_reply Seed d) (Reveal (whole_key d)) (fun K =>
      model_of (stolen d st) (k (Some (map (image (mem st) (odflt [::] K)) qs))))
  else model_of st (k None).

(* Challenges on leaves below q stay there. *)
Lemma model_challenges_first (q : nat) (A : ref_adversary S Fault) st :
  tests_below_leaf (N.of_nat q) A -> challenges_in (first_leaves 0 q) (model_of st A).
Proof.
elim: A st => [b|X x0 k IH|[c u f|qs] k IH] st.
- by rewrite model_of_end.
- by rewrite model_of_coins => B x; apply: IH.
- rewrite model_of_call /=; case=> B0 B; case: ifP => _; last by apply: IH; apply: B.
  case: Z.eqb_spec => [r0|_]; last by apply: IH; apply: B.
  have [_ tr] := result_ok r0.
  have P y m : challenges_in (first_leaves 0 q) (ask_puncture c
      (model_of (called c u m st) (k (Some (result_of d (fails (mem st)) (positions (mem st)) c f, y))))).
    have I : challenges_in (first_leaves 0 q)
        (model_of (called c u m st) (k (Some (result_of d (fails (mem st)) (positions (mem st)) c f, y)))).
      by apply: IH; apply: B.
    by rewrite /ask_puncture; case: (call_region d c) => [r|] //; case: insub => [r'|].
  rewrite /ask_value; case tE : (target c) B0 => [x|] B0; last exact: P.
  move: k IH B B0 P; case: u => k IH B B0 P; [by split=> // y; apply: P | | exact: P].
  split; last by move=> y; apply: P.
  rewrite /= /first_leaves drop0 path_ofE -val_leaf_num leaf_pathK; last by case: (tr x tE).
  by apply/ltP; move: B0 => /=; lia.
rewrite model_of_steal; case=> _ B; case: ifP => _; last by apply: IH; apply: B.
by split=> // K; apply: IH; apply: B.
Qed.

(* It asks for at most the calls of the adversary, and for the nodes of its thefts. *)
Local Open Scope nat_scope.
Lemma asks_le (A : ev_adversary Seed d) q q' m m' (K : key unit) : q <= q' -> m <= m' -> asks_at_most q m K A -> asks_at_most q' m' K A.
Proof.
elim: A q q' m m' K => [b|X x0 k IH|a k IH] q q' m m' K qq mm //=.
  by move=> B x; apply: IH (B x).
case: (cost K a) => [[i j] K'] [iq jm B]; split; [exact: leq_trans qq | exact: leq_trans mm | move=> y].
by apply: IH (B y); rewrite leq_sub2r.
Qed.

Lemma model_asks q t A st P : 0 < d ->
  (forall m c f, positions (kept_after m c f) = puncture_call d no_seed c (positions m)) ->
  (forall m c f, positions (kept_failed m c f) = positions m) ->
  calls_at_most q t A -> positions (mem st) = bare P ->
  asks_at_most q (t * 2 ^ d.-1) (bare P) (model_of st A).
Proof.
move=> d0 positions_after positions_failed.
elim: A q t st P => [b|X x0 k IH|[c u f|qs] k IH] q t st P.
- by rewrite model_of_end.
- by rewrite model_of_coins => B E x; apply: IH (B x) E.
- case=> q0 B E; rewrite model_of_call.
  have less st' y : positions (mem st') = bare P -> asks_at_most q (t * 2 ^ d.-1) (bare P) (model_of st' (k y)).
    by move=> E'; apply: asks_le (leq_pred q) (leqnn _) _; apply: IH (B y) E'.
  case: ifP => [_|_]; last exact: less.
  cbv zeta; case: ifP => [_|_]; last by apply: less; rewrite /= positions_failed.
  have next y : asks_at_most q.-1 (t * 2 ^ d.-1) (bare P) (ask_puncture c
      (model_of (called c u (kept_after (mem st) c f) st)
         (k (Some (result_of d (fails (mem st)) (positions (mem st)) c f, y))))).
    have EP : positions (mem (called c u (kept_after (mem st) c f) st)) = bare (predU P (region_set c)).
      by rewrite /called /= positions_after E; apply: puncture_callE.
    have H := IH _ _ t _ _ (B (Some (result_of d (fails (mem st)) (positions (mem st)) c f, y))) EP.
    rewrite /ask_puncture; case cE : (call_region d c) => [r|].
      rewrite (insubT (fun r => region_ok d r) (region_call_ok cE)) /=; split=> // _; rewrite !subn0.
      by have := puncture_callE d no_seed c P tt; rewrite /puncture_call cE => ->.
    by move: H; rewrite -/(bare _) /bare -puncture_callE /puncture_call cE.
  rewrite /ask_value; case: (target c) => [x|]; last by apply: asks_le (leq_pred q) (leqnn _) (next _).
  clear less B; move: k IH next; case: u => k IH next; last by apply: asks_le (leq_pred q) (leqnn _) (next _).
    by split=> // y; rewrite subn1 subn0.
  by split=> // y; rewrite subn1 subn0.
case=> t0 B E; rewrite model_of_steal.
have less y : asks_at_most q (t.-1 * 2 ^ d.-1) (bare P) (model_of st (k y)) by apply: IH (B y) E.
have le : t * 2 ^ d.-1 = 2 ^ d.-1 + t.-1 * 2 ^ d.-1 by rewrite -mulSn prednK.
case: ifP => _; last by refine (asks_le (leqnn q) _ (less None)); rewrite le leq_addl.
rewrite /= delegate_whole; have sz : size (bare P) <= 2 ^ d.-1 by exact: size_cover_half.
split=> //; first by rewrite le (leq_trans sz) ?leq_addr.
move=> y; rewrite subn0; refine (asks_le (leqnn q) _ (IH _ q t.-1 (stolen d st) P (B _) E)).
by rewrite le -addnBAC // leq_addl.
Qed.

Local Close Scope nat_scope.

(* What is true of memory, of the punctured leaves, of the root seed and of what the adversary keeps. *)
Variable holds_at : memory -> pred bitseq -> Seed -> Kept -> Prop.
Hypothesis positions_are : forall M P s m, holds_at M P s m -> positions m = bare P.
Hypothesis step : forall M P s m c f, holds_at M P s m ->
  let p := perform M (words_of s) c f in
  let o := p.1.1 =? PPRF_OK in
  [/\ p.1.1 = result_of d (fails m) (keyc P s) c f, p.1.2 = (if o then value_of d G (keyc P s) c else None) &
      holds_at p.2 (if o then (predU P (region_set c) : pred bitseq) else P) s
        (if o then kept_after m c f else kept_failed m c f)].
Hypothesis imageE : forall M P s m q, holds_at M P s m -> peek M q = image m (keyc P s) q.

Record corresponds (P : pred bitseq) (s : Seed) (st : ref_state memory) (st1 : ref_state Kept)
    (st2 : ev_state Seed) : Prop := Corresponds {
  c_inv : holds_at (mem st) P s (mem st1);
  c_bare : st1 = RefState (mem st1) (erased st) (known st) (challenged st);
  c_erased : forall x, (x < CModel.pow2 d)%num -> P (leaf_path d x) = erased st x;
  c_held : held st2 = keyc P s;
  c_known : forall x, (x < CModel.pow2 d)%num -> revealed st2 (leaf_path d x) = known st x;
  c_tested : tested st2 = map (leaf_path d) (challenged st);
  c_leaves : all (fun x => x <? CModel.pow2 d)%num (challenged st)
}.

Lemma after_call P s st st1 st2 c u f M' rv ts : corresponds P s st st1 st2 -> in_range d c ->
  (forall x, target c = Some x -> (x < CModel.pow2 d)%num) ->
  holds_at M' (predU P (region_set c)) s (kept_after (mem st1) c f) ->
  (forall x, (x < CModel.pow2 d)%num -> rv (leaf_path d x) = known (called c u M' st) x) ->
  ts = map (leaf_path d) (challenged (called c u M' st)) ->
  corresponds (predU P (region_set c)) s (called c u M' st)
    (called c u (kept_after (mem st1) c f) st1)
    (State (puncture_call d G c (held st2)) rv ts).
Proof.
case=> I B g h k t lv rng tr I' R T; split=> //.
- by rewrite B.
- by move=> x xd; rewrite /= g // erasesE // orbC.
- by rewrite /= h puncture_callE.
- by rewrite /=; case E : (target c) => [x|] //; case: u {R T} => //=; rewrite lv andbT; apply/N.ltb_spec0/tr.
Qed.

Local Notation ev_run w s := (interact (fun _ b => b) (@ev_oracle Seed (zero_block S) G d w (keygen s))).
Local Notation run w s := (interact (fun _ b => b) (oracle w s)).

Lemma run_call w (s : Seed) st c u f k :
  Pr (run w s st (@Ask _ reply (Call c u f) k)) =
  if permitted d st (Call c u f) then
    let p := perform (mem st) (words_of s) c f in
    if p.1.1 =? PPRF_OK then
      ex (hand_out w u p.1.2) (fun y =>
        Pr (run w s (called c u p.2 st) (k (Some (p.1.1, y)))))
    else Pr (run w s (RefState p.2 (erased st) (known st) (challenged st)) (k (Some (p.1.1, None))))
  else Pr (run w s st (k None)).
Proof.
have -> : run w s st (@Ask _ reply (Call c u f) k) =
  bind (oracle w s st (Call c u f)) (fun rs => run w s rs.2 (k rs.1)) by [].
rewrite Pr_bind; cbv beta iota delta [memory_oracle]; case: (permitted _ _ _) => //.
case: (perform _ _ _ _) => [[r v] M']; cbv beta iota zeta delta [fst snd].
by case: (_ =? _) => //; rewrite ex_bind.
Qed.

Lemma run_steal w (s : Seed) st qs k :
  Pr (run w s st (@Ask _ reply (Steal Fault qs) k)) =
  if permitted d st (Steal Fault qs) then
    Pr (run w s (stolen d st) (k (Some (map (peek (mem st)) qs))))
  else Pr (run w s st (k None)).
Proof.
have -> : run w s st (@Ask _ reply (Steal Fault qs) k) =
  bind (oracle w s st (Steal Fault qs)) (fun rs => run w s rs.2 (k rs.1)) by [].
by rewrite Pr_bind; cbv beta iota delta [memory_oracle]; case: (permitted _ _ _).
Qed.

Lemma play_same w (s : Seed) A P st st1 st2 : corresponds P s st st1 st2 ->
  Pr (run w s st A) = Pr (ev_run w s st2 (model_of st1 A)).
Proof.
elim: A P st st1 st2 => [b|X x0 k IH|[c u f|qs] k IH] P st st1 st2 C.
- by rewrite model_of_end.
- by rewrite model_of_coins; apply: eq_avg => x; apply: IH C.
- have pE : permitted d st1 (Call c u f) = permitted d st (Call c u f) by rewrite (c_bare C).
  rewrite model_of_call run_call pE; case: ifP => pm; last exact: IH C.
  have [] := step c f (c_inv C).
  have mE : positions (mem st1) = bare P by exact: positions_are (c_inv C).
  have rE : result_of d (fails (mem st1)) (positions (mem st1)) c f = result_of d (fails (mem st1)) (keyc P s) c f.
    by rewrite mE; apply: result_of_positions; rewrite bare_keyc.
  rewrite {}rE /=; case E : (perform _ _ _ _) => [[r v] M'] /= {E} -> vE I'.
  case: ifP vE I' => [/Z.eqb_spec rOK|_] vE I'; last first.
    by apply: (IH _ P); case: C => I B g h k' t lv; split=> //; rewrite B.
  have [rng tr] := result_ok rOK.
  have tr' x (e : target c = Some x) := proj1 (tr x e).
  have next y rv ts :
      (forall x, (x < CModel.pow2 d)%num -> rv (leaf_path d x) = known (called c u M' st) x) ->
      ts = map (leaf_path d) (challenged (called c u M' st)) ->
      Pr (run w s (called c u M' st) (k (Some (result_of d (fails (mem st1)) (keyc P s) c f, y)))) =
      Pr (ev_run w s (State (held st2) rv ts) (ask_puncture c (model_of
            (called c u (kept_after (mem st1) c f) st1) (k (Some (result_of d (fails (mem st1)) (keyc P s) c f, y)))))).
    move=> R T; rewrite ask_punctureE; apply: IH; exact: after_call C rng tr' I' R T.
  have st2E : st2 = State (held st2) (revealed st2) (tested st2) by case: (st2).
  rewrite /ask_value vE /value_of; case tE : (target c) => [x|]; last first.
    have -> : hand_out w u None = Ret None by case: (u).
    rewrite st2E; apply: next; rewrite /called tE /=; last exact: c_tested C.
    by move=> x xd; rewrite (c_known C) //; case: (u).
  have [xd al] := tr x tE; move: pm; rewrite /permitted tE.
  have := al; rewrite (@alive_eval S d); case eE : (eval _ _ _) => [y|] // _.
  have txE : (leaf_path d x \in tested st2) = (x \in challenged st).
    rewrite (c_tested C); apply/mapP/idP => [[z zc zE]|xc]; last by exists x.
    have /N.ltb_spec0 zd := allP (c_leaves C) _ zc.
    by move/eqP: zE; rewrite leaf_path_inj // => /eqP ->.
  move=> pm; clear pE; move: k IH next pm; case: u => k IH next pm.
  - (* the adversary gets the value *)
    have sp : spoils (path_of d x) st2 = false.
      apply/hasP => -[z zt /andP [pz _]]; move: zt pz; rewrite path_ofE (c_tested C).
      case/mapP => z' zc ->; have /N.ltb_spec0 zd := allP (c_leaves C) _ zc.
      by rewrite prefix_leaf // => /eqP xz; rewrite xz zc in pm.
    rewrite /= sp path_ofE (c_held C) eE; apply: next.
      move=> z zd; rewrite /= ?path_ofE (c_held C) (c_known C) // tE /= prefix_leaf // eq_sym.
      by case: eqP => [->|_]; rewrite ?al ?orbT ?andbF ?orbF.
    by rewrite /= tE (c_tested C).
  - (* a challenge *)
    have fr : fresh_leaf st2 (path_of d x).
      by rewrite /fresh_leaf path_ofE (c_known C) // txE.
    have yE : odflt (zero_block S) (eval G (keygen s) (path_of d x)) = y.
      rewrite path_ofE eval_keygen /=.
      have := @eval_cover _ G d P [::] s _ (size_leaf_path d x).
      by rewrite cat0s -/(keyc P s) eE; case: (P _) => // -[->].
    set B := (fun _ => ask_puncture _ _).
    have -> : ev_run w s st2 (@Ask _ (@ev_reply Seed d) (Challenge (path_of d x)) B) =
      bind (@ev_oracle Seed (zero_block S) G d w (keygen s) st2 (Challenge (path_of d x)))
        (fun rs => ev_run w s rs.2 (B rs.1)) by [].
    rewrite Pr_bind /ev_oracle fr yE [hand_out _ _ _]/= !ex_bind; apply: eq_ex => z /=; apply: next.
      by move=> z' zd; rewrite /= tE (c_known C).
    by rewrite /= tE (c_tested C) ?path_ofE.
  rewrite /= st2E; apply: next; last by rewrite /= tE (c_tested C).
  by move=> z zd; rewrite /= tE (c_known C).
have pE : permitted d st1 (Steal Fault qs) = permitted d st (Steal Fault qs) by rewrite (c_bare C).
rewrite model_of_steal run_steal pE.
have alE x : (x < CModel.pow2 d)%num -> alive (held st2) (leaf_path d x) = living d st x.
  move=> xd; rewrite (c_held C) alive_keyc ?size_leaf_path // (c_erased C) // /living.
  by case: N.ltb_spec0.
have sp : spoils [::] st2 = ~~ permitted d st (Steal Fault qs).
  rewrite /spoils (c_tested C) has_map negbK; apply: eq_in_has => x xc /=.
  by have /N.ltb_spec0 xd := allP (c_leaves C) _ xc; rewrite prefix0s alE.
case: ifP sp => pm sp; last exact: IH C.
rewrite /= sp /= .
rewrite delegate_whole.
have -> : map (image (mem st1) (held st2)) qs = map (peek (mem st)) qs.
  by apply: eq_map => q; rewrite (c_held C) (imageE q (c_inv C)).
apply: (IH _ P); case: C => I B g h k' t lv; split=> //; first by rewrite B.
by move=> x xd /=; rewrite prefix0s alE // k' // orbC.
Qed.

Theorem game_is_model w (M : Seed -> memory) m A : (forall s, holds_at (M s) pred0 s m) ->
  Pr (bind (unif (zero_block S)) (fun s => run w s (start_of (M s)) A)) =
  Pr (@ev_game Seed (zero_block S) G d 0 w (model_of (start_of m) A)).
Proof.
move=> I; rewrite /ev_game !Pr_bind /=; apply: eq_avg => s.
apply: (@play_same w s A pred0); split=> //; first exact: I.
by rewrite /= /MemoryGame.keyc cover_pred0.
Qed.

End Game.

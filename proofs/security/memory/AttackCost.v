(* SPDX-License-Identifier: Apache-2.0 *)
(* The cost of the attacks in the statements about ref and opt: what the adversary against the model asks for, which
   is made from one against C's functions (model_asks), and so the PRG calls and draws of the reduction. *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame RefGame OptGame AttackCost.
From Pprf.proofs Require Import Correctness Sizes ProbabilityFacts EvaluationSecurity EvaluationCost MemoryGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Asks.
Variable Seed : finType.
Variable d : nat.
Implicit Types (A : ev_adversary Seed d) (K : key unit).

Lemma asks_le A q q' m m' K : q <= q' -> m <= m' -> asks_at_most q m K A -> asks_at_most q' m' K A.
Proof.
elim: A q q' m m' K => [b|X x0 k IH|a k IH] q q' m m' K qq mm //=.
  by move=> B x; apply: IH (B x).
case: (cost K a) => [[i j] K'] [iq jm B]; split; [exact: leq_trans qq | exact: leq_trans mm | move=> y].
by apply: IH (B y); rewrite leq_sub2r.
Qed.

Lemma delegate_whole (T : Type) (G : bitseq -> T -> T * T) (K : key T) : delegate G [::] K = K.
Proof.
elim: K => //= -[p v] K IH; rewrite /delegate /= -/(delegate G [::] K) IH.
by rewrite /delegate_node /= prefix0s; case: p.
Qed.

Lemma size_bare (P : pred bitseq) : 0 < d -> size (bare d P) <= 2 ^ d.-1.
Proof. exact: size_cover_half. Qed.

End Asks.

(* An adversary as in MemoryGame.v, which keeps the positions of the nodes. *)
Section Model.
Variable S : suite.
Variable d : nat.
Hypothesis d0 : 0 < d.
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> Fault -> Z.
Local Notation Seed := (block S).
Local Notation reply := (@ref_reply S Fault).
Variable Kept : Type.
Variable positions : Kept -> Ggm.key unit.
Variable kept_after : Kept -> call -> Fault -> Kept.
Variable image : Kept -> Ggm.key Seed -> pointer -> Z.
Variable model_of : ref_state Kept -> ref_adversary S Fault -> ev_adversary Seed d.
Hypothesis model_of_end : forall st b, model_of st (Conclude _ b) = Conclude _ b.
Hypothesis model_of_coins : forall st (X : finType) (x0 : X) k,
  model_of st (Random x0 k) = Random x0 (fun x => model_of st (k x)).
Hypothesis model_of_call : forall st c u f k,
  model_of st (@Ask _ reply (Call c u f) k) =
  if permitted d st (Call c u f) then
    let r := result_of d fails (positions (mem st)) c f in
    if (r =? PPRF_OK)%Z then
      ask_value c u (fun y => ask_puncture c
        (model_of (called c u (kept_after (mem st) c f) st) (k (Some (r, y)))))
    else model_of st (k (Some (r, None)))
  else model_of st (k None).
Hypothesis model_of_steal : forall st qs k,
  model_of st (@Ask _ reply (Steal Fault qs) k) =
  if permitted d st (Steal Fault qs) then
    @Ask _ (@ev_reply Seed d) (Reveal (whole_key d)) (fun K =>
      model_of (stolen d st) (k (Some (map (image (mem st) (odflt [::] K)) qs))))
  else model_of st (k None).
Hypothesis positions_after : forall m c f, positions (kept_after m c f) = puncture_call d no_seed c (positions m).

Lemma model_asks q t A st P : calls_at_most q t A -> positions (mem st) = bare d P ->
  asks_at_most q (t * 2 ^ d.-1) (bare d P) (model_of st A).
Proof.
elim: A q t st P => [b|X x0 k IH|[c u f|qs] k IH] q t st P.
- by rewrite model_of_end.
- by rewrite model_of_coins => B E x; apply: IH (B x) E.
- case=> q0 B E; rewrite model_of_call.
  have less y : asks_at_most q (t * 2 ^ d.-1) (bare d P) (model_of st (k y)).
    by apply: asks_le (leq_pred q) (leqnn _) _; apply: IH (B y) E.
  case: ifP => // _; cbv zeta; case: ifP => // _.
  have next y : asks_at_most q.-1 (t * 2 ^ d.-1) (bare d P) (ask_puncture c
      (model_of (called c u (kept_after (mem st) c f) st)
         (k (Some (result_of d fails (positions (mem st)) c f, y))))).
    have EP : positions (mem (called c u (kept_after (mem st) c f) st)) = bare d (predU P (region_set d c)).
      by rewrite /called /= positions_after E; apply: puncture_callE.
    have H := IH _ _ t _ _ (B (Some (result_of d fails (positions (mem st)) c f, y))) EP.
    rewrite /ask_puncture; case cE : (call_region d c) => [r|].
      rewrite (insubT (fun r => region_ok d r) (region_call_ok cE)) /=; split=> // _; rewrite !subn0.
      by have := puncture_callE d no_seed c P tt; rewrite /puncture_call cE => ->.
    by move: H; rewrite -/(bare d _) /bare -puncture_callE /puncture_call cE.
  rewrite /ask_value; case: (target c) => [x|]; last by apply: asks_le (leq_pred q) (leqnn _) (next _).
  clear less B; move: k IH next; case: u => k IH next; last by apply: asks_le (leq_pred q) (leqnn _) (next _).
    by split=> // y; rewrite subn1 subn0.
  by split=> // y; rewrite subn1 subn0.
case=> t0 B E; rewrite model_of_steal.
have less y : asks_at_most q (t.-1 * 2 ^ d.-1) (bare d P) (model_of st (k y)) by apply: IH (B y) E.
have le : t * 2 ^ d.-1 = 2 ^ d.-1 + t.-1 * 2 ^ d.-1 by rewrite -mulSn prednK.
case: ifP => _; last by refine (asks_le (leqnn q) _ (less None)); rewrite le leq_addl.
rewrite /= delegate_whole; have sz := size_bare P d0; split=> //; first by rewrite le (leq_trans sz) ?leq_addr.
move=> y; rewrite subn0; refine (asks_le (leqnn q) _ (IH _ q t.-1 (stolen d st) P (B _) E)).
by rewrite le -addnBAC // leq_addl.
Qed.

Lemma attack_cost q t A m U (st := start_of m) : calls_at_most q t A -> positions m = keygen tt ->
  costs_at_most ((q + t * 2 ^ d.-1) * d) (d + q + 3) (ev_guess (zero_block S) 0 U (model_of st A)).
Proof.
move=> B E; have E0 : positions (mem st) = bare d pred0 by rewrite /= E /bare cover_pred0.
have H := model_asks B E0; rewrite /bare cover_pred0 in H.
have [_] := @ev_reduction_cost _ (zero_block S) d 0 U q (t * 2 ^ d.-1) _ (leq0n d) H.
suff -> : d + q + 3 = 2 ^ 0 + d + q + 2 by [].
by rewrite expn0 -!plusE; lia.
Qed.

End Model.

(* In the statements about ref the attack runs the adversary and plays the device for it.  For an adversary that makes
   at most q calls and t thefts, it makes at most d PRG calls for each call and for each of at most 2^(d - 1) nodes of
   a theft, and few draws.  Not counted: the adversary's own work, and the cells that it computes from the nodes. *)
Theorem ref_attack_cost (S : suite) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout)
    (M0 : memory) (A : ref_adversary S Fault) (U : pred bitseq) (q t : nat) : 0 < d -> calls_at_most q t A ->
  costs_at_most ((q + t * 2 ^ d.-1) * d) (d + q + 3)
    (ev_guess (zero_block S) 0 U (against_model d fails l M0 A)).
Proof.
move=> d0 B.
exact: (@attack_cost S d d0 Fault fails (key unit) (fun K => K) (fun K c _ => puncture_call d no_seed c K)
  (fun _ => image d l M0) (@as_model S d _ fails l M0) _ _ _ _ _ q t A (keygen tt) U B).
Qed.

Theorem opt_attack_cost (S : suite) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout) (M0 : memory)
    (A : opt_adversary S Fault) (U : pred bitseq) (q t : nat) : 0 < d -> calls_at_most q t A ->
  costs_at_most ((q + t * 2 ^ d.-1) * d) (d + q + 3)
    (ev_guess (zero_block S) 0 U (opt_against_model d fails marks shown l M0 A)).
Proof.
move=> d0 B.
refine (@attack_cost S d d0 (order Fault) fails (key unit * seq Z)%type fst
  (fun m c o => (puncture_call d no_seed c m.1, marks (places d m.1) m.2 c o))
  (fun m => opt_image d shown l M0 m.2) (@opt_as_model S d _ fails marks shown l M0) _ _ _ _ _ q t A
  (keygen tt, map (cell M0) shown) U B _) => //.
by move=> st c u f k /=; case: (mem st).
Qed.

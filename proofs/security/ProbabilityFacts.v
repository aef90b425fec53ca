(* SPDX-License-Identifier: Apache-2.0 *)
(* Facts on finite probability: linearity, exchange of independent draws, adequacy. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Probability.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ---- means over a finite type ---- *)
Lemma eq_avg (X : finType) (g h : X -> rat) : g =1 h -> avg g = avg h.
Proof. by move=> E; rewrite /avg (eq_bigr _ (fun x _ => E x)). Qed.

Lemma card_neq0 (X : finType) (x0 : X) : #|X|%:R != 0 :> rat.
Proof. by rewrite pnatr_eq0 -lt0n; apply/card_gt0P; exists x0. Qed.

Lemma avg_const (X : finType) (x0 : X) (c : rat) : avg (fun _ : X => c) = c.
Proof. by rewrite /avg sumr_const -(mulr_natr c) mulfK // (card_neq0 x0). Qed.

Lemma avg_sum (X : finType) (I : Type) (r : seq I) (g : I -> X -> rat) :
  avg (fun x => \sum_(i <- r) g i x) = \sum_(i <- r) avg (g i).
Proof. by rewrite /avg exchange_big mulr_suml. Qed.

Lemma avgB (X : finType) (g h : X -> rat) : avg (fun x => g x - h x) = avg g - avg h.
Proof. by rewrite /avg sumrB mulrBl. Qed.

Lemma avg_swap (X Y : finType) (g : X -> Y -> rat) :
  avg (fun x => avg (g x)) = avg (fun y => avg (fun x => g x y)).
Proof.
rewrite /avg -!mulr_suml exchange_big /= -!mulrA; congr (_ * _).
by rewrite mulrC.
Qed.

Lemma avg_bool (g : bool -> rat) : avg g = (g true + g false) / 2%:R.
Proof. by rewrite /avg big_bool card_bool. Qed.

Lemma avg_ord1 (g : 'I_1 -> rat) : avg g = g ord0.
Proof. by rewrite /avg big_ord1 card_ord divr1. Qed.

(* ---- expectations ---- *)
Lemma eq_ex T (c : prog T) f g : f =1 g -> ex c f = ex c g.
Proof. by move=> E; elim: c => [t|X x0 k IH] /=; [exact: E | apply: eq_avg]. Qed.

Lemma ex_bind T U (c : prog T) (h : T -> prog U) f :
  ex (bind c h) f = ex c (fun t => ex (h t) f).
Proof. by elim: c => [t|X x0 k IH] //=; apply: eq_avg. Qed.

Lemma Pr_bind T (c : prog T) (h : T -> prog bool) : Pr (bind c h) = ex c (fun t => Pr (h t)).
Proof. exact: ex_bind. Qed.

Lemma ex_const T (c : prog T) (a : rat) : ex c (fun _ => a) = a.
Proof. by elim: c => [t|X x0 k IH] //=; rewrite (eq_avg IH) avg_const. Qed.

Lemma ex_avg T (X : finType) (c : prog T) (g : X -> T -> rat) :
  ex c (fun t => avg (fun x => g x t)) = avg (fun x => ex c (g x)).
Proof. by elim: c => [t|Y y0 k IH] //=; rewrite (eq_avg IH) avg_swap. Qed.

Lemma ex_sub T (c : prog T) f g : ex c (fun t => f t - g t) = ex c f - ex c g.
Proof. by elim: c => [t|X x0 k IH] //=; rewrite -avgB; apply: eq_avg. Qed.

Lemma ex_ge0 T (c : prog T) f : (forall t, 0 <= f t) -> 0 <= ex c f.
Proof.
move=> f0; elim: c => [t|X x0 k IH] //=.
by rewrite /avg divr_ge0 ?ler0n // sumr_ge0.
Qed.

Lemma ex_le T (c : prog T) f g : (forall t, f t <= g t) -> ex c f <= ex c g.
Proof. by move=> le; rewrite -subr_ge0 -ex_sub ex_ge0 // => t; rewrite subr_ge0. Qed.

Lemma ex_norm_le T (c : prog T) f (e : rat) : (forall t, `|f t| <= e) -> `|ex c f| <= e.
Proof.
move=> B; rewrite ler_norml -{1}(ex_const c (- e)) -{2}(ex_const c e).
by rewrite !ex_le // => t; have := B t; rewrite ler_norml => /andP [].
Qed.

(* ---- probabilities ---- *)
Lemma Pr_ge0 c : 0 <= Pr c.
Proof. by apply: ex_ge0 => -[]; rewrite ?ler0n. Qed.

Lemma Pr_neg (c : prog bool) : Pr (b <-$ c ;; Ret (~~ b)) = 1 - Pr c.
Proof.
rewrite /Pr ex_bind /= -{2}(ex_const c 1) -ex_sub; apply: eq_ex => -[] /=.
  by rewrite subrr.
by rewrite subr0.
Qed.

Lemma Pr_le1 c : Pr c <= 1.
Proof. by rewrite -subr_ge0 -Pr_neg Pr_ge0. Qed.

(* adequacy: the program "draw x uniformly, answer P x" answers true with probability the
   fraction of x with P x *)
Lemma Pr_count (X : finType) (x0 : X) (P : pred X) :
  Pr (Draw x0 (fun x => Ret (P x))) = #|P|%:R / #|X|%:R.
Proof.
rewrite /Pr /= /avg; congr (_ / _); rewrite -sum1_card natr_sum [RHS]big_mkcond /=.
by apply: eq_bigr => x _; rewrite unfold_in; case: (P x).
Qed.

(* ---- lists of independent draws ---- *)
Section Lists.
Variables (X : finType) (x0 : X).

Lemma eq_ex_unifs n (f g : seq X -> rat) :
  (forall xs, size xs = n -> f xs = g xs) -> ex (unifs x0 n) f = ex (unifs x0 n) g.
Proof.
elim: n f g => [|n IH] f g E /=; first exact: E.
apply: eq_avg => y; rewrite !ex_bind; apply: IH => xs h /=.
by apply: E; rewrite /= h.
Qed.

Lemma ex_unifsS n (f : seq X -> rat) :
  ex (unifs x0 n.+1) f = avg (fun x => ex (unifs x0 n) (fun xs => f (x :: xs))).
Proof. by rewrite /=; apply: eq_avg => x; rewrite ex_bind. Qed.

(* draws that a filter discards need not be made *)
Lemma ex_unifs_filter (T : Type) (D : pred T) (ns : seq T) (f : seq (T * X) -> rat) :
  ex (unifs x0 (size ns)) (fun xs => f [seq n <- zip ns xs | D n.1]) =
  ex (unifs x0 (size (filter D ns))) (fun xs => f (zip (filter D ns) xs)).
Proof.
elim: ns f => [|n ns IH] f //=; rewrite -/(unif x0).
rewrite -[LHS]/(ex (unifs x0 (size ns).+1) _) ex_unifsS /=.
case: (D n) => /=.
  rewrite -[RHS]/(ex (unifs x0 (size (filter D ns)).+1) _) ex_unifsS /=.
  by apply: eq_avg => x; rewrite -(IH (fun K => f ((n, x) :: K))).
rewrite (avg_const x0); exact: IH.
Qed.

End Lists.

(* ---- sums ---- *)
Lemma norm_sum_le n (g : nat -> rat) (e : rat) :
  (forall i, (i < n)%N -> `|g i| <= e) -> `|\sum_(i < n) g i| <= n%:R * e.
Proof.
move=> B; apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_(i < n) e)); first by apply: ler_sum => i _; apply: B.
by rewrite sumr_const card_ord mulr_natl.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What the reductions of Reductions.v mean and cost: their PRG advantage as a mean, and budgets of PRG
   calls and draws. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions.
From Pprf.proofs Require Import Compat Correctness ProbabilityFacts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Meaning.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.

Lemma ex_exec_bind T U (c : code Seed T) (f : T -> code Seed U) h :
  ex (exec G (cbind c f)) h = ex (exec G c) (fun t => ex (exec G (f t)) h).
Proof. by elim: c => [t|p s k IH|X x0 k IH|X x0 k IH] //=; apply: eq_avg. Qed.

Lemma ex_exec_samples n h : ex (exec G (samples s0 n)) h = ex (unifs s0 n) h.
Proof.
elim: n h => [|n IH] h //=; apply: eq_avg => s.
by rewrite ex_exec_bind IH ex_bind.
Qed.

(* the mean of g's advantage in telling a pair of G at p from a random pair *)
Definition gap (p : bitseq) (g : Seed * Seed -> rat) : rat :=
  avg (fun s => g (G p s)) - avg (fun a => avg (fun b => g (a, b))).

Lemma eq_gap p g h : g =1 h -> gap p g = gap p h.
Proof.
move=> E; rewrite /gap; congr (_ - _); apply: eq_avg => s; first exact: E.
by apply: eq_avg => b; apply: E.
Qed.

Lemma gap_neg p g : gap p (fun ab => 1 - g ab) = - gap p g.
Proof.
rewrite /gap avgB (avg_const s0).
have -> : avg (fun a : Seed => avg (fun b : Seed => 1 - g (a, b))) =
          1 - avg (fun a => avg (fun b => g (a, b))).
  rewrite -{2}(avg_const s0 1) -avgB; apply: eq_avg => a.
  by rewrite avgB (avg_const s0).
by rewrite opprB addrC opprB addrA subrK.
Qed.

Lemma prg_advE D : prg_adv s0 G D = ex D (fun pk => gap pk.1 (fun ab => Pr (pk.2 ab))).
Proof.
rewrite /prg_adv /prg_game !Pr_bind -ex_sub; apply: eq_ex => -[p k] /=.
by rewrite /Pr /gap.
Qed.

(* the PRG advantage of a reduction *)
Definition adv (R : reduction Seed) : rat := prg_adv s0 G (attack G R).

Lemma advE R : adv R = ex (exec G R) (fun pk => gap pk.1 (fun ab => Pr (exec G (pk.2 ab)))).
Proof. by rewrite /adv prg_advE ex_bind. Qed.

Lemma adv_Sample (X : finType) (x0 : X) k : adv (Sample x0 k) = avg (fun x => adv (k x)).
Proof. by rewrite advE /=; apply: eq_avg => x; rewrite advE. Qed.

Lemma adv_flip (real : bool) R :
  adv (cbind R (fun pk => Done Seed (pk.1, fun ab =>
    cbind (pk.2 ab) (fun b => Done Seed (if real then b else ~~ b))))) =
  if real then adv R else - adv R.
Proof.
rewrite advE ex_exec_bind /=; case: real.
  rewrite advE; apply: eq_ex => -[p k] /=; apply: eq_gap => ab.
  by rewrite /Pr ex_exec_bind.
rewrite advE -[RHS]sub0r -(ex_const (exec G R) 0) -ex_sub; apply: eq_ex => -[p k] /=.
rewrite sub0r -gap_neg; apply: eq_gap => ab.
by rewrite -Pr_neg /Pr ex_exec_bind ex_bind.
Qed.

(* ---- A node and its children ---- *)

Lemma prefix_children (p y : bitseq) : (size p < size y)%N ->
  (prefix (rcons p false) y + prefix (rcons p true) y)%N = prefix p y.
Proof.
elim: p y => [|c p IH] [|b y] //=; rewrite ?prefix0s; first by case: b.
by move=> h; case: (c == b) => //=; apply: IH.
Qed.

Lemma eval_children x p s : above x p ->
  eval G (children p (G p s)) x = eval G [:: (p, s)] x.
Proof.
case/andP => /prefixP [[|b y] ->]; first by rewrite cats0 eqxx.
move=> _; rewrite /= /eval_node /= prefix_prefix.
have N := @prefix_diverge p y (rcons p (~~ b)) b (prefix_refl _).
have Y : prefix (rcons p b) (p ++ b :: y) by rewrite -cat_rcons prefix_prefix.
have D : drop (size (rcons p b)) (p ++ b :: y) = y by rewrite -cat_rcons drop_size_cat.
by case: b N Y D => /= N Y D; rewrite ?N Y D drop_size_cat.
Qed.

End Meaning.

Lemma bound_scale (N M : nat) (x eps : rat) : (N <= M)%N -> `|x| <= eps ->
  `|(2 * N)%:R * x| <= (2 * M)%:R * eps.
Proof.
move=> NM xe; rewrite normrM normr_nat le_mul ?ler0n ?normr_ge0 //.
by rewrite ler_nat leq_mul2l.
Qed.

(* The paper's PRG does not depend on the node: the constant family. *)
Section Plain.
Variable Seed : finType.
Variable s0 : Seed.
Variable g : Seed -> Seed * Seed.

Lemma prg_adv_constant D : prg_adv s0 (fun _ => g) D = plain_prg_adv s0 g (forget_node D).
Proof.
rewrite /prg_adv /prg_game /plain_prg_adv /forget_node /Pr !ex_bind /= ex_avg.
congr (_ - _); first by apply: eq_avg => s; rewrite ex_bind.
rewrite ex_avg; apply: eq_avg => a; rewrite ex_avg; apply: eq_avg => b.
by rewrite ex_bind.
Qed.

End Plain.

(* ---- Budgets ---- *)

Section Budgets.
Variable Seed : finType.
Local Open Scope nat_scope.

Lemma runs_within_le T (n n' m m' : nat) (c : code Seed T) (P Q : nat -> nat -> T -> Prop) :
  n <= n' -> m <= m' ->
  (forall i i' j j' t, i <= i' -> j <= j' -> P i j t -> Q i' j' t) ->
  runs_within n m c P -> runs_within n' m' c Q.
Proof.
move=> nn mm PQ; elim: c n n' m m' nn mm => [t|p s k IH|X x0 k IH|X x0 k IH] n n' m m' nn mm /=.
- exact: PQ.
- by case: n n' nn => // n [|n'] // nn B ab; apply: IH (B ab).
- by case: m m' mm => // m [|m'] // mm B x; apply: IH (B x).
- by move=> B x; apply: IH (B x).
Qed.

Lemma runs_within_bind T U n m (c : code Seed T) (f : T -> code Seed U) P Q :
  runs_within n m c P -> (forall i j t, P i j t -> runs_within i j (f t) Q) ->
  runs_within n m (cbind c f) Q.
Proof.
move=> B H; elim: c n m B => [t|p s k IH|X x0 k IH|X x0 k IH] n m /=.
- exact: H.
- by case: n => // n B ab; apply: IH.
- by case: m => // m B x; apply: IH.
- by move=> B x; apply: IH.
Qed.

Lemma samples_cost (s0 : Seed) n m k :
  runs_within n (k + m) (samples s0 k) (fun i j ss => [/\ i = n, j = m & size ss = k]).
Proof.
elim: k => [|k IH] //= s; apply: runs_within_bind IH _ => i j ss /= [-> -> ->].
by split.
Qed.

End Budgets.

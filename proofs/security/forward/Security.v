(* SPDX-License-Identifier: Apache-2.0 *)
(* Selective puncture pseudorandomness: a selective adversary is an adaptive one that evaluates
   and punctures the leaves it named, so its advantage is a sum of PRG advantages too. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions.
From Pprf.proofs Require Import Correctness ProbabilityFacts ForwardSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Security.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Implicit Types (A : pprf_adversary Seed d) (xs : seq (leaf d)).
Implicit Types (fin : key Seed -> seq Seed -> prog bool).

Lemma eval_alive k xs (x : leaf d) : x \notin xs ->
  eval G (puncture_all G [seq tval y | y <- xs] (keygen k)) x = Some (ggm G k x).
Proof.
move=> nx; rewrite (@eval_puncture_all _ _ d) ?size_tuple //; last first.
  by rewrite all_map; apply/allP => y _ /=; rewrite size_tuple.
by rewrite (mem_map eqtype.val_inj) (negbTE nx) eval_keygen.
Qed.

Lemma puncture_all_rcons xs (x : leaf d) K :
  puncture_all G [seq tval y | y <- rcons xs x] K =
  puncture G x (puncture_all G [seq tval y | y <- xs] K).
Proof. by rewrite /puncture_all map_rcons foldl_rcons. Qed.

(* the adaptive adversary that asks for xs after zs has exactly the selective game's view *)
Lemma play_ask w k fin xs zs ys : uniq (zs ++ xs) ->
  Pr (play s0 G w (puncture_all G [seq tval y | y <- zs] (keygen k)) (ask s0 xs fin ys)) =
  ex (if w is Real then Ret [seq ggm G k (tval x) | x <- xs] else unifs s0 (size xs))
     (fun vs => Pr (fin (puncture_all G [seq tval y | y <- zs ++ xs] (keygen k)) (ys ++ vs))).
Proof.
elim: xs zs ys => [|x xs IH] zs ys U; first by case: w => /=; rewrite !cats0.
have nx : x \notin zs by move: U; rewrite cat_uniq /= negb_or => /and3P [_ /andP []].
have step y : Pr (play s0 G w (puncture G x (puncture_all G [seq tval y | y <- zs] (keygen k)))
                       (ask s0 xs fin (rcons ys y))) =
  ex (if w is Real then Ret [seq ggm G k (tval x) | x <- xs] else unifs s0 (size xs))
     (fun vs => Pr (fin (puncture_all G [seq tval y | y <- zs ++ x :: xs] (keygen k))
                        (ys ++ y :: vs))).
  rewrite -puncture_all_rcons IH ?cat_rcons //; apply: eq_ex => vs.
  by rewrite cat_rcons.
rewrite [play _ _ _ _ _]/= eval_alive // Pr_bind.
case: w {IH} step => step; first exact: step.
by rewrite [size _]/= ex_unifsS; apply: eq_avg => y; apply: step.
Qed.

Lemma Pr_selective w A : Pr (fs_game s0 G w (selective s0 A)) = Pr (pprf_game s0 G w A).
Proof.
rewrite /fs_game /pprf_game Pr_bind; elim: A => [[S fin]|X x0 k IH]; last first.
  rewrite Pr_bind [RHS]/=.
  rewrite -[LHS]/(avg (fun s => avg (fun x => Pr (play s0 G w (keygen s) (selective s0 (k x)))))).
  rewrite avg_swap; apply: eq_avg => x; rewrite -Pr_bind -IH.
  by [].
rewrite /= ; apply: eq_avg => k.
have := @play_ask w k fin (enum S) [::] [::] (enum_uniq _).
rewrite /= -[X in _ -> _ = X]/(Pr (bind _ _)) Pr_bind => ->.
by rewrite size_map -map_comp; case: w.
Qed.

Theorem selective_is_adaptive A : pprf_adv s0 G A = fs_adv s0 G (selective s0 A).
Proof. by rewrite /pprf_adv /fs_adv !Pr_selective. Qed.

Lemma selective_moves p A : leaves_at_most p A -> moves_at_most p (selective s0 A).
Proof.
elim: A => [[S fin]|X x0 k IH] /= B; last by move=> x; apply: IH.
move: B; rewrite cardE; elim: (enum S) p [::] => //= x xs IH [|p] ys //= sp.
by split=> // y; apply: IH.
Qed.

(* Exact: the advantage is the sum of the PRG advantages of explicit reductions. *)
Theorem pprf_adv_sum p A : leaves_at_most p A ->
  pprf_adv s0 G A =
    \sum_(t < expansions d p) prg_adv s0 G (attack G (pprf_reduction s0 Real t A))
  - \sum_(t < expansions d p) prg_adv s0 G (attack G (pprf_reduction s0 Ideal t A)).
Proof. by move/selective_moves/fs_adv_sum; rewrite selective_is_adaptive => ->. Qed.

(* Exact, with one reduction that guesses. *)
Theorem pprf_adv_guess p A : leaves_at_most p A ->
  pprf_adv s0 G A =
  (2 * expansions d p)%:R * prg_adv s0 G (attack G (pprf_guess s0 (expansions d p) A)).
Proof. by move/selective_moves/fs_adv_guess; rewrite selective_is_adaptive => ->. Qed.

(* p punctured leaves cost 2 min(p d, 2^d - 1) eps; one leaf costs 2 d eps. *)
Theorem pprf_secure p A (eps : rat) : leaves_at_most p A ->
  `|prg_adv s0 G (attack G (pprf_guess s0 (expansions d p) A))| <= eps ->
  `|pprf_adv s0 G A| <= (2 * minn (p * d) (2 ^ d).-1)%:R * eps.
Proof.
move/pprf_adv_guess => -> B; apply: bound_scale B.
by rewrite leq_min expansions_le expansions_tree.
Qed.

End Security.

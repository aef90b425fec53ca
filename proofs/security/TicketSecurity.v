(* SPDX-License-Identifier: Apache-2.0 *)
(* Tickets under the values of leaves are confidential: the advantage is that against the puncturable
   PRF, twice, and that against the encryption with a fresh key for each ticket. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
From Pprf.spec Require Import TicketGame.
From Pprf.proofs Require Import Compat ProbabilityFacts EvaluationSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section TicketSecurity.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Variables Text Ticket : Type.
Variable seal : Seed -> Text -> prog Ticket.
Implicit Type A : tk_adversary Seed d Text Ticket.
Local Notation same := (fun _ b => b).

Lemma Pr_toss State (v : State -> bool -> bool) oracle st T (c : prog T) f :
  Pr (interact v oracle st (@toss Seed d T c f)) = ex c (fun t => Pr (interact v oracle st (f t))).
Proof. by elim: c => [t|X x0 k IH] //=; rewrite /Pr /=; apply: eq_avg => x; apply: IH. Qed.

Lemma as_ev_value w b K0 st A :
  Pr (interact same (tk_oracle s0 G seal w b K0) st A) =
  Pr (interact same (ev_oracle s0 G w K0) st (as_ev seal b A)).
Proof.
elim: A st => [c|X x0 k IH|[x|r|p|x m0 m1] k IH] st //.
- by apply: eq_avg => z; apply: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- exact: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- rewrite /=; case: ifP => _; last exact: IH.
  rewrite !Pr_bind !ex_bind; apply: eq_ex => y; rewrite ex_bind /= Pr_toss.
  by apply: eq_ex => c; apply: IH.
Qed.

Lemma tk_game_ev w b A : Pr (tk_game s0 G seal w b A) = Pr (ev_game s0 G 0 w (as_ev seal b A)).
Proof.
rewrite /tk_game /ev_game expn0 !Pr_bind /=; apply: eq_avg => s.
exact: as_ev_value.
Qed.

Lemma serve_value b K0 st A :
  Pr (interact same (tk_oracle s0 G seal Ideal b K0) st A) =
  Pr (interact same (seal_oracle s0 seal b) tt (serve G st A)).
Proof.
elim: A st => [c|X x0 k IH|[x|r|p|x m0 m1] k IH] st //.
- by apply: eq_avg => z; apply: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- exact: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- rewrite /=; case: ifP => _; last exact: IH.
  rewrite /Pr /=; apply: eq_avg => y; rewrite !ex_bind /=.
  by apply: eq_ex => c; apply: IH.
Qed.

Lemma tk_game_seal b A : Pr (tk_game s0 G seal Ideal b A) =
  Pr (interact same (seal_oracle s0 seal b) tt (as_seal s0 G A)).
Proof. by rewrite /tk_game Pr_bind; apply: eq_avg => s; apply: serve_value. Qed.

(* Exact. *)
Theorem tk_adv_sum A : tk_adv s0 G seal A =
  ev_adv s0 G 0 (as_ev seal true A) - ev_adv s0 G 0 (as_ev seal false A) +
  seal_adv s0 seal (as_seal s0 G A).
Proof.
rewrite /tk_adv /ev_adv /seal_adv -!tk_game_seal !tk_game_ev.
set r1 := Pr _; set r0 := Pr (ev_game s0 G 0 Real _); set i1 := Pr _; set i0 := Pr _.
by rewrite opprB -addrA [i0 - r0 + _]addrC addrA [r1 - i1 + _]addrA subrK addrA subrK.
Qed.

Lemma as_ev_in (U : pred bitseq) b A : seals_in U A -> challenges_in U (as_ev seal b A).
Proof.
have T X (c : prog X) f : (forall t, challenges_in U (f t)) -> challenges_in U (@toss Seed d X c f).
  by move=> H; elim: c => //= Y y0 k IH y; apply: IH.
elim: A => [c|X x0 k IH|[x|r|p|x m0 m1] k IH] //=.
- by move=> H x; apply: IH.
- by case=> _ H; split=> // y; apply: IH.
- by case=> _ H; split=> // y; apply: IH.
- by case=> _ H; split=> // y; apply: IH.
- case=> Ux H; split=> // -[s|]; last exact: IH.
  by apply: T => c; apply: IH.
Qed.

(* Tickets in the first q leaves: at most twice 2 (q + d - 1) PRG advantages. *)
Theorem tk_adv_bound_first (q : nat) A (eps : rat) : seals_in (first_leaves 0 q) A ->
  (forall b, `|prg_adv s0 G (attack G (ev_guess s0 0 (first_leaves 0 q) (as_ev seal b A)))| <= eps) ->
  `|tk_adv s0 G seal A| <=
    (2 * (2 * (q + d).-1))%:R * eps + `|seal_adv s0 seal (as_seal s0 G A)|.
Proof.
have norm_add (x y : rat) : `|x + y| <= `|x| + `|y|.
  by have := norm_sub_le x (- y); rewrite opprK normrN.
move=> SU B; rewrite tk_adv_sum; apply: le_trans (norm_add _ _) _; apply: le_add => //.
apply: le_trans (norm_sub_le _ _) _; rewrite mul2n -addnn natrD mulrDl.
by apply: le_add; apply: ev_adv_bound_first (as_ev_in _ SU) (B _).
Qed.

End TicketSecurity.

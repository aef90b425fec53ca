(* SPDX-License-Identifier: Apache-2.0 *)
(* Tickets under leaf values are confidential: the advantage is twice that against the
   puncturable PRF, plus that against the encryption with a fresh key for each ticket. *)
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
Variables (Text : Type) (Ticket : eqType).
Variable seal : Seed -> Text -> prog Ticket.
Variable unseal : Seed -> Ticket -> option Text.
Implicit Type A : tk_adversary Seed d Text Ticket.
Local Notation same := (fun _ b => b).
Local Notation oracle := (tk_oracle s0 G seal unseal).
Local Notation as_ev := (as_ev seal unseal).

Lemma Pr_toss Query (Reply : Query -> Type) State (v : State -> bool -> bool) orc st T (c : prog T) f :
  Pr (interact v orc st (@toss Query Reply T c f)) = ex c (fun t => Pr (interact v orc st (f t))).
Proof. by elim: c => [t|X x0 k IH] //=; rewrite /Pr /=; apply: eq_avg => x; apply: IH. Qed.

Lemma as_ev_value w b K0 st ts A :
  Pr (interact same (oracle w b K0) (st, ts) A) =
  Pr (interact same (ev_oracle s0 G w K0) st (as_ev b ts A)).
Proof.
elim: A st ts => [c|X x0 k IH|[x|r|p|x m0 m1|x t] k IH] st ts //.
- by apply: eq_avg => z; apply: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- exact: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- rewrite /=; case: ifP => _; last exact: IH.
  rewrite !Pr_bind !ex_bind; apply: eq_ex => y; rewrite ex_bind /= Pr_toss.
  by apply: eq_ex => c; apply: IH.
by rewrite /=; case: ifP => _; [apply: IH | rewrite /=; case: ifP => _; apply: IH].
Qed.

Lemma tk_game_ev c w b A : Pr (tk_game s0 G seal unseal c w b A) = Pr (ev_game s0 G c w (as_ev b [::] A)).
Proof.
rewrite /tk_game /ev_game !Pr_bind; apply: eq_ex => ss; exact: as_ev_value.
Qed.

Lemma serve_value b K0 st ts A :
  Pr (interact same (oracle Ideal b K0) (st, ts) A) =
  Pr (interact same (seal_oracle s0 seal unseal b) (map snd ts) (serve G unseal st (map fst ts) A)).
Proof.
elim: A st ts => [c|X x0 k IH|[x|r|p|x m0 m1|x t] k IH] st ts //.
- by apply: eq_avg => z; apply: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- exact: IH.
- by rewrite /=; case: ifP => _; apply: IH.
- rewrite /=; case: ifP => _; last exact: IH.
  rewrite /Pr /=; apply: eq_avg => y; rewrite !ex_bind /=.
  by apply: eq_ex => c; apply: (IH _ _ ((tval x, (y, c)) :: ts)).
by rewrite /=; case: ifP => _; [apply: IH | case: ifP => _; apply: IH].
Qed.

Lemma tk_game_seal c b A : Pr (tk_game s0 G seal unseal c Ideal b A) =
  Pr (interact same (seal_oracle s0 seal unseal b) [::] (as_seal s0 G unseal c A)).
Proof. by rewrite /tk_game Pr_bind Pr_toss; apply: eq_ex => ss; apply: (@serve_value _ _ _ [::]). Qed.

(* Exact. *)
Theorem tk_adv_sum c A : tk_adv s0 G seal unseal c A =
  ev_adv s0 G c (as_ev true [::] A) - ev_adv s0 G c (as_ev false [::] A) +
  seal_adv s0 seal unseal (as_seal s0 G unseal c A).
Proof.
rewrite /tk_adv /ev_adv /seal_adv -!tk_game_seal !tk_game_ev.
set r1 := Pr _; set r0 := Pr (ev_game s0 G c Real _); set i1 := Pr _; set i0 := Pr _.
by rewrite opprB -addrA [i0 - r0 + _]addrC addrA [r1 - i1 + _]addrA subrK addrA subrK.
Qed.

Lemma as_ev_in (U : pred bitseq) b ts A : seals_in U A -> challenges_in U (as_ev b ts A).
Proof.
have T X (c : prog X) f : (forall t, challenges_in U (f t)) ->
    challenges_in U (@toss _ (@ev_reply Seed d) X c f).
  by move=> H; elim: c => //= Y y0 k IH y; apply: IH.
elim: A ts => [c|X x0 k IH|[x|r|p|x m0 m1|x t] k IH] ts //=.
- by move=> H x; apply: IH.
- by case=> _ H; split=> // y; apply: IH.
- by case=> _ H; split=> // y; apply: IH.
- by case=> _ H; split=> // y; apply: IH.
- case=> Ux H; split=> // -[s|]; last exact: IH.
  by apply: T => c; apply: IH.
by case=> _ H; case: ifP => _; [apply: IH | split=> // y; apply: IH].
Qed.

(* Tickets in the first q leaves of each of 2^c trees: at most twice 2 2^c (q + d - c - 1) PRG
   advantages. *)
Theorem tk_adv_bound_users (c q : nat) A (eps : rat) : (c <= d)%N -> seals_in (first_leaves c q) A ->
  (forall b, `|prg_adv s0 G (attack G (ev_guess s0 c (first_leaves c q) (as_ev b [::] A)))| <= eps) ->
  `|tk_adv s0 G seal unseal c A| <=
    (2 * (2 * (2 ^ c * (q + (d - c)).-1)))%:R * eps + `|seal_adv s0 seal unseal (as_seal s0 G unseal c A)|.
Proof.
have norm_add (x y : rat) : `|x + y| <= `|x| + `|y|.
  by have := norm_sub_le x (- y); rewrite opprK normrN.
move=> cd SU B; rewrite tk_adv_sum; apply: le_trans (norm_add _ _) _; apply: le_add => //.
apply: le_trans (norm_sub_le _ _) _; rewrite [X in X%:R]mul2n -addnn natrD mulrDl.
by apply: le_add; apply: ev_adv_bound_users cd (as_ev_in _ _ SU) (B _).
Qed.

(* One tree. *)
Theorem tk_adv_bound_first (q : nat) A (eps : rat) : seals_in (first_leaves 0 q) A ->
  (forall b, `|prg_adv s0 G (attack G (ev_guess s0 0 (first_leaves 0 q) (as_ev b [::] A)))| <= eps) ->
  `|tk_adv s0 G seal unseal 0 A| <=
    (2 * (2 * (q + d).-1))%:R * eps + `|seal_adv s0 seal unseal (as_seal s0 G unseal 0 A)|.
Proof.
by move=> SU B; have := tk_adv_bound_users (leq0n d) SU B; rewrite expn0 mul1n subn0.
Qed.

End TicketSecurity.

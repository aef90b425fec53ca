(* SPDX-License-Identifier: Apache-2.0 *)
(* The pool of tickets: each ticket is issued once and redeemed at most once; after that, or
   after it has expired, it is useless; until then it opens to its leaf's value. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Tickets.
From Pprf.proofs Require Import Correctness.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section TicketPool.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Implicit Types (p : pool Seed) (o : operation) (os : seq operation) (x : bitseq).
Local Notation step := (step G d).
Local Notation trace := (trace G d).
Local Notation after := (after G d).

(* the pool's key after the regions rs were punctured *)
Definition history s rs p : Prop :=
  all (region_ok d) rs /\ pool_key p = puncture_regions G rs (keygen s).

Lemma history_eval s rs p x : history s rs p -> size x = d ->
  eval G (pool_key p) x = if punctured rs x then None else Some (ggm G s x).
Proof. by case=> ok -> sx; rewrite (eval_puncture_regions _ _ ok sx). Qed.

Lemma history_rcons s rs p r n : history s rs p -> region_ok d r ->
  history s (rcons rs r) (Pool (puncture_region G r (pool_key p)) n).
Proof.
case=> ok E okr; split; first by rewrite all_rcons okr.
by rewrite /= E /puncture_regions foldl_rcons.
Qed.

Lemma punctured_rcons rs r x : punctured (rcons rs r) x = punctured rs x || in_region r x.
Proof. by rewrite /punctured has_rcons orbC. Qed.

(* one operation *)
Lemma step_history s rs p o : history s rs p ->
  exists2 rs', history s rs' (step p o).2 &
    forall x, size x = d ->
      [/\ punctured rs' x = punctured rs x || ends x (o, (step p o).1)
        & serves x (o, (step p o).1) -> ~~ punctured rs x].
Proof.
move=> H; case: o => [|y|y|a b] /=.
- exists rs; first by case: ifP.
  by move=> x _; split; rewrite ?orbF //; case: ifP.
- exists rs => // x sx; rewrite orbF; split=> //.
  case: ifP => // _; case E: (eval _ _ _) => //= /eqP yx.
  by move: E; rewrite yx (history_eval H sx); case: ifP.
- case: ifP => [/andP [/andP [/eqP sy _] al]|_]; last first.
    by exists rs => // x _; rewrite orbF.
  exists (rcons rs (Leaf y)); first by apply: history_rcons => //=; rewrite sy.
  move=> x sx; rewrite punctured_rcons /= eq_sym; split=> // /eqP <-.
  by move: al; rewrite (history_eval H sy); case: ifP.
- case: ifP => [/andP [/andP [sa _] /andP [sb _]]|_]; last first.
    by exists rs => // x _; rewrite orbF.
  exists (rcons rs (Range a b)); first by apply: history_rcons => //=; rewrite sa sb.
  by move=> x sx; rewrite punctured_rcons.
Qed.

Lemma after_history s rs p os : history s rs p ->
  exists2 rs', history s rs' (after p os) &
    forall x, size x = d -> punctured rs' x = punctured rs x || has (ends x) (trace p os).
Proof.
elim: os rs p => [|o os IH] rs p H /=; first by exists rs => // x _; rewrite orbF.
have [rs1 H1 P1] := step_history o H; have [rs2 H2 P2] := IH _ _ H1.
exists rs2 => // x sx; rewrite P2 //; have [-> _] := P1 x sx.
by rewrite orbA.
Qed.

Lemma punctured_useless s rs p os x : history s rs p -> size x = d -> punctured rs x ->
  ~~ has (serves x) (trace p os).
Proof.
elim: os rs p => //= o os IH rs p H sx px; have [rs1 H1 P1] := step_history o H.
have [E S] := P1 x sx; rewrite negb_or (IH rs1) ?E ?px // andbT.
by apply/negP => /S; rewrite px.
Qed.

Lemma new_history s : history s [::] (new_pool s).
Proof. by []. Qed.

Lemma serves_size p o x : serves x (o, (step p o).1) -> size x = d.
Proof.
case: o => [|y|y|a b] //=; try by case: ifP.
- by case: ifP => // /andP [/eqP sy _]; case: (eval _ _ _) => // v /eqP <-.
- by case: ifP => // /andP [/andP [/eqP sy _] _] /eqP <-.
Qed.

(* A ticket that was redeemed or has expired is useless, whatever follows. *)
Theorem ticket_ends s os os' x : size x = d -> has (ends x) (trace (new_pool s) os) ->
  ~~ has (serves x) (trace (after (new_pool s) os) os').
Proof.
move=> sx E; have [rs H P] := after_history os (new_history s).
by apply: (punctured_useless os' H sx); rewrite P // E.
Qed.

(* Of any operations in any order, at most one redeems a ticket. *)
Theorem ticket_redeemed_once s os x : count (redeems x) (trace (new_pool s) os) <= 1.
Proof.
have S (e : event Seed) : redeems x e -> serves x e && ends x e.
  by case: e => -[|y|y|a b] [] // [] //= ->.
have H := new_history s; move: (new_pool s) [::] H; elim: os => // o os IH p rs H.
rewrite -[count _ _]/(redeems x (o, (step p o).1) + count (redeems x) (trace (step p o).2 os)).
case R: (redeems x (o, (step p o).1)).
2: by have [rs1 H1 _] := step_history o H; rewrite add0n; apply: IH H1.
have /andP [sv en] := S _ R; have sx := serves_size sv.
have [rs1 H1 P1] := step_history o H; have [E _] := P1 x sx.
rewrite -[X in _ <= X]addn0 leq_add2l leqn0 -leqn0 leqNgt -has_count.
have := punctured_useless os H1 sx; rewrite E en orbT => /(_ isT); apply: contra.
by apply: sub_has => e Re; case/andP: (S _ Re).
Qed.

(* Until it ends, a ticket that was issued opens to its leaf's value. *)
Theorem ticket_opens s os x : size x = d -> (val x < given_out (after (new_pool s) os)) ->
  ~~ has (ends x) (trace (new_pool s) os) ->
  (step (after (new_pool s) os) (Open x)).1 = Opened (Some (ggm G s x)).
Proof.
move=> sx lt /negbTE E; have [rs H P] := after_history os (new_history s).
by rewrite /= /given sx eqxx lt /= (history_eval H sx) P // E.
Qed.

(* No leaf is given out twice. *)
Theorem ticket_issued_once s os x : count (issues x) (trace (new_pool s) os) <= 1.
Proof.
have later p o n x' : n < given_out p -> n < given_out (step p o).2.
  by case: o => [|y|y|a b] //= lt; do ?case: ifP => //= _; apply: leqW.
have none p os' : val x < given_out p -> ~~ has (issues x) (trace p os').
  elim: os' p => //= o os' IH p lt; rewrite negb_or IH ?later // andbT.
  case: o => //=; case: ifP => //= d_; apply: contraTN lt => /eqP <-.
  by rewrite val_bits ?ltnn.
elim: os (new_pool s) => // o os IH p.
rewrite -[count _ _]/(issues x (o, (step p o).1) + count (issues x) (trace (step p o).2 os)).
case R: (issues x (o, (step p o).1)); last by rewrite add0n IH.
rewrite -[X in _ <= X]addn0 leq_add2l leqn0 -leqn0 leqNgt -has_count.
apply: none; case: o R => //=; case: ifP => //= d_ /eqP <-.
by rewrite val_bits.
Qed.

End TicketPool.

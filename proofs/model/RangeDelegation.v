(* SPDX-License-Identifier: Apache-2.0 *)
(* The sub-key for a range is the canonical key of what the key evaluates there, and small. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm Delegation.
From Pprf.proofs Require Import Compat Correctness Sizes.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section RangeDelegation.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Local Notation cover := (cover G).

Lemma outside_ok d first last : all (region_ok d) (outside d first last).
Proof. by rewrite /outside all_cat; case: (val first) => [|n]; case: ifP; rewrite /= ?size_bits ?eqxx. Qed.

Lemma punctured_outside d (first last x : bitseq) : size first = d -> size last = d -> size x = d ->
  punctured (outside d first last) x = ~~ in_region (Range first last) x.
Proof.
move=> sf sl sx; have lt (y : bitseq) : size y = d -> val y < 2 ^ d by move=> <-; apply: val_lt.
have p0 : 0 < 2 ^ d by rewrite expn_gt0.
rewrite /punctured /outside has_cat negb_and; congr (_ || _).
  have := lt _ sf; rewrite leaf_le_val ?sf // -ltnNge; case: (val first) => [|n] //= nd.
  by rewrite !leaf_le_val ?size_bits // !val_bits // ?(ltnW nd) //= orbF.
rewrite [leaf_le x last]leaf_le_val ?sx // -ltnNge; case: ifP => [h|/negbT]; last first.
  by rewrite -leqNgt => /(leq_trans (lt _ sx)); rewrite /= ltnS ltnNge => ->.
rewrite /= !leaf_le_val ?size_bits ?sx // !val_bits ?prednK // orbF.
have -> : val x <= (2 ^ d).-1 by rewrite -ltnS prednK // lt.
by rewrite andbT.
Qed.

Lemma puncture_regions_cat rs1 rs2 (K : key Seed) :
  puncture_regions G (rs1 ++ rs2) K = puncture_regions G rs2 (puncture_regions G rs1 K).
Proof. exact: foldl_cat. Qed.

Lemma puncture_regions_cover d (P : pred bitseq) s rs : all (region_ok d) rs ->
  puncture_regions G rs (cover d P [::] s) = cover d (fun x => P x || punctured rs x) [::] s.
Proof.
rewrite /puncture_regions; elim/last_ind: rs => [|rs r IH].
  by move=> _; apply: eq_cover => x _; rewrite orbF.
rewrite all_rcons foldl_rcons => /andP [ok /IH ->].
rewrite (puncture_region_remove G (within_cover G _ _ _) ok) -[d in remove _ d]add0n.
rewrite (remove_cover G d _ _ [::]); apply: eq_cover => x _.
by rewrite /punctured has_rcons -orbA [in_region r x || _]orbC.
Qed.

(* The sub-key of a key with any leaves punctured. *)
Theorem delegate_range_cover d (P : pred bitseq) s (first last : bitseq) : size first = d -> size last = d ->
  delegate_range G d first last (cover d P [::] s) =
  cover d (fun x => P x || ~~ in_region (Range first last) x) [::] s.
Proof.
move=> sf sl; rewrite /delegate_range puncture_regions_cover ?outside_ok //; apply: eq_cover => x sx.
by rewrite punctured_outside.
Qed.

Section Key.
Variables (d : nat) (s : Seed) (rs : seq region) (first last : bitseq).
Hypotheses (ok : all (region_ok d) rs) (sf : size first = d) (sl : size last = d).
Let K := puncture_regions G rs (keygen s).

(* The key of the leaves that are in the range and not punctured. *)
Theorem delegate_range_canonical : delegate_range G d first last K =
  cover d (fun x => punctured rs x || ~~ in_region (Range first last) x) [::] s.
Proof.
by rewrite /K (puncture_regions_canonical G s ok) delegate_range_cover.
Qed.

(* In the range it evaluates as the key does; elsewhere it evaluates nothing. *)
Theorem delegate_range_eval (x : bitseq) : size x = d ->
  eval G (delegate_range G d first last K) x =
  if in_region (Range first last) x then eval G K x else None.
Proof.
move=> sx; have E P : eval G (cover d P [::] s) x = if P x then None else Some (ggm G s x).
  exact: (@eval_cover _ G d P [::] s x sx).
rewrite delegate_range_canonical /K (puncture_regions_canonical G s ok) !E.
by case: (punctured rs x); case: (in_region _ x).
Qed.

(* Punctures before and after a delegation have the same effect on the sub-key. *)
Theorem delegate_range_order (ps : seq region) : all (region_ok d) ps ->
  delegate_range G d first last (puncture_regions G ps K) =
  puncture_regions G ps (delegate_range G d first last K).
Proof.
rewrite /delegate_range; have := outside_ok d first last; move: (outside _ _ _) => os oko okp.
rewrite /K -!puncture_regions_cat.
rewrite !(@puncture_regions_canonical _ _ d) ?all_cat ?ok ?okp ?oko //; apply: eq_cover => x _.
by rewrite /punctured !has_cat; congr (_ || _); rewrite orbC.
Qed.

End Key.

(* ---- How many nodes ----------------------------------------------------------------------- *)

Lemma cover_uniq d P p s : uniq (map fst (cover d P p s)).
Proof.
elim: d P p s => [|d IH] P p s /=; first by case: ifP.
case: ifP => //= _; rewrite map_cat cat_uniq !IH andbT /=; apply/hasPn => q hr.
apply/negP => hl; have := prefix_total (mem_cover_prefix hr) (mem_cover_prefix hl); rewrite !size_rcons leqnn => /(_ isT).
by rewrite prefixE size_rcons take_oversize ?size_rcons // eqseq_rcons eqxx.
Qed.

(* the leaves except those with numbers from lo to hi - 1 *)
Definition numbers (lo hi : nat) : pred bitseq := fun x => ~~ (lo <= val x < hi).

Lemma numbers_none d lo hi p s : hi <= lo \/ 2 ^ d <= lo -> size (cover d (numbers lo hi) p s) = 0.
Proof.
move=> h; rewrite (eq_cover _ _ _ (Q := predT)) ?cover_predT // => x sx; apply/negP => /andP [lx xh].
case: h => h; first by have := leq_trans (leq_ltn_trans lx xh) h; rewrite ltnn.
by have := leq_ltn_trans (leq_trans h lx) (val_lt x); rewrite sx ltnn.
Qed.

Lemma numbers_all d lo hi p s : lo = 0 -> 2 ^ d <= hi -> size (cover d (numbers lo hi) p s) = 1.
Proof.
move=> -> h; rewrite cover_no_leaf //; apply/no_leafP => x sx; apply/negbTE; rewrite negbK /=.
by rewrite (leq_trans (val_lt x)) // sx.
Qed.

Lemma numbersS d lo hi p s m : 0 < m ->
  (forall q t r u, size (cover d (numbers lo hi) q t) +
     size (cover d (numbers (lo - 2 ^ d) (hi - 2 ^ d)) r u) <= m) ->
  size (cover d.+1 (numbers lo hi) p s) <= m.
Proof.
move=> m0 H; case h: (has_leaf d.+1 (numbers lo hi)); last by rewrite cover_no_leaf ?h.
rewrite cover_has_leafS // size_cat.
rewrite (@eq_cover _ G d (below _ false) (numbers lo hi)); last by move=> x _; rewrite /below /numbers val_cons.
rewrite (@eq_cover _ G d (below _ true) (numbers (lo - 2 ^ d) (hi - 2 ^ d))) // => x sx.
by rewrite /below /numbers val_cons mul1n sx leq_subLR ltn_subRL.
Qed.

Lemma twice_le d hi : 2 ^ d.+1 <= hi -> 2 ^ d <= hi /\ 2 ^ d <= hi - 2 ^ d.
Proof.
rewrite expnS mul2n -addnn => h; have l := leq_trans (leq_addr _ _) h.
by split=> //; rewrite leq_subRL.
Qed.

Lemma size_numbers_side d lo hi p s : 0 < d -> lo = 0 \/ 2 ^ d <= hi ->
  size (cover d (numbers lo hi) p s) <= d.
Proof.
case: d => // d _; elim: d lo hi p s => [|d IH] lo hi p s h; first exact: size_cover_half.
apply: numbersS => // q t r u; case: (leqP (2 ^ d.+1) lo) => l.
  rewrite numbers_none ?add0n; last by right.
  apply: leq_trans (leqnSn _); apply: IH; right; case: h => [h|/twice_le [] //].
  by move: l; rewrite h leqn0 expn_eq0.
have l0 : lo - 2 ^ d.+1 = 0 by apply/eqP; rewrite subn_eq0 ltnW.
case: h => h.
  case: (leqP (2 ^ d.+1) hi) => g; first by rewrite numbers_all // add1n ltnS; apply: IH; left.
  rewrite [X in _ + X]numbers_none ?addn0; first by apply: leq_trans (leqnSn _); apply: IH; left.
  by left; move/ltnW: g; rewrite -subn_eq0 => /eqP ->.
have [h1 h2] := twice_le h; rewrite [X in _ + X]numbers_all // addn1 ltnS.
by apply: IH; right.
Qed.

Lemma size_numbers d lo hi p s : 1 < d -> size (cover d (numbers lo hi) p s) <= 2 * d.-1.
Proof.
case: d => [|[|d]] // _; elim: d lo hi p s => [|d IH] lo hi p s; first exact: (@size_cover_half _ G 2).
have le : 2 * d.+1 <= 2 * d.+2 by rewrite leq_mul2l leqnSn.
apply: numbersS => // q t r u; case: (leqP (2 ^ d.+2) lo) => l.
  by rewrite numbers_none ?add0n; [apply: leq_trans (IH _ _ _ _) le | right].
case: (leqP hi (2 ^ d.+2)) => g.
  rewrite [X in _ + X]numbers_none ?addn0; first exact: leq_trans (IH _ _ _ _) le.
  by left; move: g; rewrite -subn_eq0 => /eqP ->.
rewrite mul2n -addnn; apply: leq_add; apply: size_numbers_side => //; first by right; apply: ltnW.
by left; apply/eqP; rewrite subn_eq0 ltnW.
Qed.

(* Of the sub-key's nodes, those that are not the key's are maximal subtrees of the range. *)
Theorem delegate_range_size d s rs (first last : bitseq) : 1 < d -> all (region_ok d) rs ->
  size first = d -> size last = d ->
  size (delegate_range G d first last (puncture_regions G rs (keygen s))) <=
  count (fun n => in_range d first last n.1) (puncture_regions G rs (keygen s)) + 2 * d.-1.
Proof.
move=> d1 ok sf sl; set N := predC (in_region (Range first last)).
rewrite (delegate_range_canonical s ok sf sl) (puncture_regions_canonical G s ok).
set P := punctured rs; set R := cover d N [::] s.
have sR : size R <= 2 * d.-1.
  rewrite /R (@eq_cover _ G d N (numbers (val first) (val last).+1)); first exact: size_numbers.
  by move=> x sx; rewrite /N /numbers /= ltnS !leaf_le_val ?sf ?sl ?sx.
apply: leq_trans (leq_add (leqnn _) sR); rewrite -size_filter; set F := filter _ _.
rewrite -[size (cover _ _ _ _)](size_map fst) -[size F](size_map fst) -[size R](size_map fst) -size_cat.
apply: uniq_leq_size; first exact: cover_uniq.
move=> q; rewrite mem_cat !mem_cover => /and3P [sq f M].
have [FP FN] : free d P q /\ free d N q.
  by split; apply/no_leafP => y sy; move/no_leafP: f => /(_ y sy) /negbT /norP [/negbTE a /negbTE b].
have -> : (q \in map fst F) =
          (q \in map fst (cover d P [::] s)).
  rewrite /F; elim: (cover _ _ _ _) => //= n K IH; case: ifP => [_|h] /=; rewrite !inE IH //.
  by case: (q =P n.1) => // E; move: h; rewrite -E /in_range FN.
rewrite mem_cover sq FP FN /=; case/orP: M => [->//|M].
have : ~~ free d P (parent q) || ~~ free d N (parent q).
  rewrite -negb_and; apply: contra M => /andP [/no_leafP a /no_leafP b]; apply/no_leafP => y sy.
  by move: (a y sy) (b y sy) => /= -> ->.
by case/orP => ->; rewrite ?orbT.
Qed.

End RangeDelegation.

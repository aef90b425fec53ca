(* SPDX-License-Identifier: Apache-2.0 *)
(* How large a key gets, how small the cover is, and the cost of all punctures. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Correctness.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Sizes.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Local Notation child := (Ggm.child G).
Local Notation copath := (Ggm.copath G).
Local Notation cover := (Ggm.cover G).
Local Notation puncture := (Ggm.puncture G).
Local Notation puncture_all := (Ggm.puncture_all G).
Local Notation leaves d := (pts d predT).
Local Notation expanded_all := (Ggm.expanded_all G).

(* -- upper bounds -- *)

Lemma cardS d P : card d.+1 P = card d (below P false) + card d (below P true).
Proof. by rewrite /card /= size_cat !size_map. Qed.

Lemma card_le d P : card d P <= 2 ^ d.
Proof.
elim: d P => [|d IH] P; first by rewrite /card /=; case: (P _).
by rewrite cardS expnS mul2n -addnn leq_add.
Qed.

Lemma size_cover_family d P p s a : a < d ->
  size (cover d P p s) <= 2 ^ a + card d P * (d.-1 - a).
Proof.
elim: d P p s a => [//|d IH] P p s a ad.
case h: (has_leaf d.+1 P); last by rewrite cover_no_leaf ?h //= addn_gt0 expn_gt0.
rewrite cover_has_leafS // size_cat cardS.
case: a ad => [|a] ad.
  rewrite expn0 subn0.
  case: d IH h {ad} => [|d] IH h.
    by move: h => /=; do 2! case: (below P _ [::]).
  have I b := IH (below P b) (rcons p b) (child p b s) 0 isT.
  apply: leq_trans (leq_add (I false) (I true)) _.
  rewrite !expn0 !subn0 /= addnACA -mulnDl [X in _ <= _ + X]mulnS addnA leq_add2r.
  by move: h; rewrite has_leaf_card cardS => h; rewrite ltnS.
case: d IH h ad => [//|d] IH h ad.
have I b := IH (below P b) (rcons p b) (child p b s) a ad.
apply: leq_trans (leq_add (I false) (I true)) _.
by rewrite addnACA addnn -mul2n -expnS /= -mulnDl subSS.
Qed.

Theorem size_cover_half d P p s : 0 < d -> size (cover d P p s) <= 2 ^ d.-1.
Proof.
move=> d0; have := @size_cover_family d P p s d.-1; rewrite subnn muln0 addn0.
by apply; rewrite ltn_predL.
Qed.

Theorem size_cover_log d P p s : 0 < card d P -> trunc_log 2 (card d P) < d ->
  size (cover d P p s) <= card d P * (d - trunc_log 2 (card d P)).
Proof.
move=> c0 ad; apply: leq_trans (size_cover_family P p s ad) _.
case: d P c0 ad => [//|d] P c0 ad; rewrite /= subSn // mulnS leq_add2r.
exact: trunc_logP.
Qed.

(* no more nodes than live leaves *)
Lemma size_cover_live d P p s : size (cover d P p s) + card d P <= 2 ^ d.
Proof.
elim: d P p s => [|d IH] P p s; first by rewrite /card /=; case: (P _).
case h: (has_leaf d.+1 P); last first.
  by rewrite cover_no_leaf ?h //=; move: h; rewrite has_leaf_card lt0n => /negbFE/eqP ->;
     rewrite expn_gt0.
by rewrite cover_has_leafS // size_cat cardS addnACA expnS mul2n -addnn leq_add.
Qed.

(* -- the worst case: every second leaf -- *)

Theorem size_cover_odds d p s : size (cover d.+1 (last false) p s) = 2 ^ d.
Proof.
elim: d p s => [|d IH] p s //.
have E b : forall y, size y = d.+1 -> below (last false) b y = last false y by case.
have h : has_leaf d.+2 (last false).
  by apply/has_leafP; exists (rcons (nseq d.+1 false) true);
     rewrite ?size_rcons ?size_nseq // last_rcons.
by rewrite cover_has_leafS // size_cat !(eq_cover G _ _ (E _)) !IH addnn -mul2n -expnS.
Qed.

(* -- the best case -- *)

Theorem size_copath p s x : size (copath p s x) = size x.
Proof. by elim: x p s => [//|[] x IH] p s /=; rewrite ?size_cat ?addn1 IH. Qed.

Theorem size_puncture_one d s x : size x = d -> size (puncture x (keygen s)) = d.
Proof. by move=> <-; rewrite /puncture /= /puncture_node prefix0s cats0 drop0 size_copath. Qed.

Theorem peak_at_least_depth (d : nat) s (xs : seq bitseq) :
  all (fun x => size x == d) xs -> (forall x : bitseq, size x = d -> x \in xs) ->
  exists2 i, i <= size xs & d <= size (puncture_all (take i xs) (keygen s)).
Proof.
move=> axs full; case: xs axs full => [|x xs] axs full.
  by have := full (nseq d false) (size_nseq _ _).
exists 1 => //=; rewrite take0; case/andP: axs => /eqP sx _.
by rewrite (size_puncture_one _ sx).
Qed.

Lemma leavesS d : leaves d.+1 = map (cons false) (leaves d) ++ map (cons true) (leaves d).
Proof. by []. Qed.

Lemma leaves_head d : exists l, leaves d = nseq d false :: l.
Proof.
elim: d => [|d [l E]]; first by exists [::].
by exists (map (cons false) l ++ map (cons true) (leaves d)); rewrite leavesS E.
Qed.

Lemma size_leaves d : size (leaves d) = 2 ^ d.
Proof.
elim: d => [//|d IH].
by rewrite /= size_cat !size_map IH addnn -mul2n -expnS.
Qed.

Lemma cons_inj (b : bool) : injective (cons b : bitseq -> bitseq).
Proof. by move=> y z []. Qed.

Lemma mem_cons_map (b c : bool) (x : bitseq) (l : seq bitseq) :
  (b :: x \in map (cons c) l) = (b == c) && (x \in l).
Proof.
case: eqP => [->|bc] /=; first by rewrite mem_map //; apply: cons_inj.
by apply/mapP => -[y _ [/bc]].
Qed.

Lemma mem_leaves d x : (x \in leaves d) = (size x == d).
Proof. by rewrite mem_pts andbT. Qed.

Lemma below_take d i b x : size x = d ->
  below (mem (take i (leaves d.+1))) b x = (x \in take (if b then i - 2 ^ d else i) (leaves d)).
Proof.
move=> sx; rewrite /below inE leavesS take_cat size_map size_leaves.
case: ltnP => id.
  rewrite -map_take mem_cons_map; case: b; last by [].
  by move: (ltnW id); rewrite -subn_eq0 => /eqP ->; rewrite take0.
rewrite mem_cat -map_take !mem_cons_map; case: b => //=.
by rewrite orbF take_oversize // size_leaves.
Qed.

Lemma ascending_cover d i p s :
  size (cover d (mem (take i (leaves d))) p s) <= (if i is 0 then 1 else d).
Proof.
elim: d i p s => [|d IH] [|i] p s //.
  by rewrite take0 (eq_cover G _ _ (Q := pred0)) ?cover_pred0.
rewrite cover_has_leafS; last first.
  rewrite has_leaf_card cardS addn_gt0 -!has_leaf_card; apply/orP; left; apply/has_leafP.
  exists (nseq d false); rewrite ?size_nseq // below_take ?size_nseq //.
  by have [l ->] := leaves_head d; rewrite /= inE eqxx.
rewrite size_cat !(eq_cover G _ _ (@below_take d _ _)) /=.
have [id|di] := leqP (2 ^ d) i.+1.
  rewrite [X in size X + _](_ : _ = [::]) ?add0n.
    by apply: leq_trans (IH _ _ _) _; case: (i.+1 - _).
  rewrite -(cover_predT G d (rcons p false) (child p false s)); apply: eq_cover => x sx.
  by rewrite take_oversize ?size_leaves // mem_leaves sx eqxx.
move: (ltnW di); rewrite -subn_eq0 => /eqP ->.
rewrite take0 (@eq_cover _ G d _ pred0 (rcons p true)) // cover_pred0 /= addn1.
by rewrite ltnS (IH i.+1).
Qed.

Theorem ascending_peak d s i : 0 < d ->
  size (puncture_all (take i (leaves d)) (keygen s)) <= d.
Proof.
move=> d0; rewrite (@puncture_all_canonical _ _ d); last first.
  by apply/allP => x /mem_take; rewrite mem_leaves.
by apply: leq_trans (ascending_cover _ _ _ _) _; case: i.
Qed.

(* -- the exact maximum for p punctured leaves -- *)

Fixpoint spread (d p : nat) : pred bitseq := fun x =>
  if d is d'.+1 then
    if x is b :: x' then spread d' (if b then uphalf p else p./2) x' else false
  else 0 < p.

Lemma card_spread d p : p <= 2 ^ d -> card d (spread d p) = p.
Proof.
elim: d p => [|d IH] p pd; first by move: pd; case: p => [|[]].
rewrite cardS (IH p./2) ?(IH (uphalf p)).
- by rewrite uphalf_half addnCA addnn odd_double_half.
- by rewrite leq_uphalf_double -mul2n -expnS.
- by apply: leq_trans (half_leq pd) _; rewrite expnS mul2n doubleK.
Qed.

Lemma has_leaf_spread d p : p <= 2 ^ d -> has_leaf d (spread d p) = (0 < p).
Proof. by move=> pd; rewrite has_leaf_card card_spread. Qed.

Lemma size_cover_spread d p k q s : k <= d -> 2 ^ k <= p <= 2 ^ k.+1 -> p <= 2 ^ d ->
  size (cover d (spread d p) q s) + p.*2 = p * (d - k) + 2 ^ k.+1.
Proof.
elim: d p k q s => [|d IH] p k q s kd kp pd.
  by move: kd kp pd; rewrite leqn0 => /eqP ->; case: p => [|[|]].
have p0 : 0 < p by case/andP: kp => kp _; apply: leq_trans kp; rewrite expn_gt0.
have ud : uphalf p <= 2 ^ d by rewrite leq_uphalf_double -mul2n -expnS.
have hd : p./2 <= 2 ^ d by apply: leq_trans ud; rewrite uphalf_half leq_addl.
rewrite cover_has_leafS ?has_leaf_spread // size_cat /=.
have [p1|p1] := leqP p 1.
  have {p0} p1' : p = 1 by apply/eqP; rewrite eqn_leq p1.
  have k0 : k = 0.
    by move: kp; rewrite p1' => /andP []; case: k {kd} => // k; rewrite leqNgt (ltn_exp2l 0).
  rewrite p1' k0 [X in size X + _](cover_no_leaf); last by rewrite has_leaf_spread ?expn_gt0.
  rewrite -addnA (IH _ 0) ?expn_gt0 //= !mul1n !subn0.
  by rewrite addnA add1n.
case: k kd kp => [|k] kd kp.
  have p2 : p = 2 by apply/eqP; rewrite eqn_leq p1; case/andP: kp => _; rewrite expn1 => ->.
  have E b : size (cover d (spread d 1) (rcons q b) (child q b s)) = d.
    by apply: (@addIn 2); rewrite (IH 1 0) ?expn_gt0 // mul1n subn0.
  by rewrite p2 !E subn0 mul2n doubleS addnn !addnS.
case/andP: kp => kp pk.
have [kh hk] : 2 ^ k <= p./2 /\ uphalf p <= 2 ^ k.+1.
  by rewrite geq_half_double leq_uphalf_double -!mul2n -!expnS.
have hu : p./2 <= uphalf p by rewrite uphalf_half leq_addl.
have := IH p./2 k (rcons q false) (child q false s) kd.
have := IH (uphalf p) k (rcons q true) (child q true s) kd.
rewrite kh hk (leq_trans kh hu) (leq_trans hu hk) hd ud => /(_ isT isT) E1 /(_ isT isT) E2.
have -> : p.*2 = (p./2).*2 + (uphalf p).*2.
  by rewrite -doubleD uphalf_half addnCA addnn odd_double_half.
rewrite addnACA E1 E2 addnACA -mulnDl subSS addnn -mul2n -expnS; congr (_ * _ + _).
by rewrite uphalf_half addnCA addnn odd_double_half.
Qed.

Theorem size_cover_exact_max d p s : 0 < p <= 2 ^ d ->
  let k := trunc_log 2 p in let max := p * (d - k) - 2 * (p - 2 ^ k) in
  (forall P, card d P = p -> size (cover d P [::] s) <= max) /\
  (exists2 P, card d P = p & size (cover d P [::] s) = max).
Proof.
move=> /andP [p0 pd] k max; have /andP [kp pk] := trunc_log_bounds (isT : 1 < 2) p0.
rewrite -/k in kp pk.
have kd : k <= d by rewrite -(leq_exp2l (m := 2)) // (leq_trans kp).
have maxE : max = p * (d - k) + 2 ^ k.+1 - p.*2.
  have -> : max = p * (d - k) - (p.*2 - 2 ^ k.+1) by rewrite /max [2 * (_ - _)]mulnBr -expnS mul2n.
  by rewrite subnBA // expnS mul2n leq_double.
have lower q := @size_cover_spread d p k q s kd.
rewrite kp (ltnW pk) pd in lower.
split=> [P cP|]; last first.
  exists (spread d p); first exact: card_spread.
  apply: (@addIn p.*2); rewrite lower //.
  by rewrite maxE subnK // -(lower [::]) // leq_addl.
rewrite maxE leq_subRL -?(lower [::]) ?leq_addl // lower // addnC.
have [kd'|] := ltnP k.+1 d.
  have := size_cover_family P [::] s kd'; rewrite cP -(leq_add2r p.*2) => /leq_trans -> //.
  rewrite -addnA addnC leq_add2r -muln2 -mulnDr leq_mul2l.
  by case: (d) kd' => // d' kd'; rewrite addn2 subnSK // subSn ?leqnn ?orbT // ltnW.
have := size_cover_live d P [::] s; rewrite cP => live dk.
have [dk'|dk'] := leqP d k.
  have E : k = d by apply/eqP; rewrite eqn_leq kd.
  have pE : p = 2 ^ d by apply/eqP; rewrite eqn_leq pd -E.
  move: live; rewrite pE E subnn muln0 -[X in _ <= X]add0n leq_add2r leqn0 => /eqP ->.
  by rewrite add0n expnS mul2n.
have {dk dk'} E : d = k.+1 by apply/eqP; rewrite eqn_leq dk.
by rewrite E subSnn muln1 -addnn addnA addnC leq_add2l -E.
Qed.

(* -- the cover is the smallest exact cover -- *)

Definition ns_below (b : bool) (ns : seq bitseq) : seq bitseq :=
  [seq behead q | q <- ns & ohead q == Some b].

Lemma size_ns_below ns : [::] \notin ns ->
  size (ns_below false ns) + size (ns_below true ns) = size ns.
Proof.
rewrite /ns_below !size_map !size_filter; elim: ns => //= q ns IH.
rewrite inE negb_or => /andP [nq /IH <-].
by case: q nq => [//|[] q] _ /=; rewrite ?addnS ?addSn ?add0n ?add1n.
Qed.

Lemma has_ns_below b ns x : [::] \notin ns ->
  has (fun q => prefix q x) (ns_below b ns) = has (fun q => prefix q (b :: x)) ns.
Proof.
rewrite /ns_below; elim: ns => //= q ns IH; rewrite inE negb_or => /andP [nq /IH <-].
by case: q nq => [//|c q] _ /=; rewrite -[Some c == Some b]/(c == b); case: (c == b).
Qed.

Theorem cover_minimal d P p s ns : exact_cover d P ns -> size (cover d P p s) <= size ns.
Proof.
elim: d P p s ns => [|d IH] P p s ns C.
  by have := C [::] erefl; rewrite /=; case: (P [::]) => //=; case: ns {C}.
case h: (has_leaf d.+1 P); last first.
  rewrite cover_no_leaf ?h //=; case: ns C => // C.
  have := C (nseq d.+1 false) (size_nseq _ _); rewrite /= => /esym/negbFE Px.
  by case/negP: (negbT h); apply/has_leafP; exists (nseq d.+1 false); rewrite ?size_nseq.
have nn : [::] \notin ns.
  apply/negP => ni; case/has_leafP: h => x sx Px; have := C x sx; rewrite Px => /negP; apply.
  by apply/hasP; exists [::] => //; rewrite prefix0s.
rewrite cover_has_leafS // size_cat -(size_ns_below nn) leq_add //; apply: IH => x sx;
  by rewrite has_ns_below // C //= sx.
Qed.

(* -- the PRG calls of a key's whole life -- *)

(* the inner nodes of the subtree at p that have a leaf of P below them *)
Fixpoint inner_nodes (d : nat) (P : pred bitseq) (p : bitseq) : seq bitseq :=
  if d is d'.+1 then
    if has_leaf d P then p :: inner_nodes d' (below P false) (rcons p false) ++
                         inner_nodes d' (below P true) (rcons p true)
    else [::]
  else [::].

Lemma eq_inner_nodes d P Q p :
  (forall x, size x = d -> P x = Q x) -> inner_nodes d P p = inner_nodes d Q p.
Proof.
elim: d P Q p => [//|d IH] P Q p E.
have E' b x : size x = d -> below P b x = below Q b x by move=> sx; apply: E; rewrite /= sx.
by move: (eq_has_leaf E) => /= ->; rewrite (IH _ _ _ (E' false)) (IH _ _ _ (E' true)).
Qed.

Lemma inner_nodes_no_leaf d P p : ~~ has_leaf d P -> inner_nodes d P p = [::].
Proof. by case: d => [//|d] /= /negbTE ->. Qed.

Lemma inner_nodes_has_leafS d P p : has_leaf d.+1 P ->
  inner_nodes d.+1 P p = p :: inner_nodes d (below P false) (rcons p false) ++
                              inner_nodes d (below P true) (rcons p true).
Proof. by move=> /= ->. Qed.

Lemma inner_nodes_prefix d P p : all (prefix p) (inner_nodes d P p).
Proof.
elim: d P p => [//|d IH] P p /=; case: ifP => // _ /=; rewrite prefix_refl all_cat /=.
by apply/andP; split; apply: sub_all (IH _ _) => q; apply: prefix_trans; rewrite prefix_rcons.
Qed.

Lemma inner_nodes_other d P p b c q : b != c ->
  p ++ b :: q \in inner_nodes d P (rcons p c) = false.
Proof.
move=> bc; apply/negP => /(allP (inner_nodes_prefix _ _ _)).
have -> : c = ~~ b by case: b c bc => [] [].
by move/(prefix_diverge q); rewrite prefix_refl.
Qed.

Lemma inner_nodes_root d P p b : p \in inner_nodes d P (rcons p b) = false.
Proof.
apply/negP => /(allP (inner_nodes_prefix _ _ _)) /size_prefix.
by rewrite size_rcons ltnn.
Qed.

Lemma mem_inner_nodes d P p q :
  p ++ q \in inner_nodes d P p = (size q < d) && has_leaf (d - size q) (fun y => P (q ++ y)).
Proof.
elim: d P p q => [//|d IH] P p q.
case h: (has_leaf d.+1 P); last first.
  rewrite inner_nodes_no_leaf ?h //; apply/esym/negP => /andP [qd /has_leafP [x sx Px]].
  case/negP: (negbT h); apply/has_leafP; exists (q ++ x) => //.
  by rewrite size_cat sx subnKC // ltnW.
rewrite inner_nodes_has_leafS // inE mem_cat.
case: q => [|b q]; first by rewrite cats0 eqxx subn0 h.
rewrite -[X in _ == X]cats0 eqseq_cat // eqxx /= subSS ltnS.
case: b; [rewrite (@inner_nodes_other d _ p true false) |
         rewrite (@inner_nodes_other d _ p false true) ?orbF];
  by rewrite // -cat_rcons IH.
Qed.

Lemma inner_nodes_uniq d P p : uniq (inner_nodes d P p).
Proof.
elim: d P p => [//|d IH] P p /=; case: ifP => // _.
rewrite /= mem_cat !inner_nodes_root cat_uniq !IH andbT /=.
apply/hasPn => q /(allP (inner_nodes_prefix _ _ _)) /prefixP [y ->].
apply: contraFN (@inner_nodes_other d (below P false) p true false y isT).
by rewrite cat_rcons.
Qed.

Lemma size_inner_nodes_all d p : (size (inner_nodes d predT p)).+1 = 2 ^ d.
Proof.
elim: d p => [//|d IH] p.
have h : has_leaf d.+1 predT by apply/has_leafP; exists (nseq d.+1 false); rewrite ?size_nseq.
rewrite inner_nodes_has_leafS //= size_cat -addnS -addSn.
by rewrite !IH expnS mul2n addnn.
Qed.

Lemma spine_inner_nodes p x : spine p x = inner_nodes (size x) (pred1 x) p.
Proof.
elim: x p => [//|b x IH] p.
rewrite inner_nodes_has_leafS /=; last exact: (has_leaf_pred1 (b :: x)).
rewrite IH.
have E b' := @eq_inner_nodes (size x) _ _ (rcons p b') (fun y _ => below_pred1 b b' x y).
by rewrite !E; case: b {E}; rewrite (@inner_nodes_no_leaf _ pred0) ?has_leaf_pred0 ?cats0.
Qed.

Lemma expanded_cat x (K1 K2 : key Seed) : expanded x (K1 ++ K2) = expanded x K1 ++ expanded x K2.
Proof. by rewrite /expanded map_cat flatten_cat. Qed.

Lemma expanded_other d P p s b x :
  expanded (p ++ b :: x) (cover d P (rcons p (~~ b)) s) = [::].
Proof.
move: (cover_prefix G d P (rcons p (~~ b)) s); rewrite /expanded.
by elim: (cover _ _ _ _) => //= n K IH /andP [pn /IH ->]; rewrite prefix_diverge.
Qed.

Lemma expanded_cover d P p s x : size x = d ->
  perm_eq (expanded (p ++ x) (cover d P p s) ++ inner_nodes d P p)
          (inner_nodes d (predU P (pred1 x)) p).
Proof.
elim: d P p s x => [|d IH] P p s x sx.
  move/eqP: sx; rewrite size_eq0 => /eqP ->; rewrite /= !cats0; case: (P _) => //=.
  by rewrite /expanded /= prefix_refl drop_size.
case h: (has_leaf d.+1 P); last first.
  rewrite cover_no_leaf ?h // inner_nodes_no_leaf ?h // cats0 /expanded /= prefix_prefix.
  rewrite drop_size_cat // cats0 spine_inner_nodes sx; apply/permP => a; congr (count a _).
  apply: eq_inner_nodes => y sy /=; case Py: (P y) => //.
  by case/negP: (negbT h); apply/has_leafP; exists y.
case: x sx => [//|b x] [sx].
have hU : has_leaf d.+1 (predU P (pred1 (b :: x))).
  by apply/has_leafP; exists (b :: x); rewrite /= ?sx ?eqxx ?orbT.
rewrite cover_has_leafS // expanded_cat !inner_nodes_has_leafS //.
have bU b' y : below (predU P (pred1 (b :: x))) b' y =
               predU (below P b') (if b == b' then pred1 x else pred0) y.
  by rewrite /below /= -(below_pred1 b b' x y).
have side b' : b' != b ->
    inner_nodes d (below (predU P (pred1 (b :: x))) b') (rcons p b') =
    inner_nodes d (below P b') (rcons p b').
  move=> nb; apply: eq_inner_nodes => y _; rewrite bU eq_sym (negbTE nb) /=.
  by rewrite orbF.
have main b' : b' = b -> perm_eq
    (expanded (rcons p b ++ x) (cover d (below P b') (rcons p b') (child p b' s)) ++
     inner_nodes d (below P b') (rcons p b'))
    (inner_nodes d (below (predU P (pred1 (b :: x))) b') (rcons p b')).
  move=> ->; apply: perm_trans (IH _ _ _ _ sx) _; apply/permP => a; congr (count a _).
  by apply: eq_inner_nodes => y _; rewrite bU eqxx.
apply/permP => a; have /permP/(_ a) := main b erefl.
have C l : count a (p :: l) = a p + count a l by [].
case: b {hU bU main} side => side.
  rewrite (expanded_other _ _ _ _ true) (side false) // -(cat_rcons true) cat0s.
  rewrite !count_cat !C !count_cat.
  by move=> <-; rewrite [LHS]addnCA [X in _ + X = _]addnCA.
rewrite (expanded_other _ _ _ _ false) (side true) // -(cat_rcons false) cats0.
rewrite !count_cat !C !count_cat.
by move=> <-; rewrite [LHS]addnCA -!addnA.
Qed.

Lemma expanded_all_rcons xs x (K : key Seed) :
  expanded_all (rcons xs x) K = expanded_all xs K ++ expanded x (puncture_all xs K).
Proof. by elim: xs K => [|y xs IH] K /=; rewrite ?cats0 // IH catA. Qed.

Lemma expanded_all_perm d s xs : all (fun x => size x == d) xs ->
  perm_eq (expanded_all xs (keygen s)) (inner_nodes d (mem xs) [::]).
Proof.
elim/last_ind: xs => [|xs x IH].
  by rewrite (@eq_inner_nodes _ _ pred0) // inner_nodes_no_leaf ?has_leaf_pred0.
rewrite all_rcons => /andP [/eqP sx axs].
rewrite expanded_all_rcons perm_catC (puncture_all_canonical G s axs).
have E := @eq_inner_nodes d _ (predU (mem xs) (pred1 x)) [::] (fun y _ => _).
rewrite E => [|y]; last by rewrite /= mem_rcons inE orbC.
apply: perm_trans (expanded_cover (mem xs) [::] s sx).
by rewrite perm_cat2l IH.
Qed.

(* Each inner node is expanded at most once, whatever the order of the punctures ... *)
Theorem expansions_once (d : nat) s (xs : seq bitseq) : all (fun x => size x == d) xs ->
  uniq (expanded_all xs (keygen s)).
Proof. by move=> axs; rewrite (perm_uniq (expanded_all_perm s axs)) inner_nodes_uniq. Qed.

(* ... and the expanded ones are the inner nodes above a punctured leaf. *)
Theorem expansions_mem (d : nat) s (xs : seq bitseq) (q : bitseq) : all (fun x => size x == d) xs ->
  (q \in expanded_all xs (keygen s)) = (size q < d) && has (prefix q) xs.
Proof.
move=> axs; rewrite (perm_mem (expanded_all_perm s axs)) -[q in LHS]cat0s mem_inner_nodes.
case: ltnP => //= qd; apply/has_leafP/hasP => [[x sx xs_x]|[x xs_x /prefixP [y xE]]].
  by exists (q ++ x) => //; apply: prefix_prefix.
exists y; rewrite -?xE //; apply/eqP; rewrite -(eqn_add2l (size q)) -size_cat -xE.
by rewrite (eqP (allP axs _ xs_x)) subnKC // ltnW.
Qed.

(* One puncture after any others: at most d PRG calls, one for each level. *)
Theorem expansions_puncture (d : nat) s (xs : seq bitseq) (x : bitseq) :
  all (fun x => size x == d) xs -> size x = d ->
  size (expanded x (puncture_all xs (keygen s))) <= d.
Proof.
move=> axs sx; have axs' : all (fun x => size x == d) (rcons xs x) by rewrite all_rcons sx eqxx.
have U := expansions_once s axs'; rewrite expanded_all_rcons cat_uniq in U.
have E q : q \in expanded x (puncture_all xs (keygen s)) -> (size q < d) && prefix q x.
  elim: (puncture_all _ _) => // -[p v] K IH; rewrite /expanded /= mem_cat => /orP [|/IH //].
  case: ifP => // /prefixP [y xE].
  rewrite xE drop_size_cat // spine_inner_nodes => iq.
  have /prefixP [z qE] := allP (inner_nodes_prefix _ _ _) _ iq.
  move: iq; rewrite qE mem_inner_nodes => /andP [zy /has_leafP [w _ /eqP yE]].
  by rewrite -sx xE -yE catA prefix_prefix andbT !size_cat -addnA ltn_add2l -size_cat yE.
suff : size (map size (expanded x (puncture_all xs (keygen s)))) <= size (iota 0 d).
  by rewrite size_map size_iota.
apply: uniq_leq_size; last first.
  by move=> _ /mapP [q /E /andP [qd _] ->]; rewrite mem_iota.
rewrite map_inj_in_uniq; first by case/and3P: U.
move=> q r /E /andP [_ qx] /E /andP [_ rx] qr.
by case/prefixP: qx rx qr => u -> /prefixP [v] /eqP + quv; rewrite eqseq_cat // => /andP [/eqP].
Qed.

(* Any leaves in any order, with or without repetitions: at most 2^d - 1 ... *)
Theorem expansions_bound (d : nat) s (xs : seq bitseq) : all (fun x => size x == d) xs ->
  size (expanded_all xs (keygen s)) <= 2 ^ d - 1.
Proof.
move=> axs; rewrite -(size_inner_nodes_all d [::]) subn1 /=.
apply: uniq_leq_size; first exact: (expansions_once s axs).
move=> q; rewrite (expansions_mem s q axs) => /andP [qd _].
rewrite -[q]cat0s mem_inner_nodes qd /=.
by apply/has_leafP; exists (nseq (d - size q) false); rewrite ?size_nseq.
Qed.

(* ... and exactly that many for all leaves. *)
Theorem expansions_total (d : nat) s (xs : seq bitseq) :
  all (fun x => size x == d) xs -> (forall x : bitseq, size x = d -> x \in xs) ->
  size (expanded_all xs (keygen s)) = 2 ^ d - 1.
Proof.
move=> axs full; rewrite (perm_size (expanded_all_perm s axs)).
by rewrite (@eq_inner_nodes _ _ predT) // -(size_inner_nodes_all d [::]) subn1.
Qed.

End Sizes.

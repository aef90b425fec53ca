(* SPDX-License-Identifier: Apache-2.0 *)
(* A state that meets ref's contracts is the model's key. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith Lia.
From Coq Require ZifyBool.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import Correctness Layout.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.
#[local] Arguments N.mul : simpl never.
#[local] Arguments N.add : simpl never.
#[local] Arguments N.sub : simpl never.
#[local] Arguments N.leb : simpl never.
#[local] Arguments N.ltb : simpl never.
#[local] Arguments pow2 : simpl never.

(* ACSL's tree nodes are the aligned intervals. *)
Lemma is_node_atP e s h : is_node_at e s h <-> aligned s h /\ s + pow2 h <= pow2 (h + e)%nat.
Proof.
elim: e s h => [|e IH] s h /=.
  rewrite addn0; split=> [/N.eqb_spec ->|[[q ->] le]]; first by split; [exists 0 | nlia].
  by apply/N.eqb_spec; have := pow2_gt0 h; nia.
have w := pow2_gt0 h; rewrite addnS -addSn; split.
  case/orP => [/IH|/andP [/N.leb_spec0 hs /IH]] [[q E] le]; rewrite pow2S in E le.
    by split; [exists (q * 2); nlia | nlia].
  by split; [exists (q * 2 + 1); nlia | nlia].
case=> -[q E] le; have P : pow2 (h.+1 + e)%nat = pow2 h * (2 * pow2 e).
  by rewrite addSn pow2S pow2D; nlia.
have [r qE] : exists r, q = 2 * r \/ q = 2 * r + 1.
  exists (N.div2 q); have := N.div2_odd q.
  by case: (N.odd q) => qq; [right | left]; rewrite {1}qq /N.b2n; nlia.
have le' : q + 1 <= 2 * pow2 e by rewrite P E in le; nia.
have up : r * (2 * pow2 h) + 2 * pow2 h <= pow2 h * (2 * pow2 e).
  have /(N.mul_le_mono_r _ _ (2 * pow2 h)) : r + 1 <= pow2 e by case: qE => qE; nlia.
  by nlia.
apply/orP; case: qE => qE; [left | right].
  have sE : s = r * (2 * pow2 h) by rewrite E qE; nlia.
  by apply/IH; rewrite sE pow2S; split; [exists r | rewrite P].
apply/andP; split; first by apply/N.leb_spec0; rewrite E qE; nia.
have sE : s - pow2 h = r * (2 * pow2 h) by rewrite E qE; nlia.
by apply/IH; rewrite sE pow2S; split; [exists r | rewrite P].
Qed.

Lemma tree_nodeP d s h : tree_node d s h <-> in_tree d s h.
Proof.
rewrite /tree_node /in_tree; case: leqP => // hd; rewrite !andTb; split.
  case/is_node_atP; rewrite subnKC // => al le.
  by apply/andP; split; [apply/alignedP | apply/N.leb_spec0].
by case/andP => /alignedP al /N.leb_spec0 le; apply/is_node_atP; rewrite subnKC.
Qed.

Section Sound.

Variable Seed : Type.
Variable prg : N -> nat -> Seed -> Seed * Seed.
Definition prg_l (k : Seed) (s : N) (h : nat) : Seed := (prg s h k).1.
Definition prg_r (k : Seed) (s : N) (h : nat) : Seed := (prg s h k).2.
Local Notation family := (family prg).
Local Notation ncover := (ncover prg).
Local Notation node_seed := (node_seed prg_l prg_r).
Local Notation inv := (inv prg_l prg_r).

(* The recursion of the contracts gives each node of a cover its seed. *)
Lemma node_seed_left R d s h : in_tree d s h.+1 -> node_seed R d s h = prg_l (node_seed R d s h.+1) s h.+1.
Proof.
move=> it; have hd : (h < d)%nat by case/and3P: it.
rewrite /Contracts.node_seed -(subnSK hd) /=.
by move/tree_nodeP: it; rewrite /tree_node => /andP [_ ->].
Qed.

Lemma node_seed_right R d s h : in_tree d s h.+1 ->
  node_seed R d (s + pow2 h) h = prg_r (node_seed R d s h.+1) s h.+1.
Proof.
move=> it; have hd : (h < d)%nat by case/and3P: it.
rewrite /Contracts.node_seed -(subnSK hd) /= (_ : s + pow2 h - pow2 h = s); last by nlia.
case: ifP => // /is_node_atP [al _]; case: (aligned_odd _ al).
by case/and3P: it => _ /alignedP.
Qed.

Lemma ncover_node_seed d R h P s : in_tree d s h ->
  map (@seed _) (ncover h P s (node_seed R d s h)) =
  [seq node_seed R d q.1 q.2 | q <- positions (ncover h P s (node_seed R d s h))].
Proof.
elim: h s => [|h IH] s it; first by rewrite /=; case: ifP.
case hp: (nhas_leaf h.+1 P s); last by rewrite (@ncover_no_leaf _ _ h.+1) ?hp.
have [i0 i1] : in_tree d s h /\ in_tree d (s + pow2 h) h.
  case/and3P: it => hd /alignedP /aligned_half [/alignedP a0 /alignedP a1] le.
  by rewrite /in_tree a0 a1 (ltnW hd) /=; move: le; rewrite pow2S; nlia.
rewrite ncover_has_leafS // positions_cat !map_cat.
have := IH s i0; have := IH (s + pow2 h) i1.
by rewrite (node_seed_left R it) (node_seed_right R it) => -> ->.
Qed.

(* ---- Invariant arrays are covers ---------------------------------------------------- *)

Lemma inv_well_formed R d a n : inv R d a n -> well_formed d (mkseq a n).
Proof.
case=> ok [so mx]; apply/andP; split.
  elim: {so mx} n ok => // n IH ok; rewrite /mkseq -addn1 iotaD map_cat all_cat.
  rewrite IH => [|k kn]; last by apply: ok; rewrite ltnS ltnW.
  by rewrite /= andbT; case: (ok n) => // _ [_ [/tree_nodeP]].
apply: pairwise_sorted; apply/(pairwiseP (a 0%nat)) => i j; rewrite !inE size_mkseq => ni nj ij.
rewrite !nth_mkseq // /follows; apply/andP; split.
  by apply/N.leb_spec0; apply: so.
apply/negP => /and3P [/eqP hh /N.eqb_spec st par]; apply: (mx i j ij nj).
split=> //; split=> //; apply/tree_nodeP; rewrite /in_tree par /=.
have [hj [lej _]] := ok j nj; have ni' : (i < n)%nat := ni.
have [hi [lei _]] := ok i ni'.
have le : start (a i) + pow2 (height (a i)).+1 <= pow2 d.
  by rewrite pow2S; move: lej; rewrite -st -hh /last_end; nlia.
apply/andP; split; last exact/N.leb_spec0.
rewrite ltnNge; apply/negP => dh; have := pow2_mono (leqW dh); have := pow2_gt0 (height (a i)).
by move: le; rewrite pow2S; have := pow2_mono dh; nlia.
Qed.

Lemma inv_node_seed R d a n : inv R d a n ->
  map (@seed _) (mkseq a n) = [seq node_seed R d q.1 q.2 | q <- positions (mkseq a n)].
Proof.
case=> ok _; rewrite /positions -!map_comp; apply/eq_in_map => k.
by rewrite mem_iota => kn /=; case: (ok k kn) => _ [_ [_ ->]].
Qed.

Lemma covered_mkseq (a : array Seed) n x : covered (mkseq a n) x <-> acsl_covered a n x.
Proof.
rewrite /covered /mkseq has_map; split.
  case/hasP => k; rewrite mem_iota => kn /andP [/N.leb_spec0 s1 /N.ltb_spec0 s2].
  by exists k.
case=> k kn [s1 s2]; apply/hasP; exists k; first by rewrite mem_iota.
by apply/andP; split; [apply/N.leb_spec0 | apply/N.ltb_spec0].
Qed.

Lemma covered_ncover h (P : pred N) s k x : in_span s h x -> covered (ncover h P s k) x = ~~ P x.
Proof.
elim: h s k => [|h IH] s k sx.
  have {sx} -> : x = s by move: sx; rewrite /in_span; change (pow2 0) with 1; nlia.
  rewrite /=; case: (P s) => //=; rewrite /covered /= /node_covers /last_end /= orbF.
  by change (pow2 0) with 1; nlia.
case hp: (nhas_leaf h.+1 P s); last first.
  have -> : P x = false by apply/negP => Px; case/negP: (negbT hp); apply/nhas_leafP; exists x.
  by rewrite (@ncover_no_leaf _ _ h.+1) ?hp // /covered /= orbF.
rewrite ncover_has_leafS // /covered has_cat -/(covered _ _) -/(covered _ _).
case: (N.lt_ge_cases x (s + pow2 h)) => c.
  rewrite IH; last by move: sx; rewrite /in_span; nlia.
  rewrite (_ : covered _ x = false) ?orbF //; apply/negbTE; rewrite -all_predC.
  by apply: sub_all (ncover_starts prg h P (s + pow2 h) _) => n; rewrite /= /node_covers; nlia.
rewrite (_ : covered _ x = false); last first.
  apply/negbTE; rewrite -all_predC.
  by apply: sub_all (ncover_ends prg h P s _) => n; rewrite /= /node_covers; nlia.
by rewrite IH //; move: sx; rewrite /in_span pow2S; nlia.
Qed.

Lemma nodes_eq (a b : seq (node Seed)) :
  positions a = positions b -> map (@seed _) a = map (@seed _) b -> a = b.
Proof. by elim: a b => [|[s h k] a IH] [|[t g l] b] //= [-> -> E] [-> /(IH _ E) ->]. Qed.

Lemma root_node_seed R d : node_seed R d 0 d = R.
Proof. by rewrite /Contracts.node_seed subnn. Qed.

Lemma in_tree_root d : in_tree d 0 d.
Proof.
by rewrite /in_tree leqnn andTb; apply/andP; split; [apply/alignedP; exists 0 | nlia].
Qed.

(* An array that meets the invariant is the cover of the leaves that it does not cover. *)
Theorem contract_inv_sound R d a n (P : pred bitseq) : inv R d a n ->
  (forall x, x < pow2 d -> acsl_covered a n x <-> ~~ P (leaf_path d x)) ->
  mkseq a n = map (encode d) (cover (family d) d P [::] R).
Proof.
move=> I C; have pE := canonical_ncover prg R (inv_well_formed I).
have E : mkseq a n = ncover d (fun x => ~~ covered (mkseq a n) x) 0 R.
  apply: nodes_eq => //; rewrite (inv_node_seed I) pE -{3}(root_node_seed R d) ncover_node_seed ?in_tree_root //.
  by rewrite root_node_seed.
rewrite {1}E encode_cover_path; apply: eq_ncover => x; rewrite /in_span => xd.
have {}xd : x < pow2 d by nlia.
apply/negP/idP => [c|Px].
  by apply: contraT => nP; case: c; apply/covered_mkseq/C.
by move/covered_mkseq/(C _ xd); rewrite Px.
Qed.

(* ... and the cover of a set is an array that meets the invariant and covers the rest. *)
Theorem contract_inv_complete R d a n (P : pred bitseq) :
  mkseq a n = map (encode d) (cover (family d) d P [::] R) ->
  inv R d a n /\ (forall x, x < pow2 d -> acsl_covered a n x <-> ~~ P (leaf_path d x)).
Proof.
rewrite encode_cover_path => E; split; last first.
  by move=> x xd; rewrite -covered_mkseq E covered_ncover //; rewrite /in_span; nlia.
have /andP [it fl] : well_formed d (mkseq a n) by rewrite E ncover_well_formed.
have sd k : (k < n)%nat -> seed (a k) = node_seed R d (start (a k)) (height (a k)).
  move=> kn; have := ncover_node_seed R (fun x => P (leaf_path d x)) (in_tree_root d).
  rewrite root_node_seed -E /positions /mkseq -!map_comp => /eq_in_map /(_ k).
  by rewrite mem_iota kn => /(_ isT).
have ok k : (k < n)%nat -> in_tree d (start (a k)) (height (a k)).
  by move=> kn; move: it; rewrite /mkseq all_map => /allP H; apply: (H k); rewrite mem_iota.
have before k l : (k < l)%nat -> (l < n)%nat -> last_end (a k) <= start (a l).
  move=> kl ln; have /(pairwiseP (a 0%nat)) := follows_before fl.
  move/(_ k l); rewrite !inE size_mkseq !nth_mkseq ?(ltn_trans kl ln) // => H.
  by apply/N.leb_spec0/H => //; exact: ltn_trans kl ln.
split; last split.
- move=> k kn; have /and3P [hd _ le] := ok k kn.
  split=> //; split; first exact/N.leb_spec0.
  by split; [apply/tree_nodeP/ok | apply: sd].
- exact: before.
- move=> k l kl ln [hh [st tn]].
  have kn := ltn_trans kl ln; have k1n : (k.+1 < n)%nat by apply: leq_ltn_trans kl ln.
  have lE : l = k.+1.
    apply/eqP; rewrite eqn_leq kl andbT leqNgt; apply/negP => k1l.
    have b1 := before k k.+1 (ltnSn k) k1n; have b2 := before k.+1 l k1l ln.
    by have := last_end_gt (a k.+1); move: b1 b2; rewrite /last_end st; nlia.
  subst l; move/(sortedP (a 0%nat)): fl => /(_ k); rewrite size_mkseq !nth_mkseq // => /(_ k1n).
  case/andP => _ /negP; apply; apply/and3P; split; first by rewrite hh.
    by apply/N.eqb_spec; rewrite st.
  by case/tree_nodeP/and3P: tn.
Qed.

(* ref_punct_range: from the cover of P to the cover of P and the range. *)
Theorem contract_range_sound R d a n a' n' (P : pred bitseq) first last :
  size first = d -> size last = d ->
  mkseq a n = map (encode d) (cover (family d) d P [::] R) ->
  punct_range_post prg_l prg_r R d a n a' n' (leaf_num first) (leaf_num last) ->
  mkseq a' n' = map (encode d)
    (cover (family d) d (predU P (in_region (Range first last))) [::] R).
Proof.
move=> sf sl aE [I erased same]; apply: contract_inv_sound => // x xd.
have covP : acsl_covered a n x <-> ~~ P (leaf_path d x).
  rewrite -covered_mkseq aE encode_cover_path covered_ncover //.
  by rewrite /in_span; nlia.
have inR : in_region (Range first last) (leaf_path d x) <->
           leaf_num first <= x /\ x <= leaf_num last.
  rewrite /= !leaf_le_num ?size_leaf_path // leaf_pathK //; split; nlia.
rewrite [predU _ _ _]/= negb_or; split.
  move=> cx; apply/andP; split.
    apply/covP/same => // /inR; rewrite -/(is_true _) => r.
    by move/inR: r => [r1 r2]; case: (erased x r1 r2).
  by apply/negP => /inR [r1 r2]; case: (erased x r1 r2).
case/andP => nP /negP nR; apply/same; last exact/covP.
by move=> r; apply/nR/inR.
Qed.

(* ref_punct: from the cover of P to the cover of P and x. *)
Theorem contract_punct_sound R d a n a' n' (P : pred bitseq) x : size x = d ->
  mkseq a n = map (encode d) (cover (family d) d P [::] R) ->
  punct_post prg_l prg_r R d a n a' n' (leaf_num x) ->
  mkseq a' n' = map (encode d) (cover (family d) d (predU P (pred1 x)) [::] R).
Proof.
move=> sx aE post; rewrite (contract_range_sound sx sx aE post); congr map.
apply: eq_cover => y sy /=; congr orb; apply/andP/eqP => [[xy yx]|->].
  by apply: leaf_le_anti; rewrite ?sy.
by rewrite leaf_le_refl.
Qed.

(* ref_eval: what meets the contract is what the model evaluates. *)
Lemma node_seed_walk R d s h x : in_tree d s h -> in_span s h x ->
  walk prg s h (node_seed R d s h) x = node_seed R d x 0.
Proof.
elim: h s => [|h IH] s it sx.
  by have -> : x = s by [move: sx; rewrite /in_span; change (pow2 0) with 1; nlia].
have [i0 i1] : in_tree d s h /\ in_tree d (s + pow2 h) h.
  case/and3P: it => hd /alignedP /aligned_half [/alignedP a0 /alignedP a1] le.
  by rewrite /in_tree a0 a1 (ltnW hd) /=; move: le; rewrite pow2S; nlia.
rewrite [walk _ _ _ _ _]/=; case: N.ltb_spec => c.
  by rewrite -[(prg _ _ _).1](node_seed_left R it) IH //; move: sx; rewrite /in_span; nlia.
rewrite -[(prg _ _ _).2](node_seed_right R it) IH //.
by move: sx; rewrite /in_span pow2S; nlia.
Qed.

Theorem contract_eval_sound R d a n (P : pred bitseq) x r : size x = d ->
  mkseq a n = map (encode d) (cover (family d) d P [::] R) ->
  eval_post prg_l prg_r R d a n (leaf_num x) r ->
  r = eval (family d) (cover (family d) d P [::] R) x.
Proof.
move=> sx aE [ok val]; have xd : in_span 0 d (leaf_num x).
  by have := leaf_num_lt x; rewrite sx /in_span; nlia.
have covers_at : acsl_covered a n (leaf_num x) <-> ~~ P x.
  by rewrite -covered_mkseq aE encode_cover_path covered_ncover // -[in leaf_path _ _]sx leaf_numK.
rewrite -[x in RHS]cat0s eval_cover //; case Px: (P x) covers_at => covers_at.
  by case: r ok val => // v ok _; have : acsl_covered a n (leaf_num x) by [apply/ok]; move/covers_at.
case: r ok val => [v|] ok val; last by case: (proj2 ok (proj2 covers_at isT)).
rewrite (val v erefl) /leaf_value -(@node_seed_walk R d 0 d) ?in_tree_root // root_node_seed; congr Some.
have := @walk_descend _ prg d [::] R x; rewrite /first_leaf /= N.mul_0_l sx N.add_0_l; exact.
Qed.

End Sound.

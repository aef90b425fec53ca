(* SPDX-License-Identifier: Apache-2.0 *)
(* The paper's puncturing scenarios (2.1.1) beyond sizes: the key at their landmarks, and the
   effect of one puncture on its size. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Correctness.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Scenarios.

Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Implicit Types (d : nat) (p q x : bitseq) (s : Seed) (P : pred bitseq).
Local Notation cover := (cover G).
Local Notation copath := (copath G).

(* Best case: when the left half is punctured, the key is the root of the right subtree. *)
Theorem left_half_punctured d s :
  puncture_range G (nseq d.+1 false) (false :: nseq d true) (keygen s) =
  [:: ([:: true], child G [::] true s)].
Proof.
have F n : forall p s0, copath_left G p s0 (nseq n false) = [::].
  by elim: n => //= n IH q t; apply: IH.
have T n : forall p s0, copath_right G p s0 (nseq n true) = [::].
  by elim: n => //= n IH q t; apply: IH.
have L n : leaf_le (nseq n false) (nseq n true) by case: n.
rewrite /puncture_range /= L /puncture_range_node /meets /=.
by rewrite F T.
Qed.

(* When all leaves are punctured, in any way, the key is empty. *)
Theorem all_leaves_punctured d s rs : all (region_ok d) rs ->
  (forall x, size x = d -> punctured rs x) -> puncture_regions G rs (keygen s) = [::].
Proof.
move=> ok full; rewrite (puncture_regions_canonical G s ok) -(cover_predT G d [::] s).
exact: eq_cover.
Qed.

(* Worst case: when every second leaf is punctured, the key is the other leaves themselves. *)
Theorem every_second_leaf d s :
  map fst (cover d.+1 (fun x => ~~ last false x) [::] s) = pts d.+1 (last false).
Proof.
have E p t : map fst (cover d.+1 (fun x => ~~ last false x) p t) =
             map (cat p) (pts d.+1 (last false)); last first.
  by rewrite E; elim: (pts _ _) => //= x xs ->.
elim: d p t => [|d IH] p t; first by rewrite /= -cats1.
rewrite cover_has_leafS; last first.
  by apply/has_leafP; exists (nseq d.+2 false); rewrite ?size_nseq //=; elim: (d).
have B b x : size x = d.+1 -> below (fun x => ~~ last false x) b x = ~~ last false x by case: x.
rewrite (@eq_cover _ G _ _ _ _ _ (B false)) (@eq_cover _ G _ _ _ _ _ (B true)).
rewrite map_cat !IH [pts d.+2 _]/=.
have Q b : pts d.+1 (below (last false) b) = pts d.+1 (last false) by [].
rewrite -/(pts d.+1 (below (last false) false)) -/(pts d.+1 (below (last false) true)) !Q.
rewrite map_cat -!map_comp; congr (_ ++ _); apply: eq_map => x /=; exact: cat_rcons.
Qed.

Lemma size_copath_path p s x : size (copath p s x) = size x.
Proof. by elim: x p s => //= b x IH p s; case: b; rewrite /= ?size_cat /= ?addn1 IH. Qed.

(* A puncture below a node of height h removes that node and adds h nodes: the key shrinks by one
   if h = 0, keeps its size if h = 1, and otherwise grows by h - 1. *)
Theorem size_puncture_step d P s x : size x = d -> ~~ P x ->
  exists q, [/\ q \in map fst (cover d P [::] s), prefix q x &
    (size (puncture G x (cover d P [::] s))).+1 = size (cover d P [::] s) + (d - size q)].
Proof.
suff: forall d P p s x, size x = d -> ~~ P x -> exists q,
    [/\ p ++ q \in map fst (cover d P p s), prefix q x &
      (size (puncture G (p ++ x) (cover d P p s))).+1 = size (cover d P p s) + (d - size q)].
  by move=> /(_ d P [::] s x) H sx /(H sx).
move=> {d P s x}; elim=> [|d IH] P p s x sx nPx.
  case: x sx nPx => // _ nP; exists [::].
  rewrite cover_no_leaf // /puncture /= /puncture_node /= !cats0 prefix_refl drop_size inE eqxx.
  by [].
case h: (has_leaf d.+1 P); last first.
  exists [::]; rewrite cover_no_leaf ?h // /puncture /= /puncture_node /= prefix0s !cats0.
  by rewrite prefix_prefix drop_size_cat // size_copath_path sx inE eqxx subn0 add1n.
case: x sx nPx => [//|b x] [sx] nPx; rewrite cover_has_leafS // puncture_cat !size_cat map_cat.
have [q [qK qx E]] := IH (below P b) (rcons p b) (child G p b s) x sx nPx.
exists (b :: q); split; last 1 first.
- rewrite subSS; clear h; case: b E qK nPx => E qK nPx.
    by rewrite (puncture_other G _ _ _ _ true) -cat_rcons -addnS E addnA.
  by rewrite (puncture_other G _ _ _ _ false) -cat_rcons -addSn E addnAC.
- by rewrite mem_cat -cat_rcons; case: (b) qK => ->; rewrite ?orbT.
- by rewrite /= eqxx.
Qed.

End Scenarios.

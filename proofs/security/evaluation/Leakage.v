(* SPDX-License-Identifier: Apache-2.0 *)
(* What a thief gets, as a function of the history: the positions of the nodes are determined by
   the punctured set alone, and each node has its GGM seed. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Leakage.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.

(* Histories that punctured the same leaves, in any order and by any calls, leave the same key,
   and so the same key file. *)
Theorem history_independent s (rs rs' : seq region) :
  all (region_ok d) rs -> all (region_ok d) rs' ->
  (forall x : bitseq, size x = d -> punctured rs x = punctured rs' x) ->
  puncture_regions G rs (keygen s) = puncture_regions G rs' (keygen s).
Proof.
by move=> ok ok' E; rewrite !(puncture_regions_canonical _ _ ok, puncture_regions_canonical _ _ ok');
   apply: eq_cover.
Qed.

Lemma cover_positions m P p (s : Seed) :
  unzip1 (cover G m P p s) = unzip1 (cover no_seed m P p tt).
Proof.
by elim: m P p s => [|m IH] P p s /=; case: ifP => //= _; rewrite /unzip1 !map_cat -!/unzip1 !IH.
Qed.

(* Leakage: without its seeds the key is determined by the history alone; with them, by the
   history and the tree. *)
Theorem key_leaks s (rs : seq region) : all (region_ok d) rs ->
  puncture_regions G rs (keygen s) =
  [seq (q, ggm G s q) | q <- unzip1 (puncture_regions no_seed rs (keygen tt))].
Proof.
move=> ok; rewrite !(puncture_regions_canonical _ _ ok) -(cover_positions _ _ _ s).
exact: cover_ggm.
Qed.

End Leakage.

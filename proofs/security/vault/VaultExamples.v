(* SPDX-License-Identifier: Apache-2.0 *)
(* Vaults at work: pages that are kept and pages that are written anew; and the theorems applied. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Games Oracle EvaluationGame Vault.
From Pprf.proofs Require Import Compat EvaluationExamples VaultSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Notation done := (Done nat_eqType).

(* A root with the pages 1 and 2, of items 10, 11 and 20. Item 11 is erased: page 1 is written anew,
   as page 4 below a new root 3, and page 2 is kept. *)
Definition two_commits : seq (draft nat_eqType) :=
  [:: Write [::] (Write [:: 10; 11] done (Write [:: 20] done done)) done;
      Write [::] (Write [:: 10] done (Keep 2 done)) done].

Example two_commits_disk : disk (vault_after two_commits) =
  [:: (3, ([::], [:: 4; 2])); (4, ([:: 10], [::])); (2, ([:: 20], [::]));
      (0, ([::], [:: 1; 2])); (1, ([:: 10; 11], [::])); (2, ([:: 20], [::]))].
Proof. by []. Qed.

(* Page 1, with item 11, is still on disk and cannot be opened; all else can. *)
Example two_commits_derive :
  [/\ ~ derives (stolen (vault_after two_commits)) (Plain (11 : nat_eqType)),
      derives (stolen (vault_after two_commits)) (Plain (20 : nat_eqType)) &
      ~ derives (stolen (vault_after two_commits)) (Key nat_eqType 1)].
Proof.
have [K I] := vault_derives two_commits.
by split; [move/I | apply/I | move/K].
Qed.

(* ---- A vault of one page, written anew for each erasure ------------------------------------------ *)

Definition one_page (r : region) (v : vault (node_of one_bit)) : draft (node_of one_bit) :=
  Write (puncture_region copy_prg r (items (live v) : key bool) : seq (node_of one_bit)) (Done _) (Done _).

Example one_page_ok : faithful copy_prg 1 one_page.
Proof. by move=> r v _; rewrite /erase /commit /items /= cats0. Qed.

Example vault_cover_ex := @vault_cover _ copy_prg 1 one_page one_page_ok true [:: Leaf [:: true]] isT.

(* The adversary that evaluates a leaf, punctures its sibling and steals wins against the broken
   PRG here too. *)
Example vault_adv_ex : vault_adv false copy_prg one_page compare_values = ev_adv false copy_prg 0 compare_values :=
  @vault_adv_ev _ false copy_prg 1 one_page one_page_ok compare_values.
Example vault_adv_bound_ex eps := @vault_adv_bound _ false copy_prg 1 one_page one_page_ok compare_values eps.

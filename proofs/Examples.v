(* SPDX-License-Identifier: Apache-2.0 *)
(* The definitions on a tree of depth 3, by computation; then every headline theorem applied to
   concrete arguments, so that its hypotheses are visibly satisfiable. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Delegation.
From Pprf.proofs Require Import Correctness Executable Scenarios Sizes RangeDelegation.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- A tree of depth 3 whose seeds are their own paths ------------------------------ *)

Definition label (_ s : bitseq) : bitseq * bitseq := (rcons s false, rcons s true).
Notation o := false (only parsing).
Notation i := true (only parsing).

Definition root : key bitseq := keygen [::].

(* Leaf 011 is reached by left, right, right. *)
Example eval_011 : eval label root [:: o; i; i] = Some [:: o; i; i].
Proof. by []. Qed.

(* Puncturing 011 leaves the three siblings on its path: 00, 010 and 1, in leaf order. *)
Example puncture_011 : puncture label [:: o; i; i] root =
  [:: ([:: o; o], [:: o; o]); ([:: o; i; o], [:: o; i; o]); ([:: i], [:: i])].
Proof. by []. Qed.

(* ... after which 011 has no value and its neighbour keeps its own. *)
Example eval_punctured : let K := puncture label [:: o; i; i] root in
  (eval label K [:: o; i; i], eval label K [:: o; i; o]) = (None, Some [:: o; i; o]).
Proof. by []. Qed.

(* The punctured leaves of this and the next examples: 000, 010, 100, 110. *)
Definition evens : seq bitseq :=
  [:: [:: o; o; o]; [:: o; i; o]; [:: i; o; o]; [:: i; i; o]].

(* Every second leaf punctured: half of the leaves are stored, one node each. *)
Example puncture_evens : map fst (puncture_all label evens root) =
  [:: [:: o; o; i]; [:: o; i; i]; [:: i; o; i]; [:: i; i; i]].
Proof. by []. Qed.

(* Every leaf punctured: the key is empty. *)
Example puncture_everything : puncture_all label (pts 3 predT) root = [::].
Proof. by []. Qed.

(* The nodes that each puncture expands: seven PRG calls for all eight leaves. *)
Example expanded_everything : expanded_all label (pts 3 predT) root =
  [:: [::]; [:: o]; [:: o; o]; [:: o; i]; [:: i]; [:: i; o]; [:: i; i]].
Proof. by []. Qed.

(* A prefix is punctured with all leaves below it, whether they were punctured or not. *)
Example puncture_prefix_01 :
  map fst (puncture_prefix label [:: o; i] (puncture label [:: o; i; i] root)) =
  [:: [:: o; o]; [:: i]].
Proof. by []. Qed.

(* The range 1..5: left siblings of the path to 001, right siblings of the path to 101. *)
Example puncture_range_1_5 : map fst (puncture_range label (bits 3 1) (bits 3 5) root) =
  [:: [:: o; o; o]; [:: i; i]].
Proof. by []. Qed.

(* The same range from a key in which leaf 3 is punctured already. *)
Example puncture_range_after :
  puncture_range label (bits 3 1) (bits 3 5) (puncture label (bits 3 3) root) =
  puncture_range label (bits 3 1) (bits 3 5) root.
Proof. by []. Qed.

(* An empty range changes nothing. *)
Example puncture_range_empty : puncture_range label (bits 3 5) (bits 3 1) root = root.
Proof. by []. Qed.

(* The sub-key of the right half of a punctured key. *)
Example delegate_1 : map fst (delegate label [:: i] (puncture label [:: i; o; i] root)) =
  [:: [:: i; o; o]; [:: i; i]].
Proof. by []. Qed.

(* The sub-key for the leaves 1 to 6 of a key in which leaf 3 is punctured: no leaf outside has a
   value; a range that ends before it begins gives nothing. *)
Example delegate_1_6 :
  map fst (delegate_range label 3 (bits 3 1) (bits 3 6) (puncture label (bits 3 3) root)) =
  [:: bits 3 1; bits 3 2; [:: i; o]; bits 3 6].
Proof. by []. Qed.
Example delegate_all : delegate_range label 3 (bits 3 0) (bits 3 7) root = root. Proof. by []. Qed.
Example delegate_none : delegate_range label 3 (bits 3 6) (bits 3 1) root = [::]. Proof. by []. Qed.

(* Bits and integers. *)
Example val_110 : val [:: i; i; o] = 6. Proof. by []. Qed.
Example bits_6 : bits 3 6 = [:: i; i; o]. Proof. by []. Qed.

(* A family that depends on the position: each seed lists the levels above it, plus 5 on the
   right. *)
Definition tweaked (p : bitseq) (s : seq nat) : seq nat * seq nat :=
  (size p :: s, size p + 5 :: s).
Example eval_tweaked : eval tweaked (keygen [::]) [:: o; i; i] = Some [:: 7; 6; 0].
Proof. by []. Qed.

(* ---- The headline theorems, applied ------------------------------------------------- *)

Notation x011 := [:: o; i; i].
Notation x100 := [:: i; o; o].

Example eval_puncture_all_ex :
  eval label (puncture_all label evens root) x011 = Some x011 :=
  @eval_puncture_all _ label 3 [::] evens x011 erefl erefl.

Example puncture_all_canonical_ex :
  puncture_all label evens root = cover label 3 (mem evens) [::] [::] :=
  @puncture_all_canonical _ label 3 [::] evens erefl.

Example puncture_order_independent_ex :
  puncture_all label [:: x011; x100; x011] root = puncture_all label [:: x100; x011] root.
Proof.
by apply: (@puncture_order_independent _ label 3) => // x; rewrite !inE; do 2!case: eqP.
Qed.

Example puncture_idempotent_ex := @puncture_idempotent _ label root x011.

Example puncture_prefix_canonical_ex :
  puncture_prefix label [:: i] (puncture_prefix label [:: o; i] root) =
  cover label 3 (fun y => has (fun x => prefix x y) [:: [:: o; i]; [:: i]]) [::] [::] :=
  @puncture_prefix_canonical _ label 3 [::] [:: [:: o; i]; [:: i]] erefl.

Example puncture_range_canonical_ex :=
  @puncture_range_canonical _ label 3 [::] [:: (bits 3 1, bits 3 5); (bits 3 4, bits 3 6)] erefl.

Example puncture_regions_canonical_ex :=
  @puncture_regions_canonical _ label 3 [::]
    [:: Leaf x011; Subtree [:: i]; Range (bits 3 1) (bits 3 5)] erefl.

Example eval_puncture_regions_ex :
  eval label (puncture_regions label [:: Leaf x011; Subtree [:: i]] root) (bits 3 2) =
  Some (bits 3 2) :=
  @eval_puncture_regions _ label 3 [::] [:: Leaf x011; Subtree [:: i]] (bits 3 2) erefl erefl.

Example delegate_eval_ex :
  eval label (delegate label [:: o] root) x011 = Some x011 :=
  @delegate_eval _ label root [:: o] x011.

Example delegate_only_subset_ex :=
  @delegate_only_subset _ label 3 (mem evens) [::] [:: i] erefl.

Example delegate_range_cover_ex :=
  @delegate_range_cover _ label 3 (mem evens) [::] (bits 3 1) (bits 3 6) erefl erefl.
Example delegate_range_canonical_ex :=
  @delegate_range_canonical _ label 3 [::] [:: Leaf x011] (bits 3 1) (bits 3 6) erefl erefl erefl.
Example delegate_range_eval_ex :
  eval label (delegate_range label 3 x011 x100 root) x100 = Some x100 :=
  @delegate_range_eval _ label 3 [::] [::] x011 x100 erefl erefl erefl x100 erefl.
Example delegate_range_order_ex :=
  @delegate_range_order _ label 3 [::] [:: Leaf x011] (bits 3 1) (bits 3 6) erefl [:: Subtree [:: i]] erefl.
(* the leaves 1 to 6 of a fresh key: the bound, 4 nodes, is reached *)
Example delegate_range_size_ex : size (delegate_range label 3 (bits 3 1) (bits 3 6) root) <= 0 + 2 * 2 :=
  @delegate_range_size _ label 3 [::] [::] (bits 3 1) (bits 3 6) erefl erefl erefl erefl.
Example delegate_range_reached : size (delegate_range label 3 (bits 3 1) (bits 3 6) root) = 2 * 2. Proof. by []. Qed.

Example no_ancestor_ex : ~~ prefix [:: i; o; i] x100 :=
  @no_ancestor _ label 3 (mem evens) [::] [:: i; o; i] x100 erefl erefl erefl.

Example mem_cover_ex :
  [:: i; o; i] \in map fst (cover label 3 (mem evens) [::] [::]) =
  [&& 3 <= 3, free 3 (mem evens) [:: i; o; i] & false || ~~ free 3 (mem evens) [:: i; o]] :=
  @mem_cover _ label 3 (mem evens) [::] [:: i; o; i].

Example cover_ggm_ex := @cover_ggm _ tweaked 3 (mem evens) [::].

Example leaf_le_val_ex : leaf_le x011 x100 = (3 <= 4) := @leaf_le_val x011 x100 erefl.
Example bits_val_ex : bits 3 3 = x011 := bits_val x011.
Example val_bits_ex : val (bits 3 6) = 6 := @val_bits 3 6 erefl.

Example exec_eval_correct_ex := @exec_eval_correct _ label root x011.
Example exec_puncture_correct_ex := @exec_puncture_correct _ label x011 root.
Example exec_puncture_prefix_correct_ex := @exec_puncture_prefix_correct _ label [:: o] root.
Example exec_puncture_range_correct_ex :=
  @exec_puncture_range_correct _ label x011 x100 root.

Example left_half_punctured_ex :
  puncture_range label (bits 3 0) (bits 3 3) root = [:: ([:: i], [:: i])] :=
  @left_half_punctured _ label 2 [::].

Example all_leaves_punctured_ex :
  puncture_regions label [:: Subtree [:: o]; Range (bits 3 3) (bits 3 7)] root = [::].
Proof. by apply: (@all_leaves_punctured _ label 3) => // -[|[] [|[] [|[] [|? ?]]]]. Qed.

Example every_second_leaf_ex :
  map fst (cover label 3 (fun x => ~~ last false x) [::] [::]) =
  [:: bits 3 1; bits 3 3; bits 3 5; bits 3 7] :=
  @every_second_leaf _ label 2 [::].

Example size_puncture_step_ex :=
  @size_puncture_step _ label 3 (mem evens) [::] (bits 3 1) erefl erefl.

(* ---- Sizes -------------------------------------------------------------------------- *)

Example all_leaves x : size x = 3 -> x \in pts 3 predT.
Proof. by move=> sx; rewrite mem_pts sx. Qed.

Example size_cover_half_ex := @size_cover_half _ label 3 (mem evens) [::] [::] erefl.
Example size_cover_odds_ex : size (cover label 3 (last false) [::] [::]) = 4 :=
  @size_cover_odds _ label 2 [::] [::].
Example size_puncture_one_ex : size (puncture label x011 root) = 3 :=
  @size_puncture_one _ label 3 [::] x011 erefl.
Example peak_at_least_depth_ex :=
  @peak_at_least_depth _ label 3 [::] (pts 3 predT) erefl all_leaves.
Example ascending_peak_ex : size (puncture_all label (take 5 (pts 3 predT)) root) <= 3 :=
  @ascending_peak _ label 3 [::] 5 erefl.
Example size_cover_log_ex : size (cover label 3 (mem evens) [::] [::]) <= 4 * (3 - 2) :=
  @size_cover_log _ label 3 (mem evens) [::] [::] erefl erefl.
Example size_cover_exact_max_ex :
  (forall P, card 3 P = 3 -> size (cover label 3 P [::] [::]) <= 4) /\
  (exists2 P, card 3 P = 3 & size (cover label 3 P [::] [::]) = 4) :=
  @size_cover_exact_max _ label 3 3 [::] erefl.
Example cover_minimal_ex : size (cover label 3 (pred1 x011) [::] [::]) <= 4.
Proof.
apply: (@cover_minimal _ label 3 _ _ _ [:: [:: o; o]; bits 3 2; [:: i; o]; [:: i; i]]).
by case=> [|[] [|[] [|[] [|? ?]]]].
Qed.
Example expansions_once_ex := @expansions_once _ label 3 [::] evens erefl.
Example expansions_mem_ex : ([:: i] \in expanded_all label evens root) = true :=
  @expansions_mem _ label 3 [::] evens [:: i] erefl.
Example expansions_puncture_ex := @expansions_puncture _ label 3 [::] evens x011 erefl erefl.
Example expansions_bound_ex : size (expanded_all label evens root) <= 7 :=
  @expansions_bound _ label 3 [::] evens erefl.
Example expansions_total_ex : size (expanded_all label (pts 3 predT) root) = 7 :=
  @expansions_total _ label 3 [::] (pts 3 predT) erefl all_leaves.

(* ---- Layout ------------------------------------------------------------------------- *)

From Coq Require Import NArith.
From Pprf.spec Require Import CModel.
From Pprf.proofs Require Import Layout.
Local Open Scope N_scope.

(* Leaf 3 punctured at depth 3: nodes (0, 1), (2, 0), (4, 2). *)
Definition punctured_3 : seq (node N) := [:: Node 0 1 10; Node 2 0 12; Node 4 2 14].
Definition by_place (s : N) (h : nat) (k : N) : N * N := (k + 1, k + 2).

Example canonical_of_invariants_ex :=
  @canonical_of_invariants _ by_place 3 punctured_3 0 erefl.
Example cover_well_formed_ex := @cover_well_formed _ by_place 3 (mem evens) 0.
Example encode_inj_ex := @encode_inj 3 [:: o] [:: o; o] erefl erefl.
Example encode_sorted_ex := @encode_sorted _ punctured_3 erefl.
Example pair_slot_injective_ex := @pair_slot_injective _ label 3 (mem evens) [::].
Example slot_overwritten_ex :=
  @slot_overwritten _ label 3 root x011 [::] erefl erefl erefl erefl.

(* Leaves 0, 3 and 6 punctured: 5 = 101 differs from 3 = 011 in bit 2 and from 6 = 110 in bit 1,
   so that leaf 5 is covered by a node of height 1, that of the leaves 4 and 5. *)
Example height_example : node_height 3 (fun y => (y mod 3) == 0) 5 = 1%nat.
Proof. by []. Qed.
Example height_from_neighbours_ex :
  node_height 3 (fun x => leaf_path 3 x \in evens) 5 = 0%nat :=
  @height_from_neighbours _ label 3 (mem evens) [::] [:: i; o; i] [:: i; o; i] erefl erefl erefl.

(* ---- The key file ------------------------------------------------------------------- *)

From Pprf.spec Require Import Codec.
From Pprf.proofs Require Import CodecProofs.

Definition zeros32 (_ : seq byte) : 32.-tuple byte := [tuple of nseq 32 Byte.x00].
Definition zeros16 : seed_block := [tuple of nseq 16 Byte.x00].
Definition no_prg (_ : N) (_ : nat) (s : seed_block) : seed_block * seed_block := (s, s).

(* A fresh key of depth 3: one record of 1 + 16 bytes, whose id is 8. *)
Definition fresh : key_file := KeyFile 3 [:: Node 0 3 zeros16].

Example fresh_canonical : canonical_key no_prg fresh.
Proof. by split=> //; exists pred0, zeros16. Qed.

Example size_encode_key_ex : size (encode_key zeros32 fresh) = 65%nat :=
  @size_encode_key zeros32 fresh.
Example decode_encode_ex : decode_key zeros32 (encode_key zeros32 fresh) = Some fresh :=
  @decode_encode zeros32 no_prg fresh fresh_canonical.
Example decode_canonical_ex :=
  @decode_canonical zeros32 no_prg (encode_key zeros32 fresh) fresh decode_encode_ex.
Example decode_encode_cover_ex :=
  @decode_encode_cover zeros32 no_prg 3 (mem evens) zeros16 erefl.
Example decode_inj_ex := fun bs (E : decode_key zeros32 bs = Some fresh) =>
  @decode_inj zeros32 no_prg _ _ _ E decode_encode_ex.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What it means that a store of opt in C's memory holds a key of the model: definitions only.

   AcslApi.v, which these definitions speak of, is written by proofs/tools/acsl_api.py from the ACSL of
   opt/: its record `api' has the recursive functions, the ghost variables, and where pointers lead. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslOpt AcslApi AcslKey.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section AcslStore.

Variable V : api.
Local Open Scope Z_scope.

(* The members of a struct opt_slots at s that the model knows: the tree's depth, the number of seeds,
   and pair j of leaves' slot. *)
Definition store_depth (L : memory) (s : pointer) : Z := cell L s.
Definition store_nodes (L : memory) (s : pointer) : Z := cell L (shift 1 s 9).
Definition store_slot (L : memory) (s : pointer) (j : Z) : pointer :=
  shift pprf_seed_cells (points V (cell L (shift 1 s 10))) j.

(* The pair of leaves that a node starts with. *)
Definition pair_of (d : nat) (q : bitseq) : Z := Z.of_N (first_leaf d q / 2)%num.

(* The pair slots at s hold the model's key of depth d with the root's seed R, once the leaves of P are
   punctured: its bitmap is P, each seed of the key is in its slot, all other slots are zero. *)
Record store_holds (L : memory) (s : pointer) (d : nat) (P : pred bitseq) (R : pprf_seed) : Prop :=
  StoreHolds {
  holds_depth : store_depth L s = Z.of_nat d;
  holds_memory : opened V L s;
  holds_set : forall x, (x < CModel.pow2 d)%num -> is_punctured V L s (Z.of_N x) <-> P (leaf_path d x);
  holds_seeds : forall n, List.In n (punctured_key V d P R) ->
    seed_value V (pprf_seed_at L (store_slot L s (pair_of d n.1))) = n.2;
  holds_no_more : forall j, 0 <= j < Z.of_N (CModel.pow2 d.-1) ->
    ~ List.In j (map (fun n => pair_of d n.1) (punctured_key V d P R)) ->
    forall q, span pprf_seed_cells (store_slot L s j) 0 0 q -> cell L q = 0;
  holds_count : store_nodes L s = Z.of_nat (size (punctured_key V d P R))
}.

(* A struct pprf_key: the process that made it, its suite and salt, the pair slots, and where a packed store is.
   NULL there says that the store is the pair slots. *)
Definition key_cells : Z := 21.
Definition in_slots (L : memory) (key : pointer) : Prop := points V (cell L (shift 1 (shift 1 key 4) 16)) = null V.
Definition family_of (L : memory) (key : pointer) : pprf_family := pprf_family_at L (shift 1 key 1).
Definition store_of (key : pointer) : pointer := shift 1 key 4.

(* Cells that are no part of the store. *)
Definition outside_store (L : memory) (s : pointer) (r : AcslMemory.region) : Prop :=
  separated [:: r; span 16 s 0 0] /\
  separated [:: r; span 2 (points V (cell L (shift 1 s 10))) 0 (AcslRef.pow2 V (cell L s - 1) - 1)] /\
  separated [:: r; span 1 (points V (cell L (shift 1 s 2))) 0 (words V (cell L s) 0 - 1)] /\
  forall k, 1 <= k /\ k <= 5 ->
    separated [:: r; span 2 (points V (cell L (shift 1 (shift 1 s 3) k))) 0 (words V (cell L s) k - 1)].

(* The cells of a store that a puncture may write: the number of seeds, the slots, the bitmap's words. *)
Definition store_memory (L : memory) (s : pointer) : list AcslMemory.region :=
  let d := cell L s in
  let summary k := span 2 (points V (cell L (shift 1 (shift 1 s 3) k))) 0 (words V d k - 1) in
  [:: span 1 (shift 1 s 9) 0 0;
      span 2 (points V (cell L (shift 1 s 10))) 0 (AcslRef.pow2 V (d - 1) - 1);
      span 1 (points V (cell L (shift 1 s 2))) 0 (words V d 0 - 1);
      summary 1; summary 2; summary 3; summary 4; summary 5].

(* The cells of a key that a puncture may write: those, or a packed store's and the arena's. *)
Definition key_memory (L : memory) (key : pointer) : list AcslMemory.region :=
  let s := store_of key in let d := cell L s in
  let slots n := (if pointer_eqb (points V (cell L (shift 1 s 16))) (null V) then n else 0) - 1 in
  let packed n := (if pointer_eqb (points V (cell L (shift 1 s 16))) (null V) then 0 else n) - 1 in
  let summary k := span 2 (points V (cell L (shift 1 (shift 1 s 3) k))) 0 (slots (words V d k)) in
  [:: span 1 (shift 1 s 9) 0 0;
      span 2 (points V (cell L (shift 1 s 10))) 0 (slots (AcslRef.pow2 V (d - 1)));
      span 1 (points V (cell L (shift 1 s 2))) 0 (slots (words V d 0));
      summary 1; summary 2; summary 3; summary 4; summary 5;
      span 11 (points V (cell L (shift 1 s 16))) 0 (packed 1);
      span 4612 (opt_pages V) 0 (packed OPT_PAGES_MAX);
      span 1 (opt_firsts V) 0 (packed OPT_INDEX_MAX);
      span 1 (opt_lists V) 0 (packed OPT_INDEX_MAX)].

(* The slots and the bitmap are no part of the key that has them. *)
Definition key_apart (L : memory) (key : pointer) : Prop :=
  let s := store_of key in
  separated [:: span key_cells key 0 0; span 2 (points V (cell L (shift 1 s 10))) 0 (AcslRef.pow2 V (cell L s - 1) - 1)] /\
  separated [:: span key_cells key 0 0; span 1 (points V (cell L (shift 1 s 2))) 0 (words V (cell L s) 0 - 1)] /\
  forall k, 1 <= k /\ k <= 5 ->
    separated [:: span key_cells key 0 0;
                  span 2 (points V (cell L (shift 1 (shift 1 s 3) k))) 0 (words V (cell L s) k - 1)].

(* A key with pair slots: in memory that may be written, whose suite and salt are those of the tree's PRG. *)
Definition slots_key_at (L : memory) (key : pointer) (d : nat) (P : pred bitseq) : Prop :=
  [/\ writable L (span key_cells key 0 0), in_slots L key, key_apart L key, tree_family V (family_of L key) &
      store_holds L (store_of key) d P (key_root V)].

(* NULL, a copy that fork made, or a key with pair slots. *)
Definition usable (L : memory) (key : pointer) : Prop :=
  key = null V \/ (writable L (span key_cells key 0 0) /\ copied V L key) \/ exists d P, slots_key_at L key d P.

(* A key of this process. *)
Definition own_key (L : memory) (key : pointer) (d : nat) (P : pred bitseq) : Prop :=
  [/\ key <> null V, ~ copied V L key & slots_key_at L key d P].

Definition value_cells (out : pointer) : AcslMemory.region := span 1 out 0 15.

(* 16 bytes that may be written and are no part of the key. *)
Definition apart_value (L : memory) (key out : pointer) : Prop :=
  [/\ out <> null V, writable L (value_cells out), c_uint8_t (cell L out),
      separated [:: value_cells out; span key_cells key 0 0] & outside_store L (store_of key) (value_cells out)].

(* The bytes hold this value; they are zero. *)
Definition value_is (L : memory) (out : pointer) (v : seed_t V) : Prop :=
  exists lo hi, seed_bytes V L out lo hi /\ seed_from_words V lo hi = v.
Definition value_zero (L : memory) (out : pointer) : Prop :=
  forall q, value_cells out q -> cell L q = 0.

End AcslStore.

(* ---- The recursive functions, computed --------------------------------------------------- *)

Section Computed.

Variables (T : logic) (punctured : memory -> pointer -> Z -> Prop).
Local Open Scope Z_scope.

Fixpoint shift_right_to (h : nat) (x : Z) : Z := if h is h'.+1 then Z.quot (shift_right_to h' x) 2 else x.

(* A tree, and any set of punctured leaves. *)
Definition laid_out : AcslOpt.layout :=
  {| layout_tree := T; shift_right := fun x h => shift_right_to (Z.to_nat h) x; is_punctured := punctured |}.

End Computed.

Section ComputedApi.

Variables (T : logic) (root : pprf_seed) (process : Z) (leads : Z -> pointer) (nowhere : pointer).
Local Open Scope Z_scope.

(* The tree and the pointers alone: what says which leaves are punctured needs no more.  No store is a packed one. *)
Definition bare_api : api :=
  api_intro (laid_out (defined T) (fun _ _ _ => False)) (fun _ _ _ => False) (fun _ _ _ => False)
    (fun _ _ _ _ _ _ => false) (fun _ _ _ _ _ _ => 0) (fun _ _ => False) (fun _ _ => False)
    root nowhere nowhere nowhere process leads nowhere.

Fixpoint whole_to (L : memory) (b : pointer) (lo hi s : Z) (h : nat) : bool :=
  if h is h'.+1 then
    if whole_to L b lo hi s h' then whole_to L b lo hi (s + AcslRef.pow2 bare_api (Z.of_nat h')) h' else false
  else if is_punctured_b bare_api L b s then false else if s <? lo then true else s >=? hi.

Fixpoint size_to (L : memory) (b : pointer) (lo hi s : Z) (h : nat) : Z :=
  if whole_to L b lo hi s h then 1 else
  if h is h'.+1 then
    size_to L b lo hi s h' + size_to L b lo hi (s + AcslRef.pow2 bare_api (Z.of_nat h')) h'
  else 0.

Definition api_of : api :=
  api_intro (laid_out (defined T) (fun L b x =>
      (0 <= x /\ x < AcslRef.pow2 bare_api (cell L b)) /\ in_full_block bare_api L b 0 x))
    (fun _ _ _ => False) (fun _ _ _ => False) (fun L b lo hi s h => whole_to L b lo hi s (Z.to_nat h))
    (fun L b lo hi s h => size_to L b lo hi s (Z.to_nat h)) (fun _ _ => False) (fun _ _ => False)
    root nowhere nowhere nowhere process leads nowhere.

End ComputedApi.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What the places of seeds in a packed store hold, computed from the store's other cells and from the model's key:
   definitions only.

   The tiles of all pages cut the leaves into aligned subtrees; a live tile's seed lies in its page.  A live tile need
   not be a node of the model's key, but it is one or lies below one, and so the key's evaluation gives its seed. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslOpt AcslApi AcslPacked AcslKey AcslStore.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(* The path to node (s, h) of the tree of depth d. *)
Definition node_path (d : nat) (s h : Z) : bitseq :=
  leaf_path (d - Z.to_nat h) (Z.to_N s / CModel.pow2 (Z.to_nat h)).

(* The first number below n that a test accepts. *)
Definition first_of (n : Z) (p : Z -> bool) : option Z :=
  if [seq k <- iota 0 (Z.to_nat n) | p (Z.of_nat k)] is k :: _ then Some (Z.of_nat k) else None.

Section PackedKey.

Variable V : paged.

(* The members of a struct opt_packed at p: how many pages there are; of page i the block, and its first leaf. *)
Definition packed_pages (L : memory) (p : pointer) : Z := cell L (shift 1 p 4).
Definition packed_page (L : memory) (p : pointer) (i : Z) : pointer :=
  points V (cell L (shift 1 (points V (cell L (shift 1 p 8))) i)).
Definition packed_first (L : memory) (p : pointer) (i : Z) : Z :=
  cell L (shift 1 (points V (cell L (shift 1 p 7))) i).

(* Of page i: how many tiles there are, the byte of tile k and its first leaf; whether it is live and covers a leaf. *)
Definition page_tiles (L : memory) (p : pointer) (i : Z) : Z := cell L (shift 1 (packed_page L p i) 1).
Definition byte_at (L : memory) (p : pointer) (i k : Z) : Z := tile_byte V L (page_row V L (packed_page L p i)) k.
Definition start_at (L : memory) (p : pointer) (i k : Z) : Z :=
  tile_start V L (page_row V L (packed_page L p i)) (packed_first L p i) k.
Definition live_at (L : memory) (p : pointer) (x i k : Z) : Prop :=
  [/\ 0 <= i < packed_pages L p, 0 <= k < page_tiles L p i, 64 <= byte_at L p i k &
      covers V (start_at L p i k) (tile_height V (byte_at L p i k)) x].

(* Place j of page i, 0 being the last; its tile, if it has one; the seed that the key K gives that tile. *)
Definition place_at (L : memory) (p : pointer) (i j : Z) : pointer :=
  shift pprf_seed_cells (page_top V L (packed_page L p i)) (- 1 - j).
Definition tile_of_place (L : memory) (p : pointer) (i j : Z) : option Z :=
  first_of (page_tiles L p i) (fun k =>
    (64 <=? byte_at L p i k) && (seeds_before V L (page_row V L (packed_page L p i)) k =? j)).
Definition seed_of_place (L : memory) (p : pointer) (d : nat) (K : Ggm.key (seed_t V)) (i j : Z) : option (seed_t V) :=
  if tile_of_place L p i j is Some k then
    eval (@acsl_family V d) K (node_path d (start_at L p i k) (tile_height V (byte_at L p i k)))
  else None.

End PackedKey.

(* ---- The recursive functions, computed --------------------------------------------------- *)

Section Computed.

Variables (T : logic) (root : pprf_seed) (process : Z) (leads : Z -> pointer) (nowhere pages firsts lists : pointer).

Fixpoint tile_start_to (L : memory) (tile : pointer) (first : Z) (n : nat) : Z :=
  if n is n'.+1 then
    let b := cell L (shift 1 tile (Z.of_nat n')) in
    tile_start_to L tile first n' + pow2_to (if b <? 64 then b else b - 64)
  else first.
Fixpoint seeds_before_to (L : memory) (tile : pointer) (n : nat) : Z :=
  if n is n'.+1 then
    seeds_before_to L tile n' + (if cell L (shift 1 tile (Z.of_nat n')) <? 64 then 0 else 1)
  else 0.
Fixpoint seeds_in_pages_to (L : memory) (p : pointer) (n : nat) : Z :=
  if n is n'.+1 then
    seeds_in_pages_to L p n' +
    cell L (shift 1 (leads (cell L (shift 1 (leads (cell L (shift 1 p 8))) (Z.of_nat n')))) 2)
  else 0.

(* The tree and the pointers; what stores hold is given. *)
Definition with_stores (gone : memory -> pointer -> Z -> Prop) (key : memory -> seed_t (defined T) -> pointer -> Prop)
    (apart beside : pointer -> pointer -> Prop) : paged :=
  paged_intro (api_intro (laid_out (defined T) (fun _ _ _ => False)) gone key
      (fun _ _ _ _ _ _ => false) (fun _ _ _ _ _ _ => 0) apart beside root firsts lists pages process leads nowhere)
    (fun L tile first n => tile_start_to L tile first (Z.to_nat n)) (fun L tile n => seeds_before_to L tile (Z.to_nat n))
    (fun L p n => seeds_in_pages_to L p (Z.to_nat n)).

(* What packed stores hold, as the ACSL has it; no store has pair slots. *)
Definition packed_of : paged :=
  let V := with_stores (fun _ _ _ => False) (fun _ _ _ => False) (fun _ _ => False) (fun _ _ => False) in
  with_stores (fun L p x => exists i : Z, (0 <= i /\ i < cell L (shift 1 p 4)) /\ page_punctured V L p i x)
    (fun L R p => packed_holds V L R p /\ packed_owns V L p /\ packed_counted V L p /\ packed_sized V L p /\
       index_memory V L p)
    (fun p out => separated [:: span 11 p 0 0; span 1 out 0 15] /\
       separated [:: span 4612 pages 0 (OPT_PAGES_MAX - 1); span 1 out 0 15] /\
       separated [:: span 1 firsts 0 (OPT_INDEX_MAX - 1); span 1 out 0 15] /\
       separated [:: span 1 lists 0 (OPT_INDEX_MAX - 1); span 1 out 0 15])
    (fun key p => separated [:: span 21 key 0 0; span 11 p 0 0] /\
       separated [:: span 21 key 0 0; span 4612 pages 0 (OPT_PAGES_MAX - 1)] /\
       separated [:: span 21 key 0 0; span 1 firsts 0 (OPT_INDEX_MAX - 1)] /\
       separated [:: span 21 key 0 0; span 1 lists 0 (OPT_INDEX_MAX - 1)]).

End Computed.

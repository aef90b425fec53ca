(* SPDX-License-Identifier: Apache-2.0 *)
(* Delegation of a range of leaves: definitions only. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* The leaves of the tree of depth d before first and those after last: at most two ranges. *)
Definition outside (d : nat) (first last : bitseq) : seq region :=
  (if val first is n.+1 then [:: Range (bits d 0) (bits d n)] else [::]) ++
  (if (val last).+1 < 2 ^ d then [:: Range (bits d (val last).+1) (bits d (2 ^ d).-1)] else [::]).

(* The sub-key for the leaves from first to last: the key, punctured at all others. *)
Definition delegate_range (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) (d : nat)
  (first last : bitseq) (K : key Seed) : key Seed :=
  puncture_regions G (outside d first last) K.

(* All leaves below the node q are in the range. *)
Definition in_range (d : nat) (first last q : bitseq) : bool :=
  free d (predC (in_region (Range first last))) q.

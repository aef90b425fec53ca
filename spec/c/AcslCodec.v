(* SPDX-License-Identifier: Apache-2.0 *)
(* What it means that C's memory holds a key file of the model: definitions only. *)
From Coq Require Import NArith ZArith.
From Coq Require Strings.Byte.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import CModel Codec.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* The cells from p on hold these bytes. *)
Definition holds_bytes (L : memory) (p : pointer) (bs : seq byte) : Prop :=
  forall k b, List.nth_error bs k = Some b ->
    cell L (shift 1 p (Z.of_nat k)) = Z.of_N (Byte.to_N b).

(* The contracts' digest is the model's. *)
Definition digest_is (V : logic) (sha3 : seq byte -> 32.-tuple byte) : Prop :=
  forall L p bs, holds_bytes L p bs -> forall k b, List.nth_error (sha3 bs) k = Some b ->
    digest V (message_of V L p (Z.of_nat (size bs))) (Z.of_nat k) = Z.of_N (Byte.to_N b).

(* The structure c is the node m of a key file: a seed is two words, little-endian. *)
Definition file_node_is (c : ref_node) (m : node seed_block) : Prop :=
  [/\ ref_node_start c = Z.of_N (start m), ref_node_height c = Z.of_nat (height m) &
      exists lo hi, [/\ pprf_seed_lo (ref_node_seed c) = Z.of_N lo,
                        pprf_seed_hi (ref_node_seed c) = Z.of_N hi &
                        tval (seed m) = put_le 8 lo ++ put_le 8 hi]].

(* The array at a holds these nodes. *)
Definition holds_nodes (L : memory) (a : pointer) (K : seq (node seed_block)) : Prop :=
  forall k m, List.nth_error K k = Some m ->
    file_node_is (ref_node_at L (shift ref_node_cells a (Z.of_nat k))) m.

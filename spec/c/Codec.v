(* SPDX-License-Identifier: Apache-2.0 *)
(* The key file: definitions only.

   16 bytes of header, the nodes in leaf order, 32 bytes of digest over all that. The decoder
   is the C decoder's: it checks the header, the length, the digest, and for each node its
   in-order id and that it may follow the node before it. *)
From Coq Require Import NArith.
From Coq Require Strings.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.

Definition byte : Type := Byte.byte.
Definition same_bytes : seq byte -> seq byte -> bool := all2 Byte.eqb.

(* ---- Little-endian integers --------------------------------------------------------- *)

Definition byte_of (v : N) : byte := odflt Byte.x00 (Byte.of_N (v mod 256)).

Fixpoint put_le (w : nat) (v : N) : seq byte :=
  if w is w'.+1 then byte_of v :: put_le w' (v / 256) else [::].

Fixpoint get_le (bs : seq byte) : N :=
  if bs is b :: bs' then Byte.to_N b + 256 * get_le bs' else 0.

(* ---- The file ----------------------------------------------------------------------- *)

Definition seed_block : Type := 16.-tuple byte.

Record key_file := KeyFile { depth : nat; nodes : seq (node seed_block) }.

(* "PPRFKEY", format version 1, PRG 1, the depth, two zeros *)
Definition header (d : nat) : seq byte :=
  [:: Byte.x50; Byte.x50; Byte.x52; Byte.x46; Byte.x4b; Byte.x45; Byte.x59;
      Byte.x01; Byte.x01; byte_of (N.of_nat d); Byte.x00; Byte.x00].

Definition id_bytes (d : nat) : nat := (d %/ 8).+1.
Definition record_bytes (d : nat) : nat := (id_bytes d + 16)%nat.

Definition put_record (d : nat) (n : node seed_block) : seq byte :=
  put_le (id_bytes d) (node_id (start n) (height n)) ++ seed n.

(* The node of the tree of depth d with this in-order id: its height is the number of zero
   bits that the id ends with. *)
Definition node_of_id (d : nat) (id : N) : option (N * nat) :=
  if (id =? 0) || (pow2 d.+1 <=? id) then None
  else let h := id_height d id in Some (id_start id h, h).

(* The n next records; prev is the node before them. *)
Fixpoint get_nodes (d n : nat) (prev : option (node seed_block)) (bs : seq byte) :
    option (seq (node seed_block)) :=
  if n is n'.+1 then
    match node_of_id d (get_le (take (id_bytes d) bs)),
          insub (take 16 (drop (id_bytes d) bs)) with
    | Some (s, h), Some k =>
      let m := Node s h k in
      if (if prev is Some p then follows p m else true)
      then omap (cons m) (get_nodes d n' (Some m) (drop (record_bytes d) bs)) else None
    | _, _ => None
    end
  else Some [::].

Section Codec.

Variable digest : seq byte -> 32.-tuple byte.  (* SHA3-256 *)

Definition encode_body (k : key_file) : seq byte :=
  header (depth k) ++ put_le 4 (N.of_nat (size (nodes k))) ++
  flatten (map (put_record (depth k)) (nodes k)).

Definition encode_key (k : key_file) : seq byte :=
  encode_body k ++ digest (encode_body k).

Definition decode_key (bs : seq byte) : option key_file :=
  let d := N.to_nat (Byte.to_N (nth Byte.x00 bs 9)) in
  let n := get_le (take 4 (drop 12 bs)) in
  let len := (16 + N.to_nat n * record_bytes d)%nat in
  if [&& (48 <= size bs)%nat, (0 < d <= 32)%nat, same_bytes (take 12 bs) (header d),
         n <=? pow2 d.-1, size bs == (len + 32)%nat &
         same_bytes (drop len bs) (digest (take len bs))]
  then omap (KeyFile d) (get_nodes d (N.to_nat n) None (drop 16 (take len bs)))
  else None.

End Codec.

(* A key whose nodes lie where the cover of some set of leaves puts them (where that is does not
   depend on the PRG or on the root seed). *)
Definition canonical_key (prg : N -> nat -> seed_block -> seed_block * seed_block)
    (k : key_file) : Prop :=
  (0 < depth k <= 32)%nat /\
  exists (P : pred bitseq) s, positions (nodes k) =
    positions (map (encode (depth k)) (cover (family prg (depth k)) (depth k) P [::] s)).

(* SPDX-License-Identifier: Apache-2.0 *)
(* C's memory as ACSL's contracts read it: definitions only.

   A pointer is a block and a cell in it; a cell holds one scalar, so that a structure takes as many
   cells as it has scalars, and p + k lies k structures further. A state (an ACSL label) is what
   every cell holds, and which may be read and written. *)
From Coq Require Import ZArith List.
Import ListNotations.
Local Open Scope Z_scope.

Definition pointer : Type := Z * Z.
Definition region : Type := pointer -> Prop.

Record memory : Type := Memory {
  cell : pointer -> Z;
  may_read : region;
  may_write : region
}.

Definition pointer_eqb (p q : pointer) : bool := (fst p =? fst q) && (snd p =? snd q).

(* p + k, for a type of so many cells *)
Definition shift (size : Z) (p : pointer) (k : Z) : pointer := (fst p, snd p + size * k).

(* p + (lo .. hi): the cells of the elements lo to hi *)
Definition span (size : Z) (p : pointer) (lo hi : Z) : region :=
  fun q => fst q = fst p /\ snd p + size * lo <= snd q < snd p + size * (hi + 1).

(* \valid_read, \valid *)
Definition readable (L : memory) (r : region) : Prop := forall q, r q -> may_read L q.
Definition writable (L : memory) (r : region) : Prop := forall q, r q -> may_write L q.

(* \separated *)
Fixpoint separated (rs : list region) : Prop :=
  match rs with
  | [] => True
  | r :: rs' => (forall r', In r' rs' -> forall q, r q -> r' q -> False) /\ separated rs'
  end.

(* assigns: what lies outside keeps its value *)
Definition unchanged (L1 L2 : memory) (rs : list region) : Prop :=
  forall q, (forall r, In r rs -> ~ r q) -> cell L2 q = cell L1 q.

(* reads: the same cells give the same result *)
Definition agree_on (L1 L2 : memory) (r : region) : Prop :=
  forall q, r q -> cell L1 q = cell L2 q.

(* What the types of C say *)
Definition c_unsigned (v : Z) : Prop := 0 <= v < 2 ^ 32.
Definition c_int (v : Z) : Prop := - 2 ^ 31 <= v < 2 ^ 31.
Definition c_size_t (v : Z) : Prop := 0 <= v < 2 ^ 64.
Definition c_uint64_t (v : Z) : Prop := 0 <= v < 2 ^ 64.
Definition c_uint32_t (v : Z) : Prop := 0 <= v < 2 ^ 32.
Definition c_uint16_t (v : Z) : Prop := 0 <= v < 2 ^ 16.
Definition c_uint8_t (v : Z) : Prop := 0 <= v < 256.

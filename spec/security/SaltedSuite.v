(* SPDX-License-Identifier: Apache-2.0 *)
(* The suite sha3-256-salted (docs/suites.md): the two halves of SHA3-256, as FIPS 202 defines it
   (Fips202.v), of a seed's 128 bits, the key's 128 bits of salt and the in-order id of the node;
   and the same with what a C function computes, by its translation (KeccakCode.v). Definitions
   only.

   Bit i of an id is the bit of weight 2^i: its 8 bytes are little-endian, like a seed's words. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import AcslMemory AcslRef LaneCode KeccakCode.
From Pprf.spec Require Import Ggm CModel Probability Reductions EvaluationGame Fips202 RefGame Sha3Suite.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* The in-order id of the node with this start and height. *)
Definition id_at (start height : Z) : Z := (2 * start + 2 ^ height)%Z.

Section Salted.
Variable salt : sha3_seed.                          (* the key's 16 bytes, public *)

Definition node_message (s : sha3_seed) (id : Z) : seq bool :=
  tval s ++ tval salt ++ mkseq (fun i => Z.testbit id (Z.of_nat i)) 64.

(* The first half of the digest, and the second. *)
Definition salted_left (s : sha3_seed) (id : Z) : sha3_seed :=
  [tuple of mkseq (nth false (sha3_256_bits (node_message s id))) 128].
Definition salted_right (s : sha3_seed) (id : Z) : sha3_seed :=
  [tuple of mkseq (fun i => nth false (sha3_256_bits (node_message s id)) (128 + i)) 128].

(* In the model's form: the PRG at node p of the tree of depth d. *)
Definition salted_prg (d : nat) (p : bitseq) (s : sha3_seed) : sha3_seed * sha3_seed :=
  let id := Z.of_N (node_id (first_leaf d p) (d - size p)) in (salted_left s id, salted_right s id).

(* Seeds of two words as in sha3_suite, the suite's number and the salt, and any two functions of
   a seed and its node's id for the children's seeds. *)
Definition node_suite (left right : sha3_seed -> Z -> sha3_seed) : suite :=
  @Suite _ zero128 seed_of_words (fun s => number (take 64 s)) (fun s => number (drop 64 s))
    (pprf_family_intro 2 (number (take 64 salt)) (number (drop 64 salt)))
    (fun s start height => left s (id_at start height)) (fun s start height => right s (id_at start height)).

Definition salted_suite : suite := node_suite salted_left salted_right.

(* A child's seed: the two words that the function p returns for it, given the words of the seed
   and of the salt, and the id. *)
Definition salted_child (p : program) (right : bool) (s : sha3_seed) (id : Z) : sha3_seed :=
  if LaneCode.run iota_words p [:: Z.to_N (number (take 64 s)); Z.to_N (number (drop 64 s));
                                   Z.to_N (number (take 64 salt)); Z.to_N (number (drop 64 salt)); Z.to_N id]
    is Some [:: l0; l1; r0; r1; 0%num] then
    if right then seed_of_words (Z.of_N r0) (Z.of_N r1) else seed_of_words (Z.of_N l0) (Z.of_N l1)
  else zero128.

Definition salted_code_suite (p : program) : suite :=
  node_suite (salted_child p false) (salted_child p true).

End Salted.

(* The functions of prg/keccak.c that take a salt and an id. *)
Definition salted_functions : seq program :=
  [:: opt_salted_scalar; opt_salted_avx2; opt_salted_avx512; opt_salted_avx2_x4; opt_salted_avx512_x4;
      opt_salted_avx512_x8].

(* SPDX-License-Identifier: Apache-2.0 *)
(* The suite aes-128 (docs/suites.md): the two halves that AES-128, as FIPS 197 defines it
   (Fips197.v), makes under a seed from the key's 128 bits of salt, the in-order id of the node and
   the side; and the same with what the portable C function computes, by its translation
   (AesCode.v). Definitions only.

   Bits, bytes and words are those of Sha3Suite.v and SaltedSuite.v: bit i of a seed is the bit
   of weight 2^(i mod 8) of its byte i / 8, and an id's 8 bytes are little-endian. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import AcslMemory AcslRef LaneCode AesCode.
From Pprf.spec Require Import Ggm CModel Probability Reductions EvaluationGame Fips202 Fips197.
From Pprf.spec Require Import Games RefGame Sha3Suite SaltedSuite PrpGame SuiteFamilies.
From Coq Require Import Init.Byte.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition seed_bytes (s : sha3_seed) : seq byte := bytes_of_bits 16 s.
Definition seed_of_bytes (bs : seq byte) : sha3_seed := [tuple of mkseq (nth false (bits_of_bytes bs)) 128].
Definition id_bytes (id : Z) : seq byte :=
  bytes_of_bits 8 (mkseq (fun i => Z.testbit id (Z.of_nat i)) 64).

(* AES-128 on 128 bits: key, block. *)
Definition aes_cipher (key block : sha3_seed) : sha3_seed :=
  seed_of_bytes (aes_128 (seed_bytes block) (seed_bytes key)).

Section Aes.
Variable salt : sha3_seed.                          (* the key's 16 bytes, public *)

(* The left half and the right half. *)
Definition aes_left (s : sha3_seed) (id : Z) : sha3_seed :=
  seed_of_bytes (aes_half (seed_bytes s) (seed_bytes salt) (id_bytes id) x00).
Definition aes_right (s : sha3_seed) (id : Z) : sha3_seed :=
  seed_of_bytes (aes_half (seed_bytes s) (seed_bytes salt) (id_bytes id) x01).

(* In the model's form: the PRG at node p of the tree of depth d. *)
Definition aes_prg (d : nat) (p : bitseq) (s : sha3_seed) : sha3_seed * sha3_seed :=
  let id := Z.of_N (node_id (first_leaf d p) (d - size p)) in (aes_left s id, aes_right s id).

(* Seeds of two words as in sha3_suite, the suite's number and the salt, and any two functions of
   a seed and its node's id for the children's seeds. *)
Definition aes_node_suite (left right : sha3_seed -> Z -> sha3_seed) : suite :=
  @Suite _ zero128 seed_of_words (fun s => number (take 64 s)) (fun s => number (drop 64 s))
    (pprf_family_intro 3 (number (take 64 salt)) (number (drop 64 salt)))
    (fun s start height => left s (id_at start height)) (fun s start height => right s (id_at start height)).

Definition aes_suite : suite := aes_node_suite aes_left aes_right.

(* A child's seed: the two words that opt_aes_bitsliced of prg/aes.c returns for it, given the
   words of the seed and of the salt, and the id. *)
Definition aes_child (right : bool) (s : sha3_seed) (id : Z) : sha3_seed :=
  if LaneCode.run [::] opt_aes_bitsliced [:: Z.to_N (number (take 64 s)); Z.to_N (number (drop 64 s));
       Z.to_N (number (take 64 salt)); Z.to_N (number (drop 64 salt)); Z.to_N id]
    is Some [:: l0; l1; r0; r1; 0%num] then
    if right then seed_of_words (Z.of_N r0) (Z.of_N r1) else seed_of_words (Z.of_N l0) (Z.of_N l1)
  else zero128.

Definition aes_code_suite : suite := aes_node_suite (aes_child false) (aes_child true).

End Aes.

(* The attack on AES-128 made from an attack on this PRG: ask for both blocks of the node that it
   names, under one salt. *)
Definition aes_prp_attack (salt : sha3_seed) (d : nat) (D : prg_adversary bits128) : prp_adversary bits128 :=
  ask_points (aes_point d 0 [:: salt]) D.

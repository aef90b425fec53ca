(* SPDX-License-Identifier: Apache-2.0 *)
(* The suite that ships: the two halves of SHA3-256 of a seed's 128 bits, as FIPS 202 defines it
   (Fips202.v), whatever the node.  Definitions only.

   Bit i of a seed is the bit of weight 2^(i mod 8) of its byte i / 8: FIPS 202, B.1; a word's bytes
   are little-endian, so it is also the bit of weight 2^(i mod 64) of its word i / 64. *)
From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import AcslMemory AcslRef.
From Pprf.spec Require Import Ggm Probability Reductions EvaluationGame Fips202 RefGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition sha3_seed : Type := 128.-tuple bool.

Definition seed_of_words (lo hi : Z) : sha3_seed :=
  [tuple of mkseq (fun i => Z.testbit lo (Z.of_nat i)) 64 ++
            mkseq (fun i => Z.testbit hi (Z.of_nat i)) 64].

(* The number with these bits, the least significant first. *)
Definition number (s : seq bool) : Z := foldr (fun (b : bool) v => Z.b2z b + 2 * v)%Z 0%Z s.

(* The first half of the digest, and the second. *)
Definition sha3_left (s : sha3_seed) : sha3_seed :=
  [tuple of mkseq (nth false (sha3_256_bits s)) 128].
Definition sha3_right (s : sha3_seed) : sha3_seed :=
  [tuple of mkseq (fun i => nth false (sha3_256_bits s) (128 + i)) 128].

Definition sha3_prg (s : sha3_seed) : sha3_seed * sha3_seed := (sha3_left s, sha3_right s).

Definition zero128 : sha3_seed := [tuple of nseq 128 false].

Definition sha3_suite : suite :=
  @Suite _ zero128 seed_of_words (fun s => number (take 64 s)) (fun s => number (drop 64 s))
    (pprf_family_intro 1 0 0) (fun s _ _ => sha3_left s) (fun s _ _ => sha3_right s).

(* The attack on SHA3-256's halves made from an adversary against ref: play the device for it on
   the positions of the nodes (against_model), guess a node and a world (ev_guess), put the
   challenge there. *)
Definition sha3_distinguisher (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
  (l : layout) (M0 : memory) (U : pred bitseq) (A : ref_adversary sha3_suite Fault) :
  sha3_seed * sha3_seed -> prog bool :=
  forget_node (attack (fun _ => sha3_prg)
    (ev_guess (zero128 : block sha3_suite) 0 U (against_model d fails l M0 A))).

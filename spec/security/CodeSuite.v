(* SPDX-License-Identifier: Apache-2.0 *)
(* The suite whose PRG is what the C code of a Keccak function computes, by the translation of that code
   (KeccakCode.v), and the attack on SHA3-256 that an adversary against opt is turned into.  Definitions only. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import AcslMemory AcslRef LaneCode KeccakCode.
From Pprf.spec Require Import Ggm Probability Reductions EvaluationGame Fips202 RefGame OptGame Sha3Suite.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* Seeds of two words as sha3_suite has them, and any two functions for the children's seeds. *)
Definition halves_suite (left right : sha3_seed -> sha3_seed) : suite :=
  @Suite _ zero128 seed_of_words (fun s => number (take 64 s)) (fun s => number (drop 64 s))
    (pprf_family_intro 1 0 0) (fun s _ _ => left s) (fun s _ _ => right s).

(* A child's seed: the two words that the function p leaves for it, called on the seed's two words. *)
Definition keccak_child (p : program) (right : bool) (s : sha3_seed) : sha3_seed :=
  if LaneCode.run iota_words p [:: Z.to_N (number (take 64 s)); Z.to_N (number (drop 64 s))]
    is Some [:: l0; l1; r0; r1; 0%num] then
    if right then seed_of_words (Z.of_N r0) (Z.of_N r1) else seed_of_words (Z.of_N l0) (Z.of_N l1)
  else zero128.

Definition keccak_suite (p : program) : suite :=
  halves_suite (keccak_child p false) (keccak_child p true).

(* The functions of prg/keccak.c. *)
Definition keccak_functions : seq program :=
  [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4; opt_keccak_avx512_x4;
      opt_keccak_avx512_x8].

(* The attack on a PRG g that an adversary against ref is turned into, as sha3_distinguisher; and the like for
   opt: play the device for the adversary on the positions of the nodes and the bitmap's words, guess a node
   and a world, put the challenge there. *)
Section Distinguishers.
Variable S : suite.
Variable g : block S -> block S * block S.
Variables (d : nat) (Fault : Type).

Definition ref_distinguisher (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (M0 : memory)
  (U : pred bitseq) (A : ref_adversary S Fault) : block S * block S -> prog bool :=
  forget_node (attack (fun _ => g) (ev_guess (zero_block S) 0 U (against_model d fails l M0 A))).

Definition opt_distinguisher (fails : seq (Z * Z) -> call -> order Fault -> Z)
  (marks : seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout) (M0 : memory)
  (U : pred bitseq) (A : opt_adversary S Fault) : block S * block S -> prog bool :=
  forget_node (attack (fun _ => g)
    (ev_guess (zero_block S) 0 U (opt_against_model d fails marks shown l M0 A))).

End Distinguishers.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Known answers of SHA3-256, of other origin (Python's hashlib); proofs/tools/keccak-test.py has more. *)
From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips202 LaneCode KeccakCode.
From Pprf.spec Require Codec.
From Pprf.proofs Require Import KeccakSound KeccakSuite.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* The bytes 00, 01, ..., 0f as a seed and its children. *)
Definition seed : seq byte :=
  [:: x00; x01; x02; x03; x04; x05; x06; x07; x08; x09; x0a; x0b; x0c; x0d; x0e; x0f].
Definition children : seq byte :=
  [:: x39; x46; x2d; x2a; x23; x20; xf8; xda; x57; x2a; x97; xb0; xb3; x94; x73; xd4; x31; x2e; x02;
        x28; xb2; x3e; x2c; x2f; xe0; xae; x9b; x6c; x67; xf2; x34; x3c].

Example the_seed_runs : run iota_words opt_keccak_scalar
  [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908]%num =
  Some [:: 0xdaf820232a2d4639; 0xd47394b3b0972a57;
           0x2f2c3eb228022e31; 0x3c34f2676c9baee0; 0]%num.
Proof. by vm_compute. Qed.

Example keccak_sound_ex : sha3_256 seed = children.
Proof.
have [|l0 [l1 [r0 [r1 []]]]] :=
  @keccak_sound opt_keccak_scalar 0x0706050403020100%num 0x0f0e0d0c0b0a0908%num.
  by left.
rewrite the_seed_runs => -[<- <- <- <-].
have -> : Codec.put_le 8 0x0706050403020100%num ++ Codec.put_le 8 0x0f0e0d0c0b0a0908%num = seed.
  by vm_compute.
by move=> <-; vm_compute.
Qed.

Example keccak_is_the_suite_ex := @keccak_is_the_suite opt_keccak_scalar
  0x0706050403020100%num 0x0f0e0d0c0b0a0908%num (or_introl erefl).

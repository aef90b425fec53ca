(* SPDX-License-Identifier: Apache-2.0 *)
(* FIPS 197's own examples (sections 4.2 and 5.1.1, Appendices A.1, B and C.1), and instances of
   the theorems; proofs/tools/aes-test.py has values from another implementation. *)
From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import VectorCode AesVectorCode.
From Pprf.proofs Require Import AesSound AesVectorSound AesVectorPair.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* 4.2: {57} {83} = {c1}, {57} {13} = {fe}; 5.1.1: {53} becomes {ed} *)
Example products : mul x57 x83 = xc1 /\ mul x57 x13 = xfe.
Proof. by split; vm_compute. Qed.
Example s_box_53 : S_box x53 = xed.
Proof. by vm_compute. Qed.

Definition key_b : seq byte :=
  [:: x2b; x7e; x15; x16; x28; xae; xd2; xa6; xab; xf7; x15; x88; x09; xcf; x4f; x3c].

(* A.1: w[4] and w[43] *)
Example key_schedule : nth [::] (key_expansion key_b) 4 = [:: xa0; xfa; xfe; x17] /\
  nth [::] (key_expansion key_b) 43 = [:: xb6; x63; x0c; xa6].
Proof. by vm_compute. Qed.

(* B *)
Example appendix_b : aes_128
    [:: x32; x43; xf6; xa8; x88; x5a; x30; x8d; x31; x31; x98; xa2; xe0; x37; x07; x34] key_b =
  [:: x39; x25; x84; x1d; x02; xdc; x09; xfb; xdc; x11; x85; x97; x19; x6a; x0b; x32].
Proof. by vm_compute. Qed.

(* C.1: the key 00 01 ... 0f *)
Definition seed_c : seq byte :=
  [:: x00; x01; x02; x03; x04; x05; x06; x07; x08; x09; x0a; x0b; x0c; x0d; x0e; x0f].
Definition input_c : seq byte :=
  [:: x00; x11; x22; x33; x44; x55; x66; x77; x88; x99; xaa; xbb; xcc; xdd; xee; xff].
Definition output_c : seq byte :=
  [:: x69; xc4; xe0; xd8; x6a; x7b; x04; x30; xd8; xcd; xb7; x80; x70; xb4; xc5; x5a].
Example appendix_c1 : aes_128 input_c seed_c = output_c.
Proof. by vm_compute. Qed.

(* An instance of the theorem for that seed, with the salt that makes the input of node 0's left half. *)
Example aes_sound_ex := aes_sound
  0x0706050403020100 0x0f0e0d0c0b0a0908 0x7766554433221100 0xffeeddccbbaa9988 0.

(* For that seed at four neighbours of height 3; children go elsewhere, except that the first
   one's right child replaces its seed. *)
Definition steps_c : seq step :=
  [seq Step l (l + 4) (if l =? 0 then 0 else l + 8) (8 * l) 3 | l <- [:: 0; 1; 2; 3]]%num.
Example aes_lanes_sound_ex := @aes_lanes_sound opt_aes_ni_x4 4 steps_c (fun _ => seed_c)
  0x7766554433221100 0xffeeddccbbaa9988 (or_introl erefl) erefl erefl erefl erefl.

(* The same seed at node 0, with the salt that makes FIPS 197's plaintext of the left half's input: the left child is
   the ciphertext there. *)
Example aes_ni_sound_ex m : VectorCode.run opt_aes_ni (Call [::] None 0)
    [seq VectorCode.word w | w <- [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 0x7766554433221100; 0xffeeddccbbaa9988;
      0]%num] m =
  Some ([:: output_c; aes_half seed_c input_c (nseq 8 x00) x01; nseq 8 x00], m).
Proof.
have <- : aes_half seed_c input_c (nseq 8 x00) x00 = output_c by vm_compute.
exact: aes_ni_sound.
Qed.

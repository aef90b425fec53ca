(* SPDX-License-Identifier: Apache-2.0 *)
(* Known answers: NIST's examples of SHA-256 (FIPS 180-4's "abc" and a message of two blocks),
   RFC 4231's test cases 2 and 6, RFC 5869's test case 1, and the children of a seed computed by
   Python's hmac; instances of the theorems. proofs/tools/sha-test.py has more. *)
From Coq Require Import NArith Init.Byte Strings.String.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips180 WordCode ShaCode.
From Pprf.spec Require Codec.
From Pprf.proofs Require Import ShaCompress ShaSound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Example abc : sha_256 (ascii "abc") =
  [:: xba; x78; x16; xbf; x8f; x01; xcf; xea; x41; x41; x40; xde; x5d; xae; x22; x23;
      xb0; x03; x61; xa3; x96; x17; x7a; x9c; xb4; x10; xff; x61; xf2; x00; x15; xad].
Proof. by vm_compute. Qed.

Example two_block_message : sha_256 (ascii "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") =
  [:: x24; x8d; x6a; x61; xd2; x06; x38; xb8; xe5; xc0; x26; x93; x0c; x3e; x60; x39;
      xa3; x3c; xe4; x59; x64; xff; x21; x67; xf6; xec; xed; xd4; x19; xdb; x06; xc1].
Proof. by vm_compute. Qed.

Example rfc4231_2 : hmac (ascii "Jefe") (ascii "what do ya want for nothing?") =
  [:: x5b; xdc; xc1; x46; xbf; x60; x75; x4e; x6a; x04; x24; x26; x08; x95; x75; xc7;
      x5a; x00; x3f; x08; x9d; x27; x39; x83; x9d; xec; x58; xb9; x64; xec; x38; x43].
Proof. by vm_compute. Qed.

(* a key that is longer than a block *)
Example rfc4231_6 : hmac (nseq 131 xaa) (ascii "Test Using Larger Than Block-Size Key - Hash Key First") =
  [:: x60; xe4; x31; x59; x1e; xe0; xb6; x7f; x0d; x8a; x26; xaa; xcb; xf5; xb7; x7f;
      x8e; x0b; xc6; x21; x37; x28; xc5; x14; x05; x46; x04; x0f; x0e; xe3; x7f; x54].
Proof. by vm_compute. Qed.

(* 42 bytes: two blocks, the second cut *)
Example rfc5869_1 : hkdf_expand
    [:: x07; x77; x09; x36; x2c; x2e; x32; xdf; x0d; xdc; x3f; x0d; xc4; x7b; xba; x63;
      x90; xb6; xc7; x3b; xb5; x0f; x9c; x31; x22; xec; x84; x4a; xd7; xc2; xb3; xe5]
    [:: xf0; xf1; xf2; xf3; xf4; xf5; xf6; xf7; xf8; xf9] 42 =
  [:: x3c; xb2; x5f; x25; xfa; xac; xd5; x7a; x90; x43; x4f; x64; xd0; x36; x2f; x2a;
      x2d; x2d; x0a; x90; xcf; x1a; x5a; x4c; x5d; xb0; x2d; x56; xec; xc4; xc5; xbf;
      x34; x00; x72; x08; xd5; xb8; x87; x18; x58; x65].
Proof. by vm_compute. Qed.

(* The seed 00, 01, ..., 1f and its children. *)
Definition seed : seq byte :=
  [:: x00; x01; x02; x03; x04; x05; x06; x07; x08; x09; x0a; x0b; x0c; x0d; x0e; x0f;
      x10; x11; x12; x13; x14; x15; x16; x17; x18; x19; x1a; x1b; x1c; x1d; x1e; x1f].
Definition left_child : seq byte :=
  [:: x8d; x7b; xf3; xc8; x06; xad; xfa; x01; x29; x83; x12; x4e; x57; x3a; x1e; xe2;
      x3e; x9b; xd8; x6a; xd6; xb8; x46; x03; x1f; x24; x55; x6a; x31; xf0; x81; x0f].
Definition right_child : seq byte :=
  [:: x62; x41; x30; x02; x71; x1c; x3f; x4b; x73; xa2; xd1; x3d; x32; x17; x2e; xfd;
      xeb; xe6; x5c; x62; xac; x1d; xc3; x38; x67; xe2; x20; x8a; xf9; x89; x85; x4d].

Example children : tree_left seed = left_child /\ tree_right seed = right_child.
Proof. by vm_compute. Qed.

(* The same from the translated function, by the theorem. *)
Example the_seed_runs : run_calling opt_sha256_compress opt_sha256_scalar
    [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 0x1716151413121110; 0x1f1e1d1c1b1a1918]%num =
  Some [:: 0x01faad06c8f37b8d; 0xe21e3a574e128329; 0x0346b8d66ad89b3e; 0x0f81f0316a55241f;
           0x4b3f1c7102304162; 0xfd2e17323dd1a273; 0x38c31dac625ce6eb; 0x4d8589f98a20e267; 0]%num.
Proof. by vm_compute. Qed.


Example mls_sound_ex := mls_sound 0x0706050403020100 0x0f0e0d0c0b0a0908 0x1716151413121110 0x1f1e1d1c1b1a1918.

(* "abc", padded, as FIPS 180-4 has it. *)
Definition abc_block : seq N := [:: 0x61626380; 0; 0; 0; 0; 0; 0; 0; 0; 0; 0; 0; 0; 0; 0; 24]%num.
Example compress_sound_ex := @compress_sound H0 abc_block erefl erefl.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Known answers of SHA3-256 from an independent source (Python's hashlib);
   proofs/tools/keccak-test.py has more. *)
From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips202 LaneCode KeccakCode.
From Pprf.spec Require Codec.
From Pprf.spec Require VectorCode KeccakVectorCode.
From Pprf.proofs Require Import KeccakSound KeccakSuite.
From Pprf.proofs Require Import KeccakVectorSound KeccakWalk.
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

(* The bytes 00, 01, ..., 27 as a seed, a salt and an id, and the children of that node. *)
Definition node_bytes : seq byte :=
  [:: x00; x01; x02; x03; x04; x05; x06; x07; x08; x09; x0a; x0b; x0c; x0d; x0e; x0f; x10; x11; x12;
      x13; x14; x15; x16; x17; x18; x19; x1a; x1b; x1c; x1d; x1e; x1f; x20; x21; x22; x23; x24; x25;
      x26; x27].
Definition salted_children : seq byte :=
  [:: x02; xba; x32; x4d; x30; xac; x85; x47; x91; x57; x9b; xef; x4d; x35; x6a; x6c; xa0; xb7; x72;
      x99; x05; xd2; x41; x05; x8b; x8e; x5a; x72; x6e; x74; xb0; xf3].

Example the_node_runs : run iota_words opt_salted_scalar
  [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 0x1716151413121110; 0x1f1e1d1c1b1a1918; 0x2726252423222120]%num =
  Some [:: 0x4785ac304d32ba02; 0x6c6a354def9b5791;
           0x0541d2059972b7a0; 0xf3b0746e725a8e8b; 0]%num.
Proof. by vm_compute. Qed.

Example salted_sound_ex : sha3_256 node_bytes = salted_children.
Proof.
have [|l0 [l1 [r0 [r1 []]]]] := @salted_sound opt_salted_scalar 0x0706050403020100%num 0x0f0e0d0c0b0a0908%num
  0x1716151413121110%num 0x1f1e1d1c1b1a1918%num 0x2726252423222120%num.
  by left.
rewrite the_node_runs => -[<- <- <- <-].
set M := (M in sha3_256 M); have -> : M = node_bytes by vm_compute.
by move=> <-; vm_compute.
Qed.

Example salted_is_the_suite_ex := @salted_is_the_suite opt_salted_scalar 0x0706050403020100%num
  0x0f0e0d0c0b0a0908%num 0x1716151413121110%num 0x1f1e1d1c1b1a1918%num 0x2726252423222120%num (or_introl erefl).

(* Four times that seed, at 0 .. 3, in steps of the node with that id; the left children go to 4
   .. 7, the first right child replaces its seed. *)
Definition steps : seq VectorCode.step :=
  [seq VectorCode.Step l (l + 4) (if l =? 0 then 0 else l + 8) 0x1393129211911080 5 | l <- [:: 0; 1; 2; 3]]%num.

Example keccak_lanes_sound_ex : exists m',
  VectorCode.run KeccakVectorCode.opt_keccak_avx2_x4 (VectorCode.Call steps None 0) [::] (fun _ => seed) =
    Some ([::], m') /\
  [/\ m' 4%num = take 16 children, m' 0%num = drop 16 children & m' 8%num = seed].
Proof.
have [m' [R [stored kept]]] := @keccak_lanes_sound KeccakVectorCode.opt_keccak_avx2_x4 4 steps (fun _ => seed)
  (or_introl erefl) erefl erefl erefl.
have := stored 0 (nth (VectorCode.Step 0 0 0 0 0)%num steps 0) isT erefl; rewrite keccak_sound_ex => -[left right].
by exists m'; split; [exact: R | split; [exact: left | exact: right | exact: kept]].
Qed.

Example salted_lanes_sound_ex : exists m',
  VectorCode.run KeccakVectorCode.opt_salted_avx2_x4 (VectorCode.Call steps None 0)
    [seq VectorCode.word c | c <- [:: 0x1716151413121110; 0x1f1e1d1c1b1a1918]%num] (fun _ => seed) = Some ([::], m') /\
  [/\ m' 4%num = take 16 salted_children, m' 0%num = drop 16 salted_children & m' 8%num = seed].
Proof.
have [m' [R [stored kept]]] := @salted_lanes_sound KeccakVectorCode.opt_salted_avx2_x4 4 steps (fun _ => seed)
  0x1716151413121110%num 0x1f1e1d1c1b1a1918%num (or_introl erefl) erefl erefl erefl erefl.
have := stored 0 (nth (VectorCode.Step 0 0 0 0 0)%num steps 0) isT erefl; cbv zeta.
set M := (M in sha3_256 M); have -> : M = node_bytes by vm_compute.
rewrite salted_sound_ex => -[left right].
by exists m'; split; [exact: R | split; [exact: left | exact: right | exact: kept]].
Qed.

(* That seed alone, and that node, in vectors. *)
Example keccak_avx512_sound_ex m : exists words,
  VectorCode.run KeccakVectorCode.opt_keccak_avx512 (VectorCode.Call [::] None 0)
    [seq VectorCode.word c | c <- [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 7]%num] m =
    Some ([seq VectorCode.word c | c <- words ++ [:: 0%num]], m) /\
  flatten (map (Codec.put_le 8) words) = children.
Proof.
have [l0 [l1 [r0 [r1 [R D]]]]] := @keccak_avx512_sound 0x0706050403020100%num 0x0f0e0d0c0b0a0908%num 7%num m.
exists [:: l0; l1; r0; r1]; split; first exact: R.
rewrite -[LHS]/(Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 ++ [::]) cats0 D.
set M := (M in sha3_256 M); have -> : M = seed by vm_compute.
exact: keccak_sound_ex.
Qed.

Example salted_avx512_sound_ex m : exists words,
  VectorCode.run KeccakVectorCode.opt_salted_avx512 (VectorCode.Call [::] None 0)
    [seq VectorCode.word c | c <- [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 0x1716151413121110; 0x1f1e1d1c1b1a1918;
      0x2726252423222120]%num] m =
    Some ([seq VectorCode.word c | c <- words ++ [:: 0%num]], m) /\
  flatten (map (Codec.put_le 8) words) = salted_children.
Proof.
have [l0 [l1 [r0 [r1 [R D]]]]] := @salted_avx512_sound 0x0706050403020100%num 0x0f0e0d0c0b0a0908%num
  0x1716151413121110%num 0x1f1e1d1c1b1a1918%num 0x2726252423222120%num m.
exists [:: l0; l1; r0; r1]; split; first exact: R.
rewrite -[LHS]/(Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 ++ [::]) cats0 D.
set M := (M in sha3_256 M); have -> : M = node_bytes by vm_compute.
exact: salted_sound_ex.
Qed.

Local Opaque sha3_256.

(* Two steps down from that seed, to the left and then to the right, with places 0 and 1 for the seeds beside the path. *)
Example keccak_walk_sound_ex m : exists x y m',
  VectorCode.run KeccakVectorCode.opt_keccak_avx512_descend (VectorCode.Call [::] (Some N.of_nat) 2)
    [seq VectorCode.word c | c <- [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 3; 4; 1]%num] m = Some ([:: x; y], m') /\
  [/\ x ++ y = drop 16 (sha3_256 (take 16 children)), m' 0%num = take 16 (sha3_256 (take 16 children)),
      m' 1%num = drop 16 children & m' 2%num = m 2%num].
Proof.
have apart place i j : Some N.of_nat = Some place -> i < 2 -> j < 2 -> place i = place j -> i = j.
  by case=> <- _ _; exact: Nnat.Nat2N.inj.
have [x [y [m' [R [E [beside same]]]]]] := @keccak_walk_sound 0x0706050403020100%num 0x0f0e0d0c0b0a0908%num 3%num 4%num
  1%num 2 (Some N.of_nat) m erefl isT apart.
have seed_is : Codec.put_le 8 0x0706050403020100%num ++ Codec.put_le 8 0x0f0e0d0c0b0a0908%num = seed by vm_compute.
have E0 := beside _ 0 erefl isT; have E1 := beside _ 1 erefl isT; rewrite seed_is in E E0 E1.
exists x, y, m'; split; first exact: R.
rewrite -keccak_sound_ex; split; [exact: E | exact: E0 | exact: E1 |].
by apply: same => place i [<-]; case: i => [|[|i]].
Qed.

(* Five steps down from that node to its first leaf: the seed beside the first step is the node's right child. *)
Example salted_walk_sound_ex m : exists x y m',
  VectorCode.run KeccakVectorCode.opt_salted_avx512_descend (VectorCode.Call [::] (Some N.of_nat) 5)
    [seq VectorCode.word c | c <- [:: 0x0706050403020100; 0x0f0e0d0c0b0a0908; 0x1716151413121110; 0x1f1e1d1c1b1a1918;
      0x1393129211911080]%num] m = Some ([:: x; y], m') /\
  m' 4%num = drop 16 salted_children.
Proof.
have apart place i j : Some N.of_nat = Some place -> i < 5 -> j < 5 -> place i = place j -> i = j.
  by case=> <- _ _; exact: Nnat.Nat2N.inj.
have [x [y [m' [R [_ [beside _]]]]]] := @salted_walk_sound 0x0706050403020100%num 0x0f0e0d0c0b0a0908%num
  0x1716151413121110%num 0x1f1e1d1c1b1a1918%num 0x1393129211911080%num 5 (Some N.of_nat) m erefl isT apart.
exists x, y, m'; split; first exact: R.
have bytes_are : (Codec.put_le 8 0x0706050403020100%num ++ Codec.put_le 8 0x0f0e0d0c0b0a0908%num) ++
    (Codec.put_le 8 0x1716151413121110%num ++ Codec.put_le 8 0x1f1e1d1c1b1a1918%num) ++
    Codec.put_le 8 0x2726252423222120%num = node_bytes by vm_compute.
rewrite -salted_sound_ex -bytes_are; exact: (beside _ 4 erefl isT).
Qed.

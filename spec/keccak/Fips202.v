(* SPDX-License-Identifier: Apache-2.0 *)
(* SHA3-256 as FIPS 202 defines it (August 2015): definitions only, to be read beside the standard,
   whose section each line names. b = 1600, w = 64, l = 6, 24 rounds. *)
From Coq Require Import Init.Byte.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition w := 64.

(* (z - k) mod w *)
Definition back (z k : nat) : nat := (z + (w - k %% w)) %% w.

(* ---- 3.1 The state ------------------------------------------------------------------- *)

(* 3.1.1: an array of 5 by 5 by w bits; A[x, y, z] is bit A x y z. *)
Definition state := seq (seq (seq bool)).
Definition bit (A : state) (x y z : nat) : bool := nth false (nth [::] (nth [::] A x) y) z.
Definition array (f : nat -> nat -> nat -> bool) : state :=
  mkseq (fun x => mkseq (fun y => mkseq (f x y) w) 5) 5.

(* 3.1.2: A[x, y, z] = S[w (5 y + x) + z] *)
Definition of_string (S : seq bool) : state :=
  array (fun x y => let lane := drop (w * (5 * y + x)) S in fun z => nth false lane z).

(* 3.1.3: S = Plane(0) || ... || Plane(4), Plane(j) = Lane(0, j) || ... || Lane(4, j) *)
Definition lane (A : state) (i j : nat) : seq bool := mkseq (bit A i j) w.
Definition plane (A : state) (j : nat) : seq bool := flatten (mkseq (fun i => lane A i j) 5).
Definition to_string (A : state) : seq bool := flatten (mkseq (plane A) 5).

(* ---- 3.2 The step mappings ----------------------------------------------------------- *)

(* 3.2.1 *)
Definition theta_C (A : state) (x z : nat) : bool :=
  xorb (xorb (xorb (xorb (bit A x 0 z) (bit A x 1 z)) (bit A x 2 z)) (bit A x 3 z)) (bit A x 4 z).
Definition theta_D (A : state) (x z : nat) : bool :=
  xorb (theta_C A ((x + 4) %% 5) z) (theta_C A ((x + 1) %% 5) (back z 1)).
Definition theta (A : state) : state :=
  array (fun x y z => xorb (bit A x y z) (theta_D A x z)).

(* 3.2.2: t = 0 .. 23 from (x, y) = (1, 0) in steps to (y, (2 x + 3 y) mod 5): the lane (x, y) that
   is met at t moves by (t + 1)(t + 2) / 2; lane (0, 0), which is not met, stays. *)
Definition rho_lane (t : nat) : nat * nat :=
  iter t (fun xy => (xy.2, (2 * xy.1 + 3 * xy.2) %% 5)) (1, 0).
Definition rho_offset (x y : nat) : nat :=
  let t := find (fun t => rho_lane t == (x, y)) (iota 0 24) in
  if t == 24 then 0 else ((t + 1) * (t + 2)) %/ 2.
Definition rho (A : state) : state :=
  array (fun x y => let r := rho_offset x y %% w in fun z => bit A x y (back z r)).

(* 3.2.3 *)
Definition pi (A : state) : state :=
  array (fun x y z => bit A ((x + 3 * y) %% 5) x z).

(* 3.2.4 *)
Definition chi (A : state) : state :=
  array (fun x y z => xorb (bit A x y z)
    (andb (xorb (bit A ((x + 1) %% 5) y z) true) (bit A ((x + 2) %% 5) y z))).

(* 3.2.5, Algorithm 5: R is 8 bits, R[0] first *)
Definition rc_step (R : seq bool) : seq bool :=
  let R := false :: R in
  let R := set_nth false R 0 (xorb (nth false R 0) (nth false R 8)) in
  let R := set_nth false R 4 (xorb (nth false R 4) (nth false R 8)) in
  let R := set_nth false R 5 (xorb (nth false R 5) (nth false R 8)) in
  let R := set_nth false R 6 (xorb (nth false R 6) (nth false R 8)) in
  take 8 R.
Definition rc (t : nat) : bool :=
  if t %% 255 == 0 then true
  else nth false (iter (t %% 255) rc_step (true :: nseq 7 false)) 0.

(* 3.2.5, Algorithm 6: RC[2^j - 1] = rc(j + 7 i_r) for j = 0 .. l, the other bits of RC are 0 *)
Definition RC (ir : nat) : seq bool :=
  foldl (fun RC j => set_nth false RC (2 ^ j - 1) (rc (j + 7 * ir))) (nseq w false) (iota 0 7).
Definition iota_step (A : state) (ir : nat) : state :=
  let RC := RC ir in
  array (fun x y z =>
    if (x, y) == (0, 0) then xorb (bit A 0 0 z) (nth false RC z) else bit A x y z).

(* ---- 3.3, 3.4 Keccak-p[1600, 24] = Keccak-f[1600] -------------------------------------- *)

Definition Rnd (A : state) (ir : nat) : state := iota_step (chi (pi (rho (theta A)))) ir.
Definition keccak_f (S : seq bool) : seq bool := to_string (foldl Rnd (of_string S) (iota 0 24)).

(* ---- 4 The sponge ---------------------------------------------------------------------- *)

Definition xor_strings (S T : seq bool) : seq bool := [seq xorb st.1 st.2 | st <- zip S T].

(* Algorithm 9 with j = (-m - 2) mod x *)
Definition pad10_1 (x m : nat) : seq bool :=
  true :: rcons (nseq ((x - (m + 2) %% x) %% x) false) true.

(* Algorithm 8. The loops get a bound on their number of rounds: one for each block of r bits. *)
Section Sponge.
Variable r : nat.
Let c := 1600 - r.
Fixpoint absorb (n : nat) (S P : seq bool) : seq bool :=
  if n is n'.+1 then
    absorb n' (keccak_f (xor_strings S (take r P ++ nseq c false))) (drop r P)
  else S.
Fixpoint squeeze (fuel d : nat) (S Z : seq bool) : seq bool :=
  let Z := Z ++ take r S in
  if d <= size Z then take d Z
  else if fuel is fuel'.+1 then squeeze fuel' d (keccak_f S) Z else [::].
Definition sponge (N : seq bool) (d : nat) : seq bool :=
  let P := N ++ pad10_1 r (size N) in
  squeeze (d %/ r) d (absorb (size P %/ r) (nseq 1600 false) P) [::].
End Sponge.

(* 5.2, 6.1 *)
Definition keccak (c : nat) (N : seq bool) (d : nat) : seq bool := sponge (1600 - c) N d.
Definition sha3_256_bits (M : seq bool) : seq bool := keccak 512 (M ++ [:: false; true]) 256.

(* ---- B.1 Bytes: the bit of weight 2^i of a byte is bit i of its 8 -------------------------- *)

Definition bits_of_byte (b : byte) : seq bool :=
  let '(b0, (b1, (b2, (b3, (b4, (b5, (b6, b7))))))) := Byte.to_bits b in
  [:: b0; b1; b2; b3; b4; b5; b6; b7].
Definition byte_of_bits (s : seq bool) : byte :=
  let b := nth false s in
  Byte.of_bits (b 0, (b 1, (b 2, (b 3, (b 4, (b 5, (b 6, b 7))))))).
Definition bits_of_bytes (bs : seq byte) : seq bool := flatten [seq bits_of_byte b | b <- bs].
Fixpoint bytes_of_bits (n : nat) (s : seq bool) : seq byte :=
  if n is n'.+1 then byte_of_bits (take 8 s) :: bytes_of_bits n' (drop 8 s) else [::].

Definition sha3_256 (M : seq byte) : seq byte :=
  bytes_of_bits 32 (sha3_256_bits (bits_of_bytes M)).

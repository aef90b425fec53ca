(* SPDX-License-Identifier: Apache-2.0 *)
(* AES-128 as FIPS 197 defines it (November 2001, updated May 2023), and the two halves that the suite aes-128
   makes of it: definitions only, to be read beside the standard, whose section each line names. Nk = 4,
   Nr = 10. *)
From Coq Require Import Init.Byte.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- 3.2, 4 Bytes as elements of GF(2^8) ----------------------------------------------------- *)

(* A byte is {b7 b6 b5 b4 b3 b2 b1 b0}, the polynomial b7 x^7 + ... + b1 x + b0. *)
Definition bit (b : byte) (i : nat) : bool :=
  let '(b0, (b1, (b2, (b3, (b4, (b5, (b6, b7))))))) := Byte.to_bits b in
  nth false [:: b0; b1; b2; b3; b4; b5; b6; b7] i.
Definition of_bits (f : nat -> bool) : byte :=
  Byte.of_bits (f 0, (f 1, (f 2, (f 3, (f 4, (f 5, (f 6, f 7))))))).

(* 4.1 *)
Definition add (b c : byte) : byte := of_bits (fun i => xorb (bit b i) (bit c i)).

(* 4.2: b x modulo x^8 + x^4 + x^3 + x + 1 *)
Definition xtimes (b : byte) : byte :=
  let shifted := of_bits (fun i => if i is j.+1 then bit b j else false) in
  if bit b 7 then add shifted x1b else shifted.

(* 4.2: the sum of the c x^i for which b has x^i *)
Definition mul (b c : byte) : byte :=
  foldl add x00 [seq iter i xtimes c | i <- iota 0 8 & bit b i].

(* 4.4: the byte c with b c = {01} *)
Definition byte_values : seq byte :=
  [seq of_bits (fun i => odd (n %/ 2 ^ i)) | n <- iota 0 256].
Definition inverse (b : byte) : byte :=
  nth x00 byte_values (find (fun c => Byte.eqb (mul b c) x01) byte_values).

(* ---- 3.4 The state: 16 bytes, s[r, c] is byte r + 4 c -------------------------------------------- *)

Definition state := seq byte.
Definition at_ (s : state) (r c : nat) : byte := nth x00 s (r + 4 * c).
Definition array (f : nat -> nat -> byte) : state := mkseq (fun n => f (n %% 4) (n %/ 4)) 16.

(* ---- 5.1 The cipher's steps --------------------------------------------------------------------- *)

(* 5.1.1: S-box, of b the inverse, {00} of {00}, and the affine map with c = {01100011} *)
Definition S_box (b : byte) : byte :=
  let b' := if Byte.eqb b x00 then x00 else inverse b in
  of_bits (fun i =>
    xorb (bit b' i) (xorb (bit b' ((i + 4) %% 8)) (xorb (bit b' ((i + 5) %% 8))
      (xorb (bit b' ((i + 6) %% 8)) (xorb (bit b' ((i + 7) %% 8)) (bit x63 i)))))).
Definition sub_bytes (s : state) : state := array (fun r c => S_box (at_ s r c)).

(* 5.1.2 *)
Definition shift_rows (s : state) : state := array (fun r c => at_ s r ((c + r) %% 4)).

(* 5.1.3: s'[r, c] is the sum of row r of this matrix times column c *)
Definition mix_row (r : nat) : seq byte :=
  nth [::] [:: [:: x02; x03; x01; x01];
               [:: x01; x02; x03; x01];
               [:: x01; x01; x02; x03];
               [:: x03; x01; x01; x02]] r.
Definition mix_columns (s : state) : state :=
  array (fun r c =>
    let term k := mul (nth x00 (mix_row r) k) (at_ s k c) in
    add (add (add (term 0) (term 1)) (term 2)) (term 3)).

(* 5.1.4: words are columns; w is the key schedule *)
Definition word := seq byte.
Definition add_round_key (w : seq word) (s : state) (round : nat) : state :=
  array (fun r c => add (at_ s r c) (nth x00 (nth [::] w (4 * round + c)) r)).

(* ---- 5.2 Key expansion --------------------------------------------------------------------------- *)

Definition add_words (a b : word) : word := mkseq (fun r => add (nth x00 a r) (nth x00 b r)) 4.
Definition rot_word (a : word) : word := mkseq (fun r => nth x00 a ((r + 1) %% 4)) 4.
Definition sub_word (a : word) : word := mkseq (fun r => S_box (nth x00 a r)) 4.
(* Rcon[j] = [x^(j-1), {00}, {00}, {00}] *)
Definition Rcon (j : nat) : word := [:: iter (j - 1) xtimes x01; x00; x00; x00].

(* Algorithm 2: w[i] from the words before it *)
Definition next_word (w : seq word) (i : nat) : word :=
  let temp := nth [::] w (i - 1) in
  let temp := if i %% 4 == 0 then add_words (sub_word (rot_word temp)) (Rcon (i %/ 4)) else temp in
  add_words (nth [::] w (i - 4)) temp.
Definition key_words (key : seq byte) : seq word :=
  mkseq (fun i => mkseq (fun r => nth x00 key (4 * i + r)) 4) 4.
Definition key_expansion (key : seq byte) : seq word :=
  foldl (fun w i => rcons w (next_word w i)) (key_words key) (iota 4 40).

(* ---- 5.1, Algorithm 1 ---------------------------------------------------------------------------- *)

Definition cipher (input : seq byte) (w : seq word) : seq byte :=
  let s := add_round_key w input 0 in
  let s := foldl (fun s round =>
    add_round_key w (mix_columns (shift_rows (sub_bytes s))) round) s (iota 1 9) in
  add_round_key w (shift_rows (sub_bytes s)) 10.

Definition aes_128 (input key : seq byte) : seq byte := cipher input (key_expansion key).

(* ---- The suite aes-128 --------------------------------------------------------------------------- *)

(* The left (b = 0) or right (b = 1) half: AES-128 under the seed of salt XOR (id || b || seven zero bytes),
   the id in 8 bytes. *)
Definition aes_half (seed salt id : seq byte) (b : byte) : seq byte :=
  aes_128 [seq add x.1 x.2 | x <- zip salt (id ++ b :: nseq 7 x00)] seed.

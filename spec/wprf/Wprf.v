(* SPDX-License-Identifier: Apache-2.0 *)
(* The weak PRF that ../../bench/wprf/ measures (docs/wprf.md), and arithmetic mod 3 on words:
   definitions only. Boneh et al., "Exploring Crypto Dark Matter", 2018/1218, with a Toeplitz key. *)
From Coq Require Import NArith PeanoNat List Bool.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition bit (w : N) (n : nat) : bool := N.testbit w (N.of_nat n).

(* ---- The function: a key of bits 1 .. 511, an input of 256 bits, a public matrix R over Z_3 ------- *)

Definition entry (key : N) (i j : nat) : bool := bit key (256 + i - j).
Definition times_key (key x : N) (i : nat) : bool :=
  fold_right xorb false (map (fun j => entry key i j && bit x j) (seq 0 256)).
Definition wprf (R : nat -> nat -> nat) (key x : N) (r : nat) : nat :=
  fold_right Nat.add 0 (map (fun j => R r j * Nat.b2n (times_key key x j)) (seq 0 256)) mod 3.

(* The 81 trits as a number, the least significant first, and the 128 bits made of it. *)
Definition number (trit : nat -> nat) : N :=
  fold_right (fun r n => N.of_nat (trit r) + 3 * n)%N 0%N (seq 0 81).
Definition output (R : nat -> nat -> nat) (key x : N) : N := (number (wprf R key x) mod 2 ^ 128)%N.

(* ---- Z_3 on two words: trit r is bit r of each ----------------------------------------------------- *)

Record packed : Set := Packed { msb : N; lsb : N }.

(* Both bits are 0, the most significant alone is 1, the least significant alone is 2. *)
Definition trit (p : packed) (r : nat) : option nat :=
  match bit (msb p) r, bit (lsb p) r with
  | true, true => Some 0
  | true, false => Some 1
  | false, true => Some 2
  | false, false => None
  end.

(* The paper's table 1. *)
Definition add (a b : packed) : packed :=
  let t := N.lxor (N.land (lsb a) (msb b)) (N.land (lsb b) (msb a)) in
  Packed (N.lxor (N.land (lsb a) (lsb b)) t) (N.lxor (N.land (msb a) (msb b)) t).
Definition sub (a b : packed) : packed :=
  let t := N.lxor (N.land (lsb a) (lsb b)) (N.land (msb b) (msb a)) in
  Packed (N.lxor (N.land (lsb a) (msb b)) t) (N.lxor (N.land (msb a) (lsb b)) t).
Definition mul (a b : packed) : packed :=
  Packed (N.land (N.lor (lsb a) (msb b)) (N.lor (msb a) (lsb b)))
         (N.land (N.lor (lsb a) (lsb b)) (N.lor (msb a) (msb b))).
Definition mux (s : N) (a b : packed) : packed :=
  let choose v w := N.land (N.lor w s) (N.lor v (N.lnot s 128)) in
  Packed (choose (msb a) (msb b)) (choose (lsb a) (lsb b)).

(* The coding that a reader would take first: the two bits of the number. *)
Definition binary_trit (p : packed) (r : nat) : option nat :=
  match bit (msb p) r, bit (lsb p) r with
  | false, false => Some 0
  | false, true => Some 1
  | true, false => Some 2
  | true, true => None
  end.

(* The packed form: the columns of R for which K x has a one are added; the others become 0. *)
Definition masked (one : bool) (p : packed) : packed :=
  let mask := if one then 0%N else N.ones 128 in Packed (N.lor (msb p) mask) (N.lor (lsb p) mask).
Definition packed_wprf (column : nat -> packed) (key x : N) : packed :=
  fold_left (fun sum j => add sum (masked (times_key key x j) (column j))) (seq 0 256)
    (Packed (N.ones 128) (N.ones 128)).

(* SPDX-License-Identifier: Apache-2.0 *)
(* Arithmetic on packed trits is arithmetic mod 3, so the packed form is the weak PRF. *)
From Coq Require Import NArith PeanoNat List Bool Lia.
From Pprf.spec Require Import Wprf.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Lemma bit_ones (r : nat) : r < 128 -> bit (N.ones 128) r = true.
Proof. intros. unfold bit. apply N.ones_spec_low. lia. Qed.

Lemma bit_lnot (s : N) (r : nat) : r < 128 -> bit (N.lnot s 128) r = negb (bit s r).
Proof. intros. unfold bit. apply N.lnot_spec_low. lia. Qed.

(* All cases of the bits that the formulas mention. *)
Ltac each_bit :=
  repeat match goal with
    | H : match ?b with true => _ | false => _ end = Some _ |- _ => destruct b eqn:?
    end; try discriminate;
  repeat match goal with H : Some _ = Some _ |- _ => injection H as <- end.

Theorem packed_arithmetic (a b : packed) (s : N) (r u v : nat) :
  r < 128 -> trit a r = Some u -> trit b r = Some v ->
  trit (add a b) r = Some ((u + v) mod 3) /\
  trit (sub a b) r = Some ((u + 3 - v) mod 3) /\
  trit (mul a b) r = Some (u * v mod 3) /\
  trit (mux s a b) r = Some (if bit s r then u else v).
Proof.
intros low A B. unfold trit, add, sub, mul, mux in *. cbn [msb lsb].
pose proof (bit_lnot s low) as complement. unfold bit in *.
rewrite ?N.lxor_spec, ?N.land_spec, ?N.lor_spec, complement.
each_bit; destruct (N.testbit s (N.of_nat r));
  repeat match goal with H : N.testbit _ _ = _ |- _ => rewrite H; clear H end; cbn; auto.
Qed.

Lemma trit_masked (one : bool) (p : packed) (r u : nat) : r < 128 -> trit p r = Some u ->
  trit (masked one p) r = Some (u * Nat.b2n one).
Proof.
intros low P. pose proof (bit_ones low) as all. unfold trit, masked, bit in *. cbn [msb lsb].
rewrite ?N.lor_spec. destruct one; cbn [Nat.b2n].
- rewrite !N.bits_0, !orb_false_r, Nat.mul_1_r. exact P.
- rewrite all, !orb_true_r, Nat.mul_0_r. reflexivity.
Qed.

(* The sum over some columns, from any sum before. *)
Lemma packed_sum (R : nat -> nat -> nat) (column : nat -> packed) (y : nat -> bool) (r : nat) : r < 128 ->
  forall (js : list nat) (sum : packed) (total : nat),
  (forall j, In j js -> trit (column j) r = Some (R r j)) -> trit sum r = Some (total mod 3) ->
  trit (fold_left (fun sum j => add sum (masked (y j) (column j))) js sum) r =
  Some ((total + fold_right Nat.add 0 (map (fun j => R r j * Nat.b2n (y j)) js)) mod 3).
Proof.
intros low js. induction js as [|j js IH]; intros sum total columns sound; cbn [fold_left map fold_right].
- rewrite Nat.add_0_r. exact sound.
- rewrite Nat.add_assoc. apply IH.
  + intros i I. apply columns. right. exact I.
  + pose proof (trit_masked (y j) low (columns j (or_introl eq_refl))) as term.
    destruct (packed_arithmetic 0 low sound term) as [both _]. rewrite both.
    rewrite Nat.add_mod_idemp_l by lia. reflexivity.
Qed.

Theorem packed_wprf_sound (R : nat -> nat -> nat) (column : nat -> packed) (key x : N) (r : nat) :
  r < 128 -> (forall j : nat, j < 256 -> trit (column j) r = Some (R r j)) ->
  trit (packed_wprf column key x) r = Some (wprf R key x r).
Proof.
intros low columns. unfold packed_wprf, wprf.
apply (packed_sum (total := 0) (times_key key x) low).
- intros j J. apply columns. apply in_seq in J. lia.
- unfold trit. cbn [msb lsb]. rewrite (bit_ones low). reflexivity.
Qed.

Theorem binary_coding_is_wrong : exists (a b : packed),
  binary_trit a 0 = Some 0 /\ binary_trit b 0 = Some 1 /\ binary_trit (add a b) 0 = Some 0.
Proof. exists (Packed 0 0), (Packed 0 1). repeat split. Qed.

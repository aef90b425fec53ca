(* SPDX-License-Identifier: Apache-2.0 *)
(* A value of ../../bench/wprf/model.py's function for another R, and instances of the theorems. *)
From Coq Require Import NArith PeanoNat List Lia.
From Pprf.spec Require Import Wprf.
From Pprf.proofs Require Import WprfSound.

Definition key : N :=
  (0x72e2aa707c09bbe5ed8b19d71d0b0aaf87b60ac84b58042c5c6b3b4f012c2aef +
   0xc3f8dbc9bb1862ce10a86e3b85523e9ceeb9056d641c8f34ba0c251383a5a090 * 2 ^ 256)%N.
Definition x : N := 0x1ac78e18a5a3025711c600c31ea3a8d96e5ffeb4e4211ba2815724cb44137759%N.
Definition R (r j : nat) : nat := j mod 3.
Definition column (j : nat) : packed :=
  Packed (if j mod 3 =? 2 then 0 else N.ones 128) (if j mod 3 =? 1 then 0 else N.ones 128).

Example known_value : wprf R key x 0 = 1.
Proof. vm_compute. reflexivity. Qed.
Example known_number : number (fun r => r mod 3) = 358152163580915121881278547807774913417%N.
Proof. vm_compute. reflexivity. Qed.

Example packed_80 : trit (packed_wprf column key x) 80 = Some (wprf R key x 80).
Proof.
apply packed_wprf_sound; [repeat constructor|]. intros j _. unfold trit, column, R.
pose proof (Nat.mod_upper_bound j 3 (Nat.neq_succ_0 2)).
destruct (j mod 3) as [|[|[|]]]; try reflexivity. lia.
Qed.
Example sum_is_zero : trit (add (Packed 1 0) (Packed 0 1)) 0 = Some 0.
Proof. apply (packed_arithmetic (u := 1) (v := 2) 0); [repeat constructor | reflexivity..]. Qed.
Example not_binary : ~ (forall (a b : packed) (u v : nat), binary_trit a 0 = Some u -> binary_trit b 0 = Some v ->
  binary_trit (add a b) 0 = Some ((u + v) mod 3)).
Proof.
intros claim. destruct binary_coding_is_wrong as [a [b [A [B S]]]]. rewrite (claim a b 0 1 A B) in S. discriminate S.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Facts that mathcomp 1.15 and mathcomp 2 name or state differently, under our own names, so
   that the other files compile with both. No statement that a claim depends on uses this file. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.

(* take_take; take_takel *)
Lemma take_of_take T i j (s : seq T) : i <= j -> take i (take j s) = take i s.
Proof.
elim: s i j => [|a s IH] [|i] [|j] //= le; by rewrite IH.
Qed.

Section Order.
Local Open Scope ring_scope.
Variable R : numDomainType.
Implicit Types x y z t : R.

(* ler_subl_addr; lerBlDr *)
Lemma le_sub_add x y z : (x - y <= z) = (x <= z + y).
Proof. by rewrite -[LHS]subr_ge0 -[RHS]subr_ge0 opprB addrA. Qed.

(* ler_subr_addr; lerBrDr *)
Lemma le_add_sub x y z : (x <= y - z) = (x + z <= y).
Proof. by rewrite -[LHS]subr_ge0 -[RHS]subr_ge0 opprD addrAC addrA. Qed.

(* ler_addl; lerDl *)
Lemma le_addl x y : (x <= x + y) = (0 <= y).
Proof. by rewrite -[LHS]subr_ge0 addrAC subrr add0r. Qed.

(* ler_add; lerD *)
Lemma le_add x y z t : x <= y -> z <= t -> x + z <= y + t.
Proof. by move=> xy zt; rewrite -subr_ge0 opprD addrACA addr_ge0 // subr_ge0. Qed.

(* ler_wpmul2r; ler_wpM2r *)
Lemma le_mul2r x y z : 0 <= x -> y <= z -> y * x <= z * x.
Proof. by move=> x0 yz; rewrite -subr_ge0 -mulrBl mulr_ge0 // subr_ge0. Qed.

(* ler_pmul; ler_pM *)
Lemma le_mul x y z t : 0 <= x -> 0 <= z -> x <= y -> z <= t -> x * z <= y * t.
Proof.
move=> x0 z0 xy zt; apply: le_trans (le_mul2r z0 xy) _.
by rewrite ![y * _]mulrC le_mul2r // (le_trans x0).
Qed.

(* ler_norm_sub; ler_normB *)
Lemma norm_sub_le x y : `|x - y| <= `|x| + `|y|.
Proof.
move: (ler_norm_sum [:: x; - y] id predT).
by rewrite !big_cons !big_nil !addr0 normrN.
Qed.

End Order.

(* [finType of bool], which mathcomp 2.3 does not have: the instance is found by unification. *)
Definition fin_of (S : finType) (_ : phant S) : finType := S.
Notation one_bit := (fin_of (Phant bool)).

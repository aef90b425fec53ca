(* SPDX-License-Identifier: Apache-2.0 *)
(* The suites' bounds on concrete adversaries; the switching term on a cipher with one-bit
   blocks, where it is one half; and the families' values and points, from an independent source
   (equivalence-tests/vectors/suites.json, by hashlib and PyCA's AES). *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame.
From Pprf.spec Require Import RefGame Sha3Suite PrpGame SuiteFamilies.
From Pprf.proofs Require Import Compat ProbabilityFacts PrpSwitch SuiteBounds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- The families are the suites' ------------------------------------------------------------------ *)

Section Values.
Local Open Scope Z_scope.

Definition words (s : bits128) : Z * Z := (number (take 64 (tval s)), number (drop 64 (tval s))).

(* The bytes 83 f9 9f .. and 8d ce d9 ..; leaf 3 at depth 2. *)
Definition a_salt : bits128 := seed_of_words 0xb7263054099ff983 0x93c18d39963c31d0.
Definition a_seed : bits128 := seed_of_words 0xf6601b8870d9ce8d 0x7903b2dadb3a2aae.

Example salted_leaf : words (ggm (salted_family 2 0 [:: a_salt]) a_seed [:: true; true]) =
  (0x48ae21eae90bc9f4, 0x3fc5538aa1bc79c2).
Proof. by vm_compute. Qed.

(* Nothing else is hashed by the second of two users, whose keys are below the nodes 0 and 1 at depth 3. *)
Example salted_second_user :
  all (fun p => let m := salt_and_id 3 1 [:: zeros; a_salt] (true :: p) in
                let m' := salt_and_id 2 0 [:: a_salt] p in (tval m.1 == m'.1) && (tval m.2 == m'.2))
    [:: [::]; [:: false]; [:: true]].
Proof. by vm_compute. Qed.

(* aes-128, depth 2, salt ed 8e 36 ..: for the right half of the node above the leaves 2 and 3, id 6 *)
Example an_aes_point :
  words (aes_point 2 0 [:: seed_of_words 0x735ac99af3368eed 0x850d1fcdf3f64263 : bits128] [:: true] true) =
  (0x735ac99af3368eeb, 0x850d1fcdf3f64262).
Proof. by vm_compute. Qed.
End Values.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Example aes_points_differ_ex := @aes_points_differ 2 0 [:: zeros] [:: true].

(* two nodes of the second of two users *)
Example suite_points_inj_ex b b' :
  aes_point 3 1 [:: zeros; zeros] [:: true] b <> aes_point 3 1 [:: zeros; zeros] [:: true; false] b'.
Proof.
by case/(proj1 (@suite_points_inj 3 1 [:: zeros; zeros] [:: true] [:: true; false] b b' isT isT isT erefl)).
Qed.

(* ---- A cipher of one-bit blocks --------------------------------------------------------------------- *)

Definition xor_cipher (k b : one_bit) : one_bit := xorb k b.
Definition own_point (p : bitseq) (b : bool) : one_bit := b.

Lemma xor_cipher_inj k : injective (xor_cipher k).
Proof. by case: k => -[] []. Qed.

Example prp_ideal_pair_ex :
  Pr (prp_game (false : one_bit) xor_cipher Ideal (ask_two (false : one_bit) true (fun ab => Ret ab.1))) = 1 / 2%:R.
Proof.
have S (f : one_bit -> rat) (a : one_bit) : \sum_(b | b != a) f b = f (~~ a).
  by rewrite (big_pred1 (~~ a : one_bit)) //; case: a => -[].
by rewrite prp_ideal_pair // (eq_bigr _ (fun a _ => S _ a)) big_bool card_bool /Pr /=; apply/eqP; vm_compute.
Qed.

(* It is a perfect permutation; as a PRG it is distinguished from random blocks with advantage
   1/2. *)
Example halves_term_real_ex :
  prg_adv_at (false : one_bit) (halves_family xor_cipher own_point) [::] (@equal_halves one_bit) = - (1 / 2%:R) /\
  prp_adv (false : one_bit) xor_cipher (ask_points own_point (Ret ([::], @equal_halves one_bit))) = 0.
Proof.
have := @halves_term_real one_bit false xor_cipher own_point (fun _ => isT) [::] xor_cipher_inj.
by rewrite card_bool mul1r.
Qed.

(* the first of them computed from the game itself *)
Example equal_halves_computed :
  prg_adv_at (false : one_bit) (halves_family xor_cipher own_point) [::] (@equal_halves one_bit) = - (1 / 2%:R).
Proof. by rewrite /prg_adv_at /prg_adv /Pr /= !avg_bool; apply/eqP; vm_compute. Qed.

Example halves_prg_adv_ex D :=
  @halves_prg_adv one_bit false xor_cipher own_point (fun _ => isT) D.

(* as a keyed function: at the root the seed's complement and the seed *)
Example keyed_prg_adv_ex :
  prf_adv (false : one_bit) (fun k m => (xorb k m, k))
    (ask_message (fun p => p == [::]) (Ret ([::], @equal_halves one_bit))) = - (1 / 2%:R).
Proof.
rewrite -keyed_prg_adv /prg_adv /Pr /= !avg_bool; by apply/eqP; vm_compute.
Qed.

(* ---- The suites on an adversary ---------------------------------------------------------------------- *)

(* Two users with two leaves each.  Evaluate the second one's second leaf, be challenged on its first. *)
Definition second_users_first : leaf 2 := [tuple true; false].
Definition second_users_second : leaf 2 := [tuple true; true].

Definition neighbours : ev_adversary bits128 2 :=
  @Ask _ (@ev_reply bits128 2) (Evaluate second_users_second) (fun y =>
  @Ask _ (@ev_reply bits128 2) (Challenge second_users_first) (fun z => Conclude _ (y == z))).

Lemma neighbours_first : challenges_in (first_leaves 1 1) neighbours.
Proof. by do 3 ?split=> //. Qed.

(* any cipher; here the one that adds its key *)
Definition add_key (k b : bits128) : bits128 :=
  [tuple of mkseq (fun i => xorb (nth false k i) (nth false b i)) 128].

Example suite_adv_bounds_ex := @suite_adv_bounds add_key 2 1 1 neighbours (fun _ => neighbours) isT
  neighbours_first (fun _ => neighbours_first).

Example aes_adv_bound_tree_ex := @aes_adv_bound_tree add_key 2 (fun _ => neighbours).

Lemma neighbours_in_tree : challenges_in (first_leaves 0 3) neighbours.
Proof. by do 3 ?split=> //. Qed.

Example aes_adv_bound_first_ex :=
  @aes_adv_bound_first add_key 2 3 (fun _ => neighbours) (fun _ => neighbours_in_tree).

(* The same with a query of the ideal function at the node above, for a seed of zeros. *)
Definition one_query (Tag : finType) (t : Tag) : id_adversary bits128 2 Tag :=
  @Ask _ (@id_reply bits128 2 Tag) (Device bits128 Tag (Evaluate second_users_second)) (fun y =>
  @Ask _ (@id_reply bits128 2 Tag) (Device bits128 Tag (Challenge second_users_first)) (fun z =>
  @Ask _ (@id_reply bits128 2 Tag) (Hash 2 t zeros) (fun ab => Conclude _ (Some ab.1 == z)))).

Lemma one_query_hashes (Tag : finType) (t : Tag) : hashes_at_most 1 (one_query t).
Proof. by []. Qed.

Example suite_ideal_bounds_ex := @suite_ideal_bounds 2 1 1 (one_query (tt : no_tag))
  (fun ts => one_query (id_tag 2 1 ts [:: true])) isT isT (one_query_hashes _) (fun ts => one_query_hashes _).

(* SPDX-License-Identifier: Apache-2.0 *)
(* The suites' PRGs equal what the C code of the Keccak functions computes: seeds and salts in
   two words, ids in one word, and SHA3-256's halves. This connects keccak_sound and
   salted_sound, about bytes, with the security statements, about 128 bits. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode KeccakCode.
From Pprf.spec Require Import Fips202 RefGame Sha3Suite SaltedSuite.
From Pprf.proofs Require Import KeccakSym KeccakRounds KeccakSound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Lemma bits_agree (v : N) : mkseq (fun i => Z.testbit (Z.of_N v) (Z.of_nat i)) 64 = word_bits v.
Proof. by apply: eq_map => i; rewrite -nat_N_Z Z.testbit_of_N. Qed.

Lemma seed_bits (lo hi : N) : tval (seed_of_words (Z.of_N lo) (Z.of_N hi)) = word_bits lo ++ word_bits hi.
Proof. by rewrite -!bits_agree. Qed.

Lemma first_half (T : Type) (x0 : T) n (s t : seq T) : size s = n -> mkseq (nth x0 (s ++ t)) n = s.
Proof.
move=> <-; rewrite -[RHS](mkseq_nth x0); apply/eq_in_map => i; rewrite mem_iota => /andP [_ h].
by rewrite nth_cat h.
Qed.

Lemma second_half (T : Type) (x0 : T) n (s t : seq T) : size s = n -> size t = n ->
  mkseq (fun i => nth x0 (s ++ t) (n + i)) n = t.
Proof.
move=> sn tn; rewrite -[RHS](mkseq_nth x0) tn; apply: eq_map => i.
by rewrite nth_cat sn ltnNge leq_addr addKn.
Qed.

(* A suite's two children are the halves of a digest of four words. *)
Lemma halves_of_words M (l0 l1 r0 r1 : N) : sha3_256_bits M = bits_of_words [:: l0; l1; r0; r1] ->
  mkseq (nth false (sha3_256_bits M)) 128 = tval (seed_of_words (Z.of_N l0) (Z.of_N l1)) /\
  mkseq (fun i => nth false (sha3_256_bits M) (128 + i)) 128 =
    tval (seed_of_words (Z.of_N r0) (Z.of_N r1)).
Proof.
have sl a b : size (word_bits a ++ word_bits b) = 128 by rewrite size_cat !size_word_bits.
have -> : bits_of_words [:: l0; l1; r0; r1] =
    (word_bits l0 ++ word_bits l1) ++ (word_bits r0 ++ word_bits r1).
  by rewrite -[LHS]/(word_bits l0 ++ word_bits l1 ++ word_bits r0 ++ word_bits r1 ++ [::]) cats0 catA.
move=> ->; rewrite !seed_bits; split; first exact: first_half (sl l0 l1).
exact: second_half (sl l0 l1) (sl r0 r1).
Qed.

Theorem keccak_is_the_suite p lo hi :
  List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
  exists l0 l1 r0 r1 : N,
  run iota_words p [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
  sha3_prg (seed_of_words (Z.of_N lo) (Z.of_N hi)) =
    (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1)).
Proof.
move=> /one_program ->.
have [l0 [l1 [r0 [r1 [R B _]]]]] := @one_block_sound _ [:: lo; hi] isT first_round.
exists l0, l1, r0, r1; split; first exact: R.
have [L E] := halves_of_words B.
have M : tval (seed_of_words (Z.of_N lo) (Z.of_N hi)) = bits_of_words [:: lo; hi].
  by rewrite seed_bits -[RHS]/(word_bits lo ++ word_bits hi ++ [::]) cats0.
by rewrite -M in L E; congr pair; apply: eqtype.val_inj; [exact: L | exact: E].
Qed.

Theorem salted_is_the_suite p lo hi salt_lo salt_hi id :
  List.In p salted_functions ->
  exists l0 l1 r0 r1 : N,
  let s := seed_of_words (Z.of_N lo) (Z.of_N hi) in
  let salt := seed_of_words (Z.of_N salt_lo) (Z.of_N salt_hi) in
  run iota_words p [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
  (salted_left salt s (Z.of_N id), salted_right salt s (Z.of_N id)) =
    (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1)).
Proof.
move=> /one_salted_program ->.
have [l0 [l1 [r0 [r1 [R B _]]]]] :=
  @one_block_sound _ [:: lo; hi; salt_lo; salt_hi; id] isT first_round_of_node.
exists l0, l1, r0, r1; split; first exact: R.
have [L E] := halves_of_words B.
have M : node_message (seed_of_words (Z.of_N salt_lo) (Z.of_N salt_hi))
    (seed_of_words (Z.of_N lo) (Z.of_N hi)) (Z.of_N id) = bits_of_words [:: lo; hi; salt_lo; salt_hi; id].
  rewrite /node_message !seed_bits bits_agree -!catA.
  by rewrite -[RHS]/(word_bits lo ++ word_bits hi ++ word_bits salt_lo ++ word_bits salt_hi ++
    word_bits id ++ [::]) cats0.
by rewrite -M in L E; congr pair; apply: eqtype.val_inj; [exact: L | exact: E].
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The suite's PRG is what the C code of the Keccak functions computes: seeds in two words, and SHA3-256's
   halves.  This joins keccak_sound, about bytes, to the security statement, about 128 bits. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode KeccakCode.
From Pprf.spec Require Import Fips202 RefGame Sha3Suite.
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

Theorem keccak_is_the_suite p lo hi :
  List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
  exists l0 l1 r0 r1 : N,
  run iota_words p [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
  sha3_prg (seed_of_words (Z.of_N lo) (Z.of_N hi)) =
    (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1)).
Proof.
move=> /one_program ->.
have sM : size (word_bits lo ++ word_bits hi) = 128 by rewrite size_cat !size_word_bits.
have D := sponge_one_block sM; rewrite -catA in D.
have [|l0 [l1 [r0 [r1 [R B]]]]] := @run_rounds lo hi
  (of_string (word_bits lo ++ word_bits hi ++ padding)); first exact: first_lanesP.
rewrite B in D; exists l0, l1, r0, r1; split; first exact: R.
have sl a b : size (word_bits a ++ word_bits b) = 128 by rewrite size_cat !size_word_bits.
congr pair; apply: eqtype.val_inj.
- change (mkseq (nth false (sha3_256_bits (tval (seed_of_words (Z.of_N lo) (Z.of_N hi))))) 128 =
          tval (seed_of_words (Z.of_N l0) (Z.of_N l1))).
  rewrite !seed_bits D catA; exact: first_half (sl l0 l1).
change (mkseq (fun i => nth false (sha3_256_bits (tval (seed_of_words (Z.of_N lo) (Z.of_N hi)))) (128 + i)) 128 =
        tval (seed_of_words (Z.of_N r0) (Z.of_N r1))).
rewrite !seed_bits D catA; exact: second_half (sl l0 l1) (sl r0 r1).
Qed.

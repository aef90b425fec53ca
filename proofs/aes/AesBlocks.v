(* SPDX-License-Identifier: Apache-2.0 *)
(* A block that passes a check of AesRounds.v has that effect on all words. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode AesCode.
From Pprf.proofs Require Import KeccakSym AesSym AesRounds.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Unknown bits are bits of words -------------------------------------------------------------- *)

Definition bits_of_words (words : seq N) (a : N) : bool :=
  if (a =? 0)%num then true
  else let n := (N.to_nat a).-1 in tb (nth 0%num words (n %/ 64)) (n %% 64).

Lemma odflt_some (x : N) : odflt 0%num (Some x) = x.
Proof. by []. Qed.

Lemma sum1 v a : sum v [:: a] = v a.
Proof. exact: Bool.xorb_false_r. Qed.

Lemma bits_of_wordsE words i z : z < 64 ->
  bits_of_words words (N.of_nat (64 * i + z).+1) = tb (nth 0%num words i) z.
Proof.
move=> lt; rewrite /bits_of_words Nnat.Nat2N.id /=.
by rewrite mulnC divnMDl // divn_small // addn0 modnMDl modn_small.
Qed.

(* The variables from `base' on hold, in their first `n' bits, bit planes of these bytes. *)
Definition in_env (base n : nat) (r : env) (S : nat -> byte) : Prop :=
  forall i, i < 8 -> exists2 x, nth None r (base + i) = Some x &
  forall z, z < n -> tb x z = bit (S z) i.
(* The round key's variables have no other bits set. *)
Definition key_in_env (r : env) (K : nat -> byte) : Prop :=
  forall i, i < 8 -> exists2 x, nth None r (key_ + i) = Some x &
  forall z, z < 64 -> tb x z = (z < 16) && bit (K z) i.

Definition words_of (r : env) : seq N := mkseq (fun i => odflt 0%num (nth None r (s_ + i))) 16.

Lemma planesP (v : N -> bool) bytes S r s : v 0%num = true -> known v r s -> planes_are bytes s ->
  (forall z, z < 48 -> holds v (S z) (nth [::] bytes z)) -> in_env s_ 48 r S.
Proof.
move=> v0 kn /allP right SP i lt.
have := right i; rewrite mem_iota => /(_ lt); case E: nth => [p|] // /allP right_i.
have [x -> xp] := kn _ _ E; exists x => // z ltz.
rewrite xp; last exact: (leq_trans ltz).
have := right_i z; rewrite mem_iota => /(_ ltz) /(sameP v) ->.
by rewrite -SP.
Qed.

(* ---- SubBytes ------------------------------------------------------------------------------------- *)

Lemma sub_bytes_block code r S K : all (sbox_right code) byte_values -> keeps_key code ->
  in_env s_ 48 r S -> key_in_env r K ->
  exists2 r', run_block [::] None code r = Some r' &
  in_env s_ 48 r' (fun z => S_box (S z)) /\ key_in_env r' K.
Proof.
move=> all_right kept rS rK.
have column z : z < 48 -> exists2 r', run_block [::] None code r = Some r' &
    forall i, i < 8 -> exists2 x, nth None r' (s_ + i) = Some x & tb x z = bit (S_box (S z)) i.
  move=> lt; have := all_bytes all_right (S z); rewrite /sbox_right.
  case E: col_block => [c|] // /allP right.
  have kn : col_known z r (byte_column (S z)).
    move=> u b; rewrite /byte_column nth_cat size_nseq nth_nseq; case: ltnP => // le.
    case: (ltnP (u - s_) 8) => lt8; last by rewrite nth_default // size_mkseq.
    rewrite nth_mkseq // => -[<-]; have [x] := rS _ lt8; rewrite subnKC // => -> xS.
    by exists x => //; exact: xS.
  have [r' -> kn'] := col_blockP [::] None (leq_trans lt (isT : 48 <= 64)) kn E; exists r' => // i lt8.
  have := right i; rewrite mem_iota => /(_ lt8); case E': nth => [b|] // /eqP bP.
  by have [x -> xb] := kn' _ _ E'; exists x => //; rewrite xb bP.
have [r' run' _] := column 0 isT; exists r' => //; split=> i lt.
  have [x E _] : exists2 x, nth None r' (s_ + i) = Some x & tb x 0 = bit (S_box (S 0)) i.
    by have [r2] := column 0 isT; rewrite run' => -[<-]; apply.
  exists x => // z ltz; have [r2] := column z ltz; rewrite run' => -[<-] /(_ i lt)[y].
  by rewrite E => -[<-].
have /allP/(_ i) := kept; rewrite mem_iota => /(_ lt) kept_i.
have [x E xK] := rK i lt; exists x => //.
by rewrite (run_block_keeps kept_i run').
Qed.

(* ---- The round's other blocks ---------------------------------------------------------------------- *)

Lemma planes_known r S p i : in_env s_ 48 r S -> i < 8 -> plane i = Some p ->
  exists2 x, nth None r (s_ + i) = Some x & stands_for (bits_of_words (words_of r)) x p.
Proof.
move=> rS lt /Some_inj <-; have [x E _] := rS i lt; exists x => //.
apply: stands_word_of => z ltz; rewrite sum1 bits_of_wordsE //.
by rewrite /words_of nth_mkseq ?E //; apply: leq_trans lt _.
Qed.

Lemma plane_known r S : in_env s_ 48 r S -> known (bits_of_words (words_of r)) r plane_env.
Proof.
move=> rS u p; rewrite /plane_env nth_cat size_nseq nth_nseq; case: ltnP => // le.
case: (ltnP (u - s_) 8) => lt8; last by rewrite nth_default // size_mkseq.
by rewrite nth_mkseq // => /(planes_known rS lt8); rewrite subnKC.
Qed.

Lemma linear_known r S K : in_env s_ 48 r S -> key_in_env r K ->
  known (bits_of_words (words_of r)) r linear_env.
Proof.
move=> rS rK u p; rewrite /linear_env nth_cat size_nseq nth_nseq; case: ltnP => // le.
rewrite nth_cat size_mkseq; case: ltnP => lt.
  by rewrite nth_mkseq // => /(planes_known rS lt); rewrite subnKC.
case: (ltnP (u - s_ - 8) 8) => lt8; last by rewrite nth_default // size_mkseq.
have u_is : key_ + (u - s_ - 8) = u.
  by rewrite -[key_]/(s_ + 8) -addnA subnKC // subnKC.
rewrite nth_mkseq // => /Some_inj <-; have [x] := rK _ lt8; rewrite u_is => E xK; exists x => // z ltz.
rewrite xK // /sbit; case: ltnP => ltz16; last by rewrite nth_default // size_mkseq.
rewrite nth_mkseq // sum1 bits_of_wordsE //.
rewrite /words_of nth_mkseq; last by rewrite -(ltn_add2l 8) in lt8; exact: lt8.
have -> : s_ + (8 + (u - s_ - 8)) = u by rewrite addnA.
by rewrite E odflt_some xK // ltz16.
Qed.

(* The values of the unknowns in the planes. *)
Lemma plane_bit r S i z : in_env s_ 48 r S -> i < 8 -> z < 48 ->
  bits_of_words (words_of r) (N.of_nat (64 * i + z).+1) = bit (S z) i.
Proof.
move=> rS lti ltz; have [x E xS] := rS i lti.
rewrite bits_of_wordsE; last exact: (leq_trans ltz).
by rewrite /words_of nth_mkseq ?E ?xS //; apply: leq_trans lti _.
Qed.

Lemma key_bit r K i z : key_in_env r K -> i < 8 -> z < 16 ->
  bits_of_words (words_of r) (N.of_nat (64 * (8 + i) + z).+1) = bit (K z) i.
Proof.
move=> rK lti ltz; have [x E xK] := rK i lti.
have lt64 : z < 64 by exact: (leq_trans ltz).
rewrite bits_of_wordsE // /words_of nth_mkseq ?ltn_add2l //.
have -> : s_ + (8 + i) = key_ + i by rewrite addnA.
by rewrite E odflt_some xK // ltz.
Qed.

Lemma copy_blockP code r S : copy_right code -> in_env s_ 48 r S ->
  exists2 r', run_block [::] None code r = Some r' &
  in_env s_ 48 r' S /\ key_in_env r' (fun z => S (32 + z)).
Proof.
move=> right rS; have kn := plane_known rS; have v0 : bits_of_words (words_of r) 0%num = true by [].
move: right; rewrite /copy_right; case E: sym_block => [s|] // /andP[planes /allP key].
have [r' run kn'] := sym_blockP v0 [::] None kn E; exists r' => //; split.
  apply: (@planesP (bits_of_words (words_of r)) _ _ _ _ v0 kn' planes) => z lt; rewrite nth_mkseq //; apply: holds_form => i lti.
  by rewrite sum1 (plane_bit rS).
move=> i lti; have := key i; rewrite mem_iota => /(_ lti); case E': nth => [p|] // /allP same_i.
have [x E2 xp] := kn' _ _ E'; exists x => // z lt.
rewrite xp //; have := same_i z; rewrite mem_iota => /(_ lt) /(sameP (bits_of_words (words_of r))) ->.
by case: ifP => // lt16; rewrite sum1 (plane_bit rS) // (ltn_add2l 32 z 16).
Qed.

Lemma linear_blockP code j r S K out : 
  linear_right j code ->
  in_env s_ 48 r S -> key_in_env r K ->
  (forall v : N -> bool, v 0%num = true -> (forall z, z < 48 -> holds v (S z) (subbed z)) ->
    (forall z, z < 16 -> holds v (K z) (old_key z)) ->
    forall z, z < 48 -> holds v (out z) (sym_out j z)) ->
  exists2 r', run_block [::] None code r = Some r' & in_env s_ 48 r' out.
Proof.
move=> right rS rK outP; have kn := linear_known rS rK.
have v0 : bits_of_words (words_of r) 0%num = true by [].
move: right; rewrite /linear_right; case E: sym_block => [s|] // planes.
have [r' run kn'] := sym_blockP v0 [::] None kn E; exists r' => //.
apply: (@planesP (bits_of_words (words_of r)) _ _ _ _ v0 kn' planes) => z lt; rewrite nth_mkseq //; apply: outP => // y lty.
  by apply: holds_form => i lti; rewrite sum1 (plane_bit rS).
by apply: holds_form => i lti; rewrite sum1 (key_bit rK).
Qed.

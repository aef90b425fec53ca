(* SPDX-License-Identifier: Apache-2.0 *)
(* The portable AES of opt computes the two halves of the suite aes-128, with AES-128 as FIPS 197 defines it. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode AesCode.
From Pprf.spec Require Codec Fips202.
From Pprf.proofs Require KeccakRounds KeccakSound.
From Pprf.proofs Require Import KeccakSym AesSym AesRounds AesBlocks AesSteps.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- The ten rounds ------------------------------------------------------------------------------- *)

Lemma all_equal (T : Type) (f : nat -> T) x k : map f (iota 1 k) = nseq k x ->
  forall n, n < k -> f n.+1 = x.
Proof.
move=> E n lt; have := congr1 (fun s => nth x s n) E.
by rewrite (nth_map 0) ?size_iota // nth_iota // add1n nth_nseq lt.
Qed.

Lemma flatten_iotaS (T : Type) (f : nat -> seq T) n :
  flatten (map f (iota 1 n.+1)) = flatten (map f (iota 1 n)) ++ f n.+1.
Proof. by rewrite -[n.+1]addn1 iotaD map_cat flatten_cat /= cats0 add1n addn1. Qed.

Lemma rounds_run key r L R n : n <= 10 ->
  let w := key_expansion key in
  in_env s_ 48 r (at3 L R (round_key w 0)) ->
  exists2 r', run_block [::] None (flatten (map round_code (iota 1 n))) r = Some r' &
  in_env s_ 48 r' (at3 (rounds w L n) (rounds w R n) (round_key w n)).
Proof.
move=> le w rS; elim: n le => [|n IH] lt; first by exists r.
have [r1 run1 r1S] := IH (ltnW lt).
have range : 0 < n.+1 <= 10 by [].
have in_range : n.+1 \in iota 1 10 by rewrite mem_iota.
have sbox : blocks_at (5 + 5 * (n.+1 - 1)) = sbox_block.
  exact: (all_equal sbox_blocks).
have [] := @round_run key n.+1 range (copy_block n.+1) (blocks_at (5 + 5 * (n.+1 - 1)))
  (linear_blocks n.+1) r1 (rounds w L n) (rounds w R n).
- exact: (allP copies_right).
- by rewrite sbox; exact: sbox_all.
- by rewrite sbox; exact: sbox_keeps_key.
- exact: (allP rounds_right).
- exact: r1S.
move=> r2 run2 r2S; exists r2; last by rewrite !roundsS.
by rewrite flatten_iotaS KeccakRounds.run_block_cat run1.
Qed.

(* ---- Words and bytes ------------------------------------------------------------------------------- *)

Lemma bit_of_list b i : bit b i = nth false (Fips202.bits_of_byte b) i.
Proof. by rewrite /bit /Fips202.bits_of_byte; case: Byte.to_bits => ? [? [? [? [? [? []]]]]]. Qed.

Lemma bit_put_le m a n i : n < m -> i < 8 -> bit (nth x00 (Codec.put_le m a) n) i = tb a (8 * n + i).
Proof.
move=> lt lti; elim: m a n lt => [|m IH] a [|n] //= lt.
  by rewrite bit_of_list KeccakSound.bits_of_byte_of nth_mkseq.
rewrite IH // /tb (N.div_pow2_bits a 8); congr N.testbit.
by rewrite mulnS -!plusE -multE; lia.
Qed.

Lemma size_put_le m a : size (Codec.put_le m a) = m.
Proof. by elim: m a => [|m IH] a //=; rewrite IH. Qed.

Lemma nth_put_le_cat lo hi n : nth x00 (Codec.put_le 8 lo ++ Codec.put_le 8 hi) n =
  if n < 8 then nth x00 (Codec.put_le 8 lo) n else nth x00 (Codec.put_le 8 hi) (n - 8).
Proof. by rewrite nth_cat size_put_le. Qed.

Lemma plane_env_known words n k : k <= n -> n <= size words ->
  known (bits_of_words words) (map Some words) (mkseq plane k).
Proof.
move=> le len u p; case: (ltnP u k) => lt; last by rewrite nth_default // size_mkseq.
have ltw : u < size words by apply: (leq_trans (leq_trans lt le)).
rewrite nth_mkseq // => /Some_inj <-; exists (nth 0%num words u); first by rewrite (nth_map 0%num).
by apply: stands_word_of => z ltz; rewrite sum1 bits_of_wordsE.
Qed.

Lemma word_byte_holds words k n : n < 8 ->
  holds (bits_of_words words) (nth x00 (Codec.put_le 8 (nth 0%num words k)) n) (word_byte k n).
Proof.
move=> lt; apply: holds_form => i lti; rewrite sum1 bits_of_wordsE ?bit_put_le //.
by rewrite -ltnS in lti; rewrite (@leq_trans (8 * n + 8)) ?ltn_add2l // -mulnSr (leq_mul2l 8 n.+1 8).
Qed.

(* ---- Before and after the rounds -------------------------------------------------------------------- *)

Definition two_words (lo hi : N) : seq byte := Codec.put_le 8 lo ++ Codec.put_le 8 hi.
Definition block_of (salt id : seq byte) (b : byte) : seq byte :=
  [seq add x.1 x.2 | x <- zip salt (id ++ b :: nseq 7 x00)].

Lemma nth_block_of salt_lo salt_hi id b n : n < 16 ->
  nth x00 (block_of (two_words salt_lo salt_hi) (Codec.put_le 8 id) b) n =
  if n < 8 then add (nth x00 (Codec.put_le 8 salt_lo) n) (nth x00 (Codec.put_le 8 id) n)
  else add (nth x00 (Codec.put_le 8 salt_hi) (n - 8)) (if n == 8 then b else x00).
Proof.
move=> lt.
have sizes : size (two_words salt_lo salt_hi) = size (Codec.put_le 8 id ++ b :: nseq 7 x00).
  by rewrite !size_cat !size_put_le.
rewrite (nth_map (x00, x00)) ?size_zip -?sizes ?minnn; last by rewrite size_cat !size_put_le.
rewrite nth_zip // nth_put_le_cat nth_cat size_put_le.
by case: n lt => [|[|[|[|[|[|[|[|[|[|[|[|[|[|[|[|n]]]]]]]]]]]]]]]].
Qed.

Section Function.

Variables lo hi salt_lo salt_hi id : N.
Let args := [:: lo; hi; salt_lo; salt_hi; id].
Let v := bits_of_words args.
Let key := two_words lo hi.
Let input b := block_of (two_words salt_lo salt_hi) (Codec.put_le 8 id) b.

Lemma seed_holds n : n < 16 -> holds v (nth x00 key n) (seed_byte n).
Proof.
move=> lt; rewrite /key /two_words nth_put_le_cat /seed_byte; case: ltnP => [lt8 | ge].
  exact: (@word_byte_holds args 0).
by apply: (@word_byte_holds args 1); rewrite ltn_subLR.
Qed.

Lemma input_holds b n : n < 16 -> holds v (nth x00 (input b) n) (input_byte b n).
Proof.
move=> lt; rewrite /input nth_block_of // /input_byte; case: ltnP => [lt8 | ge].
  by apply: holds_add; [exact: (@word_byte_holds args 2) | exact: (@word_byte_holds args 4)].
apply: holds_add; last exact: holds_const.
by apply: (@word_byte_holds args 3); rewrite ltn_subLR.
Qed.

Definition first_state (b : byte) : state := add_round_key (key_expansion key) (input b) 0.

Lemma first_states z : z < 48 ->
  holds v (at3 (first_state x00) (first_state x01) (round_key (key_expansion key) 0) z) (sym_in z).
Proof.
have first b n : n < 16 -> holds v (nth x00 (first_state b) n) (sym_add (input_byte b n) (seed_byte n)).
  move=> lt; rewrite nth_add_round_key // round_key_0 //; apply: holds_add; first exact: input_holds.
  exact: seed_holds.
move=> lt; rewrite /sym_in; case: ltnP => [lt' | ge]; first by rewrite at3_left //; exact: first.
case: ltnP => [lt' | ge'].
  have ltz : z - 16 < 16 by rewrite ltn_subLR.
  by rewrite -{1}(subnKC ge) at3_right //; exact: first.
have ltz : z - 32 < 16 by rewrite ltn_subLR.
by rewrite -{1}(subnKC ge') at3_key round_key_0 //; exact: seed_holds.
Qed.

Lemma known_more r s m : known v r s -> known v (r ++ nseq m None) s.
Proof.
move=> kn u p E; have [x Ex xp] := kn u p E; exists x => //.
by rewrite nth_cat; case: ltnP => // ge; rewrite nth_default in Ex.
Qed.

Lemma input_run code m :
  input_right code ->
  exists2 r, run_block [::] None code (map Some args ++ nseq m None) = Some r &
  in_env s_ 48 r (at3 (first_state x00) (first_state x01) (round_key (key_expansion key) 0)).
Proof.
have kn : known v (map Some args ++ nseq m None) (mkseq plane 5).
  by apply: known_more; apply: (@plane_env_known args 5 5).
have v0 : v 0%num = true by [].
rewrite /input_right; case E: sym_block => [s|] // planes.
have [r run kn'] := sym_blockP v0 [::] None kn E; exists r => //.
by apply: (@planesP v _ _ _ _ v0 kn' planes) => z lt; rewrite nth_mkseq //; exact: first_states.
Qed.

End Function.

Lemma output_run code (es : seq expr) r S :
  output_right code es ->
  in_env s_ 48 r S ->
  exists2 r', run_block [::] None code r = Some r' &
  forall k, k < 4 -> exists2 x, eval [::] None r' (nth (Const 0) es k) = Some x &
  forall n, n < 8 -> nth x00 (Codec.put_le 8 x) n = S (8 * k + n).
Proof.
move=> right rS; have kn := plane_known rS.
have v0 : bits_of_words (words_of r) 0%num = true by [].
move: right; rewrite /output_right; case E: sym_block => [s|] // /allP right.
have [r' run kn'] := sym_blockP v0 [::] None kn E; exists r' => // k ltk.
have := right k; rewrite mem_iota => /(_ ltk); case E': sym_eval => [p|] // /allP right_k.
have [x Ex xp] := sym_evalP v0 [::] None kn' E'; exists x => // n lt.
apply: byte_ext => i lti; rewrite bit_put_le //.
have lt64 : 8 * n + i < 64.
  by rewrite (@leq_trans (8 * n + 8)) ?ltn_add2l // -mulnSr (leq_mul2l 8 n.+1 8).
rewrite xp //; have := right_k (8 * n + i); rewrite mem_iota => /(_ lt64).
have -> : (8 * n + i) %% 8 = i by rewrite mulnC modnMDl modn_small.
have -> : (8 * n + i) %/ 8 = n by rewrite mulnC divnMDl // divn_small // addn0.
move=> /(sameP (bits_of_words (words_of r))) ->; rewrite sum1 (plane_bit rS) //.
rewrite (@leq_trans (8 * k + 8)) ?ltn_add2l // -mulnSr (@leq_trans (8 * 4)) //.
by rewrite leq_mul2l.
Qed.

(* ---- The theorem ------------------------------------------------------------------------------------ *)

Lemma two_words_are lo hi (s : seq byte) : size s = 16 ->
  (forall n, n < 8 -> nth x00 (Codec.put_le 8 lo) n = nth x00 s n) ->
  (forall n, n < 8 -> nth x00 (Codec.put_le 8 hi) n = nth x00 s (8 + n)) ->
  Codec.put_le 8 lo ++ Codec.put_le 8 hi = s.
Proof.
move=> size_s low high; apply: (@eq_from_nth _ x00); first by rewrite size_cat !size_put_le.
move=> n; rewrite size_cat !size_put_le => lt; rewrite nth_put_le_cat; case: ltnP => [lt8 | ge].
  exact: low.
by rewrite high ?subnKC // ltn_subLR.
Qed.

Lemma run_straight p args r : limit p = 0 -> after p = [::] ->
  run_block [::] None (before p) (map Some args ++ nseq (variables p - size args) None) = Some r ->
  run [::] p args = values [::] r (returned p).
Proof. by move=> l0 a0 E; rewrite /run E l0 a0 /= l0. Qed.

Lemma program_sound p b0 b2 lo hi salt_lo salt_hi id :
  let e := nth (Const 0) (returned p) in
  before p = b0 ++ (flatten (map round_code (iota 1 10)) ++ b2) ->
  limit p = 0 -> after p = [::] -> returned p = [:: e 0; e 1; e 2; e 3; Const 0] ->
  input_right b0 -> output_right b2 (returned p) ->
  exists l0 l1 r0 r1,
  run [::] p [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
  let seed := Codec.put_le 8 lo ++ Codec.put_le 8 hi in
  let salt := Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi in
  Codec.put_le 8 l0 ++ Codec.put_le 8 l1 = aes_half seed salt (Codec.put_le 8 id) x00 /\
  Codec.put_le 8 r0 ++ Codec.put_le 8 r1 = aes_half seed salt (Codec.put_le 8 id) x01.
Proof.
move=> e before_is no_loop no_after returned_is in_right out_right.
have [r1 run1 r1S] := @input_run lo hi salt_lo salt_hi id b0 (variables p - 5) in_right.
have [r2 run2 r2S] := rounds_run (isT : 10 <= 10) r1S.
have [r3 run3 out] := output_run out_right r2S.
have [l0 E0 P0] := out 0 isT; have [l1 E1 P1] := out 1 isT.
have [m0 E2 P2] := out 2 isT; have [m1 E3 P3] := out 3 isT.
exists l0, l1, m0, m1; split.
  rewrite (@run_straight _ _ r3) //; first by rewrite returned_is /values E0 E1 E2 E3.
  by rewrite before_is KeccakRounds.run_block_cat run1 /obind /oapp KeccakRounds.run_block_cat run2.
have half b : aes_half (two_words lo hi) (two_words salt_lo salt_hi) (Codec.put_le 8 id) b =
    rounds (key_expansion (two_words lo hi)) (first_state lo hi salt_lo salt_hi id b) 10.
  exact: cipher_rounds.
have size_half s : size (rounds (key_expansion (two_words lo hi)) s 10) = 16.
  by rewrite roundsS size_mkseq.
cbv zeta; rewrite -!/(two_words _ _) !half; split.
  apply: two_words_are => // n lt.
    by rewrite P0 // at3_left // (leq_trans lt).
  by rewrite P1 // at3_left // (ltn_add2l 8 n 8).
apply: two_words_are => // n lt.
  by rewrite P2 // at3_right // (leq_trans lt).
by rewrite P3 // -[8 * 3 + n]/(16 + (8 + n)) at3_right // (ltn_add2l 8 n 8).
Qed.

Theorem aes_sound lo hi salt_lo salt_hi id :
  exists l0 l1 r0 r1,
  run [::] opt_aes_bitsliced [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
  let seed := Codec.put_le 8 lo ++ Codec.put_le 8 hi in
  let salt := Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi in
  Codec.put_le 8 l0 ++ Codec.put_le 8 l1 = aes_half seed salt (Codec.put_le 8 id) x00 /\
  Codec.put_le 8 r0 ++ Codec.put_le 8 r1 = aes_half seed salt (Codec.put_le 8 id) x01.
Proof.
by apply: program_sound code_is _ _ _ input_is_right output_is_right.
Qed.

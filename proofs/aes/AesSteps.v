(* SPDX-License-Identifier: Apache-2.0 *)
(* The sums of unknown bits in AesRounds.v equal FIPS 197's definitions. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode AesCode.
From Pprf.proofs Require KeccakRounds.
From Pprf.proofs Require Import KeccakSym AesSym AesRounds AesBlocks.
From Pprf.proofs Require KeccakRounds.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- FIPS 197's steps, byte by byte ------------------------------------------------------------- *)

Lemma nth_array f n : n < 16 -> nth x00 (array f) n = f (n %% 4) (n %/ 4).
Proof. by move=> lt; rewrite nth_mkseq. Qed.

Lemma lt16 r c : r < 4 -> c < 4 -> r + 4 * c < 16.
Proof. by case: r => [|[|[|[|r]]]] //; case: c => [|[|[|[|c]]]] //. Qed.

Lemma at_array f r c : r < 4 -> c < 4 -> at_ (array f) r c = f r c.
Proof.
move=> ltr ltc; rewrite /at_ nth_array; last exact: lt16.
by rewrite addnC mulnC modnMDl divnMDl // modn_small // divn_small // addn0.
Qed.

Lemma at_n s n : at_ s (n %% 4) (n %/ 4) = nth x00 s n.
Proof. by rewrite /at_ addnC mulnC -divn_eq. Qed.

Lemma mod4 n : n %% 4 < 4. Proof. by rewrite ltn_pmod. Qed.
Lemma div4 n : n < 16 -> n %/ 4 < 4. Proof. by move=> lt; rewrite ltn_divLR. Qed.

Definition round_key (w : seq word) (j : nat) : seq byte :=
  array (fun r c => nth x00 (nth [::] w (4 * j + c)) r).

Lemma nth_sub_bytes s n : n < 16 -> nth x00 (sub_bytes s) n = S_box (nth x00 s n).
Proof. by move=> lt; rewrite nth_array // at_n. Qed.

Lemma nth_add_round_key w s j n : n < 16 ->
  nth x00 (add_round_key w s j) n = add (nth x00 s n) (nth x00 (round_key w j) n).
Proof. by move=> lt; rewrite !nth_array // at_n. Qed.

Section Steps.

Variable v : N -> bool.
Hypothesis v0 : v 0 = true.

(* A state's bytes, from the place z on. *)
Definition state_holds (s : state) (f : nat -> sbyte) : Prop :=
  forall n, n < 16 -> holds v (nth x00 s n) (f n).

Lemma shift_rows_holds s f : state_holds s f -> state_holds (shift_rows s) (sym_shift_rows f).
Proof.
move=> sf n lt; rewrite nth_array //; apply: sf; apply: lt16 (mod4 _) (mod4 _).
Qed.

Lemma mix_row_holds r k b s : r < 4 -> k < 4 -> holds v b s ->
  holds v (mul (nth x00 (mix_row r) k) b) (sym_mul (nth x00 (mix_row r) k) s).
Proof.
move=> ltr ltk bs.
have three : holds v (mul x03 b) (sym_mul x03 s).
  by rewrite mul3; apply: holds_add => //; apply: holds_xtimes.
have two : holds v (mul x02 b) (sym_mul x02 s) by rewrite mul2; apply: holds_xtimes.
have one : holds v (mul x01 b) (sym_mul x01 s) by rewrite mul1.
by case: r ltr => [|[|[|[|r]]]] // _; case: k ltk => [|[|[|[|k]]]].
Qed.

Lemma mix_columns_holds s f : state_holds s f -> state_holds (mix_columns s) (sym_mix_columns f).
Proof.
move=> sf n lt; rewrite nth_array //.
have term k : k < 4 -> holds v (mul (nth x00 (mix_row (n %% 4)) k) (at_ s k (n %/ 4)))
    (sym_mul (nth x00 (mix_row (n %% 4)) k) (f (k + 4 * (n %/ 4)))).
  by move=> ltk; apply: mix_row_holds; [exact: mod4 | by [] | apply: sf; apply: lt16 => //; apply: div4].
by do 3 (apply: holds_add; last exact: term); apply: term.
Qed.

End Steps.

(* ---- Key expansion, word by word ---------------------------------------------------------------- *)

Section KeyExpansion.

Variable key : seq byte.
Let expand (n : nat) : seq word := foldl (fun w i => rcons w (next_word w i)) (key_words key) (iota 4 n).

Lemma expandS n : expand n.+1 = rcons (expand n) (next_word (expand n) (4 + n)).
Proof. by rewrite /expand -[n.+1]addn1 iotaD foldl_cat. Qed.

Lemma size_expand n : size (expand n) = 4 + n.
Proof. by elim: n => [|n IH]; rewrite ?size_mkseq // expandS size_rcons IH addnS. Qed.

Lemma expand_kept n m i : i < 4 + n -> nth [::] (expand (n + m)) i = nth [::] (expand n) i.
Proof.
move=> lt; elim: m => [|m IH]; first by rewrite addn0.
by rewrite addnS expandS nth_rcons size_expand (leq_trans lt) ?IH // leq_add2l leq_addr.
Qed.

Lemma expansion_word n : n < 40 -> nth [::] (key_expansion key) (4 + n) = next_word (key_expansion key) (4 + n).
Proof.
move=> lt; have E k : k <= 40 -> key_expansion key = expand (k + (40 - k)) by move=> le; rewrite subnKC.
rewrite {1}(E n.+1) // expand_kept // expandS nth_rcons size_expand ltnn eqxx.
rewrite /next_word (E n) ?(ltnW lt) // !expand_kept //.
by rewrite addKn addSn ltnS leq_addl.
Qed.

Lemma expansion_key i : i < 4 -> nth [::] (key_expansion key) i = nth [::] (key_words key) i.
Proof. by move=> lt; apply: (@expand_kept 0 40). Qed.

Lemma round_key_0 n : n < 16 -> nth x00 (round_key (key_expansion key) 0) n = nth x00 key n.
Proof.
move=> lt; rewrite nth_array // muln0 add0n expansion_key ?div4 // nth_mkseq ?div4 //.
by rewrite nth_mkseq ?mod4 // mulnC -divn_eq.
Qed.

Lemma round_key_S (v : N -> bool) j : v 0%num = true -> 0 < j <= 10 ->
  let w := key_expansion key in
  state_holds v (round_key w j.-1) old_key ->
  (forall n, n < 16 -> holds v (S_box (nth x00 (round_key w j.-1) n)) (subbed (32 + n))) ->
  forall r c, r < 4 -> c < 4 -> holds v (nth x00 (nth [::] w (4 * j + c)) r) (sym_key j r c).
Proof.
move=> v0 /andP[j0 j10] w old sub r c ltr ltc.
case: j j0 j10 old sub => // j _ lt; rewrite [j.+1.-1]/= => old sub.
have old_at r' c' : r' < 4 -> c' < 4 ->
    nth x00 (round_key w j) (r' + 4 * c') = nth x00 (nth [::] w (4 * j + c')) r'.
  by move=> lr lc; rewrite -[LHS]/(at_ (round_key w j) r' c') at_array.
elim: c ltc => [|c IH] ltc.
  rewrite addn0 mulnS expansion_word; last by rewrite -[40]/(4 * 10) ltn_pmul2l.
  rewrite -/w /next_word addKn modnDl modnMr eqxx divnDl // divnn mulKn //.
  rewrite nth_mkseq //; apply: holds_add.
    by rewrite -[4 * j]addn0 -old_at //; apply: old; apply: lt16.
  rewrite nth_mkseq //; apply: holds_add; last exact: holds_const.
  rewrite /sub_word nth_mkseq // /rot_word nth_mkseq //.
  have -> : 4 + 4 * j - 1 = 4 * j + 3 by rewrite addnC -addnBA.
  rewrite -old_at ?mod4 //; apply: sub; exact: lt16 (mod4 _) _.
have ltc' : c < 4 by apply: ltnW.
have E : 4 * j.+1 + c.+1 = 4 + (4 * j + c.+1) by rewrite mulnS addnA.
have lt40 : 4 * j + c.+1 < 40.
  by rewrite (@leq_trans (4 * j + 4)) ?ltn_add2l // -mulnSr -[40]/(4 * 10) leq_pmul2l.
rewrite E expansion_word // -/w /next_word addKn.
have -> : (4 + (4 * j + c.+1)) %% 4 == 0 = false.
  rewrite modnDl mulnC modnMDl modn_small //.
rewrite nth_mkseq //; apply: holds_add.
  by rewrite -old_at //; apply: old; apply: lt16.
have -> : 4 + (4 * j + c.+1) - 1 = 4 * j.+1 + c by rewrite mulnS !addnA addnS subn1.
exact: IH.
Qed.

End KeyExpansion.

(* ---- One round ------------------------------------------------------------------------------------ *)

Definition one_round (w : seq word) (s : state) (j : nat) : state :=
  add_round_key w (let s := shift_rows (sub_bytes s) in if j < 10 then mix_columns s else s) j.
Definition rounds (w : seq word) (s : state) (n : nat) : state := foldl (one_round w) s (iota 1 n).

Lemma foldl_iotaS (T : Type) (f : T -> nat -> T) s n :
  foldl f s (iota 1 n.+1) = f (foldl f s (iota 1 n)) n.+1.
Proof. by rewrite -[n.+1]addn1 iotaD foldl_cat add1n addn1. Qed.

Lemma roundsS w s n : rounds w s n.+1 = one_round w (rounds w s n) n.+1.
Proof. exact: foldl_iotaS. Qed.

Lemma mixed_rounds w s n : n <= 9 ->
  foldl (fun s round => add_round_key w (mix_columns (shift_rows (sub_bytes s))) round) s (iota 1 n) =
  rounds w s n.
Proof.
elim: n => [|n IH] lt; first by [].
by rewrite foldl_iotaS IH ?(ltnW lt) // roundsS /one_round ltnS lt.
Qed.

Lemma cipher_rounds input w : cipher input w = rounds w (add_round_key w input 0) 10.
Proof.
move E : (add_round_key w input 0) => s.
rewrite roundsS /one_round ltnn /cipher; cbv zeta; rewrite E mixed_rounds //.
Qed.

Lemma at3_left L R K z : z < 16 -> at3 L R K z = nth x00 L z.
Proof. by rewrite /at3 => ->. Qed.
Lemma at3_right L R K z : z < 16 -> at3 L R K (16 + z) = nth x00 R z.
Proof.
move=> lt; rewrite /at3; have -> : (16 + z < 16) = false by rewrite ltnNge leq_addr.
by have -> : (16 + z < 32) = true by []; rewrite addKn.
Qed.
Lemma at3_key L R K z : at3 L R K (32 + z) = nth x00 K z.
Proof.
rewrite /at3; have -> : (32 + z < 16) = false by [].
have -> : (32 + z < 32) = false by rewrite ltnNge leq_addr.
by rewrite addKn.
Qed.

Section Round.

Variables (key : seq byte) (j : nat).
Hypothesis j_range : 0 < j <= 10.
Let w := key_expansion key.

Lemma round_holds (v : N -> bool) L R : v 0%num = true ->
  let K := round_key w j.-1 in
  (forall z, z < 48 -> holds v (S_box (at3 L R K z)) (subbed z)) ->
  (forall z, z < 16 -> holds v (at3 L R K (32 + z)) (old_key z)) ->
  forall z, z < 48 ->
  holds v (at3 (one_round w L j) (one_round w R j) (round_key w j) z) (sym_out j z).
Proof.
move=> v0 K sub old.
have keyP : forall r c, r < 4 -> c < 4 -> holds v (nth x00 (nth [::] w (4 * j + c)) r) (sym_key j r c).
  apply: round_key_S => // n lt; first by have := old n lt; rewrite at3_key.
  by have := sub (32 + n); rewrite (ltn_add2l 32 n 16) lt at3_key => /(_ isT).
have key_n n : n < 16 -> holds v (nth x00 (round_key w j) n) (sym_key j (n %% 4) (n %/ 4)).
  by move=> lt; rewrite nth_array //; apply: keyP; rewrite ?mod4 ?div4.
have round s f : state_holds v (sub_bytes s) f -> state_holds v (one_round w s j) (sym_round j f).
  move=> sf n lt; rewrite nth_add_round_key //; apply: holds_add; last exact: key_n.
  have shifted := shift_rows_holds sf; case: ifP => _; last exact: shifted.
  exact: mix_columns_holds.
have left : state_holds v (sub_bytes L) subbed.
  move=> n lt; rewrite nth_sub_bytes // -(at3_left L R K) //; apply: sub.
  exact: leq_trans lt _.
have right : state_holds v (sub_bytes R) (fun n => subbed (16 + n)).
  move=> n lt; rewrite nth_sub_bytes // -(at3_right L R K) //; apply: sub.
  by rewrite (@ltn_trans 32) // (ltn_add2l 16 n 16).
move=> z lt; rewrite /sym_out; case: ltnP => [lt' | ge].
  by rewrite at3_left //; apply: (round _ _ left).
case: ltnP => [lt' | ge'].
  have ltz : z - 16 < 16 by rewrite ltn_subLR.
  by rewrite -{1}(subnKC ge) at3_right //; apply: (round _ _ right).
have ltz : z - 32 < 16 by rewrite ltn_subLR.
by rewrite -{1}(subnKC ge') at3_key; apply: key_n.
Qed.

Lemma round_run copy sbox linear r L R :
  copy_right copy -> all (sbox_right sbox) byte_values -> keeps_key sbox ->
  linear_right j linear ->
  in_env s_ 48 r (at3 L R (round_key w j.-1)) ->
  exists2 r', run_block [::] None (copy ++ (sbox ++ linear)) r = Some r' &
  in_env s_ 48 r' (at3 (one_round w L j) (one_round w R j) (round_key w j)).
Proof.
move=> copyP sboxP keepsP linearP rS.
have [r1 run1 [r1S r1K]] := copy_blockP copyP rS.
have [r2 run2 [r2S r2K]] := sub_bytes_block sboxP keepsP r1S r1K.
have [|r3 run3 r3S] := linear_blockP linearP r2S r2K (out :=
  at3 (one_round w L j) (one_round w R j) (round_key w j)).
  by move=> v v0; apply: round_holds.
by exists r3; rewrite // KeccakRounds.run_block_cat run1 /= KeccakRounds.run_block_cat run2.
Qed.

End Round.

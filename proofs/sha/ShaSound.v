(* SPDX-License-Identifier: Apache-2.0 *)
(* The portable SHA-256 of opt computes the children of a 32-byte seed in RFC 9420's secret tree,
   as spec/sha/Fips180.v defines them. *)
From Coq Require Import NArith Lia Init.Byte Strings.String.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Codec Fips202.
From Pprf.proofs Require KeccakSound.
From Pprf.proofs Require Import KeccakSym AesSym.
From Pprf.spec Require Import Fips180 WordCode ShaCode.
From Pprf.proofs Require Import ShaSym ShaCompress ShaBits.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Notation sum := AesSym.sum.
Notation plus := AesSym.plus.
Notation known := ShaBits.known.
Notation sym_env := ShaBits.bits_env.
Notation sym_body := ShaBits.sym_body.
Notation sym_values := ShaBits.sym_values.

(* ---- Words, bytes and bits ------------------------------------------------------------------------ *)

Lemma word_of_rcons s b : word_of_bits (rcons s b) = (2 * word_of_bits s + N.b2n b)%num.
Proof. by rewrite /word_of_bits -cats1 foldl_cat. Qed.

Lemma tb_word_of_bits s z : tb (word_of_bits s) z = (z < size s) && nth false s (size s - 1 - z).
Proof.
elim/last_ind: s z => [|s b IH] z; first by rewrite /tb N.bits_0.
rewrite word_of_rcons /tb size_rcons subn1 /=; case: z => [|z].
  by rewrite N.testbit_0_r subn0 nth_rcons ltnn eqxx.
rewrite Nnat.Nat2N.inj_succ N.testbit_succ_r -/(tb _ z) IH ltnS nth_rcons.
case: (ltnP z (size s)) => // /ltP lt.
have -> : size s - z.+1 = size s - 1 - z by rewrite -subnDA add1n.
have -> // : size s - 1 - z < size s by apply/ltP; rewrite -!minusE; lia.
Qed.

Lemma nth_bits_of_word w x i : i < w -> nth false (bits_of_word w x) i = tb x (w - 1 - i).
Proof. by move=> lt; rewrite nth_mkseq. Qed.

Lemma size_bits_of_word w x : size (bits_of_word w x) = w.
Proof. exact: size_mkseq. Qed.

Lemma size_bits_of_bytes s : size (bits_of_bytes s) = 8 * size s.
Proof.
elim: s => [|x s IH] //.
by rewrite -[bits_of_bytes _]/(bits_of_byte x ++ bits_of_bytes s) size_cat size_bits_of_word IH mulnS.
Qed.

Lemma bits_of_bytes_cat s t : bits_of_bytes (s ++ t) = bits_of_bytes s ++ bits_of_bytes t.
Proof. by rewrite /bits_of_bytes map_cat flatten_cat. Qed.

Lemma bytes_of_bits_cons t s : size t = 8 ->
  bytes_of_bits (t ++ s) = byte_of_N (word_of_bits t) :: bytes_of_bits s.
Proof.
move=> t8; rewrite /bytes_of_bits size_cat t8 divnDl // divnn add1n.
rewrite /mkseq -[iota 0 _.+1]/(0 :: iota 1 _) map_cons muln0 drop0 take_size_cat // (iotaDl 1 0) -map_comp.
by congr cons; apply: eq_map => j; rewrite /comp add1n mulnS drop_cat t8 ltnNge leq_addr addKn.
Qed.

Lemma byte_of_its_bits x : byte_of_N (word_of_bits (bits_of_byte x)) = x.
Proof. by case: x. Qed.

Lemma bits_of_their_byte t : size t = 8 -> bits_of_byte (byte_of_N (word_of_bits t)) = t.
Proof.
case: t => [|b0 [|b1 [|b2 [|b3 [|b4 [|b5 [|b6 [|b7 []]]]]]]]] // _.
by case: b0; case: b1; case: b2; case: b3; case: b4; case: b5; case: b6; case: b7.
Qed.

Lemma bytes_of_bits_of s : bytes_of_bits (bits_of_bytes s) = s.
Proof.
elim: s => [|x s IH] //.
rewrite -[bits_of_bytes _]/(bits_of_byte x ++ bits_of_bytes s) bytes_of_bits_cons ?size_bits_of_word //.
by rewrite byte_of_its_bits IH.
Qed.

Lemma bits_of_bytes_of n s : size s = 8 * n -> bits_of_bytes (bytes_of_bits s) = s.
Proof.
elim: n s => [|n IH] s sz; first by rewrite (size0nil sz).
have t8 : size (take 8 s) = 8 by rewrite size_takel // sz mulnS leq_addr.
rewrite -[in LHS](cat_take_drop 8 s) bytes_of_bits_cons //.
rewrite -[bits_of_bytes _]/(bits_of_byte _ ++ bits_of_bytes _) bits_of_their_byte // IH ?cat_take_drop //.
by rewrite size_drop sz mulnS addKn.
Qed.

Definition bits_of_words_be (xs : seq N) : seq bool := flatten [seq bits_of_word 32 x | x <- xs].

Lemma size_bits_of_words_be xs : size (bits_of_words_be xs) = 32 * size xs.
Proof.
elim: xs => [|x xs IH] //.
by rewrite -[bits_of_words_be _]/(bits_of_word 32 x ++ bits_of_words_be xs) size_cat size_bits_of_word IH mulnS.
Qed.

Lemma size_words s : size s = 512 -> size (words s) = 16.
Proof. by move=> sz; rewrite /words sz size_mkseq. Qed.

Lemma nth_words s j : size s = 512 -> j < 16 ->
  nth 0%num (words s) j = word_of_bits (take 32 (drop (32 * j) s)).
Proof. by move=> sz lt; rewrite /words sz nth_mkseq. Qed.

(* ---- A message of one block and less than another -------------------------------------------------- *)

Opaque compress words bits_of_bytes bytes_of_bits.

(* After n bits that follow a block. *)
Definition tail (n : nat) : seq bool :=
  true :: nseq (447 - n) false ++ bits_of_word 64 (N.of_nat (512 + n)).
Definition fits (n : nat) : bool :=
  ((448 + (512 - (512 + n + 1) %% 512)) %% 512 == 447 - n) && (n <= 447).

Lemma size_tail n : n <= 447 -> n + size (tail n) = 512.
Proof.
move=> le; rewrite /tail -[size _]/((size (nseq (447 - n) false ++ bits_of_word 64 (N.of_nat (512 + n)))).+1).
by rewrite size_cat size_nseq size_bits_of_word addnS addnA subnKC.
Qed.

Lemma two_blocks P t n : size P = 512 -> size t = n -> fits n ->
  sha_256_bits (P ++ t) = bits_of_words_be (compress (compress H0 (words P)) (words (t ++ tail n))).
Proof.
move=> sP st /andP[/eqP k le].
have -> : sha_256_bits (P ++ t) = bits_of_words_be (foldl compress H0 (blocks (pad (P ++ t)))) by [].
have -> : pad (P ++ t) = P ++ t ++ tail n by rewrite /pad size_cat sP st k -catA.
have st' : size (t ++ tail n) = 512 by rewrite size_cat st size_tail.
have -> : blocks (P ++ t ++ tail n) = [:: words P; words (t ++ tail n)].
  move: (t ++ tail n) st' => u su; rewrite /blocks size_cat sP su.
  have -> : (512 + 512) %/ 512 = 2 by [].
  have -> : mkseq (fun i => words (take 512 (drop (512 * i) (P ++ u)))) 2 =
    [:: words (take 512 (drop (512 * 0) (P ++ u))); words (take 512 (drop (512 * 1) (P ++ u)))] by [].
  by rewrite muln0 drop0 muln1 take_size_cat // drop_size_cat // take_oversize // su.
by [].
Qed.

Definition padded_key (key : seq byte) (c : byte) : seq byte := [seq xor_byte x c | x <- key ++ nseq 32 x00].

(* HMAC's hash of the key's block and a text. *)
Definition keyed (key : seq byte) (c : byte) : seq N := compress H0 (words (bits_of_bytes (padded_key key c))).
Definition inner (key text : seq byte) : seq N :=
  compress (keyed key x36) (words (bits_of_bytes text ++ tail (8 * size text))).
Definition outer (key text : seq byte) : seq N :=
  compress (keyed key x5c) (words (bits_of_words_be (inner key text) ++ tail 256)).

Lemma size_padded_key key c : size key = 32 -> size (bits_of_bytes (padded_key key c)) = 512.
Proof. by move=> k32; rewrite size_bits_of_bytes size_map size_cat k32. Qed.

Lemma smalls_words s : size s = 512 -> smalls (words s).
Proof.
move=> sz j; case: (ltnP j 16) => lt; last by rewrite nth_default // size_words.
rewrite nth_words //; apply: ShaSym.small_bits => i le.
have := tb_word_of_bits (take 32 (drop (32 * j) s)) (N.to_nat i).
have le32 : size (take 32 (drop (32 * j) s)) <= 32 by rewrite size_take; case: ltnP.
rewrite /tb Nnat.N2Nat.id => ->; rewrite ltnNge (leq_trans le32) //; apply/leP; lia.
Qed.

Lemma size_keyed key c : size key = 32 -> size (keyed key c) = 8.
Proof. by move=> _; exact: size_compress. Qed.

Lemma smalls_keyed key c : smalls (keyed key c).
Proof. exact: smalls_compress. Qed.

Lemma smalls_inner key text : smalls (inner key text).
Proof. exact: smalls_compress. Qed.

Lemma smalls_outer key text : smalls (outer key text).
Proof. exact: smalls_compress. Qed.

Lemma size_text_tail n t : size t = n -> fits n -> size (t ++ tail n) = 512.
Proof. by move=> st /andP[_ le]; rewrite size_cat st size_tail. Qed.

Lemma size_inner key text : size key = 32 -> fits (8 * size text) -> size (inner key text) = 8.
Proof.
by move=> k32 _; apply: size_compress; exact: size_keyed.
Qed.

Lemma size_outer key text : size key = 32 -> fits (8 * size text) -> size (outer key text) = 8.
Proof.
by move=> k32 _; apply: size_compress; exact: size_keyed.
Qed.

Lemma hmac_is key text : size key = 32 -> fits (8 * size text) ->
  hmac key text = bytes_of_bits (bits_of_words_be (outer key text)).
Proof.
move=> k32 ok; rewrite /hmac k32 (_ : 64 < 32 = false) //; cbv zeta iota.
rewrite k32 (_ : 64 - 32 = 32) //.
rewrite -/(padded_key key x36) -/(padded_key key x5c).
have sha P t n : size (bits_of_bytes P) = 512 -> size (bits_of_bytes t) = n -> fits n -> sha_256 (P ++ t) =
    bytes_of_bits (bits_of_words_be (compress (compress H0 (words (bits_of_bytes P))) (words (bits_of_bytes t ++ tail n)))).
  by move=> sP st okn; rewrite /sha_256 bits_of_bytes_cat (two_blocks sP st okn).
rewrite (sha _ text (8 * size text) (size_padded_key x36 k32) (size_bits_of_bytes text) ok).
rewrite -/(keyed key x36) -/(inner key text).
have size_i : size (bits_of_words_be (inner key text)) = 256 by rewrite size_bits_of_words_be size_inner.
have bits_inner := @bits_of_bytes_of 32 _ size_i.
have size_b := etrans (congr1 size bits_inner) size_i.
rewrite (sha _ (bytes_of_bits (bits_of_words_be (inner key text))) 256 (size_padded_key x5c k32) size_b isT).
rewrite bits_inner -/(keyed key x5c) -/(outer key text).
reflexivity.
Qed.

(* ---- The children ---------------------------------------------------------------------------------- *)

(* What HMAC hashes for a child: the label and the number of HKDF's first block. *)
Definition label_text (context : seq byte) : seq byte :=
  (uint 2 (N.of_nat 32) ++ opaque (ascii "MLS 1.0 " ++ ascii "tree") ++ opaque context) ++ [:: x01].

Lemma size_bytes_of_bits n s : size s = 8 * n -> size (bytes_of_bits s) = n.
Proof.
move=> sz; have := size_bits_of_bytes (bytes_of_bits s); rewrite (bits_of_bytes_of sz) sz.
by move/eqP; rewrite eqn_pmul2l // eq_sym => /eqP.
Qed.

Lemma expand_is secret context : size secret = 32 -> fits (8 * size (label_text context)) ->
  expand_with_label secret (ascii "tree") context 32 =
  bytes_of_bits (bits_of_words_be (outer secret (label_text context))).
Proof.
move=> s32 ok; rewrite -hmac_is // /expand_with_label; cbv zeta.
have size_h : size (hmac secret (label_text context)) = 32.
  by rewrite hmac_is //; apply: size_bytes_of_bits; rewrite size_bits_of_words_be size_outer.
move: size_h; rewrite /label_text /hkdf_expand (_ : (32 + 31) %/ 32 = 1) //; set label := uint _ _ ++ _ => size_h.
have -> : flatten [seq hkdf_T secret label i | i <- iota 1 1] = hmac secret (label ++ [:: x01]) ++ [::] by [].
by rewrite cats0 take_oversize // size_h.
Qed.

(* ---- Messages as sums of unknown bits ------------------------------------------------------------ *)

(* The unknown words are the seed's four and the results of the six calls of compress. *)
Definition unknown_word (k n : nat) : bits := mkseq (fun z => [:: N.of_nat (64 * k + z).+1]) n.
Definition result (c : nat) : seq bits := mkseq (fun j => unknown_word (4 + 8 * c + j) 32) 8.

Definition const_words (xs : seq N) : seq bits := [seq word_of (fun z => one_bit (tb x z)) | x <- xs].
Definition const_forms (s : seq bool) : seq form := map one_bit s.
(* the bits of a word's bytes, little-endian, and of a word, big-endian, in the order of a string *)
Definition le_forms (r : bits) : seq form :=
  flatten (mkseq (fun k => mkseq (fun i => sbit r (8 * k + (7 - i))) 8) 8).
Definition be_forms (r : bits) : seq form := mkseq (fun i => sbit r (31 - i)) 32.
Definition xor_forms (fs gs : seq form) : seq form := [seq plus f.1 f.2 | f <- zip fs gs].
(* a block's words *)
Definition word_forms (fs : seq form) (j : nat) : bits := mkseq (fun z => nth [::] fs (32 * j + (31 - z))) 32.
Definition block_forms (fs : seq form) : seq bits := mkseq (word_forms fs) 16.

Definition key_forms : seq form := flatten (mkseq (fun k => le_forms (unknown_word k 64)) 4).
Definition padded_forms (c : byte) : seq form :=
  xor_forms (key_forms ++ nseq 256 [::]) (flatten (nseq 64 (const_forms (bits_of_byte c)))).
Definition text_forms (context : seq byte) : seq form :=
  const_forms (bits_of_bytes (label_text context) ++ tail (8 * size (label_text context))).
Definition digest_forms (c : nat) : seq form := flatten (map be_forms (result c)).

Definition expected_calls : calls :=
  [:: (const_words H0 ++ block_forms (padded_forms x36), result 0);
      (const_words H0 ++ block_forms (padded_forms x5c), result 1);
      (result 0 ++ block_forms (text_forms (ascii "left")), result 2);
      (result 1 ++ block_forms (digest_forms 2 ++ const_forms (tail 256)), result 3);
      (result 0 ++ block_forms (text_forms (ascii "right")), result 4);
      (result 1 ++ block_forms (digest_forms 4 ++ const_forms (tail 256)), result 5)].

Definition function_right (cs : calls) (f : function) : bool :=
  if sym_body cs (body f) (mkseq (fun k => Some (unknown_word k 64)) 4 ++ nseq (variables f - 4) None) is Some s then
    if sym_values s (returned f) is Some [:: l0; l1; l2; l3; r0; r1; r2; r3; err] then
      [&& all2 same (flatten (map le_forms [:: l0; l1; l2; l3])) (digest_forms 3),
          all2 same (flatten (map le_forms [:: r0; r1; r2; r3])) (digest_forms 5) & same_bits err [::]]
    else false
  else false.

Transparent words bits_of_bytes bytes_of_bits.
Lemma function_is_right : function_right expected_calls opt_sha256_scalar.
Proof. by vm_compute. Qed.
Opaque words bits_of_bytes bytes_of_bits.

Lemma labels_fit : fits (8 * size (label_text (ascii "left"))) && fits (8 * size (label_text (ascii "right"))).
Proof. by vm_compute. Qed.

Section Meaning.
Variable v : N -> bool.
Hypothesis v0 : v 0%num = true.
Notation sums := (map (sum v)).
Notation is_word := (is_word v).

Lemma sums_const s : sums (const_forms s) = s.
Proof. by rewrite /const_forms -map_comp -[RHS]map_id; apply: eq_map => b; exact: sum_one. Qed.

Lemma const_wordsP xs : smalls xs -> are_words v xs (const_words xs).
Proof.
elim: xs => [|x xs IH] // small; split; last by apply: IH => i; exact: (small i.+1).
apply: is_word_of => z; rewrite sum_one //; case: ltnP => // le; apply: tb_low le.
by apply: N.lt_trans (small 0) _.
Qed.

Lemma nth_sums fs i : nth false (sums fs) i = sum v (nth [::] fs i).
Proof.
case: (ltnP i (size fs)) => lt; first by rewrite (nth_map [::]).
by rewrite !nth_default ?size_map.
Qed.

Lemma block_words fs s : sums fs = s -> size s = 512 -> are_words v (words s) (block_forms fs).
Proof.
move=> E sz; apply: are_words_nth; first by rewrite size_words // size_mkseq.
move=> j; rewrite size_mkseq => lt z; rewrite nth_words // nth_mkseq // tb_word_of_bits.
have le : 32 * j + 32 <= 512 by rewrite -mulnSr (leq_mul2l 32 j.+1 16).
have -> : size (take 32 (drop (32 * j) s)) = 32.
  by rewrite size_takel // size_drop sz leq_subRL ?(leq_trans _ le) ?leq_addr.
rewrite /sbit /word_forms; case: ltnP => ltz; last by rewrite [X in sum v X]nth_default ?size_mkseq.
rewrite nth_mkseq // nth_take; last by rewrite (leq_ltn_trans (leq_subr _ _)).
by rewrite nth_drop -E nth_sums.
Qed.

Lemma be_bits x r : is_word x r -> sums (be_forms r) = bits_of_word 32 x.
Proof. by move=> xr; rewrite /be_forms -map_comp; apply: eq_map => i; rewrite [LHS]/= -xr. Qed.

Lemma be_words xs rs : are_words v xs rs -> sums (flatten (map be_forms rs)) = bits_of_words_be xs.
Proof.
elim: rs xs => [|r rs IH] [|x xs] // [xr xrs].
by rewrite map_cons -[flatten (_ :: _)]/(be_forms r ++ flatten (map be_forms rs)) map_cat (be_bits xr) (IH _ xrs).
Qed.

Lemma byte_bits (b : byte) : bits_of_byte b = rev (Fips202.bits_of_byte b).
Proof. by case: b. Qed.

Lemma le_bits n x r : (forall z, z < 8 * n -> tb x z = sum v (sbit r z)) ->
  sums (flatten (mkseq (fun k => mkseq (fun i => sbit r (8 * k + (7 - i))) 8) n)) = bits_of_bytes (Codec.put_le n x).
Proof.
Transparent bits_of_bytes.
elim: n x r => [|n IH] x r xr //.
have -> : bits_of_bytes (Codec.put_le n.+1 x) =
  bits_of_byte (Codec.byte_of x) ++ bits_of_bytes (Codec.put_le n (x / 256)%num) by [].
rewrite /mkseq -[iota 0 n.+1]/(0 :: iota 1 n) map_cons.
rewrite -[flatten (_ :: _)]/(_ ++ flatten _) map_cat; congr (_ ++ _).
  rewrite byte_bits KeccakSound.bits_of_byte_of /mkseq -map_rev -map_comp.
  by rewrite -[rev _]/[seq 7 - i | i <- iota 0 8] -map_comp; apply/eq_in_map => i; rewrite mem_iota => lt;
    rewrite /comp muln0 add0n xr // mulnS (leq_ltn_trans (leq_subr _ _)).
rewrite (iotaDl 1 0) -map_comp -(IH _ (drop 8 r)); first by congr (sums (flatten _)); apply: eq_map => k;
  apply: eq_map => i; rewrite /sbit nth_drop addnA -mulnS.
move=> z lt; rewrite /sbit nth_drop -/(sbit r (8 + z)) -xr ?mulnS ?ltn_add2l //.
by rewrite /tb (N.div_pow2_bits x 8); congr N.testbit; rewrite -plusE; lia.
Qed.
Opaque bits_of_bytes.

Lemma le_bits_of_words xs rs : are_words v xs rs ->
  sums (flatten (map le_forms rs)) = bits_of_bytes (flatten (map (Codec.put_le 8) xs)).
Proof.
elim: rs xs => [|r rs IH] [|x xs] // [xr xrs].
have flat (T U : Type) (f : T -> seq U) y ys : flatten (map f (y :: ys)) = f y ++ flatten (map f ys) by [].
rewrite (flat _ _ le_forms) (flat _ _ (Codec.put_le 8)).
by rewrite map_cat bits_of_bytes_cat -(IH _ xrs) -(@le_bits 8 x r).
Qed.

Lemma sums_same fs gs : all2 same fs gs -> sums fs = sums gs.
Proof. by elim: fs gs => [|f fs IH] [|g gs] //= /andP[/(sameP v) -> /IH ->]. Qed.

Lemma sums_xor fs gs : sums (xor_forms fs gs) = [seq xorb p.1 p.2 | p <- zip (sums fs) (sums gs)].
Proof. by elim: fs gs => [|f fs IH] [|g gs] //=; rewrite sum_plus IH. Qed.

End Meaning.

Lemma xor_bits x c : bits_of_byte (xor_byte x c) = [seq xorb p.1 p.2 | p <- zip (bits_of_byte x) (bits_of_byte c)].
Proof.
rewrite /xor_byte; have xs : (N.lxor (Byte.to_N x) (Byte.to_N c) < 2 ^ 8)%num.
  have lt b : (Byte.to_N b < 2 ^ 8)%num by case: b.
  have bound y : (y < 2 ^ 8)%num <-> (forall i, (8 <= i)%num -> N.testbit y i = false).
    split=> [l i le|high]; first by rewrite -(N.mod_small _ _ l) N.mod_pow2_bits_high.
    rewrite -(_ : (y mod 2 ^ 8 = y)%num); first exact: N.mod_lt.
    by apply: N.bits_inj => i; case: (N.lt_ge_cases i 8) => l;
      [rewrite N.mod_pow2_bits_low | rewrite N.mod_pow2_bits_high ?high].
  by apply/bound => i le; rewrite N.lxor_spec (proj1 (bound _) (lt x)) // (proj1 (bound _) (lt c)).
have to_of y : (y < 2 ^ 8)%num -> Byte.to_N (byte_of_N y) = y.
  move=> l; rewrite /byte_of_N (N.mod_small _ _ l); case E: (Byte.of_N y) => [b|] /=.
    exact: Byte.to_of_N.
  by have := proj1 (Byte.of_N_None_iff y) E; lia.
by rewrite /bits_of_byte to_of // /bits_of_word /mkseq /= !N.lxor_spec.
Qed.

Lemma padded_bits key c : bits_of_bytes [seq xor_byte x c | x <- key] =
  [seq xorb p.1 p.2 | p <- zip (bits_of_bytes key) (flatten (nseq (size key) (bits_of_byte c)))].
Proof.
Transparent bits_of_bytes.
elim: key => [|x key IH] //.
have -> : bits_of_bytes [seq xor_byte y c | y <- x :: key] =
  bits_of_byte (xor_byte x c) ++ bits_of_bytes [seq xor_byte y c | y <- key] by [].
have -> : bits_of_bytes (x :: key) = bits_of_byte x ++ bits_of_bytes key by [].
have -> : flatten (nseq (size (x :: key)) (bits_of_byte c)) = bits_of_byte c ++ flatten (nseq (size key) (bits_of_byte c)) by [].
by rewrite IH xor_bits zip_cat ?size_bits_of_word // map_cat.
Qed.
Opaque bits_of_bytes.

Lemma size_put_le m a : size (Codec.put_le m a) = m.
Proof. by elim: m a => [|m IH] a //=; rewrite IH. Qed.

Lemma smalls_H0 : smalls H0.
Proof. by do 8 (case; first by []); move=> i; rewrite nth_default. Qed.

(* ---- The function --------------------------------------------------------------------------------- *)

Section Function.

Variables s0 s1 s2 s3 : N.
Definition seed_of_words : seq byte :=
  Codec.put_le 8 s0 ++ Codec.put_le 8 s1 ++ Codec.put_le 8 s2 ++ Codec.put_le 8 s3.
Let key := seed_of_words.
Let left_text := label_text (ascii "left").
Let right_text := label_text (ascii "right").

Lemma key32 : size key = 32.
Proof. by rewrite /key /seed_of_words !size_cat !size_put_le. Qed.
Lemma left_fits : fits (8 * size left_text).
Proof. by case/andP: labels_fit. Qed.
Lemma right_fits : fits (8 * size right_text).
Proof. by case/andP: labels_fit. Qed.
Opaque label_text keyed inner outer.

Definition results : seq (seq N) :=
  [:: keyed key x36; keyed key x5c; inner key left_text; outer key left_text; inner key right_text;
      outer key right_text].
Definition all_words : seq N := [:: to_word 64 s0; to_word 64 s1; to_word 64 s2; to_word 64 s3] ++ flatten results.
Definition bit_of (a : N) : bool :=
  if (a =? 0)%num then true
  else let n := (N.to_nat a).-1 in tb (nth 0%num all_words (n %/ 64)) (n %% 64).
Notation v := bit_of.

Lemma v0 : v 0%num = true.
Proof. by []. Qed.

Lemma v_at k z : z < 64 -> v (N.of_nat (64 * k + z).+1) = tb (nth 0%num all_words k) z.
Proof.
move=> lt; rewrite /bit_of Nnat.Nat2N.id /=.
by rewrite mulnC divnMDl // divn_small // addn0 modnMDl modn_small.
Qed.
Opaque all_words.

Lemma unknown_bit k n z : n <= 64 -> z < n ->
  sum v (sbit (unknown_word k n) z) = tb (nth 0%num all_words k) z.
Proof.
move=> le lt; rewrite /sbit /unknown_word nth_mkseq // -v_at; last exact: leq_trans lt le.
exact: Bool.xorb_false_r.
Qed.

Transparent all_words.
Lemma nth_results c j : c < 6 -> j < 8 ->
  nth 0%num all_words (4 + 8 * c + j) = nth 0%num (nth [::] results c) j.
Proof.
have sizes : all (fun r : seq N => size r == 8) results.
  rewrite /results /all.
  apply/andP; split; first by apply/eqP; exact: (size_keyed x36 key32).
  apply/andP; split; first by apply/eqP; exact: (size_keyed x5c key32).
  apply/andP; split; first by apply/eqP; exact: (size_inner key32 left_fits).
  apply/andP; split; first by apply/eqP; exact: (size_outer key32 left_fits).
  apply/andP; split; first by apply/eqP; exact: (size_inner key32 right_fits).
  by rewrite andbT; apply/eqP; exact: (size_outer key32 right_fits).
rewrite /all_words; move: sizes => + + ltj; move: results => rs sizes _.
rewrite -addnA nth_cat ltnNge leq_addr /= addKn.
elim: rs c sizes => [|r rs IH] c; first by rewrite !nth_nil.
case/andP=> /eqP r8 /IH {}IH; rewrite -[flatten (r :: rs)]/(r ++ flatten rs) nth_cat r8.
case: c => [|c]; first by rewrite muln0 add0n ltj.
by rewrite mulnS -addnA ltnNge leq_addr /= addKn IH.
Qed.

Lemma nth_seed k : nth 0%num all_words k =
  if k is k'.+4 then nth 0%num (flatten results) k' else to_word 64 (nth 0%num [:: s0; s1; s2; s3] k).
Proof. by case: k => [|[|[|[|k]]]]. Qed.
Opaque all_words.

Lemma result_words c xs : c < 6 -> nth [::] results c = xs -> size xs = 8 -> smalls xs -> are_words v xs (result c).
Proof.
move=> ltc E s8 small; apply: are_words_nth; first by rewrite s8 size_mkseq.
move=> j; rewrite size_mkseq => ltj z; rewrite nth_mkseq //.
have xE : nth 0%num xs j = nth 0%num all_words (4 + 8 * c + j) by rewrite nth_results // E.
case: (ltnP z 32) => ltz; first by rewrite unknown_bit // xE.
rewrite /sbit [X in sum v X]nth_default ?size_mkseq // /tb (ShaSym.bits_small (small j)) //.
by move/leP: ltz; lia.
Qed.

Lemma to_nat_64 : N.to_nat 64 = 64.
Proof. by []. Qed.

Lemma seed_bit s z : z < 64 -> tb (to_word 64 s) z = tb s z.
Proof. by move=> lt; rewrite tb_to_word to_nat_64 lt. Qed.

Lemma seed_high s z : 64 <= z -> tb (to_word 64 s) z = false.
Proof. by move=> le; rewrite tb_to_word to_nat_64 ltnNge le. Qed.

Lemma key_sums : map (sum v) key_forms = bits_of_bytes key.
Proof.
have part k : k < 4 ->
    map (sum v) (le_forms (unknown_word k 64)) = bits_of_bytes (Codec.put_le 8 (nth 0%num [:: s0; s1; s2; s3] k)).
  move=> lt; apply: le_bits => z ltz; have lt64 : z < 64 := ltz; rewrite (unknown_bit _ (leqnn 64) lt64) nth_seed.
  case: k lt => [|[|[|[|]]]] // _; symmetry; exact: seed_bit.
have -> : key_forms = le_forms (unknown_word 0 64) ++ le_forms (unknown_word 1 64) ++ le_forms (unknown_word 2 64) ++
  le_forms (unknown_word 3 64) ++ [::] by rewrite /key_forms /mkseq.
rewrite map_cat (part 0 isT) map_cat (part 1 isT) map_cat (part 2 isT) map_cat (part 3 isT) cats0.
by rewrite /key /seed_of_words 3!bits_of_bytes_cat.
Qed.

Lemma padded_sums c : map (sum v) (padded_forms c) = bits_of_bytes (padded_key key c).
Proof.
rewrite /padded_forms sums_xor map_cat key_sums /padded_key padded_bits.
have -> : size (key ++ nseq 32 x00) = 64 by rewrite size_cat key32.
have -> : bits_of_bytes (key ++ nseq 32 x00) = bits_of_bytes key ++ map (sum v) (nseq 256 [::]).
  by rewrite bits_of_bytes_cat; congr (_ ++ _); vm_compute.
congr (map _ (zip _ _)); elim: {1 2}64 => [|n IH] //.
rewrite -[nseq n.+1 (const_forms _)]/(const_forms (bits_of_byte c) :: nseq n _).
rewrite -[flatten (_ :: _)]/(const_forms (bits_of_byte c) ++ flatten _) map_cat IH sums_const //; exact: v0.
Qed.

Notation called := (run_leaf opt_sha256_compress).

Lemma call_ok H M args c : size H = 8 -> smalls H -> size M = 512 -> are_words v H args ->
  forall fs, map (sum v) fs = M -> are_words v (compress H (words M)) (result c) ->
  call_right v called (args ++ block_forms fs, result c).
Proof.
move=> sH smH sM argsH fs E res; split; first by rewrite /small_bits /result all_map; apply/allP => j _; exact: isT.
move=> xs xsargs; exists (compress H (words M)) => //.
have -> : xs = H ++ words M.
  by apply: are_words_inj xsargs _; apply: are_words_cat argsH _; exact: block_words E sM.
by apply: compress_sound => //; [exact: size_words | exact: smalls_words].
Qed.

Transparent keyed inner outer.
Lemma expected_right : calls_right v called expected_calls.
Proof.
have k8 c : size (keyed key c) = 8 := size_keyed c key32.
have il8 := size_inner key32 left_fits; have ir8 := size_inner key32 right_fits.
have ol8 := size_outer key32 left_fits; have or8 := size_outer key32 right_fits.
have kW := @result_words 0 (keyed key x36) isT erefl (k8 _) (@smalls_keyed _ _).
have oW := @result_words 1 (keyed key x5c) isT erefl (k8 _) (@smalls_keyed _ _).
have ilW := @result_words 2 (inner key left_text) isT erefl il8 (@smalls_inner _ _).
have olW := @result_words 3 (outer key left_text) isT erefl ol8 (@smalls_outer _ _).
have irW := @result_words 4 (inner key right_text) isT erefl ir8 (@smalls_inner _ _).
have orW := @result_words 5 (outer key right_text) isT erefl or8 (@smalls_outer _ _).
have H0W := const_wordsP v0 smalls_H0.
have padded c : size (bits_of_bytes (padded_key key c)) = 512 := size_padded_key c key32.
have text t : fits (8 * size t) -> size (bits_of_bytes t ++ tail (8 * size t)) = 512.
  by move=> ok; apply: size_text_tail ok; exact: size_bits_of_bytes.
have digest xs : size xs = 8 -> size (bits_of_words_be xs ++ tail 256) = 512.
  by move=> sz; apply: (@size_text_tail 256) isT; rewrite size_bits_of_words_be sz.
have text_sums t : map (sum v) (text_forms t) = bits_of_bytes (label_text t) ++ tail (8 * size (label_text t)).
  exact: sums_const v0 _.
have digest_sums c xs : are_words v xs (result c) ->
    map (sum v) (digest_forms c ++ const_forms (tail 256)) = bits_of_words_be xs ++ tail 256.
  by move=> xsc; rewrite map_cat (be_words xsc) (sums_const v0).
split; first exact: (call_ok (erefl : size H0 = 8) smalls_H0 (padded x36) H0W (padded_sums x36) kW).
split; first exact: (call_ok (erefl : size H0 = 8) smalls_H0 (padded x5c) H0W (padded_sums x5c) oW).
split; first exact: (call_ok (k8 _) (@smalls_keyed _ _) (text _ left_fits) kW (text_sums _) ilW).
split; first exact: (call_ok (k8 _) (@smalls_keyed _ _) (digest _ il8) oW (digest_sums _ _ ilW) olW).
split; first exact: (call_ok (k8 _) (@smalls_keyed _ _) (text _ right_fits) kW (text_sums _) irW).
split; first exact: (call_ok (k8 _) (@smalls_keyed _ _) (digest _ ir8) oW (digest_sums _ _ irW) orW).
exact: I.
Qed.

Opaque keyed inner outer.

Lemma out_sums c t : c < 6 -> nth [::] results c = outer key t -> fits (8 * size t) ->
  map (sum v) (digest_forms c) = bits_of_words_be (outer key t).
Proof.
move=> ltc E okt; have o8 := size_outer key32 okt; have small := @smalls_outer key t.
move: (outer key t) E o8 small => xs E o8 small; have W := @result_words c xs ltc E o8 small.
by rewrite /digest_forms (be_words W).
Qed.

Lemma right_sound cs f : parameters f = nseq 4 64%num -> calls_right v called cs -> function_right cs f ->
  exists l0 l1 l2 l3 r0 r1 r2 r3,
  [/\ run called f [:: s0; s1; s2; s3] = Some [:: l0; l1; l2; l3; r0; r1; r2; r3; 0]%num,
      bits_of_bytes (flatten (map (Codec.put_le 8) [:: l0; l1; l2; l3])) = bits_of_words_be (outer key left_text) &
      bits_of_bytes (flatten (map (Codec.put_le 8) [:: r0; r1; r2; r3])) = bits_of_words_be (outer key right_text)].
Proof.
move=> pf ok; rewrite /function_right; case Es: sym_body => [s|] //; case Ev: sym_values => [ss|] //.
case: ss Ev => [|a0 [|a1 [|a2 [|a3 [|b0 [|b1 [|b2 [|b3 [|e []]]]]]]]]] // Ev /and3P[left right err].
have start : known v ([:: Some (to_word 64 s0); Some (to_word 64 s1); Some (to_word 64 s2); Some (to_word 64 s3)] ++
    nseq (variables f - 4) None) (mkseq (fun k => Some (unknown_word k 64)) 4 ++ nseq (variables f - 4) None).
  move=> u p; rewrite !nth_cat size_mkseq; case: ltnP => lt; last by rewrite nth_nseq if_same.
  rewrite nth_mkseq // => /Some_inj <-; split; first by rewrite size_mkseq.
  exists (nth 0%num all_words u); first by rewrite nth_seed; case: u lt => [|[|[|[|]]]].
  move=> z; case: (ltnP z 64) => ltz; first by rewrite unknown_bit.
  rewrite /sbit [X in sum v X]nth_default ?size_mkseq // nth_seed.
  by case: u lt => [|[|[|[|]]]] // _; exact: seed_high.
have [r run_r kn] := sym_bodyP v0 ok start Es.
have [xs Exs xsW] := sym_valuesP v0 kn Ev.
have := size_are_words xsW; case: xs Exs xsW => [|l0 [|l1 [|l2 [|l3 [|r0 [|r1 [|r2 [|r3 [|x []]]]]]]]]] // Exs + _.
case=> w0 [w1 [w2 [w3 [z0 [z1 [z2 [z3 [xe _]]]]]]]].
exists l0, l1, l2, l3, r0, r1, r2, r3.
have -> : run called f [:: s0; s1; s2; s3] =
    if run_body called (body f) ([:: Some (to_word 64 s0); Some (to_word 64 s1); Some (to_word 64 s2);
      Some (to_word 64 s3)] ++ nseq (variables f - 4) None) is Some r then values r (returned f) else None.
  by rewrite /run pf.
rewrite run_r Exs; have -> : x = 0%num.
  by apply: (@is_word_inj v _ _ [::]); [exact: same_bitsP err xe | move=> z; rewrite /sbit nth_nil].
split; first by [].
  rewrite -(@out_sums 3 left_text isT erefl left_fits) -(sums_same v left); symmetry.
  by apply: le_bits_of_words; do !split.
rewrite -(@out_sums 5 right_text isT erefl right_fits) -(sums_same v right); symmetry.
by apply: le_bits_of_words; do !split.
Qed.

End Function.

Lemma scalar_parameters : parameters opt_sha256_scalar = nseq 4 64%num.
Proof. by []. Qed.

Theorem mls_sound s0 s1 s2 s3 :
  exists l0 l1 l2 l3 r0 r1 r2 r3,
  run_calling opt_sha256_compress opt_sha256_scalar [:: s0; s1; s2; s3] =
    Some [:: l0; l1; l2; l3; r0; r1; r2; r3; 0]%num /\
  let seed := Codec.put_le 8 s0 ++ Codec.put_le 8 s1 ++ Codec.put_le 8 s2 ++ Codec.put_le 8 s3 in
  Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 l2 ++ Codec.put_le 8 l3 = tree_left seed /\
  Codec.put_le 8 r0 ++ Codec.put_le 8 r1 ++ Codec.put_le 8 r2 ++ Codec.put_le 8 r3 = tree_right seed.
Proof.
have [l0 [l1 [l2 [l3 [r0 [r1 [r2 [r3 [R L E]]]]]]]]] :=
  right_sound scalar_parameters (expected_right s0 s1 s2 s3) function_is_right.
exists l0, l1, l2, l3, r0, r1, r2, r3; split; first exact: R.
have flat a b c d : Codec.put_le 8 a ++ Codec.put_le 8 b ++ Codec.put_le 8 c ++ Codec.put_le 8 d =
    flatten (map (Codec.put_le 8) [:: a; b; c; d]).
  by rewrite -[RHS]/(_ ++ _ ++ _ ++ _ ++ [::]) cats0.
cbv zeta; rewrite (flat l0) (flat r0) -[X in tree_left X]/(seed_of_words s0 s1 s2 s3).
rewrite -[X in tree_right X]/(seed_of_words s0 s1 s2 s3) /tree_left /tree_right.
have [fl fr] := andP labels_fit.
have k32 := key32 s0 s1 s2 s3; split.
  by rewrite (expand_is k32 fl); exact (etrans (esym (bytes_of_bits_of _)) (congr1 bytes_of_bits L)).
by rewrite (expand_is k32 fr); exact (etrans (esym (bytes_of_bits_of _)) (congr1 bytes_of_bits E)).
Qed.

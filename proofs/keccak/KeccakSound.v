(* SPDX-License-Identifier: Apache-2.0 *)
(* The Keccak functions of opt compute SHA3-256 of a seed's 16 bytes, or of a seed's, a salt's
   and a node id's bytes, as FIPS 202 defines it. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips202 LaneCode KeccakCode.
From Pprf.spec Require Codec.
From Pprf.proofs Require Import KeccakSym KeccakRounds.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- From words to bits -------------------------------------------------------------------- *)

Definition word_bits (a : N) : seq bool := mkseq (tb a) w.

Lemma N2Nat_lt m n : (m < N.of_nat n)%num -> (N.to_nat m < n)%coq_nat.
Proof. lia. Qed.

Lemma of_nat_lt m n : (m < n)%coq_nat -> (N.of_nat m < N.of_nat n)%num.
Proof. lia. Qed.

Lemma bits_of_byte_of a : bits_of_byte (Codec.byte_of a) = mkseq (tb a) 8.
Proof.
rewrite /Codec.byte_of; have lt : (a mod 256 < 256)%num by apply: N.mod_lt.
have /allP all256 : all (fun k => bits_of_byte (odflt x00 (Byte.of_N (N.of_nat k))) ==
  mkseq (tb (N.of_nat k)) 8) (iota 0 256) by vm_compute.
have ltm : (N.to_nat (a mod 256) < 256)%coq_nat by exact: N2Nat_lt.
have /all256 /eqP : N.to_nat (a mod 256) \in iota 0 256 by rewrite mem_iota add0n; apply/ltP.
rewrite Nnat.N2Nat.id => ->.
apply/eq_in_map => k; rewrite mem_iota /= => /ltP ltk.
by rewrite /tb (N.mod_pow2_bits_low a 8) //; apply: (of_nat_lt ltk).
Qed.

Lemma bits_of_put_le n a : bits_of_bytes (Codec.put_le n a) = mkseq (tb a) (8 * n).
Proof.
elim: n a => [|n IH] a //; rewrite mulnS /mkseq iotaD map_cat -/(mkseq _ 8) -bits_of_byte_of.
have -> : bits_of_bytes (Codec.put_le n.+1 a) =
  bits_of_byte (Codec.byte_of a) ++ bits_of_bytes (Codec.put_le n (a / 256)%num) by [].
rewrite IH; congr cat.
rewrite [0 + 8]addnC iotaDl -map_comp /mkseq; apply: eq_map => k.
rewrite /comp /tb (N.div_pow2_bits a 8); congr N.testbit.
by rewrite -plusE; lia.
Qed.

Lemma byte_of_bits_of b : byte_of_bits (bits_of_byte b) = b.
Proof. by case: b. Qed.

Lemma bytes_of_bits_of bs : bytes_of_bits (size bs) (bits_of_bytes bs) = bs.
Proof.
have size8 b : size (bits_of_byte b) = 8 by case: b.
elim: bs => [|b bs IH] //=.
by rewrite take_size_cat // drop_size_cat // byte_of_bits_of IH.
Qed.

(* ---- The sponge on one block ----------------------------------------------------------------- *)

Lemma size_to_string A : size (to_string A) = 1600.
Proof. by []. Qed.

Lemma xor_zeros S : xor_strings (nseq (size S) false) S = S.
Proof.
by elim: S => [|b S IH] //; rewrite -[in RHS]IH; case: b.
Qed.

(* After the message's n words of 64 bits. *)
Definition padding (n : nat) : seq bool :=
  [:: false; true] ++ pad10_1 1088 (w * n + 2) ++ nseq 512 false.
Definition digest_lanes (A : state) : seq bool :=
  lane A 0 0 ++ lane A 1 0 ++ lane A 2 0 ++ lane A 3 0.

Lemma size_take_to_string A : take 256 (to_string A) = digest_lanes A.
Proof. by []. Qed.

(* A seed has two words; with a salt and an id it has five. *)
Definition seed_or_node (n : nat) : bool := (n == 2) || (n == 5).

Lemma sponge_one_block n M : seed_or_node n -> size M = w * n ->
  sha3_256_bits M = digest_lanes (rounds (of_string (M ++ padding n)) 24).
Proof.
move=> hn sM; rewrite /sha3_256_bits /keccak.
have sN : size (M ++ [:: false; true]) = w * n + 2 by rewrite size_cat sM.
rewrite /sponge sN -[1600 - 512]/1088.
have sP : size ((M ++ [:: false; true]) ++ pad10_1 1088 (w * n + 2)) = 1088.
  by rewrite size_cat sN; case/orP: hn => /eqP ->.
have padded : ((M ++ [:: false; true]) ++ pad10_1 1088 (w * n + 2)) ++ nseq 512 false = M ++ padding n.
  by rewrite /padding -!catA.
have sB : size (M ++ padding n) = 1600 by rewrite -padded size_cat sP size_nseq.
move: (_ ++ pad10_1 1088 _) sP padded => P sP padded.
rewrite sP -[1088 %/ 1088]/1 -[256 %/ 1088]/0.
have -> : absorb 1088 1 (nseq 1600 false) P =
    keccak_f (xor_strings (nseq 1600 false) (take 1088 P ++ nseq 512 false)) by [].
have -> : take 1088 P = P by apply: take_oversize; rewrite sP.
have -> : xor_strings (nseq 1600 false) (P ++ nseq 512 false) = M ++ padding n.
  by rewrite padded -[RHS]xor_zeros sB.
rewrite /keccak_f -/(rounds _ 24).
move: (rounds _ 24) => A.
have -> : squeeze 1088 0 256 (to_string A) [::] = take 256 (to_string A) by [].
exact: size_take_to_string.
Qed.

Lemma size_word_bits a : size (word_bits a) = w.
Proof. exact: size_mkseq. Qed.

Definition bits_of_words (ws : seq N) : seq bool := flatten (map word_bits ws).

Lemma size_bits_of_words ws : size (bits_of_words ws) = w * size ws.
Proof.
elim: ws => [|a ws IH]; first by rewrite muln0.
by rewrite -[LHS]/(size (word_bits a ++ bits_of_words ws)) size_cat IH size_word_bits mulnS.
Qed.

Lemma nth_bits_of_words ws k z : k < size ws -> z < w ->
  nth false (bits_of_words ws) (w * k + z) = tb (nth 0%num ws k) z.
Proof.
elim: ws k => [|a ws IH] [|k] // lt ltz.
all: rewrite -[bits_of_words _]/(word_bits a ++ bits_of_words ws) nth_cat size_word_bits.
  by rewrite muln0 add0n ltz nth_mkseq.
by rewrite mulnS -addnA ltnNge leq_addr addKn IH.
Qed.

Definition padding_is (n : nat) : bool :=
  all (fun k => all (fun z => nth false (padding n) (w * k + z) == tb (padded_word n (n + k)) z)
    (iota 0 w)) (iota 0 (25 - n)).

Lemma padding_isP n : seed_or_node n -> padding_is n.
Proof. by case/orP=> /eqP ->; vm_compute. Qed.

(* The state after the padded block is absorbed into the zero state. *)
Lemma first_lanesP ws : seed_or_node (size ws) ->
  holds (nth 0%num ws) (of_string (bits_of_words ws ++ padding (size ws))) (first_lanes (size ws)).
Proof.
move=> hn x y z ltx lty ltz; rewrite /of_string bit_array //.
have lt := lane_lt ltx lty.
rewrite /lane_at [5 * y + x]addnC; move: (x + 5 * y) lt => k {x y ltx lty} lt.
rewrite nth_drop nth_cat size_bits_of_words.
have -> : nth [::] (first_lanes (size ws)) k = if k < size ws then unknown k
    else nth [::] (mkseq (fun j => const (padded_word (size ws) (size ws + j))) (25 - size ws)) (k - size ws).
  by rewrite /first_lanes nth_cat size_mkseq; case: ifP => // ltk; rewrite nth_mkseq.
case: (ltnP k (size ws)) => [ltk | lek].
  have -> : w * k + z < w * size ws.
    by rewrite (@leq_trans (w * k.+1)) ?leq_mul2l ?ltk ?orbT // mulnS addnC ltn_add2r.
  by rewrite nth_bits_of_words // at_unknown.
have -> : (w * k + z < w * size ws) = false.
  by apply/negbTE; rewrite -leqNgt (leq_trans _ (leq_addr _ _)) // leq_mul2l lek orbT.
have -> : w * k + z - w * size ws = w * (k - size ws) + z.
  by rewrite mulnBr addnBAC // leq_mul2l lek orbT.
have lt' : k - size ws < 25 - size ws by rewrite ltn_sub2r // (leq_ltn_trans lek lt).
rewrite nth_mkseq // at_const.
have /allP/(_ (k - size ws)) := padding_isP hn.
by rewrite mem_iota => /(_ lt')/allP/(_ z); rewrite mem_iota => /(_ ltz)/eqP.
Qed.

(* ---- The theorem ------------------------------------------------------------------------- *)

Lemma run_rounds b ws A : seed_or_node (size ws) ->
  makes_round e0 b (arguments (size ws)) (first_lanes (size ws)) (const (nth 0%num iota_words 0)) 0 25 ->
  holds (nth 0%num ws) A (first_lanes (size ws)) ->
  exists l0 l1 r0 r1,
  run iota_words (with_first_round b) ws = Some [:: l0; l1; r0; r1; 0]%num /\
  digest_lanes (rounds A 24) = word_bits l0 ++ word_bits l1 ++ word_bits r0 ++ word_bits r1.
Proof.
move=> hn first_b hA.
pose start := map Some ws ++ nseq (variables opt_keccak_scalar - size ws) None.
have kn : known (nth 0%num ws) start (arguments (size ws)).
  move=> u p; case: (ltnP u (size ws)) => lt; last by rewrite nth_default // size_mkseq.
  rewrite nth_mkseq // => -[<-]; exists (nth 0%num ws u) => [|z ltz]; last by rewrite at_unknown.
  by rewrite nth_cat size_map lt (nth_map 0%num).
have no_counter v k :
  k < 0 -> obind (fun i => get iota_words (i + k)) None = Some (v (25 + k)) by [].
have [|r1 run1 r1A] := makes_roundP (no_counter _) first_b kn hA (ir := 0).
  by move=> z ltz; rewrite at_const RC_words.
have {hA kn} {}r1A : in_env e0 r1 (rounds A 1) by move=> x y ltx lty; apply: r1A (lane_lt ltx lty).
have [r2 run2 r2A] := @loop_rounds A 22 1 r1 isT isT isT r1A.
have [kn hA] := known_state [::] r2A.
have [|r3 run3 r3A] := makes_roundP (no_counter _) last_round kn hA (ir := 23).
  by move=> z ltz; rewrite at_const RC_words.
rewrite -roundsS in r3A.
have [l0 E0 P0] := r3A 0 0 isT isT isT; have [l1 E1 P1] := r3A 1 0 isT isT isT.
have [m0 E2 P2] := r3A 2 0 isT isT isT; have [m1 E3 P3] := r3A 3 0 isT isT isT.
exists l0, l1, m0, m1; split; last first.
  have word i a : (forall z, z < w -> tb a z = bit (rounds A 24) i 0 z) ->
      lane (rounds A 24) i 0 = word_bits a.
    by move=> same; apply/eq_in_map => z; rewrite mem_iota => /same.
  by rewrite /digest_lanes (word 0 l0 P0) (word 1 l1 P1) (word 2 m0 P2) (word 3 m1 P3).
have run2' : run_loop iota_words (with_first_round b) (limit opt_keccak_scalar)
  (first opt_keccak_scalar) r1 = Some r2 by rewrite run_loop_same; exact: run2.
have -> : run iota_words (with_first_round b) ws =
  if run_block iota_words None b start is Some r1 then
    if run_loop iota_words (with_first_round b) (limit opt_keccak_scalar) (first opt_keccak_scalar) r1
      is Some r2 then
      if run_block iota_words None (after opt_keccak_scalar) r2 is Some r3 then
        values iota_words r3 (returned opt_keccak_scalar) else None
    else None
  else None by [].
rewrite run1 run2' run3.
have -> : returned opt_keccak_scalar = [:: Var e0; Var e1; Var e2; Var e3; Const 0] := erefl.
have {}E0 : nth None r3 e0 = Some l0 := E0.
have {}E1 : nth None r3 e1 = Some l1 := E1.
have {}E2 : nth None r3 e2 = Some m0 := E2.
have {}E3 : nth None r3 e3 = Some m1 := E3.
by rewrite /values /eval E0 E1 E2 E3.
Qed.

(* The hashed string is these words' bytes, each word least significant byte first. *)
Definition bytes_of_words (ws : seq N) : seq byte := flatten (map (Codec.put_le 8) ws).

Lemma bits_of_bytes_of_words ws : bits_of_bytes (bytes_of_words ws) = bits_of_words ws.
Proof.
have bits_cat a b : bits_of_bytes (a ++ b) = bits_of_bytes a ++ bits_of_bytes b.
  by rewrite /bits_of_bytes map_cat flatten_cat.
elim: ws => [|a ws IH] //.
rewrite -[bytes_of_words _]/(Codec.put_le 8 a ++ bytes_of_words ws) bits_cat IH.
by rewrite bits_of_put_le.
Qed.

Lemma one_block_sound b ws : seed_or_node (size ws) ->
  makes_round e0 b (arguments (size ws)) (first_lanes (size ws)) (const (nth 0%num iota_words 0)) 0 25 ->
  exists l0 l1 r0 r1,
  [/\ run iota_words (with_first_round b) ws = Some [:: l0; l1; r0; r1; 0]%num,
      sha3_256_bits (bits_of_words ws) = bits_of_words [:: l0; l1; r0; r1] &
      sha3_256 (bytes_of_words ws) = bytes_of_words [:: l0; l1; r0; r1]].
Proof.
move=> hn first_b.
have [l0 [l1 [r0 [r1 [R B]]]]] := run_rounds hn first_b (first_lanesP hn).
have {}B : sha3_256_bits (bits_of_words ws) = bits_of_words [:: l0; l1; r0; r1].
  by rewrite (sponge_one_block hn) ?size_bits_of_words // B.
exists l0, l1, r0, r1; split=> //.
by rewrite /sha3_256 bits_of_bytes_of_words B -bits_of_bytes_of_words -[RHS]bytes_of_bits_of.
Qed.

(* The functions of prg/keccak.c are one program per suite: equal by computation. *)
Lemma one_program p :
  List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
  p = with_first_round (before opt_keccak_scalar).
Proof.
have scalar : opt_keccak_scalar = with_first_round (before opt_keccak_scalar) := erefl.
have avx2 : opt_keccak_avx2 = opt_keccak_scalar := erefl.
have avx512 : opt_keccak_avx512 = opt_keccak_scalar := erefl.
have avx2_x4 : opt_keccak_avx2_x4 = opt_keccak_scalar := erefl.
have avx512_x4 : opt_keccak_avx512_x4 = opt_keccak_scalar := erefl.
have avx512_x8 : opt_keccak_avx512_x8 = opt_keccak_scalar := erefl.
rewrite avx2 avx512 avx2_x4 avx512_x4 avx512_x8 -scalar => listed.
by case: listed => [|[|[|[|[|[|[]]]]]]].
Qed.

Lemma one_salted_program p :
  List.In p [:: opt_salted_scalar; opt_salted_avx2; opt_salted_avx512; opt_salted_avx2_x4;
                opt_salted_avx512_x4; opt_salted_avx512_x8] ->
  p = with_first_round (before opt_salted_scalar).
Proof.
have scalar : opt_salted_scalar = with_first_round (before opt_salted_scalar) := erefl.
have avx2 : opt_salted_avx2 = opt_salted_scalar := erefl.
have avx512 : opt_salted_avx512 = opt_salted_scalar := erefl.
have avx2_x4 : opt_salted_avx2_x4 = opt_salted_scalar := erefl.
have avx512_x4 : opt_salted_avx512_x4 = opt_salted_scalar := erefl.
have avx512_x8 : opt_salted_avx512_x8 = opt_salted_scalar := erefl.
rewrite avx2 avx512 avx2_x4 avx512_x4 avx512_x8 -scalar => listed.
by case: listed => [|[|[|[|[|[|[]]]]]]].
Qed.

(* The functions of prg/keccak.c on uint64_t, and those on vectors, element by element. *)
Theorem keccak_sound p lo hi :
  List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
  exists l0 l1 r0 r1,
  run iota_words p [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
  Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 =
  sha3_256 (Codec.put_le 8 lo ++ Codec.put_le 8 hi).
Proof.
move=> /one_program ->.
have [l0 [l1 [r0 [r1 [R _ B]]]]] := @one_block_sound _ [:: lo; hi] isT first_round.
by exists l0, l1, r0, r1; split; [exact: R | exact: (esym B)].
Qed.

(* Those of sha3-256-salted: the 16 bytes of a seed, the 16 of a salt and the 8 of a node's
   in-order id. *)
Theorem salted_sound p lo hi salt_lo salt_hi id :
  List.In p [:: opt_salted_scalar; opt_salted_avx2; opt_salted_avx512; opt_salted_avx2_x4;
                opt_salted_avx512_x4; opt_salted_avx512_x8] ->
  exists l0 l1 r0 r1,
  run iota_words p [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
  Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 =
  sha3_256 ((Codec.put_le 8 lo ++ Codec.put_le 8 hi) ++
            (Codec.put_le 8 salt_lo ++ Codec.put_le 8 salt_hi) ++ Codec.put_le 8 id).
Proof.
move=> /one_salted_program ->.
have [l0 [l1 [r0 [r1 [R _ B]]]]] :=
  @one_block_sound _ [:: lo; hi; salt_lo; salt_hi; id] isT first_round_of_node.
by exists l0, l1, r0, r1; split; [exact: R | rewrite -!catA; exact: (esym B)].
Qed.

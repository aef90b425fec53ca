(* SPDX-License-Identifier: Apache-2.0 *)
(* The Keccak functions of opt compute SHA3-256 of a seed's 16 bytes, as FIPS 202 defines it. *)
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

Definition padding : seq bool := [:: false; true] ++ pad10_1 1088 130 ++ nseq 512 false.
Definition digest_lanes (A : state) : seq bool :=
  lane A 0 0 ++ lane A 1 0 ++ lane A 2 0 ++ lane A 3 0.

Lemma size_take_to_string A : take 256 (to_string A) = digest_lanes A.
Proof. by []. Qed.

Lemma sponge_one_block M : size M = 128 ->
  sha3_256_bits M = digest_lanes (rounds (of_string (M ++ padding)) 24).
Proof.
move=> sM; rewrite /sha3_256_bits /keccak.
have sN : size (M ++ [:: false; true]) = 130 by rewrite size_cat sM.
rewrite /sponge sN -[1600 - 512]/1088.
have sP : size ((M ++ [:: false; true]) ++ pad10_1 1088 130) = 1088 by rewrite size_cat sN.
have padded : ((M ++ [:: false; true]) ++ pad10_1 1088 130) ++ nseq 512 false = M ++ padding.
  by rewrite -!catA.
move: (_ ++ pad10_1 1088 130) sP padded => P sP padded.
rewrite sP -[1088 %/ 1088]/1 -[256 %/ 1088]/0.
have -> : absorb 1088 1 (nseq 1600 false) P =
    keccak_f (xor_strings (nseq 1600 false) (take 1088 P ++ nseq 512 false)) by [].
have -> : take 1088 P = P by apply: take_oversize; rewrite sP.
have -> : xor_strings (nseq 1600 false) (P ++ nseq 512 false) = M ++ padding.
  by rewrite padded -[RHS]xor_zeros size_cat sM.
rewrite /keccak_f -/(rounds _ 24).
move: (rounds _ 24) => A.
have -> : squeeze 1088 0 256 (to_string A) [::] = take 256 (to_string A) by [].
exact: size_take_to_string.
Qed.

Lemma size_word_bits a : size (word_bits a) = w.
Proof. exact: size_mkseq. Qed.

Lemma drop_words lo hi s n :
  drop (w * (n + 2)) (word_bits lo ++ word_bits hi ++ s) = drop (w * n) s.
Proof. by rewrite mulnDr -drop_drop catA (@drop_size_cat _ (w * 2)). Qed.

(* The state that the padded block makes of the zero state. *)
Lemma first_lanesP v lo hi : v 0 = lo -> v 1 = hi ->
  holds v (of_string (word_bits lo ++ word_bits hi ++ padding)) first_lanes.
Proof.
move=> v0 v1 x y z ltx lty ltz; rewrite /of_string bit_array //.
have lt := lane_lt ltx lty.
rewrite /lane_at [5 * y + x]addnC; move: (x + 5 * y) lt => n {x y ltx lty} lt.
case: n lt => [|[|n]] lt.
- by rewrite muln0 drop0 nth_cat size_word_bits ltz nth_mkseq // at_unknown // v0.
- rewrite muln1 drop_size_cat ?size_word_bits // nth_cat size_word_bits ltz nth_mkseq //.
  by rewrite at_unknown // v1.
rewrite -addn2 drop_words.
have ltn : n < 23 by [].
have -> : nth [::] first_lanes (n + 2) = const (padded_word (n + 2)).
  rewrite [in LHS]addn2 -[LHS]/(nth [::] (mkseq (fun n => const (padded_word (n + 2))) 23) n).
  by rewrite nth_mkseq.
rewrite at_const.
have /allP/(_ n) : all (fun n => all (fun z => nth false (drop (w * n) padding) z ==
  tb (padded_word (n + 2)) z) (iota 0 w)) (iota 0 23) by vm_compute.
by rewrite mem_iota => /(_ ltn)/allP/(_ z); rewrite mem_iota => /(_ ltz)/eqP.
Qed.

(* ---- The theorem ------------------------------------------------------------------------- *)

Lemma run_rounds lo hi A : holds (nth 0%num [:: lo; hi]) A first_lanes ->
  exists l0 l1 r0 r1,
  run iota_words opt_keccak_scalar [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
  digest_lanes (rounds A 24) = word_bits l0 ++ word_bits l1 ++ word_bits r0 ++ word_bits r1.
Proof.
move=> hA.
pose start := map Some [:: lo; hi] ++ nseq (variables opt_keccak_scalar - 2) None.
have kn : known (nth 0%num [:: lo; hi]) start [:: Some (unknown 0); Some (unknown 1)].
  case=> [|[|u]] p; last by rewrite /= nth_nil.
    by move=> [<-]; exists lo => // z ltz; rewrite at_unknown.
  by move=> [<-]; exists hi => // z ltz; rewrite at_unknown.
have no_counter v k :
  k < 0 -> obind (fun i => get iota_words (i + k)) None = Some (v (25 + k)) by [].
have [|r1 run1 r1A] := makes_roundP (no_counter _) first_round kn hA (ir := 0).
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
have run1' : run_block iota_words None (before opt_keccak_scalar) start = Some r1 := run1.
have run2' : run_loop iota_words opt_keccak_scalar (limit opt_keccak_scalar)
  (first opt_keccak_scalar) r1 = Some r2 := run2.
rewrite /run -/start run1' run2' run3.
have -> : returned opt_keccak_scalar = [:: Var e0; Var e1; Var e2; Var e3; Const 0] := erefl.
have {}E0 : nth None r3 e0 = Some l0 := E0.
have {}E1 : nth None r3 e1 = Some l1 := E1.
have {}E2 : nth None r3 e2 = Some m0 := E2.
have {}E3 : nth None r3 e3 = Some m1 := E3.
by rewrite /values /eval E0 E1 E2 E3.
Qed.

(* The functions of prg/keccak.c are one program: equal by computation. *)
Lemma one_program p :
  List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
  p = opt_keccak_scalar.
Proof.
have avx2 : opt_keccak_avx2 = opt_keccak_scalar := erefl.
have avx512 : opt_keccak_avx512 = opt_keccak_scalar := erefl.
have avx2_x4 : opt_keccak_avx2_x4 = opt_keccak_scalar := erefl.
have avx512_x4 : opt_keccak_avx512_x4 = opt_keccak_scalar := erefl.
have avx512_x8 : opt_keccak_avx512_x8 = opt_keccak_scalar := erefl.
rewrite avx2 avx512 avx2_x4 avx512_x4 avx512_x8 => listed.
by case: listed => [|[|[|[|[|[|[]]]]]]].
Qed.

(* The functions of prg/keccak.c: of uint64_t, and of vectors the elements. *)
Theorem keccak_sound p lo hi :
  List.In p [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4;
                opt_keccak_avx512_x4; opt_keccak_avx512_x8] ->
  exists l0 l1 r0 r1,
  run iota_words p [:: lo; hi] = Some [:: l0; l1; r0; r1; 0]%num /\
  Codec.put_le 8 l0 ++ Codec.put_le 8 l1 ++ Codec.put_le 8 r0 ++ Codec.put_le 8 r1 =
  sha3_256 (Codec.put_le 8 lo ++ Codec.put_le 8 hi).
Proof.
move=> /one_program ->.
have put8 a : bits_of_bytes (Codec.put_le 8 a) = word_bits a by exact: bits_of_put_le.
have bits_cat a b : bits_of_bytes (a ++ b) = bits_of_bytes a ++ bits_of_bytes b.
  by rewrite /bits_of_bytes map_cat flatten_cat.
rewrite /sha3_256 bits_cat !put8 sponge_one_block; last by rewrite size_cat !size_word_bits.
rewrite -catA; have [|l0 [l1 [r0 [r1 [-> ->]]]]] := @run_rounds lo hi
  (of_string (word_bits lo ++ word_bits hi ++ padding)); first exact: first_lanesP.
exists l0, l1, r0, r1; split=> //.
by rewrite -!put8 -!bits_cat -[LHS]bytes_of_bits_of.
Qed.

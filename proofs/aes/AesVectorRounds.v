(* SPDX-License-Identifier: Apache-2.0 *)
(* FIPS 197's rounds as sums of unknown bytes, for several pairs of blocks at once, each pair
   under its own key. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Codec VectorCode.
From Pprf.proofs Require Import AesSym AesRounds AesSteps VectorSym.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* Not to be computed when a step compares two sides. *)
Local Opaque S_box xtimes key_expansion.

(* ---- One pair: the key, the left block and the right block are the 48 unknown bytes from `base' on ------- *)

(* Row r of word c of round key j, from the bytes of round key j - 1. *)
Fixpoint key_form (base j r c : nat) : form :=
  plus (VectorSym.unknown (base + (r + 4 * c)))
    (if c is c'.+1 then key_form base j r c'
     else plus (sboxed (base + ((r + 1) %% 4 + 12))) (const (nth x00 (Rcon j) r))).
Definition next_key (base j : nat) : sval := mkseq (fun n => key_form base j (n %% 4) (n %/ 4)) 16.
Definition next_pair (base j : nat) : option sval :=
  let enc k := (if j < 10 then sym_aesenc else sym_aesenclast) (unknowns (base + k) 16) (next_key base j) in
  if (enc 16, enc 32) is (Some a, Some b) then Some (next_key base j ++ a ++ b) else None.

Lemma sumb_sboxed u n : sumb u (sboxed n) = S_box (u n).
Proof.
have [le E] := plainE n; have E0 : ((plain n - 8) mod 3 = 0)%num by rewrite E N.mod_mul.
have [le1 E1 pl] := atom_next le E0 isT.
have D : place_of (plain n) = n by rewrite /place_of E N.div_mul // Nnat.Nat2N.id.
rewrite sumb1 (atom_1 _ le1 E1) pl D; reflexivity.
Qed.

Lemma bytes_unknowns u n k : bytes_of u (unknowns n k) = mkseq (fun i => u (n + i)) k.
Proof. by rewrite /bytes_of /unknowns /mkseq -map_comp; apply: eq_map => i; exact: sumb_unknown. Qed.

Lemma xor_round_key w s j : size s = 16 -> add_round_key w s j = xor_bytes s (round_key w j).
Proof.
move=> s16; apply: (@eq_from_nth _ x00); first by rewrite size_array /xor_bytes size_map size_zip s16 size_array.
move=> n; rewrite size_array => lt; rewrite nth_add_round_key // /xor_bytes.
by rewrite (nth_map (x00, x00)) ?size_zip ?s16 ?size_array // nth_zip ?s16 ?size_array.
Qed.

Lemma size_rounds w s n : size s = 16 -> size (rounds w s n) = 16.
Proof. by move=> s16; case: n => [|n] //; rewrite roundsS size_array. Qed.

Lemma key_formP key u base j : 0 < j <= 10 ->
  let w := key_expansion key in
  (forall n, n < 16 -> u (base + n) = nth x00 (round_key w j.-1) n) ->
  forall r c, r < 4 -> c < 4 -> nth x00 (nth [::] w (4 * j + c)) r = sumb u (key_form base j r c).
Proof.
move=> range w old r c ltr ltc.
case: j range old => // j /andP[_ lt]; rewrite [j.+1.-1]/= => old.
have old_at r' c' : r' < 4 -> c' < 4 -> u (base + (r' + 4 * c')) = nth x00 (nth [::] w (4 * j + c')) r'.
  move=> lr lc; rewrite old; last exact: lt16.
  by rewrite -[LHS]/(at_ (round_key w j) r' c') at_array.
elim: c ltc => [|c IH] ltc.
  rewrite addn0 mulnS expansion_word; last by rewrite -[40]/(4 * 10) ltn_pmul2l.
  rewrite -/w /next_word addKn modnDl modnMr eqxx divnDl // divnn mulKn //.
  rewrite -[key_form _ _ _ _]/(plus (VectorSym.unknown (base + (r + 4 * 0)))
    (plus (sboxed (base + ((r + 1) %% 4 + 12))) (const (nth x00 (Rcon j.+1) r)))).
  rewrite !sumb_plus sumb_unknown sumb_sboxed sumb_const.
  rewrite nth_mkseq // nth_mkseq // /sub_word nth_mkseq // /rot_word nth_mkseq //.
  have -> : 4 + 4 * j - 1 = 4 * j + 3 by rewrite addnC -addnBA.
  rewrite (old_at r 0 ltr isT) -[12]/(4 * 3) (old_at _ 3 (mod4 _) isT) addn0; reflexivity.
have ltc' : c < 4 by apply: ltnW.
have E : 4 * j.+1 + c.+1 = 4 + (4 * j + c.+1) by rewrite mulnS addnA.
have lt40 : 4 * j + c.+1 < 40.
  by rewrite (@leq_trans (4 * j + 4)) ?ltn_add2l // -mulnSr -[40]/(4 * 10) leq_pmul2l.
rewrite E expansion_word // -/w /next_word addKn.
have -> : (4 + (4 * j + c.+1)) %% 4 == 0 = false.
  rewrite modnDl mulnC modnMDl modn_small //.
rewrite -[key_form _ _ _ _]/(plus (VectorSym.unknown (base + (r + 4 * c.+1))) (key_form base j.+1 r c)).
rewrite sumb_plus sumb_unknown nth_mkseq // old_at //; congr add.
have -> : 4 + (4 * j + c.+1) - 1 = 4 * j.+1 + c by rewrite mulnS !addnA addnS subn1.
exact: IH.
Qed.

Section Pair.

Variables key L R : seq byte.
Hypothesis sizes : size L = 16 /\ size R = 16.
Let w := key_expansion key.
Definition pair_at (j : nat) : seq byte := round_key w j ++ rounds w L j ++ rounds w R j.

Lemma size_pair n : size (pair_at n) = 48.
Proof. by case: sizes => sL sR; rewrite !size_cat size_array !size_rounds. Qed.

Lemma nth_pair i n : n < 16 ->
  [/\ nth x00 (pair_at i) n = nth x00 (round_key w i) n,
      nth x00 (pair_at i) (16 + n) = nth x00 (rounds w L i) n &
      nth x00 (pair_at i) (32 + n) = nth x00 (rounds w R i) n].
Proof.
move=> lt; have [sL sR] := sizes; split.
- by rewrite nth_cat size_array lt.
- by rewrite nth_cat size_array ltnNge leq_addr /= addKn nth_cat size_rounds // lt.
rewrite nth_cat size_array ltnNge (leq_trans _ (leq_addr _ _)) //= -[32]/(16 + 16) -addnA addKn.
by rewrite nth_cat size_rounds // ltnNge leq_addr /= addKn.
Qed.

Variables (u : nat -> byte) (base j : nat).
Hypothesis range : 0 < j <= 10.
Hypothesis before : forall n, n < 48 -> u (base + n) = nth x00 (pair_at j.-1) n.

Lemma key_before n : n < 16 -> u (base + n) = nth x00 (round_key w j.-1) n.
Proof. by move=> lt; rewrite before ?(leq_trans lt) //; case: (nth_pair j.-1 lt). Qed.

Lemma next_keyP : bytes_of u (next_key base j) = round_key w j.
Proof.
apply: (@eq_from_nth _ x00); first by rewrite size_bytes size_mkseq size_array.
move=> n; rewrite size_bytes size_mkseq => lt; rewrite nth_bytes nth_mkseq // nth_array //.
by rewrite (key_formP range key_before) ?mod4 ?div4.
Qed.

Lemma unknowns_are k s : size s = 16 -> (forall n, n < 16 -> u (base + (k + n)) = nth x00 s n) ->
  bytes_of u (unknowns (base + k) 16) = s.
Proof.
move=> s16 same; rewrite bytes_unknowns; apply: (@eq_from_nth _ x00); first by rewrite size_mkseq s16.
by move=> n; rewrite size_mkseq => lt; rewrite nth_mkseq // -addnA same.
Qed.

Lemma enc_round k s x : size s = 16 -> (forall n, n < 16 -> u (base + (k + n)) = nth x00 (rounds w s j.-1) n) ->
  (if j < 10 then sym_aesenc else sym_aesenclast) (unknowns (base + k) 16) (next_key base j) = Some x ->
  bytes_of u x = rounds w s j.
Proof.
move=> s16 same; have E := @unknowns_are k (rounds w s j.-1) (size_rounds _ _ s16) same.
have step : rounds w s j = one_round w (rounds w s j.-1) j.
  by case: (j) range => // i _; rewrite roundsS.
rewrite step /one_round; case: ifP => _ Ex.
  by rewrite -(sym_aesencP u Ex) E next_keyP xor_round_key ?size_array.
by rewrite -(sym_aesenclastP u Ex) E next_keyP xor_round_key ?size_array.
Qed.

Lemma next_pairP x : next_pair base j = Some x -> bytes_of u x = pair_at j.
Proof.
have [sL sR] := sizes; rewrite /next_pair.
case Ea: (_ (unknowns (base + 16) 16) _) => [a|] //.
case Eb: (_ (unknowns (base + 32) 16) _) => [b|] // /Some_inj <-.
rewrite /bytes_of !map_cat -!/(bytes_of u _) next_keyP; congr (_ ++ (_ ++ _)).
  apply: (enc_round sL _ Ea) => n lt; rewrite before.
    by have [_ ->] := nth_pair j.-1 lt.
  by rewrite (leq_trans (_ : _ < 16 + 16)) // ltn_add2l.
apply: (enc_round sR _ Eb) => n lt; rewrite before.
  by have [_ _ ->] := nth_pair j.-1 lt.
by rewrite -[48]/(32 + 16) ltn_add2l.
Qed.

End Pair.

(* ---- Several -------------------------------------------------------------------------------------------- *)

(* A key and the blocks after the addition of round key 0. *)
Record pair : Type := Pair { key_of : seq byte; left_of : seq byte; right_of : seq byte }.
Definition whole (p : pair) : Prop := size (left_of p) = 16 /\ size (right_of p) = 16.
Definition at_round (j : nat) (p : pair) : seq byte := pair_at (key_of p) (left_of p) (right_of p) j.
Definition state_of (ps : seq pair) (j : nat) : seq byte := flatten (map (at_round j) ps).

Definition next (n j : nat) : option sval :=
  omap flatten (all_some (mkseq (fun l => next_pair (48 * l) j) n)).

Fixpoint all_whole (ps : seq pair) : Prop := if ps is p :: ps' then whole p /\ all_whole ps' else True.

Lemma nth_state ps j l n p0 : all_whole ps -> l < size ps -> n < 48 ->
  nth x00 (state_of ps j) (48 * l + n) = nth x00 (at_round j (nth p0 ps l)) n.
Proof.
elim: ps l => [|p ps IH] l // [wp wps]; rewrite -[state_of _ _]/(at_round j p ++ state_of ps j).
case: l => [|l] lt lt48; rewrite nth_cat (size_pair _ wp); first by rewrite muln0 add0n lt48.
by rewrite mulnS -addnA ltnNge leq_addr /= addKn IH.
Qed.

Lemma whole_nth ps p0 l : all_whole ps -> l < size ps -> whole (nth p0 ps l).
Proof.
elim: ps l => [|p ps IH] l; first by [].
by case=> wp wps; case: l => [|l] lt; [exact: wp | exact: (IH l wps lt)].
Qed.

Lemma nextP ps j x : all_whole ps -> 0 < j <= 10 -> next (size ps) j = Some x ->
  bytes_of (nth x00 (state_of ps j.-1)) x = state_of ps j.
Proof.
move=> wps range; rewrite /next; case E: all_some => [xs|] // /Some_inj <-.
have sz := size_all_some E; rewrite size_map size_iota in sz.
rewrite bytes_flatten; congr flatten; pose p0 := Pair [::] [::] [::].
apply: (@eq_from_nth _ [::]); first by rewrite !size_map.
move=> l; rewrite size_map sz => lt; rewrite (nth_map [::]) ?sz // (nth_map p0) //.
have := all_some_map E 0 [::] (n := l); rewrite size_iota => /(_ lt); rewrite nth_iota // add0n => El.
apply: (next_pairP (whole_nth _ wps lt) range _ El) => n lt48.
exact: nth_state.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Functions of VectorCode.v computed on sums of unknown bytes, which decides about all bytes.

   A byte is a sum (in GF(2^8)) of constants x^i, unknown bytes, values of FIPS 197's S-box at
   unknown bytes, and x times these. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Codec VectorCode.
From Pprf.proofs Require Import AesSym AesRounds AesSteps.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Sums of bytes ------------------------------------------------------------------------------- *)

Lemma addC b c : add b c = add c b.
Proof. by apply: byte_ext => i lt; rewrite !bit_of_bits // Bool.xorb_comm. Qed.
Lemma addA a b c : add a (add b c) = add (add a b) c.
Proof. by apply: byte_ext => i lt; rewrite !bit_of_bits // Bool.xorb_assoc. Qed.
Lemma bit0 i : bit x00 i = false.
Proof. by case: i => [|[|[|[|[|[|[|[|[|i]]]]]]]]]. Qed.
Lemma add0 b : add x00 b = b.
Proof. by apply: byte_ext => i lt; rewrite bit_of_bits // bit0 Bool.xorb_false_l. Qed.
Lemma addb b : add b b = x00.
Proof. by apply: byte_ext => i lt; rewrite bit_of_bits // bit0 Bool.xorb_nilpotent. Qed.

(* Unknown byte n; S-box of it; x times that; the constants are the numbers below 8. *)
Definition plain (n : nat) : N := (8 + 3 * N.of_nat n)%num.
Definition unknown (n : nat) : form := [:: plain n].
Definition unknowns (n k : nat) : seq form := mkseq (fun i => unknown (n + i)) k.
Definition sboxed (n : nat) : form := [:: (plain n + 1)%num].
Definition is_plain (a : N) : bool := (8 <=? a)%num && ((a - 8) mod 3 =? 0)%num.
Definition is_sboxed (a : N) : bool := (8 <=? a)%num && ((a - 8) mod 3 =? 1)%num.
Definition place_of (a : N) : nat := N.to_nat ((a - 8) / 3).

Section Bytes.

Variable u : nat -> byte.  (* the unknown bytes *)

Definition atom (a : N) : byte :=
  if (a <? 8)%num then of_bits (fun i => i == N.to_nat a) else
  match ((a - 8) mod 3)%num with
  | 0%num => u (place_of a)
  | 1%num => S_box (u (place_of a))
  | _ => xtimes (S_box (u (place_of a)))
  end.

(* By cbv: the S-box must not be computed. *)
Lemma atom_0 a : (8 <=? a)%num -> ((a - 8) mod 3 = 0)%num -> atom a = u (place_of a).
Proof. by move/N.leb_le/N.ltb_ge => le E; rewrite /atom le E. Qed.
Lemma atom_1 a : (8 <=? a)%num -> ((a - 8) mod 3 = 1)%num -> atom a = S_box (u (place_of a)).
Proof. move/N.leb_le/N.ltb_ge => le E; rewrite /atom le E; cbv iota beta; reflexivity. Qed.
Lemma atom_2 a : (8 <=? a)%num -> ((a - 8) mod 3 = 2)%num -> atom a = xtimes (S_box (u (place_of a))).
Proof. move/N.leb_le/N.ltb_ge => le E; rewrite /atom le E; cbv iota beta; reflexivity. Qed.

Definition sumb (p : form) : byte := foldr (fun a => add (atom a)) x00 p.

Lemma sumb_toggle a p : sumb (toggle a p) = add (atom a) (sumb p).
Proof.
elim: p => [|b p IH] //=; case: N.eqb_spec => [-> | _] /=; first by rewrite addA addb add0.
by rewrite IH !addA (addC (atom b)).
Qed.

Lemma sumb_plus p q : sumb (plus p q) = add (sumb p) (sumb q).
Proof. by elim: p => [|a p IH] /=; rewrite ?add0 // sumb_toggle IH addA. Qed.

Lemma samebP p q : same p q -> sumb p = sumb q.
Proof.
move=> pq; have : sumb (plus p q) = x00 by move: pq; rewrite /same; case: plus.
rewrite sumb_plus => E; rewrite -(add0 (sumb p)) addC -(addb (sumb q)).
by rewrite addA E add0.
Qed.

Lemma sumb1 a : sumb [:: a] = atom a.
Proof. by rewrite /= addC add0. Qed.

Lemma plainE n : (8 <=? plain n)%num /\ (plain n - 8 = N.of_nat n * 3)%num.
Proof. by split; [apply/N.leb_le; rewrite /plain | rewrite /plain]; lia. Qed.

Lemma sumb_unknown n : sumb (unknown n) = u n.
Proof.
have [le E] := plainE n; rewrite sumb1 (atom_0 le) /place_of E ?N.mod_mul //.
by rewrite N.div_mul // Nnat.Nat2N.id.
Qed.

(* The S-box: of an unknown byte, and of a constant. *)
Definition sum_const (p : form) : byte := foldr (fun a => add (of_bits (fun i => i == N.to_nat a))) x00 p.
Definition as_const (p : form) : option byte :=
  if all (fun a => a <? 8)%num p then Some (sum_const p) else None.
Definition const (b : byte) : form := [seq N.of_nat i | i <- iota 0 8 & bit b i].

Lemma as_constP p b : as_const p = Some b -> sumb p = b.
Proof.
rewrite /as_const; case: ifP => [small /Some_inj <-|_]; last by [].
elim: p small => [|a p IH]; first by [].
case/andP=> lt /IH {}IH; apply: (congr2 add); last exact: IH.
by rewrite /atom lt.
Qed.

Lemma sumb_const b : sumb (const b) = b.
Proof.
apply: as_constP; rewrite /as_const.
have : all (fun b => all (fun a => a <? 8)%num (const b) &&
    Byte.eqb (sum_const (const b)) b) byte_values.
  by vm_compute.
by move/all_bytes => /(_ b)/andP[-> /Byte.byte_dec_bl ->].
Qed.

Definition sym_s_box (p : form) : option form :=
  if as_const p is Some c then Some (const (S_box c))
  else if p is [:: a] then if is_plain a then Some [:: (a + 1)%num] else None else None.

(* The next number has the same place. *)
Lemma atom_next a m : (8 <=? a)%num -> ((a - 8) mod 3 = m)%num -> (m <? 2)%num ->
  [/\ (8 <=? a + 1)%num, ((a + 1 - 8) mod 3 = m + 1)%num & place_of (a + 1) = place_of a].
Proof.
move=> /N.leb_le le E /N.ltb_lt lt; have := N.div_mod' (a - 8) 3; rewrite /place_of E => D.
have -> : (a + 1 - 8 = m + 1 + (a - 8) / 3 * 3)%num by lia.
rewrite N.mod_add // N.div_add // (N.mod_small (m + 1)) ?(N.div_small (m + 1)) ?N.add_0_l; try lia.
by split=> //; apply/N.leb_le; lia.
Qed.

Lemma sym_s_boxP p q : sym_s_box p = Some q -> S_box (sumb p) = sumb q.
Proof.
rewrite /sym_s_box; case E: as_const => [c|].
  by move=> /Some_inj <-; rewrite (as_constP E) sumb_const.
case: p {E} => [|a [|b p]] //; case: ifP => // /andP[le /N.eqb_eq m0] /Some_inj <-.
have [le' m1 pl] := atom_next le m0 isT.
rewrite !sumb1 (atom_0 le m0) (atom_1 le' m1) pl; reflexivity.
Qed.

Definition sym_xtimes (p : form) : option form :=
  if all is_sboxed p then Some [seq (a + 1)%num | a <- p] else None.

Lemma xtimes_add b c : xtimes (add b c) = add (xtimes b) (xtimes c).
Proof.
have bit_xtimes a i : i < 8 -> bit (xtimes a) i =
    xorb (if i is j.+1 then bit a j else false) (bit a 7 && bit x1b i).
  move=> lt; rewrite /xtimes; case: (bit a 7); rewrite ?bit_of_bits ?andbF ?Bool.xorb_false_r //.
apply: byte_ext => i lt; rewrite [RHS]bit_of_bits // !bit_xtimes // !bit_of_bits //.
case: i lt => [|i] lt; rewrite ?bit_of_bits ?(ltnW lt) //.
  by case: (bit b 7); case: (bit c 7).
by case: (bit b 7); case: (bit c 7); case: (bit b i); case: (bit c i); case: (bit x1b i.+1).
Qed.

Lemma sym_xtimesP p q : sym_xtimes p = Some q -> xtimes (sumb p) = sumb q.
Proof.
rewrite /sym_xtimes; case: ifP => // ok /Some_inj <-; elim: p ok => [|a p IH]; first by [].
case/andP=> /andP[le /N.eqb_eq m1] /IH {}IH; have [le' m2 pl] := atom_next le m1 isT.
rewrite -[sumb (a :: p)]/(add (atom a) (sumb p)) xtimes_add IH.
rewrite -[RHS]/(add (atom (a + 1)) (sumb [seq (a + 1)%num | a <- p])).
rewrite (atom_1 le m1) (atom_2 le' m2) pl; reflexivity.
Qed.

(* ---- Values ------------------------------------------------------------------------------------ *)

Definition sval : Type := seq form.
Definition bytes_of (s : sval) : value := map sumb s.

Lemma nth_bytes s n : nth x00 (bytes_of s) n = sumb (nth [::] s n).
Proof.
case: (ltnP n (size s)) => lt; first exact: nth_map.
by rewrite !nth_default // size_map.
Qed.

Lemma size_bytes s : size (bytes_of s) = size s.
Proof. exact: size_map. Qed.

Lemma bytes_of_const v : bytes_of (map const v) = v.
Proof. by elim: v => //= b v ->; rewrite sumb_const. Qed.

Lemma all_some_map (S T : Type) (f : S -> option T) s t : all_some (map f s) = Some t ->
  forall x0 y0 n, n < size s -> f (nth x0 s n) = Some (nth y0 t n).
Proof.
elim: s t => [|x s IH] t //=; case E: (f x) => [y|] //=; case E': all_some => [t'|] //= [<-].
by move=> x0 y0 [|n] lt //=; apply: IH.
Qed.

Lemma size_all_some (S : Type) (s : seq (option S)) t : all_some s = Some t -> size t = size s.
Proof. by elim: s t => [|[x|] s IH] t //=; [case=> <- | case E: all_some => [t'|] //= [<-] /=; rewrite (IH _ E)]. Qed.

Lemma all_some_cons (S : Type) (x : option S) s t : all_some (x :: s) = Some t ->
  exists y t', [/\ x = Some y, all_some s = Some t' & t = y :: t'].
Proof.
case: x => // y; rewrite -[all_some _]/(omap (cons y) (all_some s)); case: all_some => [t'|] // /Some_inj <-.
by exists y, t'.
Qed.

Definition sym_xor (a b : sval) : sval := [seq plus x.1 x.2 | x <- zip a b].

Lemma sym_xorP a b : xor_bytes (bytes_of a) (bytes_of b) = bytes_of (sym_xor a b).
Proof. by elim: a b => [|p a IH] [|q b] //=; congr cons; [rewrite sumb_plus | exact: IH]. Qed.

Definition sym_sub (a : sval) : option sval := all_some (map sym_s_box a).

Lemma sym_subP a s : sym_sub a = Some s -> map S_box (bytes_of a) = bytes_of s.
Proof.
rewrite /sym_sub; elim: a s => [|p a IH] s; first by move/Some_inj <-.
move=> E; have [q [t [Eq Es ->]]] := all_some_cons E.
by apply: (congr2 cons); [exact: sym_s_boxP | exact: IH].
Qed.

Definition sym_shift (a : sval) : sval :=
  mkseq (fun n => nth [::] a (n %% 4 + 4 * ((n %/ 4 + n %% 4) %% 4))) 16.
Definition sym_mul (b : byte) (p : form) : option form :=
  if Byte.eqb b x01 then Some p
  else if Byte.eqb b x02 then sym_xtimes p
  else if Byte.eqb b x03 then omap (plus p) (sym_xtimes p) else None.
Definition sym_mix (a : sval) : option sval :=
  all_some (mkseq (fun n =>
    if all_some (mkseq (fun k => sym_mul (nth x00 (mix_row (n %% 4)) k) (nth [::] a (k + 4 * (n %/ 4)))) 4)
      is Some [:: p0; p1; p2; p3] then Some (plus (plus (plus p0 p1) p2) p3) else None) 16).

Lemma size_array f : size (array f) = 16.
Proof. exact: size_mkseq. Qed.

Lemma sub_bytesE a : size a = 16 -> sub_bytes a = map S_box a.
Proof.
move=> s16; apply: (@eq_from_nth _ x00); first by rewrite size_map size_array s16.
by move=> n; rewrite size_array => lt; rewrite nth_sub_bytes // (nth_map x00) ?s16.
Qed.

Lemma sym_shiftP a : shift_rows (bytes_of a) = bytes_of (sym_shift a).
Proof.
apply: (@eq_from_nth _ x00); first by rewrite size_bytes size_array size_mkseq.
by move=> n; rewrite size_array => lt; rewrite nth_array // /at_ !nth_bytes [in RHS]nth_mkseq.
Qed.

Lemma sym_mulP b p q : sym_mul b p = Some q -> mul b (sumb p) = sumb q.
Proof.
rewrite /sym_mul; case E1: (Byte.eqb b x01).
  by rewrite (Byte.byte_dec_bl _ _ E1) mul1 => /Some_inj <-.
case E2: (Byte.eqb b x02); first by rewrite (Byte.byte_dec_bl _ _ E2) mul2; exact: sym_xtimesP.
case E3: (Byte.eqb b x03); last by [].
rewrite (Byte.byte_dec_bl _ _ E3) mul3; case E: sym_xtimes => [r|] // /Some_inj <-.
by rewrite sumb_plus (sym_xtimesP E).
Qed.

Lemma sym_mixP a s : sym_mix a = Some s -> mix_columns (bytes_of a) = bytes_of s.
Proof.
rewrite /sym_mix => E; have sz := size_all_some E.
apply: (@eq_from_nth _ x00); first by rewrite size_bytes sz size_mkseq size_array.
move=> n; rewrite size_array => lt; rewrite nth_array // nth_bytes.
have := all_some_map E 0 [::] (n := n); rewrite size_iota => /(_ lt); rewrite nth_iota // add0n.
case E4: all_some => [[|p0 [|p1 [|p2 [|p3 []]]]]|] // /Some_inj <-; cbv beta zeta.
have term k : k < 4 ->
    mul (nth x00 (mix_row (n %% 4)) k) (at_ (bytes_of a) k (n %/ 4)) = sumb (nth [::] [:: p0; p1; p2; p3] k).
  move=> ltk; rewrite /at_ nth_bytes; apply: sym_mulP.
  by have := all_some_map E4 0 [::] (n := k); rewrite size_iota => /(_ ltk); rewrite nth_iota.
by rewrite !sumb_plus (term 0) // (term 1) // (term 2) // (term 3).
Qed.

Definition sym_aesenclast (a key : sval) : option sval :=
  if size a == 16 then omap (fun s => sym_xor (sym_shift s) key) (sym_sub a) else None.
Definition sym_aesenc (a key : sval) : option sval :=
  if size a == 16 then
    if sym_sub a is Some s then if sym_mix (sym_shift s) is Some t then Some (sym_xor t key) else None else None
  else None.

Lemma sym_aesenclastP a k s : sym_aesenclast a k = Some s ->
  aesenclast (bytes_of a) (bytes_of k) = bytes_of s.
Proof.
rewrite /sym_aesenclast; case: eqP => // s16; case E: sym_sub => [t|] // /Some_inj <-.
by rewrite /aesenclast sub_bytesE ?size_bytes // (sym_subP E) sym_shiftP sym_xorP.
Qed.

Lemma sym_aesencP a k s : sym_aesenc a k = Some s -> aesenc (bytes_of a) (bytes_of k) = bytes_of s.
Proof.
rewrite /sym_aesenc; case: eqP => // s16; case E: sym_sub => [t|] //; case E': sym_mix => [t'|] // /Some_inj <-.
by rewrite /aesenc sub_bytesE ?size_bytes // (sym_subP E) sym_shiftP (sym_mixP E') sym_xorP.
Qed.

Definition sym_pshufb (a mask : sval) : option sval :=
  all_some [seq if as_const x is Some x then
    Some (if bit x 7 then [::] else nth [::] a (N.to_nat (Byte.to_N x mod 16))) else None | x <- mask].

Lemma sym_pshufbP a m s : sym_pshufb a m = Some s -> pshufb (bytes_of a) (bytes_of m) = bytes_of s.
Proof.
rewrite /sym_pshufb; elim: m s => [|p m IH] s; first by move/Some_inj <-.
move=> E; have [q [t [Eq Es ->]]] := all_some_cons E; apply: (congr2 cons); last exact: IH.
move: Eq {E}; case E: as_const => [x|] // /Some_inj <-; rewrite (as_constP E).
by case: (bit x 7); last exact: nth_bytes.
Qed.

Definition sym_lane (s : sval) (l : nat) : sval := take 16 (drop (16 * l) s).
Definition sym_by_lanes (n : nat) (f : sval -> sval -> option sval) (a b : sval) : option sval :=
  omap flatten (all_some (mkseq (fun l => f (sym_lane a l) (sym_lane b l)) n)).

Lemma lane_bytes s l : lane (bytes_of s) l = bytes_of (sym_lane s l).
Proof. by rewrite /lane /sym_lane /bytes_of map_take map_drop. Qed.

Lemma bytes_flatten ss : bytes_of (flatten ss) = flatten (map bytes_of ss).
Proof. by rewrite /bytes_of map_flatten. Qed.

Lemma sym_by_lanesP n f g a b s :
  (forall a b s, f a b = Some s -> g (bytes_of a) (bytes_of b) = bytes_of s) ->
  sym_by_lanes n f a b = Some s -> by_lanes n g (bytes_of a) (bytes_of b) = bytes_of s.
Proof.
move=> fg; rewrite /sym_by_lanes /by_lanes /mkseq; move: (iota 0 n) => ls.
case E: all_some => [ss|] // /Some_inj <-; rewrite bytes_flatten; congr flatten.
elim: ls ss E => [|l ls IH] ss; first by move/Some_inj <-.
move=> E; have [t [ts [Et Es ->]]] := all_some_cons E; apply: (congr2 cons); last exact: IH.
by rewrite !lane_bytes; exact: fg.
Qed.

Definition sym_keygen (a : sval) (imm : N) : option sval :=
  if (sym_sub (take 4 (drop 4 a)), sym_sub (take 4 (drop 12 a))) is (Some X1, Some X3) then
    let rotated X := mkseq (fun r => plus (nth [::] X ((r + 1) %% 4)) (if r is 0 then const (byte_of imm) else [::])) 4 in
    Some (X1 ++ rotated X1 ++ X3 ++ rotated X3) else None.

Lemma sym_keygenP a imm s : size a = 16 -> sym_keygen a imm = Some s ->
  aeskeygenassist (bytes_of a) imm = bytes_of s.
Proof.
move=> s16; rewrite /sym_keygen /aeskeygenassist.
have sub n X : n + 4 <= 16 -> sym_sub (take 4 (drop n a)) = Some X ->
    sub_word (take 4 (drop n (bytes_of a))) = bytes_of X /\ size X = 4.
  move=> le E; have sz : size (take 4 (drop n a)) = 4.
    by rewrite size_takel // size_drop s16 leq_subRL ?(leq_trans (leq_addr _ _) le) // addnC addnC.
  have szX := size_all_some E; rewrite size_map sz in szX; split=> //.
  rewrite /bytes_of -map_drop -map_take -/(bytes_of _) -/(bytes_of _) -(sym_subP E).
  apply: (@eq_from_nth _ x00); first by rewrite !size_map sz.
  by move=> k; rewrite size_mkseq => lt; rewrite nth_mkseq // [RHS](nth_map x00) // size_map sz.
case E1: (sym_sub (take 4 (drop 4 a))) => [X1|] //; case E3: (sym_sub (take 4 (drop 12 a))) => [X3|] //.
move=> /Some_inj <-.
have [] := sub 4 X1 isT E1 => -> s1; have [] := sub 12 X3 isT E3 => -> s3.
have rot X : size X = 4 -> add_words (rot_word (bytes_of X)) [:: byte_of imm; x00; x00; x00] =
    bytes_of (mkseq (fun r => plus (nth [::] X ((r + 1) %% 4))
      (if r is 0 then const (byte_of imm) else [::])) 4).
  move=> s4; apply: (@eq_from_nth _ x00); first by rewrite size_bytes !size_mkseq.
  rewrite /add_words /rot_word => k; rewrite size_mkseq => lt.
  rewrite nth_bytes nth_mkseq // nth_mkseq // [in RHS]nth_mkseq // sumb_plus nth_bytes; congr add.
  by case: k lt => [|[|[|[|k]]]] //= _; rewrite ?sumb_const.
by rewrite !rot // /bytes_of !map_cat.
Qed.

(* ---- Operators --------------------------------------------------------------------------------- *)

Definition constants (o : op) : option sval := Some (map const (meaning o [::])).

(* Operators that only move bytes. *)
Definition is_move (o : op) : bool :=
  match o with
  | xor64 | and64 | or64 | add64 | mul64 | shl64 | shr64 | mm_set_epi32 _ _ _ _ | mm_set1_epi32 _ | mm512_set1_epi32 _
  | mm256_xor_si256 | mm256_or_si256 | mm256_andnot_si256 | mm256_slli_epi64 _ | mm256_srli_epi64 _ | mm256_rol_epi64 _
  | mm256_ternarylogic_epi64 _ | mm512_rol_epi64 _ | mm_rol_epi64 _ | mm_ternarylogic_epi64 _
  | mm_xor_si128 | mm512_xor_si512 | mm_shuffle_epi8 | mm512_shuffle_epi8 | mm_aesenc_si128 | mm_aesenclast_si128
  | mm_aeskeygenassist_si128 _ | mm512_aesenc_epi128 | mm512_aesenclast_epi128 | mm512_ternarylogic_epi64 _ => false
  | _ => true
  end.

Lemma meaning_move o args : is_move o ->
  meaning o args = [seq if k is Some k then nth x00 (flatten args) k else x00 | k <- moves o].
Proof. by case: o. Qed.

Lemma asks_move o args : is_move o -> asks o args = asks o [::].
Proof. by case: o. Qed.

Definition sym_moved (o : op) (args : seq sval) : sval :=
  [seq if k is Some k then nth [::] (flatten args) k else [::] | k <- moves o].

Lemma sym_movedP o args : is_move o -> meaning o (map bytes_of args) = bytes_of (sym_moved o args).
Proof.
move=> mv; rewrite meaning_move // -bytes_flatten /bytes_of -map_comp; apply: eq_map => -[k|] //.
exact: nth_bytes.
Qed.

Definition sym_apply (o : op) (args : seq sval) : option sval :=
  if (map size args == takes o) && asks o [::] then
    let a := nth [::] args 0 in
    let b := nth [::] args 1 in
    let c := nth [::] args 2 in
    if is_move o then Some (sym_moved o args) else
    match o with
    | xor64 | mm_xor_si128 | mm512_xor_si512 => Some (sym_xor a b)
    | mm_set_epi32 _ _ _ _ | mm_set1_epi32 _ | mm512_set1_epi32 _ => constants o
    | mm_shuffle_epi8 => sym_pshufb a b
    | mm512_shuffle_epi8 => sym_by_lanes 4 sym_pshufb a b
    | mm_aesenc_si128 => sym_aesenc a b
    | mm_aesenclast_si128 => sym_aesenclast a b
    | mm_aeskeygenassist_si128 imm => sym_keygen a imm
    | mm512_aesenc_epi128 => sym_by_lanes 4 sym_aesenc a b
    | mm512_aesenclast_epi128 => sym_by_lanes 4 sym_aesenclast a b
    | mm512_ternarylogic_epi64 imm =>
      if (imm =? 0x96)%num
      then Some (mkseq (fun n => plus (plus (nth [::] a n) (nth [::] b n)) (nth [::] c n)) 64) else None
    | _ => None
    end
  else None.

Lemma ternary_sum a b c : ternary 0x96 a b c = add (add a b) c.
Proof.
apply: byte_ext => i lt; rewrite !bit_of_bits //.
by case: (bit a i); case: (bit b i); case: (bit c i).
Qed.

Lemma sym_applyP o args s : sym_apply o args = Some s ->
  apply o (map bytes_of args) = Some (bytes_of s).
Proof.
rewrite /sym_apply /apply; case: andP => // -[/eqP sizes asked].
have -> : map size (map bytes_of args) = takes o.
  by rewrite -sizes -map_comp; apply: eq_map => v /=; rewrite size_bytes.
have arg k : nth [::] (map bytes_of args) k = bytes_of (nth [::] args k).
  by case: (ltnP k (size args)) => lt; [rewrite (nth_map [::]) | rewrite !nth_default ?size_map].
rewrite eqxx andTb; case mv: (is_move o).
  by move=> /Some_inj <-; rewrite asks_move // asked sym_movedP.
have s0 : size (nth [::] args 0) = nth 0 (takes o) 0.
  by rewrite -sizes; case: (args).
have nullary : args = [::] -> asks o [::] -> constants o = Some s ->
    (if asks o (map bytes_of args) then Some (meaning o (map bytes_of args)) else None) = Some (bytes_of s).
  by move=> -> -> /Some_inj <-; rewrite bytes_of_const.
have empty : map size args = [::] -> args = [::] by case: (args).
move: (arg 0) (arg 1) (arg 2) => arg0 arg1 arg2.
case: o mv sizes asked s0 nullary => // [|e3 e2 e1 e0|e|||||imm|e||imm|||] _ sizes asked s0 nullary.
- by move/Some_inj <-; rewrite /meaning; cbv zeta; rewrite arg0 arg1 sym_xorP.
- by apply: nullary => //; apply: empty.
- by apply: nullary => //; apply: empty.
- by move/Some_inj <-; rewrite /meaning; cbv zeta; rewrite arg0 arg1 sym_xorP.
- by move=> E; rewrite /meaning; cbv zeta; rewrite arg0 arg1 (sym_pshufbP E).
- by move=> E; rewrite /meaning; cbv zeta; rewrite arg0 arg1 (sym_aesencP E).
- by move=> E; rewrite /meaning; cbv zeta; rewrite arg0 arg1 (sym_aesenclastP E).
- by move=> E; rewrite [asks _ _]asked /meaning; cbv zeta; rewrite arg0 (sym_keygenP s0 E).
- by apply: nullary => //; apply: empty.
- by move/Some_inj <-; rewrite /meaning; cbv zeta; rewrite arg0 arg1 sym_xorP.
- case: N.eqb_spec => // ->; move/Some_inj <-; congr Some; rewrite /meaning; cbv zeta.
  apply: (@eq_from_nth _ x00); first by rewrite size_bytes !size_mkseq.
  move=> n; rewrite size_mkseq => lt; rewrite nth_mkseq // arg0 arg1 arg2 !nth_bytes nth_mkseq //.
  by rewrite ternary_sum !sumb_plus.
- by move=> E; rewrite /meaning; cbv zeta; rewrite arg0 arg1 (sym_by_lanesP sym_pshufbP E).
- by move=> E; rewrite /meaning; cbv zeta; rewrite arg0 arg1 (sym_by_lanesP sym_aesencP E).
- by move=> E; rewrite /meaning; cbv zeta; rewrite arg0 arg1 (sym_by_lanesP sym_aesenclastP E).
Qed.

(* ---- Expressions and code ------------------------------------------------------------------------ *)

Definition sym_env : Type := seq (option sval).

Definition known (r : env) (s : sym_env) : Prop :=
  forall k x, nth None s k = Some x -> nth None r k = Some (bytes_of x).

(* Names of expressions other than sums: the caller's words, loads. *)
Definition names : Type := sym_env -> expr -> option sval.
Definition no_names : names := fun _ _ => None.

Section Eval.

Variable named : names.

Fixpoint sym_eval (s : sym_env) (e : expr) : option sval :=
  if named s e is Some x then Some x else
  match e with
  | Var v => nth None s v
  | Word c => Some (map const (VectorCode.word c))
  | Op o args => if all_some (map (sym_eval s) args) is Some xs then sym_apply o xs else None
  | _ => None
  end.

Fixpoint sym_code (code : seq statement) (s : sym_env) : option sym_env :=
  match code with
  | [::] => Some s
  | Assign v e :: code' => if sym_eval s e is Some x then sym_code code' (set_nth None s v (Some x)) else None
  | _ => None
  end.

End Eval.

(* Code with stores, whose values have no names: the stored values, in order, and whether they
   are stored only if copath is not NULL. *)
Fixpoint sym_stores (code : seq statement) (s : sym_env) : option (sym_env * seq (bool * pointer * sval)) :=
  let sent guarded p e code' :=
    if sym_eval no_names s e is Some x then
      if size x == 16 then omap (fun so => (so.1, (guarded, p, x) :: so.2)) (sym_stores code' s) else None
    else None in
  match code with
  | [::] => Some (s, [::])
  | Assign v e :: code' => if sym_eval no_names s e is Some x then sym_stores code' (set_nth None s v (Some x)) else None
  | Store p e :: code' => sent false p e code'
  | StoreUnlessNull (Copath k) e :: code' => sent true (Copath k) e code'
  | _ => None
  end.

Section Run.

Variables (c : call) (h : option nat).

Section Named.

Variables (named : names) (m : memory).
Hypothesis namedP : forall r s e x, known r s -> named s e = Some x -> eval c h r m e = Some (bytes_of x).

Lemma expr_args (P : expr -> Prop) (Q : seq expr -> Prop) :
  (forall v, P (Var v)) -> (forall n, P (Word n)) -> (forall i, P (Start i)) -> (forall i, P (Height i)) ->
  (forall k, P (Counter k)) -> (forall p, P (Loadu p)) -> (forall o args, Q args -> P (Op o args)) ->
  Q [::] -> (forall e args, P e -> Q args -> Q (e :: args)) -> forall e, P e.
Proof.
move=> H1 H2 H3 H4 H5 H6 H7 Q0 Q1; fix IH 1; case; [exact H1 | exact H2 | exact H3 | exact H4 | exact H5 | exact H6 | move=> o args; apply: H7].
by elim: args => [|e args IHargs]; [exact: Q0 | apply: Q1; [exact: IH | exact: IHargs]].
Qed.

Lemma sym_evalP r s : known r s -> forall e x, sym_eval named s e = Some x -> eval c h r m e = Some (bytes_of x).
Proof.
move=> kn; have name e x (E : named s e = Some x) := namedP kn E.
apply: (@expr_args _ (fun args => forall xs, all_some (map (sym_eval named s) args) = Some xs ->
  all_some (map (eval c h r m) args) = Some (map bytes_of xs))).
- move=> v x /=; case E: (named s _) => [y|]; last exact: kn.
  by move/Some_inj <-; rewrite -(name _ _ E).
- move=> n x; rewrite -[sym_eval _ _ _]/(if named s (Word n) is Some y then Some y else
    Some (map const (VectorCode.word n))).
  case E: (named s _) => [y|] /Some_inj <-; first by rewrite -(name _ _ E).
  by rewrite bytes_of_const.
- by move=> i x /=; case E: (named s _) => [y|] // /Some_inj <-; rewrite -(name _ _ E).
- by move=> i x /=; case E: (named s _) => [y|] // /Some_inj <-; rewrite -(name _ _ E).
- by move=> k x /=; case E: (named s _) => [y|] // /Some_inj <-; rewrite -(name _ _ E).
- by move=> p x /=; case E: (named s _) => [y|] // /Some_inj <-; rewrite -(name _ _ E).
- move=> o args IH x; rewrite [sym_eval _ _ _]/=; case E: (named s _) => [y|].
    by move/Some_inj <-; rewrite -(name _ _ E).
  case E': all_some => [xs|] // /sym_applyP.
  by rewrite [eval _ _ _ _ _]/(obind (apply o) (all_some (map (eval c h r m) args))) (IH _ E').
- by move=> xs /Some_inj <-.
move=> e args IHe IHargs xs E; have [x [xs' [Ex Exs ->]]] := all_some_cons E.
by rewrite /= (IHe _ Ex) (IHargs _ Exs).
Qed.

Lemma known_set r s v x : known r s -> known (set_nth None r v (Some (bytes_of x))) (set_nth None s v (Some x)).
Proof. by move=> kn k y; rewrite !nth_set_nth /=; case: eqP => [_ /Some_inj <- | _ /kn]. Qed.

Lemma sym_codeP code r s s' : known r s -> sym_code named code s = Some s' ->
  exists2 r', run_code c h code (r, m) = Some (r', m) & known r' s'.
Proof.
elim: code r s => [|[v e||] code IH] r s kn //=; first by move/Some_inj <-; exists r.
case E: sym_eval => [x|] //; rewrite (sym_evalP kn E) /=.
by apply: IH; apply: known_set.
Qed.

End Named.

Definition sent (x : bool * pointer * sval) : pointer * value := (x.1.2, bytes_of x.2).
Definition write (m : memory) (out : seq (pointer * value)) : memory :=
  foldl (fun m x => if place c h x.1 is Some q then update m q x.2 else m) m out.
Definition reaches (x : bool * pointer * sval) : bool :=
  isSome (place c h x.1.2) || (x.1.1 && ~~ isSome (copath c)).

Lemma no_namesP m r s e x : known r s -> no_names s e = Some x -> eval c h r m e = Some (bytes_of x).
Proof. by []. Qed.

Lemma write_cons m p v out :
  write m ((p, v) :: out) = write (if place c h p is Some q then update m q v else m) out.
Proof. by []. Qed.

Lemma run_store m r p e code x q : eval c h r m e = Some (bytes_of x) -> size x = 16 -> place c h p = Some q ->
  run_code c h (Store p e :: code) (r, m) = run_code c h code (r, update m q (bytes_of x)).
Proof. by move=> E sz P; rewrite /= E P /VectorCode.store size_bytes sz. Qed.

Lemma run_store_unless m r p e code x q : eval c h r m e = Some (bytes_of x) -> size x = 16 ->
  place c h p = Some q -> isSome (copath c) ->
  run_code c h (StoreUnlessNull p e :: code) (r, m) = run_code c h code (r, update m q (bytes_of x)).
Proof. by move=> E sz P; rewrite /= E P /VectorCode.store size_bytes sz; case: (copath c). Qed.

Lemma run_store_null m r p e code : copath c = None ->
  run_code c h (StoreUnlessNull p e :: code) (r, m) = run_code c h code (r, m).
Proof. by move=> E; rewrite /= E. Qed.

Lemma sym_store_inv guarded p e code s so :
  (if sym_eval no_names s e is Some x then
     if size x == 16 then omap (fun so => (so.1, (guarded, p, x) :: so.2)) (sym_stores code s) else None
   else None) = Some so ->
  exists x s1 out1, [/\ sym_eval no_names s e = Some x, size x = 16, sym_stores code s = Some (s1, out1) &
    so = (s1, (guarded, p, x) :: out1)].
Proof.
case: sym_eval => [x|] //; case: eqP => // sz; case: sym_stores => [[s1 out1]|] // /Some_inj <-.
by exists x, s1, out1.
Qed.

Lemma sym_storesP code m r s s' out : known r s -> sym_stores code s = Some (s', out) -> all reaches out ->
  exists2 r', run_code c h code (r, m) = Some (r', write m (map sent out)) & known r' s'.
Proof.
elim: code m r s s' out => [|[v e|p e|p e] code IH] m r s s' out kn.
- by case=> <- <- _; exists r.
- rewrite -[sym_stores _ _]/(if sym_eval no_names s e is Some x then
    sym_stores code (set_nth None s v (Some x)) else None).
  case E: sym_eval => [x|] // E' ok.
  have [r' R K] := IH m _ _ _ _ (@known_set r s v x kn) E' ok; exists r' => //.
  by rewrite -R /= (sym_evalP (@no_namesP m) kn E).
- case/sym_store_inv => x [s1 [out1 [E sz E' [-> ->]]]] /andP[reach ok]; move: reach.
  rewrite /reaches orbF -[(false, p, x).1.2]/p; case Ea: (place c h p) => [q|] // _.
  rewrite (run_store _ (sym_evalP (@no_namesP m) kn E) sz Ea).
  rewrite -[map sent _]/((p, bytes_of x) :: map sent out1) write_cons Ea; exact: (IH _ _ _ _ _ kn E' ok).
- case: p => // k; case/sym_store_inv => x [s1 [out1 [E sz E' [-> ->]]]] /andP[reach ok]; move: reach.
  rewrite /reaches -[(true, Copath k, x).1.2]/(Copath k) -[(true, Copath k, x).1.1]/true.
  rewrite -[map sent _]/((Copath k, bytes_of x) :: map sent out1) write_cons.
  case Ec: (copath c) => [f|]; last first.
    move=> _; rewrite (run_store_null _ _ _ _ _ Ec).
    have -> : place c h (Copath k) = None by rewrite /place Ec.
    exact: (IH _ _ _ _ _ kn E' ok).
  rewrite orbF; case Ea: (place c h (Copath k)) => [q|] // _.
  rewrite (run_store_unless _ (sym_evalP (@no_namesP m) kn E) sz Ea) ?Ec //; exact: (IH _ _ _ _ _ kn E' ok).
Qed.

End Run.

(* ---- Other unknowns --------------------------------------------------------------------------------- *)

Definition same_sval (x y : sval) : bool :=
  (size x == size y) && all (fun n => same (nth [::] x n) (nth [::] y n)) (iota 0 (size x)).

Lemma same_svalP x y : same_sval x y -> bytes_of x = bytes_of y.
Proof.
case/andP=> /eqP sz /allP ok; apply: (@eq_from_nth _ x00); first by rewrite !size_bytes.
move=> n; rewrite size_bytes => lt; rewrite !nth_bytes; apply: samebP; apply: ok.
by rewrite mem_iota.
Qed.

End Bytes.

(* Sums of constants and unknown bytes, with sums substituted for the unknown bytes. *)
Definition subst_atom (next : sval) (a : N) : option form :=
  if (a <? 8)%num then Some [:: a] else if is_plain a then Some (nth [::] next (place_of a)) else None.
Definition subst (next : sval) (p : form) : option form :=
  omap (foldr plus [::]) (all_some (map (subst_atom next) p)).

Lemma substP v next p q : subst next p = Some q ->
  sumb (nth x00 (bytes_of (nth x00 v) next)) p = sumb (nth x00 v) q.
Proof.
rewrite /subst; case E: all_some => [ts|] // /Some_inj <-; elim: p ts E => [|a p IH] ts E.
  by move/Some_inj: E <-.
have [t [ts' [Ea Ep ->]]] := all_some_cons E.
rewrite -[foldr _ _ (t :: ts')]/(plus t (foldr plus [::] ts')) sumb_plus.
apply: (congr2 Fips197.add); last exact: IH.
move: Ea; rewrite /subst_atom /atom; case lt: (a <? 8)%num.
  by move/Some_inj <-; rewrite sumb1 /atom lt.
case: ifP => // /andP[_ /N.eqb_eq ->] /Some_inj <-; exact: nth_bytes.
Qed.

Definition becomes_sval (next x y : sval) : bool :=
  if all_some (map (subst next) x) is Some x' then same_sval x' y else false.
Definition becomes (next : sval) (pattern s : sym_env) : bool :=
  all (fun k => if nth None pattern k is Some x then
    if nth None s k is Some y then becomes_sval next x y else false else true) (iota 0 (size pattern)).

Lemma becomes_svalP v next x y : becomes_sval next x y ->
  bytes_of (nth x00 (bytes_of (nth x00 v) next)) x = bytes_of (nth x00 v) y.
Proof.
rewrite /becomes_sval; case E: all_some => [x'|] // /(same_svalP (nth x00 v)) <-.
elim: x x' E => [|p x IH] x' E; first by move/Some_inj: E <-.
have [q [t [Eq Et ->]]] := all_some_cons E.
by apply: (congr2 cons); [exact: substP | exact: IH].
Qed.

Lemma becomesP v next pattern s r : becomes next pattern s -> known (nth x00 v) r s ->
  known (nth x00 (bytes_of (nth x00 v) next)) r pattern.
Proof.
move/allP=> ok kn k x E.
have lt : k < size pattern by case: (ltnP k (size pattern)) => // ge; rewrite nth_default in E.
have := ok k; rewrite mem_iota => /(_ lt); rewrite E; case Es: nth => [y|] // /(becomes_svalP v) ->.
exact: kn.
Qed.

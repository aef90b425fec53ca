(* SPDX-License-Identifier: Apache-2.0 *)
(* The key file is canonical: decoding undoes encoding, and what decodes is an encoding. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith Lia.
From Coq Require ZifyBool Strings.Byte.
From Pprf.spec Require Import Ggm CModel Codec.
From Pprf.proofs Require Import Compat Correctness Sizes Layout.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.
#[local] Arguments N.mul : simpl never.
#[local] Arguments N.add : simpl never.
#[local] Arguments put_record : simpl never.
#[local] Arguments put_le : simpl never.
#[local] Arguments pow2 : simpl never.
#[local] Arguments node_id : simpl never.
#[local] Arguments node_of_id : simpl never.
#[local] Arguments id_bytes : simpl never.
#[local] Arguments get_le : simpl never.

(* ---- Bytes and little-endian integers ----------------------------------------------- *)

Lemma same_bytesP bs cs : reflect (bs = cs) (same_bytes bs cs).
Proof.
rewrite /same_bytes; elim: bs cs => [|b bs IH] [|c cs] /=; try by constructor.
case E: (Byte.eqb b c) => /=.
  by have -> := Byte.byte_dec_bl _ _ E; apply: (iffP (IH cs)) => [->|[]].
by constructor=> -[bc _]; have := Byte.byte_dec_lb bc; rewrite E.
Qed.

Lemma to_N_byte_of v : Byte.to_N (byte_of v) = v mod 256.
Proof.
rewrite /byte_of; case E: (Byte.of_N _) => [b|] /=; first exact: Byte.to_of_N.
by move/Byte.of_N_None_iff: E; have := N.mod_lt v 256; lia.
Qed.

Lemma byte_of_to_N b : byte_of (Byte.to_N b) = b.
Proof.
rewrite /byte_of N.mod_small ?Byte.of_to_N //.
by have := Byte.to_N_bounded b; lia.
Qed.

Lemma size_put_le w v : size (put_le w v) = w.
Proof. by elim: w v => // w IH v; rewrite -{2}(IH (v / 256)). Qed.

Lemma get_leS b bs : get_le (b :: bs) = Byte.to_N b + 256 * get_le bs.
Proof. by []. Qed.

Lemma put_leS w v : put_le w.+1 v = byte_of v :: put_le w (v / 256).
Proof. by []. Qed.

Lemma get_put_le w v : v < pow2 (8 * w)%nat -> get_le (put_le w v) = v.
Proof.
elim: w v => [|w IH] v; first by rewrite muln0; change (v < 1 -> 0 = v); lia.
rewrite mulnS pow2D => vw; rewrite put_leS get_leS to_N_byte_of IH.
  by have := N.div_mod' v 256; lia.
by apply: N.div_lt_upper_bound; [|change (pow2 8) with 256 in vw].
Qed.

Lemma put_get_le bs : put_le (size bs) (get_le bs) = bs.
Proof.
elim: bs => // b bs IH; have lt := Byte.to_N_bounded b.
rewrite get_leS put_leS; congr (_ :: _).
  rewrite /byte_of N.mul_comm N.mod_add // -/(byte_of _); exact: byte_of_to_N.
rewrite -[RHS]IH; congr put_le.
by rewrite N.mul_comm N.div_add // N.div_small //; lia.
Qed.

(* ---- In-order ids ------------------------------------------------------------------- *)

Lemma even_shift h u : N.even (pow2 h.+1 * u) = true.
Proof. by rewrite pow2S -N.mul_assoc N.even_mul. Qed.

Lemma id_heightS f id :
  id_height f.+1 id = if N.even id then (id_height f (N.div2 id)).+1 else 0%nat.
Proof. by []. Qed.

Lemma id_heightE fuel h q : (h <= fuel)%nat -> id_height fuel (pow2 h * (2 * q + 1)) = h.
Proof.
elim: fuel h => [|f IH] [|h] // hf.
  by rewrite (_ : pow2 0 = 1) // N.mul_1_l id_heightS N.even_add N.even_mul.
by rewrite id_heightS even_shift pow2S -N.mul_assoc N.div2_double IH.
Qed.

Lemma odd_part fuel id : 0 < id -> id < pow2 fuel.+1 ->
  exists h q, (h <= fuel)%nat /\ id = pow2 h * (2 * q + 1).
Proof.
elim: fuel id => [|f IH] id id0 idf.
  by exists 0%nat, 0; split=> //; move: idf; change (pow2 0) with 1; change (pow2 1) with 2; lia.
have := N.div2_odd id; case o: (N.odd id) => idE.
  by exists 0%nat, (N.div2 id); split=> //; change (pow2 0) with 1; move: idE; rewrite /N.b2n; lia.
rewrite [N.b2n _]/= N.add_0_r in idE.
have [||h [q [hf E]]] := IH (N.div2 id); try by move: idf; rewrite pow2S; lia.
by exists h.+1, q; split=> //; rewrite pow2S idE {1}E; lia.
Qed.

Lemma node_id_shift q h : node_id (q * pow2 h) h = pow2 h * (2 * q + 1).
Proof. by rewrite /node_id; lia. Qed.

Lemma node_of_idE d s h : in_tree d s h -> node_of_id d (node_id s h) = Some (s, h).
Proof.
case/and3P=> hd /alignedP [q ->] sd; rewrite /node_of_id node_id_shift.
have p := pow2_gt0 h; rewrite id_heightE //.
have -> : (pow2 h * (2 * q + 1) =? 0) = false by nia.
have -> : (pow2 d.+1 <=? pow2 h * (2 * q + 1)) = false.
  by rewrite pow2S; unfold is_true in sd; lia.
congr (Some (_, _)); rewrite /id_start.
have -> : pow2 h * (2 * q + 1) - pow2 h = 2 * (q * pow2 h) by lia.
exact: N.div2_double.
Qed.

Lemma node_of_id_sound d id s h :
  node_of_id d id = Some (s, h) -> in_tree d s h /\ node_id s h = id.
Proof.
rewrite /node_of_id; case: N.eqb_spec => // id0; rewrite orFb; case: N.leb_spec => // idd.
have [|h' [q [hd E]]] := odd_part _ idd; first by lia.
rewrite {id id0}E in idd *; rewrite id_heightE //; have p := pow2_gt0 h'.
have sE : id_start (pow2 h' * (2 * q + 1)) h' = q * pow2 h'.
  rewrite /id_start; have -> : pow2 h' * (2 * q + 1) - pow2 h' = 2 * (q * pow2 h') by lia.
  exact: N.div2_double.
case; rewrite sE => <- <-; split; last by rewrite node_id_shift.
apply/and3P; split=> //; first by apply/alignedP; exists q.
move: idd; rewrite -(subnKC hd) pow2S pow2D; set u := pow2 (d - h') => idd.
suff : q + 1 <= u by unfold is_true; nia.
by nia.
Qed.

Lemma node_id_lt d s h : in_tree d s h -> node_id s h < pow2 (8 * id_bytes d)%nat.
Proof.
case/and3P=> hd _ sd; apply: (@N.lt_le_trans _ (pow2 d.+1)).
  by have := pow2_gt0 h; rewrite /node_id pow2S; unfold is_true in sd; lia.
by apply: pow2_mono; rewrite /id_bytes mulnC ltn_ceil.
Qed.

(* ---- Records ------------------------------------------------------------------------ *)

Lemma size_record d (n : node seed_block) : size (put_record d n) = record_bytes d.
Proof. by rewrite size_cat size_put_le size_tuple. Qed.

Lemma records_cons d n (a : seq (node seed_block)) :
  flatten (map (put_record d) (n :: a)) =
  put_le (id_bytes d) (node_id (start n) (height n)) ++ seed n ++ flatten (map (put_record d) a).
Proof. by rewrite [in LHS]/= -/(put_record d n) catA. Qed.

Lemma size_records d (a : seq (node seed_block)) :
  size (flatten (map (put_record d) a)) = (size a * record_bytes d)%nat.
Proof.
by elim: a => // n a IH; rewrite records_cons !size_cat size_put_le size_tuple IH addnA.
Qed.

Definition may_follow (prev : option (node seed_block)) (n : node seed_block) : bool :=
  if prev is Some p then follows p n else true.

Definition follow_on (prev : option (node seed_block)) (a : seq (node seed_block)) : bool :=
  if prev is Some p then path follows p a else sorted follows a.

Lemma follow_on_cons prev n a : follow_on prev (n :: a) = may_follow prev n && follow_on (Some n) a.
Proof. by case: prev. Qed.

Lemma get_nodesS d n prev bs : get_nodes d n.+1 prev bs =
  match node_of_id d (get_le (take (id_bytes d) bs)),
        insub (take 16 (drop (id_bytes d) bs)) with
  | Some (s, h), Some k =>
    if may_follow prev (Node s h k)
    then omap (cons (Node s h k)) (get_nodes d n (Some (Node s h k)) (drop (record_bytes d) bs))
    else None
  | _, _ => None
  end.
Proof. by []. Qed.

Lemma get_nodesE d prev a (bs : seq byte) :
  all (fun n => in_tree d (start n) (height n)) a -> follow_on prev a ->
  get_nodes d (size a) prev (flatten (map (put_record d) a) ++ bs) = Some a.
Proof.
elim: a prev => [|[s h k] a IH] prev // /andP [it ia]; rewrite follow_on_cons => /andP [pn fa].
rewrite records_cons -!catA [size _]/= get_nodesS.
rewrite take_size_cat ?size_put_le // drop_size_cat ?size_put_le //.
rewrite take_size_cat ?size_tuple // get_put_le; last exact: node_id_lt.
rewrite node_of_idE //.
rewrite (valK k).
rewrite pn catA drop_size_cat ?size_cat ?size_put_le ?size_tuple //.
by rewrite IH.
Qed.

Lemma get_nodes_sound d n prev (bs : seq byte) a :
  get_nodes d n prev bs = Some a -> size bs = (n * record_bytes d)%nat ->
  [/\ size a = n, all (fun m => in_tree d (start m) (height m)) a, follow_on prev a &
      flatten (map (put_record d) a) = bs].
Proof.
elim: n prev bs a => [|n IH] prev bs a.
  by rewrite mul0n => -[<-] /size0nil ->; case: prev.
rewrite get_nodesS.
case E: (node_of_id _ _) => [[s h]|] //; have [it idE] := node_of_id_sound E.
case: insubP => // k sk kE; case: ifP => // pm.
case F: (get_nodes _ _ _ _) => [a'|] //= [<-] sbs.
have [|sa ia fa aE] := IH _ _ _ F; first by rewrite size_drop sbs mulSn addKn.
split; [by rewrite /= sa | by rewrite /= it | by rewrite follow_on_cons pm |].
rewrite records_cons aE idE kE.
have w : size (take (id_bytes d) bs) = id_bytes d.
  by rewrite size_takel // sbs mulSn /record_bytes -!addnA leq_addr.
by rewrite -{1}w put_get_le /record_bytes addnC -drop_drop !cat_take_drop.
Qed.

(* ---- The whole file ----------------------------------------------------------------- *)

Section Codec.

Variable digest : seq byte -> 32.-tuple byte.
Variable prg : N -> nat -> seed_block -> seed_block * seed_block.
Local Notation encode_key := (encode_key digest).
Local Notation decode_key := (decode_key digest).

Local Notation canonical_key := (canonical_key prg).

Lemma of_nat_pow2 n : N.of_nat (2 ^ n)%nat = pow2 n.
Proof.
elim: n => // n IH; rewrite expnS pow2S -IH mul2n -addnn.
by rewrite -plusE Nnat.Nat2N.inj_add; lia.
Qed.

Lemma size_header d : size (header d) = 12%nat. Proof. by []. Qed.

Lemma to_nat_depth d : (d <= 32)%nat -> N.to_nat (Byte.to_N (byte_of (N.of_nat d))) = d.
Proof.
move=> d32; rewrite to_N_byte_of N.mod_small ?Nnat.Nat2N.id //.
by move/leP: d32; lia.
Qed.

Lemma size_encode_body k :
  size (encode_body k) = (16 + size (nodes k) * record_bytes (depth k))%nat.
Proof. by rewrite !size_cat size_header size_put_le size_records addnA. Qed.

Theorem size_encode_key k :
  size (encode_key k) = (48 + size (nodes k) * (depth k %/ 8 + 17))%nat.
Proof.
rewrite size_cat size_tuple size_encode_body /record_bytes /id_bytes (addSnnS (_ %/ _)).
by rewrite addnAC.
Qed.

Lemma decode_encode_wf k : (0 < depth k <= 32)%nat -> well_formed (depth k) (nodes k) ->
  N.of_nat (size (nodes k)) <= pow2 (depth k).-1 -> decode_key (encode_key k) = Some k.
Proof.
case: k => d a /= d32 /andP [ia fa] na; have /andP [d0 d32'] := d32.
have n32 : N.of_nat (size a) < pow2 (8 * 4)%nat.
  apply: N.le_lt_trans na _; apply: (@N.lt_le_trans _ (pow2 (d.-1).+1)).
    by have := pow2_gt0 d.-1; rewrite pow2S; lia.
  by apply: pow2_mono; rewrite prednK // (leq_trans d32').
rewrite /decode_key; set bs := encode_key _.
have sb : size (encode_body (KeyFile d a)) = (16 + size a * record_bytes d)%nat.
  exact: size_encode_body.
have -> : nth Byte.x00 bs 9 = byte_of (N.of_nat d) by [].
have -> : take 12 bs = header d by rewrite /bs /Codec.encode_key /encode_body -!catA take_size_cat.
have -> : take 4 (drop 12 bs) = put_le 4 (N.of_nat (size a)).
  by rewrite /bs /Codec.encode_key /encode_body -!catA drop_size_cat // take_size_cat ?size_put_le.
rewrite to_nat_depth // get_put_le // Nnat.Nat2N.id.
have -> : take (16 + size a * record_bytes d) bs = encode_body (KeyFile d a).
  by rewrite /bs take_size_cat.
have -> : drop (16 + size a * record_bytes d) bs = digest (encode_body (KeyFile d a)).
  by rewrite /bs drop_size_cat.
have -> : (size bs == 16 + size a * record_bytes d + 32)%nat.
  by rewrite /bs size_cat size_tuple sb.
have -> : (48 <= size bs)%nat by rewrite /bs size_cat size_tuple sb addnC addnA leq_addr.
have -> : same_bytes (header d) (header d) by apply/same_bytesP.
have -> : same_bytes (digest (encode_body (KeyFile d a))) (digest (encode_body (KeyFile d a))).
  by apply/same_bytesP.
have -> : N.of_nat (size a) <=? pow2 d.-1 by unfold is_true; lia.
rewrite d32 /= drop0.
by have := @get_nodesE d None a [::] ia fa; rewrite cats0 => ->.
Qed.

Lemma positions_well_formed (S T : Type) d (a : seq (node S)) (c : seq (node T)) :
  positions a = positions c -> well_formed d a = well_formed d c.
Proof.
move=> E; rewrite /well_formed; congr (_ && _).
  elim: a c E => [|n a IH] [|m c] //= [-> -> E]; by rewrite (IH _ E).
case: a c E => [|n a] [|m c] //= [sn hn E].
elim: a n m c sn hn E => [|n' a IH] n m [|m' c] sn hn //= [sn' hn' E].
by rewrite (IH n' m' c) // /follows /siblings /last_end sn hn sn' hn'.
Qed.

(* A canonical key's encoding decodes to the key. *)
Theorem decode_encode k : canonical_key k -> decode_key (encode_key k) = Some k.
Proof.
case=> d32 [P [s E]]; apply: decode_encode_wf => //.
  by rewrite (positions_well_formed _ E) cover_well_formed.
have -> : size (nodes k) = size (positions (nodes k)) by rewrite size_map.
rewrite E !size_map -of_nat_pow2; case/andP: d32 => d0 _.
have /leP := @size_cover_half _ (family prg (depth k)) (depth k) P [::] s d0; lia.
Qed.

(* What decodes is the encoding of what it decodes to, and that is a canonical key. *)
Theorem decode_canonical bs k : decode_key bs = Some k -> encode_key k = bs /\ canonical_key k.
Proof.
rewrite /decode_key; set d := N.to_nat _; set n := get_le _; set len := (16 + _)%nat.
case: ifP => // /and5P [s48 d32 /same_bytesP hE nd /andP [/eqP sbs /same_bytesP dE]].
case E: (get_nodes _ _ _ _) => [a|] //= [<-].
have sbody : size (take len bs) = len by rewrite size_takel // sbs leq_addr.
have [|sa ia fa aE] := get_nodes_sound E; first by rewrite size_drop sbody /len addKn.
have bodyE : encode_body (KeyFile d a) = take len bs.
  rewrite /encode_body [depth _]/= [nodes _]/= aE sa Nnat.N2Nat.id -hE.
  have s4 : size (take 4 (drop 12 bs)) = 4%nat.
    by rewrite size_takel // size_drop leq_subRL // (leq_trans _ s48).
  have -> : put_le 4 n = take 4 (drop 12 bs) by rewrite -[X in put_le X _]s4 put_get_le.
  rewrite -[RHS](cat_take_drop 16) catA; congr (_ ++ _).
  by rewrite take_of_take ?leq_addr // (takeD 12 4).
split; first by rewrite /Codec.encode_key bodyE -dE cat_take_drop.
split=> //=; exists (fun y => ~~ covered a (leaf_num y)).
have [k0] : exists k0 : seed_block, True by exists [tuple of nseq 16 Byte.x00].
by exists k0; apply: canonical_of_invariants; rewrite /well_formed ia.
Qed.

(* In particular the key after any punctures. *)
Corollary decode_encode_cover d (P : pred bitseq) s : (0 < d <= 32)%nat ->
  let k := KeyFile d (map (encode d) (cover (family prg d) d P [::] s)) in
  decode_key (encode_key k) = Some k.
Proof. by move=> d32; apply: decode_encode; split=> //; exists P, s. Qed.

(* Two files that decode to the same key are equal. *)
Corollary decode_inj bs cs k : decode_key bs = Some k -> decode_key cs = Some k -> bs = cs.
Proof. by move=> /decode_canonical [<- _] /decode_canonical []. Qed.

End Codec.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The bytes that ref's contracts call the file of an array are those that the model's encoder
   writes. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Coq Require Strings.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import CModel Codec.
From Pprf.proofs Require Import Layout CodecProofs.
From Pprf.spec Require Import AcslMemory AcslRef AcslCodec.
From Pprf.proofs Require Import ContractsSound AcslAgree.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.quot : simpl never.
#[local] Arguments Z.rem : simpl never.
#[local] Arguments Z.of_nat : simpl never.
#[local] Arguments CModel.pow2 : simpl never.
#[local] Arguments N.modulo : simpl never.
#[local] Arguments N.div : simpl never.

Section Codec.

Variable V : logic.
Hypothesis D : definitions V.
Variable sha3 : seq Codec.byte -> 32.-tuple Codec.byte.
Hypothesis sha3_is : digest_is V sha3.

Lemma shift_shift p i j : shift 1 (shift 1 p i) j = shift 1 p (i + j).
Proof. by rewrite /shift /=; congr pair; lia. Qed.

Lemma shift0 p : shift 1 p 0 = p.
Proof. by case: p => b c; rewrite /shift /=; congr pair; lia. Qed.

Lemma holds_cons L p b bs : holds_bytes L p (b :: bs) <->
  cell L p = Z.of_N (Byte.to_N b) /\ holds_bytes L (shift 1 p 1) bs.
Proof.
split=> [H|[H0 H]].
  split; first by rewrite -(H 0%nat b erefl) shift0.
  by move=> k c e; rewrite shift_shift -(H k.+1 c e) (_ : Z.of_nat k.+1 = 1 + Z.of_nat k) //; lia.
case=> [|k] c; first by case=> <-; rewrite shift0.
by move=> /H; rewrite shift_shift => <-; rewrite (_ : Z.of_nat k.+1 = 1 + Z.of_nat k) //; lia.
Qed.

Lemma holds_cat L p bs cs : holds_bytes L p (bs ++ cs) <->
  holds_bytes L p bs /\ holds_bytes L (shift 1 p (Z.of_nat (size bs))) cs.
Proof.
elim: bs p => [|b bs IH] p.
  by rewrite shift0; split=> [|[]] //; split=> // -[|k] ?.
rewrite cat_cons !holds_cons IH shift_shift [size (b :: bs)]/=.
by rewrite (_ : 1 + _ = Z.of_nat (size bs).+1); [tauto | lia].
Qed.

(* The bytes of an integer. *)
Lemma byte_agree w v k : (k < w)%nat ->
  exists2 b, List.nth_error (put_le w v) k = Some b &
    AcslRef.byte V (Z.of_N v) (Z.of_nat k) = Z.of_N (Byte.to_N b).
Proof.
elim: w v k => [|w IH] v [|k] // kw.
  exists (byte_of v) => //; rewrite (byte_def V D) to_N_byte_of /=.
  by rewrite Z.rem_mod_nonneg ?N2Z.inj_mod; lia.
have [b e E] := IH (v / 256)%num k kw; exists b => //.
have -> : Z.of_nat k.+1 = Z.of_nat k + 1 by lia.
rewrite (byte_step D) -?E; last lia.
by congr (AcslRef.byte V _ _); rewrite Z.quot_div_nonneg; lia.
Qed.

Lemma bytes_agree L p at_ w v :
  bytes V L p at_ (Z.of_nat w) (Z.of_N v) <-> holds_bytes L (shift 1 p at_) (put_le w v).
Proof.
split=> [B k b e|H k kB].
  have kw : (k < w)%nat.
    have : (k < length (put_le w v))%coq_nat by apply/List.nth_error_Some; rewrite e.
    by rewrite (_ : length _ = size (put_le w v)) // size_put_le => /ltP.
  have [c e' E] := byte_agree v kw; rewrite e' in e; case: e => <-.
  by rewrite -E shift_shift; apply: B; move/ltP: kw; lia.
have kE : k = Z.of_nat (Z.to_nat k) by lia.
have kw : (Z.to_nat k < w)%nat by apply/ltP; lia.
have [c e E] := byte_agree v kw; rewrite kE E -(H _ _ e) shift_shift.
by rewrite -kE.
Qed.

Lemma header_agree L p d : (d <= 32)%nat ->
  AcslRef.header V L p (Z.of_nat d) <-> holds_bytes L p (Codec.header d).
Proof.
move=> /leP d32; have dE : Z.of_N (Byte.to_N (byte_of (N.of_nat d))) = Z.of_nat d.
  by rewrite to_N_byte_of N.mod_small; lia.
rewrite /AcslRef.header /Codec.header !holds_cons dE !shift_shift shift0.
have -> : holds_bytes L (shift 1 p (1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1)) [::] <-> True.
  by split=> // _ [|k].
by rewrite /=; tauto.
Qed.

Lemma id_bytes_agree d : AcslRef.id_bytes V (Z.of_nat d) = Z.of_nat (Codec.id_bytes d).
Proof.
rewrite /AcslRef.id_bytes /Codec.id_bytes Z.quot_div_nonneg; try lia.
have E := divn_eq d 8; have lt : (d %% 8 < 8)%nat by apply: ltn_pmod.
suff -> : Z.of_nat d / 8 = Z.of_nat (d %/ 8) by lia.
symmetry; apply: (Z.div_unique _ _ _ (Z.of_nat (d %% 8))); move/ltP: lt; first by lia.
by move=> _; rewrite {1}E; rewrite -plusE -multE; lia.
Qed.

Lemma node_id_agree s h :
  AcslRef.node_id V (Z.of_N s) (Z.of_nat h) = Z.of_N (CModel.node_id s h).
Proof. by rewrite /AcslRef.node_id /CModel.node_id (pow2_agree D); lia. Qed.

Lemma record_agree L p at_ d x (m : node seed_block) :
  file_node_is (ref_node_at L x) m ->
  AcslRef.record V L p at_ (Z.of_nat d) x <-> holds_bytes L (shift 1 p at_) (put_record d m).
Proof.
case=> sE hE [lo [hi [loE hiE mE]]].
rewrite /AcslRef.record /has_id sE hE loE hiE id_bytes_agree node_id_agree.
rewrite -[8]/(Z.of_nat 8) !bytes_agree /put_record mE !holds_cat !shift_shift !size_put_le.
by rewrite -Z.add_assoc; tauto.
Qed.

Lemma records_agree L p off a d (K : seq (node seed_block)) : holds_nodes L a K ->
  (forall i, 0 <= i < Z.of_nat (size K) ->
     AcslRef.record V L p (off + i * Z.of_nat (record_bytes d)) (Z.of_nat d) (shift 4 a i)) <->
  holds_bytes L (shift 1 p off) (flatten (map (put_record d) K)).
Proof.
elim: K a off => [|m K IH] a off H; first by split=> [_ [|k]|_ i] //=; lia.
have H0 := H 0%nat m erefl; rewrite /ref_node_cells in H0.
have aE i : shift 4 (shift 4 a 1) i = shift 4 a (i + 1).
  by rewrite /shift /=; congr pair; lia.
have H1 : holds_nodes L (shift 4 a 1) K.
  by move=> k c e; rewrite /ref_node_cells aE; have := H k.+1 c e;
    rewrite /ref_node_cells (_ : Z.of_nat k.+1 = Z.of_nat k + 1) //; lia.
rewrite (_ : flatten _ = put_record d m ++ flatten (map (put_record d) K)) //.
rewrite holds_cat shift_shift size_record -(IH _ _ H1) -(record_agree _ _ _ H0).
split=> [R|[R0 R] i iB].
  split; first by have := R 0; rewrite Z.mul_0_l Z.add_0_r; apply; rewrite /=; lia.
  move=> i iB; rewrite aE; have := R (i + 1) ltac:(rewrite /=; lia).
  by rewrite (_ : off + (i + 1) * _ = off + Z.of_nat (record_bytes d) +
    i * Z.of_nat (record_bytes d)) //; lia.
have [-> |i0] : i = 0 \/ 0 < i by lia.
  by rewrite Z.mul_0_l Z.add_0_r.
have := R (i - 1) ltac:(rewrite /= in iB; lia); rewrite aE (_ : i - 1 + 1 = i); last by lia.
by rewrite (_ : off + i * _ = off + Z.of_nat (record_bytes d) +
    (i - 1) * Z.of_nat (record_bytes d)) //; lia.
Qed.

Lemma record_at_agree d i : record_at V (Z.of_nat d) i = 16 + i * Z.of_nat (record_bytes d).
Proof.
have := id_bytes_agree d; rewrite /AcslRef.id_bytes /record_at /record_bytes -plusE; lia.
Qed.

(* The file of an array, in the words of the contracts and of the model. *)
Theorem acsl_encodes L p a d (K : seq (node seed_block)) : (d <= 32)%nat -> holds_nodes L a K ->
  encodes V L p a (Z.of_nat (size K)) (Z.of_nat d) <->
  holds_bytes L p (encode_key sha3 (KeyFile d K)).
Proof.
move=> d32 H; rewrite /encode_key holds_cat size_encode_body /=.
have body : starts V L p (Z.of_nat d) (Z.of_nat (size K)) /\
    records V L p a (Z.of_nat (size K)) (Z.of_nat d) <->
    holds_bytes L p (encode_body (KeyFile d K)).
  rewrite (_ : encode_body _ = Codec.header d ++ put_le 4 (N.of_nat (size K)) ++
    flatten (map (put_record d) K)) //.
  rewrite !holds_cat shift_shift size_header size_put_le.
  rewrite -(header_agree L p d32) /starts.
  rewrite -[4]/(Z.of_nat 4) (_ : Z.of_nat (size K) = Z.of_N (N.of_nat (size K))); last by lia.
  rewrite bytes_agree (_ : Z.of_N (N.of_nat (size K)) = Z.of_nat (size K)); last by lia.
  rewrite (_ : Z.of_nat 12 + Z.of_nat 4 = 16) // -(records_agree _ _ _ H) /records.
  split=> [[[h c] R]|[h [c R]]].
    by split=> //; split=> // i iB; rewrite -record_at_agree; apply: R.
  by split=> // i iB; rewrite record_at_agree; apply: R.
have len : record_at V (Z.of_nat d) (Z.of_nat (size K)) =
    Z.of_nat (16 + size K * record_bytes d)%nat.
  by rewrite record_at_agree -plusE -multE; lia.
rewrite /encodes len; split.
  case=> st [re se]; have hb := proj1 body (conj st re); split=> // k b e.
  have k32 : (k < 32)%nat.
    have : (k < length (sha3 (encode_body (KeyFile d K))))%coq_nat.
      by apply/List.nth_error_Some; rewrite e.
    by rewrite (_ : length _ = size (sha3 (encode_body (KeyFile d K)))) // size_tuple => /ltP.
  have := se (Z.of_nat k) ltac:(move/ltP: k32; lia).
  by rewrite shift_shift => ->; rewrite -(sha3_is hb e) size_encode_body.
case=> hb hd; have [st re] := proj2 body hb; split=> //; split=> // k kB.
have kE : k = Z.of_nat (Z.to_nat k) by lia.
have [b e] : exists b, List.nth_error (sha3 (encode_body (KeyFile d K))) (Z.to_nat k) = Some b.
  case e: (List.nth_error _ _) => [b|]; first by exists b.
  move/List.nth_error_None: e.
  by rewrite (_ : length _ = size (sha3 (encode_body (KeyFile d K)))) // size_tuple; lia.
have := hd _ _ e; rewrite shift_shift -kE => ->.
by rewrite -(sha3_is hb e) size_encode_body -kE.
Qed.

Lemma nth_error_all T (P : pred T) s k m : all P s -> List.nth_error s k = Some m -> P m.
Proof.
by elim: s k => [|x s IH] [|k] //= /andP [px ps]; [case=> <- | exact: IH].
Qed.

(* ref_encode: the model's file. *)
Theorem ref_encode_sound Pre Post buf a d (K : seq (node seed_block)) result :
  (0 < d <= 32)%nat -> all (fun m => in_tree d (start m) (height m)) K ->
  Z.of_nat (size K) <= CODEC_NODES_MAX -> c_uint8_t (cell Pre buf) ->
  let file := encode_key sha3 (KeyFile d K) in
  let room := span 1 buf 0 (Z.of_nat (size file) - 1) in
  let nodes := span ref_node_cells a 0 (Z.of_nat (size K) - 1) in
  writable Pre room -> readable Pre nodes -> separated [:: room; nodes] -> holds_nodes Pre a K ->
  ref_encode_contract V Pre Post buf a (Z.of_nat (size K)) (Z.of_nat d) result ->
  List.In result [:: PPRF_OK; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_OK -> holds_bytes Post buf file) /\
  (result <> PPRF_OK -> forall q, room q -> cell Post q = 0) /\
  unchanged Pre Post [:: room].
Proof.
case/andP => /ltP d0 d32 it nmax c8 file room nodes wr rd sep H C.
have len : record_at V (Z.of_nat d) (Z.of_nat (size K)) + DIGEST_BYTES = Z.of_nat (size file).
  have := id_bytes_agree d; rewrite /AcslRef.id_bytes /file size_encode_key /Codec.id_bytes /=.
  by rewrite /record_at /DIGEST_BYTES -plusE -multE; lia.
have nthE k m : List.nth_error K k = Some m -> (k < size K)%nat.
  move=> e; have : (k < length K)%coq_nat by apply/List.nth_error_Some; rewrite e.
  by rewrite (_ : length K = size K) // => /ltP.
case: C => [||U [_ [_ E]]].
- by rewrite /ref_encode_typed /c_size_t /c_unsigned; rewrite /CODEC_NODES_MAX in nmax;
    move/leP: d32; split; [lia | split; [lia | done]].
- split=> //; rewrite ?len //; first by rewrite /CODEC_DEPTH_MAX; move/leP: d32; lia.
  move=> k kB; have kE : k = Z.of_nat (Z.to_nat k) by lia.
  case e: (List.nth_error K (Z.to_nat k)) => [m|]; last first.
    by move/List.nth_error_None: e; rewrite (_ : length K = size K) //; lia.
  have [sE hE _] := H _ _ e; rewrite -kE /ref_node_cells in sE hE.
  have itm : in_tree d (start m) (height m).
    exact: nth_error_all it e.
  rewrite /node_shape sE hE !(pow2_agree D); case/and3P: (itm) => /leP hd _ /N.leb_spec0 le.
  split; first lia; split; first lia.
  by apply/(tree_node_agree D)/tree_nodeP.
rewrite len in U.
have H' : holds_nodes Post a K.
  move=> k m e; have kn := nthE k m e.
  rewrite (@node_unchanged Pre Post a (Z.of_nat (size K))); first exact: H.
    move=> q iq; apply: U => r [<-|//] rq; case: sep => S _.
    exact: (S _ (or_introl erefl) q rq iq).
  by move/ltP: kn; lia.
have Er := ref_encode_ensures_results _ _ _ _ _ _ _ _ E.
have Ee := ref_encode_ensures_encoded _ _ _ _ _ _ _ _ E.
have Ez := ref_encode_ensures_error _ _ _ _ _ _ _ _ E.
split; first by case: Er => [->|[[->|->] _]] /=; tauto.
split; first by move=> /Ee; rewrite (acsl_encodes buf d32 H').
split=> // rK q /(@span_cell 1 buf 0 (Z.of_nat (size file))) [//|k [j [kB [jB ->]]]].
have -> : j = 0 by lia.
by rewrite shift_shift Z.add_0_r; apply: Ez => //; rewrite len.
Qed.

End Codec.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The walks of opt from a node down to a leaf in AVX-512 vectors: they return the leaf's seed in
   the model's tree and store, if requested, the seeds beside the path. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require LaneCode KeccakCode Fips202 Ggm.
From Pprf.spec Require Import Codec Fips197 VectorCode KeccakVectorCode.
From Pprf.proofs Require KeccakSound.
From Pprf.proofs Require Import AesRounds AesVectorSound VectorWords KeccakVectorSound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Variables that code leaves alone ---------------------------------------------------------------- *)

Fixpoint assigned (code : seq statement) : seq nat :=
  match code with
  | [::] => [::]
  | Assign v _ :: code' => v :: assigned code'
  | _ :: code' => assigned code'
  end.

Lemma run_code_other c h code v r m r' m' : v \notin assigned code ->
  run_code c h code (r, m) = Some (r', m') -> nth None r' v = nth None r v.
Proof.
elim: code r m => [|s code IH] r m; first by move=> _ [<- _].
case: s => [k e|p e|p e] /=.
- rewrite inE negb_or => /andP[/negbTE ne other]; case: eval => [x|] //= /(IH _ _ other) ->.
  by rewrite nth_set_nth /= ne.
- move=> other; case: place => [q|] //; case: eval => [x|] //=; case: store => [m1|] //=; exact: IH.
move=> other; case: (copath c) => [g|] /=; last exact: IH.
case: place => [q|] //; case: eval => [x|] //=; case: store => [m1|] //=; exact: IH.
Qed.

(* ---- Two words, of which a mask chooses one ------------------------------------------------------------ *)

Definition mask (b : bool) : byte := if b then xff else x00.

Lemma ternary_choose b x y : ternary 0xca (mask b) x y = if b then x else y.
Proof.
rewrite /ternary -[RHS]of_bits_bit; apply: of_bits_ext => i lt.
have -> : bit (mask b) i = b by case: b; do 8 (case: i lt => [|i] lt //).
by case: b; case: (bit x i); case: (bit y i).
Qed.

Lemma choose_word b side x y : size side = 16 -> size x = 16 -> size y = 16 -> element side 0 = nseq 8 (mask b) ->
  exists v, [/\ apply (mm_ternarylogic_epi64 0xca) [:: side; x; y] = Some v, size v = 16 &
    element v 0 = if b then element x 0 else element y 0].
Proof.
move=> ss sx sy E; exists (meaning (mm_ternarylogic_epi64 0xca) [:: side; x; y]).
have sv : size (meaning (mm_ternarylogic_epi64 0xca) [:: side; x; y]) = 16 by rewrite /meaning size_mkseq.
split=> //; first by rewrite /apply /= ss sx sy.
apply: (@eq_from_nth _ x00); first by rewrite size_element ?sv //; case: (b); rewrite size_element ?sx ?sy.
move=> i; rewrite size_element ?sv // => lt; have lt16 : i < 16 by exact: leq_trans lt _.
rewrite nth_element // /meaning nth_mkseq //=.
have -> : nth x00 side i = mask b by rewrite -[i]/(8 * 0 + i) -nth_element // E nth_nseq lt.
by rewrite ternary_choose; case: (b); rewrite nth_element.
Qed.

(* A word in a vector's first place; and the word of such a vector. *)
Lemma first_word x : size x = 8 -> exists v, [/\ apply mm_cvtsi64_si128 [:: x] = Some v, size v = 16 & element v 0 = x].
Proof.
move=> sx; exists (x ++ nseq 8 x00); split; last by rewrite /element drop0 take_size_cat.
  by rewrite (@apply_lane mm_cvtsi64_si128 2 LFirst) //= sx.
by rewrite size_cat sx size_nseq.
Qed.

Lemma word_of_first x : size x = 16 -> apply mm_cvtsi128_si64 [:: x] = Some (element x 0).
Proof.
move=> sx; rewrite /apply /= sx /=; congr Some; apply: (@eq_from_nth _ x00); first by rewrite size_element ?sx.
by rewrite /= => i lt; rewrite nth_element //; do 8 (case: i lt => [|i] lt; first by rewrite /= ?cats0).
Qed.

Lemma pair_of_words x y : size x = 8 -> size y = 8 -> apply mm_set_epi64x [:: y; x] = Some (x ++ y).
Proof.
move: x y => [|? [|? [|? [|? [|? [|? [|? [|? []]]]]]]]] // [|? [|? [|? [|? [|? [|? [|? [|? []]]]]]]]] // _ _.
Qed.

(* ---- Expressions --------------------------------------------------------------------------------------- *)

Section Eval.

Variables (c : call) (h : option nat) (r : env) (m : memory).

Lemma eval_1 o a x z : eval c h r m a = Some x -> apply o [:: x] = Some z -> eval c h r m (Op o [:: a]) = Some z.
Proof. by move=> Ea E; rewrite [LHS]/(obind _ (if eval c h r m a is Some x then Some [:: x] else None)) Ea. Qed.

Lemma eval_2 o a b x y z : eval c h r m a = Some x -> eval c h r m b = Some y -> apply o [:: x; y] = Some z ->
  eval c h r m (Op o [:: a; b]) = Some z.
Proof.
move=> Ea Eb E.
by rewrite -[LHS]/(obind (apply o) (all_some [:: eval c h r m a; eval c h r m b])) Ea Eb.
Qed.

Lemma eval_3 o a b d x y z v : eval c h r m a = Some x -> eval c h r m b = Some y -> eval c h r m d = Some z ->
  apply o [:: x; y; z] = Some v -> eval c h r m (Op o [:: a; b; d]) = Some v.
Proof.
move=> Ea Eb Ed E.
by rewrite -[LHS]/(obind (apply o) (all_some [:: eval c h r m a; eval c h r m b; eval c h r m d])) Ea Eb Ed.
Qed.

End Eval.

Lemma apply_words o f x y : takes o = [:: 8; 8] -> asks o [:: VectorCode.word x; VectorCode.word y] ->
  meaning o [:: VectorCode.word x; VectorCode.word y] =
    VectorCode.word (f (number (VectorCode.word x)) (number (VectorCode.word y))) ->
  (x < 2 ^ 64)%num -> (y < 2 ^ 64)%num ->
  apply o [:: VectorCode.word x; VectorCode.word y] = Some (VectorCode.word (f x y)).
Proof.
move=> takes_8 ok E ltx lty.
have sizes : map size [:: VectorCode.word x; VectorCode.word y] = [:: 8; 8] by rewrite -[LHS]/[:: _; _] !size_word.
by rewrite /apply sizes takes_8 eqxx ok E !number_word.
Qed.

Lemma apply_shift o f x y : (o, f) = (shr64, N.shiftr) \/ (o, f) = (shl64, N.shiftl) ->
  (x < 2 ^ 64)%num -> (y < 64)%num -> apply o [:: VectorCode.word x; VectorCode.word y] = Some (VectorCode.word (f x y)).
Proof.
move=> shift ltx lty; have lty' : (y < 2 ^ 64)%num by apply: N.lt_trans lty _.
have ok : asks o [:: VectorCode.word x; VectorCode.word y].
  by case: shift => -[-> _]; rewrite /asks [nth _ _ _]/(VectorCode.word y) number_word //; apply/N.ltb_spec0.
by case: shift ok => -[-> ->] ok; apply: apply_words.
Qed.

(* ---- The leaf's bits and its nodes' ids ------------------------------------------------------------------ *)

Definition side_of : expr :=
  Op mm_cvtsi64_si128 [:: Op mul64 [:: Op and64 [:: Op shr64 [:: Var 4; Counter 1]; Word 0x1]; Word 0xffffffffffffffff]].
Definition id_of : expr :=
  Op mm_cvtsi64_si128 [:: Op add64 [:: Op mul64 [:: Word 0x2; Op shl64 [:: Op shr64 [:: Var 4; Counter 0]; Counter 0]];
    Op shl64 [:: Word 0x1; Counter 0]]].

Definition node_id (leaf : N) (h : nat) : N := (2 * (leaf / 2 ^ N.of_nat h * 2 ^ N.of_nat h) + 2 ^ N.of_nat h)%num.

Section Leaf.

Variables (c : call) (r : env) (m : memory) (leaf : N).
Hypothesis leaf_63 : (leaf < 2 ^ 63)%num.
Hypothesis leaf_is : nth None r 4 = Some (VectorCode.word leaf).

Lemma leaf_64 : (leaf < 2 ^ 64)%num.
Proof. by apply: N.lt_trans leaf_63 _. Qed.

Lemma pow_pos h : (0 < 2 ^ N.of_nat h)%num.
Proof. by have := @N.pow_nonzero 2 (N.of_nat h); lia. Qed.

Lemma shifted_le h : (N.shiftr leaf (N.of_nat h) <= leaf)%num.
Proof.
rewrite N.shiftr_div_pow2; have := pow_pos h => pos.
by apply: N.div_le_upper_bound; [exact: N.pow_nonzero | nia].
Qed.

Lemma side_is h : h < 64 -> exists v, [/\ eval c (Some h.+1) r m side_of = Some v, size v = 16 &
  element v 0 = nseq 8 (mask (N.testbit leaf (N.of_nat h)))].
Proof.
move=> /ltP lt; set b := N.testbit leaf (N.of_nat h).
have bit_is : N.land (N.shiftr leaf (N.of_nat h)) 1 = N.b2n b.
  by rewrite (N.land_ones _ 1) -N.bit0_mod N.shiftr_spec'.
have [v [A sv E]] := first_word (size_word (N.b2n b * 0xffffffffffffffff)).
exists v; split=> //; last by rewrite E; case: (b); vm_compute.
have b1 : (N.b2n b < 2 ^ 64)%num by case: (b).
have small : (N.shiftr leaf (N.of_nat h) < 2 ^ 64)%num by exact: N.le_lt_trans (@shifted_le h) leaf_64.
apply: eval_1 A; apply: (@eval_2 _ _ _ _ mul64 _ _ (VectorCode.word (N.b2n b)) (VectorCode.word 0xffffffffffffffff)) => //.
  rewrite -bit_is; apply: (@eval_2 _ _ _ _ and64 _ _ (VectorCode.word (N.shiftr leaf (N.of_nat h))) (VectorCode.word 1)) => //.
    apply: (@eval_2 _ _ _ _ shr64 _ _ (VectorCode.word leaf) (VectorCode.word (N.of_nat h))) => //.
    - by rewrite /= subn1.
    - by apply: (@apply_shift _ N.shiftr) => //; [left | exact: leaf_64 | lia].
  exact: (@apply_words _ N.land).
exact: (@apply_words _ N.mul).
Qed.

Lemma id_is h : h < 64 -> exists v, [/\ eval c (Some h) r m id_of = Some v, size v = 16 &
  element v 0 = VectorCode.word (node_id leaf h)].
Proof.
move=> /ltP lt; rewrite /node_id -N.shiftr_div_pow2 -N.shiftl_mul_pow2.
have [v [A sv E]] := first_word (size_word (2 * N.shiftl (N.shiftr leaf (N.of_nat h)) (N.of_nat h) + 2 ^ N.of_nat h)).
exists v; split=> //.
have small : (N.shiftr leaf (N.of_nat h) < 2 ^ 64)%num by exact: N.le_lt_trans (@shifted_le h) leaf_64.
have ltn : (N.of_nat h < 64)%num by lia.
have start_le : (N.shiftl (N.shiftr leaf (N.of_nat h)) (N.of_nat h) <= leaf)%num.
  rewrite N.shiftl_mul_pow2 N.shiftr_div_pow2 N.mul_comm; apply: N.mul_div_le; exact: N.pow_nonzero.
have pow_lt : (2 ^ N.of_nat h < 2 ^ 64)%num by apply: N.pow_lt_mono_r; lia.
have twice : (2 ^ 64 = 2 * 2 ^ 63)%num by [].
apply: eval_1 A; apply: (@eval_2 _ _ _ _ add64 _ _
  (VectorCode.word (2 * N.shiftl (N.shiftr leaf (N.of_nat h)) (N.of_nat h))) (VectorCode.word (2 ^ N.of_nat h))).
- apply: (@eval_2 _ _ _ _ mul64 _ _ (VectorCode.word 2)
    (VectorCode.word (N.shiftl (N.shiftr leaf (N.of_nat h)) (N.of_nat h)))) => //.
    apply: (@eval_2 _ _ _ _ shl64 _ _ (VectorCode.word (N.shiftr leaf (N.of_nat h))) (VectorCode.word (N.of_nat h))).
    + apply: (@eval_2 _ _ _ _ shr64 _ _ (VectorCode.word leaf) (VectorCode.word (N.of_nat h))) => //.
      * by rewrite /= subn0.
      * by apply: (@apply_shift _ N.shiftr) => //; [left | exact: leaf_64].
    + by rewrite /= subn0.
    by apply: (@apply_shift _ N.shiftl) => //; right.
  by apply: (@apply_words _ N.mul) => //; exact: N.le_lt_trans start_le leaf_64.
- rewrite -[(2 ^ _)%num]N.mul_1_l -N.shiftl_mul_pow2.
  apply: (@eval_2 _ _ _ _ shl64 _ _ (VectorCode.word 1) (VectorCode.word (N.of_nat h))) => //.
    by rewrite /= subn0.
  by apply: (@apply_shift _ N.shiftl) => //; right.
apply: (@apply_words _ N.add) => //; lia.
Qed.

End Leaf.

(* ---- A walk ------------------------------------------------------------------------------------------------ *)

Definition choose : op := mm_ternarylogic_epi64 0xca.

(* The leaf's bits below height h, the highest first. *)
Definition path (leaf : N) (h : nat) : seq bool := [seq N.testbit leaf (N.of_nat i) | i <- rev (iota 0 h)].

Lemma path_step leaf h : path leaf h.+1 = N.testbit leaf (N.of_nat h) :: path leaf h.
Proof. by rewrite /path -addn1 iotaD rev_cat map_cat. Qed.

Section Walk.

Variables (salted : bool) (f : function) (p : LaneCode.program) (places : seq nat) (side other_lo other_hi ret : nat).
Let lo := nth 0 places 0.
Let hi := nth 0 places 1.
Let s0 := nth 0 places 2.
Let s1 := nth 0 places 3.
Let at_ := nth 0 places 4.
Let e k := nth 0 places (KeccakCode.e0 + k).

Definition walk_opening : seq statement :=
  (if salted then [:: Assign s0 (Op mm_cvtsi64_si128 [:: Var 2]); Assign s1 (Op mm_cvtsi64_si128 [:: Var 3])] else [::]) ++
  [:: Assign lo (Op mm_cvtsi64_si128 [:: Var 0]); Assign hi (Op mm_cvtsi64_si128 [:: Var 1])].
Definition walk_head : seq statement := Assign side side_of :: (if salted then [:: Assign at_ id_of] else [::]).
Definition walk_tail : seq statement :=
  [:: Assign lo (Op choose [:: Var side; Var (e 2); Var (e 0)]);
      Assign hi (Op choose [:: Var side; Var (e 3); Var (e 1)]);
      Assign other_lo (Op choose [:: Var side; Var (e 0); Var (e 2)]);
      Assign other_hi (Op choose [:: Var side; Var (e 1); Var (e 3)]);
      StoreUnlessNull (Copath 1)
        (Op mm_set_epi64x [:: Op mm_cvtsi128_si64 [:: Var other_hi]; Op mm_cvtsi128_si64 [:: Var other_lo]])].
Definition walk_closing : seq statement :=
  [:: Assign ret (Op mm_cvtsi128_si64 [:: Var lo]); Assign ret.+1 (Op mm_cvtsi128_si64 [:: Var hi])].

Let code := flatten (loop f).
Let hashes := sumn [seq size x.2 | x <- written_out p].
Let hash := take hashes (drop (size walk_head) code).
Let kept := 4 :: (if salted then [:: s0; s1] else [::]).

Record walk_right : Prop := WalkRight {
  opening_is : flatten (opening f) = walk_opening;
  head_is : take (size walk_head) code = walk_head;
  hash_agrees : agree_pieces 1 2 places KeccakCode.iota_words hash (written_out p);
  tail_is : drop hashes (drop (size walk_head) code) = walk_tail;
  closing_is : flatten (closing f) = walk_closing;
  returned_is : returned f = [:: Var ret; Var ret.+1];
  places_apart : uniq places;
  kept_by_hash : all (fun v => v \notin assigned hash) (side :: kept);
  kept_else : all (fun v => v \notin [:: side; at_; lo; hi; other_lo; other_hi]) kept;
  loaded_apart : all (fun v => v \notin [:: side; at_]) [:: lo; hi];
  apart_5 : all (fun v => 4 < v) [:: lo; hi; s0; s1];
  uniq_tail : uniq [:: side; lo; hi; other_lo; other_hi; e 0; e 1; e 2; e 3];
  uniq_opening : uniq [:: s0; s1; lo; hi];
  ret_apart : ret != hi;
  side_at : side != at_;
  places_5 : 4 < size places
}.

Hypothesis right : walk_right.
Variables (c : call) (leaf salt_lo salt_hi : N) (digest : nat -> value -> value).
Hypothesis leaf_63 : (leaf < 2 ^ 63)%num.

Definition hashed (h : nat) (s : value) : seq N :=
  [:: number (take 8 s); number (drop 8 s)] ++ (if salted then [:: salt_lo; salt_hi; node_id leaf h] else [::]).
Hypothesis p_returns : LaneCode.returned p = returned_words.
Hypothesis p_hashes : forall h s, size s = 16 -> exists l0 l1 r0 r1,
  LaneCode.run KeccakCode.iota_words p (hashed h s) = Some [:: l0; l1; r0; r1; 0]%num /\
  VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 = digest h s.

Definition holds (r : env) (v : nat) (x : value) : Prop :=
  exists y, [/\ nth None r v = Some y, size y = 16 & element y 0 = x].
Definition ready (r : env) (s : value) : Prop :=
  [/\ holds r lo (take 8 s), holds r hi (drop 8 s), nth None r 4 = Some (VectorCode.word leaf) &
      salted -> holds r s0 (VectorCode.word salt_lo) /\ holds r s1 (VectorCode.word salt_hi)].

Definition half (h : nat) (s : value) (b : bool) : value := if b then drop 16 (digest h s) else take 16 (digest h s).

Lemma holds_other r v w x y : holds r v x -> v != w -> holds (set_nth None r w y) v x.
Proof. by move=> [z [E sz Ez]] ne; exists z; split=> //; rewrite nth_set_nth /= (negbTE ne). Qed.

Lemma holds_same r v x y : size y = 16 -> element y 0 = x -> holds (set_nth None r v (Some y)) v x.
Proof. by move=> sy Ey; exists y; split=> //; rewrite nth_set_nth /= eqxx. Qed.

(* The effect of the head. *)
Lemma head_runs h r m s : h < 63 -> ready r s -> exists r',
  [/\ run_code c (Some h.+1) walk_head (r, m) = Some (r', m), ready r' s,
      (exists v, [/\ nth None r' side = Some v, size v = 16 & element v 0 = nseq 8 (mask (N.testbit leaf (N.of_nat h)))]) &
      salted -> holds r' at_ (VectorCode.word (node_id leaf h.+1))].
Proof.
move=> lt [Hlo Hhi Hleaf Hsalt].
have [v [Ev sv E]] := @side_is c r m leaf leaf_63 Hleaf h (leq_trans lt (leqnSn _)).
have [kept4 kept_s] : 4 \notin [:: side; at_; lo; hi; other_lo; other_hi] /\
    (salted -> s0 \notin [:: side; at_; lo; hi; other_lo; other_hi] /\ s1 \notin [:: side; at_; lo; hi; other_lo; other_hi]).
  by have /andP[k4 ks] := kept_else right; split=> // sl; move: ks; rewrite sl /= => /and3P[].
have [lo_apart hi_apart] : lo \notin [:: side; at_] /\ hi \notin [:: side; at_].
  by have /and3P[] := loaded_apart right.
move: lo_apart hi_apart kept4; rewrite !inE !negb_or => /andP[lo1 lo2] /andP[hi1 hi2] /and3P[k1 k2 _].
have salt_apart : salted -> [/\ s0 != side, s0 != at_, s1 != side & s1 != at_].
  by move=> sl; have [] := kept_s sl; rewrite !inE !negb_or => /and3P[? ? _] /and3P[? ? _].
pose r1 := set_nth None r side (Some v).
have leaf1 : nth None r1 4 = Some (VectorCode.word leaf) by rewrite nth_set_nth /= (negbTE k1).
have ready1 : ready r1 s.
  split=> //; [exact: holds_other | exact: holds_other |].
  by move=> sl; have [a0 _ a1 _] := salt_apart sl; have [h0 h1] := Hsalt sl; split; apply: holds_other.
have side1 : nth None r1 side = Some v by rewrite nth_set_nth /= eqxx.
have run1 : run_code c (Some h.+1) [:: Assign side side_of] (r, m) = Some (r1, m).
  by rewrite -[LHS]/(obind (run_code c (Some h.+1) [::]) (omap (fun x => (set_nth None r side (Some x), m))
    (eval c (Some h.+1) r m side_of))) Ev.
case Es: salted; last first.
  have -> : walk_head = [:: Assign side side_of] by rewrite /walk_head Es.
  by exists r1; split=> //; exists v.
have -> : walk_head = [:: Assign side side_of] ++ [:: Assign at_ id_of] by rewrite /walk_head Es.
have [x [Ex sx Exw]] := @id_is c r1 m leaf leaf_63 leaf1 h.+1 lt.
have [_ a0 _ a1] := salt_apart Es; have [ready_lo ready_hi _ ready_salt] := ready1.
exists (set_nth None r1 at_ (Some x)); split.
- rewrite run_code_cat run1.
  by rewrite -[LHS]/(obind (run_code c (Some h.+1) [::]) (omap (fun x => (set_nth None r1 at_ (Some x), m))
    (eval c (Some h.+1) r1 m id_of))) Ex.
- split; [exact: holds_other | exact: holds_other | by rewrite nth_set_nth /= (negbTE k2) |].
  by move=> sl; have [h0 h1] := ready_salt sl; split; apply: holds_other.
- by exists v; split=> //; rewrite nth_set_nth /= (negbTE (side_at right)).
by move=> _; apply: holds_same.
Qed.

(* The effect of the hash. *)
Lemma hash_runs h r m s : h < 63 -> size s = 16 -> ready r s ->
  (salted -> holds r at_ (VectorCode.word (node_id leaf h.+1))) -> exists r' l0 l1 r0 r1,
  [/\ run_code c (Some h.+1) hash (r, m) = Some (r', m),
      VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 = digest h.+1 s,
      forall k, k < 4 -> holds r' (e k) (VectorCode.word (nth 0%num [:: l0; l1; r0; r1] k)) &
      forall v, v \in side :: kept -> nth None r' v = nth None r v].
Proof.
move=> lt ss [Hlo Hhi _ Hsalt] Hat.
have [l0 [l1 [r0 [r1 [R D]]]]] := p_hashes h.+1 ss.
have [r3 run3 E3] := run_words p_returns R.
pose rls (j : nat) := map Some (hashed h.+1 s) ++ nseq (LaneCode.variables p - size (hashed h.+1 s)) None.
have word_8 x : size x = 8 -> VectorCode.word (number x) = x by exact: word_number.
have [take8 drop8] : size (take 8 s) = 8 /\ size (drop 8 s) = 8 by rewrite size_takel ?size_drop ss.
have carried : carries 1 2 places r rls.
  move=> [|//] t x _; rewrite /rls nth_cat size_map; case: ltnP => ltt; last by rewrite nth_nseq; case: ifP.
  have word_at v y w : holds r v y -> y = VectorCode.word w ->
      exists z, [/\ nth None r v = Some z, size z = 8 * 2 & element z 0 = VectorCode.word w].
    by move=> [z [E sz Ez]] Ey; exists z; rewrite Ez Ey.
  rewrite (nth_map 0%num) // => -[<-]; split.
    by apply: leq_trans ltt (leq_trans _ (places_5 right)); rewrite /hashed size_cat; case: (salted).
  move: ltt; rewrite /hashed size_cat; case Es: salted => ltt.
    have [h0 h1] := Hsalt Es; have h4 := Hat Es.
    by case: t ltt => [|[|[|[|[|t]]]]] // _; apply: word_at; try eassumption; rewrite ?word_8.
  by case: t ltt => [|[|t]] // _; apply: word_at; try eassumption; rewrite ?word_8.
have [q run2 carried2] := @agree_piecesP 1 2 places _ isT isT c (Some h.+1) m (places_apart right) _ _ _ _ (fun _ => r3)
  carried (hash_agrees right) (fun _ _ => run3).
exists q, l0, l1, r0, r1; split=> //.
  move=> k ltk; have [_ [x [Ex sx word_x]]] := carried2 0 _ _ isT (E3 k ltk); by exists x.
move=> v kept_v; apply: run_code_other run2; exact: (allP (kept_by_hash right)).
Qed.

(* The effect of the tail. *)
Definition masked (r : env) (b : bool) : Prop :=
  exists v, [/\ nth None r side = Some v, size v = 16 & element v 0 = nseq 8 (mask b)].

Lemma masked_other r b w y : masked r b -> side != w -> masked (set_nth None r w y) b.
Proof. by move=> [v [E sv Ev]] ne; exists v; split=> //; rewrite nth_set_nth /= (negbTE ne). Qed.

Lemma run_assign h v ex x more r m : eval c h r m ex = Some x ->
  run_code c h (Assign v ex :: more) (r, m) = run_code c h more (set_nth None r v (Some x), m).
Proof. by move=> E; rewrite /= E. Qed.

Lemma run_choose h r m v b x y wx wy more : masked r b -> holds r x wx -> holds r y wy ->
  exists z, [/\ run_code c h (Assign v (Op choose [:: Var side; Var x; Var y]) :: more) (r, m) =
      run_code c h more (set_nth None r v (Some z), m), size z = 16 & element z 0 = if b then wx else wy].
Proof.
move=> [sv [Es ss Em]] [vx [Ex sx <-]] [vy [Ey sy <-]].
have [z [A sz Ez]] := choose_word ss sx sy Em; exists z; split=> //.
by apply: run_assign; apply: eval_3 A.
Qed.

Lemma tail_runs h r m b (w : nat -> value) : masked r b -> (forall k, k < 4 -> holds r (e k) (w k)) ->
  (forall k, k < 4 -> size (w k) = 8) -> exists r',
  [/\ run_code c (Some h.+1) walk_tail (r, m) =
        Some (r', if copath c is Some g then update m (g h) (if b then w 0 ++ w 1 else w 2 ++ w 3) else m),
      holds r' lo (if b then w 2 else w 0), holds r' hi (if b then w 3 else w 1) &
      forall v, v \notin [:: lo; hi; other_lo; other_hi] -> nth None r' v = nth None r v].
Proof.
move=> msk words sizes; pose names := [:: side; lo; hi; other_lo; other_hi; e 0; e 1; e 2; e 3].
have ne i j : i < 9 -> j < 9 -> i != j -> nth 0 names i != nth 0 names j.
  by move=> lti ltj; rewrite nth_uniq // (uniq_tail right).
have [x1 [R1 s1x w1]] := @run_choose (Some h.+1) r m lo b _ _ _ _ (behead walk_tail) msk (words 2 isT) (words 0 isT).
set r1 := set_nth None r lo (Some x1).
have msk1 : masked r1 b by apply: masked_other msk _; exact: (ne 0 1).
have words1 k : k < 4 -> holds r1 (e k) (w k).
  by move=> lt; apply: holds_other (words k lt) _; case: k lt => [|[|[|[|]]]] // _;
    [exact: (ne 5 1) | exact: (ne 6 1) | exact: (ne 7 1) | exact: (ne 8 1)].
have lo1 : holds r1 lo (if b then w 2 else w 0) by apply: holds_same.
have [x2 [R2 s2x w2]] := @run_choose (Some h.+1) r1 m hi b _ _ _ _ (behead (behead walk_tail)) msk1 (words1 3 isT) (words1 1 isT).
set r2 := set_nth None r1 hi (Some x2).
have msk2 : masked r2 b by apply: masked_other msk1 _; exact: (ne 0 2).
have words2 k : k < 4 -> holds r2 (e k) (w k).
  by move=> lt; apply: holds_other (words1 k lt) _; case: k lt => [|[|[|[|]]]] // _;
    [exact: (ne 5 2) | exact: (ne 6 2) | exact: (ne 7 2) | exact: (ne 8 2)].
have lo2 : holds r2 lo (if b then w 2 else w 0) by apply: holds_other lo1 _; exact: (ne 1 2).
have hi2 : holds r2 hi (if b then w 3 else w 1) by apply: holds_same.
have [x3 [R3 s3x w3]] := @run_choose (Some h.+1) r2 m other_lo b _ _ _ _ (behead (behead (behead walk_tail))) msk2 (words2 0 isT) (words2 2 isT).
set r3 := set_nth None r2 other_lo (Some x3).
have msk3 : masked r3 b by apply: masked_other msk2 _; exact: (ne 0 3).
have words3 k : k < 4 -> holds r3 (e k) (w k).
  by move=> lt; apply: holds_other (words2 k lt) _; case: k lt => [|[|[|[|]]]] // _;
    [exact: (ne 5 3) | exact: (ne 6 3) | exact: (ne 7 3) | exact: (ne 8 3)].
have [x4 [R4 s4x w4]] := @run_choose (Some h.+1) r3 m other_hi b _ _ _ _ (behead (behead (behead (behead walk_tail)))) msk3 (words3 1 isT) (words3 3 isT).
set r4 := set_nth None r3 other_hi (Some x4).
have lo_is : nth None r4 other_lo = Some x3 by rewrite nth_set_nth /= (negbTE (ne 3 4 isT isT isT)) nth_set_nth /= eqxx.
have hi_is : nth None r4 other_hi = Some x4 by rewrite nth_set_nth /= eqxx.
have pair : eval c (Some h.+1) r4 m
    (Op mm_set_epi64x [:: Op mm_cvtsi128_si64 [:: Var other_hi]; Op mm_cvtsi128_si64 [:: Var other_lo]]) =
    Some (if b then w 0 ++ w 1 else w 2 ++ w 3).
  apply: eval_2; [apply: eval_1 (word_of_first s4x); exact: hi_is | apply: eval_1 (word_of_first s3x); exact: lo_is |].
  by rewrite w3 w4; case: (b); rewrite pair_of_words ?sizes.
exists r4; split.
- apply: etrans R1 (etrans R2 (etrans R3 (etrans R4 _))).
  rewrite -[LHS]/(obind [eta Some] (run_statement c (Some h.+1) (StoreUnlessNull (Copath 1)
    (Op mm_set_epi64x [:: Op mm_cvtsi128_si64 [:: Var other_hi]; Op mm_cvtsi128_si64 [:: Var other_lo]])) (r4, m))).
  rewrite /run_statement pair /place; case: (copath c) => [g|] //.
  rewrite /counter subSS subn0 /store [size _](_ : _ = 16) //.
  by case: (b); rewrite size_cat !sizes.
- by apply: holds_other; [apply: holds_other lo2 _; exact: (ne 1 3) | exact: (ne 1 4)].
- by apply: holds_other; [apply: holds_other hi2 _; exact: (ne 2 3) | exact: (ne 2 4)].
move=> v; rewrite !inE !negb_or => /and4P[/negbTE n1 /negbTE n2 /negbTE n3 /negbTE n4].
by rewrite !nth_set_nth /= n4 nth_set_nth /= n3 nth_set_nth /= n2 nth_set_nth /= n1.
Qed.

Lemma code_is : code = walk_head ++ hash ++ walk_tail.
Proof. by rewrite -(tail_is right) -{1}(head_is right) !cat_take_drop. Qed.

Definition stored (h : nat) (x : value) (m : memory) : memory := if copath c is Some g then update m (g h) x else m.

Lemma step_runs h r m s : h < 63 -> size s = 16 -> ready r s ->
  let b := N.testbit leaf (N.of_nat h) in
  exists r', run_code c (Some h.+1) code (r, m) = Some (r', stored h (half h.+1 s (~~ b)) m) /\
    ready r' (half h.+1 s b) /\ size (half h.+1 s b) = 16.
Proof.
move=> lt ss rdy b.
have [r1 [run1 [lo1 hi1 leaf1 salt1] msk1 at1]] := head_runs m lt rdy.
have rdy1 : ready r1 s by split.
have [r2 [l0 [l1 [d0 [d1 [run2 D words2 same2]]]]]] := hash_runs m lt ss rdy1 at1.
pose w k := VectorCode.word (nth 0%num [:: l0; l1; d0; d1] k).
have D' : digest h.+1 s = (w 0 ++ w 1) ++ w 2 ++ w 3 by rewrite -D -catA.
have w8 k : size (w k) = 8 by exact: size_word.
have half_is b' : half h.+1 s b' = if b' then w 2 ++ w 3 else w 0 ++ w 1.
  by rewrite /half D'; case: b'; rewrite ?drop_size_cat ?take_size_cat ?size_cat ?w8.
have msk2 : masked r2 b.
  by have [v [E sv Ev]] := msk1; exists v; rewrite same2 // mem_head.
have [r3 [run3 lo3 hi3 same3]] := @tail_runs h r2 m b w msk2 words2 (fun k _ => w8 k).
have kept3 v : v \in kept -> nth None r3 v = nth None r1 v.
  move=> kept_v; rewrite same3; first by apply: same2; rewrite inE kept_v orbT.
  have := allP (kept_else right) _ kept_v; rewrite !inE !negb_or.
  by case/and5P=> _ _ -> -> /andP[-> ->].
exists r3; split.
  rewrite code_is run_code_cat run1 [obind _ _]run_code_cat run2 [obind _ _]run3 /stored.
  by case: (copath c) => [g|] //; rewrite half_is; case: (b).
have holds_kept v x : v \in kept -> holds r1 v x -> holds r3 v x.
  by move=> kept_v [y [E sy Ey]]; exists y; rewrite kept3.
split; last by rewrite half_is; case: (b); rewrite size_cat !w8.
split.
- by rewrite half_is; case: (b) lo3 => lo3; rewrite take_size_cat ?w8.
- by rewrite half_is; case: (b) hi3 => hi3; rewrite drop_size_cat ?w8.
- by rewrite kept3 // mem_head.
by move=> sl; have [h0 h1] := salt1 sl; split; apply: holds_kept => //; rewrite /kept sl !inE eqxx ?orbT.
Qed.

Let G (top : nat) (q : seq bool) (s : value) : value * value :=
  (half (top - size q) s false, half (top - size q) s true).

Lemma descend_cons top q s b x : Ggm.descend (G top) q s (b :: x) =
  Ggm.descend (G top) (rcons q b) (half (top - size q) s b) x.
Proof. by case: b. Qed.

Lemma loop_runs top h q r m s : top <= 63 -> (size q + h = top) -> size s = 16 -> ready r s ->
  (forall g i j, copath c = Some g -> i < top -> j < top -> g i = g j -> i = j) ->
  exists r' m', run_loop c code h (r, m) = Some (r', m') /\
    [/\ ready r' (Ggm.descend (G top) q s (path leaf h)), size (Ggm.descend (G top) q s (path leaf h)) = 16,
        forall g k, copath c = Some g -> k < h ->
          m' (g k) = Ggm.descend (G top) q s (rcons (take (h - k.+1) (path leaf h)) (~~ N.testbit leaf (N.of_nat k))) &
        forall l, (forall g k, copath c = Some g -> k < h -> l <> g k) -> m' l = m l].
Proof.
move=> le_top; elim: h q r m s => [|h IH] q r m s sq ss rdy apart; first by exists r, m; split.
have lt : h < 63 by apply: leq_trans le_top; rewrite -sq addnS ltnS leq_addl.
have ltop : h < top by rewrite -sq addnS ltnS leq_addl.
have at_h : top - size q = h.+1 by rewrite -sq addKn.
have [r1 [run1 [rdy1 sz1]]] := step_runs m lt ss rdy.
set b := N.testbit leaf (N.of_nat h) in run1 rdy1 sz1.
have sq1 : size (rcons q b) + h = top by rewrite size_rcons addSnnS.
have [r2 [m2 [run2 [rdy2 sz2 beside others]]]] := IH (rcons q b) r1 (stored h (half h.+1 s (~~ b)) m) _ sq1 sz1 rdy1 apart.
exists r2, m2; split; first by rewrite /= run1.
rewrite path_step descend_cons at_h -/b; split=> //.
- move=> g k Eg; rewrite ltnS leq_eqVlt => /orP[/eqP -> | ltk].
    rewrite subnn take0 /= others; last first.
      move=> g' k' Eg' ltk' E; move: Eg'; rewrite Eg => -[Eg']; rewrite -Eg' in E.
      by have := apart g h k' Eg ltop (ltn_trans ltk' ltop) E => Eh; move: ltk'; rewrite Eh ltnn.
    by rewrite /stored Eg /update N.eqb_refl -/b -at_h; case: (b).
  by rewrite beside // subSS -(subnSK ltk) -[take _.+1 _]/(b :: take _ _) rcons_cons descend_cons at_h.
move=> l other; rewrite others => [|g k Eg ltk]; last by apply: other => //; exact: ltn_trans ltk _.
rewrite /stored; case Eg: (copath c) => [g|] //; rewrite /update; case: N.eqb_spec => // E.
by case: (other g h Eg (ltnSn h)).
Qed.

Lemma run_first h r m v a x more : nth None r a = Some x -> size x = 8 ->
  exists z, [/\ run_code c h (Assign v (Op mm_cvtsi64_si128 [:: Var a]) :: more) (r, m) =
      run_code c h more (set_nth None r v (Some z), m), size z = 16 & element z 0 = x].
Proof.
move=> E sx; have [z [A sz Ez]] := first_word sx; exists z; split=> //.
by apply: run_assign; apply: eval_1 A.
Qed.

Lemma opening_runs r m a b :
  nth None r 0 = Some (VectorCode.word a) -> nth None r 1 = Some (VectorCode.word b) ->
  nth None r 2 = Some (VectorCode.word salt_lo) -> nth None r 3 = Some (VectorCode.word salt_hi) ->
  nth None r 4 = Some (VectorCode.word leaf) ->
  exists r', run_code c None walk_opening (r, m) = Some (r', m) /\ ready r' (VectorCode.word a ++ VectorCode.word b).
Proof.
move=> E0 E1 E2 E3 E4.
have [lo5 hi5 s05 s15] : [/\ 4 < lo, 4 < hi, 4 < s0 & 4 < s1] by have /and5P[] := apart_5 right.
have other v w x r' : v <= 4 -> 4 < w -> nth None (set_nth None r' w x) v = nth None r' v.
  by move=> le lt; rewrite nth_set_nth /=; case: eqP => // E; move: lt; rewrite -E ltnNge le.
have [s0s1 s0lo s0hi [s1lo s1hi lohi]] : [/\ s0 != s1, s0 != lo, s0 != hi & [/\ s1 != lo, s1 != hi & lo != hi]].
  by have := uniq_opening right; rewrite /= !inE !negb_or => /and4P[/and3P[-> -> ->] /andP[-> ->] -> _].
have words r2 : (forall v, v <= 4 -> nth None r2 v = nth None r v) ->
    (salted -> holds r2 s0 (VectorCode.word salt_lo) /\ holds r2 s1 (VectorCode.word salt_hi)) ->
    exists r', run_code c None [:: Assign lo (Op mm_cvtsi64_si128 [:: Var 0]); Assign hi (Op mm_cvtsi64_si128 [:: Var 1])]
      (r2, m) = Some (r', m) /\ ready r' (VectorCode.word a ++ VectorCode.word b).
  move=> same salt.
  have [x [-> sx wx]] := @run_first None r2 m lo 0 _ [:: Assign hi (Op mm_cvtsi64_si128 [:: Var 1])]
    (etrans (same 0 isT) E0) (size_word _).
  have E1' : nth None (set_nth None r2 lo (Some x)) 1 = Some (VectorCode.word b) by rewrite other // same.
  have [y [-> sy wy]] := @run_first None _ m hi 1 _ [::] E1' (size_word _).
  exists (set_nth None (set_nth None r2 lo (Some x)) hi (Some y)); split=> //; split.
  - by rewrite take_size_cat ?size_word //; apply: holds_other lohi; apply: holds_same.
  - by rewrite drop_size_cat ?size_word //; apply: holds_same.
  - by rewrite !other // same.
  by move=> sl; have [h0 h1] := salt sl; split; do 2 apply: holds_other => //.
case Es: salted; last first.
  have -> : walk_opening = [:: Assign lo (Op mm_cvtsi64_si128 [:: Var 0]); Assign hi (Op mm_cvtsi64_si128 [:: Var 1])].
    by rewrite /walk_opening Es.
  by apply: words => //; rewrite Es.
set rest := [:: Assign lo (Op mm_cvtsi64_si128 [:: Var 0]); Assign hi (Op mm_cvtsi64_si128 [:: Var 1])] in words.
have -> : walk_opening = Assign s0 (Op mm_cvtsi64_si128 [:: Var 2]) :: Assign s1 (Op mm_cvtsi64_si128 [:: Var 3]) :: rest.
  by rewrite /walk_opening Es.
have [x [-> sx wx]] := @run_first None r m s0 2 _ (Assign s1 (Op mm_cvtsi64_si128 [:: Var 3]) :: rest) E2 (size_word _).
have E3' : nth None (set_nth None r s0 (Some x)) 3 = Some (VectorCode.word salt_hi) by rewrite other.
have [y [-> sy wy]] := @run_first None _ m s1 3 _ rest E3' (size_word _).
apply: words => [v le | _]; first by rewrite !other.
by split; [apply: holds_other s0s1; apply: holds_same | apply: holds_same].
Qed.

Lemma closing_runs r m s : size s = 16 -> ready r s -> exists r', run_code c None walk_closing (r, m) = Some (r', m) /\
  nth None r' ret = Some (take 8 s) /\ nth None r' ret.+1 = Some (drop 8 s).
Proof.
move=> ss [[x [Ex sx wx]] [y [Ey sy wy]] _ _].
have hi_is : nth None (set_nth None r ret (Some (element x 0))) hi = Some y.
  by rewrite nth_set_nth /= eq_sym (negbTE (ret_apart right)).
exists (set_nth None (set_nth None r ret (Some (element x 0))) ret.+1 (Some (element y 0))); split.
  have R1 := @run_assign None ret _ _ (behead walk_closing) r m
    (@eval_1 c None r m mm_cvtsi128_si64 (Var lo) x _ Ex (word_of_first sx)).
  apply: etrans R1 _; have R2 := @run_assign None ret.+1 _ _ [::] _ m
    (@eval_1 c None _ m mm_cvtsi128_si64 (Var hi) y _ hi_is (word_of_first sy)).
  exact: etrans R2 _.
by rewrite !nth_set_nth /= eqxx nth_set_nth /= eqxx -wx -wy; case: eqP => // /eqP; rewrite ltn_eqF.
Qed.

Theorem walk_sound (m : memory) a b : top c <= 63 ->
  (forall g i j, copath c = Some g -> i < top c -> j < top c -> g i = g j -> i = j) ->
  let value q := Ggm.descend (G (top c)) [::] (VectorCode.word a ++ VectorCode.word b) q in
  exists x y m', run f c [seq VectorCode.word w | w <- [:: a; b; salt_lo; salt_hi; leaf]] m = Some ([:: x; y], m') /\
  [/\ x ++ y = value (path leaf (top c)),
      forall g k, copath c = Some g -> k < top c ->
        m' (g k) = value (rcons (take (top c - k.+1) (path leaf (top c))) (~~ N.testbit leaf (N.of_nat k))) &
      forall l, (forall g k, copath c = Some g -> k < top c -> l <> g k) -> m' l = m l].
Proof.
move=> le apart value.
set r0 := map Some [seq VectorCode.word w | w <- [:: a; b; salt_lo; salt_hi; leaf]] ++
  nseq (variables f - size [seq VectorCode.word w | w <- [:: a; b; salt_lo; salt_hi; leaf]]) None.
have [r1 [run1 rdy1]] := @opening_runs r0 m a b erefl erefl erefl erefl erefl.
have s16 : size (VectorCode.word a ++ VectorCode.word b) = 16 by rewrite size_cat !size_word.
have [r2 [m2 [run2 [rdy2 sz2 beside others]]]] := @loop_runs (top c) (top c) [::] r1 m _ le erefl s16 rdy1 apart.
have [r3 [run3 [lo3 hi3]]] := closing_runs m2 sz2 rdy2.
exists (take 8 (value (path leaf (top c)))), (drop 8 (value (path leaf (top c)))), m2; split; last first.
  by split=> //; rewrite cat_take_drop.
rewrite /run -/r0 (opening_is right) run1 run2 (closing_is right) run3 (returned_is right).
by rewrite -[map _ _]/[:: nth None r3 ret; nth None r3 ret.+1] lo3 hi3.
Qed.

End Walk.

(* ---- The functions ------------------------------------------------------------------------------------------ *)

Definition keccak_walk_places : seq nat := places_from keccak_avx512_descend_lo keccak_avx512_descend_hi
  (no_places opt_keccak_avx512_descend) keccak_avx512_descend_a0.
Definition salted_walk_places : seq nat := places_from salted_avx512_descend_lo salted_avx512_descend_hi
  [:: salted_avx512_descend_s0; salted_avx512_descend_s1; salted_avx512_descend_at] salted_avx512_descend_a0.

Lemma keccak_walk_right : walk_right false opt_keccak_avx512_descend KeccakCode.opt_keccak_scalar keccak_walk_places
  keccak_avx512_descend_side keccak_avx512_descend_other_lo keccak_avx512_descend_other_hi keccak_avx512_descend_side.
Proof. split; vm_compute; reflexivity. Qed.
Lemma salted_walk_right : walk_right true opt_salted_avx512_descend KeccakCode.opt_salted_scalar salted_walk_places
  salted_avx512_descend_side salted_avx512_descend_other_lo salted_avx512_descend_other_hi salted_avx512_descend_side.
Proof. split; vm_compute; reflexivity. Qed.

(* From a node of some height above a leaf down to that leaf, by the leaf's bits: the leaf's seed
   is returned, the seed beside the path at each height is stored if copath is not NULL, and
   nothing else changes. *)
Theorem keccak_walk_sound lo hi salt_lo salt_hi leaf (height : nat) (copath : option (nat -> location)) (m : memory) :
  (leaf < 2 ^ 63)%num -> height <= 63 ->
  (forall place i j, copath = Some place -> i < height -> j < height -> place i = place j -> i = j) ->
  let G (_ : seq bool) s := let digest := Fips202.sha3_256 s in (take 16 digest, drop 16 digest) in
  let path := [seq N.testbit leaf (N.of_nat i) | i <- rev (iota 0 height)] in
  let seed := Ggm.descend G [::] (put_le 8 lo ++ put_le 8 hi) in
  exists x y m',
  run opt_keccak_avx512_descend (Call [::] copath height)
    [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; leaf]] m = Some ([:: x; y], m') /\
  x ++ y = seed path /\
  (forall place i, copath = Some place -> i < height ->
    m' (place i) = seed (rcons (take (height - i.+1) path) (~~ N.testbit leaf (N.of_nat i)))) /\
  (forall q, (forall place i, copath = Some place -> i < height -> q <> place i) -> m' q = m q).
Proof.
move=> leaf_63 le apart G path seed.
have hashes (h : nat) s : size s = 16 -> exists l0 l1 r0 r1,
    LaneCode.run KeccakCode.iota_words KeccakCode.opt_keccak_scalar (hashed false leaf salt_lo salt_hi h s) =
      Some [:: l0; l1; r0; r1; 0]%num /\
    VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 = Fips202.sha3_256 s.
  move=> ss; have [|l0 [l1 [r0 [r1 [R D]]]]] := @KeccakSound.keccak_sound KeccakCode.opt_keccak_scalar
    (number (take 8 s)) (number (drop 8 s)); first by left.
  exists l0, l1, r0, r1; split; first exact: R.
  have word_lo : put_le 8 (number (take 8 s)) = take 8 s by apply: word_number; rewrite size_takel ?ss.
  have word_hi : put_le 8 (number (drop 8 s)) = drop 8 s by apply: word_number; rewrite size_drop ss.
  by rewrite [LHS]D word_lo word_hi cat_take_drop.
have [x [y [m' [R [E beside others]]]]] := @walk_sound false _ _ _ _ _ _ _ keccak_walk_right (Call [::] copath height)
  leaf salt_lo salt_hi (fun _ => Fips202.sha3_256) leaf_63 erefl hashes m lo hi le apart.
exists x, y, m'; split; [exact: R | split; [exact: E | split; [exact: beside | exact: others]]].
Qed.

(* The same with a salt and each node's in-order id. *)
Theorem salted_walk_sound lo hi salt_lo salt_hi leaf (height : nat) (copath : option (nat -> location)) (m : memory) :
  (leaf < 2 ^ 63)%num -> height <= 63 ->
  (forall place i j, copath = Some place -> i < height -> j < height -> place i = place j -> i = j) ->
  let G (p : seq bool) s :=
    let width := (2 ^ N.of_nat (height - size p))%num in
    let id := (2 * (leaf / width * width) + width)%num in
    let digest := Fips202.sha3_256 (s ++ (put_le 8 salt_lo ++ put_le 8 salt_hi) ++ put_le 8 id) in
    (take 16 digest, drop 16 digest) in
  let path := [seq N.testbit leaf (N.of_nat i) | i <- rev (iota 0 height)] in
  let seed := Ggm.descend G [::] (put_le 8 lo ++ put_le 8 hi) in
  exists x y m',
  run opt_salted_avx512_descend (Call [::] copath height)
    [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; leaf]] m = Some ([:: x; y], m') /\
  x ++ y = seed path /\
  (forall place i, copath = Some place -> i < height ->
    m' (place i) = seed (rcons (take (height - i.+1) path) (~~ N.testbit leaf (N.of_nat i)))) /\
  (forall q, (forall place i, copath = Some place -> i < height -> q <> place i) -> m' q = m q).
Proof.
move=> leaf_63 le apart G path seed.
have hashes (h : nat) s : size s = 16 -> exists l0 l1 r0 r1,
    LaneCode.run KeccakCode.iota_words KeccakCode.opt_salted_scalar (hashed true leaf salt_lo salt_hi h s) =
      Some [:: l0; l1; r0; r1; 0]%num /\
    VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 =
      Fips202.sha3_256 (s ++ (put_le 8 salt_lo ++ put_le 8 salt_hi) ++ put_le 8 (node_id leaf h)).
  move=> ss; have [|l0 [l1 [r0 [r1 [R D]]]]] := @KeccakSound.salted_sound KeccakCode.opt_salted_scalar
    (number (take 8 s)) (number (drop 8 s)) salt_lo salt_hi (node_id leaf h); first by left.
  exists l0, l1, r0, r1; split; first exact: R.
  have word_lo : put_le 8 (number (take 8 s)) = take 8 s by apply: word_number; rewrite size_takel ?ss.
  have word_hi : put_le 8 (number (drop 8 s)) = drop 8 s by apply: word_number; rewrite size_drop ss.
  by rewrite [LHS]D word_lo word_hi cat_take_drop.
have [x [y [m' [R [E beside others]]]]] := @walk_sound true _ _ _ _ _ _ _ salted_walk_right (Call [::] copath height)
  leaf salt_lo salt_hi _ leaf_63 erefl hashes m lo hi le apart.
exists x, y, m'; split; [exact: R | split; [exact: E | split; [exact: beside | exact: others]]].
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What a caller of opt's API may rely on, in the model's terms: called on a store that holds a key of the
   model, a function that meets its ACSL contract leaves the key that the model has after the same
   operation, gives the model's value, and on an error changes nothing.

   As for ref (AcslSound.v): each hypothesis before the contract is what the caller has to see to; that it
   implies the contract's own is part of the proof, as is every clause that the contract ensures. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import Correctness Layout ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From Pprf.proofs Require Import AcslAgree AcslSound AcslLayout.
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
#[local] Arguments Z.pow : simpl never.

Section Sound.

Variable V : api.
Hypothesis D : definitions V.
Hypothesis DL : layout_definitions V.
Hypothesis DA : api_definitions V.

(* ---- The bitmap --------------------------------------------------------------------- *)

Lemma levels_bounds d : 1 <= d <= 32 -> 1 <= levels V d <= 6 /\ 6 * (levels V d - 1) < d <= 6 * levels V d.
Proof.
by move=> d32; rewrite /levels Z.quot_div_nonneg; lia.
Qed.

Lemma words_none d k : 1 <= d <= 32 -> levels V d <= k -> words V d k = 0.
Proof.
move=> /levels_bounds B lk; rewrite /words.
have -> : (d >? 6 * k + 6) = false by lia.
by have -> : (d >? 6 * k) = false by lia.
Qed.

Lemma block_of_pos x k : 0 <= x -> 0 <= block_of V x k.
Proof.
move=> x0; have q n : 0 < n -> 0 <= Z.quot x n by move=> n0; apply: Z.quot_pos; lia.
by rewrite /block_of; do ! (case: ifP => _ //; try by apply: q).
Qed.

Lemma full_bP L b k y : 0 <= y ->
  full_b V L b k y <-> k < cell L (shift 1 b 1) /\ full V L b k y.
Proof.
move=> y0; rewrite /full_b /full /bit_b /bit.
case: Z.geb_spec => c1; first by split=> // -[]; lia.
case: Z.geb_spec => c2; first by split=> // -[_ [_ []]]; lia.
by case: Z.eqb_spec => e /=; split=> // -[_ [_ []]].
Qed.

Lemma is_punctured_bP L b x : cell L (shift 1 b 1) <= 6 -> is_punctured_b V L b x <-> is_punctured V L b x.
Proof.
move=> l6; rewrite (is_punctured_def V DA) /is_punctured_b; case: Z.ltb_spec => x0; first by split=> // -[]; lia.
case: Z.geb_spec => xd; first by split=> // -[]; lia.
have B k : full_b V L b k (block_of V x k) <->
    k < cell L (shift 1 b 1) /\ full V L b k (block_of V x k) by apply: full_bP; apply: block_of_pos.
have b0 : block_of V x 0 = x by [].
have F : (full_b V L b 0 x || full_b V L b 1 (block_of V x 1) || full_b V L b 2 (block_of V x 2) ||
          full_b V L b 3 (block_of V x 3) || full_b V L b 4 (block_of V x 4) || full_b V L b 5 (block_of V x 5)) <->
         in_full_block V L b 0 x.
  split.
    have at_ k : 0 <= k -> full_b V L b k (block_of V x k) -> in_full_block V L b 0 x.
      by move=> k0 /B [kl f]; exists k; rewrite Z.sub_0_r.
    by rewrite -{1}b0 => /orP [/orP [/orP [/orP [/orP []|]|]|]|]; apply: at_.
  case=> j [[j0 jl]]; rewrite Z.sub_0_r => f.
  have : full_b V L b j (block_of V x j) by apply/B.
  have jB : j = 0 \/ j = 1 \/ j = 2 \/ j = 3 \/ j = 4 \/ j = 5 by lia.
  by case: jB => [->|[->|[->|[->|[->| ->]]]]]; rewrite ?b0 => ->; rewrite ?orbT.
split=> [H|[_ /F]]; last by do 5! (case: (full_b _ _ _ _ _) => //=).
by split=> //; apply/F; move: H; do 5! (case: (full_b _ _ _ _ _) => //=).
Qed.

(* ---- The size of the cover ----------------------------------------------------------- *)

Lemma wholeP L b s h : cell L (shift 1 b 1) <= 6 -> 0 <= h ->
  whole V L b 0 0 s h <-> intact V L b 0 0 s h.
Proof.
move=> l6 h0; have -> : h = Z.of_nat (Z.to_nat h) by lia.
elim: (Z.to_nat h) s => [|n IH] s; rewrite (whole_def V DA).
  have p1 : pow2 V (Z.of_nat 0) = 1 by rewrite (pow2_def V D).
  rewrite /= /intact /covers p1; have G := @is_punctured_bP L b s l6; split=> [w x xs|].
    have -> : x = s by lia.
    by split; [move=> /G gs; move: w; rewrite gs | lia].
  move=> /(_ s ltac:(lia)) [ng _]; case: ifP => [/G //|_].
  by case: Z.ltb_spec => // s0; apply/Z.geb_le.
have -> : (Z.of_nat n.+1 <=? 0) = false by lia.
have -> : Z.of_nat n.+1 - 1 = Z.of_nat n by lia.
have E : pow2 V (Z.of_nat n.+1) = 2 * pow2 V (Z.of_nat n).
  by rewrite Nat2Z.inj_succ -Z.add_1_r (pow2_step D) //; lia.
have p0 := pow2_pos D (h := Z.of_nat n) ltac:(lia).
have S : intact V L b 0 0 s (Z.of_nat n.+1) <->
    intact V L b 0 0 s (Z.of_nat n) /\ intact V L b 0 0 (s + pow2 V (Z.of_nat n)) (Z.of_nat n).
  rewrite /intact /covers E; split=> [I|[I1 I2] x xB].
    by split=> x xB; apply: I; lia.
  by case: (Z.lt_ge_cases x (s + pow2 V (Z.of_nat n))) => c; [apply: I1 | apply: I2]; lia.
by rewrite S -!IH; case: (whole _ _ _ _ _ s _); case: (whole _ _ _ _ _ _ _); split=> // -[].
Qed.

Section Store.

Variables (L : memory) (b : pointer) (d : nat) (P : pred bitseq).
Hypothesis l6 : cell L (shift 1 b 1) <= 6.
Hypothesis PE : forall x, (x < CModel.pow2 d)%num -> is_punctured V L b (Z.of_N x) <-> P (leaf_path d x).

Lemma PE0 x : (x < CModel.pow2 d)%num ->
  P (leaf_path d x) <-> is_punctured V L b (Z.of_N x) \/ 0 <= Z.of_N x < 0.
Proof. by move=> xd; rewrite PE //; split=> [|[|]]; [left | | lia]. Qed.

(* The part of the cover below a node. *)
Lemma cover_size_below (T : Type) (G : bitseq -> T -> T * T) h q s : (size q + h = d)%nat ->
  cover_size V L b 0 0 (Z.of_N (first_leaf d q)) (Z.of_nat h) =
  Z.of_nat (size (Ggm.cover G h (fun y => P (q ++ y)) q s)).
Proof.
elim: h q s => [|h IH] q s E; rewrite (cover_size_def V DA).
  have qd : (size q <= d)%nat by rewrite -E leq_addr.
  have hE : (d - size q = 0)%nat by rewrite -E addKn.
  have := @intact_free V D L b 0 0 d P PE0 q qd; rewrite hE -(@wholeP L b _ _ l6) //.
  rewrite /free hE /=.
  by case: (whole _ _ _ _ _ _ _); case: (P _) => //= -[W1 W2]; [have := W1 isT | have := W2 isT].
have qd : (size q <= d)%nat by rewrite -E leq_addr.
have hE : (d - size q = h.+1)%nat by rewrite -E addKn.
have := @intact_free V D L b 0 0 d P PE0 q qd; rewrite hE -(@wholeP L b _ _ l6); last by lia.
rewrite /free hE => W; case: ifP => [/W nh|w].
  by rewrite cover_no_leaf.
have has_leaf_ : has_leaf h.+1 (fun y => P (q ++ y)).
  by apply: contraFT w => nh; apply/W.
have -> : Z.of_nat h.+1 - 1 = Z.of_nat h by lia.
have sq : (size q < d)%nat by rewrite -E addnS ltnS leq_addr.
rewrite cover_has_leafS // size_cat Nat2Z.inj_add.
have B c := IH (rcons q c) (Ggm.child G q c s) ltac:(by rewrite size_rcons addSn -addnS).
have eqc c : Ggm.cover G h (Ggm.below (fun y => P (q ++ y)) c) (rcons q c) (Ggm.child G q c s) =
    Ggm.cover G h (fun y => P (rcons q c ++ y)) (rcons q c) (Ggm.child G q c s).
  by apply: eq_cover => y _; rewrite /Ggm.below cat_rcons.
rewrite !eqc -!B !(first_leaf_rcons _ sq).
have -> : (d - (size q).+1 = h)%nat by apply: succn_inj; rewrite subnSK.
by rewrite N.add_0_r N2Z.inj_add (pow2_agree D).
Qed.

End Store.

(* ---- The key of the contracts is the model's --------------------------------------------- *)

Local Notation prg := (@acsl_prg V).
Local Notation prgl := (ContractsSound.prg_l prg).
Local Notation prgr := (ContractsSound.prg_r prg).
Local Notation K := (punctured_key V).

Lemma opened_shape L s : opened V L s ->
  1 <= cell L s <= 32 /\ cell L (shift 1 s 1) = levels V (cell L s).
Proof. by case=> _ [[[_ [? [? _]]] _] _]. Qed.

Lemma opened_levels L s : opened V L s -> cell L (shift 1 s 1) <= 6.
Proof. by move=> /opened_shape [d32 ->]; case: (levels_bounds d32); lia. Qed.

Lemma cover_array d P R : exists a : array (seed_t V), mkseq a (size (K d P R)) = key_nodes V d P R.
Proof.
exists (nth (Node 0%num 0 (seed_value V R)) (key_nodes V d P R)).
by rewrite -[size (K d P R)](size_map (encode d)); apply: mkseq_nth.
Qed.

Lemma in_nth_error (T : Type) (x : T) l : List.In x l ->
  exists2 k, (k < size l)%nat & List.nth_error l k = Some x.
Proof.
elim: l => //= y l IH [<-|/IH [k kl E]]; first by exists 0%nat.
by exists k.+1.
Qed.

(* Each node of a key has the seed that the contracts' recursion gives it. *)
Lemma key_seed d P R n : List.In n (K d P R) ->
  n.2 = node_seed V (seed_value V R) (Z.of_nat d) (Z.of_N (first_leaf d n.1)) (Z.of_nat (d - size n.1)).
Proof.
move=> nK; have [a aE] := cover_array d P R.
have [[ok _] _] := contract_inv_complete aE.
have [k kn E] := in_nth_error nK.
have ak : a k = encode d n.
  have := congr1 (fun l => List.nth_error l k) aE; rewrite /key_nodes.
  rewrite (List.map_nth_error (encode d) k _ E) => H.
  have := nth_error_nth (Node 0%num 0 (seed_value V R)) H.
  by rewrite nth_mkseq.
have := ok k kn; rewrite /Contracts.correct_node ak /encode /= => -[hd [_ [T ->]]].
case/andP: T => _ T; rewrite (@node_seed_agree V D (seed_value V R) d (d - (d - size n.1)) (d - size n.1)) //.
by rewrite subnKC.
Qed.

Lemma in_map_fst (A : eqType) (B : Type) (q : A) (l : seq (A * B)) :
  q \in map fst l -> exists2 n, List.In n l & n.1 = q.
Proof.
elim: l => //= n l IH; rewrite inE => /orP [/eqP ->|/IH [m ml <-]]; first by exists n; [left |].
by exists m; [right |].
Qed.

Lemma map_fst_in (A : eqType) (B : Type) (n : A * B) (l : seq (A * B)) :
  List.In n l -> n.1 \in map fst l.
Proof. by elim: l => //= m l IH [->|/IH H]; rewrite inE ?eqxx // H orbT. Qed.

Lemma pair_quot d q : Z.quot (Z.of_N (first_leaf d q)) 2 = pair_of d q.
Proof. by rewrite /pair_of N2Z.inj_div Z.quot_div_nonneg //; lia. Qed.

Lemma zero_seed_iff L p : zero_seed V (pprf_seed_at L p) <->
  forall q, span pprf_seed_cells p 0 0 q -> cell L q = 0.
Proof.
split=> [Z q|Z]; first exact: zero_seed_cells Z.
by split; apply: Z; split=> //=; rewrite /pprf_seed_cells /shift /=; lia.
Qed.

Theorem acsl_store_holds L s d (P : pred bitseq) R : store_holds V L s d P R <->
  [/\ cell L s = Z.of_nat d, slots_key V L (seed_value V R) s &
      forall x, (x < CModel.pow2 d)%num -> is_punctured V L s (Z.of_N x) <-> P (leaf_path d x)].
Proof.
pose set_is := forall x, (x < CModel.pow2 d)%num -> is_punctured V L s (Z.of_N x) <-> P (leaf_path d x).
have PE (H : set_is) x : (x < CModel.pow2 d)%num -> P (leaf_path d x) <-> is_punctured V L s (Z.of_N x) \/ 0 <= Z.of_N x < 0.
  by move=> xd; rewrite H //; split=> [|[|]]; [left | | lia].
have live_ (H : set_is) := @acsl_live_cover V D DL L s 0 0 d P (PE H) R.
have last_ : opened V L s -> cell L s = Z.of_nat d ->
    pow2 V (Z.of_nat d - 1) = Z.of_N (CModel.pow2 d.-1).
  move=> /opened_shape [d32 _] dE; rewrite dE in d32.
  by rewrite -(pow2_agree D); congr pow2; case: (d) d32 => [|e]; lia.
have count_ (H : set_is) : opened V L s -> cell L s = Z.of_nat d ->
    cover_size V L s 0 0 0 (cell L s) = Z.of_nat (size (K d P R)).
  move=> O dE; have := @cover_size_below L s d P (opened_levels O) H _ (@acsl_family V d) d [::] (seed_value V R).
  by rewrite add0n dE => /(_ erefl) <-.
split=> [[]|[dE [[O [seeds_ clean_]] count] H]].
  rewrite /store_depth => dE O H seeds_ clean_ count; split=> //; split; last by rewrite count_.
  split=> //; split=> [t h|j].
    rewrite dE => /(live_ H) [q qK [-> ->]].
    have [n nK nE] := in_map_fst qK; have := seeds_ n nK.
    by rewrite /store_slot nE pair_quot => ->; rewrite (key_seed nK) nE.
  rewrite dE (last_ O dE) => jB.
  case: (List.in_dec Z.eq_dec j (map (fun n => pair_of d n.1) (K d P R))) => [jK|nj]; last first.
    left; apply/zero_seed_iff; exact: clean_.
  right; case: (proj1 (List.in_map_iff _ _ _) jK) => n [<- nK].
  exists (Z.of_N (first_leaf d n.1)), (Z.of_nat (d - size n.1)); split; last exact: pair_quot.
  by apply/(live_ H); exists n.1 => //; apply: map_fst_in.
split=> //.
- move=> n nK; rewrite (key_seed nK) /store_slot -pair_quot -dE; apply: seeds_.
  by rewrite dE; apply/(live_ H); exists n.1; first exact: map_fst_in.
- move=> j jB nj; apply/zero_seed_iff.
  case: (clean_ j); [by rewrite dE (last_ O dE) | by [] | case=> t [h []]].
  rewrite dE => /(live_ H) [q qK [-> _]]; rewrite pair_quot => E; case: nj; rewrite -E.
  by have [n nK <-] := in_map_fst qK; apply: (List.in_map (fun n => pair_of d n.1)).
- by rewrite -(count_ H O dE).
Qed.

(* ---- What the functions do, in the model's terms ----------------------------------------- *)

Lemma eval_value d (P : pred bitseq) R x : (x < CModel.pow2 d)%num ->
  eval (@acsl_family V d) (K d P R) (leaf_path d x) =
  if P (leaf_path d x) then None else Some (leaf_value V (seed_value V R) (Z.of_nat d) (Z.of_N x)).
Proof.
move=> xd; have [a aE] := cover_array d P R.
have [_ covers_at] := contract_inv_complete aE.
symmetry; apply: (@contract_eval_sound _ prg (seed_value V R) d a _ P (leaf_path d x) _ (size_leaf_path d x) aE).
rewrite leaf_pathK //; split; first by rewrite covers_at //; case: (P _).
by case: (P _) => // v [<-]; apply: leaf_value_agree.
Qed.

Lemma eval_outside d (P : pred bitseq) R x : (x < CModel.pow2 d)%num ->
  eval (@acsl_family V d) (K d P R) (leaf_path d x) = None <-> P (leaf_path d x).
Proof. by move=> xd; rewrite eval_value //; case: (P _). Qed.

Lemma bytes_zero L out : seed_bytes V L out 0 0 -> value_zero L out.
Proof.
move=> B q [q1 q2]; have b0 k : byte_of V 0 k = 0.
  by rewrite /byte_of Z.shiftr_0_l.
pose k := snd q - snd out; have kB : 0 <= k < 16 by rewrite /k; lia.
case: (Z.lt_ge_cases k 8) => c.
  have [+ _] := B k ltac:(lia); rewrite b0.
  by have <- : q = shift 1 out k by case: q q1 @k {q2 kB c} => ? ? /= ->; rewrite /shift; congr pair; lia.
have [_] := B (k - 8) ltac:(lia); rewrite b0.
by have <- : q = shift 1 out (8 + (k - 8))
  by case: q q1 @k {q2 kB c} => ? ? /= ->; rewrite /shift; congr pair; lia.
Qed.

Lemma store_head L s r : opened V L s -> List.In r (store_memory V L s) ->
  forall c, 0 <= c < 9 -> ~ r (shift 1 s c).
Proof.
move=> [_ [_ [_ [[S1 _] [[S2 _] [_ S]]]]]] + c cB => /=.
have inS : span 16 s 0 0 (shift 1 s c) by split=> //=; lia.
have sum k : 1 <= k /\ k <= 5 -> ~ span 2 (points V (cell L (shift 1 (shift 1 s 3) k))) 0
    (words V (cell L s) k - 1) (shift 1 s c).
  by move=> kB; have [[S' _] _] := S k kB; exact: (S' _ (or_introl erefl) _ inS).
case=> [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]].
- by case=> _ /=; lia.
- exact: (S1 _ (or_introl erefl) _ inS).
- exact: (S2 _ (or_introl erefl) _ inS).
all: by apply: sum.
Qed.

Lemma in_cat_iff (T : Type) (x : T) l1 l2 : List.In x (l1 ++ l2) -> List.In x l1 \/ List.In x l2.
Proof. by elim: l1 => [|y l1 IH] /=; [right | case=> [->|/IH []]; auto]. Qed.

Lemma depth_kept Pre Post s rs : opened V Pre s ->
  (forall r, List.In r rs -> ~ r (shift 1 s 0)) ->
  unchanged Pre Post (store_memory V Pre s ++ rs) -> cell Post s = cell Pre s.
Proof.
move=> O out U; have sE : s = shift 1 s 0 by case: (s) => ? ?; rewrite /shift /=; congr pair; lia.
rewrite sE; apply: U => r ir rq; case: (in_cat_iff ir) => i; last exact: out i rq.
by apply: (store_head O i _ rq); lia.
Qed.

(* On an error: the store is as it was, word by word. *)
Lemma store_unchanged Pre Post s rs : opened V Pre s ->
  same_words V Pre Post s -> same_slots V Pre Post s -> cell Post (shift 1 s 9) = cell Pre (shift 1 s 9) ->
  unchanged Pre Post (store_memory V Pre s ++ rs) -> unchanged Pre Post rs.
Proof.
move=> O [[dE [_ [leavesE sumE]]] W] SS nE U q out.
have [d32 lE] := opened_shape O.
have lB := levels_bounds d32.
have word k i : 0 <= k < levels V (cell Pre s) -> 0 <= i < words V (cell Pre s) k ->
    any_word V Pre s k i = any_word V Post s k i /\ full_word V Pre s k i = full_word V Post s k i.
  by move=> kB iB; apply: W; rewrite ?lE.
have summary k : 1 <= k <= 5 ->
    span 2 (points V (cell Pre (shift 1 (shift 1 s 3) k))) 0 (words V (cell Pre s) k - 1) q ->
    cell Post q = cell Pre q.
  move=> kB; case: (Z.lt_ge_cases k (levels V (cell Pre s))) => c; last first.
    by rewrite (words_none d32 c) => -[_]; lia.
  move=> /span_cell [//|i [j [iB [jB ->]]]].
  have [] := word k i ltac:(lia) iB; rewrite /any_word /full_word.
  have -> : (k =? 0) = false by lia.
  rewrite -(sumE k ltac:(lia)) => A F; have [->|->] : j = 0 \/ j = 1 by lia.
    by have -> : shift 1 (shift 2 (points V (cell Pre (shift 1 (shift 1 s 3) k))) i) 0 =
      shift 2 (points V (cell Pre (shift 1 (shift 1 s 3) k))) i
      by rewrite /shift /=; congr pair; lia.
  by [].
have no r : List.In r (store_memory V Pre s) -> r q \/ ~ r q.
  by move=> /= [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]]; apply: span_dec.
case: (no _ (or_introl erefl)) => [[q1 q2]|n0].
  have -> // : q = shift 1 s 9 by case: q q1 q2 {no out summary} => ? ? /= -> ?; rewrite /shift; congr pair; lia.
case: (no _ (or_intror (or_introl erefl))) => [/span_cell [//|i [j [iB [jB ->]]]]|n1].
  have [E0 E1] := SS i iB; have [->|->] : j = 0 \/ j = 1 by lia.
    by have -> : shift 1 (shift 2 (points V (cell Pre (shift 1 s 10))) i) 0 =
      shift 2 (points V (cell Pre (shift 1 s 10))) i by rewrite /shift /=; congr pair; lia.
  by [].
case: (no _ (or_intror (or_intror (or_introl erefl)))) => [/span_cell [//|i [j [iB [jB ->]]]]|n2].
  have [+ _] := word 0 i ltac:(lia) iB; rewrite /any_word /= -leavesE.
  have -> : j = 0 by lia.
  by have -> : shift 1 (shift 1 (points V (cell Pre (shift 1 s 2))) i) 0 =
    shift 1 (points V (cell Pre (shift 1 s 2))) i by rewrite /shift /=; congr pair; lia.
have nth_ k : 1 <= k <= 5 -> ~ span 2 (points V (cell Pre (shift 1 (shift 1 s 3) k))) 0
    (words V (cell Pre s) k - 1) q \/ cell Post q = cell Pre q.
  move=> kB; case: (span_dec 2 (points V (cell Pre (shift 1 (shift 1 s 3) k))) 0
    (words V (cell Pre s) k - 1) q) => H; last by left.
  by right; apply: summary H.
case: (nth_ 1 ltac:(lia)) => // n3; case: (nth_ 2 ltac:(lia)) => // n4.
case: (nth_ 3 ltac:(lia)) => // n5; case: (nth_ 4 ltac:(lia)) => // n6.
case: (nth_ 5 ltac:(lia)) => // n7.
apply: U => r ir rq; case: (in_cat_iff ir) => i; last exact: out i rq.
by case: i rq => [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]].
Qed.

(* What each function needs of its key, and that it tells NULL and a copy from one. *)
Lemma not_packed L key : in_slots V L key -> ~ packed V L key.
Proof. by move=> i; apply. Qed.

Lemma punctured_slots L key x : in_slots V L key -> punctured V L key x <-> is_punctured V L (store_of key) x.
Proof. by move=> i; split=> [[[/(not_packed i)]|[]]|] // H; right; split=> //; exact: not_packed. Qed.

Lemma key_slots L key R : writable L (span key_cells key 0 0) -> in_slots V L key -> key_apart V L key ->
  slots_key V L R (store_of key) -> AcslApi.key V L R key.
Proof. by move=> w i A K; split=> //; split=> [/(not_packed i)|_]. Qed.

Lemma slots_key_usable L key d P : slots_key_at V L key d P ->
  opened V L (store_of key) /\ AcslApi.key V L (seed_value V (key_root V)) key.
Proof.
case=> w i A _ H; have [_ I _] := proj1 (acsl_store_holds _ _ _ _ _) H.
by split; [case: H | exact: key_slots].
Qed.

Lemma key_usable L key d P : own_key V L key d P ->
  [/\ key <> null V, ~ copied V L key & opened V L (store_of key) /\
      AcslApi.key V L (seed_value V (key_root V)) key].
Proof. by case=> nn nc H; split=> //; exact: slots_key_usable H. Qed.

Lemma usable_key L key : usable V L key -> AcslApi.usable V L (seed_value V (key_root V)) key.
Proof.
case=> [->|[[w c]|[d [P H]]]]; [by left | by right; split=> //; left |].
by right; split; [case: H | right; have [] := slots_key_usable H].
Qed.

Lemma usable_family L key : usable V L key ->
  key = null V \/ copied V L key \/ tree_family V (family_of L key).
Proof. by case=> [->|[[_ c]|[d [P []]]]]; [left | right; left | right; right]. Qed.

Lemma apart_outside L key out : in_slots V L key ->
  separated [:: value_cells out; span key_cells key 0 0] -> outside_store V L (store_of key) (value_cells out) ->
  value_outside V L key out.
Proof.
move=> i S [A1 [A2 [A3 A4]]]; split=> //; split=> [/(not_packed i)|_] //; by do 3 (split=> //).
Qed.

(* Of a key with pair slots a function writes what is theirs. *)
Lemma packed_null L key : in_slots V L key -> pointer_eqb (points V (cell L (shift 1 (shift 1 key 4) 16))) (null V) = true.
Proof. by move=> ->; rewrite /pointer_eqb !Z.eqb_refl. Qed.

Lemma no_span n p lo hi q : hi < lo -> 0 <= n -> ~ span n p lo hi q.
Proof. by move=> h n0 [_]; nia. Qed.

Lemma slots_unchanged Pre Post key rs : in_slots V Pre key ->
  unchanged Pre Post (key_memory V Pre key ++ rs) -> unchanged Pre Post (store_memory V Pre (store_of key) ++ rs).
Proof.
move=> i U q out; apply: U => r; rewrite /key_memory packed_null // => ir.
case: ir => [<-|ir]; first by apply: out; left.
case: ir => [<-|ir]; first by apply: out; right; left.
case: ir => [<-|ir]; first by apply: out; do 2 right; left.
case: ir => [<-|ir]; first by apply: out; do 3 right; left.
case: ir => [<-|ir]; first by apply: out; do 4 right; left.
case: ir => [<-|ir]; first by apply: out; do 5 right; left.
case: ir => [<-|ir]; first by apply: out; do 6 right; left.
case: ir => [<-|ir]; first by apply: out; do 7 right; left.
do 4 (case: ir => [<-|ir]; first by apply: no_span).
by apply: out; do 8 right.
Qed.

(* After a change the store is the pair slots as before. *)
Lemma slots_after Pre Post key R : in_slots V Pre key -> AcslApi.key V Post R key -> same_head V Pre Post key ->
  in_slots V Post key /\ slots_key V Post R (store_of key).
Proof.
move=> i [_ [_ K]] [_ [_ [_ [_ [_ same]]]]]; have iP : in_slots V Post key by rewrite /in_slots -same.
by split=> //; case: (K (not_packed iP)).
Qed.

Lemma punctured_depth L s d (P : pred bitseq) R : store_holds V L s d P R ->
  cell L s = Z.of_nat d /\ forall x, pow2 V (cell L s) > x <-> Z.of_N (CModel.pow2 d) > x.
Proof. by case=> dE *; split=> // x; rewrite -(pow2_agree D) -dE. Qed.

Lemma results r : r = PPRF_OK \/ r = PPRF_ERR_RANGE \/ r = PPRF_ERR_PUNCTURED \/ prg_error V r ->
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO].
Proof. by case=> [->|[->|[->|[[->|->] _]]]] /=; tauto. Qed.

(* pprf_eval: the model's value. *)
Theorem opt_eval_sound Pre Post key d x out result (P : pred bitseq) :
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_contract V Pre Post key (Z.of_N x) out result ->
  let v := eval (@acsl_family V d) (punctured_key V d P (key_root V)) (leaf_path d x) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK -> exists2 y, v = Some y & value_is Post out y) /\
  (result <> PPRF_OK -> value_zero Post out) /\
  unchanged Pre Post [:: value_cells out].
Proof.
move=> x64 ok [on wo ty so ao] C v; have [kn nc [O I]] := key_usable ok.
have [_ _ [wr i A F H]] := ok; have [dE set] : cell Pre (store_of key) = Z.of_nat d /\ forall x,
  (x < CModel.pow2 d)%num -> is_punctured V Pre (store_of key) (Z.of_N x) <-> P (leaf_path d x) by case: H.
case: C => [||U [_ [_ E]]]; first by split.
  split; [by right; split=> //; right | by right; right | by right | right; right; split=> //; right].
  exact: apart_outside.
have dP : cell Post (store_of key) = Z.of_nat d.
  rewrite -dE; apply: (depth_kept (s := store_of key) (rs := [:: value_cells out]) O).
    move=> r [<-|//] q; case: ao => -[S _] _; apply: (S _ (or_introl erefl) _ q).
    by split=> //=; lia.
  by move=> q Q; apply: U => r [<-|//]; apply: Q; rewrite /store_memory /=; tauto.
have p2 : pow2 V (cell Post (shift 1 key 4)) = Z.of_N (CModel.pow2 d).
  by rewrite -[shift 1 key 4]/(store_of key) dP (pow2_agree D).
have En := pprf_eval_ensures_null _ _ _ _ _ _ _ E.
have Ef := pprf_eval_ensures_forked _ _ _ _ _ _ _ E.
have Er := pprf_eval_ensures_range _ _ _ _ _ _ _ E.
have Ep := pprf_eval_ensures_punctured _ _ _ _ _ _ _ E.
have Eo := pprf_eval_ensures_others _ _ _ _ _ _ _ E.
have Ev := pprf_eval_ensures_value _ _ _ _ _ _ _ E.
have Ee := pprf_eval_ensures_error _ _ _ _ _ _ _ E.
rewrite /depth p2 in Er Ep; rewrite /depth -[shift 1 key 4]/(store_of key) dP in Ev.
rewrite (punctured_slots _ i) in Ep.
have rE : result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num.
  by rewrite Er; split=> [[_ [_ [_]]]|]; [lia | move=> ?; do 3 (split=> //); lia].
have pE : result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None.
  rewrite Ep; split=> [[_ [_ [_ [xd g]]]]|[xd]].
    have {}xd : (x < CModel.pow2 d)%num by lia.
    by split=> //; apply/eval_outside/set.
  by move/eval_outside => /(_ xd) /(set _ xd) g; do 3 (split=> //); split; [lia|].
split.
  apply: results; case: Eo => [e|[e|[e|e]]]; [by left | | | by right].
    by case: (proj1 En e) => [/kn|/on].
  by case: (proj1 Ef e) => _ [_ /nc].
split; first exact: rE; split; first exact: pE; split.
  move=> rK; have xd : (x < CModel.pow2 d)%num.
    case: (N.lt_ge_cases x (CModel.pow2 d)) => // c.
    by have e : result = PPRF_ERR_RANGE; [apply/rE; lia | rewrite rK in e].
  have nP : ~~ P (leaf_path d x).
    apply/negP => Px; have : result = PPRF_ERR_PUNCTURED by apply/pE; split=> //; apply/eval_outside.
    by rewrite rK.
  have [lo [hi [B M]]] := Ev rK.
  exists (seed_from_words V lo hi); last by exists lo, hi.
  by rewrite /v eval_value // (negbTE nP) M.
by split=> // rN; apply: bytes_zero; apply: Ee.
Qed.

Lemma same_leaf d x y : (x < CModel.pow2 d)%num -> (y < CModel.pow2 d)%num ->
  (leaf_path d y == leaf_path d x) <-> y = x.
Proof.
move=> xd yd; split=> [/eqP E|->]; last exact: eqxx.
by rewrite -(leaf_pathK xd) -(leaf_pathK yd) E.
Qed.

Lemma in_range d first last y : (first < CModel.pow2 d)%num -> (last < CModel.pow2 d)%num ->
  (y < CModel.pow2 d)%num ->
  in_region (Range (leaf_path d first) (leaf_path d last)) (leaf_path d y) <->
  (first <= y /\ y <= last)%num.
Proof.
move=> fd ld yd; rewrite /= !leaf_le_num ?size_leaf_path // !leaf_pathK //.
by split=> [/andP [/N.leb_spec0 ? /N.leb_spec0 ?]|[? ?]] //; apply/andP; split; apply/N.leb_spec0.
Qed.

(* pprf_punct: the model's key after the puncture. *)
Theorem opt_punct_sound Pre Post key d x result (P : pred bitseq) :
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P ->
  pprf_punct_contract V Pre Post key (Z.of_N x) result ->
  let p := leaf_path d x in
  let v := eval (@acsl_family V d) (punctured_key V d P (key_root V)) p in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK -> store_holds V Post (store_of key) d (predU P (pred1 p)) (key_root V)) /\
  (result <> PPRF_OK -> unchanged Pre Post [::]) /\
  unchanged Pre Post (store_memory V Pre (store_of key)).
Proof.
move=> x64 ok C p v; have [kn nc [O I]] := key_usable ok.
have [_ _ [wr i A F H]] := ok; have [dE set] : cell Pre (store_of key) = Z.of_nat d /\ forall x,
  (x < CModel.pow2 d)%num -> is_punctured V Pre (store_of key) (Z.of_N x) <-> P (leaf_path d x) by case: H.
case: C => [||U [_ [_ E]]]; first by [].
  by split; right; [split=> //; right | right].
have U0 := slots_unchanged (rs := [::]) i U.
have {}U : unchanged Pre Post (store_memory V Pre (store_of key)) by rewrite cats0 in U0.
have dP : cell Post (store_of key) = Z.of_nat d by rewrite -dE; apply: depth_kept O _ U0.
have p2 : pow2 V (cell Post (shift 1 key 4)) = Z.of_N (CModel.pow2 d).
  by rewrite -[shift 1 key 4]/(store_of key) dP (pow2_agree D).
have En := pprf_punct_ensures_null _ _ _ _ _ _ E.
have Ef := pprf_punct_ensures_forked _ _ _ _ _ _ E.
have [iP Ek] := slots_after i (proj1 (pprf_punct_ensures_key _ _ _ _ _ _ E (conj kn nc))) (proj2 (pprf_punct_ensures_key _ _ _ _ _ _ E (conj kn nc))).
have Er := pprf_punct_ensures_range _ _ _ _ _ _ E.
have Ep := pprf_punct_ensures_punctured _ _ _ _ _ _ E.
have Eo := pprf_punct_ensures_others _ _ _ _ _ _ E.
have Eg := pprf_punct_ensures_leaves _ _ _ _ _ _ E.
have Ee := pprf_punct_ensures_error_slots _ _ _ _ _ _ E.
rewrite /depth p2 in Er Ep; rewrite (punctured_slots _ i) in Ep.
rewrite -[shift 1 key 4]/(store_of key) in Ee.
have rE : result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num.
  by rewrite Er; split=> [[_ [_]]|]; [lia | move=> ?; do 2 (split=> //); lia].
have pE : result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None.
  rewrite Ep; split=> [[_ [_ [xd g]]]|[xd]].
    have {}xd : (x < CModel.pow2 d)%num by lia.
    by split=> //; apply/eval_outside/set.
  by move/eval_outside => /(_ xd) /(set _ xd) g; do 2 (split=> //); split; [lia|].
split.
  apply: results; case: Eo => [e|[e|[e|[e|[e|[e|[_ [pk _]]]]]]]];
    [by left | | | by right; left | by do 2 right; left | by do 3 right | by case: (not_packed i pk)].
    by case: (kn (proj1 En e)).
  by case: (proj1 Ef e) => _ /nc.
split; first exact: rE; split; first exact: pE; split.
  move=> rK; have xd : (x < CModel.pow2 d)%num.
    case: (N.lt_ge_cases x (CModel.pow2 d)) => // c.
    by have e : result = PPRF_ERR_RANGE; [apply/rE; lia | rewrite rK in e].
  apply/acsl_store_holds; split=> // y yd.
  rewrite -(punctured_slots _ iP) (Eg rK) (punctured_slots _ i) (set y yd) /=; split=> [[->//|e]|/orP [?|e]]; [ | by left | right].
    by apply/orP; right; apply/same_leaf => //; lia.
  by move/same_leaf: e => -> //.
split=> // rN; have [SW [SS nE]] := Ee rN kn (not_packed i); exact: (store_unchanged O SW SS (esym nE) U0).
Qed.

(* pprf_eval_punct: the model's value and the model's key after the puncture. *)
Theorem opt_eval_punct_sound Pre Post key d x out result (P : pred bitseq) :
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_punct_contract V Pre Post key (Z.of_N x) out result ->
  let p := leaf_path d x in
  let v := eval (@acsl_family V d) (punctured_key V d P (key_root V)) p in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK ->
     (exists2 y, v = Some y & value_is Post out y) /\
     store_holds V Post (store_of key) d (predU P (pred1 p)) (key_root V)) /\
  (result <> PPRF_OK -> unchanged Pre Post [:: value_cells out] /\ value_zero Post out) /\
  unchanged Pre Post (store_memory V Pre (store_of key) ++ [:: value_cells out]).
Proof.
move=> x64 ok [on wo ty so ao] C p v; have [kn nc [O I]] := key_usable ok.
have [_ _ [wr i A F H]] := ok; have [dE set] : cell Pre (store_of key) = Z.of_nat d /\ forall x,
  (x < CModel.pow2 d)%num -> is_punctured V Pre (store_of key) (Z.of_N x) <-> P (leaf_path d x) by case: H.
case: C => [||U [_ [_ E]]]; first by split.
  split; [by right; split=> //; right | by right; right | by right | right; right; split=> //; right].
  exact: apart_outside.
have {}U := slots_unchanged (rs := [:: value_cells out]) i U.
have dP : cell Post (store_of key) = Z.of_nat d.
  rewrite -dE; apply: (depth_kept O _ U) => r [<-|//] q; case: ao => -[S _] _.
  by apply: (S _ (or_introl erefl) _ q); split=> //=; lia.
have p2 : pow2 V (cell Post (shift 1 key 4)) = Z.of_N (CModel.pow2 d).
  by rewrite -[shift 1 key 4]/(store_of key) dP (pow2_agree D).
have En := pprf_eval_punct_ensures_null _ _ _ _ _ _ _ E.
have Ef := pprf_eval_punct_ensures_forked _ _ _ _ _ _ _ E.
have [iP Ek] := slots_after i (proj1 (pprf_eval_punct_ensures_key _ _ _ _ _ _ _ E (conj kn nc))) (proj2 (pprf_eval_punct_ensures_key _ _ _ _ _ _ _ E (conj kn nc))).
have Er := pprf_eval_punct_ensures_range _ _ _ _ _ _ _ E.
have Ep := pprf_eval_punct_ensures_punctured _ _ _ _ _ _ _ E.
have Eo := pprf_eval_punct_ensures_others _ _ _ _ _ _ _ E.
have Eg := pprf_eval_punct_ensures_leaves _ _ _ _ _ _ _ E.
have Ee := pprf_eval_punct_ensures_error_slots _ _ _ _ _ _ _ E.
have Ev := pprf_eval_punct_ensures_value _ _ _ _ _ _ _ E.
have Ez := pprf_eval_punct_ensures_error_out _ _ _ _ _ _ _ E.
rewrite /depth p2 in Er Ep; rewrite /depth -[shift 1 key 4]/(store_of key) dP in Ev.
rewrite (punctured_slots _ i) in Ep; rewrite -[shift 1 key 4]/(store_of key) in Ee.
have rE : result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num.
  by rewrite Er; split=> [[_ [_ [_]]]|]; [lia | move=> ?; do 3 (split=> //); lia].
have pE : result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None.
  rewrite Ep; split=> [[_ [_ [_ [xd g]]]]|[xd]].
    have {}xd : (x < CModel.pow2 d)%num by lia.
    by split=> //; apply/eval_outside/set.
  by move/eval_outside => /(_ xd) /(set _ xd) g; do 3 (split=> //); split; [lia|].
split.
  apply: results; case: Eo => [e|[e|[e|[e|[e|[e|[_ [pk _]]]]]]]];
    [by left | | | by right; left | by do 2 right; left | by do 3 right | by case: (not_packed i pk)].
    by case: (proj1 En e) => [/kn|/on].
  by case: (proj1 Ef e) => _ [_ /nc].
split; first exact: rE; split; first exact: pE; split.
  move=> rK; have xd : (x < CModel.pow2 d)%num.
    case: (N.lt_ge_cases x (CModel.pow2 d)) => // c.
    by have e : result = PPRF_ERR_RANGE; [apply/rE; lia | rewrite rK in e].
  have nP : ~~ P (leaf_path d x).
    apply/negP => Px; have : result = PPRF_ERR_PUNCTURED by apply/pE; split=> //; apply/eval_outside.
    by rewrite rK.
  split.
    have [lo [hi [B M]]] := Ev rK.
    exists (seed_from_words V lo hi); last by exists lo, hi.
    by rewrite /v eval_value // (negbTE nP) M.
  apply/acsl_store_holds; split=> // y yd.
  rewrite -(punctured_slots _ iP) (Eg rK) (punctured_slots _ i) (set y yd) /=; split=> [[->//|e]|/orP [?|e]]; [ | by left | right].
    by apply/orP; right; apply/same_leaf => //; lia.
  by move/same_leaf: e => -> //.
split=> // rN; have [SW [SS nE]] := Ee rN kn (not_packed i).
by split; [exact: (store_unchanged O SW SS (esym nE) U) | apply: bytes_zero; apply: Ez].
Qed.

(* pprf_punct_range: the model's key after the puncture of the range. *)
Theorem opt_punct_range_sound Pre Post key d first last result (P : pred bitseq) :
  c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) -> own_key V Pre key d P ->
  pprf_punct_range_contract V Pre Post key (Z.of_N first) (Z.of_N last) result ->
  let range := Range (leaf_path d first) (leaf_path d last) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (first <= last /\ last < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (first <= last /\ last < CModel.pow2 d)%num /\
     forall y, (first <= y /\ y <= last)%num -> P (leaf_path d y)) /\
  (result = PPRF_OK -> store_holds V Post (store_of key) d (predU P (in_region range)) (key_root V)) /\
  (result <> PPRF_OK -> unchanged Pre Post [::]) /\
  unchanged Pre Post (store_memory V Pre (store_of key)).
Proof.
move=> f64 l64 ok C range; have [kn nc [O I]] := key_usable ok.
have [_ _ [wr i A F H]] := ok; have [dE set] : cell Pre (store_of key) = Z.of_nat d /\ forall x,
  (x < CModel.pow2 d)%num -> is_punctured V Pre (store_of key) (Z.of_N x) <-> P (leaf_path d x) by case: H.
case: C => [||U [_ [_ E]]]; first by [].
  by split; right; [split=> //; right | right].
have U0 := slots_unchanged (rs := [::]) i U.
have {}U : unchanged Pre Post (store_memory V Pre (store_of key)) by rewrite cats0 in U0.
have dP : cell Post (store_of key) = Z.of_nat d by rewrite -dE; apply: depth_kept O _ U0.
have p2 : pow2 V (cell Post (shift 1 key 4)) = Z.of_N (CModel.pow2 d).
  by rewrite -[shift 1 key 4]/(store_of key) dP (pow2_agree D).
have En := pprf_punct_range_ensures_null _ _ _ _ _ _ _ E.
have Ef := pprf_punct_range_ensures_forked _ _ _ _ _ _ _ E.
have [iP Ek] := slots_after i (proj1 (pprf_punct_range_ensures_key _ _ _ _ _ _ _ E (conj kn nc))) (proj2 (pprf_punct_range_ensures_key _ _ _ _ _ _ _ E (conj kn nc))).
have Er := pprf_punct_range_ensures_range _ _ _ _ _ _ _ E.
have Ep := pprf_punct_range_ensures_punctured _ _ _ _ _ _ _ E.
have Eo := pprf_punct_range_ensures_others _ _ _ _ _ _ _ E.
have Eg := pprf_punct_range_ensures_leaves _ _ _ _ _ _ _ E.
have Ee := pprf_punct_range_ensures_error_slots _ _ _ _ _ _ _ E.
rewrite /depth p2 in Er Ep; rewrite -[shift 1 key 4]/(store_of key) in Ee.
have rE : result = PPRF_ERR_RANGE <-> ~ (first <= last /\ last < CModel.pow2 d)%num.
  by rewrite Er; split=> [[_ [_]]|]; [lia | move=> ?; do 2 (split=> //); lia].
have pE : result = PPRF_ERR_PUNCTURED <-> (first <= last /\ last < CModel.pow2 d)%num /\
    forall y, (first <= y /\ y <= last)%num -> P (leaf_path d y).
  rewrite Ep; split=> [[_ [_ [fl g]]]|[fl g]].
    split=> [|y yB]; first lia.
    by apply/(set y ltac:(lia))/(punctured_slots _ i)/g; lia.
  do 2 (split=> //); split=> [|y yB]; first lia.
  have -> : y = Z.of_N (Z.to_N y) by lia.
  by apply/(punctured_slots _ i)/set; [lia | apply: g; lia].
split.
  apply: results; case: Eo => [e|[e|[e|[e|[e|[e|[_ [pk _]]]]]]]];
    [by left | | | by right; left | by do 2 right; left | by do 3 right | by case: (not_packed i pk)].
    by case: (kn (proj1 En e)).
  by case: (proj1 Ef e) => _ /nc.
split; first exact: rE; split; first exact: pE; split.
  move=> rK; have fl : (first <= last /\ last < CModel.pow2 d)%num.
    have nR : ~ ~ (first <= last /\ last < CModel.pow2 d)%num by move/rE; rewrite rK.
    by lia.
  apply/acsl_store_holds; split=> // y yd.
  have R := @in_range d first last y ltac:(lia) ltac:(lia) yd.
  rewrite -(punctured_slots _ iP) (Eg rK) (punctured_slots _ i) (set y yd); split=> [[Py|yB]|/orP [Py|/R yB]]; [ | | by left | right; lia].
    by apply/orP; left.
  by apply/orP; right; apply/R; lia.
split=> // rN; have [SW [SS nE]] := Ee rN kn (not_packed i); exact: (store_unchanged O SW SS (esym nE) U0).
Qed.

Lemma erased_same L1 L2 b x : (forall q, cell L2 q = cell L1 q) -> cell L1 (shift 1 b 1) <= 6 ->
  is_punctured V L2 b x <-> is_punctured V L1 b x.
Proof.
move=> E l6; rewrite -!is_punctured_bP ?E //.
by rewrite /is_punctured_b /full_b /full_word !E.
Qed.

(* pprf_node_count: the size of the model's key. *)
Theorem opt_node_count_sound Pre Post key d result (P : pred bitseq) :
  own_key V Pre key d P -> pprf_node_count_contract V Pre Post key result ->
  result = Z.of_nat (size (punctured_key V d P (key_root V))) /\ unchanged Pre Post [::].
Proof.
move=> ok C; have [kn nc [O I]] := key_usable ok.
have [_ _ [wr i A F H]] := ok; have [dE set] : cell Pre (store_of key) = Z.of_nat d /\ forall x,
  (x < CModel.pow2 d)%num -> is_punctured V Pre (store_of key) (Z.of_N x) <-> P (leaf_path d x) by case: H.
case: C => [||U [_ [_ E]]]; [by [] | by split; right; split=> //; right |].
split=> //; have same q : cell Post q = cell Pre q by apply: U.
have iP : in_slots V Post key by rewrite /in_slots same.
rewrite (pprf_node_count_ensures_count_slots _ _ _ _ _ E (conj kn nc) (not_packed iP)).
rewrite /depth -[shift 1 key 4]/(store_of key) same dE.
have l6 := opened_levels O.
have l6' : cell Post (shift 1 (store_of key) 1) <= 6 by rewrite same.
have PE' y : (y < CModel.pow2 d)%num -> is_punctured V Post (store_of key) (Z.of_N y) <-> P (leaf_path d y).
  by move=> yd; rewrite (erased_same _ same l6); apply: set.
by have <- := @cover_size_below Post (store_of key) d P l6' PE' _ (@acsl_family V d) d [::]
  (seed_value V (key_root V)) erefl.
Qed.

(* NULL and a key of another process: every function says so. *)
Theorem opt_refuses Pre Post key : usable V Pre key ->
  (forall x out result, c_uint64_t x -> c_uint8_t (cell Pre out) ->
     out = null V \/ writable Pre (value_cells out) ->
     key = null V \/ out = null V \/ separated [:: value_cells out; span key_cells key 0 0] /\
       (copied V Pre key \/ in_slots V Pre key /\ outside_store V Pre (store_of key) (value_cells out)) ->
     pprf_eval_contract V Pre Post key x out result \/ pprf_eval_punct_contract V Pre Post key x out result ->
     (result = PPRF_ERR_NULL <-> key = null V \/ out = null V) /\
     (result = PPRF_ERR_FORKED <-> [/\ key <> null V, out <> null V & copied V Pre key])) /\
  (forall x result, c_uint64_t x -> pprf_punct_contract V Pre Post key x result ->
     (result = PPRF_ERR_NULL <-> key = null V) /\
     (result = PPRF_ERR_FORKED <-> key <> null V /\ copied V Pre key)) /\
  (forall first last result, c_uint64_t first -> c_uint64_t last ->
     pprf_punct_range_contract V Pre Post key first last result ->
     (result = PPRF_ERR_NULL <-> key = null V) /\
     (result = PPRF_ERR_FORKED <-> key <> null V /\ copied V Pre key)) /\
  (forall result, pprf_node_count_contract V Pre Post key result ->
     key = null V \/ copied V Pre key -> result = 0).
Proof.
move=> u; have r := usable_key u; have f := usable_family u; split; last split; last split.
- move=> x out result x64 o8 wo ap; have {}ap : key = null V \/ out = null V \/
      separated [:: value_cells out; span key_cells key 0 0] /\ (copied V Pre key \/ value_outside V Pre key out).
    case: ap => [->|[->|[S [c|[i A]]]]]; [by left | by right; left | by do 2 right; split=> //; left |].
    by do 2 right; split=> //; right; apply: apart_outside.
  move=> [] [||_ [_ [_ E]]]; try by split.
  + have En := pprf_eval_ensures_null _ _ _ _ _ _ _ E.
    have Ef := pprf_eval_ensures_forked _ _ _ _ _ _ _ E.
    by split=> //; rewrite Ef; split=> [[? []]|[]].
  have En := pprf_eval_punct_ensures_null _ _ _ _ _ _ _ E.
  have Ef := pprf_eval_punct_ensures_forked _ _ _ _ _ _ _ E.
  by split=> //; rewrite Ef; split=> [[? []]|[]].
- move=> x result x64 [||_ [_ [_ E]]]; [by [] | by split |].
  by split; [exact: (pprf_punct_ensures_null _ _ _ _ _ _ E) |
             exact: (pprf_punct_ensures_forked _ _ _ _ _ _ E)].
- move=> first last result f64 l64 [||_ [_ [_ E]]]; [by [] | by split |].
  by split; [exact: (pprf_punct_range_ensures_null _ _ _ _ _ _ _ E) |
             exact: (pprf_punct_range_ensures_forked _ _ _ _ _ _ _ E)].
move=> result [||_ [_ [_ E]]]; [by [] | by split |].
exact: (pprf_node_count_ensures_none _ _ _ _ _ E).
Qed.

End Sound.

(* ---- The definitions can be met ----------------------------------------------------- *)

Section Exist.

Variables (T : logic) (root : pprf_seed) (process : Z) (leads : Z -> pointer) (nowhere : pointer).

Local Notation api_of := (api_of T root process leads nowhere).

Lemma api_of_definitions : layout_definitions api_of /\ api_definitions api_of.
Proof.
split; first exact: laid_out_definitions.
split=> // L b lo hi s h /=; (case: (Z.leb_spec h 0) => c; first by have -> : Z.to_nat h = 0%nat by lia);
  have -> : Z.to_nat h = (Z.to_nat (h - 1)).+1 by lia.
  by rewrite /= Z2Nat.id //; lia.
by rewrite /= Z2Nat.id //; lia.
Qed.

(* Whatever the tree, the root, the pointers, and what holds of packed stores. *)
Theorem acsl_api_definitions_exist (key_ : memory -> seed_t T -> pointer -> Prop) gone apart beside firsts lists pages :
  exists shift_right is_punctured whole cover_size,
  let V := @api_intro (layout_intro (defined T) shift_right is_punctured) gone key_ whole cover_size apart beside
    root firsts lists pages process leads nowhere in
  [/\ definitions V, layout_definitions V & api_definitions V].
Proof.
have [DL [W C I]] := api_of_definitions.
do 4 eexists; split; [exact: defined_definitions | exact: DL | split; [exact: W | exact: C | exact: I]].
Qed.

End Exist.

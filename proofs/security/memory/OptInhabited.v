(* SPDX-License-Identifier: Apache-2.0 *)
(* The contracts of opt's API are met: for every suite, every depth that they have and any words of the bitmap shown
   there are functions that meet them, by a memory that is ready (opt_inhabited).  So the theorems that assume such
   functions are about something. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel EvaluationGame Oracle RefGame OptGame.
From Pprf.proofs Require Import Correctness Layout AcslAgree AcslSound ApiSound MemoryGame RefInhabited OptSecurity OptMemory.
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
#[local] Arguments bitmap_cell : simpl never.
#[local] Arguments width : simpl never.

Section Inhabited.
Variable S : suite.
Hypothesis ok : suite_ok S.
Variable d : nat.
Hypothesis d32 : (0 < d <= 32)%N.
Local Notation D := (Z.of_nat d).
Local Notation s := (store_of (1, 0)).
Local Notation V := (opt_logic S where_).
Local Notation V0 := (V (pprf_seed_intro 0 0)).
Local Notation set_in := (set_in S).

(* ---- The functions: what they return, and what they write ----------------------------------------- *)

Definition valued (lo hi : Z) (f : pointer -> Z) (q : pointer) : Z :=
  if lies_in 1 (5, 0) 0 15 q then
    if snd q <? 8 then byte_of V0 lo (snd q) else byte_of V0 hi (snd q - 8)
  else f q.

Definition marked_in (M : memory) (a b : N) (x : Z) : bool :=
  set_in M x || ((Z.of_N a <=? x) && (x <=? Z.of_N b)).
Local Notation range_verdict M := (RefInhabited.range_verdict d (set_in M)).
Definition punctured_by M R a b : pointer -> Z := written S d (marked_in M a b) R (cell M).

Definition run_range M R a b (failing : bool) : Z * (pointer -> Z) :=
  let r := range_verdict M a b failing in
  (r, if r =? PPRF_OK then punctured_by M R a b else cell M).
Definition run_leaf (puncture : bool) M R x (failing : bool) : Z * (pointer -> Z) :=
  let r := range_verdict M x x failing in
  let v := leaf_value (V R) (seed_value (V R) R) D (Z.of_N x) : block S in
  (r, if r =? PPRF_OK then
        valued (low_word v) (high_word v) (if puncture then punctured_by M R x x else cell M)
      else valued 0 0 (cell M)).
Definition functions_of : opt_functions bool :=
  OptFunctions (run_leaf false) (fun M R x => run_range M R x x) (run_leaf true) run_range.

(* When they fail, and which words they leave: of where the nodes are and of the call. *)
Definition told (gs : seq (Z * Z)) (c : call) (o : order bool) : Z := if o.1 then PPRF_ERR_NOMEM else PPRF_OK.
Definition held_by (gs : seq (Z * Z)) (y : Z) : bool := has (fun g => (g.1 <=? y) && (y <? g.1 + 2 ^ g.2)) gs.
Definition ends (c : call) : N * N :=
  match c with
  | EvalCall x | EvalPunctCall x => (sval x, sval x)
  | RangeCall a b => (sval a, sval b)
  end.
Definition after (gs : seq (Z * Z)) (c : call) (y : Z) : bool :=
  [&& 0 <=? y, y <? 2 ^ D & ~~ held_by gs y] || ((Z.of_N (ends c).1 <=? y) && (y <=? Z.of_N (ends c).2)).
Definition words_after (shown : seq pointer) (gs : seq (Z * Z)) (ws : seq Z) (c : call) (o : order bool) : seq Z :=
  if c is EvalCall _ then ws else [seq bitmap_cell (after gs c) (fst q - 10) (snd q) | q <- shown].

(* ---- Positions of nodes --------------------------------------------------------------------------- *)

Lemma span_prefix (q y : bitseq) : size y = d -> (size q <= d)%N ->
  in_span (first_leaf d q) (d - size q) (leaf_num y) -> prefix q y.
Proof.
move=> sy qd; have E : leaf_num y =
    (leaf_num (take (size q) y) * CModel.pow2 (d - size q) + leaf_num (drop (size q) y))%num.
  by rewrite -{1}(cat_take_drop (size q) y) leaf_num_cat size_drop sy.
have lt := leaf_num_lt (drop (size q) y); rewrite size_drop sy in lt.
rewrite /in_span /first_leaf => /andP [/N.leb_spec0 a /N.ltb_spec0 b].
have e : leaf_num (take (size q) y) = leaf_num q by nia.
rewrite -(cat_take_drop (size q) y) (leaf_num_inj _ e) ?prefix_prefix // size_takel // sy //.
Qed.

Lemma held_by_places (P : pred bitseq) y : 0 <= y < 2 ^ D ->
  held_by (places d (bare d P)) y = ~~ P (leaf_path d (Z.to_N y)).
Proof.
move=> yB; set x := leaf_path d (Z.to_N y); have sx : size x = d := size_leaf_path _ _.
have yE : Z.of_N (leaf_num x) = y by rewrite pow2N in yB; rewrite leaf_pathK ?Z2N.id //; lia.
have aE (T : Type) (K : key T) : alive K x = has (fun q => prefix q x) (unzip1 K) by rewrite has_map.
rewrite -(@alive_keyc S d P (zero_block S) _ sx) aE bare_keyc has_map /held_by /places has_map.
apply: eq_in_has => n nK /=.
have qd : (size n.1 <= d)%N by have := map_f fst nK; rewrite mem_cover => /and3P [].
have -> : (Z.of_N (first_leaf d n.1) <=? y) && (y <? Z.of_N (first_leaf d n.1) + 2 ^ Z.of_nat (d - size n.1)) =
    in_span (first_leaf d n.1) (d - size n.1) (leaf_num x).
  rewrite pow2N -yE /in_span; congr andb.
    by apply/Z.leb_spec0/N.leb_spec0; lia.
  by apply/Z.ltb_spec0/N.ltb_spec0; lia.
by apply/idP/idP; [apply: span_prefix | apply: prefix_in_span].
Qed.

Lemma eq_bitmap_cell P Q k c : (forall x, P x = Q x) -> bitmap_cell P k c = bitmap_cell Q k c.
Proof.
move=> E; rewrite /bitmap_cell; case: ifP => _; apply: eq_word => j _; first by rewrite E.
by case: ifP => _; [apply: eq_some_in | apply: eq_all_in].
Qed.

Lemma byte_range v k : 0 <= k -> c_uint8_t (byte_of V0 v k).
Proof. by move=> k0; rewrite byte_ofE //; apply: Z.mod_pos_bound. Qed.

(* ---- A call on a key ------------------------------------------------------------------------------- *)

Section Call.
Variable M : memory.
Hypothesis rights : (forall q, may_read M q) /\ (forall q, may_write M q).
Hypothesis head : headed S d M.
Variable R : pprf_seed.
Local Notation key_in L := (slots_key (V R) L (seed_value (V R) R) s).
Local Notation head_in L := (headed S d L).

(* A key of which the head is this has pair slots, apart from it. *)
Lemma headed_slots L : head_in L -> in_slots (V R) L (1, 0).
Proof. by move=> H; rewrite /in_slots /shift /= (H 20). Qed.

Lemma headed_apart L : head_in L -> key_apart (V R) L (1, 0).
Proof.
move=> H; rewrite /key_apart (at_depth H) (at_leaves H) (at_slots H).
by do 2 (split; first exact: apart); move=> k kB; rewrite (at_summary H); [apply: apart => /=; lia | lia].
Qed.

Lemma whole_key L : (forall q, may_write L q) -> head_in L ->
  AcslApi.key (V R) L (seed_value (V R) R) (1, 0) <-> key_in L.
Proof.
move=> w H; have i := headed_slots H.
split=> [[_ [_ /(_ (not_packed i)) []]] //|K]; apply: key_slots => //; exact: headed_apart.
Qed.

Lemma headed_same L L' : head_in L -> head_in L' -> same_head (V R) L L' (1, 0).
Proof.
move=> H H'; have e c : 0 <= c < 21 -> c <> 13 -> cell L (1, c) = cell L' (1, c) by move=> cB c13; rewrite H ?H'.
by rewrite /same_head /depth /shift /= (e 0) ?(e 1) ?(e 2) ?(e 3) ?(e 4) ?(e 20).
Qed.

Lemma usable_in : AcslApi.usable (V R) M (seed_value (V R) R) (1, 0) -> key_in M.
Proof.
case=> [e|[_ [[+ _]|K]]]; [discriminate e | by rewrite head | exact: (proj1 (whole_key (proj2 rights) head) K)].
Qed.

Lemma nodes_in L : head_in L -> AcslApi.nodes (V R) L (1, 0) = cell L (1, 13).
Proof. by move=> H; rewrite /AcslApi.nodes packed_null //; exact: headed_slots. Qed.

Definition range_verdictE a b f := RefInhabited.range_verdictE d a b f (set_inP d32 head).

Lemma marked_inside a b x : Z.of_N b < 2 ^ D -> marked_in M a b x -> 0 <= x < 2 ^ D.
Proof.
by move=> bD /orP [/(set_inside head) //|/andP [/Z.leb_spec0 ? /Z.leb_spec0 ?]]; lia.
Qed.

(* Nothing but the value changes. *)
Section Beside.
Variable g : pointer -> Z.
Hypothesis beside : forall q, ~ value_cells (5, 0) q -> g q = cell M q.

Lemma beside_block q : fst q <> 5 -> g q = cell M q.
Proof. by move=> q5; apply: beside => -[]. Qed.

Lemma beside_headed : head_in (with_cells M g).
Proof. by move=> c cB c13; rewrite [LHS]/= beside_block // head. Qed.

Lemma beside_holds : key_in M -> exists P, store_holds (V R) M s d P R /\ store_holds (V R) (with_cells M g) s d P R.
Proof.
move=> K; exists (fun y => set_in M (Z.of_N (leaf_num y))); have held : store_holds (V R) M s d (fun y => set_in M (Z.of_N (leaf_num y))) R.
  apply/(acsl_store_holds (DV _ _) (DLV _ _) (DAV _ _)); split=> //; first exact: (at_depth head).
  by move=> x xd; rewrite leaf_pathK //; split=> /(set_inP d32 head).
have H : store_holds (V R) (with_cells M g) s d (fun y => set_in M (Z.of_N (leaf_num y))) R.
  apply: (store_beside (DV _ _) (DAV _ _) (r := value_cells (5, 0)) _ _ _ held) => //.
    exact: (outside_value head).
  by move=> q out; apply: beside => h; apply: (out _ (or_introl erefl) h).
by [].
Qed.

Lemma beside_key : key_in M -> key_in (with_cells M g).
Proof.
move=> /beside_holds [P [_ H]].
by have [_ K' _] := proj1 (acsl_store_holds (DV _ _) (DLV _ _) (DAV _ _) _ _ _ _ _) H.
Qed.

Lemma beside_set x : key_in M -> AcslApi.punctured (V R) M (1, 0) x <-> AcslApi.punctured (V R) (with_cells M g) (1, 0) x.
Proof.
move=> /beside_holds [P [H H']]; rewrite !punctured_slots; try exact: headed_slots; last exact: headed_slots beside_headed.
case: (Z_lt_ge_dec x 0) => [x0|x0]; first by rewrite !(is_punctured_def _ (DAV _ _)); split=> -[]; lia.
case: (Z_lt_ge_dec x (2 ^ D)) => xD.
  have xd : (Z.to_N x < CModel.pow2 d)%num by rewrite pow2N in xD; lia.
  by have := holds_set H xd; have := holds_set H' xd; rewrite Z2N.id; [move=> -> -> | lia].
by rewrite !(is_punctured_def _ (DAV _ _)) (at_depth head) (at_depth beside_headed) pow2V; [split=> -[]; lia | lia].
Qed.

Lemma beside_same : [/\ same_words (V R) M (with_cells M g) s, same_slots (V R) M (with_cells M g) s &
  cell (with_cells M g) (shift 1 s 9) = cell M (shift 1 s 9)].
Proof.
have e q : fst q <> 5 -> cell (with_cells M g) q = cell M q := @beside_block q.
have l6 : cell M (shift 1 s 1) <= 6.
  by rewrite (at_levels head) Z.quot_div_nonneg; have := D32 d32; lia.
split; last by rewrite e.
  split; first by rewrite /same_shape !e //; do 3 (split=> //); move=> k kB; rewrite e.
  move=> k i kB iB; rewrite /any_word /full_word; case: Z.eqb_spec => k0.
    by rewrite (e (shift 1 s 2)) // (at_leaves head) e.
  rewrite (e (shift 1 (shift 1 s 3) k)) // (at_summary head); last lia.
  by rewrite !e //=; lia.
by move=> j jB; rewrite (at_slots head) !e.
Qed.

End Beside.

Lemma valued_beside lo hi f q : ~ value_cells (5, 0) q -> valued lo hi f q = f q.
Proof. by rewrite /valued; case: ifP => // /lies_inP. Qed.

Lemma valued_bytes lo hi f : seed_bytes (V R) (with_cells M (valued lo hi f)) (5, 0) lo hi.
Proof.
have E j : 0 <= j < 16 ->
    cell (with_cells M (valued lo hi f)) (shift 1 (5, 0) j) = if j <? 8 then byte_of V0 lo j else byte_of V0 hi (j - 8).
  move=> jB; rewrite /= /valued; have -> : lies_in 1 (5, 0) 0 15 (shift 1 (5, 0) j) by apply/lies_inP; split=> //=; lia.
  by rewrite /shift /=; have -> : 0 + 1 * j = j by lia.
move=> k kB; rewrite !E; try lia; case: Z.ltb_spec0; case: Z.ltb_spec0; try lia.
by have -> : 8 + k - 8 = k by lia.
Qed.

(* A puncture. *)
Section Puncture.
Variables a b : N.
Hypothesis bD : Z.of_N b < 2 ^ D.
Variable g : pointer -> Z.
Hypothesis E : forall q, fst q <> 5 -> g q = punctured_by M R a b q.

Lemma punctured_laid : laid S d (marked_in M a b) (with_cells M g).
Proof. by apply: (written_laid rights head (R := R)) => q qB; apply: E; lia. Qed.

Lemma punctured_key_in : key_in (with_cells M g).
Proof.
have H := written_key ok d32 rights head (fun x => @marked_inside a b x bD) E.
by have [_ ? _] := proj1 (acsl_store_holds (DV _ _) (DLV _ _) (DAV _ _) _ _ _ _ _) H.
Qed.

Lemma punctured_leaves x : AcslOpt.is_punctured (V R) (with_cells M g) s x <->
  AcslOpt.is_punctured (V R) M s x \/ Z.of_N a <= x /\ x <= Z.of_N b.
Proof.
have inside y := @marked_inside a b y bD.
have G : AcslOpt.is_punctured (V R) (with_cells M g) s x <-> marked_in M a b x.
  split=> h; last by apply/(laid_punctured d32 punctured_laid inside (inside _ h)).
  have xB : 0 <= x < 2 ^ D.
    move: (h); rewrite (is_punctured_def _ (DAV _ _)) (at_depth (laid_head punctured_laid)) pow2V; last lia.
    by case.
  by apply/(laid_punctured d32 punctured_laid inside xB).
rewrite G /marked_in; split=> [/orP [/(set_inP d32 head) h|/andP [/Z.leb_spec0 ? /Z.leb_spec0 ?]]|[h|[? ?]]].
- by left.
- by right.
- by apply/orP; left; apply/(set_inP d32 head).
by apply/orP; right; apply/andP; split; apply/Z.leb_spec0.
Qed.

Lemma slot_word_typed K j w : c_uint64_t (@slot_word S d K j w).
Proof.
rewrite /slot_word; case: (filter _ _) => [|n ns]; first by split.
by case: ifP => _; have [] := proj2 ok n.2.
Qed.

Lemma punctured_typed : opt_typed d where_ (with_cells M g).
Proof.
move=> q; rewrite /slot_cells /slots_at -[key_at where_]/(1, 0) (at_slots (laid_head punctured_laid)).
case=> /= q1 q2; rewrite E; last by rewrite q1.
rewrite /punctured_by /written q1 /=; case: ifP => [_|/negP no]; first exact: slot_word_typed.
case: no; rewrite /pprf_seed_cells in q2; apply/andP; split; [apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
Qed.

End Puncture.

Lemma punctured_unchanged a b : unchanged M (with_cells M (punctured_by M R a b)) (store_memory (V R) M s).
Proof.
move=> q out; rewrite /= /punctured_by /written.
case: ifP => [/andP [/andP [/andP [/Z.leb_spec0 lo /Z.leb_spec0 hi] /Z.leb_spec0 c0] /Z.ltb_spec0 cw]|_].
  have [k [kB kE]] : exists k, 0 <= k <= 5 /\ fst q = 10 + k by exists (fst q - 10); lia.
  rewrite kE (_ : 10 + k - 10 = k) /width in cw; last lia.
  case: Z.eqb_spec cw => k0 cw.
    case: (out (span 1 (points (V R) (cell M (shift 1 s 2))) 0 (words (V R) (cell M s) 0 - 1))).
      by do 2 right; left.
    by rewrite (at_leaves head) (at_depth head) -[words (V R) D 0]/(words V0 D 0); split=> /=; lia.
  have ir : List.In (span 2 (points (V R) (cell M (shift 1 (shift 1 s 3) k))) 0 (words (V R) (cell M s) k - 1))
      (store_memory (V R) M s).
    have [->|[->|[->|[->|->]]]] : k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 by lia.
    - by do 3 right; left.
    - by do 4 right; left.
    - by do 5 right; left.
    - by do 6 right; left.
    by do 7 right; left.
  case: (out _ ir); rewrite (at_summary head) ?(at_depth head) -?[words (V R) D k]/(words V0 D k); last lia.
  by split=> /=; lia.
case: ifP => [/andP [/andP [/Z.eqb_spec q1 /Z.leb_spec0 c0] /Z.ltb_spec0 cw]|_].
  case: (out (span 2 (points (V R) (cell M (shift 1 s 10))) 0 (AcslRef.pow2 (V R) (cell M s - 1) - 1))).
    by right; left.
  have pE : AcslRef.pow2 (V R) (D - 1) = slots d.
    have -> : D - 1 = Z.of_nat d.-1 by case: (d) d32 => // e _; lia.
    exact: (pow2_agree (DV _ _)).
  by rewrite (at_slots head) (at_depth head) pE; split=> /=; lia.
case: ifP => // /andP [/Z.eqb_spec q1 /Z.eqb_spec q2].
by case: (out (span 1 (shift 1 s 9) 0 0)); [left | split=> /=; lia].
Qed.

(* What a contract lets a call on pair slots change is what a puncture changes. *)
Lemma punctured_key_memory a b rs :
  unchanged M (with_cells M (punctured_by M R a b)) (key_memory (V R) M (1, 0) ++ rs).
Proof.
move=> q out; apply: (@punctured_unchanged a b) => r ir; apply: out; apply: in_left.
rewrite /key_memory packed_null; last exact: headed_slots.
by case: ir => [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]]; do ?[by left | right].
Qed.

Lemma not_copied : ~ copied (V R) M (1, 0).
Proof. by case; rewrite head. Qed.

(* What the contracts say of a result. *)
Lemma other_results a b f : let r := range_verdict M a b f in
  [/\ r <> PPRF_ERR_NULL, r <> PPRF_ERR_FORKED, c_int r &
      r = PPRF_OK \/ r = PPRF_ERR_NULL \/ r = PPRF_ERR_FORKED \/ r = PPRF_ERR_RANGE \/ r = PPRF_ERR_PUNCTURED \/
      prg_error (V R) r].
Proof.
have [_ _ _] := range_verdictE a b f; case=> [->|->|->|[-> _]]; split=> //; try tauto.
by do 5 right; split=> //; left.
Qed.

Lemma eval_meets x f : let r := run_leaf false M R x f in
  pprf_eval_contract (V R) M (with_cells M r.2) (1, 0) (Z.of_N x) (5, 0) r.1.
Proof.
rewrite /run_leaf /=; have [rng pun fine _] := range_verdictE x x f; have [n1 n2 ci oth] := other_results x x f.
set r := range_verdict _ _ _ _ in rng pun fine n1 n2 ci oth *; set g := if _ then _ else _.
move=> [x64 _] Rq; have nc := not_copied.
have gB q : ~ value_cells (5, 0) q -> g q = cell M q by rewrite /g; case: ifP => _; apply: valued_beside.
have dP : cell (with_cells M g) (shift 1 (1, 0) 4) = D by rewrite /= beside_block //; exact: (at_depth head).
split; first by move=> q out; apply: gB => h; apply: (out _ (or_introl erefl) h).
split; first by split=> //; rewrite /= /g; case: ifP => _; apply: byte_range.
split=> //; split=> //.
- by split=> // -[] e; discriminate e.
- by split=> // -[_ [_ /nc]].
- by rewrite rng /depth dP pow2V; [split=> [[|] ?|[_ [_ [_]]]]; try (do 3 (split=> //)); lia | lia].
- rewrite pun /depth dP pow2V; last lia; rewrite punctured_slots; last exact: headed_slots.
  by split=> [[xB h]|[_ [_ [_ [xB h]]]]]; [do 4 (split=> //); [lia | apply: h; lia] | split; [lia | move=> y yB; have -> : y = Z.of_N x by lia]].
- move=> rK; rewrite /depth dP /g rK; eexists; eexists; split; first exact: valued_bytes.
  by have [_ _] := proj2 ok (leaf_value (V R) (seed_value (V R) R) D (Z.of_N x)).
- by move=> /Z.eqb_neq rN _; rewrite /g rN; apply: valued_bytes.
- move=> _; have K := usable_in (pprf_eval_requires_key _ _ _ _ _ Rq); have H := beside_headed gB; split.
    by apply: (proj2 (@whole_key (with_cells M g) (proj2 rights) H)); exact: beside_key.
  exact: headed_same.
move=> _; have K := usable_in (pprf_eval_requires_key _ _ _ _ _ Rq); have H := beside_headed gB; split.
  by move=> y; exact: beside_set.
by rewrite !nodes_in //= gB // => -[].
Qed.

(* What the key is after a call, and which leaves it has punctured. *)
Section Punctures.
Variables (a b : N) (f : bool).
Local Notation r := (range_verdict M a b f).
Variable g : pointer -> Z.
Hypothesis done : r = PPRF_OK -> forall q, ~ value_cells (5, 0) q -> g q = punctured_by M R a b q.
Hypothesis failed : r <> PPRF_OK -> forall q, ~ value_cells (5, 0) q -> g q = cell M q.
Hypothesis K : key_in M.

Let block q : fst q <> 5 -> ~ value_cells (5, 0) q.
Proof. by move=> q5 []. Qed.
Let in_tree : r = PPRF_OK -> Z.of_N b < 2 ^ D.
Proof. by have [_ _ fine _] := range_verdictE a b f; case/fine => -[]. Qed.

Lemma call_key : key_in (with_cells M g).
Proof.
case: (Z.eq_dec r PPRF_OK) => rK; last exact: beside_key (failed rK) K.
by apply: (punctured_key_in (in_tree rK)) => q q5; apply: done rK _ (block q5).
Qed.

Lemma call_headed : head_in (with_cells M g).
Proof.
case: (Z.eq_dec r PPRF_OK) => rK; last exact: beside_headed (failed rK).
have E q : fst q <> 5 -> g q = punctured_by M R a b q by move=> q5; apply: done rK _ (block q5).
exact: laid_head (punctured_laid E).
Qed.

Lemma call_whole : AcslApi.key (V R) (with_cells M g) (seed_value (V R) R) (1, 0) /\
  same_head (V R) M (with_cells M g) (1, 0).
Proof.
split; last exact: headed_same head call_headed.
exact: (proj2 (@whole_key (with_cells M g) (proj2 rights) call_headed) call_key).
Qed.

Lemma call_set : r <> PPRF_OK -> same_punctured (V R) M (with_cells M g) (1, 0) /\
  AcslApi.nodes (V R) (with_cells M g) (1, 0) = AcslApi.nodes (V R) M (1, 0).
Proof.
move=> rN; split; first by move=> x; exact: beside_set (failed rN) x K.
by rewrite !nodes_in //=; [rewrite (failed rN) // => -[] | exact: call_headed].
Qed.

Lemma call_punctured : r = PPRF_OK -> forall x, AcslApi.punctured (V R) (with_cells M g) (1, 0) x <->
  AcslApi.punctured (V R) M (1, 0) x \/ Z.of_N a <= x /\ x <= Z.of_N b.
Proof.
move=> rK x; rewrite !punctured_slots; [|exact: headed_slots head|exact: headed_slots call_headed].
by apply: (punctured_leaves (in_tree rK)) => q q5; apply: done rK _ (block q5).
Qed.

Lemma call_depth : cell (with_cells M g) (shift 1 (1, 0) 4) = D.
Proof.
case: (Z.eq_dec r PPRF_OK) => rK; rewrite [LHS]/=; last by rewrite (failed rK); [exact: (at_depth head) | case].
by rewrite (done rK); [rewrite /punctured_by /written /=; exact: (at_depth head) | case].
Qed.

Lemma call_same : r <> PPRF_OK -> same_store (V R) M (with_cells M g) s.
Proof. by move=> rN; have [W L C] := beside_same (failed rN). Qed.

Lemma call_typed : opt_typed d where_ M -> opt_typed d where_ (with_cells M g).
Proof.
case: (Z.eq_dec r PPRF_OK) => rK T.
  by apply: punctured_typed => q q5; apply: done rK _ (block q5).
have e q : fst q <> 5 -> g q = cell M q by move=> q5; apply: failed rK _ (block q5).
move=> q qs; have sE : slots_at where_ (with_cells M g) = slots_at where_ M by rewrite /slots_at /= e.
move: qs; rewrite /slot_cells sE => qs; rewrite /= e; first exact: T.
by case: qs => ->; rewrite /slots_at -[key_at where_]/(1, 0) (at_slots head).
Qed.

End Punctures.

Lemma range_meets a b f : let r := run_range M R a b f in
  pprf_punct_range_contract (V R) M (with_cells M r.2) (1, 0) (Z.of_N a) (Z.of_N b) r.1.
Proof.
rewrite /run_range /=; have [rng pun fine _] := range_verdictE a b f; have [n1 n2 ci oth] := other_results a b f.
set g := if _ then _ else _; move=> ty Rq; have nc := not_copied.
have done : range_verdict M a b f = PPRF_OK -> forall q, ~ value_cells (5, 0) q -> g q = punctured_by M R a b q.
  by rewrite /g => ->.
have failed : range_verdict M a b f <> PPRF_OK -> forall q, ~ value_cells (5, 0) q -> g q = cell M q.
  by rewrite /g => /Z.eqb_neq ->.
have K := usable_in (pprf_punct_range_requires_key _ _ _ _ _ Rq).
have dP := call_depth done failed.
split.
  rewrite /g; case: ifP => _; last by move=> q _.
  by have := @punctured_key_memory a b [::].
split=> //; split=> //; split=> //.
- by split=> // -[_ /nc].
- by move=> _; exact: (call_whole done failed K).
- by rewrite rng /depth dP pow2V; [split=> [?|[_ [_ ?]]] | lia].
- rewrite pun /depth dP pow2V; last lia.
  have i := headed_slots head.
  split=> [[aB h]|[_ [_ [aB h]]]]; first by do 3 (split=> //); move=> y yB; apply/(punctured_slots _ i)/h.
  by split=> // y yB; apply/(punctured_slots _ i)/h.
- by move: oth; tauto.
- exact: (call_punctured done failed).
- by move=> rN _; exact: (call_set done failed K).
by move=> rN _ _; exact: (call_same failed).
Qed.

Lemma punct_meets x f : let r := run_range M R x x f in
  pprf_punct_contract (V R) M (with_cells M r.2) (1, 0) (Z.of_N x) r.1.
Proof.
have := @range_meets x x f; rewrite /run_range /=; set r := range_verdict _ _ _ _; set g := if _ then _ else _.
move=> C ty Rq; case: C => [||U [_ [ci E]]]; first by split.
  by case: Rq => k fam; split.
split; first exact: U; split=> //; split=> //.
have [En Ef Ek Er Ep Eo El Ee Es] := E; split=> //.
- rewrite Er; split=> -[nn [nc h]]; do 2 (split=> //); [by case: h; lia | by right].
- rewrite Ep; split=> -[nn [nc h]]; do 2 (split=> //); first by case: h => -[_ xB] h; split; [| apply: h; lia].
  by case: h => xB h; split; [lia | move=> y yB; have -> : y = Z.of_N x by lia].
by move=> rK y; rewrite (El rK); split=> -[|]; [by left | move=> ?; right; lia | by left | move=> ?; right; lia].
Qed.

Lemma eval_punct_meets x f : let r := run_leaf true M R x f in
  pprf_eval_punct_contract (V R) M (with_cells M r.2) (1, 0) (Z.of_N x) (5, 0) r.1.
Proof.
rewrite /run_leaf /=; have [rng pun fine _] := range_verdictE x x f; have [n1 n2 ci oth] := other_results x x f.
set g := if _ then _ else _; move=> [x64 _] Rq; have nc := not_copied.
have done : range_verdict M x x f = PPRF_OK -> forall q, ~ value_cells (5, 0) q -> g q = punctured_by M R x x q.
  by rewrite /g => -> q; exact: valued_beside.
have failed : range_verdict M x x f <> PPRF_OK -> forall q, ~ value_cells (5, 0) q -> g q = cell M q.
  by rewrite /g => /Z.eqb_neq -> q; exact: valued_beside.
have K := usable_in (pprf_eval_punct_requires_key _ _ _ _ _ Rq).
have dP := call_depth done failed.
split.
  move=> q out; have nv : ~ value_cells (5, 0) q by apply: out; do 12 right; left.
  case: (Z.eq_dec (range_verdict M x x f) PPRF_OK) => rK; last exact: failed rK _ nv.
  by rewrite [LHS]/= (done rK _ nv); exact: (@punctured_key_memory x x [:: value_cells (5, 0)] q out).
split; first by split=> //; rewrite /= /g; case: ifP => _; apply: byte_range.
split=> //; split=> //.
- by split=> // -[] e; discriminate e.
- by split=> // -[_ [_ /nc]].
- by move=> _; exact: (call_whole done failed K).
- by rewrite rng /depth dP pow2V; [split=> [[|] ?|[_ [_ [_]]]]; try (do 3 (split=> //)); lia | lia].
- rewrite pun /depth dP pow2V; last lia; rewrite punctured_slots; last exact: headed_slots.
  by split=> [[xB h]|[_ [_ [_ [xB h]]]]]; [do 4 (split=> //); [lia | apply: h; lia] | split; [lia | move=> y yB; have -> : y = Z.of_N x by lia]].
- by move: oth; tauto.
- by move=> rK y; rewrite (call_punctured done failed rK); split=> -[|]; [by left | move=> ?; right; lia | by left | move=> ?; right; lia].
- by move=> rN _; exact: (call_set done failed K).
- by move=> rN _ _; exact: (call_same failed).
- move=> rK; rewrite /depth dP /g rK; eexists; eexists; split; first exact: valued_bytes.
  by have [_ _] := proj2 ok (leaf_value (V R) (seed_value (V R) R) D (Z.of_N x)).
by move=> /Z.eqb_neq rN _; rewrite /g rN; apply: valued_bytes.
Qed.

End Call.

(* ---- All that is asked ----------------------------------------------------------------------------- *)

(* What calls may change leaves the key's head as it is. *)
Lemma head_of M : unchanged (fresh S d) M (opt_changeable S where_ (fresh S d)) -> headed S d M.
Proof.
move=> U c cB c13; have H := laid_head (fresh_laid S d); rewrite -(H c cB c13); apply: U => r.
rewrite /opt_changeable /store_memory -[key_at where_]/(1, 0) (at_depth H) (at_leaves H) (at_slots H) !(at_summary H); try lia.
by case=> [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]]] [] //=; lia.
Qed.

Section Shown.
Variable shown : seq pointer.
Hypothesis in_words_ : all (in_bitmap S d where_ (fresh S d)) shown.

Lemma shown_at q : List.In q shown -> [/\ 10 <= fst q, fst q <= 15 & 0 <= snd q < width S d (fst q - 10)].
Proof.
elim: shown in_words_ => //= p ps IH /andP [pb psb] [<-|]; last exact: IH.
have H := laid_head (fresh_laid S d).
have at_ k : 1 <= k <= 5 -> lies_in 2 (leads where_ (cell (fresh S d) (shift 1 (shift 1 s 3) k))) 0 (words V0 D k - 1) p ->
    [/\ 10 <= fst p, fst p <= 15 & 0 <= snd p < width S d (fst p - 10)].
  move=> kB /lies_inP; rewrite (at_summary H); last lia.
  case=> /= -> pB; rewrite (_ : 10 + k - 10 = k) /width; last lia.
  by case: Z.eqb_spec => k0; split; lia.
case/orP: pb => [/lies_inP|/or4P [|||/orP [|/orP [|//]]]]; last 5 first; try (apply: at_; lia).
rewrite -[key_at where_]/(1, 0) (at_leaves H) => -[/= -> pB].
by rewrite /width (_ : 10 - 10 = 0) //=; split; lia.
Qed.

Lemma eq_words (f g : pointer -> Z) :
  (forall q, 10 <= fst q -> fst q <= 15 -> 0 <= snd q < width S d (fst q - 10) -> f q = g q) -> map f shown = map g shown.
Proof.
move=> E; have := shown_at; elim: shown => //= p ps IH A; congr cons.
  by have [? ? ?] := A p (or_introl erefl); apply: E.
by apply: IH => q qs; apply: A; right.
Qed.

(* What a puncture leaves in them. *)
Lemma words_marked M R c (g : pointer -> Z) : headed S d M -> Z.of_N (ends c).2 < 2 ^ D ->
  (forall q, fst q <> 5 -> g q = punctured_by M R (ends c).1 (ends c).2 q) ->
  map g shown = [seq bitmap_cell (after (gaps_in S d where_ M) c) (fst q - 10) (snd q) | q <- shown].
Proof.
move=> head cD E; apply: eq_words => q q1 q2 q3; rewrite E; last lia.
rewrite /punctured_by /written; case: ifP => [_|/negP no]; last first.
  by case: no; do ?[apply/andP; split]; first [apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
apply: eq_bitmap_cell => y; rewrite /marked_in /after; congr orb.
case: Z.leb_spec0 => [y0|]; last first.
  by move=> y0; apply/negP => /(set_inside head); lia.
case: Z.ltb_spec0 => [yD|]; last first.
  by move=> yD; apply/negP => /(set_inside head); lia.
rewrite held_by_places // negbK leaf_pathK.
  by rewrite Z2N.id.
have := pow2N d; lia.
Qed.

Theorem opt_functions_meet :
  opt_meets_contracts S d told (words_after shown) shown where_ functions_of (fresh S d).
Proof.
move=> M R c o rd wr U; have head := head_of U.
have rights : (forall q, may_read M q) /\ (forall q, may_write M q) by rewrite rd wr.
have obeys a b : let r := range_verdict M a b o.1 in r = PPRF_OK \/ prg_error V0 r -> r = told (gaps_in S d where_ M) c o.
  have [_ _ fine oth] := range_verdictE head a b o.1; rewrite /told.
  case=> [rK|[e _]]; first by have [_ /negbTE f0] := fine rK; rewrite [LHS]rK f0.
  by case: oth e => [->|->|->|[-> ->]] // [].
have same_words_ g : (forall q, ~ value_cells (5, 0) q -> g q = cell M q) -> map g shown = map (cell M) shown.
  by move=> E; apply: eq_words => q q1 q2 _; apply: E => -[/= q5]; lia.
have in_tree a b : range_verdict M a b o.1 = PPRF_OK -> Z.of_N b < 2 ^ D.
  by have [_ _ fine _] := range_verdictE head a b o.1; case/fine => -[].
have yes : (PPRF_OK =? PPRF_OK) = true by [].
case: c obeys => [x|x|a b] obeys; rewrite /opt_does /opt_contract_of /functions_of.
- split; [exact: (@eval_meets M rights head R (sval x) o.1) | split; [exact: (obeys (sval x) (sval x))|] | ].
    by move=> rK; apply: same_words_ => q qv; rewrite /=; case: ifP => _; rewrite valued_beside.
  refine (@call_typed M rights head R (sval x) (sval x) true _ _ _).
    by have [_ _ fine _] := range_verdictE head (sval x) (sval x) true; case/fine.
  by move=> _ q qv; case: ifP => _; rewrite valued_beside.
- split; [exact: (@eval_punct_meets M rights head R (sval x) o.1) | split; [exact: (obeys (sval x) (sval x))|] | ].
    move=> rK; refine (@words_marked M R (EvalPunctCall x) _ head (in_tree _ _ rK) _) => q q5.
    by rewrite /= rK yes valued_beside // => -[].
  refine (@call_typed M rights head R (sval x) (sval x) o.1 _ _ _) => rE q qv.
    by rewrite rE yes valued_beside.
  by move/Z.eqb_neq: rE => ->; rewrite valued_beside.
case E : (o.2 && _).
- move/andP: E => [_ /N.eqb_spec ab].
  split; [exact: (@punct_meets M rights head R (sval a) o.1) | split; [exact: (obeys (sval a) (sval a))|] | ].
    move=> rK; refine (@words_marked M R (RangeCall a b) _ head _ _) => [|q q5]; rewrite /= -ab; first exact: in_tree rK.
    by rewrite rK.
  refine (@call_typed M rights head R (sval a) (sval a) o.1 _ _ _) => rE q qv; first by rewrite rE.
  by move/Z.eqb_neq: rE => ->.
split; [exact: (@range_meets M rights head R (sval a) (sval b) o.1) | split; [exact: (obeys (sval a) (sval b))|] | ].
  by move=> rK; refine (@words_marked M R (RangeCall a b) _ head (in_tree _ _ rK) _) => q q5; rewrite /= rK.
refine (@call_typed M rights head R (sval a) (sval b) o.1 _ _ _) => rE q qv; first by rewrite rE.
by move/Z.eqb_neq: rE => ->.
Qed.

End Shown.
End Inhabited.

(* A call that fails only when the adversary says so; with pprf_punct for a range of one leaf, or without. *)
Theorem opt_inhabited (S : suite) (d : nat) : suite_ok S -> (0 < d <= 32)%N ->
  exists (l : opt_layout) (M0 : memory), forall shown, all (in_bitmap S d l M0) shown ->
  exists (marks : seq (Z * Z) -> seq Z -> call -> order bool -> seq Z) (F : opt_functions bool),
    opt_ready S d shown l M0 /\
    opt_meets_contracts S d (fun _ _ o => if o.1 then PPRF_ERR_NOMEM else PPRF_OK) marks shown l F M0.
Proof.
move=> ok d32; exists where_, (fresh S d) => shown shownP; exists (words_after d shown), (functions_of S d).
by split; [exact: opt_ready_exists | exact: opt_functions_meet].
Qed.

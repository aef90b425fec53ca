(* SPDX-License-Identifier: Apache-2.0 *)
(* From the contracts of opt's API to the security theorem: what calls return and what memory holds is the
   model's (opt_calls_sound), so the game on memory is the model's game (opt_game_is_model). *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Sizes Layout AcslAgree AcslSound AcslLayout ApiSound.
From Pprf.proofs Require Import ProbabilityFacts ReductionFacts EvaluationSecurity Leakage.
From Pprf.spec Require Import RefGame OptGame.
From Pprf.proofs Require Import MemoryGame RefSecurity.
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

(* ---- A store that other cells change beside ---------------------------------------------------- *)

Lemma shift0 p m : shift m p 0 = p.
Proof. by case: p => ? ?; rewrite /shift /=; congr pair; lia. Qed.

Lemma summary_at s k : shift 1 (shift 1 s 3) k = shift 1 s (3 + k).
Proof. by rewrite /shift /=; congr pair; lia. Qed.

Section Beside.

Variable V : api.
Hypothesis D : definitions V.
Hypothesis DA : api_definitions V.
Variables (L L' : memory) (s : pointer).
Local Notation n := (cell L s).
Hypothesis same_rights : may_read L' = may_read L /\ may_write L' = may_write L.
Hypothesis O : opened V L s.

(* All of the structure but the number of seeds, and the bitmap. *)
Hypothesis kept_head : forall c, 0 <= c < 16 -> c <> 9 -> cell L' (shift 1 s c) = cell L (shift 1 s c).
Hypothesis kept_word0 : forall i, 0 <= i < words V n 0 ->
  cell L' (shift 1 (points V (cell L (shift 1 s 2))) i) = cell L (shift 1 (points V (cell L (shift 1 s 2))) i).
Hypothesis kept_summary : forall k i j, 1 <= k <= 5 -> 0 <= i < words V n k -> 0 <= j < 2 ->
  cell L' (shift 1 (shift 2 (points V (cell L (shift 1 (shift 1 s 3) k))) i) j) =
  cell L (shift 1 (shift 2 (points V (cell L (shift 1 (shift 1 s 3) k))) i) j).

Lemma kept_depth : cell L' s = n.
Proof.
have <- : shift 1 s 0 = s by case: (s) => ? ?; rewrite /shift /=; congr pair; lia.
exact: kept_head.
Qed.

Lemma any_word_same k i : 0 <= k <= 5 -> 0 <= i < words V n k ->
  any_word V L' s k i = any_word V L s k i.
Proof.
move=> kB iB; rewrite /any_word; case: Z.eqb_spec => k0.
  by rewrite k0 in iB; rewrite kept_head ?kept_word0 //; lia.
have kE : cell L' (shift 1 (shift 1 s 3) k) = cell L (shift 1 (shift 1 s 3) k).
  by rewrite summary_at kept_head //; lia.
rewrite kE -(shift0 (shift 2 _ i) 1); apply: kept_summary; lia.
Qed.

Lemma full_word_same k i : 0 <= k <= 5 -> 0 <= i < words V n k ->
  full_word V L' s k i = full_word V L s k i.
Proof.
move=> kB iB; rewrite /full_word; case: Z.eqb_spec => k0.
  by rewrite k0 in iB; rewrite kept_head ?kept_word0 //; lia.
have kE : cell L' (shift 1 (shift 1 s 3) k) = cell L (shift 1 (shift 1 s 3) k).
  by rewrite summary_at kept_head //; lia.
rewrite kE; apply: kept_summary; lia.
Qed.

Lemma quot_word y : 0 <= y -> 0 <= Z.quot y 64.
Proof. by move=> y0; apply: Z.quot_pos; lia. Qed.

Lemma any_same k y : 0 <= k <= 5 -> any V L' s k y <-> any V L s k y.
Proof.
by move=> kB; rewrite /any kept_depth; split=> -[y0 [q b]]; do 2 (split=> //);
  move: b; rewrite any_word_same //; have := quot_word y0; lia.
Qed.

Lemma full_same k y : 0 <= k <= 5 -> full V L' s k y <-> full V L s k y.
Proof.
by move=> kB; rewrite /full kept_depth; split=> -[y0 [q b]]; do 2 (split=> //);
  move: b; rewrite full_word_same //; have := quot_word y0; lia.
Qed.

Lemma levels6 : cell L (shift 1 s 1) <= 6.
Proof. exact: opened_levels O. Qed.

Lemma in_full_block_same k y : 0 <= k -> AcslApi.in_full_block V L' s k y <-> AcslApi.in_full_block V L s k y.
Proof.
have l6 := levels6; move=> k0; rewrite /AcslApi.in_full_block kept_head //.
by split=> -[j [jB f]]; exists j; split=> //; move: f; rewrite full_same //; lia.
Qed.

Lemma is_punctured_kept x : AcslOpt.is_punctured V L' s x <-> AcslOpt.is_punctured V L s x.
Proof. by rewrite !(is_punctured_def V DA) kept_depth in_full_block_same. Qed.

Lemma opened_kept : opened V L' s.
Proof.
have l6 := levels6; case: same_rights => rE wE.
case: O => W [[Lay A] [Sl [S1 [S2 [S3 S]]]]].
have wk r' : writable L r' -> writable L' r' by move=> w q; rewrite wE; apply: w.
have rk r' : readable L r' -> readable L' r' by move=> w q; rewrite rE; apply: w.
have kE k : 0 <= k <= 5 -> cell L' (shift 1 (shift 1 s 3) k) = cell L (shift 1 (shift 1 s 3) k).
  by move=> kB; rewrite summary_at kept_head //; lia.
split; first exact: wk; split; last first.
  rewrite kept_depth !kept_head //; split; first exact: wk.
  do 3 (split=> //); move=> k kB; rewrite kE; [exact: S | lia].
split.
  case: Lay => R0 [dB [lE [W0 [Sum [Sep S0]]]]].
  rewrite /AcslApi.layout kept_depth !kept_head //; split; first exact: rk.
  do 2 (split=> //); split; first exact: wk.
  split; first by move=> k kB; rewrite kE; [have [W' H] := Sum k kB; split; [exact: wk|] | lia].
  by split=> // k m kB; rewrite !kE; [exact: Sep | lia | lia].
case: A => A1 [A2 [A3 [A4 A5]]]; split.
  by move=> k y; rewrite kept_head // => kB; rewrite full_same ?any_same; [exact: A1 | lia | lia].
split.
  move=> k y; rewrite kept_head // => kB nk; rewrite !any_same ?in_full_block_same; [exact: A2 | lia..].
split.
  move=> k w; rewrite kept_head // kept_depth => kB wB nk; rewrite full_word_same ?in_full_block_same; [exact: A3 | lia..].
split.
  move=> k w; rewrite kept_head // kept_depth => kB wB; rewrite any_word_same ?any_same ?in_full_block_same; [exact: A4 | lia..].
move=> y; rewrite kept_head // kept_depth => yB; rewrite any_same; first exact: A5.
by have [dB lE] := opened_shape O; have := levels_bounds V dB; rewrite -lE; lia.
Qed.

Hypothesis kept_count : cell L' (shift 1 s 9) = cell L (shift 1 s 9).
Hypothesis kept_slot : forall i j, 0 <= i < AcslRef.pow2 V (n - 1) -> 0 <= j < 2 ->
  cell L' (shift 1 (store_slot V L s i) j) = cell L (shift 1 (store_slot V L s i) j).

Lemma store_kept d (P : pred bitseq) R : store_holds V L s d P R -> store_holds V L' s d P R.
Proof.
case=> dE _ set seeds_ no_more_ count_; have p2 : AcslRef.pow2 V (n - 1) = Z.of_N (CModel.pow2 d.-1).
  have [d32 _] := opened_shape O; rewrite [n]dE in d32 *.
  by rewrite -(pow2_agree D); congr AcslRef.pow2; case: (d) d32 => [|e]; lia.
have slotE j : store_slot V L' s j = store_slot V L s j by rewrite /store_slot kept_head.
have seedE j : 0 <= j < AcslRef.pow2 V (n - 1) ->
    pprf_seed_at L' (store_slot V L s j) = pprf_seed_at L (store_slot V L s j).
  by move=> jB; rewrite /pprf_seed_at !kept_slot //; lia.
have pairB q : List.In q (punctured_key V d P R) -> 0 <= pair_of d q.1 < AcslRef.pow2 V (n - 1).
  move=> qK; rewrite p2 /pair_of.
  have qd : (size q.1 <= d)%nat.
    by have := map_fst_in qK; rewrite /punctured_key mem_cover => /and3P [].
  have g := pow2_gt0 (d - size q.1); have := first_leaf_end qd.
  have [d32 _] := opened_shape O; rewrite [n]dE in d32.
  have [e E] : exists e, d = e.+1 by case: (d) d32 => [|e] d32; [lia | exists e].
  rewrite E in g *; rewrite [_.-1]/= Layout.pow2S => le; split; first exact: N2Z.is_nonneg.
  by apply/N2Z.inj_lt/N.div_lt_upper_bound; lia.
split=> //; first by rewrite /store_depth kept_depth.
- exact: opened_kept.
- by move=> x xd; rewrite is_punctured_kept; apply: set.
- by move=> q qK; rewrite slotE seedE; [apply: seeds_ | apply: pairB].
- move=> j jB nj q qs; rewrite slotE in qs; rewrite -(no_more_ j jB nj q qs).
  have [i [E]] : exists i, q = shift 1 (store_slot V L s j) i /\ 0 <= i < 2.
    case: qs => q1 q2; exists (snd q - snd (store_slot V L s j)); rewrite /pprf_seed_cells in q2.
    by split; [rewrite /shift -q1 [LHS]surjective_pairing; congr pair; lia | lia].
  by move=> iB; rewrite E kept_slot // p2.
by rewrite /store_nodes kept_count.
Qed.

End Beside.

(* Nothing of the store changes. *)
Lemma store_beside (V : api) (D : definitions V) (DA : api_definitions V) L L' s r d (P : pred bitseq) R :
  may_read L' = may_read L /\ may_write L' = may_write L -> outside_store V L s r ->
  unchanged L L' [:: r] -> store_holds V L s d P R -> store_holds V L' s d P R.
Proof.
move=> same_rights out U H; have O := holds_memory H.
have apart_span k p lo hi q : separated [:: r; span k p lo hi] -> span k p lo hi q -> cell L' q = cell L q.
  case=> S _ qs; apply: U => r' [<-|//] rq; exact: (S _ (or_introl erefl) q).
case: out => Sh [Sl [S0 S]].
have head c : 0 <= c < 16 -> cell L' (shift 1 s c) = cell L (shift 1 s c).
  by move=> cB; apply: apart_span Sh _; split=> //=; lia.
apply: store_kept H => //.
- by move=> c cB _; apply: head.
- by move=> i iB; apply: apart_span S0 _; split=> //=; lia.
- by move=> k i j kB iB jB; apply: apart_span (S k kB) _; split=> //=; lia.
- exact: head.
- by move=> i j iB jB; apply: apart_span Sl _; split=> //=; rewrite /store_slot /pprf_seed_cells /=; lia.
Qed.

(* ---- Bytes ------------------------------------------------------------------------------------- *)

Section Bytes.

Variable V : api.

Lemma byte_ofE v k : 0 <= k -> byte_of V v k = v / 2 ^ (8 * k) mod 256.
Proof.
by move=> k0; rewrite /byte_of Z.shiftr_div_pow2 ?(Z.land_ones _ 8) //; lia.
Qed.

(* n bytes from the a-th on.  By induction: for eight of them lia takes more than twelve minutes with Coq 8.20. *)
Lemma bytesE n a v :
  foldr (fun k w => v / 2 ^ (8 * k) mod 256 + 256 * w) 0 [seq Z.of_nat i | i <- iota a n]
  = (v / 2 ^ (8 * Z.of_nat a)) mod 2 ^ (8 * Z.of_nat n).
Proof.
elim: n a => [|n IHn] a; first by rewrite /= Z.mod_1_r.
have p1 := Z.pow_pos_nonneg 2 (8 * Z.of_nat n); have p2 := Z.pow_pos_nonneg 2 (8 * Z.of_nat a).
have -> : (2 ^ (8 * Z.of_nat n.+1) = 256 * 2 ^ (8 * Z.of_nat n))%Z.
  by rewrite (_ : 8 * _ = 8 + 8 * Z.of_nat n)%Z ?Z.pow_add_r //; lia.
rewrite [LHS]/= IHn Z.rem_mul_r //; last by apply: p1; lia.
congr (_ + 256 * (_ mod _)).
rewrite (_ : 8 * Z.of_nat a.+1 = 8 * Z.of_nat a + 8)%Z ?Z.pow_add_r //; try lia.
by rewrite Z.div_div //; lia.
Qed.

Lemma bytes_wordE M p v : (forall k, 0 <= k < 8 -> cell M (shift 1 p k) = byte_of V v k) ->
  bytes_word M p = v mod 2 ^ 64.
Proof.
move=> B; have E k : 0 <= k < 8 -> cell M (shift 1 p k) = v / 2 ^ (8 * k) mod 256.
  by move=> kB; rewrite B // byte_ofE //; lia.
rewrite /bytes_word [LHS]/= !E //.
by rewrite -[v in RHS]Z.div_1_r; exact: (bytesE 8 0 v).
Qed.

End Bytes.

Section OptSecurity.
Variable S : suite.
Hypothesis ok : suite_ok S.
Hypothesis wraps : forall lo hi, from_words S lo hi = from_words S (lo mod 2 ^ 64) (hi mod 2 ^ 64).
Variable d : nat.
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> order Fault -> Z.
Variable marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z.
Variable shown : seq pointer.
Variable l : opt_layout.
Variable F : opt_functions Fault.
Variable M0 : memory.
Hypothesis meets : @opt_meets_contracts S d Fault fails marks shown l F M0.
Hypothesis rdy : opt_ready S d shown l M0.
Local Notation Seed := (block S).
Local Notation G := (@suite_prg S d).
Local Notation store := (store_of (key_at l)).
Local Notation V := (opt_logic S l).
Local Notation V0 := (V (pprf_seed_intro 0 0)).
Local Notation keyc := (@keyc S d).
Local Notation value := (value_cells (value_at l)).

Lemma D R : definitions (V R).
Proof. exact: defined_definitions. Qed.
Lemma DL R : layout_definitions (V R).
Proof. exact: (proj1 (api_of_definitions _ _ _ _ _)). Qed.
Lemma DA R : api_definitions (V R).
Proof. exact: (proj2 (api_of_definitions _ _ _ _ _)). Qed.

(* Most of the contracts' vocabulary does not mention the root seed. *)
Lemma opened_root R M s : opened (V R) M s = opened V0 M s. Proof. by []. Qed.
Lemma is_punctured_root R M s x : AcslOpt.is_punctured (V R) M s x = AcslOpt.is_punctured V0 M s x. Proof. by []. Qed.
Lemma outside_root R M s r : outside_store (V R) M s r = outside_store V0 M s r. Proof. by []. Qed.
Lemma apart_root R M k p : apart_value (V R) M k p = apart_value V0 M k p. Proof. by []. Qed.
Lemma memory_root R M s : store_memory (V R) M s = store_memory V0 M s. Proof. by []. Qed.
Lemma slot_root R M s j : store_slot (V R) M s j = store_slot V0 M s j. Proof. by []. Qed.
Lemma copied_root R M k : copied (V R) M k = copied V0 M k. Proof. by []. Qed.
Lemma family_root R : @acsl_family (V R) d = G. Proof. by []. Qed.
Lemma root_key P (s : Seed) : punctured_key (V (words_of s)) d P (words_of s) = keyc P s.
Proof. by rewrite /punctured_key [seed_value _ _](seed_value_words ok). Qed.


(* ---- Where things are ------------------------------------------------------------------------ *)

Local Notation regions := (opt_changeable S l M0).

Lemma depth0 : cell M0 store = Z.of_nat d. Proof. by case: rdy => -[]. Qed.
Lemma opened0 : opened V0 M0 store. Proof. by case: rdy => _ _ []. Qed.
Lemma apart0 : apart_value V0 M0 (key_at l) (value_at l). Proof. by case: rdy => _ _ _ _ [] []. Qed.
Lemma outside0 : outside_store V0 M0 store value. Proof. by case: apart0. Qed.

Lemma key_parts_apart : key_apart V0 M0 (key_at l).
Proof. by case: rdy => _ _ _ _ [] []. Qed.

(* No call changes a cell of the key but the number of seeds. *)
Lemma cell_apart c r : 0 <= c < key_cells -> c <> 13 -> List.In r regions -> ~ r (shift 1 (key_at l) c).
Proof.
move=> cB c13; have inK : span key_cells (key_at l) 0 0 (shift 1 (key_at l) c) by split=> //=; lia.
move=> ir; case: (in_cat_iff ir) => {ir} [ir|[<-|//]] rq; last first.
  by case: apart0 => _ _ _ [Sp _] _; apply: (Sp _ (or_introl erefl) _ rq).
have [[S1 _] [[S2 _] Sum]] := key_parts_apart.
have sum k : 1 <= k /\ k <= 5 -> ~ span 2 (points V0 (cell M0 (shift 1 (shift 1 store 3) k))) 0
    (words V0 (cell M0 store) k - 1) (shift 1 (key_at l) c).
  by move=> kB; have [S' _] := Sum k kB; exact: (S' _ (or_introl erefl) _ inK).
case: ir rq => [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]].
- by case=> _ /=; lia.
- exact: (S1 _ (or_introl erefl) _ inK).
- exact: (S2 _ (or_introl erefl) _ inK).
all: by apply: sum.
Qed.

Lemma store_cell c : shift 1 store c = shift 1 (key_at l) (4 + c).
Proof. by rewrite /store_of /shift /=; congr pair; lia. Qed.

Section After.
Variable M : memory.
Hypothesis U : unchanged M0 M regions.

Lemma key_kept c : 0 <= c < key_cells -> c <> 13 -> cell M (shift 1 (key_at l) c) = cell M0 (shift 1 (key_at l) c).
Proof. by move=> cB c13; apply: U => r ir; apply: cell_apart. Qed.

Lemma head_kept c : 0 <= c <= 16 -> c <> 9 -> cell M (shift 1 store c) = cell M0 (shift 1 store c).
Proof. by move=> cB c9; rewrite store_cell key_kept // /key_cells; lia. Qed.

Lemma slots_kept : in_slots V0 M0 (key_at l) -> in_slots V0 M (key_at l).
Proof. by rewrite /in_slots -/(store_of (key_at l)) head_kept //; lia. Qed.

Lemma family_kept : family_of M (key_at l) = family_of M0 (key_at l).
Proof.
rewrite /family_of /pprf_family_at; have e k : shift 1 (shift 1 (key_at l) 1) k = shift 1 (key_at l) (1 + k).
  by rewrite /shift /=; congr pair; lia.
by rewrite !e !key_kept // /key_cells; lia.
Qed.

Lemma depth_same : cell M store = cell M0 store.
Proof. by rewrite -(shift0 store 1); apply: head_kept. Qed.

Lemma summary_kept k : 1 <= k <= 5 ->
  cell M (shift 1 (shift 1 store 3) k) = cell M0 (shift 1 (shift 1 store 3) k).
Proof. by move=> kB; rewrite summary_at head_kept //; lia. Qed.

Lemma memory_same : store_memory V0 M store = store_memory V0 M0 store.
Proof. by rewrite /store_memory depth_same !head_kept // !summary_kept //; lia. Qed.

Lemma outside_same r : outside_store V0 M0 store r -> outside_store V0 M store r.
Proof.
case=> A [B [C Sum]]; rewrite /outside_store depth_same !head_kept //.
by do 3 (split=> //); move=> k kB; rewrite summary_kept //; apply: Sum.
Qed.

Lemma parts_apart_same : key_apart V0 M (key_at l).
Proof.
have [A [B Sum]] := key_parts_apart; rewrite /key_apart depth_same !head_kept //.
by do 2 (split=> //); move=> k kB; rewrite summary_kept //; apply: Sum.
Qed.

Lemma slots_same : slots_at l M = slots_at l M0.
Proof. by rewrite /slots_at head_kept. Qed.

Lemma bitmap_same q : in_bitmap S d l M q = in_bitmap S d l M0 q.
Proof. by rewrite /in_bitmap /has head_kept // !summary_kept. Qed.

End After.

(* ---- The words of the bitmap ------------------------------------------------------------------- *)

Lemma lies_inP n p lo hi q : lies_in n p lo hi q <-> span n p lo hi q.
Proof.
rewrite /lies_in /span; split=> [/and3P [/Z.eqb_spec -> /Z.leb_spec0 ? /Z.ltb_spec0 ?] //|[-> [? ?]]].
by rewrite Z.eqb_refl /=; apply/andP; split; [apply/Z.leb_spec0 | apply/Z.ltb_spec0].
Qed.

Lemma bitmap_apart r q : outside_store V0 M0 store r -> in_bitmap S d l M0 q -> ~ r q.
Proof.
move=> [_ [_ [[S0 _] Sum]]] /orP [/lies_inP|] qb rq; rewrite depth0 in S0 Sum.
  exact: (S0 _ (or_introl erefl) _ rq).
by have sum k kB h := proj1 (Sum k kB) _ (or_introl erefl) _ rq h;
  case/or4P: qb => [|||/orP [|/orP [|//]]] /lies_inP; apply: sum.
Qed.

Lemma shown_in q : List.In q shown -> in_bitmap S d l M0 q.
Proof.
case: rdy => _ _ _ _ [_]; elim: shown => //= p ps IH /andP [pb psb] [<- //|]; exact: IH.
Qed.

Lemma eq_shown (f g : pointer -> Z) : (forall q, in_bitmap S d l M0 q -> f q = g q) ->
  map f shown = map g shown.
Proof.
move=> E; have := shown_in; elim: shown => //= p ps IH H; congr cons; first by apply/E/H; left.
by apply: IH => q qs; apply: H; right.
Qed.


(* ---- What holds between calls ---------------------------------------------------------------- *)

Record inv_at (M : memory) (P : pred bitseq) (s : Seed) (ws : seq Z) : Prop := InvAt {
  rights : may_read M = may_read M0 /\ may_write M = may_write M0;
  well_typed : opt_typed d l M;
  in_place : store_holds (V (words_of s)) M store d P (words_of s);
  no_value : forall q, value q -> cell M q = 0;
  elsewhere : unchanged M0 M regions;
  bitmap_words : map (cell M) shown = ws
}.

Lemma cell_wipe M q : cell (wipe_value l M) q = if lies_in 1 (value_at l) 0 15 q then 0 else cell M q.
Proof. by []. Qed.

Lemma wipe_beside (M : memory) : unchanged M (wipe_value l M) [:: value].
Proof.
by move=> q out; rewrite cell_wipe; case: ifP => // /lies_inP h; case: (out _ (or_introl erefl)).
Qed.

Lemma value_last r : List.In r [:: value] -> List.In r regions.
Proof. by move=> [<-|//]; do 8 right; left. Qed.

Lemma unchanged_value M M' : unchanged M M' [:: value] -> unchanged M M' regions.
Proof. by apply: unchanged_more; apply: value_last. Qed.

Lemma unchanged_on M M' M'' rs : unchanged M M' rs -> unchanged M' M'' rs -> unchanged M M'' rs.
Proof. by move=> U U' q Q; rewrite U' // U. Qed.

Lemma slot_cell_value q : slot_cells d l M0 q -> ~ value q.
Proof.
case: outside0 => _ [[Sl _] _] [q1 q2] qv; apply: (Sl _ (or_introl erefl) _ qv).
rewrite depth0; split=> //; move: q2; rewrite /slots /slots_at /= /pow2_to.
have -> : Z.to_nat (Z.of_nat d - 1) = d.-1 by case: (d) => [|e] //=; lia.
by rewrite /pprf_seed_cells; lia.
Qed.

Lemma finish M' P' s ws : may_read M' = may_read M0 -> may_write M' = may_write M0 ->
  opt_typed d l M' -> unchanged M0 M' regions ->
  store_holds (V (words_of s)) M' store d P' (words_of s) -> map (cell M') shown = ws ->
  inv_at (wipe_value l M') P' s ws.
Proof.
move=> mr mw ty U H W; have U' := unchanged_on U (unchanged_value (@wipe_beside M')).
split=> //.
- move=> q; rewrite /slot_cells (slots_same U') -(slots_same U) => qs; rewrite cell_wipe.
  by case: ifP => [_|_]; [rewrite /c_uint64_t; lia | apply: ty].
- by apply: (store_beside (D _) (DA _) _ _ (@wipe_beside M') H) => //; exact: (outside_same U outside0).
- by move=> q /lies_inP qv; rewrite cell_wipe qv.
- rewrite -W; apply: eq_shown => q qb; apply: (@wipe_beside M') => r [<-|//].
  by apply: bitmap_apart outside0 qb.
Qed.

Lemma opt_alone (P : pred bitseq) M s ws : inv_at M P s ws ->
  own_key (V (words_of s)) M (key_at l) d P /\ apart_value (V (words_of s)) M (key_at l) (value_at l).
Proof.
case=> -[mr mw] ty H nv U W; case: rdy => _ [[nn [nc fam]] [wr isl]] _ _ _.
have wr' r : writable M0 r -> writable M r by move=> h q /h; rewrite mw.
split; first split=> //.
- by move: nc; rewrite /copied -[key_at l](shift0 _ 1) (key_kept U).
- split=> //; [exact: wr' | exact: slots_kept | exact: (parts_apart_same U) | by rewrite (family_kept U)].
case: apart0 => on w _ sep out; split=> //; first exact: wr'.
  have := nv (value_at l); rewrite /c_uint8_t => ->; first lia.
  by split=> //=; lia.
exact: (outside_same U out).
Qed.

(* ---- Set-up ----------------------------------------------------------------------------------- *)

Lemma cell_poke M p v q : cell (poke M p v) q = if same_cell p q then v else cell M q.
Proof. by []. Qed.

Lemma same_cellP p q : same_cell p q <-> q = p.
Proof.
case: p q => [b c] [b' c']; rewrite /same_cell /=; split=> [/andP [/Z.eqb_spec -> /Z.eqb_spec ->] //|[-> ->]].
by rewrite !Z.eqb_refl.
Qed.

Local Notation M1 s := (opt_set_up l M0 (@words_of S s)).

Lemma cell_set_up s q : q <> count_at l -> ~ slot_cells d l M0 q -> cell (M1 s) q = cell M0 q.
Proof.
move=> nc ns; rewrite !cell_poke.
have in0 j : 0 <= j < 2 -> slot_cells d l M0 (shift 1 (slots_at l M0) j).
  by move=> jB; split=> //=; rewrite /pprf_seed_cells /slots; have := pow2_gt0 d.-1; lia.
case: ifP => [/same_cellP e|_]; first by case: ns; rewrite e; apply: in0; lia.
case: ifP => [/same_cellP e|_]; first by case: ns; rewrite e -(shift0 (slots_at l M0) 1); apply: in0; lia.
by case: ifP => [/same_cellP e|_].
Qed.


Lemma slotsE : AcslRef.pow2 V0 (cell M0 store - 1) = slots d.
Proof.
rewrite depth0 /slots /= /pow2_to; congr (Z.of_N (CModel.pow2 _)).
by case: (d) => [|e] //=; lia.
Qed.

Lemma d32 : 1 <= Z.of_nat d <= 32.
Proof. by case: rdy => -[/andP [/ltP ? /leP ?] _] _ _ _ _; lia. Qed.

Lemma slots_pos : 0 < slots d.
Proof. by rewrite /slots; have := pow2_gt0 d.-1; lia. Qed.

Lemma slot_in_regions : List.In (slot_cells d l M0) regions.
Proof. by right; left; rewrite -[slot_cells _ _ _]/(span 2 (slots_at l M0) 0 (slots d - 1)) -slotsE. Qed.

Lemma count_no_slot : ~ slot_cells d l M0 (count_at l).
Proof.
have [_ [_ [_ [[S1 _] _]]]] := opened0.
rewrite -[slot_cells _ _ _]/(span 2 (slots_at l M0) 0 (slots d - 1)) -slotsE => h.
by apply: (S1 _ (or_introl erefl) _ _ h); split=> //=; lia.
Qed.

Lemma in_words0 i : 0 <= i < words V0 (cell M0 store) 0 ->
  in_bitmap S d l M0 (shift 1 (points V0 (cell M0 (shift 1 store 2))) i).
Proof.
by rewrite depth0 => iB; apply/orP; left; apply/lies_inP; split=> //=; lia.
Qed.

Lemma in_summary k i j : 1 <= k <= 5 -> 0 <= i < words V0 (cell M0 store) k -> 0 <= j < 2 ->
  in_bitmap S d l M0 (shift 1 (shift 2 (points V0 (cell M0 (shift 1 (shift 1 store 3) k))) i) j).
Proof.
rewrite depth0 => kB iB jB; apply/orP; right.
have h : lies_in 2 (points V0 (cell M0 (shift 1 (shift 1 store 3) k))) 0 (words V0 (Z.of_nat d) k - 1)
    (shift 1 (shift 2 (points V0 (cell M0 (shift 1 (shift 1 store 3) k))) i) j).
  by apply/lies_inP; split=> //=; lia.
have kE : k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 by lia.
by case: kE h => [->|[->|[->|[->|->]]]] /= ->; rewrite ?orbT.
Qed.

Lemma bitmap_store q : in_bitmap S d l M0 q -> q <> count_at l /\ ~ slot_cells d l M0 q.
Proof.
have [_ [_ [_ [_ [[S2 _] [[S3 _] Sum]]]]]] := opened0.
have count_head : span 16 store 0 0 (count_at l) by split=> //=; lia.
rewrite -[slot_cells _ _ _]/(span 2 (slots_at l M0) 0 (slots d - 1)) -slotsE.
case/orP => [/lies_inP|] qb; rewrite -depth0 in qb.
  by split=> [e|h]; [apply: (S2 _ (or_introl erefl) (count_at l)); rewrite ?e in qb * |
                     apply: (S3 _ (or_introl erefl) q)].
have sum k : 1 <= k <= 5 ->
    lies_in 2 (leads l (cell M0 (shift 1 (shift 1 store 3) k))) 0 (words V0 (cell M0 store) k - 1) q ->
    q <> count_at l /\ ~ span 2 (slots_at l M0) 0 (AcslRef.pow2 V0 (cell M0 store - 1) - 1) q.
  move=> kB /lies_inP h; have [[A _] [B _]] := Sum k kB.
  by split=> [e|h']; [apply: (A _ (or_introl erefl) (count_at l)); rewrite ?e in h * |
                      apply: (B _ (or_introl erefl) q)].
by case/or4P: qb => [|||/orP [|/orP [|//]]]; apply: sum.
Qed.

Lemma set_up_cells s :
  [/\ cell (M1 s) (count_at l) = 1, cell (M1 s) (slots_at l M0) = low_word s &
      cell (M1 s) (shift 1 (slots_at l M0) 1) = high_word s].
Proof.
have in0 j : 0 <= j < 2 -> slot_cells d l M0 (shift 1 (slots_at l M0) j).
  by move=> jB; split=> //=; have := slots_pos; rewrite /pprf_seed_cells; lia.
have n j : 0 <= j < 2 -> same_cell (shift 1 (slots_at l M0) j) (count_at l) = false.
  by move=> jB; apply/negP => /same_cellP e; apply: count_no_slot; rewrite e; apply: in0.
have n1 : same_cell (shift 1 (slots_at l M0) 1) (slots_at l M0) = false.
  by apply/negP => /same_cellP; case: (slots_at _ _) => b c [] /=; lia.
have y p : same_cell p p by apply/same_cellP.
rewrite !cell_poke !y n1; split=> //.
rewrite n //; have := n 0 ltac:(lia); rewrite shift0 => -> //.
Qed.

Lemma set_up_inv s : inv_at (M1 s) pred0 s (map (cell M0) shown).
Proof.
have [cE loE hiE] := set_up_cells s.
have U : unchanged M0 (M1 s) regions.
  move=> q Q; apply: cell_set_up => [e|h]; last exact: (Q _ slot_in_regions h).
  by apply: (Q (span 1 (shift 1 store 9) 0 0)); [left | rewrite e; split=> //=; lia].
have hd c : 0 <= c < 16 -> c <> 9 -> cell (M1 s) (shift 1 store c) = cell M0 (shift 1 store c).
  by move=> cB c9; apply: (head_kept U); lia.
have bm q : in_bitmap S d l M0 q -> cell (M1 s) q = cell M0 q.
  by case/bitmap_store => nc ns; apply: cell_set_up.
have w0 i (iB : 0 <= i < words V0 (cell M0 store) 0) := bm _ (in_words0 iB).
have wk k i j (kB : 1 <= k <= 5) (iB : 0 <= i < words V0 (cell M0 store) k) (jB : 0 <= j < 2) :=
  bm _ (in_summary kB iB jB).
have K : punctured_key (V (words_of s)) d pred0 (words_of s) = [:: ([::], s)].
  by rewrite root_key /MemoryGame.keyc cover_pred0.
have pair0 : pair_of d [::] = 0 by rewrite /pair_of /first_leaf /=.
have slot0 j : store_slot (V (words_of s)) (M1 s) store j = shift 2 (slots_at l M0) j.
  by rewrite -(slots_same U).
have [[_ [_ _]] [_ [O0 g0]] [z0 v0] _] : [/\ True /\ True /\ True, True /\ (opened V0 M0 store /\
    forall x, (x < CModel.pow2 d)%num -> ~ AcslOpt.is_punctured V0 M0 store (Z.of_N x)),
    (forall q, slot_cells d l M0 q -> cell M0 q = 0) /\ (forall q, value q -> cell M0 q = 0) & True].
  by case: rdy => _ _ [? ?] [? ?] _.
split=> //.
- move=> q; rewrite /slot_cells (slots_same U) => qs.
  have [loB hiB _] := proj2 ok s.
  rewrite !cell_poke; case: ifP => _ //; case: ifP => _ //; case: ifP => _; first by rewrite /c_uint64_t; lia.
  by rewrite z0 // /c_uint64_t; lia.
- split.
  + by rewrite /store_depth (depth_same U) depth0.
  + exact: (@opened_kept (V (words_of s)) M0 (M1 s) store (conj erefl erefl) O0 hd w0 wk).
  + move=> x xd; rewrite (@is_punctured_kept (V (words_of s)) (DA _) M0 (M1 s) store O0 hd w0 wk).
    by split=> // /(g0 _ xd).
  + move=> n; rewrite K => -[<-|//]; rewrite pair0 slot0 /pprf_seed_at !shift0 loE hiE.
    exact: (seed_value_words ok).
  + move=> j jB; rewrite K => nj q; rewrite slot0 => -[q1 q2].
    have j0 : j <> 0 by move=> e; apply: nj; left; rewrite [LHS]/= pair0.
    rewrite /pprf_seed_cells /= in q1 q2.
    have qs : slot_cells d l M0 q by split=> //; rewrite /pprf_seed_cells /slots; lia.
    rewrite !cell_poke; case: ifP => [/same_cellP e|_]; first by rewrite e /= in q2; lia.
    case: ifP => [/same_cellP e|_]; first by rewrite e in q2; lia.
    by case: ifP => [/same_cellP e|_]; [case: count_no_slot; rewrite -e | apply: z0].
  by rewrite K /store_nodes -[shift 1 _ 9]/(count_at l) cE.
- by move=> q qv; rewrite cell_set_up ?v0 // => [e|h]; [| exact: (slot_cell_value h)];
    case: outside0 => -[Sh _] _; apply: (Sh _ (or_introl erefl) q qv); rewrite e; split=> //=; lia.
by apply: eq_shown => q /bm.
Qed.


Lemma in_left (T : Type) (x : T) (a b : seq T) : List.In x a -> List.In x (a ++ b).
Proof. by elim: a => //= y a IH [->|/IH h]; [left | right]. Qed.

(* ---- A call ------------------------------------------------------------------------------------- *)

Lemma places_positions (T T' : Type) (K : Ggm.key T) (K' : Ggm.key T') : unzip1 K = unzip1 K' ->
  places d K = places d K'.
Proof.
have pE (U : Type) (L : Ggm.key U) : places d L =
    [seq (Z.of_N (first_leaf d p), Z.of_nat (d - size p)) | p <- unzip1 L] by rewrite /places -map_comp.
by move=> E; rewrite !pE E.
Qed.

Lemma gaps_inE M P s ws : inv_at M P s ws -> gaps_in S d l M = places d (keyc P s).
Proof.
move=> I; rewrite /gaps_in.
have E y : size y = d -> is_punctured_b V0 M store (Z.of_N (leaf_num y)) = P y.
  move=> sy; have yd : (leaf_num y < CModel.pow2 d)%num by rewrite -sy; apply: leaf_num_lt.
  have := holds_set (in_place I) yd; have -> : leaf_path d (leaf_num y) = y by rewrite -sy leaf_numK.
  rewrite -(is_punctured_bP (DA _) _ (opened_levels (holds_memory (in_place I)))).
  by rewrite -[is_punctured_b _ _ _ _]/(is_punctured_b V0 M store (Z.of_N (leaf_num y)));
    case: (is_punctured_b _ _ _ _); case: (P y) => // -[H H']; [have := H isT | have := H' isT].
rewrite (eq_cover _ _ _ E); apply: places_positions; symmetry; exact: cover_positions.
Qed.

Lemma value_inE M v : @value_is V0 M (value_at l) v -> value_in S l M = v.
Proof.
case=> lo [hi [B <-]]; rewrite /value_in.
have -> : bytes_word M (value_at l) = lo mod 2 ^ 64.
  by apply: (@bytes_wordE V0) => k kB; case: (B k kB).
have -> : bytes_word M (shift 1 (value_at l) 8) = hi mod 2 ^ 64.
  apply: (@bytes_wordE V0) => k kB; have -> : shift 1 (shift 1 (value_at l) 8) k = shift 1 (value_at l) (8 + k).
    by rewrite /shift /=; congr pair; lia.
  by case: (B k kB).
by rewrite -wraps.
Qed.

Lemma store_same (P Q : pred bitseq) M R : (forall x, size x = d -> P x = Q x) ->
  store_holds (V R) M store d P R -> store_holds (V R) M store d Q R.
Proof.
move=> E [dE O set seeds_ no_more_ count_].
have K : punctured_key (V R) d P R = punctured_key (V R) d Q R by apply: eq_cover.
split=> //; [| by rewrite -K..].
by move=> x xd; rewrite set // E ?size_leaf_path.
Qed.

Lemma res_verdict (outside some : bool) r e :
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] ->
  (r = PPRF_ERR_RANGE <-> outside) -> (r = PPRF_ERR_PUNCTURED <-> ~~ outside && ~~ some) ->
  (r = PPRF_OK \/ prg_error V0 r -> r = e) ->
  r = if outside then PPRF_ERR_RANGE else if some then e else PPRF_ERR_PUNCTURED.
Proof.
move=> res rng pun O; apply: (@verdict S) => //; first by move: res => /=; tauto.
by move=> b; rewrite b /= in res; case: res => [|[|[|[|[]]]]].
Qed.

Lemma leaf_verdict (P : pred bitseq) (s : Seed) x r e :
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] ->
  (r = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) ->
  (r = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ eval G (keyc P s) (leaf_path d x) = None) ->
  (r = PPRF_OK \/ prg_error V0 r -> r = e) ->
  r = if (CModel.pow2 d <=? x)%num then PPRF_ERR_RANGE
      else if alive (keyc P s) (leaf_path d x) then e else PPRF_ERR_PUNCTURED.
Proof.
move=> res rng pun O; apply: res_verdict O => //.
  by rewrite rng; split=> /outsideP.
rewrite pun (@alive_eval S d); split=> [[xd ->]|]; first by case: N.leb_spec0 => //=; lia.
by case: N.leb_spec0 => //= xd; case: (eval _ _ _) => // _; split=> //; lia.
Qed.

Lemma range_verdict (P : pred bitseq) (s : Seed) x y r e :
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] ->
  (r = PPRF_ERR_RANGE <-> ~ (x <= y /\ y < CModel.pow2 d)%num) ->
  (r = PPRF_ERR_PUNCTURED <-> (x <= y /\ y < CModel.pow2 d)%num /\
     forall z, (x <= z /\ z <= y)%num -> P (leaf_path d z)) ->
  (r = PPRF_OK \/ prg_error V0 r -> r = e) ->
  r = if (y <? x)%num || (CModel.pow2 d <=? y)%num then PPRF_ERR_RANGE
      else if has_leaf d (fun z => in_region (Range (leaf_path d x) (leaf_path d y)) z && alive (keyc P s) z)
      then e else PPRF_ERR_PUNCTURED.
Proof.
move=> res rng pun O; apply: res_verdict O => //.
  rewrite rng; split=> [|/orP [/N.ltb_spec0|/outsideP]]; try lia.
  by case: N.ltb_spec0 => //= yx; move=> ?; apply/outsideP; lia.
rewrite pun; split=> [[xy erased]|/andP []].
  apply/andP; split; first by apply/norP; split; [apply/N.ltb_spec0; lia | apply/negP => /outsideP; lia].
  apply/has_leafP => -[z sz' /andP [/andP [xz zy]]]; rewrite alive_keyc // => /negP; apply.
  rewrite -[z]leaf_numK sz'; apply: erased.
  rewrite !leaf_le_num ?size_leaf_path // !leaf_pathK in xz zy; try lia.
  by move/N.leb_spec0: xz; move/N.leb_spec0: zy.
case/norP; case: N.ltb_spec0 => // xy _; case: N.leb_spec0 => // yd _ no_leaf.
split; first lia.
move=> z zB; apply: contraNT no_leaf => nP; apply/has_leafP; exists (leaf_path d z).
  exact: size_leaf_path.
rewrite alive_keyc ?size_leaf_path // nP andbT /in_region !leaf_le_num ?size_leaf_path // !leaf_pathK; try lia.
by apply/andP; split; apply/N.leb_spec0; lia.
Qed.

Lemma step M P s ws c o : inv_at M P s ws ->
  let K := keyc P s in
  let p := opt_perform S l F M (words_of s) c o in
  let b := p.1.1 =? PPRF_OK in
  [/\ p.1.1 = result_of d fails K c o, p.1.2 = (if b then value_of d G K c else None) &
      inv_at p.2 (if b then (predU P (region_set d c) : pred bitseq) else P) s
        (if b then marks (places d (bare d P)) ws c o else ws)].
Proof.
move=> I K; rewrite /opt_perform; have [own apart_] := opt_alone I.
have [mr0 mw0] := rights I; have := meets (words_of s) c o mr0 mw0 (elsewhere I).
case E : (opt_does F M (words_of s) c o) => [r cells].
set M' := with_cells M cells; move=> [C [O W] T]; rewrite (gaps_inE I) (bitmap_words I) in O W.
have bareE : places d (keyc P s) = places d (bare d P) := places_positions (bare_keyc d P s); rewrite bareE in W.
have [mr mw] : may_read M' = may_read M0 /\ may_write M' = may_write M0 := rights I.
have {}T : opt_typed d l M' := T (well_typed I).
have words_kept : unchanged M M' [:: value] -> map (cell M') shown = ws.
  move=> U; rewrite -(bitmap_words I); apply: eq_shown => q qb; apply: U => r' [<-|//].
  by apply: bitmap_apart outside0 qb.
have held_kept : unchanged M M' [:: value] -> store_holds (V (words_of s)) M' store d P (words_of s).
  move=> U; apply: (store_beside (D _) (DA _) _ _ U (in_place I)) => //.
  exact: (outside_same (elsewhere I) outside0).
have regionsE : store_memory V0 M store = store_memory V0 M0 store := memory_same (elsewhere I).
have done_ P' ws' : unchanged M M' regions ->
    store_holds (V (words_of s)) M' store d P' (words_of s) -> map (cell M') shown = ws' ->
    inv_at (wipe_value l M') P' s ws'.
  by move=> U H; apply: finish => //; apply: unchanged_on (elsewhere I) U.
have fail_ : r <> PPRF_OK -> unchanged M M' [:: value] -> inv_at (wipe_value l M') P s ws.
  by move=> _ U; apply: done_; [exact: unchanged_value | exact: held_kept | exact: words_kept].
case: c E C O W => [x|x|x y] E C O W.
- (* pprf_eval *)
  have [res [rng [pun [val [_ U]]]]] := opt_eval_sound (D _) (DL _) (DA _) (uint64_ok x) own apart_ C.
  rewrite root_key in pun val.
  have rE : r = result_of d fails K (EvalCall x) o by apply: leaf_verdict O.
  split=> //=; first by case: Z.eqb_spec => //= e; have [v vE /value_inE ->] := val e.
  case: Z.eqb_spec => [rK|rN]; last exact: fail_.
  apply: done_; [exact: unchanged_value | | exact: W].
  by apply: store_same (held_kept U) => z _ /=; rewrite orbF.
- (* pprf_eval_punct *)
  have [res [rng [pun [val [err U]]]]] := opt_eval_punct_sound (D _) (DL _) (DA _) (uint64_ok x) own apart_ C.
  rewrite root_key in pun val.
  have rE : r = result_of d fails K (EvalPunctCall x) o by apply: leaf_verdict O.
  split=> //=; first by case: Z.eqb_spec => //= e; have [[v vE /value_inE ->] _] := val e.
  case: Z.eqb_spec => [rK|rN]; last by have [U' _] := err rN; apply: fail_.
  have [_ H] := val rK; apply: done_; [| exact: H | exact: W].
  by move: U; rewrite /opt_changeable -regionsE.
move: C; rewrite /opt_contract_of; case: ifP => [/andP [_ /N.eqb_spec xy]|_] C.
- (* pprf_punct *)
  have [res [rng [pun [done [err U]]]]] := opt_punct_sound (D _) (DL _) (DA _) (uint64_ok x) own C.
  have U' : unchanged M M' regions.
    move=> q Q; apply: U => r' ir; apply: Q; rewrite /opt_changeable -regionsE.
    by apply: in_left.
  have rE : r = result_of d fails K (RangeCall x y) o.
    apply: range_verdict O => //; rewrite -?xy; first by rewrite rng; lia.
    have erasedE : eval G (keyc P s) (leaf_path d (sval x)) = None <-> P (leaf_path d (sval x)).
      have := alive_keyc P s (size_leaf_path d (sval x)); rewrite (@alive_eval S d).
      by case: (eval _ _ _); case: (P _).
    rewrite pun root_key erasedE; split=> [[xd Px]|[xd Px]]; last by split; [lia | apply: Px; lia].
    split; first lia.
    by move=> z zB; have -> : z = sval x by lia.
  split=> //=; first by case: Z.eqb_spec.
  case: Z.eqb_spec => [rK|rN]; last first.
    apply: fail_ => // q _; exact: (err rN).
  apply: done_; [exact: U' | | exact: W].
  have xd : (sval x < CModel.pow2 d)%num.
    have nR : ~ ~ (sval x < CModel.pow2 d)%num by move/rng; rewrite rK.
    lia.
  apply: store_same (done rK) => z sz /=; congr orb; rewrite /region_set /= -xy.
  rewrite !leaf_le_num ?size_leaf_path // leaf_pathK //; apply/eqP/andP => [->|].
    by rewrite leaf_pathK // N.leb_refl.
  case=> /N.leb_spec0 lo /N.leb_spec0 hi; apply: leaf_num_inj; rewrite ?size_leaf_path // leaf_pathK //; lia.
(* pprf_punct_range *)
have [res [rng [pun [done [err U]]]]] :=
  opt_punct_range_sound (D _) (DL _) (DA _) (uint64_ok x) (uint64_ok y) own C.
have U' : unchanged M M' regions.
  move=> q Q; apply: U => r' ir; apply: Q; rewrite /opt_changeable -regionsE.
  by apply: in_left.
have rE : r = result_of d fails K (RangeCall x y) o by apply: range_verdict O.
split=> //=; first by case: Z.eqb_spec.
case: Z.eqb_spec => [rK|rN]; last first.
  apply: fail_ => // q _; exact: (err rN).
by apply: done_; [exact: U' | exact: done rK | exact: W].
Qed.


(* ---- All of memory ------------------------------------------------------------------------------ *)

Lemma notedE (f : pointer -> Z) ps q :
  noted ps (map f ps) q = if has (fun p => same_cell p q) ps then f q else 0.
Proof.
elim: ps => //= p ps ->; case: ifP => //= /same_cellP <- //.
Qed.

Lemma in_filter (T : Type) (p : pred T) (K : seq T) n K' : [seq x <- K | p x] = n :: K' ->
  List.In n K /\ p n.
Proof.
elim: K => //= x K IH; case: ifP => [px [<- _]|_ /IH [h pn]]; first by split; [left |].
by split; [right |].
Qed.

Lemma filter_none (T : Type) (p : pred T) (K : seq T) : [seq x <- K | p x] = [::] ->
  forall n, List.In n K -> p n = false.
Proof.
elim: K => //= x K IH; case: ifP => // px /IH h n [<-|] //; exact: h.
Qed.

Lemma in_map (T U : Type) (f : T -> U) (K : seq T) y : List.In y (map f K) ->
  exists2 n, List.In n K & f n = y.
Proof.
elim: K => //= x K IH [<-|/IH [n nK <-]]; first by exists x; [left |].
by exists n; [right |].
Qed.

Lemma imageE M P s ws q : inv_at M P s ws ->
  opt_peek S d shown l M q = opt_image d shown l M0 ws (keyc P s) q.
Proof.
move=> I; have U := elsewhere I; have H := in_place I.
have pE : opt_peek S d shown l M q = if in_bitmap S d l M0 q && ~~ has (fun p => same_cell p q) shown then 0
    else cell M q by rewrite /opt_peek (bitmap_same U).
rewrite /opt_image.
case: ifP => [/lies_inP A|nA].
  have nb : in_bitmap S d l M0 q = false by apply/negP => /bitmap_store [_].
  rewrite pE nb /=; set i := snd q - _; rewrite /pprf_seed_cells in A; case: A => q1 q2.
  have e := Z.div_mod i 2 ltac:(lia); have wB := Z.mod_pos_bound i 2 ltac:(lia).
  set j := i / 2 in e *; set w := i mod 2 in e wB *.
  have jB : 0 <= j < slots d by rewrite /i in e; lia.
  have slotE : store_slot (V (words_of s)) M store j = shift 2 (slots_at l M0) j.
    by rewrite -(slots_same U).
  have qE : q = shift 1 (store_slot (V (words_of s)) M store j) w.
    rewrite slotE [LHS]surjective_pairing q1 /shift; congr pair; rewrite /= /i in e *; lia.
  rewrite /slot_word; case E : [seq n <- keyc P s | pair_of d n.1 =? j] => [|n K'].
    apply: (holds_no_more H jB _ (q := q)); last first.
      by split; [rewrite qE | rewrite qE /pprf_seed_cells /shift /=; lia].
    move=> h; have [n nK nE] := in_map h; rewrite root_key in nK.
    by have := filter_none E nK; rewrite nE Z.eqb_refl.
  have [nK /Z.eqb_spec nE] := in_filter E; rewrite -(root_key P) in nK.
  have := holds_seeds H nK; rewrite nE; move: qE; set p := store_slot _ _ _ _ => qE sE.
  have tc c : 0 <= c < 2 -> c_uint64_t (cell M (shift 1 p c)).
    move=> cB; apply: (well_typed I); rewrite /slot_cells (slots_same U) /p slotE.
    by split=> //; rewrite /pprf_seed_cells /=; lia.
  have [L Hi] := proj1 ok _ _ (tc 0 ltac:(lia)) (tc 1 ltac:(lia)).
  rewrite -sE qE; case: Z.eqb_spec => w0; first by rewrite w0; symmetry; exact: L.
  have -> : w = 1 by lia.
  by symmetry; exact: Hi.
have nslot : ~ slot_cells d l M0 q by move/lies_inP; rewrite nA.
case: ifP => [/same_cellP qE|nC].
  have nb : in_bitmap S d l M0 q = false by apply/negP => /bitmap_store [].
  by rewrite pE nb qE /=; have := holds_count H; rewrite /store_nodes root_key.
case: ifP => [/lies_inP qv|nV].
  have nb : in_bitmap S d l M0 q = false by apply/negP => qb; apply: (bitmap_apart outside0 qb qv).
  by rewrite pE nb (no_value I).
rewrite {}pE; case b : (in_bitmap S d l M0 q) => /=; first by rewrite -(bitmap_words I) notedE; case: (has _ _).
apply: U => r ir rq; case: (in_cat_iff ir) => {ir} [ir|[e|//]]; last first.
  by move/negP: nV; apply; apply/lies_inP; rewrite -[span _ _ _ _]/value e.
rewrite /store_memory depth0 in ir.
have no n p m : (lies_in n p 0 m q -> in_bitmap S d l M0 q) -> ~ span n p 0 m q.
  by move=> h /lies_inP /h; rewrite b.
case: ir rq => [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]].
- move=> [q1 q2]; move/negP: nC; apply; apply/same_cellP.
  by rewrite [LHS]surjective_pairing q1 /shift; congr pair; rewrite /= in q2 *; lia.
- by move=> h; apply: nslot; rewrite /slot_cells -slotsE depth0.
- by apply: no => h; rewrite /in_bitmap h.
all: by apply: no => h; rewrite /in_bitmap /= h ?orbT.
Qed.

(* ---- Lists of calls ------------------------------------------------------------------------------- *)

Lemma run_calls_model M P s ws cs : inv_at M P s ws ->
  let r := opt_run_calls S l F M (words_of s) cs in
  let m := model_calls d fails G (keyc P s) cs in
  r.1 = m.1 /\ forall q, opt_peek S d shown l r.2 q = opt_image d shown l M0 (marked d marks (bare d P) ws cs m.1) m.2 q.
Proof.
elim: cs M P ws => [|[c o] cs IH] M P ws I /=; first by split=> // q; apply: imageE.
have [rE vE I'] := step c o I.
case E : (opt_perform _ _ _ _ _ _ _) rE vE I' => [[r v] M'] /= -> -> I'.
case: ifP I' => b I'; have := IH _ _ _ I'; rewrite /MemoryGame.keyc /MemoryGame.bare -?puncture_callE -?puncture_callE;
  case: (opt_run_calls _ _ _ _ _ _) => rs M'' /=; case: (model_calls _ _ _ _ _) => rs' K'' /= [-> H];
  by split=> // q; rewrite b; apply: H.
Qed.

Theorem opt_calls_sound s cs :
  let r := opt_run_calls S l F (M1 s) (words_of s) cs in
  let m := model_calls d fails G (keygen s) cs in
  r.1 = m.1 /\ forall q, opt_peek S d shown l r.2 q =
    opt_image d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q.
Proof.
have := @run_calls_model _ pred0 s _ cs (set_up_inv s).
by rewrite /MemoryGame.keyc /MemoryGame.bare !cover_pred0.
Qed.

(* ---- The game ------------------------------------------------------------------------------------- *)

Theorem opt_game_is_model w A :
  Pr (@opt_game S d _ shown l F M0 w A) =
  Pr (@ev_game Seed (zero_block S) G d 0 w (@opt_against_model S d _ fails marks shown l M0 A)).
Proof.
refine (@game_is_model S d (order Fault) (opt_perform S l F) (opt_peek S d shown l)
  (Ggm.key unit * seq Z) (fun m => m.1)
  (fun m c o => (puncture_call d no_seed c m.1, marks (places d m.1) m.2 c o)) (fun m _ _ => m) (fun _ => fails)
  (fun m => opt_image d shown l M0 m.2)
  (@opt_as_model S d Fault fails marks shown l M0) _ _ _ _
  (fun M P s m => inv_at M P s m.2 /\ m.1 = bare d P) _ _ _ w (fun s => M1 s)
  (keygen tt, map (cell M0) shown) A _) => //.
- by move=> [[K ws] *].
- by move=> M P s m [].
- move=> M P s [K ws] c o [/= I ->]; have [rE vE I'] := step c o I; split=> //.
  by case: ifP I' => // _ I'; rewrite puncture_callE.
- by move=> M P s m q [I _]; exact: imageE.
- by move=> s; split; [exact: set_up_inv | rewrite /bare cover_pred0].
Qed.

End OptSecurity.

(* SPDX-License-Identifier: Apache-2.0 *)
(* From the contracts of opt's API to the security theorem for keys with the packed store: what a thief reads is the
   model's (packed_imageE), so the game on memory is the model's game (packed_game_is_model). *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore AcslPacked KeyCalls PackedKey.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Layout AcslAgree AcslSound KeySound PackedSound.
From Pprf.spec Require Import RefGame OptGame PackedGame AttackCost.
From Pprf.proofs Require Import ProbabilityFacts ReductionFacts EvaluationSecurity EvaluationCost MemoryGame AttackCost RefSecurity OptSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.of_nat : simpl never.
#[local] Arguments Z.to_nat : simpl never.
#[local] Arguments CModel.pow2 : simpl never.
#[local] Arguments Z.pow : simpl never.

Lemma apart2 r1 r2 q : separated [:: r1; r2] -> r1 q -> r2 q -> False.
Proof. by move=> [A _]; apply: A; left. Qed.

Lemma lies_spanP n p lo hi q : lies_in n p lo hi q <-> span n p lo hi q.
Proof.
rewrite /lies_in /span; split=> [/and3P [/Z.eqb_spec -> /Z.leb_spec0 ? /Z.ltb_spec0 ?] //|[-> [? ?]]].
by rewrite Z.eqb_refl /=; apply/andP; split; [apply/Z.leb_spec0 | apply/Z.ltb_spec0].
Qed.

Lemma eq_first_of n p p' : (forall k, 0 <= k < n -> p k = p' k) -> first_of n p = first_of n p'.
Proof.
move=> E; rewrite /first_of; have -> // : [seq k <- iota 0 (Z.to_nat n) | p (Z.of_nat k)] =
  [seq k <- iota 0 (Z.to_nat n) | p' (Z.of_nat k)].
by apply: eq_in_filter => k; rewrite mem_iota add0n => /andP [_ /ltP kn]; apply: E; lia.
Qed.

Lemma eq_tile_start L L' tile f n : (forall k, 0 <= k < Z.of_nat n -> cell L (shift 1 tile k) = cell L' (shift 1 tile k)) ->
  tile_start_to L tile f n = tile_start_to L' tile f n.
Proof. by elim: n => //= n IH E; rewrite IH ?E // => [|k kB]; [lia | apply: E; lia]. Qed.

Lemma eq_seeds_before L L' tile n : (forall k, 0 <= k < Z.of_nat n -> cell L (shift 1 tile k) = cell L' (shift 1 tile k)) ->
  seeds_before_to L tile n = seeds_before_to L' tile n.
Proof. by elim: n => //= n IH E; rewrite IH ?E // => [|k kB]; [lia | apply: E; lia]. Qed.

Section PackedSecurity.
Variable S : suite.
Hypothesis ok : suite_ok S.
Variable d : nat.
Variable Fault : Type.
Variable hidden : pred pointer.
Variable l : packed_layout.
Variable U : pprf_seed -> memory.
Local Notation Seed := (block S).
Local Notation G := (@suite_prg S d).
Local Notation V s := (packed_logic S l (@words_of S s)).
Local Notation V0 := (packed_logic S l (pprf_seed_intro 0 0)).
Local Notation keyc := (@keyc S d).
Local Notation bare := (@bare d).
Local Notation in_ := (@packed_in S d l U).
Local Notation page_of := (page_of S l).
Local Notation shape := (shape S hidden l).

Lemma DV R : definitions (packed_logic S l R).
Proof. exact: (proj1 (packed_definitions_exist _ _ _ _ _ _ _ _)). Qed.
Lemma DPV R : packed_definitions (packed_logic S l R).
Proof. exact: (proj2 (packed_definitions_exist _ _ _ _ _ _ _ _)). Qed.

Lemma packed_root_key P (s : Seed) : punctured_key (V s) d P (words_of s) = keyc P s.
Proof. by rewrite /punctured_key [seed_value _ _](seed_value_words ok). Qed.

(* Cells that both the thief sees and the shape has. *)
Definition plain (q : pointer) : Prop := ~ span 1 (value_at l) 0 15 q /\ ~ seed_cell l q.

Lemma seed_cellP q : seed_cell l q -> span 4612 (blocks_at l) 0 (OPT_PAGES_MAX - 1) q.
Proof. by case/andP => /lies_spanP. Qed.

(* ---- What is where ------------------------------------------------------------------------------ *)

Section Holding.
Variables (M : memory) (s : Seed) (P : pred bitseq).
Hypothesis I : in_ M s P.
Local Notation p := (packed_at l M).
Local Notation pages := (packed_pages M p).
Local Notation page i := (packed_page V0 M p i).

Lemma whole : [/\ packed_holds (V s) M (seed_value (V s) (words_of s)) p, packed_owns V0 M p, index_memory V0 M p,
  cell M (shift 1 p 1) = Z.of_nat d & forall x, (x < CModel.pow2 d)%num -> packed_punctured V0 M p (Z.of_N x) <-> P (leaf_path d x)].
Proof.
case: I => pk [_ _ _ [[_ [K _]] dE] set] _ _ _.
have [/(packed_key_def (V s) (DPV _)) [PH [PO [_ [_ IM]]]] [dE' _]] := K pk.
split=> //; first by rewrite -dE -dE'.
move=> x xd; rewrite -(set x xd) /AcslApi.punctured.
by split=> [h|[[_ h]|[np _]]]; [by left | exact: h | by case: np].
Qed.

Lemma around : [/\ separated [:: span 21 (key_at l) 0 0; span 4612 (blocks_at l) 0 (OPT_PAGES_MAX - 1)],
  separated [:: span 1 (value_at l) 0 15; span 21 (key_at l) 0 0], separated [:: span 11 p 0 0; span 1 (value_at l) 0 15],
  separated [:: span 4612 (blocks_at l) 0 (OPT_PAGES_MAX - 1); span 1 (value_at l) 0 15] &
  separated [:: span 1 (firsts_at l) 0 (OPT_INDEX_MAX - 1); span 1 (value_at l) 0 15] /\
  separated [:: span 1 (lists_at l) 0 (OPT_INDEX_MAX - 1); span 1 (value_at l) 0 15]].
Proof.
case: I => pk [_ _ _ [[_ [K _]] _] _] [_ _ _ [A [B _]]] _ _.
have [_ [_ /(apart_from_packed_def (V s) (DPV _)) [_ [C _]]]] := K pk.
by have /(value_apart_def V0 (DPV _)) [E [F [H1 H2]]] := B pk.
Qed.

Lemma key_plain c : 0 <= c < 21 -> plain (shift 1 (key_at l) c).
Proof.
move=> cB; have [A B _ _ _] := around; have inK : span 21 (key_at l) 0 0 (shift 1 (key_at l) c) by split=> //=; lia.
by split=> [h|/seed_cellP h]; [exact: apart2 B h inK | exact: apart2 A inK h].
Qed.

Lemma store_plain c : 0 <= c < 11 -> plain (shift 1 p c).
Proof.
move=> cB; have [_ _ A _ _] := around; have [_ [[_ [_ [_ [_ [_ [_ [B _]]]]]]] _] _ _ _] := whole.
have inS : span 11 p 0 0 (shift 1 p c) by split=> //=; lia.
by split=> [h|/seed_cellP h]; [exact: apart2 A inS h | exact: apart2 B inS h].
Qed.

Lemma index_plain i : 0 <= i < pages ->
  plain (shift 1 (points V0 (cell M (shift 1 p 7))) i) /\ plain (shift 1 (points V0 (cell M (shift 1 p 8))) i).
Proof.
move=> iB; have [_ [[_ [_ [n [_ [_ [[A [B _]] _]]]]]] _] [_ [_ [_ [_ [_ IN]]]]] _ _] := whole.
have [_ _ _ _ [VF VL]] := around; rewrite /packed_pages in iB.
have f : span 1 (points V0 (cell M (shift 1 p 7))) 0 (cell M (shift 1 p 5) - 1) (shift 1 (points V0 (cell M (shift 1 p 7))) i).
  by split=> //=; lia.
have g : span 1 (points V0 (cell M (shift 1 p 8))) 0 (cell M (shift 1 p 5) - 1) (shift 1 (points V0 (cell M (shift 1 p 8))) i).
  by split=> //=; lia.
split; split=> [h|/seed_cellP h].
- case: IN => [[E [_ r1]]|[a [b [a0 [aM [E _]]]]]].
    have [] := store_plain (c := 9 + i) ltac:(lia) => nv _; apply: nv; move: h; rewrite E /shift /=.
    by rewrite (_ : snd p + 1 * 9 + 1 * i = snd p + 1 * (9 + i)) //; lia.
  by apply: apart2 VF _ h; rewrite E; split=> //=; lia.
- by apply: A h; [right; left | exact: f].
- case: IN => [[_ [E r1]]|[a [b [_ [_ [_ [b0 [bM E]]]]]]]].
    have [] := store_plain (c := 10 + i) ltac:(lia) => nv _; apply: nv; move: h; rewrite E /shift /=.
    by rewrite (_ : snd p + 1 * 10 + 1 * i = snd p + 1 * (10 + i)) //; lia.
  by apply: apart2 VL _ h; rewrite E; split=> //=; lia.
by apply: B h; [left | exact: g].
Qed.

Lemma page_block i : 0 <= i < pages -> exists2 k, 0 <= k < OPT_PAGES_MAX & page i = shift 4612 (blocks_at l) k.
Proof.
by move=> iB; have [_ [_ [O _]] _ _ _] := whole; have [[k [kB kE]] _] := O i iB; exists k.
Qed.

Lemma page_plain i c : 0 <= i < pages -> 0 <= c < 4100 -> plain (shift 1 (page i) c).
Proof.
move=> iB cB; have [k kB ->] := page_block iB; have [_ _ _ A _] := around.
split=> [h|/andP [_]]; first by apply: apart2 A _ h; split=> //=; lia.
rewrite /shift /= (_ : _ + _ + _ - _ = c + k * 4612); last lia.
by rewrite Z_mod_plus_full Z.mod_small; [move/Z.leb_spec0; lia | lia].
Qed.

Lemma tiles_few i : 0 <= i < pages -> 0 <= page_tiles V0 M p i <= 4088.
Proof.
move=> iB; have [[_ H] _ _ _ _] := whole; have [[_ F] [t1 [_ [_ [_ [mE _]]]]]] := H i iB.
rewrite -[page_tiles _ _ _ _]/(page_tiles (V s) M p i); move: F t1 mE.
rewrite -/(packed_page (V s) M p i) -/(page_tiles (V s) M p i) /page_bytes -/(page_tiles (V s) M p i) /OPT_ARENA_MAX => F t1.
have := @before_pos (V s) (DPV _) M (page_row (V s) M (packed_page (V s) M p i)) (Z.to_nat (page_tiles (V s) M p i)).
by rewrite Z2Nat.id; [move=> m0 mE; rewrite mE in m0; lia | lia].
Qed.

Lemma page_ofP q : if page_of M q is Some i then 0 <= i < pages /\ span 2 (shift 1 (page i) 4100) 0 (OPT_PAGE_SEEDS - 1) q
  else forall i, 0 <= i < pages -> ~ span 2 (shift 1 (page i) 4100) 0 (OPT_PAGE_SEEDS - 1) q.
Proof.
rewrite /PackedGame.page_of; have := first_ofP pages (fun i => lies_in 2 (shift 1 (page i) 4100) 0 (OPT_PAGE_SEEDS - 1) q).
case: first_of => [i [iB /lies_spanP h]|none] //.
by move=> i iB /lies_spanP; rewrite none.
Qed.

Lemma page_seed q : page_of M q -> seed_cell l q.
Proof.
have := page_ofP q; case: (page_of M q) => // i [iB +] _.
have [k kB ->] := page_block iB; case=> /= q1; rewrite /OPT_PAGE_SEEDS => q2.
apply/andP; split; first by apply/lies_spanP; split=> //; lia.
rewrite (_ : snd q - snd (blocks_at l) = (snd q - snd (blocks_at l) - 4612 * k) + k * 4612); last lia.
by rewrite Z_mod_plus_full Z.mod_small; [apply/Z.leb_spec0; lia | lia].
Qed.

Lemma plain_shape q : (forall q, hidden q -> seed_cell l q) -> plain q -> shape M q = cell M q.
Proof.
move=> hs [nv ns]; rewrite /PackedGame.shape.
have -> : lies_in 1 (value_at l) 0 15 q = false by apply/negP => /lies_spanP.
have -> : hidden q = false by apply/negP => /hs.
by case E : (page_of M q) => [i|] //; case: ns; apply: page_seed; rewrite E.
Qed.

(* What a place of a seed holds. *)
Lemma place_holds q i : page_of M q = Some i ->
  let n := (snd q - snd (page i) - 4100) in
  cell M q = if @seed_of_place V0 M p d (keyc P s) i (OPT_PAGE_SEEDS - 1 - n / 2) is Some v then
      (if n mod 2 =? 0 then low_word (v : Seed) else high_word (v : Seed)) else 0.
Proof.
move=> E n; have := page_ofP q; rewrite E => -[iB [q1 q2]].
have qs : seed_cell l q by apply: page_seed; rewrite E.
have e := Z.div_mod n 2 ltac:(lia); have w := Z.mod_pos_bound n 2 ltac:(lia).
have nB : 0 <= n < 512 by rewrite /n; rewrite /OPT_PAGE_SEEDS /= in q2; lia.
set j := OPT_PAGE_SEEDS - 1 - n / 2; have jB : 0 <= j < OPT_PAGE_SEEDS by rewrite /j /OPT_PAGE_SEEDS; lia.
have [PH PO _ dE set] := whole.
have := packed_seeds_from_cover (V := V s) (DV _) (DPV _) PH dE PO set iB jB.
rewrite packed_root_key /= -[seed_of_place _ _ _ _ _ _]/(@seed_of_place V0 M p d (keyc P s) i j).
set a := place_at _ _ _ _ _.
have aE : a = (fst q, snd q - n mod 2).
  rewrite /a /place_at /page_top /shift /= -[packed_page _ _ _ _]/(page i); rewrite /= in q1; rewrite q1.
  by congr pair; rewrite /j /OPT_PAGE_SEEDS /pprf_seed_cells; rewrite /n in e *; lia.
have at_ k : shift 1 a k = (fst q, snd q - n mod 2 + k) by rewrite aE /shift /=; congr pair; lia.
have qE : q = shift 1 a (n mod 2) by rewrite at_ [LHS]surjective_pairing; congr pair; lia.
have w01 : n mod 2 = 0 \/ n mod 2 = 1 by lia.
have tc : c_uint64_t (cell M (shift 1 a 0)) /\ c_uint64_t (cell M (shift 1 a 1)).
  case: I => _ _ _ [_ ty] _.
  have in0 k : 0 <= k < 2 -> seed_cell l (shift 1 a k).
    move=> kB; apply: page_seed; have -> : page_of M (shift 1 a k) = page_of M q.
      rewrite /PackedGame.page_of; apply: eq_first_of => i' iB'.
      have [k' k'B ->] := page_block iB'; have [k0 k0B kE] := page_block iB.
      rewrite at_ /lies_in /=; rewrite /n kE /= in e w *; congr andb; congr andb.
      + by apply/Z.leb_spec0/Z.leb_spec0; lia.
      + by apply/Z.ltb_spec0/Z.ltb_spec0; rewrite /OPT_PAGE_SEEDS; lia.
    by rewrite E.
  by split; apply: ty; apply: in0; lia.
have [L Hi] := proj1 ok _ _ (proj1 tc) (proj2 tc).
case: seed_of_place => [v|].
  rewrite /seed_value /= => vE; rewrite -[v]vE; rewrite {1}qE.
  by case: w01 => -> /=; [symmetry; exact: L | symmetry; exact: Hi].
by move=> [/= z0 z1]; rewrite qE; case: w01 => ->.
Qed.

End Holding.

(* ---- Two memories of one shape ------------------------------------------------------------------- *)

Section Shapes.

Section Two.
Variables (M M' : memory) (s : Seed) (P : pred bitseq).
Hypothesis I : in_ M s P.
Hypothesis plain_same : forall q, plain q -> cell M' q = cell M q.
Local Notation p := (packed_at l M).
Local Notation pages := (packed_pages M p).
Local Notation page i := (packed_page V0 M p i).

Lemma at_same : packed_at l M' = p.
Proof.
rewrite /packed_at; congr (leads l _); have -> : shift 1 (store_of (key_at l)) 16 = shift 1 (key_at l) 20.
  by rewrite /store_of /shift /=; congr pair; lia.
by apply: plain_same; apply: (key_plain I); lia.
Qed.

Lemma pages_same : packed_pages M' p = pages.
Proof. by apply: plain_same; apply: (store_plain I); lia. Qed.

Lemma page_same i : 0 <= i < pages -> packed_page V0 M' p i = page i /\ packed_first V0 M' p i = packed_first V0 M p i.
Proof.
move=> iB; have [A B] := index_plain I iB.
rewrite /packed_page /packed_first !(plain_same (store_plain I (c := 7) _)) ?(plain_same (store_plain I (c := 8) _)); try lia.
by rewrite (plain_same A) (plain_same B).
Qed.

Section Page.
Variable i : Z.
Hypothesis iB : 0 <= i < pages.

Lemma tiles_same : page_tiles V0 M' p i = page_tiles V0 M p i.
Proof.
by rewrite /page_tiles (proj1 (page_same iB)); apply: plain_same; apply: (page_plain I iB); lia.
Qed.

Lemma tile_same k : 0 <= k < page_tiles V0 M p i ->
  cell M (shift 1 (page_row V0 M (page i)) k) = cell M' (shift 1 (page_row V0 M (page i)) k).
Proof.
move=> kB; have few := tiles_few I iB; symmetry; apply: plain_same.
have -> : shift 1 (page_row V0 M (page i)) k = shift 1 (page i) (4 + k) by rewrite /page_row /shift /=; congr pair; lia.
by apply: (page_plain I iB); lia.
Qed.

Lemma seed_of_place_same K j : @seed_of_place V0 M' p d K i j = @seed_of_place V0 M p d K i j.
Proof.
have row : page_row V0 M' (packed_page V0 M' p i) = page_row V0 M (page i) by rewrite (proj1 (page_same iB)).
have byte k : 0 <= k < page_tiles V0 M p i -> byte_at V0 M' p i k = byte_at V0 M p i k.
  by move=> kB; rewrite /byte_at row; symmetry; exact: tile_same.
have before k : 0 <= k < page_tiles V0 M p i ->
    seeds_before V0 M' (page_row V0 M' (packed_page V0 M' p i)) k = seeds_before V0 M (page_row V0 M (page i)) k.
  by move=> kB; rewrite row; symmetry; apply: eq_seeds_before => m mB; apply: tile_same; lia.
have start k : 0 <= k < page_tiles V0 M p i -> start_at V0 M' p i k = start_at V0 M p i k.
  move=> kB; rewrite /start_at row (proj2 (page_same iB)); symmetry.
  by apply: eq_tile_start => m mB; apply: tile_same; lia.
have tileE : tile_of_place V0 M' p i j = tile_of_place V0 M p i j.
  by rewrite /tile_of_place tiles_same; apply: eq_first_of => k kB; rewrite byte // before.
rewrite /seed_of_place tileE; have := first_ofP (page_tiles V0 M p i) (fun k =>
  (64 <=? byte_at V0 M p i k) && (seeds_before V0 M (page_row V0 M (page i)) k =? j)).
by rewrite -/(tile_of_place V0 M p i j); case: tile_of_place => // k [kB _]; rewrite byte // start.
Qed.

End Page.

Lemma page_of_same q : page_of M' q = page_of M q.
Proof.
rewrite /PackedGame.page_of at_same pages_same; apply: eq_first_of => i iB.
by rewrite (proj1 (page_same iB)).
Qed.

End Two.

Hypothesis hides_seeds : forall q, hidden q -> seed_cell l q.

Lemma shape_plain M M' s s' P P' : in_ M s P -> in_ M' s' P' -> (forall q, shape M q = shape M' q) ->
  forall q, plain q -> cell M' q = cell M q.
Proof. by move=> I I' E q pq; rewrite -(plain_shape I hides_seeds pq) E (plain_shape I' hides_seeds pq). Qed.

(* What a thief reads is what the model's key gives memory of this shape. *)
Theorem packed_imageE M M' s s' P q : in_ M s P -> in_ M' s' P -> (forall q, shape M q = shape M' q) ->
  packed_peek S hidden l M q = packed_image d hidden l M' (keyc P s) q.
Proof.
move=> I I' same; have pl := shape_plain I I' same.
have := same q; rewrite /packed_peek /packed_image /PackedGame.shape (page_of_same I pl).
case: (lies_in _ _ _ _ q) => //=; have := page_ofP M q; case E : (page_of M q) => [i|] /= B.
  by rewrite andbF (at_same I pl) => _; rewrite (place_holds I E) (proj1 (page_same I pl (proj1 B))) (seed_of_place_same I pl (proj1 B)).
by rewrite orbF andbT; case: (hidden q).
Qed.

End Shapes.

(* ---- A call --------------------------------------------------------------------------------------- *)

Lemma packed_in_same M s (P Q : pred bitseq) : (forall x, (x < CModel.pow2 d)%num -> P (leaf_path d x) = Q (leaf_path d x)) ->
  in_ M s P -> in_ M s Q.
Proof.
by move=> E [pk [nn nc fam K set] A ty rt]; split=> //; split=> // x xd; rewrite -E //; exact: set.
Qed.

Lemma call_result (P : pred bitseq) (s : Seed) c (o : order Fault) r L' :
  answers (V s) (value_at l) d P (key_call_of c o) r L' -> r = result_of d (fun _ _ _ => r) (keyc P s) c o.
Proof.
case=> _ rng pun _.
have one x : (r = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) ->
    (r = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ forall q, size q = d -> pred1 (leaf_path d x) q -> P q) ->
    r = if (CModel.pow2 d <=? x)%num then PPRF_ERR_RANGE else if alive (keyc P s) (leaf_path d x) then r else PPRF_ERR_PUNCTURED.
  move=> R Q; case: N.leb_spec0 => xd; first by apply/R; lia.
  rewrite alive_keyc ?size_leaf_path //; case Px : (P _) => //=.
  by apply/Q; split; [lia | apply/leaf_all; [lia | rewrite Px]].
case: c rng pun => [x|x|a b] rng pun; [exact: one | exact: one |]; rewrite /result_of.
case: ifP => [/orP out|/norP []].
  by apply/rng; move: out; rewrite /key_call_of; case: ifP => [/andP [_ /N.eqb_spec e]|_] [/N.ltb_spec0|/N.leb_spec0] h; rewrite /KeyCalls.in_tree; lia.
case: N.ltb_spec0 => // ab _; case: N.leb_spec0 => // bd _; case: has_leafP => // none.
have gone q : size q = d -> in_region (Range (leaf_path d (sval a)) (leaf_path d (sval b))) q -> P q.
  by move=> sq iq; apply: contra_notT none => nP; exists q => //; rewrite iq alive_keyc.
apply/pun; rewrite /key_call_of; case: ifP => [/andP [_ /N.eqb_spec e]|_]; rewrite /KeyCalls.in_tree /leaves_of; last by split=> //; lia.
split; first lia.
apply/leaf_all; first lia.
by apply: gone; rewrite ?size_leaf_path // /in_region -e !leaf_le_num ?size_leaf_path // N.leb_refl.
Qed.

Lemma call_set (P : pred bitseq) c (o : order Fault) r x : (r = PPRF_OK -> in_range d c) -> (x < CModel.pow2 d)%num ->
  punctured_after d P (key_call_of c o) r (leaf_path d x) =
  (if r =? PPRF_OK then (predU P (region_set d c) : pred bitseq) else P) (leaf_path d x).
Proof.
rewrite /punctured_after => rng xd; case: Z.eqb_spec => [/rng {}rng|_]; last by rewrite orbF.
rewrite [RHS]/= erasesE //; congr orb; case: c rng => [y|y|a b] //= rng.
  by rewrite leaf_path_inj //; apply/eqP/N.eqb_spec.
case: ifP => [/andP [_ /N.eqb_spec e]|_] /=.
  by rewrite leaf_path_inj //; [apply/eqP/andP => [->|[/N.leb_spec0 ? /N.leb_spec0 ?]]; [split; apply/N.leb_spec0|]; lia | lia].
by rewrite !leaf_le_num ?size_leaf_path // !leaf_pathK //; lia.
Qed.

Hypothesis wraps : forall lo hi, from_words S lo hi = from_words S (lo mod 2 ^ 64) (hi mod 2 ^ 64).

Lemma contract_step M s P c (o : order Fault) r cells : in_ M s P ->
  KeyCalls.contract_of (V s) (key_at l) (value_at l) (key_call_of c o) M (with_cells M cells) r ->
  packed_typed l (with_cells M cells) ->
  let b := r =? PPRF_OK in
  [/\ r = result_of d (fun _ _ _ => r) (keyc P s) c o,
      (if b && isSome (target c) then Some (value_in S l (with_cells M cells)) else None) =
        (if b then value_of d G (keyc P s) c else None) &
      in_ (with_cells M cells) s (if b then (predU P (region_set d c) : pred bitseq) else P)].
Proof.
move=> I C [ty1 ty2]; set M' := with_cells M cells; have [pk H A ty rt] := I.
have f : fits (key_call_of c o).
  by case: (c) => [x|x|x y] /=; [exact: uint64_ok.. | case: ifP => _ /=; [| split]; exact: uint64_ok].
have [ans [H' [A' head]]] := call_step (V := V s) (DV _) H A f C erefl ty1.
have rE := call_result ans.
have rng : r = PPRF_OK -> in_range d c by move=> rK; rewrite rK in rE; case: (result_ok (esym rE)).
split; first exact: rE.
  case: Z.eqb_spec => //= rK; rewrite /value_of; have := ans; case: (c) => [x|x|x y] //= [_ _ _ [/(_ rK) [v vE vM] _]];
  by rewrite (value_inE wraps vM) -vE /model_value -packed_root_key.
apply: packed_in_same => [x xd|]; first exact: call_set rng xd.
split=> //; move: pk; rewrite /packed; have [_ [_ [_ [_ [_ e]]]]] := head.
by rewrite -[points V0 _]/(points (V s) _) e.
Qed.

Variable F : opt_functions Fault.
Hypothesis meets : packed_meets_contracts S d hidden l F U.
Local Notation perform := (packed_perform S l F).

Lemma packed_step M s P c o : in_ M s P ->
  let p := perform M (words_of s) c o in
  let b := p.1.1 =? PPRF_OK in
  [/\ p.1.1 = result_of d (fun _ _ _ => p.1.1) (keyc P s) c o,
      p.1.2 = (if b then value_of d G (keyc P s) c else None) &
      in_ p.2 s (if b then (predU P (region_set d c) : pred bitseq) else P)].
Proof.
move=> I; have := proj1 meets M s P c o I; rewrite /packed_perform.
by case: (opt_does F M (words_of s) c o) => r cells /= [C ty]; exact: contract_step I C ty.
Qed.

(* ---- The game ------------------------------------------------------------------------------------- *)

Hypothesis rdy : packed_ready S d hidden l U.

Theorem packed_game_is_model w A :
  Pr (packed_game d hidden l F U w A) =
  Pr (@ev_game Seed (zero_block S) G d 0 w (packed_against_model d hidden l F U A)).
Proof.
have [_ hs set_up same0] := rdy; pose s0 := zero_block S.
refine (@game_is_model S d (order Fault) perform (packed_peek S hidden l)
  (Ggm.key unit * memory) (fun m => m.1) (@dummy_after S d Fault l F) (@dummy_failed S Fault l F)
  (@dummy_fails S Fault l F) (fun m => packed_image d hidden l m.2) (@packed_as_model S d Fault hidden l F) _ _ _ _
  (fun M P s m => [/\ m.1 = bare P, in_ M s P, in_ m.2 s0 P & forall q, shape M q = shape m.2 q]) _ _ _ w
  (fun s => U (words_of s)) (keygen tt, U (words_of s0)) A _) => //.
- by move=> M P s m [].
- move=> M P s [K M2] c o [/= -> I I2 E]; have [rE vE I'] := packed_step c o I.
  have [_ _ I2'] := packed_step c o I2.
  have [r12 E'] := proj2 meets M M2 s s0 P c o I I2 E.
  have {}r12 : (perform M (words_of s) c o).1.1 = (perform M2 (words_of s0) c o).1.1 := r12.
  split=> //.
    by apply: etrans rE _; rewrite r12.
  rewrite -r12 in I2'; case: ifP I' I2' => _ I' I2'; split=> //.
  by rewrite /dummy_after /= puncture_callE.
- by move=> M P s [K M2] q [/= _ I I2 E]; exact: (packed_imageE hs q I I2 E).
move=> s; split=> //=; [by rewrite /MemoryGame.bare cover_pred0 | exact: set_up..].
Qed.

End PackedSecurity.

Section First.
Variable S : suite.
Variable d : nat.
Variable Fault : Type.
Variable hidden : pred pointer.
Variable l : packed_layout.
Variable F : opt_functions Fault.
Variable U : pprf_seed -> memory.

Lemma packed_challenges_first (q : nat) (A : opt_adversary S Fault) st : tests_below_leaf (N.of_nat q) A ->
  challenges_in (first_leaves 0 q) (packed_as_model d hidden l F st A).
Proof.
exact: (@model_challenges_first S d (order Fault) _ (fun m => m.1) (@dummy_after S d Fault l F) (@dummy_failed S Fault l F)
  (@dummy_fails S Fault l F) (fun m => packed_image d hidden l m.2) (@packed_as_model S d Fault hidden l F)).
Qed.

(* As ref_attack_cost.  Not counted besides: the functions, which the attack runs on a device of its own. *)
Theorem packed_attack_cost (A : opt_adversary S Fault) (C : pred bitseq) (q t : nat) : (0 < d)%N -> calls_at_most q t A ->
  costs_at_most ((q + t * 2 ^ d.-1) * d) (d + q + 3)
    (ev_guess (zero_block S) 0 C (packed_against_model d hidden l F U A)).
Proof.
move=> d0 B; apply: attack_cost.
apply: (@model_asks S d (order Fault) (key unit * memory)%type fst (@dummy_after S d Fault l F)
  (@dummy_failed S Fault l F) (@dummy_fails S Fault l F) (fun m => packed_image d hidden l m.2)
  (@packed_as_model S d Fault hidden l F)) => //.
by rewrite /bare cover_pred0.
Qed.

End First.

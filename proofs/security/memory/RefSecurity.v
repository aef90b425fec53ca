(* SPDX-License-Identifier: Apache-2.0 *)
(* From ref's contracts to the security theorem: what calls return and what memory holds is the
   model's (ref_calls_sound), so the game on memory is the model's game (ref_game_is_model). *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Sizes Layout AcslAgree AcslSound.
From Pprf.proofs Require Import ProbabilityFacts ReductionFacts EvaluationSecurity Leakage.
From Pprf.spec Require Import RefGame.
From Pprf.proofs Require Import MemoryGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.of_nat : simpl never.
#[local] Arguments CModel.pow2 : simpl never.
#[local] Arguments Z.pow : simpl never.

Section RefSecurity.
Variable S : suite.
Hypothesis ok : suite_ok S.
Variable d : nat.
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> Fault -> Z.
Variable l : layout.
Variable F : functions Fault.
Hypothesis meets : @meets_contracts S d Fault fails l F.
Variable M0 : memory.
Hypothesis rdy : ready d l M0.
Hypothesis empty0 : cleared l M0.
Local Notation V := (suite_logic S).
Local Notation Seed := (block S).
Local Notation G := (@suite_prg S d).
Local Notation D := (defined_definitions _ : definitions V).
Local Notation spot := (nodes l).
Local Notation keyc := (@keyc S d).
Local Notation bare := (@bare d).
Local Notation region_set := (@region_set d).

Lemma tree_family_words : tree_family V (family_words S).
Proof. by rewrite /tree_family /=; case: (family_words S). Qed.

Lemma seed_value_words (s : Seed) : seed_value V (words_of s) = s.
Proof. by case: ok => _ /(_ s) []. Qed.

Lemma ty0 : typed l M0.
Proof. by move=> q /empty0 ->; rewrite /c_uint64_t; lia. Qed.

(* ---- Cells ---------------------------------------------------------------------------------- *)

Definition in_buffer (q : pointer) : bool :=
  (fst q =? fst (buffer l)) && (snd (buffer l) <=? snd q) && (snd q <? snd (buffer l) + 2).

Lemma bufferP q : buffer_cells l q <-> in_buffer q.
Proof.
rewrite /buffer_cells /in_buffer /span /pprf_seed_cells; split=> [[-> B]|].
  by rewrite Z.eqb_refl; apply/andP; split; [apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
by case/andP=> /andP [/Z.eqb_spec -> /Z.leb_spec0 ?] /Z.ltb_spec0 ?; lia.
Qed.

Lemma cell_wipe M q : cell (wipe_buffer l M) q = if in_buffer q then 0 else cell M q.
Proof.
rewrite /wipe_buffer /poke /in_buffer /shift /=.
case: q => b c /=.
case: Z.eqb_spec => //= bE; case: (Z.eqb_spec c (snd (buffer l) + 1 * 1)) => [cE|cE].
  by case: Z.leb_spec0 => ?; case: Z.ltb_spec0 => ? //=; lia.
case: (Z.eqb_spec c (snd (buffer l) + 1 * 0)) => [cE'|cE'].
  by case: Z.leb_spec0 => ?; case: Z.ltb_spec0 => ? //=; lia.
by case: Z.leb_spec0 => ?; case: Z.ltb_spec0 => ? //=; lia.
Qed.

Definition held_nodes (P : pred bitseq) (s : Seed) := key_nodes V d P (words_of s).

Lemma held_nodesE P s : held_nodes P s = map (encode d) (keyc P s).
Proof. by rewrite /held_nodes /key_nodes /punctured_key seed_value_words. Qed.

(* Behind its last node the array is zero. *)
Definition clear_behind (M : memory) : Prop :=
  forall q, span ref_node_cells spot (cell M (count l)) (room l - 1) q -> cell M q = 0.

Record inv_at (M : memory) (P : pred bitseq) (s : Seed) : Prop := InvAt {
  rights : may_read M = may_read M0 /\ may_write M = may_write M0;
  well_typed : typed l M;
  in_place : holds M spot (cell M (count l)) (held_nodes P s);
  nothing_behind : clear_behind M;
  buffer_empty : forall q, buffer_cells l q -> cell M q = 0;
  elsewhere : unchanged M0 M [:: array_cells l; count_cell l; buffer_cells l]
}.

Lemma room_enough P s : Z.of_nat (size (keyc P s)) + 2 * Z.of_nat d <= room l.
Proof.
case: rdy => /andP [d0 _] B _ _ _.
have := @size_cover_half _ G d P [::] s d0; rewrite -/(keyc P s) => /leP sz.
by move: B; rewrite -!plusE -!multE; lia.
Qed.

Lemma d63 : (d <= 63)%nat. Proof. by case: rdy => /andP [_ h] _ _ _ _; apply: (leq_trans h). Qed.

Lemma count_is M P s : inv_at M P s -> cell M (count l) = Z.of_nat (size (keyc P s)).
Proof. by case=> _ _ [-> _] _ _; rewrite held_nodesE size_map. Qed.

Lemma count_in : count_cell l (count l).
Proof. by rewrite /count_cell /span; lia. Qed.

Lemma apart q : [/\ array_cells l q -> ~ count_cell l q, array_cells l q -> ~ buffer_cells l q &
                    count_cell l q -> ~ buffer_cells l q].
Proof.
case: rdy => _ _ _ _ [S1 [S2 _]].
split=> h1 h2.
- by apply: (S1 _ (or_introl erefl) q).
- by apply: (S1 _ (or_intror (or_introl erefl)) q).
- by apply: (S2 _ (or_introl erefl) q).
Qed.

Lemma finish M' P' s : may_read M' = may_read M0 -> may_write M' = may_write M0 ->
  typed l M' -> unchanged M0 M' [:: array_cells l; count_cell l; buffer_cells l] ->
  holds M' spot (cell M' (count l)) (held_nodes P' s) -> clear_behind M' ->
  inv_at (wipe_buffer l M') P' s.
Proof.
move=> mr mw ty U H Z.
have out q : ~ buffer_cells l q -> cell (wipe_buffer l M') q = cell M' q.
  by move=> /bufferP /negP /negbTE; rewrite cell_wipe => ->.
have cE : cell (wipe_buffer l M') (count l) = cell M' (count l).
  by apply: out; case: (apart (count l)) => _ _; apply; apply: count_in.
split=> //.
- by move=> q qa; rewrite out; [apply: ty | case: (apart q) => _ h _; apply: h].
- rewrite cE; apply: (holds_unchanged _ H) => q [q1 q2]; apply: out.
  have qa : array_cells l q.
    split=> //; have := @room_enough P' s; case: H => nE _; move: q2; rewrite nE held_nodesE size_map.
    by rewrite /ref_node_cells; lia.
  by case: (apart q) => _ h _; apply: h.
- move=> q; rewrite cE => qb; have qa : array_cells l q.
    case: qb => q1 q2; split=> //; have n0 : 0 <= cell M' (count l) by case: H => ->; lia.
    by move: q2; rewrite /ref_node_cells; lia.
  by rewrite out; [apply: Z | case: (apart q) => _ h _; apply: h].
- by move=> q /bufferP qb; rewrite cell_wipe qb.
- move=> q Q; rewrite out; first exact: U.
  by apply: Q; right; right; left.
Qed.

(* ---- Set-up ----------------------------------------------------------------------------------- *)

Lemma set_up_inv s : inv_at (set_up l F M0 (words_of s)) pred0 s.
Proof.
rewrite /set_up; set M1 := with_cells M0 _.
have [C T] := proj1 meets M0 (words_of s).
have w1 : writable M0 (span ref_node_cells spot 0 (1 - 1)).
  case: rdy => _ B [w _] _ _ q [q1 q2]; apply: w; split=> //.
  have := @room_enough predT s; move: q2 B.
  case: rdy => /andP [/ltP d0 _] _ _ _ _.
  by rewrite /ref_node_cells; lia.
have [H U] := ref_setup_sound D d63 w1 C.
have sub q : span ref_node_cells spot 0 (1 - 1) q -> array_cells l q.
  move=> [q1 q2]; split=> //; have := @room_enough predT s; case: rdy => /andP [/ltP d0 _] _ _ _ _.
  by move: q2; rewrite /ref_node_cells; lia.
pose M2 := poke M1 (count l) 1.
have out q : ~ count_cell l q -> cell M2 q = cell M1 q.
  rewrite /M2 /poke /= => nq; case: ifP => // /andP [/Z.eqb_spec e1 /Z.eqb_spec e2]; case: nq.
  by rewrite /count_cell /span e1; lia.
have c1 : cell M2 (count l) = 1 by rewrite /M2 /poke /= !Z.eqb_refl.
apply: (@finish M2) => //.
- move=> q qa; rewrite out; last by case: (apart q) => h _ _; apply: h.
  exact: T ty0 q qa.
- move=> q Q; rewrite out; last by apply: Q; right; left.
  by apply: U => r [<-|//] qr; apply: (Q _ (or_introl erefl)); apply: sub.
- rewrite c1; apply: holds_unchanged H => q /sub qa; apply: out.
  by case: (apart q) => h _ _; apply: h.
move=> q; rewrite c1 => -[q1 q2].
have qa : array_cells l q by split=> //; move: q2; rewrite /ref_node_cells; lia.
rewrite out; last by case: (apart q) => h _ _; apply: h.
rewrite -(empty0 qa); apply: U => r [<-|//] [_]; move: q2; rewrite /ref_node_cells; lia.
Qed.

(* ---- A call ------------------------------------------------------------------------------------- *)

Lemma places_inE M P s : inv_at M P s -> places_in l M = places d (keyc P s).
Proof.
move=> I; have [_ [_ [nat aE]]] := holds_post (in_place I).
transitivity [seq (Z.of_N (start m), Z.of_nat (height m)) | m <- held_nodes P s]; last first.
  by rewrite held_nodesE /places -map_comp.
rewrite -aE /places_in /mkseq -map_comp; apply/eq_in_map => k.
rewrite mem_iota => kn; have [E1 E2 _] := nat _ kn.
by congr pair; [exact: E1 | exact: E2].
Qed.

(* The result of a call that cannot lack room. *)
Lemma verdict (outside some : bool) r e :
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER; PPRF_ERR_NOMEM;
                PPRF_ERR_CRYPTO] ->
  (r = PPRF_ERR_RANGE <-> outside) -> (r = PPRF_ERR_PUNCTURED <-> ~~ outside && ~~ some) ->
  r <> PPRF_ERR_BUFFER -> (r = PPRF_OK \/ prg_error V r -> r = e) ->
  r = if outside then PPRF_ERR_RANGE else if some then e else PPRF_ERR_PUNCTURED.
Proof.
move=> res rng pun nb O; case: outside rng pun => /= rng pun; first by apply/rng.
case: some pun => /= pun; last by apply/pun.
apply: O; case: res => [|[|[|[|[|[|[]]]]]]] E; rewrite -E in rng pun nb *; try by left.
- by have := proj1 rng erefl.
- by have := proj1 pun erefl.
- by right; split=> //; left.
- by right; split=> //; right.
Qed.

Lemma outsideP x : reflect (~ (x < CModel.pow2 d)%num) (CModel.pow2 d <=? x)%num.
Proof. by apply: (iffP (N.leb_spec0 _ _)); lia. Qed.

Lemma unchanged_trans M M' : unchanged M0 M [:: array_cells l; count_cell l; buffer_cells l] ->
  unchanged M M' [:: array_cells l; count_cell l; buffer_cells l] ->
  unchanged M0 M' [:: array_cells l; count_cell l; buffer_cells l].
Proof. by move=> U U' q Q; rewrite U' // U. Qed.

Lemma unchanged_more M M' rs rs' : (forall r, List.In r rs -> List.In r rs') ->
  unchanged M M' rs -> unchanged M M' rs'.
Proof. by move=> sub U q Q; apply: U => r /sub; apply: Q. Qed.

Lemma held_same P Q s : (forall x, size x = d -> P x = Q x) -> held_nodes P s = held_nodes Q s.
Proof. by move=> E; rewrite !held_nodesE; congr map; apply: eq_cover. Qed.

Lemma uint64_ok (x : uint64) : c_uint64_t (Z.of_N (sval x)).
Proof. by case: x => x /= /N.ltb_spec0; rewrite /c_uint64_t; lia. Qed.

Lemma contract_facts M P s : inv_at M P s ->
  [/\ cell M (count l) <= room l <= REF_NODES_MAX, c_size_t (cell M (count l)),
      writable M (array_cells l) /\ readable M (span ref_node_cells spot 0 (cell M (count l) - 1)),
      writable M (count_cell l) /\ writable M (buffer_cells l) &
      room l >= cell M (count l) + 2 * Z.of_nat d].
Proof.
move=> I; have := @room_enough P s; rewrite -(count_is I) => B.
have n0 : 0 <= cell M (count l) by rewrite (count_is I); lia.
case: rdy => _ [_ B'] [w r] [wc wb] _; case: I => -[mr mw] _ _ _ _ _.
have d0 : 0 <= Z.of_nat d by lia.
split; [lia | by move: B'; rewrite /c_size_t /REF_NODES_MAX; lia | | | lia].
  split=> q; rewrite ?mr ?mw => qa; first exact: w.
  apply: r; case: qa => q1 q2; split=> //.
  by move: q2; rewrite /ref_node_cells; lia.
by split=> q qa; rewrite mw; [apply: wc | apply: wb].
Qed.

Lemma holds_kept M M' P s : inv_at M P s -> unchanged M M' [:: buffer_cells l] ->
  holds M' spot (cell M' (count l)) (held_nodes P s).
Proof.
move=> I U; have c : cell M' (count l) = cell M (count l).
  apply: U => r [<-|//]; case: (apart (count l)) => _ _; apply; exact: count_in.
rewrite c; apply: (holds_unchanged _ (in_place I)) => q [q1 q2]; apply: U => r [<-|//].
have qa : array_cells l q.
  by split=> //; have [B _ _ _ _] := contract_facts I; move: q2; rewrite /ref_node_cells; lia.
by case: (apart q) => _ h _; apply: h.
Qed.

Lemma clear_kept M M' P s : inv_at M P s -> unchanged M M' [:: buffer_cells l] -> clear_behind M'.
Proof.
move=> I U q; have -> : cell M' (count l) = cell M (count l).
  apply: U => r [<-|//]; case: (apart (count l)) => _ _; apply; exact: count_in.
move=> qb; rewrite -(nothing_behind I qb); apply: U => r [<-|//].
have qa : array_cells l q.
  case: qb => q1 q2; split=> //; move: q2; rewrite (count_is I) /ref_node_cells; lia.
by case: (apart q) => _ h _; apply: h.
Qed.

Lemma step M P s c f : inv_at M P s ->
  let K := keyc P s in
  let p := perform S l F M (words_of s) c f in
  let o := p.1.1 =? PPRF_OK in
  [/\ p.1.1 = result_of d fails K c f, p.1.2 = (if o then value_of d G K c else None) &
      inv_at p.2 (if o then (predU P (region_set c) : pred bitseq) else P) s].
Proof.
move=> I K; rewrite /perform.
have [B sz [wa ra] [wc wb] more] := contract_facts I.
have [S1 [S2 _]] : separated [:: array_cells l; count_cell l; buffer_cells l] by case: rdy.
have := proj2 meets M (words_of s) c f; case E : (does F M (words_of s) c f) => [r cells].
set M' := with_cells M cells; move=> [C O T]; rewrite /obeys (places_inE I) in O.
have rights' : may_read M' = may_read M0 /\ may_write M' = may_write M0 := rights I.
have {}T : typed l M' := T (well_typed I).
have KE : punctured_key V d P (words_of s) = K by rewrite /punctured_key seed_value_words.
have done_ P' : unchanged M M' [:: array_cells l; count_cell l; buffer_cells l] ->
    holds M' spot (cell M' (count l)) (held_nodes P' s) -> clear_behind M' ->
    inv_at (wipe_buffer l M') P' s.
  by case: rights' => mr mw U H; apply: finish => //; apply: unchanged_trans (elsewhere I) U.
case: c E C O => [x|x|x y] E C O.
- (* ref_eval *)
  have sep : separated [:: buffer_cells l; span ref_node_cells spot 0 (cell M (count l) - 1)].
    split=> [q' [<-|//] q qb [q1 q2]|]; last by split.
    case: (apart q) => _ h _; apply: h qb; split=> //.
    by move: q2; rewrite /ref_node_cells; lia.
  have [res [rng [pun [val [_ U]]]]] :=
    ref_eval_sound D d63 tree_family_words (uint64_ok x) sz ra wb sep (in_place I) C.
  rewrite /= KE in pun val.
  have rE : r = result_of d fails K (EvalCall x) f.
    apply: verdict O; first by move: res => /=; tauto.
    - by rewrite rng; split=> /outsideP.
    - rewrite pun (@alive_eval S d); split=> [[xd ->]|]; first by case: N.leb_spec0 => //=; lia.
      by case: N.leb_spec0 => //= xd; case: (eval _ _ _) => // _; split=> //; lia.
    by move=> b; rewrite b /= in res; tauto || (case: res => [|[|[|[|[]]]]]).
  split=> //=.
    by case: Z.eqb_spec => //= e; symmetry; exact: val e.
  have H := holds_kept I U; apply: (done_ _ _ _ (clear_kept I U)); first by apply: unchanged_more U => q [<-|//]; right; right; left.
  case: ifP => _ //; rewrite (@held_same _ P) // => z _ /=; by rewrite orbF.
- (* ref_eval_punct *)
  have sep : separated [:: array_cells l; count_cell l; buffer_cells l] by case: rdy.
  have [res [rng [pun [buf [done [err U]]]]]] :=
    ref_eval_punct_sound D d63 tree_family_words (uint64_ok x) B wa wc wb sep (in_place I) (nothing_behind I) C.
  rewrite /= KE in pun done.
  have rE : r = result_of d fails K (EvalPunctCall x) f.
    apply: verdict O => //.
    - by rewrite rng; split=> /outsideP.
    - rewrite pun (@alive_eval S d); split=> [[xd ->]|]; first by case: N.leb_spec0 => //=; lia.
      by case: N.leb_spec0 => //= xd; case: (eval _ _ _) => // _; split=> //; lia.
    by move/buf; lia.
  split=> //=; first by case: Z.eqb_spec => //= e; symmetry; exact: proj1 (done e).
  apply: done_; first exact: U.
    case: Z.eqb_spec => [rK|rN]; first by have [_ [H _]] := done rK.
    exact: holds_kept I (proj1 (err rN)).
  case: (Z.eq_dec r PPRF_OK) => [rK|rN]; first by have [_ [_ [_ [_ Z]]]] := done rK.
  exact: clear_kept I (proj1 (err rN)).
(* ref_punct_range *)
have sep : separated [:: array_cells l; count_cell l] by split=> [q' [<-|//]|]; [apply: S1; left | split].
have [res [rng [pun [buf [done [err U]]]]]] :=
  ref_punct_range_sound D d63 tree_family_words (uint64_ok x) (uint64_ok y) B wa wc sep (in_place I) (nothing_behind I)
    C.
have rE : r = result_of d fails K (RangeCall x y) f.
  apply: verdict O => //.
  - rewrite rng; split=> [|/orP [/N.ltb_spec0|/outsideP]]; try lia.
    by case: N.ltb_spec0 => //= yx; move=> ?; apply/outsideP; lia.
  - rewrite pun; split=> [[xy erased]|/andP []].
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
  by move/buf; lia.
split=> //=; first by case: Z.eqb_spec.
apply: done_; first by apply: unchanged_more U => q [<-|[<-|//]]; [left | right; left].
  case: Z.eqb_spec => [rK|rN]; first by have [H _] := done rK.
  by apply: holds_kept I _; apply: unchanged_more (err rN).
case: (Z.eq_dec r PPRF_OK) => [rK|rN]; first by have [_ [_ [_ Z]]] := done rK.
by apply: clear_kept I _; apply: unchanged_more (err rN).
Qed.

(* ---- All of memory ------------------------------------------------------------------------------ *)

Lemma nth_cells (T : Type) (g : T -> Z -> Z) (n0 : T) K k j : (j < 4)%nat ->
  nth 0 (flatten [seq [seq g n i | i <- [:: 0; 1; 2; 3]] | n <- K]) (4 * k + j)%nat =
  if (k < size K)%nat then g (nth n0 K k) (Z.of_nat j) else 0.
Proof.
move=> j4; elim: K k => [|n K IH] [|k]; try by rewrite [flatten _]/= nth_nil.
  by case: j j4 {IH} => [|[|[|[|]]]].
by rewrite mulnS -addnA; apply: IH.
Qed.

Lemma imageE M P s q : inv_at M P s -> cell M q = image d l M0 (keyc P s) q.
Proof.
move=> I; have nE := count_is I; have n0 : 0 <= cell M (count l) by rewrite nE; lia.
have [B _ _ _ _] := contract_facts I.
rewrite /image /=; case: ifP => [A|nA].
  have qa : span ref_node_cells spot 0 (room l - 1) q.
    by case/andP: A => /andP [/Z.eqb_spec b /Z.leb_spec0 lo] /Z.ltb_spec0 hi; split=> //; lia.
  have [//|k [j [kB [jB qE]]]] := span_cell _ qa.
  have oE : Z.to_nat (snd q - snd spot) = (4 * Z.to_nat k + Z.to_nat j)%nat.
    by rewrite qE /shift /ref_node_cells /=; rewrite -plusE -multE; lia.
  rewrite oE (nth_cells _ ([::], zero_block S)); last by apply/ltP; rewrite /ref_node_cells in jB; lia.
  case: ifP => kK; last first.
    apply: (nothing_behind I); rewrite nE qE /span /shift /ref_node_cells /=.
    rewrite /ref_node_cells in jB; move/negbT: kK; rewrite -leqNgt => /leP kK.
    have {}kK : Z.of_nat (size (keyc P s)) <= k.
      by have /Nat2Z.inj_le := kK; rewrite Z2Nat.id //; case: kB.
    by move: kB jB kK; clear; split=> //; lia.
  have [_ [_ [nat aE]]] := holds_post (in_place I).
  have kn : (Z.to_nat k < Z.to_nat (cell M (count l)))%nat by rewrite nE Nat2Z.id.
  have /= := nat _ kn; have kE : Z.of_nat (Z.to_nat k) = k by lia.
  have : as_array V M spot (Z.to_nat k) = encode d (nth ([::], zero_block S) (keyc P s) (Z.to_nat k)).
    rewrite -(nth_map _ (encode d ([::], zero_block S))) // -held_nodesE -aE nth_mkseq //.
  rewrite /as_array kE => -> [/= E1 E2 E3].
  set n := nth _ _ _ in E1 E2 E3 *.
  have tq i : 0 <= i < 4 -> c_uint64_t (cell M (shift 1 (shift ref_node_cells spot k) i)).
    by move=> iB; apply: (well_typed I); split=> //=; rewrite /ref_node_cells /shift /=; lia.
  have sE i i' : shift 1 (shift 1 (shift 4 spot k) i) i' = shift 1 (shift 4 spot k) (i + i').
    by rewrite /shift /=; congr pair; lia.
  rewrite !sE in E3.
  have [L H] := proj1 ok _ _ (tq 2 ltac:(lia)) (tq 3 ltac:(lia)).
  have jE : Z.of_nat (Z.to_nat j) = j by lia.
  rewrite jE qE /node_cell.
  have [->|[->|[->| ->]]] : j = 0 \/ j = 1 \/ j = 2 \/ j = 3 by rewrite /ref_node_cells in jB; lia.
  - exact: E1.
  - exact: E2.
  - by rewrite /= -E3 L.
  - by rewrite /= -E3 H.
case: ifP => [/andP [/andP [/Z.eqb_spec b /Z.leb_spec0 lo]] /Z.ltb_spec0 hi|nC].
  have -> : q = count l by move: b lo hi; case: (q) (count l) => ? ? [? ?] /= -> *; congr pair; lia.
  exact: nE.
case: ifP => [/andP [/andP [/Z.eqb_spec b /Z.leb_spec0 lo]] /Z.ltb_spec0 hi|nB].
  by apply: (buffer_empty I); split=> //; rewrite /pprf_seed_cells in hi *; lia.
have box p n : (fst q =? fst p) && (snd p <=? snd q) && (snd q <? snd p + n) = false ->
    ~ (fst q = fst p /\ snd p <= snd q < snd p + n).
  by move=> + [b [lo hi]]; rewrite b Z.eqb_refl; case: Z.leb_spec0 => //; case: Z.ltb_spec0.
apply: (elsewhere I) => r [<-|[<-|[<-|//]]] [b c].
- by apply: (box _ _ nA); split=> //; rewrite /ref_node_cells in c *; lia.
- by apply: (box _ _ nC); split=> //; lia.
- by apply: (box _ _ nB); split=> //; rewrite /pprf_seed_cells in c *; lia.
Qed.

(* ---- Lists of calls ------------------------------------------------------------------------------- *)

Lemma run_calls_model M P s cs : inv_at M P s ->
  let r := run_calls S l F M (words_of s) cs in
  let m := model_calls d fails G (keyc P s) cs in
  r.1 = m.1 /\ forall q, cell r.2 q = image d l M0 m.2 q.
Proof.
elim: cs M P => [|[c f] cs IH] M P I /=; first by split=> // q; apply: imageE.
have [rE vE I'] := step c f I.
case E : (perform _ _ _ _ _ _ _) rE vE I' => [[r v] M'] /= -> -> I'.
have := IH _ _ I'; rewrite {2}/keyc.
have -> : keyc (if result_of d fails (keyc P s) c f =? PPRF_OK
               then (predU P (region_set c) : pred bitseq) else P) s =
          if result_of d fails (keyc P s) c f =? PPRF_OK then puncture_call d G c (keyc P s)
          else keyc P s.
  by case: ifP => // _; rewrite puncture_callE.
case: (run_calls _ _ _ _ _ _) => rs M'' /=; case: (model_calls _ _ _ _ _) => rs' K'' /= [-> H].
by split.
Qed.

Theorem ref_calls_sound s cs :
  let r := run_calls S l F (set_up l F M0 (words_of s)) (words_of s) cs in
  let m := model_calls d fails G (keygen s) cs in
  r.1 = m.1 /\ forall q, cell r.2 q = image d l M0 m.2 q.
Proof.
have := @run_calls_model _ pred0 s cs (set_up_inv s).
by rewrite /keyc cover_pred0.
Qed.

(* ---- The game ------------------------------------------------------------------------------------- *)

Theorem ref_game_is_model w A :
  Pr (@ref_game S d _ l F M0 w A) =
  Pr (@ev_game Seed (zero_block S) G d 0 w (@against_model S d _ fails l M0 A)).
Proof.
refine (@game_is_model S d Fault (perform S l F) cell (key unit) (fun K => K)
  (fun K c _ => puncture_call d no_seed c K) (fun K _ _ => K) (fun _ => fails) (fun _ => image d l M0)
  (@as_model S d _ fails l M0) _ _ _ _
  (fun M P s K => inv_at M P s /\ K = bare P) _ _ _ w (fun s => set_up l F M0 (words_of s)) (keygen tt) A _) => //.
- by move=> [*].
- by move=> M P s K [].
- move=> M P s K c f [I ->]; have [rE vE I'] := step c f I; split=> //; split=> //.
  by case: ifP => // _; rewrite puncture_callE.
- by move=> M P s K q [I _]; exact: imageE.
- by move=> s; split; [exact: set_up_inv | rewrite /bare cover_pred0].
Qed.

End RefSecurity.

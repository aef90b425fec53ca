(* SPDX-License-Identifier: Apache-2.0 *)
(* A key of opt of depth 1 in memory, evaluated and punctured: each theorem on the contracts of opt's API
   applied to concrete arguments, so that its hypotheses are seen to be satisfiable, the contract among them. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore KeyCalls AcslPacked PackedKey.
From Pprf.proofs Require Import AcslAgree AcslLayout ApiSound KeySound PackedSound CostSound AcslExamples.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(* Block 1 holds the key, block 2 the bitmap's word, block 3 the slot, block 5 the value. *)
Definition tree : api := api_of toy (pprf_seed_intro 10 0) 7 (fun v => (v, 0)) (0, 0).
Definition tree_definitions : definitions tree := toy_definitions.
Definition tree_layout : layout_definitions tree := proj1 (@api_of_definitions toy _ 7 (fun v => (v, 0)) (0, 0)).
Definition tree_api : api_definitions tree := proj2 (@api_of_definitions toy (pprf_seed_intro 10 0) 7 (fun v => (v, 0)) (0, 0)).
Definition acsl_api_definitions_exist_ex := @acsl_api_definitions_exist toy (pprf_seed_intro 10 0) 7 (fun v => (v, 0)) (0, 0)
  (fun _ _ _ => True) (fun _ _ _ => True) (fun _ _ => True) (fun _ _ => True) (6, 0) (7, 0) (8, 0).

(* A key of the suite of this number and salt. *)
Definition state_of (number salt_lo salt_hi leaves lo value : Z) : memory := {|
  cell := fun q =>
    if fst q =? 1 then
      if snd q =? 1 then number else if snd q =? 2 then salt_lo else if snd q =? 3 then salt_hi
      else if snd q =? 4 then 1 else if snd q =? 5 then 1 else if snd q =? 6 then 2
      else if snd q =? 13 then 1 else if snd q =? 14 then 3
      else if (7 <=? snd q) && (snd q <=? 12) then 4 else 0
    else if fst q =? 2 then if snd q =? 0 then leaves else 0
    else if fst q =? 3 then if snd q =? 0 then lo else 0
    else if fst q =? 5 then if snd q =? 0 then value else 0 else 0;
  may_read := fun _ => True; may_write := fun _ => True |}.
Definition at_key : pointer := (1, 0).
Definition at_value : pointer := (5, 0).
Local Notation o := false.
Local Notation at_store := (store_of at_key).

Section Suite.
Variables number salt_lo salt_hi : Z.
Local Notation state := (state_of number salt_lo salt_hi).

Lemma word_state_of leaves lo v y : full tree (state leaves lo v) at_store 0 y <->
  0 <= y /\ Z.quot y 64 < 1 /\ bit tree leaves (Z.rem y 64).
Proof.
have W : 0 <= y /\ Z.quot y 64 < 1 -> full_word tree (state leaves lo v) at_store 0 (Z.quot y 64) = leaves.
  move=> [y0 q]; have := Z.quot_pos y 64 y0 ltac:(lia) => q0.
  by have -> : Z.quot y 64 = 0 by lia.
by split=> [[y0 [q b]]|[y0 [q b]]]; (split=> //; split=> //); [rewrite -W | rewrite W].
Qed.

Lemma is_punctured_state_of leaves lo v x : is_punctured tree (state leaves lo v) at_store x <->
  (x = 0 \/ x = 1) /\ bit tree leaves x.
Proof.
rewrite (is_punctured_def _ tree_api); change (pow2 tree (cell (state leaves lo v) at_store)) with 2; split.
  case=> xB [j [jB]]; change (cell (state leaves lo v) (shift 1 at_store 1)) with 1 in jB.
  have -> : j = 0 by lia.
  move=> /word_state_of [_ [_ b]]; split; first lia.
  have E : x = 0 \/ x = 1 by lia.
  by case: E b => ->.
case=> xB b; split; first lia.
exists 0; split; first by change (cell _ (shift 1 at_store 1)) with 1; lia.
by apply/word_state_of; case: xB b => ->.
Qed.

Lemma opened_state_of leaves lo v : leaves = 0 \/ leaves = 1 -> opened tree (state leaves lo v) at_store.
Proof.
move=> leavesB; have no r p : separated [:: r; span 2 p 0 (0 - 1)].
  by split; [move=> r' [<-|//] q _ [_]; lia | split; [move=> r' [] | ]].
have apart b b' c c' lo1 hi1 lo2 hi2 n n' : b <> b' ->
    separated [:: span n (b, c) lo1 hi1; span n' (b', c') lo2 hi2].
  by move=> ne; split; [move=> r' [<-|//] q [E _] [E' _]; case: ne; rewrite /= in E E'; lia | split; [move=> r' [] |]].
split=> //; split; first split.
- split=> //; split; first by change (cell _ at_store) with 1; lia.
  split=> //; split=> //; split; first by move=> k [k1 kl]; change (cell _ _) with 1 in kl; lia.
  split; first by move=> k l [k1 [kl ll]]; change (cell _ _) with 1 in ll; lia.
  exact: apart.
- split; first by move=> k y [k0 kl]; change (cell _ _) with 1 in kl; have -> : k = 0 by lia.
  split; first by move=> k y [k0 kl]; change (cell _ _) with 1 in kl; lia.
  split; first by move=> k y [k0 kl]; change (cell _ _) with 1 in kl; lia.
  split; first by move=> k y [k0 kl]; change (cell _ _) with 1 in kl; lia.
  move=> y [y2 y64] [_ [q]]; change (blocks tree _ _) with 2 in y2.
  have q0 : Z.quot y 64 = 0 by rewrite Z.quot_small; lia.
  have r0 : Z.rem y 64 = y by rewrite Z.rem_small; lia.
  rewrite /bit /any_word q0 r0; case; change (Z.land leaves (Z.shiftl 1 y) = 0).
  case: leavesB => ->; first exact: Z.land_0_l.
  rewrite Z.land_comm (Z.land_ones _ 1) // Z.shiftl_1_l.
  have -> : y = 1 + (y - 1) by lia.
  by rewrite Z.pow_add_r; [rewrite Z.mul_comm; apply: Z_mod_mult | lia | lia].
split=> //; split; first exact: apart; split; first exact: apart; split; first exact: apart.
move=> k kB; have -> : words tree (cell (state leaves lo v) at_store) k = 0; last by split; apply: no.
by apply: words_none; [change (1 <= 1 <= 32); lia | change (1 <= k); lia].
Qed.

Lemma no_bit0 x : x = 0 \/ x = 1 -> ~ bit tree 0 x.
Proof. by case=> ->. Qed.

Lemma is_punctured_fresh_of lo v x : ~ is_punctured tree (state 0 lo v) at_store x.
Proof. by case/is_punctured_state_of => xB; apply: no_bit0. Qed.

Lemma fresh_value_of lo v : 0 <= v < 256 -> apart_value tree (state 0 lo v) at_key at_value.
Proof.
have apart b b' c c' lo1 hi1 lo2 hi2 n n' : b <> b' ->
    separated [:: span n (b, c) lo1 hi1; span n' (b', c') lo2 hi2].
  by move=> ne; split; [move=> r' [<-|//] q [E _] [E' _]; case: ne; rewrite /= in E E'; lia | split; [move=> r' [] |]].
move=> vB; split=> //; first exact: apart.
split; first exact: apart; split; first exact: apart; split; first exact: apart.
move=> k kB; have -> : words tree (cell (state 0 lo v) at_store) k = 0.
  by apply: words_none; [change (1 <= 1 <= 32); lia | change (1 <= k); lia].
by split; [move=> r' [<-|//] q _ [_]; lia | split; [move=> r' [] | ]].
Qed.
End Suite.

(* Of the suite without a salt. *)
Definition state := state_of 1 0 0.
Definition punctured_state := @is_punctured_state_of 1 0 0.
Definition opened_state := @opened_state_of 1 0 0.
Definition punctured_fresh := @is_punctured_fresh_of 1 0 0.
Definition fresh_value := @fresh_value_of 1 0 0 10.

Example fresh_store v : store_holds tree (state 0 10 v) at_store 1 pred0 (key_root tree).
Proof.
split=> //; first exact: opened_state (or_introl erefl).
- by move=> x xd; split=> // /punctured_state [xB b]; case: (no_bit0 xB b).
- by move=> n [<-|//].
- by move=> j jB; case; left; change (CModel.pow2 1.-1) with 1%num in jB; rewrite /pair_of /=; lia.
Qed.

Example punctured_store v :
  store_holds tree (state 1 12 v) at_store 1 (predU pred0 (pred1 [:: o])) (key_root tree).
Proof.
split=> //; first exact: opened_state (or_intror erefl).
- move=> x xd; have xB : x = 0%num \/ x = 1%num by change (CModel.pow2 1) with 2%num in xd; lia.
  case: xB => ->; split=> //; last by move/punctured_state => [_ []].
  by move=> _; apply/punctured_state; split; [left | ].
- by move=> n [<-|//].
- by move=> j jB; case; left; change (CModel.pow2 1.-1) with 1%num in jB; rewrite /pair_of /=; lia.
Qed.

Lemma apart_state leaves lo v : key_apart tree (state leaves lo v) at_key.
Proof.
have apart b b' c c' lo1 hi1 lo2 hi2 n n' : b <> b' ->
    separated [:: span n (b, c) lo1 hi1; span n' (b', c') lo2 hi2].
  by move=> ne; split; [move=> r' [<-|//] q [E _] [E' _]; case: ne; rewrite /= in E E'; lia | split; [move=> r' [] |]].
split; first exact: apart; split; first exact: apart.
move=> k kB; have -> : words tree (cell (state leaves lo v) at_store) k = 0.
  by apply: words_none; [change (1 <= 1 <= 32); lia | change (1 <= k); lia].
by split; [move=> r' [<-|//] q _ [_]; lia | split; [move=> r' [] | ]].
Qed.

Lemma slots_state leaves lo v P : store_holds tree (state leaves lo v) at_store 1 P (key_root tree) ->
  slots_key_at tree (state leaves lo v) at_key 1 P.
Proof. by split=> //; exact: apart_state. Qed.

Example fresh_own v : own_key tree (state 0 10 v) at_key 1 pred0.
Proof. by split=> //; [case | exact/slots_state/fresh_store]. Qed.

Lemma fresh_height v t h : live tree (state 0 10 v) at_store 0 0 1 t h -> h = 1.
Proof.
have PE x : (x < CModel.pow2 1)%num ->
    pred0 (leaf_path 1 x) <-> is_punctured tree (state 0 10 v) at_store (Z.of_N x) \/ 0 <= Z.of_N x < 0.
  by move=> _; split=> [//|[/punctured_fresh|]]; last lia.
case/(acsl_live_cover tree_definitions tree_layout PE (key_root tree)) => q + [_ ->].
by rewrite /= inE => /eqP ->.
Qed.

Lemma is_punctured_of_1 lo v x : is_punctured tree (state 1 lo v) at_store x <-> x = 0.
Proof. by rewrite punctured_state; split=> [[[->|->] // []]|->]; split=> //; left. Qed.

Lemma value_11 leaves lo : seed_bytes tree (state leaves lo 11) at_value 11 0.
Proof.
move=> k kB; have kE : k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 \/ k = 6 \/ k = 7 by lia.
by case: kE => [->|[->|[->|[->|[->|[->|[->| ->]]]]]]].
Qed.

(* The set of punctured leaves is that of the pair slots. *)
Lemma punctured_leaf leaves lo v x : AcslApi.punctured tree (state leaves lo v) at_key x <->
  is_punctured tree (state leaves lo v) at_store x.
Proof. exact: punctured_slots. Qed.

Lemma same_head_state leaves lo v leaves' lo' v' :
  same_head tree (state leaves lo v) (state leaves' lo' v') at_key.
Proof. by []. Qed.

Lemma key_state P leaves lo v : store_holds tree (state leaves lo v) at_store 1 P (key_root tree) ->
  AcslApi.key tree (state leaves lo v) (seed_value tree (key_root tree)) at_key.
Proof. by move=> H; case: (slots_key_usable tree_definitions tree_layout tree_api (slots_state H)). Qed.

Example eval_contract : pprf_eval_contract tree (state 0 10 0) (state 0 10 11) at_key 0 at_value PPRF_OK.
Proof.
move=> _ _; split.
  move=> q out; case: q out => b c /= out; case: (Z.eqb_spec b 5) => [e|] //; case: (Z.eqb_spec c 0) => [e'|] //.
  by case: (out _ (or_introl erefl)); rewrite e e'; split=> //=; lia.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by split=> // -[].
- by split=> // -[_ [_ []]].
- by split=> // -[_ [_ [_]]]; change (pow2 tree _) with 2; lia.
- by split=> // -[_ [_ [_ [_ /punctured_leaf /punctured_fresh]]]].
- by left.
- by move=> _; exists 11, 0; split; first exact: value_11.
- by [].
- by move=> _; split; first exact: key_state (fresh_store 11).
- by move=> _; split=> // x; split=> /punctured_leaf /punctured_fresh.
Qed.
Definition opt_eval_sound_ex := @opt_eval_sound tree tree_definitions tree_layout tree_api _ _ at_key 1 0%num
  at_value PPRF_OK pred0 ltac:(by []) (fresh_own 0) (@fresh_value 0 ltac:(by [])) eval_contract.
Example eval_cost : pprf_eval_cost tree (state 0 10 0) (state 0 10 11) at_key 0 at_value PPRF_OK 6 7.
Proof. by move=> _ _; split=> //; split=> [_ _ t h [/fresh_height -> _] //|[|[|[|]]]]. Qed.
Definition opt_eval_cost_sound_ex := @opt_eval_cost_sound tree tree_definitions tree_layout tree_api _ _ at_key 1
  0%num at_value PPRF_OK pred0 6 7 ltac:(by []) (fresh_own 0) (@fresh_value 0 ltac:(by [])) eval_contract eval_cost.

Lemma changed_store leaves lo v w rs : (v = w \/ List.In (value_cells at_value) rs) ->
  unchanged (state 0 10 v) (state leaves lo w) (key_memory tree (state 0 10 v) at_key ++ rs).
Proof.
move=> vw q out; case: q out => b c out /=; case: (Z.eqb_spec b 1) => // b1.
case: (Z.eqb_spec b 2) => [e|n2].
  case: (Z.eqb_spec c 0) => // e'; case: (out (span 1 (2, 0) 0 0)); first by right; right; left.
  by rewrite e e'; split=> //=; lia.
case: (Z.eqb_spec b 3) => [e|n3].
  case: (Z.eqb_spec c 0) => // e'; case: (out (span 2 (3, 0) 0 0)); first by right; left.
  by rewrite e e'; split=> //=; lia.
case: (Z.eqb_spec b 5) => // e; case: (Z.eqb_spec c 0) => // e'.
case: vw => [-> //|ir]; case: (out (value_cells at_value)); last by rewrite e e'; split=> //=; lia.
by do 12 right.
Qed.

Example punct_contract : pprf_punct_contract tree (state 0 10 0) (state 1 12 0) at_key 0 PPRF_OK.
Proof.
move=> _ _; split; first by have := @changed_store 1 12 0 0 [::] (or_introl erefl).
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by [].
- by split=> // -[_ []].
- by move=> _; split; first exact: key_state (punctured_store 0).
- by split=> // -[_ [_]]; change (pow2 tree _) with 2; lia.
- by split=> // -[_ [_ [_ /punctured_leaf /punctured_fresh]]].
- by left.
- by move=> _ x; rewrite !punctured_leaf is_punctured_of_1; split=> [|[/punctured_fresh|]]; [right | |].
- by [].
- by [].
Qed.
Definition opt_punct_sound_ex := @opt_punct_sound tree tree_definitions tree_layout tree_api _ _ at_key 1 0%num
  PPRF_OK pred0 ltac:(by []) (fresh_own 0) punct_contract.
Example punct_cost : pprf_punct_cost tree (state 0 10 0) (state 1 12 0) at_key 0 PPRF_OK 6 7.
Proof. by move=> _ _; split=> //; split=> [_ _ t h [/fresh_height -> _] //|[|[|[|]]]]. Qed.
Definition opt_punct_cost_sound_ex := @opt_punct_cost_sound tree tree_definitions tree_layout tree_api _ _ at_key 1
  0%num PPRF_OK pred0 6 7 ltac:(by []) (fresh_own 0) punct_contract punct_cost.

Example eval_punct_contract :
  pprf_eval_punct_contract tree (state 0 10 0) (state 1 12 11) at_key 0 at_value PPRF_OK.
Proof.
move=> _ _; split.
  by have := @changed_store 1 12 0 11 [:: value_cells at_value] (or_intror (or_introl erefl)).
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by split=> // -[].
- by split=> // -[_ [_ []]].
- by move=> _; split; first exact: key_state (punctured_store 11).
- by split=> // -[_ [_ [_]]]; change (pow2 tree _) with 2; lia.
- by split=> // -[_ [_ [_ [_ /punctured_leaf /punctured_fresh]]]].
- by left.
- by move=> _ x; rewrite !punctured_leaf is_punctured_of_1; split=> [|[/punctured_fresh|]]; [right | |].
- by [].
- by [].
- by move=> _; exists 11, 0; split; first exact: value_11.
- by [].
Qed.
Definition opt_eval_punct_sound_ex := @opt_eval_punct_sound tree tree_definitions tree_layout tree_api _ _ at_key
  1 0%num at_value PPRF_OK pred0 ltac:(by []) (fresh_own 0) (@fresh_value 0 ltac:(by [])) eval_punct_contract.
Example eval_punct_cost :
  pprf_eval_punct_cost tree (state 0 10 0) (state 1 12 11) at_key 0 at_value PPRF_OK 6 7.
Proof. by move=> _ _; split=> //; split=> [_ _ t h [/fresh_height -> _] //|[|[|[|]]]]. Qed.
Definition opt_eval_punct_cost_sound_ex := @opt_eval_punct_cost_sound tree tree_definitions tree_layout tree_api _ _
  at_key 1 0%num at_value PPRF_OK pred0 6 7 ltac:(by []) (fresh_own 0) (@fresh_value 0 ltac:(by []))
  eval_punct_contract eval_punct_cost.

Example punct_range_contract : pprf_punct_range_contract tree (state 0 10 0) (state 1 12 0) at_key 0 0 PPRF_OK.
Proof.
move=> _ _; split; first by have := @changed_store 1 12 0 0 [::] (or_introl erefl).
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by [].
- by split=> // -[_ []].
- by move=> _; split; first exact: key_state (punctured_store 0).
- by split=> // -[_ [_]]; change (pow2 tree _) with 2; lia.
- by split=> // -[_ [_ [_ /(_ 0 ltac:(lia)) /punctured_leaf /punctured_fresh]]].
- by left.
- move=> _ x; rewrite !punctured_leaf is_punctured_of_1; split=> [->|[/punctured_fresh //|]]; last lia.
  by right.
- by [].
- by [].
Qed.
Definition opt_punct_range_sound_ex := @opt_punct_range_sound tree tree_definitions tree_layout tree_api _ _ at_key
  1 0%num 0%num PPRF_OK pred0 ltac:(by []) ltac:(by []) (fresh_own 0) punct_range_contract.
Example punct_range_cost : pprf_punct_range_cost tree (state 0 10 0) (state 1 12 0) at_key 0 0 PPRF_OK 6 8.
Proof. by move=> _ _; split=> // -[|[|[|]]]. Qed.
Definition opt_punct_range_cost_sound_ex := @opt_punct_range_cost_sound tree tree_definitions tree_layout tree_api _ _
  at_key 1 0%num 0%num PPRF_OK pred0 6 8 ltac:(by []) ltac:(by []) (fresh_own 0) punct_range_contract
  punct_range_cost.

Example node_count_contract : pprf_node_count_contract tree (state 0 10 0) (state 0 10 0) at_key 1.
Proof.
move=> _ _; split=> //; split=> //; split; first by rewrite /c_size_t; lia.
by split; [case=> [//|[]] | | ].
Qed.
Definition opt_node_count_sound_ex := @opt_node_count_sound tree tree_definitions tree_layout tree_api _ _ at_key 1
  1 pred0 (fresh_own 0) node_count_contract.

Example fresh_usable : usable tree (state 0 10 0) at_key.
Proof. by do 2 right; exists 1%nat, pred0; exact/slots_state/fresh_store. Qed.
Definition opt_refuses_ex := @opt_refuses tree tree_definitions tree_layout tree_api _ (state 1 12 0) at_key fresh_usable.
Definition acsl_store_holds_ex := @acsl_store_holds tree tree_definitions tree_layout tree_api (state 0 10 0) at_store
  1 pred0 (key_root tree).

(* ---- A packed key, evaluated and punctured ------------------------------------------------------ *)

(* Block 1 holds the key, block 30 its store: two cells say which leaves are punctured, two hold the seeds of the
   others. *)
Definition packed_tree : api := @api_intro (api_layout tree)
  (fun L p x => (x = 0 \/ x = 1) /\ cell L (fst p, 9 + x) = 1)
  (fun L R p => forall x, x = 0 \/ x = 1 ->
     let lo := cell L (fst p, 7 + x) in
     if cell L (fst p, 9 + x) =? 1 then lo = 0 else seed_from_words tree lo 0 = leaf_value tree R 1 x)
  (@whole tree) (@cover_size tree) (fun _ _ => True) (fun _ _ => True)
  (pprf_seed_intro 10 0) (6, 0) (7, 0) (8, 0) 7 (fun v => (v, 0)) (0, 0).

Definition packed_state (gone0 gone1 value : Z) : memory := {|
  cell := fun q =>
    if fst q =? 1 then if (snd q =? 1) || (snd q =? 4) then 1 else if snd q =? 20 then 30 else 0
    else if fst q =? 30 then
      if snd q =? 1 then 1 else if snd q =? 9 then gone0 else if snd q =? 10 then gone1
      else if snd q =? 7 then if gone0 =? 1 then 0 else 11
      else if snd q =? 8 then if gone1 =? 1 then 0 else 12 else 0
    else if fst q =? 5 then if snd q =? 0 then value else 0 else 0;
  may_read := fun _ => True; may_write := fun _ => True |}.

Lemma packed_punctured_at a b v x : AcslApi.punctured packed_tree (packed_state a b v) at_key x <->
  (x = 0 /\ a = 1) \/ (x = 1 /\ b = 1).
Proof.
split=> [[[_ [[->|->] /= e]]|[n _]]|[[-> ->]|[-> ->]]]; [by left | by right | by case: n | |].
  by left; split=> //; split; [left |].
by left; split=> //; split; [right |].
Qed.

Lemma packed_holds_key a b v (P : pred bitseq) :
  (forall x, (x < CModel.pow2 1)%num -> (Z.of_N x = 0 /\ a = 1) \/ (Z.of_N x = 1 /\ b = 1) <-> P (leaf_path 1 x)) ->
  holds_key packed_tree at_key (packed_state a b v) 1 P.
Proof.
move=> E; split=> //; [by case | | by move=> x xd; rewrite packed_punctured_at; exact: E].
split=> //; split=> //; split=> [_|n]; last by case: n.
by split=> // x [->|->] /=; case: Z.eqb_spec.
Qed.

Lemma packed_fresh_key a b v : holds_key packed_tree at_key (packed_state a b v) 1
  (fun q => [|| (q == leaf_path 1 0) && (a =? 1) | (q == leaf_path 1 1) && (b =? 1)]).
Proof.
apply: packed_holds_key => x xd; have xB : x = 0%num \/ x = 1%num by change (CModel.pow2 1) with 2%num in xd; lia.
by case: xB => ->; rewrite /= ?orbF; case: Z.eqb_spec => e; split=> //; [left | case=> -[] | right | case=> -[]].
Qed.

Lemma packed_place a b v : 0 <= v < 256 -> value_place packed_tree at_key at_value (packed_state a b v).
Proof.
move=> vB; split=> //; split; last by split=> // n; case: n.
by split; [move=> r' [<-|//] q [E _] [E' _]; rewrite /= in E E'; lia | split; [move=> r' [] |]].
Qed.

Lemma packed_value a b : seed_bytes packed_tree (packed_state a b 11) at_value 11 0.
Proof.
move=> k kB; have kE : k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 \/ k = 6 \/ k = 7 by lia.
by case: kE => [->|[->|[->|[->|[->|[->|[->| ->]]]]]]].
Qed.

Lemma packed_zero a b : seed_bytes packed_tree (packed_state a b 0) at_value 0 0.
Proof.
move=> k kB; have kE : k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 \/ k = 6 \/ k = 7 by lia.
by case: kE => [->|[->|[->|[->|[->|[->|[->| ->]]]]]]].
Qed.

Lemma packed_value_changes a b v w : unchanged (packed_state a b v) (packed_state a b w) [:: value_cells at_value].
Proof.
move=> q out; case: q out => x y /= out; case: (Z.eqb_spec x 1) => // x1; case: (Z.eqb_spec x 30) => // x30.
case: (Z.eqb_spec x 5) => // e; case: (Z.eqb_spec y 0) => // e'.
by case: (out _ (or_introl erefl)); rewrite e e'; split=> //=; lia.
Qed.

Lemma packed_changes a b a' b' v rs : List.In (span 11 (30, 0) 0 0) rs ->
  unchanged (packed_state a b v) (packed_state a' b' v) rs.
Proof.
move=> ir q out; case: q out => x y /= out; case: (Z.eqb_spec x 1) => // x1; case: (Z.eqb_spec x 30) => // e.
have yB : ~ (0 <= y < 11) by move=> yB; apply: (out _ ir); rewrite e; split=> //=; lia.
by do ![case: Z.eqb_spec => ?; first by lia].
Qed.

Example packed_eval : pprf_eval_contract packed_tree (packed_state 0 0 0) (packed_state 0 0 11) at_key 0 at_value PPRF_OK.
Proof.
move=> _ _; split; first exact: packed_value_changes.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by split=> // -[].
- by split=> // -[_ [_ []]].
- by split=> // -[_ [_ [_]]]; change (pow2 packed_tree _) with 2; lia.
- by split=> // -[_ [_ [_ [_ /packed_punctured_at]]]]; lia.
- by left.
- by move=> _; exists 11, 0; split; first exact: packed_value.
- by [].
- by move=> _; split=> //; have [_ _ _ []] := packed_fresh_key 0 0 11.
- by move=> _; split=> // x; rewrite !packed_punctured_at.
Qed.

Example packed_eval_punct :
  pprf_eval_punct_contract packed_tree (packed_state 0 0 11) (packed_state 1 0 11) at_key 0 at_value PPRF_OK.
Proof.
move=> _ _; split.
  by apply: packed_changes; do 8 right; left.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by split=> // -[].
- by split=> // -[_ [_ []]].
- by move=> _; split=> //; have [_ _ _ []] := packed_fresh_key 1 0 11.
- by split=> // -[_ [_ [_]]]; change (pow2 packed_tree _) with 2; lia.
- by split=> // -[_ [_ [_ [_ /packed_punctured_at]]]]; lia.
- by left.
- by move=> _ x; rewrite !packed_punctured_at; lia.
- by [].
- by [].
- by move=> _; exists 11, 0; split; first exact: packed_value.
- by [].
Qed.

Example packed_eval_gone :
  pprf_eval_contract packed_tree (packed_state 1 0 11) (packed_state 1 0 0) at_key 0 at_value PPRF_ERR_PUNCTURED.
Proof.
move=> _ _; split; first exact: packed_value_changes.
split=> //; split; first by rewrite /c_int /PPRF_ERR_PUNCTURED; lia.
split.
- by split=> // -[].
- by split=> // -[_ [_ []]].
- by split=> // -[_ [_ [_]]]; change (pow2 packed_tree _) with 2; lia.
- split=> // _; do 3 (split; first by case); split; first by change (pow2 packed_tree _) with 2; lia.
  by apply/packed_punctured_at; left.
- by do 4 right; left.
- by [].
- by move=> _ _; exact: packed_zero.
- by move=> _; split=> //; have [_ _ _ []] := packed_fresh_key 1 0 0.
- by move=> _; split=> // x; rewrite !packed_punctured_at.
Qed.

(* Memory is refused, and nothing changes. *)
Example packed_punct_refused : pprf_punct_contract packed_tree (packed_state 1 0 0) (packed_state 1 0 0) at_key 1 PPRF_ERR_NOMEM.
Proof.
move=> _ _; split=> //; split=> //; split; first by rewrite /c_int /PPRF_ERR_NOMEM; lia.
split.
- by [].
- by split=> // -[_ []].
- by move=> _; split=> //; have [_ _ _ []] := packed_fresh_key 1 0 0.
- by split=> // -[_ [_]]; change (pow2 packed_tree _) with 2; lia.
- by split=> // -[_ [_ [_ /packed_punctured_at]]]; lia.
- by do 6 right; split=> //; split=> // n; case: n.
- by [].
- by [].
- by [].
Qed.

Example packed_range :
  pprf_punct_range_contract packed_tree (packed_state 1 0 0) (packed_state 1 1 0) at_key 0 1 PPRF_OK.
Proof.
move=> _ _; split; first by apply: packed_changes; do 8 right; left.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by [].
- by split=> // -[_ []].
- by move=> _; split=> //; have [_ _ _ []] := packed_fresh_key 1 1 0.
- by split=> // -[_ [_]]; change (pow2 packed_tree _) with 2; lia.
- by split=> // -[_ [_ [_ /(_ 1 ltac:(lia)) /packed_punctured_at]]]; lia.
- by left.
- by move=> _ x; rewrite !packed_punctured_at; lia.
- by [].
- by [].
Qed.

Example packed_punct_gone :
  pprf_punct_contract packed_tree (packed_state 1 1 0) (packed_state 1 1 0) at_key 1 PPRF_ERR_PUNCTURED.
Proof.
move=> _ _; split=> //; split=> //; split; first by rewrite /c_int /PPRF_ERR_PUNCTURED; lia.
split.
- by [].
- by split=> // -[_ []].
- by move=> _; split=> //; have [_ _ _ []] := packed_fresh_key 1 1 0.
- by split=> // -[_ [_]]; change (pow2 packed_tree _) with 2; lia.
- split=> // _; do 2 (split; first by case); split; first by change (pow2 packed_tree _) with 2; lia.
  by apply/packed_punctured_at; right.
- by do 4 right; left.
- by [].
- by [].
- by [].
Qed.

Example packed_calls : were_made packed_tree at_key at_value (packed_state 0 0 0)
  [:: (Eval 0, PPRF_OK, packed_state 0 0 11); (EvalPunct 0, PPRF_OK, packed_state 1 0 11);
      (Eval 0, PPRF_ERR_PUNCTURED, packed_state 1 0 0); (Punct 1, PPRF_ERR_NOMEM, packed_state 1 0 0);
      (PunctRange 0 1, PPRF_OK, packed_state 1 1 0); (Punct 1, PPRF_ERR_PUNCTURED, packed_state 1 1 0)].
Proof.
split=> //; [exact: packed_eval | split=> //; [exact: packed_eval_punct | split=> //; [exact: packed_eval_gone |]]].
by split=> //; [exact: packed_punct_refused | split=> //; [exact: packed_range | split=> //; exact: packed_punct_gone]].
Qed.

Lemma packed_fresh : holds_key packed_tree at_key (packed_state 0 0 0) 1 pred0.
Proof. by apply: (@packed_holds_key 0 0 0 pred0) => x _; split=> [[[_ e]|[_ e]]|e]; discriminate e. Qed.
Definition key_calls_sound_ex := @key_calls_sound packed_tree tree_definitions at_key at_value _ 1 pred0 _
  packed_fresh (@packed_place 0 0 0 ltac:(by [])) packed_calls.

(* ---- A packed key as opt's ACSL has it ----------------------------------------------------------- *)

Definition stored_root := pprf_seed_intro 10 0.
Definition stored_tree : paged := packed_of toy stored_root 7 fresh_leads (0, 0) (2, 0) (3, 0) (4, 0).
Definition stored : memory := PackedSound.fresh_store stored_root (pprf_family_intro 1 0 0) 1.
Definition packed_definitions_exist_ex : definitions stored_tree /\ packed_definitions stored_tree :=
  @packed_definitions_exist toy stored_root 7 fresh_leads (0, 0) (2, 0) (3, 0) (4, 0).
Local Notation stored_def := (proj1 packed_definitions_exist_ex).
Local Notation stored_packed := (proj2 packed_definitions_exist_ex).
Definition stored_fresh := @packed_fresh_store toy stored_root 7 (pprf_family_intro 1 0 0) 1 ltac:(lia).
Definition stored_holds := proj1 (packed_key_def _ stored_packed _ _ _) (proj1 stored_fresh).
Definition packed_live_ex :=
  @packed_live stored_tree stored_def stored_packed stored stored_root (1, 0) 1 (proj1 stored_holds) erefl.
Lemma stored_punctured x : (x < CModel.pow2 1)%num ->
  packed_punctured stored_tree stored (1, 0) (Z.of_N x) <-> pred0 (leaf_path 1 x).
Proof. by move=> _; split=> // h; case: (proj2 stored_fresh _ h). Qed.
Definition packed_seeds_from_cover_ex :=
  @packed_seeds_from_cover stored_tree stored_def stored_packed stored stored_root (1, 0) 1 (proj1 stored_holds) erefl
    pred0 0 0 (proj1 (proj2 stored_holds)) stored_punctured.
Definition packed_key_exists_ex := @packed_key_exists toy stored_root 7 (pprf_family_intro 1 0 0) 1 erefl.
Example packed_calls_sound_ex : AcslRef.tree_family toy (pprf_family_intro 1 0 0) ->
  pprf_seed_at stored (place_at stored_tree stored (1, 0) 0 0) = stored_root /\
  forall L r, c_uint64_t 0 -> pprf_punct_contract stored_tree stored L (5, 0) 0 r ->
    may_write L = may_write stored -> c_uint8_t (cell L (6, 0)) ->
    let P := punctured_after 1 pred0 (Punct 0) r in
    forall i j, 0 <= i < packed_pages L (1, 0) -> 0 <= j < OPT_PAGE_SEEDS -> let w := pprf_seed_at L (place_at stored_tree L (1, 0) i j) in
    points stored_tree (cell L (5, 20)) = (1, 0) ->
    if seed_of_place L (1, 0) 1 (punctured_key stored_tree 1 P stored_root) i j is Some v
    then seed_value stored_tree w = v else zero_seed stored_tree w.
Proof.
move=> fam; split=> // L r x64 C rt byte P i j iB jB w pE; have [pk H A] := packed_key_exists_ex fam.
have [_] := @packed_calls_sound stored_tree stored_def stored_packed (5, 0) (6, 0) stored 1 pred0 [:: (Punct 0, r, L)] pk H A
  (And5 x64 C rt byte I).
by rewrite [memory_after _ _]/= -[shift 1 (store_of (5, 0)) 16]/(5, 20) pE; apply.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What calls of opt's API on a key return, whichever store it has, at every depth: the model's results and values
   (key_calls_sound).  Of the packed store nothing is used but what the contracts say. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore KeyCalls.
From Pprf.proofs Require Import Correctness Layout AcslAgree AcslSound AcslLayout ApiSound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments CModel.pow2 : simpl never.
#[local] Arguments Z.pow : simpl never.

Section KeySound.

Variable V : api.
Hypothesis D : definitions V.
Variables key out : pointer.
Local Notation holds := (holds_key V key).
Local Notation place := (value_place V key out).
Local Notation regions L := (key_memory V L key ++ [:: value_cells out]).

Lemma holds_usable L d P : holds L d P -> AcslApi.usable V L (seed_value V (key_root V)) key.
Proof. by case=> nn nc _ [K _] _; right; split; [case: K | right]. Qed.

Lemma unpacked L : ~ packed V L key -> in_slots V L key.
Proof.
rewrite /packed /in_slots; case: (points _ _) => a b; case: (null V) => a' b' n.
case: (Z.eq_dec a a') => [e|e]; last by case: n => -[].
by case: (Z.eq_dec b b') => [e'|e']; [rewrite e e' | case: n => -[]].
Qed.

Lemma in_cat_left (T : Type) (x : T) (a b : seq T) : List.In x a -> List.In x (a ++ b).
Proof. by elim: a => //= y a IH [->|/IH h]; [left | right]. Qed.

(* ---- What a call leaves ------------------------------------------------------------------------ *)

Section After.

Variables (Pre Post : memory) (d : nat) (P : pred bitseq).
Hypothesis H : holds Pre d P.
Hypothesis A : place Pre.
Hypothesis rights : may_write Post = may_write Pre.
Hypothesis byte : c_uint8_t (cell Post out).
Hypothesis U : unchanged Pre Post (regions Pre).
Hypothesis same : same_head V Pre Post key.

(* Pair slots lie apart from the key, so that no pointer of it changes. *)
Lemma slots_head c : in_slots V Pre key -> 0 <= c < key_cells -> c <> 13 ->
  cell Post (shift 1 key c) = cell Pre (shift 1 key c).
Proof.
move=> i cB c13; case: H => _ _ _ [[_ [_ /(_ (not_packed i)) [_ [[S1 _] [[S2 _] Sum]]]]] _] _.
case: A => _ _ _ [[So _] _].
have inK : span 21 key 0 0 (shift 1 key c) by split=> //=; rewrite /key_cells in cB; lia.
apply: (slots_unchanged (rs := [:: value_cells out]) i U) => r.
have sum k : 1 <= k /\ k <= 5 -> ~ span 2 (points V (cell Pre (shift 1 (shift 1 (store_of key) 3) k))) 0
    (words V (cell Pre (store_of key)) k - 1) (shift 1 key c).
  by move=> kB; have [S _] := Sum k kB; exact: (S _ (or_introl erefl) _ inK).
case=> [<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|[<-|//]]]]]]]]].
- by case=> _; rewrite /store_of /shift /=; lia.
- exact: (S1 _ (or_introl erefl) _ inK).
- exact: (S2 _ (or_introl erefl) _ inK).
- exact: sum.
- exact: sum.
- exact: sum.
- exact: sum.
- exact: sum.
by move=> h; exact: (So _ (or_introl erefl) _ h inK).
Qed.

Lemma place_after : place Post.
Proof.
case: A => on wo _ out_; case: out_ => So [Pa Sl].
split=> //; first by move=> q /wo; rewrite rights.
case: same => _ [_ [_ [_ [dE pE]]]].
split=> //; split; rewrite /packed -pE; first by [].
move=> /(@unpacked Pre) i.
have [A1 [A2 [A3 A4]]] := Sl (not_packed i).
have e c : 0 <= c < 17 -> c <> 9 -> cell Post (shift 1 (shift 1 key 4) c) = cell Pre (shift 1 (shift 1 key 4) c).
  move=> cB c9; have -> : shift 1 (shift 1 key 4) c = shift 1 key (4 + c) by rewrite /shift /=; congr pair; lia.
  by apply: slots_head => //; rewrite /key_cells; lia.
have e0 : cell Post (shift 1 key 4) = cell Pre (shift 1 key 4) by apply: slots_head => //; rewrite /key_cells; lia.
have ek k : 1 <= k <= 5 ->
    cell Post (shift 1 (shift 1 (shift 1 key 4) 3) k) = cell Pre (shift 1 (shift 1 (shift 1 key 4) 3) k).
  move=> kB; have -> : shift 1 (shift 1 (shift 1 key 4) 3) k = shift 1 (shift 1 key 4) (3 + k).
    by rewrite /shift /=; congr pair; lia.
  by apply: e; lia.
rewrite e0 !e //; split=> //; split=> //; split=> // k kB; rewrite ek; [exact: A4 | lia].
Qed.

Lemma holds_after (P' : pred bitseq) : AcslApi.key V Post (seed_value V (key_root V)) key ->
  (forall x, (x < CModel.pow2 d)%num -> AcslApi.punctured V Post key (Z.of_N x) <-> P' (leaf_path d x)) ->
  holds Post d P'.
Proof.
case: H => nn nc F [_ dE] _ K set; case: same => m [f1 [f2 [f3 [dS _]]]].
split=> //; first by move: nc; rewrite /copied m.
  have e0 : shift 1 (shift 1 key 1) 0 = shift 1 key 1 by rewrite /shift /=; congr pair; lia.
  by move: F; rewrite /family_of /pprf_family_at e0 f1 f2 f3.
by rewrite -dS.
Qed.

End After.

(* ---- Each call --------------------------------------------------------------------------------- *)

Lemma in_pow2 d x : Z.of_N x < AcslRef.pow2 V (Z.of_nat d) <-> (x < CModel.pow2 d)%num.
Proof. by rewrite (pow2_agree D); lia. Qed.

Lemma leaf_all d (P : pred bitseq) x : (x < CModel.pow2 d)%num ->
  (forall q, size q = d -> pred1 (leaf_path d x) q -> P q) <-> P (leaf_path d x).
Proof.
by move=> xd; split=> [h|Px q _ /eqP ->] //; apply: h; [exact: size_leaf_path | exact: eqxx].
Qed.

Lemma range_all d (P : pred bitseq) a b : (a <= b /\ b < CModel.pow2 d)%num ->
  (forall q, size q = d -> in_region (Range (leaf_path d a) (leaf_path d b)) q -> P q) <->
  (forall x, (a <= x /\ x <= b)%num -> P (leaf_path d x)).
Proof.
move=> ab; split=> [h x xB|h q sq].
  by apply: h; [exact: size_leaf_path | apply/in_range; lia].
have qd : (leaf_num q < CModel.pow2 d)%num by rewrite -sq; apply: leaf_num_lt.
have qE : leaf_path d (leaf_num q) = q by rewrite -sq leaf_numK.
by rewrite -qE => /in_range h'; apply: h; apply: h'; lia.
Qed.

Lemma after_leaf d (P : pred bitseq) x y : (x < CModel.pow2 d)%num -> (y < CModel.pow2 d)%num ->
  (predU P (pred1 (leaf_path d x)) (leaf_path d y) : bool) <-> P (leaf_path d y) \/ Z.of_N y = Z.of_N x.
Proof.
move=> xd yd; rewrite /=; split=> [/orP [?|/(same_leaf xd yd) ->]|[?|e]]; [by left | by right | |].
  by apply/orP; left.
by apply/orP; right; apply/same_leaf => //; lia.
Qed.

(* The value is the model's. *)
Lemma value_right d (P : pred bitseq) x v : (x < CModel.pow2 d)%num -> ~~ P (leaf_path d x) ->
  v = leaf_value V (seed_value V (key_root V)) (Z.of_nat d) (Z.of_N x) -> model_value V d P x = Some v.
Proof. by move=> xd nP ->; rewrite /model_value (eval_value D) // (negbTE nP). Qed.

Section Step.

Variables (Pre Post : memory) (d : nat) (P : pred bitseq) (r : Z).
Hypothesis H : holds Pre d P.
Hypothesis A : place Pre.
Hypothesis rights : may_write Post = may_write Pre.
Hypothesis byte : c_uint8_t (cell Post out).

Let nn : key <> null V. Proof. by case: H. Qed.
Let nc : ~ copied V Pre key. Proof. by case: H. Qed.
Let F : tree_family V (family_of Pre key). Proof. by case: H. Qed.
Let dE : AcslApi.depth V Pre key = Z.of_nat d. Proof. by case: H => _ _ _ []. Qed.
Let set : forall x, (x < CModel.pow2 d)%num -> AcslApi.punctured V Pre key (Z.of_N x) <-> P (leaf_path d x).
Proof. by case: H. Qed.
Let on : out <> null V. Proof. by case: A. Qed.

Lemma weaken rs : (forall x, List.In x rs -> List.In x (regions Pre)) -> unchanged Pre Post rs ->
  unchanged Pre Post (regions Pre).
Proof. by move=> sub U q o; apply: U => x xr; apply: o; apply: sub. Qed.

Lemma no_copy : r = PPRF_OK \/ r = PPRF_ERR_NULL \/ r = PPRF_ERR_FORKED \/ r = PPRF_ERR_RANGE \/
    r = PPRF_ERR_PUNCTURED \/ prg_error V r -> r <> PPRF_ERR_NULL -> r <> PPRF_ERR_FORKED ->
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO].
Proof. by move=> o n1 n2; apply: (@results V); tauto. Qed.

Lemma no_copy_change : r = PPRF_OK \/ r = PPRF_ERR_NULL \/ r = PPRF_ERR_FORKED \/ r = PPRF_ERR_RANGE \/
    r = PPRF_ERR_PUNCTURED \/ prg_error V r \/ (key <> null V /\ no_memory V Pre key r) ->
  r <> PPRF_ERR_NULL -> r <> PPRF_ERR_FORKED ->
  List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO].
Proof.
move=> o n1 n2; case: o => [e|[e|[e|[e|[e|[e|[_ [_ e]]]]]]]]; try (by apply: no_copy; tauto).
by rewrite e /=; tauto.
Qed.

Theorem eval_step x : fits (Eval x) -> contract_of V key out (Eval x) Pre Post r ->
  answers V out d P (Eval x) r Post /\ holds Post d P /\ place Post /\ same_head V Pre Post key.
Proof.
case: A => _ wo ty ao x64 [||U [_ [_ E]]]; first by split.
  split; [exact: holds_usable H | by right; right | by right | right; right; split; [by case: ao | by right]].
have [En Ef Er Ep Eo Ev Ez Ek Es] := E.
have [K head] := Ek (conj nn nc); have dP : AcslApi.depth V Post key = Z.of_nat d.
  by case: head => _ [_ [_ [_ [<- _]]]].
rewrite dP in Er Ep Ev; have U' := weaken (rs := [:: value_cells out]) _ U.
have {}U' : unchanged Pre Post (regions Pre) by apply: U' => q [<-|//]; do 12 right; left.
have rE : r = PPRF_ERR_RANGE <-> ~ in_tree d (Eval x).
  by rewrite Er /= -in_pow2; split=> [[_ [_ [_]]]|h]; [lia | do 3 (split=> //); lia].
have pE : r = PPRF_ERR_PUNCTURED <-> in_tree d (Eval x) /\ P (leaf_path d x).
  rewrite Ep in_pow2; split=> [[_ [_ [_ [xd g]]]]|[xd Px]]; first by split=> //; apply/set.
  by do 4 (split=> //); apply/set.
split; last split.
- split; [apply: no_copy => // e | exact: rE | | split=> [rK|rN]].
  + by case: (proj1 En e).
  + by case: (proj1 Ef e) => _ [_ /nc].
  + by rewrite pE; split=> -[xd h]; split=> //; apply/leaf_all.
  + have xd : in_tree d (Eval x).
      by case: (N.lt_ge_cases x (CModel.pow2 d)) => // c; have e := proj2 rE; rewrite rK in e; have := e ltac:(rewrite /=; lia).
    have nP : ~~ P (leaf_path d x) by apply/negP => Px; have := proj2 pE (conj xd Px); rewrite rK.
    have [lo [hi [B M]]] := Ev rK; exists (seed_from_words V lo hi); last by exists lo, hi.
    exact: value_right.
  by apply: bytes_zero; apply: Ez.
- apply: (holds_after H head K) => y yd; rewrite -(set yd).
  by have [S _] := Es (conj nn nc); rewrite -(S _).
by split=> //; exact: (place_after H A rights byte U' head).
Qed.

Theorem punct_step x : fits (Punct x) -> contract_of V key out (Punct x) Pre Post r ->
  answers V out d P (Punct x) r Post /\ holds Post d (punctured_after d P (Punct x) r) /\ place Post /\ same_head V Pre Post key.
Proof.
move=> x64 [||U [_ [_ E]]]; first by [].
  by split; [exact: holds_usable H | right; right].
have [En Ef Ek Er Ep Eo El Ee Es] := E.
have [K head] := Ek (conj nn nc); have dP : AcslApi.depth V Post key = Z.of_nat d.
  by case: head => _ [_ [_ [_ [<- _]]]].
rewrite dP in Er Ep; have U' : unchanged Pre Post (regions Pre).
  by apply: (weaken _ U) => q h; apply: in_cat_left.
have rE : r = PPRF_ERR_RANGE <-> ~ in_tree d (Punct x).
  by rewrite Er /= -in_pow2; split=> [[_ [_]]|h]; [lia | do 2 (split=> //); lia].
have pE : r = PPRF_ERR_PUNCTURED <-> in_tree d (Punct x) /\ P (leaf_path d x).
  rewrite Ep in_pow2; split=> [[_ [_ [xd g]]]|[xd Px]]; first by split=> //; apply/set.
  by do 3 (split=> //); apply/set.
split; last split.
- split=> //; [apply: no_copy_change => // e | by rewrite pE; split=> -[xd h]; split=> //; apply/leaf_all].
  + exact: nn (proj1 En e).
  by case: (proj1 Ef e) => _ /nc.
- apply: (holds_after H head K) => y yd; rewrite /punctured_after andbT; case: Z.eqb_spec => [rK|rN]; last rewrite orbF.
    have xd : in_tree d (Punct x).
      by case: (N.lt_ge_cases x (CModel.pow2 d)) => // c; have e := proj2 rE; rewrite rK in e; have := e ltac:(rewrite /=; lia).
    by rewrite (El rK) (set yd); apply: iff_sym; apply: after_leaf.
  by rewrite -(set yd); have [S _] := Ee rN (conj nn nc); rewrite -(S _).
by split=> //; exact: (place_after H A rights byte U' head).
Qed.

Theorem eval_punct_step x : fits (EvalPunct x) -> contract_of V key out (EvalPunct x) Pre Post r ->
  answers V out d P (EvalPunct x) r Post /\ holds Post d (punctured_after d P (EvalPunct x) r) /\ place Post /\ same_head V Pre Post key.
Proof.
case: A => _ wo ty ao x64 [||U [_ [_ E]]]; first by split.
  split; [exact: holds_usable H | by right; right | by right | right; right; split; [by case: ao | by right]].
have [En Ef Ek Er Ep Eo El Ee Es Ev Ez] := E.
have [K head] := Ek (conj nn nc); have dP : AcslApi.depth V Post key = Z.of_nat d.
  by case: head => _ [_ [_ [_ [<- _]]]].
rewrite dP in Er Ep Ev; have U' : unchanged Pre Post (regions Pre) := U.
have rE : r = PPRF_ERR_RANGE <-> ~ in_tree d (EvalPunct x).
  by rewrite Er /= -in_pow2; split=> [[_ [_ [_]]]|h]; [lia | do 3 (split=> //); lia].
have pE : r = PPRF_ERR_PUNCTURED <-> in_tree d (EvalPunct x) /\ P (leaf_path d x).
  rewrite Ep in_pow2; split=> [[_ [_ [_ [xd g]]]]|[xd Px]]; first by split=> //; apply/set.
  by do 4 (split=> //); apply/set.
have xd_ : r = PPRF_OK -> in_tree d (EvalPunct x).
  by move=> rK; case: (N.lt_ge_cases x (CModel.pow2 d)) => // c; have e := proj2 rE; rewrite rK in e; have := e ltac:(rewrite /=; lia).
split; last split.
- split; [apply: no_copy_change => // e | exact: rE | | split=> [rK|rN]].
  + by case: (proj1 En e).
  + by case: (proj1 Ef e) => _ [_ /nc].
  + by rewrite pE; split=> -[xd h]; split=> //; apply/leaf_all.
  + have xd := xd_ rK.
    have nP : ~~ P (leaf_path d x) by apply/negP => Px; have := proj2 pE (conj xd Px); rewrite rK.
    have [lo [hi [B M]]] := Ev rK; exists (seed_from_words V lo hi); last by exists lo, hi.
    exact: value_right.
  by apply: bytes_zero; apply: Ez.
- apply: (holds_after H head K) => y yd; rewrite /punctured_after andbT; case: Z.eqb_spec => [rK|rN]; last rewrite orbF.
    by rewrite (El rK) (set yd); apply: iff_sym; apply: after_leaf => //; exact: xd_.
  by rewrite -(set yd); have [S _] := Ee rN (conj nn nc); rewrite -(S _).
by split=> //; exact: (place_after H A rights byte U' head).
Qed.

Theorem range_step a b : fits (PunctRange a b) -> contract_of V key out (PunctRange a b) Pre Post r ->
  answers V out d P (PunctRange a b) r Post /\ holds Post d (punctured_after d P (PunctRange a b) r) /\ place Post /\ same_head V Pre Post key.
Proof.
move=> [a64 b64] [||U [_ [_ E]]]; first by [].
  by split; [exact: holds_usable H | right; right].
have [En Ef Ek Er Ep Eo El Ee Es] := E.
have [K head] := Ek (conj nn nc); have dP : AcslApi.depth V Post key = Z.of_nat d.
  by case: head => _ [_ [_ [_ [<- _]]]].
rewrite dP in Er Ep; have U' : unchanged Pre Post (regions Pre).
  by apply: (weaken _ U) => q h; apply: in_cat_left.
have p2 := pow2_agree D d.
have rE : r = PPRF_ERR_RANGE <-> ~ in_tree d (PunctRange a b).
  by rewrite Er /=; split=> [[_ [_]]|h]; [lia | do 2 (split=> //); lia].
have pE : r = PPRF_ERR_PUNCTURED <-> in_tree d (PunctRange a b) /\ forall x, (a <= x /\ x <= b)%num -> P (leaf_path d x).
  rewrite Ep /=; split=> [[_ [_ [ab g]]]|[ab g]].
    by split=> [|x xB]; [lia | apply/set; [lia | apply: g; lia]].
  do 2 (split=> //); split=> [|y yB]; first lia.
  have -> : y = Z.of_N (Z.to_N y) by lia.
  by apply/set; [lia | apply: g; lia].
split; last split.
- split=> //; [apply: no_copy_change => // e |].
  + exact: nn (proj1 En e).
  + by case: (proj1 Ef e) => _ /nc.
  by rewrite pE; split=> -[ab h]; split=> //; apply/(range_all _ ab).
- apply: (holds_after H head K) => y yd; rewrite /punctured_after andbT; case: Z.eqb_spec => [rK|rN]; last rewrite orbF.
    have ab : in_tree d (PunctRange a b).
      have nR : ~ ~ in_tree d (PunctRange a b) by move/rE; rewrite rK.
      by rewrite /= in nR *; lia.
    rewrite (El rK) (set yd) /=; have R := @in_range d a b y ltac:(rewrite /= in ab; lia) ltac:(by case: ab) yd.
    split=> [[Py|yB]|/orP [Py|/R yB]]; [by apply/orP; left | | by left | right; lia].
    by apply/orP; right; apply/R; lia.
  by rewrite -(set yd); have [S _] := Ee rN (conj nn nc); rewrite -(S _).
by split=> //; exact: (place_after H A rights byte U' head).
Qed.

End Step.

(* ---- All calls --------------------------------------------------------------------------------- *)

Lemma call_step L L' d (P : pred bitseq) c r : holds L d P -> place L -> fits c -> contract_of V key out c L L' r ->
  may_write L' = may_write L -> c_uint8_t (cell L' out) ->
  answers V out d P c r L' /\ holds L' d (punctured_after d P c r) /\ place L' /\ same_head V L L' key.
Proof.
move=> H A f C rt byte; case: c f C => [x|x|x|a b] f C;
  [| exact: (punct_step H A) | exact: (eval_punct_step H A) | exact: (range_step H A)].
have [a_ [[nn nc F K set] A']] := eval_step H A rt byte f C; split=> //; split=> //.
by split=> // y yd; rewrite /punctured_after andbF orbF; exact: set.
Qed.

(* A key with either store, of any depth: whatever is called, each result and each value is the model's. *)
Theorem key_calls_sound L d (P : pred bitseq) cs : holds L d P -> place L -> were_made V key out L cs ->
  all_answers V out d P cs.
Proof.
elim: cs L P => //= -[[c r] L'] cs IH L P H A [f C rt byte made].
by have [a_ [H' [A' _]]] := call_step H A f C rt byte; split=> //; apply: IH made.
Qed.

Lemma key_calls_hold L d (P : pred bitseq) cs : holds L d P -> place L -> were_made V key out L cs ->
  holds (memory_after L cs) d (punctured_by d P cs) /\
  points V (cell (memory_after L cs) (shift 1 (store_of key) 16)) = points V (cell L (shift 1 (store_of key) 16)).
Proof.
elim: cs L P => [|[[c r] L'] cs IH] L P H A; first by [].
move=> [f C rt byte made]; have [_ [H' [A' head]]] := call_step H A f C rt byte.
have [H'' e] := IH L' _ H' A' made; split; first exact: H''.
by rewrite [memory_after _ _]/= e; case: head => _ [_ [_ [_ [_ ->]]]].
Qed.

End KeySound.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The contracts of ref are met: for every suite and every depth that the statements have there are functions that
   meet them, by a memory that is ready (ref_inhabited).  So the theorems that assume such functions are about
   something. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel EvaluationGame Oracle RefGame.
From Pprf.proofs Require Import Correctness Sizes Layout AcslAgree AcslSound MemoryGame RefSecurity.
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

Lemma pow2N k : 2 ^ Z.of_nat k = Z.of_N (CModel.pow2 k).
Proof.
elim: k => // k IH; rewrite Nat2Z.inj_succ Z.pow_succ_r ?IH ?pow2S; last lia.
by rewrite N2Z.inj_mul.
Qed.

(* ---- The result of a call on the leaves from a to b, from the leaves that are gone ------------------ *)

Definition verdict (outside gone failing : bool) : Z :=
  if outside then PPRF_ERR_RANGE else if gone then PPRF_ERR_PUNCTURED
  else if failing then PPRF_ERR_NOMEM else PPRF_OK.

Lemma verdictE o g f : let r := verdict o g f in
  [/\ r = PPRF_ERR_RANGE <-> o, r = PPRF_ERR_PUNCTURED <-> ~~ o && g, r = PPRF_OK <-> [&& ~~ o, ~~ g & ~~ f] &
      [\/ r = PPRF_OK, r = PPRF_ERR_RANGE, r = PPRF_ERR_PUNCTURED | r = PPRF_ERR_NOMEM /\ f]].
Proof.
by case: o; case: g; case: f; split; try (by split);
  first [by apply: Or41 | by apply: Or42 | by apply: Or43 | by apply: Or44].
Qed.

Section Verdict.
Variable d : nat.
Variable gone : Z -> bool.
Variables a b : N.

Definition range_verdict (failing : bool) : Z :=
  verdict ((b <? a)%num || (CModel.pow2 d <=? b)%num)
    (all (fun i => gone (Z.of_N a + Z.of_nat i)) (iota 0 (Z.to_nat (Z.of_N b - Z.of_N a + 1)))) failing.

Lemma range_verdictE (set : Z -> Prop) f : (forall x, gone x <-> set x) -> let r := range_verdict f in
  [/\ r = PPRF_ERR_RANGE <-> Z.of_N a > Z.of_N b \/ Z.of_N b >= 2 ^ Z.of_nat d,
      r = PPRF_ERR_PUNCTURED <-> (Z.of_N a <= Z.of_N b /\ Z.of_N b < 2 ^ Z.of_nat d) /\
        forall x, Z.of_N a <= x /\ x <= Z.of_N b -> set x,
      r = PPRF_OK -> (Z.of_N a <= Z.of_N b /\ Z.of_N b < 2 ^ Z.of_nat d) /\ ~~ f &
      [\/ r = PPRF_OK, r = PPRF_ERR_RANGE, r = PPRF_ERR_PUNCTURED | r = PPRF_ERR_NOMEM /\ f]].
Proof.
move=> setP; rewrite /range_verdict; set o := (_ || _); set g := all _ _.
have oE : o <-> Z.of_N a > Z.of_N b \/ Z.of_N b >= 2 ^ Z.of_nat d.
  rewrite pow2N /o; split=> [/orP [/N.ltb_spec0|/N.leb_spec0]|ab]; try lia.
  by apply/orP; case: ab => ab; [left; apply/N.ltb_spec0 | right; apply/N.leb_spec0]; lia.
have noE : ~~ o <-> Z.of_N a <= Z.of_N b /\ Z.of_N b < 2 ^ Z.of_nat d.
  split=> [/negP no|ab]; last by apply/negP => /oE; lia.
  have no' : ~ (Z.of_N a > Z.of_N b \/ Z.of_N b >= 2 ^ Z.of_nat d) by move/oE.
  lia.
have gE : g <-> forall x, Z.of_N a <= x /\ x <= Z.of_N b -> set x.
  split=> [/allP h x xB|h].
    apply/setP; have := h (Z.to_nat (x - Z.of_N a)); rewrite mem_iota add0n Z2Nat.id; last lia.
    by rewrite (_ : Z.of_N a + (x - Z.of_N a) = x); [apply; apply/ltP; lia | lia].
  by apply/allP => i; rewrite mem_iota add0n => /ltP iB; apply/setP/h; lia.
have [h1 h2 h3 h4] := verdictE o g f; split=> //; first by rewrite h1.
  by rewrite h2 -noE -gE; split=> [/andP|[-> ->]].
by move=> /h3 /and3P [/noE].
Qed.
End Verdict.

(* ---- A range makes a key larger by two paths at most ------------------------------------------------ *)

Section Growth.
Variable Seed : Type.
Variable prg : N -> nat -> Seed -> Seed * Seed.
Variables a b : N.

Definition also (P : pred N) : pred N := fun y => P y || ((a <=? y) && (y <=? b))%num.

Definition growth (h : nat) (s : N) : Z :=
  if [|| (b <? s)%num, (s + CModel.pow2 h <=? a)%num | (b <? a)%num] then 0
  else if (a =? b)%num then Z.of_nat h
  else (if (a <=? s)%num then 0 else Z.of_nat h) + (if (s + CModel.pow2 h <=? b + 1)%num then 0 else Z.of_nat h).

Definition open_left (h : nat) (s : N) : Z := if (a <=? s)%num then 0 else Z.of_nat h.
Definition open_right (h : nat) (s : N) : Z := if (s + CModel.pow2 h <=? b + 1)%num then 0 else Z.of_nat h.

Lemma growth_apart h s : (b < s \/ s + CModel.pow2 h <= a)%num -> growth h s = 0.
Proof. by rewrite /growth => B; case: N.ltb_spec0 => //=; case: N.leb_spec0 => //= *; lia. Qed.

Lemma growth_meets h s : (s <= b /\ a < s + CModel.pow2 h /\ a <= b)%num ->
  growth h s = if (a =? b)%num then Z.of_nat h else open_left h s + open_right h s.
Proof.
rewrite /growth => B; case: N.ltb_spec0 => [?|_]; first by lia.
by case: N.leb_spec0 => [?|_]; last (case: N.ltb_spec0 => [?|_] //); lia.
Qed.

Lemma growth_ge0 h s : 0 <= growth h s.
Proof. by rewrite /growth; do 3 (case: ifP => _; try lia); case: ifP; lia. Qed.

(* A node that the range meets, and not to both ends, has a free node for each level. *)
Lemma growth_free h s : (s <= b /\ a < s + CModel.pow2 h.+1 /\ a <= b)%num ->
  ~ (a <= s /\ s + CModel.pow2 h.+1 <= b + 1)%num ->
  1 + growth h s + growth h (s + CModel.pow2 h)%num <= growth h.+1 s.
Proof.
move=> B out; have p := pow2_gt0 h; rewrite (growth_meets B).
rewrite pow2S in B out; set m := (s + CModel.pow2 h)%num.
have [lo|am] := N.le_gt_cases m a.
  rewrite growth_apart ?growth_meets; [|lia|right; lia].
  case: N.eqb_spec => // _; first by lia.
  rewrite /open_left /open_right pow2S; case: (N.leb_spec0 a s) => [?|_]; first by lia.
  rewrite (_ : m + CModel.pow2 h = s + 2 * CModel.pow2 h)%num; last lia.
  by case: N.leb_spec0 => _; case: N.leb_spec0 => _; lia.
have [hi|mb] := N.lt_ge_cases b m.
  rewrite (growth_apart (s := m)) ?growth_meets; [|lia|left; lia].
  case: N.eqb_spec => // _; first by lia.
  rewrite /open_left /open_right pow2S; case: (N.leb_spec0 (s + 2 * _) _) => [?|_]; first by lia.
  by case: N.leb_spec0 => _; case: N.leb_spec0 => _; lia.
rewrite !growth_meets; try lia.
case: N.eqb_spec => [?|_]; first by lia.
rewrite /open_left /open_right pow2S (_ : m + CModel.pow2 h = s + 2 * CModel.pow2 h)%num; last lia.
case: (N.leb_spec0 a m) => [_|?]; last by lia.
case: (N.leb_spec0 m (b + 1)) => [_|?]; last by lia.
by case: N.leb_spec0 => ?; case: N.leb_spec0 => ?; lia.
Qed.

Lemma growth_halves h s : growth h s + growth h (s + CModel.pow2 h)%num <= growth h.+1 s.
Proof.
have p := pow2_gt0 h; have pS := pow2S h.
have [B|none] : (s <= b /\ a < s + CModel.pow2 h.+1 /\ a <= b \/ (b < s \/ s + CModel.pow2 h.+1 <= a \/ b < a))%num by lia.
  have [[a1 b1]|out] : ((a <= s /\ s + CModel.pow2 h.+1 <= b + 1) \/ ~ (a <= s /\ s + CModel.pow2 h.+1 <= b + 1))%num by lia.
    rewrite !growth_meets; try lia; rewrite /open_left /open_right.
    do ![case: N.leb_spec0 => ?; try lia]; case: N.eqb_spec => [?|_]; lia.
  by have := growth_free B out; lia.
have := @growth_ge0 h.+1 s; suff -> : growth h s + growth h (s + CModel.pow2 h)%num = 0 by [].
have zero s' : (s' = s \/ s' = s + CModel.pow2 h)%num -> growth h s' = 0.
  move=> sE; case: (N.lt_ge_cases b a) => ba; last by apply: growth_apart; lia.
  by rewrite /growth; case: (N.ltb_spec0 b a) => // _; rewrite !orbT.
by rewrite !zero; [|right|left].
Qed.

Lemma size_ncover_also h P s k :
  Z.of_nat (size (ncover prg h (also P) s k)) <= Z.of_nat (size (ncover prg h P s k)) + growth h s.
Proof.
elim: h s k => [|h IH] s k.
  have g0 := @growth_ge0 0 s.
  by rewrite /= /also; case: (P s) => /=; [lia | case: ifP => _ /=; lia].
case hq: (nhas_leaf h.+1 (also P) s); last first.
  have np : ~~ nhas_leaf h.+1 P s.
    by apply/negP => /nhas_leafP [y ys Py]; move/negP: hq; apply; apply/nhas_leafP; exists y; rewrite // /also Py.
  rewrite !ncover_no_leaf ?hq //=; have := @growth_ge0 h.+1 s; lia.
have sE (u v : nat) : Z.of_nat (u + v)%N = Z.of_nat u + Z.of_nat v by rewrite -plusE; lia.
have H := @growth_halves h s.
rewrite (ncover_has_leafS _ _ hq) size_cat sE.
have L := IH s (prg s h.+1 k).1; have R := IH (s + CModel.pow2 h)%num (prg s h.+1 k).2.
case hp: (nhas_leaf h.+1 P s); first by rewrite (ncover_has_leafS _ _ hp) size_cat sE; lia.
have [y ys /orP [Py|yB]] := elimT (nhas_leafP _ _ _) hq.
  by move/negP: hp; case; apply/nhas_leafP; exists y.
have none s' : (s' = s \/ s' = s + CModel.pow2 h)%num -> ~~ nhas_leaf h P s'.
  move=> sh; apply/negP => /nhas_leafP [z zs Pz]; move/negP: hp; apply; apply/nhas_leafP; exists z => //.
  by rewrite in_span_half; case: sh zs => -> ->; rewrite ?orbT.
rewrite (@ncover_no_leaf Seed prg h P s _ (none _ (or_introl erefl))) /= in L.
rewrite (@ncover_no_leaf Seed prg h P _ _ (none _ (or_intror erefl))) /= in R.
rewrite (@ncover_no_leaf Seed prg h.+1 P s k) ?hp //= -/(size _).
have [/andP [/N.leb_spec0 a1 /N.leb_spec0 b1]|out] := boolP ((a <=? s) && (s + CModel.pow2 h.+1 <=? b + 1))%num.
  rewrite pow2S in b1; have g0 := @growth_ge0 h.+1 s.
  have all_ s' : (s <= s' /\ s' + CModel.pow2 h <= s + 2 * CModel.pow2 h)%num -> forall x, in_span s' h x -> also P x.
    move=> sB x /andP [/N.leb_spec0 x1 /N.ltb_spec0 x2]; apply/orP; right.
    by apply/andP; split; apply/N.leb_spec0; lia.
  by rewrite !ncover_all //=; try (apply: all_; lia); lia.
case/andP: yB => /N.leb_spec0 ay /N.leb_spec0 yb; case/andP: ys => /N.leb_spec0 sy /N.ltb_spec0 yS.
have : (s <= b /\ a < s + CModel.pow2 h.+1 /\ a <= b)%num by lia.
move/growth_free => /(_ _) G; have : ~ (a <= s /\ s + CModel.pow2 h.+1 <= b + 1)%num.
  by move=> [a1 b1]; move/negP: out; apply; apply/andP; split; apply/N.leb_spec0.
by move/G; lia.
Qed.

End Growth.

(* ---- The functions ------------------------------------------------------------------------------------ *)

Section Inhabited.
Variable S : suite.
Hypothesis ok : suite_ok S.
Variable d : nat.
Hypothesis d32 : (0 < d <= 32)%N.
Local Notation D := (Z.of_nat d).
Local Notation V := (suite_logic S).
Local Notation G := (@suite_prg S d).
Local Notation DV := (defined_definitions _ : definitions V).
Local Notation spot := ((0, 0) : pointer).

(* Block 0 holds the array, block 1 its length, block 2 the value. *)
Definition shelf : Z := Z.of_nat (2 ^ d.-1 + 2 * d).
Definition ref_place : layout := Layout spot shelf (1, 0) (2, 0).
Definition blank_memory : memory := Memory (fun _ => 0) (fun _ => True) (fun _ => True).

(* The leaves that no node of the array covers. *)
Definition node_in (M : memory) (k : nat) : ref_node := ref_node_at M (shift ref_node_cells spot (Z.of_nat k)).
Definition gone_in (M : memory) (x : Z) : bool :=
  ~~ has (fun k => (ref_node_start (node_in M k) <=? x) &&
                   (x <? ref_node_start (node_in M k) + AcslRef.pow2 V (ref_node_height (node_in M k))))
       (iota 0 (Z.to_nat (cell M (1, 0)))).
Definition goneN (M : memory) : pred N := fun x => gone_in M (Z.of_N x).

Definition keyN (P : pred N) (R : pprf_seed) : key (block S) := cover G d (fun y => P (leaf_num y)) [::] (seed_value V R).
Definition node_words (K : key (block S)) : seq Z := flatten [seq [seq @node_cell S d n j | j <- [:: 0; 1; 2; 3]] | n <- K].

Definition lies (n : Z) (q : pointer) : bool := [&& fst q =? 0, 0 <=? snd q & snd q <? 4 * n].
Definition stored (M : memory) (K : key (block S)) (q : pointer) : Z :=
  if lies shelf q then nth 0 (node_words K) (Z.to_nat (snd q))
  else if (fst q =? 1) && (snd q =? 0) then Z.of_nat (size K) else cell M q.
Definition valued (lo hi : Z) (f : pointer -> Z) (q : pointer) : Z :=
  if (fst q =? 2) && (snd q =? 0) then lo else if (fst q =? 2) && (snd q =? 1) then hi else f q.
Definition punctured_by M R a b : pointer -> Z := stored M (keyN (also a b (goneN M)) R).

Definition run_setup M R (q : pointer) : Z :=
  if lies 1 q then nth 0 (node_words (keygen (seed_value V R))) (Z.to_nat (snd q)) else cell M q.
Definition run_range M R a b (failing : bool) : Z * (pointer -> Z) :=
  let r := range_verdict d (gone_in M) a b failing in
  (r, if r =? PPRF_OK then punctured_by M R a b else cell M).
Definition run_leaf (puncture : bool) M R x (failing : bool) : Z * (pointer -> Z) :=
  let r := range_verdict d (gone_in M) x x failing in
  let v := leaf_value V (seed_value V R) D (Z.of_N x) : block S in
  (r, if r =? PPRF_OK then
        valued (low_word v) (high_word v) (if puncture then punctured_by M R x x else cell M)
      else valued 0 0 (cell M)).
Definition ref_functions_of : functions bool := Functions run_setup (run_leaf false) (run_leaf true) run_range.
Definition told (gs : seq (Z * Z)) (c : call) (failing : bool) : Z := if failing then PPRF_ERR_NOMEM else PPRF_OK.

(* ---- A key in the array -------------------------------------------------------------------------------- *)

Lemma held_inP M x : 0 <= cell M (1, 0) -> ~~ gone_in M x <-> AcslRef.covered V M spot (cell M (1, 0)) x.
Proof.
move=> n0; rewrite /gone_in negbK; split=> [/hasP [k]|[k [kB [k1 k2]]]].
  rewrite mem_iota add0n => /andP [_ /ltP kB] /andP [/Z.leb_spec0 k1 /Z.ltb_spec0 k2].
  by exists (Z.of_nat k); split; [lia | split].
apply/hasP; exists (Z.to_nat k); first by rewrite mem_iota add0n; apply/ltP; lia.
have kE : Z.of_nat (Z.to_nat k) = k by lia.
by rewrite /node_in kE; apply/andP; split; [apply/Z.leb_spec0 | apply/Z.ltb_spec0].
Qed.

Lemma gone_inP M : 0 <= cell M (1, 0) -> forall x, gone_in M x <-> ~ AcslRef.covered V M spot (cell M (1, 0)) x.
Proof.
move=> n0 x; rewrite -(held_inP x n0); split=> [-> //|h]; by apply: contraT => /h.
Qed.

Lemma seed_words (s : block S) : from_words S (low_word s) (high_word s) = s.
Proof. by have [_ _] := proj2 ok s. Qed.

Lemma holds_words (L : memory) K :
  (forall q, lies (Z.of_nat (size K)) q -> cell L q = nth 0 (node_words K) (Z.to_nat (snd q))) ->
  @holds V L spot (Z.of_nat (size K)) (map (encode d) K).
Proof.
move=> E; split; first by rewrite size_map.
move=> k m e; have kB : (k < size K)%nat.
  by have /List.nth_error_Some : List.nth_error (map (encode d) K) k <> None by [rewrite e]; rewrite List.map_length => /ltP.
have mE : m = encode d (nth ([::], zero_block S) K k).
  by move/(nth_error_nth (encode d ([::], zero_block S))): e; rewrite (nth_map ([::], zero_block S)) // => <-.
have cE j : (j < 4)%nat -> cell L (0, 4 * Z.of_nat k + Z.of_nat j) =
    @node_cell S d (nth ([::], zero_block S) K k) (Z.of_nat j).
  move=> j4; move: (kB) (j4) => /ltP kB' /ltP j4'; rewrite E; last first.
    by apply/and3P; split=> //=; [apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
  have -> : Z.to_nat (snd (0, 4 * Z.of_nat k + Z.of_nat j)) = (4 * k + j)%N by rewrite /= -plusE -multE; lia.
  by rewrite /node_words (nth_cells _ ([::], zero_block S)) // kB.
rewrite mE /ref_node_at /pprf_seed_at /shift /ref_node_cells /=.
have cZ j z : (j < 4)%nat -> z = 4 * Z.of_nat k + Z.of_nat j ->
    cell L (0, z) = @node_cell S d (nth ([::], zero_block S) K k) (Z.of_nat j) by move=> j4 ->; apply: cE.
split=> /=.
- by rewrite (cZ 0%nat) //; lia.
- by rewrite (cZ 1%nat) //; lia.
by rewrite /seed_value /= (cZ 2%nat) ?(cZ 3%nat) //; try lia; rewrite /= /node_cell /= seed_words.
Qed.

Lemma encode_keyN P R : map (encode d) (keyN P R) = ncover (@acsl_prg V) d P 0 (seed_value V R).
Proof. exact: encode_cover. Qed.

Lemma size_keyN P R : Z.of_nat (size (keyN P R)) + 2 * D <= shelf.
Proof.
case/andP: d32 => d0 _; have /leP := @size_cover_half _ G d (fun y => P (leaf_num y)) [::] (seed_value V R) d0.
by rewrite /shelf /keyN -!plusE -!multE; lia.
Qed.

Lemma size_also a b P R : Z.of_nat (size (keyN (also a b P) R)) <= Z.of_nat (size (keyN P R)) + 2 * D /\
  (a = b -> Z.of_nat (size (keyN (also a b P) R)) <= Z.of_nat (size (keyN P R)) + D).
Proof.
have := @size_ncover_also _ (@acsl_prg V) a b d P 0 (seed_value V R); rewrite -!encode_keyN !size_map => H.
suff [g g'] : growth a b d 0 <= 2 * D /\ (a = b -> growth a b d 0 <= D) by split; [lia | move/g'; lia].
rewrite /growth; case: ifP => _; first by lia.
by case: N.eqb_spec => ab; split=> [|ab']; try lia; case: ifP => _; case: ifP => _; lia.
Qed.

(* The array is a key exactly if it holds the model's. *)
Lemma keyN_inv L P R n : n = Z.of_nat (size (keyN P R)) -> @holds V L spot n (map (encode d) (keyN P R)) ->
  [/\ inv V L (seed_value V R) D spot n, forall x, (x < CModel.pow2 d)%num -> AcslRef.covered V L spot n (Z.of_N x) <-> ~~ P x &
      forall y, AcslRef.covered V L spot n y -> 0 <= y < 2 ^ D].
Proof.
move=> nE H; have [n0 [I C]] := proj1 (acsl_inv_cover DV L R d spot n (fun y => P (leaf_num y))) H.
split=> // [x xd|y]; first by rewrite C // leaf_pathK.
case=> k [kB]; have [_ [le [/(tree_node_natural DV) [s [h [sE hE]]] _]]] := proj1 I k kB.
rewrite /covers_at /covers sE hE in le *; rewrite (pow2_agree DV) in le *; rewrite (pow2_agree DV) in le.
by rewrite pow2N; lia.
Qed.

Lemma inv_keyN M R : 0 <= cell M (1, 0) -> inv V M (seed_value V R) D spot (cell M (1, 0)) ->
  @holds V M spot (cell M (1, 0)) (map (encode d) (keyN (goneN M) R)).
Proof.
move=> n0 I; apply/(acsl_inv_cover DV M R d spot (cell M (1, 0)) (fun y => goneN M (leaf_num y))); split=> //; split=> // x xd.
by rewrite leaf_pathK // /goneN held_inP.
Qed.

Lemma stored_holds M K : Z.of_nat (size K) <= shelf ->
  @holds V (with_cells M (stored M K)) spot (Z.of_nat (size K)) (map (encode d) K).
Proof.
move=> sz; apply: holds_words => q /and3P [q1 /Z.leb_spec0 q2 /Z.ltb_spec0 q3] /=.
have lq : lies shelf q by apply/and3P; split=> //; [apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
by rewrite /stored lq.
Qed.

Lemma size_words K : Z.of_nat (size (node_words K)) = 4 * Z.of_nat (size K).
Proof.
elim: K => // n K IH; rewrite /node_words map_cons [flatten _]/=.
by move: IH; rewrite /node_words /=; lia.
Qed.

Lemma stored_clear M K q : span ref_node_cells spot (Z.of_nat (size K)) (shelf - 1) q -> stored M K q = 0.
Proof.
move=> [/= q1]; rewrite /ref_node_cells => q2; have lq : lies shelf q.
  by apply/and3P; split; [apply/Z.eqb_spec | apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
rewrite /stored lq nth_default //; have := size_words K => e; apply/leP; lia.
Qed.

Lemma word_ok (s : block S) : c_uint64_t (low_word s) /\ c_uint64_t (high_word s).
Proof. by have [] := proj2 ok s. Qed.

Lemma words_typed K : all (fun n => size n.1 <= d)%N K -> forall i, c_uint64_t (nth 0 (node_words K) i).
Proof.
move=> sz i; have : (size K <= i %/ 4)%N \/ (i %/ 4 < size K)%N by case: leqP => ?; [left | right].
have iE : i = (4 * (i %/ 4) + i %% 4)%N by rewrite mulnC -divn_eq.
have j4 : (i %% 4 < 4)%N by rewrite ltn_mod.
rewrite iE /node_words (nth_cells _ ([::], zero_block S)) // => _.
case: ifP => // kB; have := allP sz _ (mem_nth ([::], zero_block S) kB); set n := nth _ _ _ => nd.
have e := first_leaf_end nd; have p := pow2_gt0 (d - size n.1).
have d64 : (CModel.pow2 d <= CModel.pow2 32)%num by apply: pow2_mono; case/andP: d32.
have e32 : CModel.pow2 32 = 4294967296%num by []; have e64 : 2 ^ 64 = 18446744073709551616 by [].
have nB : (d - size n.1 <= 32)%coq_nat.
  by apply/leP; apply: leq_trans (leq_subr _ _) _; case/andP: d32.
rewrite e32 in d64.
have lo x : x = first_leaf d n.1 -> 0 <= Z.of_N x < 18446744073709551616.
  by move=> ->; move: (first_leaf d n.1) (CModel.pow2 (d - size n.1)) (CModel.pow2 d) e p d64; clear; lia.
have hi k : k = (d - size n.1)%N -> 0 <= Z.of_nat k < 18446744073709551616.
  by move=> ->; move: (d - size n.1)%N nB; clear; lia.
rewrite /node_cell /c_uint64_t e64; case: Z.eqb_spec => _; first exact: lo.
case: Z.eqb_spec => _; first exact: hi.
by rewrite -e64; case: ifP => _; [have [] := word_ok n.2 | have [_] := word_ok n.2].
Qed.

Lemma keyN_depth P R : all (fun n => size n.1 <= d)%N (keyN P R).
Proof.
by apply/allP => n nK; have := map_f fst nK; rewrite mem_cover => /and3P [].
Qed.

Lemma stored_typed M P R : typed ref_place M -> typed ref_place (with_cells M (stored M (keyN P R))).
Proof.
move=> T q [/= q1 q2]; rewrite /ref_node_cells /= in q2; have lq : lies shelf q.
  by apply/and3P; split; [apply/Z.eqb_spec | apply/Z.leb_spec0 | apply/Z.ltb_spec0]; lia.
by rewrite /= /stored lq; apply: words_typed; exact: keyN_depth.
Qed.

Lemma valued_out lo hi f q : fst q <> 2 -> valued lo hi f q = f q.
Proof. by rewrite /valued; case: Z.eqb_spec. Qed.

Lemma valued_other lo hi f q : ~ span pprf_seed_cells ((2, 0) : pointer) 0 0 q -> valued lo hi f q = f q.
Proof.
rewrite /valued /span /pprf_seed_cells /= => out.
case: Z.eqb_spec => //= q1; case: Z.eqb_spec => q2; first by case: out; lia.
by case: Z.eqb_spec => q3 //; case: out; lia.
Qed.

Lemma value_is M lo hi f : pprf_seed_at (with_cells M (valued lo hi f)) (2, 0) = pprf_seed_intro lo hi.
Proof. by []. Qed.

Lemma stored_out M K q : ~ span ref_node_cells spot 0 (shelf - 1) q -> ~ span 1 ((1, 0) : pointer) 0 0 q ->
  stored M K q = cell M q.
Proof.
rewrite /stored /span /ref_node_cells /= => o1 o2; case: ifP => [/and3P [/Z.eqb_spec ? /Z.leb_spec0 ? /Z.ltb_spec0 ?]|_].
  by case: o1; lia.
by case: ifP => // /andP [/Z.eqb_spec ? /Z.eqb_spec ?]; case: o2; lia.
Qed.

(* ---- Set-up --------------------------------------------------------------------------------------------- *)

Lemma D32 : 0 < D <= 32.
Proof. by case/andP: d32 => /ltP ? /leP ?; lia. Qed.

Lemma shelf_ok : 2 * D < shelf <= REF_NODES_MAX.
Proof.
rewrite /shelf -plusE -multE /REF_NODES_MAX.
have p : Z.of_nat (2 ^ d.-1) = Z.of_N (CModel.pow2 d.-1).
  by elim: (d.-1) => // k IH; rewrite expnS pow2S N2Z.inj_mul -IH -multE; lia.
have q : (CModel.pow2 d.-1 <= CModel.pow2 31)%num by apply: pow2_mono; case/andP: d32; case: (d).
have e : CModel.pow2 31 = 2147483648%num by [].
by have := D32; have := pow2_gt0 d.-1; rewrite Nat2Z.inj_add p; lia.
Qed.

Lemma setup_meets M R : let M' := with_cells M (run_setup M R) in
  ref_setup_contract V M M' spot D R /\ (typed ref_place M -> typed ref_place M').
Proof.
have K1 : size (keyN pred0 R) = 1%N by rewrite /keyN cover_pred0.
have H : @holds V (with_cells M (run_setup M R)) spot 1 (map (encode d) (keyN pred0 R)).
  have {1}-> : 1 = Z.of_nat (size (keyN pred0 R)) by rewrite K1.
  apply: holds_words => q; rewrite K1 => lq; rewrite /= /run_setup lq /keyN cover_pred0 //.
split=> [|T q qa].
  move=> Ty _; have [I C out] := keyN_inv (esym (congr1 Z.of_nat K1)) H.
  split.
    move=> q no; rewrite /= /run_setup; case: ifP => // /and3P [/Z.eqb_spec q1 /Z.leb_spec0 q2 /Z.ltb_spec0 q3].
    by case: (no (span 4 (shift 4 spot 0) 0 0)); [left | split=> /=; lia].
  split=> //; split=> // y; split=> [yB|/out]; last by rewrite pow2N (pow2_agree DV).
  rewrite (pow2_agree DV) in yB; have -> : y = Z.of_N (Z.to_N y) by lia.
  by apply/C => //; lia.
rewrite /= /run_setup; case: ifP => _; last exact: T.
by apply: words_typed.
Qed.

(* ---- A call ----------------------------------------------------------------------------------------------- *)

Section Call.
Variable M : memory.
Variable R : pprf_seed.
Local Notation n := (cell M (1, 0)).

(* What the contracts require of the memory, and say of it. *)
Section Key.
Hypothesis n0 : 0 <= n.
Hypothesis I : inv V M (seed_value V R) D spot n.

Lemma holds_now : @holds V M spot n (map (encode d) (keyN (goneN M) R)).
Proof. exact: inv_keyN. Qed.

Lemma count_now : n = Z.of_nat (size (keyN (goneN M) R)).
Proof. by case: holds_now => ->; rewrite size_map. Qed.

Lemma height_now k : 0 <= k < n -> 0 <= ref_node_height (ref_node_at M (shift 4 spot k)) <= D.
Proof.
move=> kB; have [_ [_ [/(tree_node_natural DV) [s [h [_ hE]]] _]]] := proj1 I k kB.
by have [hd _] := proj1 I k kB; rewrite hE in hd *; lia.
Qed.

Section Puncture.
Variables a b : N.
Hypothesis ab : (a <= b /\ b < CModel.pow2 d)%num.
Variable g : pointer -> Z.
Hypothesis E : forall q, fst q <> 2 -> g q = punctured_by M R a b q.
Local Notation M' := (with_cells M g).
Local Notation n' := (cell M' (1, 0)).

Lemma count_then : n' = Z.of_nat (size (keyN (also a b (goneN M)) R)).
Proof. by rewrite /= E // /punctured_by /stored /lies. Qed.

Lemma holds_then : @holds V M' spot n' (map (encode d) (keyN (also a b (goneN M)) R)).
Proof.
rewrite count_then; have sz := @size_keyN (also a b (goneN M)) R; have := D32 => D_.
apply: (holds_unchanged (L1 := with_cells M (punctured_by M R a b))); last by apply: stored_holds; lia.
by move=> q [/= q1 _]; rewrite E // q1.
Qed.

Lemma inv_then : inv V M' (seed_value V R) D spot n'.
Proof. by have [] := keyN_inv count_then holds_then. Qed.

Lemma gone_then y : Z.of_N a <= y /\ y <= Z.of_N b -> ~ AcslRef.covered V M' spot n' y.
Proof.
move=> yB; have [_ C _] := keyN_inv count_then holds_then.
have -> : y = Z.of_N (Z.to_N y) by lia.
rewrite C; last lia; rewrite /also; case: N.leb_spec0 => ?; case: N.leb_spec0 => ?; rewrite ?orbT //; lia.
Qed.

Lemma stay_then y : y < Z.of_N a \/ Z.of_N b < y ->
  AcslRef.covered V M' spot n' y <-> AcslRef.covered V M spot n y.
Proof.
move=> yB; have [_ C out] := keyN_inv count_then holds_then; have [_ C0 out0] := keyN_inv count_now holds_now.
have [yD|yD] : (0 <= y < 2 ^ D) \/ ~ (0 <= y < 2 ^ D) by lia.
  have yE : y = Z.of_N (Z.to_N y) by lia.
  rewrite pow2N in yD; rewrite yE C ?C0; try lia.
  rewrite /also (_ : ((a <=? Z.to_N y) && (Z.to_N y <=? b))%num = false) ?orbF //.
  by apply/negP => /andP [/N.leb_spec0 ? /N.leb_spec0 ?]; lia.
by split=> [/out|/out0].
Qed.

Lemma growth_then : n' <= shelf /\ n' < n + 2 * D + 1 /\ (a = b -> n' < n + D + 1).
Proof.
rewrite count_then count_now; have := @size_keyN (also a b (goneN M)) R; have := D32.
have [h h'] := size_also a b (goneN M) R; split; [lia | split; [lia | move/h'; lia]].
Qed.

Lemma clear_then : zeros V M' spot n' shelf.
Proof.
apply: cells_zero => q; rewrite count_then => qb; rewrite /= E; last by case: qb => ->.
exact: stored_clear.
Qed.

End Puncture.
End Key.

Lemma verdict_ok a b f : 0 <= n -> let r := range_verdict d (gone_in M) a b f in
  [/\ r = PPRF_ERR_RANGE <-> Z.of_N a > Z.of_N b \/ Z.of_N b >= AcslRef.pow2 V D,
      r = PPRF_ERR_PUNCTURED <-> (Z.of_N a <= Z.of_N b /\ Z.of_N b < AcslRef.pow2 V D) /\
        forall x, Z.of_N a <= x /\ x <= Z.of_N b -> ~ AcslRef.covered V M spot n x,
      r = PPRF_OK -> (a <= b /\ b < CModel.pow2 d)%num,
      r <> PPRF_ERR_BUFFER /\ c_int r &
      r = PPRF_OK \/ r = PPRF_ERR_RANGE \/ r = PPRF_ERR_PUNCTURED \/ prg_error V r].
Proof.
move=> n0; have [rng pun fine oth] := range_verdictE d a b f (gone_inP n0).
rewrite (pow2_agree DV) -pow2N; split=> //.
- by move/fine; rewrite pow2N => -[]; lia.
- by case: oth => [->|->|->|[-> _]].
case: oth => [->|->|->|[-> _]]; [by left | by right; left | by right; right; left | right; right; right].
by split=> //; left.
Qed.

Lemma kept g : (forall q, fst q <> 2 -> g q = cell M q) -> 0 <= n -> inv V M (seed_value V R) D spot n ->
  [/\ cell (with_cells M g) (1, 0) = n, inv V (with_cells M g) (seed_value V R) D spot n,
      forall y, AcslRef.covered V (with_cells M g) spot n y <-> AcslRef.covered V M spot n y &
      same V (with_cells M g) M spot 0 shelf].
Proof.
move=> E n0 I; have H := holds_now n0 I.
have H' : @holds V (with_cells M g) spot n (map (encode d) (keyN (goneN M) R)).
  by apply: holds_unchanged H => q [/= q1 _]; rewrite E // q1.
have [_ C out] := keyN_inv (count_now n0 I) H; have [I' C' out'] := keyN_inv (count_now n0 I) H'.
split=> //; first by rewrite /= E.
  move=> y; have [yD|yD] : (0 <= y < 2 ^ D) \/ ~ (0 <= y < 2 ^ D) by lia.
    have yE : y = Z.of_N (Z.to_N y) by lia.
    have yd : (Z.to_N y < CModel.pow2 d)%num by rewrite pow2N in yD; lia.
    by rewrite yE C' // C.
  by split=> [/out'|/out].
by move=> k _; rewrite /same_node /ref_node_at /pprf_seed_at /shift /= !E.
Qed.

Lemma kept_clear g : (forall q, fst q <> 2 -> g q = cell M q) -> zeros V M spot n shelf ->
  zeros V (with_cells M g) spot n shelf.
Proof. by move=> E Z k /Z; rewrite /zero_node /ref_node_at /pprf_seed_at /shift /= !E. Qed.

Lemma leaf_value_kept x lo hi f : lo = low_word (leaf_value V (seed_value V R) D x : block S) ->
  hi = high_word (leaf_value V (seed_value V R) D x : block S) ->
  seed_value V (pprf_seed_at (with_cells M (valued lo hi f)) (2, 0)) = leaf_value V (seed_value V R) D x.
Proof. by move=> -> ->; rewrite /seed_value /= seed_words. Qed.

Lemma eval_meets x f : let r := run_leaf false M R x f in
  ref_eval_contract V M (with_cells M r.2) spot n D (family_words S) (Z.of_N x) (2, 0) R r.1.
Proof.
rewrite /run_leaf /=; move=> [[n0 n64] [ty x64]] Rq; have I := ref_eval_requires_nodes _ _ _ _ _ _ _ _ _ Rq.
have [rng pun fine [nb ci] oth] := verdict_ok x x f n0.
set r := range_verdict _ _ _ _ _ in rng pun fine nb ci oth *; set g := if _ then _ else _.
have gE q : fst q <> 2 -> g q = cell M q by move=> q2; rewrite /g; case: ifP => _; apply: valued_out.
have [_ I' C _] := kept gE n0 I.
split.
  move=> q no; rewrite /= /g; case: ifP => _; apply: valued_other => h; exact: (no _ (or_introl erefl) h).
split=> //; split=> //; split=> //.
- by rewrite rng; lia.
- rewrite pun C; split=> [[xB h]|[xB h]]; first by split; [lia | apply: h; lia].
  by split; [lia | move=> y yB; have -> : y = Z.of_N x by lia].
- by move=> rK; rewrite /g rK; apply: leaf_value_kept.
by move=> /Z.eqb_neq rN; rewrite /g rN.
Qed.

Lemma eval_punct_meets x f : let r := run_leaf true M R x f in
  ref_eval_punct_contract V M (with_cells M r.2) spot (1, 0) shelf D (family_words S) (Z.of_N x) (2, 0) R r.1.
Proof.
rewrite /run_leaf /=; move=> [cp [ty [x64 [n0 n64]]]] Rq.
have I := ref_eval_punct_requires_nodes _ _ _ _ _ _ _ _ _ _ Rq.
have Z := ref_eval_punct_requires_clear _ _ _ _ _ _ _ _ _ _ Rq.
have [rng pun fine [nb ci] oth] := verdict_ok x x f n0.
set r := range_verdict _ _ _ _ _ in rng pun fine nb ci oth *; set g := if _ then _ else _.
have no_buffer : ~ (Z.of_N x < AcslRef.pow2 V D /\ exists k, (0 <= k /\ k < n) /\ covers_at V M (shift 4 spot k) (Z.of_N x) /\
    shelf < n - 1 + ref_node_height (ref_node_at M (shift 4 spot k))).
  move=> [_ [k [kB [_ big]]]]; have := height_now I kB; have := @size_keyN (goneN M) R; have := D32.
  by have := count_now n0 I; lia.
have out q : (forall r0, List.In r0 [:: span 4 spot 0 (shelf - 1); span 1 ((1, 0) : pointer) 0 0; span 2 ((2, 0) : pointer) 0 0] -> ~ r0 q) ->
    cell (with_cells M g) q = cell M q.
  move=> no; have o1 := no _ (or_introl erefl); have o2 := no _ (or_intror (or_introl erefl)).
  have o3 := no _ (or_intror (or_intror (or_introl erefl))).
  by rewrite /= /g; case: ifP => _; rewrite valued_other // /punctured_by stored_out.
split=> //; case: (Z.eq_dec r PPRF_OK) => rK.
  have gE q : fst q <> 2 -> g q = punctured_by M R x x q by move=> q2; rewrite /g; case: Z.eqb_spec => [_|/(_ rK)] //; apply: valued_out.
  have xB := fine rK; have [G1 [_ /(_ erefl) G2]] := growth_then n0 I xB gE.
  split.
    split=> //; split=> //; split=> //; have := count_then gE; rewrite /c_size_t; have := shelf_ok.
    by move: G1; rewrite /REF_NODES_MAX; lia.
  split=> //; split=> //.
  - by have := inv_then xB gE.
  - by rewrite rng; lia.
  - by rewrite pun; split=> [[xB' h]|[xB' h]]; [split; [lia | apply: h; lia] | split; [lia | move=> y yB; have -> : y = Z.of_N x by lia]].
  - by move: oth; tauto.
  - by move=> _; rewrite /g; case: Z.eqb_spec => [_|/(_ rK)] //; apply: leaf_value_kept.
  - by move=> _; apply: (gone_then xB gE); lia.
  - by move=> y yx; apply: (stay_then n0 I xB gE); lia.
  - exact: clear_then gE.
have gE q : fst q <> 2 -> g q = cell M q by move=> q2; rewrite /g; move/Z.eqb_neq: (rK) => ->; apply: valued_out.
have [nE I' C Sm] := kept gE n0 I.
rewrite /ref_eval_punct_typed nE; split=> //; split=> //; split; rewrite ?nE //.
- by rewrite rng; lia.
- by rewrite pun; split=> [[xB' h]|[xB' h]]; [split; [lia | apply: h; lia] | split; [lia | move=> y yB; have -> : y = Z.of_N x by lia]].
- by move: oth; tauto.
- by have := @size_keyN (goneN M) R; have := D32; have := count_now n0 I; split; lia.
- exact: kept_clear.
- by move=> _; split=> //; rewrite /g; move/Z.eqb_neq: (rK) => ->.
Qed.

Lemma range_meets a b f : let r := run_range M R a b f in
  ref_punct_range_contract V M (with_cells M r.2) spot (1, 0) shelf D (family_words S) (Z.of_N a) (Z.of_N b) R r.1.
Proof.
rewrite /run_range /=; move=> [cp [ty [a64 [b64 [n0 n64]]]]] Rq.
have I := ref_punct_range_requires_nodes _ _ _ _ _ _ _ _ _ _ Rq.
have Z := ref_punct_range_requires_clear _ _ _ _ _ _ _ _ _ _ Rq.
have [rng pun fine [nb ci] oth] := verdict_ok a b f n0.
set r := range_verdict _ _ _ _ _ in rng pun fine nb ci oth *; set g := if _ then _ else _.
have no_buffer : ~ ((Z.of_N a <= Z.of_N b /\ Z.of_N b < AcslRef.pow2 V D) /\ exists i j, (0 <= i /\ i < j /\ j <= n) /\
    meeting V M spot n (Z.of_N a) (Z.of_N b) i j /\
    shelf < n - (j - i) + ref_node_height (ref_node_at M (shift 4 spot i)) +
      ref_node_height (ref_node_at M (shift 4 spot (j - 1)))).
  move=> [_ [i [j [ij [_ big]]]]]; have := @height_now I i ltac:(lia); have := @height_now I (j - 1) ltac:(lia).
  by have := @size_keyN (goneN M) R; have := D32; have := count_now n0 I; lia.
have out q : (forall r0, List.In r0 [:: span 4 spot 0 (shelf - 1); span 1 ((1, 0) : pointer) 0 0] -> ~ r0 q) ->
    cell (with_cells M g) q = cell M q.
  move=> no; have o1 := no _ (or_introl erefl); have o2 := no _ (or_intror (or_introl erefl)).
  by rewrite /= /g; case: ifP => _ //; rewrite /punctured_by stored_out.
split=> //; case: (Z.eq_dec r PPRF_OK) => rK.
  have gE q : fst q <> 2 -> g q = punctured_by M R a b q by rewrite /g; case: Z.eqb_spec => [_|/(_ rK)].
  have xB := fine rK; have [G1 [G2 _]] := growth_then n0 I xB gE.
  split.
    do 4 (split=> //); have := count_then gE; rewrite /c_size_t; have := shelf_ok.
    by move: G1; rewrite /REF_NODES_MAX; lia.
  split=> //; split=> //.
  - by have := inv_then xB gE.
  - by move: oth; tauto.
  - by move=> _ y; apply: gone_then.
  - by move=> y; apply: stay_then.
  - exact: clear_then gE.
have gE q : fst q <> 2 -> g q = cell M q by move=> _; rewrite /g; move/Z.eqb_neq: (rK) => ->.
have [nE I' C Sm] := kept gE n0 I.
rewrite /ref_punct_range_typed nE; split=> //; split=> //; split; rewrite ?nE //.
- by move: oth; tauto.
- by have := @size_keyN (goneN M) R; have := D32; have := count_now n0 I; split; lia.
- exact: kept_clear.
Qed.

End Call.

Lemma ref_functions_meet : meets_contracts S d told ref_place ref_functions_of.
Proof.
split=> [M R|M R c f]; first exact: setup_meets.
have obeyed a b : let r := range_verdict d (gone_in M) a b f in r = PPRF_OK \/ prg_error V r -> r = told (places_in ref_place M) c f.
  have [_ _ r0 oth] := verdictE ((b <? a)%num || (CModel.pow2 d <=? b)%num)
    (all (fun i => gone_in M (Z.of_N a + Z.of_nat i)) (iota 0 (Z.to_nat (Z.of_N b - Z.of_N a + 1)))) f.
  rewrite /told /range_verdict; case=> [rK|[e _]]; first by have /r0 /and3P [_ _ /negbTE f0] := rK; rewrite [LHS]rK f0.
  by case: oth e => [->|->|->|[-> ->]] // [].
have val_typed lo hi g : typed ref_place (with_cells M g) -> typed ref_place (with_cells M (valued lo hi g)).
  by move=> T q qa; rewrite /= valued_out; [exact: T | case: qa => ->].
case: c obeyed => [x|x|a b] obeyed /=.
- split; [exact: eval_meets | exact: obeyed | move=> T].
  by case: ifP => _; apply: val_typed.
- split; [exact: eval_punct_meets | exact: obeyed | move=> T].
  by case: ifP => _; apply: val_typed => //; apply: stored_typed.
split; [exact: range_meets | exact: obeyed | move=> T].
by case: ifP => _ //; apply: stored_typed.
Qed.

Lemma ref_blank_ready : ready d ref_place blank_memory /\ cleared ref_place blank_memory.
Proof.
split=> //; split=> //; first by have [_ ?] := shelf_ok; split=> //; exact: Z.le_refl.
split; first by move=> r [<-|[<-|[]]] q [/= e1 _] [/= e2 _]; rewrite e1 in e2.
by split; [move=> r [<-|[]] q [/= e1 _] [/= e2 _]; rewrite e1 in e2 | split].
Qed.

End Inhabited.

(* A call that fails only when the adversary says so. *)
Theorem ref_inhabited (S : suite) (d : nat) : suite_ok S -> (0 < d <= 32)%N ->
  exists (l : layout) (M0 : memory) (F : functions bool),
    [/\ ready d l M0, cleared l M0 &
        meets_contracts S d (fun _ _ failing => if failing then PPRF_ERR_NOMEM else PPRF_OK) l F].
Proof.
move=> ok d32; exists (ref_place d), blank_memory, (ref_functions_of S d).
by have [r c] := ref_blank_ready d32; split=> //; exact: ref_functions_meet.
Qed.

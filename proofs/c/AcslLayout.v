(* SPDX-License-Identifier: Apache-2.0 *)
(* The facts about opt's layout, as translated in AcslOpt.v: each has the name of the ACSL fact or
   ghost function and says what its contract says, of any set of punctured leaves. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import Correctness Layout ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslStore.
From Pprf.proofs Require Import AcslAgree.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.quot : simpl never.
#[local] Arguments Z.of_nat : simpl never.

Section Facts.

Variable V : layout.
Hypothesis D : definitions V.
Hypothesis DL : layout_definitions V.

Lemma shift_right_step x h : 0 <= h -> shift_right V x (h + 1) = Z.quot (shift_right V x h) 2.
Proof.
move=> h0; rewrite (shift_right_def V DL x (h + 1)).
have -> : (h + 1 <=? 0) = false by lia.
by have -> : h + 1 - 1 = h by lia.
Qed.

Lemma half r : 0 <= r -> r = 2 * Z.quot r 2 \/ r = 2 * Z.quot r 2 + 1.
Proof. by move=> r0; have := Z.quot_rem' r 2; have := Z.rem_bound_pos r 2; lia. Qed.

Lemma shift_right_0 : fact_shift_right_0 V.
Proof. by move=> x; rewrite (shift_right_def V DL). Qed.
Lemma shift_right_S : fact_shift_right_S V.
Proof. by move=> x h g h0 ->; rewrite shift_right_step //; lia. Qed.
Lemma covering_start_order : fact_covering_start_order V.
Proof. by move=> x y h p1 lt; rewrite /covering_start; nia. Qed.
Lemma covering_start_equal : fact_covering_start_equal V.
Proof. by move=> x y h E; rewrite /covering_start E. Qed.
Lemma covering_start_zero : fact_covering_start_zero V.
Proof. by move=> x h E; rewrite /covering_start E. Qed.
Lemma covering_start_0 : fact_covering_start_0 V.
Proof. by move=> x; rewrite /covering_start shift_right_0 (pow2_def V D) /=; lia. Qed.
Lemma covering_start_S : fact_covering_start_S V.
Proof.
move=> x h g s0 h0 ->; rewrite /covering_start shift_right_step; last lia.
rewrite (pow2_step D); last lia.
by case: (half (Z.ge_le _ _ s0)) => E; [left | right]; nia.
Qed.

(* ---- Nodes, and the nodes above a leaf ---------------------------------------------- *)

Lemma pow2_nat h : 0 <= h -> pow2 V h = Z.of_N (CModel.pow2 (Z.to_nat h)).
Proof. by move=> h0; rewrite -(pow2_agree D); congr pow2; lia. Qed.
Lemma pow2_pos h : 0 <= h -> 0 < pow2 V h.
Proof. by move=> h0; rewrite pow2_nat //; have := pow2_gt0 (Z.to_nat h); lia. Qed.
Lemma pow2_up h g : 0 <= h -> h <= g -> exists k, 0 < k /\ pow2 V g = k * pow2 V h.
Proof.
move=> h0 hg; exists (pow2 V (g - h)); split; first by apply: pow2_pos; lia.
have gE : Z.to_nat g = (Z.to_nat (g - h) + Z.to_nat h)%nat by rewrite -plusE; lia.
by rewrite !pow2_nat ?gE ?pow2D; lia.
Qed.

Lemma tree_nodeE d s h : tree_node V d s h <->
  [/\ 0 <= h, h <= d, 0 <= s, s + pow2 V h <= pow2 V d & exists q, s = q * pow2 V h].
Proof.
split=> [T|[h0 hd s0 sd [q sE]]].
  have B := tree_node_bounds D T; have dE : d = Z.of_nat (Z.to_nat d) by lia.
  rewrite dE in T; have [s' [h' [sE hE]]] := tree_node_natural D T; rewrite dE sE hE in T B *.
  move/(tree_node_agree D): T; rewrite Nat2Z.id; case/andP => hd' /is_node_atP [[q qE] le].
  rewrite subnKC // in le; rewrite !(pow2_agree D); split; try lia.
  by exists (Z.of_N q); lia.
have w := pow2_pos h0; have q0 : 0 <= q by nia.
have [dE hE sE' qE] : [/\ d = Z.of_nat (Z.to_nat d), h = Z.of_nat (Z.to_nat h),
  s = Z.of_N (Z.to_N s) & q = Z.of_N (Z.to_N q)] by split; lia.
rewrite dE hE sE'; apply/(tree_node_agree D)/andP.
have hd' : (Z.to_nat h <= Z.to_nat d)%nat by apply/leP; lia.
split=> //; apply/is_node_atP; rewrite subnKC //.
move: sE sd; rewrite !pow2_nat //; try lia.
move=> sE sd; split; last lia.
by exists (Z.to_N q); apply: N2Z.inj; rewrite N2Z.inj_mul !Z2N.id.
Qed.

Lemma shift_right_bounds x h : 0 <= x -> 0 <= h ->
  shift_right V x h * pow2 V h <= x < shift_right V x h * pow2 V h + pow2 V h.
Proof.
move=> x0 h0; have -> : h = Z.of_nat (Z.to_nat h) by lia.
elim: (Z.to_nat h) => [|n IH]; first by rewrite shift_right_0 (pow2_def V D) /=; lia.
rewrite Nat2Z.inj_succ -Z.add_1_r shift_right_step ?(pow2_step D); try lia.
have := @pow2_pos (Z.of_nat n); set p := pow2 V _ in IH *; set r := shift_right V _ _ in IH * => p0.
have r0 : 0 <= r by nia.
by case: (half r0) => E; nia.
Qed.

Lemma covering_start_bounds x h : 0 <= x -> 0 <= h -> covering_start V x h <= x < covering_start V x h + pow2 V h.
Proof. by move=> x0 h0; exact: shift_right_bounds. Qed.

Lemma covering_start_pos x h : 0 <= x -> 0 <= h -> 0 <= shift_right V x h.
Proof. by move=> x0 h0; have := shift_right_bounds x0 h0; have := pow2_pos h0; nia. Qed.

(* Of two multiples of 2^h that are at most x and less than 2^h below it there is one only. *)
Lemma multiple_unique p q r x : 0 < p -> q * p <= x < q * p + p -> r * p <= x < r * p + p -> q = r.
Proof. move=> p0 Q R; have qr : ~ (q < r) by nia.
have rq : ~ (r < q) by nia.
lia. Qed.

Lemma multiple_inside p k q r x : 0 < p -> q * p <= x < q * p + p ->
  r * (k * p) <= x < r * (k * p) + k * p ->
  r * (k * p) <= q * p /\ q * p + p <= r * (k * p) + k * p.
Proof.
move=> p0 Q R; have lo : ~ (q + 1 <= r * k) by nia.
have hi : ~ (r * k + k <= q) by nia.
by split; nia.
Qed.

(* Node (t, g) has all leaves of (s, h). *)
Definition node_inside s h t g := t <= s /\ s + pow2 V h <= t + pow2 V g.

Lemma covering_start_only d s h x : tree_node V d s h -> covers V s h x -> covering_start V x h = s.
Proof.
case/tree_nodeE => h0 _ s0 _ [q E] C; have := @shift_right_bounds x h; rewrite /covering_start.
have x0 : 0 <= x by case: C; lia.
move=> /(_ x0 h0) B; rewrite E in C *.
by rewrite (multiple_unique (pow2_pos h0) B C).
Qed.

Lemma tree_node_inside d s h t g x : tree_node V d s h -> tree_node V d t g -> h <= g ->
  covers V s h x -> covers V t g x -> node_inside s h t g.
Proof.
case/tree_nodeE => h0 _ _ _ [q ->] /tree_nodeE [_ _ _ _ [r ->]] hg.
have [k [k0 E]] := pow2_up h0 hg; rewrite /covers /node_inside E => Q R.
exact: multiple_inside (pow2_pos h0) Q R.
Qed.

Lemma covering_start_node d x h : 0 <= h <= d -> 0 <= x < pow2 V d ->
  tree_node V d (covering_start V x h) h /\ covers V (covering_start V x h) h x.
Proof.
move=> hd xd; have h0 : 0 <= h by lia.
have x0 : 0 <= x by lia.
have B := covering_start_bounds x0 h0; split=> //; have r0 := covering_start_pos x0 h0; have p0 := pow2_pos h0.
have hd' : h <= d by lia.
have [k [k0 E]] := pow2_up h0 hd'; rewrite /covering_start in B *.
apply/tree_nodeE; split=> //; [nia | | by exists (shift_right V x h)].
rewrite E in xd *; have lt : ~ (k <= shift_right V x h) by nia.
by nia.
Qed.

Lemma start_covered d s h : tree_node V d s h -> covers V s h s.
Proof. by case/tree_nodeE => h0 *; rewrite /covers; have := pow2_pos h0; lia. Qed.

Lemma tree_node_leaf d s h x : tree_node V d s h -> covers V s h x -> 0 <= x < pow2 V d.
Proof. by case/tree_nodeE => h0 hd s0 sd _; rewrite /covers; lia. Qed.

(* The node above a node: the first half or the second of it. *)
Lemma up_inside d s h : tree_node V d s h -> h < d ->
  tree_node V d (covering_start V s (h + 1)) (h + 1) /\ node_inside s h (covering_start V s (h + 1)) (h + 1).
Proof.
move=> T hd; have [h0 _ s0 sd _] := proj1 (tree_nodeE d s h) T.
have C := start_covered T; have x0 := tree_node_leaf T C.
have [T' C'] : tree_node V d (covering_start V s (h + 1)) (h + 1) /\ covers V (covering_start V s (h + 1)) (h + 1) s.
  by apply: covering_start_node => //; lia.
by split=> //; apply: tree_node_inside T T' _ C C'; lia.
Qed.

Lemma inside_covers s h t g x : node_inside s h t g -> covers V s h x -> covers V t g x.
Proof. by rewrite /node_inside /covers; lia. Qed.

Lemma intact_inside L b lo hi s h t g : node_inside s h t g ->
  intact V L b lo hi t g -> intact V L b lo hi s h.
Proof. by move=> I F x C; apply: F; apply: inside_covers C. Qed.

(* Two nodes that are not apart have a common leaf, and the lower one lies in the other. *)
Lemma tree_node_nested d s h t g : tree_node V d s h -> tree_node V d t g -> h <= g ->
  node_inside s h t g \/ s + pow2 V h <= t \/ t + pow2 V g <= s.
Proof.
move=> Ts Tt hg; have [h0 _ s0 _ _] := proj1 (tree_nodeE d s h) Ts.
have [g0 _ t0 _ _] := proj1 (tree_nodeE d t g) Tt.
case: (Z.le_gt_cases (s + pow2 V h) t) => c; first by right; left.
case: (Z.le_gt_cases (t + pow2 V g) s) => c'; first by right; right.
by left; apply: (@tree_node_inside d _ _ _ _ (Z.max s t)) => //; rewrite /covers;
  have := pow2_pos h0; have := pow2_pos g0; lia.
Qed.

Lemma live_lower L b lo hi d s h t g : live V L b lo hi d s h -> live V L b lo hi d t g -> h <= g ->
  (s = t /\ h = g) \/ s + pow2 V h <= t \/ t + pow2 V g <= s.
Proof.
case=> [hd [sd [Ts [Is Ps]]]] [gd [td [Tt [It Pt]]]] hg.
case: (tree_node_nested Ts Tt hg) => [I|]; last by right.
left; case: (Z.eq_dec h g) => [E|ne].
  rewrite E in Ts I *; split=> //; have C := start_covered Ts.
  by rewrite -(covering_start_only Ts C) (covering_start_only Tt (inside_covers I C)).
have [Tu Iu] := up_inside Ts ltac:(lia); case: (Ps ltac:(lia)).
apply: intact_inside It; apply: tree_node_inside Tu Tt _ _ _; [lia | | ].
  exact: inside_covers Iu (start_covered Ts).
exact: inside_covers I (start_covered Ts).
Qed.

Lemma live_apart L b lo hi d s h t g : live V L b lo hi d s h -> live V L b lo hi d t g ->
  (s = t /\ h = g) \/ s + pow2 V h <= t \/ t + pow2 V g <= s.
Proof.
move=> Ls Lt; case: (Z.le_ge_cases h g) => c; first exact: live_lower Ls Lt c.
by case: (live_lower Lt Ls c) => [[-> ->]|[]]; auto.
Qed.

Theorem live_apart_lemma (L : memory) (b : pointer) (lo hi d : Z) :
  c_uint64_t lo -> c_uint64_t hi -> c_unsigned d -> d <= 32 ->
  forall s h t g, live V L b lo hi d s h -> live V L b lo hi d t g ->
    (s = t /\ h = g) \/ s + pow2 V h <= t \/ t + pow2 V g <= s.
Proof. move=> _ _ _ _ s h t g; exact: live_apart. Qed.

Lemma even_start d s h : tree_node V d s h -> 1 <= h -> exists q, 0 <= q /\ s = 2 * q.
Proof.
case/tree_nodeE => h0 _ s0 _ [q sE] h1; have := pow2_step D (n := h - 1) ltac:(lia).
have -> : h - 1 + 1 = h by lia.
by move=> E; exists (q * pow2 V (h - 1)); rewrite E in sE;
   have := pow2_pos (h := h - 1) ltac:(lia); nia.
Qed.

Lemma pair_next s t : 0 <= s -> s < t -> Z.quot s 2 = Z.quot t 2 ->
  t = s + 1 /\ s = 2 * Z.quot s 2.
Proof. by move=> s0 st E; case: (half s0); case: (@half t ltac:(lia)); lia. Qed.

Lemma live_pair L b lo hi d s h t g : live V L b lo hi d s h -> live V L b lo hi d t g ->
  Z.quot s 2 = Z.quot t 2 -> s < t -> False.
Proof.
move=> Ls Lt E st; have [hd [sd [Ts [Is Ps]]]] := Ls; have [gd [td [Tt [It Pt]]]] := Lt.
have [tE sE] := pair_next (proj1 sd) st E; have h0 : 0 <= h by lia.
have g0 : 0 <= g by lia.
have p1 : pow2 V 0 = 1 by rewrite (pow2_def V D).
have gE : g = 0.
  case: (Z.eq_dec g 0) => // ne; have [q [q0 qE]] := even_start Tt ltac:(lia); lia.
have hE : h = 0.
  case: (Z.eq_dec h 0) => // ne; have := pow2_step D (n := h - 1) ltac:(lia).
  have -> : h - 1 + 1 = h by lia.
  have := pow2_pos (h := h - 1) ltac:(lia).
  by case: (live_apart Ls Lt); rewrite ?gE ?p1; lia.
rewrite {}gE {}hE in Ts Tt Is It Ps Pt *.
have d0 : 0 < d.
  case/tree_nodeE: Tt => _ _ _; rewrite p1; case: (Z.eq_dec d 0) => [->|]; last lia.
  by rewrite p1; lia.
have uE : covering_start V s (0 + 1) = s.
  rewrite /covering_start shift_right_step ?shift_right_0 ?(pow2_step D) ?p1; lia.
case: (Ps d0); rewrite uE => x; rewrite /covers (pow2_step D) ?p1 // => xB.
have [xE|xE] : x = s \/ x = t by lia.
  by rewrite xE; apply: Is; rewrite /covers p1; lia.
by rewrite xE; apply: It; rewrite /covers p1; lia.
Qed.

Theorem pair_slot_injective_lemma (L : memory) (b : pointer) (lo hi d : Z) :
  c_uint64_t lo -> c_uint64_t hi -> c_unsigned d -> 1 <= d <= 32 ->
  forall s h t g, live V L b lo hi d s h -> live V L b lo hi d t g -> Z.quot s 2 = Z.quot t 2 ->
    s = t /\ h = g.
Proof.
move=> ? ? ? d32 s h t g Ls Lt E; case: (Z.lt_trichotomy s t) => [c|[c|c]].
- by case: (live_pair Ls Lt E c).
- case: (live_apart Ls Lt) => //.
  have [hd [_ [_ _]]] := Ls; have [gd [_ [_ _]]] := Lt.
  by have := pow2_pos (h := h) ltac:(lia); have := pow2_pos (h := g) ltac:(lia); lia.
- by case: (live_pair Lt Ls (esym E) c).
Qed.

(* ---- The siblings beside a path ----------------------------------------------------- *)

(* The two halves of a node above x: one has x, the other starts at beside(x, h). *)
Lemma path_halves d x h : 0 <= h < d -> 0 <= x < pow2 V d ->
  [/\ tree_node V d (beside V x h) h, node_inside (beside V x h) h (covering_start V x (h + 1)) (h + 1),
      ~ covers V (beside V x h) h x &
      (covering_start V x h = covering_start V x (h + 1) /\ beside V x h = covering_start V x (h + 1) + pow2 V h) \/
      (covering_start V x h = covering_start V x (h + 1) + pow2 V h /\ beside V x h = covering_start V x (h + 1))].
Proof.
move=> hd xd; have [Tu Cu] : tree_node V d (covering_start V x (h + 1)) (h + 1) /\
    covers V (covering_start V x (h + 1)) (h + 1) x by apply: covering_start_node => //; lia.
have [Tv Cv] : tree_node V d (covering_start V x h) h /\ covers V (covering_start V x h) h x by apply: covering_start_node => //; lia.
have E := pow2_step D (n := h) ltac:(lia); have p0 := pow2_pos (h := h) ltac:(lia).
have s0 := covering_start_pos (x := x) (h := h) ltac:(lia) ltac:(lia).
have T' : forall v, v = covering_start V x (h + 1) \/ v = covering_start V x (h + 1) + pow2 V h -> tree_node V d v h.
  move=> v vE; case/tree_nodeE: Tu => _ _ u0 ud [q qE]; rewrite E in ud qE.
  apply/tree_nodeE; split; try lia.
  by case: vE => ->; [exists (2 * q) | exists (2 * q + 1)]; rewrite qE; lia.
have split_ := covering_start_S (x := x) (h := h) ltac:(lia) ltac:(lia) (erefl (h + 1)).
rewrite /node_inside /beside; move: Cu Cv; rewrite /covers E => Cu Cv.
by case: split_ => uE; split; try (apply: T'); lia.
Qed.

Theorem slot_overwritten_lemma (d s h x : Z) :
  c_unsigned d -> c_uint64_t s -> c_unsigned h -> c_uint64_t x ->
  (1 <= h /\ h <= d /\ d <= 32) /\ tree_node V d s h /\ covers V s h x ->
  exists i, 0 <= i < h /\ Z.quot (beside V x i) 2 = Z.quot s 2.
Proof.
move=> _ _ _ _ [[h1 [hd _]] [T C]]; have xd := tree_node_leaf T C.
have hE : h = Z.of_nat (Z.to_nat (h - 1)) + 1 by lia.
move: (Z.to_nat (h - 1)) hE => n; elim: n h h1 hd T C => [|n IH] h h1 hd T C hE.
  exists 0; split; first lia.
  have := path_halves (d := d) (h := 0) ltac:(lia) xd; have -> : 0 + 1 = h by lia.
  rewrite (covering_start_only T C) => -[_ _ _ B].
  have [q [q0 qE]] := even_start T h1; have p1 : pow2 V 0 = 1 by rewrite (pow2_def V D).
  case: B => -[_ ->] //; rewrite p1.
  by case: (@half (s + 1) ltac:(lia)); case: (@half s ltac:(lia)); lia.
have [Tb _ _ B] := path_halves (d := d) (h := h - 1) ltac:(lia) xd.
have hh : h - 1 + 1 = h by lia.
rewrite hh (covering_start_only T C) in B.
case: B => -[vE bE]; last by exists (h - 1); split; [lia | rewrite bE].
have [Tv Cv] : tree_node V d (covering_start V x (h - 1)) (h - 1) /\ covers V (covering_start V x (h - 1)) (h - 1) x.
  by apply: covering_start_node => //; lia.
rewrite vE in Tv Cv; have [|i [iB iE]] := IH (h - 1) ltac:(lia) ltac:(lia) Tv Cv; first lia.
by exists i; split; [lia | exact: iE].
Qed.

(* ---- A puncture --------------------------------------------------------------------- *)

Lemma covers_dec s h x : covers V s h x \/ ~ covers V s h x.
Proof. by rewrite /covers; lia. Qed.

Theorem puncture_lemma (L : memory) (b : pointer) (d s h x : Z) :
  c_unsigned d -> c_uint64_t s -> c_unsigned h -> c_uint64_t x ->
  1 <= d <= 32 /\ live V L b 0 0 d s h /\ covers V s h x ->
  (x < pow2 V d /\ covering_start V x h = s /\ ~ is_punctured V L b x) /\
  (forall i, 0 <= i < h -> live V L b x (x + 1) d (beside V x i) i) /\
  (forall t g, live V L b 0 0 d t g -> (t = s /\ g = h) \/ live V L b x (x + 1) d t g) /\
  (forall t g, live V L b x (x + 1) d t g ->
     (live V L b 0 0 d t g /\ ~ (t = s /\ g = h)) \/ (0 <= g < h /\ t = beside V x g)).
Proof.
move=> _ _ _ _ [_ [Ls C]]; have [hd [sd [Ts [Is Ps]]]] := Ls; have xd := tree_node_leaf Ts C.
have narrow : forall t g, intact V L b x (x + 1) t g -> intact V L b 0 0 t g.
  by move=> t g I y /I [ng _]; split=> //; lia.
have wide : forall t g, ~ covers V t g x -> intact V L b 0 0 t g -> intact V L b x (x + 1) t g.
  move=> t g nC I y yC; have [ng _] := I y yC; split=> // yx.
  by apply: nC; have <- : y = x by lia.
have has_leaf_ : forall t g, covers V t g x -> ~ intact V L b x (x + 1) t g.
  by move=> t g tC I; case: (I x tC) => _; lia.
split; last split; last split.
- split; first lia.
  by split; [exact: (covering_start_only Ts C) | case: (Is x C)].
- move=> i iB; have [Tb Ib nC _] := path_halves (d := d) (h := i) ltac:(lia) xd.
  have Cb := start_covered Tb; have bd := tree_node_leaf Tb Cb.
  have [Tu Cu] : tree_node V d (covering_start V x (i + 1)) (i + 1) /\ covers V (covering_start V x (i + 1)) (i + 1) x.
    by apply: covering_start_node => //; lia.
  have Iu : node_inside (covering_start V x (i + 1)) (i + 1) s h by apply: tree_node_inside Tu Ts _ Cu C; lia.
  split; first lia; split; first exact: bd; split; first exact: Tb; split.
    by apply: wide nC _; apply: intact_inside Ib _; apply: intact_inside Iu Is.
  by move=> _; rewrite (covering_start_only Tu (inside_covers Ib Cb)); apply: has_leaf_.
- move=> t g Lt; case: (live_apart Lt Ls) => [|ap]; first by left.
  right; have [gd [td [Tt [It Pt]]]] := Lt.
  split=> //; split=> //; split=> //; split=> [|gl]; last by move=> /narrow; apply: Pt.
  by apply: wide => // tC; move: tC C; rewrite /covers; lia.
move=> t g [gd [td [Tt [It Pt]]]]; have Ct := start_covered Tt.
have nC : ~ covers V t g x by move=> tC; case: (has_leaf_ t g tC It).
have ne : ~ (t = s /\ g = h) by case=> tE gE; case: nC; rewrite tE gE.
have live0 : (g < d -> ~ intact V L b 0 0 (covering_start V t (g + 1)) (g + 1)) ->
    live V L b 0 0 d t g by move=> Pt'; do 4 (split=> //); apply: narrow.
case: (Z.lt_ge_cases g h) => c; last first.
  left; split=> //; apply: live0 => gl Iu; apply: (Pt gl); apply: wide => // uC.
  have [Tu Iu'] := up_inside Tt gl.
  case: (Z.lt_ge_cases h d) => hl; last by lia.
  have [Tw Iw] := up_inside Ts hl; apply: (Ps hl); apply: intact_inside Iu.
  by apply: tree_node_inside Tw Tu _ (inside_covers Iw C) uC; lia.
have gl : g < d by lia.
have [Tu Iu] := up_inside Tt gl.
case: (covers_dec (covering_start V t (g + 1)) (g + 1) x) => uC.
  right; split; first lia.
  have [Tb Ib nCb B] := path_halves (d := d) (h := g) ltac:(lia) xd.
  have g0 : 0 <= g by lia.
  have E := pow2_step D g0; rewrite (covering_start_only Tu uC) in B Ib.
  have [q qE] : exists q, t = q * pow2 V g by case/tree_nodeE: Tt.
  have Bt := covering_start_only Tt Ct.
  have r0 := covering_start_pos (proj1 td) g0.
  have := covering_start_S (x := t) (h := g) ltac:(lia) ltac:(lia) (erefl (g + 1)).
  have Cx := covering_start_bounds (x := x) (h := g) ltac:(lia) g0.
  by move: nC; rewrite /covers Bt; lia.
left; split=> //; apply: live0 => _ It'; apply: (Pt gl); exact: wide.
Qed.

Theorem acsl_layout_facts : layout_facts V.
Proof.
exact {|
  shift_right_0_holds := shift_right_0; shift_right_S_holds := shift_right_S; covering_start_order_holds := covering_start_order;
  covering_start_equal_holds := covering_start_equal; covering_start_zero_holds := covering_start_zero; covering_start_0_holds := covering_start_0;
  covering_start_S_holds := covering_start_S; live_apart_lemma_holds := live_apart_lemma;
  pair_slot_injective_lemma_holds := pair_slot_injective_lemma;
  slot_overwritten_lemma_holds := slot_overwritten_lemma; puncture_lemma_holds := puncture_lemma |}.
Qed.

(* ---- The live nodes are the cover --------------------------------------------------- *)

Lemma tree_node_prefix d s h : tree_node V (Z.of_nat d) s h <->
  exists2 q, (size q <= d)%nat & s = Z.of_N (first_leaf d q) /\ h = Z.of_nat (d - size q).
Proof.
split=> [/tree_nodeE [h0 hd s0 sd [q E]]|[q qd [-> ->]]]; last first.
  apply/(tree_node_agree D)/andP; split; first exact: leq_subr.
  apply/is_node_atP; rewrite subnKC ?leq_subr //; split; first exact: aligned_first.
  exact: first_leaf_end.
have p0 := pow2_pos h0; have q0 : 0 <= q by nia.
have hE : h = Z.of_nat (Z.to_nat h) by lia.
have kd : (Z.to_nat h <= d)%nat by apply/leP; lia.
have lt : (Z.to_N q < CModel.pow2 (d - Z.to_nat h))%num.
  have D2 : CModel.pow2 d = (CModel.pow2 (d - Z.to_nat h) * CModel.pow2 (Z.to_nat h))%num.
    by rewrite -pow2D subnK.
  move: sd E p0; rewrite (pow2_nat h0) (pow2_agree D) D2 N2Z.inj_mul => sd E p0.
  apply: proj2 (N2Z.inj_lt _ _) _; rewrite Z2N.id //.
  have nle : ~ (Z.of_N (CModel.pow2 (d - Z.to_nat h)) <= q) by nia.
  lia.
exists (leaf_path (d - Z.to_nat h) (Z.to_N q)); rewrite size_leaf_path; first exact: leq_subr.
rewrite /first_leaf size_leaf_path leaf_pathK // subKn //; split=> //.
by rewrite N2Z.inj_mul Z2N.id // -pow2_nat.
Qed.

Section Cover.

Variables (L : memory) (b : pointer) (lo hi : Z) (d : nat) (P : pred bitseq).
Hypothesis PE : forall x, (x < CModel.pow2 d)%num ->
  P (leaf_path d x) <-> is_punctured V L b (Z.of_N x) \/ lo <= Z.of_N x < hi.

Lemma intact_free q : (size q <= d)%nat ->
  intact V L b lo hi (Z.of_N (first_leaf d q)) (Z.of_nat (d - size q)) <-> free d P q.
Proof.
move=> qd; have qe := first_leaf_end qd; rewrite -nhas_leaf_free //; split=> [I|/negP F x].
  apply/nhas_leafP => -[x /andP [/N.leb_spec0 x1 /N.ltb_spec0 x2] Px].
  have C : covers V (Z.of_N (first_leaf d q)) (Z.of_nat (d - size q)) (Z.of_N x).
    by rewrite /covers (pow2_agree D); lia.
  have [ng nr] := I _ C; by case/PE: Px => //; lia.
rewrite /covers (pow2_agree D) => xB; have xE : x = Z.of_N (Z.to_N x) by lia.
suff nP : ~ P (leaf_path d (Z.to_N x)).
  rewrite xE; split=> H; apply: nP; apply/PE; [lia | by left | lia | by right].
move=> Px; apply: F; apply/nhas_leafP; exists (Z.to_N x) => //.
by apply/andP; split; [apply/N.leb_spec0 | apply/N.ltb_spec0]; lia.
Qed.

Theorem acsl_live_cover R s h : live V L b lo hi (Z.of_nat d) s h <->
  exists2 q : bitseq, q \in map fst (punctured_key V d P R) &
             s = Z.of_N (first_leaf d q) /\ h = Z.of_nat (d - size q).
Proof.
have up_free : forall p c, (size (rcons p c) <= d)%nat ->
    let h := Z.of_nat (d - size (rcons p c)) + 1 in
    intact V L b lo hi (covering_start V (Z.of_N (first_leaf d (rcons p c))) h) h <-> free d P p.
  move=> p c pd /=; have pd' : (size p < d)%nat by rewrite size_rcons in pd.
  have hE : Z.of_nat (d - size (rcons p c)) + 1 = Z.of_nat (d - size p).
    by rewrite size_rcons -(subnSK pd') Nat2Z.inj_succ; lia.
  rewrite hE -intact_free ?(ltnW pd') //; suff -> : covering_start V (Z.of_N (first_leaf d (rcons p c)))
    (Z.of_nat (d - size p)) = Z.of_N (first_leaf d p) by [].
  apply: (@covering_start_only (Z.of_nat d)).
    by apply/tree_node_prefix; exists p; [exact: ltnW | split].
  rewrite /covers (pow2_agree D) first_leaf_rcons // -(subnSK pd') pow2S.
  by have := pow2_gt0 (d - (size p).+1); case: (c); lia.
split.
  case=> hd [sd [/tree_node_prefix [q qd [-> ->]] [I U]]]; exists q => //.
  move/(intact_free qd): I => fr; rewrite mem_cover qd fr /=.
  case/lastP: q qd U {fr sd hd} => // p c qd U.
  apply/orP; right; rewrite /parent size_rcons /= -cats1 take_size_cat //.
  apply/negP => /(up_free p c qd); apply: U; rewrite size_rcons in qd *.
  by move/ltP: qd => qd; rewrite -minusE; lia.
case=> q; rewrite mem_cover => /and3P [qd fr par] [-> ->].
have T : tree_node V (Z.of_nat d) (Z.of_N (first_leaf d q)) (Z.of_nat (d - size q)).
  by apply/tree_node_prefix; exists q.
have B := tree_node_bounds D T; have sd := tree_node_leaf T (start_covered T).
split=> //; split=> //; split=> //; split; first exact/intact_free.
case/lastP: q qd par {fr T B sd} => [|p c] qd par; first by rewrite subn0; lia.
move=> _ /(up_free p c qd); move: par; rewrite -size_eq0 {1}size_rcons /=.
by rewrite /parent size_rcons /= -cats1 take_size_cat // => /negbTE ->.
Qed.

End Cover.

End Facts.

(* ---- The definitions can be met ----------------------------------------------------- *)

Section Exist.

Variables (V : logic) (punctured : memory -> pointer -> Z -> Prop).

Lemma laid_out_definitions : layout_definitions (laid_out V punctured).
Proof.
split=> x h /=; case: (Z.leb_spec h 0) => c; first by have -> : Z.to_nat h = 0%nat by lia.
by have -> : Z.to_nat h = (Z.to_nat (h - 1)).+1 by lia.
Qed.

(* Whatever the tree and the set of punctured leaves. *)
Theorem acsl_layout_exists :
  exists shift_right, layout_definitions {| layout_tree := V; shift_right := shift_right; is_punctured := punctured |}.
Proof. by eexists; apply: laid_out_definitions. Qed.

End Exist.

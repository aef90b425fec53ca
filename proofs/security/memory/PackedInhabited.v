(* SPDX-License-Identifier: Apache-2.0 *)
(* What the theorem about packed keys assumes can be met, for every suite and depth: there are functions that meet the
   contracts, whose results and shape do not depend on seeds, and a set-up that leaves packed keys (packed_inhabited).
   A puncture writes the store anew, one tile in a page, and fails if the arena has not pages enough. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore AcslPacked KeyCalls PackedKey.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel EvaluationGame Oracle RefGame OptGame PackedGame.
From Pprf.proofs Require Import Correctness Layout AcslAgree AcslSound ApiSound KeySound PackedSound MemoryGame.
From Pprf.proofs Require Import RefSecurity OptSecurity RefInhabited OptInhabited PackedSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.div : simpl never.
#[local] Arguments Z.modulo : simpl never.
#[local] Arguments Z.of_nat : simpl never.
#[local] Arguments Z.to_nat : simpl never.
#[local] Arguments CModel.pow2 : simpl never.
#[local] Arguments Z.pow : simpl never.
#[local] Arguments Z.ltb : simpl never.
#[local] Arguments Z.leb : simpl never.
#[local] Arguments Z.eqb : simpl never.

(* ---- Tiles: of each the first leaf and the byte --------------------------------------------------- *)

Definition tile_of_byte (b : Z) : Z := if b <? 64 then b else b - 64.
#[local] Arguments tile_of_byte : simpl never.
Local Notation high t := (tile_of_byte t.2).

Fixpoint none (P : Z -> bool) (h : nat) (s : Z) : bool :=
  if h is h'.+1 then none P h' s && none P h' (s + 2 ^ Z.of_nat h') else ~~ P s.

(* The leaves of P punctured, among the 2^h from s on. *)
Fixpoint tiles (P : Z -> bool) (h : nat) (s : Z) : seq (Z * Z) :=
  if none P h s then [:: (s, 64 + Z.of_nat h)] else
  if h is h'.+1 then tiles P h' s ++ tiles P h' (s + 2 ^ Z.of_nat h') else [:: (s, 0)].

Fixpoint chain (s : Z) (ts : seq (Z * Z)) (e : Z) : Prop :=
  if ts is t :: ts' then t.1 = s /\ chain (s + 2 ^ high t) ts' e else s = e.

Lemma powS h : 2 ^ Z.of_nat h.+1 = 2 * 2 ^ Z.of_nat h.
Proof. by rewrite Nat2Z.inj_succ Z.pow_succ_r; lia. Qed.

Lemma pow_pos h : 0 < 2 ^ Z.of_nat h.
Proof. by apply: Z.pow_pos_nonneg; lia. Qed.

Lemma noneP P h s : none P h s <-> forall x, s <= x < s + 2 ^ Z.of_nat h -> P x = false.
Proof.
elim: h s => [|h IH] s.
  rewrite /= (_ : 2 ^ Z.of_nat 0 = 1) //; split=> [/negbTE Ps x xB|]; first by have -> : x = s by lia.
  by move=> H; rewrite H //; lia.
rewrite [none _ _ _]/= powS; have p := pow_pos h; split=> [/andP [/IH A /IH B] x xB|H].
  by case: (Z_lt_ge_dec x (s + 2 ^ Z.of_nat h)) => c; [apply: A | apply: B]; lia.
by apply/andP; split; apply/IH => x xB; apply: H; lia.
Qed.

Lemma eq_tiles P Q h s : (forall x, s <= x < s + 2 ^ Z.of_nat h -> P x = Q x) -> tiles P h s = tiles Q h s.
Proof.
have N k u : (forall x, u <= x < u + 2 ^ Z.of_nat k -> P x = Q x) -> none P k u = none Q k u.
  by move=> E; apply/idP/idP => /noneP H; apply/noneP => x xB; [rewrite -E | rewrite E] => //; apply: H.
elim: h s => [|h IH] s E; rewrite [LHS]/= [RHS]/=.
  by have := N 0%N s E => /= ->.
have p := pow_pos h; rewrite -/(none P h.+1 s) -/(none Q h.+1 s) (N _ _ E) !IH // => x xB; apply: E; rewrite powS; lia.
Qed.

Lemma pow_nat h : Z.of_nat (2 ^ h) = 2 ^ Z.of_nat h.
Proof. by elim: h => // h IH; rewrite powS -IH expnS mul2n -addnn Nat2Z.inj_add; lia. Qed.

(* A tile for each punctured leaf and for each node beside its path, at most. *)
Lemma tiles_few P h s : (size (tiles P h s) <= 1 + h * seq.count (fun i => P (s + Z.of_nat i)%Z) (iota 0 (2 ^ h)))%N.
Proof.
elim: h s => [|h IH] s; first by rewrite /tiles; case: ifP.
rewrite [tiles _ _ _]/= -/(none P h.+1 s); case N : (none P h.+1 s) => //.
have some : (0 < seq.count (fun i => P (s + Z.of_nat i)%Z) (iota 0 (2 ^ h.+1)))%N.
  rewrite -has_count; apply: contraFT N => /hasPn none; apply/noneP => x xB.
  have := none (Z.to_nat (x - s)); rewrite mem_iota add0n Z2Nat.id; last lia.
  rewrite (_ : s + (x - s) = x); last lia.
  by move/(_ ltac:(apply/ltP; have := pow_nat h.+1; lia))/negbTE.
move: some; rewrite size_cat expnS mul2n -addnn iotaD seq.count_cat add0n.
rewrite (_ : iota (2 ^ h) (2 ^ h) = map (addn (2 ^ h)) (iota 0 (2 ^ h))) ?count_map; last by rewrite -iotaDl addn0.
rewrite (@eq_count _ (preim _ _) (fun i => P (s + 2 ^ Z.of_nat h + Z.of_nat i))); last first.
  by move=> i /=; congr P; rewrite Nat2Z.inj_add pow_nat; lia.
move: (IH s) (IH (s + 2 ^ Z.of_nat h)); move: (seq.count _ _) (seq.count _ _) (size _) (size _) => k k' n n' A B some.
by apply: leq_trans (leq_add A B) _; rewrite mulSn mulnDr addnACA -addnA leq_add2l leq_add2r.
Qed.

Lemma chain_cat s a m b e : chain s a m -> chain m b e -> chain s (a ++ b) e.
Proof. by elim: a s => [|t a IH] s /= => [->|[-> /IH H] /H]. Qed.

Definition nth_tile (ts : seq (Z * Z)) (i : Z) : Z * Z := nth (0, 0) ts (Z.to_nat i).
Local Notation count ts := (Z.of_nat (size ts)).

Lemma nth_tile_in ts i : 0 <= i < count ts -> List.In (nth_tile ts i) ts.
Proof.
rewrite /nth_tile => iB; have : (Z.to_nat i < size ts)%N by apply/ltP; lia.
by move: (Z.to_nat i); elim: ts {iB} => // t ts IH [|n] /= n_ts; [left | right; apply: IH].
Qed.

Lemma chain_next s ts e i : chain s ts e -> 0 <= i < count ts ->
  (if i + 1 <? count ts then (nth_tile ts (i + 1)).1 else e) = (nth_tile ts i).1 + 2 ^ high (nth_tile ts i).
Proof.
rewrite /nth_tile; elim: ts s i => [|t ts IH] s i; first by move=> _; rewrite /=; lia.
move=> [<- C] iB; case: (Z.eq_dec i 0) => [->|i0].
  rewrite (_ : Z.to_nat 0 = 0%N) // (_ : Z.to_nat (0 + 1) = 1%N) //=.
  by case: ts C {IH iB} => [|u ts] /= => [<-|[-> _]] //; case: Z.ltb_spec0 => //; lia.
rewrite (_ : Z.to_nat i = (Z.to_nat (i - 1)).+1); last lia.
rewrite (_ : Z.to_nat (i + 1) = (Z.to_nat (i - 1 + 1)).+1) /=; last lia.
rewrite -(IH _ (i - 1) C); last by move: iB; rewrite /=; lia.
by do 2 case: Z.ltb_spec0 => //; rewrite /=; lia.
Qed.

Lemma chain_in s ts e i : chain s ts e -> (forall t, List.In t ts -> 0 <= high t) -> 0 <= i < count ts ->
  s <= (nth_tile ts i).1 /\ (nth_tile ts i).1 + 2 ^ high (nth_tile ts i) <= e.
Proof.
have grows u us : chain u us e -> (forall t, List.In t us -> 0 <= high t) -> u <= e.
  elim: us u => [|t us IH] u /= => [-> _|[_ C] H]; first exact: Z.le_refl.
  have p := Z.pow_nonneg 2 (high t) ltac:(lia).
  by have := IH _ C (fun t' h => H t' (or_intror h)); lia.
rewrite /nth_tile; elim: ts s i => [|t ts IH] s i; first by move=> _ _; rewrite /=; lia.
move=> [e1 C] H iB; have p := Z.pow_nonneg 2 (high t) ltac:(lia); have H' t' h := H t' (or_intror h).
case: (Z.eq_dec i 0) => [->|i0]; first by rewrite (_ : Z.to_nat 0 = 0%N) //=; have := grows _ _ C H'; lia.
rewrite (_ : Z.to_nat i = (Z.to_nat (i - 1)).+1) /=; last lia.
by have := IH _ (i - 1) C H' ltac:(move: iB; rewrite /=; lia); lia.
Qed.

Lemma chain_ascends s ts e i k : chain s ts e -> (forall t, List.In t ts -> 0 <= high t) -> 0 <= i < k -> k < count ts ->
  (nth_tile ts i).1 < (nth_tile ts k).1.
Proof.
move=> C H ik; have -> : k = i + 1 + Z.of_nat (Z.to_nat (k - i - 1)) by lia.
have up j : 0 <= j -> j + 1 < count ts -> (nth_tile ts j).1 < (nth_tile ts (j + 1)).1.
  move=> j0 jn; have := chain_next C (i := j) ltac:(lia); case: Z.ltb_spec0 => [_ ->|]; last lia.
  have jin := nth_tile_in (ts := ts) (i := j) ltac:(lia).
  by have := Z.pow_pos_nonneg 2 (high (nth_tile ts j)) ltac:(lia) (H _ jin); lia.
elim: (Z.to_nat _) => [|m IH] kn; first by rewrite (_ : Z.of_nat 0 = 0) // Z.add_0_r; apply: up; lia.
rewrite (_ : i + 1 + Z.of_nat m.+1 = i + 1 + Z.of_nat m + 1); last lia.
by apply: Z.lt_trans (IH _) (up _ _ _); lia.
Qed.

Lemma chain_cover s ts e x : chain s ts e -> s <= x < e ->
  exists2 i, 0 <= i < count ts & (nth_tile ts i).1 <= x < (nth_tile ts i).1 + 2 ^ high (nth_tile ts i).
Proof.
rewrite /nth_tile; elim: ts s => [|t ts IH] s /=; first by move=> ->; lia.
move=> [<- C] xB; case: (Z_lt_ge_dec x (t.1 + 2 ^ high t)) => c; first by exists 0; [lia | rewrite (_ : Z.to_nat 0 = 0%N) //=; lia].
have [i iB ci] := IH _ C ltac:(lia); exists (i + 1); first lia.
by rewrite (_ : Z.to_nat (i + 1) = (Z.to_nat i).+1) //=; lia.
Qed.

(* ---- What a contract says of a result ---------------------------------------------------------------- *)

Lemma guard (A X : Prop) : A -> X <-> A /\ X.
Proof. by split=> [|[]]. Qed.

Lemma no_memory_either (A B C' E F G H : Prop) : A \/ B \/ C' \/ E \/ F \/ G -> A \/ B \/ C' \/ E \/ F \/ G \/ H.
Proof. by tauto. Qed.

Lemma not_null (A : Prop) (r e : Z) : r <> e -> ~ A -> r = e <-> A.
Proof. by move=> ? ?; split. Qed.

Lemma one_range (x p : Z) : x > x \/ x >= p <-> x >= p.
Proof. lia. Qed.
Lemma one_punctured (x p : Z) (Q : Z -> Prop) :
  (x <= x /\ x < p) /\ (forall y, x <= y /\ y <= x -> Q y) <-> x < p /\ Q x.
Proof.
split=> [[[_ h] q]|[h q]]; first by split=> //; apply: q; lia.
by split; [lia | move=> y yB; have -> : y = x by lia].
Qed.

(* ---- A store with one tile in a page -------------------------------------------------------------- *)

(* Block 1 has the store, 2 the arena's pages, 3 and 4 its indices, 5 the key, 6 the value. *)
Definition leads_ (v : Z) : pointer :=
  if v =? 1 then (3, 0) else if v =? 2 then (4, 0) else if v =? 4 then (1, 0)
  else if (5 <=? v) && (v <? 5 + OPT_PAGES_MAX) then (2, 4612 * (v - 5)) else (0, 0).
Definition place : packed_layout := PackedLayout (OptLayout (5, 0) (6, 0) 0 leads_ (0, 0)) (2, 0) (3, 0) (4, 0).

Section Inhabited.
Variable S : suite.
Hypothesis ok : suite_ok S.
Variable d : nat.
Hypothesis d63 : (0 < d <= 63)%N.
Local Notation D := (Z.of_nat d).
Local Notation V R := (packed_logic S place R).
Local Notation V0 := (V (pprf_seed_intro 0 0)).

Lemma D63 : 1 <= D <= 63.
Proof. by case/andP: d63 => /ltP ? /leP ?; lia. Qed.

Lemma pow2V R n : 0 <= n -> AcslRef.pow2 (V R) n = 2 ^ n.
Proof. by move=> n0; rewrite -(Z2Nat.id n) // (pow2_agree (DV S place R)) pow2N. Qed.

Record tile_ok (P : Z -> bool) (t : Z * Z) : Prop := TileOk {
  t_byte : 0 <= t.2 < 128;
  t_high : high t <= D;
  t_node : tree_node V0 D t.1 (high t);
  t_set : forall x, t.1 <= x < t.1 + 2 ^ high t -> P x = (t.2 <? 64)
}.

Lemma tile_high P t : tile_ok P t -> 0 <= high t.
Proof. by case=> b _ _ _; rewrite /tile_of_byte; case: Z.ltb_spec0; lia. Qed.

Lemma node_halves s h : 0 <= h < D -> tree_node V0 D s (h + 1) -> tree_node V0 D s h /\ tree_node V0 D (s + 2 ^ h) h.
Proof.
move=> hB N; have E s' : is_node V0 D s' h = is_node V0 D s' (h + 1) || is_node V0 D (s' - 2 ^ h) (h + 1).
  rewrite (is_node_def _ (DV S place _)) pow2V; last lia.
  case: Z.ltb_spec0; first lia; case: Z.gtb_spec; first lia; case: Z.eqb_spec; first lia.
  by move=> _ _ _ /=; case: (is_node V0 D s' (h + 1)).
rewrite /tree_node in N *; rewrite !E N; split=> //.
by rewrite (_ : s + 2 ^ h - 2 ^ h = s) ?N ?orbT; last lia.
Qed.

Lemma tiles_ok P h s : (h <= d)%N -> tree_node V0 D s (Z.of_nat h) ->
  chain s (tiles P h s) (s + 2 ^ Z.of_nat h) /\ forall t, List.In t (tiles P h s) -> tile_ok P t.
Proof.
have B := D63; have h64 k : (k <= d)%N -> tile_of_byte (64 + Z.of_nat k) = Z.of_nat k.
  by move=> /leP kd; rewrite /tile_of_byte; case: Z.ltb_spec0; lia.
have whole k u : (k <= d)%N -> tree_node V0 D u (Z.of_nat k) -> none P k u ->
    chain u [:: (u, 64 + Z.of_nat k)] (u + 2 ^ Z.of_nat k) /\ forall t, List.In t [:: (u, 64 + Z.of_nat k)] -> tile_ok P t.
  move=> kd N /noneP no; rewrite /= h64 //; split=> // t [<-|//]; have kd' := leP kd.
  by split; rewrite /= ?h64 //; [lia | lia | move=> x xB; rewrite no //; case: Z.ltb_spec0; lia].
elim: h s => [|h IH] s hd N.
  case Z : (none P 0 s); first by rewrite /tiles Z; apply: whole.
  have Ps : P s by move: Z => /= /negbFE.
  have t0 : tile_of_byte 0 = 0 by [].
  rewrite /tiles Z; split=> [|t [<-|//]]; first by rewrite /= t0.
  split; rewrite /= ?t0; [lia | lia | exact: N |].
  by rewrite (_ : 2 ^ 0 = 1) // => x xB; have -> : x = s by lia.
case Z : (none P h.+1 s); first by rewrite /tiles Z; apply: whole.
have [N1 N2] : tree_node V0 D s (Z.of_nat h) /\ tree_node V0 D (s + 2 ^ Z.of_nat h) (Z.of_nat h).
  by apply: node_halves; [have := leP hd; lia | rewrite (_ : Z.of_nat h + 1 = Z.of_nat h.+1) //; lia].
have [C1 T1] := IH _ (ltnW hd) N1; have [C2 T2] := IH _ (ltnW hd) N2.
have -> : tiles P h.+1 s = tiles P h s ++ tiles P h (s + 2 ^ Z.of_nat h) by rewrite [LHS]/= -/(none P h.+1 s) Z.
split; last by move=> t /List.in_app_iff [/T1|/T2].
by apply: chain_cat C1 _; move: C2; rewrite powS (_ : s + 2 ^ Z.of_nat h + 2 ^ Z.of_nat h = s + 2 * 2 ^ Z.of_nat h); last lia.
Qed.

(* ---- The cells of such a store --------------------------------------------------------------------- *)

Definition live (t : Z * Z) : bool := 64 <=? t.2.
Fixpoint seeds_to (ts : seq (Z * Z)) (n : nat) : Z :=
  if n is n'.+1 then seeds_to ts n' + (if live (nth_tile ts (Z.of_nat n')) then 1 else 0) else 0.

Definition page_cell (R : pprf_seed) (t : Z * Z) (c : Z) : Z :=
  if c =? 0 then 4096 else if c =? 1 then 1 else if c =? 4 then t.2
  else if live t then
    let v := AcslRef.node_seed V0 (seed_value V0 R) D t.1 (high t) : block S in
    if c =? 2 then 1 else if c =? 4610 then low_word v else if c =? 4611 then high_word v else 0
  else 0.

Definition within (q : pointer) (n : Z) : bool := (0 <=? snd q) && (snd q <? n).
#[local] Arguments within : simpl never.
Definition put (ts : seq (Z * Z)) (R : pprf_seed) (f : pointer -> Z) (q : pointer) : Z :=
  let n := count ts in
  if (fst q =? 1) && within q 11 then
    nth 0 [:: seeds_to ts (size ts); D; 4096; 0; n; n; 0; 1; 2; 0; 0] (Z.to_nat (snd q))
  else if (fst q =? 2) && within q (4612 * OPT_PAGES_MAX) then
    if snd q / 4612 <? n then page_cell R (nth_tile ts (snd q / 4612)) (snd q mod 4612) else 0
  else if (fst q =? 3) && within q OPT_INDEX_MAX then (nth_tile ts (snd q)).1
  else if (fst q =? 4) && within q OPT_INDEX_MAX then 5 + snd q
  else f q.

Lemma withinP q n : within q n <-> 0 <= snd q < n.
Proof. by rewrite /within; split=> [/andP [/Z.leb_spec0 ? /Z.ltb_spec0 ?]|[? ?]] //; apply/andP; split; [apply/Z.leb_spec0 | apply/Z.ltb_spec0]. Qed.

Section Put.
Variables (M : memory) (ts : seq (Z * Z)) (R : pprf_seed) (P : Z -> bool).
Hypothesis rights : (forall q, may_read M q) /\ (forall q, may_write M q).
Hypothesis C : chain 0 ts (2 ^ D).
Hypothesis T : forall t, List.In t ts -> tile_ok P t.
Hypothesis few : count ts <= OPT_PAGES_MAX.
Let L := with_cells M (put ts R (cell M)).
Local Notation n := (count ts).
Local Notation p := ((1, 0) : pointer).
Local Notation tile i := (nth_tile ts i).

Let readable_ r : readable L r. Proof. by move=> q _; apply: (proj1 rights). Qed.
Let writable_ r : writable L r. Proof. by move=> q _; apply: (proj2 rights). Qed.
Let ok_ i : 0 <= i < n -> tile_ok P (tile i). Proof. by move/nth_tile_in; apply: T. Qed.
Let highs t : List.In t ts -> 0 <= high t. Proof. by move/T; exact: tile_high. Qed.

Lemma few24 : n <= 16777216. Proof. exact: few. Qed.

Lemma some_tile : 1 <= n.
Proof. by move: C; case: ts => [|t us] /=; [have := pow_pos d; lia | lia]. Qed.

Lemma put1 : cell L (shift 1 p 1) = D. Proof. by []. Qed.
Lemma put2 : cell L (shift 1 p 2) = 4096. Proof. by []. Qed.
Lemma put4 : cell L (shift 1 p 4) = n. Proof. by []. Qed.
Lemma put5 : cell L (shift 1 p 5) = n. Proof. by []. Qed.
Lemma put7 : points (V R) (cell L (shift 1 p 7)) = (3, 0). Proof. by []. Qed.
Lemma put8 : points (V R) (cell L (shift 1 p 8)) = (4, 0). Proof. by []. Qed.

Lemma put_first i : 0 <= i < n -> cell L (shift 1 (3, 0) i) = (tile i).1.
Proof.
move=> iB; have -> : shift 1 (3, 0) i = (3, i) by rewrite /shift /=; congr pair; lia.
rewrite /L /put /=; have -> : within (3, i) OPT_INDEX_MAX by apply/withinP; rewrite /= /OPT_INDEX_MAX; have := few24; lia.
by [].
Qed.

Lemma put_page i : 0 <= i < n -> points (V R) (cell L (shift 1 (4, 0) i)) = (2, 4612 * i).
Proof.
move=> iB; have -> : shift 1 (4, 0) i = (4, i) by rewrite /shift /=; congr pair; lia.
rewrite /L /put /=; have -> : within (4, i) OPT_INDEX_MAX by apply/withinP; rewrite /= /OPT_INDEX_MAX; have := few24; lia.
rewrite /= /leads_; case: Z.eqb_spec => [|_]; first lia; case: Z.eqb_spec => [|_]; first lia; case: Z.eqb_spec => [|_]; first lia.
case: Z.leb_spec0; last lia; case: Z.ltb_spec0 => [_ _|]; last by rewrite /OPT_PAGES_MAX; have := few24; lia.
by congr pair; lia.
Qed.

Lemma put_cell i c : 0 <= i < n -> 0 <= c < 4612 -> cell L (shift 1 (2, 4612 * i) c) = page_cell R (tile i) c.
Proof.
move=> iB cB; have -> : shift 1 (2, 4612 * i) c = (2, c + i * 4612) by rewrite /shift /=; congr pair; lia.
rewrite /L /put /=; have -> : within (2, c + i * 4612) (4612 * OPT_PAGES_MAX).
  by apply/withinP; rewrite /=; rewrite /OPT_PAGES_MAX; have := few24; lia.
rewrite /=.
rewrite Z.div_add // Z.div_small // Z_mod_plus_full Z.mod_small //.
by case: Z.ltb_spec0 => //; lia.
Qed.

Lemma put_head i : 0 <= i < n -> cell L (2, 4612 * i) = 4096.
Proof.
by move=> iB; have := put_cell iB (c := 0) ltac:(lia); rewrite /shift /= (_ : 4612 * i + 1 * 0 = 4612 * i) //; lia.
Qed.

Section Page.
Variable i : Z.
Hypothesis iB : 0 <= i < n.
Local Notation page := ((2, 4612 * i) : pointer).
Local Notation row := (page_row (V R) L page).

Lemma put_byte : tile_byte (V R) L row 0 = (tile i).2.
Proof.
rewrite /tile_byte (_ : shift 1 row 0 = shift 1 page 4); last by rewrite /page_row /shift /=; congr pair; lia.
by rewrite put_cell //; lia.
Qed.

Lemma put_start : tile_start (V R) L row (tile i).1 0 = (tile i).1 /\
  tile_start (V R) L row (tile i).1 1 = (tile i).1 + 2 ^ high (tile i).
Proof.
split; first exact: (start0 (DPV S place R)).
rewrite -[1]/(0 + 1) (startS (DPV S place R)) // (start0 (DPV S place R)) put_byte pow2V //.
exact: tile_high (ok_ iB).
Qed.

Lemma put_before : seeds_before (V R) L row 0 = 0 /\ seeds_before (V R) L row 1 = cell L (shift 1 page 2).
Proof.
split; first exact: (before0 (DPV S place R)).
rewrite -[X in seeds_before _ _ _ X]/(0 + 1) (beforeS (DPV S place R)) // (before0 (DPV S place R)) put_byte (put_cell iB (c := 2)) ?put_byte; last lia.
rewrite /page_cell /live /tile_seeds /=.
by case: Z.ltb_spec0; case: Z.leb_spec0 => //; lia.
Qed.

Lemma put_tiles : cell L (shift 1 page 1) = 1.
Proof. by rewrite put_cell //; lia. Qed.

Lemma put_seeds : 0 <= cell L (shift 1 page 2) <= 1.
Proof. by rewrite put_cell // /page_cell /=; case: ifP; lia. Qed.

Lemma put_seed j : 0 <= j < OPT_PAGE_SEEDS -> let w := pprf_seed_at L (shift 2 (shift 1 page 4100) j) in
  if (j =? 255) && live (tile i) then seed_value (V R) w = AcslRef.node_seed (V R) (seed_value (V R) R) D (tile i).1 (high (tile i))
  else zero_seed (V R) w.
Proof.
rewrite /OPT_PAGE_SEEDS => jB.
have wE k : 0 <= k < 2 -> cell L (shift 1 (shift 2 (shift 1 page 4100) j) k) = page_cell R (tile i) (4100 + 2 * j + k).
  move=> kB; rewrite -put_cell //; last lia.
  by congr (cell L _); rewrite /shift /=; congr pair; lia.
rewrite /pprf_seed_at !wE; try lia.
case: (Z.eqb_spec j 255) => [->|j255] /=.
  rewrite /page_cell /=; case: (live _) => //=.
  rewrite /seed_value /=; set v := node_seed_to _ _ _ _ _.
  by have [_ _ e] := proj2 ok v.
rewrite /page_cell; have z k : 0 <= k < 2 -> page_cell R (tile i) (4100 + 2 * j + k) = 0.
  move=> kB; rewrite /page_cell; case: ifP => [/Z.eqb_spec|_]; first lia; case: ifP => [/Z.eqb_spec|_]; first lia.
  case: ifP => [/Z.eqb_spec|_]; first lia; case: ifP => // _; case: ifP => [/Z.eqb_spec|_]; first lia.
  by case: ifP => [/Z.eqb_spec|_]; first lia; case: ifP => [/Z.eqb_spec|_]; first lia.
by split; rewrite /= -/(page_cell R (tile i) _) z; lia.
Qed.

Lemma put_row : row_holds (V R) L (seed_value (V R) R) D row 1 (tile i).1 ((tile i).1 + 2 ^ high (tile i)) (page_top (V R) L page)
  (cell L (shift 1 page 2)).
Proof.
have [s0 s1] := put_start; have [b0 b1] := put_before; have [tb th tn _] := ok_ iB; have B := D63.
have k0 k : 0 <= k /\ k < 1 -> k = 0 by lia.
split; first lia; split; first by rewrite /OPT_TILES_MAX; lia.
split; first exact: s1; split; first exact: b1; split=> k /k0 -> {k}.
  by rewrite /tile_is_node /byte_of_node put_byte s0; split; [lia | split].
rewrite /tile_has_seed /seed_of_node put_byte s0 b0 => h64.
have := put_seed (j := 255) ltac:(rewrite /OPT_PAGE_SEEDS; lia); rewrite /= /live.
case: Z.leb_spec0 => [_|]; last lia.
by rewrite /place_seed => <-; congr (seed_value (V R) (pprf_seed_at L _)); rewrite /page_top /OPT_PAGE_SEEDS /shift /=; congr pair; lia.
Qed.

End Page.

Lemma put_counted m : (m <= size ts)%N -> seeds_in_pages_to leads_ L p m = seeds_to ts m.
Proof.
elim: m => //= m IH ms; rewrite IH ?(ltnW ms) //; congr (_ + _).
have mB : 0 <= Z.of_nat m < n by move/ltP: ms; lia.
rewrite -[leads_ (cell L (shift 1 p 8))]/((4, 0) : pointer) -[leads_ _]/(points (V R) (cell L (shift 1 (4, 0) (Z.of_nat m)))).
by rewrite put_page // -[put _ _ _ _]/(cell L _) put_cell.
Qed.

Lemma put_key : packed_key (V R) L (seed_value (V R) R) p.
Proof.
have B := D63; have n1 := some_tile; apply/(packed_key_def _ (DPV S place R)).
split; last split; last split; last split.
- split.
    split; first exact: readable_.
    rewrite put1 put4 put7 put8; do 2 (split; first lia); do 2 (split; first exact: readable_).
    split; first by rewrite put_first; [have := chain_next C (i := 0); case: ts C n1 => [|t us] //= [-> _] | lia].
    split; first by move=> i k; rewrite put7 put4 => ik; rewrite !put_first; [apply: (chain_ascends C highs) | |]; lia.
    move=> i; rewrite put4 put7 put1 => iB; rewrite put_first // pow2V; last lia.
    by have [_] := chain_in C highs iB; have := tile_high (ok_ iB); have := Z.pow_pos_nonneg 2 (high (tile i)) ltac:(lia); lia.
  move=> i; rewrite put4 => iB; rewrite put1 put7 put8 put_page // put_first //.
  split; first by split=> //; rewrite /page_bytes put_head // put_tiles //; have := put_seeds iB; rewrite /OPT_ARENA_MAX; lia.
  split; first by rewrite put_tiles //; lia.
  have -> : page_end (V R) L p i = (tile i).1 + 2 ^ high (tile i).
    rewrite -(chain_next C iB) /page_end put4 put7 put1 pow2V; last lia.
    by case: Z.ltb_spec0 => // h; rewrite put_first //; lia.
  by rewrite put_tiles //; exact: put_row.
- split; last split; last first.
  + by move=> i k; rewrite put4 put8 => ik; rewrite !put_page; try lia; case; lia.
  + move=> i; rewrite put4 => iB; rewrite put8 put_page //; split.
      by exists i; split; [rewrite /OPT_PAGES_MAX; have := few24; lia | rewrite /shift /=; congr pair; lia].
    move=> j; have := put_seeds iB; set m := cell L _ => mB jB.
    have := put_seed iB (j := j) ltac:(lia); rewrite /zero_place; case: Z.eqb_spec => //= j255; case: (boolP (live _)) => //= lv.
    have m1 : m = 1 by rewrite /m put_cell // /page_cell /= lv.
    by rewrite m1 /OPT_PAGE_SEEDS in jB; lia.
  rewrite /index_apart put4 put5 put7 put8 -[opt_pages (V R)]/((2, 0) : pointer).
  do 2 (split; first by []); split; first lia.
  do 2 (split; first by []); split; first by apply: apart3; apply: apart_spans; rewrite /=; lia.
  by do 14 (split; first by apply: apart_spans; rewrite /=; lia); apply: apart_spans; rewrite /=; lia.
- rewrite /packed_counted put4 -[seeds_in_pages _ _ _ _]/(seeds_in_pages_to leads_ L p (Z.to_nat n)) Nat2Z.id.
  by rewrite put_counted.
- split; first by rewrite put1 put2 /OPT_ARENA_MAX; lia.
  move=> k; rewrite put4 put8 put2 => kB; rewrite put_page //.
  by rewrite /page_bytes put_tiles //; have := put_seeds kB; lia.
rewrite /index_memory put5 put7 put8 -[opt_firsts _]/((3, 0) : pointer) -[opt_lists _]/((4, 0) : pointer).
do 2 (split; first by []); do 2 (split; first by apply: apart_spans; rewrite /=; lia).
split=> //; right; exists 0, 0; rewrite /OPT_INDEX_MAX; have := few24.
by do 2 (split; first lia); split; first by []; split; first lia; split; first lia.
Qed.

Lemma put_punctured x : packed_punctured (V R) L p x <-> 0 <= x < 2 ^ D /\ P x.
Proof.
have cov i : 0 <= i < n -> page_punctured (V R) L p i x <-> (tile i).2 < 64 /\ (tile i).1 <= x < (tile i).1 + 2 ^ high (tile i).
  move=> iB; rewrite /page_punctured put7 put8 put_page // put_first // put_tiles // /row_punctured /punctured_between.
  have [s0 _] := put_start iB; have h0 := tile_high (ok_ iB).
  split=> [[k [kB [b c]]]|[b c]].
    have k0 : k = 0 by lia.
    by move: b c; rewrite k0 /tile_covers /covers put_byte // s0 -/(tile_of_byte _) pow2V.
  by exists 0; split; [lia | rewrite /tile_covers /covers put_byte // s0 -/(tile_of_byte _) pow2V].
rewrite (packed_punctured_def _ (DPV S place R)) put4; split=> [[i [iB /(cov i iB) [b c]]]|[xB Px]].
  have [_ _ _ set] := ok_ iB; have := chain_in C highs iB; split; first lia.
  by rewrite set //; case: Z.ltb_spec0.
have [i iB c] := chain_cover C xB; exists i; split=> //; apply/(cov i iB); split=> //.
by have [_ _ _ set] := ok_ iB; move: Px; rewrite set //; case: Z.ltb_spec0.
Qed.

End Put.

(* ---- A store beside which a value changes ----------------------------------------------------------- *)

Lemma leads6 v : fst (leads_ v) <> 6.
Proof. by rewrite /leads_; case: (v =? 1) => //; case: (v =? 2) => //; case: (v =? 4) => //; case: (_ && _). Qed.

Section Beside.
Variables (R : pprf_seed) (L : memory) (g : pointer -> Z).
Hypothesis E : forall q, fst q <> 6 -> g q = cell L q.
Let L' := with_cells L g.
Local Notation p := ((1, 0) : pointer).
Local Notation pt v := (points (V R) v).

Let e c : cell L' (shift 1 p c) = cell L (shift 1 p c). Proof. exact: E. Qed.
Let eb k v c : cell L' (shift k (pt v) c) = cell L (shift k (pt v) c). Proof. by apply: E; exact: leads6. Qed.
Let eh v : cell L' (pt v) = cell L (pt v). Proof. by apply: E; exact: leads6. Qed.
Let er v c : tile_byte (V R) L' (page_row (V R) L' (pt v)) c = tile_byte (V R) L (page_row (V R) L (pt v)) c.
Proof. by apply: E; exact: leads6. Qed.
Let et v c : place_seed (V R) L' (page_top (V R) L' (pt v)) c = place_seed (V R) L (page_top (V R) L (pt v)) c.
Proof. by congr (seed_value (V R) (pprf_seed_intro _ _)); apply: E; exact: leads6. Qed.
Let ez v c : zero_place (V R) L' (pt v) c <-> zero_place (V R) L (pt v) c.
Proof. by rewrite /zero_place /zero_seed /= !E //; exact: leads6. Qed.
Let es v f k : tile_start (V R) L' (page_row (V R) L' (pt v)) f k = tile_start (V R) L (page_row (V R) L (pt v)) f k.
Proof. by apply: (@eq_tile_start L' L) => m _; exact: (er v m). Qed.
Let ec v k : seeds_before (V R) L' (page_row (V R) L' (pt v)) k = seeds_before (V R) L (page_row (V R) L (pt v)) k.
Proof. by apply: (@eq_seeds_before L' L) => m _; exact: (er v m). Qed.

Lemma beside_row R' v k f z m : row_holds (V R) L R' D (page_row (V R) L (pt v)) k f z (page_top (V R) L (pt v)) m ->
  row_holds (V R) L' R' D (page_row (V R) L' (pt v)) k f z (page_top (V R) L' (pt v)) m.
Proof.
case=> d_ [k_ [z_ [m_ [RT RS]]]]; rewrite /row_holds es ec; do 4 (split=> //); split=> i iB.
  by have := RT i iB; rewrite /tile_is_node er es.
by have := RS i iB; rewrite /tile_has_seed er es et ec.
Qed.

Lemma beside_key R' : cell L (shift 1 p 1) = D -> packed_key (V R) L R' p -> packed_key (V R) L' R' p.
Proof.
move=> dE /(packed_key_def _ (DPV S place R)) [[Ix Pg] [[IA [PO PD]] [Ct [Sz IM]]]].
apply/(packed_key_def _ (DPV S place R)); split; last split; last split; last split.
- split.
    case: Ix => r [dB [n1 [r1 [r2 [f0 [as_ bl]]]]]]; rewrite /index_of_pages !e eb; do 6 (split=> //).
    split; first by move=> i k; rewrite !e !eb; exact: as_.
    by move=> i; rewrite !e !eb; exact: bl.
  move=> i; rewrite !e !eb => iB; have [[rd fit] [t1 row]] := Pg i iB; split.
    by split=> //; move: fit; rewrite /page_bytes !eb eh.
  split; first by rewrite eb.
  rewrite !eb dE; apply: beside_row; rewrite dE in row.
  by move: row; rewrite /page_end !e eb.
- split; first by move: IA; rewrite /index_apart !e.
  split; last by move=> i k; rewrite !e !eb; exact: PD.
  move=> i; rewrite !e !eb => iB; have [own clean] := PO i iB; split=> //.
  by move=> j; rewrite eb => jB; apply/ez; exact: clean.
- rewrite /packed_counted -[cell L' p]/(g p) E // -[cell L p]/(cell L p); move: Ct; rewrite /packed_counted => ->; rewrite e.
  rewrite -[seeds_in_pages _ L _ _]/(seeds_in_pages_to leads_ L p (Z.to_nat (cell L (shift 1 p 4)))).
  rewrite -[seeds_in_pages _ L' _ _]/(seeds_in_pages_to leads_ L' p (Z.to_nat (cell L (shift 1 p 4)))).
  elim: (Z.to_nat _) => //= m ->; congr (_ + _).
  by rewrite !E //; exact: leads6.
- case: Sz => sz pw; split; first by rewrite !e.
  by move=> k; rewrite !e !eb => kB; have := pw k kB; rewrite /page_bytes !eb.
by move: IM; rewrite /index_memory !e.
Qed.

Lemma beside_punctured x : packed_punctured (V R) L' p x <-> packed_punctured (V R) L p x.
Proof.
rewrite !(packed_punctured_def _ (DPV S place R)); split=> -[i [+ [k [+ [b c]]]]]; rewrite ?e ?eb => iB kB;
  exists i; split; rewrite ?e //; exists k; split; rewrite ?e ?eb //; split;
  by move: b c; rewrite /tile_covers ?e ?eb ?er ?es.
Qed.

End Beside.

(* ---- Memory after set-up ---------------------------------------------------------------------------- *)

(* Key 5 has the family, the depth, and a pointer to the store; the store has one live tile. *)
Definition base : memory :=
  Memory (fun q =>
    if fst q =? 5 then
      if snd q =? 1 then pprf_family_suite (family_words S) else if snd q =? 2 then pprf_family_salt_lo (family_words S)
      else if snd q =? 3 then pprf_family_salt_hi (family_words S) else if snd q =? 4 then D else if snd q =? 20 then 4 else 0
    else 0) (fun _ => True) (fun _ => True).
Definition fresh_tiles : seq (Z * Z) := [:: (0, 64 + D)].
Definition fresh_key (R : pprf_seed) : memory := with_cells base (put fresh_tiles R (cell base)).

Lemma fresh_ok : chain 0 fresh_tiles (2 ^ D) /\ forall t, List.In t fresh_tiles -> tile_ok (fun _ => false) t.
Proof.
have B := D63; have h64 : tile_of_byte (64 + D) = D by rewrite /tile_of_byte; case: Z.ltb_spec0; lia.
rewrite /= h64; split=> // t [<-|//]; split; rewrite /= ?h64; [lia | lia | | by move=> x _; case: Z.ltb_spec0; lia].
by rewrite /tree_node (is_node_root (DV S place (pprf_seed_intro 0 0))) //; lia.
Qed.

Lemma family_whole w : pprf_family_intro (pprf_family_suite w) (pprf_family_salt_lo w) (pprf_family_salt_hi w) = w.
Proof. by case: w. Qed.

(* The page in which a cell is part of a seed's place. *)
Definition seed_page (n : Z) (q : pointer) : option Z :=
  first_of n (fun i => lies_in 2 (shift 1 (2, 4612 * i) 4100) 0 (OPT_PAGE_SEEDS - 1) q).

Lemma put_page_of M ts R P f q : (forall t, List.In t ts -> tile_ok P t) -> count ts <= OPT_PAGES_MAX ->
  let L := with_cells M (put ts R f) in packed_at place L = (1, 0) -> page_of S place L q = seed_page (count ts) q.
Proof.
move=> T few L at1; rewrite /PackedGame.page_of at1; apply: eq_first_of => i iB; congr lies_in; congr shift.
exact: (@put_page (with_cells M f) ts R P T few i iB).
Qed.

(* A cell for seeds is part of a place of the store, or zero. *)
Lemma put_outside ts R f q : seed_cell place q -> seed_page (count ts) q = None -> put ts R f q = 0.
Proof.
move=> /andP [/lies_spanP [q1 q2] /Z.leb_spec0 q3] none; rewrite /= in q1 q2 q3.
rewrite /put q1 /=; have -> : within q (4612 * OPT_PAGES_MAX) by apply/withinP; lia.
case: Z.ltb_spec0 => // h; have e := Z.div_mod (snd q) 4612 ltac:(lia); have m := Z.mod_pos_bound (snd q) 4612 ltac:(lia).
rewrite Z.sub_0_r in q3; have i0 : 0 <= snd q / 4612 by apply: Z.div_pos; lia.
have := first_ofP (count ts) (fun i => lies_in 2 (shift 1 (2, 4612 * i) 4100) 0 (OPT_PAGE_SEEDS - 1) q).
rewrite -/(seed_page _ q) none => /(_ _ (conj i0 h)) /negP []; apply/lies_spanP.
by split=> //=; rewrite /OPT_PAGE_SEEDS; lia.
Qed.

Lemma put_plain ts R R' f f' q : ~ seed_cell place q -> f q = f' q -> put ts R f q = put ts R' f' q.
Proof.
move=> ns E; rewrite /put; case: ifP => // _; case: ifP => [/andP [/Z.eqb_spec q1 /withinP q2]|_]; last by rewrite E.
case: ifP => // _; rewrite /page_cell; case: ifP => // c0; case: ifP => // c1; case: ifP => // c4; case: ifP => // _.
have low : snd q mod 4612 < 4100.
  case: (Z_lt_ge_dec (snd q mod 4612) 4100) => // h; case: ns; apply/andP; split; first by apply/lies_spanP; split=> //=; lia.
  by apply/Z.leb_spec0; rewrite /= Z.sub_0_r; lia.
case: ifP => // _; case: Z.eqb_spec => [|_]; first lia; case: Z.eqb_spec => [|_ //]; lia.
Qed.

Lemma put_typed ts R f q : seed_cell place q -> c_uint64_t (put ts R f q).
Proof.
move=> /andP [/lies_spanP [q1 q2] /Z.leb_spec0 q3]; rewrite /= in q1 q2 q3; rewrite Z.sub_0_r in q3.
rewrite /put q1 /=; have -> : within q (4612 * OPT_PAGES_MAX) by apply/withinP; lia.
case: ifP => // _; rewrite /page_cell; case: Z.eqb_spec => [|_]; first lia; case: Z.eqb_spec => [|_]; first lia.
case: Z.eqb_spec => [|_]; first lia; case: ifP => // _; case: Z.eqb_spec => [|_]; first lia; cbv zeta.
set v := AcslRef.node_seed _ _ _ _ _; have [lo hi _] := proj2 ok v.
by case: ifP => // _; case: ifP.
Qed.

(* What is put does not show the root's seed. *)
Lemma put_shape (hidden : pred pointer) M M' ts P R R' f f' q : (forall t, List.In t ts -> tile_ok P t) ->
  count ts <= OPT_PAGES_MAX -> let L := with_cells M (put ts R f) in let L' := with_cells M' (put ts R' f') in
  packed_at place L = (1, 0) -> packed_at place L' = (1, 0) -> (plain place q -> f q = f' q) ->
  shape S hidden place L q = shape S hidden place L' q.
Proof.
move=> T few L L' at1 at1' E; rewrite /PackedGame.shape (put_page_of _ T few at1) (put_page_of _ T few at1').
case V : (lies_in _ _ _ _ _) => //=; case: (hidden q) => //=; case N : (seed_page _ q) => [i|] //=.
case ns : (seed_cell place q); first by rewrite !(put_outside _ _ ns N).
by apply: put_plain; rewrite ?ns //; apply: E; split; rewrite ?ns //; apply/lies_spanP; rewrite V.
Qed.

Theorem packed_ready_exists (hidden : pred pointer) : (forall q, hidden q -> seed_cell place q) ->
  packed_ready S d hidden place fresh_key.
Proof.
move=> hs; have B := D63; have [C T] := fresh_ok.
have few : count fresh_tiles <= OPT_PAGES_MAX by rewrite /OPT_PAGES_MAX /=; lia.
have rb : (forall q, may_read base q) /\ (forall q, may_write base q) by [].
have at1 R : packed_at place (fresh_key R) = (1, 0) by [].
have I (s : block S) : @packed_in S d place fresh_key (fresh_key (words_of s)) s pred0.
  have K : packed_key (V (words_of s)) (fresh_key (words_of s)) (seed_value (V (words_of s)) (words_of s)) (1, 0) by exact: put_key rb C T few.
  have pk : packed (V (words_of s)) (fresh_key (words_of s)) (5, 0) by move=> e; discriminate e.
  split; [by move=> e; discriminate e | | | | by []].
  - split; [by move=> e; discriminate e | by case=> /(_ erefl) | | |].
    + exact: (family_whole (family_words S)).
    + split; last by [].
      split; first by []; split; last by move=> /(_ pk).
      move=> _; split; first exact: K; split; first by [].
      apply/(apart_from_packed_def _ (DPV S place _)).
      do 3 (split; first by apply: apart_spans; left=> e; discriminate e).
      by apply: apart_spans; left=> e; discriminate e.
    move=> x _; split=> // -[[_ /(put_punctured _ _ C T few) [_]]|[/(_ pk)]] //.
  - split; [by move=> e; discriminate e | by [] | by [] |].
    split; first by apply: apart_spans; left=> e; discriminate e.
    split=> [_|h]; last by case: h => e; discriminate e.
    apply/(value_apart_def V0 (DPV S place _)).
    do 3 (split; first by apply: apart_spans; left=> e; discriminate e).
    by apply: apart_spans; left=> e; discriminate e.
  by split=> // q; exact: put_typed.
by split=> // s s' q; apply: put_shape T few (at1 _) (at1 _) _.
Qed.

(* ---- The functions -------------------------------------------------------------------------------- *)

(* The leaves that a store has punctured, and its tiles once those from a to b are punctured too. *)
Definition some_below (m : Z) (Q : Z -> bool) : bool := has (fun i => Q (Z.of_nat i)) (iota 0 (Z.to_nat m)).
Definition gone (M : memory) (x : Z) : bool :=
  let p := packed_at place M in
  some_below (packed_pages M p) (fun i => some_below (page_tiles V0 M p i) (fun k =>
    let b := byte_at V0 M p i k in let s := start_at V0 M p i k in
    [&& b <? 64, s <=? x & x <? s + AcslRef.pow2 V0 (tile_height V0 b)])).
Definition marked (M : memory) (a b : N) (x : Z) : bool := gone M x || ((Z.of_N a <=? x) && (x <=? Z.of_N b)).
Definition after (M : memory) (a b : N) : seq (Z * Z) := tiles (marked M a b) d 0.
Local Notation verdict M a b := (RefInhabited.range_verdict d (gone M) a b).

(* The value's place after a call that returns r; then the call, which punctures the leaves from a to b or does not, and
   gives the value of a if it is asked for. *)
Definition valued (lo hi : Z) (f : pointer -> Z) (q : pointer) : Z :=
  if lies_in 1 (6, 0) 0 15 q then
    if snd q <? 8 then byte_of V0 lo (snd q) else byte_of V0 hi (snd q - 8)
  else f q.
Definition answered (asked : bool) (M : memory) (R : pprf_seed) (a : N) (r : Z) : pointer -> Z :=
  let v := leaf_value (V R) (seed_value (V R) R) D (Z.of_N a) : block S in
  if ~~ asked then cell M else if r =? PPRF_OK then valued (low_word v) (high_word v) (cell M) else valued 0 0 (cell M).
Definition run (puncture asked : bool) (M : memory) (R : pprf_seed) (a b : N) (failing : bool) : Z * (pointer -> Z) :=
  let r := verdict M a b (failing || puncture && (OPT_PAGES_MAX <? count (after M a b))) in
  let f := answered asked M R a r in (r, if (r =? PPRF_OK) && puncture then put (after M a b) R f else f).
Definition packed_functions : opt_functions bool :=
  OptFunctions (fun M R x => run false true M R x x) (fun M R x => run true false M R x x)
    (fun M R x => run true true M R x x) (run true false).

Lemma some_belowP m (Q : Z -> bool) : some_below m Q <-> exists i, 0 <= i < m /\ Q i.
Proof.
split=> [/hasP [i]|[i [iB Qi]]].
  by rewrite mem_iota add0n => /andP [_ /ltP im] Qi; exists (Z.of_nat i); split; [lia|].
by apply/hasP; exists (Z.to_nat i); rewrite ?Z2Nat.id ?mem_iota ?add0n //; [apply/ltP; lia | lia].
Qed.

Lemma goneP M x : gone M x <-> packed_punctured V0 M (packed_at place M) x.
Proof.
rewrite (packed_punctured_def _ (DPV S place _)) /gone.
split=> [/some_belowP [i [iB /some_belowP [k [kB /and3P [/Z.ltb_spec0 b /Z.leb_spec0 c1 /Z.ltb_spec0 c2]]]]]|[i [iB [k [kB [b [c1 c2]]]]]]].
  by exists i; split=> //; exists k; split=> //; split.
apply/some_belowP; exists i; split=> //; apply/some_belowP; exists k; split=> //.
by apply/and3P; split; [apply/Z.ltb_spec0 | apply/Z.leb_spec0 | apply/Z.ltb_spec0].
Qed.

Local Notation in_ := (@packed_in S d place fresh_key).

Section Call.
Variables (M : memory) (s : block S) (P : pred bitseq).
Hypothesis I : in_ M s P.
Local Notation R := (words_of s).
Local Notation key_p := ((5, 0) : pointer).
Local Notation root := (seed_value (V R) R).

Lemma rights_in : (forall q, may_read M q) /\ (forall q, may_write M q).
Proof. by case: I => _ _ _ _ [-> ->]. Qed.

Lemma at_one : packed_at place M = (1, 0).
Proof.
have [pk _ _ _ _] := I; have [_ [[_ [_ [_ [_ [_ [_ [B _]]]]]]] _] [_ [_ [A1 [A2 _]]]] _ _] := whole I.
move: pk A1 A2 B; rewrite /packed -[points V0 _]/(packed_at place M) /packed_at; set v := cell _ _.
rewrite /= /leads_; case: (v =? 1); [|case: (v =? 2); [|case: (v =? 4) => //]].
- by move=> _ [A _]; case: (A _ (or_introl erefl) (3, 0)); split=> //=; rewrite /OPT_INDEX_MAX /=; lia.
- by move=> _ _ [A _]; case: (A _ (or_introl erefl) (4, 0)); split=> //=; rewrite /OPT_INDEX_MAX /=; lia.
case: (boolP (_ && _)) => [/andP [/Z.leb_spec0 v1 /Z.ltb_spec0 v2]|_]; last by [].
move=> _ _ _ [A _]; case: (A _ (or_introl erefl) (2, 4612 * (v - 5))).
  by split=> //=; lia.
by split=> //=; move: v2; rewrite /OPT_PAGES_MAX; lia.
Qed.

Record good (L : memory) : Prop := Good {
  g_head : forall q, fst q = 5 -> cell L q = cell M q;
  g_rights : may_read L = may_read M /\ may_write L = may_write M;
  g_key : packed_key (V R) L root (1, 0);
  g_depth : cell L (shift 1 (1, 0) 1) = D
}.

Lemma good_M : good M.
Proof.
have [pk [_ _ _ [[_ [K _]] _] _] _ _ _] := I; have [_ _ _ dE _] := whole I; rewrite at_one in dE.
by split=> //; have [K' _] := K pk; move: K'; rewrite -[points _ _]/(packed_at place M) at_one.
Qed.

Lemma depth_in : cell M (shift 1 key_p 4) = D.
Proof. by have [_ [_ _ _ [_ dE] _] _ _ _] := I. Qed.

Section Good.
Variable L : memory.
Hypothesis GL : good L.

Lemma good_at : packed_at place L = (1, 0).
Proof. by rewrite /packed_at (g_head GL) //; exact: at_one. Qed.

Lemma good_packed : packed (V R) L key_p.
Proof. by rewrite /packed -[points _ _]/(packed_at place L) good_at. Qed.

Lemma good_depth : depth (V R) L key_p = D.
Proof. by rewrite /depth (g_head GL) //; exact: depth_in. Qed.

Lemma good_key : AcslApi.key (V R) L root key_p /\ same_head (V R) M L key_p.
Proof.
have [pk [_ _ _ [[_ [K _]] _] _] _ _ _] := I.
split; last by rewrite /same_head /depth !(g_head GL).
split; first by move=> q _; rewrite (proj2 (g_rights GL)); exact: (proj2 rights_in).
split; last by move/(_ good_packed).
move=> _; rewrite -[points _ _]/(packed_at place L) good_at good_depth (g_depth GL); split; first exact: g_key GL.
by split=> //; have [_ [_]] := K pk; rewrite -[points _ _]/(packed_at place M) at_one.
Qed.

Lemma good_punctured x : AcslApi.punctured (V R) L key_p x <-> packed_punctured (V R) L (1, 0) x.
Proof.
rewrite /AcslApi.punctured -[points _ _]/(packed_at place L) good_at; have np := good_packed.
by split=> [[[]|[]] //|h]; left.
Qed.

Lemma good_nodes : AcslApi.nodes (V R) L key_p = cell L (1, 0).
Proof. by rewrite /AcslApi.nodes -[points _ _]/(packed_at place L) good_at. Qed.

End Good.

Lemma gone_punctured x : gone M x <-> AcslApi.punctured (V R) M key_p x.
Proof. by rewrite goneP at_one (good_punctured good_M). Qed.

Lemma gone_inside x : gone M x -> 0 <= x < 2 ^ D.
Proof.
rewrite goneP at_one => /(packed_punctured_def _ (DPV S place _)) [i [iB [k [kB [b c]]]]].
have [PH _ _ dE _] := whole I; rewrite at_one in PH dE.
have := tile_inside (DV S place R) (DPV S place R) PH dE iB kB c.
have [[_ [_ [_ [_ [_ [f0 [A B]]]]]]] _] := PH.
have f i' : 0 <= i' < cell M (shift 1 (1, 0) 4) -> 0 <= packed_first (V R) M (1, 0) i'.
  move=> i'B; case: (Z.eq_dec i' 0) => [->|n0]; first by rewrite /packed_first f0; lia.
  by have := A 0 i' ltac:(lia); rewrite f0 /packed_first; lia.
have := f i iB; rewrite /page_end; case: Z.ltb_spec0 => [h|_]; last by rewrite dE pow2V; lia.
by have := B (i + 1) ltac:(lia); rewrite dE pow2V; lia.
Qed.

(* What is gone is what is punctured. *)
Lemma gone_set x : gone M x = [&& 0 <=? x, x <? 2 ^ D & P (leaf_path d (Z.to_N x))].
Proof.
have [_ _ _ _ set] := whole I; apply/idP/and3P => [h|[/Z.leb_spec0 x0 /Z.ltb_spec0 xD Px]].
  have xB := gone_inside h; split; [by apply/Z.leb_spec0; lia | by apply/Z.ltb_spec0; lia |].
  by apply/set; [rewrite pow2N in xB; lia | rewrite Z2N.id; [apply/goneP | lia]].
by apply/goneP; move/set: Px; rewrite Z2N.id //; apply; rewrite pow2N in xD; lia.
Qed.

Section Outcome.
Variables (puncture asked : bool) (a b : N) (failing : bool).
Local Notation ts := (after M a b).
Local Notation refused := (failing || puncture && (OPT_PAGES_MAX <? count ts)).
Local Notation r := (verdict M a b refused).
Local Notation Post := (with_cells M (run puncture asked M R a b failing).2).

Local Notation f := (answered asked M R a r).

Lemma f_beside e q : ~ (asked /\ value_cells (6, 0) q) -> answered asked M R a e q = cell M q.
Proof.
rewrite /answered; case: (asked) => //= nv; have out : lies_in 1 (6, 0) 0 15 q = false by apply/negP => /lies_spanP h; apply: nv.
by case: ifP => _; rewrite /valued out.
Qed.

Lemma f_block q : fst q <> 6 -> f q = cell M q.
Proof. by move=> q6; apply: f_beside => -[_ [/q6]]. Qed.

Lemma postE : Post = with_cells M (if (r =? PPRF_OK) && puncture then put ts R f else f).
Proof. by []. Qed.

Let verdictE := RefInhabited.range_verdictE d a b refused gone_punctured.

Lemma fitting : (r =? PPRF_OK) && puncture ->
  [/\ chain 0 ts (2 ^ D), forall t, List.In t ts -> tile_ok (marked M a b) t, count ts <= OPT_PAGES_MAX & Z.of_N b < 2 ^ D].
Proof.
case/andP => /Z.eqb_spec rK pu; have [_ _ fine _] := verdictE; have [[_ bD] /norP [_]] := fine rK.
rewrite pu; case: Z.ltb_spec0 => // few _; have B := D63.
have [C T] := @tiles_ok (marked M a b) d 0 (leqnn d) ltac:(rewrite /tree_node (is_node_root (DV S place R)) //; lia).
by split=> //; lia.
Qed.

Lemma post_good : good Post.
Proof.
rewrite postE; case: (boolP (_ && _)) => [w|_].
  have [C T few _] := fitting w; split=> //; last exact: (@put_key (with_cells M f) ts R _ rights_in C T few).
  by move=> q q5; rewrite /= /put q5 /= f_block ?q5.
have [h rt K dE] := good_M; split=> //; first by move=> q q5; rewrite [LHS]f_block ?q5.
  exact: (@beside_key R M f f_block _ dE K).
by rewrite [LHS]f_block.
Qed.

Lemma post_leaves : (r =? PPRF_OK) && puncture -> forall x, AcslApi.punctured (V R) Post key_p x <->
  AcslApi.punctured (V R) M key_p x \/ Z.of_N a <= x /\ x <= Z.of_N b.
Proof.
move=> w x; have [C T few bD] := fitting w; rewrite (good_punctured post_good) postE w.
apply: iff_trans (@put_punctured (with_cells M f) ts R (marked M a b) C T few x) _; rewrite -gone_punctured /marked.
split=> [[_ /orP [h|/andP [/Z.leb_spec0 ? /Z.leb_spec0 ?]]]|[h|[? ?]]]; [by left | by right | |].
  by rewrite h; split; first exact: gone_inside h.
by split; [lia | apply/orP; right; apply/andP; split; apply/Z.leb_spec0].
Qed.

Lemma post_same : (r =? PPRF_OK) && puncture = false ->
  same_punctured (V R) M Post key_p /\ AcslApi.nodes (V R) Post key_p = AcslApi.nodes (V R) M key_p.
Proof.
move=> w; rewrite (good_nodes post_good) (good_nodes good_M); split; last by rewrite postE w [LHS]f_block.
move=> x; rewrite (good_punctured post_good) (good_punctured good_M) postE w.
by symmetry; exact: (@beside_punctured R M f f_block).
Qed.

Lemma post_unchanged : unchanged M Post
  ((if puncture then key_memory (V R) M key_p else [::]) ++ (if asked then [:: value_cells (6, 0)] else [::])).
Proof.
move=> q out; have fq : f q = cell M q.
  apply: f_beside => -[as_ h]; apply: (out (value_cells (6, 0))) h; rewrite as_.
  by apply: List.in_or_app; right; left.
rewrite postE; case: (boolP (_ && _)) => // /andP [_ pu]; rewrite pu in out.
have e : points (V R) (cell M (shift 1 (store_of key_p) 16)) = (1, 0) by exact: at_one.
have no x : List.In x (key_memory (V R) M key_p) -> ~ x q by move=> ix; apply: out; exact: in_left.
rewrite /key_memory e in no; rewrite /= /put.
case: ifP => [/andP [/Z.eqb_spec q1 /withinP q2]|_].
  by case: (no (span 11 (1, 0) 0 (1 - 1))); [do 8 right; left | split=> //=; lia].
case: ifP => [/andP [/Z.eqb_spec q1 /withinP q2]|_].
  by case: (no (span 4612 (2, 0) 0 (OPT_PAGES_MAX - 1))); [do 9 right; left | split=> //=; lia].
case: ifP => [/andP [/Z.eqb_spec q1 /withinP q2]|_].
  by case: (no (span 1 (3, 0) 0 (OPT_INDEX_MAX - 1))); [do 10 right; left | split=> //=; lia].
case: ifP => // /andP [/Z.eqb_spec q1 /withinP q2].
by case: (no (span 1 (4, 0) 0 (OPT_INDEX_MAX - 1))); [do 11 right; left | split=> //=; lia].
Qed.

Lemma valued_bytes lo hi : seed_bytes (V R) (with_cells M (valued lo hi (cell M))) (6, 0) lo hi.
Proof.
have E j : 0 <= j < 16 -> valued lo hi (cell M) (shift 1 (6, 0) j) = if j <? 8 then byte_of V0 lo j else byte_of V0 hi (j - 8).
  move=> jB; rewrite /valued; have -> : lies_in 1 (6, 0) 0 15 (shift 1 (6, 0) j) by apply/lies_spanP; split=> //=; lia.
  by rewrite /shift /=; have -> : 0 + 1 * j = j by lia.
move=> k kB; rewrite -![cell _ _]/(valued lo hi (cell M) _) !E; try lia; case: Z.ltb_spec0; case: Z.ltb_spec0; try lia.
by have -> : 8 + k - 8 = k by lia.
Qed.

Lemma post_value : asked ->
  (r = PPRF_OK -> exists lo hi, seed_bytes (V R) Post (6, 0) lo hi /\
     seed_from_words (V R) lo hi = leaf_value (V R) root (depth (V R) Post key_p) (Z.of_N a)) /\
  (r <> PPRF_OK -> seed_bytes (V R) Post (6, 0) 0 0).
Proof.
have at6 lo hi : (forall q, fst q = 6 -> (run puncture asked M R a b failing).2 q = valued lo hi (cell M) q) ->
    seed_bytes (V R) Post (6, 0) lo hi.
  by move=> E k kB; have := valued_bytes lo hi kB; rewrite -![cell _ _]/(valued lo hi (cell M) _) -!E.
move=> as_; rewrite (good_depth post_good); split=> [rK|/Z.eqb_spec/negbTE rN].
  exists (low_word (leaf_value (V R) root D (Z.of_N a) : block S)), (high_word (leaf_value (V R) root D (Z.of_N a) : block S)).
  split; last by have [_ _] := proj2 ok (leaf_value (V R) root D (Z.of_N a)).
  by apply: at6 => q q6; rewrite /run /answered as_ rK /=; case: (puncture) => //; rewrite /put q6.
by apply: at6 => q q6; rewrite /run /answered as_ rN.
Qed.

Lemma post_typed : packed_typed place Post.
Proof.
have [_ _ _ [ty1 ty2] _] := I.
split; last first.
  move=> q sq; have q2 : fst q = 2 by case/andP: sq => /lies_spanP [].
  by rewrite postE; case: ifP => _; [exact: put_typed | rewrite [cell _ _]f_block ?q2 //; exact: ty2].
have f6 : c_uint8_t (f (6, 0)).
  have B v : c_uint8_t (byte_of V0 v 0) := @OptInhabited.byte_range S v 0 (Z.le_refl 0).
  by rewrite /answered; case: (asked) => //=; case: ifP => _; exact: B.
by rewrite postE; case: ifP => _.
Qed.

Lemma post_results : [/\ r <> PPRF_ERR_NULL, r <> PPRF_ERR_FORKED, c_int r,
  (r = PPRF_ERR_RANGE <-> Z.of_N a > Z.of_N b \/ Z.of_N b >= AcslRef.pow2 (V R) (depth (V R) Post key_p)) /\
  (r = PPRF_ERR_PUNCTURED <-> (Z.of_N a <= Z.of_N b /\ Z.of_N b < AcslRef.pow2 (V R) (depth (V R) Post key_p)) /\
     forall x, Z.of_N a <= x /\ x <= Z.of_N b -> AcslApi.punctured (V R) M key_p x) &
  r = PPRF_OK \/ r = PPRF_ERR_NULL \/ r = PPRF_ERR_FORKED \/ r = PPRF_ERR_RANGE \/ r = PPRF_ERR_PUNCTURED \/ prg_error (V R) r].
Proof.
have [rng pun _ oth] := verdictE; rewrite (good_depth post_good) pow2V; last lia.
have n0 : r <> PPRF_ERR_NULL /\ r <> PPRF_ERR_FORKED /\ c_int r by case: oth => [->|->|->|[-> _]].
split; [exact: n0.1 | exact: n0.2.1 | exact: n0.2.2 | split; [exact: rng | exact: pun] |].
case: oth => [h|h|h|[h _]]; [by left | by do 3 right; left | by do 4 right; left |].
by rewrite h; do 5 right; split=> //; left.
Qed.

Lemma not_copied : ~ copied (V R) M key_p.
Proof. by have [_ [_ nc _ _ _] _ _ _] := I. Qed.

Lemma post_shape hidden q : (r =? PPRF_OK) && puncture = false -> shape S hidden place Post q = shape S hidden place M q.
Proof.
have pl q' : plain place q' -> f q' = cell M q' by case=> nv _; apply: f_beside => -[].
move=> w; rewrite postE w /PackedGame.shape (@page_of_same S d place fresh_key M (with_cells M f) s P I pl).
case: (boolP (lies_in _ _ _ _ _)) => // /negP nv; rewrite -[cell (with_cells _ _) q]/(f q) f_beside //.
by move=> [_ /lies_spanP h].
Qed.

Lemma post_refused : prg_error (suite_logic S) r -> failing \/ puncture /\ OPT_PAGES_MAX < count ts.
Proof.
have [_ _ _ oth] := verdictE => -[e _]; case: oth => [h|h|h|[_ /orP [?|/andP [? /Z.ltb_spec0 ?]]]]; [| | | by left | by right];
  by rewrite h in e; case: e.
Qed.

Lemma after_few (Q : pred N) : (forall x, Q x = (a <=? x)%num && (x <=? b)%num) ->
  (Z.of_nat (d * seq.count (fun x => P (leaf_path d (N.of_nat x)) || Q (N.of_nat x)) (iota 0 (2 ^ d))) < OPT_PAGES_MAX) ->
  count ts <= OPT_PAGES_MAX.
Proof.
move=> QE; rewrite (@eq_in_count _ _ (fun i => marked M a b (0 + Z.of_nat i))) => [|i].
  by have /leP := tiles_few (marked M a b) d 0; rewrite -/ts add1n; set k := (d * _)%N; lia.
rewrite mem_iota add0n => /andP [_ /ltP iB]; rewrite /marked gone_set QE Z.add_0_l -nat_N_Z N2Z.id nat_N_Z; congr orb.
  have -> : 0 <=? Z.of_nat i by apply/Z.leb_spec0; lia.
  by have -> : Z.of_nat i <? 2 ^ D by apply/Z.ltb_spec0; rewrite -pow_nat; lia.
by congr andb; [apply/N.leb_spec0/Z.leb_spec0 | apply/N.leb_spec0/Z.leb_spec0]; lia.
Qed.

End Outcome.

Let nn : key_p <> null (V R). Proof. by move=> e; discriminate e. Qed.
Let on : ((6, 0) : pointer) <> null (V R). Proof. by move=> e; discriminate e. Qed.
Let nc := not_copied.

Lemma range_meets a b failing : let r := run true false M R a b failing in
  pprf_punct_range_contract (V R) M (with_cells M r.2) key_p (Z.of_N a) (Z.of_N b) r.1.
Proof.
move=> r ty _; have [n1 n2 ci [rng pun] oth] := post_results true false a b failing.
have un := @post_unchanged true false a b failing; have same := @post_same true false a b failing.
split; [exact: un | split; [exact: ty | split; [exact: ci |]]]; split.
- exact: not_null n1 nn.
- by apply: not_null n2 _ => -[_ /nc].
- by move=> _; exact: good_key (post_good true false a b failing).
- exact: iff_trans rng (iff_trans (guard _ nc) (guard _ nn)).
- exact: iff_trans pun (iff_trans (guard _ nc) (guard _ nn)).
- exact: no_memory_either oth.
- by move=> rK; apply: (@post_leaves true false a b failing); rewrite andbT; apply/Z.eqb_spec.
- by move=> /Z.eqb_spec/negbTE rN _; apply: same; rewrite andbT.
by move=> _ _ /(_ (good_packed good_M)).
Qed.

Lemma leaf_leaves (asked : bool) x failing : let r := run true asked M R x x failing in
  r.1 = PPRF_OK -> forall y, AcslApi.punctured (V R) (with_cells M r.2) key_p y <-> AcslApi.punctured (V R) M key_p y \/ y = Z.of_N x.
Proof.
move=> r rK y; have w : (r.1 =? PPRF_OK) && true by rewrite andbT; apply/Z.eqb_spec.
by rewrite (@post_leaves true asked x x failing w y); split=> -[?|?]; [left | right; lia | left | right; lia].
Qed.

Lemma punct_meets x failing : let r := run true false M R x x failing in
  pprf_punct_contract (V R) M (with_cells M r.2) key_p (Z.of_N x) r.1.
Proof.
move=> r ty _; have [n1 n2 ci [rng pun] oth] := post_results true false x x failing.
have un := @post_unchanged true false x x failing; have same := @post_same true false x x failing.
split; [exact: un | split; [exact: ty | split; [exact: ci |]]]; split.
- exact: not_null n1 nn.
- by apply: not_null n2 _ => -[_ /nc].
- by move=> _; exact: good_key (post_good true false x x failing).
- exact: iff_trans (iff_trans rng (one_range _ _)) (iff_trans (guard _ nc) (guard _ nn)).
- exact: iff_trans (iff_trans pun (one_punctured _ _ _)) (iff_trans (guard _ nc) (guard _ nn)).
- exact: no_memory_either oth.
- exact: leaf_leaves.
- by move=> /Z.eqb_spec/negbTE rN _; apply: same; rewrite andbT.
by move=> _ _ /(_ (good_packed good_M)).
Qed.

Lemma eval_punct_meets x failing : let r := run true true M R x x failing in
  pprf_eval_punct_contract (V R) M (with_cells M r.2) key_p (Z.of_N x) (6, 0) r.1.
Proof.
move=> r [ty _] _; have [n1 n2 ci [rng pun] oth] := post_results true true x x failing.
have un := @post_unchanged true true x x failing; have same := @post_same true true x x failing.
have [val zero] := @post_value true true x x failing isT; have [byte _] := post_typed true true x x failing.
split; [exact: un | split; [by split | split; [exact: ci |]]]; split.
- by apply: not_null n1 _ => -[/nn|/on].
- by apply: not_null n2 _ => -[_ [_ /nc]].
- by move=> _; exact: good_key (post_good true true x x failing).
- exact: iff_trans (iff_trans rng (one_range _ _)) (iff_trans (guard _ on) (iff_trans (guard _ nc) (guard _ nn))).
- exact: iff_trans (iff_trans pun (one_punctured _ _ _)) (iff_trans (guard _ on) (iff_trans (guard _ nc) (guard _ nn))).
- exact: no_memory_either oth.
- exact: leaf_leaves.
- by move=> /Z.eqb_spec/negbTE rN _; apply: same; rewrite andbT.
- by move=> _ _ /(_ (good_packed good_M)).
- exact: val.
by move=> rN _; exact: zero.
Qed.

Lemma eval_meets x failing : let r := run false true M R x x failing in
  pprf_eval_contract (V R) M (with_cells M r.2) key_p (Z.of_N x) (6, 0) r.1.
Proof.
move=> r [ty _] _; have [n1 n2 ci [rng pun] oth] := post_results false true x x failing.
have un := @post_unchanged false true x x failing; have same := @post_same false true x x failing.
have [val zero] := @post_value false true x x failing isT; have [byte _] := post_typed false true x x failing.
split; [exact: un | split; [by split | split; [exact: ci |]]]; split.
- by apply: not_null n1 _ => -[/nn|/on].
- by apply: not_null n2 _ => -[_ [_ /nc]].
- exact: iff_trans (iff_trans rng (one_range _ _)) (iff_trans (guard _ on) (iff_trans (guard _ nc) (guard _ nn))).
- exact: iff_trans (iff_trans pun (one_punctured _ _ _)) (iff_trans (guard _ on) (iff_trans (guard _ nc) (guard _ nn))).
- exact: oth.
- exact: val.
- by move=> rN _; exact: zero.
- by move=> _; exact: good_key (post_good false true x x failing).
by move=> _; apply: same; rewrite andbF.
Qed.

End Call.

Lemma run_same (hidden : pred pointer) M M' s s' P puncture asked a b failing : (forall q, hidden q -> seed_cell place q) ->
  in_ M s P -> in_ M' s' P -> (forall q, shape S hidden place M q = shape S hidden place M' q) ->
  let r := run puncture asked M (words_of s) a b failing in let r' := run puncture asked M' (words_of s') a b failing in
  r.1 = r'.1 /\ forall q, shape S hidden place (with_cells M r.2) q = shape S hidden place (with_cells M' r'.2) q.
Proof.
move=> hs I I' E r r'; have G x : gone M x = gone M' x by rewrite (gone_set I) (gone_set I').
have A : after M a b = after M' a b by apply: eq_tiles => x _; rewrite /marked G.
have rE : r.1 = r'.1.
  by rewrite /= A /RefInhabited.range_verdict; congr RefInhabited.verdict; apply: eq_all => i; rewrite G.
split=> // q; case w : ((r.1 =? PPRF_OK) && puncture); last first.
  have w' := w; rewrite rE in w'; have same := @post_shape M s P I puncture asked a b failing hidden q w.
  exact: etrans same (etrans (E q) (esym (@post_shape M' s' P I' puncture asked a b failing hidden q w'))).
have w' := w; rewrite rE in w'; have [_ T few _] := fitting I w.
have at1 := good_at I (post_good I puncture asked a b failing); have at1' := good_at I' (post_good I' puncture asked a b failing).
move: at1 at1'; rewrite !postE w w' -A => at1 at1'; apply: put_shape T few at1 at1' _ => pq.
rewrite f_beside; last by case: pq => nv _ [].
rewrite f_beside; last by case: pq => nv _ [].
exact: esym (shape_plain hs I I' E pq).
Qed.

Theorem packed_functions_meet (hidden : pred pointer) : (forall q, hidden q -> seed_cell place q) ->
  packed_meets_contracts S d hidden place packed_functions fresh_key.
Proof.
move=> hs; split=> [M s P c o I|M M' s s' P c o I I' E].
  case: c => [x|x|a b]; rewrite /opt_does /key_call_of.
  - by split; [exact: eval_meets I _ _ | exact: post_typed I false true _ _ _].
  - by split; [exact: eval_punct_meets I _ _ | exact: post_typed I true true _ _ _].
  case: ifP => _.
    by split; [exact: punct_meets I _ _ | exact: post_typed I true false _ _ _].
  by split; [exact: range_meets I _ _ _ | exact: post_typed I true false _ _ _].
have same pu as_ a b := @run_same hidden M M' s s' P pu as_ a b o.1 hs I I' E; rewrite /opt_does.
case: c => [x|x|a b]; [exact: same | exact: same |].
by case: ifP => _; [exact: (same true false (sval a) (sval a)) | exact: (same true false (sval a) (sval b))].
Qed.

Lemma packed_fails M (s : block S) (P : pred bitseq) c (o : order bool) : in_ M s P ->
  Z.of_nat (d * seq.count (fun x => P (leaf_path d (N.of_nat x)) || erases c (N.of_nat x)) (iota 0 (2 ^ d))) < OPT_PAGES_MAX ->
  prg_error (suite_logic S) (opt_does packed_functions M (words_of s) c o).1 -> o.1.
Proof.
have one (x y : N) : (y =? x)%num = (x <=? y)%num && (y <=? x)%num.
  by apply/N.eqb_spec/andP => [->|[/N.leb_spec0 ? /N.leb_spec0 ?]]; [split; apply/N.leb_spec0 | ]; lia.
move=> I; rewrite /opt_does; case: c => [x|x|a b] few.
- by case/(post_refused I) => // -[].
- by case/(post_refused I) => // -[_]; have := after_few I (one (sval x)) few; lia.
case: ifP => [/andP [_ /N.eqb_spec e]|_]; case/(post_refused I) => // -[_].
  by rewrite {2}e; have := @after_few _ _ _ I (sval a) (sval b) _ (fun x => erefl) few; lia.
by have := @after_few _ _ _ I (sval a) (sval b) _ (fun x => erefl) few; lia.
Qed.

End Inhabited.

(* A call fails only when the adversary says so, unless more leaves would be punctured than the arena's pages surely
   hold; with pprf_punct for a range of one leaf, or without. *)
Theorem packed_inhabited (S : suite) (d : nat) : suite_ok S -> (0 < d <= 63)%N ->
  exists (l : packed_layout) (F : opt_functions bool) (U : pprf_seed -> memory),
  forall hidden : pred pointer, (forall q, hidden q -> seed_cell l q) ->
    [/\ packed_ready S d hidden l U, packed_meets_contracts S d hidden l F U &
        forall M (s : block S) P c o, packed_in d l U M s P ->
          let gone x := P (leaf_path d (N.of_nat x)) || erases c (N.of_nat x) in
          Z.of_nat (d * seq.count gone (iota 0 (2 ^ d))) < OPT_PAGES_MAX ->
          prg_error (suite_logic S) (opt_does F M (words_of s) c o).1 -> o.1].
Proof.
move=> ok d63; exists place, (packed_functions S d), (fresh_key S d) => hidden hs; split.
- exact: packed_ready_exists.
- exact: packed_functions_meet.
exact: packed_fails.
Qed.

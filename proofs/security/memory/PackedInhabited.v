(* SPDX-License-Identifier: Apache-2.0 *)
(* Memory as the theorem about packed keys assumes it exists, for every suite and depth (packed_ready_exists); more
   widely, a packed store with any tiles that cut the tree, one in a page (put_key, put_punctured). *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore AcslPacked KeyCalls PackedKey.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel EvaluationGame Oracle RefGame OptGame PackedGame.
From Pprf.proofs Require Import Correctness Layout AcslAgree AcslSound ApiSound KeySound PackedSound MemoryGame.
From Pprf.proofs Require Import RefSecurity OptSecurity RefInhabited PackedSecurity.
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

Fixpoint chain (s : Z) (ts : seq (Z * Z)) (e : Z) : Prop :=
  if ts is t :: ts' then t.1 = s /\ chain (s + 2 ^ high t) ts' e else s = e.

Lemma pow_pos h : 0 < 2 ^ Z.of_nat h.
Proof. by apply: Z.pow_pos_nonneg; lia. Qed.

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

Lemma put_beside ts R f q : fst q = 5 -> put ts R f q = f q.
Proof. by move=> q5; rewrite /put q5. Qed.

(* A cell for seeds is part of a place of the store, or zero. *)
Lemma put_outside M ts R P q : (forall t, List.In t ts -> tile_ok P t) -> count ts <= OPT_PAGES_MAX ->
  seed_cell place q -> page_of S place (with_cells M (put ts R (cell M))) q = None ->
  packed_at place (with_cells M (put ts R (cell M))) = (1, 0) -> put ts R (cell M) q = 0.
Proof.
move=> T few /andP [/lies_spanP [q1 q2] /Z.leb_spec0 q3] none at1; rewrite /= in q1 q2 q3.
rewrite /put q1 /=; have -> : within q (4612 * OPT_PAGES_MAX) by apply/withinP; lia.
case: Z.ltb_spec0 => // h; have e := Z.div_mod (snd q) 4612 ltac:(lia); have m := Z.mod_pos_bound (snd q) 4612 ltac:(lia).
rewrite Z.sub_0_r in q3; have i0 : 0 <= snd q / 4612 by apply: Z.div_pos; lia.
have iB : 0 <= snd q / 4612 < count ts by [].
move: none; rewrite /PackedGame.page_of at1; set L := with_cells _ _.
have := first_ofP (packed_pages L (1, 0)) (fun i => lies_in 2 (shift 1 (packed_page V0 L (1, 0) i) 4100) 0 (OPT_PAGE_SEEDS - 1) q).
case: first_of => // /(_ _ iB) no _; move/negP: no; case; apply/lies_spanP.
rewrite /packed_page -[points V0 (cell L (shift 1 (1, 0) 8))]/((4, 0) : pointer) (put_page M R T few iB).
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
split=> // s s' q; rewrite /shape.
have pl q' : plain place q' -> cell (fresh_key (words_of s')) q' = cell (fresh_key (words_of s)) q'.
  by case=> _ ns; exact: put_plain.
rewrite (page_of_same (I s) pl); case: (lies_in _ _ _ _ _) => //=; case: (hidden q) => //=.
case E : (page_of _ _ _ q) => [i|] //=; case ns : (seed_cell place q); last by apply: put_plain; rewrite ?ns.
have E' := E; rewrite -(page_of_same (I s) pl) in E'.
have z R' : page_of S place (fresh_key R') q = None -> cell (fresh_key R') q = 0.
  by move=> e; exact: put_outside T few ns e (at1 R').
by rewrite -[LHS]/(cell (fresh_key (words_of s)) q) -[RHS]/(cell (fresh_key (words_of s')) q) !z.
Qed.

End Inhabited.

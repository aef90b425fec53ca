(* SPDX-License-Identifier: Apache-2.0 *)
(* A key of opt in memory for every suite, every depth that the contracts have and every set of punctured leaves:
   memory that is ready for set-up (opt_ready_exists), and the cells of a store that holds the model's key
   (written_key), its bitmap computed from the set alone. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Oracle RefGame OptGame.
From Pprf.proofs Require Import Correctness Layout AcslAgree AcslSound ApiSound OptSecurity.
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

(* ---- Words of bits ------------------------------------------------------------------------------ *)

Fixpoint word_of (n : nat) (p : Z -> bool) : Z :=
  if n is n'.+1 then 2 * word_of n' (fun j => p (j + 1)) + Z.b2z (p 0) else 0.

Lemma of_nat0 : Z.of_nat 0 = 0. Proof. by []. Qed.

Lemma word_testbit n p j : 0 <= j -> Z.testbit (word_of n p) j = (j <? Z.of_nat n) && p j.
Proof.
elim: n p j => [|n IH] p j j0 /=.
  by rewrite Z.testbit_0_l of_nat0; case: Z.ltb_spec0 => //; lia.
rewrite Nat2Z.inj_succ; case: (Z.eq_dec j 0) => [->|jn].
  by rewrite Z.testbit_0_r; case: Z.ltb_spec0 => //; lia.
rewrite -[j in LHS]Z.succ_pred Z.testbit_succ_r ?IH; try lia.
rewrite (_ : Z.pred j + 1 = j); last lia.
by case: Z.ltb_spec0; case: Z.ltb_spec0 => //; lia.
Qed.

Lemma word_range n p : 0 <= word_of n p < 2 ^ Z.of_nat n.
Proof.
elim: n p => [|n IH] p /=; first by [].
have := IH (fun j => p (j + 1)); rewrite Nat2Z.inj_succ Z.pow_succ_r; last lia.
by case: (p 0) => /=; lia.
Qed.

Lemma eq_word n p q : (forall j, 0 <= j < Z.of_nat n -> p j = q j) -> word_of n p = word_of n q.
Proof.
elim: n p q => //= n IH p q E; congr (2 * _ + Z.b2z _); last by apply: E; lia.
by apply: IH => j jB; apply: E; lia.
Qed.

Lemma land_bit w i : 0 <= i -> Z.land w (Z.shiftl 1 i) <> 0 <-> Z.testbit w i.
Proof.
move=> i0; split=> [nz|b z].
  case b : (Z.testbit w i) => //; case: nz; apply: Z.bits_inj' => j j0.
  rewrite Z.land_spec Z.testbit_0_l Z.shiftl_1_l Z.pow2_bits_eqb //.
  by case: Z.eqb_spec => [<-|_]; rewrite ?b // andbF.
have := congr1 (fun v => Z.testbit v i) z.
by rewrite Z.land_spec Z.testbit_0_l Z.shiftl_1_l Z.pow2_bits_eqb // Z.eqb_refl b.
Qed.

(* ---- Levels: is a leaf of a block marked, is each of them? ---------------------------------------- *)

Section Levels.
Variable P : Z -> bool.

Fixpoint some_in (k : nat) (y : Z) : bool :=
  if k is k'.+1 then has (fun j => some_in k' (64 * y + Z.of_nat j)) (iota 0 64) else P y.
Fixpoint all_in (k : nat) (y : Z) : bool :=
  if k is k'.+1 then all (fun j => all_in k' (64 * y + Z.of_nat j)) (iota 0 64) else P y.

Lemma some_inP k y : some_in k.+1 y <-> exists2 j, 0 <= j < 64 & some_in k (64 * y + j).
Proof.
have -> : some_in k.+1 y = has (fun j => some_in k (64 * y + Z.of_nat j)) (iota 0 64) by [].
split=> [/hasP|[j jB h]].
  by case=> j; rewrite mem_iota => /andP [_ /ltP jB] h; exists (Z.of_nat j) => //; move: jB; rewrite add0n; lia.
apply/hasP; exists (Z.to_nat j); last by rewrite Z2Nat.id //; lia.
by rewrite mem_iota add0n; apply/ltP; lia.
Qed.

Lemma all_inP k y : all_in k.+1 y <-> forall j, 0 <= j < 64 -> all_in k (64 * y + j).
Proof.
have -> : all_in k.+1 y = all (fun j => all_in k (64 * y + Z.of_nat j)) (iota 0 64) by [].
split=> [/allP|] h.
  move=> j jB; have := h (Z.to_nat j); rewrite Z2Nat.id; last lia.
  by apply; rewrite mem_iota add0n; apply/ltP; lia.
apply/allP => j; rewrite mem_iota => /andP [_ /ltP jB]; apply: h; move: jB; rewrite add0n; lia.
Qed.

Lemma all_some k y : all_in k y -> some_in k y.
Proof.
elim: k y => //= k IH y /(proj1 (all_inP k y)) h; apply/some_inP; exists 0 => //.
by apply: IH; apply: h.
Qed.

Lemma some_leaf k y : some_in k y -> exists2 x, 64 ^ Z.of_nat k * y <= x < 64 ^ Z.of_nat k * (y + 1) & P x.
Proof.
elim: k y => [|k IH] y; first by move=> h; exists y => //; rewrite Z.pow_0_r; lia.
move=> /(proj1 (some_inP k y)) [j jB /IH [x xB Px]]; exists x => //.
rewrite Nat2Z.inj_succ Z.pow_succ_r; last lia.
have := Z.pow_pos_nonneg 64 (Z.of_nat k) ltac:(lia) ltac:(lia); nia.
Qed.

Lemma all_leaf k y x : all_in k y -> 64 ^ Z.of_nat k * y <= x < 64 ^ Z.of_nat k * (y + 1) -> P x.
Proof.
elim: k y => [|k IH] y; first by rewrite Z.pow_0_r => h xB; have -> : x = y by lia.
move=> /(proj1 (all_inP k y)) h; rewrite Nat2Z.inj_succ Z.pow_succ_r; last lia.
have p := Z.pow_pos_nonneg 64 (Z.of_nat k) ltac:(lia) ltac:(lia); set w := 64 ^ _ in p IH *; move=> xB.
have e := Z.div_mod x w ltac:(lia); have m := Z.mod_pos_bound x w ltac:(lia).
apply: (IH _ (h (x / w - 64 * y) _)); nia.
Qed.

End Levels.

Lemma eq_some_in P Q k y : (forall x, P x = Q x) -> some_in P k y = some_in Q k y.
Proof. by move=> E; elim: k y => [|k IH] y; [exact: E | exact: (eq_has (fun j => IH _))]. Qed.
Lemma eq_all_in P Q k y : (forall x, P x = Q x) -> all_in P k y = all_in Q k y.
Proof. by move=> E; elim: k y => [|k IH] y; [exact: E | exact: (eq_all (fun j => IH _))]. Qed.

#[local] Arguments word_of : simpl never.
#[local] Arguments some_in : simpl never.
#[local] Arguments all_in : simpl never.
(* ---- A key in memory -------------------------------------------------------------------------- *)

(* Block 1 holds the key, block 3 the slots, block 5 the value, block 10 + k level k of the bitmap. *)
Definition where_ : opt_layout := OptLayout (1, 0) (5, 0) 7 (fun v => (v, 0)) (0, 0).
Local Notation s := (store_of (1, 0)).

Section Inhabited.
Variable S : suite.
Hypothesis ok : suite_ok S.
Variable d : nat.
Hypothesis d32 : (0 < d <= 32)%N.
Local Notation D := (Z.of_nat d).
Local Notation V := (opt_logic S where_).
Local Notation V0 := (V (pprf_seed_intro 0 0)).

Definition head_cell (c : Z) : Z :=
  if c =? 1 then pprf_family_suite (family_words S)
  else if c =? 2 then pprf_family_salt_lo (family_words S)
  else if c =? 3 then pprf_family_salt_hi (family_words S)
  else if c =? 4 then D else if c =? 5 then Z.quot (D + 5) 6
  else if c =? 6 then 10 else if (7 <=? c) && (c <=? 12) then 3 + c
  else if c =? 14 then 3 else 0.

(* Before set-up. *)
Definition fresh : memory :=
  Memory (fun q => if fst q =? 1 then head_cell (snd q) else 0) (fun _ => True) (fun _ => True).

(* The bitmap of a set of leaves: on level k a bit says whether a leaf of its block is marked, another, above the
   leaves, whether each of them is. *)
Definition bitmap_cell (P : Z -> bool) (k c : Z) : Z :=
  if k =? 0 then word_of 64 (fun j => P (64 * c + j))
  else word_of 64 (fun j => (if Z.rem c 2 =? 0 then some_in else all_in) P (Z.to_nat k) (64 * Z.quot c 2 + j)).
Definition width (k : Z) : Z := if k =? 0 then words V0 D 0 else 2 * words V0 D k.

Definition headed (M : memory) : Prop := forall c, 0 <= c < 21 -> c <> 13 -> cell M (1, c) = head_cell c.

Record laid (P : Z -> bool) (M : memory) : Prop := {
  laid_rights : (forall q, may_read M q) /\ (forall q, may_write M q);
  laid_head : headed M;
  laid_bitmap : forall k c, 0 <= k <= 5 -> 0 <= c < width k -> cell M (10 + k, c) = bitmap_cell P k c
}.

Lemma D32 : 1 <= D <= 32.
Proof. by case/andP: d32 => /ltP ? /leP ?; lia. Qed.
Lemma DV R : definitions (V R).
Proof. exact: defined_definitions. Qed.
Lemma DAV R : api_definitions (V R).
Proof. exact: (proj2 (api_of_definitions _ _ _ _ _)). Qed.
Lemma DLV R : layout_definitions (V R).
Proof. exact: (proj1 (api_of_definitions _ _ _ _ _)). Qed.

Lemma pow2V R n : 0 <= n -> AcslRef.pow2 (V R) n = 2 ^ n.
Proof.
move=> n0; rewrite -(Z2Nat.id n) // (pow2_agree (DV R)) pow2E N2Z.inj_pow nat_N_Z //.
Qed.

Lemma apart n n' p p' lo hi lo' hi' : fst p <> fst p' ->
  separated [:: span n p lo hi; span n' p' lo' hi'].
Proof.
case: p p' => [b c] [b' c'] /= ne.
by split; [move=> r [<-|//] q [e _] [e' _]; case: ne; rewrite -[b]e -[b']e' | split; [move=> r [] |]].
Qed.

Lemma wordsV k : 0 <= k -> words V0 D k = if D >? 6 * k + 6 then 2 ^ (D - 6 * k - 6) else if D >? 6 * k then 1 else 0.
Proof. by move=> k0; rewrite /words; case: Z.gtb_spec => // h; apply: pow2V; lia. Qed.

(* A bit of a block of this tree is in a word. *)
Lemma in_words k y : 0 <= k < Z.quot (D + 5) 6 -> 0 <= y < 2 ^ (D - 6 * k) -> 0 <= Z.quot y 64 < words V0 D k.
Proof.
have B := D32; rewrite Z.quot_div_nonneg; try lia; move=> kB yB.
rewrite wordsV ?Z.quot_div_nonneg; try lia.
case: Z.gtb_spec => c.
  have E : 2 ^ (D - 6 * k) = 64 * 2 ^ (D - 6 * k - 6).
    by rewrite -[64]/(2 ^ 6)%Z -Z.pow_add_r; [f_equal; lia | lia | lia].
  by split; [lia | apply: Z.div_lt_upper_bound; lia].
case: Z.gtb_spec => c'; last lia.
have : 2 ^ (D - 6 * k) <= 2 ^ 6 by apply: Z.pow_le_mono_r; lia.
by rewrite -[2 ^ 6]/64; lia.
Qed.

Section Headed.
Variable M : memory.
Hypothesis H : headed M.

Lemma at_depth : cell M s = D. Proof. exact: (H (c := 4)). Qed.
Lemma at_levels : cell M (shift 1 s 1) = Z.quot (D + 5) 6. Proof. exact: (H (c := 5)). Qed.
Lemma at_leaves : cell M (shift 1 s 2) = 10. Proof. exact: (H (c := 6)). Qed.
Lemma at_slots : cell M (shift 1 s 10) = 3. Proof. exact: (H (c := 14)). Qed.
Lemma at_summary k : 0 <= k <= 5 -> cell M (shift 1 (shift 1 s 3) k) = 10 + k.
Proof.
move=> kB; have -> : shift 1 (shift 1 s 3) k = (1, 7 + k) by rewrite /shift /=; congr pair; lia.
rewrite H; try lia.
have [-> | [-> | [-> | [-> | [-> | ->]]]]] : k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 by lia.
all: by [].
Qed.

Lemma outside_value : outside_store V0 M s (span 1 (5, 0) 0 15).
Proof.
rewrite /outside_store at_depth at_leaves at_slots.
split; first exact: apart; split; first exact: apart; split; first exact: apart.
by move=> k kB; rewrite at_summary; [apply: apart => /=; lia | lia].
Qed.

End Headed.

Section Laid.
Variables (P : Z -> bool) (M : memory).
Hypothesis L : laid P M.
Let at_depth := at_depth (laid_head L).
Let at_levels := at_levels (laid_head L).
Let at_leaves := at_leaves (laid_head L).
Let at_slots := at_slots (laid_head L).
Let at_summary := at_summary (laid_head L).

Lemma some_word k i : 0 <= k < Z.quot (D + 5) 6 -> 0 <= i < words V0 D k ->
  any_word V0 M s k i = word_of 64 (fun j => some_in P (Z.to_nat k) (64 * i + j)).
Proof.
have B := D32; move=> kB iB; have l6 : Z.quot (D + 5) 6 <= 6 by rewrite Z.quot_div_nonneg; lia.
have W := laid_bitmap L (k := k); rewrite /any_word at_leaves at_summary; last lia.
rewrite /shift /points /bitmap_cell /width /= in W *; case: Z.eqb_spec W kB iB => [->|k0] W kB iB.
  have := W i ltac:(lia) iB; move=> /= <-.
  congr (cell M (_, _)); lia.
have := W (2 * i) ltac:(lia) ltac:(lia).
have -> : Z.rem (2 * i) 2 =? 0 by rewrite Z.mul_comm Z.rem_mul.
by rewrite (Z.mul_comm 2 i) Z.quot_mul // => <-; congr (cell M (_, _)); lia.
Qed.

Lemma all_word k i : 0 <= k < Z.quot (D + 5) 6 -> 0 <= i < words V0 D k ->
  full_word V0 M s k i = word_of 64 (fun j => all_in P (Z.to_nat k) (64 * i + j)).
Proof.
have B := D32; move=> kB iB; have l6 : Z.quot (D + 5) 6 <= 6 by rewrite Z.quot_div_nonneg; lia.
have W := laid_bitmap L (k := k); rewrite /full_word at_leaves at_summary; last lia.
rewrite /shift /points /bitmap_cell /width /= in W *; case: Z.eqb_spec W kB iB => [->|k0] W kB iB.
  have := W i ltac:(lia) iB; move=> /= <-.
  congr (cell M (_, _)); lia.
have := W (2 * i + 1) ltac:(lia) ltac:(lia).
rewrite Z.rem_mod_nonneg ?Z.quot_div_nonneg; try lia.
have -> : (2 * i + 1) mod 2 =? 0 = false by rewrite Z.add_comm Z.mul_comm Z_mod_plus_full.
have -> : (2 * i + 1) / 2 = i by rewrite Z.add_comm Z.mul_comm Z_div_plus_full.
by move=> <-; congr (cell M (_, _)); lia.
Qed.

Hypothesis inside : forall x, P x -> 0 <= x < 2 ^ D.
Local Notation top := (Z.quot (D + 5) 6).
Lemma top6 : 1 <= top <= 6 /\ 6 * (top - 1) < D <= 6 * top.
Proof. by have B := D32; rewrite Z.quot_div_nonneg; lia. Qed.

Lemma some_bound k y : 0 <= k < top -> some_in P (Z.to_nat k) y -> 0 <= y < 2 ^ (D - 6 * k).
Proof.
have B := top6; move=> kB /some_leaf [x xB /inside xd]; move: xB; rewrite Z2Nat.id; last lia.
have p := Z.pow_pos_nonneg 64 k ltac:(lia) ltac:(lia).
have E : 2 ^ D = 64 ^ k * 2 ^ (D - 6 * k).
  by rewrite -[64]/(2 ^ 6)%Z -Z.pow_mul_r -?Z.pow_add_r; try lia; f_equal; lia.
rewrite E in xd; set w := 64 ^ k in p xd *; set n := 2 ^ _ in xd *; move=> xB; split; nia.
Qed.

Lemma bit_word p i : 0 <= i -> bit V0 (word_of 64 p) (Z.rem i 64) <-> p (Z.rem i 64).
Proof.
move=> i0; have r := Z.rem_bound_pos i 64 ltac:(lia) ltac:(lia).
rewrite /bit land_bit ?word_testbit; try lia.
by have -> : Z.rem i 64 <? Z.of_nat 64 by apply/Z.ltb_spec0; lia.
Qed.

Lemma whole_index y : 64 * Z.quot y 64 + Z.rem y 64 = y.
Proof. by rewrite -Z.quot_rem'. Qed.

Lemma anyP k y : 0 <= k < top -> any V0 M s k y <-> 0 <= y /\ some_in P (Z.to_nat k) y.
Proof.
move=> kB; rewrite /any at_depth; split=> [[y0 [q b]]|[y0 h]].
  split=> //; move: b; rewrite some_word //; last by split=> //; apply: Z.quot_pos; lia.
  by move/(bit_word _ y0); rewrite whole_index.
have q := in_words kB (some_bound kB h); split=> //; split; first by case: q.
by rewrite some_word //; apply/bit_word => //; rewrite whole_index.
Qed.

Lemma fullP k y : 0 <= k < top -> full V0 M s k y <-> 0 <= y /\ all_in P (Z.to_nat k) y.
Proof.
move=> kB; rewrite /full at_depth; split=> [[y0 [q b]]|[y0 h]].
  split=> //; move: b; rewrite all_word //; last by split=> //; apply: Z.quot_pos; lia.
  by move/(bit_word _ y0); rewrite whole_index.
have q := in_words kB (some_bound kB (all_some h)); split=> //; split; first by case: q.
by rewrite all_word //; apply/bit_word => //; rewrite whole_index.
Qed.

Lemma to_natS k : 0 <= k -> Z.to_nat (k + 1) = (Z.to_nat k).+1.
Proof. by move=> k0; lia. Qed.

Lemma laid_opened : opened V0 M s.
Proof.
have B := top6; have B' := D32; have [rd wr] := laid_rights L.
have W r : writable M r by move=> q _; apply: wr.
have R r : readable M r by move=> q _; apply: rd.
split=> //; split; last first.
  rewrite at_depth at_leaves at_slots; split=> //.
  split; first exact: apart; split; first exact: apart; split; first exact: apart.
  move=> k kB; rewrite at_summary; last lia.
  by split; apply: apart => /=; lia.
split.
  rewrite /AcslApi.layout at_depth at_levels at_leaves; do 4 (split=> //); split.
    move=> k kB; rewrite at_summary; last lia.
    by split=> //; split; apply: apart => /=; lia.
  split; last exact: apart.
  by move=> k m kB; rewrite !at_summary; try lia; apply: apart => /=; lia.
rewrite /levels_agree /full_any /any_up /full_up /any_down /no_more /no_more_at at_levels at_depth; split.
  by move=> k y kB /(fullP _ kB) [y0 h]; apply/anyP => //; split=> //; apply: all_some.
split.
  move=> k y kB _ /(@anyP k y ltac:(lia)) [y0 h]; left; apply/anyP; first lia.
  split; first by apply: Z.quot_pos; lia.
  rewrite to_natS; last lia.
  apply/some_inP; exists (Z.rem y 64); last by rewrite whole_index.
  by apply: Z.rem_bound_pos; lia.
split.
  move=> k w kB wB _ E; exists (k + 1); rewrite at_levels; split; first lia.
  rewrite Z.sub_diag; apply/fullP; first lia.
  rewrite -[block_of _ w 0]/w; split; first lia; rewrite to_natS; last lia.
  apply/all_inP => j jB; move: E; rewrite all_word; [|lia..] => E.
  have := @word_testbit 64 (fun j => all_in P (Z.to_nat k) (64 * w + j)) j ltac:(lia); rewrite E.
  rewrite (_ : 18446744073709551615 = Z.ones 64) // Z.ones_spec_low; last lia.
  by case/esym/andP.
split.
  move=> k w kB wB /(@anyP (k + 1) w ltac:(lia)) [w0]; rewrite to_natS; last lia.
  case/some_inP => j jB h; right; rewrite some_word; [|lia..] => E.
  have := @word_testbit 64 (fun j => some_in P (Z.to_nat k) (64 * w + j)) j ltac:(lia); rewrite E h Z.testbit_0_l.
  by have -> : j <? Z.of_nat 64 by apply/Z.ltb_spec0; lia.
move=> y yB /(@anyP (top - 1) y ltac:(lia)) [y0 /(@some_bound (top - 1) y ltac:(lia))].
by move: yB; rewrite /blocks pow2V; lia.
Qed.

Lemma block_ofE x k : 0 <= x -> 0 <= k <= 5 -> block_of V0 x k = x / 64 ^ k.
Proof.
move=> x0 kB; have [-> | [-> | [-> | [-> | [-> | ->]]]]] : k = 0 \/ k = 1 \/ k = 2 \/ k = 3 \/ k = 4 \/ k = 5 by lia.
all: rewrite /block_of /= ?Z.quot_div_nonneg //; try lia.
Qed.

Lemma laid_punctured x : 0 <= x < 2 ^ D -> AcslOpt.is_punctured V0 M s x <-> P x.
Proof.
have B := top6; move=> xB; rewrite (is_punctured_def _ (DAV _)) at_depth pow2V; last lia.
split=> [[_ [j [jB]]]|Px].
  rewrite at_levels Z.sub_0_r in jB *; move=> F.
  have [_ h] := proj1 (@fullP j (block_of V0 x j) ltac:(lia)) F; apply: all_leaf h _.
  rewrite block_ofE ?Z2Nat.id; try lia.
split=> //; exists 0; rewrite at_levels; split; first lia.
by apply/fullP; [lia | split; [apply: block_of_pos; lia | rewrite block_ofE ?Z.pow_0_r ?Z.div_1_r //; lia]].
Qed.

End Laid.

(* ---- What a function writes ----------------------------------------------------------------------- *)

Definition key_of (P : Z -> bool) (R : pprf_seed) : key (block S) :=
  punctured_key (V R) d (fun y => P (Z.of_N (leaf_num y))) R.

Definition written (P : Z -> bool) (R : pprf_seed) (f : pointer -> Z) (q : pointer) : Z :=
  if (10 <=? fst q) && (fst q <=? 15) && (0 <=? snd q) && (snd q <? width (fst q - 10)) then
    bitmap_cell P (fst q - 10) (snd q)
  else if (fst q =? 3) && (0 <=? snd q) && (snd q <? 2 * slots d) then
    slot_word d (key_of P R) (snd q / 2) (snd q mod 2)
  else if (fst q =? 1) && (snd q =? 13) then Z.of_nat (size (key_of P R))
  else f q.

Definition set_in (M : memory) (x : Z) : bool := is_punctured_b V0 M s x.

Section Call.
Variable M : memory.
Hypothesis rights : (forall q, may_read M q) /\ (forall q, may_write M q).
Hypothesis head : headed M.
Let h_depth := at_depth head.
Let h_levels := at_levels head.

Lemma set_inside x : set_in M x -> 0 <= x < 2 ^ D.
Proof.
rewrite /set_in /is_punctured_b h_depth pow2V; last lia.
by case: Z.ltb_spec => // x0; case: Z.geb_spec.
Qed.

Lemma set_inP x : set_in M x <-> AcslOpt.is_punctured V0 M s x.
Proof.
apply: (@is_punctured_bP V0 (DAV _)); rewrite h_levels.
by have B := D32; rewrite Z.quot_div_nonneg; lia.
Qed.

Lemma written_laid (P : Z -> bool) R (g : pointer -> Z) : (forall q, fst q < 3 \/ 10 <= fst q -> g q = written P R (cell M) q) ->
  laid P (with_cells M g).
Proof.
move=> E; split=> // [c cB c13|k c kB cB] /=.
  rewrite E /written /=; last by left.
  by case: Z.eqb_spec => // _; apply: head.
rewrite E /written /=; last by right; lia.
have -> : 10 + k - 10 = k by lia.
case: Z.leb_spec0 => //; last lia; case: Z.leb_spec0 => //; last lia; case: Z.leb_spec0 => //; last lia.
by case: Z.ltb_spec0 => //; lia.
Qed.

Lemma written_key (P : Z -> bool) R (g : pointer -> Z) : (forall x, P x -> 0 <= x < 2 ^ D) ->
  (forall q, fst q <> 5 -> g q = written P R (cell M) q) ->
  store_holds (V R) (with_cells M g) s d (fun y => P (Z.of_N (leaf_num y))) R.
Proof.
move=> inside E; have L : laid P (with_cells M g) by apply: written_laid => q qB; apply: E; lia.
have slotE j w : 0 <= j < slots d -> 0 <= w < 2 ->
    cell (with_cells M g) (shift 1 (store_slot (V R) (with_cells M g) s j) w) = slot_word d (key_of P R) j w.
  move=> jB wB; rewrite /store_slot (at_slots (laid_head L)) /= E /written /shift /pprf_seed_cells /=; last by [].
  have -> : 0 + 2 * j + 1 * w = j * 2 + w by lia.
  rewrite Z.div_add_l // Z.div_small // Z.add_comm Z_mod_plus_full Z.mod_small //.
  have -> : j + 0 = j by lia.
  case: Z.leb_spec0 => //; last lia.
  by case: Z.ltb_spec0 => //; lia.
have pairB n : List.In n (key_of P R) -> 0 <= pair_of d n.1 < slots d.
  move=> nK; rewrite /pair_of /slots; split; first exact: N2Z.is_nonneg.
  have qd : (size n.1 <= d)%nat.
    by have := map_fst_in nK; rewrite mem_cover => /and3P [].
  have := first_leaf_end qd; have g0 := pow2_gt0 (d - size n.1).
  case: (d) d32 g0 => // e _ g0; rewrite [_.-1]/= Layout.pow2S => le.
  by apply/N2Z.inj_lt/N.div_lt_upper_bound; lia.
split.
- exact: (at_depth (laid_head L)).
- exact: (laid_opened L inside).
- move=> x xd; have xB : 0 <= Z.of_N x < 2 ^ D.
    rewrite -(pow2V (pprf_seed_intro 0 0)); last lia.
    by rewrite (pow2_agree (DV _)); lia.
  rewrite -[AcslOpt.is_punctured _ _ _ _]/(AcslOpt.is_punctured V0 (with_cells M g) s (Z.of_N x)).
  by rewrite (laid_punctured L inside xB) leaf_pathK.
- move=> n nK; have jB := pairB n nK; rewrite /pprf_seed_at !slotE //.
  rewrite /slot_word; case F : [seq m <- key_of P R | pair_of d m.1 =? pair_of d n.1] => [|m ms].
    by have := filter_none F nK; rewrite Z.eqb_refl.
  have [mK /Z.eqb_spec mE] := in_filter F.
  have mn : m.1 = n.1.
    apply: (@pair_slot_injective _ (@acsl_family (V R) d) d _ (seed_value (V R) R)); [exact: map_fst_in mK | exact: map_fst_in nK |].
    by move: mE; rewrite /pair_of; lia.
  have -> : n.2 = m.2.
    by rewrite (key_seed (DV R) nK) (key_seed (DV R) mK) mn.
  by have [_ _ e] := proj2 ok m.2.
- move=> j jB nj q [q1 q2]; rewrite /pprf_seed_cells in q2.
  have -> : q = shift 1 (store_slot (V R) (with_cells M g) s j) (snd q - snd (store_slot (V R) (with_cells M g) s j)).
    by rewrite [LHS]surjective_pairing q1 /shift; congr pair; lia.
  rewrite slotE //; last lia.
  rewrite /slot_word; case F : [seq m <- key_of P R | pair_of d m.1 =? j] => [//|m ms].
  have [mK /Z.eqb_spec mE] := in_filter F; case: nj; rewrite -mE.
  by apply: (List.in_map (fun n => pair_of d n.1)).
rewrite /store_nodes /= E //.
Qed.

End Call.

Lemma fresh_laid : laid (fun _ => false) fresh.
Proof.
have w0 n p : (forall j, p j = false) -> word_of n p = 0.
  by move=> E; apply: Z.bits_inj' => j j0; rewrite word_testbit // E Z.testbit_0_l andbF.
have none k y : some_in (fun _ => false) k y = false.
  by apply/negP; case/some_leaf.
have none' k y : all_in (fun _ => false) k y = false.
  by apply/negP => /all_some; rewrite none.
split=> // k c kB cB; rewrite /fresh /=; case: Z.eqb_spec => [|_]; first lia.
by rewrite /bitmap_cell; case: ifP => _; rewrite w0 // => j; case: ifP => _; rewrite ?none ?none'.
Qed.

(* For every suite and every depth of the theorems there is a memory ready for set-up. *)
Theorem opt_ready_exists shown : all (in_bitmap S d where_ fresh) shown -> opt_ready S d shown where_ fresh.
Proof.
move=> shown_; have L := fresh_laid; have inside x : (fun _ : Z => false) x -> 0 <= x < 2 ^ D by [].
have k5 k : 1 <= k <= 5 -> cell fresh (shift 1 (shift 1 s 3) k) = 10 + k by move=> kB; apply: (at_summary (laid_head L)); lia.
split.
- by split; [exact: d32 | exact: (at_depth (laid_head L))].
- split; last by split.
  split; first by case.
  split; first by case.
  by rewrite -[tree_family _ _]/(pprf_family_intro (head_cell 1) (head_cell 2) (head_cell 3) = family_words S) /head_cell /=; case: (family_words S).
- split; first exact: (laid_opened L inside).
  move=> x xd; have xB : 0 <= Z.of_N x < 2 ^ D.
    by rewrite -(pow2V (pprf_seed_intro 0 0)) ?(pow2_agree (DV _)); lia.
  by rewrite (laid_punctured L inside xB).
- by split=> -[b c] [/= -> _].
split=> //; split.
  rewrite /key_apart (at_depth (laid_head L)) (at_leaves (laid_head L)) (at_slots (laid_head L)).
  split; first exact: apart; split; first exact: apart.
  by move=> k kB; rewrite k5 //; apply: apart => /=; lia.
by split=> //; [exact: apart | exact: outside_value (laid_head L)].
Qed.

End Inhabited.

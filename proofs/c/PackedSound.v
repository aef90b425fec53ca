(* SPDX-License-Identifier: Apache-2.0 *)
(* What a packed store holds, as the translated predicates say: every place of a seed holds the seed that the model's
   key gives its tile, or zero (packed_seeds_from_cover); the leaves outside live tiles are the punctured ones
   (packed_live). *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslPacked AcslStore KeyCalls PackedKey.
From Pprf.proofs Require Import Correctness Layout ContractsSound AcslAgree KeySound.
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

(* ---- The model: a node below one of the key ------------------------------------------------------ *)

Section Model.

Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.

Lemma eval_cover_free d (P : pred bitseq) p s q : (size q <= d)%nat -> free d P q ->
  eval G (cover G d P p s) (p ++ q) = Some (descend G p s q).
Proof.
elim: d P p s q => [|d IH] P p s q sq.
  by case: q sq => // _; rewrite /free /= cats0; case: (P [::]) => //= _; rewrite prefix_refl /eval_node drop_size.
case h: (has_leaf d.+1 P); last first.
  by rewrite cover_no_leaf ?h //= prefix_prefix /eval_node /= drop_size_cat.
case: q sq => [|b q] sq; first by rewrite /free /= -/(has_leaf d.+1 P) h.
rewrite free_cons cover_has_leafS // eval_cat.
move: sq; case: b => sq f; [rewrite (eval_other _ _ _ _ _ true) | rewrite (eval_other _ _ _ _ _ false)];
  by rewrite -cat_rcons IH.
Qed.

End Model.

(* ---- Numbers ------------------------------------------------------------------------------------ *)

Lemma first_ofP n p : if first_of n p is Some k then 0 <= k < n /\ p k else forall k, 0 <= k < n -> p k = false.
Proof.
rewrite /first_of; case E : [seq k <- iota 0 (Z.to_nat n) | p (Z.of_nat k)] => [|k ks].
  move=> k kB; apply/negP => pk; have : Z.to_nat k \in [seq k <- iota 0 (Z.to_nat n) | p (Z.of_nat k)].
    rewrite mem_filter Z2Nat.id; last lia.
    by rewrite pk mem_iota add0n; apply/andP; split=> //; apply/ltP; lia.
  by rewrite E.
have : k \in [seq k <- iota 0 (Z.to_nat n) | p (Z.of_nat k)] by rewrite E inE eqxx.
by rewrite mem_filter mem_iota add0n => /andP [pk /andP [_ /ltP kn]]; split=> //; lia.
Qed.

Section Sound.

Variable V : paged.
Hypothesis D : definitions V.
Hypothesis DP : packed_definitions V.
Local Notation prg := (@acsl_prg V).
Local Notation prgl := (ContractsSound.prg_l prg).
Local Notation prgr := (ContractsSound.prg_r prg).

Lemma pow2_pos h : 0 <= h -> 1 <= AcslRef.pow2 V h.
Proof. by move=> h0; rewrite -(Z2Nat.id h h0) (pow2_agree D); have := pow2_gt0 (Z.to_nat h); lia. Qed.

(* ---- A node's seed is the model's --------------------------------------------------------------- *)

Lemma descend_node d R q : (size q <= d)%nat ->
  descend (@acsl_family V d) [::] R q = Contracts.node_seed prgl prgr R d (first_leaf d q) (d - size q).
Proof.
elim/last_ind: q => [|q b IH] sq; first by rewrite /Contracts.node_seed /first_leaf /= subn0 subnn.
have qd : (size q < d)%nat by rewrite size_rcons in sq.
rewrite -cats1 descend_cat IH ?(ltnW qd) // cat0s /= cats1 first_leaf_rcons // size_rcons.
have hE : (d - size q = (d - (size q).+1).+1)%nat by rewrite subnSK.
have it : CModel.in_tree d (first_leaf d q) (d - size q).
  by rewrite /CModel.in_tree leq_subr andTb; apply/andP; split; [apply/alignedP/aligned_first/ltnW | apply/N.leb_spec0/first_leaf_end/ltnW].
rewrite hE in it *; rewrite /child /acsl_family /family hE; clear sq; case: b.
  by rewrite (@ContractsSound.node_seed_right _ prg R _ _ _ it).
by rewrite N.add_0_r (@ContractsSound.node_seed_left _ prg R _ _ _ it).
Qed.

Section Node.

Variables (d : nat) (s h : Z).
Hypothesis T : AcslRef.tree_node V (Z.of_nat d) s h.

Lemma node_bounds : 0 <= h <= Z.of_nat d /\ 0 <= s.
Proof.
by have [s' [h' [sE hE]]] := tree_node_natural D T; have := tree_node_bounds D T; lia.
Qed.

Lemma node_pathP : [/\ size (node_path d s h) = (d - Z.to_nat h)%nat, first_leaf d (node_path d s h) = Z.to_N s &
  (Z.to_nat h <= d)%nat].
Proof.
have [hB s0] := node_bounds; have hd : (Z.to_nat h <= d)%nat by apply/leP; lia.
move: T; have {1}-> : s = Z.of_N (Z.to_N s) by lia.
have {1}-> : h = Z.of_nat (Z.to_nat h) by lia.
move/(tree_node_agree D)/andP => [_ /is_node_atP]; rewrite subnKC // => -[[x xE] le].
have g := pow2_gt0 (Z.to_nat h).
rewrite /node_path /first_leaf size_leaf_path subKn // xE N.div_mul; last lia.
split=> //; rewrite leaf_pathK //.
have e : CModel.pow2 d = (CModel.pow2 (d - Z.to_nat h) * CModel.pow2 (Z.to_nat h))%num by rewrite -pow2D subnK.
by move: le; rewrite e xE; nia.
Qed.

Lemma eval_node_path (P : pred bitseq) R :
  (forall x, (x < CModel.pow2 d)%num -> covers V s h (Z.of_N x) -> ~~ P (leaf_path d x)) ->
  eval (@acsl_family V d) (punctured_key V d P R) (node_path d s h) =
    Some (AcslRef.node_seed V (seed_value V R) (Z.of_nat d) s h).
Proof.
move=> live; have [sz fl hd] := node_pathP; have [hB s0] := node_bounds.
have qd : (size (node_path d s h) <= d)%nat by rewrite sz leq_subr.
have F : free d P (node_path d s h).
  rewrite -(nhas_leaf_free _ qd) sz fl subKn //; apply/nhas_leafP => -[x xB Px].
  have le := first_leaf_end qd; rewrite sz fl subKn // in le.
  have /andP [/N.leb_spec0 x1 /N.ltb_spec0 x2] : in_span (Z.to_N s) (Z.to_nat h) x := xB.
  have xd : (x < CModel.pow2 d)%num by lia.
  have c : covers V s h (Z.of_N x).
    by rewrite /covers -(Z2Nat.id h) ?(pow2_agree D); lia.
  by move/negP: (live x xd c); rewrite Px.
have := eval_cover_free (@acsl_family V d) [::] (seed_value V R) qd F; rewrite cat0s => ->.
congr Some; rewrite descend_node // sz fl subKn //.
rewrite -{2}(Z2N.id s s0) -{2}(Z2Nat.id h); last lia.
rewrite (@node_seed_agree V D (seed_value V R) d (d - Z.to_nat h) (Z.to_nat h)) ?subnKC //.
move: T; rewrite -{1}(Z2N.id s s0) -{1}(Z2Nat.id h); last lia.
by move/(tree_node_agree D)/andP => [].
Qed.

End Node.

(* ---- A row of tiles ------------------------------------------------------------------------------ *)

Section Row.

Variables (L : memory) (tile : pointer) (n first : Z) (d : Z).
Hypothesis RT : row_tiles V L tile n first d.
Local Notation byte k := (tile_byte V L tile k).
Local Notation start k := (tile_start V L tile first k).
Local Notation before k := (seeds_before V L tile k).

Lemma start0 : start 0 = first. Proof. by rewrite (tile_start_def V DP). Qed.
Lemma before0 : before 0 = 0. Proof. by rewrite (seeds_before_def V DP). Qed.
Lemma startS k : 0 <= k -> start (k + 1) = start k + AcslRef.pow2 V (tile_height V (byte k)).
Proof.
move=> k0; rewrite (tile_start_def V DP) (_ : k + 1 - 1 = k); last lia.
by case: Z.leb_spec0 => //; lia.
Qed.
Lemma beforeS k : 0 <= k -> before (k + 1) = before k + tile_seeds V (byte k).
Proof.
move=> k0; rewrite (seeds_before_def V DP) (_ : k + 1 - 1 = k); last lia.
by case: Z.leb_spec0 => //; lia.
Qed.

Lemma tile_size k : 0 <= k < n -> 1 <= AcslRef.pow2 V (tile_height V (byte k)).
Proof. by move=> kB; apply: pow2_pos; have [bB [_ _]] := RT kB; rewrite /tile_height; case: Z.ltb_spec0; lia. Qed.

Lemma starts_ascend i k : 0 <= i < k -> k <= n -> start i + AcslRef.pow2 V (tile_height V (byte i)) <= start k.
Proof.
move=> ik; have -> : k = i + 1 + Z.of_nat (Z.to_nat (k - i - 1)) by lia.
elim: (Z.to_nat _) => [|m IH] kn.
  by rewrite (_ : Z.of_nat 0 = 0) // Z.add_0_r startS; lia.
rewrite (_ : i + 1 + Z.of_nat m.+1 = i + 1 + Z.of_nat m + 1); last lia.
have := IH ltac:(lia); have := tile_size (k := i + 1 + Z.of_nat m) ltac:(lia).
by rewrite startS; lia.
Qed.

Lemma starts_from k : 0 <= k <= n -> first <= start k.
Proof.
move=> kB; case: (Z.eq_dec k 0) => [->|k0]; first by rewrite start0; lia.
have := starts_ascend (i := 0) (k := k); rewrite start0 => /(_ ltac:(lia) ltac:(lia)).
by have := tile_size (k := 0) ltac:(lia); lia.
Qed.

Lemma before_pos m : 0 <= before (Z.of_nat m).
Proof.
elim: m => [|m IH]; first by rewrite before0.
by rewrite (_ : Z.of_nat m.+1 = Z.of_nat m + 1) ?beforeS /tile_seeds; try lia; case: (_ <? _); lia.
Qed.

(* Each place of a seed has its tile. *)
Lemma place_has_tile m j : 0 <= j < before (Z.of_nat m) ->
  exists2 k, 0 <= k < Z.of_nat m & 64 <= byte k /\ before k = j.
Proof.
elim: m => [|m IH]; first by rewrite before0; lia.
rewrite (_ : Z.of_nat m.+1 = Z.of_nat m + 1) ?beforeS; [|lia..] => jB.
case: (Z.lt_ge_cases j (before (Z.of_nat m))) => c.
  by have [k kB kP] := IH ltac:(lia); exists k => //; lia.
exists (Z.of_nat m); first lia.
by move: jB; rewrite /tile_seeds; case: Z.ltb_spec0; lia.
Qed.

(* Each leaf has its tile. *)
Lemma leaf_has_tile m x : first <= x < start (Z.of_nat m) ->
  exists2 k, 0 <= k < Z.of_nat m & covers V (start k) (tile_height V (byte k)) x.
Proof.
elim: m => [|m IH]; first by rewrite start0; lia.
rewrite (_ : Z.of_nat m.+1 = Z.of_nat m + 1) ?startS; [|lia..] => xB.
case: (Z.lt_ge_cases x (start (Z.of_nat m))) => c.
  by have [k kB kP] := IH ltac:(lia); exists k => //; lia.
by exists (Z.of_nat m); [lia | rewrite /covers; lia].
Qed.

Lemma one_tile i k x : 0 <= i < n -> 0 <= k < n -> covers V (start i) (tile_height V (byte i)) x ->
  covers V (start k) (tile_height V (byte k)) x -> i = k.
Proof.
rewrite /covers => iB kB ci ck; have := starts_ascend (i := i) (k := k); have := starts_ascend (i := k) (k := i); lia.
Qed.

End Row.

(* ---- A store ------------------------------------------------------------------------------------- *)

Section Store.

Variables (L : memory) (R : pprf_seed) (p : pointer) (d : nat).
Hypothesis H : packed_holds V L (seed_value V R) p.
Hypothesis dE : cell L (shift 1 p 1) = Z.of_nat d.
Local Notation pages := (packed_pages L p).
Local Notation block i := (packed_page V L p i).
Local Notation byte i k := (byte_at V L p i k).
Local Notation start i k := (start_at V L p i k).
Local Notation tiles i := (page_tiles V L p i).

Lemma page_row_holds i : 0 <= i < pages ->
  [/\ page_fits V L (block i), 1 <= tiles i & row_holds V L (seed_value V R) (Z.of_nat d) (page_row V L (block i)) (tiles i)
     (packed_first V L p i) (page_end V L p i) (page_top V L (block i)) (cell L (shift 1 (block i) 2))].
Proof. by move=> iB; case: H => _ /(_ i iB) [F [t]]; rewrite dE. Qed.

Lemma row_of i : 0 <= i < pages -> row_tiles V L (page_row V L (block i)) (tiles i) (packed_first V L p i) (Z.of_nat d).
Proof. by move=> iB; have [_ _ [_ [_ [_ [_ []]]]]] := page_row_holds iB. Qed.

Lemma row_end i : 0 <= i < pages -> start i (tiles i) = page_end V L p i.
Proof. by move=> iB; have [_ _ [_ [_ []]]] := page_row_holds iB. Qed.

Lemma end_first i k : 0 <= i < k -> k < pages -> page_end V L p i <= packed_first V L p k.
Proof.
move=> ik kB; have [_ [_ [_ [_ [_ [_ [A _]]]]]]] := proj1 H.
rewrite /page_end; case: Z.ltb_spec0; rewrite -/(packed_pages L p); last lia.
move=> _; case: (Z.eq_dec k (i + 1)) => [->|ne]; first exact: Z.le_refl.
by have := A (i + 1) k ltac:(rewrite -/(packed_pages L p); lia); rewrite /packed_first; lia.
Qed.

Lemma tile_inside i k x : 0 <= i < pages -> 0 <= k < tiles i -> covers V (start i k) (tile_height V (byte i k)) x ->
  packed_first V L p i <= x < page_end V L p i.
Proof.
move=> iB kB [x1 x2]; have RT := row_of iB.
have := starts_from RT (k := k) ltac:(lia); have := starts_ascend RT (i := k) (k := tiles i) ltac:(lia) ltac:(lia).
by have := row_end iB; rewrite /start_at /byte_at in x1 x2 *; lia.
Qed.

Lemma one_page i a x : 0 <= i < pages -> 0 <= a < pages -> packed_first V L p i <= x < page_end V L p i ->
  packed_first V L p a <= x < page_end V L p a -> i = a.
Proof. by move=> iB aB; have := end_first (i := i) (k := a); have := end_first (i := a) (k := i); lia. Qed.

(* A live tile's leaves are not punctured. *)
Lemma live_not_punctured x i k : live_at V L p x i k -> ~ packed_punctured V L p x.
Proof.
case=> iB kB b64 c /(packed_punctured_def V DP) [a [aB [j [jB [bj cj]]]]].
have ia := one_page iB aB (tile_inside iB kB c) (tile_inside aB jB cj); subst a.
have e := one_tile (row_of iB) kB jB c cj; subst j.
by move: bj; rewrite -/(packed_page V L p i) -/(byte_at V L p i k); lia.
Qed.

Theorem packed_live x : 0 <= x < AcslRef.pow2 V (Z.of_nat d) ->
  ~ packed_punctured V L p x <-> exists i k, live_at V L p x i k.
Proof.
move=> xB; split=> [np|[i [k]]]; last exact: live_not_punctured.
have [_ [_ [n1 [_ [_ [f0 [_ _]]]]]]] := proj1 H.
have page m : Z.of_nat m < pages -> x < page_end V L p (Z.of_nat m) ->
    exists2 i, 0 <= i < pages & packed_first V L p i <= x < page_end V L p i.
  elim: m => [|m IH] mB xm.
    by rewrite (_ : Z.of_nat 0 = 0) // in mB xm; exists 0; [lia | rewrite /packed_first f0; lia].
  case: (Z.lt_ge_cases x (packed_first V L p (Z.of_nat m.+1))) => c; last by exists (Z.of_nat m.+1); lia.
  apply: IH; first lia.
  rewrite /page_end; case: Z.ltb_spec0; rewrite -/(packed_pages L p); last lia.
  by rewrite (_ : Z.of_nat m + 1 = Z.of_nat m.+1); last lia.
have [i iB xi] : exists2 i, 0 <= i < pages & packed_first V L p i <= x < page_end V L p i.
  apply: (page (Z.to_nat (pages - 1))); rewrite -/(packed_pages L p) in n1 *; first lia.
  rewrite /page_end; case: Z.ltb_spec0; rewrite -/(packed_pages L p); first lia.
  by rewrite dE; lia.
have [k kB c] := @leaf_has_tile L (page_row V L (block i)) (packed_first V L p i) (Z.to_nat (tiles i)) x
  ltac:(rewrite Z2Nat.id -/(start_at V L p i (tiles i)) ?row_end //; have [_ t1 _] := page_row_holds iB; lia).
have [_ t1 _] := page_row_holds iB; exists i, k; split=> //; first lia.
case: (Z.lt_ge_cases (byte i k) 64) => // b64; case: np; apply/(packed_punctured_def V DP).
by exists i; split=> //; exists k; split; [rewrite -/(page_tiles V L p i); lia | split].
Qed.

(* What a place of a seed holds. *)
Theorem packed_seeds_from_cover (P : pred bitseq) i j : packed_owns V L p ->
  (forall x, (x < CModel.pow2 d)%num -> packed_punctured V L p (Z.of_N x) <-> P (leaf_path d x)) ->
  0 <= i < pages -> 0 <= j < OPT_PAGE_SEEDS ->
  let w := pprf_seed_at L (place_at V L p i j) in
  if seed_of_place L p d (punctured_key V d P R) i j is Some v then seed_value V w = v else zero_seed V w.
Proof.
case=> _ [own _] set iB jB w; have [F t1 [_ [[n0 _] [_ [mE [RT RS]]]]]] := page_row_holds iB.
rewrite /seed_of_place; have := first_ofP (tiles i) (fun k =>
    (64 <=? byte i k) && (seeds_before V L (page_row V L (block i)) k =? j)).
rewrite -/(tile_of_place V L p i j); case: tile_of_place => [k [kB /andP [/Z.leb_spec0 b64 /Z.eqb_spec jE]]|none].
  have [_ [_ T]] := RT k kB; rewrite -/(byte_at V L p i k) -/(start_at V L p i k) in T.
  rewrite (eval_node_path T) => [|x xd c].
    by have := RS k kB ltac:(rewrite -/(byte_at V L p i k); lia); rewrite jE.
  apply/negP => /(set x xd); apply: (@live_not_punctured (Z.of_N x) i k); split=> //.
have jm : cell L (shift 1 (block i) 2) <= j.
  case: (Z.lt_ge_cases j (cell L (shift 1 (block i) 2))) => // c; rewrite -mE in c.
  have tE : tiles i = Z.of_nat (Z.to_nat (tiles i)) by lia.
  rewrite tE in c.
  have [k kB [b64 e]] := @place_has_tile L (page_row V L (block i)) _ j (conj (proj1 jB) c).
  have := none k ltac:(lia); rewrite /byte_at e Z.eqb_refl andbT.
  by case: Z.leb_spec0 => //; lia.
have [_ clean] := own i iB; have := clean (OPT_PAGE_SEEDS - 1 - j) ltac:(rewrite -/(packed_page V L p i); lia).
rewrite /zero_place /w /place_at /page_top /shift /=.
by rewrite (_ : forall a, a + 1 * 4100 + 2 * OPT_PAGE_SEEDS + 2 * (- 1 - j) = a + 1 * 4100 + 2 * (OPT_PAGE_SEEDS - 1 - j)) //; lia.
Qed.

End Store.

(* ---- After any calls ------------------------------------------------------------------------------- *)

(* A packed key, of any depth up to 63: whatever was called, its live tiles are the leaves that the model has not
   punctured, and each place of a seed holds what the model's key gives it. *)
Theorem packed_calls_sound (key out : pointer) L d (P : pred bitseq) cs : packed V L key ->
  holds_key V key L d P -> value_place V key out L -> were_made V key out L cs ->
  let L' := memory_after L cs in let P' := punctured_by d P cs in
  let p := points V (cell L' (shift 1 (store_of key) 16)) in
  (forall x, (x < CModel.pow2 d)%num -> ~~ P' (leaf_path d x) <-> exists i k, live_at V L' p (Z.of_N x) i k) /\
  (forall i j, 0 <= i < packed_pages L' p -> 0 <= j < OPT_PAGE_SEEDS ->
     let w := pprf_seed_at L' (place_at V L' p i j) in
     if seed_of_place L' p d (punctured_key V d P' (key_root V)) i j is Some v then seed_value V w = v
     else zero_seed V w).
Proof.
move=> pk H A made L' P' p; have [[_ _ _ [[_ [K _]] dE] set] e] := key_calls_hold D H A made.
have pk' : packed V L' key by rewrite /packed -[shift 1 key 4]/(store_of key) e.
have [/(packed_key_def V DP) [PH [PO _]] [dE' _]] := K pk'.
have {}dE : cell L' (shift 1 p 1) = Z.of_nat d by rewrite -dE -dE'.
have set' x : (x < CModel.pow2 d)%num -> packed_punctured V L' p (Z.of_N x) <-> P' (leaf_path d x).
  by move=> xd; rewrite -(set x xd) /punctured; split=> [h|[[_ h]|[np _]]]; [by left | exact: h | by case: np].
split=> [x xd|i j iB jB]; last exact: (packed_seeds_from_cover PH dE PO set').
have xB : 0 <= Z.of_N x < AcslRef.pow2 V (Z.of_nat d) by rewrite (pow2_agree D); lia.
rewrite -(packed_live PH dE xB) (set' x xd).
by case: (P' _); split=> // h; case: h.
Qed.

End Sound.

(* ---- The definitions can be met, and there is a key -------------------------------------------------- *)

Section Exist.

Variables (T : logic) (root : pprf_seed) (process : Z).

Theorem packed_definitions_exist leads nowhere pages firsts lists :
  let V := packed_of T root process leads nowhere pages firsts lists in definitions V /\ packed_definitions V.
Proof.
move=> V; split; first exact: defined_definitions.
split=> //=.
- move=> L tile first i; case: Z.leb_spec0 => c; first by have -> : Z.to_nat i = 0%nat by lia.
  have -> : Z.to_nat i = (Z.to_nat (i - 1)).+1 by lia.
  by rewrite /= Z2Nat.id //; lia.
- move=> L tile i; case: Z.leb_spec0 => c; first by have -> : Z.to_nat i = 0%nat by lia.
  have -> : Z.to_nat i = (Z.to_nat (i - 1)).+1 by lia.
  by rewrite /= Z2Nat.id //; lia.
move=> L p k; case: Z.leb_spec0 => c; first by have -> : Z.to_nat k = 0%nat by lia.
have -> : Z.to_nat k = (Z.to_nat (k - 1)).+1 by lia.
by rewrite /= Z2Nat.id //; lia.
Qed.

(* Block 1 has the store, with the index of its one page; block 2 the pages, blocks 3 and 4 other indices, block 5 the
   key, block 6 the value. *)
Variable family : pprf_family.

Definition fresh_leads (v : Z) : pointer := if v =? 1 then (1, 9) else if v =? 2 then (1, 10) else if v =? 4 then (1, 0) else (2, 0).
Definition fresh_store (d : Z) : memory :=
  Memory (fun q =>
    if fst q =? 1 then nth 0 [:: 1; d; 4096; 0; 1; 1; 0; 1; 2; 0; 3] (Z.to_nat (snd q))
    else if fst q =? 2 then
      if snd q =? 0 then 4096 else if snd q =? 1 then 1 else if snd q =? 2 then 1
      else if snd q =? 4 then 64 + d
      else if snd q =? 4610 then pprf_seed_lo root else if snd q =? 4611 then pprf_seed_hi root else 0
    else if fst q =? 5 then
      if snd q =? 1 then pprf_family_suite family else if snd q =? 2 then pprf_family_salt_lo family
      else if snd q =? 3 then pprf_family_salt_hi family
      else if snd q =? 4 then d else if snd q =? 20 then 4 else 0
    else 0) (fun _ => True) (fun _ => True).

Lemma apart_spans n m p q lo hi lo' hi' :
  fst p <> fst q \/ snd p + n * (hi + 1) <= snd q + m * lo' \/ snd q + m * (hi' + 1) <= snd p + n * lo ->
  separated [:: span n p lo hi; span m q lo' hi'].
Proof.
move=> ne; split=> [r [<-|//] x [a1 a2] [b1 b2]|]; last by split=> // r [].
by move: ne; rewrite -a1 -b1 => -[//|]; lia.
Qed.

Lemma apart3 (a b c : AcslMemory.region) : separated [:: a; b] -> separated [:: a; c] -> separated [:: b; c] ->
  separated [:: a; b; c].
Proof.
move=> [A _] [B _] C; split; last exact: C.
by move=> r [<-|[<-|//]]; [exact: (A _ (or_introl erefl)) | exact: (B _ (or_introl erefl))].
Qed.

Local Notation fresh_api := (packed_of T root process fresh_leads (0, 0) (2, 0) (3, 0) (4, 0)).

Lemma packed_fresh_store d : 1 <= d <= 63 -> let V := fresh_api in
  packed_key V (fresh_store d) (seed_value V root) (1, 0) /\ forall x, ~ packed_punctured V (fresh_store d) (1, 0) x.
Proof.
move=> dB V; set L := fresh_store d.
have [DV DPV] := packed_definitions_exist fresh_leads (0, 0) (2, 0) (3, 0) (4, 0); rewrite -/V in DV DPV.
have h64 : tile_height V (64 + d) = d by rewrite /tile_height; case: Z.ltb_spec0; lia.
have page0 : packed_page V L (1, 0) 0 = (2, 0) by [].
have s0 : tile_start V L (page_row V L (2, 0)) 0 0 = 0 by [].
have s1 : tile_start V L (page_row V L (2, 0)) 0 (0 + 1) = AcslRef.pow2 V d.
  by rewrite (startS DPV) // s0 -[tile_byte _ _ _ _]/(64 + d) h64 Z.add_0_l.
have b1 : seeds_before V L (page_row V L (2, 0)) (0 + 1) = 1.
  by rewrite (beforeS DPV) // (before0 DPV) -[tile_byte _ _ _ _]/(64 + d) /tile_seeds; case: Z.ltb_spec0; lia.
have i0 i : 0 <= i /\ i < 1 -> i = 0 by lia.
have N : tree_node V d 0 d.
  by rewrite /tree_node (is_node_root DV) //; lia.
split; last first.
  move=> x /(packed_punctured_def V DPV) [i [/i0 -> [k [/i0 -> [b _]]]]].
  by move: b; rewrite -[tile_byte _ _ _ _]/(64 + d); lia.
apply/(packed_key_def V DPV); split; last split; last split; last split.
- split.
    split=> //; split; first by [].
    split; first by [].
    split; first by [].
    split; first by [].
    split; first by [].
    split; first by move=> i k [? [?]]; rewrite -[cell L (shift 1 (1, 0) 4)]/1; lia.
    by move=> i /i0 ->; rewrite -[cell L _]/0 -[cell L _]/d; have := pow2_pos DV (h := d); lia.
  move=> i /i0 ->; rewrite -[points V _]/(2, 0) -[cell L (shift 1 (points _ _) _)]/0.
  split; first by split=> //; rewrite /page_bytes /=; lia.
  split; first by [].
  split; first by rewrite -[cell L _]/d; lia.
  split; first by [].
  split; first by rewrite -[cell L (shift 1 (2, 0) 1)]/(0 + 1) s1.
  split; first by rewrite -[cell L (shift 1 (2, 0) 1)]/(0 + 1) b1.
  split=> k /i0 ->.
    by rewrite /tile_is_node s0 -[tile_byte _ _ _ _]/(64 + d) /byte_of_node h64 -[cell L _]/d; split; [lia | split; [lia |]].
  rewrite /tile_has_seed s0 -[tile_byte _ _ _ _]/(64 + d) /seed_of_node h64 -[cell L _]/d => _.
  by rewrite (node_seed_top DV) //; lia.
- split; last split; last first.
  + by move=> i k [? [?]]; rewrite -[cell L (shift 1 (1, 0) 4)]/1; lia.
  + move=> i /i0 ->; split; first by exists 0.
    rewrite -[points V _]/(2, 0) => j [j0]; rewrite -[cell L _]/1; rewrite /OPT_PAGE_SEEDS => jB.
    split; rewrite /pprf_seed_at /= /shift /=; repeat (case: Z.eqb_spec => //; try lia).
  rewrite /index_apart -[points V (cell L (shift 1 (1, 0) 7))]/(1, 9) -[points V (cell L (shift 1 (1, 0) 8))]/(1, 10).
  rewrite -[cell L (shift 1 (1, 0) 5)]/1 -[cell L (shift 1 (1, 0) 4)]/1 -[opt_pages V]/(2, 0); rewrite /OPT_PAGES_MAX.
  do 2 (split; first by []); split; first exact: Z.le_refl.
  do 2 (split; first by []); split; first by apply: apart3; apply: apart_spans; rewrite /=; lia.
  by do 14 (split; first by apply: apart_spans; rewrite /=; lia); apply: apart_spans; rewrite /=; lia.
- by [].
- split; first by change (34 * d + 64 <= 4096 /\ 4096 <= 4096); lia.
  by move=> k /i0 ->; change (8 + 1 + 16 * 1 <= 4096); lia.
rewrite /index_memory -[opt_firsts V]/(3, 0) -[opt_lists V]/(4, 0); rewrite /OPT_INDEX_MAX.
do 2 (split; first by []); do 2 (split; first by apply: apart_spans; rewrite /=; lia).
by split; [exact: Z.le_refl | left].
Qed.

(* A fresh packed key of every depth, beside a place for values. *)
Theorem packed_key_exists d : (1 <= d <= 63)%nat -> AcslRef.tree_family T family ->
  let L := fresh_store (Z.of_nat d) in
  [/\ packed fresh_api L (5, 0), holds_key fresh_api (5, 0) L d pred0 & value_place fresh_api (5, 0) (6, 0) L].
Proof.
move=> /andP [/leP d1 /leP d63] fam L; have [DV DPV] := packed_definitions_exist fresh_leads (0, 0) (2, 0) (3, 0) (4, 0).
have [K np] := packed_fresh_store (d := Z.of_nat d) ltac:(lia).
have pk : packed fresh_api L (5, 0) by move=> e; discriminate e.
split=> //.
  split; [by move=> e; discriminate e | by case=> /(_ erefl) | exact: fam | |].
    split; last by [].
    split; first by []; split; last by move=> /(_ pk).
    move=> _; split; first exact: K; split; first by [].
    apply/(apart_from_packed_def _ DPV).
    do 3 (split; first by apply: apart_spans; left=> e; discriminate e).
    by apply: apart_spans; left=> e; discriminate e.
  by move=> x _; split=> // -[[_ h]|[/(_ pk)]] //; case: (np _ h).
split; [by move=> e; discriminate e | by [] | by [] |].
split; first by apply: apart_spans; left=> e; discriminate e.
split=> [_|/(_ pk)] //; apply/(value_apart_def _ DPV).
do 3 (split; first by apply: apart_spans; left=> e; discriminate e).
by apply: apart_spans; left=> e; discriminate e.
Qed.

End Exist.

(* SPDX-License-Identifier: Apache-2.0 *)
(* A key file of an enemy.  What ref_decode accepts is an array of nodes in order, whose seeds may be
   any; the operations require one whose seeds come from a root.  In each of two readings it is one: with a
   single seed, and over the tree that has the file's seeds at the file's nodes. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import Correctness Layout ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslImport.
From Pprf.proofs Require Import AcslAgree.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.
#[local] Arguments Z.mul : simpl never.
#[local] Arguments Z.add : simpl never.
#[local] Arguments Z.sub : simpl never.
#[local] Arguments Z.of_nat : simpl never.
#[local] Arguments CModel.pow2 : simpl never.

Section One.

Variable V : logic.
Hypothesis D : definitions V.
Local Notation W := (one_seed V).

Lemma one_seed_definitions : definitions W.
Proof.
split; try exact: pow2_def D; try exact: is_node_def D; try exact: message_of_def D; try exact: byte_def D.
by move=> R d s h; case: (h >=? d) => /=; [case: R | case: is_node].
Qed.

Lemma canonical_inv L R d a n : canonical V L d a n <-> inv W L R d a n.
Proof.
by split=> -[ok [so mx]]; split=> // k kn; have := ok k kn; rewrite /correct_node /node_shape /=; [tauto | tauto].
Qed.

End One.

Section Grafted.

Variable V : logic.
Hypothesis D : definitions V.
Variables (L : memory) (a : pointer) (n d : Z).
Hypothesis C : canonical V L d a n.
Local Notation W := (grafted V L a n).
Local Notation at_ k := (ref_node_at L (shift 4 a k)).
Local Notation start_ k := (ref_node_start (at_ k)).
Local Notation height_ k := (ref_node_height (at_ k)).

Lemma grafted_definitions : definitions W.
Proof.
split; try exact: pow2_def D; try exact: is_node_def D; try exact: message_of_def D; try exact: byte_def D.
move=> R e s h /=; case c: (h >=? e); first by have -> : Z.to_nat (e - h) = 0%nat by lia.
by have -> : Z.to_nat (e - h) = (Z.to_nat (e - (h + 1))).+1 by lia.
Qed.

Lemma pos h : 0 <= h -> 0 < pow2 V h.
Proof. by move=> h0; rewrite -(Z2Nat.id h) // (pow2_agree D); have := pow2_gt0 (Z.to_nat h); lia. Qed.

Lemma node_ok k : 0 <= k < n -> 0 <= height_ k <= d /\ 0 < pow2 V (height_ k) /\ tree_node V d (start_ k) (height_ k).
Proof.
case: C => ok _ kn; have [_ [_ T]] := ok k kn; have B := tree_node_bounds D T.
by split=> //; split=> //; apply: pos; lia.
Qed.

Lemma stored_some m s h v : (m <= Z.to_nat n)%nat -> stored L a m s h = Some v ->
  exists2 k, 0 <= k < n & [/\ start_ k = s, height_ k = h & ref_node_seed (at_ k) = v].
Proof.
elim: m => //= m IH mn; case: ifP => [/andP [/Z.eqb_spec sE /Z.eqb_spec hE] [vE]|_]; last exact/IH/ltnW.
by exists (Z.of_nat m) => //; move/ltP: mn; lia.
Qed.

Lemma stored_at m k : (m <= Z.to_nat n)%nat -> 0 <= k < Z.of_nat m ->
  stored L a m (start_ k) (height_ k) = Some (ref_node_seed (at_ k)).
Proof.
elim: m => [|m IH] mn kB /=; first by lia.
have mB : 0 <= Z.of_nat m < n by move/ltP: mn; lia.
case: (Z.eq_dec k (Z.of_nat m)) => [->|km]; first by rewrite !Z.eqb_refl.
have kn : 0 <= k < n by lia.
case: ifP => [/andP [/Z.eqb_spec sE _]|_]; last by apply: IH; [exact: ltnW | lia].
case: C => _ [so _]; have := so k (Z.of_nat m) ltac:(lia); rewrite /before.
have [_ [p _]] := node_ok kn; have {}sE : start_ (Z.of_nat m) = start_ k := sE.
by rewrite sE; lia.
Qed.

(* The root's seed that the file leaves open, unless the root is its node. *)
Definition any_root : pprf_seed :=
  if stored L a (Z.to_nat n) 0 d is Some v then v else pprf_seed_intro 0 0.

Lemma grafted_inv : inv W L (seed_value V any_root) d a n.
Proof.
case: (C) => ok [so mx]; split=> // k kn; have [hd [le T]] := ok k kn; split=> //; split=> //; split=> //.
have n0 : 0 <= n by lia.
have [[h0 _] _] := node_ok kn.
have at_k := @stored_at (Z.to_nat n) k (leqnn _) ltac:(lia).
change (seed_value V (ref_node_seed (at_ k)) = node_seed W (seed_value V any_root) d (start_ k) (height_ k)).
case: (Z.eq_dec (height_ k) d) => [hE|hN].
  have sE : start_ k = 0.
    by move: T; rewrite /tree_node hE (is_node_root D); [case: Z.eqb_spec | lia].
  by move: at_k; rewrite hE sE /= Z.sub_diag /any_root => ->.
rewrite (node_seed_step grafted_definitions); last by lia.
have hE : height_ k + 1 - 1 = height_ k by lia.
case: ifP => _ /=; first by rewrite /graft_l /graft hE at_k.
have sE : start_ k - pow2 V (height_ k) + pow2 V (height_ k) = start_ k by lia.
by move: sE; rewrite /graft_r /graft hE => ->; rewrite at_k.
Qed.

(* At the nodes of the file and below them the PRG is V's. *)
Lemma grafted_prg k s h v : 0 <= k < n -> 1 <= h -> start_ k <= s ->
  s + pow2 V h <= start_ k + pow2 V (height_ k) ->
  prg_l W v s h = prg_l V v s h /\ prg_r W v s h = prg_r V v s h.
Proof.
move=> kn h1 ks sk; have [_ [pk _]] := node_ok kn.
have ph : 0 < pow2 V (h - 1) by apply: pos; lia.
have p2 : pow2 V h = 2 * pow2 V (h - 1).
  by rewrite -(pow2_step D); [congr pow2; lia | lia].
have none t : s <= t -> t + pow2 V (h - 1) <= s + pow2 V h -> stored L a (Z.to_nat n) t (h - 1) = None.
  move=> st ts; case e: (stored _ _ _ _ _) => [u|] //.
  have [l ln [lE hE _]] := stored_some (leqnn _) e.
  exfalso; case: C => _ [so _]; case: (Z.lt_trichotomy k l) => [kl|[kl|kl]].
  - by have := so k l ltac:(lia); rewrite /before; lia.
  - by rewrite kl in ks sk; rewrite hE in sk; lia.
  by have := so l k ltac:(lia); rewrite /before hE; lia.
by split; rewrite /= /graft_l /graft_r /graft none //; lia.
Qed.
End Grafted.

Section Sound.

Variable V : logic.
Hypothesis D : definitions V.

(* The leaves that no node of the array covers. *)
Definition not_covered (L : memory) (a : pointer) (n : Z) (p : bitseq) : bool :=
  all (fun k => let m := as_array V L a k in
    ~~ ((start m <=? leaf_num p)%num && (leaf_num p <? start m + CModel.pow2 (height m))%num))
    (iota 0 (Z.to_nat n)).

Lemma covered_not L a n d : 0 <= n -> canonical V L (Z.of_nat d) a n -> forall x, (x < CModel.pow2 d)%num ->
  covered V L a n (Z.of_N x) <-> ~~ not_covered L a n (leaf_path d x).
Proof.
move=> n0 C x xd; have nE : n = Z.of_nat (Z.to_nat n) by lia.
have I : inv (one_seed V) L tt (Z.of_nat d) a n by apply/canonical_inv.
rewrite nE in I; have [nat _] := proj1 (inv_agree (one_seed_definitions D) _ _ _ _ _) I.
change (covered V L a n (Z.of_N x)) with (covered (one_seed V) L a n (Z.of_N x)).
rewrite {1}nE (covered_agree (one_seed_definitions D) _ nat) /not_covered leaf_pathK // -has_predC.
split.
  case=> y /N2Z.inj <- [k kn [c1 c2]]; apply/hasP; exists k; first by rewrite mem_iota.
  by rewrite /= negbK; apply/andP; split; [apply/N.leb_spec0 | apply/N.ltb_spec0].
case/hasP => k; rewrite mem_iota /= negbK => kn /andP [/N.leb_spec0 c1 /N.ltb_spec0 c2].
by exists x => //; exists k.
Qed.

(* What the contracts of the operations require of an array, of any that ref_decode accepts. *)
Theorem ref_import_sound L a n d : 0 <= n -> canonical V L (Z.of_nat d) a n ->
  exists P : pred bitseq,
  (forall x, (x < CModel.pow2 d)%num -> covered V L a n (Z.of_N x) <-> ~~ P (leaf_path d x)) /\
  (let W := one_seed V in
   definitions W /\
   forall R, inv W L (seed_value W R) (Z.of_nat d) a n /\ holds L a n (key_nodes W d P R)) /\
  (let W := grafted V L a n in
   definitions W /\
   (exists R, inv W L (seed_value W R) (Z.of_nat d) a n /\ holds L a n (key_nodes W d P R)) /\
   forall k s h v, let c := ref_node_at L (shift ref_node_cells a k) in
     0 <= k < n -> 1 <= h -> ref_node_start c <= s ->
     s + pow2 V h <= ref_node_start c + pow2 V (ref_node_height c) ->
     prg_l W v s h = prg_l V v s h /\ prg_r W v s h = prg_r V v s h).
Proof.
move=> n0 C; have covers_at := covered_not n0 C; exists (not_covered L a n); split=> //.
have D1 := one_seed_definitions D; have D2 := grafted_definitions D L a n.
split.
  split=> // R; have I : inv (one_seed V) L (seed_value (one_seed V) R) (Z.of_nat d) a n by apply/canonical_inv.
  by split=> //; apply/(acsl_inv_cover D1).
split=> //; split; last by move=> k s h v c kn h1 ks sk; apply: (grafted_prg D C v kn h1 ks sk).
exists (any_root L a n (Z.of_nat d)); have I := grafted_inv D C.
by split=> //; apply/(acsl_inv_cover D2).
Qed.

(* ref_decode: the array of a key file, or zeros. *)
Theorem ref_decode_sound Pre Post a n d buf result :
  let len := record_at V d n + DIGEST_BYTES in
  let file := span 1 buf 0 (len - 1) in
  let nodes := span ref_node_cells a 0 (n - 1) in
  sized V len d n -> starts V Pre buf d n -> c_size_t n -> c_uint8_t (cell Pre buf) ->
  readable Pre file -> writable Pre nodes -> separated [:: file; nodes] ->
  ref_decode_contract V Pre Post a n d buf result ->
  List.In result [:: PPRF_OK; PPRF_ERR_FORMAT; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_OK -> key_file V Pre buf len d n /\ canonical V Post d a n /\ encodes V Post buf a n d) /\
  (result = PPRF_ERR_FORMAT -> ~ key_file V Pre buf len d n) /\
  (result <> PPRF_OK -> forall q, nodes q -> cell Post q = 0) /\
  unchanged Pre Post [:: nodes].
Proof.
move=> len file nodes sz st n64 c8 rd wr sep C.
case: C => [||U [_ [_ E]]].
- by split=> //; split=> //; case: sz => dB _; rewrite /c_unsigned; lia.
- by split.
have Er := ref_decode_ensures_results _ _ _ _ _ _ _ _ E.
have Ea := ref_decode_ensures_accepted _ _ _ _ _ _ _ _ E.
have Ek := ref_decode_ensures_key_file _ _ _ _ _ _ _ _ E.
have Ej := ref_decode_ensures_rejected _ _ _ _ _ _ _ _ E.
have Ee := ref_decode_ensures_error _ _ _ _ _ _ _ _ E.
split; first by case: Er => [->|[->|[[->|->] _]]] /=; tauto.
split; first by move=> ok; split; [exact: Ek | exact: Ea].
split; first exact: Ej.
by split=> // rK q qn; apply: (zero_cells (Ee rK)).
Qed.

End Sound.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The ACSL of ref, as translated in AcslRef.v, means what the model means: every fact holds of the
   definitions, the definitions can be met, the invariant is a cover, and a function that meets its
   contract does to a key in memory what the model does. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import Correctness Layout ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
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

Section Facts.

Variable V : logic.
Hypothesis D : definitions V.

Lemma pow2_step n : 0 <= n -> pow2 V (n + 1) = 2 * pow2 V n.
Proof.
move=> n0; rewrite (pow2_def V D (n + 1)).
have -> : (n + 1 <=? 0) = false by lia.
by have -> : n + 1 - 1 = n by lia.
Qed.

Lemma is_node_out d s h : h < 0 \/ h > d -> is_node V d s h = false.
Proof. by move=> H; rewrite (is_node_def V D); have -> : (h <? 0) || (h >? d) by nlia. Qed.

Lemma tree_node_bounds d s h : tree_node V d s h -> 0 <= h <= d.
Proof.
rewrite /tree_node => T; case: (Z.lt_ge_cases h 0) => c; first by rewrite is_node_out in T; lia.
by case: (Z.lt_ge_cases d h) => c'; first rewrite is_node_out in T; lia.
Qed.

Lemma is_node_root d s : 0 <= d -> is_node V d s d = (s =? 0).
Proof.
move=> d0; rewrite (is_node_def V D).
have -> : (d <? 0) || (d >? d) = false by lia.
by rewrite Z.eqb_refl; case: (s =? 0).
Qed.

Lemma is_node_step d s h : 0 <= h -> h < d ->
  is_node V d s h = is_node V d s (h + 1) || is_node V d (s - pow2 V h) (h + 1).
Proof.
move=> h0 hd; rewrite [LHS](is_node_def V D).
have -> : (h <? 0) || (h >? d) = false by lia.
have -> : (h =? d) = false by lia.
by case: (is_node V d s (h + 1)).
Qed.

Lemma node_seed_top R d s h : d <= h -> node_seed V R d s h = R.
Proof. by move=> dh; rewrite (node_seed_def V D); have -> : (h >=? d) = true by lia. Qed.

Lemma node_seed_step R d s h : h < d -> node_seed V R d s h =
  if is_node V d s (h + 1) then prg_l V (node_seed V R d s (h + 1)) s (h + 1)
  else prg_r V (node_seed V R d (s - pow2 V h) (h + 1)) (s - pow2 V h) (h + 1).
Proof. by move=> hd; rewrite [LHS](node_seed_def V D); have -> : (h >=? d) = false by lia. Qed.

Lemma byte_step v k : 0 <= k -> byte V v (k + 1) = byte V (Z.quot v 256) k.
Proof.
move=> k0; rewrite (byte_def V D v (k + 1)).
have -> : (k + 1 <=? 0) = false by lia.
by have -> : k + 1 - 1 = k by lia.
Qed.

Lemma message_step L p n : 0 <= n ->
  message_of V L p (n + 1) = then_ V (message_of V L p n) (cell L (shift 1 p n)).
Proof.
move=> n0; rewrite (message_of_def V D L p (n + 1)).
have -> : (n + 1 <=? 0) = false by lia.
by have -> : n + 1 - 1 = n by lia.
Qed.

Lemma same_node_at L1 L2 p q : same_node V L1 L2 p q -> ref_node_at L1 p = ref_node_at L2 q.
Proof.
case=> [E1 [E2 [E3 E4]]]; move: E1 E2 E3 E4; rewrite /ref_node_at /pprf_seed_at /=.
by move=> -> -> -> ->.
Qed.

Lemma same_at L1 L2 a lo hi k : same V L1 L2 a lo hi -> lo <= k -> k < hi ->
  ref_node_at L1 (shift 4 a k) = ref_node_at L2 (shift 4 a k).
Proof. by move=> S k1 k2; apply/same_node_at/S. Qed.

Lemma quot_bounds v : 0 <= v -> 256 * Z.quot v 256 <= v < 256 * Z.quot v 256 + 256.
Proof. by move=> v0; rewrite Z.quot_div_nonneg; lia. Qed.

Lemma eighth d : 1 <= d <= 32 -> 0 <= Z.quot d 8 <= 4.
Proof. by move=> d1; rewrite Z.quot_div_nonneg; lia. Qed.

(* Each fact that the C proofs use follows from the definitions; the lemmas have its name. *)
Lemma pow2_0 : fact_pow2_0 V.
Proof. by rewrite /fact_pow2_0 (pow2_def V D). Qed.
Lemma pow2_S : fact_pow2_S V.
Proof. by move=> n m n0 ->; rewrite pow2_step //; lia. Qed.

Lemma tn_root : fact_tn_root V.
Proof. by move=> d d0; rewrite /tree_node is_node_root //; lia. Qed.
Lemma tn_left : fact_tn_left V.
Proof.
move=> d s h g g0 -> T; rewrite /tree_node is_node_step; try (have := tree_node_bounds T; lia).
by rewrite T.
Qed.
Lemma tn_right : fact_tn_right V.
Proof.
move=> d s t h g g0 -> -> T; have B := tree_node_bounds T.
rewrite /tree_node is_node_step; try lia.
by rewrite (_ : s + _ - _ = s) ?T ?orbT //; lia.
Qed.
Lemma tn_parent : fact_tn_parent V.
Proof.
move=> d s t h g -> -> gd T; have B := tree_node_bounds T.
by move: T; rewrite /tree_node is_node_step; lia.
Qed.

Lemma node_seed_root : fact_node_seed_root V.
Proof. by move=> R d; rewrite node_seed_top //; lia. Qed.
Lemma node_seed_left : fact_node_seed_left V.
Proof.
move=> R d s h g g0 -> T; have B := tree_node_bounds T.
by rewrite node_seed_step ?T //; lia.
Qed.
Lemma node_seed_right : fact_node_seed_right V.
Proof.
move=> R d s t h g g0 -> -> T nT; have B := tree_node_bounds T.
rewrite node_seed_step; last by lia.
have -> : is_node V d (s + pow2 V g) (g + 1) = false by apply/negP => T'; case: nT.
by have -> : s + pow2 V g - pow2 V g = s by lia.
Qed.

Lemma message_of_reads : fact_message_of_reads V.
Proof.
move=> L1 L2 p n A; case: (Z.le_gt_cases n 0) => n0.
  rewrite [LHS](message_of_def V D) [RHS](message_of_def V D).
  by have -> : (n <=? 0) = true by lia.
have [k nE] : exists k, n = Z.of_nat k by exists (Z.to_nat n); lia.
rewrite {n n0}nE in A *; elim: k A => [|k IH] A.
  by rewrite [LHS](message_of_def V D) [RHS](message_of_def V D).
rewrite Nat2Z.inj_succ -Z.add_1_r !message_step; try lia.
rewrite IH; last first.
  by move=> q [q1 q2]; apply: A; split=> //; lia.
by rewrite (A (shift 1 p (Z.of_nat k))) //; split=> //=; lia.
Qed.
Lemma message_0 : fact_message_0 V.
Proof. by move=> L p; rewrite (message_of_def V D). Qed.
Lemma message_S : fact_message_S V.
Proof. by move=> L p n m n0 ->; rewrite message_step //; lia. Qed.

Lemma byte_0 : fact_byte_0 V.
Proof. by move=> v v0; rewrite (byte_def V D). Qed.
Lemma byte_S : fact_byte_S V.
Proof.
move=> v u k l u0 uv k0 ->; rewrite byte_step; last lia.
by have -> : Z.quot v 256 = u by have := @quot_bounds v; lia.
Qed.
Lemma pow2_8 : fact_pow2_8 V.
Proof.
move=> n m n0 ->; have -> : n + 8 = n + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 by lia.
by rewrite !pow2_step; lia.
Qed.

Lemma record_0 : fact_record_0 V.
Proof. by move=> d; rewrite /record_at; lia. Qed.
Lemma record_S : fact_record_S V.
Proof. by move=> d i j ->; rewrite /record_at /id_bytes; lia. Qed.
Lemma record_mono : fact_record_mono V.
Proof. by move=> d i j d1 ij; rewrite /record_at /id_bytes; have := eighth d1; nia. Qed.
Lemma record_bound : fact_record_bound V.
Proof. by move=> d i d1 i0; rewrite /record_at; have := eighth d1; nia. Qed.
Lemma record_size : fact_record_size V.
Proof. by []. Qed.

Lemma nth_0 : fact_nth_0 V.
Proof. by move=> q; rewrite /nth_start (pow2_def V D) /=; lia. Qed.
Lemma nth_first : fact_nth_first V.
Proof. by move=> h; rewrite /nth_start; lia. Qed.
Lemma nth_even : fact_nth_even V.
Proof. by move=> q r h g h0 -> ->; rewrite /nth_start pow2_step; lia. Qed.
Lemma nth_odd : fact_nth_odd V.
Proof. by move=> q r h g h0 -> ->; rewrite /nth_start pow2_step; lia. Qed.
Lemma nth_twice : fact_nth_twice V.
Proof. by move=> q h g h0 ->; rewrite /nth_start pow2_step; lia. Qed.
Lemma nth_low : fact_nth_low V.
Proof. by move=> q h p q0; rewrite /nth_start; nia. Qed.
Lemma nth_index : fact_nth_index V.
Proof. by move=> q h p q0; rewrite /nth_start Z.quot_mul; lia. Qed.

Lemma quotient : fact_quotient V.
Proof. by move=> q r m p p1 mp E; nia. Qed.
Lemma division : fact_division V.
Proof. by move=> n p p1 n0; have := Z.quot_rem' n p; have := Z.rem_bound_pos n p; nia. Qed.
Lemma product : fact_product V.
Proof. by move=> n q p p1 q0 -> _; rewrite Z.quot_mul; lia. Qed.

Theorem acsl_facts : facts V.
Proof.
exact {|
  pow2_0_holds := pow2_0; pow2_S_holds := pow2_S; pow2_8_holds := pow2_8;
  tn_root_holds := tn_root; tn_left_holds := tn_left; tn_right_holds := tn_right;
  tn_parent_holds := tn_parent;
  node_seed_root_holds := node_seed_root; node_seed_left_holds := node_seed_left; node_seed_right_holds := node_seed_right;
  message_of_reads_holds := message_of_reads; message_0_holds := message_0;
  message_S_holds := message_S; byte_0_holds := byte_0; byte_S_holds := byte_S;
  record_0_holds := record_0; record_S_holds := record_S; record_mono_holds := record_mono;
  record_bound_holds := record_bound; record_size_holds := record_size;
  nth_0_holds := nth_0; nth_first_holds := nth_first; nth_even_holds := nth_even;
  nth_odd_holds := nth_odd; nth_twice_holds := nth_twice; nth_low_holds := nth_low;
  nth_index_holds := nth_index;
  quotient_holds := quotient; division_holds := division; product_holds := product |}.
Qed.

(* The lemmas, which WP proves as well. *)
Theorem inv_same : lemma_inv_same V.
Proof.
move=> L1 L2 R d a n S [ok [so mx]]; have at_ k := @same_at L1 L2 a 0 n k S.
split; last split.
- move=> k [k0 kn]; have := ok k (conj k0 kn); rewrite /correct_node at_ //; lia.
- move=> k l [k0 [kl ln]]; have := so k l (conj k0 (conj kl ln)).
  by rewrite !at_ //; lia.
- move=> k l [k0 [kl ln]]; have := mx k l (conj k0 (conj kl ln)).
  by rewrite !at_ //; lia.
Qed.
Theorem covered_same : lemma_covered_same V.
Proof.
move=> L1 L2 a n x S; have at_ k := @same_at L1 L2 a 0 n k S.
by split=> -[k [[k0 kn] C]]; exists k; split=> //; move: C; rewrite /covers_at at_.
Qed.

End Facts.

(* ---- The definitions can be met ----------------------------------------------------- *)

Section Exist.

Variable V : logic.  (* for the PRG and the digest *)

Lemma defined_definitions : definitions (defined V).
Proof.
split=> /=.
- move=> n; rewrite /pow2_to; case: (Z.leb_spec n 0) => c; first by have -> : Z.to_nat n = 0%nat by lia.
  have -> : Z.to_nat n = (Z.to_nat (n - 1)).+1 by lia.
  by rewrite pow2S; lia.
- move=> d s h; rewrite /is_node_of.
  case c: ((h <? 0) || (h >? d)); first by case: (Z.to_nat _) => [|e] /=; rewrite c.
  case e: (h =? d); first by case: (Z.to_nat _) => [|k] /=; rewrite c e; case: (s =? 0).
  have -> : Z.to_nat (d - h) = (Z.to_nat (d - (h + 1))).+1 by lia.
  by rewrite /= c e; case: (is_node_to _ _ s _).
- move=> R d s h; case c: (h >=? d); first by have -> : Z.to_nat (d - h) = 0%nat by lia.
  by have -> : Z.to_nat (d - h) = (Z.to_nat (d - (h + 1))).+1 by lia.
- move=> L p n; case: (Z.leb_spec n 0) => c; first by have -> : Z.to_nat n = 0%nat by lia.
  have -> : Z.to_nat n = (Z.to_nat (n - 1)).+1 by lia.
  by rewrite /= Z2Nat.id //; lia.
- move=> v k; case: (Z.leb_spec k 0) => c; first by have -> : Z.to_nat k = 0%nat by lia.
  by have -> : Z.to_nat k = (Z.to_nat (k - 1)).+1 by lia.
Qed.

(* Whatever the PRG and the digest: there are functions that the definitions describe. *)
Theorem acsl_definitions_exist : exists pow2 is_node node_seed byte message_of, definitions
  {| seed_t := seed_t V; seed_from_words := seed_from_words V; prg_l := prg_l V; prg_r := prg_r V;
     is_family := is_family V; prg_failed := prg_failed V;
     message_t := message_t V; no_bytes := no_bytes V; then_ := then_ V; digest := digest V;
     pow2 := pow2; is_node := is_node; node_seed := node_seed; byte := byte; message_of := message_of |}.
Proof. by do 5 eexists; apply: defined_definitions. Qed.

End Exist.

(* ---- The vocabulary, and the same over N -------------------------------------------- *)

Section Agree.

Variable V : logic.
Hypothesis D : definitions V.
Local Notation Seed := (seed_t V).
Local Notation prg := (@acsl_prg V).
Local Notation prgl := (ContractsSound.prg_l prg).
Local Notation prgr := (ContractsSound.prg_r prg).

Lemma pow2_agree h : pow2 V (Z.of_nat h) = Z.of_N (CModel.pow2 h).
Proof.
elim: h => [|h IH]; first by rewrite (pow2_def V D).
by rewrite Nat2Z.inj_succ -Z.add_1_r (pow2_step D) ?IH ?pow2S; lia.
Qed.

Lemma is_node_agree d e h s : (h + e)%nat = d ->
  is_node V (Z.of_nat d) s (Z.of_nat h) = (0 <=? s) && is_node_at e (Z.to_N s) h.
Proof.
elim: e h s => [|e IH] h s E.
  by rewrite -E addn0 (is_node_root D) /=; lia.
have hd : (Z.of_nat h < Z.of_nat d) by apply/Nat2Z.inj_lt/ltP; rewrite -E addnS ltnS leq_addr.
rewrite (is_node_step D) //; last lia.
have -> : Z.of_nat h + 1 = Z.of_nat h.+1 by lia.
rewrite !IH ?addSnnS // pow2_agree /=.
have -> : Z.to_N (s - Z.of_N (CModel.pow2 h)) = (Z.to_N s - CModel.pow2 h)%num by lia.
by case: (is_node_at e (Z.to_N s) _); case: (is_node_at e _ _); lia.
Qed.

Lemma tree_node_agree d s h :
  tree_node V (Z.of_nat d) (Z.of_N s) (Z.of_nat h) <-> Contracts.tree_node d s h.
Proof.
rewrite /Contracts.tree_node; case: leqP => hd.
  rewrite /tree_node (@is_node_agree d (d - h)) ?subnKC // N2Z.id.
  by have -> : (0 <=? Z.of_N s) = true by lia.
split=> // /(tree_node_bounds D) B.
by move/ltP: hd; lia.
Qed.

Lemma tree_node_natural d s h : tree_node V (Z.of_nat d) s h ->
  exists s' h', s = Z.of_N s' /\ h = Z.of_nat h'.
Proof.
move=> T; have B := tree_node_bounds D T; exists (Z.to_N s), (Z.to_nat h).
have hE : h = Z.of_nat (Z.to_nat h) by lia.
split; last by lia.
move: T; rewrite /tree_node hE (@is_node_agree d (d - Z.to_nat h)); first by case/andP => /Z.leb_spec0 s0 _; lia.
by apply: subnKC; apply/leP; lia.
Qed.

Lemma node_seed_agree R d e h s : (h + e)%nat = d -> is_node_at e s h ->
  node_seed V R (Z.of_nat d) (Z.of_N s) (Z.of_nat h) = node_seed_at prgl prgr R e s h.
Proof.
elim: e h s => [|e IH] h s E; first by rewrite -E addn0 (node_seed_top D) //; lia.
have hd : (Z.of_nat h < Z.of_nat d) by apply/Nat2Z.inj_lt/ltP; rewrite -E addnS ltnS leq_addr.
rewrite (node_seed_step D) //=.
have -> : Z.of_nat h + 1 = Z.of_nat h.+1 by lia.
have it := @is_node_agree d e h.+1; rewrite addSnnS in it.
rewrite (it _ E) N2Z.id; have -> : (0 <=? Z.of_N s) = true by lia.
rewrite andTb; case i': (is_node_at e s h.+1); first by move=> _; rewrite IH ?addSnnS.
move=> /= /andP [le i].
rewrite pow2_agree; have -> : Z.of_N s - Z.of_N (CModel.pow2 h) = Z.of_N (s - CModel.pow2 h)%num by nlia.
by rewrite IH ?addSnnS.
Qed.

Lemma leaf_value_agree R d x : (x < CModel.pow2 d)%num ->
  leaf_value V R (Z.of_nat d) (Z.of_N x) = Contracts.leaf_value prgl prgr R d x.
Proof.
move=> xd; rewrite /leaf_value (@node_seed_agree R d d 0 x) ?add0n //.
  by rewrite /Contracts.leaf_value /Contracts.node_seed subn0.
apply/is_node_atP; split; first by exists x; rewrite N.mul_1_r.
by rewrite add0n; have -> : CModel.pow2 0 = 1%num by []; lia.
Qed.

(* A structure with natural numbers is a node of the model. *)
Definition as_node (c : ref_node) : CModel.node Seed :=
  Node (Z.to_N (ref_node_start c)) (Z.to_nat (ref_node_height c)) (seed_value V (ref_node_seed c)).

Lemma as_node_is c m : node_is c m -> as_node c = m.
Proof. by case: m => s h k [] /= E1 E2 <-; rewrite /as_node E1 E2 N2Z.id Nat2Z.id. Qed.

Lemma correct_node_agree L R d p : correct_node V L R (Z.of_nat d) p <->
  let c := ref_node_at L p in
  node_is c (as_node c) /\ Contracts.correct_node prgl prgr R d (as_node c).
Proof.
rewrite /correct_node /=; set c := ref_node_at L p; split.
  case=> [hd [le [T S]]]; have [s [h [sE hE]]] := tree_node_natural T.
  have cE : node_is c (as_node c) by split; rewrite //= ?sE ?hE ?N2Z.id ?Nat2Z.id.
  split=> //; rewrite /Contracts.correct_node /= sE hE N2Z.id Nat2Z.id.
  rewrite sE hE in hd le T S.
  have T' : Contracts.tree_node d s h by apply/tree_node_agree.
  split; first by apply/leP; lia.
  split; first by rewrite !pow2_agree in le; lia.
  split=> //; rewrite S /Contracts.node_seed; move: T'; rewrite /Contracts.tree_node => /andP [hd' i].
  by rewrite (@node_seed_agree R d (d - h)) ?subnKC.
case=> -[/= sE hE _] [/= hd [le [T S]]]; rewrite sE hE; split; first by move/leP: hd; lia.
split; first by rewrite !pow2_agree; lia.
split; first exact/tree_node_agree.
rewrite S /Contracts.node_seed; move: T; rewrite /Contracts.tree_node => /andP [hd' i].
by rewrite (@node_seed_agree R d _ _ _ _ i) ?subnKC.
Qed.

(* The array at a, as the contracts over N see it. *)
Definition as_array (L : memory) (a : pointer) : Contracts.array Seed :=
  fun k => as_node (ref_node_at L (shift 4 a (Z.of_nat k))).
Definition natural (L : memory) (a : pointer) (n : nat) : Prop :=
  forall k, (k < n)%nat -> let c := ref_node_at L (shift 4 a (Z.of_nat k)) in node_is c (as_node c).

Lemma correct_nodes_agree L R d a n : correct_nodes V L R (Z.of_nat d) a (Z.of_nat n) <->
  natural L a n /\ Contracts.correct_nodes prgl prgr R d (as_array L a) n.
Proof.
split=> [ok|[nat ok] k kn].
  by split=> k /ltP kn; have /correct_node_agree [? ?] := ok (Z.of_nat k) ltac:(lia).
have -> : k = Z.of_nat (Z.to_nat k) by lia.
have kn' : (Z.to_nat k < n)%nat by apply/ltP; lia.
by apply/correct_node_agree; split; [apply: nat | apply: ok].
Qed.

Lemma inv_agree L R d a n : inv V L R (Z.of_nat d) a (Z.of_nat n) <->
  natural L a n /\ Contracts.inv prgl prgr R d (as_array L a) n.
Proof.
have at_ k l : natural L a n -> (k < l)%nat -> (l < n)%nat ->
    (before V (ref_node_start (ref_node_at L (shift 4 a (Z.of_nat k))))
       (ref_node_height (ref_node_at L (shift 4 a (Z.of_nat k))))
       (ref_node_start (ref_node_at L (shift 4 a (Z.of_nat l)))) <->
     acsl_before (start (as_array L a k)) (height (as_array L a k)) (start (as_array L a l))) /\
    (siblings V (Z.of_nat d) (ref_node_start (ref_node_at L (shift 4 a (Z.of_nat k))))
       (ref_node_height (ref_node_at L (shift 4 a (Z.of_nat k))))
       (ref_node_start (ref_node_at L (shift 4 a (Z.of_nat l))))
       (ref_node_height (ref_node_at L (shift 4 a (Z.of_nat l)))) <->
     acsl_siblings d (start (as_array L a k)) (height (as_array L a k))
       (start (as_array L a l)) (height (as_array L a l))).
  move=> nat kl ln; have [sk hk _] := nat k (ltn_trans kl ln); have [sl hl _] := nat l ln.
  rewrite {1}sk {1}hk {1}sl -/(as_array L a k) -/(as_array L a l).
  split; first by rewrite /before /acsl_before pow2_agree; lia.
  rewrite sk hk sl hl -/(as_array L a k) -/(as_array L a l) /siblings /acsl_siblings pow2_agree.
  have -> : Z.of_nat (height (as_array L a k)) + 1 = Z.of_nat (height (as_array L a k)).+1 by lia.
  by rewrite tree_node_agree; split=> -[E1 [E2 T]]; (split; [lia | split; [lia | done]]).
rewrite /inv correct_nodes_agree /Contracts.inv; split.
  case=> [[nat ok] [so mx]]; split=> //; split=> //; split=> k l kl ln.
    have [b _] := at_ k l nat kl ln; apply/b/so.
    by move/ltP: kl; move/ltP: ln; lia.
  have [_ b] := at_ k l nat kl ln; rewrite -b; apply: mx.
  by move/ltP: kl; move/ltP: ln; lia.
case=> nat [ok [so mx]]; split=> //; split=> k l kl.
  have [kE lE] : k = Z.of_nat (Z.to_nat k) /\ l = Z.of_nat (Z.to_nat l) by lia.
  have k1 : (Z.to_nat k < Z.to_nat l)%nat by apply/ltP; lia.
  have l1 : (Z.to_nat l < n)%nat by apply/ltP; lia.
  by have [b _] := at_ _ _ nat k1 l1; rewrite kE lE; apply/b/so.
have [kE lE] : k = Z.of_nat (Z.to_nat k) /\ l = Z.of_nat (Z.to_nat l) by lia.
have k1 : (Z.to_nat k < Z.to_nat l)%nat by apply/ltP; lia.
have l1 : (Z.to_nat l < n)%nat by apply/ltP; lia.
by have [_ b] := at_ _ _ nat k1 l1; rewrite kE lE b; apply: mx.
Qed.

Lemma covered_agree L a n x : natural L a n ->
  covered V L a (Z.of_nat n) x <-> exists2 y, x = Z.of_N y & acsl_covered (as_array L a) n y.
Proof.
move=> nat; split.
  case=> k [kn]; have [kE k1] : k = Z.of_nat (Z.to_nat k) /\ (Z.to_nat k < n)%nat.
    by split; [lia | apply/ltP; lia].
  rewrite /covers_at kE; have [-> -> _] := nat _ k1; rewrite /covers pow2_agree => -[c1 c2].
  exists (Z.to_N x); first by lia.
  by exists (Z.to_nat k) => //; split; rewrite /as_array; lia.
case=> y -> [k kn [c1 c2]]; exists (Z.of_nat k); split; first by move/ltP: kn; lia.
rewrite /covers_at; have [-> -> _] := nat _ kn; rewrite /covers pow2_agree.
by move: c1 c2; rewrite /as_array; lia.
Qed.

Lemma nth_error_mkseq T (f : nat -> T) n k : (k < n)%nat ->
  List.nth_error (mkseq f n) k = Some (f k).
Proof.
move=> kn; have E : forall s i, (i < size s)%nat -> List.nth_error s i = Some (nth (f k) s i).
  by move=> {kn} s; elim: s => [|x s IH] [|i] //= /IH.
by rewrite E ?size_mkseq // nth_mkseq.
Qed.

Lemma nth_error_nth T (z : T) s k m : List.nth_error s k = Some m -> nth z s k = m.
Proof. by elim: s k => [|y s IH] [|k] //= => [[]|/IH]. Qed.

Lemma holds_agree L a n K : holds L a n K <->
  n = Z.of_nat (size K) /\ natural L a (size K) /\ mkseq (as_array L a) (size K) = K.
Proof.
split=> [[nE H]|[nE [nat E]]].
  have nthE k : (k < size K)%nat -> exists2 m, List.nth_error K k = Some m & as_array L a k = m.
    move=> kn; case e: (List.nth_error K k) => [m|].
      by exists m => //; apply/as_node_is/H.
    by move/List.nth_error_None: e; rewrite (_ : length K = size K) //; move/ltP: kn; lia.
  split=> //; split.
    by move=> k /nthE [m /H I _] /=; have := as_node_is I; rewrite /ref_node_cells => ->.
  case: K nthE {H nE} => // z K nthE; apply: (@eq_from_nth _ z); rewrite size_mkseq // => k kn.
  by rewrite nth_mkseq //; have [m /(nth_error_nth z) <- ->] := nthE k kn.
split=> // k m; rewrite -{1}E => e.
have kn : (k < size K)%nat.
  apply/ltP; have : List.nth_error (mkseq (as_array L a) (size K)) k <> None by rewrite e.
  by move/List.nth_error_Some; rewrite (_ : length _ = size (mkseq (as_array L a) (size K))) // size_mkseq.
by move: e; rewrite nth_error_mkseq // => -[<-]; apply: nat.
Qed.

(* ---- The invariant is a cover ------------------------------------------------------- *)

Theorem acsl_inv_cover L R d a n (P : pred bitseq) :
  holds L a n (key_nodes V d P R) <->
  0 <= n /\ inv V L (seed_value V R) (Z.of_nat d) a n /\
  (forall x, (x < CModel.pow2 d)%num ->
     covered V L a n (Z.of_N x) <-> ~~ P (leaf_path d x)).
Proof.
split.
  case/holds_agree => -> [nat E]; have [I C] := contract_inv_complete E.
  split; first lia; split; first by apply/inv_agree.
  move=> x xd; rewrite -(C x xd) covered_agree //.
  by split=> [[y /N2Z.inj -> //]|c]; exists x.
case=> n0 [I C]; have nE : n = Z.of_nat (Z.to_nat n) by lia.
rewrite nE in I C *; move: (Z.to_nat n) I C => m I C.
have /inv_agree [nat I'] := I.
have E : mkseq (as_array L a) m = key_nodes V d P R.
  apply: (contract_inv_sound I') => x xd; rewrite -(C x xd) covered_agree //.
  by split=> [c|[y /N2Z.inj -> //]]; exists x.
apply/holds_agree; rewrite -E size_mkseq; split=> //; split=> //.
Qed.

(* What a state that holds a key says to the contracts over N. *)
Lemma holds_post L a n K : holds L a n K -> 0 <= n /\ n = Z.of_nat (Z.to_nat n) /\
  natural L a (Z.to_nat n) /\ mkseq (as_array L a) (Z.to_nat n) = K.
Proof. by case/holds_agree => -> [nat E]; rewrite Nat2Z.id; split; [lia | split]. Qed.

Lemma node_unchanged L1 L2 a n k :
  (forall q, span ref_node_cells a 0 (n - 1) q -> cell L2 q = cell L1 q) -> 0 <= k < n ->
  ref_node_at L2 (shift ref_node_cells a k) = ref_node_at L1 (shift ref_node_cells a k).
Proof.
move=> U kn.
have cE j : 0 <= j < 4 -> cell L2 (shift 1 (shift ref_node_cells a k) j) =
                          cell L1 (shift 1 (shift ref_node_cells a k) j).
  by move=> j4; apply: U; split=> //=; rewrite /ref_node_cells; lia.
have sE j i : shift 1 (shift 1 (shift ref_node_cells a k) j) i =
              shift 1 (shift ref_node_cells a k) (j + i).
  by rewrite /shift /=; congr pair; lia.
by rewrite /ref_node_at /pprf_seed_at !sE !cE.
Qed.

Lemma holds_unchanged L1 L2 a n (K : seq (CModel.node Seed)) :
  (forall q, span ref_node_cells a 0 (n - 1) q -> cell L2 q = cell L1 q) ->
  holds L1 a n K -> holds L2 a n K.
Proof.
move=> U [nE H]; split=> // k m e.
have kn : (k < length K)%coq_nat by apply/List.nth_error_Some; rewrite e.
rewrite (_ : length K = size K) // in kn.
by rewrite (node_unchanged U); [exact: H | rewrite nE; lia].
Qed.

Lemma span_cell size a lo hi q : 0 < size -> span size a lo (hi - 1) q ->
  exists k j, lo <= k < hi /\ 0 <= j < size /\ q = shift 1 (shift size a k) j.
Proof.
case: q => b c s0 [/= -> B]; exists ((c - snd a) / size), ((c - snd a) mod size).
have := Z.div_mod (c - snd a) size; have := Z.mod_pos_bound (c - snd a) size s0.
move=> M /(_ ltac:(lia)) E; split; first by nia.
by split=> //; rewrite /shift /=; congr pair; lia.
Qed.

(* Structures that are equal member by member are equal cell by cell. *)
Lemma same_cells L1 L2 a lo hi q : same V L1 L2 a lo hi ->
  span ref_node_cells a lo (hi - 1) q -> cell L1 q = cell L2 q.
Proof.
move=> S /span_cell [//|k [j [kB [jB ->]]]].
have [E0 [E1 [E2 E3]]] := S k kB; move: E0 E1 E2 E3; rewrite /ref_node_at /pprf_seed_at /=.
have sE i : shift 1 (shift 1 (shift 4 a k) 2) i = shift 1 (shift 4 a k) (2 + i).
  by rewrite /shift /=; congr pair; lia.
rewrite !sE; have [->|[->|[->| ->]]] // : j = 0 \/ j = 1 \/ j = 2 \/ j = 3.
by rewrite /ref_node_cells in jB; lia.
Qed.

Lemma zero_cells L a lo hi q : zeros V L a lo hi ->
  span ref_node_cells a lo (hi - 1) q -> cell L q = 0.
Proof.
move=> Z /span_cell [//|k [j [kB [jB ->]]]].
have [E0 [E1 [E2 E3]]] := Z k kB; move: E0 E1 E2 E3; rewrite /ref_node_at /pprf_seed_at /=.
have sE i : shift 1 (shift 1 (shift 4 a k) 2) i = shift 1 (shift 4 a k) (2 + i).
  by rewrite /shift /=; congr pair; lia.
rewrite !sE; have [->|[->|[->| ->]]] // : j = 0 \/ j = 1 \/ j = 2 \/ j = 3.
by rewrite /ref_node_cells in jB; lia.
Qed.

Lemma cells_zero L a lo hi : (forall q, span ref_node_cells a lo (hi - 1) q -> cell L q = 0) ->
  zeros V L a lo hi.
Proof.
move=> Z k kB; have C j : 0 <= j < 4 -> cell L (shift 1 (shift 4 a k) j) = 0.
  by move=> jB; apply: Z; split=> //; rewrite /shift /ref_node_cells /=; lia.
have sE i : shift 1 (shift 1 (shift 4 a k) 2) i = shift 1 (shift 4 a k) (2 + i).
  by rewrite /shift /=; congr pair; lia.
by rewrite /zero_node /zero_seed /ref_node_at /pprf_seed_at /= !sE; do !split; apply: C.
Qed.

Lemma zero_seed_cells L p q : zero_seed V (pprf_seed_at L p) ->
  span pprf_seed_cells p 0 0 q -> cell L q = 0.
Proof.
move=> [/= E0 E1] /(@span_cell pprf_seed_cells p 0 1) [//|k [j [kB [jB ->]]]].
have -> : shift 1 (shift pprf_seed_cells p k) j = shift 1 p j.
  by rewrite /shift /pprf_seed_cells /=; congr pair; lia.
have [->|->] // : j = 0 \/ j = 1.
by rewrite /pprf_seed_cells in jB; lia.
Qed.

End Agree.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The one statement for the suite sha3-256-salted, for ref and opt: the contracts' PRG is the
   halves of SHA3-256 of a seed, the key's salt and the node's in-order id (ref_salted_secure,
   opt_salted_secure), or what a C function computes from them (ref_salted_code_secure,
   opt_salted_code_secure); and with a random public salt (ref_drawn_secure, opt_drawn_secure). *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslKey.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import LaneCode KeccakCode.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.spec Require Import RefGame OptGame PackedGame Sha3Suite CodeSuite SaltedSuite.
From Pprf.proofs Require Import Layout ProbabilityFacts ReductionFacts EvaluationSecurity.
From Pprf.proofs Require Import RefSecurity OptSecurity Sha3Security KeccakSuite CodeSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Lemma pow2_Z h : Z.of_N (CModel.pow2 h) = Z.pow 2 (Z.of_nat h).
Proof.
elim: h => [|h IH] //; rewrite Nat2Z.inj_succ Z.pow_succ_r; last by lia.
by rewrite -IH -[Z.of_N (CModel.pow2 h.+1)]/(Z.of_N (2 * CModel.pow2 h)) N2Z.inj_mul.
Qed.

Lemma id_atE s h : id_at (Z.of_N s) (Z.of_nat h) = Z.of_N (node_id s h).
Proof. by rewrite /id_at -pow2_Z /node_id N2Z.inj_add N2Z.inj_mul. Qed.

Section Salted.
Variable salt : sha3_seed.

(* Words and seeds are those of the suite without a salt. *)
Lemma salted_suite_ok left right : suite_ok (node_suite salt left right).
Proof. exact: sha3_suite_ok. Qed.

Lemma node_suite_prg left right d p s :
  @suite_prg (node_suite salt left right) d p s =
  (left s (Z.of_N (node_id (first_leaf d p) (d - size p))), right s (Z.of_N (node_id (first_leaf d p) (d - size p)))).
Proof. by rewrite -id_atE. Qed.

Lemma salted_suite_prg d p s : @suite_prg (salted_suite salt) d p s = salted_prg salt d p s.
Proof. exact: node_suite_prg. Qed.

Lemma salted_halves c s id : List.In c salted_functions ->
  (salted_child salt c false s (Z.of_N id), salted_child salt c true s (Z.of_N id)) =
  (salted_left salt s (Z.of_N id), salted_right salt s (Z.of_N id)).
Proof.
move=> ck; have [loB hiB sE] := proj2 sha3_suite_ok s; have [loB' hiB' saltE] := proj2 sha3_suite_ok salt.
have [l0 [l1 [r0 [r1 [R B]]]]] :=
  salted_is_the_suite (Z.to_N (number (take 64 s))) (Z.to_N (number (drop 64 s)))
    (Z.to_N (number (take 64 salt))) (Z.to_N (number (drop 64 salt))) id ck.
have word (x : sha3_seed) : c_uint64_t (number (take 64 x)) -> c_uint64_t (number (drop 64 x)) ->
    seed_of_words (number (take 64 x)) (number (drop 64 x)) = x ->
    seed_of_words (Z.of_N (Z.to_N (number (take 64 x)))) (Z.of_N (Z.to_N (number (drop 64 x)))) = x.
  by move=> [l0B _] [h0B _] E; rewrite !Z2N.id.
by rewrite /salted_child N2Z.id R -B !word.
Qed.

Lemma salted_code_prg c d p s : List.In c salted_functions ->
  @suite_prg (salted_code_suite salt c) d p s = salted_prg salt d p s.
Proof. by move=> ck; rewrite node_suite_prg; exact: salted_halves ck. Qed.

(* ---- The statements: whatever the salt -------------------------------------------------------------- *)

Theorem ref_salted_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory) :
  meets_contracts (salted_suite salt) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (salted_suite salt) (salted_prg salt d) d Fault fails l F M0.
Proof.
move=> meets rdy em.
exact: (@ref_suite_secure (salted_suite salt) (salted_suite_ok _ _) d (salted_prg salt d)
          (@salted_suite_prg d) Fault fails l F M0 meets rdy em).
Qed.

Theorem opt_salted_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_meets_contracts (salted_suite salt) d fails marks shown l F M0 ->
  opt_ready (salted_suite salt) d shown l M0 ->
  @opt_secure_by (salted_suite salt) (salted_prg salt d) d Fault fails marks shown l F M0.
Proof.
move=> meets rdy.
exact: (@opt_suite_secure (salted_suite salt) (salted_suite_ok _ _) words_wrap d (salted_prg salt d)
          (@salted_suite_prg d) Fault fails marks shown l F M0 meets rdy).
Qed.

Theorem packed_salted_secure (d : nat) (Fault : Type) (hidden : pred pointer) (l : packed_layout)
    (F : opt_functions Fault) (U : AcslRef.pprf_seed -> memory) :
  packed_meets_contracts (salted_suite salt) d hidden l F U -> packed_ready (salted_suite salt) d hidden l U ->
  @packed_secure_by (salted_suite salt) d Fault hidden l F U (salted_prg salt d).
Proof.
exact: (@packed_suite_secure (salted_suite salt) (salted_suite_ok _ _) words_wrap d _ (@salted_suite_prg d)).
Qed.

(* The same if the contracts' PRG is what one of the C functions computes. *)
Theorem ref_salted_code_secure (p : program) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (F : functions Fault) (M0 : memory) :
  List.In p salted_functions ->
  meets_contracts (salted_code_suite salt p) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (salted_code_suite salt p) (salted_prg salt d) d Fault fails l F M0.
Proof.
move=> pk meets rdy em.
exact: (@ref_suite_secure (salted_code_suite salt p) (salted_suite_ok _ _) d (salted_prg salt d)
          (fun q s => salted_code_prg d q s pk) Fault fails l F M0 meets rdy em).
Qed.

Theorem opt_salted_code_secure (p : program) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> order Fault -> Z) (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z)
    (shown : seq pointer) (l : opt_layout) (F : opt_functions Fault) (M0 : memory) :
  List.In p salted_functions ->
  opt_meets_contracts (salted_code_suite salt p) d fails marks shown l F M0 ->
  opt_ready (salted_code_suite salt p) d shown l M0 ->
  @opt_secure_by (salted_code_suite salt p) (salted_prg salt d) d Fault fails marks shown l F M0.
Proof.
move=> pk meets rdy.
exact: (@opt_suite_secure (salted_code_suite salt p) (salted_suite_ok _ _) words_wrap d (salted_prg salt d)
          (fun q s => salted_code_prg d q s pk) Fault fails marks shown l F M0 meets rdy).
Qed.

End Salted.

(* ---- A salt that is drawn ------------------------------------------------------------------------------ *)

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma avg_scale (X : finType) (f g : X -> rat) (N M : nat) : (N <= M)%N ->
  (forall x, f x = (2 * N)%:R * g x) -> `|avg f| <= (2 * M)%:R * `|avg g|.
Proof.
move=> NM E; have -> : avg f = (2 * N)%:R * avg g.
  by rewrite (eq_avg E) /avg -mulr_sumr mulrA.
exact: bound_scale.
Qed.

Lemma cuts_all d : (size (cuts d 0 predT) <= (2 ^ d).-1)%N.
Proof. by have := @size_cuts_all d 0 predT isT; rewrite mul1n subn0. Qed.

Lemma cuts_first d q : (size (cuts d 0 (first_leaves 0 q)) <= (q + d).-1)%N.
Proof. by have := @size_cuts_first d 0 q isT; rewrite mul1n subn0. Qed.

Lemma challenges_anywhere (Seed : finType) d (A : ev_adversary Seed d) : challenges_in predT A.
Proof. by elim: A => //= a k IH; split=> //; case: a k IH. Qed.

Section Drawn.
Variables (d : nat) (Fault : Type).

(* The functions may differ between salts, and the adversary may choose its calls depending on
   the salt. *)
Theorem ref_drawn_secure (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout)
    (F : sha3_seed -> functions Fault) (M0 : memory) :
  (forall salt, meets_contracts (salted_suite salt) d fails l (F salt)) -> ready d l M0 -> cleared l M0 ->
  forall A : (forall salt, ref_adversary (salted_suite salt) Fault),
  `|avg (fun salt : sha3_seed => ref_adv d l (F salt) M0 (A salt))| <= (2 * (2 ^ d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : block (salted_suite salt)) (salted_prg salt d)
        (ref_node_attack (S := salted_suite salt) (salted_prg salt d) d fails l M0 predT (A salt)))| /\
  (forall q : nat, (forall salt, tests_below_leaf (N.of_nat q) (A salt)) ->
  `|avg (fun salt : sha3_seed => ref_adv d l (F salt) M0 (A salt))| <= (2 * (q + d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : block (salted_suite salt)) (salted_prg salt d)
        (ref_node_attack (S := salted_suite salt) (salted_prg salt d) d fails l M0 (first_leaves 0 q) (A salt)))|).
Proof.
move=> meets rdy em A.
have E salt := @ref_suite_adv (salted_suite salt) (salted_suite_ok _ _ _) d (salted_prg salt d)
  (@salted_suite_prg salt d) Fault fails l (F salt) M0.
split=> [|q B].
  apply: (avg_scale (cuts_all d)) => salt; apply: E => //; exact: challenges_anywhere.
apply: (avg_scale (cuts_first d q)) => salt; apply: E => //; exact: challenges_first (B salt).
Qed.

(* Memory may differ between salts, since the key contains the salt. *)
Theorem opt_drawn_secure (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : sha3_seed -> opt_functions Fault) (M0 : sha3_seed -> memory) :
  (forall salt, opt_meets_contracts (salted_suite salt) d fails marks shown l (F salt) (M0 salt)) ->
  (forall salt, opt_ready (salted_suite salt) d shown l (M0 salt)) ->
  forall A : (forall salt, opt_adversary (salted_suite salt) Fault),
  `|avg (fun salt : sha3_seed => opt_adv d shown l (F salt) (M0 salt) (A salt))| <= (2 * (2 ^ d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : block (salted_suite salt)) (salted_prg salt d)
        (opt_node_attack (S := salted_suite salt) (salted_prg salt d) d fails marks shown l (M0 salt) predT
           (A salt)))| /\
  (forall q : nat, (forall salt, tests_below_leaf (N.of_nat q) (A salt)) ->
  `|avg (fun salt : sha3_seed => opt_adv d shown l (F salt) (M0 salt) (A salt))| <= (2 * (q + d).-1)%:R *
    `|avg (fun salt : sha3_seed => prg_adv (zero128 : block (salted_suite salt)) (salted_prg salt d)
        (opt_node_attack (S := salted_suite salt) (salted_prg salt d) d fails marks shown l (M0 salt)
           (first_leaves 0 q) (A salt)))|).
Proof.
move=> meets rdy A.
have E salt := @opt_suite_adv (salted_suite salt) (salted_suite_ok _ _ _) words_wrap d (salted_prg salt d)
  (@salted_suite_prg salt d) Fault fails marks shown l (F salt) (M0 salt).
split=> [|q B].
  apply: (avg_scale (cuts_all d)) => salt; apply: E => //; exact: challenges_anywhere.
apply: (avg_scale (cuts_first d q)) => salt; apply: E => //; exact: opt_challenges_first (B salt).
Qed.

End Drawn.

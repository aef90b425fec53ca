(* SPDX-License-Identifier: Apache-2.0 *)
(* What a caller of ref's functions may rely on, in the model's terms: called on memory that holds a
   key of the model, a function that meets its ACSL contract leaves the key that the model has after
   the same operation, gives the model's value, and on an error changes nothing.

   Each hypothesis before the contract is what the caller has to see to; that it implies the
   contract's own is part of the proof, as is every clause that the contract ensures. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm Delegation CModel Contracts.
From Pprf.proofs Require Import Correctness RangeDelegation Layout ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
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
#[local] Arguments Z.pow : simpl never.

Section Sound.

Variable V : logic.
Hypothesis D : definitions V.
Local Notation prg := (@acsl_prg V).
Local Notation prgl := (ContractsSound.prg_l prg).
Local Notation prgr := (ContractsSound.prg_r prg).
Local Notation array_at a cap := (span ref_node_cells a 0 (cap - 1)).
Local Notation seed_at p := (span pprf_seed_cells p 0 0).
Local Notation word_at p := (span 1 p 0 0).

Lemma depth_ok d : (d <= 63)%nat -> 0 <= Z.of_nat d <= 63.
Proof. by move/leP; lia. Qed.

Lemma leaf_range d x : (Z.of_N x >= pow2 V (Z.of_nat d)) <-> ~ (x < CModel.pow2 d)%num.
Proof. by rewrite (pow2_agree D); lia. Qed.

Lemma leaf_range' d x : (Z.of_N x < pow2 V (Z.of_nat d)) <-> (x < CModel.pow2 d)%num.
Proof. by rewrite (pow2_agree D); lia. Qed.

(* A seed or a word outside the array does not touch the nodes. *)
Lemma outside L1 L2 a n cap (K : seq (CModel.node (seed_t V))) rs :
  n <= cap -> unchanged L1 L2 rs -> separated (array_at a cap :: rs) ->
  holds L1 a n K -> holds L2 a n K.
Proof.
move=> nc U [S _]; apply: holds_unchanged => q [q1 q2]; apply: U => r ir rq.
by apply: (S r ir q) => //; split=> //; rewrite /ref_node_cells in q2 *; lia.
Qed.

(* ref_setup: the fresh key. *)
Theorem ref_setup_sound Pre Post a d root :
  (d <= 63)%nat -> writable Pre (array_at a 1) ->
  ref_setup_contract V Pre Post a (Z.of_nat d) root ->
  holds Post a 1 (key_nodes V d pred0 root) /\ unchanged Pre Post [:: array_at a 1].
Proof.
move=> /depth_ok d63 w; case.
- by rewrite /ref_setup_typed /c_unsigned; lia.
- by split=> //; rewrite /REF_DEPTH_MAX; lia.
move=> U [_ E]; split; last first.
  move=> q Q; apply: U => r [<- rq|//]; apply: (Q _ (or_introl erefl)).
  by case: rq => q1 q2; split=> //; move: q2; rewrite /= /ref_node_cells; lia.
apply/(acsl_inv_cover D); split; first by [].
split=> [|x xd]; first exact: ref_setup_ensures_nodes E.
by split=> // _; apply/(ref_setup_ensures_covered _ _ _ _ _ _ E); rewrite (pow2_agree D); lia.
Qed.

(* ref_eval: the model's value. *)
Theorem ref_eval_sound Pre Post a n d f x value R result (P : pred bitseq) :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> c_size_t n ->
  readable Pre (array_at a n) -> writable Pre (seed_at value) ->
  separated [:: seed_at value; array_at a n] ->
  holds Pre a n (key_nodes V d P R) ->
  ref_eval_contract V Pre Post a n (Z.of_nat d) f (Z.of_N x) value R result ->
  let v := eval (@acsl_family V d) (punctured_key V d P R) (leaf_path d x) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM;
                     PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_OK -> v = Some (seed_value V (pprf_seed_at Post value))) /\
  (result <> PPRF_OK -> forall q, seed_at value q -> cell Post q = 0) /\
  unchanged Pre Post [:: seed_at value].
Proof.
move=> /depth_ok d63 fam x64 nt rd wr sep H C v.
have [n0 [I covers_at]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
case: C => [||U [_ [_ E]]].
- by rewrite /ref_eval_typed /c_unsigned; split=> //; split=> //; lia.
- by split=> //; rewrite /REF_DEPTH_MAX; lia.
have sep' : separated (array_at a n :: [:: seed_at value]).
  case: sep => S _; split=> // r [<-|//] q q1 q2.
  by apply: (S _ (or_introl erefl) q).
have HP := outside (Z.le_refl n) U sep' H.
have [_ [_ covers_at']] := proj1 (acsl_inv_cover D _ _ _ _ _ _) HP.
have Er := ref_eval_ensures_range _ _ _ _ _ _ _ _ _ _ _ E.
have Ep := ref_eval_ensures_punctured _ _ _ _ _ _ _ _ _ _ _ E.
have Eo := ref_eval_ensures_others _ _ _ _ _ _ _ _ _ _ _ E.
have Ev := ref_eval_ensures_value _ _ _ _ _ _ _ _ _ _ _ E.
have Ee := ref_eval_ensures_error _ _ _ _ _ _ _ _ _ _ _ E.
have PT : (x < CModel.pow2 d)%num -> (v = None <-> P (leaf_path d x)).
  move=> xd; rewrite /v -[in eval _ _ _](cat0s (leaf_path d x)) /punctured_key.
  by rewrite eval_cover ?size_leaf_path //; case: (P _); split.
split; first by case: Eo => [->|[->|[->|[[->|->] _]]]] /=; tauto.
split; first by rewrite Er leaf_range.
split.
  rewrite Ep leaf_range'; split=> -[xd]; split=> //.
    by apply/(PT xd); move: b; rewrite covers_at' //; case: (P _).
  by rewrite covers_at' // => /negP; apply; apply/(PT xd).
split; last by split=> // rK q; apply: zero_seed_cells (Ee rK) => //.
move=> rK; have xd : (x < CModel.pow2 d)%num.
  by apply/leaf_range'; rewrite rK /PPRF_OK /PPRF_ERR_RANGE in Er; lia.
have c : covered V Post a n (Z.of_N x).
  apply/covers_at' => //; apply/negP => Px.
  have : result = PPRF_ERR_PUNCTURED by apply/Ep; split; [apply/leaf_range' | rewrite covers_at' // Px].
  by rewrite rK.
have [_ [nE [nat aE]]] := holds_post HP.
symmetry; rewrite (Ev rK) (leaf_value_agree D) //.
have := @contract_eval_sound _ prg (seed_value V R) d (as_array V Post a) (Z.to_nat n) P (leaf_path d x)
  (Some (Contracts.leaf_value prgl prgr (seed_value V R) d x)) (size_leaf_path d x) aE.
rewrite leaf_pathK //; apply.
split; last by move=> w; case=> <-.
split=> [_|] //.
by rewrite nE in c; move/(covered_agree D _ nat): c => [y /N2Z.inj ->].
Qed.

(* What the clauses on nodes and leaves come to over N. *)
Lemma range_post L1 L2 a n1 n2 d R (P : pred bitseq) first last :
  holds L1 a n1 (key_nodes V d P R) -> 0 <= n2 -> inv V L2 (seed_value V R) (Z.of_nat d) a n2 ->
  (forall y, first <= y -> y <= last -> ~ covered V L2 a n2 (Z.of_N y))%num ->
  (forall y, (y < first \/ last < y) -> covered V L2 a n2 (Z.of_N y) <->
                                       covered V L1 a n1 (Z.of_N y))%num ->
  mkseq (as_array V L1 a) (Z.to_nat n1) = key_nodes V d P R /\
  punct_range_post prgl prgr (seed_value V R) d (as_array V L1 a) (Z.to_nat n1) (as_array V L2 a)
    (Z.to_nat n2) first last.
Proof.
move=> /holds_post [_ [n1E [nat1 E]]] n20 I erased stay; split=> //.
have n2E : n2 = Z.of_nat (Z.to_nat n2) by lia.
rewrite n2E in I; have /(inv_agree D) [nat2 I'] := I.
have cov1 y : covered V L1 a n1 (Z.of_N y) <-> acsl_covered (as_array V L1 a) (Z.to_nat n1) y.
  rewrite {1}n1E (covered_agree D _ nat1).
  by split=> [[z /N2Z.inj -> //]|c]; exists y.
have cov2 y : covered V L2 a n2 (Z.of_N y) <-> acsl_covered (as_array V L2 a) (Z.to_nat n2) y.
  rewrite {1}n2E (covered_agree D _ nat2).
  by split=> [[z /N2Z.inj -> //]|c]; exists y.
split=> // y; first by move=> y1 y2 /cov2; apply: erased.
by move=> out; rewrite -cov1 -cov2; apply: stay; lia.
Qed.

Lemma holds_array L a n K : 0 <= n -> natural V L a (Z.to_nat n) ->
  mkseq (as_array V L a) (Z.to_nat n) = K -> holds L a n K.
Proof.
move=> n0 nat <-; apply/holds_agree; rewrite size_mkseq; split; first by lia.
by split.
Qed.

Lemma inv_natural L R d a n : 0 <= n -> inv V L R (Z.of_nat d) a n -> natural V L a (Z.to_nat n).
Proof.
move=> n0 I; have nE : n = Z.of_nat (Z.to_nat n) by lia.
by move: I; rewrite {1}nE => /(inv_agree D) [].
Qed.

Lemma span_dec size p lo hi q : span size p lo hi q \/ ~ span size p lo hi q.
Proof. by rewrite /span; lia. Qed.

(* On an error: length and array as before. *)
Lemma error_unchanged Pre Post a n cap rs :
  unchanged Pre Post (array_at a cap :: word_at n :: rs) ->
  cell Post n = cell Pre n -> same V Post Pre a 0 cap -> unchanged Pre Post rs.
Proof.
move=> U nE S q out; case: (span_dec ref_node_cells a 0 (cap - 1) q) => [qa|qa].
  exact: same_cells S qa.
case: (span_dec 1 n 0 0 q) => [[q1 q2]|qn].
  suff -> : q = n by [].
  by case: q n q1 q2 {out qa U nE} => ? ? [? ?] /= -> ?; congr pair; lia.
by apply: U => r [<-|[<-|]] //; apply: out.
Qed.

(* ref_eval_punct: the model's value and the model's key after the puncture. *)
Theorem ref_eval_punct_sound Pre Post a n cap d f x value R result (P : pred bitseq) :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> cell Pre n <= cap <= REF_NODES_MAX ->
  writable Pre (array_at a cap) -> writable Pre (word_at n) -> writable Pre (seed_at value) ->
  separated [:: array_at a cap; word_at n; seed_at value] ->
  holds Pre a (cell Pre n) (key_nodes V d P R) ->
  (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
  ref_eval_punct_contract V Pre Post a n cap (Z.of_nat d) f (Z.of_N x) value R result ->
  let p := leaf_path d x in
  let v := eval (@acsl_family V d) (punctured_key V d P R) p in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER;
                     PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\ v = None) /\
  (result = PPRF_ERR_BUFFER -> cap < cell Pre n + Z.of_nat d) /\
  (result = PPRF_OK ->
     v = Some (seed_value V (pprf_seed_at Post value)) /\
     holds Post a (cell Post n) (key_nodes V d (predU P (pred1 p)) R) /\
     cell Post n <= cap /\ cell Post n <= cell Pre n + Z.of_nat d /\
     forall q, span ref_node_cells a (cell Post n) (cap - 1) q -> cell Post q = 0) /\
  (result <> PPRF_OK ->
     unchanged Pre Post [:: seed_at value] /\ forall q, seed_at value q -> cell Post q = 0) /\
  unchanged Pre Post [:: array_at a cap; word_at n; seed_at value].
Proof.
move=> /depth_ok d63 fam x64 ncap wa wn wv sep H clear C p v.
have [n0 [I covers_at]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
case: C => [||U [T [_ E]]].
- rewrite /REF_NODES_MAX in ncap; rewrite /c_uint64_t in x64.
  by rewrite /ref_eval_punct_typed /c_unsigned /c_size_t /c_uint64_t; lia.
- by split=> //; [rewrite /REF_DEPTH_MAX; lia | apply: cells_zero].
have n0' : 0 <= cell Post n by move: T; rewrite /ref_eval_punct_typed /c_size_t; tauto.
have En := ref_eval_punct_ensures_nodes _ _ _ _ _ _ _ _ _ _ _ _ E.
have Er := ref_eval_punct_ensures_range _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ep := ref_eval_punct_ensures_punctured _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eb := ref_eval_punct_ensures_buffer _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eo := ref_eval_punct_ensures_others _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ev := ref_eval_punct_ensures_value _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eg := ref_eval_punct_ensures_leaves _ _ _ _ _ _ _ _ _ _ _ _ E.
have Es := ref_eval_punct_ensures_others_stay _ _ _ _ _ _ _ _ _ _ _ _ E.
have Egr := ref_eval_punct_ensures_growth _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ew := ref_eval_punct_ensures_clear _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ee := ref_eval_punct_ensures_error _ _ _ _ _ _ _ _ _ _ _ _ E.
have PT : v = None <-> P p.
  rewrite /v -[in eval _ _ _](cat0s p) /punctured_key eval_cover ?size_leaf_path //.
  by case: (P _); split.
split; first by case: Eo => [->|[->|[->|[->|[[->|->] _]]]]] /=; tauto.
split; first by rewrite Er leaf_range.
split.
  rewrite Ep leaf_range' PT; split=> -[xd]; split=> //.
    by move: b; rewrite covers_at // => /negP; rewrite negbK.
  by rewrite covers_at // => /negP; apply.
split; first by case/Eb=> _ [k [kn [_ room]]]; have [/(_ k kn) [hd _] _] := I; lia.
split; last first.
  split=> // rK; have [Z [nE S]] := Ee rK.
  by split; [apply: error_unchanged U nE S | move=> q; apply: zero_seed_cells Z].
move=> rK; have xd : (x < CModel.pow2 d)%num.
  by apply/leaf_range'; rewrite rK /PPRF_OK /PPRF_ERR_RANGE in Er; lia.
have nP : ~~ P p.
  apply/negP => Px; have : result = PPRF_ERR_PUNCTURED.
    by apply/Ep; split; [apply/leaf_range' | rewrite covers_at // Px].
  by rewrite rK.
split; first rewrite (Ev rK) (leaf_value_agree D) //.
  have [_ [_ [_ aE]]] := holds_post H; symmetry.
  have := @contract_eval_sound _ prg (seed_value V R) d (as_array V Pre a) (Z.to_nat (cell Pre n)) P p
    (Some (Contracts.leaf_value prgl prgr (seed_value V R) d x)) (size_leaf_path d x) aE.
  rewrite leaf_pathK //; apply; split; last by move=> w; case=> <-.
  split=> [_|] //; have [_ [nE [nat _]]] := holds_post H.
  have c : covered V Pre a (cell Pre n) (Z.of_N x) by apply/covers_at.
  by rewrite nE in c; move/(covered_agree D _ nat): c => [y /N2Z.inj ->].
split.
  apply: holds_array => //; first exact: inv_natural En.
  have [aE post] := @range_post Pre Post a (cell Pre n) (cell Post n) d R P x x H n0' En
    ltac:(by move=> y y1 y2; rewrite (_ : y = x); [apply: Eg | lia])
    ltac:(by move=> y xy; apply: Es; lia).
  apply: (contract_punct_sound _ aE); first exact: size_leaf_path.
  by rewrite leaf_pathK.
split; first by lia.
by split=> [|q]; [lia | apply: zero_cells Ew].
Qed.

(* ref_punct_range: the model's key after the puncture of the range. *)
Theorem ref_punct_range_sound Pre Post a n cap d f first last R result (P : pred bitseq) :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) ->
  cell Pre n <= cap <= REF_NODES_MAX ->
  writable Pre (array_at a cap) -> writable Pre (word_at n) ->
  separated [:: array_at a cap; word_at n] ->
  holds Pre a (cell Pre n) (key_nodes V d P R) ->
  (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
  ref_punct_range_contract V Pre Post a n cap (Z.of_nat d) f (Z.of_N first) (Z.of_N last) R result ->
  let range := Range (leaf_path d first) (leaf_path d last) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER;
                     PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (first <= last /\ last < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (first <= last /\ last < CModel.pow2 d)%num /\
     forall y, (first <= y /\ y <= last)%num -> P (leaf_path d y)) /\
  (result = PPRF_ERR_BUFFER -> cap < cell Pre n + 2 * Z.of_nat d) /\
  (result = PPRF_OK ->
     holds Post a (cell Post n) (key_nodes V d (predU P (in_region range)) R) /\
     cell Post n <= cap /\ cell Post n <= cell Pre n + 2 * Z.of_nat d /\
     forall q, span ref_node_cells a (cell Post n) (cap - 1) q -> cell Post q = 0) /\
  (result <> PPRF_OK -> unchanged Pre Post [::]) /\
  unchanged Pre Post [:: array_at a cap; word_at n].
Proof.
move=> /depth_ok d63 fam f64 l64 ncap wa wn sep H clear C range.
have [n0 [I covers_at]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
case: C => [||U [T [_ E]]].
- rewrite /REF_NODES_MAX in ncap; rewrite /c_uint64_t in f64 l64.
  by rewrite /ref_punct_range_typed /c_unsigned /c_size_t /c_uint64_t; lia.
- by split=> //; [rewrite /REF_DEPTH_MAX; lia | apply: cells_zero].
have n0' : 0 <= cell Post n by move: T; rewrite /ref_punct_range_typed /c_size_t; tauto.
have En := ref_punct_range_ensures_nodes _ _ _ _ _ _ _ _ _ _ _ _ E.
have Er := ref_punct_range_ensures_range _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ep := ref_punct_range_ensures_punctured _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eb := ref_punct_range_ensures_buffer _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eo := ref_punct_range_ensures_others _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eg := ref_punct_range_ensures_leaves _ _ _ _ _ _ _ _ _ _ _ _ E.
have Es := ref_punct_range_ensures_others_stay _ _ _ _ _ _ _ _ _ _ _ _ E.
have Egr := ref_punct_range_ensures_growth _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ew := ref_punct_range_ensures_clear _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ee := ref_punct_range_ensures_error _ _ _ _ _ _ _ _ _ _ _ _ E.
split; first by case: Eo => [->|[->|[->|[->|[[->|->] _]]]]] /=; tauto.
split; first by rewrite Er (pow2_agree D); lia.
split.
  rewrite Ep (pow2_agree D); split=> -[fl erased]; split; try lia.
    move=> y yB; apply: contraT => nP; case: (erased (Z.of_N y)); first lia.
    by apply/covers_at => //; lia.
  move=> y yB; have -> : y = Z.of_N (Z.to_N y) by lia.
  by rewrite covers_at; [rewrite erased //; lia | lia].
split.
  case/Eb=> _ [i [j [ij [_ room]]]]; have [ok _] := I.
  have [hi _] := ok i ltac:(lia); have [hj _] := ok (j - 1) ltac:(lia); lia.
split; last first.
  by split=> // rK; have [nE S] := Ee rK; apply: error_unchanged U nE S.
move=> rK; have fl : (first <= last /\ last < CModel.pow2 d)%num.
  by rewrite rK /PPRF_OK /PPRF_ERR_RANGE (pow2_agree D) in Er; lia.
split.
  apply: holds_array => //; first exact: inv_natural En.
  have [aE post] := @range_post Pre Post a (cell Pre n) (cell Post n) d R P first last H n0' En
    ltac:(by move=> y y1 y2; apply: Eg => //; lia)
    ltac:(by move=> y xy; apply: Es; lia).
  apply: (contract_range_sound _ _ aE); rewrite ?size_leaf_path //.
  by rewrite !leaf_pathK //; lia.
split; first by lia.
by split=> [|q]; [lia | apply: zero_cells Ew].
Qed.

(* ref_delegate: the model's sub-key, in an array of its own. *)
Theorem ref_delegate_sound Pre Post a n d f first last out room count R result (P : pred bitseq) :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) ->
  n <= REF_NODES_MAX -> 0 <= room <= REF_NODES_MAX -> c_size_t (cell Pre count) ->
  readable Pre (array_at a n) -> writable Pre (array_at out room) -> writable Pre (word_at count) ->
  separated [:: array_at a n; array_at out room; word_at count] ->
  holds Pre a n (key_nodes V d P R) ->
  (forall q, array_at out room q -> cell Pre q = 0) ->
  ref_delegate_contract V Pre Post a n (Z.of_nat d) f (Z.of_N first) (Z.of_N last) out room count R result ->
  let sub := delegate_range (@acsl_family V d) d (leaf_path d first) (leaf_path d last) (punctured_key V d P R) in
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER;
                     PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  (result = PPRF_ERR_RANGE <-> ~ (first <= last /\ last < CModel.pow2 d)%num) /\
  (result = PPRF_ERR_PUNCTURED <-> (first <= last /\ last < CModel.pow2 d)%num /\
     forall y, (first <= y /\ y <= last)%num -> P (leaf_path d y)) /\
  (result = PPRF_ERR_BUFFER -> room < cell Post count <= n + 4 * Z.of_nat d) /\
  (result = PPRF_OK ->
     holds Post out (cell Post count) (map (encode d) sub) /\ cell Post count <= room /\
     forall q, span ref_node_cells out (cell Post count) (room - 1) q -> cell Post q = 0) /\
  (result <> PPRF_OK -> (forall q, array_at out room q -> cell Post q = 0) /\
     (result <> PPRF_ERR_BUFFER -> cell Post count = 0)) /\
  unchanged Pre Post [:: array_at out room; word_at count].
Proof.
move=> /depth_ok d63 fam f64 l64 nmax rmax c64 ra wo wc sep H clear C sub.
have [n0 [I covers_at]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
case: C => [||U [T [_ E]]].
- rewrite /REF_NODES_MAX in nmax rmax; rewrite /c_uint64_t in f64 l64; rewrite /c_size_t in c64.
  by rewrite /ref_delegate_typed /c_unsigned /c_size_t /c_uint64_t; lia.
- by split=> //; [rewrite /REF_DEPTH_MAX; lia | lia | apply: cells_zero].
have c0 : 0 <= cell Post count by move: T; rewrite /ref_delegate_typed /c_size_t; tauto.
have Er := ref_delegate_ensures_range _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ep := ref_delegate_ensures_punctured _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eb := ref_delegate_ensures_buffer _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ed := ref_delegate_ensures_needed _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Eo := ref_delegate_ensures_others _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have En := ref_delegate_ensures_nodes _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have El := ref_delegate_ensures_leaves _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ew := ref_delegate_ensures_clear _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ee := ref_delegate_ensures_error _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
have Ey := ref_delegate_ensures_empty _ _ _ _ _ _ _ _ _ _ _ _ _ _ E.
split; first by case: Eo => [->|[->|[->|[->|[[->|->] _]]]]] /=; tauto.
split; first by rewrite Er (pow2_agree D); lia.
split.
  rewrite Ep (pow2_agree D); split=> -[fl erased]; split; try lia.
    move=> y yB; apply: contraT => nP; case: (erased (Z.of_N y)); first lia.
    by apply/covers_at => //; lia.
  move=> y yB; have -> : y = Z.of_N (Z.to_N y) by lia.
  by rewrite covers_at; [rewrite erased //; lia | lia].
split.
  by move=> rB; have [_ [i [j [ij [m few]]]]] := proj1 Eb rB; have := Ed rB i j (conj ij m); lia.
split; last by split=> // rK; split=> [q|rB]; [apply: zero_cells (Ee rK) | exact: Ey].
move=> rK; have [fl ld] : (first <= last /\ last < CModel.pow2 d)%num.
  by rewrite rK /PPRF_OK /PPRF_ERR_RANGE (pow2_agree D) in Er; lia.
have [room_ok zeros_ok] := Ew rK.
split; last by split=> // q; apply: zero_cells zeros_ok.
rewrite /sub /punctured_key delegate_range_cover ?size_leaf_path //.
apply/(acsl_inv_cover D); split=> //; split=> [|x xd]; first exact: En.
rewrite (El rK) (covers_at x xd) negb_or negbK /= !leaf_le_num ?size_leaf_path //.
rewrite !leaf_pathK //; last by lia.
split=> [[[h1 h2] nP]|/and3P [nP /N.leb_spec0 h1 /N.leb_spec0 h2]]; last by split=> //; split; lia.
by apply/and3P; split=> //; apply/N.leb_spec0; lia.
Qed.

End Sound.

(* What the contracts call a seed is all of its 16 bytes: two structures are one seed only if their words
   are the same, as far as seed_from_words tells these apart. *)
Theorem acsl_seed_whole (V : logic) (L M : memory) (p q : pointer) :
  (forall a b c e, seed_from_words V a b = seed_from_words V c e -> a = c /\ b = e) ->
  seed_value V (pprf_seed_at L p) = seed_value V (pprf_seed_at M q) ->
  forall k, 0 <= k < pprf_seed_cells -> cell L (shift 1 p k) = cell M (shift 1 q k).
Proof.
move=> I /I [/= E0 E1] k; rewrite /pprf_seed_cells => kB.
by have [->|->] : k = 0 \/ k = 1 by lia.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What the operations cost, in the model's terms: the clauses of the contracts on the counter `expansions',
   which a call of prg_expand raises by one at most, bound the calls of an evaluation or a puncture by what
   the model expands for it (Ggm.expanded, of which proofs/model/Sizes.v has the sums), and those of a range
   by two a level. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool ZifyNat.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import Correctness Sizes Layout ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From Pprf.proofs Require Import AcslAgree AcslSound AcslLayout ApiSound.
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

Section Expanded.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.

Lemma size_spine p y : size (spine p y) = size y.
Proof. by elim: y p => //= b y IH p; rewrite IH. Qed.

(* The node above a leaf that has a value, and what is expanded from it down to the leaf. *)
Lemma node_above (K : Ggm.key Seed) x : eval G K x <> None -> exists2 n, List.In n K & prefix n.1 x.
Proof.
elim: K => //= n K IH; case: ifP => [px _|_ /IH [m mK pm]]; first by exists n; [left |].
by exists m; [right |].
Qed.

Lemma expanded_below (K : Ggm.key Seed) n x : List.In n K -> prefix n.1 x ->
  (size x - size n.1 <= size (expanded x K))%nat.
Proof.
elim: K => //= m K IH + px; rewrite /expanded /= size_cat => -[->|mK].
  by rewrite px size_spine size_drop; apply: leq_addr.
by apply: leq_trans (leq_addl _ _); apply: IH.
Qed.
End Expanded.

Section Cost.

Variable V : logic.
Hypothesis D : definitions V.
Local Notation array_at a cap := (span ref_node_cells a 0 (cap - 1)).
Local Notation seed_at p := (span pprf_seed_cells p 0 0).
Local Notation word_at p := (span 1 p 0 0).
Local Notation path d x := (leaf_path d x).

(* A leaf that is not punctured lies below a node of the array, which is as high as the model's walk is
   long. *)
Lemma node_at_leaf L a n d (P : pred bitseq) R x : (d <= 63)%nat -> (x < CModel.pow2 d)%num ->
  ~~ P (path d x) -> holds L a n (key_nodes V d P R) ->
  exists2 k, 0 <= k < n & covers_at V L (shift ref_node_cells a k) (Z.of_N x) /\
    ref_node_height (ref_node_at L (shift ref_node_cells a k)) <= expanded_at V d P R x.
Proof.
move=> d63 xd nP [nE H].
have live : eval (@acsl_family V d) (punctured_key V d P R) (path d x) <> None.
  rewrite -[in eval _ _ _](cat0s (path d x)) /punctured_key eval_cover ?size_leaf_path //.
  by rewrite (negbTE nP).
have [m mK pm] := node_above live.
have [k kn E] := in_nth_error mK.
have E' : List.nth_error (key_nodes V d P R) k = Some (encode d m).
  by rewrite /key_nodes; exact: List.map_nth_error.
have [sE hE _] := H k _ E'.
exists (Z.of_nat k); first by rewrite nE size_map; move/ltP: kn; lia.
have below := expanded_below mK pm; rewrite size_leaf_path in below.
have span := prefix_in_span (size_leaf_path d x) pm; rewrite leaf_pathK // in span.
rewrite hE /=; split; last by rewrite /expanded_at; move/leP: below; lia.
rewrite /covers_at /covers sE hE /= (pow2_agree D).
move: span; rewrite /in_span; move: (first_leaf d m.1) (CModel.pow2 (d - size m.1)) => u w.
by move/andP=> [/N.leb_spec0 ? /N.ltb_spec0 ?]; lia.
Qed.

(* It is the depth at most, whatever was punctured before. *)
Theorem expanded_at_depth d (P : pred bitseq) R x : expanded_at V d P R x <= Z.of_nat d.
Proof.
pose xs := pts d P.
have axs : all (fun y => size y == d) xs by apply: size_pts.
have E : punctured_key V d P R = puncture_all (@acsl_family V d) xs (keygen (seed_value V R)).
  rewrite (puncture_all_canonical _ _ axs) /punctured_key; apply: eq_cover => y sy.
  by rewrite /= mem_pts sy eqxx.
have := expansions_puncture (@acsl_family V d) (seed_value V R) axs (size_leaf_path d x).
by rewrite /expanded_at E => /leP; lia.
Qed.

(* ref_eval: no call but those of the model's walk. *)
Theorem ref_eval_cost_sound Pre Post a n d f x value R result (P : pred bitseq) before after :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> c_size_t n ->
  readable Pre (array_at a n) -> writable Pre (seed_at value) ->
  separated [:: seed_at value; array_at a n] ->
  holds Pre a n (key_nodes V d P R) ->
  ref_eval_contract V Pre Post a n (Z.of_nat d) f (Z.of_N x) value R result ->
  ref_eval_cost V Pre Post a n (Z.of_nat d) f (Z.of_N x) value R result before after ->
  after <= before + expanded_at V d P R x.
Proof.
move=> d63 fam x64 nt rd wr sep H C B.
have [_ [rE [pE _]]] := ref_eval_sound D d63 fam x64 nt rd wr sep H C.
have [_ [I _]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
have e0 : 0 <= expanded_at V d P R x by rewrite /expanded_at; lia.
have d63' := depth_ok d63.
case: B => [||cost free].
- by rewrite /ref_eval_typed /c_unsigned; split=> //; split=> //; lia.
- by split=> //; rewrite /REF_DEPTH_MAX; lia.
case: (N.lt_ge_cases x (CModel.pow2 d)) => xd; last first.
  by have := free (or_introl (proj2 rE ltac:(lia))); lia.
case nP: (P (path d x)); last first.
  have [k kn [c h]] := node_at_leaf d63 xd (negbT nP) H.
  by have := cost k (conj kn c); rewrite -[4]/ref_node_cells; lia.
have v : eval (@acsl_family V d) (punctured_key V d P R) (path d x) = None.
  by rewrite -[in eval _ _ _](cat0s (path d x)) /punctured_key eval_cover ?size_leaf_path // nP.
by have := free (or_intror (proj2 pE (conj xd v))); lia.
Qed.

(* ref_eval_punct: the same. *)
Theorem ref_eval_punct_cost_sound Pre Post a n cap d f x value R result (P : pred bitseq) before after :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N x) -> cell Pre n <= cap <= REF_NODES_MAX ->
  writable Pre (array_at a cap) -> writable Pre (word_at n) -> writable Pre (seed_at value) ->
  separated [:: array_at a cap; word_at n; seed_at value] ->
  holds Pre a (cell Pre n) (key_nodes V d P R) ->
  (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
  ref_eval_punct_contract V Pre Post a n cap (Z.of_nat d) f (Z.of_N x) value R result ->
  ref_eval_punct_cost V Pre Post a n cap (Z.of_nat d) f (Z.of_N x) value R result before after ->
  after <= before + expanded_at V d P R x.
Proof.
move=> d63 fam x64 ncap wa wn wv sep H clear C B.
have [_ [rE [pE _]]] := ref_eval_punct_sound D d63 fam x64 ncap wa wn wv sep H clear C.
have [n0 [I _]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
have e0 : 0 <= expanded_at V d P R x by rewrite /expanded_at; lia.
have d63' := depth_ok d63.
case: B => [||cost free].
- rewrite /REF_NODES_MAX in ncap; rewrite /c_uint64_t in x64.
  by rewrite /ref_eval_punct_typed /c_unsigned /c_size_t /c_uint64_t; lia.
- by split=> //; [rewrite /REF_DEPTH_MAX; lia | apply: cells_zero].
case: (N.lt_ge_cases x (CModel.pow2 d)) => xd; last first.
  by have := free (or_introl (proj2 rE ltac:(lia))); lia.
case nP: (P (path d x)); last first.
  have [k kn [c h]] := node_at_leaf d63 xd (negbT nP) H.
  by have := cost k (conj kn c); rewrite -[4]/ref_node_cells; lia.
have v : eval (@acsl_family V d) (punctured_key V d P R) (path d x) = None.
  by rewrite -[in eval _ _ _](cat0s (path d x)) /punctured_key eval_cover ?size_leaf_path // nP.
by have := free (or_intror (or_introl (proj2 pE (conj xd v)))); lia.
Qed.

(* ref_punct_range: two calls a level at most, none if the range has no live leaf. *)
Theorem ref_punct_range_cost_sound Pre Post a n cap d f first last R result (P : pred bitseq) before after :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) ->
  cell Pre n <= cap <= REF_NODES_MAX ->
  writable Pre (array_at a cap) -> writable Pre (word_at n) ->
  separated [:: array_at a cap; word_at n] ->
  holds Pre a (cell Pre n) (key_nodes V d P R) ->
  (forall q, span ref_node_cells a (cell Pre n) (cap - 1) q -> cell Pre q = 0) ->
  ref_punct_range_cost V Pre Post a n cap (Z.of_nat d) f (Z.of_N first) (Z.of_N last) R result before after ->
  after <= before + 2 * Z.of_nat d /\
  (List.In result [:: PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER] -> after <= before).
Proof.
move=> /depth_ok d63 fam f64 l64 ncap wa wn sep H clear B.
have [n0 [I _]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
case: B => [||cost [_ free]].
- rewrite /REF_NODES_MAX in ncap; rewrite /c_uint64_t in f64 l64.
  by rewrite /ref_punct_range_typed /c_unsigned /c_size_t /c_uint64_t; lia.
- by split=> //; [rewrite /REF_DEPTH_MAX; lia | apply: cells_zero].
by split=> // -[e|[e|[e|//]]]; apply: free; rewrite -e; tauto.
Qed.

(* ref_delegate: two calls a level at most, none if the range has no live leaf. *)
Theorem ref_delegate_cost_sound Pre Post a n d f first last out room count R result (P : pred bitseq) before after :
  (d <= 63)%nat -> tree_family V f -> c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) ->
  n <= REF_NODES_MAX -> 0 <= room <= REF_NODES_MAX -> c_size_t (cell Pre count) ->
  readable Pre (array_at a n) -> writable Pre (array_at out room) -> writable Pre (word_at count) ->
  separated [:: array_at a n; array_at out room; word_at count] ->
  holds Pre a n (key_nodes V d P R) ->
  (forall q, array_at out room q -> cell Pre q = 0) ->
  ref_delegate_cost V Pre Post a n (Z.of_nat d) f (Z.of_N first) (Z.of_N last) out room count R result
    before after ->
  after <= before + 2 * Z.of_nat d /\
  (List.In result [:: PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_BUFFER] -> after <= before).
Proof.
move=> /depth_ok d63 fam f64 l64 nmax rmax c64 ra wo wc sep H clear B.
have [n0 [I _]] := proj1 (acsl_inv_cover D _ _ _ _ _ _) H.
case: B => [||cost free].
- rewrite /REF_NODES_MAX in nmax rmax; rewrite /c_uint64_t in f64 l64; rewrite /c_size_t in c64.
  by rewrite /ref_delegate_typed /c_unsigned /c_size_t /c_uint64_t; lia.
- by split=> //; [rewrite /REF_DEPTH_MAX; lia | lia | apply: cells_zero].
by split=> // -[e|[e|[e|//]]]; apply: free; rewrite -e; tauto.
Qed.

End Cost.

Section ApiCost.

Variable V : api.
Hypothesis D : definitions V.
Hypothesis DL : layout_definitions V.
Hypothesis DA : api_definitions V.

(* A leaf that is not punctured lies below a live node, which is as high as the model's walk is long. *)
Lemma live_at_leaf L s d (P : pred bitseq) R x : (x < CModel.pow2 d)%num -> ~~ P (leaf_path d x) ->
  store_holds V L s d P R ->
  exists t h, [/\ live V L s 0 0 (Z.of_nat d) t h, covers V t h (Z.of_N x) & h <= expanded_at V d P R x].
Proof.
move=> xd nP H; have [dE _ set] := proj1 (acsl_store_holds D DL DA _ _ _ _ _) H.
have PE y : (y < CModel.pow2 d)%num ->
    P (leaf_path d y) <-> is_punctured V L s (Z.of_N y) \/ 0 <= Z.of_N y < 0.
  by move=> yd; rewrite -(set y yd); split=> [|[|]]; [left | | lia].
have live : eval (@acsl_family V d) (punctured_key V d P R) (leaf_path d x) <> None.
  by rewrite (eval_value D) // (negbTE nP).
have [m mK pm] := node_above live.
have below := expanded_below mK pm; rewrite size_leaf_path in below.
have span := prefix_in_span (size_leaf_path d x) pm; rewrite leaf_pathK // in span.
exists (Z.of_N (first_leaf d m.1)), (Z.of_nat (d - size m.1)); split.
- by apply/(acsl_live_cover D DL PE R); exists m.1; first exact: map_fst_in.
- rewrite /covers (pow2_agree D).
  move: span; rewrite /in_span; move: (first_leaf d m.1) (CModel.pow2 (d - size m.1)) => u w.
  by move/andP=> [/N.leb_spec0 ? /N.ltb_spec0 ?]; lia.
by rewrite /expanded_at; move/leP: below; lia.
Qed.

(* What the clauses on the counter come to for a leaf. *)
Lemma cost_at L key d x result (P : pred bitseq) before after :
  own_key V L key d P ->
  (result = PPRF_ERR_RANGE <-> ~ (x < CModel.pow2 d)%num) ->
  (result = PPRF_ERR_PUNCTURED <-> (x < CModel.pow2 d)%num /\
     eval (@acsl_family V d) (punctured_key V d P (key_root V)) (leaf_path d x) = None) ->
  (key <> null V /\ ~ copied V L key -> ~ packed V L key -> forall s h,
     live V L (store_of key) 0 0 (cell L (store_of key)) s h /\ covers V s h (Z.of_N x) -> after <= before + h) ->
  (result = PPRF_ERR_NULL \/ result = PPRF_ERR_FORKED \/ result = PPRF_ERR_RANGE \/ result = PPRF_ERR_PUNCTURED ->
     after <= before) ->
  after <= before + expanded_at V d P (key_root V) x.
Proof.
move=> [kn nc [_ i _ _ H]] rE pE cost free.
have [dE _ _] := proj1 (acsl_store_holds D DL DA _ _ _ _ _) H.
have e0 : 0 <= expanded_at V d P (key_root V) x by rewrite /expanded_at; lia.
have none : result = PPRF_ERR_RANGE \/ result = PPRF_ERR_PUNCTURED -> after <= before.
  by case=> e; apply: free; tauto.
case: (N.lt_ge_cases x (CModel.pow2 d)) => xd; last first.
  by have := none (or_introl (proj2 rE ltac:(lia))); lia.
case nP: (P (leaf_path d x)); last first.
  have [t [h [l c hB]]] := live_at_leaf xd (negbT nP) H.
  by have := cost (conj kn nc) (not_packed i) t h ltac:(by rewrite dE); lia.
by have := none (or_intror (proj2 pE (conj xd (proj2 (eval_outside D P (key_root V) xd) nP)))); lia.
Qed.

(* pprf_eval: no call but those of the model's walk. *)
Theorem opt_eval_cost_sound Pre Post key d x out result (P : pred bitseq) before after :
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_contract V Pre Post key (Z.of_N x) out result ->
  pprf_eval_cost V Pre Post key (Z.of_N x) out result before after ->
  after <= before + expanded_at V d P (key_root V) x.
Proof.
move=> x64 ok ao C B; have [_ [rE [pE _]]] := opt_eval_sound D DL DA x64 ok ao C.
have [kn nc [O I]] := key_usable D DL DA ok; have [_ _ [wr i A F _]] := ok.
case: B => [||_ [cost free]]; last exact: (cost_at ok rE pE cost free).
  by case: ao => _ _ ty _ _; split.
case: ao => on wo _ so out_.
split; [by right; split=> //; right | by right; right | by right | right; right; split=> //; right].
exact: apart_outside.
Qed.

(* pprf_punct: the same. *)
Theorem opt_punct_cost_sound Pre Post key d x result (P : pred bitseq) before after :
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P ->
  pprf_punct_contract V Pre Post key (Z.of_N x) result ->
  pprf_punct_cost V Pre Post key (Z.of_N x) result before after ->
  after <= before + expanded_at V d P (key_root V) x.
Proof.
move=> x64 ok C B; have [_ [rE [pE _]]] := opt_punct_sound D DL DA x64 ok C.
have [kn nc [O I]] := key_usable D DL DA ok; have [_ _ [wr i A F _]] := ok.
case: B => [||_ [cost free]]; [by [] | | exact: (cost_at ok rE pE cost free)].
by split; [right; split=> //; right | right; right].
Qed.

(* pprf_eval_punct: the same. *)
Theorem opt_eval_punct_cost_sound Pre Post key d x out result (P : pred bitseq) before after :
  c_uint64_t (Z.of_N x) -> own_key V Pre key d P -> apart_value V Pre key out ->
  pprf_eval_punct_contract V Pre Post key (Z.of_N x) out result ->
  pprf_eval_punct_cost V Pre Post key (Z.of_N x) out result before after ->
  after <= before + expanded_at V d P (key_root V) x.
Proof.
move=> x64 ok ao C B; have [_ [rE [pE _]]] := opt_eval_punct_sound D DL DA x64 ok ao C.
have [kn nc [O I]] := key_usable D DL DA ok; have [_ _ [wr i A F _]] := ok.
case: B => [||_ [cost free]]; last exact: (cost_at ok rE pE cost free).
  by case: ao => _ _ ty _ _; split.
case: ao => on wo _ so out_.
split; [by right; split=> //; right | by right; right | by right | right; right; split=> //; right].
exact: apart_outside.
Qed.

(* pprf_punct_range: two calls a level at most. *)
Theorem opt_punct_range_cost_sound Pre Post key d first last result (P : pred bitseq) before after :
  c_uint64_t (Z.of_N first) -> c_uint64_t (Z.of_N last) -> own_key V Pre key d P ->
  pprf_punct_range_contract V Pre Post key (Z.of_N first) (Z.of_N last) result ->
  pprf_punct_range_cost V Pre Post key (Z.of_N first) (Z.of_N last) result before after ->
  after <= before + 2 * Z.of_nat d /\
  (result = PPRF_ERR_RANGE \/ result = PPRF_ERR_PUNCTURED -> after <= before).
Proof.
move=> f64 l64 ok C B.
have [kn nc [O I]] := key_usable D DL DA ok; have [_ _ [wr i A F H]] := ok.
have [dE _ _] := proj1 (acsl_store_holds D DL DA _ _ _ _ _) H.
have r1 : pprf_punct_range_requires V Pre key (Z.of_N first) (Z.of_N last).
  by split; [right; split=> //; right | right; right].
have dP : cell Post (store_of key) = Z.of_nat d.
  case: C => [//|//|U _]; rewrite -dE.
  have {}U := slots_unchanged (rs := [::]) i U.
  have K := @depth_kept V Pre Post (store_of key) [::] O (fun r (f : False) => match f with end) U.
  exact: K.
case: B => [||cost free] //; split; last by case=> e; apply: free; tauto.
by have := cost (conj kn nc); rewrite /depth -[shift 1 key 4]/(store_of key) dP.
Qed.

End ApiCost.

(* SPDX-License-Identifier: Apache-2.0 *)
(* A key of depth 1 in memory, evaluated and punctured: each theorem on the ACSL applied to concrete
   arguments, so that its hypotheses are seen to be satisfiable, the contract among them. *)
From Coq Require Import NArith ZArith Lia.
From Coq Require ZifyBool.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel Contracts.
From Pprf.proofs Require Import ContractsSound.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslImport.
From Pprf.proofs Require Import AcslAgree AcslSound CostSound ImportSound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

Definition bare : pprf_family := pprf_family_intro 1 0 0.

(* Seeds are integers; a node's children have its seed and one or two more. *)
Definition toy : logic := defined
  {| seed_t := N; seed_from_words := fun lo _ => Z.to_N lo;
     prg_l := fun k _ _ => (k + 1)%num; prg_r := fun k _ _ => (k + 2)%num;
     is_family := fun _ _ _ => True; prg_failed := fun _ => True;
     message_t := unit; no_bytes := tt; then_ := fun m _ => m; digest := fun _ _ => 0;
     pow2 := id; is_node := fun _ _ _ => false; node_seed := fun R _ _ _ => R;
     byte := fun v _ => v; message_of := fun _ _ _ => tt |}.

Example acsl_definitions_exist_ex := @acsl_definitions_exist toy.
Definition toy_definitions : definitions toy := defined_definitions _.
Example acsl_facts_ex : facts toy := acsl_facts toy_definitions.

(* Seeds are pairs of words. *)
Definition pairs : logic :=
  {| seed_t := (Z * Z)%type; seed_from_words := pair; prg_l := fun k _ _ => k; prg_r := fun k _ _ => k;
     is_family := fun _ _ _ => True; prg_failed := fun _ => True;
     message_t := unit; no_bytes := tt; then_ := fun m _ => m; digest := fun _ _ => 0;
     pow2 := id; is_node := fun _ _ _ => false; node_seed := fun R _ _ _ => R;
     byte := fun v _ => v; message_of := fun _ _ _ => tt |}.

(* Block 0 holds the array, block 1 its length, block 2 the value. *)
Definition root : pprf_seed := pprf_seed_intro 10 0.
Definition holding (start height lo value : Z) : memory := {|
  cell := fun q =>
    if fst q =? 0 then
      if snd q =? 0 then start else if snd q =? 1 then height else if snd q =? 2 then lo else 0
    else if fst q =? 1 then if snd q =? 0 then 1 else 0
    else if fst q =? 2 then if snd q =? 0 then value else 0 else 0;
  may_read := fun _ => True; may_write := fun _ => True |}.
Definition fresh : memory := holding 0 1 10 0.
Definition evaluated : memory := holding 0 1 10 11.
Definition punctured : memory := holding 1 0 12 11.
Definition range_punctured : memory := holding 1 0 12 0.
Notation o := false.

Example fresh_holds : holds fresh (0, 0) 1 (key_nodes toy 1 pred0 root).
Proof. by split=> // -[|[|k]] m //; case=> <-. Qed.
Example evaluated_holds : holds evaluated (0, 0) 1 (key_nodes toy 1 pred0 root).
Proof. by split=> // -[|[|k]] m //; case=> <-. Qed.
Example punctured_holds v :
  holds (holding 1 0 12 v) (0, 0) 1 (key_nodes toy 1 (predU pred0 (pred1 [:: o])) root).
Proof. by split=> // -[|[|k]] m //; case=> <-. Qed.

Definition acsl_inv_cover_ex := @acsl_inv_cover toy toy_definitions fresh root 1 (0, 0) 1 pred0.
Example fresh_inv : inv toy fresh 10%num 1 (0, 0) 1.
Proof. by case: (proj1 acsl_inv_cover_ex fresh_holds) => _ []. Qed.
Example punctured_inv v : inv toy (holding 1 0 12 v) 10%num 1 (0, 0) 1.
Proof.
have := @acsl_inv_cover toy toy_definitions (holding 1 0 12 v) root 1 (0, 0) 1
  (predU pred0 (pred1 [:: o])).
by case/proj1/(_ (punctured_holds v)) => _ [].
Qed.

Example one_node start height lo v y : covered toy (holding start height lo v) (0, 0) 1 y <->
  start <= y < start + pow2 toy height.
Proof.
split=> [[k [kB]]|yB]; last by exists 0.
by have -> : k = 0 by lia.
Qed.
Example covered_fresh v y : covered toy (holding 0 1 10 v) (0, 0) 1 y <-> 0 <= y < 2.
Proof. exact: one_node. Qed.
Example covered_punctured v y : covered toy (holding 1 0 12 v) (0, 0) 1 y <-> y = 1.
Proof. by rewrite one_node; change (pow2 toy 0) with 1; lia. Qed.

(* Only the cells of the array, the length and the value differ. *)
Ltac elsewhere q out :=
  case: q out => b c /= out; repeat (case: Z.eqb_spec => //= ?; subst); exfalso;
  first [ apply: (out _ (or_introl erefl)); split=> //=; lia
        | apply: (out _ (or_intror (or_introl erefl))); split=> //=; lia
        | apply: (out _ (or_intror (or_intror (or_introl erefl)))); split=> //=; lia ].

Example setup_meets_contract : ref_setup_contract toy fresh fresh (0, 0) 1 root.
Proof.
move=> _ _; split=> [q _ //|]; split; first by rewrite /ref_setup_typed /c_unsigned; lia.
by split; [exact: fresh_inv | move=> y; rewrite covered_fresh].
Qed.
Definition ref_setup_sound_ex := @ref_setup_sound toy toy_definitions fresh fresh (0, 0) 1 root
  isT (fun _ _ => I) setup_meets_contract.

(* The deepest tree: one node of 2^63 leaves. *)
Definition deepest : memory := holding 0 63 10 0.
Example deepest_inv : inv toy deepest 10%num 63 (0, 0) 1.
Proof. by split=> [k kB|]; [have -> : k = 0 by lia | split=> k l; lia]. Qed.
Example deepest_meets_contract : ref_setup_contract toy deepest deepest (0, 0) 63 root.
Proof.
move=> _ _; split=> [q _ //|]; split; first by rewrite /ref_setup_typed /c_unsigned; lia.
by split; [exact: deepest_inv | move=> y; rewrite one_node].
Qed.
Definition ref_setup_sound_deepest := @ref_setup_sound toy toy_definitions deepest deepest (0, 0) 63 root
  isT (fun _ _ => I) deepest_meets_contract.

Example eval_meets_contract :
  ref_eval_contract toy fresh evaluated (0, 0) 1 1 bare 0 (2, 0) root PPRF_OK.
Proof.
move=> T _; split; first by move=> q out; elsewhere q out.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by split=> // c; exfalso; move: c; change (pow2 toy 1) with 2; lia.
- by split=> // -[_]; rewrite covered_fresh; lia.
- by left.
- by [].
- by [].
Qed.
Example value_apart : separated [:: span pprf_seed_cells (2, 0) 0 0;
                                    span ref_node_cells (0, 0) 0 (1 - 1)].
Proof. by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split]. Qed.
Definition ref_eval_sound_ex := @ref_eval_sound toy toy_definitions fresh evaluated (0, 0) 1 1
  bare 0 (2, 0) root PPRF_OK pred0 isT I ltac:(by []) ltac:(by []) (fun _ _ => I) (fun _ _ => I) value_apart
  fresh_holds eval_meets_contract.
Example eval_meets_cost : ref_eval_cost toy fresh evaluated (0, 0) 1 1 bare 0 (2, 0) root PPRF_OK 6 7.
Proof. by move=> _ _; split=> [k [kB _]|[|]] //; have -> : k = 0 by lia. Qed.
Definition ref_eval_cost_sound_ex := @ref_eval_cost_sound toy toy_definitions fresh evaluated (0, 0) 1 1
  bare 0 (2, 0) root PPRF_OK pred0 6 7 isT I ltac:(by []) ltac:(by []) (fun _ _ => I) (fun _ _ => I) value_apart
  fresh_holds eval_meets_contract eval_meets_cost.
Example expanded_at_fresh : expanded_at toy 1 pred0 root 0 = 1.
Proof. by []. Qed.
Definition expanded_at_depth_ex := @expanded_at_depth toy 1 pred0 root 0%num.

Example fresh_clear q : span ref_node_cells (0, 0) 1 (2 - 1) q -> cell fresh q = 0.
Proof. by case: q => b c [/= -> B] /=; do 3! (case: Z.eqb_spec => [?|_] /=; first by lia). Qed.
Example eval_punct_meets_contract :
  ref_eval_punct_contract toy fresh punctured (0, 0) (1, 0) 2 1 bare 0 (2, 0) root PPRF_OK.
Proof.
move=> T _; split; first by move=> q out; elsewhere q out.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- exact: punctured_inv.
- by split=> // c; exfalso; move: c; change (pow2 toy 1) with 2; lia.
- by split=> // -[_]; rewrite covered_fresh; lia.
- split=> // -[_ [k [kB [_]]]]; have -> : k = 0 by change (0 <= k /\ k < 1) in kB; lia.
  by change (2 < 1 - 1 + 1 -> PPRF_OK = PPRF_ERR_BUFFER); lia.
- by left.
- by [].
- by move=> _; rewrite covered_punctured.
- by move=> y y0; rewrite covered_punctured covered_fresh; lia.
- by [].
- by move=> k kB; have -> : k = 1 by change (1 <= k /\ k < 2) in kB; lia.
- by [].
Qed.
Example all_apart : separated [:: span ref_node_cells (0, 0) 0 (2 - 1); span 1 (1, 0) 0 0;
                                  span pprf_seed_cells (2, 0) 0 0].
Proof.
split; first by move=> r [<-|[<-|//]] q [/= E _] [/= E' _]; lia.
by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split].
Qed.
Definition ref_eval_punct_sound_ex := @ref_eval_punct_sound toy toy_definitions fresh punctured
  (0, 0) (1, 0) 2 1 bare 0 (2, 0) root PPRF_OK pred0 isT I ltac:(by []) ltac:(by []) (fun _ _ => I)
  (fun _ _ => I) (fun _ _ => I) all_apart fresh_holds fresh_clear eval_punct_meets_contract.
Example eval_punct_meets_cost :
  ref_eval_punct_cost toy fresh punctured (0, 0) (1, 0) 2 1 bare 0 (2, 0) root PPRF_OK 6 7.
Proof.
move=> _ _; split=> [k [kB _]|[|[|]]] //.
by have -> : k = 0 by change (0 <= k /\ k < 1) in kB; lia.
Qed.
Definition ref_eval_punct_cost_sound_ex := @ref_eval_punct_cost_sound toy toy_definitions fresh punctured
  (0, 0) (1, 0) 2 1 bare 0 (2, 0) root PPRF_OK pred0 6 7 isT I ltac:(by []) ltac:(by []) (fun _ _ => I)
  (fun _ _ => I) (fun _ _ => I) all_apart fresh_holds fresh_clear eval_punct_meets_contract eval_punct_meets_cost.

Example punct_range_meets_contract :
  ref_punct_range_contract toy fresh range_punctured (0, 0) (1, 0) 2 1 bare 0 0 root PPRF_OK.
Proof.
move=> T _; split; first by move=> q out; elsewhere q out.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- exact: punctured_inv.
- by split=> // c; exfalso; move: c; change (pow2 toy 1) with 2; lia.
- split=> // -[_ /(_ 0)]; rewrite covered_fresh; lia.
- split=> // -[_ [i [j [ij [_]]]]]; have [-> ->] : i = 0 /\ j = 1.
    by change (0 <= i /\ i < j /\ j <= 1) in ij; lia.
  by change (2 < 1 - (1 - 0) + 1 + 1 -> PPRF_OK = PPRF_ERR_BUFFER); lia.
- by left.
- by move=> _ y yB; rewrite covered_punctured; lia.
- by move=> y y0; rewrite covered_punctured covered_fresh; lia.
- by [].
- by move=> k kB; have -> : k = 1 by change (1 <= k /\ k < 2) in kB; lia.
- by [].
Qed.
Definition acsl_seed_whole_ex := @acsl_seed_whole pairs fresh fresh (0, 2) (0, 2)
  ltac:(by move=> a b c e [-> ->]) (erefl _).
Definition ref_punct_range_sound_ex := @ref_punct_range_sound toy toy_definitions fresh
  range_punctured (0, 0) (1, 0) 2 1 bare 0 0 root PPRF_OK pred0 isT I ltac:(by []) ltac:(by [])
  ltac:(by []) (fun _ _ => I) (fun _ _ => I)
  ltac:(by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split]) fresh_holds
  fresh_clear punct_range_meets_contract.
Example punct_range_meets_cost :
  ref_punct_range_cost toy fresh range_punctured (0, 0) (1, 0) 2 1 bare 0 0 root PPRF_OK 6 7.
Proof. by move=> _ _; split=> //; split=> // -[|[|]]. Qed.
Definition ref_punct_range_cost_sound_ex := @ref_punct_range_cost_sound toy toy_definitions fresh
  range_punctured (0, 0) (1, 0) 2 1 bare 0 0 root PPRF_OK pred0 6 7 isT I ltac:(by []) ltac:(by [])
  ltac:(by []) (fun _ _ => I) (fun _ _ => I)
  ltac:(by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split]) fresh_holds
  fresh_clear punct_range_meets_cost.

(* The whole of the fresh key, delegated to block 3. *)
Definition delegated : memory := {|
  cell := fun q => if fst q =? 3 then cell fresh (0, snd q) else cell fresh q;
  may_read := fun _ => True; may_write := fun _ => True |}.
Example delegated_inv : inv toy delegated 10%num 1 (3, 0) 1.
Proof. by split=> [k kB|]; [have -> : k = 0 by lia | split=> k l; lia]. Qed.
Example covered_delegated y : covered toy delegated (3, 0) 1 y <-> 0 <= y < 2.
Proof. by split=> [[k [kB]]|yB]; [have -> : k = 0 by lia | exists 0]. Qed.
Example delegate_meets_contract :
  ref_delegate_contract toy fresh delegated (0, 0) 1 1 bare 0 1 (3, 0) 5 (1, 0) root PPRF_OK.
Proof.
move=> T _; split.
  case=> b c out /=; case: Z.eqb_spec => // bE; subst; case: (Z_lt_dec c 0) => c0; last first.
    case: (Z_lt_dec c 20) => c1; first by case: (out _ (or_introl erefl)); split=> //=; rewrite /ref_node_cells; lia.
    by rewrite /fresh /=; repeat (case: Z.eqb_spec => [?|_] /=; first by lia).
  by rewrite /fresh /=; repeat (case: Z.eqb_spec => [?|_] /=; first by lia).
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split.
- by split=> // c; exfalso; move: c; change (pow2 toy 1) with 2; lia.
- by split=> // -[_ /(_ 0)]; rewrite covered_fresh; lia.
- by split=> // -[_ [i [j [ij [_ few]]]]]; lia.
- by [].
- by left.
- by move=> _; exact: delegated_inv.
- by move=> _ y; rewrite [covered _ _ _ (cell _ _) _]covered_delegated covered_fresh; lia.
- move=> _; split=> [|k kB] //; have {kB} : k = 1 \/ k = 2 \/ k = 3 \/ k = 4.
    by change (1 <= k /\ k < 5) in kB; lia.
  by case=> [->|[->|[->|->]]].
- by [].
- by case.
Qed.
Example delegated_apart : separated [:: span ref_node_cells (0, 0) 0 (1 - 1);
                                        span ref_node_cells (3, 0) 0 (5 - 1); span 1 (1, 0) 0 0].
Proof.
split; first by move=> r [<-|[<-|//]] q [/= E _] [/= E' _]; lia.
by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split].
Qed.
Example room_clear q : span ref_node_cells (3, 0) 0 (5 - 1) q -> cell fresh q = 0.
Proof. by case: q => b c [/= -> B]. Qed.
Definition ref_delegate_sound_ex := @ref_delegate_sound toy toy_definitions fresh delegated (0, 0) 1 1 bare
  0 1 (3, 0) 5 (1, 0) root PPRF_OK pred0 isT I ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by [])
  (fun _ _ => I) (fun _ _ => I) (fun _ _ => I) delegated_apart fresh_holds room_clear delegate_meets_contract.
Example delegate_meets_cost :
  ref_delegate_cost toy fresh delegated (0, 0) 1 1 bare 0 1 (3, 0) 5 (1, 0) root PPRF_OK 6 8.
Proof. by move=> _ _; split=> // -[|[|]]. Qed.
Definition ref_delegate_cost_sound_ex := @ref_delegate_cost_sound toy toy_definitions fresh delegated (0, 0) 1 1
  bare 0 1 (3, 0) 5 (1, 0) root PPRF_OK pred0 6 8 isT I ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by [])
  ltac:(by []) (fun _ _ => I) (fun _ _ => I) (fun _ _ => I) delegated_apart fresh_holds room_clear
  delegate_meets_cost.

(* A node whose seed is no root's. *)
Definition hostile : memory := holding 1 0 99 0.
Example hostile_canonical : canonical toy hostile 1 (0, 0) 1.
Proof. by split=> [k kB|]; [have -> : k = 0 by lia | split=> k l; lia]. Qed.
Definition ref_import_sound_ex := @ref_import_sound toy toy_definitions hostile (0, 0) 1 1 ltac:(by [])
  hostile_canonical.

(* So an evaluation after the import writes its value alone, and returns what it may. *)
Example imported_eval Post R result :
  ref_eval_contract (one_seed toy) hostile Post (0, 0) 1 1 bare 1 (2, 0) R result ->
  List.In result [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO] /\
  unchanged hostile Post [:: span pprf_seed_cells (2, 0) 0 0].
Proof.
have [P [_ [[D1 H] _]]] := ref_import_sound_ex; have [_ h] := H R => C.
by have [res [_ [_ [_ [_ U]]]]] := @ref_eval_sound (one_seed toy) D1 hostile Post (0, 0) 1 1 bare 1 (2, 0) R result P
  isT I ltac:(by []) ltac:(by []) (fun _ _ => I) (fun _ _ => I) value_apart h C.
Qed.

(* The file of a key with all leaves punctured, in block 3. *)
Definition no_nodes : memory := {|
  cell := fun q => if fst q =? 3 then nth 0 [:: 80; 80; 82; 70; 75; 69; 89; 1; 1; 1] (Z.to_nat (snd q)) else 0;
  may_read := fun _ => True; may_write := fun _ => True |}.
Example no_nodes_sized : sized toy (record_at toy 1 0 + DIGEST_BYTES) 1 0.
Proof. by []. Qed.
Example no_nodes_starts : starts toy no_nodes (3, 0) 1 0.
Proof.
split=> // k kB; have [->|[->|[->| ->]]] // : k = 0 \/ k = 1 \/ k = 2 \/ k = 3 by lia.
Qed.
Example no_nodes_sealed : sealed toy no_nodes (3, 0) (record_at toy 1 0).
Proof.
move=> k kB; change (nth 0 [:: 80; 80; 82; 70; 75; 69; 89; 1; 1; 1] (Z.to_nat (0 + 1 * (16 + k))) = 0).
by rewrite nth_default //; apply/leP; change (size _) with 10%nat; lia.
Qed.
Example decode_meets_contract : ref_decode_contract toy no_nodes no_nodes (0, 0) 0 1 (3, 0) PPRF_OK.
Proof.
move=> T _; split=> //; split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
split=> //.
- by left.
- by move=> _; split; [split=> [k|]; [lia | split=> k l; lia] | split; [exact: no_nodes_starts | split=> [i|]; [lia | exact: no_nodes_sealed]]].
- by move=> _; split=> //; split; [exact: no_nodes_starts | split; [split=> i; lia | exact: no_nodes_sealed]].
Qed.
Definition ref_decode_sound_ex := @ref_decode_sound toy no_nodes no_nodes (0, 0) 0 1 (3, 0) PPRF_OK
  no_nodes_sized no_nodes_starts ltac:(by []) ltac:(by []) (fun _ _ => I) (fun _ _ => I)
  ltac:(by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split]) decode_meets_contract.

Definition contract_inv_complete_ex := @contract_inv_complete _ (@acsl_prg toy) 10%num 1
  (fun _ => Node 0 1 10%num) 1 pred0 erefl.

(* ---- The key file ------------------------------------------------------------------- *)

From Coq Require Strings.Byte.
From Pprf.spec Require Import Codec AcslCodec.
From Pprf.proofs Require Import AcslCodec.

Definition zeros32 (_ : seq Codec.byte) : 32.-tuple Codec.byte := [tuple of nseq 32 Byte.x00].
Example toy_digest : digest_is toy zeros32.
Proof.
move=> L p bs _ k b e; suff -> : b = Byte.x00 by [].
by move: k e; do 32 (case=> [[]|] //); case.
Qed.

Definition root_block : seed_block := @Tuple 16 _ (put_le 8 10 ++ put_le 8 0) erefl.
Definition root_nodes : seq (node seed_block) := [:: Node 0 1 root_block].
Example fresh_nodes : holds_nodes fresh (0, 0) root_nodes.
Proof. by case=> [|[|k]] m //; case=> <-; split=> //; exists 10%num, 0%num. Qed.

(* Block 3 holds the file. *)
Definition file : seq Codec.byte := encode_key zeros32 (KeyFile 1 root_nodes).
Definition exported : memory := {|
  cell := fun q => if (fst q =? 3) && (0 <=? snd q)
                   then Z.of_N (Byte.to_N (nth Byte.x00 file (Z.to_nat (snd q)))) else cell fresh q;
  may_read := fun _ => True; may_write := fun _ => True |}.

Example exported_holds : holds_bytes exported (3, 0) file.
Proof.
move=> k b /(nth_error_nth Byte.x00) <-.
have -> : shift 1 (3, 0) (Z.of_nat k) = (3, Z.of_nat k) by rewrite /shift Z.mul_1_l.
change (cell exported (3, Z.of_nat k)) with (if (3 =? 3) && (0 <=? Z.of_nat k)
  then Z.of_N (Byte.to_N (nth Byte.x00 file (Z.to_nat (Z.of_nat k)))) else 0).
by rewrite Nat2Z.id; have -> : (3 =? 3) && (0 <=? Z.of_nat k) = true by lia.
Qed.
Example exported_nodes : holds_nodes exported (0, 0) root_nodes.
Proof. by case=> [|[|k]] m //; case=> <-; split=> //; exists 10%num, 0%num. Qed.
Definition acsl_encodes_ex := @acsl_encodes toy toy_definitions zeros32 toy_digest exported (3, 0)
  (0, 0) 1 root_nodes isT exported_nodes.

Example encode_meets_contract : ref_encode_contract toy fresh exported (3, 0) (0, 0) 1 1 PPRF_OK.
Proof.
move=> T _; split.
  move=> [b c] out; rewrite /exported /=; case: ifP => // /andP [/Z.eqb_spec bE /Z.leb_spec0 c0].
  case: (Z.lt_ge_cases c 65) => c65.
    by case: (out _ (or_introl erefl)); split=> //=; change (record_at toy 1 1) with 33;
      rewrite /DIGEST_BYTES; lia.
  by rewrite bE nth_default //; apply/leP; change (size file) with 65%nat; lia.
split=> //; split; first by rewrite /c_int /PPRF_OK; lia.
by split=> [|_|//]; [left | apply/acsl_encodes_ex/exported_holds].
Qed.
Definition ref_encode_sound_ex := @ref_encode_sound toy toy_definitions zeros32 toy_digest fresh
  exported (3, 0) (0, 0) 1 root_nodes PPRF_OK isT isT ltac:(by []) ltac:(by []) (fun _ _ => I)
  (fun _ _ => I) ltac:(by split; [move=> r [<-|//] q [/= E _] [/= E' _]; lia | split]) fresh_nodes
  encode_meets_contract.

(* ---- opt's layout ------------------------------------------------------------------- *)

From Pprf.spec Require Import AcslOpt AcslStore.
From Pprf.proofs Require Import AcslLayout.

(* No leaf is punctured but lo .. hi - 1: the root is live, or the left leaf without the right. *)
Definition toy_layout : layout := laid_out toy (fun _ _ _ => False).
Definition toy_layout_definitions : layout_definitions toy_layout := laid_out_definitions _ _.
Example acsl_layout_exists_ex := @acsl_layout_exists toy (fun _ _ _ => False).
Example acsl_layout_facts_ex : layout_facts toy_layout :=
  @acsl_layout_facts toy_layout toy_definitions toy_layout_definitions.

Example none_punctured x : (x < CModel.pow2 1)%num ->
  pred0 (leaf_path 1 x) <-> is_punctured toy_layout fresh (0, 0) (Z.of_N x) \/ 0 <= Z.of_N x < 0.
Proof. by move=> _; split=> // -[] //; lia. Qed.
Example right_punctured x : (x < CModel.pow2 1)%num ->
  pred1 [:: true] (leaf_path 1 x) <->
  is_punctured toy_layout fresh (0, 0) (Z.of_N x) \/ 1 <= Z.of_N x < 2.
Proof.
change (CModel.pow2 1) with 2%num => x2; have [->|->] : x = 0%num \/ x = 1%num by lia.
  by split=> // -[] //; lia.
by split=> // _; right; lia.
Qed.
Definition acsl_live_cover_ex := @acsl_live_cover toy_layout toy_definitions
  toy_layout_definitions fresh (0, 0) 0 0 1 pred0 none_punctured root 0 1.
Example root_live : live toy_layout fresh (0, 0) 0 0 1 0 1.
Proof. by apply/acsl_live_cover_ex; exists [::]. Qed.
Example left_live : live toy_layout fresh (0, 0) 1 2 1 0 0.
Proof.
have := @acsl_live_cover toy_layout toy_definitions toy_layout_definitions fresh (0, 0) 1 2 1
  (pred1 [:: true]) right_punctured root 0 0.
by move=> E; apply/E; exists [:: o].
Qed.

Definition live_apart_lemma_ex := @live_apart_lemma toy_layout toy_definitions toy_layout_definitions
  fresh (0, 0) 1 2 1 ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by [])
  0 0 0 0 left_live left_live.
Definition pair_slot_injective_lemma_ex := @pair_slot_injective_lemma toy_layout toy_definitions
  toy_layout_definitions fresh (0, 0) 1 2 1 ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by [])
  0 0 0 0 left_live left_live erefl.
Example root_covers : (1 <= 1 /\ 1 <= 1 /\ 1 <= 32) /\
  tree_node toy_layout 1 0 1 /\ AcslRef.covers toy_layout 0 1 1.
Proof. by split; [lia | case: root_live => _ [_ []]]. Qed.
Definition slot_overwritten_lemma_ex := @slot_overwritten_lemma toy_layout toy_definitions
  toy_layout_definitions 1 0 1 1 ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by []) root_covers.
Example root_punctured : 1 <= 1 <= 32 /\
  live toy_layout fresh (0, 0) 0 0 1 0 1 /\ AcslRef.covers toy_layout 0 1 1.
Proof. by split; [lia | split; [exact: root_live | case: root_covers => _ []]]. Qed.
Definition puncture_lemma_ex := @puncture_lemma toy_layout toy_definitions toy_layout_definitions
  fresh (0, 0) 1 0 1 1 ltac:(by []) ltac:(by []) ltac:(by []) ltac:(by []) root_punctured.

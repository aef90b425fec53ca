(* SPDX-License-Identifier: Apache-2.0 *)
(* Calls of opt's API on a key, whichever store it has, one after the other: definitions only.

   The packed store is known by its contracts alone: what `packed_key' and `packed_punctured' mean in memory is the
   record `api''s to say, and nothing here depends on it. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslOpt AcslApi AcslKey AcslStore.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm CModel.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

(* Arguments are leaf numbers, in the tree or not. *)
Inductive key_call : Type := Eval of N | Punct of N | EvalPunct of N | PunctRange of N & N.

Section KeyCalls.

Variable V : api.
Variables key out : pointer.

(* The key of depth d of which the leaves of P are punctured, of this process, in either store. *)
Definition holds_key (L : memory) (d : nat) (P : pred bitseq) : Prop :=
  [/\ key <> null V, ~ copied V L key, tree_family V (family_of L key),
      AcslApi.key V L (seed_value V (key_root V)) key /\ AcslApi.depth V L key = Z.of_nat d &
      forall x, (x < CModel.pow2 d)%num -> AcslApi.punctured V L key (Z.of_N x) <-> P (leaf_path d x)].

(* 16 bytes for values, no part of the key. *)
Definition value_place (L : memory) : Prop :=
  [/\ out <> null V, writable L (value_cells out), c_uint8_t (cell L out) & value_outside V L key out].

Definition contract_of (c : key_call) (Pre Post : memory) (result : Z) : Prop :=
  match c with
  | Eval x => pprf_eval_contract V Pre Post key (Z.of_N x) out result
  | Punct x => pprf_punct_contract V Pre Post key (Z.of_N x) result
  | EvalPunct x => pprf_eval_punct_contract V Pre Post key (Z.of_N x) out result
  | PunctRange a b => pprf_punct_range_contract V Pre Post key (Z.of_N a) (Z.of_N b) result
  end.

(* C passes leaf numbers in 64 bits. *)
Definition fits (c : key_call) : Prop :=
  match c with
  | Eval x | Punct x | EvalPunct x => c_uint64_t (Z.of_N x)
  | PunctRange a b => c_uint64_t (Z.of_N a) /\ c_uint64_t (Z.of_N b)
  end.

(* The calls that were made, each with its result and the memory that it left: every one met its contract, the rights
   to memory stay, and what lies at the value's place is a byte, as C's types say. *)
Fixpoint were_made (L : memory) (cs : seq (key_call * Z * memory)) : Prop :=
  if cs is (c, r, L') :: cs' then
    [/\ fits c, contract_of c L L' r, may_write L' = may_write L, c_uint8_t (cell L' out) & were_made L' cs']
  else True.

(* The last memory. *)
Fixpoint memory_after (L : memory) (cs : seq (key_call * Z * memory)) : memory :=
  if cs is (_, _, L') :: cs' then memory_after L' cs' else L.

Section Model.

Variable d : nat.

Definition in_tree (c : key_call) : Prop :=
  match c with
  | Eval x | Punct x | EvalPunct x => (x < CModel.pow2 d)%num
  | PunctRange a b => (a <= b /\ b < CModel.pow2 d)%num
  end.

Definition leaves_of (c : key_call) : pred bitseq :=
  match c with
  | Eval x | Punct x | EvalPunct x => pred1 (leaf_path d x)
  | PunctRange a b => in_region (Range (leaf_path d a) (leaf_path d b))
  end.

(* What is punctured after a call with a result. *)
Definition punctured_after (P : pred bitseq) (c : key_call) (r : Z) : pred bitseq :=
  fun q => P q || (r =? PPRF_OK) && ~~ (if c is Eval _ then true else false) && leaves_of c q.

Fixpoint punctured_by (P : pred bitseq) (cs : seq (key_call * Z * memory)) : pred bitseq :=
  if cs is (c, r, _) :: cs' then punctured_by (punctured_after P c r) cs' else P.

(* The model's value at a leaf; none if it is punctured. *)
Definition model_value (P : pred bitseq) (x : N) : option (seed_t V) :=
  eval (@acsl_family V d) (punctured_key V d P (key_root V)) (leaf_path d x).

(* The result is the model's, or that memory or the PRG failed; so is the value. *)
Definition answers (P : pred bitseq) (c : key_call) (r : Z) (L' : memory) : Prop :=
  [/\ List.In r [:: PPRF_OK; PPRF_ERR_RANGE; PPRF_ERR_PUNCTURED; PPRF_ERR_NOMEM; PPRF_ERR_CRYPTO],
      r = PPRF_ERR_RANGE <-> ~ in_tree c,
      r = PPRF_ERR_PUNCTURED <-> in_tree c /\ (forall q, size q = d -> leaves_of c q -> P q) &
      match c with
      | Eval x | EvalPunct x =>
          (r = PPRF_OK -> exists2 v, model_value P x = Some v & value_is L' out v) /\
          (r <> PPRF_OK -> value_zero L' out)
      | _ => True
      end].

Fixpoint all_answers (P : pred bitseq) (cs : seq (key_call * Z * memory)) : Prop :=
  if cs is (c, r, L') :: cs' then answers P c r L' /\ all_answers (punctured_after P c r) cs' else True.

End Model.
End KeyCalls.

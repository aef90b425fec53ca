(* SPDX-License-Identifier: Apache-2.0 *)
(* The statements about opt and SHA3-256 applied to concrete memory: the key of depth 1 of ApiExamples.v
   without its seed, the one word of its bitmap shown, and an adversary that is challenged on a leaf,
   punctures it, and reads the slot and the bitmap. *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslRef AcslOpt AcslApi AcslStore.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import CModel Oracle RefGame OptGame Sha3Suite CodeSuite KeccakCode.
From Pprf.proofs Require Import ApiExamples RefSecurity OptSecurity Sha3Security RefExamples CodeSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope Z_scope.

Definition where_ : opt_layout := OptLayout at_key at_value 7 (fun v => (v, 0)) (0, 0).
Definition unset : memory := state 0 0 0.
Definition word : seq pointer := [:: (2, 0)].

Section Ready.
Variable S : suite.
Variables number salt_lo salt_hi : Z.
Hypothesis words_are : family_words S = pprf_family_intro number salt_lo salt_hi.
Local Notation unset := (state_of number salt_lo salt_hi 0 0 0).

Example unset_opened : opened (opt_logic S where_ (pprf_seed_intro 0 0)) unset (store_of at_key).
Proof. exact: (@opened_state_of number salt_lo salt_hi 0 0 0 (or_introl erefl)). Qed.

Example ready_of : opt_ready S 1 word where_ unset.
Proof.
split=> //.
- split; last by split.
  split; first by case.
  split; first by case.
  by rewrite /tree_family /= words_are.
- split; first exact: unset_opened.
  by move=> x xd; exact: (@is_punctured_fresh_of number salt_lo salt_hi 0 0 (Z.of_N x)).
- split=> -[b c] [/= -> B]; by rewrite /=; case: (Z.eqb_spec c 0).
split=> //; split; last exact: (@fresh_value_of number salt_lo salt_hi 0 0 ltac:(by [])).
have apart b b' c c' lo1 hi1 lo2 hi2 n n' : b <> b' ->
    separated [:: span n (b, c) lo1 hi1; span n' (b', c') lo2 hi2].
  by move=> ne; split; [move=> r' [<-|//] q [E _] [E' _]; case: ne; rewrite /= in E E'; lia | split; [move=> r' [] |]].
split; first by split; [move=> r' [<-|//] q [_ B] [_ B']; rewrite /= in B B'; lia | split; [move=> r' [] |]].
split; first exact: apart; split; first exact: apart.
move=> k kB; have -> : words (opt_logic S where_ (pprf_seed_intro 0 0)) (cell unset (store_of at_key)) k = 0.
  by apply: ApiSound.words_none; [change (1 <= 1 <= 32); lia | change (1 <= k); lia].
by split; [move=> r' [<-|//] q _ [_]; lia | split; [move=> r' [] | ]].
Qed.

End Ready.

Example unset_ready (S : suite) : family_words S = pprf_family_intro 1 0 0 -> opt_ready S 1 word where_ unset.
Proof. exact: ready_of. Qed.

Definition opt_thief (S : suite) : opt_adversary S unit :=
  @Ask _ (@ref_reply S _) (Call (EvalCall leaf0) Test (tt, false)) (fun y =>
  @Ask _ (@ref_reply S _) (Call (RangeCall leaf0 leaf0) Drop (tt, true)) (fun _ =>
  @Ask _ (@ref_reply S _) (Steal _ [:: (3, 0); (3, 1); (2, 0)]) (fun m =>
  Conclude _ (if (y, m) is (Some (_, Some _), Some _) then true else false)))).

Section Functions.
Variable F : opt_functions unit.
Local Notation meets S := (@opt_meets_contracts S 1 unit (fun _ _ _ => PPRF_OK) (fun _ _ _ => [:: 1]) word where_ F).

Section Sha3.
Hypothesis sha3 : meets sha3_suite.
Definition opt_sha3_secure_ex := opt_sha3_secure sha3 (@unset_ready sha3_suite erefl).
Definition opt_thief_bound := proj1 (proj2 opt_sha3_secure_ex) (opt_thief sha3_suite).
Example opt_thief_first : tests_below_leaf (N.of_nat 1) (opt_thief sha3_suite).
Proof. by []. Qed.
Definition opt_thief_bound_first := proj2 (proj2 opt_sha3_secure_ex) (opt_thief sha3_suite) 1%nat opt_thief_first.
End Sha3.

Example scalar : List.In opt_keccak_scalar keccak_functions.
Proof. by left. Qed.
Hypothesis code : meets (keccak_suite opt_keccak_scalar).
Definition opt_code_secure_ex := opt_code_secure scalar code (@unset_ready (keccak_suite opt_keccak_scalar) erefl).
Variable F_ref : functions unit.
Hypothesis code_ref :
  meets_contracts (keccak_suite opt_keccak_scalar) 2 (fun _ _ _ => PPRF_OK) place F_ref.
Definition ref_code_secure_ex := ref_code_secure scalar code_ref empty_ready empty_cleared.
End Functions.

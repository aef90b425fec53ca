(* SPDX-License-Identifier: Apache-2.0 *)
(* The cost of the attacks in the statements about ref and opt: what the adversary against the model asks for, which
   is made from one against C's functions (model_asks), and so the PRG calls and draws of the reduction. *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslRef.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame RefGame OptGame AttackCost.
From Pprf.proofs Require Import Correctness Sizes ProbabilityFacts EvaluationSecurity EvaluationCost MemoryGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Lemma attack_cost (S : suite) (d : nat) (U : pred bitseq) (q n : nat) (B : ev_adversary (block S) d) :
  asks_at_most q n (bare d pred0) B -> costs_at_most ((q + n) * d) (d + q + 3) (ev_guess (zero_block S) 0 U B).
Proof.
rewrite /bare cover_pred0 => H; have [_] := @ev_reduction_cost _ (zero_block S) d 0 U q n _ (leq0n d) H.
suff -> : d + q + 3 = 2 ^ 0 + d + q + 2 by [].
by rewrite expn0 -!plusE; lia.
Qed.

(* In the statements about ref the attack runs the adversary and plays the device for it.  For an adversary that makes
   at most q calls and t thefts, it makes at most d PRG calls for each call and for each of at most 2^(d - 1) nodes of
   a theft, and few draws.  Not counted: the adversary's own work, and the cells that it computes from the nodes. *)
Theorem ref_attack_cost (S : suite) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout)
    (M0 : memory) (A : ref_adversary S Fault) (U : pred bitseq) (q t : nat) : 0 < d -> calls_at_most q t A ->
  costs_at_most ((q + t * 2 ^ d.-1) * d) (d + q + 3)
    (ev_guess (zero_block S) 0 U (against_model d fails l M0 A)).
Proof.
move=> d0 B; apply: attack_cost.
apply: (@model_asks S d Fault (key unit) id (fun K c _ => puncture_call d no_seed c K) (fun K _ _ => K) (fun _ => fails)
  (fun _ => image d l M0) (@as_model S d _ fails l M0)) => //.
- by move=> [*].
by rewrite /bare cover_pred0.
Qed.

Theorem opt_attack_cost (S : suite) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout) (M0 : memory)
    (A : opt_adversary S Fault) (U : pred bitseq) (q t : nat) : 0 < d -> calls_at_most q t A ->
  costs_at_most ((q + t * 2 ^ d.-1) * d) (d + q + 3)
    (ev_guess (zero_block S) 0 U (opt_against_model d fails marks shown l M0 A)).
Proof.
move=> d0 B; apply: attack_cost.
apply: (@model_asks S d (order Fault) (key unit * seq Z)%type fst
  (fun m c o => (puncture_call d no_seed c m.1, marks (places d m.1) m.2 c o)) (fun m _ _ => m) (fun _ => fails)
  (fun m => opt_image d shown l M0 m.2) (@opt_as_model S d _ fails marks shown l M0)) => //.
- by move=> [[K ws] *].
- by rewrite /bare cover_pred0.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The attack on many targets at once, for the ideal PRG on bare seeds: 2^c users with two leaves
   each. Definitions only.

   Evaluate each user's left leaf, be challenged on the right one, then query the random function
   at the seeds in a list: a seed is some user's root if it maps to that user's two values. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Attack.
Variable Seed : finType.
Variable c : nat.
Local Notation d := c.+1.
Local Notation id_reply := (@id_reply Seed d _).
Local Notation adversary := (id_adversary Seed d _).

Definition leaf_of (u : bitseq) (b : bool) : leaf d := insubd (nseq_tuple d false) (rcons u b).

Fixpoint search (guesses : seq Seed) (values : seq (option Seed * option Seed)) : adversary :=
  if guesses is s :: rest then
    @Ask _ id_reply (Hash d tt s) (fun ab =>
      if (Some ab.1, Some ab.2) \in values then Conclude _ true else search rest values)
  else Conclude _ false.

Fixpoint collect (us : seq bitseq) (guesses : seq Seed) (values : seq (option Seed * option Seed)) : adversary :=
  if us is u :: us' then
    @Ask _ id_reply (Device Seed _ (Evaluate (leaf_of u false))) (fun z =>
    @Ask _ id_reply (Device Seed _ (Challenge (leaf_of u true))) (fun y =>
    collect us' guesses ((z, y) :: values)))
  else search guesses values.

Definition many_targets (guesses : seq Seed) : adversary := collect (roots c) guesses [::].

End Attack.

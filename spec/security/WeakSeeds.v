(* SPDX-License-Identifier: Apache-2.0 *)
(* A PRG with weak seeds: a lower bound for the factor in the bounds of the security theorem.
   Definitions only.

   The PRG is the random function of IdealGame.v, except on a set of weak seeds, which it copies
   to both children. Someone who sees one output of it sees a weak seed with the probability that
   one was drawn. Someone who sees leaves of a tree sees one if any seed on the way to them was
   weak. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame IdealGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section WeakSeeds.
Variable Seed : finType.
Variable s0 : Seed.
Variable Tag : finType.
Variable weak : {set Seed}.                     (* known to everybody *)
Local Notation table := (table Seed Tag).

Definition weak_prg (g : table) (t : Tag) (s : Seed) : Seed * Seed :=
  if s \in weak then (s, s) else g (t, s).

(* ---- Attacks on this PRG ------------------------------------------------------------------- *)

(* One seed is drawn and hidden. The adversary sees outputs of the PRG on that seed, as many as
   it likes, one at each tag; in the ideal world they are uniform pairs. It also queries the
   random function. *)
Inductive prg_query : Type :=
| Output of Tag
| Call of Tag & Seed.

Definition prg_reply (q : prg_query) : Type := (Seed * Seed)%type.

Definition prg_attack := adversary prg_reply.

Definition pairs := {ffun Tag -> Seed * Seed}.

Definition prg_answer (w : world) (g : table) (s : Seed) (h : pairs) (q : prg_query) : prg_reply q :=
  match q with
  | Output t => if w is Real then weak_prg g t s else h t
  | Call t x => g (t, x)
  end.

Definition prg_oracle (answers : forall q, prg_reply q) (st : unit) (q : prg_query) :
  prog (prg_reply q * unit) := Ret (answers q, st).

Definition weak_prg_game (w : world) (A : prg_attack) : prog bool :=
  g <-$ unif (no_table s0 Tag) ;; s <-$ unif s0 ;; h <-$ unif ([ffun _ => (s0, s0)] : pairs) ;;
  interact (fun _ b => b) (prg_oracle (prg_answer w g s h)) tt A.

Definition weak_prg_adv (A : prg_attack) : rat :=
  Pr (weak_prg_game Real A) - Pr (weak_prg_game Ideal A).

(* At most Q queries to the random function, for all coins and answers; outputs are not counted. *)
Fixpoint calls_at_most (Q : nat) (A : prg_attack) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, calls_at_most Q (k x)
  | Ask (Output _) k => forall ab, calls_at_most Q (k ab)
  | Ask (Call _ _) k => (0 < Q)%N /\ forall ab, calls_at_most Q.-1 (k ab)
  end.

(* ---- The game of EvaluationGame.v with this PRG ---------------------------------------------- *)

Variable tag : bitseq -> Tag.

Definition weak_family (g : table) : bitseq -> Seed -> Seed * Seed := fun p => weak_prg g (tag p).

Variable d : nat.

(* This adversary makes no queries to the random function. *)
Definition weak_game (c : nat) (w : world) (A : ev_adversary Seed d) : prog bool :=
  g <-$ unif (no_table s0 Tag) ;; ev_game s0 (weak_family g) c w A.

Definition weak_adv (c : nat) (A : ev_adversary Seed d) : rat :=
  Pr (weak_game c Real A) - Pr (weak_game c Ideal A).

(* Be challenged on one leaf after another until a value is a weak seed. *)
Fixpoint look_for_weak (xs : seq (leaf d)) : ev_adversary Seed d :=
  if xs is x :: rest then
    @Ask _ (@ev_reply Seed d) (Challenge x) (fun y =>
      if y is Some s then if s \in weak then Conclude _ true else look_for_weak rest
      else look_for_weak rest)
  else Conclude _ false.

(* The leaves in U, in leaf order. *)
Definition leaves_in (U : pred bitseq) : seq (leaf d) :=
  [seq insubd (nseq_tuple d false) x | x <- pts d U].

Definition weak_leaves (U : pred bitseq) : ev_adversary Seed d := look_for_weak (leaves_in U).

End WeakSeeds.

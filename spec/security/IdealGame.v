(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of EvaluationGame.v with the PRG as an ideal object: a random function that everyone,
   including the adversary, can only query. It shows the gain of a salt and of a node's position,
   which the PRG assumption used elsewhere hides. Definitions only.

   At node p the PRG is the random function of (tag p, seed). The tag is what is hashed besides
   the seed: nothing (bare), or the user's salt and the node's id (SuiteFamilies.v). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section IdealGame.
Variable Seed : finType.
Variable s0 : Seed.
Variable d : nat.                               (* bits of a leaf, those that say whose it is with them *)
Variable Tag : finType.

Definition table := {ffun Tag * Seed -> Seed * Seed}.

Inductive id_query : Type :=
| Device of ev_query d                          (* as in EvaluationGame.v *)
| Hash of Tag & Seed.                           (* query the random function *)

Definition id_reply (q : id_query) : Type :=
  match q with
  | Device a => ev_reply Seed a
  | Hash _ _ => (Seed * Seed)%type
  end.

Definition id_adversary := adversary id_reply.

(* The adversary queries the random function at most Q times, for all coins and answers; its
   queries to the device are not counted. *)
Fixpoint hashes_at_most (Q : nat) (A : id_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, hashes_at_most Q (k x)
  | Ask a k =>
      match a with
      | Device _ => forall y, hashes_at_most Q (k y)
      | Hash _ _ => (0 < Q)%N /\ forall y, hashes_at_most Q.-1 (k y)
      end
  end.

Variable tag : bitseq -> Tag.

Definition family (g : table) : bitseq -> Seed -> Seed * Seed := fun p s => g (tag p, s).

Definition id_oracle (g : table) (w : world) (K0 : key Seed) (st : ev_state Seed) (q : id_query) :
  prog (id_reply q * ev_state Seed) :=
  match q with
  | Device a => ev_oracle s0 (family g) w K0 st a
  | Hash t s => Ret (g (t, s), st)
  end.

Definition no_table : table := [ffun _ => (s0, s0)].

(* 2^c users *)
Definition id_game (c : nat) (w : world) (A : id_adversary) : prog bool :=
  g <-$ unif no_table ;;
  ss <-$ unifs s0 (2 ^ c) ;;
  let K0 := zip (roots c) ss in
  interact (fun _ b => b) (id_oracle g w K0) (fresh_state K0) A.

Definition id_adv (c : nat) (A : id_adversary) : rat :=
  Pr (id_game c Real A) - Pr (id_game c Ideal A).

(* The inner nodes of all users' trees, level by level. *)
Definition inner (c : nat) : seq bitseq := flatten [seq pts n predT | n <- iota c (d - c)].

(* The number of these nodes with tag t: the targets that one query is tried against. *)
Definition targets (c : nat) (t : Tag) : nat := count (fun p => tag p == t) (inner c).

(* The number of pairs of places in a list with equal elements. *)
Fixpoint clashes (T : eqType) (ts : seq T) : nat :=
  if ts is t :: ts' then (count (pred1 t) ts' + clashes ts')%N else 0.

End IdealGame.

(* The suite of the bare seed: the same function at every node of every user. *)
Definition bare_tag (p : bitseq) : unit := tt.

(* pairs of a salt and what is hashed beside it; the instance is found by unification *)
Definition fin_type (T : finType) (_ : phant T) : finType := T.

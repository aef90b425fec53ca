(* SPDX-License-Identifier: Apache-2.0 *)
(* The assumption on the PRG family G, and the worlds of all security games: definitions only. An
   advantage is the signed difference of two probabilities, so the theorems can be equations.
   EvaluationGame.v has the game of the puncturable PRF.

   What is modelled: adversaries of any (also unbounded) power, adaptive and probabilistic; G may
   differ from node to node.

   What is not modelled:
   - Run time.  PRG calls and random draws of the reductions are counted (Reductions.v,
     ev_reduction_cost); the adversary's own work, list operations and the size of an adversary's
     description are not.
   - Residual memory.  The games hand over exactly the key: that the code erases what it replaces
     (old seeds, inner seeds on the way down) is a claim about the C code, not about this model.
   - Side channels.  Timing, caches, power and faults are in no view.  Positions and the
     punctured set are public. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Variant world := Real | Ideal.

Section Games.

Variable Seed : finType.                        (* e.g. all strings of 128 bits *)
Variable s0 : Seed.                             (* any seed: Seed is not empty *)
Variable G : bitseq -> Seed -> Seed * Seed.     (* the PRG at a node, as in Ggm.v *)
Variable d : nat.                               (* depth: 2^d leaves *)

(* ---- The assumption: G is pseudorandom at a node of the adversary's choice ---------- *)

(* The adversary tosses coins, names a node p, gets a pair, and answers a bit. *)
Definition prg_adversary := prog (bitseq * (Seed * Seed -> prog bool)).

Definition prg_game (w : world) (D : prg_adversary) : prog bool :=
  pk <-$ D ;;
  if w is Real then s <-$ unif s0 ;; pk.2 (G pk.1 s)
  else a <-$ unif s0 ;; b <-$ unif s0 ;; pk.2 (a, b).

Definition prg_adv (D : prg_adversary) : rat := Pr (prg_game Real D) - Pr (prg_game Ideal D).

(* The same with the node p fixed in advance. *)
Definition prg_adv_at (p : bitseq) (D : Seed * Seed -> prog bool) : rat := prg_adv (Ret (p, D)).

(* The textbook notion for one function g, the paper's PRG: the constant family. *)
Definition plain_prg_adv (g : Seed -> Seed * Seed) (D : Seed * Seed -> prog bool) : rat :=
  Pr (s <-$ unif s0 ;; D (g s)) - Pr (a <-$ unif s0 ;; b <-$ unif s0 ;; D (a, b)).

(* ---- Leaves, and answers in the two worlds ------------------------------------------ *)

Definition leaf := d.-tuple bool.

(* The value y or, in the ideal world, a fresh uniform seed. Since no leaf is challenged twice, the
   ideal answers are those of a random function. *)
Definition answer (w : world) (y : Seed) : prog Seed := if w is Real then Ret y else unif s0.

End Games.

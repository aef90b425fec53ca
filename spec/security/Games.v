(* SPDX-License-Identifier: Apache-2.0 *)
(* The security games: definitions only.

   1. prg_adv: the assumption, on the PRG family G.
   2. pprf_adv: selective puncture pseudorandomness.  The adversary names a set of leaves, then
      gets the key punctured there and either the function's values or random values.
   3. fs_adv: adaptive forward security.  The adversary evaluates-and-punctures leaves and
      punctures regions as it likes, one move after another, then steals the key, and tells
      the answers it got from random ones.
   An advantage is the signed difference of two probabilities, so the theorems can be equations.

   What is modelled: adversaries of any (also unbounded) power, adaptive and probabilistic; the
   stolen key is the list of nodes that the algorithms of Ggm.v produce, with seeds and positions; a
   punctured leaf is visible as such (the answer is None); G may differ from node to node.

   What is not modelled:
   - Evaluation without puncturing, challenges before the puncture, a second theft, many users:
     EvaluationGame.v.  A leaf whose value was given out, or that the stolen key evaluates, is not
     secret in any game.
   - Run time.  PRG calls and random draws of the reductions are counted (Reductions.v,
     reduction_cost); the adversary's own work, list operations and the size of an adversary's
     description are not.
   - Residual memory.  The game hands over exactly the key: that the code erases what it replaces
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

(* ---- Selective puncture pseudorandomness -------------------------------------------- *)

Definition leaf := d.-tuple bool.

(* The adversary names a set of leaves; then it gets the key punctured on all of them, and one
   value for each, in the order of [enum]. *)
Definition pprf_adversary := prog ({set leaf} * (key Seed -> seq Seed -> prog bool)).

Definition names (S : {set leaf}) : seq bitseq := [seq tval x | x <- enum S].

Definition pprf_game (w : world) (A : pprf_adversary) : prog bool :=
  sf <-$ A ;;
  k <-$ unif s0 ;;
  ys <-$ (if w is Real then Ret [seq ggm G k x | x <- names sf.1]
          else unifs s0 (size (names sf.1))) ;;
  sf.2 (puncture_all G (names sf.1) (keygen k)) ys.

Definition pprf_adv (A : pprf_adversary) : rat :=
  Pr (pprf_game Real A) - Pr (pprf_game Ideal A).

(* A names at most p leaves, for all coins. *)
Fixpoint leaves_at_most (p : nat) (A : pprf_adversary) : Prop :=
  match A with
  | Ret sf => (#|sf.1| <= p)%N
  | Draw X x0 k => forall x, leaves_at_most p (k x)
  end.

(* ---- Adaptive forward security ------------------------------------------------------ *)

(* Its moves, each chosen after all earlier answers and coins. *)
Inductive fs_adversary : Type :=
| Steal of (key Seed -> prog bool)              (* get the key; answer a bit *)
| Toss (X : finType) of X & (X -> fs_adversary) (* toss coins *)
| EvalPuncture of leaf & (option Seed -> fs_adversary)
                                (* get the value at a leaf, None if it is punctured; puncture it *)
| Puncture of {r : region | region_ok d r} & fs_adversary.
                                (* puncture a leaf, a subtree (prefix) or a range *)

(* The answer to an evaluation is the value y or, in the ideal world, a fresh uniform seed. Since
   no leaf is answered twice, the ideal answers are those of a random function. *)
Definition answer (w : world) (y : Seed) : prog Seed := if w is Real then Ret y else unif s0.

Fixpoint play (w : world) (K : key Seed) (A : fs_adversary) : prog bool :=
  match A with
  | Steal fin => fin K
  | Toss X x0 k => Draw x0 (fun x => play w K (k x))
  | EvalPuncture x k =>
      if eval G K x is Some y then
        z <-$ answer w y ;; play w (puncture G x K) (k (Some z))
      else play w K (k None)
  | Puncture r k => play w (puncture_region G (sval r) K) k
  end.

Definition fs_game (w : world) (A : fs_adversary) : prog bool :=
  k <-$ unif s0 ;; play w (keygen k) A.

Definition fs_adv (A : fs_adversary) : rat := Pr (fs_game Real A) - Pr (fs_game Ideal A).

(* A makes at most q moves (coins are free), a range counting as two: it has two borders. *)
Definition weight (r : region) : nat := if r is Range _ _ then 2 else 1.

Fixpoint moves_at_most (q : nat) (A : fs_adversary) : Prop :=
  match A with
  | Steal _ => True
  | Toss X x0 k => forall x, moves_at_most q (k x)
  | EvalPuncture x k => (0 < q)%N /\ forall y, moves_at_most q.-1 (k y)
  | Puncture r k => (weight (sval r) <= q)%N /\ moves_at_most (q - weight (sval r)) k
  end.

End Games.

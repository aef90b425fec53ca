(* SPDX-License-Identifier: Apache-2.0 *)
(* The primitives that cryptanalysis studies, and the PRGs made from them: a block cipher under a
   uniform key, asked at two points (PRP), and a keyed function, asked at one (PRF). Definitions
   only.

   The points are chosen before any answer is seen, and each key is used only for these queries:
   an inner node of the tree is expanded with its own seed as the key. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games IdealGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* ---- A keyed permutation at two points -------------------------------------------------------- *)

Section Prp.
Variable Block : finType.                       (* keys and blocks: 128 bits both for AES-128 *)
Variable b0 : Block.                            (* any block *)
Variable E : Block -> Block -> Block.           (* the cipher: key, block *)

Definition permutation : finType := fin_type (Phant {f : {ffun Block -> Block} | injectiveb f}).

Definition same_block : {ffun Block -> Block} := [ffun x => x].
Definition identity : permutation :=
  exist (fun f : {ffun Block -> Block} => injectiveb f) same_block (introT (injectiveP same_block)
    (fun x y e => etrans (esym (ffunE id x)) (etrans e (ffunE id y)))).

(* The adversary tosses coins, names two points, gets the cipher's values at both under one
   uniform key, or those of one uniform permutation, and answers a bit. *)
Definition prp_adversary := prog (Block * Block * (Block * Block -> prog bool)).

Definition ask_two (x y : Block) (D : Block * Block -> prog bool) : prp_adversary := Ret ((x, y), D).

Definition prp_game (w : world) (A : prp_adversary) : prog bool :=
  xf <-$ A ;;
  if w is Real then k <-$ unif b0 ;; xf.2 (E k xf.1.1, E k xf.1.2)
  else pi <-$ unif identity ;; xf.2 (sval pi xf.1.1, sval pi xf.1.2).

Definition prp_adv (A : prp_adversary) : rat := Pr (prp_game Real A) - Pr (prp_game Ideal A).

(* The PRG whose halves at node p are the blocks at the two points of p, with the seed as the
   key. *)
Variable point : bitseq -> bool -> Block.

Definition halves_family (p : bitseq) (s : Block) : Block * Block :=
  (E s (point p false), E s (point p true)).

(* The attack on the cipher made from a distinguisher for this PRG: ask at the node's points. *)
Definition ask_points (D : prg_adversary Block) : prp_adversary :=
  pk <-$ D ;; ask_two (point pk.1 false) (point pk.1 true) pk.2.

(* It answers whether the two halves are equal. *)
Definition equal_halves (ab : Block * Block) : prog bool := Ret (ab.1 == ab.2).

End Prp.

(* ---- A keyed function at one point ------------------------------------------------------------ *)

Section Prf.
Variable Seed : finType.
Variable s0 : Seed.
Variable Message : Type.
Variable F : Seed -> Message -> Seed * Seed.    (* key, message; a value has two halves *)

Definition prf_adversary := prog (Message * (Seed * Seed -> prog bool)).

Definition prf_game (w : world) (A : prf_adversary) : prog bool :=
  mf <-$ A ;;
  if w is Real then k <-$ unif s0 ;; mf.2 (F k mf.1)
  else a <-$ unif s0 ;; b <-$ unif s0 ;; mf.2 (a, b).

Definition prf_adv (A : prf_adversary) : rat := Pr (prf_game Real A) - Pr (prf_game Ideal A).

(* The PRG whose value at node p is the function's value at p's message, with the seed as the
   key. *)
Variable message : bitseq -> Message.

Definition keyed_family (p : bitseq) (s : Seed) : Seed * Seed := F s (message p).

Definition ask_message (D : prg_adversary Seed) : prf_adversary :=
  pk <-$ D ;; Ret (message pk.1, pk.2).

End Prf.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The PRGs of the suites (docs/suites.md) as families of the tree, for 2^c users with d - c levels
   each, and the attacks on SHA3-256 and on AES-128 made from an adversary against evaluations.
   Definitions only. sha3_prg, the family of the suite sha3-256, is in Sha3Suite.v.

   The first c bits of a node's prefix name its user, the others are its place in that user's
   tree. *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame IdealGame.
From Pprf.spec Require Import Fips202 RefGame Sha3Suite PrpGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* 128 bits: a seed, a salt, a block *)
Definition bits128 : finType := fin_type (Phant (128.-tuple bool)).
Definition zeros : bits128 := zero128.

(* The in-order id of node p in the tree of depth n: 8 bytes, little-endian. *)
Definition id_bits (n : nat) (p : bitseq) : 64.-tuple bool :=
  [tuple of mkseq (fun i => N.testbit (node_id (first_leaf n p) (n - size p)) (N.of_nat i)) 64].

Section Suites.
Variables d c : nat.
Variable salts : seq bits128.                   (* one for each user *)

Definition salt_of (p : bitseq) : bits128 := nth zeros salts (val (take c p)).
Definition id_of (p : bitseq) : 64.-tuple bool := id_bits (d - c) (drop c p).

(* ---- sha3-256-salted: the halves of SHA3-256(seed || salt || id) -------------------------------- *)

Definition salted_hash (s : bits128) (m : bits128 * 64.-tuple bool) : bits128 * bits128 :=
  let h := sha3_256_bits (tval s ++ tval m.1 ++ tval m.2) in
  ([tuple of mkseq (nth false h) 128], [tuple of mkseq (fun i => nth false h (128 + i)) 128]).

Definition salt_and_id (p : bitseq) : bits128 * 64.-tuple bool := (salt_of p, id_of p).

Definition salted_family : bitseq -> bits128 -> bits128 * bits128 := keyed_family salted_hash salt_and_id.

(* ---- aes-128: half b is AES-128 under the seed of salt XOR (id || b || seven zero bytes) --------- *)

Definition aes_point (p : bitseq) (b : bool) : bits128 :=
  [tuple of mkseq (fun i => xorb (nth false (salt_of p) i) (nth false (tval (id_of p) ++ [:: b]) i)) 128].

(* for any cipher E with keys and blocks of 128 bits *)
Definition aes_family (E : bits128 -> bits128 -> bits128) : bitseq -> bits128 -> bits128 * bits128 :=
  halves_family E aes_point.

End Suites.

(* ---- Users draw their salts, and all salts are public from the start ------------------------------ *)

Definition salted_ev_game (G : seq bits128 -> bitseq -> bits128 -> bits128 * bits128) (d c : nat) (w : world)
  (A : seq bits128 -> ev_adversary bits128 d) : prog bool :=
  ts <-$ unifs zeros (2 ^ c) ;; ev_game zeros (G ts) c w (A ts).

Definition salted_ev_adv (G : seq bits128 -> bitseq -> bits128 -> bits128 * bits128) (d c : nat)
  (A : seq bits128 -> ev_adversary bits128 d) : rat :=
  (Pr (salted_ev_game G c Real A) - Pr (salted_ev_game G c Ideal A))%R.

(* ---- The attacks ----------------------------------------------------------------------------------- *)

(* Each plays the device for A, guesses a node and a world, and puts the challenge there
   (ev_guess); if there are salts it draws them. *)
Definition sha3_attack (d c : nat) (U : pred bitseq) (A : ev_adversary bits128 d) :
  bits128 * bits128 -> prog bool :=
  forget_node (attack (fun _ => sha3_prg) (ev_guess zeros c U A)).

Definition salted_attack (d c : nat) (U : pred bitseq) (A : seq bits128 -> ev_adversary bits128 d) :
  prf_adversary bits128 (bits128 * 64.-tuple bool) :=
  ts <-$ unifs zeros (2 ^ c) ;;
  ask_message (salt_and_id d c ts) (attack (salted_family d c ts) (ev_guess zeros c U (A ts))).

Definition aes_attack (E : bits128 -> bits128 -> bits128) (d c : nat) (U : pred bitseq)
  (A : seq bits128 -> ev_adversary bits128 d) : prp_adversary bits128 :=
  ts <-$ unifs zeros (2 ^ c) ;;
  ask_points (aes_point d c ts) (attack (aes_family d c ts E) (ev_guess zeros c U (A ts))).

(* ---- SHA3-256 as an ideal object: salt and id are the tag of a node ---------------------------------- *)

(* for bare_tag *)
Definition no_tag : finType := fin_type (Phant unit).

Definition hashed_tag : finType := fin_type (Phant (bits128 * 64.-tuple bool)).

Definition id_tag (d c : nat) (ts : seq bits128) (p : bitseq) : hashed_tag := salt_and_id d c ts p.

Definition hashed_game (d c : nat) (w : world) (A : seq bits128 -> id_adversary bits128 d hashed_tag) :
  prog bool :=
  ts <-$ unifs zeros (2 ^ c) ;; id_game zeros (id_tag d c ts) c w (A ts).

Definition hashed_adv (d c : nat) (A : seq bits128 -> id_adversary bits128 d hashed_tag) : rat :=
  (Pr (hashed_game c Real A) - Pr (hashed_game c Ideal A))%R.

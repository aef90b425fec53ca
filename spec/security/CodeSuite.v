(* SPDX-License-Identifier: Apache-2.0 *)
(* The suite whose PRG is what the C code of a Keccak function computes, by the translation of
   that code (KeccakCode.v), and the attack on SHA3-256 made from an adversary against opt.
   Definitions only. *)
From Coq Require Import NArith ZArith.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import AcslMemory AcslRef LaneCode KeccakCode.
From Pprf.spec Require Import Ggm Probability Games Reductions EvaluationGame Fips202 RefGame OptGame Sha3Suite.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.

(* Seeds of two words as in sha3_suite, and any two functions for the children's seeds. *)
Definition halves_suite (left right : sha3_seed -> sha3_seed) : suite :=
  @Suite _ zero128 seed_of_words (fun s => number (take 64 s)) (fun s => number (drop 64 s))
    (pprf_family_intro 1 0 0) (fun s _ _ => left s) (fun s _ _ => right s).

(* A child's seed: the two words that the function p returns for it, given the seed's two words. *)
Definition keccak_child (p : program) (right : bool) (s : sha3_seed) : sha3_seed :=
  if LaneCode.run iota_words p [:: Z.to_N (number (take 64 s)); Z.to_N (number (drop 64 s))]
    is Some [:: l0; l1; r0; r1; 0%num] then
    if right then seed_of_words (Z.of_N r0) (Z.of_N r1) else seed_of_words (Z.of_N l0) (Z.of_N l1)
  else zero128.

Definition keccak_suite (p : program) : suite :=
  halves_suite (keccak_child p false) (keccak_child p true).

(* The functions of prg/keccak.c. *)
Definition keccak_functions : seq program :=
  [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4; opt_keccak_avx512_x4;
      opt_keccak_avx512_x8].

(* The attack on a PRG g made from an adversary against ref, as sha3_distinguisher; and the same
   for opt: play the device for the adversary on the positions of the nodes and the bitmap's
   words, guess a node and a world, put the challenge there. *)
Section Distinguishers.
Variable S : suite.
Variable g : block S -> block S * block S.
Variables (d : nat) (Fault : Type).

Definition ref_distinguisher (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (M0 : memory)
  (U : pred bitseq) (A : ref_adversary S Fault) : block S * block S -> prog bool :=
  forget_node (attack (fun _ => g) (ev_guess (zero_block S) 0 U (against_model d fails l M0 A))).

Definition opt_distinguisher (fails : seq (Z * Z) -> call -> order Fault -> Z)
  (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout) (M0 : memory)
  (U : pred bitseq) (A : opt_adversary S Fault) : block S * block S -> prog bool :=
  forget_node (attack (fun _ => g)
    (ev_guess (zero_block S) 0 U (opt_against_model d fails marks shown l M0 A))).

End Distinguishers.

(* The same for a PRG H that depends on the node: the attack names the node. And what is proven
   for any PRG. *)
Section Nodes.
Variable S : suite.
Variable H : bitseq -> block S -> block S * block S.
Variables (d : nat) (Fault : Type).

Definition ref_node_attack (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (M0 : memory)
  (U : pred bitseq) (A : ref_adversary S Fault) : prg_adversary (block S) :=
  attack H (ev_guess (zero_block S) 0 U (against_model d fails l M0 A)).

Definition opt_node_attack (fails : seq (Z * Z) -> call -> order Fault -> Z)
  (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout) (M0 : memory)
  (U : pred bitseq) (A : opt_adversary S Fault) : prg_adversary (block S) :=
  attack H (ev_guess (zero_block S) 0 U (opt_against_model d fails marks shown l M0 A)).

(* For each root seed and list of calls, results and memory are the model's with H; and whoever
   chooses the calls and reads memory must break H at a node, wherever the challenges are, and if
   they are among the first q leaves. *)
Definition ref_secure_by (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (F : functions Fault)
  (M0 : memory) : Prop :=
  (forall (s : block S) (cs : seq (call * Fault)),
     let r := run_calls S l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails H (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, cell r.2 q = image d l M0 m.2 q) /\
  (forall A : ref_adversary S Fault,
     `|ref_adv d l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|prg_adv (zero_block S) H (ref_node_attack fails l M0 predT A)|)%R /\
  (forall (A : ref_adversary S Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|prg_adv (zero_block S) H (ref_node_attack fails l M0 (first_leaves 0 q) A)|)%R.

Definition opt_secure_by (fails : seq (Z * Z) -> call -> order Fault -> Z)
  (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
  (F : opt_functions Fault) (M0 : memory) : Prop :=
  (forall (s : block S) (cs : seq (call * order Fault)),
     let r := opt_run_calls S l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails H (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek S d shown l r.2 q =
       opt_image d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (forall A : opt_adversary S Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|prg_adv (zero_block S) H (opt_node_attack fails marks shown l M0 predT A)|)%R /\
  (forall (A : opt_adversary S Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|prg_adv (zero_block S) H (opt_node_attack fails marks shown l M0 (first_leaves 0 q) A)|)%R.

End Nodes.

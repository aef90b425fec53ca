(* SPDX-License-Identifier: Apache-2.0 *)
(* The reductions: from an adversary against the puncturable PRF to one against the PRG. Definitions
   only.

   Idea. The device's work is cut into steps that expand one node each (script). In hybrid t the
   first t expansions yield fresh uniform seeds, the later ones call the PRG. Neighbours differ
   in one expansion, and the reduction for t puts the PRG challenge there: before it, no seed has
   been used, so it keeps only positions (reduce); at it, it draws the seeds of all live nodes
   (embed); after it, it runs the device with real PRG calls (run). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Reductions.

Variable Seed : finType.
Variable s0 : Seed.

(* ---- Programs whose PRG calls and draws can be counted ------------------------------- *)

(* G is not a parameter here: the only call of the PRG is the constructor Expand. *)
Inductive code (T : Type) : Type :=
| Done of T
| Expand of bitseq & Seed & (Seed * Seed -> code T)  (* call the PRG at a node on a seed *)
| Sample (X : finType) of X & (X -> code T)          (* draw uniformly *)
| Coin (X : finType) of X & (X -> code T).           (* the adversary tosses a coin *)

Fixpoint cbind (T U : Type) (c : code T) (f : T -> code U) : code U :=
  match c with
  | Done t => f t
  | Expand p s k => Expand p s (fun ab => cbind (k ab) f)
  | Sample X x0 k => Sample x0 (fun x => cbind (k x) f)
  | Coin X x0 k => Coin x0 (fun x => cbind (k x) f)
  end.

Notation "x <-: c ;; e" := (cbind c (fun x => e))
  (at level 65, c at next level, right associativity).

(* The adversary's own program: it costs the reduction nothing. *)
Fixpoint lift (T : Type) (c : prog T) : code T :=
  match c with
  | Ret t => Done t
  | Draw X x0 k => Coin x0 (fun x => lift (k x))
  end.

Fixpoint samples (n : nat) : code (seq Seed) :=
  if n is n'.+1 then Sample s0 (fun s => ss <-: samples n' ;; Done (s :: ss)) else Done [::].

(* The meaning of a code, given the PRG. *)
Fixpoint exec (G : bitseq -> Seed -> Seed * Seed) (T : Type) (c : code T) : prog T :=
  match c with
  | Done t => Ret t
  | Expand p s k => exec G (k (G p s))
  | Sample X x0 k => Draw x0 (fun x => exec G (k x))
  | Coin X x0 k => Draw x0 (fun x => exec G (k x))
  end.

(* On every run c makes at most n PRG calls and m draws, and with the rest of n and m its result
   satisfies post. Runs range over all coins, all draws and all answers of the PRG. *)
Fixpoint runs_within (n m : nat) (T : Type) (c : code T) (post : nat -> nat -> T -> Prop) : Prop :=
  match c with
  | Done t => post n m t
  | Expand p s k => if n is n'.+1 then forall ab, runs_within n' m (k ab) post else False
  | Sample X x0 k => if m is m'.+1 then forall x, runs_within n m' (k x) post else False
  | Coin X x0 k => forall x, runs_within n m (k x) post
  end.

(* A reduction: name a node, get the challenge, answer. It attacks G using G; its cost is that of
   both parts together. *)
Definition reduction := code (bitseq * (Seed * Seed -> code bool)).

Definition attack (G : bitseq -> Seed -> Seed * Seed) (R : reduction) : prg_adversary Seed :=
  pk <-$ exec G R ;; Ret (pk.1, fun ab => exec G (pk.2 ab)).

Definition costs_at_most (n m : nat) (R : reduction) : Prop :=
  runs_within n m R (fun n' m' pk => forall ab, runs_within n' m' (pk.2 ab) (fun _ _ _ => True)).

(* Against a PRG that does not depend on the node, the node need not be named. *)
Definition forget_node (D : prg_adversary Seed) : Seed * Seed -> prog bool :=
  fun ab => pk <-$ D ;; pk.2 ab.

(* ---- The device, one expansion at a time --------------------------------------------- *)

Inductive script : Type :=
| Halt of (key Seed -> prog bool)            (* hand the key to the adversary *)
| Flip (X : finType) of X & (X -> script)    (* the adversary tosses a coin *)
| Split of bitseq & script                   (* replace the node strictly above x by its children *)
| Read of bitseq & (option Seed -> script)   (* hand out the seed of the node x, delete the node *)
| Erase of region & script.                  (* delete the nodes in a region *)

Variable d : nat.

(* p is strictly above x. *)
Definition above (x p : bitseq) : bool := prefix p x && (p != x).

(* The region contains the first leaf below q. Once its borders are nodes, every node lies inside
   the region or outside it, so this decides which. *)
Definition inside (r : region) (q : bitseq) : bool :=
  in_region r (q ++ nseq (d - size q) false).

(* The leaves or prefixes whose paths separate the region from the rest. *)
Definition borders (r : region) : seq bitseq :=
  match r with
  | Leaf x => [:: x]
  | Subtree p => [:: p]
  | Range first last => if leaf_le first last then [:: first; last] else [::]
  end.

(* Make x a node, if some node is above it. *)
Definition descend_to (x : bitseq) (c : script) : script := iter (size x) (Split x) c.

(* What the device does for the adversary A. *)
Fixpoint script_of (A : fs_adversary Seed d) : script :=
  match A with
  | Steal fin => Halt fin
  | Toss X x0 k => Flip x0 (fun x => script_of (k x))
  | EvalPuncture x k => descend_to x (Read x (fun y => script_of (k y)))
  | Puncture r k => foldr descend_to (Erase (sval r) (script_of k)) (borders (sval r))
  end.

(* ---- The device on seeds: real PRG calls --------------------------------------------- *)

Definition children (p : bitseq) (ab : Seed * Seed) : key Seed :=
  [:: (rcons p false, ab.1); (rcons p true, ab.2)].

Fixpoint split (x : bitseq) (K : key Seed) : code (key Seed) :=
  match K with
  | [::] => Done [::]
  | n :: K' => if above x n.1 then Expand n.1 n.2 (fun ab => Done (children n.1 ab ++ K'))
               else K2 <-: split x K' ;; Done (n :: K2)
  end.

Fixpoint seed_at (x : bitseq) (K : key Seed) : option Seed :=
  if K is n :: K' then if n.1 == x then Some n.2 else seed_at x K' else None.

Definition reply (w : world) (s : Seed) : code Seed :=
  if w is Real then Done s else Sample s0 (@Done Seed).

Fixpoint run (w : world) (K : key Seed) (c : script) : code bool :=
  match c with
  | Halt fin => lift (fin K)
  | Flip X x0 k => Coin x0 (fun x => run w K (k x))
  | Split x c' => K' <-: split x K ;; run w K' c'
  | Read x k =>
      if seed_at x K is Some s then
        z <-: reply w s ;; run w [seq n <- K | n.1 != x] (k (Some z))
      else run w K (k None)
  | Erase r c' => run w [seq n <- K | ~~ inside r n.1] c'
  end.

(* ---- The device on positions, up to the challenge ------------------------------------ *)

Fixpoint split_positions (x : bitseq) (ns : seq bitseq) : seq bitseq :=
  match ns with
  | [::] => [::]
  | p :: ns' => if above x p then rcons p false :: rcons p true :: ns'
                else p :: split_positions x ns'
  end.

(* Name the node above x; the challenge becomes its children, the other nodes get fresh seeds. *)
Fixpoint embed (x : bitseq) (ns : seq bitseq) : code (bitseq * (Seed * Seed -> key Seed)) :=
  match ns with
  | [::] => Done ([::], fun _ => [::])
  | p :: ns' =>
      if above x p then ss <-: samples (size ns') ;; Done (p, fun ab => children p ab ++ zip ns' ss)
      else Sample s0 (fun s => pk <-: embed x ns' ;; Done (pk.1, fun ab => (p, s) :: pk.2 ab))
  end.

(* Nodes ns are live; t expansions are still to be replaced before the challenge.  A run that ends
   before its challenge answers false. *)
Fixpoint reduce (w : world) (t : nat) (ns : seq bitseq) (c : script) : reduction :=
  match c with
  | Halt _ => Done ([::], fun _ => Done false)
  | Flip X x0 k => Coin x0 (fun x => reduce w t ns (k x))
  | Split x c' =>
      if has (above x) ns then
        if t is t'.+1 then reduce w t' (split_positions x ns) c'
        else pk <-: embed x ns ;; Done (pk.1, fun ab => run w (pk.2 ab) c')
      else reduce w t ns c'
  | Read x k =>
      if x \in ns then Sample s0 (fun y => reduce w t [seq p <- ns | p != x] (k (Some y)))
      else reduce w t ns (k None)
  | Erase r c' => reduce w t [seq p <- ns | ~~ inside r p] c'
  end.

(* ---- The reductions of the theorems --------------------------------------------------- *)

(* The number of expansions in a run with q moves: at level l each border needs at most one, and
   there are only 2^l nodes.  It is at most q * d, and at most 2^d - 1. *)
Definition expansions (q : nat) : nat := sumn [seq minn (2 ^ l) q | l <- iota 0 d].

(* The reduction for the t-th expansion, leaving the world w for the all-random one. *)
Definition fs_reduction (w : world) (t : nat) (A : fs_adversary Seed d) : reduction :=
  reduce w t [:: [::]] (script_of A).

(* One reduction for all: guess the world and the expansion; in the ideal world flip the answer. *)
Definition fs_guess (N : nat) (A : fs_adversary Seed d) : reduction :=
  Sample true (fun real : bool => Sample (ord0 : 'I_N.-1.+1) (fun t : 'I_N.-1.+1 =>
    pk <-: fs_reduction (if real then Real else Ideal) t A ;;
    Done (pk.1, fun ab => b <-: pk.2 ab ;; Done (if real then b else ~~ b)))).

(* A selective adversary is an adaptive one: evaluate and puncture the leaves that it names, one
   after the other, then steal the key. *)
Fixpoint ask (xs : seq (leaf d)) (fin : key Seed -> seq Seed -> prog bool) (ys : seq Seed) :
  fs_adversary Seed d :=
  match xs with
  | [::] => Steal d (fun K => fin K ys)
  | x :: xs' => EvalPuncture x (fun y => ask xs' fin (rcons ys (odflt s0 y)))
  end.

Fixpoint selective (A : pprf_adversary Seed d) : fs_adversary Seed d :=
  match A with
  | Ret sf => ask (enum sf.1) sf.2 [::]
  | Draw X x0 k => Toss x0 (fun x => selective (k x))
  end.

Definition pprf_reduction (w : world) (t : nat) (A : pprf_adversary Seed d) : reduction :=
  fs_reduction w t (selective A).

Definition pprf_guess (N : nat) (A : pprf_adversary Seed d) : reduction :=
  fs_guess N (selective A).

End Reductions.

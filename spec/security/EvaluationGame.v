(* SPDX-License-Identifier: Apache-2.0 *)
(* The game that users need: values are used first and punctured later. Definitions only.

   The adversary drives a device that holds a key.  As often and in any order as it likes it
   - evaluates leaves (Evaluate),
   - punctures leaves, prefixes and ranges (Punct),
   - takes the sub-key of a prefix (Reveal): for the empty prefix the whole key, a theft; for another
     one a delegated key.  The game goes on afterwards: later punctures and values are functions of
     what was taken,
   - asks for challenges (Challenge): the leaf's value, or in the ideal world a uniform seed.
   It may be challenged on a leaf before or after the leaf is punctured, before or after thefts,
   while it evaluates others; finally it guesses the world that it is in.

   One rule keeps the game from being trivial, and the game itself enforces it (a query that breaks
   it is answered None): a challenge leaf is never revealed. A leaf is revealed when it is
   evaluated, or when a key is taken that can evaluate it. So a challenge leaf must be punctured
   before the first theft of a key above it. Anyone who holds the leaf's value or a seed above it
   can tell the value from a random one; the rule excludes nothing else.

   Many users: a device may hold 2^c keys with independent seeds. The first c bits of a leaf name
   its user; c = 0 is one user. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section EvaluationGame.

Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.                               (* bits of a leaf *)

Inductive ev_query : Type :=
| Evaluate of leaf d
| Punct of {r : region | region_ok d r}
| Challenge of leaf d
| Reveal of {p : bitseq | (size p <= d)%N}.

Definition ev_reply (q : ev_query) : Type :=
  match q with
  | Evaluate _ => option Seed                   (* None: punctured, or refused *)
  | Punct _ => unit
  | Challenge _ => option Seed                  (* None: refused *)
  | Reveal _ => option (key Seed)               (* None: refused *)
  end.

Definition ev_adversary := adversary ev_reply.

(* The key, the leaves revealed so far, and those challenged. *)
Record ev_state (S : Type) := State { held : key S; revealed : pred bitseq; tested : seq bitseq }.

(* Some node of the key is above x, so that the key evaluates x. *)
Definition alive (S : Type) (K : key S) (x : bitseq) : bool := has (fun n => prefix n.1 x) K.

(* The sub-key of p was given out. *)
Definition reveal (S : Type) (p : bitseq) (st : ev_state S) : ev_state S :=
  State (held st) (fun x => revealed st x || prefix p x && alive (held st) x) (tested st).

(* Giving out the sub-key of p would reveal a challenge leaf. *)
Definition spoils (S : Type) (p : bitseq) (st : ev_state S) : bool :=
  has (fun x => prefix p x && alive (held st) x) (tested st).

(* A leaf that may be challenged: never revealed, and not challenged yet. *)
Definition fresh_leaf (S : Type) (st : ev_state S) (x : bitseq) : bool :=
  ~~ revealed st x && (x \notin tested st).

Definition challenge (S : Type) (x : bitseq) (st : ev_state S) : ev_state S :=
  State (held st) (revealed st) (x :: tested st).

(* K0 is the key as set up: it still has the value of a punctured leaf. *)
Definition ev_oracle (w : world) (K0 : key Seed) (st : ev_state Seed) (q : ev_query) :
  prog (ev_reply q * ev_state Seed) :=
  match q with
  | Evaluate x =>
      if spoils x st then Ret (None, st) else Ret (eval G (held st) x, reveal x st)
  | Punct r =>
      Ret (tt, State (puncture_region G (sval r) (held st)) (revealed st) (tested st))
  | Challenge x =>
      if fresh_leaf st x then
        y <-$ answer s0 w (odflt s0 (eval G K0 x)) ;; Ret (Some y, challenge x st)
      else Ret (None, st)
  | Reveal p =>
      if spoils (sval p) st then Ret (None, st)
      else Ret (Some (delegate G (sval p) (held st)), reveal (sval p) st)
  end.

(* The nodes at which the keys of 2^c users start, in leaf order. *)
Definition roots (c : nat) : seq bitseq := pts c predT.

Definition fresh_state (S : Type) (K : key S) : ev_state S := State K pred0 [::].

Definition ev_game (c : nat) (w : world) (A : ev_adversary) : prog bool :=
  ss <-$ unifs s0 (2 ^ c) ;;
  let K0 := zip (roots c) ss in
  interact (fun _ b => b) (ev_oracle w K0) (fresh_state K0) A.

Definition ev_adv (c : nat) (A : ev_adversary) : rat :=
  Pr (ev_game c Real A) - Pr (ev_game c Ideal A).

(* All challenges are on leaves in U, for all coins and answers. *)
Fixpoint challenges_in (U : pred bitseq) (A : ev_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, challenges_in U (k x)
  | Ask q k => (if q is Challenge x then U x : Prop else True) /\ forall y, challenges_in U (k y)
  end.

(* The first q leaves of each user, as when they are issued in order. *)
Definition first_leaves (c q : nat) : pred bitseq := fun x => (val (drop c x) < q)%N.

(* The adversary's queries: at most q evaluations and challenges together, and at most m nodes in
   all the keys that it takes.  K is the key without its seeds: which nodes it has is public. *)
Definition no_seed (p : bitseq) (s : unit) : unit * unit := (tt, tt).

Definition cost (K : key unit) (q : ev_query) : nat * nat * key unit :=
  match q with
  | Evaluate _ | Challenge _ => (1, 0, K)%N
  | Punct r => (0, 0, puncture_region no_seed (sval r) K)%N
  | Reveal p => (0, size (delegate no_seed (sval p) K), K)%N
  end.

Fixpoint asks_at_most (q m : nat) (K : key unit) (A : ev_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, asks_at_most q m K (k x)
  | Ask a k =>
      let: (i, j, K') := cost K a in
      [/\ (i <= q)%N, (j <= m)%N & forall y, asks_at_most (q - i) (m - j) K' (k y)]
  end.

(* ---- The reductions ------------------------------------------------------------------ *)

(* Cut the tree at an inner node p: p's children get the PRG challenge as their seeds; the
   siblings of the path to p, and the other users' roots, get fresh seeds. Those left of p are
   listed before it, those right of it after it. *)
Definition cut := (seq bitseq * bitseq * seq bitseq)%type.

(* All cuts at the inner nodes of the tree of depth n below p, in order. *)
Fixpoint cuts_below (n : nat) (before : seq bitseq) (p : bitseq) (after : seq bitseq) : seq cut :=
  if n is n'.+1 then
    (before, p, after) ::
      cuts_below n' before (rcons p false) (rcons p true :: after) ++
      cuts_below n' (rcons before (rcons p false)) (rcons p true) after
  else [::].

Fixpoint cuts_of (n : nat) (before ps : seq bitseq) : seq cut :=
  if ps is p :: after then cuts_below n before p after ++ cuts_of n (rcons before p) after
  else [::].

(* The cuts above a leaf in U. *)
Definition cuts (c : nat) (U : pred bitseq) : seq cut :=
  [seq x <- cuts_of (d - c) [::] (roots c) | ~~ free d U x.1.2].

Definition under (ns : seq bitseq) : pred bitseq := fun x => has (fun q => prefix q x) ns.

(* The seed of node q, from the nodes L: one PRG call for each level. *)
Fixpoint walk (p : bitseq) (s : Seed) (y : bitseq) : code Seed Seed :=
  if y is b :: y' then Expand p s (fun ab => walk (rcons p b) (if b then ab.2 else ab.1) y')
  else Done Seed s.

Fixpoint find_seed (L : key Seed) (q : bitseq) : code Seed Seed :=
  if L is n :: L' then
    if prefix n.1 q then walk n.1 n.2 (drop (size n.1) q) else find_seed L' q
  else Done Seed s0.

Fixpoint find_seeds (L : key Seed) (K : key unit) : code Seed (key Seed) :=
  if K is n :: K' then
    cbind (find_seed L n.1) (fun s => cbind (find_seeds L K') (fun M => Done Seed ((n.1, s) :: M)))
  else Done Seed [::].

(* The device as played by the reduction, which has seeds at the nodes L and keeps only the
   positions of the device's key. Challenges on leaves under [cut_off] are answered at random. *)
Definition cut_oracle (L : key Seed) (cut_off : seq bitseq) (st : ev_state unit) (q : ev_query) :
  code Seed (ev_reply q * ev_state unit) :=
  match q with
  | Evaluate x =>
      if spoils x st then Done Seed (None, st)
      else if alive (held st) x then
        cbind (find_seed L x) (fun y => Done Seed (Some y, reveal x st))
      else Done Seed (None, reveal x st)
  | Punct r =>
      Done Seed (tt, State (puncture_region no_seed (sval r) (held st)) (revealed st) (tested st))
  | Challenge x =>
      if fresh_leaf st x then
        cbind (if under cut_off x then Sample s0 (@Done Seed Seed) else find_seed L x)
              (fun y => Done Seed (Some y, challenge x st))
      else Done Seed (None, st)
  | Reveal p =>
      if spoils (sval p) st then Done Seed (None, st)
      else cbind (find_seeds L (delegate no_seed (sval p) (held st)))
                 (fun K => Done Seed (Some K, reveal (sval p) st))
  end.

(* The keys of 2^c users as they are set up, without their seeds. *)
Definition bare_roots (c : nat) : key unit := [seq (p, tt) | p <- roots c].

(* Output the adversary's bit if some leaf below p was challenged, otherwise false. *)
Definition tests_below (S : Type) (p : bitseq) (st : ev_state S) (b : bool) : bool :=
  b && has (prefix p) (tested st).

(* The reduction for a cut.  Challenges left of p are answered at random, those right of it with
   the value, those below p with the value on the way out of the real world, at random on the way
   into the ideal one. *)
Definition cut_reduction (c : nat) (w : world) (x : cut) (A : ev_adversary) : reduction Seed :=
  let: (before, p, after) := x in
  cbind (samples s0 (size before)) (fun ls =>
  cbind (samples s0 (size after)) (fun rs =>
  Done Seed (p, fun ab =>
    simulate (@tests_below unit p)
      (cut_oracle (zip before ls ++ children p ab ++ zip after rs)
         (if w is Real then before else rcons before p))
      (fresh_state (bare_roots c)) A))).

(* One reduction for all: guess the world and the cut; in the ideal world flip the answer. *)
Definition ev_guess (c : nat) (U : pred bitseq) (A : ev_adversary) : reduction Seed :=
  let N := size (cuts c U) in
  Sample true (fun real : bool => Sample (ord0 : 'I_N.-1.+1) (fun t : 'I_N.-1.+1 =>
    cbind (cut_reduction c (if real then Real else Ideal) (nth ([::], [::], [::]) (cuts c U) t) A)
      (fun pk => Done Seed (pk.1, fun ab =>
         cbind (pk.2 ab) (fun b => Done Seed (if real then b else ~~ b)))))).

End EvaluationGame.

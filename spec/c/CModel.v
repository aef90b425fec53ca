(* SPDX-License-Identifier: Apache-2.0 *)
(* The data structures of the C code over integers: definitions only.

   Leaves and starts are N, heights are nat. The tree of depth d has the leaves 0 .. 2^d - 1;
   node (start, height) covers the leaves from start to start + 2^height - 1. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith.
From Pprf.spec Require Import Ggm.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.

(* 2^n, by doubling *)
Fixpoint pow2 (n : nat) : N := if n is n'.+1 then 2 * pow2 n' else 1.

(* ---- Leaves and nodes as integers --------------------------------------------------- *)

(* The integer with the binary digits x, most significant first; its digits at depth d. *)
Fixpoint leaf_num (x : bitseq) : N :=
  if x is b :: x' then (if b then pow2 (size x') else 0) + leaf_num x' else 0.

Fixpoint leaf_path (d : nat) (x : N) : bitseq :=
  if d is d'.+1 then
    if pow2 d' <=? x then true :: leaf_path d' (x - pow2 d') else false :: leaf_path d' x
  else [::].

(* The first leaf below prefix p in the tree of depth d. *)
Definition first_leaf (d : nat) (p : bitseq) : N := leaf_num p * pow2 (d - size p).

(* The in-order id of node (start, height), and back: height is the number of trailing zero
   bits of the id (none if the id is 0; fuel bounds the search). *)
Definition node_id (s : N) (h : nat) : N := 2 * s + pow2 h.

Fixpoint id_height (fuel : nat) (id : N) : nat :=
  if fuel is fuel'.+1 then if N.even id then (id_height fuel' (N.div2 id)).+1 else 0%nat else 0%nat.

Definition id_start (id : N) (h : nat) : N := N.div2 (id - pow2 h).

(* (s, h) is a node of the tree of depth d *)
Definition in_tree (d : nat) (s : N) (h : nat) : bool :=
  [&& (h <= d)%nat, s mod pow2 h =? 0 & s + pow2 h <=? pow2 d].

Section CModel.

Variable Seed : Type.
Variable zero : Seed.  (* what a wiped seed holds *)

(* The C function prg_expand(seed, start, height): both children's seeds. *)
Variable prg : N -> nat -> Seed -> Seed * Seed.

(* The PRG family of the tree of depth d that prg implements. *)
Definition family (d : nat) : bitseq -> Seed -> Seed * Seed :=
  fun p => prg (first_leaf d p) (d - size p).

Record node := Node { start : N; height : nat; seed : Seed }.

Definition encode (d : nat) (n : Ggm.node Seed) : node :=
  Node (first_leaf d n.1) (d - size n.1) n.2.

Definition last_end (n : node) : N := start n + pow2 (height n).
Definition node_covers (n : node) (x : N) : bool := (start n <=? x) && (x <? last_end n).

(* Two nodes that cover() would have merged into their parent; and m may follow n in a key. *)
Definition siblings (n m : node) : bool :=
  [&& height n == height m, last_end n =? start m & start n mod pow2 (height n).+1 =? 0].
Definition follows (n m : node) : bool := (last_end n <=? start m) && ~~ siblings n m.

(* A key of depth d: nodes of the tree, in leaf order, disjoint, no two neighbours siblings. *)
Definition well_formed (d : nat) (a : seq node) : bool :=
  all (fun n => in_tree d (start n) (height n)) a && sorted follows a.

Definition covered (a : seq node) (x : N) : bool := has (fun n => node_covers n x) a.

(* Where the nodes are, without their seeds. *)
Definition positions (a : seq node) : seq (N * nat) := [seq (start n, height n) | n <- a].

(* The value of leaf x below node (s, h) with seed k. *)
Fixpoint walk (s : N) (h : nat) (k : Seed) (x : N) : Seed :=
  if h is h'.+1 then
    if x <? s + pow2 h' then walk s h' (prg s h k).1 x else walk (s + pow2 h') h' (prg s h k).2 x
  else k.

(* ---- ref: an array of nodes in leaf order ------------------------------------------- *)

Definition blank : node := Node 0 0 zero.

(* ref_find: the index of the first node that ends beyond x. *)
Definition find_node (a : seq node) (x : N) : nat := find (fun n => x <? last_end n) a.

(* ref_eval *)
Definition list_eval (a : seq node) (x : N) : option Seed :=
  if drop (find_node a x) a is n :: _ then
    if start n <=? x then Some (walk (start n) (height n) (seed n) x) else None
  else None.

(* ref_co_path: two cursors fill the buffer, siblings left of the path upwards from lo, those
   right of it downwards to hi. The result is the buffer and the number of left siblings. *)
Fixpoint cursors (buf : seq node) (lo hi : nat) (s : N) (h : nat) (k : Seed) (x : N) :
    seq node * nat :=
  if h is h'.+1 then
    let: (l, r) := prg s h k in let m := s + pow2 h' in
    if x <? m then cursors (set_nth blank buf hi.-1 (Node m h' r)) lo hi.-1 s h' l x
    else cursors (set_nth blank buf lo (Node s h' l)) lo.+1 hi m h' r x
  else (buf, lo).

Definition co_path (n : node) (x : N) : seq node * nat :=
  cursors (nseq (height n) blank) 0 (height n) (start n) (height n) (seed n) x.

(* ref_splice: the nodes a[i .. j-1] give way to b. *)
Definition splice (a : seq node) (i j : nat) (b : seq node) : seq node :=
  take i a ++ b ++ drop j a.

(* ref_punct *)
Definition list_puncture (a : seq node) (x : N) : seq node :=
  let i := find_node a x in
  if drop i a is n :: _ then
    if start n <=? x then splice a i i.+1 (co_path n x).1 else a
  else a.

(* ref_punct_range: a[i .. j-1] meet the range; the first keeps what is left of first, the
   last what is right of last. *)
Definition keep_left (n : node) (first : N) : seq node :=
  if first <=? start n then [::] else let: (path, l) := co_path n first in take l path.

Definition keep_right (n : node) (last : N) : seq node :=
  if last_end n - 1 <=? last then [::] else let: (path, l) := co_path n last in drop l path.

Definition list_puncture_range (a : seq node) (first last : N) : seq node :=
  let i := find_node a first in
  let j := find_node a last in
  let j := if (j < size a)%nat && (start (nth blank a j) <=? last) then j.+1 else j in
  if i == j then a
  else splice a i j (keep_left (nth blank a i) first ++ keep_right (nth blank a j.-1) last).

(* ---- opt: dense pair slots ---------------------------------------------------------- *)

(* The seed of the node with this start lies at slot start / 2; leaf_punctured is the bitmap of the
   punctured leaves. *)
Record slots := Slots { slot : N -> Seed; leaf_punctured : pred N }.

(* The nearest punctured leaf below x among the n next ones, and above. *)
Fixpoint punctured_below (n : nat) (P : pred N) (x : N) : option N :=
  if n is n'.+1 then
    if x =? 0 then None else if P (x - 1) then Some (x - 1) else punctured_below n' P (x - 1)
  else None.

Fixpoint punctured_above (n : nat) (P : pred N) (x : N) : option N :=
  if n is n'.+1 then if P (x + 1) then Some (x + 1) else punctured_above n' P (x + 1) else None.

(* floor(log2 (x XOR l)): the height of the highest node above x that does not cover l *)
Definition msb (v : N) : nat := N.to_nat (N.log2 v).

Definition height_to (d : nat) (x : N) (l : option N) : nat :=
  if l is Some l then msb (N.lxor x l) else d.

(* The height of the node that covers the live leaf x. *)
Definition node_height (d : nat) (P : pred N) (x : N) : nat :=
  minn (height_to d x (punctured_below (N.to_nat x) P x))
       (height_to d x (punctured_above (N.to_nat (pow2 d - 1 - x)) P x)).

(* The node of height h above x begins here: the h low bits of x cleared. *)
Definition node_start (h : nat) (x : N) : N := N.shiftl (N.shiftr x (N.of_nat h)) (N.of_nat h).

Definition slots_eval (d : nat) (st : slots) (x : N) : option Seed :=
  if (pow2 d <=? x) || leaf_punctured st x then None
  else let h := node_height d (leaf_punctured st) x in let s := node_start h x in
       Some (walk s h (slot st (s / 2)) x).

Definition put (slot : N -> Seed) (j : N) (k : Seed) : N -> Seed :=
  fun i => if i =? j then k else slot i.

(* Walk down to x; each sibling's seed goes to its own slot. *)
Fixpoint scatter (slot : N -> Seed) (s : N) (h : nat) (k : Seed) (x : N) : N -> Seed :=
  if h is h'.+1 then
    let: (l, r) := prg s h k in let m := s + pow2 h' in
    if x <? m then scatter (put slot (m / 2) r) s h' l x
    else scatter (put slot (s / 2) l) m h' r x
  else slot.

Definition slots_puncture (d : nat) (st : slots) (x : N) : slots :=
  if (pow2 d <=? x) || leaf_punctured st x then st
  else let h := node_height d (leaf_punctured st) x in let s := node_start h x in
       let k := slot st (s / 2) in
       let slot' := if h == 0%nat then put (slot st) (s / 2) zero else slot st in
       Slots (scatter slot' s h k x) (fun y => (y =? x) || leaf_punctured st y).

(* The invariant: the slot of each node holds its seed, every other slot is zero. *)
Definition slots_hold (d : nat) (st : slots) (root : Seed) : Prop :=
  let K := map (encode d) (cover (family d) d (fun y => leaf_punctured st (leaf_num y)) [::] root) in
  (forall n, List.In n K -> slot st (start n / 2) = seed n) /\
  (forall j, (forall n, List.In n K -> start n / 2 <> j) -> slot st j = zero).

End CModel.

Arguments last_end {Seed} n.
Arguments node_covers {Seed} n x.
Arguments siblings {Seed} n m.
Arguments follows {Seed} n m.

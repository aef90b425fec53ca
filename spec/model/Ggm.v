(* SPDX-License-Identifier: Apache-2.0 *)
(* The GGM tree as a puncturable pseudorandom function: definitions only.

   Paper = the PPRF-tree thesis the project started from; its sections are cited.
   A leaf, that is a PPRF input, is a bit string of length d, most significant bit
   first; it is also the path from the root to the leaf (false = 0 = left).
   A node of the tree is named by its prefix: the path from the root to it. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Leaf sets ---------------------------------------------------------------------- *)

(* The set P seen from child b of the root. *)
Definition below (P : pred bitseq) (b : bool) : pred bitseq := fun x => P (b :: x).

(* Does P contain a leaf of the tree of depth d? *)
Fixpoint has_leaf (d : nat) (P : pred bitseq) : bool :=
  if d is d'.+1 then has_leaf d' (below P false) || has_leaf d' (below P true) else P [::].

(* The leaves of P in leaf order, and how many there are. *)
Fixpoint pts (d : nat) (P : pred bitseq) : seq bitseq :=
  if d is d'.+1 then map (cons false) (pts d' (below P false)) ++
                     map (cons true) (pts d' (below P true))
  else if P [::] then [:: [::]] else [::].

Definition card (d : nat) (P : pred bitseq) : nat := size (pts d P).

(* No leaf of P lies below node q. *)
Definition free (d : nat) (P : pred bitseq) (q : bitseq) : bool :=
  ~~ has_leaf (d - size q) (fun y => P (q ++ y)).

(* The parent's prefix (the root is its own parent). *)
Definition parent (q : bitseq) : bitseq := take (size q).-1 q.

(* The prefixes ns cover exactly the leaves that are not in P. *)
Definition exact_cover (d : nat) (P : pred bitseq) (ns : seq bitseq) : Prop :=
  forall x, size x = d -> has (fun q => prefix q x) ns = ~~ P x.

(* Leaf order: lexicographic, meant for strings of one length. *)
Fixpoint leaf_le (x y : bitseq) : bool :=
  match x, y with
  | a :: x', b :: y' => if a == b then leaf_le x' y' else b
  | [::], _ => true
  | _, [::] => false
  end.

(* The integer whose binary digits, most significant first, are p; and back. *)
Definition val (p : bitseq) : nat := foldl (fun n (b : bool) => b + n.*2) 0 p.

Fixpoint bits (d n : nat) : bitseq :=
  if d is d'.+1 then rcons (bits d' n./2) (odd n) else [::].

(* ---- Regions: what one call can puncture -------------------------------------------- *)

(* one leaf | all leaves below a prefix | all leaves from first to last, both included *)
Variant region := Leaf of bitseq | Subtree of bitseq | Range of bitseq & bitseq.

Definition in_region (r : region) : pred bitseq :=
  match r with
  | Leaf x => pred1 x
  | Subtree p => prefix p
  | Range first last => fun y => leaf_le first y && leaf_le y last
  end.

(* r is a region of the tree of depth d; an empty range (first > last) is allowed *)
Definition region_ok (d : nat) (r : region) : bool :=
  match r with
  | Leaf x => size x == d
  | Subtree p => size p <= d
  | Range first last => (size first == d) && (size last == d)
  end.

(* The leaves that a sequence of punctures removes: the union of its regions. *)
Definition punctured (rs : seq region) : pred bitseq :=
  fun x => has (fun r => in_region r x) rs.

(* ---- The tree ----------------------------------------------------------------------- *)

Section Ggm.

Variable Seed : Type.

(* The PRG family: G p expands the seed of the node p into its left and right child's
   seeds (paper, 2.1: G_0 and G_1). The paper's G is the constant family; an instance that
   uses p may tweak the PRG by the node's position. *)
Variable G : bitseq -> Seed -> Seed * Seed.

(* The seed of child b of the node p with seed s. *)
Definition child (p : bitseq) (b : bool) (s : Seed) : Seed :=
  if b then (G p s).2 else (G p s).1.

(* The seed of the node p ++ x, from the seed s of the node p. *)
Fixpoint descend (p : bitseq) (s : Seed) (x : bitseq) : Seed :=
  if x is b :: x' then descend (rcons p b) (child p b s) x' else s.

(* The GGM function (paper, 2.1): G_{x_n} o ... o G_{x_1} (k). *)
Definition ggm (k : Seed) (x : bitseq) : Seed := descend [::] k x.

(* ---- Keys: lists of (prefix, seed), in leaf order ----------------------------------- *)

Definition node := (bitseq * Seed)%type.
Definition key := seq node.

(* PPRF.Setup (paper, Definition 2.1) once the root seed s is drawn. *)
Definition keygen (s : Seed) : key := [:: ([::], s)].

(* PPRF.Eval: walk down from the stored node above x; None: x is punctured. *)
Definition eval_node (x : bitseq) (n : node) : Seed := descend n.1 n.2 (drop (size n.1) x).

Fixpoint eval (K : key) (x : bitseq) : option Seed :=
  if K is n :: K' then
    if prefix n.1 x then Some (eval_node x n) else eval K' x
  else None.

(* The co-path: the siblings along the path y below the node (p, s), in leaf order
   (paper, 2.1: the children of the path that are not on it). *)
Fixpoint copath (p : bitseq) (s : Seed) (y : bitseq) : key :=
  if y is b :: y' then
    if b then (rcons p false, child p false s) :: copath (rcons p true) (child p true s) y'
    else copath (rcons p false) (child p false s) y' ++ [:: (rcons p true, child p true s)]
  else [::].

(* Its two halves: the siblings left of the path, and those right of it. *)
Fixpoint copath_left (p : bitseq) (s : Seed) (y : bitseq) : key :=
  if y is b :: y' then
    let below_p := copath_left (rcons p b) (child p b s) y' in
    if b then (rcons p false, child p false s) :: below_p else below_p
  else [::].

Fixpoint copath_right (p : bitseq) (s : Seed) (y : bitseq) : key :=
  if y is b :: y' then
    let below_p := copath_right (rcons p b) (child p b s) y' in
    if b then below_p else below_p ++ [:: (rcons p true, child p true s)]
  else [::].

(* PPRF.Punct: the node above the leaf x is replaced by the co-path of x. *)
Definition puncture_node (x : bitseq) (n : node) : key :=
  if prefix n.1 x then copath n.1 n.2 (drop (size n.1) x) else [:: n].

Definition puncture (x : bitseq) (K : key) : key := flatten (map (puncture_node x) K).

Definition puncture_all (xs : seq bitseq) (K : key) : key :=
  foldl (fun K x => puncture x K) K xs.

(* All leaves below the prefix x at once: the node above x is replaced by the co-path of x; nodes
   at or below x are removed. *)
Definition puncture_prefix_node (x : bitseq) (n : node) : key :=
  if prefix n.1 x then copath n.1 n.2 (drop (size n.1) x)
  else if prefix x n.1 then [::] else [:: n].

Definition puncture_prefix (x : bitseq) (K : key) : key :=
  flatten (map (puncture_prefix_node x) K).

(* All leaves from first to last at once. The nodes that meet the range are replaced by the
   siblings left of the path to first (in the node above first, if it is stored) and the siblings
   right of the path to last. An empty range changes nothing. *)
Definition meets (first last p : bitseq) : bool :=
  leaf_le (take (size p) first) p && leaf_le p (take (size p) last).

Definition puncture_range_node (first last : bitseq) (n : node) : key :=
  if meets first last n.1 then
    (if prefix n.1 first then copath_left n.1 n.2 (drop (size n.1) first) else [::]) ++
    (if prefix n.1 last then copath_right n.1 n.2 (drop (size n.1) last) else [::])
  else [:: n].

Definition puncture_range (first last : bitseq) (K : key) : key :=
  if leaf_le first last then flatten (map (puncture_range_node first last) K) else K.

(* One puncture of any kind, and a sequence of them. *)
Definition puncture_region (r : region) (K : key) : key :=
  match r with
  | Leaf x => puncture x K
  | Subtree p => puncture_prefix p K
  | Range first last => puncture_range first last K
  end.

Definition puncture_regions (rs : seq region) (K : key) : key :=
  foldl (fun K r => puncture_region r K) K rs.

(* The sub-key for the prefix x: it can evaluate exactly what K can below x. *)
Definition delegate_node (x : bitseq) (n : node) : key :=
  if prefix n.1 x then [:: (x, eval_node x n)]
  else if prefix x n.1 then [:: n] else [::].

Definition delegate (x : bitseq) (K : key) : key := flatten (map (delegate_node x) K).

(* ---- The canonical key -------------------------------------------------------------- *)

(* The maximal subtrees, of the depth-d tree whose root is the node (p, s), that contain no
   leaf of P, in leaf order. The claim is that a key is the cover of its punctured set. *)
Fixpoint cover (d : nat) (P : pred bitseq) (p : bitseq) (s : Seed) : key :=
  if has_leaf d P then
    if d is d'.+1 then
      cover d' (below P false) (rcons p false) (child p false s) ++
      cover d' (below P true) (rcons p true) (child p true s)
    else [::]
  else [:: (p, s)].

(* ---- Cost: the nodes that a puncture expands (one PRG call each) -------------------- *)

(* The nodes on the path y from node p, without its end. *)
Fixpoint spine (p y : bitseq) : seq bitseq :=
  if y is b :: y' then p :: spine (rcons p b) y' else [::].

Definition expanded (x : bitseq) (K : key) : seq bitseq :=
  flatten [seq if prefix n.1 x then spine n.1 (drop (size n.1) x) else [::] | n <- K].

Fixpoint expanded_all (xs : seq bitseq) (K : key) : seq bitseq :=
  if xs is x :: xs' then expanded x K ++ expanded_all xs' (puncture x K) else [::].

End Ggm.

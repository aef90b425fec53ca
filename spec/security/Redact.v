(* SPDX-License-Identifier: Apache-2.0 *)
(* Redactable documents: the scheme with an abstract hash function, and its games. Definitions only.

   A document is a list of parts. Leaf i of a fresh key is the salt of part i; the hash of salt, i
   and part is leaf i of the tree of RFC 9162, whose root is signed. To redact is to puncture: a
   redacted document has the shown parts, the key punctured at all other leaves, and the hash of
   each maximal subtree of hidden parts. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame DelegationGame TicketGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* ---- The tree of RFC 9162, 2.1.1 ------------------------------------------------------------ *)

(* the largest power of two less than n, for n > 1 *)
Definition split (n : nat) : nat := 2 ^ trunc_log 2 n.-1.

Inductive shape : Type := Tip of nat | Join of shape & shape.

(* The tree of the n > 0 leaves from number i on; fuel: at least n. *)
Fixpoint rfc_shape (fuel i n : nat) : shape :=
  if fuel is f.+1 then
    if (n <= 1)%N then Tip i
    else Join (rfc_shape f i (split n)) (rfc_shape f (i + split n) (n - split n))
  else Tip i.

Definition rfc_tree (n : nat) : shape := rfc_shape n 0 n.

(* All parts below are hidden. *)
Fixpoint all_hidden (hidden : pred nat) (t : shape) : bool :=
  match t with
  | Tip i => hidden i
  | Join l r => all_hidden hidden l && all_hidden hidden r
  end.

(* ---- Hashes ---------------------------------------------------------------------------------- *)

Section Hash.
Variables (Salt Part Hash : eqType).

(* What is shown of a part: salt, number and part. *)
Definition entry := (Salt * nat * Part)%type.

(* What is hashed: 0x00 and an entry, or 0x01 and two hashes. The document salt and the lengths are
   part of how an entry is written, which is injective. *)
Variant hash_input : Type :=
| LeafInput of entry
| NodeInput of Hash & Hash.

Variable H : hash_input -> Hash.

(* The hash of a list as RFC 9162 defines it; fuel: at least its length. *)
Fixpoint rfc_hash (fuel : nat) (h0 : Hash) (hs : seq Hash) : Hash :=
  if fuel is f.+1 then
    if (size hs <= 1)%N then head h0 hs
    else H (NodeInput (rfc_hash f h0 (take (split (size hs)) hs))
                      (rfc_hash f h0 (drop (split (size hs)) hs)))
  else head h0 hs.

(* The hash of a tree whose leaf i has the hash c i; those of its maximal hidden subtrees. *)
Fixpoint tree_hash (c : nat -> Hash) (t : shape) : Hash :=
  match t with
  | Tip i => c i
  | Join l r => H (NodeInput (tree_hash c l) (tree_hash c r))
  end.

Fixpoint hidden_hashes (hidden : pred nat) (c : nat -> Hash) (t : shape) : seq Hash :=
  if all_hidden hidden t then [:: tree_hash c t]
  else if t is Join l r then hidden_hashes hidden c l ++ hidden_hashes hidden c r else [::].

(* ---- Verification, and collisions ----------------------------------------------------------- *)

(* An opening of a root: the parts that are shown, and hashes of the hidden subtrees. *)
Record opening := Opening { view : nat -> option entry; hashes : seq Hash }.

Definition conceals (v : nat -> option entry) : pred nat := fun i => ~~ isSome (v i).

(* The root of the tree t, and the hashes that are left over; None: too few hashes. *)
Fixpoint rebuild (v : nat -> option entry) (t : shape) (hs : seq Hash) : option (Hash * seq Hash) :=
  if all_hidden (conceals v) t then (if hs is h :: hs' then Some (h, hs') else None)
  else match t with
  | Tip i => if v i is Some e then Some (H (LeafInput e), hs) else None
  | Join l r =>
      if rebuild v l hs is Some (a, hs1) then
        if rebuild v r hs1 is Some (b, hs2) then Some (H (NodeInput a b), hs2) else None
      else None
  end.

Definition accepted (n : nat) (root : Hash) (o : opening) : bool :=
  rebuild (view o) (rfc_tree n) (hashes o) == Some (root, [::]).

(* Walk down both openings side by side, to the first place where inputs of the hash differ. *)
Fixpoint collide (v1 v2 : nat -> option entry) (t : shape) (hs1 hs2 : seq Hash) :
  option (hash_input * hash_input) :=
  if all_hidden (conceals v1) t || all_hidden (conceals v2) t then None
  else match t with
  | Tip i =>
      if (v1 i, v2 i) is (Some e1, Some e2) then
        if e1 == e2 then None else Some (LeafInput e1, LeafInput e2)
      else None
  | Join l r =>
      if (rebuild v1 l hs1, rebuild v2 l hs2) is (Some (a1, hs1'), Some (a2, hs2')) then
        if (rebuild v1 r hs1', rebuild v2 r hs2') is (Some (b1, _), Some (b2, _)) then
          if (a1, b1) == (a2, b2) then
            if collide v1 v2 l hs1 hs2 is Some c then Some c else collide v1 v2 r hs1' hs2'
          else Some (NodeInput a1 b1, NodeInput a2 b2)
        else None
      else None
  end.

Definition collision (n : nat) (o1 o2 : opening) : option (hash_input * hash_input) :=
  collide (view o1) (view o2) (rfc_tree n) (hashes o1) (hashes o2).

(* Part i of n is not shown. *)
Definition absent (n : nat) (hidden : pred nat) : pred nat := fun i => (n <= i)%N || hidden i.

End Hash.

(* ---- Hiding ---------------------------------------------------------------------------------- *)

(* The adversary names two documents with the same number of parts, at most N, gets the root and
   the signature of one of them, and then, as often as it likes, redacts that one: each time it
   chooses the hidden parts, after all earlier answers. What is shown must be the same in both;
   other requests are refused. The signature is any function, with coins, of the number of parts
   and the root: the adversary may know the signing key. One document: each has a key of its own. *)
Section Hiding.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Variables (Part Hash : eqType) (Sig : Type).
Variables (p0 : Part) (h0 : Hash).
Variable H : hash_input Seed Part Hash -> Hash.
Variable sign : nat -> Hash -> prog Sig.

(* A redacted document: the key, the hashes of hidden subtrees, and the shown parts. *)
Record redacted := Redacted { seeds : key Seed; subtrees : seq Hash; shown : seq (nat * Part) }.

Definition redact_reply (hidden : pred nat) : Type := option redacted.

Definition documents (N : nat) : Type := {ds : seq (Part * Part) | (size ds <= N)%N}.

Definition hide_adversary (N : nat) : Type :=
  prog (documents N * (Hash -> Sig -> adversary redact_reply)).

(* The hash of part i under the salt y; the salt of part i in the tree of the seed s. *)
Definition commit (y : Seed) (i : nat) (p : Part) : Hash := H (LeafInput Hash (y, i, p)).
Definition salt (s : Seed) (i : nat) : Seed := ggm G s (bits d i).

(* The hashes of all parts of a document. *)
Definition part_hashes (s : Seed) (ps : seq Part) : seq Hash :=
  [seq commit (salt s i) i (nth p0 ps i) | i <- iota 0 (size ps)].

Definition side (b : bool) (pp : Part * Part) : Part := if b then pp.2 else pp.1.

Definition may_redact (ds : seq (Part * Part)) (hidden : pred nat) : bool :=
  all (fun i => hidden i || ((nth (p0, p0) ds i).1 == (nth (p0, p0) ds i).2)) (iota 0 (size ds)).

(* The leaves whose parts are not shown: the key of a redacted document is punctured there. *)
Definition unshown (n : nat) (hidden : pred nat) : pred bitseq := fun x => absent n hidden (val x).

Definition redact (K : key Seed) (cs : seq Hash) (ps : seq Part) (hidden : pred nat) : redacted :=
  Redacted K (hidden_hashes H (absent (size ps) hidden) (nth h0 cs) (rfc_tree (size ps)))
    [seq (i, nth p0 ps i) | i <- iota 0 (size ps) & ~~ hidden i].

(* What a verifier makes of it: the seeds give the salts of the shown parts. *)
Definition read (r : redacted) : opening Seed Part Hash :=
  Opening (fun i => if eval G (seeds r) (bits d i) is Some y
                    then Some (y, i, nth p0 (map snd (shown r)) (index i (map fst (shown r)))) else None)
    (subtrees r).

Definition root_of (cs : seq Hash) : Hash := tree_hash H (nth h0 cs) (rfc_tree (size cs)).

(* The document's parts have the hashes cs; s is the seed of its key. What is shown is the same in
   both documents. *)
Definition hide_oracle (s : Seed) (cs : seq Hash) (ds : seq (Part * Part)) (st : unit) (hidden : pred nat) :
  prog (redact_reply hidden * unit) :=
  Ret (if may_redact ds hidden then
         Some (redact (cover G d (unshown (size ds) hidden) [::] s) cs (map fst ds) hidden)
       else None, tt).

Definition publish (s : Seed) (cs : seq Hash) (ds : seq (Part * Part))
  (k : Hash -> Sig -> adversary redact_reply) : prog bool :=
  sg <-$ sign (size ds) (root_of cs) ;;
  interact (fun _ b => b) (hide_oracle s cs ds) tt (k (root_of cs) sg).

Definition hide_game (N : nat) (b : bool) (A : hide_adversary N) : prog bool :=
  s <-$ unif s0 ;; dk <-$ A ;;
  publish s (part_hashes s (map (side b) (sval dk.1))) (sval dk.1) dk.2.

Definition hide_adv (N : nat) (A : hide_adversary N) : rat :=
  Pr (hide_game true A) - Pr (hide_game false A).

(* The assumption on the hash: under a uniform salt it hides which of two parts was hashed. The
   adversary names the number of a part and two parts, gets a hash, and answers a bit. *)
Definition commit_adversary := prog (nat * (Part * Part) * (Hash -> prog bool)).

Definition commit_game (b : bool) (C : commit_adversary) : prog bool :=
  x <-$ C ;; y <-$ unif s0 ;; x.2 (commit y x.1.1 (side b x.1.2)).

Definition commit_adv (C : commit_adversary) : rat := Pr (commit_game true C) - Pr (commit_game false C).

(* ---- Against the puncturable PRF: the salts of parts that differ are challenges ------------- *)

Definition leaf_of (i : nat) : leaf d := insubd (nseq_tuple d false) (bits d i).

Fixpoint collect (b : bool) (i : nat) (ds : seq (Part * Part)) (cs : seq Hash)
  (k : seq Hash -> ev_adversary Seed d) : ev_adversary Seed d :=
  if ds is pp :: ds' then
    let next := fun y => collect b i.+1 ds' (rcons cs (commit (odflt s0 y) i (side b pp))) k in
    if pp.1 == pp.2 then @Ask _ (@ev_reply Seed d) (Evaluate (leaf_of i)) next
    else @Ask _ (@ev_reply Seed d) (Challenge (leaf_of i)) next
  else k cs.

Fixpoint redact_ev (cs : seq Hash) (ds : seq (Part * Part)) (A : adversary redact_reply) :
  ev_adversary Seed d :=
  match A with
  | Conclude b => Conclude _ b
  | Random X x0 k => Random x0 (fun x => redact_ev cs ds (k x))
  | Ask hidden k =>
      if may_redact ds hidden then
        take_keys (maximal_prefixes d (unshown (size ds) hidden)) [::]
          (fun K => redact_ev cs ds (k (Some (redact K cs (map fst ds) hidden))))
      else redact_ev cs ds (k None)
  end.

Definition hide_as_ev (N : nat) (b : bool) (A : hide_adversary N) : ev_adversary Seed d :=
  toss A (fun dk => collect b 0 (sval dk.1) [::] (fun cs =>
    toss (sign (size (sval dk.1)) (root_of cs)) (fun sg => redact_ev cs (sval dk.1) (dk.2 (root_of cs) sg)))).

(* ---- Against the hash: one part after the other is exchanged, under fresh salts ------------- *)

(* Of the parts from number i on that differ, those before j are the second document's, those after
   it the first one's, and the hash of part j is h. *)
Fixpoint mixed (s : Seed) (j : nat) (h : Hash) (i : nat) (ds : seq (Part * Part)) : prog (seq Hash) :=
  if ds is pp :: ds' then
    c <-$ (if pp.1 == pp.2 then Ret (commit (salt s i) i pp.1)
           else if i == j then Ret h
           else y <-$ unif s0 ;; Ret (commit y i (side (i < j)%N pp))) ;;
    cs <-$ mixed s j h i.+1 ds' ;; Ret (c :: cs)
  else Ret [::].

Definition exchange (N : nat) (j : nat) (A : hide_adversary N) : commit_adversary :=
  s <-$ unif s0 ;; dk <-$ A ;;
  Ret (j, nth (p0, p0) (sval dk.1) j, fun h =>
    cs <-$ mixed s j h 0 (sval dk.1) ;; publish s cs (sval dk.1) dk.2).

End Hiding.

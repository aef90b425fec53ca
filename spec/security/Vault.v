(* SPDX-License-Identifier: Apache-2.0 *)
(* A key on disk from which leaves are erased for good: a tree of pages, of which each is sealed
   under a key of its own that stands in its parent, and a cell that holds the root's key. Nothing
   that was written is ever overwritten except the cell. Definitions only.

   Sealing is symbolic: a sealed page opens with its key and in no other way, and each page written
   has a key that was never used before. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Oracle EvaluationGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Pages.
Variable Item : eqType.                          (* what pages hold: nodes with their seeds *)

(* ---- What can be derived --------------------------------------------------------------------- *)

Inductive term : Type :=
| Key of nat
| Plain of Item
| Sealed of nat & seq term.

Inductive derives (known : term -> Prop) : term -> Prop :=
| Given t : known t -> derives known t
| Opens k ts t : derives known (Sealed k ts) -> derives known (Key k) -> List.In t ts -> derives known t
| Seals k ts : derives known (Key k) -> (forall t, List.In t ts -> derives known t) ->
    derives known (Sealed k ts).

(* ---- Pages ------------------------------------------------------------------------------------ *)

(* Pages beside each other, each with its key, its items and the pages below it. *)
Inductive forest : Type :=
| Nil
| Page of nat & seq Item & forest & forest.      (* key, items, pages below, pages beside *)

Fixpoint roots (f : forest) : seq nat := if f is Page k _ _ rest then k :: roots rest else [::].

(* A page as it is written: its key, and inside its items and the keys of the pages below. *)
Definition page : Type := nat * (seq Item * seq nat).

Fixpoint pages (f : forest) : seq page :=
  if f is Page k xs kids rest then (k, (xs, roots kids)) :: pages kids ++ pages rest else [::].

Definition seal (p : page) : term := Sealed p.1 (map Plain p.2.1 ++ map Key p.2.2).

Definition page_keys (f : forest) : seq nat := map fst (pages f).
Definition items (f : forest) : seq Item := flatten [seq p.2.1 | p <- pages f].

Fixpoint find_page (f : forest) (k : nat) : option (seq Item * forest) :=
  if f is Page k' xs kids rest then
    if k' == k then Some (xs, kids)
    else if find_page kids k is Some p then Some p else find_page rest k
  else None.

(* ---- Commits ----------------------------------------------------------------------------------- *)

(* The next tree: pages that are kept, with all below, and pages that are written. *)
Inductive draft : Type :=
| Done
| Keep of nat & draft                            (* the page with this key; what is beside it *)
| Write of seq Item & draft & draft.             (* items; what is below; what is beside *)

(* n: the next key that was never used. *)
Fixpoint write (t : forest) (n : nat) (dr : draft) : forest * nat :=
  match dr with
  | Done => (Nil, n)
  | Keep k beside =>
      let: (f, m) := write t n beside in
      (if find_page t k is Some (xs, kids) then Page k xs kids f else f, m)
  | Write xs under beside =>
      let: (c, m) := write t n.+1 under in
      let: (f, m') := write t m beside in (Page n xs c f, m')
  end.

(* disk: all pages ever written *)
Record vault := Vault { live : forest; disk : seq page; unused : nat }.

Definition new_vault : vault := Vault Nil [::] 0.

Definition commit (v : vault) (dr : draft) : vault :=
  let: (f, m) := write (live v) (unused v) dr in Vault f (pages f ++ disk v) m.

Definition vault_after (drs : seq draft) : vault := foldl commit new_vault drs.

(* What a thief has: every page ever written, and the newest cell. *)
Definition stolen (v : vault) (t : term) : Prop :=
  (exists2 p, p \in disk v & t = seal p) \/ (exists2 k, k \in roots (live v) & t = Key k).

End Pages.

(* ---- A vault that holds a key ------------------------------------------------------------------ *)

Section Game.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.

Definition node_of : eqType := prod_eqType (seq_eqType bool_eqType) Seed.

(* A new vault: the root of the tree in one page. *)
Definition set_up (s : Seed) : vault node_of := commit (new_vault node_of) (Write (keygen s : seq node_of) (Done _) (Done _)).

(* How the pages change when r is erased. *)
Variable plan : region -> vault node_of -> draft node_of.

Definition erase (r : region) (v : vault node_of) : vault node_of := commit v (plan r v).

(* The pages hold the nodes of the punctured key, in leaf order. *)
Definition faithful : Prop := forall r v, region_ok d r ->
  items (live (erase r v)) = puncture_region G r (items (live v) : key Seed).

Definition erase_all (rs : seq region) (v : vault node_of) : vault node_of := foldl (fun v r => erase r v) v rs.

(* The game of EvaluationGame.v for a device whose key is what its vault holds: each puncture is
   erased and committed; a thief of the whole key takes all pages ever written and the cell. *)
Definition vault_oracle (w : world) (K0 : key Seed) (vt : vault node_of * (pred bitseq * seq bitseq)) (q : ev_query d) :
  prog (ev_reply Seed q * (vault node_of * (pred bitseq * seq bitseq))) :=
  rs <-$ ev_oracle s0 G w K0 (State (items (live vt.1) : key Seed) vt.2.1 vt.2.2) q ;;
  Ret (rs.1, (if q is Punct r then erase (sval r) vt.1 else vt.1, (revealed rs.2, tested rs.2))).

Definition vault_game (w : world) (A : ev_adversary Seed d) : prog bool :=
  s <-$ unif s0 ;;
  interact (fun _ b => b) (vault_oracle w (keygen s)) (set_up s, (pred0 : pred bitseq, [::])) A.

Definition vault_adv (A : ev_adversary Seed d) : rat := Pr (vault_game Real A) - Pr (vault_game Ideal A).

End Game.

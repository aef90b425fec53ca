(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of EvaluationGame.v in which the adversary also takes sub-keys for ranges of leaves
   (Share), as many as it likes: friends who collude, with the owner's values and punctures. The
   rule is the same: a challenge leaf is never revealed, so a range that holds one which the key
   still evaluates is refused. Definitions only. One key. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Delegation Probability Games Reductions Oracle EvaluationGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section DelegationGame.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.

Inductive share_query : Type :=
| Plain of ev_query d                            (* a query of EvaluationGame.v *)
| Share of leaf d & leaf d.                      (* the sub-key from the first to the last leaf *)

Definition share_reply (q : share_query) : Type :=
  match q with
  | Plain a => ev_reply Seed a
  | Share _ _ => option (key Seed)               (* None: refused *)
  end.

Definition share_adversary := adversary share_reply.

Definition share_oracle (w : world) (K0 : key Seed) (st : ev_state Seed) (q : share_query) :
  prog (share_reply q * ev_state Seed) :=
  match q with
  | Plain a => ev_oracle s0 G w K0 st a
  | Share f l =>
      let given := fun x => in_region (Range f l) x && alive (held st) x in
      if has given (tested st) then Ret (None, st)
      else Ret (Some (delegate_range G d f l (held st)),
                State (held st) (fun x => revealed st x || given x) (tested st))
  end.

Definition share_game (w : world) (A : share_adversary) : prog bool :=
  s <-$ unif s0 ;; interact (fun _ b => b) (share_oracle w (keygen s)) (fresh_state (keygen s)) A.

Definition share_adv (A : share_adversary) : rat := Pr (share_game Real A) - Pr (share_game Ideal A).

Fixpoint shares_in (U : pred bitseq) (A : share_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, shares_in U (k x)
  | Ask q k => (if q is Plain (Challenge x) then U x : Prop else True) /\ forall y, shares_in U (k y)
  end.

(* ---- The adversary of EvaluationGame.v: a range is its maximal prefixes, one after the other -- *)

(* The maximal subtrees without a leaf of P. *)
Definition maximal_prefixes (P : pred bitseq) : seq {p : bitseq | (size p <= d)%N} :=
  pmap insub (map fst (cover no_seed d P [::] tt)).

Fixpoint take_keys (ps : seq {p : bitseq | (size p <= d)%N}) (K : key Seed)
  (k : key Seed -> ev_adversary Seed d) : ev_adversary Seed d :=
  if ps is p :: ps' then
    @Ask _ (@ev_reply Seed d) (Reveal p) (fun M => take_keys ps' (K ++ odflt [::] M) k)
  else k K.

(* It keeps what was punctured and what was challenged, so it knows what is refused. *)
Fixpoint as_prefixes (rs : seq region) (ts : seq bitseq) (A : share_adversary) : ev_adversary Seed d :=
  match A with
  | Conclude b => Conclude _ b
  | Random X x0 k => Random x0 (fun x => as_prefixes rs ts (k x))
  | Ask q k =>
      match q return (share_reply q -> share_adversary) -> ev_adversary Seed d with
      | Plain a => fun k => @Ask _ (@ev_reply Seed d) a (fun y =>
          as_prefixes (if a is Punct r then rcons rs (sval r) else rs)
            (match a return ev_reply Seed a -> seq bitseq with
             | Challenge x => fun y => if y is Some _ then tval x :: ts else ts
             | _ => fun _ => ts
             end y) (k y))
      | Share f l => fun k =>
          if has (fun x => in_region (Range f l) x && ~~ punctured rs x) ts then as_prefixes rs ts (k None)
          else take_keys (maximal_prefixes (predC (in_region (Range f l)))) [::]
                 (fun K => as_prefixes rs ts (k (Some K)))
      end k
  end.

End DelegationGame.

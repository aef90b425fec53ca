(* SPDX-License-Identifier: Apache-2.0 *)
(* The functions that are extracted as the oracle, on plain bit lists (no eqType, no nat). Each
   equals its definition in spec/model/Ggm.v for all arguments. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* The place of the subtree at p as seen from the string x: left of it, right of it, or on the
   path, with the rest of x below p. *)
Variant place := Left | On of seq bool | Right.

Fixpoint locate (p x : seq bool) : place :=
  match p, x with
  | [::], _ => On x
  | true :: p', true :: x' | false :: p', false :: x' => locate p' x'
  | false :: _, true :: _ => Left
  | _, _ => Right
  end.

Fixpoint exec_le (x y : seq bool) : bool :=
  match x, y with
  | true :: x', true :: y' | false :: x', false :: y' => exec_le x' y'
  | true :: _, _ => false
  | false :: _, [::] => false
  | _, _ => true
  end.

Lemma exec_leE x y : exec_le x y = leaf_le x y.
Proof. by elim: x y => [|[] x IH] [|[] y] /=. Qed.

Lemma locateP p x :
  [/\ prefix p x = (if locate p x is On _ then true else false),
      forall y, locate p x = On y -> drop (size p) x = y,
      leaf_le (take (size p) x) p = (if locate p x is Left then false else true) &
      leaf_le p (take (size p) x) = (if locate p x is Right then false else true)].
Proof.
elim: p x => [|a p IH] x; first by case: x => [|b x]; split=> // y [].
case: x => [|b x]; first by case: a; split.
by case: (IH x) => {IH}; rewrite [prefix]/=; case: a b => -[] //= -> E -> ->; split.
Qed.

Section Executable.

Variable Seed : Type.
Variable G : seq bool -> Seed -> Seed * Seed.

Fixpoint exec_eval (K : key Seed) (x : seq bool) : option Seed :=
  if K is (p, s) :: K' then
    if locate p x is On y then Some (descend G p s y) else exec_eval K' x
  else None.

(* The nodes of K in turn, each replaced by f of it. *)
Fixpoint exec_replace (f : seq bool -> Seed -> key Seed) (K : key Seed) : key Seed :=
  if K is (p, s) :: K' then f p s ++ exec_replace f K' else [::].

Definition exec_puncture (x : seq bool) : key Seed -> key Seed :=
  exec_replace (fun p s => if locate p x is On y then copath G p s y else [:: (p, s)]).

Definition exec_puncture_prefix (x : seq bool) : key Seed -> key Seed :=
  exec_replace (fun p s =>
    if locate p x is On y then copath G p s y
    else if locate x p is On _ then [::] else [:: (p, s)]).

Definition exec_puncture_range (first last : seq bool) (K : key Seed) : key Seed :=
  if exec_le first last then
    exec_replace (fun p s =>
      match locate p first, locate p last with
      | On f, On l => copath_left G p s f ++ copath_right G p s l
      | On f, Left => copath_left G p s f
      | Right, On l => copath_right G p s l
      | Right, Left => [::]
      | _, _ => [:: (p, s)]
      end) K
  else K.

Lemma exec_replaceE f (g : node Seed -> key Seed) K :
  (forall n, f n.1 n.2 = g n) -> exec_replace f K = flatten (map g K).
Proof. by move=> E; elim: K => //= -[p s] K ->; rewrite -E. Qed.

Theorem exec_eval_correct K x : exec_eval K x = eval G K x.
Proof.
elim: K => //= -[p s] K ->; rewrite /eval_node /=; have [-> D _ _] := locateP p x.
by case: (locate p x) D => // y /(_ _ erefl) ->.
Qed.

Theorem exec_puncture_correct x K : exec_puncture x K = puncture G x K.
Proof.
apply: exec_replaceE => -[p s]; rewrite /puncture_node /=; have [-> D _ _] := locateP p x.
by case: (locate p x) D => // y /(_ _ erefl) ->.
Qed.

Theorem exec_puncture_prefix_correct x K :
  exec_puncture_prefix x K = puncture_prefix G x K.
Proof.
apply: exec_replaceE => -[p s]; rewrite /puncture_prefix_node /=.
have [-> D _ _] := locateP p x; have [-> _ _ _] := locateP x p.
by case: (locate p x) D => [|y /(_ _ erefl) ->|] //; case: (locate x p).
Qed.

Theorem exec_puncture_range_correct first last K :
  exec_puncture_range first last K = puncture_range G first last K.
Proof.
rewrite /exec_puncture_range /puncture_range exec_leE; case: ifP => // _.
apply: exec_replaceE => -[p s]; rewrite /puncture_range_node /meets /=.
have [-> Df -> _] := locateP p first; have [-> Dl _ ->] := locateP p last.
by case: (locate p first) Df => [|f Df|Df]; case: (locate p last) Dl => [|l Dl|Dl] //=;
   rewrite ?(Df _ erefl) ?(Dl _ erefl) ?cats0.
Qed.

End Executable.

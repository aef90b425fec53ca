(* SPDX-License-Identifier: Apache-2.0 *)
(* Redactable documents verify, and bind: the tree is that of RFC 9162 and has each part once; the
   signer's openings are accepted; two accepted openings of one root that differ give two inputs
   with the same hash. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Redact.
From Pprf.proofs Require Import Compat.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- The tree -------------------------------------------------------------------------------- *)

Lemma split_bounds n : 1 < n -> 0 < split n < n.
Proof.
case: n => [|[|n]] // _; rewrite /split expn_gt0 /= ltnS; exact: trunc_logP.
Qed.

Fixpoint tips (t : shape) : seq nat :=
  match t with Tip i => [:: i] | Join l r => tips l ++ tips r end.

Lemma tips_shape f i n : 0 < n <= f.+1 -> tips (rfc_shape f i n) = iota i n.
Proof.
elim: f i n => [|f IH] i n /andP [n0 nf]; first by case: n n0 nf => [|[|n]].
rewrite /=; case: leqP => n1; first by case: n n0 n1 {nf} => [|[|n]].
have /andP [s0 sn] := split_bounds n1; rewrite /= !IH ?s0 ?subn_gt0 ?sn //=.
- by rewrite -iotaD subnKC // ltnW.
- by rewrite leq_subLR (leq_trans nf) // -add1n leq_add2r.
- by rewrite -ltnS (leq_trans sn).
Qed.

Lemma tips_tree n : 0 < n -> tips (rfc_tree n) = iota 0 n.
Proof. by move=> n0; rewrite tips_shape // n0 leqnSn. Qed.

Section Binding.
Variables (Salt Part Hash : eqType).
Variable H : hash_input Salt Part Hash -> Hash.
Local Notation entry := (entry Salt Part).
Implicit Types (v : nat -> option entry) (t : shape) (hs : seq Hash) (c : nat -> Hash).

Lemma shape_hash h0 hs f i n : 0 < n -> i + n <= size hs ->
  tree_hash H (nth h0 hs) (rfc_shape f i n) = rfc_hash H f h0 (take n (drop i hs)).
Proof.
have first m k : 0 < m -> nth h0 hs k = head h0 (take m (drop k hs)).
  by move=> m0; rewrite -nth0 nth_take // nth_drop addn0.
elim: f i n => [|f IH] i n n0 le /=; first exact: first.
have sz : size (take n (drop i hs)) = n by rewrite size_takel // size_drop leq_subRL // (leq_trans _ le) ?leq_addr.
rewrite sz; case: leqP => n1; first exact: first.
have /andP [s0 sn] := split_bounds n1; have le' := ltnW sn.
rewrite /= !IH ?s0 ?subn_gt0 ?sn //; last 2 first.
- by rewrite -addnA subnKC.
- by rewrite (leq_trans _ le) // leq_add2l.
by rewrite take_of_take // -[X in drop _ (take X _)](subnK le') -take_drop drop_drop addnC.
Qed.

(* The root is the hash that RFC 9162 defines for the list. *)
Theorem rfc_tree_hash (h0 : Hash) hs : 0 < size hs ->
  tree_hash H (nth h0 hs) (rfc_tree (size hs)) = rfc_hash H (size hs) h0 hs.
Proof. by move=> n0; rewrite shape_hash // drop0 take_size. Qed.

Lemma eq_all_hidden (p q : pred nat) t : {in tips t, p =1 q} -> all_hidden p t = all_hidden q t.
Proof.
elim: t => [i|l IHl r IHr] E /=; first by rewrite E ?inE.
by rewrite IHl ?IHr // => i it; apply: E; rewrite mem_cat it ?orbT.
Qed.

Lemma all_hidden_tips (p : pred nat) t : all_hidden p t = all p (tips t).
Proof. by elim: t => [i|l IHl r IHr] /=; rewrite ?andbT // all_cat IHl IHr. Qed.

(* The hidden parts of an opening with this view of the leaves' hashes c. *)
Lemma rebuild_hashes v c t hs :
  (forall i e, i \in tips t -> v i = Some e -> c i = H (LeafInput Hash e)) ->
  rebuild H v t (hidden_hashes H (conceals v) c t ++ hs) = Some (tree_hash H c t, hs).
Proof.
elim: t hs => [i|l IHl r IHr] hs E /=.
  rewrite /conceals; case Ev: (v i) => [e|] //=.
  by rewrite (E i e) ?inE.
case: (all_hidden _ l && all_hidden _ r) => //=; rewrite -catA IHl => [|i e it]; last by apply: E; rewrite mem_cat it.
by rewrite IHr // => i e it; apply: E; rewrite mem_cat it orbT.
Qed.

Lemma collide_sound v1 v2 t hs1 hs2 a r1 r2 :
  rebuild H v1 t hs1 = Some (a, r1) -> rebuild H v2 t hs2 = Some (a, r2) ->
  if collide H v1 v2 t hs1 hs2 is Some (x, y) then x <> y /\ H x = H y
  else (forall i e1 e2, i \in tips t -> v1 i = Some e1 -> v2 i = Some e2 -> e1 = e2) /\
       ({in tips t, conceals v1 =1 conceals v2} ->
        exists u, hs1 = u ++ r1 /\ hs2 = u ++ r2).
Proof.
have N v i e : conceals v i -> v i = Some e -> False by rewrite /conceals => h E; rewrite E in h.
elim: t hs1 hs2 a r1 r2 => [i|l IHl r IHr] hs1 hs2 a r1 r2.
  rewrite /=; case C1: (conceals v1 i) => /=; last first.
    case C2: (conceals v2 i) => /=.
      move=> _ _; split=> [j e1 e2|/(_ i (mem_head _ _))]; last by rewrite C1 C2.
      by rewrite inE => /eqP -> _ /(N _ _ _ C2).
    case E1: (v1 i) => [e1|] // [<- <-]; case E2: (v2 i) => [e2|] // [Ea <-].
    case: (e1 =P e2) => [E|ne]; last by split=> // -[/ne].
    split=> [j f1 f2|_]; last by exists [::].
    by rewrite inE => /eqP ->; rewrite E1 E2 => -[<-] [<-].
  move=> R1 R2; split=> [j e1 e2|/(_ i (mem_head _ _))].
    by rewrite inE => /eqP -> /(N _ _ _ C1).
  rewrite C1 => /esym C2; move: R1 R2; rewrite C2.
  case: hs1 => // h1 hs1 [-> ->]; case: hs2 => // h2 hs2 [-> ->].
  by exists [:: a].
rewrite [collide _ _ _ _ _ _]/=.
have S v : rebuild H v (Join l r) =1 fun hs => if all_hidden (conceals v) (Join l r)
    then (if hs is h :: hs' then Some (h, hs') else None) else
    if rebuild H v l hs is Some (a, hs1) then
      if rebuild H v r hs1 is Some (b, hs2) then Some (H (NodeInput Salt Part a b), hs2) else None
    else None by [].
rewrite !S -/(all_hidden (conceals v1) (Join l r)) -/(all_hidden (conceals v2) (Join l r)) {S}.
case C: (all_hidden (conceals v1) (Join l r) || all_hidden (conceals v2) (Join l r)).
  move=> R1 R2; split=> [i e1 e2 it E1 E2|E].
    by case/orP: C; rewrite all_hidden_tips => /allP /(_ _ it) h; [case: (N _ _ _ h E1) | case: (N _ _ _ h E2)].
  move: C R1 R2; rewrite (eq_all_hidden E) orbb => ->.
  case: hs1 => // h1 hs1 [-> ->]; case: hs2 => // h2 hs2 [-> ->].
  by exists [:: a].
case/norP: (negbT C) => /negbTE -> /negbTE ->.
case L1: (rebuild _ v1 l hs1) => [[a1 hs1']|] //; case R1: (rebuild _ v1 r hs1') => [[b1 s1]|] // [Ea <-].
case L2: (rebuild _ v2 l hs2) => [[a2 hs2']|] //; case R2: (rebuild _ v2 r hs2') => [[b2 s2]|] // [Eb <-].
case: eqP => [[E1 E2]|ne]; last by split; [move=> [? ?]; apply: ne; congr (_, _) | rewrite Ea Eb].
rewrite -E1 in L2; rewrite -E2 in R2.
have := IHl _ _ _ _ _ L1 L2; case: (collide _ _ _ l _ _) => [[x y] //|[Dl Fl]].
have := IHr _ _ _ _ _ R1 R2; case: (collide _ _ _ r _ _) => [[x y] //|[Dr Fr]].
split=> [i e1 e2|E]; first by rewrite mem_cat => /orP [/Dl|/Dr]; apply.
have [|u [-> ->]] := Fl; first by move=> i it; apply: E; rewrite mem_cat it.
have [|w [-> ->]] := Fr; first by move=> i it; apply: E; rewrite mem_cat it orbT.
by exists (u ++ w); rewrite !catA.
Qed.

(* Two accepted openings of one root that differ, in a part that both show, or in a hash while they
   hide the same parts: two inputs with the same hash. *)
Theorem redact_binding (n : nat) (root : Hash) (o1 o2 : opening Salt Part Hash) : 0 < n ->
  accepted H n root o1 -> accepted H n root o2 ->
  if collision H n o1 o2 is Some (x, y) then x <> y /\ H x = H y
  else (forall i e1 e2, i < n -> view o1 i = Some e1 -> view o2 i = Some e2 -> e1 = e2) /\
       ((forall i, i < n -> isSome (view o1 i) = isSome (view o2 i)) -> hashes o1 = hashes o2).
Proof.
move=> n0 /eqP A1 /eqP A2; have := collide_sound A1 A2; rewrite -/(collision H n o1 o2).
case: (collision _ _ _ _) => [[x y] //|[D F]]; rewrite tips_tree // in D F.
split=> [i e1 e2 ni|E]; first by apply: D; rewrite mem_iota.
have [|u [-> ->]] // := F.
by move=> i; rewrite mem_iota /conceals => ni; rewrite E.
Qed.

(* An opening is accepted if it shows entries of the document and has the hashes of the rest. *)
Lemma accepted_view (n : nat) c (hidden : pred nat) (o : opening Salt Part Hash) : 0 < n ->
  (forall i, i < n -> conceals (view o) i = hidden i) ->
  (forall i e, i < n -> view o i = Some e -> c i = H (LeafInput Hash e)) ->
  hashes o = hidden_hashes H hidden c (rfc_tree n) ->
  accepted H n (tree_hash H c (rfc_tree n)) o.
Proof.
move=> n0 V C E; rewrite /accepted E.
have -> : hidden_hashes H hidden c (rfc_tree n) = hidden_hashes H (conceals (view o)) c (rfc_tree n) ++ [::].
  have : {in tips (rfc_tree n), hidden =1 conceals (view o)}.
    by move=> i; rewrite tips_tree // mem_iota => /V.
  rewrite cats0; elim: (rfc_tree _) => [i|l IHl r IHr] D /=; first by rewrite D ?inE.
  have Dl : {in tips l, hidden =1 conceals (view o)} by move=> i it; apply: D; rewrite mem_cat it.
  have Dr : {in tips r, hidden =1 conceals (view o)} by move=> i it; apply: D; rewrite mem_cat it orbT.
  by rewrite (eq_all_hidden Dl) (eq_all_hidden Dr) IHl // IHr.
by rewrite rebuild_hashes // => i e; rewrite tips_tree // mem_iota; apply: C.
Qed.

End Binding.

(* SPDX-License-Identifier: Apache-2.0 *)
(* ref's array of nodes and opt's pair slots compute what the model computes. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith Lia.
From Coq Require ZifyBool.
From Pprf.spec Require Import Ggm CModel.
From Pprf.proofs Require Import Correctness Layout.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.
#[local] Arguments N.mul : simpl never.
#[local] Arguments N.add : simpl never.
#[local] Arguments N.sub : simpl never.
#[local] Arguments N.leb : simpl never.
#[local] Arguments N.ltb : simpl never.
#[local] Arguments pow2 : simpl never.

Lemma leaf_le_num x y : size x = size y -> leaf_le x y = (leaf_num x <=? leaf_num y).
Proof.
elim: x y => [|c x IH] [|e y] //= [s]; rewrite -s.
have := leaf_num_lt x; have := leaf_num_lt y; rewrite -s => ly lx.
case: c e => [] [] /=; rewrite ?IH //; apply/idP/idP; nlia.
Qed.

Section Refinement.

Variable Seed : Type.
Variable zero : Seed.
Variable prg : N -> nat -> Seed -> Seed * Seed.
Implicit Types (n m : node Seed) (a : seq (node Seed)) (P Q : pred N) (k : Seed).
Local Notation family := (family prg).
Local Notation walk := (walk prg).
Local Notation blank := (blank zero).
Local Notation cursors := (cursors zero prg).
Local Notation co_path := (co_path zero prg).
Local Notation keep_left := (keep_left zero prg).
Local Notation keep_right := (keep_right zero prg).
Local Notation list_eval := (list_eval prg).
Local Notation list_puncture := (list_puncture zero prg).
Local Notation list_puncture_range := (list_puncture_range zero prg).
Local Notation ncover := (ncover prg).

(* ---- Evaluation --------------------------------------------------------------------- *)

Lemma list_eval_right a1 a2 x :
  all (fun n => last_end n <=? x) a1 -> list_eval (a1 ++ a2) x = list_eval a2 x.
Proof.
elim: a1 => //= n a1 IH /andP [nx /IH <-]; rewrite /list_eval /find_node /=.
by have -> : (x <? last_end n) = false by nlia.
Qed.

Lemma list_eval_left a1 a2 x :
  all (fun n => x <? start n) a2 -> list_eval (a1 ++ a2) x = list_eval a1 x.
Proof.
elim: a1 => [|n a1 IH] /= A2.
  case: a2 A2 => //= n a2 /andP [xn _]; rewrite /list_eval /find_node /=.
  have -> : (x <? last_end n) by have := last_end_gt n; nlia.
  by rewrite drop0 (_ : (start n <=? x) = false) //; nlia.
rewrite /list_eval /find_node /=; case: ifP => // _; exact: IH.
Qed.

Lemma ncover_ends h P s k : all (fun n => last_end n <=? s + pow2 h) (ncover h P s k).
Proof.
elim: h s k => [|h IH] s k.
  by rewrite /=; case: ifP => //= _; rewrite /last_end /= N.leb_refl.
case hp: (nhas_leaf h.+1 P s); last by rewrite ncover_no_leaf ?hp //= /last_end /= N.leb_refl.
rewrite ncover_has_leafS // all_cat; apply/andP; split.
  by apply: sub_all (IH _ _) => n; rewrite pow2S; nlia.
by apply: sub_all (IH _ _) => n; rewrite pow2S; nlia.
Qed.

Lemma ncover_starts h P s k : all (fun n => s <=? start n) (ncover h P s k).
Proof.
elim: h s k => [|h IH] s k; first by rewrite /=; case: ifP => //= _; rewrite N.leb_refl.
case hp: (nhas_leaf h.+1 P s); last by rewrite ncover_no_leaf ?hp //= N.leb_refl.
rewrite ncover_has_leafS // all_cat IH /=.
by apply: sub_all (IH _ _) => n; have := pow2_gt0 h; nlia.
Qed.

Lemma list_eval_ncover h P s k x : in_span s h x ->
  list_eval (ncover h P s k) x = if P x then None else Some (walk s h k x).
Proof.
elim: h s k => [|h IH] s k sx.
  have {sx} -> : x = s by move: sx; rewrite /in_span; change (pow2 0) with 1; nlia.
  rewrite /=; case: (P s) => //; rewrite /list_eval /find_node /= /last_end /=.
  change (pow2 0) with 1; have -> : (s <? s + 1) by nlia.
  by rewrite /= N.leb_refl.
case hp: (nhas_leaf h.+1 P s); last first.
  have -> : P x = false by apply/negP => Px; case/negP: (negbT hp); apply/nhas_leafP; exists x.
  rewrite ncover_no_leaf ?hp // /list_eval /find_node [find _ _]/= /last_end /=.
  move: sx; rewrite /in_span => /andP [sx ->]; by rewrite /= sx.
rewrite ncover_has_leafS // [walk _ _ _ _]/=; case: N.ltb_spec => c.
  rewrite list_eval_left ?IH //; first by move: sx; rewrite /in_span; nlia.
  by apply: sub_all (ncover_starts h P (s + pow2 h) _) => n; nlia.
rewrite list_eval_right ?IH //; first by move: sx; rewrite /in_span pow2S; nlia.
by apply: sub_all (ncover_ends h P s _) => n; nlia.
Qed.

Lemma walk_descend d p k y : (size p + size y = d)%nat ->
  walk (first_leaf d p) (size y) k (first_leaf d p + leaf_num y) =
  descend (family d) p k y.
Proof.
elim: y p k => [//|c y IH] p k pd; rewrite [size _]/= [walk _ _ _ _]/=.
have lt : (size p < d)%nat by rewrite -pd addnS ltnS leq_addr.
have hd : (d - (size p).+1 = size y)%nat by rewrite -pd addnS subSS addKn.
have hp : (size (rcons p c) + size y = d)%nat by rewrite size_rcons addSnnS.
have := leaf_num_lt y => ly; rewrite [descend _ _ _ _]/= -IH // first_leaf_rcons // hd.
rewrite /child /CModel.family (_ : (d - size p = (size y).+1)%nat); last first.
  by rewrite -pd addKn.
case: c pd hp => pd hp; rewrite [leaf_num _]/=.
  by case: N.ltb_spec => [|_]; [nlia | congr CModel.walk; nlia].
by case: N.ltb_spec => [_|]; [rewrite N.add_0_r N.add_0_l | nlia].
Qed.

Theorem list_eval_refines d (P : pred bitseq) R x : size x = d ->
  let K := cover (family d) d P [::] R in
  list_eval (map (encode d) K) (leaf_num x) = eval (family d) K x.
Proof.
move=> sx K; rewrite -[x in RHS]cat0s (eval_cover _ _ _ _ sx) encode_cover_path.
rewrite list_eval_ncover; last by have := leaf_num_lt x; rewrite sx /in_span; nlia.
rewrite -[in leaf_path _ _]sx leaf_numK; case: (P x) => //; congr Some.
have := @walk_descend d [::] R x; rewrite /first_leaf /= N.mul_0_l sx N.add_0_l; exact.
Qed.

(* ---- The two cursors ---------------------------------------------------------------- *)

Fixpoint cp_left (s : N) (h : nat) k (x : N) : seq (node Seed) :=
  if h is h'.+1 then
    if x <? s + pow2 h' then cp_left s h' (prg s h k).1 x
    else Node s h' (prg s h k).1 :: cp_left (s + pow2 h') h' (prg s h k).2 x
  else [::].

Fixpoint cp_right (s : N) (h : nat) k (x : N) : seq (node Seed) :=
  if h is h'.+1 then
    if x <? s + pow2 h' then
      cp_right s h' (prg s h k).1 x ++ [:: Node (s + pow2 h') h' (prg s h k).2]
    else cp_right (s + pow2 h') h' (prg s h k).2 x
  else [::].

Lemma set_nth_mid (T : Type) (z : T) l1 y l2 v :
  set_nth z (l1 ++ y :: l2) (size l1) v = l1 ++ v :: l2.
Proof. by elim: l1 => //= u l1 ->. Qed.

Lemma cursorsE a1 gap a2 s h k x : size gap = h ->
  cursors (a1 ++ gap ++ a2) (size a1) (size a1 + h)%nat s h k x =
  (a1 ++ cp_left s h k x ++ cp_right s h k x ++ a2, (size a1 + size (cp_left s h k x))%nat).
Proof.
elim: h a1 gap a2 s k => [|h IH] a1 gap a2 s k; first by move/size0nil => ->; rewrite addn0.
move=> sg; rewrite [cursors _ _ _ _ _ _ _]/=; case E: (prg s h.+1 k) => [kl kr] /=.
rewrite E /=; case: N.ltb_spec => c.
  case/lastP: gap sg => // gap y; rewrite size_rcons => -[sg].
  rewrite addnS /= cat_rcons catA -{1}sg -size_cat set_nth_mid -catA IH //.
  by rewrite -!catA.
case: gap sg => // y gap [sg]; rewrite set_nth_mid -cat_rcons addnS -addSn.
by rewrite -(size_rcons a1 (Node s h kl)) IH // cat_rcons size_rcons addSnnS.
Qed.

Lemma co_pathE n x : co_path n x =
  (cp_left (start n) (height n) (seed n) x ++ cp_right (start n) (height n) (seed n) x,
   size (cp_left (start n) (height n) (seed n) x)).
Proof.
have := @cursorsE [::] (nseq (height n) blank) [::] (start n) (height n) (seed n) x (size_nseq _ _).
by rewrite /CModel.co_path !cats0 add0n => ->.
Qed.

Lemma cp_left_ncover s h k x : in_span s h x ->
  cp_left s h k x = ncover h (fun y => x <=? y) s k.
Proof.
elim: h s k => [|h IH] s k sx.
  by rewrite ncover_all // => y; move: sx; rewrite /in_span; change (pow2 0) with 1; nlia.
rewrite ncover_has_leafS; last by apply/nhas_leafP; exists x => //; nlia.
move: sx; rewrite in_span_half [cp_left _ _ _ _]/=; case: N.ltb_spec => c sx.
  rewrite IH; last by move: sx; rewrite /in_span; nlia.
  by rewrite [X in _ = _ ++ X]ncover_all ?cats0 // => y; rewrite /in_span; nlia.
rewrite IH; last by move: sx; rewrite /in_span; nlia.
by rewrite [X in _ = X ++ _]ncover_no_leaf //; apply/nhas_leafP => -[y]; rewrite /in_span; nlia.
Qed.

Lemma cp_right_ncover s h k x : in_span s h x ->
  cp_right s h k x = ncover h (fun y => y <=? x) s k.
Proof.
elim: h s k => [|h IH] s k sx.
  by rewrite ncover_all // => y; move: sx; rewrite /in_span; change (pow2 0) with 1; nlia.
rewrite ncover_has_leafS; last by apply/nhas_leafP; exists x => //; nlia.
move: sx; rewrite in_span_half [cp_right _ _ _ _]/=; case: N.ltb_spec => c sx.
  rewrite IH; last by move: sx; rewrite /in_span; nlia.
  by rewrite [X in _ = _ ++ X]ncover_no_leaf //; apply/nhas_leafP => -[y]; rewrite /in_span; nlia.
rewrite IH; last by move: sx; rewrite /in_span; nlia.
by rewrite [X in _ = X ++ _]ncover_all // => y; rewrite /in_span; nlia.
Qed.

Lemma keep_leftE n x : keep_left n x =
  if x <=? start n then [::] else cp_left (start n) (height n) (seed n) x.
Proof. by rewrite /CModel.keep_left co_pathE take_size_cat. Qed.

Lemma keep_rightE n x : keep_right n x =
  if last_end n - 1 <=? x then [::] else cp_right (start n) (height n) (seed n) x.
Proof. by rewrite /CModel.keep_right co_pathE drop_size_cat. Qed.

(* ---- Cutting a key at both ends of a range ------------------------------------------ *)

Fixpoint cut_left a (x : N) : seq (node Seed) :=
  if a is n :: a' then if last_end n <=? x then n :: cut_left a' x else keep_left n x else [::].

Fixpoint cut_right a (x : N) : seq (node Seed) :=
  if a is n :: a' then
    if last_end n <=? x then cut_right a' x
    else if start n <=? x then keep_right n x ++ a' else n :: a'
  else [::].

Lemma cut_left_left a1 a2 x :
  all (fun n => x <=? start n) a2 -> cut_left (a1 ++ a2) x = cut_left a1 x.
Proof.
elim: a1 => [|n a1 IH] /= A2; last by rewrite IH.
case: a2 A2 => //= n a2 /andP [xn _]; have := last_end_gt n => g.
by rewrite keep_leftE xn (_ : (last_end n <=? x) = false) //; nlia.
Qed.

Lemma cut_left_right a1 a2 x :
  all (fun n => last_end n <=? x) a1 -> cut_left (a1 ++ a2) x = a1 ++ cut_left a2 x.
Proof. by elim: a1 => //= n a1 IH /andP [-> /IH ->]. Qed.

Lemma cut_right_left a1 a2 x :
  all (fun n => x <? start n) a2 -> cut_right (a1 ++ a2) x = cut_right a1 x ++ a2.
Proof.
elim: a1 => [|n a1 IH] /= A2; last by rewrite IH //; do 2! case: ifP => // _; rewrite -catA.
case: a2 A2 => //= n a2 /andP [xn _]; have := last_end_gt n => g.
have -> : (last_end n <=? x) = false by nlia.
by have -> : (start n <=? x) = false by nlia.
Qed.

Lemma cut_right_right a1 a2 x :
  all (fun n => last_end n <=? x) a1 -> cut_right (a1 ++ a2) x = cut_right a2 x.
Proof. by elim: a1 => //= n a1 IH /andP [-> /IH ->]. Qed.

Lemma ncover_cut_left h P s k x :
  ncover h (fun y => P y || (x <=? y)) s k = cut_left (ncover h P s k) x.
Proof.
elim: h s k => [|h IH] s k.
  rewrite /=; case: (P s) => //=; rewrite keep_leftE /last_end /=; change (pow2 0) with 1.
  by case: N.leb_spec => c; case: N.leb_spec => //; nlia.
case hp: (nhas_leaf h.+1 P s).
  have hp' : nhas_leaf h.+1 (fun y => P y || (x <=? y)) s.
    by case/nhas_leafP: hp => y sy Py; apply/nhas_leafP; exists y; rewrite ?Py.
  rewrite !ncover_has_leafS //; case: (N.le_gt_cases x (s + pow2 h)) => c.
    rewrite [X in _ ++ X = _]ncover_all ?cats0; last by move=> y; rewrite /in_span; nlia.
    rewrite IH cut_left_left //.
    by apply: sub_all (ncover_starts h P (s + pow2 h) _) => n; nlia.
  rewrite (@eq_ncover _ _ h _ P s); last by move=> y; rewrite /in_span; case: (P y) => //=; nlia.
  rewrite IH cut_left_right //.
  by apply: sub_all (ncover_ends h P s _) => n; nlia.
have noP y : in_span s h.+1 y -> P y = false.
  by move=> sy; apply/negP => Py; case/negP: (negbT hp); apply/nhas_leafP; exists y.
rewrite (@eq_ncover _ _ h.+1 _ (fun y => x <=? y) s); last by move=> y /noP ->.
rewrite [ncover _ P _ _]ncover_no_leaf ?hp // [cut_left _ _]/= keep_leftE /last_end.
rewrite [start _]/= [height _]/= [seed _]/=.
case: (N.leb_spec (s + pow2 h.+1)) => c1.
  by rewrite (@ncover_no_leaf _ _ h.+1) //; apply/nhas_leafP => -[y]; rewrite /in_span; nlia.
case: (N.leb_spec x) => c2; first by rewrite ncover_all // => y; rewrite /in_span; nlia.
by rewrite -cp_left_ncover // /in_span; nlia.
Qed.

Lemma ncover_cut_right h P s k x :
  ncover h (fun y => P y || (y <=? x)) s k = cut_right (ncover h P s k) x.
Proof.
elim: h s k => [|h IH] s k.
  rewrite /=; case: (P s) => //=; rewrite keep_rightE /last_end /=; change (pow2 0) with 1.
  rewrite cats0; case: (N.leb_spec s x) => c; case: N.leb_spec => //; try nlia.
  by case: N.leb_spec => //; nlia.
case hp: (nhas_leaf h.+1 P s).
  have hp' : nhas_leaf h.+1 (fun y => P y || (y <=? x)) s.
    by case/nhas_leafP: hp => y sy Py; apply/nhas_leafP; exists y; rewrite ?Py.
  rewrite !ncover_has_leafS //; case: (N.le_gt_cases (s + pow2 h) x) => c.
    rewrite [X in X ++ _ = _]ncover_all; last by move=> y; rewrite /in_span; nlia.
    rewrite IH cut_right_right //.
    by apply: sub_all (ncover_ends h P s _) => n; nlia.
  rewrite (@eq_ncover _ _ h _ P (s + pow2 h)); last first.
    by move=> y; rewrite /in_span; case: (P y) => //=; nlia.
  rewrite IH cut_right_left //.
  by apply: sub_all (ncover_starts h P (s + pow2 h) _) => n; nlia.
have noP y : in_span s h.+1 y -> P y = false.
  by move=> sy; apply/negP => Py; case/negP: (negbT hp); apply/nhas_leafP; exists y.
rewrite (@eq_ncover _ _ h.+1 _ (fun y => y <=? x) s); last by move=> y /noP ->.
rewrite [ncover _ P _ _]ncover_no_leaf ?hp // [cut_right _ _]/= keep_rightE /last_end.
rewrite [start _]/= [height _]/= [seed _]/= cats0.
case: (N.leb_spec (s + pow2 h.+1) x) => c1.
  by rewrite ncover_all // => y; rewrite /in_span; nlia.
case: (N.leb_spec s) => c2; last first.
  by rewrite (@ncover_no_leaf _ _ h.+1) //; apply/nhas_leafP => -[y]; rewrite /in_span; nlia.
case: N.leb_spec => c3; first by rewrite ncover_all // => y; rewrite /in_span; nlia.
by rewrite -cp_right_ncover // /in_span; nlia.
Qed.

Lemma ncover_range h P s k f l : f <= l -> f < s + pow2 h -> s <= l ->
  ncover h (fun y => P y || (f <=? y) && (y <=? l)) s k =
  ncover h (fun y => P y || (f <=? y)) s k ++ ncover h (fun y => P y || (y <=? l)) s k.
Proof.
move=> fl; elim: h s k => [|h IH] s k fs sl.
  by rewrite !ncover_all // => y; rewrite /in_span; move: fs; change (pow2 0) with 1;
     case: (P y) => //=; nlia.
have w := pow2_gt0 h; have e := pow2S h.
have has_leaf3 Q : Q (N.max f s) -> nhas_leaf h.+1 Q s.
  by move=> Qz; apply/nhas_leafP; exists (N.max f s); rewrite // /in_span; nlia.
rewrite !ncover_has_leafS; try by apply: has_leaf3; case: (P _) => //=; nlia.
have all_ge t : f <= t -> forall k', ncover h (fun y => P y || (f <=? y)) t k' = [::].
  by move=> ft k'; rewrite ncover_all // => y; rewrite /in_span; case: (P y) => //=; nlia.
have all_le t : t + pow2 h <= l + 1 ->
  forall k', ncover h (fun y => P y || (y <=? l)) t k' = [::].
  by move=> tl k'; rewrite ncover_all // => y; rewrite /in_span; case: (P y) => //=; nlia.
have [c|c] := N.le_gt_cases (s + pow2 h) l; last first.
  rewrite IH //; last by nlia.
  rewrite [in RHS](all_ge (s + pow2 h)) ?cats0 -?catA; last by nlia.
  congr (_ ++ (_ ++ _)); apply: eq_ncover => y; rewrite /in_span; case: (P y) => //=; nlia.
rewrite [in RHS](all_le s); last by nlia.
have [c'|c'] := N.le_gt_cases (s + pow2 h) f.
  rewrite (IH (s + pow2 h)) //; last by nlia.
  rewrite -catA; congr (_ ++ _).
  by apply: eq_ncover => y; rewrite /in_span; case: (P y) => //=; nlia.
rewrite [in RHS](all_ge (s + pow2 h)) ?cats0; last by nlia.
by congr (_ ++ _); apply: eq_ncover => y; rewrite /in_span; case: (P y) => //=; nlia.
Qed.

(* ---- Puncturing a leaf, puncturing a range ------------------------------------------ *)

Lemma cp_left_start s h k : cp_left s h k s = [::].
Proof.
rewrite cp_left_ncover; last by rewrite /in_span; have := pow2_gt0 h; nlia.
by rewrite ncover_all // => y; rewrite /in_span; nlia.
Qed.

Lemma cp_right_end s h k x : x + 1 = s + pow2 h -> cp_right s h k x = [::].
Proof.
move=> xE; have w := pow2_gt0 h; rewrite cp_right_ncover; last by rewrite /in_span; nlia.
by rewrite ncover_all // => y; rewrite /in_span; nlia.
Qed.

Lemma list_puncture_cut a x : list_puncture a x = cut_left a x ++ cut_right a x.
Proof.
rewrite /CModel.list_puncture /find_node /splice; elim: a => //= n a IH.
have [c|c] := N.le_gt_cases (last_end n) x.
  have -> : (x <? last_end n) = false by nlia.
  have -> : (last_end n <=? x) by nlia.
  rewrite /= -IH; case: (drop _ a) => // m a'; by case: ifP.
have -> : (x <? last_end n) by nlia.
have -> : (last_end n <=? x) = false by nlia.
rewrite /= drop0 keep_leftE co_pathE /=; case: N.leb_spec => c1; last first.
  by rewrite (_ : x <=? start n) //; nlia.
rewrite catA keep_rightE; congr (_ ++ _); congr (_ ++ _).
  by case: N.leb_spec => // c2; have -> : x = start n by [nlia]; rewrite cp_left_start.
case: N.leb_spec => // c2; apply: cp_right_end; rewrite -/(last_end n); nlia.
Qed.

Definition range_end a (l : N) : nat :=
  let j := find_node a l in
  if (j < size a)%nat && (start (nth blank a j) <=? l) then j.+1 else j.

Lemma range_end_cons n a l : range_end (n :: a) l =
  if last_end n <=? l then (range_end a l).+1 else if start n <=? l then 1%nat else 0%nat.
Proof.
rewrite /range_end /find_node /=; case: (N.leb_spec (last_end n)) => c.
  by rewrite (_ : (l <? last_end n) = false) /=; [rewrite ltnS; case: ifP | nlia].
by rewrite (_ : l <? last_end n) //; nlia.
Qed.

Lemma range_end0 a l : range_end a l = 0%nat -> cut_right a l = a.
Proof.
case: a => //= n a; rewrite range_end_cons; case: ifP => // _; by case: ifP.
Qed.

Lemma cut_right_range a l : (0 < range_end a l)%nat ->
  keep_right (nth blank a (range_end a l).-1) l ++ drop (range_end a l) a = cut_right a l.
Proof.
elim: a => //= n a IH; rewrite range_end_cons; case: ifP => c; last first.
  by case: ifP => // _ _; rewrite /= drop0.
move=> _ /=; case E: (range_end a l) => [|j] /=.
  by rewrite drop0 (range_end0 E) keep_rightE (_ : last_end n - 1 <=? l) //; nlia.
by rewrite -IH E.
Qed.

Lemma list_puncture_range_cut a f l : f <= l ->
  list_puncture_range a f l = cut_left a f ++ cut_right a l.
Proof.
move=> fl; have -> : list_puncture_range a f l =
  if find_node a f == range_end a l then a
  else splice a (find_node a f) (range_end a l)
    (keep_left (nth blank a (find_node a f)) f ++
     keep_right (nth blank a (range_end a l).-1) l) by [].
rewrite /splice; elim: a => [|n a IH] //; case: (N.leb_spec (last_end n) f) => c.
  have -> : find_node (n :: a) f = (find_node a f).+1.
    by rewrite /find_node /=; have -> : (f <? last_end n) = false by nlia.
  have nl : last_end n <=? l by nlia.
  have nf : last_end n <=? f by nlia.
  rewrite range_end_cons nl eqSS /= nl nf cat_cons -IH; case: eqP => // ne.
  case E: (range_end a l) ne => [|j] // ne; case: ne.
  case: a E {IH} => //= m a; rewrite range_end_cons; case: N.leb_spec => // c1 _.
  by rewrite /find_node /=; have -> : (f <? last_end m) by nlia.
have -> : find_node (n :: a) f = 0%nat.
  by rewrite /find_node /=; have -> : (f <? last_end n) by nlia.
have -> : cut_left (n :: a) f = keep_left n f.
  by rewrite /=; have -> : (last_end n <=? f) = false by nlia.
case E: (range_end (n :: a) l) => [|j].
  rewrite (range_end0 E) keep_leftE; move: E; rewrite range_end_cons.
  case: ifP => // _; case: N.leb_spec => // c1 _.
  by have -> : f <=? start n by nlia.
by rewrite -cut_right_range ?E // take0 cat0s -catA.
Qed.

Lemma list_puncture_range_ncover d P R f l : f <= l -> l < pow2 d ->
  list_puncture_range (ncover d P 0 R) f l =
  ncover d (fun y => P y || (f <=? y) && (y <=? l)) 0 R.
Proof.
move=> fl ld; rewrite list_puncture_range_cut // ncover_range //; try nlia.
by rewrite ncover_cut_left ncover_cut_right.
Qed.

Lemma list_puncture_ncover d P R x : x < pow2 d ->
  list_puncture (ncover d P 0 R) x = ncover d (fun y => P y || (y =? x)) 0 R.
Proof.
move=> xd; rewrite list_puncture_cut -ncover_cut_left -ncover_cut_right.
rewrite -ncover_range; try nlia; apply: eq_ncover => y _; congr orb; apply/idP/idP; nlia.
Qed.

Theorem list_puncture_refines d (P : pred bitseq) R x : size x = d ->
  let K := cover (family d) d P [::] R in
  list_puncture (map (encode d) K) (leaf_num x) = map (encode d) (puncture (family d) x K).
Proof.
move=> sx K; have xd : leaf_num x < pow2 d by have := leaf_num_lt x; rewrite sx.
rewrite -[x in RHS]cat0s puncture_cover // !encode_cover_path list_puncture_ncover //.
apply: eq_ncover => y; rewrite /in_span => yd /=; congr orb; apply/eqP/eqP => [->|].
  by rewrite -[in leaf_path _ _]sx leaf_numK.
by move=> <-; rewrite leaf_pathK //; nlia.
Qed.

Theorem list_puncture_range_refines d (P : pred bitseq) R first last :
  size first = d -> size last = d -> leaf_le first last ->
  let K := cover (family d) d P [::] R in
  list_puncture_range (map (encode d) K) (leaf_num first) (leaf_num last) =
  map (encode d) (puncture_range (family d) first last K).
Proof.
move=> sf sl fl K; have ld : leaf_num last < pow2 d by have := leaf_num_lt last; rewrite sl.
rewrite (@puncture_range_remove _ _ d) ?within_cover // -[X in remove _ X]add0n.
rewrite (remove_cover _ _ _ _ [::]) !encode_cover_path list_puncture_range_ncover //; last first.
  by apply/N.leb_spec0; rewrite -leaf_le_num ?sf.
apply: eq_ncover => y; rewrite /in_span => yd /=; congr orb.
by rewrite !leaf_le_num ?size_leaf_path // leaf_pathK //; nlia.
Qed.

(* ---- opt's dense pair slots --------------------------------------------------------- *)

Local Notation scatter := (scatter prg).
Local Notation slots_eval := (slots_eval prg).
Local Notation slots_puncture := (slots_puncture zero prg).
Local Notation slots_hold := (slots_hold zero prg).
Definition cp s h k x := cp_left s h k x ++ cp_right s h k x.

Lemma span_left s h : s + pow2 h <= s + pow2 h.+1.
Proof. by rewrite pow2S; nlia. Qed.

Lemma span_right s h : s + pow2 h + pow2 h <= s + pow2 h.+1.
Proof. by rewrite pow2S; nlia. Qed.

(* The node above a live leaf, and what a puncture makes of the cover. *)
Lemma ncover_split h P s k x : aligned s h -> in_span s h x -> ~~ P x ->
  exists a1 n a2,
  [/\ ncover h P s k = a1 ++ n :: a2,
      ncover h (fun y => P y || (y =? x)) s k =
        a1 ++ cp (start n) (height n) (seed n) x ++ a2,
      walk (start n) (height n) (seed n) x = walk s h k x,
      [/\ (height n <= h)%nat, aligned (start n) (height n), in_span (start n) (height n) x,
          start n + pow2 (height n) <= s + pow2 h & ~~ nhas_leaf (height n) P (start n)] &
      (start n = s /\ height n = h) \/
      exists t, [/\ (height n < h)%nat, aligned t (height n).+1, in_span t (height n).+1 x,
                    t + pow2 (height n).+1 <= s + pow2 h & nhas_leaf (height n).+1 P t]].
Proof.
elim: h s k => [|h IH] s k al sx nP.
  have {sx} xE : x = s by move: sx; rewrite /in_span; change (pow2 0) with 1; nlia.
  rewrite xE in nP *; exists [::], (Node s 0 k), [::].
  have in0 : in_span s 0 s by rewrite /in_span; change (pow2 0) with 1; nlia.
  by rewrite /= N.eqb_refl orbT (negbTE nP) /=; split=> //; [split=> //; nlia | left].
case hp: (nhas_leaf h.+1 P s); last first.
  exists [::], (Node s h.+1 k), [::]; rewrite (@ncover_no_leaf _ _ h.+1) ?hp //.
  split=> //; first last.
    by left.
    by split=> //; rewrite ?hp //; exact: N.le_refl.
  rewrite [start _]/= [height _]/= [seed _]/= cat0s cats0 /cp.
  rewrite cp_left_ncover ?cp_right_ncover // -(@ncover_range h.+1 pred0) //;
    try by move: sx; rewrite /in_span; nlia.
    apply: eq_ncover => y sy /=; have -> : P y = false.
      by apply/negP => Py; case/negP: (negbT hp); apply/nhas_leafP; exists y.
    by apply/idP/idP; nlia.
have hp' : nhas_leaf h.+1 (fun y => P y || (y =? x)) s.
  by case/nhas_leafP: hp => y sy Py; apply/nhas_leafP; exists y; rewrite ?Py.
have [al0 al1] := aligned_half al; rewrite !ncover_has_leafS // [walk _ _ _ _]/=.
case: N.ltb_spec => c.
  have sx0 : in_span s h x by move: sx; rewrite /in_span; nlia.
  have [a1 [n [a2 [-> E2 E3 [h1 h2 h3 h4 h5] par]]]] := IH s (prg s h.+1 k).1 al0 sx0 nP.
  exists a1, n, (a2 ++ ncover h P (s + pow2 h) (prg s h.+1 k).2).
  split=> //; first by rewrite -catA.
  - rewrite E2 (@eq_ncover _ _ h _ P (s + pow2 h)); first by rewrite /cp -!catA.
    move=> y sy.
    by rewrite (_ : (y =? x) = false) ?orbF //; move: sy; rewrite /in_span; nlia.
  - by split=> //; try (by apply: leqW); rewrite [pow2 h.+1]pow2S; nlia.
  right; case: par => [[sE hE]|[t [t1 t2 t3 t4 t5]]].
    by exists s; rewrite hE; split=> //; exact: N.le_refl.
  by have le := N.le_trans _ _ _ t4 (@span_left s h); exists t; split=> //; apply: ltnW.
have sx1 : in_span (s + pow2 h) h x by move: sx; rewrite /in_span pow2S; nlia.
have [a1 [n [a2 [-> E2 E3 [h1 h2 h3 h4 h5] par]]]] := IH _ (prg s h.+1 k).2 al1 sx1 nP.
exists (ncover h P s (prg s h.+1 k).1 ++ a1), n, a2.
split=> //; first by rewrite -catA.
- rewrite E2 (@eq_ncover _ _ h _ P s); first by rewrite /cp -!catA.
  move=> y sy.
  by rewrite (_ : (y =? x) = false) ?orbF //; move: sy; rewrite /in_span; nlia.
- by split=> //; try (by apply: leqW); rewrite [pow2 h.+1]pow2S; nlia.
right; case: par => [[sE hE]|[t [t1 t2 t3 t4 t5]]].
  by exists s; rewrite hE; split=> //; exact: N.le_refl.
by have le := N.le_trans _ _ _ t4 (@span_right s h); exists t; split=> //; apply: ltnW.
Qed.

Lemma node_startE s h x : aligned s h -> in_span s h x -> node_start h x = s.
Proof.
case=> q ->; rewrite /in_span => sx; rewrite /node_start N.shiftl_mul_pow2 N.shiftr_div_pow2 -pow2E.
by rewrite -(N.div_unique x (pow2 h) q (x - q * pow2 h)); nlia.
Qed.

Lemma node_found d P R x : x < pow2 d -> ~~ P x -> exists a1 n a2,
  [/\ ncover d P 0 R = a1 ++ n :: a2,
      ncover d (fun y => P y || (y =? x)) 0 R = a1 ++ cp (start n) (height n) (seed n) x ++ a2,
      walk (start n) (height n) (seed n) x = walk 0 d R x,
      aligned (start n) (height n) /\ in_span (start n) (height n) x &
      node_height d P x = height n /\ node_start (height n) x = start n].
Proof.
move=> xd nP; have al : aligned 0 d by exists 0.
have sx : in_span 0 d x by rewrite /in_span; nlia.
have [a1 [n [a2 [E1 E2 E3 [h1 h2 h3 h4 h5] par]]]] := ncover_split R al sx nP.
exists a1, n, a2; split=> //; split; last exact: node_startE.
apply: (@node_height_block _ _ (start n)) => //.
by case: par => [[_ hE]|[t [t1 t2 t3 t4 t5]]]; [left | right; exists t].
Qed.

Lemma In_mid (T : Type) (x : T) l1 l2 : List.In x (l1 ++ x :: l2).
Proof. by elim: l1 => [|y l1 IH] /=; [left | right]. Qed.

Theorem slots_eval_refines d st R x : size x = d -> slots_hold d st R ->
  slots_eval d st (leaf_num x) =
  eval (family d) (cover (family d) d (fun y => leaf_punctured st (leaf_num y)) [::] R) x.
Proof.
move=> sx [hold _]; rewrite encode_cover in hold.
have xd : leaf_num x < pow2 d by have := leaf_num_lt x; rewrite sx.
rewrite -list_eval_refines // encode_cover list_eval_ncover; last by rewrite /in_span; nlia.
rewrite /CModel.slots_eval (_ : (pow2 d <=? leaf_num x) = false) //=; last by nlia.
case D: (leaf_punctured st _) => //; have nD : ~~ leaf_punctured st (leaf_num x) by rewrite D.
have [a1 [n [a2 [E _ <- _ [-> ->]]]]] := node_found R xd nD.
by rewrite hold // E; apply: In_mid.
Qed.

(* ---- What a puncture writes -------------------------------------------------------- *)

Lemma cp_in s h k x n : List.In n (cp s h k x) -> s <= start n.
Proof.
rewrite /cp; elim: h s k => [//|h IH] s k /=; have w := pow2_gt0 h.
case: N.ltb_spec => c.
  rewrite catA => /(@List.in_app_or _ _ _ n) [/IH //|[<- /=|//]]; nlia.
by case=> [<- /=|/IH]; nlia.
Qed.

Lemma scatter_out s h k x (f : N -> Seed) j :
  (forall n, List.In n (cp s h k x) -> start n / 2 <> j) -> scatter f s h k x j = f j.
Proof.
rewrite /cp; elim: h s k f => [//|h IH] s k f /=; case: (prg s h.+1 k) => kl kr /=.
case: N.ltb_spec => c no.
  rewrite IH => [|n nin]; last by apply: no; rewrite catA; apply: List.in_or_app; left.
  rewrite /put; case: N.eqb_spec => // jE.
  case: (no (Node (s + pow2 h) h kr)) => //.
  by rewrite catA; apply: List.in_or_app; right; left.
rewrite IH => [|n nin]; last by apply: no; right.
rewrite /put; case: N.eqb_spec => // jE.
by case: (no (Node s h kl)) => //; left.
Qed.

(* the pair of a right half lies beyond the left half's, but for single leaves *)
Lemma half_pair s h n : aligned s h.+1 -> (0 < h)%nat -> s <= start n -> start n < s + pow2 h ->
  start n / 2 < (s + pow2 h) / 2.
Proof.
case: h => // h [q ->] _ _ lt; apply: N.div_lt_upper_bound => //.
have -> : (q * pow2 h.+2 + pow2 h.+1) / 2 = q * pow2 h.+1 + pow2 h.
  rewrite pow2S [pow2 h.+1]pow2S (_ : _ + _ = (q * (2 * pow2 h) + pow2 h) * 2) ?N.div_mul //.
  by nlia.
by move: lt; rewrite !pow2S; nlia.
Qed.

Lemma cp_in_lt s h k x n : in_span s h x -> List.In n (cp s h k x) -> start n < s + pow2 h.
Proof.
rewrite /cp; elim: h s k => [//|h IH] s k sx /=; have w := pow2_gt0 h; have e := pow2S h.
case: N.ltb_spec => c.
  rewrite catA => /(@List.in_app_or _ _ _ n) [nin|[<- /=|//]]; last by nlia.
  by have : start n < s + pow2 h by [apply: IH nin; move: sx; rewrite /in_span; nlia]; nlia.
case=> [<- /=|nin]; first by nlia.
by have := IH _ _ _ nin; rewrite /in_span in sx *; nlia.
Qed.

Lemma scatter_in s h k x (f : N -> Seed) n : aligned s h -> in_span s h x ->
  List.In n (cp s h k x) -> scatter f s h k x (start n / 2) = seed n.
Proof.
elim: h s k f => [//|h IH] s k f al sx; have [al0 al1] := aligned_half al.
have e := pow2S h; rewrite /cp [scatter _ _ _ _ _]/= [cp_left _ _ _ _]/= [cp_right _ _ _ _]/=.
case: (prg s h.+1 k) => kl kr /=; case: N.ltb_spec => c.
  have sx0 : in_span s h x by move: sx; rewrite /in_span; nlia.
  rewrite catA => /(@List.in_app_or _ _ _ n) [nin|[<- /=|//]]; first exact: IH.
  rewrite scatter_out /put ?N.eqb_refl // => n' n'in E.
  have h0 : (0 < h)%nat by case: (h) n'in.
  have := half_pair al h0 (cp_in n'in) (cp_in_lt sx0 n'in); rewrite E; lia.
have sx1 : in_span (s + pow2 h) h x by move: sx; rewrite /in_span; nlia.
case=> [<- /=|nin]; last exact: IH.
rewrite scatter_out /put ?N.eqb_refl // => n' n'in E.
have h0 : (0 < h)%nat by case: (h) n'in.
have w := pow2_gt0 h.
have := @half_pair s h (Node s h kl) al h0; rewrite /= => /(_ (N.le_refl _)) lt.
have := N.div_le_mono _ _ 2 (fun z => ltac:(discriminate z)) (cp_in n'in).
by rewrite E; have := lt ltac:(nlia); lia.
Qed.

(* at height 1 or more a sibling starts in the old node's pair *)
Lemma cp_pair s h k x : aligned s h -> (0 < h)%nat ->
  exists2 n, List.In n (cp s h k x) & start n / 2 = s / 2.
Proof.
rewrite /cp; elim: h s k => [//|h IH] s k al _; have [al0 al1] := aligned_half al.
rewrite [cp_left _ _ _ _]/= [cp_right _ _ _ _]/=; case: N.ltb_spec => c; last first.
  by exists (Node s h (prg s h.+1 k).1); [left |].
case: h IH al al0 al1 c => [|h] IH al al0 al1 c.
  exists (Node (s + pow2 0) 0 (prg s 1 k).2); first by left.
  case: al => q ->; rewrite /= pow2S; change (pow2 0) with 1.
  by rewrite N.mul_1_r N.div_add_l // N.div_mul // (_ : 1 / 2 = 0) // N.add_0_r.
have [n nin E] := IH s (prg s h.+2 k).1 al0 isT; exists n => //.
by rewrite catA; apply: List.in_or_app; left.
Qed.

Lemma pairwise_mid (T : Type) (r : rel T) l1 l2 (x y : T) :
  pairwise r (l1 ++ x :: l2) -> List.In y (l1 ++ l2) -> r x y \/ r y x.
Proof.
rewrite pairwise_cat /= => /and3P [c _ /andP [xl _]] /(@List.in_app_or _ _ _ y) [yl|yl].
  right; elim: l1 c yl => //= z l1 IH; rewrite allrel_consl /= => /andP [/andP [zx _] c].
  by case=> [<-|/(IH c)].
by left; elim: l2 xl yl {c} => //= z l2 IH /andP [xz xl] [<-|/(IH xl)].
Qed.

(* A puncture keeps the invariant: every node's seed in its slot, zero elsewhere. *)
Theorem slots_puncture_refines d st R x : size x = d -> slots_hold d st R ->
  slots_hold d (slots_puncture d st (leaf_num x)) R /\
  (forall y, leaf_punctured (slots_puncture d st (leaf_num x)) y = (y =? leaf_num x) || leaf_punctured st y).
Proof.
move=> sx hold; set z := leaf_num x.
have zd : z < pow2 d by have := leaf_num_lt x; rewrite sx.
rewrite /CModel.slots_puncture (_ : (pow2 d <=? z) = false) ?orFb; last by nlia.
case D: (leaf_punctured st z).
  by split=> // y; case: N.eqb_spec => // ->; rewrite D.
have nD : ~~ leaf_punctured st z by rewrite D.
have [a1 [n [a2 [E1 E2 _ [al nx] [-> ->]]]]] := node_found R zd nD; split=> //.
case: hold; rewrite /CModel.slots_hold !encode_cover E1 => own free.
rewrite (_ : ncover d _ 0 R = a1 ++ cp (start n) (height n) (seed n) z ++ a2); last first.
  by rewrite -E2; apply: eq_ncover => y _ /=; rewrite orbC.
have old := well_formed_slots (ncover_well_formed prg d (leaf_punctured st) R); rewrite E1 in old.
have new := well_formed_slots (ncover_well_formed prg d (fun y => leaf_punctured st y || (y =? z)) R).
rewrite E2 in new; rewrite (own n (In_mid n a1 a2)).
have apart m n' : List.In m (a1 ++ a2) -> List.In n' (cp (start n) (height n) (seed n) z) ->
    start n' / 2 <> start m / 2.
  move=> min /(@List.in_split _ _) [c1 [c2 cE]] E; move: new; rewrite cE -catA catA => new.
  have min' : List.In m ((a1 ++ c1) ++ c2 ++ a2).
    by move: min; rewrite !List.in_app_iff; tauto.
  by case: (pairwise_mid new min'); rewrite E eqxx.
set f := (if _ then _ else _).
have fE j : start n / 2 <> j -> f j = slot st j.
  by rewrite /f /put; case: ifP => // _; case: N.eqb_spec => // -> [].
split=> [m min|j no] /=.
  have [mcp|mrest] : List.In m (cp (start n) (height n) (seed n) z) \/ List.In m (a1 ++ a2).
    by move: min; rewrite !List.in_app_iff; tauto.
  - exact: scatter_in.
  rewrite scatter_out => [|n' n'in]; last exact: apart.
  rewrite fE => [|E]; last by case: (pairwise_mid old mrest); rewrite E eqxx.
  by apply: own; move: mrest; rewrite !List.in_app_iff /=; tauto.
rewrite scatter_out => [|n' n'in]; last first.
  by apply: no; apply: List.in_or_app; right; apply: List.in_or_app; left.
have rest : start n / 2 <> j -> f j = zero.
  move=> nj; rewrite fE //; apply: free => n' /(@List.in_app_or _ _ _ n') [i|[<- //|i]]; apply: no.
    by apply: List.in_or_app; left.
  by apply: List.in_or_app; right; apply: List.in_or_app; right.
case: (posnP (height n)) => [h0|hpos].
  case: (N.eq_dec (start n / 2) j) => [E|/rest //].
  by rewrite /f h0 eqxx /put E N.eqb_refl.
apply: rest => E; have [n' n'in E'] := cp_pair (seed n) z al hpos.
by apply: (no n'); rewrite ?E' //; apply: List.in_or_app; right; apply: List.in_or_app; left.
Qed.

End Refinement.

(* The hypotheses above are met: depth 3, every seed a number, leaves 2 and 5 punctured. *)
Definition toy_prg (s : N) (h : nat) (k : N) : N * N := (2 * k, 2 * k + 1).

Example refinement_at_depth_3 :
  let K := puncture_all (family toy_prg 3) [:: [:: false; true; false]; [:: true; false; true]]
             (keygen 1) in
  let A := list_puncture 0 toy_prg (list_puncture 0 toy_prg [:: Node 0 3 1] 2) 5 in
  [/\ A = map (encode 3) K, size A = 4%nat, list_eval toy_prg A 5 = None &
      list_eval toy_prg A 6 = eval (family toy_prg 3) K [:: true; true; false]].
Proof. by vm_compute. Qed.

Example slots_at_depth_3 :
  let st := Slots (fun j => if j =? 0 then 1 else 0) pred0 in
  let st' := slots_puncture 0 toy_prg 3 (slots_puncture 0 toy_prg 3 st 2) 5 in
  [/\ slots_hold 0 toy_prg 3 st 1, slots_eval toy_prg 3 st' 5 = None,
      slots_eval toy_prg 3 st' 6 = Some 14 &
      [seq slot st' j | j <- [:: 0; 1; 2; 3]] = [:: 4; 11; 12; 7]].
Proof.
split; try by vm_compute.
split=> [n [<- //|//]|j no] /=; case: N.eqb_spec => // jE.
by case: (no (Node 0 3 1)); [left | rewrite jE].
Qed.

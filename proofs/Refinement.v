(* SPDX-License-Identifier: Apache-2.0 *)
(* ref's array of nodes computes what the model computes. *)
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
case hp: (nhit h.+1 P s); last by rewrite ncover_nohit ?hp //= /last_end /= N.leb_refl.
rewrite ncover_hitS // all_cat; apply/andP; split.
  by apply: sub_all (IH _ _) => n; rewrite pow2S; nlia.
by apply: sub_all (IH _ _) => n; rewrite pow2S; nlia.
Qed.

Lemma ncover_starts h P s k : all (fun n => s <=? start n) (ncover h P s k).
Proof.
elim: h s k => [|h IH] s k; first by rewrite /=; case: ifP => //= _; rewrite N.leb_refl.
case hp: (nhit h.+1 P s); last by rewrite ncover_nohit ?hp //= N.leb_refl.
rewrite ncover_hitS // all_cat IH /=.
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
case hp: (nhit h.+1 P s); last first.
  have -> : P x = false by apply/negP => Px; case/negP: (negbT hp); apply/nhitP; exists x.
  rewrite ncover_nohit ?hp // /list_eval /find_node [find _ _]/= /last_end /=.
  move: sx; rewrite /in_span => /andP [sx ->]; by rewrite /= sx.
rewrite ncover_hitS // [walk _ _ _ _]/=; case: N.ltb_spec => c.
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
rewrite ncover_hitS; last by apply/nhitP; exists x => //; nlia.
move: sx; rewrite in_span_half [cp_left _ _ _ _]/=; case: N.ltb_spec => c sx.
  rewrite IH; last by move: sx; rewrite /in_span; nlia.
  by rewrite [X in _ = _ ++ X]ncover_all ?cats0 // => y; rewrite /in_span; nlia.
rewrite IH; last by move: sx; rewrite /in_span; nlia.
by rewrite [X in _ = X ++ _]ncover_nohit //; apply/nhitP => -[y]; rewrite /in_span; nlia.
Qed.

Lemma cp_right_ncover s h k x : in_span s h x ->
  cp_right s h k x = ncover h (fun y => y <=? x) s k.
Proof.
elim: h s k => [|h IH] s k sx.
  by rewrite ncover_all // => y; move: sx; rewrite /in_span; change (pow2 0) with 1; nlia.
rewrite ncover_hitS; last by apply/nhitP; exists x => //; nlia.
move: sx; rewrite in_span_half [cp_right _ _ _ _]/=; case: N.ltb_spec => c sx.
  rewrite IH; last by move: sx; rewrite /in_span; nlia.
  by rewrite [X in _ = _ ++ X]ncover_nohit //; apply/nhitP => -[y]; rewrite /in_span; nlia.
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
case hp: (nhit h.+1 P s).
  have hp' : nhit h.+1 (fun y => P y || (x <=? y)) s.
    by case/nhitP: hp => y sy Py; apply/nhitP; exists y; rewrite ?Py.
  rewrite !ncover_hitS //; case: (N.le_gt_cases x (s + pow2 h)) => c.
    rewrite [X in _ ++ X = _]ncover_all ?cats0; last by move=> y; rewrite /in_span; nlia.
    rewrite IH cut_left_left //.
    by apply: sub_all (ncover_starts h P (s + pow2 h) _) => n; nlia.
  rewrite (@eq_ncover _ _ h _ P s); last by move=> y; rewrite /in_span; case: (P y) => //=; nlia.
  rewrite IH cut_left_right //.
  by apply: sub_all (ncover_ends h P s _) => n; nlia.
have noP y : in_span s h.+1 y -> P y = false.
  by move=> sy; apply/negP => Py; case/negP: (negbT hp); apply/nhitP; exists y.
rewrite (@eq_ncover _ _ h.+1 _ (fun y => x <=? y) s); last by move=> y /noP ->.
rewrite [ncover _ P _ _]ncover_nohit ?hp // [cut_left _ _]/= keep_leftE /last_end.
rewrite [start _]/= [height _]/= [seed _]/=.
case: (N.leb_spec (s + pow2 h.+1)) => c1.
  by rewrite (@ncover_nohit _ _ h.+1) //; apply/nhitP => -[y]; rewrite /in_span; nlia.
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
case hp: (nhit h.+1 P s).
  have hp' : nhit h.+1 (fun y => P y || (y <=? x)) s.
    by case/nhitP: hp => y sy Py; apply/nhitP; exists y; rewrite ?Py.
  rewrite !ncover_hitS //; case: (N.le_gt_cases (s + pow2 h) x) => c.
    rewrite [X in X ++ _ = _]ncover_all; last by move=> y; rewrite /in_span; nlia.
    rewrite IH cut_right_right //.
    by apply: sub_all (ncover_ends h P s _) => n; nlia.
  rewrite (@eq_ncover _ _ h _ P (s + pow2 h)); last first.
    by move=> y; rewrite /in_span; case: (P y) => //=; nlia.
  rewrite IH cut_right_left //.
  by apply: sub_all (ncover_starts h P (s + pow2 h) _) => n; nlia.
have noP y : in_span s h.+1 y -> P y = false.
  by move=> sy; apply/negP => Py; case/negP: (negbT hp); apply/nhitP; exists y.
rewrite (@eq_ncover _ _ h.+1 _ (fun y => y <=? x) s); last by move=> y /noP ->.
rewrite [ncover _ P _ _]ncover_nohit ?hp // [cut_right _ _]/= keep_rightE /last_end.
rewrite [start _]/= [height _]/= [seed _]/= cats0.
case: (N.leb_spec (s + pow2 h.+1) x) => c1.
  by rewrite ncover_all // => y; rewrite /in_span; nlia.
case: (N.leb_spec s) => c2; last first.
  by rewrite (@ncover_nohit _ _ h.+1) //; apply/nhitP => -[y]; rewrite /in_span; nlia.
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
have hit3 Q : Q (N.max f s) -> nhit h.+1 Q s.
  by move=> Qz; apply/nhitP; exists (N.max f s); rewrite // /in_span; nlia.
rewrite !ncover_hitS; try by apply: hit3; case: (P _) => //=; nlia.
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

End Refinement.

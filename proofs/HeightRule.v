(* SPDX-License-Identifier: Apache-2.0 *)
(* The height rule of opt: the nearest punctured leaves on both sides of a live leaf determine
   the node that covers it. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith Lia.
From Pprf.spec Require Import Ggm CModel.
From Pprf.proofs Require Import Correctness Layout.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.
#[local] Arguments N.mul : simpl never.
#[local] Arguments N.add : simpl never.
#[local] Arguments N.sub : simpl never.

(* ---- The nearest punctured leaves --------------------------------------------------- *)

Lemma dead_aboveP n (P : pred N) x :
  match dead_above n P x with
  | Some a => [/\ x < a, a <= x + N.of_nat n, P a & forall y, x < y -> y < a -> P y = false]
  | None => forall y, x < y -> y <= x + N.of_nat n -> P y = false
  end.
Proof.
elim: n x => [|n IH] x /=; first by move=> y; lia.
case p: (P (x + 1)); first by split=> //; [lia | lia | move=> y; lia].
have {IH} := IH (x + 1); case: (dead_above n P (x + 1)) => [a [xa an pa H]|H].
  split=> //; [lia | lia |] => y xy ya; case: (N.eq_dec y (x + 1)) => [-> //|ne].
  by apply: H; lia.
move=> y xy yn; case: (N.eq_dec y (x + 1)) => [-> //|ne]; apply: H; lia.
Qed.

Lemma dead_belowP n (P : pred N) x : N.to_nat x = n ->
  match dead_below n P x with
  | Some a => [/\ a < x, P a & forall y, a < y -> y < x -> P y = false]
  | None => forall y, y < x -> P y = false
  end.
Proof.
elim: n x => [|n IH] x xn /=; first by move=> y; lia.
case: N.eqb_spec => [x0|x0]; first by move=> y; lia.
case p: (P (x - 1)); first by split=> //; [lia | move=> y; lia].
have {IH} := IH (x - 1) ltac:(lia).
case: (dead_below n P (x - 1)) => [a [ax pa H]|H].
  split=> //; [lia |] => y ay yx; case: (N.eq_dec y (x - 1)) => [-> //|ne].
  by apply: H; lia.
move=> y yx; case: (N.eq_dec y (x - 1)) => [-> //|ne]; apply: H; lia.
Qed.

(* ---- The highest bit in which two leaves differ ------------------------------------- *)

Lemma pow2E h : pow2 h = 2 ^ N.of_nat h.
Proof. by elim: h => [|h IH] //; rewrite pow2S IH Nnat.Nat2N.inj_succ N.pow_succ_r'. Qed.

Lemma shiftr_pow2 x h : N.shiftr x (N.of_nat h) = x / pow2 h.
Proof. by rewrite N.shiftr_div_pow2 pow2E. Qed.

Lemma same_block x l h : x <> l ->
  (x / pow2 h = l / pow2 h <-> (msb (N.lxor x l) < h)%nat).
Proof.
move=> ne; have n0 : N.lxor x l <> 0 by move/N.lxor_eq.
rewrite -!shiftr_pow2 /msb -N.lxor_eq_0_iff -N.shiftr_lxor N.shiftr_eq_0_iff.
split=> [[//|[_ lt]]|/ssrnat.ltP lt]; first by apply/ssrnat.ltP; lia.
by right; split; lia.
Qed.

Lemma block_between x a l h : (x <= a <= l) \/ (l <= a <= x) -> x / pow2 h = l / pow2 h ->
  x / pow2 h = a / pow2 h.
Proof.
have p : pow2 h <> 0 by have := pow2_gt0 h; lia.
by case=> -[xa al] E; move: (N.div_le_mono _ _ _ p xa) (N.div_le_mono _ _ _ p al); lia.
Qed.

Lemma small_block d x : x < pow2 d -> x / pow2 d = 0.
Proof. by move=> xd; apply: N.div_small. Qed.

(* ---- The rule over integers --------------------------------------------------------- *)

Section Rule.
Variables (d : nat) (P : pred N) (x : N).
Hypothesis xd : x < pow2 d.
Hypothesis live : P x = false.
Let h := node_height d P x.

Lemma height_le : (h <= d)%nat.
Proof.
rewrite /h /node_height geq_min; apply/orP; left; have := dead_belowP P (erefl (N.to_nat x)).
case: (dead_below _ _ _) => [a [ax _ _]|_] /=; last exact: leqnn.
by apply/ltnW/same_block; rewrite ?small_block //; lia.
Qed.

(* No punctured leaf in the block of height h around x ... *)
Lemma height_free l : l < pow2 d -> P l -> l / pow2 h <> x / pow2 h.
Proof.
move=> ld pl E; have ne : x <> l by move=> xl; rewrite -xl live in pl.
case: (N.lt_gt_cases x l) => /(_ ne) [] lt.
  have := dead_aboveP (N.to_nat (pow2 d - 1 - x)) P x.
  case e: (dead_above _ _ _) => [a|]; last by move/(_ l lt); rewrite pl => /(_ ltac:(lia)).
  case=> xa _ _ H; have al : a <= l.
    by case: (N.le_gt_cases a l) => // la; move: (H l lt la); rewrite pl.
  have : (msb (N.lxor x a) < h)%nat.
    by apply/same_block; [lia | apply: (@block_between x a l); [lia | rewrite E]].
  by rewrite /h /node_height e /= ltnNge geq_minr.
have := dead_belowP P (erefl (N.to_nat x)).
case e: (dead_below _ _ _) => [a|]; last by move/(_ l lt); rewrite pl.
case=> ax _ H; have la : l <= a.
  by case: (N.le_gt_cases l a) => // al; move: (H l al lt); rewrite pl.
have : (msb (N.lxor x a) < h)%nat.
  by apply/same_block; [lia | apply: (@block_between x a l); [lia | rewrite E]].
by rewrite /h /node_height e /= ltnNge geq_minl.
Qed.

Lemma height_attained : h = d \/ exists l, [/\ l < pow2 d, P l & msb (N.lxor x l) = h].
Proof.
rewrite /h /node_height.
have := dead_aboveP (N.to_nat (pow2 d - 1 - x)) P x.
have := dead_belowP P (erefl (N.to_nat x)).
case: (dead_below _ _ _) => [a [ax pa _]|_]; case: (dead_above _ _ _) => [b [xb bd pb _]|_] /=;
  rewrite /minn; case: ifP => _; try (by left); right;
  by [exists a; split=> //; lia | exists b; split=> //; lia].
Qed.

(* ... but one in the block above, unless that is the whole tree. *)
Lemma height_maximal : (h < d)%nat ->
  exists l, [/\ l < pow2 d, P l & l / pow2 h.+1 = x / pow2 h.+1].
Proof.
move=> hd; case: height_attained => [E|[l [ld pl E]]]; first by rewrite E ltnn in hd.
exists l; split=> //; apply/esym/same_block; last by rewrite E.
by move=> xl; rewrite -xl live in pl.
Qed.

End Rule.

(* ---- The rule for covers ------------------------------------------------------------ *)

Lemma block_take h y d : size y = d -> (h <= d)%nat ->
  leaf_num y / pow2 h = leaf_num (take (d - h) y).
Proof.
move=> sy hd; have E := cat_take_drop (d - h) y; rewrite -{1}E leaf_num_cat.
have sd : size (drop (d - h) y) = h by rewrite size_drop sy subKn.
have p : pow2 h <> 0 by have := pow2_gt0 h; lia.
rewrite sd N.div_add_l // N.div_small; last by rewrite -{2}sd; apply: leaf_num_lt.
by rewrite N.add_0_r.
Qed.

Lemma same_take h x y d : size x = d -> size y = d -> (h <= d)%nat ->
  leaf_num y / pow2 h = leaf_num x / pow2 h <-> take (d - h) y = take (d - h) x.
Proof.
move=> sx sy hd; rewrite (block_take sx) // (block_take sy) //; split=> [|-> //].
by apply: leaf_num_inj; rewrite !size_takel ?sx ?sy ?leq_subr.
Qed.

(* The node that covers the live leaf x is the one of height node_height above x. *)
Theorem height_from_neighbours (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d
    (P : pred N) s x :
  size x = d -> ~~ P (leaf_num x) ->
  let h := node_height d P (leaf_num x) in
  let q := take (d - h) x in
  [/\ q \in map fst (Ggm.cover G d (fun y => P (leaf_num y)) [::] s), prefix q x,
      (size q = d - h)%nat & first_leaf d q = node_start h (leaf_num x)].
Proof.
move=> sx /negbTE live h q; have xd : leaf_num x < pow2 d by rewrite -sx; apply: leaf_num_lt.
have hd : (h <= d)%nat := height_le xd live.
have sq : size q = (d - h)%nat by rewrite size_takel // sx leq_subr.
split=> //; last 1 first.
- rewrite /node_start shiftr_pow2 (block_take sx hd) /first_leaf sq subKn //.
  by rewrite N.shiftl_mul_pow2 pow2E.
- rewrite mem_cover sq leq_subr /=; apply/andP; split.
    apply/nohitP => y; rewrite sq subKn // => sy; apply/negbTE/negP => py.
    have sqy : size (q ++ y) = d by rewrite size_cat sq sy subnK.
    have yd : leaf_num (q ++ y) < pow2 d by rewrite -sqy; apply: leaf_num_lt.
    case: (height_free xd live yd py); apply/(same_take sx sqy hd).
    by rewrite -{1}sq take_size_cat.
  case: (eqVneq q [::]) => //= q0; have {q0} lt : (h < d)%nat.
    by rewrite -subn_gt0 -sq lt0n size_eq0.
  have [l [ld pl E]] := height_maximal xd live lt.
  apply/negPn/hitP; set z := leaf_path d l; have sz : size z = d := size_leaf_path d l.
  have pq : parent q = take (d - h.+1) x.
    by rewrite /parent sq take_take ?leq_pred // subnS.
  have tz : take (d - h.+1) z = parent q.
    by rewrite pq; apply/(same_take sx sz lt); rewrite leaf_pathK.
  exists (drop (d - h.+1) z); last by rewrite -tz cat_take_drop leaf_pathK.
  by rewrite size_drop sz pq size_takel ?sx ?leq_subr.
- exact: prefix_take.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* From a cipher's advantage as a pseudorandom permutation to that of the PRG made of its blocks
   at two points. A random permutation's values at two points are two different random blocks;
   two random blocks are equal with probability 1/N, where N is the number of blocks. A
   distinguisher can gain exactly that and no more. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games IdealGame PrpGame.
From Pprf.proofs Require Import Compat ProbabilityFacts IdealSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* ---- Exchanging two points ------------------------------------------------------------------- *)

Section Exchange.
Variable T : eqType.
Implicit Types x y z : T.

Definition exchange x y : T -> T := fun z => if z == x then y else if z == y then x else z.

Lemma exchangeK x y : involutive (exchange x y).
Proof.
move=> z; rewrite /exchange; case: (z =P x) => [->|zx]; first by rewrite eqxx; case: eqP.
by case: (z =P y) => [->|zy]; [rewrite eqxx | case: eqP zx => //; case: eqP zy].
Qed.

Lemma exchange_left x y : exchange x y x = y. Proof. by rewrite /exchange eqxx. Qed.

Lemma exchange_other x y z : z != x -> z != y -> exchange x y z = z.
Proof. by rewrite /exchange => /negbTE -> /negbTE ->. Qed.

(* some exchanges move two points to any two others *)
Lemma exchange_pair x y x' y' : x != y -> x' != y' ->
  let t := exchange (exchange x x' y) y' \o exchange x x' in t x = x' /\ t y = y'.
Proof.
move=> xy xy' /=; rewrite exchange_left; split.
  apply: exchange_other => //; rewrite -{1}(exchange_left x x').
  by rewrite (inj_eq (inv_inj (exchangeK x x'))).
exact: exchange_left.
Qed.
End Exchange.

(* ---- Two values of a random permutation --------------------------------------------------------- *)

Section Switch.
Variable Block : finType.
Variable b0 : Block.
Local Notation N := #|Block|.
Local Notation permutation := (permutation Block).

Lemma permutation_inj (pi : permutation) : injective (sval pi).
Proof. by apply/injectiveP; case: pi. Qed.

Lemma moved_inj (t : Block -> Block) (tI : injective t) (pi : permutation) :
  injectiveb [ffun z => sval pi (t z)].
Proof. by apply/injectiveP => u v; rewrite !ffunE => /permutation_inj /tI. Qed.

Definition moved t (tI : injective t) (pi : permutation) : permutation :=
  exist (fun f : {ffun Block -> Block} => injectiveb f) _ (moved_inj tI pi).

Lemma movedE t (tI : injective t) pi z : sval (moved tI pi) z = sval pi (t z).
Proof. by rewrite /moved /= ffunE. Qed.

Lemma permutation_eq (pi rho : permutation) : sval pi =1 sval rho -> pi = rho.
Proof.
case: pi rho => [f fI] [g gI] /= /ffunP E; move: gI; rewrite -E => gI.
by congr exist; apply: bool_irrelevance.
Qed.

Lemma avg_moved (t : Block -> Block) (tK : involutive t) (h : permutation -> rat) :
  avg (fun pi => h (moved (inv_inj tK) pi)) = avg h.
Proof.
by apply: avg_invol => pi; apply: permutation_eq => z; rewrite !movedE tK.
Qed.

Implicit Types (f : Block -> Block -> rat) (x y : Block).
Local Notation mean f x y := (avg (fun pi : permutation => f (sval pi x) (sval pi y))).

Lemma mean_moved f t x y : involutive t -> mean f (t x) (t y) = mean f x y.
Proof.
move=> tK; rewrite -(avg_moved tK (fun pi => f (sval pi x) (sval pi y))).
by apply: eq_avg => pi; rewrite !movedE.
Qed.

(* the choice of the two different points makes no difference *)
Lemma mean_points f x y x' y' : x != y -> x' != y' -> mean f x' y' = mean f x y.
Proof.
move=> xy xy'; have /= [E1 E2] := exchange_pair xy xy'.
transitivity (mean f (exchange x x' x) (exchange x x' y)); last exact/mean_moved/exchangeK.
rewrite -(mean_moved f _ _ (@exchangeK _ (exchange x x' y) y')).
by apply: eq_avg => pi; rewrite E1 E2.
Qed.

Lemma avg_sum_some (X I : finType) (P : pred I) (g : I -> X -> rat) :
  avg (fun u => \sum_(i | P i) g i u) = \sum_(i | P i) avg (g i).
Proof. by rewrite /avg exchange_big mulr_suml. Qed.

Definition different f : rat := \sum_a \sum_(b | b != a) f a b.

Lemma different_moved f (pi : permutation) : different (fun a b => f (sval pi a) (sval pi b)) = different f.
Proof.
have B := injF_bij (@permutation_inj pi).
rewrite /different [RHS](reindex (sval pi)) /=; last exact: onW_bij.
apply: eq_bigr => a _; rewrite [RHS](reindex (sval pi)) /=; last exact: onW_bij.
by apply: eq_bigl => b; rewrite (inj_eq (@permutation_inj pi)).
Qed.

Lemma different_const (e : rat) : different (fun _ _ => e) = (N * N.-1)%:R * e.
Proof.
rewrite /different (eq_bigr (fun=> N.-1%:R * e)) => [|a _].
  by rewrite sumr_const natrM -mulrA [RHS]mulr_natl.
by rewrite sumr_const cardC1 mulr_natl.
Qed.

Lemma two_blocks x y : x != y -> (0 < N)%N && (0 < N.-1)%N.
Proof.
move=> xy; apply/andP; split; first by apply/card_gt0P; exists x.
by rewrite -(cardC1 x); apply/card_gt0P; exists y; move: xy; rewrite eq_sym.
Qed.

(* Exact: at two points a random permutation gives every pair of different blocks with the same
   probability. *)
Lemma mean_pair f x y : x != y -> mean f x y = different f / (N * N.-1)%:R.
Proof.
move=> xy; have n2 : (N * N.-1)%:R != 0 :> rat.
  by rewrite pnatr_eq0 -lt0n muln_gt0 (two_blocks xy).
apply: (mulIf n2); rewrite divfK // mulrC -different_const.
have -> : different (fun _ _ => mean f x y) = different (fun a b => mean f a b).
  apply: eq_bigr => a _; apply: eq_bigr => b ba; by symmetry; apply: (mean_points f xy); rewrite eq_sym.
rewrite -[RHS](avg_const (identity Block)).
under [RHS]eq_avg => pi do rewrite -(different_moved f pi).
rewrite /different avg_sum; apply: eq_bigr => a _; by rewrite avg_sum_some.
Qed.

(* ---- The switching term -------------------------------------------------------------------------- *)

Lemma sum_pairs f : \sum_a \sum_b f a b = different f + \sum_a f a a.
Proof.
rewrite /different -big_split; apply: eq_bigr => a _ /=.
by rewrite (bigD1 a) //= addrC.
Qed.

Lemma different_bounds f : (forall a b, 0 <= f a b <= 1) -> 0 <= different f <= (N * N.-1)%:R.
Proof.
move=> B; apply/andP; split.
  by apply: sumr_ge0 => a _; apply: sumr_ge0 => b _; case/andP: (B a b).
rewrite -[X in _ <= X]mulr1 -different_const.
by apply: ler_sum => a _; apply: ler_sum => b _; case/andP: (B a b).
Qed.

Lemma split_ratio (a n m : rat) : n = m + 1 -> n != 0 -> m != 0 -> a / (n * m) = a / n / n + a / (n * m) / n.
Proof.
move=> nS n0 m0; set r := a / (n * m).
have -> : a = r * m * n by rewrite /r -mulrA [m * n]mulrC divfK // mulf_neq0.
by rewrite mulfK // -mulrDl -{3}[r]mulr1 -mulrDr -nS mulfK.
Qed.

Lemma le_ratio (a b : rat) : 0 < b -> a <= b -> a / b <= 1.
Proof.
move=> b0' ab; rewrite -(@divff _ b) ?gt_eqF //; apply: le_mul2r ab.
by rewrite invr_ge0 ltW.
Qed.

(* Two different random blocks, or any two: their statistical distance is 1/N. *)
Lemma switch_distance f x y : x != y -> (forall a b, 0 <= f a b <= 1) ->
  `|mean f x y - avg (fun a => avg (fun b => f a b))| <= N%:R^-1.
Proof.
move=> xy B; have /andP [N0 N1] := two_blocks xy.
have n0 : N%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n.
have n1 : N.-1%:R != 0 :> rat by rewrite pnatr_eq0 -lt0n.
have E : avg (fun a => avg (fun b => f a b)) = (different f + \sum_a f a a) / N%:R / N%:R.
  by rewrite -sum_pairs /avg -mulr_suml.
have D : different f / (N * N.-1)%:R = different f / N%:R / N%:R + different f / (N * N.-1)%:R / N%:R.
  by rewrite natrM; apply: split_ratio => //; rewrite -{1}(prednK N0) -addn1 natrD.
rewrite (mean_pair f xy) E D mulrDl mulrDl opprD addrACA subrr add0r -mulrBl normrM.
have v0 : 0 <= N%:R^-1 :> rat by rewrite invr_ge0 ler0n.
rewrite [X in _ * X]ger0_norm // -[X in _ <= X]mul1r le_mul2r //.
have /andP [d0 d1] := different_bounds B.
have p0 : 0 < (N * N.-1)%:R :> rat by rewrite ltr0n muln_gt0 N0.
have s0 : 0 <= \sum_a f a a by apply: sumr_ge0 => a _; case/andP: (B a a).
have s1 : \sum_a f a a <= N%:R.
  rewrite -[N in X in _ <= X]/(#|Block|) -sum1_card natr_sum.
  by apply: ler_sum => a _; case/andP: (B a a).
have u0 : 0 <= different f / (N * N.-1)%:R by rewrite divr_ge0 // ltW.
have u1 : different f / (N * N.-1)%:R <= 1 by apply: le_ratio.
have t0 : 0 <= (\sum_a f a a) / N%:R by rewrite divr_ge0 // ler0n.
have t1 : (\sum_a f a a) / N%:R <= 1.
  by apply: le_ratio; rewrite ?ltr0n.
rewrite ler_norml; apply/andP; split.
  by rewrite le_add_sub addrC le_sub_add; apply: le_trans t1 _; rewrite addrC le_addl.
by rewrite le_sub_add; apply: le_trans u1 _; rewrite le_addl.
Qed.

(* What it gives at two points: each pair of different blocks with the same probability. *)
Theorem prp_ideal_pair (E : Block -> Block -> Block) x y (D : Block * Block -> prog bool) : x != y ->
  Pr (prp_game b0 E Ideal (ask_two x y D)) =
  (\sum_a \sum_(b | b != a) Pr (D (a, b))) / (N * N.-1)%:R.
Proof. exact: (mean_pair (fun a b => Pr (D (a, b)))). Qed.

Section Halves.
Variable E : Block -> Block -> Block.
Variable point : bitseq -> bool -> Block.
Hypothesis points_differ : forall p, point p false != point p true.
Local Notation G := (halves_family E point).

(* The PRG of the two halves is as good as the cipher at two points, except for 1/N. *)
Theorem halves_prg_adv (D : prg_adversary Block) :
  `|prg_adv b0 G D - prp_adv b0 E (ask_points point D)| <= N%:R^-1 /\
  `|prg_adv b0 G D| <= `|prp_adv b0 E (ask_points point D)| + N%:R^-1.
Proof.
have dist : `|prg_adv b0 G D - prp_adv b0 E (ask_points point D)| <= N%:R^-1.
  have R : Pr (prg_game b0 G Real D) = Pr (prp_game b0 E Real (ask_points point D)).
    by rewrite /prg_game /prp_game /ask_points !Pr_bind ex_bind; apply: eq_ex.
  rewrite /prg_adv /prp_adv R opprB addrCA addrAC subrr add0r distrC.
  rewrite /prg_game /prp_game /ask_points !Pr_bind ex_bind -ex_sub; apply: ex_norm_le => pk.
  rewrite distrC; apply: (switch_distance (f := fun a b => Pr (pk.2 (a, b))) (points_differ pk.1)) => a b.
  by rewrite Pr_ge0 Pr_le1.
split=> //; set x := prg_adv _ _ _ in dist *; set y := prp_adv _ _ _ in dist *.
have -> : x = (x - y) - - y by rewrite opprK subrK.
by apply: le_trans (norm_sub_le _ _) _; rewrite normrN addrC le_add.
Qed.

(* The term is real: an adversary that checks whether the halves are equal gains 1/N and learns
   nothing about the cipher. *)
Theorem halves_term_real p : (forall k, injective (E k)) ->
  prg_adv_at b0 G p (@equal_halves Block) = - N%:R^-1 /\
  prp_adv b0 E (ask_points point (Ret (p, @equal_halves Block))) = 0.
Proof.
move=> EI; have Z a b : a != b -> Pr (@equal_halves Block (a, b)) = 0.
  by rewrite /equal_halves /Pr /= => /negbTE ->.
have EZ k : E k (point p false) != E k (point p true) by rewrite (inj_eq (EI k)).
have R : avg (fun k => Pr (@equal_halves Block (E k (point p false), E k (point p true)))) = 0.
  by rewrite (eq_avg (fun k => Z _ _ (EZ k))) (avg_const b0).
have I : avg (fun a => avg (fun b => Pr (@equal_halves Block (a, b)))) = N%:R^-1.
  rewrite (eq_avg (h := fun a => N%:R^-1)) ?(avg_const b0) // => a.
  by rewrite -(avg_eq1 a); apply: eq_avg => b; rewrite /Pr /= eq_sym.
have P : avg (fun pi : permutation =>
    Pr (@equal_halves Block (sval pi (point p false), sval pi (point p true)))) = 0.
  rewrite (eq_avg (h := fun _ => 0)) ?(avg_const (identity Block)) // => pi.
  by apply: Z; rewrite (inj_eq (@permutation_inj pi)).
split; [rewrite -I -sub0r -R | rewrite -(subrr 0) -{1}R -P]; by [].
Qed.

End Halves.
End Switch.

(* A keyed function at one point is such a PRG itself. *)
Theorem keyed_prg_adv (Seed : finType) (s0 : Seed) (Message : Type) (F : Seed -> Message -> Seed * Seed)
    (message : bitseq -> Message) (D : prg_adversary Seed) :
  prg_adv s0 (keyed_family F message) D = prf_adv s0 F (ask_message message D).
Proof. by rewrite /prg_adv /prf_adv /prg_game /prf_game /ask_message !Pr_bind !ex_bind. Qed.

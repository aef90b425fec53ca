(* SPDX-License-Identifier: Apache-2.0 *)
(* The cost of the reductions: PRG calls and random draws, linear in the number of moves, the
   depth and the number of live nodes. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions.
From Pprf.proofs Require Import Correctness ProbabilityFacts ForwardSecurity Security.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section ReductionCost.
Variable Seed : finType.
Variable s0 : Seed.
Variable d : nat.
Implicit Types (A : fs_adversary Seed d) (K : key Seed) (c : script Seed).
Local Notation run := (run s0 d).
Local Notation reduce := (reduce s0 d).
Local Notation anything := (fun _ _ _ => True).

(* ---- Budgets ---- *)
Lemma runs_within_le T (n n' m m' : nat) (c : code Seed T) (P Q : nat -> nat -> T -> Prop) :
  n <= n' -> m <= m' ->
  (forall i i' j j' t, i <= i' -> j <= j' -> P i j t -> Q i' j' t) ->
  runs_within n m c P -> runs_within n' m' c Q.
Proof.
move=> nn mm PQ; elim: c n n' m m' nn mm => [t|p s k IH|X x0 k IH|X x0 k IH] n n' m m' nn mm /=.
- exact: PQ.
- by case: n n' nn => // n [|n'] // nn B ab; apply: IH (B ab).
- by case: m m' mm => // m [|m'] // mm B x; apply: IH (B x).
- by move=> B x; apply: IH (B x).
Qed.

Lemma runs_within_bind T U n m (c : code Seed T) (f : T -> code Seed U) P Q :
  runs_within n m c P -> (forall i j t, P i j t -> runs_within i j (f t) Q) ->
  runs_within n m (cbind c f) Q.
Proof.
move=> B H; elim: c n m B => [t|p s k IH|X x0 k IH|X x0 k IH] n m /=.
- exact: H.
- by case: n => // n B ab; apply: IH.
- by case: m => // m B x; apply: IH.
- by move=> B x; apply: IH.
Qed.

Lemma lift_cost T n m (c : prog T) : runs_within n m (lift Seed c) anything.
Proof. by elim: c. Qed.

Lemma samples_cost n m k :
  runs_within n (k + m) (samples s0 k) (fun i j ss => [/\ i = n, j = m & size ss = k]).
Proof.
elim: k => [|k IH] //= s; apply: runs_within_bind IH _ => i j ss /= [-> -> ->].
by split.
Qed.

(* ---- At most m leaves are read ---- *)
Fixpoint reads_at_most (m : nat) c : Prop :=
  match c with
  | Halt _ => True
  | Flip X x0 k => forall x, reads_at_most m (k x)
  | Split x c' => reads_at_most m c'
  | Read x k => 0 < m /\ forall y, reads_at_most m.-1 (k y)
  | Erase r c' => reads_at_most m c'
  end.

Lemma reads_le m m' c : m <= m' -> reads_at_most m c -> reads_at_most m' c.
Proof.
elim: c m m' => [fin|X x0 k IH|x c IH|x k IH|r c IH] m m' le //=.
- by move=> B x; apply: IH le (B x).
- exact: IH.
- case=> m0 B; split; first exact: leq_trans m0 le.
  by move=> y; apply: IH (B y); rewrite -!subn1 leq_sub2r.
- exact: IH.
Qed.

Lemma reads_descend m x c : reads_at_most m c -> reads_at_most m (descend_to x c).
Proof. by rewrite /descend_to; elim: (size x). Qed.

Lemma reads_script q A : moves_at_most q A -> reads_at_most q (script_of A).
Proof.
elim: A q => [fin|X x0 k IH|x k IH|[r ok] A IH] q //=.
- by move=> B x; apply: IH.
- by case=> q0 B; apply: reads_descend; split=> // y; apply: IH.
- case=> wq /IH /(reads_le (leq_subr _ _)) B.
  by elim: (borders r) => //= x xs IHx; apply: reads_descend.
Qed.

(* ---- After the challenge: one PRG call for an expansion, one draw for a fresh answer ---- *)
Lemma split_cost n m x K : has (above x) (unzip1 K) ->
  runs_within n.+1 m (split x K)
    (fun i j K' => [/\ i = n, j = m & unzip1 K' = split_positions x (unzip1 K)]).
Proof.
elim: K => //= -[p s] K IH /=; case: ifP => //= _ /IH B.
by apply: runs_within_bind B _ => i j K' [-> -> E] /=; rewrite -/(unzip1 K') E.
Qed.

Lemma split_done x K : ~~ has (above x) (unzip1 K) -> split x K = Done Seed K.
Proof. by elim: K => //= -[p s] K IH; rewrite negb_or => /andP [/negbTE -> /IH ->]. Qed.

Lemma seed_at_unzip1 x K : (seed_at x K == None) = (x \notin unzip1 K).
Proof. by elim: K => //= -[p s] K IH /=; rewrite inE negb_or (eq_sym x); case: (p == x). Qed.

Lemma run_cost w n m K c : splits_at_most d n (unzip1 K) c -> reads_at_most m c ->
  runs_within n m (run w K c) anything.
Proof.
elim: c n m K => [fin|X x0 k IH|x c IH|x k IH|r c IH] n m K /=.
- by move=> _ _; apply: lift_cost.
- by move=> B R x; apply: IH.
- case: ifP => [h [n0 B]|/negbT h B] R; last by rewrite split_done //=; apply: IH.
  case: n n0 B => // n _ B; apply: runs_within_bind (split_cost n m h) _ => i j K' [-> -> E].
  by apply: IH; rewrite ?E.
- move=> B [m0 R]; have := seed_at_unzip1 x K; case E: (seed_at x K) => [s|] /esym.
    move/negbFE => xK; rewrite xK in B; rewrite -unzip1_filter in B.
    case: m m0 R => // m _ R; case: w IH => /= IH; last by move=> z; apply: IH.
    by apply: IH (B s) (reads_le (leqnSn m) (R _)).
  move=> /negbTE xK; rewrite xK in B; apply: IH B _.
  exact: reads_le (leq_pred m) (R None).
- by rewrite -unzip1_filter => B R; apply: IH.
Qed.

(* ---- Up to the challenge: draws only ---- *)
Lemma embed_cost n m x ns : has (above x) ns ->
  runs_within n ((size ns).-1 + m) (embed s0 x ns)
    (fun i j pk => [/\ i = n, j = m & forall ab, unzip1 (pk.2 ab) = split_positions x ns]).
Proof.
elim: ns => //= p ns IH; case: ifP => /= [_ _|_ h].
  apply: runs_within_bind (samples_cost n m (size ns)) _ => i j ss [-> -> sz] /=.
  by split=> // ab; rewrite -/(unzip1 _) unzip1_zip ?sz.
move: (IH h) => {IH}; case: ns h => [//|p' ns] h B; rewrite [size _]/= addSn /= => s.
apply: runs_within_bind B _ => i j pk [-> -> E] /=; split=> // ab.
by rewrite -/(unzip1 _) E.
Qed.

Lemma size_split x ns : has (above x) ns -> size (split_positions x ns) = (size ns).+1.
Proof. by elim: ns => //= p ns IH; case: ifP => //= _ /IH ->. Qed.

Lemma reduce_cost w t N m M ns c : splits_at_most d N ns c -> reads_at_most m c ->
  m + (size ns).-1 + t <= M -> costs_at_most (N - t.+1) M (reduce w t ns c).
Proof.
have pf (a : pred bitseq) (r : seq bitseq) : (size (filter a r)).-1 <= (size r).-1.
  by rewrite -!subn1 leq_sub2r // size_filter count_size.
rewrite /costs_at_most; elim: c t N m M ns => [fin|X x0 k IH|x c IH|x k IH|r c IH] t N m M ns /=.
- by [].
- by move=> B R le x; apply: IH (B x) (R x) le.
- case: ifP => [h [N0 B]|_ B] R le; last exact: IH B R le.
  case: N N0 B => // N _ B; case: t le => [|t] le.
    move: le; rewrite addn0 subSS subn0 addnC => /subnKC <-; rewrite -addnA.
    apply: runs_within_bind (embed_cost _ _ h) _ => i j pk [-> -> E] /= ab.
    by apply: run_cost; rewrite ?E //; apply: reads_le R; rewrite leq_addr.
  rewrite subSS; apply: IH B R _; apply: leq_trans le; rewrite size_split //=.
  by case: ns h => // p ns _ /=; rewrite addnS addSn -addnS.
- case: ifP => [_ B|_ B] [m0 R] le.
    case: m m0 R le => // m _ R; case: M => [|M] le; first by rewrite !addSn in le.
    move=> y; apply: IH (B y) (R _) _; apply: leq_trans (_ : m + (size ns).-1 + t <= M) => //.
    by rewrite leq_add2r leq_add2l.
  apply: IH B (R _) _; apply: leq_trans le; rewrite !leq_add2r; exact: leq_pred.
- move=> B R le; apply: IH B R _; apply: leq_trans le.
  by rewrite leq_add2r leq_add2l.
Qed.

Lemma costs_le n n' m m' (R : reduction Seed) : n <= n' -> m <= m' ->
  costs_at_most n m R -> costs_at_most n' m' R.
Proof.
move=> nn mm; apply: runs_within_le nn mm _ => i i' j j' pk ii jj B ab.
by apply: runs_within_le ii jj _ (B ab).
Qed.

(* ---- The theorem ---- *)

(* The reduction for the t-th expansion of q moves: at most one PRG call for each later
   expansion, and at most one draw for each move and for each node of the key other than the one
   it expands (after t expansions a key has at most t + 1 nodes). The guessing reduction: two
   more draws. As expansions d q <= q * d (expansions_le), everything is linear in q and d. *)
Theorem reduction_cost q A : moves_at_most q A ->
  let N := expansions d q in
  (forall w t, costs_at_most (N - t.+1) (q + t) (fs_reduction s0 w t A)) /\
  costs_at_most N.-1 (q + N + 2) (fs_guess s0 N A).
Proof.
move=> B N.
have C w t : costs_at_most (N - t.+1) (q + t) (fs_reduction s0 w t A).
  apply: reduce_cost (splits_script s0 (fun _ s => (s, s)) B) (reads_script B) _.
  by rewrite addn0.
split=> //; rewrite /fs_guess /costs_at_most addn2 /= => real t.
have {}C : costs_at_most N.-1 (q + N) (fs_reduction s0 (if real then Real else Ideal) t A).
  move: (t : nat) (leq_ord t) => i le; apply: costs_le (C _ i).
    by rewrite -[X in _ <= X]subn1 leq_sub2l.
  by rewrite leq_add2l; apply: leq_trans le (leq_pred N).
apply: runs_within_bind C _ => i j pk H /= ab.
by apply: runs_within_bind (H ab) _.
Qed.

Corollary pprf_reduction_cost p (B : pprf_adversary Seed d) : leaves_at_most p B ->
  let N := expansions d p in
  (forall w t, costs_at_most (N - t.+1) (p + t) (pprf_reduction s0 w t B)) /\
  costs_at_most N.-1 (p + N + 2) (pprf_guess s0 N B).
Proof. by move=> H; apply: reduction_cost (selective_moves s0 H). Qed.

End ReductionCost.

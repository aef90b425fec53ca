(* SPDX-License-Identifier: Apache-2.0 *)
(* Adaptive forward security of the GGM puncturable PRF: the advantage equals the sum of the PRG
   advantages of the reductions of Reductions.v.

   hybrid: for any script, from the device with a PRG to the one without (lazy), one expansion at
   a time.  It knows nothing about trees: a step replaces one live node by two.
   play_script: the algorithms of Ggm.v do what the script does, step by step.
   splits_script: how many expansions the script of q moves makes, level by level.
   The theorems combine the three, once for the real world and once for the ideal one: both end
   in the same lazy experiment, so their difference is the difference of the two sums. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions.
From Pprf.proofs Require Import Compat Correctness ProbabilityFacts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section ForwardSecurity.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.

(* ---- What a code does ----------------------------------------------------------------- *)

Lemma ex_exec_bind T U (c : code Seed T) (f : T -> code Seed U) h :
  ex (exec G (cbind c f)) h = ex (exec G c) (fun t => ex (exec G (f t)) h).
Proof. by elim: c => [t|p s k IH|X x0 k IH|X x0 k IH] //=; apply: eq_avg. Qed.

Lemma ex_exec_lift T (c : prog T) h : ex (exec G (lift Seed c)) h = ex c h.
Proof. by elim: c => [t|X x0 k IH] //=; apply: eq_avg. Qed.

Lemma ex_exec_samples n h : ex (exec G (samples s0 n)) h = ex (unifs s0 n) h.
Proof.
elim: n h => [|n IH] h //=; apply: eq_avg => s.
by rewrite ex_exec_bind IH ex_bind.
Qed.

(* ---- The PRG advantage of a reduction --------------------------------------------------- *)

(* the mean of g's advantage in telling a pair of G at p from a random pair *)
Definition gap (p : bitseq) (g : Seed * Seed -> rat) : rat :=
  avg (fun s => g (G p s)) - avg (fun a => avg (fun b => g (a, b))).

Lemma eq_gap p g h : g =1 h -> gap p g = gap p h.
Proof.
move=> E; rewrite /gap; congr (_ - _); apply: eq_avg => s; first exact: E.
by apply: eq_avg => b; apply: E.
Qed.

Lemma gap_const p c : gap p (fun _ => c) = 0.
Proof. by rewrite /gap !(avg_const s0) subrr. Qed.

Lemma gap_neg p g : gap p (fun ab => 1 - g ab) = - gap p g.
Proof.
rewrite /gap avgB (avg_const s0).
have -> : avg (fun a : Seed => avg (fun b : Seed => 1 - g (a, b))) =
          1 - avg (fun a => avg (fun b => g (a, b))).
  rewrite -{2}(avg_const s0 1) -avgB; apply: eq_avg => a.
  by rewrite avgB (avg_const s0).
by rewrite opprB addrC opprB addrA subrK.
Qed.

Lemma prg_advE D : prg_adv s0 G D = ex D (fun pk => gap pk.1 (fun ab => Pr (pk.2 ab))).
Proof.
rewrite /prg_adv /prg_game !Pr_bind -ex_sub; apply: eq_ex => -[p k] /=.
by rewrite /Pr /gap.
Qed.

(* the PRG advantage of a reduction *)
Definition adv (R : reduction Seed) : rat := prg_adv s0 G (attack G R).

Lemma advE R : adv R = ex (exec G R) (fun pk => gap pk.1 (fun ab => Pr (exec G (pk.2 ab)))).
Proof. by rewrite /adv prg_advE ex_bind. Qed.

Lemma adv_Sample (X : finType) (x0 : X) k : adv (Sample x0 k) = avg (fun x => adv (k x)).
Proof. by rewrite advE /=; apply: eq_avg => x; rewrite advE. Qed.

Lemma adv_Coin (X : finType) (x0 : X) k : adv (Coin x0 k) = avg (fun x => adv (k x)).
Proof. by rewrite advE /=; apply: eq_avg => x; rewrite advE. Qed.

(* ---- Hybrids over the expansions of a script -------------------------------------------- *)

Variable d : nat.
Notation script := (script Seed).
Notation run := (run s0 d).
Notation reduce := (reduce s0 d).

(* at most N expansions when the nodes ns are live *)
Fixpoint splits_at_most (N : nat) (ns : seq bitseq) (c : script) : Prop :=
  match c with
  | Halt _ => True
  | Flip X x0 k => forall x, splits_at_most N ns (k x)
  | Split x c' =>
      if has (above x) ns then (0 < N)%N /\ splits_at_most N.-1 (split_positions x ns) c'
      else splits_at_most N ns c'
  | Read x k =>
      if x \in ns then forall y, splits_at_most N [seq p <- ns | p != x] (k (Some y))
      else splits_at_most N ns (k None)
  | Erase r c' => splits_at_most N [seq p <- ns | ~~ inside d r p] c'
  end.

(* all live nodes carry fresh uniform seeds *)
Definition fresh (w : world) (ns : seq bitseq) (c : script) : rat :=
  ex (unifs s0 (size ns)) (fun ss => Pr (exec G (run w (zip ns ss) c))).

(* no seed is ever expanded: all answers and all seeds of the key are uniform *)
Fixpoint lazy (ns : seq bitseq) (c : script) : rat :=
  match c with
  | Halt fin => ex (unifs s0 (size ns)) (fun ss => Pr (fin (zip ns ss)))
  | Flip X x0 k => avg (fun x => lazy ns (k x))
  | Split x c' => lazy (if has (above x) ns then split_positions x ns else ns) c'
  | Read x k =>
      if x \in ns then avg (fun y => lazy [seq p <- ns | p != x] (k (Some y)))
      else lazy ns (k None)
  | Erase r c' => lazy [seq p <- ns | ~~ inside d r p] c'
  end.

Lemma split_none x ns ss : ~~ has (above x) ns -> split x (zip ns ss) = Done Seed (zip ns ss).
Proof.
elim: ns ss => [|p ns IH] [|s ss] //=; rewrite negb_or => /andP [/negbTE -> /IH ->].
by [].
Qed.

(* The expansion of the node above x, on both sides of the PRG challenge. *)
Lemma embed_real x ns (f : key Seed -> rat) : has (above x) ns ->
  ex (unifs s0 (size ns)) (fun ss => ex (exec G (split x (zip ns ss))) f) =
  ex (exec G (embed s0 x ns)) (fun pk => avg (fun s => f (pk.2 (G pk.1 s)))).
Proof.
elim: ns f => [//|p ns IH] f; rewrite /= -/(unif s0) => h.
rewrite -[LHS]/(ex (unifs s0 (size ns).+1) _) ex_unifsS /=.
case: (above x p) h => /= [_|h].
  rewrite ex_exec_bind ex_exec_samples ex_avg; apply: eq_avg => s.
  by apply: eq_ex => ss.
apply: eq_avg => s; rewrite ex_exec_bind /=.
rewrite -(IH (fun K => f ((p, s) :: K)) h); apply: eq_ex => ss.
by rewrite ex_exec_bind.
Qed.

Lemma embed_ideal x ns (f : key Seed -> rat) : has (above x) ns ->
  ex (unifs s0 (size (split_positions x ns))) (fun ss => f (zip (split_positions x ns) ss)) =
  ex (exec G (embed s0 x ns)) (fun pk => avg (fun a => avg (fun b => f (pk.2 (a, b))))).
Proof.
elim: ns f => [//|p ns IH] f /= h.
case: (above x p) h => /= [_|h].
  rewrite -[LHS]/(ex (unifs s0 (size ns).+2) _) ex_unifsS ex_exec_bind ex_exec_samples ex_avg.
  apply: eq_avg => a; rewrite ex_unifsS ex_avg; apply: eq_avg => b.
  by apply: eq_ex => ss.
rewrite -[LHS]/(ex (unifs s0 (size (split_positions x ns)).+1) _) ex_unifsS /=.
by apply: eq_avg => s; rewrite ex_exec_bind /= -(IH (fun K => f ((p, s) :: K)) h).
Qed.

(* The seed that is read is uniform and independent of the others. *)
Lemma read_fresh x ns (f : option Seed -> key Seed -> rat) :
  ex (unifs s0 (size ns)) (fun ss =>
    f (seed_at x (zip ns ss)) [seq n <- zip ns ss | n.1 != x]) =
  let ns' := [seq p <- ns | p != x] in
  if x \in ns then avg (fun y => ex (unifs s0 (size ns')) (fun ss => f (Some y) (zip ns' ss)))
  else ex (unifs s0 (size ns')) (fun ss => f None (zip ns' ss)).
Proof.
elim: ns f => [//|p ns IH] f; rewrite [size _]/= ex_unifsS /= inE (eq_sym x).
case: (p =P x) => /= [_|_].
  apply: eq_avg => s.
  exact: (ex_unifs_filter s0 (fun p => p != x) ns (f (Some s))).
under eq_avg => s do rewrite (IH (fun o K => f o ((p, s) :: K))) /=.
case: ifP => _; last by rewrite -[RHS]/(ex (unifs s0 _.+1) _) ex_unifsS.
rewrite avg_swap; apply: eq_avg => y.
by rewrite -[RHS]/(ex (unifs s0 _.+1) _) ex_unifsS.
Qed.

Lemma seed_at_mem x ns (ss : seq Seed) : size ss = size ns ->
  (seed_at x (zip ns ss) == None) = (x \notin ns).
Proof.
elim: ns ss => [|p ns IH] [|s ss] //= [/IH E]; rewrite inE negb_or (eq_sym x p).
by case: (p == x).
Qed.

Lemma filter_notin x ns : x \notin ns -> [seq p <- ns | p != x] = ns :> seq bitseq.
Proof. by move=> nx; apply/all_filterP/allP => p pin; apply: contraNneq nx => <-. Qed.

Lemma fresh_read w x k ns : fresh w ns (Read x k) =
  if x \in ns then avg (fun y => fresh w [seq p <- ns | p != x] (k (Some y)))
  else fresh w ns (k None).
Proof.
pose f o K := match o with
  | Some s => ex (exec G (reply s0 w s)) (fun z => Pr (exec G (run w K (k (Some z)))))
  | None => Pr (exec G (run w K (k None))) end.
have -> : fresh w ns (Read x k) = ex (unifs s0 (size ns)) (fun ss =>
    f (seed_at x (zip ns ss)) [seq n <- zip ns ss | n.1 != x]).
  apply: eq_ex_unifs => ss sz; rewrite /f /=.
  case E: (seed_at x (zip ns ss)) => [s|]; first by rewrite /Pr ex_exec_bind.
  have : x \notin ns by rewrite -(seed_at_mem x sz) E.
  move/filter_notin=> Ef; congr (Pr (exec G (run w _ _))).
  apply/esym/all_filterP; rewrite (eq_all (a2 := preim fst (fun p => p != x))) //.
  rewrite -all_map -/(unzip1 _) unzip1_zip ?sz //.
  by apply/all_filterP.
rewrite read_fresh /=; case: ifP => [_|/negbT /filter_notin ->] //.
rewrite /f; case: w {f} => /=; last by rewrite (avg_const s0) ex_avg.
by apply: eq_avg => y.
Qed.

Lemma fresh_erase w r c ns :
  fresh w ns (Erase r c) = fresh w [seq p <- ns | ~~ inside d r p] c.
Proof.
exact: (ex_unifs_filter s0 (fun p => ~~ inside d r p) ns (fun K => Pr (exec G (run w K c)))).
Qed.

Lemma fresh_split w x c ns : has (above x) ns ->
  fresh w ns (Split x c) - fresh w (split_positions x ns) c = adv (reduce w 0 ns (Split x c)).
Proof.
move=> h; rewrite advE /= h ex_exec_bind /=.
pose f K := Pr (exec G (run w K c)).
rewrite [X in X - _](_ : _ = ex (exec G (embed s0 x ns))
                              (fun pk => avg (fun s => f (pk.2 (G pk.1 s))))).
  by rewrite /fresh (embed_ideal f h) -ex_sub.
by rewrite -embed_real //; apply: eq_ex => ss; rewrite /Pr ex_exec_bind.
Qed.

Theorem hybrid w N ns c : splits_at_most N ns c ->
  fresh w ns c - lazy ns c = \sum_(t < N) adv (reduce w t ns c).
Proof.
elim: c N ns => [fin|X x0 k IH|x c IH|x k IH|r c IH] N ns B; simpl in B.
- rewrite /fresh /= (eq_ex _ (fun ss => ex_exec_lift (fin (zip ns ss)) _)) subrr.
  by rewrite big1 // => t _; rewrite advE /= gap_const.
- have -> : fresh w ns (Flip x0 k) = avg (fun x => fresh w ns (k x)) by rewrite /fresh ex_avg.
  rewrite -avgB (eq_avg (fun x => IH x N ns (B x))) avg_sum.
  by apply: eq_bigr => t _; rewrite adv_Coin.
- case h: (has (above x) ns) in B.
    case: N B => [[]//|N] [_ B]; rewrite big_ord_recl -fresh_split //=.
    by rewrite h -(IH N) // addrA subrK.
  rewrite /= h -(IH N) //; congr (_ - _); apply: eq_ex => ss.
  by rewrite /= split_none ?h.
- rewrite fresh_read /=; case: ifP B => [_|_] B; last exact: IH.
  rewrite -avgB (eq_avg (fun y => IH (Some y) N _ (B y))) avg_sum.
  by apply: eq_bigr => t _; rewrite adv_Sample.
- by rewrite fresh_erase; apply: IH.
Qed.

(* ---- Borders and levels ------------------------------------------------------------------- *)

Lemma size_borders r : region_ok d r -> all (fun x => size x <= d)%N (borders r).
Proof.
case: r => [x|x|x y] /=; try by rewrite andbT // => /eqP ->.
by case/andP => /eqP sx /eqP sy; case: ifP => //= _; rewrite sx sy leqnn.
Qed.

Lemma borders_weight r : (size (borders r) <= weight r)%N.
Proof. by case: r => //= x y; case: ifP. Qed.

Lemma above_lt x p : above x p -> (size p < size x)%N.
Proof.
case/andP => /prefixP [y ->] ne; rewrite size_cat -{1}[size p]addn0 ltn_add2l lt0n size_eq0.
by apply: contraNneq ne => ->; rewrite cats0.
Qed.

(* no step goes below the leaves *)
Fixpoint shallow (c : script) : Prop :=
  match c with
  | Halt _ => True
  | Flip X x0 k => forall x, shallow (k x)
  | Split x c' => (size x <= d)%N /\ shallow c'
  | Read x k => forall y, shallow (k y)
  | Erase r c' => shallow c'
  end.

Lemma shallow_descend x c : (size x <= d)%N -> shallow c -> shallow (descend_to x c).
Proof. by move=> sx B; rewrite /descend_to; elim: (size x) => //= i IH. Qed.

Lemma shallow_script (A : fs_adversary Seed d) : shallow (script_of A).
Proof.
elim: A => [fin|X x0 k IH|x k IH|[r ok] A IH] //=.
  by apply: shallow_descend; rewrite ?size_tuple.
by elim: (borders r) (size_borders ok) => //= x xs IHx /andP [sx /IHx H]; apply: shallow_descend.
Qed.

(* the level of the node above x *)
Fixpoint top (x : bitseq) (ns : seq bitseq) : nat :=
  if ns is p :: ns' then if above x p then size p else top x ns' else 0.

Lemma top_lt x ns : has (above x) ns -> (top x ns < size x)%N.
Proof. by elim: ns => //= p ns IH; case: ifP => [/above_lt|]. Qed.

(* ---- The device's algorithms are its script ---------------------------------------------- *)

Fixpoint splitG (x : bitseq) (K : key Seed) : key Seed :=
  if K is n :: K' then
    if above x n.1 then children n.1 (G n.1 n.2) ++ K' else n :: splitG x K'
  else [::].

Lemma ex_split x K h : ex (exec G (split x K)) h = h (splitG x K).
Proof.
elim: K h => //= n K IH h; case: ifP => //= _.
by rewrite ex_exec_bind IH.
Qed.

Definition reach (x : bitseq) (K : key Seed) : key Seed := iter (size x) (splitG x) K.

Lemma Pr_descend w x c K :
  Pr (exec G (run w K (descend_to x c))) = Pr (exec G (run w (reach x K) c)).
Proof.
rewrite /descend_to /reach; elim: (size x) K => // i IH K.
by rewrite [in RHS]iterSr -IH /= /Pr ex_exec_bind ex_split.
Qed.

(* a forest: nodes of the tree, no leaf below two of them *)
Definition over (y : bitseq) (K : key Seed) : nat := count (fun n => prefix n.1 y) K.

Definition forest (K : key Seed) : Prop :=
  Correctness.within d K /\ forall y, size y = d -> (over y K <= 1)%N.

Lemma forest_keygen k : forest (keygen k).
Proof. by split=> // y _; rewrite /over /= prefix0s. Qed.

Lemma forest_filter (a : pred (node Seed)) K : forest K -> forest (filter a K).
Proof.
case=> W C; split; first by apply/allP => n; rewrite mem_filter => /andP [_]; apply: (allP W).
move=> y /C; apply: leq_trans; rewrite /over count_filter.
by apply: sub_count => n /andP [].
Qed.

Lemma splitG_none x K : ~~ has (fun n => above x n.1) K -> splitG x K = K.
Proof. by elim: K => //= n K IH; rewrite negb_or => /andP [/negbTE -> /IH ->]. Qed.

Variant splitG_spec x K : key Seed -> Prop :=
| SplitNone of ~~ has (fun n => above x n.1) K : splitG_spec x K K
| SplitAt K1 n K2 of K = K1 ++ n :: K2 & above x n.1 :
    splitG_spec x K (K1 ++ children n.1 (G n.1 n.2) ++ K2).

Lemma splitGP x K : splitG_spec x K (splitG x K).
Proof.
elim: K => [|n K IH] /=; first exact: SplitNone.
case: ifP => a; first exact: (@SplitAt _ _ [::] n K).
case: IH => [h|K1 m K2 -> am]; last exact: (@SplitAt _ _ (n :: K1) m K2).
by apply: SplitNone; rewrite /= a.
Qed.

Lemma prefix_children (p y : bitseq) : (size p < size y)%N ->
  (prefix (rcons p false) y + prefix (rcons p true) y)%N = prefix p y.
Proof.
elim: p y => [|c p IH] [|b y] //=; rewrite ?prefix0s; first by case: b.
by move=> h; case: (c == b) => //=; apply: IH.
Qed.

Lemma forest_split x K : (size x <= d)%N -> forest K -> forest (splitG x K).
Proof.
move=> sx; case: splitGP => [//|K1 n K2 -> /above_lt nx [W C]].
have nd : (size n.1 < d)%N := leq_trans nx sx.
split; first by move: W; rewrite /Correctness.within !all_cat /= !size_rcons nd => /and3P [-> _ ->].
move=> y sy; apply: leq_trans (C y sy); rewrite /over !count_cat /=.
by rewrite leq_add2l addn0 prefix_children ?sy.
Qed.

Lemma forest_reach x K : (size x <= d)%N -> forest K -> forest (reach x K).
Proof. by move=> sx F; rewrite /reach; elim: (size x) => //= i; apply: forest_split. Qed.

Lemma above_prefix x p y : above x p -> prefix p (x ++ y).
Proof. by case/andP => h _; apply: prefix_trans h _; apply: prefix_prefix. Qed.

Lemma split_deeper i x K : (size x <= d)%N -> forest K ->
  all (fun n => above x n.1 ==> (i <= size n.1)%N) K ->
  all (fun n => above x n.1 ==> (i.+1 <= size n.1)%N) (splitG x K).
Proof.
move=> sx F; case: splitGP => [h _|K1 n K2 E an].
  by apply/allP => n nK; apply/implyP => a; case/negP: h; apply/hasP; exists n.
have sy : size (x ++ nseq (d - size x) false) = d by rewrite size_cat size_nseq subnKC.
have := (proj2 F) _ sy; rewrite E /over count_cat /= (above_prefix _ an) addnCA add1n ltnS leqn0.
rewrite addn_eq0 => /andP [c1 c2].
have N L : count (fun m : node Seed => prefix m.1 (x ++ nseq (d - size x) false)) L == 0%N ->
    all (fun m => above x m.1 ==> (i < size m.1)%N) L.
  rewrite -leqn0 leqNgt -has_count => /hasPn h; apply/allP => m /h nm.
  by apply/implyP => /(above_prefix (nseq (d - size x) false)) am; rewrite am in nm.
rewrite !all_cat /= (N _ c1) (N _ c2) !size_rcons an /= => /and3P [_ ni _].
by rewrite !ltnS ni !implybT.
Qed.

(* no other node above x is higher *)
Lemma top_least x K : (size x <= d)%N -> forest K ->
  all (fun n => above x n.1 ==> (top x (unzip1 K) <= size n.1)%N) K.
Proof.
move=> sx [_ C]; have sy : size (x ++ nseq (d - size x) false) = d.
  by rewrite size_cat size_nseq subnKC.
move: (C _ sy) => {C}; elim: K => //= n K IH c.
case an: (above x n.1) => /=; last by apply: IH; apply: leq_trans (leq_addl _ _) c.
move: c; rewrite leqnn /over /= (above_prefix _ an) add1n ltnS leqn0 -leqn0 leqNgt -has_count.
move/hasPn => h; apply/allP => m /h nm.
by apply/implyP => /(above_prefix (nseq (d - size x) false)) am; rewrite am in nm.
Qed.

Lemma no_above_reach x K : (size x <= d)%N -> forest K -> ~~ has (fun n => above x n.1) (reach x K).
Proof.
move=> sx F; have : all (fun n => above x n.1 ==> (size x <= size n.1)%N) (reach x K).
  rewrite /reach; elim: (size x) => [|i IH]; first by apply/allP => n _; rewrite implybT.
  rewrite iterS; apply: split_deeper => //.
  by elim: (i) => //= j; apply: forest_split.
move=> D; apply/hasPn => n /(allP D) /implyP h; apply/negP => a.
by have := above_lt a; rewrite ltnNge h.
Qed.

Lemma no_above_split x z K :
  ~~ has (fun n => above x n.1) K -> ~~ has (fun n => above x n.1) (splitG z K).
Proof.
case: splitGP => // K1 n K2 -> _; rewrite !has_cat /= !negb_or => /and3P [-> nn ->].
suff N b : ~~ above x (rcons n.1 b) by rewrite !N.
apply: contra nn => a; rewrite /above (prefix_trans (prefix_rcons _ _) (proj1 (andP a))) /=.
by apply: contraTneq (above_lt a) => ->; rewrite size_rcons -leqNgt leqnSn.
Qed.

Lemma no_above_reach_other x z K :
  ~~ has (fun n => above x n.1) K -> ~~ has (fun n => above x n.1) (reach z K).
Proof. by move=> h; rewrite /reach; elim: (size z) => //= i; apply: no_above_split. Qed.

(* ---- An expansion on the way to a border does not affect removal ------------------------- *)

Lemma remove_split (Q : pred bitseq) x K : (size x <= d)%N -> forest K ->
  (exists2 y, prefix x y && (size y == d) & Q y) ->
  remove G d Q (splitG x K) = remove G d Q K.
Proof.
move=> sx F [y /andP [xy /eqP sy] Qy]; case: splitGP => // K1 [p s] K2 E an.
have pd : (size p < d)%N := leq_trans (above_lt an) sx.
rewrite E /remove !map_cat !flatten_cat /=; congr (_ ++ _); rewrite catA; congr (_ ++ _).
rewrite /remove_node /= !size_rcons -(subnSK pd) cover_has_leafS; last first.
  have /prefixP [z Ez] : prefix p y by case/andP: an => px _; apply: prefix_trans px xy.
  by apply/has_leafP; exists z; rewrite -?Ez // subnSK // -sy Ez size_cat addKn.
by rewrite cats0; congr (_ ++ _); apply: eq_cover => z _; rewrite cat_rcons.
Qed.

Lemma remove_reach (Q : pred bitseq) x K : (size x <= d)%N -> forest K ->
  (exists2 y, prefix x y && (size y == d) & Q y) ->
  remove G d Q (reach x K) = remove G d Q K.
Proof.
move=> sx F h; rewrite /reach; elim: (size x) => // i IH; rewrite iterS remove_split //.
by elim: (i) => //= j; apply: forest_split.
Qed.

Lemma borders_in r x : region_ok d r -> x \in borders r ->
  exists2 y, prefix x y && (size y == d) & in_region r y.
Proof.
case: r => [z|z|f l] /=; rewrite ?inE.
- by move=> sz /eqP ->; exists z; rewrite ?prefix_refl //=.
- move=> sz /eqP ->; exists (z ++ nseq (d - size z) false); last exact: prefix_prefix.
  by rewrite prefix_prefix size_cat size_nseq subnKC /=.
- case/andP => sf sl; case: ifP => // le; rewrite !inE.
  by case/orP => /eqP ->; [exists f | exists l]; rewrite ?prefix_refl ?leaf_le_refl ?le.
Qed.

(* When no node is strictly above a border, a node is inside the region or outside it. *)
Lemma in_region_const r p z z' : region_ok d r -> ~~ has (fun x => above x p) (borders r) ->
  size (p ++ z) = d -> size z' = size z -> in_region r (p ++ z) -> in_region r (p ++ z').
Proof.
have same (x : bitseq) : ~~ above x p -> size (p ++ z) = size x -> size z' = size z ->
    prefix p x -> z = [::] /\ z' = [::].
  move=> na sz szz px; have Ep : p = x.
    by apply/eqP; apply: contraNT na => ne; rewrite /above px.
  move: sz; rewrite -Ep size_cat -{2}[size p]addn0 => /addnI /eqP; rewrite size_eq0 => /eqP E.
  by move: szz; rewrite E => /size0nil ->.
case: r => [x|x|f l] /=.
- move=> /eqP sx; rewrite orbF => na sz szz /eqP E.
  have [] := same x na _ szz; rewrite -?E ?prefix_prefix // => Ez ->.
  by rewrite Ez.
- move=> sx; rewrite orbF => na sz szz xp; case/orP: (leq_total (size x) (size p)) => le.
    by move: xp; rewrite !prefixE !takel_cat.
  have px : prefix p x.
    by move: xp; rewrite !prefixE => /eqP <-; rewrite take_of_take // take_size_cat.
  have Ep : p = x by apply/eqP; apply: contraNT na => ne; rewrite /above px.
  by rewrite Ep prefix_prefix.
- move=> /andP [/eqP sf /eqP sl]; case: ifP => [le|nle] na sz szz; last first.
    case/andP => fp pl; suff : leaf_le f l by rewrite nle.
    by move: fp pl; rewrite !leaf_le_val ?sz ?sf ?sl //; apply: leq_trans.
  move: na => /=; rewrite orbF negb_or => /andP [nf nl].
  have C (x : bitseq) : ~~ above x p -> size x = d ->
     leaf_le x (p ++ z) = leaf_le x (p ++ z') /\ leaf_le (p ++ z) x = leaf_le (p ++ z') x.
    move=> na sx; case px : (prefix p x).
      by have [|-> ->] := same x na _ szz px; rewrite ?sx.
    have pd : (size p <= size x)%N by rewrite sx -sz size_cat leq_addr.
    rewrite -[x](cat_take_drop (size p)).
    have st : size (take (size p) x) = size p by rewrite size_takel.
    move: px; rewrite prefixE => ne.
    by rewrite !leaf_le_cat // ?st // ne (eq_sym p) ne.
  by have [-> _] := C f nf sf; have [_ ->] := C l nl sl.
Qed.

Lemma remove_filter r K : region_ok d r -> forest K ->
  (forall x, x \in borders r -> ~~ has (fun n => above x n.1) K) ->
  remove G d (in_region r) K = [seq n <- K | ~~ inside d r n.1].
Proof.
move=> ok [W _]; elim: K W => //= n K IH /andP [nd W] na.
rewrite /remove /= -/(remove _ _ _ _) IH //; last first.
  by move=> x /na; rewrite negb_or => /andP [].
have nb : ~~ has (fun x => above x n.1) (borders r).
  by apply/hasPn => x /na; rewrite negb_or => /andP [].
have sz z : size z = (d - size n.1)%N -> size (n.1 ++ z) = d by move=> h; rewrite size_cat h subnKC.
rewrite /remove_node /inside; case: ifP => [out|/negbFE ins].
  rewrite cover_no_leaf; first by case: n {nd W na nb sz out IH}.
  apply/no_leafP => z hz; apply: contraNF out; apply: (in_region_const ok nb); first exact: sz.
  by rewrite size_nseq.
rewrite -[RHS]cat0s; congr (_ ++ _); rewrite -(@cover_predT _ G (d - size n.1) n.1 n.2).
apply: eq_cover => z hz; apply: (in_region_const ok nb) ins; last by rewrite size_nseq.
by apply: sz; rewrite size_nseq.
Qed.

Lemma puncture_script r K : region_ok d r -> forest K ->
  [seq n <- foldl (fun K x => reach x K) K (borders r) | ~~ inside d r n.1] =
  puncture_region G r K.
Proof.
move=> ok F; rewrite (puncture_region_remove _ _ ok); last by case: F.
have B x : x \in borders r -> (size x <= d)%N by move=> xb; apply: (allP (size_borders ok)).
have H x := @borders_in r x ok.
set xs := borders r in B H *.
have : forall x, x \in borders r -> (x \in xs) || ~~ has (fun n => above x n.1) K by move=> x ->.
elim: xs K F B H => [|x xs IH] K F B H na /=.
  by rewrite remove_filter // => x /na; rewrite in_nil.
have sx : (size x <= d)%N by rewrite B ?mem_head.
rewrite IH.
- by rewrite remove_reach //; apply: H; rewrite mem_head.
- exact: forest_reach.
- by move=> z zx; rewrite B // inE zx orbT.
- by move=> z zx; apply: H; rewrite inE zx orbT.
move=> z /na; rewrite inE -orbA => /or3P [/eqP ->|->|h] //.
  by rewrite no_above_reach ?orbT.
by rewrite no_above_reach_other ?orbT.
Qed.

(* ---- Reading a leaf --------------------------------------------------------------------- *)

Lemma eval_children x p s : above x p ->
  eval G (children p (G p s)) x = eval G [:: (p, s)] x.
Proof.
case/andP => /prefixP [[|b y] ->]; first by rewrite cats0 eqxx.
move=> _; rewrite /= /eval_node /= prefix_prefix.
have N := @prefix_diverge p y (rcons p (~~ b)) b (prefix_refl _).
have Y : prefix (rcons p b) (p ++ b :: y) by rewrite -cat_rcons prefix_prefix.
have D : drop (size (rcons p b)) (p ++ b :: y) = y by rewrite -cat_rcons drop_size_cat.
by case: b N Y D => /= N Y D; rewrite ?N Y D drop_size_cat.
Qed.

Lemma eval_reach x K : eval G (reach x K) x = eval G K x.
Proof.
rewrite /reach; elim: (size x) => // i IH; rewrite iterS -IH.
by case: splitGP => // K1 [p s] K2 -> an; rewrite -[(p, s) :: K2]cat1s !eval_cat eval_children //.
Qed.

Lemma eval_seed_at x K : ~~ has (fun n => above x n.1) K -> eval G K x = seed_at x K.
Proof.
elim: K => //= n K IH; rewrite negb_or negb_and => /andP [na /IH ->].
case: eqP na => [E _|_]; first by rewrite E prefix_refl /eval_node E drop_size.
by rewrite orbF => /negbTE ->.
Qed.

Lemma reach_punctured x K : eval G K x = None -> reach x K = K.
Proof.
move=> E; have h : ~~ has (fun n => above x n.1) K.
  elim: K E => //= n K IH; case: ifP => // np /IH.
  by rewrite /above np.
by rewrite /reach; elim: (size x) => //= i ->; apply: splitG_none.
Qed.

Lemma puncture_leaf (x : leaf d) K : forest K ->
  [seq n <- reach x K | n.1 != tval x] = puncture G x K.
Proof.
move=> F; have sx : size x = d := size_tuple x.
rewrite -[RHS](@puncture_script (Leaf x)) ?sx //=; last by rewrite sx.
have NA := no_above_reach (eq_leq sx) F; have [W _] := forest_reach (eq_leq sx) F.
apply: eq_in_filter => /= n nK; congr (~~ _); rewrite /inside /=.
apply/eqP/eqP => [->|E]; first by rewrite sx subnn cats0.
apply/eqP; apply: contraNT (hasPn NA _ nK) => ne.
by rewrite /above ne andbT -E prefix_prefix.
Qed.

(* ---- The game is the hybrid game without replaced expansions ------------------------------ *)

Lemma forest_puncture r K : region_ok d r -> forest K -> forest (puncture_region G r K).
Proof.
move=> ok F; rewrite -puncture_script //; apply: forest_filter.
have B x : x \in borders r -> (size x <= d)%N by move=> xb; apply: (allP (size_borders ok)).
elim: (borders r) K B F => //= x xs IH K B F; apply: IH.
  by move=> z zx; rewrite B // inE zx orbT.
by apply: forest_reach => //; rewrite B ?mem_head.
Qed.

Lemma play_script w K (A : fs_adversary Seed d) : forest K ->
  Pr (play s0 G w K A) = Pr (exec G (run w K (script_of A))).
Proof.
elim: A K => [fin|X x0 k IH|x k IH|[r ok] A IH] K F.
- by rewrite /Pr /= ex_exec_lift.
- by apply: eq_avg => x; apply: IH.
- have sx : size x = d := size_tuple x.
  rewrite [script_of _]/= Pr_descend /= -eval_seed_at; last by apply: no_above_reach; rewrite ?sx.
  rewrite eval_reach; case E: (eval G K x) => [s|]; last by rewrite IH // reach_punctured.
  rewrite puncture_leaf // Pr_bind /Pr ex_exec_bind.
  have P z : Pr (play s0 G w (puncture G x K) (k (Some z))) =
             Pr (exec G (run w (puncture G x K) (script_of (k (Some z))))).
    by apply: IH; apply: (@forest_puncture (Leaf x)); rewrite //= sx.
  by case: w {IH} P => /= P; [apply: P | apply: eq_avg => z; apply: P].
- rewrite [play _ _ _ _ _]/= IH; last exact: forest_puncture.
  rewrite /= -(puncture_script ok F).
  by elim: (borders r) K {F} => [|x xs IHx] K //=; rewrite Pr_descend IHx.
Qed.

Lemma Pr_fs_game w (A : fs_adversary Seed d) :
  Pr (fs_game s0 G w A) = fresh w [:: [::]] (script_of A).
Proof.
rewrite /fresh ex_unifsS /=; apply: eq_avg => k /=.
exact: (play_script w A (forest_keygen k)).
Qed.

(* ---- How many expansions: at level l at most 2^l, and at most one for each border ---------- *)

Fixpoint splits_within (B : nat -> nat) (ns : seq bitseq) (c : script) : Prop :=
  match c with
  | Halt _ => True
  | Flip X x0 k => forall x, splits_within B ns (k x)
  | Split x c' =>
      if has (above x) ns then
        (0 < B (top x ns))%N /\
        splits_within (fun l => B l - (l == top x ns))%N (split_positions x ns) c'
      else splits_within B ns c'
  | Read x k =>
      if x \in ns then forall y, splits_within B [seq p <- ns | p != x] (k (Some y))
      else splits_within B ns (k None)
  | Erase r c' => splits_within B [seq p <- ns | ~~ inside d r p] c'
  end.

Lemma splits_le B B' ns c : (forall l, B l <= B' l)%N ->
  splits_within B ns c -> splits_within B' ns c.
Proof.
elim: c B B' ns => [fin|X x0 k IH|x c IH|x k IH|r c IH] B B' ns le //=.
- by move=> S x; apply: IH le (S x).
- case: ifP => _; last exact: IH.
  case=> pos S; split; first exact: leq_trans pos (le _).
  by apply: IH S => l; apply: leq_sub2r.
- by case: ifP => _ S; [move=> y; apply: IH le (S y) | apply: IH le S].
- exact: IH.
Qed.

Lemma splits_min B B' ns c : splits_within B ns c -> splits_within B' ns c ->
  splits_within (fun l => minn (B l) (B' l)) ns c.
Proof.
elim: c B B' ns => [fin|X x0 k IH|x c IH|x k IH|r c IH] B B' ns //=.
- by move=> S S' x; apply: IH.
- case: ifP => _; last exact: IH.
  case=> pos S [pos' S']; split; first by rewrite leq_min pos.
  by apply: splits_le (IH _ _ _ S S') => l; case: (leqP (B l)); rewrite ?geq_minl ?geq_minr.
- by case: ifP => _ S S'; [move=> y|]; apply: IH.
- exact: IH.
Qed.

(* all levels together *)
Definition total (B : nat -> nat) : nat := sumn [seq B l | l <- iota 0 d].

Lemma total_pred B i : (i < d)%N -> (0 < B i)%N ->
  total (fun l => B l - (l == i))%N = (total B).-1.
Proof.
move=> id pos; rewrite /total !sumnE !big_map.
have mi : i \in iota 0 d by rewrite mem_iota.
rewrite !(bigD1_seq i mi (iota_uniq 0 d)) /= eqxx subn1 -{2}(prednK pos) addSn /=.
by congr (_ + _)%N; apply: eq_bigr => l /negbTE ->; rewrite subn0.
Qed.

Lemma splits_total B ns c : shallow c -> splits_within B ns c -> splits_at_most (total B) ns c.
Proof.
elim: c B ns => [fin|X x0 k IH|x c IH|x k IH|r c IH] B ns //=.
- by move=> H S x; apply: IH.
- case=> sx H; case: ifP => [h [pos S]|_]; last exact: IH.
  have td : (top x ns < d)%N := leq_trans (top_lt h) sx.
  split; last by rewrite -(total_pred td pos); apply: IH.
  rewrite /total sumnE big_map (bigD1_seq (top x ns)) ?mem_iota ?iota_uniq //=.
  exact: leq_trans pos (leq_addr _ _).
- by move=> H; case: ifP => _ S; [move=> y|]; apply: IH.
- by move=> H; apply: IH.
Qed.

(* the nodes at level l that live nodes still have below them or are *)
Definition room (l : nat) (ns : seq bitseq) : nat :=
  sumn [seq (if size p <= l then 2 ^ (l - size p) else 0)%N | p <- ns].

Lemma room_split l x ns : has (above x) ns ->
  room l ns = (room l (split_positions x ns) + (l == top x ns))%N.
Proof.
rewrite /room; elim: ns => //= p ns IH; case: (above x p) => /= [_|/IH ->]; last by rewrite addnA.
rewrite !size_rcons addnAC addnA; congr (_ + _)%N.
case: (ltngtP (size p) l) => [pl|//|->]; last by rewrite subnn.
by rewrite addn0 addnn -mul2n -expnS subnSK.
Qed.

Lemma room_filter l (a : pred bitseq) ns : (room l (filter a ns) <= room l ns)%N.
Proof.
rewrite /room; elim: ns => //= p ns IH; case: (a p) => /=; first by rewrite leq_add2l.
exact: leq_trans IH (leq_addl _ _).
Qed.

Lemma splits_room B ns c : (forall l, room l ns <= B l)%N -> splits_within B ns c.
Proof.
elim: c B ns => [fin|X x0 k IH|x c IH|x k IH|r c IH] B ns le //=.
- by move=> x; apply: IH.
- case: ifP => h; last exact: IH.
  split; first by apply: leq_trans (le _); rewrite (room_split _ h) eqxx addn1.
  by apply: IH => l; rewrite leq_subRL ?(leq_trans _ (le l)) // (room_split l h) ?leq_addl // addnC.
- by case: ifP => _; [move=> y|]; apply: IH => // l; apply: leq_trans (room_filter _ _ _) (le l).
- by apply: IH => l; apply: leq_trans (room_filter _ _ _) (le l).
Qed.

(* one border: the nodes above it are split from top to bottom *)
Lemma unzip1_splitG x (K : key Seed) : unzip1 (splitG x K) = split_positions x (unzip1 K).
Proof. by elim: K => //= -[p s] K <- /=; case: ifP. Qed.

Lemma unzip1_filter (a : pred bitseq) (K : key Seed) :
  unzip1 [seq n <- K | a n.1] = filter a (unzip1 K).
Proof. by elim: K => //= -[p s] K <- /=; case: (a p). Qed.

Lemma splits_descend i B x K c : (size x <= d)%N -> forest K ->
  (forall K', forest K' -> splits_within B (unzip1 K') c) ->
  splits_within (fun l => B l + 1)%N (unzip1 K) (iter i (Split x) c).
Proof.
move=> sx F H.
suff D j : all (fun n => above x n.1 ==> (j <= size n.1)%N) K ->
    splits_within (fun l => B l + (j <= l))%N (unzip1 K) (iter i (Split x) c).
  by apply: splits_le (D 0%N _) => // ; apply/allP => n _; rewrite implybT.
elim: i j K F => [|i IH] j K F D /=; first by apply: splits_le (H K F) => l; apply: leq_addr.
case: ifP => h; last exact: IH.
have jt : (j <= top x (unzip1 K))%N.
  by elim: K h D {F IH} => //= n K IHK; case: ifP => //= a h /andP [].
split; first by rewrite jt addn1.
rewrite -unzip1_splitG; apply: splits_le (IH (top x (unzip1 K)).+1 _ _ _).
- move=> l; case: eqP => [->|ne]; first by rewrite jt ltnn addn0 addnK.
  rewrite subn0 leq_add2l; case: ltnP => // tl.
  by rewrite (leq_trans jt (ltnW tl)).
- exact: forest_split.
by apply: split_deeper => //; apply: top_least.
Qed.

Lemma splits_borders q (A : fs_adversary Seed d) K : moves_at_most q A -> forest K ->
  splits_within (fun _ => q) (unzip1 K) (script_of A).
Proof.
elim: A q K => [fin|X x0 k IH|x k IH|[r ok] A IH] q K //=.
- by move=> M F x; apply: IH.
- case=> q0 M F; rewrite -(prednK q0) -addn1.
  apply: splits_descend => //; first by rewrite size_tuple.
  move=> K' F' /=; case: ifP => _; last exact: IH.
  by move=> y; rewrite -unzip1_filter; apply: IH => //; apply: forest_filter.
- case=> wq M F.
  have {}wq : (q - weight r + size (borders r) <= q)%N.
    by rewrite -[X in (_ <= X)%N](subnK wq) leq_add2l borders_weight.
  apply: splits_le (fun _ => wq) _.
  elim: (borders r) K F (size_borders ok) => /= [|x xs IHx] K F.
    by rewrite addn0 -unzip1_filter => _; apply: IH => //; apply: forest_filter.
  case/andP => sx H; rewrite addnS -addn1; apply: splits_descend => // K' F'.
  exact: IHx.
Qed.

Lemma splits_script q (A : fs_adversary Seed d) : moves_at_most q A ->
  splits_at_most (expansions d q) [:: [::]] (script_of A).
Proof.
move=> M; apply: splits_total (shallow_script A) _; apply: splits_min.
  by apply: splits_room => l; rewrite /room /= subn0 addn0.
exact: (splits_borders M (forest_keygen s0)).
Qed.

Lemma total_pow2 : total (expn 2) = (2 ^ d).-1.
Proof.
by rewrite predn_exp mul1n /total sumnE big_map -{1}[d]subn0 -/(index_iota 0 d) big_mkord.
Qed.

Lemma splits_full (A : fs_adversary Seed d) :
  splits_at_most (2 ^ d).-1 [:: [::]] (script_of A).
Proof.
rewrite -total_pow2; apply: splits_total (shallow_script A) _.
by apply: splits_room => l; rewrite /room /= subn0 addn0.
Qed.

Lemma total_le B B' : (forall l, B l <= B' l)%N -> (total B <= total B')%N.
Proof.
move=> le; rewrite /total; elim: (iota 0 d) => //= l ls IH.
exact: leq_add.
Qed.

Lemma expansions_le q : (expansions d q <= q * d)%N.
Proof.
apply: leq_trans (total_le (B' := fun _ => q) _) _; first by move=> l; apply: geq_minr.
by rewrite /total sumnE big_map big_const_seq count_predT size_iota iter_addn_0.
Qed.

Lemma expansions_tree q : (expansions d q <= (2 ^ d).-1)%N.
Proof. by rewrite -total_pow2; apply: total_le => l; apply: geq_minl. Qed.

(* ---- The theorems ------------------------------------------------------------------------- *)

Notation fs_adv := (fs_adv s0 G).
Notation fs_reduction := (fs_reduction s0).
Notation fs_guess := (fs_guess s0).

Lemma fs_adv_splits N (A : fs_adversary Seed d) :
  splits_at_most N [:: [::]] (script_of A) ->
  fs_adv A = \sum_(t < N) adv (fs_reduction Real t A) - \sum_(t < N) adv (fs_reduction Ideal t A).
Proof.
move=> B; rewrite -!(hybrid _ B) /Games.fs_adv !Pr_fs_game.
by rewrite opprB addrA subrK.
Qed.

Lemma adv_flip (real : bool) R :
  adv (cbind R (fun pk => Done Seed (pk.1, fun ab =>
    cbind (pk.2 ab) (fun b => Done Seed (if real then b else ~~ b))))) =
  if real then adv R else - adv R.
Proof.
rewrite advE ex_exec_bind /=; case: real.
  rewrite advE; apply: eq_ex => -[p k] /=; apply: eq_gap => ab.
  by rewrite /Pr ex_exec_bind.
rewrite advE -[RHS]sub0r -(ex_const (exec G R) 0) -ex_sub; apply: eq_ex => -[p k] /=.
rewrite sub0r -gap_neg; apply: eq_gap => ab.
by rewrite -Pr_neg /Pr ex_exec_bind ex_bind.
Qed.

Lemma adv_guess N (A : fs_adversary Seed d) :
  (2 * N)%:R * adv (fs_guess N A) =
  \sum_(t < N) adv (fs_reduction Real t A) - \sum_(t < N) adv (fs_reduction Ideal t A).
Proof.
case: N => [|N]; first by rewrite !big_ord0 subrr mul0r.
rewrite /Reductions.fs_guess adv_Sample.
under eq_avg => real do (rewrite adv_Sample; under eq_avg => t do rewrite adv_flip).
rewrite avg_bool /= /avg card_ord sumrN mulNr -mulrBl natrM.
by rewrite mulrC mulrA !divfK // pnatr_eq0.
Qed.

(* Exact: the advantage is the sum of the PRG advantages of explicit reductions. *)
Theorem fs_adv_sum q (A : fs_adversary Seed d) : moves_at_most q A ->
  fs_adv A = \sum_(t < expansions d q) prg_adv s0 G (attack G (fs_reduction Real t A))
           - \sum_(t < expansions d q) prg_adv s0 G (attack G (fs_reduction Ideal t A)).
Proof. by move/splits_script/fs_adv_splits. Qed.

(* The same without a bound on the number of moves: the whole tree has 2^d - 1 inner nodes. *)
Theorem fs_adv_sum_tree (A : fs_adversary Seed d) :
  fs_adv A = \sum_(t < (2 ^ d).-1) prg_adv s0 G (attack G (fs_reduction Real t A))
           - \sum_(t < (2 ^ d).-1) prg_adv s0 G (attack G (fs_reduction Ideal t A)).
Proof. exact/fs_adv_splits/splits_full. Qed.

(* Exact, with one reduction that guesses. *)
Theorem fs_adv_guess q (A : fs_adversary Seed d) : moves_at_most q A ->
  fs_adv A = (2 * expansions d q)%:R * prg_adv s0 G (attack G (fs_guess (expansions d q) A)).
Proof. by move/fs_adv_sum => ->; rewrite -adv_guess. Qed.

Lemma bound_scale (N M : nat) (x eps : rat) : (N <= M)%N -> `|x| <= eps ->
  `|(2 * N)%:R * x| <= (2 * M)%:R * eps.
Proof.
move=> NM xe; rewrite normrM normr_nat le_mul ?ler0n ?normr_ge0 //.
by rewrite ler_nat leq_mul2l.
Qed.

(* q moves cost 2 q d eps: no loss for adaptivity. *)
Theorem fs_adv_bound q (A : fs_adversary Seed d) (eps : rat) : moves_at_most q A ->
  `|prg_adv s0 G (attack G (fs_guess (expansions d q) A))| <= eps ->
  `|fs_adv A| <= (2 * (q * d))%:R * eps.
Proof. by move/fs_adv_guess => -> B; apply: bound_scale (expansions_le q) B. Qed.

(* However many moves: at most 2 (2^d - 1) eps. *)
Theorem fs_adv_bound_tree (A : fs_adversary Seed d) (eps : rat) :
  `|prg_adv s0 G (attack G (fs_guess (2 ^ d).-1 A))| <= eps ->
  `|fs_adv A| <= (2 * (2 ^ d).-1)%:R * eps.
Proof. by move=> B; rewrite fs_adv_sum_tree -adv_guess; apply: bound_scale. Qed.

End ForwardSecurity.

(* The paper's PRG does not depend on the node: the constant family. *)
Section Plain.
Variable Seed : finType.
Variable s0 : Seed.
Variable g : Seed -> Seed * Seed.

Theorem prg_adv_constant D : prg_adv s0 (fun _ => g) D = plain_prg_adv s0 g (forget_node D).
Proof.
rewrite /prg_adv /prg_game /plain_prg_adv /forget_node /Pr !ex_bind /= ex_avg.
congr (_ - _); first by apply: eq_avg => s; rewrite ex_bind.
rewrite ex_avg; apply: eq_avg => a; rewrite ex_avg; apply: eq_avg => b.
by rewrite ex_bind.
Qed.

Corollary fs_adv_bound_plain d q (A : fs_adversary Seed d) (eps : rat) : moves_at_most q A ->
  let G := fun _ : bitseq => g in
  `|plain_prg_adv s0 g (forget_node (attack G (fs_guess s0 (expansions d q) A)))| <= eps ->
  `|fs_adv s0 G A| <= (2 * (q * d))%:R * eps.
Proof. by move=> B G; rewrite -prg_adv_constant; apply: fs_adv_bound. Qed.

End Plain.

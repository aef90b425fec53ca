(* SPDX-License-Identifier: Apache-2.0 *)
(* Redacted documents hide: the advantage is that of two explicit adversaries against the
   puncturable PRF, and one against the hash for each part.

   Idea. The salts of the parts in which the two documents differ are challenges, all other seeds
   that the adversary sees belong to shown parts (redact_ev_value). With uniform salts, one
   hash after the other is exchanged (mixed_value). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame DelegationGame.
From Pprf.spec Require Import TicketGame Redact.
From Pprf.proofs Require Import Compat Correctness ProbabilityFacts EvaluationSecurity DelegationSecurity TicketSecurity RedactBinding.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section RedactSecurity.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Variables (Part Hash : eqType) (Sig : Type).
Variables (p0 : Part) (h0 : Hash).
Variable H : hash_input Seed Part Hash -> Hash.
Variable sign : nat -> Hash -> prog Sig.
Implicit Types (ds : seq (Part * Part)) (cs : seq Hash) (s : Seed) (hidden : pred nat).
Local Notation same := (fun _ b => b).
Local Notation commit := (Redact.commit H).
Local Notation salt := (Redact.salt G d).
Local Notation publish := (Redact.publish G d p0 h0 H sign).
Local Notation redact_ev := (redact_ev d p0 h0 H).
Local Notation collect := (collect s0 (d:=d) H).
Local Notation mixed := (mixed s0 G d H).

Lemma leaf_ofE i : tval (leaf_of d i) = bits d i.
Proof. by rewrite /leaf_of val_insubd size_bits eqxx. Qed.

(* ---- Redactions: the leaves that were challenged have parts that differ --------------------- *)

Definition differs ds (i : nat) : bool := (nth (p0, p0) ds i).1 != (nth (p0, p0) ds i).2.

Definition covered_by ds s (st : ev_state Seed) : Prop := held st = keygen s /\
  {in tested st, forall x, [/\ size x = d, (val x < size ds)%N & differs ds (val x)]}.

Lemma redact_ev_value w s cs ds st A : covered_by ds s st ->
  Pr (interact same (ev_oracle s0 G w (keygen s)) st (redact_ev cs ds A)) =
  Pr (interact same (hide_oracle G d p0 h0 H s cs ds) tt A).
Proof.
elim: A st => [b|X x0 k IH|hidden k IH] st C //=; first by apply: eq_avg => x; apply: IH.
rewrite /hide_oracle /=; case: ifP => [ok|_]; last exact: IH.
have [Eh T] := C.
have [|st' [Eh' Et' _ ->]] := @take_keys_value _ s0 G d w (keygen s) (maximal_prefixes d (unshown (size ds) hidden)) [::] st
  (fun K => redact_ev cs ds (k (Some (redact p0 h0 H K cs (map fst ds) hidden)))).
  apply/hasPn => r rr; apply/hasPn => x xt; apply/negP => /andP [rx _]; have [sx nx Dx] := T x xt.
  have := prefixes_mem (unshown (size ds) hidden) sx; rewrite /unshown /absent leqNgt nx /=.
  have -> : has (fun r => prefix (sval r) x) (maximal_prefixes d (unshown (size ds) hidden)).
    by apply/hasP; exists r.
  move/esym/negbTE; have := allP ok (val x); rewrite mem_iota nx => /(_ isT).
  by rewrite (negbTE Dx) orbF => ->.
rewrite cat0s Eh.
have -> : flatten [seq delegate G (sval r) (keygen s) | r <- maximal_prefixes d (unshown (size ds) hidden)] =
    cover G d (unshown (size ds) hidden) [::] s.
  by rewrite -[keygen s](cover_pred0 G d [::]) prefixes_keys; apply: eq_cover.
apply: IH.
by split; rewrite ?Eh' ?Et'.
Qed.

(* The redacted documents of the game are those of the scheme: whatever is hidden, a verifier
   recomputes the root of the whole document. *)
Theorem redact_verifies s (ps : seq Part) hidden : (0 < size ps <= 2 ^ d)%N ->
  accepted H (size ps) (root_of h0 H (part_hashes G d p0 H s ps))
    (read G d p0 (redact p0 h0 H (cover G d (unshown (size ps) hidden) [::] s)
                    (part_hashes G d p0 H s ps) ps hidden)).
Proof.
set cs := part_hashes _ _ _ _ _ _; case/andP => n0 n2; have sc : size cs = size ps by rewrite size_map size_iota.
rewrite /root_of sc; set o := read _ _ _ _.
have V i : (i < size ps)%N -> view o i =
    if absent (size ps) hidden i then None else Some (salt s i, i, nth p0 ps i).
  move=> ni; have vi : val (bits d i) = i by rewrite val_bits // (leq_trans ni).
  have := @eval_cover _ G d (unshown (size ps) hidden) [::] s (bits d i) (size_bits d i).
  rewrite [view o i]/= => ->; rewrite /unshown vi; case: ifP => //.
  rewrite /absent leqNgt ni /= => nh; congr (Some (_, _)).
  set l := [seq j <- iota 0 (size ps) | ~~ hidden j].
  have il : i \in l by rewrite mem_filter nh mem_iota.
  by rewrite -!map_comp map_id_in // (nth_map 0%N) ?index_mem // nth_index.
apply: accepted_view n0 _ _ _ => [i ni|i e ni|//]; first by rewrite /conceals V //; case: ifP.
by rewrite V //; case: ifP => // _ [<-]; rewrite (nth_map 0%N) ?size_iota // nth_iota.
Qed.

(* ---- Salts ------------------------------------------------------------------------------------ *)

(* The hashes of the parts from number i on, with salts of the world w where the parts differ. *)
Fixpoint salted (w : world) (f : nat -> bool) s (i : nat) ds : prog (seq Hash) :=
  if ds is pp :: ds' then
    c <-$ (if pp.1 == pp.2 then Ret (commit (salt s i) i pp.1)
           else y <-$ answer s0 w (salt s i) ;; Ret (commit y i (side (f i) pp))) ;;
    cs <-$ salted w f s i.+1 ds' ;; Ret (c :: cs)
  else Ret [::].

Lemma ex_salted w f s i pp ds g : ex (salted w f s i (pp :: ds)) g =
  ex (if pp.1 == pp.2 then Ret (commit (salt s i) i pp.1)
      else y <-$ answer s0 w (salt s i) ;; Ret (commit y i (side (f i) pp)))
     (fun c => ex (salted w f s i.+1 ds) (fun cs => g (c :: cs))).
Proof. by rewrite /= ex_bind; apply: eq_ex => c; rewrite ex_bind. Qed.

Lemma collect_value w b s i ds0 ds cs (k : seq Hash -> ev_adversary Seed d) st F : drop i ds0 = ds -> (i + size ds = size ds0)%N ->
  (size ds0 <= 2 ^ d)%N -> covered_by ds0 s st ->
  {in tested st, forall x, val x < i}%N ->
  (forall x : bitseq, size x = d -> revealed st x -> val x < i)%N ->
  (forall cs' st', covered_by ds0 s st' ->
     Pr (interact same (ev_oracle s0 G w (keygen s)) st' (k cs')) = F cs') ->
  Pr (interact same (ev_oracle s0 G w (keygen s)) st (collect b i ds cs k)) =
  ex (salted w (fun _ => b) s i ds) (fun cs' => F (cs ++ cs')).
Proof.
move=> Ed Es n2; elim: ds i Ed Es cs st => [|pp ds IH] i Ed Es cs st C Ti Ri Ek.
  by rewrite /= cats0; apply: Ek.
have ni : (i < size ds0)%N by rewrite -Es /= addnS ltnS leq_addr.
have Ed' : drop i.+1 ds0 = ds by rewrite -addn1 addnC -drop_drop Ed /= drop0.
have Es' : (i.+1 + size ds = size ds0)%N by rewrite -Es /= addnS.
have Ei : nth (p0, p0) ds0 i = pp by rewrite -[i]addn0 -nth_drop Ed.
have vi : val (bits d i) = i by rewrite val_bits // (leq_trans ni).
have [Eh T] := C; have nt : bits d i \notin tested st by apply/negP => /Ti; rewrite vi ltnn.
have ev : eval G (keygen s) (bits d i) = Some (salt s i) by rewrite eval_keygen.
have pre (x : bitseq) : size x = d -> prefix (bits d i) x -> val x = i.
  by move=> sx; rewrite prefixE size_bits take_oversize ?sx // => /eqP ->.
rewrite ex_salted /=; case: (pp.1 =P pp.2) => E /=.
  have -> : spoils (leaf_of d i) st = false.
    apply/negbTE/hasPn => x xt; have [sx _ _] := T x xt; rewrite leaf_ofE negb_and; apply/orP; left.
    by apply/negP => /(pre _ sx) vx; have := Ti x xt; rewrite vx ltnn.
  rewrite /= Eh leaf_ofE ev /=.
  have -> : side b pp = pp.1 by rewrite /side -E; case: (b).
  rewrite (IH i.+1 Ed' Es'); first by apply: eq_ex => cs'; rewrite cat_rcons.
  - by split.
  - by move=> x /Ti /ltnW.
  - by move=> x sx /= /orP [/(Ri _ sx) /ltnW //|/andP [/(pre _ sx) -> _]].
  exact: Ek.
have -> : fresh_leaf st (leaf_of d i).
  rewrite /fresh_leaf leaf_ofE nt andbT; apply/negP => r; have := Ri _ (size_bits d i) r; by rewrite vi ltnn.
rewrite /eval_node leaf_ofE /= drop0 prefix0s !Pr_bind !ex_bind; apply: eq_ex => y /=.
rewrite (IH i.+1 Ed' Es'); first by apply: eq_ex => cs'; rewrite cat_rcons.
- split=> //= x; rewrite inE => /orP [/eqP ->|/T //]; rewrite size_bits vi; split=> //.
  by rewrite /differs Ei; apply/eqP.
- by move=> x; rewrite inE => /orP [/eqP ->|/Ti /ltnW //]; rewrite vi.
- by move=> x sx /(Ri _ sx) /ltnW.
exact: Ek.
Qed.

Variable N : nat.
Hypothesis Nd : (N <= 2 ^ d)%N.
Implicit Type A : hide_adversary Seed Part Hash Sig N.
Local Notation as_ev := (hide_as_ev s0 d p0 h0 H sign).

Definition hide_value w (f : nat -> bool) A : rat :=
  ex (unif s0) (fun s => ex A (fun dk =>
    ex (salted w f s 0 (sval dk.1)) (fun cs => Pr (publish s cs (sval dk.1) dk.2)))).

Lemma as_ev_value w b A : Pr (ev_game s0 G 0 w (as_ev b A)) = hide_value w (fun _ => b) A.
Proof.
rewrite /ev_game Pr_bind /=; apply: eq_avg => s; rewrite Pr_toss; apply: eq_ex => -[[ds dN] k] /=.
rewrite (@collect_value w b s 0 ds ds [::] _ _ (fun cs => Pr (publish s cs ds k))) ?drop0 //.
  exact: leq_trans Nd.
move=> cs st C; rewrite Pr_toss /publish Pr_bind; apply: eq_ex => sg; exact: redact_ev_value.
Qed.

Lemma hide_game_value b A : Pr (hide_game s0 G d p0 h0 H sign b A) = hide_value Real (fun _ => b) A.
Proof.
rewrite /hide_game Pr_bind /=; apply: eq_avg => s; rewrite Pr_bind; apply: eq_ex => -[[ds dN] k] /=.
have E i ds' g : ex (salted Real (fun _ => b) s i ds') g =
    g [seq commit (salt s (i + j)) (i + j) (nth p0 (map (side b) ds') j) | j <- iota 0 (size (map (side b) ds'))].
  elim: ds' i g => [|pp ds' IH] i g //; rewrite ex_salted.
  have -> : (if pp.1 == pp.2 then Ret (commit (salt s i) i pp.1)
      else y <-$ answer s0 Real (salt s i) ;; Ret (commit y i (side b pp))) =
      Ret (commit (salt s i) i (side b pp)).
    by case: eqP => // E; rewrite /side -E; case: (b).
  rewrite /= IH addn0; congr (g (_ :: _)); rewrite (iotaDl 1 0) -map_comp; apply: eq_map => j /=.
  by rewrite add1n addnS addSn.
by rewrite E.
Qed.

(* ---- One part after the other ------------------------------------------------------------------ *)

Lemma eq_salted w f1 f2 s i ds g : (forall j, i <= j < i + size ds -> f1 j = f2 j)%N ->
  ex (salted w f1 s i ds) g = ex (salted w f2 s i ds) g.
Proof.
elim: ds i g => [|pp ds IH] i g E //; rewrite !ex_salted E ?leqnn ?addnS ?ltnS ?leq_addr //.
apply: eq_ex => c; apply: IH => j /andP [ij jn]; apply: E.
by rewrite (ltnW ij) /= addnS -addSn.
Qed.

Lemma ex_mixed s j h i pp ds g : ex (mixed s j h i (pp :: ds)) g =
  ex (if pp.1 == pp.2 then Ret (commit (salt s i) i pp.1)
      else if i == j then Ret h
      else y <-$ unif s0 ;; Ret (commit y i (side (i < j)%N pp)))
     (fun c => ex (mixed s j h i.+1 ds) (fun cs => g (c :: cs))).
Proof. by rewrite /= ex_bind; apply: eq_ex => c; rewrite ex_bind. Qed.

(* after part j the challenge is not used *)
Lemma mixed_after s j h i ds g : (j < i)%N ->
  ex (mixed s j h i ds) g = ex (salted Ideal (fun _ => false) s i ds) g.
Proof.
elim: ds i g => [|pp ds IH] i g ji //; rewrite ex_mixed ex_salted gtn_eqF // ltnNge (ltnW ji) /=.
by apply: eq_ex => c; apply: IH; apply: ltnW.
Qed.

Lemma mixed_value s (b : bool) j i ds g : (i <= j)%N ->
  avg (fun y => ex (mixed s j (commit y j (side b (nth (p0, p0) ds (j - i)))) i ds) g) =
  ex (salted Ideal (fun l => l < j + b)%N s i ds) g.
Proof.
elim: ds i g => [|pp ds IH] i g ij; first by rewrite /= (avg_const s0).
under eq_avg => y do rewrite ex_mixed.
rewrite ex_salted; case: (pp.1 == pp.2) => /=.
  case: (ltngtP i j) ij => // [lt|->] _.
    by rewrite -(IH i.+1) //; apply: eq_avg => y; rewrite -[(j - i)%N]subnSK.
  under eq_avg => y do rewrite mixed_after //.
  rewrite (avg_const s0); apply: eq_salted => l /andP [jl _]; apply/esym/negbTE; rewrite -leqNgt.
  by rewrite (leq_trans _ jl) // -addn1 leq_add2l leq_b1.
case: (ltngtP i j) ij => // [lt|->] _ /=.
  rewrite avg_swap; apply: eq_avg => z.
  rewrite ltn_addr // -(IH i.+1) //; apply: eq_avg => y; by rewrite -[(j - i)%N]subnSK.
apply: eq_avg => y; rewrite subnn /= mixed_after //.
have -> : (j < j + b)%N = b by case: (b); rewrite ?addn1 ?addn0 ?leqnn ?ltnn.
apply: eq_salted => l /andP [jl _]; apply/esym/negbTE; rewrite -leqNgt.
by rewrite (leq_trans _ jl) // -addn1 leq_add2l leq_b1.
Qed.

Lemma exchange_value b j A :
  Pr (commit_game s0 H b (exchange s0 G d p0 h0 H sign j A)) =
  hide_value Ideal (fun l => l < j + b)%N A.
Proof.
rewrite /commit_game !Pr_bind /exchange ex_bind; apply: eq_ex => s; rewrite ex_bind.
apply: eq_ex => -[[ds dN] k]; rewrite [ex (Ret _) _]/= -mixed_value // subn0; apply: eq_avg => y.
exact: Pr_bind.
Qed.

(* Exact. *)
Theorem hide_adv_sum A : hide_adv s0 G d p0 h0 H sign A =
  ev_adv s0 G 0 (as_ev true A) - ev_adv s0 G 0 (as_ev false A) +
  \sum_(j < N) commit_adv s0 H (exchange s0 G d p0 h0 H sign j A).
Proof.
have -> : \sum_(j < N) commit_adv s0 H (exchange s0 G d p0 h0 H sign j A) =
    hide_value Ideal (fun _ => true) A - hide_value Ideal (fun _ => false) A.
  pose V j := hide_value Ideal (fun l => l < j)%N A.
  transitivity (\sum_(0 <= j < N) (V j.+1 - V j)).
    by rewrite big_mkord; apply: eq_bigr => j _; rewrite /commit_adv !exchange_value addn1 addn0.
  rewrite telescope_sumr //; congr (_ - _); apply: eq_ex => s; apply: eq_ex => -[[ds dN] k] /=.
  by apply: eq_salted => l /andP [_ ld]; rewrite (leq_trans ld).
rewrite /hide_adv /ev_adv !hide_game_value !as_ev_value.
set r1 := hide_value Real _ A; set r0 := hide_value Real _ A.
set i1 := hide_value Ideal _ A; set i0 := hide_value Ideal _ A.
by rewrite opprB -addrA [i0 - r0 + _]addrC addrA [r1 - i1 + _]addrA subrK addrA subrK.
Qed.

Lemma hide_as_ev_in b A : challenges_in (first_leaves 0 N) (as_ev b A).
Proof.
have T X (c : prog X) f : (forall t, challenges_in (first_leaves 0 N) (f t)) ->
    challenges_in (first_leaves 0 N) (@toss _ (@ev_reply Seed d) X c f).
  by move=> F; elim: c => //= Y y0 k IH y; apply: IH.
apply: (T) => -[[ds dN] k] /=.
have R cs B : challenges_in (first_leaves 0 N) (redact_ev cs ds B).
  elim: B => [c|X x0 f IH|hidden f IH] //=; case: ifP => _ //.
  by elim: (maximal_prefixes _ _) [::] => [|r rs IHr] K //=; split.
have : (0 + size ds <= N)%N by [].
elim: {1 2}ds {1 3}0%N [::] => [|pp ds' IH] i cs le /=.
  by apply: T => sg; apply: R.
have le' : (i.+1 + size ds' <= N)%N by rewrite addSn -addnS.
have iN : (i < N)%N by rewrite (leq_trans _ le') // addSn ltnS leq_addr.
case: ifP => _; split=> //=; first by move=> y; apply: IH.
  by rewrite /first_leaves drop0 leaf_ofE val_bits // (leq_trans iN).
by move=> y; apply: IH.
Qed.

(* At most N parts: 4 (N + d - 1) PRG advantages and N advantages against the hash. *)
Theorem hide_adv_bound A (eps eps' : rat) :
  (forall b, `|prg_adv s0 G (attack G (ev_guess s0 0 (first_leaves 0 N) (as_ev b A)))| <= eps) ->
  (forall j, `|commit_adv s0 H (exchange s0 G d p0 h0 H sign j A)| <= eps') ->
  `|hide_adv s0 G d p0 h0 H sign A| <= (2 * (2 * (N + d).-1))%:R * eps + N%:R * eps'.
Proof.
move=> B C; rewrite hide_adv_sum.
have norm_add (x y : rat) : `|x + y| <= `|x| + `|y|.
  by have := norm_sub_le x (- y); rewrite opprK normrN.
apply: le_trans (norm_add _ _) _; apply: le_add; last first.
  exact: (@norm_sum_le N (fun j => commit_adv s0 H (exchange s0 G d p0 h0 H sign j A)) eps' (fun j _ => C j)).
apply: le_trans (norm_sub_le _ _) _; rewrite [X in X%:R]mul2n -addnn natrD mulrDl.
have E b : `|ev_adv s0 G 0 (as_ev b A)| <= (2 * (N + d).-1)%:R * eps.
  exact: ev_adv_bound_first (hide_as_ev_in b A) (B b).
by apply: le_add.
Qed.

End RedactSecurity.

(* SPDX-License-Identifier: Apache-2.0 *)
(* From all pages ever written and the newest cell exactly the live pages can be derived
   (vault_derives), so what is erased is gone for good, and the game of EvaluationGame.v for a vault
   has that game's bounds. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame Vault.
From Pprf.proofs Require Import Correctness ProbabilityFacts EvaluationSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Section Pages.
Variable Item : eqType.
Implicit Types (f t : forest Item) (p : page Item) (v : vault Item) (x : term Item).

(* ---- Pages that are written -------------------------------------------------------------------- *)

Lemma find_pageP t k xs kids : find_page t k = Some (xs, kids) ->
  (k, (xs, roots kids)) \in pages t /\ {subset pages kids <= pages t}.
Proof.
elim: t => [|k' ys c IHc r IHr] //=; case: (k' =P k) => [->|_].
  by case=> -> ->; split=> [|p pk]; rewrite inE ?eqxx // mem_cat pk orbT.
case E: (find_page c k) => [q|]; move=> F.
  rewrite E F in IHc; have [m s] := IHc erefl.
  by split=> [|p /s pc]; rewrite inE mem_cat ?m ?pc /= ?orbT.
have [m s] := IHr F.
by split=> [|p /s pr]; rewrite inE mem_cat ?m ?pr !orbT.
Qed.

(* Pages of the next tree are kept ones, or have a key from n on, each its own. *)
Lemma write_pages t n dr : {in pages t, forall p, (p.1 < n)%N} ->
  let: (f, m) := write t n dr in
  [/\ (n <= m)%N, {in pages f, forall p, p \in pages t \/ (n <= p.1 < m)%N} &
      {in pages f &, forall p q, p.1 = q.1 -> (n <= p.1)%N -> p = q}].
Proof.
elim: dr n => [|k b IHb|xs u IHu b IHb] n old /=; first by [].
  case W: (write t n b) => [f m]; have := IHb n old; rewrite W => -[nm new one].
  case F: (find_page t k) => [[xs kids]|] //; have [kt sub] := find_pageP F.
  have kept p : p \in (k, (xs, roots kids)) :: pages kids -> p \in pages t.
    by rewrite inE => /orP [/eqP ->|/sub].
  have split_in p : p \in pages (Page k xs kids f) -> p \in pages t \/ p \in pages f.
    by rewrite /= inE mem_cat orbA => /orP [pk|]; [left; apply: kept | right].
  split=> // [p /split_in [pt|/new //]|p q /split_in [/old pn|pf] qs E np]; first by left.
    by rewrite ltnNge np in pn.
  by case/split_in: qs => [/old|qf]; [rewrite -E ltnNge np | apply: one].
case U: (write t n.+1 u) => [c m]; have oldS : {in pages t, forall p, (p.1 < n.+1)%N}.
  by move=> p /old /ltnW.
have := IHu n.+1 oldS; rewrite U => -[nm newc onec].
case W: (write t m b) => [f m']; have oldm : {in pages t, forall p, (p.1 < m)%N}.
  by move=> p /old pn; apply: leq_trans pn (ltnW nm).
have := IHb m oldm; rewrite W => -[mm newf onef].
have range p : p \in pages (Page n xs c f) -> p \notin pages t ->
    [\/ p = (n, (xs, roots c)), p \in pages c /\ (n < p.1 < m)%N | p \in pages f /\ (m <= p.1 < m')%N].
  rewrite /= inE mem_cat => /or3P [/eqP ->|pc|pf] nt; first by constructor 1.
    by constructor 2; split=> //; case: (newc _ pc) => // pt; rewrite pt in nt.
  by constructor 3; split=> //; case: (newf _ pf) => // pt; rewrite pt in nt.
split=> [|p|p q]; first exact: leq_trans (ltnW nm) mm.
  case: (boolP (p \in pages t)) => [|nt]; first by left.
  move=> /range /(_ nt) [->|[_ /andP [a b']]|[_ /andP [a b']]]; right => /=.
  - by rewrite leqnn (leq_trans nm mm).
  - by rewrite (ltnW a) (leq_trans b' mm).
  - by rewrite b' andbT (leq_trans (ltnW nm) a).
move=> pf qf E np; have nt r : (n <= r.1)%N -> r \notin pages t.
  by move=> nr; apply/negP => /old; rewrite ltnNge nr.
have np' := nt p np; rewrite E in np; have nq' := nt q np.
case: (range p pf np') E => [->|[pc /andP [a b']]|[pf' /andP [a b']]];
  case: (range q qf nq') => [->|[qc /andP [a1 b1]]|[qf' /andP [a1 b1]]] //= E.
- by rewrite -E ltnn in a1.
- by rewrite -E leqNgt nm in a1.
- by rewrite E ltnn in a.
- by apply: onec => //; apply: ltnW.
- by rewrite E ltnNge a1 in b'.
- by rewrite E leqNgt nm in a.
- by rewrite E leqNgt b1 in a.
by apply: onef => //; rewrite E.
Qed.

(* ---- Every history of commits ------------------------------------------------------------------- *)

(* Keys on disk were used; each belongs to one page; the live pages are on disk. *)
Definition sound v : Prop :=
  [/\ {in disk v, forall p, p.1 < unused v}%N, {in disk v &, forall p q, p.1 = q.1 -> p = q} &
      {subset pages (live v) <= disk v}].

Lemma sound_commit v dr : sound v -> sound (commit v dr).
Proof.
case=> old one sub; rewrite /commit.
have := @write_pages (live v) (unused v) dr (fun p pl => old p (sub p pl)).
case: (write _ _ _) => [f m] [nm new onef]; split=> [p|p q|p pf] /=; last by rewrite mem_cat pf.
  by rewrite mem_cat => /orP [/new [/sub /old|/andP [] //]|/old]; move/leq_trans; apply.
have known r : r \in pages f -> r \in disk v \/ (unused v <= r.1)%N.
  by case/new => [/sub|/andP []]; [left | right].
rewrite !mem_cat => /orP [pf|pd] /orP [qf|qd] E; last exact: one.
- case: (known p pf) => [pd|np]; last exact: onef.
  case: (known q qf) => [qd|nq]; first exact: one.
  by have := old p pd; rewrite E ltnNge nq.
- by case: (known p pf) => [pd|np]; [apply: one | have := old q qd; rewrite -E ltnNge np].
by case: (known q qf) => [qd|nq]; [apply: one | have := old p pd; rewrite E ltnNge nq].
Qed.

Lemma sound_after drs : sound (vault_after drs).
Proof.
rewrite /vault_after; have : sound (new_vault Item) by split.
by elim: drs (new_vault Item) => //= dr drs IH v s; apply: IH; apply: sound_commit.
Qed.

Lemma page_keysE k xs kids rest j : (j \in page_keys (Page k xs kids rest)) =
  [|| j == k, j \in page_keys kids | j \in page_keys (rest : forest Item)].
Proof. by rewrite /page_keys /= inE map_cat mem_cat. Qed.

Lemma roots_keys f : {subset roots f <= page_keys f}.
Proof.
by elim: f => // k xs kids _ rest IH j; rewrite page_keysE inE => /orP [->|/IH ->]; rewrite ?orbT.
Qed.

Lemma keys_below f p : p \in pages f -> {subset p.2.2 <= page_keys f}.
Proof.
elim: f => // k xs kids IHk rest IHr; rewrite /= inE mem_cat => /or3P [/eqP -> j /roots_keys jk|/IHk s j /s jk|/IHr s j /s jk];
  by rewrite page_keysE jk ?orbT.
Qed.

Lemma in_page p x : List.In x (map (@Plain Item) p.2.1 ++ map (@Key Item) p.2.2) <->
  (exists2 y, y \in p.2.1 & x = Plain y) \/ (exists2 k, k \in p.2.2 & x = Key Item k).
Proof.
case: p => k [xs ks] /=; split.
  case/(List.in_app_or _ _ _) => /List.in_map_iff [y [<- /In_mem yi]]; [left | right]; by exists y.
have M (T : eqType) (y : T) l : y \in l -> List.In y l.
  by elim: l => //= z l IH; rewrite inE => /orP [/eqP ->|/IH]; [left | right].
by case=> -[y yi ->]; apply: List.in_or_app; [left | right]; apply: List.in_map; apply: M.
Qed.

(* What can be known: keys and items of live pages, and what is sealed with other keys. *)
Fixpoint open_to f x : Prop :=
  match x with
  | Key k => k \in page_keys f
  | Plain y => y \in items f
  | Sealed k xs => k \in page_keys f -> foldr (fun u P => open_to f u /\ P) True xs
  end.

Lemma open_all f xs : foldr (fun u P => open_to f u /\ P) True xs <-> forall x, List.In x xs -> open_to f x.
Proof.
elim: xs => [|x xs IH] /=; first by split.
split=> [[ox /IH H] y [<-//|]|H]; first exact: H.
by split; [apply: H; left | apply/IH => y yi; apply: H; right].
Qed.

(* For every history: from all pages ever written and the newest cell, exactly the keys and the
   items of the live pages. *)
Theorem vault_derives (drs : seq (draft Item)) :
  (forall k, derives (stolen (vault_after drs)) (Key Item k) <-> k \in page_keys (live (vault_after drs))) /\
  (forall y, derives (stolen (vault_after drs)) (Plain y) <-> y \in items (live (vault_after drs))).
Proof.
move: (vault_after drs) (sound_after drs) => v [old one sub]; set f := live v in sub *.
have up x : derives (stolen v) x -> open_to f x.
  elim=> {x} [_ [[p pd ->]|[k kr ->]]|k xs z _ os _ ok|k xs _ _ _ oa].
  - rewrite /seal /= => /mapP [q qf E]; rewrite (one _ _ pd (sub _ qf) E); apply/open_all => z.
    case/in_page => -[y yi ->] /=; last exact: keys_below qf _ yi.
    by apply/flattenP; exists q.2.1 => //; apply: map_f.
  - exact: roots_keys.
  - by move/open_all: (os ok); apply.
  - by move=> _; apply/open_all.
have keys_down t : {subset roots t <= roots f} \/ (forall k, k \in roots t -> derives (stolen v) (Key Item k)) ->
    {subset pages t <= disk v} -> forall p, p \in pages t -> derives (stolen v) (Key Item p.1).
  move=> H; have {H} : forall k, k \in roots t -> derives (stolen v) (Key Item k).
    by case: H => // s k /s kf; apply: Given; right; exists k.
  elim: t => // k xs kids IHk rest IHr R S p; rewrite /= inE mem_cat => /or3P [/eqP ->|pk|pr].
  - by apply: R; rewrite mem_head.
  - apply: IHk pk => [j jk|q qk]; last by apply: S; rewrite /= inE mem_cat qk orbT.
    apply: (@Opens _ _ k (map (@Plain Item) xs ++ map (@Key Item) (roots kids))).
    + by apply: Given; left; exists (k, (xs, roots kids)) => //; apply: S; rewrite /= mem_head.
    + by apply: R; rewrite mem_head.
    by apply/(in_page (k, (xs, roots kids))); right; exists j.
  by apply: IHr pr => [j jr|q qr]; [apply: R; rewrite inE jr orbT | apply: S; rewrite /= inE mem_cat qr !orbT].
have {keys_down} down p : p \in pages f -> derives (stolen v) (Key Item p.1).
  by apply: keys_down sub _; left.
split=> [k|y]; split=> [/up //|]; first by case/mapP => p pf ->; apply: down.
case/flattenP => _ /mapP [p pf ->] yp.
apply: (@Opens _ _ p.1 (map (@Plain Item) p.2.1 ++ map (@Key Item) p.2.2)); last by apply/in_page; left; exists y.
  by apply: Given; left; exists p => //; apply: sub.
exact: down.
Qed.

End Pages.

(* ---- A vault that holds a key -------------------------------------------------------------------- *)

Section Game.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Variable plan : region -> vault (node_of Seed) -> draft (node_of Seed).
Hypothesis plan_ok : faithful G d plan.
Implicit Type A : ev_adversary Seed d.

Lemma erase_all_items rs v : all (region_ok d) rs ->
  items (live (erase_all plan rs v)) = puncture_regions G rs (items (live v) : key Seed).
Proof.
elim: rs v => //= r rs IH v /andP [ok oks].
by rewrite -[puncture_regions G _ _]/(puncture_regions G rs (puncture_region G r _)) -plan_ok // IH.
Qed.

Lemma erase_all_history s rs : exists drs, erase_all plan rs (set_up s) = vault_after drs.
Proof.
have [drs E] : exists drs, set_up s = vault_after drs by exists [:: Write (keygen s : seq (node_of Seed)) (Done _) (Done _)].
elim: rs (set_up s) drs E => [|r rs IH] v drs E; first by exists drs.
apply: (IH _ (rcons drs (plan r v))); by rewrite /vault_after foldl_rcons -/(vault_after drs) -E.
Qed.

(* What is derived from all pages ever written and the newest cell is the cover of the leaves that
   are not erased, and no node above an erased leaf. *)
Theorem vault_cover s (rs : seq region) : all (region_ok d) rs ->
  (forall n, derives (stolen (erase_all plan rs (set_up s))) (Plain n) <->
             n \in (cover G d (punctured rs) [::] s : seq (node_of Seed))) /\
  (forall (n : node_of Seed) (x : bitseq), derives (stolen (erase_all plan rs (set_up s))) (Plain n) ->
     size x = d -> punctured rs x -> ~~ prefix n.1 x).
Proof.
move=> ok; have [drs E] := erase_all_history s rs.
have D n : derives (stolen (erase_all plan rs (set_up s))) (Plain n) <->
    n \in (cover G d (punctured rs) [::] s : seq (node_of Seed)).
  by rewrite -(puncture_regions_canonical G s ok) -[keygen s]/(items (live (set_up s)) : key Seed)
    -erase_all_items // E; apply: (proj2 (vault_derives drs)).
split=> // n x /D ni sx px; apply: (@no_ancestor _ G d (punctured rs) s n.1 x) => //.
exact: map_f.
Qed.

Lemma vault_value w K0 v r t A :
  Pr (interact (fun _ b => b) (vault_oracle s0 G plan w K0) (v, (r, t)) A) =
  Pr (interact (fun _ b => b) (ev_oracle s0 G w K0) (State (items (live v) : key Seed) r t) A).
Proof.
elim: A v r t => [b|X x0 k IH|[x|[r' ok]|x|p] k IH] v r t //=; first by apply: eq_avg => z; apply: IH.
- by rewrite /vault_oracle /=; case: ifP => _ /=; apply: IH.
- by rewrite IH plan_ok.
- rewrite /vault_oracle /=; case: ifP => _ /=; last exact: IH.
  by rewrite !Pr_bind !ex_bind; apply: eq_ex => y; apply: IH.
by rewrite /vault_oracle /=; case: ifP => _ /=; apply: IH.
Qed.

(* Exact. *)
Theorem vault_adv_ev A : vault_adv s0 G plan A = ev_adv s0 G 0 A.
Proof.
have E w : Pr (vault_game s0 G plan w A) = Pr (ev_game s0 G 0 w A).
  by rewrite /vault_game /ev_game !Pr_bind /=; apply: eq_avg => s; apply: vault_value.
by rewrite /vault_adv !E.
Qed.

(* The bound of ev_adv_bound_tree: an erased leaf stays pseudorandom. *)
Theorem vault_adv_bound A (eps : rat) :
  `|prg_adv s0 G (attack G (ev_guess s0 0 predT A))| <= eps ->
  `|vault_adv s0 G plan A| <= (2 * (2 ^ d).-1)%:R * eps.
Proof. by rewrite vault_adv_ev; apply: ev_adv_bound_tree. Qed.

End Game.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Correctness: a punctured key is the cover of its punctured set, whatever the kinds and order
   of punctures, and evaluates exactly the other leaves. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Compat.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Leaf sets ---------------------------------------------------------------------- *)

Lemma eq_has_leaf d P Q : (forall x, size x = d -> P x = Q x) -> has_leaf d P = has_leaf d Q.
Proof.
elim: d P Q => [|d IH] P Q E /=; first by rewrite E.
by rewrite (IH (below P false) (below Q false)) ?(IH (below P true) (below Q true)) // => x sx;
   apply: E; rewrite /= sx.
Qed.

Lemma has_leafP d (P : pred bitseq) : reflect (exists2 x, size x = d & P x) (has_leaf d P).
Proof.
elim: d P => [|d IH] P /=.
  apply: (iffP idP) => [Px|[x /eqP]]; first by exists [::].
  by rewrite size_eq0 => /eqP ->.
apply: (iffP orP) => [[/IH|/IH] [x sx Px]|[[//|b x] /= [sx] Px]].
- by exists (false :: x) => //=; rewrite sx.
- by exists (true :: x) => //=; rewrite sx.
- by case: b Px => Px; [right | left]; apply/IH; exists x.
Qed.

Lemma no_leafP d (P : pred bitseq) : reflect (forall x, size x = d -> P x = false) (~~ has_leaf d P).
Proof.
apply: (iffP negP) => [n x sx|n /has_leafP [x /n -> //]].
by apply/negP => Px; apply: n; apply/has_leafP; exists x.
Qed.

Lemma has_leaf_card d P : has_leaf d P = (0 < card d P).
Proof.
elim: d P => [|d IH] P; rewrite /card /=; first by case: (P [::]).
by rewrite size_cat !size_map addn_gt0 !IH.
Qed.

Lemma has_leaf_pred0 d : has_leaf d pred0 = false.
Proof. by apply/negbTE/no_leafP. Qed.

Lemma has_leaf_pred1 x : has_leaf (size x) (pred1 x).
Proof. by apply/has_leafP; exists x => //=. Qed.

Lemma size_pts d P : all (fun x => size x == d) (pts d P).
Proof.
elim: d P => [|d IH] P /=; first by case: (P [::]).
by rewrite all_cat !all_map; apply/andP; split; apply: sub_all (IH _) => x /=; rewrite eqSS.
Qed.

Lemma mem_pts d (P : pred bitseq) x : (x \in pts d P) = (size x == d) && P x.
Proof.
elim: d P x => [|d IH] P x /=.
  by rewrite size_eq0; case: x => [|b x]; case: (P [::]); rewrite ?inE.
rewrite mem_cat; case: x => [|b x].
  by apply/norP; split; apply/mapP => -[].
have inj c : injective (cons c : bitseq -> bitseq) by move=> ? ? [].
have M c r : (b :: x \in [seq c :: y | y <- r]) = (b == c) && (x \in r).
  apply/mapP/andP => [[y yr [-> ->]]|[/eqP -> xr]]; first by rewrite eqxx.
  by exists x.
by rewrite !M !IH /= eqSS /below; case: (b); rewrite ?orbF.
Qed.

Lemma below_pred1 b b' (x : bitseq) :
  below (pred1 (b :: x)) b' =1 if b == b' then pred1 x else pred0.
Proof. by move=> y; rewrite /below /= eqseq_cons eq_sym; case: (b == b'). Qed.

Lemma prefix_diverge (p x q : bitseq) b :
  prefix (rcons p (~~ b)) q -> prefix q (p ++ b :: x) = false.
Proof.
case/prefixP => y ->; apply/negbTE/negP => /prefixP [z].
rewrite -!cats1 -!catA => /eqP; rewrite eqseq_cat // eqxx /= eqseq_cons.
by case: b.
Qed.

Lemma prefix_anti (p q : bitseq) : prefix p q -> prefix q p -> p = q.
Proof.
by rewrite prefixE => /eqP Ep /size_prefix le; rewrite -Ep take_oversize.
Qed.

Lemma prefix_total (p q y : bitseq) :
  prefix p y -> prefix q y -> size p <= size q -> prefix p q.
Proof. by rewrite !prefixE => py /eqP E l; rewrite -E take_of_take. Qed.

(* ---- Leaf order --------------------------------------------------------------------- *)

Lemma leaf_le_refl x : leaf_le x x.
Proof. by elim: x => //= b x ->; rewrite eqxx. Qed.

Lemma leaf_le_cat p q x y : size p = size q ->
  leaf_le (p ++ x) (q ++ y) = if p == q then leaf_le x y else leaf_le p q.
Proof.
elim: p q => [|a p IH] [|b q] //= [/IH ->]; rewrite eqseq_cons.
by case: (a =P b).
Qed.

Lemma leaf_le_anti x y : size x = size y -> leaf_le x y -> leaf_le y x -> x = y.
Proof.
elim: x y => [|a x IH] [|b y] //= [s]; rewrite (eq_sym b).
case: eqP => [-> xy yx|]; first by rewrite (IH y).
by case: a b => -[].
Qed.

Lemma val_rcons p b : val (rcons p b) = b + (val p).*2.
Proof. by rewrite /val -cats1 foldl_cat. Qed.

Lemma val_cat p q : val (p ++ q) = val p * 2 ^ size q + val q.
Proof.
elim/last_ind: q => [|q b IH]; first by rewrite cats0 muln1 addn0.
by rewrite -rcons_cat !val_rcons IH size_rcons doubleD expnS mulnCA -mul2n addnCA.
Qed.

Lemma val_cons b p : val (b :: p) = b * 2 ^ size p + val p.
Proof. by rewrite -cat1s val_cat /val /= addn0. Qed.

Lemma val_lt p : val p < 2 ^ size p.
Proof.
elim: p => [//|b p IH]; rewrite val_cons /= expnS mul2n -addnn.
by case: b; rewrite ?mul1n ?mul0n ?add0n ?ltn_add2l // (leq_trans IH) // leq_addl.
Qed.

Lemma val_inj p q : size p = size q -> val p = val q -> p = q.
Proof.
elim/last_ind: p q => [|p b IH] q; elim/last_ind: q => [|q c _] //; rewrite ?size_rcons //.
rewrite !val_rcons => -[s] E.
have Eb : b = c by move: (congr1 odd E); rewrite !oddD !odd_double !addbF !oddb.
by move: E; rewrite Eb => /addnI /double_inj /(IH _ s) ->.
Qed.

(* leaf_le is the order of the integers. *)
Lemma leaf_le_val x y : size x = size y -> leaf_le x y = (val x <= val y).
Proof.
elim: x y => [|a x IH] [|b y] //= [s]; rewrite !val_cons -s.
have := val_lt x; have := val_lt y; rewrite -s.
by case: a b => -[] /= ly lx; rewrite ?mul1n ?mul0n ?add0n ?leq_add2l ?IH //;
   [rewrite leqNgt (leq_trans ly) ?leq_addr | rewrite (leq_trans (ltnW lx)) ?leq_addr].
Qed.

Lemma size_bits d n : size (bits d n) = d.
Proof. by elim: d n => //= d IH n; rewrite size_rcons IH. Qed.

Lemma bits_val p : bits (size p) (val p) = p.
Proof.
elim/last_ind: p => [//|p b IH]; rewrite size_rcons val_rcons /=.
by rewrite half_bit_double IH oddD odd_double addbF oddb.
Qed.

Lemma val_bits d n : n < 2 ^ d -> val (bits d n) = n.
Proof.
elim: d n => [|d IH] n /=; first by case: n.
rewrite expnS mul2n => h; rewrite val_rcons IH ?odd_double_half //.
by rewrite -ltn_double (leq_ltn_trans _ h) // -{2}[n]odd_double_half leq_addl.
Qed.

Section Correctness.

Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Implicit Types (d e : nat) (p q x y : bitseq) (xs ys : seq bitseq) (rs : seq region).
Implicit Types (K : key Seed) (n : node Seed) (s k : Seed) (P Q : pred bitseq).

Local Notation child := (child G).
Local Notation descend := (descend G).
Local Notation ggm := (ggm G).
Local Notation eval := (eval G).
Local Notation copath := (copath G).
Local Notation puncture := (puncture G).
Local Notation puncture_all := (puncture_all G).
Local Notation delegate := (delegate G).
Local Notation cover := (cover G).

Lemma descend_cat p s x y : descend p s (x ++ y) = descend (p ++ x) (descend p s x) y.
Proof.
elim: x p s => [|b x IH] p s; first by rewrite cats0.
by rewrite /= IH cat_rcons.
Qed.

(* ---- The cover ---------------------------------------------------------------------- *)

Lemma eq_cover d P Q p s : (forall x, size x = d -> P x = Q x) -> cover d P p s = cover d Q p s.
Proof.
elim: d P Q p s => [|d IH] P Q p s E; first by rewrite /= E.
have E' b x : size x = d -> below P b x = below Q b x by move=> sx; apply: E; rewrite /= sx.
move: (eq_has_leaf E) => /= ->.
by rewrite (IH _ _ _ _ (E' false)) (IH _ _ _ _ (E' true)).
Qed.

Lemma cover_no_leaf d P p s : ~~ has_leaf d P -> cover d P p s = [:: (p, s)].
Proof. by case: d => [|d] /= /negbTE ->. Qed.

Lemma cover_has_leafS d P p s : has_leaf d.+1 P ->
  cover d.+1 P p s = cover d (below P false) (rcons p false) (child p false s) ++
                     cover d (below P true) (rcons p true) (child p true s).
Proof. by move=> /= ->. Qed.

Lemma cover_pred0 d p s : cover d pred0 p s = [:: (p, s)].
Proof. by rewrite cover_no_leaf ?has_leaf_pred0. Qed.

Lemma cover_predT d p s : cover d predT p s = [::].
Proof.
elim: d p s => // d IH p s; rewrite cover_has_leafS ?IH //.
by apply/has_leafP; exists (nseq d.+1 false); rewrite ?size_nseq.
Qed.

Lemma cover_prefix d P p s : all (fun n => prefix p n.1) (cover d P p s).
Proof.
elim: d P p s => [|d IH] P p s /=; first by case: ifP => _ //=; rewrite prefix_refl.
case: ifP => _ /=; last by rewrite prefix_refl.
rewrite all_cat; apply/andP; split;
  by apply: sub_all (IH _ _ _) => n; apply: prefix_trans; rewrite prefix_rcons.
Qed.

Lemma cover_size d P p s : all (fun n => size n.1 <= size p + d) (cover d P p s).
Proof.
elim: d P p s => [|d IH] P p s /=; first by case: ifP => _ //=; rewrite addn0 leqnn.
case: ifP => _ /=; last by rewrite leq_addr.
by rewrite all_cat; apply/andP; split; apply: sub_all (IH _ _ _) => n; rewrite size_rcons addSnnS.
Qed.

Lemma mem_cover_prefix d P p s q : q \in map fst (cover d P p s) -> prefix p q.
Proof. by apply: allP; rewrite all_map; apply: cover_prefix. Qed.

(* Each node of a key's cover holds its GGM seed. *)
Lemma cover_seed d P p s n : List.In n (cover d P p s) -> n.2 = descend p s (drop (size p) n.1).
Proof.
elim: d P p s => [|d IH] P p s /=.
  by case: ifP => _ //= [<-|//] /=; rewrite drop_size.
case: ifP => _ /=; last by case=> [<-|//] /=; rewrite drop_size.
have I b : List.In n (cover d (below P b) (rcons p b) (child p b s)) ->
           n.2 = descend p s (drop (size p) n.1).
  move=> ni; rewrite (IH _ _ _ ni).
  have : prefix (rcons p b) n.1.
    have := cover_prefix d (below P b) (rcons p b) (child p b s).
    elim: (cover _ _ _ _) ni => //= m K IHK [->|ni] /andP [] // _.
    exact: IHK.
  by case/prefixP => y ->; rewrite drop_size_cat // cat_rcons drop_size_cat.
by move=> ni; case: (List.in_app_or _ _ _ ni) => /I.
Qed.

Lemma copath_cover p s x : copath p s x = cover (size x) (pred1 x) p s.
Proof.
elim: x p s => [|b x IH] p s //; rewrite cover_has_leafS; last exact: (has_leaf_pred1 (b :: x)).
have E b' q t : cover (size x) (below (pred1 (b :: x)) b') q t =
                cover (size x) (if b == b' then pred1 x else pred0) q t.
  by apply: eq_cover => y _; rewrite below_pred1.
by rewrite !E; case: b {E} => /=; rewrite IH cover_pred0.
Qed.

Lemma copath_split p s x : copath p s x = copath_left G p s x ++ copath_right G p s x.
Proof. by elim: x p s => [|[] x IH] p s //=; rewrite IH ?catA. Qed.

Lemma copath_left_cover p s x :
  copath_left G p s x = cover (size x) (fun y => leaf_le x y) p s.
Proof.
elim: x p s => [|b x IH] p s //; rewrite cover_has_leafS; last first.
  by apply/has_leafP; exists (b :: x); rewrite ?leaf_le_refl.
case: b => /=; rewrite IH.
  by rewrite [X in _ = X ++ _]cover_no_leaf //; apply/no_leafP.
by rewrite [X in _ = _ ++ X]cover_predT cats0.
Qed.

Lemma copath_right_cover p s x :
  copath_right G p s x = cover (size x) (fun y => leaf_le y x) p s.
Proof.
elim: x p s => [|b x IH] p s //; rewrite cover_has_leafS; last first.
  by apply/has_leafP; exists (b :: x); rewrite ?leaf_le_refl.
case: b => /=; rewrite IH.
  by rewrite [X in _ = X ++ _]cover_predT.
by rewrite [X in _ = _ ++ X]cover_no_leaf //; apply/no_leafP.
Qed.

Lemma copath_range_cover p s x y : size x = size y -> leaf_le x y ->
  copath_left G p s x ++ copath_right G p s y =
  cover (size x) (fun z => leaf_le x z && leaf_le z y) p s.
Proof.
elim: x p s y => [|a x IH] p s [|b y] //= [sxy]; rewrite -/(has_leaf _.+1 _) => xy.
have h : has_leaf (size x).+1 (fun z => leaf_le (a :: x) z && leaf_le z (b :: y)).
  by apply/has_leafP; exists (a :: x); rewrite // leaf_le_refl /=.
move: h => /= ->; case: a b xy => -[] //= xy.
- rewrite -IH // [X in _ = X ++ _]cover_no_leaf //; first exact/no_leafP.
- rewrite copath_left_cover copath_right_cover -sxy; congr (_ ++ _).
  by apply: eq_cover => z _; rewrite /below /= andbT.
- rewrite catA IH //; congr (_ ++ _).
  by rewrite cover_no_leaf //; apply/no_leafP.
Qed.

(* ---- Splitting every node by a set -------------------------------------------------- *)

(* Each node is replaced by the cover of what Q leaves of it; every puncture is an instance of
   this. *)
Definition remove_node d Q n : key Seed :=
  cover (d - size n.1) (fun y => Q (n.1 ++ y)) n.1 n.2.
Definition remove d Q K : key Seed := flatten (map (remove_node d Q) K).

Lemma remove_cover d P Q p s :
  remove (size p + d) Q (cover d P p s) = cover d (fun y => P y || Q (p ++ y)) p s.
Proof.
elim: d P p s => [|d IH] P p s; rewrite /remove.
  by rewrite /=; case: ifP => //= _; rewrite /remove_node /= addn0 subnn cats0.
case h: (has_leaf d.+1 P); last first.
  rewrite cover_no_leaf ?h //= /remove_node /= cats0 addKn; apply: eq_cover => y sy.
  by move/negbT/no_leafP: h => ->.
rewrite !cover_has_leafS //; last by case/has_leafP: h => x sx Px; apply/has_leafP; exists x; rewrite ?Px.
have E b : remove (size p + d.+1) Q (cover d (below P b) (rcons p b) (child p b s)) =
           cover d (below (fun y => P y || Q (p ++ y)) b) (rcons p b) (child p b s).
  by rewrite -addSnnS -(size_rcons p b) IH; apply: eq_cover => y _; rewrite cat_rcons.
by rewrite map_cat flatten_cat -!/(remove _ _ _) !E.
Qed.

(* The nodes of the key have at most d bits. *)
Definition within d K := all (fun n => size n.1 <= d) K.

Lemma within_cover d P s : within d (cover d P [::] s).
Proof. exact: cover_size. Qed.

Lemma eq_in_flatten (f g : node Seed -> key Seed) (a : pred (node Seed)) K :
  all a K -> (forall n, a n -> f n = g n) -> flatten (map f K) = flatten (map g K).
Proof. by move=> aK E; elim: K aK => //= n K IH /andP [/E -> /IH ->]. Qed.

Lemma puncture_remove d x K : within d K -> size x = d -> puncture x K = remove d (pred1 x) K.
Proof.
move=> wK sx; apply: eq_in_flatten wK _ => -[p s] /= pd; rewrite /puncture_node /remove_node /=.
case: ifP => [/prefixP [y Ex]|npx].
  rewrite Ex drop_size_cat // copath_cover -sx Ex size_cat addKn; apply: eq_cover => z _ /=.
  by rewrite eqseq_cat // eqxx.
rewrite cover_no_leaf //; apply/no_leafP => y _ /=; apply/eqP => E.
by rewrite -E prefix_prefix in npx.
Qed.

Lemma puncture_prefix_remove d x K : within d K -> size x <= d ->
  puncture_prefix G x K = remove d (prefix x) K.
Proof.
move=> wK sx; apply: eq_in_flatten wK _ => -[p s] /= pd.
rewrite /puncture_prefix_node /remove_node /=; case: ifP => [/prefixP [y Ex]|npx].
  have {sx} sy : size y <= d - size p by rewrite leq_subRL // -size_cat -Ex.
  rewrite Ex drop_size_cat // -(subnK sy) addnC; move: (_ - size y) => e.
  rewrite (eq_cover _ _ (Q := prefix y)); last first.
    move=> z _; rewrite !prefixE size_cat take_cat ltnNge leq_addr /= addKn.
    by rewrite eqseq_cat // eqxx.
  elim: y p s {Ex pd sy} => [|b y IH] p s.
    rewrite -[LHS](cover_predT e p s); apply: eq_cover => z _; by rewrite prefix0s.
  rewrite [copath _ _ _]/= addSn cover_has_leafS; last first.
    apply/has_leafP; exists ((b :: y) ++ nseq e false); rewrite ?prefix_prefix //.
    by rewrite size_cat size_nseq.
  by case: b => /=; rewrite IH; [rewrite [X in _ = X ++ _]cover_no_leaf |
     rewrite [X in _ = _ ++ X]cover_no_leaf] => //; apply/no_leafP.
case: ifP => [/prefixP [y Ep]|nxp].
  rewrite -[LHS](cover_predT (d - size p) p s); apply: eq_cover => z _.
  by rewrite Ep -catA prefix_prefix.
rewrite cover_no_leaf //; apply/no_leafP => y _; apply/negP => h.
have : prefix p (p ++ y) by apply: prefix_prefix.
case/orP: (leq_total (size p) (size x)) => l; move: h npx nxp; rewrite !prefixE.
  move/eqP => h; rewrite -{1 2}h take_of_take // take_size_cat // eqxx //.
by rewrite takel_cat // => ->.
Qed.

Lemma puncture_range_remove d first last K :
  within d K -> size first = d -> size last = d ->
  puncture_range G first last K = remove d (in_region (Range first last)) K.
Proof.
move=> wK sf sl; rewrite /puncture_range; case: ifP => [le|nle]; last first.
  rewrite -{1}[K]cats0 -{1}[K ++ _]cats0 /remove.
  have {1}-> : (K ++ [::]) ++ [::] = flatten (map (fun n => [:: n]) K).
    by rewrite !cats0; elim: K {wK} => //= n K <-.
  apply: eq_in_flatten wK _ => -[p s] /= pd; rewrite /remove_node cover_no_leaf //.
  apply/no_leafP => y /= sy; apply/negP => /andP [fy yl].
  have sz : size (p ++ y) = d by rewrite size_cat sy subnKC.
  by move: fy yl nle; rewrite !leaf_le_val ?sz ?sf ?sl // => /leq_trans h /h ->.
apply: eq_in_flatten wK _ => -[p s] /= pd.
rewrite /puncture_range_node /remove_node /= /meets.
have D (x : bitseq) : size x = d -> [/\ x = take (size p) x ++ drop (size p) x,
    size (take (size p) x) = size p & size (drop (size p) x) = d - size p].
  by move=> sx; rewrite cat_take_drop size_takel ?size_drop sx.
have [Ef tf df] := D _ sf; have [El tl dl] := D _ sl.
rewrite !prefixE; set f1 := take _ first in Ef tf *; set l1 := take _ last in El tl *.
set f2 := drop _ first in Ef df *; set l2 := drop _ last in El dl *.
have E : (fun y => leaf_le first (p ++ y) && leaf_le (p ++ y) last) =1
  (fun y => (if f1 == p then leaf_le f2 y else leaf_le f1 p) &&
            (if l1 == p then leaf_le y l2 else leaf_le p l1)).
  by move=> y; rewrite {1}Ef {1}El !leaf_le_cat // (eq_sym p).
rewrite (eq_cover p s (fun y (_ : size y = d - size p) => E y)) {E}.
case: (f1 =P p) => [E1|_].
  rewrite E1 leaf_le_refl /=; case: (l1 =P p) => [E2|_].
    rewrite E2 leaf_le_refl copath_range_cover ?df ?dl //.
    by move: le; rewrite Ef El leaf_le_cat ?tf // E1 E2 eqxx.
  rewrite cats0; case: (leaf_le p l1); last first.
    by rewrite cover_no_leaf //; apply/no_leafP => y; rewrite andbF.
  by rewrite copath_left_cover df; apply: eq_cover => y _; rewrite andbT.
case: (leaf_le f1 p) => /=; last by rewrite cover_no_leaf //; apply/no_leafP.
case: (l1 =P p) => [->|_]; first by rewrite leaf_le_refl copath_right_cover dl.
case: (leaf_le p l1); first by rewrite [RHS]cover_predT.
by rewrite cover_no_leaf //; apply/no_leafP.
Qed.

Lemma puncture_region_remove d r K : within d K -> region_ok d r ->
  puncture_region G r K = remove d (in_region r) K.
Proof.
move=> wK; case: r => [x /eqP|x|first last /andP [/eqP sf /eqP sl]] /=.
- exact: puncture_remove.
- exact: puncture_prefix_remove.
- exact: puncture_range_remove.
Qed.

Lemma foldl_map_region (T : Type) (f : T -> region) K ts :
  foldl (fun K r => puncture_region G r K) K (map f ts) =
  foldl (fun K t => puncture_region G (f t) K) K ts.
Proof. by elim: ts K => //= t ts IH K; rewrite IH. Qed.

(* ---- Headline theorems -------------------------------------------------------------- *)

(* Any sequence of leaf, prefix and range punctures yields the cover of their union. *)
Theorem puncture_regions_canonical d s rs : all (region_ok d) rs ->
  puncture_regions G rs (keygen s) = cover d (punctured rs) [::] s.
Proof.
rewrite /puncture_regions; elim/last_ind: rs => [|rs r IH].
  by move=> _; rewrite -[LHS](cover_pred0 d).
rewrite all_rcons foldl_rcons => /andP [ok /IH ->].
rewrite (puncture_region_remove (within_cover _ _ _) ok) -[d in remove d]add0n.
rewrite (remove_cover d _ _ [::]); apply: eq_cover => y _.
by rewrite /punctured has_rcons orbC.
Qed.

Theorem puncture_all_canonical d s xs : all (fun x => size x == d) xs ->
  puncture_all xs (keygen s) = cover d (mem xs) [::] s.
Proof.
move=> axs; have -> : puncture_all xs (keygen s) = puncture_regions G (map Leaf xs) (keygen s).
  by rewrite /puncture_regions foldl_map_region.
rewrite (@puncture_regions_canonical d) ?all_map //; apply: eq_cover => y _.
rewrite /punctured has_map /=; apply/hasP/idP => [[x xin /eqP ->] //|yin].
by exists y => //=.
Qed.

Theorem puncture_prefix_canonical d s xs : all (fun x => size x <= d) xs ->
  foldl (fun K x => puncture_prefix G x K) (keygen s) xs =
  cover d (fun y => has (fun x => prefix x y) xs) [::] s.
Proof.
move=> axs; transitivity (puncture_regions G (map Subtree xs) (keygen s)).
  by rewrite /puncture_regions foldl_map_region.
rewrite (@puncture_regions_canonical d) ?all_map //; apply: eq_cover => y _.
by rewrite /punctured has_map.
Qed.

Theorem puncture_range_canonical d s (rs : seq (bitseq * bitseq)) :
  all (fun r => (size r.1 == d) && (size r.2 == d)) rs ->
  foldl (fun K r => puncture_range G r.1 r.2 K) (keygen s) rs =
  cover d (fun y => has (fun r => leaf_le r.1 y && leaf_le y r.2) rs) [::] s.
Proof.
move=> axs; transitivity (puncture_regions G [seq Range r.1 r.2 | r <- rs] (keygen s)).
  by rewrite /puncture_regions foldl_map_region.
rewrite (@puncture_regions_canonical d) ?all_map //; apply: eq_cover => y _.
by rewrite /punctured has_map.
Qed.

Theorem puncture_order_independent d s xs ys :
  all (fun x => size x == d) xs -> xs =i ys ->
  puncture_all xs (keygen s) = puncture_all ys (keygen s).
Proof.
move=> ax E; have ay : all (fun x => size x == d) ys by rewrite -(eq_all_r E).
by rewrite !(@puncture_all_canonical d) //; apply: eq_cover => x _; apply: E.
Qed.

(* ---- One more puncture of a canonical subtree --------------------------------------- *)

Lemma puncture_cat x K1 K2 : puncture x (K1 ++ K2) = puncture x K1 ++ puncture x K2.
Proof. by rewrite /puncture map_cat flatten_cat. Qed.

Lemma puncture_cover d P p s x : size x = d ->
  puncture (p ++ x) (cover d P p s) = cover d (predU P (pred1 x)) p s.
Proof.
move=> sx; rewrite (@puncture_remove (size p + d)) ?size_cat ?sx //; last exact: cover_size.
by rewrite remove_cover; apply: eq_cover => y _ /=; rewrite eqseq_cat // eqxx.
Qed.

Lemma puncture_other d P p s b x :
  puncture (p ++ b :: x) (cover d P (rcons p (~~ b)) s) = cover d P (rcons p (~~ b)) s.
Proof.
move: (cover_prefix d P (rcons p (~~ b)) s); rewrite /puncture.
elim: (cover _ _ _ _) => //= n K IH /andP [pn /IH ->].
by rewrite /puncture_node prefix_diverge.
Qed.

(* ---- Evaluation --------------------------------------------------------------------- *)

Lemma eval_cat K1 K2 x : eval (K1 ++ K2) x = if eval K1 x is Some y then Some y else eval K2 x.
Proof. by elim: K1 => //= n K1 ->; case: ifP. Qed.

Lemma eval_other d P p s b x : eval (cover d P (rcons p (~~ b)) s) (p ++ b :: x) = None.
Proof.
move: (cover_prefix d P (rcons p (~~ b)) s).
by elim: (cover _ _ _ _) => //= n K IH /andP [pn /IH ->]; rewrite prefix_diverge.
Qed.

Lemma eval_cover d P p s x : size x = d ->
  eval (cover d P p s) (p ++ x) = if P x then None else Some (descend p s x).
Proof.
elim: d P p s x => [|d IH] P p s x sx.
  move/eqP: sx; rewrite size_eq0 => /eqP -> /=; case: (P [::]) => //=.
  by rewrite cats0 prefix_refl /eval_node drop_size.
case h: (has_leaf d.+1 P); last first.
  rewrite cover_no_leaf ?h //= prefix_prefix /eval_node /= drop_size_cat //.
  by move/negbT/no_leafP: h => ->.
case: x sx => [//|b x] [sx]; rewrite cover_has_leafS // eval_cat.
by case: b; [rewrite (eval_other _ _ _ _ true) | rewrite (eval_other _ _ _ _ false)];
   rewrite -cat_rcons IH // /below; case: (P _).
Qed.

Lemma eval_keygen s x : eval (keygen s) x = Some (ggm s x).
Proof. by rewrite /= prefix0s /eval_node drop0. Qed.

(* After any punctures of any kind: nothing at the punctured leaves, the GGM value elsewhere. *)
Theorem eval_puncture_regions d s rs x : all (region_ok d) rs -> size x = d ->
  eval (puncture_regions G rs (keygen s)) x = if punctured rs x then None else Some (ggm s x).
Proof. by move=> ok sx; rewrite (puncture_regions_canonical _ ok) -[x in LHS]cat0s eval_cover. Qed.

Theorem eval_puncture_all d s xs x : all (fun x => size x == d) xs -> size x = d ->
  eval (puncture_all xs (keygen s)) x = if x \in xs then None else eval (keygen s) x.
Proof.
move=> axs sx; rewrite (puncture_all_canonical _ axs) -[x in LHS]cat0s eval_cover //.
by rewrite eval_keygen.
Qed.

(* ---- Structure: no stored node is above a punctured leaf ---------------------------- *)

Lemma eval_None K x : eval K x = None -> puncture x K = K.
Proof.
elim: K => //= n K IH; rewrite /puncture /= /puncture_node; case: ifP => // _ /IH.
by rewrite /puncture => ->.
Qed.

Theorem no_ancestor d P s q x :
  q \in map fst (cover d P [::] s) -> size x = d -> P x -> ~~ prefix q x.
Proof.
move=> qi sx Px; apply/negP => pr.
have := @eval_cover d P [::] s x sx; rewrite Px /=.
elim: (cover _ _ _ _) qi => //= m K IH; rewrite inE; case: ifP => // npr.
by case/orP => [/eqP E|/IH //]; rewrite -E pr in npr.
Qed.

(* Puncturing the same leaf again changes nothing, whatever the key. *)
Theorem puncture_idempotent K x : puncture x (puncture x K) = puncture x K.
Proof.
apply: eval_None; elim: K => //= n K IH.
rewrite /puncture /= eval_cat -/(puncture x K) IH /puncture_node.
case: ifP => [/prefixP [y ->]|npr] /=; last by rewrite npr.
by rewrite drop_size_cat // copath_cover eval_cover //= eqxx.
Qed.

(* ---- The declarative reading of cover ----------------------------------------------- *)

Lemma free_cons d P b q : free d.+1 P (b :: q) = free d (below P b) q.
Proof. by []. Qed.

Lemma has_leaf_free d P q : ~~ has_leaf d P -> size q <= d -> free d P q.
Proof.
move/no_leafP => h sq; apply/no_leafP => y sy; apply: h.
by rewrite size_cat sy subnKC.
Qed.

Lemma mem_cover_rel d P p s q :
  (p ++ q \in map fst (cover d P p s)) =
  [&& size q <= d, free d P q & (q == [::]) || ~~ free d P (parent q)].
Proof.
elim: d P p s q => [|d IH] P p s q.
  case: q => [|b q]; first by rewrite cats0 /free /=; case: (P [::]); rewrite ?inE ?eqxx.
  rewrite /=; case: (P [::]) => //=; rewrite inE -[X in _ == X]cats0 eqseq_cat // eqxx //.
case h: (has_leaf d.+1 P); last first.
  rewrite cover_no_leaf ?h //= inE -{2}[p]cats0 eqseq_cat // eqxx /=.
  case: q => [|b q]; first by rewrite /free /= -/(has_leaf d.+1 P) h.
  case: leqP => //= sq; rewrite [free _ _ (parent _)]has_leaf_free ?h ?andbF //.
  by rewrite /parent size_take; case: ifP => // _; apply: ltnW.
rewrite cover_has_leafS // map_cat mem_cat; case: q => [|b q].
  rewrite cats0 [free d.+1 P [::]]/free /= -/(has_leaf d.+1 P) h /=; apply/negbTE; rewrite negb_or.
  by apply/andP; split; apply/negP => /mem_cover_prefix /size_prefix; rewrite size_rcons ltnn.
have O b' : b != b' -> (p ++ b :: q \in map fst (cover d (below P b') (rcons p b') (child p b' s)))
                       = false.
  move=> nb; apply/negP => /mem_cover_prefix; rewrite -cat_rcons.
  rewrite prefixE size_rcons takel_cat ?size_rcons // take_oversize ?size_rcons //.
  by rewrite eqseq_rcons eqxx (negbTE nb).
have -> : (p ++ b :: q \in map fst (cover d (below P false) (rcons p false) (child p false s))) ||
          (p ++ b :: q \in map fst (cover d (below P true) (rcons p true) (child p true s))) =
          (p ++ b :: q \in map fst (cover d (below P b) (rcons p b) (child p b s))).
  by case: b O => O; [rewrite (O false) | rewrite (O true) ?orbF].
rewrite -cat_rcons IH /= ltnS free_cons; congr [&& _, _ & _].
by case: q {O} => [|c q] //=; rewrite /parent /= /free /= -/(has_leaf d.+1 P) h.
Qed.

(* A node is in the key iff it is a maximal subtree without punctured leaves. *)
Theorem mem_cover d P s q :
  (q \in map fst (cover d P [::] s)) =
  [&& size q <= d, free d P q & (q == [::]) || ~~ free d P (parent q)].
Proof. exact: (mem_cover_rel d P [::] s q). Qed.

(* ... and holds its GGM seed. *)
Theorem cover_ggm d P s :
  cover d P [::] s = [seq (q, ggm s q) | q <- map fst (cover d P [::] s)].
Proof.
have := @cover_seed d P [::] s; rewrite -map_comp; elim: (cover _ _ _ _) => //= -[q t] K IH H.
have /= := H (q, t) (or_introl erefl); rewrite drop0 => ->.
by rewrite {1}IH // => n nK; apply: H; right.
Qed.

(* ---- Delegation --------------------------------------------------------------------- *)

(* Below x the sub-key evaluates as the key does; elsewhere it evaluates nothing. *)
Theorem delegate_eval K x y :
  eval (delegate x K) y = if prefix x y then eval K y else None.
Proof.
elim: K => [|n K IH]; first by case: ifP.
rewrite /delegate /= eval_cat -/(delegate x K) IH /delegate_node.
case: ifP => [px|npx] /=.
  case xy: (prefix x y) => //; rewrite (prefix_trans px xy); congr Some; rewrite /eval_node /=.
  case/prefixP: xy => t ->; rewrite drop_size_cat //; case/prefixP: px => z ->.
  by rewrite drop_size_cat // -[in RHS]catA drop_size_cat // descend_cat.
case: ifP => [xp|nxp] /=.
  case py: (prefix n.1 y); first by rewrite (prefix_trans xp py).
  by case: ifP.
case: ifP => //= xy; case: ifP => // ny.
case/orP: (leq_total (size n.1) (size x)) => l.
  by rewrite (prefix_total ny xy l) in npx.
by rewrite (prefix_total xy ny l) in nxp.
Qed.

Lemma delegate_cat x K1 K2 : delegate x (K1 ++ K2) = delegate x K1 ++ delegate x K2.
Proof. by rewrite /delegate map_cat flatten_cat. Qed.

Lemma delegate_under d P p s q : prefix q p -> delegate q (cover d P p s) = cover d P p s.
Proof.
move=> qp; have := cover_prefix d P p s; elim: (cover _ _ _ _) => //= n K IH /andP [pn /IH E].
rewrite /delegate /= -/(delegate q K) E /delegate_node (prefix_trans qp pn).
case: ifP => // nq; move: (prefix_anti nq (prefix_trans qp pn)).
by case: n {pn nq} => r t /= ->; rewrite /eval_node /= drop_size.
Qed.

Lemma delegate_other d P p s b x :
  delegate (p ++ b :: x) (cover d P (rcons p (~~ b)) s) = [::].
Proof.
have := cover_prefix d P (rcons p (~~ b)) s; elim: (cover _ _ _ _) => //= n K IH /andP [pn /IH E].
rewrite /delegate /= -/(delegate _ K) E /delegate_node (prefix_diverge _ pn).
case: ifP => // xn; have pb : prefix (rcons p b) n.1.
  by apply: prefix_trans xn; rewrite -cat_rcons prefix_prefix.
have := prefix_total pn pb; rewrite !size_rcons leqnn => /(_ isT).
by rewrite prefixE size_rcons take_oversize ?size_rcons // eqseq_rcons eqxx; case: (b).
Qed.

Lemma delegate_cover d P p s x : size x <= d ->
  delegate (p ++ x) (cover d P p s) =
  cover (d - size x) (fun y => P (x ++ y)) (p ++ x) (descend p s x).
Proof.
elim: d P p s x => [|d IH] P p s [|b x] // sx; first by rewrite cats0 delegate_under ?prefix_refl.
  by rewrite cats0 delegate_under ?prefix_refl.
case h: (has_leaf d.+1 P); last first.
  rewrite cover_no_leaf ?h // /delegate /= /delegate_node /= prefix_prefix /eval_node.
  by rewrite drop_size_cat // cover_no_leaf //; apply: (has_leaf_free _ sx); rewrite h.
rewrite cover_has_leafS // delegate_cat subSS; rewrite /= ltnS in sx; clear h.
by case: b; [rewrite (delegate_other _ _ _ _ true) | rewrite (delegate_other _ _ _ _ false) cats0];
   rewrite -cat_rcons IH.
Qed.

(* The sub-key of a punctured key is the canonical key of the subtree at x. It is determined by
   that subtree's seed and punctured leaves, and by nothing else of the key; all its nodes lie
   below x, and it evaluates only leaves below x, as the key does. *)
Theorem delegate_only_subset d P s x : size x <= d ->
  let K := cover d P [::] s in
  [/\ delegate x K = cover (d - size x) (fun y => P (x ++ y)) x (ggm s x),
      all (fun n => prefix x n.1) (delegate x K) &
      forall y v, eval (delegate x K) y = Some v -> prefix x y /\ eval K y = Some v].
Proof.
move=> sx K; have E := @delegate_cover d P [::] s x sx; split=> //.
  by rewrite [delegate x K]E; apply: cover_prefix.
by move=> y v; rewrite delegate_eval; case: ifP.
Qed.

End Correctness.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Covers as arrays of integer nodes: order, disjointness, canonical form; and what the dense
   pair slots rest on. *)
From mathcomp Require Import all_ssreflect.
From Coq Require Import NArith Lia.
From Coq Require ZifyBool.
From Pprf.spec Require Import Ggm CModel.
From Pprf.proofs Require Import Correctness.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.
#[local] Arguments N.mul : simpl never.
#[local] Arguments N.add : simpl never.
#[local] Arguments N.leb : simpl never.
#[local] Arguments N.ltb : simpl never.

Ltac nlia := unfold is_true in *; lia.

(* ---- Powers of two, leaves as integers ---------------------------------------------- *)

Lemma pow2S h : pow2 h.+1 = 2 * pow2 h. Proof. by []. Qed.

Lemma pow2_gt0 h : 0 < pow2 h.
Proof. by elim: h => [|h IH]; rewrite ?addSn ?pow2S ?IH /=; nlia. Qed.

Lemma pow2D h g : pow2 (h + g)%nat = pow2 h * pow2 g.
Proof. by elim: h => [|h IH]; [rewrite add0n /= | rewrite addSn !pow2S IH]; nlia. Qed.

Lemma pow2_mono h g : (h <= g)%nat -> pow2 h <= pow2 g.
Proof. by move/subnKC <-; rewrite pow2D; have := pow2_gt0 (g - h); nia. Qed.

Lemma leaf_num_cat x y : leaf_num (x ++ y) = leaf_num x * pow2 (size y) + leaf_num y.
Proof.
elim: x => [|b x IH] /=; first by nlia.
by rewrite IH size_cat pow2D; case: b; nia.
Qed.

Lemma leaf_num_lt x : leaf_num x < pow2 (size x).
Proof. by elim: x => [|b x IH] //; rewrite [size _]/= pow2S /=; case: b; nlia. Qed.

Lemma size_leaf_path d x : size (leaf_path d x) = d.
Proof. by elim: d x => //= d IH x; case: ifP => _; rewrite /= IH. Qed.

Lemma leaf_numK x : leaf_path (size x) (leaf_num x) = x.
Proof.
elim: x => //= b x IH; have := leaf_num_lt x; case: b; case: N.leb_spec => /= *; try nlia.
  by congr (_ :: _); rewrite -[RHS]IH; congr leaf_path; nlia.
by rewrite IH.
Qed.

Lemma leaf_pathK d x : x < pow2 d -> leaf_num (leaf_path d x) = x.
Proof.
elim: d x => [|d IH] x; rewrite ?pow2S /= => xd; first by nlia.
by case: N.leb_spec => /= c; rewrite ?size_leaf_path IH; nlia.
Qed.

Lemma leaf_le_num x y : size x = size y -> leaf_le x y = (leaf_num x <=? leaf_num y).
Proof.
elim: x y => [|c x IH] [|e y] //= [s]; rewrite -s.
have := leaf_num_lt x; have := leaf_num_lt y; rewrite -s => ly lx.
case: c e => [] [] /=; rewrite ?IH //; apply/idP/idP; nlia.
Qed.

Lemma leaf_num_inj x y : size x = size y -> leaf_num x = leaf_num y -> x = y.
Proof. by move=> s E; rewrite -(leaf_numK x) s E leaf_numK. Qed.

Lemma first_leaf_rcons d p b : (size p < d)%nat ->
  first_leaf d (rcons p b) = first_leaf d p + (if b then pow2 (d - (size p).+1) else 0).
Proof.
move=> pd; rewrite /first_leaf size_rcons -cats1 leaf_num_cat /= -(subnSK pd) pow2S.
by case: b; nlia.
Qed.

(* ---- Aligned intervals -------------------------------------------------------------- *)

Definition aligned (s : N) (h : nat) : Prop := exists q, s = q * pow2 h.

Lemma alignedP s h : reflect (aligned s h) (s mod pow2 h =? 0).
Proof.
have p := pow2_gt0 h; apply: (iffP (N.eqb_spec _ _)) => [E|[q ->]].
  by exists (s / pow2 h); rewrite {1}(N.div_mod s (pow2 h)) ?E; nlia.
by apply: N.mod_mul; nlia.
Qed.

Lemma aligned_le s h g : (h <= g)%nat -> aligned s g -> aligned s h.
Proof.
move/subnKC <- => -[q ->]; exists (q * pow2 (g - h)).
by rewrite pow2D; nia.
Qed.

Lemma aligned_half s h : aligned s h.+1 -> aligned s h /\ aligned (s + pow2 h) h.
Proof.
by case=> q ->; rewrite pow2S; split; [exists (q * 2) | exists (q * 2 + 1)]; nia.
Qed.

(* two multiples of a width are equal or at least the width apart *)
Lemma aligned_apart s t h : aligned s h -> aligned t h -> s + pow2 h <= t \/ t <= s.
Proof.
case=> q -> [r ->]; have p := pow2_gt0 h; case: (N.lt_ge_cases q r) => qr; [left | right]; nia.
Qed.

(* the start of a right child is no multiple of the parent's width *)
Lemma aligned_odd s h : aligned s h.+1 -> aligned (s + pow2 h) h.+1 -> False.
Proof.
rewrite /aligned pow2S => -[q ->] [r E]; have p := pow2_gt0 h.
suff : 2 * q + 1 = 2 * r by nlia.
by apply: (proj1 (N.mul_cancel_r _ _ (pow2 h) _)); nlia.
Qed.

Section Layout.

Variable Seed : Type.
Variable prg : N -> nat -> Seed -> Seed * Seed.
Implicit Types (n m : node Seed) (a : seq (node Seed)) (P Q : pred N) (k : Seed).
Local Notation family := (family prg).
Local Notation walk := (walk prg).

Definition in_span (s : N) (h : nat) (x : N) : bool := (s <=? x) && (x <? s + pow2 h).

Lemma in_span_half s h x : in_span s h.+1 x = in_span s h x || in_span (s + pow2 h) h x.
Proof. by rewrite /in_span pow2S; apply/idP/idP; nlia. Qed.

(* ---- The cover over integers -------------------------------------------------------- *)

Fixpoint nhas_leaf (h : nat) P (s : N) : bool :=
  if h is h'.+1 then nhas_leaf h' P s || nhas_leaf h' P (s + pow2 h') else P s.

Fixpoint ncover (h : nat) P (s : N) k : seq (node Seed) :=
  if nhas_leaf h P s then
    if h is h'.+1 then ncover h' P s (prg s h k).1 ++ ncover h' P (s + pow2 h') (prg s h k).2
    else [::]
  else [:: Node s h k].

Lemma nhas_leafP h P s : reflect (exists2 x, in_span s h x & P x) (nhas_leaf h P s).
Proof.
elim: h s => [|h IH] s /=.
  apply: (iffP idP) => [Ps|[x]]; first by exists s => //; rewrite /in_span /=; nlia.
  by rewrite /in_span /= => sx; have -> : x = s by nlia.
apply: (iffP orP) => [[/IH|/IH] [x sx Px]|[x]].
- by exists x; rewrite // in_span_half sx.
- by exists x; rewrite // in_span_half sx orbT.
- by rewrite in_span_half => /orP [] sx Px; [left | right]; apply/IH; exists x.
Qed.

Lemma eq_nhas_leaf h P Q s : (forall x, in_span s h x -> P x = Q x) -> nhas_leaf h P s = nhas_leaf h Q s.
Proof.
by move=> E; apply/nhas_leafP/nhas_leafP => -[x sx Px]; exists x; rewrite // ?E // -E.
Qed.

Lemma eq_ncover h P Q s k :
  (forall x, in_span s h x -> P x = Q x) -> ncover h P s k = ncover h Q s k.
Proof.
elim: h s k => [|h IH] s k E; first by rewrite /= E // /in_span /=; nlia.
have := eq_nhas_leaf E => /= ->.
by rewrite !IH // => x sx; apply: E; rewrite in_span_half sx ?orbT.
Qed.

Lemma ncover_no_leaf h P s k : ~~ nhas_leaf h P s -> ncover h P s k = [:: Node s h k].
Proof. by case: h => [|h] /= /negbTE ->. Qed.

Lemma ncover_has_leafS h P s k : nhas_leaf h.+1 P s ->
  ncover h.+1 P s k =
  ncover h P s (prg s h.+1 k).1 ++ ncover h P (s + pow2 h) (prg s h.+1 k).2.
Proof. by move=> /= ->. Qed.

Lemma ncover_all h P s k : (forall x, in_span s h x -> P x) -> ncover h P s k = [::].
Proof.
elim: h s k => [|h IH] s k E; first by rewrite /= E // /in_span /=; nlia.
rewrite ncover_has_leafS ?IH // => [x sx|x sx|]; try by apply: E; rewrite in_span_half sx ?orbT.
by apply/nhas_leafP; exists s; [|apply: E]; rewrite /in_span; have := pow2_gt0 h.+1; nlia.
Qed.

(* It is the cover of the model, encoded. *)
Lemma encode_cover_rel d h P (Q : pred bitseq) p k : (size p + h = d)%nat ->
  (forall y, size y = h -> P (first_leaf d p + leaf_num y) = Q y) ->
  map (encode d) (cover (family d) h Q p k) = ncover h P (first_leaf d p) k.
Proof.
elim: h P Q p k => [|h IH] P Q p k pd E.
  by have /= := E [::] erefl; rewrite N.add_0_r => <-; case: (P _) => //=;
     rewrite /encode /= -pd addn0 subnn.
have lt : (size p < d)%nat by rewrite -pd addnS ltnS leq_addr.
have hd : (d - (size p).+1 = h)%nat by rewrite -pd addnS subSS addKn.
have hp b : (size (rcons p b) + h = d)%nat by rewrite size_rcons addSnnS.
have E' b y : size y = h -> P (first_leaf d (rcons p b) + leaf_num y) = below Q b y.
  move=> sy; rewrite /below -E /= ?sy // first_leaf_rcons // hd; congr P.
  by case: (b); nlia.
have has_leafE : has_leaf h.+1 Q = nhas_leaf h.+1 P (first_leaf d p).
  apply/has_leafP/nhas_leafP => [[y sy Qy]|[x sx Px]].
    exists (first_leaf d p + leaf_num y); last by rewrite E.
    by have := leaf_num_lt y; rewrite sy /in_span; nlia.
  exists (leaf_path h.+1 (x - first_leaf d p)); first by rewrite size_leaf_path.
  rewrite -E ?size_leaf_path // leaf_pathK; last by move: sx; rewrite /in_span; nlia.
  by have -> : first_leaf d p + (x - first_leaf d p) = x; move: sx; rewrite /in_span; nlia.
case hq: (has_leaf h.+1 Q); last first.
  by rewrite cover_no_leaf ?hq // ncover_no_leaf -?has_leafE ?hq //= /encode /= -pd addKn.
rewrite cover_has_leafS // ncover_has_leafS -?has_leafE // map_cat !(IH P) //; try exact: E'.
rewrite !first_leaf_rcons // hd N.add_0_r /Ggm.child /CModel.family.
by have -> : (d - size p = h.+1)%nat by rewrite -pd addKn.
Qed.

Lemma encode_cover d P k :
  map (encode d) (cover (family d) d (fun y => P (leaf_num y)) [::] k) = ncover d P 0 k.
Proof.
by rewrite (@encode_cover_rel d d P) /first_leaf //= ?N.mul_0_l.
Qed.

Lemma encode_cover_path d (Q : pred bitseq) k :
  map (encode d) (cover (family d) d Q [::] k) = ncover d (fun x => Q (leaf_path d x)) 0 k.
Proof.
rewrite -encode_cover; congr map; apply: eq_cover => y sy.
by rewrite -[in leaf_path _ _]sy leaf_numK.
Qed.

(* ---- Every cover is well formed ----------------------------------------------------- *)

Definition in_subtree (s : N) (h : nat) n : bool :=
  [&& (height n <= h)%nat, start n mod pow2 (height n) =? 0, s <=? start n &
      last_end n <=? s + pow2 h].

Lemma last_end_gt n : start n < last_end n.
Proof. by have := pow2_gt0 (height n); rewrite /last_end; nlia. Qed.

Lemma in_tree_subtree d n : in_tree d (start n) (height n) = in_subtree 0 d n.
Proof. by rewrite /in_tree /in_subtree /last_end N.add_0_l; case: N.leb_spec => //; nlia. Qed.

Lemma in_subtree_half s h n (c : bool) :
  in_subtree (if c then s + pow2 h else s) h n -> in_subtree s h.+1 n.
Proof.
rewrite /in_subtree pow2S => /and4P [h1 -> h3 h4]; rewrite (leqW h1) /=.
by case: c h3 h4; nlia.
Qed.

Lemma ncover_in h P s k : aligned s h -> all (in_subtree s h) (ncover h P s k).
Proof.
elim: h s k => [|h IH] s k al.
  case hp: (nhas_leaf 0 P s); first by move: hp => /= ->.
  rewrite ncover_no_leaf ?hp //= /in_subtree /last_end /= andbT.
  by move/alignedP: al => /= ->; nlia.
case hp: (nhas_leaf h.+1 P s); last first.
  rewrite ncover_no_leaf ?hp //= /in_subtree /last_end leqnn /= andbT.
  by move/alignedP: al => ->; nlia.
have [al0 al1] := aligned_half al; rewrite ncover_has_leafS // all_cat; apply/andP; split.
  by apply: sub_all (IH _ _ al0) => n; apply: (@in_subtree_half s h n false).
by apply: sub_all (IH _ _ al1) => n; apply: (@in_subtree_half s h n true).
Qed.

Lemma follows_all n a : path follows n a -> all (fun m => last_end n <=? start m) a.
Proof.
elim: a n => //= m a IH n /andP [/andP [nm _] /IH am]; rewrite nm /=.
by apply: sub_all am => u mu; have := last_end_gt m; nlia.
Qed.

(* the last node of a left half and the first of the right half merge only if they are the halves *)
Lemma siblings_halves s h n m : aligned s h.+1 ->
  in_subtree s h n -> in_subtree (s + pow2 h) h m -> siblings n m ->
  height n = h /\ height m = h.
Proof.
move=> al /and4P [nh /alignedP na sn ns] /and4P [mh /alignedP ma sm ms].
case/and3P => /eqP hh /N.eqb_spec nm /alignedP par; rewrite -hh; suff E : height n = h by [].
apply/eqP; rewrite eqn_leq nh /= leqNgt; apply/negP => lt.
have E : start n + pow2 (height n) = s + pow2 h by move: nm ns sm; rewrite /last_end; nlia.
apply: (aligned_odd par); rewrite E; apply: aligned_le lt _.
by case: (aligned_half al).
Qed.

Lemma ncover_full h P s k : aligned s h ->
  nhas_leaf h P s -> all (fun n => height n < h)%nat (ncover h P s k).
Proof.
case: h => [|h] al hp; first by move: hp => /= ->.
have [al0 al1] := aligned_half al; rewrite ncover_has_leafS // all_cat; apply/andP; split.
  by apply: sub_all (ncover_in P _ al0) => n /and4P [].
by apply: sub_all (ncover_in P _ al1) => n /and4P [].
Qed.

Lemma all_last (T : Type) (p : pred T) x l : all p (x :: l) -> p (last x l).
Proof. by elim: l x => [|y l IH] x /= /andP [px] // /IH. Qed.

Lemma ncover_sorted h P s k : aligned s h -> sorted follows (ncover h P s k).
Proof.
elim: h s k => [|h IH] s k al; first by rewrite /=; case: ifP.
case hp: (nhas_leaf h.+1 P s); last by rewrite ncover_no_leaf ?hp.
have [al0 al1] := aligned_half al; rewrite ncover_has_leafS //.
set kl := (prg _ _ _).1; set kr := (prg _ _ _).2.
have := IH (s + pow2 h) kr al1; have := ncover_in P kr al1; have := @ncover_full h P _ kr al1.
have := IH s kl al0; have := ncover_in P kl al0; have := @ncover_full h P s kl al0.
case E1: (ncover h P s kl) => [|n a1] //; case E2: (ncover h P _ kr) => [|m a2].
  by rewrite cats0.
move=> Fl Al Sl Fr Ir Sr; rewrite /= cat_path /=; apply/and3P; split=> //.
have Il := all_last Al; have Im : in_subtree (s + pow2 h) h m by case/andP: Ir.
apply/andP; split; first by move: Il Im => /and4P [_ _ _ ?] /and4P [_ _ ? _]; nlia.
apply/negP => sib; have [hn hm] := siblings_halves al Il Im sib.
move: hp => /= /orP [/Fl H|/Fr /andP [H _]]; last by rewrite hm ltnn in H.
by have := all_last H; rewrite hn ltnn.
Qed.

Lemma ncover_well_formed d P k : well_formed d (ncover d P 0 k).
Proof.
have al : aligned 0 d by exists 0.
rewrite /well_formed ncover_sorted // andbT.
by rewrite (eq_all (in_tree_subtree d)) ncover_in.
Qed.

(* ---- ... and nothing else is -------------------------------------------------------- *)

Lemma has_split (T : Type) (p : pred T) l : has p l -> exists l1 x l2, l = l1 ++ x :: l2 /\ p x.
Proof.
elim: l => //= x l IH /orP [px|hl]; first by exists [::], x, l.
by have [l1 [y [l2 [-> py]]]] := IH hl; exists (x :: l1), y, l2.
Qed.

Lemma sorted_split (m : N) a : sorted follows a ->
  all (fun n => (last_end n <=? m) || (m <=? start n)) a ->
  exists a1 a2, [/\ a = a1 ++ a2, all (fun n => last_end n <=? m) a1 &
                    all (fun n => m <=? start n) a2].
Proof.
elim: a => [|n a IH] /=; first by exists [::], [::].
move=> pa /andP [/orP [nm|mn] am].
  have [a1 [a2 [-> A1 A2]]] := IH (path_sorted pa) am.
  by exists (n :: a1), a2; rewrite /= nm.
exists [::], (n :: a); split=> //=; rewrite mn /=.
by apply: sub_all (follows_all pa) => u nu; have := last_end_gt n; nlia.
Qed.

(* A node inside a span is the whole span or lies in one half. *)
Lemma in_subtreeS s h n : aligned s h.+1 -> in_subtree s h.+1 n ->
  (height n = h.+1 /\ start n = s) \/
  (height n <= h)%nat /\ ((last_end n <=? s + pow2 h) || (s + pow2 h <=? start n)).
Proof.
move=> al /and4P [nh /alignedP na sn ns]; move: nh; rewrite leq_eqVlt => /orP [/eqP nh|nh].
  by left; split=> //; move: ns; rewrite /last_end nh; nlia.
rewrite ltnS in nh; right; split=> //; case: (aligned_half al) => _ /(aligned_le nh) am.
by case: (aligned_apart na am); rewrite /last_end; nlia.
Qed.

Lemma positions_cat a1 a2 : positions (a1 ++ a2) = positions a1 ++ positions a2.
Proof. exact: map_cat. Qed.

(* A list of nodes that are in leaf order, disjoint, and no siblings is a cover. *)
Lemma canonical_rel h s a k : aligned s h -> all (in_subtree s h) a -> sorted follows a ->
  positions a = positions (ncover h (fun x => ~~ covered a x) s k).
Proof.
elim: h s a k => [|h IH] s a k al.
  case: a => [|n a] //= /andP [/and4P [nh _ sn ns] aa].
  have n0 : height n = 0%nat by apply/eqP; rewrite -leqn0.
  have ns0 : start n = s by move: sn ns; rewrite /last_end n0 /=; nlia.
  case: a aa => [_ _|m a /andP [/and4P [_ _ sm ms] _] /= /andP [/andP [nm _] _]]; last first.
    by move: ms nm; have := last_end_gt m; rewrite /last_end n0 ns0 /=; nlia.
  rewrite /covered /= /node_covers /last_end n0 ns0 /= orbF.
  by have -> : (s <=? s) && (s <? s + 1) by nlia.
move=> aa sa; have [al0 al1] := aligned_half al.
have w0 := pow2_gt0 h.+1.
case full: (has (fun n => height n == h.+1) a).
  case/has_split: full aa sa => a1 [n [a2 [-> /eqP nh]]].
  rewrite all_cat => /andP [A1 /andP [nI A2]] sa.
  have nE : start n = s by case: (in_subtreeS al nI) => [[] //|[]]; rewrite nh ltnn.
  have {A2} -> : a2 = [::].
    case: a2 A2 sa => // m a2 /andP [/and4P [_ _ _ ms] _].
    case/cat_sorted2 => _ /= /andP [/andP [nm _] _].
    by move: ms nm; have := last_end_gt m; rewrite /last_end nE nh; nlia.
  have {A1 sa} -> : a1 = [::].
    case/lastP: a1 A1 sa => // a1 m; rewrite all_rcons => /andP [/and4P [_ _ sm _] _].
    rewrite cat_rcons => /cat_sorted2 [_ /= /andP [/andP [mn _] _]].
    by move: sm mn; have := last_end_gt m; rewrite nE; nlia.
  rewrite (@ncover_no_leaf h.+1); first by rewrite /= nE nh.
  apply/nhas_leafP => -[x sx]; rewrite /covered /= orbF /node_covers /last_end nE nh.
  by move: sx; rewrite /in_span => ->.
have {full} {}aa : all (fun n => (height n <= h)%nat && in_subtree s h.+1 n &&
    ((last_end n <=? s + pow2 h) || (s + pow2 h <=? start n))) a.
  elim: a aa full {sa} => //= n a IHa /andP [nI aa] /norP [nh full].
  rewrite nI (IHa aa (negbTE full)) ?andbT.
  by case: (in_subtreeS al nI) => [[E _]|[-> ->]] //; rewrite E eqxx in nh.
have half : all (fun n => (last_end n <=? s + pow2 h) || (s + pow2 h <=? start n)) a.
  by apply: sub_all aa => n /andP [].
have {half} [a1 [a2 [aE A1 A2]]] := sorted_split sa half; rewrite {a}aE in aa sa *.
have [sa1 sa2] := cat_sorted2 sa; move: aa; rewrite all_cat => /andP [I1 I2].
have {}I1 : all (in_subtree s h) a1.
  elim: a1 I1 A1 {sa sa1} => //= n a1 IHa /andP [/andP [/andP [nh nI] _] I1] /andP [nm /IHa ->] //.
  by move: nI; rewrite /in_subtree nh nm => /and4P [_ -> ->].
have {}I2 : all (in_subtree (s + pow2 h) h) a2.
  elim: a2 I2 A2 {sa sa2} => //= n a2 IHa /andP [/andP [/andP [nh nI] _] I2] /andP [nm /IHa ->] //.
  by move: nI; rewrite /in_subtree nh nm pow2S => /and4P [_ -> _]; nlia.
have C1 x : in_span s h x -> ~~ covered (a1 ++ a2) x = ~~ covered a1 x.
  move=> sx; rewrite /covered has_cat [has _ a2](_ : _ = false) ?orbF //.
  apply/negbTE; rewrite -all_predC; apply: sub_all A2 => n /=.
  by move: sx; rewrite /in_span /node_covers; nlia.
have C2 x : in_span (s + pow2 h) h x -> ~~ covered (a1 ++ a2) x = ~~ covered a2 x.
  move=> sx; rewrite /covered has_cat [has _ a1](_ : _ = false) //.
  apply/negbTE; rewrite -all_predC; apply: sub_all A1 => n /=.
  by move: sx; rewrite /in_span /node_covers; nlia.
have E1 k' : positions a1 = positions (ncover h (fun x => ~~ covered (a1 ++ a2) x) s k').
  by rewrite (eq_ncover _ C1) -IH.
have E2 k' : positions a2 =
             positions (ncover h (fun x => ~~ covered (a1 ++ a2) x) (s + pow2 h) k').
  by rewrite (eq_ncover _ C2) -IH.
case hp: (nhas_leaf h.+1 (fun x => ~~ covered (a1 ++ a2) x) s).
  by rewrite ncover_has_leafS // !positions_cat -E1 -E2.
move/norP: (negbT hp) => /= [/(ncover_no_leaf k) N1 /(ncover_no_leaf k) N2].
move: (E1 k) (E2 k); rewrite N1 N2.
case: a1 sa {I1 I2 A1 A2 C1 C2 E1 E2 sa1 sa2 hp N1 N2} => // n [|//].
case: a2 => // m [|//] /= /andP [/andP [_ ns] _] [sn hn] [sm hm].
case/negP: ns; rewrite /siblings hn hm eqxx /last_end sn hn sm N.eqb_refl.
by apply/alignedP.
Qed.

Lemma canonical_ncover d a k : well_formed d a ->
  positions a = positions (ncover d (fun x => ~~ covered a x) 0 k).
Proof.
case/andP=> it fl; apply: canonical_rel => //; first by exists 0.
by rewrite -(eq_all (in_tree_subtree d)).
Qed.

(* A well-formed key is the cover of the leaves that it does not cover. *)
Theorem canonical_of_invariants d a k : well_formed d a ->
  positions a =
  positions (map (encode d) (cover (family d) d (fun y => ~~ covered a (leaf_num y)) [::] k)).
Proof. by move/canonical_ncover => E; rewrite (encode_cover d (fun x => ~~ covered a x)) -E. Qed.

(* Every cover is well formed, so the invariants characterise covers. *)
Theorem cover_well_formed d (P : pred bitseq) k :
  well_formed d (map (encode d) (cover (family d) d P [::] k)).
Proof. by rewrite encode_cover_path ncover_well_formed. Qed.

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

End Layout.

(* ---- In-order ids ------------------------------------------------------------------- *)

Lemma node_id_inj s t h g :
  aligned s h -> aligned t g -> node_id s h = node_id t g -> s = t /\ h = g.
Proof.
wlog hg : s t h g / (h <= g)%nat => [W|].
  case: (leqP h g) => [hg|/ltnW gh] a1 a2 E; first exact: W.
  by case: (W t s g h gh a2 a1 (esym E)).
case=> q -> [r ->]; rewrite /node_id => E.
have p := pow2_gt0 h; move: hg; rewrite leq_eqVlt => /orP [/eqP hg|hg].
  by split=> //; rewrite -hg in E *; nlia.
move: E; rewrite -(subnKC hg) addSn pow2S pow2D; set u := pow2 (g - h.+1); move=> E.
suff : 2 * q + 1 = 2 * ((2 * r + 1) * u) by nlia.
by apply: (proj1 (N.mul_cancel_r _ _ (pow2 h) _)); nlia.
Qed.

Lemma aligned_first d p : (size p <= d)%nat -> aligned (first_leaf d p) (d - size p).
Proof. by exists (leaf_num p). Qed.

(* The in-order id names a node. *)
Theorem encode_inj d p q : (size p <= d)%nat -> (size q <= d)%nat ->
  node_id (first_leaf d p) (d - size p) = node_id (first_leaf d q) (d - size q) -> p = q.
Proof.
move=> pd qd E; have [Es Eh] := node_id_inj (aligned_first pd) (aligned_first qd) E.
have s : size p = size q by rewrite -(subKn pd) Eh subKn.
apply: leaf_num_inj => //; move: Es; rewrite /first_leaf s.
by have := pow2_gt0 (d - size q); nia.
Qed.

(* For disjoint nodes, leaf order is the order of the ids. *)
Lemma node_id_before (s t : N) (h g : nat) : s + pow2 h <= t \/ t + pow2 g <= s ->
  (node_id s h <? node_id t g) = (s + pow2 h <=? t).
Proof.
rewrite /node_id => D; have h0 := pow2_gt0 h; have g0 := pow2_gt0 g; apply/idP/idP; nlia.
Qed.

Section Order.
Variable Seed : Type.
Implicit Types (n m : node Seed) (a : seq (node Seed)).

Definition id n : N := node_id (start n) (height n).
Definition disjoint n m : bool := (last_end n <=? start m) || (last_end m <=? start n).

Lemma eq_pairwise_in (T : Type) (r r1 r2 : T -> T -> bool) (l : seq T) :
  (forall x y, r x y -> r1 x y = r2 x y) -> pairwise r l -> pairwise r1 l = pairwise r2 l.
Proof.
move=> E; elim: l => //= x l IH /andP [xl /IH ->]; congr andb.
by elim: l xl {IH} => //= y l IH /andP [xy /IH ->]; rewrite E.
Qed.

(* An array of disjoint nodes is in leaf order iff its ids increase. *)
Theorem encode_sorted a : pairwise disjoint a ->
  pairwise (fun n m => last_end n <=? start m) a = sorted N.ltb (map id a).
Proof.
move=> dis; rewrite sorted_pairwise; last by move=> x y z; nlia.
rewrite pairwise_map; apply: eq_pairwise_in dis => n m /orP nm.
by rewrite /= node_id_before //; move: nm; rewrite /last_end; nlia.
Qed.

Lemma follows_before a : sorted follows a -> pairwise (fun n m => last_end n <=? start m) a.
Proof.
elim: a => //= n a IH pa; rewrite (follows_all pa) IH //; exact: path_sorted pa.
Qed.

Lemma well_formed_ids d a : well_formed d a -> sorted N.ltb (map id a).
Proof.
case/andP=> _ /follows_before fa; rewrite -encode_sorted //.
by apply: sub_pairwise fa => n m nm; rewrite /disjoint nm.
Qed.

(* ---- Pair slots --------------------------------------------------------------------- *)

Lemma half_lt s t : s + 2 <= t -> s / 2 < t / 2.
Proof.
move=> st; apply: N.lt_le_trans (N.div_le_mono _ _ 2 _ st) => //.
by have -> : s + 2 = s + 1 * 2 by []; rewrite N.div_add //; lia.
Qed.
Lemma half_next s t : s < t -> s / 2 = t / 2 -> s mod 2 = 0 /\ t = s + 1.
Proof.
move=> st E; have t1 : t = s + 1 by case: (N.le_gt_cases (s + 2) t) => [/half_lt|]; lia.
split=> //; move: (N.div_mod' s 2) (N.div_mod' t 2) (N.mod_lt t 2) st.
rewrite -E t1; move: (s / 2) (s mod 2) ((s + 1) mod 2) => q u v. lia.
Qed.

Lemma pair_siblings n m : aligned (start m) (height m) ->
  last_end n <= start m -> start n / 2 = start m / 2 -> siblings n m.
Proof.
move=> am nm E; have lt : start n < start m by have := last_end_gt n; nlia.
have [s0 mE] := half_next lt E.
have hn : height n = 0%nat.
  move: nm; rewrite mE /last_end; case: (height n) => [|h] //; rewrite pow2S => nm.
  by exfalso; have := pow2_gt0 h; nlia.
have hm : height m = 0%nat.
  case: (height m) am => [|h] // [q]; rewrite pow2S mE => qE; exfalso.
  move: (N.div_mod' (start n) 2) qE; rewrite s0; move: (_ / 2) (q * pow2 h) => u v; nlia.
rewrite /siblings hn hm eqxx /last_end hn mE N.eqb_refl /=; change (pow2 1) with 2.
by rewrite s0.
Qed.

Lemma well_formed_slots d a : well_formed d a -> pairwise (fun n m => start n / 2 != start m / 2) a.
Proof.
case/andP=> it; elim: a it => //= n a IH /andP [/and3P [_ /alignedP an _] it] pa.
rewrite IH ?(path_sorted pa) // andbT.
case: a it pa {IH} => //= m a /andP [/and3P [_ /alignedP am _] _] /andP [/andP [nm ns] pa].
apply/andP; split.
  apply/negP => /eqP E; case/negP: ns; apply: pair_siblings => //; nlia.
apply: sub_all (follows_all pa) => u mu; apply/eqP.
suff /half_lt : start n + 2 <= start u by nlia.
by have := last_end_gt n; have := last_end_gt m; nlia.
Qed.

End Order.

(* The prefixes of a cover do not depend on the PRG. *)
Lemma cover_prefixes (S T : Type) (G : bitseq -> S -> S * S) (H : bitseq -> T -> T * T) d P p s t :
  map fst (Ggm.cover G d P p s) = map fst (Ggm.cover H d P p t).
Proof.
elim: d P p s t => [|d IH] P p s t; first by rewrite /=; case: ifP.
case h: (has_leaf d.+1 P); last by rewrite !cover_no_leaf ?h.
by rewrite !cover_has_leafS // !map_cat; congr (_ ++ _); apply: IH.
Qed.

Lemma uniq_map_inj (S T : eqType) (f : S -> T) l : uniq (map f l) -> {in l &, injective f}.
Proof.
elim: l => [|x l IH] //= /andP [fx /IH inj] y z.
rewrite !inE => /predU1P [->|yl] /predU1P [->|zl] // E; last exact: inj.
  by case/negP: fx; rewrite E map_f.
by case/negP: fx; rewrite -E map_f.
Qed.

Section PairSlots.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.

Definition no_prg (s : N) (h : nat) (k : unit) := (k, k).

(* Distinct nodes of a cover have distinct pair slots. *)
Theorem pair_slot_injective d (P : pred bitseq) s :
  {in map fst (Ggm.cover G d P [::] s) &, injective (fun q => first_leaf d q / 2)}.
Proof.
rewrite (cover_prefixes G (family no_prg d) d P [::] s tt); apply: uniq_map_inj.
have := well_formed_slots (cover_well_formed no_prg d P tt).
rewrite -map_comp; elim: (Ggm.cover _ _ _ _ _) => //= n K IH /andP [nK /IH ->]; rewrite andbT.
elim: K nK {IH} => //= m K IH /andP [nm /IH mK]; rewrite inE negb_or mK andbT.
by move: nm.
Qed.

(* A puncture at height 1 or more writes another node into the pair slot of the old root. *)
Lemma copath_pair d p k y : (0 < size y)%nat -> (size p + size y = d)%nat ->
  exists2 q, q \in map fst (copath G p k y) &
             (size p < size q)%nat /\ first_leaf d q / 2 = first_leaf d p / 2.
Proof.
elim: y p k => [//|c y IH] p k _ /= pd.
have lt : (size p < d)%nat by rewrite -pd addnS ltnS leq_addr.
case: c; first exists (rcons p false) => //=.
  by rewrite inE eqxx.
  by rewrite size_rcons first_leaf_rcons // N.add_0_r.
case: y IH pd => [|c y] IH pd.
  exists (rcons p true); first by rewrite /= inE eqxx.
  rewrite size_rcons first_leaf_rcons // -pd addn1 subnn /=; split=> //.
  rewrite /first_leaf subSnn; change (pow2 1) with 2.
  by rewrite N.div_add_l // N.div_mul // (_ : 1 / 2 = 0) // N.add_0_r.
have pd' : (size (rcons p false) + size (c :: y) = d)%nat by rewrite size_rcons addSnnS.
have [q qin [pq E]] := IH (rcons p false) (child G p false k) isT pd'.
exists q; first by rewrite map_cat mem_cat qin.
by rewrite E first_leaf_rcons // N.add_0_r; move: pq; rewrite size_rcons => /ltnW.
Qed.

Theorem slot_overwritten d (K : key Seed) (x q : bitseq) : size x = d -> q \in map fst K ->
  prefix q x -> (size q < d)%nat ->
  exists2 q' : bitseq, q' \in map fst (puncture G x K) &
              q' != q /\ first_leaf d q' / 2 = first_leaf d q / 2.
Proof.
move=> sx; elim: K => [//|[p k] K IH]; rewrite /= inE => /predU1P [->|/IH {}IH] px pd.
  case/prefixP: px sx => y -> {IH}; rewrite size_cat => sy.
  have y0 : (0 < size y)%nat by rewrite -(ltn_add2l (size p)) addn0 sy.
  have [q' q'in [lt E]] := copath_pair k y0 sy.
  exists q'; last by split=> //; apply: contraTneq lt => ->; rewrite ltnn.
  by rewrite /puncture /= map_cat mem_cat /puncture_node /= prefix_prefix drop_size_cat // q'in.
have [q' q'in qq] := IH px pd; exists q' => //.
by rewrite /puncture /= map_cat mem_cat -/(puncture _ _ _) q'in orbT.
Qed.

End PairSlots.

(* ---- The height of a node from the nearest punctured leaves ------------------------- *)

Lemma pow2E h : pow2 h = 2 ^ N.of_nat h.
Proof. by elim: h => // h IH; rewrite pow2S IH Nnat.Nat2N.inj_succ N.pow_succ_r'. Qed.

(* Leaves x and l first differ below height h iff they lie in one block of height h. *)
Lemma msb_lt x l h : x <> l -> (msb (N.lxor x l) < h)%nat = (x / pow2 h =? l / pow2 h).
Proof.
move=> xl; have v0 : 0 < N.lxor x l.
  by case: (N.eq_0_gt_0_cases (N.lxor x l)) => // /N.lxor_eq.
rewrite !pow2E -!N.shiftr_div_pow2; set k := N.of_nat h.
have E : N.lxor (N.shiftr x k) (N.shiftr l k) = N.lxor x l / 2 ^ k.
  by rewrite -N.shiftr_lxor N.shiftr_div_pow2.
apply/idP/N.eqb_spec => [lt|eq].
  apply: N.lxor_eq; rewrite E; apply: N.div_small; apply/N.log2_lt_pow2 => //.
  by move/ltP: lt; rewrite /msb /k; lia.
move: E; rewrite eq N.lxor_nilpotent => /esym /N.div_small_iff.
move=> /(_ (N.pow_nonzero 2 k (fun e => ltac:(discriminate e)))).
move/N.log2_lt_pow2 => /(_ v0) lt; apply/ltP; rewrite /msb; move: lt; rewrite /k; lia.
Qed.

Lemma block_span s h x l : aligned s h -> in_span s h x ->
  (x / pow2 h =? l / pow2 h) = in_span s h l.
Proof.
case=> q ->; rewrite /in_span => sx; have w := pow2_gt0 h.
have -> : x / pow2 h = q.
  by symmetry; apply: (N.div_unique _ _ _ (x - q * pow2 h)); nlia.
apply/N.eqb_spec/idP => [qE|sl].
  have := N.mul_div_le l (pow2 h); have := N.mul_succ_div_gt l (pow2 h); rewrite -qE; nlia.
by apply: (N.div_unique _ _ _ (l - q * pow2 h)); nlia.
Qed.

Lemma punctured_belowP n (P : pred N) x : (N.to_nat x <= n)%nat ->
  match punctured_below n P x with
  | Some l => [/\ l < x, P l & forall y, l < y -> y < x -> ~~ P y]
  | None => forall y, y < x -> ~~ P y
  end.
Proof.
elim: n x => [|n IH] x xn /=.
  by move=> y yx; move/leP: xn; lia.
case: N.eqb_spec => [->|x0]; first by move=> y; lia.
case Px: (P (x - 1)); first by split=> //; [lia | move=> y; lia].
have /IH : (N.to_nat (x - 1) <= n)%nat by apply/leP; move/leP: xn; lia.
case: punctured_below => [l [lx Pl no]|no].
  split=> //; first by lia.
  move=> y ly yx; case: (N.eq_dec y (x - 1)) => [->|ne]; first by rewrite Px.
  by apply: no => //; lia.
move=> y yx; case: (N.eq_dec y (x - 1)) => [->|ne]; first by rewrite Px.
by apply: no; lia.
Qed.

Lemma punctured_aboveP n (P : pred N) x :
  match punctured_above n P x with
  | Some l => [/\ x < l, l <= x + N.of_nat n, P l & forall y, x < y -> y < l -> ~~ P y]
  | None => forall y, x < y -> y <= x + N.of_nat n -> ~~ P y
  end.
Proof.
elim: n x => [|n IH] x; first by move=> y; lia.
rewrite [punctured_above _ _ _]/=; case Px: (P (x + 1)).
  by split=> //; [lia | lia | move=> y; lia].
have := IH (x + 1); case: punctured_above => [l [lx le Pl no]|no].
  split=> //; [lia | lia |].
  move=> y ly yx; case: (N.eq_dec y (x + 1)) => [->|ne]; first by rewrite Px.
  by apply: no => //; lia.
move=> y xy yx; case: (N.eq_dec y (x + 1)) => [->|ne]; first by rewrite Px.
by apply: no; lia.
Qed.

(* The free block (s, h) around x whose parent block is not free has the height that the
   nearest punctured leaves on both sides of x tell. *)
Lemma node_height_block d (P : pred N) s h x :
  (h <= d)%nat -> aligned s h -> s + pow2 h <= pow2 d -> in_span s h x -> ~~ nhas_leaf h P s ->
  (h = d \/ exists t, [/\ (h < d)%nat, aligned t h.+1, in_span t h.+1 x, t + pow2 h.+1 <= pow2 d &
                          nhas_leaf h.+1 P t]) ->
  node_height d P x = h.
Proof.
move=> hd al sd sx /nhas_leafP free par.
have noP l : P l -> (h <= msb (N.lxor x l))%nat.
  move=> Pl; have xl : x <> l by move=> xl; case: free; exists x; rewrite // xl.
  rewrite leqNgt (msb_lt h xl) (block_span l al sx); apply/negP => sl; by case: free; exists l.
have geq o : (forall l, o = Some l -> P l) -> (h <= height_to d x o)%nat.
  by case: o => [l|] Pl //=; apply/noP/Pl.
have := @punctured_belowP (N.to_nat x) P x (leqnn _).
have := @punctured_aboveP (N.to_nat (pow2 d - 1 - x)) P x.
rewrite /node_height; set lo := punctured_below _ _ _; set hi := punctured_above _ _ _ => Hi Lo.
have glo : (h <= height_to d x lo)%nat.
  by apply: geq => l lE; move: Lo; rewrite lE => -[].
have ghi : (h <= height_to d x hi)%nat.
  by apply: geq => l lE; move: Hi; rewrite lE => -[].
apply/eqP; rewrite eqn_leq leq_min glo ghi andbT geq_min.
case: par => [hE|[t [lt alt tx td /nhas_leafP [l tl Pl]]]].
  case E: lo Lo => [l|] Lo; rewrite ?E; last by rewrite /= hE leqnn.
  case: free; exists l; last by case: Lo.
  by case: Lo => lx _ _; move: sx sd; rewrite hE /in_span; nlia.
have near l' : P l' -> in_span t h.+1 l' -> (height_to d x (Some l') <= h)%nat.
  move=> Pl' tl'; rewrite /= -ltnS msb_lt ?(block_span l' alt tx) //.
  by move=> xl; case: free; exists x; rewrite // xl.
have xl : x <> l by move=> xl; case: free; exists x; rewrite // xl.
case: (N.lt_ge_cases l x) => c.
  case E: lo Lo => [l'|] Lo; last by have := Lo l c; rewrite Pl.
  case: Lo => l'x Pl' no; 
  suff tl' : in_span t h.+1 l' by rewrite (near l' Pl' tl').
  have : l <= l' by case: (N.le_gt_cases l l') => // gt; have := no l gt c; rewrite Pl.
  by move: tl tx; rewrite /in_span; nlia.
have {}c : x < l by lia.
have lin : l <= x + N.of_nat (N.to_nat (pow2 d - 1 - x)).
  by move: tl tx; rewrite /in_span Nnat.N2Nat.id; nlia.
case E: hi Hi => [l'|] Hi; last by have := Hi l c lin; rewrite Pl.
case: Hi => xl' _ Pl' no; 
suff tl' : in_span t h.+1 l' by rewrite (near l' Pl' tl') !orbT.
have : l' <= l by case: (N.le_gt_cases l' l) => // gt; have := no l c gt; rewrite Pl.
by move: tl tx; rewrite /in_span; nlia.
Qed.

Lemma leaf_num_below d q y : (size q + size y = d)%nat ->
  leaf_num (q ++ y) = first_leaf d q + leaf_num y.
Proof. by move=> qy; rewrite leaf_num_cat /first_leaf -qy addKn. Qed.

Lemma nhas_leaf_free d (P : pred bitseq) q : (size q <= d)%nat ->
  ~~ nhas_leaf (d - size q) (fun x => P (leaf_path d x)) (first_leaf d q) = free d P q.
Proof.
move=> qd; congr negb; apply/nhas_leafP/has_leafP => [[x sx Px]|[y sy Py]].
  pose y := leaf_path (d - size q) (x - first_leaf d q).
  have sy : size y = (d - size q)%nat by rewrite size_leaf_path.
  exists y => //; have sqy : size (q ++ y) = d by rewrite size_cat sy subnKC.
  rewrite -(leaf_numK (q ++ y)) sqy (@leaf_num_below d) ?sy ?subnKC // leaf_pathK.
    by rewrite (_ : _ + _ = x) //; move: sx; rewrite /in_span; nlia.
  by move: sx; rewrite /in_span; nlia.
have sqy : size (q ++ y) = d by rewrite size_cat sy subnKC.
exists (leaf_num (q ++ y)); last by rewrite -{1}sqy leaf_numK.
rewrite (@leaf_num_below d) ?sy ?subnKC // /in_span.
by have := leaf_num_lt y; rewrite sy; nlia.
Qed.

Lemma first_leaf_end d q : (size q <= d)%nat ->
  first_leaf d q + pow2 (d - size q) <= pow2 d.
Proof.
move=> qd; have E : pow2 d = pow2 (size q) * pow2 (d - size q) by rewrite -pow2D subnKC.
rewrite /first_leaf E; have := leaf_num_lt q; have := pow2_gt0 (d - size q); nia.
Qed.

Lemma prefix_in_span d q y : size y = d -> prefix q y ->
  in_span (first_leaf d q) (d - size q) (leaf_num y).
Proof.
move=> sy /prefixP [z yE]; have sz : (size q + size z = d)%nat by rewrite -size_cat -yE.
have E : (d - size q = size z)%nat by rewrite -sz addKn.
rewrite yE (leaf_num_below sz) /in_span E.
apply/andP; split; first by nlia.
by apply/N.ltb_spec0; apply: (proj1 (N.add_lt_mono_l _ _ _)); exact: leaf_num_lt.
Qed.

(* The node of the cover that is above a live leaf has the height that the nearest punctured
   leaves on both sides of the leaf tell. *)
Theorem height_from_neighbours (Seed : Type) (G : bitseq -> Seed -> Seed * Seed) d
    (P : pred bitseq) s (q y : bitseq) :
  q \in map fst (Ggm.cover G d P [::] s) -> size y = d -> prefix q y ->
  node_height d (fun x => P (leaf_path d x)) (leaf_num y) = (d - size q)%nat.
Proof.
rewrite mem_cover => /and3P [qd fr par] sy py.
apply: (@node_height_block _ _ (first_leaf d q)).
- exact: leq_subr.
- exact: aligned_first.
- exact: first_leaf_end.
- exact: prefix_in_span.
- by rewrite nhas_leaf_free.
case/lastP: q qd fr par py => [|p c] qd fr; first by left; rewrite subn0.
rewrite -size_eq0 {1}size_rcons [_ == 0%nat]/= orFb => par py; right; exists (first_leaf d p).
rewrite size_rcons in qd *; have pd : (size p <= d)%nat by apply: ltnW.
have E : (d - (size p).+1).+1 = (d - size p)%nat by rewrite subnSK.
have pE : parent (rcons p c) = p.
  by rewrite /parent size_rcons /= -cats1 take_size_cat.
rewrite E; split; first exact: leq_subr.
- exact: aligned_first.
- by apply: prefix_in_span => //; apply: prefix_trans py; apply: prefix_rcons.
- exact: first_leaf_end.
by move: par; rewrite pE -nhas_leaf_free // negbK.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Functions of WordCode.v computed bit by bit on sums of unknown bits, with calls whose
   arguments are known. This decides about all words for code that puts bytes into words. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect.
From Pprf.proofs Require Import KeccakSym AesSym.
From Pprf.spec Require Import WordCode.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* A word: its bits, lowest first; missing bits are 0. *)
Definition bits : Type := seq form.
Definition one_bit (b : bool) : form := if b then [:: 0%num] else [::].
Definition bits_env : Type := seq (option bits).

Definition width (w : N) : bool := (w =? 32)%num || (w =? 64)%num.

Fixpoint sym_eval (r : bits_env) (e : expr) : option bits :=
  match e with
  | Var u => nth None r u
  | Const c => if (c <? 2 ^ 64)%num then Some (word_of (fun z => one_bit (tb c z))) else None
  | Xor a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t)
    then Some (word_of (fun z => plus (sbit s z) (sbit t z))) else None
  | And a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t) then bitwise and_form s t else None
  | Or a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t) then bitwise or_form s t else None
  | Shl w a n =>
    if sym_eval r a is Some s then
      if width w && (n <? w)%num then
        let n := N.to_nat n in
        Some (word_of (fun z => if (n <= z) && (z < N.to_nat w) then sbit s (z - n) else [::])) else None
    else None
  | Shr w a n =>
    if sym_eval r a is Some s then
      if width w && (n <? w)%num then
        let n := N.to_nat n in Some (word_of (fun z => sbit s (z + n))) else None
    else None
  | Cast w a =>
    if sym_eval r a is Some s then
      if width w then Some (word_of (fun z => if z < N.to_nat w then sbit s z else [::])) else None
    else None
  | _ => None
  end.

Definition same_bits (s t : bits) : bool :=
  [&& size s <= 64, size t <= 64 & all (fun z => same (sbit s z) (sbit t z)) (iota 0 64)].

Fixpoint sym_values (r : bits_env) (es : seq expr) : option (seq bits) :=
  if es is e :: es' then
    if (sym_eval r e, sym_values r es') is (Some s, Some ss) then Some (s :: ss) else None
  else Some [::].

Fixpoint sym_set (r : bits_env) (vs : seq nat) (ss : seq bits) : bits_env :=
  if (vs, ss) is (u :: vs', s :: ss') then sym_set (set_nth None r u (Some s)) vs' ss' else r.

(* What is known about calls: arguments and results. *)
Definition calls : Type := seq (seq bits * seq bits).
Fixpoint answer (cs : calls) (args : seq bits) : option (seq bits) :=
  if cs is (want, results) :: cs' then
    if all2 same_bits args want then Some results else answer cs' args
  else None.

Fixpoint sym_body (cs : calls) (b : seq statement) (r : bits_env) : option bits_env :=
  match b with
  | [::] => Some r
  | Assign u e :: b' =>
    if sym_eval r e is Some s then sym_body cs b' (set_nth None r u (Some s)) else None
  | Call vs args :: b' =>
    if obind (answer cs) (sym_values r args) is Some ss then
      if size ss == size vs then sym_body cs b' (sym_set r vs ss) else None
    else None
  end.

Section Meaning.

Variable v : N -> bool.  (* the unknown bits *)
Hypothesis v0 : v 0%num = true.
Notation sum := (sum v).

Definition is_word (x : N) (s : bits) : Prop := forall z, tb x z = sum (sbit s z).

Lemma is_word_inj x y s : is_word x s -> is_word y s -> x = y.
Proof.
move=> xs ys; apply: N.bits_inj => i; have := xs (N.to_nat i); rewrite -ys /tb.
by rewrite Nnat.N2Nat.id.
Qed.

Lemma sum_one b : sum (one_bit b) = b.
Proof. by case: b; rewrite /= ?v0. Qed.

Lemma is_word_of x f : (forall z, tb x z = if z < 64 then sum (f z) else false) -> is_word x (word_of f).
Proof.
move=> same z; rewrite same /sbit; case: ltnP => lt; first by rewrite nth_mkseq.
by rewrite nth_default // size_mkseq.
Qed.

Lemma high_bit x s z : is_word x s -> size s <= z -> tb x z = false.
Proof. by move=> xs le; rewrite xs /sbit nth_default. Qed.

Lemma tb_low c z : (c < 2 ^ 64)%num -> 64 <= z -> tb c z = false.
Proof.
move=> lt /leP le; rewrite -(N.mod_small _ _ lt) /tb N.mod_pow2_bits_high //; lia.
Qed.

Lemma size_word_of f : size (word_of f) = 64.
Proof. exact: size_mkseq. Qed.

Lemma bitwise_word g (gb : bool -> bool -> bool) f s t p x y :
  (forall q q' f', f q q' = Some f' -> sum f' = gb (sum q) (sum q')) -> gb false false = false ->
  (forall z, tb (g x y) z = gb (tb x z) (tb y z)) -> size s <= 64 -> size t <= 64 ->
  is_word x s -> is_word y t -> bitwise f s t = Some p -> is_word (g x y) p.
Proof.
move=> fP g0 gP ss st xs yt; rewrite /bitwise; case: ifP => // /allP ok /Some_inj <-.
apply: is_word_of => z; rewrite gP; case: ltnP => lt; last first.
  by rewrite (high_bit xs) ?(high_bit yt) // ?(leq_trans ss) ?(leq_trans st).
have := ok z; rewrite mem_iota lt => /(_ isT); rewrite xs yt.
by case E: (f _ _) => [q|] // _; rewrite (fP _ _ _ E).
Qed.

Definition known (r : env) (s : bits_env) : Prop :=
  forall u p, nth None s u = Some p -> size p <= 64 /\ exists2 x, nth None r u = Some x & is_word x p.

Lemma widthP w : width w -> N.to_nat w <= 64.
Proof. by case/orP=> /N.eqb_eq ->. Qed.

Lemma tb_to_word w x z : tb (to_word w x) z = (z < N.to_nat w) && tb x z.
Proof.
rewrite /tb /to_word; case: ltnP => [/ltP lt | /leP le].
  by rewrite N.mod_pow2_bits_low //; lia.
by rewrite N.mod_pow2_bits_high //; lia.
Qed.

Lemma tb_shiftl x n z : tb (N.shiftl x n) z = (N.to_nat n <= z) && tb x (z - N.to_nat n).
Proof.
rewrite /tb; case: leqP => [/leP le | /ltP lt].
  by rewrite N.shiftl_spec_high'; [congr N.testbit; rewrite -minusE; lia | lia].
by rewrite N.shiftl_spec_low //; lia.
Qed.

Lemma tb_shiftr x n z : tb (N.shiftr x n) z = tb x (z + N.to_nat n).
Proof. by rewrite /tb N.shiftr_spec'; congr N.testbit; rewrite -plusE; lia. Qed.

Lemma sym_evalP r s : known r s -> forall e p, sym_eval s e = Some p ->
  size p <= 64 /\ exists2 x, eval r e = Some x & is_word x p.
Proof.
move=> kn; elim=> [u|c|a IHa b IHb|a IHa b IHb|a IHa b IHb|w a IHa|w a IHa b IHb|w a IHa n|w a IHa n|w a IHa] p;
  rewrite [sym_eval _ _]/=.
- exact: kn.
- case: N.ltb_spec => // lt /Some_inj <-; split; first by rewrite size_word_of.
  exists c => //; apply: is_word_of => z; rewrite sum_one; case: ltnP => // le; exact: tb_low.
- case: (sym_eval s a) IHa => // sa /(_ _ erefl)[za [x Ex xa]].
  case: (sym_eval s b) IHb => // sb /(_ _ erefl)[zb [y Ey yb]] /Some_inj <-; split; first by rewrite size_word_of.
  exists (N.lxor x y); first by rewrite /= Ex Ey.
  apply: is_word_of => z; rewrite /tb N.lxor_spec -!/(tb _ z); case: ltnP => lt.
    by rewrite sum_plus xa yb.
  by rewrite (high_bit xa) ?(high_bit yb) // ?(leq_trans za) ?(leq_trans zb).
- case: (sym_eval s a) IHa => // sa /(_ _ erefl)[za [x Ex xa]].
  case: (sym_eval s b) IHb => // sb /(_ _ erefl)[zb [y Ey yb]] E; split.
    by move: E; rewrite /bitwise; case: ifP => // _ /Some_inj <-; rewrite size_word_of.
  exists (N.land x y); first by rewrite /= Ex Ey.
  apply: (@bitwise_word N.land andb) za zb xa yb E => //; first by move=> q q' f'; exact: sum_and.
  by move=> z; rewrite /tb N.land_spec.
- case: (sym_eval s a) IHa => // sa /(_ _ erefl)[za [x Ex xa]].
  case: (sym_eval s b) IHb => // sb /(_ _ erefl)[zb [y Ey yb]] E; split.
    by move: E; rewrite /bitwise; case: ifP => // _ /Some_inj <-; rewrite size_word_of.
  exists (N.lor x y); first by rewrite /= Ex Ey.
  apply: (@bitwise_word N.lor orb) za zb xa yb E => //; first by move=> q q' f'; exact: sum_or.
  by move=> z; rewrite /tb N.lor_spec.
- by [].
- by [].
- case: (sym_eval s a) IHa => // sa /(_ _ erefl)[za [x Ex xa]].
  case: ifP => // /andP[ww nw] /Some_inj <-; split; first by rewrite size_word_of.
  exists (w_shl w x n); first by rewrite /= Ex nw.
  apply: is_word_of => z; rewrite tb_to_word tb_shiftl; have := widthP ww; case: (ltnP z 64) => lt w64.
    by rewrite andbA [(z < _) && _]andbC; case: ifP => _ //; exact: xa.
  by rewrite ltnNge (leq_trans w64 lt).
- case: (sym_eval s a) IHa => // sa /(_ _ erefl)[za [x Ex xa]].
  case: ifP => // /andP[ww nw] /Some_inj <-; split; first by rewrite size_word_of.
  exists (N.shiftr x n); first by rewrite /= Ex nw.
  apply: is_word_of => z; rewrite tb_shiftr; case: ltnP => lt; first exact: xa.
  by rewrite (high_bit xa) // (leq_trans za) // (leq_trans lt) // leq_addr.
case: (sym_eval s a) IHa => // sa /(_ _ erefl)[za [x Ex xa]].
case: ifP => // ww /Some_inj <-; split; first by rewrite size_word_of.
exists (to_word w x); first by rewrite /= Ex.
apply: is_word_of => z; rewrite tb_to_word; have := widthP ww; case: (ltnP z 64) => lt w64.
  by case: ifP => _ //; exact: xa.
by rewrite ltnNge (leq_trans w64 lt).
Qed.

Fixpoint are_words (xs : seq N) (ss : seq bits) : Prop :=
  match xs, ss with
  | x :: xs', s :: ss' => is_word x s /\ are_words xs' ss'
  | [::], [::] => True
  | _, _ => False
  end.

Lemma are_words_inj xs ys ss : are_words xs ss -> are_words ys ss -> xs = ys.
Proof.
elim: ss xs ys => [|s ss IH] [|x xs] [|y ys] //= [xs1 xss] [ys1 yss].
by rewrite (is_word_inj xs1 ys1) (IH _ _ xss yss).
Qed.

Lemma are_words_cat xs ys ss ts : are_words xs ss -> are_words ys ts -> are_words (xs ++ ys) (ss ++ ts).
Proof. by elim: ss xs => [|s ss IH] [|x xs] //= [xs1 xss] yts; split=> //; exact: IH. Qed.

Lemma are_words_nth xs ss : size xs = size ss ->
  (forall k, k < size ss -> is_word (nth 0%num xs k) (nth [::] ss k)) -> are_words xs ss.
Proof.
elim: ss xs => [|s ss IH] [|x xs] //= [sz] ok; split; first exact: (ok 0).
by apply: IH => // k lt; exact: (ok k.+1).
Qed.

Lemma size_are_words xs ss : are_words xs ss -> size xs = size ss.
Proof. by elim: ss xs => [|s ss IH] [|x xs] //= [_ /IH ->]. Qed.

Lemma same_bitsP x s t : same_bits s t -> is_word x s -> is_word x t.
Proof.
case/and3P=> ss st /allP ok xs z; rewrite xs; case: (ltnP z 64) => lt.
  by apply: sameP; apply: ok; rewrite mem_iota.
by rewrite /sbit !nth_default // ?(leq_trans ss) ?(leq_trans st).
Qed.

Lemma same_wordsP xs ss ts : all2 same_bits ss ts -> are_words xs ss -> are_words xs ts.
Proof.
elim: ss xs ts => [|s ss IH] [|x xs] [|t ts] //= /andP[st sst] [xs1 xss]; split; last exact: IH sst xss.
exact: same_bitsP st xs1.
Qed.

Lemma sym_valuesP r s : known r s -> forall es ss, sym_values s es = Some ss ->
  exists2 xs, values r es = Some xs & are_words xs ss.
Proof.
move=> kn; elim=> [|e es IH] ss; first by move=> /Some_inj <-; exists [::].
rewrite [sym_values _ _]/=; case E: (sym_eval s e) => [p|] //; case: sym_values IH => // ps /(_ _ erefl)[xs Exs xps].
move=> /Some_inj <-; have [_ [x Ex xp]] := sym_evalP kn E.
by exists (x :: xs); rewrite /= ?Ex ?Exs.
Qed.

Variable called : seq N -> option (seq N).
Definition small_bits (ss : seq bits) : bool := all (fun s => size s <= 64) ss.
Definition call_right (c : seq bits * seq bits) : Prop :=
  small_bits c.2 /\ forall xs, are_words xs c.1 -> exists2 ys, called xs = Some ys & are_words ys c.2.
Fixpoint calls_right (cs : calls) : Prop := if cs is c :: cs' then call_right c /\ calls_right cs' else True.

Lemma answerP cs args xs ss : calls_right cs -> are_words xs args -> answer cs args = Some ss ->
  small_bits ss /\ exists2 ys, called xs = Some ys & are_words ys ss.
Proof.
move=> ok xa; elim: cs ok => [|[want results] cs IH] //= [[small right] /IH {}IH].
case: ifP => [same /Some_inj <- | _]; last exact: IH.
by split=> //; apply: right; exact: same_wordsP same xa.
Qed.

Lemma sym_setP r s vs ys ss : small_bits ss -> are_words ys ss -> known r s ->
  known (set_all r vs ys) (sym_set s vs ss).
Proof.
elim: vs r s ys ss => [|u vs IH] r s [|y ys] [|p ss] //= /andP[sp small] [yp yss] kn.
apply: IH => // u' p'; rewrite !nth_set_nth /=; case: eqP => [_ /Some_inj <- | _ /kn //].
by split=> //; exists y.
Qed.

Lemma sym_bodyP cs b r s s' : calls_right cs -> known r s -> sym_body cs b s = Some s' ->
  exists2 r', run_body called b r = Some r' & known r' s'.
Proof.
move=> ok; elim: b r s => [|[u e|vs args] b IH] r s kn; first by move=> /Some_inj <-; exists r.
  rewrite [sym_body _ _ _]/=; case E: (sym_eval s e) => [p|] //; have [sp [x Ex xp]] := sym_evalP kn E.
  rewrite [run_body _ _ _]/= Ex; apply: IH => u' p'; rewrite !nth_set_nth /=.
  by case: eqP => [_ /Some_inj <- | _ /kn //]; split=> //; exists x.
rewrite [sym_body _ _ _]/=; case E: sym_values => [ps|] //; have [xs Exs xps] := sym_valuesP kn E.
rewrite /obind /oapp; case A: answer => [ss|] //; have [small [ys Eys yss]] := answerP ok xps A.
case: eqP => // sz /IH {}IH; rewrite [run_body _ _ _]/= Exs /obind /oapp Eys (size_are_words yss) sz eqxx.
by apply: IH; exact: sym_setP.
Qed.

End Meaning.

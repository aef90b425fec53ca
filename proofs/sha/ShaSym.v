(* SPDX-License-Identifier: Apache-2.0 *)
(* Functions of WordCode.v computed on sums of polynomials, which decides about all words.

   An atom is an unknown word, rotated or shifted; a monomial is the bitwise product of atoms; a
   polynomial is the bitwise sum of monomials; and a sum is a constant and polynomials added
   modulo 2^32. All are kept sorted, so that equal ones are the same list, for any order of a sum
   and any way to write a bitwise function such as Maj. If a sum is the definition of an unknown
   word, the word replaces it. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import WordCode.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Sums ---------------------------------------------------------------------------------------- *)

Section Order.
Variables (T : Type) (eq lt : T -> T -> bool).
Fixpoint lex (s t : seq T) : bool :=
  match s, t with
  | [::], _ :: _ => true
  | x :: s', y :: t' => lt x y || eq x y && lex s' t'
  | _, _ => false
  end.
End Order.

(* 128 i + k is word i, rotated to the right by k below 32; 128 i + 32 + k is word i shifted to the right by k, and
   128 i + 64 + k to the left. *)
Definition atom : Type := N.
Definition mono : Type := seq atom.
Definition poly : Type := seq mono.
Definition sum : Type := N * seq poly.

Definition same_mono : mono -> mono -> bool := all2 N.eqb.
Definition lt_mono : mono -> mono -> bool := lex N.eqb N.ltb.
Definition same_poly : poly -> poly -> bool := all2 same_mono.
Definition lt_poly : poly -> poly -> bool := lex same_mono lt_mono.
Definition same_sum (s t : sum) : bool := (s.1 =? t.1)%num && all2 same_poly s.2 t.2.

Fixpoint insert (a : atom) (m : mono) : mono :=
  if m is b :: m' then
    if (a =? b)%num then m else if (a <? b)%num then a :: m else b :: insert a m'
  else [:: a].
Definition mul_mono (m m' : mono) : mono := foldr insert m' m.

Fixpoint toggle (m : mono) (p : poly) : poly :=
  if p is m' :: p' then
    if same_mono m m' then p' else if lt_mono m m' then m :: p else m' :: toggle m p'
  else [:: m].
Definition plus (p q : poly) : poly := foldr toggle q p.
Definition mul (p q : poly) : poly := foldr (fun m r => plus (map (mul_mono m) q) r) [::] p.

Fixpoint put (p : poly) (ps : seq poly) : seq poly :=
  if ps is q :: ps' then if lt_poly p q then p :: ps else q :: put p ps' else [:: p].
Definition add (s t : sum) : sum := (((s.1 + t.1) mod 2 ^ 32)%num, foldr put t.2 s.2).

Definition of_poly (p : poly) : sum := (0%num, [:: p]).
Definition to_poly (s : sum) : option poly :=
  if s is (0%num, [:: p]) then Some p else None.
Definition word_at (i : nat) : sum := of_poly [:: [:: (128 * N.of_nat i)%num]].
(* of a word itself its number *)
Definition to_word_at (s : sum) : option N :=
  if s is (0%num, [:: [:: [:: a]]]) then if (a mod 128 =? 0)%num then Some a else None else None.

Definition sym_env : Type := seq (option sum).

Definition sym_both (f : poly -> poly -> poly) (s t : option sum) : option sum :=
  if (obind to_poly s, obind to_poly t) is (Some p, Some q) then Some (of_poly (f p q)) else None.
(* both halves of a rotation are one atom *)
Definition rotation (p q : poly) : option atom :=
  match p, q with
  | [:: [:: a]], [:: [:: b]] =>
    let n := (a mod 128 - 32)%num in
    if [&& 0 <? n, n <? 32, a =? 128 * (a / 128) + (32 + n) & b =? 128 * (a / 128) + (64 + (32 - n))]%num
    then Some (128 * (a / 128) + n)%num else None
  | _, _ => None
  end.
Definition or_poly (p q : poly) : poly :=
  if rotation p q is Some a then [:: [:: a]] else
  if rotation q p is Some a then [:: [:: a]] else plus (plus p q) (mul p q).
Definition shifted (w : N) (s : option sum) (n direction : N) : option sum :=
  if obind to_word_at s is Some a then
    if [&& w =? 32, 0 <? n & n <? 32]%num then Some (of_poly [:: [:: (a + (direction + n))%num]]) else None
  else None.

Fixpoint sym_eval (r : sym_env) (e : expr) : option sum :=
  match e with
  | Var u => nth None r u
  | Const c => if (c <? 2 ^ 32)%num then Some (c, [::]) else None
  | Xor a b => sym_both plus (sym_eval r a) (sym_eval r b)
  | And a b => sym_both mul (sym_eval r a) (sym_eval r b)
  | Or a b => sym_both or_poly (sym_eval r a) (sym_eval r b)
  | Not w a =>
    if obind to_poly (sym_eval r a) is Some p then
      if (w =? 32)%num then Some (of_poly (toggle [::] p)) else None
    else None
  | Add w a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t) then
      if (w =? 32)%num then Some (add s t) else None
    else None
  | Shr w a n => shifted w (sym_eval r a) n 32
  | Shl w a n => shifted w (sym_eval r a) n 64
  | _ => None
  end.

(* The sums that define a word, and which. *)
Definition definitions : Type := seq (sum * nat).
Fixpoint look_up (ds : definitions) (s : sum) : sum :=
  if ds is (t, i) :: ds' then if same_sum s t then word_at i else look_up ds' s else s.
Definition named (ds : definitions) (s : sum) : sum := if to_poly s is Some _ then s else look_up ds s.

Fixpoint sym_body (ds : definitions) (b : seq statement) (r : sym_env) : option sym_env :=
  match b with
  | [::] => Some r
  | Assign u e :: b' =>
    if sym_eval r e is Some s then sym_body ds b' (set_nth None r u (Some (named ds s))) else None
  | Call _ _ :: _ => None
  end.

Fixpoint sym_values (ds : definitions) (r : sym_env) (es : seq expr) : option (seq sum) :=
  if es is e :: es' then
    if (sym_eval r e, sym_values ds r es') is (Some s, Some ss) then Some (named ds s :: ss) else None
  else Some [::].

(* ---- Words of 32 bits ---------------------------------------------------------------------------- *)

Definition small (x : N) : Prop := (x < 2 ^ 32)%num.
Definition ones : N := N.ones 32.

Lemma smallP x : small x <-> to_word 32 x = x.
Proof.
rewrite /small /to_word; split=> [lt | <-]; first by rewrite N.mod_small.
by apply: N.mod_lt.
Qed.

Lemma small_bits x : (forall i, (32 <= i)%num -> N.testbit x i = false) -> small x.
Proof.
move=> high; apply/smallP; apply: N.bits_inj => i; rewrite /to_word.
by case: (N.lt_ge_cases i 32) => lt; [rewrite N.mod_pow2_bits_low | rewrite N.mod_pow2_bits_high ?high].
Qed.

Lemma bits_small x i : small x -> (32 <= i)%num -> N.testbit x i = false.
Proof. by move/smallP <- => le; rewrite /to_word N.mod_pow2_bits_high. Qed.

Lemma small_to_word x : small (to_word 32 x).
Proof. by apply: N.mod_lt. Qed.

Lemma small_ones : small ones.
Proof. by []. Qed.

Lemma small_lxor x y : small x -> small y -> small (N.lxor x y).
Proof. by move=> sx sy; apply: small_bits => i le; rewrite N.lxor_spec !bits_small. Qed.

Lemma small_land x y : small x -> small y -> small (N.land x y).
Proof. by move=> sx sy; apply: small_bits => i le; rewrite N.land_spec !bits_small. Qed.

Lemma small_lor x y : small x -> small y -> small (N.lor x y).
Proof. by move=> sx sy; apply: small_bits => i le; rewrite N.lor_spec !bits_small. Qed.

Lemma small_shr x n : small x -> small (N.shiftr x n).
Proof. by move=> sx; apply: small_bits => i le; rewrite N.shiftr_spec' bits_small //; lia. Qed.

Lemma land_lxor x y z : N.land (N.lxor x y) z = N.lxor (N.land x z) (N.land y z).
Proof. by apply: N.bits_inj => i; rewrite !(N.land_spec, N.lxor_spec); do 3 case: N.testbit. Qed.

Lemma land_lxor_r x y z : N.land x (N.lxor y z) = N.lxor (N.land x y) (N.land x z).
Proof. by rewrite ![N.land x _]N.land_comm land_lxor. Qed.

Lemma lor_lxor x y : N.lor x y = N.lxor (N.lxor x y) (N.land x y).
Proof. by apply: N.bits_inj => i; rewrite !(N.land_spec, N.lxor_spec, N.lor_spec); do 2 case: N.testbit. Qed.

Lemma land_ones x : small x -> N.land ones x = x.
Proof.
move=> sx; apply: N.bits_inj => i; rewrite N.land_spec.
case: (N.lt_ge_cases i 32) => lt; first by rewrite N.ones_spec_low.
by rewrite N.ones_spec_high // bits_small.
Qed.

(* ---- Meaning ------------------------------------------------------------------------------------- *)

Definition rotr (x n : N) : N := N.lor (N.shiftr x n) (w_shl 32 x (32 - n)).

Arguments N.land : simpl never.
Arguments N.lxor : simpl never.
Arguments N.lor : simpl never.
Arguments N.add : simpl never.
Arguments to_word : simpl never.
Arguments ones : simpl never.

Section Meaning.

Variable v : nat -> N.  (* the unknown words *)
Hypothesis v_small : forall i, small (v i).

Definition atom_val (a : atom) : N :=
  let x := v (N.to_nat (a / 128)) in
  let k := (a mod 128)%num in
  if (k =? 0)%num then x else if (k <? 32)%num then rotr x k else
  if (k <? 64)%num then N.shiftr x (k - 32) else w_shl 32 x (k - 64).
Definition mono_val (m : mono) : N := foldr (fun a => N.land (atom_val a)) ones m.
Definition poly_val (p : poly) : N := foldr (fun m => N.lxor (mono_val m)) 0%num p.
Definition parts_val (ps : seq poly) : N := foldr (fun p => N.add (poly_val p)) 0%num ps.
Definition sum_val (s : sum) : N := to_word 32 (s.1 + parts_val s.2).

Lemma small_atom a : small (atom_val a).
Proof.
rewrite /atom_val; case: ifP => _ //; case: ifP => _; last case: ifP => _.
- by apply: small_lor; [apply: small_shr | apply: small_to_word].
- exact: small_shr.
- exact: small_to_word.
Qed.

Lemma small_mono m : small (mono_val m).
Proof. by elim: m => [|a m IH] //; apply: small_land IH; apply: small_atom. Qed.

Lemma small_poly p : small (poly_val p).
Proof. by elim: p => [|m p IH] //; apply: small_lxor IH; apply: small_mono. Qed.

Lemma same_monoP m m' : same_mono m m' -> m = m'.
Proof. by elim: m m' => [|a m IH] [|b m'] //= /andP[/N.eqb_eq -> /IH ->]. Qed.

Lemma same_polyP p q : same_poly p q -> p = q.
Proof. by elim: p q => [|a m IH] [|b m'] //= /andP[/same_monoP -> /IH ->]. Qed.

Lemma same_sumP s t : same_sum s t -> s = t.
Proof.
case: s t => [c ps] [d qs] /andP[/N.eqb_eq /= ->] same; congr pair.
by elim: ps qs same => [|a m IH] [|b m'] //= /andP[/same_polyP -> /IH ->].
Qed.

Lemma mono_insert a m : mono_val (insert a m) = N.land (atom_val a) (mono_val m).
Proof.
elim: m => [|b m IH] //=; case: N.eqb_spec => [-> | _] /=.
  by rewrite N.land_assoc N.land_diag.
case: ifP => // _ /=; rewrite IH !N.land_assoc; congr N.land; exact: N.land_comm.
Qed.

Lemma mono_mul m m' : mono_val (mul_mono m m') = N.land (mono_val m) (mono_val m').
Proof.
elim: m => [|a m IH]; first by rewrite /= land_ones; last exact: small_mono.
rewrite /=.
by rewrite mono_insert IH N.land_assoc.
Qed.

Lemma poly_toggle m p : poly_val (toggle m p) = N.lxor (mono_val m) (poly_val p).
Proof.
elim: p => [|m' p IH] //=; case: ifP => [/same_monoP -> | _].
  by rewrite -N.lxor_assoc N.lxor_nilpotent N.lxor_0_l.
case: ifP => // _ /=; rewrite IH -!N.lxor_assoc; congr N.lxor; exact: N.lxor_comm.
Qed.

Lemma poly_plus p q : poly_val (plus p q) = N.lxor (poly_val p) (poly_val q).
Proof.
elim: p => [|m p IH]; first by rewrite /= N.lxor_0_l.
by rewrite /= poly_toggle -/(plus p q) IH N.lxor_assoc.
Qed.

Lemma poly_mul_mono m q : poly_val (map (mul_mono m) q) = N.land (mono_val m) (poly_val q).
Proof.
elim: q => [|m' q IH]; first by rewrite /= N.land_0_r.
by rewrite /= IH mono_mul land_lxor_r.
Qed.

Lemma poly_mul p q : poly_val (mul p q) = N.land (poly_val p) (poly_val q).
Proof.
elim: p => [|m p IH]; first by rewrite /= N.land_0_l.
by rewrite /= poly_plus poly_mul_mono -/(mul p q) IH land_lxor.
Qed.

Lemma poly_not p : poly_val (toggle [::] p) = w_not 32 (poly_val p).
Proof. by rewrite poly_toggle N.lxor_comm. Qed.

Lemma parts_put p ps : parts_val (put p ps) = (poly_val p + parts_val ps)%num.
Proof.
elim: ps => [|q ps IH] //=; case: ifP => // _ /=; rewrite IH.
by rewrite !N.add_assoc (N.add_comm (poly_val p)).
Qed.

Lemma sum_add s t : sum_val (add s t) = w_add 32 (sum_val s) (sum_val t).
Proof.
case: s t => [c ps] [d qs]; rewrite /sum_val /w_add /to_word /=.
have -> : parts_val (foldr put qs ps) = (parts_val ps + parts_val qs)%num.
  by elim: ps => [|p ps IH] //=; rewrite parts_put IH N.add_assoc.
rewrite N.add_mod_idemp_l // -N.add_mod //; congr (_ mod _)%num; lia.
Qed.

Lemma sum_of_poly p : sum_val (of_poly p) = poly_val p.
Proof. by rewrite /sum_val /= N.add_0_l N.add_0_r; apply/smallP; exact: small_poly. Qed.

Lemma to_polyP s p : to_poly s = Some p -> sum_val s = poly_val p.
Proof. by case: s => [[|c] [|q []]] //= [->]; rewrite sum_of_poly. Qed.

Lemma poly_atom a : poly_val [:: [:: a]] = atom_val a.
Proof. by rewrite /= N.lxor_0_r N.land_comm land_ones //; exact: small_atom. Qed.

Lemma atom_at i k : (k < 128)%num ->
  atom_val (128 * i + k)%num = let x := v (N.to_nat i) in
    if (k =? 0)%num then x else if (k <? 32)%num then rotr x k else
    if (k <? 64)%num then N.shiftr x (k - 32) else w_shl 32 x (k - 64).
Proof.
move=> lt; rewrite /atom_val.
have -> : ((128 * i + k) mod 128 = k)%num by rewrite N.add_comm N.mul_comm N.mod_add // N.mod_small.
by have -> : ((128 * i + k) / 128 = i)%num by rewrite N.mul_comm N.div_add_l // N.div_small // N.add_0_r.
Qed.

Lemma rotationP p q a : rotation p q = Some a -> atom_val a = N.lor (poly_val p) (poly_val q).
Proof.
case: p => [|[|b []] []] //; case: q => [|[|c []] []] //; rewrite /rotation !poly_atom.
move: (b mod 128 - 32)%num (b / 128)%num => n i.
case: ifP => // /and4P[/N.ltb_lt n0 /N.ltb_lt n32 /N.eqb_eq -> /N.eqb_eq ->] [<-].
rewrite !atom_at; try lia.
case: N.eqb_spec => [|_]; first by lia.
case: N.ltb_spec => [_|]; last by lia.
case: N.eqb_spec => [|_]; first by lia.
case: N.ltb_spec => [|_]; first by lia.
case: N.ltb_spec => [_|]; last by lia.
case: N.eqb_spec => [|_]; first by lia.
case: N.ltb_spec => [|_]; first by lia.
case: N.ltb_spec => [|_]; first by lia.
rewrite /rotr; congr (N.lor (N.shiftr _ _) (w_shl _ _ _)); lia.
Qed.

Lemma poly_or p q : poly_val (or_poly p q) = N.lor (poly_val p) (poly_val q).
Proof.
rewrite /or_poly; case E: rotation => [a|]; first by rewrite poly_atom (rotationP E).
case E': rotation => [a|]; first by rewrite poly_atom (rotationP E') N.lor_comm.
by rewrite !poly_plus poly_mul lor_lxor.
Qed.

Lemma word_at_val i : sum_val (word_at i) = v i.
Proof.
rewrite /word_at sum_of_poly poly_atom -[(128 * _)%num]N.add_0_r atom_at //.
by rewrite Nnat.Nat2N.id.
Qed.

Lemma to_word_atP s a : to_word_at s = Some a ->
  exists i, a = (128 * i)%num /\ sum_val s = v (N.to_nat i).
Proof.
case: s => [[|c] [|[|[|b []] []] []]] //=; case: N.eqb_spec => // b0 [<-]; exists (b / 128)%num.
have E : (b = 128 * (b / 128))%num by have := N.div_mod' b 128; rewrite b0 N.add_0_r.
split=> //; rewrite sum_of_poly poly_atom [in LHS]E -[(128 * _)%num]N.add_0_r atom_at //.
Qed.

(* ---- What is computed on sums holds for words
   ------------------------------------------------------ *)

Definition known (r : env) (s : sym_env) : Prop :=
  forall u t, nth None s u = Some t -> nth None r u = Some (sum_val t).

Lemma sym_bothP f g s t x y u :
  (forall p q, poly_val (f p q) = g (poly_val p) (poly_val q)) ->
  (forall s', s = Some s' -> x = Some (sum_val s')) -> (forall t', t = Some t' -> y = Some (sum_val t')) ->
  sym_both f s t = Some u -> both g x y = Some (sum_val u).
Proof.
move=> fP; rewrite /sym_both; case: s => // s /(_ _ erefl) -> /=; case Es: to_poly => [p|] //.
case: t => // t /(_ _ erefl) -> /=; case Et: to_poly => [q|] // [<-].
by rewrite sum_of_poly fP -(to_polyP Es) -(to_polyP Et).
Qed.

Lemma shiftedP f direction w s x n u :
  (direction = 32 /\ f = N.shiftr \/ direction = 64 /\ f = w_shl 32)%num ->
  (forall s', s = Some s' -> x = Some (sum_val s')) -> shifted w s n direction = Some u ->
  w = 32%num /\ (if (n <? w)%num then omap (f ^~ n) x else None) = Some (sum_val u).
Proof.
rewrite /shifted => dir; case: s => // s /(_ _ erefl) -> /=; case Es: to_word_at => [a|] //.
case: ifP => // /and3P[/N.eqb_eq -> /N.ltb_lt n0 n32] [<-]; rewrite n32; split=> //=; congr Some.
have [i [-> ->]] := to_word_atP Es; rewrite sum_of_poly poly_atom; move/N.ltb_lt: n32 => n32.
case: dir => -[-> ->]; rewrite atom_at; try lia.
  case: N.eqb_spec => [|_]; first by lia.
  case: N.ltb_spec => [|_]; first by lia.
  case: N.ltb_spec => [_|]; last by lia.
  by congr N.shiftr; lia.
case: N.eqb_spec => [|_]; first by lia.
case: N.ltb_spec => [|_]; first by lia.
case: N.ltb_spec => [|_]; first by lia.
by congr w_shl; lia.
Qed.

Lemma sym_evalP r s : known r s -> forall e t, sym_eval s e = Some t -> eval r e = Some (sum_val t).
Proof.
move=> kn; fix IH 1; case.
- by move=> u t /kn.
- move=> c t /=; case: N.ltb_spec => // lt [<-]; congr Some.
  by rewrite /sum_val /= N.add_0_r; apply: esym; apply/smallP.
- move=> a b t /=; exact: (sym_bothP poly_plus (IH a) (IH b)).
- move=> a b t /=; exact: (sym_bothP poly_mul (IH a) (IH b)).
- move=> a b t /=; exact: (sym_bothP poly_or (IH a) (IH b)).
- move=> w a t /=; case: (sym_eval s a) (IH a) => //= sa /(_ _ erefl) ->.
  case E: to_poly => [p|] //=; case: N.eqb_spec => // -> [<-].
  by rewrite sum_of_poly poly_not (to_polyP E).
- move=> w a b t /=; case: (sym_eval s a) (IH a) => //= sa /(_ _ erefl) ->.
  case: (sym_eval s b) (IH b) => //= sb /(_ _ erefl) ->.
  by case: N.eqb_spec => // -> /Some_inj <-; rewrite sum_add.
- move=> w a n t /= E; have [ww] := @shiftedP (w_shl 32) _ _ _ _ _ _ (or_intror (conj erefl erefl)) (IH a) E.
  by rewrite ww.
- move=> w a n t /= E; exact: (proj2 (@shiftedP N.shiftr _ _ _ _ _ _ (or_introl (conj erefl erefl)) (IH a) E)).
- by [].
Qed.

Fixpoint hold (ds : definitions) : Prop := if ds is (s, i) :: ds' then sum_val s = v i /\ hold ds' else True.

Lemma named_val ds s : hold ds -> sum_val (named ds s) = sum_val s.
Proof.
rewrite /named; case: to_poly => [_|] //; elim: ds => [|[t i] ds IH] // [ti /IH {}IH].
rewrite [look_up _ _]/=; case E: same_sum; last exact: IH.
by rewrite word_at_val (same_sumP E).
Qed.

Lemma sym_bodyP called ds b r s s' : hold ds -> known r s -> sym_body ds b s = Some s' ->
  exists2 r', run_body called b r = Some r' & known r' s'.
Proof.
move=> ok; elim: b r s => [|[u e|? ?] b IH] r s kn //=; first by case=> <-; exists r.
case E: (sym_eval s e) => [t|] //; rewrite (sym_evalP kn E).
apply: IH => u' t'; rewrite !nth_set_nth /=; case: eqP => [_ [<-] | _ /kn //].
by rewrite named_val.
Qed.

Lemma sym_valuesP ds r s es ts : hold ds -> known r s -> sym_values ds s es = Some ts ->
  values r es = Some (map sum_val ts).
Proof.
move=> ok kn; elim: es ts => [|e es IH] ts /=; first by case=> <-.
case E: (sym_eval s e) => [t|] //; rewrite (sym_evalP kn E).
by case: sym_values IH => // ts1 /(_ _ erefl) -> /Some_inj <-; rewrite map_cons named_val.
Qed.

End Meaning.

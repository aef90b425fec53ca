(* SPDX-License-Identifier: Apache-2.0 *)
(* Blocks of LaneCode.v computed on polynomials, which decides about all words.

   A polynomial stands for a word: its bit z is the sum, mod 2, of terms; a term is the product
   of bit z of a constant and of bits z - k (mod 64) of unknown words. Operators on words that
   treat all bits alike, and rotations, are operators on polynomials; two words are equal if the
   sum of their polynomials has only zero constants. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips202 LaneCode.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Bits of words --------------------------------------------------------------------- *)

Definition tb (a : N) (z : nat) : bool := N.testbit a (N.of_nat z).

Lemma back_lt z k : back z k < w.
Proof. by rewrite /back ltn_pmod. Qed.

Lemma back0 z : z < w -> back z 0 = z.
Proof. by move=> lt; rewrite /back mod0n subn0 modnDr modn_small. Qed.

Lemma back_back z r k : back (back z r) k = back z ((k + r) %% w).
Proof.
rewrite /back modn_mod modnDml -(modnDm k r).
have : k %% w < w by rewrite ltn_pmod.
have : r %% w < w by rewrite ltn_pmod.
move: (k %% w) (r %% w) => a b /ltP lt1 /ltP lt2; case: (ltnP (a + b) w) => [lt | /leP le].
  rewrite (modn_small lt) -[in RHS]modnDr; congr modn; move/ltP: lt.
  by rewrite -!plusE -!minusE; lia.
have -> : a + b = a + b - w + w by move: le; rewrite -!plusE -!minusE; lia.
rewrite modnDr (@modn_small (a + b - w)); last by apply/ltP; rewrite -plusE -minusE; lia.
by congr modn; move: le; rewrite -!plusE -!minusE; lia.
Qed.

Lemma lt64 z : z < w -> (N.of_nat z < 64)%num.
Proof. by move/ltP; rewrite /w; lia. Qed.

Lemma tb_u64 a z : z < w -> tb (u64 a) z = tb a z.
Proof. by move/lt64 => lt; rewrite /tb /u64 N.mod_pow2_bits_low. Qed.

Lemma tb_xor a b z : z < w -> tb (w_xor a b) z = xorb (tb a z) (tb b z).
Proof. by move=> lt; rewrite tb_u64 // /tb N.lxor_spec. Qed.

Lemma tb_and a b z : z < w -> tb (w_and a b) z = tb a z && tb b z.
Proof. by move=> lt; rewrite tb_u64 // /tb N.land_spec. Qed.

Lemma tb_not a z : z < w -> tb (w_not a) z = ~~ tb a z.
Proof.
move=> lt; rewrite -(tb_u64 a) // /w_not.
have bound : (u64 a < 2 ^ 64)%num by apply: N.mod_lt.
change (2 ^ 64 - 1)%num with (N.ones 64).
rewrite -N.lnot_sub_low; first by rewrite /tb N.lnot_spec_low //; apply: lt64.
case: (N.eq_dec (u64 a) 0) => [-> // | ne]; apply/N.log2_lt_pow2 => //; lia.
Qed.

Lemma tb_rotation a b n m z :
  (0 < n)%num -> (0 < m)%num -> (n + m = 64)%num -> (forall y, y < w -> tb a y = tb b y) -> z < w ->
  tb (w_or (w_shl a n) (w_shr b m)) z = tb a (back z (N.to_nat n)).
Proof.
move=> n0 m0 nm same lt; rewrite tb_u64 // {1}/tb N.lor_spec.
rewrite -/(tb (w_shl a n) z) tb_u64 // /tb N.shiftr_spec'.
have lt' := lt64 lt; have back_n : back z (N.to_nat n) =
    if (N.of_nat z <? n)%num then z + N.to_nat m else z - N.to_nat n.
  rewrite /back (@modn_small (N.to_nat n)); last by apply/ltP; rewrite /w; lia.
  have -> : w - N.to_nat n = N.to_nat m by rewrite /w -minusE; lia.
  case: N.ltb_spec => ltn; first by rewrite modn_small //; apply/ltP; rewrite /w -plusE; lia.
  have -> : z + N.to_nat m = z - N.to_nat n + w by rewrite /w -!plusE -minusE; lia.
  by rewrite modnDr modn_small //; apply/ltP; rewrite /w -minusE; move/ltP: lt; rewrite /w; lia.
rewrite back_n; case: N.ltb_spec => ltn.
  rewrite N.shiftl_spec_low //= /u64 N.mod_pow2_bits_low; last by lia.
  have -> : (N.of_nat z + m = N.of_nat (z + N.to_nat m))%num by rewrite -plusE; lia.
  by rewrite -/(tb b _) -same //; apply/ltP; rewrite /w -plusE; lia.
rewrite N.shiftl_spec_high' // /u64 N.mod_pow2_bits_high ?orbF; last by lia.
by congr N.testbit; rewrite -minusE; lia.
Qed.

(* ---- Polynomials ----------------------------------------------------------------------- *)

(* Bit z - k of unknown word n is the number 64 n + k; a product of such bits is ascending. *)
Definition mono : Type := seq N.
Definition poly : Type := seq (mono * N).

Definition unknown (n : nat) : poly := [:: ([:: 64 * N.of_nat n]%num, N.ones 64)].
Definition const (c : N) : poly := [:: ([::], c)].

Definition same_mono : mono -> mono -> bool := all2 N.eqb.

Fixpoint add_term (m : mono) (c : N) (p : poly) : poly :=
  if p is (m', c') :: p' then
    if same_mono m m' then (m, N.lxor c c') :: p' else (m', c') :: add_term m c p'
  else [:: (m, c)].
Definition add (p q : poly) : poly := foldr (fun t => add_term t.1 t.2) q p.

Fixpoint insert (a : N) (m : mono) : mono :=
  if m is b :: m' then
    if (a =? b)%num then m else if (a <? b)%num then a :: m else b :: insert a m'
  else [:: a].
Definition mul_term (m : mono) (c : N) (p : poly) : poly :=
  foldr (fun t => add_term (foldr insert t.1 m) (N.land c t.2)) [::] p.
Definition mul (p q : poly) : poly := foldr (fun t r => add (mul_term t.1 t.2 q) r) [::] p.

Definition rotated (c r : N) : N := w_or (w_shl c r) (w_shr c (64 - r)%num).
Definition rotate_bit (r a : N) : N := (64 * (a / 64) + (a mod 64 + r) mod 64)%num.
(* the terms stay different: nothing is to be added up *)
Definition rotate (r : N) (p : poly) : poly :=
  if (r =? 0)%num then p
  else [seq (foldr insert [::] (map (rotate_bit r) t.1), rotated t.2 r) | t <- p].

Definition zero (p : poly) : bool := all (fun t => u64 t.2 =? 0)%num p.
Definition same_poly (p q : poly) : bool := zero (add p q).

Section Denotation.

Variable v : nat -> N.  (* the unknown words *)

Definition bit_of (z : nat) (a : N) : bool :=
  tb (v (N.to_nat (a / 64)%num)) (back z (N.to_nat (a mod 64)%num)).
Definition term_at (z : nat) (t : mono * N) : bool := tb t.2 z && all (bit_of z) t.1.
Definition at_ (p : poly) (z : nat) : bool := foldr (fun t => xorb (term_at z t)) false p.

Lemma at_unknown n z : z < w -> at_ (unknown n) z = tb (v n) z.
Proof.
move=> lt.
have -> : at_ (unknown n) z =
  xorb (tb (N.ones 64) z && (bit_of z (64 * N.of_nat n)%num && true)) false by [].
rewrite {1}/tb N.ones_spec_low; last exact: lt64.
rewrite Bool.xorb_false_r andbT /bit_of N.mul_comm N.div_mul // N.mod_mul //.
by rewrite Nnat.Nat2N.id back0.
Qed.

Lemma at_const c z : at_ (const c) z = tb c z.
Proof. by rewrite /at_ /= /term_at /= andbT Bool.xorb_false_r. Qed.

Lemma same_monoP m m' : same_mono m m' -> m = m'.
Proof. by elim: m m' => [|a m IH] [|b m'] //= /andP[/N.eqb_eq -> /IH ->]. Qed.

Lemma at_add_term m c p z : at_ (add_term m c p) z = xorb (term_at z (m, c)) (at_ p z).
Proof.
elim: p => [|[m' c'] p IH] //=; case: ifP => [/same_monoP <- | _] /=.
  by rewrite /term_at /= /tb N.lxor_spec; case: all; do 2 case: N.testbit; case: at_.
by rewrite -/(at_ _ z) IH; do 2 case: term_at; case: at_.
Qed.

Lemma at_add p q z : at_ (add p q) z = xorb (at_ p z) (at_ q z).
Proof.
elim: p => [|[m c] p IH]; first by case: at_.
by rewrite /= at_add_term -/(add p q) IH /=; case: term_at; case: at_; case: at_.
Qed.

Lemma all_insert z a m : all (bit_of z) (insert a m) = bit_of z a && all (bit_of z) m.
Proof.
elim: m => [|b m IH] //=; case: N.eqb_spec => [-> | _] /=; first by case: bit_of.
by case: N.ltb => //=; rewrite IH; do 2 case: bit_of.
Qed.

Lemma all_inserts z m m' :
  all (bit_of z) (foldr insert m' m) = all (bit_of z) m && all (bit_of z) m'.
Proof. by elim: m => [|a m IH] //=; rewrite all_insert IH andbA. Qed.

Lemma at_mul_term m c p z : at_ (mul_term m c p) z = term_at z (m, c) && at_ p z.
Proof.
elim: p => [|[m' c'] p IH]; first by rewrite andbF.
rewrite /= at_add_term -/(mul_term m c p) IH /= /term_at /= all_inserts /tb N.land_spec.
by do 2 case: all; do 2 case: N.testbit; case: at_.
Qed.

Lemma at_mul p q z : at_ (mul p q) z = at_ p z && at_ q z.
Proof.
elim: p => [|[m c] p IH] //.
by rewrite /= at_add at_mul_term -/(mul p q) IH; case: term_at; case: at_; case: at_.
Qed.

Lemma bit_rotate r z a : (r < 64)%num ->
  bit_of z (rotate_bit r a) = bit_of (back z (N.to_nat r)) a.
Proof.
move=> r64; rewrite /bit_of /rotate_bit.
have ->: ((64 * (a / 64) + (a mod 64 + r) mod 64) / 64 = a / 64)%num.
  by rewrite N.mul_comm N.div_add_l // (N.div_small (_ mod _)) ?N.add_0_r //; apply: N.mod_lt.
have ->: ((64 * (a / 64) + (a mod 64 + r) mod 64) mod 64 = (a mod 64 + r) mod 64)%num.
  by rewrite N.add_comm N.mul_comm N.mod_add // N.mod_mod.
rewrite back_back; congr (tb _ (back _ _)).
have a64 : (a mod 64 < 64)%num by apply: N.mod_lt.
rewrite -plusE -Nnat.N2Nat.inj_add; move: (_ + r)%num => {a a64 r r64} s.
rewrite [in RHS](_ : N.to_nat s = N.to_nat (s / 64) * 64 + N.to_nat (s mod 64)).
  by rewrite modnMDl modn_small //; apply/ltP; have := N.mod_lt s 64; rewrite /w; lia.
rewrite -plusE -multE; have := N.div_mod' s 64; lia.
Qed.

Lemma at_rotate r p z : (r < 64)%num -> z < w ->
  at_ (rotate r p) z = at_ p (back z (N.to_nat r)).
Proof.
move=> r64 lt; rewrite /rotate; case: N.eqb_spec => [-> | r0]; first by rewrite back0.
elim: p => [|[m c] p IH] //=; rewrite -/(at_ _ z) IH; congr xorb; rewrite /term_at /=.
rewrite tb_rotation //; try lia; congr andb; rewrite all_inserts andbT.
by elim: m => [|a m IHm] //=; rewrite bit_rotate // IHm.
Qed.

Lemma zeroP p z : z < w -> zero p -> at_ p z = false.
Proof.
move=> lt; elim: p => [|[m c] p IH] //= /andP[/N.eqb_eq c0 /IH].
by rewrite -/(at_ p z) => ->; rewrite /term_at /= -tb_u64 // c0.
Qed.

Lemma same_polyP p q z : z < w -> same_poly p q -> at_ p z = at_ q z.
Proof. by move=> lt /(zeroP lt); rewrite at_add; case: at_; case: at_. Qed.

(* ---- Blocks ---------------------------------------------------------------------------- *)

Definition ones : N := N.ones 64.
Arguments add : simpl never.
Arguments mul : simpl never.
Arguments ones : simpl never.

Definition sym_env : Type := seq (option poly).

Variables (table : seq N) (i : option nat) (from counted : nat).
(* the words at the counter are unknowns from `from' on *)
Hypothesis counter :
  forall k, k < counted -> obind (fun i => get table (i + k)) i = Some (v (from + k)).

Definition stands_for (x : N) (p : poly) : Prop := forall z, z < w -> tb x z = at_ p z.
Definition known (r : env) (s : sym_env) : Prop :=
  forall u p, nth None s u = Some p -> exists2 x, nth None r u = Some x & stands_for x p.

Definition sym_both (f : poly -> poly -> poly) (p q : option poly) : option poly :=
  if p is Some p then if q is Some q then Some (f p q) else None else None.

Fixpoint sym_eval (s : sym_env) (e : expr) : option poly :=
  match e with
  | Var u => nth None s u
  | Const c => Some (const (u64 c))
  | At k => omap const (get table k)
  | AtCounter k => if k < counted then Some (unknown (from + k)) else None
  | Xor a b => sym_both add (sym_eval s a) (sym_eval s b)
  | And a b => sym_both mul (sym_eval s a) (sym_eval s b)
  | Or (Shl a n) (Shr b m) =>
    if (sym_eval s a, sym_eval s b) is (Some p, Some q) then
      if [&& 0 <? n, 0 <? m, n + m =? 64 & same_poly p q]%num then Some (rotate n p) else None
    else None
  | Not a => omap (add (const ones)) (sym_eval s a)
  | _ => None
  end.

Lemma sym_evalP r s : known r s -> forall e p, sym_eval s e = Some p ->
  exists2 x, eval table i r e = Some x & stands_for x p.
Proof.
move=> kn; fix IH 1; case.
- by move=> u p /kn.
- by move=> c p [<-]; exists (u64 c) => // z lt; rewrite at_const.
- move=> k p /=; case: get => //= c [<-]; exists c => // z lt; by rewrite at_const.
- move=> k p /=; case: ifP => // lt [<-]; have := counter lt; case: i => //= i' ->.
  by exists (v (from + k)) => // z lt'; rewrite at_unknown.
- move=> a b p /=; case: (sym_eval s a) (IH a) => //= pa /(_ _ erefl)[x -> xa].
  case: (sym_eval s b) (IH b) => //= pb /(_ _ erefl)[y -> yb] [<-].
  by exists (w_xor x y) => // z lt; rewrite tb_xor // xa // yb // at_add.
- move=> a b p /=; case: (sym_eval s a) (IH a) => //= pa /(_ _ erefl)[x -> xa].
  case: (sym_eval s b) (IH b) => //= pb /(_ _ erefl)[y -> yb] [<-].
  by exists (w_and x y) => // z lt; rewrite tb_and // xa // yb // at_mul.
- case=> // a n [] // b m p /=.
  case: (sym_eval s a) (IH a) => //= pa /(_ _ erefl)[x -> xa].
  case: (sym_eval s b) (IH b) => //= pb /(_ _ erefl)[y -> yb].
  case: ifP => // /and4P[/N.ltb_lt n0 /N.ltb_lt m0 /N.eqb_eq nm same] [<-].
  have n64 : (n < 64)%num by lia.
  have m64 : (m < 64)%num by lia.
  move/N.ltb_lt: (n64) => ->; move/N.ltb_lt: (m64) => ->.
  exists (w_or (w_shl x n) (w_shr y m)) => // z lt; rewrite tb_rotation //.
    by rewrite at_rotate // xa // back_lt.
  by move=> z' lt'; rewrite xa // yb //; apply: same_polyP.
- move=> a p /=; case: (sym_eval s a) (IH a) => //= pa /(_ _ erefl)[x -> xa] [<-].
  exists (w_not x) => // z lt; rewrite tb_not // xa // at_add at_const.
  by rewrite {1}/tb /ones N.ones_spec_low //; apply: lt64.
- by [].
- by [].
Qed.

Fixpoint sym_block (b : block) (s : sym_env) : option sym_env :=
  if b is (u, e) :: b' then
    if sym_eval s e is Some p then sym_block b' (set_nth None s u (Some p)) else None
  else Some s.

Lemma sym_blockP b r s s' : known r s -> sym_block b s = Some s' ->
  exists2 r', run_block table i b r = Some r' & known r' s'.
Proof.
elim: b r s => [|[u e] b IH] r s kn /=; first by case=> <-; exists r.
case: (sym_eval s e) (@sym_evalP r s kn e) => // p /(_ _ erefl)[x -> xp].
apply: IH => u' p'; rewrite !nth_set_nth /=; case: eqP => [_ [<-] | _ /kn //].
by exists x.
Qed.

End Denotation.

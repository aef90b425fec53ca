(* SPDX-License-Identifier: Apache-2.0 *)
(* Two ways to compute blocks of LaneCode.v, each of which decides about all words: bit by bit on
   sums of unknown bits, for shifts, masks and xor; and on one bit of each word, for operations
   that treat all bits alike. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode.
From Pprf.proofs Require Import KeccakSym.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Sums of unknown bits ------------------------------------------------------------------------ *)

(* The sum, mod 2, of the unknown bits of these numbers; bit 0 is 1. *)
Definition form : Type := seq N.

Fixpoint toggle (a : N) (p : form) : form :=
  if p is b :: p' then if (a =? b)%num then p' else b :: toggle a p' else [:: a].
Definition plus (p q : form) : form := foldr toggle q p.
Definition same (p q : form) : bool := nilp (plus p q).

(* A word: its bits, lowest first; missing bits are 0. *)
Definition sword : Type := seq form.
Definition sbit (s : sword) (z : nat) : form := nth [::] s z.
Definition word_of (f : nat -> form) : sword := mkseq f 64.

(* A product is known if a factor is constant, an or if an operand is 0. *)
Definition and_form (p q : form) : option form :=
  match p, q with
  | [::], _ | _, [::] => Some [::]
  | [:: 0%num], q => Some q
  | p, [:: 0%num] => Some p
  | _, _ => None
  end.
Definition or_form (p q : form) : option form :=
  match p, q with [::], q => Some q | p, [::] => Some p | _, _ => None end.
Definition bitwise (f : form -> form -> option form) (s t : sword) : option sword :=
  if all (fun z => isSome (f (sbit s z) (sbit t z))) (iota 0 64)
  then Some (word_of (fun z => odflt [::] (f (sbit s z) (sbit t z)))) else None.

Definition sym_env : Type := seq (option sword).
Fixpoint sym_eval (r : sym_env) (e : expr) : option sword :=
  match e with
  | Var u => nth None r u
  | Const c => Some (word_of (fun z => if tb c z then [:: 0%num] else [::]))
  | Xor a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t)
    then Some (word_of (fun z => plus (sbit s z) (sbit t z))) else None
  | And a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t) then bitwise and_form s t else None
  | Or a b =>
    if (sym_eval r a, sym_eval r b) is (Some s, Some t) then bitwise or_form s t else None
  | Not a =>
    if sym_eval r a is Some s then Some (word_of (fun z => toggle 0%num (sbit s z))) else None
  | Shl a n =>
    if sym_eval r a is Some s then
      if (n <? 64)%num then
        let n := N.to_nat n in
        Some (word_of (fun z => if z < n then [::] else sbit s (z - n))) else None
    else None
  | Shr a n =>
    if sym_eval r a is Some s then
      if (n <? 64)%num then
        let n := N.to_nat n in
        Some (word_of (fun z => if z + n < 64 then sbit s (z + n) else [::])) else None
    else None
  | _ => None
  end.

Fixpoint sym_block (b : block) (r : sym_env) : option sym_env :=
  if b is (u, e) :: b' then
    if sym_eval r e is Some s then sym_block b' (set_nth None r u (Some s)) else None
  else Some r.

Section Meaning.

Variable v : N -> bool.  (* the unknown bits *)
Hypothesis v0 : v 0 = true.

Definition sum (p : form) : bool := foldr (fun a => xorb (v a)) false p.

Lemma sum_toggle a p : sum (toggle a p) = xorb (v a) (sum p).
Proof.
elim: p => [|b p IH] //=; case: N.eqb_spec => [-> | _] /=; first by case: (v b); case: sum.
by rewrite IH; case: (v a); case: (v b); case: sum.
Qed.

Lemma sum_plus p q : sum (plus p q) = xorb (sum p) (sum q).
Proof.
elim: p => [|a p IH] /=; first by case: (sum q).
by rewrite sum_toggle IH; case: (v a); case: sum; case: sum.
Qed.

Lemma sameP p q : same p q -> sum p = sum q.
Proof.
move=> pq; have : sum (plus p q) = false by move: pq; rewrite /same; case: plus.
by rewrite sum_plus; case: sum; case: sum.
Qed.

Lemma sum_and p q f : and_form p q = Some f -> sum f = sum p && sum q.
Proof.
case: p => [|a p]; first by case=> <-.
case: q => [|b q].
  by case: a p => [|a] [|? ?] [<-]; rewrite andbF.
case: a p => [|a] [|c p] //=; first by case=> <-; rewrite v0.
all: by case: b q => [|b] [|d q] //= [<-]; rewrite /= v0 andbT.
Qed.

Lemma sum_or p q f : or_form p q = Some f -> sum f = sum p || sum q.
Proof. by case: p => [|a p]; case: q => [|b q] //= [<-]; rewrite ?orbF. Qed.

Definition stands_for (x : N) (s : sword) : Prop := forall z, z < 64 -> tb x z = sum (sbit s z).
Definition known (r : env) (s : sym_env) : Prop :=
  forall u p, nth None s u = Some p -> exists2 x, nth None r u = Some x & stands_for x p.

Lemma stands_word_of x f : (forall z, z < 64 -> tb x z = sum (f z)) -> stands_for x (word_of f).
Proof. by move=> same z lt; rewrite /sbit nth_mkseq // same. Qed.

Lemma bitwiseP g f s t p x y :
  (forall q q' f', f q q' = Some f' -> sum f' = g (sum q) (sum q')) ->
  stands_for x s -> stands_for y t -> bitwise f s t = Some p ->
  forall a, (forall z, z < 64 -> tb a z = g (tb x z) (tb y z)) -> stands_for a p.
Proof.
move=> fP xs yt; rewrite /bitwise; case: ifP => // /allP ok [<-] a aP.
apply: stands_word_of => z lt; rewrite aP // xs // yt //.
have := ok z; rewrite mem_iota lt => /(_ isT).
by case E: (f _ _) => [q|] // _; rewrite -(fP _ _ _ E).
Qed.

Lemma tb_shl a n z : (n < 64)%num -> z < 64 ->
  tb (w_shl a n) z = if z < N.to_nat n then false else tb a (z - N.to_nat n).
Proof.
move=> n64 lt; rewrite tb_u64 // /tb; case: ltnP => [/ltP ltn | /leP le].
  by rewrite N.shiftl_spec_low //; lia.
by rewrite N.shiftl_spec_high'; [congr N.testbit; rewrite -minusE; lia | lia].
Qed.

Lemma tb_shr a n z : (n < 64)%num -> z < 64 ->
  tb (w_shr a n) z = if z + N.to_nat n < 64 then tb a (z + N.to_nat n) else false.
Proof.
move=> n64 lt; rewrite /w_shr /tb N.shiftr_spec'.
have -> : (N.of_nat z + n = N.of_nat (z + N.to_nat n))%num by rewrite -plusE; lia.
case: ltnP => [lt' | /leP le]; first exact: (tb_u64 a lt').
by rewrite /u64 N.mod_pow2_bits_high //; lia.
Qed.

Lemma tb_or a b z : z < 64 -> tb (w_or a b) z = tb a z || tb b z.
Proof. by move=> lt; rewrite tb_u64 // /tb N.lor_spec. Qed.

Lemma sym_evalP table i r s : known r s -> forall e p, sym_eval s e = Some p ->
  exists2 x, eval table i r e = Some x & stands_for x p.
Proof.
move=> kn; elim=> //=.
- move=> c p [<-]; exists (u64 c) => //; apply: stands_word_of => z lt; rewrite tb_u64 //.
  by case: (tb c z) => //=; rewrite v0.
- move=> a IHa b IHb p; case: (sym_eval s a) IHa => // sa /(_ _ erefl)[x -> xa].
  case: (sym_eval s b) IHb => // sb /(_ _ erefl)[y -> yb] [<-]; exists (w_xor x y) => //.
  by apply: stands_word_of => z lt; rewrite tb_xor // sum_plus xa // yb.
- move=> a IHa b IHb p; case: (sym_eval s a) IHa => // sa /(_ _ erefl)[x -> xa].
  case: (sym_eval s b) IHb => // sb /(_ _ erefl)[y -> yb] E; exists (w_and x y) => //.
  by apply: (bitwiseP sum_and xa yb E) => z lt; rewrite tb_and.
- move=> a IHa b IHb p; case: (sym_eval s a) IHa => // sa /(_ _ erefl)[x -> xa].
  case: (sym_eval s b) IHb => // sb /(_ _ erefl)[y -> yb] E; exists (w_or x y) => //.
  by apply: (bitwiseP sum_or xa yb E) => z lt; rewrite tb_or.
- move=> a IHa p; case: (sym_eval s a) IHa => // sa /(_ _ erefl)[x -> xa] [<-].
  exists (w_not x) => //; apply: stands_word_of => z lt; rewrite tb_not // sum_toggle v0 xa //.
- move=> a IHa n p; case: (sym_eval s a) IHa => // sa /(_ _ erefl)[x -> xa].
  case: N.ltb_spec => // n64 [<-]; exists (w_shl x n) => //; apply: stands_word_of => z lt.
  rewrite tb_shl //; case: ifP => // _; rewrite xa //.
  exact: leq_ltn_trans (leq_subr _ _) lt.
- move=> a IHa n p; case: (sym_eval s a) IHa => // sa /(_ _ erefl)[x -> xa].
  case: N.ltb_spec => // n64 [<-]; exists (w_shr x n) => //; apply: stands_word_of => z lt.
  by rewrite tb_shr //; case: ifP => // lt'; rewrite xa.
Qed.

Lemma sym_blockP table i b r s s' : known r s -> sym_block b s = Some s' ->
  exists2 r', run_block table i b r = Some r' & known r' s'.
Proof.
elim: b r s => [|[u e] b IH] r s kn /=; first by case=> <-; exists r.
case E: (sym_eval s e) => [p|] //; have [x -> xp] := sym_evalP table i kn E.
apply: IH => u' p'; rewrite !nth_set_nth /=; case: eqP => [_ [<-] | _ /kn //].
by exists x.
Qed.

End Meaning.

(* ---- One bit of each word ------------------------------------------------------------------------ *)

Definition column : Type := seq (option bool).
Definition both_bits (f : bool -> bool -> bool) (a b : option bool) : option bool :=
  if (a, b) is (Some a, Some b) then Some (f a b) else None.
Fixpoint col_eval (c : column) (e : expr) : option bool :=
  match e with
  | Var u => nth None c u
  | Xor a b => both_bits xorb (col_eval c a) (col_eval c b)
  | And a b => both_bits andb (col_eval c a) (col_eval c b)
  | Or a b => both_bits orb (col_eval c a) (col_eval c b)
  | Not a => omap negb (col_eval c a)
  | _ => None
  end.
Fixpoint col_block (b : block) (c : column) : option column :=
  if b is (u, e) :: b' then
    if col_eval c e is Some x then col_block b' (set_nth None c u (Some x)) else None
  else Some c.

Definition col_known (z : nat) (r : env) (c : column) : Prop :=
  forall u b, nth None c u = Some b -> exists2 x, nth None r u = Some x & tb x z = b.

Lemma col_evalP table i z r c : z < 64 -> col_known z r c -> forall e b, col_eval c e = Some b ->
  exists2 x, eval table i r e = Some x & tb x z = b.
Proof.
move=> lt kn; elim=> //=.
- move=> e1 IH1 e2 IH2 b; case: (col_eval c e1) IH1 => // b1 /(_ _ erefl)[x -> xb].
  case: (col_eval c e2) IH2 => // b2 /(_ _ erefl)[y -> yb] [<-].
  by exists (w_xor x y) => //; rewrite tb_xor // xb yb.
- move=> e1 IH1 e2 IH2 b; case: (col_eval c e1) IH1 => // b1 /(_ _ erefl)[x -> xb].
  case: (col_eval c e2) IH2 => // b2 /(_ _ erefl)[y -> yb] [<-].
  by exists (w_and x y) => //; rewrite tb_and // xb yb.
- move=> e1 IH1 e2 IH2 b; case: (col_eval c e1) IH1 => // b1 /(_ _ erefl)[x -> xb].
  case: (col_eval c e2) IH2 => // b2 /(_ _ erefl)[y -> yb] [<-].
  by exists (w_or x y) => //; rewrite tb_or // xb yb.
- move=> e1 IH1 b; case: (col_eval c e1) IH1 => // b1 /(_ _ erefl)[x -> xb] [<-].
  by exists (w_not x) => //; rewrite tb_not // xb.
Qed.

Lemma col_blockP table i z b r c c' : z < 64 -> col_known z r c -> col_block b c = Some c' ->
  exists2 r', run_block table i b r = Some r' & col_known z r' c'.
Proof.
move=> lt; elim: b r c => [|[u e] b IH] r c kn /=; first by case=> <-; exists r.
case E: (col_eval c e) => [p|] //; have [x -> xp] := col_evalP table i lt kn E.
apply: IH => u' p'; rewrite !nth_set_nth /=; case: eqP => [_ [<-] | _ /kn //].
by exists x.
Qed.

(* A variable that a block does not assign keeps its value. *)
Lemma run_block_keeps table i b r r' u :
  all (fun a : nat * expr => a.1 != u) b -> run_block table i b r = Some r' ->
  nth None r' u = nth None r u.
Proof.
elim: b r => [|[u' e] b IH] r /=; first by move=> _ [<-].
case/andP=> ne others; case: eval => // x /(IH _ others) ->.
by rewrite nth_set_nth /= eq_sym (negbTE ne).
Qed.

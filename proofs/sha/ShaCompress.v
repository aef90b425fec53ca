(* SPDX-License-Identifier: Apache-2.0 *)
(* compress of prg/sha256.c computes the next hash value, as FIPS 180-4 defines it in 6.2.2. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips180 WordCode ShaCode.
From Pprf.proofs Require Import ShaSym.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Definition smalls (s : seq N) : Prop := forall i, small (nth 0%num s i).

Lemma small_PLUS x y : small (PLUS x y).
Proof. exact: small_to_word. Qed.

(* ---- The words that compression has names for ---------------------------------------------------- *)

(* Words 0 .. 63 are W_0 .. W_63.  The variables a, b, c, d before round t are A_(t+3) .. A_t, and e, f, g, h are
   E_(t+3) .. E_t; then come the eight words of the result. *)
Definition wA (j : nat) : nat := 64 + j.
Definition wE (j : nat) : nat := 64 + (68 + j).
Definition wO (j : nat) : nat := 64 + (68 + (68 + j)).
Definition all_words : nat := 208.

Definition rot (x : expr) (n : N) : expr := Or (Shr 32 x n) (Shl 32 x (32 - n)).
Definition plus_ : expr -> expr -> expr := Add 32.

Definition schedule_expr (t : nat) : expr :=
  let x := Var (t - 2) in
  let y := Var (t - 15) in
  plus_ (plus_ (plus_ (Xor (Xor (rot x 17) (rot x 19)) (Shr 32 x 10)) (Var (t - 7)))
    (Xor (Xor (rot y 7) (rot y 18)) (Shr 32 y 3))) (Var (t - 16)).
Definition T1_expr (t : nat) : expr :=
  let e := Var (wE (t + 3)) in
  plus_ (plus_ (plus_ (plus_ (Var (wE t)) (Xor (Xor (rot e 6) (rot e 11)) (rot e 25)))
    (Xor (And e (Var (wE (t + 2)))) (And (Not 32 e) (Var (wE (t + 1)))))) (Const (K t))) (Var t).
Definition T2_expr (t : nat) : expr :=
  let a := Var (wA (t + 3)) in
  let b := Var (wA (t + 2)) in
  let c := Var (wA (t + 1)) in
  plus_ (Xor (Xor (rot a 2) (rot a 13)) (rot a 22)) (Xor (Xor (And a b) (And a c)) (And b c)).

Definition defining : seq (nat * expr) :=
  [seq (t, schedule_expr t) | t <- iota 16 48] ++
  [seq (wA (t + 4), plus_ (T1_expr t) (T2_expr t)) | t <- iota 0 64] ++
  [seq (wE (t + 4), plus_ (Var (wA t)) (T1_expr t)) | t <- iota 0 64] ++
  [seq (wO j, plus_ (Var (wA (67 - j))) (Var (wA (3 - j)))) | j <- iota 0 4] ++
  [seq (wO (4 + j), plus_ (Var (wE (67 - j))) (Var (wE (3 - j)))) | j <- iota 0 4].

Definition every_word : sym_env := mkseq (fun i => Some (word_at i)) all_words.
Definition sums_of (xs : seq (nat * expr)) : definitions :=
  flatten [seq (if sym_eval every_word x.2 is Some s then [:: (s, x.1)] else [::]) | x <- xs].

(* Which words the arguments are, and the results. *)
Definition argument_words : seq nat := [:: wA 3; wA 2; wA 1; wA 0; wE 3; wE 2; wE 1; wE 0] ++ iota 0 16.
Definition argument_env (n : nat) : sym_env :=
  map (fun i => Some (word_at i)) argument_words ++ nseq n None.

Definition right_by (ds : definitions) (f : function) : bool :=
  if sym_body ds (body f) (argument_env (variables f - 24)) is Some s then
    if sym_values ds s (returned f) is Some ts then
      all2 same_sum ts [seq word_at (wO j) | j <- iota 0 8]
    else false
  else false.

Lemma compress_is_right : right_by (sums_of defining) opt_sha256_compress.
Proof. by vm_compute. Qed.

Lemma parameters_are : parameters opt_sha256_compress = nseq 24 32%num.
Proof. by []. Qed.

Fixpoint in_range (e : expr) : bool :=
  match e with
  | Var u => u < all_words
  | Const _ => true
  | Xor a b | And a b | Or a b | Add _ a b => in_range a && in_range b
  | Not _ a | Cast _ a => in_range a
  | Shl w a n | Shr w a n => (n <? w)%num && in_range a
  end.

Lemma defining_in_range : all (fun x => in_range x.2) defining.
Proof. by vm_compute. Qed.

(* ---- Their values -------------------------------------------------------------------------------- *)

Section All.
Variables (T : Type) (P : T -> Prop).
Definition All (s : seq T) : Prop := foldr (fun x q => P x /\ q) True s.

Lemma All_cat s t : All s -> All t -> All (s ++ t).
Proof. by elim: s => [|x s IH] //= [px /IH {}IH] /IH. Qed.

Lemma All_iota f m n : (forall t, m <= t < m + n -> P (f t)) -> All [seq f t | t <- iota m n].
Proof.
elim: n m => [|n IH] m ok //; split; first by apply: ok; rewrite leqnn -addSnnS leq_addr.
by apply: IH => t /andP[lt le]; apply: ok; rewrite (ltnW lt) -addSnnS.
Qed.
End All.

Section Values.
Variable v : nat -> N.
Hypothesis v_small : forall i, small (v i).
Definition values_env : env := mkseq (fun i => Some (v i)) all_words.

Lemma nth_values i : i < all_words -> nth None values_env i = Some (v i).
Proof. by move=> lt; rewrite nth_mkseq. Qed.

Lemma every_word_known : known v values_env every_word.
Proof.
move=> u t; case: (ltnP u all_words) => lt; last by rewrite nth_default // size_mkseq.
by rewrite nth_mkseq // nth_mkseq // => /Some_inj <-; rewrite word_at_val.
Qed.

(* The value of an expression in which all variables are known and no shift is too wide. *)
Fixpoint ev (e : expr) : N :=
  match e with
  | Var u => v u
  | Const c => c
  | Xor a b => N.lxor (ev a) (ev b)
  | And a b => N.land (ev a) (ev b)
  | Or a b => N.lor (ev a) (ev b)
  | Not w a => w_not w (ev a)
  | Add w a b => w_add w (ev a) (ev b)
  | Shl w a n => w_shl w (ev a) n
  | Shr w a n => N.shiftr (ev a) n
  | Cast w a => to_word w (ev a)
  end.

Lemma evalE e : in_range e -> eval values_env e = Some (ev e).
Proof.
elim: e => [u|c|a IHa b IHb|a IHa b IHb|a IHa b IHb|w a IHa|w a IHa b IHb|w a IHa n|w a IHa n|w a IHa];
  rewrite [in_range _]/= [eval _ _]/= [ev _]/=.
- exact: nth_values.
- by [].
- by case/andP=> /IHa -> /IHb ->.
- by case/andP=> /IHa -> /IHb ->.
- by case/andP=> /IHa -> /IHb ->.
- by move/IHa=> ->.
- by case/andP=> /IHa -> /IHb ->.
- by case/andP=> -> /IHa ->.
- by case/andP=> -> /IHa ->.
- by move/IHa=> ->.
Qed.
Opaque values_env.

Lemma sums_hold xs : all (fun x => in_range x.2) xs -> All (fun x => ev x.2 = v x.1) xs ->
  hold v (sums_of xs).
Proof.
rewrite /sums_of; elim: xs => [|x xs IH] // /andP[rx rxs] [ex exs].
rewrite [map _ _]/= [flatten _]/=; case E: sym_eval => [s|]; last exact: IH.
split; last exact: IH.
by have := sym_evalP v_small every_word_known E; rewrite evalE // ex => -[].
Qed.
End Values.

Section Compression.
Variables H M : seq N.
Hypothesis sizeH : size H = 8.
Hypothesis sizeM : size M = 16.
Hypothesis smallH : smalls H.
Hypothesis smallM : smalls M.

Definition W_of (n : nat) : seq N := foldl (fun W t => rcons W (next_W W t)) M (iota 16 n).

Lemma W_ofS n : W_of n.+1 = rcons (W_of n) (next_W (W_of n) (16 + n)).
Proof. by rewrite /W_of -[n.+1]addn1 iotaD foldl_cat. Qed.

Lemma size_W_of n : size (W_of n) = 16 + n.
Proof. by elim: n => [|n IH]; [rewrite addn0 | rewrite W_ofS size_rcons IH addnS]. Qed.

Lemma W_of_more n m t : t < 16 + n -> nth 0%num (W_of (n + m)) t = nth 0%num (W_of n) t.
Proof.
move=> lt; elim: m => [|m IH]; first by rewrite addn0.
by rewrite addnS W_ofS nth_rcons size_W_of (leq_trans lt) // leq_add2l leq_addr.
Qed.

Definition W (t : nat) : N := nth 0%num (W_of 48) t.
Lemma scheduleE : schedule M = W_of 48.
Proof. by rewrite /schedule /W_of. Qed.
Lemma W_of0 : W_of 0 = M.
Proof. by rewrite /W_of. Qed.
Opaque W_of.

Lemma W_is n t : n <= 48 -> t < 16 + n -> W t = nth 0%num (W_of n) t.
Proof. by move=> le lt; rewrite /W -(W_of_more (48 - n) lt) subnKC. Qed.

Lemma W_first t : t < 16 -> W t = nth 0%num M t.
Proof. by move=> lt; rewrite (@W_is 0) // W_of0. Qed.

Lemma W_next t : 16 <= t < 64 ->
  W t = PLUS (PLUS (PLUS (sigma1 (W (t - 2))) (W (t - 7))) (sigma0 (W (t - 15)))) (W (t - 16)).
Proof.
case/andP=> ge lt; set n := t - 16; have tE : t = 16 + n by rewrite subnKC.
have len : n < 48 by rewrite -(ltn_add2l 16) -tE.
rewrite {1}(@W_is n.+1) //; last by rewrite {1}tE addnS.
rewrite W_ofS nth_rcons size_W_of -tE ltnn eqxx /next_W.
have back k : 0 < k -> nth 0%num (W_of n) (t - k) = W (t - k).
  move=> k0; rewrite (@W_is n) ?(ltnW len) // -tE; apply/ltP; move/leP: ge; move/leP: k0.
  by rewrite -minusE; lia.
by rewrite !back.
Qed.

Lemma smalls_W_of n : smalls (W_of n).
Proof.
elim: n => [|n IH] i; first by rewrite W_of0.
rewrite W_ofS nth_rcons; case: ifP => _ //.
by case: ifP => _ //; exact: small_PLUS.
Qed.

Definition state (t : nat) : seq N := foldl (round (W_of 48)) H (iota 0 t).

Lemma stateS t : state t.+1 = round (W_of 48) (state t) t.
Proof. by rewrite /state -[t.+1]addn1 iotaD foldl_cat. Qed.

Definition A (j : nat) : N := if j < 4 then nth 0%num H (3 - j) else nth 0%num (state (j - 3)) 0.
Definition E (j : nat) : N := if j < 4 then nth 0%num H (7 - j) else nth 0%num (state (j - 3)) 4.

Lemma state0 : state 0 = H.
Proof. by rewrite /state. Qed.
Lemma compressE : compress H M = [seq PLUS x.1 x.2 | x <- zip (state 64) H].
Proof. by rewrite /compress scheduleE /state. Qed.
Opaque state.

Lemma A_state t : A (t.+1 + 3) = nth 0%num (state t.+1) 0.
Proof. by rewrite /A addnK addSn ltnS ltnNge leq_addl. Qed.

Lemma E_state t : E (t.+1 + 3) = nth 0%num (state t.+1) 4.
Proof. by rewrite /E addnK addSn ltnS ltnNge leq_addl. Qed.

Lemma state_is t : state t =
  [:: A (t + 3); A (t + 2); A (t + 1); A t; E (t + 3); E (t + 2); E (t + 1); E t].
Proof.
elim: t => [|t IH].
  rewrite state0 /A /E /=; case: (H) sizeH => [|h0 [|h1 [|h2 [|h3 [|h4 [|h5 [|h6 [|h7 []]]]]]]]] //.
by rewrite A_state E_state stateS IH !(addSnnS t) !addn1.
Qed.

Lemma T_is t :
  let T1 := PLUS (PLUS (PLUS (PLUS (E t) (Sigma1 (E (t + 3)))) (Ch (E (t + 3)) (E (t + 2)) (E (t + 1)))) (K t)) (W t) in
  let T2 := PLUS (Sigma0 (A (t + 3))) (Maj (A (t + 3)) (A (t + 2)) (A (t + 1))) in
  A (t + 4) = PLUS T1 T2 /\ E (t + 4) = PLUS (A t) T1.
Proof.
have -> : t + 4 = t.+1 + 3 by rewrite addSnnS.
by rewrite A_state E_state stateS state_is.
Qed.

Definition word_values (i : nat) : N :=
  if i < 64 then W i else
  if i - 64 < 68 then A (i - 64) else
  if i - 64 - 68 < 68 then E (i - 64 - 68) else nth 0%num (compress H M) (i - 64 - 68 - 68).
Notation v := word_values.

Lemma add_lt n i : (n + i < n) = false.
Proof. by rewrite ltnNge leq_addr. Qed.

Lemma v_W t : t < 64 -> v t = W t.
Proof. by rewrite /v => ->. Qed.

Lemma v_A j : j < 68 -> v (wA j) = A j.
Proof. by move=> lt; rewrite /v /wA add_lt addKn lt. Qed.

Lemma v_E j : j < 68 -> v (wE j) = E j.
Proof. by move=> lt; rewrite /v /wE add_lt addKn add_lt addKn lt. Qed.

Lemma v_O j : v (wO j) = nth 0%num (compress H M) j.
Proof. by rewrite /v /wO add_lt addKn add_lt addKn add_lt addKn. Qed.

Lemma v_small i : small (v i).
Proof.
have A_or_E k (x y : nat) : small (nth 0%num H x) ->
    (y == 0) || (y == 4) -> small (if k < 4 then nth 0%num H x else nth 0%num (state (k - 3)) y).
  move=> smallx yy; case: ltnP => // ge.
  have -> : k - 3 = (k - 4).+1 by apply/eqP; rewrite -subSn.
  by rewrite stateS state_is; case/orP: yy => /eqP ->; exact: small_PLUS.
rewrite /v; case: ifP => lt; first by rewrite (@W_is 48) //; exact: smalls_W_of.
case: ifP => _; first exact: A_or_E.
case: ifP => _; first exact: A_or_E.
rewrite compressE; move: (_ - _) => k; set s := zip _ _; case: (ltnP k (size s)) => lt'.
  by rewrite (nth_map (0, 0)%num) //; exact: small_PLUS.
by rewrite nth_default // size_map.
Qed.

Ltac index := apply/ltP; rewrite /wA /wE /wO /all_words -?plusE -?minusE; lia.

Lemma compress_nth j : j < 8 -> nth 0%num (compress H M) j = PLUS (nth 0%num (state 64) j) (nth 0%num H j).
Proof.
move=> lt; have s8 : size (state 64) = 8 by rewrite state_is.
by rewrite compressE (nth_map (0, 0)%num) ?size_zip ?s8 ?sizeH // nth_zip ?s8 ?sizeH.
Qed.

Ltac same_words := rewrite ?/w_add ?/w_shl ?/w_not ?/to_word /PLUS ?/Sigma0 ?/Sigma1 ?/sigma0 ?/sigma1 ?/Ch ?/Maj
  ?/ROTR ?/SHR ?/SHL ?/XOR ?/OR ?/AND ?/NOT; reflexivity.
Notation ev := (ev v).

Lemma schedule_defined t : 16 <= t < 64 -> ev (schedule_expr t) = v t.
Proof.
move=> range; case/andP: (range) => _ lt.
have vW k : v (t - k) = W (t - k) by rewrite v_W // (leq_ltn_trans (leq_subr _ _)).
rewrite [in RHS](v_W lt) (W_next range) /schedule_expr /plus_ /rot.
cbn [ShaCompress.ev]; rewrite (vW 2) (vW 7) (vW 15) (vW 16).
same_words.
Qed.

Lemma T1_defined t : t < 64 -> ev (T1_expr t) =
  PLUS (PLUS (PLUS (PLUS (E t) (Sigma1 (E (t + 3)))) (Ch (E (t + 3)) (E (t + 2)) (E (t + 1)))) (K t)) (W t).
Proof.
move=> lt; have vE k : k < 4 -> v (wE (t + k)) = E (t + k).
  by move=> /ltP k4; rewrite v_E //; move/ltP: lt => lt; index.
have vE0 : v (wE t) = E t by rewrite v_E //; move/ltP: lt => lt; index.
rewrite /T1_expr /plus_ /rot.
cbn [ShaCompress.ev]; rewrite (v_W lt) vE0 (vE 1 isT) (vE 2 isT) (vE 3 isT).
same_words.
Qed.

Lemma T2_defined t : t < 64 -> ev (T2_expr t) =
  PLUS (Sigma0 (A (t + 3))) (Maj (A (t + 3)) (A (t + 2)) (A (t + 1))).
Proof.
move=> lt; have vA k : k < 4 -> v (wA (t + k)) = A (t + k).
  by move=> /ltP k4; rewrite v_A //; move/ltP: lt => lt; index.
rewrite /T2_expr /plus_ /rot.
cbn [ShaCompress.ev]; rewrite (vA 1 isT) (vA 2 isT) (vA 3 isT).
same_words.
Qed.

Lemma ev_plus e1 e2 x y : ev e1 = x -> ev e2 = y -> ev (plus_ e1 e2) = PLUS x y.
Proof. by rewrite /plus_ => <- <-. Qed.

Lemma var_A j : j < 68 -> ev (Var (wA j)) = A j.
Proof. exact: v_A. Qed.

Lemma var_E j : j < 68 -> ev (Var (wE j)) = E j.
Proof. exact: v_E. Qed.

Lemma words_defined : All (fun x => ev x.2 = v x.1) defining.
Proof.
have result j : j < 4 -> v (wO j) = PLUS (A (67 - j)) (A (3 - j)) /\
    v (wO (4 + j)) = PLUS (E (67 - j)) (E (3 - j)).
  move=> lt; rewrite !v_O; have j8 : j < 8 by exact: leq_trans lt _.
  have j8' : 4 + j < 8 by rewrite (ltn_add2l 4 j 4).
  rewrite (compress_nth j8) (compress_nth j8') -state0 !state_is.
  by case: j lt {j8 j8'} => [|[|[|[|]]]].
apply: All_cat; first by apply: All_iota => t range; exact: schedule_defined.
apply: All_cat.
  apply: All_iota => t /andP[_]; rewrite add0n => lt; have [At _] := T_is t; move/ltP: (lt) => ltt.
  rewrite [_.1]/= v_A ?At; last by index.
  by apply: ev_plus; [exact: T1_defined | exact: T2_defined].
apply: All_cat.
  apply: All_iota => t /andP[_]; rewrite add0n => lt; have [_ Et] := T_is t; move/ltP: (lt) => ltt.
  rewrite [_.1]/= v_E ?Et; last by index.
  by apply: ev_plus; [apply: var_A; index | exact: T1_defined].
apply: All_cat; apply: All_iota => j /andP[_]; rewrite add0n => lt; have [Ar Er] := result j lt; move/ltP: (lt) => ltj.
  by rewrite [_.1]/= Ar; apply: ev_plus; apply: var_A; index.
by rewrite [_.1]/= Er; apply: ev_plus; apply: var_E; index.
Qed.

Lemma arguments_are : H ++ M = map v argument_words.
Proof.
rewrite /argument_words map_cat; congr (_ ++ _).
  have -> : map v [:: wA 3; wA 2; wA 1; wA 0; wE 3; wE 2; wE 1; wE 0] =
    [:: v (wA 3); v (wA 2); v (wA 1); v (wA 0); v (wE 3); v (wE 2); v (wE 1); v (wE 0)] := erefl.
  rewrite (v_A (isT : 3 < 68)) (v_A (isT : 2 < 68)) (v_A (isT : 1 < 68)) (v_A (isT : 0 < 68)).
  rewrite (v_E (isT : 3 < 68)) (v_E (isT : 2 < 68)) (v_E (isT : 1 < 68)) (v_E (isT : 0 < 68)).
  by rewrite -[LHS]state0 state_is.
rewrite -[LHS](mkseq_nth 0%num) sizeM; apply/eq_in_map => t; rewrite mem_iota => /andP[_ lt].
by rewrite v_W ?W_first // (leq_trans lt).
Qed.

Lemma small_args s : smalls s -> [seq Some (to_word x.1 x.2) | x <- zip (nseq (size s) 32%num) s] = map Some s.
Proof.
elim: s => [|x s IH] // sm; rewrite /= IH; last by move=> i; exact: (sm i.+1).
by congr (Some _ :: _); apply/smallP; exact: (sm 0).
Qed.

Lemma right_by_sound ds f : hold v ds -> parameters f = nseq 24 32%num -> right_by ds f ->
  run_leaf f (H ++ M) = Some (compress H M).
Proof.
move=> ok parameters_f.
have size24 : size (H ++ M) = 24 by rewrite size_cat sizeH sizeM.
have smallHM : smalls (H ++ M) by move=> i; rewrite nth_cat; case: ifP => _.
rewrite /run_leaf /run parameters_f size24 size_nseq eqxx -size24 small_args // size_map size24 arguments_are.
have kn : known v (map Some (map v argument_words) ++ nseq (variables f - 24) None)
    (argument_env (variables f - 24)).
  move=> u t; rewrite /argument_env !nth_cat !size_map; case: ltnP => lt; last by rewrite nth_nseq if_same.
  rewrite (nth_map 0 _ (fun i => Some (word_at i)) lt) => /Some_inj <-; rewrite word_at_val; last exact: v_small.
  by rewrite (nth_map 0%num) ?size_map // (nth_map 0).
rewrite /right_by; case Es: sym_body => [s|] //; case Et: sym_values => [ts|] // same.
have [r run kn'] := sym_bodyP v_small (fun=> None) ok kn Es; rewrite run.
rewrite (sym_valuesP v_small ok kn' Et); congr Some.
have -> : ts = [seq word_at (wO j) | j <- iota 0 8].
  move: (map _ _) same => us; elim: ts us {Et} => [|t ts IH] [|u us] // /andP[/same_sumP -> /IH ->].
  by [].
have -> : compress H M = [seq v (wO j) | j <- iota 0 8].
  rewrite -[LHS](mkseq_nth 0%num) {2}compressE size_map size_zip sizeH state_is.
  by apply/eq_in_map => j _; rewrite v_O.
by rewrite -map_comp; apply: eq_map => j; rewrite [LHS]word_at_val //; exact: v_small.
Qed.

Lemma size_compress : size (compress H M) = 8.
Proof. by rewrite compressE size_map size_zip sizeH state_is. Qed.

Lemma smalls_compress : smalls (compress H M).
Proof.
rewrite compressE => i; set s := zip _ _; case: (ltnP i (size s)) => lt.
  by rewrite (nth_map (0, 0)%num) //; exact: small_PLUS.
by rewrite nth_default // size_map.
Qed.

Theorem compress_sound : run_leaf opt_sha256_compress (H ++ M) = Some (compress H M).
Proof.
exact: right_by_sound (sums_hold v_small defining_in_range words_defined) parameters_are compress_is_right.
Qed.

End Compression.

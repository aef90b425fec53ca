(* SPDX-License-Identifier: Apache-2.0 *)
(* The AES functions of opt on vectors, from seeds in memory to children in memory, compute the
   halves of the suite aes-128, with AES-128 as FIPS 197 defines it. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Codec VectorCode AesVectorCode.
From Pprf.proofs Require CodecProofs.
From Pprf.proofs Require Import Compat AesSym AesRounds AesSteps VectorSym AesVectorRounds.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Opaque S_box xtimes key_expansion.

(* ---- The input of the rounds ------------------------------------------------------------------------ *)

Lemma nth_flatten (k : nat) (vs : seq value) l n : all (fun v => size v == k) vs -> l < size vs -> n < k ->
  nth x00 (flatten vs) (k * l + n) = nth x00 (nth [::] vs l) n.
Proof.
elim: vs l => [|v vs IH] l // /andP[/eqP sz szs]; rewrite -[flatten _]/(v ++ flatten vs).
case: l => [|l] lt ltk; rewrite nth_cat sz; first by rewrite muln0 add0n ltk.
by rewrite mulnS -addnA ltnNge leq_addr /= addKn IH.
Qed.

Lemma size_flatten_all (k : nat) (vs : seq value) : all (fun v => size v == k) vs -> size (flatten vs) = k * size vs.
Proof.
elim: vs => [|v vs IH]; first by rewrite muln0.
by case/andP=> /eqP sz /IH E; rewrite -[flatten _]/(v ++ flatten vs) size_cat E sz mulnS.
Qed.

(* What is encrypted: salt + (id, tail). *)
Definition block (salt id tail : seq byte) : seq byte := [seq add x.1 x.2 | x <- zip salt (id ++ tail)].

Lemma size_block salt id tail : size salt = 16 -> size id = 8 -> size tail = 8 -> size (block salt id tail) = 16.
Proof. by move=> s1 s2 s3; rewrite size_map size_zip s1 size_cat s2 s3. Qed.

Lemma nth_block salt id tail i : size salt = 16 -> size id = 8 -> size tail = 8 -> i < 16 ->
  nth x00 (block salt id tail) i = add (nth x00 salt i) (if i < 8 then nth x00 id i else nth x00 tail (i - 8)).
Proof.
move=> s1 s2 s3 lt; rewrite (nth_map (x00, x00)) ?size_zip ?size_cat ?s1 ?s2 ?s3 //.
by rewrite nth_zip ?size_cat ?s1 ?s2 ?s3 // nth_cat s2.
Qed.

Definition first_state (seed salt id tail : seq byte) : seq byte :=
  add_round_key (key_expansion seed) (block salt id tail) 0.

Lemma halfE seed salt id tail :
  rounds (key_expansion seed) (first_state seed salt id tail) 10 = aes_128 (block salt id tail) seed.
Proof. by rewrite /aes_128 cipher_rounds. Qed.

(* The unknowns: n seeds, the salt, n ids, and others. *)
Definition inputs (seeds : seq value) (salt : value) (ids : seq value) (rest : value) : value :=
  flatten seeds ++ salt ++ flatten ids ++ rest.

Definition input (n l : nat) (tail : nat -> form) : sval :=
  mkseq (fun i => plus (plus (VectorSym.unknown (16 * n + i))
    (if i < 8 then VectorSym.unknown (16 * n + (16 + (8 * l + i))) else tail (i - 8)))
    (VectorSym.unknown (16 * l + i))) 16.
Definition first (n : nat) (tail0 tail1 : nat -> form) : sval :=
  flatten (mkseq (fun l => unknowns (16 * l) 16 ++ input n l tail0 ++ input n l tail1) n).

Section Inputs.

Variables (n : nat) (seeds ids : seq value) (salt rest : value).
Hypothesis seeds_n : size seeds = n.
Hypothesis ids_n : size ids = n.
Hypothesis seeds_16 : all (fun v : value => size v == 16) seeds.
Hypothesis ids_8 : all (fun v : value => size v == 8) ids.
Hypothesis salt_16 : size salt = 16.
Let u := nth x00 (inputs seeds salt ids rest).

Lemma u_seed l i : l < n -> i < 16 -> u (16 * l + i) = nth x00 (nth [::] seeds l) i.
Proof.
move=> ltl lt; rewrite /u /inputs nth_cat (size_flatten_all seeds_16) seeds_n.
have -> : 16 * l + i < 16 * n.
  by rewrite (@leq_trans (16 * l + 16)) ?ltn_add2l // -mulnSr leq_mul2l.
by rewrite nth_flatten ?seeds_n.
Qed.

Lemma u_salt i : i < 16 -> u (16 * n + i) = nth x00 salt i.
Proof.
move=> lt; rewrite /u /inputs nth_cat (size_flatten_all seeds_16) seeds_n ltnNge leq_addr /= addKn.
by rewrite nth_cat salt_16 lt.
Qed.

Lemma u_id l i : l < n -> i < 8 -> u (16 * n + (16 + (8 * l + i))) = nth x00 (nth [::] ids l) i.
Proof.
move=> ltl lt; rewrite /u /inputs nth_cat (size_flatten_all seeds_16) seeds_n ltnNge leq_addr /= addKn.
rewrite nth_cat salt_16 ltnNge leq_addr /= addKn nth_cat (size_flatten_all ids_8) ids_n.
have -> : 8 * l + i < 8 * n.
  by rewrite (@leq_trans (8 * l + 8)) ?ltn_add2l // -mulnSr leq_mul2l.
by rewrite nth_flatten ?ids_n.
Qed.

Lemma u_rest i : u (16 * n + (16 + (8 * n + i))) = nth x00 rest i.
Proof.
rewrite /u /inputs nth_cat (size_flatten_all seeds_16) seeds_n ltnNge leq_addr /= addKn.
rewrite nth_cat salt_16 ltnNge leq_addr /= addKn nth_cat (size_flatten_all ids_8) ids_n.
by rewrite ltnNge leq_addr /= addKn.
Qed.

Definition pairs (tail0 tail1 : seq byte) : seq pair :=
  mkseq (fun l => let seed := nth [::] seeds l in let id := nth [::] ids l in
    Pair seed (first_state seed salt id tail0) (first_state seed salt id tail1)) n.

Lemma size_pairs t0 t1 : size (pairs t0 t1) = n.
Proof. exact: size_mkseq. Qed.

Lemma all_whole_map (T : Type) (f : T -> pair) (s : seq T) : (forall x, whole (f x)) -> all_whole (map f s).
Proof. by move=> ok; elim: s. Qed.

Lemma whole_pairs t0 t1 : all_whole (pairs t0 t1).
Proof. by apply: all_whole_map => l; split; exact: size_array. Qed.

Lemma inputP l tail form : l < n -> size tail = 8 -> (forall i, i < 8 -> sumb u (form i) = nth x00 tail i) ->
  bytes_of u (input n l form) = first_state (nth [::] seeds l) salt (nth [::] ids l) tail.
Proof.
move=> ltl s8 tailP; apply: (@eq_from_nth _ x00); first by rewrite size_bytes size_mkseq size_array.
move=> i; rewrite size_bytes size_mkseq => lt; rewrite nth_bytes nth_mkseq //.
rewrite !sumb_plus !sumb_unknown u_salt // u_seed // nth_add_round_key // round_key_0 //; congr add.
have id8 : size (nth [::] ids l) = 8 by apply/eqP; apply: (all_nthP [::] ids_8); rewrite ids_n.
rewrite nth_block //; congr add; case: ltnP => lt8; first by rewrite sumb_unknown u_id.
by apply: tailP; rewrite ltn_subLR.
Qed.

Lemma firstP tail0 tail1 form0 form1 : size tail0 = 8 -> size tail1 = 8 ->
  (forall i, i < 8 -> sumb u (form0 i) = nth x00 tail0 i) ->
  (forall i, i < 8 -> sumb u (form1 i) = nth x00 tail1 i) ->
  bytes_of u (first n form0 form1) = state_of (pairs tail0 tail1) 0.
Proof.
move=> s0 s1 P0 P1; rewrite /first /state_of /pairs bytes_flatten -!map_comp; congr flatten.
apply/eq_in_map => l; rewrite mem_iota add0n => /andP[_ ltl]; rewrite /comp.
rewrite /bytes_of !map_cat -!/(bytes_of u _) (inputP ltl s0 P0) (inputP ltl s1 P1).
rewrite /at_round /pair_at; congr cat; rewrite bytes_unknowns.
apply: (@eq_from_nth _ x00); first by rewrite size_mkseq size_array.
by move=> i; rewrite size_mkseq => lt; rewrite nth_mkseq // u_seed // round_key_0.
Qed.

End Inputs.

(* ---- The rounds of a function ---------------------------------------------------------------------- *)

Lemma run_code_cat c h a b rm : run_code c h (a ++ b) rm = obind (run_code c h b) (run_code c h a rm).
Proof. by elim: a rm => [|s a IH] rm //=; case: run_statement => /=. Qed.

(* A function's variables in round j: pattern j. *)
Definition round_right (n : nat) (pattern : nat -> sym_env) (blocks : seq (seq statement)) (j : nat) : bool :=
  if next n j is Some x then
    if sym_code no_names (nth [::] blocks j.-1) (pattern j.-1) is Some s then becomes x (pattern j) s else false
  else false.

Lemma rounds_run c h m ps pattern blocks r j : all_whole ps ->
  all (round_right (size ps) pattern blocks) (iota 1 9) -> j <= 9 ->
  known (nth x00 (state_of ps 0)) r (pattern 0) ->
  exists2 r', run_code c h (flatten (take j blocks)) (r, m) = Some (r', m) &
  known (nth x00 (state_of ps j)) r' (pattern j).
Proof.
move=> wps right le kn; elim: j le => [|j IH] lt; first by exists r; rewrite ?take0.
have [r1 run1 kn1] := IH (ltnW lt); have {right} := allP right j.+1; rewrite mem_iota => /(_ lt).
rewrite /round_right; case E: next => [x|] //; case E': sym_code => [s|] // right.
have range : 0 < j.+1 <= 10 by rewrite /= ltnW.
have [r2 run2 kn2] := @sym_codeP _ c h no_names m (@no_namesP _ c h m) _ _ _ _ kn1 E'.
exists r2; last by rewrite -(nextP wps range E); apply: becomesP kn2.
have [lt9 | ge] := ltnP j (size blocks).
  by rewrite (take_nth [::]) // flatten_rcons run_code_cat run1.
by rewrite take_oversize ?(leq_trans ge) // -(take_oversize ge) run1; move: run2; rewrite nth_default // => -[->].
Qed.

(* ---- Memory ----------------------------------------------------------------------------------------- *)

(* The step that a child's place belongs to, and whether it is the right child. *)
Definition child_at (p : pointer) : option (bool * nat) :=
  match p with
  | Left l => Some (false, l)
  | Right l => Some (true, l)
  | _ => None
  end.

Lemma write_other c h m out q : (forall x, List.In x out -> place c h x.1 <> Some q) -> write c h m out q = m q.
Proof.
elim: out m => [|x out IH] m // other; rewrite -[write _ _ _ _]/(write c h _ out) IH; last first.
  by move=> y listed; apply: other; right.
have := other x (or_introl erefl); case: (place c h x.1) => [q'|] // ne.
by rewrite /update; case: N.eqb_spec => // E; case: ne; rewrite E.
Qed.

Lemma write_at c h m out q v : (exists x, List.In x out /\ place c h x.1 = Some q) ->
  (forall x, List.In x out -> place c h x.1 = Some q -> x.2 = v) -> write c h m out q = v.
Proof.
elim: out m => [|x out IH] m [y [listed at_q]] same; first by [].
rewrite -[write _ _ _ _]/(write c h (if place c h x.1 is Some q then update m q x.2 else m) out).
case H: (has (fun y => if place c h y.1 is Some q' then (q' =? q)%num else false) out).
  apply: IH => [|z lz]; last by apply: same; right.
  elim: out H {listed same} => //= z out IHo /orP[]; last by move/IHo=> [t [lt Et]]; exists t; split=> //; right.
  by case E: place => [q'|] // /N.eqb_eq <-; exists z; split=> //; left.
have none z : List.In z out -> place c h z.1 <> Some q.
  move=> lz E; move/negbT/negP: H; apply; elim: out lz {IH same listed} => //= t out IHo [-> | /IHo ->].
    by rewrite E N.eqb_refl.
  by rewrite orbT.
rewrite write_other // /update; case: listed => [<- | /none //] in at_q *.
rewrite at_q N.eqb_refl; apply: same; [by left | exact: at_q].
Qed.

(* ---- The last round of several pairs ------------------------------------------------------------------- *)

Definition tail (b : byte) : seq byte := b :: nseq 7 x00.
Definition tail_form (b : byte) (i : nat) : form := if i == 0 then const b else [::].

Lemma tail_formP w b i : i < 8 -> sumb w (tail_form b i) = nth x00 (tail b) i.
Proof. by case: i => [|[|[|[|[|[|[|[|i]]]]]]]] // _; rewrite /tail_form /= sumb_const. Qed.

Definition half_right (l k : nat) (x : sval) : bool :=
  if sym_aesenclast (unknowns (48 * l + k) 16) (next_key (48 * l) 10) is Some y then same_sval x y else false.

Section Halves.

Variables (n : nat) (seeds ids : seq value) (salt : value).
Definition half (b : byte) (l : nat) : value := aes_128 (block salt (nth [::] ids l) (tail b)) (nth [::] seeds l).

Lemma half_rightP l k b x w : l < n -> (k, b) = (16, x00) \/ (k, b) = (32, x01) ->
  w = nth x00 (state_of (pairs n seeds ids salt (tail x00) (tail x01)) 9) ->
  half_right l k x -> bytes_of w x = half b l.
Proof.
move=> ltl kb ->; rewrite /half_right; case E: sym_aesenclast => [y|] // /(same_svalP _) ->.
set ps := pairs _ _ _ _ _ _; have wps : all_whole ps := whole_pairs _ _ _ _ _ _.
have ltp : l < size ps by rewrite size_pairs.
pose p0 := Pair [::] [::] [::].
have pl : nth p0 ps l = Pair (nth [::] seeds l) (first_state (nth [::] seeds l) salt (nth [::] ids l) (tail x00))
    (first_state (nth [::] seeds l) salt (nth [::] ids l) (tail x01)) by rewrite nth_mkseq.
have before i : i < 48 -> nth x00 (state_of ps 9) (48 * l + i) = nth x00 (at_round 9 (nth p0 ps l)) i.
  exact: nth_state.
rewrite pl in before; rewrite /half -halfE.
have range : 0 < 10 <= 10 by [].
have sizes b' : size (first_state (nth [::] seeds l) salt (nth [::] ids l) (tail b')) = 16 by exact: size_array.
have both := conj (sizes x00) (sizes x01).
case: kb => -[-> ->] in E *.
  apply: (enc_round both range before (sizes _) _ E) => i lt; rewrite -[10.-1]/9.
  have [_ P _] := nth_pair (nth [::] seeds l) both 9 lt; rewrite -P; apply: before.
  by rewrite (leq_trans (_ : _ < 16 + 16)) // ltn_add2l.
apply: (enc_round both range before (sizes _) _ E) => i lt; rewrite -[10.-1]/9.
have [_ _ P] := nth_pair (nth [::] seeds l) both 9 lt; rewrite -P; apply: before.
by rewrite -[48]/(32 + 16) ltn_add2l.
Qed.

End Halves.

(* ---- Words -------------------------------------------------------------------------------------------- *)

Lemma number_word n : (n < 2 ^ 64)%num -> number (VectorCode.word n) = n.
Proof. by move=> lt; apply: CodecProofs.get_put_le. Qed.

Lemma size_word n : size (VectorCode.word n) = 8.
Proof. exact: CodecProofs.size_put_le. Qed.

Lemma apply2 o x y : takes o = [:: size x; size y] -> asks o [:: x; y] ->
  apply o [:: x; y] = Some (meaning o [:: x; y]).
Proof. by move=> t k; rewrite /apply t k /= !eqxx. Qed.

Lemma eval_op2 c h r m o e1 e2 x y : eval c h r m e1 = Some x -> eval c h r m e2 = Some y ->
  eval c h r m (Op o [:: e1; e2]) = apply o [:: x; y].
Proof. by move=> E1 E2; rewrite /= E1 E2. Qed.

(* The id of a step's node, as C computes it. *)
Definition node_id (start height : N) : N := (2 * start + 2 ^ height)%num.

(* With ids only if the suite has them. *)
Definition step_names (salted : bool) (n : nat) : names := fun _ e =>
  match e with
  | Loadu (Seed i) => if i < n then Some (unknowns (16 * i) 16) else None
  | Op add64 [:: Op mul64 [:: Word 2; Start i]; Op shl64 [:: Word 1; Height j]] =>
    if [&& salted, i == j & i < n] then Some (unknowns (16 * n + (16 + 8 * i)) 8) else None
  | _ => None
  end.

Section Lanes.

Variables (salted : bool) (n : nat) (ss : seq step) (m : memory) (salt_lo salt_hi : N).
Let c := Call ss None 0.
Let nowhere := Step 0%num 0%num 0%num 0%num 0%num.
Hypothesis ss_n : size ss = n.
Hypothesis ids_fit : salted -> all (fun s => node_id (start s) (height s) <? 2 ^ 64)%num ss.
Hypothesis seeds_whole : all (fun s => size (m (seed_at s)) == 16) ss.
Let seeds := [seq m (seed_at s) | s <- ss].
Let ids := [seq VectorCode.word (node_id (start s) (height s)) | s <- ss].
Let salt := VectorCode.word salt_lo ++ VectorCode.word salt_hi.
Let v := inputs seeds salt ids [::].
Let u := nth x00 v.

Lemma seeds_16 : all (fun x : value => size x == 16) seeds.
Proof. by rewrite all_map. Qed.
Lemma ids_8 : all (fun x : value => size x == 8) ids.
Proof. by rewrite all_map; apply/(all_nthP nowhere) => i _; exact/eqP/size_word. Qed.
Lemma salt_16 : size salt = 16.
Proof. by rewrite size_cat !size_word. Qed.
Lemma seeds_n : size seeds = n. Proof. by rewrite size_map. Qed.
Lemma ids_n : size ids = n. Proof. by rewrite size_map. Qed.

Lemma step_is i : i < n -> step_at c i = Some (nth nowhere ss i).
Proof. by move=> lt; rewrite /step_at (nth_map nowhere) ?ss_n. Qed.

Lemma unknowns_u k x : (forall i, i < size x -> u (k + i) = nth x00 x i) -> bytes_of u (unknowns k (size x)) = x.
Proof.
move=> same; rewrite bytes_unknowns; apply: (@eq_from_nth _ x00); first by rewrite size_mkseq.
by move=> i; rewrite size_mkseq => lt; rewrite nth_mkseq // same.
Qed.

Lemma step_namesP r s e x : known u r s -> step_names salted n s e = Some x ->
  eval c None r m e = Some (bytes_of u x).
Proof.
move=> _; rewrite /step_names.
repeat match goal with |- match ?y with _ => _ end = Some _ -> _ => is_var y; destruct y; try (intros; discriminate) end.
- case: ifP => // lt /Some_inj <-.
  rewrite [eval _ _ _ _ _]/(omap m (omap seed_at (step_at c i))) (step_is lt) [LHS]/=; congr Some.
  have E : m (seed_at (nth nowhere ss i)) = nth [::] seeds i by rewrite (nth_map nowhere) ?ss_n.
  have s16 : size (nth [::] seeds i) = 16 by apply/eqP; apply: (all_nthP [::] seeds_16); rewrite seeds_n.
  rewrite E -{2}s16 unknowns_u // s16 => k ltk; exact: (@u_seed n seeds ids salt [::] seeds_n seeds_16 i k lt ltk).
case: ifP => // /and3P[with_ids /eqP <- lt] /Some_inj <-.
have fit := all_nthP nowhere (ids_fit with_ids) i; rewrite ss_n in fit; move/N.ltb_lt: (fit lt) => {}fit.
have E : VectorCode.word (node_id (start (nth nowhere ss i)) (height (nth nowhere ss i))) = nth [::] ids i.
  by rewrite (nth_map nowhere) ?ss_n.
have s8 : size (nth [::] ids i) = 8 by rewrite -E size_word.
have B : bytes_of u (unknowns (16 * n + (16 + 8 * i)) (size (nth [::] ids i))) = nth [::] ids i.
  apply: unknowns_u; rewrite s8 => k ltk.
  have := @u_id n seeds ids salt [::] seeds_n ids_n seeds_16 ids_8 salt_16 i k lt ltk.
  by rewrite /u /v !addnA.
rewrite s8 in B; rewrite B -E; move: (nth nowhere ss i) (step_is lt) fit => st Est; rewrite /node_id => fit.
have [start64 pow64] : (2 * start st < 2 ^ 64)%num /\ (2 ^ height st < 2 ^ 64)%num by split; lia.
have height64 : (height st < 64)%num by apply/(N.pow_lt_mono_r_iff 2).
have two : apply mul64 [:: VectorCode.word 2; VectorCode.word (start st)] = Some (VectorCode.word (2 * start st)).
  rewrite apply2 ?size_word //.
  rewrite [meaning _ _]/(VectorCode.word (number (VectorCode.word 2) * number (VectorCode.word (start st)))).
  rewrite !number_word; [by [] | lia | by []].
have one : apply shl64 [:: VectorCode.word 1; VectorCode.word (height st)] = Some (VectorCode.word (2 ^ height st)).
  rewrite apply2 ?size_word //; last first.
    by rewrite [asks _ _]/(number (VectorCode.word (height st)) <? 64)%num number_word; [apply/N.ltb_lt | lia].
  rewrite [meaning _ _]/(VectorCode.word (N.shiftl (number (VectorCode.word 1)) (number (VectorCode.word (height st))))).
  rewrite !number_word; [by rewrite N.shiftl_1_l | lia | by []].
have eval_start : eval c None r m (Start i) = Some (VectorCode.word (start st)).
  by rewrite [LHS]/(omap (fun s => VectorCode.word (start s)) (step_at c i)) Est.
have eval_height : eval c None r m (Height i) = Some (VectorCode.word (height st)).
  by rewrite [LHS]/(omap (fun s => VectorCode.word (height s)) (step_at c i)) Est.
have eval_word y : eval c None r m (Word y) = Some (VectorCode.word y) by [].
have first_term := eval_op2 mul64 (eval_word 2%num) eval_start; rewrite two in first_term.
have second_term := eval_op2 shl64 (eval_word 1%num) eval_height; rewrite one in second_term.
rewrite (eval_op2 add64 first_term second_term).
rewrite apply2 ?size_word // [meaning _ _]/(VectorCode.word (number (VectorCode.word (2 * start st)) +
  number (VectorCode.word (2 ^ height st)))).
by rewrite !number_word.
Qed.

Lemma salt_known k : known u (map Some [:: VectorCode.word salt_lo; VectorCode.word salt_hi] ++ nseq k None)
  [:: Some (unknowns (16 * n) 8); Some (unknowns (16 * n + 8) 8)].
Proof.
have salt_forms : known u [:: Some (VectorCode.word salt_lo); Some (VectorCode.word salt_hi)]
    [:: Some (unknowns (16 * n) 8); Some (unknowns (16 * n + 8) 8)].
  have word_at b x : (forall i, i < 8 -> nth x00 salt (b + i) = nth x00 (VectorCode.word x) i) -> b + 8 <= 16 ->
      bytes_of u (unknowns (16 * n + b) 8) = VectorCode.word x.
    move=> same le; have sz := size_word x.
    have B : bytes_of u (unknowns (16 * n + b) (size (VectorCode.word x))) = VectorCode.word x; last by rewrite sz in B.
    apply: unknowns_u; rewrite sz => i lt; rewrite -addnA -same //.
    by apply: (@u_salt n seeds ids salt [::] seeds_n seeds_16 salt_16); rewrite (leq_trans _ le) // ltn_add2l.
  have low i : i < 8 -> nth x00 salt (0 + i) = nth x00 (VectorCode.word salt_lo) i.
    by move=> lt; rewrite add0n nth_cat size_word lt.
  have high i : i < 8 -> nth x00 salt (8 + i) = nth x00 (VectorCode.word salt_hi) i.
    by move=> lt; rewrite nth_cat size_word ltnNge leq_addr /= addKn.
  have at0 := word_at 0 salt_lo low isT; have at8 := word_at 8 salt_hi high isT; rewrite addn0 in at0.
  case=> [|[|j]] x; last by rewrite /= nth_default.
    by move=> /Some_inj <-; rewrite at0.
  by move=> /Some_inj <-; rewrite at8.
move=> j x E; have := salt_forms j x E; rewrite nth_cat; case: ltnP => // ge.
by rewrite nth_default in E.
Qed.

(* ---- The children in memory -------------------------------------------------------------------------- *)

(* Each step's children are stored, with these values and no others. *)
Definition stores_right (right : bool -> nat -> sval -> bool) (out : seq (bool * pointer * sval)) : bool :=
  all (fun x => ~~ x.1.1 && if child_at x.1.2 is Some (side, l) then (l < n) && right side l x.2 else false) out &&
  all (fun l => has (fun x => child_at x.1.2 == Some (false, l)) out && has (fun x => child_at x.1.2 == Some (true, l)) out)
    (iota 0 n).

Definition outputs : seq location := map left_at ss ++ map right_at ss.
Hypothesis apart : uniq outputs.

Definition output (side : bool) (l : nat) : location := nth 0%num outputs (if side then n + l else l).

Lemma size_outputs : size outputs = n + n.
Proof. by rewrite size_cat !size_map ss_n. Qed.

Lemma output_child side l : l < n -> output side l = (if side then right_at else left_at) (nth nowhere ss l).
Proof.
move=> lt; rewrite /output nth_cat size_map ss_n; case: side.
  by rewrite ltnNge leq_addr /= addKn (nth_map nowhere) ?ss_n.
by rewrite lt (nth_map nowhere) ?ss_n.
Qed.

Lemma place_child p side l : child_at p = Some (side, l) -> l < n -> place c None p = Some (output side l).
Proof. by case: p => // k [<- ->] lt; rewrite /place step_is // output_child. Qed.

Lemma place_in_outputs (side : bool) l : l < n -> (if side then n + l else l) < n + n.
Proof. by case: side => lt; rewrite ?ltn_add2l // (leq_trans lt) ?leq_addr. Qed.

Lemma output_inj side l side' l' : l < n -> l' < n -> output side l = output side' l' -> side = side' /\ l = l'.
Proof.
move=> lt lt' /eqP; rewrite nth_uniq ?size_outputs ?place_in_outputs // => /eqP.
case: side; case: side' => E; split=> //.
- exact: addnI E.
- by move: lt'; rewrite -E ltnNge leq_addr.
- by move: lt'; rewrite -E ltnNge leq_addr.
- by move: lt; rewrite E ltnNge leq_addr.
by move: lt; rewrite E ltnNge leq_addr.
Qed.

Lemma all_In (T : Type) (p : pred T) s x : all p s -> List.In x s -> p x.
Proof. by elim: s => //= y s IH /andP[py ps] [<- // | /(IH ps)]. Qed.

Lemma has_In (T : Type) (p : pred T) s : has p s -> exists x, List.In x s /\ p x.
Proof.
by elim: s => //= y s IH /orP[py | /IH[x [lx px]]]; [exists y; split=> //; left | exists x; split=> //; right].
Qed.

Lemma stores_sound (right : bool -> nat -> sval -> bool) want w out : (forall side l x, l < n -> right side l x -> bytes_of w x = want side l) ->
  stores_right right out ->
  all (reaches c None) out /\
  (forall l, l < n ->
    write c None m (map (sent w) out) (left_at (nth nowhere ss l)) = want false l /\
    write c None m (map (sent w) out) (right_at (nth nowhere ss l)) = want true l) /\
  (forall q, q \notin outputs -> write c None m (map (sent w) out) q = m q).
Proof.
move=> rightP /andP[ok covered].
have sound y : List.In y out -> exists side l,
    [/\ l < n, place c None y.1.2 = Some (output side l) & bytes_of w y.2 = want side l].
  move/(all_In ok) => /andP[_]; case E: child_at => [[side l]|] // /andP[lt r].
  by exists side, l; split=> //; [exact: place_child | exact: rightP].
have stored side l : l < n -> write c None m (map (sent w) out) (output side l) = want side l.
  move=> lt; apply: write_at => [|x].
    have := allP covered l; rewrite mem_iota => /(_ lt)/andP[hl hr].
    have [y [ly /eqP at_y]] : exists y, List.In y out /\ child_at y.1.2 == Some (side, l).
      by case: side; apply: has_In.
    by exists (sent w y); split; [apply: List.in_map | apply: place_child].
  move/List.in_map_iff => [y [<- ly]]; have [side' [l' [lt' P E]]] := sound y ly.
  rewrite -[(sent w y).1]/(y.1.2) -[(sent w y).2]/(bytes_of w y.2) P E => -[same].
  by have [-> ->] := output_inj lt' lt same.
split.
  apply: sub_all ok => -[[g p] x] /andP[_]; rewrite /reaches -[(g, p, x).1.2]/p.
  by case E: child_at => [[side l]|] // /andP[lt _]; rewrite (place_child E lt).
split=> [l lt | q out_q].
  by have := stored false l lt; have := stored true l lt; rewrite !output_child // => -> ->.
apply: write_other => x /List.in_map_iff[y [<- ly]] E; have [side [l [lt P _]]] := sound y ly.
rewrite -[(sent w y).1]/(y.1.2) P in E; case: E => E; move/negP: out_q; apply; rewrite -E.
by apply: mem_nth; rewrite size_outputs place_in_outputs.
Qed.

(* ---- A function on several steps ---------------------------------------------------------------------- *)

Definition lanes_right (f : function) (k : nat) (pattern : nat -> sym_env) : bool :=
  let blocks := opening f in
  [&& if sym_code (step_names salted n) (flatten (take k blocks))
        [:: Some (unknowns (16 * n) 8); Some (unknowns (16 * n + 8) 8)] is Some s
      then becomes (first n (tail_form x00) (tail_form x01)) (pattern 0) s else false,
      all (round_right n pattern (take 9 (drop k blocks))) (iota 1 9),
      if sym_stores (flatten (drop 9 (drop k blocks))) (pattern 9) is Some (_, out)
      then stores_right (fun side l => half_right l (if side then 32 else 16)) out else false,
      nilp (loop f), nilp (closing f) & nilp (returned f)].

Let half := half seeds ids salt.

Lemma lanes_sound f k pattern : lanes_right f k pattern ->
  exists m', run f c [:: VectorCode.word salt_lo; VectorCode.word salt_hi] m = Some ([::], m') /\
  (forall l, l < n -> m' (left_at (nth nowhere ss l)) = half x00 l /\
                      m' (right_at (nth nowhere ss l)) = half x01 l) /\
  (forall q, q \notin outputs -> m' q = m q).
Proof.
case/and5P=> input rounds last noloop /andP[noclosing noreturn].
move: input; case Ei: sym_code => [s0|] // input.
move: last; case El: sym_stores => [[s1 out]|] // right.
have kn0 := salt_known (variables f - 2).
have [r1 run1 kn1] := @sym_codeP u c None (step_names salted n) m step_namesP _ _ _ _ kn0 Ei.
have {}kn1 := becomesP input kn1.
pose ps := pairs n seeds ids salt (tail x00) (tail x01).
have first_state_of : bytes_of (nth x00 v) (first n (tail_form x00) (tail_form x01)) = state_of ps 0.
  by apply: (firstP seeds_n ids_n seeds_16 ids_8 salt_16) => // i lt; exact: tail_formP.
rewrite first_state_of in kn1.
have wps : all_whole ps := whole_pairs _ _ _ _ _ _.
have rounds' : all (round_right (size ps) pattern (take 9 (drop k (opening f)))) (iota 1 9) by rewrite size_pairs.
have [r2 run2 kn2] := @rounds_run c None m ps pattern _ r1 9 wps rounds' (leqnn 9) kn1.
pose want (side : bool) l := half (if side then x01 else x00) l.
have wantP side l x : l < n -> half_right l (if side then 32 else 16) x ->
    bytes_of (nth x00 (state_of ps 9)) x = want side l.
  by move=> lt; apply: half_rightP lt _ erefl; case: side; [right | left].
have [reach [stored kept]] := stores_sound wantP right.
have [r3 run3 _] := @sym_storesP _ c None _ m r2 _ _ _ kn2 El reach.
exists (write c None m (map (sent (nth x00 (state_of ps 9))) out)); split.
  have pieces : flatten (opening f) = flatten (take k (opening f)) ++
      (flatten (take 9 (drop k (opening f))) ++ flatten (drop 9 (drop k (opening f)))).
    by rewrite -!flatten_cat !cat_take_drop.
  rewrite take_of_take // in run2.
  rewrite /run (nilP noloop) (nilP noclosing) (nilP noreturn) pieces run_code_cat run1.
  by rewrite [obind _ _]run_code_cat run2 [obind _ _]run3.
by split.
Qed.

End Lanes.

(* ---- The functions ------------------------------------------------------------------------------------- *)

Definition pattern_of (vars : seq (nat * sval)) : sym_env :=
  foldl (fun s x => set_nth None s x.1 (Some x.2)) [::] vars.
(* The keys (k = 0), left blocks (16) or right blocks (32) of these pairs, in one variable. *)
Definition part (ls : seq nat) (k : nat) : sval := flatten [seq unknowns (48 * l + k) 16 | l <- ls].

Definition ni_x4_pattern (j : nat) : sym_env := pattern_of (flatten [seq
  [:: (aes_ni_x4_key + l, part [:: l] 0); (aes_ni_x4_a + l, part [:: l] 16); (aes_ni_x4_b + l, part [:: l] 32)] |
  l <- iota 0 4]).
Definition vaes_x4_pattern (j : nat) : sym_env := pattern_of
  [:: (aes_vaes_x4_key, part (iota 0 4) 0); (aes_vaes_x4_a, part (iota 0 4) 16); (aes_vaes_x4_b, part (iota 0 4) 32)].
Definition vaes_x8_pattern (j : nat) : sym_env := pattern_of
  [:: (aes_vaes_x8_k0, part (iota 0 4) 0); (aes_vaes_x8_a0, part (iota 0 4) 16); (aes_vaes_x8_b0, part (iota 0 4) 32);
      (aes_vaes_x8_k1, part (iota 4 4) 0); (aes_vaes_x8_a1, part (iota 4 4) 16); (aes_vaes_x8_b1, part (iota 4 4) 32)].

Lemma ni_x4_right : lanes_right true 4 opt_aes_ni_x4 2 ni_x4_pattern.
Proof. by vm_compute. Qed.
Lemma vaes_x4_right : lanes_right true 4 opt_aes_vaes_x4 2 vaes_x4_pattern.
Proof. by vm_compute. Qed.
Lemma vaes_x8_right : lanes_right true 8 opt_aes_vaes_x8 5 vaes_x8_pattern.
Proof. by vm_compute. Qed.

(* For these steps, if their ids fit into 64 bits and their children have separate places (a
   child may replace a step's seed): each step's children are stored, computed from the seeds
   that were there, and nothing else changes. *)
Theorem aes_lanes_sound f n (ss : seq step) (m : memory) salt_lo salt_hi :
  List.In (f, n) [:: (opt_aes_ni_x4, 4); (opt_aes_vaes_x4, 4); (opt_aes_vaes_x8, 8)] ->
  size ss = n ->
  all (fun s => 2 * start s + 2 ^ height s <? 2 ^ 64)%num ss ->
  all (fun s => size (m (seed_at s)) == 16) ss ->
  uniq (map left_at ss ++ map right_at ss) ->
  exists m', run f (Call ss None 0) [:: VectorCode.word salt_lo; VectorCode.word salt_hi] m = Some ([::], m') /\
  (forall l s, l < n -> nth None (map Some ss) l = Some s ->
    let seed := m (seed_at s) in
    let salt := put_le 8 salt_lo ++ put_le 8 salt_hi in
    let id := put_le 8 (2 * start s + 2 ^ height s) in
    m' (left_at s) = aes_half seed salt id x00 /\
    m' (right_at s) = aes_half seed salt id x01) /\
  (forall q, q \notin map left_at ss ++ map right_at ss -> m' q = m q).
Proof.
move=> listed ss_n ids_fit whole_seeds apart.
have [k [pattern right]] : exists k pattern, lanes_right true n f k pattern.
  case: listed => [[<- <-]|[[<- <-]|[[<- <-]|[]]]].
  - by exists 2, ni_x4_pattern; exact: ni_x4_right.
  - by exists 2, vaes_x4_pattern; exact: vaes_x4_right.
  by exists 5, vaes_x8_pattern; exact: vaes_x8_right.
have [m' [run_f [stored kept]]] := lanes_sound salt_lo salt_hi ss_n (fun _ => ids_fit) whole_seeds apart right.
exists m'; split; [exact: run_f | split; last exact: kept].
move=> l s lt; pose nowhere := Step 0%num 0%num 0%num 0%num 0%num.
rewrite (nth_map nowhere) ?ss_n // => -[<-]; have [L R] := stored l lt.
rewrite L R /half (nth_map nowhere) ?ss_n // (nth_map nowhere) ?ss_n //.
Qed.

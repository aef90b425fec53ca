(* SPDX-License-Identifier: Apache-2.0 *)
(* The Keccak functions of opt on four and eight seeds, from seeds in memory to children in
   memory, compute the halves of SHA3-256 of each seed, or of each seed with a salt and its
   node's id, as FIPS 202 defines it; so do those on one seed in vectors. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require LaneCode KeccakCode Fips202.
From Pprf.spec Require Import Codec VectorCode KeccakVectorCode.
From Pprf.proofs Require KeccakSound AesVectorPair.
From Pprf.proofs Require Import AesSym VectorSym AesVectorRounds AesVectorSound VectorWords.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Names of what is in variables ------------------------------------------------------------------ *)

Lemma known_set_right u r s v x : known u r s -> nth None r v = Some (bytes_of u x) ->
  known u r (set_nth None s v (Some x)).
Proof. by move=> kn E k y; rewrite nth_set_nth /=; case: eqP => [-> [<-] | _ /kn]. Qed.

Lemma known_pattern u r vars : (forall v x, List.In (v, x) vars -> nth None r v = Some (bytes_of u x)) ->
  known u r (pattern_of vars).
Proof.
rewrite /pattern_of; have : known u r [::] by move=> k x; rewrite nth_nil.
elim: vars [::] => [|[v x] vars IH] s kn ok //=; apply: IH => [|v' x' listed]; last by apply: ok; right.
by apply: known_set_right => //; apply: ok; left.
Qed.

Lemma bytes_slice w v k n : (forall i, i < n -> w (k + i) = nth x00 v i) -> size v = n -> bytes_of w (unknowns k n) = v.
Proof.
move=> same sz; rewrite bytes_unknowns; apply: (@eq_from_nth _ x00); first by rewrite size_mkseq sz.
by move=> i; rewrite size_mkseq => lt; rewrite nth_mkseq // same.
Qed.

Lemma bytes_of_cat w x y : bytes_of w (x ++ y) = bytes_of w x ++ bytes_of w y.
Proof. exact: map_cat. Qed.

Lemma bytes_element w x j : element (bytes_of w x) j = bytes_of w (take 8 (drop (8 * j) x)).
Proof. by rewrite /element /bytes_of map_take map_drop. Qed.

(* ---- Before the stores ------------------------------------------------------------------------------- *)

(* The digests' word k, of all steps, in a vector of n words. *)
Definition digests (n : nat) (places : seq nat) : sym_env :=
  pattern_of [seq (nth 0 places (KeccakCode.e0 + k), unknowns (8 * n * k) (8 * n)) | k <- iota 0 4].

Lemma word_at n xs k j : all (fun x : value => size x == 8 * n) xs -> k < size xs -> j < n ->
  bytes_of (nth x00 (flatten xs)) (unknowns (8 * n * k + 8 * j) 8) = element (nth [::] xs k) j.
Proof.
move=> sizes ltk ltj; have sk : size (nth [::] xs k) = 8 * n by apply/eqP; apply: (all_nthP [::] sizes).
apply: bytes_slice; last by rewrite size_element // sk element_fits.
by move=> i lt; rewrite -addnA nth_flatten ?in_size // nth_element.
Qed.

Lemma digest_vectors n w places r rls : 0 < n -> carries n w places r rls ->
  (forall j k, j < n -> k < 4 -> exists y, nth None (rls j) (KeccakCode.e0 + k) = Some y) ->
  exists xs, [/\ size xs = 4, all (fun x : value => size x == 8 * w) xs,
    known (nth x00 (flatten xs)) r (digests w places) &
    forall j k y, j < n -> k < 4 -> nth None (rls j) (KeccakCode.e0 + k) = Some y ->
      element (nth [::] xs k) j = VectorCode.word y].
Proof.
move=> n0 carried some.
have vector k : k < 4 -> exists x, [/\ nth None r (nth 0 places (KeccakCode.e0 + k)) = Some x, size x = 8 * w &
    forall j y, j < n -> nth None (rls j) (KeccakCode.e0 + k) = Some y -> element x j = VectorCode.word y].
  move=> ltk; have [y0 Ey0] := some 0 k n0 ltk; have [_ [x [Ex sx _]]] := carried _ _ _ n0 Ey0.
  exists x; split=> // j y ltj Ey.
  by have [_ [x' [Ex' _ word_x]]] := carried _ _ _ ltj Ey; move: Ex; rewrite Ex' => -[<-].
have [x0 [Ex0 sx0 word0]] := vector 0 isT; have [x1 [Ex1 sx1 word1]] := vector 1 isT.
have [x2 [Ex2 sx2 word2]] := vector 2 isT; have [x3 [Ex3 sx3 word3]] := vector 3 isT.
have sizes : all (fun x : value => size x == 8 * w) [:: x0; x1; x2; x3] by rewrite /= sx0 sx1 sx2 sx3 !eqxx.
exists [:: x0; x1; x2; x3]; split=> //; last first.
  move=> j k y ltj; case: k => [|[|[|[|k]]]] // _ E;
    [exact: word0 E | exact: word1 E | exact: word2 E | exact: word3 E].
have slice k i : k < 4 -> i < 8 * w ->
    nth x00 (flatten [:: x0; x1; x2; x3]) (8 * w * k + i) = nth x00 (nth [::] [:: x0; x1; x2; x3] k) i.
  by move=> ltk lti; rewrite nth_flatten.
apply: known_pattern => place_k x; case=> [|[|[|[|[]]]]] [<- <-].
- by rewrite Ex0; congr Some; apply/esym/(bytes_slice _ sx0) => i lt; exact: (slice 0 i isT lt).
- by rewrite Ex1; congr Some; apply/esym/(bytes_slice _ sx1) => i lt; exact: (slice 1 i isT lt).
- by rewrite Ex2; congr Some; apply/esym/(bytes_slice _ sx2) => i lt; exact: (slice 2 i isT lt).
by rewrite Ex3; congr Some; apply/esym/(bytes_slice _ sx3) => i lt; exact: (slice 3 i isT lt).
Qed.

(* Before that, these variables hold the values that such a program returns. *)
Definition returned_words : seq LaneCode.expr :=
  [:: LaneCode.Var KeccakCode.e0; LaneCode.Var KeccakCode.e1; LaneCode.Var KeccakCode.e2; LaneCode.Var KeccakCode.e3;
      LaneCode.Const 0].

Lemma run_words p ws l0 l1 r0 r1 : LaneCode.returned p = returned_words ->
  LaneCode.run KeccakCode.iota_words p ws = Some [:: l0; l1; r0; r1; 0]%num ->
  exists2 r, run_pieces KeccakCode.iota_words (written_out p)
    (map Some ws ++ nseq (LaneCode.variables p - size ws) None) = Some r &
  forall k, k < 4 -> nth None r (KeccakCode.e0 + k) = Some (nth 0%num [:: l0; l1; r0; r1] k).
Proof.
move=> returns /run_written_out[r run_r]; rewrite returns => E; exists r => //.
have [E0 E1 E2 E3] : [/\ nth None r KeccakCode.e0 = Some l0, nth None r KeccakCode.e1 = Some l1,
    nth None r KeccakCode.e2 = Some r0 & nth None r KeccakCode.e3 = Some r1].
  move: E; rewrite /returned_words /LaneCode.values /LaneCode.eval.
  by do 4 case: (nth None r _) => [?|] //; case=> -> -> -> ->.
by case=> [|[|[|[|k]]]].
Qed.

(* ---- A function on several steps ---------------------------------------------------------------------- *)

Section Lanes.

Variables (salted : bool) (n : nat) (ss : seq step) (m : memory) (salt_lo salt_hi : N).
Let c := Call ss None 0.
Let nowhere := Step 0%num 0%num 0%num 0%num 0%num.
Hypothesis ss_n : size ss = n.
Hypothesis ids_fit : salted -> all (fun s => AesVectorSound.node_id (start s) (height s) <? 2 ^ 64)%num ss.
Hypothesis seeds_whole : all (fun s => size (m (seed_at s)) == 16) ss.
Let seeds := [seq m (seed_at s) | s <- ss].
Let ids := [seq VectorCode.word (AesVectorSound.node_id (start s) (height s)) | s <- ss].
Let salt := VectorCode.word salt_lo ++ VectorCode.word salt_hi.
Let v := inputs seeds salt ids [::].
Let u := nth x00 v.

(* The hashed words of step l: two of its seed, two of the salt, its id. *)
Definition arguments : nat := if salted then 5 else 2.
Definition argument (t l : nat) : value :=
  match t with
  | 0 => take 8 (nth [::] seeds l)
  | 1 => drop 8 (nth [::] seeds l)
  | 2 => VectorCode.word salt_lo
  | 3 => VectorCode.word salt_hi
  | _ => nth [::] ids l
  end.
Definition form_of (t l : nat) : sval :=
  match t with
  | 0 => unknowns (16 * l) 8
  | 1 => unknowns (16 * l + 8) 8
  | 2 => unknowns (16 * n) 8
  | 3 => unknowns (16 * n + 8) 8
  | _ => unknowns (16 * n + (16 + 8 * l)) 8
  end.

Let s16 := seeds_16 seeds_whole.
Let i8 := ids_8 ss.
Let sn := seeds_n m ss_n.
Let idn := ids_n ss_n.
Let salt16 := salt_16 salt_lo salt_hi.

Lemma size_seed l : l < n -> size (nth [::] seeds l) = 16.
Proof. by move=> lt; apply/eqP; apply: (all_nthP [::] s16); rewrite sn. Qed.

Lemma size_argument t l : l < n -> size (argument t l) = 8.
Proof.
move=> lt; case: t => [|[|[|[|t]]]]; rewrite /argument ?size_word //.
- by rewrite size_takel // size_seed.
- by rewrite size_drop size_seed.
by apply/eqP; apply: (all_nthP [::] i8); rewrite idn.
Qed.

Lemma form_ofP t l : l < n -> bytes_of u (form_of t l) = argument t l.
Proof.
have seed_at_u k i : k < n -> i < 16 -> u (16 * k + i) = nth x00 (nth [::] seeds k) i.
  exact: (@u_seed n seeds ids salt [::] sn s16).
have salt_at_u i : i < 16 -> u (16 * n + i) = nth x00 salt i by exact: (@u_salt n seeds ids salt [::] sn s16 salt16).
have id_at_u k i : k < n -> i < 8 -> u (16 * n + (16 + (8 * k + i))) = nth x00 (nth [::] ids k) i.
  exact: (@u_id n seeds ids salt [::] sn idn s16 i8 salt16).
move=> lt; have sz := size_argument t lt; case: t sz => [|[|[|[|t]]]] sz; apply: (bytes_slice _ sz) => i lti.
- by rewrite /argument nth_take // seed_at_u // (leq_trans lti).
- by rewrite /argument nth_drop -addnA seed_at_u // -[16]/(8 + 8) ltn_add2l.
- by rewrite salt_at_u ?(leq_trans lti) // /salt nth_cat size_word lti.
- rewrite -addnA salt_at_u; last by rewrite -[16]/(8 + 8) ltn_add2l.
  by rewrite /salt nth_cat size_word ltnNge leq_addr /= addKn.
by rewrite -(id_at_u l i) // !addnA.
Qed.

(* Word j of the vectors belongs to step nth 0 order j. *)
Definition loaded_right (places order : seq nat) (s : sym_env) : bool :=
  all (fun t => if nth None s (nth 0 places t) is Some x then
      (size x == 8 * n) && all (fun j => same_sval (take 8 (drop (8 * j) x)) (form_of t (nth 0 order j))) (iota 0 n)
    else false) (iota 0 arguments).

Definition stored_right (order : seq nat) (side : bool) (l : nat) (x : sval) : bool :=
  let word k := unknowns (8 * n * k + 8 * index l order) 8 in
  same_sval x (if side then word 2 ++ word 3 else word 0 ++ word 1).

Definition words_right (f : function) (p : LaneCode.program) (loads : nat) (places order : seq nat) : bool :=
  let code := flatten (opening f) in
  let hashes := sumn [seq size x.2 | x <- written_out p] in
  [&& [&& uniq places, arguments <= size places, size order == n, all (fun j => nth 0 order j < n) (iota 0 n) &
       all (fun l => l \in order) (iota 0 n)],
      if sym_code (step_names salted n) (take loads code)
        (if salted then [:: Some (unknowns (16 * n) 8); Some (unknowns (16 * n + 8) 8)] else [::]) is Some s
      then loaded_right places order s else false,
      agree_pieces n n places KeccakCode.iota_words (take hashes (drop loads code)) (written_out p),
      if sym_stores (drop hashes (drop loads code)) (digests n places) is Some (_, out)
      then stores_right n (stored_right order) out else false &
      [&& nilp (loop f), nilp (closing f) & nilp (returned f)]].

Hypothesis some_steps : 0 < n.
Hypothesis apart : uniq (outputs ss).

Variables (p : LaneCode.program) (digest : nat -> value).
Hypothesis p_returns : LaneCode.returned p = returned_words.
Let numbers l := mkseq (fun t => number (argument t l)) arguments.
Hypothesis p_hashes : forall l, l < n -> exists l0 l1 r0 r1,
  LaneCode.run KeccakCode.iota_words p (numbers l) = Some [:: l0; l1; r0; r1; 0]%num /\
  VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 = digest l.

Let args := if salted then [:: VectorCode.word salt_lo; VectorCode.word salt_hi] else [::].

Lemma words_sound f loads places order : words_right f p loads places order ->
  exists m', run f c args m = Some ([::], m') /\
  (forall l, l < n -> m' (left_at (nth nowhere ss l)) = take 16 (digest l) /\
                      m' (right_at (nth nowhere ss l)) = drop 16 (digest l)) /\
  (forall q, q \notin outputs ss -> m' q = m q).
Proof.
case/and5P=> /and5P[places_apart enough /eqP size_order order_lt listed] load hash store /and3P[noloop noclosing noreturn].
move: load; case El: sym_code => [s1|] // load; move: store; case Es: sym_stores => [[s3 out]|] // store.
have lt_order j : j < n -> nth 0 order j < n by move=> lt; apply: (allP order_lt); rewrite mem_iota.
set code := flatten (opening f) in El hash Es *; set hashes := sumn _ in hash Es *.
(* loads *)
have kn0 : known u (map Some args ++ nseq (variables f - size args) None)
    (if salted then [:: Some (unknowns (16 * n) 8); Some (unknowns (16 * n + 8) 8)] else [::]).
  by rewrite /args; case: (salted) => /=; [exact: salt_known | move=> k x; rewrite nth_nil].
have [r1 run1 kn1] := @sym_codeP u c None (step_names salted n) m
  (@step_namesP salted n ss m salt_lo salt_hi ss_n ids_fit seeds_whole) _ _ _ _ kn0 El.
(* each word *)
pose rls1 j := map Some (numbers (nth 0 order j)) ++ nseq (LaneCode.variables p - size (numbers (nth 0 order j))) None.
have carried : carries n n places r1 rls1.
  move=> j t x ltj; case: (ltnP t arguments) => [ltt | ge]; last first.
    by rewrite /rls1 nth_cat size_map size_mkseq ltnNge ge /= nth_nseq; case: ifP.
  rewrite /rls1 nth_cat size_map size_mkseq ltt (nth_map 0%num) ?size_mkseq // nth_mkseq // => -[<-].
  split; first exact: leq_trans ltt enough.
  have := allP load t; rewrite mem_iota => /(_ ltt); case Ex: nth => [y|] // /andP[/eqP sy words].
  exists (bytes_of u y); split; [exact: kn1 Ex | by rewrite size_bytes |].
  have := allP words j; rewrite mem_iota => /(_ ltj) /(same_svalP u) E.
  by rewrite bytes_element E form_ofP ?lt_order // word_number // size_argument // lt_order.
pose rls3 j := odflt [::] (run_pieces KeccakCode.iota_words (written_out p) (rls1 j)).
have ran j : j < n -> exists l0 l1 d0 d1, [/\ run_pieces KeccakCode.iota_words (written_out p) (rls1 j) = Some (rls3 j),
    forall k, k < 4 -> nth None (rls3 j) (KeccakCode.e0 + k) = Some (nth 0%num [:: l0; l1; d0; d1] k) &
    VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word d0 ++ VectorCode.word d1 = digest (nth 0 order j)].
  move=> ltj; have [l0 [l1 [d0 [d1 [R D]]]]] := p_hashes (lt_order j ltj).
  have [r Er words] := run_words p_returns R; exists l0, l1, d0, d1; rewrite /rls3 Er; split=> //.
have ran1 j : j < n -> run_pieces KeccakCode.iota_words (written_out p) (rls1 j) = Some (rls3 j).
  by move=> ltj; have [? [? [? [? []]]]] := ran j ltj.
have [r2 run2 carried2] := @agree_piecesP n n places _ some_steps (leqnn n) c None m places_apart _ _ _ _ _ carried hash ran1.
(* stores *)
have [xs [s4 sizes kn2 words]] : exists xs, [/\ size xs = 4, all (fun x : value => size x == 8 * n) xs,
    known (nth x00 (flatten xs)) r2 (digests n places) &
    forall j k y, j < n -> k < 4 -> nth None (rls3 j) (KeccakCode.e0 + k) = Some y ->
      element (nth [::] xs k) j = VectorCode.word y].
  apply: digest_vectors some_steps carried2 _ => j k ltj ltk; have [l0 [l1 [d0 [d1 [_ E _]]]]] := ran j ltj.
  by exists (nth 0%num [:: l0; l1; d0; d1] k); exact: E.
pose w := nth x00 (flatten xs).
pose want (side : bool) l := if side then drop 16 (digest l) else take 16 (digest l).
have wantP (side : bool) l x : l < n -> stored_right order side l x -> bytes_of w x = want side l.
  move=> lt /(same_svalP w) ->; have := allP listed l; rewrite mem_iota => /(_ lt) in_order.
  set j := index l order; have ltj : j < n by rewrite -size_order index_mem.
  have jl : nth 0 order j = l by exact: nth_index.
  have [l0 [l1 [d0 [d1 [_ E D]]]]] := ran j ltj; rewrite jl in D.
  have word_is k : k < 4 -> bytes_of w (unknowns (8 * n * k + 8 * j) 8) = VectorCode.word (nth 0%num [:: l0; l1; d0; d1] k).
    by move=> ltk; rewrite word_at ?s4 // (words j k _ ltj ltk (E k ltk)).
  have s16' : size (VectorCode.word l0 ++ VectorCode.word l1) = 16 by rewrite size_cat !size_word.
  rewrite /want -D catA; case: side; rewrite bytes_of_cat.
    by rewrite (word_is 2) // (word_is 3) // -s16' drop_size_cat.
  by rewrite (word_is 0) // (word_is 1) // -s16' take_size_cat.
have [reach [stored kept]] := @stores_sound n ss m ss_n apart _ want w out wantP store.
have [r3 run3 _] := @sym_storesP _ c None _ m r2 _ _ _ kn2 Es reach.
exists (write c None m (map (sent w) out)); split; last by split.
rewrite /run (nilP noloop) (nilP noclosing) (nilP noreturn) -/code.
rewrite -(cat_take_drop loads code) run_code_cat run1 [obind _ _]/=.
by rewrite -(cat_take_drop hashes (drop loads code)) run_code_cat run2 [obind _ _]/= run3.
Qed.

End Lanes.

(* ---- A function on one seed ----------------------------------------------------------------------------- *)

(* The hashed words are among the first arguments, in the same order; they are the first words of
   vectors. *)
Definition single_right (f : function) (p : LaneCode.program) (taken hashed loads : nat) (places : seq nat) : bool :=
  let code := flatten (opening f) in
  let hashes := sumn [seq size x.2 | x <- written_out p] in
  [&& [&& uniq places, hashed <= size places & hashed <= taken],
      if sym_code no_names (take loads code) (AesVectorPair.arguments taken) is Some s
      then all (fun t => if nth None s (nth 0 places t) is Some x then
          (size x == 16) && same_sval (take 8 x) (unknowns (8 * t) 8) else false) (iota 0 hashed) else false,
      agree_pieces 1 2 places KeccakCode.iota_words (take hashes (drop loads code)) (written_out p),
      if sym_code no_names (drop hashes (drop loads code)) (digests 2 places) is Some s then
        if all_some (map (sym_eval no_names s) (returned f)) is Some [:: l0; l1; r0; r1; e]
        then [&& same_sval l0 (unknowns 0 8), same_sval l1 (unknowns 16 8), same_sval r0 (unknowns 32 8),
                 same_sval r1 (unknowns 48 8) & same_sval e (nseq 8 [::])] else false else false &
      nilp (loop f) && nilp (closing f)].

Section Single.

Variables (m : memory) (words : seq N).
Let c := Call [::] None 0.
Let args := [seq VectorCode.word x | x <- words].
Let u := nth x00 (flatten args).

Variables (p : LaneCode.program) (hashed : nat) (l0 l1 r0 r1 : N).
Hypothesis p_returns : LaneCode.returned p = returned_words.
Hypothesis p_hashes :
  LaneCode.run KeccakCode.iota_words p (take hashed words) = Some [:: l0; l1; r0; r1; 0]%num.

Lemma args_8 : all (fun x : value => size x == 8) args.
Proof. by rewrite all_map; apply/allP => x _; exact/eqP/size_word. Qed.

Lemma argument_bytes t : t < size words -> bytes_of u (unknowns (8 * t) 8) = VectorCode.word (nth 0%num words t).
Proof.
move=> lt; apply: bytes_slice; last exact: size_word.
by move=> i lti; rewrite /u (nth_flatten args_8) ?size_map // (nth_map 0%num).
Qed.

Lemma single_sound f loads places : single_right f p (size words) hashed loads places ->
  run f c args m =
  Some ([:: VectorCode.word l0; VectorCode.word l1; VectorCode.word r0; VectorCode.word r1; nseq 8 x00], m).
Proof.
case/and5P=> /and3P[places_apart enough le_hashed] load hash last /andP[noloop noclosing].
move: load; case El: sym_code => [s1|] // load; move: last; case Eo: sym_code => [s3|] //.
case Er: all_some => [[|a0 [|a1 [|b0 [|b1 [|e []]]]]]|] // /and5P[A0 A1 B0 B1 Z].
set code := flatten (opening f) in El hash Eo *; set hashes := sumn _ in hash Eo *.
have size_hashed : size (take hashed words) = hashed by rewrite size_takel.
set r := map Some args ++ nseq (variables f - size args) None.
have kn0 : known u r (AesVectorPair.arguments (size words)).
  move=> k x; case: (ltnP k (size words)) => lt; last by rewrite nth_default // size_mkseq.
  rewrite nth_mkseq // => -[<-]; rewrite argument_bytes // /r nth_cat !size_map lt (nth_map [::]) ?size_map //.
  by rewrite (nth_map 0%num).
have [q1 run1 kn1] := @sym_codeP u c None no_names m (@no_namesP u c None m) _ _ _ _ kn0 El.
have [r3 run3 E3] := run_words p_returns p_hashes.
pose rls1 (j : nat) := map Some (take hashed words) ++ nseq (LaneCode.variables p - size (take hashed words)) None.
have carried : carries 1 2 places q1 rls1.
  move=> [|//] t x _; rewrite /rls1 nth_cat size_map size_hashed; case: ltnP => ltt; last by rewrite nth_nseq; case: ifP.
  rewrite (nth_map 0%num) ?size_hashed // nth_take // => -[<-]; split; first exact: leq_trans ltt enough.
  have := allP load t; rewrite mem_iota => /(_ ltt); case Ex: nth => [y|] // /andP[/eqP sy /(same_svalP u) E].
  exists (bytes_of u y); split; [exact: kn1 Ex | by rewrite size_bytes sy |].
  by rewrite bytes_element muln0 drop0 E argument_bytes // (leq_trans ltt).
have [q2 run2 carried2] := @agree_piecesP 1 2 places _ isT isT c None m places_apart _ _ _ _ (fun _ => r3) carried hash
  (fun _ _ => run3).
have [xs [s4 sizes kn2 word_is]] : exists xs, [/\ size xs = 4, all (fun x : value => size x == 8 * 2) xs,
    known (nth x00 (flatten xs)) q2 (digests 2 places) &
    forall j k y, j < 1 -> k < 4 -> nth None r3 (KeccakCode.e0 + k) = Some y ->
      element (nth [::] xs k) j = VectorCode.word y].
  by apply: digest_vectors carried2 _ => // j k _ ltk; exists (nth 0%num [:: l0; l1; r0; r1] k); exact: E3.
pose w := nth x00 (flatten xs).
have word_of k x : k < 4 -> same_sval x (unknowns (8 * 2 * k + 8 * 0) 8) ->
    bytes_of w x = VectorCode.word (nth 0%num [:: l0; l1; r0; r1] k).
  by move=> ltk /(same_svalP w) ->; rewrite word_at ?s4 // (word_is 0 k _ isT ltk (E3 k ltk)).
have [q3 run4 kn3] := @sym_codeP w c None no_names m (@no_namesP w c None m) _ _ _ _ kn2 Eo.
rewrite /run (nilP noloop) (nilP noclosing) -/code -/r.
rewrite -(cat_take_drop loads code) run_code_cat run1 [obind _ _]/=.
rewrite -(cat_take_drop hashes (drop loads code)) run_code_cat run2 [obind _ _]/= run4.
rewrite -[LHS]/(omap (fun xs => (xs, m)) (all_some (map (eval c None q3 m) (returned f)))).
rewrite (AesVectorPair.sym_evalsP _ _ _ kn3 Er).
rewrite -[LHS]/(Some ([:: bytes_of w a0; bytes_of w a1; bytes_of w b0; bytes_of w b1; bytes_of w e], m)).
by rewrite (word_of 0) // (word_of 1) // (word_of 2) // (word_of 3) // (same_svalP w Z) AesVectorPair.bytes_of_zeros.
Qed.

End Single.

(* ---- The functions ------------------------------------------------------------------------------------- *)

(* Where a function keeps the program's variables: the words of a seed and of the salt, and the
   id; and the others, from the first lane of a state on, in the same order. *)
Definition places_from (lo hi : nat) (node : seq nat) (a0 : nat) : seq nat := [:: lo; hi] ++ node ++ iota a0 65.
(* A function without a salt has no place for three of them: they get places beyond its
   variables. *)
Definition no_places (f : function) : seq nat := iota (variables f) 3.
Definition order_4 : seq nat := [:: 0; 2; 1; 3].
Definition order_8 : seq nat := [:: 0; 2; 1; 3; 4; 6; 5; 7].

Definition keccak_avx2_x4_places : seq nat :=
  places_from keccak_avx2_x4_lo keccak_avx2_x4_hi (no_places opt_keccak_avx2_x4) keccak_avx2_x4_a0.
Definition keccak_avx512_x4_places : seq nat :=
  places_from keccak_avx512_x4_lo keccak_avx512_x4_hi (no_places opt_keccak_avx512_x4) keccak_avx512_x4_a0.
Definition keccak_avx512_x8_places : seq nat :=
  places_from keccak_avx512_x8_lo keccak_avx512_x8_hi (no_places opt_keccak_avx512_x8) keccak_avx512_x8_a0.
Definition salted_avx2_x4_places : seq nat := places_from salted_avx2_x4_lo salted_avx2_x4_hi
  [:: salted_avx2_x4_s0; salted_avx2_x4_s1; salted_avx2_x4_id] salted_avx2_x4_a0.
Definition salted_avx512_x4_places : seq nat := places_from salted_avx512_x4_lo salted_avx512_x4_hi
  [:: salted_avx512_x4_s0; salted_avx512_x4_s1; salted_avx512_x4_id] salted_avx512_x4_a0.
Definition salted_avx512_x8_places : seq nat := places_from salted_avx512_x8_lo salted_avx512_x8_hi
  [:: salted_avx512_x8_s0; salted_avx512_x8_s1; salted_avx512_x8_id] salted_avx512_x8_a0.

Lemma keccak_avx2_x4_right :
  words_right false 4 opt_keccak_avx2_x4 KeccakCode.opt_keccak_scalar 10 keccak_avx2_x4_places order_4.
Proof. by vm_compute. Qed.
Lemma keccak_avx512_x4_right :
  words_right false 4 opt_keccak_avx512_x4 KeccakCode.opt_keccak_scalar 10 keccak_avx512_x4_places order_4.
Proof. by vm_compute. Qed.
Lemma keccak_avx512_x8_right :
  words_right false 8 opt_keccak_avx512_x8 KeccakCode.opt_keccak_scalar 18 keccak_avx512_x8_places order_8.
Proof. by vm_compute. Qed.
Lemma salted_avx2_x4_right :
  words_right true 4 opt_salted_avx2_x4 KeccakCode.opt_salted_scalar 17 salted_avx2_x4_places order_4.
Proof. by vm_compute. Qed.
Lemma salted_avx512_x4_right :
  words_right true 4 opt_salted_avx512_x4 KeccakCode.opt_salted_scalar 17 salted_avx512_x4_places order_4.
Proof. by vm_compute. Qed.
Lemma salted_avx512_x8_right :
  words_right true 8 opt_salted_avx512_x8 KeccakCode.opt_salted_scalar 29 salted_avx512_x8_places order_8.
Proof. by vm_compute. Qed.

Definition keccak_avx512_places : seq nat :=
  places_from keccak_avx512_lo keccak_avx512_hi (no_places opt_keccak_avx512) keccak_avx512_a0.
Definition salted_avx512_places : seq nat := places_from salted_avx512_lo salted_avx512_hi
  [:: salted_avx512_s0; salted_avx512_s1; salted_avx512_at] salted_avx512_a0.

Lemma keccak_avx512_right :
  single_right opt_keccak_avx512 KeccakCode.opt_keccak_scalar 3 2 2 keccak_avx512_places.
Proof. by vm_compute. Qed.
Lemma salted_avx512_right :
  single_right opt_salted_avx512 KeccakCode.opt_salted_scalar 5 5 5 salted_avx512_places.
Proof. by vm_compute. Qed.

(* Its children's words are returned, whatever start and height are, and memory does not change. *)
Theorem keccak_avx512_sound lo hi start (m : memory) :
  exists l0 l1 r0 r1,
  run opt_keccak_avx512 (Call [::] None 0) [seq VectorCode.word w | w <- [:: lo; hi; start]] m =
    Some ([seq VectorCode.word w | w <- [:: l0; l1; r0; r1; 0]%num], m) /\
  put_le 8 l0 ++ put_le 8 l1 ++ put_le 8 r0 ++ put_le 8 r1 = Fips202.sha3_256 (put_le 8 lo ++ put_le 8 hi).
Proof.
have [|l0 [l1 [r0 [r1 [R D]]]]] := @KeccakSound.keccak_sound KeccakCode.opt_keccak_scalar lo hi; first by left.
exists l0, l1, r0, r1; split; last exact: D.
exact: (@single_sound m [:: lo; hi; start] KeccakCode.opt_keccak_scalar 2 l0 l1 r0 r1 erefl R _ _ _ keccak_avx512_right).
Qed.

Theorem salted_avx512_sound lo hi salt_lo salt_hi id (m : memory) :
  exists l0 l1 r0 r1,
  run opt_salted_avx512 (Call [::] None 0) [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; id]] m =
    Some ([seq VectorCode.word w | w <- [:: l0; l1; r0; r1; 0]%num], m) /\
  put_le 8 l0 ++ put_le 8 l1 ++ put_le 8 r0 ++ put_le 8 r1 =
  Fips202.sha3_256 ((put_le 8 lo ++ put_le 8 hi) ++ (put_le 8 salt_lo ++ put_le 8 salt_hi) ++ put_le 8 id).
Proof.
have [|l0 [l1 [r0 [r1 [R D]]]]] :=
  @KeccakSound.salted_sound KeccakCode.opt_salted_scalar lo hi salt_lo salt_hi id; first by left.
exists l0, l1, r0, r1; split; last exact: D.
exact: (@single_sound m [:: lo; hi; salt_lo; salt_hi; id] KeccakCode.opt_salted_scalar 5 l0 l1 r0 r1 erefl R _ _ _
  salted_avx512_right).
Qed.

(* For these steps, if their children have separate places (a child may replace a step's seed):
   each step's children are stored, computed from the seed that was there, and nothing else
   changes. *)
Theorem keccak_lanes_sound f n (ss : seq step) (m : memory) :
  List.In (f, n) [:: (opt_keccak_avx2_x4, 4); (opt_keccak_avx512_x4, 4); (opt_keccak_avx512_x8, 8)] ->
  size ss = n ->
  all (fun s => size (m (seed_at s)) == 16) ss ->
  uniq (map left_at ss ++ map right_at ss) ->
  exists m', run f (Call ss None 0) [::] m = Some ([::], m') /\
  (forall l s, l < n -> nth None (map Some ss) l = Some s ->
    let digest := Fips202.sha3_256 (m (seed_at s)) in
    m' (left_at s) = take 16 digest /\ m' (right_at s) = drop 16 digest) /\
  (forall q, q \notin map left_at ss ++ map right_at ss -> m' q = m q).
Proof.
move=> listed ss_n whole apart.
have [n0 [loads [places [order right]]]] : 0 < n /\ exists loads places order,
    words_right false n f KeccakCode.opt_keccak_scalar loads places order.
  case: listed => [[<- <-]|[[<- <-]|[[<- <-]|[]]]]; split=> //.
  - by exists 10, keccak_avx2_x4_places, order_4; exact: keccak_avx2_x4_right.
  - by exists 10, keccak_avx512_x4_places, order_4; exact: keccak_avx512_x4_right.
  by exists 18, keccak_avx512_x8_places, order_8; exact: keccak_avx512_x8_right.
pose nowhere := Step 0%num 0%num 0%num 0%num 0%num.
pose seeds := [seq m (seed_at s) | s <- ss].
have no_ids : false -> all (fun s => AesVectorSound.node_id (start s) (height s) <? 2 ^ 64)%num ss by [].
have hashes l : l < n -> exists l0 l1 r0 r1,
    LaneCode.run KeccakCode.iota_words KeccakCode.opt_keccak_scalar
      (mkseq (fun t => number (argument ss m 0 0 t l)) (arguments false)) = Some [:: l0; l1; r0; r1; 0]%num /\
    VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 =
    Fips202.sha3_256 (nth [::] seeds l).
  move=> lt; have [|l0 [l1 [r0 [r1 [R D]]]]] := @KeccakSound.keccak_sound KeccakCode.opt_keccak_scalar
    (number (argument ss m 0 0 0 l)) (number (argument ss m 0 0 1 l)); first by left.
  exists l0, l1, r0, r1; split; first exact: R.
  have word t : put_le 8 (number (argument ss m 0 0 t l)) = argument ss m 0 0 t l.
    by apply: word_number; apply: (@size_argument n).
  by rewrite [LHS]D !word cat_take_drop.
have [m' [run_f [stored kept]]] :=
  @words_sound false n ss m 0 0 ss_n no_ids whole n0 apart KeccakCode.opt_keccak_scalar
    (fun l => Fips202.sha3_256 (nth [::] seeds l)) erefl hashes _ _ _ _ right.
exists m'; split; [exact: run_f | split; last exact: kept].
move=> l s lt; rewrite (nth_map nowhere) ?ss_n // => -[<-]; have := stored l lt.
by rewrite /seeds (nth_map nowhere) ?ss_n.
Qed.

(* The same with a salt, and ids that fit into 64 bits. *)
Theorem salted_lanes_sound f n (ss : seq step) (m : memory) salt_lo salt_hi :
  List.In (f, n) [:: (opt_salted_avx2_x4, 4); (opt_salted_avx512_x4, 4); (opt_salted_avx512_x8, 8)] ->
  size ss = n ->
  all (fun s => 2 * start s + 2 ^ height s <? 2 ^ 64)%num ss ->
  all (fun s => size (m (seed_at s)) == 16) ss ->
  uniq (map left_at ss ++ map right_at ss) ->
  exists m', run f (Call ss None 0) [:: VectorCode.word salt_lo; VectorCode.word salt_hi] m = Some ([::], m') /\
  (forall l s, l < n -> nth None (map Some ss) l = Some s ->
    let salt := put_le 8 salt_lo ++ put_le 8 salt_hi in
    let id := put_le 8 (2 * start s + 2 ^ height s) in
    let digest := Fips202.sha3_256 (m (seed_at s) ++ salt ++ id) in
    m' (left_at s) = take 16 digest /\ m' (right_at s) = drop 16 digest) /\
  (forall q, q \notin map left_at ss ++ map right_at ss -> m' q = m q).
Proof.
move=> listed ss_n fit whole apart.
have [n0 [loads [places [order right]]]] : 0 < n /\ exists loads places order,
    words_right true n f KeccakCode.opt_salted_scalar loads places order.
  case: listed => [[<- <-]|[[<- <-]|[[<- <-]|[]]]]; split=> //.
  - by exists 17, salted_avx2_x4_places, order_4; exact: salted_avx2_x4_right.
  - by exists 17, salted_avx512_x4_places, order_4; exact: salted_avx512_x4_right.
  by exists 29, salted_avx512_x8_places, order_8; exact: salted_avx512_x8_right.
pose nowhere := Step 0%num 0%num 0%num 0%num 0%num.
pose seeds := [seq m (seed_at s) | s <- ss].
pose ids := [seq VectorCode.word (AesVectorSound.node_id (start s) (height s)) | s <- ss].
pose salt := put_le 8 salt_lo ++ put_le 8 salt_hi.
have hashes l : l < n -> exists l0 l1 r0 r1,
    LaneCode.run KeccakCode.iota_words KeccakCode.opt_salted_scalar
      (mkseq (fun t => number (argument ss m salt_lo salt_hi t l)) (arguments true)) =
      Some [:: l0; l1; r0; r1; 0]%num /\
    VectorCode.word l0 ++ VectorCode.word l1 ++ VectorCode.word r0 ++ VectorCode.word r1 =
    Fips202.sha3_256 (nth [::] seeds l ++ salt ++ nth [::] ids l).
  move=> lt; pose a t := argument ss m salt_lo salt_hi t l.
  have [|l0 [l1 [r0 [r1 [R D]]]]] := @KeccakSound.salted_sound KeccakCode.opt_salted_scalar
    (number (a 0)) (number (a 1)) (number (a 2)) (number (a 3)) (number (a 4)); first by left.
  exists l0, l1, r0, r1; split; first exact: R.
  have word t : put_le 8 (number (a t)) = a t.
    by apply: word_number; apply: (@size_argument n).
  by rewrite [LHS]D !word cat_take_drop.
have [m' [run_f [stored kept]]] :=
  @words_sound true n ss m salt_lo salt_hi ss_n (fun _ => fit) whole n0 apart KeccakCode.opt_salted_scalar
    (fun l => Fips202.sha3_256 (nth [::] seeds l ++ salt ++ nth [::] ids l)) erefl hashes _ _ _ _ right.
exists m'; split; [exact: run_f | split; last exact: kept].
move=> l s lt; rewrite (nth_map nowhere) ?ss_n // => -[<-]; have := stored l lt.
by rewrite /seeds /ids !(nth_map nowhere) ?ss_n.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* Code of VectorCode.v that does the same to each 64-bit word of its vectors, namely what a
   program of LaneCode.v does to a word. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require LaneCode.
From Pprf.spec Require Import Codec Fips197 VectorCode.
From Pprf.proofs Require CodecProofs KeccakSym AesSound.
From Pprf.proofs Require Import AesRounds VectorSym AesVectorSound.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Notation tb := KeccakSym.tb.

(* ---- Words ---------------------------------------------------------------------------------------- *)

Lemma bit_lt i z : i < 8 -> z < 8 -> 8 * i + z < 64.
Proof. by move=> lt ltz; rewrite (@leq_trans (8 * i + 8)) ?ltn_add2l // -mulnSr (leq_mul2l 8 i.+1 8). Qed.

Lemma word_ext x y : (forall z, z < 64 -> tb x z = tb y z) -> VectorCode.word x = VectorCode.word y.
Proof.
move=> same; apply: (@eq_from_nth _ x00); first by rewrite !size_word.
move=> i; rewrite size_word => lt; apply: byte_ext => z ltz.
by rewrite !AesSound.bit_put_le // same // bit_lt.
Qed.

Lemma word_u64 x : VectorCode.word (LaneCode.u64 x) = VectorCode.word x.
Proof. by apply: word_ext => z lt; apply: KeccakSym.tb_u64. Qed.

Lemma number_u64 x : number (VectorCode.word x) = LaneCode.u64 x.
Proof. by rewrite -word_u64 number_word //; apply: N.mod_lt. Qed.

Lemma word_number v : size v = 8 -> VectorCode.word (number v) = v.
Proof. by move=> sz; rewrite /VectorCode.word -{1}sz CodecProofs.put_get_le. Qed.

Lemma size_element v k : 8 * k + 8 <= size v -> size (element v k) = 8.
Proof. by move=> le; rewrite /element size_takel // size_drop leq_subRL // (leq_trans (leq_addr _ _) le). Qed.

Lemma nth_element v k i : i < 8 -> nth x00 (element v k) i = nth x00 v (8 * k + i).
Proof. by move=> lt; rewrite /element nth_take // nth_drop. Qed.

Lemma in_size n k i : k < n -> i < 8 -> 8 * k + i < 8 * n.
Proof. by move=> lt lti; rewrite (@leq_trans (8 * k + 8)) ?ltn_add2l // -mulnSr leq_mul2l. Qed.

Lemma element_fits n k : k < n -> 8 * k + 8 <= 8 * n.
Proof. by move=> lt; rewrite -mulnSr leq_mul2l. Qed.

(* Word k of a vector of n words is this one. *)
Lemma element_is n v k x : size v = 8 * n -> k < n ->
  (forall i z, i < 8 -> z < 8 -> bit (nth x00 v (8 * k + i)) z = tb x (8 * i + z)) -> element v k = VectorCode.word x.
Proof.
move=> sz ltk same; have le : 8 * k + 8 <= size v by rewrite sz element_fits.
apply: (@eq_from_nth _ x00); first by rewrite size_element // size_word.
move=> i; rewrite size_element // => lt; apply: byte_ext => z ltz.
by rewrite nth_element // same // AesSound.bit_put_le.
Qed.

Lemma bit_element v k x i z : element v k = VectorCode.word x -> i < 8 -> z < 8 ->
  bit (nth x00 v (8 * k + i)) z = tb x (8 * i + z).
Proof. by move=> E lt ltz; rewrite -nth_element // E AesSound.bit_put_le. Qed.

(* ---- Operators on each word ------------------------------------------------------------------------- *)

Inductive lane_op : Type := LXor | LOr | LAndnot | LShl (s : N) | LShr (s : N) | LRol (s : N) | LXor3 | LChi
| LAll | LFirst.  (* a word in all places; in the first one, behind it zeros *)

(* Its number of words, and the operator. *)
Definition lane_op_of (o : op) : option (nat * lane_op) :=
  match o with
  | mm_xor_si128 => Some (2, LXor)
  | mm_cvtsi64_si128 => Some (2, LFirst)
  | mm_rol_epi64 s => if (s <? 64)%num then Some (2, LRol s) else None
  | mm_ternarylogic_epi64 imm =>
    if (imm =? 0x96)%num then Some (2, LXor3) else if (imm =? 0xd2)%num then Some (2, LChi) else None
  | mm256_set1_epi64x => Some (4, LAll)
  | mm256_xor_si256 => Some (4, LXor)
  | mm256_or_si256 => Some (4, LOr)
  | mm256_andnot_si256 => Some (4, LAndnot)
  | mm256_slli_epi64 s => if (s <? 64)%num then Some (4, LShl s) else None
  | mm256_srli_epi64 s => if (s <? 64)%num then Some (4, LShr s) else None
  | mm256_rol_epi64 s => if (s <? 64)%num then Some (4, LRol s) else None
  | mm256_ternarylogic_epi64 imm =>
    if (imm =? 0x96)%num then Some (4, LXor3) else if (imm =? 0xd2)%num then Some (4, LChi) else None
  | mm512_set1_epi64 => Some (8, LAll)
  | mm512_rol_epi64 s => if (s <? 64)%num then Some (8, LRol s) else None
  | mm512_xor_si512 => Some (8, LXor)
  | mm512_ternarylogic_epi64 imm =>
    if (imm =? 0x96)%num then Some (8, LXor3) else if (imm =? 0xd2)%num then Some (8, LChi) else None
  | _ => None
  end.

Definition arity (o : lane_op) : nat :=
  match o with
  | LShl _ | LShr _ | LRol _ | LAll | LFirst => 1
  | LXor | LOr | LAndnot => 2
  | LXor3 | LChi => 3
  end.

(* On vectors of n words; LAll and LFirst take one word. *)
Definition on_vectors (n : nat) (o : lane_op) (vs : seq value) : value :=
  let a := nth [::] vs 0 in
  let b := nth [::] vs 1 in
  let c := nth [::] vs 2 in
  let logic imm := mkseq (fun i => ternary imm (nth x00 a i) (nth x00 b i) (nth x00 c i)) (8 * n) in
  match o with
  | LXor => xor_bytes a b
  | LOr => bytewise orb a b
  | LAndnot => bytewise (fun x y => ~~ x && y) a b
  | LShl s => by_words n (fun x => N.shiftl x s) a
  | LShr s => by_words n (fun x => N.shiftr x s) a
  | LRol s => by_words n (rotate_left s) a
  | LXor3 => logic 0x96%num
  | LChi => logic 0xd2%num
  | LAll => flatten (nseq n a)
  | LFirst => a ++ nseq (8 * n.-1) x00
  end.

Definition on_words (o : lane_op) (xs : seq N) : N :=
  let a := nth 0%num xs 0 in
  let b := nth 0%num xs 1 in
  let c := nth 0%num xs 2 in
  match o with
  | LXor => LaneCode.w_xor a b
  | LOr => LaneCode.w_or a b
  | LAndnot => LaneCode.w_and (LaneCode.w_not a) b
  | LShl s => LaneCode.w_shl a s
  | LShr s => LaneCode.w_shr a s
  | LRol s => LaneCode.w_or (LaneCode.w_shl a s) (LaneCode.w_shr a (64 - s))
  | LXor3 => LaneCode.w_xor (LaneCode.w_xor a b) c
  | LChi => LaneCode.w_xor a (LaneCode.w_and (LaneCode.w_not b) c)
  | LAll | LFirst => a
  end.

Definition of_a_word (o : lane_op) : bool := match o with LAll | LFirst => true | _ => false end.
Definition width (n : nat) (o : lane_op) : nat := if of_a_word o then 8 else 8 * n.

Lemma apply_lane o n l vs : lane_op_of o = Some (n, l) -> map size vs = nseq (arity l) (width n l) ->
  apply o vs = Some (on_vectors n l vs).
Proof.
have all k a : size a = 8 -> [seq nth x00 (flatten [:: a]) i | i <- flatten (nseq k (iota 0 8))] = flatten (nseq k a).
  move=> sz; rewrite map_flatten map_nseq; congr (flatten (nseq _ _)).
  rewrite -[flatten _]/(a ++ [::]) cats0; apply: (@eq_from_nth _ x00); first by rewrite size_map size_iota sz.
  by move=> i; rewrite size_map size_iota => lt; rewrite (nth_map 0) ?size_iota // nth_iota.
have one : forall (w : nat), map size vs = nseq 1 w -> exists2 a, vs = [:: a] & size a = w.
  by move=> w; case: (vs) => [|a []] // -[sa]; exists a.
case: o => // [||s|imm|||||s|s|s|imm||s||imm].
- by move=> -[<- <-] sz; rewrite /apply sz.
- move=> -[<- <-] /one[a -> sz]; rewrite /apply /= sz; congr Some.
  by move: sz; do 8 (case: a => [|? a] //); case: a.
- by rewrite /=; case: ifP => // lt -[<- <-] sz; rewrite /apply sz /= lt.
- rewrite /=; case: N.eqb_spec => [-> | _]; last case: N.eqb_spec => // [->].
    by move=> -[<- <-] sz; rewrite /apply sz.
  by move=> -[<- <-] sz; rewrite /apply sz.
- by move=> -[<- <-] /one[a -> sz]; rewrite /apply /= sz; congr Some; exact: (all 4 a sz).
- by move=> -[<- <-] sz; rewrite /apply sz.
- by move=> -[<- <-] sz; rewrite /apply sz.
- by move=> -[<- <-] sz; rewrite /apply sz.
- by rewrite /=; case: ifP => // lt -[<- <-] sz; rewrite /apply sz /= lt.
- by rewrite /=; case: ifP => // lt -[<- <-] sz; rewrite /apply sz /= lt.
- by rewrite /=; case: ifP => // lt -[<- <-] sz; rewrite /apply sz /= lt.
- rewrite /=; case: N.eqb_spec => [-> | _]; last case: N.eqb_spec => // [->].
    by move=> -[<- <-] sz; rewrite /apply sz.
  by move=> -[<- <-] sz; rewrite /apply sz.
- by move=> -[<- <-] /one[a -> sz]; rewrite /apply /= sz; congr Some; exact: (all 8 a sz).
- by rewrite /=; case: ifP => // lt -[<- <-] sz; rewrite /apply sz /= lt.
- by move=> -[<- <-] sz; rewrite /apply sz.
rewrite /=; case: N.eqb_spec => [-> | _]; last case: N.eqb_spec => // [->].
  by move=> -[<- <-] sz; rewrite /apply sz.
by move=> -[<- <-] sz; rewrite /apply sz.
Qed.

Lemma bytewise_word n f a b k x y t : size a = 8 * n -> size b = 8 * n -> k < n ->
  element a k = VectorCode.word x -> element b k = VectorCode.word y ->
  (forall z, z < 64 -> tb t z = f (tb x z) (tb y z)) -> element (bytewise f a b) k = VectorCode.word t.
Proof.
move=> sa sb ltk Ea Eb same; have sz : size (zip a b) = 8 * n by rewrite size_zip sa sb minnn.
apply: (@element_is n) => //; first by rewrite size_map.
move=> i z lt ltz; rewrite (nth_map (x00, x00)) ?sz ?in_size // nth_zip ?sa ?sb // bit_of_bits //.
by rewrite (bit_element Ea) // (bit_element Eb) // same // bit_lt.
Qed.

Lemma ternary_word n imm a b c k x y w t : k < n ->
  element a k = VectorCode.word x -> element b k = VectorCode.word y -> element c k = VectorCode.word w ->
  (forall z, z < 64 -> tb t z = N.testbit imm (4 * N.b2n (tb x z) + 2 * N.b2n (tb y z) + N.b2n (tb w z))) ->
  element (mkseq (fun i => ternary imm (nth x00 a i) (nth x00 b i) (nth x00 c i)) (8 * n)) k = VectorCode.word t.
Proof.
move=> ltk Ea Eb Ec same; apply: (@element_is n) => //; first by rewrite size_mkseq.
move=> i z lt ltz; rewrite nth_mkseq ?in_size // bit_of_bits //.
by rewrite (bit_element Ea) // (bit_element Eb) // (bit_element Ec) // same // bit_lt.
Qed.

Lemma element_flatten vs k : all (fun v : value => size v == 8) vs -> k < size vs -> element (flatten vs) k = nth [::] vs k.
Proof.
move=> sizes lt; have sz : size (nth [::] vs k) = 8 by apply/eqP; apply: (all_nthP [::] sizes).
have le : 8 * k + 8 <= size (flatten vs) by rewrite (size_flatten_all sizes) element_fits.
apply: (@eq_from_nth _ x00); first by rewrite size_element.
by move=> i; rewrite size_element // => lti; rewrite nth_element // nth_flatten.
Qed.

Lemma by_words_word n f a k x : k < n -> element a k = VectorCode.word x ->
  element (by_words n f a) k = VectorCode.word (f (LaneCode.u64 x)).
Proof.
move=> ltk E; rewrite /by_words element_flatten ?size_mkseq // ?nth_mkseq // ?E ?number_u64 //.
by rewrite all_map; apply/allP => i _; exact/eqP/size_word.
Qed.

Lemma on_vectors_size n o vs : 0 < n -> map size vs = nseq (arity o) (width n o) -> size (on_vectors n o vs) = 8 * n.
Proof.
move=> n0; have two (w : nat) : map size vs = nseq 2 w -> size (nth [::] vs 0) = w /\ size (nth [::] vs 1) = w.
  by case: (vs) => [|a [|b []]] // -[-> ->].
have words f : size (by_words n f (nth [::] vs 0)) = 8 * n.
  rewrite /by_words (size_flatten_all (k := 8)) ?size_mkseq //.
  by rewrite all_map; apply/allP => i _; exact/eqP/size_word.
case: o => [|||s|s|s||||] E; rewrite /on_vectors; cbv zeta; rewrite ?words ?size_mkseq //.
1-3: by have [s0 s1] := two _ E; rewrite size_map size_zip s0 s1 minnn.
  have [a -> sa] : exists2 a, vs = [:: a] & size a = 8 by move: E; case: (vs) => [|a []] // -[sa]; exists a.
  by rewrite (size_flatten_all (k := 8)) ?size_nseq // all_nseq /= sa orbT.
have [a -> sa] : exists2 a, vs = [:: a] & size a = 8 by move: E; case: (vs) => [|a []] // -[sa]; exists a.
by rewrite size_cat size_nseq /= sa -mulnS prednK.
Qed.

Lemma on_vectors_word n o vs xs k : map size vs = nseq (arity o) (width n o) -> k < n ->
  (if of_a_word o then nth [::] vs 0 = VectorCode.word (nth 0%num xs 0) /\ (o = LFirst -> k = 0)
   else forall t, t < arity o -> element (nth [::] vs t) k = VectorCode.word (nth 0%num xs t)) ->
  element (on_vectors n o vs) k = VectorCode.word (on_words o xs).
Proof.
have two (w : nat) : map size vs = nseq 2 w -> size (nth [::] vs 0) = w /\ size (nth [::] vs 1) = w.
  by case: (vs) => [|a [|b []]] // -[-> ->].
case: o => [|||s|s|s||||] E ltk args.
- have [s0 s1] := two _ E; apply: (bytewise_word (f := xorb) s0 s1 ltk (args 0 isT) (args 1 isT)) => z lt.
  exact: KeccakSym.tb_xor.
- have [s0 s1] := two _ E; apply: (bytewise_word s0 s1 ltk (args 0 isT) (args 1 isT)) => z lt.
  by rewrite /on_words KeccakSym.tb_u64 // /tb N.lor_spec.
- have [s0 s1] := two _ E; apply: (bytewise_word s0 s1 ltk (args 0 isT) (args 1 isT)) => z lt.
  by rewrite /on_words KeccakSym.tb_and // KeccakSym.tb_not.
- rewrite /on_vectors (by_words_word _ ltk (args 0 isT)); apply: word_ext => z lt; rewrite /on_words.
  rewrite KeccakSym.tb_u64 // /tb; case: (N.ltb_spec (N.of_nat z) s) => lts.
    by rewrite !N.shiftl_spec_low.
  rewrite !N.shiftl_spec_high' // /LaneCode.u64 N.mod_pow2_bits_low //.
  by move/ltP: lt; lia.
- by rewrite /on_vectors (by_words_word _ ltk (args 0 isT)).
- rewrite /on_vectors (by_words_word _ ltk (args 0 isT)); apply: word_ext => z lt; rewrite /on_words.
  rewrite KeccakSym.tb_u64 // /rotate_left /tb !N.lor_spec; congr orb.
  rewrite -/(tb (LaneCode.w_shl _ _) z) KeccakSym.tb_u64 // /tb; case: (N.ltb_spec (N.of_nat z) s) => lts.
    by rewrite !N.shiftl_spec_low.
  rewrite !N.shiftl_spec_high' // /LaneCode.u64 N.mod_pow2_bits_low //.
  by move/ltP: lt; lia.
- apply: (ternary_word ltk (args 0 isT) (args 1 isT) (args 2 isT)) => z lt; rewrite /on_words !KeccakSym.tb_xor //.
  by case: (tb _ z); case: (tb _ z); case: (tb _ z).
- apply: (ternary_word ltk (args 0 isT) (args 1 isT) (args 2 isT)) => z lt.
  rewrite /on_words KeccakSym.tb_xor // KeccakSym.tb_and // KeccakSym.tb_not //.
  by case: (tb _ z); case: (tb _ z); case: (tb _ z).
- rewrite /on_vectors /on_words (proj1 args) element_flatten ?size_nseq ?nth_nseq ?ltk //.
  by rewrite all_nseq size_word eqxx orbT.
by rewrite /on_vectors /on_words (proj1 args) (proj2 args erefl) /element muln0 drop0 take_size_cat ?size_word.
Qed.

(* ---- Expressions ------------------------------------------------------------------------------------- *)

(* Without variables and memory. *)
Fixpoint closed (e : expr) : option value :=
  match e with
  | Word c => Some (VectorCode.word c)
  | Op o args => obind (apply o) (all_some (map closed args))
  | _ => None
  end.

Lemma lane_closed table i r l x : LaneCode.eval table i [::] l = Some x -> LaneCode.eval table i r l = Some x.
Proof.
elim: l x => //= [v|a IHa b IHb|a IHa b IHb|a IHa b IHb|a IHa|a IHa s|a IHa s] x.
- by rewrite nth_nil.
- by case Ea: LaneCode.eval => [xa|] //=; case Eb: LaneCode.eval => [xb|] //= E; rewrite (IHa _ Ea) (IHb _ Eb).
- by case Ea: LaneCode.eval => [xa|] //=; case Eb: LaneCode.eval => [xb|] //= E; rewrite (IHa _ Ea) (IHb _ Eb).
- by case Ea: LaneCode.eval => [xa|] //=; case Eb: LaneCode.eval => [xb|] //= E; rewrite (IHa _ Ea) (IHb _ Eb).
- by case Ea: LaneCode.eval => [xa|] //= E; rewrite (IHa _ Ea).
- by case: ifP => // _; case Ea: LaneCode.eval => [xa|] //= E; rewrite (IHa _ Ea).
by case: ifP => // _; case Ea: LaneCode.eval => [xa|] //= E; rewrite (IHa _ Ea).
Qed.

Section Agreement.

(* Of vectors of w words only the first n count. Variable k of the program is the vectors'
   variable nth 0 places k. *)
Variables (n w : nat) (places : seq nat) (table : seq N).
Hypothesis some_words : 0 < n.
Hypothesis enough_words : n <= w.

(* For the loop's counter i. *)
Fixpoint agrees (i : option nat) (e : expr) (l : LaneCode.expr) : bool :=
  match e with
  | Var v => if l is LaneCode.Var k then (k < size places) && (nth 0 places k == v) else false
  | Op o args =>
    if lane_op_of o is Some (n', lo) then
      (n' == w) &&
      match lo, args, l with
      | LXor, [:: a; b], LaneCode.Xor p q => agrees i a p && agrees i b q
      | LOr, [:: a; b], LaneCode.Or p q => agrees i a p && agrees i b q
      | LAndnot, [:: a; b], LaneCode.And (LaneCode.Not p) q => agrees i a p && agrees i b q
      | LShl s, [:: a], LaneCode.Shl p s' => agrees i a p && (s =? s')%num
      | LShr s, [:: a], LaneCode.Shr p s' => agrees i a p && (s =? s')%num
      | LRol s, [:: a], LaneCode.Or (LaneCode.Shl p s') (LaneCode.Shr p' s'') =>
        [&& agrees i a p, agrees i a p', (s =? s')%num & (64 - s =? s'')%num]
      | LXor3, [:: a; b; c], LaneCode.Xor (LaneCode.Xor p q) r => [&& agrees i a p, agrees i b q & agrees i c r]
      | LChi, [:: a; b; c], LaneCode.Xor p (LaneCode.And (LaneCode.Not q) r) =>
        [&& agrees i a p, agrees i b q & agrees i c r]
      | LAll, [:: a], l =>
        if (closed a, LaneCode.eval table i [::] l) is (Some x, Some y) then
          (size x == 8) && (number x =? LaneCode.u64 y)%num else false
      | LFirst, [:: a], l =>
        if (closed a, LaneCode.eval table i [::] l) is (Some x, Some y) then
          [&& n == 1, size x == 8 & (number x =? LaneCode.u64 y)%num] else false
      | _, _, _ => false
      end
    else false
  | _ => false
  end.

(* Word j of the vectors is in the program's environment rls j. *)
Definition carries (r : env) (rls : nat -> LaneCode.env) : Prop :=
  forall j k x, j < n -> nth None (rls j) k = Some x ->
  k < size places /\ exists v, [/\ nth None r (nth 0 places k) = Some v, size v = 8 * w & element v j = VectorCode.word x].

Variables (c : call) (h : option nat) (m : memory).

Lemma closedP r e x : closed e = Some x -> eval c h r m e = Some x.
Proof.
apply: (@expr_args (fun e => forall x, closed e = Some x -> eval c h r m e = Some x)
  (fun args => forall xs, all_some (map closed args) = Some xs -> all_some (map (eval c h r m) args) = Some xs)) e x => //.
  move=> o args IH x; rewrite [closed _]/=; case E: all_some => [xs|] // A.
  by rewrite [eval _ _ _ _ _]/(obind (apply o) (all_some (map (eval c h r m) args))) (IH _ E).
move=> e args IHe IHargs xs E; have [x [xs' [Ex Exs ->]]] := all_some_cons E.
by rewrite /= (IHe _ Ex) (IHargs _ Exs).
Qed.

Section Expressions.

Variables (i : option nat) (r : env) (rls : nat -> LaneCode.env).
Hypothesis carried : carries r rls.

(* The words of e's value are the values of l in each environment. *)
Definition holds_words (e : expr) (l : LaneCode.expr) : Prop :=
  exists v, [/\ eval c h r m e = Some v, size v = 8 * w &
    forall j x, j < n -> LaneCode.eval table i (rls j) l = Some x -> element v j = VectorCode.word x].
Definition defined (l : LaneCode.expr) : Prop := forall j, j < n -> isSome (LaneCode.eval table i (rls j) l).

Lemma op_words o lo args ls l : lane_op_of o = Some (w, lo) -> ~~ of_a_word lo ->
  size args = arity lo -> size ls = arity lo -> defined l ->
  (forall t, t < arity lo -> defined (nth (LaneCode.Const 0) ls t) ->
    holds_words (nth (Word 0) args t) (nth (LaneCode.Const 0) ls t)) ->
  (forall j x, j < n -> LaneCode.eval table i (rls j) l = Some x ->
    exists xs, [/\ x = on_words lo xs & forall t, t < arity lo ->
      LaneCode.eval table i (rls j) (nth (LaneCode.Const 0) ls t) = Some (nth 0%num xs t)]) ->
  holds_words (Op o args) l.
Proof.
move=> Eo not_all s_args s_ls def holds_args evals.
have {}holds_args t : t < arity lo -> holds_words (nth (Word 0) args t) (nth (LaneCode.Const 0) ls t).
  move=> lt; apply: (holds_args t lt) => j ltj; have := def j ltj; case E: LaneCode.eval => [x|] // _.
  by have [xs [_ H]] := evals j x ltj E; rewrite (H t lt).
have [vs [Evs [svs Hvs]]] : exists vs, all_some (map (eval c h r m) args) = Some vs /\
    size vs = arity lo /\ forall t, t < arity lo -> size (nth [::] vs t) = 8 * w /\
    forall j x, j < n -> LaneCode.eval table i (rls j) (nth (LaneCode.Const 0) ls t) = Some x ->
      element (nth [::] vs t) j = VectorCode.word x.
  move: s_ls holds_args; rewrite -s_args; elim: args ls {Eo evals s_args} => [|e args IH] [|l' ls] //.
    by exists [::].
  move=> -[sz] H; have [v [Ev sv word_v]] := H 0 isT.
  have [vs [Evs [svs Hvs]]] := IH ls sz (fun t lt => H t.+1 lt).
  exists (v :: vs); rewrite /= Ev Evs svs; split=> //; split=> //.
  by case=> [|t] lt; [split | exact: (Hvs t lt)].
have Esz : map size vs = nseq (arity lo) (width w lo).
  have -> : width w lo = 8 * w by rewrite /width (negbTE not_all).
  apply: (@eq_from_nth _ 0); first by rewrite size_map size_nseq.
  by move=> t; rewrite size_map svs => lt; rewrite (nth_map [::]) ?svs // nth_nseq lt; case: (Hvs t lt).
exists (on_vectors w lo vs); split.
- by rewrite [eval _ _ _ _ _]/(obind (apply o) (all_some (map (eval c h r m) args))) Evs /= (apply_lane Eo Esz).
- by apply: on_vectors_size => //; exact: leq_trans enough_words.
move=> j x ltj /(evals j x ltj)[xs [-> Exs]]; apply: on_vectors_word => //; first exact: leq_trans enough_words.
have H t : t < arity lo -> element (nth [::] vs t) j = VectorCode.word (nth 0%num xs t).
  by move=> lt; apply: (proj2 (Hvs t lt)) => //; exact: Exs.
by rewrite (negbTE not_all).
Qed.

Lemma eq_word_u64 x y : VectorCode.word x = VectorCode.word y -> LaneCode.u64 x = LaneCode.u64 y.
Proof. by move=> E; rewrite -!number_u64 E. Qed.

Lemma word_everywhere o lo a l x y : lane_op_of o = Some (w, lo) -> of_a_word lo -> (lo = LFirst -> n = 1) ->
  closed a = Some x -> LaneCode.eval table i [::] l = Some y -> size x = 8 -> number x = LaneCode.u64 y ->
  holds_words (Op o [:: a]) l.
Proof.
move=> Eo one first Ea El sx Exy; have Ex : x = VectorCode.word y by rewrite -(word_number sx) Exy word_u64.
have sizes : map size [:: x] = nseq (arity lo) (width w lo).
  by have -> : arity lo = 1 by [case: (lo) one]; rewrite /width one /= sx.
have w0 : 0 < w by exact: leq_trans enough_words.
exists (on_vectors w lo [:: x]); split; [by rewrite /= (closedP r Ea) /= (apply_lane Eo sizes) | exact: on_vectors_size |].
move=> j y' ltj; rewrite (lane_closed (rls j) El) => -[<-].
have -> : VectorCode.word y = VectorCode.word (on_words lo [:: y]) by case: (lo) one.
apply: on_vectors_word => //; first exact: leq_trans enough_words.
by rewrite one; split=> // is_first; move: ltj; rewrite (first is_first); case: (j).
Qed.

Lemma agreesP e : forall l, agrees i e l -> defined l -> holds_words e l.
Proof.
apply: (@expr_args (fun e => forall l, agrees i e l -> defined l -> holds_words e l)
  (fun args => forall t l, t < size args -> agrees i (nth (Word 0) args t) l -> defined l ->
    holds_words (nth (Word 0) args t) l)) e => //; last first.
- by move=> e args IHe IHargs [|t] l // lt; [exact: IHe | exact: IHargs].
- move=> o args IH l; rewrite [agrees _ _ _]/=; case Eo: lane_op_of => [[n' lo]|] // /andP[/eqP En].
  rewrite En in Eo; case: lo Eo => [|||s|s|s||||] Eo.
  + case: args IH => [|a [|b []]] // IH; case: l => // p q /andP[ga gb] def.
    apply: (@op_words _ _ _ [:: p; q] _ Eo) => //; first by case=> [|[|t]] // _; [exact: IH 0 p isT ga | exact: IH 1 q isT gb].
    move=> j x ltj /=; case Ep: LaneCode.eval => [y|] //=; case Eq: LaneCode.eval => [z|] //= -[<-].
    by exists [:: y; z]; split=> //; case=> [|[|t]].
  + case: args IH => [|a [|b []]] // IH; case: l => // p q /andP[ga gb] def.
    apply: (@op_words _ _ _ [:: p; q] _ Eo) => //; first by case=> [|[|t]] // _; [exact: IH 0 p isT ga | exact: IH 1 q isT gb].
    move=> j x ltj /=; case Ep: LaneCode.eval => [y|] //=; case Eq: LaneCode.eval => [z|] //= -[<-].
    by exists [:: y; z]; split=> //; case=> [|[|t]].
  + case: args IH => [|a [|b []]] // IH; case: l => // -[] // p q /andP[ga gb] def.
    apply: (@op_words _ _ _ [:: p; q] _ Eo) => //; first by case=> [|[|t]] // _; [exact: IH 0 p isT ga | exact: IH 1 q isT gb].
    move=> j x ltj /=; case Ep: LaneCode.eval => [y|] //=; case Eq: LaneCode.eval => [z|] //= -[<-].
    by exists [:: y; z]; split=> //; case=> [|[|t]].
  + case: args IH => [|a []] // IH; case: l => // p s' /andP[ga /N.eqb_spec Es] def.
    apply: (@op_words _ _ _ [:: p] _ Eo) => //; first by case=> [|t] // _; exact: IH 0 p isT ga.
    move=> j x ltj /=; case: ifP => // _; case Ep: LaneCode.eval => [y|] //= -[<-].
    by exists [:: y]; split; [rewrite /= Es | case].
  + case: args IH => [|a []] // IH; case: l => // p s' /andP[ga /N.eqb_spec Es] def.
    apply: (@op_words _ _ _ [:: p] _ Eo) => //; first by case=> [|t] // _; exact: IH 0 p isT ga.
    move=> j x ltj /=; case: ifP => // _; case Ep: LaneCode.eval => [y|] //= -[<-].
    by exists [:: y]; split; [rewrite /= Es | case].
  + case: args IH => [|a []] // IH; case: l => // -[] // p s' [] // p' s''.
    case/and4P=> ga ga' /N.eqb_spec Es /N.eqb_spec Es' def.
    have both j : j < n -> isSome (LaneCode.eval table i (rls j) p) /\ isSome (LaneCode.eval table i (rls j) p').
      move=> ltj; have := def j ltj; rewrite /=; case: ifP => // _; case: LaneCode.eval => //= y; case: ifP => // _.
      by case: LaneCode.eval.
    have [v [Ev _ word_v]] := IH 0 p isT ga (fun j lt => (both j lt).1).
    have [v' [Ev' _ word_v']] := IH 0 p' isT ga' (fun j lt => (both j lt).2).
    have Evv : v = v' by move: Ev; rewrite Ev' => -[].
    apply: (@op_words _ _ _ [:: p] _ Eo) => //; first by case=> [|t] // _; exact: IH 0 p isT ga.
    move=> j x ltj /=; case: ifP => // _; case Ep: LaneCode.eval => [y|] //=; case: ifP => // _.
    case Ep': LaneCode.eval => [y'|] //= -[<-]; exists [:: y]; split; last by case.
    have same : LaneCode.u64 y = LaneCode.u64 y'.
      by apply: eq_word_u64; rewrite -(word_v j y ltj Ep) Evv (word_v' j y' ltj Ep').
    by rewrite /= Es -Es' Es /LaneCode.w_shr same.
  + case: args IH => [|a [|b [|d []]]] // IH; case: l => // -[] // p q t' /and3P[ga gb gd] def.
    apply: (@op_words _ _ _ [:: p; q; t'] _ Eo) => //.
      by case=> [|[|[|t]]] // _; [exact: IH 0 p isT ga | exact: IH 1 q isT gb | exact: IH 2 t' isT gd].
    move=> j x ltj /=; case Ep: LaneCode.eval => [y|] //=; case Eq: LaneCode.eval => [z|] //=.
    case Et: LaneCode.eval => [y3|] //= -[<-].
    by exists [:: y; z; y3]; split=> //; case=> [|[|[|t]]].
  + case: args IH => [|a [|b [|d []]]] // IH; case: l => // p [] // [] // q t' /and3P[ga gb gd] def.
    apply: (@op_words _ _ _ [:: p; q; t'] _ Eo) => //.
      by case=> [|[|[|t]]] // _; [exact: IH 0 p isT ga | exact: IH 1 q isT gb | exact: IH 2 t' isT gd].
    move=> j x ltj /=; case Ep: LaneCode.eval => [y|] //=; case Eq: LaneCode.eval => [z|] //=.
    case Et: LaneCode.eval => [y3|] //= -[<-].
    by exists [:: y; z; y3]; split=> //; case=> [|[|[|t]]].
  + case: args IH => [|a []] // _; case Ea: closed => [x|] //; case El: LaneCode.eval => [y|] //.
    case/andP=> /eqP sx /N.eqb_spec Exy _; by apply: (word_everywhere Eo _ _ Ea El sx Exy).
  case: args IH => [|a []] // _; case Ea: closed => [x|] //; case El: LaneCode.eval => [y|] //.
  case/and3P=> /eqP n1 /eqP sx /N.eqb_spec Exy _; by apply: (word_everywhere Eo _ _ Ea El sx Exy).
move=> v [] // k /andP[lt /eqP E] def.
have := def 0 some_words; case E0: LaneCode.eval => [x0|] // _.
have [_ [v0 [Ev sv _]]] := carried some_words E0.
exists v0; split=> //; first by rewrite /= -E.
move=> j x ltj Ex; have [_ [v1 [Ev1 _ word_v1]]] := carried ltj Ex.
by move: Ev; rewrite Ev1 => -[<-].
Qed.

End Expressions.

(* ---- Code --------------------------------------------------------------------------------------------- *)

Fixpoint agree_code (i : option nat) (code : seq statement) (b : LaneCode.block) : bool :=
  match code, b with
  | [::], [::] => true
  | Assign v e :: code', (k, l) :: b' =>
    [&& k < size places, nth 0 places k == v, agrees i e l & agree_code i code' b']
  | _, _ => false
  end.

Hypothesis places_apart : uniq places.

Lemma agree_codeP i code b r rls rls' : carries r rls -> agree_code i code b ->
  (forall j, j < n -> LaneCode.run_block table i b (rls j) = Some (rls' j)) ->
  exists2 r', run_code c h code (r, m) = Some (r', m) & carries r' rls'.
Proof.
elim: code b r rls => [|[v e|p e|p e] code IH] [|[k l] b] r rls carried //.
  by move=> _ same; exists r => // j k x ltj; have [<-] := same j ltj; exact: carried.
case/and4P=> ltk /eqP Ek agr agr' runs.
have def : defined i rls l by move=> j ltj; have := runs j ltj; rewrite /=; case: LaneCode.eval.
have [x [Ex sx word_x]] := agreesP carried agr def.
pose xs j := odflt 0%num (LaneCode.eval table i (rls j) l).
have Exs j : j < n -> LaneCode.eval table i (rls j) l = Some (xs j).
  by move=> ltj; have := def j ltj; rewrite /xs; case: LaneCode.eval.
have carried' : carries (set_nth None r v (Some x)) (fun j => set_nth None (rls j) k (Some (xs j))).
  move=> j k' y ltj; rewrite nth_set_nth /=; case: eqP => [-> -[<-] | ne Ey].
    split=> //; exists x; rewrite nth_set_nth /= Ek eqxx; split=> //; exact: word_x (Exs j ltj).
  have [ltk' [v' [Ev sv word_v]]] := carried j k' y ltj Ey; split=> //; exists v'; split=> //.
  by rewrite nth_set_nth /= -Ek nth_uniq //; case: eqP ne.
have [|r' run' carried''] := IH b _ _ carried' agr'.
  by move=> j ltj; have := runs j ltj; rewrite /= Exs.
by exists r' => //=; rewrite Ex /=.
Qed.

(* A program with its loop unrolled. *)
Definition pieces : Type := seq (option nat * LaneCode.block).

Fixpoint run_pieces (ps : pieces) (r : LaneCode.env) : option LaneCode.env :=
  if ps is (i, b) :: ps' then obind (run_pieces ps') (LaneCode.run_block table i b r) else Some r.

Fixpoint agree_pieces (code : seq statement) (ps : pieces) : bool :=
  if ps is (i, b) :: ps' then agree_code i (take (size b) code) b && agree_pieces (drop (size b) code) ps'
  else nilp code.

Lemma agree_piecesP ps code r rls rls' : carries r rls -> agree_pieces code ps ->
  (forall j, j < n -> run_pieces ps (rls j) = Some (rls' j)) ->
  exists2 r', run_code c h code (r, m) = Some (r', m) & carries r' rls'.
Proof.
elim: ps code r rls => [|[i b] ps IH] code r rls carried.
  move=> /nilP -> same; exists r => // j k x ltj; have [<-] := same j ltj; exact: carried.
case/andP=> agr agr' runs.
pose mid j := odflt [::] (LaneCode.run_block table i b (rls j)).
have Emid j : j < n -> LaneCode.run_block table i b (rls j) = Some (mid j).
  by move=> ltj; have := runs j ltj; rewrite /= /mid; case: LaneCode.run_block.
have [r1 run1 carried1] := agree_codeP carried agr Emid.
have [|r2 run2 carried2] := IH _ _ _ carried1 agr'; first by move=> j ltj; have := runs j ltj; rewrite /= Emid.
by exists r2 => //; rewrite -(cat_take_drop (size b) code) run_code_cat run1.
Qed.

Fixpoint counters (p : LaneCode.program) (k i : nat) : seq nat :=
  if k is k'.+1 then if i < LaneCode.limit p then i :: counters p k' (i + LaneCode.step p) else [::] else [::].
Definition written_out (p : LaneCode.program) : pieces :=
  (None, LaneCode.before p) ::
  [seq (Some i, LaneCode.body p) | i <- counters p (LaneCode.limit p) (LaneCode.first p)] ++ [:: (None, LaneCode.after p)].

Lemma run_pieces_cat ps ps' r : run_pieces (ps ++ ps') r = obind (run_pieces ps') (run_pieces ps r).
Proof. by elim: ps r => //= -[i b] ps IH r; case: LaneCode.run_block => //= r'. Qed.

Lemma run_loop_pieces p k i r r' : LaneCode.run_loop table p k i r = Some r' ->
  run_pieces [seq (Some i, LaneCode.body p) | i <- counters p k i] r = Some r'.
Proof.
elim: k i r => [|k IH] i r; rewrite /=; case: (i < _) => //=.
by case: LaneCode.run_block => //= r1; exact: IH.
Qed.

Lemma run_written_out p args out : LaneCode.run table p args = Some out ->
  exists2 r, run_pieces (written_out p) (map Some args ++ nseq (LaneCode.variables p - size args) None) = Some r &
  LaneCode.values table r (LaneCode.returned p) = Some out.
Proof.
rewrite /LaneCode.run /written_out [run_pieces (_ :: _) _]/=; case: LaneCode.run_block => // r1.
case El: LaneCode.run_loop => [r2|] //; case Ea: LaneCode.run_block => [r3|] // E; exists r3 => //.
by rewrite [obind _ _]run_pieces_cat (run_loop_pieces El) /= Ea.
Qed.

End Agreement.

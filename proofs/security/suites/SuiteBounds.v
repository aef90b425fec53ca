(* SPDX-License-Identifier: Apache-2.0 *)
(* The security of each suite in terms of the primitives that cryptanalysis studies: SHA3-256's
   halves as a PRG, SHA3-256 keyed with a seed as a PRF at one message, AES-128 as a PRP at two
   blocks. suite_adv_bounds compares the three; suite_ideal_bounds does so with SHA3-256 as an
   ideal object. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame IdealGame.
From Pprf.spec Require Import Fips202 RefGame Sha3Suite PrpGame SuiteFamilies.
From Pprf.proofs Require Import Compat Layout ProbabilityFacts ReductionFacts EvaluationSecurity.
From Pprf.proofs Require Import IdealSecurity IdealSuites PrpSwitch.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- What is hashed or enciphered at different nodes is different ------------------------------- *)

Section Ids.
Local Open Scope N_scope.

Lemma id_lt n p : (n <= 63)%nat -> (size p <= n)%nat -> node_id (first_leaf n p) (n - size p) < 2 ^ 64.
Proof.
move=> n63 pn; have e := first_leaf_end pn; have p0 := pow2_gt0 (n - size p).
have m : pow2 n <= pow2 63 by apply: pow2_mono.
by rewrite /node_id; change (2 ^ 64) with (2 * pow2 63); lia.
Qed.

Lemma id_bits_inj n p q : (n <= 63)%nat -> (size p <= n)%nat -> (size q <= n)%nat ->
  id_bits n p = id_bits n q -> p = q.
Proof.
move=> n63 pn qn E; apply: (encode_inj pn qn); apply: N.bits_inj => i.
have lp := id_lt n63 pn; have lq := id_lt n63 qn.
case: (N.ltb_spec i 64) => iB; last first.
  rewrite -(N.mod_small _ _ lp) -(N.mod_small _ _ lq); by rewrite !N.mod_pow2_bits_high.
have := congr1 (fun t : 64.-tuple bool => nth false t (N.to_nat i)) E.
by rewrite /id_bits /= !nth_mkseq ?N2Nat.id //; apply/ltP; lia.
Qed.
End Ids.

Section Points.
Variables d c : nat.
Variable salts : seq bits128.

Lemma aes_point_bit p b i : (i < 128)%N ->
  nth false (aes_point d c salts p b) i =
  xorb (nth false (salt_of c salts p) i) (nth false (tval (id_of d c p) ++ [:: b]) i).
Proof. by move=> iB; rewrite /aes_point /= nth_mkseq. Qed.

(* The two halves of a node are two different blocks. *)
Theorem aes_points_differ p : aes_point d c salts p false != aes_point d c salts p true.
Proof.
apply/eqP => /(congr1 (fun t : bits128 => nth false t 64)).
by rewrite !aes_point_bit // !nth_cat size_tuple /=; case: (nth _ _ _).
Qed.

(* So are those of different nodes of one key; and so is what SHA3-256 hashes besides the seed. *)
Theorem suite_points_inj p q b b' : (d - c <= 63)%N -> (c <= size p <= d)%N -> (c <= size q <= d)%N ->
  take c p = take c q ->
  (aes_point d c salts p b = aes_point d c salts q b' -> p = q /\ b = b') /\
  (salt_and_id d c salts p = salt_and_id d c salts q -> p = q).
Proof.
move=> dc /andP [cp pd] /andP [cq qd] user.
have ids : id_of d c p = id_of d c q -> p = q.
  move=> E; rewrite -(cat_take_drop c p) -(cat_take_drop c q) user; congr (_ ++ _).
  by apply: id_bits_inj dc _ _ E; rewrite size_drop leq_sub2r.
have same_salt : salt_of c salts p = salt_of c salts q by rewrite /salt_of user.
split=> [E|/(congr1 (@snd _ _)) /ids //].
have bit i : (i < 65)%N ->
    nth false (tval (id_of d c p) ++ [:: b]) i = nth false (tval (id_of d c q) ++ [:: b']) i.
  move=> iB; have iB' : (i < 128)%N by apply: leq_trans iB _.
  have := congr1 (fun t : bits128 => nth false t i) E.
  by rewrite !aes_point_bit // same_salt; do 3 case: (nth _ _ _).
split; last by have := bit 64 isT; rewrite !nth_cat !size_tuple.
apply: ids; apply: eq_from_tnth => i; have := bit i (leq_trans (ltn_ord i) (leqnSn 64)).
by rewrite !nth_cat !size_tuple ltn_ord -!tnth_nth.
Qed.
End Points.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Lemma card_bits128 : #|bits128|%:R^-1 = 2%:R ^- 128 :> rat.
Proof. by rewrite /bits128 /fin_type card_tuple card_bool natrX. Qed.

(* ---- Bounds in the standard model -------------------------------------------------------------------- *)

Section Drawn.
Variables d c : nat.
Hypothesis cd : (c <= d)%N.
Variable U : pred bitseq.
Variable A : seq bits128 -> ev_adversary bits128 d.
Hypothesis AU : forall ts, challenges_in U (A ts).
Variable n : nat.
Hypothesis few : (size (cuts d c U) <= n)%N.

Lemma salted_ev_guess (G : seq bits128 -> bitseq -> bits128 -> bits128 * bits128) :
  salted_ev_adv G c A = (2 * size (cuts d c U))%:R *
    ex (unifs zeros (2 ^ c)) (fun ts => prg_adv zeros (G ts) (attack (G ts) (ev_guess zeros c U (A ts)))).
Proof.
rewrite /salted_ev_adv /salted_ev_game !Pr_bind -ex_sub -ex_scale; apply: eq_ex => ts.
exact: ev_adv_guess.
Qed.

Lemma salted_hash_bound : `|salted_ev_adv (salted_family d c) c A| <=
  (2 * n)%:R * `|prf_adv zeros salted_hash (salted_attack c U A)|.
Proof.
rewrite salted_ev_guess; apply: bound_scale few _.
rewrite /prf_adv /prf_game /salted_attack !Pr_bind !ex_bind -ex_sub le_eqVlt; apply/orP; left; apply/eqP.
congr (`|_|); apply: eq_ex => ts.
by rewrite /salted_family keyed_prg_adv /prf_adv /prf_game !Pr_bind.
Qed.

Lemma aes_bound (E : bits128 -> bits128 -> bits128) : `|salted_ev_adv (fun ts => aes_family d c ts E) c A| <=
  (2 * n)%:R * (`|prp_adv zeros E (aes_attack E c U A)| + 2%:R ^- 128).
Proof.
rewrite salted_ev_guess; apply: bound_scale few _; rewrite -card_bits128.
set x := ex _ _; set y := prp_adv _ _ _.
have yE : y = ex (unifs zeros (2 ^ c)) (fun ts => prp_adv zeros E
    (ask_points (aes_point d c ts) (attack (aes_family d c ts E) (ev_guess zeros c U (A ts))))).
  rewrite /y /prp_adv /prp_game /aes_attack !Pr_bind !ex_bind -ex_sub; apply: eq_ex => ts.
  by rewrite !Pr_bind.
have D : `|x - y| <= #|bits128|%:R^-1.
  rewrite yE -ex_sub; apply: ex_norm_le => ts.
  exact: (proj1 (@halves_prg_adv _ zeros E _ (aes_points_differ d c ts) _)).
have -> : x = (x - y) - - y by rewrite opprK subrK.
by apply: le_trans (norm_sub_le _ _) _; rewrite normrN addrC le_add.
Qed.

End Drawn.

(* aes-128, one key and all its leaves, however many evaluations, thefts and challenges. *)
Theorem aes_adv_bound_tree (E : bits128 -> bits128 -> bits128) (d : nat)
    (A : seq bits128 -> ev_adversary bits128 d) :
  `|salted_ev_adv (fun ts => aes_family d 0 ts E) 0 A| <=
  (2 * (2 ^ d).-1)%:R * (`|prp_adv zeros E (aes_attack E 0 predT A)| + 2%:R ^- 128).
Proof.
apply: aes_bound => // [ts|]; first by elim: (A ts) => //= a k IH; split=> //; case: a k IH.
rewrite -[X in (_ <= X)%N]mul1n -{2}[d]subn0; exact: (@size_cuts_all d 0).
Qed.

(* The same where only the first q leaves may be challenged. *)
Theorem aes_adv_bound_first (E : bits128 -> bits128 -> bits128) (d q : nat)
    (A : seq bits128 -> ev_adversary bits128 d) : (forall ts, challenges_in (first_leaves 0 q) (A ts)) ->
  `|salted_ev_adv (fun ts => aes_family d 0 ts E) 0 A| <=
  (2 * (q + d).-1)%:R * (`|prp_adv zeros E (aes_attack E 0 (first_leaves 0 q) A)| + 2%:R ^- 128).
Proof.
move=> AU; apply: aes_bound => //.
rewrite -[X in (_ <= X)%N]mul1n -{2}[d]subn0; exact: (@size_cuts_first d 0).
Qed.

(* The suites compared: 2^c users with d - c levels each, and the first q leaves of each. Their
   salts are uniform and public; the bare suite has none. *)
Theorem suite_adv_bounds (E : bits128 -> bits128 -> bits128) (d c q : nat) (A0 : ev_adversary bits128 d)
    (A : seq bits128 -> ev_adversary bits128 d) :
  let U := first_leaves c q in
  let n := (2 ^ c * (q + (d - c)).-1)%N in
  (c <= d)%N -> challenges_in U A0 -> (forall ts, challenges_in U (A ts)) ->
  (* sha3-256: its halves as a PRG *)
  `|ev_adv zeros (fun _ => sha3_prg) c A0| <=
    (2 * n)%:R * `|plain_prg_adv zeros sha3_prg (sha3_attack c U A0)| /\
  (* sha3-256-salted: SHA3-256(seed || message) as a PRF of one message *)
  `|salted_ev_adv (salted_family d c) c A| <=
    (2 * n)%:R * `|prf_adv zeros salted_hash (salted_attack c U A)| /\
  (* aes-128: the cipher E as a PRP of two blocks *)
  `|salted_ev_adv (fun ts => aes_family d c ts E) c A| <=
    (2 * n)%:R * (`|prp_adv zeros E (aes_attack E c U A)| + 2%:R ^- 128).
Proof.
move=> U n cd AU0 AU; have few := size_cuts_first q cd; split; [|split].
- rewrite (ev_adv_guess zeros (fun _ => sha3_prg) cd AU0); apply: bound_scale few _.
  by rewrite prg_adv_constant.
- exact: salted_hash_bound.
- exact: aes_bound.
Qed.

(* ---- SHA3-256 as an ideal object ---------------------------------------------------------------------- *)

(* Q queries of an ideal function in place of SHA3-256. Bare seeds: each query is tried against
   all inner nodes of all users. With salt and id it has one target unless salts clash. *)
Theorem suite_ideal_bounds (d c Q : nat) (A0 : id_adversary bits128 d no_tag)
    (A : seq bits128 -> id_adversary bits128 d hashed_tag) :
  let n := (2 ^ d - 2 ^ c)%N in
  (c <= d)%N -> (d - c <= 63)%N -> hashes_at_most Q A0 -> (forall ts, hashes_at_most Q (A ts)) ->
  (* sha3-256 *)
  `|id_adv zeros bare_tag c A0| <= (n * Q + 'C(n, 2))%:R * 2%:R ^- 128 /\
  (* sha3-256-salted *)
  `|hashed_adv c A| <= (Q%:R + (Q + n)%:R * ('C(2 ^ c, 2))%:R * 2%:R ^- 128) * 2%:R ^- 128.
Proof.
move=> n cd dc H0 H; rewrite -card_bits128; split; first exact: bare_adv_bound.
apply: drawn_adv_bound => // ts t sz; apply: leq_trans (count_le_clashes t.1 ts).
apply: (@placed_targets d c cd _ zeros _ (id_bits (d - c)) ts t) sz => p q sp sq.
exact: id_bits_inj.
Qed.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The one statement for the suite aes-128, for ref and opt: the contracts' PRG is the two halves
   of AES-128 under a seed (ref_aes_secure, opt_aes_secure), or what opt's portable function
   computes (ref_aes_code_secure, opt_aes_code_secure); and opt's bound in terms of AES-128 as a
   PRP (opt_aes_prp_secure). *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslKey.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import LaneCode AesCode.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.spec Require Codec.
From Pprf.spec Require Import Fips202 RefGame OptGame PackedGame Sha3Suite CodeSuite SaltedSuite PrpGame SuiteFamilies AesSuite.
From Pprf.proofs Require Import Compat Layout ProbabilityFacts ReductionFacts EvaluationSecurity.
From Pprf.proofs Require Import RefSecurity OptSecurity Sha3Security KeccakSym KeccakSound KeccakSuite.
From Pprf.proofs Require Import AesRounds AesSound CodeSecurity SaltedSecurity PrpSwitch SuiteBounds.
From Pprf.spec Require Import Fips197.
From Coq Require Import Init.Byte.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Bytes, bits and words ------------------------------------------------------------------------------ *)

Lemma bits_of_bytes_cat a b : bits_of_bytes (a ++ b) = bits_of_bytes a ++ bits_of_bytes b.
Proof. by rewrite /bits_of_bytes map_cat flatten_cat. Qed.

Lemma bits_of_two_words lo hi :
  bits_of_bytes (Codec.put_le 8 lo ++ Codec.put_le 8 hi) = word_bits lo ++ word_bits hi.
Proof. by rewrite bits_of_bytes_cat !bits_of_put_le. Qed.

Lemma seed_bytes_of_words lo hi :
  seed_bytes (seed_of_words (Z.of_N lo) (Z.of_N hi)) = Codec.put_le 8 lo ++ Codec.put_le 8 hi.
Proof.
rewrite /seed_bytes seed_bits -bits_of_two_words.
have {1}-> : 16 = size (Codec.put_le 8 lo ++ Codec.put_le 8 hi) by rewrite size_cat !size_put_le.
exact: bytes_of_bits_of.
Qed.

Lemma seed_of_two_words lo hi :
  seed_of_bytes (Codec.put_le 8 lo ++ Codec.put_le 8 hi) = seed_of_words (Z.of_N lo) (Z.of_N hi).
Proof.
apply: eqtype.val_inj; rewrite -[LHS]/(mkseq (nth false (bits_of_bytes _)) 128) bits_of_two_words.
rewrite -[RHS]/(tval (seed_of_words _ _)) seed_bits -[X in nth false X]cats0.
by apply: first_half; rewrite size_cat !size_word_bits.
Qed.

Lemma id_bytes_of id : id_bytes (Z.of_N id) = Codec.put_le 8 id.
Proof.
rewrite /id_bytes bits_agree -[word_bits id]/(mkseq (tb id) (8 * 8)) -bits_of_put_le.
have {1}-> : 8 = size (Codec.put_le 8 id) by rewrite size_put_le.
exact: bytes_of_bits_of.
Qed.

(* opt's portable function, on the words of a seed, a salt and an id, computes the suite's
   children. *)
Theorem aes_is_the_suite lo hi salt_lo salt_hi id :
  exists l0 l1 r0 r1 : N,
  let s := seed_of_words (Z.of_N lo) (Z.of_N hi) in
  let salt := seed_of_words (Z.of_N salt_lo) (Z.of_N salt_hi) in
  LaneCode.run [::] opt_aes_bitsliced [:: lo; hi; salt_lo; salt_hi; id] = Some [:: l0; l1; r0; r1; 0]%num /\
  (aes_left salt s (Z.of_N id), aes_right salt s (Z.of_N id)) =
    (seed_of_words (Z.of_N l0) (Z.of_N l1), seed_of_words (Z.of_N r0) (Z.of_N r1)).
Proof.
have [l0 [l1 [r0 [r1 [R [L E]]]]]] := aes_sound lo hi salt_lo salt_hi id.
exists l0, l1, r0, r1; split; first exact: R.
by rewrite /aes_left /aes_right !seed_bytes_of_words id_bytes_of -L -E !seed_of_two_words.
Qed.

Section Aes.
Variable salt : sha3_seed.

(* Words and seeds are those of the suite without a salt. *)
Lemma aes_suite_ok left right : suite_ok (aes_node_suite salt left right).
Proof. exact: sha3_suite_ok. Qed.

Lemma aes_node_suite_prg left right d p s :
  @suite_prg (aes_node_suite salt left right) d p s =
  (left s (Z.of_N (node_id (first_leaf d p) (d - size p))), right s (Z.of_N (node_id (first_leaf d p) (d - size p)))).
Proof. by rewrite -id_atE. Qed.

Lemma aes_suite_prg d p s : @suite_prg (aes_suite salt) d p s = aes_prg salt d p s.
Proof. exact: aes_node_suite_prg. Qed.

Lemma aes_halves s id :
  (aes_child salt false s (Z.of_N id), aes_child salt true s (Z.of_N id)) =
  (aes_left salt s (Z.of_N id), aes_right salt s (Z.of_N id)).
Proof.
have [loB hiB sE] := proj2 sha3_suite_ok s; have [loB' hiB' saltE] := proj2 sha3_suite_ok salt.
have [l0 [l1 [r0 [r1 [R B]]]]] :=
  aes_is_the_suite (Z.to_N (number (take 64 s))) (Z.to_N (number (drop 64 s)))
    (Z.to_N (number (take 64 salt))) (Z.to_N (number (drop 64 salt))) id.
have word (x : sha3_seed) : c_uint64_t (number (take 64 x)) -> c_uint64_t (number (drop 64 x)) ->
    seed_of_words (number (take 64 x)) (number (drop 64 x)) = x ->
    seed_of_words (Z.of_N (Z.to_N (number (take 64 x)))) (Z.of_N (Z.to_N (number (drop 64 x)))) = x.
  by move=> [l0B _] [h0B _] E; rewrite !Z2N.id.
by rewrite /aes_child N2Z.id R -B !word.
Qed.

Lemma aes_code_prg d p s : @suite_prg (aes_code_suite salt) d p s = aes_prg salt d p s.
Proof. by rewrite aes_node_suite_prg; exact: aes_halves. Qed.

(* ---- The statements: whatever the salt -------------------------------------------------------------- *)

Theorem ref_aes_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory) :
  meets_contracts (aes_suite salt) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (aes_suite salt) (aes_prg salt d) d Fault fails l F M0.
Proof.
move=> meets rdy em.
exact: (@ref_suite_secure (aes_suite salt) (aes_suite_ok _ _) d (aes_prg salt d)
          (@aes_suite_prg d) Fault fails l F M0 meets rdy em).
Qed.

Theorem opt_aes_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_meets_contracts (aes_suite salt) d fails marks shown l F M0 ->
  opt_ready (aes_suite salt) d shown l M0 ->
  @opt_secure_by (aes_suite salt) (aes_prg salt d) d Fault fails marks shown l F M0.
Proof.
move=> meets rdy.
exact: (@opt_suite_secure (aes_suite salt) (aes_suite_ok _ _) words_wrap d (aes_prg salt d)
          (@aes_suite_prg d) Fault fails marks shown l F M0 meets rdy).
Qed.

Theorem packed_aes_secure (d : nat) (Fault : Type) (hidden : pred pointer) (l : packed_layout)
    (F : opt_functions Fault) (U : AcslRef.pprf_seed -> memory) :
  packed_meets_contracts (aes_suite salt) d hidden l F U -> packed_ready (aes_suite salt) d hidden l U ->
  @packed_secure_by (aes_suite salt) d Fault hidden l F U (aes_prg salt d).
Proof. exact: (@packed_suite_secure (aes_suite salt) (aes_suite_ok _ _) words_wrap d _ (@aes_suite_prg d)). Qed.

(* The same if the contracts' PRG is what the portable C function computes. *)
Theorem ref_aes_code_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory) :
  meets_contracts (aes_code_suite salt) d fails l F -> ready d l M0 -> cleared l M0 ->
  @ref_secure_by (aes_code_suite salt) (aes_prg salt d) d Fault fails l F M0.
Proof.
move=> meets rdy em.
exact: (@ref_suite_secure (aes_code_suite salt) (aes_suite_ok _ _) d (aes_prg salt d)
          (@aes_code_prg d) Fault fails l F M0 meets rdy em).
Qed.

Theorem opt_aes_code_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_meets_contracts (aes_code_suite salt) d fails marks shown l F M0 ->
  opt_ready (aes_code_suite salt) d shown l M0 ->
  @opt_secure_by (aes_code_suite salt) (aes_prg salt d) d Fault fails marks shown l F M0.
Proof.
move=> meets rdy.
exact: (@opt_suite_secure (aes_code_suite salt) (aes_suite_ok _ _) words_wrap d (aes_prg salt d)
          (@aes_code_prg d) Fault fails marks shown l F M0 meets rdy).
Qed.

End Aes.

(* ---- The family of SuiteFamilies.v, and the bound in terms of the cipher ---------------------------------- *)

Lemma bit_byte_of_bits s i : i < 8 -> bit (byte_of_bits s) i = nth false s i.
Proof. by move=> lt; rewrite -(@bit_of_bits (nth false s) i lt). Qed.

Lemma size_bytes_of_bits n s : size (bytes_of_bits n s) = n.
Proof. by elim: n s => //= n IH s; rewrite IH. Qed.

Lemma bit_bytes_of_bits n s k i : k < n -> i < 8 ->
  bit (nth x00 (bytes_of_bits n s) k) i = nth false s (8 * k + i).
Proof.
move=> lt lti; elim: n s k lt => [|n IH] s [|k] //= lt; first by rewrite bit_byte_of_bits // nth_take.
by rewrite IH // nth_drop mulnS addnA.
Qed.

Lemma add_bytes_of_bits n s t m : m = 8 * n ->
  bytes_of_bits n (mkseq (fun i => xorb (nth false s i) (nth false t i)) m) =
  [seq add x.1 x.2 | x <- zip (bytes_of_bits n s) (bytes_of_bits n t)].
Proof.
move=> ->; apply: (@eq_from_nth _ x00); first by rewrite size_map size_zip !size_bytes_of_bits minnn.
move=> k; rewrite size_bytes_of_bits => lt; apply: byte_ext => i lti.
rewrite (nth_map (x00, x00)) ?size_zip ?size_bytes_of_bits ?minnn //.
rewrite nth_zip ?size_bytes_of_bits //= [RHS]bit_of_bits // !bit_bytes_of_bits //.
by rewrite nth_mkseq // (@leq_trans (8 * k + 8)) ?ltn_add2l // -mulnSr leq_mul2l.
Qed.

Lemma bytes_of_bits_cat n m s t : size s = 8 * n ->
  bytes_of_bits (n + m) (s ++ t) = bytes_of_bits n s ++ bytes_of_bits m t.
Proof.
elim: n s => [|n IH] s sz; first by rewrite (size0nil sz).
have le : 8 <= size s by rewrite sz mulnS leq_addr.
rewrite addSn -[LHS]/(byte_of_bits (take 8 (s ++ t)) :: bytes_of_bits (n + m) (drop 8 (s ++ t))).
rewrite takel_cat // drop_cat; case: ltnP => [_|ge].
  by rewrite IH // size_drop sz mulnS addKn.
have e8 : size s = 8 by apply/eqP; rewrite eqn_leq ge.
rewrite e8 subnn drop0; have n0 : n = 0 by move: sz; rewrite e8 mulnS; case: n {IH} => //.
by rewrite n0.
Qed.

Section Family.
Variables (salt : sha3_seed) (d : nat).

(* The suite's PRG is the family with one user, who has this salt, and AES-128 as the cipher. *)
Theorem aes_prg_is_the_family p s : aes_prg salt d p s = aes_family d 0 [:: salt] aes_cipher p s.
Proof.
have input (b : bool) :
    [seq add x.1 x.2 | x <- zip (seed_bytes salt)
       (id_bytes (Z.of_N (node_id (first_leaf d p) (d - size p))) ++ (if b then x01 else x00) :: nseq 7 x00)] =
    seed_bytes (aes_point d 0 [:: salt] p b).
  rewrite [RHS](@add_bytes_of_bits 16 _ _ 128) //; congr (map _ (zip _ _)).
    by rewrite /salt_of take0.
  have -> : tval (id_of d 0 p) = mkseq (fun i => Z.testbit (Z.of_N (node_id (first_leaf d p) (d - size p)))
      (Z.of_nat i)) 64.
    rewrite /id_of subn0 drop0 /id_bits /=; apply: eq_map => i.
    by rewrite -nat_N_Z Z.testbit_of_N.
  by rewrite (@bytes_of_bits_cat 8 8) ?size_mkseq //; case: b.
by rewrite /aes_prg /aes_left /aes_right /aes_half (input false) (input true).
Qed.

End Family.

Theorem salted_prg_is_the_family salt d p s : salted_prg salt d p s = salted_family d 0 [:: salt] p s.
Proof.
have message : node_message salt s (Z.of_N (node_id (first_leaf d p) (d - size p))) =
    tval s ++ tval (salt_of 0 [:: salt] p) ++ tval (id_of d 0 p).
  rewrite /id_of subn0 drop0 /node_message; do 2 congr (_ ++ _).
    by rewrite /salt_of take0.
  by apply: eq_map => i; rewrite -nat_N_Z Z.testbit_of_N.
by rewrite /salted_prg /salted_left /salted_right message.
Qed.

Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Lemma eq_prg_adv (Seed : finType) (s0 : Seed) (G H : bitseq -> Seed -> Seed * Seed) (D : prg_adversary Seed) :
  (forall p s, G p s = H p s) -> prg_adv s0 G D = prg_adv s0 H D.
Proof.
move=> E; rewrite /prg_adv /prg_game !Pr_bind; congr (_ - _); apply: eq_ex => pk.
by rewrite !Pr_bind; apply: eq_ex => s; rewrite E.
Qed.

Lemma aes_prp_bound salt d (D : prg_adversary bits128) :
  `|prg_adv zeros (aes_prg salt d) D| <= `|prp_adv zeros aes_cipher (aes_prp_attack salt d D)| + 2%:R ^- 128.
Proof.
rewrite (@eq_prg_adv _ _ _ _ D (@aes_prg_is_the_family salt d)) -card_bits128.
exact: (proj2 (@halves_prg_adv _ zeros aes_cipher _ (aes_points_differ d 0 [:: salt]) D)).
Qed.

(* From the contracts of opt and C's memory to the cipher: AES-128 as a PRP of two blocks. *)
Theorem opt_aes_prp_secure (salt : sha3_seed) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_meets_contracts (aes_code_suite salt) d fails marks shown l F M0 ->
  opt_ready (aes_code_suite salt) d shown l M0 ->
  let attack := opt_node_attack (S := aes_code_suite salt) (aes_prg salt d) d fails marks shown l M0 in
  (forall A : opt_adversary (aes_code_suite salt) Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       (`|prp_adv zeros aes_cipher (aes_prp_attack salt d (attack predT A))| + 2%:R ^- 128)) /\
  (forall (A : opt_adversary (aes_code_suite salt) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       (`|prp_adv zeros aes_cipher (aes_prp_attack salt d (attack (first_leaves 0 q) A))| + 2%:R ^- 128)).
Proof.
move=> meets rdy attack.
have scale (n : nat) (x y : rat) : x <= y -> n%:R * x <= n%:R * y.
  by move=> le_xy; rewrite ![n%:R * _]mulrC; apply: le_mul2r le_xy; exact: ler0n.
have [_ [all first]] := @opt_aes_code_secure salt d Fault fails marks shown l F M0 meets rdy.
split=> [A | A q B].
  by apply: le_trans (all A) _; apply: scale; exact: aes_prp_bound.
by apply: le_trans (first A q B) _; apply: scale; exact: aes_prp_bound.
Qed.

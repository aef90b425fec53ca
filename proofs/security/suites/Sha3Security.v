(* SPDX-License-Identifier: Apache-2.0 *)
(* The statement from ref's contracts to SHA3-256: for every implementation that meets the
   contracts of ref/core.h, calls return what the model returns, memory holds the model's key and
   nothing else derived from it, and whoever chooses the calls and reads memory learns about the
   other leaves only what it can break of SHA3-256. *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslKey.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Layout ReductionFacts EvaluationSecurity.
From Pprf.spec Require Import Fips202 RefGame Sha3Suite.
From Pprf.proofs Require Import MemoryGame RefSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Words and bits ---------------------------------------------------------------------------- *)

Section Words.
Local Open Scope Z_scope.

Lemma mkseqS T (f : nat -> T) n : mkseq f n.+1 = f 0%N :: mkseq (fun i => f i.+1) n.
Proof. by rewrite /mkseq /= (iotaDl 1 0 n) -map_comp. Qed.

Lemma numberS b s : number (b :: s) = (2 * number s + Z.b2z b).
Proof. by rewrite Z.add_comm. Qed.

Lemma number_bits n v : (0 <= v < 2 ^ Z.of_nat n) ->
  number (mkseq (fun i => Z.testbit v (Z.of_nat i)) n) = v.
Proof.
elim: n v => [|n IH] v vB; first by change (0 <= v < 1) in vB; change (0 = v); lia.
rewrite mkseqS numberS (_ : Z.testbit v (Z.of_nat 0) = Z.odd v); last exact: Z.bit0_odd.
have -> : mkseq (fun i => Z.testbit v (Z.of_nat i.+1)) n =
          mkseq (fun i => Z.testbit (Z.div2 v) (Z.of_nat i)) n.
  by apply/eq_map => i; rewrite Z.div2_spec Z.shiftr_spec; [congr Z.testbit|]; lia.
rewrite Nat2Z.inj_succ Z.pow_succ_r in vB; last by lia.
have e := Z.div2_odd v.
have o : (0 <= Z.b2z (Z.odd v) <= 1) by case: (Z.odd v) => /=; lia.
by rewrite IH; lia.
Qed.

Lemma number_range s : (0 <= number s < 2 ^ Z.of_nat (size s)).
Proof.
elim: s => [|b s IH]; first exact: (conj (Z.le_refl 0) Z.lt_0_1).
rewrite numberS [size _]/= Nat2Z.inj_succ Z.pow_succ_r; last by lia.
have o : (0 <= Z.b2z b <= 1) by case: b => /=; lia.
lia.
Qed.

Lemma bits_number s : mkseq (fun i => Z.testbit (number s) (Z.of_nat i)) (size s) = s.
Proof.
elim: s => [|b s IH] //; rewrite [size _]/= mkseqS numberS.
rewrite (_ : Z.of_nat 0 = 0) // Z.testbit_0_r -[in RHS]IH; congr cons; apply/eq_map => i.
by rewrite Nat2Z.inj_succ Z.testbit_succ_r; lia.
Qed.

Definition word_bits_of (v : Z) : seq bool := mkseq (fun i => Z.testbit v (Z.of_nat i)) 64.

Lemma seed_of_wordsE lo hi : tval (seed_of_words lo hi) = word_bits_of lo ++ word_bits_of hi.
Proof. by []. Qed.

Lemma size_word v : size (word_bits_of v) = 64%N.
Proof. exact: size_mkseq. Qed.

Theorem sha3_suite_ok : suite_ok sha3_suite.
Proof.
split=> [lo hi loB hiB|s].
  rewrite [low_word _](_ : _ = number (take 64 (seed_of_words lo hi))) //.
  rewrite [high_word _](_ : _ = number (drop 64 (seed_of_words lo hi))) //.
  rewrite seed_of_wordsE take_size_cat ?size_word // drop_size_cat ?size_word //.
  by rewrite /word_bits_of !number_bits.
have st : size (take 64 (tval s)) = 64%N by rewrite size_takel // size_tuple.
have sd : size (drop 64 (tval s)) = 64%N by rewrite size_drop size_tuple.
have rt := number_range (take 64 (tval s)); have rd := number_range (drop 64 (tval s)).
rewrite st in rt; rewrite sd in rd.
split; [exact: rt | exact: rd |].
apply: eqtype.val_inj.
transitivity (word_bits_of (number (take 64 (tval s))) ++ word_bits_of (number (drop 64 (tval s)))).
  by [].
have := bits_number (take 64 (tval s)); have := bits_number (drop 64 (tval s)).
by rewrite st sd /word_bits_of => -> ->; apply: cat_take_drop.
Qed.

End Words.

(* ---- The statement ------------------------------------------------------------------------------- *)

Section Statement.
Variable d : nat.
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> Fault -> Z.
Variable l : layout.
Variable M0 : memory.

Lemma challenges_first (S : suite) (q : nat) (A : ref_adversary S Fault) st :
  tests_below_leaf (N.of_nat q) A ->
  challenges_in (first_leaves 0 q) (as_model d fails l M0 st A).
Proof.
apply: (@model_challenges_first S d Fault _ (fun K => K) (fun K c _ => puncture_call d no_seed c K) (fun K _ _ => K)
  (fun _ => fails) (fun _ => image d l M0) (@as_model S d Fault fails l M0)) => //.
by move=> [*].
Qed.

End Statement.

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem ref_sha3_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory) :
  meets_contracts sha3_suite d fails l F -> ready d l M0 -> cleared l M0 ->
  (* results and memory are the model's *)
  (forall (s : block sha3_suite) (cs : seq (call * Fault)),
     let r := run_calls sha3_suite l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall p : pointer, cell r.2 p = @image sha3_suite d l M0 m.2 p) /\
  (* so whoever chooses the calls and reads memory must break SHA3-256 *)
  (forall A : ref_adversary sha3_suite Fault,
     `|ref_adv d l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|plain_prg_adv (zero128 : block sha3_suite) sha3_prg
           (sha3_distinguisher d fails l M0 predT A)|) /\
  (forall (A : ref_adversary sha3_suite Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : block sha3_suite) sha3_prg
           (sha3_distinguisher d fails l M0 (first_leaves 0 q) A)|).
Proof.
move=> meets rdy em.
have adv A : ref_adv d l F M0 A =
    ev_adv (zero128 : block sha3_suite) (fun _ => sha3_prg) 0 (against_model d fails l M0 A).
  by rewrite /ref_adv !(ref_game_is_model sha3_suite_ok meets rdy em).
split; [|split].
- move=> s cs; exact: (ref_calls_sound sha3_suite_ok meets rdy em s cs).
- move=> A; rewrite adv /sha3_distinguisher -prg_adv_constant; exact: ev_adv_bound_tree.
move=> A q B; rewrite adv /sha3_distinguisher -prg_adv_constant.
by apply: ev_adv_bound_first => //; apply: challenges_first.
Qed.

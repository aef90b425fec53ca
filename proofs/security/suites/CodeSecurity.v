(* SPDX-License-Identifier: Apache-2.0 *)
(* The statements that end the development: from opt's API to SHA3-256 (opt_sha3_secure); and for
   ref and opt with what the C code of the Keccak functions computes as the contracts' PRG
   (ref_code_secure, opt_code_secure). *)
From Coq Require Import NArith ZArith Lia.
From Pprf.spec Require Import AcslMemory AcslKey.
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import LaneCode KeccakCode.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
From Pprf.proofs Require Import Correctness Layout ProbabilityFacts ReductionFacts EvaluationSecurity.
From Pprf.spec Require Import Fips202 RefGame OptGame PackedGame Sha3Suite CodeSuite.
From Pprf.proofs Require Import MemoryGame RefSecurity OptSecurity PackedSecurity Sha3Security KeccakSuite.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Two PRGs that are equal at each seed ------------------------------------------------------ *)

Section SamePrg.
Variable Seed : finType.
Variable s0 : Seed.
Variables G H : bitseq -> Seed -> Seed * Seed.
Hypothesis same : forall p s, G p s = H p s.

Lemma same_child p b s : child G p b s = child H p b s.
Proof. by rewrite /child same. Qed.

Lemma same_descend p s x : descend G p s x = descend H p s x.
Proof. by elim: x p s => //= b x IH p s; rewrite same_child IH. Qed.

Lemma same_eval K x : eval G K x = eval H K x.
Proof. by elim: K => //= n K ->; rewrite /eval_node same_descend. Qed.

Lemma same_copath p s y : copath G p s y = copath H p s y.
Proof. by elim: y p s => //= b y IH p s; rewrite /child !same !IH. Qed.

Lemma same_copath_left p s y : copath_left G p s y = copath_left H p s y.
Proof. by elim: y p s => //= b y IH p s; rewrite /child !same !IH. Qed.

Lemma same_copath_right p s y : copath_right G p s y = copath_right H p s y.
Proof. by elim: y p s => //= b y IH p s; rewrite /child !same !IH. Qed.

Lemma same_flatten (f g : Ggm.node Seed -> key Seed) (K : key Seed) :
  (forall n, f n = g n) -> flatten (map f K) = flatten (map g K).
Proof. by move=> E; congr flatten; apply: eq_map. Qed.

Lemma same_region r K : puncture_region G r K = puncture_region H r K.
Proof.
case: r => [x|x|x y] /=; last rewrite /puncture_range; last case: ifP => // _.
all: apply: same_flatten => n.
- by rewrite /puncture_node same_copath.
- by rewrite /puncture_prefix_node same_copath.
by rewrite /puncture_range_node same_copath_left same_copath_right.
Qed.

Lemma same_model_calls d (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z) K cs :
  model_calls d fails G K cs = model_calls d fails H K cs.
Proof.
elim: cs K => //= -[c f] cs IH K; rewrite -IH /value_of /puncture_call.
have -> : (if target c is Some x then eval G K (leaf_path d x) else None) =
          (if target c is Some x then eval H K (leaf_path d x) else None).
  by case: (target c) => // x; rewrite same_eval.
by case: (call_region d c) => // r; rewrite same_region.
Qed.

Lemma same_exec (T : Type) (c : code Seed T) f : ex (exec G c) f = ex (exec H c) f.
Proof. by elim: c => //= [p s k IH|X x0 k IH|X x0 k IH]; [rewrite same | apply: eq_avg..]. Qed.

Lemma same_attack (R : reduction Seed) : prg_adv s0 G (attack G R) = prg_adv s0 H (attack H R).
Proof.
rewrite /prg_adv /prg_game /Pr /attack !ex_bind !same_exec.
congr (_ - _)%R; apply: eq_ex => pk /=; rewrite ?ex_avg; apply: eq_avg => s.
  by rewrite same same_exec.
by apply: eq_avg => b; rewrite same_exec.
Qed.

End SamePrg.

(* ---- Challenges on the first leaves --------------------------------------------------------------- *)

Section First.
Variable S : suite.
Variable d : nat.
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> order Fault -> Z.
Variable marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z.
Variable shown : seq pointer.
Variable l : opt_layout.
Variable M0 : memory.

Lemma opt_challenges_first (q : nat) (A : opt_adversary S Fault) st :
  tests_below_leaf (N.of_nat q) A ->
  challenges_in (first_leaves 0 q) (opt_as_model d fails marks shown l M0 st A).
Proof.
apply: (@model_challenges_first S d (order Fault) _ (fun m => m.1)
  (fun m c o => (puncture_call d no_seed c m.1, marks (places d m.1) m.2 c o)) (fun m _ _ => m) (fun _ => fails)
  (fun m => opt_image d shown l M0 m.2)
  (@opt_as_model S d Fault fails marks shown l M0)) => //.
by move=> [[K ws] *].
Qed.

End First.

(* ---- A suite whose PRG is H at the nodes of the tree ------------------------------------------------ *)

Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Suite.
Variable S : suite.
Hypothesis ok : suite_ok S.
Hypothesis wraps : forall lo hi,
  from_words S lo hi = from_words S (Z.modulo lo (Z.pow 2 64)) (Z.modulo hi (Z.pow 2 64)).
Variable d : nat.
Variable H : bitseq -> block S -> block S * block S.
Hypothesis prg_is : forall p s, @suite_prg S d p s = H p s.
Variable Fault : Type.

Let same (R : reduction (block S)) := same_attack (zero_block S) prg_is R.

Lemma ref_suite_secure (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (F : functions Fault)
    (M0 : memory) :
  meets_contracts S d fails l F -> ready d l M0 -> cleared l M0 -> ref_secure_by H d fails l F M0.
Proof.
move=> meets rdy ty.
have adv A : ref_adv d l F M0 A = ev_adv (zero_block S) (@suite_prg S d) 0 (against_model d fails l M0 A).
  by rewrite /ref_adv !(ref_game_is_model ok meets rdy ty).
split; [|split].
- move=> s cs; have := ref_calls_sound ok meets rdy ty s cs.
  by rewrite (same_model_calls prg_is).
- move=> A; rewrite adv /ref_node_attack -same; exact: ev_adv_bound_tree.
move=> A q B; rewrite adv /ref_node_attack -same.
by apply: ev_adv_bound_first => //; apply: challenges_first.
Qed.

Lemma opt_suite_secure (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_meets_contracts S d fails marks shown l F M0 -> opt_ready S d shown l M0 ->
  opt_secure_by H d fails marks shown l F M0.
Proof.
move=> meets rdy.
have adv A : opt_adv d shown l F M0 A =
    ev_adv (zero_block S) (@suite_prg S d) 0 (opt_against_model d fails marks shown l M0 A).
  by rewrite /opt_adv !(opt_game_is_model ok wraps meets rdy).
split; [|split].
- move=> s cs; have := opt_calls_sound ok wraps meets rdy s cs.
  by rewrite (same_model_calls prg_is).
- move=> A; rewrite adv /opt_node_attack -same; exact: ev_adv_bound_tree.
move=> A q B; rewrite adv /opt_node_attack -same.
by apply: ev_adv_bound_first => //; apply: opt_challenges_first.
Qed.

(* The same for keys with the packed store. *)
Theorem packed_suite_secure (hidden : pred pointer) (l : packed_layout) (F : opt_functions Fault)
    (U : AcslRef.pprf_seed -> memory) :
  packed_meets_contracts S d hidden l F U -> packed_ready S d hidden l U -> packed_secure_by d hidden l F U H.
Proof.
move=> meets rdy.
have adv A : packed_adv d hidden l F U A =
    ev_adv (zero_block S) (@suite_prg S d) 0 (packed_against_model d hidden l F U A).
  by rewrite /packed_adv !(packed_game_is_model ok wraps meets rdy).
split=> [A|A q B]; rewrite adv /packed_node_attack -same; first exact: ev_adv_bound_tree.
by apply: ev_adv_bound_first => //; apply: packed_challenges_first.
Qed.

(* The advantages themselves, as equations whose factor does not depend on the suite. *)
Lemma ref_suite_adv (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (F : functions Fault)
    (M0 : memory) (U : pred bitseq) (A : ref_adversary S Fault) :
  meets_contracts S d fails l F -> ready d l M0 -> cleared l M0 ->
  challenges_in U (against_model d fails l M0 A) ->
  ref_adv d l F M0 A = (2 * size (cuts d 0 U))%:R *
    prg_adv (zero_block S) H (ref_node_attack H d fails l M0 U A).
Proof.
move=> meets rdy ty AU; rewrite /ref_node_attack -same -(ev_adv_guess (zero_block S) _ _ AU) //.
by rewrite /ref_adv !(ref_game_is_model ok meets rdy ty).
Qed.

Lemma opt_suite_adv (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) (U : pred bitseq) (A : opt_adversary S Fault) :
  opt_meets_contracts S d fails marks shown l F M0 -> opt_ready S d shown l M0 ->
  challenges_in U (opt_against_model d fails marks shown l M0 A) ->
  opt_adv d shown l F M0 A = (2 * size (cuts d 0 U))%:R *
    prg_adv (zero_block S) H (opt_node_attack H d fails marks shown l M0 U A).
Proof.
move=> meets rdy AU; rewrite /opt_node_attack -same -(ev_adv_guess (zero_block S) _ _ AU) //.
by rewrite /opt_adv !(opt_game_is_model ok wraps meets rdy).
Qed.

End Suite.

(* If the PRG is one function g at every node, an attack on it need not name the node. *)
Section Plain.
Variable S : suite.
Variable g : block S -> block S * block S.
Variable d : nat.
Variable Fault : Type.

Lemma ref_secure_plain (fails : seq (Z * Z) -> call -> Fault -> Z) (l : layout) (F : functions Fault)
    (M0 : memory) :
  ref_secure_by (fun _ => g) d fails l F M0 ->
  (forall (s : block S) (cs : seq (call * Fault)),
     let r := run_calls S l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => g) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, cell r.2 q = image d l M0 m.2 q) /\
  (forall A : ref_adversary S Fault,
     `|ref_adv d l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|plain_prg_adv (zero_block S) g (ref_distinguisher g d fails l M0 predT A)|) /\
  (forall (A : ref_adversary S Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero_block S) g (ref_distinguisher g d fails l M0 (first_leaves 0 q) A)|).
Proof.
case=> calls [all first]; split; first exact: calls.
split=> [A|A q B]; rewrite /ref_distinguisher -prg_adv_constant; [exact: all | exact: first].
Qed.

Lemma opt_secure_plain (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_secure_by (fun _ => g) d fails marks shown l F M0 ->
  (forall (s : block S) (cs : seq (call * order Fault)),
     let r := opt_run_calls S l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => g) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek S d shown l r.2 q =
       opt_image d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (forall A : opt_adversary S Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|plain_prg_adv (zero_block S) g (opt_distinguisher g d fails marks shown l M0 predT A)|) /\
  (forall (A : opt_adversary S Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero_block S) g
           (opt_distinguisher g d fails marks shown l M0 (first_leaves 0 q) A)|).
Proof.
case=> calls [all first]; split; first exact: calls.
split=> [A|A q B]; rewrite /opt_distinguisher -prg_adv_constant; [exact: all | exact: first].
Qed.

End Plain.

(* ---- SHA3-256 ---------------------------------------------------------------------------------------- *)

Lemma words_wrap lo hi :
  seed_of_words lo hi = seed_of_words (Z.modulo lo (Z.pow 2 64)) (Z.modulo hi (Z.pow 2 64)).
Proof.
have E v : word_bits_of v = word_bits_of (Z.modulo v (Z.pow 2 64)).
  apply/eq_in_map => i; rewrite mem_iota => /andP [_ /ltP i64].
  by rewrite Z.mod_pow2_bits_low //; move: i64; rewrite -plusE; lia.
apply: eqtype.val_inj.
change (tval (seed_of_words lo hi) =
  tval (seed_of_words (Z.modulo lo (Z.pow 2 64)) (Z.modulo hi (Z.pow 2 64)))).
by rewrite !seed_of_wordsE -!E.
Qed.

Lemma keccak_halves p s : List.In p keccak_functions ->
  (keccak_child p false s, keccak_child p true s) = sha3_prg s.
Proof.
move=> pk; have [loB hiB sE] := proj2 sha3_suite_ok s.
have [l0 [l1 [r0 [r1 [R B]]]]] :=
  keccak_is_the_suite (Z.to_N (number (take 64 s))) (Z.to_N (number (drop 64 s))) pk.
rewrite /keccak_child R -B; congr sha3_prg; rewrite !Z2N.id; first exact: sE.
  by case: hiB.
by case: loB.
Qed.

Lemma keccak_suite_ok p : suite_ok (keccak_suite p).
Proof. exact: sha3_suite_ok. Qed.

Theorem opt_sha3_secure (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> order Fault -> Z)
    (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z) (shown : seq pointer) (l : opt_layout)
    (F : opt_functions Fault) (M0 : memory) :
  opt_meets_contracts sha3_suite d fails marks shown l F M0 -> opt_ready sha3_suite d shown l M0 ->
  (* results and memory are the model's *)
  (forall (s : block sha3_suite) (cs : seq (call * order Fault)),
     let r := opt_run_calls sha3_suite l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek sha3_suite d shown l r.2 q =
       @opt_image sha3_suite d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (* so whoever chooses the calls and reads memory must break SHA3-256 *)
  (forall A : opt_adversary sha3_suite Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|plain_prg_adv (zero128 : block sha3_suite) sha3_prg
           (opt_distinguisher (S := sha3_suite) sha3_prg d fails marks shown l M0 predT A)|) /\
  (forall (A : opt_adversary sha3_suite Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : block sha3_suite) sha3_prg
           (opt_distinguisher (S := sha3_suite) sha3_prg d fails marks shown l M0 (first_leaves 0 q) A)|).
Proof.
move=> meets rdy.
exact: (@opt_secure_plain sha3_suite sha3_prg d Fault fails marks shown l F M0
          (@opt_suite_secure sha3_suite sha3_suite_ok words_wrap d (fun _ => sha3_prg) (fun _ _ => erefl) Fault
             fails marks shown l F M0 meets rdy)).
Qed.

Theorem packed_sha3_secure (d : nat) (Fault : Type) (hidden : pred pointer) (l : packed_layout)
    (F : opt_functions Fault) (U : AcslRef.pprf_seed -> memory) :
  packed_meets_contracts sha3_suite d hidden l F U -> packed_ready sha3_suite d hidden l U ->
  @packed_secure_by sha3_suite d Fault hidden l F U (fun _ => sha3_prg).
Proof. exact: (@packed_suite_secure sha3_suite sha3_suite_ok words_wrap d _ (fun _ _ => erefl)). Qed.

(* The same if the contracts' PRG is what one of the C functions computes. *)
Theorem ref_code_secure (p : program) (d : nat) (Fault : Type) (fails : seq (Z * Z) -> call -> Fault -> Z)
    (l : layout) (F : functions Fault) (M0 : memory) :
  List.In p keccak_functions ->
  meets_contracts (keccak_suite p) d fails l F -> ready d l M0 -> cleared l M0 ->
  (forall (s : block (keccak_suite p)) (cs : seq (call * Fault)),
     let r := run_calls (keccak_suite p) l F (set_up l F M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, cell r.2 q = @image (keccak_suite p) d l M0 m.2 q) /\
  (forall A : ref_adversary (keccak_suite p) Fault,
     `|ref_adv d l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|plain_prg_adv (zero128 : block (keccak_suite p)) sha3_prg
           (ref_distinguisher (S := keccak_suite p) sha3_prg d fails l M0 predT A)|) /\
  (forall (A : ref_adversary (keccak_suite p) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|ref_adv d l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : block (keccak_suite p)) sha3_prg
           (ref_distinguisher (S := keccak_suite p) sha3_prg d fails l M0 (first_leaves 0 q) A)|).
Proof.
move=> pk meets rdy ty.
exact: (@ref_secure_plain (keccak_suite p) sha3_prg d Fault fails l F M0
          (@ref_suite_secure (keccak_suite p) (keccak_suite_ok p) d (fun _ => sha3_prg)
             (fun _ s => keccak_halves s pk) Fault fails l F M0 meets rdy ty)).
Qed.

Theorem opt_code_secure (p : program) (d : nat) (Fault : Type)
    (fails : seq (Z * Z) -> call -> order Fault -> Z) (marks : seq (Z * Z) -> seq Z -> call -> order Fault -> seq Z)
    (shown : seq pointer) (l : opt_layout) (F : opt_functions Fault) (M0 : memory) :
  List.In p keccak_functions ->
  opt_meets_contracts (keccak_suite p) d fails marks shown l F M0 ->
  opt_ready (keccak_suite p) d shown l M0 ->
  (forall (s : block (keccak_suite p)) (cs : seq (call * order Fault)),
     let r := opt_run_calls (keccak_suite p) l F (opt_set_up l M0 (words_of s)) (words_of s) cs in
     let m := model_calls d fails (fun _ => sha3_prg) (keygen s) cs in
     r.1 = m.1 /\ forall q : pointer, opt_peek (keccak_suite p) d shown l r.2 q =
       @opt_image (keccak_suite p) d shown l M0 (marked d marks (keygen tt) (map (cell M0) shown) cs m.1) m.2 q) /\
  (forall A : opt_adversary (keccak_suite p) Fault,
     `|opt_adv d shown l F M0 A| <= (2 * (2 ^ d).-1)%:R *
       `|plain_prg_adv (zero128 : block (keccak_suite p)) sha3_prg
           (opt_distinguisher (S := keccak_suite p) sha3_prg d fails marks shown l M0 predT A)|) /\
  (forall (A : opt_adversary (keccak_suite p) Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|opt_adv d shown l F M0 A| <= (2 * (q + d).-1)%:R *
       `|plain_prg_adv (zero128 : block (keccak_suite p)) sha3_prg
           (opt_distinguisher (S := keccak_suite p) sha3_prg d fails marks shown l M0 (first_leaves 0 q) A)|).
Proof.
move=> pk meets rdy.
exact: (@opt_secure_plain (keccak_suite p) sha3_prg d Fault fails marks shown l F M0
          (@opt_suite_secure (keccak_suite p) (keccak_suite_ok p) words_wrap d (fun _ => sha3_prg)
             (fun _ s => keccak_halves s pk) Fault fails marks shown l F M0 meets rdy)).
Qed.

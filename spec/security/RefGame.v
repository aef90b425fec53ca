(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of EvaluationGame.v played with ref's C functions on C's memory. Definitions only.

   A device has ref's array, its length and a buffer for a value in memory, besides anything else.
   Set-up fills it with a uniform root seed. Then the adversary calls ref_eval, ref_eval_punct and
   ref_punct_range, each call chosen after all earlier answers, and reads memory.

   The functions may do anything to memory (functions): the only fact used about them is that they
   meet the contracts of ref/core.h, as proofs/tools/acsl.py translates them (meets_contracts).

   PRG failures: with each call the adversary says what must fail (Fault is any type), and any
   function of that, of the call and of the nodes' positions (fails) says whether the call ends
   in an error. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Suites: seeds in two words, and the PRG on them -------------------------------------- *)

Record suite : Type := Suite {
  block : finType;                                  (* a seed *)
  zero_block : block;
  from_words : Z -> Z -> block;                     (* the members lo and hi of a pprf_seed *)
  low_word : block -> Z;
  high_word : block -> Z;
  family_words : pprf_family;                       (* what C's functions are told about it *)
  left_child : block -> Z -> Z -> block;            (* of a node's seed, its start and height *)
  right_child : block -> Z -> Z -> block
}.

(* Two words are a seed, and a seed is two words. *)
Definition suite_ok (S : suite) : Prop :=
  (forall lo hi, c_uint64_t lo -> c_uint64_t hi ->
     low_word (from_words S lo hi) = lo /\ high_word (from_words S lo hi) = hi) /\
  (forall s : block S, [/\ c_uint64_t (low_word s), c_uint64_t (high_word s) &
                           from_words S (low_word s) (high_word s) = s]).

(* The contracts' logic functions for this PRG.  No function here uses the digest. *)
Definition suite_logic (S : suite) : logic := defined
  {| seed_t := block S; seed_from_words := from_words S; prg_l := @left_child S; prg_r := @right_child S;
     is_family := fun s lo hi => pprf_family_intro s lo hi = family_words S;
     prg_failed := fun _ => True;
     message_t := unit; no_bytes := tt; then_ := fun _ _ => tt; digest := fun _ _ => 0%Z;
     AcslRef.pow2 := id; is_node := fun _ _ _ => false; node_seed := fun R _ _ _ => R;
     message_of := fun _ _ _ => tt; byte := fun v _ => v |}.

(* The suite's PRG at the nodes of the tree of depth d, in the model's form. *)
Definition suite_prg (S : suite) (d : nat) : bitseq -> block S -> block S * block S :=
  @acsl_family (suite_logic S) d.

Definition words_of (S : suite) (s : block S) : pprf_seed :=
  pprf_seed_intro (low_word s) (high_word s).

(* ---- Calls --------------------------------------------------------------------------------- *)

Definition uint64 := {x : N | (x <? 2 ^ 64)%num}.

Inductive call : Type :=
| EvalCall of uint64                      (* ref_eval *)
| EvalPunctCall of uint64                 (* ref_eval_punct *)
| RangeCall of uint64 & uint64.           (* ref_punct_range *)

(* The leaf whose value the call asks for; the leaves that it punctures if it succeeds. *)
Definition target (c : call) : option N :=
  match c with
  | EvalCall x | EvalPunctCall x => Some (sval x)
  | RangeCall _ _ => None
  end.

Definition erases (c : call) (x : N) : bool :=
  match c with
  | EvalCall _ => false
  | EvalPunctCall y => x =? sval y
  | RangeCall first last => (sval first <=? x) && (x <=? sval last)
  end%num.

Section RefGame.
Variable S : suite.
Variable d : nat.                                   (* the tree's depth *)
Variable Fault : Type.
Variable fails : seq (Z * Z) -> call -> Fault -> Z. (* PPRF_OK, or the error of the PRG *)
Local Notation V := (suite_logic S).
Local Notation Seed := (block S).

(* ---- Memory -------------------------------------------------------------------------------- *)

Record layout : Type := Layout {
  nodes : pointer;      (* the array *)
  room : Z;             (* how many nodes it holds *)
  count : pointer;      (* its length *)
  buffer : pointer      (* where values go *)
}.
Variable l : layout.

Definition array_cells : AcslMemory.region := span ref_node_cells (nodes l) 0 (room l - 1).
Definition count_cell : AcslMemory.region := span 1 (count l) 0 0.
Definition buffer_cells : AcslMemory.region := span pprf_seed_cells (buffer l) 0 0.

(* Memory before set-up: there is an array with room for every key of this depth. *)
Definition ready (M : memory) : Prop :=
  [/\ (0 < d <= 32)%N, (Z.of_nat (2 ^ d.-1 + 2 * d) <= room l <= REF_NODES_MAX)%Z,
      writable M array_cells /\ readable M array_cells,
      writable M count_cell /\ writable M buffer_cells &
      separated [:: array_cells; count_cell; buffer_cells]].

(* The array is empty, as calloc gives it. *)
Definition cleared (M : memory) : Prop := forall q, array_cells q -> cell M q = 0%Z.

(* C's types: the values in the array have at most 64 bits. *)
Definition typed (M : memory) : Prop := forall q, array_cells q -> c_uint64_t (cell M q).

(* Nothing here allocates: other cells, the same rights. *)
Definition with_cells (M : memory) (c : pointer -> Z) : memory := Memory c (may_read M) (may_write M).

Definition poke (M : memory) (p : pointer) (v : Z) : memory :=
  with_cells M (fun q => if (fst q =? fst p)%Z && (snd q =? snd p)%Z then v else cell M q).

(* The positions of the nodes that the array holds: starts and heights. *)
Definition places_in (M : memory) : seq (Z * Z) :=
  mkseq (fun k => let c := ref_node_at M (shift ref_node_cells (nodes l) (Z.of_nat k)) in
                  (ref_node_start c, ref_node_height c)) (Z.to_nat (cell M (count l))).

(* ---- The functions ------------------------------------------------------------------------- *)

(* What the functions leave in memory, and their results.  R is the words of their constant root. *)
Record functions : Type := Functions {
  does_setup : memory -> pprf_seed -> pointer -> Z;
  does_eval : memory -> pprf_seed -> N -> Fault -> Z * (pointer -> Z);
  does_eval_punct : memory -> pprf_seed -> N -> Fault -> Z * (pointer -> Z);
  does_punct_range : memory -> pprf_seed -> N -> N -> Fault -> Z * (pointer -> Z)
}.
Variable F : functions.

(* Success and the PRG's errors are as [fails] says. *)
Definition obeys (M : memory) (c : call) (f : Fault) (result : Z) : Prop :=
  result = PPRF_OK \/ prg_error V result -> result = fails (places_in M) c f.

Definition does (M : memory) (R : pprf_seed) (c : call) (f : Fault) : Z * (pointer -> Z) :=
  match c with
  | EvalCall x => does_eval F M R (sval x) f
  | EvalPunctCall x => does_eval_punct F M R (sval x) f
  | RangeCall first last => does_punct_range F M R (sval first) (sval last) f
  end.

Definition contract_of (c : call) (Pre Post : memory) (R : pprf_seed) (result : Z) : Prop :=
  let n := cell Pre (count l) in
  let D := Z.of_nat d in
  match c with
  | EvalCall x =>
      ref_eval_contract V Pre Post (nodes l) n D (family_words S) (Z.of_N (sval x)) (buffer l)
        R result
  | EvalPunctCall x =>
      ref_eval_punct_contract V Pre Post (nodes l) (count l) (room l) D (family_words S)
        (Z.of_N (sval x)) (buffer l) R result
  | RangeCall first last =>
      ref_punct_range_contract V Pre Post (nodes l) (count l) (room l) D (family_words S)
        (Z.of_N (sval first)) (Z.of_N (sval last)) R result
  end.

Definition meets_contracts : Prop :=
  (forall M R, let M' := with_cells M (does_setup F M R) in
     ref_setup_contract V M M' (nodes l) (Z.of_nat d) R /\ (typed M -> typed M')) /\
  (forall M R c f, let: (result, cells) := does M R c f in let M' := with_cells M cells in
     [/\ contract_of c M M' R result, obeys M c f result & typed M -> typed M']).

(* ---- The device ---------------------------------------------------------------------------- *)

(* The wrapper of ref/pprf.c: it sets the length, takes the value out of the buffer and wipes it. *)
Definition wipe_buffer (M : memory) : memory :=
  poke (poke M (shift 1 (buffer l) 0) 0) (shift 1 (buffer l) 1) 0.

Definition set_up (M : memory) (R : pprf_seed) : memory :=
  wipe_buffer (poke (with_cells M (does_setup F M R)) (count l) 1).

Definition perform (M : memory) (R : pprf_seed) (c : call) (f : Fault) : Z * option Seed * memory :=
  let: (result, cells) := does M R c f in
  let M' := with_cells M cells in
  (result, if (result =? PPRF_OK)%Z && isSome (target c) then Some (seed_value V (pprf_seed_at M' (buffer l)))
           else None, wipe_buffer M').

(* A list of calls: the results and values, and the final memory. *)
Fixpoint run_calls (M : memory) (R : pprf_seed) (cs : seq (call * Fault)) :
  seq (Z * option Seed) * memory :=
  if cs is (c, f) :: cs' then
    let: (result, v, M') := perform M R c f in
    let: (rs, M'') := run_calls M' R cs' in ((result, v) :: rs, M'')
  else ([::], M).

(* ---- The same in the model's terms --------------------------------------------------------- *)

Section Model.
Variable T : Type.
Variable G : bitseq -> T -> T * T.

(* Starts and heights of a key's nodes. *)
Definition places (K : key T) : seq (Z * Z) :=
  [seq (Z.of_N (first_leaf d n.1), Z.of_nat (d - size n.1)) | n <- K].

(* The region of a call, if it is one that punctures. *)
Definition call_region (c : call) : option region :=
  match c with
  | EvalCall _ => None
  | EvalPunctCall x => Some (Leaf (leaf_path d (sval x)))
  | RangeCall first last => Some (Range (leaf_path d (sval first)) (leaf_path d (sval last)))
  end.

Definition puncture_call (c : call) (K : key T) : key T :=
  if call_region c is Some r then puncture_region G r K else K.

(* The result of a call, which is determined by the positions of the nodes. *)
Definition result_of (K : key T) (c : call) (f : Fault) : Z :=
  let outside :=
    match c with
    | EvalCall x | EvalPunctCall x => CModel.pow2 d <=? sval x
    | RangeCall first last => (sval last <? sval first) || (CModel.pow2 d <=? sval last)
    end%num in
  let some_alive :=
    match c with
    | EvalCall x | EvalPunctCall x => alive K (leaf_path d (sval x))
    | RangeCall first last =>
        has_leaf d (fun y => in_region (Range (leaf_path d (sval first)) (leaf_path d (sval last))) y
                        && alive K y)
    end in
  if outside then PPRF_ERR_RANGE else if some_alive then fails (places K) c f
  else PPRF_ERR_PUNCTURED.

(* The value that it returns. *)
Definition value_of (K : key T) (c : call) : option T :=
  if target c is Some x then eval G K (leaf_path d x) else None.

Fixpoint model_calls (K : key T) (cs : seq (call * Fault)) : seq (Z * option T) * key T :=
  if cs is (c, f) :: cs' then
    let r := result_of K c f in
    let ok := (r =? PPRF_OK)%Z in
    let: (rs, K') := model_calls (if ok then puncture_call c K else K) cs' in
    ((r, if ok then value_of K c else None) :: rs, K')
  else ([::], K).

End Model.

(* The memory of a device that holds the key K, cell by cell: the nodes in leaf order, the
   length, the empty buffer, and everything else as before set-up. *)
Definition node_cell (n : Ggm.node Seed) (j : Z) : Z :=
  (if j =? 0 then Z.of_N (first_leaf d n.1) else if j =? 1 then Z.of_nat (d - size n.1)
   else if j =? 2 then low_word n.2 else high_word n.2)%Z.

Definition image (M0 : memory) (K : key Seed) (q : pointer) : Z :=
  let o := (snd q - snd (nodes l))%Z in
  let here (p : pointer) (n : Z) := (fst q =? fst p)%Z && (snd p <=? snd q)%Z && (snd q <? snd p + n)%Z in
  if here (nodes l) (ref_node_cells * room l)%Z then
    nth 0%Z (flatten [seq [seq node_cell n j | j <- [:: 0; 1; 2; 3]%Z] | n <- K]) (Z.to_nat o)
  else if here (count l) 1%Z then Z.of_nat (size K)
  else if here (buffer l) pprf_seed_cells then 0%Z
  else cell M0 q.

(* ---- The game ------------------------------------------------------------------------------ *)

(* The use of a call's value: the adversary gets it; it is a challenge, that is, the adversary
   gets the value or, in the ideal world, a uniform seed; or it is discarded. *)
Variant use : Type := Take | Test | Drop.

Inductive ref_query : Type :=
| Call of call & use & Fault
| Steal of seq pointer.                   (* read memory at these addresses *)

Definition ref_reply (q : ref_query) : Type :=
  match q with
  | Call _ _ _ => option (Z * option Seed)  (* None: refused; else the result and the value *)
  | Steal _ => option (seq Z)               (* None: refused *)
  end.

Definition ref_adversary := adversary ref_reply.

(* The memory; the leaves that calls have punctured; those whose value the adversary has, or for
   which it has a key; and the challenge leaves. *)
Record ref_state (T : Type) := RefState {
  mem : T; erased : pred N; known : pred N; challenged : seq N
}.

Definition living (T : Type) (st : ref_state T) (x : N) : bool :=
  (x <? CModel.pow2 d)%num && ~~ erased st x.

(* The rule: a challenge leaf is never revealed.  The caller refuses calls that break it. *)
Definition permitted (T : Type) (st : ref_state T) (q : ref_query) : bool :=
  match q with
  | Call c u _ =>
      match target c, u with
      | Some x, Take => x \notin challenged st
      | Some x, Test => ~~ known st x && (x \notin challenged st)
      | _, _ => true
      end
  | Steal _ => ~~ has (living st) (challenged st)
  end.

(* After a successful call, and after a theft. *)
Definition called (T : Type) (c : call) (u : use) (m : T) (st : ref_state T) : ref_state T :=
  RefState m (fun y => erases c y || erased st y)
    (fun y => (if (target c, u) is (Some x, Take) then y == x else false) || known st y)
    (if (target c, u) is (Some x, Test) then x :: challenged st else challenged st).

Definition stolen (T : Type) (st : ref_state T) : ref_state T :=
  RefState (mem st) (erased st) (fun y => living st y || known st y) (challenged st).

Definition hand_out (w : world) (u : use) (v : option Seed) : prog (option Seed) :=
  match u, v with
  | Take, Some y => Ret (Some y)
  | Test, Some y => z <-$ answer (zero_block S) w y ;; Ret (Some z)
  | _, _ => Ret None
  end.

(* What a device answers whose calls are [act], which a thief reads by [peek]. *)
Definition memory_oracle (act : memory -> call -> Fault -> Z * option Seed * memory) (peek : memory -> pointer -> Z)
  (w : world) (st : ref_state memory) (q : ref_query) : prog (ref_reply q * ref_state memory) :=
  match q with
  | Call c u f =>
      if permitted st (Call c u f) then
        let: (result, v, M) := act (mem st) c f in
        if (result =? PPRF_OK)%Z then
          y <-$ hand_out w u v ;; Ret (Some (result, y), called c u M st)
        else Ret (Some (result, None), RefState M (erased st) (known st) (challenged st))
      else Ret (None, st)
  | Steal qs =>
      if permitted st (Steal qs) then Ret (Some (map (peek (mem st)) qs), stolen st)
      else Ret (None, st)
  end.

Definition start_of (T : Type) (m : T) : ref_state T := RefState m pred0 pred0 [::].

(* M0 is memory before set-up. *)
Definition ref_game (M0 : memory) (w : world) (A : ref_adversary) : prog bool :=
  s <-$ unif (zero_block S) ;;
  interact (fun _ b => b) (memory_oracle (fun M => perform M (words_of s)) cell w) (start_of (set_up M0 (words_of s))) A.

Definition ref_adv (M0 : memory) (A : ref_adversary) : rat :=
  (Pr (ref_game M0 Real A) - Pr (ref_game M0 Ideal A))%R.

(* All challenges are on leaves below q, as when they are issued in order. *)
Fixpoint tests_below_leaf (q : N) (A : ref_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, tests_below_leaf q (k x)
  | Ask a k =>
      (if a is Call c Test _ then if target c is Some x then (x < q)%num else True else True) /\
      forall y, tests_below_leaf q (k y)
  end.

(* ---- The adversary against the model made from it ------------------------------------------ *)

(* It plays the device on the positions of the nodes, asks for values, and computes the memory
   from the key that it gets when memory is stolen. *)
Definition path_of (x : N) : leaf d := insubd (nseq_tuple d false) (leaf_path d x).

Definition ask_value (c : call) (u : use) (k : option Seed -> ev_adversary Seed d) :
  ev_adversary Seed d :=
  match target c, u with
  | Some x, Take => @Ask _ (@ev_reply Seed d) (Evaluate (path_of x)) k
  | Some x, Test => @Ask _ (@ev_reply Seed d) (Challenge (path_of x)) k
  | _, _ => k None
  end.

Definition ask_puncture (c : call) (A : ev_adversary Seed d) : ev_adversary Seed d :=
  if call_region c is Some r then
    if insub r is Some ok then @Ask _ (@ev_reply Seed d) (Punct ok) (fun _ => A) else A
  else A.

Definition whole_key : {p : bitseq | (size p <= d)%N} := exist _ [::] isT.

Fixpoint as_model (M0 : memory) (st : ref_state (key unit)) (A : ref_adversary) :
  ev_adversary Seed d :=
  match A with
  | Conclude b => Conclude _ b
  | Random X x0 k => Random x0 (fun x => as_model M0 st (k x))
  | Ask q k =>
      match q return (ref_reply q -> ref_adversary) -> ev_adversary Seed d with
      | Call c u f => fun k =>
          if permitted st (Call c u f) then
            let r := result_of (mem st) c f in
            if (r =? PPRF_OK)%Z then
              ask_value c u (fun y => ask_puncture c
                (as_model M0 (called c u (puncture_call no_seed c (mem st)) st) (k (Some (r, y)))))
            else as_model M0 st (k (Some (r, None)))
          else as_model M0 st (k None)
      | Steal qs => fun k =>
          if permitted st (Steal qs) then
            @Ask _ (@ev_reply Seed d) (Reveal whole_key) (fun K =>
              as_model M0 (stolen st) (k (Some (map (image M0 (odflt [::] K)) qs))))
          else as_model M0 st (k None)
      end k
  end.

Definition against_model (M0 : memory) (A : ref_adversary) : ev_adversary Seed d :=
  as_model M0 (start_of (keygen tt)) A.

End RefGame.

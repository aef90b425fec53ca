(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of RefGame.v played with opt's API on C's memory. Definitions only.

   A device has a struct pprf_key in memory, with its bitmap and its slots, and 16 bytes for a
   value, besides anything else. Set-up writes a uniform root seed into the first slot. Then the
   adversary calls pprf_eval, pprf_punct, pprf_eval_punct and pprf_punct_range, each call chosen
   after all earlier answers, and reads memory. Calls, rules and answers are those of RefGame.v.

   The only facts used about the functions are that they meet the contracts of opt/core.c, as
   proofs/tools/acsl_api.py translates them (meets_contracts), and what [obeys] says: when a call
   succeeds, and which words of the bitmap it leaves, does not depend on seeds. The contracts
   determine which leaves the bitmap marks but not its words, since one set of leaves can be
   marked at several levels: so the words that a thief can see are named (shown), and there may
   be none. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore.
From mathcomp Require Import all_ssreflect ssralg rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame RefGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Record opt_layout : Type := OptLayout {
  key_at : pointer;          (* the struct pprf_key *)
  value_at : pointer;        (* 16 bytes, where values go *)
  process : Z;               (* the number of this process *)
  leads : Z -> pointer;      (* where a pointer that memory holds leads *)
  nowhere : pointer          (* NULL *)
}.

(* Cells of memory; whether a cell is in one of the elements lo to hi at p, each of the given
   number of cells. *)
Definition same_cell (p q : pointer) : bool := ((fst q =? fst p) && (snd q =? snd p))%Z.
Definition lies_in (n : Z) (p : pointer) (lo hi : Z) (q : pointer) : bool :=
  [&& fst q =? fst p, snd p + n * lo <=? snd q & snd q <? snd p + n * (hi + 1)]%Z.

(* The value recorded for the cell q. *)
Fixpoint noted (ps : seq pointer) (vs : seq Z) (q : pointer) : Z :=
  match ps, vs with
  | p :: ps', v :: vs' => if same_cell p q then v else noted ps' vs' q
  | _, _ => 0%Z
  end.

Section OptGame.
Variable S : suite.
Variable d : nat.                                     (* the tree's depth *)
Variable Fault : Type.

(* What must fail; and whether a range of one leaf is punctured with pprf_punct. *)
Definition order : Type := (Fault * bool)%type.
Variable fails : seq (Z * Z) -> call -> order -> Z.   (* PPRF_OK, or the error of the PRG *)
(* Words of the bitmap after a call, of where the key's nodes were and of these words; and where the words are. *)
Variable marks : seq (Z * Z) -> seq Z -> call -> order -> seq Z.
Variable shown : seq pointer.
Variable l : opt_layout.
Local Notation Seed := (block S).
Local Notation store := (store_of (key_at l)).

(* The contracts' logic for a root seed: key_root is the words of their constant root. *)
Definition opt_logic (R : pprf_seed) : api :=
  api_of (suite_logic S) R (process l) (leads l) (nowhere l).
Local Notation V0 := (opt_logic (pprf_seed_intro 0 0)).   (* for what does not depend on it *)

(* ---- Memory -------------------------------------------------------------------------------- *)

Definition slots_at (M : memory) : pointer := leads l (cell M (shift 1 store 10)).
Definition slots : Z := Z.of_N (CModel.pow2 d.-1).
Definition slot_cells (M : memory) : AcslMemory.region := span pprf_seed_cells (slots_at M) 0 (slots - 1).
Definition count_at : pointer := shift 1 store 9.

(* The cells of the bitmap's words: leaves, and five levels above them. *)
Definition in_bitmap (M : memory) (q : pointer) : bool :=
  lies_in 1 (leads l (cell M (shift 1 store 2))) 0 (words V0 (Z.of_nat d) 0 - 1) q ||
  has (fun k => lies_in 2 (leads l (cell M (shift 1 (shift 1 store 3) k))) 0
                        (words V0 (Z.of_nat d) k - 1) q) [:: 1; 2; 3; 4; 5]%Z.

(* Memory before set-up: a key of this process and suite, with pair slots, without seeds and
   with no leaf punctured; the parts of the key are separate from the rest; and the shown words
   are words of its bitmap. *)
Definition opt_ready (M : memory) : Prop :=
  [/\ (0 < d <= 32)%N /\ cell M store = Z.of_nat d,
      (key_at l <> nowhere l /\ ~ copied V0 M (key_at l) /\ tree_family V0 (family_of M (key_at l))) /\
        (writable M (span key_cells (key_at l) 0 0) /\ in_slots V0 M (key_at l)),
      opened V0 M store /\ (forall x, (x < CModel.pow2 d)%num -> ~ AcslOpt.is_punctured V0 M store (Z.of_N x)),
      (forall q, slot_cells M q -> cell M q = 0%Z) /\ (forall q, value_cells (value_at l) q -> cell M q = 0%Z) &
      (key_apart V0 M (key_at l) /\ apart_value V0 M (key_at l) (value_at l)) /\
        all (in_bitmap M) shown].

(* C's types: the values in the slots have at most 64 bits. *)
Definition opt_typed (M : memory) : Prop := forall q, slot_cells M q -> c_uint64_t (cell M q).

(* The positions of the nodes that the key holds: starts and heights, according to the bitmap. *)
Definition gaps_in (M : memory) : seq (Z * Z) :=
  places d (cover no_seed d (fun y => is_punctured_b V0 M store (Z.of_N (leaf_num y))) [::] tt).

(* ---- The functions ------------------------------------------------------------------------- *)

(* What the functions leave in memory, and their results. R is the words of their constant root. *)
Record opt_functions : Type := OptFunctions {
  api_eval : memory -> pprf_seed -> N -> Fault -> Z * (pointer -> Z);
  api_punct : memory -> pprf_seed -> N -> Fault -> Z * (pointer -> Z);
  api_eval_punct : memory -> pprf_seed -> N -> Fault -> Z * (pointer -> Z);
  api_punct_range : memory -> pprf_seed -> N -> N -> Fault -> Z * (pointer -> Z)
}.
Variable F : opt_functions.

(* Success and the PRG's errors are as [fails] says, the bitmap's words as [marks] says. *)
Definition opt_obeys (M : memory) (c : call) (o : order) (result : Z) (M' : memory) : Prop :=
  (result = PPRF_OK \/ prg_error V0 result -> result = fails (gaps_in M) c o) /\
  (result = PPRF_OK -> map (cell M') shown = marks (gaps_in M) (map (cell M) shown) c o).

Definition opt_does (M : memory) (R : pprf_seed) (c : call) (o : order) : Z * (pointer -> Z) :=
  match c with
  | EvalCall x => api_eval F M R (sval x) o.1
  | EvalPunctCall x => api_eval_punct F M R (sval x) o.1
  | RangeCall first last =>
      if o.2 && (sval first =? sval last)%num then api_punct F M R (sval first) o.1
      else api_punct_range F M R (sval first) (sval last) o.1
  end.

Definition opt_contract_of (c : call) (o : order) (Pre Post : memory) (R : pprf_seed) (result : Z) : Prop :=
  match c with
  | EvalCall x => pprf_eval_contract (opt_logic R) Pre Post (key_at l) (Z.of_N (sval x)) (value_at l) result
  | EvalPunctCall x =>
      pprf_eval_punct_contract (opt_logic R) Pre Post (key_at l) (Z.of_N (sval x)) (value_at l) result
  | RangeCall first last =>
      if o.2 && (sval first =? sval last)%num then
        pprf_punct_contract (opt_logic R) Pre Post (key_at l) (Z.of_N (sval first)) result
      else pprf_punct_range_contract (opt_logic R) Pre Post (key_at l) (Z.of_N (sval first))
             (Z.of_N (sval last)) result
  end.

(* The parts of the memory M0 that calls may change: the number of seeds, slots, bitmap and
   value. *)
Definition opt_changeable (M0 : memory) : seq AcslMemory.region :=
  store_memory V0 M0 store ++ [:: value_cells (value_at l)].

(* Required of memory in which the rest is as in M0. *)
Definition opt_meets_contracts (M0 : memory) : Prop :=
  forall M R c o, may_read M = may_read M0 -> may_write M = may_write M0 -> unchanged M0 M (opt_changeable M0) ->
    let: (result, cells) := opt_does M R c o in let M' := with_cells M cells in
    [/\ opt_contract_of c o M M' R result, opt_obeys M c o result M' & opt_typed M -> opt_typed M'].

(* ---- The device ---------------------------------------------------------------------------- *)

(* Set-up: writes the root seed into the first slot, as the only seed. *)
Definition opt_set_up (M : memory) (R : pprf_seed) : memory :=
  poke (poke (poke M count_at 1) (slots_at M) (pprf_seed_lo R)) (shift 1 (slots_at M) 1) (pprf_seed_hi R).

(* The caller takes the value out of its 16 bytes, as two little-endian words, and wipes them. *)
Definition bytes_word (M : memory) (p : pointer) : Z :=
  foldr (fun k v => cell M (shift 1 p k) + 256 * v)%Z 0%Z [:: 0; 1; 2; 3; 4; 5; 6; 7]%Z.
Definition value_in (M : memory) : Seed :=
  from_words S (bytes_word M (value_at l)) (bytes_word M (shift 1 (value_at l) 8)).
Definition wipe_value (M : memory) : memory :=
  with_cells M (fun q => if lies_in 1 (value_at l) 0 15 q then 0%Z else cell M q).

Definition opt_perform (M : memory) (R : pprf_seed) (c : call) (o : order) : Z * option Seed * memory :=
  let: (result, cells) := opt_does M R c o in
  let M' := with_cells M cells in
  (result, if (result =? PPRF_OK)%Z && isSome (target c) then Some (value_in M') else None, wipe_value M').

(* A list of calls: the results and values, and the final memory. *)
Fixpoint opt_run_calls (M : memory) (R : pprf_seed) (cs : seq (call * order)) :
  seq (Z * option Seed) * memory :=
  if cs is (c, o) :: cs' then
    let: (result, v, M') := opt_perform M R c o in
    let: (rs, M'') := opt_run_calls M' R cs' in ((result, v) :: rs, M'')
  else ([::], M).

(* What a thief can see: every cell of memory, except that only the shown words of the bitmap are
   visible. *)
Definition opt_peek (M : memory) (q : pointer) : Z :=
  if in_bitmap M q && ~~ has (fun p => same_cell p q) shown then 0%Z else cell M q.

(* ---- The same in the model's terms --------------------------------------------------------- *)

(* The shown words, after calls with these results; K gives the positions of the nodes. *)
Fixpoint marked (T : Type) (K : key unit) (ws : seq Z) (cs : seq (call * order)) (rs : seq (Z * T)) : seq Z :=
  match cs, rs with
  | (c, o) :: cs', (r, _) :: rs' =>
      if (r =? PPRF_OK)%Z then marked (puncture_call d no_seed c K) (marks (places d K) ws c o) cs' rs'
      else marked K ws cs' rs'
  | _, _ => ws
  end.

(* Word w of slot j: the node there, if there is one, starts with the j-th pair of leaves. *)
Definition slot_word (K : key Seed) (j w : Z) : Z :=
  if [seq n <- K | pair_of d n.1 =? j]%Z is n :: _ then
    if (w =? 0)%Z then low_word n.2 else high_word n.2
  else 0%Z.

(* The memory of a device that holds the key K, cell by cell: seeds in their slots, zero in the
   others, the number of seeds, no value, the bitmap's words, and everything else as before
   set-up. *)
Definition opt_image (M0 : memory) (ws : seq Z) (K : key Seed) (q : pointer) : Z :=
  let i := (snd q - snd (slots_at M0))%Z in
  if lies_in pprf_seed_cells (slots_at M0) 0 (slots - 1) q then slot_word K (i / 2) (i mod 2)
  else if same_cell count_at q then Z.of_nat (size K)
  else if lies_in 1 (value_at l) 0 15 q then 0%Z
  else if in_bitmap M0 q then noted shown ws q
  else cell M0 q.

(* ---- The game ------------------------------------------------------------------------------ *)

Definition opt_adversary := ref_adversary S order.

(* M0 is memory before set-up. *)
Definition opt_game (M0 : memory) (w : world) (A : opt_adversary) : prog bool :=
  s <-$ unif (zero_block S) ;;
  interact (fun _ b => b) (memory_oracle d (fun M => opt_perform M (words_of s)) opt_peek w) (start_of (opt_set_up M0 (words_of s))) A.

Definition opt_adv (M0 : memory) (A : opt_adversary) : rat :=
  (Pr (opt_game M0 Real A) - Pr (opt_game M0 Ideal A))%R.

(* ---- The adversary against the model made from it ------------------------------------------- *)

(* As for ref; besides the positions of the nodes it keeps the bitmap's words. *)
Fixpoint opt_as_model (M0 : memory) (st : ref_state (key unit * seq Z)) (A : opt_adversary) :
  ev_adversary Seed d :=
  match A with
  | Conclude b => Conclude _ b
  | Random X x0 k => Random x0 (fun x => opt_as_model M0 st (k x))
  | Ask q k =>
      match q return (@ref_reply S order q -> opt_adversary) -> ev_adversary Seed d with
      | Call c u o => fun k =>
          if permitted d st (Call c u o) then
            let: (K, ws) := mem st in
            let r := result_of d fails K c o in
            if (r =? PPRF_OK)%Z then
              ask_value c u (fun y => ask_puncture c
                (opt_as_model M0 (called c u (puncture_call d no_seed c K, marks (places d K) ws c o) st) (k (Some (r, y)))))
            else opt_as_model M0 st (k (Some (r, None)))
          else opt_as_model M0 st (k None)
      | Steal qs => fun k =>
          if permitted d st (Steal order qs) then
            @Ask _ (@ev_reply Seed d) (Reveal (whole_key d)) (fun K =>
              opt_as_model M0 (stolen d st)
                (k (Some (map (opt_image M0 (mem st).2 (odflt [::] K)) qs))))
          else opt_as_model M0 st (k None)
      end k
  end.

Definition opt_against_model (M0 : memory) (A : opt_adversary) : ev_adversary Seed d :=
  opt_as_model M0 (start_of (keygen tt, map (cell M0) shown)) A.

End OptGame.

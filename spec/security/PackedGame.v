(* SPDX-License-Identifier: Apache-2.0 *)
(* The game of RefGame.v played with opt's API on a key with the packed store. Definitions only.

   Set-up leaves, for each root seed, memory with a packed key of which no leaf is punctured. Then the
   adversary calls pprf_eval, pprf_punct, pprf_eval_punct and pprf_punct_range, each call chosen after all
   earlier answers, and reads memory. Calls, rules and answers are those of RefGame.v.

   The only facts used about the functions are that they meet the contracts of opt/core.c, as
   proofs/tools/acsl_api.py translates them, and that results and the memory's shape do not depend on seeds:
   from two packed keys of one shape, with the same leaves punctured, a call returns the same result and
   leaves one shape, whatever the root seeds are.  The shape is all that the thief sees but the seeds' places
   of the store's pages.  A call that fails may change it. *)
From Coq Require Import NArith ZArith.
From Pprf.spec Require Import AcslMemory AcslRef AcslKey AcslOpt AcslApi AcslStore AcslPacked KeyCalls PackedKey.
From mathcomp Require Import all_ssreflect ssralg ssrnum rat.
From Pprf.spec Require Import Ggm CModel Probability Games Reductions Oracle EvaluationGame RefGame OptGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Record packed_layout : Type := PackedLayout {
  place_of_key :> opt_layout;  (* key, value, process, pointers *)
  blocks_at : pointer;         (* the arena's blocks for pages *)
  firsts_at : pointer;         (* its blocks for indices: first leaves, and pages *)
  lists_at : pointer
}.

Section PackedGame.
Variable S : suite.
Variable d : nat.                    (* the tree's depth *)
Variable Fault : Type.
Variable hidden : pred pointer.      (* cells that the thief does not see *)
Variable l : packed_layout.
Variable F : opt_functions Fault.
Variable U : pprf_seed -> memory.    (* what set-up leaves, of the root seed's words *)
Local Notation Seed := (block S).
Local Notation order := (order Fault).

(* The contracts' logic for a root seed, with the definitions of what a packed store holds. *)
Definition packed_logic (R : pprf_seed) : paged :=
  packed_of (suite_logic S) R (process l) (leads l) (nowhere l) (blocks_at l) (firsts_at l) (lists_at l).
Local Notation V0 := (packed_logic (pprf_seed_intro 0 0)).   (* for what does not depend on it *)

(* ---- Memory -------------------------------------------------------------------------------- *)

Definition packed_at (M : memory) : pointer := leads l (cell M (shift 1 (store_of (key_at l)) 16)).

(* The cells for seeds in the arena: in each block, behind the header and the tiles. *)
Definition seed_cell (q : pointer) : bool :=
  lies_in 4612 (blocks_at l) 0 (OPT_PAGES_MAX - 1) q && (4100 <=? (snd q - snd (blocks_at l)) mod 4612)%Z.

(* The page of the store in which the cell is part of a seed's place. *)
Definition page_of (M : memory) (q : pointer) : option Z :=
  first_of (packed_pages M (packed_at M)) (fun i =>
    lies_in 2 (shift 1 (packed_page V0 M (packed_at M) i) 4100) 0 (OPT_PAGE_SEEDS - 1) q).

(* All that the thief sees but those places. *)
Definition shape (M : memory) (q : pointer) : Z :=
  if lies_in 1 (value_at l) 0 15 q || hidden q || isSome (page_of M q) then 0%Z else cell M q.

(* C's types. *)
Definition packed_typed (M : memory) : Prop :=
  c_uint8_t (cell M (value_at l)) /\ forall q, seed_cell q -> c_uint64_t (cell M q).

(* Access is as set-up left it. *)
Definition same_rights (M : memory) : Prop :=
  let M0 := U (words_of (zero_block S)) in may_read M = may_read M0 /\ may_write M = may_write M0.

(* A packed key of this root seed of which the leaves of P are punctured, and 16 bytes for a value. *)
Definition packed_in (M : memory) (s : Seed) (P : pred bitseq) : Prop :=
  [/\ packed V0 M (key_at l), holds_key (packed_logic (words_of s)) (key_at l) M d P,
      value_place V0 (key_at l) (value_at l) M, packed_typed M & same_rights M].

Definition packed_ready : Prop :=
  [/\ (0 < d <= 63)%N, forall q, hidden q -> seed_cell q,
      forall s : Seed, packed_in (U (words_of s)) s pred0 &
      forall (s s' : Seed) q, shape (U (words_of s)) q = shape (U (words_of s')) q].

(* ---- The functions ------------------------------------------------------------------------- *)

Definition key_call_of (c : call) (o : order) : key_call :=
  match c with
  | EvalCall x => Eval (sval x)
  | EvalPunctCall x => EvalPunct (sval x)
  | RangeCall first last =>
      if o.2 && (sval first =? sval last)%num then KeyCalls.Punct (sval first) else PunctRange (sval first) (sval last)
  end.

Definition packed_meets_contracts : Prop :=
  (forall M (s : Seed) P c o, packed_in M s P ->
     let: (result, cells) := opt_does F M (words_of s) c o in
     KeyCalls.contract_of (packed_logic (words_of s)) (key_at l) (value_at l) (key_call_of c o) M (with_cells M cells) result /\
     packed_typed (with_cells M cells)) /\
  (forall M M' (s s' : Seed) P c o, packed_in M s P -> packed_in M' s' P -> (forall q, shape M q = shape M' q) ->
     let r := opt_does F M (words_of s) c o in
     let r' := opt_does F M' (words_of s') c o in
     r.1 = r'.1 /\ forall q, shape (with_cells M r.2) q = shape (with_cells M' r'.2) q).

(* ---- The device ---------------------------------------------------------------------------- *)

Definition packed_perform (M : memory) (R : pprf_seed) (c : call) (o : order) : Z * option Seed * memory :=
  let r := opt_does F M R c o in
  let M' := with_cells M r.2 in
  (r.1, if (r.1 =? PPRF_OK)%Z && isSome (target c) then Some (value_in S l M') else None, M').

(* What a thief reads: every cell but the hidden ones that are no place of the store, and the value, which the
   caller has wiped by then. *)
Definition packed_peek (M : memory) (q : pointer) : Z :=
  if lies_in 1 (value_at l) 0 15 q || hidden q && ~~ isSome (page_of M q) then 0%Z else cell M q.

(* ---- The same in the model's terms --------------------------------------------------------- *)

(* The memory of a device that holds the key K and has the shape of M: in each place of a seed, what K gives the
   place's tile. *)
Definition packed_image (M : memory) (K : key Seed) (q : pointer) : Z :=
  if lies_in 1 (value_at l) 0 15 q then 0%Z
  else if page_of M q is Some i then
    let n := (snd q - snd (packed_page V0 M (packed_at M) i) - 4100)%Z in
    if @seed_of_place V0 M (packed_at M) d K i (OPT_PAGE_SEEDS - 1 - n / 2) is Some v then
      (if n mod 2 =? 0 then low_word (v : Seed) else high_word (v : Seed))%Z
    else 0%Z
  else if hidden q then 0%Z
  else cell M q.

(* ---- The game ------------------------------------------------------------------------------ *)

Definition packed_game (w : world) (A : opt_adversary S Fault) : prog bool :=
  s <-$ unif (zero_block S) ;;
  interact (fun _ b => b) (memory_oracle d (fun M => packed_perform M (words_of s)) packed_peek w) (start_of (U (words_of s))) A.

Definition packed_adv (A : opt_adversary S Fault) : rat :=
  (Pr (packed_game Real A) - Pr (packed_game Ideal A))%R.

(* ---- The adversary against the model made from it ------------------------------------------- *)

(* It keeps the positions of the nodes, and runs the functions on a device of its own whose root seed is zero: results
   and shape are the same there. *)
Definition dummy (M : memory) (c : call) (o : order) : Z * option Seed * memory :=
  packed_perform M (words_of (zero_block S)) c o.
Definition dummy_fails (m : key unit * memory) (_ : seq (Z * Z)) (c : call) (o : order) : Z := (dummy m.2 c o).1.1.
Definition dummy_after (m : key unit * memory) (c : call) (o : order) : key unit * memory :=
  (puncture_call d no_seed c m.1, (dummy m.2 c o).2).
Definition dummy_failed (m : key unit * memory) (c : call) (o : order) : key unit * memory :=
  (m.1, (dummy m.2 c o).2).

Fixpoint packed_as_model (st : ref_state (key unit * memory)) (A : opt_adversary S Fault) : ev_adversary Seed d :=
  match A with
  | Conclude b => Conclude _ b
  | Random X x0 k => Random x0 (fun x => packed_as_model st (k x))
  | Ask q k =>
      match q return (@ref_reply S order q -> opt_adversary S Fault) -> ev_adversary Seed d with
      | Call c u o => fun k =>
          if permitted d st (Call c u o) then
            let r := result_of d (dummy_fails (mem st)) (mem st).1 c o in
            if (r =? PPRF_OK)%Z then
              ask_value c u (fun y => ask_puncture c
                (packed_as_model (called c u (dummy_after (mem st) c o) st) (k (Some (r, y)))))
            else
              packed_as_model (RefState (dummy_failed (mem st) c o) (erased st) (known st) (challenged st))
                (k (Some (r, None)))
          else packed_as_model st (k None)
      | Steal qs => fun k =>
          if permitted d st (Steal order qs) then
            @Ask _ (@ev_reply Seed d) (Reveal (whole_key d)) (fun K =>
              packed_as_model (stolen d st) (k (Some (map (packed_image (mem st).2 (odflt [::] K)) qs))))
          else packed_as_model st (k None)
      end k
  end.

Definition packed_against_model (A : opt_adversary S Fault) : ev_adversary Seed d :=
  packed_as_model (start_of (keygen tt, U (words_of (zero_block S)))) A.

(* Whoever chooses the calls and reads memory must break the PRG H at a node, wherever the challenges are, and if they
   are among the first q leaves. *)
Definition packed_node_attack (H : bitseq -> Seed -> Seed * Seed) (C : pred bitseq) (A : opt_adversary S Fault) :
  prg_adversary Seed :=
  attack H (ev_guess (zero_block S) 0 C (packed_against_model A)).

Definition packed_secure_by (H : bitseq -> Seed -> Seed * Seed) : Prop :=
  (forall A : opt_adversary S Fault,
     `|packed_adv A| <= (2 * (2 ^ d).-1)%:R * `|prg_adv (zero_block S) H (packed_node_attack H predT A)|)%R /\
  (forall (A : opt_adversary S Fault) (q : nat), tests_below_leaf (N.of_nat q) A ->
     `|packed_adv A| <= (2 * (q + d).-1)%:R *
       `|prg_adv (zero_block S) H (packed_node_attack H (first_leaves 0 q) A)|)%R.

End PackedGame.

(* SPDX-License-Identifier: Apache-2.0 *)
(* What a C function over uint64_t and vectors of 128, 256 and 512 bits computes, if it consists of
   straight-line code, a loop down to 1 over such code, and straight-line code, with loads and
   stores of seeds: definitions only. proofs/tools/vectors.py writes the functions of
   prg/aes_instructions.c and prg/keccak.c in these terms (AesVectorCode.v and KeccakVectorCode.v,
   which are generated).

   Intrinsics have their names in C and the meaning that Intel's Intrinsics Guide and Software
   Developer's Manual give them; the manual says that the AES steps are FIPS 197's. *)
From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Codec Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Values and memory ----------------------------------------------------------------------- *)

(* A value is its bytes, lowest first: 8 for a uint64_t; 16, 32 or 64 for a vector. If a vector's
   upper bytes are undefined, as after a cast to a longer one, it is only the defined bytes. *)
Definition value : Type := seq byte.
Definition word (c : N) : value := put_le 8 c.
Definition number (v : value) : N := get_le v.

(* The seeds in memory: the 16 bytes at a place. Places do not overlap. *)
Definition location : Type := N.
Definition memory : Type := location -> value.
Definition update (m : memory) (p : location) (v : value) : memory := fun q => if (q =? p)%num then v else m q.

(* struct opt_step: the place of a seed and the places for its children; start and height of its
   node. *)
Record step : Type := Step {
  seed_at : location;
  left_at : location; right_at : location;
  start : N;
  height : N
}.

(* A function's arguments besides words: step[0], step[1], ...; the place of copath[k], if copath
   is not NULL; and the start of the loop's counter. *)
Record call : Type := Call {
  steps : seq step;
  copath : option (nat -> location);
  top : nat
}.

(* ---- Intrinsics, and C's operators on uint64_t -------------------------------------------------- *)

Inductive op : Type :=
| xor64 | and64 | or64 | add64 | mul64 | shl64 | shr64
(* 128 bits *)
| mm_set_epi64x | mm_set_epi32 (e3 e2 e1 e0 : N) | mm_set1_epi32 (e : N)
| mm_xor_si128 | mm_slli_si128 (imm : nat) | mm_shuffle_epi8 | mm_shuffle_epi32 (imm : nat)
| mm_aesenc_si128 | mm_aesenclast_si128 | mm_aeskeygenassist_si128 (imm : N)
| mm_cvtsi64_si128 | mm_cvtsi128_si64 | mm_rol_epi64 (imm : N) | mm_ternarylogic_epi64 (imm : N)
(* 256 bits *)
| mm256_castsi128_si256 | mm256_castsi256_si128 | mm256_inserti128_si256 (imm : nat) | mm256_extracti128_si256 (imm : nat)
| mm256_unpacklo_epi64 | mm256_unpackhi_epi64 | mm256_set_epi64x | mm256_set1_epi64x
| mm256_xor_si256 | mm256_or_si256 | mm256_andnot_si256
| mm256_slli_epi64 (imm : N) | mm256_srli_epi64 (imm : N) | mm256_rol_epi64 (imm : N)
| mm256_ternarylogic_epi64 (imm : N)
(* 512 bits *)
| mm512_castsi256_si512 | mm512_castsi512_si256 | mm512_inserti64x4 (imm : nat) | mm512_extracti64x4_epi64 (imm : nat)
| mm512_unpacklo_epi64 | mm512_unpackhi_epi64 | mm512_set1_epi64 | mm512_rol_epi64 (imm : N)
| mm512_castsi128_si512 | mm512_castsi512_si128 | mm512_inserti32x4 (imm : nat) | mm512_extracti32x4_epi32 (imm : nat)
| mm512_set_epi64 | mm512_set4_epi64 | mm512_set1_epi32 (e : N)
| mm512_xor_si512 | mm512_ternarylogic_epi64 (imm : N) | mm512_shuffle_epi8 | mm512_bslli_epi128 (imm : nat)
| mm512_aesenc_epi128 | mm512_aesenclast_epi128.

(* Sizes of the arguments. For an insertion the vector's defined bytes end where the new ones
   begin: its bytes from there on are undefined before, and those after the new ones stay
   undefined. *)
Definition takes (o : op) : seq nat :=
  match o with
  | xor64 | and64 | or64 | add64 | mul64 | shl64 | shr64 | mm_set_epi64x => [:: 8; 8]
  | mm_set_epi32 _ _ _ _ | mm_set1_epi32 _ | mm512_set1_epi32 _ => [::]
  | mm_slli_si128 _ | mm_shuffle_epi32 _ | mm_aeskeygenassist_si128 _ | mm512_castsi128_si512 => [:: 16]
  | mm_xor_si128 | mm_shuffle_epi8 | mm_aesenc_si128 | mm_aesenclast_si128 => [:: 16; 16]
  | mm_cvtsi64_si128 => [:: 8]
  | mm_ternarylogic_epi64 _ => [:: 16; 16; 16]
  | mm_cvtsi128_si64 | mm_rol_epi64 _ | mm256_castsi128_si256 => [:: 16]
  | mm256_castsi256_si128 | mm256_extracti128_si256 _ | mm512_castsi256_si512 => [:: 32]
  | mm256_inserti128_si256 imm => [:: 16 * imm; 16]
  | mm256_unpacklo_epi64 | mm256_unpackhi_epi64 | mm256_xor_si256 | mm256_or_si256 | mm256_andnot_si256 => [:: 32; 32]
  | mm256_slli_epi64 _ | mm256_srli_epi64 _ | mm256_rol_epi64 _ => [:: 32]
  | mm256_ternarylogic_epi64 _ => [:: 32; 32; 32]
  | mm256_set1_epi64x | mm512_set1_epi64 => [:: 8]
  | mm256_set_epi64x => nseq 4 8
  | mm512_castsi512_si256 | mm512_extracti64x4_epi64 _ | mm512_rol_epi64 _ => [:: 64]
  | mm512_inserti64x4 imm => [:: 32 * imm; 32]
  | mm512_unpacklo_epi64 | mm512_unpackhi_epi64 => [:: 64; 64]
  | mm512_inserti32x4 imm => [:: 16 * imm; 16]
  | mm512_castsi512_si128 | mm512_extracti32x4_epi32 _ | mm512_bslli_epi128 _ => [:: 64]
  | mm512_set4_epi64 => nseq 4 8
  | mm512_set_epi64 => nseq 8 8
  | mm512_xor_si512 | mm512_shuffle_epi8 | mm512_aesenc_epi128 | mm512_aesenclast_epi128 => [:: 64; 64]
  | mm512_ternarylogic_epi64 _ => [:: 64; 64; 64]
  end.

(* Conditions that C or the instruction's encoding demands. *)
Definition asks (o : op) (args : seq value) : bool :=
  match o with
  | shl64 | shr64 => (number (nth [::] args 1) <? 64)%num
  | mm_slli_si128 imm | mm512_bslli_epi128 imm => imm <= 16
  | mm_shuffle_epi32 imm => imm < 256
  | mm512_inserti32x4 imm | mm512_extracti32x4_epi32 imm => imm < 4
  | mm256_inserti128_si256 imm | mm256_extracti128_si256 imm | mm512_inserti64x4 imm | mm512_extracti64x4_epi64 imm =>
    imm < 2
  | mm_rol_epi64 imm | mm256_slli_epi64 imm | mm256_srli_epi64 imm | mm256_rol_epi64 imm | mm512_rol_epi64 imm =>
    (imm <? 64)%num
  | mm_aeskeygenassist_si128 imm | mm_ternarylogic_epi64 imm | mm256_ternarylogic_epi64 imm | mm512_ternarylogic_epi64 imm => (imm <? 256)%num
  | _ => true
  end.

(* For intrinsics that only move bytes: the origin of each byte of the result, as a place in the
   arguments, which follow one another in C's order; None is a byte 0. *)
Definition from (places : seq nat) : seq (option nat) := map Some places.
(* bytes of 64-bit elements, of which each argument is one *)
Definition elements (ks : seq nat) : seq nat := flatten [seq iota (8 * k) 8 | k <- ks].
(* in each of the lanes of 128 bits *)
Definition in_lanes (lanes : nat) (f : nat -> seq (option nat)) : seq (option nat) := flatten (mkseq f lanes).
Definition shifted (lanes n : nat) : seq (option nat) :=
  in_lanes lanes (fun l => nseq n None ++ from (iota (16 * l) (16 - n))).

Definition moves (o : op) : seq (option nat) :=
  match o with
  | mm_set_epi64x => from (elements [:: 1; 0])
  | mm_cvtsi64_si128 => from (iota 0 8) ++ nseq 8 None
  | mm_cvtsi128_si64 => from (iota 0 8)
  | mm_slli_si128 n => shifted 1 n
  | mm_shuffle_epi32 imm => from (flatten [seq iota (4 * (imm %/ 4 ^ j %% 4)) 4 | j <- iota 0 4])
  | mm256_castsi128_si256 | mm256_castsi256_si128 | mm512_castsi128_si512 | mm512_castsi512_si128 => from (iota 0 16)
  | mm256_inserti128_si256 imm => from (iota 0 (16 * imm + 16))
  | mm256_extracti128_si256 imm => from (iota (16 * imm) 16)
  | mm256_unpacklo_epi64 => from (elements [:: 0; 4; 2; 6])
  | mm256_unpackhi_epi64 => from (elements [:: 1; 5; 3; 7])
  | mm256_set_epi64x => from (elements [:: 3; 2; 1; 0])
  | mm256_set1_epi64x => from (elements (nseq 4 0))
  | mm512_castsi256_si512 | mm512_castsi512_si256 => from (iota 0 32)
  | mm512_inserti64x4 imm => from (iota 0 (32 * imm + 32))
  | mm512_extracti64x4_epi64 imm => from (iota (32 * imm) 32)
  | mm512_unpacklo_epi64 => from (elements [:: 0; 8; 2; 10; 4; 12; 6; 14])
  | mm512_unpackhi_epi64 => from (elements [:: 1; 9; 3; 11; 5; 13; 7; 15])
  | mm512_set1_epi64 => from (elements (nseq 8 0))
  | mm512_inserti32x4 imm => from (iota 0 (16 * imm + 16))
  | mm512_extracti32x4_epi32 imm => from (iota (16 * imm) 16)
  | mm512_set_epi64 => from (elements [:: 7; 6; 5; 4; 3; 2; 1; 0])
  | mm512_set4_epi64 => from (elements [:: 3; 2; 1; 0; 3; 2; 1; 0])
  | mm512_bslli_epi128 n => shifted 4 n
  | _ => [::]
  end.

(* Byte by byte; lane by lane. *)
Definition xor_bytes (a b : value) : value := [seq add x.1 x.2 | x <- zip a b].
Definition bytewise (f : bool -> bool -> bool) (a b : value) : value :=
  [seq of_bits (fun i => f (bit x.1 i) (bit x.2 i)) | x <- zip a b].
Definition lane (v : value) (l : nat) : value := take 16 (drop (16 * l) v).
Definition by_lanes (n : nat) (f : value -> value -> value) (a b : value) : value :=
  flatten (mkseq (fun l => f (lane a l) (lane b l)) n).

(* On each of n words of 64 bits. *)
Definition element (v : value) (k : nat) : value := take 8 (drop (8 * k) v).
Definition by_words (n : nat) (f : N -> N) (a : value) : value :=
  flatten (mkseq (fun k => word (f (number (element a k)))) n).
Definition rotate_left (imm c : N) : N := N.lor (N.shiftl c imm) (N.shiftr c (64 - imm)).

(* pshufb: a mask byte with its high bit set gives 0, any other the byte that its four low bits
   select *)
Definition pshufb (a mask : value) : value :=
  [seq if bit x 7 then x00 else nth x00 a (N.to_nat (Byte.to_N x mod 16)) | x <- mask].
Definition aesenc (a key : value) : value := xor_bytes (mix_columns (shift_rows (sub_bytes a))) key.
Definition aesenclast (a key : value) : value := xor_bytes (shift_rows (sub_bytes a)) key.
(* X0 .. X3 are the words of a *)
Definition aeskeygenassist (a : value) (imm : N) : value :=
  let X1 := sub_word (take 4 (drop 4 a)) in
  let X3 := sub_word (take 4 (drop 12 a)) in
  let RCON := [:: byte_of imm; x00; x00; x00] in
  X1 ++ add_words (rot_word X1) RCON ++ X3 ++ add_words (rot_word X3) RCON.
(* bit 4 a + 2 b + c of imm, for each bit of a, b and c *)
Definition ternary (imm : N) (a b c : byte) : byte :=
  of_bits (fun i => N.testbit imm (4 * N.b2n (bit a i) + 2 * N.b2n (bit b i) + N.b2n (bit c i))).

Definition meaning (o : op) (args : seq value) : value :=
  let a := nth [::] args 0 in
  let b := nth [::] args 1 in
  let c := nth [::] args 2 in
  match o with
  | xor64 | mm_xor_si128 | mm256_xor_si256 | mm512_xor_si512 => xor_bytes a b
  | and64 => word (N.land (number a) (number b))
  | or64 => word (N.lor (number a) (number b))
  | add64 => word (number a + number b)
  | mul64 => word (number a * number b)
  | shl64 => word (N.shiftl (number a) (number b))
  | shr64 => word (N.shiftr (number a) (number b))
  | mm_set_epi32 e3 e2 e1 e0 => flatten [seq put_le 4 e | e <- [:: e0; e1; e2; e3]]
  | mm_set1_epi32 e => flatten (nseq 4 (put_le 4 e))
  | mm512_set1_epi32 e => flatten (nseq 16 (put_le 4 e))
  | mm_shuffle_epi8 => pshufb a b
  | mm512_shuffle_epi8 => by_lanes 4 pshufb a b
  | mm_aesenc_si128 => aesenc a b
  | mm_aesenclast_si128 => aesenclast a b
  | mm_aeskeygenassist_si128 imm => aeskeygenassist a imm
  | mm512_aesenc_epi128 => by_lanes 4 aesenc a b
  | mm512_aesenclast_epi128 => by_lanes 4 aesenclast a b
  | mm_rol_epi64 imm => by_words 2 (rotate_left imm) a
  | mm_ternarylogic_epi64 imm =>
    mkseq (fun n => ternary imm (nth x00 a n) (nth x00 b n) (nth x00 c n)) 16
  | mm256_or_si256 => bytewise orb a b
  | mm256_andnot_si256 => bytewise (fun x y => ~~ x && y) a b
  | mm256_slli_epi64 imm => by_words 4 (fun c => N.shiftl c imm) a
  | mm256_srli_epi64 imm => by_words 4 (fun c => N.shiftr c imm) a
  | mm256_rol_epi64 imm => by_words 4 (rotate_left imm) a
  | mm512_rol_epi64 imm => by_words 8 (rotate_left imm) a
  | mm256_ternarylogic_epi64 imm =>
    mkseq (fun n => ternary imm (nth x00 a n) (nth x00 b n) (nth x00 c n)) 32
  | mm512_ternarylogic_epi64 imm =>
    mkseq (fun n => ternary imm (nth x00 a n) (nth x00 b n) (nth x00 c n)) 64
  | _ => [seq if k is Some k then nth x00 (flatten args) k else x00 | k <- moves o]
  end.

Definition apply (o : op) (args : seq value) : option value :=
  if (map size args == takes o) && asks o args then Some (meaning o args) else None.

(* ---- Programs --------------------------------------------------------------------------------------- *)

Inductive pointer : Type :=
| Seed (i : nat) | Left (i : nat) | Right (i : nat)  (* step[i].seed, .left, .right *)
| Copath (k : nat).                                  (* &copath[h - k], h the loop's counter *)

Inductive expr : Type :=
| Var (v : nat)
| Word (c : N)                                       (* a uint64_t *)
| Start (i : nat) | Height (i : nat)                 (* step[i].start, .height *)
| Counter (k : nat)                                  (* h - k *)
| Loadu (p : pointer)                                 (* _mm_loadu_si128 *)
| Op (o : op) (args : seq expr).

Inductive statement : Type :=
| Assign (v : nat) (e : expr)                        (* v = e; *)
| Store (p : pointer) (e : expr)                     (* _mm_storeu_si128(p, e); *)
| StoreUnlessNull (p : pointer) (e : expr).          (* if (copath != NULL) _mm_storeu_si128(p, e); *)

Record function : Type := Function {
  variables : nat;
  opening : seq (seq statement);   (* straight-line code, in pieces *)
  loop : seq (seq statement);      (* for (unsigned h = top; h > 0; h--) { ... } *)
  closing : seq (seq statement);
  returned : seq expr
}.

(* ---- Meaning: None where C leaves it undefined ---------------------------------------------------- *)

Definition env : Type := seq (option value).  (* a variable that has no value yet is None *)

Fixpoint all_some (T : Type) (s : seq (option T)) : option (seq T) :=
  match s with
  | [::] => Some [::]
  | Some x :: s' => omap (cons x) (all_some s')
  | None :: _ => None
  end.

Section Meaning.

Variables (c : call) (h : option nat).        (* h: the loop's counter *)

Definition step_at (i : nat) : option step := nth None (map Some (steps c)) i.
Definition counter (k : nat) : option nat := if h is Some h then if k <= h then Some (h - k) else None else None.
Definition place (p : pointer) : option location :=
  match p with
  | Seed i => omap seed_at (step_at i)
  | Left i => omap left_at (step_at i)
  | Right i => omap right_at (step_at i)
  | Copath k => if copath c is Some f then omap f (counter k) else None
  end.

(* A height is an unsigned, like the counter. *)
Fixpoint eval (r : env) (m : memory) (e : expr) : option value :=
  match e with
  | Var v => nth None r v
  | Word c => Some (word c)
  | Start i => omap (fun s => word (start s)) (step_at i)
  | Height i => omap (fun s => word (height s)) (step_at i)
  | Counter k => omap (fun n => word (N.of_nat n)) (counter k)
  | Loadu p => omap m (place p)
  | Op o args => obind (apply o) (all_some (map (eval r m) args))
  end.

Definition store (p : location) (v : value) (m : memory) : option memory :=
  if size v == 16 then Some (update m p v) else None.

Definition run_statement (s : statement) (rm : env * memory) : option (env * memory) :=
  let: (r, m) := rm in
  match s with
  | Assign v e => omap (fun x => (set_nth None r v (Some x), m)) (eval r m e)
  | Store p e =>
    if (place p, eval r m e) is (Some q, Some x) then omap (pair r) (store q x m) else None
  | StoreUnlessNull p e =>
    if copath c is None then Some rm
    else if (place p, eval r m e) is (Some q, Some x) then omap (pair r) (store q x m) else None
  end.

Fixpoint run_code (code : seq statement) (rm : env * memory) : option (env * memory) :=
  if code is s :: code' then obind (run_code code') (run_statement s rm) else Some rm.

End Meaning.

(* From the counter h down to 1. *)
Fixpoint run_loop (c : call) (code : seq statement) (h : nat) (rm : env * memory) : option (env * memory) :=
  if h is h'.+1 then obind (run_loop c code h') (run_code c (Some h) code rm) else Some rm.

(* The arguments are the first variables. Returns the returned values, and the memory afterwards. *)
Definition run (f : function) (c : call) (args : seq value) (m : memory) : option (seq value * memory) :=
  let r0 := map Some args ++ nseq (variables f - size args) None in
  if run_code c None (flatten (opening f)) (r0, m) is Some rm then
    if run_loop c (flatten (loop f)) (top c) rm is Some rm then
      if run_code c None (flatten (closing f)) rm is Some (r, m') then
        omap (fun xs => (xs, m')) (all_some (map (eval c None r m') (returned f)))
      else None
    else None
  else None.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The blocks of opt_aes_bitsliced compute FIPS 197's rounds on two states and the round key. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode AesCode.
From Pprf.proofs Require Import KeccakSym AesSym.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- Bytes as eight sums of unknown bits ----------------------------------------------------------- *)

Definition sbyte : Type := seq form.
Definition byte_form (f : nat -> form) : sbyte := mkseq f 8.
Definition sym_const (b : byte) : sbyte := byte_form (fun i => if bit b i then [:: 0%num] else [::]).
Definition sym_add (a b : sbyte) : sbyte :=
  byte_form (fun i => plus (nth [::] a i) (nth [::] b i)).
(* x^8 is x^4 + x^3 + x + 1 *)
Definition sym_xtimes (a : sbyte) : sbyte :=
  byte_form (fun i => plus (if i is j.+1 then nth [::] a j else [::])
                           (if bit x1b i then nth [::] a 7 else [::])).

Lemma bit_of_bits f i : i < 8 -> bit (of_bits f) i = f i.
Proof.
rewrite /bit /of_bits Byte.to_bits_of_bits.
by do 8 case: i => [|i] //.
Qed.

Lemma of_bits_bit b : of_bits (bit b) = b.
Proof. by rewrite /of_bits /bit -[RHS]Byte.of_bits_to_bits; case: Byte.to_bits => ? [? [? [? [? [? []]]]]]. Qed.

Lemma of_bits_ext f g : (forall i, i < 8 -> f i = g i) -> of_bits f = of_bits g.
Proof. by move=> same; rewrite /of_bits !same. Qed.

Lemma byte_ext b c : (forall i, i < 8 -> bit b i = bit c i) -> b = c.
Proof. by move=> same; rewrite -(of_bits_bit b) -(of_bits_bit c); apply: of_bits_ext. Qed.

(* A property of all 256 bytes, by computation. *)
Lemma all_bytes (P : byte -> bool) : all P byte_values -> forall b, P b.
Proof.
move=> ok b.
have [n lt <-] : exists2 n, n < 256 & nth x00 byte_values n = b.
  have lt : N.to_nat (Byte.to_N b) < 256 by case: (b).
  exists (N.to_nat (Byte.to_N b)) => //.
  by rewrite /byte_values (nth_map 0) ?size_iota // nth_iota // add0n; case: b {lt}.
by move/(all_nthP x00): ok; apply.
Qed.

Lemma mul1 c : mul x01 c = c.
Proof. by apply: Byte.byte_dec_bl; move: c; apply: all_bytes; vm_compute. Qed.
Lemma mul2 c : mul x02 c = xtimes c.
Proof. by apply: Byte.byte_dec_bl; move: c; apply: all_bytes; vm_compute. Qed.
Lemma mul3 c : mul x03 c = add c (xtimes c).
Proof. by apply: Byte.byte_dec_bl; move: c; apply: all_bytes; vm_compute. Qed.

Section Bytes.

Variable v : N -> bool.
Hypothesis v0 : v 0 = true.

Definition holds (b : byte) (a : sbyte) : Prop := forall i, i < 8 -> bit b i = sum v (nth [::] a i).

Lemma holds_form b f : (forall i, i < 8 -> bit b i = sum v (f i)) -> holds b (byte_form f).
Proof. by move=> same i lt; rewrite nth_mkseq // same. Qed.

Lemma holds_const b : holds b (sym_const b).
Proof. by apply: holds_form => i lt; case: (bit b i) => //=; rewrite v0. Qed.

Lemma holds_add b c s t : holds b s -> holds c t -> holds (add b c) (sym_add s t).
Proof.
by move=> bs ct; apply: holds_form => i lt; rewrite bit_of_bits // sum_plus bs // ct.
Qed.

Lemma holds_xtimes b s : holds b s -> holds (xtimes b) (sym_xtimes s).
Proof.
move=> bs; apply: holds_form => i lt; rewrite sum_plus /xtimes.
set shifted := of_bits _.
have E : bit shifted i = sum v (if i is j.+1 then nth [::] s j else [::]).
  rewrite bit_of_bits //; case: i lt => [|j] lt //; exact: bs (ltnW lt).
case B: (bit b 7); last first.
  rewrite E; case: (bit x1b i) => //; last by case: sum.
  by rewrite -bs // B; case: sum.
by rewrite bit_of_bits // E; case: (bit x1b i) => //=; rewrite -bs // B.
Qed.

End Bytes.

(* ---- The S-box ----------------------------------------------------------------------------------- *)

Notation s_ := aes_bitsliced_s.
Notation key_ := aes_bitsliced_key.
Definition blocks_at (n : nat) : block := nth [::] aes_bitsliced_blocks n.
Definition sbox_block : block := blocks_at 5.

Definition byte_column (b : byte) : column := nseq s_ None ++ mkseq (fun i => Some (bit b i)) 8.

Definition sbox_right (code : block) (b : byte) : bool :=
  let b' := S_box b in
  if col_block code (byte_column b) is Some c then
    all (fun i => if nth None c (s_ + i) is Some x then x == bit b' i else false) (iota 0 8)
  else false.

Lemma sbox_all : all (sbox_right sbox_block) byte_values.
Proof. by vm_compute. Qed.


Definition keeps_key (code : block) : bool :=
  all (fun i => all (fun a : nat * expr => a.1 != key_ + i) code) (iota 0 8).
Lemma sbox_keeps_key : keeps_key sbox_block.
Proof. by vm_compute. Qed.

(* ---- The linear steps --------------------------------------------------------------------------- *)

(* Two states and the round key, in their order in the planes. *)
Definition at3 (L R K : seq byte) (z : nat) : byte :=
  if z < 16 then nth x00 L z else if z < 32 then nth x00 R (z - 16) else nth x00 K (z - 32).

(* Unknowns: bit i of the byte at z in plane i, then the old round key's. *)
Definition subbed (z : nat) : sbyte := byte_form (fun i => [:: N.of_nat (64 * i + z).+1]).
Definition old_key (z : nat) : sbyte := byte_form (fun i => [:: N.of_nat (64 * (8 + i) + z).+1]).

Definition linear_env : sym_env :=
  nseq s_ None ++
  mkseq (fun i => Some (word_of (fun z => [:: N.of_nat (64 * i + z).+1]))) 8 ++
  mkseq (fun i => Some (mkseq (fun z => [:: N.of_nat (64 * (8 + i) + z).+1]) 16)) 8.

Definition sym_shift_rows (f : nat -> sbyte) (n : nat) : sbyte :=
  f (n %% 4 + 4 * ((n %/ 4 + n %% 4) %% 4)).
Definition sym_mul (b : byte) (a : sbyte) : sbyte :=
  match b with x01 => a | x02 => sym_xtimes a | _ => sym_add a (sym_xtimes a) end.
Definition sym_mix_columns (f : nat -> sbyte) (n : nat) : sbyte :=
  let term k := sym_mul (nth x00 (mix_row (n %% 4)) k) (f (k + 4 * (n %/ 4))) in
  sym_add (sym_add (sym_add (term 0) (term 1)) (term 2)) (term 3).
(* Row r of word c of round key j. *)
Fixpoint sym_key (j r c : nat) : sbyte :=
  sym_add (old_key (r + 4 * c))
    (if c is c'.+1 then sym_key j r c'
     else sym_add (subbed (32 + ((r + 1) %% 4 + 12))) (sym_const (nth x00 (Rcon j) r))).
Definition sym_round (j : nat) (f : nat -> sbyte) (n : nat) : sbyte :=
  sym_add ((if j < 10 then sym_mix_columns (sym_shift_rows f) else sym_shift_rows f) n)
          (sym_key j (n %% 4) (n %/ 4)).
Definition sym_out (j z : nat) : sbyte :=
  if z < 16 then sym_round j subbed z
  else if z < 32 then sym_round j (fun n => subbed (16 + n)) (z - 16)
  else sym_key j ((z - 32) %% 4) ((z - 32) %/ 4).

(* The planes from s_ on hold these bytes. *)
Definition planes_are (bytes : seq sbyte) (r : sym_env) : bool :=
  all (fun i => if nth None r (s_ + i) is Some p then
    all (fun z => same (sbit p z) (nth [::] (nth [::] bytes z) i)) (iota 0 48) else false) (iota 0 8).

(* Blocks of round j: the round key is copied, SubBytes, then these. *)
Definition linear_blocks (j : nat) : block :=
  flatten (take (if j < 10 then 3 else 2) (drop (6 + 5 * (j - 1)) aes_bitsliced_blocks)).

Definition linear_right (j : nat) (code : block) : bool :=
  if sym_block code linear_env is Some r then planes_are (mkseq (sym_out j) 48) r else false.

Lemma rounds_right : all (fun j => linear_right j (linear_blocks j)) (iota 1 10).
Proof. by vm_compute. Qed.

(* ---- Before and after the rounds, and between them ------------------------------------------------- *)

Definition plane (i : nat) : option sword := Some (word_of (fun z => [:: N.of_nat (64 * i + z).+1])).
Definition plane_env : sym_env := nseq s_ None ++ mkseq plane 8.

(* The words seed.lo, seed.hi, salt_lo, salt_hi and id. *)
Definition word_byte (k n : nat) : sbyte :=
  byte_form (fun i => [:: N.of_nat (64 * k + (8 * n + i)).+1]).
Definition seed_byte (n : nat) : sbyte := if n < 8 then word_byte 0 n else word_byte 1 (n - 8).
Definition input_byte (b : byte) (n : nat) : sbyte :=
  if n < 8 then sym_add (word_byte 2 n) (word_byte 4 n)
  else sym_add (word_byte 3 (n - 8)) (sym_const (if n == 8 then b else x00)).
Definition sym_in (z : nat) : sbyte :=
  if z < 16 then sym_add (input_byte x00 z) (seed_byte z)
  else if z < 32 then sym_add (input_byte x01 (z - 16)) (seed_byte (z - 16))
  else seed_byte (z - 32).
Definition input_right (code : block) : bool :=
  if sym_block code (mkseq plane 5) is Some r
  then planes_are (mkseq sym_in 48) r else false.
Lemma input_is_right : input_right (flatten (take 4 aes_bitsliced_blocks)).
Proof. by vm_compute. Qed.

(* The round key's planes, copied to the variables from key_ on. *)
Definition copy_right (code : block) : bool :=
  if sym_block code plane_env is Some r then
    planes_are (mkseq subbed 48) r &&
    all (fun i => if nth None r (key_ + i) is Some p then
      all (fun z => same (sbit p z) (if z < 16 then [:: N.of_nat (64 * i + (32 + z)).+1] else [::]))
        (iota 0 64) else false) (iota 0 8)
  else false.
Definition copy_block (j : nat) : block := blocks_at (4 + 5 * (j - 1)).
Lemma copies_right : all (fun j => copy_right (copy_block j)) (iota 1 10).
Proof. by vm_compute. Qed.

(* The same SubBytes in each round. *)
Lemma sbox_blocks : [seq blocks_at (5 + 5 * (j - 1)) | j <- iota 1 10] = nseq 10 sbox_block.
Proof. vm_compute; reflexivity. Qed.

(* The words returned hold the first 32 bytes of the planes. *)
Definition output_right (code : block) (es : seq expr) : bool :=
  if sym_block code plane_env is Some r then
    all (fun k => if sym_eval r (nth (Const 0) es k) is Some p then
      all (fun z => same (sbit p z) [:: N.of_nat (64 * (z %% 8) + (8 * k + z %/ 8)).+1]) (iota 0 64)
      else false) (iota 0 4)
  else false.
Lemma output_is_right : output_right (blocks_at 53) (returned opt_aes_bitsliced).
Proof. by vm_compute. Qed.

(* The function is these blocks. *)
Definition round_code (j : nat) : block := copy_block j ++ (blocks_at (5 + 5 * (j - 1)) ++ linear_blocks j).

Lemma code_is : before opt_aes_bitsliced =
  flatten (take 4 aes_bitsliced_blocks) ++ (flatten (map round_code (iota 1 10)) ++ blocks_at 53).
Proof. vm_compute; reflexivity. Qed.

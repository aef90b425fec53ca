(* SPDX-License-Identifier: Apache-2.0 *)
(* SHA-256 as FIPS 180-4 defines it (August 2015); HMAC (RFC 2104), HKDF-Expand (RFC 5869) and
   RFC 9420's ExpandWithLabel based on it, and the children of a node's secret in RFC 9420's
   secret tree: definitions only, to be read beside these documents, whose section each line
   names. *)
From Coq Require Import NArith Init.Byte Strings.String.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- FIPS 180-4 ------------------------------------------------------------------------------- *)

(* 3.1: a word is a number below 2^32, a string of 32 bits with the most significant bit first. *)
Definition word := N.
Definition word_of_bits (s : seq bool) : word := foldl (fun v b => 2 * v + N.b2n b)%num 0%num s.
Definition bits_of_word (w : nat) (x : N) : seq bool := mkseq (fun i => N.testbit x (N.of_nat (w - 1 - i))) w.

(* 2.2.2, 3.2: operations on words of w = 32 bits *)
Definition AND (x y : word) : word := N.land x y.
Definition XOR (x y : word) : word := N.lxor x y.
Definition OR (x y : word) : word := N.lor x y.
Definition NOT (x : word) : word := N.lxor x (2 ^ 32 - 1).
Definition PLUS (x y : word) : word := ((x + y) mod 2 ^ 32)%num.
Definition SHL (n : N) (x : word) : word := (N.shiftl x n mod 2 ^ 32)%num.
Definition SHR (n : N) (x : word) : word := N.shiftr x n.
Definition ROTR (n : N) (x : word) : word := OR (SHR n x) (SHL (32 - n) x).

(* 4.1.2 *)
Definition Ch (x y z : word) : word := XOR (AND x y) (AND (NOT x) z).
Definition Maj (x y z : word) : word := XOR (XOR (AND x y) (AND x z)) (AND y z).
Definition Sigma0 (x : word) : word := XOR (XOR (ROTR 2 x) (ROTR 13 x)) (ROTR 22 x).
Definition Sigma1 (x : word) : word := XOR (XOR (ROTR 6 x) (ROTR 11 x)) (ROTR 25 x).
Definition sigma0 (x : word) : word := XOR (XOR (ROTR 7 x) (ROTR 18 x)) (SHR 3 x).
Definition sigma1 (x : word) : word := XOR (XOR (ROTR 17 x) (ROTR 19 x)) (SHR 10 x).

(* 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes *)
Definition K256 : seq word :=
  [:: 0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5;
      0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe; 0x9bdc06a7; 0xc19bf174;
      0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da;
      0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7; 0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967;
      0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85;
      0xa2bfe8a1; 0xa81a664b; 0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070;
      0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
      0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2]%num.
Definition K (t : nat) : word := nth 0%num K256 t.

(* 5.1.1: the bit 1, k zero bits such that l + 1 + k = 448 modulo 512, and l in 64 bits *)
Definition pad (M : seq bool) : seq bool :=
  let l := size M in
  let k := (448 + (512 - (l + 1) %% 512)) %% 512 in
  M ++ true :: nseq k false ++ bits_of_word 64 (N.of_nat l).

(* 5.2.1: blocks of 512 bits, each of 16 words of 32 bits *)
Definition words (s : seq bool) : seq word :=
  mkseq (fun j => word_of_bits (take 32 (drop (32 * j) s))) (size s %/ 32).
Definition blocks (s : seq bool) : seq (seq word) :=
  mkseq (fun i => words (take 512 (drop (512 * i) s))) (size s %/ 512).

(* 5.3.3: the first 32 bits of the fractional parts of the square roots of the first eight primes *)
Definition H0 : seq word :=
  [:: 0x6a09e667; 0xbb67ae85; 0x3c6ef372; 0xa54ff53a; 0x510e527f; 0x9b05688c; 0x1f83d9ab; 0x5be0cd19]%num.

(* 6.2.2, step 1: W_t from the words before it *)
Definition next_W (W : seq word) (t : nat) : word :=
  let W t := nth 0%num W t in
  PLUS (PLUS (PLUS (sigma1 (W (t - 2))) (W (t - 7))) (sigma0 (W (t - 15)))) (W (t - 16)).
Definition schedule (M : seq word) : seq word :=
  foldl (fun W t => rcons W (next_W W t)) M (iota 16 48).

(* 6.2.2, steps 2 and 3: the working variables *)
Definition round (W : seq word) (v : seq word) (t : nat) : seq word :=
  if v is [:: a; b; c; d; e; f; g; h] then
    let T1 := PLUS (PLUS (PLUS (PLUS h (Sigma1 e)) (Ch e f g)) (K t)) (nth 0%num W t) in
    let T2 := PLUS (Sigma0 a) (Maj a b c) in
    [:: PLUS T1 T2; a; b; c; PLUS d T1; e; f; g]
  else [::].

(* 6.2.2, step 4: the next hash value from the previous one, H, and a block M *)
Definition compress (H M : seq word) : seq word :=
  [seq PLUS x.1 x.2 | x <- zip (foldl (round (schedule M)) H (iota 0 64)) H].

(* 6.2: H^(N)_0 || ... || H^(N)_7 *)
Definition sha_256_bits (M : seq bool) : seq bool :=
  flatten [seq bits_of_word 32 x | x <- foldl compress H0 (blocks (pad M))].

(* 3.1: strings of bytes, the most significant bit of each first *)
Definition bits_of_byte (x : byte) : seq bool := bits_of_word 8 (Byte.to_N x).
Definition byte_of_N (n : N) : byte := odflt x00 (Byte.of_N (n mod 256)).
Definition bits_of_bytes (s : seq byte) : seq bool := flatten [seq bits_of_byte x | x <- s].
Definition bytes_of_bits (s : seq bool) : seq byte :=
  mkseq (fun j => byte_of_N (word_of_bits (take 8 (drop (8 * j) s)))) (size s %/ 8).

Definition sha_256 (M : seq byte) : seq byte := bytes_of_bits (sha_256_bits (bits_of_bytes M)).

(* ---- RFC 2104 ---------------------------------------------------------------------------------- *)

(* 2: B = 64 bytes in a block of the hash function H, which has L = 32 bytes *)
Definition xor_byte (x y : byte) : byte := byte_of_N (N.lxor (Byte.to_N x) (Byte.to_N y)).
Definition hmac (key text : seq byte) : seq byte :=
  let key := if 64 < size key then sha_256 key else key in
  let key := key ++ nseq (64 - size key) x00 in
  let ipad := [seq xor_byte x x36 | x <- key] in
  let opad := [seq xor_byte x x5c | x <- key] in
  sha_256 (opad ++ sha_256 (ipad ++ text)).

(* ---- RFC 5869 ---------------------------------------------------------------------------------- *)

(* 2.3: T(0) is empty, T(i) = HMAC(PRK, T(i-1) | info | i); the result is the first L octets of
   T(1) | ... | T(N) *)
Fixpoint hkdf_T (PRK info : seq byte) (i : nat) : seq byte :=
  if i is j.+1 then hmac PRK (hkdf_T PRK info j ++ info ++ [:: byte_of_N (N.of_nat i)]) else [::].
Definition hkdf_expand (PRK info : seq byte) (L : nat) : seq byte :=
  take L (flatten [seq hkdf_T PRK info i | i <- iota 1 ((L + 31) %/ 32)]).

(* ---- RFC 9420 ---------------------------------------------------------------------------------- *)

(* n bytes of v, the most significant first *)
Definition uint (n : nat) (v : N) : seq byte := bytes_of_bits (bits_of_word (8 * n) v).

(* 2.1.2: a vector opaque<V>, preceded by its length in 1, 2 or 4 bytes, whose first two bits say
   which *)
Definition opaque (s : seq byte) : seq byte :=
  let l := N.of_nat (size s) in
  (if l <? 2 ^ 6 then uint 1 l else if l <? 2 ^ 14 then uint 2 (2 ^ 14 + l) else uint 4 (2 ^ 31 + l))%num ++ s.

(* 8: KDF.Expand of the secret and a KDFLabel: length, "MLS 1.0 " || label, context *)
Definition ascii (s : string) : seq byte := list_byte_of_string s.
Definition expand_with_label (secret label context : seq byte) (length : nat) : seq byte :=
  let kdf_label := uint 2 (N.of_nat length) ++ opaque (ascii "MLS 1.0 " ++ label) ++ opaque context in
  hkdf_expand secret kdf_label length.

(* 9: the secrets of a node's children, Nh = 32 *)
Definition tree_left (secret : seq byte) : seq byte :=
  expand_with_label secret (ascii "tree") (ascii "left") 32.
Definition tree_right (secret : seq byte) : seq byte :=
  expand_with_label secret (ascii "tree") (ascii "right") 32.

(* SPDX-License-Identifier: Apache-2.0 *)
(* SHA-256 (FIPS 180-4), HMAC (RFC 2104) with it, and what RFC 9420 makes of the secret of a node in its tree of
   secrets.  Words of 32 bits are integers, which OCaml has 63 bits of. *)

let word = 0xffffffff

(* 4.2.2 and 5.3.3: the first 32 bits of the fractional parts of the cube roots of the first 64 primes, and
   of the square roots of the first 8: the greatest integer whose power is at most p * 2^(32 * degree). *)
let rec primes n p found =
  if n = 0 then List.rev found
  else if List.exists (fun q -> p mod q = 0) found then primes n (p + 1) found
  else primes (n - 1) (p + 1) (p :: found)

(* Whether a product of numbers below 2^37 is at most p * 2^(32 * degree): digits of 32 bits, the lowest
   first, so that nothing is lost. *)
let rec digits_times digits a carry =
  match digits with
  | [] -> if carry = 0 then [] else (carry land word) :: digits_times [] a (carry lsr 32)
  | d :: rest ->
    (* d * a may have 68 bits: a in two halves *)
    let low = (d * (a land 0xffff)) + carry and high = d * (a lsr 16) in
    let sum = low + ((high land 0xffff) lsl 16) in
    (sum land word) :: digits_times rest a ((sum lsr 32) + (high lsr 16))

let rec power a degree = if degree = 0 then [ 1 ] else digits_times (power a (degree - 1)) a 0

let at_most digits p degree =
  let rec top i = function
    | [] -> 0
    | d :: rest -> (if i >= degree then d lsl (32 * (i - degree)) else 0) + top (i + 1) rest in
  let exact = List.for_all (( = ) 0) (List.filteri (fun i _ -> i < degree) digits) in
  let whole = top 0 digits in
  whole < p || (whole = p && exact)

let root_bits degree p =
  let rec search low high =
    if high - low = 1 then low
    else
      let mid = (low + high) / 2 in
      if at_most (power mid degree) p degree then search mid high else search low mid in
  search 0 (1 lsl 37) land word

let constants = Array.of_list (List.map (root_bits 3) (primes 64 2 []))
let initial = Array.of_list (List.map (root_bits 2) (primes 8 2 []))
let rotate v n = ((v lsr n) lor (v lsl (32 - n))) land word

(* 6.2.2, of the 64 bytes from `at` on *)
let block hash message at =
  let w = Array.make 64 0 in
  for t = 0 to 63 do
    w.(t) <-
      (if t < 16 then Int32.to_int (String.get_int32_be message (at + (4 * t))) land word
       else
         let a = w.(t - 15) and b = w.(t - 2) in
         let s0 = rotate a 7 lxor rotate a 18 lxor (a lsr 3)
         and s1 = rotate b 17 lxor rotate b 19 lxor (b lsr 10) in
         (s1 + w.(t - 7) + s0 + w.(t - 16)) land word)
  done;
  let rec rounds t a b c d e f g h =
    if t = 64 then [| a; b; c; d; e; f; g; h |]
    else
      let t1 =
        h + (rotate e 6 lxor rotate e 11 lxor rotate e 25)
        + ((e land f) lxor (lnot e land word land g)) + constants.(t) + w.(t)
      and t2 =
        (rotate a 2 lxor rotate a 13 lxor rotate a 22)
        + ((a land b) lxor (a land c) lxor (b land c)) in
      rounds (t + 1) ((t1 + t2) land word) a b c ((d + t1) land word) e f g in
  let v = rounds 0 hash.(0) hash.(1) hash.(2) hash.(3) hash.(4) hash.(5) hash.(6) hash.(7) in
  Array.map2 (fun x y -> (x + y) land word) hash v

let sha256 message =
  let length = String.length message in
  let zeros = (119 - (length mod 64)) mod 64 in
  let tail = Bytes.create 8 in
  Bytes.set_int64_be tail 0 (Int64.of_int (8 * length));
  let padded = message ^ "\x80" ^ String.make zeros '\000' ^ Bytes.to_string tail in
  let rec blocks hash at = if at = String.length padded then hash else blocks (block hash padded at) (at + 64) in
  let out = Bytes.create 32 in
  Array.iteri (fun i v -> Bytes.set_int32_be out (4 * i) (Int32.of_int v)) (blocks initial 0);
  Bytes.to_string out

(* RFC 2104, of a key of at most 64 bytes *)
let hmac key message =
  let pad byte =
    String.init 64 (fun i ->
      Char.chr (byte lxor if i < String.length key then Char.code key.[i] else 0)) in
  sha256 (pad 0x5c ^ sha256 (pad 0x36 ^ message))

(* RFC 9420, 8 and 9: ExpandWithLabel (secret, "tree", side, 32); HKDF-Expand (RFC 5869) has one block *)
let expand_tree secret side =
  let vector s = String.make 1 (Char.chr (String.length s)) ^ s in
  hmac secret ("\000\x20" ^ vector "MLS 1.0 tree" ^ vector side ^ "\001")

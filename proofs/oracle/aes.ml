(* SPDX-License-Identifier: Apache-2.0 *)
(* AES-128 of one block (FIPS 197).  Bytes are integers; byte row + 4 * column of a block is
   s[row, column]. *)

let times2 a = ((a lsl 1) lxor (if a >= 0x80 then 0x11b else 0)) land 0xff

let rec multiply a b =
  if b = 0 then 0 else (if b land 1 = 1 then a else 0) lxor multiply (times2 a) (b lsr 1)

(* 5.1.1: the inverse, then bit i of the result is the sum of bits i, i+4, .., i+7 and of 63. *)
let s_box =
  let inverse a =
    let rec search b = if b > 255 then 0 else if multiply a b = 1 then b else search (b + 1) in
    search 1 in
  let rotated b n = ((b lsl n) lor (b lsr (8 - n))) land 0xff in
  Array.init 256 (fun a ->
    let b = inverse a in
    List.fold_left (fun sum n -> sum lxor rotated b n) (b lxor 0x63) [ 1; 2; 3; 4 ])

(* 5.2, one round *)
let next_key key rcon =
  let next = Array.copy key in
  for i = 0 to 3 do
    next.(i) <- key.(i) lxor s_box.(key.(12 + ((i + 1) mod 4)))
  done;
  next.(0) <- next.(0) lxor rcon;
  for i = 4 to 15 do
    next.(i) <- key.(i) lxor next.(i - 4)
  done;
  next

let add = Array.map2 ( lxor )
let sub_bytes = Array.map (fun a -> s_box.(a))
let shift_rows s = Array.init 16 (fun i -> s.((i + (4 * (i mod 4))) mod 16))

let mix_columns s =
  Array.init 16 (fun i ->
    let at n = s.((i land 12) + ((i + n) mod 4)) in
    times2 (at 0) lxor times2 (at 1) lxor at 1 lxor at 2 lxor at 3)

(* 5.1 *)
let encrypt key block =
  let of_string s = Array.init 16 (fun i -> Char.code s.[i]) in
  let key = of_string key in
  let rec rounds s key rcon round =
    let key = next_key key rcon and s = shift_rows (sub_bytes s) in
    if round = 10 then add s key
    else rounds (add (mix_columns s) key) key (times2 rcon) (round + 1) in
  let s = rounds (add (of_string block) key) key 1 1 in
  String.init 16 (fun i -> Char.chr s.(i))

(* SPDX-License-Identifier: Apache-2.0 *)
(* SHA3-256 (FIPS 202). The state is 25 lanes of 64 bits, little-endian, in 200 bytes: lane
   (x, y) at byte 8 * (x + 5 * y). The round is written out lane by lane so that ocamlopt keeps
   the lanes unboxed. *)
external get : bytes -> int -> int64 = "%caml_bytes_get64u"
external set : bytes -> int -> int64 -> unit = "%caml_bytes_set64u"

let round_constants = [|
  0x0000000000000001L; 0x0000000000008082L; 0x800000000000808AL; 0x8000000080008000L;
  0x000000000000808BL; 0x0000000080000001L; 0x8000000080008081L; 0x8000000000008009L;
  0x000000000000008AL; 0x0000000000000088L; 0x0000000080008009L; 0x000000008000000AL;
  0x000000008000808BL; 0x800000000000008BL; 0x8000000000008089L; 0x8000000000008003L;
  0x8000000000008002L; 0x8000000000000080L; 0x000000000000800AL; 0x800000008000000AL;
  0x8000000080008081L; 0x8000000000008080L; 0x0000000080000001L; 0x8000000080008008L |]

let () = assert (not Sys.big_endian)

let[@inline] ( ^^ ) a b = Int64.logxor a b
let[@inline] rol a n = Int64.logor (Int64.shift_left a n) (Int64.shift_right_logical a (64 - n))
let[@inline] chi a b c = Int64.logxor a (Int64.logand (Int64.lognot b) c)

let round s rc =
  (* theta *)
  let c0 = get s 0 ^^ get s 40 ^^ get s 80 ^^ get s 120 ^^ get s 160 in
  let c1 = get s 8 ^^ get s 48 ^^ get s 88 ^^ get s 128 ^^ get s 168 in
  let c2 = get s 16 ^^ get s 56 ^^ get s 96 ^^ get s 136 ^^ get s 176 in
  let c3 = get s 24 ^^ get s 64 ^^ get s 104 ^^ get s 144 ^^ get s 184 in
  let c4 = get s 32 ^^ get s 72 ^^ get s 112 ^^ get s 152 ^^ get s 192 in
  let d0 = c4 ^^ rol c1 1 in
  let d1 = c0 ^^ rol c2 1 in
  let d2 = c1 ^^ rol c3 1 in
  let d3 = c2 ^^ rol c4 1 in
  let d4 = c3 ^^ rol c0 1 in
  (* rho and pi: b_xy is the lane that moves to (x, y) *)
  let b00 = get s 0 ^^ d0 in
  let b10 = rol (get s 48 ^^ d1) 44 in
  let b20 = rol (get s 96 ^^ d2) 43 in
  let b30 = rol (get s 144 ^^ d3) 21 in
  let b40 = rol (get s 192 ^^ d4) 14 in
  let b01 = rol (get s 24 ^^ d3) 28 in
  let b11 = rol (get s 72 ^^ d4) 20 in
  let b21 = rol (get s 80 ^^ d0) 3 in
  let b31 = rol (get s 128 ^^ d1) 45 in
  let b41 = rol (get s 176 ^^ d2) 61 in
  let b02 = rol (get s 8 ^^ d1) 1 in
  let b12 = rol (get s 56 ^^ d2) 6 in
  let b22 = rol (get s 104 ^^ d3) 25 in
  let b32 = rol (get s 152 ^^ d4) 8 in
  let b42 = rol (get s 160 ^^ d0) 18 in
  let b03 = rol (get s 32 ^^ d4) 27 in
  let b13 = rol (get s 40 ^^ d0) 36 in
  let b23 = rol (get s 88 ^^ d1) 10 in
  let b33 = rol (get s 136 ^^ d2) 15 in
  let b43 = rol (get s 184 ^^ d3) 56 in
  let b04 = rol (get s 16 ^^ d2) 62 in
  let b14 = rol (get s 64 ^^ d3) 55 in
  let b24 = rol (get s 112 ^^ d4) 39 in
  let b34 = rol (get s 120 ^^ d0) 41 in
  let b44 = rol (get s 168 ^^ d1) 2 in
  (* chi and iota *)
  set s 0 ((chi b00 b10 b20) ^^ rc);
  set s 8 (chi b10 b20 b30);
  set s 16 (chi b20 b30 b40);
  set s 24 (chi b30 b40 b00);
  set s 32 (chi b40 b00 b10);
  set s 40 (chi b01 b11 b21);
  set s 48 (chi b11 b21 b31);
  set s 56 (chi b21 b31 b41);
  set s 64 (chi b31 b41 b01);
  set s 72 (chi b41 b01 b11);
  set s 80 (chi b02 b12 b22);
  set s 88 (chi b12 b22 b32);
  set s 96 (chi b22 b32 b42);
  set s 104 (chi b32 b42 b02);
  set s 112 (chi b42 b02 b12);
  set s 120 (chi b03 b13 b23);
  set s 128 (chi b13 b23 b33);
  set s 136 (chi b23 b33 b43);
  set s 144 (chi b33 b43 b03);
  set s 152 (chi b43 b03 b13);
  set s 160 (chi b04 b14 b24);
  set s 168 (chi b14 b24 b34);
  set s 176 (chi b24 b34 b44);
  set s 184 (chi b34 b44 b04);
  set s 192 (chi b44 b04 b14)

let permute s = for i = 0 to 23 do round s round_constants.(i) done

let rate = 136

let sha3_256 message =
  let s = Bytes.make 200 '\000' in
  let xor_byte i v = Bytes.set s i (Char.chr (Char.code (Bytes.get s i) lxor v)) in
  let at = ref 0 in
  String.iter (fun c ->
    xor_byte !at (Char.code c);
    incr at;
    if !at = rate then (permute s; at := 0)) message;
  xor_byte !at 0x06;
  xor_byte (rate - 1) 0x80;
  permute s;
  Bytes.sub_string s 0 32

(* SPDX-License-Identifier: Apache-2.0 *)
(* The extracted model behind a line protocol (README.md). This file only converts between
   integers and bit lists, reads and prints; every tree operation is Model's. *)

exception Refused of string
let refuse fmt = Printf.ksprintf (fun s -> raise (Refused s)) fmt

(* ---- seeds: strings of 16 or 32 bytes ---- *)

let to_hex s =
  let digits = "0123456789abcdef" in
  String.init (2 * String.length s) (fun i ->
    let v = Char.code s.[i / 2] in
    digits.[if i land 1 = 0 then v lsr 4 else v land 15])

let of_hex h =
  let digit c =
    match c with
    | '0' .. '9' -> Char.code c - 48
    | 'a' .. 'f' -> Char.code c - 87
    | 'A' .. 'F' -> Char.code c - 55
    | _ -> refuse "not hexadecimal: %s" h in
  if String.length h land 1 = 1 then refuse "odd number of hexadecimal digits";
  String.init (String.length h / 2) (fun i ->
    Char.chr ((digit h.[2 * i] lsl 4) lor digit h.[(2 * i) + 1]))

(* ---- PRGs: in-order id of a node, its seed -> (left seed, right seed) ---- *)

let halves digest = (String.sub digest 0 16, String.sub digest 16 16)
let prg_sha3 _ seed = halves (Keccak.sha3_256 seed)

let le64 n =
  let b = Bytes.create 8 in
  Bytes.set_int64_le b 0 n;
  Bytes.unsafe_to_string b

let prg_salted salt id seed = halves (Keccak.sha3_256 (seed ^ salt ^ le64 id))

let prg_aes salt id seed =
  let half b =
    let plain = le64 id ^ String.make 1 b ^ String.make 7 '\000' in
    Aes.encrypt seed
      (String.init 16 (fun i -> Char.chr (Char.code salt.[i] lxor Char.code plain.[i]))) in
  (half '\000', half '\001')

(* The seed of a node is its own in-order id (bytes 0 to 7), then the root's bytes 8 to 15. *)
let prg_path _ seed =
  let id = String.get_int64_le seed 0 in
  let quarter = Int64.shift_right_logical (Int64.logand id (Int64.neg id)) 1 in
  let at i =
    let b = Bytes.of_string seed in
    Bytes.set_int64_le b 0 i;
    Bytes.unsafe_to_string b in
  (at (Int64.sub id quarter), at (Int64.add id quarter))

let prg_mls _ seed = (Sha256.expand_tree seed "left", Sha256.expand_tree seed "right")

(* The same with 32 bytes: behind them the complements of both. *)
let prg_path_wide id seed =
  let left, right = prg_path id (String.sub seed 0 16) in
  let with_complement s = s ^ String.map (fun c -> Char.chr (Char.code c lxor 255)) s in
  (with_complement left, with_complement right)

(* ---- positions: leaves are integers of 63 bits, the greatest of which OCaml's int shows as negative ---- *)

let unsigned n = Int64.logand (Int64.of_int n) Int64.max_int
let outside x depth = depth < 63 && x lsr depth <> 0

let rec bits length x tail =
  if length = 0 then tail else bits (length - 1) (x lsr 1) ((x land 1 = 1) :: tail)

let value = List.fold_left (fun n b -> (2 * n) + Bool.to_int b) 0
let depth = ref 0

(* 2 start + 2^height of the node of a prefix, in 64 bits *)
let in_order_id prefix =
  let height = !depth - List.length prefix in
  Int64.shift_left (Int64.add (Int64.mul 2L (unsigned (value prefix))) 1L) height

(* The model's family of PRGs.  It asks for the two children of a node one after the other. *)
let remember_last g =
  let node = ref [] and seed = ref "" and children = ref ("", "") in
  fun (p : bool list) s ->
    if s != !seed || p <> !node then begin
      children := g (in_order_id p) s;
      node := p;
      seed := s
    end;
    !children

let salt_of hex =
  let salt = of_hex hex in
  if String.length salt <> 16 then refuse "a salt has 16 bytes";
  salt

let prg_of_name = function
  | [ "sha3" ] -> prg_sha3
  | [ "sha3-salted"; salt ] -> prg_salted (salt_of salt)
  | [ "aes"; salt ] -> prg_aes (salt_of salt)
  | [ "path" ] -> prg_path
  | [ "mls" ] -> prg_mls
  | [ "path-wide" ] -> prg_path_wide
  | name -> refuse "no PRG %s" (String.concat " " name)

(* ---- the protocol ---- *)

let prg_name = ref "sha3"
let prg = ref (remember_last prg_sha3)
let key = ref []

(* 0 .. 2^63 - 1 *)
let integer s =
  let decimal = s <> "" && String.for_all (fun c -> '0' <= c && c <= '9') s in
  match int_of_string_opt (if decimal then "0u" ^ s else s) with
  | Some n when n >= 0 || s.[0] <> '-' -> n
  | _ -> refuse "not an integer: %s" s

let leaf s =
  let x = integer s in
  if !depth = 0 then refuse "no key: setup first";
  if outside x !depth then refuse "leaf %Ld outside the tree of depth %d" (unsigned x) !depth;
  bits !depth x []

let use_prg name =
  prg := remember_last (prg_of_name name);
  prg_name := List.hd name;
  depth := 0;
  key := []

let setup d hex =
  let d = integer d and seed = of_hex hex in
  if d < 1 || d > 63 then refuse "depth %Ld is not in 1..63" (unsigned d);
  let bytes = match !prg_name with "mls" | "path-wide" -> 32 | _ -> 16 in
  if String.length seed <> bytes then refuse "a seed has %d bytes" bytes;
  if (!prg_name = "path" || !prg_name = "path-wide") && String.get_int64_le seed 0 <> Int64.shift_left 1L d then
    refuse "the path PRG's root seed must begin with its id 2^%d" d;
  depth := d;
  key := Model.keygen seed

let is_above p x = match Model.locate p x with Model.On _ -> true | _ -> false

(* A key is canonical: it is unchanged iff every leaf of the region was punctured before. *)
let change_key key' =
  print_endline (if key' = !key then "punctured" else "ok");
  key := key'

let print_node (p, s) =
  let height = !depth - List.length p in
  Printf.printf "%Ld %d %s\n" (unsigned (value p lsl height)) height (to_hex s)

let answer line =
  match String.split_on_char ' ' line with
  | "prg" :: (_ :: _ as name) -> use_prg name; print_endline "ok"
  | [ "setup"; d; seed ] -> setup d seed; print_endline "ok"
  | [ "eval"; x ] ->
    (match Model.exec_eval !prg !key (leaf x) with
     | Some seed -> print_endline (to_hex seed)
     | None -> print_endline "punctured")
  | [ "punct"; x ] ->
    let x = leaf x in
    if not (List.exists (fun (p, _) -> is_above p x) !key) then print_endline "punctured"
    else begin
      key := Model.exec_puncture !prg x !key;
      print_endline "ok"
    end
  | [ "range"; first; last ] ->
    if unsigned (integer first) > unsigned (integer last) then refuse "empty range %s..%s" first last;
    change_key (Model.exec_puncture_range !prg (leaf first) (leaf last) !key)
  | [ "prefix"; start; height ] ->
    let h = integer height in
    if !depth = 0 then refuse "no key: setup first";
    if h < 0 || h > !depth then refuse "height %Ld in a tree of depth %d" (unsigned h) !depth;
    let x = integer start in
    if outside x !depth || (x lsr h) lsl h <> x then refuse "no node (%Ld, %d)" (unsigned x) h;
    change_key (Model.exec_puncture_prefix !prg (bits (!depth - h) (x lsr h) []) !key)
  | [ "dump" ] -> List.iter print_node !key; print_endline "end"
  | [ "count" ] -> Printf.printf "%d\n" (List.length !key)
  | [ "aes"; key; block ] ->
    print_endline (to_hex (Aes.encrypt (salt_of key) (salt_of block)))
  | [ "sha3"; message ] -> print_endline (to_hex (Keccak.sha3_256 (of_hex message)))
  | [ "sha3" ] -> print_endline (to_hex (Keccak.sha3_256 ""))
  | [ "sha256"; message ] -> print_endline (to_hex (Sha256.sha256 (of_hex message)))
  | [ "sha256" ] -> print_endline (to_hex (Sha256.sha256 ""))
  | _ -> refuse "unknown command: %s" line

let () =
  (match Array.to_list Sys.argv with
   | [ _ ] -> ()
   | [ _; "--prg"; name ] ->
     (try use_prg [ name ] with Refused why -> prerr_endline ("oracle: " ^ why); exit 2)
   | _ -> prerr_endline "usage: oracle [--prg sha3|path]"; exit 2);
  try
    while true do
      match input_line stdin with
      | "quit" -> raise End_of_file
      | line ->
        (try answer line with Refused why -> print_endline ("error: " ^ why));
        flush stdout
    done
  with End_of_file -> flush stdout

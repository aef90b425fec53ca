(* SPDX-License-Identifier: Apache-2.0 *)
(* What a C function over uint32_t and uint64_t computes, if it is a list of assignments and of
   calls of one other such function that makes no calls: definitions only. proofs/tools/sha.py
   writes the functions of prg/sha256.c in these terms (ShaCode.v, which is generated). *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.

(* ---- Syntax -------------------------------------------------------------------------- *)

(* w is the width of the operator's type, 32 or 64 bits. A variable or constant of a type with w
   bits is below 2^w: the program is well typed in C, and results that may leave the range are
   reduced. *)
Inductive expr : Type :=
| Var (v : nat)
| Const (c : N)
| Xor (a b : expr)
| And (a b : expr)
| Or (a b : expr)
| Not (w : N) (a : expr)
| Add (w : N) (a b : expr)
| Shl (w : N) (a : expr) (n : N)
| Shr (w : N) (a : expr) (n : N)
| Cast (w : N) (a : expr).

Inductive statement : Type :=
| Assign (v : nat) (e : expr)                 (* v = e; *)
| Call (vs : seq nat) (args : seq expr).      (* puts the words that the other function returns into vs *)

Record function : Type := Function {
  parameters : seq N;      (* the width of each; they are the first variables *)
  variables : nat;
  body : seq statement;
  returned : seq expr
}.

(* ---- Meaning: None where C leaves it undefined --------------------------------------- *)

(* Conversion to a word of w bits. *)
Definition to_word (w v : N) : N := v mod 2 ^ w.
Definition w_not (w a : N) : N := N.lxor a (2 ^ w - 1).
Definition w_add (w a b : N) : N := to_word w (a + b).
Definition w_shl (w a n : N) : N := to_word w (N.shiftl a n).

Definition env : Type := seq (option N).  (* a variable that has no value yet is None *)

Definition both (f : N -> N -> N) (a b : option N) : option N :=
  if a is Some x then if b is Some y then Some (f x y) else None else None.

Fixpoint eval (r : env) (e : expr) : option N :=
  match e with
  | Var v => nth None r v
  | Const c => Some c
  | Xor a b => both N.lxor (eval r a) (eval r b)
  | And a b => both N.land (eval r a) (eval r b)
  | Or a b => both N.lor (eval r a) (eval r b)
  | Not w a => omap (w_not w) (eval r a)
  | Add w a b => both (w_add w) (eval r a) (eval r b)
  | Shl w a n => if n <? w then omap (w_shl w ^~ n) (eval r a) else None
  | Shr w a n => if n <? w then omap (N.shiftr ^~ n) (eval r a) else None
  | Cast w a => omap (to_word w) (eval r a)
  end.

Fixpoint values (r : env) (es : seq expr) : option (seq N) :=
  if es is e :: es' then
    if (eval r e, values r es') is (Some x, Some xs) then Some (x :: xs) else None
  else Some [::].

Fixpoint set_all (r : env) (vs : seq nat) (xs : seq N) : env :=
  if (vs, xs) is (v :: vs', x :: xs') then set_all (set_nth None r v (Some x)) vs' xs' else r.

Section Meaning.

Variable called : seq N -> option (seq N).    (* the function that is called *)

Fixpoint run_body (b : seq statement) (r : env) : option env :=
  match b with
  | [::] => Some r
  | Assign v e :: b' =>
    if eval r e is Some x then run_body b' (set_nth None r v (Some x)) else None
  | Call vs args :: b' =>
    if obind called (values r args) is Some xs then
      if size xs == size vs then run_body b' (set_all r vs xs) else None
    else None
  end.

(* Arguments are converted to the parameters' types. *)
Definition run (f : function) (args : seq N) : option (seq N) :=
  if size args == size (parameters f) then
    let args := [seq Some (to_word x.1 x.2) | x <- zip (parameters f) args] in
    if run_body (body f) (args ++ nseq (variables f - size args) None) is Some r then
      values r (returned f)
    else None
  else None.

End Meaning.

(* A function that makes no calls; one that calls f. *)
Definition run_leaf (f : function) (args : seq N) : option (seq N) := run (fun=> None) f args.
Definition run_calling (f main : function) (args : seq N) : option (seq N) := run (run_leaf f) main args.

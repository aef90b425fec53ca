(* SPDX-License-Identifier: Apache-2.0 *)
(* What a C function over uint64_t computes, if it consists of a block of assignments, a loop
   over a block and a block: definitions only. proofs/tools/keccak.py writes the functions of
   prg/keccak.c in these terms (KeccakCode.v, which is generated). *)
From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Local Open Scope N_scope.

(* ---- uint64_t ------------------------------------------------------------------------ *)

(* Conversion to uint64_t; operands and results of operators are such values. *)
Definition u64 (v : N) : N := v mod 2 ^ 64.
Definition w_xor (a b : N) : N := u64 (N.lxor a b).
Definition w_and (a b : N) : N := u64 (N.land a b).
Definition w_or (a b : N) : N := u64 (N.lor a b).
Definition w_not (a : N) : N := 2 ^ 64 - 1 - u64 a.
Definition w_shl (a n : N) : N := u64 (N.shiftl a n).
Definition w_shr (a n : N) : N := N.shiftr (u64 a) n.

(* ---- Syntax -------------------------------------------------------------------------- *)

Inductive expr : Type :=
| Var (v : nat)
| Const (c : N)
| At (k : nat)         (* table[k] *)
| AtCounter (k : nat)  (* table[i + k], i the loop's counter *)
| Xor (a b : expr)
| And (a b : expr)
| Or (a b : expr)
| Not (a : expr)
| Shl (a : expr) (n : N)
| Shr (a : expr) (n : N).

Definition block : Type := seq (nat * expr).  (* v = e; ... *)

(* before; for (i = first; i < limit; i += step) { body } after; and the values returned *)
Record program : Type := Program {
  variables : nat;
  before : block;
  first : nat; limit : nat; step : nat;
  body : block;
  after : block;
  returned : seq expr
}.

(* ---- Meaning: None where C leaves it undefined --------------------------------------- *)

Definition env : Type := seq (option N).  (* a variable that has no value yet is None *)

Section Meaning.

Variable table : seq N.

Definition both (f : N -> N -> N) (a b : option N) : option N :=
  if a is Some x then if b is Some y then Some (f x y) else None else None.

Definition get (T : Type) (s : seq T) (k : nat) : option T := nth None (map Some s) k.

Fixpoint eval (i : option nat) (r : env) (e : expr) : option N :=
  match e with
  | Var v => nth None r v
  | Const c => Some (u64 c)
  | At k => get table k
  | AtCounter k => if i is Some i then get table (i + k) else None
  | Xor a b => both w_xor (eval i r a) (eval i r b)
  | And a b => both w_and (eval i r a) (eval i r b)
  | Or a b => both w_or (eval i r a) (eval i r b)
  | Not a => omap w_not (eval i r a)
  | Shl a n => if n <? 64 then omap (w_shl^~ n) (eval i r a) else None
  | Shr a n => if n <? 64 then omap (w_shr^~ n) (eval i r a) else None
  end.

Fixpoint run_block (i : option nat) (b : block) (r : env) : option env :=
  if b is (v, e) :: b' then
    if eval i r e is Some x then run_block i b' (set_nth None r v (Some x)) else None
  else Some r.

(* Rounds of the loop from i on, at most n of them. *)
Fixpoint run_loop (p : program) (n i : nat) (r : env) : option env :=
  if (i < limit p)%nat then
    if n is n'.+1 then obind (run_loop p n' (i + step p)) (run_block (Some i) (body p) r) else None
  else Some r.

Fixpoint values (r : env) (es : seq expr) : option (seq N) :=
  if es is e :: es' then
    if (eval None r e, values r es') is (Some x, Some xs) then Some (x :: xs) else None
  else Some [::].

(* The arguments are the first variables. *)
Definition run (p : program) (args : seq N) : option (seq N) :=
  let r0 := map Some args ++ nseq (variables p - size args) None in
  if run_block None (before p) r0 is Some r1 then
    if run_loop p (limit p) (first p) r1 is Some r2 then
      if run_block None (after p) r2 is Some r3 then values r3 (returned p) else None
    else None
  else None.

End Meaning.

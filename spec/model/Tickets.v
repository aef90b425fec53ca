(* SPDX-License-Identifier: Apache-2.0 *)
(* Session tickets from a puncturable PRF: the pool of leaves that gives each ticket its key, as a
   state machine. Definitions only. TicketGame.v is about what tickets keep secret.

   The pool is one tree of tls/tickets/pool.c's. Leaves are issued in order; a ticket's name is
   its leaf. Processes share the pool, and each holds its lock for one operation, so whatever
   they do, however interleaved, is a list of operations. Names may be junk: any bit string may
   be offered. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Pool.
Variable Seed : Type.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.

Record pool := Pool { pool_key : key Seed; given_out : nat }.

Definition new_pool (s : Seed) : pool := Pool (keygen s) 0.

Variant operation :=
| Issue                        (* a new ticket: the next leaf and its value *)
| Open of bitseq               (* a client offers a ticket: returns its value, changes nothing *)
| Redeem of bitseq             (* the client has shown that it owns the ticket: use it up *)
| Expire of bitseq & bitseq.   (* the tickets from the first to the last are past their lifetime *)

Variant outcome :=
| Issued of bitseq & option Seed
| Exhausted
| Opened of option Seed
| Redeemed of bool             (* true for one caller: early data may be accepted *)
| Expired of bool.

(* x is the name of an issued leaf. *)
Definition given (p : pool) (x : bitseq) : bool := (size x == d) && (val x < given_out p)%N.

Definition step (p : pool) (o : operation) : outcome * pool :=
  match o with
  | Issue =>
      if (given_out p < 2 ^ d)%N then
        let x := bits d (given_out p) in
        (Issued x (eval G (pool_key p) x), Pool (pool_key p) (given_out p).+1)
      else (Exhausted, p)
  | Open x => (Opened (if given p x then eval G (pool_key p) x else None), p)
  | Redeem x =>
      if given p x && isSome (eval G (pool_key p) x) then
        (Redeemed true, Pool (puncture G x (pool_key p)) (given_out p))
      else (Redeemed false, p)
  | Expire first last =>
      if given p first && given p last then
        (Expired true, Pool (puncture_range G first last (pool_key p)) (given_out p))
      else (Expired false, p)
  end.

Fixpoint trace (p : pool) (os : seq operation) : seq (operation * outcome) :=
  if os is o :: os' then (o, (step p o).1) :: trace (step p o).2 os' else [::].

Definition after (p : pool) (os : seq operation) : pool := foldl (fun p o => (step p o).2) p os.

Definition event := (operation * outcome)%type.

(* The ticket x was issued, was redeemed, ended, was useful. *)
Definition issues (x : bitseq) (e : event) : bool := if e is (Issue, Issued y _) then y == x else false.

Definition redeems (x : bitseq) (e : event) : bool :=
  if e is (Redeem y, Redeemed true) then y == x else false.

Definition ends (x : bitseq) (e : event) : bool :=
  match e with
  | (Redeem y, Redeemed true) => y == x
  | (Expire first last, Expired true) => leaf_le first x && leaf_le x last
  | _ => false
  end.

Definition serves (x : bitseq) (e : event) : bool :=
  match e with
  | (Open y, Opened (Some _)) => y == x
  | (Redeem y, Redeemed true) => y == x
  | _ => false
  end.

End Pool.

Arguments Exhausted {Seed}.
Arguments Redeemed {Seed} _.
Arguments Expired {Seed} _.

(* SPDX-License-Identifier: Apache-2.0 *)
(* The confidentiality of tickets that are encrypted under leaves: the game, and the two adversaries
   that a ticket adversary is turned into.  Definitions only.

   The adversary drives the device as in EvaluationGame.v, and instead of a challenge value it gets a
   ticket under the leaf's value, that of one of two texts of its choice.  It may evaluate leaves whose
   tickets it knows, puncture (redeem and expire) and steal; challenge leaves are never revealed.
   It does not get challenge tickets opened. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section TicketGame.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Variables Text Ticket : Type.
Variable seal : Seed -> Text -> prog Ticket.      (* encryption under a key, with its own coins *)

Inductive tk_query : Type :=
| Value of leaf d
| Use of {r : region | region_ok d r}             (* redeem a ticket, expire a range of them *)
| Theft of {p : bitseq | (size p <= d)%N}
| Seal of leaf d & Text & Text.

Definition tk_reply (q : tk_query) : Type :=
  match q with
  | Value _ => option Seed
  | Use _ => unit
  | Theft _ => option (key Seed)
  | Seal _ _ _ => option Ticket
  end.

Definition tk_adversary := adversary tk_reply.

(* In the ideal world each ticket has a fresh uniform key. *)
Definition tk_oracle (w : world) (b : bool) (K0 : key Seed) (st : ev_state Seed) (q : tk_query) :
  prog (tk_reply q * ev_state Seed) :=
  match q with
  | Value x =>
      if spoils x st then Ret (None, st) else Ret (eval G (held st) x, reveal x st)
  | Use r =>
      Ret (tt, State (puncture_region G (sval r) (held st)) (revealed st) (tested st))
  | Theft p =>
      if spoils (sval p) st then Ret (None, st)
      else Ret (Some (delegate G (sval p) (held st)), reveal (sval p) st)
  | Seal x m0 m1 =>
      if fresh_leaf st x then
        y <-$ answer s0 w (odflt s0 (eval G K0 x)) ;;
        c <-$ seal y (if b then m1 else m0) ;;
        Ret (Some c, challenge x st)
      else Ret (None, st)
  end.

Definition tk_game (w : world) (b : bool) (A : tk_adversary) : prog bool :=
  s <-$ unif s0 ;; interact (fun _ b' => b') (tk_oracle w b (keygen s)) (fresh_state (keygen s)) A.

Definition tk_adv (A : tk_adversary) : rat :=
  Pr (tk_game Real true A) - Pr (tk_game Real false A).

Fixpoint seals_in (U : pred bitseq) (A : tk_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, seals_in U (k x)
  | Ask q k => (if q is Seal x _ _ then U x : Prop else True) /\ forall y, seals_in U (k y)
  end.

(* ---- Against the puncturable PRF: encrypt under the challenge value -------------------- *)

Fixpoint toss (T : Type) (c : prog T) (f : T -> ev_adversary Seed d) : ev_adversary Seed d :=
  match c with
  | Ret t => f t
  | Draw X x0 k => Random x0 (fun x => toss (k x) f)
  end.

Fixpoint as_ev (b : bool) (A : tk_adversary) : ev_adversary Seed d :=
  match A with
  | Conclude c => Conclude _ c
  | Random X x0 k => Random x0 (fun x => as_ev b (k x))
  | Ask q k =>
      match q return (tk_reply q -> tk_adversary) -> ev_adversary Seed d with
      | Value x => fun k => @Ask _ (@ev_reply Seed d) (Evaluate x) (fun y => as_ev b (k y))
      | Use r => fun k => @Ask _ (@ev_reply Seed d) (Punct r) (fun y => as_ev b (k y))
      | Theft p => fun k => @Ask _ (@ev_reply Seed d) (Reveal p) (fun y => as_ev b (k y))
      | Seal x m0 m1 => fun k => @Ask _ (@ev_reply Seed d) (Challenge x) (fun y =>
          if y is Some s then toss (seal s (if b then m1 else m0)) (fun c => as_ev b (k (Some c)))
          else as_ev b (k None))
      end k
  end.

(* ---- Against the encryption: each query is answered under a fresh key ------------------- *)

Definition seal_adversary := adversary (fun _ : Text * Text => Ticket).

Definition seal_oracle (b : bool) (st : unit) (ms : Text * Text) : prog (Ticket * unit) :=
  y <-$ unif s0 ;; c <-$ seal y (if b then ms.2 else ms.1) ;; Ret (c, st).

Definition seal_adv (A : seal_adversary) : rat :=
  Pr (interact (fun _ b => b) (seal_oracle true) tt A) -
  Pr (interact (fun _ b => b) (seal_oracle false) tt A).

(* The reduction plays the device, whose values no ticket depends on. *)
Fixpoint serve (st : ev_state Seed) (A : tk_adversary) : seal_adversary :=
  match A with
  | Conclude c => Conclude _ c
  | Random X x0 k => Random x0 (fun x => serve st (k x))
  | Ask q k =>
      match q return (tk_reply q -> tk_adversary) -> seal_adversary with
      | Value x => fun k =>
          if spoils x st then serve st (k None) else serve (reveal x st) (k (eval G (held st) x))
      | Use r => fun k =>
          serve (State (puncture_region G (sval r) (held st)) (revealed st) (tested st)) (k tt)
      | Theft p => fun k =>
          if spoils (sval p) st then serve st (k None)
          else serve (reveal (sval p) st) (k (Some (delegate G (sval p) (held st))))
      | Seal x m0 m1 => fun k =>
          if fresh_leaf st x then
            @Ask _ (fun _ => Ticket) (m0, m1) (fun c => serve (challenge x st) (k (Some c)))
          else serve st (k None)
      end k
  end.

Definition as_seal (A : tk_adversary) : seal_adversary :=
  Random s0 (fun s => serve (fresh_state (keygen s)) A).

End TicketGame.
